/* What the cards did, and the parameters of their models. */
#include "model/result_inside.h"

#include <math.h>

static const struct field gpu_nums[] = {
    FIELD(struct gpu_result, allocated),     FIELD(struct gpu_result, duty),
    FIELD(struct gpu_result, sm_active),     FIELD(struct gpu_result, memory),
    FIELD(struct gpu_result, stranded),      FIELD_AS(struct gpu_result, "free", free_share),
    FIELD(struct gpu_result, down),          FIELD(struct gpu_result, energy_kwh),
    FIELD(struct gpu_result, fragmentation),
};
static const struct field param_texts[] = {
    FIELD(struct param_result, fleet),  FIELD(struct param_result, name),
    FIELD(struct param_result, unit),   FIELD(struct param_result, provenance),
    FIELD(struct param_result, source),
};
static const struct field param_nums[] = {
    FIELD(struct param_result, value),
    FIELD(struct param_result, low),
    FIELD(struct param_result, high),
};

static json_t *effective_json(const struct gpu_result *g)
{
    json_t *o = json_object();
    for (int p = 0; p < PREC_COUNT; p++) {
        if (!isfinite(g->effective_ops[p])) continue;
        bool integer = precision_is_integer((enum precision)p);
        json_t *one = json_object();
        fields_put(one, integer ? "tops" : "tflops", json_num(g->effective_ops[p] / 1e12));
        fields_put(one, integer ? "peak_tops" : "peak_tflops", json_num(g->peak_ops[p] / 1e12));
        fields_put(o, precision_names[p], one);
    }
    return o;
}

json_t *result_gpu_json(const struct gpu_result *g)
{
    json_t *o = json_object();
    fields_put(o, "count", fields_count(g->count));
    fields_put_nums(o, g, gpu_nums, FIELDS(gpu_nums));
    fields_put(o, "effective", effective_json(g));
    fields_put(o, "effective_is_upper_bound", json_boolean(g->effective_is_upper_bound));
    return o;
}

void result_read_gpu(const struct field_reader *r, json_t *policy, const char *at,
                     struct gpu_result *g)
{
    char here[FIELDS_POINTER], eff_at[FIELDS_POINTER], one_at[FIELDS_POINTER];
    json_t *o = fields_get_child(r, policy, at, "gpu", JSON_OBJECT, here);
    for (int p = 0; p < PREC_COUNT; p++) g->effective_ops[p] = g->peak_ops[p] = NAN;
    if (!o) return;
    g->count = fields_get_count(r, o, here, "count");
    fields_get_nums(r, o, here, g, gpu_nums, FIELDS(gpu_nums));
    g->effective_is_upper_bound = fields_get_bool(r, o, here, "effective_is_upper_bound");
    json_t *eff = fields_get_child(r, o, here, "effective", JSON_OBJECT, eff_at);
    for (int p = 0; p < PREC_COUNT; p++) {
        bool integer = precision_is_integer((enum precision)p);
        json_t *one = json_object_get(eff, precision_names[p]);
        if (!one) continue;
        json_pointer_key(one_at, sizeof one_at, eff_at, precision_names[p]);
        g->effective_ops[p] = 1e12 * fields_get_num(r, one, one_at, integer ? "tops" : "tflops");
        g->peak_ops[p] =
            1e12 * fields_get_num(r, one, one_at, integer ? "peak_tops" : "peak_tflops");
    }
}

json_t *result_params_json(const struct policy_result *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n_params; i++) {
        json_t *one = json_object();
        fields_put_texts(one, &p->param[i], param_texts, FIELDS(param_texts));
        fields_put_nums(one, &p->param[i], param_nums, FIELDS(param_nums));
        json_array_append_new(list, one);
    }
    return list;
}

/* Absent in results written before the field was. */
void result_read_params(const struct field_reader *r, json_t *policy, const char *at,
                        struct policy_result *p)
{
    char list_at[FIELDS_POINTER], one_at[FIELDS_POINTER];
    json_t *one;
    if (!json_object_get(policy, "parameters")) return;
    json_t *list = fields_get_child(r, policy, at, "parameters", JSON_ARRAY, list_at);
    struct param_result *param = arena_array(r->a, json_array_size(list), sizeof *param);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = fields_get_member(r, list, list_at, i, one_at))) continue;
        fields_get_texts(r, one, one_at, &param[p->n_params], param_texts, FIELDS(param_texts));
        fields_get_nums(r, one, one_at, &param[p->n_params++], param_nums, FIELDS(param_nums));
    }
    p->param = param;
}
