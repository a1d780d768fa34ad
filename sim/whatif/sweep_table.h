/* whatif/sweep_table.h - the runs of a sweep as tables: one row a point and policy, means over the
 * replications with 95 % Student intervals. Made from manifest and run files alone.
 *
 * A statistic that some replication does not have has no mean: the rest would be a biased choice.
 * Whether a queue grows is judged over all replications of a point together (whatif/queue_runs.h);
 * then its percentiles are left out. Without generated work replications are all alike and there is
 * no interval.
 *
 * Memory: the manifest, 16 bytes a run, and one point at a time: rows are made, written and
 * forgotten. Ownership: the arena, and sweep_table_fini(). Threads: call from one. */
#ifndef GPUSIM_WHATIF_SWEEP_TABLE_H
#define GPUSIM_WHATIF_SWEEP_TABLE_H

#include "base/str.h"
#include "whatif/interval.h"
#include "whatif/queue_runs.h"
#include "whatif/sweep.h"
#include "whatif/sweep_index.h"

struct sweep_row {
    size_t point;
    const char *policy, *kind; /* "" when no run of the point succeeded */
    size_t n, failed;          /* runs behind the figures; runs that failed */
    enum queue_state queue;    /* of the jobs' and the services' the worst */
    const char *error;         /* of the first failure; NULL: none */
    struct interval *metric;   /* in the order of the table's */
    /* against the first policy of the point, paired by replication (common random numbers) */
    struct interval *versus;
};

struct sweep_table {
    json_t *manifest; /* owned */
    struct grid grid;
    const char **metric; /* paths of the figures */
    size_t n_metrics, replications, n_runs;
    struct sweep_index index;
    struct arena *arena; /* lent */
    /* of the last count or pass */
    size_t n_missing, n_failed;
    size_t missing;     /* the first of the missing: point x replications + K */
    const char *error;  /* of the first failure; NULL: none */
    size_t error_point; /* where */
};

/* A sweep whose runs are in `dirs`, which are lent; `manifest` is sweep_manifest_load()'s or a
 * plan's. ERR_IO. */
int sweep_table_open(struct sweep_table *t, json_t *manifest, const char *const *dirs,
                     size_t n_dirs, struct arena *a, struct err *e);
void sweep_table_fini(struct sweep_table *t); /* harmless on {0} */
const char *sweep_table_sha256(const struct sweep_table *t, size_t point);

/* How many runs are missing, by their names alone. A run found in two folders is ERR_INPUT. O(runs
 * x log). */
int sweep_table_count(struct sweep_table *t, struct err *e);
/* The rows of every point that has a run, lent until the callback returns; non-zero ends. Runs
 * are copied below `copy_to` on the way (NULL: not) where they are not there yet. */
typedef int sweep_each(void *ctx, const struct sweep_row *row, size_t n, struct err *e);
int sweep_table_each(struct sweep_table *t, const char *copy_to, sweep_each *each, void *ctx,
                     struct err *e);
/* sweep.csv and sweep.json into `dir`; the table for a terminal to `text` (NULL: not). */
int sweep_table_write(struct sweep_table *t, const char *dir, const char *copy_to,
                      struct strbuf *text, struct err *e);

/* Join shards: every manifest alike, every run there exactly once, into `out` (may be one of
 * `dirs`). `partial`: missing runs are left out instead of refused. */
int sweep_merge(struct sweep_table *t, const char *const *dirs, size_t n_dirs, const char *out,
                bool partial, struct strbuf *text, struct arena *a, struct err *e);

#endif
