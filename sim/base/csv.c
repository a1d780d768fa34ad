#include "base/csv.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_BYTES = 1 << 18,
    MAX_BYTES = 1 << 24,
    MAX_FIELDS = 1 << 16,
    PEEK_BYTES = 1 << 16,
};

/* What a byte means to the scanner; 0: part of a field. */
enum byte_class { ORDINARY, DELIMITER, NEWLINE, NUL };

struct csv {
    struct instream *in;
    char *file;
    struct csv_format fmt;
    unsigned char class_of[256];
    char *buf; /* cap + 1 bytes: buf[end] is a sentinel newline */
    size_t cap, at, end;
    bool eof, started, any_row;
    int failed;
    int line;        /* of buf[at] */
    uint64_t before; /* bytes of the stream in front of buf[0] */
    struct csv_field *field;
    size_t fields_cap;
    char *scratch; /* unescaped quoted fields */
    size_t scratch_cap;
};

int csv_open(struct csv **out, const char *path, const struct csv_format *fmt, struct err *e)
{
    struct instream *in;
    *out = NULL;
    int rc = instream_open(&in, path, e);
    if (rc < 0) return rc;
    struct csv *c = xcalloc(1, sizeof *c);
    c->in = in;
    c->file = xstrdup(strcmp(path, "-") == 0 ? "standard input" : path);
    c->fmt = *fmt;
    c->class_of[(unsigned char)fmt->delimiter] = DELIMITER;
    if (fmt->delimiter == ' ') c->class_of['\t'] = DELIMITER;
    c->class_of['\n'] = NEWLINE;
    c->class_of['\0'] = NUL;
    c->cap = FIRST_BYTES;
    c->buf = xmalloc(c->cap + 1);
    c->buf[0] = '\n';
    c->fields_cap = 32;
    c->field = xreallocarray(NULL, c->fields_cap, sizeof *c->field);
    c->line = 1;
    *out = c;
    return 0;
}

void csv_close(struct csv *c)
{
    if (!c) return;
    instream_close(c->in);
    free(c->file);
    free(c->buf);
    free(c->field);
    free(c->scratch);
    free(c);
}

bool csv_failed(const struct csv *c)
{
    return c->failed != 0;
}

const char *csv_file(const struct csv *c)
{
    return c->file;
}

uint64_t csv_bytes(const struct csv *c)
{
    return c->before + c->at;
}

/* Bytes [at, end) move to the front, then the buffer is filled up (grown first when it holds
 * nothing but the unfinished row). Filling it up keeps the rescan of a long row linear. */
static int fill(struct csv *c, struct err *e)
{
    size_t kept = c->end - c->at;
    if (kept == c->cap) {
        if (c->cap >= MAX_BYTES) {
            const struct loc at = { .file = c->file, .line = c->line };
            c->failed = err_set(e, ERR_INPUT, &at, "a row of more than 16 MiB starts here");
            err_hint(e, "is a closing quote missing, or is this not a text table?");
            return c->failed;
        }
        c->cap *= 2;
        c->buf = xreallocarray(c->buf, c->cap + 1, 1);
    }
    if (c->at > 0) memmove(c->buf, c->buf + c->at, kept);
    c->before += c->at;
    c->at = 0;
    c->end = kept;
    while (c->end < c->cap) {
        ssize_t n = instream_read(c->in, c->buf + c->end, c->cap - c->end, e);
        if (n < 0) return c->failed = (int)n;
        if (n == 0) {
            c->eof = true;
            break;
        }
        c->end += (size_t)n;
    }
    c->buf[c->end] = '\n';
    return 0;
}

