#include "whatif/compare.h"

#include "base/csv.h"
#include "base/dec.h"
#include "base/json.h"
#include "base/units.h"
#include "base/vec.h"
#include "model/result.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

const char *const compare_metric_names[] = { "wait_s",   "turnaround_s", "slowdown", "completed",
                                             "cost_usd", "energy_kwh",   NULL };

static const char *const totals[] = { "gpu.allocated",
                                      "gpu.sm_active",
                                      "gpu.energy_kwh",
                                      "jobs.failed",
                                      "jobs.rejected",
                                      "tco.total_usd",
                                      "tco.usd_per_useful_gpu_hour" };
enum { N_TOTALS = sizeof totals / sizeof *totals };

/* One side of the comparison. */
struct side {
    const char *dir, *jobs_csv;
    struct json_doc doc;
    json_t *policies;
    double warmup_s;
};

/* ---- what was run ---- */

/* That jobs.csv is the one that the run wrote. */
static int check_jobs(const struct side *s, struct arena *a, struct err *e)
{
    struct result r = { 0 };
    struct diag d;
    diag_init(&d);
    result_read_files(&r, a, &s->doc, &d);
    int rc = diag_result(&d, e);
    diag_fini(&d);
    return rc == 0 ? result_check_file(&r, s->dir, "jobs.csv", e) : rc;
}

static int open_side(struct side *s, const char *dir, struct arena *a, struct err *e)
{
    const char *path = arena_printf(a, "%s/result.json", dir);
    const struct loc at = { .file = path };
    *s = (struct side){ .dir = dir, .jobs_csv = arena_printf(a, "%s/jobs.csv", dir) };
    int rc = json_doc_load(&s->doc, path, e);
    if (rc != 0) return rc;
    const char *format = json_string_value(json_object_get(s->doc.root, "format"));
    s->policies = json_object_get(s->doc.root, "policies");
    if (!format || strcmp(format, "gpusim-result/1") != 0 || !json_is_array(s->policies))
        return err_set(e, ERR_INPUT, &at, "expected a result (gpusim-result/1)");
    if ((rc = result_check_whole(&s->doc, e)) != 0) return rc;
    const char *warmup = json_string_value(json_path_get(s->doc.root, "scenario.warmup"));
    simtime ns = 0;
    if (warmup && unit_parse_time(warmup, &ns, NULL) != 0)
        return err_set(e, ERR_INPUT, &at, "scenario.warmup: expected a duration, found \"%s\"",
                       warmup);
    s->warmup_s = (double)ns / 1e9;
    if (access(s->jobs_csv, R_OK) != 0) {
        const struct loc jobs = { .file = s->jobs_csv };
        rc = err_set(e, ERR_IO, &jobs, "cannot read the jobs of the run");
        err_hint(e, "run the scenario with \"output\": {\"jobs\": true}");
    }
    return rc == 0 ? check_jobs(s, a, e) : rc;
}

/* Name, kind and load of every work item: with the hashes of their files, the work. */
static json_t *work_of(const struct side *s)
{
    json_t *list = json_array(), *w;
    size_t i;
    json_array_foreach(json_path_get(s->doc.root, "scenario.work"), i, w)
    {
        static const char *const kept[] = { "name", "kind", "load" };
        json_t *one = json_object();
        for (size_t k = 0; k < 3; k++) json_object_set(one, kept[k], json_object_get(w, kept[k]));
        json_array_append_new(list, one);
    }
    return list;
}

static bool same_json(json_t *a, json_t *b)
{
    return a && b ? json_equal(a, b) : a == b;
}

