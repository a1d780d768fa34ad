/* whatif/chances.h - how sure a decision is: with the prices drawn from their ranges and the
 * simulated replications drawn at random, how often each policy is the cheapest, and whether it
 * differs from the recommended one at all.
 *
 * The cost is that of the decision's unit (metrics/decide.h); the draws are common to all
 * policies (cost/montecarlo.h). Their medians then decide instead of the stated prices: of
 * ranges that are not even about their modes, the modes together are no likely price. Shares of
 * draws are among the policies that are fit and fast enough. Flips gain the prices at which
 * another policy becomes the cheapest. Nothing is drawn where no price has a range and there is
 * one replication.
 *
 * Ownership: the arena. Deterministic by seed. O(decisions x draws x policies x items). */
#ifndef GPUSIM_WHATIF_CHANCES_H
#define GPUSIM_WHATIF_CHANCES_H

#include "model/price.h"
#include "model/result.h"

enum { CHANCES_DRAWS = 1000 }; /* a share near one half is known to 3 points (95 %) */

struct chances {
    const char *const *share;             /* sharing kind of each policy */
    const struct price_book *const *book; /* of each policy; NULL: not priced */
    const struct policy_result *const
        *run;            /* run[p][k]: policy p in replication k, the first being the result's */
    size_t replications; /* >= 1 */
};

/* Needs decide_policies(). Fills the options of r->decision, decides again, adds flips, sets
 * r->advice_draws and _replications. */
void chances_fill(struct result *r, const struct chances *c, struct arena *a);

#endif
