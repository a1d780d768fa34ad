/* engine/places.h - which places will be free for how long, for promises of conservative backfill:
 * each node with its whole cards, CPU cores and host memory over time, and each card with its units
 * and reserved bytes where cards are shared. Cards of a node that are given as wholes are as good
 * as each other, so a promise of them is for a node.
 *
 * Not for instances (which will exist is not known), pools, gangs on any cards or within NVLink
 * domains: there the scheduler counts units of a group, which is exact on a flat pool of whole
 * cards.
 *
 * Complexity: drawing is O(nodes + cards); a question is O(nodes x steps of each), or cards where
 * they are shared (of gangs then also x the cards they want on a node). Threads: one run, one
 * thread. */
#ifndef GPUSIM_ENGINE_PLACES_H
#define GPUSIM_ENGINE_PLACES_H

#include "engine/cluster.h"
#include "engine/job.h"

struct places;

/* NULL: units are all there is to count in this plan. */
struct places *places_create(const struct plan *plan, const struct cluster *cluster);
void places_destroy(struct places *p); /* accepts NULL */

/* From `now` on everything in service is free. */
void places_draw(struct places *p, simtime now);
/* A node (-1: a card) that is out of service is free again from then on. */
void places_come_back(struct places *p, int32_t node, uint32_t card, simtime at);
/* A job holds this pick from `from` until `until`; SIM_NEVER: for ever. */
void places_hold(struct places *p, const struct place_request *r, const struct pick *pick,
                 simtime from, simtime until);
/* Is the pick free all that time? */
bool places_free(struct places *p, const struct place_request *r, const struct pick *pick,
                 simtime from, simtime until);
/* No such place is free for `length` before this time, which is `from` or later; there may be
 * none then either, of a gang larger than a node, or since now a card may not do. SIM_NEVER:
 * none at all. */
simtime places_not_before(struct places *p, const struct place_request *r, simtime from,
                          simtime length);
/* A place that is: the tightest node or card, then the lowest number; a gang larger than a node on
 * the first free nodes and the rest on the tightest. With `from` now its cards are free now. */
bool places_find(struct places *p, const struct place_request *r, simtime from, simtime until,
                 struct pick *out);

#endif
