/* metrics/decide.h - which policy for which class of work, and for all of it: from simulated figures alone.
 *
 * The rule, the same for the whole, each class and each service; nothing in it knows a policy by name:
 *     1. fit are the policies that lose at most 1 in 100 of the jobs (failed, killed, rejected) and are
 *        stable; where there are targets of services, of these those that meet all of them, and where
 *        none does, those within 2 points of the best attainment;
 *     2. of these, those whose 95 % slowdown (turnaround over time alone) is at most four times the best, or
 *        four where the best is below 1;
 *     3. of these, the least cost per useful GPU-hour (of a service: per million requests within target; of
 *        all work where there are services, and of a class whose jobs all run from beginning to end of the
 *        window under some policy: per year);
 *        within 2 % costs are equal, and the least slowdown decides. Without prices slowdown decides.
 * The cost that decides is the median over the draws of the prices and replications (whatif/chances.h), the
 * figure that is shown; where nothing can be drawn, the cost at the books' stated prices (a range's mode).
 * A class is charged its part of idle and stranded cards in proportion to what it is charged itself.
 * Slowdowns above 100 are no flip: nobody accepts them for a lower price. Reasons give the figures; flips say
 * what would have to be otherwise. Qualities are what money does not show, from a table with sources. Pure;
 * memory from the arena. */
#ifndef GPUSIM_METRICS_DECIDE_H
#define GPUSIM_METRICS_DECIDE_H

#include "model/result.h"

/* Fills r->decision and r->quality by the costs at the stated prices; needs r->policy with prices
 * where there are any. Which policies are eligible does not depend on cost. */
void decide_policies(struct result *r, struct arena *a);

/* Decides once more by the medians that the draws left in the options; a decision without any
 * stays as it is. */
void decide_by_medians(struct result *r, struct arena *a);

/* The table's rows of one sharing kind, e.g. "mig"; *n = 0 for one it does not know. */
const struct quality *qualities_of(const char *kind, size_t *n);

#endif
