/* engine/route.h - which replica gets a request: the contract between the engine and a routing
 * policy. One file sim/policy/route_X.c defines `const struct route_ops route_X`.
 *
 * Either all replicas draw from one queue (`shared`), or the policy picks one of the replicas that
 * are up (`pick`), or it scores them and the engine, which keeps them indexed, takes the lowest
 * score (`score`; scores equal to a millionth: the lowest number). A request stays where it was
 * sent. `by_prompt`: the score also depends on what a replica's cache holds of the request, so the
 * engine asks every replica for each request.
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
    double hit; /* tokens of the request's prompt in its cache; by_prompt */
};

/* What there is to choose from, and for whom. */
struct route_view {
    size_t n;          /* replicas that are up */
    uint64_t session;  /* number of the request's session or user, from 1; 0: none */
    bool dense;        /* sessions are users of a closed loop, numbered without gaps */
    uint64_t sequence; /* requests routed before this one */
    gsl_rng *rng;      /* of this service and purpose */
    size_t places;     /* replicas there may be; each keeps its place, numbered from 0 */
    bool (*is_up)(const struct route_view *v, size_t place);
    size_t (*by_rank)(const struct route_view *v, size_t rank); /* its place; rank < n */
    const void *ctx;                                            /* the engine's */
};

struct route_ops {
    const char *name, *help;
    bool shared, by_prompt;
    /* The place of a replica that is up. */
    size_t (*pick)(const struct route_view *v);
    /* Lowest goes first. Must depend on the replica (and the request) alone. */
    double (*score)(const struct route_replica *r);
};

extern const struct route_ops *const route_all[]; /* NULL-terminated, sorted by name */

#endif
