/* cost/spares.h - how many cards to buy so that enough are up (reference TCO 3.1).
 *
 *     P(at least n of n + k up) = P(X <= k),  X ~ Binomial(n + k, q)
 *     q = failures per card-year x repair days / 365
 * Cards fail independently of each other; n up to 1e8. Units: cards, shares 0..1. Pure functions;
 * any thread. */
#ifndef GPUSIM_COST_SPARES_H
#define GPUSIM_COST_SPARES_H

#include <stdint.h>

/* Share of time a card is down; at most 1. */
double spares_unavailability(double failures_per_year, double repair_days);
/* Probability that at least n of n + k cards are up. */
double spares_up(int64_t n, int64_t k, double unavailability);
/* Smallest k with spares_up() >= target; -1 when more than 4 n + 64 would be needed (the target or
 * the unavailability is near 1). O(log n) evaluations. */
int64_t spares_needed(int64_t n, double unavailability, double target);
/* Cards of whole nodes that hold at least `cards`. */
int64_t spares_whole_nodes(int64_t cards, int64_t cards_per_node);

#endif
