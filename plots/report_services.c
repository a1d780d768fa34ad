/* plots/report_services.c - the services of a run in its report: a table for each, one row a policy. */
#include "plots/html.h"
#include "plots/report.h"

#include <math.h>
#include <string.h>

enum kind { COUNT, PERCENT, MS, FIGURE };
struct column {
    const char *head, *unit;
    enum kind kind;
    size_t offset;
    bool tokens; /* only of language models */
};
#define AT(member) offsetof(struct service_result, member)
static const struct column columns[] = {
    { "requests", "", COUNT, AT(requests), false },
    { "completed", "", COUNT, AT(completed), false },
    { "dropped", "", COUNT, AT(dropped), false },
    { "unservable", "", COUNT, AT(unservable), true },
    { "wait p99", "ms", MS, AT(wait_ms.p99), false },
    { "latency, mean", "ms", MS, AT(latency_ms.mean), false },
    { "latency p99", "ms", MS, AT(latency_ms.p99), false },
    { "first token p99", "ms", MS, AT(ttft_ms.p99), true },
    { "per token p99", "ms", MS, AT(tpot_ms.p99), true },
    { "within all targets", "%", PERCENT, AT(attainment), false },
    { "goodput", "per s", FIGURE, AT(goodput_per_s), false },
    { "replicas, mean", "", FIGURE, AT(replicas_mean), false },
    { "busy", "%", PERCENT, AT(busy), false },
    { "held", "GPU-hours", FIGURE, AT(gpu_hours), false },
    { "per million requests", "USD", FIGURE, AT(usd_per_million_requests), false },
    { "per million tokens", "USD", FIGURE, AT(usd_per_million_tokens), true },
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const struct service_result *service_of(const struct policy_result *p, const char *name)
{
    for (size_t k = 0; k < p->n_services; k++)
        if (strcmp(p->service[k].name, name) == 0) return &p->service[k];
    return NULL;
}

static bool serves_tokens(const struct result *r, const char *name)
{
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct service_result *v = service_of(&r->policy[i], name);
        if (v && (v->ttft_ms.n > 0 || v->unservable > 0)) return true;
    }
    return false;
}

static void cell(struct strbuf *out, const struct service_result *v, const struct column *c)
{
    const void *member = (const char *)v + c->offset;
    strbuf_addz(out, "<td>");
    if (c->kind == COUNT)
        html_count(out, *(const uint64_t *)member);
    else if (c->kind == PERCENT)
        html_percent(out, *(const double *)member);
    else
        html_figure(out, *(const double *)member);
    strbuf_addz(out, "</td>");
}

/* "latency_p99: 374 of 500 ms, met" */
static void targets(struct strbuf *out, const struct service_result *v)
{
    strbuf_addz(out, "<td class=\"text\">");
    for (size_t i = 0; i < v->n_targets; i++) {
        const struct target_result *t = &v->target[i];
        strbuf_addz(out, i ? "; " : "");
        html_text(out, t->name);
        strbuf_addz(out, ": ");
        html_figure(out, t->value_ms);
        strbuf_addz(out, " of ");
        html_figure(out, t->target_ms);
        strbuf_addz(out, t->met ? " ms, met" : " ms, missed");
    }
    if (!v->stable) {
        strbuf_addz(out, v->n_targets ? "; unstable: " : "unstable: ");
        html_text(out, v->unstable_reason);
    }
    strbuf_addz(out, "</td>");
}

static void one_service(struct strbuf *out, const struct result *r, const char *name)
{
    const bool tokens = serves_tokens(r, name);
    strbuf_addz(out, "<h3>");
    html_text(out, name);
    strbuf_addz(out,
                "</h3>\n<div class=\"scroll\"><table><thead><tr><th scope=\"col\">policy</th>");
    for (size_t c = 0; c < COLUMNS; c++) {
        if (columns[c].tokens && !tokens) continue;
        strbuf_addf(out, "<th scope=\"col\">%s", columns[c].head);
        if (*columns[c].unit)
            strbuf_addf(out, "<br><span class=\"unit\">%s</span>", columns[c].unit);
        strbuf_addz(out, "</th>");
    }
    strbuf_addz(out, "<th scope=\"col\">targets</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct service_result *v = service_of(&r->policy[i], name);
        if (!v) continue;
        strbuf_addz(out, "<tr><th scope=\"row\">");
        html_text(out, r->policy[i].name);
        strbuf_addz(out, "</th>");
        for (size_t c = 0; c < COLUMNS; c++)
            if (tokens || !columns[c].tokens) cell(out, v, &columns[c]);
        targets(out, v);
        strbuf_addz(out, "</tr>\n");
    }
    strbuf_addz(out, "</tbody></table></div>\n");
}

void report_services(const struct result *r, struct strbuf *out)
{
    if (r->n_policies == 0 || r->policy[0].n_services == 0) return;
    strbuf_addz(
        out,
        "<h2 id=\"services\">Services</h2>\n<p class=\"note\">Simulated request by request on the "
        "same cards as the jobs. A request is within its targets when its own figures are; dropped "
        "and unservable ones are within none. Cost: what the service is charged, over the requests "
        "(tokens) within all targets. Percentiles of a service whose queue grew to the end are not "
        "shown. The load over time is in <code>services.csv</code>.</p>\n");
    for (size_t k = 0; k < r->policy[0].n_services; k++)
        one_service(out, r, r->policy[0].service[k].name);
}
