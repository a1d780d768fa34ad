#include "metrics/stability.h"

#include <gsl/gsl_fit.h>
#include <math.h>

enum { MAX_BATCHES = 256 };

void stability_growth(const double *batch, size_t n, double *growth, double *standard_error)
{
    double x[MAX_BATCHES] = { 0 }, intercept, slope, c00, c01, c11, squares;
    *growth = *standard_error = 0;
    if (n < 3 || n > MAX_BATCHES) return;
    for (size_t i = 0; i < n; i++) x[i] = (double)i;
    gsl_fit_linear(x, 1, batch, 1, n, &intercept, &slope, &c00, &c01, &c11, &squares);
    double lagged = 0;
    for (size_t i = 1; i < n; i++)
        lagged +=
            (batch[i] - intercept - slope * x[i]) * (batch[i - 1] - intercept - slope * x[i - 1]);
    const double rho = squares > 0 ? fmin(0.95, fmax(0, lagged / squares)) : 0;
    *growth = slope * (double)(n - 1);
    *standard_error = sqrt(c11) * (double)(n - 1) * sqrt((1 + rho) / (1 - rho));
}

struct queue_trend stability_trend(const double *batch, size_t n, double mean_before,
                                   double share_waiting)
{
    struct queue_trend t = { .known = true, .before = mean_before, .waiting = share_waiting };
    stability_growth(batch, n, &t.growth, &t.error);
    for (size_t i = 0; i < n; i++) t.last += batch[i] / (double)n;
    return t;
}

bool stability_is_stable(const struct queue_trend *t)
{
    if (!t->known || t->last < 1.3 * t->before) return true;
    if (t->waiting > 0.1) return false;
    return t->growth < 1.0 || t->growth <= t->error || t->waiting < STABILITY_LEAST_WAITING;
}
