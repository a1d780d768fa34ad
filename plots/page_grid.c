/* plots/page_grid.c - tables that sort, read aloud and download. */
#include "plots/page.h"

#include "base/figure.h"
#include "plots/html.h"
#include "plots/report_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names are a stranger's: what a spreadsheet would take for a formula has an apostrophe before
 * it. */
static void csv_text(struct strbuf *out, const char *s)
{
    strbuf_addc(out, '"');
    if (s && *s && strchr("=+-@\t\r", *s)) strbuf_addc(out, '\'');
    for (; s && *s; s++) {
        if (*s == '"') strbuf_addc(out, '"');
        strbuf_addc(out, *s == '\n' ? ' ' : *s);
    }
    strbuf_addc(out, '"');
}

static void csv_next(struct grid *t)
{
    if (!t->first) strbuf_addc(&t->csv, ',');
    t->first = false;
}

static void open_as(struct grid *t, struct page *p, const char *id, enum word caption,
                    const char *look)
{
    *t = (struct grid){ .p = p, .id = id, .first = true };
    strbuf_addf(p->out,
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"%s-c\">"
                "<table id=\"%s\" class=\"%s\"><caption id=\"%s-c\">%s</caption><thead>",
                id, id, look, id, page_word(p, caption));
}

void grid_open(struct grid *t, struct page *p, const char *id, enum word caption)
{
    open_as(t, p, id, caption, "sort");
}

void grid_open_cards(struct grid *t, struct page *p, const char *id, enum word caption)
{
    open_as(t, p, id, caption, "sort cards");
    t->cards = true;
}

/* Begins the tag of a cell; `look` (may be "") is its class, `value` (NULL: none) its figure for
 * sorting. */
static void cell(struct grid *t, const char *look, const char *value)
{
    strbuf_addz(&t->body, "<td");
    if (*look) strbuf_addf(&t->body, " class=\"%s\"", look);
    if (value) strbuf_addf(&t->body, " data-v=\"%s\"", value);
    if (t->cards && t->at < t->columns && t->at < (int)(sizeof t->label / sizeof *t->label))
        strbuf_addf(&t->body, " data-l=\"%s\"", t->label[t->at]);
    t->at++;
}

void grid_group(struct grid *t, const char *name, int span)
{
    t->group_name = name;
    if (!name) {
        strbuf_addf(&t->group, "<td colspan=\"%d\"></td>", span);
        return;
    }
    t->any_group = true;
    strbuf_addf(&t->group, "<th class=\"group\" colspan=\"%d\" scope=\"colgroup\">", span);
    html_text(&t->group, name);
    strbuf_addz(&t->group, "</th>");
}

static void unit_of(struct strbuf *out, const char *unit)
{
    if (!unit || !*unit) return;
    strbuf_addz(out, "<br><span class=\"unit\">");
    html_text(out, unit);
    strbuf_addz(out, "</span>");
}

/* Head of a column: `html` on the page, `name` in the CSV. */
static void column(struct grid *t, const char *html, const char *name, const char *unit, bool text)
{
    struct strbuf label = { 0 };
    strbuf_addf(&t->head, "<th scope=\"col\"%s>%s", text ? " class=\"text\"" : "", html);
    unit_of(&t->head, unit);
    strbuf_addz(&t->head, "</th>");
    if (t->group_name) strbuf_addf(&label, "%s: ", t->group_name);
    strbuf_addz(&label, name);
    if (unit && *unit)
        strbuf_addf(&label, " (%s)", unit);
    else if (!unit && !text)
        strbuf_addz(&label, " (s)");
    csv_next(t);
    csv_text(&t->csv, label.s);
    strbuf_fini(&label);
    if (t->columns < (int)(sizeof t->label / sizeof *t->label))
        t->label[t->columns] = html_of(t->p, name);
    t->columns++;
}

void grid_column(struct grid *t, const char *head, const char *unit, bool text)
{
    column(t, html_of(t->p, head), head, unit, text);
}

void grid_policy_column(struct grid *t, size_t policy, const char *unit)
{
    column(t, html_of_policy(t->p, policy), t->p->r->policy[policy].name, unit, false);
}

void grid_row(struct grid *t, bool sum)
{
    if (t->body.len) strbuf_addz(&t->body, "</tr>\n");
    strbuf_addz(&t->body, sum ? "<tr class=\"sum\">" : "<tr>");
    strbuf_addz(&t->csv, "\r\n");
    t->first = true;
    t->at = 0;
}

void grid_name(struct grid *t, const char *name, const char *unit)
{
    strbuf_addz(&t->body, "<th scope=\"row\">");
    t->at++;
    html_text(&t->body, name);
    if (unit && *unit) {
        strbuf_addz(&t->body, " <span class=\"unit\">");
        html_text(&t->body, unit);
        strbuf_addz(&t->body, "</span>");
    }
    strbuf_addz(&t->body, "</th>");
    csv_next(t);
    csv_text(&t->csv, name);
}

void grid_policy(struct grid *t, size_t policy)
{
    strbuf_addf(&t->body, "<th scope=\"row\">%s</th>", html_of_policy(t->p, policy));
    t->at++;
    csv_next(t);
    csv_text(&t->csv, t->p->r->policy[policy].name);
}

