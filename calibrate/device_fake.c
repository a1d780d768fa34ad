/* calibrate/device_fake.c - a virtual card with planted figures, for tests without a card.
 *
 * Two clocks, as on a real one: the host's, which every call moves, and the time at which the
 * device has done all it was given. Copies move real bytes and check_ fills in real answers, so a
 * probe that verifies its data verifies something. */
#include "base/mem.h"
#include "calibrate/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct block {
    struct block *next;
    size_t bytes;
    unsigned char data[]; /* `bytes` long, or empty for blocks that nobody copies */
};

struct fake {
    struct device base;
    struct fake_config c;
    double host_s, done_s, event_s[DEV_EVENTS];
    uint64_t rng;
    unsigned readings;
    bool context, filled;
    bool cold; /* the cache was written over since the last wait */
    unsigned graph_nodes;
    double gemm_s;
    struct block *blocks;
    uint64_t used_bytes;
    struct {
        const char *at;
        size_t bytes;
    } pinned[4];
};

/* Above this a block has no memory behind it; no probe copies so much. */
static const size_t backed_bytes = 64u << 20;

static struct fake *of(struct device *d)
{
    return (struct fake *)d; /* base is the first member */
}

/* Knuth's MMIX generator: in [1, 1 + noise], the same sequence each time. */
static double jitter(struct fake *f)
{
    f->rng = f->rng * 6364136223846793005u + 1442695040888963407u;
    return 1 + f->c.noise * (double)(f->rng >> 11) * 0x1p-53;
}

static void host_works(struct fake *f, double us)
{
    f->host_s += 1e-6 * us * jitter(f);
}

static void device_works(struct fake *f, double s)
{
    f->done_s = fmax(f->done_s, f->host_s) + s * jitter(f);
}

static double now_s(struct device *d)
{
    return of(d)->host_s;
}

static void sleep_s(struct device *d, double s)
{
    of(d)->host_s += s;
}

static void sensors(struct device *d, struct device_sensors *out)
{
    struct fake *f = of(d);
    *out = f->c.sensors;
    const bool busy = f->done_s > f->host_s;
    out->power_W = (busy ? f->c.busy_W : f->context ? f->c.context_W : f->c.idle_W) * jitter(f);
    f->readings++;
    if (f->c.throttle_every)
        out->throttled = f->readings % f->c.throttle_every == 0 ? TRI_YES : TRI_NO;
}

static int context_cost(struct device *d, bool primary, struct context_cost *out, struct err *e)
{
    struct fake *f = of(d);
    if (primary && isnan(f->c.primary_ms)) return err_set(e, ERR_IO, NULL, "no primary one (fake)");
    *out = f->c.context;
    if (primary) out->create_ms = f->c.primary_ms;
    out->init_ms *= jitter(f);
    out->create_ms *= jitter(f);
    out->first_launch_ms *= jitter(f);
    f->host_s += 1e-3 * (out->init_ms + out->create_ms + out->first_launch_ms);
    return 0;
}

static int context_open(struct device *d, struct err *e)
{
    struct fake *f = of(d);
    if (f->c.fail_context) return err_set(e, ERR_IO, NULL, "cuCtxCreate: exclusive process (fake)");
    f->context = true;
    return 0;
}

static int mem_info(struct device *d, uint64_t *free_bytes, uint64_t *total_bytes, struct err *e)
{
    struct fake *f = of(d);
    (void)e;
    *total_bytes = f->c.info.memory_bytes;
    *free_bytes = *total_bytes - f->used_bytes;
    return 0;
}

static int mem_alloc(struct device *d, size_t bytes, dev_ptr *out, struct err *e)
{
    struct fake *f = of(d);
    const double MiB = (double)bytes / (1 << 20);
    *out = 0;
    if (bytes > f->c.info.memory_bytes - f->used_bytes ||
        (f->c.fail_alloc_above_MiB && MiB > f->c.fail_alloc_above_MiB))
        return err_set(e, ERR_IO, NULL, "cuMemAlloc: out of memory (fake)");

    struct block *b = xcalloc(1, sizeof *b + (bytes <= backed_bytes ? bytes : 0));
    b->bytes = bytes;
    b->next = f->blocks;
    f->blocks = b;
    f->used_bytes += bytes;
    *out = (dev_ptr)(uintptr_t)b;
    host_works(f, f->c.alloc_us + f->c.alloc_us_per_MiB * MiB);
    return 0;
}

static int mem_free(struct device *d, dev_ptr p, struct err *e)
{
    struct fake *f = of(d);
    struct block **at = &f->blocks, *b = (struct block *)(uintptr_t)p;
    if (!p) return 0;
    while (*at && *at != b) at = &(*at)->next;
    if (!*at) return err_set(e, ERR_IO, NULL, "cuMemFree: invalid value (fake)");
    *at = b->next;
    f->used_bytes -= b->bytes;
    free(b);
    host_works(f, f->c.free_us);
    return 0;
}

