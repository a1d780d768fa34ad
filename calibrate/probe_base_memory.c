/* calibrate/probe_base_memory.c - memory: what a context costs (BASE-6), allocations by size
 * (BASE-5), bandwidth on the card (BASE-8) and over the link to the host (BASE-10). */
#include "calibrate/catalogue.h"
#include "calibrate/probe.h"

#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t KiB = 1 << 10, MiB = 1 << 20;

static void missing_all(const struct probe_ctx *c, const struct param_def *key, size_t n,
                        const char *why)
{
    for (size_t k = 0; k < n; k++) profile_out_missing(c->out, &key[k], "%s", why);
}

/* ---- context ------------------------------------------------------------------------------------ */

/* The contract's context_ms is cuCtxCreate, as published figures are; the way to it and from it
 * to the first result, which a job pays too, is in the samples file, and so is the primary
 * context, which frameworks take. struct context_cost says which calls are timed. Both kinds in
 * turn. */
static const struct param_def context_keys[] = {
    { "base", "context_ms", "ms", "creating the first context of a fresh process", 0.1, 1e5,
      false },
    { "base", "context_bytes", "B", "device memory gone while that process only waits", 1e6, 1e10,
      false },
    { "base", "context_init_ms", "ms", "before it: loading the driver, finding the device", 0, 1e5,
      true },
    { "base", "context_first_launch_ms", "ms", "after it: loading kernels, first launch", 0, 1e5,
      true },
    { "base", "context_total_ms", "ms", "from nothing to the end of the first kernel", 0, 1e5,
      true },
    { "base", "context_primary_ms", "ms", "the same as context_ms, retaining the primary context",
      0.1, 1e5, true },
    { "base", "context_primary_bytes", "B", "the same as context_bytes, with the primary context",
      1e6, 1e10, true },
};
enum { CTX_MS, CTX_BYTES, CTX_INIT, CTX_FIRST, CTX_TOTAL, PRIMARY_MS, PRIMARY_BYTES, CTX_KEYS };

static void run_context(const struct probe_ctx *c)
{
    struct device *d = c->dev;
    struct err e = { 0 }, no_primary = { 0 };
    struct context_cost cost;
    struct sampler s[CTX_KEYS];
    /* A sample takes the better part of a second; six are the fewest with a 95 % interval. */
    const struct stop_rule rule = { .relative = 0.05,
                                    .min_n = c->quick ? 6 : 10,
                                    .max_n = c->quick ? 10 : 40,
                                    .seconds = c->quick ? 10 : 40 };
    const struct bound memory = { .min = NAN,
                                  .max = (double)d->info.memory_bytes,
                                  .why_max = "the card's memory" };
    const char *const how = "a fresh process each time, while another context keeps the card awake";

    for (int k = 0; k < CTX_KEYS; k++) sampler_init(&s[k], &rule, d->ops->now_s(d));
    s[CTX_MS].give = s[PRIMARY_MS].give = 2e3 * probe_clock_s(d);
    int rc = d->ops->context_open(d, &e);
    while (!rc && sampler_more(&s[CTX_MS], d->ops->now_s(d))) {
        rc = d->ops->context_cost(d, false, &cost, &e);
        if (rc) break;
        sampler_add(&s[CTX_MS], cost.create_ms);
        sampler_add(&s[CTX_BYTES], cost.bytes);
        sampler_add(&s[CTX_INIT], cost.init_ms);
        sampler_add(&s[CTX_FIRST], cost.first_launch_ms);
        sampler_add(&s[CTX_TOTAL], cost.init_ms + cost.create_ms + cost.first_launch_ms);
        if (no_primary.code || d->ops->context_cost(d, true, &cost, &no_primary)) continue;
        sampler_add(&s[PRIMARY_MS], cost.create_ms);
        sampler_add(&s[PRIMARY_BYTES], cost.bytes);
    }
    if (rc) missing_all(c, context_keys, CTX_KEYS, e.msg);
    for (int k = 0; k < CTX_KEYS; k++) {
        if (!rc && k >= PRIMARY_MS && no_primary.code)
            profile_out_missing(c->out, &context_keys[k], "%s", no_primary.msg);
        else if (!rc)
            profile_out_put(c->out, &context_keys[k], &s[k],
                            k == CTX_BYTES || k == PRIMARY_BYTES ? &memory : NULL, how);
        sampler_fini(&s[k]);
    }
}

