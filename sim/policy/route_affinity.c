/* policy/route_affinity.c - a session stays with its replica (for its cache, or its state).
 * Consistent: each session has a sequence of places of its own, drawn from its number (SplitMix64,
 * Steele et al. 2014), and goes to the first of them where a replica is up. A replica that comes
 * takes only the sessions that now meet it first, one in n; of one that goes only its own sessions
 * move, evenly to the others; when it comes back they do too. The first place of a user of a closed
 * loop is that of his number, in turn: as many replicas as people are one each. Requests without a
 * session go in turn. Expected cost: places / replicas up. */
#include "engine/route.h"

static uint64_t splitmix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static size_t pick(const struct route_view *v)
{
    enum { TRIES = 64 };
    if (!v->session) return v->by_rank(v, (size_t)(v->sequence % v->n));
    /* All of 64 draws for each place miss with a chance below e^-64. */
    uint64_t at = v->session;
    const size_t own = (size_t)((v->session - 1) % v->places);
    if (v->dense && v->is_up(v, own)) return own;
    for (uint64_t i = 0; i < (uint64_t)v->places * TRIES; i++) {
        at = splitmix(at);
        if (v->is_up(v, (size_t)(at % v->places))) return (size_t)(at % v->places);
    }
    return v->by_rank(v, 0);
}

const struct route_ops route_affinity = {
    .name = "affinity",
    .help = "a session stays with its replica, also when others come or go",
    .pick = pick,
};
