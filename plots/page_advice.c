/* plots/page_advice.c - the recommendation by class of work, and what money does not show.
 * Sentences are those of the result. Nothing for results of before decisions were kept. */
#include "plots/page.h"

#include "base/figure.h"
#include "base/str.h"
#include "plots/html.h"

#include <math.h>
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
    struct strbuf b = { 0 };
    figure_add_short(&b, x, FIGURE_DIGITS);
    const char *s = arena_strdup(p->a, b.s);
    strbuf_fini(&b);
    return s;
}

static const char *rough(struct page *p, double x)
{
    struct strbuf b = { 0 };
    figure_add_short(&b, x, 3);
    const char *s = arena_strdup(p->a, b.s);
    strbuf_fini(&b);
    return s;
}

static const char *duration(struct page *p, double seconds)
{
    struct strbuf b = { 0 };
    figure_add_duration(&b, seconds);
    const char *s = arena_strdup(p->a, b.s);
    strbuf_fini(&b);
    return s;
}

static const struct decision_option *option_of(const struct decision *d, const char *policy)
{
    for (size_t i = 0; i < d->n_options; i++)
        if (strcmp(d->option[i].policy, policy) == 0) return &d->option[i];
    return NULL;
}

/* A money figure to what its range supports: "4.70", "512,000". */
static const char *amount(struct page *p, double x, const struct decision_option *o)
{
    struct strbuf b = { 0 };
    page_within(&b, x, o->cost_p10, o->cost_p90, FIGURE);
    const char *s = arena_strdup(p->a, b.s);
    strbuf_fini(&b);
    return s;
}

/* What a policy costs, x, to what the draws support; four digits where the stated prices decide. */
static const char *cost(struct page *p, const struct decision *d, const char *policy, double x)
{
    const struct decision_option *o = d->by_median && policy ? option_of(d, policy) : NULL;
    return o && o->cost_p90 > o->cost_p10 ? amount(p, x, o) : figure(p, x);
}

static const char *filled(struct page *p, enum word w, const char *const *arg, size_t n)
{
    return word_filled(p->lang, p->a, w, arg, n);
}

/* The result holds sentences in English; other languages say the same figures in words of the
 * table. */
static const char *reason_of(struct page *p, const struct decision *d,
                             const struct advice_reason *x)
{
    static const struct {
        const char *metric;
        enum word words;
        double scale;
        const char *(*text)(struct page *p, double x);
    } known[] = {
        { "stable", W_Z_STABLE, 1, figure },     { "attainment", W_Z_ATTAINMENT, 100, figure },
        { "lost", W_Z_LOST, 1, figure },         { "slowdown_p95", W_Z_SLOWDOWN, 1, rough },
        { "wait_p95_s", W_Z_WAIT, 1, duration }, { "p_cheapest", W_Z_CHEAPEST, 100, figure }
    };
    if (p->lang == LANG_EN || !x->metric) return x->text;
    if (!x->against && strcmp(x->metric, "missed") == 0) {
        const char *const arg[] = { figure(p, x->value), figure(p, x->other) };
        return filled(p, W_Z_MISSED, arg, 2);
    }
    if (!x->against) return page_word(p, W_Z_ONLY);
    if (strcmp(x->metric, "cost") == 0) {
        const char *const arg[] = { cost(p, d, d->policy, x->value), x->against,
                                    cost(p, d, x->against, x->other),
                                    d->cost_unit ? word_of(p->lang, d->cost_unit) : "" };
        return filled(p, W_Z_COST, arg, 4);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].metric, x->metric) != 0) continue;
        const char *const arg[] = { known[i].text(p, known[i].scale * x->value), x->against,
                                    known[i].text(p, known[i].scale * x->other) };
        return filled(p, known[i].words, arg, 3);
    }
    return x->text;
}

/* ": 4.49 against 4.68 USD a year", what the other policy and the recommended one cost; "" where
 * no draws are known. */
static const char *costs_of(struct page *p, const struct decision *d, const char *other)
{
    const struct decision_option *o = other ? option_of(d, other) : NULL,
                                 *own = d->policy ? option_of(d, d->policy) : NULL;
    if (!d->by_median || !o || !own || !isfinite(o->cost_p50) || !isfinite(own->cost_p50))
        return "";
    const char *const arg[] = { cost(p, d, other, o->cost_p50),
                                cost(p, d, d->policy, own->cost_p50),
                                d->cost_unit ? word_of(p->lang, d->cost_unit) : "" };
    return filled(p, W_Z_COSTS, arg, 3);
}

