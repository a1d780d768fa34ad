/* calibrate/probe_intercept.c - what a preloaded metering library costs and how well it holds its
 * quotas: HOOK-1 to HOOK-6. Two workers, one with the library and one without, are asked in turn,
 * so what is reported is the difference of pairs and a drift of the machine meets both. A library
 * that no launch reaches, or that is not there, makes everything "not measured". */
#include "calibrate/probe.h"
#include "calibrate/worker.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CORES = 4 };
enum {
    LAUNCH,
    ALLOC,
    FREE,
    STARTUP,
    PER_PROCESS,
    BYTES_ERROR,
    GAIN,
    REACHED,
    CORE,
    PAIR = CORE + CORES,
    EX = PAIR + 2,
    COPY,
    LOOK_UP,
    STARTUP_8,
    STARTUP_64,
    LONGEST,
    SEEN,
    BURST = SEEN + PATHS + 1,
    SETTLED,
    EVEN,
    KEYS = EVEN + CORES + 2
};
static const struct param_def keys[KEYS] = {
    [LAUNCH] = { "intercept", "launch_ns", "ns", "added to one kernel launch", -1e6, 1e6, false },
    [ALLOC] = { "intercept", "alloc_us", "us", "added to one allocation of 2 MiB", -1e6, 1e6,
                false },
    [FREE] = { "intercept", "free_us", "us", "added to freeing it", -1e6, 1e6, true },
    [STARTUP] = { "intercept", "startup_ms", "ms", "added to the start of a process", -1e5, 1e6,
                  false },
    [PER_PROCESS] = { "intercept", "startup_per_process_ms", "ms",
                      "and for each other process that starts at once", -1e5, 1e5, false },
    [BYTES_ERROR] = { "intercept", "quota_bytes_error", "ratio",
                      "share of a full process's card memory that the quota does not count", 0, 0.5,
                      false },
    [GAIN] = { "intercept", "core_gain", "exponent",
               "two processes with quotas 30 and 70: ln of work ratio over ln of quota ratio", 0, 2,
               false },
    [REACHED] = { "intercept", "quota_reached", "ratio",
                  "bytes that could be allocated over the quota", 0, 2, true },
    [CORE] = { "intercept", "core_10", "ratio",
               "work with a compute quota of 10 % over work without", 0, 1.5, true },
    { "intercept", "core_25", "ratio", "the same, 25 %", 0, 1.5, true },
    { "intercept", "core_50", "ratio", "the same, 50 %", 0, 1.5, true },
    { "intercept", "core_75", "ratio", "the same, 75 %", 0, 1.5, true },
    { "intercept", "core_30_of_pair", "ratio",
      "work with a quota of 30 % beside a process with 70 % over work alone without", 0, 1.5,
      true },
    { "intercept", "core_70_of_pair", "ratio", "work of that other one", 0, 1.5, true },
    { "intercept", "launch_ex_ns", "ns", "added to one launch by cuLaunchKernelEx", -1e6, 1e6,
      true },
    { "intercept", "copy_ns", "ns", "added to one copy of 4 KiB to the card", -1e6, 1e6, true },
    { "intercept", "look_up_ns", "ns", "added to one cuGetProcAddress", -1e6, 1e6, true },
    { "intercept", "startup_8_ms", "ms", "added to the start of each of 8 at once, mean", -1e5, 1e6,
      true },
    { "intercept", "startup_64_ms", "ms", "the same, 64 at once", -1e5, 1e6, true },
    { "intercept", "startup_longest_ms", "ms",
      "added to the slowest of the most started at once: the wait for the library's lock", -1e5,
      1e6, true },
    { "intercept", "seen_symbol", "ratio", "launches that reach a hook, by the exported symbol", 0,
      1, true },
    { "intercept", "seen_address", "ratio", "the same, by cuGetProcAddress as the runtime asks", 0,
      1, true },
    { "intercept", "seen_ex", "ratio", "the same, cuLaunchKernelEx", 0, 1, true },
    { "intercept", "seen_cooperative", "ratio", "the same, cooperative", 0, 1, true },
    { "intercept", "seen_graph", "ratio", "the same, graphs", 0, 1, true },
    { "intercept", "core_burst_s", "s",
      "work beyond a quota of 50 % at the start, in seconds of what it allows", -1, 60, false },
    { "intercept", "core_settled_s", "s",
      "from the first kernel until every second that follows is within 5 % of the later mean", 0,
      60, true },
    { "intercept", "core_10_deviation", "ratio",
      "quota of 10 %: standard deviation of the work of one second over its mean", 0, 10, true },
    { "intercept", "core_25_deviation", "ratio", "the same, 25 %", 0, 10, true },
    { "intercept", "core_50_deviation", "ratio", "the same, 50 %", 0, 10, true },
    { "intercept", "core_75_deviation", "ratio", "the same, 75 %", 0, 10, true },
    { "intercept", "core_30_of_pair_deviation", "ratio", "the same, 30 % beside 70 %", 0, 10,
      true },
    { "intercept", "core_70_of_pair_deviation", "ratio", "the same, 70 % beside 30 %", 0, 10,
      true },
};

