/* calibrate/probe_power.c - what the board draws while it does nothing, without and with a
 * context, and under load. Runs before every other probe, since a context keeps the clocks up.
 * The load is large products in half precision, and then the triad; the one that draws more
 * counts. No load is known to be the heaviest of every card, so what a program draws may be
 * more, up to the cap. */
#include "calibrate/probe.h"

#include <math.h>

static const struct param_def keys[] = {
    { "power", "idle_W", "W", "board power with no context on it", 1, 1000, false },
    { "power", "context_W", "W", "board power with an idle context", 1, 1500, false },
    { "power", "busy_W", "W", "board power under large products or the triad, the greater", 1, 3000,
      false },
};
enum { IDLE, CONTEXT, BUSY, KEYS };

/* The load: two batches of some 50 ms are always queued, so the card has work while the sensor is
 * read. */
struct load {
    unsigned product; /* size; 0: the triad */
    dev_ptr a, b, c;
    uint64_t floats;
    unsigned batch;
    int event; /* at the end of the batch before */
};
#define BATCH_MS 50.0

/* The sensor averages over up to a second on recent boards, so samples closer together than a
 * hundred milliseconds say nothing new. */
static const double sample_gap_s = 0.1, settle_s = 3;

static const char *why_not(const struct device_info *i, const struct device_sensors *s)
{
    if (isnan(s->power_W)) return "the power sensor does not answer";
    if (i->mig_instance) return "a MIG instance has no power sensor of its own";
    if (i->virt == VIRT_VGPU) return "a virtual card has no power sensor of its own";
    if (i->other_processes < 0) return "it is not known whether other processes use the board";
    if (i->other_processes > 0) return "other processes use the board";
    return NULL;
}

/* ---- load --------------------------------------------------------------------------------------- */

static int load_once(struct device *d, struct load *l, struct err *e)
{
    float scale = 3;
    void *args[] = { &l->a, &l->b, &l->c, &scale, &l->floats };
    if (l->product) return d->ops->gemm_launch(d, e);
    return d->ops->launch(d, DEV_TRIAD, (unsigned)((l->floats / 4 + DEV_BLOCK - 1) / DEV_BLOCK),
                          DEV_BLOCK, args, e);
}

static int load_batch(struct device *d, struct load *l, struct err *e)
{
    int rc = 0;
    for (unsigned i = 0; !rc && i < l->batch; i++) rc = load_once(d, l, e);
    l->event = !l->event;
    return rc ? rc : d->ops->event_record(d, l->event, e);
}

/* One more batch, then wait for the end of the one before. */
static int load_go_on(struct device *d, struct load *l, struct err *e)
{
    const int before = l->event;
    double ms;
    int rc = load_batch(d, l, e);
    return rc ? rc : d->ops->event_ms(d, before, before, &ms, e);
}

static int load_arrays(struct device *d, struct load *l, uint64_t free_bytes, struct err *e)
{
    const uint64_t most = UINT64_C(64) << 20, room = free_bytes / 2 / (3 * sizeof(float));
    l->floats = (room < most ? room : most) / 1024 * 1024;
    int rc = d->ops->alloc(d, sizeof(float) * l->floats, &l->a, e);
    if (!rc) rc = d->ops->alloc(d, sizeof(float) * l->floats, &l->b, e);
    if (!rc) rc = d->ops->alloc(d, sizeof(float) * l->floats, &l->c, e);
    void *fill[] = { &l->a, &l->b, &l->c, &l->floats };
    return rc ? rc : d->ops->launch(d, DEV_FILL, 1024, DEV_BLOCK, fill, e);
}

/* Half precision, or single where the card has no such product. */
static int load_product(struct device *d, struct load *l, uint64_t free_bytes, struct err *e)
{
    for (l->product = 8192; 24 * (uint64_t)l->product * l->product > free_bytes / 2;)
        l->product /= 2;
    if (d->ops->gemm_open(d, GEMM_FP16, l->product, NULL) == 0) return 0;
    return d->ops->gemm_open(d, GEMM_FP32, l->product, e);
}

static int load_open(struct device *d, struct load *l, bool product, struct err *e)
{
    uint64_t free_bytes = 0, total = 0;
    double ms = NAN;
    *l = (struct load){ .batch = 1 };
    int rc = d->ops->mem_info(d, &free_bytes, &total, e);
    if (!rc) rc = product ? load_product(d, l, free_bytes, e) : load_arrays(d, l, free_bytes, e);
    for (int i = 0; !rc && i < 5; i++) {
        rc = load_batch(d, l, e);
        if (!rc) rc = load_once(d, l, e);
        if (!rc) rc = d->ops->event_record(d, 2, e);
        if (!rc) rc = d->ops->event_ms(d, l->event, 2, &ms, e);
    }
    if (rc) return rc;
    l->batch = ms < BATCH_MS ? (unsigned)(BATCH_MS / fmax(ms, 0.1)) : 1;
    return load_batch(d, l, e);
}

