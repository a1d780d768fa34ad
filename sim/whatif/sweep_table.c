#include "whatif/sweep_table.h"

#include "base/outfile.h"
#include "base/vec.h"
#include "whatif/sweep_index.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define TABLE_FORMAT "gpusim-sweep/1"

typedef VEC(struct sweep_row) rows;

static size_t replications_of(const json_t *manifest)
{
    return (size_t)json_integer_value(json_object_get(manifest, "replications"));
}

static const char *point_of(const json_t *manifest, size_t i)
{
    const char *s = json_string_value(json_array_get(json_object_get(manifest, "points"), i));
    return s && strlen(s) == 64 && strspn(s, "0123456789abcdef") == 64 ? s : NULL;
}

/* The axes as they were. */
static int read_grid(struct sweep_table *t, struct arena *a, struct err *e)
{
    const json_t *vary = json_object_get(t->manifest, "vary");
    struct grid *g = &t->grid;
    *g = (struct grid){ .n_axes = json_array_size(vary),
                        .n_points = 1,
                        .paired = json_is_true(json_object_get(t->manifest, "paired")) };
    bool good = g->n_axes <= GRID_MAX_AXES;
    for (size_t i = 0; good && i < g->n_axes; i++) {
        json_t *x = json_array_get(vary, i), *values = json_object_get(x, "values");
        struct axis *axis = &g->axis[i];
        axis->n = json_array_size(values);
        axis->path = json_string_value(json_object_get(x, "path"));
        axis->value = arena_array(a, axis->n, sizeof *axis->value);
        good = axis->path && axis->n > 0 &&
               (g->paired || g->n_points <= GRID_MAX_POINTS / axis->n) &&
               (!g->paired || axis->n == json_array_size(json_object_get(t->manifest, "points")));
        for (size_t k = 0; good && k < axis->n; k++) {
            axis->value[k] = json_string_value(json_array_get(values, k));
            good = axis->value[k] != NULL;
        }
        if (good) g->n_points = g->paired ? axis->n : g->n_points * axis->n;
    }
    const json_t *points = json_object_get(t->manifest, "points");
    good = good && json_array_size(points) == g->n_points &&
           replications_of(t->manifest) <= GRID_MAX_POINTS / g->n_points;
    for (size_t i = 0; good && i < g->n_points; i++) good = point_of(t->manifest, i) != NULL;
    return good ? 0 : err_set(e, ERR_INPUT, NULL, "the manifest of the sweep is damaged");
}

/* The file of a run, from whichever folder holds it. *out {0} when none does. */
static int find_run(struct json_doc *out, const struct sweep_table *t, size_t point, size_t k,
                    const struct sweep_index *index, struct arena *a, struct err *e)
{
    const char *sha = point_of(t->manifest, point), *path;
    *out = (struct json_doc){ 0 };
    int rc = sweep_index_find(index, sha, k, a, &path, e);
    if (rc != 0 || !path) return rc;
    rc = sweep_run_load(out, path, sha, k, e);
    if (rc == ERR_INPUT) err_hint(e, "`gpusim sweep` in that folder computes the run again");
    return rc;
}

/* Values of one point, policy by policy, metric by metric, replication by replication. */
struct gathered {
    const char *policy, *kind;
    size_t n, n_queues;
    double *x[SWEEP_MAX_METRICS];
    struct queue_trend *queue; /* [queue][replication]: the jobs, then each service */
};
typedef VEC(struct gathered) gathering;

static struct gathered *gathered_of(gathering *g, const char *policy, const char *kind,
                                    size_t n_queues, size_t max, struct arena *a)
{
    for (size_t i = 0; i < g->n; i++)
        if (strcmp(g->v[i].policy, policy) == 0) return &g->v[i];
    struct gathered one = { .policy = arena_strdup(a, policy),
                            .kind = arena_strdup(a, kind),
                            .n_queues = n_queues,
                            .queue = arena_array(a, n_queues * max, sizeof *one.queue) };
    for (size_t m = 0; sweep_metrics[m]; m++) one.x[m] = arena_array(a, max, sizeof(double));
    vec_push(g, one);
    return &g->v[g->n - 1];
}

static struct queue_trend read_queue(const json_t *v)
{
    double x[5];
    if (json_array_size(v) != 5) return (struct queue_trend){ 0 }; /* no horizon */
    for (size_t i = 0; i < 5; i++) x[i] = json_number_value(json_array_get(v, i));
    return (struct queue_trend){ true, x[0], x[1], x[2], x[3], x[4] };
}

