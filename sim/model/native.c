#include "model/native.h"

#include "base/dec.h"
#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(const struct native_file *f, int col)
{
    return f->kind->columns[col];
}

/* ---- header -------------------------------------------------------------------------------- */

/* "# gpusim-trace/1 origin=..." in the first line. */
static void keep_comment(void *ctx, const char *line, size_t len, int line_no)
{
    struct native_file *f = ctx;
    static const char tag[] = "# gpusim-trace/";
    const size_t n = sizeof tag - 1;
    if (line_no != 1 || len < n || memcmp(line, tag, n) != 0) return;
    line += n;
    len -= n;
    const char *blank = memchr(line, ' ', len);
    const struct csv_field version = { .s = line, .len = blank ? (size_t)(blank - line) : len };
    if (!csv_is(&version, "1")) {
        native_shown(f->version, sizeof f->version, &version);
        if (!f->version[0]) strcpy(f->version, "?");
        return;
    }
    line += version.len;
    len -= version.len;
    while (len > 0 && *line == ' ') line++, len--;
    f->comment = xstrndup(line, len);
}

static int find_column(const struct native_kind *kind, const struct csv_field *f)
{
    for (int i = 0; kind->columns[i]; i++)
        if (csv_is(f, kind->columns[i])) return i;
    return -1;
}

const char *native_shown(char *buf, size_t size, const struct csv_field *f)
{
    size_t n = f->len < size - 4 ? f->len : size - 4;
    for (size_t i = 0; i < n; i++)
        buf[i] = (unsigned char)f->s[i] < 0x20 || f->s[i] == 0x7f ? '?' : f->s[i];
    strcpy(buf + n, n < f->len ? "..." : "");
    return buf;
}

bool native_has(const struct csv_row *row, const char *name)
{
    for (size_t i = 0; i < row->n; i++)
        if (csv_is(&row->f[i], name)) return true;
    return false;
}

static int unknown_column(const struct native_file *f, const struct csv_field *at, struct err *e)
{
    char word[80];
    const struct native_kind *k = f->kind;
    size_t n = 0;
    native_shown(word, sizeof word, at);
    int rc = csv_error(f->csv, &f->row, at, e, "expected a column of the %s, found \"%s\"",
                       k->trace, word);
    for (const struct native_stranger *s = k->strangers; s->column; s++) {
        if (!native_has(&f->row, s->column)) continue;
        err_hint(e, "this looks like %s: `gpusim import %s FILE -o %s`", s->what, s->format,
                 k->out);
        return rc;
    }
    while (k->columns[n]) n++;
    const char *near = str_nearest(word, k->columns, n);
    if (near)
        err_hint(e, "did you mean \"%s\"?", near);
    else
        err_hint(e, "the first row must name the columns: %s", k->first_columns);
    return rc;
}

static int missing_columns(const struct native_file *f, struct err *e)
{
    const char *missing[NATIVE_COLUMNS];
    size_t n = 0;
    char list[160];
    for (int i = 0; f->kind->columns[i]; i++)
        if ((f->required & ~f->columns) >> i & 1) missing[n++] = name_of(f, i);
    int rc = csv_error(f->csv, &f->row, NULL, e, "the header lacks %s",
                       str_list(list, sizeof list, missing, n));
    err_hint(e, "required: %s; `gpusim import auto` converts other formats", f->kind->needs);
    return rc;
}

/* Files that are no table at all, told by their first byte. */
static int refuse_other_kinds(struct native_file *f, struct err *e)
{
    const char *s, *what = NULL;
    size_t len, i = 0;
    int rc = csv_peek(f->csv, &s, &len, e);
    if (rc < 0) return rc;
    const struct loc at = { .file = csv_file(f->csv), .line = 1 };
    while (i < len && isspace((unsigned char)s[i])) i++;
    if (i == len)
        return err_set(e, ERR_INPUT, &at, "expected %s, found an empty file", f->kind->file);
    if (s[i] == '{' || s[i] == '[')
        what = "JSON";
    else if (s[i] == ';')
        what = "Standard Workload Format comments";
    else if (s[i] == '<')
        what = "XML or HTML";
    if (!what) return 0;
    rc = err_set(e, ERR_INPUT, &at, "expected a CSV header such as \"%s\", found %s",
                 f->kind->first_columns, what);
    err_hint(e, "`gpusim import auto FILE -o %s` recognises other formats", f->kind->out);
    return rc;
}