/* Whether a figure as it is shown is all that there is of it. */
static bool is_all(const char *html, double x)
{
    char digits[40];
    size_t n = 0;
    for (; *html && n + 1 < sizeof digits; html++)
        if (strchr("0123456789.", *html)) digits[n++] = *html;
    digits[n] = '\0';
    return fabs(strtod(digits, NULL) - fabs(x)) <= 1e-9 * fabs(x);
}

/* What was rounded off, under the pointer. */
static void exact(struct grid *t, const char *html, double x, enum kind kind)
{
    struct strbuf b = { 0 };
    if (is_all(html, x)) return;
    figure_add_exact(&b, x);
    strbuf_addf(&t->body, " title=\"%s%s\"", b.s, kind == SECONDS ? " s" : "");
    strbuf_fini(&b);
}

void grid_html(struct grid *t, const char *html, double value, enum kind kind)
{
    char raw[40] = "";
    const double x = kind == PERCENT ? 100 * value : value;
    if (isfinite(value)) snprintf(raw, sizeof raw, "%.15g", x);
    cell(t, "", raw);
    if (isfinite(value)) exact(t, html, x, kind);
    strbuf_addf(&t->body, ">%s</td>", html);
    csv_next(t);
    strbuf_addz(&t->csv, raw);
}

void grid_number(struct grid *t, double x, enum kind kind)
{
    struct strbuf b = { 0 };
    page_number(&b, x, kind);
    grid_html(t, b.s, x, kind);
    strbuf_fini(&b);
}

void grid_within(struct grid *t, double x, double half, enum kind kind)
{
    struct strbuf b = { 0 };
    page_within(&b, x, -half, half, kind);
    grid_html(t, b.s, x, kind);
    strbuf_fini(&b);
}

void grid_cost(struct grid *t, size_t policy, double x, double sum, enum kind kind)
{
    struct strbuf b = { 0 };
    const int place = figure_place(fabs(sum) * result_cost_spread(t->p->r, policy));
    if (x == 0)
        html_count(&b, 0); /* nothing is paid, however fine the sum is */
    else if (place != FIGURE_NO_PLACE)
        html_placed(&b, x, place);
    else if (kind == MONEY && sum != 0 && isfinite(sum))
        html_placed(&b, x, data_cost_place(t->p->r, policy, sum));
    else
        page_number(&b, x, kind);
    grid_html(t, b.s, x, kind);
    strbuf_fini(&b);
}

void grid_count(struct grid *t, uint64_t n)
{
    struct strbuf b = { 0 };
    html_count(&b, n);
    grid_html(t, b.s, (double)n, COUNT);
    strbuf_fini(&b);
}

static void text_cell(struct grid *t, const char *s, const char *open, const char *close)
{
    /* long ones need room, short ones (dates, cards) stay whole */
    const size_t len = s ? strlen(s) : 0;
    cell(t, len > 60 ? "text long" : len > 22 ? "text" : "text short", NULL);
    strbuf_addf(&t->body, ">%s", open);
    html_text(&t->body, s);
    strbuf_addf(&t->body, "%s</td>", close);
    csv_next(t);
    csv_text(&t->csv, s);
}

void grid_text(struct grid *t, const char *s)
{
    text_cell(t, s, "", "");
}

void grid_quote(struct grid *t, const char *s)
{
    const bool foreign = t->p->lang != LANG_EN;
    text_cell(t, s, foreign ? "<span lang=\"en\">" : "", foreign ? "</span>" : "");
}

void grid_list(struct grid *t, const char *const *s, size_t n)
{
    struct strbuf all = { 0 };
    for (size_t i = 0; i < n; i++)
        strbuf_addf(&all, "%s%s", i ? page_word(t->p, W_SEPARATOR) : "", s[i]);
    if (n < 2) {
        grid_text(t, all.s ? all.s : "");
    } else {
        cell(t, "text long", NULL);
        strbuf_addz(&t->body, "><ul>");
        for (size_t i = 0; i < n; i++) {
            strbuf_addz(&t->body, "<li>");
            html_text(&t->body, s[i]);
            strbuf_addz(&t->body, "</li>");
        }
        strbuf_addz(&t->body, "</ul></td>");
        csv_next(t);
        csv_text(&t->csv, all.s);
    }
    strbuf_fini(&all);
}

/* The CSV as the address of a link: what is not plain is written %XX. */
static void data_url(struct strbuf *out, const char *s)
{
    static const char plain[] = "-_.~!*(),:;=/ ";
    static const char hex[] = "0123456789ABCDEF";
    strbuf_addz(out, "data:text/csv;charset=utf-8,%EF%BB%BF");
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        bool word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (c != ' ' && (word || strchr(plain, *s))) {
            strbuf_addc(out, *s);
        } else {
            strbuf_addc(out, '%');
            strbuf_addc(out, hex[c >> 4]);
            strbuf_addc(out, hex[c & 15]);
        }
    }
}

