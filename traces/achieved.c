#include "traces/achieved.h"

#include "base/mem.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct series {
    VEC(double) v;
    double *sorted; /* made when first asked for */
};

/* What a target looks at: all, or one class or service. */
struct sample {
    const char *klass; /* NULL: all */
    struct series duration, gpus, input, output;
    uint64_t n, fractional, with_memory;
    uint64_t *shape_jobs; /* per target, jobs with exactly its gpus */
    double gpu_s, memory;
    double first_s, last_s, gap_sq;
};

struct achieved {
    const struct synth_spec *spec;
    struct sample *sample; /* all, then each class or service */
    size_t n;
};

struct achieved *achieved_create(const struct synth_spec *spec)
{
    struct achieved *a = xcalloc(1, sizeof *a);
    a->spec = spec;
    a->n = 1 + spec->n_cls + spec->n_svc;
    a->sample = xcalloc(a->n, sizeof *a->sample);
    for (size_t i = 0; i < a->n; i++) {
        if (i)
            a->sample[i].klass =
                spec->n_svc ? spec->svc[i - 1].name : synth_class_name(spec, i - 1);
        a->sample[i].shape_jobs = xcalloc(spec->n_targets + 1, sizeof(uint64_t));
    }
    return a;
}

static void series_fini(struct series *s)
{
    vec_fini(&s->v);
    free(s->sorted);
}

void achieved_destroy(struct achieved *a)
{
    if (!a) return;
    for (size_t i = 0; i < a->n; i++) {
        series_fini(&a->sample[i].duration);
        series_fini(&a->sample[i].gpus);
        series_fini(&a->sample[i].input);
        series_fini(&a->sample[i].output);
        free(a->sample[i].shape_jobs);
    }
    free(a->sample);
    free(a);
}

static void add_time(struct sample *s, double t)
{
    if (s->n)
        s->gap_sq += (t - s->last_s) * (t - s->last_s);
    else
        s->first_s = t;
    s->last_s = t;
    s->n++;
}

static void add_job(struct sample *s, const struct synth_spec *spec, const struct job_row *row)
{
    double d = simtime_s(row->duration), gpus = row->gpus_milli / 1000.0;
    add_time(s, simtime_s(row->submit));
    vec_push(&s->duration.v, d);
    s->gpu_s += gpus * d;
    if (row->gpus_milli) {
        vec_push(&s->gpus.v, gpus);
        s->fractional += row->gpus_milli < 1000;
        for (size_t i = 0; i < spec->n_targets; i++) {
            const char *q = spec->target[i].quantity;
            if (!strncmp(q, "gpus.share:", 11) &&
                lround(strtod(q + 11, NULL) * 1000) == row->gpus_milli)
                s->shape_jobs[i]++;
        }
    }
    if (row->gpu_mem_bytes != JOB_NO_BYTES) {
        s->with_memory++;
        s->memory += (double)row->gpu_mem_bytes;
    }
}

void achieved_job(struct achieved *a, size_t klass, const struct job_row *row)
{
    if (!a->spec->n_targets) return;
    add_job(&a->sample[0], a->spec, row);
    add_job(&a->sample[1 + klass], a->spec, row);
}

static void add_request(struct sample *s, const struct request_row *row)
{
    add_time(s, simtime_s(row->arrival));
    vec_push(&s->input.v, (double)row->input_tokens);
    vec_push(&s->output.v, (double)row->output_tokens);
}

