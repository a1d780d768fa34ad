/* tests/support/second_draw.h - what of a random scenario for the second engine is drawn here:
 * faults, and the parameters of cards that are shared. */
#ifndef GPUSIM_TESTS_SECOND_DRAW_H
#define GPUSIM_TESTS_SECOND_DRAW_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* ", 'faults': {..}" of the scenario: cards, nodes, racks (if there are any) and programs fail
 * every few minutes. */
void second_draw_faults(uint64_t *seed, bool racks, struct strbuf *top);
/* ", 'faults': {..}" of a group, some of them. */
void second_draw_group_faults(uint64_t *seed, struct strbuf *fleet);
/* ", 'fault': '..'" of a policy: whom the fault of a program ends. */
void second_draw_blast(uint64_t *seed, struct strbuf *share);
/* ", 'capacity': [..]" of a group: some nodes, or cards of them, come and go at stated times. */
void second_draw_capacity(uint64_t *seed, int nodes, int per_node, struct strbuf *fleet);

/* "'kind': '..', .." of a policy, all parameters of its kind. */
void second_draw_overcommit(uint64_t *seed, struct strbuf *share);
/* swaps: memory may, since all cards of the fleet have a bus. */
void second_draw_timeslice(uint64_t *seed, bool swaps, struct strbuf *share);
/* before_volta: some cards of the fleet are. */
void second_draw_mps(uint64_t *seed, bool before_volta, struct strbuf *share);
void second_draw_intercept(uint64_t *seed, struct strbuf *share);

#endif
