/* fmt_sacct.c - the text of Slurm's sacct (sacct(1) in the Slurm documentation): --parsable2 or
 * --parsable, any columns in any order, with a header or with --columns for files without one.
 *
 * Rows are allocations; steps are counted and set aside. A '|' or a line break inside a free-text
 * column (JobName, Comment, SubmitLine, WorkDir ...) shifts or breaks a row: it is put together
 * again when all such columns stand side by side, else quarantined by its field count. Nothing is
 * joined to a line that starts like a row (a job id where the ids stand, and a delimiter), so a row
 * that was cut short costs itself alone. What the columns mean is in slurm_job.h. */
#include "traces/sacct_columns.h"
#include "traces/slurm_job.h"

#include "base/dec.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct import_reason repeated_header = { "repeated-header",
                                                      "the header again, as joined exports have it",
                                                      true };
static const struct import_reason shifted = {
    "shifted", "the delimiter inside a free-text column: its parts were put together", true
};
static const struct import_reason joined = {
    "joined-lines", "a line break inside a free-text column: its lines were put together", true
};

static const struct opt opts[] = {
    { "columns", 0, OPT_TEXT, offsetof(struct slurm_options, columns), "LIST",
      "sacct: the columns of a file without a header (jobid,submit,...; \"-\": one that does not matter)",
      NULL },
    { "zone", 0, OPT_TEXT, offsetof(struct slurm_options, zone), "ZONE",
      "zone of clocks that name none (UTC, +08:00, America/Los_Angeles; default: the format's, or UTC)",
      NULL },
    SLURM_OPTS("sacct"),
    { 0 },
};

struct sacct {
    struct csv *csv;
    struct slurm_file *slurm;
    struct csv_row row;
    bool pending;  /* row is to be returned before the next is read */
    bool at_first; /* no data row was seen */
    char delimiter;
    VEC(int) kind;   /* of each column: COL_ */
    int at[COLUMNS]; /* -1: not there */
    size_t width;
    size_t text_from, text_to; /* free text: columns [from, to); from == to: none to repair with */
    struct strbuf text;        /* a joined row */
    VEC(struct csv_field) field;
    VEC(struct csv_field) names; /* of the columns; lent while the header is read */
};

static void sacct_close(void *state)
{
    struct sacct *s = state;
    if (!s) return;
    csv_close(s->csv);
    slurm_file_close(s->slurm);
    strbuf_fini(&s->text);
    vec_fini(&s->kind);
    vec_fini(&s->field);
    vec_fini(&s->names);
    free(s);
}

/* ---- header ----------------------------------------------------------------------------------- */

static int complain(const struct sacct *s, struct err *e, const char *what, const char *hint);

/* One of sacct's? Two spellings of one kind (NCPUS, AllocCPUS) may stand side by side. */
static int add_column(struct sacct *s, const char *name, size_t len, struct err *e)
{
    const int col = sacct_column(name, len);
    char what[120];
    len = sacct_name_len(name, len);
    for (size_t i = 0; col < COLUMNS && i < s->names.n; i++) {
        const struct csv_field *f = &s->names.v[i];
        if (f->len != len || strncasecmp(f->s, name, len) != 0) continue;
        snprintf(what, sizeof what, "column \"%.*s\" is there twice", (int)(len < 60 ? len : 60),
                 name);
        return complain(s, e, what, "which of the two counts cannot be known: export it once");
    }
    vec_push(&s->names, ((struct csv_field){ .s = name, .len = len }));
    if (col < COLUMNS && s->at[col] < 0) s->at[col] = (int)s->kind.n;
    vec_push(&s->kind, col);
    return 0;
}

/* Free-text columns can take up what is too much when nothing else stands between them. */
static void find_text_columns(struct sacct *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->kind.n; i++) {
        if (s->kind.v[i] != COL_text) continue;
        if (n++ == 0) s->text_from = i;
        s->text_to = i + 1;
    }
    if (s->text_to - s->text_from != n) s->text_from = s->text_to = 0;
}

