/* gpusim run: replay every policy of a scenario, write the result folder, print the comparison. */
#include "base/csv.h"
#include "base/dec.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/outfile.h"
#include "base/spool.h"
#include "base/str.h"
#include "base/thread.h"
#include "cli/command.h"
#include "cli/problems.h"
#include "cli/risk.h"
#include "metrics/sink_csv.h"
#include "metrics/sink_slots.h"
#include "metrics/table.h"
#include "model/profile.h"
#include "whatif/runner.h"
#include "whatif/sensitivity.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#ifndef GPUSIM_VERSION /* set by the Makefile */
#define GPUSIM_VERSION "0.1.0"
#endif

struct options {
    const char *out;
    int64_t replications;
    unsigned threads; /* 0: as many as there are cores */
    const char *seed;
    struct opt_list set, policy;
    bool no_report, resolved, quiet, sensitivity;
    int format, lang;
};

static const struct opt opts[] = {
    { "output", 'o', OPT_TEXT, offsetof(struct options, out), "DIR",
      "where to write (default out/<scenario name>)", NULL },
    { "jobs", 'j', OPT_CORES, offsetof(struct options, threads), "N",
      "policies replayed at a time (default: cores)", NULL },
    { "seed", 0, OPT_TEXT, offsetof(struct options, seed), "S", "instead of the scenario's", NULL },
    { "set", 0, OPT_LIST, offsetof(struct options, set), "PATH=VALUE",
      "change the scenario, e.g. --set fleet.a100.nodes=6", NULL },
    { "policy", 0, OPT_LIST, offsetof(struct options, policy), "NAME", "only this policy", NULL },
    { "no-report", 0, OPT_FLAG, offsetof(struct options, no_report), NULL,
      "leave out report.html and the plots", NULL },
    { "replications", 0, OPT_COUNT, offsetof(struct options, replications), "N",
      "runs on other random numbers behind the chances of the advice and the intervals of the "
      "comparison (default 1; the figures of each policy are of the first)",
      NULL },
    { "sensitivity", 0, OPT_FLAG, offsetof(struct options, sensitivity), NULL,
      "replay again with each device parameter at both ends of its range, for the report", NULL },
    { "lang", 0, OPT_CHOICE, offsetof(struct options, lang), "LANG", "language of the report",
      command_langs },
    { "resolved", 0, OPT_FLAG, offsetof(struct options, resolved), NULL,
      "print the scenario with every default filled in, and stop", NULL },
    { "format", 0, OPT_CHOICE, offsetof(struct options, format), "FORMAT",
      "of the comparison on standard output", out_format_names },
    { "quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), NULL, "warnings only", NULL },
    { 0 },
};

enum { MAX_REPLICATIONS = 10000 };

/* ---- files ---- */

static const char *in_dir(struct runner *r, const char *dir, const char *name)
{
    return arena_printf(r->arena, "%s/%s", dir, name);
}

static int write_json(const char *path, const json_t *v, struct err *e)
{
    struct strbuf b = { 0 };
    json_write(v, &b);
    const int rc = outfile_write(path, b.s, b.len, e);
    strbuf_fini(&b);
    return rc;
}

/* The header, then each policy's rows in scenario order, then a footer (may be NULL). */
static int write_rows(const char *path, const char *header, FILE **part, size_t n,
                      const char *footer, struct err *e)
{
    struct outfile o = { 0 };
    char buf[1 << 16];
    size_t got;
    int rc = outfile_open(&o, path, e);
    if (rc != 0) return rc;
    fputs(header, o.f);
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (fflush(part[i]) || fseeko(part[i], 0, SEEK_SET))
            rc = err_set(e, err_of_errno(errno), NULL, "%s: cannot write its rows: %s", path,
                         strerror(errno));
        while (rc == 0 && (got = fread(buf, 1, sizeof buf, part[i])) > 0) fwrite(buf, 1, got, o.f);
        if (rc == 0 && ferror(part[i]))
            rc = err_set(e, err_of_errno(errno), NULL, "%s: cannot read back its rows: %s", path,
                         strerror(errno));
    }
    if (footer) fputs(footer, o.f);
    if (rc == 0) rc = outfile_commit(&o, e);
    outfile_abandon(&o);
    return rc;
}

