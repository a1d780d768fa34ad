/* base/bits.h - a set of small integers that finds its next member in a few steps: one bit each,
 * with a summary bit per 64 below. set, clear, next, prev: O(log64 n). Memory: n/8 bytes.
 * Threads: one set, one writer. */
#ifndef GPUSIM_BASE_BITS_H
#define GPUSIM_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BITS_LEVELS = 5 }; /* 64^5 = a thousand million members */

struct bits {
    uint64_t *level[BITS_LEVELS];
    size_t words[BITS_LEVELS];
    size_t n, count;
    int levels;
};

#define BITS_NONE SIZE_MAX

void bits_init(struct bits *b, size_t n); /* empty set over 0 .. n - 1 */
void bits_fini(struct bits *b);           /* harmless on {0} */
void bits_set(struct bits *b, size_t i);
void bits_clear(struct bits *b, size_t i);
bool bits_has(const struct bits *b, size_t i);
/* The smallest member >= from, or BITS_NONE. */
size_t bits_next(const struct bits *b, size_t from);
/* The largest member <= from, or BITS_NONE. Requires from < n. */
size_t bits_prev(const struct bits *b, size_t from);

#endif
