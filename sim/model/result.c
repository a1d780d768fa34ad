/* model/result.c - the answer of a run as JSON, both ways. Layout: scenarios/schema/result.schema.json. */
#include "model/result.h"

#include "base/mem.h"
#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESULT_FORMAT "gpusim-result/1"

/* One table for the plain numbers of each struct: the writer and the reader walk the same one. */
struct num_field {
    const char *key;
    size_t offset;
};
#define NUM(type, member)                                                                          \
    {                                                                                              \
#member, offsetof(type, member)                                                            \
    }
#define NUM_AS(type, key, member)                                                                  \
    {                                                                                              \
        key, offsetof(type, member)                                                                \
    }
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

static const struct num_field stat_nums[] = {
    NUM(struct summary, mean), NUM(struct summary, p50), NUM(struct summary, p90),
    NUM(struct summary, p95),  NUM(struct summary, p99), NUM(struct summary, max),
};
static const struct num_field stat_counts[] = {
    NUM(struct summary, n),
    NUM(struct summary, censored),
};
static const struct num_field job_count_fields[] = {
    NUM(struct job_counts, submitted), NUM(struct job_counts, completed),
    NUM(struct job_counts, failed),    NUM(struct job_counts, killed),
    NUM(struct job_counts, rejected),  NUM(struct job_counts, running),
    NUM(struct job_counts, queued),    NUM(struct job_counts, failed_oom),
};
/* Came later: a stored result without them has none. */
static const struct num_field job_more_fields[] = {
    NUM(struct job_counts, preemptions),
    NUM(struct job_counts, resizes),
    NUM(struct job_counts, deadlines_met),
    NUM(struct job_counts, deadlines_missed),
};
static const struct num_field gpu_nums[] = {
    NUM(struct gpu_result, allocated),     NUM(struct gpu_result, duty),
    NUM(struct gpu_result, sm_active),     NUM(struct gpu_result, memory),
    NUM(struct gpu_result, stranded),      NUM_AS(struct gpu_result, "free", free_share),
    NUM(struct gpu_result, down),          NUM(struct gpu_result, energy_kwh),
    NUM(struct gpu_result, fragmentation),
};
static const struct num_field failure_counts[] = {
    NUM(struct failure_result, card_faults),   NUM(struct failure_result, node_faults),
    NUM(struct failure_result, job_faults),    NUM(struct failure_result, jobs_struck),
    NUM(struct failure_result, jobs_given_up),
};
static const struct num_field failure_nums[] = {
    NUM(struct failure_result, lost_gpu_hours),
    NUM(struct failure_result, down_gpu_hours),
    NUM(struct failure_result, absent_gpu_hours),
};
static const struct num_field steady_nums[] = {
    NUM(struct steady_result, warmup_s),    NUM(struct steady_result, mean),
    NUM(struct steady_result, low),         NUM(struct steady_result, high),
    NUM(struct steady_result, effective_n), NUM(struct steady_result, length_for_5_percent),
};
static const struct num_field tco_nums[] = {
    NUM(struct tco_result, hours),
    NUM(struct tco_result, total_usd),
    NUM(struct tco_result, usd_per_year),
    NUM(struct tco_result, npv_usd),
    NUM(struct tco_result, eac_usd),
    NUM(struct tco_result, usd_per_gpu_hour),
    NUM(struct tco_result, usd_per_useful_gpu_hour),
    NUM(struct tco_result, usd_per_job),
    NUM(struct tco_result, energy_usd),
};
/* Came later: a stored result without them has none. */
static const struct num_field month_nums[] = {
    NUM(struct tco_result, rate),
    NUM(struct tco_result, term_y),
    NUM(struct tco_result, upfront_usd),
    NUM(struct tco_result, resale_usd),
};
static const struct num_field payback_nums[] = {
    NUM(struct payback, month),
    NUM(struct payback, month_discounted),
    NUM(struct payback, usd_per_year),
};
static const struct num_field option_nums[] = {
    NUM(struct decision_option, cost),           NUM(struct decision_option, cost_p10),
    NUM(struct decision_option, cost_p50),       NUM(struct decision_option, cost_p90),
    NUM(struct decision_option, p_cheapest),     NUM(struct decision_option, difference_p5),
    NUM(struct decision_option, difference_p95),
};
static const struct num_field tco_more_nums[] = {
    NUM(struct tco_result, base_cards),
    NUM(struct tco_result, carbon_operation_kg),
    NUM(struct tco_result, carbon_embodied_kg),
    NUM(struct tco_result, carbon_kg_per_useful_gpu_hour),
};
static const struct num_field line_nums[] = {
    NUM(struct cost_line, usd),
    NUM(struct cost_line, usd_per_job),
    NUM(struct cost_line, usd_per_useful_gpu_hour),
};
static const struct num_field item_texts[] = {
    NUM(struct cost_item_result, name),       NUM(struct cost_item_result, driver),
    NUM(struct cost_item_result, source),     NUM(struct cost_item_result, date),
    NUM(struct cost_item_result, confidence),
};
static const struct num_field item_nums[] = {
    NUM(struct cost_item_result, quantity),
    NUM(struct cost_item_result, usd),
};
static const struct num_field charge_nums[] = {
    NUM(struct charge, usd),
    NUM(struct charge, card_hours),
    NUM(struct charge, energy_kwh),
};
static const struct num_field group_nums[] = {
    NUM(struct usage_group, allocated_h),     NUM(struct usage_group, free_h),
    NUM(struct usage_group, stranded_h),      NUM(struct usage_group, down_h),
    NUM(struct usage_group, no_context_h),    NUM(struct usage_group, context_h),
    NUM(struct usage_group, sm_active_h),     NUM(struct usage_group, duty_h),
    NUM(struct usage_group, memory_h),        NUM(struct usage_group, energy_kwh),
    NUM(struct usage_group, idle_energy_kwh),
};
static const char *const step_names[USAGE_STEPS] = { "1 min", "1 h", "1 d" };
static const struct num_field tenant_nums[] = {
    NUM(struct usage_tenant, allocated_h),
    NUM(struct usage_tenant, useful_h),
    NUM(struct usage_tenant, energy_kwh),
};
static const struct num_field service_counts[] = {
    NUM(struct service_result, requests),          NUM(struct service_result, completed),
    NUM(struct service_result, dropped),           NUM(struct service_result, refused),
    NUM(struct service_result, timed_out),         NUM(struct service_result, unservable),
    NUM(struct service_result, waiting),           NUM(struct service_result, in_service),
    NUM(struct service_result, replicas_max),      NUM(struct service_result, replicas_started),
    NUM(struct service_result, replicas_never_up),
};
static const struct num_field service_nums[] = {
    NUM(struct service_result, attainment),
    NUM(struct service_result, throughput_per_s),
    NUM(struct service_result, goodput_per_s),
    NUM(struct service_result, tokens_per_s),
    NUM(struct service_result, goodput_tokens_per_s),
    NUM(struct service_result, prefix_hit),
    NUM(struct service_result, replicas_mean),
    NUM(struct service_result, busy),
    NUM(struct service_result, gpu_hours),
    NUM(struct service_result, usd_per_million_requests),
    NUM(struct service_result, usd_per_million_tokens),
};
static const struct num_field reason_texts[] = {
    NUM(struct advice_reason, text),
    NUM(struct advice_reason, metric),
    NUM(struct advice_reason, against),
};
static const struct num_field reason_nums[] = {
    NUM(struct advice_reason, value),
    NUM(struct advice_reason, other),
};
static const struct num_field flip_texts[] = {
    NUM(struct advice_flip, text),
    NUM(struct advice_flip, input),
    NUM(struct advice_flip, to),
};
static const struct num_field quality_texts[] = {
    NUM(struct quality, kind),
    NUM(struct quality, aspect),
    NUM(struct quality, text),
    NUM(struct quality, source),
};
static const struct num_field param_texts[] = {
    NUM(struct param_result, fleet),  NUM(struct param_result, name),
    NUM(struct param_result, unit),   NUM(struct param_result, provenance),
    NUM(struct param_result, source),
};
static const struct num_field param_nums[] = {
    NUM(struct param_result, value),
    NUM(struct param_result, low),
    NUM(struct param_result, high),
};
static const struct num_field comparison_nums[] = {
    NUM(struct comparison_row, first),      NUM(struct comparison_row, value),
    NUM(struct comparison_row, difference), NUM(struct comparison_row, low),
    NUM(struct comparison_row, high),
};

