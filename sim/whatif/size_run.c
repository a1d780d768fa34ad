/* The trials of size.h: runs of a fleet, kept and judged against one set of targets or another. */
#include "base/log.h"
#include "base/thread.h"
#include "base/vec.h"
#include "whatif/figures.h"
#include "whatif/runner.h"
#include "whatif/size.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { FIRST_ROUND = 4, MAX_SLOTS = SIZE_MAX_TARGETS * (1 + SIZE_NINES) };

/* All runs of one fleet so far. A slot is a figure that some target is about. */
struct runs {
    int64_t nodes, cards;
    size_t n;
    double *x; /* [slot][replication] */
    double *cost;
    struct queue_trend *queue; /* [queue][replication]: the jobs, then each service */
    struct err *error;
};

/* The search of one policy at one point. */
struct attempt {
    struct sizing *s;
    struct size_answer *answer;
    size_t n_queues;
    atomic_size_t done; /* runs */
    VEC(struct runs *) runs;
    struct runs *now;
    size_t from;                  /* first replication of this round */
    size_t use[SIZE_MAX_TARGETS]; /* the slot that each target is judged by */
    struct slo slot[MAX_SLOTS];
    size_t n_slots;
};

static size_t budget(const struct sizing *s)
{
    if (!s->random) return 1;
    const size_t most = s->o.replications ? s->o.replications : 16;
    return most < SIZE_MOST_RUNS ? most : SIZE_MOST_RUNS;
}

/* Load a point (NULL: the scenario as it is) with these nodes; `only` this policy (NULL: those
 * asked for). */
static int load(struct runner *r, const struct sizing *s, const size_t *point, const char *path,
                int64_t nodes, const char *only, size_t replication, struct err *e)
{
    struct arena *a = arena_create();
    const size_t n_over = point ? s->over.n_axes : 0;
    const char **set = arena_array(a, s->o.n_set + n_over + 1, sizeof *set);
    struct diag d;
    size_t n = 0;
    for (size_t i = 0; i < s->o.n_set; i++) set[n++] = s->o.set[i];
    if (point) {
        const char **own = grid_set(&s->over, *point, a);
        for (size_t i = 0; i < n_over; i++) set[n++] = own[i];
    }
    if (path) set[n++] = arena_printf(a, "%s=%lld", path, (long long)nodes);
    const struct runner_options o = { .world = &s->world,
                                      .set = set,
                                      .n_set = n,
                                      .only = only ? &only : s->o.only,
                                      .n_only = only ? 1 : s->o.n_only,
                                      .replication = replication,
                                      .silent = true,
                                      .no_hash = true,
                                      .shelf = path ? s->shelf : NULL,
                                      .keep_percentiles = true };
    diag_init(&d);
    int rc = runner_load_with(r, s->o.scenario, &o, &d, e);
    if (rc == 0 && d.count > 0) rc = diag_result(&d, e);
    diag_fini(&d);
    arena_destroy(a);
    return rc;
}

static const char *text_of(struct arena *a, const struct err *e)
{
    return arena_printf(a, "%s%s%s", e->where, e->where[0] ? ": " : "", e->msg);
}

/* ---- runs ---- */

