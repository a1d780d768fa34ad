/* test_dist.c - percentiles by nearest rank, exact and as a histogram, within the shared budget. */
#include "support/support.h"

#include "base/mem.h"
#include "metrics/dist.h"

#include <math.h>
#include <stdlib.h>

/* A fixed sequence without a library's help, so the expected values never move. */
static double draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void empty_has_no_percentiles(void **state)
{
    (void)state;
    struct dist d = { 0 };
    struct summary s;
    dist_stat(&d, 3, &s);
    assert_int_equal(s.n, 0);
    assert_int_equal(s.censored, 3);
    assert_true(isnan(s.mean) && isnan(s.p50) && isnan(s.p99) && isnan(s.max));
    assert_true(isnan(dist_percentile(&d, 0.5)));
    dist_fini(&d);
}

static void nearest_rank_by_hand(void **state)
{
    (void)state;
    struct dist d = { 0 };
    const double x[] = { 2.385, 0, 7.5, 0, 1.25 }; /* sorted: 0 0 1.25 2.385 7.5 */
    struct summary s;
    for (int i = 0; i < 5; i++) dist_add(&d, x[i]);
    dist_stat(&d, 0, &s);
    assert_int_equal(s.n, 5);
    assert_close(s.mean, 11.135 / 5, 1e-15);
    assert_close(s.p50, 1.25, 0); /* rank 3 */
    assert_close(s.p90, 7.5, 0);  /* rank 5 */
    assert_close(s.max, 7.5, 0);
    assert_close(dist_percentile(&d, 0.4), 0, 0); /* rank 2 is a zero */
    assert_close(dist_percentile(&d, 0.41), 1.25, 0);
    assert_close(dist_percentile(&d, 1.0), 7.5, 0);
    dist_fini(&d);
}

static void rank_survives_binary_rounding(void **state)
{
    (void)state;
    struct dist d = { 0 };
    struct summary s;
    for (int i = 100; i >= 1; i--) dist_add(&d, i);
    dist_stat(&d, 0, &s);
    assert_close(s.p50, 50, 0);
    assert_close(s.p90, 90, 0);
    assert_close(s.p95, 95, 0);
    assert_close(s.p99, 99, 0);
    dist_fini(&d);
}

static void zeros_cost_nothing(void **state)
{
    (void)state;
    struct dist d = { 0 };
    struct summary s;
    for (int i = 0; i < 3000000; i++) dist_add(&d, 0);
    assert_null(d.sample);
    assert_true(dist_is_exact(&d));
    dist_stat(&d, 0, &s);
    assert_close(s.p99, 0, 0);
    assert_close(s.max, 0, 0);
    assert_close(s.mean, 0, 0);
    dist_fini(&d);
}

/* Against sorting everything: exact up to the limit, within 0.1 % beyond it. */
static void matches_sorted_samples(void **state)
{
    (void)state;
    static const double p[] = { 0.5, 0.9, 0.95, 0.99, 0.999 };
    const size_t sizes[] = { 1000, DIST_EXACT, DIST_EXACT + 1, 1500000 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k];
        uint64_t seed = 7;
        double *x = xcalloc(n, sizeof *x);
        struct dist d = { 0 };
        long double sum = 0;
        for (size_t i = 0; i < n; i++) {
            x[i] = exp(30 * draw(&seed) - 10); /* thirteen decades */
            sum += x[i];
            dist_add(&d, x[i]);
        }
        assert_int_equal(dist_is_exact(&d), n <= DIST_EXACT);
        qsort(x, n, sizeof *x, by_value);
        for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
            double want = x[(size_t)ceil(p[i] * (double)n) - 1], got = dist_percentile(&d, p[i]);
            assert_true(fabs(got / want - 1) <= (n <= DIST_EXACT ? 0 : 0.001));
        }
        struct summary s;
        dist_stat(&d, 0, &s);
        assert_close(s.max, x[n - 1], 0);
        assert_close(s.mean, (double)(sum / (long double)n), 1e-14);
        free(x);
        dist_fini(&d);
    }
}

static void histogram_of_equal_samples_is_exact(void **state)
{
    (void)state;
    struct dist_pool pool = { .budget = 0 };
    struct dist d = { .pool = &pool };
    for (int i = 0; i < 70000; i++) dist_add(&d, 12.5); /* also widens a 16-bit counter */
    assert_false(dist_is_exact(&d));
    assert_int_equal(d.width, 4);
    assert_close(dist_percentile(&d, 0.01), 12.5, 0);
    assert_close(dist_percentile(&d, 1), 12.5, 0);
    dist_fini(&d);
}

static void extremes_are_held(void **state)
{
    (void)state;
    struct dist_pool pool = { .budget = 0 };
    struct dist d = { .pool = &pool };
    const double x[] = { 1e-9, 9.2e9, 1e-30, 1e30, 1 };
    for (int i = 0; i < 5; i++) dist_add(&d, x[i]);
    assert_close(dist_percentile(&d, 1), 1e30, 0);
    assert_true(fabs(dist_percentile(&d, 0.6) - 1) < 0.001);
    assert_true(fabs(dist_percentile(&d, 0.8) / 9.2e9 - 1) < 0.001);
    dist_fini(&d);
}

/* A million jobs of 1,000 users stay exact; ten million stay within the memory bound. */
static void many_users_share_a_budget(void **state)
{
    (void)state;
    enum { USERS = 1000, METRICS = 3 };
    struct dist_pool pool = { .budget = DIST_POOL_BYTES };
    struct dist *d = xcalloc(USERS * METRICS, sizeof *d);
    uint64_t seed = 11;
    for (int i = 0; i < USERS * METRICS; i++) d[i].pool = &pool;
    for (int job = 0; job < 10000000; job++) {
        int user = (int)(draw(&seed) * USERS);
        for (int m = 0; m < METRICS; m++) dist_add(&d[user * METRICS + m], exp(14 * draw(&seed)));
        if (job + 1 == 1000000)
            for (int i = 0; i < USERS * METRICS; i++) assert_true(dist_is_exact(&d[i]));
    }
    size_t bytes = pool.used;
    for (int i = 0; i < USERS * METRICS; i++)
        bytes += sizeof d[i] + (size_t)d[i].n_bins * (size_t)d[i].width;
    print_message("[ memory ] 10 million jobs, 1,000 users, 3 metrics: %.1f MB\n",
                  (double)bytes / 1e6);
    assert_true(bytes < 100u * 1000 * 1000);
    for (int i = 0; i < USERS * METRICS; i++)
        assert_true(fabs(dist_percentile(&d[i], 0.5) / exp(7) - 1) < 0.35);
    for (int i = 0; i < USERS * METRICS; i++) dist_fini(&d[i]);
    assert_int_equal(pool.used, 0);
    free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_has_no_percentiles),
        cmocka_unit_test(nearest_rank_by_hand),
        cmocka_unit_test(rank_survives_binary_rounding),
        cmocka_unit_test(zeros_cost_nothing),
        cmocka_unit_test(matches_sorted_samples),
        cmocka_unit_test(histogram_of_equal_samples_is_exact),
        cmocka_unit_test(extremes_are_held),
        cmocka_unit_test(many_users_share_a_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
