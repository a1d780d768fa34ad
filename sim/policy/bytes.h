/* policy/bytes.h - the memory side of a request, common to the sharing policies. */
#ifndef GPUSIM_POLICY_BYTES_H
#define GPUSIM_POLICY_BYTES_H

#include "engine/share.h"

/* Fill reserve_bytes and alloc_bytes of `out`. A stated need gets the context on top; a need that
 * nobody stated is `share` of the usable bytes with the context inside, so that n tenants of 1/n
 * fit. `reserve`: whether the scheduler counts bytes. NULL, or why it can never fit. */
const char *bytes_demand(const struct card_type *type, const struct request *request, double share,
                         bool reserve, struct demand *out);

#endif