const struct probe probe_context = {
    .name = "context",
    .help = "what one more process costs: time and device memory of its context",
    .keys = context_keys,
    .keys_n = CTX_KEYS,
    .run = run_context,
};

/* ---- allocation --------------------------------------------------------------------------------- */

/* 2 MiB is the driver's unit of mapping and the smallest block that caching allocators ask for, so
 * that is the contract's alloc_us; the other sizes are in the samples file. */
static const struct param_def alloc_keys[] = {
    { "base", "alloc_us", "us", "host time of cuMemAlloc, 2 MiB", 0.05, 1e6, false },
    { "base", "free_us", "us", "host time of cuMemFree, 2 MiB", 0.05, 1e6, true },
    { "base", "alloc_4KiB_us", "us", "the same, 4 KiB", 0.05, 1e6, true },
    { "base", "free_4KiB_us", "us", "the same, 4 KiB", 0.05, 1e6, true },
    { "base", "alloc_64MiB_us", "us", "the same, 64 MiB", 0.05, 1e6, true },
    { "base", "free_64MiB_us", "us", "the same, 64 MiB", 0.05, 1e6, true },
    { "base", "alloc_1GiB_us", "us", "the same, 1 GiB", 0.05, 1e7, true },
    { "base", "free_1GiB_us", "us", "the same, 1 GiB", 0.05, 1e7, true },
};
enum { ALLOC_KEYS = sizeof alloc_keys / sizeof *alloc_keys };

/* Fills keys k (alloc) and k + 1 (free). */
static void measure_alloc(const struct probe_ctx *c, size_t k, size_t bytes)
{
    struct device *d = c->dev;
    struct err e = { 0 };
    struct sampler a, f;
    dev_ptr p = 0;
    int rc = 0;

    sampler_init(&a, &c->rule, d->ops->now_s(d));
    sampler_init(&f, &c->rule, a.start_s);
    a.give = f.give = 2e6 * probe_clock_s(d);
    while (!rc) {
        const double now = d->ops->now_s(d);
        const bool more_a = sampler_more(&a, now), more_f = sampler_more(&f, now);
        if (!more_a && !more_f) break;
        const double t0 = d->ops->now_s(d);
        rc = d->ops->alloc(d, bytes, &p, &e);
        const double t1 = d->ops->now_s(d);
        if (!rc) rc = d->ops->free(d, p, &e);
        const double t2 = d->ops->now_s(d);
        if (rc) break;
        sampler_add(&a, 1e6 * (t1 - t0));
        sampler_add(&f, 1e6 * (t2 - t1));
    }
    if (rc)
        missing_all(c, &alloc_keys[k], 2, e.msg);
    else {
        profile_out_put(c->out, &alloc_keys[k], &a, NULL,
                        "host clock around one cuMemAlloc, freed at once");
        profile_out_put(c->out, &alloc_keys[k + 1], &f, NULL,
                        "host clock around one cuMemFree, device idle");
    }
    sampler_fini(&a);
    sampler_fini(&f);
}

static void run_alloc(const struct probe_ctx *c)
{
    struct device *d = c->dev;
    const uint64_t bytes[ALLOC_KEYS / 2] = { 2 * MiB, 4 * KiB, 64 * MiB, 1024 * MiB };
    struct err e = { 0 };
    uint64_t free_bytes = 0, total = 0;
    dev_ptr keep = 0;

    int rc = d->ops->context_open(d, &e);
    /* Small blocks come out of larger ones that the driver holds: with one taken, its pool
     * exists. */
    if (!rc) rc = d->ops->alloc(d, 4 * KiB, &keep, &e);
    if (!rc) rc = d->ops->mem_info(d, &free_bytes, &total, &e);
    for (size_t i = 0; i < ALLOC_KEYS / 2; i++) {
        if (rc)
            missing_all(c, &alloc_keys[2 * i], 2, e.msg);
        else if (bytes[i] > free_bytes / 2)
            missing_all(c, &alloc_keys[2 * i], 2, "more than half the free memory");
        else
            measure_alloc(c, 2 * i, bytes[i]);
    }
    if (keep) d->ops->free(d, keep, &e);
}

