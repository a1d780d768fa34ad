/* traces/achieved.h - what a generated trace looks like, in the quantities of a specification's
 * targets (model/synth.h), and whether each target is met.
 *
 * Percentiles are exact (nearest rank) and the rank correlation is Spearman's with mean ranks for
 * ties, so every duration and number of GPUs, or pair of tokens, is held: 16 bytes a job or
 * request, for all and again for its class. Shares, means and medians of GPUs count jobs with GPUs;
 * `load` is GPU-seconds asked for per second of the span. */
#ifndef GPUSIM_TRACES_ACHIEVED_H
#define GPUSIM_TRACES_ACHIEVED_H

#include "model/synth.h"

#include <stdio.h>

struct achieved;

/* `spec` must outlive it; without targets nothing is held. */
struct achieved *achieved_create(const struct synth_spec *spec);
void achieved_destroy(struct achieved *a); /* accepts NULL */
/* In order of time. `klass` is the index of its class or service. */
void achieved_job(struct achieved *a, size_t klass, const struct job_row *row);
void achieved_request(struct achieved *a, size_t klass, const struct request_row *row);

struct verdict {
    double value, deviation; /* relative; NAN when there is nothing to measure */
    bool met;
};
/* One verdict per target; returns how many are missed. `span_s`: how long the trace lasts. */
size_t achieved_judge(struct achieved *a, double span_s, struct verdict *verdict);

#endif
