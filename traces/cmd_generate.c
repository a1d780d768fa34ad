/* gpusim generate: a synthetic trace from a specification, and how near it comes to the published
 * figures that the specification names as targets. */
#include "base/arena.h"
#include "base/cfg.h"
#include "base/log.h"
#include "base/outfile.h"
#include "base/vec.h"
#include "cli/command.h"
#include "model/synth.h"
#include "model/trace.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct options {
    const char *out;
    uint64_t seed;
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
    { "jobs", 'n', OPT_COUNT, offsetof(struct options, jobs), "N",
      "stop after N jobs, however many the specification asks for", NULL },
    { "targets", 0, OPT_FLAG, offsetof(struct options, targets), NULL,
      "write no trace; compare with the targets, exit 1 when one is missed", NULL },
    { "format", 0, OPT_CHOICE, offsetof(struct options, format), "FORMAT",
      "how to print the comparison", table_or_json },
    { 0 },
};

/* What a target looks at: all jobs, or those of one class. */
struct sample {
    const char *klass; /* NULL: all */
    VEC(double) duration_s;
    uint64_t jobs, gpu_jobs, fractional, with_memory;
    uint64_t *shape_jobs; /* per target, jobs with exactly its gpus */
    double gpus, gpu_s, duration_sum, duration_sq, memory;
    double first_s, last_s, gap_sq;
};

