#include "whatif/fit.h"

#include "base/mem.h"

#include <gsl/gsl_multimin.h>
#include <math.h>

struct asked {
    fit_fn *f;
    void *ctx;
};

static double value_at(const gsl_vector *v, void *params)
{
    const struct asked *a = params;
    return a->f(v->data, a->ctx);
}

double fit_least(double x[], size_t n, double step, int rounds, fit_fn *f, void *ctx)
{
    struct asked asked = { f, ctx };
    gsl_multimin_function function = { value_at, n, &asked };
    gsl_multimin_fminimizer *m =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, n);
    gsl_vector *at = gsl_vector_alloc(n), *steps = gsl_vector_alloc(n);
    if (!m || !at || !steps) out_of_memory();
    for (size_t i = 0; i < n; i++) {
        gsl_vector_set(at, i, x[i]);
        gsl_vector_set(steps, i, x[i] != 0 ? step * fabs(x[i]) : step);
    }
    gsl_multimin_fminimizer_set(m, &function, at, steps);
    for (int i = 0; i < rounds; i++)
        if (gsl_multimin_fminimizer_iterate(m) != 0 || gsl_multimin_fminimizer_size(m) < 1e-7)
            break;
    for (size_t i = 0; i < n; i++) x[i] = gsl_vector_get(m->x, i);
    const double least = m->fval;
    gsl_vector_free(at);
    gsl_vector_free(steps);
    gsl_multimin_fminimizer_free(m);
    return least;
}
