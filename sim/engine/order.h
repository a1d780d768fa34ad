/* engine/order.h - who is next: the contract between the scheduler and an ordering policy. One file
 * sim/policy/order_X.c defines `const struct order_ops order_X`. */
#ifndef GPUSIM_ENGINE_ORDER_H
#define GPUSIM_ENGINE_ORDER_H

#include "engine/job.h"

struct order_ops {
    const char *name, *help;
    /* Smaller goes first; equal ranks in order of submission. Asked once, when the job begins to
     * wait. */
    int64_t (*rank)(const struct job *j);
};

extern const struct order_ops *const order_all[]; /* NULL-terminated, sorted by name */

#endif
