/* fmt_swf.c - Standard Workload Format (Feitelson, Parallel Workloads Archive, version 2.2) and the
 * dialects that simulators write: 18 blank-separated fields (tabs and semicolons occur), `;` header
 * comments, an optional text header row, further columns behind the 18th.
 *
 * Fields count from 1: 1 job, 2 submit, 3 wait, 4 run, 5 allocated processors, 8 requested
 * processors, 9 requested time, 10 requested memory (KB per processor), 11 status, 12 user, 13
 * group. -1 means unknown in any of them:
 *   run -1              no job: quarantined (lost or cancelled before it ran)
 *   allocated -1        requested processors count instead (repaired)
 *   requested time -1   no limit
 *   wait -1             the start is not known
 * Status 2, 3 and 4 are partial executions; their job has a summary line of its own, which counts.
 * A run beyond the requested time happened all the same: the limit is raised to it (repaired), else
 * a replay would kill a job that the machine let finish. SWF knows no GPUs: --gpus-per-processor
 * maps processors (default 1), --gpu-column N reads a field. */
#include "traces/format.h"

#include "base/dec.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { FIELDS = 18 };
enum {
    F_job = 1,
    F_submit,
    F_wait,
    F_run,
    F_alloc,
    F_requested = 8,
    F_limit,
    F_memory,
    F_status,
    F_user,
    F_group
};

static const struct import_reason no_run = { "no-run-time",
                                             "run time -1: lost, or cancelled before it ran",
                                             true };
static const struct import_reason partial = {
    "partial-execution", "status 2, 3 or 4: one part of a job whose summary line counts", true
};
static const struct import_reason no_processors = {
    "no-processors", "neither allocated nor requested processors are known", false
};
static const struct import_reason no_submit = { "no-submit", "the submit time is unknown (-1)",
                                                false };
static const struct import_reason no_gpus = { "no-gpus",
                                              "the GPU column is missing or -1 in this row",
                                              false };
static const struct import_reason odd_gpus = {
    "odd-gpus", "processors x ratio is neither a fraction of one card nor whole cards (--round)",
    false
};
static const struct import_reason rounded = { "rounded-gpus",
                                              "processors x ratio rounded to whole cards (--round)",
                                              true };
static const struct import_reason used_requested = {
    "requested-processors", "allocated processors unknown: the requested ones count", true
};
static const struct import_reason ran_past_limit = {
    "ran-past-its-limit", "run time beyond requested time: walltime_s raised to it", true
};

static const struct import_reason zero_run = {
    "zero-run", "a run of 0 s, which is one shorter than the clock's second: --min-run stands in",
    true
};

struct options {
    const char *ratio;
    double min_run;
    int64_t gpu_column;
    int round;
};

enum { ROUND_no, ROUND_up, ROUND_nearest };
static const char *const rounds[] = { "no", "up", "nearest", NULL };

static const struct opt opts[] = {
    { "gpus-per-processor", 0, OPT_TEXT, offsetof(struct options, ratio), "RATIO",
      "swf: GPUs for each processor, e.g. 0.125 (default 1)", NULL },
    { "gpu-column", 0, OPT_COUNT, offsetof(struct options, gpu_column), "N",
      "swf: field N (from 1) holds the job's GPUs; processors become cpus", NULL },
    { "round", 0, OPT_CHOICE, offsetof(struct options, round), "HOW",
      "swf: more than one card but not whole, such as 1.5: no (default) quarantines the job",
      rounds },
    { "min-run", 0, OPT_REAL, offsetof(struct options, min_run), "SECONDS",
      "swf: length of jobs whose run is 0 (rounded off by the clock); default 0: as recorded",
      NULL },
    { 0 },
};

struct swf {
    struct csv *csv;
    struct symtab *names;
    int64_t ratio_milli, gpu_column;
    simtime min_run;
    int round;
    int64_t max_procs, max_nodes; /* header; 0: not said */
    struct import_info *info;     /* lent during open */
    struct csv_row first;         /* read by open, handed out by the first next */
    bool have_first;
    int header_line; /* of a row of words in front of the jobs; 0: none */
};

