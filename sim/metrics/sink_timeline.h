/* metrics/sink_timeline.h - who was where when, as a trace that Perfetto and chrome://tracing open
 * ("Trace Event Format", Google 2016: complete events, ph X, times in microseconds).
 *
 * A process is a card of a policy. Its tracks are its slots: under MIG one for each memory slice at which an
 * instance begins (a whole card with MIG off stands on the first); else lanes, of which a job takes the lowest
 * that is free. So slices of a track never overlap; the time before the first start (instances made, library
 * started) is a slice inside the job's. Times are whole microseconds, rounded down: readers that hold them as doubles and
 * cut them to ns would make neighbours overlap by one otherwise, and drop a slice. What takes no time is left out: it would
 * not be drawn.
 *
 * Kept in memory until the run ends (about 90 bytes and the id a stay), because a lane is known only when all
 * that began before are; hence the limit. Those that left first are kept; how many were left out is said.
 * Errors: ERR_IO. Threads: one sink, one run. */
#ifndef GPUSIM_METRICS_SINK_TIMELINE_H
#define GPUSIM_METRICS_SINK_TIMELINE_H

#include "engine/sink.h"

struct timeline_sink {
    FILE *to;
    const struct timeline *want;
    int policy; /* place in the scenario: its processes come in that order */
    struct stay *stay;
    size_t n, cap;
    uint64_t left_out;
    struct arena *text;
};

struct timeline_sink timeline_init(FILE *to, const struct plan *plan, int policy);
struct sink timeline_sink(struct timeline_sink *t);
/* After the run: write the events, each line led by a comma, to t->to. 0 or ERR_IO. O(n log n). */
int timeline_write(struct timeline_sink *t, const struct plan *plan, struct err *e);
void timeline_fini(struct timeline_sink *t); /* harmless on {0} */

#endif
