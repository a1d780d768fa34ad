/* metrics/compare.h - the policies of a result against each other. Pure; memory from the arena. */
#ifndef GPUSIM_METRICS_COMPARE_H
#define GPUSIM_METRICS_COMPARE_H

#include "model/result.h"

/* The runs of each policy on the same n sets of random numbers; the first is that of the result. */
struct replicated {
    const struct policy_result *const *run; /* run[policy][replication] */
    size_t n;
};

/* Fill r->comparison with the differences of every further policy to the first, and r->advice
 * with sentences that say who is best at what, what is a tie, and what to beware of. With two
 * replications or more (`x` may be NULL) differences are means of paired differences with their
 * 95 % intervals (Student's t). */
void compare_policies(struct result *r, const struct replicated *x, struct arena *a);

#endif
