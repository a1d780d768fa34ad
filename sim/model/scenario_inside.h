/* model/scenario_inside.h - what scenario.c and its tables of keys (scenario_keys.c) share:
 * nobody else includes it. Members are in base units (seconds as simtime, bytes); texts and
 * json_t values are lent by the document. */
#ifndef GPUSIM_MODEL_SCENARIO_INSIDE_H
#define GPUSIM_MODEL_SCENARIO_INSIDE_H

#include "model/scenario.h"

/* The file itself. */
struct top {
    const char *format, *name, *prices, *rent;
    int64_t seed;
    simtime horizon, warmup;
    json_t *fleet, *work, *profiles, *policies, *schedule, *faults, *output;
};

/* "output". */
struct output {
    simtime sample;
    bool jobs;
    json_t *timeline;
};

/* A member of "policies". */
struct policy_head {
    const char *name, *prices, *pairs;
    json_t *share, *schedule, *fleet;
};

extern const struct cfg_field top_fields[], fleet_fields[], work_fields[], timeline_fields[],
    output_fields[], policy_fields[];
extern const size_t top_fields_n, fleet_fields_n, work_fields_n, timeline_fields_n, output_fields_n,
    policy_fields_n;

#endif
