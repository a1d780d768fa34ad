/* policy/order_las.c - least attained service in two queues (discretised 2D-LAS: Gu et al.,
 * Tiresias, NSDI 2019). A job begins in the first queue and falls into the second once it has held
 * GPUs for `threshold` GPU-time. Within a queue jobs go in the order of their first start, those
 * that never started behind them in the order of submission: a queue alone is first come, first
 * served, and only a job of the first queue takes the place of one of the second. It knows nothing
 * of durations. */
#include "engine/order.h"

struct las {
    simtime threshold;
};
static const struct cfg_field fields[] = {
    CFG_FIELD(struct las, threshold, CFG_TIME, "1 h", 0, SIM_MAX_S,
              "GPU-time after which a job falls into the second queue"),
};

static bool has_fallen(const struct las *p, const struct order_view *v, const struct job *j)
{
    return job_card_us(j, job_held(j, v->now)) >= p->threshold / 1000;
}

static int64_t rank(const struct order_view *v, const struct job *j)
{
    const int64_t never = INT64_MAX / 2;
    const bool started = j->start != JOB_NO_TIME;
    return (has_fallen(v->params, v, j) ? never + 1 : 0) + (started ? j->start / 2 : never);
}

/* The first instant at which it has fallen: service counts in whole ms of time. */
static simtime next_change(const struct order_view *v, const struct job *j)
{
    const struct las *p = v->params;
    if (has_fallen(p, v, j) || j->row.gpus_milli == 0) return SIM_NEVER;
    const int64_t us = p->threshold / 1000, milli = j->row.gpus_milli;
    const simtime wait = (us / milli + (us % milli != 0)) * 1000000 - job_held(j, v->now);
    return wait < SIM_NEVER - v->now ? v->now + wait : SIM_NEVER;
}

const struct order_ops order_las = {
    .name = "las",
    .help = "least attained GPU-time in two queues, preemptive (Tiresias)",
    .rank = rank,
    .preempts = true,
    .fields = fields,
    .fields_n = sizeof fields / sizeof *fields,
    .params_size = sizeof(struct las),
    .next_change = next_change,
};
