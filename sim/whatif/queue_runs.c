#include "whatif/queue_runs.h"

#include "base/mem.h"
#include "metrics/stability.h"
#include "whatif/interval.h"

#include <stdlib.h>

const char *const queue_state_names[] = { "grows", "undecided", "stays", NULL };

enum queue_state queue_of_runs(const struct queue_trend *t, size_t n)
{
    double last = 0, before = 0, waiting = 0;
    BUG_ON(n == 0);
    for (size_t k = 0; k < n; k++)
        if (!t[k].known) return QUEUE_STAYS;
    if (n == 1) return stability_is_stable(t) ? QUEUE_STAYS : QUEUE_GROWS;
    double *growth = xcalloc(n, sizeof *growth);
    for (size_t k = 0; k < n; k++) {
        growth[k] = t[k].growth;
        last += t[k].last;
        before += t[k].before;
        waiting += t[k].waiting / (double)n;
    }
    const struct interval g = interval_student(growth, n);
    free(growth);
    if (last < 1.3 * before) return QUEUE_STAYS;
    if (waiting > 0.1) return QUEUE_GROWS;
    if (g.mean < 1 || g.mean <= g.error || waiting < STABILITY_LEAST_WAITING) return QUEUE_STAYS;
    return g.mean - g.half > 0 ? QUEUE_GROWS : QUEUE_UNDECIDED;
}
