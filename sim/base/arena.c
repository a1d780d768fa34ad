#include "base/arena.h"

#include "base/err.h"
#include "base/mem.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_MIN = 4096, CHUNK_MAX = 1 << 20 };

struct chunk {
    struct chunk *next;
    alignas(max_align_t) char data[];
};

struct arena {
    struct chunk *chunks;
    char *at, *end;    /* the free part of the newest ordinary chunk */
    size_t chunk_size; /* of the next one */
};

struct arena *arena_create(void)
{
    struct arena *a = xcalloc(1, sizeof *a);

    a->chunk_size = CHUNK_MIN;
    return a;
}

void arena_destroy(struct arena *a)
{
    if (!a) return;
    for (struct chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

static char *chunk_add(struct arena *a, size_t bytes)
{
    struct chunk *c = xcalloc(1, sizeof *c + bytes);

    c->next = a->chunks;
    a->chunks = c;
    return c->data;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    const size_t step = alignof(max_align_t);

    BUG_ON(bytes > SIZE_MAX / 2);
    bytes = bytes ? (bytes + step - 1) / step * step : step;
    if (bytes > (size_t)(a->end - a->at)) {
        if (bytes > a->chunk_size / 4) return chunk_add(a, bytes); /* large: a chunk of its own */
        a->at = chunk_add(a, a->chunk_size);
        a->end = a->at + a->chunk_size;
        if (a->chunk_size < CHUNK_MAX) a->chunk_size *= 2;
    }
    void *p = a->at;
    a->at += bytes;
    return p;
}

void *arena_array(struct arena *a, size_t n, size_t bytes)
{
    BUG_ON(bytes && n > SIZE_MAX / 2 / bytes);
    return arena_alloc(a, n * bytes);
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
    char *copy = arena_alloc(a, len + 1);

    if (len) memcpy(copy, s, len);
    return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    char none[1]; /* gcc warns of NULL under sanitizers */

    va_start(ap, fmt);
    int len = vsnprintf(none, sizeof none, fmt, ap);
    va_end(ap);
    BUG_ON(len < 0);
    char *s = arena_alloc(a, (size_t)len + 1);
    va_start(ap, fmt);
    vsnprintf(s, (size_t)len + 1, fmt, ap);
    va_end(ap);
    return s;
}
