#include "whatif/sweep_table.h"

#include "base/outfile.h"
#include "base/vec.h"
#include "whatif/figures.h"
#include "whatif/sweep_format.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *point_of(const json_t *manifest, size_t i)
{
    return json_string_value(json_array_get(json_object_get(manifest, "points"), i));
}

static const char **texts_of(const json_t *list, struct arena *a, size_t *n)
{
    *n = json_array_size(list);
    const char **text = arena_array(a, *n, sizeof *text);
    for (size_t i = 0; i < *n; i++) text[i] = json_string_value(json_array_get(list, i));
    return text;
}

/* The axes as they were. */
static void read_grid(struct grid *g, const json_t *manifest, struct arena *a)
{
    const json_t *vary = json_object_get(manifest, "vary");
    *g = (struct grid){ .n_axes = json_array_size(vary),
                        .n_points = json_array_size(json_object_get(manifest, "points")),
                        .paired = json_is_true(json_object_get(manifest, "paired")) };
    for (size_t i = 0; i < g->n_axes; i++) {
        const json_t *axis = json_array_get(vary, i);
        g->axis[i].path = json_string_value(json_object_get(axis, "path"));
        g->axis[i].value = texts_of(json_object_get(axis, "values"), a, &g->axis[i].n);
    }
}

int sweep_table_open(struct sweep_table *t, json_t *manifest, const char *const *dirs,
                     size_t n_dirs, struct arena *a, struct err *e)
{
    *t = (struct sweep_table){ .manifest = json_incref(manifest), .arena = a };
    read_grid(&t->grid, manifest, a);
    t->metric = texts_of(json_object_get(manifest, "metrics"), a, &t->n_metrics);
    t->replications = (size_t)json_integer_value(json_object_get(manifest, "replications"));
    t->n_runs = t->grid.n_points * t->replications;
    return sweep_index_load(&t->index, dirs, n_dirs, e);
}

void sweep_table_fini(struct sweep_table *t)
{
    json_decref(t->manifest);
    sweep_index_fini(&t->index);
    *t = (struct sweep_table){ 0 };
}

const char *sweep_table_sha256(const struct sweep_table *t, size_t point)
{
    return point_of(t->manifest, point);
}

int sweep_table_count(struct sweep_table *t, struct err *e)
{
    t->n_missing = 0;
    for (size_t i = 0; i < t->n_runs; i++) {
        const struct sweep_file *f;
        const int rc = sweep_index_find(&t->index, point_of(t->manifest, i / t->replications),
                                        i % t->replications, &f, e);
        if (rc != 0) return rc;
        if (!f && t->n_missing++ == 0) t->missing = i;
    }
    return 0;
}

/* ---- one point ---- */

/* Its runs, policy by policy. */
struct gathered {
    const char *policy, *kind;
    size_t n, n_queues;
    double **x;                /* [metric][replication] */
    const char **about;        /* by queue: how the paths of the figures about it begin */
    struct queue_trend *queue; /* [queue][replication] */
    enum queue_state *state;   /* by queue */
};
typedef VEC(struct gathered) gathering;

static struct gathered *gathered_of(gathering *g, const struct sweep_table *t, const char *policy,
                                    const char *kind, json_t *queues, struct arena *a)
{
    for (size_t i = 0; i < g->n; i++)
        if (strcmp(g->v[i].policy, policy) == 0) return &g->v[i];
    const size_t n = json_object_size(queues);
    struct gathered one = { .policy = arena_strdup(a, policy),
                            .kind = arena_strdup(a, kind),
                            .x = arena_array(a, t->n_metrics, sizeof *one.x),
                            .about = arena_array(a, n, sizeof *one.about),
                            .queue = arena_array(a, n * t->replications, sizeof *one.queue),
                            .state = arena_array(a, n, sizeof *one.state) };
    const char *key;
    json_t *v;
    json_object_foreach(queues, key, v)
    {
        one.about[one.n_queues++] = arena_strdup(a, key);
    }
    for (size_t m = 0; m < t->n_metrics; m++)
        one.x[m] = arena_array(a, t->replications, sizeof(double));
    vec_push(g, one);
    return &g->v[g->n - 1];
}

static struct queue_trend read_queue(const json_t *v)
{
    double x[SWEEP_QUEUE_FIGURES];
    if (json_array_size(v) == 0) return (struct queue_trend){ 0 }; /* no horizon */
    for (size_t i = 0; i < SWEEP_QUEUE_FIGURES; i++) x[i] = json_number_value(json_array_get(v, i));
    return (struct queue_trend){ true, x[0], x[1], x[2], x[3], x[4] };
}

static void gather(gathering *g, const struct sweep_table *t, const json_t *run, struct arena *a)
{
    size_t i;
    json_t *p;
    json_array_foreach(json_object_get(run, "policies"), i, p)
    {
        const char *name = json_string_value(json_object_get(p, "name"));
        const char *kind = json_string_value(json_object_get(p, "kind"));
        json_t *queues = json_object_get(p, "queues");
        struct gathered *to = gathered_of(g, t, name, kind, queues, a);
        const json_t *metrics = json_object_get(p, "metrics");
        for (size_t m = 0; m < t->n_metrics; m++) {
            const json_t *v = json_object_get(metrics, t->metric[m]);
            to->x[m][to->n] = json_is_number(v) ? json_number_value(v) : NAN;
        }
        for (size_t q = 0; q < to->n_queues; q++)
            to->queue[q * t->replications + to->n] =
                read_queue(json_object_get(queues, to->about[q]));
        to->n++;
    }
}

