/* cost/charge.h - who pays for what (reference TCO 3.6).
 *
 * A tenant pays, for each hour, the share of a card that it keeps from others x what a card-hour costs:
 *     rule "allocated"  its share as the policy allocates it: compute slices, slots, the larger of core and
 *                       memory under interception
 *     rule "max"        the larger of its shares of compute and memory under every policy (of a slice: of
 *                       compute slices and memory units), scaled down where the tenants of a card add up
 *                       to more than the card
 * plus its own energy, plus what is rented by the hour it holds. A card-hour costs the fixed cost of the
 * fleet per provisioned card-hour, and the rent of whole cards per card-hour with any job on the card.
 * The lines (idle), (stranded) and (down) take the rest of the card-hours, and the energy nobody
 * caused, so the lines add up to the total. Stranded time that the rule charges to a tenant (the compute
 * slice beside two 3g slices, under "max") is no longer stranded.
 *
 * Ownership: the arena. Threads: pure functions. O(tenants). */
#ifndef GPUSIM_COST_CHARGE_H
#define GPUSIM_COST_CHARGE_H

#include "base/arena.h"
#include "model/price.h"
#include "model/result.h"

/* What the items of a book come to, by how they are charged. */
struct bill {
    double usd, energy_usd;
    double held_usd;     /* paid per card-hour that jobs hold */
    double occupied_usd; /* paid per card-hour with any job on the card */
};

/* What each of `t` is charged of a bill, without the lines that take the rest. O(groups +
 * tenants). */
void charge_tenants(double *usd, const struct usage_tenant *t, size_t n, const struct usage *u,
                    enum charge_rule rule, const struct bill *bill);

/* Part of a bill that jobs bring about, [0, 1]: what they are charged over what they and services
 * are; 1 where nothing is charged, or there are no services (tenants "service:NAME"). O(groups +
 * tenants). */
double charge_share_of_jobs(const struct usage *u, enum charge_rule rule, const struct bill *bill);

/* USD for a card-hour that is charged (rent of occupied cards included), for one that is held, for
 * a kWh at the board. */
void charge_rates(const struct usage *u, enum charge_rule rule, const struct bill *bill,
                  double *card_usd, double *held_usd, double *kwh_usd);

/* Fills out->charge, team and klass. */
void charge_all(struct tco_result *out, const struct usage *u, enum charge_rule rule,
                const struct bill *bill, struct arena *a);

#endif
