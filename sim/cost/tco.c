/* cost/tco.c - usage x price book -> money. */
#include "cost/tco.h"

#include "base/err.h"
#include "base/mem.h"
#include "cost/cashflow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What an item is multiplied by. */
struct scope {
    const struct usage *u;
    const char *share;
    const struct price_book *book;
    const struct price_item *item;
    bool constants; /* whether items of driver "constant" count */
};

typedef double group_fn(const struct scope *s, const struct usage_group *g);

static double group_cards(const struct scope *s, const struct usage_group *g)
{
    return (double)g->cards * usage_share(s->u, g);
}

static double group_nodes(const struct scope *s, const struct usage_group *g)
{
    return (double)g->nodes * usage_share(s->u, g);
}

static double group_kwh(const struct scope *s, const struct usage_group *g)
{
    return g->energy_kwh * s->book->pue;
}

static double group_peak_kw(const struct scope *s, const struct usage_group *g)
{
    return (double)g->cards * usage_share(s->u, g) * g->gpu->tdp_W / 1000 * s->book->pue;
}

static double group_hours(const struct scope *s, const struct usage_group *g)
{
    return (double)g->cards * s->u->hours - g->absent_h;
}

static double group_held(const struct scope *s, const struct usage_group *g)
{
    return g->allocated_h * (1 + s->item->lost_work);
}

static double group_employees(const struct scope *s, const struct usage_group *g)
{
    return (double)g->cards * usage_share(s->u, g) / s->item->per;
}

/* Quantity of one fleet group; the drivers without an entry are not sums over groups. */
static group_fn *const driver[PRICE_DRIVERS] = {
    [PRICE_card] = group_cards,     [PRICE_node] = group_nodes,
    [PRICE_kwh] = group_kwh,        [PRICE_peak_kw] = group_peak_kw,
    [PRICE_gpu_hour] = group_hours, [PRICE_allocated_gpu_hour] = group_held,
    [PRICE_licence] = group_cards,  [PRICE_fte] = group_employees,
};

static double quantity(const struct scope *s);

/* Capital bought for the cards that `s->item` is about. */
static double capital(const struct scope *s)
{
    double usd = 0;
    for (size_t i = 0; i < s->book->n_items; i++) {
        struct scope one = { s->u, s->share, s->book, &s->book->item[i], s->constants };
        if (one.item->period != PER_ONCE) continue;
        if (s->item->gpu && (!one.item->gpu || strcmp(one.item->gpu, s->item->gpu) != 0)) continue;
        usd += one.item->amount.mode * quantity(&one);
    }
    return usd;
}

static double quantity(const struct scope *s)
{
    const struct price_item *it = s->item;
    double q = 0;
    if (it->share && s->share && strcmp(it->share, s->share) != 0) return 0;
    if (it->driver == PRICE_constant) return s->constants ? 1 : 0;
    if (it->driver == PRICE_capital) return capital(s);
    for (size_t i = 0; i < s->u->n_groups; i++) {
        const struct usage_group *g = &s->u->group[i];
        if (price_item_applies(it, g->gpu, s->share)) q += driver[it->driver](s, g);
    }
    return q;
}

/* Straight-line cost of `q` units over the window. */
static double window_usd(const struct price_item *it, double q, double hours)
{
    double y = hours / TCO_HOURS_PER_YEAR, usd = it->amount.mode * q;
    return it->period == PER_ONCE ? usd * y / it->life_y : it->period == PER_YEAR ? usd * y : usd;
}

double tco_annuity(double rate, double years)
{
    return cashflow_annuity(rate, years);
}

/* Present value of capital `usd` bought now and again whenever its life ends, less what the last
 * purchase is worth at the end of the term. */
static double capital_npv(const struct price_item *it, double usd, const struct price_book *b)
{
    double npv = 0, last = 0;
    for (int k = 0; k == 0 || k * it->life_y < b->term_y - 1e-9; k++) {
        last = k * it->life_y;
        npv += usd * pow(1 + b->rate, -last);
    }
    double residual = usd * pow(it->retention, b->term_y - last);
    return npv - residual * pow(1 + b->rate, -b->term_y);
}

/* Present value of `usd` a year paid at year ends; a broken last year is paid at the end of the term. */
static double opex_npv(double usd, const struct price_book *b)
{
    double whole = floor(b->term_y + 1e-9), rest = b->term_y - whole;
    double npv = usd * tco_annuity(b->rate, whole);
    return rest > 1e-9 ? npv + usd * rest * pow(1 + b->rate, -b->term_y) : npv;
}

