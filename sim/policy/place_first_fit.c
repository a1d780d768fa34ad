/* policy/place_first_fit.c - the card, or for whole cards the node, with the lowest number that
 * holds the request. MIG instances are placed as under best_fit. */
#include "policy/fits.h"

static bool pick(const struct cluster *c, const struct place_request *r, struct pick *out)
{
    return place_by(c, PREFER_FIRST, r, out);
}

const struct place_ops place_first_fit = {
    .name = "first_fit",
    .help = "the lowest card number, or for whole cards the lowest node number, that fits",
    .by_number = true,
    .pick = pick,
};
