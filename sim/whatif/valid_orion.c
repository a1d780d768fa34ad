/* whatif/valid_orion.c - how much one microsecond more per GPU operation slows a model down when
 * nothing hides it (kernel profiles of Orion, EuroSys 2024, on a V100): the launch cost of
 * "intercept" at operations per second of the profile. Durations come from a kernel profiler, with
 * all gaps left out, so this checks the arithmetic of the cost, not how much of it real programs
 * hide. */
#include "whatif/measured.h"
#include "whatif/validate.h"

#include <math.h>

struct model_row {
    const char *model, *phase;
    double batch, operations, gpu_us, slowdown;
};
static const struct measured_column columns[] = {
    MEASURED_TEXT(struct model_row, model, "model"),
    MEASURED_TEXT(struct model_row, phase, "phase"),
    MEASURED_NUMBER(struct model_row, batch, "batch", 1, 1e9),
    MEASURED_NUMBER(struct model_row, operations, "ops_per_iter", 1, 1e9),
    MEASURED_NUMBER(struct model_row, gpu_us, "gpu_us_per_iter", 1e-3, 1e12),
    MEASURED_NUMBER(struct model_row, slowdown, "slowdown_frac_per_us_of_unhidden_launch_cost",
                    1e-9, 1e3),
};

static int predict(const struct world *w, const char *path, struct arena *a, valid_rows *out,
                   struct err *e)
{
    struct valid_share share;
    struct measured *m = NULL;
    struct model_row r;
    int rc =
        valid_share_bind(&share, w, a, "intercept", "v100-sxm2-16gb", "{\"launch\": \"1 us\"}", e);
    if (rc == 0) rc = measured_open(&m, path, columns, sizeof columns / sizeof *columns, a, e);
    while (rc == 0 && (rc = measured_next(m, &r, e)) > 0) {
        struct signature sig = signature_default();
        const struct signature *alone = &sig;
        double speed;
        sig.sm_width = sig.bw_width = 1;
        sig.launches_per_s = r.operations / (r.gpu_us * 1e-6);
        valid_share_speeds(&share, &alone, NULL, 1, &speed);
        const struct valid_row row = {
            .group = r.phase,
            .label = arena_printf(a, "%s batch %g, %s", r.model, r.batch, r.phase),
            .measured = 1 + r.slowdown,
            .predicted = 1 / speed,
            .naive = 1,
        };
        vec_push(out, row);
        rc = 0;
    }
    measured_close(m);
    return rc;
}

static const struct valid_bar bars[] = { { NULL, VALID_MAPE, 0.005 } };

const struct valid_set valid_orion = {
    .name = "orion",
    .help = "models slowed by a microsecond more per operation that nothing hides",
    .reference = "kernel_mix_orion.csv",
    .naive = "a launch costs nothing",
    .unit = "times the time without",
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    .bars = bars,
    .n_bars = sizeof bars / sizeof *bars,
    .note =
        "the file's last column is operations over their time, so this checks the arithmetic of the launch "
        "cost and no more: real programs hide most of it behind work",
    .predict = predict,
};
