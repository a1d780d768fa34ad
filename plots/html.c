/* plots/html.c - escaping and number formats. */
#include "plots/html.h"

#include "base/figure.h"

#include <errno.h>
#include <inttypes.h>
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

/* A figure as base/figure.h writes it: no-break spaces, and a minus as long as a plus. */
static void put_plain(struct strbuf *out, struct strbuf *plain)
{
    for (const char *s = plain->s; *s; s++) {
        if (*s == '-')
            strbuf_addz(out, "&minus;");
        else if (*s == ' ')
            strbuf_addz(out, "&nbsp;");
        else
            strbuf_addc(out, *s);
    }
    strbuf_fini(plain);
}

void html_placed(struct strbuf *out, double x, int place)
{
    struct strbuf b = { 0 };
    figure_add(&b, x, place);
    put_plain(out, &b);
}

void html_count(struct strbuf *out, uint64_t n)
{
    if (n > UINT64_C(1) << 53) /* beyond what a double holds */
        strbuf_addf(out, "%" PRIu64, n);
    else
        html_placed(out, (double)n, 0);
}

void html_number(struct strbuf *out, double x, int decimals)
{
    html_placed(out, x, -decimals);
}

void html_percent(struct strbuf *out, double share)
{
    html_placed(out, 100 * share, FIGURE_TENTHS);
}

void html_figure(struct strbuf *out, double x)
{
    html_placed(out, x, FIGURE_NO_PLACE);
}

void html_duration(struct strbuf *out, double seconds)
{
    struct strbuf b = { 0 };
    figure_add_duration(&b, seconds);
    put_plain(out, &b);
}

void html_duration_within(struct strbuf *out, double seconds, double low, double high)
{
    struct strbuf b = { 0 };
    figure_add_duration_within(&b, seconds, low, high);
    put_plain(out, &b);
}

void html_money(struct strbuf *out, double amount)
{
    html_placed(out, amount, figure_place_money(amount));
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