/* ---- writing ---- */

/* Names from traces need not be UTF-8, JSON must be: bytes that are not become \xNN text. */
static char *escape_bytes(const char *s)
{
    struct strbuf b = { 0 };
    for (; *s; s++) {
        if ((unsigned char)*s < 0x80)
            strbuf_addc(&b, *s);
        else
            strbuf_addf(&b, "\\x%02x", (unsigned)(unsigned char)*s);
    }
    return b.s ? b.s : xstrdup("");
}

static json_t *text(const char *s)
{
    if (!s) return json_null();
    json_t *v = json_string(s);
    if (v) return v;
    char *escaped = escape_bytes(s);
    v = json_string(escaped);
    free(escaped);
    return v;
}

static void put(json_t *obj, const char *key, json_t *v)
{
    if (json_object_set(obj, key, v) != 0) { /* a key that is not UTF-8 */
        char *escaped = escape_bytes(key);
        json_object_set(obj, escaped, v);
        free(escaped);
    }
    json_decref(v);
}

/* Jansson's integers are signed; a larger seed is written as a decimal string. */
static json_t *count(uint64_t v)
{
    char buf[24];
    if (v <= INT64_MAX) return json_integer((json_int_t)v);
    snprintf(buf, sizeof buf, "%" PRIu64, v);
    return json_string(buf);
}

static void put_nums(json_t *obj, const void *s, const struct num_field *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put(obj, f[i].key, json_num(*(const double *)((const char *)s + f[i].offset)));
}

static void put_counts(json_t *obj, const void *s, const struct num_field *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put(obj, f[i].key, count(*(const uint64_t *)((const char *)s + f[i].offset)));
}

static void put_texts(json_t *obj, const void *s, const struct num_field *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put(obj, f[i].key, text(*(const char *const *)((const char *)s + f[i].offset)));
}

static json_t *stat_json(const struct summary *s)
{
    json_t *o = json_object();
    put_counts(o, s, stat_counts, COUNT_OF(stat_counts));
    put_nums(o, s, stat_nums, COUNT_OF(stat_nums));
    if (!isnan(s->p999)) put(o, "p999", json_num(s->p999));
    return o;
}

static void put_job_figures(json_t *o, const struct job_counts *c, const struct job_stats *s,
                            double gpu_hours, double useful)
{
    put_counts(o, c, job_count_fields, COUNT_OF(job_count_fields));
    put_counts(o, c, job_more_fields, COUNT_OF(job_more_fields));
    put(o, "wait_s", stat_json(&s->wait_s));
    put(o, "turnaround_s", stat_json(&s->turnaround_s));
    put(o, "slowdown", stat_json(&s->slowdown));
    put(o, "gpu_hours", json_num(gpu_hours));
    put(o, "useful_gpu_hours", json_num(useful));
}

static json_t *groups_json(const struct job_group_result *g, size_t n)
{
    json_t *o = json_object();
    for (size_t i = 0; i < n; i++) {
        json_t *one = json_object();
        put_job_figures(one, &g[i].count, &g[i].stats, g[i].gpu_hours, g[i].useful_gpu_hours);
        put(o, g[i].name, one);
    }
    return o;
}

static json_t *effective_json(const struct gpu_result *g)
{
    json_t *o = json_object();
    for (int p = 0; p < PREC_COUNT; p++) {
        if (!isfinite(g->effective_ops[p])) continue;
        bool integer = precision_is_integer((enum precision)p);
        json_t *one = json_object();
        put(one, integer ? "tops" : "tflops", json_num(g->effective_ops[p] / 1e12));
        put(one, integer ? "peak_tops" : "peak_tflops", json_num(g->peak_ops[p] / 1e12));
        put(o, precision_names[p], one);
    }
    return o;
}

static json_t *gpu_json(const struct gpu_result *g)
{
    json_t *o = json_object();
    put(o, "count", count(g->count));
    put_nums(o, g, gpu_nums, COUNT_OF(gpu_nums));
    put(o, "effective", effective_json(g));
    put(o, "effective_is_upper_bound", json_boolean(g->effective_is_upper_bound));
    return o;
}

static json_t *params_json(const struct policy_result *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n_params; i++) {
        json_t *one = json_object();
        put_texts(one, &p->param[i], param_texts, COUNT_OF(param_texts));
        put_nums(one, &p->param[i], param_nums, COUNT_OF(param_nums));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *service_json(const struct service_result *v)
{
    json_t *o = json_object(), *slo = json_object();
    put(o, "name", text(v->name));
    put_counts(o, v, service_counts, COUNT_OF(service_counts));
    put(o, "wait_ms", stat_json(&v->wait_ms));
    put(o, "latency_ms", stat_json(&v->latency_ms));
    put(o, "ttft_ms", stat_json(&v->ttft_ms));
    put(o, "tpot_ms", stat_json(&v->tpot_ms));
    for (size_t i = 0; i < v->n_targets; i++) {
        const struct target_result *t = &v->target[i];
        json_t *one = json_object();
        put(one, "target", json_num(t->target_ms));
        put(one, "value", json_num(t->value_ms));
        put(one, "attainment", json_num(t->attainment));
        put(one, "met", json_boolean(t->met));
        put(slo, t->name, one);
    }
    put(o, "slo", slo);
    put_nums(o, v, service_nums, COUNT_OF(service_nums));
    put(o, "stable", json_boolean(v->stable));
    put(o, "stable_reason", text(v->unstable_reason));
    return o;
}

static json_t *services_json(const struct policy_result *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n_services; i++)
        json_array_append_new(list, service_json(&p->service[i]));
    return list;
}

