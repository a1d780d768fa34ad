/* engine/route.h - which replica gets a request: the contract between the engine and a routing policy. One
 * file sim/policy/route_X.c defines `const struct route_ops route_X`.
 *
 * Either all replicas draw from one queue (`shared`), or the policy picks one of the replicas that are
 * up (`pick`), or it scores them and the engine, which keeps them indexed, takes the lowest score
 * (`score`; equal scores: the lowest number). A request stays where it was sent.
 *
 * Threads: ops are read-only; state belongs to one run. */
#ifndef GPUSIM_ENGINE_ROUTE_H
#define GPUSIM_ENGINE_ROUTE_H

#include "base/cfg.h"

#include <gsl/gsl_rng.h>

/* A replica, as a router sees it. */
struct route_replica {
    uint64_t waiting, in_service;         /* requests */
    double waiting_size, in_service_size; /* their sizes: seconds, or tokens in and out */
};

/* What there is to choose from, and for whom. */
struct route_view {
    size_t n;          /* replicas that are up, numbered from 0 */
    uint64_t session;  /* number of the request's session or user, from 1; 0: none */
    uint64_t sequence; /* requests routed before this one */
    gsl_rng *rng;      /* of this service and purpose */
};

struct route_ops {
    const char *name, *help;
    bool shared;
    size_t (*pick)(const struct route_view *v);
    /* Lowest goes first. Must depend on the replica alone. */
    double (*score)(const struct route_replica *r);
};

extern const struct route_ops *const route_all[]; /* NULL-terminated, sorted by name */

#endif
