/* engine/answers.h - what a policy answered for a set of residents, remembered: the same few kinds
 * of jobs meet again and again, and a closed network takes microseconds to solve.
 *
 * The policy is asked with the residents in order of their shape ids, so an answer does not depend
 * on who came first. Sets of more than ANSWERS_RESIDENTS are asked anew each time. Memory: a fixed
 * table; a newer answer replaces an older one in the same place. Threads: one run, one thread.
 * O(n^2) in the number of residents (they arrive nearly sorted), plus the policy's own work for a
 * new set. */
#ifndef GPUSIM_ENGINE_ANSWERS_H
#define GPUSIM_ENGINE_ANSWERS_H

#include "engine/plan.h"

enum { ANSWERS_RESIDENTS = 16 };

struct answers;

struct answers *answers_create(const struct plan *plan);
void answers_destroy(struct answers *a); /* accepts NULL */

/* Set speed[0..n) for the residents in the caller's order, and *duty, the share of time with a
 * kernel on the card. id[i] names everything about resident i that the policy sees. A speed outside
 * (0, 1] is a bug of the policy: BUG(). Requires n >= 1. */
void answers_ask(struct answers *a, size_t group, const struct resident_view *resident,
                 const uint64_t *id, size_t n, double speed[], double *duty);

#endif