static json_t *charges_json(const struct charge *c, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *one = json_object();
        put(one, "name", text(c[i].name));
        put_nums(one, &c[i], charge_nums, COUNT_OF(charge_nums));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *numbers_json(const double *x, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(list, json_num(x[i]));
    return list;
}

static json_t *months_json(const struct tco_result *t)
{
    json_t *o = json_object(), *against = json_array();
    put_nums(o, t, month_nums, COUNT_OF(month_nums));
    put(o, "paid_by_month_usd", numbers_json(t->paid_by_month_usd, t->n_months));
    for (size_t i = 0; i < t->n_paybacks; i++) {
        const struct payback *x = &t->payback[i];
        json_t *one = json_object();
        put(one, "rent", text(x->rent));
        put_nums(one, x, payback_nums, COUNT_OF(payback_nums));
        put(one, "paid_by_month_usd", numbers_json(x->paid_by_month_usd, t->n_months));
        json_array_append_new(against, one);
    }
    put(o, "against", against);
    return o;
}

static json_t *tco_json(const struct tco_result *t)
{
    if (!t->priced) return json_null();
    json_t *o = json_object(), *items = json_array(), *classes = json_object();
    put_nums(o, t, tco_nums, COUNT_OF(tco_nums));
    put_nums(o, t, tco_more_nums, COUNT_OF(tco_more_nums));
    for (size_t i = 0; i < t->n_items; i++) {
        json_t *one = json_object();
        put_texts(one, &t->item[i], item_texts, COUNT_OF(item_texts));
        put_nums(one, &t->item[i], item_nums, COUNT_OF(item_nums));
        json_array_append_new(items, one);
    }
    for (size_t i = 0; i < t->n_classes; i++) {
        json_t *one = json_object();
        put_nums(one, &t->klass[i], line_nums, COUNT_OF(line_nums));
        put(classes, t->klass[i].name, one);
    }
    put(o, "items", items);
    put(o, "by_class", classes);
    put(o, "chargeback", charges_json(t->charge, t->n_charges));
    if (t->n_teams) put(o, "chargeback_by_group", charges_json(t->team, t->n_teams));
    if (t->n_months) put(o, "months", months_json(t));
    return o;
}

static json_t *tenants_json(const struct usage_tenant *t, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *one = json_object();
        put(one, "name", text(t[i].name));
        put(one, "jobs", count(t[i].jobs));
        put_nums(one, &t[i], tenant_nums, COUNT_OF(tenant_nums));
        put(one, "billed_h", json_num(t[i].billed_h));
        json_array_append_new(list, one);
    }
    return list;
}

/* Demand as [[cards, hours], ...], held card-hours by billing step. */
static void put_rentable(json_t *o, const struct usage_group *g)
{
    json_t *demand = json_array(), *steps = json_object();
    put(o, "occupied_h", json_num(g->occupied_h));
    for (int k = 0; k < USAGE_STEPS; k++) put(steps, step_names[k], json_num(g->step_h[k]));
    put(o, "allocated_h_by_step", steps);
    for (size_t i = 0; i < g->n_demand; i++)
        json_array_append_new(demand, json_pack("[o, o]", json_num(g->demand[i].cards),
                                                json_num(g->demand[i].hours)));
    put(o, "demand", demand);
}

static json_t *usage_json(const struct usage *u)
{
    json_t *o = json_object(), *groups = json_array();
    put(o, "hours", json_num(u->hours));
    put(o, "jobs_completed", count(u->jobs_completed));
    put(o, "gpu_hours", json_num(u->gpu_hours));
    put(o, "useful_gpu_hours", json_num(u->useful_gpu_hours));
    for (size_t i = 0; i < u->n_groups; i++) {
        const struct usage_group *g = &u->group[i];
        json_t *one = json_object();
        put(one, "name", text(g->name));
        put(one, "gpu", text(g->gpu ? g->gpu->name : NULL));
        put(one, "tdp_W", json_num(g->gpu ? g->gpu->tdp_W : NAN));
        put(one, "nodes", json_integer(g->nodes));
        put(one, "cards", json_integer(g->cards));
        put_nums(one, g, group_nums, COUNT_OF(group_nums));
        if (g->absent_h > 0) put(one, "absent_h", json_num(g->absent_h));
        put_rentable(one, g);
        json_array_append_new(groups, one);
    }
    put(o, "groups", groups);
    put(o, "tenants", tenants_json(u->tenant, u->n_tenants));
    put(o, "teams", tenants_json(u->team, u->n_teams));
    put(o, "classes", tenants_json(u->klass, u->n_classes));
    return o;
}

static json_t *failures_json(const struct failure_result *f)
{
    json_t *o = json_object();
    put_counts(o, f, failure_counts, COUNT_OF(failure_counts));
    put_nums(o, f, failure_nums, COUNT_OF(failure_nums));
    return o;
}

static json_t *steady_json(const struct steady_result *s)
{
    json_t *o = json_object();
    put(o, "n", count(s->n));
    put(o, "warmup_found", json_boolean(s->warmup_found));
    put_nums(o, s, steady_nums, COUNT_OF(steady_nums));
    return o;
}

static json_t *policy_json(const struct policy_result *p)
{
    json_t *o = json_object(), *jobs = json_object(), *engine = json_object(),
           *known = json_object();
    put(o, "name", text(p->name));
    put(o, "kind", text(p->kind));
    put(o, "gpu", gpu_json(&p->gpu));
    put_job_figures(jobs, &p->jobs, &p->stats, p->gpu_hours, p->useful_gpu_hours);
    put(jobs, "by_class", groups_json(p->by_class, p->n_classes));
    put(jobs, "by_user", groups_json(p->by_user, p->n_users));
    if (p->rejected_reason) put(jobs, "rejected_reason", text(p->rejected_reason));
    put(o, "jobs", jobs);
    if (p->failures.any) put(o, "failures", failures_json(&p->failures));
    if (p->migrations.any)
        put(o, "migrations",
            json_pack("{s:I, s:o}", "moves", (json_int_t)p->migrations.moves, "paused_gpu_hours",
                      json_num(p->migrations.paused_gpu_hours)));
    if (p->steady.n) put(o, "steady_wait_s", steady_json(&p->steady));
    put(o, "services", services_json(p));
    put(o, "tco", tco_json(&p->tco));
    put(o, "usage", usage_json(&p->usage));
    put(engine, "events", count(p->events));
    put(engine, "trace_rows", count(p->trace_rows));
    put(o, "engine", engine);
    put(o, "stable", json_boolean(p->stable));
    if (p->unstable_reason) put(o, "stable_reason", text(p->unstable_reason));
    for (int i = 0; i < PROV_COUNT; i++) put(known, provenance_names[i], count(p->provenance[i]));
    put(o, "provenance", known);
    put(o, "parameters", params_json(p));
    put(o, "window_s", json_num(p->window_s));
    put(o, "end_s", json_num(p->end_s));
    if (p->interrupted) put(o, "interrupted", json_true());
    return o;
}

