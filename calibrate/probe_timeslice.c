/* calibrate/probe_timeslice.c - what taking turns costs: TS-1 to TS-6 with processes of its own on an
 * otherwise idle card without MPS. The quantum and the switch come from two logs of the card's timer; the
 * throughput kept by 2, 4 and 8 processes is measured apart, so that each checks the other (checks.c). */
#include "calibrate/probe.h"
#include "calibrate/worker.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { TENANTS_MAX = 8, REPEATS = 6 };

enum {
    QUANTUM,
    SWITCH,
    SPLIT,
    BURST_P50,
    BURST_P99,
    SPECIAL, /* below: throughput of n over that of one, per kind */
    KINDS = 5,
    COUNTS = 5
};
#define KEPT(kind, n, what)                                                                        \
    {                                                                                              \
        "timeslice", "kept_" kind "_" n, "ratio", "throughput of " n " processes over one, " what, \
            0, 16, true                                                                            \
    }
#define KEPT_ALL(kind, what)                                                                       \
    KEPT(kind, "1", what), KEPT(kind, "2", what), KEPT(kind, "3", what), KEPT(kind, "4", what),    \
        KEPT(kind, "8", what)
static const struct param_def keys[] = {
    { "timeslice", "quantum_us", "us", "length of a turn, two processes", 10, 1e6, false },
    { "timeslice", "switch_us", "us", "time lost from one turn to the next", 0, 1e5, false },
    { "timeslice", "split_long_kernels", "ratio",
      "share of the card that kernels of 10 turns get beside kernels of a fifth of one", 0, 1,
      true },
    { "timeslice", "burst_p50_us", "us", "a kernel of 50 us beside a busy process, p50", 1, 1e7,
      true },
    { "timeslice", "burst_p99_us", "us", "the same, p99", 1, 1e7, true },
    KEPT_ALL("compute", "kernels that fill the SMs"),
    KEPT_ALL("memory", "kernels bound by memory"),
    KEPT_ALL("small", "kernels of one block"),
    KEPT_ALL("gap_300us", "1 ms kernels with host gaps of 0.3 ms"),
    KEPT_ALL("gap_3ms", "1 ms kernels with host gaps of 3 ms"),
};
enum { KEYS = sizeof keys / sizeof *keys };
/* One against one is the control: what it differs from 1 by is the noise of the rest. */
static const unsigned counts[COUNTS] = { 1, 2, 3, 4, 8 };

struct slicing {
    const struct probe_ctx *c;
    struct worker *w[TENANTS_MAX];
    size_t n;
    double seconds;         /* of one window */
    double full_ns, one_ns; /* a loop's iteration with every SM busy, and with one block */
};

static void missing(const struct probe_ctx *c, const char *why)
{
    for (int k = 0; k < KEYS; k++)
        if (!profile_out_reason(c->out, keys[k].group, keys[k].key) &&
            isnan(profile_out_value(c->out, keys[k].group, keys[k].key)))
            profile_out_missing(c->out, &keys[k], "%s", why);
}

static unsigned whole_grid(const struct device *d)
{
    return (unsigned)(d->info.sms > 0 ? d->info.sms : 1) * 8;
}

/* ---- quantum and switch ------------------------------------------------------------------------- */

/* One process alone sees no step in the timer, or the logs of two say nothing: a timer that ticks slowly, or somebody
 * else on the card whom NVML did not show. */
static int check_timer(struct slicing *s, struct err *e)
{
    struct slice_log alone;
    int rc = logs_run(s->w, 1, 0.2, &alone, e);
    if (!rc && alone.n > 20)
        rc = err_set(e, ERR_IO, NULL,
                     "the card's timer steps by more than 4 us for one process alone (%zu times in "
                     "0.2 s): it ticks too slowly, or others use the card",
                     alone.n);
    slice_log_fini(&alone);
    return rc;
}

