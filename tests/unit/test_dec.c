/* Decimal text: hand-known values, every refusal, and round trips over random numbers. */
#include "base/dec.h"
#include "tests/support/support.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fixed_by_hand(void **state)
{
    static const struct {
        const char *text;
        int digits;
        enum dec_status st;
        int64_t want;
    } t[] = {
        { "12.5", 9, DEC_OK, INT64_C(12500000000) },
        { "0", 9, DEC_OK, 0 },
        { "-0", 0, DEC_OK, 0 },
        { "007", 0, DEC_OK, 7 }, /* base 10 */
        { "0.25", 3, DEC_OK, 250 },
        { ".5", 1, DEC_OK, 5 },
        { "5.", 1, DEC_OK, 50 },
        { "+3", 0, DEC_OK, 3 },
        { "-1.5", 0, DEC_OK, -2 }, /* half away from zero */
        { "1.5", 0, DEC_OK, 2 },
        { "1.4999999999999999999999", 0, DEC_OK, 1 },
        { "0.5", 0, DEC_OK, 1 },
        { "0.05", 0, DEC_OK, 0 },
        { "1.2e+05", 0, DEC_OK, 120000 },
        { "1.2E5", 3, DEC_OK, 120000000 },
        { "12345e-3", 3, DEC_OK, 12345 },
        { "1e-400", 9, DEC_OK, 0 },
        { "0e999999999999", 9, DEC_OK, 0 },
        { "0.1234567", 9, DEC_OK, 123456700 }, /* seven places survive */
        { "9223372036854775807", 0, DEC_OK, INT64_MAX },
        { "-9223372036854775808", 0, DEC_OK, INT64_MIN },
        { "9223372036.854775807", 9, DEC_OK, INT64_MAX },
        { "000000000000000000000000000000012", 0, DEC_OK, 12 },
        { "9223372036854775808", 0, DEC_RANGE, 0 },
        { "-9223372036854775809", 0, DEC_RANGE, 0 },
        { "9223372036854775807.5", 0, DEC_RANGE, 0 },
        { "99999999999999999999", 0, DEC_RANGE, 0 },
        { "1e19", 0, DEC_RANGE, 0 },
        { "1e999999999999999999999", 0, DEC_RANGE, 0 },
        { "9300000000", 9, DEC_RANGE, 0 },
        { "", 0, DEC_EMPTY, 0 },
        { "-", 0, DEC_SYNTAX, 0 },
        { ".", 0, DEC_SYNTAX, 0 },
        { "--1", 0, DEC_SYNTAX, 0 },
        { "+-1", 0, DEC_SYNTAX, 0 },
        { "1e", 0, DEC_SYNTAX, 0 },
        { "1e+", 0, DEC_SYNTAX, 0 },
        { "e5", 0, DEC_SYNTAX, 0 },
        { "1 ", 0, DEC_SYNTAX, 0 },
        { " 1", 0, DEC_SYNTAX, 0 },
        { "1,5", 0, DEC_SYNTAX, 0 },
        { "1.2.3", 0, DEC_SYNTAX, 0 },
        { "nan", 0, DEC_SYNTAX, 0 },
        { "inf", 0, DEC_SYNTAX, 0 },
        { "0x10", 0, DEC_SYNTAX, 0 },
        { "1_000", 0, DEC_SYNTAX, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        int64_t v = 77;
        const enum dec_status st = dec_fixed(t[i].text, strlen(t[i].text), t[i].digits, &v);
        if (st != t[i].st || v != (st ? 77 : t[i].want))
            print_error("\"%s\": status %d, value %" PRId64 "\n", t[i].text, (int)st, v);
        assert_int_equal(st, t[i].st);
        assert_int_equal(v, st ? 77 : t[i].want); /* untouched after a failure */
    }
}

static void exact_refuses_only_what_is_lost(void **state)
{
    int64_t v = 0;

    (void)state;
    assert_int_equal(dec_fixed_exact("0.1234", 6, 3, &v), DEC_INEXACT);
    assert_int_equal(dec_fixed_exact("0.1230", 6, 3, &v), DEC_OK);
    assert_int_equal(v, 123);
    assert_int_equal(dec_fixed_exact("1e-30", 5, 3, &v), DEC_INEXACT);
    assert_int_equal(dec_fixed_exact("0.0000", 6, 0, &v), DEC_OK);
    assert_int_equal(v, 0);
    assert_int_equal(dec_fixed_exact("1234.5e-2", 9, 3, &v), DEC_OK);
    assert_int_equal(v, 12345);
}

static void text_ends_where_the_length_says(void **state)
{
    int64_t v = 0;
    double d = 0;

    (void)state;
    assert_int_equal(dec_fixed("12.5garbage", 4, 1, &v), DEC_OK);
    assert_int_equal(v, 125);
    assert_int_equal(dec_double("2.5e3", 3, &d), DEC_OK);
    assert_close(d, 2.5, 0);
}

static void unsigned_integers(void **state)
{
    uint64_t u = 0;

    (void)state;
    assert_int_equal(dec_u64("80", 2, &u), DEC_OK);
    assert_int_equal(u, 80);
    assert_int_equal(dec_u64("80.0", 4, &u), DEC_OK);
    assert_int_equal(u, 80);
    assert_int_equal(dec_u64("80.5", 4, &u), DEC_INEXACT);
    assert_int_equal(dec_u64("-1", 2, &u), DEC_RANGE);
    assert_int_equal(dec_u64("-0", 2, &u), DEC_OK);
    assert_int_equal(dec_u64("18446744073709551615", 20, &u), DEC_OK);
    assert_true(u == UINT64_MAX);
    assert_int_equal(dec_u64("18446744073709551616", 20, &u), DEC_RANGE);
    assert_int_equal(dec_u64("18446744073709551615.9", 22, &u), DEC_RANGE);
    assert_int_equal(dec_u64("x", 1, &u), DEC_SYNTAX);
}

static void doubles(void **state)
{
    char digits[401];
    double d = 0;

    (void)state;
    assert_int_equal(dec_double("0.1", 3, &d), DEC_OK);
    assert_true(d == 0.1);
    assert_int_equal(dec_double("-2.385e-7", 9, &d), DEC_OK);
    assert_true(d == -2.385e-7);
    assert_int_equal(dec_double("1e308", 5, &d), DEC_OK);
    assert_int_equal(dec_double("1e309", 5, &d), DEC_RANGE);
    assert_int_equal(dec_double("nan", 3, &d), DEC_SYNTAX);
    assert_int_equal(dec_double("0x1p3", 5, &d), DEC_SYNTAX);
    assert_int_equal(dec_double("", 0, &d), DEC_EMPTY);
    memset(digits, '9', 400);
    assert_int_equal(dec_double(digits, 400, &d), DEC_RANGE);
    assert_int_equal(dec_double(digits, 300, &d), DEC_OK);
    assert_close(d, 1e300, 1e-15);
    digits[1] = '.';
    assert_int_equal(dec_double(digits, 400, &d), DEC_OK);
    assert_close(d, 10, 1e-15);
    assert_int_equal(dec_double_scaled("1.555", 5, 12, &d), DEC_OK);
    assert_true(d == 1555e9);
    assert_int_equal(dec_double_scaled("3e5", 3, -5, &d), DEC_OK);
    assert_true(d == 3);
}

static void reasons_are_words(void **state)
{
    (void)state;
    for (int st = DEC_OK; st <= DEC_INEXACT; st++)
        assert_true(strlen(dec_why((enum dec_status)st)) > 3);
    assert_string_equal(dec_why(DEC_SYNTAX), "not a number");
    assert_string_equal(dec_why(DEC_RANGE), "out of range");
}

static void prints_shortest(void **state)
{
    static const struct {
        int64_t v;
        int digits;
        const char *want;
    } t[] = {
        { 12500000000, 9, "12.5" },
        { 250, 3, "0.25" },
        { 8000, 3, "8" },
        { 0, 9, "0" },
        { 5, 3, "0.005" },
        { -1500, 3, "-1.5" },
        { 7, 0, "7" },
        { 100, 0, "100" },
        { INT64_MIN, 0, "-9223372036854775808" },
        { INT64_MAX, 18, "9.223372036854775807" },
    };
    char buf[64];

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        assert_int_equal(dec_print(buf, sizeof buf, t[i].v, t[i].digits), strlen(t[i].want));
        assert_string_equal(buf, t[i].want);
    }
    assert_int_equal(dec_print(buf, 3, 12345, 0), 5); /* cut like snprintf */
    assert_string_equal(buf, "12");
    assert_int_equal(dec_print(NULL, 0, 12345, 0), 5);
}

