/* metrics/service_stats.h - the figures of a run's services: distributions, targets, goodput.
 *
 * Statistics cover requests that came after the warm-up and have left by the end. A request is
 * within a target when its own figure is; the target itself is about the percentile it names.
 * Dropped and unservable requests are within none. Percentiles are exact to a million samples, then
 * within 0.1 % (metrics/dist.h): memory does not grow with the requests. Threads: one collector,
 * one run. */
#ifndef GPUSIM_METRICS_SERVICE_STATS_H
#define GPUSIM_METRICS_SERVICE_STATS_H

#include "engine/sim.h"
#include "model/result.h"

struct service_stats;

struct service_stats *service_stats_create(const struct plan *plan);
void service_stats_destroy(struct service_stats *s);          /* accepts NULL */
void service_stats_keep_percentiles(struct service_stats *s); /* metrics/collect.h */
void service_stats_add(struct service_stats *s, size_t k, const struct request_end *q);
/* Fill out->service; `window_s`, `usage` and its tenants must be there. A service whose queue grew
 * to the end makes the policy unstable. */
void service_stats_result(struct service_stats *s, const struct sim_totals *t, struct arena *a,
                          struct policy_result *out);
/* Requests, and tokens, within all targets in the window; all of them where there is no target. */
double service_stats_requests(const struct service_result *v, double window_s);
double service_stats_tokens(const struct service_result *v, double window_s);
/* After pricing: cost of a million requests and tokens within target. */
void service_stats_price(struct policy_result *out);

#endif