void grid_close(struct grid *t)
{
    struct strbuf *out = t->p->out;
    if (t->any_group) strbuf_addf(out, "<tr>%s</tr>", t->group.s);
    strbuf_addf(out, "<tr>%s</tr></thead><tbody>\n%s%s</tbody></table></div>\n", t->head.s,
                t->body.s ? t->body.s : "", t->body.s ? "</tr>\n" : "");
    strbuf_addz(&t->csv, "\r\n");
    /* in a list of links each has a name of its own */
    strbuf_addf(out,
                "<p class=\"get\"><a id=\"%s-csv\" aria-labelledby=\"%s-csv %s-c\" "
                "download=\"%s.csv\" href=\"",
                t->id, t->id, t->id, t->id);
    data_url(out, t->csv.s);
    strbuf_addz(out, "\">");
    page_put(t->p, W_DOWNLOAD);
    strbuf_addz(out, "</a></p>\n");
    strbuf_fini(&t->group);
    strbuf_fini(&t->head);
    strbuf_fini(&t->body);
    strbuf_fini(&t->csv);
}

/* "32 x a100-sxm4-80gb" */
static void put_fleet(struct grid *t, const struct policy_result *x)
{
    struct strbuf b = { 0 };
    for (size_t i = 0; i < x->usage.n_groups; i++)
        strbuf_addf(&b, "%s%lld x %s", i ? ", " : "", (long long)x->usage.group[i].cards,
                    x->usage.group[i].gpu ? x->usage.group[i].gpu->name : "?");
    grid_text(t, b.s ? b.s : "");
    strbuf_fini(&b);
}

static size_t targets_of(const struct policy_result *x, size_t *met)
{
    size_t n = 0;
    *met = 0;
    for (size_t k = 0; k < x->n_services; k++)
        for (size_t i = 0; i < x->service[k].n_targets; i++) {
            n++;
            *met += x->service[k].target[i].met;
        }
    return n;
}

static void put_targets(struct grid *t, const struct policy_result *x)
{
    struct strbuf b = { 0 };
    size_t met;
    const size_t n = targets_of(x, &met);
    if (n)
        strbuf_addf(&b, "%zu / %zu", met, n);
    else
        strbuf_addz(&b, "n/a");
    grid_html(t, b.s, n ? (double)met : NAN, COUNT);
    strbuf_fini(&b);
}

/* The wait that a run says itself how sure it is of. */
static double half_of(const struct policy_result *x, const struct column *c)
{
    return c->offset == AT(stats.wait_s.mean) && x->steady.n
               ? 0.5 * (x->steady.high - x->steady.low)
               : NAN;
}

static void put_value(struct grid *t, size_t policy, const struct column *c)
{
    const struct policy_result *x = &t->p->r->policy[policy];
    if (c->kind == FLEET || c->kind == TARGETS) {
        (c->kind == FLEET ? put_fleet : put_targets)(t, x);
        return;
    }
    const char *at = (const char *)x + c->offset;
    const double value =
        c->kind == COUNT || (c->priced && !x->tco.priced) ? NAN : *(const double *)(const void *)at;
    if (c->kind == COUNT)
        grid_count(t, *(const uint64_t *)(const void *)at);
    else if (c->priced)
        grid_cost(t, policy, value, c->offset == AT(tco.energy_usd) ? x->tco.total_usd : value,
                  c->kind);
    else
        grid_within(t, value, half_of(x, c), c->kind);
}

void page_policy_table(struct page *p, const char *id, enum word caption, enum word note,
                       const struct column *all, size_t n_all)
{
    struct grid t;
    bool groups = false, targets = false, priced = false;
    size_t n = 0, met;
    struct column *c = arena_array(p->a, n_all, sizeof *c);
    for (size_t i = 0; i < p->r->n_policies; i++) {
        targets = targets || targets_of(&p->r->policy[i], &met) > 0;
        priced = priced || p->r->policy[i].tco.priced;
    }
    for (size_t i = 0; i < n_all; i++) /* a column of n/a says nothing */
        if ((all[i].kind != TARGETS || targets) && (!all[i].priced || priced)) c[n++] = all[i];
    for (size_t i = 0; i < n; i++) groups = groups || c[i].group != W_NONE;
    if (note != W_NONE) page_note(p, note);
    grid_open(&t, p, id, caption);
    if (groups) grid_group(&t, NULL, 1);
    grid_column(&t, page_word(p, W_POLICY), NULL, true);
    for (size_t i = 0; i < n; i++) {
        int span = 1;
        while (i + (size_t)span < n && c[i + (size_t)span].group == c[i].group) span++;
        if (groups && (i == 0 || c[i].group != c[i - 1].group))
            grid_group(&t, c[i].group ? page_word(p, c[i].group) : NULL, span);
        const char *unit = c[i].unit ? page_word(p, c[i].unit) : c[i].kind == SECONDS ? NULL : "";
        grid_column(&t, page_word(p, c[i].head), unit, c[i].kind == FLEET);
    }
    for (size_t i = 0; i < p->r->n_policies; i++) {
        grid_row(&t, false);
        grid_policy(&t, i);
        for (size_t k = 0; k < n; k++) put_value(&t, i, &c[k]);
    }
    grid_close(&t);
}
