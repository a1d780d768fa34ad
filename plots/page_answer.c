/* plots/page_answer.c - what to do, and what stands against it. */
#include "plots/page.h"

#include "plots/beside.h"
#include "plots/html.h"

#include <math.h>
#include <string.h>

/* Jobs that the end of the run cut off cost money and bring nothing: the reader must know how many. */
static void unfinished(struct page *p)
{
    bool any = false;
    for (size_t i = 0; i < p->r->n_policies; i++) {
        const struct job_counts *n = &p->r->policy[i].jobs;
        if (n->running == 0 && n->queued == 0) continue;
        if (!any) {
            strbuf_addz(p->out, "<p class=\"warn\">");
            page_put(p, W_AT_END);
        }
        strbuf_addz(p->out, any ? page_word(p, W_SEPARATOR) : " ");
        any = true;
        SAY(p, W_AT_END_ONE, html_of_policy(p, i), html_of_count(p, n->running),
            html_of_count(p, n->queued));
    }
    if (any) strbuf_addf(p->out, "%s</p>\n", page_word(p, W_AT_END_MEANS));
}

/* The advice compares only policies that serve at least 99 jobs in a hundred. */
static void not_compared(struct page *p)
{
    for (size_t i = 0; i < p->r->n_policies && p->r->n_policies > 1; i++) {
        const struct job_counts *n = &p->r->policy[i].jobs;
        uint64_t lost = n->failed + n->killed + n->rejected;
        if ((double)lost <= 0.01 * (double)n->submitted) continue;
        strbuf_addz(p->out, "<p class=\"warn\">");
        SAY(p, W_NOT_SERVED, html_of_policy(p, i), html_of_count(p, lost),
            html_of_count(p, n->submitted), html_of_count(p, n->failed),
            html_of_count(p, n->killed), html_of_count(p, n->rejected));
        strbuf_addz(p->out, "</p>\n");
    }
}

static const char *reason_of(const struct page *p, const struct policy_result *x)
{
    return x->rejected_reason ? word_of(p->lang, x->rejected_reason) : page_word(p, W_NOT_STORED);
}

/* One line for all policies: they meet the same work, so they mostly reject the same jobs. */
static void rejections(struct page *p)
{
    const struct policy_result *first = NULL;
    const struct result *r = p->r;
    bool same = true;
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct policy_result *x = &r->policy[i];
        if (x->jobs.rejected == 0) continue;
        if (!first) first = x;
        same = same && strcmp(reason_of(p, x), reason_of(p, first)) == 0;
    }
    if (!first) return;
    strbuf_addf(p->out, "<p class=\"warn\">%s", page_word(p, W_REJECTED_JOBS));
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct policy_result *x = &r->policy[i];
        if (x->jobs.rejected == 0) continue;
        strbuf_addz(p->out, x == first ? " " : page_word(p, W_SEPARATOR));
        SAY(p, W_OF_JOBS, html_of_policy(p, i), html_of_count(p, x->jobs.rejected),
            html_of_count(p, x->jobs.submitted));
        if (same) continue;
        strbuf_addz(p->out, " (");
        html_text(p->out, reason_of(p, x));
        strbuf_addc(p->out, ')');
    }
    strbuf_addz(p->out, same ? page_word(p, W_COMMONEST_REASON) : ".");
    if (same) html_text(p->out, reason_of(p, first));
    strbuf_addz(p->out, "</p>\n");
}

static void unstable(struct page *p)
{
    for (size_t i = 0; i < p->r->n_policies; i++) {
        const struct policy_result *x = &p->r->policy[i];
        if (x->stable) continue;
        strbuf_addz(p->out, "<p class=\"warn\">");
        SAY(p, W_UNSTABLE, html_of_policy(p, i),
            html_of(p, x->unstable_reason ? word_of(p->lang, x->unstable_reason)
                                          : page_word(p, W_NOT_STORED)));
        strbuf_addz(p->out, "</p>\n");
    }
}

