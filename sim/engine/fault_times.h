/* engine/fault_times.h - how long cards, nodes, racks and programs stay as they are: pure functions
 * of a stream of random numbers, of what it is about, and of how often it has changed before. The
 * numbers are counted, not drawn in turn, so what happens to one unit shifts no other. Any thread.
 *
 * Times between faults are exponential (reference TCO 3.8 gives rates); repairs as the scenario
 * says. In ns; SIM_NEVER - 1 where they are longer than any run. */
#ifndef GPUSIM_ENGINE_FAULT_TIMES_H
#define GPUSIM_ENGINE_FAULT_TIMES_H

#include "model/outage.h"

/* What of a group of the fleet fails by itself: a card of a node, a node (card -1), a rack (rack >=
 * 0). */
struct fault_unit {
    int64_t node, card, rack;
};

/* Of the group of this name; NULL: of the programs of all jobs. */
uint64_t fault_stream(uint64_t seed, uint64_t replication, const char *group);
simtime fault_unit_mtbf(const struct fault_rates *r, const struct fault_unit *u); /* 0: never */
simtime fault_unit_repair(const struct fault_rates *r, const struct fault_unit *u);
/* After so many changes of its state - an odd number: it is down - until the next. */
simtime fault_unit_stays(const struct fault_rates *r, uint64_t stream, const struct fault_unit *u,
                         uint32_t changes);
/* The job's program in this attempt, from when it comes onto its cards until its fault;
 * SIM_NEVER: there is none. */
simtime fault_program_lasts(const struct fault_rates *r, uint64_t stream, uint64_t order,
                            int32_t attempt);

#endif
