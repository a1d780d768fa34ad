/* plots/figure_words.h - in words, with their units: figures of a policy's result and axes of a
 * sweep, which files name by dotted paths ("jobs.wait_s.p95", "services.chat.ttft_ms.p99",
 * "fleet.pool.nodes"). A path that is not known stays as it is. Pure; texts from the table of
 * words or from the arena. */
#ifndef GPUSIM_PLOTS_FIGURE_WORDS_H
#define GPUSIM_PLOTS_FIGURE_WORDS_H

#include "base/arena.h"
#include "plots/words.h"

#include <stdbool.h>

/* "wait, p95"; "chat: latency, p99"; *unit: "s", "ms", "USD", ...; "" where there is none.
 * `share`: of a figure that is stored as 0 to 1 and shown in %, the unit here. May be NULL:
 * unit, share. */
const char *figure_words(enum lang lang, struct arena *a, const char *path, const char **unit,
                         bool *share);
/* As the label of an axis, unit and all: "wait, p95 (s)". */
const char *figure_label(enum lang lang, struct arena *a, const char *path);
/* What was varied: "nodes of pool", "number of cards". */
const char *axis_words(enum lang lang, struct arena *a, const char *path);
/* x to what its interval supports, as plain text (base/figure.h). */
const char *figure_plain(struct arena *a, double x, double low, double high);
/* The same by the kind that *unit tells (of figure_words(); W_PERCENT for shares in %): amounts
 * and shares by their rules; from 2 h up seconds become hours or days, and *unit says so. */
const char *figure_value(enum lang lang, struct arena *a, double x, double low, double high,
                         const char **unit);

#endif