static int replicate(void *ctx, size_t i)
{
    struct attempt *t = ctx;
    const struct sizing *s = t->s;
    struct runs *now = t->now;
    const size_t k = t->from + i, max = budget(s);
    struct runner r = { 0 };
    struct err *e = &now->error[k];
    int rc = load(&r, s, &t->answer->point, t->answer->path, now->nodes, t->answer->policy, k, e);
    if (rc == 0) rc = runner_run(&r, NULL, 1, e);
    if (rc == 0) {
        const struct policy_result *p = &r.result.policy[0];
        json_t *all = result_to_json(&r.result);
        json_t *policy = json_array_get(json_object_get(all, "policies"), 0);
        for (size_t q = 0; q < t->n_slots && rc == 0; q++) {
            char option[200];
            snprintf(option, sizeof option, "--slo %s", t->slot[q].text);
            rc = figure_find(&now->x[q * max + k], policy, t->slot[q].path, option, e);
        }
        now->queue[k] = p->queue;
        for (size_t q = 1; q < t->n_queues; q++) now->queue[q * max + k] = p->service[q - 1].queue;
        now->cost[k] = p->tco.priced ? p->tco.total_usd : NAN;
        if (k == 0) now->cards = (int64_t)p->gpu.count;
        json_decref(all);
    }
    runner_fini(&r);
    char what[160];
    snprintf(what, sizeof what, "size %.100s: %lld nodes, run %zu of at most %zu; %zu runs done",
             t->answer->policy, (long long)now->nodes, k + 1, max, ++t->done);
    log_progress(what, NAN);         /* how many there will be depends on what they say */
    return rc == ERR_USAGE ? rc : 0; /* a wrong target is wrong everywhere */
}

static struct runs *runs_of(struct attempt *t, int64_t nodes)
{
    for (size_t i = 0; i < t->runs.n; i++)
        if (t->runs.v[i]->nodes == nodes) return t->runs.v[i];
    const size_t max = budget(t->s);
    struct runs *r = xcalloc(1, sizeof *r);
    r->nodes = nodes;
    r->x = xcalloc(max * t->n_slots, sizeof *r->x);
    r->cost = xcalloc(max, sizeof *r->cost);
    r->queue = xcalloc(max * t->n_queues, sizeof *r->queue);
    r->error = xcalloc(max, sizeof *r->error);
    for (size_t i = 0; i < max * t->n_slots; i++) r->x[i] = NAN;
    vec_push(&t->runs, r);
    return r;
}

static void attempt_fini(struct attempt *t)
{
    for (size_t i = 0; i < t->runs.n; i++) {
        struct runs *r = t->runs.v[i];
        free(r->x);
        free(r->cost);
        free(r->queue);
        free(r->error);
        free(r);
    }
    vec_fini(&t->runs);
}

/* As many replications as `n`. */
static int replicate_to(struct attempt *t, size_t n, struct err *e)
{
    struct runs *r = t->now;
    if (r->n >= n) return 0;
    t->from = r->n;
    const int rc = parallel_for(n - r->n, t->s->o.threads, replicate, t);
    for (size_t k = r->n; k < n && rc != 0; k++)
        if (r->error[k].code == (enum err_code)rc) {
            *e = r->error[k];
            break;
        }
    r->n = n;
    return rc;
}

/* Judge the first n; true when it is decided. */
static bool judge(const struct attempt *t, size_t n, struct size_trial *out)
{
    const struct runs *r = t->now;
    const size_t max = budget(t->s);
    out->n = n;
    out->verdict = SIZE_MET;
    out->queue = QUEUE_STAYS;
    out->cost_usd = interval_student(r->cost, n).mean;
    out->cards = r->cards;
    for (size_t k = 0; k < n && !out->problem; k++)
        if (r->error[k].code != ERR_OK) out->problem = text_of(t->s->arena, &r->error[k]);
    for (size_t q = 0; q < t->n_queues && !out->problem; q++) {
        const enum queue_state state = queue_of_runs(r->queue + q * max, n);
        if (state < out->queue) out->queue = state;
    }
    out->stable = out->queue == QUEUE_STAYS;
    for (size_t q = 0; q < t->s->o.n_slo; q++) {
        const struct slo *slo = &t->slot[t->use[q]];
        const double nothing = NAN; /* a queue that grows has no percentile */
        const bool none = out->queue == QUEUE_GROWS && slo_percentile(slo);
        const double *x = none ? &nothing : r->x + t->use[q] * max;
        out->target[q] = slo_judge(slo, x, none ? 1 : n, &out->value[q]);
        if (out->target[q] < out->verdict) out->verdict = out->target[q];
    }
    if (out->queue == QUEUE_UNDECIDED && out->verdict == SIZE_MET) out->verdict = SIZE_UNDECIDED;
    if (out->queue == QUEUE_GROWS) out->verdict = SIZE_MISSED;
    if (out->problem) out->verdict = SIZE_MISSED;
    return out->verdict != SIZE_UNDECIDED;
}

