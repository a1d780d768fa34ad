/* tests/support/second_engine.h - the same jobs on the same fleet once more, by a program that
 * shares no engine code with the product: an event list that is searched from end to end, free room
 * that is counted anew from those who run whenever somebody asks, no index, no memory of an answer,
 * no copy of the fleet that is kept up to date.
 *
 * What it takes from the product: the plan (parameters and cards as read), of a sharing policy the
 * pure functions `demand`, `speeds`, `startup`, `instance_rules` and `blast`, and what it says of
 * itself (`instances`, `pooled`, `node_link`, `one_owner`, `swaps`); for planned MIG layouts
 * mig_plan(), which says what serves the most of a given demand; the times of random faults
 * (engine/fault_times.h) and the numbers that placement random draws (policy/nodescore.h).
 * Queue, placement, EASY, limits, memory, MIG layouts and when they change, the demand that they
 * are planned for, what is out of service, who is struck and what that costs, progress and time
 * are written down here again from DESIGN.md, scenarios/fleets.md and the heads of engine/sched.h,
 * engine/cluster.h, engine/sched_easy.c, engine/carve.h and engine/outages.h.
 *
 * It knows: every kind, mig with every kind of layout; every order; preemption with checkpoints,
 * all placed anew or not; quotas, borrowed and taken back; admission by deadline; every backfill;
 * every placement; gangs on nodes, in domains, by racks or on any cards, and the wires that they
 * cross; elastic jobs; moves out of the way; horizons; CPU cores; several groups of cards;
 * faults of cards, nodes, racks and programs, changes of the fleet at stated times, and what
 * reservations expect of repairs.
 *
 * Services, alone and beside jobs, are in second_service.h.
 *
 * Not, so that no disagreement can show it: what those pure functions say. The speeds are held by
 * tests/oracle/test_speeds, test_turns and test_bucket to chains, simulations and arithmetic by
 * hand, demand by unit/test_sharing, mig_plan() by unit/test_mig_plan. Not either: measured pairs,
 * memory that grows after the start, host memory, rows that name the cards they allow, backfill
 * of a limited depth, several traces, warm-up, energy and cost; work that is given up because
 * faults undo it for ever. (The product refuses to place instances anew all at once.) */
#ifndef GPUSIM_TESTS_SECOND_ENGINE_H
#define GPUSIM_TESTS_SECOND_ENGINE_H

#include "engine/job.h"
#include "engine/plan.h"

enum { SECOND_JOBS = 96, SECOND_CARDS = 64, SECOND_USERS = 4 }; /* at most */

/* A job as it comes, and what became of it. */
struct second_job {
    simtime submit, duration;
    simtime limit, deadline;   /* JOB_NO_TIME: none */
    int32_t gpus_milli, slots; /* slots 1 unless stated */
    int32_t priority;
    int32_t cpus_milli;         /* JOB_NO_INT: none */
    int32_t min_gpus, max_gpus; /* whole; JOB_NO_INT */
    int32_t user;               /* 0, 1, .. */
    uint64_t bytes;             /* per card; JOB_NO_BYTES */
    const char *profile;        /* NULL: none */
    const char *model;          /* recorded card; NULL: none */

    enum job_state state;
    bool oom;
    simtime start, end;  /* JOB_NO_TIME */
    int attempts, moves; /* times it was given cards, and moved to others */
    char where[256];     /* cards as in jobs.csv */
};

struct second_totals {
    double allocated_card_s; /* units held x time / units of a card; not for intercept */
    simtime end;
    int moves;
    /* faults: of what was in the fleet; jobs struck, each time; not started again; work in vain */
    int card_faults, node_faults, rack_faults, job_faults, struck, given_up;
    double lost_gpu_s, down_card_s, absent_card_s;
};

/* Replay jobs (sorted by submit) under a plan. Fails the test when the plan is beyond it. */
void second_run(const struct plan *p, struct second_job *j, int n, struct second_totals *out);

#endif
