#include "model/trace.h"

#include "base/dec.h"
#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const trace_column_names[TRACE_COLUMNS + 1] = {
#define X(name) #name,
    TRACE_COLUMN_MAP(X)
#undef X
        NULL,
};

#define MAX_NS ((simtime)(SIM_MAX_S * 1e9)) /* 9.2e18 is exact in double */

/* The last name seen in a column: names repeat from row to row. */
struct last_name {
    const char *s;
    size_t len;
    sym id;
};

struct trace_reader {
    struct csv *csv;
    struct symtab *names;
    unsigned char column_of[TRACE_COLUMNS]; /* enum trace_column of the i-th field */
    size_t n;
    unsigned columns;
    bool unsorted_ok, any, empty;
    char *comment;
    struct csv_row row;
    simtime last_submit;
    int last_line;
    struct last_name last[TRACE_COLUMNS];
};

static const struct job_row no_values = {
    .id = "",
    .gpu_mem_bytes = JOB_NO_BYTES,
    .cpus_milli = JOB_NO_INT,
    .mem_bytes = JOB_NO_BYTES,
    .priority = JOB_NO_INT,
    .walltime = JOB_NO_TIME,
    .deadline = JOB_NO_TIME,
    .min_gpus_milli = JOB_NO_INT,
    .max_gpus_milli = JOB_NO_INT,
    .slots = JOB_NO_INT,
};

void job_row_init(struct job_row *row)
{
    *row = no_values;
}

/* ---- header -------------------------------------------------------------------------------- */

/* A column that gives another kind of file away. */
static const struct {
    const char *column, *format, *what;
} strangers[] = {
    { "gpu_milli", "openb", "Alibaba openb pods" },
    { "num_gpu", "tiresias", "a Tiresias-like trace" },
    { "plan_gpu", "pai", "Alibaba PAI tables" },
    { "gpu_num", "helios", "a Helios or Acme log" },
    { "JobID", "sacct", "Slurm accounting" },
    { "JobIDRaw", "sacct", "Slurm accounting" },
    { "job", "swf", "the Standard Workload Format" },
};

static void keep_comment(void *ctx, const char *line, size_t len, int line_no)
{
    struct trace_reader *t = ctx;
    static const char tag[] = "# gpusim-trace/1";
    if (line_no != 1 || t->comment || len < sizeof tag - 1 ||
        memcmp(line, tag, sizeof tag - 1) != 0)
        return;
    line += sizeof tag - 1;
    len -= sizeof tag - 1;
    while (len > 0 && *line == ' ') line++, len--;
    t->comment = xstrndup(line, len);
}

static int find_column(const struct csv_field *f)
{
    for (int i = 0; i < TRACE_COLUMNS; i++)
        if (csv_is(f, trace_column_names[i])) return i;
    return -1;
}

/* The text of a field for a message: cut short, bytes that a terminal would obey replaced. */
static const char *shown(char *buf, size_t size, const struct csv_field *f)
{
    size_t n = f->len < size - 4 ? f->len : size - 4;
    for (size_t i = 0; i < n; i++)
        buf[i] = (unsigned char)f->s[i] < 0x20 || f->s[i] == 0x7f ? '?' : f->s[i];
    strcpy(buf + n, n < f->len ? "..." : "");
    return buf;
}

static bool has(const struct csv_row *row, const char *name)
{
    for (size_t i = 0; i < row->n; i++)
        if (csv_is(&row->f[i], name)) return true;
    return false;
}

static void hint_stranger(const struct csv_row *row, struct err *e)
{
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        if (has(row, strangers[i].column)) {
            err_hint(e, "this looks like %s: `gpusim import %s FILE -o trace.csv`",
                     strangers[i].what, strangers[i].format);
            return;
        }
}

static int unknown_column(struct trace_reader *t, const struct csv_field *f, struct err *e)
{
    char word[80];
    shown(word, sizeof word, f);
    int rc = csv_error(t->csv, &t->row, f, e, "expected a column of the native trace, found \"%s\"",
                       word);
    const char *near = str_nearest(word, trace_column_names, TRACE_COLUMNS);
    bool known_elsewhere = false;
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        known_elsewhere |= has(&t->row, strangers[i].column);
    if (known_elsewhere)
        hint_stranger(&t->row, e);
    else if (near)
        err_hint(e, "did you mean \"%s\"?", near);
    else
        err_hint(e, "the first row must name the columns: job_id, submit_s, duration_s, gpus, ...");
    return rc;
}

