#include "metrics/compare.h"

#include "base/figure.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

struct metric {
    const char *name, *unit;
    double (*of)(const struct policy_result *p);
    bool less_is_better;
};

static double wait_mean(const struct policy_result *p)
{
    return p->stats.wait_s.mean;
}
static double wait_p95(const struct policy_result *p)
{
    return p->stats.wait_s.p95;
}
static double turnaround_mean(const struct policy_result *p)
{
    return p->stats.turnaround_s.mean;
}
static double slowdown_p95(const struct policy_result *p)
{
    return p->stats.slowdown.p95;
}
static double completed(const struct policy_result *p)
{
    return (double)p->jobs.completed;
}
static double not_served(const struct policy_result *p)
{
    return (double)(p->jobs.failed + p->jobs.killed + p->jobs.rejected);
}
static double allocated(const struct policy_result *p)
{
    return p->gpu.allocated;
}
static double sm_active(const struct policy_result *p)
{
    return p->gpu.sm_active;
}
static double energy(const struct policy_result *p)
{
    return p->gpu.energy_kwh;
}
static double cost(const struct policy_result *p)
{
    return p->tco.priced ? p->tco.usd_per_useful_gpu_hour : NAN;
}

enum { METRIC_WAIT_P95 = 1, METRIC_COST = 9 };
static const struct metric metrics[] = {
    { "wait_s.mean", "s", wait_mean, true },
    [METRIC_WAIT_P95] = { "wait_s.p95", "s", wait_p95, true },
    { "turnaround_s.mean", "s", turnaround_mean, true },
    { "slowdown.p95", "ratio", slowdown_p95, true },
    { "completed", "jobs", completed, false },
    { "failed_killed_rejected", "jobs", not_served, true },
    { "allocated", "ratio", allocated, false },
    { "sm_active", "ratio", sm_active, false },
    { "energy_kwh", "kWh", energy, true },
    [METRIC_COST] = { "usd_per_useful_gpu_hour", "USD/h", cost, true },
};
enum { N_METRICS = sizeof metrics / sizeof *metrics };

static double latency_p99(const struct service_result *v)
{
    return v->latency_ms.p99;
}
static double attainment(const struct service_result *v)
{
    return v->attainment;
}
static double service_cost(const struct service_result *v)
{
    return v->usd_per_million_requests;
}

static const struct {
    const char *name, *unit;
    double (*of)(const struct service_result *v);
} service_metrics[] = {
    { "latency_ms.p99", "ms", latency_p99 },
    { "attainment", "ratio", attainment },
    { "usd_per_million_requests", "USD", service_cost },
};
enum { N_SERVICE_METRICS = sizeof service_metrics / sizeof *service_metrics };

/* What is compared: the metrics of jobs and cards, then those of each service. Policies of a
 * scenario have the same services in the same order. */
static double figure(const struct policy_result *p, size_t m)
{
    if (m < N_METRICS) return metrics[m].of(p);
    const size_t k = (m - N_METRICS) / N_SERVICE_METRICS;
    return k < p->n_services
               ? service_metrics[(m - N_METRICS) % N_SERVICE_METRICS].of(&p->service[k])
               : NAN;
}

/* Means over the replications, the difference with its 95 % interval (Student) of the paired
 * differences. A figure that one of them does not have has no mean. */
static void replicate(struct comparison_row *row, const struct replicated *x, size_t p, size_t m)
{
    double first = 0, value = 0, square = 0;
    const double n = (double)x->n;
    for (size_t k = 0; k < x->n; k++) {
        first += figure(&x->run[0][k], m) / n;
        value += figure(&x->run[p][k], m) / n;
    }
    const double mean = value - first;
    for (size_t k = 0; k < x->n; k++) {
        const double d = figure(&x->run[p][k], m) - figure(&x->run[0][k], m);
        square += (d - mean) * (d - mean);
    }
    const double half = gsl_cdf_tdist_Pinv(0.975, n - 1) * sqrt(square / (n - 1) / n);
    row->first = first;
    row->value = value;
    row->difference = mean;
    row->low = mean - half;
    row->high = mean + half;
}

