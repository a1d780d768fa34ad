#include "model/batchwork.h"

#include <math.h>

static double busy_s(const struct batch_work *w, double batch)
{
    return w->fixed_s + (w->compute_s + w->memory_s) * batch;
}

double batch_time_s(const struct batch_work *w, double batch)
{
    return hypot(w->floor_s, busy_s(w, batch));
}

struct signature batch_signature(const struct batch_work *w, double batch)
{
    struct signature s = signature_default();
    const double sample = w->compute_s + w->memory_s, time = batch_time_s(w, batch);
    s.host = 0;
    s.memory = sample > 0 ? w->memory_s / sample : 0;
    s.compute = 1 - s.memory;
    s.sm_width = s.bw_width = time > 0 ? fmax(0.01, busy_s(w, batch) / time) : 1.0;
    return s;
}
