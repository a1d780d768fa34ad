/* base/runheap.h - which of several sorted runs is next: a binary heap of their numbers (Knuth, TAOCP
 * vol. 3, 5.4.1, multiway merging). The caller keeps the runs and says which of two comes first.
 *
 *     for (size_t i = n / 2; i-- > 0;) runheap_sift(heap, n, i, before, ctx);   // make it a heap
 *     heap[0] ...; runheap_sift(heap, n, 0, before, ctx);                       // the first run went on
 *
 * O(log n) calls of `before`. Threads: one heap, one thread. */
#ifndef GPUSIM_BASE_RUNHEAP_H
#define GPUSIM_BASE_RUNHEAP_H

#include <stdbool.h>
#include <stddef.h>

/* heap[at] goes down to where it belongs; `before(ctx, a, b)`: run a comes before run b. */
static inline void runheap_sift(size_t *heap, size_t n, size_t at,
                                bool (*before)(const void *ctx, size_t a, size_t b),
                                const void *ctx)
{
    for (;;) {
        size_t least = at;
        for (size_t c = 2 * at + 1; c <= 2 * at + 2 && c < n; c++)
            if (before(ctx, heap[c], heap[least])) least = c;
        if (least == at) return;
        const size_t swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

#endif
