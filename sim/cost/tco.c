/* cost/tco.c - usage x price book -> money. */
#include "cost/tco.h"

#include "base/err.h"
#include "base/mem.h"
#include "cost/cashflow.h"
#include "cost/charge.h"
#include "cost/months.h"
#include "cost/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Present value of `usd` a year paid at year ends; a broken last year is paid at the end of the
 * term. */
static double opex_npv(double usd, const struct price_book *b)
{
    double whole = floor(b->term_y + 1e-9), rest = b->term_y - whole;
    double npv = usd * tco_annuity(b->rate, whole);
    return rest > 1e-9 ? npv + usd * rest * pow(1 + b->rate, -b->term_y) : npv;
}

struct totals {
    struct bill bill;
    double npv_usd;
    double rent_usd, rent_share_usd; /* by the card-hour; what follows it */
};

/* What follows the rent is charged as the rent is. */
static void spread_rent_share(struct totals *t)
{
    if (!(t->rent_usd > 0)) return;
    t->bill.held_usd *= 1 + t->rent_share_usd / t->rent_usd;
    t->bill.occupied_usd *= 1 + t->rent_share_usd / t->rent_usd;
}

static void add_item(struct totals *t, const struct scope *s, double q, double usd)
{
    const struct price_item *it = s->item;
    t->bill.usd += usd;
    if (it->driver == PRICE_kwh) t->bill.energy_usd += usd;
    if (it->driver == PRICE_allocated_gpu_hour) t->bill.held_usd += usd;
    if (it->driver == PRICE_occupied_gpu_hour || it->driver == PRICE_overflow_gpu_hour)
        t->bill.occupied_usd += usd;
    if (quantity_by_hour(it->driver)) t->rent_usd += usd;
    if (it->driver == PRICE_rent) t->rent_share_usd += usd;
    if (it->period == PER_ONCE)
        t->npv_usd += capital_npv(it, it->amount.mode * q, s->book);
    else if (s->u->hours > 0)
        t->npv_usd += opex_npv(usd * TCO_HOURS_PER_YEAR / s->u->hours, s->book);
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
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
                                 const struct price_book *book, const struct base *base,
                                 struct arena *a)
{
    struct totals t = { 0 };
    struct cost_item_result *item = a ? arena_array(a, book->n_items, sizeof *item) : NULL;
    out->item = item;
    for (size_t i = 0; i < book->n_items; i++) {
        const struct price_item *it = &book->item[i];
        const struct scope s = { u, share, book, it, base, true };
        if (!tco_concerns(u, share, it)) continue;
        double q = quantity_of(&s), usd = quantity_window_usd(it, q, u->hours);
        add_item(&t, &s, q, usd);
        if (!item) continue;
        item[out->n_items++] = (struct cost_item_result){
            it->name, price_driver_names[it->driver], it->source, it->date, it->confidence, q, usd
        };
    }
    spread_rent_share(&t);
    return t;
}

double tco_stored(double x)
{
    char text[40];
    if (!isfinite(x)) return x;
    snprintf(text, sizeof text, "%.15g", x);
    return strtod(text, NULL);
}

static const struct usage_tenant *stored_tenants(const struct usage_tenant *from, size_t n,
                                                 struct arena *a)
{
    struct usage_tenant *t = arena_array(a, n, sizeof *t);
    for (size_t i = 0; i < n; i++) {
        t[i] = from[i];
        t[i].allocated_h = tco_stored(t[i].allocated_h);
        t[i].billed_h = tco_stored(t[i].billed_h);
        t[i].useful_h = tco_stored(t[i].useful_h);
        t[i].energy_kwh = tco_stored(t[i].energy_kwh);
    }
    return t;
}

static void store_group(struct usage_group *g, struct arena *a)
{
    struct demand_level *d = arena_array(a, g->n_demand, sizeof *d);
    g->allocated_h = tco_stored(g->allocated_h);
    g->free_h = tco_stored(g->free_h);
    g->stranded_h = tco_stored(g->stranded_h);
    g->down_h = tco_stored(g->down_h);
    g->absent_h = tco_stored(g->absent_h);
    g->energy_kwh = tco_stored(g->energy_kwh);
    g->idle_energy_kwh = tco_stored(g->idle_energy_kwh);
    g->occupied_h = tco_stored(g->occupied_h);
    for (int k = 0; k < USAGE_STEPS; k++) g->step_h[k] = tco_stored(g->step_h[k]);
    for (size_t i = 0; i < g->n_demand; i++)
        d[i] = (struct demand_level){ g->demand[i].cards, tco_stored(g->demand[i].hours) };
    g->demand = d;
}