const struct probe probe_alloc = {
    .name = "alloc",
    .help = "cuMemAlloc and cuMemFree by size",
    .keys = alloc_keys,
    .keys_n = ALLOC_KEYS,
    .run = run_alloc,
};

/* ---- bandwidth of the card's memory --------------------------------------------------------------- */

static const struct param_def triad_keys[] = {
    { "base", "mem_Bps", "B/s", "memory bandwidth, triad a = b + s c, arrays of at least 4 L2", 1e9,
      5e13, false },
};

struct triad {
    dev_ptr a, b, c, bad;
    uint64_t n, bytes; /* of one array */
    float s;
};

static unsigned blocks(uint64_t threads)
{
    return (unsigned)((threads + DEV_BLOCK - 1) / DEV_BLOCK);
}

static int triad_alloc(struct device *d, struct triad *t, struct err *e)
{
    uint64_t free_bytes = 0, total = 0;
    const uint64_t least = 4 * d->info.l2_bytes;
    int rc = d->ops->mem_info(d, &free_bytes, &total, e);
    if (rc) return rc;
    t->bytes = least > 256 * MiB ? least : 256 * MiB;
    if (t->bytes > free_bytes / 4) t->bytes = free_bytes / 4;
    t->bytes -= t->bytes % MiB;
    t->n = t->bytes / sizeof(float);
    t->s = 3;
    if (t->bytes < least || t->bytes == 0)
        return err_set(e, ERR_IO, NULL,
                       "three arrays of 4 L2 (%" PRIu64 " MiB each) do not fit the free %" PRIu64
                       " MiB",
                       least / MiB, free_bytes / MiB);
    rc = d->ops->alloc(d, t->bytes, &t->a, e);
    if (!rc) rc = d->ops->alloc(d, t->bytes, &t->b, e);
    if (!rc) rc = d->ops->alloc(d, t->bytes, &t->c, e);
    if (!rc) rc = d->ops->alloc(d, sizeof(uint64_t), &t->bad, e);
    return rc;
}

static int triad_launch(struct device *d, struct triad *t, struct err *e)
{
    void *args[] = { &t->a, &t->b, &t->c, &t->s, &t->n };
    return d->ops->launch(d, DEV_TRIAD, blocks(t->n / 4), DEV_BLOCK, args, e);
}

/* Hold the stream while the host queues what is to be timed, so that no launch cost is in it. */
static int hold_stream(struct device *d, uint64_t ns, struct err *e)
{
    void *args[] = { &ns };
    return d->ops->launch(d, DEV_SPIN, 1, 1, args, e);
}

static int triad_measure(const struct probe_ctx *c, struct triad *t, struct sampler *s,
                         struct err *e)
{
    struct device *d = c->dev;
    void *fill[] = { &t->a, &t->b, &t->c, &t->n };
    double ms = NAN;
    int rc = d->ops->launch(d, DEV_FILL, 1024, DEV_BLOCK, fill, e);
    for (int i = 0; !rc && i < 10; i++)
        rc = triad_launch(d, t, e); /* warm-up: clocks, page tables */
    if (!rc) rc = d->ops->launch(d, DEV_FILL, 1024, DEV_BLOCK, fill, e); /* forget their results */
    if (!rc) rc = d->ops->sync(d, e);
    while (!rc && sampler_more(s, d->ops->now_s(d))) {
        rc = hold_stream(d, 50000, e);
        if (!rc) rc = d->ops->event_record(d, 0, e);
        if (!rc) rc = triad_launch(d, t, e);
        if (!rc) rc = d->ops->event_record(d, 1, e);
        if (!rc) rc = d->ops->event_ms(d, 0, 1, &ms, e);
        if (!rc) probe_sample(c, s, 3 * (double)t->bytes / (1e-3 * ms));
    }
    return rc;
}

