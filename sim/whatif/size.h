/* whatif/size.h - how many nodes are enough: the least-cost number for a policy at which every
 * target is met.
 *
 * A target is an expression on the policy's result, "jobs.wait_s.p99<=0.5". With generated work it
 * is judged on replications: met when its whole 95 % Student interval lies within it, missed when
 * the whole interval lies outside, and repeated (4, 8, 16 ... up to a budget) while the interval
 * straddles it; still undecided at the end counts as not met, and is called so. Intervals are
 * looked at again after each doubling, so they are a little too sure. A run that is unstable,
 * fails, or has no such statistic misses.
 *
 * Whether a queue grows without end is a question to all replications together
 * (whatif/queue_runs.h): of single short runs many look as if it did.
 *
 * The search doubles from `min` until all targets are met, halves the gap, and then looks at the
 * two numbers below the answer, the two above it, and the middle of every gap between smaller
 * numbers that were tried. The response need not be monotone (gangs that no longer divide a fleet,
 * MIG layouts): when a smaller fleet meets the targets or a larger one misses them, everything from
 * `min` to twice the answer is tried, at most 512 numbers, and the odd regions are reported. `scan`
 * tries every number. What lies between numbers that were not tried is not known.
 *
 * `over` varies more of the scenario than the number of nodes (card types, MIG layouts, anything):
 * each policy is sized at each point of that grid, and the least cost over all of them is the
 * answer. A point that cannot be (slices that the card does not have) is kept with its reason.
 *
 * What each nine costs: a target on a percentile is also sized at p90, p99 and p999, one on an
 * attainment at 0.9, 0.99 and 0.999, for the answer's policy and point, the other targets as they
 * are. Ownership: size_fini(). Threads: call from one. */
#ifndef GPUSIM_WHATIF_SIZE_H
#define GPUSIM_WHATIF_SIZE_H

#include "engine/plan.h"
#include "model/result.h"
#include "whatif/grid.h"
#include "whatif/interval.h"
#include "whatif/queue_runs.h"
#include "whatif/trace_shelf.h"

enum { SIZE_MAX_TARGETS = 16, SIZE_SCAN = 512, SIZE_NINES = 3, SIZE_MOST_RUNS = 1024 };

enum slo_op { SLO_LE, SLO_LT, SLO_GE, SLO_GT, SLO_EQ, SLO_NE };
struct slo {
    const char *text, *path; /* as given; dotted, relative to a policy's result */
    enum slo_op op;
    double limit;
};
/* ERR_USAGE. Memory from `a`. */
int slo_parse(struct slo *out, struct arena *a, const char *text, struct err *e);
bool slo_holds(const struct slo *s, double value);
/* ERR_USAGE when two targets on one figure leave it no value. O(n^2). */
int slo_check(const struct slo *s, size_t n, struct err *e);

enum verdict { SIZE_MISSED, SIZE_UNDECIDED, SIZE_MET };
extern const char *const verdict_names[];
/* Judge n values; NAN: the statistic does not exist. n == 1: the value itself. */
enum verdict slo_judge(const struct slo *s, const double *x, size_t n, struct interval *out);

/* The percentile that a target is about, "p99"; NULL: none. */
const char *slo_percentile(const struct slo *s);
/* The target with level + 1 nines in place of its own: false when it has none, or level >=
 * SIZE_NINES. */
bool slo_nines(const struct slo *s, size_t level, struct arena *a, struct slo *out);

struct size_trial {
    int64_t nodes, cards;
    size_t n;               /* replications */
    bool stable;            /* false: its queue grows, or that is undecided */
    const char *problem;    /* a run failed; NULL: none */
    enum queue_state queue; /* of several queues the worst */
    enum verdict verdict;   /* the worst of the targets and of the queue */
    enum verdict target[SIZE_MAX_TARGETS];
    struct interval value[SIZE_MAX_TARGETS];
    double cost_usd; /* mean; NAN: not priced */
};

struct size_region {
    int64_t from, to; /* numbers tried */
    bool met;         /* against what the neighbours suggest */
};

struct size_answer {
    const char *policy, *path; /* path of the number of nodes in the scenario */
    size_t point;              /* of sizing.over */
    const char *problem;       /* this point cannot be: no trials; NULL */
    struct size_trial *trial;  /* by number of nodes; owned */
    size_t n_trials;
    const struct size_trial *best;         /* NULL: none meets all */
    const struct size_trial *next_smaller; /* the largest smaller fleet that was tried; NULL */
    struct size_region *odd;               /* owned */
    size_t n_odd;
};

/* One target at another number of nines. */
struct size_nine {
    size_t target; /* of the targets as given */
    struct slo slo;
    bool met; /* by some number up to `max`; else the rest is 0 */
    int64_t nodes, cards;
    double cost_usd;
};

struct size_options {
    const char *scenario;
    const char *const *slo;
    size_t n_slo;
    const char *const *set;
    size_t n_set;
    const char *const *only;
    size_t n_only;
    const char *group;   /* fleet group; NULL: the only one */
    int64_t min, max;    /* max 0: 16 times the present number, at least 64 */
    size_t replications; /* budget for one trial; 0: 16 */
    unsigned threads;
    bool scan;
    const char *const *over; /* axes as in whatif/grid.h */
    size_t n_over;
    const char *design; /* of `over`; NULL: cross */
    bool no_nines;
};

struct sizing {
    struct size_options o;
    struct arena *arena;
    struct world world;
    struct trace_shelf *shelf; /* owned */
    struct slo slo[SIZE_MAX_TARGETS];
    const char *name; /* of the scenario */
    char sha256[65];
    uint64_t seed;      /* of the scenario, after `set` */
    const char **order; /* names of all policies of the scenario */
    size_t n_order;
    struct grid over;
    struct size_answer *answer; /* by point, and in it by policy in scenario order */
    size_t n_answers;
    struct size_nine *nine; /* owned; by target and level, of size_cheapest() */
    size_t n_nines;
    bool random;
};

/* ERR_USAGE for expressions, groups and paths that name nothing; ERR_INPUT for the scenario, or
 * when no point of `over` can be. */
int size_run(struct sizing *s, const struct size_options *o, struct err *e);
/* The policy and point that meet the targets at least cost, or with the fewest cards where some
 * answer has no cost; the first of equals. NULL: none meets them. */
const struct size_answer *size_cheapest(const struct sizing *s);
void size_fini(struct sizing *s); /* harmless on {0} */

/* The search alone, on any response: try(ctx, nodes, out) fills a trial or returns an error. */
typedef int size_try(void *ctx, int64_t nodes, struct size_trial *out, struct err *e);
int size_search(struct size_answer *out, int64_t min, int64_t max, bool scan, size_try *attempt,
                void *ctx, struct err *e);
void size_answer_fini(struct size_answer *a);

#endif
