#include "calibrate/stats.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double confidence_wanted = 0.95;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void stats_sort(double *v, size_t n)
{
    if (n > 1) qsort(v, n, sizeof *v, by_value);
}

double stats_median(const double *sorted, size_t n)
{
    return n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

double stats_percentile(const double *sorted, size_t n, double p)
{
    const double rank = ceil(p * (double)n);
    const size_t i = rank < 1 ? 0 : (size_t)rank - 1;
    return sorted[i < n ? i : n - 1];
}

static double *copy_sorted(const double *v, size_t n)
{
    double *c = xreallocarray(NULL, n ? n : 1, sizeof *c);
    if (n) memcpy(c, v, n * sizeof *c);
    stats_sort(c, n);
    return c;
}

double stats_mad(const double *sorted, size_t n)
{
    const double m = stats_median(sorted, n);
    double *d = xreallocarray(NULL, n, sizeof *d);
    for (size_t i = 0; i < n; i++) d[i] = fabs(sorted[i] - m);
    stats_sort(d, n);
    const double mad = stats_median(d, n);
    free(d);
    return mad;
}

double stats_median_ranks(size_t n, double confidence, size_t *low, size_t *high)
{
    /* B ~ Binomial(n, 1/2) values lie below the median; [x_(l), x_(n-1-l)], ranks from 0, misses it
     * when B <= l or B >= n - l. */
    const double log_half_n = -(double)n * log(2.0);
    double below = 0; /* P(B <= l) for the current candidate */
    double coverage = 0;

    *low = 0;
    *high = n ? n - 1 : 0;
    for (size_t l = 0; 2 * l + 1 < n; l++) {
        const double k = (double)l;
        below +=
            exp(lgamma((double)n + 1) - lgamma(k + 1) - lgamma((double)n - k + 1) + log_half_n);
        const double c = 1 - 2 * below;
        if (l > 0 && c < confidence) break;
        *low = l;
        *high = n - 1 - l;
        coverage = c;
        if (c < confidence) break;
    }
    return coverage;
}

struct estimate stats_estimate(const double *v, size_t n)
{
    struct estimate e = { .median = NAN,
                          .low = NAN,
                          .high = NAN,
                          .mad = NAN,
                          .p95 = NAN,
                          .p99 = NAN,
                          .drift = NAN,
                          .n = n };
    if (n == 0) return e;

    double *s = copy_sorted(v, n);
    size_t l, h;
    e.coverage = stats_median_ranks(n, confidence_wanted, &l, &h);
    e.median = stats_median(s, n);
    e.low = s[l];
    e.high = s[h];
    e.mad = stats_mad(s, n);
    e.p95 = stats_percentile(s, n, 0.95);
    e.p99 = stats_percentile(s, n, 0.99);
    free(s);
    if (n >= 8) {
        double *first = copy_sorted(v, n / 2), *second = copy_sorted(v + n / 2, n - n / 2);
        const double m = stats_median(first, n / 2);
        if (m != 0) e.drift = fabs(stats_median(second, n - n / 2) / m - 1);
        free(first);
        free(second);
    }
    return e;
}

void sampler_init(struct sampler *s, const struct stop_rule *rule, double now_s)
{
    *s = (struct sampler){ .rule = *rule, .start_s = now_s, .next_check = rule->min_n };
}

void sampler_fini(struct sampler *s)
{
    free(s->v);
    *s = (struct sampler){ 0 };
}

void sampler_add(struct sampler *s, double value)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 64;
        s->v = xreallocarray(s->v, s->cap, sizeof *s->v);
    }
    s->v[s->n++] = value;
}

void sampler_discard(struct sampler *s)
{
    s->discarded++;
}

bool sampler_met(const struct sampler *s)
{
    const struct estimate e = stats_estimate(s->v, s->n);
    if (s->rule.max_n == 1) return s->n == 1;
    return e.coverage >= confidence_wanted &&
           0.5 * (e.high - e.low) <= s->rule.relative * fabs(e.median);
}

bool sampler_more(struct sampler *s, double now_s)
{
    if (s->met) return false;
    if (s->n >= s->rule.min_n && s->n >= s->next_check) {
        s->met = sampler_met(s);
        s->next_check = s->n + (s->n / 8 ? s->n / 8 : 1);
        if (s->met) return false;
    }
    return s->n + s->discarded < s->rule.max_n && now_s - s->start_s < s->rule.seconds;
}

struct estimate sampler_estimate(const struct sampler *s)
{
    struct estimate e = stats_estimate(s->v, s->n);
    e.low -= s->give;
    e.high += s->give;
    e.discarded = s->discarded;
    e.target_met = s->met || (s->n >= s->rule.min_n && sampler_met(s));
    return e;
}