static json_t *texts_json(const char *const *s, size_t n)
{
    json_t *a = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(a, text(s[i]));
    return a;
}

static json_t *decision_json(const struct decision *d)
{
    json_t *fleet = json_array(), *reasons = json_array(), *flips = json_array(),
           *options = json_array(), *o = json_object();
    for (size_t i = 0; i < d->n_options; i++) {
        json_t *one = json_object();
        put(one, "policy", text(d->option[i].policy));
        put(one, "eligible", json_boolean(d->option[i].eligible));
        put_nums(one, &d->option[i], option_nums, COUNT_OF(option_nums));
        put(one, "no_difference_shown", json_boolean(d->option[i].no_difference_shown));
        json_array_append_new(options, one);
    }
    for (size_t i = 0; i < d->n_fleet; i++)
        json_array_append_new(fleet, json_pack("{s:o, s:o, s:I, s:I}", "name",
                                               text(d->fleet[i].name), "gpu", text(d->fleet[i].gpu),
                                               "nodes", (json_int_t)d->fleet[i].nodes, "cards",
                                               (json_int_t)d->fleet[i].cards));
    for (size_t i = 0; i < d->n_reasons; i++) {
        json_t *one = json_object();
        put_texts(one, &d->reason[i], reason_texts, COUNT_OF(reason_texts));
        put_nums(one, &d->reason[i], reason_nums, COUNT_OF(reason_nums));
        json_array_append_new(reasons, one);
    }
    for (size_t i = 0; i < d->n_flips; i++) {
        json_t *one = json_object();
        put_texts(one, &d->flip[i], flip_texts, COUNT_OF(flip_texts));
        put(one, "at", json_num(d->flip[i].at));
        json_array_append_new(flips, one);
    }
    put(o, "about", text(d->about));
    put(o, "policy", text(d->policy));
    put(o, "kind", text(d->kind));
    put(o, "fleet", fleet);
    put(o, "as_good", texts_json(d->tie, d->n_ties));
    put(o, "cost_unit", text(d->cost_unit));
    put(o, "options", options);
    put(o, "reasons", reasons);
    put(o, "flips", flips);
    return o;
}

static json_t *advice_json(const struct result *r)
{
    json_t *o = json_object(), *decisions = json_array(), *qualities = json_array();
    for (size_t i = 0; i < r->n_decisions; i++)
        json_array_append_new(decisions, decision_json(&r->decision[i]));
    for (size_t i = 0; i < r->n_qualities; i++) {
        json_t *one = json_object();
        put_texts(one, &r->quality[i], quality_texts, COUNT_OF(quality_texts));
        json_array_append_new(qualities, one);
    }
    put(o, "texts", texts_json(r->advice, r->n_advice));
    put(o, "decisions", decisions);
    put(o, "draws", count(r->advice_draws));
    put(o, "replications", count(r->advice_replications));
    put(o, "qualities", qualities);
    return o;
}

static json_t *inputs_json(const struct result *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->n_inputs; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "kind", r->input[i].kind, "name",
                                              r->input[i].name, "sha256", r->input[i].sha256));
    return list;
}

json_t *result_to_json(const struct result *r)
{
    json_t *o = json_object(), *policies = json_array(), *rows = json_array();
    put(o, "format", json_string(RESULT_FORMAT));
    put(o, "gpusim_version", text(r->version));
    if (r->scenario)
        json_object_set(o, "scenario", r->scenario);
    else
        put(o, "scenario", json_pack("{s:o}", "name", text(r->scenario_name)));
    put(o, "scenario_sha256", text(r->scenario_sha256));
    put(o, "seed", count(r->seed));
    put(o, "trace_sha256", texts_json(r->trace_sha256, r->n_traces));
    put(o, "inputs", inputs_json(r));
    for (size_t i = 0; i < r->n_policies; i++)
        json_array_append_new(policies, policy_json(&r->policy[i]));
    put(o, "policies", policies);
    for (size_t i = 0; i < r->n_comparisons; i++) {
        const struct comparison_row *c = &r->comparison[i];
        json_t *one = json_object();
        put(one, "policy", text(c->policy));
        put(one, "metric", text(c->metric));
        put(one, "unit", text(c->unit));
        put_nums(one, c, comparison_nums, COUNT_OF(comparison_nums));
        json_array_append_new(rows, one);
    }
    put(o, "comparison", rows);
    put(o, "advice", advice_json(r));
    return o;
}

/* ---- reading ---- */

struct reader {
    struct arena *a;
    const struct json_doc *doc;
    struct diag *d;
};

enum { POINTER_BYTES = 512 };

/* The value of a required key. NULL after adding a problem when it is absent. */
static json_t *need(const struct reader *r, json_t *obj, const char *at, const char *key)
{
    json_t *v = json_object_get(obj, key);
    if (!v) json_problem(r->d, r->doc, at, "missing \"%s\"", key);
    return v;
}

static void wrong(const struct reader *r, const char *at, const char *key, const char *expected,
                  const json_t *v)
{
    char pointer[POINTER_BYTES], found[64];
    json_problem(r->d, r->doc, json_pointer_key(pointer, sizeof pointer, at, key),
                 "expected %s, found %s", expected, json_found(found, sizeof found, v));
}

static double get_num(const struct reader *r, json_t *obj, const char *at, const char *key)
{
    json_t *v = need(r, obj, at, key);
    if (!v || json_is_null(v)) return NAN;
    if (json_is_number(v)) return json_number_value(v);
    wrong(r, at, key, "a number or null", v);
    return NAN;
}

static uint64_t get_count(const struct reader *r, json_t *obj, const char *at, const char *key)
{
    json_t *v = need(r, obj, at, key);
    if (!v) return 0;
    if (json_is_integer(v) && json_integer_value(v) >= 0) return (uint64_t)json_integer_value(v);
    if (json_is_string(v)) {
        char *end;
        const char *s = json_string_value(v);
        uint64_t n = strtoull(s, &end, 10);
        if (*s >= '0' && *s <= '9' && *end == '\0') return n;
    }
    wrong(r, at, key, "a count", v);
    return 0;
}

/* NULL for null. */
static const char *get_text(const struct reader *r, json_t *obj, const char *at, const char *key)
{
    json_t *v = need(r, obj, at, key);
    if (!v || json_is_null(v)) return NULL;
    if (json_is_string(v)) return arena_strdup(r->a, json_string_value(v));
    wrong(r, at, key, "a string or null", v);
    return NULL;
}

static bool get_bool(const struct reader *r, json_t *obj, const char *at, const char *key)
{
    json_t *v = need(r, obj, at, key);
    if (v && !json_is_boolean(v)) wrong(r, at, key, "true or false", v);
    return json_is_true(v);
}

