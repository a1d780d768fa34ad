/* policy/order_fifo.c - first come, first served. */
#include "engine/order.h"

static int64_t rank(const struct order_view *v, const struct job *j)
{
    (void)v;
    return j->row.submit;
}

const struct order_ops order_fifo = {
    .name = "fifo",
    .help = "first come, first served",
    .rank = rank,
};
