/* whatif/inputs.h - every file that a loaded scenario is a function of, beside the scenario's own:
 * for the provenance in a result, and for the names of a sweep's points.
 *
 * Ownership: paths are lent. Threads: plain data, but for the caller's callback. Errors: those
 * of the callback. */
#ifndef GPUSIM_WHATIF_INPUTS_H
#define GPUSIM_WHATIF_INPUTS_H

#include "whatif/runner.h"

/* Non-zero ends. */
typedef int each_input(void *ctx, const char *kind, const char *path, struct err *e);

/* What an item of work is read from; NULL: all of it stands in the scenario. */
const char *input_of_work(const struct work_item *w);
/* The recordings that the specification at `path` draws jobs from ("recording"); of one that
 * cannot be read: none. */
int inputs_recorded(const char *path, each_input *each, void *ctx, struct err *e);
/* Of the chosen policies: cards ("gpu"), profiles ("profile"), measured pairs ("pairs"), price
 * books ("prices"); language models ("model"), the class defaults and steps of language models
 * ("classes", "steps"). A file may come several times. */
int inputs_beside(const struct runner *r, each_input *each, void *ctx, struct err *e);

#endif
