/* metrics/compare.h - the policies of a result against each other. Pure; memory from the arena. */
#ifndef GPUSIM_METRICS_COMPARE_H
#define GPUSIM_METRICS_COMPARE_H

#include "model/result.h"

/* Fill r->comparison with the differences of every further policy to the first, and r->advice with
 * sentences that say who is best at what, what is a tie, and what to beware of. */
void compare_policies(struct result *r, struct arena *a);

#endif
