/* whatif/runner.h - all policies of a scenario, side by side on several cores, into one result.
 *
 * The result does not depend on the number of threads: each policy is a run of its own, and output
 * is put together in scenario order. Ownership: runner_fini() frees. Threads: call from one. */
#ifndef GPUSIM_WHATIF_RUNNER_H
#define GPUSIM_WHATIF_RUNNER_H

#include "engine/plan.h"
#include "model/result.h"
#include "whatif/trace_shelf.h"

struct runner {
    struct world world; /* its own; {0} when it was lent one */
    struct scenario scenario;
    struct plan *plan; /* those chosen, in scenario order */
    size_t n;
    struct arena *arena;
    struct result result;
    json_t *resolved;
    struct price_book rent; /* where the scenario names one */
    FILE **jobs, **series, **services, **slots,
        **timeline;        /* one scratch stream per policy, rewound; NULL: not asked for */
    uint64_t replication;  /* which of the independent repetitions of the generated work */
    size_t replications;   /* those after it too, for the chances of the advice; 0, 1: none */
    bool silent;           /* no line of progress: many runs at a time */
    bool mute;             /* no warning on the log either: they were said */
    bool keep_percentiles; /* as in metrics/collect.h */
    bool (*stop)(void);    /* as in engine/sim.h: set before runner_run(); NULL: never */
};

/* For many runs of variants of one scenario. */
struct runner_options {
    const struct world
        *world;             /* lent, read-only, shared by runs on other threads; NULL: load one */
    const char *const *set; /* "path=value" */
    size_t n_set;
    const char *const *only; /* names of policies to keep; none: all */
    size_t n_only;
    uint64_t replication;
    bool silent, mute, no_hash; /* no_hash: leave result.trace_sha256 empty */
    bool keep_percentiles;
    struct trace_shelf *shelf; /* lent: traces are read from it; NULL: from their files */
};

/* Load the scenario and everything it names. `only` (may be empty): names of policies to keep; what
 * is wrong with the others does not matter, unless the file is no scenario at all (keys, types).
 * Problems of the input go to `d`; 0 or a negative code for the rest. */
int runner_load(struct runner *r, const char *path, const char *const *set, size_t n_set,
                const char *const *only, size_t n_only, struct diag *d, struct err *e);
/* The same, with all there is to choose. */
int runner_load_with(struct runner *r, const char *path, const struct runner_options *o,
                     struct diag *d, struct err *e);
/* Do replications differ? Only generated work draws random numbers. */
bool runner_is_random(const struct runner *r);
/* Replay. Policies that `stop` ended early are marked in the result, which then holds neither a
 * comparison nor a decision: they saw different parts of the work. Scratch files are made,
 * nameless, in `dir` (NULL: no job and series rows are kept). */
int runner_run(struct runner *r, const char *dir, unsigned threads, struct err *e);
void runner_fini(struct runner *r); /* harmless on {0} */

#endif
