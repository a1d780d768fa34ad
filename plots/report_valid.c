/* plots/report_valid.c - how far the models of this run's policies are off published measurements: the
 * table that `gpusim validate --format csv` makes, which ships as scenarios/measured/errors.csv
 * because it takes data that may not ship. Pure but for that one file. */
#include "base/csv.h"
#include "base/datadir.h"
#include "base/dec.h"
#include "plots/html.h"
#include "plots/report.h"

#include <math.h>
#include <string.h>

enum column { SET, GROUP, POLICIES, ROWS, MAPE, WORST, BASE_MAPE, BASELINE, WHAT, COLUMNS };
static const char *const names[COLUMNS] = {
    "set", "group", "policies", "rows", "mape", "worst", "baseline_mape", "baseline", "what",
};
enum { MOST_KINDS = 64 };

struct table {
    struct csv *csv;
    struct csv_row row;
    size_t at[COLUMNS];
};

/* False: no table, or one of another version. */
static bool open_table(struct table *t)
{
    static const struct csv_format format = {
        .delimiter = ',', .quotes = true, .comment = '#', .comment_head_only = true
    };
    char path[4096];
    struct err unheard = { 0 };
    *t = (struct table){ 0 };
    if (csv_open(&t->csv, datadir_path(path, sizeof path, "measured/errors.csv"), &format,
                 &unheard) != 0)
        return false;
    bool all = csv_next(t->csv, &t->row, &unheard) > 0;
    for (int c = 0; c < COLUMNS && all; c++) {
        while (t->at[c] < t->row.n && !csv_is(&t->row.f[t->at[c]], names[c])) t->at[c]++;
        all = t->at[c] < t->row.n;
    }
    return all;
}

static bool next_line(struct table *t)
{
    struct err unheard = { 0 };
    const size_t width = t->row.n;
    return csv_next(t->csv, &t->row, &unheard) > 0 && t->row.n == width;
}

static const struct csv_field *field(const struct table *t, enum column c)
{
    return &t->row.f[t->at[c]];
}

static double number(const struct table *t, enum column c)
{
    double x = NAN;
    dec_double(field(t, c)->s, field(t, c)->len, &x);
    return x;
}

static void text(struct strbuf *out, const struct csv_field *f)
{
    struct strbuf copy = { 0 };
    strbuf_add(&copy, f->s, f->len);
    html_text(out, copy.s);
    strbuf_fini(&copy);
}

/* Is `kind` among the words of the field? */
static bool holds(const struct csv_field *f, const char *kind)
{
    const size_t n = strlen(kind);
    for (size_t i = 0; i + n <= f->len; i++)
        if ((i == 0 || f->s[i - 1] == ' ') && memcmp(f->s + i, kind, n) == 0 &&
            (i + n == f->len || f->s[i + n] == ' '))
            return true;
    return false;
}

static void line(struct strbuf *out, const struct table *t)
{
    strbuf_addz(out, "<tr><th class=\"text\" scope=\"row\">");
    text(out, field(t, WHAT));
    if (!csv_is(field(t, GROUP), "total")) {
        strbuf_addz(out, ": ");
        text(out, field(t, GROUP));
    }
    strbuf_addz(out, "</th><td class=\"text\">");
    text(out, field(t, POLICIES));
    strbuf_addz(out, "</td><td>");
    html_figure(out, number(t, ROWS));
    for (int c = MAPE; c <= BASE_MAPE; c++) {
        strbuf_addz(out, "</td><td>");
        html_percent(out, number(t, (enum column)c));
    }
    strbuf_addz(out, "</td><td class=\"text\">");
    text(out, field(t, BASELINE));
    strbuf_addz(out, "</td></tr>\n");
}

static void head(struct strbuf *out)
{
    strbuf_addz(
        out,
        "<p class=\"note\">Published measurements of shared cards, predicted by the equations that this "
        "run used. Error: of the predicted figure, relative to the measured one. The naive rule beside "
        "it says what knowing the model is worth. Where a job's own signature is not known, errors are "
        "those of its class default. <code>gpusim validate</code> shows every group and row.</p>\n"
        "<div class=\"scroll\"><table><thead><tr><th class=\"text\" scope=\"col\">measured</th>"
        "<th class=\"text\" scope=\"col\">policies</th><th scope=\"col\">rows</th>"
        "<th scope=\"col\">mean error<br><span class=\"unit\">%</span></th>"
        "<th scope=\"col\">worst<br><span class=\"unit\">%</span></th>"
        "<th scope=\"col\">naive rule<br><span class=\"unit\">mean error, %</span></th>"
        "<th class=\"text\" scope=\"col\">the naive rule</th></tr></thead><tbody>\n");
}

static void without(struct strbuf *out, const struct result *r, const bool met[])
{
    bool any = false;
    for (size_t i = 0; i < r->n_policies && i < MOST_KINDS; i++) {
        bool said = met[i];
        for (size_t k = 0; k < i; k++) said |= strcmp(r->policy[k].kind, r->policy[i].kind) == 0;
        if (said) continue;
        strbuf_addz(out, any ? ", " : "<p class=\"note\">Held to no published measurement: ");
        html_text(out, r->policy[i].kind);
        any = true;
    }
    if (any) strbuf_addz(out, ".</p>\n");
}

void report_validation(const struct result *r, struct strbuf *out)
{
    struct table t;
    bool met[MOST_KINDS] = { false }, any = false;
    strbuf_addz(out, "<h3 id=\"validation\">How far the models are off measurements</h3>\n");
    if (!open_table(&t)) {
        strbuf_addz(out, "<p class=\"note\">The table of errors that ships with gpusim is not "
                         "there: run <code>gpusim validate</code>.</p>\n");
        csv_close(t.csv);
        return;
    }
    while (next_line(&t)) {
        bool ours = false;
        for (size_t i = 0; i < r->n_policies && i < MOST_KINDS; i++) {
            if (!holds(field(&t, POLICIES), r->policy[i].kind)) continue;
            met[i] = ours = true;
        }
        if (!ours) continue;
        if (!any) head(out);
        any = true;
        line(out, &t);
    }
    if (any) strbuf_addz(out, "</tbody></table></div>\n");
    without(out, r, met);
    csv_close(t.csv);
}
