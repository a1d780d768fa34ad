#include "whatif/sweep.h"

#include "base/log.h"
#include "base/outfile.h"
#include "base/str.h"
#include "base/thread.h"
#include "base/vec.h"
#include "whatif/figures.h"
#include "whatif/runner.h"
#include "whatif/sweep_format.h"
#include "whatif/sweep_name.h"

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct sweep_point {
    char sha256[65];
    bool twin;           /* of an earlier point */
    struct err *problem; /* why it cannot be loaded, owned; NULL: it can */
};

/* A service of some point. */
struct sweep_service {
    size_t point, at; /* the first point that has it, and where there */
    const char *name;
};

const char *sweep_run_path(struct arena *a, const char *dir, const char *sha256, size_t replication)
{
    return arena_printf(a, "%s/runs/%.2s/%.16s-r%zu.json", dir, sha256, sha256, replication);
}

int sweep_write_json(const char *path, const json_t *v, struct err *e)
{
    struct strbuf b = { 0 };
    json_write(v, &b);
    const int rc = outfile_write(path, b.s, b.len, e);
    strbuf_fini(&b);
    return rc;
}

/* ---- planning ---- */

/* `shelf`: where traces come from; NULL: nothing is run. */
static int load_point(struct runner *r, const struct sweep *s, size_t point, size_t replication,
                      struct trace_shelf *shelf, struct arena *a, struct err *e)
{
    const char **own = grid_set(&s->grid, point, a);
    const size_t n = s->o.n_set + s->grid.n_axes;
    const char **set = arena_array(a, n + 1, sizeof *set);
    struct diag d;
    for (size_t i = 0; i < s->o.n_set; i++) set[i] = s->o.set[i];
    for (size_t i = 0; i < s->grid.n_axes; i++) set[s->o.n_set + i] = own[i];
    const struct runner_options o = { .world = &s->world,
                                      .set = set,
                                      .n_set = n,
                                      .only = s->o.only,
                                      .n_only = s->o.n_only,
                                      .replication = replication,
                                      .shelf = shelf,
                                      .keep_percentiles = true, /* see whatif/queue_runs.h */
                                      .silent = true,
                                      .no_hash = true };
    diag_init(&d);
    int rc = runner_load_with(r, s->o.scenario, &o, &d, e);
    if (rc == 0 && d.count > 0) rc = diag_result(&d, e);
    diag_fini(&d);
    return rc;
}

struct planning {
    struct sweep *s;
    pthread_mutex_t lock;
    struct sweep_namer *namer;
    char name[65 * 2], scenario_sha256[65];
    uint64_t seed;
    json_t *order; /* owned: names of all policies of the scenario; NULL: all are asked for */
    bool random;
    VEC(struct sweep_service) service;
};

/* Called one at a time, points in any order. */
static void note_services(struct planning *p, size_t point, const struct scenario *s)
{
    for (size_t i = 0; i < s->n_work; i++) {
        if (s->work[i].kind != WORK_SERVICE) continue;
        size_t k = 0;
        while (k < p->service.n && strcmp(p->service.v[k].name, s->work[i].name) != 0) k++;
        if (k == p->service.n) {
            const struct sweep_service one = { point, i,
                                               arena_strdup(p->s->arena, s->work[i].name) };
            vec_push(&p->service, one);
        } else if (point < p->service.v[k].point) {
            p->service.v[k].point = point;
            p->service.v[k].at = i;
        }
    }
}

