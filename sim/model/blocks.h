/* model/blocks.h - prompts by their blocks: a trace may number the blocks of tokens that its
 * prompts begin with ("hash_ids" in Mooncake's traces); prompts with equal leading numbers begin
 * alike, which is what a prefix cache lives on. A chain is a prompt's leading blocks, known by the
 * last one: a symbol whose text is the chain without its last block, and that block's number. Two
 * prompts that begin alike share the symbols of what they have in common.
 *
 * Memory: that of a symbol for every distinct block. O(1) each. Threads: as base/symtab.h. */
#ifndef GPUSIM_MODEL_BLOCKS_H
#define GPUSIM_MODEL_BLOCKS_H

#include "base/symtab.h"

enum { BLOCKS_TOKENS = 512 }; /* of a block, where a trace does not say: as in Mooncake's */

/* `parent` and one more block; parent 0: the first block of a prompt. */
sym blocks_add(struct symtab *names, sym parent, int64_t id);
/* The chain without its last block (0: that was the only one); *id, unless NULL, is that block's
 * number. `chain` must come from blocks_add(). */
sym blocks_parent(const struct symtab *names, sym chain, int64_t *id);

#endif
