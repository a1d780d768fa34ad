#include "cost/against.h"

#include "base/mem.h"
#include "cost/breakeven.h"
#include "cost/cashflow.h"
#include "cost/months.h"

#include <math.h>
#include <stdlib.h>

/* The same fleet without its work: idle energy only, nothing held. */
static double idle_eac(const struct usage *u, const char *share, const struct price_book *b)
{
    struct usage_group *g = xcalloc(u->n_groups + 1, sizeof *g);
    struct usage idle = *u;
    for (size_t i = 0; i < u->n_groups; i++) {
        g[i] = u->group[i];
        g[i].free_h += g[i].allocated_h;
        g[i].allocated_h = g[i].occupied_h = 0;
        for (int k = 0; k < USAGE_STEPS; k++) g[i].step_h[k] = 0;
        g[i].energy_kwh = g[i].idle_energy_kwh;
    }
    idle.group = g;
    const double eac = tco_price(&idle, share, b, NULL).eac_usd;
    free(g);
    return eac;
}

/* Capital bought now, and what is paid in a year besides. */
static double capital_of(const struct tco_result *t, const struct price_book *b, double *yearly)
{
    double capital = 0;
    *yearly = 0;
    for (size_t i = 0; i < t->n_items; i++) {
        const struct cost_item_result *it = &t->item[i];
        for (size_t k = 0; k < b->n_items; k++) {
            const struct price_item *p = &b->item[k];
            if (p->name != it->name) continue; /* the result lends the book's texts */
            if (p->period == PER_ONCE)
                capital += it->quantity * p->amount.mode;
            else
                *yearly += it->usd * TCO_HOURS_PER_YEAR / t->hours;
            break;
        }
    }
    return capital;
}

static bool buys_again(const struct tco_result *t, const struct price_book *b)
{
    for (size_t i = 0; i < t->n_items; i++)
        for (size_t k = 0; k < b->n_items; k++)
            if (b->item[k].name == t->item[i].name && b->item[k].period == PER_ONCE &&
                b->item[k].life_y < b->term_y - 1e-9)
                return true;
    return false;
}

struct against tco_against(const struct usage *u, const char *share, const struct price_book *own,
                           const struct price_book *rent)
{
    struct arena *a = arena_create();
    const struct tco_result o = tco_price(u, share, own, a), r = tco_price(u, share, rent, NULL);
    double held = 0, cards = 0, yearly;
    for (size_t i = 0; i < u->n_groups; i++) {
        held += u->group[i].allocated_h;
        cards += (double)u->group[i].cards * usage_share(u, &u->group[i]);
    }
    struct against x = { .own_eac_usd = o.eac_usd,
                         .rent_eac_usd = r.eac_usd,
                         .use = held / (cards * u->hours),
                         .breakeven_use = NAN,
                         .breakeven_months = NAN };
    const double own_idle = idle_eac(u, share, own), rent_idle = idle_eac(u, share, rent);
    if (x.use > 0 && rent_idle <= 1e-9 * r.eac_usd)
        x.breakeven_use =
            breakeven_use(own_idle, own_idle + (o.eac_usd - own_idle) / x.use, r.eac_usd / x.use);
    const double capital = capital_of(&o, own, &yearly);
    x.breakeven_months = breakeven_months(capital, yearly / 12, r.usd_per_year / 12,
                                          cashflow_monthly_rate(own->rate), 12 * own->term_y);
    if (buys_again(&o, own)) /* the first crossing need not last: the next purchase undoes it */
        x.breakeven_months = months_payback(&o, rent->name, &r, a).month_discounted;
    x.breakeven_price_usd = breakeven_price(o.eac_usd, cards, x.use);
    arena_destroy(a);
    return x;
}