struct hook {
    const struct probe_ctx *c;
    const char *path;
    char *preload; /* LD_PRELOAD=... */
};

static void missing(const struct probe_ctx *c, const char *why)
{
    for (int k = 0; k < KEYS; k++)
        if (isnan(profile_out_value(c->out, keys[k].group, keys[k].key)) &&
            !profile_out_reason(c->out, keys[k].group, keys[k].key))
            profile_out_missing(c->out, &keys[k], "%s", why);
}

/* A cost whose interval holds zero is no figure. */
static void put_cost(const struct probe_ctx *c, int key, const struct sampler *s,
                     const char *method)
{
    const struct estimate e = sampler_estimate(s);
    if (s->n && !(e.low > 0))
        profile_out_missing(c->out, &keys[key], "within the noise: %.4g %s [%.4g, %.4g], n %zu",
                            e.median, keys[key].unit, e.low, e.high, e.n);
    else
        profile_out_put(c->out, &keys[key], s, NULL, method);
}

/* ---- is it there? ------------------------------------------------------------------------------- */

static char *find_shim(const char *asked)
{
    static const char *const beside[] = { "libgpusim_intercept.so",
                                          "../lib/gpusim/libgpusim_intercept.so" };
    char self[4096];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    struct stat st;
    if (asked)
        return access(asked, R_OK) == 0 && stat(asked, &st) == 0 && S_ISREG(st.st_mode)
                   ? realpath(asked, NULL)
                   : NULL;
    if (n <= 0) return NULL;
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    if (slash) *slash = '\0';
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        char *path = xasprintf("%s/%s", self, beside[i]);
        char *whole = access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;
        free(path);
        if (whole) return whole;
    }
    return NULL;
}

/* After a launch: is the library mapped, and did the launch reach it (if it is ours and can
 * tell)? */
static int prove(const struct hook *h, struct worker *w, struct err *e)
{
    const char *line;
    int mapped = 0;
    long long seen = -1;
    int rc = worker_say(w, e, "calls launch 1");
    if (!rc) rc = worker_hear(w, &line, e);
    if (!rc) rc = worker_say(w, e, "hooked %s", h->path);
    if (!rc) rc = worker_hear(w, &line, e);
    if (!rc && sscanf(line, "hooked %d %lld", &mapped, &seen) != 2)
        rc = err_set(e, ERR_IO, NULL, "a worker says \"%s\"", line);
    if (!rc && !mapped)
        rc = err_set(e, ERR_IO, NULL, "the library was not loaded into a process that preloads it");
    if (!rc && seen == 0) rc = err_set(e, ERR_IO, NULL, "no launch reached the library's hook");
    return rc;
}

/* ---- cost of calls ------------------------------------------------------------------------------ */

