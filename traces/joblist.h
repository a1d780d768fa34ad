/* traces/joblist.h - the job lists of deep-learning scheduler simulators that share one core of columns,
 * found by header name in any order: job_id, num_gpu, submit_time, duration, and perhaps user and
 * model_name. What differs is the unit of time and the columns beyond.
 * Ownership: joblist_close() frees; text in rows is lent until the next call. Threads: one. */
#ifndef GPUSIM_TRACES_JOBLIST_H
#define GPUSIM_TRACES_JOBLIST_H

#include "traces/format.h"

enum {
    JOBLIST_id,
    JOBLIST_gpus,
    JOBLIST_submit,
    JOBLIST_duration,
    JOBLIST_REQUIRED,
    JOBLIST_user = JOBLIST_REQUIRED,
    JOBLIST_model,
    JOBLIST_COLUMNS
};
/* A dialect's list of columns starts with these; its own follow. */
#define JOBLIST_NAMES "job_id", "num_gpu", "submit_time", "duration", "user", "model_name"

struct joblist {
    struct table t;
    struct symtab *names;
    simtime unit;       /* ns for one unit of time */
    int digits;         /* decimals of a unit that are read; more round half away from zero */
    bool model_profile; /* hand model_name on as the profile */
};

/* Opens with names[0..n). `unit` is 1 s, 1 ms, or any other step. */
int joblist_open(struct joblist *l, const char *path, const char *format, const char *const *names,
                 int n, simtime unit, struct symtab *symbols, struct err *e);
void joblist_close(struct joblist *l); /* accepts {0} */
/* 1, 0 or negative: the core columns are in row->job, or the row is quarantined. */
int joblist_next(struct joblist *l, struct import_row *row, struct err *e);
/* Text to ns; on failure the row is quarantined and false returned. */
bool joblist_time(const struct joblist *l, const char *s, size_t len, const char *what,
                  simtime *out, struct import_row *row);

#endif
