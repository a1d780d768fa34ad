/* policy/serve_dynamic.c - dynamic batching as inference servers do it: a free replica takes
 * what waits, at most `max`; while fewer than `preferred` wait it holds back until the oldest
 * has waited `delay`. */
#include "engine/serve.h"
#include "policy/batch.h"

struct dynamic {
    int64_t max, preferred;
    simtime delay;
    struct batch_curve curve;
};

static const struct cfg_field fields[] = {
    CFG_FIELD(struct dynamic, max, CFG_INT, "8", 1, 1e6, "largest batch"),
    CFG_FIELD(struct dynamic, preferred, CFG_INT, NULL, 1, 1e6,
              "batch that is worth beginning at once; default max"),
    CFG_FIELD(struct dynamic, delay, CFG_TIME, "0 s", 0, 3600,
              "a smaller one begins when its oldest request has waited so long"),
    BATCH_CURVE_FIELDS(struct dynamic),
};

static const char *check(const void *params)
{
    const struct dynamic *p = params;
    return p->preferred != CFG_NO_INT && p->preferred > p->max
               ? "\"preferred\" is larger than \"max\""
               : NULL;
}

static uint64_t batch(const void *params, const struct serve_queue *q, simtime *again)
{
    const struct dynamic *p = params;
    const uint64_t enough = (uint64_t)(p->preferred == CFG_NO_INT ? p->max : p->preferred);
    const simtime due = p->delay < INT64_MAX - q->oldest ? q->oldest + p->delay : INT64_MAX - 1;
    if (q->n < enough && q->now < due && q->more) {
        *again = due;
        return 0;
    }
    return q->n < (uint64_t)p->max ? q->n : (uint64_t)p->max;
}

static double work_ns(const void *params, uint64_t n, double sum_ns, double largest_ns,
                      double reading)
{
    return batch_ns(&((const struct dynamic *)params)->curve, n, sum_ns, largest_ns, reading);
}

const struct serve_ops serve_dynamic = {
    .name = "dynamic",
    .help = "what waits goes together, up to a size; a small batch is held back for a while",
    .fields = fields,
    .fields_n = sizeof fields / sizeof *fields,
    .params_size = sizeof(struct dynamic),
    .check = check,
    .batch = batch,
    .work_ns = work_ns,
};