/* A child object or array with its pointer; NULL after a problem. */
static json_t *get_child(const struct reader *r, json_t *obj, const char *at, const char *key,
                         json_type type, char pointer[POINTER_BYTES])
{
    json_t *v = need(r, obj, at, key);
    json_pointer_key(pointer, POINTER_BYTES, at, key);
    if (!v || json_typeof(v) == type) return v;
    wrong(r, at, key, type == JSON_OBJECT ? "an object" : "an array", v);
    return NULL;
}

/* Member i of an array that must hold objects; NULL after a problem. */
static json_t *get_member(const struct reader *r, json_t *array, const char *at, size_t i,
                          char pointer[POINTER_BYTES])
{
    char found[64];
    json_t *v = json_array_get(array, i);
    json_pointer_index(pointer, POINTER_BYTES, at, i);
    if (json_is_object(v)) return v;
    json_problem(r->d, r->doc, pointer, "expected an object, found %s",
                 json_found(found, sizeof found, v));
    return NULL;
}

static void get_nums(const struct reader *r, json_t *obj, const char *at, void *s,
                     const struct num_field *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *(double *)((char *)s + f[i].offset) = get_num(r, obj, at, f[i].key);
}

static void get_counts(const struct reader *r, json_t *obj, const char *at, void *s,
                       const struct num_field *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *(uint64_t *)((char *)s + f[i].offset) = get_count(r, obj, at, f[i].key);
}

static void get_texts(const struct reader *r, json_t *obj, const char *at, void *s,
                      const struct num_field *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *(const char **)((char *)s + f[i].offset) = get_text(r, obj, at, f[i].key);
}

static struct summary read_stat(const struct reader *r, json_t *obj, const char *at,
                                const char *key)
{
    struct summary s = { 0, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    char here[POINTER_BYTES];
    json_t *o = get_child(r, obj, at, key, JSON_OBJECT, here);
    if (!o) return s;
    get_counts(r, o, here, &s, stat_counts, COUNT_OF(stat_counts));
    get_nums(r, o, here, &s, stat_nums, COUNT_OF(stat_nums));
    return s;
}

static void read_job_figures(const struct reader *r, json_t *o, const char *at,
                             struct job_counts *c, struct job_stats *s, double *gpu_hours,
                             double *useful)
{
    get_counts(r, o, at, c, job_count_fields, COUNT_OF(job_count_fields));
    for (size_t i = 0; i < COUNT_OF(job_more_fields); i++)
        if (json_object_get(o, job_more_fields[i].key))
            get_counts(r, o, at, c, &job_more_fields[i], 1);
    s->wait_s = read_stat(r, o, at, "wait_s");
    s->turnaround_s = read_stat(r, o, at, "turnaround_s");
    s->slowdown = read_stat(r, o, at, "slowdown");
    *gpu_hours = get_num(r, o, at, "gpu_hours");
    *useful = get_num(r, o, at, "useful_gpu_hours");
}

static const struct job_group_result *read_groups(const struct reader *r, json_t *jobs,
                                                  const char *at, const char *key, size_t *n)
{
    char here[POINTER_BYTES], one_at[POINTER_BYTES];
    json_t *o = get_child(r, jobs, at, key, JSON_OBJECT, here), *v;
    const char *name;
    size_t i = 0;
    *n = json_object_size(o);
    struct job_group_result *g = arena_array(r->a, *n, sizeof *g);
    json_object_foreach(o, name, v)
    {
        struct job_group_result *one = &g[i++];
        one->name = arena_strdup(r->a, name);
        if (!json_is_object(v))
            wrong(r, here, name, "an object", v);
        else
            read_job_figures(r, v, json_pointer_key(one_at, sizeof one_at, here, name), &one->count,
                             &one->stats, &one->gpu_hours, &one->useful_gpu_hours);
    }
    return g;
}

static void read_gpu(const struct reader *r, json_t *policy, const char *at, struct gpu_result *g)
{
    char here[POINTER_BYTES], eff_at[POINTER_BYTES], one_at[POINTER_BYTES];
    json_t *o = get_child(r, policy, at, "gpu", JSON_OBJECT, here);
    for (int p = 0; p < PREC_COUNT; p++) g->effective_ops[p] = g->peak_ops[p] = NAN;
    if (!o) return;
    g->count = get_count(r, o, here, "count");
    get_nums(r, o, here, g, gpu_nums, COUNT_OF(gpu_nums));
    g->effective_is_upper_bound = get_bool(r, o, here, "effective_is_upper_bound");
    json_t *eff = get_child(r, o, here, "effective", JSON_OBJECT, eff_at);
    for (int p = 0; p < PREC_COUNT; p++) {
        bool integer = precision_is_integer((enum precision)p);
        json_t *one = json_object_get(eff, precision_names[p]);
        if (!one) continue;
        json_pointer_key(one_at, sizeof one_at, eff_at, precision_names[p]);
        g->effective_ops[p] = 1e12 * get_num(r, one, one_at, integer ? "tops" : "tflops");
        g->peak_ops[p] = 1e12 * get_num(r, one, one_at, integer ? "peak_tops" : "peak_tflops");
    }
}

/* Absent in results written before the field was. */
static void read_params(const struct reader *r, json_t *policy, const char *at,
                        struct policy_result *p)
{
    char list_at[POINTER_BYTES], one_at[POINTER_BYTES];
    json_t *one;
    if (!json_object_get(policy, "parameters")) return;
    json_t *list = get_child(r, policy, at, "parameters", JSON_ARRAY, list_at);
    struct param_result *param = arena_array(r->a, json_array_size(list), sizeof *param);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = get_member(r, list, list_at, i, one_at))) continue;
        get_texts(r, one, one_at, &param[p->n_params], param_texts, COUNT_OF(param_texts));
        get_nums(r, one, one_at, &param[p->n_params++], param_nums, COUNT_OF(param_nums));
    }
    p->param = param;
}

static const struct charge *read_charges(const struct reader *r, json_t *o, const char *at,
                                         const char *key, size_t *n)
{
    char list_at[POINTER_BYTES], one_at[POINTER_BYTES];
    json_t *list = get_child(r, o, at, key, JSON_ARRAY, list_at), *one;
    struct charge *charge = arena_array(r->a, json_array_size(list), sizeof *charge);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = get_member(r, list, list_at, i, one_at))) continue;
        charge[*n].name = get_text(r, one, one_at, "name");
        get_nums(r, one, one_at, &charge[(*n)++], charge_nums, COUNT_OF(charge_nums));
    }
    return charge;
}

static const struct cost_line *read_lines(const struct reader *r, json_t *o, const char *at,
                                          size_t *n)
{
    char list_at[POINTER_BYTES], one_at[POINTER_BYTES];
    const char *name;
    json_t *all = get_child(r, o, at, "by_class", JSON_OBJECT, list_at), *one;
    struct cost_line *line = arena_array(r->a, json_object_size(all) + 1, sizeof *line);
    json_object_foreach(all, name, one)
    {
        line[*n].name = arena_strdup(r->a, name);
        get_nums(r, one, json_pointer_key(one_at, sizeof one_at, list_at, name), &line[(*n)++],
                 line_nums, COUNT_OF(line_nums));
    }
    return line;
}

