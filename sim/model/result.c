/* model/result.c - the answer of a run as JSON, both ways. Layout:
 * scenarios/schema/result.schema.json. The larger sections have their own files:
 * result_inside.h. */
#include "model/result.h"

#include "model/result_inside.h"

#include <string.h>

#define RESULT_FORMAT "gpusim-result/1"

static const struct field failure_counts[] = {
    FIELD(struct failure_result, card_faults), FIELD(struct failure_result, node_faults),
    FIELD(struct failure_result, rack_faults), FIELD(struct failure_result, job_faults),
    FIELD(struct failure_result, jobs_struck), FIELD(struct failure_result, jobs_given_up),
};
static const struct field failure_nums[] = {
    FIELD(struct failure_result, lost_gpu_hours),
    FIELD(struct failure_result, down_gpu_hours),
    FIELD(struct failure_result, absent_gpu_hours),
};
static const struct field steady_nums[] = {
    FIELD(struct steady_result, warmup_s),    FIELD(struct steady_result, mean),
    FIELD(struct steady_result, low),         FIELD(struct steady_result, high),
    FIELD(struct steady_result, effective_n), FIELD(struct steady_result, length_for_5_percent),
};
static const struct field comparison_nums[] = {
    FIELD(struct comparison_row, first),      FIELD(struct comparison_row, value),
    FIELD(struct comparison_row, difference), FIELD(struct comparison_row, low),
    FIELD(struct comparison_row, high),
};

static json_t *failures_json(const struct failure_result *f)
{
    json_t *o = json_object();
    fields_put_counts(o, f, failure_counts, FIELDS(failure_counts));
    fields_put_nums(o, f, failure_nums, FIELDS(failure_nums));
    return o;
}

static json_t *steady_json(const struct steady_result *s)
{
    json_t *o = json_object();
    fields_put(o, "n", fields_count(s->n));
    fields_put(o, "warmup_found", json_boolean(s->warmup_found));
    fields_put_nums(o, s, steady_nums, FIELDS(steady_nums));
    return o;
}

static json_t *policy_json(const struct policy_result *p)
{
    json_t *o = json_object(), *jobs = json_object(), *engine = json_object(),
           *known = json_object();
    fields_put(o, "name", fields_text(p->name));
    fields_put(o, "kind", fields_text(p->kind));
    fields_put(o, "gpu", result_gpu_json(&p->gpu));
    result_put_jobs(jobs, &p->jobs, &p->stats, p->gpu_hours, p->useful_gpu_hours);
    fields_put(jobs, "by_class", result_groups_json(p->by_class, p->n_classes));
    fields_put(jobs, "by_user", result_groups_json(p->by_user, p->n_users));
    if (p->rejected_reason) fields_put(jobs, "rejected_reason", fields_text(p->rejected_reason));
    fields_put(o, "jobs", jobs);
    if (p->failures.any) fields_put(o, "failures", failures_json(&p->failures));
    if (p->migrations.any)
        fields_put(o, "migrations",
                   json_pack("{s:I, s:o}", "moves", (json_int_t)p->migrations.moves,
                             "paused_gpu_hours", json_num(p->migrations.paused_gpu_hours)));
    if (p->steady.n) fields_put(o, "steady_wait_s", steady_json(&p->steady));
    fields_put(o, "services", result_services_json(p));
    fields_put(o, "tco", result_tco_json(&p->tco));
    fields_put(o, "usage", result_usage_json(&p->usage));
    fields_put(engine, "events", fields_count(p->events));
    fields_put(engine, "trace_rows", fields_count(p->trace_rows));
    fields_put(o, "engine", engine);
    fields_put(o, "stable", json_boolean(p->stable));
    if (p->unstable_reason) fields_put(o, "stable_reason", fields_text(p->unstable_reason));
    for (int i = 0; i < PROV_COUNT; i++)
        fields_put(known, provenance_names[i], fields_count(p->provenance[i]));
    fields_put(o, "provenance", known);
    fields_put(o, "parameters", result_params_json(p));
    fields_put(o, "window_s", json_num(p->window_s));
    fields_put(o, "end_s", json_num(p->end_s));
    if (p->interrupted) fields_put(o, "interrupted", json_true());
    return o;
}

