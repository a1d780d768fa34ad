/* engine/carve.h - planned layouts of MIG cards: at every period's start, what the period will ask
 * of each group of cards, and the instances that serve the most of it (model/mig_plan.h).
 *
 * Asked for: what waits now, and a forecast of arrivals: those of the period that has just ended
 * (`last`), or those of the coming one, read ahead from the work (`oracle`). Durations are those in
 * the trace; a job counts with the time it needs on its slice, at most the period, an elastic one
 * on the cards it asks for. A job that several groups could serve counts in each by its share of
 * their cards. The first job in the queue comes before all else, then the first of each account, so
 * that nobody waits for ever behind a forecast. Cards that are out of service are left alone. Under
 * `last` the first period has no past: all is open, and instances are made on demand.
 *
 * Complexity: a plan costs O(jobs present + cards x layouts). While nobody waits or comes, none is
 * made. Memory: O(cards).
 * Threads: one run, one thread. */
#ifndef GPUSIM_ENGINE_CARVE_H
#define GPUSIM_ENGINE_CARVE_H

#include "engine/job.h"
#include "engine/sched.h"

struct carver;

/* NULL when the policy plans no layouts, or when the work cannot be read ahead (*rc, *e). */
struct carver *carver_create(const struct plan *plan, uint64_t replication, int *rc, struct err *e);
void carver_destroy(struct carver *c); /* accepts NULL */

/* When the first plan is made, and the next: a period later, or, when nothing was asked for, a
 * whole number of periods later, when the next arrival (SIM_NEVER: none) matters. Then
 * carver_soon(), for any time after it, says when it is made if somebody waits until then.
 * SIM_NEVER: never. */
simtime carver_first(const struct carver *c);
simtime carver_next(const struct carver *c, simtime arrival);
simtime carver_soon(const struct carver *c, simtime now);
void carver_arrived(struct carver *c, const struct job *j);
/* The instances that every card is to have from now on, by card; lent. NULL: nothing is asked for,
 * as before: all stays as it is. `jobs`: all that are present. */
const struct mig_layout *carver_plan(struct carver *c, const struct evq *q,
                                     const struct cluster *cluster, struct sched *sched,
                                     const struct job_pool *jobs);

#endif
