/* policy/place_pack.c - fill a node before the next is touched, so that whole nodes stay empty: the
 * node with the largest share of its cards' capacity in use that holds the request, then the card
 * with the least left. Ties: the lowest number. */
#include "policy/nodescore.h"

static int64_t score(void *self, const struct node_view *v, const struct place_request *r,
                     int64_t *card)
{
    const double all = (double)v->group->capacity * (double)v->group->per_node;
    (void)self;
    if (r->demand->cards == 1) *card = slot_tightest(v, r->demand);
    return all > 0 ? (int64_t)(1e12 * (1 - (double)slot_free_units(v) / all)) : 0;
}

static const struct node_rule rule = { .prefer = PREFER_TIGHTEST, .score = score };

static void *create(const struct cluster *c)
{
    return node_scores_create(c, &rule, NULL);
}

const struct place_ops place_pack = {
    .name = "pack",
    .help = "the fullest node that holds the request, then its fullest card",
    .create = create,
    NODE_SCORES_OPS,
};
