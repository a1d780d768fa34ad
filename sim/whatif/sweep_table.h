/* whatif/sweep_table.h - the runs of a sweep as tables: one row a point and policy, means over the
 * replications with 95 % Student intervals. Made from manifest and run files alone.
 *
 * A statistic that some replication does not have has no mean: the rest would be a biased choice. Whether a
 * queue grows is judged over all replications of a point together (whatif/queue_runs.h); then its percentiles
 * are left out. Without generated work replications are all alike and there is no
 * interval. Ownership: the arena, and _fini for the manifest. Threads: plain data. */
#ifndef GPUSIM_WHATIF_SWEEP_TABLE_H
#define GPUSIM_WHATIF_SWEEP_TABLE_H

#include "base/str.h"
#include "whatif/interval.h"
#include "whatif/queue_runs.h"
#include "whatif/sweep.h"

struct sweep_row {
    size_t point;
    const char *policy, *kind;                 /* "" when no run of the point succeeded */
    size_t n, failed;                          /* runs behind the figures; runs that failed */
    enum queue_state queue;                    /* of the jobs' and the services' the worst */
    const char *error;                         /* of the first failure; NULL: none */
    struct interval metric[SWEEP_MAX_METRICS]; /* in the order of sweep_metrics */
    /* Against the first policy of the point, paired by replication (common random numbers). */
    struct interval versus[SWEEP_MAX_METRICS];
};

struct sweep_table {
    json_t *manifest; /* owned */
    struct grid grid;
    struct sweep_row *row;
    size_t n_rows;
    size_t n_runs, n_missing, n_failed;
    size_t missing; /* the first of the missing: point x replications + K */
};

/* Read the runs from `dirs`. A run found in two of them is ERR_INPUT; missing ones are counted. */
int sweep_table_load(struct sweep_table *t, json_t *manifest, const char *const *dirs,
                     size_t n_dirs, struct arena *a, struct err *e);
void sweep_table_fini(struct sweep_table *t); /* harmless on {0} */

void sweep_table_text(const struct sweep_table *t, struct strbuf *out);
void sweep_table_csv(const struct sweep_table *t, struct strbuf *out);
json_t *sweep_table_json(const struct sweep_table *t);
/* sweep.csv and sweep.json into `dir`. */
int sweep_table_write(const struct sweep_table *t, const char *dir, struct arena *a, struct err *e);

/* Join shards: every manifest alike, every run there exactly once, into `out` (may be one of `dirs`).
 * `partial`: missing runs are left out instead of refused. */
int sweep_merge(struct sweep_table *t, const char *const *dirs, size_t n_dirs, const char *out,
                bool partial, struct arena *a, struct err *e);

#endif
