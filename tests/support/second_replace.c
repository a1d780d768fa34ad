/* Preemption with everybody placed anew, of the second engine: from the head of
 * engine/sched_replace.c. */
#include "support/second_inside.h"

struct anew {
    struct view then;
    int lifted;              /* so many can move */
    int n, job[SECOND_JOBS]; /* who has a place, in order */
    struct place at[SECOND_JOBS];
    bool placed[SECOND_JOBS];
};

static void put(struct anew *a, int job, const struct place *at)
{
    second_put(&a->then, job, at);
    a->placed[job] = true;
    a->job[a->n] = job;
    a->at[a->n++] = *at;
}

/* Everybody who waits has a place as things are. */
static bool all_fit(const struct engine *e, struct anew *a)
{
    struct place at;
    a->then = e->now;
    for (int job = -1; (job = second_next(e, job)) >= 0;) {
        if (!second_may(e, &a->then, job) || !second_find(e, &a->then, NULL, job, e->like, &at))
            return false;
        put(a, job, &at);
    }
    return true;
}

/* The job stays on its cards if its new ones would be on the same nodes and on no faster wires,
 * and its own are free. */
static bool remains(const struct engine *e, const struct view *then, int job,
                    const struct place *at)
{
    const struct place *own = &e->life[job].at;
    for (int i = 0; i < own->n; i++)
        if (second_node_of(e, own->card[i]) != second_node_of(e, at->card[i])) return false;
    return second_wires(e, at) <= e->life[job].wires && second_holds(e, then, job, own);
}

static bool place_anew(struct engine *e, struct anew *a, int job)
{
    struct life *l = &e->life[job];
    const struct life was = *l;
    struct place at;
    if (!second_may(e, &a->then, job)) {
        second_leave(e, job);
        return false;
    }
    for (size_t g = 0; l->on && g < e->plan->n_groups; g++)
        if ((int)g != l->at.group) l->wish[g].possible = false; /* it keeps to its group */
    const bool found = second_find(e, &a->then, NULL, job, e->like, &at);
    *l = was;
    if (!found) return false;
    if (l->on && remains(e, &a->then, job, &at))
        at = l->at;
    else if (a->lifted > 0) /* so that others can stay */
        second_prefer(e, &a->then, &e->now, true, job, &at);
    put(a, job, &at);
    return true;
}

static bool same_cards(const struct place *x, const struct place *y)
{
    for (int i = 0; i < x->n; i++)
        if (x->card[i] != y->card[i]) return false;
    return true;
}

/* It works, and no card of it is out of service. */
static bool can_move(const struct engine *e, const struct life *l)
{
    bool in_service = true;
    for (int i = 0; i < l->at.n; i++) in_service &= !second_card_out(e, &e->now, l->at.card[i]);
    return l->working && l->at.n > 0 && in_service;
}

/* Those who can move are asked like those who wait: `evicted` while nobody has a place for them. */
static void settle(struct engine *e, struct anew *a)
{
    bool closed = false; /* nobody more from the queue */
    *a = (struct anew){ .n = 0 };
    second_walk(e);
    for (int k = 0; k < e->now.n; k++) {
        struct life *l = &e->life[e->now.job[k]];
        l->evicted = can_move(e, l);
        a->lifted += l->evicted;
        if (l->evicted)
            l->rank = second_rank(e, e->now.job[k]);
        else
            second_put(&a->then, e->now.job[k], &e->now.at[k]);
    }
    for (int job = -1; (job = second_next(e, job)) >= 0;) {
        const bool waits = e->life[job].waiting;
        if (waits && (closed || e->left[e->life[job].job->user])) continue;
        if (!place_anew(e, a, job) && waits && second_may(e, &a->then, job))
            closed |= e->plan->backfill == BACKFILL_NONE;
    }
}

void second_replace(struct engine *e)
{
    struct anew a = { .n = 0 };
    int off[SECOND_JOBS], gone = 0;
    if (!all_fit(e, &a)) settle(e, &a);
    for (int job = -1; (job = second_next(e, job)) >= 0;)
        if (e->life[job].evicted && !a.placed[job]) off[gone++] = job;
    for (int j = 0; j < e->n; j++) e->life[j].evicted = false;
    for (int k = 0; k < gone; k++) second_stop(e, off[k]);
    for (int k = 0; k < a.n; k++)
        if (e->life[a.job[k]].on && !same_cards(&e->life[a.job[k]].at, &a.at[k]))
            second_lift(e, a.job[k]);
    for (int k = 0; k < a.n; k++) {
        const struct life *l = &e->life[a.job[k]];
        if (!l->on)
            second_start(e, a.job[k], &a.at[k]);
        else if (!same_cards(&l->at, &a.at[k]))
            second_set_down(e, a.job[k], &a.at[k]);
    }
}
