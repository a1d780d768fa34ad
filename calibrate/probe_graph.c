/* calibrate/probe_graph.c - one node of a replayed graph: BASE-4. Two graphs of empty kernels, one
 * much longer than the other; the difference in time per difference in nodes holds neither the
 * launch of the graph nor the wait for its end. */
#include "calibrate/probe.h"

enum { SHORT_NODES = 32, LONG_NODES = 544, WARM_UP = 20 };

static const struct param_def key = {
    "base", "graph_node_us", "us", "one empty kernel in a replayed graph", 0.01, 1e3, false
};

/* Host time from the launch of the graph that is open to the end of its last node. */
static int replay(struct device *d, double *us, struct err *e)
{
    const double t0 = d->ops->now_s(d);
    int rc = d->ops->graph_launch(d, e);
    if (!rc) rc = d->ops->sync(d, e);
    *us = 1e6 * (d->ops->now_s(d) - t0);
    return rc;
}

/* Median of a few replays, so that one slow wait does not decide a pair. */
static int replay_median(struct device *d, unsigned nodes, double *us, struct err *e)
{
    double v[7];
    int rc = d->ops->graph_open(d, nodes, e);
    for (int i = 0; !rc && i < WARM_UP; i++) rc = replay(d, &v[0], e);
    for (int i = 0; !rc && i < 7; i++) rc = replay(d, &v[i], e);
    d->ops->graph_close(d);
    if (rc) return rc;
    stats_sort(v, 7);
    *us = stats_median(v, 7);
    return 0;
}

static void run(const struct probe_ctx *c)
{
    struct device *d = c->dev;
    struct err e = { 0 };
    struct sampler s;
    int rc = d->ops->context_open(d, &e);
    sampler_init(&s, &c->rule, d->ops->now_s(d));
    while (!rc && sampler_more(&s, d->ops->now_s(d))) {
        double few = 0, many = 0;
        rc = replay_median(d, SHORT_NODES, &few, &e);
        if (!rc) rc = replay_median(d, LONG_NODES, &many, &e);
        if (!rc) sampler_add(&s, (many - few) / (LONG_NODES - SHORT_NODES));
    }
    if (rc)
        profile_out_missing(c->out, &key, "%s", e.msg);
    else
        profile_out_put(c->out, &key, &s, NULL,
                        "replays of 544 and of 32 empty kernels in a row, difference per node");
    sampler_fini(&s);
}

const struct probe probe_graph = {
    .name = "graph",
    .help = "one node of a replayed graph",
    .keys = &key,
    .keys_n = 1,
    .run = run,
};
