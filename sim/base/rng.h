/* base/rng.h - deterministic random streams: one per purpose and replication.
 *
 * A stream's seed mixes (master seed, replication, purpose name), so what one purpose draws never
 * shifts another, two policies meet the same arrivals, and nothing depends on thread count or on
 * GSL_RNG_SEED. Generator: gsl_rng_mt19937 (Matsumoto and Nishimura 1998); mixing: fmix64 finaliser
 * of MurmurHash3 (Appleby, public domain). Threads: a stream belongs to one thread. */
#ifndef GPUSIM_BASE_RNG_H
#define GPUSIM_BASE_RNG_H

#include <gsl/gsl_rng.h>
#include <stdint.h>

uint64_t rng_mix(uint64_t seed, uint64_t replication, const char *purpose);
/* Without a state: number `n` of sub-stream `which`, uniform in (0, 1). For as many streams as
 * there are cards. */
double rng_at(uint64_t stream, uint64_t which, uint64_t n);
gsl_rng *rng_create(uint64_t seed, uint64_t replication, const char *purpose); /* gsl_rng_free */

#endif
