#include "policy/fits.h"

bool place_by(const struct cluster *c, enum prefer prefer, const struct place_request *r,
              struct pick *out)
{
    const struct demand *d = r->demand;
    const struct plan_group *g = &cluster_plan(c)->group[r->group];
    if (d->cards == 0) return cluster_cpu_node(c, r, out);
    if (d->mig_profile >= 0) return cluster_instance(c, r, out);
    if (d->cards > 1 || d->units == g->capacity) return cluster_whole_cards(c, prefer, r, out);
    return cluster_one_card(c, prefer, r, out);
}
