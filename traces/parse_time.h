/* traces/parse_time.h - text clocks to integer ns since 1970-01-01T00:00:00 UTC, and zones.
 *
 * Clocks: RFC 3339 and ISO 8601 (extended form), and the habits of logs:
 *   2017-11-05[T| ]01:30[:15[.1234567]][Z | +08:00 | +0800 | +08 | PDT], or the date alone.
 * The calendar is the proleptic Gregorian one; every digit counts (further than ns: rounded half
 * away from zero). A leap second (:60) is the first second of the next minute.
 * Zones are never guessed: a clock without one stands in the zone that the caller names.
 * Pure functions, any thread, O(len). */
#ifndef GPUSIM_TRACES_PARSE_TIME_H
#define GPUSIM_TRACES_PARSE_TIME_H

#include "base/err.h"
#include "base/simtime.h"

#include <stdbool.h>
#include <stddef.h>

/* A change of the clock as POSIX TZ writes it: Mm.w.d/time. */
struct zone_rule {
    int month, week, weekday; /* week 5: the last; weekday 0: Sunday */
    int32_t at_s;             /* local time of the day, standard or daylight as it is before it */
};

struct zone {
    int32_t offset_s, daylight_s; /* east of UTC; equal when the clock never changes */
    struct zone_rule to_daylight, to_standard;
};
/* {0} is UTC. */

static inline bool zone_changes(const struct zone *z)
{
    return z->offset_s != z->daylight_s;
}

/* "UTC", "Z", "+08:00", "-0700", a word of RFC 822 or Europe (PDT, CET ...; CST is refused, it
 * names three zones), one of a few names ("America/Los_Angeles", "US/Pacific", "Europe/Berlin",
 * "Asia/Shanghai" ...), or a POSIX rule such as "PST8PDT,M3.2.0,M11.1.0". The rules hold for every
 * year: for the United States that is right from 2007 on, for the European Union from 1996 on.
 * ERR_USAGE with what was expected; `option` (for example "--zone") stands in the message. */
int zone_parse(struct zone *z, const char *text, const char *option, struct err *e);

enum clock_status { CLOCK_OK = 0, CLOCK_EMPTY, CLOCK_SYNTAX, CLOCK_RANGE };
const char *clock_why(enum clock_status st); /* "not a time", ... for messages */

/* What the text was; combined in *flags (may be NULL). */
enum {
    CLOCK_ZONED = 1, /* it named its zone itself */
    CLOCK_AMBIGUOUS =
        2,            /* in the repeated hour when daylight saving ends: the first one is taken */
    CLOCK_SKIPPED = 4 /* in the hour that does not exist when it begins: read as standard time */
};

/* *out is untouched after a failure. Years 1970 to 2260, so that no difference
 * of two clocks overflows; a day or hour that does not exist
 * (2023-02-29, 24:00) is CLOCK_RANGE. No blanks around. `assumed` NULL: UTC. */
enum clock_status clock_parse(const char *s, size_t len, const struct zone *assumed, simtime *out,
                              unsigned *flags);

/* Days since 1970-01-01 and back; month 1..12, day 1..31, not checked. */
int64_t civil_to_days(int64_t year, int month, int day);
void civil_from_days(int64_t days, int64_t *year, int *month, int *day);

/* "2017-11-05T08:30:15.1234567Z": no more digits than needed. Returns buf (40 bytes are enough). */
char *clock_format(char *buf, size_t size, simtime ns);

#endif
