/* engine/meters.h - card time by what it is: integrals of integer shares over integer time, exact
 * and the same on every machine.
 *
 * A share of one card is counted in 2^-30 of it (METER_CARD is the whole card). Per group, a meter
 * holds the sum over the cards and its integral over time since the last reset (end of warm-up).
 * Threads: one run, one thread. O(meters) per change. */
#ifndef GPUSIM_ENGINE_METERS_H
#define GPUSIM_ENGINE_METERS_H

#include "base/simtime.h"

#include <stddef.h>

#define METER_CARD (INT64_C(1) << 30)

enum meter {
    METER_ALLOCATED, /* held by jobs */
    METER_STRANDED,  /* free, but no legal placement reaches it */
    METER_DOWN,      /* out of service and empty: draws nothing */
    METER_ABSENT,    /* not in the fleet: costs nothing */
    METER_DUTY,      /* a kernel is resident */
    METER_SM,        /* SMs at work */
    METER_MEMORY,    /* usable bytes in use */
    METER_CONTEXT,   /* some process holds a context: decides idle power */
    /* the whole card, while any job is on it: what renting whole cards would bill */
    METER_OCCUPIED,
    METERS
};

__extension__ typedef __int128 wide; /* share x ns of a long run on a large fleet */

struct meter_group {
    int64_t now[METERS];
    wide integral[METERS]; /* 2^-30 cards x ns */
    simtime settled;
    int64_t *level_ns; /* time with k cards occupied, k = 0 ... cards; lent, NULL: not counted */
};

/* Integrals up to `now`. */
void meters_settle(struct meter_group *g, simtime now);
/* A card goes from shares `old` to `next` at `now`. */
void meters_move(struct meter_group *g, const int32_t old[METERS], const int32_t next[METERS],
                 simtime now);
void meters_reset(struct meter_group *g, simtime now); /* integrals back to 0 */

/* Card-seconds of an integral; a share 0..1 of a card as meters count it. */
double meter_card_s(wide integral);
int32_t meter_share(double share);

#endif
