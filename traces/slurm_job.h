/* traces/slurm_job.h - from what Slurm recorded of one job to a row of the native trace: the rules
 * that sacct's text and the JSON of sacct, squeue and slurmrestd share.
 *
 * Run time: Elapsed where it is recorded (it leaves suspended time out and does not mind a
 * change of the clock), else end - start. GPUs: AllocTRES, else ReqTRES (a repair), else
 * AllocGRES or ReqGRES times nodes; N/A is unknown, never 0. An id that comes again with another
 * start is an attempt after a requeue, whose submit is that of the requeue; with the same start
 * it is the same run: a running record is superseded by one that ended or by a later running
 * one, in whatever order they come; an equal record of the end is a duplicate, an unlike one is
 * refused. All that holds over all files of an import. Several equal MIG devices are as many
 * jobs of one (import_row.instances). Memory for that: at most 16 bytes for each job and each
 * further run of one (base/hashes.h); ids are compared by 64-bit hashes, starts by twenty bits
 * of their second and ends by twelve, so in ten million jobs one is taken for another with
 * probability 3e-6, and is dropped as a duplicate only if start and end agree too. Threads: one
 * import, one thread. */
#ifndef GPUSIM_TRACES_SLURM_JOB_H
#define GPUSIM_TRACES_SLURM_JOB_H

#include "traces/format.h"
#include "traces/parse_slurm.h"
#include "traces/parse_time.h"

enum slurm_cpu_jobs { CPU_JOBS_auto, CPU_JOBS_keep, CPU_JOBS_drop };

struct slurm_options {
    const char *zone, *columns, *gpu_tres, *gpu_map, *partition_limit, *as_of, *nodes;
    int cpu_jobs; /* enum slurm_cpu_jobs */
    int64_t gpus_per_node, cpus_per_gpu, shards_per_gpu;
};
extern const char *const slurm_cpu_jobs_names[];
#define SLURM_OPT_CPU_JOBS(who)                                                                    \
    {                                                                                              \
        "cpu-jobs", 0, OPT_CHOICE, offsetof(struct slurm_options, cpu_jobs), "WHAT",               \
            who                                                                                    \
            ": jobs without a GPU: auto keeps them if some job has one, else stops; keep; drop",   \
            slurm_cpu_jobs_names                                                                   \
    }
/* Entries of an option table that both formats have. */
#define SLURM_OPTS(who)                                                                            \
    SLURM_OPT_CPU_JOBS(who),                                                                       \
        { "gpus-per-node",                                                                         \
          0,                                                                                       \
          OPT_COUNT,                                                                               \
          offsetof(struct slurm_options, gpus_per_node),                                           \
          "N",                                                                                     \
          who ": a job whose record names no GPU held N for each of its nodes",                    \
          NULL },                                                                                  \
        { "cpus-per-gpu",                                                                          \
          0,                                                                                       \
          OPT_COUNT,                                                                               \
          offsetof(struct slurm_options, cpus_per_gpu),                                            \
          "N",                                                                                     \
          who ": a job whose record names no GPU held one for every N cores or part of N",         \
          NULL },                                                                                  \
        { "shards-per-gpu",                                                                        \
          0,                                                                                       \
          OPT_COUNT,                                                                               \
          offsetof(struct slurm_options, shards_per_gpu),                                          \
          "N",                                                                                     \
          who ": gres/shard (or gres/mps) of one card",                                            \
          NULL },                                                                                  \
        { "gpu-tres", 0,                                                                           \
          OPT_TEXT,   offsetof(struct slurm_options, gpu_tres),                                    \
          "IDS",      who ": numbers that stand for GPUs in TRES lists without names (1001,1002)", \
          NULL },                                                                                  \
        { "gpu-map",                                                                               \
          0,                                                                                       \
          OPT_TEXT,                                                                                \
          offsetof(struct slurm_options, gpu_map),                                                 \
          "TYPE=CARD,..",                                                                          \
          who ": cards of the catalogue by their gres type; becomes gpu_model",                    \
          NULL },                                                                                  \
        { "partition-limit",                                                                       \
          0,                                                                                       \
          OPT_TEXT,                                                                                \
          offsetof(struct slurm_options, partition_limit),                                         \
          "TIME",                                                                                  \
          who ": the limit of jobs recorded with Partition_Limit (1-00:00:00)",                    \
          NULL },                                                                                  \
    {                                                                                              \
        "as-of", 0, OPT_TEXT, offsetof(struct slurm_options, as_of), "CLOCK",                      \
            who ": when the records were taken: running jobs have run until then", NULL            \
    }

/* One record. Times in ns since 1970 UTC or JOB_NO_TIME; texts lent. */
struct slurm_record {
    const char *id, *user, *account, *state;
    size_t id_len, user_len, account_len, state_len;
    simtime submit, start, end, elapsed;
    bool end_is_planned; /* squeue: end_time of a running job is its limit */
    enum slurm_limit limit_kind;
    simtime limit;
    const char *alloc_tres, *req_tres, *gres; /* gres: per node; NULL: the column is not there */
    size_t alloc_tres_len, req_tres_len, gres_len;
    bool gres_of_all_nodes;                   /* gres is the sum over the nodes already */
    int64_t nodes, cpus, mem_bytes, priority; /* -1: not said */
    bool gpus_said;                           /* gpus_milli is the whole truth, no list is */
    int64_t gpus_milli;
    bool ids_repeat; /* ids are not unique by nature: no attempts, no duplicates */
};

struct slurm_file; /* options, what was seen */
int slurm_file_open(struct slurm_file **out, const struct slurm_options *o, struct symtab *names,
                    const struct import_info *info, struct err *e);
void slurm_file_close(struct slurm_file *f);                   /* accepts NULL */
void slurm_file_set_as_of(struct slurm_file *f, simtime when); /* unless the options say */
void slurm_convert(struct slurm_file *f, const struct slurm_record *r, struct import_row *row);
void slurm_settle(struct slurm_file *f, struct import_row *row); /* as trace_format.settle */
/* A text clock of the record; missing words give JOB_NO_TIME; else quarantines the row. */
void slurm_clock(struct slurm_file *f, const char *s, size_t len, const char *what, simtime *out,
                 struct import_row *row);
/* At the end: 0, or ERR_INPUT when no job of all files had a GPU and nobody said that this is
 * right. */
int slurm_file_end(const struct slurm_file *f, const char *path, struct err *e);
void slurm_file_facts(const struct slurm_file *f, json_t *into);

extern const struct import_reason slurm_step;

#endif
