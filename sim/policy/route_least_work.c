/* policy/route_least_work.c - length-aware: the replica with the least work by the sizes of its
 * requests (seconds, or tokens in and out), which a router knows only where it can tell them in
 * advance. */
#include "engine/route.h"

static double score(const struct route_replica *r)
{
    return r->waiting_size + r->in_service_size;
}

const struct route_ops route_least_work = {
    .name = "least_work",
    .help = "length-aware: the replica with the least work by the sizes of its requests",
    .score = score,
};
