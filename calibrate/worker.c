#include "calibrate/worker.h"

#include "base/mem.h"
#include "base/vec.h"
#include "calibrate/remote.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct worker {
    pid_t pid;
    double started_s;
    FILE *to, *from;
    char *line;
    size_t cap;
};

static double monotonic_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- start and stop ----------------------------------------------------------------------------- */

static bool names_same(const char *a, const char *b)
{
    const size_t n = strcspn(a, "=");
    return strncmp(a, b, n) == 0 && b[n] == '=';
}

char **worker_environment(const char *const extra[])
{
    VEC(char *) v = { 0 };
    for (char **p = environ; *p; p++) {
        bool replaced = false;
        for (size_t i = 0; extra && extra[i]; i++) replaced |= names_same(extra[i], *p);
        if (!replaced) vec_push(&v, *p);
    }
    for (size_t i = 0; extra && extra[i]; i++)
        if (extra[i][strcspn(extra[i], "=") + 1]) vec_push(&v, (char *)(uintptr_t)extra[i]);
    vec_push(&v, NULL);
    return v.v;
}

int worker_start(const struct device *d, const char *const env[], struct worker **out,
                 struct err *e)
{
    int in[2], back[2];
    char number[16], program[] = "calibrate", option[] = "--worker";
    char *argv[] = { program, option, number, NULL };
    posix_spawn_file_actions_t fa;

    *out = NULL;
    if (d->index < 0) return err_set(e, ERR_IO, NULL, "this device runs one process only");
    snprintf(number, sizeof number, "%d", d->index);
    if (pipe2(in, O_CLOEXEC) != 0) return err_set(e, ERR_IO, NULL, "pipe: %s", strerror(errno));
    if (pipe2(back, O_CLOEXEC) != 0) {
        int rc = err_set(e, ERR_IO, NULL, "pipe: %s", strerror(errno));
        close(in[0]);
        close(in[1]);
        return rc;
    }
    struct worker *w = xcalloc(1, sizeof *w);
    w->started_s = monotonic_s();
    char **environment_of = worker_environment(env);
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&fa, back[1], STDOUT_FILENO);
    const int failed = posix_spawn(&w->pid, "/proc/self/exe", &fa, NULL, argv, environment_of);
    posix_spawn_file_actions_destroy(&fa);
    free(environment_of);
    close(in[0]);
    close(back[1]);
    w->to = fdopen(in[1], "w");
    w->from = fdopen(back[0], "r");
    if (!failed && w->to && w->from) {
        *out = w;
        return 0;
    }
    if (failed) w->pid = 0;
    if (!w->to) close(in[1]);
    if (!w->from) close(back[0]);
    worker_stop(w);
    return err_set(e, ERR_IO, NULL, "cannot start a process: %s",
                   strerror(failed ? failed : errno));
}

void worker_stop(struct worker *w)
{
    if (!w) return;
    if (w->to) fclose(w->to); /* it ends by itself at the end of its input */
    if (w->from) fclose(w->from);
    while (w->pid > 0 && waitpid(w->pid, NULL, 0) < 0 && errno == EINTR) continue;
    free(w->line);
    free(w);
}

int worker_say(struct worker *w, struct err *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const bool said = vfprintf(w->to, fmt, ap) >= 0 && fputc('\n', w->to) != EOF && !fflush(w->to);
    va_end(ap);
    return said ? 0 : err_set(e, ERR_IO, NULL, "a worker process has ended");
}

int worker_hear(struct worker *w, const char **line, struct err *e)
{
    const ssize_t n = getline(&w->line, &w->cap, w->from);
    if (n <= 0) return err_set(e, ERR_IO, NULL, "a worker process ended without an answer");
    w->line[strcspn(w->line, "\n")] = '\0';
    if (strncmp(w->line, "error ", 6) == 0) return err_set(e, ERR_IO, NULL, "%s", w->line + 6);
    *line = w->line;
    return 0;
}

