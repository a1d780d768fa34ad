/* Services: requests, their times, targets, replicas. */
#include "model/result_inside.h"

static const struct field service_counts[] = {
    FIELD(struct service_result, requests),          FIELD(struct service_result, completed),
    FIELD(struct service_result, dropped),           FIELD(struct service_result, refused),
    FIELD(struct service_result, timed_out),         FIELD(struct service_result, unservable),
    FIELD(struct service_result, waiting),           FIELD(struct service_result, in_service),
    FIELD(struct service_result, replicas_max),      FIELD(struct service_result, replicas_started),
    FIELD(struct service_result, replicas_never_up),
};
static const struct field service_nums[] = {
    FIELD(struct service_result, attainment),
    FIELD(struct service_result, throughput_per_s),
    FIELD(struct service_result, goodput_per_s),
    FIELD(struct service_result, tokens_per_s),
    FIELD(struct service_result, goodput_tokens_per_s),
    FIELD(struct service_result, prefix_hit),
    FIELD(struct service_result, replicas_mean),
    FIELD(struct service_result, busy),
    FIELD(struct service_result, gpu_hours),
    FIELD(struct service_result, usd_per_million_requests),
    FIELD(struct service_result, usd_per_million_tokens),
};

static json_t *service_json(const struct service_result *v)
{
    json_t *o = json_object(), *slo = json_object();
    fields_put(o, "name", fields_text(v->name));
    fields_put_counts(o, v, service_counts, FIELDS(service_counts));
    fields_put(o, "wait_ms", result_stat_json(&v->wait_ms));
    fields_put(o, "latency_ms", result_stat_json(&v->latency_ms));
    fields_put(o, "ttft_ms", result_stat_json(&v->ttft_ms));
    fields_put(o, "tpot_ms", result_stat_json(&v->tpot_ms));
    for (size_t i = 0; i < v->n_targets; i++) {
        const struct target_result *t = &v->target[i];
        json_t *one = json_object();
        fields_put(one, "target", json_num(t->target_ms));
        fields_put(one, "value", json_num(t->value_ms));
        fields_put(one, "attainment", json_num(t->attainment));
        fields_put(one, "met", json_boolean(t->met));
        fields_put(slo, t->name, one);
    }
    fields_put(o, "slo", slo);
    fields_put_nums(o, v, service_nums, FIELDS(service_nums));
    fields_put(o, "stable", json_boolean(v->stable));
    fields_put(o, "stable_reason", fields_text(v->unstable_reason));
    return o;
}

json_t *result_services_json(const struct policy_result *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n_services; i++)
        json_array_append_new(list, service_json(&p->service[i]));
    return list;
}

static void read_targets(const struct field_reader *r, json_t *o, const char *at,
                         struct service_result *v)
{
    char here[FIELDS_POINTER], one_at[FIELDS_POINTER];
    const char *name;
    json_t *slo = fields_get_child(r, o, at, "slo", JSON_OBJECT, here), *one;
    struct target_result *t = arena_array(r->a, json_object_size(slo) + 1, sizeof *t);
    v->target = t;
    json_object_foreach(slo, name, one)
    {
        json_pointer_key(one_at, sizeof one_at, here, name);
        t[v->n_targets++] = (struct target_result){
            .name = arena_strdup(r->a, name),
            .target_ms = fields_get_num(r, one, one_at, "target"),
            .value_ms = fields_get_num(r, one, one_at, "value"),
            .attainment = fields_get_num(r, one, one_at, "attainment"),
            .met = fields_get_bool(r, one, one_at, "met"),
        };
    }
}

void result_read_services(const struct field_reader *r, json_t *o, const char *at,
                          struct policy_result *p)
{
    char here[FIELDS_POINTER], one_at[FIELDS_POINTER];
    json_t *list = fields_get_child(r, o, at, "services", JSON_ARRAY, here), *one;
    struct service_result *v = arena_array(r->a, json_array_size(list) + 1, sizeof *v);
    p->service = v;
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = fields_get_member(r, list, here, i, one_at))) continue;
        struct service_result *x = &v[p->n_services++];
        x->name = fields_get_text(r, one, one_at, "name");
        fields_get_counts(r, one, one_at, x, service_counts, FIELDS(service_counts));
        x->wait_ms = result_read_stat(r, one, one_at, "wait_ms");
        x->latency_ms = result_read_stat(r, one, one_at, "latency_ms");
        x->ttft_ms = result_read_stat(r, one, one_at, "ttft_ms");
        x->tpot_ms = result_read_stat(r, one, one_at, "tpot_ms");
        read_targets(r, one, one_at, x);
        fields_get_nums(r, one, one_at, x, service_nums, FIELDS(service_nums));
        x->stable = fields_get_bool(r, one, one_at, "stable");
        x->unstable_reason = fields_get_text_or_null(r, one, one_at, "stable_reason");
    }
}
