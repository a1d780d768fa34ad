/* model/colocation.h - co-location prediction: how fast a job runs beside another one on the same
 * card, as a share of its speed alone.
 *
 * Two predictors, for two states of knowledge.
 *
 * With measured pairs that hold both jobs or their kin (not necessarily together), the best linear
 * unbiased predictor of a crossed random-effects model (Henderson 1975; as kriging in Rasmussen and
 * Williams 2006, ch. 2):
 *
 *     log norm(A beside B) = mean + s_A + p_B + i_AB + noise
 *
 * s: how much A suffers from anybody; p: how much anybody suffers from B; i: what only these two do
 * to each other (host cores, input, cache). Jobs of one program are alike, the more so the nearer
 * their batch sizes: k(A, A') = exp(-|log2 size_A - log2 size_A'| / OCTAVES), and 0 between
 * programs. Then cov(s_A, s_A') = SIDE k(A, A'), the same for p, cov(i_AB, i_A'B') = TOGETHER
 * k(A, A') k(B, B'). Four numbers in all, the same for every card and campaign: colocation.c says
 * where they come from. A norm clipped at 1 by its source is a lower bound: it counts as the larger
 * of 0 and the present prediction (Schmee and Hahn 1979).
 *
 * With counters of each job alone only, a linear regression of log norm on them.
 *
 * How it enters a policy: a table of measured pairs beats this model, this model beats the resource
 * vectors of share_mps.
 *
 * Units: ratios. Ownership: memory from the arena. Threads: read-only after fitting. */
#ifndef GPUSIM_MODEL_COLOCATION_H
#define GPUSIM_MODEL_COLOCATION_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Job `a` ran at `norm` > 0 of its speed alone beside job `b`. Jobs are numbered from 0. */
struct colocation_pair {
    size_t a, b;
    double norm;
    bool at_least; /* clipped at 1 by the source */
};

struct colocation_job {
    size_t program; /* equal for jobs that differ in batch size only */
    double octaves; /* log2 of the batch size; 0 where there is none */
};

struct colocation {
    const struct colocation_job *job; /* a copy */
    size_t jobs;
    const struct colocation_pair *pair; /* a copy */
    size_t n;
    double *weight; /* of each pair: covariance^-1 x log norm */
};

/* From `n` observations; none: every answer is NAN. O(n^3), 20 ms for 400. */
void colocation_fit(struct colocation *out, struct arena *a, const struct colocation_job *job,
                    size_t jobs, const struct colocation_pair *pair, size_t n);
/* In (0, 1]; NAN when neither `a` nor a kin of it was seen suffering, or neither `b` nor a kin was
 * seen pressing. O(n). */
double colocation_norm(const struct colocation *c, size_t a, size_t b);

/* What is known of a job alone. */
struct job_counters {
    double step_s; /* time of one step (iteration) on this card, > 0 */
    double gain; /* its speed on the fastest card known over that on the slowest, > 0: low when the
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
