/* plots/page_answer.c - what to do, and what stands against it. */
#include "plots/page.h"

#include "plots/beside.h"
#include "plots/html.h"

#include <math.h>
#include <string.h>

/* Jobs that the end of the run cut off cost money and bring nothing: the reader must know how
 * many. */
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

static uint64_t lost_of(const struct page *p, size_t i)
{
    const struct job_counts *n = &p->r->policy[i].jobs;
    return n->failed + n->killed + n->rejected;
}

/* The advice compares only policies that serve at least 99 jobs in a hundred. */
static bool loses_many(const struct page *p, size_t i)
{
    return p->r->n_policies > 1 &&
           (double)lost_of(p, i) > 0.01 * (double)p->r->policy[i].jobs.submitted;
}

static void not_compared(struct page *p)
{
    for (size_t i = 0; i < p->r->n_policies; i++) {
        const struct job_counts *n = &p->r->policy[i].jobs;
        if (!loses_many(p, i)) continue;
        strbuf_addz(p->out, "<p class=\"warn\">");
        SAY(p, W_NOT_SERVED, html_of_policy(p, i), html_of_count(p, lost_of(p, i)),
            html_of_count(p, n->submitted), html_of_count(p, n->failed),
            html_of_count(p, n->killed), html_of_count(p, n->rejected),
            html_of_count(p, n->failed_oom));
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

/* What the recommended policy costs a year, and with interest. */
static void a_year(struct page *p)
{
    const char *s = page_a_year(p);
    if (s) strbuf_addf(p->out, "<p>%s</p>\n", html_of(p, s));
}

/* Who signs must see it here. */
static void rent_is_cheaper(struct page *p)
{
    size_t policy;
    const char *usd;
    const struct payback *y = page_cheaper_rent(p, &policy, &usd);
    if (!y) return;
    strbuf_addz(p->out, "<p class=\"warn\" id=\"rent-is-cheaper\">");
    SAY(p, W_RENT_IS_CHEAPER, html_of_policy(p, policy),
        arena_printf(p->a, "\"<span lang=\"en\">%s</span>\"", html_of(p, y->rent)), usd,
        arena_printf(p->a, "<a href=\"#payback\">%s</a>", page_word(p, W_MONTH_BY_MONTH)));
    strbuf_addz(p->out, "</p>\n");
}

/* "NAME is unstable: ...": the sentence is about that policy. */
static bool is_about(const char *sentence, const char *name, const char *what)
{
    return str_starts(sentence, name) && str_starts(sentence + strlen(name), what);
}

/* Whether a box says it: unfinished(), not_compared(), unstable(). */
static bool has_box(const struct page *p, const char *sentence)
{
    if (strcmp(sentence, word(LANG_EN, W_S_OPEN)) == 0) return true;
    for (size_t i = 0; i < p->r->n_policies; i++) {
        const struct policy_result *x = &p->r->policy[i];
        if (!x->stable && is_about(sentence, x->name, " is unstable: ")) return true;
        if (loses_many(p, i) && is_about(sentence, x->name, " did not serve ")) return true;
    }
    return false;
}

/* The sentences of the result, but those of the boxes. */
static void findings(struct page *p)
{
    bool any = false;
    for (size_t i = page_findings_from(p); i < p->r->n_advice; i++) {
        if (has_box(p, p->r->advice[i])) continue;
        strbuf_addz(p->out, any ? "<li>" : "<ul>\n<li>");
        any = true;
        html_text(p->out, page_finding(p, i));
        strbuf_addz(p->out, "</li>\n");
    }
    if (any) strbuf_addz(p->out, "</ul>\n");
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
    a_year(p);
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
