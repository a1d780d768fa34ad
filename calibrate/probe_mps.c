/* calibrate/probe_mps.c - MPS-1 to -4 where this user may start a daemon: one with its own pipe
 * folder, ended again. A client counts only if the driver says that it is attached: one that
 * misses the folder would fall back to taking turns without a word. */
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

enum { KINDS = 5, REPEATS = 6 }; /* of neighbours, in the order of kind_loop() */
/* Clients without caps: kinds as in kind_loop(), and how many at once. */
enum { TOGETHER = 4, COUNTS = 3, CLIENTS_MAX = 8 };
static const int together[TOGETHER] = { 0, 1, 3, 5 };
static const size_t clients[COUNTS] = { 2, 4, CLIENTS_MAX };
enum {
    OVERHEAD,
    INTERFERENCE,
    AGGREGATE,
    LEAST = AGGREGATE + TOGETHER * COUNTS,
    CAP = LEAST + TOGETHER * COUNTS,
    SMS = CAP + 3,
    LAUNCH = SMS + 3,
    BESIDE, /* row: whose speed; column: beside whom */
    KEYS = BESIDE + KINDS * KINDS
};
#define BESIDE_ONE(a, b)                                                                           \
    {                                                                                              \
        "mps", a "_beside_" b, "ratio",                                                            \
            "speed of " a " beside " b " over alone, both with half of the threads", 0, 1.2, true  \
    }
#define BESIDE_ALL(a)                                                                              \
    BESIDE_ONE(a, "compute"), BESIDE_ONE(a, "memory"), BESIDE_ONE(a, "cache"),                     \
        BESIDE_ONE(a, "small"), BESIDE_ONE(a, "copy")
#define TOGETHER_ONE(what, kind, n, help)                                                          \
    {                                                                                              \
        "mps", what "_" kind "_" n, "ratio", help " of " n " clients without caps over one alone", \
            0, 16, true                                                                            \
    }
#define TOGETHER_3(what, kind, help)                                                               \
    TOGETHER_ONE(what, kind, "2", help), TOGETHER_ONE(what, kind, "4", help),                      \
        TOGETHER_ONE(what, kind, "8", help)
#define TOGETHER_ALL(what, help)                                                                   \
    TOGETHER_3(what, "compute", help), TOGETHER_3(what, "memory", help),                           \
        TOGETHER_3(what, "small", help), TOGETHER_3(what, "gap_300us", help)
static const struct param_def keys[KEYS] = {
    { "mps", "overhead", "ratio", "share of speed that a lone client loses", -0.5, 0.9, false },
    { "mps", "interference", "ratio", "slowdown by a card's worth of neighbours below saturation",
      -0.5, 1, false },
    TOGETHER_ALL("aggregate", "throughput in all"),
    TOGETHER_ALL("least", "the slowest's"),
    { "mps", "cap_25", "ratio", "speed of a client with 25 % of the threads over one with all", 0,
      1.2, true },
    { "mps", "cap_50", "ratio", "the same, 50 %", 0, 1.2, true },
    { "mps", "cap_75", "ratio", "the same, 75 %", 0, 1.2, true },
    { "mps", "cap_25_sms", "SMs", "SMs that a client with 25 % of the threads sees", 1, 4096,
      true },
    { "mps", "cap_50_sms", "SMs", "the same, 50 %", 1, 4096, true },
    { "mps", "cap_75_sms", "SMs", "the same, 75 %", 1, 4096, true },
    { "mps", "launch_ns", "ns", "added to one launch by being a client", -1e6, 1e6, true },
    BESIDE_ALL("compute"),
    BESIDE_ALL("memory"),
    BESIDE_ALL("cache"),
    BESIDE_ALL("small"),
    BESIDE_ALL("copy"),
};

struct daemon {
    char folder[64];
    char *pipe, *log; /* NAME=VALUE */
    /* a shell that ends the daemon when this program has closed the pipe to it, or is no more;
     * in a session of its own, so that it outlives whoever ends this program's process group */
    pid_t guard; /* 0: none */
    int to_guard;
};

/* A line to the daemon's control program, or with "-d" the start of it. Its output is not ours. */
static int control(const struct daemon *m, const char *input, const char *option)
{
    char *command =
        xasprintf("%s%s%s %s %s nvidia-cuda-mps-control %s >/dev/null 2>&1", input ? "echo " : "",
                  input ? input : "", input ? " |" : "", m->pipe, m->log, option);
    const int st = system(command);
    free(command);
    return WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}

