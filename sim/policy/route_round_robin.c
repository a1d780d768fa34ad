/* policy/route_round_robin.c - the replicas in turn, however busy they are. */
#include "engine/route.h"

static size_t pick(const struct route_view *v)
{
    return v->by_rank(v, (size_t)(v->sequence % v->n));
}

const struct route_ops route_round_robin = {
    .name = "round_robin",
    .help = "the replicas in turn",
    .pick = pick,
};
