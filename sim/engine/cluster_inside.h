/* engine/cluster_inside.h - the fleet's own state, shared by its parts: cluster.c (plain cards,
 * nodes, gangs), cluster_nodes.c (the index of nodes) and cluster_mig.c (cards that are divided
 * into instances). For these files only. */
#ifndef GPUSIM_ENGINE_CLUSTER_INSIDE_H
#define GPUSIM_ENGINE_CLUSTER_INSIDE_H

#include "base/maxtree.h"
#include "engine/cluster.h"

/* Cards by (free units, free bytes, number): the first one at or after what is asked for is the
 * tightest, unless its bytes do not suffice. */
static inline int room_compare(const struct card *a, const struct card *b)
{
    if (a->free_units != b->free_units) return a->free_units < b->free_units ? -1 : 1;
    if (a->free_bytes != b->free_bytes) return a->free_bytes < b->free_bytes ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}
RB_HEAD(room, card);

/* Nodes of a group by how many of their cards are eligible: one set for each number, and the
 * numbers that some node has. A set is made when its number first comes up. */
struct nodes_by_free {
    size_t n;
    struct bits *with;
    struct bits numbers;
};

/* NVLink domains of a group, where gangs must keep to one: runs of `size` cards. n 0: no such
 * index. */
struct zones {
    int64_t size;
    size_t n;
    int32_t *eligible; /* by domain: cards that could take part in a gang */
    struct bits *with; /* by that count: which domains have it */
};

struct group {
    struct room room; /* cards with free units, where jobs may take less than a card */
    bool shared;      /* they may */
    struct nodes_by_free nodes;
    struct bits eligible; /* cards (within the group) that could take part in a gang */
    int32_t gang_units;   /* free units a card needs for that */
    struct zones zones;
    int64_t out;                /* cards out of service: in no index */
    int64_t free_units;         /* of all cards */
    struct maxtree units_of;    /* by card, with place_ops.by_number: free units; */
    struct maxtree eligible_on; /* by node: eligible cards */
    /* MIG only */
    const struct mig_geometry *mig;
    struct bits *idle; /* by profile: cards with a free instance of it */
    struct bits
        *by_mask;      /* by mask of kept units: on-demand cards with MIG on (made when needed) */
    struct bits masks; /* such masks that some card has */
    struct bits off;   /* empty cards with MIG off that may take a whole job */
};

struct cluster {
    const struct plan *plan;
    struct card *card;
    struct node *node;
    struct group *group;
    void *place_state;
};

static inline size_t cluster_in_group(const struct cluster *c, const struct card *card)
{
    return card->index - (size_t)c->plan->group[card->group].first_card;
}

static inline bool cluster_is_empty(const struct card *card, const struct plan_group *g)
{
    return card->tenants == 0 && card->free_units == g->capacity;
}

static inline void cluster_pick_reset(struct pick *out)
{
    out->card.n = 0;
    out->node = -1;
    out->slice = (struct mig_slice){ .profile = -1 };
    out->prepare = 0;
}

/* cluster.c: a card is taken out of the indices, changed, and put back. */
void cluster_unlist(struct cluster *c, struct card *card);
void cluster_list(struct cluster *c, struct card *card);

/* cluster.c, for its other parts: the first `want` cards of a node that fit, appended to the pick;
 * false: there are fewer. Has the second state of the request room for this card? */
bool cluster_cards_of_node(const struct cluster *c, const struct node *node,
                           const struct place_request *r, int64_t want, struct pick *out);
bool cluster_beside_holds(const struct place_request *r, uint32_t card, int64_t on_node);

/* cluster_nodes.c: nodes by how many of their cards are eligible. All nodes start with none. */
void cluster_nodes_init(struct nodes_by_free *x, const struct plan_group *pg);
void cluster_nodes_fini(struct nodes_by_free *x, const struct plan_group *pg);
/* Node `node` of the group had `old` eligible cards and has `now`. */
void cluster_nodes_move(struct nodes_by_free *x, size_t node, int32_t old, int32_t now);
/* The nodes with at least `want` eligible cards in the order of the preference: the one after `n`,
 * or the first for NULL. */
struct node *cluster_next_node(const struct cluster *c, int group, enum prefer prefer, int64_t want,
                               const struct node *n);

/* cluster_zone.c: NVLink domains and racks. */
void cluster_zones_init(struct zones *z, const struct plan *p, const struct plan_group *pg);
void cluster_zones_fini(struct zones *z);
/* Card `card` of the group can take part in a gang, or no longer. */
void cluster_zones_move(struct zones *z, size_t card, int delta);
/* A gang that cluster_in_domain(): cards of one domain. */
bool cluster_domain_cards(const struct cluster *c, enum prefer prefer,
                          const struct place_request *r, struct pick *out);
/* `whole` of these n wholly free nodes, as the plan wants racks. */
bool cluster_nodes_by_rack(const struct cluster *c, const struct place_request *r, int64_t whole,
                           struct node *const *node, size_t n, struct pick *out);

/* cluster_mig.c: the index and the instances of cards in groups with `mig`. */
void cluster_mig_init(struct group *g, const struct plan_group *pg);
void cluster_mig_fini(struct group *g);
void cluster_mig_card_init(struct card *card, const struct plan *p, const struct plan_group *g);
/* The card enters the group's index, or leaves it. */
void cluster_mig_list(struct cluster *c, const struct card *card, bool in);
/* Is there room for an instance of the profile on this card of a fleet in use? `empty`: the whole
 * card is free, so MIG may be turned on. */
bool cluster_mig_fits(const struct cluster *c, const struct card *card, int profile, bool empty);
/* Are instances being made on it? */
bool cluster_mig_making(const struct card *card);
/* Any card with MIG off that may take a whole job: no mode change. */
bool cluster_mig_off_card(const struct cluster *c, const struct place_request *r, struct pick *out);
/* How long until MIG is off on every picked card. */
simtime cluster_mig_off_delay(const struct cluster *c, const struct pick *p);
/* Slice -1: a whole job. */
void cluster_mig_change(struct card *card, const struct mig_geometry *g, struct mig_slice slice,
                        bool take);

#endif
