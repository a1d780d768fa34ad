#include "engine/checkpoint.h"

#include "engine/meters.h"

#include <math.h>

/* Checkpoints of the whole job: one at each multiple of `every` below its work. */
static simtime checkpoints(const struct checkpoint_rule *r, simtime work)
{
    return r->every > 0 && work > 0 ? (work - 1) / r->every : 0;
}

static wide whole_line(const struct checkpoint_rule *r, simtime work)
{
    return (wide)work + (wide)checkpoints(r, work) * r->cost;
}

simtime checkpoint_line(const struct checkpoint_rule *r, simtime work, simtime left)
{
    const simtime done = work - left;
    const simtime made = r->every > 0 && left > 0 ? done / r->every : checkpoints(r, work);
    const wide line = (wide)left + (wide)(checkpoints(r, work) - made) * r->cost;
    return line < SIM_NEVER ? (simtime)line : SIM_NEVER - 1;
}

/* Checkpoints that are made, and the time since the last one, when `line` remains. */
static simtime made(const struct checkpoint_rule *r, simtime work, simtime line, simtime *since)
{
    const wide at = whole_line(r, work) - line;
    const simtime all = checkpoints(r, work);
    simtime n = 0;
    if (all > 0) {
        const wide cycles = at / ((wide)r->every + r->cost);
        n = cycles < all ? (simtime)cycles : all;
    }
    *since = (simtime)(at - n * ((wide)r->every + r->cost));
    return n;
}

simtime checkpoint_left(const struct checkpoint_rule *r, simtime work, simtime line)
{
    simtime since;
    const simtime n = made(r, work, line, &since);
    if (n < checkpoints(r, work) && since > r->every) since = r->every; /* in the pause */
    return work - n * r->every - since;
}

simtime checkpoint_saved(const struct checkpoint_rule *r, simtime work, simtime line)
{
    simtime since;
    return made(r, work, line, &since) * r->every;
}

double checkpoint_young_s(double cost_s, double mtbf_s)
{
    return sqrt(2 * cost_s * mtbf_s);
}

double checkpoint_daly_s(double cost_s, double mtbf_s)
{
    const double x = cost_s / (2 * mtbf_s);
    if (x >= 1) return mtbf_s;
    return checkpoint_young_s(cost_s, mtbf_s) * (1 + sqrt(x) / 3 + x / 9) - cost_s;
}

double checkpoint_waste(double every_s, double cost_s, double restart_s, double mtbf_s)
{
    return cost_s / every_s + (every_s / 2 + restart_s) / mtbf_s;
}