static int guard_start(struct daemon *m, struct err *e)
{
    char shell[] = "sh", option[] = "-c";
    char *command = xasprintf("trap '' INT HUP TERM; cat >/dev/null; echo quit | %s %s "
                              "nvidia-cuda-mps-control >/dev/null 2>&1; rm -rf '%s'",
                              m->pipe, m->log, m->folder);
    char *argv[] = { shell, option, command, NULL };
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t own_session;
    int fd[2], failed = pipe2(fd, O_CLOEXEC) != 0 ? errno : 0;
    if (!failed) {
        posix_spawn_file_actions_init(&fa);
        posix_spawn_file_actions_adddup2(&fa, fd[0], STDIN_FILENO);
        posix_spawnattr_init(&own_session);
        posix_spawnattr_setflags(&own_session, POSIX_SPAWN_SETSID);
        failed = posix_spawn(&m->guard, "/bin/sh", &fa, &own_session, argv, environ);
        posix_spawnattr_destroy(&own_session);
        posix_spawn_file_actions_destroy(&fa);
        close(fd[0]);
        m->to_guard = fd[1];
        if (failed) close(fd[1]);
    }
    if (failed) m->guard = 0;
    free(command);
    return failed ? err_set(e, ERR_IO, NULL, "no guard for the daemon: %s", strerror(failed)) : 0;
}

/* The guard comes first: at no time is there a daemon that nobody ends. */
static int daemon_start(struct daemon *m, struct err *e)
{
    snprintf(m->folder, sizeof m->folder, "/tmp/calibrate-mps-XXXXXX");
    if (system("command -v nvidia-cuda-mps-control >/dev/null 2>&1") != 0)
        return err_set(e, ERR_IO, NULL, "nvidia-cuda-mps-control is not on PATH");
    if (!mkdtemp(m->folder)) return err_set(e, ERR_IO, NULL, "no folder for the daemon's pipes");
    m->pipe = xasprintf("CUDA_MPS_PIPE_DIRECTORY=%s", m->folder);
    m->log = xasprintf("CUDA_MPS_LOG_DIRECTORY=%s", m->folder);
    int rc = guard_start(m, e);
    if (rc) {
        rmdir(m->folder);
        return rc;
    }
    const int st = control(m, NULL, "-d");
    return st == 0 ? 0 : err_set(e, ERR_IO, NULL, "the MPS daemon does not start (status %d)", st);
}

static void daemon_stop(struct daemon *m)
{
    if (m->guard) {
        close(m->to_guard);
        while (waitpid(m->guard, NULL, 0) < 0 && errno == EINTR) continue;
    }
    free(m->pipe);
    free(m->log);
}

