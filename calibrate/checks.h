/* calibrate/checks.h - what the measured figures say about each other. Six checks, each passed, failed,
 * or not made with the reason:
 *   efficiency  q / (q + c) from the logs of the timer against the throughput that two processes kept:
 *               within the interval of the latter, or 0.03
 *   gaps        what two processes with host gaps of 0.3 ms between kernels of 1 ms kept together against mean value
 *               analysis with that switch and quantum (timeslice.h): within its interval, or 0.1
 *   sums        processes that take turns and always have work keep no more than one alone: 1.02
 *   rerun       launches and memory bandwidth, measured again after everything else, are within 3 %
 *   bounds      no figure was beyond what the card or its data sheet allows
 *   drift       no parameter's second half of samples is more than 3 % off its first half
 * A failed check takes no figure away: it is in the profile, under "device", and on standard error. */
#ifndef GPUSIM_CALIBRATE_CHECKS_H
#define GPUSIM_CALIBRATE_CHECKS_H

#include "calibrate/profile_write.h"

/* `again`: the second run, may hold nothing. [{"check", "status", "detail"}], a new reference;
 * one line each to `to`. */
json_t *self_checks(const struct profile_out *o, const struct profile_out *again, FILE *to);

#endif
