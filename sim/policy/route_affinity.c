/* policy/route_affinity.c - a session stays with its replica (for its cache, or its state): sessions and
 * closed-loop users are numbered as they first come, and number k goes to replica k modulo the replicas
 * that are up. While their number stays, so does everybody; when it changes, most sessions move.
 * Requests without a session go in turn. */
#include "engine/route.h"

static size_t pick(const struct route_view *v)
{
    return (size_t)((v->session ? v->session - 1 : v->sequence) % v->n);
}

const struct route_ops route_affinity = {
    .name = "affinity",
    .help = "a session stays with its replica",
    .pick = pick,
};
