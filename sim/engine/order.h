/* engine/order.h - who is next: the contract between the scheduler and an ordering policy. One file
 * sim/policy/order_X.c defines `const struct order_ops order_X`. */
#ifndef GPUSIM_ENGINE_ORDER_H
#define GPUSIM_ENGINE_ORDER_H

#include "engine/job.h"

struct order_ops {
    const char *name, *help;
    /* < 0: a goes first, > 0: b does, 0: the order of submission decides. A total preorder that does
     * not change while a job waits. */
    int (*compare)(const struct job *a, const struct job *b);
};

extern const struct order_ops *const order_all[]; /* NULL-terminated, sorted by name */

#endif
