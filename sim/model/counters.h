/* model/counters.h - a work signature from what any monitor shows of a job alone on a whole card:
 * the utilisations of NVML (nvidia-smi, DCGM) and the board power, averaged over the job.
 *
 * A kernel is on the card for the share u of the time ("GPU utilisation"), the memory is read or
 * written for the share m of it ("memory utilisation"), and the board draws P:
 *
 *     host    = 1 - u                                      nothing of the job is on the card
 *     memory  = min(u, memory_share x m), bw_width 1       phases bound by bandwidth fill it
 *     compute = u - memory
 *     active  = power_gain x (P - idle) / (limit - idle)   how full the card is, on average
 *     sm_width = (active - memory) / compute               what compute-bound kernels fill of the SMs
 *
 * Utilisation alone counts a kernel of one block like one of a thousand; power tells them apart,
 * since the SMs and the memory draw it. idle and limit are the board's own (gpu_spec), so two
 * constants are left for all boards. Fitted on training of eight networks on A100 slices (MISO,
 * 82 rows); `gpusim validate --set mig_scaling` shows the error, also for networks that the fit did
 * not see.
 *
 * Where it is weak: work that overlaps host and card well (input pipelines) keeps its speed on small
 * slices better than this says; work whose kernels differ much in width loses earlier.
 * Threads: pure functions. */
#ifndef GPUSIM_MODEL_COUNTERS_H
#define GPUSIM_MODEL_COUNTERS_H

#include "model/gpu.h"
#include "model/signature.h"

struct counters {
    double util_sm, util_mem; /* shares of time, 0..1 */
    double power_W;           /* NAN: not known; then kernels count as wide as the card */
};

struct counters_fit {
    double power_gain;   /* how full a card at its power limit is */
    double memory_share; /* bandwidth-bound time per time that the memory is in use */
};
extern const struct counters_fit counters_fitted;

/* All other fields as in signature_default(). Requires utilisations in [0, 1]. `fit` NULL:
 * fitted. */
struct signature signature_from_counters(const struct counters *c, const struct gpu_spec *gpu,
                                         const struct counters_fit *fit);

#endif
