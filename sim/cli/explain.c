#include "cli/explain.h"

#include "base/log.h"
#include "engine/outages.h"
#include "whatif/crosscheck.h"

#include <math.h>

/* "3.5 h": three digits in the unit that fits. */
static const char *span(double s, char buf[32])
{
    static const struct {
        double s;
        const char *unit;
    } unit[] = { { 2 * 86400, "d" }, { 2 * 3600, "h" }, { 2 * 60, "min" }, { 0, "s" } };
    static const double of[] = { 86400, 3600, 60, 1 };
    size_t i = 0;
    while (s < unit[i].s) i++;
    snprintf(buf, 32, "%.3g %s", s / of[i], unit[i].unit);
    return buf;
}

static void explain_job(const struct plan *p, size_t group, int64_t cards, struct strbuf *out)
{
    const double mtbf_s = outages_job_mtbf_s(p, group, cards);
    const double cost_s = simtime_s(p->checkpoint.cost), restart_s = simtime_s(p->restart);
    const double every_s = simtime_s(p->checkpoint.every);
    char a[32], b[32], c[32], d[32];
    if (isinf(mtbf_s)) return;
    strbuf_addf(out, "  policy %s, group %s: a job on %lld card%s is struck every %s",
                p->spec->name, p->group[group].spec->name, (long long)cards, cards == 1 ? "" : "s",
                span(mtbf_s, a));
    if (cost_s > 0) {
        const double best_s = checkpoint_daly_s(cost_s, mtbf_s);
        strbuf_addf(
            out,
            "; best checkpoint interval %s (Daly 2006; Young 1974: %s), %.3g %% of its time lost",
            span(best_s, b), span(checkpoint_young_s(cost_s, mtbf_s), c),
            100 * fmin(1, checkpoint_waste(best_s, cost_s, restart_s, mtbf_s)));
        if (every_s > 0)
            strbuf_addf(out, "; with the %s of the scenario %.3g %%", span(every_s, d),
                        100 * fmin(1, checkpoint_waste(every_s, cost_s, restart_s, mtbf_s)));
        else
            strbuf_addf(out, "; the scenario makes none");
    }
    strbuf_addf(out, "\n");
}

void explain_checkpoints(const struct runner *r, struct strbuf *out)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct plan *p = &r->plan[i];
        for (size_t g = 0; g < p->n_groups; g++) {
            const int64_t node = p->group[g].real_per_node, all = p->group[g].cards;
            if (!p->group[g].spec->fails || all == 0) continue;
            explain_job(p, g, 1, out);
            if (node > 1) explain_job(p, g, node, out);
            if (all > node) explain_job(p, g, all, out);
            if (p->checkpoint.cost == 0)
                strbuf_addf(
                    out,
                    "  policy %s: with \"schedule\": {\"checkpoint_cost\": \"1 min\"} the best "
                    "checkpoint interval would be said here\n",
                    p->spec->name);
        }
    }
}

/* ---- turns ---- */

void explain_bursts(const struct runner *r, struct strbuf *out)
{
    static const double work_ms[] = { 0.1, 1, 10, 100 }, shortest_s = 1e-9;
    for (size_t i = 0; i < r->n; i++) {
        const struct plan *p = &r->plan[i];
        for (size_t g = 0; g < p->n_groups && p->share->burst_s; g++) {
            strbuf_addf(out,
                        "  policy %s, group %s: beside 1 / 3 tenants that never leave the card,",
                        p->spec->name, p->group[g].spec->name);
            for (size_t k = 0; k < sizeof work_ms / sizeof *work_ms; k++)
                strbuf_addf(out, "%s a burst of %g ms takes %.3g / %.3g ms", k ? ";" : "",
                            work_ms[k],
                            1e3 * p->share->burst_s(p->group[g].params, work_ms[k] / 1e3, 1),
                            1e3 * p->share->burst_s(p->group[g].params, work_ms[k] / 1e3, 3));
            strbuf_addf(
                out,
                " in the mean; a run counts %.3g / %.3g ms too little for the shortest and is "
                "right for several turns and more\n",
                1e3 * p->share->burst_s(p->group[g].params, shortest_s, 1),
                1e3 * p->share->burst_s(p->group[g].params, shortest_s, 3));
        }
    }
}

/* ---- services ---- */

static void number_or(char *cell, size_t size, double x)
{
    if (isnan(x))
        snprintf(cell, size, "n/a");
    else if (isinf(x))
        snprintf(cell, size, "no steady state");
    else
        snprintf(cell, size, "%.4g", x);
}

static void explain_line(const char *policy, const struct crosscheck *c, struct strbuf *out)
{
    char low[40], high[40], got[40];
    number_or(low, sizeof low, c->low);
    number_or(high, sizeof high, c->high);
    number_or(got, sizeof got, c->simulated);
    strbuf_addf(out, "  %s, service %s: %s: simulated %s", policy, c->service, c->what, got);
    if (!isnan(c->low) && c->low == c->high)
        strbuf_addf(out, ", by formula %s", low);
    else if (!isnan(c->low))
        strbuf_addf(out, ", by formula %s to %s", low, high);
    strbuf_addf(out, " (%s)%s\n", c->formula, c->parts ? ": they part" : "");
    if (c->parts)
        log_warn("policy %s, service %s: %s: the simulation says %s, %s says %s%s%s", policy,
                 c->service, c->what, got, c->formula, low, c->low == c->high ? "" : " to ",
                 c->low == c->high ? "" : high);
}

int explain_services(struct runner *r, struct strbuf *out, struct err *e)
{
    if (r->scenario.n_services == 0) return 0;
    r->silent = true;
    const int rc = runner_run(r, NULL, 1, e);
    for (size_t p = 0; rc == 0 && p < r->n; p++) {
        const struct crosscheck *list;
        const size_t n = crosscheck_services(&r->plan[p], &r->result.policy[p], r->arena, &list);
        for (size_t i = 0; i < n; i++) explain_line(r->plan[p].spec->name, &list[i], out);
    }
    return rc;
}
