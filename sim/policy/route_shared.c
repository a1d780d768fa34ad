/* policy/route_shared.c - one queue for all replicas: whoever is free takes the head. No replica is
 * idle while a request waits, so no routing can do better without knowing sizes; real front ends
 * come close when they hold requests back. */
#include "engine/route.h"

const struct route_ops route_shared = {
    .name = "shared",
    .help = "one queue; a replica that is free takes its head",
    .shared = true,
};
