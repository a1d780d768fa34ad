/* engine/order.h - who is next: the contract between the scheduler and an ordering policy. One file
 * sim/policy/order_X.c defines `const struct order_ops order_X`.
 *
 * The rank of a waiting job stays as it was when the job began to wait, unless the order has a
 * `period`. An order that preempts is asked again for the running jobs at every scheduling instant. */
#ifndef GPUSIM_ENGINE_ORDER_H
#define GPUSIM_ENGINE_ORDER_H

#include "base/cfg.h"
#include "engine/job.h"

struct order_view {
    const void *params; /* as read through `fields`; NULL without fields */
    void *state;        /* what create() made; NULL */
    simtime now;
};

struct order_ops {
    const char *name, *help;
    /* Smaller goes first; equal ranks in order of submission. Required. */
    int64_t (*rank)(const struct order_view *v, const struct job *j);
    bool preempts; /* a waiting job may take the place of running ones of larger rank */
    /* Further keys of the scenario's "schedule". May be NULL. */
    const struct cfg_field *fields;
    size_t fields_n, params_size;
    /* When a running job's rank next grows by itself; SIM_NEVER: not before an event. May be NULL. */
    simtime (*next_change)(const struct order_view *v, const struct job *j);
    /* Ranks of waiting jobs are made anew at the first instant after so long. NULL: never. */
    simtime (*period)(const void *params);
    /* State of one run, and what moves it: a job came onto its cards, or left them. May be NULL. */
    void *(*create)(void);
    void (*destroy)(void *state);
    void (*moved)(const struct order_view *v, const struct job *j, bool starts);
};

extern const struct order_ops *const order_all[]; /* NULL-terminated, sorted by name */

#endif
