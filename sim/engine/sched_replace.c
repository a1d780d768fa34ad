/* Preemption with everybody placed anew ("migrate": "replace"): at every instant at which
 * something came or went and somebody waits for whom there is no room as things are, all jobs -
 * running and waiting together, in the order of their ranks - are placed on an empty fleet, the
 * first to the last. A running job without a place is stopped, one with another place moves and
 * pays the pause, one on the same nodes and no faster wires stays where it is while its cards
 * are free. So free cards are never in pieces that running jobs make: it is what the published
 * simulator of Tiresias (Gu et al., NSDI 2019) does for the price of nothing, and an upper bound
 * of what any migration can bring.
 *
 * Who cannot move keeps its place and goes before all others: a job that is starting up or on
 * its way already (that it has arrived is no such instant: where places go to and fro, nobody
 * would ever work), one that grows in memory, one without cards, a replica, one on a card that
 * is out. A running job keeps to its group of the fleet. While some can move, others take cards
 * that are free now where they are as good. Complexity: a sort of the running jobs and a
 * placement query for each of them and each request shape that waits. */
#include "engine/sched_inside.h"

#include <stdlib.h>

static int by_rank(const void *a, const void *b)
{
    return waitlist_compare(*(struct job *const *)a, *(struct job *const *)b);
}

static bool can_move(const struct sched *s, const struct job *j)
{
    return j->state == JOB_RUNNING && !j->replica && j->n_holdings > 0 &&
           j->shape->sig.mem_grow == 0 && sched_is_in_service(s, j);
}

/* Running jobs that can move leave the copy of the fleet; `list` has them in order. */
static void lift_all(struct sched *s)
{
    struct job *j;
    RB_FOREACH(j, releases, &s->running)
    {
        if (!can_move(s, j)) continue;
        j->rank = sched_rank(s, j);
        sched_suppose(s, j, false);
        vec_push(&s->list, j);
    }
    if (s->list.n > 1) qsort(s->list.v, s->list.n, sizeof *s->list.v, by_rank);
}

/* The pick is on the very nodes where the job is, its own cards there are free, and not slower? */
static bool can_stay(struct sched *s, const struct job *j, const struct place_request *r,
                     const struct pick *p)
{
    sched_pick_of(j, &s->then_pick);
    for (int32_t i = 0; i < j->n_holdings; i++)
        if (cluster_card(s->cluster, p->card.v[i])->node !=
            cluster_card(s->cluster, j->holding[i].card)->node)
            return false;
    return cluster_gang_speed(s->plan, j->group, p) <= j->wires &&
           cluster_holds(s->then, r, &s->then_pick);
}

/* On the copy, the job gets its place: its entry of `placed`. False: there is none. */
static bool settle(struct sched *s, struct job *j, bool running)
{
    if (s->n_placed == s->placed.n) vec_push(&s->placed, (struct placed){ 0 });
    struct placed *p = &s->placed.v[s->n_placed];
    for (size_t g = 0; g < s->plan->n_groups; g++) s->allowed[g] = !running || (int)g == j->group;
    if (!sched_may(s, j)) {
        sched_hold_account(s, j);
        return false;
    }
    if (!sched_place(s, s->then, j, s->allowed, &p->group, &p->pick)) return false;
    const struct place_request r = sched_request(s->plan, j, p->group);
    if (running && can_stay(s, j, &r, &p->pick))
        sched_pick_of(j, &p->pick);
    else if (s->list.n > 0)
        cluster_prefer_free(s->then, s->cluster, &r, &p->pick); /* so that others can stay */
    cluster_take(s->then, &r, &p->pick);
    j->expected = true;
    sched_count(s, j, 1);
    p->job = j;
    s->n_placed++;
    return true;
}

static void settle_all(struct sched *s)
{
    size_t full = 0, i = 0;
    s->walk++;
    waitlist_walk(&s->queue);
    struct job *next = waitlist_step(&s->queue);
    while (i < s->list.n || next) {
        if (i < s->list.n && (!next || waitlist_compare(s->list.v[i], next) < 0)) {
            settle(s, s->list.v[i++], true);
            continue;
        }
        if (!sched_is_held(s, next) && !sched_may(s, next)) sched_hold_account(s, next);
        if (!sched_is_held(s, next) && next->shape->no_room != s->walk && !settle(s, next, false)) {
            next->shape->no_room = s->walk;
            full++;
            if (s->plan->backfill == BACKFILL_NONE) full = s->shapes;
        }
        next = full < s->shapes ? waitlist_step(&s->queue) : NULL;
    }
}

/* Everybody who waits finds a place as things are: nobody need move. */
static bool all_fit(struct sched *s)
{
    struct job *j;
    waitlist_walk(&s->queue);
    while ((j = waitlist_step(&s->queue)) && settle(s, j, false)) {}
    if (!j) return true;
    while (s->n_placed > 0) {
        struct placed *p = &s->placed.v[--s->n_placed];
        const struct place_request r = sched_request(s->plan, p->job, p->group);
        cluster_give(s->then, &r, &p->pick);
        sched_count(s, p->job, -1);
        p->job->expected = false;
    }
    return false;
}

static bool is_at(const struct job *j, const struct pick *p)
{
    for (int32_t i = 0; i < j->n_holdings; i++)
        if (j->holding[i].card != p->card.v[i]) return false;
    return true;
}

static void carry_out(struct sched *s)
{
    for (size_t i = 0; i < s->n_placed; i++) /* the accounts are told when it happens */
        if (s->placed.v[i].job->state == JOB_QUEUED) sched_count(s, s->placed.v[i].job, -1);
    for (size_t i = 0; i < s->list.n; i++) {
        struct job *j = s->list.v[i];
        if (j->expected) continue;
        sched_count(s, j, 1);
        s->call.stop(s->ctx, j);
        j->rank = sched_rank(s, j);
        sched_enqueue(s, j);
    }
    s->needs_run = false; /* what they gave back is already spoken for */
    size_t moved = 0;
    for (size_t i = 0; i < s->n_placed; i++) {
        struct placed *p = &s->placed.v[i];
        if (p->job->state != JOB_RUNNING || is_at(p->job, &p->pick)) continue;
        s->call.lift(s->ctx, p->job);
        vec_push(&s->released, p->job);
    }
    s->walking = true;
    for (size_t i = 0; i < s->n_placed; i++) {
        struct placed *p = &s->placed.v[i];
        if (moved < s->released.n && s->released.v[moved] == p->job) {
            moved++;
            s->call.set_down(s->ctx, p->job, &p->pick);
        } else if (p->job->state == JOB_QUEUED) {
            const struct pick scratch = s->pick;
            s->pick = p->pick;
            p->pick = scratch;
            sched_start_at(s, p->job, p->group);
        }
    }
    s->walking = false;
    s->released.n = 0;
}

void sched_replace(struct sched *s)
{
    s->n_placed = 0;
    s->released.n = 0;
    s->list.n = 0;
    if (!all_fit(s)) {
        lift_all(s);
        settle_all(s);
    }
    carry_out(s);
    sched_look_ahead(s);
}
