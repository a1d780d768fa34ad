/* whatif/interval.h - how sure a mean is: Student's interval over independent values, and the
 * delete-one jackknife over batches of dependent ones.
 *
 * Student: mean +- t(0.975, n - 1) s / sqrt(n). Values of independent replications.
 * Jackknife of a ratio of sums over B batches (Miller, "The jackknife - a review", Biometrika 61,
 * 1974): with r the ratio over all and r(-b) without batch b, the variance is
 * (B - 1) / B x sum over b of (r(-b) - mean of r(-.))^2, on B - 1 degrees of freedom. Batches long
 * against the memory of the queue are near independent, whatever happens inside them.
 * Pure functions; any thread. */
#ifndef GPUSIM_WHATIF_INTERVAL_H
#define GPUSIM_WHATIF_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

/* NAN where there is none: no values, or for `half`, `error` fewer than two. */
struct interval {
    size_t n;           /* values or batches that hold any */
    double mean, error; /* error: standard error of the mean */
    double half;        /* half the width at 95 % */
    double freedom;     /* degrees of freedom */
};

/* Any value that is not finite leaves no mean: the statistic does not exist in every
 * replication. */
struct interval interval_student(const double *x, size_t n);

struct batch {
    double sum;
    uint64_t n;
};
/* Mean over all batches. Empty batches do not count. O(n). */
struct interval interval_jackknife(const struct batch *b, size_t n);

/* *i with `half` filled in from its error and degrees of freedom. */
struct interval interval_with_freedom(const struct interval *i);

/* Difference b - a of two independent means (Welch's degrees of freedom). */
struct interval interval_difference(const struct interval *a, const struct interval *b);

/* Two-sided probability of a mean at least this far from 0 if it were 0; 1 when the mean is 0; NAN
 * without an interval. */
double interval_p_value(const struct interval *i);

#endif
