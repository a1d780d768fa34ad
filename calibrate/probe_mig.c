/* calibrate/probe_mig.c - MIG-1 to MIG-4 on the instances that are there: none is made, none
 * removed. What one is by itself is asked of this program, run again inside it. Then every
 * instance runs in a worker of its own, alone and with all others busy. */
#include "calibrate/nvml.h"
#include "calibrate/probe.h"
#include "calibrate/worker.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FACTS = 12, INSTANCES = 7 }; /* of one instance; no card has more instances */
enum {
    POWER_LOSS,
    PCIE,
    KEPT_COMPUTE,
    KEPT_MEMORY,
    KEPT_COPY,
    EACH,
    CHANGES = EACH + FACTS * INSTANCES, /* MIG-5: three */
    KEYS = CHANGES + 3
};
enum { REPEATS = 6 };
#define PRODUCT(i, what, unit)                                                                     \
    {                                                                                              \
        "mig", "instance_" i "_gemm_" what, unit, "matrix product in it, " what, 1e8, 1e17, true   \
    }
#define INSTANCE(i)                                                                                \
    { "mig", "instance_" i "_sms", "SMs", "SMs of instance " i, 1, 4096, true },                   \
        { "mig", "instance_" i "_bytes", "B", "memory of instance " i, 1e8, 1e13, true },          \
        { "mig", "instance_" i "_mem_Bps", "B/s", "triad in it", 1e8, 1e14, true },                \
        { "mig", "instance_" i "_l2_Bps", "B/s", "second-level cache in it", 1e8, 1e15, true },    \
        PRODUCT(i, "fp64_flops", "FLOPS"), PRODUCT(i, "fp32_flops", "FLOPS"),                      \
        PRODUCT(i, "tf32_flops", "FLOPS"), PRODUCT(i, "fp16_flops", "FLOPS"),                      \
        PRODUCT(i, "bf16_flops", "FLOPS"), PRODUCT(i, "fp8_flops", "FLOPS"),                       \
        PRODUCT(i, "int8_ops", "OPS"),                                                             \
    {                                                                                              \
        "mig", "instance_" i "_launch_us", "us", "one launch in it", 0.01, 1e4, true               \
    }
static const struct param_def keys[KEYS] = {
    { "mig", "power_loss", "ratio", "speed that instances lose with all of them computing", -0.5,
      0.9, false },
    { "mig", "pcie_efficiency", "ratio", "share of the bus's raw rate that all get together", 0.01,
      1, false },
    { "mig", "kept_compute", "ratio", "speed of the instances together over each alone, compute", 0,
      1.2, true },
    { "mig", "kept_memory", "ratio", "the same, memory", 0, 1.2, true },
    { "mig", "kept_copy", "ratio", "the same, copies from pinned memory", 0, 1.2, true },
    INSTANCE("0"),
    INSTANCE("1"),
    INSTANCE("2"),
    INSTANCE("3"),
    INSTANCE("4"),
    INSTANCE("5"),
    INSTANCE("6"),
    { "mig", "repartition_s", "s", "to remove and make instances", 0, 3600, false },
    { "mig", "operator_s", "s", "the same through the GPU operator", 0, 7200, false },
    { "mig", "mode_change_s", "s", "to turn MIG on or off", 0, 7200, false },
};

/* The facts as the program names them when it runs inside: group and key in the profile or
 * samples. */
static const char *const inside[FACTS] = {
    "sms",
    "memory_bytes",
    "mem_Bps",
    "l2_Bps",
    "gemm_fp64_flops",
    "gemm_fp32_flops",
    "gemm_tf32_flops",
    "gemm_fp16_flops",
    "gemm_bf16_flops",
    "gemm_fp8_flops",
    "gemm_int8_ops",
    "launch_us",
};

static void put_one(const struct probe_ctx *c, const struct param_def *key, double value)
{
    const struct stop_rule rule = { .relative = 1, .min_n = 1, .max_n = 1, .seconds = 60 };
    struct sampler s;
    sampler_init(&s, &rule, 0);
    sampler_add(&s, value);
    profile_out_put(c->out, key, &s, NULL, "this program, run inside the instance");
    sampler_fini(&s);
}