static void load_close(struct device *d, struct load *l)
{
    d->ops->sync(d, NULL);
    if (l->product) d->ops->gemm_close(d);
    d->ops->free(d, l->a, NULL);
    d->ops->free(d, l->b, NULL);
    d->ops->free(d, l->c, NULL);
}

/* ---- measurement -------------------------------------------------------------------------------- */

static int pass_time(struct device *d, struct load *l, double seconds, struct err *e)
{
    const double end = d->ops->now_s(d) + seconds;
    int rc = 0;
    if (!l) d->ops->sleep_s(d, seconds);
    while (l && !rc && d->ops->now_s(d) < end) rc = load_go_on(d, l, e);
    return rc;
}

/* load: NULL: none. */
static int sample(const struct probe_ctx *c, struct load *l, struct sampler *s, struct err *e)
{
    struct device *d = c->dev;
    struct device_sensors now;
    const struct stop_rule rule = { .relative = 0.02,
                                    .min_n = c->quick ? 10 : 30,
                                    .max_n = c->quick ? 20 : 200,
                                    .seconds = c->quick ? 3 : 30 };
    int rc = pass_time(d, l, settle_s, e);
    sampler_init(s, &rule, d->ops->now_s(d));
    while (!rc && sampler_more(s, d->ops->now_s(d))) {
        rc = pass_time(d, l, sample_gap_s, e);
        d->ops->sensors(d, &now);
        if (!rc && !isnan(now.power_W)) sampler_add(s, now.power_W);
    }
    return rc;
}

static void measure_idle(const struct probe_ctx *c, const struct param_def *key, const char *method)
{
    const struct bound cap = { .min = NAN,
                               .max = c->dev->info.power_cap_W,
                               .why_max = "the power cap" };
    struct sampler s;
    sample(c, NULL, &s, NULL);
    profile_out_put(c->out, key, &s, &cap, method);
    sampler_fini(&s);
}

static int measure_load(const struct probe_ctx *c, bool product, struct sampler *s, struct err *e)
{
    struct load l;
    int rc = load_open(c->dev, &l, product, e);
    if (!rc)
        rc = sample(c, &l, s, e);
    else
        sampler_init(s, &(struct stop_rule){ .max_n = 1 }, 0);
    load_close(c->dev, &l);
    return rc;
}

static void measure_busy(const struct probe_ctx *c)
{
    const struct bound b = { .min = profile_out_value(c->out, "power", "context_W"),
                             .max = 1.1 * c->dev->info.power_cap_W,
                             .why_min = "that of an idle context",
                             .why_max = "the power cap and a tenth" };
    struct sampler s[2];
    struct err e = { 0 };
    int rc = measure_load(c, true, &s[0], &e);
    if (!rc)
        rc = measure_load(c, false, &s[1], &e);
    else
        sampler_init(&s[1], &s[0].rule, 0);
    if (rc)
        profile_out_missing(c->out, &keys[BUSY], "%s", e.msg);
    else {
        const bool triad = sampler_estimate(&s[1]).median > sampler_estimate(&s[0]).median;
        profile_out_put(c->out, &keys[BUSY], &s[triad], &b,
                        triad ? "NVML board power every 0.1 s under the triad, which draws more "
                                "than large products do"
                              : "NVML board power every 0.1 s under large products");
    }
    sampler_fini(&s[0]);
    sampler_fini(&s[1]);
}

static void run(const struct probe_ctx *c)
{
    struct device *d = c->dev;
    struct device_sensors now;
    struct err e = { 0 };

    d->ops->sensors(d, &now);
    const char *why = why_not(&d->info, &now);
    if (why) {
        for (int k = 0; k < KEYS; k++) profile_out_missing(c->out, &keys[k], "%s", why);
        return;
    }
    measure_idle(c, &keys[IDLE], "NVML board power every 0.1 s before any context is created");

    int rc = d->ops->context_open(d, &e);
    if (!rc) rc = d->ops->launch(d, DEV_EMPTY, 1, 32, NULL, &e);
    if (!rc) rc = d->ops->sync(d, &e);
    if (rc) {
        profile_out_missing(c->out, &keys[CONTEXT], "%s", e.msg);
        profile_out_missing(c->out, &keys[BUSY], "%s", e.msg);
        return;
    }
    measure_idle(c, &keys[CONTEXT], "NVML board power every 0.1 s, one context, no work for 3 s");
    measure_busy(c);
}

const struct probe probe_power = {
    .name = "power",
    .help = "board power while idle, without and with a context, and under load (NVML)",
    .keys = keys,
    .keys_n = KEYS,
    .run = run,
};
