/* calibrate/probe_gemm.c - the best matrix product per precision: BASE-7, by the vendor's library,
 * large (the contract's figure) and 1024 (in the samples file). Nothing above the catalogue's peak
 * is believed. */
#include "calibrate/catalogue.h"
#include "calibrate/probe.h"

#include <math.h>

static const struct param_def keys[2 * GEMM_KINDS] = {
#define LARGE(name, unit)                                                                          \
    {                                                                                              \
        "base", "gemm_" name, unit, "matrix product, as large as pays, " name, 1e9, 1e17, false    \
    }
    LARGE("fp64_flops", "FLOPS"), LARGE("fp32_flops", "FLOPS"), LARGE("tf32_flops", "FLOPS"),
    LARGE("fp16_flops", "FLOPS"), LARGE("bf16_flops", "FLOPS"), LARGE("fp8_flops", "FLOPS"),
    LARGE("int8_ops", "OPS"),
#define SMALL(name, unit)                                                                          \
    {                                                                                              \
        "base", "gemm_1024_" name, unit, "the same, 1024 x 1024 x 1024", 1e8, 1e17, true           \
    }
    SMALL("fp64_flops", "FLOPS"), SMALL("fp32_flops", "FLOPS"), SMALL("tf32_flops", "FLOPS"),
    SMALL("fp16_flops", "FLOPS"), SMALL("bf16_flops", "FLOPS"), SMALL("fp8_flops", "FLOPS"),
    SMALL("int8_ops", "OPS"),
};
static const char *const precision[GEMM_KINDS] = { "fp64", "fp32", "tf32", "fp16",
                                                   "bf16", "fp8",  "int8" };

/* Three matrices of at most 8 bytes an element and the workspace in half the free memory. */
static unsigned largest(struct device *d)
{
    uint64_t free_bytes = 0, total = 0;
    unsigned n = 8192;
    if (d->ops->mem_info(d, &free_bytes, &total, NULL)) return 1024;
    while (n > 1024 && 24 * (uint64_t)n * n + (64u << 20) > free_bytes / 2) n /= 2;
    return n;
}

/* Memory to write before each sample, so that the cache holds none of the operands. */
struct flush {
    dev_ptr at[3]; /* thirds of one piece */
    uint64_t floats;
};

static int flush_open(struct device *d, struct flush *f, struct err *e)
{
    const uint64_t unknown = 256 << 20; /* above every cache until now: 126 MiB, B200 */
    const uint64_t third =
        (d->info.l2_bytes ? 2 * d->info.l2_bytes : unknown) / 3 / 256 * 256 + 256;
    int rc = d->ops->alloc(d, 3 * third, &f->at[0], e);
    f->at[1] = f->at[0] + third;
    f->at[2] = f->at[1] + third;
    f->floats = third / sizeof(float);
    return rc;
}

static int flush_run(struct device *d, struct flush *f, struct err *e)
{
    void *args[] = { &f->at[0], &f->at[1], &f->at[2], &f->floats };
    return d->ops->launch(d, DEV_FILL, (unsigned)(d->info.sms > 0 ? d->info.sms : 1) * 8, DEV_BLOCK,
                          args, e);
}

/* So many products between two events that some milliseconds pass; the first finds a cold cache. */
static int time_products(struct device *d, struct flush *f, unsigned n, unsigned reps, double *ops,
                         struct err *e)
{
    double ms = NAN;
    /* Held until all are queued: the library's launch may take longer than a small product. */
    uint64_t hold_ns = 50000 + 10000 * (uint64_t)reps;
    void *hold[] = { &hold_ns };
    int rc = flush_run(d, f, e);
    if (!rc) rc = d->ops->launch(d, DEV_SPIN, 1, 1, hold, e);
    if (!rc) rc = d->ops->event_record(d, 0, e);
    for (unsigned i = 0; !rc && i < reps; i++) rc = d->ops->gemm_launch(d, e);
    if (!rc) rc = d->ops->event_record(d, 1, e);
    if (!rc) rc = d->ops->event_ms(d, 0, 1, &ms, e);
    *ops = 2.0 * n * n * n * reps / (1e-3 * ms);
    return rc;
}

static int measure(const struct probe_ctx *c, enum dev_gemm kind, unsigned n, struct sampler *s,
                   struct err *e)
{
    struct device *d = c->dev;
    struct flush f = { .floats = 0 };
    double ops = NAN;
    int rc = d->ops->gemm_open(d, kind, n, e);
    if (!rc) rc = flush_open(d, &f, e);
    for (int i = 0; !rc && i < 3; i++) rc = time_products(d, &f, n, 1, &ops, e);
    const double each_ms = 2e3 * n * n * n / ops;
    const unsigned reps = each_ms > 5 ? 1 : each_ms > 0.05 ? (unsigned)(5 / each_ms) + 1 : 100;
    while (!rc && sampler_more(s, d->ops->now_s(d))) {
        rc = time_products(d, &f, n, reps, &ops, e);
        if (!rc) probe_sample(c, s, ops);
    }
    d->ops->free(d, f.at[0], NULL);
    d->ops->gemm_close(d);
    return rc;
}

/* Large enough for the peak, small enough that one takes at most some 50 ms: fp64 on a card without
 * units for it would take seconds. `rate`: of the small one; NAN: unknown. */
static unsigned large_size(struct device *d, double rate)
{
    unsigned n = largest(d);
    while (n > 1024 && 2.0 * n * n * n / rate > 0.05) n /= 2;
    return n;
}

static void run_one(const struct probe_ctx *c, enum dev_gemm kind, unsigned n,
                    const struct param_def *key)
{
    const double peak = catalogue_peak(profile_out_gpu(c->out), precision[kind]);
    char why[80];
    const struct bound b = { .min = NAN, .max = CATALOGUE_TOLERANCE * peak, .why_max = why };
    struct err e = { 0 };
    struct sampler s;
    snprintf(why, sizeof why, "the catalogue's peak, %.4g %s", peak, key->unit);
    sampler_init(&s, &c->rule, c->dev->ops->now_s(c->dev));
    if (measure(c, kind, n, &s, &e))
        profile_out_missing(c->out, key, "%s", e.msg);
    else
        profile_out_put(
            c->out, key, &s, &b,
            "cuBLASLt, events around products of some 5 ms, cache flushed before each sample");
    sampler_fini(&s);
}

static void run(const struct probe_ctx *c)
{
    struct device *d = c->dev;
    struct err e = { 0 };
    if (d->ops->context_open(d, &e)) {
        for (int k = 0; k < 2 * GEMM_KINDS; k++) profile_out_missing(c->out, &keys[k], "%s", e.msg);
        return;
    }
    for (int k = 0; k < GEMM_KINDS; k++) {
        const struct param_def *small = &keys[GEMM_KINDS + k];
        run_one(c, (enum dev_gemm)k, 1024, small);
        run_one(c, (enum dev_gemm)k,
                large_size(d, profile_out_value(c->out, small->group, small->key)), &keys[k]);
    }
}

const struct probe probe_gemm = {
    .name = "gemm",
    .help = "matrix products per precision, against the catalogue's peak",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .run = run,
};
