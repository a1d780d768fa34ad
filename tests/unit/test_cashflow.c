/* test_cashflow.c - money at different times, against published cost models: Hamilton's monthly
 * annuities (2010), the warehouse-scale book, and finance identities. Reference cases A, B, D,
 * G. */
#include "support/support.h"

#include "cost/cashflow.h"

#include <math.h>

#define assert_cents(got, want) assert_true(fabs((got) - (want)) < 0.006)

/* Level payment at the end of each period that is worth `present_usd` now. */
static double payment(double present_usd, double rate, double periods)
{
    return present_usd / cashflow_annuity(rate, periods);
}

static double npv_of(const double *flow, size_t n, double rate_per_period)
{
    double npv = 0;
    for (size_t m = n; m-- > 0;) npv = npv / (1 + rate_per_period) + flow[m];
    return npv;
}

/* Case A. Annuities at 5 % / 12; published shares 57, 8, 18, 4, 13 % of "about 3.5 million". */
static void hamilton_2010(void **state)
{
    (void)state;
    const double r = 0.05 / 12, servers = payment(45978 * 1450.0, r, 36),
                 network = payment(12.81e6, r, 48), facility = payment(72e6, r, 120),
                 power = 8000 * 0.80 * 1.45 * 730 * 0.07,
                 total = servers + network + facility + power;
    assert_cents(servers, 1998102.77);
    assert_cents(network, 295005.25);
    assert_cents(facility, 763671.71);
    assert_cents(0.82 * facility, 626210.80);
    assert_cents(0.18 * facility, 137460.91);
    assert_cents(power, 474208.00);
    assert_cents(total, 3530987.73);
    /* facility of 88 million: printed in whole dollars */
    assert_true(fabs(total + payment(16e6, r, 120) - 3700693) < 0.5);
    const double share[] = { servers, network, 0.82 * facility, 0.18 * facility, power },
                 published[] = { 57, 8, 18, 4, 13 };
    for (int i = 0; i < 5; i++) assert_true(fabs(100 * share[i] / total - published[i]) < 0.6);
}

/* Case B. Interest = all payments of a loan at 8 % / 12 less what was borrowed. */
static void warehouse_scale_book(void **state)
{
    (void)state;
    static const struct {
        double W, server, years, pue, average, total;
    } rows[] = { { 500, 2000, 3, 1.5, 1, 6327.11 },
                 { 10200, 340000, 4, 1.5, 1, 523427.23 },
                 { 500, 2000, 3, 1.8, 0.75, 6196.86 } };
    for (size_t i = 0; i < 3; i++) {
        const double r = 0.08 / 12, L = rows[i].years, build = 10 * rows[i].W, C = rows[i].server,
                     kwh = rows[i].W / 1000 * rows[i].average * 720 * 12 * L,
                     building = build * L / 12 + (144 * payment(build, r, 144) - build) * L / 12 +
                                0.04 * rows[i].W * 12 * L,
                     server = C + 12 * L * payment(C, r, 12 * L) - C + 0.05 * C;
        assert_cents(building + server + kwh * 0.067 * rows[i].pue, rows[i].total);
    }
}

/* Case G. */
static void identities(void **state)
{
    (void)state;
    assert_true(fabs(payment(1000, 0.08, 4) - 301.920804) < 1e-6);
    assert_close(payment(1000, 0, 4), 250, 0);
    assert_close(cashflow_annuity(1e-9, 4), 4 * (1 - 2.5e-9), 1e-14); /* no digits lost near 0 */
    assert_close(pow(1 + cashflow_monthly_rate(0.08), 12), 1.08, 1e-15);
    const struct cash_plan p = { 71.5, 13.25, 9.75, 0.085, 6, CASH_YEAR_END };
    struct cash_plan level = { 0, cashflow_eac(&p), 0, 0.085, 6, CASH_YEAR_END };
    assert_close(cashflow_npv(&level), cashflow_npv(&p), 1e-14);
    struct cash_plan nothing_kept = p;
    nothing_kept.residual_usd = 0;
    assert_close(cashflow_npv(&nothing_kept) - cashflow_npv(&p), 9.75 * pow(1.085, -6), 1e-13);
    struct cash_plan one = nothing_kept, two = nothing_kept; /* longer life, lower EAC */
    one.years = 3, two.years = 5;
    assert_true(cashflow_eac(&two) < cashflow_eac(&one));
}

/* Case D, 13 shared cards: the yearly form, and the same month by month. */
static void by_month(void **state)
{
    (void)state;
    const struct cash_plan p = { 178750, 3194.40 + 8937.50, 30432.67, 0.08, 4, CASH_YEAR_END };
    double flow[49];
    assert_true(fabs(cashflow_npv(&p) - 196563.48) < 0.02);
    assert_int_equal(cashflow_months(&p), 49);
    cashflow_by_month(&p, flow, 49);
    assert_close(flow[0], 178750, 0);
    assert_close(flow[11], 0, 0);
    assert_close(flow[12], 12131.90, 1e-12);
    assert_close(flow[48], 12131.90 - 30432.67, 1e-12);
    for (int t = 0; t < 3; t++) {
        struct cash_plan q = p;
        q.timing = (enum cash_timing)t;
        cashflow_by_month(&q, flow, 49);
        assert_close(npv_of(flow, 49, cashflow_monthly_rate(0.08)), cashflow_npv(&q), 1e-12);
    }
    struct cash_plan start = p, month = p; /* paying later is cheaper */
    start.timing = CASH_YEAR_START, month.timing = CASH_MONTH_END;
    assert_true(cashflow_npv(&p) < cashflow_npv(&month));
    assert_true(cashflow_npv(&month) < cashflow_npv(&start));
    assert_close(cashflow_npv(&start) - p.upfront_usd + p.residual_usd * pow(1.08, -4),
                 12131.90 * 1.08 * cashflow_annuity(0.08, 4), 1e-12);
}

/* A term that ends within a year: 2.5 years. */
static void broken_year(void **state)
{
    (void)state;
    struct cash_plan p = { 0, 100, 0, 0.08, 2.5, CASH_YEAR_END };
    double flow[31];
    assert_close(cashflow_npv(&p), 100 / 1.08 + 100 / 1.1664 + 50 * pow(1.08, -2.5), 1e-14);
    assert_int_equal(cashflow_months(&p), 31);
    for (int t = 0; t < 3; t++) {
        p.timing = (enum cash_timing)t;
        cashflow_by_month(&p, flow, 31);
        double sum = 0;
        for (int m = 0; m < 31; m++) sum += flow[m];
        assert_close(sum, 250, 1e-14);
        assert_close(npv_of(flow, 31, cashflow_monthly_rate(0.08)), cashflow_npv(&p), 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hamilton_2010), cmocka_unit_test(warehouse_scale_book),
        cmocka_unit_test(identities),    cmocka_unit_test(by_month),
        cmocka_unit_test(broken_year),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