/* `n` numbers; what is missing is NAN. */
static const double *read_numbers(const struct reader *r, json_t *o, const char *at,
                                  const char *key, size_t *n)
{
    char here[POINTER_BYTES];
    json_t *list = get_child(r, o, at, key, JSON_ARRAY, here);
    double *x = arena_array(r->a, json_array_size(list) + 1, sizeof *x);
    for (*n = 0; *n < json_array_size(list); ++*n) {
        const json_t *one = json_array_get(list, *n);
        x[*n] = json_is_number(one) ? json_number_value(one) : NAN;
    }
    return x;
}

static void read_months(const struct reader *r, json_t *tco, const char *at, struct tco_result *t)
{
    char here[POINTER_BYTES], list_at[POINTER_BYTES], one_at[POINTER_BYTES];
    json_t *o = get_child(r, tco, at, "months", JSON_OBJECT, here), *one;
    if (!o) return;
    get_nums(r, o, here, t, month_nums, COUNT_OF(month_nums));
    t->paid_by_month_usd = read_numbers(r, o, here, "paid_by_month_usd", &t->n_months);
    json_t *list = get_child(r, o, here, "against", JSON_ARRAY, list_at);
    struct payback *x = arena_array(r->a, json_array_size(list) + 1, sizeof *x);
    for (size_t i = 0; i < json_array_size(list); i++) {
        size_t n;
        if (!(one = get_member(r, list, list_at, i, one_at))) continue;
        x[t->n_paybacks].rent = get_text(r, one, one_at, "rent");
        get_nums(r, one, one_at, &x[t->n_paybacks], payback_nums, COUNT_OF(payback_nums));
        x[t->n_paybacks].paid_by_month_usd = read_numbers(r, one, one_at, "paid_by_month_usd", &n);
        if (n != t->n_months)
            json_problem(r->d, r->doc, one_at, "expected %zu months, found %zu", t->n_months, n);
        t->n_paybacks++;
    }
    t->payback = x;
}

static void read_tco(const struct reader *r, json_t *policy, const char *at, struct tco_result *t)
{
    char here[POINTER_BYTES], list_at[POINTER_BYTES], one_at[POINTER_BYTES];
    json_t *v = need(r, policy, at, "tco"), *list, *one;
    if (!v || json_is_null(v)) return;
    json_t *o = get_child(r, policy, at, "tco", JSON_OBJECT, here);
    if (!o) return;
    t->priced = true;
    get_nums(r, o, here, t, tco_nums, COUNT_OF(tco_nums));
    list = get_child(r, o, here, "items", JSON_ARRAY, list_at);
    struct cost_item_result *item = arena_array(r->a, json_array_size(list), sizeof *item);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = get_member(r, list, list_at, i, one_at))) continue;
        get_texts(r, one, one_at, &item[t->n_items], item_texts, COUNT_OF(item_texts));
        get_nums(r, one, one_at, &item[t->n_items++], item_nums, COUNT_OF(item_nums));
    }
    t->item = item;
    t->charge = read_charges(r, o, here, "chargeback", &t->n_charges);
    if (json_object_get(o, "chargeback_by_group"))
        t->team = read_charges(r, o, here, "chargeback_by_group", &t->n_teams);
    t->base_cards = t->carbon_operation_kg = t->carbon_embodied_kg = NAN;
    t->carbon_kg_per_useful_gpu_hour = NAN;
    if (json_object_get(o, "base_cards"))
        get_nums(r, o, here, t, tco_more_nums, COUNT_OF(tco_more_nums));
    if (json_object_get(o, "by_class")) t->klass = read_lines(r, o, here, &t->n_classes);
    if (json_object_get(o, "months")) read_months(r, o, here, t);
}

static const struct usage_tenant *read_tenants(const struct reader *r, json_t *o, const char *at,
                                               const char *key, size_t *n)
{
    char list_at[POINTER_BYTES], one_at[POINTER_BYTES];
    json_t *list = get_child(r, o, at, key, JSON_ARRAY, list_at), *one;
    struct usage_tenant *tenant = arena_array(r->a, json_array_size(list), sizeof *tenant);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = get_member(r, list, list_at, i, one_at))) continue;
        struct usage_tenant *t = &tenant[(*n)++];
        t->name = get_text(r, one, one_at, "name");
        t->jobs = get_count(r, one, one_at, "jobs");
        get_nums(r, one, one_at, t, tenant_nums, COUNT_OF(tenant_nums));
        t->billed_h =
            json_object_get(one, "billed_h") ? get_num(r, one, one_at, "billed_h") : t->allocated_h;
    }
    return tenant;
}

/* Absent in results of before it was counted. */
static void read_rentable(const struct reader *r, json_t *o, const char *at, struct usage_group *g)
{
    char here[POINTER_BYTES], one_at[POINTER_BYTES];
    const bool counted = json_object_get(o, "demand") != NULL;
    g->occupied_h = counted ? get_num(r, o, at, "occupied_h") : NAN;
    json_t *steps = counted ? get_child(r, o, at, "allocated_h_by_step", JSON_OBJECT, here) : NULL;
    for (int k = 0; k < USAGE_STEPS; k++)
        g->step_h[k] = steps ? get_num(r, steps, here, step_names[k]) : NAN;
    if (!counted) return;
    json_t *list = get_child(r, o, at, "demand", JSON_ARRAY, here);
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

static void read_usage(const struct reader *r, json_t *policy, const char *at, struct usage *u)
{
    char here[POINTER_BYTES], list_at[POINTER_BYTES], one_at[POINTER_BYTES];
    json_t *o = get_child(r, policy, at, "usage", JSON_OBJECT, here), *list, *one;
    if (!o) return;
    u->hours = get_num(r, o, here, "hours");
    u->jobs_completed = get_count(r, o, here, "jobs_completed");
    u->gpu_hours = get_num(r, o, here, "gpu_hours");
    u->useful_gpu_hours = get_num(r, o, here, "useful_gpu_hours");
    list = get_child(r, o, here, "groups", JSON_ARRAY, list_at);
    struct usage_group *group = arena_array(r->a, json_array_size(list), sizeof *group);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = get_member(r, list, list_at, i, one_at))) continue;
        struct usage_group *g = &group[u->n_groups++];
        struct gpu_spec *spec = arena_alloc(r->a, sizeof *spec);
        g->name = get_text(r, one, one_at, "name");
        spec->name = get_text(r, one, one_at, "gpu");
        spec->tdp_W = get_num(r, one, one_at, "tdp_W");
        g->gpu = spec;
        g->nodes = (int64_t)get_count(r, one, one_at, "nodes");
        g->cards = (int64_t)get_count(r, one, one_at, "cards");
        get_nums(r, one, one_at, g, group_nums, COUNT_OF(group_nums));
        if (json_object_get(one, "absent_h")) g->absent_h = get_num(r, one, one_at, "absent_h");
        read_rentable(r, one, one_at, g);
    }
    u->group = group;
    u->tenant = read_tenants(r, o, here, "tenants", &u->n_tenants);
    if (json_object_get(o, "teams")) u->team = read_tenants(r, o, here, "teams", &u->n_teams);
    if (json_object_get(o, "classes"))
        u->klass = read_tenants(r, o, here, "classes", &u->n_classes);
}

