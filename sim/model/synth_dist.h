/* model/synth_dist.h - distributions of job sizes: what a workload specification may draw
 * durations, memory and limits from.
 *
 * In a specification a distribution is an object such as
 *     {"kind": "lognormal", "median": "20 min", "p90": "3 h", "max": "7 d"}
 * or a bare value, which is the constant. Its values are durations ("20 min"), sizes ("8 GiB") or
 * plain numbers, by where it stands; inside they are doubles in seconds, bytes or as they are.
 *
 *   constant          value
 *   uniform           min, max
 *   exponential       mean
 *   lognormal         median and one of p90, mean, cv; or mean and cv (cv = sd / mean)
 *                     sigma = ln(p90 / median) / z(0.9) = sqrt(2 ln(mean / median))
 *                           = sqrt(ln(1 + cv^2))
 *   gamma             mean and cv; shape = 1 / cv^2
 *   weibull           shape and scale, shape and mean, or mean and cv; mean = scale G(1 + 1/k),
 *                     cv^2 = G(1 + 2/k) / G(1 + 1/k)^2 - 1
 *   pareto            min, alpha, optional max: truncated there, not piled up
 *                     F(x) = (1 - (min/x)^alpha) / (1 - (min/max)^alpha)
 *   hyperexponential  parts [{weight, mean}]
 *   quantiles         points [[p, value]] from p = 0 to p = 1; between them log-linear where the
 *                     values are positive, else linear
 *   choice            parts [{weight, value}]
 *
 * min and max of the other kinds bound what was drawn (values beyond are set to the bound).
 * Formulas: Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions, 2nd ed.
 *
 * Ownership: memory comes from the arena. Threads: read-only after reading; a random stream belongs
 * to one thread. A draw is O(1), O(log parts) for choice, hyperexponential and quantiles. */
#ifndef GPUSIM_MODEL_SYNTH_DIST_H
#define GPUSIM_MODEL_SYNTH_DIST_H

#include "base/arena.h"
#include "base/json.h"

#include <gsl/gsl_rng.h>

enum synth_unit { SYNTH_SECONDS, SYNTH_BYTES, SYNTH_NUMBER };

#define SYNTH_KIND_MAP(X)                                                                          \
    X(constant)                                                                                    \
    X(uniform)                                                                                     \
    X(exponential)                                                                                 \
    X(lognormal) X(gamma) X(weibull) X(pareto) X(hyperexponential) X(quantiles) X(choice)
enum synth_dist_kind {
#define X(name) SYNTH_##name,
    SYNTH_KIND_MAP(X)
#undef X
        SYNTH_KINDS
};
extern const char *const synth_dist_kind_names[SYNTH_KINDS + 1]; /* NULL-terminated */

struct synth_dist {
    enum synth_dist_kind kind;
    double a, b;  /* constant: value; uniform, pareto: min, max; exponential: mean; lognormal: mu,
                     sigma; gamma: shape, scale; weibull: scale, shape */
    double alpha; /* pareto */
    double min, max; /* bounds applied to every draw */
    double *x, *y;   /* quantiles: p, value; parts: cumulative weight, mean or value */
    size_t n;
};

/* Read the distribution `v` (an object or a bare value). Problems are added to `d`, then *out is a
 * harmless constant. Values must be >= 0. */
void synth_dist_read(struct synth_dist *out, struct arena *a, const struct json_doc *doc, json_t *v,
                     const char *pointer, enum synth_unit unit, struct diag *d);
double synth_dist_draw(const struct synth_dist *s, gsl_rng *r);
/* The value below which a share u of the draws lies, 0 < u < 1 (inverse of the distribution
 * function): what correlated draws are made with. O(parts^2) for choice. */
double synth_dist_quantile(const struct synth_dist *s, double u);
/* Share of the standard normal law below z, kept off 0 and 1: a deviate as a quantile's u. */
double synth_normal_share(double z);

/* One value of that unit. False after adding a problem. */
bool synth_value(double *out, const struct json_doc *doc, const json_t *v, const char *pointer,
                 enum synth_unit unit, struct diag *d);

/* Mean 1 and the given coefficient of variation: the gaps of a renewal process. cv > 0 (weibull:
 * within what WEIBULL_CV_MIN and WEIBULL_CV_MAX allow). */
#define WEIBULL_CV_MIN 0.02
#define WEIBULL_CV_MAX 30.0
struct synth_dist synth_unit_gamma(double cv);
struct synth_dist synth_unit_weibull(double cv);

/* Index of the part that u in [0, 1) falls into; cumulative[n - 1] is 1. */
size_t synth_pick(const double *cumulative, size_t n, double u);

#endif
