#include "whatif/interval.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

static struct interval none(size_t n)
{
    return (struct interval){ n, NAN, NAN, NAN, NAN };
}

/* A sum of doubles is good to no more: what is left over from rounding is no spread. */
#define ROUNDING 1e-12

static void widen(struct interval *i)
{
    if (i->error <= ROUNDING * fabs(i->mean)) i->error = 0;
    i->half = i->error > 0 ? gsl_cdf_tdist_Pinv(0.975, i->freedom) * i->error : i->error;
}

struct interval interval_student(const double *x, size_t n)
{
    struct interval i = none(n);
    double sum = 0, squares = 0;
    for (size_t k = 0; k < n; k++) sum += x[k];
    if (n == 0 || !isfinite(sum)) return i;
    i.mean = sum / (double)n;
    if (n < 2) return i;
    for (size_t k = 0; k < n; k++) squares += (x[k] - i.mean) * (x[k] - i.mean);
    i.freedom = (double)(n - 1);
    i.error = sqrt(squares / i.freedom / (double)n);
    widen(&i);
    return i;
}

struct interval interval_jackknife(const struct batch *b, size_t n)
{
    double sum = 0, mean = 0, squares = 0;
    uint64_t count = 0;
    size_t used = 0;
    for (size_t k = 0; k < n; k++) {
        sum += b[k].sum;
        count += b[k].n;
        used += b[k].n > 0;
    }
    struct interval i = none(used);
    if (used == 0) return i;
    i.mean = sum / (double)count;
    if (used < 2) return i;
    for (size_t k = 0; k < n; k++)
        if (b[k].n > 0) mean += (sum - b[k].sum) / (double)(count - b[k].n) / (double)used;
    for (size_t k = 0; k < n; k++) {
        if (b[k].n == 0) continue;
        const double off = (sum - b[k].sum) / (double)(count - b[k].n) - mean;
        squares += off * off;
    }
    i.freedom = (double)(used - 1);
    i.error = sqrt(squares * i.freedom / (double)used);
    widen(&i);
    return i;
}

struct interval interval_with_freedom(const struct interval *i)
{
    struct interval out = *i;
    widen(&out);
    return out;
}

struct interval interval_difference(const struct interval *a, const struct interval *b)
{
    struct interval i = none(a->n < b->n ? a->n : b->n);
    const double va = a->error * a->error, vb = b->error * b->error;
    i.mean = b->mean - a->mean;
    i.error = sqrt(va + vb);
    if (!isfinite(i.error)) return i;
    i.freedom = va + vb > 0 ? (va + vb) * (va + vb) / (va * va / a->freedom + vb * vb / b->freedom)
                            : a->freedom + b->freedom;
    widen(&i);
    return i;
}

double interval_p_value(const struct interval *i)
{
    if (!isfinite(i->error)) return NAN;
    if (i->mean == 0) return 1;
    if (i->error == 0) return 0;
    return 2 * gsl_cdf_tdist_Q(fabs(i->mean) / i->error, i->freedom);
}
