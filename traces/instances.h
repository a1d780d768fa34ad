/* traces/instances.h - a task of n equal instances as rows of the native trace. Whole cards: one
 * job of n times the cards, which starts all or nothing. A fraction of a card for each: n jobs
 * named ID#1 .. ID#n, because n halves are n shares, not n/2 whole cards; they share their times
 * but are placed one by one. Threads: none. */
#ifndef GPUSIM_TRACES_INSTANCES_H
#define GPUSIM_TRACES_INSTANCES_H

#include "base/str.h"
#include "traces/format.h"

struct instances {
    struct import_row row; /* of every instance */
    int64_t n, k;          /* k of n are out */
    struct strbuf id;
};
enum { INSTANCES_MOST = 1000000 };

/* `row` is complete but for its GPUs, its cores and memory being those of one instance; per_milli:
 * GPUs of one instance. What cannot be said is quarantined. When the row becomes several this gives
 * the first; those that follow come from instances_next(), before the source is read on. */
void instances_start(struct instances *s, struct import_row *row, int64_t per_milli, int64_t n);
bool instances_next(struct instances *s, struct import_row *row);
void instances_fini(struct instances *s);

#endif
