/* calibrate/checks.h - what the measured figures say about each other. Three checks, each passed, failed,
 * or not made with the reason:
 *   efficiency  q / (q + c) from the logs of the timer against the throughput that two processes kept:
 *               within the interval of the latter, or 0.03
 *   bounds      no figure was beyond what the card or its data sheet allows
 *   drift       no parameter's second half of samples is more than 3 % off its first half
 * A failed check takes no figure away: it is in the profile, under "device", and on standard error. */
#ifndef GPUSIM_CALIBRATE_CHECKS_H
#define GPUSIM_CALIBRATE_CHECKS_H

#include "calibrate/profile_write.h"

/* [{"check", "status", "detail"}], a new reference; one line each to `to`. */
json_t *self_checks(const struct profile_out *o, FILE *to);

#endif
