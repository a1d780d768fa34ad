/* whatif/grid.h - the points of a sweep: a few axes, and a design that says how their values meet.
 *
 * An axis is PATH=ITEM,ITEM,... (the path as in --set). An item is
 *   a value        4    dynamic    "2 ms"    ["3g.20gb","4g.20gb"]   (commas in brackets or quotes stay)
 *   a..b           whole numbers: a, a + 1, ... up to b
 *   a..b:step      a, a + step, ... up to b (step > 0; exact decimals: 0.1..0.3:0.1 is 0.1,0.2,0.3)
 *   a..b:xF        a, a F, a F^2, ... up to b (F > 1)
 *   a..b:logN      N values from a to b in equal ratios (N >= 2)
 *   a..b:any       any number from a to b; a..b:anylog: evenly in ratios (0 < a). The axis's only item,
 *                  and for lhs and sobol only. (Those two take whole numbers from a plain a..b.)
 * Ends of a range may carry the same unit: "1 ms..4 ms", "1..4 ms:0.5" is refused.
 *
 * Designs:
 *   cross          every combination; numbered with the last axis running fastest (the default)
 *   zip            first values together, second values together, ...: all axes equally long
 *   lhs:N[:SEED]   N points, each axis cut into N equal parts that are each met once (McKay, Beckman,
 *                  Conover 1979), in random order; SEED 1 unless given
 *   sobol:N        the first N points of Sobol's sequence (GSL), which fill the space evenly
 * In the last two, a list of k values is cut into k equal parts.
 *
 * Ownership: the arena. Threads: read-only once parsed. Errors: ERR_USAGE. */
#ifndef GPUSIM_WHATIF_GRID_H
#define GPUSIM_WHATIF_GRID_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { GRID_MAX_AXES = 16, GRID_MAX_POINTS = 1000000 };

struct axis {
    const char *path;
    const char **value; /* texts: all different; or one for each point */
    size_t n;
    bool open; /* any number of a range, not only those of a list */
};

struct grid {
    struct axis axis[GRID_MAX_AXES];
    size_t n_axes;
    size_t n_points; /* 1 without axes */
    bool paired;     /* point i has value i of each axis: all designs but cross */
};

/* `option`: what the axes were given as, for errors ("--vary"). `design`: NULL is cross; any other
 * needs an axis. */
int grid_parse(struct grid *out, struct arena *a, const char *option, const char *const *vary,
               size_t n, const char *design, struct err *e);
/* Value of an axis at a point. */
const char *grid_value(const struct grid *g, size_t point, size_t axis);
/* "path=value" for each axis, from the arena. */
const char **grid_set(const struct grid *g, size_t point, struct arena *a);

/* Which part of a job array this process is. Shards are counted from 1; 0 stands for the last one,
 * so that arrays counted from 0 work too. */
struct shard {
    size_t index, count; /* 1 <= index <= count */
};
/* From "I/N"; NULL: from SLURM_ARRAY_TASK_ID, _COUNT, _MIN and _STEP, else from
 * JOB_COMPLETION_INDEX (from 0) and JOB_COMPLETION_COUNT, else 1/1. *from (may be NULL) says where
 * it came from. */
int shard_parse(struct shard *out, const char *text, const char **from, struct err *e);
/* Is run number `i` of this shard? */
int shard_has(const struct shard *s, size_t i);

#endif
