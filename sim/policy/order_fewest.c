/* policy/order_fewest.c - the job that needs the fewest GPUs first, with preemption (Tiresias, NSDI
 * 2019, calls it smallest first). */
#include "engine/order.h"

static int64_t rank(const struct order_view *v, const struct job *j)
{
    (void)v;
    return j->row.gpus_milli;
}

const struct order_ops order_fewest = {
    .name = "fewest",
    .help = "fewest GPUs first, preemptive",
    .rank = rank,
    .preempts = true,
};
