/* plots/page_valid.c - how far the models of this run's policies are off published measurements:
 * the table that `gpusim validate --format csv` makes, which ships as scenarios/measured/errors.csv
 * because it takes data that may not ship. Pure but for that one file. */
#include "base/csv.h"
#include "base/datadir.h"
#include "base/dec.h"
#include "plots/figure_words.h"
#include "plots/html.h"
#include "plots/page.h"

#include <math.h>
#include <string.h>

enum field {
    SET,
    GROUP,
    POLICIES,
    ROWS,
    MAPE,
    WORST,
    BASE_MAPE,
    WORST_ROW,
    WORST_MEASURED,
    WORST_PREDICTED,
    BASELINE,
    WHAT,
    COLUMNS
};
static const char *const names[COLUMNS] = {
    "set",       "group",          "policies",        "rows",     "mape", "worst", "baseline_mape",
    "worst_row", "worst_measured", "worst_predicted", "baseline", "what",
};
enum { MOST_KINDS = 64 };

struct errors {
    struct csv *csv;
    struct csv_row row;
    size_t at[COLUMNS];
};

/* False: no table, or one of another version. */
static bool open_table(struct errors *t)
{
    static const struct csv_format format = {
        .delimiter = ',', .quotes = true, .comment = '#', .comment_head_only = true
    };
    char path[4096];
    struct err unheard = { 0 };
    *t = (struct errors){ 0 };
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

static bool next_line(struct errors *t)
{
    struct err unheard = { 0 };
    const size_t width = t->row.n;
    return csv_next(t->csv, &t->row, &unheard) > 0 && t->row.n == width;
}

static const struct csv_field *field(const struct errors *t, enum field c)
{
    return &t->row.f[t->at[c]];
}

static double number(const struct errors *t, enum field c)
{
    double x = NAN;
    dec_double(field(t, c)->s, field(t, c)->len, &x);
    return x;
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

static char *copy(struct page *p, const struct csv_field *f)
{
    return arena_strndup(p->a, f->s, f->len);
}

/* "bert: 0.14 (0.13)": the row, predicted and measured. */
static const char *worst_row(const struct errors *t, struct page *p)
{
    const double measured = number(t, WORST_MEASURED), predicted = number(t, WORST_PREDICTED);
    if (isnan(measured) || isnan(predicted)) return "";
    return arena_printf(p->a, "%s: %s (%s)", copy(p, field(t, WORST_ROW)),
                        figure_plain(p->a, predicted, NAN, NAN),
                        figure_plain(p->a, measured, NAN, NAN));
}

static void line(struct grid *to, const struct errors *t)
{
    struct page *p = to->p;
    const char *what = word_of(p->lang, copy(p, field(t, WHAT)));
    if (!csv_is(field(t, GROUP), "total"))
        what = arena_printf(p->a, "%s: %s", what,
                            word_of_parts(p->lang, p->a, copy(p, field(t, GROUP))));
    grid_row(to, false);
    grid_name(to, what, NULL);
    grid_text(to, copy(p, field(t, POLICIES)));
    grid_number(to, number(t, ROWS), FIGURE);
    for (int c = MAPE; c <= BASE_MAPE; c++) grid_number(to, number(t, (enum field)c), PERCENT);
    grid_quote(to, worst_row(t, p)); /* named in the file */
    grid_text(to, word_of(p->lang, copy(p, field(t, BASELINE))));
}

static void head(struct grid *to, struct page *p)
{
    page_note(p, W_VALIDATION_NOTE);
    grid_open_cards(to, p, "errors", W_VALIDATION);
    grid_column(to, page_word(p, W_MEASURED_WHAT), NULL, true);
    grid_column(to, page_word(p, W_POLICIES), NULL, true);
    grid_column(to, page_word(p, W_ROWS), "", false);
    grid_column(to, page_word(p, W_MEAN_ERROR), page_word(p, W_PERCENT), false);
    grid_column(to, page_word(p, W_WORST), page_word(p, W_PERCENT), false);
    grid_column(to, page_word(p, W_NAIVE_RULE), page_word(p, W_MEAN_ERROR_PERCENT), false);
    grid_column(to, page_word(p, W_WORST_ROW), NULL, true);
    grid_column(to, page_word(p, W_THE_NAIVE_RULE), NULL, true);
}

static void without(struct page *p, const bool met[])
{
    const struct result *r = p->r;
    struct strbuf kinds = { 0 };
    for (size_t i = 0; i < r->n_policies && i < MOST_KINDS; i++) {
        bool said = met[i];
        for (size_t k = 0; k < i; k++) said |= strcmp(r->policy[k].kind, r->policy[i].kind) == 0;
        if (said) continue;
        if (kinds.len) strbuf_addz(&kinds, ", ");
        html_text(&kinds, r->policy[i].kind);
    }
    if (kinds.len) {
        strbuf_addz(p->out, "<p class=\"note\">");
        SAY(p, W_HELD_TO_NONE, kinds.s);
        strbuf_addz(p->out, "</p>\n");
    }
    strbuf_fini(&kinds);
}

void report_validation(struct page *p)
{
    const struct result *r = p->r;
    struct errors t;
    struct grid to;
    bool met[MOST_KINDS] = { false }, any = false;
    page_subheading(p, "validation", W_VALIDATION);
    if (!open_table(&t)) {
        page_note(p, W_NO_ERRORS_TABLE);
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
        if (!any) head(&to, p);
        any = true;
        line(&to, &t);
    }
    if (any) grid_close(&to);
    without(p, met);
    csv_close(t.csv);
}
