#include "model/trace.h"

#include "base/dec.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/native.h"

#include <stdlib.h>
#include <string.h>

const char *const trace_column_names[TRACE_COLUMNS + 1] = {
#define X(name) #name,
    TRACE_COLUMN_MAP(X)
#undef X
        NULL,
};

#define MAX_NS ((simtime)(SIM_MAX_S * 1e9)) /* 9.2e18 is exact in double */

struct trace_reader {
    struct native_file f;
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

static const struct native_stranger strangers[] = {
    { "gpu_milli", "openb", "Alibaba openb pods" },
    { "num_gpu", "tiresias", "a Tiresias-like trace" },
    { "plan_gpu", "pai", "Alibaba PAI tables" },
    { "gpu_num", "helios", "a Helios or Acme log" },
    { "JobID", "sacct", "Slurm accounting" },
    { "JobIDRaw", "sacct", "Slurm accounting" },
    { "job", "swf", "the Standard Workload Format" },
    { 0 },
};

static unsigned required(unsigned columns)
{
    (void)columns;
    return TRACE_REQUIRED;
}

static int refuse_requests(const struct csv *csv, const struct csv_row *header, struct err *e)
{
    if (!native_has(header, "arrival_s")) return 0;
    int rc =
        csv_error(csv, header, NULL, e, "expected a job trace, found a request trace (arrival_s)");
    err_hint(e, "requests belong to a work item of kind \"service\"");
    return rc;
}

static const struct native_kind jobs = {
    .trace = "native trace",
    .file = "a trace",
    .one = "job",
    .out = "trace.csv",
    .format = "native",
    .first_columns = "job_id,submit_s,duration_s,gpus",
    .needs = "job_id, submit_s, duration_s, gpus",
    .columns = trace_column_names,
    .time = TRACE_submit_s,
    .strangers = strangers,
    .required = required,
    .refuse = refuse_requests,
};

int trace_open(struct trace_reader **out, const char *path, struct symtab *names, struct err *e)
{
    struct trace_reader *t = xcalloc(1, sizeof *t);
    *out = NULL;
    int rc = native_open(&t->f, &jobs, path, names, e);
    if (rc < 0) {
        trace_close(t);
        return rc;
    }
    *out = t;
    return 0;
}

void trace_close(struct trace_reader *t)
{
    if (!t) return;
    native_close(&t->f);
    free(t);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static int bad_cell(const struct trace_reader *t, int col, const struct csv_field *f, struct err *e,
                    const char *expected, const char *why)
{
    return native_bad_cell(&t->f, col, f, e, expected, why);
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
    const char *near =
        str_nearest(native_shown(word, sizeof word, f), words + 1, (size_t)count - 1);
    if (near) err_hint(e, "did you mean \"%s\"?", near);
    return rc;
}

bool job_cards_good(const char *s, size_t len)
{
    bool empty = true; /* the alternative that ends here */
    for (size_t i = 0; i <= len; i++) {
        if (i < len && s[i] != '|') {
            empty = false;
            continue;
        }
        if (empty) return false;
        empty = true;
    }
    return true;
}

static int read_cards(struct trace_reader *t, int col, const struct csv_field *f, sym *out,
                      struct err *e)
{
    if (!job_cards_good(f->s, f->len))
        return bad_cell(t, col, f, e, "cards with one | between them, such as v100|t4", NULL);
    *out = native_name(&t->f, col, f);
    return 0;
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
    case TRACE_gpu_model: row->gpu_model = native_name(&t->f, col, f); break;
    case TRACE_gpu_allowed: return read_cards(t, col, f, &row->gpu_allowed, e);
    case TRACE_cpus:
        return read_int(t, col, f, 3, 0, &row->cpus_milli, "cores such as 4 or 0.5", e);
    case TRACE_mem_bytes: return read_bytes(t, col, f, &row->mem_bytes, e);
    case TRACE_user: row->user = native_name(&t->f, col, f); break;
    case TRACE_group: row->group = native_name(&t->f, col, f); break;
    case TRACE_class:
        rc = read_word(t, col, f, job_class_names, CLASS_COUNT, &word, e);
        row->klass = (enum job_class)word;
        break;
    case TRACE_profile: row->profile = native_name(&t->f, col, f); break;
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

/* What no single cell shows. */
static int check_row(struct trace_reader *t, const struct job_row *row, struct err *e)
{
    if (row->min_gpus_milli != JOB_NO_INT && row->max_gpus_milli != JOB_NO_INT &&
        row->min_gpus_milli > row->max_gpus_milli)
        return csv_error(t->f.csv, &t->f.row, native_field(&t->f, TRACE_min_gpus), e,
                         "min_gpus: expected at most max_gpus");
    return native_sorted(&t->f, row->submit, e);
}

int trace_next(struct trace_reader *t, struct job_row *row, struct err *e)
{
    int rc = native_next(&t->f, e);
    if (rc <= 0) return rc;
    *row = no_values;
    for (size_t i = 0; i < t->f.n; i++) {
        const struct csv_field *f = &t->f.row.f[i];
        const int col = t->f.column_of[i];
        rc = f->len ? read_cell(t, col, f, row, e) : native_empty(&t->f, f, col, e);
        if (rc < 0) return rc;
    }
    rc = check_row(t, row, e);
    return rc < 0 ? rc : 1;
}

void trace_allow_unsorted(struct trace_reader *t)
{
    t->f.unsorted_ok = true;
}

bool trace_failed(const struct trace_reader *t)
{
    return csv_failed(t->f.csv) || t->f.empty;
}

int trace_line(const struct trace_reader *t)
{
    return t->f.row.line;
}

const char *trace_text(const struct trace_reader *t, size_t *len)
{
    *len = t->f.row.len;
    return t->f.row.text;
}

unsigned trace_columns(const struct trace_reader *t)
{
    return t->f.columns;
}

const char *trace_comment(const struct trace_reader *t)
{
    return t->f.comment;
}

int trace_row_error(const struct trace_reader *t, const char *name, struct err *e, const char *fmt,
                    ...)
{
    const struct csv_field *at = NULL;
    for (int i = 0; name && i < TRACE_COLUMNS; i++)
        if (strcmp(trace_column_names[i], name) == 0) at = native_field(&t->f, i);
    va_list ap;
    va_start(ap, fmt);
    int rc = csv_verror(t->f.csv, &t->f.row, at, e, fmt, ap);
    va_end(ap);
    return rc;
}

int trace_sniff(const char *head, size_t len)
{
    return (native_sniff(&jobs, head, len) & TRACE_REQUIRED) == TRACE_REQUIRED ? 100 : 0;
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

static void put_cell(FILE *to, enum trace_column col, const struct job_row *r,
                     const struct symtab *names)
{
    switch (col) {
    case TRACE_job_id: csv_put(to, r->id, r->id_len); break;
    case TRACE_submit_s: native_put_dec(to, r->submit, 9); break;
    case TRACE_duration_s: native_put_dec(to, r->duration, 9); break;
    case TRACE_gpus: native_put_dec(to, r->gpus_milli, 3); break;
    case TRACE_gpu_mem_bytes:
        if (r->gpu_mem_bytes != JOB_NO_BYTES)
            fprintf(to, "%llu", (unsigned long long)r->gpu_mem_bytes);
        break;
    case TRACE_gpu_model: native_put_name(to, names, r->gpu_model); break;
    case TRACE_gpu_allowed: native_put_name(to, names, r->gpu_allowed); break;
    case TRACE_cpus:
        if (r->cpus_milli != JOB_NO_INT) native_put_dec(to, r->cpus_milli, 3);
        break;
    case TRACE_mem_bytes:
        if (r->mem_bytes != JOB_NO_BYTES) fprintf(to, "%llu", (unsigned long long)r->mem_bytes);
        break;
    case TRACE_user: native_put_name(to, names, r->user); break;
    case TRACE_group: native_put_name(to, names, r->group); break;
    case TRACE_class: fputs_unlocked(job_class_names[r->klass], to); break;
    case TRACE_profile: native_put_name(to, names, r->profile); break;
    case TRACE_priority:
        if (r->priority != JOB_NO_INT) native_put_dec(to, r->priority, 0);
        break;
    case TRACE_walltime_s:
        if (r->walltime != JOB_NO_TIME) native_put_dec(to, r->walltime, 9);
        break;
    case TRACE_status: fputs_unlocked(job_status_names[r->status], to); break;
    case TRACE_deadline_s:
        if (r->deadline != JOB_NO_TIME) native_put_dec(to, r->deadline, 9);
        break;
    case TRACE_min_gpus:
        if (r->min_gpus_milli != JOB_NO_INT) native_put_dec(to, r->min_gpus_milli, 3);
        break;
    case TRACE_max_gpus:
        if (r->max_gpus_milli != JOB_NO_INT) native_put_dec(to, r->max_gpus_milli, 3);
        break;
    case TRACE_slots:
        if (r->slots != JOB_NO_INT) native_put_dec(to, r->slots, 0);
        break;
    case TRACE_COLUMNS: break;
    }
}

void trace_write_header(FILE *to, unsigned columns, const char *comment)
{
    native_put_header(to, trace_column_names, columns | TRACE_REQUIRED, comment);
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
        if (!first) putc_unlocked(',', to);
        put_cell(to, (enum trace_column)i, row, names);
        first = false;
    }
    putc_unlocked('\n', to);
}
