/* policy/place_best_fit_node.c - the node on which the least is left over, cards and CPU cores
 * counted alike, then the card with the least left: what cluster managers call best fit. best_fit
 * of this program looks at cards alone.
 *
 * Score (the baseline of Weng et al., "Beware of Fragmentation", ATC 2023): trunc(100 (1 - 0.5
 * cpu_left / C - 0.5 gpu_left / G)) with what would be left on the node and C, G of the largest
 * node; without CPU limits trunc(100 (1 - gpu_left / G)). Ties: a permutation of the nodes drawn
 * from the scenario's seed. */
#include "policy/nodescore.h"

#include <stdlib.h>

static int64_t score(void *self, const struct node_view *v, const struct place_request *r,
                     int64_t *card)
{
    const struct node_size *most = self;
    const struct demand *d = r->demand;
    if (d->cards == 1) *card = slot_tightest(v, d);
    const double left = (double)(slot_free_units(v) - (int64_t)d->cards * d->units);
    const double gpu =
        most->gpus_milli > 0 ? 1000.0 * left / v->group->capacity / most->gpus_milli : 0;
    if (most->cpus_milli == 0 || v->group->node_cpus_milli == INT64_MAX)
        return (int64_t)(100 * (1 - gpu));
    const int32_t asked = r->cpus_milli == JOB_NO_INT ? 0 : r->cpus_milli;
    const double cpu = (double)(v->node->free_cpus_milli - asked) / most->cpus_milli;
    return (int64_t)(100 * (1 - 0.5 * cpu - 0.5 * gpu));
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

const struct place_ops place_best_fit_node = {
    .name = "best_fit_node",
    .help = "the node with the least left over, cards and CPU cores alike, then its fullest card",
    .create = create,
    NODE_SCORES_OPS,
};
