/* cost/tco.h - what a run costs: a pure function of (usage, price book). No clock, no engine, so a
 * stored run can be priced again in microseconds.
 *
 * Straight-line view (the window of the run, y = hours / 8760):
 *     once   amount x quantity x y / life          capital spread over its useful life
 *     year   amount x quantity x y
 *     use    amount x quantity                     energy = board kWh x PUE x price
 * Rent per card-hour that jobs hold is paid for (1 + lost_work) as many hours (spot).
 * Retention does not enter it. Cash-flow view over the planning term n at rate r, opex at year end
 * (reference TCO 3.4; a broken last year is paid at its end):
 *     NPV = capital at 0 (and again whenever a life ends) + sum opex (1 + r)^-t - residual (1 + r)^-n
 *     residual = amount x quantity x retention^age
 *     EAC = NPV / a(r, n),  a = (1 - (1 + r)^-n) / r, or n when r = 0
 * Taxes are left out. Amounts with a range count with their mode.
 *
 * Quantities: cost/quantity.h, with a base to own or commit to and the rest rented. Chargeback and cost by
 * class: cost/charge.h. Carbon (reference TCO 3.9), where the book states "grid" and "embodied":
 *     operation = board kWh x PUE x grid,  embodied = cards x kg x y / life
 *
 * Units: USD, hours, kWh. Ownership: the arena. Threads: pure functions. O(items x groups + tenants). */
#ifndef GPUSIM_COST_TCO_H
#define GPUSIM_COST_TCO_H

#include "model/price.h"
#include "model/result.h"
#include "model/usage.h"

#define TCO_HOURS_PER_YEAR 8760.0

/* `share_kind` ("mig") selects items that are paid under one sharing kind only; NULL: all.
 * Requires a price for every card of the usage: see tco_check(). Ratios without a denominator
 * (no job completed, no useful work) are NAN. Usage counts with the 15 digits that result.json
 * keeps, so that a stored run priced again costs the same. `a` may be NULL: then items and
 * charges are left out. */
struct tco_result tco_price(const struct usage *u, const char *share_kind,
                            const struct price_book *book, struct arena *a);

/* The total of tco_price(), and in usd[i] what tenant t[i] of the usage is charged of it: for many
 * draws of prices. The usage counts as it is. O(items x groups + tenants). */
double tco_charges(double *usd, const struct usage_tenant *t, size_t n, const struct usage *u,
                   const char *share_kind, const struct price_book *book);

/* 0, or ERR_INPUT naming the first card of the fleet (only `gpu` and `n_groups` are read) that the
 * book has no price for. Call it before a run: a missing price must not read as zero. */
int tco_check(const struct usage *fleet, const char *share_kind, const struct price_book *book,
              struct err *e);

/* Whether a fleet pays for an item at all: it has such a card and is shared in that way. */
bool tco_concerns(const struct usage *u, const char *share_kind, const struct price_item *it);

/* ---- for charges while the run is going ----
 * job cost = card-hours charged x card_usd + card-hours held x held_usd + board kWh x kwh_usd */

struct tco_rates {
    double card_usd, held_usd; /* an hour of a card; an hour of holding one (rent) */
    double kwh_usd;            /* at the board */
    /* false: some price depends on all of the run (billing steps, a base, occupied cards) */
    bool known;
};
/* Averaged over a fleet (only gpu, nodes, cards and n_groups of it are read): what charge_all()
 * comes to. */
struct tco_rates tco_rates(const struct price_book *book, const char *share_kind,
                           const struct usage *fleet);

/* The same once the run is over, whatever the book: what charge_all() went by. */
struct tco_rates tco_rates_after(const struct usage *u, const char *share_kind,
                                 const struct price_book *book);

/* Price of one kWh at the board, PUE included: items of driver "kwh" that are paid for all
 * cards. */
double tco_kwh_usd(const struct price_book *book);

/* A number with the 15 digits that result.json keeps of it. */
double tco_stored(double x);

/* Annuity factor: present value of 1 at the end of each of n years. */
double tco_annuity(double rate, double years);

#endif
