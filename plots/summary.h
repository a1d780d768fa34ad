/* plots/summary.h - the answer of a run as Markdown. Pure. */
#ifndef GPUSIM_PLOTS_SUMMARY_H
#define GPUSIM_PLOTS_SUMMARY_H

#include "base/str.h"
#include "model/result.h"
#include "plots/words.h"

/* CommonMark with a pipe table; names from outside are escaped. `risk`: as in struct
 * report_look. */
void summary_markdown(const struct result *r, json_t *risk, enum lang lang, struct strbuf *out);

#endif
