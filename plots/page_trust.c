/* plots/page_trust.c - how far to trust it: precision, parameters with their sources, limits, and
 * how to get the same figures again. */
#include "plots/page.h"

#include "base/str.h"
#include "plots/html.h"

#include <math.h>
#include <string.h>

void page_precision(struct page *p)
{
    const struct result *r = p->r;
    struct grid t;
    bool any = false;
    for (size_t i = 0; i < r->n_policies; i++)
        for (int k = 0; k < PREC_COUNT; k++)
            any = any || isfinite(r->policy[i].gpu.effective_ops[k]);
    if (!any) return;
    page_picture(p, "precision");
    page_note(p, W_PRECISION_NOTE);
    grid_open(&t, p, "effective", W_H_PRECISION);
    grid_column(&t, page_word(p, W_POLICY), NULL, true);
    grid_column(&t, page_word(p, W_PRECISION), NULL, true);
    grid_column(&t, page_word(p, W_EFFECTIVE), "", false);
    grid_column(&t, page_word(p, W_PEAK_DENSE), "", false);
    grid_column(&t, page_word(p, W_UNIT), NULL, true);
    grid_column(&t, page_word(p, W_OF_PEAK), page_word(p, W_PERCENT), false);
    for (size_t i = 0; i < r->n_policies; i++)
        for (int k = 0; k < PREC_COUNT; k++) {
            const struct gpu_result *g = &r->policy[i].gpu;
            struct strbuf b = { 0 };
            if (!isfinite(g->effective_ops[k])) continue;
            grid_row(&t, false);
            grid_policy(&t, i);
            grid_text(&t, precision_names[k]);
            if (g->effective_is_upper_bound) strbuf_addf(&b, "%s ", page_word(p, W_AT_MOST));
            html_figure(&b, g->effective_ops[k] / 1e12);
            grid_html(&t, b.s, g->effective_ops[k] / 1e12, FIGURE);
            strbuf_fini(&b);
            grid_number(&t, g->peak_ops[k] / 1e12, FIGURE);
            grid_text(&t, precision_is_integer((enum precision)k) ? "TOPS" : "TFLOPS");
            grid_number(&t, 100 * g->effective_ops[k] / g->peak_ops[k], FIGURE);
        }
    grid_close(&t);
}

void page_assumptions(struct page *p)
{
    static const struct column columns[] = {
        { W_PARAMETERS, W_MEASURED, W_COUNT, COUNT, AT(provenance[PROV_MEASURED]), false },
        { W_PARAMETERS, W_PUBLISHED, W_COUNT, COUNT, AT(provenance[PROV_PUBLISHED]), false },
        { W_PARAMETERS, W_ASSUMED, W_COUNT, COUNT, AT(provenance[PROV_ASSUMED]), false },
    };
    static const enum word missing[] = { W_LIMIT_PEAKS,  W_LIMIT_PHASES, W_LIMIT_CONTENTION,
                                         W_LIMIT_PEOPLE, W_LIMIT_QUOTES, W_LIMIT_SECURITY };
    page_heading(p, "assumptions", W_ASSUMPTIONS);
    page_policy_table(p, "provenance", W_ASSUMPTIONS, W_PROVENANCE_NOTE, columns,
                      sizeof columns / sizeof *columns);
    page_effects(p);
    report_validation(p);
    page_data_quality(p);
    page_heading(p, "limits", W_LIMITS);
    strbuf_addz(p->out, "<ul>\n");
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        strbuf_addf(p->out, "<li>%s</li>\n", page_word(p, missing[i]));
    strbuf_addz(p->out, "</ul>\n");
}

/* ---- what importers found ---- */