/* Pairs, the order within a pair changing. */
static int measure_call(const struct hook *h, struct worker *w[2], const char *kind, int key,
                        double unit_ns, struct err *e)
{
    const struct probe_ctx *c = h->c;
    const struct stop_rule rule = { .relative = c->rule.relative,
                                    .min_n = c->quick ? 40 : 200,
                                    .max_n = c->quick ? 200 : 20000,
                                    .seconds = c->rule.seconds };
    struct sampler s;
    double ns[2] = { 0, 0 };
    int rc = 0;
    for (int i = 0; !rc && i < 10; i++)
        rc = calls_time(w[i % 2], kind, 32, &ns[i % 2], e); /* warm-up */
    sampler_init(&s, &rule, c->dev->ops->now_s(c->dev));
    for (int first = 0; !rc && sampler_more(&s, c->dev->ops->now_s(c->dev)); first = !first) {
        rc = calls_time(w[first], kind, 32, &ns[first], e);
        if (!rc) rc = calls_time(w[!first], kind, 32, &ns[!first], e);
        if (!rc) sampler_add(&s, (ns[1] - ns[0]) / unit_ns);
    }
    if (!rc)
        put_cost(
            c, key, &s,
            "pairs of 32 calls each, one process with the library and one without, interleaved");
    sampler_fini(&s);
    return rc;
}

/* The share of launches by each way that reached the library's hooks. */
static int measure_paths(const struct hook *h, struct worker *w, struct err *e)
{
    const struct stop_rule rule = { .relative = 0.01, .min_n = 1, .max_n = 1, .seconds = 60 };
    double share[PATHS + 1];
    const char *line;
    int rc = worker_say(w, e, "paths");
    if (!rc) rc = worker_hear(w, &line, e);
    if (!rc && sscanf(line, "paths %lf %lf %lf %lf %lf", &share[0], &share[1], &share[2], &share[3],
                      &share[4]) != PATHS + 1)
        rc = err_set(e, ERR_IO, NULL, "a worker says \"%s\"", line);
    for (int k = 0; !rc && k <= PATHS; k++) {
        struct sampler s;
        sampler_init(&s, &rule, 0);
        if (share[k] < 0)
            profile_out_missing(h->c->out, &keys[SEEN + k],
                                "the driver lacks this way, or the library does not tell");
        else {
            sampler_add(&s, share[k]);
            profile_out_put(h->c->out, &keys[SEEN + k], &s, NULL, "16 launches, counted");
        }
        sampler_fini(&s);
    }
    return rc;
}

static int measure_calls(const struct hook *h, struct err *e)
{
    const char *const env[] = { h->preload, NULL };
    struct worker *w[2] = { NULL, NULL };
    int rc = worker_start(h->c->dev, NULL, &w[0], e);
    if (!rc) rc = worker_start(h->c->dev, env, &w[1], e);
    for (int i = 0; !rc && i < 2; i++) rc = worker_ready(w[i], NULL, e);
    if (!rc) rc = prove(h, w[1], e);
    if (!rc) rc = measure_paths(h, w[1], e);
    if (!rc) rc = measure_call(h, w, "launch", LAUNCH, 1, e);
    if (!rc) rc = measure_call(h, w, "copy", COPY, 1, e);
    if (!rc) rc = measure_call(h, w, "alloc", ALLOC, 1e3, e);
    if (!rc) rc = measure_call(h, w, "free", FREE, 1e3, e);
    /* what old drivers lack comes last: a request that fails ends the worker */
    struct err lacks = { 0 };
    if (!rc && measure_call(h, w, "look_up", LOOK_UP, 1, &lacks))
        profile_out_missing(h->c->out, &keys[LOOK_UP], "%s", lacks.msg);
    else if (!rc)
        measure_call(h, w, "launch_ex", EX, 1, &lacks);
    if (lacks.code) profile_out_missing(h->c->out, &keys[EX], "%s", lacks.msg);
    workers_stop(w, 2);
    return rc;
}

/* ---- start-up ----------------------------------------------------------------------------------- */

/* Of n processes started at once, from the start to a usable context: mean and longest. */
struct start {
    double mean_ms, longest_ms;
};

