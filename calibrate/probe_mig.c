/* calibrate/probe_mig.c - MIG-2 and MIG-4 on the instances that are there: none is made, none removed. Every
 * instance runs in a worker of its own, alone and with all others busy. */
#include "calibrate/nvml.h"
#include "calibrate/probe.h"
#include "calibrate/worker.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

enum { POWER_LOSS, KEPT_COMPUTE, KEPT_MEMORY, KEYS, REPEATS = 6 };
static const struct param_def keys[KEYS] = {
    { "mig", "power_loss", "ratio", "speed that instances lose with all of them computing", -0.5,
      0.9, false },
    { "mig", "kept_compute", "ratio", "speed of the instances together over each alone, compute", 0,
      1.2, true },
    { "mig", "kept_memory", "ratio", "the same, memory", 0, 1.2, true },
};

/* Sum of the rates of all instances, each alone or all at once. */
static int rates(struct worker *w[], const struct loop l[], size_t n, bool at_once, double seconds,
                 double each[], struct err *e)
{
    struct loop_result r[NVML_MIG_MAX];
    int rc = 0;
    if (at_once)
        rc = loops_run(w, l, n, seconds, r, e);
    else
        for (size_t i = 0; !rc && i < n; i++) rc = loops_run(&w[i], &l[i], 1, seconds, &r[i], e);
    for (size_t i = 0; !rc && i < n; i++) each[i] = r[i].rate;
    return rc;
}

/* Mean over the instances of speed with all busy over speed alone. */
static int kept(struct worker *w[], const struct loop l[], size_t n, double seconds, double *out,
                struct err *e)
{
    double alone[NVML_MIG_MAX], busy[NVML_MIG_MAX];
    int rc = rates(w, l, n, false, seconds, alone, e);
    if (!rc) rc = rates(w, l, n, true, seconds, busy, e);
    *out = 0;
    for (size_t i = 0; !rc && i < n; i++) *out += busy[i] / alone[i] / (double)n;
    return rc;
}

static int measure(const struct probe_ctx *c, struct worker *w[], const int sms[], size_t n,
                   struct err *e)
{
    const struct stop_rule rule = {
        .relative = 0.02, .min_n = REPEATS, .max_n = 100, .seconds = 600
    };
    const double seconds = c->quick ? 0.3 : 2;
    struct loop compute[NVML_MIG_MAX], memory[NVML_MIG_MAX];
    struct sampler s[KEYS];
    double ratio;
    int rc = 0;
    for (size_t i = 0; i < n; i++) {
        compute[i] = (struct loop){ .kind = LOOP_COMPUTE,
                                    .grid = (unsigned)(sms[i] > 0 ? sms[i] : 1) * 8,
                                    .size = 100000,
                                    .depth = DEV_EVENTS };
        memory[i] = (struct loop){ .kind = LOOP_MEMORY, .size = 64 << 20, .depth = DEV_EVENTS };
    }
    for (int k = 0; k < KEYS; k++) sampler_init(&s[k], &rule, 0);
    for (int i = 0; !rc && i < REPEATS; i++) {
        rc = kept(w, compute, n, seconds, &ratio, e);
        if (!rc) sampler_add(&s[KEPT_COMPUTE], ratio);
        if (!rc) sampler_add(&s[POWER_LOSS], 1 - ratio);
        if (!rc) rc = kept(w, memory, n, seconds, &ratio, e);
        if (!rc) sampler_add(&s[KEPT_MEMORY], ratio);
    }
    for (int k = 0; k < KEYS; k++) {
        const struct estimate est = sampler_estimate(&s[k]);
        if (!rc && k == POWER_LOSS && !(est.low > 0))
            profile_out_missing(c->out, &keys[k], "within the noise: %.4g [%.4g, %.4g], n %zu",
                                est.median, est.low, est.high, est.n);
        else if (!rc)
            profile_out_put(c->out, &keys[k], &s[k], NULL,
                            "closed loops on every instance, alone and with all busy, in turn");
        sampler_fini(&s[k]);
    }
    return rc;
}

/* A worker on each instance; index 0 of what it sees is its own. */
static int start_all(const struct probe_ctx *c, char uuid[][NVML_UUID_SIZE], size_t n,
                     struct worker *w[], int sms[], struct err *e)
{
    const struct device as_first = { .ops = c->dev->ops, .index = 0 };
    struct worker_ready r = { 0 };
    int rc = 0;
    for (size_t i = 0; !rc && i < n; i++) {
        char *visible = xasprintf("CUDA_VISIBLE_DEVICES=%s", uuid[i]);
        const char *const env[] = { visible, NULL };
        rc = worker_start(&as_first, env, &w[i], e);
        free(visible);
        if (!rc) rc = worker_ready(w[i], &r, e);
        sms[i] = r.sms;
    }
    return rc;
}

static void run(const struct probe_ctx *c)
{
    char uuid[NVML_MIG_MAX][NVML_UUID_SIZE];
    struct worker *w[NVML_MIG_MAX] = { NULL };
    int sms[NVML_MIG_MAX] = { 0 };
    struct err e = { 0 };
    size_t n = 0;
    int rc = c->dev->ops->context_open(c->dev, &e);
    if (!rc && c->dev->index < 0)
        rc = err_set(&e, ERR_IO, NULL, "this device runs one process only");
    if (!rc && c->dev->info.mig_mode != TRI_YES)
        rc = err_set(&e, ERR_IO, NULL, "MIG mode is %s",
                     c->dev->info.mig_mode == TRI_NO ? "off" : "unknown without NVML");
    if (!rc) {
        struct nvml *m = nvml_open();
        n = nvml_mig_uuids(m, &c->dev->info, uuid);
        nvml_close(m);
        if (n < 2) rc = err_set(&e, ERR_IO, NULL, "%zu instances are there, two are needed", n);
    }
    if (!rc) rc = start_all(c, uuid, n, w, sms, &e);
    if (!rc) rc = measure(c, w, sms, n, &e);
    workers_stop(w, n);
    if (rc)
        for (int k = 0; k < KEYS; k++) profile_out_missing(c->out, &keys[k], "%s", e.msg);
}

const struct probe probe_mig = {
    .name = "mig",
    .help = "the MIG instances that are there, alone and with neighbours busy",
    .keys = keys,
    .keys_n = KEYS,
    .run = run,
};
