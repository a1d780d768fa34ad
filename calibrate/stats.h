/* calibrate/stats.h - what a set of timings says, and when to stop taking more of them.
 *
 * The estimate of every parameter is the median. Its interval comes from order statistics: ranks
 * (l, n + 1 - l) enclose the median of any continuous distribution with a probability that follows
 * from the binomial distribution alone (David and Nagaraja, Order Statistics, 3rd ed., 7.1), so a
 * bimodal or long-tailed set of timings gets an honest interval too.
 *
 * Pure functions and one growing array; any thread, one sampler per thread. Units: the caller's. */
#ifndef GPUSIM_CALIBRATE_STATS_H
#define GPUSIM_CALIBRATE_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* v sorted ascending, n >= 1. Median: mean of the two middle values when n is even. */
double stats_median(const double *sorted, size_t n);
/* Smallest value with at least a share p of the values at or below it; 0 < p <= 1. */
double stats_percentile(const double *sorted, size_t n, double p);
/* Median absolute deviation from the median, unscaled. O(n log n). */
double stats_mad(const double *sorted, size_t n);
void stats_sort(double *v, size_t n);

/* Ranks (from 0) of the narrowest symmetric order-statistic interval that holds the median with at
 * least `confidence`. Returns the coverage reached; with too few values (n < 6 at 0.95) that is the
 * whole range and the coverage is smaller than asked for: 1 - 2^(1-n). O(n). */
double stats_median_ranks(size_t n, double confidence, size_t *low, size_t *high);

struct estimate {
    double median, low, high; /* interval of the median; NAN when n == 0 */
    double coverage;          /* probability that [low, high] holds the median */
    double mad, p95, p99;
    double drift;        /* |median of the second half / of the first half - 1|; NAN below 8 */
    size_t n, discarded; /* discarded: taken while the card was throttled, not in n */
    bool target_met;     /* half-width / median reached the target before a limit */
};

/* v is reordered for the percentiles only in a copy. O(n log n). */
struct estimate stats_estimate(const double *v, size_t n);

/* Repeat until the interval's half-width is at most `relative` of the median, but at least min_n
 * times; give up (and say so) after max_n samples or `seconds`, whichever comes first. Discarded
 * samples count towards both limits, so a card that throttles for ever ends the loop. */
struct stop_rule {
    double relative;
    size_t min_n, max_n;
    double seconds;
};

struct sampler {
    double *v; /* in the order taken; freed by sampler_fini */
    size_t n, cap, discarded;
    struct stop_rule rule;
    double start_s;
    size_t next_check;
    bool met;
    /* what the way of measuring may be off by, either way: the estimate's interval is so much
     * wider. 0 after sampler_init; no part of the target */
    double give;
};

void sampler_init(struct sampler *s, const struct stop_rule *rule, double now_s);
void sampler_fini(struct sampler *s);
void sampler_add(struct sampler *s, double value);
void sampler_discard(struct sampler *s);
/* Whether another sample is wanted. Amortised O(log n): the interval is looked at when n has grown
 * by an eighth, which also keeps the repeated look from favouring lucky intervals. */
bool sampler_more(struct sampler *s, double now_s);
/* Whether the interval is within the target now, whatever ended the loop. What is counted, not
 * timed, is one sample by its rule (max_n 1) and has no target to miss. */
bool sampler_met(const struct sampler *s);
struct estimate sampler_estimate(const struct sampler *s);

#endif