static int start_time(const struct hook *h, bool hooked, size_t n, struct start *t, struct err *e)
{
    const char *const env[] = { h->preload, NULL };
    struct worker *w[64] = { NULL };
    struct worker_ready r;
    int rc = 0;
    *t = (struct start){ 0 };
    for (size_t i = 0; !rc && i < n; i++)
        rc = worker_start(h->c->dev, hooked ? env : NULL, &w[i], e);
    for (size_t i = 0; !rc && i < n; i++) {
        rc = worker_ready(w[i], &r, e);
        t->mean_ms += r.total_ms / (double)n;
        if (r.total_ms > t->longest_ms) t->longest_ms = r.total_ms;
    }
    workers_stop(w, n);
    return rc;
}

/* With the library less without, in pairs. */
static int start_pairs(const struct hook *h, size_t n, int pairs, struct sampler *mean,
                       struct sampler *longest, struct err *e)
{
    const struct stop_rule rule = { .relative = 0.1, .min_n = 6, .max_n = 1000, .seconds = 600 };
    struct start t[2];
    int rc = 0;
    sampler_init(mean, &rule, 0);
    sampler_init(longest, &rule, 0);
    for (int i = 0; !rc && i < pairs; i++) {
        rc = start_time(h, i % 2, n, &t[i % 2], e);
        if (!rc) rc = start_time(h, !(i % 2), n, &t[!(i % 2)], e);
        if (rc) break;
        sampler_add(mean, t[1].mean_ms - t[0].mean_ms);
        sampler_add(longest, t[1].longest_ms - t[0].longest_ms);
    }
    return rc;
}

/* Why 64 contexts are too many for this card; NULL: they are not. To be freed. */
static char *too_many(const struct hook *h)
{
    const double each = profile_out_value(h->c->out, "base", "context_bytes");
    uint64_t left = 0, total = 0;
    if (h->c->quick) return xstrdup("not with --quick");
    if (h->c->dev->ops->mem_info(h->c->dev, &left, &total, NULL)) return NULL;
    const double need = 64 * (isnan(each) ? 0.5e9 : each);
    if (need <= 0.9 * (double)left) return NULL;
    return xasprintf("64 contexts take %.3g of the %.3g GiB that are free", need / (1 << 30),
                     (double)left / (1 << 30));
}

static int measure_startup(const struct hook *h, struct err *e)
{
    static const size_t n[3] = { 1, 8, 64 };
    static const int key[3] = { STARTUP, STARTUP_8, STARTUP_64 };
    struct sampler mean[3] = { 0 }, longest[3] = { 0 }, each;
    char *why = too_many(h);
    const int counts = why ? 2 : 3, most = counts - 1;
    int rc = 0;
    for (int k = 0; k < counts; k++)
        rc = rc ? rc
                : start_pairs(h, n[k], h->c->quick || k == 2 ? 6 : 15, &mean[k], &longest[k], e);
    if (!rc) {
        for (int k = 0; k < counts; k++)
            put_cost(h->c, key[k], &mean[k],
                     "processes with the library less ones without, in turn");
        put_cost(h->c, LONGEST, &longest[most],
                 "slowest process with the library less slowest without");
        if (why) profile_out_missing(h->c->out, &keys[STARTUP_64], "%s", why);
        sampler_init(&each, &mean[most].rule, 0);
        const double alone = sampler_estimate(&mean[0]).median;
        for (size_t i = 0; i < mean[most].n; i++)
            sampler_add(&each, (mean[most].v[i] - alone) / (double)(n[most] - 1));
        put_cost(h->c, PER_PROCESS, &each,
                 "the most started at once less one alone, per further process");
        sampler_fini(&each);
    }
    for (int k = 0; k < counts; k++) {
        sampler_fini(&mean[k]);
        sampler_fini(&longest[k]);
    }
    free(why);
    return rc;
}

/* ---- quotas ------------------------------------------------------------------------------------- */

