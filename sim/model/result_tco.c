/* Money: what it adds up to, items, who is charged, month by month. */
#include "model/result_inside.h"

#include <math.h>

static const struct field tco_nums[] = {
    FIELD(struct tco_result, hours),
    FIELD(struct tco_result, total_usd),
    FIELD(struct tco_result, usd_per_year),
    FIELD(struct tco_result, npv_usd),
    FIELD(struct tco_result, eac_usd),
    FIELD(struct tco_result, usd_per_gpu_hour),
    FIELD(struct tco_result, usd_per_useful_gpu_hour),
    FIELD(struct tco_result, usd_per_job),
    FIELD(struct tco_result, energy_usd),
};
static const struct field tco_more_nums[] = {
    FIELD(struct tco_result, base_cards),
    FIELD(struct tco_result, carbon_operation_kg),
    FIELD(struct tco_result, carbon_embodied_kg),
    FIELD(struct tco_result, carbon_kg_per_useful_gpu_hour),
};

/* Came later: a stored result without them has none. */
static const struct field month_nums[] = {
    FIELD(struct tco_result, rate),
    FIELD(struct tco_result, term_y),
    FIELD(struct tco_result, upfront_usd),
    FIELD(struct tco_result, resale_usd),
};

static const struct field payback_nums[] = {
    FIELD(struct payback, month),
    FIELD(struct payback, month_discounted),
    FIELD(struct payback, usd_per_year),
};
static const struct field line_nums[] = {
    FIELD(struct cost_line, usd),
    FIELD(struct cost_line, usd_per_job),
    FIELD(struct cost_line, usd_per_useful_gpu_hour),
};
static const struct field item_texts[] = {
    FIELD(struct cost_item_result, name),       FIELD(struct cost_item_result, driver),
    FIELD(struct cost_item_result, source),     FIELD(struct cost_item_result, date),
    FIELD(struct cost_item_result, confidence),
};
static const struct field item_nums[] = {
    FIELD(struct cost_item_result, quantity),
    FIELD(struct cost_item_result, usd),
};
static const struct field charge_nums[] = {
    FIELD(struct charge, usd),
    FIELD(struct charge, card_hours),
    FIELD(struct charge, energy_kwh),
};

static json_t *charges_json(const struct charge *c, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *one = json_object();
        fields_put(one, "name", fields_text(c[i].name));
        fields_put_nums(one, &c[i], charge_nums, FIELDS(charge_nums));
        json_array_append_new(list, one);
    }
    return list;
}

static const struct charge *read_charges(const struct field_reader *r, json_t *o, const char *at,
                                         const char *key, size_t *n)
{
    char list_at[FIELDS_POINTER], one_at[FIELDS_POINTER];
    json_t *list = fields_get_child(r, o, at, key, JSON_ARRAY, list_at), *one;
    struct charge *charge = arena_array(r->a, json_array_size(list), sizeof *charge);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = fields_get_member(r, list, list_at, i, one_at))) continue;
        charge[*n].name = fields_get_text(r, one, one_at, "name");
        fields_get_nums(r, one, one_at, &charge[(*n)++], charge_nums, FIELDS(charge_nums));
    }
    return charge;
}

static json_t *months_json(const struct tco_result *t)
{
    json_t *o = json_object(), *against = json_array();
    fields_put_nums(o, t, month_nums, FIELDS(month_nums));
    fields_put(o, "paid_by_month_usd", fields_numbers(t->paid_by_month_usd, t->n_months));
    for (size_t i = 0; i < t->n_paybacks; i++) {
        const struct payback *x = &t->payback[i];
        json_t *one = json_object();
        fields_put(one, "rent", fields_text(x->rent));
        fields_put_nums(one, x, payback_nums, FIELDS(payback_nums));
        fields_put(one, "paid_by_month_usd", fields_numbers(x->paid_by_month_usd, t->n_months));
        json_array_append_new(against, one);
    }
    fields_put(o, "against", against);
    return o;
}

