/* plots/size_plots.h - pictures of a sizing, from its stored answer (size.json): each target's
 * figure against the number of cards, with the target.
 *
 *   size_curve_K_FIGURE       the K-th target: a line a policy (a dashed one for each further value of --over), bands of
 *                             95 % where there are replications. Hollow: a fleet that misses some target. A figure
 *                             that a fleet does not have (percentiles of a queue that grows) is a gap.
 *
 * More than SIZE_PLOT_LINES policies and values: the first of them. Files and reproduction as in
 * sweep_plots.h. */
#ifndef GPUSIM_PLOTS_SIZE_PLOTS_H
#define GPUSIM_PLOTS_SIZE_PLOTS_H

#include "base/err.h"
#include "plots/words.h"

#include <stddef.h>

enum { SIZE_PLOT_LINES = 24 };

/* Into dir/plots, or into `to`, where a report's style.gp lies; said in `lang`. *n: pictures
 * made. 0; ERR_IO for files and when gnuplot is absent or fails: data and scripts are there
 * then; ERR_INPUT for a size.json of another kind. */
int size_plots_build(const char *dir, const char *to, enum lang lang, size_t *n, struct err *e);

#endif
