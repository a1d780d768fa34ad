/* Usage, from which a stored result is priced anew. */
#include "model/result_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct field group_nums[] = {
    FIELD(struct usage_group, allocated_h),     FIELD(struct usage_group, free_h),
    FIELD(struct usage_group, stranded_h),      FIELD(struct usage_group, down_h),
    FIELD(struct usage_group, no_context_h),    FIELD(struct usage_group, context_h),
    FIELD(struct usage_group, sm_active_h),     FIELD(struct usage_group, duty_h),
    FIELD(struct usage_group, memory_h),        FIELD(struct usage_group, energy_kwh),
    FIELD(struct usage_group, idle_energy_kwh),
};
static const char *const step_names[USAGE_STEPS] = { "1 min", "1 h", "1 d" };
static const struct field tenant_nums[] = {
    FIELD(struct usage_tenant, allocated_h),
    FIELD(struct usage_tenant, useful_h),
    FIELD(struct usage_tenant, energy_kwh),
};

static json_t *tenants_json(const struct usage_tenant *t, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *one = json_object();
        fields_put(one, "name", fields_text(t[i].name));
        fields_put(one, "jobs", fields_count(t[i].jobs));
        fields_put_nums(one, &t[i], tenant_nums, FIELDS(tenant_nums));
        fields_put(one, "billed_h", json_num(t[i].billed_h));
        json_array_append_new(list, one);
    }
    return list;
}

static const struct usage_tenant *read_tenants(const struct field_reader *r, json_t *o,
                                               const char *at, const char *key, size_t *n)
{
    char list_at[FIELDS_POINTER], one_at[FIELDS_POINTER];
    json_t *list = fields_get_child(r, o, at, key, JSON_ARRAY, list_at), *one;
    struct usage_tenant *tenant = arena_array(r->a, json_array_size(list), sizeof *tenant);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = fields_get_member(r, list, list_at, i, one_at))) continue;
        struct usage_tenant *t = &tenant[(*n)++];
        t->name = fields_get_text(r, one, one_at, "name");
        t->jobs = fields_get_count(r, one, one_at, "jobs");
        fields_get_nums(r, one, one_at, t, tenant_nums, FIELDS(tenant_nums));
        t->billed_h = json_object_get(one, "billed_h") ? fields_get_num(r, one, one_at, "billed_h")
                                                       : t->allocated_h;
    }
    return tenant;
}

/* Demand as [[cards, hours], ...], held card-hours by billing step. */
static void put_rentable(json_t *o, const struct usage_group *g)
{
    json_t *demand = json_array(), *steps = json_object();
    fields_put(o, "occupied_h", json_num(g->occupied_h));
    for (int k = 0; k < USAGE_STEPS; k++) fields_put(steps, step_names[k], json_num(g->step_h[k]));
    fields_put(o, "allocated_h_by_step", steps);
    for (size_t i = 0; i < g->n_demand; i++)
        json_array_append_new(demand, json_pack("[o, o]", json_num(g->demand[i].cards),
                                                json_num(g->demand[i].hours)));
    fields_put(o, "demand", demand);
}

/* Absent in results of before it was counted. */
static void read_rentable(const struct field_reader *r, json_t *o, const char *at,
                          struct usage_group *g)
{
    char here[FIELDS_POINTER], one_at[FIELDS_POINTER];
    const bool counted = json_object_get(o, "demand") != NULL;
    g->occupied_h = counted ? fields_get_num(r, o, at, "occupied_h") : NAN;
    json_t *steps =
        counted ? fields_get_child(r, o, at, "allocated_h_by_step", JSON_OBJECT, here) : NULL;
    for (int k = 0; k < USAGE_STEPS; k++)
        g->step_h[k] = steps ? fields_get_num(r, steps, here, step_names[k]) : NAN;
    if (!counted) return;
    json_t *list = fields_get_child(r, o, at, "demand", JSON_ARRAY, here);
    struct demand_level *d = arena_array(r->a, json_array_size(list) + 1, sizeof *d);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i), *cards = json_array_get(one, 0);
        const double hours = json_number_value(json_array_get(one, 1));
        d[g->n_demand] = (struct demand_level){ json_number_value(cards), hours };
        if (json_is_number(cards) && hours >= 0 &&
            (i == 0 || d[g->n_demand].cards > d[g->n_demand - 1].cards))
            g->n_demand++;
        else
            json_problem(r->d, r->doc, json_pointer_index(one_at, sizeof one_at, here, i),
                         "expected [cards, hours] with ascending cards");
    }
    g->demand = d;
}

