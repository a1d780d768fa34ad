/* engine/outages.h - cards, nodes and programs that fail, and a fleet that changes at stated times.
 *
 * Every card, every node and every rack is a renewal process of its own, up and down in turn,
 * that runs on whatever else happens: its times are a function of (seed, replication, name of
 * the group, place in it) alone, so the same cards fail at the same times under every policy,
 * and also where a policy's fleet is larger. A program's faults are drawn for (job, attempt)
 * over its running time. While a card is out nothing new fits on it; it comes back when no
 * reason to be out is left.
 *
 * A fault of a card, node or rack strikes every job that holds a part of it; one of a program
 * strikes as far as share_ops.blast says. Draining strikes nobody.
 *
 * Complexity: O(log n) an event and card; jobs without cards are looked for among all jobs, when a
 * node goes out. Threads: one run, one thread. */
#ifndef GPUSIM_ENGINE_OUTAGES_H
#define GPUSIM_ENGINE_OUTAGES_H

#include "engine/sched.h"

struct residents;

/* Since the end of the warm-up; faults of what was in the fleet. */
struct outage_totals {
    uint64_t card_faults, node_faults, rack_faults, job_faults;
    uint64_t struck;  /* jobs thrown off their cards, each time */
    uint64_t gave_up; /* of these: not started again */
    double lost_s;    /* isolated seconds x gpus of work to be done again, or never */
};

struct outages;

struct outage_env {
    const struct plan *plan;
    uint64_t replication;
    struct evq *q;
    struct cluster *cluster;
    struct residents *residents;
    struct sched *sched;
    struct job_pool *pool;
    uint16_t unit_kind, change_kind; /* event kinds; args: unit, change */
    /* The job (on cards or a node) is struck: it leaves them. */
    void (*strike)(void *ctx, struct job *j);
    /* The job waits, and no card that could serve it will ever be in service again. */
    void (*give_up)(void *ctx, struct job *j);
    void *ctx;
};

/* First events are scheduled, what comes new is taken out. NULL: nothing ever goes out in this
 * plan. */
struct outages *outages_create(const struct outage_env *env);
void outages_destroy(struct outages *o); /* accepts NULL */

/* Handlers of the three event kinds. */
void outages_unit(struct outages *o, uint32_t unit, simtime now);
void outages_change(struct outages *o, uint32_t change, simtime now);
void outages_crash(struct outages *o, struct job *j, simtime now);

/* The job has begun to hold its cards: when does its program fail? SIM_NEVER: not at all. */
simtime outages_crash_after(const struct outages *o, const struct job *j);
/* False: the fleet has changed for the last time and can never serve this waiting job. */
bool outages_serve(const struct outages *o, const struct job *j);

/* Is the fleet still to change by plan? */
bool outages_expect(const struct outages *o);

/* Mean time between what strikes a job on so many cards of a group, on as few nodes as hold them,
 * in s: the rates of its cards, its nodes and its own program add up. INFINITY: nothing does.
 * Faults of others' programs (share_ops.blast) are not in it. */
double outages_job_mtbf_s(const struct plan *p, size_t group, int64_t cards);

struct outage_totals *outages_totals(struct outages *o);

#endif
