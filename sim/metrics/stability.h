/* metrics/stability.h - does the queue still grow at the end of a run with a horizon?
 * Pure functions; any thread. */
#ifndef GPUSIM_METRICS_STABILITY_H
#define GPUSIM_METRICS_STABILITY_H

#include "model/result.h"

#include <stdbool.h>
#include <stddef.h>

#define STABILITY_LEAST_WAITING 0.005 /* of all jobs, at the end of a queue that grows */

/* Least-squares growth of n batch means from the first to the last, and its standard error, widened
 * for the correlation of neighbouring residuals (n_eff = n (1 - rho) / (1 + rho), lag-1 rho). */
void stability_growth(const double *batch, size_t n, double *growth, double *standard_error);

/* Of n batch means of the last quarter. */
struct queue_trend stability_trend(const double *batch, size_t n, double mean_before,
                                   double share_waiting);

/* Unstable, when the queue was at least 1.3 times as long in the last quarter as before and
 *   - it grew during that quarter by at least one job and by more than its standard error (design
 *     section 7), and one in 200 of all jobs had not started at the end. Of 40 seeds each this finds
 *     40 M/M/3 at load 1.07 and, at loads 0.8 and 0.64, calls one of 40 unstable over 2,000 s and
 *     none over 10,000 s. Without the last condition a burst of arrivals near the end of a fleet
 *     that is half empty is called a queue without end: work that comes 0.5 % too fast leaves so
 *     many; or
 *   - more than a tenth of all jobs had not started at the end: a backlog that nothing will clear. */
bool stability_is_stable(const struct queue_trend *t); /* not known: stable */

#endif
