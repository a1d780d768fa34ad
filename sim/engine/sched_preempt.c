/* Preemption: at every instant at which something came or went, the jobs in the system - waiting
 * and running together, in the order of their ranks - are entitled to the cards from the first to
 * the last. Nobody is stopped but for somebody of smaller rank who needs the room and then gets it.
 *
 * Victims are taken from the last rank backwards until the job fits; then those of them that
 * need not go stay, the first rank first. They go to the queue at once, with the rank they will
 * have there: with the work they lose. With "backfill": "none" the first that has no room,
 * victims among them, ends the round. Each start after the first costs the sharing's start-up
 * again and `restart`; a limit counts the time on cards of all starts together.
 *
 * All of it is decided on the copy of the fleet; then the victims are stopped and the winners
 * started. A victim whose place is still free in the end was never stopped. */
#include "engine/elastic.h"
#include "engine/sched_inside.h"

#include <stdlib.h>

static int by_rank(const void *a, const void *b)
{
    return waitlist_compare(*(struct job *const *)a, *(struct job *const *)b);
}

/* Running jobs with their ranks of now, and the worst of them. */
static void rank_running(struct sched *s)
{
    struct job *j;
    s->worst = NULL;
    s->heaped = false;
    RB_FOREACH(j, releases, &s->running)
    {
        j->rank = sched_rank(s, j);
        vec_push(&s->list, j);
        if (!s->worst || waitlist_compare(s->worst, j) < 0) s->worst = j;
    }
}

/* ---- the running jobs from the last backwards: few are asked for, so they are not sorted but drawn ---- */

static void sift_down(struct job **heap, size_t n, size_t at)
{
    struct job *j = heap[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && waitlist_compare(heap[child], heap[child + 1]) < 0) child++;
        if (waitlist_compare(heap[child], j) < 0) break;
        heap[at] = heap[child];
    }
    heap[at] = j;
}

/* list.v[i] as if all were sorted, smallest rank first; i falls from one call to the next. */
static struct job *in_order(struct sched *s, size_t i)
{
    struct job **list = s->list.v;
    if (!s->heaped)
        for (size_t k = (s->heap = s->list.n) / 2; k-- > 0;) sift_down(list, s->heap, k);
    s->heaped = true;
    while (s->heap > i) {
        struct job *last = list[0];
        list[0] = list[--s->heap];
        if (s->heap > 0) sift_down(list, s->heap, 0);
        list[s->heap] = last;
    }
    return list[i];
}

static bool fits_then(struct sched *s, const struct job *j, struct placed *out)
{
    return sched_may(s, j) && sched_place(s, s->then, j, NULL, &out->group, &out->pick);
}

/* Its rank as it will wait: what it has done since its last checkpoint is lost. */
static int64_t rank_once_stopped(const struct sched *s, struct job *j)
{
    const enum job_state state = j->state;
    const simtime remaining = j->remaining, held = j->held;
    j->remaining = job_once_stopped(j, s->view.now, s->plan->checkpoint.every);
    j->held = job_held(j, s->view.now);
    j->state = JOB_QUEUED;
    const int64_t rank = sched_rank(s, j);
    j->state = state;
    j->remaining = remaining;
    j->held = held;
    return rank;
}

/* Take running jobs of larger rank off the copy, the last first, until `j` fits there. Then those
 * put back, best first, that need not go. Its quota counts as room does: *may, whether it let j
 * start without any of larger rank. False: j does not fit even without them; nothing changed. */
static bool make_room(struct sched *s, const struct job *j, struct placed *out, bool *may)
{
    bool fits = false;
    *may = sched_may(s, j);
    if (s->list.n == 0) rank_running(s);
    if (!s->worst || waitlist_compare(j, s->worst) > 0) return false;
    size_t i = s->list.n;
    while (!fits && i > 0 && waitlist_compare(j, in_order(s, i - 1)) < 0) {
        struct job *victim = s->list.v[--i];
        if (!victim->expected || victim->replica)
            continue; /* it went for somebody else; a service stays */
        sched_suppose(s, victim, false);
        vec_push(&s->released, victim);
        fits = fits_then(s, j, out);
    }
    *may = sched_may(s, j);
    for (size_t k = s->released.n; k-- > 0;) {
        struct job *victim = s->released.v[k];
        sched_suppose(s, victim, true);
        if (fits && !fits_then(s, j, out)) sched_suppose(s, victim, false);
    }
    /* The last question may have been a failed one. */
    return fits && fits_then(s, j, out);
}

/* Would its quota let it start if all of larger rank were gone? */
static bool could_have_quota(struct sched *s, const struct job *j)
{
    if (sched_may(s, j)) return true;
    if (s->list.n == 0) rank_running(s);
    for (int sign = -1, may = false;; sign = 1) {
        for (size_t i = 0; i < s->list.n; i++) {
            const struct job *v = s->list.v[i];
            if (v->expected && !v->replica && waitlist_compare(j, v) < 0) sched_count(s, v, sign);
        }
        if (sign > 0) return may;
        may = sched_may(s, j);
    }
}

/* It was to go, but its old place is free again? Instances are not asked: by now others may have
 * been made there. */
