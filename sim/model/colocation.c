#include "model/colocation.h"

#include "base/err.h"
#include "base/mem.h"

#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdlib.h>

/* The ridge says how far a job may lie from the average job on the strength of one pair. Chosen once
 * for all six Gavel campaigns by leave-pairs-out; 0.1 to 1 and 0.1 to 0.45 do nearly as well. */
#define RIDGE          0.5
#define RIDGE_PRODUCTS 0.3

enum { ROUNDS = 60, UNKNOWNS = 1 + COLOCATION_DIMENSIONS };

static double log_norm(const struct colocation *c, size_t a, size_t b)
{
    double z = c->mean + c->job[a].s + c->job[b].p;
    for (int k = 0; k < COLOCATION_DIMENSIONS; k++) z += c->job[a].u[k] * c->job[b].v[k];
    return z;
}

/* Normal equations of one job's part, everything else held. */
struct normal {
    double xx[UNKNOWNS * UNKNOWNS], xy[UNKNOWNS];
};

static void normal_add(struct normal *q, const double with[COLOCATION_DIMENSIONS], double y)
{
    double x[UNKNOWNS] = { 1.0 };
    for (int k = 0; k < COLOCATION_DIMENSIONS; k++) x[1 + k] = with[k];
    for (int i = 0; i < UNKNOWNS; i++) {
        q->xy[i] += x[i] * y;
        for (int j = 0; j < UNKNOWNS; j++) q->xx[i * UNKNOWNS + j] += x[i] * x[j];
    }
}

static void normal_solve(struct normal *q, double *constant, double product[COLOCATION_DIMENSIONS])
{
    for (int i = 0; i < UNKNOWNS; i++)
        q->xx[i * UNKNOWNS + i] += i == 0 ? RIDGE : RIDGE_PRODUCTS;
    gsl_matrix_view m = gsl_matrix_view_array(q->xx, UNKNOWNS, UNKNOWNS);
    gsl_vector_view y = gsl_vector_view_array(q->xy, UNKNOWNS);
    if (gsl_linalg_cholesky_decomp1(&m.matrix) != 0) BUG("a ridge makes the matrix definite");
    gsl_linalg_cholesky_svx(&m.matrix, &y.vector);
    *constant = q->xy[0];
    for (int k = 0; k < COLOCATION_DIMENSIONS; k++) product[k] = q->xy[1 + k];
}

static void half_round(struct colocation *c, struct normal *q, const struct colocation_pair *pair,
                       size_t n, bool pressure)
{
    for (size_t j = 0; j < c->jobs; j++) q[j] = (struct normal){ { 0 }, { 0 } };
    for (size_t i = 0; i < n; i++) {
        const size_t a = pair[i].a, b = pair[i].b;
        const double seen = pair[i].at_least ? fmax(0.0, log_norm(c, a, b)) : log(pair[i].norm);
        if (pressure)
            normal_add(&q[b], c->job[a].u, seen - c->mean - c->job[a].s);
        else
            normal_add(&q[a], c->job[b].v, seen - c->mean - c->job[b].p);
    }
    for (size_t j = 0; j < c->jobs; j++) {
        struct colocation_job *job = &c->job[j];
        if (pressure && job->seen_as_b > 0) normal_solve(&q[j], &job->p, job->v);
        if (!pressure && job->seen_as_a > 0) normal_solve(&q[j], &job->s, job->u);
    }
}

void colocation_fit(struct colocation *out, struct arena *a, const struct colocation_pair *pair,
                    size_t n, size_t jobs)
{
    struct normal *q = xcalloc(jobs + 1, sizeof *q);
    *out = (struct colocation){ .job = arena_array(a, jobs + 1, sizeof *out->job), .jobs = jobs };
    for (size_t i = 0; i < n; i++) {
        BUG_ON(pair[i].a >= jobs || pair[i].b >= jobs);
        out->mean += log(pair[i].norm) / (double)n;
        out->job[pair[i].a].seen_as_a++;
        out->job[pair[i].b].seen_as_b++;
    }
    /* Products start from anything that differs from job to job and between the dimensions. */
    for (size_t j = 0; j < jobs; j++)
        for (int k = 0; k < COLOCATION_DIMENSIONS; k++) {
            if (out->job[j].seen_as_b > 0)
                out->job[j].v[k] = 0.15 * cos(2.399963 * (double)(j + 1) * (k + 1) + k);
        }
    for (int round = 0; round < ROUNDS; round++) {
        half_round(out, q, pair, n, false);
        half_round(out, q, pair, n, true);
    }
    free(q);
}

double colocation_norm(const struct colocation *c, size_t a, size_t b)
{
    if (a >= c->jobs || b >= c->jobs || c->job[a].seen_as_a == 0 || c->job[b].seen_as_b == 0)
        return NAN;
    return fmin(1.0, exp(log_norm(c, a, b)));
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
    bool ok = rows > 2 * COLOCATION_COUNTERS;
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
