/* whatif/sweep_name.h - the name of a sweep's point: a hash of everything that its runs are a
 * function of.
 *
 * The version of the program, the resolved scenario, the choice of policies and figures, and the
 * contents of all files that whatif/inputs.h lists, each read once for all points. Ownership:
 * sweep_namer_destroy(). Threads: any may name. */
#ifndef GPUSIM_WHATIF_SWEEP_NAME_H
#define GPUSIM_WHATIF_SWEEP_NAME_H

#include "whatif/runner.h"
#include "whatif/sweep.h"

struct sweep_namer;

struct sweep_namer *sweep_namer_create(void);
void sweep_namer_destroy(struct sweep_namer *n); /* accepts NULL */
/* `r`: the point, loaded. ERR_IO: a file of it cannot be read. */
int sweep_name(struct sweep_namer *n, const struct runner *r, const struct sweep_options *o,
               char sha256[65], struct err *e);

#endif
