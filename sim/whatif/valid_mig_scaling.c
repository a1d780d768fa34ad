/* Training speed on MIG slices of an A100-40GB relative to the largest slice, from counters of the
 * whole card (MISO, SoCC 2022): counters -> signature (model/counters.h) -> the speeds of "mig". */
#include "model/counters.h"
#include "model/mig.h"
#include "whatif/fit.h"
#include "whatif/measured.h"
#include "whatif/validate.h"

#include <math.h>
#include <string.h>

struct row {
    const char *gpu, *workload, *profile;
    double batch, sms, speed, util_sm, util_mem, power;
};
static const struct measured_column columns[] = {
    MEASURED_TEXT(struct row, gpu, "gpu"),
    MEASURED_TEXT(struct row, workload, "workload"),
    MEASURED_TEXT(struct row, profile, "profile"),
    MEASURED_OPTIONAL(struct row, batch, "batch", 0, 1e9),
    MEASURED_NUMBER(struct row, sms, "profile_sms", 1, 1000),
    MEASURED_NUMBER(struct row, speed, "rel_throughput", 1e-4, 2),
    MEASURED_NUMBER(struct row, util_sm, "full_gpu_util_sm_pct", 0, 100),
    MEASURED_NUMBER(struct row, util_mem, "full_gpu_util_mem_pct", 0, 100),
    MEASURED_OPTIONAL(struct row, power, "full_gpu_power_w", 0, 5000),
};

/* A row with the slice that it is about. */
struct point {
    struct row row;
    int slice, largest; /* profiles of the board */
};

struct data {
    struct valid_share share;
    struct measured *file;
    VEC(struct point)
    points; /* those that are asked about, then those that ship: only for the fit */
    size_t asked;
    const char *board;
    double largest_sms;
    const char *without; /* workload left out of the fit; NULL: none */
};

/* The rows name the chip. Their board never draws more than 250 W: the PCIe one. */
static const char *board_of(const char *gpu)
{
    return strcmp(gpu, "A100-40GB") == 0 ? "a100-pcie-40gb" : gpu;
}

static int largest_profile(const struct mig_geometry *g)
{
    int best = 0;
    for (int i = 1; i < g->n_profiles; i++)
        if (g->profile[i].compute_slices > g->profile[best].compute_slices) best = i;
    return best;
}

static int add_point(struct data *d, const struct row *row, struct err *e)
{
    const struct mig_geometry *g = d->share.type.gpu->mig;
    struct point p = { *row, mig_profile_find(g, row->profile), largest_profile(g) };
    if (p.slice < 0)
        return measured_error(d->file, e, "profile: \"%s\" is no MIG profile of %s", row->profile,
                              d->share.type.gpu->name);
    if (p.slice != p.largest) vec_push(&d->points, p);
    d->largest_sms = g->profile[p.largest].sms;
    return 0;
}

static int read_rows(struct data *d, const struct world *w, const char *path, struct arena *a,
                     struct err *e)
{
    struct row row;
    int rc = measured_open(&d->file, path, columns, sizeof columns / sizeof *columns, a, e);
    while (rc == 0 && (rc = measured_next(d->file, &row, e)) > 0) {
        rc = 0;
        if (!d->board) {
            struct err why = { 0 };
            d->board = board_of(row.gpu);
            rc = valid_share_bind(&d->share, w, a, "mig", d->board, NULL, &why);
            if (rc != 0) measured_error(d->file, e, "gpu: %s", why.msg);
            if (why.hint[0]) err_hint(e, "%s", why.hint);
        } else if (strcmp(d->board, board_of(row.gpu)) != 0) {
            if (d->asked) continue; /* what ships is of another card */
            rc = measured_error(d->file, e, "gpu: one card a file, found %s and %s", d->board,
                                row.gpu);
        }
        if (rc == 0) rc = add_point(d, &row, e);
    }
    measured_close(d->file);
    return rc;
}

