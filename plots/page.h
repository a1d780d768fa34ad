/* plots/page.h - inside the report: what its sections share. Each page_*.c writes one group of
 * sections; all of them append to page->out and read nothing but page->r, unless said otherwise.
 * Threads: one page, one thread. */
#ifndef GPUSIM_PLOTS_PAGE_H
#define GPUSIM_PLOTS_PAGE_H

#include "base/arena.h"
#include "plots/report.h"

#include <stddef.h>

struct page {
    struct strbuf *out;
    const struct result *r;
    enum lang lang;
    json_t *imports;             /* NULL: not known */
    json_t *risk;                /* NULL: not known */
    json_t *effects;             /* sensitivity.json; NULL: not computed */
    const char *missing;         /* files of the run that are not there; NULL: none */
    const struct beside *beside; /* NULL: no sweep */
    struct arena *a;             /* short texts, until the page is done */
    const struct report_picture *picture;
    size_t n_pictures;
};

/* ---- text ---- */

const char *page_word(const struct page *p, enum word w);
/* A text with its places filled; the arguments are HTML already. */
void page_say(struct page *p, enum word w, const char *const *arg, size_t n);
#define SAY(p, w, ...)                                                                             \
    page_say(p, w, (const char *const[]){ __VA_ARGS__ },                                           \
             sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))
void page_put(struct page *p, enum word w); /* as it is */
void page_heading(struct page *p, const char *id, enum word w);
void page_subheading(struct page *p, const char *id, enum word w);
void page_note(struct page *p, enum word w);

/* HTML in the page's arena, for SAY. */
const char *html_of(struct page *p, const char *s);
const char *html_of_count(struct page *p, uint64_t n);
const char *html_of_policy(struct page *p, size_t i); /* its colour and its name */

/* ---- tables ----
 *
 * A table has a caption for screen readers, column heads that sort (script in page_style.c) and a
 * link that downloads the same figures unrounded as CSV. */

/* FLEET and TARGETS: of a column of policies, whose offset is not read. */
enum kind { COUNT, PERCENT, SECONDS, FIGURE, MONEY, PRICE, FLEET, TARGETS };

struct grid {
    struct page *p;
    const char *id;
    struct strbuf group, head, body, csv;
    const char *group_name; /* of the columns that come next, for the CSV */
    bool any_group, first;
    int columns;
    bool cards;            /* narrow screens: a row is a card, each cell says its column */
    int at;                /* cells of the row so far */
    const char *label[24]; /* of the columns, for cards; HTML */
};

void grid_open(struct grid *t, struct page *p, const char *id, enum word caption);
/* For tables with long texts: on a narrow screen each row is a card, one cell below the other. */
void grid_open_cards(struct grid *t, struct page *p, const char *id, enum word caption);
/* The next `span` columns stand together under `name` (plain text; NULL: under nothing). */
void grid_group(struct grid *t, const char *name, int span);
/* `head` is plain text, unless `policy` says it is that policy's name. `unit` NULL, not
 * a text column: durations, each cell says its unit and the CSV has seconds. */
void grid_column(struct grid *t, const char *head, const char *unit, bool text);
void grid_policy_column(struct grid *t, size_t policy, const char *unit);
void grid_row(struct grid *t, bool sum); /* begins one; sums stay at the bottom */
void grid_name(struct grid *t, const char *name, const char *unit); /* head of the row */
void grid_policy(struct grid *t, size_t policy);                    /* likewise */
void grid_number(struct grid *t, double x, enum kind kind);
/* To what an interval of that half width supports; grid_number() without one. */
void grid_within(struct grid *t, double x, double half, enum kind kind);
/* An amount of a policy, a part of `sum` or the sum itself: to the place that the interval of
 * the sum has, as far as the result knows how far the prices spread it; without, to the place of
 * the sum. */
void grid_cost(struct grid *t, size_t policy, double x, double sum, enum kind kind);
void grid_count(struct grid *t, uint64_t n);
void grid_text(struct grid *t, const char *s);
/* Several sentences in one cell, a line each; in the CSV with "; " between. */
void grid_list(struct grid *t, const char *const *s, size_t n);
/* Words of a data file in its own language, marked as English; the head of the column says that
 * they are quoted. */