static const char *flip_of(struct page *p, const struct decision *d, const struct advice_flip *x)
{
    static const struct {
        const char *input;
        enum word words;
        double scale;
        const char *(*text)(struct page *p, double x);
    } known[] = { { "slowdown_p95", W_Z_IF_SLOWDOWN, 1, rough },
                  { "cost_share", W_Z_IF_COST, -100, rough },
                  { "usd_per_card_year", W_Z_IF_LICENCE, 1, rough },
                  { "lost", W_Z_IF_LOST, 100, rough },
                  { "attainment", W_Z_IF_ATTAINMENT, 100, figure },
                  { "fit", W_Z_NONE_FIT, 1, figure } };
    if (p->lang == LANG_EN || !x->input) return x->text;
    if (str_starts(x->input, "price: ")) {
        const char *const arg[] = { x->input + strlen("price: "), figure(p, x->at),
                                    x->to ? x->to : "" };
        return filled(p, W_Z_IF_PRICE, arg, 3);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].input, x->input) != 0) continue;
        const char *const arg[] = { known[i].text(p, known[i].scale * x->at), x->to ? x->to : "",
                                    d->policy ? d->policy : "", costs_of(p, d, x->to) };
        return filled(p, known[i].words, arg, 4);
    }
    return x->text;
}

static size_t eligible(const struct decision *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n_options; i++) n += d->option[i].eligible;
    return n;
}

/* Chance that the recommended policy, or one that is as good, is the cheapest of those eligible;
 * NAN. */
static double chance(const struct decision *d)
{
    const struct decision_option *o = d->policy ? option_of(d, d->policy) : NULL;
    double p = o ? o->p_cheapest : NAN;
    for (size_t i = 0; i < d->n_ties; i++)
        if ((o = option_of(d, d->tie[i])) && isfinite(o->p_cheapest)) p += o->p_cheapest;
    return p;
}

/* Of those eligible the cheapest at the median, where it is neither the recommended one nor as
 * good: it costs less by less than the tie, and is slower. NULL: none. */
static const struct decision_option *cheaper_but_slower(const struct decision *d)
{
    const struct decision_option *least = NULL;
    for (size_t i = 0; i < d->n_options; i++)
        if (d->option[i].eligible && (!least || d->option[i].cost_p50 < least->cost_p50))
            least = &d->option[i];
    if (!least || strcmp(least->policy, d->policy) == 0) return NULL;
    for (size_t i = 0; i < d->n_ties; i++)
        if (strcmp(least->policy, d->tie[i]) == 0) return NULL;
    return least;
}

/* That the recommended policy misses targets, where it does, in a sentence that follows; "". */
static const char *missed(struct page *p, const struct decision *d)
{
    for (size_t k = 0; k < d->n_reasons; k++) {
        const struct advice_reason *x = &d->reason[k];
        if (!x->metric || strcmp(x->metric, "missed") != 0) continue;
        const char *const arg[] = { figure(p, x->value), figure(p, x->other) };
        return filled(p, W_RECOMMEND_MISSES, arg, 2);
    }
    return "";
}

/* "between 4.2 and 5.3 USD per useful GPU-hour in 80 of 100 draws of the prices" and how often it
 * is the cheapest; with the recommendation, one sentence. */
const char *page_recommendation(struct page *p)
{
    if (p->r->n_decisions == 0 || p->r->n_policies < 2) return NULL;
    const struct decision *d = &p->r->decision[0];
    if (!d->policy) return page_word(p, W_RECOMMEND_NONE);
    const struct decision_option *o = option_of(d, d->policy);
    const double c = chance(d);
    if (!d->by_median || !o || !isfinite(o->cost_p10) || !isfinite(c)) {
        const char *const arg[] = { choice_of(p, d), fleet_of(p, d) };
        return arena_printf(p->a, "%s%s", filled(p, W_RECOMMEND, arg, 2), missed(p, d));
    }
    const char *const arg[] = { choice_of(p, d),
                                fleet_of(p, d),
                                amount(p, o->cost_p50, o),
                                d->cost_unit ? word_of(p->lang, d->cost_unit) : "",
                                amount(p, o->cost_p10, o),
                                amount(p, o->cost_p90, o),
                                arena_printf(p->a, "%zu", eligible(d)),
                                arena_printf(p->a, "%.0f", 100 * fmin(c, 1)),
                                arena_printf(p->a, "%zu", d->n_options),
                                amount(p, o->cost, o) };
    const bool alone = eligible(d) == 1;
    const struct decision_option *cheaper = cheaper_but_slower(d);
    const char *said = filled(p,
                              alone           ? W_RECOMMEND_ALONE
                              : d->n_ties > 0 ? W_RECOMMEND_SURE_TIE
                                              : W_RECOMMEND_SURE,
                              arg, 10);
    said = arena_printf(p->a, "%s%s", said, missed(p, d));
    if (!cheaper) return said;
    const char *const why[] = { cheaper->policy, amount(p, cheaper->cost_p50, cheaper),
                                arena_printf(p->a, "%.0f", 100 * cheaper->p_cheapest) };
    return arena_printf(p->a, "%s%s", said, filled(p, W_RECOMMEND_THOUGH, why, 3));
}