static void read_policy(const struct field_reader *r, json_t *o, const char *at,
                        struct policy_result *p)
{
    char here[FIELDS_POINTER];
    json_t *child;
    p->name = fields_get_text(r, o, at, "name");
    p->kind = fields_get_text(r, o, at, "kind");
    result_read_gpu(r, o, at, &p->gpu);
    if ((child = fields_get_child(r, o, at, "jobs", JSON_OBJECT, here))) {
        result_read_jobs(r, child, here, &p->jobs, &p->stats, &p->gpu_hours, &p->useful_gpu_hours);
        p->by_class = result_read_groups(r, child, here, "by_class", &p->n_classes);
        p->by_user = result_read_groups(r, child, here, "by_user", &p->n_users);
        if (json_object_get(child, "rejected_reason"))
            p->rejected_reason = fields_get_text(r, child, here, "rejected_reason");
    }
    if (json_object_get(o, "steady_wait_s") &&
        (child = fields_get_child(r, o, at, "steady_wait_s", JSON_OBJECT, here))) {
        p->steady.n = fields_get_count(r, child, here, "n");
        p->steady.warmup_found = fields_get_bool(r, child, here, "warmup_found");
        fields_get_nums(r, child, here, &p->steady, steady_nums, FIELDS(steady_nums));
    }
    if (json_object_get(o, "failures") &&
        (child = fields_get_child(r, o, at, "failures", JSON_OBJECT, here))) {
        p->failures.any = true;
        if (!json_object_get(child, "rack_faults")) /* older results: there were none */
            fields_put(child, "rack_faults", fields_count(0));
        fields_get_counts(r, child, here, &p->failures, failure_counts, FIELDS(failure_counts));
        fields_get_nums(r, child, here, &p->failures, failure_nums, FIELDS(failure_nums));
    }
    result_read_services(r, o, at, p);
    if (json_object_get(o, "migrations") &&
        (child = fields_get_child(r, o, at, "migrations", JSON_OBJECT, here))) {
        p->migrations.any = true;
        p->migrations.moves = fields_get_count(r, child, here, "moves");
        p->migrations.paused_gpu_hours = fields_get_num(r, child, here, "paused_gpu_hours");
    }
    result_read_tco(r, o, at, &p->tco);
    result_read_usage(r, o, at, &p->usage);
    if ((child = fields_get_child(r, o, at, "engine", JSON_OBJECT, here))) {
        p->events = fields_get_count(r, child, here, "events");
        p->trace_rows = fields_get_count(r, child, here, "trace_rows");
    }
    p->stable = fields_get_bool(r, o, at, "stable");
    if (json_object_get(o, "stable_reason"))
        p->unstable_reason = fields_get_text_or_null(r, o, at, "stable_reason");
    if ((child = fields_get_child(r, o, at, "provenance", JSON_OBJECT, here)))
        for (int i = 0; i < PROV_COUNT; i++)
            p->provenance[i] = fields_get_count(r, child, here, provenance_names[i]);
    result_read_params(r, o, at, p);
    p->window_s = fields_get_num(r, o, at, "window_s");
    p->end_s = fields_get_num(r, o, at, "end_s");
    if (json_object_get(o, "interrupted"))
        p->interrupted = fields_get_bool(r, o, at, "interrupted");
}

static json_t *inputs_json(const struct result *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->n_inputs; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "kind", r->input[i].kind, "name",
                                              r->input[i].name, "sha256", r->input[i].sha256));
    return list;
}

/* Results of before this was kept have none. */
static void read_inputs(const struct field_reader *r, json_t *root, struct result *out)
{
    char here[FIELDS_POINTER], one_at[FIELDS_POINTER];
    if (!json_object_get(root, "inputs")) return;
    json_t *list = fields_get_child(r, root, "", "inputs", JSON_ARRAY, here), *one;
    struct result_input *in = arena_array(r->a, json_array_size(list), sizeof *in);
    out->input = in;
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = fields_get_member(r, list, here, i, one_at))) continue;
        in[out->n_inputs++] = (struct result_input){ fields_get_text(r, one, one_at, "kind"),
                                                     fields_get_text(r, one, one_at, "name"),
                                                     fields_get_text(r, one, one_at, "sha256") };
    }
}

