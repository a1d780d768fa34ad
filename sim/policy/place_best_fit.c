/* policy/place_best_fit.c - where least is left over: a share goes to the fullest card that holds
 * it, whole cards to the fullest node that holds them, an instance to the fullest card. */
#include "policy/fits.h"

static bool pick(const struct cluster *c, const struct place_request *r, struct pick *out)
{
    return place_by(c, PREFER_TIGHTEST, r, out);
}

const struct place_ops place_best_fit = {
    .name = "best_fit",
    .help = "the fullest card, or for whole cards the fullest node, that holds the request",
    .pick = pick,
};