/* n clients, attached for certain. percent 0: no cap. */
static int clients_start(const struct probe_ctx *c, const struct daemon *m, int percent,
                         struct worker *w[], size_t n, int *sms, struct err *e)
{
    char cap[64];
    /* The daemon has CUDA_VISIBLE_DEVICES and numbers what it names from 0: to a client it would
     * mean the card of that number among those. */
    const char *const env[] = { m->pipe, "CUDA_VISIBLE_DEVICES=", percent ? cap : NULL, NULL };
    struct worker_ready r = { 0 };
    int rc = 0;
    snprintf(cap, sizeof cap, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=%d", percent);
    for (size_t i = 0; i < n; i++) w[i] = NULL;
    for (size_t i = 0; !rc && i < n; i++) rc = worker_start(c->dev, env, &w[i], e);
    for (size_t i = 0; !rc && i < n; i++) {
        rc = worker_ready(w[i], &r, e);
        if (!rc && r.mps != TRI_YES)
            rc = err_set(e, ERR_IO, NULL,
                         "a process is not attached to the daemon, or the driver cannot tell");
    }
    if (rc) workers_stop(w, n);
    *sms = r.sms;
    return rc;
}

/* Launches of a process that takes no part in the daemon and of a client, in pairs. */
static int measure_launch(const struct probe_ctx *c, struct worker *native, struct worker *client,
                          struct sampler *s, struct err *e)
{
    double ns[2];
    int rc = 0;
    for (int i = 0; !rc && i < (c->quick ? 8 : 40); i++) {
        rc = calls_time(native, "launch", 32, &ns[0], e);
        if (!rc) rc = calls_time(client, "launch", 32, &ns[1], e);
        if (!rc && i >= 4) sampler_add(s, ns[1] - ns[0]); /* the first ones warm up */
    }
    return rc;
}

static struct loop loop_of(unsigned grid)
{
    return (struct loop){ .kind = LOOP_COMPUTE, .grid = grid, .size = 100000, .depth = DEV_EVENTS };
}

static unsigned whole(const struct device *d)
{
    return (unsigned)(d->info.sms > 0 ? d->info.sms : 1) * 8;
}

/* Kernels that fill the SMs, are bound by memory, by the cache, of one block; copies to the
 * card. */
static struct loop kind_loop(const struct device *d, int kind)
{
    const uint64_t l2 = d->info.l2_bytes ? d->info.l2_bytes : 16 << 20;
    switch (kind) {
    case 1: return (struct loop){ .kind = LOOP_MEMORY, .size = l2, .depth = DEV_EVENTS };
    case 2: return (struct loop){ .kind = LOOP_CACHE, .size = l2 / 16, .depth = DEV_EVENTS };
    case 3: return loop_of(1);
    case 4: return (struct loop){ .kind = LOOP_COPY, .size = 4 << 20, .depth = 4 };
    case 5: { /* a millisecond of the card, then the host's gap */
        struct loop l = loop_of(whole(d));
        l.gap_us = 300;
        l.depth = 1;
        return l;
    }
    default: return loop_of(whole(d));
    }
}

static int no_kernel(struct err *e)
{
    return err_set(e, ERR_IO, NULL, "no kernel ended within a window");
}

/* n clients without caps: so many of them at once, of each kind. */
static int measure_together(const struct probe_ctx *c, struct worker *w[], size_t n, double seconds,
                            struct sampler s[KEYS], struct err *e)
{
    struct loop same[CLIENTS_MAX];
    struct loop_result alone, r[CLIENTS_MAX];
    int rc = 0;
    for (int k = 0; !rc && k < TOGETHER; k++) {
        for (size_t i = 0; i < n; i++) same[i] = kind_loop(c->dev, together[k]);
        rc = loops_run(w, same, 1, seconds, &alone, e);
        if (!rc && !(alone.rate > 0)) rc = no_kernel(e);
        for (int m = 0; !rc && m < COUNTS && clients[m] <= n; m++) {
            double sum = 0, least = INFINITY;
            rc = loops_run(w, same, clients[m], seconds, r, e);
            for (size_t i = 0; !rc && i < clients[m]; i++) {
                sum += r[i].rate;
                least = fmin(least, r[i].rate);
            }
            if (rc) break;
            probe_sample(c, &s[AGGREGATE + k * COUNTS + m], sum / alone.rate);
            probe_sample(c, &s[LEAST + k * COUNTS + m], least / alone.rate);
        }
    }
    return rc;
}

/* Every kind beside every kind, in two clients with equal halves. */
static int measure_pairs(const struct probe_ctx *c, const struct daemon *m, double seconds,
                         struct sampler beside[KINDS * KINDS], struct err *e)
{
    struct worker *w[2];
    struct loop l[KINDS];
    struct loop_result alone[KINDS], r[2];
    int sms = 0;
    int rc = clients_start(c, m, 50, w, 2, &sms, e);
    for (int k = 0; !rc && k < KINDS; k++) {
        l[k] = kind_loop(c->dev, k);
        rc = loops_run(w, &l[k], 1, seconds, &alone[k], e);
        if (!rc && !(alone[k].rate > 0)) rc = no_kernel(e);
    }
    for (int a = 0; !rc && a < KINDS; a++)
        for (int b = a; !rc && b < KINDS; b++) {
            const struct loop both[2] = { l[a], l[b] };
            rc = loops_run(w, both, 2, seconds, r, e);
            if (rc) break;
            const double speed[2] = { r[0].rate / alone[a].rate, r[1].rate / alone[b].rate };
            if (a == b) {
                probe_sample(c, &beside[a * KINDS + a], 0.5 * (speed[0] + speed[1]));
                continue;
            }
            probe_sample(c, &beside[a * KINDS + b], speed[0]);
            probe_sample(c, &beside[b * KINDS + a], speed[1]);
        }
    workers_stop(w, 2);
    return rc;
}

/* One round: native, one client, several clients, two small clients, capped clients, pairs of all
 * kinds. */
static int measure_round(const struct probe_ctx *c, const struct daemon *m, struct sampler s[KEYS],
                         struct err *e)
{
    static const int caps[3] = { 25, 50, 75 };
    const double seconds = c->quick ? 0.3 : 1;
    const unsigned quarter = (unsigned)(c->dev->info.sms > 3 ? c->dev->info.sms / 4 : 1);
    const size_t n = c->quick ? 2 : CLIENTS_MAX;
    const struct loop full = loop_of(whole(c->dev));
    const struct loop small[2] = { loop_of(quarter), loop_of(quarter) };
    struct loop_result native = { 0 }, alone = { 0 }, little = { 0 }, r[2];
    struct worker *w[CLIENTS_MAX] = { NULL }, *outside = NULL;
    int sms = 0;