static int measure_turns(struct slicing *s, struct err *e)
{
    const struct stop_rule rule = { .relative = 0.02, .min_n = 20, .max_n = 100000, .seconds = 60 };
    struct slice_log log[2] = { 0 };
    struct sampler quantum, change;
    int rc = 0;
    sampler_init(&quantum, &rule, 0);
    sampler_init(&change, &rule, 0);
    for (int i = 0; !rc && i < (s->c->quick ? 2 : 5); i++) {
        rc = logs_run(s->w, 2, s->c->quick ? 0.5 : 2, log, e);
        if (!rc) {
            slice_quanta(&log[0], &log[1], &quantum);
            slice_quanta(&log[1], &log[0], &quantum);
            slice_switches(&log[0], &log[1], &change);
            slice_switches(&log[1], &log[0], &change);
        }
        for (int k = 0; k < 2; k++) slice_log_fini(&log[k]);
    }
    if (!rc && quantum.n < 20)
        rc = err_set(e, ERR_IO, NULL,
                     "two processes did not take turns (%zu turns seen): MPS, or a card that runs "
                     "them side by side",
                     quantum.n);
    if (!rc) {
        profile_out_put(
            s->c->out, &keys[QUANTUM], &quantum, NULL,
            "two processes polling the card's timer, whole runs between gaps above 4 us");
        profile_out_put(s->c->out, &keys[SWITCH], &change, NULL,
                        "half of a gap of one less the run of the other in it");
    }
    sampler_fini(&quantum);
    sampler_fini(&change);
    return rc;
}

/* ---- throughput --------------------------------------------------------------------------------- */

/* Time of one iteration on this card, for kernels of a wanted length. */
static int time_iteration(struct device *d, unsigned grid, double *ns, struct err *e)
{
    uint64_t iters = 200000;
    dev_ptr sink = 0;
    void *args[] = { &sink, &iters };
    double ms = NAN;
    int rc = d->ops->alloc(d, 64, &sink, e);
    for (int i = 0; !rc && i < 5; i++) {
        rc = d->ops->event_record(d, 0, e);
        if (!rc) rc = d->ops->launch(d, DEV_COMPUTE, grid, DEV_BLOCK, args, e);
        if (!rc) rc = d->ops->event_record(d, 1, e);
        if (!rc) rc = d->ops->event_ms(d, 0, 1, &ms, e);
    }
    d->ops->free(d, sink, NULL);
    *ns = 1e6 * ms / (double)iters;
    return rc;
}

static struct loop compute_loop(const struct slicing *s, double us, double gap_us)
{
    return (struct loop){ .kind = LOOP_COMPUTE,
                          .grid = whole_grid(s->c->dev),
                          .size = (uint64_t)(1e3 * us / s->full_ns) + 1,
                          .gap_us = gap_us,
                          .depth = gap_us > 0 ? 1 : DEV_EVENTS };
}

static struct loop loop_of(const struct slicing *s, int kind)
{
    struct loop l = compute_loop(s, 500, 0);
    switch (kind) {
    case 1: {
        const uint64_t floats = s->c->dev->info.l2_bytes;
        l = (struct loop){ .kind = LOOP_MEMORY,
                           .size = floats ? floats : 16 << 20,
                           .depth = DEV_EVENTS };
        break;
    }
    case 2:
        l.grid = 1;
        l.size = (uint64_t)(500e3 / s->one_ns) + 1;
        break;
    case 3: return compute_loop(s, 1000, 300);
    case 4: return compute_loop(s, 1000, 3000);
    }
    return l;
}

static double sum_of_rates(const struct loop_result r[], size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += r[i].rate;
    return sum;
}

/* One kind: alone, then with 1, 2, 3 .. processes, in turn, so that drift meets all alike. */
static int measure_kept(struct slicing *s, int kind, struct err *e)
{
    const struct stop_rule rule = {
        .relative = 0.02, .min_n = REPEATS, .max_n = 1000, .seconds = 600
    };
    struct sampler kept[COUNTS];
    struct loop same[TENANTS_MAX];
    struct loop_result r[TENANTS_MAX];
    int rc = 0;
    for (int i = 0; i < TENANTS_MAX; i++) same[i] = loop_of(s, kind);
    for (int k = 0; k < COUNTS; k++) sampler_init(&kept[k], &rule, 0);
    for (int i = 0; !rc && i < REPEATS; i++) {
        rc = loops_run(s->w, same, 1, s->seconds, r, e);
        const double alone = r[0].rate;
        if (!rc && !(alone > 0)) rc = err_set(e, ERR_IO, NULL, "no kernel ended within a window");
        for (int k = 0; !rc && k < COUNTS && counts[k] <= s->n; k++) {
            rc = loops_run(s->w, same, counts[k], s->seconds, r, e);
            if (!rc) probe_sample(s->c, &kept[k], sum_of_rates(r, counts[k]) / alone);
        }
    }
    for (int k = 0; k < COUNTS; k++) {
        const struct param_def *key = &keys[SPECIAL + kind * COUNTS + k];
        if (rc)
            profile_out_missing(s->c->out, key, "%s", e->msg);
        else if (counts[k] > s->n)
            profile_out_missing(s->c->out, key, "not with --quick");
        else
            profile_out_put(
                s->c->out, key, &kept[k], NULL,
                "closed loops in processes of their own, windows interleaved with one alone");
        sampler_fini(&kept[k]);
    }
    return rc;
}