static int by_place(const void *a, const void *b)
{
    const struct sweep_service *x = a, *y = b;
    if (x->point != y->point) return x->point < y->point ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* The paths of all figures, services in the order in which the points name them. */
static json_t *metrics_of(const struct planning *p)
{
    const struct sweep_options *o = &p->s->o;
    const char **name = arena_array(p->s->arena, p->service.n + 1, sizeof *name);
    if (p->service.n > 0) qsort(p->service.v, p->service.n, sizeof *p->service.v, by_place);
    for (size_t i = 0; i < p->service.n; i++) name[i] = p->service.v[i].name;
    return figures_list(name, p->service.n, o->metric, o->n_metric);
}

static int plan_point(void *ctx, size_t i)
{
    struct planning *p = ctx;
    struct sweep_point *point = &p->s->point[i];
    struct arena *a = arena_create();
    struct runner r = { 0 };
    struct err e = { 0 };
    int rc = load_point(&r, p->s, i, 0, NULL, a, &e);
    if (rc == 0) rc = sweep_name(p->namer, &r, &p->s->o, point->sha256, &e);
    if (rc == 0) {
        pthread_mutex_lock(&p->lock);
        p->random |= runner_is_random(&r);
        note_services(p, i, &r.scenario);
        pthread_mutex_unlock(&p->lock);
    } else {
        point->problem = xcalloc(1, sizeof e);
        *point->problem = e;
    }
    runner_fini(&r);
    arena_destroy(a);
    if (rc != 0 && point->sha256[0] == '\0') { /* its place in the grid is all that names it */
        char text[64];
        snprintf(text, sizeof text, "point %zu", i);
        sha256_hex(text, strlen(text), point->sha256);
    }
    return rc == ERR_USAGE ? rc : 0; /* a wrong path is wrong in every point */
}

/* What all points have in common comes from the scenario without its axes. */
static int read_base(struct planning *p, struct err *e)
{
    struct scenario base = { 0 };
    struct diag d;
    diag_init(&d);
    const int rc = scenario_load(&base, p->s->o.scenario, p->s->o.set, p->s->o.n_set, &d, e);
    if (rc == 0) {
        snprintf(p->name, sizeof p->name, "%s", base.name ? base.name : "sweep");
        memcpy(p->scenario_sha256, base.sha256, sizeof base.sha256);
        p->seed = (uint64_t)base.seed;
        if (p->s->o.n_only > 0) p->order = json_array();
        for (size_t i = 0; p->order && i < base.n_policies; i++)
            json_array_append_new(p->order, json_string(base.policy[i].name));
    }
    scenario_fini(&base);
    diag_fini(&d);
    return rc;
}

static json_t *manifest_of(const struct planning *p)
{
    const struct sweep *s = p->s;
    json_t *vary = json_array(), *points = json_array();
    for (size_t i = 0; i < s->grid.n_axes; i++) {
        json_t *values = json_array();
        for (size_t k = 0; k < s->grid.axis[i].n; k++)
            json_array_append_new(values, json_string(s->grid.axis[i].value[k]));
        json_array_append_new(
            vary, json_pack("{s:s, s:o}", "path", s->grid.axis[i].path, "values", values));
    }
    for (size_t i = 0; i < s->grid.n_points; i++)
        json_array_append_new(points, json_string(s->point[i].sha256));
    json_t *m = json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:b, s:o, s:i, s:o, s:o}", "format", SWEEP_MANIFEST_FORMAT,
        "gpusim_version", GPUSIM_VERSION, "scenario_name", p->name, "scenario_sha256",
        p->scenario_sha256, "seed", json_num((double)p->seed), "random", (int)p->random, "vary",
        vary, "replications", (int)s->o.replications, "metrics", metrics_of(p), "points", points);
    if (s->grid.paired) json_object_set_new(m, "paired", json_true());
    if (p->order) json_object_set(m, "policy_order", p->order);
    if (s->o.n_set) { /* of the scenario, whose hash is of its file */
        json_t *set = json_array();
        for (size_t i = 0; i < s->o.n_set; i++)
            json_array_append_new(set, json_string(s->o.set[i]));
        json_object_set_new(m, "set", set);
    }
    return m;
}

/* A folder may be resumed, with more values or replications, by the same program and scenario
 * only. */
