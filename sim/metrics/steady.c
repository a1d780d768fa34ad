#include "metrics/steady.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

enum { FIRST_SIZE = 5, MEANS = 20 };

static void join_neighbours(struct steady *s)
{
    for (size_t i = 0; i < STEADY_BATCHES / 2; i++) {
        const struct steady_batch *a = &s->batch[2 * i], *b = a + 1;
        s->batch[i] = (struct steady_batch){ a->sum + b->sum, a->squares + b->squares, a->from };
    }
    s->n = STEADY_BATCHES / 2;
    s->size *= 2;
    s->in_last = s->size;
}

void steady_add(struct steady *s, simtime when, double value)
{
    if (s->size == 0) {
        s->size = FIRST_SIZE;
        s->in_last = FIRST_SIZE; /* as if the one before the first were full */
    }
    if (s->in_last == s->size) {
        if (s->n == STEADY_BATCHES) join_neighbours(s);
        s->batch[s->n++] = (struct steady_batch){ 0, 0, when };
        s->in_last = 0;
    }
    struct steady_batch *last = &s->batch[s->n - 1];
    last->sum += value;
    last->squares += value * value;
    s->in_last++;
}

/* The number of batches to leave out; one pass from the end. */
static size_t mser(const struct steady *s, size_t n)
{
    double sum = 0, squares = 0, least = INFINITY;
    size_t best = 0;
    for (size_t d = n; d-- > 0;) {
        const double mean = s->batch[d].sum / (double)s->size, left = (double)(n - d);
        sum += mean;
        squares += mean * mean;
        const double error = fmax(0, squares - sum * sum / left) / (left * left);
        if (d > n / 2 || error > least) continue;
        least = error;
        best = d;
    }
    return best;
}

/* Mean of batches from..to. */
static double mean_of(const struct steady *s, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from; i < to; i++) sum += s->batch[i].sum;
    return sum / ((double)(to - from) * (double)s->size);
}

void steady_result(const struct steady *s, struct steady_result *out)
{
    const size_t full = s->in_last == s->size ? s->n : s->n - (s->n > 0);
    *out = (struct steady_result){ 0 };
    if (full * s->size < STEADY_LEAST) return;
    const size_t cut = mser(s, full), group = (full - cut) / MEANS;
    if (group == 0) return;
    const size_t from = full - group * MEANS; /* what does not fill a group goes with the warm-up */
    const double values = (double)(group * MEANS) * (double)s->size;
    double sum = 0, squares = 0, between = 0;
    for (size_t i = from; i < full; i++) {
        sum += s->batch[i].sum;
        squares += s->batch[i].squares;
    }
    const double mean = sum / values, variance = fmax(0, squares / values - mean * mean);
    for (size_t k = 0; k < MEANS; k++) {
        const double d = mean_of(s, from + k * group, from + (k + 1) * group) - mean;
        between += d * d;
    }
    const double error2 = between / (MEANS - 1) / MEANS;
    const double half = gsl_cdf_tdist_Pinv(0.975, MEANS - 1) * sqrt(error2);
    *out = (struct steady_result){
        .n = (uint64_t)values,
        .warmup_found = cut<full / 2, .warmup_s = cut> 0 ? simtime_s(s->batch[cut].from) : 0,
        .mean = mean,
        .low = mean - half,
        .high = mean + half,
        .effective_n = error2 > 0 ? fmin(values, variance / error2) : values,
        .length_for_5_percent = mean > 0 ? (half / (0.05 * mean)) * (half / (0.05 * mean)) : 0,
    };
}