static int try_nodes(void *ctx, int64_t nodes, struct size_trial *out, struct err *e)
{
    struct attempt *t = ctx;
    const size_t max = budget(t->s);
    int rc = 0;
    t->now = runs_of(t, nodes);
    for (size_t n = 0; n < max && rc == 0;) {
        const size_t more = n ? n : FIRST_ROUND;
        n = max - n < more ? max : n + more;
        rc = replicate_to(t, n, e);
        if (rc == 0 && judge(t, n, out)) break;
    }
    log_verbose("%s: %lld nodes: %s after %zu runs", t->answer->policy, (long long)nodes,
                verdict_names[out->verdict], out->n);
    return rc;
}

/* ---- one policy at one point ---- */

/* Does a path name the nodes of that group, by name or number? */
static bool is_nodes_of(const char *path, const struct policy_spec *p, bool own,
                        const struct fleet_group *g)
{
    char name[300], number[300];
    snprintf(name, sizeof name, "fleet.%.200s.nodes", g->name);
    snprintf(number, sizeof number, "fleet.%td.nodes", g - p->fleet);
    if (own) { /* policies.X.fleet.. */
        path = strncmp(path, "policies.", 9) == 0 ? strstr(path, ".fleet.") : NULL;
        path = path ? path + 1 : "";
    }
    return strcmp(path, name) == 0 || strcmp(path, number) == 0;
}

/* The group whose nodes are counted, and its path: the policy's own fleet goes first. */
static int find_group(const struct sizing *s, const struct scenario *sc, size_t p,
                      const char **path, int64_t *nodes, struct err *e)
{
    const struct policy_spec *spec = &sc->policy[p];
    const bool own = spec->fleet != sc->fleet;
    const struct fleet_group *found = spec->n_fleet == 1 && !s->o.group ? spec->fleet : NULL;
    const char *names[256];
    char list[160];
    size_t n = 0;
    for (size_t i = 0; i < spec->n_fleet && n < 256; i++) {
        names[n++] = spec->fleet[i].name;
        if (s->o.group && strcmp(s->o.group, spec->fleet[i].name) == 0) found = &spec->fleet[i];
    }
    if (!found && !s->o.group)
        err_set(e, ERR_USAGE, NULL,
                "policy %s has several fleet groups; say whose nodes to count: "
                "--nodes-of GROUP",
                spec->name);
    else if (!found)
        err_set(e, ERR_USAGE, NULL, "--nodes-of: policy %s has no fleet group '%s'", spec->name,
                s->o.group);
    if (!found) {
        err_hint(e, "it has: %s", str_list(list, sizeof list, names, n));
        return ERR_USAGE;
    }
    for (size_t i = 0; i < s->over.n_axes; i++)
        if (is_nodes_of(s->over.axis[i].path, spec, own, found))
            return err_set(e, ERR_USAGE, NULL,
                           "--over %s: the number of nodes is what is looked for: --min and --max",
                           s->over.axis[i].path);
    *path = own ? arena_printf(s->arena, "policies.%s.fleet.%s.nodes", spec->name, found->name)
                : arena_printf(s->arena, "fleet.%s.nodes", found->name);
    *nodes = found->nodes;
    return 0;
}

