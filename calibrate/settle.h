/* calibrate/settle.h - work completed in equal bins of time under a compute quota: how much, how
 * evenly, from when on (HOOK-4). Pure functions; any thread. O(n). */
#ifndef GPUSIM_CALIBRATE_SETTLE_H
#define GPUSIM_CALIBRATE_SETTLE_H

#include <stddef.h>

enum { BINS_MAX = 128 };
struct bins {
    unsigned count[BINS_MAX]; /* kernels that ended in each */
    size_t n;
    double width_s;
};

/* Kernels per second from bin `from` on. */
double bins_rate(const struct bins *b, size_t from);
/* Standard deviation of whole windows of so many bins, counted back from the end and not beyond
 * `from`, over their mean; NAN: fewer than two windows, or no work. */
double bins_deviation(const struct bins *b, size_t from, size_t window);
/* Seconds from the first kernel until every later window of so many bins is within `band` of the
 * mean of the second half; NAN: not within the first half, so that half is no measure of it.
 * Resolution: a bin. */
double bins_settled_s(const struct bins *b, size_t window, double band);

/* Seconds of its later work (the second half's) that the first half did more than that: what a
 * bucket held at the start, in wall time. NAN: no work. */
double bins_burst_s(const struct bins *b);

#endif