static int refuse_delimiter(const struct native_file *f, struct err *e)
{
    for (const char *d = "|;\t"; f->row.n == 1 && *d; d++) {
        if (!memchr(f->row.text, *d, f->row.len)) continue;
        int rc = csv_error(f->csv, &f->row, NULL, e, "expected commas between columns, found %s",
                           *d == '\t'  ? "tabs"
                           : *d == ';' ? "semicolons"
                                       : "'|'");
        if (*d == '|') err_hint(e, "for Slurm accounting: `gpusim import sacct FILE -o trace.csv`");
        return rc;
    }
    return 0;
}

static int refuse_version(const struct native_file *f, struct err *e)
{
    const struct loc at = { .file = csv_file(f->csv), .line = 1 };
    if (!f->version[0]) return 0;
    int rc = err_set(e, ERR_INPUT, &at, "expected the format gpusim-trace/1, found gpusim-trace/%s",
                     f->version);
    err_hint(e, "this program reads version 1: a newer gpusim may have written the file");
    return rc;
}

static int read_header(struct native_file *f, struct err *e)
{
    int rc = refuse_other_kinds(f, e);
    if (rc < 0) return rc;
    rc = csv_next(f->csv, &f->row, e);
    if (rc < 0) return rc;
    rc = rc > 0 ? 0 : 1; /* no row: after what the first line may say */
    const int version = refuse_version(f, e);
    if (version < 0) return version;
    if (rc > 0) {
        const struct loc at = { .file = csv_file(f->csv), .line = 1 };
        return err_set(e, ERR_INPUT, &at, "expected a header row, found only comments");
    }
    rc = f->kind->refuse(f->csv, &f->row, e);
    if (rc == 0) rc = refuse_delimiter(f, e);
    if (rc < 0) return rc;
    for (size_t i = 0; i < f->row.n; i++) {
        const struct csv_field *at = &f->row.f[i];
        const int col = find_column(f->kind, at);
        if (col < 0) return unknown_column(f, at, e);
        if (f->columns >> col & 1)
            return csv_error(f->csv, &f->row, at, e, "column \"%s\" is there twice",
                             name_of(f, col));
        f->columns |= 1u << col;
        f->column_of[i] = (unsigned char)col;
    }
    f->n = f->row.n;
    f->required = f->kind->required(f->columns);
    return f->required & ~f->columns ? missing_columns(f, e) : 0;
}

int native_open(struct native_file *f, const struct native_kind *kind, const char *path,
                struct symtab *names, struct err *e)
{
    const struct csv_format fmt = {
        .delimiter = ',',
        .quotes = true,
        .comment = '#',
        .comment_head_only = true,
        .on_comment = keep_comment,
        .ctx = f,
    };
    *f = (struct native_file){ .kind = kind, .names = names };
    int rc = csv_open(&f->csv, path, &fmt, e);
    return rc < 0 ? rc : read_header(f, e);
}

void native_close(struct native_file *f)
{
    csv_close(f->csv);
    free(f->comment);
}

/* ---- rows ---------------------------------------------------------------------------------- */

int native_next(struct native_file *f, struct err *e)
{
    int rc = csv_next(f->csv, &f->row, e);
    if (rc < 0) return rc;
    if (rc == 0) {
        if (f->any) return 0;
        const struct loc at = { .file = csv_file(f->csv), .line = f->row.line };
        f->empty = true;
        return err_set(e, ERR_INPUT, &at, "expected at least one %s, found only a header",
                       f->kind->one);
    }
    f->any = true;
    if (f->row.n == f->n) return 1;
    const struct csv_field *at = f->row.n > f->n ? &f->row.f[f->n] : NULL;
    rc = csv_error(f->csv, &f->row, at, e, "expected %zu fields as in the header, found %zu", f->n,
                   f->row.n);
    err_hint(e, "a comma inside a field needs quotes around the field");
    return rc;
}

int native_empty(const struct native_file *f, const struct csv_field *at, int col, struct err *e)
{
    if (!(f->required >> col & 1)) return 0;
    return csv_error(f->csv, &f->row, at, e, "%s: expected a value, found an empty cell",
                     name_of(f, col));
}

