/* base/err.h - user mistakes as values that travel up, with the exact place and the next step.
 *
 * A function that can fail for a reason outside the program returns 0 or a negative enum err_code
 * and describes the first cause in a caller-owned `struct err`. Later failures are consequences
 * and never overwrite it. A broken invariant is a bug: BUG() reports it and aborts.
 *
 * Threads: a struct err belongs to one thread. Nothing here allocates. */
#ifndef GPUSIM_BASE_ERR_H
#define GPUSIM_BASE_ERR_H

#include <stdarg.h>
#include <stdio.h>

/* name, process exit status, meaning */
#define ERR_MAP(X)                                                                                 \
    X(USAGE, 2, "command line")                                                                    \
    X(INPUT, 3, "scenario, trace, profile or price book")                                          \
    X(IO, 4, "file or child process")                                                              \
    X(LIMIT, 5, "run stopped by its own limits")                                                   \
    X(CHECK, 6, "internal conservation check failed: a bug in gpusim")

enum err_code {
    ERR_OK = 0,
#define X(name, status, meaning) ERR_##name = -(status),
    ERR_MAP(X)
#undef X
};

/* Where in the user's input. Every member may be absent: NULL, or 0 for line and col (both count
 * from 1; col counts bytes). `path` is a JSON pointer (RFC 6901) such as "/fleet/0/memory". */
struct loc {
    const char *file;
    int line, col;
    const char *path;
};

/* Starts as {0}. `excerpt` holds the offending source line, `mark_col`/`mark_len` what to
 * underline in it; `hint` is a next step such as `did you mean "80 GB"?`. */
struct err {
    enum err_code code;
    char where[256];
    char msg[512];
    char excerpt[200];
    int line, mark_col, mark_len;
    char hint[200];
};

/* Record the first failure and return `code`. `e` and `at` may be NULL. */
#define err_set(...) err_known(err_record(__VA_ARGS__))
int err_record(struct err *e, enum err_code code, const struct loc *at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
int err_vset(struct err *e, enum err_code code, const struct loc *at, const char *fmt, va_list ap)
    __attribute__((format(printf, 4, 0)));

/* That a failure is negative, said where the tools that follow every path can see it. */
static inline int err_known(int code)
{
    if (code >= 0) __builtin_unreachable();
    return code;
}

/* Attach to the error already in `e` (no effect when there is none): the next step; the source
 * line `text` (`len` bytes, not NUL-terminated) with columns [col, col + mark_len) underlined. */
void err_hint(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void err_excerpt(struct err *e, const char *text, size_t len, int line, int col, int mark_len);

/* "gpusim: where: msg", the excerpt with carets, the hint. `program` is the name printed first. */
void err_print(const struct err *e, const char *program, FILE *to);

/* ERR_IO for a call of the C library that failed with this errno; want of memory ends the program,
 * as in base/mem.h. */
enum err_code err_of_errno(int why);

/* Process exit status of a code: 0 for ERR_OK. */
int err_status(enum err_code code);

/* The program contradicts itself: say where and abort. */
#define BUG(...) err_bug(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_ON(cond)                                                                               \
    do {                                                                                           \
        if (cond) BUG("%s", #cond);                                                                \
    } while (0)
_Noreturn void err_bug(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
