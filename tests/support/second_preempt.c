/* Preemption, of the second engine: from the heads of engine/sched_preempt.c and
 * engine/checkpoint.h. A job's checkpoints are walked through one by one; who goes for whom is
 * tried out on a list of who is where. */
#include "support/second_inside.h"

#include <math.h>
#include <string.h>

/* ---- checkpoints ---- */

static simtime pause_of(const struct engine *e, int job)
{
    const struct second_job *j = e->life[job].job;
    return j->gpus_milli > 0 ? e->plan->checkpoint.cost : 0;
}

simtime second_line(const struct engine *e, int job)
{
    const struct life *l = &e->life[job];
    const simtime every = e->plan->checkpoint.every;
    simtime line = l->from;
    if (every == 0) return line;
    for (simtime at = every; at < l->job->duration; at += every)
        if (at > l->job->duration - l->from) line += pause_of(e, job);
    return line;
}

/* Of the line, what it has behind it since it came onto its cards. */
static simtime behind(const struct life *l)
{
    const double scale = l->scale;
    const long double left = ceill(l->left - 1e-3L);
    if (scale == 1.0) return l->line - (simtime)left;
    const simtime recorded = llroundl(left / (long double)scale);
    return recorded < l->line ? l->line - recorded : 0;
}

void second_progress(const struct engine *e, int job, simtime *left, simtime *safe)
{
    const struct life *l = &e->life[job];
    const simtime every = e->plan->checkpoint.every, all = l->job->duration;
    simtime done = all - (l->on ? l->from : l->remaining), time = l->on ? behind(l) : 0;
    *safe = every > 0 ? done / every * every : 0;
    while (time > 0) {
        const simtime next = every > 0 ? (done / every + 1) * every : all;
        const simtime work = next < all ? next - done : all - done;
        if (time < work || next >= all) {
            done += time < work ? time : work;
            break;
        }
        done = next;
        time -= work;
        if (time < pause_of(e, job)) break;
        time -= pause_of(e, job);
        *safe = next;
    }
    if (every == 0) *safe = done;
    *left = all - done;
}

/* ---- who goes for whom ---- */

/* It comes behind the other: by rank, then by submission. */
static bool behind_of(const struct engine *e, int job, int other)
{
    const int64_t a = e->life[job].rank, b = e->life[other].rank;
    return a != b ? a > b : job > other;
}

/* Of those at their own places in the view the last that comes behind the job, and before `last`
 * (-1: any). */
static int last_behind(const struct engine *e, const struct view *v, const bool *won, int job,
                       int last)
{
    int worst = -1;
    for (int k = 0; k < v->n; k++) {
        const int j = v->job[k];
        if (won[j] || !behind_of(e, j, job) || (last >= 0 && !behind_of(e, last, j))) continue;
        if (worst < 0 || behind_of(e, j, worst)) worst = j;
    }
    return worst;
}

/* It would wait with this one. */
static int64_t rank_once_stopped(struct engine *e, int job)
{
    struct life *l = &e->life[job];
    const struct life was = *l;
    simtime left, safe;
    second_progress(e, job, &left, &safe);
    l->remaining = l->job->duration - safe < l->remaining ? l->job->duration - safe : l->remaining;
    l->held += e->clock - l->allocated;
    l->on = false;
    const int64_t rank = second_rank(e, job);
    *l = was;
    return rank;
}

static bool fits_in(const struct engine *e, const struct view *v, int job, struct place *at)
{
    return second_may(e, v, job) && second_find(e, v, NULL, job, e->like, at);
}

/* Take off those behind the job, the last first, until it fits; then put back those, the first
 * first, that need not go. False: it does not fit, and nobody goes. *may: its quota is not what
 * was in the way. */
static bool make_room(struct engine *e, struct view *then, const bool *won, int job,
                      struct place *at, bool *may)
{
    struct view tried = *then;
    int off[SECOND_JOBS], n = 0;
    bool fits = false;
    for (int last = -1; !fits && (last = last_behind(e, &tried, won, job, last)) >= 0;) {
        second_drop(&tried, last);
        off[n++] = last;
        fits = fits_in(e, &tried, job, at);
    }
    *may = second_may(e, &tried, job);
    if (!fits) return false;
    for (int k = n; k-- > 0;) {
        second_put(&tried, off[k], &e->life[off[k]].at);
        if (!fits_in(e, &tried, job, at)) second_drop(&tried, off[k]);
    }
    *then = tried;
    for (int k = 0; k < n; k++) {
        bool there = false;
        for (int i = 0; i < then->n; i++) there |= then->job[i] == off[k];
        e->life[off[k]].evicted = !there;
        if (there) continue;
        e->life[off[k]].rank = rank_once_stopped(e, off[k]);
        second_be(e, off[k], 0); /* it waits as its smallest size */
    }
    return second_find(e, then, NULL, job, e->like, at);
}

static bool stays(struct engine *e, struct view *then, int job)
{
    struct life *l = &e->life[job];
    if (!l->evicted || e->plan->share->instances) return false;
    second_be(e, job, l->held_size);
    if (!second_holds(e, then, job, &l->at) || !second_may(e, then, job)) {
        second_be(e, job, 0);
        return false;
    }
    l->evicted = false;
    l->rank = second_rank(e, job);
    second_put(then, job, &l->at);
    return true;
}

void second_preempt(struct engine *e)
{
    struct view then = e->now;
    struct {
        int job, size;
        struct place at;
    } start[SECOND_JOBS];
    struct carved was[SECOND_CARDS];
    bool won[SECOND_JOBS] = { false };
    int n = 0;
    memcpy(was, e->carved, sizeof was);
    second_walk(e);
    for (int k = 0; k < e->now.n; k++) e->life[e->now.job[k]].rank = second_rank(e, e->now.job[k]);
    for (int job = -1; (job = second_next(e, job)) >= 0;) {
        struct place at;
        bool may;
        const struct life *l = &e->life[job];
        if (stays(e, &then, job) || e->left[e->life[job].job->user]) continue;
        const bool fits =
            l->n_sizes ? second_find_size(e, &then, job, false, &at) : fits_in(e, &then, job, &at);
        if (fits || make_room(e, &then, won, job, &at, &may)) {
            second_put(&then, job, &at);
            second_carve(e, &at); /* those who come behind find the instances so */
            won[job] = true;
            start[n].job = job;
            start[n].size = l->at_size;
            start[n++].at = at;
        } else if (!may) { /* it holds up its account, and nobody else */
            second_leave(e, job);
        } else if (e->plan->backfill == BACKFILL_NONE) {
            break;
        }
    }
    for (int job = -1; (job = second_next(e, job)) >= 0;)
        if (!won[job]) stays(e, &then, job);
    memcpy(e->carved, was, sizeof was);
    int off[SECOND_JOBS], gone = 0;
    for (int job = -1; (job = second_next(e, job)) >= 0;)
        if (e->life[job].evicted) off[gone++] = job;
    for (int k = 0; k < gone; k++) {
        e->life[off[k]].evicted = false;
        second_be(e, off[k], e->life[off[k]].held_size);
        second_stop(e, off[k]);
    }
    for (int k = 0; k < n; k++) {
        second_be(e, start[k].job, start[k].size);
        second_start(e, start[k].job, &start[k].at);
    }
}