/* A line without a source: charges, classes, sums. NAN: empty. */
static void put_line(FILE *f, const char *policy, const char *line, const char *name,
                     const char *driver, const double v[4])
{
    fprintf(f, "%s,%s,", policy, line);
    csv_put(f, name, strlen(name));
    fprintf(f, ",%s", driver);
    for (int i = 0; i < 4; i++)
        isnan(v[i]) ? fputc(',', f) : fprintf(f, i == 0 ? ",%.9g" : ",%.6f", v[i]);
    fputs(",,,\n", f);
}

static void put_charges(FILE *f, const char *policy, const char *line, const struct charge *c,
                        size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_line(f, policy, line, c[i].name, "",
                 (double[]){ NAN, c[i].usd, c[i].card_hours, c[i].energy_kwh });
}

/* Who pays, what classes cost, what to own or commit to, carbon, and when buying has paid. */
static void put_money(FILE *f, const struct policy_result *x)
{
    const struct tco_result *t = &x->tco;
    put_charges(f, x->name, "charge", t->charge, t->n_charges);
    put_charges(f, x->name, "group", t->team, t->n_teams);
    for (size_t i = 0; i < t->n_classes; i++)
        put_line(f, x->name, "class", t->klass[i].name, "",
                 (double[]){ NAN, t->klass[i].usd, NAN, NAN });
    if (!isnan(t->base_cards))
        put_line(f, x->name, "base", "cards to own or commit to", "card",
                 (double[]){ t->base_cards, NAN, NAN, NAN });
    if (!isnan(t->carbon_operation_kg))
        put_line(f, x->name, "carbon", "operation", "kg",
                 (double[]){ t->carbon_operation_kg, NAN, NAN, NAN });
    if (!isnan(t->carbon_embodied_kg))
        put_line(f, x->name, "carbon", "embodied", "kg",
                 (double[]){ t->carbon_embodied_kg, NAN, NAN, NAN });
    for (size_t i = 0; i < t->n_paybacks; i++)
        put_line(f, x->name, "payback", t->payback[i].rent, "month",
                 (double[]){ t->payback[i].month, NAN, NAN, NAN });
}

static int write_tco_csv(const char *path, const struct result *r, struct err *e)
{
    struct outfile o = { 0 };
    int rc = outfile_open(&o, path, e);
    if (rc != 0) return rc;
    fputs("policy,line,name,driver,quantity,usd,card_hours,energy_kwh,source,date,confidence\n",
          o.f);
    for (size_t p = 0; p < r->n_policies; p++) {
        const struct policy_result *x = &r->policy[p];
        for (size_t i = 0; i < x->tco.n_items; i++) {
            const struct cost_item_result *c = &x->tco.item[i];
            const char *text[] = { c->source, c->date, c->confidence };
            fprintf(o.f, "%s,item,", x->name);
            csv_put(o.f, c->name, strlen(c->name));
            fprintf(o.f, ",%s,%.9g,%.6f,,", c->driver, c->quantity, c->usd);
            for (size_t k = 0; k < 3; k++) {
                fputc(',', o.f);
                if (text[k]) csv_put(o.f, text[k], strlen(text[k]));
            }
            fputc('\n', o.f);
        }
        if (x->tco.priced) put_money(o.f, x);
    }
    rc = outfile_commit(&o, e);
    outfile_abandon(&o);
    return rc;
}

