#include "model/price_date.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Days since 1 March of year 0 in the proleptic Gregorian calendar. */
static double day_number(int y, int m, int d)
{
    if (m < 3) y--, m += 12;
    return 365.0 * y + floor(y / 4.0) - floor(y / 100.0) + floor(y / 400.0) +
           floor((153.0 * (m - 3) + 2) / 5) + d;
}

static double first_of_next(int y, int m)
{
    return m == 12 ? day_number(y + 1, 1, 1) : day_number(y, m + 1, 1);
}

/* The first (last = false) or last day a date may mean; NAN. */
static double day_of(const char *s, bool last)
{
    int y, m = last ? 12 : 1, d = 0, used = 0;
    if (!s || s[strspn(s, "0123456789-")] != '\0') return NAN;
    const int n = sscanf(s, "%4d%n-%2d%n-%2d%n", &y, &used, &m, &used, &d, &used);
    if (n < 1 || s[used] != '\0' || used != (int[]){ 0, 4, 7, 10 }[n] || y < 1900) return NAN;
    if (m < 1 || m > 12) return NAN;
    if (n == 3) {
        const bool exists = d >= 1 && day_number(y, m, d) < first_of_next(y, m);
        return exists ? day_number(y, m, d) : NAN;
    }
    return last ? first_of_next(y, m) - 1 : day_number(y, m, 1);
}

bool price_date_ok(const char *date)
{
    return !isnan(day_of(date, false));
}

double price_age_years(const char *date, const char *as_of)
{
    return (day_of(as_of, false) - day_of(date, true)) / 365.25;
}