int sweep_folder_is_free(const char *dir, const json_t *manifest, struct err *e)
{
    static const char *const same[] = { "gpusim_version", "scenario_sha256" };
    char *path = xasprintf("%s/manifest.json", dir);
    const struct loc at = { .file = path };
    json_t *old = NULL;
    int rc = access(path, F_OK) == 0 ? sweep_manifest_load(&old, dir, e) : 0;
    for (size_t i = 0; old && i < 2 && rc == 0; i++) {
        if (json_equal(json_object_get(old, same[i]), json_object_get(manifest, same[i]))) continue;
        rc = err_set(e, ERR_INPUT, &at, "the folder holds a sweep of another %s",
                     i ? "scenario" : "version of gpusim");
        err_hint(e, "write elsewhere with -o DIR, or remove the folder");
    }
    json_decref(old);
    free(path);
    return rc;
}

static int by_hash(const void *a, const void *b)
{
    const struct sweep_point *const *x = a, *const *y = b;
    const int c = strcmp((*x)->sha256, (*y)->sha256);
    return c ? c : (*x > *y) - (*x < *y);
}

/* Points that come to the same scenario (4 and 4.0; a sample that met a value twice) are one
 * run. */
static void find_twins(struct sweep *s)
{
    struct sweep_point **p = xcalloc(s->grid.n_points, sizeof(void *));
    for (size_t i = 0; i < s->grid.n_points; i++) p[i] = &s->point[i];
    qsort(p, s->grid.n_points, sizeof(void *), by_hash);
    for (size_t i = 1; i < s->grid.n_points; i++)
        p[i]->twin = strcmp(p[i]->sha256, p[i - 1]->sha256) == 0;
    free(p);
}

/* Is there a result that stands? What failed and what is damaged is tried again. */
static int is_done(bool *done, const char *path, const char *sha256, size_t replication,
                   struct err *e)
{
    struct json_doc doc;
    struct err why = { 0 };
    *done = false;
    if (access(path, F_OK) != 0) return 0;
    const int rc = sweep_run_load(&doc, path, sha256, replication, &why);
    if (rc == ERR_INPUT) {
        log_warn("%s: %s: computed again", why.where, why.msg);
        return 0;
    }
    if (rc != 0) {
        *e = why;
        return rc;
    }
    *done = json_is_null(json_object_get(doc.root, "error"));
    json_doc_fini(&doc);
    return 0;
}

static int find_todo(struct sweep *s, struct err *e)
{
    const size_t reps = s->o.replications;
    find_twins(s);
    s->n_runs = s->grid.n_points * reps;
    s->todo = xcalloc(s->n_runs, sizeof *s->todo);
    for (size_t i = 0; i < s->n_runs; i++) {
        const struct sweep_point *p = &s->point[i / reps];
        if (!shard_has(&s->o.shard, i) || p->twin) continue;
        s->n_mine++;
        const char *path = sweep_run_path(s->arena, s->dir, p->sha256, i % reps);
        bool done;
        const int rc = is_done(&done, path, p->sha256, i % reps, e);
        if (rc != 0) return rc;
        if (!done) s->todo[s->n_todo++] = i;
    }
    return 0;
}

static int check_points(struct sweep *s, struct err *e)
{
    size_t good = 0;
    for (size_t i = 0; i < s->grid.n_points; i++) {
        const struct err *problem = s->point[i].problem;
        good += !problem;
        if (!problem || problem->code != ERR_USAGE) continue;
        *e = *problem;
        return ERR_USAGE;
    }
    if (good > 0) return 0;
    *e = *s->point[0].problem; /* nothing can be run at all */
    for (size_t i = 0; i < s->grid.n_axes; i++)
        if (s->grid.axis[i].open && strstr(e->msg, "whole number"))
            err_hint(e, "%s: ':any' takes any number of a range; whole ones come from a..b alone",
                     s->grid.axis[i].path);
    return e->code;
}

