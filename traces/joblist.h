/* traces/joblist.h - the job lists of deep-learning scheduler simulators that share one core of
 * columns, found by header name in any order: job_id, num_gpu, submit_time, duration, and perhaps
 * user and model_name. What differs is the unit of time and the columns beyond. Ownership:
 * joblist_close() frees; text in rows is lent until the next call. Threads: one. */
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

/* Tiresias and Muri: the same columns in seconds and in milliseconds; Muri's has
 * "resource_time_0". */
enum joblist_unit { JOBLIST_UNIT_auto, JOBLIST_UNIT_s, JOBLIST_UNIT_ms };
extern const char *const joblist_units[];
struct joblist_options {
    int unit; /* enum joblist_unit */
    bool model_profile;
};
/* Entries of an option table. */
#define JOBLIST_OPTS(who, units)                                                                   \
    { "unit",       0, OPT_CHOICE, offsetof(struct joblist_options, unit), "UNIT", who ": " units, \
      joblist_units },                                                                             \
    {                                                                                              \
        "model-profile", 0, OPT_FLAG, offsetof(struct joblist_options, model_profile), NULL,       \
            who ": hand model_name on as the job's profile (the scenario must define it)", NULL    \
    }
struct joblist_dialect {
    const char *name;
    bool ms;                  /* else seconds, unless --unit says */
    const char *doubt, *hint; /* when "resource_time_0" says the other unit and --unit nothing */
};
/* As in struct trace_format; a format's own open() calls this one with what it is. */
int joblist_start(void **state, const struct joblist_dialect *d, const char *path,
                  const void *options, struct symtab *names, struct import_info *info,
                  struct err *e);
int joblist_row(void *state, struct import_row *row, struct err *e);
void joblist_end(void *state); /* accepts NULL */
/* Is Tiresias' core there, and what Muri adds to it? */
bool joblist_header(const char *head, size_t len, bool muri);

#endif