static void targets_missed(struct page *p)
{
    for (size_t i = 0; i < p->r->n_policies; i++)
        for (size_t k = 0; k < p->r->policy[i].n_services; k++) {
            const struct service_result *v = &p->r->policy[i].service[k];
            size_t missed = 0;
            for (size_t t = 0; t < v->n_targets; t++) missed += !v->target[t].met;
            if (missed == 0) continue;
            strbuf_addz(p->out, "<p class=\"warn\">");
            SAY(p, W_TARGETS_MISSED, html_of_policy(p, i), html_of(p, v->name),
                html_of_count(p, missed), html_of_count(p, v->n_targets));
            strbuf_addz(p->out, "</p>\n");
        }
}

bool report_other_version(const struct result *r)
{
    return !r->version || strcmp(r->version, GPUSIM_VERSION) != 0;
}

/* Who wrote the figures, where it was not this very program. */
static void written_by(struct page *p)
{
    const bool other = report_other_version(p->r);
    if (p->missing) {
        strbuf_addz(p->out, "<p class=\"warn\">");
        SAY(p, W_FILES_MISSING, html_of(p, p->missing));
        strbuf_addz(p->out, "</p>\n");
    }
    if (!other && p->r->n_files) return;
    strbuf_addz(p->out, "<p class=\"warn\" id=\"written-by\">");
    if (other) SAY(p, W_OTHER_VERSION, html_of(p, p->r->version), GPUSIM_VERSION);
    if (other && !p->r->n_files) strbuf_addc(p->out, ' ');
    if (!p->r->n_files) page_put(p, W_FILES_UNCHECKED);
    strbuf_addz(p->out, "</p>\n");
}

/* Sections in their order, for people who jump. */
static void contents(struct page *p)
{
    static const struct {
        const char *id, *picture; /* NULL: always there */
        enum word name;
    } part[] = {
        { "which-policy", NULL, W_WHICH_POLICY },
        { "comparison", NULL, W_COMPARISON },
        { "differences", "differences", W_H_DIFFERENCES },
        { "pareto", "pareto", W_H_PARETO },
        { "card_time", NULL, W_H_CARD_TIME },
        { "wait_cdf", NULL, W_H_WAIT },
        { "failures", NULL, W_H_FAILURES },
        { "load", NULL, W_H_LOAD },
        { "mig_map", "mig_map", W_H_MIG_MAP },
        { "services", "latency", W_H_SERVICES },
        { "sweep", NULL, W_H_SWEEP },
        { "cost", NULL, W_H_COST },
        { "energy", NULL, W_H_ENERGY },
        { "qualities-of-sharing", NULL, W_NOT_MONEY },
        { "precision", "precision", W_H_PRECISION },
        { "assumptions", NULL, W_ASSUMPTIONS },
        { "limits", NULL, W_LIMITS },
        { "reproduce", NULL, W_REPRODUCE },
    };
    strbuf_addf(p->out, "<nav aria-label=\"%s\"><ul>", page_word(p, W_CONTENTS));
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (part[i].picture && !page_has_picture(p, part[i].picture)) continue;
        if (part[i].name == W_H_FAILURES && !page_has_failures(p)) continue;
        if (part[i].name == W_H_SWEEP && !(p->beside && p->beside->name)) continue;
        if (part[i].name == W_WHICH_POLICY && !page_has_decisions(p)) continue;
        if (part[i].name == W_NOT_MONEY && p->r->n_qualities == 0) continue;
        strbuf_addf(p->out, "<li><a href=\"#%s\">%s</a></li>", part[i].id,
                    page_word(p, part[i].name));
    }
    strbuf_addz(p->out, "</ul></nav>\n");
}

