/* engine/bounds.h - what one pass of promises has learnt: before which time a request for cards
 * of a group finds none for as long as it needs them. While a pass only takes, such a bound
 * holds for all that look alike and need them as long or longer, so the next search begins
 * there; its result is the same.
 *
 * Complexity: O(log) of the bounds of a request for a question, O(bounds of a request) to add one;
 * memory O(requests x groups + bounds), kept from pass to pass. Threads: one run, one thread. */
#ifndef GPUSIM_ENGINE_BOUNDS_H
#define GPUSIM_ENGINE_BOUNDS_H

#include "base/vec.h"
#include "engine/shape.h"

/* Nothing for `length` begins before `at`. */
struct bound {
    simtime length, at;
};
struct bound_list {
    VEC(struct bound) of; /* by length; longer ones are later */
};
struct bounds {
    uint64_t pass;
    size_t used, n_groups;
    VEC(struct bound_list) list; /* of a shape and a group; entries beyond `used` keep memory */
};

/* Something was given back, or may have been: nothing is known. */
static inline void bounds_forget(struct bounds *b)
{
    b->pass++;
    b->used = 0;
}
/* The later of `from` and what is known. */
simtime bounds_from(const struct bounds *b, const struct shape *s, size_t group, simtime length,
                    simtime from);
void bounds_learn(struct bounds *b, struct shape *s, size_t group, simtime length, simtime at);
void bounds_fini(struct bounds *b);

#endif
