/* policy/serve_single.c - one request at a time, in order of arrival. */
#include "engine/serve.h"

struct single {
    char none;
};

/* NOLINTNEXTLINE(readability-non-const-parameter): as serve_ops has it */
static uint64_t batch(const void *params, const struct serve_queue *q, simtime *again)
{
    (void)params, (void)q, (void)again;
    return 1;
}

static double work_ns(const void *params, uint64_t n, double sum_ns, double largest_ns,
                      double reading)
{
    (void)params, (void)n, (void)largest_ns, (void)reading;
    return sum_ns;
}

const struct serve_ops serve_single = {
    .name = "single",
    .help = "one request at a time",
    .params_size = sizeof(struct single),
    .batch = batch,
    .work_ns = work_ns,
};
