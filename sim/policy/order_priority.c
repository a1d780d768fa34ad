/* policy/order_priority.c - the highest number in the trace's priority column first; none is 0. */
#include "engine/order.h"

static int64_t rank(const struct order_view *v, const struct job *j)
{
    (void)v;
    return j->row.priority == JOB_NO_INT ? 0 : -(int64_t)j->row.priority;
}

const struct order_ops order_priority = {
    .name = "priority",
    .help = "highest priority first (trace column; none = 0), without preemption",
    .rank = rank,
};
