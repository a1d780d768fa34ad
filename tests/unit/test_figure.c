/* test_figure.c - the rule of base/figure.h against values worked out by hand. */
#include "base/figure.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

static void shown(double x, int place, const char *want)
{
    struct strbuf b = { 0 };
    char text[64];
    figure_add(&b, x, place);
    assert_string_equal(b.s, want);
    assert_string_equal(figure_text(text, sizeof text, x, place), want);
    strbuf_fini(&b);
}

/* GUM 7.2.6: the second significant digit of half the width, after that was rounded itself. */
static void places_of_intervals(void **state)
{
    (void)state;
    assert_int_equal(figure_place(0.535), -2);  /* 3.97 to 5.04 */
    assert_int_equal(figure_place(0.0996), -2); /* 0.10 */
    assert_int_equal(figure_place(0.0994), -3); /* 0.099 */
    assert_int_equal(figure_place(1), -1);
    assert_int_equal(figure_place(9.96), 0);
    assert_int_equal(figure_place(1234), 2);
    assert_int_equal(figure_place(3e-8), -9);
    assert_int_equal(figure_place(1e-300), FIGURE_FINEST);
    assert_int_equal(figure_place(0), FIGURE_NO_PLACE);
    assert_int_equal(figure_place(-1), FIGURE_NO_PLACE);
    assert_int_equal(figure_place(NAN), FIGURE_NO_PLACE);
    assert_int_equal(figure_place(INFINITY), FIGURE_NO_PLACE);
}

static void with_an_interval(void **state)
{
    (void)state;
    /* the example that was wrong: 3.968 of 3.97 to 5.04 */
    shown(3.968, figure_place(0.5 * (5.0436 - 3.9687)), "3.97");
    shown(5.0436, figure_place(0.5 * (5.0436 - 3.9687)), "5.04");
    shown(100.02147, figure_place(0.00035), "100.02147"); /* the mass of the GUM, 7.2.2 */
    shown(512345, figure_place(43210), "512,000");
    shown(-512345, figure_place(43210), "-512,000");
    shown(1234567890, figure_place(1e6), "1,234,600,000");
    shown(4.5, figure_place(120), "0"); /* less than its doubt */
    shown(-4.5, figure_place(120), "0");
    shown(2.5e-7, figure_place(1.2e-8), "0.000000250");
    shown(0, figure_place(0.05), "0.000");
}

static void without_one(void **state)
{
    (void)state;
    shown(0, FIGURE_NO_PLACE, "0");
    shown(7, FIGURE_NO_PLACE, "7");
    shown(1234567, FIGURE_NO_PLACE, "1,234,567"); /* a count */
    shown(3.14159, FIGURE_NO_PLACE, "3.142");
    shown(9.99961, FIGURE_NO_PLACE, "10.00");
    shown(0.99996, FIGURE_NO_PLACE, "1.000");
    shown(27512.34, FIGURE_NO_PLACE, "27,510");
    shown(1.23456e-7, FIGURE_NO_PLACE, "0.0000001235");
    shown(1.5e-15, FIGURE_NO_PLACE, "0.000000000000");
    shown(-0.5, FIGURE_NO_PLACE, "-0.5000");
    shown(1.5e20, FIGURE_NO_PLACE, "150,000,000,000,000,000,000");
    shown(NAN, FIGURE_NO_PLACE, "n/a");
    shown(-INFINITY, 2, "n/a");
}

static void money(void **state)
{
    static const struct {
        double usd;
        const char *want;
    } t[] = { { 0, "0" },
              { 12, "12.00" },
              { 12.345, "12.35" },
              { 100, "100.00" },
              { 123.456, "123.46" },
              { 999.96, "1,000" },
              { 1234.56, "1,235" },
              { 51234.56, "51,230" },
              { 1e9, "1,000,000,000" },
              { 1e-7, "0.0000001000" } };
    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        shown(t[i].usd, figure_place_money(t[i].usd), t[i].want);
}

static void one_duration(double s, const char *want)
{
    struct strbuf b = { 0 };
    figure_add_duration(&b, s);
    assert_string_equal(b.s, want);
    strbuf_fini(&b);
}

static void durations(void **state)
{
    static const struct {
        double s;
        const char *want;
    } t[] = { { 0, "0 s" },        { 12, "12 s" },
              { 59.96, "60 s" },   { 119.9, "120 s" },
              { 5400, "90 min" },  { 17316, "4.81 h" },
              { 27500, "7.64 h" }, /* never 2.75e+04 s */
              { 216000, "2.5 d" }, { 1.23456e8, "1,430 d" },
              { 0.25, "250 ms" },  { 12.3e-6, "12.3 \xc2\xb5s" },
              { 4e-9, "4 ns" },    { -5400, "-90 min" },
              { NAN, "n/a" } };
    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) one_duration(t[i].s, t[i].want);
}

static void within(double s, double low, double high, const char *want)
{
    struct strbuf b = { 0 };
    figure_add_duration_within(&b, s, low, high);
    assert_string_equal(b.s, want);
    strbuf_fini(&b);
}

/* Centre and ends have one unit and one place. */
static void durations_within(void **state)
{
    (void)state;
    within(17316, 16416, 18216, "4.81 h"); /* half: 0.25 h */
    within(16416, 16416, 18216, "4.56 h");
    within(3600, 3600, 18000, "1.0 h"); /* half: 2.0 h */
    within(0, -7200, 7200, "0.0 h");
    within(17316, NAN, NAN, "4.81 h");
    within(NAN, 1, 2, "n/a");
}

static void stated(void **state)
{
    static const struct {
        double x;
        int digits;
        const char *want;
    } t[] = { { 4.5, 3, "4.5" },        { 12345, 3, "12,300" }, { 0.81, 9, "0.81" },
              { 250000, 9, "250,000" }, { 1, 3, "1" },          { 0.000005, 9, "0.000005" },
              { -2.50, 3, "-2.5" },     { 0, 3, "0" },          { NAN, 3, "n/a" } };
    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct strbuf b = { 0 };
        figure_add_short(&b, t[i].x, t[i].digits);
        assert_string_equal(b.s, t[i].want);
        strbuf_fini(&b);
    }
}

static void rounding(void **state)
{
    (void)state;
    assert_true(figure_round(3.968, -2) == 3.97);
    assert_true(figure_round(51234.56, 2) == 51200);
    assert_true(figure_round(3.968, FIGURE_NO_PLACE) == 3.968);
    assert_true(isnan(figure_round(NAN, 1)));
}

static void cut_to_its_room(void **state)
{
    char text[6];
    (void)state;
    assert_string_equal(figure_text(text, sizeof text, 123456, 0), "123,4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_of_intervals),
        cmocka_unit_test(with_an_interval),
        cmocka_unit_test(without_one),
        cmocka_unit_test(money),
        cmocka_unit_test(durations),
        cmocka_unit_test(durations_within),
        cmocka_unit_test(rounding),
        cmocka_unit_test(stated),
        cmocka_unit_test(cut_to_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