/* "; MaxProcs: 240" -> value, when the line has that key. */
static bool header_value(const char *line, size_t len, const char *key, const char **value,
                         size_t *value_len)
{
    size_t k = strlen(key), i = 0;
    while (i < len && (line[i] == ';' || line[i] == ' ' || line[i] == '\t')) i++;
    if (len - i <= k || memcmp(line + i, key, k) != 0 || line[i + k] != ':') return false;
    i += k + 1;
    while (i < len && (line[i] == ' ' || line[i] == '\t')) i++;
    while (len > i && (line[len - 1] == ' ' || line[len - 1] == '\t')) len--;
    *value = line + i;
    *value_len = len - i;
    return true;
}

static void read_comment(void *ctx, const char *line, size_t len, int line_no)
{
    struct swf *s = ctx;
    const char *v;
    size_t n;
    uint64_t u;
    (void)line_no;
    if (!s->info) return; /* comments after the first job say nothing about the machine */
    if (header_value(line, len, "MaxProcs", &v, &n) && dec_u64(v, n, &u) == DEC_OK && u < 1u << 30)
        s->max_procs = (int64_t)u;
    if (header_value(line, len, "MaxNodes", &v, &n) && dec_u64(v, n, &u) == DEC_OK && u < 1u << 30)
        s->max_nodes = (int64_t)u;
    size_t at = strlen(s->info->origin), room = sizeof s->info->origin - at;
    const char *gap = at ? " " : "";
    /* TimeZone is faulty by the archive's own word; TimeZoneString is what counts */
    if (header_value(line, len, "UnixStartTime", &v, &n) && n < 40)
        snprintf(s->info->origin + at, room, "%sunix_start=%.*s", gap, (int)n, v);
    else if (header_value(line, len, "TimeZoneString", &v, &n) && n < 60)
        snprintf(s->info->origin + at, room, "%szone=%.*s", gap, (int)n, v);
}

/* The first line that holds data, among the file's first bytes. */
static const char *first_data(const char *s, size_t len, size_t *n)
{
    const char *end = s + len;
    while (s < end) {
        const char *nl = memchr(s, '\n', (size_t)(end - s)), *stop = nl ? nl : end;
        while (s < stop && (*s == ' ' || *s == '\t')) s++;
        if (s < stop && *s != ';' && *s != '\r') {
            *n = (size_t)(stop - s);
            return s;
        }
        s = nl ? nl + 1 : end;
    }
    *n = 0;
    return NULL;
}

static size_t count_byte(const char *s, size_t n, char c)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) k += s[i] == c;
    return k;
}

