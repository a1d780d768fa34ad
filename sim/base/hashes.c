#include "base/hashes.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAP = 1024, SLACK = 64 };

uint64_t hash_bytes(const char *s, size_t len)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
    return h;
}

uint64_t hash_mix(uint64_t h)
{
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

static uint64_t hash_of(const struct hashes_entry *e)
{
    return (uint64_t)e->high << 32 | e->low;
}

static size_t home(uint64_t hash, size_t cap)
{
    __extension__ typedef unsigned __int128 wide;
    return (size_t)((wide)hash * cap >> 64);
}

/* What the array must hold so that the k-th entry from the end finds room at its home or behind. */
static size_t size_for(const struct hashes *s, size_t cap)
{
    size_t size = cap, k = 0;
    for (size_t i = s->size; i-- > 0;) {
        const uint64_t h = hash_of(&s->v[i]);
        if (h == 0) continue;
        k++;
        if (home(h, cap) + k > size) size = home(h, cap) + k;
    }
    return size + SLACK;
}

/* A sixth more room, in place: all entries move to the far end, in order, then each to its home. No
 * entry is overwritten before it moved: size_for() saw that those from it on fit behind its
 * home. */
static void grow(struct hashes *s)
{
    const size_t cap = s->cap + s->cap / 6 + FIRST_CAP, size = size_for(s, cap), old = s->size;
    const struct hashes_entry none = { 0, 0, 0 };
    size_t from = size, to = 0;
    s->v = xreallocarray(s->v, size, sizeof *s->v);
    for (size_t i = old; i-- > 0;)
        if (hash_of(&s->v[i])) s->v[--from] = s->v[i];
    for (; from < size; from++) {
        const struct hashes_entry e = s->v[from];
        const size_t at = home(hash_of(&e), cap);
        while (to < at) s->v[to++] = none;
        s->v[to++] = e;
    }
    while (to < size) s->v[to++] = none;
    s->cap = cap;
    s->size = size;
}

bool hashes_add(struct hashes *s, uint64_t hash, uint32_t *value)
{
    if (hash == 0) hash = 1;
    if (8 * (s->n + 1) > 7 * s->cap) grow(s);
    for (;;) {
        size_t i = home(hash, s->cap);
        while (i < s->size && hash_of(&s->v[i]) && hash_of(&s->v[i]) < hash) i++;
        if (i < s->size && hash_of(&s->v[i]) == hash) {
            *value = s->v[i].value;
            return false;
        }
        size_t end = i;
        while (end < s->size && hash_of(&s->v[end])) end++;
        if (end == s->size) { /* the last places are full */
            grow(s);
            continue;
        }
        memmove(&s->v[i + 1], &s->v[i], (end - i) * sizeof *s->v);
        s->v[i] = (struct hashes_entry){ (uint32_t)(hash >> 32), (uint32_t)hash, *value };
        s->n++;
        return true;
    }
}

void hashes_fini(struct hashes *s)
{
    free(s->v);
    *s = (struct hashes){ 0 };
}
