/* calibrate/supervise.h - probes run in a process of their own, which this one watches and never
 * joins.
 *
 * A kernel that never ends, a call of the driver that never returns and a library that crashes take
 * down the process that waits for them, so the one that writes the profile makes no call of the
 * driver at all. It starts a child in a process group of its own; the child opens the device, runs
 * one probe after the other and tells each parameter as it comes. A probe that takes longer than
 * the limit, or whose process ends by itself, is cut short: the whole group (workers too) is killed
 * and waited for, what was told is kept, the rest of its keys are "not measured" with that reason,
 * and a fresh child goes on from the next probe, once an empty kernel has shown that the card still
 * answers. If it does not, or a process cannot be ended (it sleeps in the driver), the remaining
 * probes are not measured for that reason.
 *
 * SIGINT and SIGTERM end it in the same way (base/interrupt.h, to be set up by the caller). A
 * parent that is killed takes its child with it (PR_SET_PDEATHSIG), and the child its workers.
 *
 * Time: wall time of the machine, not the device's clock. Threads: one; forks. */
#ifndef GPUSIM_CALIBRATE_SUPERVISE_H
#define GPUSIM_CALIBRATE_SUPERVISE_H

#include "calibrate/probe.h"

enum { STEPS_MAX = 48 };

struct step {
    const struct probe *probe;
    bool again; /* its figures are for comparison only: they go to `again` */
    /* what became of it */
    bool ended;     /* it came to its own end */
    double seconds; /* on the device's clock; NAN: it did not end */
};

struct supervised {
    /* what to do */
    int device;
    double limit_s; /* for opening the device, and for each step */
    bool quick;
    const char *gpu;  /* catalogue key; NULL: from the device's name */
    const char *shim; /* as in struct probe_ctx */
    struct step step[STEPS_MAX];
    size_t steps;
    /* what came of it; device_info is valid unless supervise() failed */
    struct device_info info;
    struct device_sensors before, after; /* of the first and the last step that ended */
    struct profile_out *out, *again;     /* owned; NULL after a failure */
    char cut_short[400];                 /* the first reason why a step did not end; "": all did */
};

/* 0, also when steps were cut short; ERR_IO when the device could not be opened; nothing at all
 * was done then. Says on standard error what is at work. */
int supervise(struct supervised *s, struct err *e);
void supervised_fini(struct supervised *s);

#endif
