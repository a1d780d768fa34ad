/* calibrate/probe_width.c - the speed of one kernel against the number of SMs that it may use. A fixed
 * amount of multiply-adds is spread over s blocks of one kernel; the hardware gives each block an SM of
 * its own while there are idle ones, so s blocks use s SMs. What the curve shows beside the number of SMs
 * is the clock, which rises when few work. */
#include "calibrate/probe.h"

#include <math.h>

enum { POINTS = 8, BLOCK = 1024 };

static const struct param_def key = {
    "base", "width_curve", "ratio", "speed of a compute kernel on 1/8, 2/8 .. of the SMs", 0,
    1,      false
};

/* Milliseconds for `total` iterations in all, spread evenly. */
static int time_on(struct device *d, dev_ptr sink, unsigned sms, uint64_t total, double *ms,
                   struct err *e)
{
    uint64_t iters = total / sms, hold_ns = 50000;
    void *args[] = { &sink, &iters }, *hold[] = { &hold_ns };
    int rc = d->ops->launch(d, DEV_SPIN, 1, 1, hold, e);
    if (!rc) rc = d->ops->event_record(d, 0, e);
    if (!rc) rc = d->ops->launch(d, DEV_COMPUTE, sms, BLOCK, args, e);
    if (!rc) rc = d->ops->event_record(d, 1, e);
    if (!rc) rc = d->ops->event_ms(d, 0, 1, ms, e);
    return rc;
}

/* Medians of 1 / time at each width, taken in turn so that a drift meets all alike. */
static int measure(const struct probe_ctx *c, dev_ptr sink, double share[], double speed[],
                   size_t *n, struct err *e)
{
    struct device *d = c->dev;
    const unsigned sms = (unsigned)d->info.sms;
    struct sampler s[POINTS];
    unsigned width[POINTS];
    double ms = NAN;
    int rc = 0;
    *n = 0;
    for (unsigned i = 1; i <= POINTS; i++) {
        const unsigned w = (sms * i + POINTS / 2) / POINTS;
        if (w == 0 || (*n && width[*n - 1] == w)) continue;
        sampler_init(&s[*n], &c->rule, 0);
        width[(*n)++] = w;
    }
    const uint64_t total = (uint64_t)sms * 200000; /* half a millisecond on all of them */
    for (int i = 0; !rc && i < 20; i++) rc = time_on(d, sink, sms, total, &ms, e);
    for (int i = 0; !rc && i < (c->quick ? 15 : 51); i++)
        for (size_t k = 0; !rc && k < *n; k++) {
            rc = time_on(d, sink, width[k], total, &ms, e);
            if (!rc) probe_sample(c, &s[k], 1 / ms);
        }
    for (size_t k = 0; !rc && k < *n; k++)
        if (s[k].n == 0)
            rc = err_set(e, ERR_IO, NULL, "all %zu samples were taken while the card was throttled",
                         s[k].discarded);
    for (size_t k = 0; k < *n; k++) {
        share[k] = (double)width[k] / sms;
        speed[k] = rc ? NAN : sampler_estimate(&s[k]).median;
    }
    for (size_t k = 0; k < *n; k++) {
        speed[k] /= speed[*n - 1];
        sampler_fini(&s[k]);
    }
    return rc;
}

static void run(const struct probe_ctx *c)
{
    struct device *d = c->dev;
    struct err e = { 0 };
    double share[POINTS], speed[POINTS];
    dev_ptr sink = 0;
    size_t n = 0;
    int rc = d->ops->context_open(d, &e);
    if (!rc && d->info.sms < 2) rc = err_set(&e, ERR_IO, NULL, "the device has one SM");
    if (!rc) rc = d->ops->alloc(d, 16, &sink, &e);
    if (!rc) rc = measure(c, sink, share, speed, &n, &e);
    if (rc)
        profile_out_missing(c->out, &key, "%s", e.msg);
    else
        profile_out_curve(c->out, &key, share, speed, n,
                          "multiply-adds spread over so many blocks of 1024 threads, one an SM; "
                          "medians of interleaved runs, by events");
    if (sink) d->ops->free(d, sink, NULL);
}

const struct probe probe_width = {
    .name = "width",
    .help = "speed of a kernel against the number of SMs it uses",
    .keys = &key,
    .keys_n = 1,
    .run = run,
};
