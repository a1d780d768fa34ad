/* engine/scale.h - how many replicas a service wants: the rule of a horizontal autoscaler.
 *
 * Every `interval` it looks at what the last one was like:
 *     utilization   wanted = ceil(replicas x busy share / target)
 *     queue         wanted = ceil(requests in the system / target): so many requests a replica
 *     schedule      wanted = the number for this hour of the day
 * within min and max; within a tenth of the target nothing changes (Kubernetes' horizontal pod
 * autoscaler). More are wanted at once; fewer only as many as the largest number wanted in the last
 * `down_after`. (A schedule is followed at once both ways.) Threads: one scaler, one run. Memory:
 * O(down_after / interval). */
#ifndef GPUSIM_ENGINE_SCALE_H
#define GPUSIM_ENGINE_SCALE_H

#include "model/service.h"

struct scaler;

struct scaler *scaler_create(const struct service_replicas *r); /* NULL: it never changes */
void scaler_destroy(struct scaler *s);                          /* accepts NULL */
/* What the interval that ends now was like. `current`: replicas up or starting; `busy`: share of
 * the time that those which were up worked (NAN: none was); `present`: mean number of requests
 * in the system. */
int64_t scaler_want(struct scaler *s, simtime now, int64_t current, double busy, double present);

#endif
