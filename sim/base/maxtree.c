#include "base/maxtree.h"

#include "base/mem.h"

#include <stdlib.h>

void maxtree_init(struct maxtree *t, size_t n)
{
    t->n = n;
    t->leaves = 1;
    while (t->leaves < n) t->leaves *= 2;
    t->max = xcalloc(2 * t->leaves, sizeof *t->max);
    for (size_t i = 0; i < 2 * t->leaves; i++) t->max[i] = INT64_MIN;
}

void maxtree_fini(struct maxtree *t)
{
    free(t->max);
    *t = (struct maxtree){ 0 };
}

void maxtree_set(struct maxtree *t, size_t i, int64_t value)
{
    i += t->leaves;
    t->max[i] = value;
    while (i > 1) {
        i /= 2;
        const int64_t a = t->max[2 * i], b = t->max[2 * i + 1], larger = a > b ? a : b;
        if (t->max[i] == larger) return;
        t->max[i] = larger;
    }
}

int64_t maxtree_get(const struct maxtree *t, size_t i)
{
    return t->max[t->leaves + i];
}

int64_t maxtree_max(const struct maxtree *t)
{
    return t->n ? t->max[1] : INT64_MIN;
}

size_t maxtree_next(const struct maxtree *t, size_t from, int64_t bound)
{
    if (from >= t->n) return MAXTREE_NONE;
    size_t i = t->leaves + from;
    /* Climb to the right until a subtree holds something large enough ... */
    while (t->max[i] < bound) {
        while (i & 1) i /= 2; /* a right child: its parent's right neighbour is further up */
        if (i == 0) return MAXTREE_NONE;
        i++;
    }
    /* ... then take its leftmost such leaf. */
    while (i < t->leaves) i = 2 * i + (t->max[2 * i] < bound);
    return i - t->leaves;
}
