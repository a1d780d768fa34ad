#include "model/counters.h"

#include "base/err.h"

#include <math.h>

#define LEAST_WIDTH 0.01 /* one SM of about a hundred */

const struct counters_fit counters_fitted = { .power_gain = 0.86, .memory_share = 0.6 };

/* How full the card is on average, 0..1; NAN without power. */
static double active_share(const struct counters *c, const struct gpu_spec *gpu, double gain)
{
    const double full = gain * (c->power_W - gpu->idle_W) / (gpu->tdp_W - gpu->idle_W);
    return isnan(full) ? full : fmin(1.0, fmax(0.0, full));
}

struct signature signature_from_counters(const struct counters *c, const struct gpu_spec *gpu,
                                         const struct counters_fit *fit)
{
    struct signature s = signature_default();
    if (!fit) fit = &counters_fitted;
    BUG_ON(!(c->util_sm >= 0 && c->util_sm <= 1 && c->util_mem >= 0 && c->util_mem <= 1));
    s.host = 1.0 - c->util_sm;
    s.memory = fmin(c->util_sm, fmax(0.0, fit->memory_share * c->util_mem));
    s.compute = c->util_sm - s.memory;
    s.bw_width = s.sm_width = 1.0;
    const double active = active_share(c, gpu, fit->power_gain);
    if (s.compute > 0 && !isnan(active))
        s.sm_width = fmin(1.0, fmax(LEAST_WIDTH, (active - s.memory) / s.compute));
    return s;
}
