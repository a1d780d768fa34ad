/* policy/order_drf.c - dominant resource fairness (Ghodsi et al., NSDI 2011): the next turn has the
 * account whose dominant share, the largest of its shares of the fleet's GPUs, CPU cores and host
 * memory, is the smallest for its weight. Cores and memory count where all nodes have a stated
 * number of them. Within an account and between equals: first come, first served. With backfill
 * none the cards wait for whoever has the turn, as in the paper; greedy gives them to the next who
 * fits. */
#include "engine/order.h"

#include <math.h>

static int64_t rank(const struct order_view *v, const struct job *j)
{
    (void)v;
    return j->row.submit;
}

static double share(double used, double all)
{
    return all > 0 ? used / all : 0;
}

static double account_rank(const struct order_view *v, const struct account *a)
{
    const double gpus = share((double)a->gpus_milli / 1000, v->gpus);
    const double cpus = share((double)a->cpus_milli / 1000, v->cpus);
    return fmax(fmax(gpus, cpus), share(a->host_bytes, v->host_bytes)) / a->weight;
}

const struct order_ops order_drf = {
    .name = "drf",
    .help = "the group (or user) with the smallest dominant share of GPUs, cores and memory first",
    .rank = rank,
    .account_rank = account_rank,
};
