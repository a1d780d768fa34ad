/* cost/montecarlo.h - what the ranges of the inputs do to the choice between options: sampling,
 * one-at-a-time swings (tornado), and the values at which the recommendation flips.
 *
 * Each input k of a sample is one number u in [0, 1] that every option reads through its own range
 * (model/amount.h), so options meet the same prices: common random numbers. Without
 * them "A beats B with probability p" is wrong (reference TCO 5). The stream of an input depends on
 * (seed, its name) only: a further input or option moves nothing. Percentile p: the smallest sample
 * with at least p of the samples at or below it.
 *
 * Ownership: the arena. Threads: pure function of its arguments. O((samples + 128 inputs) x
 * options) evaluations. */
#ifndef GPUSIM_COST_MONTECARLO_H
#define GPUSIM_COST_MONTECARLO_H

#include "base/arena.h"
#include "model/amount.h"

#include <stdbool.h>
#include <stdint.h>

#define MC_MODE   (-1.0) /* as u: take the mode */
#define MC_MEDIAN (-2.0) /* as u: take the median; where draws are of runs, the mean of the runs */
#define MC_EQUAL                                                                                   \
    1e-4 /* costs that differ by less, relatively, are equal: no price is known better */

struct mc_input {
    const char *name;
    const char *of; /* option whose range is shown; NULL: that of all */
    struct amount shown;
};

/* Cost [USD a year] of an option when input k stands at u[k]. Must be a pure function. */
typedef double mc_cost(const void *ctx, size_t option, const double *u);

struct mc_model {
    const struct mc_input *input;
    const char *const *option; /* names */
    size_t n_inputs, n_options;
    mc_cost *cost;
    const void *ctx;
};

struct mc_band {
    double mean, p5, p10, p50, p90, p95;
};

struct mc_option {
    double at_modes;           /* USD a year with every input at its mode */
    struct mc_band cost;       /* USD a year */
    struct mc_band difference; /* paired: this option less mc_options.against */
    double p_cheapest; /* share of samples in which it is; costs within MC_EQUAL share one */
    /* not that one, but P5..P95 of the difference, MC_EQUAL more to either side, holds zero */
    bool tie;
};

struct mc_swing {
    size_t input;
    const double *low, *high; /* cost of each option with this input alone at its end, USD a year */
    double swing; /* of the saving of the best over the runner-up; of the cost when alone */
    double switching_value; /* of mc_input.shown, nearest to its mode; NAN: the best stays best */
    size_t switches_to;
};

struct mc_result {
    size_t samples, best; /* best: cheapest at the modes, the first of equals */
    const struct mc_option *option;
    const struct mc_swing *swing; /* largest first, one per input */
};

struct mc_options {
    size_t samples; /* >= 1 */
    uint64_t seed;
    /* a Sobol sequence, shifted by the seed, for the first MC_SOBOL_MOST inputs; random for the
     * rest */
    bool quasi;
    size_t against; /* differences are against option against - 1; 0: the cheapest at the modes */
    /* inputs stand at their medians, not at their modes, wherever this header says modes */
    bool from_medians;
};
enum { MC_SOBOL_MOST = 40 };

void mc_run(struct mc_result *out, const struct mc_model *m, const struct mc_options *o,
            struct arena *a);

#endif
