/* calibrate/probe.h - what a probe is. Each probe_*.c ends with one `const struct probe
 * probe_NAME`; probe.c lists them in the order in which they run (power before any context exists).
 *
 * A probe measures its keys, or says for each why it did not: run() never fails as a whole, and a
 * key that it does not mention is reported as not measured. */
#ifndef GPUSIM_CALIBRATE_PROBE_H
#define GPUSIM_CALIBRATE_PROBE_H

#include "calibrate/device.h"
#include "calibrate/profile_write.h"
#include "calibrate/stats.h"

struct probe_ctx {
    struct device *dev;
    struct profile_out *out;
    struct stop_rule rule; /* for one parameter */
    bool quick;
    const char *shim; /* library for the intercept probe; NULL: our own */
};

struct probe {
    const char *name, *help;
    const struct param_def *keys;
    size_t keys_n;
    void (*run)(const struct probe_ctx *c); /* NULL: what it finds is in the device object */
};

extern const struct probe *const probe_all[]; /* NULL-terminated */

const struct probe *probe_find(const char *name); /* NULL when unknown */
/* Run one probe, then report the keys it left out. */
void probe_run(const struct probe *p, const struct probe_ctx *c);
/* Of the keys that were not told yet: not measured, and why. */
void probe_missing(const struct probe *p, struct profile_out *o, const char *why);
/* Name, purpose and keys of every probe, for --list. */
void probe_list(FILE *to);
struct stop_rule probe_rule(bool quick);
/* What reading the device's clock takes [s]: the median of some differences. */
double probe_clock_s(struct device *d);
/* Takes it into the sample, or, where the card is being throttled now, leaves it out and counts
 * that. For what depends on the card's clocks. */
void probe_sample(const struct probe_ctx *c, struct sampler *s, double value);

/* probe_device.c: the card, for people, for the profile, and by its catalogue key
 * ("h200-sxm5-141gb"; a slice or a virtual card gets a key of its own, which no whole card has). */
void device_describe(const struct device_info *i, FILE *to);
json_t *device_json(const struct device_info *i, const struct device_sensors *before,
                    const struct device_sensors *after);
char *device_gpu_key(char *buf, size_t size, const char *name);

#endif
