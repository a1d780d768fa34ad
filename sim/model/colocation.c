#include "model/colocation.h"

#include "base/err.h"
#include "base/mem.h"

#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdlib.h>

/* Variances of log norm. One set for all cards and campaigns: the maximum of the summed marginal
 * likelihoods of the six Gavel campaigns, each number to two digits. Estimated from any five, they
 * predict the sixth as well (within 0.4 points of mean error, sim V100 within 1), so they are no
 * fit of one table. NOISE is what repeating a measurement changes. */
#define SIDE     0.050  /* a standard deviation of 22 % */
#define TOGETHER 0.0235 /* 15 % */
#define NOISE    0.00071
#define OCTAVES  5.6 /* jobs this far apart in batch size are related by 1/e */
#define MEAN     1.0 /* of the mean: anything */

enum { ROUNDS = 6 }; /* of filling in lower bounds: the last changes no answer by 0.1 % */

static double kinship(const struct colocation_job *a, const struct colocation_job *b)
{
    return a->program == b->program ? exp(-fabs(a->octaves - b->octaves) / OCTAVES) : 0.0;
}

static double covariance(const struct colocation *c, size_t a, size_t b,
                         const struct colocation_pair *p)
{
    const double suffer = kinship(&c->job[a], &c->job[p->a]);
    const double press = kinship(&c->job[b], &c->job[p->b]);
    return MEAN + SIDE * (suffer + press) + TOGETHER * suffer * press;
}

static double log_norm(const struct colocation *c, size_t a, size_t b)
{
    double z = 0;
    for (size_t i = 0; i < c->n; i++) z += c->weight[i] * covariance(c, a, b, &c->pair[i]);
    return z;
}

/* The Cholesky factor of the covariance of all observations. */
static gsl_matrix *factor(const struct colocation *c)
{
    gsl_matrix *k = gsl_matrix_alloc(c->n, c->n);
    if (!k) out_of_memory();
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j <= i; j++) {
            const double v = covariance(c, c->pair[i].a, c->pair[i].b, &c->pair[j]);
            gsl_matrix_set(k, i, j, i == j ? v + NOISE : v);
        }
    if (gsl_linalg_cholesky_decomp1(k) != 0) BUG("noise makes the matrix definite");
    return k;
}

void colocation_fit(struct colocation *out, struct arena *a, const struct colocation_job *job,
                    size_t jobs, const struct colocation_pair *pair, size_t n)
{
    struct colocation_job *j = arena_array(a, jobs + 1, sizeof *j);
    struct colocation_pair *p = arena_array(a, n + 1, sizeof *p);
    double *y = xcalloc(n + 1, sizeof *y);
    bool bounds = false;
    *out = (struct colocation){ j, jobs, p, n, arena_array(a, n + 1, sizeof *out->weight) };
    for (size_t i = 0; i < jobs; i++) j[i] = job[i];
    for (size_t i = 0; i < n; i++) {
        BUG_ON(pair[i].a >= jobs || pair[i].b >= jobs);
        p[i] = pair[i];
        y[i] = log(pair[i].norm);
        bounds |= pair[i].at_least;
    }
    gsl_matrix *k = n ? factor(out) : NULL;
    for (int round = 0; n && round < (bounds ? ROUNDS : 1); round++) {
        gsl_vector_const_view seen = gsl_vector_const_view_array(y, n);
        gsl_vector_view weight = gsl_vector_view_array(out->weight, n);
        gsl_linalg_cholesky_solve(k, &seen.vector, &weight.vector);
        for (size_t i = 0; bounds && i < n; i++)
            if (p[i].at_least) y[i] = fmax(0.0, log_norm(out, p[i].a, p[i].b));
    }
    gsl_matrix_free(k);
    free(y);
}

double colocation_norm(const struct colocation *c, size_t a, size_t b)
{
    bool suffered = false, pressed = false;
    if (a >= c->jobs || b >= c->jobs) return NAN;
    for (size_t i = 0; i < c->n; i++) {
        suffered |= c->job[c->pair[i].a].program == c->job[a].program;
        pressed |= c->job[c->pair[i].b].program == c->job[b].program;
    }
    return suffered && pressed ? fmin(1.0, exp(log_norm(c, a, b))) : NAN;
}

static void counters_row(double x[COLOCATION_COUNTERS], const struct job_counters *a,
                         const struct job_counters *b)
{
    x[0] = 1.0;
    x[1] = log(a->step_s);
    x[2] = log(b->step_s);
    x[3] = log(a->gain);
    x[4] = log(b->gain);
}

bool colocation_counters_fit(struct colocation_counters *out, const struct job_counters *job,
                             const struct colocation_pair *pair, const bool *leave, size_t n)
{
    gsl_matrix *x = gsl_matrix_calloc(n + 1, COLOCATION_COUNTERS);
    gsl_vector *y = gsl_vector_calloc(n + 1);
    size_t rows = 0;
    double chi2;
    for (size_t i = 0; i < n; i++) {
        if ((leave && leave[i]) || pair[i].at_least) continue;
        counters_row(gsl_matrix_ptr(x, rows, 0), &job[pair[i].a], &job[pair[i].b]);
        gsl_vector_set(y, rows++, log(pair[i].norm));
    }
    bool ok = rows > (size_t)2 * COLOCATION_COUNTERS;
    if (ok) {
        gsl_matrix_const_view used = gsl_matrix_const_submatrix(x, 0, 0, rows, COLOCATION_COUNTERS);
        gsl_vector_const_view seen = gsl_vector_const_subvector(y, 0, rows);
        gsl_vector_view c = gsl_vector_view_array(out->c, COLOCATION_COUNTERS);
        gsl_matrix *cov = gsl_matrix_alloc(COLOCATION_COUNTERS, COLOCATION_COUNTERS);
        gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(rows, COLOCATION_COUNTERS);
        ok = gsl_multifit_linear(&used.matrix, &seen.vector, &c.vector, cov, &chi2, work) == 0;
        gsl_multifit_linear_free(work);
        gsl_matrix_free(cov);
    }
    gsl_vector_free(y);
    gsl_matrix_free(x);
    return ok;
}

double colocation_counters_norm(const struct colocation_counters *c, const struct job_counters *a,
                                const struct job_counters *b)
{
    double x[COLOCATION_COUNTERS], z = 0;
    counters_row(x, a, b);
    for (int k = 0; k < COLOCATION_COUNTERS; k++) z += c->c[k] * x[k];
    return fmin(1.0, exp(z));
}
