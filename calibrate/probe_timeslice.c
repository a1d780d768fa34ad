/* calibrate/probe_timeslice.c - what taking turns costs: TS-1 to TS-6 with processes of its own
 * on an otherwise idle card without MPS. The quantum and the switch come from logs of the card's
 * timer (two, three and four processes); the throughput kept by 1 to 8 processes is measured
 * apart, so that each checks the other (checks.c).
 *
 * Time it takes: 6 rounds of windows of 0.58 s, one alone and one of each number of processes,
 * so 31 s for each of five kinds of kernels with 1 to 8 and 10 s for each of two with 1 and 2;
 * logs 30 s, split 7 s, bursts 7 s: some four minutes, and with --quick (1 and 2 processes,
 * shorter windows) less than one. */
#include "calibrate/probe.h"
#include "calibrate/worker.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { TENANTS_MAX = 8, LOGS_MAX = 4, REPEATS = 6 };

enum {
    QUANTUM,
    SWITCH,
    SWITCH_FULL,
    QUANTUM_3, /* with three processes, with four; then switches */
    SWITCH_3 = QUANTUM_3 + LOGS_MAX - 2,
    SPLIT = SWITCH_3 + LOGS_MAX - 2,
    BURST_P50,
    BURST_P99,
    SPECIAL, /* below: throughput of n over that of one, per kind */
};
#define KEPT(kind, n, what)                                                                        \
    {                                                                                              \
        "timeslice", "kept_" kind "_" n, "ratio", "throughput of " n " processes over one, " what, \
            0, 16, true                                                                            \
    }
#define KEPT_2(kind, what) KEPT(kind, "1", what), KEPT(kind, "2", what)
#define KEPT_8(kind, what)                                                                         \
    KEPT_2(kind, what), KEPT(kind, "3", what), KEPT(kind, "4", what), KEPT(kind, "5", what),       \
        KEPT(kind, "6", what), KEPT(kind, "7", what), KEPT(kind, "8", what)
static const struct param_def keys[] = {
    { "timeslice", "quantum_us", "us", "length of a turn, two processes", 10, 1e6, false },
    { "timeslice", "switch_us", "us", "time lost from one turn to the next", 0, 1e5, false },
    { "timeslice", "switch_full_us", "us", "the same, with threads of the processes on every SM", 0,
      1e5, true },
    { "timeslice", "quantum_3_us", "us", "length of a turn, three processes", 10, 1e6, true },
    { "timeslice", "quantum_4_us", "us", "length of a turn, four processes", 10, 1e6, true },
    { "timeslice", "switch_3_us", "us", "time lost between turns, three processes", 0, 1e5, true },
    { "timeslice", "switch_4_us", "us", "time lost between turns, four processes", 0, 1e5, true },
    { "timeslice", "split_long_kernels", "ratio",
      "share of the card that kernels of 10 turns get beside kernels of a fifth of one", 0, 1,
      true },
    { "timeslice", "burst_p50_us", "us", "a kernel of 50 us beside a busy process, p50", 1, 1e7,
      true },
    { "timeslice", "burst_p99_us", "us", "the same, p99", 1, 1e7, true },
    KEPT_8("compute", "kernels that fill the SMs"),
    KEPT_8("memory", "kernels bound by memory"),
    KEPT_8("small", "kernels of one block"),
    KEPT_8("gap_300us", "1 ms kernels with host gaps of 0.3 ms"),
    KEPT_8("gap_3ms", "1 ms kernels with host gaps of 3 ms"),
    KEPT_2("gap_100us", "1 ms kernels with host gaps of 0.1 ms"),
    KEPT_2("gap_1ms", "1 ms kernels with host gaps of 1 ms"),
};
enum { KEYS = sizeof keys / sizeof *keys };
/* In the order of the keys. Gaps other than those of two lengths are for TS-5: two processes. */
enum kind { COMPUTE, MEMORY, SMALL, GAP_300US, GAP_3MS, GAP_100US, GAP_1MS, KINDS };
static const size_t processes_of[KINDS] = { 8, 8, 8, 8, 8, 2, 2 };

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

/* One process alone sees no step in the timer, or the logs of two say nothing: a timer that
 * ticks slowly, or somebody else on the card whom NVML did not show. */
static int check_timer(struct slicing *s, struct err *e)
{
    struct slice_log alone;
    int rc = logs_run(s->w, 1, 0.2, false, &alone, e);
    if (!rc && alone.n > 20)
        rc = err_set(e, ERR_IO, NULL,
                     "the card's timer steps by more than 4 us for one process alone (%zu times in "
                     "0.2 s): it ticks too slowly, or others use the card",
                     alone.n);
    slice_log_fini(&alone);
    return rc;
}

