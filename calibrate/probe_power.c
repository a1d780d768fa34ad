/* calibrate/probe_power.c - what the board draws while it does nothing, without and with a context.
 * Runs before every other probe, since a context keeps the clocks up. Power under load needs a load
 * that saturates the card and is not measured here. */
#include "calibrate/probe.h"

#include <math.h>

static const struct param_def keys[] = {
    { "power", "idle_W", "W", "board power with no context on it", 1, 1000, false },
    { "power", "context_W", "W", "board power with an idle context", 1, 1500, false },
    { "power", "busy_W", "W", "board power under load", 1, 3000, false },
};
enum { IDLE, CONTEXT, BUSY, KEYS };

/* The sensor averages over up to a second on recent boards, so samples closer together than a
 * hundred milliseconds say nothing new. */
static const double sample_gap_s = 0.1, settle_s = 3;

static const char *why_not(const struct device_info *i, const struct device_sensors *s)
{
    if (isnan(s->power_W)) return "the power sensor does not answer";
    if (i->mig_instance) return "a MIG instance has no power sensor of its own";
    if (i->virt == VIRT_VGPU) return "a virtual card has no power sensor of its own";
    if (i->other_processes < 0) return "it is not known whether other processes use the board";
    if (i->other_processes > 0) return "other processes use the board";
    return NULL;
}

static void measure(const struct probe_ctx *c, const struct param_def *key, const struct bound *b,
                    const char *method)
{
    struct device *d = c->dev;
    struct device_sensors now;
    struct sampler s;
    const struct stop_rule rule = { .relative = 0.02,
                                    .min_n = c->quick ? 10 : 30,
                                    .max_n = c->quick ? 20 : 200,
                                    .seconds = c->quick ? 3 : 30 };

    d->ops->sleep_s(d, settle_s);
    sampler_init(&s, &rule, d->ops->now_s(d));
    while (sampler_more(&s, d->ops->now_s(d))) {
        d->ops->sleep_s(d, sample_gap_s);
        d->ops->sensors(d, &now);
        if (!isnan(now.power_W)) sampler_add(&s, now.power_W);
    }
    profile_out_put(c->out, key, &s, b, method);
    sampler_fini(&s);
}

static void run(const struct probe_ctx *c)
{
    struct device *d = c->dev;
    struct device_sensors now;
    struct err e = { 0 };

    d->ops->sensors(d, &now);
    const char *why = why_not(&d->info, &now);
    profile_out_missing(c->out, &keys[BUSY], "no load that is known to saturate the card is run");
    if (why) {
        for (int k = 0; k < BUSY; k++) profile_out_missing(c->out, &keys[k], "%s", why);
        return;
    }
    const struct bound cap = { .min = NAN, .max = d->info.power_cap_W, .why_max = "the power cap" };
    measure(c, &keys[IDLE], &cap, "NVML board power every 0.1 s before any context is created");

    int rc = d->ops->context_open(d, &e);
    if (!rc) rc = d->ops->launch(d, DEV_EMPTY, 1, 32, NULL, &e);
    if (!rc) rc = d->ops->sync(d, &e);
    if (rc)
        profile_out_missing(c->out, &keys[CONTEXT], "%s", e.msg);
    else
        measure(c, &keys[CONTEXT], &cap,
                "NVML board power every 0.1 s, one context, no work for 3 s");
}

const struct probe probe_power = {
    .name = "power",
    .help = "board power while idle, without and with a context (NVML)",
    .keys = keys,
    .keys_n = KEYS,
    .run = run,
};
