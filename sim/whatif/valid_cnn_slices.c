/* Throughput of small CNNs on MIG slices of an A100-80GB, one to five processes in the slice under
 * MPS (ParvaGPU, SC 2024): constants of the network -> signature (model/batchwork.h) -> the speeds
 * of "mig" for the slice, and of "mps" among the processes in it. */
#include "base/datadir.h"
#include "model/batchwork.h"
#include "model/mig.h"
#include "whatif/fit.h"
#include "whatif/measured.h"
#include "whatif/validate.h"

#include <math.h>
#include <string.h>

#define CARD     "a100-sxm4-80gb"
#define LEFT_OUT ", left out of fit"

enum {
    MAX_PROCESSES = 32,
    LEAST_ROWS = 8, /* to fit six constants */
    CONSTANTS = 6,
    FITS = 5, /* each from where the last one stopped, with steps anew */
};

/* ---- measured rows ---- */

struct row {
    const char *model;
    double slices, batch, processes, rate; /* samples per second and process */
};
static const struct measured_column columns[] = {
    MEASURED_TEXT(struct row, model, "model"),
    MEASURED_NUMBER(struct row, slices, "gpc_slices", 1, 7),
    MEASURED_NUMBER(struct row, batch, "batch", 1, 1e6),
    MEASURED_NUMBER(struct row, processes, "mps_procs", 1, MAX_PROCESSES),
    MEASURED_NUMBER(struct row, rate, "throughput_per_proc", 1e-6, 1e9),
};

struct network {
    const char *model;
    double floor_ms, fixed_ms, one_ms, compute_ms, memory_ms, copy_ms;
};
static const struct measured_column network_columns[] = {
    MEASURED_TEXT(struct network, model, "model"),
    MEASURED_NUMBER(struct network, floor_ms, "floor_ms", 0, 1e4),
    MEASURED_NUMBER(struct network, fixed_ms, "fixed_ms", 0, 1e4),
    MEASURED_NUMBER(struct network, one_ms, "one_ms", 0, 1e4),
    MEASURED_NUMBER(struct network, compute_ms, "compute_ms_per_sample", 0, 1e4),
    MEASURED_NUMBER(struct network, memory_ms, "memory_ms_per_sample", 0, 1e4),
    MEASURED_NUMBER(struct network, copy_ms, "copy_ms_per_sample", 0, 1e4),
};

struct point {
    struct row row;
    int profile;
    double sm_share;               /* of the largest slice */
    const struct batch_work *work; /* NULL: no constants for this network */
};

struct data {
    struct valid_share mig, mps;
    VEC(struct network) networks;
    VEC(struct point) points;
    /* what a fit may see */
    const char *model;
    bool (*seen)(const struct row *row, size_t i);
};

/* The plain profile with this many compute slices; the one with less memory of two. -1: none. */
static int profile_of(const struct mig_geometry *g, int slices)
{
    int best = -1;
    for (int i = 0; i < g->n_profiles; i++) {
        const struct mig_profile *p = &g->profile[i];
        if (!p->plain || p->compute_slices != slices) continue;
        if (best < 0 || p->memory_units < g->profile[best].memory_units) best = i;
    }
    return best;
}

static int read_networks(struct data *d, struct arena *a, struct err *e)
{
    char path[4096];
    struct measured *m = NULL;
    struct network n;
    int rc = measured_open(&m, datadir_path(path, sizeof path, "measured/cnn_models.csv"),
                           network_columns, sizeof network_columns / sizeof *network_columns, a, e);
    while (rc == 0 && (rc = measured_next(m, &n, e)) > 0) {
        vec_push(&d->networks, n);
        rc = 0;
    }
    measured_close(m);
    return rc;
}

static const struct batch_work *work_of(const struct data *d, struct arena *a, const char *model)
{
    for (size_t i = 0; i < d->networks.n; i++) {
        const struct network *n = &d->networks.v[i];
        if (strcmp(n->model, model) != 0) continue;
        struct batch_work *w = arena_alloc(a, sizeof *w);
        *w = (struct batch_work){ n->floor_ms / 1e3,   n->fixed_ms / 1e3,  n->one_ms / 1e3,
                                  n->compute_ms / 1e3, n->memory_ms / 1e3, n->copy_ms / 1e3 };
        return w;
    }
    return NULL;
}

