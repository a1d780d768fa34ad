/* plots/compare_page.h - the page of two runs.
 *
 * Reads DIR/compare.json (`gpusim compare A B -o DIR`), writes DIR/report.html and
 * DIR/plots/two_runs.*, as plots/report.h says of a run. 0, ERR_INPUT, ERR_IO (also when the
 * picture was not drawn). */
#ifndef GPUSIM_PLOTS_COMPARE_PAGE_H
#define GPUSIM_PLOTS_COMPARE_PAGE_H

#include "base/err.h"
#include "plots/words.h"

int compare_page_build(const char *dir, enum lang lang, struct err *e);

#endif
