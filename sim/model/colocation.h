/* model/colocation.h - co-location prediction: how fast a job runs beside another one on the same
 * card, as a share of its speed alone.
 *
 * Two predictors, for two states of knowledge.
 *
 * With measured pairs that hold both jobs (not necessarily together), a sensitivity-and-pressure fit:
 *
 *     log norm(A beside B) = mean + s_A + p_B + sum over k of u_A,k x v_B,k      (k < DIMENSIONS)
 *
 * s: how much A suffers from anybody; p: how much anybody suffers from B. The products are the same
 * once more for what only some jobs share (host cores and input, cache): without them a job that
 * feeds itself from the host and one that does not get the same neighbour's pressure, and the error
 * on Gavel's K80 and P100 pairs is half as large again. Ridge-regularised least squares, each job's
 * part solved exactly in turn (Cholesky) until it settles. A norm clipped at 1 by its source is a
 * lower bound: it counts as the larger of 0 and the present prediction (Schmee and Hahn 1979).
 *
 * With counters of each job alone only, a linear regression of log norm on them.
 *
 * How it enters a policy: a table of measured pairs beats this model, this model beats the resource
 * vectors of share_mps. A policy that is given pairs would ask colocation_norm() for two residents
 * and, for more, add up s_A once and p_B and the products over the neighbours B.
 *
 * Units: ratios. Ownership: memory from the arena. Threads: read-only after fitting. */
#ifndef GPUSIM_MODEL_COLOCATION_H
#define GPUSIM_MODEL_COLOCATION_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum { COLOCATION_DIMENSIONS = 2 };

/* Job `a` ran at `norm` > 0 of its speed alone beside job `b`. Jobs are numbered from 0. */
struct colocation_pair {
    size_t a, b;
    double norm;
    bool at_least; /* clipped at 1 by the source */
};

struct colocation_job {
    double s, p;
    double u[COLOCATION_DIMENSIONS], v[COLOCATION_DIMENSIONS];
    size_t seen_as_a, seen_as_b;
};

struct colocation {
    double mean;
    struct colocation_job *job;
    size_t jobs;
};

/* Least squares over `n` observations. Jobs without an observation stay at the mean.
 * O(rounds x (n + jobs) x DIMENSIONS^2). */
void colocation_fit(struct colocation *out, struct arena *a, const struct colocation_pair *pair,
                    size_t n, size_t jobs);
/* In (0, 1]; NAN when `a` was never seen suffering or `b` never seen pressing. */
double colocation_norm(const struct colocation *c, size_t a, size_t b);

/* What is known of a job alone. */
struct job_counters {
    double step_s; /* time of one step (iteration) on this card, > 0 */
    double gain;   /* its speed on the fastest card known over that on the slowest, > 0: low when the
                      host decides */
};
enum { COLOCATION_COUNTERS = 5 };
struct colocation_counters {
    double c[COLOCATION_COUNTERS]; /* 1, log step_A, log step_B, log gain_A, log gain_B */
};

/* Observations pair[i] whose `leave[i]` is not set (NULL: all of them); lower bounds are left out.
 * False: too few to fit. */
bool colocation_counters_fit(struct colocation_counters *out, const struct job_counters *job,
                             const struct colocation_pair *pair, const bool *leave, size_t n);
double colocation_counters_norm(const struct colocation_counters *c, const struct job_counters *a,
                                const struct job_counters *b); /* in (0, 1] */

#endif
