#include "traces/format.h"

#include "base/dec.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/str.h"
#include "base/vec.h"
#include "traces/instances.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct import_reason import_field_count = {
    "field-count", "the row has another number of fields than the format", false
};
const struct import_reason import_bad_value = { "bad-value", "a cell cannot be read", false };
const struct import_reason import_refused = { "refused", "the native trace cannot hold the row",
                                              false };

const struct import_reason import_superseded = {
    "superseded", "an earlier record of a job that comes again: its final or latest state counts",
    true
};

const struct opt *format_options(size_t i, const char **name)
{
    static const struct opt none = { 0 };
    if (!fmt_all[i]) return NULL;
    *name = fmt_all[i]->name;
    return fmt_all[i]->opts ? fmt_all[i]->opts : &none;
}

const struct trace_format *format_find(const char *name)
{
    for (const struct trace_format *const *f = fmt_all; *f; f++)
        if (strcmp((*f)->name, name) == 0) return *f;
    return NULL;
}

/* ---- unfinished rows ----------------------------------------------------------------------- */

struct held_row {
    uint64_t key;
    simtime duration;
    int64_t at; /* in the file; negative: superseded, at ~at */
    bool runs;
};

struct import_held {
    FILE *rows; /* of each: struct import_row, its id, its raw text */
    int64_t size;
    VEC(struct held_row) index;
    size_t next; /* to be handed out */
    struct strbuf text;
};

static void held_destroy(struct import_held *h)
{
    if (!h) return;
    if (h->rows) fclose(h->rows);
    vec_fini(&h->index);
    strbuf_fini(&h->text);
    free(h);
}

static int held_add(struct import_held **out, const struct import_row *row, struct err *e)
{
    if (!*out) *out = xcalloc(1, sizeof **out);
    struct import_held *h = *out;
    if (!h->rows && !(h->rows = outfile_temporary(e))) return ERR_IO;
    fwrite(row, sizeof *row, 1, h->rows);
    if (row->job.id_len) fwrite(row->job.id, 1, row->job.id_len, h->rows);
    if (row->raw_len) fwrite(row->raw, 1, row->raw_len, h->rows);
    const struct held_row r = { row->unfinished, row->job.duration, h->size,
                                row->job.status == STATUS_running };
    vec_push(&h->index, r);
    h->size += (int64_t)(sizeof *row + row->job.id_len + row->raw_len);
    return 0;
}

static int by_run(const void *a, const void *b)
{
    const struct held_row *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->runs != y->runs) return x->runs ? 1 : -1;
    if (x->duration != y->duration) return x->duration > y->duration ? -1 : 1;
    return (x->at < y->at) - (x->at > y->at); /* the later record first */
}

static int64_t place(const struct held_row *r)
{
    return r->at < 0 ? ~r->at : r->at;
}

static int by_place(const void *a, const void *b)
{
    const int64_t x = place(a), y = place(b);
    return (x > y) - (x < y);
}

/* The first of each run stays. */
static int held_sort(struct import_held *h, struct err *e)
{
    struct held_row *v = h->index.v;
    if (fflush(h->rows) || ferror(h->rows))
        return err_set(e, err_of_errno(errno), NULL, "cannot write a temporary file: %s",
                       strerror(errno));
    qsort(v, h->index.n, sizeof *v, by_run);
    for (size_t i = 1; i < h->index.n; i++)
        if (v[i].key == v[i - 1].key) v[i].at = ~v[i].at;
    qsort(v, h->index.n, sizeof *v, by_place);
    return 0;
}

static bool read_at(FILE *f, void *to, size_t n, int64_t at)
{
    return n == 0 || pread(fileno(f), to, n, (off_t)at) == (ssize_t)n;
}

/* 1, 0 or negative */
static int held_next(struct import_held *h, struct import_row *row, struct err *e)
{
    if (!h || h->next == h->index.n) return 0;
    if (h->next == 0) {
        const int rc = held_sort(h, e);
        if (rc < 0) return rc;
    }
    const struct held_row *r = &h->index.v[h->next++];
    const int64_t at = place(r);
    bool ok = read_at(h->rows, row, sizeof *row, at);
    const size_t id = ok ? row->job.id_len : 0, raw = ok ? row->raw_len : 0;
    char *text = xmalloc(id + raw + 1);
    ok = ok && read_at(h->rows, text, id + raw, at + (int64_t)sizeof *row);
    strbuf_clear(&h->text);
    strbuf_add(&h->text, text, ok ? id + raw : 0);
    free(text);
    if (!ok)
        return err_set(e, err_of_errno(errno), NULL, "cannot read a temporary file: %s",
                       strerror(errno));
    row->job.id = h->text.s ? h->text.s : "";
    row->raw = row->job.id + id;
    if (r->at < 0) import_quarantine(row, &import_superseded, "%s", "");
    return 1;
}

/* ---- streams ------------------------------------------------------------------------------- */

struct import_stream {
    const struct trace_format *format;
    enum import_kind kind;
    const struct symtab *names;
    void *state;
    struct import_shared own, *shared; /* own: the file stands alone */
    struct instances instances;        /* of the row given last */
    bool ended;
};

