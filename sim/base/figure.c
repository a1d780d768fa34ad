/* base/figure.c - numbers as people read them. */
#include "base/figure.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int figure_place_of(double x, int digits)
{
    const double size = fabs(x);
    if (!isfinite(x) || size == 0) return 0;
    if (size < 1e-100) return FIGURE_FINEST;
    int place = (int)floor(log10(size)) - digits + 1;
    if (round(size / pow(10, place)) >= pow(10, digits)) place++; /* 9.9996 is 10.00, not 10.000 */
    return place < FIGURE_FINEST ? FIGURE_FINEST : place;
}

int figure_place(double half)
{
    return isfinite(half) && half > 0 ? figure_place_of(half, 2) : FIGURE_NO_PLACE;
}

int figure_place_plain(double x)
{
    return x == floor(x) ? 0 : figure_place_of(x, FIGURE_DIGITS);
}

int figure_place_money(double x)
{
    const int place = figure_place_of(x, FIGURE_DIGITS);
    return place == -1 ? -2 : place;
}

double figure_round(double x, int place)
{
    if (place == FIGURE_NO_PLACE || !isfinite(x)) return x;
    const double step = pow(10, place < 0 ? -place : place);
    return place < 0 ? round(x * step) / step : round(x / step) * step;
}

/* Digits with a comma between thousands. */
static void grouped(struct strbuf *out, const char *digits)
{
    const size_t n = strspn(digits, "0123456789");
    for (size_t i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) strbuf_addc(out, ',');
        strbuf_addc(out, digits[i]);
    }
    strbuf_addz(out, digits + n);
}

enum { LONGEST = 400 }; /* digits of any double, and a point */

static void put_digits(struct strbuf *out, double x, const char *digits)
{
    if (x < 0 && strspn(digits, "0.") != strlen(digits)) strbuf_addc(out, '-');
    grouped(out, digits);
}

void figure_add(struct strbuf *out, double x, int place)
{
    char digits[LONGEST];
    if (!isfinite(x)) {
        strbuf_addz(out, "n/a");
        return;
    }
    if (place == FIGURE_NO_PLACE) place = figure_place_plain(x);
    if (place < FIGURE_FINEST) place = FIGURE_FINEST;
    snprintf(digits, sizeof digits, "%.*f", place < 0 ? -place : 0,
             fabs(place > 0 ? figure_round(x, place) : x));
    put_digits(out, x, digits);
}

const char *figure_text(char *out, size_t room, double x, int place)
{
    struct strbuf b = { 0 };
    figure_add(&b, x, place);
    snprintf(out, room, "%s", b.s);
    strbuf_fini(&b);
    return out;
}

void figure_add_short(struct strbuf *out, double x, int digits)
{
    char text[LONGEST];
    const int place = figure_place_of(x, digits);
    if (!isfinite(x)) {
        strbuf_addz(out, "n/a");
        return;
    }
    snprintf(text, sizeof text, "%.*f", place < 0 ? -place : 0, fabs(figure_round(x, place)));
    if (strchr(text, '.')) {
        size_t n = strlen(text);
        while (text[n - 1] == '0') text[--n] = '\0';
        if (text[n - 1] == '.') text[n - 1] = '\0';
    }
    put_digits(out, x, text);
}

void figure_add_exact(struct strbuf *out, double x)
{
    figure_add_short(out, x, 9);
}

struct figure_time figure_time(double seconds)
{
    static const struct {
        struct figure_time time;
        double least; /* in it */
    } units[] = { { { "d", 86400 }, 2 }, { { "h", 3600 }, 2 },  { { "min", 60 }, 2 },
                  { { "s", 1 }, 1 },     { { "ms", 1e-3 }, 1 }, { { "\xc2\xb5s", 1e-6 }, 1 },
                  { { "ns", 1e-9 }, 0 } };
    const double size = fabs(seconds);
    size_t i = 0;
    if (!(size > 0)) return units[3].time;
    while (size < units[i].least * units[i].time.seconds) i++;
    return units[i].time;
}

void figure_add_duration(struct strbuf *out, double seconds)
{
    if (!isfinite(seconds)) {
        strbuf_addz(out, "n/a");
        return;
    }
    const struct figure_time t = figure_time(seconds);
    figure_add_short(out, seconds / t.seconds, DURATION_DIGITS);
    strbuf_addf(out, " %s", t.unit);
}

void figure_add_duration_within(struct strbuf *out, double seconds, double low, double high)
{
    if (!isfinite(seconds) || figure_place(0.5 * (high - low)) == FIGURE_NO_PLACE) {
        figure_add_duration(out, seconds);
        return;
    }
    const struct figure_time t = figure_time(fmax(fabs(seconds), fmax(fabs(low), fabs(high))));
    figure_add(out, seconds / t.seconds, figure_place(0.5 * (high - low) / t.seconds));
    strbuf_addf(out, " %s", t.unit);
}
