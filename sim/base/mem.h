/* base/mem.h - allocation that cannot fail: out of memory ends a batch program with status 5.
 * Threads: safe from any thread. */
#ifndef GPUSIM_BASE_MEM_H
#define GPUSIM_BASE_MEM_H

#include <stddef.h>

/* Says so and ends the program with status 5: for what libraries allocate. Async-signal-safe. */
_Noreturn void out_of_memory(void);

void *xmalloc(size_t bytes) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t bytes) __attribute__((malloc, returns_nonnull));
/* Zeroed, for large arrays that are touched at random: starts a cache line, and lies on huge
 * pages where the system gives them. Linux. */
void *xcalloc_lines(size_t n, size_t bytes) __attribute__((malloc, returns_nonnull));
/* Resize to n * bytes, with overflow check. xreallocarray(p, 0, x) keeps a valid pointer. */
void *xreallocarray(void *p, size_t n, size_t bytes) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t len) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

#endif