static void read_comparison(const struct field_reader *r, json_t *root, struct result *out)
{
    char here[FIELDS_POINTER], one_at[FIELDS_POINTER];
    json_t *list = fields_get_child(r, root, "", "comparison", JSON_ARRAY, here), *one;
    struct comparison_row *row = arena_array(r->a, json_array_size(list), sizeof *row);
    out->comparison = row;
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = fields_get_member(r, list, here, i, one_at))) continue;
        struct comparison_row *c = &row[out->n_comparisons++];
        c->policy = fields_get_text(r, one, one_at, "policy");
        c->metric = fields_get_text(r, one, one_at, "metric");
        c->unit = fields_get_text(r, one, one_at, "unit");
        fields_get_nums(r, one, one_at, c, comparison_nums, FIELDS(comparison_nums));
    }
}

json_t *result_to_json(const struct result *r)
{
    json_t *o = json_object(), *policies = json_array(), *rows = json_array();
    fields_put(o, "format", json_string(RESULT_FORMAT));
    fields_put(o, "gpusim_version", fields_text(r->version));
    if (r->scenario)
        json_object_set(o, "scenario", r->scenario);
    else
        fields_put(o, "scenario", json_pack("{s:o}", "name", fields_text(r->scenario_name)));
    fields_put(o, "scenario_sha256", fields_text(r->scenario_sha256));
    fields_put(o, "seed", fields_count(r->seed));
    fields_put(o, "trace_sha256", fields_texts(r->trace_sha256, r->n_traces));
    if (r->n_set) fields_put(o, "set", fields_texts(r->set, r->n_set));
    fields_put(o, "inputs", inputs_json(r));
    if (r->n_files) fields_put(o, "files", result_files_json(r));
    for (size_t i = 0; i < r->n_policies; i++)
        json_array_append_new(policies, policy_json(&r->policy[i]));
    fields_put(o, "policies", policies);
    for (size_t i = 0; i < r->n_comparisons; i++) {
        const struct comparison_row *c = &r->comparison[i];
        json_t *one = json_object();
        fields_put(one, "policy", fields_text(c->policy));
        fields_put(one, "metric", fields_text(c->metric));
        fields_put(one, "unit", fields_text(c->unit));
        fields_put_nums(one, c, comparison_nums, FIELDS(comparison_nums));
        json_array_append_new(rows, one);
    }
    fields_put(o, "comparison", rows);
    fields_put(o, "advice", result_advice_json(r));
    return o;
}

void result_read(struct result *out, struct arena *a, const struct json_doc *doc, struct diag *d)
{
    const struct field_reader r = { a, doc, d };
    char here[FIELDS_POINTER], one_at[FIELDS_POINTER];
    json_t *root = doc->root, *one;
    *out = (struct result){ 0 };
    if (!fields_is_format(doc, RESULT_FORMAT, d)) return; /* further problems would be noise */
    out->version = fields_get_text(&r, root, "", "gpusim_version");
    out->scenario = fields_get_child(&r, root, "", "scenario", JSON_OBJECT, here);
    if (out->scenario) out->scenario_name = fields_get_text(&r, out->scenario, here, "name");
    out->scenario_sha256 = fields_get_text(&r, root, "", "scenario_sha256");
    out->seed = fields_get_count(&r, root, "", "seed");
    out->trace_sha256 = fields_get_text_list(&r, root, "", "trace_sha256", &out->n_traces);
    if (json_object_get(root, "set"))
        out->set = fields_get_text_list(&r, root, "", "set", &out->n_set);
    read_inputs(&r, root, out);
    result_read_files(out, a, doc, d);
    json_t *list = fields_get_child(&r, root, "", "policies", JSON_ARRAY, here);
    struct policy_result *policy = arena_array(a, json_array_size(list), sizeof *policy);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = fields_get_member(&r, list, here, i, one_at))) continue;
        read_policy(&r, one, one_at, &policy[out->n_policies++]);
    }
    out->policy = policy;
    read_comparison(&r, root, out);
    result_read_advice(&r, root, out);
}

int result_check_whole(const struct json_doc *doc, struct err *e)
{
    const struct loc at = { .file = doc->file };
    json_t *one;
    size_t i;
    json_array_foreach(json_object_get(doc->root, "policies"), i, one)
    {
        if (!json_is_true(json_object_get(one, "interrupted"))) continue;
        err_set(e, ERR_INPUT, &at, "the run was interrupted: the figures of policy %s are partial",
                json_string_value(json_object_get(one, "name")));
        err_hint(e, "run the scenario again, to the end");
        return ERR_INPUT;
    }
    return 0;
}
