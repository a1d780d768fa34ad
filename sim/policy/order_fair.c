/* policy/order_fair.c - fair share as Slurm's: accounts that used fewer GPUs lately, for their
 * weight, go first, without preemption. Usage is GPU-time that fades with a half-life (Slurm's
 * PriorityDecayHalfLife; its factor 2^(-usage/share) puts accounts into the same order as
 * usage/share does). Within an account and between equals: first come, first served. */
#include "engine/order.h"

#include <math.h>

struct fair {
    simtime half_life, recalculate;
};
static const struct cfg_field fields[] = {
    CFG_FIELD(struct fair, half_life, CFG_TIME, "7 d", 1, SIM_MAX_S,
              "usage of a group fades by half"),
    CFG_FIELD(struct fair, recalculate, CFG_TIME, "5 min", 0, SIM_MAX_S,
              "ranks of groups are made anew at most this often"),
};

/* d used / dt = gpus - used ln 2 / half-life, in GPU-seconds. */
static double used_at(const struct fair *p, const struct account *a, simtime now)
{
    const double tau_s = simtime_s(p->half_life) / log(2.0);
    const double left = exp(-simtime_s(now - a->faded_at) / tau_s);
    return a->faded * left + (double)a->gpus_milli / 1000.0 * tau_s * (1 - left);
}

static int64_t rank(const struct order_view *v, const struct job *j)
{
    (void)v;
    return j->row.submit;
}

/* In whole GPU-milliseconds, so that rounding does not decide between equals. */
static double account_rank(const struct order_view *v, const struct account *a)
{
    return rint(used_at(v->params, a, v->now) * 1e3 / a->weight);
}

static void moved(const struct order_view *v, struct account *a, const struct job *j, bool starts)
{
    (void)j, (void)starts;
    a->faded = used_at(v->params, a, v->now);
    a->faded_at = v->now;
}

static simtime period(const void *params)
{
    return ((const struct fair *)params)->recalculate;
}

const struct order_ops order_fair = {
    .name = "fair",
    .help = "the group (or user) that used least lately for its weight first; usage fades",
    .rank = rank,
    .fields = fields,
    .fields_n = sizeof fields / sizeof *fields,
    .params_size = sizeof(struct fair),
    .account_rank = account_rank,
    .period = period,
    .moved = moved,
};