/* One policy leaves nothing to choose; one that was cut off is another matter, which the result
 * says. */
static bool is_alone(const struct result *r)
{
    return r->n_policies == 1 && !r->policy[0].interrupted;
}

const char *page_first_line(struct page *p)
{
    const char *choice = page_recommendation(p);
    return choice               ? choice
           : is_alone(p->r)     ? page_word(p, W_ONE_POLICY)
           : p->r->n_advice > 0 ? page_finding(p, 0)
                                : page_word(p, W_NO_ADVICE);
}

size_t page_findings_from(struct page *p)
{
    return !page_recommendation(p) && !is_alone(p->r) && p->r->n_advice > 0 ? 1 : 0;
}

const char *page_finding(struct page *p, size_t i)
{
    return word_of_sentence(p->lang, p->a, p->r->advice[i]);
}

static bool is_slowdown(const struct advice_reason *x)
{
    return x->metric && x->against && strcmp(x->metric, "slowdown_p95") == 0;
}

/* The reasons, a sentence each; those of slowdown are one sentence for all the policies that are
 * slower. */
static size_t sentences(struct page *p, const struct decision *d, const char **out)
{
    size_t n = 0, at = SIZE_MAX;
    const char *slower = "", *value = "";
    for (size_t k = 0; k < d->n_reasons; k++) {
        const struct advice_reason *x = &d->reason[k];
        if (!is_slowdown(x)) {
            out[n++] = reason_of(p, d, x);
            continue;
        }
        if (at == SIZE_MAX) at = n++;
        value = rough(p, x->value);
        slower = arena_printf(p->a, "%s%s%s %s", slower, *slower ? ", " : "", x->against,
                              rough(p, x->other));
    }
    const char *const arg[] = { value, slower };
    if (at != SIZE_MAX) out[at] = filled(p, W_SLOWER, arg, 2);
    return n;
}

/* Policies that do the same cost the same but for the last digits of sums. */
static double beyond_rounding(double difference, const struct decision_option *o)
{
    return fabs(difference) < 1e-9 * fabs(o->cost_p50) ? 0 : difference;
}

static void decisions(struct page *p)
{
    struct grid t;
    grid_open_cards(&t, p, "decisions", W_DECISIONS);
    grid_column(&t, page_word(p, W_WORK_OF), "", true);
    grid_column(&t, page_word(p, W_RECOMMENDED), "", true);
    grid_column(&t, page_word(p, W_FLEET_OF), "", true);
    grid_column(&t, page_word(p, W_WHY), "", true);
    grid_column(&t, page_word(p, W_WHAT_FLIPS), "", true);
    for (size_t i = 0; i < p->r->n_decisions; i++) {
        const struct decision *d = &p->r->decision[i];
        const char **why = arena_array(p->a, d->n_reasons + 1, sizeof *why);
        const char **flips = arena_array(p->a, d->n_flips + 1, sizeof *flips);
        for (size_t k = 0; k < d->n_flips; k++) flips[k] = flip_of(p, d, &d->flip[k]);
        grid_row(&t, false);
        grid_name(&t,
                  d->about && strcmp(d->about, "(all)") == 0 ? page_word(p, W_ALL_WORK) : d->about,
                  "");
        grid_text(&t, choice_of(p, d));
        grid_text(&t, fleet_of(p, d));
        grid_list(&t, why, sentences(p, d, why));
        grid_list(&t, flips, d->n_flips);
    }
    grid_close(&t);
}

/* The same question with the prices drawn from their ranges: how sure the order of the policies
 * is. */