int import_open(struct import_stream **out, const struct trace_format *f, const char *path,
                const void *options, struct symtab *names, struct import_info *info, struct err *e)
{
    return import_open_shared(out, f, path, options, names, NULL, info, e);
}

void import_shared_fini(struct import_shared *s)
{
    if (s->data) s->destroy(s->data);
    held_destroy(s->held);
    *s = (struct import_shared){ 0 };
}

int import_open_shared(struct import_stream **out, const struct trace_format *f, const char *path,
                       const void *options, struct symtab *names, struct import_shared *shared,
                       struct import_info *info, struct err *e)
{
    *out = NULL;
    if (f->document) {
        const struct loc at = { .file = path };
        int bad = err_set(e, ERR_INPUT, &at, "%s holds measurements, not a trace", f->name);
        err_hint(e, "`gpusim import %s %s` makes work signatures of it", f->name, path);
        return bad;
    }
    struct import_stream *s = xcalloc(1, sizeof *s);
    s->format = f;
    s->names = names;
    s->own.last = true;
    s->shared = shared ? shared : &s->own;
    s->shared->files++;
    *info = (struct import_info){ .shared = s->shared };
    int rc = f->open(&s->state, path, options, names, info, e);
    if (rc < 0) {
        import_shared_fini(&s->own);
        free(s);
        return rc;
    }
    s->kind = info->kind;
    *out = s;
    return 0;
}

static void check_row(const struct symtab *names, struct import_row *row)
{
    if (row->quarantined) return;
    if (row->kind != IMPORT_REQUESTS && row->job.gpu_allowed) {
        const char *cards = symtab_name(names, row->job.gpu_allowed);
        if (!job_cards_good(cards, strlen(cards)))
            import_quarantine(row, &import_bad_value,
                              "cards: expected names with one | between them, found \"%.40s\"",
                              cards);
    }
    const char *problem = row->kind == IMPORT_REQUESTS ? request_row_problem(&row->request)
                                                       : job_row_problem(&row->job);
    if (problem) import_quarantine(row, &import_refused, "%s", problem);
}

/* A row that counts and stands for several becomes the first of them. */
static void split(struct import_stream *s, struct import_row *row)
{
    const int64_t n = row->instances;
    struct job_row *j = &row->job;
    if (n < 2 || row->quarantined) return;
    if (j->cpus_milli != JOB_NO_INT) j->cpus_milli = (int32_t)(j->cpus_milli / n);
    if (j->mem_bytes != JOB_NO_BYTES) j->mem_bytes /= (uint64_t)n;
    instances_start(&s->instances, row, j->gpus_milli, n);
}

static int settled_next(struct import_stream *s, struct import_row *row, struct err *e)
{
    const int rc = held_next(s->shared->held, row, e);
    if (rc > 0 && !row->quarantined && s->format->settle) s->format->settle(s->state, row);
    if (rc > 0) split(s, row);
    return rc;
}

int import_next(struct import_stream *s, struct import_row *row, struct err *e)
{
    int rc = 0;
    if (instances_next(&s->instances, row)) return 1;
    while (!s->ended) {
        memset(row, 0, sizeof *row);
        job_row_init(&row->job);
        request_row_init(&row->request);
        row->kind = s->kind;
        row->start = JOB_NO_TIME;
        rc = s->format->next(s->state, row, e);
        s->ended = rc <= 0;
        if (rc <= 0) break;
        row->file = s->shared->files - 1;
        check_row(s->names, row);
        if (row->quarantined || !row->unfinished) {
            split(s, row);
            return 1;
        }
        rc = held_add(&s->shared->held, row, e);
        if (rc < 0) return rc;
    }
    if (rc < 0 || !s->shared->last) return rc;
    return settled_next(s, row, e);
}

json_t *import_facts(const struct import_stream *s)
{
    if (!s->format->facts) return NULL;
    json_t *o = json_object();
    s->format->facts(s->state, o);
    return o;
}

void import_close(struct import_stream *s)
{
    if (!s) return;
    s->format->close(s->state);
    import_shared_fini(&s->own);
    instances_fini(&s->instances);
    free(s);
}

void import_quarantine(struct import_row *row, const struct import_reason *why, const char *detail,
                       ...)
{
    if (row->quarantined) return;
    row->quarantined = why;
    va_list ap;
    va_start(ap, detail);
    vsnprintf(row->detail, sizeof row->detail, detail, ap);
    va_end(ap);
}

void import_repair(struct import_row *row, const struct import_reason *why)
{
    for (size_t i = 0; i < row->repairs; i++)
        if (row->repaired[i] == why) return; /* counted by rows */
    if (row->repairs < IMPORT_REPAIRS) row->repaired[row->repairs++] = why;
}

/* ---- tables -------------------------------------------------------------------------------- */

