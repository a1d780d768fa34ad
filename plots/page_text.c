/* plots/page_text.c - words, numbers and names on the page. */
#include "plots/page.h"

#include "base/figure.h"
#include "plots/html.h"
#include "plots/report_data.h"

#include <math.h>
#include <string.h>

/* The policy at place k of the scenario has the colour of line type k in templates/style.gp. */
static const char *const colours[] = { "#2294FF", "#B58819", "#00957C", "#B4585A",
                                       "#4262D6", "#E764B0", "#65666F", "#716719" };

const char *page_word(const struct page *p, enum word w)
{
    return word(p->lang, w);
}

void page_put(struct page *p, enum word w)
{
    strbuf_addz(p->out, page_word(p, w));
}

void page_say(struct page *p, enum word w, const char *const *arg, size_t n)
{
    for (const char *s = page_word(p, w); *s;) {
        if (s[0] == '{' && s[1] >= '0' && s[1] <= '9' && s[2] == '}') {
            size_t i = (size_t)(s[1] - '0');
            if (i < n) strbuf_addz(p->out, arg[i]);
            s += 3;
        } else {
            strbuf_addc(p->out, *s++);
        }
    }
}

void page_heading(struct page *p, const char *id, enum word w)
{
    strbuf_addf(p->out, "<h2 id=\"%s\">%s</h2>\n", id, page_word(p, w));
}

void page_subheading(struct page *p, const char *id, enum word w)
{
    strbuf_addf(p->out, "<h3 id=\"%s\">%s</h3>\n", id, page_word(p, w));
}

void page_note(struct page *p, enum word w)
{
    strbuf_addf(p->out, "<p class=\"note\">%s</p>\n", page_word(p, w));
}

static const char *keep(struct page *p, struct strbuf *b)
{
    const char *s = arena_strdup(p->a, b->s ? b->s : "");
    strbuf_fini(b);
    return s;
}

const char *html_of(struct page *p, const char *s)
{
    struct strbuf b = { 0 };
    html_text(&b, s);
    return keep(p, &b);
}

const char *html_of_count(struct page *p, uint64_t n)
{
    struct strbuf b = { 0 };
    html_count(&b, n);
    return keep(p, &b);
}

const char *html_of_policy(struct page *p, size_t i)
{
    struct strbuf b = { 0 };
    const size_t n = sizeof colours / sizeof *colours, place = data_place(p->r, i) - 1;
    strbuf_addf(&b, "<span class=\"chip%s\" style=\"background-color:%s\">&#8288;</span>",
                place / n % 2 ? " again" : "",
                colours[place % n]); /* as the dashed lines from the ninth on */
    html_text(&b, p->r->policy[i].name);
    return keep(p, &b);
}

bool page_unnamed(const char *name)
{
    return *name == '\0' || strcmp(name, "(none)") == 0;
}

void page_within(struct strbuf *out, double x, double low, double high, enum kind kind)
{
    const double scale = kind == PERCENT ? 100 : 1;
    const int place = figure_place(0.5 * scale * (high - low));
    if (kind == SECONDS)
        html_duration_within(out, x, low, high);
    else if (place == FIGURE_NO_PLACE)
        page_number(out, x, kind);
    else
        html_placed(out, scale * x, place);
}

double page_half_beside(double first, double second, enum kind kind)
{
    const double most = fmax(fabs(first), fabs(second));
    if (kind == SECONDS || kind == PERCENT || !(most > 0)) return NAN;
    if (first == floor(first) && second == floor(second)) return NAN;
    const int place =
        kind == MONEY ? figure_place_money(most) : figure_place_of(most, FIGURE_DIGITS);
    return 1.5 * pow(10, place + 1); /* of the place's two digits the second */
}

void page_signed(struct strbuf *out, double x, double low, double high, enum kind kind)
{
    struct strbuf b = { 0 };
    page_within(&b, x, low, high, kind);
    if (x > 0 && strpbrk(b.s, "123456789")) strbuf_addc(out, '+');
    strbuf_addz(out, b.s);
    strbuf_fini(&b);
}

void page_interval(struct page *p, struct strbuf *out, double low, double high, enum kind kind)
{
    strbuf_addz(out, "<br><span class=\"soft range\">");
    page_within(out, low, low, high, kind);
    strbuf_addf(out, " %s ", page_word(p, W_TO));
    page_within(out, high, low, high, kind);
    strbuf_addz(out, "</span>");
}

void page_number(struct strbuf *out, double x, enum kind kind)
{
    switch (kind) {
    case PERCENT: html_percent(out, x); break;
    case SECONDS: html_duration(out, x); break;
    case MONEY: html_money(out, x); break;
    case COUNT:
    case FLEET:
    case TARGETS:
    case FIGURE:
    case PRICE: html_figure(out, x); break;
    }
}
