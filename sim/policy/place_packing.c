/* policy/place_packing.c - open as little as possible: a share goes to a card in use, else to an
 * idle card of a node in use, else to an idle node; whole cards go to a node in use before an idle
 * one (as Weng et al., "MLaaS in the Wild", NSDI 2022, describe their production rule). Among
 * equals where the least is left: of the card for a card in use, else of the node. Jobs without
 * cards take any node that holds them. Ties: a permutation of the nodes drawn from the scenario's
 * seed. */
#include "policy/nodescore.h"

enum tier { IDLE_NODE, USED_NODE, USED_CARD };

static int64_t score(void *self, const struct node_view *v, const struct place_request *r,
                     int64_t *card)
{
    const int64_t left = slot_free_units(v), all = (int64_t)v->group->capacity * v->group->per_node;
    enum tier tier = left < all ? USED_NODE : IDLE_NODE;
    int64_t open = left;
    (void)self;
    if (r->demand->cards == 0) return 0;
    if (r->demand->cards == 1) {
        *card = slot_tightest(v, r->demand);
        if (v->slot[*card].units < v->group->capacity) {
            tier = USED_CARD;
            open = v->slot[*card].units;
        }
    }
    return ((int64_t)tier << 40) - open;
}

static const struct node_rule rule = { .shuffled = true,
                                       .prefer = PREFER_TIGHTEST,
                                       .score = score };

static void *create(const struct cluster *c)
{
    return node_scores_create(c, &rule, NULL);
}

const struct place_ops place_packing = {
    .name = "packing",
    .help = "cards in use first, then idle cards of nodes in use, then idle nodes",
    .create = create,
    NODE_SCORES_OPS,
};