static int triad_verify(struct device *d, struct triad *t, struct err *e)
{
    uint64_t bad = 0;
    void *args[] = { &t->a, &t->s, &t->n, &t->bad };
    int rc = d->ops->copy_in(d, t->bad, &bad, sizeof bad, e);
    if (!rc) rc = d->ops->launch(d, DEV_CHECK, 1024, DEV_BLOCK, args, e);
    if (!rc) rc = d->ops->copy_out(d, &bad, t->bad, sizeof bad, e);
    if (!rc) rc = d->ops->sync(d, e);
    if (!rc && bad)
        rc = err_set(e, ERR_IO, NULL,
                     "the triad's result is wrong in %" PRIu64 " of %" PRIu64 " elements", bad,
                     t->n);
    return rc;
}

static void run_triad(const struct probe_ctx *c)
{
    struct device *d = c->dev;
    struct triad t = { 0 };
    struct sampler s;
    struct err e = { 0 };
    char why[64];

    /* Two transfers per memory clock and pin; 1 % for the clock's rounding. Newer drivers keep
     * the clock for themselves: the sheet is a bound too. */
    const double pins = 2 * d->info.mem_max_Hz * d->info.mem_bus_bits / 8.0;
    const double peak = pins > 0 ? 1.01 * pins : NAN;
    const double sheet = CATALOGUE_TOLERANCE * catalogue_mem_Bps(profile_out_gpu(c->out));
    const struct bound b = { .min = NAN, .max = fmin(peak, sheet), .why_max = why };
    if (sheet < peak || isnan(peak))
        snprintf(why, sizeof why, "the catalogue's peak, %.4g B/s", sheet / CATALOGUE_TOLERANCE);
    else
        snprintf(why, sizeof why, "the theoretical %.4g B/s", pins);

    int rc = d->ops->context_open(d, &e);
    if (!rc) rc = triad_alloc(d, &t, &e);
    sampler_init(&s, &c->rule, d->ops->now_s(d));
    if (!rc) rc = triad_measure(c, &t, &s, &e);
    if (!rc) rc = triad_verify(d, &t, &e);
    if (rc)
        missing_all(c, triad_keys, 1, e.msg);
    else
        profile_out_put(c->out, triad_keys, &s, &b,
                        "events around a = b + s c on floats, 3 arrays counted, result verified");
    sampler_fini(&s);
    const dev_ptr all[] = { t.a, t.b, t.c, t.bad };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) d->ops->free(d, all[i], &e);
}

const struct probe probe_triad = {
    .name = "triad",
    .help = "sustained bandwidth of the card's memory",
    .keys = triad_keys,
    .keys_n = 1,
    .run = run_triad,
};

/* ---- bandwidth to the host ------------------------------------------------------------------------ */

static const struct param_def copy_keys[] = {
    { "base", "h2d_Bps", "B/s", "host to device, pinned memory, one large copy", 1e7, 2e12, false },
    { "base", "d2h_Bps", "B/s", "device to host, pinned memory, one large copy", 1e7, 2e12, false },
    { "base", "h2d_pageable_Bps", "B/s", "host to device, ordinary memory, the call and its end",
      1e7, 2e12, true },
    { "base", "d2h_pageable_Bps", "B/s", "device to host, ordinary memory, the call and its end",
      1e7, 2e12, true },
};
enum { H2D, D2H, PAGED_H2D, PAGED_D2H, COPY_KEYS };

struct copy {
    uint32_t *from, *back; /* pinned */
    uint32_t *paged;       /* ordinary */
    dev_ptr dev;
    size_t bytes;
};

static int copy_alloc(struct device *d, struct copy *m, struct err *e)
{
    /* nvbandwidth copies 512 MiB; half of it is past every ramp and fits small hosts twice. */
    const uint64_t share = d->info.memory_bytes / 64;
    void *p = NULL, *q = NULL;
    m->bytes = (size_t)(share && share < 256 * MiB ? share : 256 * MiB);
    m->bytes -= m->bytes % sizeof(uint32_t);
    int rc = d->ops->host_alloc(d, m->bytes, &p, e);
    m->from = p;
    if (!rc) rc = d->ops->host_alloc(d, m->bytes, &q, e);
    m->back = q;
    if (!rc) rc = d->ops->alloc(d, m->bytes, &m->dev, e);
    if (rc) return rc;
    m->paged = xmalloc(m->bytes);
    for (size_t i = 0; i < m->bytes / sizeof *m->from; i++)
        m->from[i] = (uint32_t)i * 2654435761u + 1;
    memset(m->back, 0, m->bytes);
    memcpy(m->paged, m->from, m->bytes); /* every page is there before anything is timed */
    return 0;
}