static int read_points(struct data *d, const char *path, struct arena *a, struct err *e)
{
    const struct gpu_spec *gpu = d->mig.type.gpu;
    const double whole = mig_sm_share(gpu, profile_of(gpu->mig, gpu->mig->compute_slices), NULL);
    struct measured *m = NULL;
    struct row row;
    int rc = measured_open(&m, path, columns, sizeof columns / sizeof *columns, a, e);
    while (rc == 0 && (rc = measured_next(m, &row, e)) > 0) {
        const struct point p = { row, profile_of(gpu->mig, (int)row.slices), 0,
                                 work_of(d, a, row.model) };
        rc = p.profile < 0
                 ? measured_error(m, e, "gpc_slices: no slice of %g on %s", row.slices, gpu->name)
                 : 0;
        if (rc < 0) break;
        vec_push(&d->points, p);
        d->points.v[d->points.n - 1].sm_share = mig_sm_share(gpu, p.profile, NULL) / whole;
    }
    measured_close(m);
    return rc;
}

/* ---- prediction ---- */

/* What a job looks like to those who share its slice: the slice is their card. */
static struct signature inside_slice(const struct data *d, const struct signature *s, int profile,
                                     double slowdown)
{
    const double sm = mig_sm_share(d->mig.type.gpu, profile, NULL),
                 bw = mig_bw_share(d->mig.type.gpu, profile);
    struct signature in = *s;
    in.host = s->host / slowdown;
    in.compute = s->compute * fmax(1.0, s->sm_width / sm) / slowdown;
    in.memory = s->memory * fmax(1.0, s->bw_width / bw) / slowdown;
    in.sm_width = fmin(1.0, s->sm_width / sm);
    in.bw_width = fmin(1.0, s->bw_width / bw);
    return in;
}

/* Samples per second of one of `processes` in the slice. */
static double rate_of(const struct data *d, const struct point *p, const struct batch_work *work)
{
    const size_t n = (size_t)p->row.processes;
    const struct signature sig = batch_signature(work, p->row.batch);
    struct demand demand = valid_demand();
    const struct signature *sigs[MAX_PROCESSES] = { &sig };
    const struct demand *demands[MAX_PROCESSES] = { &demand };
    double on_slice, beside[MAX_PROCESSES];
    demand.mig_profile = p->profile;
    valid_share_speeds(&d->mig, sigs, demands, 1, &on_slice);
    const struct signature in = inside_slice(d, &sig, p->profile, 1 / on_slice);
    for (size_t i = 0; i < n; i++) sigs[i] = &in;
    valid_share_speeds(&d->mps, sigs, NULL, n, beside);
    return p->row.batch / batch_time_s(work, p->row.batch) * on_slice * beside[0];
}

static void add(struct data *d, struct arena *a, valid_rows *out, const struct point *p,
                const char *group, bool aside, const struct batch_work *work)
{
    const struct row *r = &p->row;
    const struct valid_row row = {
        .group = group,
        .label = arena_printf(a, "%s %gg batch %g processes %g", r->model, r->slices, r->batch,
                              r->processes),
        .measured = r->rate,
        .predicted = work ? rate_of(d, p, work) : (double)NAN,
        .naive = work ? r->batch / batch_time_s(work, r->batch) * p->sm_share / r->processes
                      : (double)NAN,
        .aside = aside,
    };
    vec_push(out, row);
}

/* ---- constants from part of the rows ---- */

static struct batch_work work_from(const double x[])
{
    return (struct batch_work){ fabs(x[0]), fabs(x[1]), fabs(x[2]),
                                fabs(x[3]), fabs(x[4]), fabs(x[5]) };
}

static double fit_error(const double x[], void *ctx)
{
    const struct data *d = ctx;
    const struct batch_work work = work_from(x);
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < d->points.n; i++) {
        const struct point *p = &d->points.v[i];
        if (strcmp(p->row.model, d->model) != 0 || !d->seen(&p->row, i)) continue;
        sum += fabs(rate_of(d, p, &work) / p->row.rate - 1);
        n++;
    }
    return n ? sum / (double)n : 0;
}

