#include "plots/size_plots.h"

#include "base/dec.h"
#include "base/json_shape.h"
#include "model/fields.h"
#include "plots/figure_words.h"
#include "plots/palette.h"
#include "plots/pictures.h"
#include "plots/report_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One answer: a policy at one value of --over. */
struct line {
    const char *name;
    size_t colour, dash; /* of the policy and of the value, from 1 */
    json_t *tried;       /* borrowed */
};

struct drawing {
    struct arena *a;
    json_t *slo; /* borrowed */
    struct line line[SIZE_PLOT_LINES];
    size_t n_lines;
    struct pictures pictures;
};

static const char *text(const json_t *v, const char *key)
{
    return json_string_value(json_object_get(v, key));
}

/* "mig, cards of a = l4" */
static const char *name_of(struct drawing *d, const json_t *answer)
{
    const char *key, *s = text(answer, "name");
    json_t *v;
    json_object_foreach(json_object_get(answer, "over"), key, v)
    {
        s = arena_printf(d->a, "%s, %s = %s", s, axis_words(d->pictures.lang, d->a, key),
                         json_string_value(v));
    }
    return s;
}

/* Policies have their colour; the n-th value of each has dashes of its own. */
static void read_lines(struct drawing *d, const json_t *policies, const json_t *order)
{
    const char *seen[SIZE_PLOT_LINES];
    size_t n_seen = 0, values[SIZE_PLOT_LINES] = { 0 }, i;
    json_t *answer;
    struct palette all = { 0 };
    palette_add_all(&all, order);
    palette_add_all(&all, policies);
    json_array_foreach(policies, i, answer)
    {
        size_t k = 0;
        const char *policy = text(answer, "name");
        json_t *tried = json_object_get(answer, "tried");
        if (d->n_lines == SIZE_PLOT_LINES) return;
        while (k < n_seen && strcmp(seen[k], policy) != 0) k++;
        if (k == n_seen) seen[n_seen++] = policy;
        values[k]++;
        if (json_array_size(tried) > 0)
            d->line[d->n_lines++] =
                (struct line){ name_of(d, answer), palette_place(&all, policy), values[k], tried };
    }
}

/* NAN: no such figure. */
static double number(const json_t *v, const char *key)
{
    const json_t *x = json_object_get(v, key);
    return json_is_number(x) ? json_number_value(x) : NAN;
}

/* A figure as it is shown. */
struct shown {
    const char *unit;
    double times; /* 100 for shares */
};

static void fleet_row(struct drawing *d, struct strbuf *out, const char *line, struct shown as,
                      const json_t *trial, const json_t *target)
{
    const enum lang lang = d->pictures.lang;
    const double mean = as.times * number(target, "value"), low = as.times * number(target, "low"),
                 high = as.times * number(target, "high");
    const double cards = number(trial, "cards"), nodes = number(trial, "nodes");
    strbuf_addf(out, "%.9g", cards);
    data_number(out, mean);
    data_number(out, isfinite(low) ? low : mean);
    data_number(out, isfinite(high) ? high : mean);
    strbuf_addf(out, "\t%d\t", json_is_true(json_object_get(trial, "met")));
    const char *value = figure_value(lang, d->a, mean, low, high, &as.unit);
    const char *const arg[] = { arena_printf(d->a, "%.9g", cards),
                                arena_printf(d->a, "%.9g", nodes),
                                value,
                                as.unit,
                                word_of(lang, text(target, "verdict")),
                                line };
    data_name(out, word_filled(lang, d->a, isfinite(mean) ? W_FLEET_TRIED : W_FLEET_NONE, arg, 6));
    strbuf_addc(out, '\n');
}

/* "target: \xe2\x89\xa4 600 s" of "<=600" */
static const char *target_words(struct drawing *d, const char *op, const char *limit,
                                const char *unit)
{
    static const struct {
        const char *op, *sign;
    } signs[] = { { "<=", "\xe2\x89\xa4" }, { ">=", "\xe2\x89\xa5" }, { "==", "=" } };
    const char *sign = arena_strndup(d->a, op, strspn(op, "<>=!"));
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strcmp(sign, signs[i].op) == 0) sign = signs[i].sign;
    const enum lang lang = d->pictures.lang;
    return arena_printf(d->a, "%s%s%s %s%s%s", word(lang, W_TARGET), word(lang, W_COLON), sign,
                        limit, *unit ? " " : "", unit);
}