static void chances(struct page *p)
{
    const struct decision *d = &p->r->decision[0];
    struct grid t;
    if (p->r->advice_draws == 0 || d->n_options == 0) return;
    page_subheading(p, "how-sure", W_HOW_SURE);
    strbuf_addz(p->out, "<p class=\"note\">");
    SAY(p, W_HOW_SURE_NOTE, html_of_count(p, p->r->advice_draws),
        html_of(p, d->cost_unit ? word_of(p->lang, d->cost_unit) : ""));
    strbuf_addz(p->out, "</p>\n");
    grid_open(&t, p, "chances", W_HOW_SURE);
    grid_column(&t, page_word(p, W_POLICY), NULL, true);
    grid_column(&t, page_word(p, W_ELIGIBLE), NULL, true);
    grid_column(&t, page_word(p, W_AT_MODES), page_word(p, W_USD), false);
    grid_column(&t, page_word(p, W_P10), page_word(p, W_USD), false);
    grid_column(&t, page_word(p, W_P50), page_word(p, W_USD), false);
    grid_column(&t, page_word(p, W_P90), page_word(p, W_USD), false);
    grid_column(&t, page_word(p, W_CHEAPEST), page_word(p, W_PERCENT_OF_DRAWS), false);
    grid_column(&t, page_word(p, W_MORE_P5), page_word(p, W_USD), false);
    grid_column(&t, page_word(p, W_MORE_P95), page_word(p, W_USD), false);
    for (size_t i = 0; i < p->r->n_policies; i++) {
        const struct decision_option *o = option_of(d, p->r->policy[i].name);
        if (!o) continue;
        grid_row(&t, false);
        grid_policy(&t, i);
        grid_text(&t, page_word(p, o->eligible ? W_YES : W_NO));
        const double usd[] = { o->cost, o->cost_p10, o->cost_p50, o->cost_p90 };
        const double half = 0.5 * (o->cost_p90 - o->cost_p10);
        const double more[] = { beyond_rounding(o->difference_p5, o),
                                beyond_rounding(o->difference_p95, o) };
        const double apart = more[1] > more[0] ? 0.5 * (more[1] - more[0]) : half;
        for (size_t k = 0; k < 4; k++) grid_within(&t, usd[k], half, MONEY);
        grid_number(&t, o->p_cheapest, PERCENT);
        for (size_t k = 0; k < 2; k++) grid_within(&t, more[k], apart, MONEY);
    }
    grid_close(&t);
}

/* The names of a column of the list, each once, in its order. */
static size_t distinct(const struct page *p, size_t offset, const char **out)
{
    size_t n = 0;
    for (size_t i = 0; i < p->r->n_qualities; i++) {
        const char *x =
            *(const char *const *)(const void *)((const char *)&p->r->quality[i] + offset);
        size_t k = 0;
        while (k < n && strcmp(out[k], x) != 0) k++;
        if (k == n) out[n++] = x;
    }
    return n;
}

/* What stands of a kind: its text on an aspect, or (aspect NULL) where all of it comes from. */
static const char *quality(struct page *p, const char *kind, const char *aspect)
{
    const char *said = "";
    for (size_t i = 0; i < p->r->n_qualities; i++) {
        const struct quality *q = &p->r->quality[i];
        if (strcmp(q->kind, kind) != 0) continue;
        if (aspect && strcmp(q->aspect, aspect) == 0) return word_of(p->lang, q->text);
        const char *source = aspect ? "" : word_of(p->lang, q->source);
        if (*source && !strstr(said, source))
            said =
                arena_printf(p->a, "%s%s%s", said, *said ? page_word(p, W_SEPARATOR) : "", source);
    }
    return said;
}

/* The ways of sharing side by side, an aspect a row. */
static void qualities(struct page *p)
{
    const char **kind = arena_array(p->a, p->r->n_qualities, sizeof *kind);
    const char **aspect = arena_array(p->a, p->r->n_qualities, sizeof *aspect);
    const size_t kinds = distinct(p, offsetof(struct quality, kind), kind);
    const size_t aspects = distinct(p, offsetof(struct quality, aspect), aspect);
    struct grid t;
    grid_open_cards(&t, p, "qualities", W_QUALITIES);
    grid_column(&t, page_word(p, W_ASPECT), "", true);
    for (size_t k = 0; k < kinds; k++) grid_column(&t, kind[k], "", true);
    for (size_t i = 0; i <= aspects; i++) {
        const bool source = i == aspects;
        grid_row(&t, source);
        grid_name(&t, source ? page_word(p, W_SOURCE_OF_IT) : word_of(p->lang, aspect[i]), "");
        for (size_t k = 0; k < kinds; k++)
            grid_text(&t, quality(p, kind[k], source ? NULL : aspect[i]));
    }
    grid_close(&t);
}

bool page_has_decisions(const struct page *p)
{
    return p->r->n_decisions > 0 && p->r->n_policies > 1;
}

void page_decisions(struct page *p)
{
    if (!page_has_decisions(p)) return;
    page_heading(p, "which-policy", W_WHICH_POLICY);
    page_note(p, W_DECISION_RULE);
    decisions(p);
    chances(p);
}

void page_qualities(struct page *p)
{
    if (p->r->n_qualities == 0) return;
    page_heading(p, "qualities-of-sharing", W_NOT_MONEY);
    page_note(p, W_NOT_MONEY_NOTE);
    qualities(p);
}
