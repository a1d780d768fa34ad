/* policy/route_prefix.c - cache-aware: the replica with the least work ahead of the request's end,
 * where what its cache holds of the prompt needs no work: outstanding tokens, in and out, less the
 * tokens found. The trade-off between cache and load of Mooncake's conductor (Qin et al., FAST
 * 2025, section 5: the least time to first token), with tokens for time. A router of its kind asks
 * every replica for each request. It sees caches as they are after the last step that ended. */
#include "engine/route.h"

static double score(const struct route_replica *r)
{
    return r->waiting_size + r->in_service_size - r->hit;
}

const struct route_ops route_prefix = {
    .name = "prefix",
    .help = "cache-aware: the replica with the least tokens ahead, less what its cache holds",
    .by_prompt = true,
    .score = score,
};