static void gather(gathering *g, const json_t *run, size_t max, struct arena *a)
{
    size_t i;
    json_t *p;
    json_array_foreach(json_object_get(run, "policies"), i, p)
    {
        const char *name = json_string_value(json_object_get(p, "name"));
        const char *kind = json_string_value(json_object_get(p, "kind"));
        if (!name || !kind) continue;
        const json_t *queues = json_object_get(p, "queues");
        struct gathered *to = gathered_of(g, name, kind, json_array_size(queues), max, a);
        if (to->n >= max) continue; /* a policy twice in one file */
        const json_t *metrics = json_object_get(p, "metrics");
        for (size_t m = 0; sweep_metrics[m]; m++) {
            const json_t *v = json_object_get(metrics, sweep_metrics[m]);
            to->x[m][to->n] = json_is_number(v) ? json_number_value(v) : NAN;
        }
        for (size_t q = 0; q < to->n_queues; q++)
            to->queue[q * max + to->n] = read_queue(json_array_get(queues, q));
        to->n++;
    }
}

/* A policy against the first one, replication by replication. */
static struct interval versus(const struct gathered *first, const struct gathered *x, size_t m,
                              struct arena *a)
{
    double *d = arena_array(a, x->n, sizeof *d);
    if (first->n != x->n) return interval_student(NULL, 0);
    for (size_t k = 0; k < x->n; k++) d[k] = x->x[m][k] - first->x[m][k];
    return interval_student(d, x->n);
}

/* The queue whose growth without end leaves a metric without meaning; SIZE_MAX: none. */
static size_t queue_behind(const char *metric)
{
    const char *last = strrchr(metric, '.');
    if (!last || last[1] != 'p' || !isdigit((unsigned char)last[2])) return SIZE_MAX;
    return strncmp(metric, "services.0.", 11) == 0 ? 1 : 0;
}

/* Runs of a trace are all alike: one says what all say. */
static enum queue_state queue_state(const struct gathered *x, size_t queue, size_t max, bool random)
{
    return queue < x->n_queues ? queue_of_runs(x->queue + queue * max, random ? x->n : 1)
                               : QUEUE_STAYS;
}

static void fill_row(struct sweep_row *row, const struct gathered *first, const struct gathered *x,
                     size_t max, bool random, struct arena *scrap)
{
    row->queue = QUEUE_STAYS;
    for (size_t q = 0; q < x->n_queues; q++) {
        const enum queue_state state = queue_state(x, q, max, random);
        if (state < row->queue) row->queue = state;
    }
    for (size_t m = 0; sweep_metrics[m]; m++) {
        const size_t q = queue_behind(sweep_metrics[m]);
        const bool grows = queue_state(x, q, max, random) == QUEUE_GROWS,
                   either = grows || queue_state(first, q, max, random) == QUEUE_GROWS;
        row->metric[m] = interval_student(grows ? NULL : x->x[m], grows ? 0 : x->n);
        row->versus[m] = either ? interval_student(NULL, 0) : versus(first, x, m, scrap);
        if (!random) row->metric[m].half = row->versus[m].half = NAN;
    }
}

/* `a` for what stays. */
static void add_rows(rows *to, const struct sweep_table *t, size_t point, const gathering *g,
                     size_t failed, const char *error, struct arena *a, struct arena *scrap)
{
    const bool random = json_is_true(json_object_get(t->manifest, "random"));
    for (size_t i = 0; i < g->n; i++) {
        const struct gathered *x = &g->v[i];
        struct sweep_row row = { .point = point,
                                 .policy = arena_strdup(a, x->policy),
                                 .kind = arena_strdup(a, x->kind),
                                 .n = x->n,
                                 .failed = failed,
                                 .error = error };
        fill_row(&row, &g->v[0], x, replications_of(t->manifest), random, scrap);
        vec_push(to, row);
    }
    if (g->n > 0 || failed == 0) return;
    struct sweep_row row = {
        .point = point, .policy = "", .kind = "", .failed = failed, .error = error
    };
    for (size_t m = 0; sweep_metrics[m]; m++)
        row.metric[m] = row.versus[m] = interval_student(NULL, 0);
    vec_push(to, row);
}

