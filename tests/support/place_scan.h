/* tests/support/place_scan.h - the node-level placements written down plainly: every card of every
 * node is looked at for every request, nothing is remembered but the mix of fgd. The oracle of
 * policy/nodescore.h, and what its speed is compared with.
 *
 * Only plain cards (no MIG instances) and requests that one node can hold. */
#ifndef GPUSIM_TESTS_PLACE_SCAN_H
#define GPUSIM_TESTS_PLACE_SCAN_H

#include "engine/cluster.h"

struct place_scan;

enum place_scan_rule { SCAN_PACK, SCAN_SPREAD, SCAN_FGD, SCAN_BEST_FIT_NODE };

struct place_scan *place_scan_create(const struct cluster *c, enum place_scan_rule rule);
void place_scan_destroy(struct place_scan *s); /* accepts NULL */
void place_scan_submitted(struct place_scan *s, const struct place_request *r);
/* Take the mix as it is now; place_scan_submitted() does it at powers of two. */
void place_scan_learn(struct place_scan *s);
/* As place_ops.pick_any, without its way out for gangs that no node holds. */
int place_scan_pick(const struct place_scan *s, const struct place_request *r, struct pick *out);
/* Expected fragment of the whole fleet over the mix of fgd, in cards. */
double place_scan_fragments(const struct place_scan *s);

#endif