/* What differs from machine to machine stays out of result.json. */
static int write_timing(const char *path, double wall_s, const struct result *r, unsigned threads,
                        struct err *e)
{
    struct rusage u;
    double rows = 0;
    getrusage(RUSAGE_SELF, &u);
    for (size_t p = 0; p < r->n_policies; p++) rows += (double)r->policy[p].trace_rows;
    json_t *v =
        json_pack("{s:s, s:o, s:o, s:i, s:o}", "format", "gpusim-timing/1", "wall_s",
                  json_num(wall_s), "peak_memory_bytes", json_num((double)u.ru_maxrss * 1024),
                  "threads", (int)threads, "trace_rows_per_s", json_num(rows / wall_s));
    const int rc = write_json(path, v, e);
    json_decref(v);
    return rc;
}

/* The first event has no comma before it; those of the policies have. Times are shown in ms
 * where nothing else is said. */
static const char timeline_header[] =
    "{\"otherData\":{\"gpusim_version\":\"" GPUSIM_VERSION "\"},\"traceEvents\":[\n"
    "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"tid\":0,\"args\":{\"name\":\"gpusim\"}}";

/* What an importer left beside a trace of this run (FILE.account.json), for the report; nothing
 * where there is none. Paths of the importing machine are left out. */
static int write_imports(struct runner *r, const char *dir, struct err *e)
{
    const char *path = in_dir(r, dir, "import.json");
    json_t *list = json_array();
    int rc = 0;
    for (size_t i = 0; i < r->scenario.n_work; i++) {
        const struct work_item *w = &r->scenario.work[i];
        const char *trace = w->kind == WORK_JOBS ? w->trace
                            : w->service         ? w->service->requests
                                                 : NULL;
        const char *beside = trace ? arena_printf(r->arena, "%s.account.json", trace) : NULL;
        json_t *account = beside ? json_load_file(beside, JSON_REJECT_DUPLICATES, NULL) : NULL;
        if (!account) continue;
        json_object_del(account, "files");
        json_array_append_new(list, json_pack("{s:s, s:o}", "work", w->name, "account", account));
    }
    unlink(path);
    if (json_array_size(list) > 0) rc = write_json(path, list, e);
    json_decref(list);
    return rc;
}

static int write_risk(const struct runner *r, const char *path, struct err *e)
{
    json_t *v = risk_of_run(r);
    unlink(path); /* of an earlier run */
    const int rc = v ? write_json(path, v, e) : 0;
    json_decref(v);
    return rc;
}

/* How the run was asked for: what a replay of it needs. */
struct asked {
    const char *path;
    const char *const *set;
    size_t n_set;
    unsigned threads;
};

static int write_sensitivity(const struct runner *r, const struct asked *asked, const char *path,
                             struct err *e)
{
    json_t *v = NULL;
    unlink(path); /* of an earlier run */
    if (!asked || interrupt_caught()) return 0;
    int rc = sensitivity_of_run(&v, r, asked->path, asked->set, asked->n_set, asked->threads, e);
    if (rc == 0 && v) rc = write_json(path, v, e);
    json_decref(v);
    return rc;
}

/* Whoever reads one of them later can tell whether it is whole and of this run. */
static int sum_files(struct runner *r, const char *dir, struct err *e)
{
    static const char *const names[] = {
        "scenario.resolved.json", "jobs.csv",    "series.csv", "services.csv",     "slots.csv",
        "timeline.json",          "import.json", "risk.json",  "sensitivity.json", "tco.csv"
    };
    const size_t n = sizeof names / sizeof *names;
    struct result_file *file = arena_array(r->arena, n, sizeof *file);
    int rc = 0;
    r->result.file = file;
    r->result.n_files = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        const char *path = in_dir(r, dir, names[i]);
        if (access(path, F_OK) != 0 || spool_kind(path)) continue; /* a link to a device, say */
        file[r->result.n_files].name = names[i];
        rc = filesum_of(path, &file[r->result.n_files++].sum, e);
    }
    return rc;
}

