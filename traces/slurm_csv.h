/* traces/slurm_csv.h - public traces that were made from Slurm's accounting as CSV tables with
 * columns of their own: Eagle, Helios, Acme. A format says which column plays which part; the rules
 * are those of slurm_job.h. */
#ifndef GPUSIM_TRACES_SLURM_CSV_H
#define GPUSIM_TRACES_SLURM_CSV_H

#include "traces/slurm_job.h"

enum slurm_csv_part {
    PART_id,
    PART_submit,
    PART_start,
    PART_end,
    PART_gpus,
    PART_state,
    PARTS_NEEDED,
    PART_run = PARTS_NEEDED, /* seconds */
    PART_user,
    PART_group,
    PART_cpus,
    PART_nodes,
    PART_limit,    /* seconds */
    PART_mem_node, /* GB for each node */
    PART_kind,     /* what sort of job: becomes class, and the group where there is none */
    PARTS
};

struct slurm_csv_format {
    const char *name;
    const char *columns[PARTS]; /* NULL: the format has none */
    const char *zone;           /* of its clocks; NULL: unknown, UTC with a warning */
    bool ids_repeat;
    bool run_from_clocks; /* the run column is no run time: end - start counts */
    enum job_class (*class_of)(const char *s, size_t len); /* may be NULL */
};

/* As in struct trace_format; a format's own open() calls this one with what it is. */
int slurm_csv_open(void **state, const struct slurm_csv_format *format, const char *path,
                   const void *options, struct symtab *names, struct import_info *info,
                   struct err *e);
int slurm_csv_next(void *state, struct import_row *row, struct err *e);
void slurm_csv_close(void *state); /* accepts NULL */
void slurm_csv_settle(void *state, struct import_row *row);
void slurm_csv_facts(const void *state, json_t *into);
/* The members of a struct trace_format that these tables share. */
#define SLURM_CSV_FUNCTIONS                                                                        \
    .options_size = sizeof(struct slurm_options), .next = slurm_csv_next,                          \
    .close = slurm_csv_close, .settle = slurm_csv_settle, .facts = slurm_csv_facts

#define SLURM_CSV_OPTS(who)                                                                              \
    { "zone",                                                                                            \
      0,                                                                                                 \
      OPT_TEXT,                                                                                          \
      offsetof(struct slurm_options, zone),                                                              \
      "ZONE",                                                                                            \
      "zone of clocks that name none (UTC, +08:00, America/Los_Angeles; default: the format's, or UTC)", \
      NULL },                                                                                            \
        SLURM_OPT_CPU_JOBS(who),                                                                         \
        { "gpus-per-node",                                                                               \
          0,                                                                                             \
          OPT_COUNT,                                                                                     \
          offsetof(struct slurm_options, gpus_per_node),                                                 \
          "N",                                                                                           \
          who ": a job that says 0 GPUs held N for each of its nodes",                                   \
          NULL },                                                                                        \
    {                                                                                                    \
        "as-of", 0, OPT_TEXT, offsetof(struct slurm_options, as_of), "CLOCK",                            \
            who ": when the records were taken: running jobs have run until then", NULL                  \
    }

#endif
