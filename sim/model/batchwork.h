/* model/batchwork.h - inference of a small network as a function of its batch: how long one batch
 * takes on a whole card, and the work signature of a process that runs batch after batch.
 *
 * A batch of b samples is a chain of kernels. Launching the chain takes `floor_s` however fast the
 * card is; the card is busy for fixed_s (weights, layers too small to grow) plus (compute_s +
 * memory_s) x b if all of it can be used. Launches overlap with kernels, and layers differ, so the
 * longer of the two wins smoothly; inputs are copied to the card first, and nothing overlaps with
 * that:
 *
 *     time(b) = chain(b) + copy_s b      chain(b) = sqrt(floor_s^2 + busy(b)^2)
 *     busy(b) = fixed_s + (compute_s + memory_s) b      busy(1) = one_s where that is given
 *
 * Libraries choose other kernels for a batch of one, so its work need not lie on the line: one
 * image of inceptionv3 keeps a 1g slice busy for 10 ms, two for 6.3 ms, four for 9 ms.
 *
 * What does not keep the whole card busy needs only part of it: sm_width = bw_width = busy / chain.
 * So a slice slows a small batch only once it is narrower than that, and several processes fill a
 * card that one leaves partly idle. compute : memory is compute_s : memory_s; host is the copy. The
 * gaps between kernels count as narrow kernels here, which is right for slices and for processes
 * side by side; it says nothing about turns (time slicing), where a gap is time for others.
 *
 * The reference (llm, section 7) has a bend p in the place of the 2. Fitted network by network it
 * takes 0.1 points off an error of 4.0 % on rows left out, and the two halves of the rows give
 * other values (mobilenetv2 2.1 and 51, resnet101 2.2 and 4.1): these rows do not tell it. "bend"
 * of the ways of serving (policy/batch.h, 1 to 16) is for those who know theirs.
 *
 * Six constants a network. For the seven of MunQ-Lee/ParvaGPU_SC24 on an A100 they lie in
 * scenarios/measured/cnn_models.csv; `gpusim validate --set cnn_slices` shows the error.
 * Threads: pure functions. */
#ifndef GPUSIM_MODEL_BATCHWORK_H
#define GPUSIM_MODEL_BATCHWORK_H

#include "model/signature.h"

struct batch_work {
    double floor_s, fixed_s;            /* per batch */
    double one_s;                       /* busy with a batch of one; 0: as the line says */
    double compute_s, memory_s, copy_s; /* per sample */
};

double batch_time_s(const struct batch_work *w, double batch);
/* All other fields as in signature_default(). */
struct signature batch_signature(const struct batch_work *w, double batch);

#endif