static bool stays(struct sched *s, struct job *j)
{
    if (!j->evicted || j->elsewhere || s->plan->share->instances) return false;
    sched_pick_of(j, &s->then_pick);
    elastic_be(j, j->held_size);
    const struct place_request r = sched_request(s->plan, j, j->group);
    if (!cluster_holds(s->then, &r, &s->then_pick) || !sched_may(s, j)) {
        elastic_be(j, 0);
        return false;
    }
    j->evicted = false;
    sched_leave(s, j);
    sched_suppose(s, j, true);
    j->rank = sched_rank(s, j);
    return true;
}

/* It fits as things are; an elastic job with the most cards, up to what it asks for, that do. */
static bool fits_now(struct sched *s, struct job *j, struct placed *out)
{
    for (int i = j->n_sizes - 1; i > 0; i--) {
        elastic_be(j, i);
        if (j->gpus_milli <= j->row.gpus_milli && fits_then(s, j, out)) return true;
    }
    elastic_be(j, 0);
    return fits_then(s, j, out);
}

static struct placed *next_placed(struct sched *s)
{
    if (s->n_placed == s->placed.n) vec_push(&s->placed, (struct placed){ 0 });
    return &s->placed.v[s->n_placed];
}

/* Of the list only those who are to go matter from here on, in the order of their ranks. */
static void keep_evicted(struct sched *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->list.n; i++)
        if (s->list.v[i]->evicted) s->list.v[n++] = s->list.v[i];
    s->list.n = n;
    if (n > 1) qsort(s->list.v, n, sizeof *s->list.v, by_rank);
}

/* Entitle waiting jobs in order; what has no room is tried once for each shape. */
static void decide(struct sched *s)
{
    const bool strict = s->plan->backfill == BACKFILL_NONE;
    size_t full = 0;
    struct job *j;
    s->walk++;
    waitlist_walk(&s->queue);
    while (full < s->shapes && (j = waitlist_step(&s->queue))) {
        struct placed *p = next_placed(s);
        if (stays(s, j) || sched_is_held(s, j)) continue;
        const bool leaps = elastic_leaps(s->plan, j);
        if (j->shape->no_room == s->walk && !leaps) {
            if (!could_have_quota(s, j)) sched_hold_account(s, j);
            continue;
        }
        s->released.n = 0;
        bool may; /* by its quota, if all of larger rank were gone */
        if (!fits_now(s, j, p) && !make_room(s, j, p, &may)) {
            if (!may) { /* it holds up its account, and nobody else */
                sched_hold_account(s, j);
                continue;
            }
            if (strict) break;
            if (leaps) continue;
            j->shape->no_room = s->walk;
            full++;
            continue;
        }
        const struct place_request r = sched_request(s->plan, j, p->group);
        cluster_take(s->then, &r, &p->pick);
        sched_count(s, j, 1);
        p->job = j;
        p->size = j->at_size;
        j->elsewhere = j->evicted;
        s->n_placed++;
        for (size_t i = 0; i < s->released.n; i++) { /* the victims wait with the others */
            struct job *victim = s->released.v[i];
            if (victim->expected) continue;
            victim->evicted = true;
            victim->rank = rank_once_stopped(s, victim);
            sched_enqueue(s, victim);
        }
        waitlist_seek(&s->queue, waitlist_lane(&s->queue, 0), j);
    }
    keep_evicted(s);
    for (size_t i = 0; i < s->list.n; i++) stays(s, s->list.v[i]);
    for (size_t i = 0; i < s->n_placed; i++) /* the accounts are told when it happens */
        sched_count(s, s->placed.v[i].job, -1);
    for (size_t i = 0; i < s->list.n; i++) {
        if (!s->list.v[i]->evicted) continue;
        elastic_be(s->list.v[i], s->list.v[i]->held_size);
        sched_count(s, s->list.v[i], 1);
    }
}

/* Stop the victims, start the winners. */
static void carry_out(struct sched *s)
{
    for (size_t i = 0; i < s->list.n; i++) {
        struct job *j = s->list.v[i];
        if (!j->evicted) continue;
        j->evicted = j->elsewhere = false;
        sched_leave(s, j);
        s->call.stop(s->ctx, j);
        j->rank = sched_rank(s, j);
        sched_enqueue(s, j);
    }
    s->needs_run = false; /* what they gave back is already spoken for */
    s->walking = true;
    for (size_t i = 0; i < s->n_placed; i++) {
        struct placed *p = &s->placed.v[i];
        const struct pick scratch = s->pick;
        p->job->expected = true;
        s->pick = p->pick;
        p->pick = scratch;
        elastic_be(p->job, p->size);
        sched_start_at(s, p->job, p->group);
    }
    s->walking = false;
}

/* When the rank of a running job grows by itself, somebody may be entitled to its place. Each job's
 * next change stands still while it runs, so they are gone through only when the earliest is
 * over. */
void sched_look_ahead(struct sched *s)
{
    struct job *j;
    if (!s->plan->order->next_change || (!s->look_over && s->look > s->view.now)) return;
    s->look = SIM_NEVER;
    s->look_over = false;
    RB_FOREACH(j, releases, &s->running)
    {
        j->next_change = s->plan->order->next_change(&s->view, j);
        if (j->next_change < s->look) s->look = j->next_change;
    }
}

void sched_preempt(struct sched *s)
{
    s->list.n = 0;
    s->worst = NULL;
    s->n_placed = 0;
    decide(s);
    carry_out(s);
    sched_look_ahead(s);
}
