#include "base/mem.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void out_of_memory(void)
{
    static const char text[] = "gpusim: out of memory\n";

    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(err_status(ERR_LIMIT)); /* no atexit work: it might allocate */
}

void *xmalloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);

    if (!p) out_of_memory();
    return p;
}

void *xcalloc(size_t n, size_t bytes)
{
    void *p = n && bytes ? calloc(n, bytes) : calloc(1, 1);

    if (!p) out_of_memory();
    return p;
}

void *xcalloc_lines(size_t n, size_t bytes)
{
    enum { LINE_BYTES = 64, HUGE_BYTES = 2 << 20 };
    if (bytes && n > SIZE_MAX / bytes) out_of_memory();
    const size_t all = n && bytes ? n * bytes : 1, huge = all / HUGE_BYTES * HUGE_BYTES;
    void *p;

    if (posix_memalign(&p, huge ? HUGE_BYTES : LINE_BYTES, all) != 0) out_of_memory();
    if (huge) (void)madvise(p, huge, MADV_HUGEPAGE); /* refused, it is only slower */
    return memset(p, 0, all);
}

void *xreallocarray(void *p, size_t n, size_t bytes)
{
    if (bytes && n > SIZE_MAX / bytes) out_of_memory();
    void *q = realloc(p, n && bytes ? n * bytes : 1);
    if (!q) out_of_memory();
    return q;
}

char *xstrndup(const char *s, size_t len)
{
    char *copy = xmalloc(len + 1);

    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *xstrdup(const char *s)
{
    return xstrndup(s, strlen(s));
}

char *xasprintf(const char *fmt, ...)
{
    va_list ap;
    char none[1]; /* gcc warns of NULL under sanitizers */

    va_start(ap, fmt);
    int len = vsnprintf(none, sizeof none, fmt, ap);
    va_end(ap);
    BUG_ON(len < 0);
    char *s = xmalloc((size_t)len + 1);
    va_start(ap, fmt);
    vsnprintf(s, (size_t)len + 1, fmt, ap);
    va_end(ap);
    return s;
}