static int host_alloc(struct device *d, size_t bytes, void **out, struct err *e)
{
    struct fake *f = of(d);
    for (size_t i = 0; i < 4; i++) {
        if (f->pinned[i].at) continue;
        f->pinned[i].at = *out = xmalloc(bytes);
        f->pinned[i].bytes = bytes;
        return 0;
    }
    *out = NULL;
    return err_set(e, ERR_IO, NULL, "this device pins four pieces of memory");
}

static double link_Bps(const struct fake *f, const void *host, double of_pinned)
{
    const char *p = host;
    for (size_t i = 0; i < 4; i++)
        if (f->pinned[i].at && p >= f->pinned[i].at && p < f->pinned[i].at + f->pinned[i].bytes)
            return of_pinned;
    return f->c.paged_Bps;
}

static int host_free(struct device *d, void *p, struct err *e)
{
    for (size_t i = 0; i < 4; i++)
        if (of(d)->pinned[i].at == p) of(d)->pinned[i].at = NULL;
    (void)e;
    free(p);
    return 0;
}

static int launch(struct device *d, enum dev_kernel k, unsigned grid, unsigned block, void **args,
                  struct err *e)
{
    struct fake *f = of(d);
    (void)block;
    if (!f->context) return err_set(e, ERR_IO, NULL, "cuLaunchKernel: invalid context (fake)");
    host_works(f, f->c.launch_us);
    switch (k) {
    case DEV_FILL:
        f->filled = false;
        f->cold = 12 * *(uint64_t *)args[3] >= f->c.info.l2_bytes;
        device_works(f, 1e-3);
        break;
    case DEV_TRIAD:
        f->filled = true;
        device_works(f, 3 * sizeof(float) * (double)*(uint64_t *)args[4] / f->c.mem_Bps);
        break;
    case DEV_CHECK: {
        struct block *bad = (struct block *)(uintptr_t) * (dev_ptr *)args[3];
        uint64_t wrong = f->filled ? 0 : *(uint64_t *)args[2];
        if (f->c.corrupt_triad) wrong += 3;
        memcpy(bad->data, &wrong, sizeof wrong);
        device_works(f, 1e-3);
        break;
    }
    case DEV_COMPUTE: {
        /* an SM takes a block at a time */
        const double rounds = ceil((double)grid / f->c.info.sms);
        device_works(f, rounds * 4 * (double)*(uint64_t *)args[1] / f->c.clock_Hz);
        break;
    }
    case DEV_READ:
        device_works(f, 16 * (double)*(uint64_t *)args[1] * (double)*(uint64_t *)args[2] /
                            f->c.l2_Bps);
        break;
    case DEV_LOG:
        return err_set(e, ERR_IO, NULL, "cal_log: the virtual card has one process (fake)");
    case DEV_SPIN: device_works(f, 1e-9 * (double)*(uint64_t *)args[0]); break;
    case DEV_EMPTY:
    case DEV_KERNELS: device_works(f, 1e-6 * f->c.empty_us); break;
    }
    return 0;
}

static int copy_in(struct device *d, dev_ptr to, const void *from, size_t bytes, struct err *e)
{
    struct fake *f = of(d);
    struct block *b = (struct block *)(uintptr_t)to;
    (void)e;
    memcpy(b->data, from, bytes);
    host_works(f, f->c.launch_us);
    device_works(f, (double)bytes / link_Bps(f, from, f->c.h2d_Bps));
    return 0;
}

static int copy_out(struct device *d, void *to, dev_ptr from, size_t bytes, struct err *e)
{
    struct fake *f = of(d);
    struct block *b = (struct block *)(uintptr_t)from;
    (void)e;
    memcpy(to, b->data, bytes);
    if (f->c.corrupt_copy && bytes > sizeof(uint64_t)) ((unsigned char *)to)[bytes / 3] ^= 1;
    host_works(f, f->c.launch_us);
    device_works(f, (double)bytes / link_Bps(f, to, f->c.d2h_Bps));
    return 0;
}

static int sync_stream(struct device *d, struct err *e)
{
    struct fake *f = of(d);
    (void)e;
    f->cold = false;
    f->host_s = fmax(f->host_s, f->done_s);
    host_works(f, f->c.sync_us);
    return 0;
}

static int event_record(struct device *d, int event, struct err *e)
{
    struct fake *f = of(d);
    (void)e;
    host_works(f, 0.3);
    f->event_s[event] = fmax(f->done_s, f->host_s);
    return 0;
}

static int event_ms(struct device *d, int from, int to, double *ms, struct err *e)
{
    struct fake *f = of(d);
    (void)e;
    *ms = 1e3 * (f->event_s[to] - f->event_s[from]);
    f->cold = false;
    f->host_s = fmax(f->host_s, f->event_s[to]);
    host_works(f, f->c.sync_us);
    return 0;
}

