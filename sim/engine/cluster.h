/* engine/cluster.h - the fleet's free capacity, indexed: cards by what is left on them, nodes by
 * how many cards are free, MIG cards by occupancy. Integers only, so the last job's end restores
 * the initial state exactly (P12).
 *
 * Queries look for a place and change nothing; cluster_take and cluster_give change it. Complexity:
 * a query or a change costs O(log cards) per card touched, whatever the fleet's size. Exceptions:
 * node limits (CPU cores, host memory) and owners are checked candidate by candidate, and jobs
 * without cards look through the nodes in order when nodes have such limits. Threads: one run, one
 * thread. */
#ifndef GPUSIM_ENGINE_CLUSTER_H
#define GPUSIM_ENGINE_CLUSTER_H

#include "base/bits.h"
#include "base/tree.h"
#include "engine/place.h"
#include "engine/plan.h"

/* An instance of a card in MIG mode. */
struct instance {
    struct mig_slice slice;
    bool busy;
    bool planned; /* stays when it is free: on-demand creation leaves its units alone */
    bool making;  /* planned, and not there yet */
};

struct card_instances {
    bool on;       /* MIG mode */
    bool fixed;    /* the layout is given, not made on demand */
    mig_mask busy; /* memory units of busy instances */
    mig_mask kept; /* of busy and planned ones: closed to instances made on demand */
    int n;
    struct instance instance[MIG_MAX_UNITS];
};

/* Why a card is out of service: several reasons may hold at once. */
enum out {
    OUT_FAULT = 1,  /* of the card */
    OUT_NODE = 2,   /* fault of its node */
    OUT_DRAIN = 4,  /* takes no new jobs; those on it run on */
    OUT_FAILED = 8, /* a failure that the scenario states */
    OUT_RACK = 32,  /* fault of its rack */
    OUT_ABSENT = 16 /* not in the fleet: not there yet, or removed */
};

/* Free capacity of one card. What runs on it is the business of engine/sim.h. */
struct card {
    RB_ENTRY(card) by_room;
    uint32_t index;
    int32_t node;
    int16_t group;
    bool listed; /* in the index by room */
    uint8_t out; /* enum out; 0: in service. Out of service nothing new fits */
    int32_t free_units;
    uint64_t free_bytes; /* still to be reserved */
    int32_t tenants;
    uint32_t owner;             /* of the tenants, where they must be of one; else 0 */
    struct card_instances *mig; /* NULL: plain units */
};

struct node {
    int32_t index; /* in the fleet */
    int16_t group;
    int32_t eligible; /* cards that could take part in a gang */
    int64_t free_cpus_milli;
    uint64_t free_host_bytes;
    uint8_t out; /* as of cards: the whole node, its CPU cores too */
};

struct cluster;

struct cluster *cluster_create(const struct plan *plan);
void cluster_destroy(struct cluster *c); /* accepts NULL */
const struct plan *cluster_plan(const struct cluster *c);
const struct card *cluster_card(const struct cluster *c, uint32_t card);
const struct node *cluster_node(const struct cluster *c, int32_t node);
void *cluster_place_state(const struct cluster *c); /* what place_ops.create() made; may be NULL */

/* ---- queries for placement policies; false: nothing fits now ---- */

enum prefer {
    PREFER_TIGHTEST, /* least left: fewest free units, then fewest free bytes, then lowest number */
    PREFER_LOOSEST,  /* most left: most free units, then most free bytes, then lowest number */
    PREFER_FIRST,    /* lowest number; needs place_ops.by_number */
};
/* One card with plain units that fits. */
bool cluster_one_card(const struct cluster *c, enum prefer prefer, const struct place_request *r,
                      struct pick *out);
/* Whole cards: on the node, by its number of eligible cards, that holds them all; a gang larger
 * than a node takes whole free nodes and the rest on one more; with any_node, whatever is free
 * when no single node holds it. Cards of a node are taken in order of number; slots under
 * PREFER_LOOSEST on the cards with the most left, except on the whole nodes of a larger gang,
 * across nodes, and in a domain. A gang that cluster_in_domain(): on the domain, by its number
 * of eligible cards, that holds it; there whole free nodes, then the rest on the node with the
 * fewest eligible cards. */
bool cluster_whole_cards(const struct cluster *c, enum prefer prefer, const struct place_request *r,
                         struct pick *out);
/* Must this gang keep to one NVLink domain, which no single node decides? Then
 * cluster_whole_cards() sees to it, and choices of a node by other means do not. */
bool cluster_in_domain(const struct cluster *c, const struct place_request *r);
/* Speed of a gang on these cards, for the wires between them: 1, or the group's factor for gangs
 * that cross NVLink domains or racks. */
