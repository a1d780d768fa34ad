/* base/figure.h - how many digits of a number people are shown: one rule for the report, the
 * summary and the terminal. Files of data (JSON, CSV, TSV) keep every digit and have no part in
 * this.
 *
 * - A figure with an interval is shown to the decimal place of the second significant digit of half the interval's
 *   width, and so are the ends of the interval: they share their place (JCGM 100:2008, "GUM", 7.2.6).
 * - A figure without one has FIGURE_DIGITS significant digits, a duration DURATION_DIGITS; a whole number (a count) has
 *   all of its digits, a share of a whole tenths of a percent.
 * - An amount of money without an interval likewise, whole from 1,000 up, and never to
 *   tenths: there are hundredths of a currency. Parts of
 *   a sum that has an interval have the place of the sum. An interval of replications alone gives an amount no finer
 *   place than that, since it leaves out the prices.
 * - A difference without an interval has the place of the larger of the two figures.
 * - No powers of ten: thousands are grouped by commas, small figures have as many zeros as it takes, down to 1e-12,
 *   below which every quantity here is nothing. Durations have the unit that suits them.
 *
 * A place is the power of ten of the last digit shown: -2 for hundredths, 3 for thousands. Pure
 * functions; any thread. */
#ifndef GPUSIM_BASE_FIGURE_H
#define GPUSIM_BASE_FIGURE_H

#include "base/str.h"

#include <limits.h>
#include <stddef.h>

enum { FIGURE_DIGITS = 4, DURATION_DIGITS = 3, FIGURE_FINEST = -12, FIGURE_TENTHS = -1 };
enum { FIGURE_NO_PLACE = INT_MIN }; /* there is no interval */

/* Of half the width of an interval; FIGURE_NO_PLACE where that is not finite or not above 0. */
int figure_place(double half);
/* Of the last of so many significant digits of x; 0 for what is 0 or not finite. */
int figure_place_of(double x, int digits);
/* Of a figure, of an amount of money, without an interval. */
int figure_place_plain(double x);
int figure_place_money(double x);

/* x to that place; x where the place is FIGURE_NO_PLACE. */
double figure_round(double x, int place);

/* Appends x to its place, "1,234.5", "-0.20"; "n/a" where it is not finite. FIGURE_NO_PLACE: as
 * figure_place_plain(). */
void figure_add(struct strbuf *out, double x, int place);
/* The same into a buffer, cut to it. Returns out. */
const char *figure_text(char *out, size_t room, double x, int place);

/* Without zeros at the end: to so many significant digits ("4.5", "12,300"), for sentences; what
 * somebody stated ("0.81", "250,000"), as it was stated up to nine digits. */
void figure_add_short(struct strbuf *out, double x, int digits);
void figure_add_exact(struct strbuf *out, double x);

/* A unit of time that suits the duration: days from 2 d, hours from 2 h, minutes from 2 min up,
 * so that 90 min stays 90 min. */
struct figure_time {
    const char *unit; /* "d", "h", "min", "s", "ms", "\u00b5s", "ns" */
    double seconds;
};
struct figure_time figure_time(double seconds);

/* Appends "4.81 h", "12 s", "2.5 d": without zeros at the end; "n/a". */
void figure_add_duration(struct strbuf *out, double seconds);
/* To what its interval supports, "4.810 h", all three in the unit of the largest; the one above
 * without an interval. */
void figure_add_duration_within(struct strbuf *out, double seconds, double low, double high);

#endif
