#include "cost/montecarlo.h"

#include "base/mem.h"
#include "base/rng.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_qrng.h>
#include <gsl/gsl_roots.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double cost_of(const struct mc_model *m, size_t option, const double *u)
{
    return m->cost(m->ctx, option, u);
}

/* ---- samples ---- */

static double nearest_rank(const double *sorted, size_t n, double p)
{
    const double rank = ceil(p * (double)n - 1e-9);
    return sorted[rank < 1 ? 0 : (size_t)rank - 1];
}

/* Sorts x. */
static struct mc_band band_of(double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    gsl_sort(x, 1, n);
    return (struct mc_band){ .mean = sum / (double)n,
                             .p5 = nearest_rank(x, n, 0.05),
                             .p10 = nearest_rank(x, n, 0.10),
                             .p50 = nearest_rank(x, n, 0.50),
                             .p90 = nearest_rank(x, n, 0.90),
                             .p95 = nearest_rank(x, n, 0.95) };
}

/* One sample goes to the cheapest options, in equal parts. */
static void count_cheapest(const double *cost, struct mc_option *o, size_t n)
{
    double least = INFINITY;
    size_t equal = 0;
    for (size_t i = 0; i < n; i++) least = fmin(least, cost[i]);
    const double most = least + MC_EQUAL * fabs(least);
    for (size_t i = 0; i < n; i++) equal += cost[i] <= most;
    for (size_t i = 0; i < n; i++)
        if (cost[i] <= most) o[i].p_cheapest += 1 / (double)equal;
}

/* cost[i * n_options + option] of all samples. */
static void draw(const struct mc_model *m, const struct mc_options *opt, double *cost)
{
    const size_t sobol = !opt->quasi                   ? 0
                         : m->n_inputs < MC_SOBOL_MOST ? m->n_inputs
                                                       : MC_SOBOL_MOST;
    gsl_qrng *q = sobol > 0 ? gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)sobol) : NULL;
    double point[MC_SOBOL_MOST], shift[MC_SOBOL_MOST];
    gsl_rng **rng = xcalloc(m->n_inputs + 1, sizeof *rng);
    double *u = xcalloc(m->n_inputs + 1, sizeof *u);
    for (size_t k = 0; k < m->n_inputs; k++) rng[k] = rng_create(opt->seed, 0, m->input[k].name);
    for (size_t k = 0; k < sobol; k++) shift[k] = gsl_rng_uniform(rng[k]);
    for (size_t i = 0; i < opt->samples; i++) {
        if (sobol > 0) gsl_qrng_get(q, point);
        for (size_t k = 0; k < sobol; k++) u[k] = fmod(point[k] + shift[k], 1);
        for (size_t k = sobol; k < m->n_inputs; k++) u[k] = gsl_rng_uniform(rng[k]);
        for (size_t o = 0; o < m->n_options; o++) cost[i * m->n_options + o] = cost_of(m, o, u);
    }
    for (size_t k = 0; k < m->n_inputs; k++) gsl_rng_free(rng[k]);
    gsl_qrng_free(q);
    free(rng);
    free(u);
}

static void sample(const struct mc_model *m, const struct mc_options *opt, size_t against,
                   struct mc_option *o)
{
    const size_t n = m->n_options, samples = opt->samples;
    double *cost = xcalloc(samples * n, sizeof *cost), *x = xcalloc(samples, sizeof *x);
    draw(m, opt, cost);
    for (size_t i = 0; i < samples; i++) count_cheapest(&cost[i * n], o, n);
    for (size_t k = 0; k < n; k++) {
        o[k].p_cheapest /= (double)samples;
        for (size_t i = 0; i < samples; i++) x[i] = cost[i * n + k];
        o[k].cost = band_of(x, samples);
        for (size_t i = 0; i < samples; i++) x[i] = cost[i * n + k] - cost[i * n + against];
        o[k].difference = band_of(x, samples);
        const double equal = MC_EQUAL * fabs(o[k].cost.p50);
        o[k].tie = k != against && o[k].difference.p5 <= equal && o[k].difference.p95 >= -equal;
    }
    free(cost);
    free(x);
}

/* ---- one input at a time ---- */

struct probe {
    const struct mc_model *m;
    double *u; /* all at the mode but one */
    size_t input, best;
    double stand; /* where an input stands while another moves: MC_MODE or MC_MEDIAN */
};

/* The cheapest of the others less the best. */
static double lead(const struct probe *p, size_t *runner_up)
{
    double least = INFINITY;
    for (size_t o = 0; o < p->m->n_options; o++) {
        if (o == p->best) continue;
        const double c = cost_of(p->m, o, p->u);
        if (c >= least) continue;
        least = c;
        if (runner_up) *runner_up = o;
    }
    return least - cost_of(p->m, p->best, p->u);
}