/* `asked` NULL: without the study of the parameters. */
static int write_result(struct runner *r, const struct asked *asked, const char *dir, struct err *e)
{
    const struct {
        const char *name;
        bool written;
    } perhaps[] = { { "jobs.csv", r->jobs },
                    { "services.csv", r->services },
                    { "slots.csv", r->slots },
                    { "timeline.json", r->timeline } };
    for (size_t i = 0; i < sizeof perhaps / sizeof *perhaps; i++)
        if (!perhaps[i].written) unlink(in_dir(r, dir, perhaps[i].name)); /* of an earlier run */
    int rc = write_json(in_dir(r, dir, "scenario.resolved.json"), r->resolved, e);
    if (rc == 0 && r->jobs)
        rc = write_rows(in_dir(r, dir, "jobs.csv"), jobs_csv_header, r->jobs, r->n, NULL, e);
    if (rc == 0)
        rc = write_rows(in_dir(r, dir, "series.csv"), series_csv_header, r->series, r->n, NULL, e);
    if (rc == 0 && r->services)
        rc = write_rows(in_dir(r, dir, "services.csv"), services_csv_header, r->services, r->n,
                        NULL, e);
    if (rc == 0 && r->slots)
        rc = write_rows(in_dir(r, dir, "slots.csv"), slots_csv_header, r->slots, r->n, NULL, e);
    if (rc == 0 && r->timeline)
        rc = write_rows(in_dir(r, dir, "timeline.json"), timeline_header, r->timeline, r->n,
                        "\n]}\n", e);
    if (rc == 0) rc = write_imports(r, dir, e);
    if (rc == 0) rc = write_risk(r, in_dir(r, dir, "risk.json"), e);
    if (rc == 0) rc = write_sensitivity(r, asked, in_dir(r, dir, "sensitivity.json"), e);
    if (rc == 0) rc = write_tco_csv(in_dir(r, dir, "tco.csv"), &r->result, e);
    if (rc == 0) rc = sum_files(r, dir, e);
    /* Last: where result.json stands, the rest does too. */
    json_t *v = result_to_json(&r->result);
    if (rc == 0) rc = write_json(in_dir(r, dir, "result.json"), v, e);
    json_decref(v);
    return rc;
}

static void print_comparison(const struct result *r, int format)
{
    struct strbuf b = { 0 };
    if (format == FORMAT_JSON) {
        json_t *v = result_to_json(r);
        json_write(v, &b);
        json_decref(v);
    } else if (format == FORMAT_CSV) {
        table_csv(r, &b);
    } else {
        table_text(r, &b);
        table_services_text(r, &b);
    }
    fwrite(b.s, 1, b.len, stdout);
    strbuf_fini(&b);
}

static void warn_of_service(const struct policy_result *p, const struct service_result *v)
{
    if (!v->stable)
        log_warn("policy %s: service %s is unstable: %s", p->name, v->name, v->unstable_reason);
    const uint64_t tried = v->replicas_started + v->replicas_never_up;
    if (v->replicas_never_up)
        log_warn("policy %s: %llu of %llu replicas of service %s never came up: no place, or the "
                 "run ended within \"start_up\"",
                 p->name, (unsigned long long)v->replicas_never_up, (unsigned long long)tried,
                 v->name);
    if (v->dropped)
        log_warn(
            "policy %s: service %s dropped %llu of %llu requests: %llu the queue was full, %llu "
            "waited too long",
            p->name, v->name, (unsigned long long)v->dropped, (unsigned long long)v->requests,
            (unsigned long long)v->refused, (unsigned long long)v->timed_out);
    if (v->unservable)
        log_warn(
            "policy %s: %llu of %llu requests of service %s are longer than the model's context or its cache can hold",
            p->name, (unsigned long long)v->unservable, (unsigned long long)v->requests, v->name);
}

