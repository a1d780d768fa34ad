#include "metrics/service_stats.h"

#include "metrics/dist.h"
#include "metrics/stability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tally {
    struct dist metric[SERVICE_METRICS]; /* ms */
    uint64_t left, good;                 /* after the warm-up */
    uint64_t *within;                    /* by target */
    double tokens, good_tokens, input, hit;
};

struct service_stats {
    const struct plan *plan;
    struct tally *tally;
    bool keep; /* percentiles of an unstable run */
};

struct service_stats *service_stats_create(const struct plan *plan)
{
    struct service_stats *s = xcalloc(1, sizeof *s);
    s->plan = plan;
    s->tally = xcalloc(plan->n_services + 1, sizeof *s->tally);
    for (size_t k = 0; k < plan->n_services; k++)
        s->tally[k].within = xcalloc(plan->service[k].spec->n_targets + 1, sizeof(uint64_t));
    return s;
}

void service_stats_keep_percentiles(struct service_stats *s)
{
    s->keep = true;
}

void service_stats_destroy(struct service_stats *s)
{
    if (!s) return;
    for (size_t k = 0; k < s->plan->n_services; k++) {
        for (int m = 0; m < SERVICE_METRICS; m++) dist_fini(&s->tally[k].metric[m]);
        free(s->tally[k].within);
    }
    free(s->tally);
    free(s);
}

/* The request's own figures in ms; NAN: it has none. */
static void figures(const struct request_end *q, double ms[SERVICE_METRICS])
{
    ms[SERVICE_wait] = (double)(q->began - q->arrival) / 1e6;
    ms[SERVICE_latency] = (double)(q->end - q->arrival) / 1e6;
    ms[SERVICE_ttft] = ms[SERVICE_tpot] = NAN;
    if (q->first == JOB_NO_TIME) return;
    ms[SERVICE_ttft] = (double)(q->first - q->arrival) / 1e6;
    if (q->output_tokens > 1)
        ms[SERVICE_tpot] = (double)(q->end - q->first) / 1e6 / (double)(q->output_tokens - 1);
}

void service_stats_add(struct service_stats *s, size_t k, const struct request_end *q)
{
    const struct service_spec *spec = s->plan->service[k].spec;
    struct tally *t = &s->tally[k];
    double ms[SERVICE_METRICS];
    bool good = true;
    if (q->arrival < s->plan->scenario->warmup) return;
    t->left++;
    if (q->fate != REQUEST_COMPLETED) return;
    figures(q, ms);
    for (int m = 0; m < SERVICE_METRICS; m++)
        if (!isnan(ms[m])) dist_add(&t->metric[m], ms[m]);
    for (size_t i = 0; i < spec->n_targets; i++) {
        const double x = ms[spec->target[i].metric];
        const bool within = isnan(x) || x <= (double)spec->target[i].limit / 1e6;
        t->within[i] += within;
        good = good && within;
    }
    t->good += good;
    t->tokens += (double)q->output_tokens;
    t->input += (double)q->input_tokens;
    t->hit += (double)q->hit_tokens;
    if (good) t->good_tokens += (double)q->output_tokens;
}

/* What a longer run would make longer says nothing of the service: no percentiles and no mean. */
static void withhold(struct summary *s)
{
    s->mean = s->p50 = s->p90 = s->p95 = s->p99 = NAN;
}

static struct target_result target_of(struct tally *t, const struct service_target *x, size_t i,
                                      bool stable)
{
    struct dist *d = &t->metric[x->metric];
    struct target_result r = {
        .name = x->name, .target_ms = (double)x->limit / 1e6, .value_ms = NAN, .attainment = NAN
    };
    if (t->left > 0) r.attainment = (double)t->within[i] / (double)t->left;
    if (!stable || d->n == 0) return r;
    r.value_ms = x->percentile > 0 ? dist_percentile(d, x->percentile) : dist_mean(d);
    r.met = r.value_ms <= r.target_ms;
    return r;
}

static double tenant_gpu_hours(const struct sim_totals *t, sym tenant)
{
    return tenant < t->n_tenants[BY_USER] ? t->tenant[BY_USER][tenant].card_s / 3600 : 0;
}

static double share_waiting(const struct service_totals *x)
{
    return x->requests ? (double)x->waiting / (double)x->requests : 0;
}

