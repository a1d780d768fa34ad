/* policy/prefix_cache.h - the blocks of prompts that one replica of a language model holds: those
 * that running sequences use, and of the rest those that were used last, as far as memory goes.
 *
 * A block is known by the chain of blocks up to it (model/blocks.h), so a block is only found
 * behind all those in front of it. Sequences that share a block share its memory. A block that
 * nobody uses any more stays until its memory is needed; the least recently used one goes first, of
 * one prompt the last block first (vLLM's automatic prefix caching; Kwon et al. 2023 for the shared
 * blocks). Of a block only whole blocks of the engine's KV cache are kept.
 *
 * Memory: 56 bytes for each block held. Cost: O(1) a block. Threads: one replica, one thread. */
#ifndef GPUSIM_POLICY_PREFIX_CACHE_H
#define GPUSIM_POLICY_PREFIX_CACHE_H

#include "base/symtab.h"

#include <stdbool.h>
#include <stdint.h>

struct prefix_cache;

/* `names` holds the chains and outlives it; `unit`: tokens of a block of KV cache. */
struct prefix_cache *prefix_cache_create(const struct symtab *names, int64_t unit);
void prefix_cache_destroy(struct prefix_cache *c); /* accepts NULL */

/* A prompt. `tokens` >= 0 in all, in blocks of `block_tokens`, the last one perhaps begun only. */
struct prefix {
    sym chain; /* 0: nothing is known of it */
    int64_t block_tokens, tokens;
};

struct prefix_need {
    int64_t hit;    /* tokens from the start that are there */
    int64_t shared; /* tokens of it that are, or would be, in shared blocks; >= hit */
    int64_t units;  /* blocks of KV cache in them that nobody uses yet */
};
struct prefix_need prefix_cache_look(struct prefix_cache *c, const struct prefix *p);

/* A sequence with this prompt begins to use its blocks, those that are not there yet included.
 * Takes what prefix_cache_look() says. */
void prefix_cache_use(struct prefix_cache *c, const struct prefix *p);
/* It does so no more. Of its blocks, those that end beyond token `done` were never filled in: they
 * are gone unless others use them. Returns the blocks of KV cache that nobody uses any more. */
int64_t prefix_cache_release(struct prefix_cache *c, const struct prefix *p, int64_t done);
/* Blocks of KV cache that are free, or held by what nobody uses: the least recently used go until
 * the rest is no more than that. */
void prefix_cache_trim(struct prefix_cache *c, int64_t unused);

#endif
