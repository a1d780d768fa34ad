#include "base/err.h"

#include "base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* vsnprintf whose cut shows: a message that lost its end finishes with "...". */
static void put(char *buf, size_t size, const char *fmt, va_list ap)
{
    int want = vsnprintf(buf, size, fmt, ap);

    if (want >= 0 && (size_t)want < size) return;
    size_t cut = size - 4;
    while (cut > 0 && ((unsigned char)buf[cut] & 0xC0) == 0x80) cut--; /* not inside a character */
    memcpy(buf + cut, "...", 4);
}

static void put_where(char *buf, size_t size, const struct loc *at)
{
    const char *file = at->file ? at->file : "";
    const char *path = at->path ? at->path : "";
    char place[32] = "";
    int n = 0;

    if (at->line > 0) n = snprintf(place, sizeof place, ":%d", at->line);
    if (at->line > 0 && at->col > 0) snprintf(place + n, sizeof place - (size_t)n, ":%d", at->col);
    if (!*file && *place) file = "line";
    const char *between = *file && *path ? ": " : "";
    if (snprintf(buf, size, "%s%s%s%s", file, place, between, path) >= (int)size)
        memcpy(buf + size - 4, "...", 4);
}

int err_vset(struct err *e, enum err_code code, const struct loc *at, const char *fmt, va_list ap)
{
    if (!e || e->code != ERR_OK) return code;
    *e = (struct err){ .code = code };
    if (at) put_where(e->where, sizeof e->where, at);
    put(e->msg, sizeof e->msg, fmt, ap);
    return code;
}

int err_record(struct err *e, enum err_code code, const struct loc *at, const char *fmt, ...)
{
    va_list ap;

    BUG_ON(code >= ERR_OK);
    va_start(ap, fmt);
    err_vset(e, code, at, fmt, ap);
    va_end(ap);
    return code;
}

void err_hint(struct err *e, const char *fmt, ...)
{
    va_list ap;

    if (!e || e->code == ERR_OK) return;
    va_start(ap, fmt);
    put(e->hint, sizeof e->hint, fmt, ap);
    va_end(ap);
}

static bool inside_character(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

void err_excerpt(struct err *e, const char *text, size_t len, int line, int col, int mark_len)
{
    if (!e || e->code == ERR_OK || !text) return;
    const size_t room = sizeof e->excerpt - 1;
    size_t mark = col > 0 ? (size_t)col - 1 : 0;
    size_t from = 0;

    if (mark > len) mark = len;
    if (len > room) { /* a window with the mark in its first half */
        if (mark > room / 2) from = mark - room / 2;
        if (from > len - room) from = len - room;
        while (from < mark && inside_character(text[from])) from++;
    }
    size_t n = len - from < room ? len - from : room;
    if (from + n < len)
        while (n > 0 && inside_character(text[from + n])) n--;
    for (size_t i = 0; i < n; i++) { /* one byte, one column: tabs and controls become blanks */
        unsigned char c = (unsigned char)text[from + i];
        e->excerpt[i] = c < 0x20 || c == 0x7F ? ' ' : (char)c;
    }
    e->excerpt[n] = '\0';
    e->line = line;
    e->mark_col = col > 0 ? (int)(mark - from) + 1 : 0;
    size_t left = n > mark - from ? n - (mark - from) : 1;
    e->mark_len = mark_len < 1 ? 1 : (size_t)mark_len > left ? (int)left : mark_len;
}

/* Text that may come from a user's file: escape sequences must not reach the terminal. */
static void print_clean(const char *s, FILE *to)
{
    for (; *s; s++) fputc(iscntrl((unsigned char)*s) && *s != '\n' ? '?' : *s, to);
}

static void print_excerpt(const struct err *e, FILE *to)
{
    if (e->line > 0)
        fprintf(to, "%5d | %s\n", e->line, e->excerpt);
    else
        fprintf(to, "      | %s\n", e->excerpt);
    if (e->mark_col <= 0) return;
    fputs("      | ", to);
    const char *p = e->excerpt;
    for (int i = 1; i < e->mark_col; i++) {
        if (*p && inside_character(*p++)) continue;
        fputc(' ', to);
    }
    for (int i = 0; i < e->mark_len; i++) {
        if (*p && inside_character(*p++)) continue;
        fputc('^', to);
    }
    if (*e->hint) fputs("   ", to);
    print_clean(e->hint, to);
    fputc('\n', to);
}

void err_print(const struct err *e, const char *program, FILE *to)
{
    if (e->code == ERR_OK) return;
    fprintf(to, "%s: ", program);
    print_clean(e->where, to);
    if (*e->where) fputs(": ", to);
    print_clean(e->msg, to);
    fputc('\n', to);
    if (*e->excerpt) print_excerpt(e, to);
    if (*e->hint && (!*e->excerpt || e->mark_col <= 0)) {
        fputs("        ", to);
        print_clean(e->hint, to);
        fputc('\n', to);
    }
}

enum err_code err_of_errno(int why)
{
    if (why == ENOMEM) out_of_memory();
    return ERR_IO;
}

int err_status(enum err_code code)
{
    return -(int)code;
}

void err_bug(const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    fflush(stdout);
    fprintf(stderr, "gpusim: bug at %s:%d: ", file, line);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputs("\n        please report it with the command line and the input\n", stderr);
    abort();
}
