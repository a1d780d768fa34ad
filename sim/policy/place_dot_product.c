/* policy/place_dot_product.c - the node whose free cards and CPU cores point least in the direction
 * of the request (the alignment of Tetris, Grandl et al., SIGCOMM 2014, as the baseline of Weng et
 * al., "Beware of Fragmentation", ATC 2023, takes it: the smallest product wins, so what is
 * plentiful is kept). Score: trunc(100 (1 - 0.5 product)), both factors as fractions of the largest
 * node; the card with the least left. Ties, which this score makes frequent: a permutation of the
 * nodes drawn from the scenario's seed. */
#include "policy/nodescore.h"

#include <stdlib.h>

static int64_t score(void *self, const struct node_view *v, const struct place_request *r,
                     int64_t *card)
{
    const struct node_size *most = self;
    const struct demand *d = r->demand;
    double product = 0;
    if (d->cards == 1) *card = slot_tightest(v, d);
    if (most->gpus_milli > 0) {
        const double cards = most->gpus_milli / 1000 * v->group->capacity;
        product += (double)slot_free_units(v) / cards * ((double)d->cards * d->units / cards);
    }
    if (most->cpus_milli > 0 && v->group->node_cpus_milli != INT64_MAX &&
        r->cpus_milli != JOB_NO_INT)
        product += (double)v->node->free_cpus_milli / most->cpus_milli *
                   (r->cpus_milli / most->cpus_milli);
    return (int64_t)(100 * (1 - 0.5 * product));
}

static const struct node_rule rule = {
    .shuffled = true, .prefer = PREFER_TIGHTEST, .score = score, .destroy = free
};

static void *create(const struct cluster *c)
{
    struct node_size *most = xmalloc(sizeof *most);
    *most = largest_node(cluster_plan(c));
    return node_scores_create(c, &rule, most);
}

const struct place_ops place_dot_product = {
    .name = "dot_product",
    .help = "the node whose free capacity points least in the direction of the request",
    .create = create,
    NODE_SCORES_OPS,
};