/* Usage as result.json holds it, so that a stored run priced again costs the same to the last
 * bit. */
static struct usage stored_usage(const struct usage *u, struct arena *a)
{
    struct usage_group *g = arena_array(a, u->n_groups, sizeof *g);
    struct usage s = *u;
    for (size_t i = 0; i < u->n_groups; i++) {
        g[i] = u->group[i];
        store_group(&g[i], a);
    }
    s.group = g;
    s.tenant = stored_tenants(u->tenant, u->n_tenants, a);
    s.team = stored_tenants(u->team, u->n_teams, a);
    s.klass = stored_tenants(u->klass, u->n_classes, a);
    s.hours = tco_stored(u->hours);
    s.useful_gpu_hours = tco_stored(u->useful_gpu_hours);
    return s;
}

/* Of the meter and of making the cards, spread over their life (reference TCO 3.9). */
static void add_carbon(struct tco_result *out, const struct usage *u, const struct price_book *b)
{
    double cards = 0, kwh = 0;
    for (size_t i = 0; i < u->n_groups; i++) {
        cards += (double)u->group[i].cards * usage_share(u, &u->group[i]);
        kwh += u->group[i].energy_kwh;
    }
    out->carbon_operation_kg = kwh * b->pue * b->grid_g_per_kwh / 1000;
    out->carbon_embodied_kg =
        cards * b->embodied_kg * u->hours / TCO_HOURS_PER_YEAR / b->embodied_life_y;
    out->carbon_kg_per_useful_gpu_hour = ratio(
        out->carbon_operation_kg + (isnan(out->carbon_embodied_kg) ? 0 : out->carbon_embodied_kg),
        u->useful_gpu_hours);
}

struct tco_result tco_price(const struct usage *as_run, const char *share_kind,
                            const struct price_book *book, struct arena *a)
{
    const struct usage rounded = a ? stored_usage(as_run, a) : *as_run, *u = &rounded;
    struct tco_result out = { .priced = true, .hours = u->hours, .base_cards = NAN };
    struct base *base = xcalloc(u->n_groups + 1, sizeof *base);
    struct err e = { 0 };
    double card_h = 0;
    if (tco_check(u, share_kind, book, &e) != 0) BUG("%s (tco_check was not called)", e.msg);
    quantity_bases(u, share_kind, book, base);
    const struct totals t = price_items(&out, u, share_kind, book, base, a);
    if (quantity_has_base(book)) out.base_cards = 0;
    for (size_t i = 0; i < u->n_groups; i++) {
        card_h += (double)u->group[i].cards * u->hours - u->group[i].absent_h;
        out.base_cards += base[i].cards;
    }
    out.total_usd = t.bill.usd;
    out.energy_usd = t.bill.energy_usd;
    out.usd_per_year = ratio(t.bill.usd * TCO_HOURS_PER_YEAR, u->hours);
    out.npv_usd = t.npv_usd;
    out.eac_usd = t.npv_usd / tco_annuity(book->rate, book->term_y);
    out.usd_per_gpu_hour = ratio(t.bill.usd, card_h);
    /* Useful hours are those of jobs; services pay by requests and tokens. */
    const double jobs_usd = t.bill.usd * charge_share_of_jobs(u, book->charge, &t.bill);
    out.usd_per_useful_gpu_hour = ratio(jobs_usd, u->useful_gpu_hours);
    out.usd_per_job = ratio(jobs_usd, (double)u->jobs_completed);
    add_carbon(&out, u, book);
    if (a) charge_all(&out, u, book->charge, &t.bill, a);
    if (a) months_fill(&out, book, a);
    free(base);
    return out;
}

double tco_charges(double *usd, const struct usage_tenant *tenant, size_t n, const struct usage *u,
                   const char *share_kind, const struct price_book *book)
{
    struct tco_result out = { 0 };
    struct base *base = xcalloc(u->n_groups + 1, sizeof *base);
    quantity_bases(u, share_kind, book, base);
    const struct totals t = price_items(&out, u, share_kind, book, base, NULL);
    charge_tenants(usd, tenant, n, u, book->charge, &t.bill);
    free(base);
    return t.bill.usd;
}

