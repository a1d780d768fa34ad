/* Who is next, of the second engine: ranks of jobs as the heads of order_X.c say, and whose turn it is. */
#include "support/second_inside.h"

#include "support/support.h"

#include <math.h>
#include <string.h>

static bool is(const struct engine *e, const char *name)
{
    return strcmp(e->plan->order->name, name) == 0;
}

/* The largest of the user's shares of the fleet: of its GPUs, and of its cores if every node states them. */
static double dominant(const struct engine *e, int32_t user)
{
    double gpus = 0, cpus = 0, all_cpus = 0;
    bool stated = true;
    for (size_t g = 0; g < e->plan->n_groups; g++) {
        const struct plan_group *group = &e->plan->group[g];
        stated &= group->node_cpus_milli != INT64_MAX;
        if (stated) all_cpus += (double)group->node_cpus_milli * (double)group->nodes / 1000;
    }
    for (int j = 0; j < e->n; j++) {
        const struct second_job *job = e->life[j].job;
        if (!e->life[j].on || job->user != user) continue;
        gpus += job->gpus_milli;
        if (job->cpus_milli != JOB_NO_INT) cpus += job->cpus_milli;
    }
    gpus = gpus / 1000 / (double)e->plan->cards;
    return stated && all_cpus > 0 ? fmax(gpus, cpus / 1000 / all_cpus) : gpus;
}

/* The integral of GPUs x 2^-(age / half-life) over a stretch of time, in GPU-seconds. */
static double faded(double gpus, simtime from, simtime until, simtime now, double half_life_s)
{
    return gpus * half_life_s / log(2) *
           (exp2(-simtime_s(now - until) / half_life_s) -
            exp2(-simtime_s(now - from) / half_life_s));
}

/* What the user used lately for its weight, in whole GPU-milliseconds. */
static double used(const struct engine *e, int32_t user)
{
    const simtime *params = e->plan->order_params; /* half_life, recalculate */
    const double half_s = simtime_s(params[0]);
    double sum = 0, weight = 1;
    char name[16];
    snprintf(name, sizeof name, "u%d", (int)user);
    for (size_t i = 0; i < e->plan->accounts.n_weights; i++)
        if (strcmp(e->plan->accounts.weight[i].name, name) == 0)
            weight = e->plan->accounts.weight[i].weight;
    for (int i = 0; i < e->n_stretches; i++) {
        const struct stretch *s = &e->stretch[i];
        if (s->user == user)
            sum += faded(s->gpus_milli / 1000.0, s->from, s->until, e->clock, half_s);
    }
    for (int j = 0; j < e->n; j++) {
        const struct life *l = &e->life[j];
        if (l->on && l->job->user == user)
            sum += faded(l->job->gpus_milli / 1000.0, l->allocated, e->clock, e->clock, half_s);
    }
    return rint(sum * 1e3 / weight);
}

static bool waits(const struct engine *e, int32_t user)
{
    for (int j = 0; j < e->n; j++)
        if (e->life[j].waiting && e->life[j].job->user == user) return true;
    return false;
}

void second_look(struct engine *e)
{
    if (!is(e, "fair") || second_next(e, -1) < 0) return;
    const simtime *params = e->plan->order_params;
    if (e->clock - e->ranked < params[1]) return;
    e->ranked = e->clock;
    for (int32_t u = 0; u < SECOND_USERS; u++) e->turn[u] = used(e, u);
}

void second_held(struct engine *e, int job)
{
    const struct life *l = &e->life[job];
    e->stretch[e->n_stretches++] =
        (struct stretch){ l->job->user, l->job->gpus_milli, l->allocated, e->clock };
}

void second_enqueue(struct engine *e, int job)
{
    struct life *l = &e->life[job];
    const struct second_job *j = l->job;
    if (is(e, "sjf"))
        l->rank = j->limit == JOB_NO_TIME ? INT64_MAX : j->limit;
    else if (is(e, "deadline"))
        l->rank = j->deadline == JOB_NO_TIME ? INT64_MAX : j->deadline;
    else if (is(e, "fewest"))
        l->rank = j->gpus_milli;
    else if (is(e, "srtf"))
        l->rank = j->duration;
    else if (is(e, "srsf")) /* GPU-milliseconds, then width */
        l->rank = j->duration / 1000000 * j->gpus_milli / 1000 * 65536 + j->gpus_milli / 1000;
    else if (is(e, "priority"))
        l->rank = -(int64_t)j->priority;
    else
        l->rank = j->submit;
    if (is(e, "fair") && !waits(e, j->user)) e->turn[j->user] = used(e, j->user);
    l->waiting = true;
}

static bool before(const struct engine *e, int a, int b)
{
    const int32_t u = e->life[a].job->user, w = e->life[b].job->user;
    if (is(e, "drf")) {
        const double x = dominant(e, u), y = dominant(e, w);
        if (x != y) return x < y;
    }
    if (is(e, "fair") && e->turn[u] != e->turn[w]) return e->turn[u] < e->turn[w];
    return e->life[a].rank != e->life[b].rank ? e->life[a].rank < e->life[b].rank : a < b;
}

int second_next(const struct engine *e, int after)
{
    int best = -1;
    for (int j = 0; j < e->n; j++)
        if (e->life[j].waiting && (after < 0 || before(e, after, j)) &&
            (best < 0 || before(e, j, best)))
            best = j;
    return best;
}
