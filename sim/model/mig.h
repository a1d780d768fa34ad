/* model/mig.h - which MIG slices fit together, where, and in which order (pure geometry).
 *
 * A card is a row of memory units; an instance of profile p may be created at one of p's starts
 * when its units are free (NVML placement rule; data: the catalogue's placement table). Occupancy
 * is a bit mask, unit 0 the lowest bit. Threads: pure functions. */
#ifndef GPUSIM_MODEL_MIG_H
#define GPUSIM_MODEL_MIG_H

#include "base/vec.h"
#include "model/gpu.h"

typedef uint32_t mig_mask;

struct mig_slice {
    int profile; /* index into geometry->profile */
    int start;
};

/* Which legal start the driver takes. The rule is named in every output: it changes results. */
enum mig_start_rule {
    MIG_LOWEST,
    MIG_HIGHEST,
    MIG_BEST_REMAINING, /* leaves the most placements for later requests; ties: lowest */
    MIG_START_RULES
};
extern const char *const mig_start_rule_names[MIG_START_RULES + 1];

mig_mask mig_slice_mask(const struct mig_geometry *g, struct mig_slice s);
/* A legal start for `profile` with `busy` taken, or -1. */
int mig_place(const struct mig_geometry *g, mig_mask busy, int profile, enum mig_start_rule rule);
/* Compute slices still free but unreachable: no plain profile can be created that uses them
 * (design section 7, `stranded`). `used_slices` are taken. */
int mig_stranded_slices(const struct mig_geometry *g, mig_mask busy, int used_slices);
/* The plain profile with the most compute slices that can still be placed, or -1. */
int mig_largest_placeable(const struct mig_geometry *g, mig_mask busy);
/* By exact name ("3g.20gb"); -1 when absent. */
int mig_profile_find(const struct mig_geometry *g, const char *name);

/* The profile for a request of `milli` thousandths of a card that needs `bytes` of memory: the
 * smallest with memory_units / total >= milli / 1000 and usable_bytes >= bytes; ties: fewer
 * compute slices, then name. Only plain profiles. -1: none is large enough. */
int mig_profile_for(const struct mig_geometry *g, int milli, uint64_t bytes);

/* All layouts that hold exactly the multiset want[0..n) of profiles, equal profiles
 * interchangeable, each sorted by start; layouts in lexicographic order of (start, profile). */
struct mig_layout {
    struct mig_slice slice[MIG_MAX_UNITS];
    int n;
};
typedef VEC(struct mig_layout) mig_layouts;
void mig_layouts_of(const struct mig_geometry *g, const int *want, int n, mig_layouts *out);

/* Distinct creation orders (sequences of profiles) of the multiset that succeed under `rule`, in
 * lexicographic order of profile name. order[i*n .. i*n+n). Returns their number. */
size_t mig_creation_orders(const struct mig_geometry *g, const int *want, int n,
                           enum mig_start_rule rule, int **orders);

/* Counts over the chosen profiles: non-empty sets of non-overlapping (profile, start); those that
 * no further instance fits into; feasible multisets not strictly inside another feasible one. */
struct mig_census {
    uint64_t all, maximal;
    mig_layouts undominated; /* one placed example each; multisets in a fixed order */
};
void mig_census(const struct mig_geometry *g, const int *profiles, int n, struct mig_census *out);

#endif