/* Fields of a line, and whether all of the first eleven are numbers. */
static int count_fields(const char *s, size_t n, char delimiter, bool *numeric)
{
    int fields = 0;
    *numeric = true;
    for (size_t i = 0; i < n;) {
        while (i < n && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r')) i++;
        size_t from = i;
        while (i < n && s[i] != delimiter && s[i] != '\t' && s[i] != ' ' && s[i] != '\r') i++;
        if (i == from && delimiter == ' ') break;
        double v;
        if (++fields <= F_status && dec_double(s + from, i - from, &v) != DEC_OK) *numeric = false;
        while (i < n && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r')) i++;
        if (i < n && s[i] == delimiter) i++;
    }
    return fields;
}

/* ';' between fields instead of blanks? */
static int find_delimiter(const char *path, char *delimiter, struct err *e)
{
    const struct csv_format probe = { .delimiter = ' ' };
    struct csv *c;
    const char *s;
    size_t len, n;
    *delimiter = ' ';
    int rc = csv_open(&c, path, &probe, e);
    if (rc < 0) return rc;
    rc = csv_peek(c, &s, &len, e);
    const char *line = rc == 0 && s ? first_data(s, len, &n) : NULL;
    if (line && count_byte(line, n, ';') >= FIELDS - 1) *delimiter = ';';
    csv_close(c);
    return rc;
}

static void swf_close(void *state)
{
    struct swf *s = state;
    if (!s) return;
    csv_close(s->csv);
    free(s);
}

static int read_options(struct swf *s, const struct options *o, struct err *e)
{
    s->ratio_milli = 1000;
    s->gpu_column = o->gpu_column;
    s->round = o->round;
    if (o->ratio && o->gpu_column)
        return err_set(e, ERR_USAGE, NULL,
                       "--gpus-per-processor and --gpu-column exclude each other");
    if (o->ratio && (dec_fixed_exact(o->ratio, strlen(o->ratio), 3, &s->ratio_milli) != DEC_OK ||
                     s->ratio_milli < 0 || s->ratio_milli > 1000000))
        return err_set(e, ERR_USAGE, NULL,
                       "--gpus-per-processor: expected thousandths from 0 to 1000, found \"%s\"",
                       o->ratio);
    if (!(o->min_run >= 0 && o->min_run <= 1e6))
        return err_set(e, ERR_USAGE, NULL, "--min-run: expected 0 to 1e6 seconds");
    s->min_run = (simtime)(o->min_run * 1e9 + 0.5);
    if (o->gpu_column > 1000)
        return err_set(e, ERR_USAGE, NULL, "--gpu-column: expected a field from 1 to 1000");
    return 0;
}

/* Without the blanks around it, which semicolon files have. Empty when there is none. */
static struct csv_field field(const struct csv_row *r, int n)
{
    struct csv_field f = (size_t)n <= r->n ? r->f[n - 1] : (struct csv_field){ .s = "" };
    while (f.len > 0 && (f.s[0] == ' ' || f.s[0] == '\t')) f.s++, f.len--;
    while (f.len > 0 && (f.s[f.len - 1] == ' ' || f.s[f.len - 1] == '\t')) f.len--;
    return f;
}

/* A row of nothing but words in front of the data is a header. One number makes it a job. */
static bool is_header_row(const struct csv_row *r)
{
    double v;
    for (int n = 1; n <= F_status && (size_t)n <= r->n; n++) {
        const struct csv_field f = field(r, n);
        if (dec_double(f.s, f.len, &v) == DEC_OK) return false;
    }
    return true;
}

/* Reads up to the first job, so that the header comments are known. */
static int read_first(struct swf *s, struct err *e)
{
    int rc = csv_next(s->csv, &s->first, e);
    if (rc > 0 && is_header_row(&s->first)) {
        s->header_line = s->first.line;
        rc = csv_next(s->csv, &s->first, e);
    }
    if (rc < 0) return rc;
    const struct loc at = { .file = csv_file(s->csv) };
    if (rc == 0)
        return err_set(e, ERR_INPUT, &at,
                       "expected jobs in the Standard Workload Format, found none");
    if (s->first.n < F_status && is_header_row(&s->first)) {
        rc = csv_error(s->csv, &s->first, NULL, e,
                       "expected 18 numbers of the Standard Workload Format, found %zu words",
                       s->first.n);
        err_hint(e, "`gpusim import auto` tells formats apart");
        return rc;
    }
    s->have_first = true;
    return 0;
}

static int swf_open(void **state, const char *path, const void *options, struct symtab *names,
                    struct import_info *info, struct err *e)
{
    struct swf *s = xcalloc(1, sizeof *s);
    struct csv_format fmt = { .comment = ';', .on_comment = read_comment, .ctx = s };
    s->names = names;
    s->info = info;
    int rc = read_options(s, options, e);
    if (rc == 0) rc = find_delimiter(path, &fmt.delimiter, e);
    if (rc == 0) rc = csv_open(&s->csv, path, &fmt, e);
    if (rc == 0) rc = read_first(s, e);
    s->info = NULL;
    if (rc < 0) {
        swf_close(s);
        return rc;
    }
    int64_t procs = s->max_procs ? s->max_procs : s->max_nodes;
    if (!s->gpu_column) {
        info->capacity_milli = procs * s->ratio_milli;
        if (!((const struct options *)options)->ratio)
            snprintf(info->note, sizeof info->note,
                     "SWF has no GPU field: each processor counts as one GPU "
                     "(--gpus-per-processor, --gpu-column)");
    }
    *state = s;
    return 0;
}

/* x 10^digits. Only -1 is unknown: another value below zero is none that the format knows, but for
 * the wait, which machines with clocks that differ write. */
static bool number(const struct csv_row *r, int n, const char *what, int digits, int64_t *out,
                   struct import_row *row)
{
    const struct csv_field f = field(r, n);
    enum dec_status st = dec_fixed(f.s, f.len, digits, out);
    if (st != DEC_OK) {
        import_quarantine(row, &import_bad_value, "field %d (%s): %s", n, what, dec_why(st));
        return false;
    }
    if (*out < 0 && *out != (digits == 9 ? -SIM_SECOND : -1) && n != F_wait) {
        import_quarantine(row, &import_bad_value, "field %d (%s): below zero and not -1 (unknown)",
                          n, what);
        return false;
    }
    if (*out < 0) *out = -1;
    return true;
}

/* Processors: allocated, else requested; 0 when neither is known. */
static int64_t processors(const struct csv_row *r, struct import_row *row)
{
    int64_t alloc, req;
    if (!number(r, F_alloc, "allocated processors", 0, &alloc, row)) return 0;
    if (alloc > 0) return alloc;
    if (!number(r, F_requested, "requested processors", 0, &req, row)) return 0;
    if (req <= 0) {
        import_quarantine(row, &no_processors, "%s", "");
        return 0;
    }
    import_repair(row, &used_requested);
    return req;
}

static void read_gpus(struct swf *s, const struct csv_row *r, int64_t procs, struct import_row *row)
{
    int64_t milli = 0;
    if (s->gpu_column) {
        const struct csv_field f = field(r, (int)s->gpu_column);
        if (dec_fixed_exact(f.s, f.len, 3, &milli) != DEC_OK || milli < 0) {
            import_quarantine(row, &no_gpus, "field %lld", (long long)s->gpu_column);
            return;
        }
        if (procs <= INT32_MAX / 1000) row->job.cpus_milli = (int32_t)(procs * 1000);
    } else if (__builtin_mul_overflow(procs, s->ratio_milli, &milli)) {
        milli = INT64_MAX;
    }
    if (s->round != ROUND_no && milli > 1000 && milli % 1000 != 0 && milli < INT32_MAX) {
        milli = (milli + (s->round == ROUND_up ? 999 : 500)) / 1000 * 1000;
        import_repair(row, &rounded);
    }
    if (milli > INT32_MAX || !job_gpus_ok((int32_t)milli)) {
        char text[32];
        dec_print(text, sizeof text, milli, 3);
        import_quarantine(row, &odd_gpus, "%s GPUs", text);
        return;
    }
    row->job.gpus_milli = (int32_t)milli;
    row->asked = true;
}

static void read_status(const struct csv_row *r, struct import_row *row)
{
    int64_t st;
    if (!number(r, F_status, "status", 0, &st, row)) return;
    switch (st) {
    case 0: row->job.status = STATUS_failed; break;
    case 1: row->job.status = STATUS_completed; break;
    case 2:
    case 3:
    case 4: import_quarantine(row, &partial, "status %d", (int)st); break;
    case 5: row->job.status = STATUS_cancelled; break;
    default: break;
    }
}

static void read_times(const struct swf *s, const struct csv_row *r, struct import_row *row)
{
    int64_t wait, limit;
    struct job_row *j = &row->job;
    if (!number(r, F_submit, "submit", 9, &j->submit, row) ||
        !number(r, F_wait, "wait", 9, &wait, row) ||
        !number(r, F_run, "run", 9, &j->duration, row) ||
        !number(r, F_limit, "requested time", 9, &limit, row))
        return;
    if (j->submit < 0) {
        import_quarantine(row, &no_submit, "%s", "");
        return;
    }
    if (j->duration < 0) {
        import_quarantine(row, &no_run, "%s", "");
        return;
    }
    if (j->duration == 0 && s->min_run > 0) {
        j->duration = s->min_run;
        import_repair(row, &zero_run);
    }
    if (wait >= 0 && __builtin_add_overflow(j->submit, wait, &row->start)) row->start = JOB_NO_TIME;
    if (limit <= 0) return; /* 0 is no limit either: such a job could not run at all */
    if (j->duration > limit) import_repair(row, &ran_past_limit);
    j->walltime = j->duration > limit ? j->duration : limit;
}

static void read_memory(const struct csv_row *r, int64_t procs, struct import_row *row)
{
    const struct csv_field f = field(r, F_memory);
    int64_t kb, bytes;
    if (dec_fixed(f.s, f.len, 0, &kb) == DEC_OK && kb > 0 &&
        !__builtin_mul_overflow(kb, procs, &bytes) &&
        !__builtin_mul_overflow(bytes, INT64_C(1024), &bytes))
        row->job.mem_bytes = (uint64_t)bytes;
}

static sym id_name(struct swf *s, const struct csv_row *r, int n)
{
    const struct csv_field f = field(r, n);
    return f.len == 0 || f.s[0] == '-' ? 0 : symtab_add(s->names, f.s, f.len);
}

static int swf_next(void *state, struct import_row *row, struct err *e)
{
    struct swf *s = state;
    struct csv_row r = s->first;
    if (!s->have_first) {
        int rc = csv_next(s->csv, &r, e);
        if (rc <= 0) return rc;
    }
    s->have_first = false;
    row->line = r.line;
    row->raw = r.text;
    row->raw_len = r.len;
    if (r.n < FIELDS) {
        import_quarantine(row, &import_field_count, "%zu fields, expected 18 or more", r.n);
        return 1;
    }
    const struct csv_field id = field(&r, F_job);
    row->job.id = id.s;
    row->job.id_len = id.len;
    int64_t procs = processors(&r, row);
    if (procs > 0) read_gpus(s, &r, procs, row);
    read_status(&r, row);
    read_times(s, &r, row);
    if (procs > 0) read_memory(&r, procs, row);
    row->job.user = id_name(s, &r, F_user);
    row->job.group = id_name(s, &r, F_group);
    return 1;
}

static void swf_facts(const void *state, json_t *into)
{
    const struct swf *s = state;
    if (s->header_line) json_object_set_new(into, "header_line", json_integer(s->header_line));
}

static int swf_sniff(const char *head, size_t len)
{
    size_t n;
    const char *line = first_data(head, len, &n);
    if (!line) return 0;
    bool numeric;
    char delimiter = count_byte(line, n, ';') >= FIELDS - 1 ? ';' : ' ';
    int fields = count_fields(line, n, delimiter, &numeric);
    if (fields >= FIELDS && !numeric) { /* a header of words; the next line decides */
        size_t rest = len - (size_t)(line - head) - n;
        line = first_data(line + n, rest, &n);
        fields = line ? count_fields(line, n, delimiter, &numeric) : 0;
    }
    if (fields < FIELDS || !numeric) return 0;
    return head[0] == ';' ? 95 : 80;
}

const struct trace_format fmt_swf = {
    .name = "swf",
    .help = "Standard Workload Format (Parallel Workloads Archive) and its dialects",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = swf_sniff,
    .open = swf_open,
    .next = swf_next,
    .close = swf_close,
    .facts = swf_facts,
};
