/* plots/sweep_doc.h - sweep.json (gpusim-sweep/1): is all there that a picture shows, of its type?
 *
 * Threads: nothing is shared. Time: O(members + points x axes x values). */
#ifndef GPUSIM_PLOTS_SWEEP_DOC_H
#define GPUSIM_PLOTS_SWEEP_DOC_H

#include "base/json.h"

/* ERR_INPUT with the first problem: a member that is missing or of another type, a point whose
 * values are not on the axes. */
int sweep_doc_check(const struct json_doc *doc, struct err *e);

#endif
