/* Calendar arithmetic: days of the proleptic Gregorian calendar counted in years that begin in
 * March, so that the leap day is the last of its year and 400 years are always 146,097 days. */
#include "traces/parse_time.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { DAY_S = 86400, HOUR_S = 3600, FIRST_YEAR = 1970, LAST_YEAR = 2260 };

/* ---- calendar ------------------------------------------------------------------------------- */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

int64_t civil_to_days(int64_t year, int month, int day)
{
    if (month <= 2) year--;
    const int64_t era = floor_div(year, 400), y = year - era * 400;
    const int64_t m = month > 2 ? month - 3 : month + 9;
    const int64_t in_year = (153 * m + 2) / 5 + day - 1;
    return era * 146097 + y * 365 + y / 4 - y / 100 + in_year - 719468;
}

void civil_from_days(int64_t days, int64_t *year, int *month, int *day)
{
    days += 719468;
    const int64_t era = floor_div(days, 146097), d = days - era * 146097;
    const int64_t y = (d - d / 1460 + d / 36524 - d / 146096) / 365;
    const int64_t in_year = d - (365 * y + y / 4 - y / 100), m = (5 * in_year + 2) / 153;
    *day = (int)(in_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = y + era * 400 + (*month <= 2);
}

static int days_in_month(int64_t year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* ---- zones ---------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    int32_t offset_s;
} zone_words[] = {
    { "UTC", 0 },
    { "GMT", 0 },
    { "UT", 0 },
    { "Z", 0 },
    { "EST", -5 * HOUR_S },
    { "EDT", -4 * HOUR_S },
    { "CDT", -5 * HOUR_S },
    { "MST", -7 * HOUR_S },
    { "MDT", -6 * HOUR_S },
    { "PST", -8 * HOUR_S },
    { "PDT", -7 * HOUR_S },
    { "WET", 0 },
    { "WEST", 1 * HOUR_S },
    { "CET", 1 * HOUR_S },
    { "CEST", 2 * HOUR_S },
    { "EET", 2 * HOUR_S },
    { "EEST", 3 * HOUR_S },
    { "JST", 9 * HOUR_S },
};

static const struct {
    const char *name, *rule;
} zone_names[] = {
    { "America/Los_Angeles", "PST8PDT,M3.2.0,M11.1.0" },
    { "US/Pacific", "PST8PDT,M3.2.0,M11.1.0" },
    { "America/Denver", "MST7MDT,M3.2.0,M11.1.0" },
    { "US/Mountain", "MST7MDT,M3.2.0,M11.1.0" },
    { "America/Chicago", "CST6CDT,M3.2.0,M11.1.0" },
    { "US/Central", "CST6CDT,M3.2.0,M11.1.0" },
    { "America/New_York", "EST5EDT,M3.2.0,M11.1.0" },
    { "US/Eastern", "EST5EDT,M3.2.0,M11.1.0" },
    { "Europe/London", "GMT0BST,M3.5.0/1,M10.5.0" },
    { "Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3" },
    { "Europe/Paris", "CET-1CEST,M3.5.0,M10.5.0/3" },
    { "Europe/Amsterdam", "CET-1CEST,M3.5.0,M10.5.0/3" },
    { "Europe/Zurich", "CET-1CEST,M3.5.0,M10.5.0/3" },
    { "Europe/Helsinki", "EET-2EEST,M3.5.0/3,M10.5.0/4" },
    { "Asia/Shanghai", "+08:00" },
    { "Asia/Singapore", "+08:00" },
    { "Asia/Tokyo", "+09:00" },
    { "Asia/Kolkata", "+05:30" },
};

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool two_digits(const char *s, int *out)
{
    if (!digit(s[0]) || !digit(s[1])) return false;
    *out = (s[0] - '0') * 10 + (s[1] - '0');
    return true;
}

/* +hh, +hhmm, +hh:mm. */
static bool parse_offset(const char *s, size_t len, int32_t *out)
{
    int h, m = 0;
    if (len < 3 || (s[0] != '+' && s[0] != '-') || !two_digits(s + 1, &h)) return false;
    if (len == 5 && !two_digits(s + 3, &m)) return false;
    if (len == 6 && (s[3] != ':' || !two_digits(s + 4, &m))) return false;
    if ((len != 3 && len != 5 && len != 6) || h > 18 || m > 59) return false;
    const int32_t v = h * HOUR_S + m * 60;
    *out = s[0] == '-' ? -v : v;
    return true;
}

static bool parse_word(const char *s, size_t len, int32_t *out)
{
    for (size_t i = 0; i < sizeof zone_words / sizeof *zone_words; i++)
        if (strlen(zone_words[i].word) == len && strncasecmp(s, zone_words[i].word, len) == 0) {
            *out = zone_words[i].offset_s;
            return true;
        }
    return false;
}

/* A number at *s of at most `digits` digits; advances. */
static bool take_int(const char **s, int digits, int *out)
{
    int v = 0, n = 0;
    for (; digit(**s) && n < digits; n++) v = v * 10 + (*(*s)++ - '0');
    *out = v;
    return n > 0;
}

/* [+-]hh[:mm[:ss]] as POSIX TZ has it. */
static bool take_hms(const char **s, int32_t *out)
{
    int h, m = 0, sec = 0;
    const bool negative = **s == '-';
    if (**s == '-' || **s == '+') (*s)++;
    if (!take_int(s, 3, &h) || h > 167) return false;
    if (**s == ':' && ((*s)++, !take_int(s, 2, &m) || m > 59)) return false;
    if (**s == ':' && ((*s)++, !take_int(s, 2, &sec) || sec > 59)) return false;
    *out = h * HOUR_S + m * 60 + sec;
    if (negative) *out = -*out;
    return true;
}

static bool take_name(const char **s)
{
    int n = 0;
    for (; letter(**s); n++) (*s)++;
    return n >= 3;
}

static bool take_rule(const char **s, struct zone_rule *r)
{
    if (**s != ',' || (*s)[1] != 'M') return false;
    *s += 2;
    if (!take_int(s, 2, &r->month) || *(*s)++ != '.' || !take_int(s, 1, &r->week) ||
        *(*s)++ != '.' || !take_int(s, 1, &r->weekday))
        return false;
    r->at_s = 2 * HOUR_S;
    if (**s == '/' && ((*s)++, !take_hms(s, &r->at_s))) return false;
    return r->month >= 1 && r->month <= 12 && r->week >= 1 && r->week <= 5 && r->weekday <= 6;
}

/* std offset [dst [offset] ,rule,rule]; POSIX counts offsets west of UTC. */
static bool parse_posix(const char *s, struct zone *z)
{
    int32_t west;
    if (!take_name(&s) || !take_hms(&s, &west) || west < -24 * HOUR_S || west > 24 * HOUR_S)
        return false;
    z->offset_s = z->daylight_s = -west;
    if (*s == '\0') return true;
    if (!take_name(&s)) return false;
    z->daylight_s = z->offset_s + HOUR_S;
    if (*s && *s != ',') {
        if (!take_hms(&s, &west) || west < -24 * HOUR_S || west > 24 * HOUR_S) return false;
        z->daylight_s = -west;
    }
    if (!*s) s = ",M3.2.0,M11.1.0"; /* what the C library assumes */
    return take_rule(&s, &z->to_daylight) && take_rule(&s, &z->to_standard) && !*s;
}

static bool parse_zone(struct zone *z, const char *text)
{
    const size_t len = strlen(text);
    *z = (struct zone){ 0 };
    for (size_t i = 0; i < sizeof zone_names / sizeof *zone_names; i++)
        if (strcasecmp(text, zone_names[i].name) == 0) text = zone_names[i].rule;
    if (parse_offset(text, strlen(text), &z->offset_s) || parse_word(text, len, &z->offset_s)) {
        z->daylight_s = z->offset_s;
        return true;
    }
    return parse_posix(text, z);
}

int zone_parse(struct zone *z, const char *text, const char *option, struct err *e)
{
    struct zone read;
    if (parse_zone(&read, text)) {
        *z = read;
        return 0;
    }
    int rc =
        err_set(e, ERR_USAGE, NULL,
                "%s: expected a time zone such as UTC, +08:00 or America/Los_Angeles, found \"%s\"",
                option, text);
    if (strcasecmp(text, "CST") == 0)
        err_hint(e, "CST names several zones: -06:00, +08:00, or America/Chicago with its changes");
    else
        err_hint(e, "any zone can be given as a POSIX rule: \"PST8PDT,M3.2.0,M11.1.0\"");
    return rc;
}

/* Day (since 1970) on which the rule falls in that year. */
static int64_t rule_day(const struct zone_rule *r, int64_t year)
{
    const int64_t first = civil_to_days(year, r->month, 1);
    const int weekday = (int)(((first + 4) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */
    int day = 1 + (r->weekday - weekday + 7) % 7 + 7 * (r->week - 1);
    if (day > days_in_month(year, r->month)) day -= 7;
    return first + day - 1;
}

static int64_t to_utc(int64_t local_s, const struct zone *z, unsigned *flags)
{
    int64_t year;
    int month, day;
    if (!z) return local_s;
    if (!zone_changes(z)) return local_s - z->offset_s;
    civil_from_days(floor_div(local_s, DAY_S), &year, &month, &day);
    /* Both changes as instants; each is told by the clock that holds before it. */
    const int64_t on = rule_day(&z->to_daylight, year) * DAY_S + z->to_daylight.at_s - z->offset_s;
    const int64_t off =
        rule_day(&z->to_standard, year) * DAY_S + z->to_standard.at_s - z->daylight_s;
    const int64_t as_daylight = local_s - z->daylight_s, as_standard = local_s - z->offset_s;
    const bool north = on < off;
#define IS_DAYLIGHT(t) (north ? (t) >= on && (t) < off : (t) >= on || (t) < off)
    const bool can_daylight = IS_DAYLIGHT(as_daylight), can_standard = !IS_DAYLIGHT(as_standard);
#undef IS_DAYLIGHT
    if (flags && can_daylight && can_standard) *flags |= CLOCK_AMBIGUOUS;
    if (flags && !can_daylight && !can_standard) *flags |= CLOCK_SKIPPED;
    if (can_daylight && can_standard) return as_daylight < as_standard ? as_daylight : as_standard;
    return can_daylight ? as_daylight : as_standard;
}

/* ---- clocks --------------------------------------------------------------------------------- */

const char *clock_why(enum clock_status st)
{
    switch (st) {
    case CLOCK_OK: return "a time";
    case CLOCK_EMPTY: return "empty";
    case CLOCK_SYNTAX: return "not a time such as 2023-11-16T18:01:02";
    case CLOCK_RANGE: return "no such date or time";
    }
    return "not a time";
}

/* YYYY-MM-DD at s, which holds at least 10 characters. */
static enum clock_status parse_date(const char *s, int64_t *days)
{
    int century, year, month, day;
    if (!two_digits(s, &century) || !two_digits(s + 2, &year) || s[4] != '-' ||
        !two_digits(s + 5, &month) || s[7] != '-' || !two_digits(s + 8, &day))
        return CLOCK_SYNTAX;
    year += century * 100;
    if (year < FIRST_YEAR || year > LAST_YEAR || month < 1 || month > 12 || day < 1 ||
        day > days_in_month(year, month))
        return CLOCK_RANGE;
    *days = civil_to_days(year, month, day);
    return CLOCK_OK;
}

/* Digits after the point to ns, rounded; returns how many digits there were. */
static size_t parse_fraction(const char *s, size_t len, int64_t *ns)
{
    size_t n = 0;
    int64_t v = 0;
    for (; n < len && digit(s[n]); n++)
        if (n < 9) v = v * 10 + (s[n] - '0');
    for (size_t i = n; i < 9; i++) v *= 10;
    if (n > 9 && s[9] >= '5') v++;
    *ns = v;
    return n;
}

/* hh:mm[:ss[.frac]] at s; *used characters of it. */
static enum clock_status parse_time(const char *s, size_t len, int32_t *sec, int64_t *ns,
                                    size_t *used)
{
    int h, m, c = 0;
    *ns = 0;
    if (len < 5 || !two_digits(s, &h) || s[2] != ':' || !two_digits(s + 3, &m)) return CLOCK_SYNTAX;
    *used = 5;
    if (len >= 8 && s[5] == ':') {
        if (!two_digits(s + 6, &c)) return CLOCK_SYNTAX;
        *used = 8;
        if (len > 9 && (s[8] == '.' || s[8] == ',') && digit(s[9]))
            *used = 9 + parse_fraction(s + 9, len - 9, ns);
    }
    if (h > 23 || m > 59 || c > 60) return CLOCK_RANGE;
    *sec = h * HOUR_S + m * 60 + c;
    return CLOCK_OK;
}

static bool parse_suffix(const char *s, size_t len, int32_t *offset)
{
    if (len > 1 && s[0] == ' ') s++, len--;
    return parse_offset(s, len, offset) || parse_word(s, len, offset);
}

enum clock_status clock_parse(const char *s, size_t len, const struct zone *assumed, simtime *out,
                              unsigned *flags)
{
    int64_t days, ns = 0;
    int32_t sec = 0, offset;
    size_t used = 0;
    if (flags) *flags = 0;
    if (len == 0) return CLOCK_EMPTY;
    if (len < 10) return CLOCK_SYNTAX;
    enum clock_status st = parse_date(s, &days);
    if (st != CLOCK_OK) return st;
    s += 10, len -= 10;
    if (len > 1 && (*s == 'T' || *s == 't' || *s == ' ') && digit(s[1])) {
        s++, len--;
        st = parse_time(s, len, &sec, &ns, &used);
        if (st != CLOCK_OK) return st;
        s += used, len -= used;
    }
    int64_t utc = days * DAY_S + sec;
    if (len > 0) {
        if (!parse_suffix(s, len, &offset)) return CLOCK_SYNTAX;
        if (flags) *flags |= CLOCK_ZONED;
        utc -= offset;
    } else {
        utc = to_utc(utc, assumed, flags);
    }
    *out = utc * SIM_SECOND + ns;
    return CLOCK_OK;
}

char *clock_format(char *buf, size_t size, simtime ns)
{
    int64_t year, frac = ns - floor_div(ns, SIM_SECOND) * SIM_SECOND;
    const int64_t utc = floor_div(ns, SIM_SECOND), days = floor_div(utc, DAY_S);
    const int in_day = (int)(utc - days * DAY_S);
    int month, day, digits = 9;
    civil_from_days(days, &year, &month, &day);
    int n = snprintf(buf, size, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)year, month, day,
                     in_day / HOUR_S, in_day / 60 % 60, in_day % 60);
    if (n < 0 || (size_t)n >= size) return buf;
    while (frac > 0 && frac % 10 == 0) frac /= 10, digits--;
    if (frac > 0) n += snprintf(buf + n, size - (size_t)n, ".%0*lld", digits, (long long)frac);
    if ((size_t)n < size) snprintf(buf + n, size - (size_t)n, "Z");
    return buf;
}
