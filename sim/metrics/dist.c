/* metrics/dist.c - exact samples first, a log histogram when there are too many. */
#include "metrics/dist.h"

#include "base/err.h"
#include "base/mem.h"

#include <float.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int bin_of(double x)
{
    int exponent;
    double m = frexp(x, &exponent); /* [0.5, 1): exact */
    return exponent * DIST_SUB + (int)((m - 0.5) * (2 * DIST_SUB));
}

static double bin_middle(int b)
{
    int exponent = b >= 0 ? b / DIST_SUB : -((-b + DIST_SUB - 1) / DIST_SUB);
    int sub = b - exponent * DIST_SUB;
    return ldexp(0.5 + (sub + 0.5) / (2 * DIST_SUB), exponent);
}

static uint64_t counter_max(const struct dist *d)
{
    return d->width == 2 ? UINT16_MAX : d->width == 4 ? UINT32_MAX : UINT64_MAX;
}

static uint64_t counter_get(const struct dist *d, int i)
{
    if (d->width == 2) return ((const uint16_t *)d->bin)[i];
    if (d->width == 4) return ((const uint32_t *)d->bin)[i];
    return ((const uint64_t *)d->bin)[i];
}

static void counter_set(struct dist *d, int i, uint64_t v)
{
    if (d->width == 2)
        ((uint16_t *)d->bin)[i] = (uint16_t)v;
    else if (d->width == 4)
        ((uint32_t *)d->bin)[i] = (uint32_t)v;
    else
        ((uint64_t *)d->bin)[i] = v;
}

/* Move the counters to a range and width that hold the old ones. */
static void bins_remake(struct dist *d, int first, int n_bins, int width)
{
    struct dist to = { .first = first, .n_bins = n_bins, .width = width };
    to.bin = xcalloc((size_t)n_bins, (size_t)width);
    for (int i = 0; d->bin && i < d->n_bins; i++)
        counter_set(&to, d->first + i - first, counter_get(d, i));
    free(d->bin);
    d->bin = to.bin;
    d->first = first;
    d->n_bins = n_bins;
    d->width = width;
}

/* Make room for bin b, with some slack towards the side that grew. */
static void bins_reach(struct dist *d, int b)
{
    if (!d->bin) {
        bins_remake(d, b, 1, 2);
        return;
    }
    int end = d->first + d->n_bins;
    if (b >= d->first && b < end) return;
    int slack = d->n_bins / 8 + 16;
    int first = b < d->first ? b - slack : d->first;
    int last = b >= end ? b + slack : end - 1;
    bins_remake(d, first, last - first + 1, d->width);
}

static void bins_add(struct dist *d, double x)
{
    int b = bin_of(x);
    bins_reach(d, b);
    int i = b - d->first;
    if (counter_get(d, i) == counter_max(d)) bins_remake(d, d->first, d->n_bins, 2 * d->width);
    counter_set(d, i, counter_get(d, i) + 1);
}

static void pool_give_back(struct dist *d)
{
    if (d->pool) d->pool->used -= d->cap * sizeof *d->sample;
    d->cap = 0;
}

static void to_histogram(struct dist *d)
{
    size_t held = (size_t)(d->n - d->zeros);
    int low = bin_of(d->min), high = bin_of(d->max);
    bins_remake(d, low, high - low + 1, 2);
    for (size_t i = 0; i < held; i++) bins_add(d, d->sample[i]);
    free(d->sample);
    d->sample = NULL;
    pool_give_back(d);
}

/* What the samples so far would take as a histogram. */
static size_t histogram_bytes(const struct dist *d)
{
    if (d->n == d->zeros) return sizeof(uint16_t);
    return (size_t)(bin_of(d->max) - bin_of(d->min) + 1) * sizeof(uint16_t);
}

/* Room for one more exact sample; false: neither the limit nor the pool allows it. */
static bool exact_reserve(struct dist *d)
{
    size_t held = (size_t)(d->n - d->zeros);
    if (held < d->cap) return true;
    if (held >= DIST_EXACT) return false;
    size_t cap = d->cap + d->cap / 4 + 4; /* a quarter: slack counts against the budget */
    if (cap > DIST_EXACT) cap = DIST_EXACT;
    size_t more = (cap - d->cap) * sizeof *d->sample;
    if (d->pool && d->pool->used + more > d->pool->budget) d->pool->spent = true;
    if (d->pool && d->pool->spent && held * sizeof *d->sample >= histogram_bytes(d)) return false;
    d->sample = xreallocarray(d->sample, cap, sizeof *d->sample);
    if (d->pool) d->pool->used += more;
    d->cap = cap;
    return true;
}

