#include "engine/sched.h"

#include "base/err.h"

#include <stdlib.h>

static int queue_compare(const struct job *a, const struct job *b)
{
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}
RB_HEAD(queue, job);
TREE_GENERATE(queue, job, waiting, queue_compare)

static int releases_compare(const struct job *a, const struct job *b)
{
    if (a->limit_end != b->limit_end) return a->limit_end < b->limit_end ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}
RB_HEAD(releases, job);
TREE_GENERATE(releases, job, releasing, releases_compare)

struct sched {
    const struct plan *plan;
    struct cluster *cluster;
    sched_start_fn *start;
    sched_drop_fn *drop;
    void *ctx;
    struct queue queue;
    struct releases running; /* by the end that limits promise; kept only for backfill */
    uint64_t waiting, limited; /* jobs that wait; those of them with a limit */
    bool needs_run;
    struct pick pick;
    struct place_request *request; /* scratch, by group */
    /* Backfill: a copy of the fleet on which promised ends are tried out and taken back. */
    struct cluster *then;
    struct pick then_pick;      /* scratch */
    VEC(struct job *) released; /* running, but taken off the copy for now */
    VEC(struct job *) brief;    /* started, not on the copy yet: they end before the reservation */
    bool walking;
    uint64_t walk;              /* number of the walk through the queue */
    size_t shapes;              /* request shapes of waiting jobs with a limit */
};

struct sched *sched_create(const struct plan *plan, struct cluster *cluster, sched_start_fn *start,
                           sched_drop_fn *drop, void *ctx)
{
    struct sched *s = xcalloc(1, sizeof *s);
    *s = (struct sched){ .plan = plan, .cluster = cluster, .start = start,
                         .drop = drop, .ctx = ctx };
    RB_INIT(&s->queue);
    RB_INIT(&s->running);
    s->request = xcalloc(plan->n_groups, sizeof *s->request);
    if (plan->backfill != BACKFILL_NONE) s->then = cluster_create(plan);
    return s;
}

void sched_destroy(struct sched *s)
{
    if (!s) return;
    cluster_destroy(s->then);
    vec_fini(&s->pick.card);
    free(s->request);
    vec_fini(&s->then_pick.card);
    vec_fini(&s->released);
    vec_fini(&s->brief);
    free(s);
}

struct place_request sched_request(const struct plan *plan, const struct job *j, int group)
{
    return (struct place_request){
        .group = group,
        .demand = &j->shape->fit[group].demand,
        .any_node = plan->gang == GANG_ANY || plan->share->pooled,
        .cpus_milli = j->row.cpus_milli,
        .host_bytes = j->row.mem_bytes,
    };
}

void sched_pick_of(const struct job *j, struct pick *out)
{
    out->card.n = 0;
    for (int32_t i = 0; i < j->n_holdings; i++) vec_push(&out->card, j->holding[i].card);
    out->node = j->node;
    out->slice = j->n_holdings ? j->holding[0].slice : (struct mig_slice){ .profile = -1 };
    out->prepare = 0;
}

/* One request for each group, for placements that look at all of them. */
static const struct place_request *requests_of(const struct sched *s, const struct job *j)
{
    for (size_t g = 0; g < s->plan->n_groups; g++) {
        s->request[g] = sched_request(s->plan, j, (int)g);
        if (!j->shape->fit[g].feasible) s->request[g].demand = NULL;
    }
    return s->request;
}

/* Find a place: in the first group that has one now, or where the placement likes it best. */
static bool place(const struct sched *s, const struct cluster *c, const struct job *j, int *group,
                  struct pick *out)
{
    if (s->plan->place->pick_any) {
        *group = s->plan->place->pick_any(c, requests_of(s, j), out);
        return *group >= 0;
    }
    for (size_t g = 0; g < s->plan->n_groups; g++) {
        if (!j->shape->fit[g].feasible) continue;
        const struct place_request r = sched_request(s->plan, j, (int)g);
        if (!s->plan->place->pick(c, &r, out)) continue;
        *group = (int)g;
        return true;
    }
    return false;
}

static void leave_queue(struct sched *s, struct job *j)
{
    RB_REMOVE(queue, &s->queue, j);
    s->waiting--;
    if (j->row.walltime == JOB_NO_TIME) return;
    s->limited--;
    if (--j->shape->limited == 0) s->shapes--;
}

static void start_at(struct sched *s, struct job *j, int group)
{
    const struct place_request r = sched_request(s->plan, j, group);
    leave_queue(s, j);
    cluster_take(s->cluster, &r, &s->pick);
    j->group = group;
    s->start(s->ctx, j, &s->pick);
}

void sched_submit(struct sched *s, struct job *j)
{
    j->rank = s->plan->order->rank(j);
    if (s->plan->place->submitted) {
        const struct place_request *r = requests_of(s, j);
        s->plan->place->submitted(cluster_place_state(s->cluster), r);
        if (s->then) s->plan->place->submitted(cluster_place_state(s->then), r);
    }
    RB_INSERT(queue, &s->queue, j);
    s->waiting++;
    if (j->row.walltime != JOB_NO_TIME) {
        s->limited++;
        if (j->shape->limited++ == 0) s->shapes++;
    }
    /* Strict order: a newcomer can start only at the head. Backfill may take it out of turn. */
    if (RB_MIN(queue, &s->queue) == j || s->plan->backfill != BACKFILL_NONE) s->needs_run = true;
}

