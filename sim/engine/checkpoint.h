/* engine/checkpoint.h - checkpoints of a job: what they cost, what is left after a fault, how often to make
 * them. Pure functions; any thread.
 *
 * A job of `work` makes one after every `every` of work, never at its very end, and pauses `cost` for it.
 * Its line of time is work and pauses in turn: (every, cost), (every, cost) ... rest. A checkpoint
 * counts when its pause is over.
 *
 * Best interval for a mean time M between what strikes the job, and a cost C:
 *   Young (CACM 17, 1974)           sqrt(2 C M)
 *   Daly (FGCS 22, 2006), eq. 37    sqrt(2 C M) (1 + sqrt(C/2M)/3 + (C/2M)/9) - C,  M when C >= 2M */
#ifndef GPUSIM_ENGINE_CHECKPOINT_H
#define GPUSIM_ENGINE_CHECKPOINT_H

#include "base/simtime.h"

struct checkpoint_rule {
    simtime every, cost; /* every 0: none are made */
};

/* Work and pauses that lie before a job of `work` of which `left` remains; saturates. */
simtime checkpoint_line(const struct checkpoint_rule *r, simtime work, simtime left);
/* Back: work that remains when `line` of work and pauses does. */
simtime checkpoint_left(const struct checkpoint_rule *r, simtime work, simtime line);
/* Work that is safe then. */
simtime checkpoint_saved(const struct checkpoint_rule *r, simtime work, simtime line);

/* Seconds. */
double checkpoint_young_s(double cost_s, double mtbf_s);
double checkpoint_daly_s(double cost_s, double mtbf_s);
/* Share of the time that is lost to checkpoints, repeated work and restarts, to first order:
 * cost/every + (every/2 + restart)/mtbf. */
double checkpoint_waste(double every_s, double cost_s, double restart_s, double mtbf_s);

#endif