static void sample_add(struct sample *s, const struct job_row *row, const struct synth_spec *spec)
{
    double d = simtime_s(row->duration), t = simtime_s(row->submit);
    double gpus = row->gpus_milli / 1000.0;
    vec_push(&s->duration_s, d);
    s->duration_sum += d;
    s->duration_sq += d * d;
    if (s->jobs)
        s->gap_sq += (t - s->last_s) * (t - s->last_s);
    else
        s->first_s = t;
    s->last_s = t;
    s->jobs++;
    s->gpu_s += gpus * d;
    if (row->gpus_milli) {
        s->gpu_jobs++;
        s->gpus += gpus;
        s->fractional += row->gpus_milli < 1000;
        for (size_t i = 0; i < spec->n_targets; i++) {
            const char *q = spec->target[i].quantity;
            if (!strncmp(q, "gpus.share:", 11) &&
                lround(strtod(q + 11, NULL) * 1000) == row->gpus_milli)
                s->shape_jobs[i]++;
        }
    }
    if (row->gpu_mem_bytes != JOB_NO_BYTES) {
        s->with_memory++;
        s->memory += (double)row->gpu_mem_bytes;
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Smallest value with at least p percent of the values at or below it; values are sorted. */
static double percentile(const struct sample *s, int p)
{
    size_t n = s->duration_s.n;
    if (!n) return NAN;
    size_t rank = (n * (size_t)p + 99) / 100;
    return s->duration_s.v[rank ? rank - 1 : 0];
}

static double cv(double n, double sum, double sum_sq)
{
    double mean = sum / n, var = sum_sq / n - mean * mean;
    return n > 1 && mean > 0 ? sqrt(fmax(var, 0)) / mean : NAN;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

/* `span_s`: the horizon, or up to the last job where there is none. */
static double achieved(const struct sample *s, const char *q, size_t target, double span_s)
{
    double jobs = (double)s->jobs, gaps = jobs - 1, width = s->last_s - s->first_s;
    if (!strcmp(q, "jobs")) return jobs;
    if (!strcmp(q, "jobs_per_day")) return ratio(jobs * 86400, span_s);
    if (!strcmp(q, "gap.mean")) return ratio(width, gaps);
    if (!strcmp(q, "gap.cv")) return gaps > 1 ? cv(gaps, width, s->gap_sq) : NAN;
    if (!strcmp(q, "duration.mean")) return ratio(s->duration_sum, jobs);
    if (!strcmp(q, "duration.cv")) return cv(jobs, s->duration_sum, s->duration_sq);
    if (!strncmp(q, "duration.p", 10)) return percentile(s, atoi(q + 10));
    if (!strcmp(q, "gpus.mean")) return ratio(s->gpus, (double)s->gpu_jobs);
    if (!strcmp(q, "gpus.fractional")) return ratio((double)s->fractional, (double)s->gpu_jobs);
    if (!strcmp(q, "memory.mean")) return ratio(s->memory, (double)s->with_memory);
    if (!strcmp(q, "gpu_hours")) return s->gpu_s / 3600;
    if (!strcmp(q, "load")) return ratio(s->gpu_s, span_s);
    return ratio((double)s->shape_jobs[target], (double)s->gpu_jobs);
}

struct verdict {
    double value, deviation;
    bool met;
};

struct report {
    const struct synth_spec *spec;
    uint64_t seed, jobs;
    struct verdict *verdict; /* one per target */
    size_t missed;
};

static void judge(struct report *r, struct sample *samples, size_t n_samples, double span_s)
{
    const struct synth_spec *spec = r->spec;
    for (size_t i = 0; i < n_samples; i++)
        if (samples[i].duration_s.n)
            qsort(samples[i].duration_s.v, samples[i].duration_s.n, sizeof(double), by_value);
    for (size_t i = 0; i < spec->n_targets; i++) {
        const struct synth_target *t = &spec->target[i];
        struct sample *s = &samples[0];
        for (size_t k = 1; t->klass && k < n_samples; k++)
            if (!strcmp(samples[k].klass, t->klass)) s = &samples[k];
        struct verdict *v = &r->verdict[i];
        v->value = achieved(s, t->quantity, i, span_s);
        v->deviation = t->value > 0 ? v->value / t->value - 1 : v->value - t->value;
        v->met = fabs(v->deviation) <= t->tolerance; /* false for NAN */
        r->missed += !v->met;
    }
}

static void print_table(const struct report *r, FILE *to)
{
    const struct synth_spec *s = r->spec;
    fprintf(to, "%s: %" PRIu64 " jobs, seed %" PRIu64 "\n", s->name, r->jobs, r->seed);
    if (!s->n_targets) return;
    fprintf(to, "%-16s %-18s %12s %12s %8s %8s  %-6s  %s\n", "class", "quantity", "target",
            "achieved", "off", "allowed", "", "source");
    for (size_t i = 0; i < s->n_targets; i++) {
        const struct synth_target *t = &s->target[i];
        const struct verdict *v = &r->verdict[i];
        fprintf(to, "%-16s %-18s %12.6g %12.6g %+7.1f%% %7.1f%%  %-6s  %s\n",
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
    json_object_set_new(root, "jobs", json_num((double)r->jobs));
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

static void write_header(FILE *to, const struct synth_spec *s, const char *path, uint64_t seed)
{
    char comment[256];
    snprintf(comment, sizeof comment,
             "gpusim-trace/1 synthetic: %s seed %" PRIu64
             ", spec sha256 %.12s; time zero %g h after Monday 00:00",
             base_name(path), seed, s->sha256, simtime_s(s->origin) / 3600);
    trace_write_header(to, synth_columns(s), comment);
}

/* Samples: all jobs, then each class. */
static struct sample *samples_create(const struct synth_spec *spec)
{
    struct sample *s = xcalloc(spec->n_cls + 1, sizeof *s);
    for (size_t i = 0; i <= spec->n_cls; i++) {
        s[i].klass = i ? synth_class_name(spec, i - 1) : NULL;
        s[i].shape_jobs = xcalloc(spec->n_targets + 1, sizeof *s[i].shape_jobs);
    }
    return s;
}

static void samples_destroy(struct sample *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        vec_fini(&s[i].duration_s);
        free(s[i].shape_jobs);
    }
    free(s);
}

/* Draw every job; to the trace unless `to` is NULL. Percentiles are exact, so with targets all
 * durations are kept; without, memory stays flat. */
static int generate(struct report *r, const char *path, FILE *to, struct err *e)
{
    const struct synth_spec *spec = r->spec;
    struct symtab *names = symtab_create();
    struct synth *s = synth_create(spec, r->seed, 0, names);
    struct sample *samples = samples_create(spec);
    struct job_row row;
    double last_s = 0;
    unsigned columns = synth_columns(spec);
    int rc;
    if (to) write_header(to, spec, path, r->seed);
    while ((rc = synth_next(s, &row, e)) > 0) {
        r->jobs++;
        last_s = simtime_s(row.submit);
        if (to) trace_write_row(to, columns, &row, names);
        if (!spec->n_targets) continue;
        sample_add(&samples[0], &row, spec);
        sample_add(&samples[1 + synth_row_class(s)], &row, spec);
    }
    /* a count reached first ends the trace before the horizon does */
    bool cut = spec->jobs != CFG_NO_INT && r->jobs == (uint64_t)spec->jobs;
    double span_s = spec->horizon == CFG_NO_TIME || cut ? last_s : simtime_s(spec->horizon);
    if (rc == 0) judge(r, samples, spec->n_cls + 1, span_s);
    samples_destroy(samples, spec->n_cls + 1);
    synth_close(s);
    symtab_destroy(names);
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
    int rc = outfile_open(&f, to, e);
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
    r.verdict = arena_array(a, spec.n_targets + 1, sizeof *r.verdict);
    rc = produce(&o, operand[0], &r, e);
    if (rc < 0) goto out;
    if (o.format == FORMAT_JSON)
        print_json(&r, stdout);
    else
        print_table(&r, o.targets ? stdout : stderr);
    if (!r.jobs) log_warn("%s: no job falls before the horizon", operand[0]);
    if (spec.jobs != CFG_NO_INT && spec.horizon == CFG_NO_TIME && r.jobs < (uint64_t)spec.jobs)
        log_warn("%s: %" PRIu64 " of %" PRId64 " jobs: the classes ended, or time reached %g s, "
                 "the longest a trace can hold",
                 operand[0], r.jobs, spec.jobs, SIM_MAX_S);
    rc = o.targets && r.missed ? 1 : 0;
out:
    arena_destroy(a);
    opt_fini(opts, &o);
    return rc;
}

const struct command cmd_generate = {
    .name = "generate",
    .args = "SPEC.json",
    .help = "make a synthetic trace from a specification",
    .example = "gpusim generate scenarios/workloads/generate-philly.json -o philly.csv",
    .opts = opts,
    .run = run,
};
