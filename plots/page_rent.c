/* plots/page_rent.c - buying against renting: by the month, and how many cards to own or commit
 * to. */
#include "plots/page.h"

#include "plots/html.h"

#include <math.h>
#include <string.h>

static void month(struct grid *t, double x)
{
    struct strbuf b = { 0 };
    if (isfinite(x))
        html_number(&b, x, 0);
    else
        strbuf_addz(&b, page_word(t->p, W_NEVER));
    grid_html(t, b.s, x, FIGURE);
    strbuf_fini(&b);
}

static void paybacks(struct page *p)
{
    struct grid t;
    size_t n = 0;
    for (size_t i = 0; i < p->r->n_policies; i++) n += p->r->policy[i].tco.n_paybacks;
    if (n == 0) return;
    page_picture(p, "months");
    grid_open(&t, p, "payback", W_H_MONTHS);
    grid_column(&t, page_word(p, W_BOUGHT), NULL, true);
    grid_column(&t, page_word(p, W_AGAINST_RENT), NULL, true);
    grid_column(&t, page_word(p, W_UPFRONT), page_word(p, W_USD), false);
    grid_column(&t, page_word(p, W_RESALE), page_word(p, W_USD), false);
    grid_column(&t, page_word(p, W_RENT), page_word(p, W_USD_A_YEAR), false);
    grid_column(&t, page_word(p, W_PAID_BACK), page_word(p, W_MONTHS), false);
    grid_column(&t, page_word(p, W_PAID_BACK_DISCOUNTED), page_word(p, W_MONTHS), false);
    for (size_t i = 0; i < p->r->n_policies; i++)
        for (size_t k = 0; k < p->r->policy[i].tco.n_paybacks; k++) {
            const struct tco_result *x = &p->r->policy[i].tco;
            grid_row(&t, false);
            grid_policy(&t, i);
            grid_quote(&t, x->payback[k].rent);
            const double usd[] = { x->upfront_usd, x->resale_usd, x->payback[k].usd_per_year };
            for (size_t u = 0; u < 3; u++) grid_cost(&t, i, usd[u], usd[u], MONEY);
            month(&t, x->payback[k].month);
            month(&t, x->payback[k].month_discounted);
        }
    grid_close(&t);
}

/* Where the price book asks for a base: cards to own or commit to, the rest rented by the hour. */
static void base(struct page *p)
{
    struct grid t;
    bool any = false;
    for (size_t i = 0; i < p->r->n_policies; i++)
        any = any || (p->r->policy[i].tco.priced && isfinite(p->r->policy[i].tco.base_cards));
    if (!any) return;
    page_subheading(p, "base-cards", W_H_BASE);
    page_note(p, W_BASE_NOTE);
    grid_open(&t, p, "base", W_H_BASE);
    grid_column(&t, page_word(p, W_POLICY), NULL, true);
    grid_column(&t, page_word(p, W_CARDS), "", false);
    grid_column(&t, page_word(p, W_BASE_CARDS), page_word(p, W_CARDS), false);
    for (size_t i = 0; i < p->r->n_policies; i++) {
        const struct policy_result *x = &p->r->policy[i];
        grid_row(&t, false);
        grid_policy(&t, i);
        grid_count(&t, x->gpu.count);
        grid_number(&t, x->tco.priced ? x->tco.base_cards : NAN, FIGURE);
    }
    grid_close(&t);
}

/* The one that is recommended for all work; n_policies: none is. */
static size_t recommended(const struct result *r)
{
    const char *name = r->n_decisions ? r->decision[0].policy : NULL;
    size_t i = 0;
    while (i < r->n_policies && !(name && strcmp(r->policy[i].name, name) == 0)) i++;
    return i;
}

static const char *amount(struct page *p, double usd, double low, double high)
{
    struct strbuf b = { 0 };
    page_within(&b, usd, low, high, MONEY);
    const char *s = arena_strdup(p->a, b.s);
    strbuf_fini(&b);
    return s;
}

static double number(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

const char *page_a_year(struct page *p)
{
    json_t *one;
    size_t k;
    const size_t i = recommended(p->r);
    if (i == p->r->n_policies) return NULL;
    const struct tco_result *x = &p->r->policy[i].tco;
    json_array_foreach(json_object_get(p->risk, "options"), k, one)
    {
        const char *name = json_string_value(json_object_get(one, "policy"));
        if (!name || strcmp(name, p->r->policy[i].name) != 0 || !x->priced) continue;
        const double low = number(one, "p10_usd"), high = number(one, "p90_usd");
        const char *const arg[] = { amount(p, x->usd_per_year, low, high),
                                    arena_printf(p->a, "%.3g", 100 * x->rate),
                                    arena_printf(p->a, "%.3g", x->term_y),
                                    amount(p, number(one, "eac_usd"), low, high),
                                    amount(p, low, low, high),
                                    amount(p, high, low, high) };
        return word_filled(p->lang, p->a, W_RANGE, arg, 6);
    }
    return NULL;
}

/* By the end of the term renting has cost less than buying, resale taken off. */
static bool stays_cheaper(const struct tco_result *x, const struct payback *rent)
{
    const size_t last = x->n_months - 1;
    return x->n_months > 0 && x->paid_by_month_usd && rent->paid_by_month_usd &&
           isfinite(x->resale_usd) && rent->usd_per_year > 0 &&
           rent->paid_by_month_usd[last] < x->paid_by_month_usd[last] - x->resale_usd;
}

const struct payback *page_cheaper_rent(struct page *p, size_t *policy, const char **usd)
{
    *policy = recommended(p->r);
    if (*policy == p->r->n_policies) return NULL;
    const struct tco_result *x = &p->r->policy[*policy].tco;
    for (size_t k = 0; k < x->n_paybacks; k++) {
        const struct payback *y = &x->payback[k];
        struct strbuf b = { 0 };
        if (!stays_cheaper(x, y)) continue;
        const double half = fabs(y->usd_per_year) * result_cost_spread(p->r, *policy);
        page_within(&b, y->usd_per_year, -half, half, MONEY);
        *usd = arena_strdup(p->a, b.s);
        strbuf_fini(&b);
        return y; /* the table has the others */
    }
    return NULL;
}

void page_rent(struct page *p)
{
    page_picture(p, "breakeven");
    paybacks(p);
    base(p);
}