void sched_wake(struct sched *s)
{
    s->needs_run = true;
}

bool sched_needs_run(const struct sched *s)
{
    return s->needs_run && s->waiting > 0;
}

uint64_t sched_waiting(const struct sched *s)
{
    return s->waiting;
}

struct job *sched_next(const struct sched *s, struct job *j)
{
    return j ? RB_NEXT(queue, &s->queue, j) : RB_MIN(queue, (struct queue *)(uintptr_t)&s->queue);
}

/* The job comes onto the copy of the fleet, or leaves it. */
static void expect(struct sched *s, struct job *j, bool there)
{
    const struct place_request r = sched_request(s->plan, j, j->group);
    sched_pick_of(j, &s->then_pick);
    there ? cluster_take(s->then, &r, &s->then_pick) : cluster_give(s->then, &r, &s->then_pick);
    j->expected = there;
}

void sched_started(struct sched *s, struct job *j)
{
    if (s->plan->backfill == BACKFILL_NONE) return;
    j->limit_end = SIM_NEVER;
    if (j->row.walltime != JOB_NO_TIME && j->row.walltime < SIM_NEVER - j->allocated)
        j->limit_end = j->allocated + j->row.walltime;
    RB_INSERT(releases, &s->running, j);
    if (!s->walking) expect(s, j, true);
}

void sched_ended(struct sched *s, struct job *j)
{
    if (s->plan->backfill == BACKFILL_NONE) return;
    RB_REMOVE(releases, &s->running, j);
    if (j->expected) expect(s, j, false);
}

/* ---- EASY backfill ---- */

struct reservation {
    simtime when;
    int group;
    struct pick pick;
};

/* Play the promised ends on the copy of the fleet until the head fits, and place it. False: no end is
 * promised that makes room. */
static bool reserve(struct sched *s, const struct job *head, simtime now, struct reservation *out)
{
    for (struct job *j = RB_MIN(releases, &s->running); j && j->limit_end != SIM_NEVER;) {
        /* A job that overran its limit is expected to end at any moment. */
        out->when = j->limit_end > now ? j->limit_end : now;
        for (; j && (j->limit_end > now ? j->limit_end : now) == out->when;
             j = RB_NEXT(releases, &s->running, j)) {
            expect(s, j, false);
            vec_push(&s->released, j);
        }
        if (!place(s, s->then, head, &out->group, &out->pick)) continue;
        const struct place_request r = sched_request(s->plan, head, out->group);
        cluster_take(s->then, &r, &out->pick);
        return true;
    }
    return false;
}

/* Start whoever does not delay the head. What has no room is tried once for each request shape, until
 * something is given back. */
static void walk_queue(struct sched *s, struct job *head, simtime now, simtime when)
{
    struct job *next;
    size_t full = head->row.walltime != JOB_NO_TIME; /* shapes without room; the head's is one */
    head->shape->no_room = ++s->walk;
    for (struct job *j = RB_NEXT(queue, &s->queue, head); j && full < s->shapes; j = next) {
        int group;
        next = RB_NEXT(queue, &s->queue, j);
        if (j->row.walltime == JOB_NO_TIME || j->shape->no_room == s->walk) continue;
        if (!place(s, s->cluster, j, &group, &s->pick)) {
            j->shape->no_room = s->walk;
            full++;
            continue;
        }
        const simtime held = s->pick.prepare + j->row.walltime;
        if (held > when - now) {
            /* It would outlast the reservation: only beside the head, on the very cards it would get
             * now. Instances made by then are not known, so slices never do. */
            const struct place_request request = sched_request(s->plan, j, group);
            if (s->plan->share->instances || !cluster_holds(s->then, &request, &s->pick)) continue;
            cluster_take(s->then, &request, &s->pick);
            j->expected = true;
        } else {
            vec_push(&s->brief, j);
        }
        start_at(s, j, group);
        if (!s->needs_run) continue;
        s->walk++; /* it ended at once: there may be room again */
        full = 0;
    }
}

static void backfill_easy(struct sched *s, simtime now)
{
    struct job *head = RB_MIN(queue, &s->queue);
    struct reservation r = { 0 };
    if (s->limited == (head->row.walltime != JOB_NO_TIME)) return; /* nobody behind could prove it */
    s->walking = true;
    if (reserve(s, head, now, &r)) {
        walk_queue(s, head, now, r.when);
        const struct place_request request = sched_request(s->plan, head, r.group);
        cluster_give(s->then, &request, &r.pick);
    }
    for (size_t i = 0; i < s->released.n; i++) expect(s, s->released.v[i], true);
    for (size_t i = 0; i < s->brief.n; i++)
        if (s->brief.v[i]->state < JOB_COMPLETED) expect(s, s->brief.v[i], true);
    s->released.n = s->brief.n = 0;
    s->walking = false;
    vec_fini(&r.pick.card);
}

void sched_run(struct sched *s, simtime now)
{
    int group;
    s->needs_run = false;
    for (struct job *head = RB_MIN(queue, &s->queue); head; head = RB_MIN(queue, &s->queue)) {
        if (place(s, s->cluster, head, &group, &s->pick)) {
            start_at(s, head, group);
        } else if (s->plan->drop) {
            leave_queue(s, head);
            s->drop(s->ctx, head);
        } else {
            break;
        }
    }
    if (s->plan->backfill == BACKFILL_EASY && s->waiting > 1) backfill_easy(s, now);
}