static double lead_at(double u, void *ctx)
{
    const struct probe *p = ctx;
    p->u[p->input] = u;
    return lead(p, NULL);
}

/* Root of lead_at between a and b, where it has different signs. */
static double crossing(struct probe *p, double a, double b)
{
    gsl_function f = { lead_at, p };
    gsl_root_fsolver *s = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
    double x = b;
    if (gsl_root_fsolver_set(s, &f, fmin(a, b), fmax(a, b)) == GSL_SUCCESS) {
        for (int i = 0; i < 60; i++) {
            if (gsl_root_fsolver_iterate(s) != GSL_SUCCESS) break;
            x = gsl_root_fsolver_root(s);
            if (gsl_root_test_interval(gsl_root_fsolver_x_lower(s), gsl_root_fsolver_x_upper(s),
                                       1e-14, 1e-12) == GSL_SUCCESS)
                break;
        }
    }
    gsl_root_fsolver_free(s);
    return x;
}

/* From the mode towards `end`: u at which another option becomes cheaper; NAN when none does. */
static double flips_towards(struct probe *p, double mode_u, double end)
{
    enum { STEPS = 32 };
    double from = mode_u;
    for (int i = 1; i <= STEPS; i++) {
        const double to = mode_u + (end - mode_u) * i / STEPS;
        if (lead_at(to, p) < 0) return crossing(p, from, to);
        from = to;
    }
    return NAN;
}

static void find_flip(struct probe *p, struct mc_swing *s)
{
    const struct amount a = p->m->input[p->input].shown;
    const double mode_u = p->stand == MC_MEDIAN ? 0.5 : amount_share_below(&a, a.mode),
                 down = flips_towards(p, mode_u, 0), up = flips_towards(p, mode_u, 1);
    s->switching_value = NAN;
    if (isnan(down) && isnan(up)) return;
    const double u = isnan(up) || mode_u - down < up - mode_u ? down : up;
    s->switching_value = amount_at(&a, fmax(u, 0));
    p->u[p->input] = fmax(u, 0);
    lead(p, &s->switches_to);
}

static const double *costs_at(struct probe *p, double u, struct arena *a)
{
    double *c = arena_array(a, p->m->n_options, sizeof *c);
    p->u[p->input] = u;
    for (size_t o = 0; o < p->m->n_options; o++) c[o] = cost_of(p->m, o, p->u);
    return c;
}

static struct mc_swing swing_of(struct probe *p, size_t runner_up, struct arena *a)
{
    struct mc_swing s = { .input = p->input, .switching_value = NAN };
    s.low = costs_at(p, 0, a);
    s.high = costs_at(p, 1, a);
    s.swing = s.high[p->best] - s.low[p->best];
    if (p->m->n_options > 1) {
        s.swing -= s.high[runner_up] - s.low[runner_up];
        find_flip(p, &s);
    }
    s.swing = fabs(s.swing);
    p->u[p->input] = p->stand;
    return s;
}

static int by_swing(const void *a, const void *b)
{
    const struct mc_swing *x = a, *y = b;
    if (x->swing > y->swing) return -1;
    if (x->swing < y->swing) return 1;
    return x->input < y->input ? -1 : x->input > y->input;
}

void mc_run(struct mc_result *out, const struct mc_model *m, const struct mc_options *opt,
            struct arena *a)
{
    struct mc_option *o = arena_array(a, m->n_options, sizeof *o);
    struct mc_swing *s = arena_array(a, m->n_inputs, sizeof *s);
    double *u = xcalloc(m->n_inputs + 1, sizeof *u);
    size_t best = 0, runner_up = 0;
    const double stand = opt->from_medians ? MC_MEDIAN : MC_MODE;
    for (size_t k = 0; k < m->n_inputs; k++) u[k] = stand;
    for (size_t i = 0; i < m->n_options; i++) {
        o[i].at_modes = cost_of(m, i, u);
        if (o[i].at_modes < o[best].at_modes) best = i;
    }
    struct probe p = { m, u, 0, best, stand };
    if (m->n_options > 1) lead(&p, &runner_up);
    sample(m, opt, opt->against > 0 ? opt->against - 1 : best, o);
    for (p.input = 0; p.input < m->n_inputs; p.input++) s[p.input] = swing_of(&p, runner_up, a);
    if (m->n_inputs > 0) qsort(s, m->n_inputs, sizeof *s, by_swing);
    free(u);
    *out = (struct mc_result){ opt->samples, best, o, s };
}
