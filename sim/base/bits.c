#include "base/bits.h"

#include "base/err.h"
#include "base/mem.h"

#include <stdlib.h>

void bits_init(struct bits *b, size_t n)
{
    *b = (struct bits){ .n = n };
    size_t words = n;
    do {
        words = (words + 63) / 64;
        BUG_ON(b->levels == BITS_LEVELS);
        b->words[b->levels] = words;
        b->level[b->levels++] = xcalloc(words ? words : 1, sizeof(uint64_t));
    } while (words > 1);
}

void bits_fini(struct bits *b)
{
    for (int l = 0; l < b->levels; l++) free(b->level[l]);
    *b = (struct bits){ 0 };
}

bool bits_has(const struct bits *b, size_t i)
{
    return b->level[0][i / 64] >> (i % 64) & 1;
}

void bits_set(struct bits *b, size_t i)
{
    b->count += !bits_has(b, i);
    for (int l = 0; l < b->levels; l++, i /= 64) {
        uint64_t *word = &b->level[l][i / 64];
        const bool summed = *word != 0;
        *word |= UINT64_C(1) << (i % 64);
        if (summed) break; /* the summary above says so already */
    }
}

void bits_clear(struct bits *b, size_t i)
{
    b->count -= bits_has(b, i);
    for (int l = 0; l < b->levels; l++, i /= 64) {
        b->level[l][i / 64] &= ~(UINT64_C(1) << (i % 64));
        if (b->level[l][i / 64]) break; /* the summary above still holds */
    }
}

size_t bits_next(const struct bits *b, size_t from)
{
    /* Up until a word holds something at or after `from`, then down to its first bit. */
    for (int l = 0; l < b->levels; l++) {
        const size_t word = from / 64;
        if (word >= b->words[l]) return BITS_NONE;
        const uint64_t here = b->level[l][word] >> (from % 64) << (from % 64);
        if (here) {
            size_t i = word * 64 + (size_t)__builtin_ctzll(here);
            while (l-- > 0) i = i * 64 + (size_t)__builtin_ctzll(b->level[l][i]);
            return i;
        }
        from = word + 1;
    }
    return BITS_NONE;
}

size_t bits_prev(const struct bits *b, size_t from)
{
    for (int l = 0; l < b->levels; l++) {
        const size_t word = from / 64;
        const uint64_t here = b->level[l][word] << (63 - from % 64);
        if (here) {
            size_t i = from - (size_t)__builtin_clzll(here);
            while (l-- > 0) i = i * 64 + 63 - (size_t)__builtin_clzll(b->level[l][i]);
            return i;
        }
        if (word == 0) return BITS_NONE;
        from = word - 1;
    }
    return BITS_NONE;
}
