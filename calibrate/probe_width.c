/* calibrate/probe_width.c - the speed of three kernels against the number of SMs that they may
 * use. A fixed amount of multiply-adds, or of reads, is spread over s blocks of one kernel; the
 * hardware gives each block an SM of its own while there are idle ones, so s blocks use s SMs.
 * What the curve of the multiply-adds shows beside the number of SMs is the clock, which rises
 * when few work; reads stop to gain where memory or cache have no more to give.
 *
 * p: the part of the time that shrinks with the number of SMs, t(s) / t(S) = (1 - p) + p S / s,
 * by least squares through the point of all SMs (reference CALIBRATION 1.2: p fits within 2 % on
 * an H200). */
#include "calibrate/probe.h"

#include <math.h>

enum { POINTS = 8, BLOCK = 1024 };
enum { COMPUTE, MEMORY, CACHE, KINDS };

static const struct param_def keys[] = {
    { "base", "width_curve", "ratio", "speed of a compute kernel on 1/8, 2/8 .. of the SMs", 0, 1,
      false },
    { "base", "width_memory_curve", "ratio", "the same of reads from memory", 0, 1, true },
    { "base", "width_cache_curve", "ratio", "the same of reads from the second-level cache", 0, 1,
      true },
    { "base", "width_p", "ratio", "part of a compute kernel's time that shrinks with SMs", -0.5,
      1.5, true },
    { "base", "width_memory_p", "ratio", "the same of reads from memory", -0.5, 1.5, true },
    { "base", "width_cache_p", "ratio", "the same of reads from the second-level cache", -0.5, 1.5,
      true },
};
enum { KEYS = sizeof keys / sizeof *keys };

/* One kind's work: multiply-adds in all, or pieces of 16 bytes and how often each is read. */
struct work {
    int kind;
    dev_ptr from, sink;
    uint64_t total, pieces, reps;
};

static int prepare(struct device *d, int kind, struct work *w, struct err *e)
{
    const uint64_t l2 = d->info.l2_bytes, MiB = 1 << 20;
    *w = (struct work){ .kind = kind };
    if (kind != COMPUTE && l2 < MiB / 16)
        return err_set(e, ERR_IO, NULL, "the size of the second-level cache is not known");
    w->total = (uint64_t)d->info.sms * 200000; /* half a millisecond on all of them */
    if (kind == MEMORY) {
        w->pieces = (4 * l2 > 64 * MiB ? 4 * l2 : 64 * MiB) / 16;
        w->reps = 512 * MiB / (16 * w->pieces) + 1;
    }
    if (kind == CACHE) {
        w->pieces = l2 / 4 / 16;
        w->reps = 256 * MiB / (16 * w->pieces) + 1;
    }
    int rc = d->ops->alloc(d, 16, &w->sink, e);
    if (!rc && w->pieces) rc = d->ops->alloc(d, 16 * w->pieces, &w->from, e);
    return rc;
}

/* Milliseconds for all of it, spread evenly. */
static int time_on(struct device *d, struct work *w, unsigned sms, double *ms, struct err *e)
{
    uint64_t iters = w->total / sms, hold_ns = 50000;
    void *compute[] = { &w->sink, &iters }, *hold[] = { &hold_ns };
    void *read[] = { &w->from, &w->pieces, &w->reps, &w->sink };
    int rc = d->ops->launch(d, DEV_SPIN, 1, 1, hold, e);
    if (!rc) rc = d->ops->event_record(d, 0, e);
    if (!rc && w->kind == COMPUTE) rc = d->ops->launch(d, DEV_COMPUTE, sms, BLOCK, compute, e);
    if (!rc && w->kind != COMPUTE) rc = d->ops->launch(d, DEV_READ, sms, BLOCK, read, e);
    if (!rc) rc = d->ops->event_record(d, 1, e);
    if (!rc) rc = d->ops->event_ms(d, 0, 1, ms, e);
    return rc;
}

struct curve {
    unsigned width[POINTS];
    double share[POINTS], speed[POINTS];
    size_t n;
    struct sampler s[POINTS], p;
};

