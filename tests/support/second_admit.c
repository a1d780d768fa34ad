/* Admission by deadline, of the second engine: a plan of claims on the units of each group, from
 * the head of engine/sched_reserve.c. What is free is counted from all claims at every time at
 * which one begins or ends. */
#include "support/second_inside.h"

#include "support/support.h"

#include <string.h>

struct claim {
    int group;
    int64_t units;
    simtime from, until;
};

struct planned {
    const struct engine *e;
    struct claim claim[2 * SECOND_JOBS];
    int n;
};

static simtime estimate(const struct engine *e, int job)
{
    const struct second_job *j = e->life[job].job;
    return j->limit != JOB_NO_TIME ? j->limit : j->duration;
}

static int64_t units_of(const struct engine *e, int job, int group)
{
    const struct demand *d = second_demand_of(e, job, group);
    return (int64_t)d->cards * d->units;
}

/* Of what a running job has, that which will be of use to others. */
static int64_t units_back(const struct engine *e, int job)
{
    const struct place *at = &e->life[job].at;
    int64_t units = 0;
    for (int i = 0; i < at->n; i++)
        if (second_card_back(e, at->card[i]) < 0)
            units += second_demand_of(e, job, at->group)->units;
    return units;
}

static bool has_room(const struct planned *p, int group, int64_t units, simtime t)
{
    const struct plan_group *g = &p->e->plan->group[group];
    int64_t free = 0;
    for (int64_t c = g->first_card; c < g->first_card + g->cards; c++)
        if (second_card_back(p->e, (int)c) < 0) free += g->capacity; /* no repair is foreseen */
    for (int i = 0; i < p->n; i++)
        if (p->claim[i].group == group && p->claim[i].from <= t && p->claim[i].until > t)
            free -= p->claim[i].units;
    return free >= units;
}

static bool has_room_during(const struct planned *p, int group, int64_t units, simtime from,
                            simtime until)
{
    bool room = has_room(p, group, units, from);
    for (int i = 0; i < p->n; i++)
        if (p->claim[i].from > from && p->claim[i].from < until)
            room &= has_room(p, group, units, p->claim[i].from);
    return room;
}

/* The earliest time from `from` on: that, or an end of a claim. */
static simtime earliest(const struct planned *p, int group, int64_t units, simtime length,
                        simtime from)
{
    simtime best = SIM_NEVER;
    if (has_room_during(p, group, units, from, from + length)) return from;
    for (int i = 0; i < p->n; i++) {
        const simtime t = p->claim[i].until;
        if (t > from && t < best && has_room_during(p, group, units, t, t + length)) best = t;
    }
    return best;
}

/* Its turn in the plan; false: it is late. */
static bool in_time(struct planned *p, int job, simtime *from)
{
    const struct engine *e = p->e;
    const struct life *l = &e->life[job];
    const simtime all = estimate(e, job), left = all > l->held ? all - l->held : 1;
    simtime best = SIM_NEVER;
    int group = 0;
    for (int g = 0; g < (int)e->plan->n_groups; g++) {
        if (!l->wish[g].possible) continue;
        const simtime t = earliest(p, g, units_of(e, job, g), left, *from);
        if (t >= best) continue;
        best = t;
        group = g;
    }
    if (best == SIM_NEVER) return false;
    p->claim[p->n++] = (struct claim){ group, units_of(e, job, group), best, best + left };
    if (e->plan->backfill == BACKFILL_NONE) *from = best;
    return best + left <= l->job->deadline;
}

/* Of those who wait the next by deadline, then as they came; -1. */
static int next_turn(const struct engine *e, int after)
{
    int best = -1;
    for (int j = 0; j < e->n; j++) {
        const struct life *l = &e->life[j];
        const int64_t past = after < 0 ? 0 : e->life[after].rank;
        if (!l->waiting || (after >= 0 && (l->rank < past || (l->rank == past && j <= after))))
            continue;
        if (best < 0 || l->rank < e->life[best].rank) best = j;
    }
    return best;
}

bool second_admits(struct engine *e, int newcomer)
{
    struct planned p = { .e = e };
    struct life *l = &e->life[newcomer];
    simtime from = e->clock;
    bool admitted = true, met = false;
    if (strcmp(e->plan->order->name, "deadline") != 0 || l->job->deadline == JOB_NO_TIME)
        return true;
    const enum admission rule = e->plan->order->admission(e->plan->order_params);
    if (rule == ADMIT_ALL) return true;
    if (e->clock + estimate(e, newcomer) > l->job->deadline) return false;
    if (rule == ADMIT_ALONE) return true;
    for (int j = 0; j < e->n; j++) {
        const struct life *r = &e->life[j];
        if (!r->on) continue;
        const simtime end = r->allocated + estimate(e, j) - r->held;
        p.claim[p.n++] = (struct claim){ r->at.group, units_back(e, j), e->clock,
                                         end > e->clock ? end : e->clock + 1 };
    }
    l->rank = second_rank(e, newcomer);
    l->waiting = true; /* among the others */
    for (int j = next_turn(e, -1); j >= 0; j = next_turn(e, j)) {
        const struct life *w = &e->life[j];
        const simtime all = estimate(e, j), left = all > w->held ? all - w->held : 1;
        if (w->job->deadline == JOB_NO_TIME) continue;
        if (j == newcomer) met = true;
        if (in_time(&p, j, &from) || !met) continue;
        admitted &= e->clock + left > w->job->deadline; /* late whatever comes */
    }
    l->waiting = false;
    return admitted;
}
