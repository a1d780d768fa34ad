/* metrics/dist.h - a distribution of samples >= 0 in bounded memory: waits, turnarounds, slowdowns.
 *
 * Exact while at most DIST_EXACT non-zero samples are held; after that a log histogram of fixed
 * bins: DIST_SUB linear bins per power of two (the layout of HdrHistogram, G. Tene), so a value is
 * known within 1 / (2 x DIST_SUB) < 0.1 %. Bins are the same for every distribution and on every
 * host (integer arithmetic on the exponent and mantissa, no logarithm). The stored range of bins is
 * contiguous and grows. n, mean, min and max stay exact; zeros are counted apart and cost nothing.
 *
 * Percentile p: the smallest sample with at least p of the samples at or below it (nearest rank).
 *
 * Many small ones (one per user and metric) share a `struct dist_pool`: once the exact samples of
 * all of them together exceed its budget, each that grows turns into a histogram as soon as that is
 * the smaller form (16-bit counters, widened on demand). Ten million jobs, 1,000 users and three
 * metrics take near 70 MB. Same samples in the same order: same result.
 *
 * Ownership: dist_fini() frees. Threads: a distribution and its pool belong to one thread.
 * Cost: dist_add amortised O(1); dist_stat O(n) once, no sorting. */
#ifndef GPUSIM_METRICS_DIST_H
#define GPUSIM_METRICS_DIST_H

#include "model/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DIST_EXACT = 1000000, /* non-zero samples held exactly */
    DIST_SUB = 512,       /* bins per power of two */
};

/* Bytes of exact samples that the distributions of one run may hold together. The default keeps
 * every class and every user exact in runs of up to a million jobs. */
struct dist_pool {
    size_t budget, used;
    bool spent; /* the budget was reached once */
};
#define DIST_POOL_BYTES ((size_t)64 << 20)

/* Starts as {0}, or {.pool = &pool}. */
struct dist {
    struct dist_pool *pool; /* NULL: no shared budget */
    uint64_t n, zeros;
    double sum, carry; /* Neumaier's compensated sum */
    double min, max;   /* of the non-zero samples */
    double *sample;    /* exact: n - zeros of them; NULL once a histogram */
    size_t cap;
    void *bin;                /* histogram: counters of bins first .. first + n_bins - 1 */
    int first, n_bins, width; /* width of a counter in bytes: 2, 4, 8 */
};

/* x must be finite and >= 0 (asserted). */
void dist_add(struct dist *d, double x);

bool dist_is_exact(const struct dist *d);
double dist_mean(const struct dist *d); /* NAN when empty */
/* 0 < p <= 1; NAN when empty. Reorders samples. */
double dist_percentile(struct dist *d, double p);
/* All of a struct summary. Percentiles are NAN when there is no sample. */
void dist_stat(struct dist *d, uint64_t censored, struct summary *out);

void dist_fini(struct dist *d); /* back to {.pool}; harmless twice */

#endif