static int missing_columns(struct trace_reader *t, struct err *e)
{
    const char *missing[TRACE_COLUMNS];
    size_t n = 0;
    char list[160];
    for (int i = 0; i < TRACE_COLUMNS; i++)
        if ((TRACE_REQUIRED & ~t->columns) >> i & 1) missing[n++] = trace_column_names[i];
    int rc = csv_error(t->csv, &t->row, NULL, e, "the header lacks %s",
                       str_list(list, sizeof list, missing, n));
    err_hint(e, "required: job_id, submit_s, duration_s, gpus; `gpusim import auto` converts other "
                "formats");
    return rc;
}

/* Files that are no table at all, told by their first bytes. */
static int refuse_other_kinds(struct trace_reader *t, struct err *e)
{
    const char *s;
    size_t len, i = 0;
    int rc = csv_peek(t->csv, &s, &len, e);
    if (rc < 0) return rc;
    const struct loc at = { .file = csv_file(t->csv), .line = 1 };
    while (i < len && isspace((unsigned char)s[i])) i++;
    if (i == len) return err_set(e, ERR_INPUT, &at, "expected a trace, found an empty file");
    const char *what = NULL;
    if (s[i] == '{' || s[i] == '[')
        what = "JSON";
    else if (s[i] == ';')
        what = "Standard Workload Format comments";
    else if (s[i] == '<')
        what = "XML or HTML";
    if (!what) return 0;
    rc = err_set(e, ERR_INPUT, &at,
                 "expected a CSV header such as \"job_id,submit_s,duration_s,gpus\", found %s",
                 what);
    err_hint(e, "`gpusim import auto FILE -o trace.csv` recognises other formats");
    return rc;
}

static int read_header(struct trace_reader *t, struct err *e)
{
    int rc = refuse_other_kinds(t, e);
    if (rc < 0) return rc;
    rc = csv_next(t->csv, &t->row, e);
    if (rc < 0) return rc;
    if (rc == 0) {
        const struct loc at = { .file = csv_file(t->csv), .line = 1 };
        return err_set(e, ERR_INPUT, &at, "expected a header row, found only comments");
    }
    if (has(&t->row, "arrival_s")) {
        rc = csv_error(t->csv, &t->row, NULL, e,
                       "expected a job trace, found a request trace (arrival_s)");
        err_hint(e, "requests belong to a work item of kind \"service\"");
        return rc;
    }
    for (const char *d = "|;\t"; t->row.n == 1 && *d; d++) {
        if (!memchr(t->row.text, *d, t->row.len)) continue;
        rc = csv_error(t->csv, &t->row, NULL, e, "expected commas between columns, found %s",
                       *d == '\t'  ? "tabs"
                       : *d == ';' ? "semicolons"
                                   : "'|'");
        if (*d == '|') err_hint(e, "for Slurm accounting: `gpusim import sacct FILE -o trace.csv`");
        return rc;
    }
    for (size_t i = 0; i < t->row.n; i++) {
        const struct csv_field *f = &t->row.f[i];
        int col = find_column(f);
        if (col < 0) return unknown_column(t, f, e);
        if (t->columns >> col & 1)
            return csv_error(t->csv, &t->row, f, e, "column \"%s\" is there twice",
                             trace_column_names[col]);
        t->columns |= 1u << col;
        t->column_of[i] = (unsigned char)col;
    }
    t->n = t->row.n;
    return TRACE_REQUIRED & ~t->columns ? missing_columns(t, e) : 0;
}

static int open_reader(struct trace_reader **out, const char *path, bool hash, struct symtab *names,
                       struct err *e)
{
    struct trace_reader *t = xcalloc(1, sizeof *t);
    const struct csv_format fmt = {
        .delimiter = ',',
        .quotes = true,
        .comment = '#',
        .comment_head_only = true,
        .hash = hash,
        .on_comment = keep_comment,
        .ctx = t,
    };
    *out = NULL;
    t->names = names;
    int rc = csv_open(&t->csv, path, &fmt, e);
    if (rc == 0) rc = read_header(t, e);
    if (rc < 0) {
        trace_close(t);
        return rc;
    }
    *out = t;
    return 0;
}

