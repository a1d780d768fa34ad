/* whatif/compare.h - do two result folders differ by more than chance?
 *
 * From stored files alone: result.json says what was run, jobs.csv what became of every job.
 * Policies meet by name; jobs submitted during the warm-up do not count.
 *
 * Paired (the default): both runs must have met the same work with the same seed. A job of one is
 * set against the same job of the other (job_id and submit_s), metric by metric, where both have
 * the figure. Neighbouring jobs share a queue and are not independent, so the differences are put
 * into 32 windows of submit time and the interval comes from the delete-one jackknife over windows
 * (whatif/interval.h). Fewer than 8 windows with jobs: paired t over the jobs. Unpaired: each run's
 * own mean with the jackknife over its windows; Welch's interval of the difference.
 *
 * Significance by Holm's procedure (Scandinavian Journal of Statistics 6, 1979) at 5 % over all
 * rows, so that two runs without a real difference are called different at most once in twenty
 * comparisons of folders, however many policies and metrics they have.
 *
 * Memory: bounded (about 80 MiB), whatever the number of jobs: jobs are joined in passes by hash.
 * O(rows x passes x policies). Threads: call from one. Ownership: the arena. */
#ifndef GPUSIM_WHATIF_COMPARE_H
#define GPUSIM_WHATIF_COMPARE_H

#include "base/arena.h"
#include "base/err.h"
#include "whatif/interval.h"

#include <stdbool.h>

enum compare_metric {
    COMPARE_WAIT,
    COMPARE_TURNAROUND,
    COMPARE_SLOWDOWN,
    COMPARE_COMPLETED, /* 1 or 0 */
    COMPARE_COST,
    COMPARE_ENERGY,
    COMPARE_METRICS
};
extern const char *const compare_metric_names[]; /* "wait_s", ... NULL-terminated */

enum { COMPARE_WINDOWS = 32, COMPARE_FEW = 8, COMPARE_JOIN = 1 << 19 /* jobs of a pass */ };

struct compare_row {
    const char *policy, *metric;
    uint64_t n;                 /* pairs; unpaired: jobs of the smaller side */
    double first, second;       /* means over those jobs */
    struct interval difference; /* second - first */
    bool by_windows;            /* else over jobs */
    /* As many independent jobs (unpaired: of the side that has fewer) would say as much: variance
     * of a job's value over the squared standard error. NAN: no interval, or nothing varies. */
    double effective_n;
    /* runs of that many times the length would just tell a difference of this size from none;
     * NAN: it is significant, none at all, or has no interval */
    double times_longer;
    double p; /* NAN: no interval */
    bool significant;
};

/* A figure of the whole run: there is one of it, so no interval. */
struct compare_total {
    const char *policy, *metric;
    double first, second; /* NAN: null */
};

struct comparison {
    bool paired;
    struct compare_row *row;
    size_t n_rows;
    struct compare_total *total;
    size_t n_totals;
    const char **only_first, **only_second; /* policies of one folder alone */
    size_t n_only_first, n_only_second;
    /* all policies of the first scenario, then those of the second alone: also where not run */
    const char **order;
    size_t n_order;
    uint64_t unmatched; /* jobs of one run alone */
    size_t n_tests;     /* rows in which some job differs */
    bool significant;   /* any */
};

/* ERR_IO, ERR_INPUT (also for work or seeds that differ, unless `unpaired`). `join`: jobs of a
 * pass, 0 = COMPARE_JOIN. */
int compare_folders(struct comparison *out, const char *first, const char *second, bool unpaired,
                    size_t join, struct arena *a, struct err *e);

#endif
