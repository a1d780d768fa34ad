/* model/batchwork.h - inference of a small network as a function of its batch: how long one batch
 * takes on a whole card, and the work signature of a process that runs batch after batch.
 *
 * A batch of b samples is a chain of kernels. Launching the chain takes `floor_s` however fast the
 * card is; the card is busy for fixed_s (weights, layers too small to grow) plus (compute_s +
 * memory_s) x b if all of it can be used. Launches overlap with kernels, and layers differ, so the
 * longer of the two wins smoothly:
 *
 *     time(b) = sqrt(floor_s^2 + busy(b)^2)      busy(b) = fixed_s + (compute_s + memory_s) b
 *
 * What does not keep the whole card busy needs only part of it: sm_width = bw_width = busy / time. So
 * a slice slows a small batch only once it is narrower than that, and several processes fill a
 * card that one leaves partly idle. compute : memory is compute_s : memory_s; host is 0.
 * The gaps between kernels count as narrow kernels here, which is right for slices and for processes
 * side by side; it says nothing about turns (time slicing), where a gap is time for others.
 *
 * Four constants a network. For the seven of MunQ-Lee/ParvaGPU_SC24 on an A100 they lie in
 * scenarios/measured/cnn_models.csv; `gpusim validate --set cnn_slices` shows the error.
 * Threads: pure functions. */
#ifndef GPUSIM_MODEL_BATCHWORK_H
#define GPUSIM_MODEL_BATCHWORK_H

#include "model/signature.h"

struct batch_work {
    double floor_s, fixed_s;    /* per batch */
    double compute_s, memory_s; /* per sample */
};

double batch_time_s(const struct batch_work *w, double batch);
/* All other fields as in signature_default(). */
struct signature batch_signature(const struct batch_work *w, double batch);

#endif
