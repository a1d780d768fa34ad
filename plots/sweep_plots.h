/* plots/sweep_plots.h - pictures of a sweep, from the sweep.json in its folder and nothing else:
 *
 *   sweep_pareto              cost against a service level, every point and policy; those that no other beats
 *                             in both are joined
 *   sweep_curve_FIGURE        one axis: the figure over it, a line a policy, bands of 95 % where there are
 *                             replications
 *   sweep_heat_FIGURE_K       two axes, every combination: the figure as colour, one picture for policy K
 *
 * Service level: 99th percentile of the first service's latency, else the jobs' 95th percentile
 * of the wait. Cost: tco.total_usd, or the number of cards where nothing is priced. Figures: the
 * service level, the 99th percentile of every other service's latency, the mean wait, the share
 * of card time allocated, the cost; those that no point has are left out. A figure that some
 * replication lacks (percentiles of an unstable run) is a gap. More than SWEEP_PLOT_POLICIES
 * policies: the first of them. Each picture is DIR/plots/NAME.tsv, NAME.gp and NAME.svg, and is
 * drawn again by hand with `gnuplot -e "data='NAME.tsv'; out='NAME.svg'" NAME.gp` there. Same
 * sweep.json, same bytes. */
#ifndef GPUSIM_PLOTS_SWEEP_PLOTS_H
#define GPUSIM_PLOTS_SWEEP_PLOTS_H

#include "base/err.h"
#include "plots/words.h"

#include <stddef.h>

enum { SWEEP_PLOT_POLICIES = 8 };

/* Into dir/plots; or the curves over one axis alone into `to`, where a report's style.gp lies.
 * Said in `lang`. *n: pictures made. 0; ERR_IO for files and when gnuplot is absent or fails:
 * data and scripts are there then; ERR_INPUT for a sweep.json of another kind. */
int sweep_plots_build(const char *dir, const char *to, enum lang lang, size_t *n, struct err *e);

#endif
