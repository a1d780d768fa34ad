/* tests/support/mutate.h - random changes of a JSON document: members taken away, doubled,
 * exchanged or set to odd values. */
#ifndef GPUSIM_TESTS_MUTATE_H
#define GPUSIM_TESTS_MUTATE_H

#include <jansson.h>
#include <stdint.h>

/* One change of one member, any one. `odd`: JSON texts of the values that members are set to,
 * mostly of the kind that is there. *seed as for test_random(). */
void mutate(json_t *doc, const char *const *odd, size_t n_odd, uint64_t *seed);

#endif
