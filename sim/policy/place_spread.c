/* policy/place_spread.c - keep neighbours apart: the node with the smallest share of its cards'
 * capacity in use, then the card with the most left. Ties: the lowest number. */
#include "policy/nodescore.h"

static int64_t score(void *self, const struct node_view *v, const struct place_request *r,
                     int64_t *card)
{
    const double all = (double)v->group->capacity * (double)v->group->per_node;
    (void)self;
    if (r->demand->cards == 1) *card = slot_loosest(v, r->demand);
    return all > 0 ? (int64_t)(1e12 * ((double)slot_free_units(v) / all)) : 0;
}

static const struct node_rule rule = { .prefer = PREFER_LOOSEST, .score = score };

static void *create(const struct cluster *c)
{
    return node_scores_create(c, &rule, NULL);
}

const struct place_ops place_spread = {
    .name = "spread",
    .help = "the emptiest node that holds the request, then its emptiest cards",
    .create = create,
    NODE_SCORES_OPS,
};
