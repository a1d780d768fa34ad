/* model/worklib.h - work signatures that ship with gpusim ("format": "gpusim-workload/1",
 * scenarios/workloads/classes.json): defaults by job class, and named ones that a trace's profile
 * column may use. Ownership: the arena. Threads: read-only after reading. */
#ifndef GPUSIM_MODEL_WORKLIB_H
#define GPUSIM_MODEL_WORKLIB_H

#include "model/job.h"
#include "model/signature.h"

struct named_work {
    const char *name;
    struct signature sig;
};

struct worklib {
    const struct signature *class_default[CLASS_COUNT]; /* NULL: none */
    const struct named_work *named;
    size_t n_named;
};

void worklib_read(struct worklib *out, struct arena *a, const struct json_doc *doc, struct diag *d);

#endif