static size_t rows_seen(const struct data *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->points.n; i++)
        n += strcmp(d->points.v[i].row.model, d->model) == 0 && d->seen(&d->points.v[i].row, i);
    return n;
}

/* Predict the rows that a fit did not see, network by network; group NULL: one for each. */
static void hold_out(struct data *d, struct arena *a, valid_rows *out, const char *group,
                     bool (*seen)(const struct row *, size_t))
{
    for (size_t k = 0; k < d->networks.n; k++) {
        /* the order of size of any such network */
        double x[CONSTANTS] = { 5e-3, 5e-4, 1e-3, 3e-4, 1e-4, 3e-5 };
        d->model = d->networks.v[k].model;
        d->seen = seen;
        if (rows_seen(d) < LEAST_ROWS) continue;
        for (int i = 0; i < FITS; i++) fit_least(x, CONSTANTS, 0.5, 300, fit_error, d);
        const struct batch_work work = work_from(x);
        for (size_t i = 0; i < d->points.n; i++) {
            const struct point *p = &d->points.v[i];
            if (strcmp(p->row.model, d->model) != 0 || seen(&p->row, i)) continue;
            add(d, a, out, p, group ? group : arena_printf(a, "%s" LEFT_OUT, p->row.model), true,
                &work);
        }
    }
}

static bool every_other(const struct row *row, size_t i)
{
    (void)row;
    return i % 2 == 0;
}
static bool every_second(const struct row *row, size_t i)
{
    return !every_other(row, i);
}
/* What anyone can measure in an hour: one process, smallest and largest slice. */
static bool alone_on_extremes(const struct row *row, size_t i)
{
    (void)i;
    return row->processes == 1 && (row->slices == 1 || row->slices == 7);
}

static int predict(const struct world *w, const char *path, struct arena *a, valid_rows *out,
                   struct err *e)
{
    struct data d = { 0 };
    int rc = valid_share_bind(&d.mig, w, a, "mig", CARD, NULL, e);
    if (rc == 0) rc = valid_share_bind(&d.mps, w, a, "mps", CARD, "{\"slots\": 32, \"cap\": 1}", e);
    if (rc == 0) rc = read_networks(&d, a, e);
    if (rc == 0) rc = read_points(&d, path, a, e);
    for (size_t i = 0; rc == 0 && i < d.points.n; i++)
        add(&d, a, out, &d.points.v[i], d.points.v[i].row.model, false, d.points.v[i].work);
    if (rc == 0) {
        hold_out(&d, a, out, NULL, every_other);
        hold_out(&d, a, out, NULL, every_second);
        hold_out(&d, a, out, "fitted to 1 process, 1g and 7g", alone_on_extremes);
    }
    vec_fini(&d.networks);
    vec_fini(&d.points);
    return rc;
}

static const struct valid_bar bars[] = {
    { NULL, VALID_MAPE, 0.10 },
    { "densenet121" LEFT_OUT, VALID_MAPE, 0.10 },
    { "densenet201" LEFT_OUT, VALID_MAPE, 0.10 },
    { "inceptionv3" LEFT_OUT, VALID_MAPE, 0.10 },
    { "mobilenetv2" LEFT_OUT, VALID_MAPE, 0.10 },
    { "resnet101" LEFT_OUT, VALID_MAPE, 0.10 },
    { "resnet50" LEFT_OUT, VALID_MAPE, 0.10 },
    { "vgg16" LEFT_OUT, VALID_MAPE, 0.10 },
};

const struct valid_set valid_cnn_slices = {
    .name = "cnn_slices",
    .help = "throughput of small CNNs on slices, 1 to 5 processes in each under MPS",
    .file = "cnn_slices.csv",
    .reference = "llm/cnn_a100_mig_mps.csv",
    .naive = "speed of the whole card in proportion to SMs, divided by the processes",
    .unit = "samples/s a process",
    .policies = "mig mps",
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    .bars = bars,
    .n_bars = sizeof bars / sizeof *bars,
    .note =
        "the network constants in measured/cnn_models.csv are fitted to these rows; the groups with * show what "
        "they predict when they may not see them: left out of fit = fitted to every other row, both ways round",
    .predict = predict,
};
