/* model/mig.h - which MIG slices fit together, where, and in which order (pure geometry).
 *
 * A card is a row of memory units; an instance of profile p may be created at one of p's starts
 * when its units are free and fewer than p's max_instances exist (NVML placement rule; data: the
 * catalogue's placement table). Occupancy is a bit mask, unit 0 the lowest bit.
 *
 * "Plain" profiles are those without "+" in the name. A name with "-me" (RTX PRO 6000: an instance
 * without media engines) is plain and counts as a profile of its own, after its namesake.
 * Threads: pure functions. */
#ifndef GPUSIM_MODEL_MIG_H
#define GPUSIM_MODEL_MIG_H

#include "base/vec.h"
#include "model/gpu.h"

typedef uint32_t mig_mask;

struct mig_slice {
    int profile; /* index into geometry->profile */
    int start;
};

/* Instances that exist and cannot move. */
struct mig_running {
    struct mig_slice slice[MIG_MAX_UNITS];
    int n;
};

/* Which legal start the driver takes. The rule is named in every output: it changes results. */
enum mig_start_rule {
    MIG_LOWEST,
    MIG_HIGHEST,
    MIG_BEST_REMAINING, /* leaves the most placements for later requests; ties: lowest */
    MIG_START_RULES
};
extern const char *const mig_start_rule_names[MIG_START_RULES + 1]; /* NULL-terminated */

mig_mask mig_slice_mask(const struct mig_geometry *g, struct mig_slice s);
mig_mask mig_full_mask(const struct mig_geometry *g); /* every unit busy */
mig_mask mig_busy_mask(const struct mig_geometry *g, const struct mig_running *on);
/* A legal start for `profile` with `busy` taken, or -1. Counts of instances are the caller's. */
int mig_place(const struct mig_geometry *g, mig_mask busy, int profile, enum mig_start_rule rule);
/* The most compute slices that further plain instances can take beside `busy`.
 * O(1) with the table that gpu_read() prepares. */
int mig_reachable(const struct mig_geometry *g, mig_mask busy);
/* Compute slices still free but unreachable: no set of plain instances can use them
 * (design section 7, `stranded`). `used_slices` are taken. */
int mig_stranded_slices(const struct mig_geometry *g, mig_mask busy, int used_slices);
/* The plain profile with the most compute slices (ties: more memory, then the catalogue's order)
 * that can still be placed, or -1. */
int mig_largest_placeable(const struct mig_geometry *g, mig_mask busy);
/* By exact name ("3g.20gb"), ignoring case; -1 when absent. */
int mig_profile_find(const struct mig_geometry *g, const char *name);
/* Fill g->reach (2^memory_units bytes from the arena). */
void mig_reach_table(struct mig_geometry *g, struct arena *a);

/* The profile for a request of `milli` thousandths of a card that needs `bytes` of memory: the
 * smallest with memory_units / total >= milli / 1000 and usable_bytes >= bytes; ties: fewer
 * compute slices, then name. Only plain profiles; one whose usable bytes are unknown serves only a
 * request without bytes. -1: none is large enough. */
int mig_profile_for(const struct mig_geometry *g, int milli, uint64_t bytes);
/* The same among the profiles whose bits are set in `allowed`: those that a fixed layout has. */
int mig_profile_among(const struct mig_geometry *g, uint32_t allowed, int milli, uint64_t bytes);

/* Share of the whole card's SMs (MIG off) and of its bandwidth that one instance has. Where the
 * listing's SM count is unknown: slices over the board's slices, *assumed (may be NULL) set. */
double mig_sm_share(const struct gpu_spec *gpu, int profile, bool *assumed);
double mig_bw_share(const struct gpu_spec *gpu, int profile);

struct mig_layout {
    struct mig_slice slice[MIG_MAX_UNITS];
    int n;
};
typedef VEC(struct mig_layout) mig_layouts; /* vec_fini() */

/* All layouts that hold exactly the multiset want[0..n) of profiles, equal profiles
 * interchangeable, each sorted by start; layouts in lexicographic order of (start, profile).
 * n <= MIG_MAX_UNITS, else there are none. */
void mig_layouts_of(const struct mig_geometry *g, const int *want, int n, mig_layouts *out);

/* The same beside running instances; the answers hold the new instances only. */
void mig_layouts_beside(const struct mig_geometry *g, const struct mig_running *on, const int *want,
                        int n, mig_layouts *out);
/* Distinct creation orders (sequences of profiles) of the multiset that succeed beside running
 * instances under `rule`, in lexicographic order of profile name. *orders (freed by the caller)
 * holds order k in [k*n, k*n+n). Returns their number. */
size_t mig_orders_beside(const struct mig_geometry *g, const struct mig_running *on,
                         const int *want, int n, enum mig_start_rule rule, int **orders);

/* Counts over the chosen profiles: non-empty sets of non-overlapping (profile, start); those that
 * no further instance of the chosen profiles fits into; feasible multisets not strictly inside
 * another feasible one. `undominated` holds one placed example each (the first layout), in
 * descending order of slices, then catalogue order. Each profile at most max_instances times. */
struct mig_census {
    uint64_t all, maximal;
    mig_layouts undominated; /* vec_fini() */
};
void mig_census(const struct mig_geometry *g, const int *profiles, int n, struct mig_census *out);

/* The smallest set of running instances whose end makes room for want[0..n) beside the others;
 * ties: the earlier ones in the order given. unlock[0..) gets indices into on->slice[], ascending;
 * returns how many (0: it fits already), -1: not even on an empty card. At most 2^on->n
 * searches. */
int mig_unlock(const struct mig_geometry *g, const struct mig_running *on, const int *want, int n,
               int unlock[MIG_MAX_UNITS]);

/* The first rule that a multiset which does not fit beside `on` breaks, in words. Returns buf. */
char *mig_why_not(const struct mig_geometry *g, const struct mig_running *on, const int *want,
                  int n, char *buf, size_t size);

/* What comes nearest to a multiset that does not fit beside `on`: some of the wanted instances made
 * smaller (plain profiles) or left out, such that the fewest compute slices are lost; ties: most
 * instances, then most of the wanted profiles kept, then most memory units, then the first layout.
 * Placed, sorted by start; n = 0: nothing of it fits. */
struct mig_layout mig_nearest(const struct mig_geometry *g, const struct mig_running *on,
                              const int *want, int n);

#endif
