/* cli/card.h - the card that a command line names. */
#ifndef GPUSIM_CLI_CARD_H
#define GPUSIM_CLI_CARD_H

#include "model/gpu.h"

/* 0, or ERR_USAGE with the cards that may have been meant. */
int card_find(const struct gpu_catalogue *c, const char *name, const struct gpu_spec **out,
              struct err *e);
/* Print a document on standard output and free it. */
void json_print(json_t *answer);

#endif
