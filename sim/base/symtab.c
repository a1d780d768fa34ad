#include "base/symtab.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

#include <stdbool.h>
#include <string.h>

struct entry {
    const char *s;
    size_t len;
    uint64_t hash;
};

struct symtab {
    struct arena *text;
    VEC(struct entry) entries;
    sym *slots;     /* open addressing, linear probing; 0: free (symbol 0 is never stored) */
    size_t slots_n; /* a power of two, at least twice the entries */
};

/* FNV-1a, 64 bit (Fowler, Noll, Vo; public domain), with a last mix for the low bits. */
static uint64_t hash_of(const char *s, size_t len)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
    return h ^ (h >> 32);
}

struct symtab *symtab_create(void)
{
    struct symtab *t = xcalloc(1, sizeof *t);

    t->text = arena_create();
    t->slots_n = 64;
    t->slots = xcalloc(t->slots_n, sizeof *t->slots);
    vec_push(&t->entries, ((struct entry){ .s = "" }));
    return t;
}

void symtab_destroy(struct symtab *t)
{
    if (!t) return;
    arena_destroy(t->text);
    vec_fini(&t->entries);
    free(t->slots);
    free(t);
}

/* The slot that holds the string, or the free one where it would go. */
static size_t probe(const struct symtab *t, const char *s, size_t len, uint64_t hash)
{
    const size_t mask = t->slots_n - 1;
    size_t i = (size_t)hash & mask;

    for (; t->slots[i]; i = (i + 1) & mask) {
        const struct entry *e = &t->entries.v[t->slots[i]];
        if (e->hash == hash && e->len == len && memcmp(e->s, s, len) == 0) break;
    }
    return i;
}

static void grow(struct symtab *t)
{
    free(t->slots);
    t->slots_n *= 2;
    t->slots = xcalloc(t->slots_n, sizeof *t->slots);
    for (size_t k = 1; k < t->entries.n; k++) {
        size_t i = (size_t)t->entries.v[k].hash & (t->slots_n - 1);
        while (t->slots[i]) i = (i + 1) & (t->slots_n - 1);
        t->slots[i] = (sym)k;
    }
}

sym symtab_add(struct symtab *t, const char *s, size_t len)
{
    if (len == 0) return 0;
    const uint64_t hash = hash_of(s, len);
    size_t i = probe(t, s, len, hash);
    if (t->slots[i]) return t->slots[i];

    BUG_ON(t->entries.n >= UINT32_MAX);
    if (2 * (t->entries.n + 1) > t->slots_n) {
        grow(t);
        i = probe(t, s, len, hash);
    }
    const sym id = (sym)t->entries.n;
    vec_push(&t->entries,
             ((struct entry){ .s = arena_strndup(t->text, s, len), .len = len, .hash = hash }));
    t->slots[i] = id;
    return id;
}

sym symtab_addz(struct symtab *t, const char *s)
{
    return symtab_add(t, s, strlen(s));
}

sym symtab_find(const struct symtab *t, const char *s)
{
    const size_t len = strlen(s);

    return len ? t->slots[probe(t, s, len, hash_of(s, len))] : 0;
}

const char *symtab_name(const struct symtab *t, sym s)
{
    BUG_ON(s >= t->entries.n);
    return t->entries.v[s].s;
}

size_t symtab_count(const struct symtab *t)
{
    return t->entries.n;
}
