/* plots/page_advice.c - the recommendation by class of work, and what money does not show. Sentences are
 * those of the result. Nothing for results of before decisions were kept. */
#include "plots/page.h"

#include <string.h>

/* "12 x l40s, 4 x t4" */
static const char *fleet_of(struct page *p, const struct decision *d)
{
    const char *s = "";
    for (size_t i = 0; i < d->n_fleet; i++)
        s = arena_printf(p->a, "%s%s%lld x %s", s, i ? ", " : "", (long long)d->fleet[i].cards,
                         d->fleet[i].gpu ? d->fleet[i].gpu : "?");
    return s;
}

static const char *choice_of(struct page *p, const struct decision *d)
{
    const char *s = d->policy ? d->policy : page_word(p, W_NO_POLICY);
    for (size_t i = 0; i < d->n_ties; i++)
        s = arena_printf(p->a, "%s%s%s", s, i ? ", " : page_word(p, W_AS_GOOD), d->tie[i]);
    return s;
}

static const char *figure(struct page *p, double x)
{
    return arena_printf(p->a, "%.4g", x);
}

static const char *filled(struct page *p, enum word w, const char *const *arg, size_t n)
{
    struct strbuf b = { 0 }, *out = p->out;
    p->out = &b;
    page_say(p, w, arg, n);
    p->out = out;
    const char *s = arena_strdup(p->a, b.s ? b.s : "");
    strbuf_fini(&b);
    return s;
}

/* The result holds sentences in English; other languages say the same figures in words of the table. */
const char *page_reason(struct page *p, const struct advice_reason *x)
{
    static const struct {
        const char *metric;
        enum word words;
        double scale;
    } known[] = { { "stable", W_Z_STABLE, 1 }, { "attainment", W_Z_ATTAINMENT, 100 },
                  { "lost", W_Z_LOST, 1 },     { "slowdown_p95", W_Z_SLOWDOWN, 1 },
                  { "cost", W_Z_COST, 1 },     { "wait_p95_s", W_Z_WAIT, 1 } };
    if (p->lang == LANG_EN || !x->metric) return x->text;
    if (!x->against) return page_word(p, W_Z_ONLY);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].metric, x->metric) != 0) continue;
        const char *const arg[] = { figure(p, known[i].scale * x->value), x->against,
                                    figure(p, known[i].scale * x->other) };
        return filled(p, known[i].words, arg, 3);
    }
    return x->text;
}

const char *page_flip(struct page *p, const struct advice_flip *x)
{
    static const struct {
        const char *input;
        enum word words;
        double scale;
    } known[] = { { "slowdown_p95", W_Z_IF_SLOWDOWN, 1 },
                  { "cost_share", W_Z_IF_COST, 100 },
                  { "usd_per_card_year", W_Z_IF_LICENCE, 1 },
                  { "fit", W_Z_NONE_FIT, 1 } };
    if (p->lang == LANG_EN || !x->input) return x->text;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].input, x->input) != 0) continue;
        const char *const arg[] = { figure(p, known[i].scale * x->at), x->to ? x->to : "" };
        return filled(p, known[i].words, arg, 2);
    }
    return x->text;
}

const char *page_recommendation(struct page *p)
{
    if (p->r->n_decisions == 0 || p->r->n_policies < 2) return NULL;
    const struct decision *d = &p->r->decision[0];
    if (!d->policy) return page_word(p, W_RECOMMEND_NONE);
    const char *const arg[] = { choice_of(p, d), fleet_of(p, d) };
    return filled(p, W_RECOMMEND, arg, 2);
}

static const char *joined(struct page *p, const char *so_far, const char *text)
{
    return arena_printf(p->a, "%s%s%s", so_far, *so_far ? "; " : "", text ? text : "");
}

static void decisions(struct page *p)
{
    struct grid t;
    grid_open(&t, p, "decisions", W_DECISIONS);
    grid_column(&t, page_word(p, W_WORK_OF), "", true);
    grid_column(&t, page_word(p, W_RECOMMENDED), "", true);
    grid_column(&t, page_word(p, W_FLEET_OF), "", true);
    grid_column(&t, page_word(p, W_WHY), "", true);
    grid_column(&t, page_word(p, W_WHAT_FLIPS), "", true);
    for (size_t i = 0; i < p->r->n_decisions; i++) {
        const struct decision *d = &p->r->decision[i];
        const char *why = "", *flips = "";
        for (size_t k = 0; k < d->n_reasons; k++)
            why = joined(p, why, page_reason(p, &d->reason[k]));
        for (size_t k = 0; k < d->n_flips; k++) flips = joined(p, flips, page_flip(p, &d->flip[k]));
        grid_row(&t, false);
        grid_name(&t,
                  d->about && strcmp(d->about, "(all)") == 0 ? page_word(p, W_ALL_WORK) : d->about,
                  "");
        grid_text(&t, choice_of(p, d));
        grid_text(&t, fleet_of(p, d));
        grid_text(&t, why);
        grid_text(&t, flips);
    }
    grid_close(&t);
}

static void qualities(struct page *p)
{
    struct grid t;
    grid_open(&t, p, "qualities", W_QUALITIES);
    grid_column(&t, page_word(p, W_SHARING), "", true);
    grid_column(&t, page_word(p, W_ASPECT), "", true);
    grid_column(&t, page_word(p, W_MEANS), "", true);
    grid_column(&t, page_word(p, W_SOURCE_OF_IT), "", true);
    for (size_t i = 0; i < p->r->n_qualities; i++) {
        const struct quality *q = &p->r->quality[i];
        grid_row(&t, false);
        grid_name(&t, q->kind, "");
        grid_text(&t, q->aspect);
        grid_text(&t, q->text);
        grid_text(&t, q->source);
    }
    grid_close(&t);
}

void page_decisions(struct page *p)
{
    if (p->r->n_decisions == 0 || p->r->n_policies < 2) return;
    page_heading(p, "which-policy", W_WHICH_POLICY);
    page_note(p, W_DECISION_RULE);
    decisions(p);
}

void page_qualities(struct page *p)
{
    if (p->r->n_qualities == 0) return;
    page_heading(p, "qualities-of-sharing", W_NOT_MONEY);
    page_note(p, W_NOT_MONEY_NOTE);
    qualities(p);
}
