/* engine/order.h - who is next: the contract between the scheduler and an ordering policy. One file
 * sim/policy/order_X.c defines `const struct order_ops order_X`.
 *
 * The rank of a waiting job stays as it was when the job began to wait. An order that preempts is
 * asked again for the running jobs at every scheduling instant. An order may rank accounts as well:
 * whose turn it is comes first, and among the jobs of one account, or of accounts of equal rank,
 * the job's rank. */
#ifndef GPUSIM_ENGINE_ORDER_H
#define GPUSIM_ENGINE_ORDER_H

#include "base/cfg.h"
#include "engine/accounts.h"
#include "engine/job.h"

struct order_view {
    const void *params; /* as read through `fields`; NULL without fields */
    simtime now;
    /* What the fleet has, for shares of it; 0: without limit, no share of it counts. */
    double gpus, cpus, host_bytes;
};

enum admission {
    ADMIT_ALL,
    ADMIT_ALONE, /* who could not meet its deadline on an empty fleet is rejected when it comes */
    /* also who could not meet it behind, or would make miss it, those admitted before */
    ADMIT_PLAN,
};

struct order_ops {
    const char *name, *help;
    /* Smaller goes first; equal ranks in order of submission. Required. */
    int64_t (*rank)(const struct order_view *v, const struct job *j);
    bool preempts; /* a waiting job may take the place of running ones of larger rank */
    /* Further keys of the scenario's "schedule". May be NULL. */
    const struct cfg_field *fields;
    size_t fields_n, params_size;
    /* When a running job's rank next grows by itself: the same answer whenever it is asked until
     * then. SIM_NEVER: not before an event. May be NULL. */
    simtime (*next_change)(const struct order_view *v, const struct job *j);
    /* How jobs that cannot meet their deadlines are turned away. NULL: they are not. */
    enum admission (*admission)(const void *params);
    /* Parameters that a table cannot check. NULL, or what is wrong (text from the arena). May be
     * NULL. */
    const char *(*bind)(void *params, struct arena *a);
    /* Of the account with the next turn: smaller goes first. NULL: accounts do not matter. */
    double (*account_rank)(const struct order_view *v, const struct account *a);
    /* The ranks of accounts are made anew at the first instant after so long at which a job came or
     * one gave back and somebody waits; an account of which nobody waited gets its rank as its
     * first job comes. NULL: whenever a job of the account starts or ends. */
    simtime (*period)(const void *params);
    /* A job of the account is about to come onto its cards, or to leave them. May be NULL. */
    void (*moved)(const struct order_view *v, struct account *a, const struct job *j, bool starts);
};

extern const struct order_ops *const order_all[]; /* NULL-terminated, sorted by name */

#endif