void grid_quote(struct grid *t, const char *s);
/* A cell of own making: its HTML, and its figure for sorting and CSV. */
void grid_html(struct grid *t, const char *html, double value, enum kind kind);
void grid_close(struct grid *t);       /* writes it all, frees */
void grid_usd_columns(struct grid *t); /* one a policy, in USD; page_charge.c */
void grid_totals(struct grid *t);      /* begins a last row: what each policy costs */

void page_number(struct strbuf *out, double x, enum kind kind);
/* To what its interval supports (base/figure.h); page_number() without one. */
void page_within(struct strbuf *out, double x, double low, double high, enum kind kind);

/* Of two figures without an interval: half of one that gives their difference no finer digits
 * than the larger of them has. NAN: they are whole, or of a kind that has digits of its own. */
double page_half_beside(double first, double second, enum kind kind);
/* The same as page_within() with a plus where it is above 0 as written. */
void page_signed(struct strbuf *out, double x, double low, double high, enum kind kind);
/* "low to high" on a line below, which does not break. */
void page_interval(struct page *p, struct strbuf *out, double low, double high, enum kind kind);

/* A pair of a list: a name, trusted, and a text in code. */
void page_term(struct page *p, const char *name, const char *text);

/* A column of a table with one row a policy. */
struct column {
    enum word group, head, unit; /* unit W_NONE: each cell says its own */
    enum kind kind;
    size_t offset; /* in struct policy_result: uint64_t for COUNT, else double */
    bool priced;   /* n/a without prices */
};
#define AT(member) offsetof(struct policy_result, member)

void page_policy_table(struct page *p, const char *id, enum word caption, enum word note,
                       const struct column *all, size_t n_all);

/* ---- sections ---- */

void page_head(struct page *p); /* up to <main> */
/* The recommendation for all work as one sentence, plain text; NULL: there is none. */
const char *page_recommendation(struct page *p);
/* What the first line says, in any case: the recommendation, or that there is none. Plain text. */
const char *page_first_line(struct page *p);
/* The other sentences of the result, plain text: from page_findings_from() on. */
size_t page_findings_from(struct page *p);
const char *page_finding(struct page *p, size_t i);
/* What the recommended policy costs a year, on a straight line and with interest, plain text;
 * NULL: no ranges of prices. */
const char *page_a_year(struct page *p);
/* Renting that has cost less by the end of the term than the recommended policy, resale taken
 * off: the first such; NULL: there is none. *usd: its cost a year as text. */
const struct payback *page_cheaper_rent(struct page *p, size_t *policy, const char **usd);
void page_script(struct page *p);    /* sorting, and values under the pointer */
void page_answer(struct page *p);    /* page_answer.c: decision, warnings */
void page_decisions(struct page *p); /* page_advice.c: which policy for which work */
void page_qualities(struct page *p); /* what money does not show */
void page_comparison(struct page *p);
/* Which figures are of the whole run and which of the time after the warm-up; nothing without
 * one. */
void page_warmup_note(struct page *p);
void page_picture(struct page *p, const char *name);
/* data, or a word on their absence */
bool page_has_picture(const struct page *p, const char *name);
void page_sweep(struct page *p); /* percentiles against what was swept */
void page_classes(struct page *p);
void page_services(struct page *p);
void page_money(struct page *p);
void page_charges(struct page *p); /* who pays */
void page_rent(struct page *p);    /* buying against renting */
bool page_has_decisions(const struct page *p);
bool page_has_failures(const struct page *p);
void page_failures(struct page *p);
void page_effects(struct page *p); /* what the ranges of the parameters do */
void page_energy(struct page *p);
void page_precision(struct page *p);
void page_assumptions(struct page *p); /* reads scenarios/measured/errors.csv */
void page_data_quality(struct page *p);
void page_reproduce(struct page *p);

/* Jobs without a user or class are "" in some files and "(none)" in others. */
bool page_unnamed(const char *name);

#endif
