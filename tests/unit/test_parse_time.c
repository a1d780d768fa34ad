/* Clocks and zones: hand-known instants (date -u), every refusal, the repeated and the missing
 * hour, and the calendar against a day-by-day count. */
#include "traces/parse_time.h"

#include "tests/support/support.h"

#include <inttypes.h>
#include <string.h>

static void clocks_by_hand(void **state)
{
    (void)state;
    static const struct {
        const char *text, *zone;
        int64_t s, ns;
        unsigned flags;
    } t[] = {
        { "1970-01-01T00:00:00", NULL, 0, 0, 0 },
        { "1970-01-01 00:00:00.5", "+01:00", -3600, 500000000, 0 },
        { "2016-12-22T07:15:12", NULL, 1482390912, 0, 0 },
        { "2023-11-16 18:01:02.1234567", NULL, 1700157662, 123456700, 0 },
        { "2023-11-16 18:01:02.9999999995", NULL, 1700157663, 0, 0 }, /* rounds into the second */
        { "2023-11-16 18:01:02.1234567894", NULL, 1700157662, 123456789, 0 },
        { "2023-11-16T18:01:02,25Z", NULL, 1700157662, 250000000, CLOCK_ZONED },
        { "2023-11-16T18:01:02+08:00", "UTC", 1700128862, 0, CLOCK_ZONED },
        { "2023-11-16T18:01:02-0530", NULL, 1700177462, 0, CLOCK_ZONED },
        { "2023-11-16T18:01:02+08", NULL, 1700128862, 0, CLOCK_ZONED },
        { "2017-10-03 00:08:00 PDT", NULL, 1507014480, 0, CLOCK_ZONED },
        { "2017-11-05 01:30:00 PST", NULL, 1509874200, 0, CLOCK_ZONED },
        { "2023-11-16T18:01:02", "+08:00", 1700128862, 0, 0 },
        { "2023-11-16T18:01", NULL, 1700157660, 0, 0 },
        { "2023-11-16", "Asia/Shanghai", 1700064000, 0, 0 },
        { "2016-12-31T23:59:60", NULL, 1483228800, 0, 0 }, /* the leap second */
        { "2000-02-29T00:00:00", NULL, 951782400, 0, 0 },
        /* Pacific: summer, winter, the repeated hour, the missing one */
        { "2017-07-01 12:00:00", "America/Los_Angeles", 1498935600, 0, 0 },
        { "2017-12-01 12:00:00", "PST8PDT", 1512158400, 0, 0 },
        { "2017-11-05 00:59:59", "US/Pacific", 1509868799, 0, 0 },
        { "2017-11-05 01:30:00", "US/Pacific", 1509870600, 0, CLOCK_AMBIGUOUS },
        { "2017-11-05 02:00:00", "US/Pacific", 1509876000, 0, 0 },
        { "2018-03-11 02:30:00", "US/Pacific", 1520764200, 0, CLOCK_SKIPPED },
        { "2018-03-11 03:00:00", "US/Pacific", 1520762400, 0, 0 },
        { "2023-10-29 02:30:00", "Europe/Berlin", 1698539400, 0, CLOCK_AMBIGUOUS },
        { "2023-03-26 03:00:00", "Europe/Berlin", 1679792400, 0, 0 },
        /* the southern half of the year: Sydney */
        { "2024-01-15 12:00:00", "AEST-10AEDT,M10.1.0,M4.1.0/3", 1705280400, 0, 0 },
        { "2024-07-15 12:00:00", "AEST-10AEDT,M10.1.0,M4.1.0/3", 1721008800, 0, 0 },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct zone z = { 0 };
        simtime got = 7;
        unsigned flags;
        if (t[i].zone) assert_int_equal(zone_parse(&z, t[i].zone, "--zone", NULL), 0);
        enum clock_status st =
            clock_parse(t[i].text, strlen(t[i].text), t[i].zone ? &z : NULL, &got, &flags);
        const int64_t want = t[i].s * SIM_SECOND + t[i].ns;
        if (st != CLOCK_OK || got != want || flags != t[i].flags)
            fail_msg("%s in %s: status %d, %" PRId64 ", expected %" PRId64 ", flags %u", t[i].text,
                     t[i].zone ? t[i].zone : "UTC", st, got, want, flags);
    }
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum clock_status st;
    } t[] = {
        { "", CLOCK_EMPTY },
        { "None", CLOCK_SYNTAX },
        { "Unknown", CLOCK_SYNTAX },
        { "2023-11-1", CLOCK_SYNTAX },
        { "2023/11/16 00:00:00", CLOCK_SYNTAX },
        { "20231116T000000", CLOCK_SYNTAX },
        { "2023-11-16T", CLOCK_SYNTAX },
        { "2023-11-16T1:02:03", CLOCK_SYNTAX },
        { "2023-11-16T01:02:3", CLOCK_SYNTAX },
        { "2023-11-16T01:02:03.", CLOCK_SYNTAX },
        { "2023-11-16T01:02:03 ", CLOCK_SYNTAX },
        { "2023-11-16T01:02:03 CST", CLOCK_SYNTAX }, /* three zones */
        { "2023-11-16T01:02:03+8", CLOCK_SYNTAX },
        { "2023-11-16T01:02:03+19:00", CLOCK_SYNTAX },
        { "2023-11-16T01:02:03Zx", CLOCK_SYNTAX },
        { "2023-02-29T00:00:00", CLOCK_RANGE },
        { "2100-02-29", CLOCK_RANGE },
        { "2023-13-01", CLOCK_RANGE },
        { "2023-00-01", CLOCK_RANGE },
        { "2023-04-31", CLOCK_RANGE },
        { "2023-11-16T24:00:00", CLOCK_RANGE },
        { "2023-11-16T23:60:00", CLOCK_RANGE },
        { "2023-11-16T23:59:61", CLOCK_RANGE },
        { "0001-01-01", CLOCK_RANGE },
        { "1969-12-31T23:59:59", CLOCK_RANGE },
        { "9999-12-31", CLOCK_RANGE },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        simtime out = 42;
        enum clock_status st = clock_parse(t[i].text, strlen(t[i].text), NULL, &out, NULL);
        if (st != t[i].st || out != 42) fail_msg("\"%s\": status %d", t[i].text, st);
        assert_true(strlen(clock_why(st)) > 0);
    }
    assert_string_equal(clock_why(CLOCK_OK), "a time");
    static const char *const zones[] = { "",
                                         "CST",
                                         "Mars/Olympus",
                                         "+8",
                                         "+08:60",
                                         "PST",
                                         "PST8PDT,M13.1.0,M11.1.0",
                                         "PST8PDT,M3.6.0,M11.1.0",
                                         "PST8PDT,M3.2.7,M11.1.0",
                                         "PST8PDT,M3.2.0",
                                         "PST8PDT,M3.2.0,M11.1.0,",
                                         "PST8PDT,J60,J300",
                                         "PST99",
                                         "8PST",
                                         "PST8PDT/",
                                         "PST8PDT,M3.2.0/x,M11.1.0" };
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        struct err e = { 0 };
        struct zone z = { .offset_s = 42 };
        int rc = zone_parse(&z, zones[i], "--zone", &e);
        if (strcmp(zones[i], "PST") == 0) { /* a word of RFC 822 */
            assert_int_equal(rc, 0);
            assert_int_equal(z.offset_s, -8 * 3600);
            continue;
        }
        if (rc != ERR_USAGE) fail_msg("%s is taken", zones[i]);
        assert_int_equal(z.offset_s, 42);
        assert_contains(e.msg, "--zone");
        assert_true(e.hint[0] != '\0');
    }
}

