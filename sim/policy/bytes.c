#include "policy/bytes.h"

const char *bytes_demand(const struct card_type *type, const struct request *request, double share,
                         bool reserve, struct demand *out)
{
    const uint64_t usable = type->gpu->usable_bytes;
    out->limit_bytes = UINT64_MAX;
    if (request->bytes == JOB_NO_BYTES) {
        const uint64_t own = (uint64_t)(share * (double)usable);
        out->alloc_bytes = own < usable ? own : usable;
    } else if (request->bytes > UINT64_MAX - type->context_bytes) {
        return "it needs more memory than any card has";
    } else {
        out->alloc_bytes = request->bytes + type->context_bytes;
    }
    out->reserve_bytes = reserve ? out->alloc_bytes : 0;
    return reserve && out->alloc_bytes > usable ? "it needs more memory than the card has" : NULL;
}
