/* model/mig_plan.h - which instances the cards of a fleet should have for the next period, so that
 * the most of a forecast demand is served (pure geometry and arithmetic: no clock, no jobs).
 *
 * Demand is time on instances, by profile, and what a second of it is worth. An instance that
 * exists and is free serves it for the whole period; one that is busy, from the end of its job on;
 * one that must be made first, after the repartition (and the mode change where MIG is off). So
 * with capacity c_p of profile p
 *     served = sum over p of worth_p x min(time_p, c_p)
 * and whole cards, which need MIG off, are one more kind of demand. Whose turn it is counts before
 * all that: one instance for each, busy ones from the end of their jobs on. Running instances never
 * move and never end for a plan.
 *
 * Method: card by card the layout that adds most (greedy), then exchanges of one card's or two
 * cards' layouts as long as they add anything. What adds nothing stays open. Served demand is
 * concave in the capacities; on small fleets the result is compared with the best of all
 * combinations by a test. Complexity: cards x layouts x profiles, plus pairs of exchanges while
 * they are few (PAIR_LIMIT). Threads: pure functions. */
#ifndef GPUSIM_MODEL_MIG_PLAN_H
#define GPUSIM_MODEL_MIG_PLAN_H

#include "model/mig.h"

/* Kinds of demand: the board's profiles, then whole cards at index n_profiles. */
enum { MIG_KINDS = MIG_MAX_PROFILES + 1 };

/* Each comes before all that the ones before it ask for. */
enum mig_turn { MIG_NO_TURN, MIG_TURN, MIG_FIRST_TURN };

struct mig_demand {
    double time_s[MIG_KINDS];
    double worth[MIG_KINDS];       /* of one second */
    enum mig_turn turn[MIG_KINDS]; /* of one instance */
};

/* One card as it is. */
struct mig_state {
    bool on;        /* MIG mode */
    bool whole;     /* held by a whole job: nothing to plan */
    double whole_s; /* until that ends */
    int n;
    struct mig_slice slice[MIG_MAX_UNITS];
    double busy_s[MIG_MAX_UNITS]; /* until its job ends; < 0: free */
};

struct mig_terms {
    double period_s, repartition_s, mode_change_s; /* the period is the longer */
};

/* out[i]: the instances that card i is to keep or get, sorted by start; the rest of the card is
 * open. They include running ones where that serves demand after their jobs. */
void mig_plan(const struct mig_geometry *g, const struct mig_terms *t, const struct mig_demand *d,
              const struct mig_state *card, size_t n, struct mig_layout *out);
/* What a plan serves. The instance of a turn is worth more than all of lower turns together could
 * be. */
double mig_plan_served(const struct mig_geometry *g, const struct mig_terms *t,
                       const struct mig_demand *d, const struct mig_state *card, size_t n,
                       const struct mig_layout *plan);

#endif