static void read_targets(const struct reader *r, json_t *o, const char *at,
                         struct service_result *v)
{
    char here[POINTER_BYTES], one_at[POINTER_BYTES];
    const char *name;
    json_t *slo = get_child(r, o, at, "slo", JSON_OBJECT, here), *one;
    struct target_result *t = arena_array(r->a, json_object_size(slo) + 1, sizeof *t);
    v->target = t;
    json_object_foreach(slo, name, one)
    {
        json_pointer_key(one_at, sizeof one_at, here, name);
        t[v->n_targets++] = (struct target_result){
            .name = arena_strdup(r->a, name),
            .target_ms = get_num(r, one, one_at, "target"),
            .value_ms = get_num(r, one, one_at, "value"),
            .attainment = get_num(r, one, one_at, "attainment"),
            .met = get_bool(r, one, one_at, "met"),
        };
    }
}

static void read_services(const struct reader *r, json_t *o, const char *at,
                          struct policy_result *p)
{
    char here[POINTER_BYTES], one_at[POINTER_BYTES];
    json_t *list = get_child(r, o, at, "services", JSON_ARRAY, here), *one;
    struct service_result *v = arena_array(r->a, json_array_size(list) + 1, sizeof *v);
    p->service = v;
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = get_member(r, list, here, i, one_at))) continue;
        struct service_result *x = &v[p->n_services++];
        x->name = get_text(r, one, one_at, "name");
        get_counts(r, one, one_at, x, service_counts, COUNT_OF(service_counts));
        x->wait_ms = read_stat(r, one, one_at, "wait_ms");
        x->latency_ms = read_stat(r, one, one_at, "latency_ms");
        x->ttft_ms = read_stat(r, one, one_at, "ttft_ms");
        x->tpot_ms = read_stat(r, one, one_at, "tpot_ms");
        read_targets(r, one, one_at, x);
        get_nums(r, one, one_at, x, service_nums, COUNT_OF(service_nums));
        x->stable = get_bool(r, one, one_at, "stable");
        x->unstable_reason = get_text(r, one, one_at, "stable_reason");
    }
}

static void read_policy(const struct reader *r, json_t *o, const char *at, struct policy_result *p)
{
    char here[POINTER_BYTES];
    json_t *child;
    p->name = get_text(r, o, at, "name");
    p->kind = get_text(r, o, at, "kind");
    if (!p->name || !p->kind) json_problem(r->d, r->doc, at, "a policy needs a name and a kind");
    read_gpu(r, o, at, &p->gpu);
    if ((child = get_child(r, o, at, "jobs", JSON_OBJECT, here))) {
        read_job_figures(r, child, here, &p->jobs, &p->stats, &p->gpu_hours, &p->useful_gpu_hours);
        p->by_class = read_groups(r, child, here, "by_class", &p->n_classes);
        p->by_user = read_groups(r, child, here, "by_user", &p->n_users);
        if (json_object_get(child, "rejected_reason"))
            p->rejected_reason = get_text(r, child, here, "rejected_reason");
    }
    if (json_object_get(o, "steady_wait_s") &&
        (child = get_child(r, o, at, "steady_wait_s", JSON_OBJECT, here))) {
        p->steady.n = get_count(r, child, here, "n");
        p->steady.warmup_found = get_bool(r, child, here, "warmup_found");
        get_nums(r, child, here, &p->steady, steady_nums, COUNT_OF(steady_nums));
    }
    if (json_object_get(o, "failures") &&
        (child = get_child(r, o, at, "failures", JSON_OBJECT, here))) {
        p->failures.any = true;
        get_counts(r, child, here, &p->failures, failure_counts, COUNT_OF(failure_counts));
        get_nums(r, child, here, &p->failures, failure_nums, COUNT_OF(failure_nums));
    }
    read_services(r, o, at, p);
    if (json_object_get(o, "migrations") &&
        (child = get_child(r, o, at, "migrations", JSON_OBJECT, here))) {
        p->migrations.any = true;
        p->migrations.moves = get_count(r, child, here, "moves");
        p->migrations.paused_gpu_hours = get_num(r, child, here, "paused_gpu_hours");
    }
    read_tco(r, o, at, &p->tco);
    read_usage(r, o, at, &p->usage);
    if ((child = get_child(r, o, at, "engine", JSON_OBJECT, here))) {
        p->events = get_count(r, child, here, "events");
        p->trace_rows = get_count(r, child, here, "trace_rows");
    }
    p->stable = get_bool(r, o, at, "stable");
    if (json_object_get(o, "stable_reason"))
        p->unstable_reason = get_text(r, o, at, "stable_reason");
    if ((child = get_child(r, o, at, "provenance", JSON_OBJECT, here)))
        for (int i = 0; i < PROV_COUNT; i++)
            p->provenance[i] = get_count(r, child, here, provenance_names[i]);
    read_params(r, o, at, p);
    p->window_s = get_num(r, o, at, "window_s");
    p->end_s = get_num(r, o, at, "end_s");
    if (json_object_get(o, "interrupted")) p->interrupted = get_bool(r, o, at, "interrupted");
}

static const char *const *read_texts(const struct reader *r, json_t *root, const char *at,
                                     const char *key, size_t *n)
{
    char here[POINTER_BYTES], one_at[POINTER_BYTES];
    json_t *list = get_child(r, root, at, key, JSON_ARRAY, here);
    *n = json_array_size(list);
    const char **s = arena_array(r->a, *n, sizeof *s);
    for (size_t i = 0; i < *n; i++) {
        json_t *v = json_array_get(list, i);
        if (!json_is_string(v))
            json_problem(r->d, r->doc, json_pointer_index(one_at, sizeof one_at, here, i),
                         "expected a string");
        s[i] = arena_strdup(r->a, json_is_string(v) ? json_string_value(v) : "");
    }
    return s;
}

/* Absent in results of before chances were kept. */
static void read_options(const struct reader *r, json_t *o, const char *at, struct decision *d)
{
    char here[POINTER_BYTES], one_at[POINTER_BYTES];
    json_t *list = get_child(r, o, at, "options", JSON_ARRAY, here), *one;
    struct decision_option *x = arena_array(r->a, json_array_size(list) + 1, sizeof *x);
    d->cost_unit = get_text(r, o, at, "cost_unit");
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = get_member(r, list, here, i, one_at))) continue;
        struct decision_option *y = &x[d->n_options++];
        y->policy = get_text(r, one, one_at, "policy");
        y->eligible = get_bool(r, one, one_at, "eligible");
        get_nums(r, one, one_at, y, option_nums, COUNT_OF(option_nums));
        y->no_difference_shown = get_bool(r, one, one_at, "no_difference_shown");
    }
    d->option = x;
}

