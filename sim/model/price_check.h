/* model/price_check.h - what may be wrong with a price book beyond its form: cards that do not
 * exist, cards taken for another, and amounts that are possible but unlikely. Pure functions. */
#ifndef GPUSIM_MODEL_PRICE_CHECK_H
#define GPUSIM_MODEL_PRICE_CHECK_H

#include "model/price.h"

/* Problems: an item for a card that the catalogue does not know; an item whose name states a memory
 * ("A40 16 GB") that its card does not have: price feeds match names by prefix (reference TCO
 * 2). */
void price_check_cards(const struct price_book *b, const struct json_doc *doc,
                       const struct gpu_catalogue *gpus, struct diag *d);

/* Doubts, one sentence each, with the item's name. `say` may be called any number of times. */
typedef void price_say(void *ctx, const char *sentence);
void price_doubts(const struct price_book *b, price_say *say, void *ctx);

#endif