static int check_same_work(const struct side *a, const struct side *b, struct err *e)
{
    static const struct {
        const char *path, *what;
    } part[] = { { "trace_sha256", "traces or generators" },
                 { "seed", "seeds" },
                 { "scenario.warmup", "warm-ups" },
                 { "scenario.horizon", "horizons" } };
    const char *differ = NULL;
    for (size_t i = 0; i < sizeof part / sizeof *part && !differ; i++)
        if (!same_json(json_path_get(a->doc.root, part[i].path),
                       json_path_get(b->doc.root, part[i].path)))
            differ = part[i].what;
    json_t *x = work_of(a), *y = work_of(b);
    if (!differ && !json_equal(x, y)) differ = "work items or loads";
    json_decref(x);
    json_decref(y);
    if (!differ) return 0;
    err_set(e, ERR_INPUT, NULL, "%s and %s replayed different %s: their jobs cannot be paired",
            a->dir, b->dir, differ);
    err_hint(e, "--unpaired compares the means of two independent samples");
    return ERR_INPUT;
}

static json_t *policy_of(const struct side *s, const char *name)
{
    size_t i;
    json_t *p;
    json_array_foreach(s->policies, i, p)
    {
        const char *n = json_string_value(json_object_get(p, "name"));
        if (n && strcmp(n, name) == 0) return p;
    }
    return NULL;
}

static const char **alone(const struct side *a, const struct side *b, size_t *n,
                          struct arena *arena)
{
    const char **names = arena_array(arena, json_array_size(a->policies), sizeof *names);
    size_t i;
    json_t *p;
    *n = 0;
    json_array_foreach(a->policies, i, p)
    {
        const char *name = json_string_value(json_object_get(p, "name"));
        if (name && !policy_of(b, name)) names[(*n)++] = arena_strdup(arena, name);
    }
    return names;
}

static void add_order(struct comparison *out, json_t *policies, struct arena *a)
{
    size_t i;
    json_t *p;
    json_array_foreach(policies, i, p)
    {
        const char *name = json_string_value(json_object_get(p, "name"));
        bool known = !name;
        for (size_t k = 0; k < out->n_order && !known; k++)
            known = strcmp(out->order[k], name) == 0;
        if (!known) out->order[out->n_order++] = arena_strdup(a, name);
    }
}

/* Names of the scenarios' policies; of those run, where a result does not hold its scenario. */
static void find_order(struct comparison *out, const struct side side[2], struct arena *a)
{
    json_t *list[2];
    size_t n = 0;
    for (size_t k = 0; k < 2; k++) {
        list[k] = json_path_get(side[k].doc.root, "scenario.policies");
        if (!json_is_array(list[k])) list[k] = side[k].policies;
        n += json_array_size(list[k]);
    }
    out->order = arena_array(a, n + 1, sizeof *out->order);
    for (size_t k = 0; k < 2; k++) add_order(out, list[k], a);
}

/* ---- rows of jobs.csv ---- */

enum {
    COL_POLICY,
    COL_ID,
    COL_STATE,
    COL_SUBMIT,
    COL_METRIC,
    N_COLS = COL_METRIC + COMPARE_METRICS
};

struct job {
    uint64_t key; /* of job_id and submit_s */
    double submit_s;
    double x[COMPARE_METRICS]; /* NAN: no such figure */
};

typedef void each_job(void *ctx, const struct job *j);

static int read_header(const struct csv *c, const struct csv_row *row, size_t col[N_COLS],
                       struct err *e)
{
    static const char *const names[N_COLS] = { "policy",   "job_id",       "state",    "submit_s",
                                               "wait_s",   "turnaround_s", "slowdown", "state",
                                               "cost_usd", "energy_kwh" };
    for (size_t k = 0; k < N_COLS; k++) {
        for (col[k] = 0; col[k] < row->n && !csv_is(&row->f[col[k]], names[k]);) col[k]++;
        if (col[k] == row->n) return csv_error(c, row, NULL, e, "missing column \"%s\"", names[k]);
    }
    return 0;
}

static uint64_t mix(uint64_t h, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
    h ^= h >> 32;
    return h * UINT64_C(0x9e3779b97f4a7c15);
}

