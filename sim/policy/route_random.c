/* policy/route_random.c - any replica, equally likely: c separate queues (for Poisson arrivals, c
 * independent M/G/1). What a connection-level load balancer without memory does. */
#include "engine/route.h"

static size_t pick(const struct route_view *v)
{
    return v->by_rank(v, (size_t)gsl_rng_uniform_int(v->rng, (unsigned long)v->n));
}

const struct route_ops route_random = {
    .name = "random",
    .help = "any replica, equally likely",
    .pick = pick,
};
