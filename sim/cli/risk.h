/* cli/risk.h - what the ranges of the prices do to the choice between the policies of a run: the
 * document that `gpusim run` leaves for the report (risk.json). Pure. Threads: any. */
#ifndef GPUSIM_CLI_RISK_H
#define GPUSIM_CLI_RISK_H

#include "whatif/runner.h"

/* {"format": "gpusim-risk/1", "samples", "best", "options": [{"policy", "eac_usd", "p10_usd",
 * "p50_usd", "p90_usd", "p_cheapest"}], "inputs": [{"name", "low", "mode", "high",
 * "switching_value", "switches_to", "swing_usd", "eac_low_usd": [], "eac_high_usd": []}]}, options
 * in scenario order, inputs by swing. NULL: a policy is not priced, or no price has a range. A new
 * reference. O(samples x inputs x policies). */
json_t *risk_of_run(const struct runner *r);

#endif
