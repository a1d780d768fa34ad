/* engine/shape.h - what a job looks like to the fleet, worked out once for all jobs that look
 * alike: its work signature and its demand on each group of cards.
 *
 * Shapes are counted: one dies with its last job, so memory follows the jobs in the system.
 * Threads: one run, one thread. */
#ifndef GPUSIM_ENGINE_SHAPE_H
#define GPUSIM_ENGINE_SHAPE_H

#include "engine/share.h"

struct plan;

/* One group of the fleet, seen by a shape. */
struct fit {
    bool feasible; /* on an empty group; else `reason` */
    const char *reason;
    struct demand demand;
    struct signature sig; /* on this card type */
    double transfer;      /* isolated time here / isolated time on the recorded card */
    double flops_per_s;   /* useful operations per isolated second here; NAN unknown */
};

struct shape {
    uint64_t id;   /* never used again by another shape of the run */
    uint64_t jobs; /* in the system */
    uint64_t submitted;
    bool rejected; /* no group can ever serve it */
    const char *reason;
    struct request request;
    struct signature sig; /* on the reference card */
    int32_t cpus_milli;
    uint64_t host_bytes;
    struct fit *fit; /* one per group */
    /* The scheduler's: waiting jobs that may overtake; the walk through the queue that found no
     * room, and no room beside the reservation. */
    uint64_t candidates, no_room, no_room_beside;
    /* Of engine/bounds.h: where its lists begin, if they are of this pass. */
    uint64_t bounds_pass;
    size_t bounds;
};

struct shape_table;

struct shape_table *shape_table_create(const struct plan *plan, struct symtab *names);
void shape_table_destroy(struct shape_table *t); /* accepts NULL */

/* Which column of a row names something that does not exist, and what is near; lent by the
 * table. */
struct unknown_name {
    const char *column, *why;
};
/* The shape of a row, counted once more. NULL: see *unknown. O(1) when seen before. */
struct shape *shape_of(struct shape_table *t, const struct job_row *row,
                       struct unknown_name *unknown);
void shape_drop(struct shape_table *t, struct shape *s);

/* The shapes submitted most often so far, at most `max`: for the fragmentation measure. */
size_t shape_frequent(const struct shape_table *t, const struct shape **out, size_t max);

#endif