json_t *result_usage_json(const struct usage *u)
{
    json_t *o = json_object(), *groups = json_array();
    fields_put(o, "hours", json_num(u->hours));
    fields_put(o, "jobs_completed", fields_count(u->jobs_completed));
    fields_put(o, "gpu_hours", json_num(u->gpu_hours));
    fields_put(o, "useful_gpu_hours", json_num(u->useful_gpu_hours));
    for (size_t i = 0; i < u->n_groups; i++) {
        const struct usage_group *g = &u->group[i];
        json_t *one = json_object();
        fields_put(one, "name", fields_text(g->name));
        fields_put(one, "gpu", fields_text(g->gpu ? g->gpu->name : NULL));
        fields_put(one, "tdp_W", json_num(g->gpu ? g->gpu->tdp_W : NAN));
        fields_put(one, "nodes", json_integer(g->nodes));
        fields_put(one, "cards", json_integer(g->cards));
        fields_put_nums(one, g, group_nums, FIELDS(group_nums));
        if (g->absent_h > 0) fields_put(one, "absent_h", json_num(g->absent_h));
        put_rentable(one, g);
        json_array_append_new(groups, one);
    }
    fields_put(o, "groups", groups);
    fields_put(o, "tenants", tenants_json(u->tenant, u->n_tenants));
    fields_put(o, "teams", tenants_json(u->team, u->n_teams));
    fields_put(o, "classes", tenants_json(u->klass, u->n_classes));
    return o;
}

void result_read_usage(const struct field_reader *r, json_t *policy, const char *at,
                       struct usage *u)
{
    char here[FIELDS_POINTER], list_at[FIELDS_POINTER], one_at[FIELDS_POINTER];
    json_t *o = fields_get_child(r, policy, at, "usage", JSON_OBJECT, here), *list, *one;
    if (!o) return;
    u->hours = fields_get_num(r, o, here, "hours");
    u->jobs_completed = fields_get_count(r, o, here, "jobs_completed");
    u->gpu_hours = fields_get_num(r, o, here, "gpu_hours");
    u->useful_gpu_hours = fields_get_num(r, o, here, "useful_gpu_hours");
    list = fields_get_child(r, o, here, "groups", JSON_ARRAY, list_at);
    struct usage_group *group = arena_array(r->a, json_array_size(list), sizeof *group);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = fields_get_member(r, list, list_at, i, one_at))) continue;
        struct usage_group *g = &group[u->n_groups++];
        struct gpu_spec *spec = arena_alloc(r->a, sizeof *spec);
        g->name = fields_get_text(r, one, one_at, "name");
        spec->name = fields_get_text(r, one, one_at, "gpu");
        spec->tdp_W = fields_get_num(r, one, one_at, "tdp_W");
        g->gpu = spec;
        g->nodes = (int64_t)fields_get_count(r, one, one_at, "nodes");
        g->cards = (int64_t)fields_get_count(r, one, one_at, "cards");
        fields_get_nums(r, one, one_at, g, group_nums, FIELDS(group_nums));
        if (json_object_get(one, "absent_h"))
            g->absent_h = fields_get_num(r, one, one_at, "absent_h");
        read_rentable(r, one, one_at, g);
    }
    u->group = group;
    u->tenant = read_tenants(r, o, here, "tenants", &u->n_tenants);
    if (json_object_get(o, "teams")) u->team = read_tenants(r, o, here, "teams", &u->n_teams);
    if (json_object_get(o, "classes"))
        u->klass = read_tenants(r, o, here, "classes", &u->n_classes);
}