int sweep_table_load(struct sweep_table *t, json_t *manifest, const char *const *dirs,
                     size_t n_dirs, struct arena *a, struct err *e)
{
    rows all = { 0 };
    *t = (struct sweep_table){ .manifest = json_incref(manifest) };
    struct sweep_index index = { 0 };
    int rc = read_grid(t, a, e);
    if (rc == 0) rc = sweep_index_load(&index, dirs, n_dirs, e);
    const size_t reps = replications_of(manifest);
    for (size_t p = 0; p < t->grid.n_points && rc == 0; p++) {
        struct arena *scrap = arena_create();
        gathering g = { 0 };
        const char *error = NULL;
        size_t failed = 0;
        for (size_t k = 0; k < reps && rc == 0; k++) {
            struct json_doc doc;
            rc = find_run(&doc, t, p, k, &index, scrap, e);
            t->n_runs++;
            if (rc != 0) break;
            const char *why = json_string_value(json_object_get(doc.root, "error"));
            if (!doc.root && t->n_missing++ == 0) t->missing = p * reps + k;
            if (!doc.root) continue;
            if (why) {
                failed++;
                if (!error) error = arena_strdup(a, why);
            } else
                gather(&g, doc.root, reps, scrap);
            json_doc_fini(&doc);
        }
        t->n_failed += failed;
        if (rc == 0) add_rows(&all, t, p, &g, failed, error, a, scrap);
        vec_fini(&g);
        arena_destroy(scrap);
    }
    t->row = arena_array(a, all.n, sizeof *t->row);
    if (all.n) memcpy(t->row, all.v, all.n * sizeof *all.v);
    t->n_rows = all.n;
    vec_fini(&all);
    sweep_index_fini(&index);
    return rc;
}

void sweep_table_fini(struct sweep_table *t)
{
    json_decref(t->manifest);
    *t = (struct sweep_table){ 0 };
}

/* ---- forms ---- */

static void csv_number(struct strbuf *out, double v)
{
    strbuf_addc(out, ',');
    if (isfinite(v)) strbuf_addf(out, "%.12g", v);
}

void sweep_table_csv(const struct sweep_table *t, struct strbuf *out)
{
    strbuf_addz(out, "point");
    for (size_t i = 0; i < t->grid.n_axes; i++) {
        strbuf_addc(out, ',');
        strbuf_addcsv(out, t->grid.axis[i].path);
    }
    strbuf_addz(out, ",policy,kind,n,failed_runs,stable,queue");
    for (size_t m = 0; sweep_metrics[m]; m++)
        strbuf_addf(out, ",%s,%s.low,%s.high", sweep_metrics[m], sweep_metrics[m],
                    sweep_metrics[m]);
    strbuf_addz(out, ",error\n");
    for (size_t r = 0; r < t->n_rows; r++) {
        const struct sweep_row *x = &t->row[r];
        strbuf_addf(out, "%zu", x->point);
        for (size_t i = 0; i < t->grid.n_axes; i++) {
            strbuf_addc(out, ',');
            strbuf_addcsv(out, grid_value(&t->grid, x->point, i));
        }
        strbuf_addc(out, ',');
        strbuf_addcsv(out, x->policy);
        strbuf_addc(out, ',');
        strbuf_addcsv(out, x->kind);
        strbuf_addf(out, ",%zu,%zu", x->n, x->failed);
        if (x->n > 0)
            strbuf_addf(out, ",%s,%s", x->queue == QUEUE_STAYS ? "true" : "false",
                        queue_state_names[x->queue]);
        else
            strbuf_addz(out, ",,");
        for (size_t m = 0; sweep_metrics[m]; m++) {
            csv_number(out, x->metric[m].mean);
            csv_number(out, x->metric[m].mean - x->metric[m].half);
            csv_number(out, x->metric[m].mean + x->metric[m].half);
        }
        strbuf_addc(out, ',');
        if (x->error) strbuf_addcsv(out, x->error);
        strbuf_addc(out, '\n');
    }
}

static void put_interval(json_t *o, const struct interval *i, const char *const keys[3])
{
    json_object_set_new(o, keys[0], json_num(i->mean));
    json_object_set_new(o, keys[1], json_num(i->mean - i->half));
    json_object_set_new(o, keys[2], json_num(i->mean + i->half));
}

static json_t *row_json(const struct sweep_row *x, bool is_first)
{
    static const char *const own[] = { "mean", "low", "high" }, *const against[] = {
        "difference", "difference_low", "difference_high"
    };
    json_t *metrics = json_object();
    for (size_t m = 0; sweep_metrics[m]; m++) {
        json_t *one = json_object();
        put_interval(one, &x->metric[m], own);
        if (!is_first) put_interval(one, &x->versus[m], against);
        json_object_set_new(metrics, sweep_metrics[m], one);
    }
    return json_pack("{s:s, s:s, s:I, s:b, s:s, s:o}", "name", x->policy, "kind", x->kind, "n",
                     (json_int_t)x->n, "stable", x->queue == QUEUE_STAYS, "queue",
                     queue_state_names[x->queue], "metrics", metrics);
}

