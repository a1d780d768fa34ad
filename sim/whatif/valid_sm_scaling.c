/* Speed with part of a card's SMs, memory and L2 shared (green contexts on an H200): the cap of
 * "mps". One point a workload, at its fewest SMs, gives the share of its time that SMs bound; the
 * others are predicted. The point of a file of one's own may be a row of the reference. */
#include "whatif/measured.h"
#include "whatif/validate.h"

#include <math.h>
#include <string.h>

struct row {
    const char *gpu, *workload;
    double total, sms, speed;
};
static const struct measured_column columns[] = {
    MEASURED_TEXT(struct row, gpu, "gpu"),
    MEASURED_TEXT(struct row, workload, "workload"),
    MEASURED_NUMBER(struct row, total, "total_sms", 1, 1000),
    MEASURED_NUMBER(struct row, sms, "sms", 1, 1000),
    MEASURED_NUMBER(struct row, speed, "rel_throughput", 1e-4, 1.05),
};
typedef VEC(struct row) row_list;

static int read_rows(row_list *rows, const char *path, struct arena *a, struct err *e)
{
    struct measured *m = NULL;
    struct row row;
    int rc = measured_open(&m, path, columns, sizeof columns / sizeof *columns, a, e);
    while (rc == 0 && (rc = measured_next(m, &row, e)) > 0) {
        rc = row.sms > row.total ? measured_error(m, e, "sms: %g of %g", row.sms, row.total) : 0;
        vec_push(rows, row);
    }
    measured_close(m);
    return rc;
}

/* The row of the same workload and card with the fewest SMs; NULL: none. */
static const struct row *anchor_in(const row_list *rows, const struct row *r)
{
    const struct row *best = NULL;
    for (size_t i = 0; i < rows->n; i++) {
        const struct row *x = &rows->v[i];
        if (strcmp(x->workload, r->workload) == 0 && strcmp(x->gpu, r->gpu) == 0 &&
            (!best || x->sms < best->sms))
            best = x;
    }
    return best;
}

/* time = (1 - p) + p S / s at the anchor, solved for p. */
static double bound_share(const struct row *anchor)
{
    const double p = (1 / anchor->speed - 1) / (anchor->total / anchor->sms - 1);
    return fmin(1.0, fmax(0.0, p));
}

static double predicted(const struct valid_share *mps, const struct row *r, double p)
{
    struct signature s = signature_default();
    struct demand demand = valid_demand();
    const struct signature *sigs[] = { &s };
    const struct demand *demands[] = { &demand };
    double speed;
    s.host = 1 - p;
    s.compute = p;
    s.sm_width = s.bw_width = 1;
    demand.core_cap = r->sms / r->total;
    valid_share_speeds(mps, sigs, demands, 1, &speed);
    return speed;
}

static int predict(const struct world *w, const char *path, struct arena *a, valid_rows *out,
                   struct err *e)
{
    struct valid_share mps = { 0 };
    row_list rows = { 0 }, background = { 0 };
    const char *also = valid_background(valid_find("sm_scaling", NULL), path, a);
    int rc = read_rows(&rows, path, a, e);
    if (rc == 0 && also) rc = read_rows(&background, also, a, e);
    for (size_t i = 0; rc == 0 && i < rows.n; i++) {
        const struct row *r = &rows.v[i], *anchor = anchor_in(&background, r);
        if (!anchor) anchor = anchor_in(&rows, r);
        BUG_ON(!anchor); /* `r` itself would do */
        if (r->sms == anchor->sms || r->sms == r->total) continue; /* known beforehand */
        rc = valid_share_bind(&mps, w, a, "mps", r->gpu, NULL, e);
        if (rc < 0) break;
        const struct valid_row row = {
            .group = r->workload,
            .label = arena_printf(a, "%s, %g of %g SMs", r->workload, r->sms, r->total),
            .measured = r->speed,
            .predicted = predicted(&mps, r, bound_share(anchor)),
            .naive = r->sms / r->total,
        };
        vec_push(out, row);
    }
    vec_fini(&rows);
    vec_fini(&background);
    return rc;
}

static const struct valid_bar bars[] = { { NULL, VALID_MAPE, 0.03 } };

const struct valid_set valid_sm_scaling = {
    .name = "sm_scaling",
    .help = "speed on part of the SMs, from one point at the fewest",
    .reference = "sm_scaling.csv",
    .naive = "speed in proportion to the SMs",
    .unit = "of the whole card",
    .policies = "mps",
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    .bars = bars,
    .n_bars = sizeof bars / sizeof *bars,
    .note = "five rows of two workloads; the third is host bound, flat, and has no row between its "
            "anchor and the whole card",
    .predict = predict,
};
