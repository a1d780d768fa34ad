/* base/vec.h - growable array of any type.
 *
 *     VEC(struct job *) ready = {0};
 *     vec_push(&ready, j);
 *     for (size_t i = 0; i < ready.n; i++) use(ready.v[i]);
 *     vec_fini(&ready);
 *
 * Pointers into `v` are valid until the next push. Amortised O(1). */
#ifndef GPUSIM_BASE_VEC_H
#define GPUSIM_BASE_VEC_H

#include "base/mem.h"

#include <stdlib.h>

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *v;                                                                                   \
        size_t n, cap;                                                                             \
    }

#define vec_reserve(a, want)                                                                       \
    do {                                                                                           \
        if ((a)->cap < (want)) {                                                                   \
            while ((a)->cap < (want)) (a)->cap = (a)->cap ? 2 * (a)->cap : 8;                      \
            (a)->v = xreallocarray((a)->v, (a)->cap, sizeof *(a)->v);                              \
        }                                                                                          \
    } while (0)

#define vec_push(a, item)                                                                          \
    do {                                                                                           \
        vec_reserve((a), (a)->n + 1);                                                              \
        (a)->v[(a)->n++] = (item);                                                                 \
    } while (0)

#define vec_fini(a)                                                                                \
    do {                                                                                           \
        free((a)->v);                                                                              \
        (a)->v = NULL;                                                                             \
        (a)->n = (a)->cap = 0;                                                                     \
    } while (0)

#endif
