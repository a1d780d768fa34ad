/* base/tree.h - balanced trees inside the caller's structs: the RB_ macros of <sys/tree.h> as kept
 * by libbsd. RB_NFIND finds the first element not below a key. O(log n).
 *
 * TREE_GENERATE stands for RB_GENERATE_STATIC, which needs a BSD <sys/cdefs.h>. */
#ifndef GPUSIM_BASE_TREE_H
#define GPUSIM_BASE_TREE_H

#include <bsd/sys/tree.h>

#define TREE_GENERATE(name, type, field, compare)                                                  \
    RB_GENERATE_INTERNAL(name, type, field, compare, __attribute__((unused)) static)

#endif