const struct csv_field *native_field(const struct native_file *f, int col)
{
    for (size_t i = 0; i < f->n && i < f->row.n; i++)
        if (f->column_of[i] == col) return &f->row.f[i];
    return NULL;
}

static int unsorted(const struct native_file *f, struct err *e)
{
    char prev[32];
    const struct native_kind *k = f->kind;
    const char *name = name_of(f, k->time);
    const struct csv_field *at = native_field(f, k->time);
    BUG_ON(!at); /* every trace has its times */
    dec_print(prev, sizeof prev, f->last, 9);
    int rc = csv_error(f->csv, &f->row, at, e,
                       "%s: expected at least %s (line %d), found %.*s: rows must be sorted by %s",
                       name, prev, f->last_line, (int)(at->len < 40 ? at->len : 40), at->s, name);
    err_hint(e, "`gpusim import %s FILE -o sorted.csv` sorts a trace", k->format);
    return rc;
}

int native_sorted(struct native_file *f, simtime t, struct err *e)
{
    if (t < f->last && !f->unsorted_ok) return unsorted(f, e);
    f->last = t;
    f->last_line = f->row.line;
    return 0;
}

int native_bad_cell(const struct native_file *f, int col, const struct csv_field *at, struct err *e,
                    const char *expected, const char *why)
{
    char word[80];
    return csv_error(f->csv, &f->row, at, e, "%s: expected %s, found \"%s\"%s%s%s", name_of(f, col),
                     expected, native_shown(word, sizeof word, at), why ? " (" : "", why ? why : "",
                     why ? ")" : "");
}

sym native_name(struct native_file *f, int col, const struct csv_field *at)
{
    if (f->name[col].s && f->name[col].len == at->len &&
        memcmp(f->name[col].s, at->s, at->len) == 0)
        return f->name[col].id;
    f->name[col].id = symtab_add(f->names, at->s, at->len);
    f->name[col].s = symtab_name(f->names, f->name[col].id);
    f->name[col].len = at->len;
    return f->name[col].id;
}

/* ---- first bytes --------------------------------------------------------------------------- */

/* The first line that is neither empty nor a comment. */
static const char *first_line(const char *s, size_t len, size_t *line_len)
{
    const char *end = s + len;
    while (s < end) {
        const char *nl = memchr(s, '\n', (size_t)(end - s));
        const char *stop = nl ? nl : end;
        if (stop > s && *s != '#' && *s != '\r') {
            if (stop[-1] == '\r') stop--;
            *line_len = (size_t)(stop - s);
            return s;
        }
        s = nl ? nl + 1 : end;
    }
    *line_len = 0;
    return s;
}

unsigned native_sniff(const struct native_kind *kind, const char *head, size_t len)
{
    size_t n;
    const char *s = first_line(head, len, &n);
    unsigned found = 0;
    for (size_t at = 0; at <= n;) {
        const char *comma = memchr(s + at, ',', n - at);
        size_t stop = comma ? (size_t)(comma - s) : n;
        struct csv_field f = { .s = s + at, .len = stop - at };
        if (f.len >= 2 && f.s[0] == '"' && f.s[f.len - 1] == '"') f.s++, f.len -= 2;
        int col = find_column(kind, &f);
        if (col >= 0) found |= 1u << col;
        at = stop + 1;
    }
    return found;
}

/* ---- writer -------------------------------------------------------------------------------- */

void native_put_header(FILE *to, const char *const *names, unsigned columns, const char *comment)
{
    bool first = true;
    if (comment) fprintf(to, "# %s\n", comment);
    for (int i = 0; names[i]; i++) {
        if (!(columns >> i & 1)) continue;
        fprintf(to, "%s%s", first ? "" : ",", names[i]);
        first = false;
    }
    putc('\n', to);
}

void native_put_dec(FILE *to, int64_t v, int digits)
{
    char buf[48];
    size_t n = dec_print(buf, sizeof buf, v, digits);
    fwrite_unlocked(buf, 1, n, to);
}

void native_put_name(FILE *to, const struct symtab *names, sym s)
{
    const char *name = symtab_name(names, s);
    csv_put(to, name, strlen(name));
}
