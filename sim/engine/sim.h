/* engine/sim.h - replay the work of a scenario under one policy.
 *
 * The loop, on each event that touches a card: settle (credit residents with speed x elapsed),
 * change (admit, finish, fail), ask the policy for new speeds, move that card's next finish. A
 * finish is rounded up to a whole ns. Equal times: ends, faults, arrivals, policy.
 *
 * Determinism: a pure function of (plan, replication). Memory: the jobs in the system.
 * Threads: one run, one thread; runs share only the read-only plan and world. */
#ifndef GPUSIM_ENGINE_SIM_H
#define GPUSIM_ENGINE_SIM_H

#include "engine/outages.h"
#include "engine/sink.h"

struct sim_options {
    uint64_t replication;
    struct sink *sinks;
    size_t n_sinks;
    simtime sample; /* interval of the series, doubled after every 100,000 rows; 0: none */
    void (*progress)(void *ctx, double share); /* of the horizon, when there is one; NULL */
    void *progress_ctx;
    bool (*stop)(void); /* asked now and then: true ends the run where it is; NULL: never */
    bool mute;          /* say nothing on the log */
};

/* One group's card time since the end of the warm-up, in card-seconds. */
struct group_totals {
    double card_s[METERS];
    double energy_J;   /* at the boards */
    double charged_J;  /* part of it charged to jobs */
    int64_t *level_ns; /* owned: time with k cards occupied, k = 0 ... cards */
};

/* Whom card time and energy are summed by. */
enum charge_by { BY_USER, BY_TEAM, BY_CLASS, CHARGE_BYS };

struct tenant_totals {
    double card_s, energy_J; /* since the end of the warm-up */
    double bill_s;           /* as card_s, by the larger of compute and memory share */
};

enum { QUEUE_MARKS = 33 }; /* end points of 32 batches of the last quarter */

/* One service. Counts are of the whole run, shares of time since the end of the warm-up. */
struct service_totals {
    uint64_t requests, fate[REQUEST_FATES];
    uint64_t waiting, in_service; /* at the end */
    double up_s, busy_s;          /* replica-seconds */
    uint64_t up_most, came_up;    /* replicas up or draining at a time; starts that came to serve */
    /* replicas that found no place, or were still starting, at the end */
    uint64_t never_up;
    sym tenant;                                        /* who is charged for its cards */
    double queue_batch[QUEUE_MARKS - 1], queue_before; /* as for jobs */
    bool has_queue_batches;
};

struct sim_totals {
    struct symtab *names;                     /* owned: users, groups ... of the run */
    struct group_totals *group;               /* owned, one per group */
    struct tenant_totals *tenant[CHARGE_BYS]; /* owned, by user symbol, group symbol, class */
    size_t n_tenants[CHARGE_BYS];
    size_t n_groups;
    simtime end;                   /* of the run */
    bool interrupted;              /* it ended early because `stop` said so */
    uint64_t rows, events, ties;   /* ties: events at the same time as the one before */
    double fragmentation;          /* time average over the samples; NAN: none */
    uint64_t unknown_flops;        /* jobs that ran without flops_per_s */
    double useful_ops[PREC_COUNT]; /* operations done by completed jobs */
    struct outage_totals outages;
    /* of running jobs, and the card-seconds they stood still for it; after the warm-up */
    uint64_t moves;
    double moved_s;
    /* Mean number of waiting jobs in each batch of the last quarter of a run with a horizon. */
    double queue_batch[QUEUE_MARKS - 1];
    double queue_before; /* mean number before the last quarter */
    bool has_queue_batches;
    struct service_totals *service; /* owned, one per service of the plan */
};

/* 0; ERR_INPUT / ERR_IO from traces; ERR_CHECK when a conservation law is broken (a bug). */
int sim_run(const struct plan *plan, const struct sim_options *opt, struct sim_totals *out,
            struct err *e);
void sim_totals_fini(struct sim_totals *t); /* harmless on {0} */

#endif
