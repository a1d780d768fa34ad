/* whatif/runner.h - all policies of a scenario, side by side on several cores, into one result.
 *
 * The result does not depend on the number of threads: each policy is a run of its own, and output
 * is put together in scenario order. Ownership: runner_fini() frees. Threads: call from one. */
#ifndef GPUSIM_WHATIF_RUNNER_H
#define GPUSIM_WHATIF_RUNNER_H

#include "engine/plan.h"
#include "model/result.h"

struct runner {
    struct world world;
    struct scenario scenario;
    struct plan *plan; /* those chosen, in scenario order */
    size_t n;
    struct arena *arena;
    struct result result;
    json_t *resolved;
    FILE **jobs, **series; /* one scratch stream per policy, rewound; NULL: not asked for */
};

/* Load the scenario and everything it names. `only` (may be empty): names of policies to keep.
 * Problems of the input go to `d`; 0 or a negative code for the rest. */
int runner_load(struct runner *r, const char *path, const char *const *set, size_t n_set,
                const char *const *only, size_t n_only, struct diag *d, struct err *e);
/* Replay. Scratch files are made, nameless, in `dir` (NULL: no job and series rows are kept). */
int runner_run(struct runner *r, const char *dir, unsigned threads, struct err *e);
void runner_fini(struct runner *r); /* harmless on {0} */

#endif
