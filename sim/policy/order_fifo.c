/* policy/order_fifo.c - first come, first served. */
#include "engine/order.h"

static int compare(const struct job *a, const struct job *b)
{
    return (a->row.submit > b->row.submit) - (a->row.submit < b->row.submit);
}

const struct order_ops order_fifo = {
    .name = "fifo",
    .help = "first come, first served",
    .compare = compare,
};