double cluster_gang_speed(const struct plan *p, int group, const struct pick *pick);
/* A MIG instance: a free one of the right profile (lowest card first; of several on it, that
 * made first), else one that can be made on the card with the fewest units left (then the lowest
 * mask of units kept, then the lowest number), else on an empty card whose MIG mode must be
 * turned on. Free instances in its way go as it is taken, the others stay. On demand all cards
 * begin in MIG mode, without an instance. */
bool cluster_instance(const struct cluster *c, const struct place_request *r, struct pick *out);
/* A node with room for a job without cards: the first. */
bool cluster_cpu_node(const struct cluster *c, const struct place_request *r, struct pick *out);

/* ---- changes ---- */

void cluster_take(struct cluster *c, const struct place_request *r, const struct pick *p);
/* Give back what cluster_take took; `cards` as they were picked. */
void cluster_give(struct cluster *c, const struct place_request *r, const struct pick *p);

/* A card, or a node with its CPU cores and host memory (not its cards), goes out of service or
 * comes back: reasons `set` are added, `clear` taken away. Jobs on it stay until they are given
 * back. */
void cluster_card_service(struct cluster *c, uint32_t card, unsigned set, unsigned clear);
void cluster_node_service(struct cluster *c, int32_t node, unsigned set, unsigned clear);
/* Cards of a group that could take part in a gang. */
int64_t cluster_eligible(const struct cluster *c, int group);
/* How long it takes to make this pick's instances, or to turn MIG off, as the cards are now. */
simtime cluster_prepare(const struct cluster *c, int group, const struct pick *p);
/* Cards of a group that are out of service. */
int64_t cluster_cards_out(const struct cluster *c, size_t group);
/* Capacity units of a group that nobody holds, on cards out of service too. O(1). */
int64_t cluster_units_free(const struct cluster *c, size_t group);
/* Planned layouts: from now on the card has these instances and keeps them; running ones among them
 * stay, free ones in their way go, those that are missing are being made. Returns how long that
 * takes; 0: nothing is made. Until cluster_carved() they cannot be used, nor the card by a whole
 * job, which else may take any empty card and with it the planned instances. Not for fixed
 * layouts. */
simtime cluster_carve(struct cluster *c, uint32_t card, const struct mig_layout *layout);
void cluster_carved(struct cluster *c, uint32_t card);
/* Has the card these instances, and keeps no others? Then cluster_carve() changes nothing. */
bool cluster_is_carved(const struct cluster *c, uint32_t card, const struct mig_layout *layout);
/* A card gets the instances that it has in another cluster of the same plan. Who runs on it must
 * be the same. */
void cluster_copy_instances(struct cluster *to, const struct cluster *from, uint32_t card);

/* True when every card and node is as it was at the start (instances made on demand may remain). */
bool cluster_is_whole(const struct cluster *c);
/* Of one card, for the shares of card time: capacity units in use and stranded. */
int32_t cluster_used_units(const struct cluster *c, uint32_t card);
int32_t cluster_stranded_units(const struct cluster *c, uint32_t card);
/* Whole cards of one node are as good as each other: choose them anew, those first that have no
 * room in `other`, a second state of the same fleet, so that cards free in both stay for those who
 * need both. With any_node and no node limits, among all cards of the group. Else, and where the
 * request takes less than whole cards, the pick stays as it is. */
void cluster_prefer_taken(const struct cluster *c, const struct cluster *other,
                          const struct place_request *r, struct pick *p);
/* The other way round: those first that have room in `other`. */
void cluster_prefer_free(const struct cluster *c, const struct cluster *other,
                         const struct place_request *r, struct pick *p);
/* Could exactly this pick be taken now? (Plain units and CPU-only jobs.) */
bool cluster_holds(const struct cluster *c, const struct place_request *r, const struct pick *p);
/* Has the node CPU cores and host memory for `on_node` of the request's cards (1 for a job
 * without)? */
bool cluster_node_holds(const struct cluster *c, int32_t node, const struct place_request *r,
                        int64_t on_node);
/* CPU cores (thousandths) and bytes of the host of a job, for `on_node` of its `cards`; rounded
 * up. */
int64_t cluster_cpus_for(const struct place_request *r, int64_t on_node, int64_t cards);
uint64_t cluster_host_bytes_for(const struct place_request *r, int64_t on_node, int64_t cards);
/* Would the demand fit on this card now (node limits aside)? */
bool cluster_card_fits(const struct cluster *c, uint32_t card, const struct demand *d);

#endif
