/* policy/order_fair.c - fair share as Slurm's: groups that used fewer GPUs lately go first, without
 * preemption. Usage is GPU-time that fades with a half-life; equal shares for all groups. A job
 * without a group counts for its user. */
#include "base/vec.h"
#include "engine/order.h"

#include <math.h>
#include <stdlib.h>

struct fair {
    simtime half_life, recalculate;
};
static const struct cfg_field fields[] = {
    CFG_FIELD(struct fair, half_life, CFG_TIME, "7 d", 1, SIM_MAX_S,
              "usage of a group fades by half"),
    CFG_FIELD(struct fair, recalculate, CFG_TIME, "5 min", 0, SIM_MAX_S,
              "ranks of waiting jobs are made anew at most this often"),
};

struct account {
    double used; /* faded GPU-seconds, as of `at` */
    double gpus; /* in use since */
    simtime at;
};
struct accounts {
    VEC(struct account) of; /* by symbol of the group or user */
};

static sym account_of(const struct job *j)
{
    return j->row.group ? j->row.group : j->row.user;
}

/* d used / dt = gpus - used ln 2 / half-life. */
static double used_at(const struct fair *p, const struct account *a, simtime now)
{
    const double tau_s = simtime_s(p->half_life) / log(2.0);
    const double left = exp(-simtime_s(now - a->at) / tau_s);
    return a->used * left + a->gpus * tau_s * (1 - left);
}

static int64_t rank(const struct order_view *v, const struct job *j)
{
    const struct accounts *all = v->state;
    const sym a = account_of(j);
    if (!all || a >= all->of.n) return 0;
    return llround(fmin(used_at(v->params, &all->of.v[a], v->now) * 1e3, 9e18));
}

static void moved(const struct order_view *v, const struct job *j, bool starts)
{
    struct accounts *all = v->state;
    const sym a = account_of(j);
    while (all->of.n <= a) vec_push(&all->of, (struct account){ 0 });
    struct account *x = &all->of.v[a];
    x->used = used_at(v->params, x, v->now);
    x->at = v->now;
    x->gpus += (starts ? 1 : -1) * (j->row.gpus_milli / 1000.0);
}

static void *create(void)
{
    return xcalloc(1, sizeof(struct accounts));
}

static void destroy(void *state)
{
    struct accounts *all = state;
    if (all) vec_fini(&all->of);
    free(all);
}

static simtime period(const void *params)
{
    return ((const struct fair *)params)->recalculate;
}

const struct order_ops order_fair = {
    .name = "fair",
    .help = "the group (or user) that used least lately first; usage fades; not preemptive",
    .rank = rank,
    .fields = fields,
    .fields_n = sizeof fields / sizeof *fields,
    .params_size = sizeof(struct fair),
    .period = period,
    .create = create,
    .destroy = destroy,
    .moved = moved,
};
