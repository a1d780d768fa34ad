/* policy/place_worst_fit.c - where most is left over: a share goes to the emptiest card, whole
 * cards to the emptiest node. MIG instances are placed as under best_fit. */
#include "policy/fits.h"

static bool pick(const struct cluster *c, const struct place_request *r, struct pick *out)
{
    return place_by(c, PREFER_LOOSEST, r, out);
}

const struct place_ops place_worst_fit = {
    .name = "worst_fit",
    .help = "the emptiest card, or for whole cards the emptiest node",
    .pick = pick,
};
