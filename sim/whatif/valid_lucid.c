/* whatif/valid_lucid.c - two training jobs on one card against how busy the card is while they
 * share it: averages over bands of utilisation (Lucid, ASPLOS 2023; the pairs themselves may not
 * ship).
 *
 * Both jobs of a pair are taken as alike, with the host share at which the card is as busy as the
 * middle of the band: utilisation counts time with a kernel of either, 1 - (host x speed)^2. The
 * speed is then that of "mps" without cap, at one width of kernels for all bands, fitted to the
 * other bands; "turns" is what "timeslice" says, which has nothing to fit. */
#include "whatif/fit.h"
#include "whatif/measured.h"
#include "whatif/validate.h"

#include <math.h>

struct band {
    double low, high, pairs, speed;
};
static const struct measured_column columns[] = {
    MEASURED_NUMBER(struct band, low, "device_utilization_of_pair_low_pct", 0, 100),
    MEASURED_NUMBER(struct band, high, "device_utilization_of_pair_high_pct", 0, 100),
    MEASURED_OPTIONAL(struct band, pairs, "pairs", 1, 1e9),
    MEASURED_NUMBER(struct band, speed, "mean_norm_speed", 1e-3, 1.05),
};
typedef VEC(struct band) bands;

struct data {
    struct valid_share mps, turns;
    bands band; /* those that are asked about, then those of the reference */
    size_t asked, without;
};

static int read_rows(bands *out, const char *path, struct arena *a, struct err *e)
{
    struct measured *m = NULL;
    struct band b;
    int rc = measured_open(&m, path, columns, sizeof columns / sizeof *columns, a, e);
    while (rc == 0 && (rc = measured_next(m, &b, e)) > 0) {
        rc = b.high > b.low ? 0
                            : measured_error(m, e,
                                             "device_utilization_of_pair_high_pct: %g is not above "
                                             "%g",
                                             b.high, b.low);
        vec_push(out, b);
    }
    measured_close(m);
    return rc;
}

static double speed_at(const struct valid_share *share, double host, double width)
{
    struct signature s = signature_default();
    const struct signature *both[] = { &s, &s };
    double speed[2];
    s.host = host;
    s.compute = 1 - host;
    s.sm_width = s.bw_width = width;
    valid_share_speeds(share, both, NULL, 2, speed);
    return speed[0];
}

/* Speed of each at the host share that makes the card so busy: busy falls as the host share
 * grows. */
static double speed_when_busy(const struct valid_share *share, const struct band *b, double width)
{
    const double wanted = (b->low + b->high) / 200;
    double lo = 0, hi = 1;
    for (int round = 0; round < 50; round++) {
        const double host = 0.5 * (lo + hi), away = host * speed_at(share, host, width);
        if (1 - away * away > wanted)
            lo = host;
        else
            hi = host;
    }
    return speed_at(share, 0.5 * (lo + hi), width);
}

static bool same_band(const struct band *a, const struct band *b)
{
    return a->low == b->low && a->high == b->high;
}

static double misfit(const double x[], void *ctx)
{
    const struct data *d = ctx;
    const double width = fmin(1, fmax(0.01, x[0]));
    double sum = 0;
    for (size_t i = 0; i < d->band.n; i++) {
        const struct band *b = &d->band.v[i];
        if (same_band(b, &d->band.v[d->without])) continue;
        const double off = speed_when_busy(&d->mps, b, width) / b->speed - 1;
        sum += off * off;
    }
    return sum;
}

static void predict_band(struct data *d, size_t i, struct arena *a, valid_rows *out)
{
    const struct band *b = &d->band.v[i];
    double width[] = { 0.7 };
    d->without = i;
    fit_least(width, 1, 0.2, 60, misfit, d);
    struct valid_row row = {
        .group = "kernels side by side",
        .label = arena_printf(a, "card busy %g to %g %%", b->low, b->high),
        .measured = b->speed,
        .predicted = speed_when_busy(&d->mps, b, fmin(1, fmax(0.01, width[0]))),
        .naive = 1,
    };
    vec_push(out, row);
    row.group = "turns";
    row.aside = true;
    row.predicted = speed_when_busy(&d->turns, b, 1);
    vec_push(out, row);
}

static int predict(const struct world *w, const char *path, struct arena *a, valid_rows *out,
                   struct err *e)
{
    struct data d = { 0 };
    const char *also = valid_background(valid_find("lucid", NULL), path, a);
    int rc = valid_share_bind(&d.mps, w, a, "mps", "generic", "{\"cap\": 1}", e);
    if (rc == 0) rc = valid_share_bind(&d.turns, w, a, "timeslice", "generic", NULL, e);
    if (rc == 0) rc = read_rows(&d.band, path, a, e);
    d.asked = d.band.n;
    if (rc == 0 && also) rc = read_rows(&d.band, also, a, e);
    for (size_t i = 0; rc == 0 && i < d.asked; i++) predict_band(&d, i, a, out);
    vec_fini(&d.band);
    return rc;
}

static const struct valid_bar bars[] = { { NULL, VALID_OF_NAIVE, 1 } };

const struct valid_set valid_lucid = {
    .name = "lucid",
    .help = "speed of two jobs on one card, by how busy the card is: averages over 1388 pairs",
    .reference = "colocation_lucid_summary.csv",
    .naive = "nobody is slowed",
    .unit = "of the speed alone",
    .policies = "mps",
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    .bars = bars,
    .n_bars = sizeof bars / sizeof *bars,
    .note =
        "of a pair no more is known than how busy the card is, so both jobs are taken as alike with kernels "
        "of one width; nearly full cards lose more than that, half full ones less",
    .predict = predict,
};