static int plan_all(struct planning *p, struct err *e)
{
    struct sweep *s = p->s;
    const struct sweep_options *o = &s->o;
    int rc = grid_parse(&s->grid, s->arena, "--vary", o->vary, o->n_vary, o->design, e);
    if (rc == 0 && s->grid.n_points * o->replications > GRID_MAX_POINTS)
        rc = err_set(e, ERR_USAGE, NULL, "more than %d runs", GRID_MAX_POINTS);
    if (rc == 0) rc = read_base(p, e);
    if (rc == 0) rc = world_load(&s->world, e);
    if (rc != 0) return rc;
    s->point = xcalloc(s->grid.n_points, sizeof *s->point);
    parallel_for(s->grid.n_points, o->threads, plan_point, p);
    if ((rc = check_points(s, e)) != 0) return rc;
    s->random = p->random;
    s->manifest = manifest_of(p);
    s->dir = o->dir ? o->dir : arena_printf(s->arena, "out/%s-sweep", p->name);
    rc = sweep_folder_is_free(s->dir, s->manifest, e);
    return rc ? rc : find_todo(s, e);
}

int sweep_plan(struct sweep *s, const struct sweep_options *o, struct err *e)
{
    *s = (struct sweep){ .o = *o, .arena = arena_create(), .shelf = trace_shelf_create(0) };
    struct planning p = { .s = s,
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .namer = sweep_namer_create() };
    const int rc = plan_all(&p, e);
    sweep_namer_destroy(p.namer);
    json_decref(p.order);
    vec_fini(&p.service);
    return rc;
}

void sweep_fini(struct sweep *s)
{
    json_decref(s->manifest);
    for (size_t i = 0; s->point && i < s->grid.n_points; i++) free(s->point[i].problem);
    free(s->point);
    free(s->todo);
    world_fini(&s->world);
    trace_shelf_destroy(s->shelf);
    arena_destroy(s->arena);
    *s = (struct sweep){ 0 };
}

/* ---- running ---- */

static json_t *queue_json(const struct queue_trend *t)
{
    const double x[SWEEP_QUEUE_FIGURES] = { t->last, t->before, t->growth, t->error, t->waiting };
    json_t *one = json_array();
    for (size_t i = 0; t->known && i < SWEEP_QUEUE_FIGURES; i++)
        json_array_append_new(one, json_num(x[i]));
    return one;
}

/* By the beginning of the paths of the figures about it: for the judgement over all replications
 * of a point. */
static json_t *queues_of(const struct policy_result *p)
{
    json_t *o = json_object();
    json_object_set_new(o, "jobs", queue_json(&p->queue));
    for (size_t i = 0; i < p->n_services; i++) {
        char *path = xasprintf("services.%s", p->service[i].name);
        json_object_set_new(o, path, queue_json(&p->service[i].queue));
        free(path);
    }
    return o;
}

static int policies_of(json_t **out, const struct sweep *s, const struct runner *r, struct err *e)
{
    json_t *result = result_to_json(&r->result), *list = json_array(), *p;
    size_t i;
    int rc = 0;
    json_array_foreach(json_object_get(result, "policies"), i, p)
    {
        json_t *metrics;
        if ((rc = figures_of(&metrics, p, s->o.metric, s->o.n_metric, e)) != 0) break;
        json_array_append_new(list,
                              json_pack("{s:O, s:O, s:o, s:o}", "name", json_object_get(p, "name"),
                                        "kind", json_object_get(p, "kind"), "queues",
                                        queues_of(&r->result.policy[i]), "metrics", metrics));
    }
    json_decref(result);
    if (rc != 0) json_decref(list);
    *out = rc == 0 ? list : json_array();
    return rc;
}

/* One run, its outcome as JSON: policies, or why there are none. ERR_USAGE: figures that are
 * wrong in every run. */
static int outcome(json_t **out, const struct sweep *s, size_t point, size_t replication,
                   struct err *wrong)
{
    struct arena *a = arena_create();
    struct runner r = { 0 };
    struct err e = { 0 };
    int rc = load_point(&r, s, point, replication, s->shelf, a, &e);
    if (rc == 0) rc = runner_run(&r, NULL, 1, &e);
    json_t *error = json_null(), *policies = NULL;
    const int usage = rc == 0 ? policies_of(&policies, s, &r, wrong) : 0;
    if (!policies) policies = json_array();
    if (rc != 0) {
        char text[sizeof e.where + sizeof e.msg + 4];
        snprintf(text, sizeof text, "%s%s%s", e.where, e.where[0] ? ": " : "", e.msg);
        error = json_string(text);
        if (!error) error = json_string("the run failed");
    }
    runner_fini(&r);
    arena_destroy(a);
    *out = json_pack("{s:s, s:s, s:I, s:o, s:o}", "format", SWEEP_RUN_FORMAT, "point",
                     s->point[point].sha256, "replication", (json_int_t)replication, "error", error,
                     "policies", policies);
    return usage;
}

