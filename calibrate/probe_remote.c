/* calibrate/probe_remote.c - RPC-1 to RPC-3: what a forwarded call costs more than a native one,
 * over the loopback interface. A network's time and rate come on top: this is the software's
 * share. */
#include "calibrate/probe.h"
#include "calibrate/remote.h"
#include "calibrate/worker.h"

#include <math.h>
#include <unistd.h>

enum { SYNC, ASYNC, RATE, KEYS, BATCH = 32, UPLOAD_MIB = 32 };
static const struct param_def keys[KEYS] = {
    { "remote", "sync_us", "us", "added to a synchronous call, over loopback", -1e5, 1e6, false },
    { "remote", "async_us", "us", "added to an asynchronous call that nothing hides", -1e5, 1e6,
      false },
    { "remote", "Bps", "B/s", "host memory to card through the forwarder", 1e6, 1e15, false },
};

struct pair {
    double remote, native; /* seconds */
};

static int take_pair(int fd, unsigned n, struct pair *p, struct err *e)
{
    int rc = remote_batch(fd, n, &p->remote, e);
    return rc ? rc : remote_native(fd, n, &p->native, e);
}

/* The paths are warm after a moment, however slow a message is. */
static int warm_up(const struct probe_ctx *c, int fd, struct err *e)
{
    const double end = c->dev->ops->now_s(c->dev) + 0.1;
    struct pair many;
    int rc = take_pair(fd, BATCH, &many, e);
    for (int i = 1; !rc && i < 50 && c->dev->ops->now_s(c->dev) < end; i++)
        rc = take_pair(fd, BATCH, &many, e);
    return rc;
}

/* One sample: a wait alone, for the synchronous call; batches of one launch and of many, each
 * with one wait, so that their difference is launches alone. */
static int measure_calls(const struct probe_ctx *c, int fd, struct sampler *sync,
                         struct sampler *async, struct err *e)
{
    struct pair none, one, many;
    int rc = warm_up(c, fd, e);
    sync->start_s = async->start_s = c->dev->ops->now_s(c->dev);
    while (!rc && (sampler_more(sync, c->dev->ops->now_s(c->dev)) ||
                   sampler_more(async, c->dev->ops->now_s(c->dev)))) {
        rc = take_pair(fd, 0, &none, e);
        if (!rc) rc = take_pair(fd, 1, &one, e);
        if (!rc) rc = take_pair(fd, BATCH, &many, e);
        if (rc) break;
        sampler_add(sync, 1e6 * (none.remote - none.native));
        sampler_add(async,
                    1e6 * ((many.remote - one.remote) - (many.native - one.native)) / (BATCH - 1));
    }
    return rc;
}

static void put_cost(const struct probe_ctx *c, int key, const struct sampler *s,
                     const char *method)
{
    const struct estimate e = sampler_estimate(s);
    if (s->n && !(e.low > 0))
        profile_out_missing(c->out, &keys[key], "within the noise: %.4g us [%.4g, %.4g], n %zu",
                            e.median, e.low, e.high, e.n);
    else
        profile_out_put(c->out, &keys[key], s, NULL, method);
}

static int measure(const struct probe_ctx *c, int fd, struct err *e)
{
    const double now = c->dev->ops->now_s(c->dev);
    const double h2d = profile_out_value(c->out, "base", "h2d_Bps");
    const struct bound b = { .min = NAN,
                             .max = 1.05 * h2d,
                             .why_max = "that of the bus to the card" };
    struct sampler s[KEYS];
    double seconds;
    for (int k = 0; k < KEYS; k++) sampler_init(&s[k], &c->rule, now);
    int rc = measure_calls(c, fd, &s[SYNC], &s[ASYNC], e);
    s[RATE].start_s = c->dev->ops->now_s(c->dev);
    while (!rc && sampler_more(&s[RATE], c->dev->ops->now_s(c->dev))) {
        rc = remote_upload(fd, UPLOAD_MIB, &seconds, e);
        if (!rc) sampler_add(&s[RATE], UPLOAD_MIB * 1048576.0 / seconds);
    }
    if (!rc) {
        put_cost(
            c, SYNC, &s[SYNC],
            "wait with nothing to wait for, forwarded over loopback TCP, less the same native");
        put_cost(c, ASYNC, &s[ASYNC],
                 "32 launches and a wait against one launch and a wait, forwarded less native");
        profile_out_put(
            c->out, &keys[RATE], &s[RATE], &b,
            "32 MiB in pieces of 1 MiB over loopback TCP and on to the card, one under way on each");
    }
    for (int k = 0; k < KEYS; k++) sampler_fini(&s[k]);
    return rc;
}

static void run(const struct probe_ctx *c)
{
    struct err e = { 0 };
    struct worker *w = NULL;
    const char *line;
    int port = 0, fd = -1;
    int rc = c->dev->ops->context_open(c->dev, &e);
    if (!rc) rc = workers_start(c->dev, NULL, &w, 1, &e);
    if (!rc) rc = worker_say(w, &e, "remote");
    if (!rc) rc = worker_hear(w, &line, &e);
    if (!rc && sscanf(line, "remote %d", &port) != 1)
        rc = err_set(&e, ERR_IO, NULL, "a worker says \"%s\"", line);
    if (!rc) {
        fd = remote_connect(port, &e);
        rc = fd < 0 ? ERR_IO : measure(c, fd, &e);
    }
    if (fd >= 0) close(fd);
    worker_stop(w);
    if (rc)
        for (int k = 0; k < KEYS; k++) profile_out_missing(c->out, &keys[k], "%s", e.msg);
}

const struct probe probe_remote = {
    .name = "remote",
    .help = "calls forwarded to another process over loopback, against native ones",
    .keys = keys,
    .keys_n = KEYS,
    .run = run,
};
