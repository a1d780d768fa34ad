/* A 1g.10gb slice of an A100 against the whole card (MLPerf inference v1.0): how much of the throughput it has, and
 * how much longer a single request takes. Predicted from two figures of the whole card: a batch takes a floor
 * and its work (policy/batch.h, bend 1); work = 1 / offline rate, floor = single stream less that; the slice
 * stretches the work as share_mig does, and not the floor. Baseline: a seventh, and seven times. */
#include "policy/batch.h"
#include "whatif/validate.h"

#include <math.h>
#include <string.h>

struct row {
    const char *model, *kind;
    double whole_per_s, slice_per_s, whole_ms, slice_ms;
};
static const struct measured_column columns[] = {
    MEASURED_TEXT(struct row, model, "model"),
    MEASURED_TEXT(struct row, kind, "kind"),
    MEASURED_NUMBER(struct row, whole_per_s, "whole_per_s", 1e-6, 1e9),
    MEASURED_NUMBER(struct row, slice_per_s, "slice_per_s", 1e-6, 1e9),
    MEASURED_NUMBER(struct row, whole_ms, "whole_ms", 1e-6, 1e9),
    MEASURED_NUMBER(struct row, slice_ms, "slice_ms", 1e-6, 1e9),
};

/* Speed of work that fills the card on a 1g slice, by the policy of a run. */
static int slice_speed(double *speed, const struct world *w, struct arena *a, struct err *e)
{
    struct valid_share mig;
    struct signature sig = signature_default();
    struct demand d = valid_demand();
    const struct signature *const sigs[] = { &sig };
    const struct demand *const demands[] = { &d };
    const int rc = valid_share_bind(&mig, w, a, "mig", "a100-sxm4-80gb", NULL, e);
    if (rc != 0) return rc;
    sig.sm_width = sig.bw_width = 1;
    d.mig_profile = mig_profile_find(mig.type.gpu->mig, "1g.10gb");
    valid_share_speeds(&mig, sigs, demands, 1, speed);
    return 0;
}

static void add(struct arena *a, valid_rows *out, const struct row *r, double speed)
{
    const double work_ns = 1e9 / r->whole_per_s;
    const struct batch_curve curve = { .floor = (simtime)fmax(0, 1e6 * r->whole_ms - work_ns),
                                       .bend = 1 };
    const struct valid_row rate = { .group = "throughput",
                                    .label = r->model,
                                    .measured = r->slice_per_s / r->whole_per_s,
                                    .predicted = speed,
                                    .naive = 1.0 / 7 };
    const struct valid_row latency = {
        .group = arena_printf(a, "single stream, %s", r->kind),
        .label = r->model,
        .measured = r->slice_ms / r->whole_ms,
        .predicted = batch_ns(&curve, 1, work_ns / speed, work_ns / speed) /
                     batch_ns(&curve, 1, work_ns, work_ns),
        .naive = 7,
    };
    vec_push(out, rate);
    vec_push(out, latency);
}

static int predict(const struct world *w, const char *path, struct arena *a, valid_rows *out,
                   struct err *e)
{
    struct measured *m = NULL;
    struct row row;
    double speed;
    int rc = slice_speed(&speed, w, a, e);
    if (rc == 0) rc = measured_open(&m, path, columns, sizeof columns / sizeof *columns, a, e);
    while (rc == 0 && (rc = measured_next(m, &row, e)) > 0) {
        if (strcmp(row.kind, "images") != 0 && strcmp(row.kind, "sequences") != 0)
            rc = measured_error(m, e, "kind: expected images or sequences, found \"%.60s\"",
                                row.kind);
        else
            rc = 0;
        if (rc == 0) add(a, out, &row, speed);
    }
    measured_close(m);
    return rc;
}

static const struct valid_bar bars[] = {
    { "throughput", VALID_MAPE, 0.10 },
    { "single stream, images", VALID_WORST, 0.10 },
};

const struct valid_set valid_mlperf_slice = {
    .name = "mlperf_slice",
    .help = "a 1g slice over the whole A100: throughput, and latency of a single stream",
    .file = "mlperf_slice.csv",
    .naive = "a seventh of the throughput, seven times the latency",
    .unit = "ratio",
    .policies = "mig",
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    .bars = bars,
    .n_bars = sizeof bars / sizeof *bars,
    .note =
        "single stream of sequences: BERT and RNN-T run many small kernels one after another for one request, which "
        "neither fill the card nor are a floor; two figures of the whole card do not tell that",
    .predict = predict,
};