static void sum_add(struct dist *d, double x)
{
    double t = d->sum + x;
    d->carry += fabs(d->sum) >= fabs(x) ? (d->sum - t) + x : (x - t) + d->sum;
    d->sum = t;
}

/* A sample that is not 0, by whatever form holds the others. Apart, so that the usual way saves
 * no registers. */
__attribute__((noinline)) static void add_slowly(struct dist *d, double x)
{
    if (!d->bin && exact_reserve(d)) {
        d->sample[d->n - d->zeros] = x;
        return;
    }
    if (!d->bin) to_histogram(d);
    bins_add(d, x);
}

void dist_add(struct dist *d, double x)
{
    BUG_ON(!(x >= 0 && x <= DBL_MAX));
    if (x == 0) {
        d->n++;
        d->zeros++;
        return;
    }
    const size_t held = (size_t)(d->n - d->zeros);
    if (held < d->cap)
        d->sample[held] = x;
    else
        add_slowly(d, x);
    if (held == 0) d->min = d->max = x;
    if (x < d->min) d->min = x;
    if (x > d->max) d->max = x;
    sum_add(d, x);
    d->n++;
}

bool dist_is_exact(const struct dist *d)
{
    return d->bin == NULL;
}

double dist_mean(const struct dist *d)
{
    return d->n ? (d->sum + d->carry) / (double)d->n : NAN;
}

/* Rank of percentile p among n samples, from 1. The slip keeps 0.95 x 100 at rank 95 although the
 * product is 95.00000000000001 in binary for some n. */
static uint64_t rank_of(double p, uint64_t n)
{
    double exact = p * (double)n;
    double slip = exact * 1e-12;
    uint64_t k = (uint64_t)ceil(exact - slip);
    return k < 1 ? 1 : k > n ? n : k;
}

static double hist_value(const struct dist *d, uint64_t rank)
{
    uint64_t below = 0;
    for (int i = 0; i < d->n_bins; i++) {
        below += counter_get(d, i);
        if (below < rank) continue;
        double x = bin_middle(d->first + i);
        return x < d->min ? d->min : x > d->max ? d->max : x;
    }
    BUG("histogram holds %llu samples, rank %llu asked for", (unsigned long long)below,
        (unsigned long long)rank);
}

/* Samples before *sorted_to are known to be at most those from it on, so each selection narrows the
 * next. `rank` must not decrease between calls with the same *sorted_to. */
static double value_at(struct dist *d, uint64_t rank, size_t *sorted_to)
{
    if (rank <= d->zeros) return 0;
    rank -= d->zeros;
    size_t held = (size_t)(d->n - d->zeros);
    if (rank == held) return d->max;
    if (d->bin) return hist_value(d, rank);
    size_t k = (size_t)rank - 1;
    double x = gsl_stats_select(d->sample + *sorted_to, 1, held - *sorted_to, k - *sorted_to);
    *sorted_to = k;
    return x;
}

double dist_percentile(struct dist *d, double p)
{
    size_t sorted_to = 0;
    BUG_ON(!(p > 0 && p <= 1));
    return d->n ? value_at(d, rank_of(p, d->n), &sorted_to) : NAN;
}

void dist_stat(struct dist *d, uint64_t censored, struct summary *out)
{
    *out = (struct summary){ .n = d->n, .censored = censored, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    if (!d->n) return;
    size_t sorted_to = 0;
    out->mean = dist_mean(d);
    out->p50 = value_at(d, rank_of(0.50, d->n), &sorted_to);
    out->p90 = value_at(d, rank_of(0.90, d->n), &sorted_to);
    out->p95 = value_at(d, rank_of(0.95, d->n), &sorted_to);
    out->p99 = value_at(d, rank_of(0.99, d->n), &sorted_to);
    out->p999 = value_at(d, rank_of(0.999, d->n), &sorted_to);
    out->max = d->n == d->zeros ? 0 : d->max;
}

void dist_fini(struct dist *d)
{
    pool_give_back(d);
    free(d->sample);
    free(d->bin);
    *d = (struct dist){ .pool = d->pool };
}
