/* Who is next, of the second engine: ranks of jobs as the heads of order_X.c say, and whose turn it
 * is. */
#include "support/second_inside.h"

#include "support/support.h"

#include <math.h>
#include <string.h>

static bool is(const struct engine *e, const char *name)
{
    return strcmp(e->plan->order->name, name) == 0;
}

/* The largest of the user's shares of the fleet: of its GPUs, and of its cores if every node states
 * them. */
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
    if (!is(e, "fair")) return;
    if (e->n_stretches == SECOND_STAYS) fail_msg("more stays than the second engine remembers");
    e->stretch[e->n_stretches++] =
        (struct stretch){ l->job->user, l->job->gpus_milli, l->allocated, e->clock };
}

/* GPU-time it has had, in thousandths of a GPU times whole ms. */
static int64_t service(const struct life *l, simtime clock)
{
    const simtime held = l->held + (l->on ? clock - l->allocated : 0);
    return held / 1000000 * l->asked_milli;
}

static bool has_fallen(const struct engine *e, int job)
{
    const simtime *params = e->plan->order_params; /* threshold */
    return service(&e->life[job], e->clock) >= params[0] / 1000;
}

simtime second_falls(const struct engine *e, int job)
{
    const struct life *l = &e->life[job];
    const simtime *params = e->plan->order_params;
    if (!is(e, "las") || !e->plan->preempts || l->asked_milli == 0) return SIM_NEVER;
    simtime ms = params[0] / 1000 / l->asked_milli; /* of time on its cards, all together */
    while (ms * l->asked_milli < params[0] / 1000) ms++;
    const simtime at = l->allocated + ms * 1000000 - l->held;
    return at > l->allocated ? at : SIM_NEVER;
}

int64_t second_rank(const struct engine *e, int job)
{
    const struct life *l = &e->life[job];
    const struct second_job *j = l->job;
    simtime left, safe;
    second_progress(e, job, &left, &safe);
    if (is(e, "sjf")) return j->limit == JOB_NO_TIME ? INT64_MAX : j->limit;
    if (is(e, "deadline")) return j->deadline == JOB_NO_TIME ? INT64_MAX : j->deadline;
    if (is(e, "fewest")) return l->asked_milli;
    if (is(e, "srtf")) return left;
    if (is(e, "srsf")) /* GPU-milliseconds, then width */
        return left / 1000000 * l->asked_milli / 1000 * 65536 + l->asked_milli / 1000;
    if (is(e, "priority")) return -(int64_t)j->priority;
    if (is(e, "las")) /* by the first start; who never started goes behind */
        return (has_fallen(e, job) ? INT64_MAX / 2 : 0) +
               (j->start != JOB_NO_TIME ? j->start : INT64_MAX / 4);
    return j->submit;
}

void second_enqueue(struct engine *e, int job)
{
    struct life *l = &e->life[job];
    second_be(e, job, 0); /* it waits as its smallest size */
    l->rank = second_rank(e, job);
    if (is(e, "fair") && !waits(e, l->job->user)) e->turn[l->job->user] = used(e, l->job->user);
    l->waiting = true;
}

/* The next job of its account would borrow: where that is taken back it lets the others go
 * first. */
static bool next_borrows(const struct engine *e, int32_t user)
{
    int first = -1;
    for (int j = 0; j < e->n; j++)
        if (e->life[j].waiting && e->life[j].job->user == user &&
            (first < 0 || e->life[j].rank < e->life[first].rank))
            first = j;
    return first >= 0 && second_borrows(e, &e->now, user, e->life[first].job->gpus_milli);
}

static bool before(const struct engine *e, int a, int b)
{
    const int32_t u = e->life[a].job->user, w = e->life[b].job->user;
    if (e->plan->reclaims && next_borrows(e, u) != next_borrows(e, w)) return next_borrows(e, w);
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
        if ((e->life[j].waiting || e->life[j].evicted) && (after < 0 || before(e, after, j)) &&
            (best < 0 || before(e, j, best)))
            best = j;
    return best;
}

void second_walk(struct engine *e)
{
    memset(e->seen, 0, sizeof e->seen);
    memset(e->left, 0, sizeof e->left);
}

int second_step(struct engine *e)
{
    int best = -1;
    for (int j = 0; j < e->n; j++)
        if (e->life[j].waiting && !e->seen[j] && !e->left[e->life[j].job->user] &&
            (best < 0 || before(e, j, best)))
            best = j;
    if (best >= 0) e->seen[best] = true;
    return best;
}

void second_leave(struct engine *e, int job)
{
    e->left[e->life[job].job->user] = true;
}

int second_head(struct engine *e)
{
    int job;
    second_walk(e);
    while ((job = second_step(e)) >= 0 && !second_may(e, &e->now, job)) second_leave(e, job);
    return job;
}