/* Both our variables and HAMi-core's. */
enum { QUOTA_VARS = 4 };
struct quota_env {
    char *set[QUOTA_VARS];
    const char *env[QUOTA_VARS + 2];
};

static void quota_env(struct quota_env *q, const struct hook *h, uint64_t MiB, int percent)
{
    char memory[32] = ""; /* an empty value removes the variable */
    if (MiB) snprintf(memory, sizeof memory, "%llum", (unsigned long long)MiB);
    *q = (struct quota_env){ .set = { xasprintf("GPUSIM_MEMORY_LIMIT=%s", memory),
                                      xasprintf("CUDA_DEVICE_MEMORY_LIMIT=%s", memory),
                                      xasprintf("GPUSIM_CORE_LIMIT=%d", percent),
                                      xasprintf("CUDA_DEVICE_SM_LIMIT=%d", percent) },
                             .env = { h->preload } };
    for (int i = 0; i < QUOTA_VARS; i++) q->env[i + 1] = q->set[i];
}

static void quota_env_fini(struct quota_env *q)
{
    for (int i = 0; i < QUOTA_VARS; i++) free(q->set[i]);
}

/* A library counts the context or not, in whole pages; beyond that it did not hold the quota. */
#define QUOTA_HELD 1.1

static int measure_memory(const struct hook *h, struct err *e)
{
    const struct stop_rule rule = { .relative = 0.02, .min_n = 6, .max_n = 100, .seconds = 600 };
    struct device *d = h->c->dev;
    struct sampler reached, error;
    uint64_t before = 0, during = 0, total = 0;
    unsigned long long got = 0;
    struct quota_env q;
    const char *line;
    int rc = d->ops->mem_info(d, &before, &total, e);
    const uint64_t MiB = before / 4 >> 20 > 4096 ? 4096 : before / 4 >> 20;
    quota_env(&q, h, MiB, 0);
    sampler_init(&reached, &rule, 0);
    sampler_init(&error, &rule, 0);
    for (int i = 0; !rc && i < 6; i++) {
        struct worker *w = NULL;
        rc = d->ops->mem_info(d, &before, &total, e);
        if (!rc) rc = workers_start(d, q.env, &w, 1, e);
        if (!rc) rc = worker_say(w, e, "quota");
        if (!rc) rc = worker_hear(w, &line, e);
        if (!rc && sscanf(line, "quota %llu", &got) != 1)
            rc = err_set(e, ERR_IO, NULL, "a worker says \"%s\"", line);
        if (!rc) rc = d->ops->mem_info(d, &during, &total, e);
        worker_stop(w);
        if (rc) break;
        sampler_add(&reached, (double)got / (double)(MiB << 20));
        sampler_add(&error, 1 - (double)got / (double)(before - during));
    }
    if (!rc) {
        const double filled = sampler_estimate(&reached).median;
        if (filled > QUOTA_HELD)
            for (int k = 0; k < 2; k++)
                profile_out_missing(h->c->out, &keys[k ? BYTES_ERROR : REACHED],
                                    "no quota was in force: %.3g of it could be allocated", filled);
        else {
            profile_out_put(h->c->out, &keys[REACHED], &reached, NULL,
                            "allocations of 64 and then 2 MiB until one is refused");
            profile_out_put(h->c->out, &keys[BYTES_ERROR], &error, NULL,
                            "counted at a full quota against what is gone from the card");
        }
    }
    sampler_fini(&reached);
    sampler_fini(&error);
    quota_env_fini(&q);
    return rc;
}

/* Bins of 0.1 s; quotas are judged from half a second on, over windows of one second. */
#define BIN_S 0.1
enum { BINS_SKIP = 5, BINS_SECOND = 10, QUOTAS = CORES + 2, HALF = 2 };

/* Work of one or two workers under these compute quotas, from their first kernel on; 0: none.
 * Kernels of about a millisecond. */