/* ---- split and bursts --------------------------------------------------------------------------- */

static int measure_split(struct slicing *s, double quantum_us, struct err *e)
{
    const struct stop_rule rule = {
        .relative = 0.02, .min_n = REPEATS, .max_n = 1000, .seconds = 600
    };
    const double us[2] = { 10 * quantum_us, quantum_us / 5 };
    const struct loop l[2] = { compute_loop(s, us[0], 0), compute_loop(s, us[1], 0) };
    struct loop_result r[2];
    struct sampler share;
    int rc = 0;
    sampler_init(&share, &rule, 0);
    for (int i = 0; !rc && i < REPEATS; i++) {
        rc = loops_run(s->w, l, 2, 2 * s->seconds, r, e);
        const double used[2] = { r[0].rate * us[0], r[1].rate * us[1] };
        if (!rc) probe_sample(s->c, &share, used[0] / (used[0] + used[1]));
    }
    if (!rc)
        profile_out_put(s->c->out, &keys[SPLIT], &share, NULL,
                        "card time of the long ones over that of both, two processes, queues full");
    sampler_fini(&share);
    return rc;
}

static int measure_burst(struct slicing *s, struct err *e)
{
    const struct stop_rule rule = {
        .relative = 0.1, .min_n = REPEATS, .max_n = 1000, .seconds = 600
    };
    const struct loop l[2] = { compute_loop(s, 500, 0), compute_loop(s, 50, 5000) };
    struct loop_result r[2];
    struct sampler p50, p99;
    int rc = 0;
    sampler_init(&p50, &rule, 0);
    sampler_init(&p99, &rule, 0);
    for (int i = 0; !rc && i < REPEATS; i++) {
        rc = loops_run(s->w, l, 2, 2 * s->seconds, r, e);
        if (!rc && r[1].p50_us > 0) {
            probe_sample(s->c, &p50, r[1].p50_us);
            probe_sample(s->c, &p99, r[1].p99_us);
        }
    }
    if (!rc) {
        profile_out_put(s->c->out, &keys[BURST_P50], &p50, NULL,
                        "launch to completion every 5 ms, one other process with its queue full");
        profile_out_put(s->c->out, &keys[BURST_P99], &p99, NULL,
                        "launch to completion every 5 ms, one other process with its queue full");
    }
    sampler_fini(&p50);
    sampler_fini(&p99);
    return rc;
}

static int measure(struct slicing *s, struct err *e)
{
    struct device *d = s->c->dev;
    int rc = time_iteration(d, whole_grid(d), &s->full_ns, e);
    if (!rc) rc = time_iteration(d, 1, &s->one_ns, e);
    if (!rc) rc = workers_start(d, NULL, s->w, s->n, e);
    if (!rc) rc = check_timer(s, e);
    if (!rc) rc = measure_turns(s, e);
    for (int k = 0; !rc && k < KINDS; k++) rc = measure_kept(s, k, e);
    const double quantum = profile_out_value(s->c->out, "timeslice", "quantum_us");
    if (!rc && quantum > 0) rc = measure_split(s, quantum, e);
    if (!rc) rc = measure_burst(s, e);
    workers_stop(s->w, s->n);
    return rc;
}

static void run(const struct probe_ctx *c)
{
    struct err e = { 0 };
    struct slicing s = { .c = c, .n = c->quick ? 2 : 8, .seconds = c->quick ? 0.2 : 0.5 };
    int rc = c->dev->ops->context_open(c->dev, &e);
    if (!rc && c->dev->info.mps == TRI_YES)
        rc = err_set(&e, ERR_IO, NULL, "contexts go through an MPS server and do not take turns");
    if (!rc && (c->dev->info.compute_mode == 1 || c->dev->info.compute_mode == 3))
        rc = err_set(&e, ERR_IO, NULL, "the card is in exclusive mode: one process only");
    if (!rc && c->dev->info.other_processes > 0)
        rc = err_set(&e, ERR_IO, NULL, "%d other processes hold contexts and may take turns",
                     c->dev->info.other_processes);
    if (!rc) rc = measure(&s, &e);
    if (rc) missing(c, e.msg);
}

const struct probe probe_timeslice = {
    .name = "timeslice",
    .help = "turns between processes: length, switch, throughput kept, split, bursts",
    .keys = keys,
    .keys_n = KEYS,
    .run = run,
};