json_t *sweep_table_json(const struct sweep_table *t)
{
    static const char *const kept[] = { "gpusim_version", "scenario_name", "scenario_sha256",
                                        "seed",           "vary",          "replications" };
    json_t *o = json_object(), *points = json_array();
    json_object_set_new(o, "format", json_string(TABLE_FORMAT));
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        json_object_set(o, kept[i], json_object_get(t->manifest, kept[i]));
    for (size_t r = 0; r < t->n_rows;) {
        const size_t p = t->row[r].point;
        json_t *set = json_object(), *policies = json_array();
        const char *error = t->row[r].error;
        const size_t failed = t->row[r].failed;
        for (size_t i = 0; i < t->grid.n_axes; i++)
            json_object_set_new(set, t->grid.axis[i].path, json_string(grid_value(&t->grid, p, i)));
        for (; r < t->n_rows && t->row[r].point == p; r++)
            if (*t->row[r].policy)
                json_array_append_new(policies,
                                      row_json(&t->row[r], json_array_size(policies) == 0));
        json_array_append_new(
            points, json_pack("{s:I, s:o, s:s, s:I, s:s?, s:o}", "point", (json_int_t)p, "set", set,
                              "sha256", point_of(t->manifest, p), "failed_runs", (json_int_t)failed,
                              "error", error, "policies", policies));
    }
    json_object_set_new(o, "points", points);
    return o;
}

/* ---- for the terminal ---- */

enum { CELL = 40, MAX_COLUMNS = GRID_MAX_AXES + 10 };

static size_t metric_index(const char *name)
{
    size_t m = 0;
    while (strcmp(sweep_metrics[m], name) != 0) m++;
    return m;
}

static void number_cell(char cell[CELL], const struct interval *i, double scale, bool interval)
{
    const double v = scale * i->mean, half = scale * i->half;
    const int digits = fabs(v) < 10 ? 3 : fabs(v) < 1000 ? 1 : 0;
    if (!isfinite(v))
        snprintf(cell, CELL, "n/a");
    else if (interval && isfinite(half))
        snprintf(cell, CELL, "%.*f +-%.*f", digits, v, digits, half);
    else
        snprintf(cell, CELL, "%.*f", digits, v);
}

static const struct column {
    const char *head, *metric;
    double scale;
    bool interval;
} shown[] = {
    { "done", "jobs.completed", 1, false },         { "failed", "jobs.failed", 1, false },
    { "wait mean s", "jobs.wait_s.mean", 1, true }, { "wait p95 s", "jobs.wait_s.p95", 1, true },
    { "alloc %", "gpu.allocated", 100, false },     { "cost USD", "tco.total_usd", 1, false },
};
enum { N_SHOWN = sizeof shown / sizeof *shown };

static const char *const is_stable[] = { "no", "undecided", "yes" }; /* by queue_state */

static size_t cells_of(const struct sweep_table *t, size_t r, char cell[MAX_COLUMNS][CELL])
{
    const bool head = r == SIZE_MAX;
    const struct sweep_row *x = head ? NULL : &t->row[r];
    size_t n = 0;
    for (size_t i = 0; i < t->grid.n_axes; i++)
        snprintf(cell[n++], CELL, "%s",
                 head ? t->grid.axis[i].path : grid_value(&t->grid, x->point, i));
    snprintf(cell[n++], CELL, "%s", head ? "policy" : *x->policy ? x->policy : "(failed)");
    if (head)
        snprintf(cell[n++], CELL, "n");
    else
        snprintf(cell[n++], CELL, "%zu", x->n);
    for (size_t i = 0; i < N_SHOWN; i++, n++) {
        if (head)
            snprintf(cell[n], CELL, "%s", shown[i].head);
        else
            number_cell(cell[n], &x->metric[metric_index(shown[i].metric)], shown[i].scale,
                        shown[i].interval);
    }
    if (head)
        snprintf(cell[n++], CELL, "stable");
    else
        snprintf(cell[n++], CELL, "%s", x->n > 0 ? is_stable[x->queue] : "n/a");
    return n;
}

