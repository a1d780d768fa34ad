/* whatif/sensitivity.h - what the ranges of the device parameters do to the answer: each
 * parameter that a policy of the run used and that has a range is put to both its ends, one at a
 * time, all else as it is (one-at-a-time sensitivity). Only the policies that use it are
 * replayed; the recommendation is made anew with the others as they were. Parameters that the
 * scenario sets itself have no range and are left out.
 *
 * Same random numbers as the run, so differences are of the parameter alone, but for schedules
 * that a small change turns over. Deterministic at any number of threads. Cost: at most two
 * replays of each policy for each parameter it uses. */
#ifndef GPUSIM_WHATIF_SENSITIVITY_H
#define GPUSIM_WHATIF_SENSITIVITY_H

#include "whatif/runner.h"

/* {"format": "gpusim-sensitivity/1", "recommended": NAME|null, "base": [FIGURES], "parameters":
 * [{"fleet", "name", "unit", "value", "low", "high", "low_end": END, "high_end": END}]}, END =
 * {"recommended", "policies": [FIGURES of those that use it]}, or {"problem": TEXT} where no run
 * can be built with it; FIGURES = {"policy", "usd_per_useful_gpu_hour", "turnaround_mean_s",
 * "slowdown_p95", "attainment" (the least of the services), "completed"}, null: not known. `r`
 * has run; `path` and `set` are those it was loaded with. *out is a new reference; NULL when
 * r->stop ended it early. ERR_INPUT and ERR_IO as of a run. */
int sensitivity_of_run(json_t **out, const struct runner *r, const char *path,
                       const char *const *set, size_t n_set, unsigned threads, struct err *e);

#endif