static int graph_open(struct device *d, unsigned nodes, struct err *e)
{
    (void)e;
    of(d)->graph_nodes = nodes;
    return 0;
}

static int graph_launch(struct device *d, struct err *e)
{
    struct fake *f = of(d);
    (void)e;
    host_works(f, f->c.launch_us);
    device_works(f, 1e-6 * f->c.graph_node_us * f->graph_nodes);
    return 0;
}

static void graph_close(struct device *d)
{
    of(d)->graph_nodes = 0;
}

static int gemm_open(struct device *d, enum dev_gemm kind, unsigned n, struct err *e)
{
    struct fake *f = of(d);
    if (f->c.gemm_ops[kind] <= 0)
        return err_set(e, ERR_IO, NULL, "cuBLASLt has no such product for this card (fake)");
    f->gemm_s = 2.0 * n * n * n / f->c.gemm_ops[kind];
    return 0;
}

static int gemm_launch(struct device *d, struct err *e)
{
    struct fake *f = of(d);
    (void)e;
    host_works(f, f->c.launch_us);
    device_works(f, f->cold ? f->gemm_s : f->gemm_s / f->c.warm_gain);
    return 0;
}

static void gemm_close(struct device *d)
{
    of(d)->gemm_s = 0;
}

static void close_device(struct device *d)
{
    struct fake *f = of(d);
    while (f->blocks) {
        struct block *b = f->blocks;
        f->blocks = b->next;
        free(b);
    }
    free(f);
}

static const struct device_ops fake_ops = {
    .close = close_device,
    .now_s = now_s,
    .sleep_s = sleep_s,
    .sensors = sensors,
    .context_cost = context_cost,
    .context_open = context_open,
    .mem_info = mem_info,
    .alloc = mem_alloc,
    .free = mem_free,
    .host_alloc = host_alloc,
    .host_free = host_free,
    .launch = launch,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .sync = sync_stream,
    .event_record = event_record,
    .event_ms = event_ms,
    .graph_open = graph_open,
    .graph_launch = graph_launch,
    .graph_close = graph_close,
    .gemm_open = gemm_open,
    .gemm_launch = gemm_launch,
    .gemm_close = gemm_close,
};

void fake_config_default(struct fake_config *c)
{
    *c = (struct fake_config){
        .info = { .name = "NVIDIA Fake-2GB",
                  .uuid = "GPU-00000000-0000-0000-0000-000000000000",
                  .pci = "0000:01:00.0",
                  .cc_major = 9,
                  .sms = 11,
                  .memory_bytes = UINT64_C(2) << 30,
                  .l2_bytes = 3u << 20,
                  .sm_max_Hz = 1.755e9,
                  .mem_max_Hz = 1.215e9,
                  .mem_bus_bits = 512,
                  .cuda_version = 13000,
                  .mps = TRI_NO,
                  .nvml = true,
                  .driver = "580.65.06",
                  .board_name = "NVIDIA Fake-2GB",
                  .board_bytes = UINT64_C(2) << 30,
                  .power_cap_W = 310,
                  .power_default_W = 350,
                  .link_Bps = 31.5e9,
                  .ecc = TRI_YES,
                  .mig_mode = TRI_NO,
                  .persistence = TRI_YES,
                  .virt = VIRT_NONE,
                  .compute_mode = 0,
                  .other_processes = 0 },
        .sensors = { .sm_Hz = 1.41e9,
                     .mem_Hz = 1.215e9,
                     .power_W = 61,
                     .temperature_C = 37,
                     .throttled = TRI_NO },
        .launch_us = 2.385,
        .sync_us = 1.9,
        .empty_us = 1.13,
        .alloc_us = 3.7,
        .alloc_us_per_MiB = 0.47,
        .free_us = 5.3,
        .mem_Bps = 137.7e9,
        .l2_Bps = 611e9,
        .graph_node_us = 0.83,
        .gemm_ops = { 0.31e12, 0.62e12, 4.1e12, 8.7e12, 8.6e12, 0, 17.3e12 },
        .warm_gain = 1.7,
        .clock_Hz = 1.41e9,
        .h2d_Bps = 23.9e9,
        .d2h_Bps = 26.1e9,
        .paged_Bps = 7.3e9,
        .idle_W = 43.7,
        .context_W = 71.3,
        .busy_W = 287.9,
        .primary_ms = 93.1,
        .context = { .init_ms = 131, .create_ms = 87.3, .first_launch_ms = 5.9, .bytes = 433e6 },
        .noise = 0.01,
    };
}

struct device *device_fake_open(const struct fake_config *c)
{
    struct fake *f = xcalloc(1, sizeof *f);
    f->base.ops = &fake_ops;
    f->base.info = c->info;
    f->base.index = -1;
    f->c = *c;
    f->rng = 20250611;
    return &f->base;
}