/* Look at the scenario of the answer's point. `max`: the largest number to try. */
static int attempt_init(struct attempt *t, struct sizing *s, struct size_answer *a, int64_t *max,
                        struct err *e)
{
    struct runner r = { 0 };
    int64_t present = 0;
    *t = (struct attempt){ .s = s, .answer = a };
    int rc = load(&r, s, &a->point, NULL, 0, a->policy, 0, e);
    if (rc == 0) {
        const struct scenario *sc = &r.scenario;
        size_t p = 0;
        while (&sc->policy[p] != r.plan[0].spec) p++;
        rc = find_group(s, sc, p, &a->path, &present, e);
        t->n_queues = 1 + r.plan[0].n_services;
    }
    runner_fini(&r);
    *max = s->o.max ? s->o.max : present > 4 ? 16 * present : 64;
    if (*max < s->o.min) *max = s->o.min;
    for (size_t q = 0; q < s->o.n_slo; q++) {
        t->use[q] = t->n_slots;
        t->slot[t->n_slots++] = s->slo[q];
    }
    return rc;
}

/* Input or files that no number of nodes can be run with are an error and no answer. */
static int nothing_ran(const struct attempt *t, struct err *e)
{
    const struct err *first = t->runs.n > 0 ? &t->runs.v[0]->error[0] : e;
    for (size_t i = 0; i < t->runs.n; i++)
        if (t->runs.v[i]->error[0].code == ERR_OK) return 0;
    if (first->code != ERR_INPUT && first->code != ERR_IO) return 0;
    *e = *first;
    return (int)first->code;
}

static int size_policy(struct sizing *s, struct size_answer *a, struct err *e)
{
    struct attempt t;
    int64_t max;
    struct err why = { 0 };
    int rc = attempt_init(&t, s, a, &max, &why);
    if (rc == 0) {
        rc = size_search(a, s->o.min, max, s->o.scan, try_nodes, &t, e);
        if (rc == 0) rc = nothing_ran(&t, &why);
        if (rc < 0 && why.code != ERR_OK) {
            if (s->over.n_axes == 0)
                *e = why;
            else
                a->problem = text_of(s->arena, &why), rc = 0;
        }
    } else if (rc == ERR_USAGE || s->over.n_axes == 0) {
        *e = why;
    } else { /* of several points some may be impossible */
        a->problem = text_of(s->arena, &why);
        rc = 0;
    }
    attempt_fini(&t);
    return rc;
}

/* ---- nines ---- */

static int size_one_nine(struct sizing *s, struct attempt *t, size_t slot, size_t target,
                         int64_t max, struct err *e)
{
    struct size_answer found = { .policy = t->answer->policy };
    struct size_nine *n = &s->nine[s->n_nines++];
    const size_t usual = t->use[target];
    *n = (struct size_nine){ .target = target, .slo = t->slot[slot] };
    t->use[target] = slot;
    const int rc = size_search(&found, s->o.min, max, s->o.scan, try_nodes, t, e);
    t->use[target] = usual;
    if (rc == 0 && found.best) {
        n->met = true;
        n->nodes = found.best->nodes;
        n->cards = found.best->cards;
        n->cost_usd = found.best->cost_usd;
    }
    size_answer_fini(&found);
    return rc;
}

/* What other numbers of nines cost, for the policy and point that are least. */
static int size_nines(struct sizing *s, struct err *e)
{
    const struct size_answer *best = size_cheapest(s);
    if (!best || s->o.no_nines) return 0;
    struct size_answer a = { .policy = best->policy, .point = best->point };
    size_t target[MAX_SLOTS];
    struct attempt t;
    int64_t max;
    int rc = attempt_init(&t, s, &a, &max, e);
    const size_t first = t.n_slots;
    for (size_t q = 0; q < s->o.n_slo; q++)
        for (size_t level = 0; slo_nines(&s->slo[q], level, s->arena, &t.slot[t.n_slots]); level++)
            target[t.n_slots++] = q;
    s->nine = xcalloc(t.n_slots - first + 1, sizeof *s->nine);
    for (size_t k = first; k < t.n_slots && rc == 0; k++)
        rc = size_one_nine(s, &t, k, target[k], max, e);
    attempt_fini(&t);
    return rc;
}

