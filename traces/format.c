#include "traces/format.h"

#include "base/dec.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

const struct import_reason import_field_count = {
    "field-count", "the row has another number of fields than the format", false
};
const struct import_reason import_bad_value = { "bad-value", "a cell cannot be read", false };
const struct import_reason import_refused = { "refused", "the native trace cannot hold the row",
                                              false };

enum { HEAD_BYTES = 1 << 16 };

const struct trace_format *format_find(const char *name)
{
    for (const struct trace_format *const *f = fmt_all; *f; f++)
        if (strcmp((*f)->name, name) == 0) return *f;
    return NULL;
}

static int read_head(const char *path, char *head, size_t *len, struct err *e)
{
    struct instream *in;
    ssize_t n;
    *len = 0;
    int rc = instream_open(&in, path, e);
    if (rc < 0) return rc;
    while (*len < HEAD_BYTES && (n = instream_read(in, head + *len, HEAD_BYTES - *len, e)) != 0) {
        if (n < 0) {
            instream_close(in);
            return (int)n;
        }
        *len += (size_t)n;
    }
    instream_close(in);
    return 0;
}

/* What people hand in by mistake, told by the first bytes or by a word among them. */
static const struct {
    const char *prefix, *within, *what;
} other_kinds[] = {
    { "{", NULL, "JSON" },
    { "[", NULL, "JSON" },
    { "<", NULL, "XML or HTML" },
    { "%PDF", NULL, "a PDF document" },
    { "PK\x03\x04", NULL, "a zip archive" },
    { "# HELP", NULL, "Prometheus metrics" },
    { "apiVersion:", NULL, "a Kubernetes object in YAML" },
    { "", "JobID|", "Slurm accounting (sacct)" },
    { "", "JobIDRaw|", "Slurm accounting (sacct)" },
    { "", "resource_time_0", "a Muri trace" },
};

static const char *kind_of(const char *head, size_t len)
{
    if (len == 0) return "an empty file";
    if (memchr(head, '\0', len)) return "binary data";
    const char *nl = memchr(head, '\n', len);
    const size_t line = nl ? (size_t)(nl - head) : len;
    for (size_t i = 0; i < sizeof other_kinds / sizeof *other_kinds; i++) {
        const char *prefix = other_kinds[i].prefix, *within = other_kinds[i].within;
        if (len < strlen(prefix) || memcmp(head, prefix, strlen(prefix)) != 0) continue;
        if (!within || memmem(head, line, within, strlen(within))) return other_kinds[i].what;
    }
    return "a file of no known format";
}

static int no_format(const char *path, const char *head, size_t len, struct err *e)
{
    const struct loc at = { .file = path };
    struct strbuf list = { 0 };
    for (const struct trace_format *const *f = fmt_all; *f; f++)
        strbuf_addf(&list, "%s%s", f == fmt_all ? "" : ", ", (*f)->name);
    int rc = err_set(e, ERR_INPUT, &at, "expected a trace of jobs or requests, found %s",
                     kind_of(head, len));
    err_hint(e, "known formats: %s; name one: `gpusim import FORMAT %s`", list.s ? list.s : "none",
             path);
    strbuf_fini(&list);
    return rc;
}

int format_sniff(const struct trace_format **out, const char *path, struct err *e)
{
    *out = NULL;
    if (strcmp(path, "-") == 0)
        return err_set(e, ERR_USAGE, NULL, "standard input cannot be sniffed; name its format");
    char *head = xmalloc(HEAD_BYTES);
    size_t len;
    int best = 0, rc = read_head(path, head, &len, e);
    if (rc == 0) {
        size_t skip = len >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        for (const struct trace_format *const *f = fmt_all; *f; f++) {
            int sure = (*f)->sniff ? (*f)->sniff(head + skip, len - skip) : 0;
            if (sure > best) best = sure, *out = *f;
        }
        if (!*out) rc = no_format(path, head, len, e);
    }
    free(head);
    return rc;
}

/* ---- streams ------------------------------------------------------------------------------- */

struct import_stream {
    const struct trace_format *format;
    enum import_kind kind;
    void *state;
};

int import_open(struct import_stream **out, const struct trace_format *f, const char *path,
                const void *options, struct symtab *names, struct import_info *info, struct err *e)
{
    return import_open_shared(out, f, path, options, names, NULL, info, e);
}

void import_shared_fini(struct import_shared *s)
{
    if (s->data) s->destroy(s->data);
    *s = (struct import_shared){ 0 };
}

int import_open_shared(struct import_stream **out, const struct trace_format *f, const char *path,
                       const void *options, struct symtab *names, struct import_shared *shared,
                       struct import_info *info, struct err *e)
{
    void *state = NULL;
    *out = NULL;
    *info = (struct import_info){ .shared = shared };
    if (shared) shared->files++;
    if (f->document) {
        const struct loc at = { .file = path };
        int bad = err_set(e, ERR_INPUT, &at, "%s holds measurements, not a trace", f->name);
        err_hint(e, "`gpusim import %s %s` makes work signatures of it", f->name, path);
        return bad;
    }
    int rc = f->open(&state, path, options, names, info, e);
    if (rc < 0) return rc;
    *out = xcalloc(1, sizeof **out);
    (*out)->format = f;
    (*out)->kind = info->kind;
    (*out)->state = state;
    return 0;
}

int import_next(struct import_stream *s, struct import_row *row, struct err *e)
{
    memset(row, 0, sizeof *row);
    job_row_init(&row->job);
    request_row_init(&row->request);
    row->kind = s->kind;
    row->start = JOB_NO_TIME;
    int rc = s->format->next(s->state, row, e);
    if (rc <= 0) return rc;
    if (row->quarantined) return 1;
    const char *problem = row->kind == IMPORT_REQUESTS ? request_row_problem(&row->request)
                                                       : job_row_problem(&row->job);
    if (problem) import_quarantine(row, &import_refused, "%s", problem);
    return 1;
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
        rc = err_set(e, ERR_INPUT, &at, "expected a %s trace, found an empty file", format);
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
