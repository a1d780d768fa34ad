/* calibrate/probe_l2.c - bandwidth of the second-level cache: BASE-9. A quarter of the cache is
 * read over and over, past the first level. */
#include "calibrate/probe.h"

#include <math.h>

static const struct param_def key = { "base", "l2_Bps", "B/s", "reads from the second-level cache",
                                      1e9,    1e15,     false };

struct l2 {
    dev_ptr from, sink;
    uint64_t n, reps; /* n x 16 bytes, so many times */
};

static int prepare(struct device *d, struct l2 *l, struct err *e)
{
    if (d->info.l2_bytes < (64 << 10))
        return err_set(e, ERR_IO, NULL, "the size of the second-level cache is not known");
    l->n = d->info.l2_bytes / 4 / 16;
    l->reps = (UINT64_C(256) << 20) / (16 * l->n) + 1; /* some 256 MiB in all: tens of us */
    int rc = d->ops->alloc(d, 16 * l->n, &l->from, e);
    if (!rc) rc = d->ops->alloc(d, 16, &l->sink, e);
    return rc;
}

static int read_once(struct device *d, struct l2 *l, double *Bps, struct err *e)
{
    void *args[] = { &l->from, &l->n, &l->reps, &l->sink };
    uint64_t hold_ns = 50000;
    void *hold[] = { &hold_ns };
    const unsigned grid = (unsigned)(d->info.sms > 0 ? d->info.sms : 1) * 8;
    double ms = NAN;
    int rc = d->ops->launch(d, DEV_SPIN, 1, 1, hold, e);
    if (!rc) rc = d->ops->event_record(d, 0, e);
    if (!rc) rc = d->ops->launch(d, DEV_READ, grid, DEV_BLOCK, args, e);
    if (!rc) rc = d->ops->event_record(d, 1, e);
    if (!rc) rc = d->ops->event_ms(d, 0, 1, &ms, e);
    *Bps = 16 * (double)l->n * (double)l->reps / (1e-3 * ms);
    return rc;
}

static void run(const struct probe_ctx *c)
{
    struct device *d = c->dev;
    struct l2 l = { 0 };
    struct err e = { 0 };
    struct sampler s;
    double Bps;
    const double memory = profile_out_value(c->out, "base", "mem_Bps");
    const struct bound b = { .min = memory, .max = NAN, .why_min = "that of the memory behind it" };

    int rc = d->ops->context_open(d, &e);
    if (!rc) rc = prepare(d, &l, &e);
    for (int i = 0; !rc && i < 5; i++) rc = read_once(d, &l, &Bps, &e); /* clocks, and fill it */
    sampler_init(&s, &c->rule, d->ops->now_s(d));
    while (!rc && sampler_more(&s, d->ops->now_s(d))) {
        rc = read_once(d, &l, &Bps, &e);
        if (!rc) probe_sample(c, &s, Bps);
    }
    if (rc)
        profile_out_missing(c->out, &key, "%s", e.msg);
    else
        profile_out_put(c->out, &key, &s, &b,
                        "events around 256 MiB of 16-byte reads of a quarter of the cache");
    sampler_fini(&s);
    d->ops->free(d, l.from, NULL);
    d->ops->free(d, l.sink, NULL);
}

const struct probe probe_l2 = {
    .name = "l2",
    .help = "bandwidth of the second-level cache",
    .keys = &key,
    .keys_n = 1,
    .run = run,
};
