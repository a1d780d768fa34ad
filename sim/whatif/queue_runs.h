/* whatif/queue_runs.h - does a queue grow without end? A question to all replications together:
 * of single short runs many look as if it did.
 *
 * One run: the test of metrics/stability.h. Several: the queue grows when it is at least 1.3
 * times as long in the last quarter as before and either a tenth of all still wait at the end or
 * it grew in that quarter by at least one, one in 200 wait at the end, and the 95 % Student
 * interval of the growth over the runs lies above 0; undecided while only the mean lies above 0 by more than its standard error.
 * Runs without a horizon drain: the queue stays. Pure functions; any thread. */
#ifndef GPUSIM_WHATIF_QUEUE_RUNS_H
#define GPUSIM_WHATIF_QUEUE_RUNS_H

#include "model/result.h"

#include <stddef.h>

enum queue_state { QUEUE_GROWS, QUEUE_UNDECIDED, QUEUE_STAYS }; /* from bad to good */
extern const char *const queue_state_names[];                   /* "grows", ... */

/* 1 <= n. O(n). */
enum queue_state queue_of_runs(const struct queue_trend *t, size_t n);

#endif
