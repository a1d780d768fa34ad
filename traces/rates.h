/* traces/rates.h - how fast jobs run, for traces that give work (steps) instead of durations.
 *
 * Two shapes of JSON, plain or compressed:
 *   Gavel    worker type -> "('ResNet-18 (batch size 16)', 1)" -> {"null": steps per second, ...},
 *            the keys as Python prints a pair (simulation_throughputs.json of stanford-futuredata/gavel)
 *   by name  model -> steps per second, or model -> number of GPUs -> steps per second
 * Rates are those of the whole job on all of its GPUs. Threads: read-only after loading. */
#ifndef GPUSIM_TRACES_RATES_H
#define GPUSIM_TRACES_RATES_H

#include "base/json.h"
#include "base/simtime.h"

#include <stdint.h>

enum rate_answer {
    RATE_OK,
    RATE_MISSING, /* no such entry */
    RATE_ZERO,    /* 0: measured and found not to fit */
    RATE_BAD      /* there, but no number above 0 */
};

/* `worker` must be in the file. ERR_INPUT names those that are. */
int rates_load_gavel(struct json_doc *doc, const char *path, const char *worker, struct err *e);
int rates_load_by_name(struct json_doc *doc, const char *path, struct err *e);

enum rate_answer rates_gavel(const struct json_doc *doc, const char *worker, const char *type,
                             size_t type_len, int64_t gpus, double *per_s);
enum rate_answer rates_by_name(const struct json_doc *doc, const char *model, size_t model_len,
                               int64_t gpus, double *per_s);

/* steps / rate, to the nearest ns. False when it is beyond the range of a time. */
bool rate_duration(int64_t steps, double per_s, simtime *out);

#endif