/* "jobs.wait_s.p95<=600": the figure before the sign, the number behind it. */
static int curve(struct drawing *d, size_t q, struct err *e)
{
    const char *slo = json_string_value(json_array_get(d->slo, q));
    const size_t len = strcspn(slo, "<>=! ");
    const char *figure = arena_strndup(d->a, slo, len), *limit = slo + len;
    struct strbuf out = { 0 };
    size_t i;
    json_t *trial;
    bool any = false;
    limit += strspn(limit, "<>=! ");
    char *name = arena_printf(d->a, "size_curve_%zu_%s", q + 1, figure);
    for (char *p = name; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_", *p)) *p = '_';
    const enum lang lang = d->pictures.lang;
    bool share;
    struct shown as = { .times = 1 };
    const char *words = figure_words(lang, d->a, figure, &as.unit, &share);
    if (share) {
        as.unit = word(lang, W_PERCENT); /* of what, the axis says */
        as.times = 100;
        limit = arena_printf(d->a, "%.9g", 100 * strtod(limit, NULL));
    }
    const char *const said[] = { words, word(lang, W_CARD_COUNT) };
    strbuf_addz(&out,
                "axis\tfigure\ttarget\tlimit\tcolours\tdashes\taxis in words\tfigure in words\n"
                "cards\t");
    data_name(&out, figure);
    strbuf_addc(&out, '\t');
    data_name(&out, target_words(d, slo + len + strspn(slo + len, " "), limit, as.unit));
    strbuf_addc(&out, '\t');
    data_name(&out, limit);
    strbuf_addc(&out, '\t');
    for (size_t k = 0; k < d->n_lines; k++) strbuf_addf(&out, " %zu", d->line[k].colour);
    strbuf_addc(&out, '\t');
    for (size_t k = 0; k < d->n_lines; k++) strbuf_addf(&out, " %zu", d->line[k].dash);
    strbuf_addf(&out, "\t%s\t", word(lang, W_CARD_COUNT));
    data_name(&out, figure_label(lang, d->a, figure));
    strbuf_addc(&out, '\n');
    for (size_t k = 0; k < d->n_lines; k++) {
        strbuf_addz(&out, "\n\n");
        data_name(&out, d->line[k].name);
        strbuf_addz(&out, "\tmean\tlow\thigh\tmet\ttext\n");
        json_array_foreach(d->line[k].tried, i, trial)
        {
            const json_t *target = json_array_get(json_object_get(trial, "targets"), q);
            any = any || isfinite(number(target, "value"));
            fleet_row(d, &out, d->line[k].name, as, trial, target);
        }
    }
    if (any)
        return pictures_make(&d->pictures, name, "size_curve",
                             word_filled(lang, d->a, W_OVER_AXIS, said, 2), &out, e);
    pictures_unlink(&d->pictures, name);
    strbuf_fini(&out);
    return 0;
}

/* ---- is it all there? ---- */

static const struct json_shape target_shape[] = {
    { "value", JSON_KIND_NUMBER, NULL, false },
    { "low", JSON_KIND_NUMBER, NULL, false },
    { "high", JSON_KIND_NUMBER, NULL, false },
    { "verdict", JSON_KIND_TEXT, NULL, false },
    { 0 },
};
static const struct json_shape trial_shape[] = {
    { "nodes", JSON_KIND_COUNT, NULL, false },
    { "cards", JSON_KIND_COUNT, NULL, false },
    { "met", JSON_KIND_FLAG, NULL, false },
    { "targets", JSON_KIND_OBJECTS, target_shape, false },
    { 0 },
};
static const struct json_shape answer_shape[] = {
    { "name", JSON_KIND_TEXT, NULL, false },
    { "over", JSON_KIND_MAP_OF_TEXTS, NULL, true },
    { "tried", JSON_KIND_OBJECTS, trial_shape, false },
    { 0 },
};
static const struct json_shape size_shape[] = {
    { "gpusim_version", JSON_KIND_TEXT, NULL, true },
    { "slo", JSON_KIND_TEXTS, NULL, false },
    { "policy_order", JSON_KIND_TEXTS, NULL, true },
    { "policies", JSON_KIND_OBJECTS, answer_shape, false },
    { 0 },
};

/* "jobs.wait_s.p95<=600" */
static bool is_target(const char *s)
{
    const char *sign = strpbrk(s, "<>=!");
    double number;
    if (!sign || sign == s) return false;
    sign += strspn(sign, "<>=! ");
    return dec_double(sign, strlen(sign), &number) == DEC_OK;
}

/* Every trial says of every target how it stands. */
static void check_targets(const struct json_doc *doc, struct diag *d)
{
    const size_t n = json_array_size(json_object_get(doc->root, "slo"));
    size_t i, k;
    json_t *answer, *trial, *slo;
    json_array_foreach(json_object_get(doc->root, "slo"), i, slo)
    {
        char pointer[32], found[96];
        snprintf(pointer, sizeof pointer, "/slo/%zu", i);
        if (!is_target(json_string_value(slo)))
            json_problem(d, doc, pointer, "expected a figure, a comparison and a number, found %s",
                         json_found(found, sizeof found, slo));
    }
    json_array_foreach(json_object_get(doc->root, "policies"), i, answer)
    {
        json_array_foreach(json_object_get(answer, "tried"), k, trial)
        {
            const size_t found = json_array_size(json_object_get(trial, "targets"));
            char pointer[96];
            snprintf(pointer, sizeof pointer, "/policies/%zu/tried/%zu/targets", i, k);
            if (found != n)
                json_problem(d, doc, pointer, "expected %zu, as many as /slo has, found %zu", n,
                             found);
        }
    }
}

static int check(const struct json_doc *doc, struct err *e)
{
    struct diag d;
    diag_init(&d);
    if (fields_is_format(doc, "gpusim-size/1", &d)) json_shape_check(doc, size_shape, &d);
    if (d.count == 0) check_targets(doc, &d);
    const int rc = diag_result(&d, e);
    diag_fini(&d);
    return rc;
}

int size_plots_build(const char *dir, const char *to, enum lang lang, size_t *n, struct err *e)
{
    struct json_doc doc = { 0 };
    struct drawing d = { .a = arena_create() };
    const char *path = arena_printf(d.a, "%s/size.json", dir);
    *n = 0;
    int rc = json_doc_load(&doc, path, e);
    if (rc != 0) goto out;
    if ((rc = check(&doc, e)) != 0) goto out;
    d.slo = json_object_get(doc.root, "slo");
    const json_t *policies = json_object_get(doc.root, "policies");
    read_lines(&d, policies, json_object_get(doc.root, "policy_order"));
    d.pictures = (struct pictures){ .a = d.a, .lang = lang };
    rc = pictures_begin(&d.pictures, dir, to, doc.root, path, e);
    for (size_t q = 0; q < json_array_size(d.slo) && rc == 0; q++) rc = curve(&d, q, e);
    *n = d.pictures.n;
    if (rc == 0) rc = pictures_end(&d.pictures, e);
out:
    json_doc_fini(&doc);
    arena_destroy(d.a);
    return rc;
}
