/* whatif/valid_launch.c - what an interception library adds to a launch, to a context and to the
 * start of a process, against published pairs of native and hooked figures. All are ratios to
 * native, or to one process alone. Figures that their source calls bimodal are left out.
 *
 * A launch and wait is a job that does nothing else: launches_per_s = 1 / native time. */
#include "base/mem.h"
#include "whatif/measured.h"
#include "whatif/validate.h"

#include <math.h>
#include <string.h>

struct launch_row {
    const char *metric, *layer, *gpu, *quality;
    double value;
};
static const struct measured_column columns[] = {
    MEASURED_TEXT(struct launch_row, metric, "metric"),
    MEASURED_TEXT(struct launch_row, layer, "layer"),
    MEASURED_TEXT(struct launch_row, gpu, "gpu"),
    MEASURED_TEXT(struct launch_row, quality, "quality"),
    MEASURED_NUMBER(struct launch_row, value, "value", 1e-6, 1e12),
};
typedef VEC(struct launch_row) launch_rows;

static int read_rows(const char *path, struct arena *a, launch_rows *out, struct err *e)
{
    struct measured *m = NULL;
    struct launch_row r;
    int rc = measured_open(&m, path, columns, sizeof columns / sizeof *columns, a, e);
    while (rc == 0 && (rc = measured_next(m, &r, e)) > 0) {
        vec_push(out, r);
        rc = 0;
    }
    measured_close(m);
    return rc;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The native figure beside a hooked one, of the file itself before those of the reference: of
 * the same day where the file names its quota ("25" of hami_core_25pct in
 * native_same_day_as_25_50_100pct), else the plain one. */
static const struct launch_row *native_of(const launch_rows *rows, const struct launch_row *r)
{
    const struct launch_row *found = NULL;
    const char *mark = r->layer + strcspn(r->layer, "0123456789");
    const size_t digits = strspn(mark, "0123456789");
    for (size_t i = 0; i < rows->n; i++) {
        const struct launch_row *k = &rows->v[i];
        if (strcmp(k->metric, r->metric) != 0 || strcmp(k->gpu, r->gpu) != 0) continue;
        if (strcmp(k->layer, "native") == 0 && !found) found = k;
        if (!starts(k->layer, "native_same_day") || digits == 0) continue;
        for (const char *p = k->layer; *p; p++)
            if (strncmp(p, mark, digits) == 0) return k;
    }
    return found;
}

static double start_s(const struct valid_share *s, size_t residents)
{
    return simtime_s(s->ops->startup(s->params, &s->type, residents));
}

static double hooked_launch(const struct valid_share *s, double native_us)
{
    struct signature sig = signature_default();
    const struct signature *alone = &sig;
    double speed = NAN;
    sig.sm_width = sig.bw_width = 1;
    sig.launches_per_s = 1e6 / native_us;
    valid_share_speeds(s, &alone, NULL, 1, &speed);
    return 1 / speed;
}

static bool predict_row(const struct valid_share *s, const launch_rows *rows,
                        const struct launch_row *r, struct valid_row *out)
{
    int processes = 0;
    if (starts(r->quality, "bimodal")) return false;
    if (sscanf(r->metric, "shared_region_init_p50_%d_processes", &processes) == 1) {
        if (processes < 2) return false;
        out->group = "start-up beside others";
        out->predicted = start_s(s, (size_t)processes - 1) / start_s(s, 0);
        out->measured = NAN;
        for (size_t i = 0; i < rows->n; i++)
            if (strcmp(rows->v[i].metric, "shared_region_init_p50_1_processes_at_once") == 0 &&
                isnan(out->measured))
                out->measured = r->value / rows->v[i].value;
        return out->measured > 0;
    }
    const struct launch_row *native = native_of(rows, r);
    if (starts(r->layer, "native") || !native) return false;
    out->measured = r->value / native->value;
    if (starts(r->metric, "empty_kernel_launch")) {
        out->group = "launch and wait";
        out->predicted = hooked_launch(s, native->value);
        return true;
    }
    if (!starts(r->metric, "context_creation")) return false;
    out->group = "context creation";
    out->predicted = 1 + start_s(s, 0) * 1e6 / native->value;
    return true;
}

static int predict(const struct world *w, const char *path, struct arena *a, valid_rows *out,
                   struct err *e)
{
    launch_rows rows = { 0 };
    struct valid_share share;
    const char *also = valid_background(valid_find("launch", NULL), path, a);
    int rc = valid_share_bind(&share, w, a, "intercept", "a100-sxm4-40gb", NULL, e);
    if (rc == 0) rc = read_rows(path, a, &rows, e);
    const size_t asked = rows.n;
    if (rc == 0 && also) rc = read_rows(also, a, &rows, e);
    for (size_t i = 0; rc == 0 && i < asked; i++) {
        struct valid_row row = { .naive = 1 };
        if (!predict_row(&share, &rows, &rows.v[i], &row)) continue;
        row.label = arena_printf(a, "%s, %s, %s", rows.v[i].metric, rows.v[i].layer, rows.v[i].gpu);
        vec_push(out, row);
    }
    vec_fini(&rows);
    return rc;
}

static const struct valid_bar bars[] = { { "launch and wait", VALID_MAPE, 0.05 } };

const struct valid_set valid_launch = {
    .name = "launch",
    .help = "launch, context and start-up under an interception library",
    .reference = "launch_overheads.csv",
    .naive = "the library costs nothing",
    .unit = "times native",
    .policies = "intercept",
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    .bars = bars,
    .n_bars = sizeof bars / sizeof *bars,
    .note =
        "the difference of hooked and native launches is the size of their day-to-day spread, and the "
        "profile's range, 175 to 450 ns, is that spread; start-up is a median over five repetitions",
    .predict = predict,
};