/* First bytes: the byte-order mark goes, UTF-16 is named. */
static int start(struct csv *c, struct err *e)
{
    int rc = fill(c, e);
    if (rc < 0) return rc;
    c->started = true;
    if (c->end >= 3 && memcmp(c->buf, "\xef\xbb\xbf", 3) == 0) {
        c->at = 3;
    } else if (c->end >= 2 &&
               (memcmp(c->buf, "\xff\xfe", 2) == 0 || memcmp(c->buf, "\xfe\xff", 2) == 0)) {
        const struct loc at = { .file = c->file, .line = 1 };
        c->failed = err_set(e, ERR_INPUT, &at, "expected UTF-8 text, found UTF-16");
        err_hint(e, "convert it: iconv -f UTF-16 -t UTF-8");
        return c->failed;
    }
    return 0;
}

int csv_peek(struct csv *c, const char **s, size_t *len, struct err *e)
{
    *s = NULL;
    *len = 0;
    if (!c->started) {
        int rc = start(c, e);
        if (rc < 0) return rc;
    }
    if (c->at == c->end) return 0;
    *s = c->buf + c->at;
    *len = c->end - c->at < PEEK_BYTES ? c->end - c->at : PEEK_BYTES;
    return 0;
}

enum scan { ROW, MORE, FAILED }; /* MORE: the buffer ends inside the row */

struct scanner {
    const char *p, *end, *line_start;
    int line;
    size_t n;
    bool escapes; /* some field holds "" */
};

static enum scan fail_at(struct csv *c, const struct scanner *k, struct err *e, const char *what,
                         const char *hint)
{
    const struct loc at = { .file = c->file,
                            .line = k->line,
                            .col = (int)(k->p - k->line_start) + 1 };
    c->failed = err_set(e, ERR_INPUT, &at, "%s", what);
    if (hint) err_hint(e, "%s", hint);
    return FAILED;
}

static enum scan nul_at(struct csv *c, const struct scanner *k, struct err *e)
{
    return fail_at(c, k, e, "expected text, found a NUL byte: the file looks binary", NULL);
}

/* k->p is behind an opening quote; afterwards behind the closing one. */
static enum scan quoted(struct csv *c, struct scanner *k, struct csv_field *f, struct err *e)
{
    f->s = k->p;
    for (;;) {
        const char *q = k->p;
        while (q < k->end && *q != '"' && *q != '\n' && *q != '\0') q++;
        k->p = q;
        if (q == k->end) {
            if (!c->eof) return MORE;
            const struct loc at = { .file = c->file, .line = f->line, .col = f->col };
            c->failed =
                err_set(e, ERR_INPUT, &at, "a quoted field starts here and is never closed");
            return FAILED;
        }
        k->p++;
        if (*q == '\0') return k->p--, nul_at(c, k, e);
        if (*q == '\n') {
            k->line++;
            k->line_start = k->p;
        } else if (k->p < k->end && *k->p == '"') {
            k->escapes = true;
            k->p++;
        } else if (k->p == k->end && !c->eof) {
            return MORE; /* a second quote may follow */
        } else {
            f->len = (size_t)(q - f->s);
            break;
        }
    }
    if (k->p < k->end && *k->p == '\r' && (k->p + 1 == k->end || k->p[1] == '\n')) {
        if (k->p + 1 == k->end && !c->eof) return MORE;
        k->p++;
    }
    if (k->p == k->end) return ROW;
    unsigned char cls = c->class_of[(unsigned char)*k->p];
    if (cls == DELIMITER || cls == NEWLINE) return ROW;
    return fail_at(c, k, e, "expected a delimiter after the closing quote",
                   "a quote inside quotes is written twice");
}

static inline void put_field(struct scanner *k, struct csv_field *f, const char *s)
{
    f->s = s;
    f->len = (size_t)(k->p - s);
    f->line = k->line;
    f->col = (int)(s - k->line_start) + 1;
}

static bool room_for_field(struct csv *c, size_t n)
{
    if (n < c->fields_cap) return true;
    if (n >= MAX_FIELDS) return false;
    c->fields_cap *= 2;
    c->field = xreallocarray(c->field, c->fields_cap, sizeof *c->field);
    return true;
}

