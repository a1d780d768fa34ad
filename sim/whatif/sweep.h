/* whatif/sweep.h - many variants of one scenario, each replayed several times, in a folder that a
 * killed sweep resumes from and that shards of a job array may share.
 *
 *   DIR/manifest.json          the sweep: version, scenario, axes, replications, hash of every point
 *   DIR/runs/ab/ab..-rK.json   one finished run: point (by its hash) and replication K
 *   DIR/sweep.csv, sweep.json  the tables, made from the files above and nothing else
 *
 * A run's file appears whole, under its final name, or not at all; runs that have one are never
 * computed again. The hash of a point covers the version, the resolved scenario and the contents of
 * all files that it names (whatif/sweep_name.h), so a changed input is another point. Tables depend
 * on the set of runs only: not on threads, shards, order, or how often it was killed.
 *
 * Replication K of a point draws from the streams of (seed, K): independent between replications,
 * common to all points and policies. A run that fails is recorded with its reason, does not stop the
 * others, and is tried again by the next sweep; so is one whose file is damaged (a disk that was full, a node
 * that lost power). Ownership: the _fini functions. Threads: call from
 * one. */
#ifndef GPUSIM_WHATIF_SWEEP_H
#define GPUSIM_WHATIF_SWEEP_H

#include "base/json.h"
#include "engine/plan.h"
#include "whatif/grid.h"
#include "whatif/trace_shelf.h"

struct sweep_options {
    const char *scenario;
    const char *const *vary; /* axes, as in whatif/grid.h */
    size_t n_vary;
    const char *design;     /* how axes meet, as in whatif/grid.h; NULL: cross */
    const char *const *set; /* for all points */
    size_t n_set;
    const char *const *only; /* names of policies to keep; none: all */
    size_t n_only;
    const char *const *metric; /* figures beside those that are always kept (whatif/figures.h) */
    size_t n_metric;
    size_t replications; /* at least 1 */
    unsigned threads;
    const char *dir; /* NULL: out/<scenario name>-sweep */
    struct shard shard;
};

struct sweep {
    struct sweep_options o;
    struct arena *arena;
    struct world world;
    struct trace_shelf *shelf; /* traces, parsed once; made by the first run */
    struct grid grid;
    const char *dir;
    json_t *manifest;
    struct sweep_point *point;
    bool random;  /* replications differ */
    size_t *todo; /* runs of this shard without a result, numbered point x replications + K */
    size_t n_todo, n_mine, n_runs;
    size_t n_failed; /* of those that sweep_run ran */
};

/* Load every point, name it, and look for what is done. Nothing is written. ERR_USAGE for axes and
 * paths; ERR_INPUT when no point can be loaded or `dir` holds another sweep. */
int sweep_plan(struct sweep *s, const struct sweep_options *o, struct err *e);
/* Run what is to do. ERR_IO when a result cannot be written, ERR_USAGE for a figure that names
 * nothing. */
int sweep_run(struct sweep *s, struct err *e);
/* Seconds that the runs to do would take, from timing the first and the last of them. */
int sweep_estimate(struct sweep *s, double *seconds, struct err *e);
void sweep_fini(struct sweep *s); /* harmless on {0} */

/* Path of a run's file below `dir`, from the arena. */
const char *sweep_run_path(struct arena *a, const char *dir, const char *sha256,
                           size_t replication);
/* The manifest of a folder, checked member by member; a new reference. ERR_INPUT; ERR_IO when there
 * is none. */
int sweep_manifest_load(json_t **out, const char *dir, struct err *e);
/* 0 when `dir` holds no sweep, or one of the same version and scenario as `manifest`; else
 * ERR_INPUT. */
int sweep_folder_is_free(const char *dir, const json_t *manifest, struct err *e);
int sweep_write_json(const char *path, const json_t *v, struct err *e);

/* A run's file, checked member by member and to be that run; json_doc_fini() it. ERR_INPUT for one
 * that is damaged or another's. */
int sweep_run_load(struct json_doc *out, const char *path, const char *sha256, size_t replication,
                   struct err *e);

#endif
