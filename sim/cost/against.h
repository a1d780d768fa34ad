/* cost/against.h - the break-evens of a simulated run under one price book (owned) against another
 * (rented): what use, how many months, which rent would make both cost the same (reference TCO
 * 3.5).
 *
 * Use is the share of card time that jobs hold. Were it another, the energy beyond idle and the
 * rent per hour held would follow it, and the rest of the cost would stay; rent that is paid for
 * idle cards too has no break-even in use. Pure functions. */
#ifndef GPUSIM_COST_AGAINST_H
#define GPUSIM_COST_AGAINST_H

#include "cost/tco.h"

struct against {
    double own_eac_usd, rent_eac_usd;
    double use;           /* as simulated */
    double breakeven_use; /* above it owning is cheaper; NAN: the curves do not cross in 0..1 */
    /* within the term of the owned book, no resale; NAN: never. Where something is bought again
     * within the term, the whole month from which it stays paid back */
    double breakeven_months;
    /* rent per card-hour held at which both cost the same; NAN: none held */
    double breakeven_price_usd;
};

/* tco_check() must have passed for both books. */
struct against tco_against(const struct usage *u, const char *share, const struct price_book *own,
                           const struct price_book *rent);

#endif