int trace_open(struct trace_reader **out, const char *path, struct symtab *names, struct err *e)
{
    return open_reader(out, path, false, names, e);
}

int trace_open_hashed(struct trace_reader **out, const char *path, struct symtab *names,
                      struct err *e)
{
    return open_reader(out, path, true, names, e);
}

void trace_close(struct trace_reader *t)
{
    if (!t) return;
    csv_close(t->csv);
    free(t->comment);
    free(t);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static int bad_cell(const struct trace_reader *t, int col, const struct csv_field *f, struct err *e,
                    const char *expected, const char *why)
{
    char word[80];
    return csv_error(t->csv, &t->row, f, e, "%s: expected %s, found \"%s\"%s%s%s",
                     trace_column_names[col], expected, shown(word, sizeof word, f),
                     why ? " (" : "", why ? why : "", why ? ")" : "");
}

static int read_time(const struct trace_reader *t, int col, const struct csv_field *f, simtime *out,
                     struct err *e)
{
    enum dec_status st = dec_fixed(f->s, f->len, 9, out);
    if (st == DEC_OK && *out >= 0 && *out <= MAX_NS) return 0;
    if (st == DEC_OK && *out < 0) return bad_cell(t, col, f, e, "seconds >= 0", "negative");
    if (st == DEC_OK || st == DEC_RANGE)
        return bad_cell(t, col, f, e, "at most 9.2e9 seconds", "out of range");
    return bad_cell(t, col, f, e, "seconds such as 12.5", dec_why(st));
}

static int read_gpus(const struct trace_reader *t, int col, const struct csv_field *f, int32_t *out,
                     struct err *e)
{
    int64_t v;
    enum dec_status st = dec_fixed_exact(f->s, f->len, 3, &v);
    const char *expected = "0, a fraction of one card such as 0.25, or a whole number of cards";
    if (st == DEC_INEXACT) return bad_cell(t, col, f, e, expected, "finer than a thousandth");
    if (st != DEC_OK) return bad_cell(t, col, f, e, expected, dec_why(st));
    if (v < 0) return bad_cell(t, col, f, e, expected, "negative");
    if (v > INT32_MAX) return bad_cell(t, col, f, e, "at most 2147483 cards", "out of range");
    if (!job_gpus_ok((int32_t)v))
        return bad_cell(t, col, f, e, expected, "neither a fraction nor whole");
    *out = (int32_t)v;
    return 0;
}

static int read_bytes(const struct trace_reader *t, int col, const struct csv_field *f,
                      uint64_t *out, struct err *e)
{
    enum dec_status st = dec_u64(f->s, f->len, out);
    if (st == DEC_OK && *out != JOB_NO_BYTES) return 0;
    return bad_cell(t, col, f, e, "whole bytes", st == DEC_OK ? "out of range" : dec_why(st));
}

static int read_int(const struct trace_reader *t, int col, const struct csv_field *f, int digits,
                    int32_t min, int32_t *out, const char *expected, struct err *e)
{
    int64_t v;
    enum dec_status st =
        digits ? dec_fixed(f->s, f->len, digits, &v) : dec_fixed_exact(f->s, f->len, 0, &v);
    if (st == DEC_OK && (v < min || v > INT32_MAX)) st = DEC_RANGE;
    if (st != DEC_OK) return bad_cell(t, col, f, e, expected, dec_why(st));
    *out = (int32_t)v;
    return 0;
}

static int read_word(const struct trace_reader *t, int col, const struct csv_field *f,
                     const char *const *words, int count, int *out, struct err *e)
{
    for (int i = 1; i < count; i++)
        if (csv_is(f, words[i])) {
            *out = i;
            return 0;
        }
    char list[120], word[80];
    int rc =
        bad_cell(t, col, f, e, str_list(list, sizeof list, words + 1, (size_t)count - 1), NULL);
    const char *near = str_nearest(shown(word, sizeof word, f), words + 1, (size_t)count - 1);
    if (near) err_hint(e, "did you mean \"%s\"?", near);
    return rc;
}

static sym read_name(struct trace_reader *t, int col, const struct csv_field *f)
{
    struct last_name *last = &t->last[col];
    if (last->s && last->len == f->len && memcmp(last->s, f->s, f->len) == 0) return last->id;
    last->id = symtab_add(t->names, f->s, f->len);
    last->s = symtab_name(t->names, last->id);
    last->len = f->len;
    return last->id;
}

/* One non-empty cell. */
static int read_cell(struct trace_reader *t, int col, const struct csv_field *f,
                     struct job_row *row, struct err *e)
{
    int word = 0, rc = 0;
    switch ((enum trace_column)col) {
    case TRACE_job_id: row->id = f->s, row->id_len = f->len; break;
    case TRACE_submit_s: return read_time(t, col, f, &row->submit, e);
    case TRACE_duration_s: return read_time(t, col, f, &row->duration, e);
    case TRACE_gpus: return read_gpus(t, col, f, &row->gpus_milli, e);
    case TRACE_gpu_mem_bytes: return read_bytes(t, col, f, &row->gpu_mem_bytes, e);
    case TRACE_gpu_model: row->gpu_model = read_name(t, col, f); break;
    case TRACE_gpu_allowed: row->gpu_allowed = read_name(t, col, f); break;
    case TRACE_cpus:
        return read_int(t, col, f, 3, 0, &row->cpus_milli, "cores such as 4 or 0.5", e);
    case TRACE_mem_bytes: return read_bytes(t, col, f, &row->mem_bytes, e);
    case TRACE_user: row->user = read_name(t, col, f); break;
    case TRACE_group: row->group = read_name(t, col, f); break;
    case TRACE_class:
        rc = read_word(t, col, f, job_class_names, CLASS_COUNT, &word, e);
        row->klass = (enum job_class)word;
        break;
    case TRACE_profile: row->profile = read_name(t, col, f); break;
    case TRACE_priority:
        return read_int(t, col, f, 0, JOB_NO_INT + 1, &row->priority, "a whole number", e);
    case TRACE_walltime_s: return read_time(t, col, f, &row->walltime, e);
    case TRACE_status:
        rc = read_word(t, col, f, job_status_names, STATUS_COUNT, &word, e);
        row->status = (enum job_status)word;
        break;
    case TRACE_deadline_s: return read_time(t, col, f, &row->deadline, e);
    case TRACE_min_gpus: return read_gpus(t, col, f, &row->min_gpus_milli, e);
    case TRACE_max_gpus: return read_gpus(t, col, f, &row->max_gpus_milli, e);
    case TRACE_slots:
        return read_int(t, col, f, 0, 1, &row->slots, "a whole number of slots >= 1", e);
    case TRACE_COLUMNS: break;
    }
    return rc;
}

static int wrong_width(const struct trace_reader *t, struct err *e)
{
    const struct csv_field *at = t->row.n > t->n ? &t->row.f[t->n] : NULL;
    int rc = csv_error(t->csv, &t->row, at, e, "expected %zu fields as in the header, found %zu",
                       t->n, t->row.n);
    err_hint(e, "a comma inside a field needs quotes around the field");
    return rc;
}

static const struct csv_field *field_of(const struct trace_reader *t, int col)
{
    for (size_t i = 0; i < t->n && i < t->row.n; i++)
        if (t->column_of[i] == col) return &t->row.f[i];
    return NULL;
}

static int unsorted(const struct trace_reader *t, struct err *e)
{
    char prev[32];
    dec_print(prev, sizeof prev, t->last_submit, 9);
    const struct csv_field *f = field_of(t, TRACE_submit_s);
    int rc = csv_error(
        t->csv, &t->row, f, e,
        "submit_s: expected at least %s (line %d), found %.*s: rows must be sorted by submit_s",
        prev, t->last_line, (int)(f->len < 40 ? f->len : 40), f->s);
    err_hint(e, "`gpusim import native FILE -o sorted.csv` sorts a trace");
    return rc;
}

/* What no single cell shows. */
static int check_row(struct trace_reader *t, const struct job_row *row, struct err *e)
{
    if (row->min_gpus_milli != JOB_NO_INT && row->max_gpus_milli != JOB_NO_INT &&
        row->min_gpus_milli > row->max_gpus_milli)
        return csv_error(t->csv, &t->row, field_of(t, TRACE_min_gpus), e,
                         "min_gpus: expected at most max_gpus");
    if (row->submit < t->last_submit && !t->unsorted_ok) return unsorted(t, e);
    t->last_submit = row->submit;
    t->last_line = t->row.line;
    return 0;
}

static bool required(int col)
{
    return TRACE_REQUIRED >> col & 1;
}

int trace_next(struct trace_reader *t, struct job_row *row, struct err *e)
{
    int rc = csv_next(t->csv, &t->row, e);
    if (rc < 0) return rc;
    if (rc == 0) {
        if (t->any) return 0;
        const struct loc at = { .file = csv_file(t->csv), .line = t->row.line };
        t->empty = true;
        return err_set(e, ERR_INPUT, &at, "expected at least one job, found only a header");
    }
    t->any = true;
    if (t->row.n != t->n) return wrong_width(t, e);
    *row = no_values;
    for (size_t i = 0; i < t->n; i++) {
        const struct csv_field *f = &t->row.f[i];
        const int col = t->column_of[i];
        if (f->len == 0) {
            if (required(col))
                return csv_error(t->csv, &t->row, f, e, "%s: expected a value, found an empty cell",
                                 trace_column_names[col]);
            continue;
        }
        rc = read_cell(t, col, f, row, e);
        if (rc < 0) return rc;
    }
    rc = check_row(t, row, e);
    return rc < 0 ? rc : 1;
}

void trace_allow_unsorted(struct trace_reader *t)
{
    t->unsorted_ok = true;
}

bool trace_failed(const struct trace_reader *t)
{
    return csv_failed(t->csv) || t->empty;
}

int trace_line(const struct trace_reader *t)
{
    return t->row.line;
}

uint64_t trace_bytes(const struct trace_reader *t)
{
    return csv_bytes(t->csv);
}

const char *trace_text(const struct trace_reader *t, size_t *len)
{
    *len = t->row.len;
    return t->row.text;
}

unsigned trace_columns(const struct trace_reader *t)
{
    return t->columns;
}

const char *trace_comment(const struct trace_reader *t)
{
    return t->comment;
}

const struct instream *trace_stream(const struct trace_reader *t)
{
    return csv_stream(t->csv);
}

int trace_row_error(const struct trace_reader *t, const char *name, struct err *e, const char *fmt,
                    ...)
{
    const struct csv_field *at = NULL;
    for (int i = 0; name && i < TRACE_COLUMNS; i++)
        if (strcmp(trace_column_names[i], name) == 0) at = field_of(t, i);
    va_list ap;
    va_start(ap, fmt);
    int rc = csv_verror(t->csv, &t->row, at, e, fmt, ap);
    va_end(ap);
    return rc;
}

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

int trace_sniff(const char *head, size_t len)
{
    size_t n;
    const char *s = first_line(head, len, &n);
    unsigned found = 0;
    for (size_t at = 0; at <= n;) {
        const char *comma = memchr(s + at, ',', n - at);
        size_t stop = comma ? (size_t)(comma - s) : n;
        struct csv_field f = { .s = s + at, .len = stop - at };
        if (f.len >= 2 && f.s[0] == '"' && f.s[f.len - 1] == '"') f.s++, f.len -= 2;
        int col = find_column(&f);
        if (col >= 0) found |= 1u << col;
        at = stop + 1;
    }
    return (found & TRACE_REQUIRED) == TRACE_REQUIRED ? 100 : 0;
}

/* ---- writer -------------------------------------------------------------------------------- */

static bool time_ok(simtime t)
{
    return t >= 0 && t <= MAX_NS;
}

static bool opt_time_ok(simtime t)
{
    return t == JOB_NO_TIME || time_ok(t);
}

static bool opt_gpus_ok(int32_t milli)
{
    return milli == JOB_NO_INT || job_gpus_ok(milli);
}

const char *job_row_problem(const struct job_row *row)
{
    if (row->id_len == 0) return "job_id is empty";
    if (memchr(row->id, '\0', row->id_len)) return "job_id holds a NUL byte";
    if (!time_ok(row->submit)) return "submit_s is negative or beyond 9.2e9 s";
    if (!time_ok(row->duration)) return "duration_s is negative or beyond 9.2e9 s";
    if (!job_gpus_ok(row->gpus_milli))
        return "gpus is neither 0, a fraction of one card, nor a whole number";
    if (!opt_gpus_ok(row->min_gpus_milli) || !opt_gpus_ok(row->max_gpus_milli))
        return "min_gpus or max_gpus is neither a fraction of one card nor a whole number";
    if (row->min_gpus_milli != JOB_NO_INT && row->max_gpus_milli != JOB_NO_INT &&
        row->min_gpus_milli > row->max_gpus_milli)
        return "min_gpus exceeds max_gpus";
    if (!opt_time_ok(row->walltime)) return "walltime_s is negative or beyond 9.2e9 s";
    if (!opt_time_ok(row->deadline)) return "deadline_s is negative or beyond 9.2e9 s";
    if (row->cpus_milli != JOB_NO_INT && row->cpus_milli < 0) return "cpus is negative";
    if (row->slots != JOB_NO_INT && row->slots < 1) return "slots is below 1";
    return NULL;
}

static void put_dec(FILE *to, int64_t v, int digits)
{
    char buf[48];
    size_t n = dec_print(buf, sizeof buf, v, digits);
    fwrite(buf, 1, n, to);
}

static void put_name(FILE *to, const struct symtab *names, sym s)
{
    const char *name = symtab_name(names, s);
    csv_put(to, name, strlen(name));
}

static void put_cell(FILE *to, enum trace_column col, const struct job_row *r,
                     const struct symtab *names)
{
    switch (col) {
    case TRACE_job_id: csv_put(to, r->id, r->id_len); break;
    case TRACE_submit_s: put_dec(to, r->submit, 9); break;
    case TRACE_duration_s: put_dec(to, r->duration, 9); break;
    case TRACE_gpus: put_dec(to, r->gpus_milli, 3); break;
    case TRACE_gpu_mem_bytes:
        if (r->gpu_mem_bytes != JOB_NO_BYTES)
            fprintf(to, "%llu", (unsigned long long)r->gpu_mem_bytes);
        break;
    case TRACE_gpu_model: put_name(to, names, r->gpu_model); break;
    case TRACE_gpu_allowed: put_name(to, names, r->gpu_allowed); break;
    case TRACE_cpus:
        if (r->cpus_milli != JOB_NO_INT) put_dec(to, r->cpus_milli, 3);
        break;
    case TRACE_mem_bytes:
        if (r->mem_bytes != JOB_NO_BYTES) fprintf(to, "%llu", (unsigned long long)r->mem_bytes);
        break;
    case TRACE_user: put_name(to, names, r->user); break;
    case TRACE_group: put_name(to, names, r->group); break;
    case TRACE_class: fputs(job_class_names[r->klass], to); break;
    case TRACE_profile: put_name(to, names, r->profile); break;
    case TRACE_priority:
        if (r->priority != JOB_NO_INT) put_dec(to, r->priority, 0);
        break;
    case TRACE_walltime_s:
        if (r->walltime != JOB_NO_TIME) put_dec(to, r->walltime, 9);
        break;
    case TRACE_status: fputs(job_status_names[r->status], to); break;
    case TRACE_deadline_s:
        if (r->deadline != JOB_NO_TIME) put_dec(to, r->deadline, 9);
        break;
    case TRACE_min_gpus:
        if (r->min_gpus_milli != JOB_NO_INT) put_dec(to, r->min_gpus_milli, 3);
        break;
    case TRACE_max_gpus:
        if (r->max_gpus_milli != JOB_NO_INT) put_dec(to, r->max_gpus_milli, 3);
        break;
    case TRACE_slots:
        if (r->slots != JOB_NO_INT) put_dec(to, r->slots, 0);
        break;
    case TRACE_COLUMNS: break;
    }
}

void trace_write_header(FILE *to, unsigned columns, const char *comment)
{
    if (comment) fprintf(to, "# %s\n", comment);
    columns |= TRACE_REQUIRED;
    bool first = true;
    for (int i = 0; i < TRACE_COLUMNS; i++) {
        if (!(columns >> i & 1)) continue;
        fprintf(to, "%s%s", first ? "" : ",", trace_column_names[i]);
        first = false;
    }
    putc('\n', to);
}

void trace_write_row(FILE *to, unsigned columns, const struct job_row *row,
                     const struct symtab *names)
{
    const char *problem = job_row_problem(row);
    if (problem) BUG("trace_write_row: %s", problem);
    columns |= TRACE_REQUIRED;
    bool first = true;
    for (int i = 0; i < TRACE_COLUMNS; i++) {
        if (!(columns >> i & 1)) continue;
        if (!first) putc(',', to);
        put_cell(to, (enum trace_column)i, row, names);
        first = false;
    }
    putc('\n', to);
}