    int rc = workers_start(c->dev, NULL, &outside, 1, e);
    if (!rc) rc = loops_run(&outside, &full, 1, seconds, &native, e);
    if (!rc) rc = clients_start(c, m, 0, w, n, &sms, e);
    if (!rc) rc = measure_launch(c, outside, w[0], &s[LAUNCH], e);
    /* before anything else is timed: it would take turns with the server */
    workers_stop(&outside, 1);
    if (!rc) rc = loops_run(w, &full, 1, seconds, &alone, e);
    if (!rc) probe_sample(c, &s[OVERHEAD], 1 - alone.rate / native.rate);
    if (!rc) rc = measure_together(c, w, n, seconds, s, e);
    if (!rc) rc = loops_run(w, small, 1, seconds, &little, e);
    if (!rc) rc = loops_run(w, small, 2, seconds, r, e);
    /* a quarter of the card beside a quarter of the card: the slowdown of a whole card's worth
     * is four times that */
    if (!rc) probe_sample(c, &s[INTERFERENCE], 4 * (2 * little.rate / (r[0].rate + r[1].rate) - 1));
    workers_stop(w, n);
    for (int k = 0; !rc && k < 3; k++) {
        rc = clients_start(c, m, caps[k], w, 1, &sms, e);
        if (!rc) sampler_add(&s[SMS + k], sms);
        if (!rc) rc = loops_run(w, &full, 1, seconds, r, e);
        if (!rc) probe_sample(c, &s[CAP + k], r[0].rate / alone.rate);
        workers_stop(w, 1);
    }
    return rc ? rc : measure_pairs(c, m, 0.5 * seconds, &s[BESIDE], e); /* 20 windows */
}

static void put(const struct probe_ctx *c, int k, const struct sampler *s)
{
    const struct estimate est = sampler_estimate(s);
    const char *how =
        "closed loops in clients of a daemon of our own, attachment proven, rounds in turn";
    if (c->quick && k >= AGGREGATE && k < CAP && clients[(k - AGGREGATE) % COUNTS] > 2)
        profile_out_missing(c->out, &keys[k], "not with --quick");
    else if ((k <= INTERFERENCE || k == LAUNCH) && s->n && !(est.low > 0))
        profile_out_missing(c->out, &keys[k], "within the noise: %.4g [%.4g, %.4g], n %zu",
                            est.median, est.low, est.high, est.n);
    else
        profile_out_put(c->out, &keys[k], s, NULL, how);
}

static void run(const struct probe_ctx *c)
{
    const struct stop_rule rule = {
        .relative = 0.03, .min_n = REPEATS, .max_n = 100, .seconds = 600
    };
    struct daemon m = { .guard = 0 };
    struct sampler s[KEYS];
    struct err e = { 0 };
    int rc = c->dev->ops->context_open(c->dev, &e);
    if (!rc && c->dev->index < 0)
        rc = err_set(&e, ERR_IO, NULL, "this device runs one process only");
    if (!rc && c->dev->info.mps == TRI_YES)
        rc = err_set(&e, ERR_IO, NULL, "this process is a client of a daemon already");
    if (!rc) rc = daemon_start(&m, &e);
    for (int k = 0; k < KEYS; k++) sampler_init(&s[k], &rule, 0);
    for (int i = 0; !rc && i < REPEATS; i++) rc = measure_round(c, &m, s, &e);
    daemon_stop(&m);
    for (int k = 0; k < KEYS; k++) {
        if (rc)
            profile_out_missing(c->out, &keys[k], "%s", e.msg);
        else
            put(c, k, &s[k]);
        sampler_fini(&s[k]);
    }
}

const struct probe probe_mps = {
    .name = "mps",
    .help = "clients of an MPS daemon of our own, where one can be started",
    .keys = keys,
    .keys_n = KEYS,
    .run = run,
};