int worker_ready(struct worker *w, struct worker_ready *out, struct err *e)
{
    const char *line;
    struct worker_ready r = { 0 };
    double at_s = NAN;
    int rc = worker_hear(w, &line, e);
    if (!rc && sscanf(line, "ready %lf %lf %d %d %lf", &r.init_ms, &r.context_ms, &r.mps, &r.sms,
                      &at_s) != 5)
        rc = err_set(e, ERR_IO, NULL, "a worker says \"%s\"", line);
    r.total_ms = 1e3 * (at_s - w->started_s);
    if (!rc && out) *out = r;
    return rc;
}

int workers_start(const struct device *d, const char *const env[], struct worker *w[], size_t n,
                  struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < n; i++) w[i] = NULL;
    for (size_t i = 0; !rc && i < n; i++) rc = worker_start(d, env, &w[i], e);
    for (size_t i = 0; !rc && i < n; i++) rc = worker_ready(w[i], NULL, e);
    if (rc) workers_stop(w, n);
    return rc;
}

void workers_stop(struct worker *w[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        worker_stop(w[i]);
        w[i] = NULL;
    }
}

/* ---- loops and logs, the parent's side ------------------------------------------------------------ */

static int loop_tell(struct worker *w, const struct loop *l, double seconds, double start_s,
                     struct err *e)
{
    return worker_say(w, e, "loop %d %u %" PRIu64 " %.9g %u %.9g %.9f", (int)l->kind, l->grid,
                      l->size, l->gap_us, l->depth, seconds, start_s);
}

static int loop_answer(struct worker *w, struct loop_result *out, struct err *e)
{
    const char *line;
    int rc = worker_hear(w, &line, e);
    if (!rc && sscanf(line, "loop %lf %lf %lf", &out->rate, &out->p50_us, &out->p99_us) != 3)
        rc = err_set(e, ERR_IO, NULL, "a worker says \"%s\"", line);
    return rc;
}

enum { START_MS = 80 }; /* for the requests to arrive and the queues to fill */

int loops_run(struct worker *w[], const struct loop l[], size_t n, double seconds,
              struct loop_result out[], struct err *e)
{
    const double start_s = monotonic_s() + 1e-3 * START_MS;
    int rc = 0;
    for (size_t i = 0; !rc && i < n; i++) rc = loop_tell(w[i], &l[i], seconds, start_s, e);
    for (size_t i = 0; !rc && i < n; i++) rc = loop_answer(w[i], &out[i], e);
    return rc;
}

static int bins_answer(struct worker *w, struct bins *b, struct err *e)
{
    const char *line;
    int rc = worker_hear(w, &line, e), used = 0;
    if (!rc && strncmp(line, "bins", 4) != 0)
        rc = err_set(e, ERR_IO, NULL, "a worker says \"%s\"", line);
    for (size_t i = 0, at = 4; !rc && i < b->n; i++, at += (size_t)used)
        if (sscanf(line + at, " %u%n", &b->count[i], &used) != 1)
            rc = err_set(e, ERR_IO, NULL, "a worker says \"%s\"", line);
    return rc;
}

int bins_run(struct worker *w[], const struct loop *l, size_t n, struct bins out[], struct err *e)
{
    const double start_s = monotonic_s() + 1e-3 * START_MS;
    int rc = 0;
    for (size_t i = 0; !rc && i < n; i++)
        rc = worker_say(w[i], e, "bins %zu loop %d %u %" PRIu64 " %.9g %u %.9g %.9f", out[i].n,
                        (int)l->kind, l->grid, l->size, l->gap_us, l->depth,
                        (double)out[i].n * out[i].width_s, start_s);
    for (size_t i = 0; !rc && i < n; i++) rc = bins_answer(w[i], &out[i], e);
    return rc;
}

int calls_time(struct worker *w, const char *kind, unsigned n, double *ns, struct err *e)
{
    const char *line;
    int rc = worker_say(w, e, "calls %s %u", kind, n);
    if (!rc) rc = worker_hear(w, &line, e);
    if (!rc && sscanf(line, "calls %lf", ns) != 1)
        rc = err_set(e, ERR_IO, NULL, "a worker says \"%s\"", line);
    return rc;
}

