/* base/maxtree.h - an array of numbers that finds the first element not below a bound: a complete
 * binary tree of maxima over the array. set and next_at_least: O(log n). Memory: 2n numbers.
 * Threads: one tree, one writer. */
#ifndef GPUSIM_BASE_MAXTREE_H
#define GPUSIM_BASE_MAXTREE_H

#include <stddef.h>
#include <stdint.h>

struct maxtree {
    int64_t *max; /* max[1] the root, children of i at 2i and 2i + 1 */
    size_t n, leaves;
};

#define MAXTREE_NONE SIZE_MAX

void maxtree_init(struct maxtree *t, size_t n); /* all elements INT64_MIN */
void maxtree_fini(struct maxtree *t);           /* harmless on {0} */
void maxtree_set(struct maxtree *t, size_t i, int64_t value);
int64_t maxtree_get(const struct maxtree *t, size_t i);
int64_t maxtree_max(const struct maxtree *t); /* of all; INT64_MIN when empty */
/* The first i >= from with element >= bound, or MAXTREE_NONE. */
size_t maxtree_next(const struct maxtree *t, size_t from, int64_t bound);

#endif