/* Runs of a trace are all alike: one says what all say. */
static void judge_queues(struct gathered *x, size_t replications, bool random)
{
    for (size_t q = 0; q < x->n_queues; q++)
        x->state[q] = queue_of_runs(x->queue + q * replications, random ? x->n : 1);
}

/* Without meaning, for the queue it is about grows without end. */
static bool is_lost(const struct gathered *x, const char *metric)
{
    if (!figure_is_percentile(metric)) return false;
    for (size_t q = 0; q < x->n_queues; q++) {
        const size_t len = strlen(x->about[q]);
        if (strncmp(metric, x->about[q], len) == 0 && metric[len] == '.')
            return x->state[q] == QUEUE_GROWS;
    }
    return false;
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

static void fill_row(struct sweep_row *row, const struct sweep_table *t,
                     const struct gathered *first, const struct gathered *x, bool random,
                     struct arena *a)
{
    row->queue = QUEUE_STAYS;
    for (size_t q = 0; q < x->n_queues; q++)
        if (x->state[q] < row->queue) row->queue = x->state[q];
    for (size_t m = 0; m < t->n_metrics; m++) {
        const bool lost = is_lost(x, t->metric[m]), either = lost || is_lost(first, t->metric[m]);
        row->metric[m] = interval_student(lost ? NULL : x->x[m], lost ? 0 : x->n);
        row->versus[m] = either ? interval_student(NULL, 0) : versus(first, x, m, a);
        if (!random) row->metric[m].half = row->versus[m].half = NAN;
    }
}

/* What of the point stays while it is looked at. */
struct at_point {
    struct arena *a;
    gathering policy;
    size_t point, failed;
    const char *error; /* of the first failure */
};

static struct sweep_row *rows_of(const struct sweep_table *t, struct at_point *p, size_t *n)
{
    const bool random = json_is_true(json_object_get(t->manifest, "random"));
    *n = p->policy.n > 0 ? p->policy.n : p->failed > 0;
    struct sweep_row *rows = arena_array(p->a, *n, sizeof *rows);
    for (size_t i = 0; i < p->policy.n; i++) judge_queues(&p->policy.v[i], t->replications, random);
    for (size_t i = 0; i < *n; i++) {
        const struct gathered *x = p->policy.n > 0 ? &p->policy.v[i] : NULL;
        struct interval *metric = arena_array(p->a, 2 * t->n_metrics, sizeof *metric);
        rows[i] = (struct sweep_row){ .point = p->point,
                                      .policy = x ? x->policy : "",
                                      .kind = x ? x->kind : "",
                                      .n = x ? x->n : 0,
                                      .failed = p->failed,
                                      .error = p->error,
                                      .metric = metric,
                                      .versus = metric + t->n_metrics };
        if (x) fill_row(&rows[i], t, &p->policy.v[0], x, random, p->a);
        for (size_t m = 0; !x && m < 2 * t->n_metrics; m++) metric[m] = interval_student(NULL, 0);
    }
    return rows;
}

/* A run's file as it is, into the folder where all are put together. */
static int copy_run(const struct json_doc *run, const char *to, const char *sha256,
                    size_t replication, struct arena *a, struct err *e)
{
    const char *path = sweep_run_path(a, to, sha256, replication);
    if (access(path, F_OK) == 0) return 0;
    const int rc = outfile_mkdirs(arena_printf(a, "%s/runs/%.2s", to, sha256), e);
    return rc ? rc : outfile_write(path, run->text, run->len, e);
}

static int take_run(struct sweep_table *t, struct at_point *p, size_t k, const char *copy_to,
                    struct err *e)
{
    const char *sha = point_of(t->manifest, p->point);
    const struct sweep_file *f;
    struct json_doc doc;
    int rc = sweep_index_find(&t->index, sha, k, &f, e);
    if (rc != 0) return rc;
    if (!f) {
        if (t->n_missing++ == 0) t->missing = p->point * t->replications + k;
        return 0;
    }
    rc = sweep_run_load(&doc, sweep_run_path(p->a, t->index.dir[f->dir], sha, k), sha, k, e);
    if (rc == ERR_INPUT) err_hint(e, "`gpusim sweep` in that folder computes the run again");
    if (rc != 0) return rc;
    const char *why = json_string_value(json_object_get(doc.root, "error"));
    if (why) {
        p->failed++;
        if (!p->error) p->error = arena_strdup(p->a, why);
    } else {
        gather(&p->policy, t, doc.root, p->a);
    }
    if (copy_to) rc = copy_run(&doc, copy_to, sha, k, p->a, e);
    json_doc_fini(&doc);
    return rc;
}

int sweep_table_each(struct sweep_table *t, const char *copy_to, sweep_each *each, void *ctx,
                     struct err *e)
{
    int rc = 0;
    t->n_missing = t->n_failed = 0;
    t->error = NULL;
    for (size_t point = 0; point < t->grid.n_points && rc == 0; point++) {
        struct at_point p = { .a = arena_create(), .point = point };
        size_t n;
        for (size_t k = 0; k < t->replications && rc == 0; k++) rc = take_run(t, &p, k, copy_to, e);
        if (p.error && !t->error) {
            t->error = arena_strdup(t->arena, p.error);
            t->error_point = point;
        }
        t->n_failed += p.failed;
        const struct sweep_row *rows = rc == 0 ? rows_of(t, &p, &n) : NULL;
        if (rc == 0) rc = each(ctx, rows, n, e);
        vec_fini(&p.policy);
        arena_destroy(p.a);
    }
    return rc;
}