static void print_and_read_back(void **state)
{
    uint64_t rng = test_seed();
    char buf[64];

    (void)state;
    for (int i = 0; i < 200000; i++) {
        const int digits = (int)(test_random(&rng) % 19);
        const unsigned drop = (unsigned)(test_random(&rng) % 64);
        const int64_t v = (int64_t)test_random(&rng) >> drop;
        int64_t back = 0;
        const size_t n = dec_print(buf, sizeof buf, v, digits);
        assert_int_equal(dec_fixed_exact(buf, n, digits, &back), DEC_OK);
        if (back != v) print_error("%s with %d digits\n", buf, digits);
        assert_int_equal(back, v);
    }
}

static void doubles_agree_with_strtod(void **state)
{
    uint64_t rng = test_seed();
    char buf[64];

    (void)state;
    for (int i = 0; i < 100000; i++) {
        const double mantissa = (double)(int64_t)(test_random(&rng) >> test_random(&rng) % 60);
        const int exp = (int)(test_random(&rng) % 60) - 30;
        const int n =
            snprintf(buf, sizeof buf, "%.*ge%d", 1 + (int)(test_random(&rng) % 17), mantissa, 0);
        char *e = strchr(buf, 'e');
        if (strchr(e + 1, 'e'))
            *strrchr(buf, 'e') = '\0';
        else
            snprintf(e, sizeof buf - (size_t)(e - buf), "e%d", exp);
        double d = -1;
        assert_true(n > 0);
        assert_int_equal(dec_double(buf, strlen(buf), &d), DEC_OK);
        if (d != strtod(buf, NULL)) print_error("%s\n", buf);
        assert_true(d == strtod(buf, NULL));
    }
}

