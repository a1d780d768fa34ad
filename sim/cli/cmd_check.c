/* gpusim check: parse scenarios, traces, profiles, price books, cards and generator specifications
 * without running; print every problem. Exit 1 if there are any, 4 for a file that cannot be
 * read. */
#include "base/instream.h"
#include "base/log.h"
#include "base/spool.h"
#include "cli/command.h"
#include "cli/explain.h"
#include "cli/problems.h"
#include "cost/plain.h"
#include "engine/accounts.h"
#include "engine/shape.h"
#include "engine/source.h"
#include "model/llm.h"
#include "model/price_check.h"
#include "model/requests.h"
#include "model/sheet.h"
#include "model/synth.h"
#include "whatif/runner.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct options {
    bool explain, quiet;
    int format;
};

static const char *const formats[] = { "table", "json", NULL };
static const struct opt opts[] = {
    { "explain", 0, OPT_FLAG, offsetof(struct options, explain), NULL,
      "also say what each file was taken for; run services, beside formulas", NULL },
    { "format", 0, OPT_CHOICE, offsetof(struct options, format), "FORMAT",
      "how to print the problems", formats },
    { "quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), NULL, "problems only", NULL },
    { 0 },
};

/* ---- one file of each kind; problems go to `d`, what was found to `note` ---- */

struct finding {
    struct diag *d;
    bool explain;
    char what[64], note[256];
    struct strbuf more; /* further lines for --explain */
};

static int check_trace(const char *path, struct finding *f, struct err *e)
{
    struct symtab *names = symtab_create();
    struct trace_reader *t = NULL;
    struct job_row row;
    uint64_t rows = 0;
    snprintf(f->what, sizeof f->what, "native job trace");
    int rc = trace_open(&t, path, names, e);
    while (rc == 0 && f->d->count < (size_t)2 * DIAG_KEPT) {
        struct err at = { 0 };
        const int got = trace_next(t, &row, &at);
        if (got == 0) break;
        rows += got > 0;
        if (got < 0) diag_add_err(f->d, &at);
        if (got < 0 && trace_failed(t)) break;
    }
    snprintf(f->note, sizeof f->note, "%llu rows, sorted", (unsigned long long)rows);
    trace_close(t);
    symtab_destroy(names);
    return rc;
}

static int check_requests(const char *path, struct finding *f, struct err *e)
{
    struct symtab *names = symtab_create();
    struct requests_reader *t = NULL;
    struct request_row row;
    uint64_t rows = 0;
    snprintf(f->what, sizeof f->what, "native request trace");
    int rc = requests_open(&t, path, names, e);
    while (rc == 0 && f->d->count < (size_t)2 * DIAG_KEPT) {
        struct err at = { 0 };
        const int got = requests_next(t, &row, &at);
        if (got == 0) break;
        rows += got > 0;
        if (got < 0) diag_add_err(f->d, &at);
        if (got < 0 && requests_failed(t)) break;
    }
    snprintf(f->note, sizeof f->note, "%llu rows, sorted", (unsigned long long)rows);
    requests_close(t);
    symtab_destroy(names);
    return rc;
}

/* By the header, decompressed. */
static bool looks_like_requests(const char *path)
{
    char head[4096];
    struct instream *in;
    ssize_t n = 0;
    if (instream_open(&in, path, NULL) < 0) return false;
    n = instream_read(in, head, sizeof head, NULL);
    instream_close(in);
    return n > 0 && requests_sniff(head, (size_t)n) > 0;
}

/* The requests of a service: a trace row by row, a generator's file as a whole. */
static int check_service(const struct service_spec *s, struct finding *f, struct err *e)
{
    struct json_doc doc = { 0 };
    struct synth_spec spec;
    int rc = 0;
    if (s->requests) return check_requests(s->requests, f, e);
    if (!s->spec || (rc = json_doc_load(&doc, s->spec, e)) != 0) return rc;
    struct arena *a = arena_create();
    synth_read(&spec, a, &doc, f->d);
    arena_destroy(a);
    json_doc_fini(&doc);
    return 0;
}

/* A scenario's own traces and specifications, row by row. */
static int check_work(const struct scenario *s, struct finding *f, struct err *e)
{
    for (size_t i = 0; i < s->n_work; i++) {
        struct finding inner = { .d = f->d };
        struct synth *synth = NULL;
        struct symtab *names = symtab_create();
        const struct work_item *w = &s->work[i];
        int rc = 0;
        if (w->kind == WORK_JOBS)
            rc = check_trace(w->trace, &inner, e);
        else if (w->kind == WORK_GENERATE)
            rc = synth_open(&synth, w->spec, 1, 0, names, NULL, e);
        else
            rc = check_service(w->service, &inner, e);
        synth_close(synth);
        symtab_destroy(names);
        if (rc != 0) return rc;
    }
    return 0;
}

/* What a run of `p` would refuse of the jobs that it meets: names that nothing has, work that no
 * card of its fleet can do. */
static int check_jobs(const struct scenario *s, const struct plan *p, struct finding *f,
                      struct err *e)
{
    struct symtab *names = symtab_create();
    struct shape_table *shapes = shape_table_create(p, names);
    struct accounts *accounts = accounts_create(&p->accounts, names);
    struct source *source = NULL;
    struct job_row row;
    int rc = source_open(&source, s, 0, names, e);
    while (rc == 0 && f->d->count < (size_t)2 * DIAG_KEPT &&
           (rc = source_next(source, &row, e)) > 0) {
        struct unknown_name unknown;
        struct err at = { 0 };
        char why[256];
        rc = 0;
        if (s->horizon != CFG_NO_TIME && row.submit >= s->horizon) break;
        struct shape *shape = shape_of(shapes, &row, &unknown);
        if (shape) {
            shape_drop(shapes, shape);
            unknown.column = "group";
            unknown.why = accounts_unknown(accounts, &row, why, sizeof why);
        }
        if (!unknown.why) continue;
        source_row_error(source, unknown.column, &at, unknown.why);
        diag_add_err(f->d, &at);
    }
    char words[400];
    const char *unmet = accounts_unmet(accounts, words, sizeof words);
    if (unmet && rc == 0 && f->d->count == 0) log_warn("policy %s: %s", p->spec->name, unmet);
    source_close(source);
    accounts_destroy(accounts);
    shape_table_destroy(shapes);
    symtab_destroy(names);
    return rc;
}

static int check_scenario(const char *path, struct finding *f, struct err *e)
{
    struct runner r = { 0 };
    snprintf(f->what, sizeof f->what, "scenario");
    int rc = runner_load(&r, path, NULL, 0, NULL, 0, f->d, e);
    if (rc == 0 && f->d->count == 0) {
        snprintf(
            f->note, sizeof f->note,
            "%zu policies, %lld cards, %zu work items; card names, profiles, prices, traces and "
            "specifications were read",
            r.n, (long long)r.plan[0].cards, r.scenario.n_work);
        explain_checkpoints(&r, &f->more);
        explain_bursts(&r, &f->more);
        rc = check_work(&r.scenario, f, e);
        for (size_t i = 0; rc == 0 && i < r.n && f->d->count == 0; i++)
            rc = check_jobs(&r.scenario, &r.plan[i], f, e);
        if (rc == 0 && f->explain && f->d->count == 0) rc = explain_services(&r, &f->more, e);
    }
    runner_fini(&r);
    return rc;
}

static void check_plain(const struct json_doc *doc, struct arena *a, struct finding *f)
{
    struct gpu_catalogue *gpus = NULL;
    struct plain_fleet fleet;
    struct err e = { 0 };
    if (gpu_catalogue_load(&gpus, NULL, &e) != 0)
        diag_add_err(f->d, &e);
    else
        plain_read(&fleet, a, doc, gpus, f->d);
    gpu_catalogue_destroy(gpus);
}

/* A profile of a card that the catalogue has, against its data sheet. */
static void check_sheet(const struct gpu_profile *p, const struct json_doc *doc, struct diag *d)
{
    struct gpu_catalogue *gpus = NULL;
    struct err e = { 0 };
    if (gpu_catalogue_load(&gpus, NULL, &e) == 0) {
        const struct gpu_spec *gpu = gpu_find(gpus, p->gpu, NULL);
        if (gpu)
            sheet_check(gpu, p, doc, d);
        else
            log_warn(
                "%s: no card of the catalogue is called \"%s\", so its data sheet is not looked at",
                doc->file, p->gpu);
    } else {
        diag_add_err(d, &e);
    }
    gpu_catalogue_destroy(gpus);
}

static void say_doubt(void *ctx, const char *sentence)
{
    log_warn("%s: %s", (const char *)ctx, sentence);
}

static void check_prices(const struct json_doc *doc, struct arena *a, struct finding *f)
{
    struct gpu_catalogue *gpus = NULL;
    struct price_book book;
    struct err e = { 0 };
    price_book_read(&book, a, doc, f->d);
    if (f->d->count > 0) return;
    if (gpu_catalogue_load(&gpus, NULL, &e) != 0)
        diag_add_err(f->d, &e);
    else
        price_check_cards(&book, doc, gpus, f->d);
    gpu_catalogue_destroy(gpus);
    if (f->d->count == 0) price_doubts(&book, say_doubt, (void *)(uintptr_t)doc->file);
}

static void check_document(const struct json_doc *doc, const char *format, struct finding *f)
{
    struct arena *a = arena_create();
    const char *slash = strrchr(doc->file, '/');
    snprintf(f->what, sizeof f->what, "%.60s", format);
    if (strcmp(format, "gpusim-profile/1") == 0) {
        struct gpu_profile profile;
        profile_defaults(&profile);
        const size_t before = f->d->count;
        profile_read(&profile, a, doc, f->d);
        if (f->d->count == before) check_sheet(&profile, doc, f->d);
        if (profile.failed_checks)
            log_warn("%s: self-checks failed when it was measured: %s", doc->file,
                     profile.failed_checks);
    } else if (strcmp(format, "gpusim-prices/1") == 0) {
        check_prices(doc, a, f);
    } else if (strcmp(format, "gpusim-generate/1") == 0) {
        struct synth_spec spec;
        synth_read(&spec, a, doc, f->d);
    } else if (strcmp(format, "gpusim-gpu/1") == 0) {
        struct gpu_spec gpu;
        char *name = arena_strdup(a, slash ? slash + 1 : doc->file);
        if (str_ends(name, ".json")) name[strlen(name) - 5] = '\0';
        gpu_read(&gpu, a, doc, name, f->d);
    } else if (strcmp(format, "gpusim-workload/1") == 0) {
        struct worklib works;
        worklib_read(&works, a, doc, f->d);
    } else if (strcmp(format, "gpusim-llm/1") == 0) {
        struct llm_model model;
        llm_model_read(&model, a, doc, f->d);
    } else if (strcmp(format, "gpusim-llm-steps/1") == 0) {
        struct llm_steps steps;
        llm_steps_read(&steps, a, doc, f->d);
    } else if (strcmp(format, "gpusim-result/1") == 0) {
        struct result result;
        result_read(&result, a, doc, f->d);
    } else if (strcmp(format, PLAIN_FORMAT) == 0) {
        check_plain(doc, a, f);
    } else {
        struct err *e = json_problem(f->d, doc, "/format", "no such format: \"%s\"", format);
        err_hint(e, "known: gpusim-scenario/1, -profile/1, -prices/1, -generate/1, "
                    "-workload/1, -llm/1, -llm-steps/1, -gpu/1, -result/1, -tco/1");
    }
    arena_destroy(a);
}

static int check_json(const char *path, struct finding *f, struct err *e)
{
    struct json_doc doc = { 0 };
    int rc = json_doc_load(&doc, path, e);
    if (rc != 0) return rc;
    const char *format = json_string_value(json_object_get(doc.root, "format"));
    if (!format)
        json_problem(f->d, &doc, "", "expected a \"format\" such as \"gpusim-scenario/1\"");
    else if (strcmp(format, "gpusim-scenario/1") == 0)
        rc = check_scenario(path, f, e);
    else
        check_document(&doc, format, f);
    json_doc_fini(&doc);
    return rc;
}

static bool looks_like_json(const char *path)
{
    FILE *file = fopen(path, "r");
    int c = ' ';
    while (file && (c == ' ' || c == '\n' || c == '\t' || c == '\r')) c = fgetc(file);
    if (file) fclose(file);
    return c == '{' || c == '[' || str_ends(path, ".json");
}

/* ---- the command ---- */

static json_t *problem_json(const char *file, const struct err *p)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:s}", "file", file, "where", p->where, "message",
                     p->msg, "line", p->line, "hint", p->hint);
}

