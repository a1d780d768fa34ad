/* cli/problems.h - how a command tells the problems of its input. */
#ifndef GPUSIM_CLI_PROBLEMS_H
#define GPUSIM_CLI_PROBLEMS_H

#include "base/diag.h"

/* The first problem in *e, with a word about how many more there are; its code. */
int problems_first(const struct diag *d, struct err *e);
/* All that were kept, on standard error; then how many were not. */
void problems_print(const struct diag *d);

#endif