/* What n processes at once say about turns and switches; key < 0: not asked for. */
static int measure_turns(struct slicing *s, size_t n, bool full, int quantum_key, int switch_key,
                         struct err *e)
{
    const struct stop_rule rule = { .relative = 0.02, .min_n = 20, .max_n = 100000, .seconds = 60 };
    struct slice_log log[LOGS_MAX] = { 0 };
    struct sampler quantum, change;
    int rc = 0;
    sampler_init(&quantum, &rule, 0);
    sampler_init(&change, &rule, 0);
    for (int i = 0; !rc && i < (s->c->quick ? 2 : 5); i++) {
        rc = logs_run(s->w, n, s->c->quick ? 0.5 : 1.5, full, log, e);
        for (size_t k = 0; !rc && k < n; k++) {
            slice_quanta(&log[k], &log[(k + 1) % n], &quantum);
            slice_switches(log, n, k, &change);
        }
        for (size_t k = 0; k < n; k++) slice_log_fini(&log[k]);
    }
    if (!rc && (quantum.n < 20 || change.n == 0))
        rc = err_set(e, ERR_IO, NULL,
                     "%zu processes did not take turns (%zu turns seen): MPS, or a card that runs "
                     "them side by side",
                     n, quantum.n);
    if (!rc && quantum_key >= 0)
        profile_out_put(s->c->out, &keys[quantum_key], &quantum, NULL,
                        "processes polling the card's timer, whole runs between gaps above 4 us");
    if (!rc)
        profile_out_put(s->c->out, &keys[switch_key], &change, NULL,
                        "a gap of one less the runs of the others in it, over the switches in it");
    sampler_fini(&quantum);
    sampler_fini(&change);
    return rc;
}

/* Two processes decide; what more of them, or full SMs, add is for the samples. */
static int measure_all_turns(struct slicing *s, struct err *e)
{
    int rc = measure_turns(s, 2, false, QUANTUM, SWITCH, e);
    if (!rc) rc = measure_turns(s, 2, true, -1, SWITCH_FULL, e);
    for (size_t n = 3; !rc && n <= LOGS_MAX; n++) {
        const int q = QUANTUM_3 + (int)n - 3, c = SWITCH_3 + (int)n - 3;
        struct err why = { 0 };
        if (n > s->n)
            err_set(&why, ERR_IO, NULL, "not with --quick");
        else
            measure_turns(s, n, false, q, c, &why);
        if (!why.code) continue;
        profile_out_missing(s->c->out, &keys[q], "%s", why.msg);
        profile_out_missing(s->c->out, &keys[c], "%s", why.msg);
    }
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

static struct loop loop_of(const struct slicing *s, enum kind kind)
{
    static const double gap_us[KINDS] = {
        [GAP_100US] = 100, [GAP_300US] = 300, [GAP_1MS] = 1000, [GAP_3MS] = 3000
    };
    const uint64_t floats = s->c->dev->info.l2_bytes;
    struct loop l = compute_loop(s, gap_us[kind] > 0 ? 1000 : 500, gap_us[kind]);
    if (kind == MEMORY)
        l = (struct loop){ .kind = LOOP_MEMORY,
                           .size = floats ? floats : 16 << 20,
                           .depth = DEV_EVENTS };
    if (kind == SMALL) {
        l.grid = 1;
        l.size = (uint64_t)(500e3 / s->one_ns) + 1;
    }
    return l;
}

static double sum_of_rates(const struct loop_result r[], size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += r[i].rate;
    return sum;
}

/* One kind: alone, then with 1, 2, 3 .. processes, in turn, so that drift meets all alike. One
 * against one is the control: what it differs from 1 by is the noise of the rest. A window
 * begins and ends somewhere in a turn, and in a kernel of each process: so much may be counted
 * too many or too few, the kernels as errors that do not know of each other. */
static int measure_kept(struct slicing *s, enum kind kind, const struct param_def *key,
                        struct err *e)
{
    const struct stop_rule rule = {
        .relative = 0.02, .min_n = REPEATS, .max_n = 1000, .seconds = 600
    };
    const size_t all = processes_of[kind], most = all < s->n ? all : s->n;
    const double turn_us = profile_out_value(s->c->out, "timeslice", "quantum_us") +
                           profile_out_value(s->c->out, "timeslice", "switch_us");
    struct sampler kept[TENANTS_MAX];
    struct loop same[TENANTS_MAX];
    struct loop_result r[TENANTS_MAX];
    int rc = 0;
    for (int i = 0; i < TENANTS_MAX; i++) same[i] = loop_of(s, kind);
    const double kernel_us = same[0].gap_us > 0 ? 1000 : 500;
    for (size_t k = 0; k < all; k++) {
        sampler_init(&kept[k], &rule, 0);
        kept[k].give = 1e-6 * ((k ? turn_us : 0) + sqrt((double)k + 1) * kernel_us) / s->seconds;
    }
    for (int i = 0; !rc && i < REPEATS; i++) {
        rc = loops_run(s->w, same, 1, s->seconds, r, e);
        const double alone = r[0].rate;
        if (!rc && !(alone > 0)) rc = err_set(e, ERR_IO, NULL, "no kernel ended within a window");
        for (size_t n = 1; !rc && n <= most; n++) {
            rc = loops_run(s->w, same, n, s->seconds, r, e);
            if (!rc) probe_sample(s->c, &kept[n - 1], sum_of_rates(r, n) / alone);
        }
    }
    for (size_t k = 0; k < all; k++) {
        if (rc)
            profile_out_missing(s->c->out, &key[k], "%s", e->msg);
        else if (k >= most)
            profile_out_missing(s->c->out, &key[k], "not with --quick");
        else
            profile_out_put(
                s->c->out, &key[k], &kept[k], NULL,
                "closed loops in processes of their own, windows interleaved with one alone");
        sampler_fini(&kept[k]);
    }
    return rc;
}

static int measure_all_kept(struct slicing *s, struct err *e)
{
    const struct param_def *key = &keys[SPECIAL];
    int rc = 0;
    for (int k = 0; !rc && k < KINDS; k++) {
        rc = measure_kept(s, (enum kind)k, key, e);
        key += processes_of[k];
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
    if (!rc) rc = measure_all_turns(s, e);
    if (!rc) rc = measure_all_kept(s, e);
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
