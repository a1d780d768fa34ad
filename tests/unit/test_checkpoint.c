/* test_checkpoint.c - the line of work and pauses by hand, and the best interval. Mutants: a
 * checkpoint at the very end, one that counts before its pause is over, Young's formula without its
 * 2. */
#include "engine/checkpoint.h"
#include "support/support.h"

#include <math.h>

#define S SIM_SECOND

static void near(double got, double want, double within)
{
    if (!(fabs(got - want) <= within)) fail_msg("%.9g, expected %.9g", got, want);
}

/* 100 s of work, every 20 s a pause of 2 s: 20 2 20 2 20 2 20 2 20, 108 s in all. */
static void line_of_work_and_pauses(void **state)
{
    const struct checkpoint_rule r = { 20 * S, 2 * S };
    static const struct {
        int64_t at, done, saved; /* s */
    } by_hand[] = {
        { 0, 0, 0 },    { 10, 10, 0 },  { 20, 20, 0 },  { 21, 20, 0 },
        { 22, 20, 20 }, { 30, 28, 20 }, { 42, 40, 20 }, { 44, 40, 40 },
        { 87, 80, 60 }, { 88, 80, 80 }, { 98, 90, 80 }, { 108, 100, 80 },
    };
    (void)state;
    assert_int_equal(checkpoint_line(&r, 100 * S, 100 * S), 108 * S);
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
        const simtime left = (108 - by_hand[i].at) * S;
        assert_int_equal(100 * S - checkpoint_left(&r, 100 * S, left), by_hand[i].done * S);
        assert_int_equal(checkpoint_saved(&r, 100 * S, left), by_hand[i].saved * S);
    }
    /* again from the second checkpoint, from between, and from the end */
    assert_int_equal(checkpoint_line(&r, 100 * S, 60 * S), 64 * S);
    assert_int_equal(checkpoint_line(&r, 100 * S, 55 * S), 59 * S);
    assert_int_equal(checkpoint_line(&r, 100 * S, 0), 0);
    /* shorter than one interval, none at all, nothing to do */
    assert_int_equal(checkpoint_line(&r, 20 * S, 20 * S), 20 * S);
    assert_int_equal(checkpoint_line(&r, 20 * S + 1, 20 * S + 1), 22 * S + 1);
    assert_int_equal(checkpoint_line(&r, 0, 0), 0);
    const struct checkpoint_rule none = { 0, 2 * S };
    assert_int_equal(checkpoint_line(&none, 100 * S, 40 * S), 40 * S);
    assert_int_equal(checkpoint_left(&none, 100 * S, 40 * S), 40 * S);
    assert_int_equal(checkpoint_saved(&none, 100 * S, 40 * S), 0);
}

/* Longer than the clock: it saturates and comes back in range. */
static void long_jobs(void **state)
{
    const struct checkpoint_rule r = { 1, INT64_C(9000000000) * S };
    (void)state;
    assert_int_equal(checkpoint_line(&r, SIM_NEVER / 2, SIM_NEVER / 2), SIM_NEVER - 1);
    const simtime left = checkpoint_left(&r, SIM_NEVER / 2, SIM_NEVER - 1);
    assert_true(left >= 0 && left <= SIM_NEVER / 2);
}

/* C = 50 s, M = 10,000 s: Young sqrt(2 x 50 x 10,000) = 1,000 s; C/2M = 0.0025, so Daly is
 * 1,000 (1 + 0.05/3 + 0.0025/9) - 50 = 966.944 s. */
static void best_interval(void **state)
{
    (void)state;
    near(checkpoint_young_s(50, 10000), 1000, 1e-9);
    near(checkpoint_daly_s(50, 10000), 1000 * (1 + 0.05 / 3 + 0.0025 / 9) - 50, 1e-9);
    near(checkpoint_daly_s(50, 10000), 966.944, 1e-3);
    near(checkpoint_daly_s(200, 100), 100, 0); /* a checkpoint takes as long as it lasts */
    near(checkpoint_daly_s(1e9, 100), 100, 0);
    /* every 1,000 s: 5 % for checkpoints, 5 % done twice, 1 % for restarts of 100 s */
    near(checkpoint_waste(1000, 50, 100, 10000), 0.05 + 0.05 + 0.01, 1e-12);
    /* to first order nothing is better than Young's */
    for (double f = 0.5; f < 2; f += 0.05)
        assert_true(checkpoint_waste(1000 * f, 50, 0, 10000) >=
                    checkpoint_waste(1000, 50, 0, 10000) - 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_of_work_and_pauses),
        cmocka_unit_test(long_jobs),
        cmocka_unit_test(best_interval),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