static int read_job(const struct csv *c, const struct csv_row *row, const size_t col[N_COLS],
                    struct job *j, struct err *e)
{
    const struct csv_field *f = row->f;
    for (size_t k = 0; k < N_COLS; k++)
        if (col[k] >= row->n)
            return csv_error(c, row, NULL, e, "expected at least %zu fields, found %zu", col[k] + 1,
                             row->n);
    const struct csv_field *submit = &f[col[COL_SUBMIT]];
    if (dec_double(submit->s, submit->len, &j->submit_s) != DEC_OK)
        return csv_error(c, row, submit, e, "expected a time in seconds");
    j->key = mix(mix(UINT64_C(0xcbf29ce484222325), f[col[COL_ID]].s, f[col[COL_ID]].len), submit->s,
                 submit->len);
    for (size_t m = 0; m < COMPARE_METRICS; m++) {
        const struct csv_field *x = &f[col[COL_METRIC + m]];
        j->x[m] = NAN;
        if (m == COMPARE_COMPLETED)
            j->x[m] = csv_is(x, "completed");
        else if (x->len > 0 && dec_double(x->s, x->len, &j->x[m]) != DEC_OK)
            return csv_error(c, row, x, e, "expected a number or nothing");
    }
    /* as in result.json: these two are about completed jobs */
    if (j->x[COMPARE_COMPLETED] == 0) j->x[COMPARE_TURNAROUND] = j->x[COMPARE_SLOWDOWN] = NAN;
    return 0;
}

/* A file that was cut, or belongs to another run, must not pass for "no difference". */
static int check_rows(const struct side *s, const char *policy, uint64_t rows, struct err *e)
{
    json_t *submitted = json_path_get(policy_of(s, policy), "jobs.submitted");
    const struct loc at = { .file = s->jobs_csv };
    if (!json_is_integer(submitted) || (uint64_t)json_integer_value(submitted) == rows) return 0;
    err_set(e, ERR_INPUT, &at, "expected %lld jobs of policy %s as in result.json, found %llu",
            (long long)json_integer_value(submitted), policy, (unsigned long long)rows);
    err_hint(e, "the file was cut or is another run's: run the scenario again");
    return ERR_INPUT;
}

/* Every job of a policy from the end of the warm-up on. */
static int for_jobs(const struct side *s, const char *policy, each_job *each, void *ctx,
                    struct err *e)
{
    uint64_t rows = 0;
    const struct csv_format format = { .delimiter = ',', .quotes = true };
    struct csv *c;
    struct csv_row row;
    size_t col[N_COLS];
    int rc = csv_open(&c, s->jobs_csv, &format, e);
    if (rc != 0) return rc;
    rc = csv_next(c, &row, e);
    if (rc == 0) {
        const struct loc at = { .file = s->jobs_csv };
        rc = err_set(e, ERR_INPUT, &at, "expected a header row, found an empty file");
    }
    if (rc > 0) rc = read_header(c, &row, col, e);
    while (rc == 0 && (rc = csv_next(c, &row, e)) > 0) {
        struct job j;
        rc = 0;
        if (col[COL_POLICY] < row.n && !csv_is(&row.f[col[COL_POLICY]], policy)) continue;
        rows++;
        rc = read_job(c, &row, col, &j, e);
        if (rc == 0 && j.submit_s >= s->warmup_s) each(ctx, &j);
    }
    csv_close(c);
    return rc == 0 ? check_rows(s, policy, rows, e) : rc;
}

struct span {
    double from, to;
    uint64_t n;
};

static void extend(void *ctx, const struct job *j)
{
    struct span *s = ctx;
    if (s->n == 0 || j->submit_s < s->from) s->from = j->submit_s;
    if (s->n == 0 || j->submit_s > s->to) s->to = j->submit_s;
    s->n++;
}

static size_t window_of(const struct span *s, double submit_s)
{
    const double width = s->to - s->from;
    const double at = width > 0 ? (submit_s - s->from) / width * COMPARE_WINDOWS : 0;
    return at >= COMPARE_WINDOWS ? COMPARE_WINDOWS - 1 : at > 0 ? (size_t)at : 0;
}

