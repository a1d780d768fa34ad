/* metrics/sink_timeline.h - who was where when, as a trace that Perfetto and chrome://tracing open
 * ("Trace Event Format", Google 2016: complete events, ph X, and counters, ph C; times in
 * microseconds).
 *
 * A process is a policy, its tracks are the slots of its cards: under MIG one for each memory
 * slice at which an instance begins (a whole card with MIG off stands on the first); else lanes,
 * of which a job takes the lowest that is free. Perfetto puts processes into an order of its own
 * (by their number of slices) and a process's tracks into that of their numbers, so only thus do
 * the cards of a policy stand together and in order. Slices of a track never overlap; the time
 * before the first start (instances made, library started) is a slice inside the job's. Times
 * are whole microseconds, rounded down: readers that hold them as doubles and cut them to ns
 * would make neighbours overlap by one otherwise, and drop a slice. What takes no time is left
 * out: it would not be drawn. Nothing stands outside the window, since viewers show from the
 * first event to the last.
 *
 * Counters of a policy, from the samples of the series: jobs waiting, card time held (%), power
 * of the boards (W); the last two are means from one event to the next. An event that would
 * repeat the value is not written.
 *
 * Kept in memory until the run ends (about 90 bytes and the id a stay), because a lane is known
 * only when all that began before are; hence the limit. Those that left first are kept; how many
 * were left out is said, where the first of them ended. Of the samples the limit holds, too:
 * beyond it, neighbours are joined. Errors: ERR_IO. Threads: one sink, one run. */
#ifndef GPUSIM_METRICS_SINK_TIMELINE_H
#define GPUSIM_METRICS_SINK_TIMELINE_H

#include "engine/sink.h"

struct timeline_sink {
    FILE *to;
    const struct timeline *want;
    int policy; /* place in the scenario */
    struct stay *stay;
    size_t n, cap;
    struct reading *reading; /* samples, `joined` of them in each */
    size_t n_readings, cap_readings;
    int64_t joined;
    uint64_t left_out;
    simtime left_out_at; /* when the first of them ended */
    struct arena *text;
};

struct timeline_sink timeline_init(FILE *to, const struct plan *plan, int policy);
struct sink timeline_sink(struct timeline_sink *t);
/* After the run: write the events, each line led by a comma, to t->to. 0 or ERR_IO. O(n log n). */
int timeline_write(struct timeline_sink *t, const struct plan *plan, struct err *e);
void timeline_fini(struct timeline_sink *t); /* harmless on {0} */

#endif