static int log_answer(struct worker *w, struct slice_log *out, struct err *e)
{
    const char *line;
    size_t n = 0;
    int rc = worker_hear(w, &line, e);
    if (!rc && sscanf(line, "log %zu %" SCNu64 " %" SCNu64, &n, &out->first, &out->last) != 3)
        rc = err_set(e, ERR_IO, NULL, "a worker says \"%s\"", line);
    if (rc) return rc;
    out->gap = xreallocarray(NULL, n + 1, sizeof *out->gap);
    for (size_t i = 0; !rc && i < n; i++) {
        rc = worker_hear(w, &line, e);
        if (!rc && sscanf(line, "%" SCNu64 " %" SCNu64, &out->gap[i].from, &out->gap[i].to) != 2)
            rc = err_set(e, ERR_IO, NULL, "a worker says \"%s\"", line);
        if (!rc) out->n++;
    }
    return rc;
}

int logs_run(struct worker *w[], size_t n, double seconds, bool full, struct slice_log out[],
             struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < n; i++) out[i] = (struct slice_log){ 0 };
    for (size_t i = 0; !rc && i < n; i++)
        rc = worker_say(w[i], e, "log %.0f %d", 1e9 * seconds, full);
    for (size_t i = 0; !rc && i < n; i++) rc = log_answer(w[i], &out[i], e);
    return rc;
}

/* ---- the worker's side -------------------------------------------------------------------------- */

struct arrays {
    dev_ptr a, b, c;
    uint64_t n;
    void *host; /* pinned; of host_bytes, which a has too */
    size_t host_bytes;
};

static void arrays_free(struct device *d, struct arrays *x)
{
    const dev_ptr all[] = { x->a, x->b, x->c };
    for (size_t i = 0; i < 3; i++) d->ops->free(d, all[i], NULL);
    d->ops->host_free(d, x->host, NULL);
    *x = (struct arrays){ 0 };
}

static int arrays_alloc(struct device *d, struct arrays *x, uint64_t n, struct err *e)
{
    arrays_free(d, x);
    x->n = n;
    int rc = d->ops->alloc(d, sizeof(float) * n, &x->a, e);
    if (!rc) rc = d->ops->alloc(d, sizeof(float) * n, &x->b, e);
    if (!rc) rc = d->ops->alloc(d, sizeof(float) * n, &x->c, e);
    void *fill[] = { &x->a, &x->b, &x->c, &x->n };
    if (!rc) rc = d->ops->launch(d, DEV_FILL, 256, DEV_BLOCK, fill, e);
    if (!rc) rc = d->ops->sync(d, e);
    return rc;
}

static int buffers_alloc(struct device *d, struct arrays *x, size_t bytes, struct err *e)
{
    arrays_free(d, x);
    int rc = d->ops->alloc(d, bytes, &x->a, e);
    if (!rc) rc = d->ops->host_alloc(d, bytes, &x->host, e);
    if (rc) return rc;
    memset(x->host, 0x5a, bytes);
    x->host_bytes = bytes;
    return 0;
}

static int loop_launch(struct device *d, const struct loop *l, struct arrays *x, struct err *e)
{
    float s = 3;
    uint64_t iters = l->size, pieces = x->n / 4, reps = 256;
    void *read[] = { &x->a, &pieces, &reps, &x->b };
    void *triad[] = { &x->a, &x->b, &x->c, &s, &x->n }, *compute[] = { &x->a, &iters };
    if (l->kind == LOOP_COPY) return d->ops->copy_in(d, x->a, x->host, x->host_bytes, e);
    if (l->kind == LOOP_CACHE)
        return d->ops->launch(d, DEV_READ, (unsigned)(d->info.sms > 0 ? d->info.sms : 1) * 8,
                              DEV_BLOCK, read, e);
    if (l->kind == LOOP_MEMORY)
        return d->ops->launch(d, DEV_TRIAD, (unsigned)((x->n / 4 + DEV_BLOCK - 1) / DEV_BLOCK),
                              DEV_BLOCK, triad, e);
    return d->ops->launch(d, DEV_COMPUTE, l->grid, DEV_BLOCK, compute, e);
}

