/* metrics/stability.h - does the queue still grow at the end of a run with a horizon?
 * Pure functions; any thread. */
#ifndef GPUSIM_METRICS_STABILITY_H
#define GPUSIM_METRICS_STABILITY_H

#include <stdbool.h>
#include <stddef.h>

/* Least-squares growth of n batch means from the first to the last, and its standard error, widened
 * for the correlation of neighbouring residuals (n_eff = n (1 - rho) / (1 + rho), lag-1 rho). */
void stability_growth(const double *batch, size_t n, double *growth, double *standard_error);

/* Unstable: the queue grew during the last quarter by at least one job and by more than twice its
 * standard error, and was there at least 1.3 times as long as before. The error alone would call one
 * stable run in six unstable. */
bool stability_is_stable(const double *batch, size_t n, double mean_before);

#endif
