/* plots/compare_page.c - two runs against each other on one page, from compare.json. */
#include "plots/compare_page.h"

#include "base/json_shape.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "model/fields.h"
#include "plots/figure_words.h"
#include "plots/gnuplot.h"
#include "plots/html.h"
#include "plots/page.h"
#include "plots/report_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POLICIES = 64 };

/* The document, and its policies in their order: a page colours by that. */
struct two {
    json_t *doc;
    struct result r;
    struct policy_result policy[POLICIES];
};

static const char *text(json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

static double number(json_t *o, const char *key)
{
    json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* ---- is it all there? ---- */

static const struct json_shape row_shape[] = {
    { "policy", JSON_KIND_TEXT, NULL, false },
    { "metric", JSON_KIND_TEXT, NULL, false },
    { "over", JSON_KIND_TEXT, NULL, false },
    { "n", JSON_KIND_NUMBER, NULL, false },
    { "first", JSON_KIND_NUMBER, NULL, false },
    { "second", JSON_KIND_NUMBER, NULL, false },
    { "difference", JSON_KIND_NUMBER, NULL, false },
    { "low", JSON_KIND_NUMBER, NULL, false },
    { "high", JSON_KIND_NUMBER, NULL, false },
    { "p", JSON_KIND_NUMBER, NULL, false },
    { "significant", JSON_KIND_FLAG, NULL, false },
    { 0 },
};
static const struct json_shape total_shape[] = {
    { "policy", JSON_KIND_TEXT, NULL, false },
    { "metric", JSON_KIND_TEXT, NULL, false },
    { "first", JSON_KIND_NUMBER, NULL, false },
    { "second", JSON_KIND_NUMBER, NULL, false },
    { "difference", JSON_KIND_NUMBER, NULL, false },
    { 0 },
};
static const struct json_shape run_shape[] = {
    { "gpusim_version", JSON_KIND_TEXT, NULL, false },
    { "scenario_sha256", JSON_KIND_TEXT, NULL, false },
    { "seed", JSON_KIND_COUNT, NULL, false },
    { "unstable", JSON_KIND_TEXTS, NULL, true },
    { "set", JSON_KIND_TEXTS, NULL, true },
    { 0 },
};
static const struct json_shape compare_shape[] = {
    { "first", JSON_KIND_TEXT, NULL, false },
    { "second", JSON_KIND_TEXT, NULL, false },
    { "paired", JSON_KIND_FLAG, NULL, false },
    { "significant", JSON_KIND_FLAG, NULL, false },
    { "unmatched_jobs", JSON_KIND_COUNT, NULL, false },
    { "only_first", JSON_KIND_TEXTS, NULL, false },
    { "only_second", JSON_KIND_TEXTS, NULL, false },
    { "rows", JSON_KIND_OBJECTS, row_shape, false },
    { "totals", JSON_KIND_OBJECTS, total_shape, false },
    { "runs", JSON_KIND_OBJECTS, run_shape, false },
    { 0 },
};

/* Whatever the page shows is of its type. */
static int check(const struct json_doc *doc, struct err *e)
{
    struct diag d;
    diag_init(&d);
    if (fields_is_format(doc, "gpusim-compare/1", &d)) json_shape_check(doc, compare_shape, &d);
    const size_t runs = json_array_size(json_object_get(doc->root, "runs"));
    if (d.count == 0 && runs != 2)
        json_problem(&d, doc, "/runs", "expected 2 runs, found %zu", runs);
    const int rc = diag_result(&d, e);
    diag_fini(&d);
    return rc;
}

/* ---- what it says ---- */

static size_t policy_of(const struct two *t, const char *name)
{
    size_t i = 0;
    while (i < t->r.n_policies && strcmp(t->policy[i].name, name) != 0) i++;
    return i;
}

/* Those with rows, and those with figures of the whole run alone; "policies" says where each
 * stands in its scenario. */
static void read_policies(struct two *t)
{
    static const char *const lists[] = { "rows", "totals" };
    json_t *one;
    size_t i;
    t->r = (struct result){ .policy = t->policy, .scenario = t->doc };
    for (size_t k = 0; k < 2; k++) json_array_foreach(json_object_get(t->doc, lists[k]), i, one)
        {
            const char *name = text(one, "policy");
            if (policy_of(t, name) < t->r.n_policies || t->r.n_policies == POLICIES) continue;
            t->policy[t->r.n_policies++] = (struct policy_result){ .name = name };
        }
}

/* Figures of a job, in words. */
static const struct metric {
    const char *name;
    enum word words;
    enum kind kind;
} metrics[] = {
    { "wait_s", W_WAIT_MEAN, SECONDS },      { "turnaround_s", W_TURNAROUND_MEAN, SECONDS },
    { "slowdown", W_SLOWDOWN_MEAN, FIGURE }, { "completed", W_COMPLETED_SHARE, PERCENT },
    { "cost_usd", W_COST_OF_JOB, PRICE },    { "energy_kwh", W_ENERGY_OF_JOB, FIGURE },
};
enum { METRICS = sizeof metrics / sizeof *metrics };

static const struct metric *metric_of(const char *name)
{
    for (size_t i = 0; i < METRICS; i++)
        if (strcmp(metrics[i].name, name) == 0) return &metrics[i];
    return NULL;
}

static void difference(struct grid *t, json_t *row, enum kind kind)
{
    struct strbuf b = { 0 };
    const double d = number(row, "difference"), low = number(row, "low"),
                 high = number(row, "high");
    page_signed(&b, d, low, high, kind);
    if (isfinite(low)) page_interval(t->p, &b, low, high, kind);
    grid_html(t, b.s, d, kind);
    strbuf_fini(&b);
}

/* No finer than the interval of the difference. */
static void mean(struct grid *t, json_t *row, const char *key, enum kind kind)
{
    struct strbuf b = { 0 };
    page_within(&b, number(row, key), number(row, "low"), number(row, "high"), kind);
    grid_html(t, b.s, number(row, key), kind);
    strbuf_fini(&b);
}

/* Two digits of a p-value: more would say more than the approximation behind it. */
static void chance(struct grid *t, double p)
{
    struct strbuf b = { 0 };
    if (p < 0.001)
        strbuf_addz(&b, "&lt;&nbsp;0.001");
    else
        html_number(&b, p, p < 0.01 ? 4 : p < 0.1 ? 3 : 2);
    grid_html(t, b.s, p, FIGURE);
    strbuf_fini(&b);
}

static void rows(struct page *p, const struct two *two)
{
    struct grid t;
    json_t *one;
    size_t i;
    page_heading(p, "comparison", W_JOB_BY_JOB);
    page_note(p, json_is_true(json_object_get(two->doc, "paired")) ? W_PAIRED : W_UNPAIRED);
    grid_open(&t, p, "differences-table", W_JOB_BY_JOB);
    grid_column(&t, page_word(p, W_POLICY), NULL, true);
    grid_column(&t, page_word(p, W_FIGURE), NULL, true);
    grid_column(&t, page_word(p, W_JOBS), "", false);
    grid_column(&t, page_word(p, W_FIRST_RUN), "", false);
    grid_column(&t, page_word(p, W_SECOND_RUN), "", false);
    grid_column(&t, page_word(p, W_DIFFERENCE), "", false);
    grid_column(&t, "p", "", false);
    grid_column(&t, page_word(p, W_SIGNIFICANT), NULL, true);
    json_array_foreach(json_object_get(two->doc, "rows"), i, one)
    {
        const size_t policy = policy_of(two, text(one, "policy"));
        const struct metric *m = metric_of(text(one, "metric"));
        const enum kind kind = m ? m->kind : FIGURE;
        if (policy == two->r.n_policies) continue;
        grid_row(&t, false);
        grid_policy(&t, policy);
        grid_text(&t, m ? page_word(p, m->words) : text(one, "metric"));
        grid_number(&t, number(one, "n"), FIGURE);
        mean(&t, one, "first", kind);
        mean(&t, one, "second", kind);
        difference(&t, one, kind);
        chance(&t, number(one, "p"));
        grid_text(&t,
                  page_word(p, json_is_true(json_object_get(one, "significant")) ? W_YES : W_NO));
    }
    grid_close(&t);
}

static void total_difference(struct grid *t, json_t *row, enum kind kind)
{
    struct strbuf b = { 0 };
    const double x = number(row, "difference"),
                 half = page_half_beside(number(row, "first"), number(row, "second"), kind);
    page_signed(&b, x, -half, half, kind);
    grid_html(t, b.s, x, kind);
    strbuf_fini(&b);
}

static void totals(struct page *p, const struct two *two)
{
    struct grid t;
    json_t *one;
    size_t i;
    page_heading(p, "totals", W_WHOLE_RUN);
    page_note(p, W_WHOLE_RUN_NOTE);
    grid_open(&t, p, "totals-table", W_WHOLE_RUN);
    grid_column(&t, page_word(p, W_POLICY), NULL, true);
    grid_column(&t, page_word(p, W_FIGURE), NULL, true);
    grid_column(&t, page_word(p, W_UNIT), NULL, true);
    grid_column(&t, page_word(p, W_FIRST_RUN), "", false);
    grid_column(&t, page_word(p, W_SECOND_RUN), "", false);
    grid_column(&t, page_word(p, W_DIFFERENCE), "", false);
    json_array_foreach(json_object_get(two->doc, "totals"), i, one)
    {
        const size_t policy = policy_of(two, text(one, "policy"));
        const char *unit;
        bool share;
        if (policy == two->r.n_policies ||
            (isnan(number(one, "first")) && isnan(number(one, "second"))))
            continue;
        grid_row(&t, false);
        grid_policy(&t, policy);
        grid_text(&t, figure_words(p->lang, p->a, text(one, "metric"), &unit, &share));
        grid_text(&t, share ? page_word(p, W_PERCENT) : unit);
        const enum kind kind = share                                ? PERCENT
                               : strstr(text(one, "metric"), "usd") ? MONEY
                                                                    : FIGURE;
        grid_number(&t, number(one, "first"), kind);
        grid_number(&t, number(one, "second"), kind);
        total_difference(&t, one, kind);
    }
    grid_close(&t);
}

/* A block a policy: number and name of the figure, number of policies, difference with its interval
 * as shares of the first run's mean. As differences.gp has it. */
static int data_two_runs(const struct two *two, enum lang lang, const char *path, struct err *e)
{
    struct strbuf out = { 0 };
    json_t *list = json_object_get(two->doc, "rows"), *one;
    size_t i;
    bool any = false;
    for (size_t p = 0; p < two->r.n_policies; p++) {
        if (p) strbuf_addz(&out, "\n\n");
        data_name(&out, two->policy[p].name);
        strbuf_addz(&out, "\tfigure\tpolicies\tdifference\tlow\thigh\n");
        for (size_t m = 0; m < METRICS; m++) {
            double base = NAN, x[3] = { NAN, NAN, NAN };
            json_array_foreach(list, i, one)
            {
                if (strcmp(text(one, "policy"), two->policy[p].name) != 0 ||
                    strcmp(text(one, "metric"), metrics[m].name) != 0)
                    continue;
                base = number(one, "first");
                x[0] = number(one, "difference");
                x[1] = number(one, "low");
                x[2] = number(one, "high");
            }
            strbuf_addf(&out, "%zu\t%s\t%zu", m, word(lang, metrics[m].words), two->r.n_policies);
            for (size_t k = 0; k < 3; k++) {
                data_number(&out, base > 0 ? x[k] / base : NAN);
                any = any || (base > 0 && isfinite(x[k]));
            }
            strbuf_addc(&out, '\n');
        }
    }
    if (any) return data_write(&out, path, e);
    strbuf_fini(&out);
    return 0;
}

static void list_only(struct page *p, const struct two *two, const char *key, enum word say)
{
    struct strbuf names = { 0 };
    json_t *one;
    size_t i;
    json_array_foreach(json_object_get(two->doc, key), i, one)
    {
        if (names.len) strbuf_addz(&names, ", ");
        html_text(&names, json_string_value(one));
    }
    if (names.len) {
        strbuf_addz(p->out, "<p class=\"warn\">");
        SAY(p, say, names.s);
        strbuf_addz(p->out, "</p>\n");
    }
    strbuf_fini(&names);
}

/* Versions that wrote the runs, where one is not this program's. */
static void versions(struct page *p, const struct two *two)
{
    json_t *one;
    size_t i;
    json_array_foreach(json_object_get(two->doc, "runs"), i, one)
    {
        const char *version = text(one, "gpusim_version");
        if (strcmp(version, GPUSIM_VERSION) == 0) continue;
        strbuf_addz(p->out, "<p class=\"warn\">");
        SAY(p, W_RUN_OF_VERSION, html_of(p, text(two->doc, i ? "second" : "first")),
            html_of(p, version), GPUSIM_VERSION);
        strbuf_addz(p->out, "</p>\n");
    }
}

static void unstable(struct page *p, const struct two *two)
{
    json_t *one, *name;
    size_t i, k;
    json_array_foreach(json_object_get(two->doc, "runs"), i, one)
    {
        json_array_foreach(json_object_get(one, "unstable"), k, name)
        {
            if (!json_is_string(name)) continue;
            strbuf_addz(p->out, "<p class=\"warn\">");
            SAY(p, W_UNSTABLE_IN, html_of(p, text(two->doc, i ? "second" : "first")),
                html_of(p, json_string_value(name)));
            strbuf_addz(p->out, "</p>\n");
        }
    }
}

static void head(struct page *p, struct two *two)
{
    const double alone = number(two->doc, "unmatched_jobs");
    two->r.scenario_name = arena_printf(p->a, page_word(p, W_TWO_RUNS), text(two->doc, "first"),
                                        text(two->doc, "second"));
    page_head(p);
    strbuf_addz(p->out, "<header><h1>");
    html_text(p->out, two->r.scenario_name);
    strbuf_addf(p->out, "</h1></header>\n<main>\n<p class=\"answer\">%s</p>\n",
                page_word(p, json_is_true(json_object_get(two->doc, "significant"))
                                 ? W_THEY_DIFFER
                                 : W_NO_DIFFERENCE));
    if (alone > 0) {
        strbuf_addz(p->out, "<p class=\"warn\">");
        SAY(p, W_UNMATCHED, html_of_count(p, (uint64_t)alone));
        strbuf_addz(p->out, "</p>\n");
    }
    versions(p, two);
    unstable(p, two);
    list_only(p, two, "only_first", W_ONLY_FIRST);
    list_only(p, two, "only_second", W_ONLY_SECOND);
}

/* How to get each run again. */
static void again(struct page *p, const struct two *two)
{
    json_t *one, *set;
    size_t i, k;
    if (json_array_size(json_object_get(two->doc, "runs")) != 2) return;
    page_heading(p, "reproduce", W_REPRODUCE);
    strbuf_addz(p->out, "<dl>\n");
    json_array_foreach(json_object_get(two->doc, "runs"), i, one)
    {
        struct strbuf b = { 0 };
        json_t *seed = json_object_get(one, "seed"); /* a string where JSON numbers end */
        strbuf_addz(&b, "gpusim run SCENARIO --seed ");
        if (json_is_string(seed)) strbuf_addz(&b, json_string_value(seed));
        if (json_is_integer(seed)) strbuf_addf(&b, "%lld", (long long)json_integer_value(seed));
        json_array_foreach(json_object_get(one, "set"), k, set)
        {
            const char *s = json_string_value(set);
            if (s && !str_starts(s, "seed=")) strbuf_addf(&b, " --set '%s'", s);
        }
        page_term(p, page_word(p, i ? W_SECOND_RUN : W_FIRST_RUN), b.s);
        page_term(p, "gpusim", text(one, "gpusim_version"));
        page_term(p, page_word(p, W_SCENARIO_SHA), text(one, "scenario_sha256"));
        strbuf_fini(&b);
    }
    strbuf_addf(p->out, "</dl>\n<p><code>gpusim compare%s</code></p>\n",
                json_is_true(json_object_get(two->doc, "paired")) ? "" : " --unpaired");
}

/* 0; a failure to draw is in *drawing only. */
static int draw(struct report_picture *x, const struct two *two, const char *dir, enum lang lang,
                struct err *drawing, struct err *e)
{
    char *plots = xasprintf("%s/plots", dir), *tsv = xasprintf("%s/two_runs.tsv", plots);
    char *svg = xasprintf("%s/two_runs.svg", plots);
    enum gnuplot_fate fate;
    int rc = outfile_mkdirs(plots, e);
    if (rc == 0) rc = data_two_runs(two, lang, tsv, e);
    if (rc > 0) {
        rc = 0;
        x->has_data = true;
        const struct gnuplot_alt alt = { lang, word(lang, x->heading), word(lang, x->caption) };
        if (data_style(&two->r, plots, lang, drawing) == 0 &&
            gnuplot_template(plots, "two_runs.gp", lang, drawing) == 0 &&
            gnuplot_draw(plots, "two_runs", &alt, &fate, drawing) == 0)
            x->drawn = html_read_file(svg, &x->svg) == 0;
    }
    free(plots);
    free(tsv);
    free(svg);
    return rc;
}

int compare_page_build(const char *dir, enum lang lang, struct err *e)
{
    struct json_doc doc = { 0 };
    struct strbuf out = { 0 };
    struct two two = { 0 };
    struct err drawing = { 0 };
    struct report_picture x = { .name = "two_runs",
                                .heading = W_H_TWO_RUNS,
                                .caption = W_C_TWO_RUNS };
    char *path = xasprintf("%s/compare.json", dir), *html = xasprintf("%s/report.html", dir);
    int rc = json_doc_load(&doc, path, e);
    unlink(html);
    if (rc == 0) rc = check(&doc, e);
    if (rc == 0) {
        two.doc = doc.root;
        read_policies(&two);
        rc = draw(&x, &two, dir, lang, &drawing, e);
    }
    if (rc == 0) {
        struct page p = { .out = &out,
                          .r = &two.r,
                          .lang = lang,
                          .a = arena_create(),
                          .picture = &x,
                          .n_pictures = 1 };
        head(&p, &two);
        page_picture(&p, "two_runs");
        rows(&p, &two);
        totals(&p, &two);
        again(&p, &two);
        strbuf_addz(&out, "</main>\n");
        page_script(&p);
        strbuf_addz(&out, "</body>\n</html>\n");
        arena_destroy(p.a);
        rc = outfile_write(html, out.s, out.len, e);
    }
    if (rc == 0 && drawing.code != ERR_OK) {
        *e = drawing;
        rc = drawing.code;
    }
    strbuf_fini(&x.svg);
    strbuf_fini(&out);
    json_doc_fini(&doc);
    free(path);
    free(html);
    return rc;
}