/* ---- sums ---- */

struct sums {
    struct batch window[COMPARE_WINDOWS];
    double mean, squares; /* Welford's */
    uint64_t n;
};

static void add(struct sums *s, size_t window, double x)
{
    const double off = x - s->mean;
    s->window[window].sum += x;
    s->window[window].n++;
    s->n++;
    s->mean += off / (double)s->n;
    s->squares += off * (x - s->mean);
}

static struct interval interval_of(const struct sums *s, bool *by_windows)
{
    struct interval i = interval_jackknife(s->window, COMPARE_WINDOWS);
    *by_windows = i.n >= COMPARE_FEW;
    if (*by_windows || s->n < 2) return i;
    const double freedom = (double)(s->n - 1), error = sqrt(s->squares / freedom / (double)s->n);
    const struct interval jobs = { s->n, s->mean, error <= 1e-13 * fabs(s->mean) ? 0 : error, 0,
                                   freedom };
    return interval_with_freedom(&jobs);
}

/* Independent values that would say as much as these. */
static double effective(const struct sums *s, const struct interval *i)
{
    const double variance = s->n > 1 ? s->squares / (double)(s->n - 1) : NAN;
    if (!(i->error > 0) || !(variance > 0)) return NAN;
    return fmin((double)s->n, variance / (i->error * i->error));
}

/* ---- pairs ---- */

struct slot {
    struct job job;
    bool used, taken;
};

struct join {
    struct slot *slot; /* open addressing, a power of two */
    size_t mask;
    size_t pass, passes;
    const struct span *span;
    struct sums *diff; /* [metric] */
    double first[COMPARE_METRICS], second[COMPARE_METRICS];
    uint64_t unmatched, held;
};

static bool in_pass(const struct join *t, const struct job *j)
{
    return (j->key >> 40) % t->passes == t->pass;
}

static void hold(void *ctx, const struct job *j)
{
    struct join *t = ctx;
    size_t i = (size_t)j->key & t->mask;
    if (!in_pass(t, j)) return;
    if (t->held > t->mask - t->mask / 8) { /* only where one id fills the file */
        t->unmatched++;
        return;
    }
    while (t->slot[i].used) i = (i + 1) & t->mask;
    t->slot[i] = (struct slot){ .job = *j, .used = true };
    t->held++;
}

static void match(void *ctx, const struct job *j)
{
    struct join *t = ctx;
    size_t i = (size_t)j->key & t->mask;
    if (!in_pass(t, j)) return;
    /* the same id at the same time twice: one after the other */
    while (t->slot[i].used && (t->slot[i].taken || t->slot[i].job.key != j->key))
        i = (i + 1) & t->mask;
    if (!t->slot[i].used) {
        t->unmatched++;
        return;
    }
    t->slot[i].taken = true;
    t->held--;
    for (size_t m = 0; m < COMPARE_METRICS; m++) {
        const double a = t->slot[i].job.x[m], b = j->x[m];
        if (isnan(a) || isnan(b)) continue;
        add(&t->diff[m], window_of(t->span, j->submit_s), b - a);
        t->first[m] += a;
        t->second[m] += b;
    }
}

