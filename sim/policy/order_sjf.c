/* policy/order_sjf.c - shortest job first, by what the scheduler is told: the limit. A job without
 * a limit promises nothing and goes last. */
#include "engine/order.h"

static int64_t rank(const struct order_view *v, const struct job *j)
{
    (void)v;
    return j->row.walltime == JOB_NO_TIME ? INT64_MAX : j->row.walltime;
}

const struct order_ops order_sjf = {
    .name = "sjf",
    .help = "shortest limit first; jobs without a limit last",
    .rank = rank,
};
