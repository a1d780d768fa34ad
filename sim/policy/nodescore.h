/* policy/nodescore.h - placements that weigh nodes: every node has a score for a request, the node
 * with the highest one gets it. What the node-level policies share.
 *
 * A rule scores one node for one request; this module remembers the scores for each request it has
 * seen (a tree of maxima over the nodes, one for each distinct request) and asks again only for
 * nodes that changed since. Requests are distinct by demand and, where nodes have such limits, by
 * CPU cores and host memory.
 *
 * All groups of the fleet are compared with each other. Ties: the first node in an order that is
 * either the fleet's or a permutation drawn from the scenario's seed. What no single node holds (a
 * gang larger than a node, or spread over nodes with gang "any"), instances of MIG and pooled cards
 * are placed group by group as under best_fit or worst_fit.
 *
 * Complexity: a pick costs O(log nodes) and one scoring for each node that changed since this
 * request was last seen; a request seen for the first time scores every node. Memory: 16 to 32
 * bytes per node and remembered request, at most about 64 MiB; then the one not seen for longest is
 * forgotten. Threads: one run, one thread. */
#ifndef GPUSIM_POLICY_NODESCORE_H
#define GPUSIM_POLICY_NODESCORE_H

#include "engine/cluster.h"

/* What is left on one card. */
struct slot {
    int32_t units;
    uint32_t owner; /* of its tenants; 0: anybody may come */
    uint64_t bytes;
};

struct node_view {
    const struct cluster *cluster;
    const struct node *node;
    const struct plan_group *group;
    const struct slot *slot; /* group->per_node of them */
};

#define NODE_NONE INT64_MIN /* the request does not fit */

struct node_rule {
    bool shuffled;      /* ties: by a permutation of the nodes */
    bool by_chance;     /* any node that fits, all equally likely */
    enum prefer prefer; /* for what no single node holds */
    /* The score of a node that holds the request (higher is better), and for a request for one card
     * which one, as its position in the node. Required. */
    int64_t (*score)(void *self, const struct node_view *v, const struct place_request *r,
                     int64_t *card);
    /* As in place_ops, optional. submitted() answers whether scores are different now. */
    void (*changed)(void *self, const struct node_view *v, const struct place_request *r,
                    bool take);
    bool (*submitted)(void *self, const struct place_request *r);
    void (*destroy)(void *self);
};

/* For place_ops.create: `self` (may be NULL) is handed to the rule and destroyed with it. */
struct node_scores *node_scores_create(const struct cluster *c, const struct node_rule *rule,
                                       void *self);

/* The other members of place_ops. */
void node_scores_destroy(void *state);
void node_scores_changed(void *state, int32_t node, const struct place_request *r, bool take);
void node_scores_serviced(void *state, int32_t node);
void node_scores_submitted(void *state, const struct place_request *r);
void node_scores_began(void *state);
bool node_scores_pick(const struct cluster *c, const struct place_request *r, struct pick *out);
int node_scores_pick_any(const struct cluster *c, const struct place_request *r, struct pick *out);
#define NODE_SCORES_OPS                                                                            \
    .pick = node_scores_pick, .pick_any = node_scores_pick_any, .destroy = node_scores_destroy,    \
    .changed = node_scores_changed, .serviced = node_scores_serviced,                              \
    .submitted = node_scores_submitted, .began = node_scores_began

/* For rules. */
static inline bool slot_holds(const struct slot *s, const struct demand *d)
{
    return s->units >= d->units && s->bytes >= d->reserve_bytes &&
           (s->owner == 0 || d->owner == 0 || s->owner == d->owner);
}
/* The card with the least left (then fewest bytes, then the first) or with the most. */
int64_t slot_tightest(const struct node_view *v, const struct demand *d);
int64_t slot_loosest(const struct node_view *v, const struct demand *d);
int64_t slot_free_units(const struct node_view *v); /* of the whole node */
/* Rules by chance. What they draw is a function of the scenario's seed, of how often a job has been
 * given cards in this run, and of how many stays of jobs on nodes there are as they ask (a trial
 * is another fleet, and draws otherwise). NODE_DRAWS nodes are drawn with the salts 1, 2, ..; where
 * none of them holds the request, one of those that do, with the salt after these. */
enum { NODE_DRAWS = 32 };
uint64_t node_chance(const struct plan *p, uint64_t begun, uint64_t stays, uint64_t salt);
uint64_t node_scores_chance(const struct cluster *c, uint64_t salt);
/* The largest node of the fleet: cards' worth in thousandths, CPU thousandths (0: no limits). */
struct node_size {
    double gpus_milli, cpus_milli;
};
struct node_size largest_node(const struct plan *p);

#endif