void achieved_request(struct achieved *a, size_t klass, const struct request_row *row)
{
    if (!a->spec->n_targets) return;
    add_request(&a->sample[0], row);
    add_request(&a->sample[1 + klass], row);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Smallest value with at least p percent of the values at or below it. */
static double percentile(struct series *s, int p)
{
    const size_t n = s->v.n;
    if (!n) return NAN;
    if (!s->sorted) {
        s->sorted = xreallocarray(NULL, n, sizeof *s->sorted);
        memcpy(s->sorted, s->v.v, n * sizeof *s->sorted);
        qsort(s->sorted, n, sizeof *s->sorted, by_value);
    }
    size_t rank = (n * (size_t)p + 99) / 100;
    return s->sorted[rank ? rank - 1 : 0];
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

static double mean(const struct series *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->v.n; i++) sum += s->v.v[i];
    return ratio(sum, (double)s->v.n);
}

static double series_cv(const struct series *s)
{
    const double m = mean(s);
    double sq = 0;
    if (s->v.n < 2 || !(m > 0)) return NAN;
    for (size_t i = 0; i < s->v.n; i++) sq += (s->v.v[i] - m) * (s->v.v[i] - m);
    return sqrt(sq / (double)s->v.n) / m;
}

struct ranked {
    double value;
    size_t index;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Ranks from 0, minus their mean; ties share the mean of theirs. */
static double *centred_ranks(const struct series *s)
{
    const size_t n = s->v.n;
    struct ranked *r = xreallocarray(NULL, n, sizeof *r);
    double *rank = xreallocarray(NULL, n, sizeof *rank);
    for (size_t i = 0; i < n; i++) r[i] = (struct ranked){ s->v.v[i], i };
    qsort(r, n, sizeof *r, by_rank);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && r[j].value == r[i].value; j++) continue;
        for (size_t k = i; k < j; k++)
            rank[r[k].index] = 0.5 * (double)(i + j - 1) - 0.5 * (double)(n - 1);
    }
    free(r);
    return rank;
}

static double rank_correlation(const struct series *x, const struct series *y)
{
    double xx = 0, yy = 0, xy = 0;
    if (x->v.n < 2) return NAN;
    double *a = centred_ranks(x), *b = centred_ranks(y);
    for (size_t i = 0; i < x->v.n; i++) {
        xx += a[i] * a[i];
        yy += b[i] * b[i];
        xy += a[i] * b[i];
    }
    free(a);
    free(b);
    return ratio(xy, sqrt(xx * yy));
}

/* .mean, .cv or .pNN of one series. */
static double of_series(struct series *s, const char *what)
{
    if (!strcmp(what, "mean")) return mean(s);
    if (!strcmp(what, "cv")) return series_cv(s);
    return percentile(s, atoi(what + 1));
}

static double gap_cv(const struct sample *s)
{
    const double gaps = (double)s->n - 1, m = (s->last_s - s->first_s) / gaps;
    return gaps > 1 && m > 0 ? sqrt(fmax(s->gap_sq / gaps - m * m, 0)) / m : NAN;
}

static double measure(struct sample *s, const char *q, size_t target, double span_s)
{
    const double n = (double)s->n;
    if (!strcmp(q, "jobs") || !strcmp(q, "requests")) return n;
    if (!strcmp(q, "jobs_per_day")) return ratio(n * 86400, span_s);
    if (!strcmp(q, "requests_per_s")) return ratio(n, span_s);
    if (!strcmp(q, "gap.mean")) return ratio(s->last_s - s->first_s, n - 1);
    if (!strcmp(q, "gap.cv")) return gap_cv(s);
    if (!strncmp(q, "duration.", 9)) return of_series(&s->duration, q + 9);
    if (!strncmp(q, "input_tokens.", 13)) return of_series(&s->input, q + 13);
    if (!strncmp(q, "output_tokens.", 14)) return of_series(&s->output, q + 14);
    if (!strcmp(q, "tokens.rank_correlation")) return rank_correlation(&s->input, &s->output);
    if (!strcmp(q, "gpus.mean") || !strcmp(q, "gpus.p50")) return of_series(&s->gpus, q + 5);
    if (!strcmp(q, "gpus.fractional")) return ratio((double)s->fractional, (double)s->gpus.v.n);
    if (!strcmp(q, "memory.mean")) return ratio(s->memory, (double)s->with_memory);
    if (!strcmp(q, "gpu_hours")) return s->gpu_s / 3600;
    if (!strcmp(q, "load")) return ratio(s->gpu_s, span_s);
    return ratio((double)s->shape_jobs[target], (double)s->gpus.v.n);
}

size_t achieved_judge(struct achieved *a, double span_s, struct verdict *verdict)
{
    size_t missed = 0;
    for (size_t i = 0; i < a->spec->n_targets; i++) {
        const struct synth_target *t = &a->spec->target[i];
        struct sample *s = &a->sample[0];
        for (size_t k = 1; t->klass && k < a->n; k++)
            if (!strcmp(a->sample[k].klass, t->klass)) s = &a->sample[k];
        struct verdict *v = &verdict[i];
        v->value = measure(s, t->quantity, i, span_s);
        v->deviation = t->value > 0 ? v->value / t->value - 1 : v->value - t->value;
        v->met = fabs(v->deviation) <= t->tolerance; /* false for NAN */
        missed += !v->met;
    }
    return missed;
}
