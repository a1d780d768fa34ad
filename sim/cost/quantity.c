#include "cost/quantity.h"

#include "base/err.h"
#include "cost/breakeven.h"
#include "cost/spares.h"

#include <math.h>
#include <string.h>

#define HOURS_PER_YEAR 8760.0

/* ---- one group ---- */

struct part {
    const struct scope *s;
    const struct usage_group *g;
    const struct base *base;
};

typedef double group_fn(const struct part *p);

/* Cards owned, on average over the window. */
static double owned_cards(const struct part *p)
{
    return (double)p->g->cards * usage_share(p->s->u, p->g) * p->base->owned;
}

static double owned_nodes(const struct part *p)
{
    return (double)p->g->nodes * usage_share(p->s->u, p->g) * p->base->owned;
}

static double racks(const struct part *p)
{
    return ceil(owned_cards(p) / p->s->item->per - 1e-9);
}

/* What one card of the group costs to buy, its part of the node included. */
static double card_capital(const struct part *p)
{
    const struct price_book *b = p->s->book;
    const double per_node = (double)p->g->cards / (double)(p->g->nodes > 0 ? p->g->nodes : 1);
    double usd = 0;
    for (size_t i = 0; i < b->n_items; i++) {
        const struct price_item *it = &b->item[i];
        if (it->period != PER_ONCE || !price_item_applies(it, p->g->gpu, p->s->share)) continue;
        if (it->driver == PRICE_card) usd += it->amount.mode;
        if (it->driver == PRICE_node) usd += it->amount.mode / per_node;
        if (it->driver == PRICE_rack && it->gpu) usd += it->amount.mode / it->per;
    }
    return usd;
}

int64_t quantity_spares(const struct price_item *it, const struct usage *u,
                        const struct usage_group *g, double owned)
{
    const double n = (double)g->cards * usage_share(u, g) * owned;
    const int64_t cards = (int64_t)ceil(n - 1e-9),
                  per_node = g->nodes > 0 ? g->cards / g->nodes : 1;
    if (cards < 1) return 0;
    const int64_t k = spares_needed(cards, it->unavailability, it->availability);
    if (k <= 0 || !it->whole_nodes) return k;
    return spares_whole_nodes(cards + k, per_node > 0 ? per_node : 1) - cards;
}

static double spare_capital(const struct part *p)
{
    const int64_t k = quantity_spares(p->s->item, p->s->u, p->g, p->base->owned);
    if (k < 0)
        BUG("\"%s\": no number of spares is enough (tco_check was not called)", p->s->item->name);
    return k > 0 ? (double)k * card_capital(p) : 0;
}

static double kwh(const struct part *p)
{
    return p->base->owned_kwh * p->s->book->pue;
}

static double peak_kw(const struct part *p)
{
    return owned_cards(p) * p->g->gpu->tdp_W / 1000 * p->s->book->pue;
}

static double provisioned_h(const struct part *p)
{
    return (double)p->g->cards * p->s->u->hours - p->g->absent_h;
}

static double allocated_h(const struct part *p)
{
    const struct price_item *it = p->s->item;
    double h = p->g->allocated_h;
    for (int k = 0; k < USAGE_STEPS; k++)
        if (fabs(it->step_s - price_step_s[k]) < 1e-9) h = p->g->step_h[k];
    return h * (1 + it->lost_work);
}

static double occupied_h(const struct part *p)
{
    return p->g->occupied_h * (1 + p->s->item->lost_work);
}

static double committed_h(const struct part *p)
{
    return p->base->cards * p->s->u->hours;
}

static double overflow_h(const struct part *p)
{
    return p->base->overflow_h * (1 + p->s->item->lost_work);
}

/* The generic card stands for no hardware: nobody is paid to look after it. */
static double employees(const struct part *p)
{
    if (strcmp(p->g->gpu->name, "generic") == 0) return 0;
    return owned_cards(p) / p->s->item->per;
}

/* Quantity of one fleet group; the drivers without an entry are not sums over groups. */
static group_fn *const driver[PRICE_DRIVERS] = {
    [PRICE_card] = owned_cards,
    [PRICE_node] = owned_nodes,
    [PRICE_rack] = racks,
    [PRICE_spares] = spare_capital,
    [PRICE_kwh] = kwh,
    [PRICE_peak_kw] = peak_kw,
    [PRICE_gpu_hour] = provisioned_h,
    [PRICE_allocated_gpu_hour] = allocated_h,
    [PRICE_occupied_gpu_hour] = occupied_h,
    [PRICE_committed_gpu_hour] = committed_h,
    [PRICE_overflow_gpu_hour] = overflow_h,
    [PRICE_licence] = owned_cards,
    [PRICE_fte] = employees,
};

/* ---- all groups ---- */

/* Capital bought for the cards that `s->item` is about. Capital that is itself a share of capital
 * counts for yearly shares (maintenance) only. */
static double capital(const struct scope *s)
{
    double usd = 0;
    for (size_t i = 0; i < s->book->n_items; i++) {
        struct scope one = *s;
        one.item = &s->book->item[i];
        if (one.item->period != PER_ONCE) continue;
        if (one.item->driver == PRICE_capital && s->item->period == PER_ONCE) continue;
        if (s->item->gpu && (!one.item->gpu || strcmp(one.item->gpu, s->item->gpu) != 0)) continue;
        usd += one.item->amount.mode * quantity_of(&one);
    }
    return usd;
}

