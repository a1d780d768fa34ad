#include "whatif/run_check.h"

#include "metrics/stability.h"

#include <math.h>

/* P03: what is charged adds up to the cost, and nobody is paid for being idle. */
static int check_money(const struct policy_result *p, struct err *e)
{
    double sum = 0;
    if (!p->tco.priced) return 0;
    for (size_t i = 0; i < p->tco.n_charges; i++) {
        sum += p->tco.charge[i].usd;
        if (p->tco.charge[i].usd < -1e-9)
            return err_set(e, ERR_CHECK, NULL, "policy %s: the charge to %s is negative", p->name,
                           p->tco.charge[i].name);
    }
    if (fabs(sum - p->tco.total_usd) > 1e-6 * fmax(1.0, fabs(sum)))
        return err_set(e, ERR_CHECK, NULL, "policy %s: charges of %.9g USD for a cost of %.9g USD",
                       p->name, sum, p->tco.total_usd);
    return 0;
}

static bool has_percentiles(const struct summary *s)
{
    return isfinite(s->p50) || isfinite(s->p90) || isfinite(s->p95) || isfinite(s->p99);
}

/* P13: each job of the window is in the statistics of waits and of ends, or counted beside them as
 * unfinished; of a queue that grows, of jobs or of a service, there are no percentiles. */
static int check_statistics(const struct policy_result *p, bool kept, struct err *e)
{
    const struct summary *const s[] = { &p->stats.wait_s, &p->stats.turnaround_s,
                                        &p->stats.slowdown };
    const uint64_t all = s[0]->n + s[0]->censored;
    const bool grows = p->interrupted || !stability_is_stable(&p->queue);
    for (size_t i = 0; i < 3; i++) {
        if (s[i]->n + s[i]->censored != all)
            return err_set(e, ERR_CHECK, NULL,
                           "policy %s: statistics of waits cover %llu jobs, those of ends %llu",
                           p->name, (unsigned long long)all,
                           (unsigned long long)(s[i]->n + s[i]->censored));
        if (grows && !kept && has_percentiles(s[i]))
            return err_set(e, ERR_CHECK, NULL, "policy %s: percentiles of an unstable queue",
                           p->name);
    }
    for (size_t k = 0; k < p->n_services && !kept; k++) {
        const struct service_result *v = &p->service[k];
        if (!v->stable && (has_percentiles(&v->wait_ms) || has_percentiles(&v->latency_ms) ||
                           has_percentiles(&v->ttft_ms) || has_percentiles(&v->tpot_ms)))
            return err_set(e, ERR_CHECK, NULL,
                           "policy %s: percentiles of service %s, which is unstable", p->name,
                           v->name);
    }
    return 0;
}

int run_check(const struct policy_result *p, bool kept, struct err *e)
{
    const int rc = check_money(p, e);
    return rc ? rc : check_statistics(p, kept, e);
}