/* The driver stages ordinary memory through its own buffers and may do so in the call: the
 * host's clock, around call and wait. */
static int copy_paged(struct device *d, const struct copy *m, int way, double *ms, struct err *e)
{
    int rc = d->ops->sync(d, e);
    const double t0 = d->ops->now_s(d);
    if (!rc && way == PAGED_H2D) rc = d->ops->copy_in(d, m->dev, m->paged, m->bytes, e);
    if (!rc && way == PAGED_D2H) rc = d->ops->copy_out(d, m->paged, m->dev, m->bytes, e);
    if (!rc) rc = d->ops->sync(d, e);
    *ms = 1e3 * (d->ops->now_s(d) - t0);
    return rc;
}

static int copy_once(struct device *d, const struct copy *m, int way, double *ms, struct err *e)
{
    if (way >= PAGED_H2D) return copy_paged(d, m, way, ms, e);
    int rc = hold_stream(d, 50000, e);
    if (!rc) rc = d->ops->event_record(d, 0, e);
    if (!rc && way == H2D) rc = d->ops->copy_in(d, m->dev, m->from, m->bytes, e);
    if (!rc && way == D2H) rc = d->ops->copy_out(d, m->back, m->dev, m->bytes, e);
    if (!rc) rc = d->ops->event_record(d, 1, e);
    if (!rc) rc = d->ops->event_ms(d, 0, 1, ms, e);
    return rc;
}

static int copy_measure(struct device *d, const struct copy *m, int way, struct sampler *s,
                        struct err *e)
{
    double ms = NAN;
    int rc = copy_once(d, m, way, &ms, e); /* warm-up */
    while (!rc && sampler_more(s, d->ops->now_s(d))) {
        rc = copy_once(d, m, way, &ms, e);
        if (!rc) sampler_add(s, (double)m->bytes / (1e-3 * ms));
    }
    return rc;
}

static void run_copy(const struct probe_ctx *c)
{
    struct device *d = c->dev;
    struct copy m = { 0 };
    struct sampler s[COPY_KEYS];
    struct err e = { 0 };
    char why[64];

    /* The raw rate of the slot bounds a card on PCIe; one with a coherent link is not behind it. */
    const double link = d->info.coherent_link ? NAN : d->info.link_Bps;
    const struct bound b = { .min = NAN, .max = link, .why_max = why };
    snprintf(why, sizeof why, "the PCIe slot's raw %.4g B/s", link);

    int rc = d->ops->context_open(d, &e);
    if (!rc) rc = copy_alloc(d, &m, &e);
    for (int way = 0; way < COPY_KEYS; way++) {
        sampler_init(&s[way], &c->rule, d->ops->now_s(d));
        if (!rc) rc = copy_measure(d, &m, way, &s[way], &e);
    }
    if (!rc && (memcmp(m.from, m.back, m.bytes) != 0 || memcmp(m.from, m.paged, m.bytes) != 0))
        rc = err_set(&e, ERR_IO, NULL, "what came back from the device is not what was sent");
    if (rc) missing_all(c, copy_keys, COPY_KEYS, e.msg);
    for (int way = 0; way < COPY_KEYS; way++) {
        if (!rc)
            profile_out_put(c->out, &copy_keys[way], &s[way], &b,
                            way < PAGED_H2D
                                ? "events around one pinned copy, data verified"
                                : "host clock around one copy of ordinary memory and its end");
        sampler_fini(&s[way]);
    }
    d->ops->free(d, m.dev, &e);
    free(m.paged);
    d->ops->host_free(d, m.back, &e);
    d->ops->host_free(d, m.from, &e);
}

const struct probe probe_copy = {
    .name = "copy",
    .help = "bandwidth to and from the host's memory, pinned and ordinary",
    .keys = copy_keys,
    .keys_n = COPY_KEYS,
    .run = run_copy,
};