struct running {
    const struct sweep *s;
    pthread_mutex_t lock;
    size_t done, failed;
    struct err error;
};

static int run_one(void *ctx, size_t i)
{
    struct running *w = ctx;
    const struct sweep *s = w->s;
    const size_t point = s->todo[i] / s->o.replications, k = s->todo[i] % s->o.replications;
    struct arena *a = arena_create();
    struct err e = { 0 };
    json_t *v;
    int rc = outcome(&v, s, point, k, &e);
    if (rc == 0) rc = sweep_write_json(sweep_run_path(a, s->dir, s->point[point].sha256, k), v, &e);
    const bool failed = !json_is_null(json_object_get(v, "error"));
    json_decref(v);
    arena_destroy(a);
    pthread_mutex_lock(&w->lock);
    w->done++;
    w->failed += failed;
    if (rc != 0 && w->error.code == ERR_OK) w->error = e;
    log_progress("sweep", (double)w->done / (double)s->n_todo);
    pthread_mutex_unlock(&w->lock);
    return rc;
}

static int make_folders(const struct sweep *s, struct err *e)
{
    int rc = outfile_mkdirs(s->dir, e);
    for (size_t i = 0; i < s->n_todo && rc == 0; i++) {
        const char *sha = s->point[s->todo[i] / s->o.replications].sha256;
        if (i % s->o.replications == 0 || s->o.shard.count > 1)
            rc = outfile_mkdirs(arena_printf(s->arena, "%s/runs/%.2s", s->dir, sha), e);
    }
    return rc;
}

/* Another sweep may have written its manifest into the folder meanwhile. Tables follow now, and
 * must be those of the manifest beside them. */
static int check_manifest(const struct sweep *s, const char *path, struct err *e)
{
    json_t *now = NULL;
    struct err ignored = { 0 };
    int rc = 0;
    if (sweep_manifest_load(&now, s->dir, &ignored) != 0 || !json_equal(now, s->manifest)) {
        log_warn("%s: another sweep was started in this folder; its tables come back with it",
                 path);
        rc = sweep_write_json(path, s->manifest, e);
    }
    json_decref(now);
    return rc;
}

int sweep_run(struct sweep *s, struct err *e)
{
    struct running w = { .s = s, .lock = PTHREAD_MUTEX_INITIALIZER };
    int rc = make_folders(s, e);
    const char *manifest = arena_printf(s->arena, "%s/manifest.json", s->dir);
    if (rc == 0) rc = sweep_write_json(manifest, s->manifest, e);
    if (rc != 0) return rc;
    if (parallel_for(s->n_todo, s->o.threads, run_one, &w) != 0) *e = w.error;
    log_progress_done();
    s->n_failed = w.failed;
    return w.error.code ? (int)w.error.code : check_manifest(s, manifest, e);
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int sweep_estimate(struct sweep *s, double *seconds, struct err *e)
{
    *seconds = 0;
    if (s->n_todo == 0) return 0;
    const double begin = seconds_now();
    const size_t at[] = { 0, s->n_todo - 1 }, n = s->n_todo > 1 ? 2 : 1;
    for (size_t i = 0; i < n; i++) {
        const size_t run = s->todo[at[i]];
        json_t *v;
        const int rc = outcome(&v, s, run / s->o.replications, run % s->o.replications, e);
        json_decref(v);
        if (rc != 0) return rc;
    }
    const double each = (seconds_now() - begin) / (double)n;
    const size_t threads = s->o.threads < s->n_todo ? s->o.threads : s->n_todo;
    *seconds = each * (double)s->n_todo / (double)(threads ? threads : 1);
    return 0;
}
