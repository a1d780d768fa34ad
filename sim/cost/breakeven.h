/* cost/breakeven.h - where owning and renting cost the same, and how much to commit to
 * (reference TCO 3.5). NAN: the curves do not cross, which is an answer ("none").
 *
 * Units: USD, months, shares 0..1. Pure functions; any thread. */
#ifndef GPUSIM_COST_BREAKEVEN_H
#define GPUSIM_COST_BREAKEVEN_H

#include "model/usage.h"

#include <stddef.h>

/* Share of use x at which owning (`idle_usd` a year at use 0, `busy_usd` at use 1, linear between)
 * costs as much as paying `rent_usd` a year x use. Above it owning is cheaper. NAN when not in
 * 0..1. With idle = busy this is EAC / (8760 x cards x price). */
double breakeven_use(double idle_usd, double busy_usd, double rent_usd);

/* Months m after which what owning has cost, upfront + own a month, is worth no more than what
 * renting has: the smallest m with PV(own, m) <= PV(rent, m). Not rounded to whole months. Capital
 * is not spread over the months: it would be counted twice. What a sale would bring does not count.
 * NAN when not within `limit` months. `rate` per month. */
double breakeven_months(double upfront_usd, double own_usd, double rent_usd, double rate,
                        double limit);

/* Rent per used card-hour at which both cost the same: EAC / (8760 x cards x use). NAN at use 0. */
double breakeven_price(double eac_usd, double cards, double use);

/* ---- the base and the peak ---- */

/* Cards to own or reserve: the smallest level K of the distribution with
 * P(demand > K) <= c_fixed / p_ondemand; 0 when committing never pays (c_fixed >= p_ondemand and
 * some demand is 0). `d` must be sorted by cards; its hours
 * are weights. O(n). */
double commit_level(const struct demand_level *d, size_t n, double c_fixed, double p_ondemand);
/* USD per hour with K committed: c_fixed K + p_ondemand E[(demand - K)+]. O(n). */
double commit_usd_per_hour(const struct demand_level *d, size_t n, double level, double c_fixed,
                           double p_ondemand);

#endif
