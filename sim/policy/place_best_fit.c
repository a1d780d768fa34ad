/* policy/place_best_fit.c - where least is left over: a share goes to the fullest card that holds
 * it, whole cards to the fullest node that holds them, an instance to the fullest card. */
#include "engine/cluster.h"

static bool pick(const struct cluster *c, const struct place_request *r, struct pick *out)
{
    const struct demand *d = r->demand;
    const struct plan_group *g = &cluster_plan(c)->group[r->group];
    if (d->cards == 0) return cluster_cpu_node(c, r, out);
    if (d->mig_profile >= 0) return cluster_instance(c, r, out);
    if (d->cards > 1 || d->units == g->capacity) return cluster_tightest_nodes(c, r, out);
    return cluster_tightest_card(c, r, out);
}

const struct place_ops place_best_fit = {
    .name = "best_fit",
    .help = "the fullest card, or for whole cards the fullest node, that holds the request",
    .pick = pick,
};
