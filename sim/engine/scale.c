#include "engine/scale.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

struct scaler {
    const struct service_replicas *r;
    int64_t *wanted; /* by the last `n` looks, a ring */
    size_t n, at, seen;
};

struct scaler *scaler_create(const struct service_replicas *r)
{
    if (r->max <= r->min && r->scale_on != SCALE_SCHEDULE) return NULL;
    struct scaler *s = xcalloc(1, sizeof *s);
    s->r = r;
    s->n = (size_t)(r->down_after / r->interval) + 1;
    s->wanted = xcalloc(s->n, sizeof *s->wanted);
    return s;
}

void scaler_destroy(struct scaler *s)
{
    if (!s) return;
    free(s->wanted);
    free(s);
}

static int64_t clamp(const struct service_replicas *r, double wanted)
{
    return wanted <= (double)r->min ? r->min : wanted >= (double)r->max ? r->max : (int64_t)wanted;
}

int64_t scaler_want(struct scaler *s, simtime now, int64_t current, double busy, double present)
{
    enum { TENTH = 10 };
    const struct service_replicas *r = s->r;
    double wanted = (double)current;
    if (r->scale_on == SCALE_SCHEDULE) return r->hour[now / SIM_HOUR % 24];
    const double measured = r->scale_on == SCALE_UTILIZATION ? busy : present / (double)current;
    const double ratio = measured / r->target;
    if (!isnan(ratio) && fabs(ratio - 1) > 1.0 / TENTH)
        wanted = ceil((double)current * ratio - 1e-9);
    const int64_t want = clamp(r, wanted);
    s->wanted[s->at] = want;
    s->at = (s->at + 1) % s->n;
    if (s->seen < s->n) s->seen++;
    if (want >= current) return want;
    int64_t most = want;
    for (size_t i = 0; i < s->seen; i++)
        if (s->wanted[i] > most) most = s->wanted[i];
    return most < current ? most : current;
}
