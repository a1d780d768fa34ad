/* base/arena.h - memory that lives and dies together: the configuration of one run.
 * Zero-filled, aligned for any type. Threads: one arena, one thread. O(1) per allocation. */
#ifndef GPUSIM_BASE_ARENA_H
#define GPUSIM_BASE_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_create(void);
void arena_destroy(struct arena *a); /* accepts NULL */

void *arena_alloc(struct arena *a, size_t bytes) __attribute__((returns_nonnull));
void *arena_array(struct arena *a, size_t n, size_t bytes) __attribute__((returns_nonnull));
char *arena_strdup(struct arena *a, const char *s); /* NULL for NULL */
char *arena_strndup(struct arena *a, const char *s, size_t len) __attribute__((returns_nonnull));
char *arena_printf(struct arena *a, const char *fmt, ...)
    __attribute__((returns_nonnull, format(printf, 2, 3)));

#endif