static bool is_header(const struct csv_row *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const int c = sacct_column(r->f[i].s, r->f[i].len);
        if (c == COL_id || c == COL_id_raw) return true;
    }
    return false;
}

static bool name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '%';
}

/* What stands behind the first name of the header; '|' when the line is no header. */
static char find_delimiter(const char *head, size_t len)
{
    size_t i = 0;
    while (len > 0 && *head == ' ') head++, len--;
    while (i < len && name_char(head[i])) i++;
    const bool named = i < len && sacct_column(head, i) != COL_other;
    return named && head[i] != '\r' && head[i] != '\n' ? head[i] : '|';
}

static int complain(const struct sacct *s, struct err *e, const char *what, const char *hint)
{
    const struct loc at = { .file = csv_file(s->csv) };
    int rc = s->row.text ? csv_error(s->csv, &s->row, NULL, e, "%s (sacct)", what)
                         : err_set(e, ERR_INPUT, &at, "%s (sacct)", what);
    err_hint(e, "%s", hint);
    return rc;
}

static int check_columns(const struct sacct *s, const struct slurm_options *o, struct err *e)
{
    const char *export = "export JobID,Submit,Start,End,Elapsed,State,AllocTRES,ReqTRES,NNodes,"
                         "Timelimit,User,Account,JobName with --parsable2";
    const int *at = s->at;
    if (at[COL_id] < 0 && at[COL_id_raw] < 0)
        return complain(s, e, "expected a column JobID or JobIDRaw, found none", export);
    if (at[COL_submit] < 0)
        return complain(s, e, "expected a column Submit: without it no job can arrive", export);
    if (at[COL_elapsed] < 0 && at[COL_elapsed_raw] < 0 && (at[COL_start] < 0 || at[COL_end] < 0))
        return complain(s, e, "expected Elapsed, or Start and End: without them no job lasts",
                        export);
    if (at[COL_alloc_tres] < 0 && at[COL_req_tres] < 0 && at[COL_alloc_gres] < 0 &&
        at[COL_req_gres] < 0 && o->cpu_jobs != CPU_JOBS_keep && !o->gpus_per_node &&
        !o->cpus_per_gpu)
        return complain(
            s, e, "expected AllocTRES, ReqTRES, AllocGRES or ReqGRES: nothing names GPUs",
            "export AllocTRES; or --gpus-per-node N, --cpus-per-gpu N, --cpu-jobs keep");
    return 0;
}

static int read_header(struct sacct *s, const struct slurm_options *o, struct err *e)
{
    int rc = csv_next(s->csv, &s->row, e);
    const struct loc at = { .file = csv_file(s->csv) };
    if (rc < 0) return rc;
    if (rc == 0)
        return err_set(e, ERR_INPUT, &at, "expected the output of sacct, found an empty file");
    for (int i = 0; i < COLUMNS; i++) s->at[i] = -1;
    if (is_header(&s->row)) {
        for (size_t i = 0; rc >= 0 && i < s->row.n; i++)
            rc = add_column(s, s->row.f[i].s, s->row.f[i].len, e);
    } else if (o->columns) {
        for (const char *p = o->columns; rc >= 0 && *p;) {
            size_t n = strcspn(p, ",|");
            rc = sacct_known_name(p, n, e);
            if (rc == 0) rc = add_column(s, p, n, e);
            p += n + (p[n] != '\0');
        }
        s->pending = true;
    } else {
        rc = csv_error(s->csv, &s->row, NULL, e,
                       "expected the header of sacct --parsable2, found none");
        err_hint(e,
                 "--columns jobid,submit,... says what the columns of a file without header are");
        return rc;
    }
    if (rc < 0) return rc;
    s->width = s->kind.n;
    s->at_first = true;
    find_text_columns(s);
    return check_columns(s, o, e);
}

