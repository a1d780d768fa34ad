/* whatif/valid_sharing.c - equal tenants of one card under time slicing and MPS, against published
 * series. The figure is the aggregate: what all tenants together get done, one alone on the card = 1.
 *
 * What a policy must know of a card or a workload comes from other rows, never from the row itself:
 *   time slicing, busy tenants   the switch cost that the other rows of this card imply, at the
 *                                width of each workload where one of its MIG slices tells it
 *   time slicing, host-bound     the share of time at the card that the other rows of the series
 *                                imply (closed network, one u); the row itself takes part where
 *                                there is only one other, and "left out" shows it without
 *   MPS, width from a MIG slice  the width at which this workload's speed on a slice comes out right
 *   MPS, one block a client      one SM
 *   MPS, host-bound              as under time slicing
 *   MIG, tenants on equal slices the width that the workload's other rows on slices imply: tenants of
 *                                different slices do not disturb each other
 * Rows that share these data: the file that is asked about, the one that ships, the reference. All
 * busy rows are also asked with the profile's default switch cost, aside: nothing else is known to a run
 * without a calibrated profile, or of a card with one row. Copies over PCIe in turns and pairs
 * of which one side is not known alone are not covered. */
#include "base/datadir.h"
#include "base/mem.h"
#include "whatif/measured.h"
#include "whatif/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TENANTS = 60 };

struct series_row {
    const char *source, *gpu, *policy, *workload, *metric, *note;
    double tenants, loaded, each, aggregate;
    double width; /* that its speed on a slice implies; NAN: not on a slice */
};
static const struct measured_column columns[] = {
    MEASURED_TEXT(struct series_row, source, "source"),
    MEASURED_TEXT(struct series_row, gpu, "gpu"),
    MEASURED_TEXT(struct series_row, policy, "policy"),
    MEASURED_TEXT(struct series_row, workload, "workload"),
    MEASURED_TEXT(struct series_row, metric, "metric"),
    MEASURED_TEXT(struct series_row, note, "note"),
    MEASURED_NUMBER(struct series_row, tenants, "tenants", 1, 1000),
    MEASURED_NUMBER(struct series_row, loaded, "loaded_tenants", 1, MOST_TENANTS),
    MEASURED_OPTIONAL(struct series_row, each, "norm_per_tenant", 1e-6, 2),
    MEASURED_OPTIONAL(struct series_row, aggregate, "aggregate_norm", 1e-6, 2.0 * MOST_TENANTS),
};
typedef VEC(struct series_row) series_rows;

struct study {
    const struct world *world;
    struct arena *arena;
    series_rows asked, known; /* known holds asked, each row once */
    struct err *e;
};

/* ---- what kind of row it is ---- */

