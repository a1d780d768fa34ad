/* plots/summary.c - the answer as Markdown, for a ticket or a mail: what the page says first,
 * one table, and how to get it again. */
#include "plots/summary.h"

#include "plots/html.h"
#include "plots/page.h"

#include <math.h>
#include <string.h>

/* Text that stays itself in Markdown, also within a table. */
static void put_text(struct strbuf *out, const char *s)
{
    for (; s && *s; s++) {
        if (strchr("\\`*_[]<>|#&~$", *s)) strbuf_addc(out, '\\');
        strbuf_addc(out, *s == '\n' || *s == '\r' ? ' ' : *s);
    }
}

/* A figure of the page without its markup: no-break spaces and minus signs become plain
 * characters. */
static void put_plain(struct strbuf *out, const struct strbuf *html)
{
    for (const char *s = html->s ? html->s : ""; *s;) {
        if (str_starts(s, "&nbsp;")) {
            strbuf_addc(out, ' ');
            s += strlen("&nbsp;");
        } else if (str_starts(s, "&minus;")) {
            strbuf_addc(out, '-');
            s += strlen("&minus;");
        } else {
            strbuf_addc(out, *s++);
        }
    }
}

enum shape { COUNTED, DURATION, SHARE, NUMBER };

static void cell(struct strbuf *out, double x, enum shape shape)
{
    struct strbuf b = { 0 };
    switch (shape) {
    case COUNTED: html_number(&b, x, 0); break;
    case DURATION: html_duration(&b, x); break;
    case SHARE: html_percent(&b, x); break;
    case NUMBER: html_figure(&b, x); break;
    }
    strbuf_addz(out, " ");
    put_plain(out, &b);
    strbuf_addz(out, " |");
    strbuf_fini(&b);
}

/* What a policy costs, to what the prices support. */
static void cost_cell(struct strbuf *out, const struct result *r, size_t policy, double usd)
{
    struct strbuf b = { 0 };
    const double half = fabs(usd) * result_cost_spread(r, policy);
    page_within(&b, usd, -half, half, MONEY);
    strbuf_addz(out, " ");
    put_plain(out, &b);
    strbuf_addz(out, " |");
    strbuf_fini(&b);
}

static void heads(struct strbuf *out, enum lang lang, const enum word (*w)[2], size_t n,
                  size_t texts)
{
    strbuf_addz(out, "\n|");
    for (size_t i = 0; i < n; i++) {
        strbuf_addf(out, " %s", word(lang, w[i][0]));
        if (w[i][1]) strbuf_addf(out, " (%s)", word(lang, w[i][1]));
        strbuf_addz(out, " |");
    }
    strbuf_addz(out, "\n|");
    for (size_t i = 0; i < n; i++) strbuf_addz(out, i < texts ? "---|" : "---:|");
    strbuf_addc(out, '\n');
}

static void jobs(struct strbuf *out, const struct result *r, enum lang lang)
{
    static const enum word names[][2] = {
        { W_POLICY, W_NONE },        { W_COMPLETED, W_NONE },      { W_FAILED, W_NONE },
        { W_REJECTED, W_NONE },      { W_WAIT_P50, W_NONE },       { W_WAIT_P95, W_NONE },
        { W_ALLOCATION, W_PERCENT }, { W_SM_ACTIVITY, W_PERCENT }, { W_ENERGY, W_KWH },
        { W_COST, W_USD },           { W_COST_PER_USEFUL, W_USD },
    };
    heads(out, lang, names, sizeof names / sizeof *names, 1);
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct policy_result *p = &r->policy[i];
        const struct tco_result *t = &p->tco;
        strbuf_addz(out, "| ");
        put_text(out, p->name);
        if (!p->stable) strbuf_addf(out, " (%s)", word(lang, W_IS_UNSTABLE));
        strbuf_addz(out, " |");
        cell(out, (double)p->jobs.completed, COUNTED);
        cell(out, (double)p->jobs.failed, COUNTED);
        cell(out, (double)p->jobs.rejected, COUNTED);
        cell(out, p->stats.wait_s.p50, DURATION);
        cell(out, p->stats.wait_s.p95, DURATION);
        cell(out, p->gpu.allocated, SHARE);
        cell(out, p->gpu.sm_active, SHARE);
        cell(out, p->gpu.energy_kwh, NUMBER);
        cost_cell(out, r, i, t->priced ? t->total_usd : NAN);
        cost_cell(out, r, i, t->priced ? t->usd_per_useful_gpu_hour : NAN);
        strbuf_addc(out, '\n');
    }
}

