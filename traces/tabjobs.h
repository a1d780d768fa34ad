/* traces/tabjobs.h - the tab-separated job lists of Gavel (7 or 10 fields) and Shockwave (12): no
 * header, commands with blanks and %s inside, no ids. The number of fields names the layout:
 *    7  type, command, steps argument, needs data, total steps, arrival, scale factor
 *   10  type, command, directory, steps argument, needs data, total steps, scale factor, priority,
 *       SLO, arrival
 *   12  as 10 with mode before priority and duration before arrival
 * A job's id is its place in the file, from 0, as those simulators number them. */
#ifndef GPUSIM_TRACES_TABJOBS_H
#define GPUSIM_TRACES_TABJOBS_H

#include "traces/format.h"

struct tabjobs {
    struct csv *csv;
    struct csv_row row;
    bool have_first; /* the first row waits, read to learn the layout */
    size_t fields;   /* 7, 10 or 12 */
    uint64_t n;
    char id[24];
};

/* What a row says besides what goes into row->job. */
struct tabjob {
    struct csv_field type, mode; /* mode: empty but in 12 fields */
    int64_t steps, gpus;
    simtime duration; /* JOB_NO_TIME but in 12 fields */
};

/* Takes a file whose first row has a or b fields (b may be 0). */
int tabjobs_open(struct tabjobs *t, const char *path, const char *format, size_t a, size_t b,
                 struct err *e);
void tabjobs_close(struct tabjobs *t); /* accepts {0} */
/* 1, 0 or negative: id, submit, gpus, priority are in row->job and the rest in *out, or the row is
 * quarantined. */
int tabjobs_next(struct tabjobs *t, struct tabjob *out, struct import_row *row, struct err *e);

/* Fields of the first line if it looks like a row of one of the layouts, else 0. */
size_t tabjobs_layout(const char *head, size_t len);

#endif
