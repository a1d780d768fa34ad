#include "model/batchwork.h"

#include <math.h>

static double busy_s(const struct batch_work *w, double batch)
{
    if (w->one_s > 0 && batch <= 1) return w->one_s;
    return w->fixed_s + (w->compute_s + w->memory_s) * batch;
}

static double chain_s(const struct batch_work *w, double batch)
{
    return hypot(w->floor_s, busy_s(w, batch));
}

double batch_time_s(const struct batch_work *w, double batch)
{
    return chain_s(w, batch) + w->copy_s * batch;
}

struct signature batch_signature(const struct batch_work *w, double batch)
{
    struct signature s = signature_default();
    const double sample = w->compute_s + w->memory_s, chain = chain_s(w, batch),
                 time = batch_time_s(w, batch);
    s.host = time > 0 ? w->copy_s * batch / time : 0;
    s.memory = sample > 0 ? (1 - s.host) * w->memory_s / sample : 0;
    s.compute = 1 - s.host - s.memory;
    s.sm_width = s.bw_width = chain > 0 ? fmax(0.01, busy_s(w, batch) / chain) : 1.0;
    return s;
}
