/* policy/route_least_outstanding.c - the replica with the fewest requests, waiting and in
 * service. */
#include "engine/route.h"

static double score(const struct route_replica *r)
{
    return (double)(r->waiting + r->in_service);
}

const struct route_ops route_least_outstanding = {
    .name = "least_outstanding",
    .help = "the replica with the fewest requests, waiting and in service",
    .score = score,
};