static void read_decision(const struct reader *r, json_t *o, const char *at, struct decision *d)
{
    char here[POINTER_BYTES], one_at[POINTER_BYTES];
    json_t *list, *one;
    d->about = get_text(r, o, at, "about");
    d->policy = get_text(r, o, at, "policy");
    d->kind = get_text(r, o, at, "kind");
    d->tie = read_texts(r, o, at, "as_good", &d->n_ties);
    list = get_child(r, o, at, "fleet", JSON_ARRAY, here);
    struct decision_fleet *f = arena_array(r->a, json_array_size(list) + 1, sizeof *f);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = get_member(r, list, here, i, one_at))) continue;
        f[d->n_fleet++] = (struct decision_fleet){ get_text(r, one, one_at, "name"),
                                                   get_text(r, one, one_at, "gpu"),
                                                   (int64_t)get_count(r, one, one_at, "nodes"),
                                                   (int64_t)get_count(r, one, one_at, "cards") };
    }
    d->fleet = f;
    list = get_child(r, o, at, "reasons", JSON_ARRAY, here);
    struct advice_reason *why = arena_array(r->a, json_array_size(list) + 1, sizeof *why);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = get_member(r, list, here, i, one_at))) continue;
        get_texts(r, one, one_at, &why[d->n_reasons], reason_texts, COUNT_OF(reason_texts));
        get_nums(r, one, one_at, &why[d->n_reasons++], reason_nums, COUNT_OF(reason_nums));
    }
    d->reason = why;
    list = get_child(r, o, at, "flips", JSON_ARRAY, here);
    struct advice_flip *flip = arena_array(r->a, json_array_size(list) + 1, sizeof *flip);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = get_member(r, list, here, i, one_at))) continue;
        get_texts(r, one, one_at, &flip[d->n_flips], flip_texts, COUNT_OF(flip_texts));
        flip[d->n_flips++].at = get_num(r, one, one_at, "at");
    }
    d->flip = flip;
    if (json_object_get(o, "options")) read_options(r, o, at, d);
}

/* A list of sentences in results of before decisions were kept. */
static void read_advice(const struct reader *r, json_t *root, struct result *out)
{
    char at[POINTER_BYTES], here[POINTER_BYTES], one_at[POINTER_BYTES];
    json_t *o, *list, *one;
    if (json_is_array(json_object_get(root, "advice"))) {
        out->advice = read_texts(r, root, "", "advice", &out->n_advice);
        return;
    }
    if (!(o = get_child(r, root, "", "advice", JSON_OBJECT, at))) return;
    out->advice = read_texts(r, o, at, "texts", &out->n_advice);
    list = get_child(r, o, at, "decisions", JSON_ARRAY, here);
    struct decision *d = arena_array(r->a, json_array_size(list) + 1, sizeof *d);
    out->decision = d;
    for (size_t i = 0; i < json_array_size(list); i++)
        if ((one = get_member(r, list, here, i, one_at)))
            read_decision(r, one, one_at, &d[out->n_decisions++]);
    if (json_object_get(o, "draws")) {
        out->advice_draws = get_count(r, o, at, "draws");
        out->advice_replications = get_count(r, o, at, "replications");
    }
    list = get_child(r, o, at, "qualities", JSON_ARRAY, here);
    struct quality *q = arena_array(r->a, json_array_size(list) + 1, sizeof *q);
    out->quality = q;
    for (size_t i = 0; i < json_array_size(list); i++)
        if ((one = get_member(r, list, here, i, one_at)))
            get_texts(r, one, one_at, &q[out->n_qualities++], quality_texts,
                      COUNT_OF(quality_texts));
}

/* Results of before this was kept have none. */
static void read_inputs(const struct reader *r, json_t *root, struct result *out)
{
    char here[POINTER_BYTES], one_at[POINTER_BYTES];
    if (!json_object_get(root, "inputs")) return;
    json_t *list = get_child(r, root, "", "inputs", JSON_ARRAY, here), *one;
    struct result_input *in = arena_array(r->a, json_array_size(list), sizeof *in);
    out->input = in;
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = get_member(r, list, here, i, one_at))) continue;
        in[out->n_inputs++] = (struct result_input){ get_text(r, one, one_at, "kind"),
                                                     get_text(r, one, one_at, "name"),
                                                     get_text(r, one, one_at, "sha256") };
    }
}

static void read_comparison(const struct reader *r, json_t *root, struct result *out)
{
    char here[POINTER_BYTES], one_at[POINTER_BYTES];
    json_t *list = get_child(r, root, "", "comparison", JSON_ARRAY, here), *one;
    struct comparison_row *row = arena_array(r->a, json_array_size(list), sizeof *row);
    out->comparison = row;
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = get_member(r, list, here, i, one_at))) continue;
        struct comparison_row *c = &row[out->n_comparisons++];
        c->policy = get_text(r, one, one_at, "policy");
        c->metric = get_text(r, one, one_at, "metric");
        c->unit = get_text(r, one, one_at, "unit");
        get_nums(r, one, one_at, c, comparison_nums, COUNT_OF(comparison_nums));
    }
}

/* False after a problem when this is no result at all: then further problems would be noise. */
static bool is_result(const struct reader *r, json_t *root)
{
    char found[64];
    const json_t *format = json_object_get(root, "format");
    if (json_is_string(format) && strcmp(json_string_value(format), RESULT_FORMAT) == 0)
        return true;
    json_problem(r->d, r->doc, format ? "/format" : "", "expected \"format\": \"%s\", found %s",
                 RESULT_FORMAT, json_found(found, sizeof found, format ? format : root));
    return false;
}

void result_read(struct result *out, struct arena *a, const struct json_doc *doc, struct diag *d)
{
    const struct reader r = { a, doc, d };
    char here[POINTER_BYTES], one_at[POINTER_BYTES];
    json_t *root = doc->root, *one;
    *out = (struct result){ 0 };
    if (!is_result(&r, root)) return;
    out->version = get_text(&r, root, "", "gpusim_version");
    out->scenario = get_child(&r, root, "", "scenario", JSON_OBJECT, here);
    if (out->scenario) out->scenario_name = get_text(&r, out->scenario, here, "name");
    out->scenario_sha256 = get_text(&r, root, "", "scenario_sha256");
    out->seed = get_count(&r, root, "", "seed");
    out->trace_sha256 = read_texts(&r, root, "", "trace_sha256", &out->n_traces);
    read_inputs(&r, root, out);
    json_t *list = get_child(&r, root, "", "policies", JSON_ARRAY, here);
    struct policy_result *policy = arena_array(a, json_array_size(list), sizeof *policy);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = get_member(&r, list, here, i, one_at))) continue;
        read_policy(&r, one, one_at, &policy[out->n_policies++]);
    }
    out->policy = policy;
    read_comparison(&r, root, out);
    read_advice(&r, root, out);
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
