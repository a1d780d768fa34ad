/* cost/quantity.h - how much of an item a run needs: drivers turn usage into quantities.
 *
 * A book with a base (own "base", or items of driver committed_gpu_hour) holds for each kind of
 * card the level K of the simulated demand with P(demand > K) = hourly cost of holding a card /
 * rent beyond (reference TCO 3.5, cost/breakeven.h), rounded up to whole nodes where it is
 * owned; the demand above K is rented. Owned cards then draw their part of the energy: idle
 * power by their number, the rest by the demand that they serve.
 *
 * Units: USD, hours, kWh. Threads: pure functions. O(items x groups). */
#ifndef GPUSIM_COST_QUANTITY_H
#define GPUSIM_COST_QUANTITY_H

#include "model/price.h"
#include "model/usage.h"

/* The part of one fleet group that is held, as owned or committed cards. */
struct base {
    double cards; /* held all the time */
    double owned; /* share of the group's cards that are owned: 1 without a base of owned cards */
    double owned_kwh;  /* board energy of those */
    double overflow_h; /* card-hours of demand beyond it; 0 without a base */
};

struct scope {
    const struct usage *u;
    const char *share; /* sharing kind; NULL: any */
    const struct price_book *book;
    const struct price_item *item;
    const struct base *base; /* by group */
    bool constants;          /* whether items of driver "constant" count */
};

/* Whether the book holds a base at all. */
bool quantity_has_base(const struct price_book *b);
/* base[0 .. u->n_groups). */
void quantity_bases(const struct usage *u, const char *share, const struct price_book *book,
                    struct base *base);
/* Units of s->item. */
double quantity_of(const struct scope *s);
/* Whether the driver is rent, paid by the card-hour. */
bool quantity_by_hour(enum price_driver d);
/* Straight-line cost of `q` units over `hours`. */
double quantity_window_usd(const struct price_item *it, double q, double hours);
/* Spare cards of a group, rounded up with it to whole nodes if the item says so; -1: no number
 * reaches the target. */
int64_t quantity_spares(const struct price_item *it, const struct usage *u,
                        const struct usage_group *g, double owned);

#endif
