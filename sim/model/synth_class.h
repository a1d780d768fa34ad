/* model/synth_class.h - a class of synthetic jobs as its specification has it, read and checked:
 * between synth_spec.c, which makes it, and synth.c, which draws from it. Lives in the arena of its
 * specification; plain data after that. */
#ifndef GPUSIM_MODEL_SYNTH_CLASS_H
#define GPUSIM_MODEL_SYNTH_CLASS_H

#include "model/synth.h"

/* gpus and what they come with */
struct synth_shape {
    int32_t milli;
    bool has_memory;
    struct synth_dist memory;
};

struct synth_class {
    const char *name, *gpu_model, *gpu_allowed, *source;
    int klass; /* index into job_class_names + 1 */
    double share, cpus, zipf, correlation;
    int64_t count, users, groups, priority, slots;
    uint64_t host_memory;
    json_t *arrivals_json, *duration_json, *gpus_json, *memory_json, *profile_json, *walltime_json;
    /* derived */
    struct synth_arrival_spec arrivals;
    struct synth_dist duration, memory, factor;
    bool has_duration, has_gpus, has_memory, has_walltime;
    double no_walltime; /* share of jobs without */
    struct synth_shape *shape;
    double *shape_cum;
    size_t n_shapes;
    const char **profile;
    double *profile_cum;
    size_t n_profiles;
    double *user_cum;
};

#endif