/* What the ranges of the prices make of the cost of the recommended policy. */
static void range(struct page *p)
{
    json_t *one;
    size_t i;
    const char *policy = p->r->n_decisions ? p->r->decision[0].policy : NULL;
    json_array_foreach(json_object_get(p->risk, "options"), i, one)
    {
        static const char *const keys[] = { "eac_usd", "p10_usd", "p90_usd" };
        const char *name = json_string_value(json_object_get(one, "policy")), *arg[3];
        if (!policy || !name || strcmp(name, policy) != 0) continue;
        for (size_t k = 0; k < 3; k++) {
            struct strbuf b = { 0 };
            const double usd = json_number_value(json_object_get(one, keys[k]));
            html_money(&b, page_rounded(usd, json_number_value(json_object_get(one, "p10_usd")),
                                        json_number_value(json_object_get(one, "p90_usd"))));
            arg[k] = arena_strdup(p->a, b.s);
            strbuf_fini(&b);
        }
        strbuf_addz(p->out, "<p>");
        SAY(p, W_RANGE, arg[0], arg[1], arg[2]);
        strbuf_addz(p->out, "</p>\n");
    }
}

/* By the end of the term renting has cost less than buying, resale taken off. */
static bool stays_cheaper(const struct tco_result *x, const struct payback *rent)
{
    const size_t last = x->n_months - 1;
    return x->n_months > 0 && x->paid_by_month_usd && rent->paid_by_month_usd &&
           isfinite(x->resale_usd) && rent->usd_per_year > 0 &&
           rent->paid_by_month_usd[last] < x->paid_by_month_usd[last] - x->resale_usd;
}

/* For the recommended policy: who signs must see it here. */
static void rent_is_cheaper(struct page *p)
{
    const char *policy = p->r->n_decisions ? p->r->decision[0].policy : NULL;
    for (size_t i = 0; policy && i < p->r->n_policies; i++) {
        const struct policy_result *x = &p->r->policy[i];
        if (strcmp(x->name, policy) != 0) continue;
        for (size_t k = 0; k < x->tco.n_paybacks; k++) {
            const struct payback *y = &x->tco.payback[k];
            struct strbuf usd = { 0 };
            if (!stays_cheaper(&x->tco, y)) continue;
            html_number(&usd,
                        page_rounded(y->usd_per_year, 0.9 * y->usd_per_year, 1.1 * y->usd_per_year),
                        0);
            strbuf_addz(p->out, "<p class=\"warn\" id=\"rent-is-cheaper\">");
            SAY(p, W_RENT_IS_CHEAPER, html_of_policy(p, i),
                arena_printf(p->a, "<span lang=\"en\">%s</span>", html_of(p, y->rent)), usd.s);
            strbuf_addz(p->out, "</p>\n");
            strbuf_fini(&usd);
            return; /* the table has the others */
        }
    }
}

/* The sentences of the result. */
static void findings(struct page *p)
{
    const size_t first = page_findings_from(p);
    if (p->r->n_advice <= first) return;
    strbuf_addz(p->out, "<ul>\n");
    for (size_t i = first; i < p->r->n_advice; i++) {
        strbuf_addz(p->out, "<li>");
        html_text(p->out, page_finding(p, i));
        strbuf_addz(p->out, "</li>\n");
    }
    strbuf_addz(p->out, "</ul>\n");
}

void page_answer(struct page *p)
{
    const struct result *r = p->r;
    strbuf_addz(p->out, "<header><h1>");
    html_text(p->out, r->scenario_name);
    strbuf_addz(p->out, "</h1>\n<p class=\"soft\">");
    SAY(p, r->n_policies == 1 ? W_SAME_WORK_ONE : W_SAME_WORK, html_of_count(p, r->n_policies));
    strbuf_addz(p->out, "</p></header>\n<main>\n<p class=\"answer\">");
    html_text(p->out, page_first_line(p));
    strbuf_addz(p->out, "</p>\n");
    range(p);
    rent_is_cheaper(p);
    written_by(p);
    unfinished(p);
    not_compared(p);
    findings(p);
    unstable(p);
    targets_missed(p);
    rejections(p);
    contents(p);
}
