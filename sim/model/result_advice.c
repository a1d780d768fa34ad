/* Advice: decisions with their reasons and what would turn them, and the qualities of each
 * policy. */
#include "model/result_inside.h"

#include <math.h>
#include <string.h>

static const struct field option_nums[] = {
    FIELD(struct decision_option, cost),           FIELD(struct decision_option, cost_p10),
    FIELD(struct decision_option, cost_p50),       FIELD(struct decision_option, cost_p90),
    FIELD(struct decision_option, p_cheapest),     FIELD(struct decision_option, difference_p5),
    FIELD(struct decision_option, difference_p95),
};
static const struct field reason_texts[] = {
    FIELD(struct advice_reason, text),
    FIELD_OR_NULL(struct advice_reason, metric),
    FIELD_OR_NULL(struct advice_reason, against),
};
static const struct field reason_nums[] = {
    FIELD(struct advice_reason, value),
    FIELD(struct advice_reason, other),
};
static const struct field flip_texts[] = {
    FIELD(struct advice_flip, text),
    FIELD_OR_NULL(struct advice_flip, input),
    FIELD_OR_NULL(struct advice_flip, to),
};
static const struct field quality_texts[] = {
    FIELD(struct quality, kind),
    FIELD(struct quality, aspect),
    FIELD(struct quality, text),
    FIELD(struct quality, source),
};

static json_t *decision_json(const struct decision *d)
{
    json_t *fleet = json_array(), *reasons = json_array(), *flips = json_array(),
           *options = json_array(), *o = json_object();
    for (size_t i = 0; i < d->n_options; i++) {
        json_t *one = json_object();
        fields_put(one, "policy", fields_text(d->option[i].policy));
        fields_put(one, "eligible", json_boolean(d->option[i].eligible));
        fields_put_nums(one, &d->option[i], option_nums, FIELDS(option_nums));
        fields_put(one, "no_difference_shown", json_boolean(d->option[i].no_difference_shown));
        json_array_append_new(options, one);
    }
    for (size_t i = 0; i < d->n_fleet; i++)
        json_array_append_new(
            fleet, json_pack("{s:o, s:o, s:I, s:I}", "name", fields_text(d->fleet[i].name), "gpu",
                             fields_text(d->fleet[i].gpu), "nodes", (json_int_t)d->fleet[i].nodes,
                             "cards", (json_int_t)d->fleet[i].cards));
    for (size_t i = 0; i < d->n_reasons; i++) {
        json_t *one = json_object();
        fields_put_texts(one, &d->reason[i], reason_texts, FIELDS(reason_texts));
        fields_put_nums(one, &d->reason[i], reason_nums, FIELDS(reason_nums));
        json_array_append_new(reasons, one);
    }
    for (size_t i = 0; i < d->n_flips; i++) {
        json_t *one = json_object();
        fields_put_texts(one, &d->flip[i], flip_texts, FIELDS(flip_texts));
        fields_put(one, "at", json_num(d->flip[i].at));
        json_array_append_new(flips, one);
    }
    fields_put(o, "about", fields_text(d->about));
    fields_put(o, "policy", fields_text(d->policy));
    fields_put(o, "kind", fields_text(d->kind));
    fields_put(o, "fleet", fleet);
    fields_put(o, "as_good", fields_texts(d->tie, d->n_ties));
    fields_put(o, "cost_unit", fields_text(d->cost_unit));
    fields_put(o, "decided_by", fields_text(d->by_median ? "median" : "stated"));
    fields_put(o, "options", options);
    fields_put(o, "reasons", reasons);
    fields_put(o, "flips", flips);
    return o;
}

/* Absent in results of before chances were kept. */
static void read_options(const struct field_reader *r, json_t *o, const char *at,
                         struct decision *d)
{
    char here[FIELDS_POINTER], one_at[FIELDS_POINTER];
    json_t *list = fields_get_child(r, o, at, "options", JSON_ARRAY, here), *one;
    struct decision_option *x = arena_array(r->a, json_array_size(list) + 1, sizeof *x);
    d->cost_unit = fields_get_text_or_null(r, o, at, "cost_unit");
    if (json_object_get(o, "decided_by")) {
        d->by_median = strcmp(fields_get_text(r, o, at, "decided_by"), "median") == 0;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = fields_get_member(r, list, here, i, one_at))) continue;
        struct decision_option *y = &x[d->n_options++];
        y->policy = fields_get_text(r, one, one_at, "policy");
        y->eligible = fields_get_bool(r, one, one_at, "eligible");
        fields_get_nums(r, one, one_at, y, option_nums, FIELDS(option_nums));
        y->no_difference_shown = fields_get_bool(r, one, one_at, "no_difference_shown");
    }
    d->option = x;
}

