/* whatif/run_check.h - what must hold of the result of any run, whatever was run: P03 (the money) and
 * P13 (the statistics) of the conservation laws. The others are checked where the cards are
 * (engine/sim_totals.c). A breach is a bug of this program. Pure; any thread; O(charges + services). */
#ifndef GPUSIM_WHATIF_RUN_CHECK_H
#define GPUSIM_WHATIF_RUN_CHECK_H

#include "base/err.h"
#include "model/result.h"

/* `kept`: percentiles of unstable queues were asked for (metrics/collect.h). 0 or ERR_CHECK. */
int run_check(const struct policy_result *p, bool kept, struct err *e);

#endif
