#include "model/amount.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const amount_shape_names[] = { "triangular", "uniform", "lognormal", "set", NULL };

enum { POINTER_BYTES = 512 };
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))
static const double CUT = 0.001; /* of a lognormal amount, at each end */

static double triangular_at(const struct amount *a, double u)
{
    const double width = a->high - a->low, left = a->mode - a->low;
    if (u * width < left) return a->low + sqrt(u * width * left);
    return a->high - sqrt((1 - u) * width * (a->high - a->mode));
}

static double lognormal_at(double median, double sd, double u)
{
    return median * exp(gsl_cdf_gaussian_Pinv(fmin(fmax(u, CUT), 1 - CUT), sd));
}

double amount_at(const struct amount *a, double u)
{
    if (u < 0 || !amount_ranged(a)) return a->mode;
    switch (a->shape) {
    case AMOUNT_UNIFORM: return a->low + u * (a->high - a->low);
    case AMOUNT_LOGNORMAL: return lognormal_at(a->mode, a->sd, u);
    case AMOUNT_SET: {
        const size_t i = (size_t)(u * (double)a->n);
        return a->value[i < a->n ? i : a->n - 1];
    }
    default: return triangular_at(a, u);
    }
}

static double set_share_below(const struct amount *a, double value)
{
    size_t below = 0, equal = 0;
    for (size_t i = 0; i < a->n; i++) {
        below += a->value[i] < value;
        equal += a->value[i] == value;
    }
    return ((double)below + (double)equal / 2) / (double)a->n;
}

double amount_share_below(const struct amount *a, double value)
{
    const double width = a->high - a->low;
    if (!(width > 0)) return 0.5;
    if (a->shape == AMOUNT_SET) return set_share_below(a, value);
    if (value >= a->high) return 1;
    if (value <= a->low) return 0;
    if (a->shape == AMOUNT_UNIFORM) return (value - a->low) / width;
    if (a->shape == AMOUNT_LOGNORMAL) return gsl_cdf_gaussian_P(log(value / a->mode), a->sd);
    if (value < a->mode) return (value - a->low) * (value - a->low) / (width * (a->mode - a->low));
    return 1 - (a->high - value) * (a->high - value) / (width * (a->high - a->mode));
}

void amount_scale(struct amount *a, double factor)
{
    a->low *= factor;
    a->mode *= factor;
    a->high *= factor;
    for (size_t i = 0; i < a->n; i++) a->value[i] *= factor;
}

/* ---- reading ---- */

struct reader {
    const struct json_doc *doc;
    json_t *v;
    const char *at;
    amount_number *number;
    const void *ctx;
    struct diag *d;
};

static double member(const struct reader *r, const char *key)
{
    char here[POINTER_BYTES];
    json_t *one = json_object_get(r->v, key);
    json_pointer_key(here, sizeof here, r->at, key);
    if (one) return r->number(r->ctx, one, here, r->d);
    json_problem(r->d, r->doc, r->at, "missing \"%s\"", key);
    return NAN;
}

static void known_keys(const struct reader *r, enum amount_shape shape)
{
    static const char *const keys[AMOUNT_SHAPES][4] = {
        [AMOUNT_TRIANGULAR] = { "shape", "low", "mode", "high" },
        [AMOUNT_UNIFORM] = { "shape", "low", "high" },
        [AMOUNT_LOGNORMAL] = { "shape", "mode", "sd" },
        [AMOUNT_SET] = { "shape", "set" },
    };
    size_t n = 0;
    while (n < 4 && keys[shape][n]) n++;
    json_known_keys(r->d, r->doc, r->v, r->at, keys[shape], n);
}

/* False after a problem. */
static bool read_shape(const struct reader *r, enum amount_shape *shape)
{
    char here[POINTER_BYTES], found[64];
    const json_t *word = json_object_get(r->v, "shape");
    *shape = json_object_get(r->v, "set") ? AMOUNT_SET : AMOUNT_TRIANGULAR;
    if (!word) return true;
    for (int i = 0; json_is_string(word) && i < AMOUNT_SHAPES; i++)
        if (strcmp(json_string_value(word), amount_shape_names[i]) == 0) {
            *shape = (enum amount_shape)i;
            return true;
        }
    json_problem(r->d, r->doc, json_pointer_key(here, sizeof here, r->at, "shape"),
                 "expected triangular, uniform, lognormal or set, found %s",
                 json_found(found, sizeof found, word));
    return false;
}

