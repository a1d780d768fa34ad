/* base/csv.h - streaming delimiter-separated rows (RFC 4180): quotes, embedded commas and newlines,
 * CRLF or LF, a missing last newline, a byte-order mark. Built for speed: fields are slices of the
 * read buffer, so a plain row is never copied. Memory: one buffer, grown to the longest row
 * (at most 16 MiB and 65,536 fields, else ERR_INPUT).
 *
 * A quote inside an unquoted field is an ordinary character; text after a closing quote is an
 * error. Threads: one reader, one thread. O(bytes). */
#ifndef GPUSIM_BASE_CSV_H
#define GPUSIM_BASE_CSV_H

#include "base/instream.h"

#include <stdbool.h>
#include <stddef.h>

struct csv;

struct csv_field {
    const char *s; /* not NUL-terminated; lent until the next csv_next */
    size_t len;
    int line; /* physical line on which it starts, from 1 */
    int col;  /* byte column in that line, from 1 */
};

struct csv_row {
    const struct csv_field *f;
    size_t n;
    int line;         /* physical line on which the row starts, from 1 */
    const char *text; /* the whole row as it stands in the file, without its line end; lent */
    size_t len;
};

struct csv_format {
    char delimiter; /* ',' '|' '\t' ; ' ' = runs of blanks and tabs, leading ones skipped (SWF) */
    bool quotes;    /* whether " quotes */
    char comment;   /* lines starting with it are handed to on_comment and skipped; 0: none */
    bool comment_head_only; /* only before the first row: later ones are data */
    void (*on_comment)(void *ctx, const char *line, size_t len, int line_no); /* may be NULL */
    void *ctx;
};

int csv_open(struct csv **out, const char *path, const struct csv_format *fmt, struct err *e);
void csv_close(struct csv *c); /* accepts NULL */
/* 1: *row is filled; 0: end; negative: error with line, and again on every later call. Empty lines
 * are skipped; a NUL byte is an error that says the file looks binary. */
int csv_next(struct csv *c, struct csv_row *row, struct err *e);
bool csv_failed(const struct csv *c); /* csv_next returned an error */
const char *csv_file(const struct csv *c);
uint64_t
csv_bytes(const struct csv *c); /* decompressed bytes consumed: the next row starts there */

/* Up to *len first bytes of the file, without consuming them (at most 64 KiB; before the first
 * csv_next). NULL with *len 0 when the file is empty; negative rc in *e on failure. */
int csv_peek(struct csv *c, const char **s, size_t *len, struct err *e);

/* Error at a field (NULL: at the row), with the line as excerpt. Returns ERR_INPUT. */
#define csv_error(...) err_known(csv_complain(__VA_ARGS__))
int csv_complain(const struct csv *c, const struct csv_row *row, const struct csv_field *at,
                 struct err *e, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
int csv_verror(const struct csv *c, const struct csv_row *row, const struct csv_field *at,
               struct err *e, const char *fmt, va_list ap) __attribute__((format(printf, 5, 0)));

bool csv_is(const struct csv_field *f, const char *text);
/* Write a field, quoted only if it must be. What it says comes back as it was: a name such as
 * "=1+1" that a spreadsheet would take for a formula is not altered, since these files are read by
 * machines first and an id must find its job again. One stream, one thread. */
void csv_put(FILE *to, const char *s, size_t len);

#endif