static bool says(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static bool sliced(const struct series_row *r)
{
    return strcmp(r->policy, "timeslice") == 0 || strcmp(r->policy, "vgpu_timeslice") == 0;
}

static bool host_bound(const struct series_row *r)
{
    return says(r->note, "host-bound") || says(r->workload, "host-bound");
}

/* Series that contradict another one of the same model: the source of the difference is the
 * host. */
static bool order_only(const struct series_row *r)
{
    return says(r->note, "order only");
}

/* All tenants alike: then the aggregate is a tenant's figure times their number. */
static bool alike(const struct series_row *r)
{
    return fabs(r->aggregate - r->each * r->loaded) < 0.02 * r->aggregate;
}

static bool usable(const struct series_row *r)
{
    return r->loaded >= 2 && r->aggregate > 0 && alike(r);
}

static bool over_pcie(const struct series_row *r)
{
    return says(r->metric, "pcie");
}

static bool same_series(const struct series_row *a, const struct series_row *b)
{
    return strcmp(a->source, b->source) == 0 && strcmp(a->gpu, b->gpu) == 0 &&
           strcmp(a->workload, b->workload) == 0;
}

static bool same_row(const struct series_row *a, const struct series_row *b)
{
    return same_series(a, b) && strcmp(a->policy, b->policy) == 0 &&
           strcmp(a->metric, b->metric) == 0 && a->tenants == b->tenants && a->loaded == b->loaded;
}

/* The model a replica serves: what stands before the comma. */
static bool same_model(const struct series_row *a, const struct series_row *b)
{
    const size_t n = strcspn(a->workload, ",");
    return n == strcspn(b->workload, ",") && strncmp(a->workload, b->workload, n) == 0;
}

/* ---- reading ---- */

/* The catalogue's name of a card of these files; "generic" for one it does not have, since nothing
 * of a card but its MIG geometry and SMs matters here. */
static const char *card_of(const struct study *s, const char *gpu)
{
    if (gpu_find(s->world->gpus, gpu, NULL)) return gpu;
    static const char *const other[][2] = { { "A100", "a100-sxm4-80gb" },
                                            { "A30", "a30" },
                                            { "T4", "t4" },
                                            { "A100-PCIE-80GB", "a100-pcie-80gb" } };
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (strcmp(gpu, other[i][0]) == 0 && gpu_find(s->world->gpus, other[i][1], NULL))
            return other[i][1];
    return "generic";
}

static int check_row(struct study *s, struct measured *m, const struct series_row *r)
{
    if (r->loaded > r->tenants)
        return measured_error(m, s->e, "loaded_tenants: %g of %g tenants", r->loaded, r->tenants);
    if (r->loaded != floor(r->loaded) || r->tenants != floor(r->tenants))
        return measured_error(m, s->e, "tenants: expected whole numbers, found %g of %g", r->loaded,
                              r->tenants);
    const struct gpu_spec *gpu = gpu_find(s->world->gpus, card_of(s, r->gpu), NULL);
    if (strncmp(r->policy, "mig_", 4) == 0 && !gpu->mig)
        return measured_error(m, s->e, "policy: %s has no MIG", gpu->name);
    return 0;
}

static int read_rows(struct study *s, const char *path, bool asked)
{
    struct measured *m = NULL;
    struct series_row r;
    int rc = measured_open(&m, path, columns, sizeof columns / sizeof *columns, s->arena, s->e);
    while (rc == 0 && (rc = measured_next(m, &r, s->e)) > 0) {
        bool there = false;
        rc = check_row(s, m, &r);
        if (asked) vec_push(&s->asked, r);
        for (size_t i = 0; i < s->known.n && !there; i++) there = same_row(&s->known.v[i], &r);
        if (!there) vec_push(&s->known, r);
    }
    measured_close(m);
    return rc;
}

/* ---- asking a policy ---- */

/* What one unknown is worth: a switch cost in us, the host share, the width, bytes per second. */
enum unknown { SWITCH_US, HOST, WIDTH, PCIE };

struct question {
    struct study *study;
    enum unknown unknown;
    bool itself; /* the row takes part in its own explanation */
};

/* Aggregate of the row's tenants when the unknown is `x`; NAN when the policy refuses the card. */
static double answer(const struct question *q, const struct series_row *r, double x)
{
    struct study *s = q->study;
    struct gpu_profile profile;
    struct signature sig = signature_default();
    const struct signature *all[MOST_TENANTS];
    const struct demand *demand[MOST_TENANTS];
    struct demand each = valid_demand();
    struct valid_share share;
    double speed[MOST_TENANTS], sum = 0;
    const size_t n = (size_t)r->loaded;
    const bool mig = strncmp(r->policy, "mig_", 4) == 0;
    const char *kind = mig ? "mig" : sliced(r) ? "timeslice" : "mps";
    char slots[40];
    snprintf(slots, sizeof slots, "{\"cap\": 1, \"slots\": %zu}", n);
    profile_defaults(&profile);
    sig.sm_width = sig.bw_width = 1;
    if (q->unknown == SWITCH_US) {
        profile.param[PROFILE_timeslice_switch_us].value = x;
        if (!isnan(r->width)) sig.sm_width = r->width;
    }
    if (q->unknown == HOST) {
        sig.host = x;
        sig.compute = 1 - x;
    }
    if (q->unknown == WIDTH) sig.sm_width = x;
    if (q->unknown == PCIE) { /* it does nothing but copy */
        sig.host = 1;
        sig.compute = 0;
        sig.pcie_Bps = x;
    }
    if (valid_share_bind_profile(&share, s->world, s->arena, kind, card_of(s, r->gpu), &profile,
                                 strcmp(kind, "mps") == 0 ? slots : NULL, s->e) != 0)
        return NAN;
    const struct mig_geometry *geometry = share.type.gpu->mig;
    for (int k = 0; mig && k < geometry->n_profiles && each.mig_profile < 0; k++) {
        const struct mig_profile *p = &geometry->profile[k];
        /* "mig_half": the profile was not named; the largest that fits twice has 3 slices. */
        if (strcmp(r->policy, "mig_half") == 0 ? p->compute_slices == 3
                                               : strcmp(p->name, r->policy + 4) == 0)
            each.mig_profile = k;
    }
    if (mig && each.mig_profile < 0) return NAN;
    for (size_t i = 0; i < n; i++) {
        all[i] = &sig;
        demand[i] = &each;
    }
    valid_share_speeds(&share, all, demand, n, speed);
    for (size_t i = 0; i < n; i++) sum += speed[i];
    return sum;
}

typedef bool is_companion(const struct series_row *of, const struct series_row *other);

static size_t companions(const struct study *s, const struct series_row *r, is_companion *with)
{
    size_t n = 0;
    for (size_t i = 0; i < s->known.n; i++)
        n += !same_row(r, &s->known.v[i]) && with(r, &s->known.v[i]);
    return n;
}

/* Squared relative error over the row's companions; NAN without any. */
static double misfit(const struct question *q, const struct series_row *r, is_companion *with,
                     double x)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < q->study->known.n; i++) {
        const struct series_row *k = &q->study->known.v[i];
        if ((!q->itself && same_row(r, k)) || !with(r, k)) continue;
        const double off = answer(q, k, x) / k->aggregate - 1;
        sum += off * off;
        n++;
    }
    return n > 0 ? sum : NAN;
}