static int open_csv(struct sacct *s, const char *path, struct err *e)
{
    const struct csv_format probe = { .delimiter = '|' };
    const char *head;
    size_t len;
    s->delimiter = '|';
    int rc = csv_open(&s->csv, path, &probe, e);
    if (rc < 0) return rc;
    rc = csv_peek(s->csv, &head, &len, e);
    if (rc < 0) return rc;
    if (head && len >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) head += 3, len -= 3;
    s->delimiter = head ? find_delimiter(head, len) : '|';
    if (s->delimiter == ' ')
        return complain(s, e, "this is the table for people, whose columns are cut",
                        "export with --parsable2");
    if (s->delimiter == '|') return 0;
    const struct csv_format fmt = { .delimiter = s->delimiter, .quotes = s->delimiter == ',' };
    csv_close(s->csv);
    s->csv = NULL;
    return csv_open(&s->csv, path, &fmt, e);
}

static int sacct_open(void **state, const char *path, const void *options, struct symtab *names,
                      struct import_info *info, struct err *e)
{
    struct sacct *s = xcalloc(1, sizeof *s);
    int rc = slurm_file_open(&s->slurm, options, names, info, e);
    if (rc == 0) rc = open_csv(s, path, e);
    if (rc == 0) rc = read_header(s, options, e);
    if (rc < 0) {
        sacct_close(s);
        return rc;
    }
    info->from_zero = true;
    snprintf(info->origin, sizeof info->origin, "zone=%.100s",
             ((const struct slurm_options *)options)->zone
                 ? ((const struct slurm_options *)options)->zone
                 : "UTC");
    *state = s;
    return 0;
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* A delimiter at the end of the rows but not of the header (or of the list of columns). */
static void check_trailing(struct sacct *s, const struct csv_row *r)
{
    s->at_first = false;
    if (r->n != s->width + 1 || r->f[r->n - 1].len > 0) return;
    vec_push(&s->kind, COL_other);
    s->width++;
}

static size_t split(struct sacct *s)
{
    s->field.n = 0;
    for (size_t at = 0; at <= s->text.len;) {
        const char *d = memchr(s->text.s + at, s->delimiter, s->text.len - at);
        const size_t end = d ? (size_t)(d - s->text.s) : s->text.len;
        vec_push(&s->field, ((struct csv_field){ .s = s->text.s + at, .len = end - at }));
        at = end + 1;
    }
    return s->field.n;
}

/* "123", "123_4", "123_[5-9%2]", "123+1", "123.batch" */
static bool is_job_id(const struct csv_field *f)
{
    size_t i = 0;
    while (i < f->len && f->s[i] >= '0' && f->s[i] <= '9') i++;
    return i > 0 && (i == f->len || strchr("_+.", f->s[i]));
}

/* Does the line start a row of its own? The ids stand in front of the free text, or nothing
 * tells. */
static bool starts_row(const struct sacct *s, const struct csv_row *r)
{
    if (r->n >= s->width || is_header(r)) return true;
    const int id = s->at[COL_id] >= 0 ? s->at[COL_id] : s->at[COL_id_raw];
    return (size_t)id < s->text_from && r->n > 1 && (size_t)id < r->n && is_job_id(&r->f[id]);
}

/* Free text in the last column: any row may go on in the next line. With commas quotes say
 * where. */
static bool open_end(const struct sacct *s)
{
    return s->delimiter != ',' && s->text_from < s->text_to && s->text_to == s->width;
}

/* The row goes on in the next lines when it breaks off inside the free text. */
static int join_lines(struct sacct *s, struct import_row *row, struct err *e)
{
    enum { MOST_LINES = 200 };
    size_t n = s->row.n;
    strbuf_clear(&s->text);
    strbuf_add(&s->text, s->row.text, s->row.len);
    split(s);
    for (int lines = 1; lines < MOST_LINES; lines++) {
        if (n <= s->text_from || s->text_from == s->text_to) break;
        if (n >= s->width && !open_end(s)) break;
        int rc = csv_next(s->csv, &s->row, e);
        if (rc < 0) return rc;
        if (rc == 0) break;
        if (starts_row(s, &s->row)) {
            s->pending = true;
            break;
        }
        strbuf_addc(&s->text, '\n');
        strbuf_add(&s->text, s->row.text, s->row.len);
        n = split(s);
        if (n >= s->width) import_repair(row, &joined);
    }
    row->raw = s->text.s;
    row->raw_len = s->text.len;
    return 1;
}

/* Fields of the row in the places of the header, in s->field; false: quarantined. */
static bool place_fields(struct sacct *s, const struct csv_field *f, size_t n,
                         struct import_row *row)
{
    if (n < s->width || (n > s->width && s->text_from == s->text_to)) {
        import_quarantine(row, &import_field_count, "%zu fields, the header has %zu", n, s->width);
        return false;
    }
    const size_t more = n - s->width;
    if (more) import_repair(row, &shifted);
    /* in place when f is s->field.v: entries only move to the left */
    vec_reserve(&s->field, s->width);
    for (size_t i = 0; i < s->width; i++) s->field.v[i] = f[i < s->text_to ? i : i + more];
    s->field.n = s->width;
    return true;
}

static struct csv_field cell(const struct sacct *s, const struct csv_field *f, int col)
{
    return s->at[col] >= 0 ? f[s->at[col]] : (struct csv_field){ .s = "" };
}

static void duration_cell(const struct csv_field *f, const struct csv_field *raw,
                          struct slurm_record *r, struct import_row *row)
{
    int64_t ns;
    r->elapsed = JOB_NO_TIME;
    if (raw->len > 0 && dec_fixed(raw->s, raw->len, 9, &ns) == DEC_OK && ns >= 0)
        r->elapsed = ns;
    else if (!slurm_missing(f->s, f->len) && !slurm_duration(f->s, f->len, &r->elapsed))
        import_quarantine(row, &import_bad_value,
                          "Elapsed: no duration such as 1-02:03:04: \"%.*s\"",
                          (int)(f->len < 40 ? f->len : 40), f->s);
}

static int64_t count_cell(const struct csv_field *f)
{
    int64_t v;
    return dec_fixed_exact(f->s, f->len, 0, &v) == DEC_OK && v >= 0 ? v : -1;
}

static void limit_cell(const struct sacct *s, const struct csv_field *f, struct slurm_record *r,
                       struct import_row *row)
{
    struct csv_field v = cell(s, f, COL_limit);
    if (v.len == 0) v = cell(s, f, COL_limit_raw);
    if (slurm_time_limit(v.s, v.len, &r->limit_kind, &r->limit)) return;
    r->limit_kind = LIMIT_UNKNOWN;
    import_quarantine(row, &import_bad_value, "Timelimit: \"%.*s\"", (int)(v.len < 40 ? v.len : 40),
                      v.s);
}

static void memory_cell(const struct csv_field *f, struct slurm_record *r)
{
    uint64_t bytes;
    char per;
    r->mem_bytes = -1;
    if (f->len == 0 || !slurm_memory(f->s, f->len, &bytes, &per) || bytes == 0) return;
    const int64_t times = per == 'c' ? r->cpus : per == 'n' ? r->nodes : 1;
    if (times < 0 || __builtin_mul_overflow((int64_t)bytes, times, &r->mem_bytes))
        r->mem_bytes = -1;
}

static void read_record(struct sacct *s, const struct csv_field *f, struct import_row *row)
{
    struct csv_field id = cell(s, f, COL_id);
    if (id.len == 0) id = cell(s, f, COL_id_raw);
    const struct csv_field state = cell(s, f, COL_state), user = cell(s, f, COL_user),
                           account = cell(s, f, COL_account), alloc = cell(s, f, COL_alloc_tres),
                           req = cell(s, f, COL_req_tres), elapsed = cell(s, f, COL_elapsed),
                           raw = cell(s, f, COL_elapsed_raw), priority = cell(s, f, COL_priority),
                           nodes = cell(s, f, COL_nodes), mem = cell(s, f, COL_mem);
    struct csv_field cpus = cell(s, f, COL_cpus), gres = cell(s, f, COL_alloc_gres), t;
    const bool has_gres = s->at[COL_alloc_gres] >= 0 || s->at[COL_req_gres] >= 0;
    if (slurm_is_step(id.s, id.len)) {
        import_quarantine(row, &slurm_step, "%s", "");
        return;
    }
    if (sacct_column(id.s, id.len) == COL_id || sacct_column(id.s, id.len) == COL_id_raw) {
        import_quarantine(row, &repeated_header, "%s", "");
        return;
    }
    if (count_cell(&cpus) <= 0) cpus = cell(s, f, COL_req_cpus);
    if (slurm_missing(gres.s, gres.len)) gres = cell(s, f, COL_req_gres);
    struct slurm_record r = {
        .id = id.s,
        .id_len = id.len,
        .user = user.s,
        .user_len = user.len,
        .account = account.s,
        .account_len = account.len,
        .state = state.s,
        .state_len = state.len,
        .alloc_tres = s->at[COL_alloc_tres] >= 0 ? alloc.s : NULL,
        .alloc_tres_len = alloc.len,
        .req_tres = s->at[COL_req_tres] >= 0 ? req.s : NULL,
        .req_tres_len = req.len,
        .gres = has_gres ? gres.s : NULL,
        .gres_len = gres.len,
        .nodes = count_cell(&nodes),
        .cpus = count_cell(&cpus),
        .priority = count_cell(&priority),
    };
    t = cell(s, f, COL_submit);
    slurm_clock(s->slurm, t.s, t.len, "Submit", &r.submit, row);
    t = cell(s, f, COL_start);
    slurm_clock(s->slurm, t.s, t.len, "Start", &r.start, row);
    t = cell(s, f, COL_end);
    slurm_clock(s->slurm, t.s, t.len, "End", &r.end, row);
    duration_cell(&elapsed, &raw, &r, row);
    limit_cell(s, f, &r, row);
    memory_cell(&mem, &r);
    slurm_convert(s->slurm, &r, row);
}

static int sacct_next(void *state, struct import_row *row, struct err *e)
{
    struct sacct *s = state;
    if (!s->pending) {
        int rc = csv_next(s->csv, &s->row, e);
        if (rc == 0) return slurm_file_end(s->slurm, csv_file(s->csv), e);
        if (rc < 0) return rc;
    }
    s->pending = false;
    if (s->at_first) check_trailing(s, &s->row);
    row->line = s->row.line;
    row->raw = s->row.text;
    row->raw_len = s->row.len;
    const struct csv_field *f = s->row.f;
    size_t n = s->row.n;
    if (n < s->width || open_end(s)) {
        int rc = join_lines(s, row, e);
        if (rc < 0) return rc;
        f = s->field.v;
        n = s->field.n;
    }
    if (n != s->width || f == s->field.v) {
        if (!place_fields(s, f, n, row)) return 1;
        f = s->field.v;
    }
    read_record(s, f, row);
    return 1;
}

static void sacct_settle(void *state, struct import_row *row)
{
    slurm_settle(((struct sacct *)state)->slurm, row);
}

static void sacct_facts(const void *state, json_t *into)
{
    slurm_file_facts(((const struct sacct *)state)->slurm, into);
}

/* A header of sacct; or a line of many fields that starts like a job id. */
static int sacct_sniff(const char *head, size_t len)
{
    const char *nl = memchr(head, '\n', len);
    size_t line = nl ? (size_t)(nl - head) : len, known = 0, bars = 0;
    const char d = find_delimiter(head, len);
    bool id = false;
    if (line > 0 && head[line - 1] == '\r') line--;
    for (size_t at = 0; at <= line;) {
        const char *p = memchr(head + at, d, line - at);
        const size_t end = p ? (size_t)(p - head) : line;
        const int c = sacct_column(head + at, end - at);
        id |= c == COL_id || c == COL_id_raw;
        known += c < COL_other;
        bars += p != NULL;
        at = end + 1;
    }
    if (id && known >= 2) return 90;
    return d == '|' && bars >= 6 && head[0] >= '0' && head[0] <= '9' ? 40 : 0;
}

const struct trace_format fmt_sacct = {
    .name = "sacct",
    .help = "Slurm accounting: sacct --parsable2 or --parsable, any columns",
    .opts = opts,
    .options_size = sizeof(struct slurm_options),
    .sniff = sacct_sniff,
    .open = sacct_open,
    .next = sacct_next,
    .close = sacct_close,
    .settle = sacct_settle,
    .facts = sacct_facts,
};
