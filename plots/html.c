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

struct html_duration html_duration_unit(double longest)
{
    static const struct html_duration units[] = { { "d", 86400 }, { "h", 3600 }, { "min", 60 } };
    static const double least[] = { 10 * 86400.0, 5 * 3600.0, 10 * 60.0 };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (longest >= least[i]) return units[i];
    return (struct html_duration){ "s", 1 };
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