/* Scan the row at buf[at]. On ROW, k->p stands on its newline (or at the end of the stream). */
static enum scan scan_row(struct csv *c, struct scanner *k, struct err *e)
{
    const unsigned char *cls = c->class_of;
    const bool blanks = c->fmt.delimiter == ' ';
    for (;;) {
        if (blanks) {
            while (cls[(unsigned char)*k->p] == DELIMITER) k->p++; /* stops at the sentinel */
            if (k->n > 0 && (*k->p == '\n' || *k->p == '\r')) {    /* blanks before the line end */
                if (k->p == k->end) return c->eof ? ROW : MORE;
                if (*k->p == '\n' || (k->p + 1 < k->end && k->p[1] == '\n')) {
                    if (*k->p == '\r') k->p++;
                    return ROW;
                }
            }
        }
        if (!room_for_field(c, k->n))
            return fail_at(c, k, e, "more than 65536 fields in a row", NULL);
        struct csv_field *f = &c->field[k->n];
        const char *s = k->p;
        if (c->fmt.quotes && *s == '"' && s < k->end) {
            put_field(k, f, s);
            k->p++;
            enum scan r = quoted(c, k, f, e);
            if (r != ROW) return r;
        } else {
            while (cls[(unsigned char)*k->p] == ORDINARY) k->p++;
            put_field(k, f, s);
        }
        k->n++;
        if (k->p == k->end) {
            if (!c->eof) return MORE;
            break;
        }
        unsigned char at = cls[(unsigned char)*k->p];
        if (at == NUL) return nul_at(c, k, e);
        if (at == NEWLINE) break;
        k->p++;
    }
    struct csv_field *last = &c->field[k->n - 1];
    if (last->len > 0 && last->s + last->len == k->p && k->p[-1] == '\r') last->len--;
    return ROW;
}

/* Fields with doubled quotes move, unescaped, to the scratch buffer; the row's text stays as it is.
 */
static void unescape(struct csv *c, size_t n, size_t row_len)
{
    if (c->scratch_cap < row_len) {
        c->scratch = xreallocarray(c->scratch, row_len, 1);
        c->scratch_cap = row_len;
    }
    char *to = c->scratch;
    for (size_t i = 0; i < n; i++) {
        struct csv_field *f = &c->field[i];
        if (f->s == c->buf + c->at || f->s[-1] != '"' || !memchr(f->s, '"', f->len)) continue;
        char *from = to;
        for (size_t j = 0; j < f->len; j++) {
            *to++ = f->s[j];
            if (f->s[j] == '"') j++;
        }
        f->s = from;
        f->len = (size_t)(to - from);
    }
}

static const char *line_end(const struct csv *c, const char *s)
{
    return memchr(s, '\n', (size_t)(c->buf + c->end + 1 - s)); /* the sentinel ends the search */
}

/* Skip empty and comment lines. 1: a row starts at buf[at]; 0: end; negative: error. */
static int to_row_start(struct csv *c, struct err *e)
{
    for (;;) {
        if (c->at == c->end) {
            if (c->eof) return 0;
            int rc = fill(c, e);
            if (rc < 0) return rc;
            continue;
        }
        char first = c->buf[c->at];
        bool comment =
            c->fmt.comment && first == c->fmt.comment && !(c->fmt.comment_head_only && c->any_row);
        bool blank = first == '\n' || first == '\r' ||
                     (c->fmt.delimiter == ' ' && (first == ' ' || first == '\t'));
        if (!comment && !blank) return 1;
        const char *s = c->buf + c->at, *end = line_end(c, s);
        if (end == c->buf + c->end && !c->eof) {
            int rc = fill(c, e);
            if (rc < 0) return rc;
            continue;
        }
        size_t len = (size_t)(end - s);
        if (len > 0 && s[len - 1] == '\r') len--;
        if (blank) {
            size_t i = 0;
            while (i < len && (s[i] == ' ' || s[i] == '\t')) i++;
            if (i < len) {
                /* leading blanks before a comment sign or a field */
                if (c->fmt.delimiter != ' ' || !c->fmt.comment || s[i] != c->fmt.comment) return 1;
                comment = true;
            }
        }
        if (comment && c->fmt.on_comment) c->fmt.on_comment(c->fmt.ctx, s, len, c->line);
        c->at = (size_t)(end - c->buf) + (end < c->buf + c->end);
        c->line++;
    }
}