static double slice_speed(const struct data *d, const struct signature *sig, int profile)
{
    struct demand demand = valid_demand();
    const struct demand *demands[] = { &demand };
    const struct signature *sigs[] = { sig };
    double speed;
    demand.mig_profile = profile;
    valid_share_speeds(&d->share, sigs, demands, 1, &speed);
    return speed;
}

static double predicted(const struct data *d, const struct point *p, const struct counters_fit *fit)
{
    const struct counters c = { p->row.util_sm / 100, p->row.util_mem / 100, p->row.power };
    const struct signature s = signature_from_counters(&c, d->share.type.gpu, fit);
    return slice_speed(d, &s, p->slice) / slice_speed(d, &s, p->largest);
}

/* Mean relative error of the workloads that are not left out. */
static double fit_error(const double x[], void *ctx)
{
    const struct data *d = ctx;
    const struct counters_fit fit = { x[0], x[1] };
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < d->points.n; i++) {
        const struct point *p = &d->points.v[i];
        if (d->without && strcmp(d->without, p->row.workload) == 0) continue;
        sum += fabs(predicted(d, p, &fit) / p->row.speed - 1);
        n++;
    }
    return n ? sum / (double)n : 0;
}

static void add(struct data *d, struct arena *a, valid_rows *out, const struct point *p,
                const char *group, bool aside, const struct counters_fit *fit)
{
    const struct valid_row row = {
        .group = group,
        .label =
            arena_printf(a, "%s batch %g on %s", p->row.workload, p->row.batch, p->row.profile),
        .measured = p->row.speed,
        .predicted = predicted(d, p, fit),
        .naive = p->row.sms / d->largest_sms,
        .aside = aside,
    };
    vec_push(out, row);
}

/* Every workload from constants fitted to the others. */
static void leave_out(struct data *d, struct arena *a, valid_rows *out)
{
    for (size_t i = 0; i < d->asked; i++) {
        const char *name = d->points.v[i].row.workload;
        size_t k = 0;
        while (strcmp(d->points.v[k].row.workload, name) != 0) k++;
        if (k < i) continue; /* done at its first row */
        double x[] = { counters_fitted.power_gain, counters_fitted.memory_share };
        d->without = name;
        fit_least(x, 2, 0.2, 200, fit_error, d);
        const struct counters_fit fit = { x[0], x[1] };
        for (k = i; k < d->asked; k++)
            if (strcmp(d->points.v[k].row.workload, name) == 0)
                add(d, a, out, &d->points.v[k], "workload left out of fit", true, &fit);
    }
}

static int predict(const struct world *w, const char *path, struct arena *a, valid_rows *out,
                   struct err *e)
{
    struct data d = { 0 };
    const char *also = valid_background(valid_find("mig_scaling", NULL), path, a);
    int rc = read_rows(&d, w, path, a, e);
    d.asked = d.points.n;
    if (rc == 0 && also && d.asked) rc = read_rows(&d, w, also, a, e);
    for (size_t i = 0; rc == 0 && i < d.asked; i++)
        add(&d, a, out, &d.points.v[i], d.points.v[i].row.profile, false, NULL);
    if (rc == 0) leave_out(&d, a, out);
    vec_fini(&d.points);
    return rc;
}

static const struct valid_bar bars[] = {
    { NULL, VALID_MAPE, 0.10 },
    { "workload left out of fit", VALID_MAPE, 0.10 },
};

const struct valid_set valid_mig_scaling = {
    .name = "mig_scaling",
    .help = "training speed on MIG slices, from counters of the whole card",
    .file = "mig_scaling.csv",
    .reference = "mig_scaling.csv",
    .naive = "speed in proportion to the SMs of the slice",
    .unit = "of the largest slice",
    .policies = "mig",
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    .bars = bars,
    .n_bars = sizeof bars / sizeof *bars,
    .note = "the worst rows are input pipelines that overlap with the card (mobilenet, resnet at "
            "small batches), whose host share a slice hides, and inputs of variable length "
            "(deepspeech2)",
    .predict = predict,
};
