/* test_montecarlo.c - sampling against moments of the triangular distribution, paired differences,
 * ties, swings and switching values worked out by hand. */
#include "support/support.h"

#include "cost/montecarlo.h"

#include <math.h>
#include <string.h>

static const struct amount skewed = { .low = 2, .mode = 3, .high = 8 };

static void triangular(void **state)
{
    (void)state;
    assert_close(amount_at(&skewed, 0), 2, 0);
    assert_close(amount_at(&skewed, 1), 8, 0);
    assert_close(amount_at(&skewed, MC_MODE), 3, 0);
    assert_close(amount_at(&skewed, 1.0 / 6), 3, 1e-15); /* (3 - 2) / (8 - 2) lie below the mode */
    for (double u = 0.01; u < 1; u += 0.07)
        assert_close(amount_share_below(&skewed, amount_at(&skewed, u)), u, 1e-12);
    assert_close(amount_at(&(struct amount){ .low = 5, .mode = 5, .high = 5 }, 0.9), 5, 0);
    assert_close(amount_at(&(struct amount){ .low = 5, .mode = 5, .high = 9 }, 0), 5, 0);
    assert_close(amount_share_below(&(struct amount){ .low = 5, .mode = 9, .high = 9 }, 9), 1, 0);
}

/* own = 10 x + 7, rent = 12 x y: one input shared, one of rent alone; slack costs as much as
 * own. */
static double toy(const void *ctx, size_t option, const double *u)
{
    const struct amount *in = ctx;
    const double x = amount_at(&in[0], u[0]);
    return option == 1 ? 12 * x * amount_at(&in[1], u[1]) : 10 * x + 7;
}

static const struct amount toy_amounts[] = { { .low = 2, .mode = 3, .high = 8 },
                                             { .low = 1, .mode = 1.5, .high = 2 } };
static const struct mc_input toy_inputs[] = {
    { "x", NULL, { .low = 2, .mode = 3, .high = 8 } },
    { "y", "rent", { .low = 1, .mode = 1.5, .high = 2 } }
};
static const char *const toy_options[] = { "own", "rent", "slack" };

static struct mc_model toy_model(size_t options)
{
    return (struct mc_model){ toy_inputs, toy_options, 2, options, toy, toy_amounts };
}

static void moments(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct mc_result r;
    const struct mc_model m = toy_model(2);
    mc_run(&r, &m,
           &(struct mc_options){ .samples = 40000, .seed = 7, .quasi = false, .against = 0 }, a);
    /* mean of a triangle (low + mode + high) / 3; x and y are independent */
    assert_close(r.option[0].cost.mean, 10 * 13 / 3.0 + 7, 0.003);
    assert_close(r.option[1].cost.mean, 12 * 13 / 3.0 * 1.5, 0.004);
    const double p[] = { 0.05, 0.10, 0.50, 0.90, 0.95 };
    const double *got = &r.option[0].cost.p5;
    for (int i = 0; i < 5; i++) assert_close(got[i], 10 * amount_at(&skewed, p[i]) + 7, 0.01);
    assert_close(r.option[0].p_cheapest + r.option[1].p_cheapest, 1, 1e-12);
    assert_close(r.option[0].at_modes, 37, 0);
    assert_close(r.option[1].at_modes, 54, 0);
    assert_int_equal(r.best, 0);
    assert_close(r.option[0].difference.p95, 0, 0);
    assert_false(r.option[0].tie);
    /* rent is cheaper where y < 5/6 + 7/12x: in 0.0012 of the cases, which is below 5 % */
    assert_true(fabs(r.option[1].p_cheapest - 0.001191) < 0.0006);
    assert_false(r.option[1].tie);
    arena_destroy(a);
}

static void swings_and_flips(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct mc_result r;
    const struct mc_model m = toy_model(2);
    mc_run(&r, &m, &(struct mc_options){ .samples = 10, .seed = 7, .quasi = false, .against = 0 },
           a);
    /* lead of own over rent: x: 18 x - 10 x - 7, from 9 to 57; y: 36 y - 37, from -1 to 35 */
    assert_int_equal(r.swing[0].input, 0);
    assert_close(r.swing[0].swing, 48, 1e-12);
    assert_true(isnan(r.swing[0].switching_value)); /* flips at x = 7/8, outside */
    assert_int_equal(r.swing[1].input, 1);
    assert_close(r.swing[1].swing, 36, 1e-12);
    assert_close(r.swing[1].low[1], 36, 1e-12);
    assert_close(r.swing[1].high[0], 37, 1e-12);
    assert_close(r.swing[1].switching_value, 37 / 36.0, 1e-9);
    assert_int_equal(r.swing[1].switches_to, 1);
    const struct mc_model alone = toy_model(1);
    mc_run(&r, &alone,
           &(struct mc_options){ .samples = 10, .seed = 7, .quasi = false, .against = 0 }, a);
    assert_close(r.swing[0].swing, 60, 1e-12);
    assert_true(isnan(r.swing[0].switching_value));
    assert_close(r.option[0].p_cheapest, 1, 1e-12);
    arena_destroy(a);
}

