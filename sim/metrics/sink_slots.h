/* metrics/sink_slots.h - slots.csv: who held which slot of the first cards, for the map of
 * slots: jobs and replicas of services, every stay of them, those that have not ended too. Under
 * the policy "mig" only: elsewhere cards have no slots with a place.
 *
 * Rows: policy, kind (job, service), id, card, start (first memory slice), units (memory slices;
 * 0: the whole card with MIG off), slices (of compute), from_s, to_s; in the order in which the
 * slots were left. Bounded: the first SLOTS_CARDS cards of the first node and SLOTS_ROWS rows;
 * what comes later is left out. Errors: ERR_IO. Threads: one sink, one run. */
#ifndef GPUSIM_METRICS_SINK_SLOTS_H
#define GPUSIM_METRICS_SINK_SLOTS_H

#include "engine/sink.h"

enum { SLOTS_CARDS = 8, SLOTS_ROWS = 20000 };

extern const char slots_csv_header[];

struct slots_csv {
    FILE *to;
    int rows;
};

bool slots_csv_has(const struct plan *plan); /* whether there is anything to write */
struct sink slots_csv_sink(struct slots_csv *c);

#endif
