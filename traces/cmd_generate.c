/* gpusim generate: a synthetic trace from a specification, and how near it comes to the published
 * figures that the specification names as targets. */
#include "base/arena.h"
#include "base/cfg.h"
#include "base/log.h"
#include "base/outfile.h"
#include "base/rng.h"
#include "cli/command.h"
#include "model/synth.h"
#include "model/trace.h"
#include "traces/achieved.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct options {
    const char *out;
    uint64_t seed;
    const char *as;
    int64_t jobs; /* 0: as the specification says */
    bool targets;
    int format;
};

#define SEED_UNSET UINT64_MAX

static const char *const table_or_json[] = { "table", "json", NULL };

static const struct opt opts[] = {
    { "output", 'o', OPT_TEXT, offsetof(struct options, out), "FILE",
      "write the trace there (default: standard output)", NULL },
    { "seed", 0, OPT_SEED, offsetof(struct options, seed), "S",
      "master seed (default: the specification's)", NULL },
    { "as", 0, OPT_TEXT, offsetof(struct options, as), "WORK",
      "draw what the work item WORK of a scenario with this seed draws", NULL },
    { "jobs", 'n', OPT_COUNT, offsetof(struct options, jobs), "N",
      "stop after N jobs, however many the specification asks for", NULL },
    { "targets", 0, OPT_FLAG, offsetof(struct options, targets), NULL,
      "write no trace; compare with the targets, exit 1 when one is missed", NULL },
    { "format", 0, OPT_CHOICE, offsetof(struct options, format), "FORMAT",
      "how to print the comparison", table_or_json },
    { 0 },
};

struct report { /* what was made and how near it came */
    const struct synth_spec *spec;
    uint64_t seed, jobs;     /* jobs: rows, also of requests */
    struct verdict *verdict; /* one per target */
    size_t missed;
};

static const char *rows_name(const struct synth_spec *s)
{
    return s->n_svc ? "requests" : "jobs";
}

static void print_table(const struct report *r, FILE *to)
{
    const struct synth_spec *s = r->spec;
    fprintf(to, "%s: %" PRIu64 " %s, seed %" PRIu64 "\n", s->name, r->jobs, rows_name(s), r->seed);
    if (!s->n_targets) return;
    fprintf(to, "%-16s %-23s %12s %12s %8s %8s  %-6s  %s\n", s->n_svc ? "service" : "class",
            "quantity", "target", "achieved", "off", "allowed", "", "source");
    for (size_t i = 0; i < s->n_targets; i++) {
        const struct synth_target *t = &s->target[i];
        const struct verdict *v = &r->verdict[i];
        fprintf(to, "%-16s %-23s %12.6g %12.6g %+7.1f%% %7.1f%%  %-6s  %s\n",
                t->klass ? t->klass : "all", t->quantity, t->value, v->value, 100 * v->deviation,
                100 * t->tolerance, v->met ? "met" : "MISSED", t->source);
    }
}

static void print_json(const struct report *r, FILE *to)
{
    const struct synth_spec *s = r->spec;
    struct strbuf text = { 0 };
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_targets; i++) {
        const struct synth_target *t = &s->target[i];
        const struct verdict *v = &r->verdict[i];
        json_t *o = json_object();
        json_object_set_new(o, "class", t->klass ? json_string(t->klass) : json_null());
        json_object_set_new(o, "quantity", json_string(t->quantity));
        json_object_set_new(o, "target", json_num(t->value));
        json_object_set_new(o, "achieved", json_num(v->value));
        json_object_set_new(o, "deviation", json_num(v->deviation));
        json_object_set_new(o, "tolerance", json_num(t->tolerance));
        json_object_set_new(o, "met", json_boolean(v->met));
        json_object_set_new(o, "source", json_string(t->source));
        json_array_append_new(list, o);
    }
    json_t *root = json_object();
    json_object_set_new(root, "name", json_string(s->name));
    json_object_set_new(root, "seed", json_integer((json_int_t)r->seed));
    json_object_set_new(root, "spec_sha256", json_string(s->sha256));
    json_object_set_new(root, rows_name(s), json_num((double)r->jobs));
    json_object_set_new(root, "missed", json_num((double)r->missed));
    json_object_set_new(root, "targets", list);
    json_write(root, &text);
    fwrite(text.s, 1, text.len, to);
    strbuf_fini(&text);
    json_decref(root);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The comment of the first line: where the rows come from. */
static const char *origin(char *buf, size_t size, const struct report *r, const char *path)
{
    snprintf(buf, size,
             "gpusim-trace/1 synthetic: %s seed %" PRIu64
             ", spec sha256 %.12s; time zero %g h after Monday 00:00",
             base_name(path), r->seed, r->spec->sha256, simtime_s(r->spec->origin) / 3600);
    return buf;
}

static int write_jobs(struct report *r, const char *comment, FILE *to, struct achieved *a,
                      double *last_s, struct err *e)
{
    struct symtab *names = symtab_create();
    struct synth *s = NULL;
    struct job_row row;
    int rc = synth_create(&s, r->spec, r->seed, 0, names, e);
    if (rc < 0) goto out;
    const unsigned columns = synth_columns(s);
    if (synth_left_out(s))
        log_warn("%zu jobs behind the last whole block of a recording are never drawn",
                 synth_left_out(s));
    if (to) trace_write_header(to, columns, comment);
    while ((rc = synth_next(s, &row, e)) > 0) {
        r->jobs++;
        *last_s = simtime_s(row.submit);
        if (to) trace_write_row(to, columns, &row, names);
        achieved_job(a, synth_row_class(s), &row);
    }
out:
    synth_close(s);
    symtab_destroy(names);
    return rc;
}

