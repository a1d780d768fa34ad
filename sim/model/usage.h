/* model/usage.h - what a simulated run used: the only thing the cost engine sees of it.
 *
 * Units: card-hours are hours of one physical card; the five shares of card time add up:
 *     allocated + free + stranded + down = cards x hours - absent   (design section 7, P02)
 * Power states add up likewise: no_context + context = that - down (reference TCO 3.3).
 * The window is [warm-up, end of the run]. Plain data; ownership: the arena given to its maker. */
#ifndef GPUSIM_MODEL_USAGE_H
#define GPUSIM_MODEL_USAGE_H

#include "model/gpu.h"

#include <stddef.h>
#include <stdint.h>

/* Billing steps that usage knows: a minute, an hour, a day. */
enum { USAGE_STEPS = 3 };

/* How long the demand stood at a level. */
struct demand_level {
    double cards, hours;
};

/* One fleet group: equal nodes with equal cards. */
struct usage_group {
    const char *name;
    const struct gpu_spec *gpu;
    int64_t nodes, cards;
    double allocated_h, free_h, stranded_h, down_h; /* card-hours */
    double absent_h; /* card-hours before they came or after they left: no part of the fleet */
    double no_context_h, context_h; /* card-hours by power state */
    double sm_active_h;             /* integral of SM activity, card-hours; drives load power */
    double duty_h;                  /* card-hours with a kernel resident; NAN under mig */
    double memory_h;                /* integral of bytes in use / usable bytes, card-hours */
    double energy_kwh;              /* at the board, before PUE */
    double idle_energy_kwh;         /* part of it that no job is charged for */
    double occupied_h;              /* card-hours with any job on the card; NAN: not counted */
    /* allocated_h with each job rounded up to whole steps; NAN: not counted */
    double step_h[USAGE_STEPS];
    const struct demand_level
        *demand; /* cards occupied at a time, ascending; hours add up to the window */
    size_t n_demand;
};

/* Who used how much: one line per user, group of the trace, or class. */
struct usage_tenant {
    const char *name;   /* "" = jobs without a user */
    uint64_t jobs;      /* of a user or group: submitted; of a class: completed in the window */
    double allocated_h; /* card-hours held, by the policy's share of a card */
    double billed_h;    /* card-hours by the larger of its shares of compute and memory, scaled down
                                 where a card's tenants add up to more than the card */
    double useful_h;    /* isolated-equivalent work completed */
    double energy_kwh;  /* its part at the board */
};

struct usage {
    double hours; /* length of the window */
    const struct usage_group *group;
    size_t n_groups;
    const struct usage_tenant *tenant; /* users, sorted by name */
    size_t n_tenants;
    const struct usage_tenant *team; /* the same by group of the trace; none when no job has one */
    size_t n_teams;
    const struct usage_tenant *klass; /* the same by class */
    size_t n_classes;
    uint64_t jobs_completed;
    double gpu_hours;        /* allocated card-hours of all jobs */
    double useful_gpu_hours; /* isolated seconds x gpus / 3600 over completed jobs */
};

/* Cards and nodes of a group on average over the window. */
static inline double usage_share(const struct usage *u, const struct usage_group *g)
{
    return g->absent_h > 0 ? 1 - g->absent_h / ((double)g->cards * u->hours) : 1;
}

#endif