static void warn(const struct result *r, bool horizon)
{
    for (size_t p = 0; p < r->n_policies; p++) {
        const struct policy_result *x = &r->policy[p];
        if (x->window_s == 0 || (x->stats.wait_s.n == 0 && x->n_services == 0))
            log_warn("policy %s: nothing was measured: no job started after the warm-up", x->name);
        if (horizon && x->stable && x->steady.n > 0 && !x->steady.warmup_found)
            log_warn("policy %s: waits had not settled in the first half of the run: a longer "
                     "horizon would say more",
                     x->name);
        if (!x->stable) log_warn("policy %s is unstable: %s", x->name, x->unstable_reason);
        if (x->jobs.rejected)
            log_warn("policy %s rejected %llu of %llu jobs: %s", x->name,
                     (unsigned long long)x->jobs.rejected, (unsigned long long)x->jobs.submitted,
                     x->rejected_reason);
        for (size_t k = 0; k < x->n_classes; k++)
            if (x->by_class[k].count.rejected == x->by_class[k].count.submitted)
                log_warn("policy %s serves no job of class %s: all %llu were rejected", x->name,
                         x->by_class[k].name, (unsigned long long)x->by_class[k].count.submitted);
        if (x->jobs.failed_oom)
            log_warn("policy %s: %llu jobs ran out of card memory", x->name,
                     (unsigned long long)x->jobs.failed_oom);
        for (size_t k = 0; k < x->n_services; k++) warn_of_service(x, &x->service[k]);
    }
}

static bool told_before(const struct result *r, size_t policy, size_t param)
{
    const struct param_result *p = &r->policy[policy].param[param];
    for (size_t i = 0; i <= policy; i++)
        for (size_t k = 0; k < (i < policy ? r->policy[i].n_params : param); k++) {
            const struct param_result *o = &r->policy[i].param[k];
            if (strcmp(o->fleet, p->fleet) == 0 && strcmp(o->name, p->name) == 0 &&
                strcmp(o->source, p->source) == 0)
                return true;
        }
    return false;
}

