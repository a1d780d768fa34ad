/* policy/presence.h - residents of one card that come to it, slow each other while they are there,
 * and leave it again: MPS clients, and turns in unequal parts.
 *
 * Each resident is away for a mean time, then at the card until a cycle's work is done; how long
 * that takes, were nobody to come or go, is the policy's word on who is present. That is a Markov
 * chain over the sets of those present. Its steady state starts from the product form that averages
 * the slowdown over the orders in which a set can have gathered (exact when the order does not
 * matter, as in processor sharing), which is scaled to let each kind of resident leave as often as
 * it comes (iterative scaling). Where that changes something, chains of up to 64 states (six
 * different residents) are solved by elimination (Grassmann, Taksar and Heyman 1985), after the
 * states with an odd number present are taken out: no two of them are neighbours. Larger ones are
 * scaled once more, and those of up to 170 states or so swept once (Gauss and Seidel).
 *
 * Error of the rates against the chain solved otherwise, random residents that are all different
 * (tests/oracle/test_speeds.c; mean and worst over a few seeds), and what mean value analysis made
 * of the same MPS clients before:
 *
 *     residents          up to 6   7            8            (8 before)
 *     MPS clients        rounding  2e-6, 1e-4   5e-5, 0.001  0.008, 0.06
 *     turns by weight    rounding  4e-5, 0.001  4e-4, 0.015
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

/* Set at_card[i] > 0 for one of `kind` that is present among residents that ask for first[i] and
 * second[i] together, i < n. Also asked about sets without any of the kind: what it gets there does
 * not matter. */
typedef void presence_fn(const void *ctx, int kind, const double *first, const double *second,
                         size_t n, double *restrict at_card);

/* Few enough to be solved here? */
bool presence_fits(const struct presence_kind kind[], int kinds);

/* rate[k]: cycles per second of one resident of kind k. Requires presence_fits(). The last digits
 * depend on the order of the kinds: pass them in an order that their values decide.
 * O(states x kinds), up to 64 states their cube: 4 us for 8 different residents, 0.8 us for 4. */
void presence_rates(const struct presence_kind kind[], int kinds, presence_fn *fn, const void *ctx,
                    double rate[]);

#endif
