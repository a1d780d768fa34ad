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

/* One fleet group: equal nodes with equal cards. */
struct usage_group {
    const char *name;
    const struct gpu_spec *gpu;
    int64_t nodes, cards;
    double allocated_h, free_h, stranded_h, down_h; /* card-hours */
    double absent_h; /* card-hours before they came or after they left: no part of the fleet */
    double no_context_h, context_h;                 /* card-hours by power state */
    double sm_active_h;       /* integral of SM activity, card-hours; drives load power */
    double duty_h;            /* card-hours with a kernel resident; NAN under mig */
    double memory_h;          /* integral of bytes in use / usable bytes, card-hours */
    double energy_kwh;        /* at the board, before PUE */
    double idle_energy_kwh;   /* part of it that no job is charged for */
};

/* Who used how much: one line per user. */
struct usage_tenant {
    const char *name;         /* "" = jobs without a user */
    uint64_t jobs;
    double allocated_h;       /* card-hours held, by the policy's share of a card */
    double useful_h;          /* isolated-equivalent work completed */
    double energy_kwh;        /* its part at the board */
};

struct usage {
    double hours;             /* length of the window */
    const struct usage_group *group;
    size_t n_groups;
    const struct usage_tenant *tenant; /* sorted by name */
    size_t n_tenants;
    uint64_t jobs_completed;
    double gpu_hours;         /* allocated card-hours of all jobs */
    double useful_gpu_hours;  /* isolated seconds x gpus / 3600 over completed jobs */
};

/* Cards and nodes of a group on average over the window. */
static inline double usage_share(const struct usage *u, const struct usage_group *g)
{
    return g->absent_h > 0 ? 1 - g->absent_h / ((double)g->cards * u->hours) : 1;
}

#endif
