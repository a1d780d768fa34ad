/* whatif/validate.h - predicted against measured, for every reference set: the contract between
 * `gpusim validate` and a set. One file sim/whatif/valid_X.c defines `const struct valid_set
 * valid_X`; the registry valid_all[] is generated from the file names.
 *
 * A set reads measured rows (whatif/measured.h), asks the sharing models - the very functions that
 * a run asks, through valid_share_* - and puts a naive baseline beside them.
 *
 * Where a set's rows come from, in order: the file that the user names; `file` under
 * scenarios/measured/ where it ships; `reference` under $GPUSIM_SHARED/reference/, for data whose
 * licence does not allow shipping. None: the set is skipped and says so.
 *
 * Threads: one set, one thread. Ownership: the rows' text lives in the arena. */
#ifndef GPUSIM_WHATIF_VALIDATE_H
#define GPUSIM_WHATIF_VALIDATE_H

#include "base/arena.h"
#include "base/vec.h"
#include "engine/plan.h"
#include "engine/serve.h"
#include "whatif/measured.h"

struct valid_row {
    const char *group; /* sub-table, e.g. card and campaign; "" = none */
    const char *label; /* which row */
    double measured;   /* > 0 */
    double predicted;  /* same unit; NAN: the model does not cover the row */
    double naive;      /* same unit; NAN: no baseline */
    bool aside; /* a second look at rows that are already there (cross validation, another way to
                   predict them): shown in its group, left out of the total */
};
typedef VEC(struct valid_row) valid_rows;

/* Errors over rows that have a prediction. `mape` and `worst` are ratios of the measured value,
 * `mae` and `worst_abs` in its unit; NAN without rows. */
struct valid_score {
    size_t n, uncovered;
    double mae, mape, worst, worst_abs;
    struct valid_row worst_row; /* of `worst`; label NULL without
                                   rows; `naive`: predicted is what the baseline says */
    double spearman;            /* rank correlation of predicted and measured; NAN below 3 rows */
};
/* `naive`: of the baseline instead. O(n log n). */
struct valid_score valid_score_of(const struct valid_row *row, size_t n, bool naive);

/* What the project promises for a set, or for one group of it. */
enum valid_measure {
    VALID_MAE,
    VALID_MAPE,
    VALID_WORST,
    VALID_WORST_ABS,
    VALID_OF_NAIVE, /* the mean relative error over that of the baseline: below 1 is better */
};
extern const char *const valid_measure_names[]; /* NULL-terminated */
struct valid_bar {
    const char *group; /* NULL: the total */
    enum valid_measure of;
    double at_most;
};

struct valid_set {
    const char *name, *help;
    const char *file;      /* measured rows that ship, under scenarios/measured/; NULL: none */
    const char *reference; /* the same under $GPUSIM_SHARED/reference/; NULL: none */
    const char *naive;     /* what the baseline is, in words */
    const char *unit;
    const char
        *policies; /* kinds of sharing whose equations it holds, blanks between; NULL: none */
    const char
        *as_run; /* suffix of the groups that predict with what a run knows; NULL: the total */
    const char *as_run_policies; /* the kinds those groups are about, where the total stands for
                                    all of `policies` besides; NULL: `policies` */
    const struct measured_column
        *columns;     /* of its rows: tells which set a file is for; NULL: the */
    size_t n_columns; /* file is scored only where the user names the set */
    const struct valid_bar *bars;
    size_t n_bars;
    const char *note; /* what misses and why, in words; NULL: nothing to say */
    /* Read `path` (every malformed row is ERR_INPUT with its place) and append rows. */
    int (*predict)(const struct world *w, const char *path, struct arena *a, valid_rows *out,
                   struct err *e);
};

extern const struct valid_set *const valid_all[]; /* NULL-terminated, sorted by name */

const struct valid_set *valid_find(const char *name, const char **nearest); /* NULL: unknown */
/* Path of the set's rows, from the arena; NULL: no data. */
const char *valid_data(const struct valid_set *s, struct arena *a);
/* The same, for a set that is asked about another file: rows that help to understand it (an anchor,
 * a native figure, other rows of a card). NULL: none, or `asked` is that file. */
const char *valid_background(const struct valid_set *s, const char *asked, struct arena *a);

/* A set's rows in groups, in order of first appearance, and whether the bars are met. */
struct valid_group {
    const char *name;
    struct valid_score model, naive;
    bool aside;
};
struct valid_check {
    const struct valid_bar *bar;
    double value; /* NAN: no rows to judge */
    bool met;     /* false for NAN */
};
struct valid_report {
    struct valid_group *group; /* from the arena */
    size_t n_groups;
    struct valid_score model, naive; /* the total: rows that are not aside */
    struct valid_check *check;       /* one for each bar of the set */
    size_t n_missed;
};
void valid_report_of(struct valid_report *out, const struct valid_set *s,
                     const struct valid_row *row, size_t n, struct arena *a);

/* ---- for sets: the serving loop of a run ---- */

/* "dynamic", "continuous": one that is there. */
const struct serve_ops *valid_serve(const char *name);
/* Its parameters from JSON text ("{\"max\": 8}"), in the arena. ERR_INPUT. */
int valid_serve_params(void **out, const struct serve_ops *ops, const char *text, struct arena *a,
                       struct err *e);

/* ---- for sets: the sharing policy of a run ---- */

struct valid_share {
    const struct share_ops *ops;
    struct card_type type; /* the card with the profile defaults */
    void *params;
};
/* Policy `kind` ("mps") on `card` (name or alias) with parameters as JSON text ("{\"cap\": 1}";
 * NULL: defaults), bound as a run binds them. ERR_INPUT when the card is unknown or cannot be
 * shared so. */
int valid_share_bind(struct valid_share *out, const struct world *w, struct arena *a,
                     const char *kind, const char *card, const char *params, struct err *e);
/* The same with a calibrated profile instead of the defaults. */
int valid_share_bind_profile(struct valid_share *out, const struct world *w, struct arena *a,
                             const char *kind, const char *card, const struct gpu_profile *profile,
                             const char *params, struct err *e);
/* A demand without any limit: the whole card. */
struct demand valid_demand(void);
/* speed[0..n) of residents with these signatures; demand[i] NULL: valid_demand(). */
void valid_share_speeds(const struct valid_share *s, const struct signature *const sig[],
                        const struct demand *const demand[], size_t n, double speed[]);

#endif
