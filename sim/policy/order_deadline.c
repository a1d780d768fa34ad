/* policy/order_deadline.c - earliest deadline first, with admission: a job that cannot meet its
 * deadline is rejected when it comes, so that it takes no cards from those that can
 * (engine/sched_reserve.c says how that is judged, and what is promised). A job without a deadline
 * goes last and is always admitted. */
#include "engine/order.h"

static const char *const rules[] = { "none", "alone", "plan", NULL };
struct deadline {
    int admission;
};
static const struct cfg_field fields[] = {
    CFG_ONE_OF(struct deadline, admission, rules, "plan",
               "reject who cannot meet its deadline: none, alone (on an empty fleet), plan"),
};

static int64_t rank(const struct order_view *v, const struct job *j)
{
    (void)v;
    return j->row.deadline == JOB_NO_TIME ? INT64_MAX : j->row.deadline;
}

static enum admission admission(const void *params)
{
    return (enum admission)((const struct deadline *)params)->admission;
}

const struct order_ops order_deadline = {
    .name = "deadline",
    .help =
        "earliest deadline first; who cannot meet its deadline is rejected; jobs without one last",
    .rank = rank,
    .fields = fields,
    .fields_n = sizeof fields / sizeof *fields,
    .params_size = sizeof(struct deadline),
    .admission = admission,
};
