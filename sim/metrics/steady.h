/* metrics/steady.h - output analysis of one run: how long it warms up, what its jobs are worth as
 * a sample although each depends on the one before, and how long a run should be.
 *
 * Values (waits, in the order in which jobs end) are averaged in batches of 5; when 2,048 batches are
 * full, neighbours are joined, so memory is fixed whatever the run's length.
 *   warm-up    MSER-5 (White 1997; White, Cobb, Spratt 2000): leave out the first d batches, for which
 *              the squared standard error of the mean of the rest is least, d up to a half. The least
 *              at the very end means that no steady part was found.
 *   interval   batch means (Schmeiser 1982): 20 batches of what is left, Student's t.
 *   effective  variance of a value / squared standard error of the mean: as many independent values
 *              would say as much.
 * Threads: one run, one thread. */
#ifndef GPUSIM_METRICS_STEADY_H
#define GPUSIM_METRICS_STEADY_H

#include "base/simtime.h"
#include "model/result.h"

enum { STEADY_BATCHES = 2048, STEADY_LEAST = 100 /* values: below it nothing is said */ };

struct steady_batch {
    double sum, squares;
    simtime from; /* time of its first value */
};

struct steady {
    struct steady_batch batch[STEADY_BATCHES];
    size_t n;         /* batches, the last of them perhaps not full */
    uint64_t size;    /* values of a full one; 0: nothing added yet */
    uint64_t in_last; /* values in the last */
};

/* `s` starts as {0}. O(1) amortised. */
void steady_add(struct steady *s, simtime when, double value);
/* out->n == 0: too few values. O(batches). */
void steady_result(const struct steady *s, struct steady_result *out);

#endif
