/* plots/html.c - escaping and number formats. */
#include "plots/html.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void html_text(struct strbuf *out, const char *s)
{
    for (; s && *s; s++) {
        switch (*s) {
        case '&': strbuf_addz(out, "&amp;"); break;
        case '<': strbuf_addz(out, "&lt;"); break;
        case '>': strbuf_addz(out, "&gt;"); break;
        case '"': strbuf_addz(out, "&quot;"); break;
        case '\'': strbuf_addz(out, "&#39;"); break;
        default: strbuf_addc(out, (unsigned char)*s < 0x20 && *s != '\n' ? ' ' : *s);
        }
    }
}

/* Digits with a comma between thousands. */
static void grouped(struct strbuf *out, const char *digits)
{
    size_t n = strspn(digits, "0123456789");
    for (size_t i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) strbuf_addc(out, ',');
        strbuf_addc(out, digits[i]);
    }
    strbuf_addz(out, digits + n);
}

void html_count(struct strbuf *out, uint64_t n)
{
    char buf[24];
    snprintf(buf, sizeof buf, "%" PRIu64, n);
    grouped(out, buf);
}

void html_number(struct strbuf *out, double x, int decimals)
{
    char buf[400];
    if (!isfinite(x)) {
        strbuf_addz(out, "n/a");
        return;
    }
    snprintf(buf, sizeof buf, "%.*f", decimals, fabs(x));
    if (x < 0 && strspn(buf, "0.") != strlen(buf)) strbuf_addz(out, "&minus;");
    grouped(out, buf);
}

void html_percent(struct strbuf *out, double share)
{
    html_number(out, 100 * share, 1);
}

void html_figure(struct strbuf *out, double x)
{
    double size = fabs(x);
    if (!isfinite(x) || x == floor(x) || size >= 1000)
        html_number(out, x, 0);
    else if (size >= 1e-4)
        html_number(out, x, 3 - (int)floor(log10(size)));
    else
        strbuf_addf(out, "%.3g", x);
}

/* Three significant digits without zeros at the end. */
static void short_number(struct strbuf *out, double x)
{
    char buf[400];
    double size = fabs(x);
    snprintf(buf, sizeof buf, "%.*f", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, size);
    char *point = strchr(buf, '.');
    if (point) {
        char *end = point + strlen(point);
        while (end[-1] == '0') *--end = '\0';
        if (end - 1 == point) *point = '\0';
    }
    if (x < 0 && strcmp(buf, "0") != 0) strbuf_addz(out, "&minus;");
    grouped(out, buf);
}

/* A unit serves from two of it up, so that 90 min stays 90 min. */
struct time_unit {
    const char *unit;
    double seconds, least;
};

static const struct time_unit *time_unit(double seconds)
{
    static const struct time_unit units[] = { { "d", 86400, 2 * 86400.0 },
                                              { "h", 3600, 2 * 3600.0 },
                                              { "min", 60, 120 },
                                              { "s", 1, 1 },
                                              { "ms", 1e-3, 0 } };
    size_t i = 0;
    while (fabs(seconds) < units[i].least) i++;
    return &units[seconds == 0 ? 3 : i];
}

void html_duration(struct strbuf *out, double seconds)
{
    if (!isfinite(seconds)) {
        strbuf_addz(out, "n/a");
        return;
    }
    const struct time_unit *u = time_unit(seconds);
    short_number(out, seconds / u->seconds);
    strbuf_addf(out, "&nbsp;%s", u->unit);
}

void html_duration_within(struct strbuf *out, double seconds, double low, double high)
{
    const struct time_unit *u = time_unit(fmax(fabs(seconds), fmax(fabs(low), fabs(high))));
    const int digit = (int)floor(log10(0.5 * (high - low) / u->seconds)) - 1;
    const double step = pow(10, digit);
    html_number(out, round(seconds / u->seconds / step) * step,
                digit < -6  ? 6
                : digit < 0 ? -digit
                            : 0);
    strbuf_addf(out, "&nbsp;%s", u->unit);
}

void html_money(struct strbuf *out, double amount)
{
    html_number(out, amount, fabs(amount) < 10000 ? 2 : 0);
}

int html_read_file(const char *path, struct strbuf *out)
{
    char buf[1 << 16];
    size_t n;
    FILE *f = fopen(path, "rb");
    if (!f) return -1;
    while ((n = fread(buf, 1, sizeof buf, f)) > 0) strbuf_add(out, buf, n);
    int bad = ferror(f);
    fclose(f);
    if (bad) errno = EIO;
    return bad ? -1 : 0;
}