/* Kernels from now on; those that end between start and end count, in their bin where there are
 * bins: then none is launched before the start. The queue is kept `depth` long, so with 2 and
 * more the card never waits for this host. */
static int run_loop(struct device *d, const struct loop *l, struct arrays *x, double seconds,
                    double start_s, struct bins *bins, struct loop_result *out, struct err *e)
{
    struct sampler us;
    double begun[DEV_EVENTS] = { 0 }, now = d->ops->now_s(d), ms;
    unsigned long long launched = 0, ended = 0, counted = 0;
    int rc = 0;
    sampler_init(&us, &(struct stop_rule){ .max_n = 1 }, 0);
    if (bins && now < start_s) d->ops->sleep_s(d, start_s - now);
    while (!rc && now < start_s + seconds) {
        while (!rc && launched - ended < l->depth) {
            begun[launched % DEV_EVENTS] = d->ops->now_s(d);
            rc = loop_launch(d, l, x, e);
            if (!rc) rc = d->ops->event_record(d, (int)(launched % DEV_EVENTS), e);
            launched++;
        }
        const int oldest = (int)(ended % DEV_EVENTS);
        if (!rc) rc = d->ops->event_ms(d, oldest, oldest, &ms, e);
        now = d->ops->now_s(d);
        ended++;
        if (rc || now < start_s || now >= start_s + seconds) continue;
        counted++;
        if (bins) bins->count[(size_t)((now - start_s) / seconds * (double)bins->n)]++;
        if (l->depth == 1) sampler_add(&us, 1e6 * (now - begun[oldest]));
        if (l->gap_us > 0) d->ops->sleep_s(d, 1e-6 * l->gap_us);
    }
    if (!rc) rc = d->ops->sync(d, e);
    const struct estimate est = sampler_estimate(&us);
    *out = (struct loop_result){ (double)counted / seconds, us.n ? est.median : 0,
                                 us.n ? est.p99 : 0 };
    sampler_fini(&us);
    return rc;
}

static int serve_loop(struct device *d, const char *line, struct arrays *x, struct bins *bins,
                      FILE *to, struct err *e)
{
    struct loop l;
    struct loop_result r;
    double seconds, start_s;
    int kind;
    if (sscanf(line, "loop %d %u %" SCNu64 " %lf %u %lf %lf", &kind, &l.grid, &l.size, &l.gap_us,
               &l.depth, &seconds, &start_s) != 7 ||
        l.depth < 1 || l.depth > DEV_EVENTS)
        return err_set(e, ERR_IO, NULL, "worker: bad request \"%s\"", line);
    l.kind = (enum loop_kind)kind;
    const uint64_t floats = l.kind == LOOP_MEMORY || l.kind == LOOP_CACHE ? l.size : 64;
    int rc = 0;
    if (l.kind == LOOP_COPY)
        rc = x->host_bytes == l.size ? 0 : buffers_alloc(d, x, l.size, e);
    else if (x->n != floats)
        rc = arrays_alloc(d, x, floats, e);
    if (!rc) rc = run_loop(d, &l, x, seconds, start_s, bins, &r, e);
    if (!rc && !bins) fprintf(to, "loop %.9g %.9g %.9g\n", r.rate, r.p50_us, r.p99_us);
    return rc;
}

static int serve_bins(struct device *d, const char *line, struct arrays *x, FILE *to, struct err *e)
{
    struct bins b = { 0 };
    int used = 0;
    if (sscanf(line, "bins %zu %n", &b.n, &used) != 1 || b.n < 1 || b.n > BINS_MAX)
        return err_set(e, ERR_IO, NULL, "worker: bad request \"%s\"", line);
    const int rc = serve_loop(d, line + used, x, &b, to, e);
    if (rc) return rc;
    fprintf(to, "bins");
    for (size_t i = 0; i < b.n; i++) fprintf(to, " %u", b.count[i]);
    fprintf(to, "\n");
    return 0;
}

