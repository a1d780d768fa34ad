/* traces/spread.h - requests that share one recorded arrival time, spread evenly over a stated
 * window behind it, in their order and never beyond the next recorded time. For formats whose clock
 * is coarser than their requests: an assumption that the user must ask for.
 *
 * Memory: the rows of one time. Threads: one spread, one thread. */
#ifndef GPUSIM_TRACES_SPREAD_H
#define GPUSIM_TRACES_SPREAD_H

#include "base/vec.h"
#include "traces/format.h"

struct spread_row {
    struct import_row row; /* its text lies in `raw` */
    char *raw;
};

struct spread {
    simtime window; /* 0: rows pass as they are */
    VEC(struct spread_row) rows;
    /* rows[at..group) wait to be given out; rows[group] is the next time's first */
    size_t at, group;
    bool end;
};

/* ERR_USAGE unless 0 <= seconds <= 1e6. Starts from {0}. */
int spread_init(struct spread *s, double seconds, struct err *e);
/* Adds the assumption to the origin and makes it the note; nothing when nothing is spread. */
void spread_say(const struct spread *s, struct import_info *info);
void spread_fini(struct spread *s); /* accepts {0} */
/* The next row of `next(state, ...)`, its arrival moved. */
int spread_next(struct spread *s, int (*next)(void *state, struct import_row *row, struct err *e),
                void *state, struct import_row *row, struct err *e);

#endif