static double number(const json_t *v)
{
    if (json_is_object(v)) v = json_object_get(v, "value");
    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* Start this program again inside an instance. Returns where its profile comes, or NULL. */
static FILE *run_inside(const char *uuid, pid_t *pid)
{
    char program[] = "calibrate", quick[] = "--quick", only[] = "--only",
         probes[] = "launch,triad,l2,gemm";
    char *argv[] = { program, quick, only, probes, NULL };
    char *device = xasprintf("CUDA_VISIBLE_DEVICES=%s", uuid);
    const char *const extra[] = { device, NULL };
    char **env = worker_environment(extra);
    posix_spawn_file_actions_t fa;
    FILE *profile = NULL;
    int fd[2];
    if (pipe2(fd, O_CLOEXEC) == 0) {
        posix_spawn_file_actions_init(&fa);
        posix_spawn_file_actions_adddup2(&fa, fd[1], STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&fa, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        if (posix_spawn(pid, "/proc/self/exe", &fa, NULL, argv, env) == 0)
            profile = fdopen(fd[0], "r");
        posix_spawn_file_actions_destroy(&fa);
        close(fd[1]);
        if (!profile) close(fd[0]);
    }
    free(env);
    free(device);
    return profile;
}

/* One instance by itself: the profile of a run of this program that sees nothing else. */
static void measure_inside(const struct probe_ctx *c, const char *uuid, const struct param_def *key)
{
    pid_t pid = 0;
    int status = -1;
    FILE *f = run_inside(uuid, &pid);
    json_t *profile = f ? json_loadf(f, 0, NULL) : NULL;
    if (f) fclose(f);
    if (pid > 0)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    const json_t *device = json_object_get(profile, "device"),
                 *base = json_object_get(profile, "base"),
                 *not_measured = json_object_get(profile, "not_measured");
    for (int k = 0; k < FACTS; k++) {
        const double v = number(json_object_get(k < 2 ? device : base, inside[k]));
        char name[64];
        snprintf(name, sizeof name, "base.%s", inside[k]);
        const char *why = json_string_value(json_object_get(not_measured, name));
        if (isnan(v) && why)
            profile_out_missing(c->out, &key[k], "inside it: %s", why);
        else if (isnan(v))
            profile_out_missing(c->out, &key[k],
                                "not in the profile of a run inside it (status %d)", status);
        else
            put_one(c, &key[k], v);
    }
    json_decref(profile);
}

static void measure_each(const struct probe_ctx *c, char uuid[][NVML_UUID_SIZE], size_t n)
{
    for (size_t i = 0; i < INSTANCES; i++) {
        const struct param_def *key = &keys[EACH + FACTS * i];
        if (i < n)
            measure_inside(c, uuid[i], key);
        else
            for (int k = 0; k < FACTS; k++)
                profile_out_missing(c->out, &key[k], "there are %zu instances", n);
    }
}

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

/* Mean over the instances of speed with all busy over speed alone; *all: the sum of rates with all
 * busy. */
static int kept(struct worker *w[], const struct loop l[], size_t n, double seconds, double *out,
                double *all, struct err *e)
{
    double alone[NVML_MIG_MAX], busy[NVML_MIG_MAX];
    int rc = rates(w, l, n, false, seconds, alone, e);
    if (!rc) rc = rates(w, l, n, true, seconds, busy, e);
    *out = *all = 0;
    for (size_t i = 0; !rc && i < n; i++) {
        *out += busy[i] / alone[i] / (double)n;
        *all += busy[i];
    }
    return rc;
}

enum { COPY_BYTES = 4 << 20 };

static int measure(const struct probe_ctx *c, struct worker *w[], const int sms[], size_t n,
                   struct err *e)
{
    const struct stop_rule rule = {
        .relative = 0.02, .min_n = REPEATS, .max_n = 100, .seconds = 600
    };
    const double seconds = c->quick ? 0.3 : 2;
    const double link = c->dev->info.link_Bps;
    struct loop compute[NVML_MIG_MAX], memory[NVML_MIG_MAX], copy[NVML_MIG_MAX];
    struct sampler s[EACH];
    double ratio, all;
    int rc = 0;
    for (size_t i = 0; i < n; i++) {
        compute[i] = (struct loop){ .kind = LOOP_COMPUTE,
                                    .grid = (unsigned)(sms[i] > 0 ? sms[i] : 1) * 8,
                                    .size = 100000,
                                    .depth = DEV_EVENTS };
        copy[i] = (struct loop){ .kind = LOOP_COPY, .size = COPY_BYTES, .depth = 4 };
        memory[i] = (struct loop){ .kind = LOOP_MEMORY, .size = 64 << 20, .depth = DEV_EVENTS };
    }
    for (int k = 0; k < EACH; k++) sampler_init(&s[k], &rule, 0);
    for (int i = 0; !rc && i < REPEATS; i++) {
        rc = kept(w, compute, n, seconds, &ratio, &all, e);
        if (!rc) probe_sample(c, &s[KEPT_COMPUTE], ratio);
        if (!rc) probe_sample(c, &s[POWER_LOSS], 1 - ratio);
        if (!rc) rc = kept(w, memory, n, seconds, &ratio, &all, e);
        if (!rc) probe_sample(c, &s[KEPT_MEMORY], ratio);
        if (!rc) rc = kept(w, copy, n, seconds, &ratio, &all, e);
        if (!rc) probe_sample(c, &s[KEPT_COPY], ratio);
        if (!rc && link > 0) probe_sample(c, &s[PCIE], COPY_BYTES * all / link);
    }
    for (int k = 0; k < EACH; k++) {
        const struct estimate est = sampler_estimate(&s[k]);
        if (!rc && k == POWER_LOSS && s[k].n && !(est.low > 0))
            profile_out_missing(c->out, &keys[k], "within the noise: %.4g [%.4g, %.4g], n %zu",
                                est.median, est.low, est.high, est.n);
        else if (!rc && k == PCIE && !(link > 0))
            profile_out_missing(c->out, &keys[k], "the rate of the bus is not known without NVML");
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
    for (int k = CHANGES; k < KEYS; k++)
        profile_out_missing(c->out, &keys[k],
                            "it would change the card: no setting of it is ever written");
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
    if (!rc) measure_each(c, uuid, n);
    if (!rc) rc = start_all(c, uuid, n, w, sms, &e);
    if (!rc) rc = measure(c, w, sms, n, &e);
    workers_stop(w, n);
    if (rc)
        for (int k = 0; k < KEYS; k++)
            if (isnan(profile_out_value(c->out, keys[k].group, keys[k].key)) &&
                !profile_out_reason(c->out, keys[k].group, keys[k].key))
                profile_out_missing(c->out, &keys[k], "%s", e.msg);
}

const struct probe probe_mig = {
    .name = "mig",
    .help = "the MIG instances that are there, alone and with neighbours busy",
    .keys = keys,
    .keys_n = KEYS,
    .run = run,
};
