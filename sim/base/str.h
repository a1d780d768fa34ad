/* base/str.h - growing strings, and the nearest of several names for "did you mean". */
#ifndef GPUSIM_BASE_STR_H
#define GPUSIM_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Always NUL-terminated once anything was added; starts as {0}; `s` is NULL while empty and
 * untouched. strbuf_fini() frees, strbuf_clear() keeps the memory. */
struct strbuf {
    char *s;
    size_t len, cap;
};

void strbuf_fini(struct strbuf *b);
void strbuf_clear(struct strbuf *b);
void strbuf_add(struct strbuf *b, const char *s, size_t len);
void strbuf_addz(struct strbuf *b, const char *s);
void strbuf_addc(struct strbuf *b, char c);
/* one CSV field, quoted if need be (RFC 4180) */
void strbuf_addcsv(struct strbuf *b, const char *s);
void strbuf_addf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* Edits (insert, delete, replace, swap of neighbours) from a to b, ignoring case. O(|a| |b|). */
size_t str_distance(const char *a, const char *b);

/* The name nearest to `word` if it is near enough to be a typing slip, else NULL. */
const char *str_nearest(const char *word, const char *const *names, size_t n);

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);

/* "a, b, c" into a caller's buffer, cut with "..." when it does not fit. Returns buf. */
char *str_list(char *buf, size_t size, const char *const *names, size_t n);

#endif