static int check_one(const char *path, const struct options *o, json_t *list, int worst)
{
    struct diag d;
    struct finding f = { .d = &d, .explain = o->explain };
    struct err e = { 0 };
    struct spool spool = { 0 }; /* it is read twice: to tell what it is, and to check it */
    diag_init(&d);
    int rc = strcmp(path, "-") != 0 && access(path, R_OK) != 0
                 ? err_set(&e, err_of_errno(errno), &(struct loc){ .file = path },
                           "cannot be read: %s", strerror(errno))
                 : spool_open(&spool, path, &e);
    if (rc == 0) {
        const char *at = spool_path(&spool);
        rc = looks_like_json(at)       ? check_json(at, &f, &e)
             : looks_like_requests(at) ? check_requests(at, &f, &e)
                                       : check_trace(at, &f, &e);
    }
    if (rc != 0) diag_add_err(&d, &e);
    bool unreadable = rc == ERR_IO; /* it, or a file that it names */
    for (size_t i = 0; i < d.count && i < DIAG_KEPT; i++) {
        unreadable |= d.problem[i].code == ERR_IO;
        spool_name_err(&spool, &d.problem[i]);
    }
    spool_close(&spool);
    for (size_t i = 0; i < d.count && i < DIAG_KEPT; i++)
        json_array_append_new(list, problem_json(path, &d.problem[i]));
    if (o->format == FORMAT_TABLE) {
        problems_print(&d);
        if (o->explain)
            printf("%s: %s: %s\n", path, f.what[0] ? f.what : "unknown",
                   d.count     ? "has problems"
                   : f.note[0] ? f.note
                               : "good");
        if (o->explain && f.more.s)
            fputs(f.more.s, stdout);
        else if (d.count == 0 && !o->quiet)
            printf("%s: good\n", path);
    }
    const int status = unreadable ? 4 : d.count > 0;
    strbuf_fini(&f.more);
    diag_fini(&d);
    return status > worst ? status : worst;
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct options o = { 0 };
    char **file;
    int n, status = 0;
    const int rc = opt_parse(self, argc, argv, &o, &file, &n, e);
    if (rc != 0) return rc == OPT_HELP_SHOWN ? 0 : rc;
    if (n == 0) return err_set(e, ERR_USAGE, NULL, "expected at least one file");
    json_t *list = json_array();
    for (int i = 0; i < n; i++) status = check_one(file[i], &o, list, status);
    if (o.format != FORMAT_TABLE) {
        struct strbuf b = { 0 };
        json_t *v = json_pack("{s:b, s:O}", "good", status == 0, "problems", list);
        json_write(v, &b);
        fwrite(b.s, 1, b.len, stdout);
        strbuf_fini(&b);
        json_decref(v);
    }
    json_decref(list);
    return status;
}

const struct command cmd_check = {
    .name = "check",
    .args = "FILE...",
    .help = "parse scenarios, traces, profiles, price books; print every problem",
    .example = "gpusim check scenarios/mixed.json",
    .opts = opts,
    .run = run,
};
