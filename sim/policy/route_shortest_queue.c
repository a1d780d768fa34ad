/* policy/route_shortest_queue.c - join the shortest queue: the replica with the fewest waiting
 * requests; one that is free before one that is busy. */
#include "engine/route.h"

static double score(const struct route_replica *r)
{
    return (double)r->waiting + (r->in_service > 0 ? 0.5 : 0.0);
}

const struct route_ops route_shortest_queue = {
    .name = "shortest_queue",
    .help = "the replica with the fewest waiting requests, a free one first",
    .score = score,
};