static void read_months(const struct field_reader *r, json_t *tco, const char *at,
                        struct tco_result *t)
{
    char here[FIELDS_POINTER], list_at[FIELDS_POINTER], one_at[FIELDS_POINTER];
    json_t *o = fields_get_child(r, tco, at, "months", JSON_OBJECT, here), *one;
    if (!o) return;
    fields_get_nums(r, o, here, t, month_nums, FIELDS(month_nums));
    t->paid_by_month_usd = fields_get_numbers(r, o, here, "paid_by_month_usd", &t->n_months);
    json_t *list = fields_get_child(r, o, here, "against", JSON_ARRAY, list_at);
    struct payback *x = arena_array(r->a, json_array_size(list) + 1, sizeof *x);
    for (size_t i = 0; i < json_array_size(list); i++) {
        size_t n;
        if (!(one = fields_get_member(r, list, list_at, i, one_at))) continue;
        x[t->n_paybacks].rent = fields_get_text(r, one, one_at, "rent");
        fields_get_nums(r, one, one_at, &x[t->n_paybacks], payback_nums, FIELDS(payback_nums));
        x[t->n_paybacks].paid_by_month_usd =
            fields_get_numbers(r, one, one_at, "paid_by_month_usd", &n);
        if (n != t->n_months)
            json_problem(r->d, r->doc, one_at, "expected %zu months, found %zu", t->n_months, n);
        t->n_paybacks++;
    }
    t->payback = x;
}

static const struct cost_line *read_lines(const struct field_reader *r, json_t *o, const char *at,
                                          size_t *n)
{
    char list_at[FIELDS_POINTER], one_at[FIELDS_POINTER];
    const char *name;
    json_t *all = fields_get_child(r, o, at, "by_class", JSON_OBJECT, list_at), *one;
    struct cost_line *line = arena_array(r->a, json_object_size(all) + 1, sizeof *line);
    json_object_foreach(all, name, one)
    {
        line[*n].name = arena_strdup(r->a, name);
        fields_get_nums(r, one, json_pointer_key(one_at, sizeof one_at, list_at, name),
                        &line[(*n)++], line_nums, FIELDS(line_nums));
    }
    return line;
}

json_t *result_tco_json(const struct tco_result *t)
{
    if (!t->priced) return json_null();
    json_t *o = json_object(), *items = json_array(), *classes = json_object();
    fields_put_nums(o, t, tco_nums, FIELDS(tco_nums));
    fields_put_nums(o, t, tco_more_nums, FIELDS(tco_more_nums));
    for (size_t i = 0; i < t->n_items; i++) {
        json_t *one = json_object();
        fields_put_texts(one, &t->item[i], item_texts, FIELDS(item_texts));
        fields_put_nums(one, &t->item[i], item_nums, FIELDS(item_nums));
        json_array_append_new(items, one);
    }
    for (size_t i = 0; i < t->n_classes; i++) {
        json_t *one = json_object();
        fields_put_nums(one, &t->klass[i], line_nums, FIELDS(line_nums));
        fields_put(classes, t->klass[i].name, one);
    }
    fields_put(o, "items", items);
    fields_put(o, "by_class", classes);
    fields_put(o, "chargeback", charges_json(t->charge, t->n_charges));
    if (t->n_teams) fields_put(o, "chargeback_by_group", charges_json(t->team, t->n_teams));
    if (t->n_months) fields_put(o, "months", months_json(t));
    return o;
}

void result_read_tco(const struct field_reader *r, json_t *policy, const char *at,
                     struct tco_result *t)
{
    char here[FIELDS_POINTER], list_at[FIELDS_POINTER], one_at[FIELDS_POINTER];
    json_t *v = fields_get(r, policy, at, "tco"), *list, *one;
    if (!v || json_is_null(v)) return;
    json_t *o = fields_get_child(r, policy, at, "tco", JSON_OBJECT, here);
    if (!o) return;
    t->priced = true;
    fields_get_nums(r, o, here, t, tco_nums, FIELDS(tco_nums));
    list = fields_get_child(r, o, here, "items", JSON_ARRAY, list_at);
    struct cost_item_result *item = arena_array(r->a, json_array_size(list), sizeof *item);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = fields_get_member(r, list, list_at, i, one_at))) continue;
        fields_get_texts(r, one, one_at, &item[t->n_items], item_texts, FIELDS(item_texts));
        fields_get_nums(r, one, one_at, &item[t->n_items++], item_nums, FIELDS(item_nums));
    }
    t->item = item;
    t->charge = read_charges(r, o, here, "chargeback", &t->n_charges);
    if (json_object_get(o, "chargeback_by_group"))
        t->team = read_charges(r, o, here, "chargeback_by_group", &t->n_teams);
    t->base_cards = t->carbon_operation_kg = t->carbon_embodied_kg = NAN;
    t->carbon_kg_per_useful_gpu_hour = NAN;
    if (json_object_get(o, "base_cards"))
        fields_get_nums(r, o, here, t, tco_more_nums, FIELDS(tco_more_nums));
    if (json_object_get(o, "by_class")) t->klass = read_lines(r, o, here, &t->n_classes);
    if (json_object_get(o, "months")) read_months(r, o, here, t);
}
