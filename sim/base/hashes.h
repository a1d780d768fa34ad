/* base/hashes.h - a map from 64-bit hashes to 32-bit values, for millions of them: at most 16 bytes
 * each beyond the first thousand, and no second copy while it grows.
 *
 * Open addressing with linear probing in the order of the hashes (Amble and Knuth 1974): where a
 * hash belongs is its share of the range, so the table is one sorted array with gaps and can be
 * spread over more room in place. Hashes must be well mixed (hash_mix()).
 * Two different things share a hash with probability n^2 / 2^65: 3e-6 for ten million.
 *
 * Threads: one map, one thread. Cost: O(1) expected. Ownership: hashes_fini() frees. */
#ifndef GPUSIM_BASE_HASHES_H
#define GPUSIM_BASE_HASHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hashes_entry {
    uint32_t high, low, value; /* high = low = 0: free */
};

struct hashes { /* starts as {0} */
    struct hashes_entry *v;
    size_t n, cap, size; /* cap: places where a hash may belong; size - cap: overflow of the last */
};

/* True: it is new and has that value now. False: it was there; *value becomes what it had. */
bool hashes_add(struct hashes *s, uint64_t hash, uint32_t *value);
void hashes_fini(struct hashes *s);

uint64_t hash_bytes(const char *s, size_t len); /* FNV-1a (Fowler, Noll, Vo), 64 bit */
uint64_t hash_mix(uint64_t h); /* finaliser of MurmurHash3 (Appleby): a bijection */

#endif