static int serve_log(struct device *d, const char *line, FILE *to, struct err *e)
{
    /* The timer ticks once a microsecond on some cards: a step of 4 us is no tick. */
    uint64_t cap = 1 << 16, least = 4000, ns = 0;
    const size_t bytes = (3 + 2 * cap) * sizeof(uint64_t);
    dev_ptr buf = 0;
    int full = 0;
    if (sscanf(line, "log %" SCNu64 " %d", &ns, &full) != 2)
        return err_set(e, ERR_IO, NULL, "worker: bad request \"%s\"", line);
    uint64_t *host = xcalloc(1, bytes);
    void *args[] = { &buf, &cap, &ns, &least };
    int rc = d->ops->alloc(d, bytes, &buf, e);
    /* 1024 threads on every SM: 32 registers each are half of its file, and there is room for
     * them on all cards */
    const unsigned grid = full && d->info.sms > 0 ? (unsigned)d->info.sms : 1;
    if (!rc) rc = d->ops->launch(d, DEV_LOG, grid, full ? 1024 : 1, args, e);
    if (!rc) rc = d->ops->copy_out(d, host, buf, bytes, e);
    if (!rc) rc = d->ops->sync(d, e);
    if (!rc) {
        const uint64_t n = host[0] < cap ? host[0] : cap;
        fprintf(to, "log %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", n, host[1], host[2]);
        for (uint64_t i = 0; i < n; i++)
            fprintf(to, "%" PRIu64 " %" PRIu64 "\n", host[3 + 2 * i], host[4 + 2 * i]);
    }
    d->ops->free(d, buf, NULL);
    free(host);
    return rc;
}

/* Mean host ns of so many calls of one kind; what was allocated is freed outside the time. */
static int one_call(struct device *d, const char *kind, dev_ptr *p, dev_ptr page, struct err *e)
{
    static const char host[4096];
    if (strcmp(kind, "launch") == 0) return d->ops->launch(d, DEV_EMPTY, 1, 32, NULL, e);
    if (strcmp(kind, "launch_ex") == 0) return d->ops->launch_by(d, PATH_EX, e);
    if (strcmp(kind, "copy") == 0) return d->ops->copy_in(d, page, host, sizeof host, e);
    if (strcmp(kind, "look_up") == 0) return d->ops->look_up(d, e);
    if (strcmp(kind, "alloc") == 0) return d->ops->alloc(d, 2 << 20, p, e);
    if (strcmp(kind, "free") == 0) {
        const dev_ptr was = *p;
        *p = 0;
        return d->ops->free(d, was, e);
    }
    return err_set(e, ERR_IO, NULL, "worker: no call \"%s\"", kind);
}

static int time_calls(struct device *d, const char *kind, unsigned n, double *ns, struct err *e)
{
    dev_ptr p[64] = { 0 }, page = 0;
    int rc = d->ops->alloc(d, 4096, &page, e);
    n = n < 1 ? 1 : n > 64 ? 64 : n;
    for (unsigned i = 0; !rc && strcmp(kind, "free") == 0 && i < n; i++)
        rc = d->ops->alloc(d, 2 << 20, &p[i], e);
    if (!rc) rc = d->ops->sync(d, e);
    const double t0 = d->ops->now_s(d);
    for (unsigned i = 0; !rc && i < n; i++) rc = one_call(d, kind, &p[i], page, e);
    *ns = 1e9 * (d->ops->now_s(d) - t0) / n;
    for (unsigned i = 0; i < n; i++) d->ops->free(d, p[i], NULL);
    d->ops->free(d, page, NULL);
    return rc ? rc : d->ops->sync(d, e);
}

/* Whether a library is mapped into this process, and how many launches reached its hook; -1: it
 * does not tell. */
static int serve_hooked(const char *path, FILE *to)
{
    unsigned long (*counted)(const char *);
    void *p = dlsym(RTLD_DEFAULT, "gpusim_intercept_count");
    char *line = NULL;
    size_t cap = 0;
    bool mapped = false;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && !mapped && getline(&line, &cap, f) > 0) {
        const char *name = strchr(line, '/'); /* the last of its fields, when it is of a file */
        line[strcspn(line, "\n")] = '\0';
        mapped = name && strcmp(name, path) == 0;
    }
    if (f) fclose(f);
    free(line);
    memcpy(&counted, &p, sizeof counted);
    fprintf(to, "hooked %d %lld\n", mapped, counted ? (long long)counted("cuLaunchKernel") : -1);
    return 0;
}

