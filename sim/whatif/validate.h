/* whatif/validate.h - predicted against measured, for every reference set: the contract between
 * `gpusim validate` and a set. One file sim/whatif/valid_X.c defines `const struct valid_set valid_X`.
 *
 * A set reads measured rows (CSV, columns as in its reference file), asks the sharing models - the
 * very functions that a run asks - and puts a naive baseline beside them.
 * Threads: one set, one thread. Ownership: the rows' text lives in the arena. */
#ifndef GPUSIM_WHATIF_VALIDATE_H
#define GPUSIM_WHATIF_VALIDATE_H

#include "base/arena.h"
#include "base/vec.h"
#include "engine/plan.h"

struct valid_row {
    const char *group; /* sub-table, e.g. card and campaign; "" = none */
    const char *label; /* which row */
    double measured, predicted, naive; /* same unit; NAN predicted: the model does not cover the row */
};
typedef VEC(struct valid_row) valid_rows;

struct valid_set {
    const char *name, *help;
    const char *file;       /* measured rows that ship, under scenarios/measured/ */
    const char *naive;      /* what the baseline is, in words */
    const char *unit;
    double bar_mape;        /* NAN: none; the bar of the project for this set */
    /* Read `path` (every malformed row is ERR_INPUT with its place) and append rows. */
    int (*predict)(const struct world *w, const char *path, struct arena *a, valid_rows *out,
                   struct err *e);
};

extern const struct valid_set *const valid_all[]; /* NULL-terminated, sorted by name */

/* Errors over rows that have a prediction. */
struct valid_score {
    size_t n, uncovered;
    double mae, mape, worst; /* mape and worst as ratios of the measured value */
    const char *worst_label;
    double spearman;         /* rank correlation of predicted and measured; NAN below 3 rows */
};
struct valid_score valid_score_of(const struct valid_row *row, size_t n, bool naive);

#endif