int csv_next(struct csv *c, struct csv_row *row, struct err *e)
{
    if (c->failed) {
        const struct loc at = { .file = c->file, .line = c->line };
        return err_set(e, (enum err_code)c->failed, &at, "reading failed before");
    }
    if (!c->started) {
        int rc = start(c, e);
        if (rc < 0) return rc;
    }
    int rc = to_row_start(c, e);
    if (rc <= 0) return rc;
    for (;;) {
        const char *s = c->buf + c->at;
        struct scanner k = { .p = s, .end = c->buf + c->end, .line_start = s, .line = c->line };
        enum scan r = scan_row(c, &k, e);
        if (r == FAILED) return c->failed;
        if (r == MORE) {
            rc = fill(c, e);
            if (rc < 0) return rc;
            continue;
        }
        size_t len = (size_t)(k.p - s);
        if (k.escapes) unescape(c, k.n, len);
        *row = (struct csv_row){ .f = c->field, .n = k.n, .line = c->line, .text = s, .len = len };
        if (len > 0 && s[len - 1] == '\r') row->len--;
        c->at += len + (k.p < k.end);
        c->line = k.line + 1;
        c->any_row = true;
        return 1;
    }
}

/* The physical line of the row's text that holds `line_no`. */
static void excerpt_line(const struct csv_row *row, int line_no, const char **s, size_t *len)
{
    const char *p = row->text, *end = row->text + row->len;
    for (int i = row->line; i < line_no; i++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl) break;
        p = nl + 1;
    }
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    *s = p;
    *len = (size_t)((nl ? nl : end) - p);
}

int csv_verror(const struct csv *c, const struct csv_row *row, const struct csv_field *at,
               struct err *e, const char *fmt, va_list ap)
{
    const struct loc where = { .file = c->file,
                               .line = at ? at->line : row->line,
                               .col = at ? at->col : 0 };
    bool fresh = e && e->code == ERR_OK;
    int rc = err_vset(e, ERR_INPUT, &where, fmt, ap);
    if (fresh) {
        const char *s;
        size_t len;
        excerpt_line(row, where.line, &s, &len);
        size_t mark = at && at->len > 0 ? at->len : 1;
        err_excerpt(e, s, len, where.line, at ? at->col : 1, mark > 1000 ? 1000 : (int)mark);
    }
    return rc;
}

int csv_complain(const struct csv *c, const struct csv_row *row, const struct csv_field *at,
                 struct err *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int rc = csv_verror(c, row, at, e, fmt, ap);
    va_end(ap);
    return rc;
}

bool csv_is(const struct csv_field *f, const char *text)
{
    return strlen(text) == f->len && memcmp(text, f->s, f->len) == 0;
}

void csv_put(FILE *to, const char *s, size_t len)
{
    bool plain = len == 0 || (s[0] != ' ' && s[0] != '#' && s[len - 1] != ' ');
    for (size_t i = 0; i < len && plain; i++)
        plain = s[i] != ',' && s[i] != '"' && s[i] != '\n' && s[i] != '\r';
    if (plain) {
        fwrite_unlocked(s, 1, len, to);
        return;
    }
    putc_unlocked('"', to);
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '"') putc_unlocked('"', to);
        putc_unlocked(s[i], to);
    }
    putc_unlocked('"', to);
}