static void services(struct strbuf *out, const struct result *r, enum lang lang)
{
    static const enum word names[][2] = {
        { W_POLICY, W_NONE },
        { W_SERVICE, W_NONE },
        { W_REQUESTS, W_NONE },
        { W_DROPPED, W_NONE },
        { W_LATENCY_P99, W_MS },
        { W_WITHIN_ALL, W_PERCENT },
        { W_PER_MILLION_REQUESTS, W_USD },
        { W_UNSERVABLE, W_NONE },
    };
    if (r->n_policies == 0 || r->policy[0].n_services == 0) return;
    bool any = false; /* that could not be served */
    for (size_t i = 0; i < r->n_policies; i++)
        for (size_t k = 0; k < r->policy[i].n_services; k++)
            any = any || r->policy[i].service[k].unservable > 0;
    heads(out, lang, names, sizeof names / sizeof *names - !any, 2);
    for (size_t i = 0; i < r->n_policies; i++)
        for (size_t k = 0; k < r->policy[i].n_services; k++) {
            const struct service_result *v = &r->policy[i].service[k];
            strbuf_addz(out, "| ");
            put_text(out, r->policy[i].name);
            strbuf_addz(out, " | ");
            put_text(out, v->name);
            strbuf_addz(out, " |");
            cell(out, (double)v->requests, COUNTED);
            cell(out, (double)v->dropped, COUNTED);
            cell(out, v->latency_ms.p99, NUMBER);
            cell(out, v->attainment, SHARE);
            cost_cell(out, r, i, v->usd_per_million_requests);
            if (any) cell(out, (double)v->unservable, COUNTED);
            strbuf_addc(out, '\n');
        }
}

/* Whose first {1} is what a price book says, quoted as code: it is in a language of its own. */
static void put_rent(struct strbuf *out, struct page *p, size_t policy, const struct payback *y,
                     const char *usd)
{
    const char *const arg[] = { p->r->policy[policy].name, "\n", usd,
                                page_word(p, W_IN_THE_REPORT) };
    const char *s = word_filled(p->lang, p->a, W_RENT_IS_CHEAPER, arg, 4), *at = strchr(s, '\n');
    put_text(out, arena_strndup(p->a, s, (size_t)(at - s)));
    strbuf_addc(out, '`');
    for (const char *q = y->rent; *q; q++)
        strbuf_addc(out, *q == '`' ? '\'' : *q == '\n' || *q == '\r' ? ' ' : *q);
    strbuf_addc(out, '`');
    put_text(out, at + 1);
}

/* What stands below the first line of the page, a point each. */
static void points(struct strbuf *out, struct page *p)
{
    size_t policy;
    const char *usd, *a_year = page_a_year(p);
    const struct payback *y = page_cheaper_rent(p, &policy, &usd);
    const size_t first = page_findings_from(p);
    if (a_year || y || first < p->r->n_advice) strbuf_addc(out, '\n');
    if (a_year) {
        strbuf_addz(out, "- ");
        put_text(out, a_year);
        strbuf_addc(out, '\n');
    }
    if (y) {
        strbuf_addz(out, "- ");
        put_rent(out, p, policy, y, usd);
        strbuf_addc(out, '\n');
    }
    for (size_t i = first; i < p->r->n_advice; i++) {
        strbuf_addz(out, "- ");
        put_text(out, page_finding(p, i));
        strbuf_addc(out, '\n');
    }
}

void summary_markdown(const struct result *r, json_t *risk, enum lang lang, struct strbuf *out)
{
    strbuf_addz(out, "# ");
    put_text(out, r->scenario_name);
    strbuf_addz(out, "\n\n**");
    struct page p = { .r = r, .lang = lang, .risk = risk, .a = arena_create() };
    put_text(out, page_first_line(&p));
    strbuf_addz(out, "**\n");
    points(out, &p);
    arena_destroy(p.a);
    jobs(out, r, lang);
    services(out, r, lang);
    strbuf_addf(out, "\ngpusim %s%s%s %llu%s%s `%.12s`\n", r->version, word(lang, W_COMMA),
                word(lang, W_SEED), (unsigned long long)r->seed, word(lang, W_COMMA),
                word(lang, W_SCENARIO_SHA), r->scenario_sha256);
}