/* The unknown that explains the row's companions best: a grid, then golden section around its best
 * point. NAN without companions. */
static double explain(const struct question *q, const struct series_row *r, is_companion *with,
                      double lo, double hi)
{
    enum { GRID = 40, ROUNDS = 30 };
    const double golden = 0.61803398874989485;
    double best = NAN, least = INFINITY;
    for (int i = 0; i <= GRID; i++) {
        const double x = lo + (hi - lo) * i / GRID, f = misfit(q, r, with, x);
        if (f < least) {
            least = f;
            best = x;
        }
    }
    if (isnan(best)) return NAN;
    double a = fmax(lo, best - (hi - lo) / GRID), b = fmin(hi, best + (hi - lo) / GRID);
    for (int i = 0; i < ROUNDS; i++) {
        const double c = b - golden * (b - a), d = a + golden * (b - a);
        if (misfit(q, r, with, c) < misfit(q, r, with, d))
            b = d;
        else
            a = c;
    }
    return 0.5 * (a + b);
}

/* ---- who explains whom ---- */

static bool busy_on_this_card(const struct series_row *r, const struct series_row *k)
{
    return usable(k) && sliced(k) && !host_bound(k) && !over_pcie(k) && strcmp(r->gpu, k->gpu) == 0;
}

static bool busy_anywhere(const struct series_row *r, const struct series_row *k)
{
    (void)r;
    return usable(k) && sliced(k) && !host_bound(k) && !over_pcie(k);
}

static bool same_replicas(const struct series_row *r, const struct series_row *k)
{
    return usable(k) && same_series(r, k) && sliced(r) == sliced(k);
}

static bool same_model_sliced(const struct series_row *r, const struct series_row *k)
{
    return usable(k) && sliced(k) && same_model(r, k) && !order_only(k);
}

static bool on_a_slice(const struct series_row *r, const struct series_row *k)
{
    return same_series(r, k) && strncmp(k->policy, "mig_", 4) == 0 && k->aggregate > 0 && alike(k);
}

