/* model/amount.h - a number that is known, or known only within a range: prices, shares, powers.
 *
 *     9750                                             known
 *     {"low": 1, "mode": 2, "high": 4}                 triangular
 *     {"shape": "uniform", "low": 1, "high": 4}        every value alike; the mode is the middle
 *     {"shape": "lognormal", "mode": 2, "sd": 0.1}     median, standard deviation of the logarithm
 *     {"set": [3, 4, 4, 5]}                            one of these, each as likely as it is often there;
 *                                                      the mode is the middle one
 * A lognormal amount is cut at its 0.1 % and 99.9 % points, so that it has ends like the others.
 *
 * Ownership: `value` belongs to the arena it was read with. Threads: plain data, pure functions. */
#ifndef GPUSIM_MODEL_AMOUNT_H
#define GPUSIM_MODEL_AMOUNT_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum amount_shape {
    AMOUNT_TRIANGULAR,
    AMOUNT_UNIFORM,
    AMOUNT_LOGNORMAL,
    AMOUNT_SET,
    AMOUNT_SHAPES
};
extern const char *const amount_shape_names[]; /* "triangular" ..., NULL */

struct amount {
    double low, mode, high; /* equal when a single number was given */
    enum amount_shape shape;
    double sd;     /* lognormal: of the logarithm */
    double *value; /* set: sorted */
    size_t n;
};

static inline struct amount amount_known(double x)
{
    return (struct amount){ .low = x, .mode = x, .high = x };
}
static inline bool amount_ranged(const struct amount *a)
{
    return a->high > a->low;
}

/* The value below which a share u of the distribution lies: low at 0, high at 1. u < 0: the
 * mode. */
double amount_at(const struct amount *a, double u);
/* The u of a value; for a set the middle of its step. 0.5 when there is no range. */
double amount_share_below(const struct amount *a, double value);
void amount_scale(struct amount *a, double factor); /* factor > 0: another currency */

/* One number of an amount; NAN after a problem in `d`. */
typedef double amount_number(const void *ctx, const json_t *v, const char *at, struct diag *d);
/* All forms above; problems go to `d` with their place, and the amount is then not to be used. */
struct amount amount_read(struct arena *a, const struct json_doc *doc, json_t *v, const char *at,
                          amount_number *number, const void *ctx, struct diag *d);
/* Plain numbers from low to high. */
struct amount amount_read_within(struct arena *a, const struct json_doc *doc, json_t *v,
                                 const char *at, double low, double high, struct diag *d);

#endif
