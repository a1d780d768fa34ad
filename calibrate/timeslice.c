#include "calibrate/timeslice.h"

#include <stdlib.h>

void slice_log_fini(struct slice_log *l)
{
    free(l->gap);
    *l = (struct slice_log){ 0 };
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void slice_quanta(const struct slice_log *a, const struct slice_log *b, struct sampler *us)
{
    const uint64_t from = later(a->first, b->first);
    const uint64_t to = a->last < b->last ? a->last : b->last;
    for (size_t i = 0; i + 1 < a->n; i++) {
        const struct span run = { a->gap[i].to, a->gap[i + 1].from };
        if (run.from >= from && run.to <= to) sampler_add(us, 1e-3 * (double)(run.to - run.from));
    }
}

/* The length of the one whole run of `b` inside the gap; 0: none, more than one, or one that
 * reaches out of it. *k: where the search goes on for a later gap. */
static uint64_t one_run(const struct slice_log *b, struct span gap, size_t *k)
{
    while (*k + 1 < b->n && b->gap[*k].to < gap.from) ++*k;
    if (*k + 1 >= b->n) return 0;
    const struct span run = { b->gap[*k].to, b->gap[*k + 1].from };
    const bool inside = run.from >= gap.from && run.to <= gap.to;
    const bool one_only = *k + 2 >= b->n || b->gap[*k + 1].to >= gap.to;
    return inside && one_only ? run.to - run.from : 0;
}

void slice_switches(const struct slice_log log[], size_t n, size_t own, struct sampler *us)
{
    size_t k[SLICE_LOGS_MAX] = { 0 }; /* runs of each: between its gaps k and k + 1 */
    for (size_t i = 0; i < log[own].n; i++) {
        const struct span gap = log[own].gap[i];
        uint64_t runs = 0;
        bool all = true;
        for (size_t j = 0; j < n; j++) {
            const uint64_t run = j == own ? 0 : one_run(&log[j], gap, &k[j]);
            all &= j == own || run > 0;
            runs += run;
        }
        if (all) sampler_add(us, 1e-3 * (double)(gap.to - gap.from - runs) / (double)n);
    }
}

double slice_mva(unsigned n, double host, double card, double overhead)
{
    double queue = 0, rate = 0;
    for (unsigned k = 1; k <= n; k++) {
        const double demand = card * (n > 1 ? 1 + overhead : 1);
        const double response = demand * (1 + queue);
        rate = k / (response + host);
        queue = rate * response;
    }
    return rate * (host + card);
}
