/* cost/months.h - cash month by month, and the month at which buying has paid against renting.
 *
 * Paid by the end of month m, undiscounted: capital at month 0 and again whenever a life ends
 * within the term, everything else in twelfths of a year at month ends. A resale is not counted:
 * it is money that is not there yet. Capital is not spread over months either, it would be
 * counted twice (reference TCO 3.5). Buying has paid at month m when from then on to the end of
 * the term it has cost no more than renting.
 *
 * Units: USD, months. Ownership: the arena. Threads: pure functions. O(items x months). */
#ifndef GPUSIM_COST_MONTHS_H
#define GPUSIM_COST_MONTHS_H

#include "base/arena.h"
#include "model/price.h"
#include "model/result.h"

/* Fills the months of a run priced with `book`, whose items out->item lends in their order. */
void months_fill(struct tco_result *out, const struct price_book *book, struct arena *a);

/* Whether nothing is bought and something is paid by the card-hour. */
bool months_rented(const struct tco_result *t);

/* `own` against renting what costs `rent->usd_per_year` all along. */
struct payback months_payback(const struct tco_result *own, const char *name,
                              const struct tco_result *rent, struct arena *a);

/* One more row of own->payback, where something is bought. */
void months_add_payback(struct tco_result *own, const char *name, const struct tco_result *rent,
                        struct arena *a);

/* Each policy that buys against each that rents. */
void months_paybacks(struct policy_result *p, size_t n, struct arena *a);

#endif
