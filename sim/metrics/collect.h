/* metrics/collect.h - listens to a run and turns it into the result of a policy: job statistics
 * over all, by class and by user; card time, energy and cost.
 *
 * Ownership: collect_create/_destroy heap; collect_result() puts what it returns into the arena.
 * Threads: one collector, one run. Memory: O(users), samples in bounded memory (metrics/dist.h). */
#ifndef GPUSIM_METRICS_COLLECT_H
#define GPUSIM_METRICS_COLLECT_H

#include "engine/sim.h"
#include "model/result.h"

struct collect;

struct collect *collect_create(const struct plan *plan);
void collect_destroy(struct collect *c); /* accepts NULL */
/* For a caller that judges over several runs whether a queue grows: the percentiles of an unstable
 * run stay, and there is one more, p999. */
void collect_keep_percentiles(struct collect *c);
struct sink collect_sink(struct collect *c);

/* After the run. `tco` is left unpriced: cost/ works on the usage. */
void collect_result(struct collect *c, const struct sim_totals *t, struct arena *a,
                    struct policy_result *out);

#endif
