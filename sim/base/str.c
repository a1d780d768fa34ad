#include "base/str.h"

#include "base/err.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strbuf_fini(struct strbuf *b)
{
    free(b->s);
    *b = (struct strbuf){ 0 };
}

void strbuf_clear(struct strbuf *b)
{
    b->len = 0;
    if (b->s) b->s[0] = '\0';
}

static void grow(struct strbuf *b, size_t more)
{
    size_t need = b->len + more + 1;

    if (need <= b->cap) return;
    size_t cap = b->cap ? b->cap : 64;
    while (cap < need) cap *= 2;
    b->s = xreallocarray(b->s, cap, 1);
    b->cap = cap;
}

void strbuf_add(struct strbuf *b, const char *s, size_t len)
{
    grow(b, len);
    if (len) memcpy(b->s + b->len, s, len);
    b->len += len;
    b->s[b->len] = '\0';
}

void strbuf_addz(struct strbuf *b, const char *s)
{
    strbuf_add(b, s, strlen(s));
}

void strbuf_addc(struct strbuf *b, char c)
{
    strbuf_add(b, &c, 1);
}

void strbuf_addcsv(struct strbuf *out, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        strbuf_addz(out, s);
        return;
    }
    strbuf_addc(out, '"');
    for (; *s; s++) {
        if (*s == '"') strbuf_addc(out, '"');
        strbuf_addc(out, *s);
    }
    strbuf_addc(out, '"');
}

void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list ap)
{
    va_list again;

    va_copy(again, ap);
    grow(b, 64);
    int len = vsnprintf(b->s + b->len, b->cap - b->len, fmt, ap);
    BUG_ON(len < 0);
    if ((size_t)len >= b->cap - b->len) {
        grow(b, (size_t)len);
        vsnprintf(b->s + b->len, b->cap - b->len, fmt, again);
    }
    b->len += (size_t)len;
    va_end(again);
}

void strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    strbuf_vaddf(b, fmt, ap);
    va_end(ap);
}

static char lower(char c)
{
    return (char)tolower((unsigned char)c);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: Levenshtein's table plus swaps of neighbours, three rows of it. */
size_t str_distance(const char *a, const char *b)
{
    const size_t la = strlen(a), lb = strlen(b);
    size_t *rows = xcalloc(3 * (lb + 1), sizeof *rows);
    size_t *older = rows, *old = rows + lb + 1, *row = rows + 2 * (lb + 1);

    for (size_t j = 0; j <= lb; j++) row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *spare = older;
        older = old;
        old = row;
        row = spare;
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            const char x = lower(a[i - 1]), y = lower(b[j - 1]);
            size_t best = least(least(old[j], row[j - 1]) + 1, old[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
                best = least(best, older[j - 2] + 1);
            row[j] = best;
        }
    }
    const size_t d = row[lb];
    free(rows);
    return d;
}

const char *str_nearest(const char *word, const char *const *names, size_t n)
{
    const size_t len = strlen(word);
    size_t limit = len / 3 < 1 ? 1 : len / 3 > 3 ? 3 : len / 3;
    const char *best = NULL;

    for (size_t i = 0; i < n; i++) {
        const size_t other = strlen(names[i]);
        if (len > other + limit || other > len + limit) continue; /* also bounds the work */
        const size_t d = str_distance(word, names[i]);
        if (d > limit || d >= (len > other ? len : other)) continue; /* nothing in common */
        if (best && d == limit) continue; /* the first of equally near ones */
        best = names[i];
        if (d == 0) break;
        limit = d;
    }
    return best;
}

bool str_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
    const size_t ls = strlen(s), lx = strlen(suffix);

    return ls >= lx && strcmp(s + ls - lx, suffix) == 0;
}

char *str_list(char *buf, size_t size, const char *const *names, size_t n)
{
    size_t at = 0;

    BUG_ON(size < 4);
    buf[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        const size_t need = strlen(names[i]) + (i ? 2 : 0);
        const size_t keep = i + 1 < n ? 5 : 0; /* room for ", ..." unless this is the last */
        if (at + need + keep >= size) {
            snprintf(buf + at, size - at, "%s", i && size - at > 5 ? ", ..." : "...");
            break;
        }
        at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "", names[i]);
    }
    return buf;
}
