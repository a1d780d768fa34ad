/* whatif/fit.h - the least of a function of a few parameters, without derivatives: GSL's simplex
 * (nmsimplex2). For fitting constants of a model to measured rows.
 * Threads: pure apart from `f`. Same start, same result. */
#ifndef GPUSIM_WHATIF_FIT_H
#define GPUSIM_WHATIF_FIT_H

#include <stddef.h>

typedef double fit_fn(const double x[], void *ctx);

/* Start at x[0..n) with steps of `step` x |x[i]| (of `step` where x[i] is 0); leave the best point
 * found in x and return its value. At most `rounds` rounds. */
double fit_least(double x[], size_t n, double step, int rounds, fit_fn *f, void *ctx);

#endif
