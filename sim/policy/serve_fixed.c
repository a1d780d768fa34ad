/* policy/serve_fixed.c - batches of one size: a replica waits until so many are there. What is left
 * at the end, when no more will come, goes as a smaller batch. */
#include "engine/serve.h"
#include "policy/batch.h"

struct fixed {
    int64_t size;
    struct batch_curve curve;
};

static const struct cfg_field fields[] = {
    CFG_FIELD(struct fixed, size, CFG_INT, "8", 1, 1e6, "requests of a batch"),
    BATCH_CURVE_FIELDS(struct fixed),
};

/* NOLINTNEXTLINE(readability-non-const-parameter): as serve_ops has it */
static uint64_t batch(const void *params, const struct serve_queue *q, simtime *again)
{
    const struct fixed *p = params;
    (void)again;
    if (q->n < (uint64_t)p->size && q->more) return 0;
    return (uint64_t)p->size;
}

static double work_ns(const void *params, uint64_t n, double sum_ns, double largest_ns,
                      double reading)
{
    return batch_ns(&((const struct fixed *)params)->curve, n, sum_ns, largest_ns, reading);
}

const struct serve_ops serve_fixed = {
    .name = "fixed",
    .help = "batches of one size, however long that takes to come together",
    .fields = fields,
    .fields_n = sizeof fields / sizeof *fields,
    .params_size = sizeof(struct fixed),
    .batch = batch,
    .work_ns = work_ns,
};