static int pair_policy(const struct side *side, const char *policy, const struct span *span,
                       size_t at_most, struct compare_row *row, uint64_t *unmatched, struct err *e)
{
    struct join t = { .span = span, .passes = (size_t)(span->n / at_most) + 1 };
    int rc = 0;
    size_t size = 64;
    /* two thirds full at most, give or take the luck of the hash */
    while (size < 3 * (size_t)(span->n / t.passes) / 2) size *= 2;
    t.mask = size - 1;
    t.slot = xcalloc(size, sizeof *t.slot);
    t.diff = xcalloc(COMPARE_METRICS, sizeof *t.diff);
    for (; t.pass < t.passes && rc == 0; t.pass++) {
        memset(t.slot, 0, size * sizeof *t.slot);
        rc = for_jobs(&side[0], policy, hold, &t, e);
        if (rc == 0) rc = for_jobs(&side[1], policy, match, &t, e);
        t.unmatched += t.held;
        t.held = 0;
    }
    for (size_t m = 0; m < COMPARE_METRICS && rc == 0; m++) {
        const struct sums *s = &t.diff[m];
        row[m].n = s->n;
        row[m].first = s->n ? t.first[m] / (double)s->n : NAN;
        row[m].second = s->n ? t.second[m] / (double)s->n : NAN;
        row[m].difference = interval_of(s, &row[m].by_windows);
        row[m].effective_n = effective(s, &row[m].difference);
    }
    *unmatched += t.unmatched;
    free(t.slot);
    free(t.diff);
    return rc;
}

/* ---- two samples ---- */

struct sample {
    const struct span *span;
    struct sums *of; /* [metric] */
};

static void take(void *ctx, const struct job *j)
{
    const struct sample *s = ctx;
    for (size_t m = 0; m < COMPARE_METRICS; m++)
        if (!isnan(j->x[m])) add(&s->of[m], window_of(s->span, j->submit_s), j->x[m]);
}

static int sample_policy(const struct side *side, const char *policy, const struct span span[2],
                         struct compare_row *row, struct err *e)
{
    struct sums *of[2];
    int rc = 0;
    for (size_t k = 0; k < 2; k++) {
        of[k] = xcalloc(COMPARE_METRICS, sizeof **of);
        struct sample s = { &span[k], of[k] };
        if (rc == 0) rc = for_jobs(&side[k], policy, take, &s, e);
    }
    for (size_t m = 0; m < COMPARE_METRICS && rc == 0; m++) {
        bool windows[2];
        const struct interval a = interval_of(&of[0][m], &windows[0]),
                              b = interval_of(&of[1][m], &windows[1]);
        row[m].n = of[0][m].n < of[1][m].n ? of[0][m].n : of[1][m].n;
        row[m].first = a.mean;
        row[m].second = b.mean;
        row[m].difference = interval_difference(&a, &b);
        row[m].effective_n = fmin(effective(&of[0][m], &a), effective(&of[1][m], &b));
        row[m].by_windows = windows[0] && windows[1];
    }
    free(of[0]);
    free(of[1]);
    return rc;
}

/* ---- all policies ---- */

/* Figures of the whole run that a service has. */
static const char *const service_totals[] = { "completed",      "dropped",     "latency_ms.mean",
                                              "latency_ms.p99", "ttft_ms.p99", "tpot_ms.p99",
                                              "attainment" };
enum { N_SERVICE_TOTALS = sizeof service_totals / sizeof *service_totals };