static void read_decision(const struct field_reader *r, json_t *o, const char *at,
                          struct decision *d)
{
    char here[FIELDS_POINTER], one_at[FIELDS_POINTER];
    json_t *list, *one;
    d->about = fields_get_text(r, o, at, "about");
    d->policy = fields_get_text_or_null(r, o, at, "policy");
    d->kind = fields_get_text_or_null(r, o, at, "kind");
    d->tie = fields_get_text_list(r, o, at, "as_good", &d->n_ties);
    list = fields_get_child(r, o, at, "fleet", JSON_ARRAY, here);
    struct decision_fleet *f = arena_array(r->a, json_array_size(list) + 1, sizeof *f);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = fields_get_member(r, list, here, i, one_at))) continue;
        f[d->n_fleet++] =
            (struct decision_fleet){ fields_get_text(r, one, one_at, "name"),
                                     fields_get_text(r, one, one_at, "gpu"),
                                     (int64_t)fields_get_count(r, one, one_at, "nodes"),
                                     (int64_t)fields_get_count(r, one, one_at, "cards") };
    }
    d->fleet = f;
    list = fields_get_child(r, o, at, "reasons", JSON_ARRAY, here);
    struct advice_reason *why = arena_array(r->a, json_array_size(list) + 1, sizeof *why);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = fields_get_member(r, list, here, i, one_at))) continue;
        fields_get_texts(r, one, one_at, &why[d->n_reasons], reason_texts, FIELDS(reason_texts));
        fields_get_nums(r, one, one_at, &why[d->n_reasons++], reason_nums, FIELDS(reason_nums));
    }
    d->reason = why;
    list = fields_get_child(r, o, at, "flips", JSON_ARRAY, here);
    struct advice_flip *flip = arena_array(r->a, json_array_size(list) + 1, sizeof *flip);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = fields_get_member(r, list, here, i, one_at))) continue;
        fields_get_texts(r, one, one_at, &flip[d->n_flips], flip_texts, FIELDS(flip_texts));
        flip[d->n_flips++].at = fields_get_num(r, one, one_at, "at");
    }
    d->flip = flip;
    if (json_object_get(o, "options")) read_options(r, o, at, d);
}

json_t *result_advice_json(const struct result *r)
{
    json_t *o = json_object(), *decisions = json_array(), *qualities = json_array();
    for (size_t i = 0; i < r->n_decisions; i++)
        json_array_append_new(decisions, decision_json(&r->decision[i]));
    for (size_t i = 0; i < r->n_qualities; i++) {
        json_t *one = json_object();
        fields_put_texts(one, &r->quality[i], quality_texts, FIELDS(quality_texts));
        json_array_append_new(qualities, one);
    }
    fields_put(o, "texts", fields_texts(r->advice, r->n_advice));
    fields_put(o, "decisions", decisions);
    fields_put(o, "draws", fields_count(r->advice_draws));
    fields_put(o, "replications", fields_count(r->advice_replications));
    fields_put(o, "qualities", qualities);
    return o;
}

/* A list of sentences in results of before decisions were kept. */
void result_read_advice(const struct field_reader *r, json_t *root, struct result *out)
{
    char at[FIELDS_POINTER], here[FIELDS_POINTER], one_at[FIELDS_POINTER];
    json_t *o, *list, *one;
    if (json_is_array(json_object_get(root, "advice"))) {
        out->advice = fields_get_text_list(r, root, "", "advice", &out->n_advice);
        return;
    }
    if (!(o = fields_get_child(r, root, "", "advice", JSON_OBJECT, at))) return;
    out->advice = fields_get_text_list(r, o, at, "texts", &out->n_advice);
    list = fields_get_child(r, o, at, "decisions", JSON_ARRAY, here);
    struct decision *d = arena_array(r->a, json_array_size(list) + 1, sizeof *d);
    out->decision = d;
    for (size_t i = 0; i < json_array_size(list); i++)
        if ((one = fields_get_member(r, list, here, i, one_at)))
            read_decision(r, one, one_at, &d[out->n_decisions++]);
    if (json_object_get(o, "draws")) {
        out->advice_draws = fields_get_count(r, o, at, "draws");
        out->advice_replications = fields_get_count(r, o, at, "replications");
    }
    list = fields_get_child(r, o, at, "qualities", JSON_ARRAY, here);
    struct quality *q = arena_array(r->a, json_array_size(list) + 1, sizeof *q);
    out->quality = q;
    for (size_t i = 0; i < json_array_size(list); i++)
        if ((one = fields_get_member(r, list, here, i, one_at)))
            fields_get_texts(r, one, one_at, &q[out->n_qualities++], quality_texts,
                             FIELDS(quality_texts));
}

static double spread_of(const struct decision_option *o)
{
    return 0.5 * (o->cost_p90 - o->cost_p10) / fabs(o->cost_p50);
}

double result_cost_spread(const struct result *r, size_t policy)
{
    const struct decision *d = r->n_decisions ? &r->decision[0] : NULL;
    double own = NAN, least = NAN;
    for (size_t i = 0; d && i < d->n_options; i++)
        if (strcmp(d->option[i].policy, r->policy[policy].name) == 0)
            own = spread_of(&d->option[i]);
    for (size_t i = 0; d && i < d->n_options; i++)
        if (spread_of(&d->option[i]) >= own / 1.1) least = fmin(least, spread_of(&d->option[i]));
    return least;
}
