/* Fragmentation gradient descent, of the second engine: from the head of policy/place_fgd.c, the
 * classes of the mix gathered from all jobs anew and a node's fragments before and after counted
 * for each score. */
#include "support/second_inside.h"

#include "support/support.h"

#include <math.h>
#include <string.h>

/* A node: what is free. */
struct free {
    int n, units[SECOND_CARDS];
    double cores;
};

static double cores_of(const struct engine *e, int job)
{
    const int32_t milli = e->life[job].job->cpus_milli;
    return milli == JOB_NO_INT ? 0 : milli;
}

static double asked_cores(const struct engine *e, int job)
{
    const int32_t milli = e->life[job].asked_cpus;
    return milli == JOB_NO_INT ? 0 : milli;
}

/* CPU cores, number of cards, units on each. */
static bool alike(const struct engine *e, int a, int b)
{
    for (size_t g = 0; g < e->plan->n_groups; g++) {
        const struct wish *x = &e->life[a].asked[g], *y = &e->life[b].asked[g];
        if (x->possible != y->possible) return false;
        if (x->possible && (x->demand.cards != y->demand.cards ||
                            (x->demand.cards > 0 && x->demand.units != y->demand.units)))
            return false;
    }
    return asked_cores(e, a) == asked_cores(e, b);
}

/* The most frequent classes that cover 95 % of the jobs that were learned; of equal ones the first
 * seen. */
static int mix(const struct engine *e, struct alike *out)
{
    struct alike all[SECOND_JOBS];
    int n = 0, kept = 0, covered = 0;
    for (int i = 0; i < e->learned; i++) {
        int k = 0;
        while (k < n && !alike(e, all[k].job, e->submitted[i])) k++;
        if (k == n) all[n++] = (struct alike){ e->submitted[i], 0 };
        all[k].jobs++;
    }
    while (covered * 100 < e->learned * 95) {
        int most = 0;
        for (int k = 1; k < n; k++)
            if (all[k].jobs > all[most].jobs) most = k;
        covered += all[most].jobs;
        out[kept++] = all[most];
        all[most].jobs = 0;
    }
    return kept;
}

void second_fgd_submitted(struct engine *e, int job)
{
    e->submitted[e->n_submitted++] = job;
    if (e->n_submitted < 2 * e->learned) return;
    e->learned = e->n_submitted;
    e->n_mix = mix(e, e->mix);
}

/* Units x jobs that are of no use, over the mix. */
static int64_t fragments(const struct engine *e, const struct alike *k, int n, int group,
                         const struct free *f)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        const struct wish *w = &e->life[k[i].job].asked[group];
        const int need = w->possible && w->demand.cards > 0 ? w->demand.units : 0;
        int64_t idle = 0, small = 0;
        int fit = 0;
        for (int c = 0; c < f->n; c++) {
            idle += f->units[c];
            if (f->units[c] < need)
                small += f->units[c];
            else
                fit++;
        }
        const bool fits =
            need > 0 && fit >= w->demand.cards && asked_cores(e, k[i].job) <= f->cores;
        sum += (fits ? small : idle) * k[i].jobs;
    }
    return sum;
}

double second_fgd(const struct engine *e, const struct view *v, int job, int group, int node,
                  int *card)
{
    const struct plan_group *g = &e->plan->group[group];
    const struct demand *d = second_demand_of(e, job, group);
    const int first = (int)(g->first_card + (node - g->first_node) * g->per_node);
    const struct alike *k = e->mix;
    const int n = e->n_mix;
    double jobs = 0, best = -1;
    for (int i = 0; i < n; i++) jobs += k[i].jobs;
    struct free was = { .n = (int)g->per_node, .cores = INFINITY };
    if (g->node_cpus_milli != INT64_MAX)
        was.cores = second_free_cores(e, v, node, g->node_cpus_milli);
    for (int i = 0; i < was.n; i++)
        was.units[i] = second_card_out(e, v, first + i) ? 0 : second_room_on(e, v, first + i).units;
    for (int from = 0; from < was.n;
         from++) { /* one card: each in turn; else the first that hold it */
        struct free is = was;
        int taken = 0;
        if (d->cards == 1 && !second_card_holds(e, v, job, group, first + from)) continue;
        for (int i = from; i < was.n && taken < d->cards; i++) {
            if (!second_card_holds(e, v, job, group, first + i)) continue;
            is.units[i] -= d->units;
            taken++;
        }
        is.cores -= cores_of(e, job);
        const double less =
            (double)(fragments(e, k, n, group, &was) - fragments(e, k, n, group, &is));
        const double x = trunc(100 / (1 + exp(-(less / jobs / g->capacity))));
        if (x > best) {
            best = x;
            *card = from;
        }
        if (d->cards != 1) break;
    }
    return best;
}
