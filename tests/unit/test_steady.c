/* Output analysis against series whose answer is known. */
#include "base/rng.h"
#include "metrics/steady.h"
#include "tests/support/support.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

enum { SEED = 20261130 };

static struct steady *fresh(void)
{
    struct steady *s = calloc(1, sizeof *s);
    assert_non_null(s);
    return s;
}

static void too_few(void **state)
{
    struct steady *s = fresh();
    struct steady_result r;
    (void)state;
    steady_result(s, &r);
    assert_int_equal(r.n, 0);
    for (int i = 0; i < 99; i++) steady_add(s, i, 1);
    steady_result(s, &r);
    assert_int_equal(r.n, 0);
    steady_add(s, 99, 1);
    steady_result(s, &r);
    assert_int_equal(r.n, 100);
    assert_close(r.mean, 1, 0);
    assert_close(r.effective_n, 100, 0);
    free(s);
}

/* Independent values: each counts as one, and the interval holds the mean in 95 of 100 series. */
static void independent(void **state)
{
    enum { SERIES = 200, VALUES = 20000 };
    int covered = 0;
    double effective = 0;
    (void)state;
    for (uint64_t k = 0; k < SERIES; k++) {
        gsl_rng *r = rng_create(SEED, k, "independent");
        struct steady *s = fresh();
        struct steady_result out;
        for (int i = 0; i < VALUES; i++) steady_add(s, i * SIM_SECOND, gsl_ran_exponential(r, 3));
        steady_result(s, &out);
        covered += out.low <= 3 && 3 <= out.high;
        effective += out.effective_n / (double)out.n / SERIES;
        assert_true(out.warmup_found);
        free(s);
        gsl_rng_free(r);
    }
    print_message("seed %d: interval covers %d of %d, effective share %.3f\n", SEED, covered,
                  SERIES, effective);
    assert_in_range(covered, 180, 198);
    assert_true(effective > 0.85 && effective <= 1.0);
}

/* x[i] = a x[i-1] + noise: n (1 - a) / (1 + a) independent values. */
static void autoregressive(void **state)
{
    enum { SERIES = 60, VALUES = 100000 };
    const double a = 0.9, expected = (1 - a) / (1 + a);
    double share = 0;
    (void)state;
    for (uint64_t k = 0; k < SERIES; k++) {
        gsl_rng *r = rng_create(SEED, k, "autoregressive");
        struct steady *s = fresh();
        struct steady_result out;
        double x = 0;
        for (int i = 0; i < VALUES; i++) {
            x = a * x + gsl_ran_gaussian(r, 1);
            steady_add(s, i * SIM_SECOND, 50 + x);
        }
        steady_result(s, &out);
        share += out.effective_n / (double)out.n / SERIES;
        free(s);
        gsl_rng_free(r);
    }
    print_message("seed %d: effective share %.4f, known %.4f\n", SEED, share, expected);
    assert_close(share, expected, 0.15);
}

/* A thousand values of a start that is over: found within a batch of ten. */
static void a_start(void **state)
{
    gsl_rng *r = rng_create(SEED, 0, "start");
    struct steady *s = fresh();
    struct steady_result out;
    (void)state;
    for (int i = 0; i < 10000; i++)
        steady_add(s, i * SIM_SECOND, (i < 1000 ? 20 : 1) + gsl_rng_uniform(r));
    steady_result(s, &out);
    assert_true(out.warmup_found);
    assert_true(out.warmup_s >= 1000 && out.warmup_s <= 1100);
    assert_close(out.mean, 1.5, 0.02);
    /* half of the width is 5 % of the mean at that multiple of the length */
    assert_close(out.length_for_5_percent, pow((out.high - out.low) / 2 / (0.05 * out.mean), 2),
                 1e-12);
    free(s);
    gsl_rng_free(r);
}

/* A queue that grows for ever never settles. */
static void growth(void **state)
{
    struct steady *s = fresh();
    struct steady_result out;
    (void)state;
    for (int i = 0; i < 50000; i++) steady_add(s, i * SIM_SECOND, i);
    steady_result(s, &out);
    assert_false(out.warmup_found);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_few), cmocka_unit_test(independent), cmocka_unit_test(autoregressive),
        cmocka_unit_test(a_start), cmocka_unit_test(growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
