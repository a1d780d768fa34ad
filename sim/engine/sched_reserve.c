/* Conservative backfill: every waiting job, in queue order and up to the plan's depth, gets the
 * earliest time at which the cards it asks for are free for as long as its limit says, given the
 * running jobs' limits and the reservations before it. Who gets "now" starts.
 *
 * The reservations are made anew at every instant. They count free capacity by group and time, not
 * places: where a gang must sit on one node or fractions leave crumbs, a promised job may find no
 * place at its time, and is promised the next one. A job without a limit holds its cards for ever;
 * once a job can be promised nothing, nobody behind it may overtake.
 *
 * Complexity: one pass costs depth x (running jobs + depth), and nothing when no card has room. */
#include "engine/sched_inside.h"

#include "base/err.h"

#include <stdlib.h>

/* From `at` on, until the next step, so much is free. */
struct step {
    simtime at;
    int64_t free;
};
struct line {
    VEC(struct step) step;
};
struct profile {
    struct line *group;
    size_t n_groups;
};

static int64_t units_of(const struct job *j, int group)
{
    const struct demand *d = &j->shape->fit[group].demand;
    return (int64_t)d->cards * d->units;
}

/* Of what a running job holds, what will be of use to others: cards out of service are not. */
static int64_t units_back(const struct sched *s, const struct job *j)
{
    const int32_t units = j->shape->fit[j->group].demand.units;
    int64_t n = 0;
    for (int32_t i = 0; i < j->n_holdings; i++)
        if (!cluster_card(s->cluster, j->holding[i].card)->out) n += units;
    return n;
}

static simtime after(simtime t, simtime length)
{
    return length == JOB_NO_TIME || length >= SIM_NEVER - t ? SIM_NEVER : t + length;
}

/* What the running jobs leave, and give back. They come in the order of their ends. */
static void draw(struct sched *s, struct profile *p)
{
    const simtime now = s->view.now;
    struct job *j;
    for (size_t g = 0; g < p->n_groups; g++) {
        const struct plan_group *pg = &s->plan->group[g];
        p->group[g].step.n = 0;
        vec_push(&p->group[g].step, ((struct step){ now, (pg->cards - cluster_cards_out(s->cluster, g)) *
                                                          pg->capacity }));
    }
    RB_FOREACH(j, releases, &s->running) p->group[j->group].step.v[0].free -= units_back(s, j);
    RB_FOREACH(j, releases, &s->running)
    {
        struct line *l = &p->group[j->group];
        /* Who overran its limit ends at any moment, but not now. */
        const simtime end = j->limit_end > now ? j->limit_end : now + 1;
        if (j->limit_end == SIM_NEVER) break;
        const struct step last = l->step.v[l->step.n - 1];
        if (last.at == end)
            l->step.v[l->step.n - 1].free += units_back(s, j);
        else
            vec_push(&l->step, ((struct step){ end, last.free + units_back(s, j) }));
    }
}

/* The earliest time from `from` on with `units` free for `length`; SIM_NEVER: none. */
static simtime earliest(const struct line *l, int64_t units, simtime length, simtime from)
{
    simtime candidate = from;
    for (size_t i = 0; i < l->step.n; i++) {
        const simtime begins = l->step.v[i].at;
        const simtime ends = i + 1 < l->step.n ? l->step.v[i + 1].at : SIM_NEVER;
        if (ends <= candidate) continue;
        if (begins >= after(candidate, length)) return candidate;
        if (l->step.v[i].free < units) candidate = ends;
    }
    return candidate;
}

static size_t split(struct line *l, simtime at)
{
    size_t i = l->step.n;
    while (i > 0 && l->step.v[i - 1].at > at) i--;
    if (l->step.v[i - 1].at == at) return i - 1;
    vec_push(&l->step, l->step.v[i - 1]);
    for (size_t k = l->step.n - 1; k > i; k--) l->step.v[k] = l->step.v[k - 1];
    l->step.v[i] = (struct step){ at, l->step.v[i - 1].free };
    return i;
}

static void hold(struct line *l, int64_t units, simtime from, simtime until)
{
    size_t i = split(l, from);
    const size_t end = until == SIM_NEVER ? l->step.n : split(l, until);
    for (; i < end; i++) l->step.v[i].free -= units;
}

/* The best promise for the job from `from` on; the groups that can keep it are s->allowed. */
static simtime promise(struct sched *s, const struct profile *p, const struct job *j, simtime from,
                       int *group)
{
    simtime best = SIM_NEVER;
    for (size_t g = 0; g < p->n_groups; g++) {
        s->allowed[g] = false;
        if (!j->shape->fit[g].feasible) continue;
        const simtime at = earliest(&p->group[g], units_of(j, (int)g), j->row.walltime, from);
        s->allowed[g] = at == from;
        if (at >= best) continue;
        best = at;
        *group = (int)g;
    }
    return best;
}

/* When the next running job ends by its limit: after `now`, also for one that overran it. */
static simtime first_end(struct sched *s)
{
    const struct job *j = RB_MIN(releases, &s->running);
    if (!j) return SIM_NEVER;
    return j->limit_end > s->view.now ? j->limit_end : s->view.now + 1;
}

static bool is_short(const struct sched *s)
{
    int64_t out = 0;
    for (size_t g = 0; g < s->plan->n_groups; g++) out += cluster_cards_out(s->cluster, g);
    return out > 0;
}

static bool any_room(const struct profile *p)
{
    for (size_t g = 0; g < p->n_groups; g++)
        if (p->group[g].step.v[0].free > 0) return true;
    return false;
}

void sched_reserve(struct sched *s)
{
    const simtime now = s->view.now;
    uint64_t looked = 0;
    struct job *j;
    if (!s->profile) {
        s->profile = xcalloc(1, sizeof *s->profile);
        s->profile->n_groups = s->plan->n_groups;
        s->profile->group = xcalloc(s->plan->n_groups, sizeof *s->profile->group);
    }
    struct profile *p = s->profile;
    draw(s, p);
    if (!any_room(p)) return;
    waitlist_walk(&s->queue);
    for (; looked < s->plan->backfill_depth && (j = waitlist_step(&s->queue)); looked++) {
        int group = 0;
        if (!sched_may(s, j)) {
            waitlist_leave(&s->queue);
            continue;
        }
        simtime at = promise(s, p, j, now, &group);
        if (at == now && sched_place(s, s->cluster, j, s->allowed, &group, &s->pick)) {
            const simtime length = j->row.walltime;
            hold(&p->group[group], units_of(j, group), now,
                 length == JOB_NO_TIME ? SIM_NEVER : after(after(now, s->pick.prepare), length));
            sched_start_at(s, j, group);
            continue;
        }
        if (at == now)
            at = first_end(s) < SIM_NEVER ? promise(s, p, j, first_end(s), &group) : SIM_NEVER;
        if (at == SIM_NEVER && is_short(s)) continue; /* it waits for cards to come back */
        if (at == SIM_NEVER) return;
        hold(&p->group[group], units_of(j, group), at, after(at, j->row.walltime));
    }
}

void sched_reserve_fini(struct sched *s)
{
    if (!s->profile) return;
    for (size_t g = 0; g < s->profile->n_groups; g++) vec_fini(&s->profile->group[g].step);
    free(s->profile->group);
    free(s->profile);
}
