/* whatif/crosscheck.h - what a formula says of a simulated service (model/queues.h,
 * model/llm_step.h), beside what the simulation says: `gpusim check --explain`.
 *
 * Covered: Poisson arrivals that are served one at a time (M/G/c by Kimura's approximation for one
 * queue, c separate M/G/1 for a random split, M/G/1 processor sharing for replicas that take turns
 * on one card), closed loops of users (bounds), and language models (the closed form of their
 * engine). What has no formula is said so. Pure; memory from the arena. */
#ifndef GPUSIM_WHATIF_CROSSCHECK_H
#define GPUSIM_WHATIF_CROSSCHECK_H

#include "engine/plan.h"
#include "model/result.h"

struct crosscheck {
    const char *service;
    const char *what;    /* "mean wait, ms" */
    const char *formula; /* its name, or why there is none */
    /* what it says; equal but for bounds; NAN: nothing, INFINITY: no steady state */
    double low, high;
    double simulated;
    bool parts; /* they are too far apart to be chance and approximation */
};

/* All services of a plan, one to two lines each. Returns the number; *out is from the arena. */
size_t crosscheck_services(const struct plan *plan, const struct policy_result *result,
                           struct arena *a, const struct crosscheck **out);

#endif
