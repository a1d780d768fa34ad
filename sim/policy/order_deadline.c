/* policy/order_deadline.c - earliest deadline first; a job without one goes last. */
#include "engine/order.h"

static int64_t rank(const struct order_view *v, const struct job *j)
{
    (void)v;
    return j->row.deadline == JOB_NO_TIME ? INT64_MAX : j->row.deadline;
}

const struct order_ops order_deadline = {
    .name = "deadline",
    .help = "earliest deadline first; jobs without one last; no admission control",
    .rank = rank,
};