/* Launches that the library says it saw, of all ways. */
static unsigned long seen_launches(unsigned long (*counted)(const char *))
{
    return counted("cuLaunchKernel") + counted("cuLaunchKernelEx") +
           counted("cuLaunchCooperativeKernel") + counted("cuGraphLaunch");
}

/* By each way to launch, the graph last: the share that a preloaded library saw; -1: the driver
 * has no such way or the library does not tell. */
static int serve_paths(struct device *d, FILE *to, struct err *e)
{
    enum { EACH = 16 };
    unsigned long (*counted)(const char *);
    void *p = dlsym(RTLD_DEFAULT, "gpusim_intercept_count");
    memcpy(&counted, &p, sizeof counted);
    fprintf(to, "paths");
    for (int path = 0; path <= PATHS; path++) {
        int rc = path == PATHS ? d->ops->graph_open(d, 1, NULL) : 0;
        const unsigned long before = counted ? seen_launches(counted) : 0;
        for (int i = 0; !rc && i < EACH; i++)
            rc = path == PATHS ? d->ops->graph_launch(d, NULL)
                               : d->ops->launch_by(d, (enum dev_path)path, NULL);
        const double share = rc || !counted ? -1 : (double)(seen_launches(counted) - before) / EACH;
        fprintf(to, " %.9g", share);
        if (path == PATHS) d->ops->graph_close(d);
    }
    fprintf(to, "\n");
    return d->ops->sync(d, e);
}

/* The most that can be allocated, in steps of 2 MiB after steps of 64 MiB, and what the driver says
 * is free and there in all, before. It stays allocated until the process ends. */
static int serve_quota(struct device *d, FILE *to, struct err *e)
{
    static const size_t step[] = { 64 << 20, 2 << 20 };
    uint64_t free_bytes = 0, total = 0, got = 0;
    dev_ptr p;
    int rc = d->ops->mem_info(d, &free_bytes, &total, e);
    for (size_t i = 0; !rc && i < 2; i++)
        while (d->ops->alloc(d, step[i], &p, NULL) == 0) got += step[i];
    if (!rc) fprintf(to, "quota %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", got, free_bytes, total);
    return rc;
}

static int serve_line(struct device *d, const char *line, struct arrays *x, FILE *to, struct err *e)
{
    char kind[16];
    unsigned n;
    double ns;
    if (strncmp(line, "loop ", 5) == 0) return serve_loop(d, line, x, NULL, to, e);
    if (strncmp(line, "bins ", 5) == 0) return serve_bins(d, line, x, to, e);
    if (strncmp(line, "log ", 4) == 0) return serve_log(d, line, to, e);
    if (strcmp(line, "remote") == 0) return remote_serve(d, to, e);
    if (strncmp(line, "hooked ", 7) == 0) return serve_hooked(line + 7, to);
    if (strcmp(line, "quota") == 0) return serve_quota(d, to, e);
    if (strcmp(line, "paths") == 0) return serve_paths(d, to, e);
    if (sscanf(line, "calls %15s %u", kind, &n) == 2) {
        int rc = time_calls(d, kind, n, &ns, e);
        if (!rc) fprintf(to, "calls %.9g\n", ns);
        return rc;
    }
    return err_set(e, ERR_IO, NULL, "worker: no request \"%s\"", line);
}

int worker_serve(struct device *d, FILE *in, FILE *out)
{
    struct arrays x = { 0 };
    struct err e = { 0 };
    char *line = NULL;
    size_t cap = 0;
    int rc = 0;
    while (!rc && getline(&line, &cap, in) > 0) {
        line[strcspn(line, "\n")] = '\0';
        rc = serve_line(d, line, &x, out, &e);
        if (rc) fprintf(out, "error %s\n", e.msg);
        fflush(out);
    }
    arrays_free(d, &x);
    free(line);
    return err_status((enum err_code)rc);
}