static void write_requests(struct report *r, const char *comment, FILE *to, struct achieved *a,
                           double *last_s)
{
    struct symtab *names = symtab_create();
    struct synth_requests *s = synth_requests_create(r->spec, r->seed, 0, names);
    struct request_row row;
    const unsigned columns = synth_requests_columns(r->spec);
    if (to) requests_write_header(to, columns, comment);
    while (synth_requests_next(s, &row)) {
        r->jobs++;
        *last_s = simtime_s(row.arrival);
        if (to) requests_write_row(to, columns, &row, names);
        achieved_request(a, synth_requests_service(s), &row);
    }
    synth_requests_close(s);
    symtab_destroy(names);
}

/* Draw every row; to the trace unless `to` is NULL. Without targets memory stays flat. */
static int generate(struct report *r, const char *path, FILE *to, struct err *e)
{
    const struct synth_spec *spec = r->spec;
    struct achieved *a = achieved_create(spec);
    char comment[256];
    double last_s = 0;
    int rc = 0;
    origin(comment, sizeof comment, r, path);
    if (spec->n_svc)
        write_requests(r, comment, to, a, &last_s);
    else
        rc = write_jobs(r, comment, to, a, &last_s, e);
    /* a count reached first ends the trace before the horizon does */
    bool cut = spec->jobs != CFG_NO_INT && r->jobs == (uint64_t)spec->jobs;
    double span_s = spec->horizon == CFG_NO_TIME || cut ? last_s : simtime_s(spec->horizon);
    if (rc == 0) r->missed = achieved_judge(a, span_s, r->verdict);
    achieved_destroy(a);
    return rc;
}

/* All problems of a specification are told, in order: the last one by whoever gets *e. */
static int load(struct synth_spec *spec, struct arena *a, const char *path, struct err *e)
{
    struct json_doc doc;
    struct diag d;
    int rc = json_doc_load(&doc, path, e);
    if (rc < 0) return rc;
    diag_init(&d);
    synth_read(spec, a, &doc, &d);
    size_t kept = d.count < DIAG_KEPT ? d.count : DIAG_KEPT;
    for (size_t i = 0; i + 1 < kept; i++) err_print(&d.problem[i], "gpusim", stderr);
    if (kept) {
        *e = d.problem[kept - 1];
        rc = e->code;
    }
    diag_fini(&d);
    json_doc_fini(&doc);
    return rc;
}

static int produce(const struct options *o, const char *path, struct report *r, struct err *e)
{
    struct outfile f = { 0 };
    const char *to = o->out ? o->out : "-";
    if (o->targets) return generate(r, path, NULL, e);
    int rc = outfile_mkdirs_for(to, e);
    if (rc == 0) rc = outfile_open(&f, to, e);
    if (rc < 0) return rc;
    rc = generate(r, path, f.f, e);
    if (rc == 0) rc = outfile_commit(&f, e);
    outfile_abandon(&f);
    return rc;
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct options o = { .seed = SEED_UNSET };
    struct synth_spec spec;
    struct report r = { .spec = &spec };
    struct arena *a = NULL;
    char **operand;
    int n;
    int rc = opt_parse(self, argc, argv, &o, &operand, &n, e);
    if (rc) return rc < 0 ? rc : 0;
    bool to_stdout = !o.out || !strcmp(o.out, "-");
    if (n != 1) {
        rc = err_set(e, ERR_USAGE, NULL, "expected one specification, found %d", n);
        goto out;
    }
    if (o.format == FORMAT_JSON && to_stdout && !o.targets) {
        rc = err_set(e, ERR_USAGE, NULL,
                     "--format json prints the comparison on standard output, where the trace "
                     "goes; add -o FILE or --targets");
        goto out;
    }
    a = arena_create();
    rc = load(&spec, a, operand[0], e);
    if (rc < 0) goto out;
    if (o.jobs) spec.jobs = o.jobs;
    r.seed = o.seed == SEED_UNSET ? spec.seed : o.seed;
    if (o.as) r.seed = rng_mix(r.seed, 0, o.as); /* as engine/source.c does */
    r.verdict = arena_array(a, spec.n_targets + 1, sizeof *r.verdict);
    rc = produce(&o, operand[0], &r, e);
    if (rc < 0) goto out;
    if (o.format == FORMAT_JSON)
        print_json(&r, stdout);
    else
        print_table(&r, o.targets ? stdout : stderr);
    if (!r.jobs)
        log_warn("%s: no %s before the horizon", operand[0], spec.n_svc ? "request" : "job");
    if (spec.jobs != CFG_NO_INT && spec.horizon == CFG_NO_TIME && r.jobs < (uint64_t)spec.jobs)
        log_warn("%s: %" PRIu64 " of %" PRId64 " %s: all streams ended, or time reached %g s, "
                 "the longest a trace can hold",
                 operand[0], r.jobs, spec.jobs, rows_name(&spec), SIM_MAX_S);
    rc = o.targets && r.missed ? 1 : 0;
out:
    arena_destroy(a);
    opt_fini(opts, &o);
    return rc;
}

const struct command cmd_generate = {
    .name = "generate",
    .args = "SPEC.json",
    .help = "make a synthetic trace of jobs or requests from a specification",
    .example = "gpusim generate scenarios/workloads/generate-philly.json -o philly.csv",
    .opts = opts,
    .run = run,
};