static double total_of(json_t *policy, const char *path)
{
    json_t *v = json_path_get(policy, path);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static void add_total(struct comparison *out, const struct side *side, const char *policy,
                      const char *path)
{
    out->total[out->n_totals++] =
        (struct compare_total){ policy, path, total_of(policy_of(&side[0], policy), path),
                                total_of(policy_of(&side[1], policy), path) };
}

static void add_service_totals(struct comparison *out, const struct side *side, const char *policy,
                               struct arena *a)
{
    size_t i;
    json_t *s;
    json_array_foreach(json_object_get(policy_of(&side[0], policy), "services"), i, s)
    {
        const char *name = json_string_value(json_object_get(s, "name"));
        for (size_t k = 0; name && k < N_SERVICE_TOTALS; k++)
            add_total(out, side, policy,
                      arena_printf(a, "services.%s.%s", name, service_totals[k]));
    }
}

static int compare_policy(struct comparison *out, const struct side *side, const char *policy,
                          size_t join, struct err *e)
{
    struct compare_row row[COMPARE_METRICS] = { 0 };
    struct span span[2] = { 0 };
    int rc = 0;
    for (size_t k = 0; k < 2 && rc == 0; k++) rc = for_jobs(&side[k], policy, extend, &span[k], e);
    if (rc == 0)
        rc = out->paired ? pair_policy(side, policy, &span[0], join, row, &out->unmatched, e)
                         : sample_policy(side, policy, span, row, e);
    for (size_t m = 0; m < COMPARE_METRICS && rc == 0; m++) {
        if (row[m].n == 0) continue;
        row[m].policy = policy;
        row[m].metric = compare_metric_names[m];
        row[m].p = interval_p_value(&row[m].difference);
        out->row[out->n_rows++] = row[m];
    }
    for (size_t i = 0; i < N_TOTALS && rc == 0; i++) add_total(out, side, policy, totals[i]);
    return rc;
}

static int by_p(const void *a, const void *b)
{
    const double x = (*(const struct compare_row *const *)a)->p,
                 y = (*(const struct compare_row *const *)b)->p;
    return (x > y) - (x < y);
}

/* Holm's procedure. Rows without any difference in any job are no tests. */
static void decide(struct comparison *out, struct arena *a)
{
    struct compare_row **test = arena_array(a, out->n_rows, sizeof *test);
    size_t n = 0;
    for (size_t i = 0; i < out->n_rows; i++) {
        const struct interval *d = &out->row[i].difference;
        if (isfinite(out->row[i].p) && (d->mean != 0 || d->error != 0)) test[n++] = &out->row[i];
    }
    out->n_tests = n;
    if (n > 0) qsort(test, n, sizeof *test, by_p);
    for (size_t i = 0; i < n && test[i]->p < 0.05 / (double)(n - i); i++)
        out->significant = test[i]->significant = true;
    for (size_t i = 0; i < out->n_rows; i++) { /* an interval narrows with the root of the length */
        struct compare_row *r = &out->row[i];
        const double ratio = r->difference.half / fabs(r->difference.mean);
        r->times_longer = !r->significant && r->difference.mean != 0 && isfinite(ratio)
                              ? fmax(1, ratio * ratio)
                              : NAN;
    }
}

static size_t most_totals(const struct side *s)
{
    size_t i, n = 0;
    json_t *p;
    json_array_foreach(s->policies, i, p) n +=
        N_TOTALS + N_SERVICE_TOTALS * json_array_size(json_object_get(p, "services"));
    return n;
}

int compare_folders(struct comparison *out, const char *first, const char *second, bool unpaired,
                    size_t join, struct arena *a, struct err *e)
{
    struct side side[2] = { 0 };
    size_t i, both = 0;
    json_t *p;
    *out = (struct comparison){ .paired = !unpaired };
    int rc = open_side(&side[0], first, a, e);
    if (rc == 0) rc = open_side(&side[1], second, a, e);
    if (rc == 0 && !unpaired) rc = check_same_work(&side[0], &side[1], e);
    if (rc == 0) {
        const size_t n = json_array_size(side[0].policies);
        out->row = arena_array(a, n * COMPARE_METRICS, sizeof *out->row);
        out->total = arena_array(a, most_totals(&side[0]), sizeof *out->total);
        find_order(out, side, a);
        out->only_first = alone(&side[0], &side[1], &out->n_only_first, a);
        out->only_second = alone(&side[1], &side[0], &out->n_only_second, a);
        json_array_foreach(side[0].policies, i, p)
        {
            const char *name = json_string_value(json_object_get(p, "name"));
            if (rc != 0 || !name || !policy_of(&side[1], name)) continue;
            both++;
            name = arena_strdup(a, name);
            rc = compare_policy(out, side, name, join ? join : COMPARE_JOIN, e);
            if (rc == 0) add_service_totals(out, side, name, a);
        }
        if (rc == 0 && both == 0)
            rc = err_set(e, ERR_INPUT, NULL, "%s and %s have no policy of the same name", first,
                         second);
        decide(out, a);
    }
    json_doc_fini(&side[0].doc);
    json_doc_fini(&side[1].doc);
    return rc;
}
