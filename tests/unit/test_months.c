/* test_months.c - cash by the month and the month at which buying has paid, worked out by hand. */
#include "support/support.h"

#include "cost/months.h"
#include "cost/tco.h"

#include <math.h>
#include <string.h>

static const struct gpu_spec l40s = { .name = "l40s", .tdp_W = 350 };

static struct price_item item(const char *name, enum price_driver d, enum price_period period,
                              double usd, double life_y)
{
    return (struct price_item){
        .name = name, .driver = d, .period = period, .amount = amount_known(usd), .life_y = life_y
    };
}

/* Ten cards for a tenth of a year, all held. */
static struct tco_result price(const struct price_item *items, size_t n, double rate, double term_y,
                               struct arena *a)
{
    static struct usage_group g;
    struct price_book *book = arena_alloc(a, sizeof *book);
    *book = (struct price_book){
        .name = "b", .pue = 1, .rate = rate, .term_y = term_y, .item = items, .n_items = n
    };
    g = (struct usage_group){
        .gpu = &l40s, .nodes = 1, .cards = 10, .allocated_h = 8760, .occupied_h = 8760
    };
    const struct usage u = { .hours = 876, .group = &g, .n_groups = 1 };
    return tco_price(&u, "whole", book, a);
}

/* 10 cards at 1200, 100 a month each for operation against renting at 0.2 USD an hour: 12000 + 1000
 * m against 1460 m, month 26.09, so 27. At 1 % a month: 12000 / 460 = a(0.01, m), m = 30.3. */
static void one_purchase(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    const struct price_item own[] = { item("card", PRICE_card, PER_ONCE, 1200, 4),
                                      item("run", PRICE_licence, PER_YEAR, 1200, 0) },
                            rented[] = { item("rent", PRICE_gpu_hour, PER_USE, 0.2, 0) };
    struct tco_result o = price(own, 2, pow(1.01, 12) - 1, 4, a), r = price(rented, 1, 0, 1, a);
    assert_int_equal(o.n_months, 49);
    assert_close(o.upfront_usd, 12000, 1e-9);
    assert_close(o.resale_usd, 0, 1e-9);
    assert_close(o.paid_by_month_usd[0], 12000, 1e-9);
    assert_close(o.paid_by_month_usd[7], 19000, 1e-6);
    assert_close(o.paid_by_month_usd[48], 60000, 1e-6);
    assert_true(months_rented(&r));
    assert_false(months_rented(&o));
    const struct payback x = months_payback(&o, "cloud", &r, a);
    assert_string_equal(x.rent, "cloud");
    assert_close(x.month, 27, 0);
    assert_close(x.month_discounted, 31, 0);
    assert_close(x.usd_per_year, 17520, 1e-6);
    assert_close(x.paid_by_month_usd[12], 17520, 1e-6);
    /* never: 0.18 USD an hour are 1314 a month, 12000 / 314 is month 38.2, discounted 48.4 of 48 */
    r.usd_per_year = 12 * 1314;
    const struct payback y = months_payback(&o, "cloud", &r, a);
    assert_close(y.month, 39, 0);
    assert_true(isnan(y.month_discounted));
    arena_destroy(a);
}

/* Cards with a life of a year and a half, bought again at months 18 and 36 of 42; the last keeps
 * half its value per year for half a year. Renting is dearer at month 17 and cheaper after 18:
 * not paid back before the end if it is not so for good. */
static void bought_again(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct price_item own[] = { item("card", PRICE_card, PER_ONCE, 1700, 1.5) };
    own[0].retention = 0.5;
    const struct price_item rented[] = { item("rent", PRICE_gpu_hour, PER_USE, 1, 0) };
    struct tco_result o = price(own, 1, 0, 3.5, a), r = price(rented, 1, 0, 1, a);
    assert_int_equal(o.n_months, 43);
    assert_close(o.paid_by_month_usd[17], 17000, 1e-9);
    assert_close(o.paid_by_month_usd[18], 34000, 1e-9);
    assert_close(o.paid_by_month_usd[42], 51000, 1e-9);
    assert_close(o.resale_usd, 17000 * sqrt(0.5), 1e-6);
    r.usd_per_year = 12000; /* ahead in month 17 only */
    assert_true(isnan(months_payback(&o, "r", &r, a).month));
    r.usd_per_year = 12 * 1250; /* ahead from 14 to 17, from 28 to 35, from 41 on */
    assert_close(months_payback(&o, "r", &r, a).month, 41, 0);
    arena_destroy(a);
}

/* Only who buys is held against who rents. */
static void all_policies(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    const struct price_item own[] = { item("card", PRICE_card, PER_ONCE, 1200, 4) },
                            rented[] = { item("rent", PRICE_allocated_gpu_hour, PER_USE, 0.5, 0) };
    struct policy_result p[] = { { .name = "own", .tco = price(own, 1, 0, 4, a) },
                                 { .name = "cloud", .tco = price(rented, 1, 0, 4, a) },
                                 { .name = "free" } };
    months_paybacks(p, 3, a);
    assert_int_equal(p[0].tco.n_paybacks, 1);
    assert_string_equal(p[0].tco.payback[0].rent, "cloud");
    assert_close(p[0].tco.payback[0].month, 4, 0); /* 12000 against 3650 a month */
    assert_int_equal(p[1].tco.n_paybacks, 0);
    assert_int_equal(p[2].tco.n_paybacks, 0);
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_purchase),
        cmocka_unit_test(bought_again),
        cmocka_unit_test(all_policies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
