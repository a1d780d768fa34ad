/* policy/order_srtf.c - shortest remaining time first, with preemption. It knows the true duration
 * of every job, which no scheduler does: a bound to measure others by. */
#include "engine/order.h"

static int64_t rank(const struct order_view *v, const struct job *j)
{
    return job_remaining(j, v->now);
}

const struct order_ops order_srtf = {
    .name = "srtf",
    .help = "least remaining time first, preemptive; an oracle: it knows the durations",
    .rank = rank,
    .preempts = true,
};