static void compare(struct result *r, const struct replicated *x, size_t p, size_t m,
                    struct arena *a, struct comparison_row *row)
{
    const struct policy_result *first = &r->policy[0];
    struct comparison_row *c = &row[r->n_comparisons++];
    *c = (struct comparison_row){ .policy = r->policy[p].name,
                                  .first = figure(first, m),
                                  .value = figure(&r->policy[p], m),
                                  .low = NAN,
                                  .high = NAN };
    c->difference = c->value - c->first;
    if (m < N_METRICS) {
        c->metric = metrics[m].name;
        c->unit = metrics[m].unit;
    } else {
        const size_t k = (m - N_METRICS) / N_SERVICE_METRICS,
                     s = (m - N_METRICS) % N_SERVICE_METRICS;
        c->metric =
            arena_printf(a, "services.%s.%s", first->service[k].name, service_metrics[s].name);
        c->unit = service_metrics[s].unit;
    }
    if (x) replicate(c, x, p, m);
}

static void compare_to_first(struct result *r, const struct replicated *x, struct arena *a)
{
    const size_t services = r->n_policies ? r->policy[0].n_services : 0,
                 all = N_METRICS + services * N_SERVICE_METRICS;
    struct comparison_row *row = arena_array(a, r->n_policies * all + 1, sizeof *row);
    r->n_comparisons = 0; /* it may hold those of one run */
    for (size_t p = 1; p < r->n_policies; p++)
        for (size_t m = 0; m < N_METRICS; m++) compare(r, x, p, m, a, row);
    for (size_t p = 1; p < r->n_policies; p++)
        for (size_t m = N_METRICS; m < all; m++) compare(r, x, p, m, a, row);
    r->comparison = row;
}

/* A policy that turned away or lost more than one job in a hundred is not praised for its waits or
 * its cost: the jobs that it did not serve waited for nothing. */
static bool in_the_running(const struct policy_result *p)
{
    return not_served(p) <= 0.01 * (double)p->jobs.submitted;
}

static const struct policy_result *best(const struct result *r, const struct metric *m)
{
    const struct policy_result *b = NULL;
    for (size_t p = 0; p < r->n_policies; p++) {
        const double v = m->of(&r->policy[p]);
        if (isnan(v) || !in_the_running(&r->policy[p])) continue;
        if (!b || (m->less_is_better ? v < m->of(b) : v > m->of(b))) b = &r->policy[p];
    }
    return b;
}

/* One replay tells no interval, so policies this close together are called a tie. */
static const double TIE = 0.02;

/* "mig" or "mig, whole, pool": the best and whoever is within the tie, in scenario order. */
static const char *winners(const struct result *r, const struct metric *m,
                           const struct policy_result *b, struct arena *a, size_t *n)
{
    const char *names = b->name;
    const double at = m->of(b);
    *n = 1;
    for (size_t p = 0; p < r->n_policies; p++) {
        const struct policy_result *x = &r->policy[p];
        if (x == b || !in_the_running(x) || !(fabs(m->of(x) - at) <= TIE * fabs(at))) continue;
        names = arena_printf(a, "%s, %s", names, x->name);
        ++*n;
    }
    return names;
}

/* "12 s", "4.8 h": as people say it. */
static const char *amount(double v, const char *unit, struct arena *a)
{
    struct strbuf b = { 0 };
    if (strcmp(unit, "s") == 0) {
        figure_add_duration(&b, v);
    } else {
        const int place = figure_place_of(v, 3);
        figure_add(&b, v, place == FIGURE_TENTHS ? place - 1 : place); /* of money */
        strbuf_addf(&b, " %s", unit);
    }
    const char *s = arena_strdup(a, b.s);
    strbuf_fini(&b);
    return s;
}

static const char *say_best(const struct result *r, const struct metric *m, const char *what,
                            const char *unit, struct arena *a)
{
    const struct policy_result *b = best(r, m);
    size_t n;
    if (!b) return NULL;
    const char *names = winners(r, m, b, a, &n), *value = amount(m->of(b), unit, a);
    if (n == 1) return arena_printf(a, "%s: %s, %s.", what, names, value);
    if (m->of(b) == 0) return arena_printf(a, "%s: a tie of %s, %s.", what, names, value);
    return arena_printf(a, "%s: a tie of %s, %s within %.0f %%.", what, names, value, 100 * TIE);
}