static int work_under(const struct hook *h, const struct loop *l, const int percent[], size_t n,
                      struct bins b[], struct err *e)
{
    struct worker *w[2] = { NULL, NULL };
    int rc = 0;
    for (size_t i = 0; !rc && i < n; i++) {
        struct quota_env q;
        quota_env(&q, h, 0, percent[i]);
        rc = worker_start(h->c->dev, q.env, &w[i], e);
        quota_env_fini(&q); /* the process has its own copy */
        /* many bursts: a tenth of a second and more with the usual libraries */
        b[i] =
            (struct bins){ .n = BINS_SKIP + BINS_SECOND * (h->c->quick ? 3 : 6), .width_s = BIN_S };
    }
    for (size_t i = 0; !rc && i < n; i++) rc = worker_ready(w[i], NULL, e);
    if (!rc) rc = bins_run(w, l, n, b, e);
    workers_stop(w, n);
    return rc;
}

static int loop_of_1ms(struct device *d, struct loop *l, struct err *e)
{
    uint64_t iters = 100000;
    dev_ptr sink = 0;
    void *args[] = { &sink, &iters };
    double ms = NAN;
    *l = (struct loop){ .kind = LOOP_COMPUTE,
                        .grid = (unsigned)(d->info.sms > 0 ? d->info.sms : 1) * 8,
                        .depth = DEV_EVENTS };
    int rc = d->ops->alloc(d, 64, &sink, e);
    for (int i = 0; !rc && i < 5; i++) {
        rc = d->ops->event_record(d, 0, e);
        if (!rc) rc = d->ops->launch(d, DEV_COMPUTE, l->grid, DEV_BLOCK, args, e);
        if (!rc) rc = d->ops->event_record(d, 1, e);
        if (!rc) rc = d->ops->event_ms(d, 0, 1, &ms, e);
    }
    d->ops->free(d, sink, NULL);
    l->size = (uint64_t)((double)iters / ms) + 1;
    return rc;
}

struct core {
    struct sampler share[QUOTAS], deviation[QUOTAS], gain, settled, burst;
    size_t unsettled;
};

static void core_sample(const struct hook *h, struct core *m, int quota, const struct bins *b,
                        double full)
{
    probe_sample(h->c, &m->share[quota], bins_rate(b, BINS_SKIP) / full);
    const double uneven = bins_deviation(b, BINS_SKIP, BINS_SECOND);
    if (!isnan(uneven)) probe_sample(h->c, &m->deviation[quota], uneven);
    if (quota != HALF) return;
    const double settled = bins_settled_s(b, BINS_SECOND, 0.05);
    if (isnan(settled)) {
        m->unsettled++;
        return;
    }
    probe_sample(h->c, &m->settled, settled);
    probe_sample(h->c, &m->burst, bins_burst_s(b));
}

/* One round: without a quota, with each, and the pair. */
static int core_round(const struct hook *h, const struct loop *l, struct core *m, struct err *e)
{
    static const int alone[CORES] = { 10, 25, 50, 75 }, pair[2] = { 30, 70 }, none = 0;
    struct bins b[2];
    int rc = work_under(h, l, &none, 1, b, e);
    const double full = rc ? NAN : bins_rate(&b[0], BINS_SKIP);
    for (int k = 0; !rc && k < CORES; k++) {
        rc = work_under(h, l, &alone[k], 1, b, e);
        if (!rc) core_sample(h, m, k, &b[0], full);
    }
    if (!rc) rc = work_under(h, l, pair, 2, b, e);
    for (int k = 0; !rc && k < 2; k++) core_sample(h, m, CORES + k, &b[k], full);
    const double ratio = rc ? NAN : bins_rate(&b[0], BINS_SKIP) / bins_rate(&b[1], BINS_SKIP);
    if (ratio > 0 && isfinite(ratio)) probe_sample(h->c, &m->gain, log(ratio) / log(30.0 / 70));
    return rc;
}

