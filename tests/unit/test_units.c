/* Quantities: hand-known values, refusals with the unit that was meant, round trips. */
#include "base/units.h"
#include "tests/support/support.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void times(void **state)
{
    static const struct {
        const char *text;
        simtime want; /* -1: refused */
    } t[] = {
        { "12 s", 12 * SIM_SECOND },
        { "12s", 12 * SIM_SECOND },
        { "0 s", 0 },
        { "1.024 ms", 1024000 },
        { "0.1234567 s", 123456700 }, /* exact: no double could lose the last places */
        { "2 us", 2000 },
        { "7 ns", 7 },
        { "1.5 min", 90 * SIM_SECOND },
        { "6 h", 6 * SIM_HOUR },
        { "7 d", 168 * SIM_HOUR },
        { "1 w", 168 * SIM_HOUR },
        { "1 y", 8760 * SIM_HOUR },
        { "1e3 s", 1000 * SIM_SECOND },
        { "20000000 min", INT64_C(1200000000) * SIM_SECOND },
        { "9200000000 s", INT64_C(9200000000) * SIM_SECOND },
        { "0.4 ns", 0 },
        { "0.5 ns", 1 }, /* finer than a tick: the nearest */
        { "9200000001 s", -1 },
        { "300 y", -1 },
        { "1e30 s", -1 },
        { "99999999999999999999 ns", -1 },
        { "-1 s", -1 },
        { "+1 s", -1 },
        { "12", -1 },
        { "", -1 },
        { "s", -1 },
        { " 1 s", -1 },
        { "1  s", -1 },
        { "1 s ", -1 },
        { "1 S", -1 },
        { "nan s", -1 },
        { "inf s", -1 },
        { "0x10 s", -1 },
        { "1.2.3 s", -1 },
        { "1 GiB", -1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        simtime ns = -1;
        const int rc = unit_parse_time(t[i].text, &ns, NULL);
        if (ns != t[i].want) print_error("\"%s\": %" PRId64 "\n", t[i].text, ns);
        assert_int_equal(rc, t[i].want < 0 ? -1 : 0);
        assert_int_equal(ns, t[i].want);
    }
}

static void bytes(void **state)
{
    static const struct {
        const char *text;
        uint64_t want; /* 1: refused */
    } t[] = {
        { "80 GiB", UINT64_C(80) << 30 },
        { "80 GB", UINT64_C(80000000000) },
        { "80GB", UINT64_C(80000000000) },
        { "46068 MiB", UINT64_C(46068) << 20 },
        { "39.5 GiB", UINT64_C(79) << 29 },
        { "0.1 GiB", 107374182 }, /* 107374182.4 */
        { "1024 KiB", 1 << 20 },
        { "1.5 kB", 1500 },
        { "2 TB", UINT64_C(2000000000000) },
        { "1 TiB", UINT64_C(1) << 40 },
        { "7 TiB", UINT64_C(7) << 40 },
        { "9223372036854775807 B", INT64_MAX },
        { "8388608 TiB", 1 }, /* 2^63 */
        { "80 GW", 1 },
        { "80", 1 },
        { "80 gb", 1 },
        { "-80 GB", 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        uint64_t b = 1;
        const int rc = unit_parse_bytes(t[i].text, &b, NULL);
        if (b != t[i].want) print_error("\"%s\": %" PRIu64 "\n", t[i].text, b);
        assert_int_equal(rc, t[i].want == 1 ? -1 : 0);
        assert_true(b == t[i].want);
    }
}

static void other_dimensions(void **state)
{
    static const struct {
        enum unit_dim dim;
        const char *text;
        double want;
    } t[] = {
        { UNIT_TIME, "10 us", 10e-6 },
        { UNIT_TIME, "2 h", 7200 },
        { UNIT_BYTES, "1.5 GiB", 1.5 * 1073741824 },
        { UNIT_RATE, "100 Gbit/s", 12.5e9 },
        { UNIT_RATE, "1.555 TB/s", 1555e9 },
        { UNIT_RATE, "64 GiB/s", 64.0 * 1073741824 },
        { UNIT_RATE, "8 bit/s", 1 },
        { UNIT_FLOPS, "312 TFLOPS", 312e12 },
        { UNIT_FLOPS, "1.979 PFLOPS", 1.979e15 },
        { UNIT_FLOPS, "624 TOPS", 624e12 },
        { UNIT_FREQ, "1410 MHz", 1410e6 },
        { UNIT_POWER, "400 W", 400 },
        { UNIT_POWER, "1.2 kW", 1200 },
        { UNIT_MONEY, "9750 USD", 9750 },
        { UNIT_PER_KWH, "0.12 USD/kWh", 0.12 },
        { UNIT_PER_H, "0.99 USD/h", 0.99 },
        { UNIT_PER_Y, "450 USD/y", 450 },
        { UNIT_CARBON, "0.38 kg/kWh", 380 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        double v = -1;
        assert_int_equal(unit_parse(t[i].text, t[i].dim, &v, NULL), 0);
        if (v != t[i].want) print_error("%s: %.17g\n", t[i].text, v);
        assert_true(v == t[i].want); /* to the last bit */
    }
    double v = -1;
    assert_int_equal(unit_parse("1e400 W", UNIT_POWER, &v, NULL), -1);
    assert_int_equal(unit_parse("1e300 PFLOPS", UNIT_FLOPS, &v, NULL), -1);
    assert_int_equal(unit_parse("400", UNIT_POWER, &v, NULL), -1);
    assert_int_equal(unit_parse("400 J", UNIT_POWER, &v, NULL), -1);
    assert_true(v == -1);
}

static void the_unit_that_was_meant(void **state)
{
    static const struct {
        enum unit_dim dim;
        const char *text, *want;
    } t[] = {
        { UNIT_BYTES, "80 GW", "GB" },      { UNIT_BYTES, "80 gb", "GB" },
        { UNIT_BYTES, "80 G", "GiB" },      { UNIT_BYTES, "80 Gi", "GiB" },
        { UNIT_TIME, "5 minutes", "min" },  { UNIT_TIME, "5 sec", "s" },
        { UNIT_TIME, "5 \xC2\xB5s", "us" }, { UNIT_RATE, "100 Gbps", "Gbit/s" },
        { UNIT_MONEY, "5 $", "USD" },       { UNIT_PER_KWH, "1 USD/kwh", "USD/kWh" },
        { UNIT_TIME, "5 bananas", NULL },   { UNIT_TIME, "5", NULL },
        { UNIT_TIME, "x", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const char *near = "unset";
        double v;
        assert_int_equal(unit_parse(t[i].text, t[i].dim, &v, &near), -1);
        if (!t[i].want) {
            assert_null(near);
            continue;
        }
        assert_non_null(near);
        assert_string_equal(near, t[i].want);
    }
}

static void expectations_are_valid_examples(void **state)
{
    (void)state;
    for (int dim = 0; dim < UNIT_DIMS; dim++) {
        const char *s = unit_expected((enum unit_dim)dim), *from = strchr(s, '"');
        char text[64];
        double v;
        assert_non_null(from);
        snprintf(text, sizeof text, "%.*s", (int)strcspn(from + 1, "\""), from + 1);
        assert_int_equal(unit_parse(text, (enum unit_dim)dim, &v, NULL), 0);
    }
}

static void formats_as_people_write(void **state)
{
    char buf[64];

    (void)state;
    unit_format_time(buf, sizeof buf, 12 * SIM_SECOND);
    assert_string_equal(buf, "12 s");
    unit_format_time(buf, sizeof buf, 168 * SIM_HOUR);
    assert_string_equal(buf, "7 d");
    unit_format_time(buf, sizeof buf, 0);
    assert_string_equal(buf, "0 s");
    unit_format_time(buf, sizeof buf, 1);
    assert_string_equal(buf, "1 ns");
    unit_format_time(buf, sizeof buf, INT64_C(9200000000) * SIM_SECOND);
    simtime back;
    assert_int_equal(unit_parse_time(buf, &back, NULL), 0);
    unit_format_bytes(buf, sizeof buf, UINT64_C(80) << 30);
    assert_string_equal(buf, "80 GiB");
    unit_format_bytes(buf, sizeof buf, UINT64_C(80000000000));
    assert_string_equal(buf, "80 GB");
    unit_format_bytes(buf, sizeof buf, UINT64_C(46068) << 20);
    assert_string_equal(buf, "46068 MiB");
    unit_format(buf, sizeof buf, UNIT_PER_KWH, 0.12);
    assert_string_equal(buf, "0.12 USD/kWh");
    unit_format(buf, sizeof buf, UNIT_FLOPS, 312e12);
    assert_string_equal(buf, "312 TFLOPS");
    unit_format(buf, sizeof buf, UNIT_TIME, 0.002);
    assert_string_equal(buf, "2 ms");
}

static void whole_numbers_survive_a_round_trip(void **state)
{
    uint64_t rng = test_seed();
    char buf[64];

    (void)state;
    for (int i = 0; i < 20000; i++) {
        const uint64_t x = test_random(&rng) >> (1 + test_random(&rng) % 62);
        const simtime t = (simtime)(x % UINT64_C(9200000000000000000));
        simtime ns = -1;
        uint64_t b = 1;
        unit_format_time(buf, sizeof buf, t);
        assert_int_equal(unit_parse_time(buf, &ns, NULL), 0);
        if (ns != t) print_error("%s for %" PRId64 "\n", buf, t);
        assert_int_equal(ns, t);
        unit_format_bytes(buf, sizeof buf, x);
        assert_int_equal(unit_parse_bytes(buf, &b, NULL), 0);
        if (b != x) print_error("%s for %" PRIu64 "\n", buf, x);
        assert_true(b == x);
    }
}

static void doubles_survive_a_round_trip(void **state)
{
    uint64_t rng = test_seed();
    char buf[64];

    (void)state;
    for (int i = 0; i < 20000; i++) {
        const enum unit_dim dim = (enum unit_dim)(test_random(&rng) % UNIT_DIMS);
        double v = ldexp((double)(test_random(&rng) >> 11), (int)(test_random(&rng) % 60) - 60),
               back = -1;
        if (i % 2) v = rint(v * 1000) / 1000; /* what people write */
        unit_format(buf, sizeof buf, dim, v);
        assert_int_equal(unit_parse(buf, dim, &back, NULL), 0);
        if (back != v) print_error("%s for %.17g\n", buf, v);
        assert_true(back == v);
    }
}

int main(void)
{
    const struct CMUnitTest t[] = {
        cmocka_unit_test(times),
        cmocka_unit_test(bytes),
        cmocka_unit_test(other_dimensions),
        cmocka_unit_test(the_unit_that_was_meant),
        cmocka_unit_test(expectations_are_valid_examples),
        cmocka_unit_test(formats_as_people_write),
        cmocka_unit_test(whole_numbers_survive_a_round_trip),
        cmocka_unit_test(doubles_survive_a_round_trip),
    };

    return cmocka_run_group_tests_name("units", t, NULL, NULL);
}
