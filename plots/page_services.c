/* plots/page_services.c - the services of a run: a table for each, one row a policy. */
#include "plots/page.h"

#include "base/figure.h"
#include "plots/html.h"

#include <string.h>

#define OF(member) offsetof(struct service_result, member)
static const struct service_column {
    enum word head, unit;
    enum kind kind;
    size_t offset;
    bool tokens; /* only of language models */
} columns[] = {
    { W_REQUESTS, W_NONE, COUNT, OF(requests), false },
    { W_COMPLETED, W_NONE, COUNT, OF(completed), false },
    { W_DROPPED, W_NONE, COUNT, OF(dropped), false },
    { W_UNSERVABLE, W_NONE, COUNT, OF(unservable), true },
    { W_WAIT_P99, W_MS, FIGURE, OF(wait_ms.p99), false },
    { W_LATENCY_MEAN, W_MS, FIGURE, OF(latency_ms.mean), false },
    { W_LATENCY_P99, W_MS, FIGURE, OF(latency_ms.p99), false },
    { W_TTFT_P99, W_MS, FIGURE, OF(ttft_ms.p99), true },
    { W_TPOT_P99, W_MS, FIGURE, OF(tpot_ms.p99), true },
    { W_WITHIN_ALL, W_PERCENT, PERCENT, OF(attainment), false },
    { W_GOODPUT, W_PER_S, FIGURE, OF(goodput_per_s), false },
    { W_REPLICAS_MEAN, W_NONE, FIGURE, OF(replicas_mean), false },
    { W_BUSY, W_PERCENT, PERCENT, OF(busy), false },
    { W_HELD, W_GPU_HOURS, FIGURE, OF(gpu_hours), false },
    { W_PER_MILLION_REQUESTS, W_USD, PRICE, OF(usd_per_million_requests), false },
    { W_PER_MILLION_TOKENS, W_USD, PRICE, OF(usd_per_million_tokens), true },
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

/* A column a target: the figure, and whether it is met. */
static void targets(struct page *p, size_t k, const char *name)
{
    const struct service_result *first = service_of(&p->r->policy[0], name);
    struct grid t;
    if (!first || first->n_targets == 0) return;
    grid_open(&t, p, arena_printf(p->a, "targets-%zu", k + 1), W_TARGETS);
    grid_column(&t, page_word(p, W_POLICY), NULL, true);
    for (size_t i = 0; i < first->n_targets; i++) {
        struct strbuf most = { 0 };
        strbuf_addf(&most, "%s ", page_word(p, W_AT_MOST));
        figure_add_exact(&most, first->target[i].target_ms);
        strbuf_addf(&most, " %s", page_word(p, W_MS));
        grid_column(&t, first->target[i].name, most.s, false);
        strbuf_fini(&most);
    }
    for (size_t i = 0; i < p->r->n_policies; i++) {
        const struct service_result *v = service_of(&p->r->policy[i], name);
        if (!v) continue;
        grid_row(&t, false);
        grid_policy(&t, i);
        for (size_t c = 0; c < v->n_targets; c++) {
            struct strbuf b = { 0 };
            html_figure(&b, v->target[c].value_ms);
            strbuf_addf(&b, " %s%s%s", page_word(p, W_MS), page_word(p, W_COMMA),
                        page_word(p, v->target[c].met ? W_MET : W_MISSED));
            grid_html(&t, b.s, v->target[c].value_ms, FIGURE);
            strbuf_fini(&b);
        }
    }
    grid_close(&t);
}

/* Why a policy has no percentiles. */
static void unstable_services(struct page *p, const char *name)
{
    for (size_t i = 0; i < p->r->n_policies; i++) {
        const struct service_result *v = service_of(&p->r->policy[i], name);
        if (!v || v->stable) continue;
        strbuf_addf(p->out, "<p class=\"warn\">%s: %s: ", html_of_policy(p, i),
                    page_word(p, W_IS_UNSTABLE));
        html_text(p->out, v->unstable_reason ? word_of(p->lang, v->unstable_reason)
                                             : page_word(p, W_NOT_STORED));
        strbuf_addz(p->out, "</p>\n");
    }
}

static void row(struct grid *t, size_t policy, const struct service_result *v, bool tokens)
{
    grid_row(t, false);
    grid_policy(t, policy);
    for (size_t c = 0; c < COLUMNS; c++) {
        const void *at = (const char *)v + columns[c].offset;
        if (columns[c].tokens && !tokens) continue;
        if (columns[c].kind == COUNT)
            grid_count(t, *(const uint64_t *)at);
        else if (columns[c].kind == PRICE)
            grid_cost(t, policy, *(const double *)at, *(const double *)at, PRICE);
        else
            grid_number(t, *(const double *)at, columns[c].kind);
    }
}

static void one_service(struct page *p, size_t k, const char *name)
{
    const bool tokens = serves_tokens(p->r, name);
    struct grid t;
    const char *id = arena_printf(p->a, "service-%zu", k + 1);
    strbuf_addz(p->out, "<h3>");
    html_text(p->out, name);
    strbuf_addz(p->out, "</h3>\n");
    unstable_services(p, name);
    targets(p, k, name);
    grid_open(&t, p, id, W_H_SERVICES);
    grid_column(&t, page_word(p, W_POLICY), NULL, true);
    for (size_t c = 0; c < COLUMNS; c++)
        if (tokens || !columns[c].tokens)
            grid_column(&t, page_word(p, columns[c].head), page_word(p, columns[c].unit), false);
    for (size_t i = 0; i < p->r->n_policies; i++) {
        const struct service_result *v = service_of(&p->r->policy[i], name);
        if (v) row(&t, i, v, tokens);
    }
    grid_close(&t);
}

void page_services(struct page *p)
{
    const struct result *r = p->r;
    if (r->n_policies == 0 || r->policy[0].n_services == 0) return;
    page_heading(p, "services", W_H_SERVICES);
    page_note(p, W_SERVICES_NOTE);
    for (size_t k = 0; k < r->policy[0].n_services; k++)
        one_service(p, k, r->policy[0].service[k].name);
    page_picture(p, "latency");
    page_picture(p, "service_load");
}
