/* test_breakeven.c - buy or rent: a published calculator (reference case C), hand-computed cases
 * (A12 of the users' questions, G, I), and the directions in which a break-even must move. */
#include "support/support.h"

#include "cost/breakeven.h"
#include "cost/cashflow.h"

#include <math.h>

/* A node of eight: 300,000 over 4 years, 10.2 kW x PUE 1.3 at 0.12, 30,000 a year; rent 2.50. */
static double node_use(double capex, double price, double pue, double idle_share, double rent,
                       double residual)
{
    const double fixed = (capex - residual) / 4 + 30000, energy = 10.2 * 8760 * pue * price;
    return breakeven_use(fixed + idle_share * energy, fixed + energy, rent * 8 * 8760);
}

static void node_of_eight(void **state)
{
    (void)state;
    assert_true(fabs(node_use(300000, 0.12, 1.3, 1, 2.5, 0) - 0.6789) < 5e-5);
    assert_true(fabs(node_use(300000, 0.12, 1.3, 0.3, 2.5, 0) - 0.6599) < 5e-5);
    const double base = node_use(300000, 0.12, 1.3, 0.3, 2.5, 0);
    assert_close(node_use(300000, 0.12, 1.3, 1, 5, 0), 0.5 * node_use(300000, 0.12, 1.3, 1, 2.5, 0),
                 1e-14);
    assert_true(node_use(330000, 0.12, 1.3, 0.3, 2.5, 0) > base);
    assert_true(node_use(300000, 0.15, 1.3, 0.3, 2.5, 0) > base);
    assert_true(node_use(300000, 0.12, 1.6, 0.3, 2.5, 0) > base);
    assert_true(node_use(300000, 0.12, 1.3, 0.3, 2.9, 0) < base);
    assert_true(node_use(300000, 0.12, 1.3, 0.3, 2.5, 60000) < base);
    /* against a reservation, billed around the clock: 1.6972 < 2.50 at any use, nothing to cross */
    assert_close(breakeven_price(118938.912, 8, 1), 1.6972, 5e-5);
}

static void curves_that_do_not_cross(void **state)
{
    (void)state;
    assert_true(isnan(breakeven_use(100, 100, 99)));    /* rent is cheaper even at full use */
    assert_true(isnan(breakeven_use(10, 130, 100)));    /* power alone costs more than the rent */
    assert_true(isnan(breakeven_use(0.5, 100.5, 100))); /* parallel */
    assert_close(breakeven_use(100, 100, 100), 1, 0);
    assert_close(breakeven_use(0, 50, 100), 0, 0);
    assert_true(isnan(breakeven_price(1, 8, 0)));
    assert_true(isnan(breakeven_months(1000, 60, 60, 0.01, 1e9)));
    assert_true(isnan(breakeven_months(1000, 10, 15, 0.005, 1e9))); /* interest eats the saving */
    assert_true(isnan(breakeven_months(1000, 10, 60, 0.01, 22)));   /* later than the limit */
    assert_close(breakeven_months(0, 10, 60, 0.01, 22), 0, 0);
    assert_true(isnan(breakeven_months(0, 60, 10, 0.01, 22)));
}

/* Case G; and it is the month at which the present values meet. */
static void discounted_month(void **state)
{
    (void)state;
    const double m = breakeven_months(1000, 10, 60, 0.01, 48);
    assert_true(fabs(m - 22.425742) < 1e-6);
    assert_close(1000 + 10 * cashflow_annuity(0.01, m), 60 * cashflow_annuity(0.01, m), 1e-13);
}

/* Case C: 17 nodes of a public calculator, nothing discounted. */
static void public_calculator(void **state)
{
    (void)state;
    const double years = 5, servers = 17 * 340000.0, capex = servers + 1600000, kW = 17 * 10.2,
                 electricity = kW * 1.5 * 8760 * years * 0.13, colo = kW * 200 * 12 * years,
                 maintenance = 0.1 * capex * years, staff = 4 * 45000 * years,
                 opex = electricity + colo + maintenance + staff + 1000000;
    const struct cash_plan own = { capex, opex / years, 0, 0, years, CASH_YEAR_END };
    assert_true(fabs(electricity - 1481009.40) < 0.01);
    assert_true(fabs(cashflow_npv(&own) - 16531809.40) < 0.01);
    static const struct {
        double cloud, months;
    } rows[] = { { 88241056.80, 5.598738 }, { 57356686.92, 9.185792 }, { 39708475.56, 14.491109 } };
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(breakeven_months(capex, opex / 60, rows[i].cloud / 60, 0, 60) -
                         rows[i].months) < 1e-6);
}

/* Case G: reserved at 0.64 of the on-demand price pays above 64 % of use. */
static void reserved_against_on_demand(void **state)
{
    (void)state;
    assert_close(breakeven_use(0.64, 0.64, 1.0), 0.64, 1e-15);
}

/* Case I: demand uniform on 0..100, 1.30 committed, 3.25 on demand: K = 60, 104 an hour. */
static void commit_to_the_base(void **state)
{
    (void)state;
    struct demand_level d[1000];
    for (int i = 0; i < 1000; i++) d[i] = (struct demand_level){ 0.1 * i + 0.05, 2.5 };
    const double K = commit_level(d, 1000, 1.3, 3.25);
    assert_true(fabs(K - 60) < 0.06);
    assert_true(fabs(commit_usd_per_hour(d, 1000, K, 1.3, 3.25) - 104) < 1e-3);
    for (double other = 0; other <= 100; other += 7) /* no other level is cheaper */
        assert_true(commit_usd_per_hour(d, 1000, other, 1.3, 3.25) >=
                    commit_usd_per_hour(d, 1000, K, 1.3, 3.25) - 1e-9);
    assert_close(commit_level(d, 1000, 3.25, 3.25), 0, 0); /* never pays */
    assert_close(commit_level(d, 1000, 0, 3.25), 99.95, 1e-12);
    const struct demand_level whole[] = { { 2, 0.5 }, { 7, 0.3 }, { 12, 0.2 } };
    assert_close(commit_level(whole, 3, 0.45, 1), 7, 0); /* P(> 2) = 0.5, P(> 7) = 0.2 */
    assert_close(commit_level(whole, 3, 0.5, 1), 2, 0);
    /* paid to commit: all that is ever asked for */
    assert_close(commit_level(whole, 3, -0.1, 1), 12, 0);
    assert_close(commit_usd_per_hour(whole, 3, 7, 0.45, 1), 3.15 + 0.2 * 5, 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(node_of_eight),
        cmocka_unit_test(curves_that_do_not_cross),
        cmocka_unit_test(discounted_month),
        cmocka_unit_test(public_calculator),
        cmocka_unit_test(reserved_against_on_demand),
        cmocka_unit_test(commit_to_the_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
