/* policy/place_random.c - any node that holds the request, all equally likely, and on it any card
 * that does (a gang: the first cards that do). A baseline. What is drawn: nodescore.h. */
#include "policy/nodescore.h"

#include "base/err.h"

static int64_t score(void *self, const struct node_view *v, const struct place_request *r,
                     int64_t *card)
{
    (void)self;
    if (r->demand->cards != 1) return 0;
    uint64_t fit = 0;
    for (int64_t i = 0; i < v->group->per_node; i++) fit += slot_holds(&v->slot[i], r->demand);
    BUG_ON(fit == 0); /* nodes that hold nothing are not asked */
    uint64_t skip = node_scores_chance(v->cluster, 0) % fit;
    for (int64_t i = 0; i < v->group->per_node; i++)
        if (slot_holds(&v->slot[i], r->demand) && skip-- == 0) *card = i;
    return 0;
}

static const struct node_rule rule = { .by_chance = true,
                                       .prefer = PREFER_TIGHTEST,
                                       .score = score };

static void *create(const struct cluster *c)
{
    return node_scores_create(c, &rule, NULL);
}

const struct place_ops place_random = {
    .name = "random",
    .help = "any node and card that hold the request, all equally likely",
    .create = create,
    NODE_SCORES_OPS,
};