static void one_service(struct service_stats *s, size_t k, const struct sim_totals *t,
                        struct arena *a, double window_s, struct service_result *out)
{
    const struct service_spec *spec = s->plan->service[k].spec;
    const struct service_totals *x = &t->service[k];
    struct tally *y = &s->tally[k];
    struct summary *stat[SERVICE_METRICS] = { &out->wait_ms, &out->latency_ms, &out->ttft_ms,
                                              &out->tpot_ms };
    struct target_result *target = arena_array(a, spec->n_targets + 1, sizeof *target);
    *out = (struct service_result){
        .name = spec->name,
        .requests = x->requests,
        .completed = x->fate[REQUEST_COMPLETED],
        .refused = x->fate[REQUEST_REFUSED],
        .timed_out = x->fate[REQUEST_TIMED_OUT],
        .unservable = x->fate[REQUEST_UNSERVABLE],
        .waiting = x->waiting,
        .in_service = x->in_service,
        .replicas_max = x->up_most,
        .replicas_started = x->came_up,
        .replicas_never_up = x->never_up,
        .gpu_hours = tenant_gpu_hours(t, x->tenant),
        .target = target,
        .n_targets = spec->n_targets,
        .attainment = NAN,
        .goodput_per_s = NAN,
        .tokens_per_s = NAN,
        .goodput_tokens_per_s = NAN,
        .prefix_hit = y->input > 0 ? y->hit / y->input : NAN,
        .usd_per_million_requests = NAN,
        .usd_per_million_tokens = NAN,
    };
    if (x->has_queue_batches)
        out->queue =
            stability_trend(x->queue_batch, QUEUE_MARKS - 1, x->queue_before, share_waiting(x));
    if (t->interrupted)
        out->unstable_reason = "the run was interrupted";
    else if (!stability_is_stable(&out->queue))
        out->unstable_reason = "its queue grew to the end of the run";
    else if (s->plan->scenario->horizon == CFG_NO_TIME && x->waiting + x->in_service > 0)
        out->unstable_reason = "requests were left without an answer";
    out->dropped = out->refused + out->timed_out;
    out->stable = !out->unstable_reason;
    for (int m = 0; m < SERVICE_METRICS; m++) {
        const bool of_tokens = m == SERVICE_ttft || m == SERVICE_tpot;
        dist_stat(&y->metric[m], of_tokens ? 0 : x->waiting + x->in_service, stat[m]);
        if (!s->keep) stat[m]->p999 = NAN;
        if (!out->stable && !s->keep) withhold(stat[m]);
    }
    for (size_t i = 0; i < spec->n_targets; i++)
        target[i] = target_of(y, &spec->target[i], i, out->stable || s->keep);
    out->throughput_per_s = (double)y->metric[SERVICE_latency].n / window_s;
    if (spec->n_targets > 0) {
        out->goodput_per_s = (double)y->good / window_s;
        if (y->left > 0) out->attainment = (double)y->good / (double)y->left;
    }
    if (y->tokens > 0) {
        out->tokens_per_s = y->tokens / window_s;
        if (spec->n_targets > 0) out->goodput_tokens_per_s = y->good_tokens / window_s;
    }
    out->replicas_mean = x->up_s / window_s;
    out->busy = x->up_s > 0 ? x->busy_s / x->up_s : NAN;
}

void service_stats_result(struct service_stats *s, const struct sim_totals *t, struct arena *a,
                          struct policy_result *out)
{
    const size_t n = s->plan->n_services;
    struct service_result *list = arena_array(a, n + 1, sizeof *list);
    for (size_t k = 0; k < n; k++) {
        one_service(s, k, t, a, out->window_s, &list[k]);
        if (list[k].stable || !out->stable) continue;
        out->stable = false;
        out->unstable_reason =
            arena_printf(a, "service %s: %s", list[k].name, list[k].unstable_reason);
    }
    out->service = list;
    out->n_services = n;
}

static double charged_usd(const struct tco_result *t, const char *service)
{
    for (size_t i = 0; i < t->n_charges; i++)
        if (strncmp(t->charge[i].name, "service:", 8) == 0 &&
            strcmp(t->charge[i].name + 8, service) == 0)
            return t->charge[i].usd;
    return NAN;
}

double service_stats_requests(const struct service_result *v, double window_s)
{
    return (v->n_targets > 0 ? v->goodput_per_s : v->throughput_per_s) * window_s;
}

double service_stats_tokens(const struct service_result *v, double window_s)
{
    return (v->n_targets > 0 ? v->goodput_tokens_per_s : v->tokens_per_s) * window_s;
}

void service_stats_price(struct policy_result *out)
{
    struct service_result *list = (struct service_result *)(uintptr_t)out->service;
    if (!out->tco.priced) return;
    for (size_t k = 0; k < out->n_services; k++) {
        struct service_result *v = &list[k];
        const double usd = charged_usd(&out->tco, v->name);
        const double requests = service_stats_requests(v, out->window_s),
                     tokens = service_stats_tokens(v, out->window_s);
        if (requests > 0) v->usd_per_million_requests = usd / requests * 1e6;
        if (tokens > 0) v->usd_per_million_tokens = usd / tokens * 1e6;
    }
}
