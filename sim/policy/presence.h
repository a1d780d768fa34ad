/* policy/presence.h - residents of one card that come to it, slow each other while they are there, and
 * leave it again: MPS clients, and turns in unequal parts.
 *
 * Each resident is away for a mean time, then at the card until a cycle's work is done; how long that
 * takes, were nobody to come or go, is the policy's word on who is present. That is a Markov chain
 * over the sets of those present. Its steady state starts from the product form that averages the
 * slowdown over the orders in which a set can have gathered (exact when the order does not matter,
 * as in processor sharing), is then made to let each kind of resident leave as often as it comes
 * (iterative scaling), and for small sets is swept to the steady state itself (Gauss and Seidel).
 *
 * Error of the rates against the chain solved exactly, random residents that are all different
 * (tests/oracle/test_speeds.c; mean and worst over a few seeds), and what mean value analysis made of
 * the same MPS clients before:
 *
 *     residents          up to 4   5            6            7            8            (8 before)
 *     MPS clients        rounding  1e-10, 1e-8  1e-7, 1e-5   1e-6, 1e-4   5e-5, 0.001  0.008, 0.06
 *     turns by weight    1e-8      1e-6, 0.001  5e-6, 0.002  4e-5, 0.001  4e-4, 0.015
 *
 * Whatever is handed out is handed out to those present, so no card gives more than it has.
 *
 * Units: seconds. Threads: calls work on their arguments. No memory is allocated. */
#ifndef GPUSIM_POLICY_PRESENCE_H
#define GPUSIM_POLICY_PRESENCE_H

#include <stdbool.h>
#include <stddef.h>

enum {
    PRESENCE_KINDS = 8,
    PRESENCE_STATES = 1024, /* product over the kinds of count + 1, of those that are ever away */
    PRESENCE_RESIDENTS = 64,
    PRESENCE_ASKS = 2,
};

/* Equal residents. */
struct presence_kind {
    double away;               /* mean time away per cycle; 0: always present */
    double ask[PRESENCE_ASKS]; /* what one asks of the card while present; added up by set */
    int count;
};

/* Set at_card[k] > 0 for each of the kinds (and, if you like, for columns after them), for one of it
 * that is present among residents that ask for `asked` together. Asked about every set: what a
 * kind that is not there gets does not matter. */
typedef void presence_fn(const void *ctx, const double asked[PRESENCE_ASKS],
                         double at_card[PRESENCE_KINDS]);

/* Few enough to be solved here? */
bool presence_fits(const struct presence_kind kind[], int kinds);

/* rate[k]: cycles per second of one resident of kind k. Requires presence_fits(). The last digits
 * depend on the order of the kinds: pass them in an order that their values decide.
 * O(states x kinds): 4 to 5 us for 8 different residents, 0.5 us for 4. */
void presence_rates(const struct presence_kind kind[], int kinds, presence_fn *fn, const void *ctx,
                    double rate[]);

#endif