static struct amount read_lognormal(const struct reader *r)
{
    char here[POINTER_BYTES], found[64];
    const json_t *sd = json_object_get(r->v, "sd");
    struct amount x = { .mode = member(r, "mode"), .shape = AMOUNT_LOGNORMAL };
    x.sd = json_is_number(sd) ? json_number_value(sd) : NAN;
    if (!(x.sd > 0 && x.sd <= 3))
        json_problem(
            r->d, r->doc, json_pointer_key(here, sizeof here, r->at, "sd"),
            "expected the standard deviation of the logarithm, above 0 and at most 3, found %s",
            json_found(found, sizeof found, sd));
    else
        x.low = lognormal_at(x.mode, x.sd, 0), x.high = lognormal_at(x.mode, x.sd, 1);
    return x;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct amount read_set(const struct reader *r, struct arena *a)
{
    char here[POINTER_BYTES], one[POINTER_BYTES], found[64];
    const json_t *list = json_object_get(r->v, "set");
    struct amount x = { .shape = AMOUNT_SET, .n = json_array_size(list) };
    json_pointer_key(here, sizeof here, r->at, "set");
    if (x.n == 0) {
        json_problem(r->d, r->doc, here, "expected a list of numbers, found %s",
                     json_found(found, sizeof found, list));
        return x;
    }
    x.value = arena_array(a, x.n, sizeof *x.value);
    for (size_t i = 0; i < x.n; i++)
        x.value[i] = r->number(r->ctx, json_array_get(list, i),
                               json_pointer_index(one, sizeof one, here, i), r->d);
    qsort(x.value, x.n, sizeof *x.value, by_value);
    x.low = x.value[0];
    x.mode = x.value[(x.n - 1) / 2];
    x.high = x.value[x.n - 1];
    return x;
}

struct amount amount_read(struct arena *a, const struct json_doc *doc, json_t *v, const char *at,
                          amount_number *number, const void *ctx, struct diag *d)
{
    const struct reader r = { doc, v, at, number, ctx, d };
    enum amount_shape shape;
    if (!json_is_object(v)) return amount_known(number(ctx, v, at, d));
    if (!read_shape(&r, &shape)) return amount_known(NAN);
    known_keys(&r, shape);
    if (shape == AMOUNT_LOGNORMAL) return read_lognormal(&r);
    if (shape == AMOUNT_SET) return read_set(&r, a);
    struct amount x = { .low = member(&r, "low"), .shape = shape };
    if (shape == AMOUNT_TRIANGULAR) x.mode = member(&r, "mode");
    x.high = member(&r, "high");
    if (shape == AMOUNT_UNIFORM) x.mode = (x.low + x.high) / 2;
    if (x.low > x.mode || x.mode > x.high)
        json_problem(d, doc, at, "expected low <= mode <= high, found %g, %g, %g", x.low, x.mode,
                     x.high);
    return x;
}

struct bounds {
    const struct json_doc *doc;
    double low, high;
};

static double read_bounded(const void *ctx, const json_t *v, const char *at, struct diag *d)
{
    const struct bounds *b = ctx;
    char found[64];
    const double x = json_is_number(v) ? json_number_value(v) : NAN;
    if (x >= b->low && x <= b->high) return x;
    struct err *e = json_problem(d, b->doc, at, "expected a number from %.9g to %.9g, found %s",
                                 b->low, b->high, json_found(found, sizeof found, v));
    if (b->high <= 1 && x > 1 && x <= 100)
        err_hint(e, "ratios are not percent: write %.9g for %.9g %%", x / 100, x);
    return NAN;
}

struct amount amount_read_within(struct arena *a, const struct json_doc *doc, json_t *v,
                                 const char *at, double low, double high, struct diag *d)
{
    const struct bounds b = { doc, low, high };
    const size_t before = d->count;
    const struct amount x = amount_read(a, doc, v, at, read_bounded, &b, d);
    if (d->count == before && (x.low < low || x.high > high)) /* ends of a lognormal amount */
        json_problem(d, doc, at, "expected numbers from %.9g to %.9g, found %.6g to %.6g", low,
                     high, x.low, x.high);
    return x;
}
