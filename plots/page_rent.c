/* plots/page_rent.c - buying against renting: by the month, and how many cards to own or commit to. */
#include "plots/page.h"

#include "plots/html.h"

#include <math.h>

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
            grid_number(&t, x->upfront_usd, MONEY);
            grid_number(&t, x->resale_usd, MONEY);
            grid_number(&t, x->payback[k].usd_per_year, MONEY);
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

void page_rent(struct page *p)
{
    page_picture(p, "breakeven");
    paybacks(p);
    base(p);
}
