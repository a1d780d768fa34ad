/* engine/sched.h - who waits, who starts, and where: the queue in the order of the policy,
 * placement through the indices, backfill.
 *
 * fifo with backfill none is strict head of line: nobody overtakes. EASY (Lifka 1995): the head
 * gets a reservation at the earliest time at which it fits if running jobs end at their limits;
 * a job behind it may start if it ends before that by its own limit, or fits beside the head
 * then. A job without a limit never backfills, and while one without a limit blocks the head,
 * nobody does. The queue is looked at when somebody came or gave back. A limit that passes while
 * its job runs on is no such moment: that its end may now come at any time is seen at the next
 * one. Greedy: whoever fits starts, nobody has a reservation. Conservative: every waiting job,
 * up to a depth, gets the earliest time and place that delay nobody before it
 * (engine/sched_reserve.c). Where a start changes whose turn it is (drf), a walk over those who
 * wait goes on with the first, as the order is then, of those it has not looked at. Quotas
 * (engine/accounts.h): the first job of an account that its quota has no room for holds up those
 * of the account behind it, and nobody else. Conservative promises count quotas as they are now.
 * A job that starts again promises its whole limit anew, though less of it may be left. Orders
 * that preempt: engine/sched_preempt.c, engine/sched_replace.c; they go with backfill none (the
 * first job that has no room holds up all that wait behind it) and greedy.
 *
 * Complexity: a start attempt costs one placement query; the head is tried again only after
 * something was given back. EASY at such an instant: the promised ends up to the reservation, and
 * the waiting jobs with a limit until every request shape among them has met a lack of room.
 * Greedy: likewise over all waiting jobs. Conservative: depth x (running jobs + depth). Preemption:
 * a pass over the running jobs, and for every request shape that finds no room as many queries as
 * there are running jobs of larger rank. Threads: one run, one thread. */
#ifndef GPUSIM_ENGINE_SCHED_H
#define GPUSIM_ENGINE_SCHED_H

#include "engine/cluster.h"
#include "engine/job.h"

struct sched;

struct sched_calls {
    /* A job was placed: the cluster has been taken, the job has left the queue. The pick is
     * lent. */
    void (*start)(void *ctx, struct job *j, const struct pick *p);
    /* A job may not wait and cannot start; it has left the queue. */
    void (*drop)(void *ctx, struct job *j);
    /* A running job must leave its cards and wait again: give the cluster back, call sched_ended().
     * The scheduler puts it into the queue. */
    void (*stop)(void *ctx, struct job *j);
    /* A running elastic job leaves its cards with all its work done, to go on with others at once:
     * give the cluster back, call sched_ended(). start() follows. */
    void (*resize)(void *ctx, struct job *j);
    /* A running job moves (engine/sched_migrate.c): it leaves its cards, the cluster too, and
     * remains a running job; then it takes those of the pick, which is lent. Others may move in
     * between. */
    void (*lift)(void *ctx, struct job *j);
    void (*set_down)(void *ctx, struct job *j, const struct pick *p);
};

/* `names`: of the run's groups and users, lent. */
struct sched *sched_create(const struct plan *plan, struct cluster *cluster,
                           const struct symtab *names, const struct sched_calls *calls, void *ctx);
void sched_destroy(struct sched *s); /* accepts NULL */

/* NULL, or why the row cannot be scheduled at all: a mistake of trace or scenario. */
const char *sched_unknown(const struct sched *s, const struct job_row *row, char *buf, size_t size);
/* After the last row: NULL, or what to say of quotas that nobody came for. */
const char *sched_unmet(const struct sched *s, char *buf, size_t size);
/* NULL, or why it could never start (engine/shape.h aside); then it must not be submitted. */
const char *sched_refuses(struct sched *s, struct job *j);
void sched_submit(struct sched *s, struct job *j); /* it waits */
/* Start whoever can start now. Call after everything of the instant has happened. */
void sched_run(struct sched *s, simtime now);
/* Something was given back since: the head may fit now. */
void sched_wake(struct sched *s);
bool sched_needs_run(const struct sched *s);
uint64_t sched_waiting(const struct sched *s);

/* All who wait, account by account, each in its order: the one after `j` (NULL: the first); NULL at
 * the end. */
struct job *sched_next(struct sched *s, struct job *j);
/* The first waiting job that its quota lets start; accounts whose first may not are held. NULL:
 * none. */
struct job *sched_head(struct sched *s);

/* Where and when a started job will give back, for reservations. */
void sched_started(struct sched *s, struct job *j);
void sched_ended(struct sched *s, struct job *j, simtime now);

/* ---- cards that go out of service and come back ---- */

/* As cluster_card_service() and cluster_node_service(), on every state of the fleet that is
 * kept. */
void sched_service_card(struct sched *s, uint32_t card, unsigned set, unsigned clear);
void sched_service_node(struct sched *s, int32_t node, unsigned set, unsigned clear);
/* Something under repair: cards and nodes, why they are out (one bit of enum out), when it is
 * expected back. */
struct repair {
    uint32_t unit; /* the caller's name for it */
    unsigned bit;
    int64_t first_card, cards, first_node, nodes;
    simtime back;
};
void sched_repair_begin(struct sched *s, const struct repair *r);
void sched_repair_end(struct sched *s, uint32_t unit);
/* A job that left its cards (sched_ended() was called) waits again. */
void sched_requeue(struct sched *s, struct job *j, simtime now);
/* A waiting job leaves the queue for good. */
void sched_withdraw(struct sched *s, struct job *j);
/* Would it find a place on this state of the fleet? */
bool sched_could_place(const struct sched *s, const struct cluster *c, const struct job *j,
                       int *group, struct pick *out);

/* Call sched_wake() at this time: the order changes by itself then. SIM_NEVER: no need. */
simtime sched_look(const struct sched *s);

/* cluster_carve() and cluster_carved() on the fleet and on what the scheduler expects of it. */
simtime sched_carve(struct sched *s, simtime now, uint32_t card, const struct mig_layout *layout);
void sched_carved(struct sched *s, uint32_t card);

/* The placement request of a job on a group, and its pick as it was made. */
struct place_request sched_request(const struct plan *plan, const struct job *j, int group);
void sched_pick_of(const struct job *j, struct pick *out); /* fills out->card anew */

#endif