static double get(json_t *o, const char *key)
{
    json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* "12 no_gpus, 3 bad_time; note": kinds with their counts, then warnings. */
static void reasons(struct strbuf *out, json_t *account)
{
    static const char *const lists[] = { "repairs", "quarantine" };
    json_t *rows = json_object_get(account, "rows"), *one;
    size_t i;
    for (size_t k = 0; k < 2; k++) json_array_foreach(json_object_get(rows, lists[k]), i, one)
        {
            const char *why = json_string_value(json_object_get(one, "text"));
            strbuf_addf(out, "%s%.0f %s", out->len ? "; " : "", get(one, "rows"), why ? why : "?");
        }
    json_array_foreach(json_object_get(account, "warnings"), i, one) if (json_is_string(one))
        strbuf_addf(out, "%s%s", out->len ? "; " : "", json_string_value(one));
}

void page_data_quality(struct page *p)
{
    static const struct {
        const char *key;
        enum word head;
    } counts[] = { { "read", W_ROWS_READ },
                   { "kept", W_KEPT },
                   { "repaired", W_REPAIRED },
                   { "quarantined", W_QUARANTINED } };
    struct grid t;
    json_t *one;
    size_t i;
    page_subheading(p, "data_quality", W_DATA_QUALITY);
    if (json_array_size(p->imports) == 0) {
        page_note(p, W_NO_DATA_QUALITY);
        return;
    }
    page_note(p, W_DATA_QUALITY_NOTE);
    grid_open(&t, p, "traces", W_DATA_QUALITY);
    grid_column(&t, page_word(p, W_WORK), NULL, true);
    grid_column(&t, page_word(p, W_FORMAT), NULL, true);
    for (size_t k = 0; k < 4; k++) grid_column(&t, page_word(p, counts[k].head), "", false);
    grid_column(&t, page_word(p, W_GPUS_ASKED), page_word(p, W_GPUS), false);
    grid_column(&t, page_word(p, W_PEAK_DEMAND), page_word(p, W_GPUS), false);
    grid_column(&t, page_word(p, W_DUPLICATES), "", false);
    grid_column(&t, page_word(p, W_REASONS), NULL, true);
    json_array_foreach(p->imports, i, one)
    {
        json_t *a = json_object_get(one, "account"), *rows = json_object_get(a, "rows");
        struct strbuf why = { 0 };
        const char *work = json_string_value(json_object_get(one, "work"));
        const char *format = json_string_value(json_object_get(a, "source_format"));
        grid_row(&t, false);
        grid_name(&t, work ? work : "", NULL);
        grid_text(&t, format ? format : "");
        for (size_t k = 0; k < 4; k++) grid_number(&t, get(rows, counts[k].key), FIGURE);
        grid_number(&t, get(json_object_get(a, "asked"), "gpus"), FIGURE);
        grid_number(&t, get(json_object_get(a, "peak"), "gpus"), FIGURE);
        grid_number(&t, get(a, "duplicate_ids"), FIGURE);
        reasons(&why, a);
        grid_quote(&t, why.s ? why.s : "");
        strbuf_fini(&why);
    }
    grid_close(&t);
}

/* ---- again ---- */

void page_term(struct page *p, const char *name, const char *text)
{
    strbuf_addf(p->out, "<dt>%s</dt><dd><code>", name);
    html_text(p->out, text);
    strbuf_addz(p->out, "</code></dd>\n");
}

static void engine(struct page *p)
{
    strbuf_addf(p->out, "<dt>%s</dt><dd>", page_word(p, W_ENGINE));
    for (size_t i = 0; i < p->r->n_policies; i++) {
        const struct policy_result *x = &p->r->policy[i];
        if (i) page_put(p, W_SEPARATOR);
        SAY(p, W_ENGINE_LINE, html_of(p, x->name), html_of_count(p, x->events),
            html_of_count(p, x->trace_rows));
    }
    strbuf_addz(p->out, "</dd>\n");
}

void page_reproduce(struct page *p)
{
    const struct result *r = p->r;
    struct strbuf text = { 0 };
    page_heading(p, "reproduce", W_REPRODUCE);
    strbuf_addz(p->out, "<dl>\n");
    page_term(p, "gpusim", r->version);
    strbuf_addf(&text, "gpusim run SCENARIO --seed %llu", (unsigned long long)r->seed);
    for (size_t i = 0; i < r->n_set; i++)
        if (!str_starts(r->set[i], "seed=")) strbuf_addf(&text, " --set '%s'", r->set[i]);
    if (json_array_size(json_object_get(r->scenario, "policies")) != r->n_policies)
        for (size_t i = 0; i < r->n_policies; i++)
            strbuf_addf(&text, " --policy '%s'", r->policy[i].name);
    if (p->effects) strbuf_addz(&text, " --sensitivity");
    if (r->advice_replications > 1)
        strbuf_addf(&text, " --replications %llu", (unsigned long long)r->advice_replications);
    page_term(p, page_word(p, W_COMMAND), text.s);
    strbuf_clear(&text);
    strbuf_addf(&text, "%llu", (unsigned long long)r->seed);
    page_term(p, page_word(p, W_SEED), text.s);
    page_term(p, page_word(p, W_SCENARIO_SHA), r->scenario_sha256);
    for (size_t i = 0; i < r->n_traces; i++) page_term(p, page_word(p, W_TRACE_SHA), r->trace_sha256[i]);
    for (size_t i = 0; i < r->n_inputs; i++) {
        strbuf_clear(&text);
        strbuf_addf(&text, "%s %s", r->input[i].name, r->input[i].sha256);
        page_term(p, word_of(p->lang, r->input[i].kind), text.s);
    }
    if (r->n_policies) engine(p);
    strbuf_addf(p->out, "</dl>\n<p>%s</p>\n", page_word(p, W_SAME_BYTES));
    if (r->scenario) {
        strbuf_clear(&text);
        json_write(r->scenario, &text);
        strbuf_addf(p->out, "<details><summary>%s</summary><pre>", page_word(p, W_RESOLVED));
        html_text(p->out, text.s);
        strbuf_addz(p->out, "</pre></details>\n");
    }
    strbuf_fini(&text);
}
