/* cost/bookrisk.h - what the ranges of a price book do to the cost of runs: each policy is an
 * option, each item with a range that some policy pays for is an input, found by its name in all
 * books, as are ranges of PUE, discount rate and what an item keeps of its value a year. With
 * replications of the simulation "replication" is one more input: a draw prices all policies on
 * the same one, so prices and chance of the work vary together; at the modes the mean over all
 * counts.
 *
 * Ownership: the arena. Threads: the model's cost function is pure. O(items the fleet pays for)
 * each. */
#ifndef GPUSIM_COST_BOOKRISK_H
#define GPUSIM_COST_BOOKRISK_H

#include "cost/montecarlo.h"
#include "cost/tco.h"

struct priced_use {
    const char *name, *share;         /* policy and its sharing kind */
    const struct usage *const *usage; /* n_usage >= 1 of them: one per replication */
    size_t n_usage;
    const struct price_book *book;
};

/* Cost is the equivalent annual cost, as tco_price() has it; tco_check() must have passed. What
 * `use` points to must outlive the model. */
struct mc_model bookrisk_model(const struct priced_use *use, size_t n, struct arena *a);

/* The same with another cost: `measure` of option `option`, replication `k`, under `book` (the
 * option's, with the amounts of the draw as its modes). Must be a pure function; `ctx` must outlive
 * the model. */
typedef double book_measure(const void *ctx, size_t option, size_t k,
                            const struct price_book *book);
struct mc_model bookrisk_model_of(const struct priced_use *use, size_t n, book_measure *measure,
                                  const void *ctx, struct arena *a);

#endif
