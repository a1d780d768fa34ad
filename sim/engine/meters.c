#include "engine/meters.h"

#include <math.h>

void meters_settle(struct meter_group *g, simtime now)
{
    const wide elapsed = now - g->settled;
    if (elapsed == 0) return;
    for (int m = 0; m < METERS; m++) g->integral[m] += (wide)g->now[m] * elapsed;
    if (g->level_ns) g->level_ns[g->now[METER_OCCUPIED] / METER_CARD] += (int64_t)elapsed;
    g->settled = now;
}

void meters_move(struct meter_group *g, const int32_t old[METERS], const int32_t next[METERS],
                 simtime now)
{
    meters_settle(g, now);
    for (int m = 0; m < METERS; m++) g->now[m] += next[m] - old[m];
}

void meters_reset(struct meter_group *g, simtime now)
{
    meters_settle(g, now);
    for (int m = 0; m < METERS; m++) g->integral[m] = 0;
}

double meter_card_s(wide integral)
{
    return (double)integral / (double)METER_CARD / 1e9;
}

int32_t meter_share(double share)
{
    if (share == 0) return 0; /* the usual ones */
    if (share == 1) return (int32_t)METER_CARD;
    return (int32_t)lround(share * (double)METER_CARD);
}
