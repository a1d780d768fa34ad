/* engine/place.h - which cards a job gets: the contract between the scheduler and a placement
 * policy. One file sim/policy/place_X.c defines `const struct place_ops place_X`.
 *
 * A placement policy picks among cards through the cluster's indices (engine/cluster.h) and changes
 * nothing; the same history of the fleet gives the same pick.
 *
 * A policy that weighs nodes against each other may keep a state for each cluster and be told what
 * happens there (policy/nodescore.h does the common part). All of these hooks may be NULL. */
#ifndef GPUSIM_ENGINE_PLACE_H
#define GPUSIM_ENGINE_PLACE_H

#include "base/vec.h"
#include "engine/share.h"

struct cluster;

/* What has to be placed on one group of cards. */
struct place_request {
    int group;
    const struct demand *demand;
    bool any_node;      /* a gang may take cards of any node */
    int32_t cpus_milli; /* of the whole job; spread over its cards */
    uint64_t host_bytes;
    /* NULL, or a second state of the same fleet in which the cards must have room as well (the time
     * of a reservation): for the scheduler's own questions, policies need not look. Plain units
     * only. */
    const struct cluster *beside;
};

/* Where it goes. Cards ascending, different; `slice` for a request for an instance. */
struct pick {
    VEC(uint32_t) card;
    int32_t node;           /* CPU-only jobs: the node */
    struct mig_slice slice; /* profile -1: none */
    simtime prepare;        /* instances are made or modes changed before the job can start */
};

struct place_ops {
    const char *name, *help;
    bool by_number; /* it asks for cards by number: the cluster keeps the indices for that */
    /* False: nothing fits now (then *out is unspecified but for its memory). */
    bool (*pick)(const struct cluster *c, const struct place_request *r, struct pick *out);
    /* Instead of pick() group by group: the best place in the whole fleet. One request for each
     * group, its demand NULL where the job cannot be served. Returns the group; -1: nothing
     * fits. */
    int (*pick_any)(const struct cluster *c, const struct place_request *r, struct pick *out);
    /* State of one cluster, all of it free (cluster_place_state()); destroy() gets what create()
     * made. */
    void *(*create)(const struct cluster *c);
    void (*destroy)(void *state);
    /* The node has just given to, or got back from, this request. */
    void (*changed)(void *state, int32_t node, const struct place_request *r, bool take);
    /* Cards of the node, or the node itself, went out of service or came back. */
    void (*serviced)(void *state, int32_t node);
    /* A job was submitted: one request for each group, as for pick_any(). */
    void (*submitted)(void *state, const struct place_request *r);
    /* A job has been given cards in this run (not only in a trial). */
    void (*began)(void *state);
};

extern const struct place_ops *const place_all[]; /* NULL-terminated, sorted by name */

#endif
