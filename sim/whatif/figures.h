/* whatif/figures.h - figures of a policy's result (scenarios/schema/result.schema.json), by
 * dotted paths such as jobs.wait_s.p95 or services.chat.ttft_ms.p99: which of them a sweep
 * keeps, and what a path names.
 *
 * A sweep keeps a fixed choice about cards, jobs and money, one about each service, by its name,
 * and the paths that it was asked for. Ownership: new references are the caller's. Threads: no
 * state. */
#ifndef GPUSIM_WHATIF_FIGURES_H
#define GPUSIM_WHATIF_FIGURES_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The value at `path`: a number, 0 or 1 for a boolean, NAN where the statistic does not exist.
 * ERR_USAGE, beginning with `option` as it was given, with what there is instead, for a path
 * that names nothing or no number. */
int figure_find(double *out, json_t *policy, const char *path, const char *option, struct err *e);

/* Paths of all figures of a sweep: a new array of strings, each once. */
json_t *figures_list(const char *const *service, size_t n_services, const char *const *more,
                     size_t n_more);
/* Those of one policy's result, by path: a new object of numbers and nulls. ERR_USAGE as above,
 * from `more`. */
int figures_of(json_t **out, json_t *policy, const char *const *more, size_t n_more, struct err *e);

/* Is it a percentile, which says nothing of a queue that grows without end? */
bool figure_is_percentile(const char *path);

#endif