static void curve_init(struct curve *v, const struct probe_ctx *c)
{
    const unsigned sms = (unsigned)c->dev->info.sms;
    v->n = 0;
    for (unsigned i = 1; i <= POINTS; i++) {
        const unsigned w = (sms * i + POINTS / 2) / POINTS;
        if (w == 0 || (v->n && v->width[v->n - 1] == w)) continue;
        sampler_init(&v->s[v->n], &c->rule, 0);
        v->share[v->n] = (double)w / sms;
        v->width[v->n++] = w;
    }
    sampler_init(&v->p, &c->rule, 0);
}

static void curve_fini(struct curve *v)
{
    for (size_t k = 0; k < v->n; k++) sampler_fini(&v->s[k]);
    sampler_fini(&v->p);
}

/* Every width once. */
static int one_round(const struct probe_ctx *c, struct work *w, struct curve *v, struct err *e)
{
    double ms[POINTS], xy = 0, xx = 0;
    int rc = 0;
    for (size_t k = 0; !rc && k < v->n; k++) {
        rc = time_on(c->dev, w, v->width[k], &ms[k], e);
        if (!rc) probe_sample(c, &v->s[k], 1 / ms[k]);
    }
    for (size_t k = 0; !rc && k + 1 < v->n; k++) {
        const double x = 1 / v->share[k] - 1;
        xy += x * (ms[k] / ms[v->n - 1] - 1);
        xx += x * x;
    }
    if (!rc) probe_sample(c, &v->p, xy / xx);
    return rc;
}

/* Medians of 1 / time at each width, taken in turn so that a drift meets all alike. */
static int measure(const struct probe_ctx *c, struct work *w, struct curve *v, struct err *e)
{
    double ms = NAN;
    int rc = 0;
    for (int i = 0; !rc && i < 20; i++)
        rc = time_on(c->dev, w, v->width[v->n - 1], &ms, e); /* clocks, and the cache */
    for (int i = 0; !rc && i < (c->quick ? 15 : 51); i++) rc = one_round(c, w, v, e);
    for (size_t k = 0; !rc && k < v->n; k++)
        if (v->s[k].n == 0)
            rc = err_set(e, ERR_IO, NULL, "all %zu samples were taken while the card was throttled",
                         v->s[k].discarded);
    for (size_t k = 0; !rc && k < v->n; k++)
        v->speed[k] = sampler_estimate(&v->s[k]).median / sampler_estimate(&v->s[v->n - 1]).median;
    return rc;
}

static void one_kind(const struct probe_ctx *c, int kind)
{
    static const char how[] = "work spread over so many blocks of 1024 threads, one an SM; "
                              "medians of interleaved runs, by events";
    struct device *d = c->dev;
    struct err e = { 0 };
    struct work w;
    struct curve v;
    int rc = prepare(d, kind, &w, &e);
    curve_init(&v, c);
    if (!rc) rc = measure(c, &w, &v, &e);
    if (rc) {
        profile_out_missing(c->out, &keys[kind], "%s", e.msg);
        profile_out_missing(c->out, &keys[KINDS + kind], "%s", e.msg);
    } else {
        profile_out_curve(c->out, &keys[kind], v.share, v.speed, v.n, how);
        profile_out_put(c->out, &keys[KINDS + kind], &v.p, NULL,
                        "least squares over the widths of each round");
    }
    curve_fini(&v);
    d->ops->free(d, w.from, NULL);
    d->ops->free(d, w.sink, NULL);
}

static void run(const struct probe_ctx *c)
{
    struct device *d = c->dev;
    struct err e = { 0 };
    int rc = d->ops->context_open(d, &e);
    if (!rc && d->info.sms < 2) rc = err_set(&e, ERR_IO, NULL, "the device has one SM");
    for (int k = 0; rc && k < KEYS; k++) profile_out_missing(c->out, &keys[k], "%s", e.msg);
    for (int k = 0; !rc && k < KINDS; k++) one_kind(c, k);
}

const struct probe probe_width = {
    .name = "width",
    .help = "speed of three kernels against the number of SMs they use",
    .keys = keys,
    .keys_n = KEYS,
    .run = run,
};