static void core_put(const struct hook *h, const struct core *m)
{
    struct profile_out *out = h->c->out;
    for (int k = 0; k < QUOTAS; k++) {
        profile_out_put(out, &keys[CORE + k], &m->share[k], NULL,
                        "kernels of 1 ms, never waited for singly, after the first 0.5 s");
        profile_out_put(out, &keys[EVEN + k], &m->deviation[k], NULL,
                        "the same kernels, windows of one second");
    }
    profile_out_put(out, &keys[GAIN], &m->gain, NULL,
                    "two processes at once with quotas 30 and 70, queues full");
    const double half = sampler_estimate(&m->share[HALF]).median;
    if (half > 0.95)
        for (int k = BURST; k <= SETTLED; k++)
            profile_out_missing(
                out, &keys[k],
                "no compute quota was in force: with 50 %% %.3g of the work was done", half);
    else if (m->unsettled > m->settled.n)
        for (int k = BURST; k <= SETTLED; k++)
            profile_out_missing(out, &keys[k],
                                "in %zu of %zu runs the quota had not settled after half the time",
                                m->unsettled, m->unsettled + m->settled.n);
    else {
        put_cost(h->c, BURST, &m->burst, "first half of the time against the second");
        profile_out_put(out, &keys[SETTLED], &m->settled, NULL,
                        "windows of one second in steps of 0.1 s");
    }
}

static int measure_core(const struct hook *h, struct err *e)
{
    const struct stop_rule rule = { .relative = 0.05, .min_n = 6, .max_n = 100, .seconds = 600 };
    /* counted in steps of 0.1 s, and within the noise of counting where the quota holds: no
     * target */
    const struct stop_rule counted = { .relative = 0.05, .min_n = 1, .max_n = 1, .seconds = 600 };
    struct core m = { 0 };
    struct loop l;
    int rc = loop_of_1ms(h->c->dev, &l, e);
    for (int k = 0; k < QUOTAS; k++) {
        sampler_init(&m.share[k], &rule, 0);
        sampler_init(&m.deviation[k], &counted, 0);
    }
    sampler_init(&m.gain, &rule, 0);
    sampler_init(&m.settled, &counted, 0);
    sampler_init(&m.burst, &counted, 0);
    for (int i = 0; !rc && i < 6; i++) rc = core_round(h, &l, &m, e);
    if (!rc) core_put(h, &m);
    for (int k = 0; k < QUOTAS; k++) {
        sampler_fini(&m.share[k]);
        sampler_fini(&m.deviation[k]);
    }
    sampler_fini(&m.gain);
    sampler_fini(&m.settled);
    sampler_fini(&m.burst);
    return rc;
}

static void run(const struct probe_ctx *c)
{
    struct hook h = { .c = c };
    struct err e = { 0 };
    char *path = find_shim(c->shim);
    int rc = c->dev->ops->context_open(c->dev, &e);
    if (!rc && c->dev->index < 0)
        rc = err_set(&e, ERR_IO, NULL, "this device runs one process only");
    if (!rc && !path)
        rc = err_set(&e, ERR_IO, NULL, "no library to preload: %s",
                     c->shim ? c->shim : "libgpusim_intercept.so is not beside this program");
    if (!rc && strpbrk(path, ": "))
        rc = err_set(
            &e, ERR_IO, NULL,
            "the loader takes \"%s\" for two: a path to preload may hold no space and no colon; copy "
            "the library",
            path);
    /* before whatever is preloaded already, so that the two sides of a pair differ in this one
     * only */
    const char *rest = getenv("LD_PRELOAD");
    h.path = path;
    h.preload = xasprintf("LD_PRELOAD=%s%s%s", path ? path : "", rest && *rest ? ":" : "",
                          rest ? rest : "");
    if (!rc) rc = measure_calls(&h, &e);
    if (!rc) rc = measure_startup(&h, &e);
    if (!rc) rc = measure_memory(&h, &e);
    if (!rc) rc = measure_core(&h, &e);
    if (rc) missing(c, e.msg);
    free(h.preload);
    free(path);
}

const struct probe probe_intercept = {
    .name = "intercept",
    .help = "a preloaded metering library: cost of its hooks, accuracy of its quotas",
    .keys = keys,
    .keys_n = KEYS,
    .run = run,
};