/* Equal options share what is cheapest; a further option moves nobody's samples; seeds repeat. */
static void common_random_numbers(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct mc_result two, three, again, other;
    const struct mc_model m2 = toy_model(2), m3 = toy_model(3);
    mc_run(&two, &m2,
           &(struct mc_options){ .samples = 999, .seed = 7, .quasi = false, .against = 0 }, a);
    mc_run(&again, &m2,
           &(struct mc_options){ .samples = 999, .seed = 7, .quasi = false, .against = 0 }, a);
    mc_run(&other, &m2,
           &(struct mc_options){ .samples = 999, .seed = 8, .quasi = false, .against = 0 }, a);
    mc_run(&three, &m3,
           &(struct mc_options){ .samples = 999, .seed = 7, .quasi = false, .against = 0 }, a);
    assert_memory_equal(&two.option[1].cost, &again.option[1].cost, sizeof(struct mc_band));
    assert_memory_equal(&two.option[1].cost, &three.option[1].cost, sizeof(struct mc_band));
    assert_true(memcmp(&two.option[1].cost, &other.option[1].cost, sizeof(struct mc_band)) != 0);
    assert_close(three.option[0].p_cheapest, two.option[0].p_cheapest / 2, 1e-12);
    assert_close(three.option[2].p_cheapest, three.option[0].p_cheapest, 1e-15);
    assert_close(three.option[2].difference.p95, 0, 0);
    assert_true(three.option[2].tie);
    /* an input less: the other keeps its draws */
    const struct mc_model fixed = { toy_inputs, toy_options, 1, 1, toy, toy_amounts };
    mc_run(&other, &fixed,
           &(struct mc_options){ .samples = 999, .seed = 7, .quasi = false, .against = 0 }, a);
    assert_memory_equal(&two.option[0].cost, &other.option[0].cost, sizeof(struct mc_band));
    arena_destroy(a);
}

static void nothing_uncertain(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct mc_result r;
    static const struct amount fixed[] = { { .low = 3, .mode = 3, .high = 3 },
                                           { .low = 1.5, .mode = 1.5, .high = 1.5 } };
    const struct mc_model m = { toy_inputs, toy_options, 1, 1, toy, fixed };
    mc_run(&r, &m, &(struct mc_options){ .samples = 1, .seed = 7, .quasi = false, .against = 0 },
           a);
    assert_close(r.option[0].cost.p5, 37, 0);
    assert_close(r.swing[0].swing, 0, 0);
    assert_close(r.option[0].cost.mean, 37, 0);
    arena_destroy(a);
}

/* A Sobol sequence fills the square evenly: the mean of 1,024 draws is several times nearer than
 * random ones may be expected to (standard error 0.38 here); another seed shifts it, the same one
 * repeats. */
static void quasi_random(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct mc_result one, again, other;
    const struct mc_model m = toy_model(2);
    mc_run(&one, &m,
           &(struct mc_options){ .samples = 1024, .seed = 7, .quasi = true, .against = 0 }, a);
    mc_run(&again, &m,
           &(struct mc_options){ .samples = 1024, .seed = 7, .quasi = true, .against = 0 }, a);
    mc_run(&other, &m,
           &(struct mc_options){ .samples = 1024, .seed = 8, .quasi = true, .against = 0 }, a);
    assert_true(fabs(one.option[0].cost.mean - (10 * 13 / 3.0 + 7)) < 0.06);
    assert_true(fabs(one.option[1].cost.mean - 12 * 13 / 3.0 * 1.5) < 0.09);
    assert_true(fabs(other.option[0].cost.mean - (10 * 13 / 3.0 + 7)) < 0.06);
    assert_close(one.option[1].cost.p90, again.option[1].cost.p90, 0);
    assert_true(one.option[1].cost.p90 != other.option[1].cost.p90);
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangular),        cmocka_unit_test(moments),
        cmocka_unit_test(swings_and_flips),  cmocka_unit_test(common_random_numbers),
        cmocka_unit_test(nothing_uncertain), cmocka_unit_test(quasi_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