struct tco_rates tco_rates_after(const struct usage *u, const char *share_kind,
                                 const struct price_book *book)
{
    struct tco_result out = { 0 };
    struct tco_rates r = { .known = true };
    struct base *base = xcalloc(u->n_groups + 1, sizeof *base);
    quantity_bases(u, share_kind, book, base);
    const struct totals t = price_items(&out, u, share_kind, book, base, NULL);
    charge_rates(u, book->charge, &t.bill, &r.card_usd, &r.held_usd, &r.kwh_usd);
    free(base);
    return r;
}

/* What usage of before it was counted, or of another kind, does not say. */
static int check_counted(const struct usage *u, const struct usage_group *g, const char *share,
                         const struct price_book *b, struct err *e)
{
    for (size_t i = 0; i < b->n_items; i++) {
        const struct price_item *it = &b->item[i];
        if (!price_item_applies(it, g->gpu, share)) continue;
        if (it->driver == PRICE_spares && quantity_spares(it, u, g, 1) < 0)
            return err_set(e, ERR_INPUT, NULL,
                           "\"%s\": no number of spares for %lld cards reaches an "
                           "availability of %g",
                           it->name, (long long)g->cards, it->availability);
        if (u->hours <= 0) continue; /* a fleet before its run */
        if ((it->driver == PRICE_occupied_gpu_hour && isnan(g->occupied_h)) ||
            (it->step_s > 0 && isnan(g->step_h[0])) ||
            (it->driver == PRICE_overflow_gpu_hour && g->n_demand == 0)) {
            err_set(e, ERR_INPUT, NULL,
                    "\"%s\" needs the demand over time, which this usage does not have", it->name);
            err_hint(e, "it was stored by an older gpusim: run the scenario again");
            return ERR_INPUT;
        }
    }
    return 0;
}

int tco_check(const struct usage *fleet, const char *share_kind, const struct price_book *book,
              struct err *e)
{
    for (size_t i = 0; i < fleet->n_groups; i++) {
        int rc = price_book_covers(book, fleet->group[i].gpu, share_kind, e);
        if (rc == 0) rc = check_counted(fleet, &fleet->group[i], share_kind, book, e);
        if (rc != 0) return rc;
    }
    return 0;
}

/* Does the price of an hour depend on all of the run? */
static bool known_before(const struct price_item *it)
{
    return it->step_s == 0 && it->driver != PRICE_occupied_gpu_hour &&
           it->driver != PRICE_committed_gpu_hour && it->driver != PRICE_overflow_gpu_hour &&
           it->driver != PRICE_rent;
}

/* One hour in which every card is held and no energy is drawn, per card: what is paid for the
 * cards, and what for holding them. */
struct tco_rates tco_rates(const struct price_book *book, const char *share_kind,
                           const struct usage *fleet)
{
    struct usage_group *g = xcalloc(fleet->n_groups, sizeof *g);
    struct base *base = xcalloc(fleet->n_groups + 1, sizeof *base);
    const struct usage hour = { .hours = 1, .group = g, .n_groups = fleet->n_groups };
    struct tco_rates r = { .known = book->own == OWN_ALL };
    double cards = 0;
    for (size_t i = 0; i < fleet->n_groups; i++) {
        const struct usage_group *from = &fleet->group[i];
        g[i] = (struct usage_group){ .gpu = from->gpu,
                                     .nodes = from->nodes,
                                     .cards = from->cards,
                                     .allocated_h = (double)from->cards };
        base[i] = (struct base){ .cards = (double)from->cards, .owned = 1 };
        cards += (double)from->cards;
    }
    for (size_t i = 0; i < book->n_items; i++) {
        const struct scope s = { &hour, share_kind, book, &book->item[i], base, true };
        if (!known_before(s.item)) {
            if (tco_concerns(fleet, share_kind, s.item)) r.known = false;
            continue;
        }
        const double usd = quantity_window_usd(s.item, quantity_of(&s), 1);
        *(s.item->driver == PRICE_allocated_gpu_hour ? &r.held_usd : &r.card_usd) += usd;
    }
    free(g);
    free(base);
    r.card_usd = cards > 0 ? r.card_usd / cards : 0;
    r.held_usd = cards > 0 ? r.held_usd / cards : 0;
    r.kwh_usd = tco_kwh_usd(book);
    return r;
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