/* How the parameters that some policy used are known, each once for each group of cards. */
static void say_provenance(const struct result *r)
{
    size_t n[PROV_COUNT] = { 0 };
    const char *doubted = NULL;
    for (size_t i = 0; i < r->n_policies; i++)
        for (size_t k = 0; k < r->policy[i].n_params; k++) {
            const struct param_result *p = &r->policy[i].param[k];
            const char *doubt = strstr(p->source, PROFILE_DOUBT);
            if (told_before(r, i, k)) continue;
            for (int v = 0; v < PROV_COUNT; v++)
                if (strcmp(p->provenance, provenance_names[v]) == 0) n[v]++;
            if (!doubt || (doubted && strcmp(doubted, p->fleet) == 0)) continue;
            doubted = p->fleet;
            log_warn(
                "group %s: the profile contradicts itself, self-checks failed when it was measured: %s",
                p->fleet, doubt + strlen(PROFILE_DOUBT));
        }
    log_info(
        "parameters used: %zu measured, %zu published, %zu assumed; result.json names each with its "
        "source",
        n[PROV_MEASURED], n[PROV_PUBLISHED], n[PROV_ASSUMED]);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int replay(struct runner *r, const struct options *o, struct asked *asked, struct err *e)
{
    const unsigned threads = o->threads > 0 ? o->threads : thread_cores();
    const char *dir = o->out ? o->out : arena_printf(r->arena, "out/%s", r->scenario.name);
    const double begin = seconds();
    r->result.version = GPUSIM_VERSION;
    r->replications = (size_t)o->replications;
    if (r->replications > 1 && !runner_is_random(r)) {
        log_warn(
            "--replications: nothing in this scenario is drawn at random, they would all be the same");
        r->replications = 1;
    }
    int rc = outfile_mkdirs(dir, e);
    /* What an earlier run left would tell of other work. */
    unlink(in_dir(r, dir, "result.json"));
    unlink(in_dir(r, dir, "report.html"));
    interrupt_catch();
    r->stop = interrupt_caught;
    if (rc == 0) rc = runner_run(r, dir, threads, e);
    if (rc != 0) return rc;
    const double wall_s = seconds() - begin;
    asked->threads = threads;
    rc = write_result(r, o->sensitivity ? asked : NULL, dir, e);
    if (rc == 0) rc = write_timing(in_dir(r, dir, "timing.json"), wall_s, &r->result, threads, e);
    if (rc != 0) return rc;
    warn(&r->result, r->scenario.horizon != CFG_NO_TIME);
    say_provenance(&r->result);
    print_comparison(&r->result, o->format);
    if (interrupt_caught()) {
        bool partial = false;
        for (size_t i = 0; i < r->n; i++) partial = partial || r->result.policy[i].interrupted;
        log_warn(partial ? "%s: %s/result.json holds the partial results, marked as such"
                         : "%s: %s/result.json is whole; what comes after it was left out",
                 interrupt_name(), dir);
        return 0;
    }
    if (!o->no_report) rc = command_draw("report", dir, o->lang, e);
    if (rc < 0) return rc;
    log_info("wrote %s/%s", dir, o->no_report ? "result.json" : "report.html");
    return rc;
}

static int print_resolved(const struct runner *r)
{
    struct strbuf b = { 0 };
    json_write(r->resolved, &b);
    fwrite(b.s, 1, b.len, stdout);
    strbuf_fini(&b);
    return 0;
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct options o = { .replications = 1 };
    struct runner r = { 0 };
    struct diag d;
    char **operand;
    int n;
    int rc = opt_parse(self, argc, argv, &o, &operand, &n, e);
    if (rc != 0) return rc == OPT_HELP_SHOWN ? 0 : rc;
    diag_init(&d);
    if (o.quiet) log_set_level(LOG_QUIET);
    uint64_t ignored;
    if (o.seed && dec_u64(o.seed, strlen(o.seed), &ignored) != DEC_OK) {
        rc = err_set(e, ERR_USAGE, NULL, "--seed: expected a whole number, found '%s'", o.seed);
        goto out;
    }
    if (o.out && !*o.out) {
        rc = err_set(e, ERR_USAGE, NULL, "--output: expected a folder, found an empty name");
        goto out;
    }
    if (o.replications < 1 || o.replications > MAX_REPLICATIONS) {
        rc = err_set(e, ERR_USAGE, NULL, "--replications: expected 1 to %d, found %lld",
                     MAX_REPLICATIONS, (long long)o.replications);
        goto out;
    }
    if (n != 1) {
        rc = err_set(e, ERR_USAGE, NULL, "expected one scenario, found %d operands", n);
        goto out;
    }
    struct strbuf seed = { 0 };
    VEC(const char *) set = { 0 };
    for (size_t i = 0; i < o.set.n; i++) vec_push(&set, o.set.v[i]);
    if (o.seed) {
        strbuf_addf(&seed, "seed=%s", o.seed);
        vec_push(&set, seed.s);
    }
    rc = runner_load(&r, operand[0], set.v, set.n, o.policy.v, o.policy.n, &d, e);
    if (rc == 0 && d.count > 0) rc = problems_first(&d, e);
    struct asked asked = { operand[0], set.v, set.n, 1 };
    if (rc == 0) rc = o.resolved ? print_resolved(&r) : replay(&r, &o, &asked, e);
    vec_fini(&set);
    strbuf_fini(&seed);
out:
    runner_fini(&r);
    diag_fini(&d);
    opt_fini(opts, &o);
    return rc;
}

const struct command cmd_run = {
    .name = "run",
    .args = "SCENARIO",
    .help = "replay the work under every policy; compare, price and report",
    .example = "gpusim run scenarios/mixed.json",
    .opts = opts,
    .run = run,
};