/* Every day of 600 years: the calendar counts on by itself. */
static void calendar(void **state)
{
    (void)state;
    static const int len[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    int64_t days = civil_to_days(1680, 1, 1);
    assert_int_equal(days, -105920);
    for (int y = 1680; y < 2280; y++)
        for (int m = 1; m <= 12; m++) {
            const int leap = (y % 4 == 0 && y % 100) || y % 400 == 0;
            for (int d = 1; d <= len[m - 1] + (m == 2 && leap); d++, days++) {
                int64_t yy;
                int mm, dd;
                civil_from_days(days, &yy, &mm, &dd);
                if (civil_to_days(y, m, d) != days || yy != y || mm != m || dd != d)
                    fail_msg("%d-%d-%d", y, m, d);
            }
        }
}

/* What clock_format writes, clock_parse reads back. */
static void round_trip(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    char buf[40];
    for (int i = 0; i < 100000; i++) {
        simtime t = (simtime)(test_random(&seed) % (UINT64_C(8) << 60)), got;
        t /= 4;
        if (i % 3 == 0) t -= t % SIM_SECOND;
        clock_format(buf, sizeof buf, t);
        if (clock_parse(buf, strlen(buf), NULL, &got, NULL) != CLOCK_OK || got != t)
            fail_msg("%" PRId64 ": %s", t, buf);
    }
    assert_string_equal(clock_format(buf, sizeof buf, -1), "1969-12-31T23:59:59.999999999Z");
    assert_string_equal(clock_format(buf, sizeof buf, 1500000000), "1970-01-01T00:00:01.5Z");
    assert_string_equal(clock_format(buf, 5, 0), "1970");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_by_hand),
        cmocka_unit_test(refusals),
        cmocka_unit_test(calendar),
        cmocka_unit_test(round_trip),
    };
    return cmocka_run_group_tests_name("parse_time", tests, NULL, NULL);
}
