/* engine/steps.h - what changes in steps as time goes on: an array of records, each of which
 * begins with the simtime from which it holds until the next one; ascending, at least one. Pure;
 * threads: nothing is shared. */
#ifndef GPUSIM_ENGINE_STEPS_H
#define GPUSIM_ENGINE_STEPS_H

#include "base/simtime.h"

#include <stddef.h>

/* The record in which `at` lies, of `n` of `size` bytes; the first one for a time before all. O(log
 * n). */
static inline size_t steps_find(const void *step, size_t size, size_t n, simtime at)
{
    size_t low = 0, high = n;
    while (high - low > 1) {
        const size_t mid = low + (high - low) / 2;
        if (*(const simtime *)(const void *)((const char *)step + mid * size) <= at)
            low = mid;
        else
            high = mid;
    }
    return low;
}

#endif