/* ---- all of them ---- */

/* The policies asked for, once for each point, and the order of all. */
static void list_answers(struct sizing *s, const struct runner *base)
{
    const struct scenario *sc = &base->scenario;
    s->order = arena_array(s->arena, sc->n_policies, sizeof *s->order);
    for (size_t p = 0; p < sc->n_policies; p++)
        s->order[s->n_order++] = arena_strdup(s->arena, sc->policy[p].name);
    s->answer = xcalloc(base->n * s->over.n_points, sizeof *s->answer);
    for (size_t point = 0; point < s->over.n_points; point++)
        for (size_t p = 0; p < base->n; p++)
            s->answer[s->n_answers++] =
                (struct size_answer){ .policy = arena_strdup(s->arena, base->plan[p].spec->name),
                                      .point = point };
}

static int check_over(const struct sizing *s, struct err *e)
{
    size_t possible = 0;
    for (size_t i = 0; i < s->n_answers; i++) possible += s->answer[i].problem == NULL;
    if (possible > 0 || s->n_answers == 0) return 0;
    return err_set(e, ERR_INPUT, NULL, "--over: no point can be: %s", s->answer[0].problem);
}

int size_run(struct sizing *s, const struct size_options *o, struct err *e)
{
    struct runner base = { 0 };
    *s = (struct sizing){ .o = *o, .arena = arena_create(), .shelf = trace_shelf_create(0) };
    int rc = 0;
    if (o->n_slo == 0 || o->n_slo > SIZE_MAX_TARGETS)
        rc = err_set(e, ERR_USAGE, NULL, "expected 1 to %d targets: --slo 'jobs.wait_s.p95<=600'",
                     SIZE_MAX_TARGETS);
    for (size_t i = 0; i < o->n_slo && rc == 0; i++)
        rc = slo_parse(&s->slo[i], s->arena, o->slo[i], e);
    if (rc == 0) rc = slo_check(s->slo, o->n_slo, e);
    if (rc == 0) rc = grid_parse(&s->over, s->arena, "--over", o->over, o->n_over, o->design, e);
    if (rc == 0) rc = world_load(&s->world, e);
    if (rc == 0) rc = load(&base, s, NULL, NULL, 0, NULL, 0, e);
    if (rc == 0) {
        s->random = runner_is_random(&base);
        s->name = arena_strdup(s->arena, base.scenario.name);
        s->seed = (uint64_t)base.scenario.seed;
        memcpy(s->sha256, base.scenario.sha256, sizeof s->sha256);
        list_answers(s, &base);
    }
    runner_fini(&base);
    for (size_t i = 0; i < s->n_answers && rc == 0; i++) rc = size_policy(s, &s->answer[i], e);
    if (rc == 0) rc = check_over(s, e);
    if (rc == 0) rc = size_nines(s, e);
    log_progress_done();
    return rc;
}

const struct size_answer *size_cheapest(const struct sizing *s)
{
    const struct size_answer *best = NULL;
    bool priced = true;
    for (size_t i = 0; i < s->n_answers; i++)
        if (s->answer[i].best) priced &= isfinite(s->answer[i].best->cost_usd);
    for (size_t i = 0; i < s->n_answers; i++) {
        const struct size_answer *a = &s->answer[i];
        if (!a->best) continue;
        const double cost = priced ? a->best->cost_usd : (double)a->best->cards;
        if (!best || cost < (priced ? best->best->cost_usd : (double)best->best->cards)) best = a;
    }
    return best;
}

void size_fini(struct sizing *s)
{
    for (size_t i = 0; i < s->n_answers; i++) size_answer_fini(&s->answer[i]);
    free(s->answer);
    free(s->nine);
    world_fini(&s->world);
    trace_shelf_destroy(s->shelf);
    arena_destroy(s->arena);
    *s = (struct sizing){ 0 };
}