/* Every way to cut a random number into the fast and the long path gives the same integer. */
static void fast_and_long_path_agree(void **state)
{
    uint64_t rng = test_seed();
    char plain[64], exponent[80];

    (void)state;
    for (int i = 0; i < 100000; i++) {
        int64_t a = 0, b = 0;
        snprintf(plain, sizeof plain, "%s%u.%0*u", test_random(&rng) % 2 ? "-" : "",
                 (unsigned)(test_random(&rng) % 1000000), 1 + (int)(test_random(&rng) % 7),
                 (unsigned)(test_random(&rng) % 10));
        snprintf(exponent, sizeof exponent, "%se0", plain);
        assert_int_equal(dec_fixed(plain, strlen(plain), 3, &a), DEC_OK);
        assert_int_equal(dec_fixed(exponent, strlen(exponent), 3, &b), DEC_OK);
        assert_int_equal(a, b);
    }
}

int main(void)
{
    const struct CMUnitTest t[] = {
        cmocka_unit_test(fixed_by_hand),
        cmocka_unit_test(exact_refuses_only_what_is_lost),
        cmocka_unit_test(text_ends_where_the_length_says),
        cmocka_unit_test(unsigned_integers),
        cmocka_unit_test(doubles),
        cmocka_unit_test(reasons_are_words),
        cmocka_unit_test(prints_shortest),
        cmocka_unit_test(print_and_read_back),
        cmocka_unit_test(doubles_agree_with_strtod),
        cmocka_unit_test(fast_and_long_path_agree),
    };

    return cmocka_run_group_tests_name("dec", t, NULL, NULL);
}