bool quantity_by_hour(enum price_driver d)
{
    return d == PRICE_gpu_hour || d == PRICE_allocated_gpu_hour || d == PRICE_occupied_gpu_hour ||
           d == PRICE_committed_gpu_hour || d == PRICE_overflow_gpu_hour;
}

/* What is paid by the card-hour in the window. */
static double rent(const struct scope *s)
{
    double usd = 0;
    for (size_t i = 0; i < s->book->n_items; i++) {
        struct scope one = *s;
        one.item = &s->book->item[i];
        if (quantity_by_hour(one.item->driver))
            usd += quantity_window_usd(one.item, quantity_of(&one), s->u->hours);
    }
    return usd;
}

double quantity_of(const struct scope *s)
{
    const struct price_item *it = s->item;
    double q = 0;
    if (it->share && s->share && strcmp(it->share, s->share) != 0) return 0;
    if (it->driver == PRICE_constant) return s->constants ? 1 : 0;
    if (it->driver == PRICE_capital) return capital(s);
    if (it->driver == PRICE_rent) return rent(s);
    if (it->driver == PRICE_gb) return s->constants ? it->gb : 0;
    for (size_t i = 0; i < s->u->n_groups; i++) {
        const struct part p = { s, &s->u->group[i], &s->base[i] };
        if (price_item_applies(it, p.g->gpu, s->share)) q += driver[it->driver](&p);
    }
    return q;
}

double quantity_window_usd(const struct price_item *it, double q, double hours)
{
    double y = hours / HOURS_PER_YEAR, usd = it->amount.mode * q;
    return it->period == PER_ONCE ? usd * y / it->life_y : it->period == PER_YEAR ? usd * y : usd;
}

/* ---- the base ---- */

bool quantity_has_base(const struct price_book *b)
{
    for (size_t i = 0; i < b->n_items; i++)
        if (b->item[i].driver == PRICE_committed_gpu_hour) return true;
    return b->own == OWN_BASE;
}

/* Hourly price of the items of one driver for the cards of a group. */
static double hourly_price(const struct usage_group *g, const char *share,
                           const struct price_book *b, enum price_driver d)
{
    double usd = 0, more = 0; /* egress and storage follow the rent */
    for (size_t i = 0; i < b->n_items; i++) {
        const struct price_item *it = &b->item[i];
        if (!price_item_applies(it, g->gpu, share)) continue;
        if (it->driver == d) usd += it->amount.mode * (1 + it->lost_work);
        if (it->driver == PRICE_rent) more += it->amount.mode;
    }
    return usd * (1 + more);
}

/* Straight-line cost of owning one card of the group for an hour, without its energy and without
 * costs of the whole fleet. */
static double owned_hour_usd(const struct usage_group *g, const char *share,
                             const struct price_book *b)
{
    const int64_t per_node = g->nodes > 0 && g->cards > g->nodes ? g->cards / g->nodes : 1;
    const struct usage_group node = { .gpu = g->gpu, .nodes = 1, .cards = per_node };
    const struct usage hour = { .hours = 1, .group = &node, .n_groups = 1 };
    const struct base all = { .cards = (double)per_node, .owned = 1 };
    double usd = 0;
    for (size_t i = 0; i < b->n_items; i++) {
        const struct scope s = { &hour, share, b, &b->item[i], &all, false };
        if (s.item->period == PER_USE) continue;
        usd += quantity_window_usd(s.item, quantity_of(&s), 1);
    }
    return usd / (double)per_node;
}

static void set_base(struct base *x, const struct usage *u, const struct usage_group *g,
                     const char *share, const struct price_book *b)
{
    const double rent = hourly_price(g, share, b, PRICE_overflow_gpu_hour);
    const double fixed = b->own == OWN_BASE ? owned_hour_usd(g, share, b)
                                            : hourly_price(g, share, b, PRICE_committed_gpu_hour);
    const int64_t per_node = g->nodes > 0 && g->cards > g->nodes ? g->cards / g->nodes : 1;
    double served = 0, all = 0;
    x->cards = rent > 0 ? commit_level(g->demand, g->n_demand, fixed, rent) : (double)g->cards;
    if (b->own == OWN_BASE)
        x->cards = (double)spares_whole_nodes((int64_t)ceil(x->cards - 1e-9), per_node);
    for (size_t i = 0; i < g->n_demand; i++) {
        const struct demand_level *d = &g->demand[i];
        all += d->hours * d->cards;
        served += d->hours * fmin(d->cards, x->cards);
    }
    x->overflow_h = all - served;
    if (b->own != OWN_BASE) return;
    const double n = (double)g->cards * usage_share(u, g);
    x->owned = n > 0 ? fmin(1, x->cards / n) : 0;
    x->owned_kwh = g->idle_energy_kwh * x->owned +
                   (g->energy_kwh - g->idle_energy_kwh) * (all > 0 ? served / all : 0);
}

void quantity_bases(const struct usage *u, const char *share, const struct price_book *book,
                    struct base *base)
{
    const bool has_base = quantity_has_base(book);
    for (size_t i = 0; i < u->n_groups; i++) {
        const struct usage_group *g = &u->group[i];
        base[i] =
            (struct base){ .cards = (double)g->cards, .owned = 1, .owned_kwh = g->energy_kwh };
        if (has_base && g->n_demand > 0) set_base(&base[i], u, g, share, book);
    }
}
