/* tests/support/second_compare.h - what the product says of a scenario against what the second
 * engine says: jobs, moves, what went out of service, the integral of what was held. */
#ifndef GPUSIM_TESTS_SECOND_COMPARE_H
#define GPUSIM_TESTS_SECOND_COMPARE_H

#include "support/second_engine.h"
#include "support/simulate.h"

struct second_case {
    uint64_t seed;
    const char *scenario, *trace;
    bool shared, two_sided; /* cards are; and held by compute or memory, whichever is more */
};

/* The only policy is "p", its jobs are "0", "1", ..; a difference fails the test with the scenario,
 * and the first job over which they part. */
void second_compare(const struct second_case *c, const struct simulated *s,
                    const struct second_job *j, int n, const struct second_totals *t);

#endif
