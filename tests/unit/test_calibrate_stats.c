/* The statistics of calibrate against hand-known values and against their own promise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calibrate/stats.h"
#include "tests/support/close.h"

static void order_statistics_by_hand(void **state)
{
    (void)state;
    const double odd[] = { 1.5, 2.25, 7.75 }, even[] = { 1, 2.5, 4.5, 100 };
    assert_close(stats_median(odd, 3), 2.25, 0);
    assert_close(stats_median(even, 4), 3.5, 0);
    assert_close(stats_mad(odd, 3), 0.75, 1e-15);  /* deviations 0.75 0 5.5 */
    assert_close(stats_mad(even, 4), 1.75, 1e-15); /* 2.5 1 1 96.5 */
    assert_close(stats_percentile(even, 4, 0.5), 2.5, 0);
    assert_close(stats_percentile(even, 4, 0.51), 4.5, 0);
    assert_close(stats_percentile(even, 4, 1), 100, 0);
    assert_close(stats_percentile(even, 4, 1e-9), 1, 0);
}

/* Binomial sums by hand; n = 100 is the textbook's 40th and 61st value. */
static void ranks_of_the_median(void **state)
{
    static const struct {
        size_t n, low, high;
        double coverage;
    } known[] = {
        { 1, 0, 0, 0 },
        { 2, 0, 1, 0.5 },
        { 5, 0, 4, 0.9375 },
        { 6, 0, 5, 0.96875 },
        { 8, 0, 7, 0.9921875 },
        { 9, 1, 7, 0.9609375 },
        { 10, 1, 8, 0.978515625 },
        { 20, 5, 14, 0.958610534668 },
        { 100, 39, 60, 0.964799799782 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t low, high;
        const double c = stats_median_ranks(known[i].n, 0.95, &low, &high);
        assert_int_equal(low, known[i].low);
        assert_int_equal(high, known[i].high);
        assert_close(c, known[i].coverage, 1e-9);
    }
    size_t low, high; /* no overflow or underflow where 2^-n is not a number any more */
    const double c = stats_median_ranks(20000, 0.95, &low, &high);
    assert_true(c >= 0.95 && c < 0.96 && low > 9800 && low < 9900);
    assert_int_equal(low + high, 19999);
}

static uint64_t next(uint64_t *x)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return *x >> 11;
}

/* A long-tailed law with median 1: exp of a difference of uniforms. The interval must hold the
 * median at least as often as it says, and not always. */
static void interval_keeps_its_promise(void **state)
{
    enum { TRIALS = 4000, N = 37 };
    uint64_t x = 7;
    int hits = 0;
    double promised = 0;
    (void)state;
    for (int t = 0; t < TRIALS; t++) {
        double v[N];
        for (int i = 0; i < N; i++)
            v[i] = exp(5 * ((double)next(&x) * 0x1p-53 - (double)next(&x) * 0x1p-53));
        const struct estimate e = stats_estimate(v, N);
        hits += e.low <= 1 && 1 <= e.high;
        promised = e.coverage;
    }
    assert_true(promised >= 0.95 && promised < 0.98);
    /* three standard errors of a share of 4000 trials */
    assert_true(fabs((double)hits / TRIALS - promised) < 0.012);
}

static void few_samples(void **state)
{
    const double one = 3.25;
    (void)state;
    struct estimate e = stats_estimate(NULL, 0);
    assert_true(isnan(e.median) && isnan(e.low) && isnan(e.drift) && e.n == 0 && e.coverage == 0);
    e = stats_estimate(&one, 1);
    assert_close(e.median, 3.25, 0);
    assert_close(e.low, 3.25, 0);
    assert_close(e.coverage, 0, 0);
    assert_true(isnan(e.drift));
}

static void order_taken_is_kept_for_drift(void **state)
{
    const double v[] = { 2, 2.125, 1.875, 2, 2.5, 2.375, 2.625, 2.5 };
    (void)state;
    const struct estimate e = stats_estimate(v, 8);
    assert_close(e.drift, 0.25, 1e-15);
    assert_close(e.median, 2.25, 1e-15); /* 1.875 2 2 2.125 | 2.375 2.5 2.5 2.625 */
    assert_close(v[0], 2, 0);            /* the caller's array is as it was */
    assert_close(v[2], 1.875, 0);
}

static const struct stop_rule rule = { .relative = 0.02, .min_n = 12, .max_n = 500, .seconds = 3 };

static void stops_when_narrow(void **state)
{
    struct sampler s;
    (void)state;
    sampler_init(&s, &rule, 100);
    while (sampler_more(&s, 100.1)) sampler_add(&s, s.n % 2 ? 4.01 : 3.99);
    struct estimate e = sampler_estimate(&s);
    assert_int_equal(e.n, 12);
    assert_true(e.target_met);
    assert_close(e.median, 4, 1e-12);
    assert_false(sampler_more(&s, 100.1)); /* stays stopped */
    s.give = 0.25;
    const struct estimate wide = sampler_estimate(&s);
    assert_true(wide.low == e.low - 0.25 && wide.high == e.high + 0.25);
    assert_true(wide.median == e.median && wide.target_met == e.target_met);
    sampler_fini(&s);
}

static void says_that_the_target_was_missed(void **state)
{
    struct sampler s;
    uint64_t x = 3;
    (void)state;
    sampler_init(&s, &rule, 0); /* wide noise: by number */
    while (sampler_more(&s, 0)) sampler_add(&s, next(&x) % 2 ? 1 : 3);
    assert_int_equal(s.n, 500);
    assert_false(sampler_estimate(&s).target_met);
    sampler_fini(&s);

    double now = 0; /* by time */
    sampler_init(&s, &rule, now);
    while (sampler_more(&s, now)) {
        sampler_add(&s, next(&x) % 2 ? 1 : 3);
        now += 0.25;
    }
    assert_int_equal(s.n, 12);
    assert_false(sampler_estimate(&s).target_met);
    sampler_fini(&s);
}

static void time_limit_before_the_least_number(void **state)
{
    struct sampler s;
    double now = 0;
    (void)state;
    sampler_init(&s, &rule, now);
    while (sampler_more(&s, now)) {
        sampler_add(&s, 5);
        now += 1.5;
    }
    assert_int_equal(s.n, 2);
    assert_false(sampler_estimate(&s).target_met); /* equal values, but too few of them */
    sampler_fini(&s);
}

static void discarded_samples_end_the_loop_too(void **state)
{
    struct sampler s;
    (void)state;
    sampler_init(&s, &rule, 0);
    while (sampler_more(&s, 0)) sampler_discard(&s);
    const struct estimate e = sampler_estimate(&s);
    assert_int_equal(e.n, 0);
    assert_int_equal(e.discarded, 500);
    assert_false(e.target_met);
    sampler_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_statistics_by_hand),
        cmocka_unit_test(ranks_of_the_median),
        cmocka_unit_test(interval_keeps_its_promise),
        cmocka_unit_test(few_samples),
        cmocka_unit_test(order_taken_is_kept_for_drift),
        cmocka_unit_test(stops_when_narrow),
        cmocka_unit_test(says_that_the_target_was_missed),
        cmocka_unit_test(time_limit_before_the_least_number),
        cmocka_unit_test(discarded_samples_end_the_loop_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