/* Sums over the items of a book. */
struct totals {
    double usd, energy_usd, held_usd; /* held: paid per card-hour that jobs hold */
    double npv_usd;
};

static void add_item(struct totals *t, const struct scope *s, double q, double usd)
{
    const struct price_item *it = s->item;
    t->usd += usd;
    if (it->driver == PRICE_kwh) t->energy_usd += usd;
    if (it->driver == PRICE_allocated_gpu_hour) t->held_usd += usd;
    if (it->period == PER_ONCE)
        t->npv_usd += capital_npv(it, it->amount.mode * q, s->book);
    else if (s->u->hours > 0)
        t->npv_usd += opex_npv(usd * TCO_HOURS_PER_YEAR / s->u->hours, s->book);
}

struct fleet_sums {
    double cards, allocated_h, free_h, stranded_h, down_h, energy_kwh, idle_kwh;
};

static struct fleet_sums fleet_sums(const struct usage *u)
{
    struct fleet_sums f = { 0 };
    for (size_t i = 0; i < u->n_groups; i++) {
        const struct usage_group *g = &u->group[i];
        f.cards += (double)g->cards * usage_share(u, g);
        f.allocated_h += g->allocated_h;
        f.free_h += g->free_h;
        f.stranded_h += g->stranded_h;
        f.down_h += g->down_h;
        f.energy_kwh += g->energy_kwh;
        f.idle_kwh += g->idle_energy_kwh;
    }
    return f;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

static void charge_tenants(struct tco_result *out, const struct usage *u, const struct totals *t,
                           const struct fleet_sums *f, struct arena *a)
{
    double fixed = 0, held, kwh = 0;
    if (f->cards * u->hours > 0)
        fixed = (t->usd - t->energy_usd - t->held_usd) / (f->cards * u->hours);
    held = fixed + (f->allocated_h > 0 ? t->held_usd / f->allocated_h : 0);
    if (f->energy_kwh > 0) kwh = t->energy_usd / f->energy_kwh;

    struct charge *c = arena_array(a, u->n_tenants + 3, sizeof *c);
    for (size_t i = 0; i < u->n_tenants; i++) {
        const struct usage_tenant *p = &u->tenant[i];
        c[i] = (struct charge){ p->name, p->allocated_h * held + p->energy_kwh * kwh,
                                p->allocated_h, p->energy_kwh };
    }
    struct charge *rest = c + u->n_tenants;
    rest[0] =
        (struct charge){ "(idle)", f->free_h * fixed + f->idle_kwh * kwh, f->free_h, f->idle_kwh };
    rest[1] = (struct charge){ "(stranded)", f->stranded_h * fixed, f->stranded_h, 0 };
    rest[2] = (struct charge){ "(down)", f->down_h * fixed, f->down_h, 0 };
    out->charge = c;
    out->n_charges = u->n_tenants + 3;
}

bool tco_concerns(const struct usage *u, const char *share_kind, const struct price_item *it)
{
    if (it->share && share_kind && strcmp(it->share, share_kind) != 0) return false;
    if (!it->gpu) return true;
    for (size_t i = 0; i < u->n_groups; i++)
        if (price_item_applies(it, u->group[i].gpu, share_kind)) return true;
    return false;
}

static struct totals price_items(struct tco_result *out, const struct usage *u, const char *share,
                                 const struct price_book *book, struct arena *a)
{
    struct totals t = { 0 };
    struct cost_item_result *item = a ? arena_array(a, book->n_items, sizeof *item) : NULL;
    out->item = item;
    for (size_t i = 0; i < book->n_items; i++) {
        const struct price_item *it = &book->item[i];
        const struct scope s = { u, share, book, it, true };
        if (!tco_concerns(u, share, it)) continue;
        double q = quantity(&s), usd = window_usd(it, q, u->hours);
        add_item(&t, &s, q, usd);
        if (!item) continue;
        item[out->n_items++] = (struct cost_item_result){
            it->name, price_driver_names[it->driver], it->source, it->date, it->confidence, q, usd
        };
    }
    return t;
}

/* A number as result.json holds it. */
static double stored(double x)
{
    char text[40];
    if (!isfinite(x)) return x;
    snprintf(text, sizeof text, "%.15g", x);
    return strtod(text, NULL);
}

/* Usage as result.json holds it, so that a stored run priced again costs the same to the last bit. */
static struct usage stored_usage(const struct usage *u, struct arena *a)
{
    struct usage_group *g = arena_array(a, u->n_groups, sizeof *g);
    struct usage_tenant *t = arena_array(a, u->n_tenants, sizeof *t);
    struct usage s = *u;
    for (size_t i = 0; i < u->n_groups; i++) {
        g[i] = u->group[i];
        g[i].allocated_h = stored(g[i].allocated_h);
        g[i].free_h = stored(g[i].free_h);
        g[i].stranded_h = stored(g[i].stranded_h);
        g[i].down_h = stored(g[i].down_h);
        g[i].energy_kwh = stored(g[i].energy_kwh);
        g[i].idle_energy_kwh = stored(g[i].idle_energy_kwh);
    }
    for (size_t i = 0; i < u->n_tenants; i++) {
        t[i] = u->tenant[i];
        t[i].allocated_h = stored(t[i].allocated_h);
        t[i].energy_kwh = stored(t[i].energy_kwh);
    }
    s.group = g;
    s.tenant = t;
    s.hours = stored(u->hours);
    s.useful_gpu_hours = stored(u->useful_gpu_hours);
    return s;
}

struct tco_result tco_price(const struct usage *as_run, const char *share_kind,
                            const struct price_book *book, struct arena *a)
{
    const struct usage rounded = a ? stored_usage(as_run, a) : *as_run, *u = &rounded;
    struct tco_result out = { .priced = true, .hours = u->hours };
    struct err e = { 0 };
    if (tco_check(u, share_kind, book, &e) != 0) BUG("%s (tco_check was not called)", e.msg);
    const struct fleet_sums f = fleet_sums(u);
    const struct totals t = price_items(&out, u, share_kind, book, a);
    out.total_usd = t.usd;
    out.energy_usd = t.energy_usd;
    out.usd_per_year = ratio(t.usd * TCO_HOURS_PER_YEAR, u->hours);
    out.npv_usd = t.npv_usd;
    out.eac_usd = t.npv_usd / tco_annuity(book->rate, book->term_y);
    out.usd_per_gpu_hour = ratio(t.usd, f.cards * u->hours);
    out.usd_per_useful_gpu_hour = ratio(t.usd, u->useful_gpu_hours);
    out.usd_per_job = ratio(t.usd, (double)u->jobs_completed);
    if (a) charge_tenants(&out, u, &t, &f, a);
    return out;
}

int tco_check(const struct usage *fleet, const char *share_kind, const struct price_book *book,
              struct err *e)
{
    for (size_t i = 0; i < fleet->n_groups; i++) {
        int rc = price_book_covers(book, fleet->group[i].gpu, share_kind, e);
        if (rc != 0) return rc;
    }
    return 0;
}

/* Cost of one card-hour held: one hour in which every card is held and no energy is drawn. */
static double held_hour_usd(const struct price_book *book, const char *share_kind,
                            const struct usage *fleet, bool constants)
{
    struct usage_group *g = xcalloc(fleet->n_groups, sizeof *g);
    const struct usage hour = { .hours = 1, .group = g, .n_groups = fleet->n_groups };
    double usd = 0, cards = 0;
    for (size_t i = 0; i < fleet->n_groups; i++) {
        const struct usage_group *from = &fleet->group[i];
        g[i] = (struct usage_group){ .gpu = from->gpu,
                                     .nodes = from->nodes,
                                     .cards = from->cards,
                                     .allocated_h = (double)from->cards };
        cards += (double)from->cards;
    }
    for (size_t i = 0; i < book->n_items; i++) {
        const struct scope s = { &hour, share_kind, book, &book->item[i], constants };
        usd += window_usd(s.item, quantity(&s), 1);
    }
    free(g);
    return cards > 0 ? usd / cards : 0;
}

double tco_fleet_hour_usd(const struct price_book *book, const char *share_kind,
                          const struct usage *fleet)
{
    return held_hour_usd(book, share_kind, fleet, true);
}

double tco_card_hour_usd(const struct price_book *book, const struct gpu_spec *gpu,
                         const char *share_kind, int64_t cards_per_node)
{
    const struct usage_group node = { .gpu = gpu, .nodes = 1, .cards = cards_per_node };
    return held_hour_usd(book, share_kind, &(struct usage){ .group = &node, .n_groups = 1 }, false);
}

double tco_kwh_usd(const struct price_book *book)
{
    double usd = 0;
    for (size_t i = 0; i < book->n_items; i++) {
        const struct price_item *it = &book->item[i];
        if (it->driver == PRICE_kwh && !it->gpu && !it->share) usd += it->amount.mode;
    }
    return usd * book->pue;
}
