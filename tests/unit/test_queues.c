/* Waiting lines against published tables and hand arithmetic. */
#include "model/queues.h"
#include "tests/support/support.h"

#include <math.h>

/* 8 requests a second of 0.4 s: Erlang C for 4 to 7 servers, as every planner's table has it. */
static void erlang_c_table(void **state)
{
    static const struct {
        int servers;
        double chance, mean_ms, p99_s;
    } row[] = { { 4, 0.5964, 298.2, 2.044 },
                { 5, 0.2886, 64.1, 0.747 },
                { 6, 0.1271, 18.2, 0.363 },
                { 7, 0.0509, 5.35, 0.171 } };
    (void)state;
    for (int i = 0; i < 4; i++) {
        const int c = row[i].servers;
        assert_close(mmc_wait_chance(8, 0.4, c), row[i].chance, 1e-3);
        assert_close(1e3 * mmc_wait_s(8, 0.4, c), row[i].mean_ms, 3e-3);
        assert_close(mmc_wait_quantile_s(8, 0.4, c, 0.99), row[i].p99_s, 2e-3);
    }
    assert_true(isinf(mmc_wait_s(8, 0.4, 3)));
    assert_true(isinf(mmc_wait_quantile_s(8, 0.4, 3, 0.99)));
    assert_close(mmc_wait_chance(8, 0.4, 3), 1, 0);
}

/* 49 a second: a card that serves 70, or seven slices of 10, each with a queue of its own or one
 * for all. */
static void slices_or_whole(void **state)
{
    (void)state;
    assert_close(mmc_wait_s(49, 1 / 70.0, 1) + 1 / 70.0, 1 / 21.0, 1e-12);
    assert_close(1e3 * (mmc_wait_s(49 / 7.0, 0.1, 1) + 0.1), 333.3, 2e-4);
    assert_close(1e3 * (mmc_wait_s(49, 0.1, 7) + 0.1), 114.3, 5e-4);
    assert_true(isinf(mmc_wait_s(49, 0.1, 1)));
}

static void one_server(void **state)
{
    (void)state;
    assert_close(mmc_wait_s(0.5, 1, 1), 1, 1e-12);   /* rho / (mu - lambda) */
    assert_close(mg1_wait_s(0.5, 1, 0), 0.5, 1e-12); /* M/D/1: half of M/M/1 */
    assert_close(mg1_wait_s(0.5, 1, 4), 2.5, 1e-12);
    assert_close(mg1_ps_response_s(0.5, 1), 2, 1e-12); /* S / (1 - rho) */
    assert_close(mgc_wait_s(0.5, 1, 4, 1), 2.5, 1e-12);
    assert_true(isinf(mg1_wait_s(1, 1, 1)) && isinf(mg1_ps_response_s(2, 1)));
}

/* A median below the chance of not waiting is 0, and large systems do not overflow. */
static void many_servers(void **state)
{
    (void)state;
    assert_close(mmc_wait_quantile_s(8, 0.4, 7, 0.5), 0, 0);
    const double chance = mmc_wait_chance(9900, 1, 10000);
    assert_true(chance > 0.2 && chance < 0.3);
}

/* Two users who think 1 s, one server of 1 s: states 0, 1, 2 weigh 1, 2, 2; busy 4/5 of the
 * time. */
static void repairman(void **state)
{
    (void)state;
    assert_close(repairman_rate(2, 1, 1, 1), 0.8, 1e-12);
    assert_close(repairman_rate(1, 3, 1, 1), 0.25, 1e-12);
    assert_close(repairman_rate(5, 0, 2, 3), 1.5, 1e-12);
    for (int users = 1; users <= 2000; users *= 3) {
        const struct closed_bounds b = closed_bounds_of(users, 9, 1, 4);
        const double rate = repairman_rate(users, 9, 1, 4);
        assert_true(rate <= b.rate_most * (1 + 1e-12));
        assert_true(rate >= b.rate_least * (1 - 1e-12));
        assert_true(users / rate - 9 >= b.response_least_s * (1 - 1e-9));
        assert_true(users / rate - 9 <= b.response_most_s * (1 + 1e-9) || users < 4);
    }
    assert_close(closed_bounds_of(1, 9, 1, 4).users_at_saturation, 40, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(erlang_c_table), cmocka_unit_test(slices_or_whole),
        cmocka_unit_test(one_server),     cmocka_unit_test(many_servers),
        cmocka_unit_test(repairman),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
