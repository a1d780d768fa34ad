/* calibrate/probe_base_launch.c - what a launch costs the host: BASE-1 to BASE-3. */
#include "calibrate/probe.h"

#include <math.h>

/* Launches per sample: enough that reading the clock (some 20 ns) is below a percent, few enough
 * that the queue of a card (about a thousand entries) never fills and blocks the host. */
enum { BATCH = 32, WARM_UP = 200 };

static const struct param_def keys[] = {
    { "base", "launch_us", "us", "host time to enqueue an empty kernel, queue not full", 0.05, 1e3,
      false },
    { "base", "launch_sync_us", "us", "host time to launch an empty kernel and wait for it", 0.5,
      1e4, false },
    { "base", "launch_rate", "1/s", "empty kernels a second with the queue full", 1e3, 1e8, true },
};
enum { LAUNCH, LAUNCH_SYNC, RATE, KEYS, LONG_BATCH = 5000 };

static int launch_batch(struct device *d, int n, struct err *e)
{
    int rc = 0;
    for (int i = 0; !rc && i < n; i++) rc = d->ops->launch(d, DEV_EMPTY, 1, 32, NULL, e);
    return rc;
}

static int measure_launch(struct device *d, struct sampler *s, struct err *e)
{
    int rc = 0;
    while (!rc && sampler_more(s, d->ops->now_s(d))) {
        const double t0 = d->ops->now_s(d);
        rc = launch_batch(d, BATCH, e);
        const double t1 = d->ops->now_s(d);
        if (!rc) rc = d->ops->sync(d, e);
        if (!rc) sampler_add(s, 1e6 * (t1 - t0) / BATCH);
    }
    return rc;
}

static int measure_launch_sync(struct device *d, struct sampler *s, struct err *e)
{
    int rc = 0;
    while (!rc && sampler_more(s, d->ops->now_s(d))) {
        const double t0 = d->ops->now_s(d);
        for (int i = 0; !rc && i < BATCH; i++) {
            rc = launch_batch(d, 1, e);
            if (!rc) rc = d->ops->sync(d, e);
        }
        if (!rc) sampler_add(s, 1e6 * (d->ops->now_s(d) - t0) / BATCH);
    }
    return rc;
}

/* So many at once that the queue is full for most of the time: the slower of host and card
 * decides. */
static int measure_rate(struct device *d, struct sampler *s, struct err *e)
{
    int rc = 0;
    while (!rc && sampler_more(s, d->ops->now_s(d))) {
        const double t0 = d->ops->now_s(d);
        rc = launch_batch(d, LONG_BATCH, e);
        if (!rc) rc = d->ops->sync(d, e);
        if (!rc) sampler_add(s, LONG_BATCH / (d->ops->now_s(d) - t0));
    }
    return rc;
}

static void run(const struct probe_ctx *c)
{
    struct device *d = c->dev;
    struct err e = { 0 };
    struct sampler s[KEYS];

    int rc = d->ops->context_open(d, &e);
    if (!rc) rc = launch_batch(d, WARM_UP, &e);
    if (!rc) rc = d->ops->sync(d, &e);
    sampler_init(&s[LAUNCH], &c->rule, d->ops->now_s(d));
    if (!rc) rc = measure_launch(d, &s[LAUNCH], &e);
    sampler_init(&s[LAUNCH_SYNC], &c->rule, d->ops->now_s(d));
    if (!rc) rc = measure_launch_sync(d, &s[LAUNCH_SYNC], &e);
    sampler_init(&s[RATE], &c->rule, d->ops->now_s(d));
    if (!rc) rc = measure_rate(d, &s[RATE], &e);
    /* the two readings around a batch; the wait after the long one */
    s[LAUNCH].give = s[LAUNCH_SYNC].give = 2e6 * probe_clock_s(d) / BATCH;
    const double rate = sampler_estimate(&s[RATE]).median;
    s[RATE].give = rate * rate * 1e-6 * sampler_estimate(&s[LAUNCH_SYNC]).median / LONG_BATCH;
    if (rc) {
        for (int k = 0; k < KEYS; k++) profile_out_missing(c->out, &keys[k], "%s", e.msg);
    } else {
        profile_out_put(c->out, &keys[LAUNCH], &s[LAUNCH], NULL,
                        "host clock around 32 launches of an empty kernel on an idle stream");
        const struct bound b = { .min = profile_out_value(c->out, "base", "launch_us"),
                                 .max = NAN,
                                 .why_min = "the time of the launch alone" };
        profile_out_put(c->out, &keys[LAUNCH_SYNC], &s[LAUNCH_SYNC], &b,
                        "host clock around 32 times: launch an empty kernel, wait for the stream");
        profile_out_put(c->out, &keys[RATE], &s[RATE], NULL,
                        "host clock around 5000 launches of an empty kernel and their end");
    }
    for (int k = 0; k < KEYS; k++) sampler_fini(&s[k]);
}

const struct probe probe_launch = {
    .name = "launch",
    .help = "what a kernel launch costs the host",
    .keys = keys,
    .keys_n = KEYS,
    .run = run,
};
