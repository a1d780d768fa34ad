#include "base/rng.h"

#include "base/mem.h"

/* The 64-bit finaliser of MurmurHash3. */
static uint64_t fmix64(uint64_t h)
{
    h ^= h >> 33;
    h *= UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 33;
    h *= UINT64_C(0xc4ceb9fe1a85ec53);
    h ^= h >> 33;
    return h;
}

uint64_t rng_mix(uint64_t seed, uint64_t replication, const char *purpose)
{
    /* the golden ratio's fraction keeps 0, 0, "" away from fmix64's fixed point 0 */
    uint64_t h = fmix64(seed + UINT64_C(0x9e3779b97f4a7c15));

    h = fmix64(h ^ (replication + UINT64_C(0x9e3779b97f4a7c15)));
    for (; *purpose; purpose++) h = fmix64(h ^ (unsigned char)*purpose);
    return fmix64(h);
}

double rng_at(uint64_t stream, uint64_t which, uint64_t n)
{
    uint64_t h = fmix64(stream + UINT64_C(0x9e3779b97f4a7c15));

    h = fmix64(h ^ (which + UINT64_C(0x9e3779b97f4a7c15)));
    h = fmix64(h ^ (n + UINT64_C(0x9e3779b97f4a7c15)));
    return ((double)(h >> 11) + 0.5) * 0x1p-53;
}

gsl_rng *rng_create(uint64_t seed, uint64_t replication, const char *purpose)
{
    gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);

    if (!r) out_of_memory();
    gsl_rng_set(r, (unsigned long)rng_mix(seed, replication, purpose)); /* it uses 32 bits */
    return r;
}