/* Who keeps the targets of a service, and at what price. */
static const char *say_service(const struct result *r, size_t k, struct arena *a)
{
    const struct policy_result *best_p = NULL;
    const struct service_result *first = &r->policy[0].service[k];
    if (first->n_targets == 0) return NULL;
    for (size_t p = 0; p < r->n_policies; p++) {
        const struct service_result *v = &r->policy[p].service[k];
        bool met = v->stable && v->requests > 0;
        for (size_t i = 0; i < v->n_targets; i++) met = met && v->target[i].met;
        const struct service_result *b = best_p ? &best_p->service[k] : NULL;
        if (met && (!b || v->usd_per_million_requests < b->usd_per_million_requests))
            best_p = &r->policy[p];
    }
    if (!best_p) return arena_printf(a, "Service %s: no policy meets its targets.", first->name);
    const double usd = best_p->service[k].usd_per_million_requests;
    if (isnan(usd))
        return arena_printf(a, "Service %s: %s meets its targets.", first->name, best_p->name);
    return arena_printf(
        a,
        "Service %s: %s meets its targets at the least cost, %s per million requests within them.",
        first->name, best_p->name, amount(usd, "USD", a));
}

static void advise(struct result *r, const struct replicated *many, struct arena *a)
{
    const size_t services = r->n_policies ? r->policy[0].n_services : 0;
    const char **say = arena_array(a, 5 + 2 * r->n_policies + services, sizeof *say);
    const char *s;
    size_t n = 0;
    if (r->n_policies > 1) {
        s = say_best(r, &metrics[METRIC_COST],
                     "Least cost per useful GPU-hour at the stated prices", "USD", a);
        if (s) say[n++] = s;
        s = say_best(r, &metrics[METRIC_WAIT_P95], "Shortest waits (95 % of the jobs start within)",
                     "s", a);
        if (s) say[n++] = s;
        for (size_t k = 0; k < services; k++)
            if ((s = say_service(r, k, a))) say[n++] = s;
        say[n++] =
            many
                ? arena_printf(
                      a,
                      "Figures of a policy are those of the first of %zu replications; differences "
                      "to %s are means over all of them, with 95 %% intervals.",
                      many->n, r->policy[0].name)
                : "One replay of this work: there is no interval on these figures yet.";
    }
    uint64_t open = 0;
    for (size_t p = 0; p < r->n_policies; p++)
        open += r->policy[p].jobs.running + r->policy[p].jobs.queued;
    if (open > 0)
        say[n++] = "Jobs still running or waiting at the end of the run cost, but do not count as "
                   "useful: policies that run jobs slower look dearer than on a longer run.";
    for (size_t p = 0; p < r->n_policies; p++) {
        const struct policy_result *x = &r->policy[p];
        if (!x->stable && x->n_services)
            say[n++] = arena_printf(a,
                                    "%s is unstable: %s; where a queue grows, percentiles and the "
                                    "mean times of requests are not shown.",
                                    x->name, x->unstable_reason);
        else if (!x->stable)
            say[n++] = arena_printf(a, "%s is unstable: %s; its percentiles are not shown.",
                                    x->name, x->unstable_reason);
        if (not_served(x) > 0)
            say[n++] = arena_printf(
                a,
                "%s did not serve %.0f of %llu jobs: %llu failed (%llu out of memory), %llu "
                "rejected%s%s.",
                x->name, not_served(x), (unsigned long long)x->jobs.submitted,
                (unsigned long long)x->jobs.failed, (unsigned long long)x->jobs.failed_oom,
                (unsigned long long)x->jobs.rejected, x->rejected_reason ? ", mostly: " : "",
                x->rejected_reason ? x->rejected_reason : "");
    }
    r->advice = say;
    r->n_advice = n;
}

void compare_policies(struct result *r, const struct replicated *x, struct arena *a)
{
    if (x && x->n < 2) x = NULL;
    compare_to_first(r, x, a);
    advise(r, x, a);
}
