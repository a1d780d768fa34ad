#include "engine/fault_times.h"

#include "base/mem.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>

uint64_t fault_stream(uint64_t seed, uint64_t replication, const char *group)
{
    if (!group) return rng_mix(seed, replication, "faults.jobs");
    char *purpose = xasprintf("faults of %s", group);
    const uint64_t stream = rng_mix(seed, replication, purpose);
    free(purpose);
    return stream;
}

static simtime exponential(double u, simtime mean)
{
    const double t = -(double)mean * log(u);
    return t < 9.2e18 ? llround(t) : SIM_NEVER - 1;
}

simtime fault_unit_mtbf(const struct fault_rates *r, const struct fault_unit *u)
{
    return u->rack >= 0 ? r->rack_mtbf : u->card < 0 ? r->node_mtbf : r->card_mtbf;
}

simtime fault_unit_repair(const struct fault_rates *r, const struct fault_unit *u)
{
    return u->rack >= 0 ? r->rack_repair : u->card < 0 ? r->node_repair : r->card_repair;
}

/* A number of its own for each unit of a group. */
static uint64_t number_of(const struct fault_unit *u)
{
    return u->rack >= 0 ? ((uint64_t)u->rack << 24) ^ 0xffffff
                        : ((uint64_t)u->node << 24) ^ (uint64_t)(u->card + 1);
}

simtime fault_unit_stays(const struct fault_rates *r, uint64_t stream, const struct fault_unit *u,
                         uint32_t changes)
{
    const bool down = changes % 2;
    const simtime repair = fault_unit_repair(r, u);
    if (down && r->law == REPAIR_FIXED) return repair;
    return exponential(rng_at(stream, number_of(u), changes),
                       down ? repair : fault_unit_mtbf(r, u));
}

simtime fault_program_lasts(const struct fault_rates *r, uint64_t stream, uint64_t order,
                            int32_t attempt)
{
    if (r->job_mtbf == 0) return SIM_NEVER;
    return exponential(rng_at(stream, order, (uint64_t)attempt), r->job_mtbf);
}
