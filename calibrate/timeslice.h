/* calibrate/timeslice.h - what two logs of the card's global timer say about time slicing.
 *
 * Each of two or more processes runs a one-thread kernel that polls the timer and notes the
 * steps in which it was not on the card (DEV_LOG). Between two such gaps it ran: the length of a
 * run is the quantum. A gap of one process that holds exactly one whole run of each other is
 * those runs and a switch more than they are. Pure functions; ns on the card's timer, results in
 * us. */
#ifndef GPUSIM_CALIBRATE_TIMESLICE_H
#define GPUSIM_CALIBRATE_TIMESLICE_H

#include "calibrate/stats.h"

#include <stdint.h>

struct span {
    uint64_t from, to;
};

struct slice_log {
    uint64_t first, last; /* readings of the timer */
    struct span *gap;     /* ascending; freed by slice_log_fini */
    size_t n;
};

void slice_log_fini(struct slice_log *l);
/* Lengths of the runs of `a` that lie wholly inside the time in which both ran. */
void slice_quanta(const struct slice_log *a, const struct slice_log *b, struct sampler *us);
/* Of n processes: each gap of log `own` that holds exactly one whole run of every other one,
 * less those runs, over the n switches in it. 2 <= n <= SLICE_LOGS_MAX. O(all gaps). */
enum { SLICE_LOGS_MAX = 8 };
void slice_switches(const struct slice_log log[], size_t n, size_t own, struct sampler *us);

/* Throughput of n equal jobs, each alternating `host` and `card` seconds, over that of one: exact
 * mean value analysis of one station and a delay, the card's demand inflated by `overhead` (switch
 * over quantum) from two jobs on. n >= 1. */
double slice_mva(unsigned n, double host, double card, double overhead);

#endif
