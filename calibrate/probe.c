#include "calibrate/probe.h"

#include <math.h>
#include <string.h>

/* In the order in which they run; every probe_X.c that is here is in it, once. */
#define PROBES(X)                                                                                  \
    X(device)                                                                                      \
    X(power)                                                                                       \
    X(context)                                                                                     \
    X(launch)                                                                                      \
    X(graph)                                                                                       \
    X(alloc)                                                                                       \
    X(triad) X(l2) X(copy) X(gemm) X(width) X(timeslice) X(mps) X(mig) X(intercept) X(remote)

#define X(name) extern const struct probe probe_##name;
PROBES(X)
#undef X

const struct probe *const probe_all[] = {
#define X(name) &probe_##name,
    PROBES(X)
#undef X
        NULL,
};

const struct probe *probe_find(const char *name)
{
    for (size_t i = 0; probe_all[i]; i++)
        if (strcmp(probe_all[i]->name, name) == 0) return probe_all[i];
    return NULL;
}

void probe_missing(const struct probe *p, struct profile_out *o, const char *why)
{
    for (size_t i = 0; i < p->keys_n; i++) {
        const struct param_def *k = &p->keys[i];
        if (isnan(profile_out_value(o, k->group, k->key)) &&
            !profile_out_reason(o, k->group, k->key))
            profile_out_missing(o, k, "%s", why);
    }
}

void probe_run(const struct probe *p, const struct probe_ctx *c)
{
    if (!p->run) return;
    p->run(c);
    probe_missing(p, c->out, "the probe did not reach it");
}

void probe_list(FILE *to)
{
    for (size_t i = 0; probe_all[i]; i++) {
        const struct probe *p = probe_all[i];
        fprintf(to, "%-9s %s\n", p->name, p->help);
        for (size_t k = 0; k < p->keys_n; k++) {
            const struct param_def *d = &p->keys[k];
            char name[64];
            snprintf(name, sizeof name, "%s.%s", d->group, d->key);
            fprintf(to, "          %-28s %s%s\n", name, d->what,
                    d->detail ? " (samples file only)" : "");
        }
    }
}

void probe_sample(const struct probe_ctx *c, struct sampler *s, double value)
{
    struct device_sensors now;
    c->dev->ops->sensors(c->dev, &now);
    if (now.throttled == TRI_YES)
        sampler_discard(s);
    else
        sampler_add(s, value);
}

double probe_clock_s(struct device *d)
{
    enum { READINGS = 101 };
    double took[READINGS], before = d->ops->now_s(d);
    for (int i = 0; i < READINGS; i++) {
        const double now = d->ops->now_s(d);
        took[i] = now - before;
        before = now;
    }
    stats_sort(took, READINGS);
    return stats_median(took, READINGS);
}

struct stop_rule probe_rule(bool quick)
{
    /* nvbench's time-out is 15 s as well; its noise target of 0.5 % is for the mean of one
     * kernel. */
    return quick
               ? (struct stop_rule){ .relative = 0.05, .min_n = 10, .max_n = 1000, .seconds = 1.5 }
               : (struct stop_rule){ .relative = 0.01, .min_n = 30, .max_n = 20000, .seconds = 15 };
}