static int map_columns(struct table *t, const char *format, const char *const *names, int required,
                       int n, struct err *e)
{
    for (int i = 0; i < n; i++) {
        t->column_of[i] = -1;
        for (size_t j = 0; j < t->row.n; j++) {
            if (!csv_is(&t->row.f[j], names[i])) continue;
            if (t->column_of[i] >= 0)
                return csv_error(t->csv, &t->row, &t->row.f[j], e, "column \"%s\" is there twice",
                                 names[i]);
            t->column_of[i] = (int)j;
        }
        if (t->column_of[i] >= 0 || i >= required) continue;
        int rc = csv_error(t->csv, &t->row, NULL, e,
                           "expected a header with \"%s\" (%s), found none", names[i], format);
        err_hint(e, "`gpusim import auto` tells formats apart by their header");
        return rc;
    }
    return 0;
}

int table_adopt(struct table *t, struct csv *csv, const struct csv_row *header, char delimiter,
                const char *format, const char *const *names, int required, int n, struct err *e)
{
    *t = (struct table){ .csv = csv, .row = *header, .width = header->n, .delimiter = delimiter };
    t->column_of = xcalloc((size_t)n, sizeof *t->column_of);
    int rc = map_columns(t, format, names, required, n, e);
    if (rc < 0) table_close(t);
    return rc;
}

int table_open(struct table *t, const char *path, char delimiter, const char *format,
               const char *const *names, int required, int n, struct err *e)
{
    const struct csv_format fmt = { .delimiter = delimiter, .quotes = delimiter == ',' };
    struct csv *csv;
    struct csv_row header;
    *t = (struct table){ .delimiter = delimiter };
    int rc = csv_open(&csv, path, &fmt, e);
    if (rc < 0) return rc;
    rc = csv_next(csv, &header, e);
    if (rc > 0) return table_adopt(t, csv, &header, delimiter, format, names, required, n, e);
    if (rc == 0) {
        const struct loc at = { .file = csv_file(csv) };
        rc = err_set(e, ERR_INPUT, &at, "expected a trace (%s), found an empty file", format);
    }
    csv_close(csv);
    return rc;
}

void table_close(struct table *t)
{
    csv_close(t->csv);
    free(t->column_of);
    *t = (struct table){ 0 };
}

int table_next(struct table *t, struct import_row *row, struct err *e)
{
    int rc = csv_next(t->csv, &t->row, e);
    if (rc <= 0) return rc;
    row->line = t->row.line;
    row->raw = t->row.text;
    row->raw_len = t->row.len;
    if (t->row.n != t->width)
        import_quarantine(row, &import_field_count, "%zu fields, the header has %zu", t->row.n,
                          t->width);
    return 1;
}

struct csv_field table_cell(const struct table *t, int name)
{
    int at = t->column_of[name];
    return at >= 0 && (size_t)at < t->row.n ? t->row.f[at] : (struct csv_field){ .s = "" };
}

bool table_number(const struct table *t, int name, const char *what, int digits, int64_t *out,
                  struct import_row *row)
{
    const struct csv_field f = table_cell(t, name);
    enum dec_status st = dec_fixed(f.s, f.len, digits, out);
    if (st == DEC_OK) return true;
    import_quarantine(row, &import_bad_value, "%s: %s", what, dec_why(st));
    return false;
}

bool table_whole(const struct table *t, int name, const char *what, int64_t max, int64_t *out,
                 struct import_row *row)
{
    const struct csv_field f = table_cell(t, name);
    enum dec_status st = dec_fixed_exact(f.s, f.len, 0, out);
    if (st == DEC_OK && *out >= 0 && *out <= max) return true;
    import_quarantine(row, &import_bad_value, "%s: %s", what,
                      st == DEC_INEXACT ? "not whole"
                      : st != DEC_OK    ? dec_why(st)
                      : *out < 0        ? "negative"
                                        : "out of range");
    return false;
}

bool cell_exact(const struct csv_field *f, const char *what, int digits, int64_t *out,
                struct import_row *row)
{
    const enum dec_status st = dec_fixed_exact(f->s, f->len, digits, out);
    if (st == DEC_OK) return true;
    import_quarantine(row, &import_bad_value, "%s: %s", what, dec_why(st));
    return false;
}

bool cell_missing(const struct csv_field *f)
{
    static const char *const words[] = { "", "nan", "NaN", "None", "NULL", "N/A", "NA" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (csv_is(f, words[i])) return true;
    return false;
}

bool header_has(const char *head, size_t len, char delimiter, const char *const *names, int n)
{
    const char *nl = memchr(head, '\n', len);
    size_t line = nl ? (size_t)(nl - head) : len;
    if (line > 0 && head[line - 1] == '\r') line--;
    for (int i = 0; i < n; i++) {
        bool found = false;
        for (size_t at = 0; at <= line && !found;) {
            const char *d = memchr(head + at, delimiter, line - at);
            size_t stop = d ? (size_t)(d - head) : line;
            const struct csv_field f = { .s = head + at, .len = stop - at };
            found = csv_is(&f, names[i]);
            at = stop + 1;
        }
        if (!found) return false;
    }
    return true;
}