void sweep_table_text(const struct sweep_table *t, struct strbuf *out)
{
    char cell[MAX_COLUMNS][CELL];
    size_t width[MAX_COLUMNS] = { 0 };
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t r = 0; r <= t->n_rows; r++) {
            const size_t n = cells_of(t, r ? r - 1 : SIZE_MAX, cell);
            for (size_t i = 0; i < n; i++) {
                const bool left = i <= t->grid.n_axes;
                if (pass == 0 && strlen(cell[i]) > width[i]) width[i] = strlen(cell[i]);
                if (pass == 0) continue;
                if (i) strbuf_addz(out, "  ");
                strbuf_addf(out, left ? "%-*s" : "%*s", (int)width[i], cell[i]);
            }
            if (pass == 1) strbuf_addc(out, '\n');
        }
}

int sweep_table_write(const struct sweep_table *t, const char *dir, struct arena *a, struct err *e)
{
    struct strbuf csv = { 0 };
    json_t *v = sweep_table_json(t);
    sweep_table_csv(t, &csv);
    int rc = outfile_write(arena_printf(a, "%s/sweep.csv", dir), csv.s, csv.len, e);
    if (rc == 0) rc = sweep_write_json(arena_printf(a, "%s/sweep.json", dir), v, e);
    json_decref(v);
    strbuf_fini(&csv);
    return rc;
}

/* ---- joining shards ---- */

static int same_manifest(const json_t *a, const json_t *b, const char *dir_a, const char *dir_b,
                         struct err *e)
{
    static const struct {
        const char *key, *what;
    } part[] = {
        { "gpusim_version", "versions of gpusim" },
        { "scenario_sha256", "scenarios" },
        { "seed", "seeds" },
        { "vary", "axes" },
        { "replications", "numbers of replications" },
        { "points", "settings (--set, --policy) or input files" },
    };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (!json_equal(json_object_get(a, part[i].key), json_object_get(b, part[i].key)))
            return err_set(e, ERR_INPUT, NULL, "%s and %s are sweeps of different %s", dir_a, dir_b,
                           part[i].what);
    return 0;
}

static int copy_runs(const struct sweep_table *t, const char *const *dirs, size_t n_dirs,
                     const char *out, struct err *e)
{
    const size_t reps = replications_of(t->manifest);
    struct sweep_index index;
    int rc = sweep_index_load(&index, dirs, n_dirs, e);
    for (size_t i = 0; i < t->grid.n_points * reps && rc == 0; i++) {
        struct arena *a = arena_create();
        struct json_doc doc;
        const char *sha = point_of(t->manifest, i / reps);
        const char *to = sweep_run_path(a, out, sha, i % reps);
        if (access(to, F_OK) != 0) {
            rc = find_run(&doc, t, i / reps, i % reps, &index, a, e);
            if (rc == 0 && doc.root)
                rc = outfile_mkdirs(arena_printf(a, "%s/runs/%.2s", out, sha), e);
            if (rc == 0 && doc.root) rc = outfile_write(to, doc.text, doc.len, e);
            json_doc_fini(&doc);
        }
        arena_destroy(a);
    }
    sweep_index_fini(&index);
    return rc;
}

int sweep_merge(struct sweep_table *t, const char *const *dirs, size_t n_dirs, const char *out,
                bool partial, struct arena *a, struct err *e)
{
    json_t *first = NULL;
    *t = (struct sweep_table){ 0 };
    int rc = sweep_manifest_load(&first, dirs[0], e);
    for (size_t i = 1; i < n_dirs && rc == 0; i++) {
        json_t *other = NULL;
        rc = sweep_manifest_load(&other, dirs[i], e);
        if (rc == 0) rc = same_manifest(first, other, dirs[0], dirs[i], e);
        json_decref(other);
    }
    if (rc == 0) rc = sweep_table_load(t, first, dirs, n_dirs, a, e);
    json_decref(first);
    if (rc == 0 && t->n_missing > 0 && !partial) {
        rc = err_set(e, ERR_INPUT, NULL,
                     "%zu of %zu runs are missing, such as replication %zu of point %zu",
                     t->n_missing, t->n_runs, t->missing % replications_of(t->manifest),
                     t->missing / replications_of(t->manifest));
        err_hint(e, "a shard has not finished or was not named; --partial joins what is there");
    }
    if (rc == 0) rc = outfile_mkdirs(out, e);
    if (rc == 0) rc = copy_runs(t, dirs, n_dirs, out, e);
    if (rc == 0) rc = sweep_write_json(arena_printf(a, "%s/manifest.json", out), t->manifest, e);
    return rc ? rc : sweep_table_write(t, out, a, e);
}
