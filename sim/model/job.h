/* model/job.h - one job: a row of the native trace, in integers. Plain data.
 * Optional numbers that are absent hold their JOB_NO_ value: nothing is guessed here. */
#ifndef GPUSIM_MODEL_JOB_H
#define GPUSIM_MODEL_JOB_H

#include "base/simtime.h"
#include "base/symtab.h"

#include <stdint.h>

#define JOB_NO_BYTES UINT64_MAX
#define JOB_NO_TIME  INT64_MIN
#define JOB_NO_INT   INT32_MIN

/* key in traces */
#define JOB_CLASS_MAP(X) X(training) X(inference) X(dev) X(hpc) X(graphics)
enum job_class {
    CLASS_none, /* not given */
#define X(name) CLASS_##name,
    JOB_CLASS_MAP(X)
#undef X
        CLASS_COUNT
};
extern const char *const job_class_names[CLASS_COUNT + 1]; /* [0] is "" */

/* What the trace says became of it. Carried along; does not change what is simulated. */
#define JOB_STATUS_MAP(X) X(completed) X(failed) X(cancelled) X(running)
enum job_status {
    STATUS_none,
#define X(name) STATUS_##name,
    JOB_STATUS_MAP(X)
#undef X
        STATUS_COUNT
};
extern const char *const job_status_names[STATUS_COUNT + 1];

struct job_row {
    /* what a job is asked for when it ends comes first: one cache line (engine/job.h) */
    simtime submit;
    simtime duration;   /* alone, on whole recorded cards */
    simtime deadline;   /* JOB_NO_TIME; seconds after time zero of the trace */
    simtime walltime;   /* JOB_NO_TIME: unlimited */
    int32_t gpus_milli; /* 250, 1000, 8000 */
    sym user, group;
    enum job_class klass;
    enum job_status status;
    int32_t priority;       /* JOB_NO_INT */
    uint64_t gpu_mem_bytes; /* per GPU; JOB_NO_BYTES */

    uint64_t mem_bytes; /* host memory; JOB_NO_BYTES */
    const char *id;     /* lent by whoever filled the row */
    size_t id_len;
    sym gpu_model;      /* card it ran on; 0: none */
    sym gpu_allowed;    /* alternatives joined by '|'; 0: any */
    int32_t cpus_milli; /* thousandths of a core; JOB_NO_INT */
    sym profile;
    int32_t min_gpus_milli, max_gpus_milli; /* JOB_NO_INT */
    int32_t slots;                          /* JOB_NO_INT = 1 */
};

/* gpus is 0, a fraction in (0,1), or a whole number of cards; anything else is a row error. */
static inline int job_gpus_ok(int32_t milli)
{
    return milli >= 0 && (milli < 1000 || milli % 1000 == 0);
}

#endif
