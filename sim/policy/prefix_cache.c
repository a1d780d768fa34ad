#include "policy/prefix_cache.h"

#include "base/err.h"
#include "base/hashes.h"
#include "base/mem.h"
#include "base/vec.h"
#include "model/blocks.h"

#include <stdlib.h>

struct block {
    sym chain;
    uint32_t users;
    int64_t units;               /* of KV cache */
    struct block *next;          /* in its bucket, or the free list */
    struct block *older, *newer; /* of those that nobody uses */
};

struct prefix_cache {
    const struct symtab *names;
    int64_t unit;
    struct block **bucket; /* a power of two of them */
    size_t n_buckets, n;
    struct block *oldest, *newest, *spare;
    int64_t unused_units;
    VEC(sym) path; /* of the prompt in hand, from the first block to the last */
    VEC(struct block *) chunk;
};

enum { CHUNK = 256, FEWEST_BUCKETS = 64 };

struct prefix_cache *prefix_cache_create(const struct symtab *names, int64_t unit)
{
    struct prefix_cache *c = xcalloc(1, sizeof *c);
    c->names = names;
    c->unit = unit;
    c->n_buckets = FEWEST_BUCKETS;
    c->bucket = xcalloc(c->n_buckets, sizeof(struct block *));
    return c;
}

void prefix_cache_destroy(struct prefix_cache *c)
{
    if (!c) return;
    for (size_t i = 0; i < c->chunk.n; i++) free(c->chunk.v[i]);
    vec_fini(&c->chunk);
    vec_fini(&c->path);
    free(c->bucket);
    free(c);
}

/* ---- the blocks by their chain ---- */

static struct block **bucket_of(const struct prefix_cache *c, sym chain)
{
    return &c->bucket[hash_mix(chain) & (c->n_buckets - 1)];
}

static struct block *find(const struct prefix_cache *c, sym chain)
{
    struct block *b = *bucket_of(c, chain);
    while (b && b->chain != chain) b = b->next;
    return b;
}

static void grow(struct prefix_cache *c)
{
    struct block **old = c->bucket, *b, *next;
    const size_t n = c->n_buckets;
    c->n_buckets *= 2;
    c->bucket = xcalloc(c->n_buckets, sizeof(struct block *));
    for (size_t i = 0; i < n; i++)
        for (b = old[i]; b; b = next) {
            struct block **to = bucket_of(c, b->chain);
            next = b->next;
            b->next = *to;
            *to = b;
        }
    free(old);
}

static struct block *add(struct prefix_cache *c, sym chain, int64_t units)
{
    if (!c->spare) {
        struct block *chunk = xcalloc(CHUNK, sizeof *chunk);
        vec_push(&c->chunk, chunk);
        for (size_t i = CHUNK; i-- > 0;) {
            chunk[i].next = c->spare;
            c->spare = &chunk[i];
        }
    }
    if (c->n++ == c->n_buckets) grow(c);
    struct block *b = c->spare, **to = bucket_of(c, chain);
    c->spare = b->next;
    *b = (struct block){ .chain = chain, .units = units, .next = *to };
    return *to = b;
}

static void drop(struct prefix_cache *c, struct block *b)
{
    struct block **at = bucket_of(c, b->chain);
    while (*at != b) at = &(*at)->next;
    *at = b->next;
    b->next = c->spare;
    c->spare = b;
    c->n--;
}

/* ---- those that nobody uses, by when they were last used ---- */

static void push_newest(struct prefix_cache *c, struct block *b)
{
    b->newer = NULL;
    b->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = b;
    c->newest = b;
    c->unused_units += b->units;
}

static void unlink_unused(struct prefix_cache *c, struct block *b)
{
    *(b->older ? &b->older->newer : &c->oldest) = b->newer;
    *(b->newer ? &b->newer->older : &c->newest) = b->older;
    c->unused_units -= b->units;
}

/* ---- prompts ---- */

/* Tokens of block number i that are kept. */
static int64_t kept(const struct prefix_cache *c, const struct prefix *p, size_t i)
{
    const int64_t left = p->tokens - (int64_t)i * p->block_tokens;
    const int64_t n = left < p->block_tokens ? left : p->block_tokens;
    return n > 0 ? n / c->unit * c->unit : 0;
}

/* c->path: the blocks of which something is kept. */
static void walk(struct prefix_cache *c, const struct prefix *p)
{
    c->path.n = 0;
    for (sym s = p->chain; s; s = blocks_parent(c->names, s, NULL)) vec_push(&c->path, s);
    for (size_t i = 0, n = c->path.n; i < n / 2; i++) {
        const sym s = c->path.v[i];
        c->path.v[i] = c->path.v[n - 1 - i];
        c->path.v[n - 1 - i] = s;
    }
    while (c->path.n && kept(c, p, c->path.n - 1) == 0) c->path.n--;
}

struct prefix_need prefix_cache_look(struct prefix_cache *c, const struct prefix *p)
{
    struct prefix_need need = { 0 };
    bool all = true;
    walk(c, p);
    for (size_t i = 0; i < c->path.n; i++) {
        const struct block *b = find(c, c->path.v[i]);
        /* What was a last block, begun only, may be a whole one here: that is the trace's
         * mistake. */
        const int64_t whole = kept(c, p, i), there = b ? b->units * c->unit : whole,
                      tokens = there < whole ? there : whole;
        all = all && b;
        if (all) need.hit += tokens;
        all = all && tokens == whole;
        need.shared += tokens;
        if (!b || b->users == 0) need.units += tokens / c->unit;
    }
    return need;
}

void prefix_cache_use(struct prefix_cache *c, const struct prefix *p)
{
    walk(c, p);
    for (size_t i = 0; i < c->path.n; i++) {
        struct block *b = find(c, c->path.v[i]);
        const int64_t units = kept(c, p, i) / c->unit;
        if (!b) {
            b = add(c, c->path.v[i], units);
        } else if (b->users == 0) {
            unlink_unused(c, b);
            if (b->units > units) b->units = units; /* the rest of it is free */
        }
        b->users++;
    }
}

int64_t prefix_cache_release(struct prefix_cache *c, const struct prefix *p, int64_t done)
{
    int64_t units = 0;
    walk(c, p);
    for (size_t i = c->path.n; i-- > 0;) {
        struct block *b = find(c, c->path.v[i]);
        BUG_ON(!b || b->users == 0);
        if (--b->users > 0) continue;
        units += b->units;
        if ((int64_t)i * p->block_tokens + kept(c, p, i) > done)
            drop(c, b);
        else
            push_newest(c, b);
    }
    return units;
}

void prefix_cache_trim(struct prefix_cache *c, int64_t unused)
{
    while (c->unused_units > unused) {
        struct block *b = c->oldest;
        unlink_unused(c, b);
        drop(c, b);
    }
}
