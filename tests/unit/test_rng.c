/* Random streams: fixed by (seed, replication, purpose), independent of each other and of the
 * environment. */
#include "base/rng.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>

static void same_inputs_same_stream(void **state)
{
    gsl_rng *a = rng_create(1, 0, "arrivals"), *b = rng_create(1, 0, "arrivals");

    (void)state;
    for (int i = 0; i < 100; i++) assert_int_equal(gsl_rng_get(a), gsl_rng_get(b));
    gsl_rng_free(a);
    gsl_rng_free(b);
}

static void each_input_matters(void **state)
{
    const uint64_t base = rng_mix(1, 0, "arrivals");

    (void)state;
    assert_true(base != rng_mix(2, 0, "arrivals"));
    assert_true(base != rng_mix(1, 1, "arrivals"));
    assert_true(base != rng_mix(1, 0, "sizes"));
    assert_true(rng_mix(1, 0, "ab") != rng_mix(1, 0, "ba"));
    assert_true(rng_mix(1, 2, "x") != rng_mix(2, 1, "x"));
    assert_true(rng_mix(0, 0, "") != 0);
}

/* A run's random numbers must never change unnoticed: these are what the first version drew. */
static void streams_are_the_same_for_ever(void **state)
{
    gsl_rng *r = rng_create(1, 0, "arrivals");

    (void)state;
    assert_true(rng_mix(1, 0, "arrivals") == UINT64_C(0xb75351e70b5e5cbe));
    assert_int_equal(gsl_rng_get(r), 4197609508u);
    assert_int_equal(gsl_rng_get(r), 3954993392u);
    gsl_rng_free(r);
}

static void the_environment_does_not_matter(void **state)
{
    gsl_rng *a = rng_create(7, 3, "faults");

    (void)state;
    setenv("GSL_RNG_SEED", "99", 1);
    setenv("GSL_RNG_TYPE", "taus", 1);
    gsl_rng *b = rng_create(7, 3, "faults");
    for (int i = 0; i < 10; i++) assert_int_equal(gsl_rng_get(a), gsl_rng_get(b));
    gsl_rng_free(a);
    gsl_rng_free(b);
}

/* Correlation of two streams over n draws has standard deviation 1 / sqrt(n). */
static void streams_are_uncorrelated(void **state)
{
    enum { DRAWS = 100000 };
    gsl_rng *a = rng_create(1, 0, "arrivals"), *b = rng_create(1, 1, "arrivals");
    double ab = 0, mean = 0;

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        const double x = gsl_rng_uniform(a) - 0.5, y = gsl_rng_uniform(b) - 0.5;
        ab += 12 * x * y;
        mean += x;
    }
    assert_true(fabs(ab / DRAWS) < 5 / sqrt(DRAWS));
    assert_true(fabs(mean / DRAWS) < 5 / sqrt(12.0 * DRAWS));
    gsl_rng_free(a);
    gsl_rng_free(b);
}

int main(void)
{
    const struct CMUnitTest t[] = {
        cmocka_unit_test(same_inputs_same_stream),
        cmocka_unit_test(each_input_matters),
        cmocka_unit_test(streams_are_the_same_for_ever),
        cmocka_unit_test(the_environment_does_not_matter),
        cmocka_unit_test(streams_are_uncorrelated),
    };

    return cmocka_run_group_tests_name("rng", t, NULL, NULL);
}
