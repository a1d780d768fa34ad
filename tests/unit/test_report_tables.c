/* test_report_tables.c - digits, words and names in the tables of the report. */
#include "support/support.h"

#include "plots/page.h"

#include <math.h>

/* Other languages say the figures of the English sentences, to the same digits, of the same
 * policies. */
static void why_is_said_alike(void **state)
{
    static const struct advice_reason why[] = {
        { "b", "slowdown_p95", "mig", 4.004, 91.744 },
        { "c", "cost", "mig", 4.6802, 5.4059 },
        { "d", "wait_p95_s", "mig", 12.04, 17280 },
    };
    static const struct advice_flip flips[] = {
        { "f", "slowdown_p95", "mig", 91.744 },
        { "g", "cost_share", "mig", -0.26441 },
        { "h", "usd_per_card_year", "mig", 5579.3 },
    };
    static const struct decision_option costs[] = {
        { .policy = "timeslice",
          .cost = 4.16,
          .cost_p10 = 4.131,
          .cost_p50 = 4.6802,
          .cost_p90 = 5.257 },
        { .policy = "mig", .cost = 4.9, .cost_p10 = 4.8, .cost_p50 = 5.4059, .cost_p90 = 6.1 },
    };
    struct decision d = { .about = "(all)",
                          .policy = "timeslice",
                          .cost_unit = "USD per useful GPU-hour",
                          .by_median = true,
                          .option = costs,
                          .n_options = 2,
                          .reason = why,
                          .n_reasons = 3,
                          .flip = flips,
                          .n_flips = 3 };
    struct policy_result x[2] = { { .name = "mig" }, { .name = "timeslice" } };
    struct result r = { .policy = x, .n_policies = 2, .decision = &d, .n_decisions = 1 };
    struct strbuf out = { 0 };
    struct arena *a = arena_create();
    struct page p = { .out = &out, .r = &r, .a = a, .lang = LANG_ZH };
    (void)state;
    page_decisions(&p);
    assert_contains(out.s, "成本 4.68 美元/有效 GPU 小时；mig 为 5.41</li>");
    assert_contains(out.s, "等待不超过 12 s；mig 为 4.8 h</li>");
    assert_contains(
        out.s, "若可接受 91.7 的 95 % 减速比，则 mig 更便宜：5.41 对 4.68 美元/有效 GPU 小时</li>");
    assert_contains(out.s,
                    "若 mig 的成本降低 26.4 %（卡更少或更便宜，或租金更低），则 mig 更便宜</li>");
    assert_contains(out.s,
                    "若 timeslice 需要每卡每年 5,580 美元以上的许可或支持，则 mig 更便宜</li>");
    strbuf_clear(&out);
    d.by_median = false; /* the stated prices decide: four digits */
    d.n_options = 0;
    page_decisions(&p);
    assert_contains(out.s, "成本 4.68 美元/有效 GPU 小时；mig 为 5.406</li>");
    assert_contains(out.s, "则 mig 更便宜</li>");
    strbuf_fini(&out);
    arena_destroy(a);
}

/* One run has no interval: a difference has no finer digits than what it is a difference of,
 * costs those of the prices. */
static void differences_without_interval(void **state)
{
    static const struct comparison_row rows[] = {
        { "b", "energy_kwh", "kWh", 134.1123, 142.3441, 8.2318, NAN, NAN },
        { "b", "usd_per_useful_gpu_hour", "USD/h", 4.5499, 3.7976, -0.7523, NAN, NAN },
        { "b", "completed", "jobs", 313, 399, 86, NAN, NAN },
    };
    static const struct decision_option drawn[] = {
        { .policy = "a", .cost_p10 = 3.9, .cost_p50 = 4.4, .cost_p90 = 4.9 },
    };
    struct policy_result x[2] = { { .name = "a" }, { .name = "b" } };
    struct decision d = { .option = drawn, .n_options = 1 };
    struct result r = { .policy = x, .n_policies = 2, .comparison = rows, .n_comparisons = 3 };
    struct strbuf out = { 0 };
    struct arena *a = arena_create();
    struct page p = { .out = &out, .r = &r, .a = a };
    (void)state;
    page_comparison(&p);
    assert_contains(out.s, ">134.1</td><td data-v=\"8.2318\" title=\"8.2318\">+8.2</td>");
    assert_contains(out.s, ">4.550</td><td data-v=\"-0.7523\" title=\"-0.7523\">&minus;0.752</td>");
    assert_contains(out.s, ">313</td><td data-v=\"86\">+86</td>");
    strbuf_clear(&out);
    r.decision = &d;
    r.n_decisions = 1;
    page_comparison(&p);
    assert_contains(out.s, ">4.55</td><td data-v=\"-0.7523\" title=\"-0.7523\">&minus;0.75</td>");
    strbuf_fini(&out);
    arena_destroy(a);
}

/* A spreadsheet takes for a formula what begins like one: names of users are a stranger's.
 * Figures stay figures. */
static void names_are_no_formulas(void **state)
{
    struct result r = { .n_policies = 0 };
    struct strbuf out = { 0 };
    struct arena *a = arena_create();
    struct page p = { .out = &out, .r = &r, .a = a };
    struct grid t;
    (void)state;
    grid_open(&t, &p, "t", W_CARDS);
    grid_column(&t, "u", NULL, true);
    grid_column(&t, "x", "", false);
    grid_row(&t, false);
    grid_name(&t, "=1+1", "");
    grid_number(&t, -2.5, FIGURE);
    grid_row(&t, false);
    grid_name(&t, "a=1", "");
    grid_number(&t, 3, FIGURE);
    grid_close(&t);
    assert_contains(out.s, ">=1+1</th>");
    assert_contains(out.s, "%22%27=1%2B1%22,-2.5%0D%0A%22a=1%22,3");
    strbuf_fini(&out);
    arena_destroy(a);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(why_is_said_alike),
        cmocka_unit_test(differences_without_interval),
        cmocka_unit_test(names_are_no_formulas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
