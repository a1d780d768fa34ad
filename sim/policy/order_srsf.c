/* policy/order_srsf.c - shortest remaining service first (GPUs x time), with preemption; an oracle
 * like srtf. Equal service: the job that needs fewer GPUs first. That is also the order two running
 * jobs had before they met, because the wider one's remaining service falls faster. */
#include "engine/order.h"

static int64_t rank(const struct order_view *v, const struct job *j)
{
    enum { WIDTHS = 1 << 16 };
    int64_t key;
    const int64_t ms = job_card_us(j, job_remaining(j, v->now)) / 1000;
    const int64_t width = j->row.gpus_milli / 1000 < WIDTHS ? j->row.gpus_milli / 1000 : WIDTHS - 1;
    return __builtin_mul_overflow(ms, WIDTHS, &key) ? INT64_MAX : key + width;
}

const struct order_ops order_srsf = {
    .name = "srsf",
    .help = "least remaining GPU-time first, preemptive; an oracle: it knows the durations",
    .rank = rank,
    .preempts = true,
};