static void find_widths(struct study *s)
{
    const struct question q = { s, WIDTH, false };
    series_rows *const of[] = { &s->asked, &s->known };
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < of[k]->n; i++) {
            struct series_row *r = &of[k]->v[i];
            const struct gpu_spec *gpu = gpu_find(s->world->gpus, card_of(s, r->gpu), NULL);
            r->width = says(r->workload, "one-thread") ? 1.0 / (double)gpu->sms
                                                       : explain(&q, r, on_a_slice, 0.01, 1);
        }
}

/* One constant for all cards: the mean of everybody else's busy rows. */
static double one_constant(const struct study *s, const struct series_row *r)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < s->known.n; i++) {
        const struct series_row *k = &s->known.v[i];
        if (same_row(r, k) || !busy_anywhere(r, k)) continue;
        sum += k->aggregate;
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

static void put(valid_rows *out, struct study *s, const struct series_row *r, const char *group,
                double predicted, double naive, bool aside)
{
    const struct valid_row row = {
        .group = group,
        .label =
            arena_printf(s->arena, "%s %s x%.0f, %s", r->gpu, r->policy, r->loaded, r->workload),
        .measured = r->aggregate,
        .predicted = predicted,
        .naive = naive,
        .aside = aside,
    };
    vec_push(out, row);
}

static void predict_busy(struct study *s, const struct series_row *r, valid_rows *out)
{
    const struct question q = { s, SWITCH_US, false };
    const double naive = one_constant(s, r);
    if (over_pcie(r)) {
        put(out, s, r, "copies over PCIe", NAN, 1, true);
        return;
    }
    const double switch_us = explain(&q, r, busy_on_this_card, 0, 1000);
    if (!isnan(switch_us))
        put(out, s, r, "time slicing, busy tenants", answer(&q, r, switch_us), naive, false);
    struct gpu_profile profile;
    profile_defaults(&profile);
    put(out, s, r, "time slicing, default switch cost",
        answer(&q, r, profile.param[PROFILE_timeslice_switch_us].value), naive, true);
}

static void predict_host_bound(struct study *s, const struct series_row *r, valid_rows *out)
{
    struct question q = { s, HOST, false };
    if (order_only(r)) {
        const double host = explain(&q, r, same_model_sliced, 0, 0.99);
        put(out, s, r, "contradictory host, order only", isnan(host) ? NAN : answer(&q, r, host), 1,
            true);
        return;
    }
    const size_t n = companions(s, r, same_replicas);
    const double left_out = explain(&q, r, same_replicas, 0, 0.99);
    if (n == 0) {
        const double host = explain(&q, r, same_model_sliced, 0, 0.99);
        put(out, s, r, "MPS, host share of a time-sliced series",
            isnan(host) ? NAN : answer(&q, r, host), 1, isnan(host));
        return;
    }
    /* One other row says too little of a host share: then the row itself takes part. */
    q.itself = n == 1;
    put(out, s, r, sliced(r) ? "time slicing, host-bound" : "MPS, host-bound",
        answer(&q, r, explain(&q, r, same_replicas, 0, 0.99)), 1, false);
    put(out, s, r, sliced(r) ? "time slicing, host-bound, left out" : "MPS, host-bound, left out",
        answer(&q, r, left_out), 1, true);
}

static void predict_mps(struct study *s, const struct series_row *r, valid_rows *out)
{
    const struct question q = { s, WIDTH, false };
    if (says(r->workload, "one-thread")) {
        put(out, s, r, "MPS, one block a client", answer(&q, r, r->width), 1, false);
        return;
    }
    const bool unknown = isnan(r->width);
    put(out, s, r, unknown ? "MPS, width unknown" : "MPS, width from a MIG slice",
        unknown ? NAN : answer(&q, r, r->width), 1, unknown);
}

static void predict_mig(struct study *s, const struct series_row *r, valid_rows *out)
{
    const struct question q = { s, WIDTH, false };
    const double predicted = isnan(r->width) ? NAN : answer(&q, r, r->width);
    put(out, s, r,
        isnan(predicted) ? "MIG, no other row on a slice" : "MIG, tenants on equal slices",
        predicted, 1, isnan(predicted));
}

/* Each could have the bus for itself. Exact by construction where all copy all the time: aside. */
static void predict_copies(struct study *s, const struct series_row *r, valid_rows *out)
{
    const struct question q = { s, PCIE, false };
    const struct gpu_spec *gpu = gpu_find(s->world->gpus, card_of(s, r->gpu), NULL);
    put(out, s, r, "MIG, copies over PCIe", answer(&q, r, gpu->pcie_Bps), 1, true);
}

static void predict_row(struct study *s, const struct series_row *r, valid_rows *out)
{
    if (r->loaded < 2 || isnan(r->aggregate)) return;
    const bool mig = strncmp(r->policy, "mig_", 4) == 0;
    if (!sliced(r) && !mig && strcmp(r->policy, "mps") != 0) return;
    if (mig && over_pcie(r))
        predict_copies(s, r, out);
    else if (!alike(r))
        put(out, s, r, "one side of a pair is not known alone", NAN, NAN, true);
    else if (mig)
        predict_mig(s, r, out);
    else if (host_bound(r))
        predict_host_bound(s, r, out);
    else if (sliced(r))
        predict_busy(s, r, out);
    else
        predict_mps(s, r, out);
}

/* Only what ships may be shipped; with the reference folder at hand its rows are asked as well. */
static int read_all(struct study *s, const char *path)
{
    const char *shared = getenv("GPUSIM_SHARED");
    char shipped[4096], reference[4096] = "";
    datadir_path(shipped, sizeof shipped, "measured/sharing_measured.csv");
    if (shared) snprintf(reference, sizeof reference, "%s/reference/sharing_measured.csv", shared);
    if (reference[0] && access(reference, R_OK) != 0) reference[0] = '\0';
    const bool ours = strcmp(path, shipped) == 0;
    int rc = read_rows(s, ours && reference[0] ? reference : path, true);
    if (rc == 0 && reference[0]) rc = read_rows(s, reference, false);
    if (rc == 0) rc = read_rows(s, shipped, false);
    return rc;
}

static int predict(const struct world *w, const char *path, struct arena *a, valid_rows *out,
                   struct err *e)
{
    struct study s = { .world = w, .arena = a, .e = e };
    int rc = read_all(&s, path);
    if (rc == 0) find_widths(&s);
    for (size_t i = 0; rc == 0 && i < s.asked.n; i++) predict_row(&s, &s.asked.v[i], out);
    if (rc == 0) rc = (int)e->code; /* a policy that refused */
    vec_fini(&s.asked);
    vec_fini(&s.known);
    return rc;
}

static const struct valid_bar bars[] = {
    { "time slicing, busy tenants", VALID_WORST_ABS, 0.03 },
    { "time slicing, host-bound", VALID_WORST, 0.03 },
};

const struct valid_set valid_sharing = {
    .name = "sharing",
    .help =
        "equal tenants of one card in turns, under MPS and on slices: what all get done together",
    .file = "sharing_measured.csv",
    .reference = "sharing_measured.csv",
    .naive = "busy time slicing: one constant for all cards; else an equal split of one card",
    .unit = "of one tenant alone",
    .policies = "timeslice mps mig",
    .as_run = ", default switch cost",
    .as_run_policies = "timeslice",
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    .bars = bars,
    .n_bars = sizeof bars / sizeof *bars,
    .note =
        "three YOLOS clients under MPS get 1.61 where seven get 1.93: no width gives both. Five "
        "one-block clients on a T4 lose 12 % under MPS for no resource that is modelled, and 18 % in "
        "turns with hardly a register to save: that card's own switch costs twice the default. The "
        "contradictory H100 host loses with every replica, for want of host cores: only the order is "
        "asked of the model. The bar of busy tenants takes another row of the same card: at the default "
        "switch cost, which is an A100's, the mean of the other cards is the better guess",
    .predict = predict,
};
