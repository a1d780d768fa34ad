#include "model/requests.h"

#include "base/dec.h"
#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const requests_column_names[REQUESTS_COLUMNS + 1] = {
#define X(name) #name,
    REQUESTS_COLUMN_MAP(X)
#undef X
        NULL,
};

#define MAX_NANO ((int64_t)(SIM_MAX_S * 1e9)) /* 9.2e18 is exact in double */

struct requests_reader {
    struct csv *csv;
    struct symtab *names;
    unsigned char column_of[REQUESTS_COLUMNS]; /* enum requests_column of the i-th field */
    size_t n;
    unsigned columns;
    bool unsorted_ok, any, empty;
    char *comment;
    struct csv_row row;
    simtime last_arrival;
    int last_line;
    struct { /* the last name seen in a column: names repeat from row to row */
        const char *s;
        size_t len;
        sym id;
    } last[REQUESTS_COLUMNS];
};

void request_row_init(struct request_row *row)
{
    *row = (struct request_row){ .input_tokens = REQUEST_NONE,
                                 .output_tokens = REQUEST_NONE,
                                 .size_nano = REQUEST_NONE };
}

/* ---- header -------------------------------------------------------------------------------- */

/* A column that gives another kind of file away. */
static const struct {
    const char *column, *format, *what;
} strangers[] = {
    { "TIMESTAMP", "azure-llm", "an Azure LLM inference trace" },
    { "Request tokens", "burstgpt", "a BurstGPT trace" },
    { "end_timestamp", "azure-functions", "an Azure Functions trace" },
    { "HashFunction", "azure-functions", "an Azure Functions trace" },
};

static void keep_comment(void *ctx, const char *line, size_t len, int line_no)
{
    struct requests_reader *t = ctx;
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
    for (int i = 0; i < REQUESTS_COLUMNS; i++)
        if (csv_is(f, requests_column_names[i])) return i;
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

static int unknown_column(struct requests_reader *t, const struct csv_field *f, struct err *e)
{
    char word[80];
    shown(word, sizeof word, f);
    int rc = csv_error(t->csv, &t->row, f, e,
                       "expected a column of the native request trace, found \"%s\"", word);
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        if (!has(&t->row, strangers[i].column)) continue;
        err_hint(e, "this looks like %s: `gpusim import %s FILE -o requests.csv`",
                 strangers[i].what, strangers[i].format);
        return rc;
    }
    const char *near = str_nearest(word, requests_column_names, REQUESTS_COLUMNS);
    if (near)
        err_hint(e, "did you mean \"%s\"?", near);
    else
        err_hint(e, "the first row must name the columns: arrival_s, input_tokens, output_tokens");
    return rc;
}

static int check_columns(struct requests_reader *t, struct err *e)
{
    const unsigned tokens = REQUESTS_COL(input_tokens) | REQUESTS_COL(output_tokens);
    const bool sized = t->columns & REQUESTS_COL(size);
    const unsigned want = sized ? REQUESTS_SIZED : REQUESTS_LLM;
    if (sized && (t->columns & tokens))
        return csv_error(t->csv, &t->row, NULL, e,
                         "expected either tokens or \"size\" in the header, found both");
    if ((t->columns & want) == want) return 0;
    const char *missing[REQUESTS_COLUMNS];
    size_t n = 0;
    char list[100];
    for (int i = 0; i < REQUESTS_COLUMNS; i++)
        if ((want & ~t->columns) >> i & 1) missing[n++] = requests_column_names[i];
    int rc = csv_error(t->csv, &t->row, NULL, e, "the header lacks %s",
                       str_list(list, sizeof list, missing, n));
    err_hint(e, "required: arrival_s and either input_tokens, output_tokens or size; "
                "`gpusim import auto` converts other formats");
    return rc;
}

/* Files that are no table at all, told by their first byte. */
static int refuse_other_kinds(struct requests_reader *t, struct err *e)
{
    const char *s;
    size_t len, i = 0;
    int rc = csv_peek(t->csv, &s, &len, e);
    if (rc < 0) return rc;
    const struct loc at = { .file = csv_file(t->csv), .line = 1 };
    while (i < len && isspace((unsigned char)s[i])) i++;
    if (i == len)
        return err_set(e, ERR_INPUT, &at, "expected a request trace, found an empty file");
    if (s[i] != '{' && s[i] != '[' && s[i] != '<') return 0;
    rc = err_set(e, ERR_INPUT, &at,
                 "expected a CSV header such as \"arrival_s,input_tokens,output_tokens\", found %s",
                 s[i] == '<' ? "XML or HTML" : "JSON");
    err_hint(e, "`gpusim import auto FILE -o requests.csv` recognises other formats");
    return rc;
}

static int read_header(struct requests_reader *t, struct err *e)
{
    int rc = refuse_other_kinds(t, e);
    if (rc < 0) return rc;
    rc = csv_next(t->csv, &t->row, e);
    if (rc < 0) return rc;
    if (rc == 0) {
        const struct loc at = { .file = csv_file(t->csv), .line = 1 };
        return err_set(e, ERR_INPUT, &at, "expected a header row, found only comments");
    }
    if (has(&t->row, "job_id"))
        return csv_error(t->csv, &t->row, NULL, e,
                         "expected a request trace, found a job trace (job_id)");
    for (size_t i = 0; i < t->row.n; i++) {
        const struct csv_field *f = &t->row.f[i];
        int col = find_column(f);
        if (col < 0) return unknown_column(t, f, e);
        if (t->columns >> col & 1)
            return csv_error(t->csv, &t->row, f, e, "column \"%s\" is there twice",
                             requests_column_names[col]);
        t->columns |= 1u << col;
        t->column_of[i] = (unsigned char)col;
    }
    t->n = t->row.n;
    return check_columns(t, e);
}

static int open_reader(struct requests_reader **out, const char *path, bool hash,
                       struct symtab *names, struct err *e)
{
    struct requests_reader *t = xcalloc(1, sizeof *t);
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
        requests_close(t);
        return rc;
    }
    *out = t;
    return 0;
}

int requests_open(struct requests_reader **out, const char *path, struct symtab *names,
                  struct err *e)
{
    return open_reader(out, path, false, names, e);
}

int requests_open_hashed(struct requests_reader **out, const char *path, struct symtab *names,
                         struct err *e)
{
    return open_reader(out, path, true, names, e);
}

void requests_close(struct requests_reader *t)
{
    if (!t) return;
    csv_close(t->csv);
    free(t->comment);
    free(t);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static int bad_cell(const struct requests_reader *t, int col, const struct csv_field *f,
                    struct err *e, const char *expected, const char *why)
{
    char word[80];
    return csv_error(t->csv, &t->row, f, e, "%s: expected %s, found \"%s\" (%s)",
                     requests_column_names[col], expected, shown(word, sizeof word, f), why);
}

static int read_nano(const struct requests_reader *t, int col, const struct csv_field *f,
                     const char *expected, int64_t *out, struct err *e)
{
    enum dec_status st = col == REQUESTS_size ? dec_fixed_exact(f->s, f->len, 9, out)
                                              : dec_fixed(f->s, f->len, 9, out);
    if (st == DEC_INEXACT) return bad_cell(t, col, f, e, expected, "finer than a billionth");
    if (st == DEC_OK && *out < 0) return bad_cell(t, col, f, e, expected, "negative");
    if (st == DEC_OK && *out > MAX_NANO) st = DEC_RANGE;
    if (st == DEC_RANGE) return bad_cell(t, col, f, e, "at most 9.2e9", "out of range");
    return st == DEC_OK ? 0 : bad_cell(t, col, f, e, expected, dec_why(st));
}

static int read_tokens(const struct requests_reader *t, int col, const struct csv_field *f,
                       int64_t *out, struct err *e)
{
    static const char expected[] = "a whole number of tokens >= 0";
    enum dec_status st = dec_fixed_exact(f->s, f->len, 0, out);
    if (st == DEC_OK && *out < 0) return bad_cell(t, col, f, e, expected, "negative");
    if (st == DEC_OK && *out > REQUEST_MAX_TOKENS) st = DEC_RANGE;
    return st == DEC_OK ? 0 : bad_cell(t, col, f, e, expected, dec_why(st));
}

static sym read_name(struct requests_reader *t, int col, const struct csv_field *f)
{
    if (t->last[col].s && t->last[col].len == f->len && memcmp(t->last[col].s, f->s, f->len) == 0)
        return t->last[col].id;
    t->last[col].id = symtab_add(t->names, f->s, f->len);
    t->last[col].s = symtab_name(t->names, t->last[col].id);
    t->last[col].len = f->len;
    return t->last[col].id;
}

/* One non-empty cell. */
static int read_cell(struct requests_reader *t, int col, const struct csv_field *f,
                     struct request_row *row, struct err *e)
{
    switch ((enum requests_column)col) {
    case REQUESTS_arrival_s:
        return read_nano(t, col, f, "seconds >= 0 such as 12.5", &row->arrival, e);
    case REQUESTS_input_tokens: return read_tokens(t, col, f, &row->input_tokens, e);
    case REQUESTS_output_tokens: return read_tokens(t, col, f, &row->output_tokens, e);
    case REQUESTS_size: return read_nano(t, col, f, "a number >= 0", &row->size_nano, e);
    case REQUESTS_service: row->service = read_name(t, col, f); break;
    case REQUESTS_session: row->session = read_name(t, col, f); break;
    case REQUESTS_COLUMNS: break;
    }
    return 0;
}

static int wrong_width(const struct requests_reader *t, struct err *e)
{
    const struct csv_field *at = t->row.n > t->n ? &t->row.f[t->n] : NULL;
    int rc = csv_error(t->csv, &t->row, at, e, "expected %zu fields as in the header, found %zu",
                       t->n, t->row.n);
    err_hint(e, "a comma inside a field needs quotes around the field");
    return rc;
}

static int unsorted(const struct requests_reader *t, struct err *e)
{
    char prev[32];
    const struct csv_field *f = t->row.f;
    while (t->column_of[f - t->row.f] != REQUESTS_arrival_s) f++;
    dec_print(prev, sizeof prev, t->last_arrival, 9);
    int rc = csv_error(
        t->csv, &t->row, f, e,
        "arrival_s: expected at least %s (line %d), found %.*s: rows must be sorted by arrival_s",
        prev, t->last_line, (int)(f->len < 40 ? f->len : 40), f->s);
    err_hint(e, "`gpusim import requests FILE -o sorted.csv` sorts a trace");
    return rc;
}

int requests_next(struct requests_reader *t, struct request_row *row, struct err *e)
{
    int rc = csv_next(t->csv, &t->row, e);
    if (rc < 0) return rc;
    if (rc == 0) {
        if (t->any) return 0;
        const struct loc at = { .file = csv_file(t->csv), .line = t->row.line };
        t->empty = true;
        return err_set(e, ERR_INPUT, &at, "expected at least one request, found only a header");
    }
    t->any = true;
    if (t->row.n != t->n) return wrong_width(t, e);
    request_row_init(row);
    for (size_t i = 0; i < t->n; i++) {
        const struct csv_field *f = &t->row.f[i];
        const int col = t->column_of[i];
        if (f->len > 0)
            rc = read_cell(t, col, f, row, e);
        else if ((REQUESTS_LLM | REQUESTS_SIZED) >> col & 1)
            rc = csv_error(t->csv, &t->row, f, e, "%s: expected a value, found an empty cell",
                           requests_column_names[col]);
        else
            continue;
        if (rc < 0) return rc;
    }
    if (row->arrival < t->last_arrival && !t->unsorted_ok) return unsorted(t, e);
    t->last_arrival = row->arrival;
    t->last_line = t->row.line;
    return 1;
}

void requests_allow_unsorted(struct requests_reader *t)
{
    t->unsorted_ok = true;
}

bool requests_failed(const struct requests_reader *t)
{
    return csv_failed(t->csv) || t->empty;
}

int requests_line(const struct requests_reader *t)
{
    return t->row.line;
}

uint64_t requests_bytes(const struct requests_reader *t)
{
    return csv_bytes(t->csv);
}

const char *requests_text(const struct requests_reader *t, size_t *len)
{
    *len = t->row.len;
    return t->row.text;
}

unsigned requests_columns(const struct requests_reader *t)
{
    return t->columns;
}

const char *requests_comment(const struct requests_reader *t)
{
    return t->comment;
}

const struct instream *requests_stream(const struct requests_reader *t)
{
    return csv_stream(t->csv);
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

int requests_sniff(const char *head, size_t len)
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
    return (found & REQUESTS_LLM) == REQUESTS_LLM || (found & REQUESTS_SIZED) == REQUESTS_SIZED
               ? 100
               : 0;
}

/* ---- writer -------------------------------------------------------------------------------- */

static bool in_range(int64_t v, int64_t max)
{
    return v >= 0 && v <= max;
}

const char *request_row_problem(const struct request_row *row)
{
    const bool sized = row->size_nano != REQUEST_NONE;
    if (!in_range(row->arrival, MAX_NANO)) return "arrival_s is negative or beyond 9.2e9 s";
    if (sized && (row->input_tokens != REQUEST_NONE || row->output_tokens != REQUEST_NONE))
        return "the request has both tokens and a size";
    if (sized)
        return in_range(row->size_nano, MAX_NANO) ? NULL : "size is negative or beyond 9.2e9";
    if (!in_range(row->input_tokens, REQUEST_MAX_TOKENS))
        return "input_tokens is missing, negative or beyond 2147483647";
    if (!in_range(row->output_tokens, REQUEST_MAX_TOKENS))
        return "output_tokens is missing, negative or beyond 2147483647";
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

void requests_write_header(FILE *to, unsigned columns, const char *comment)
{
    bool first = true;
    if (comment) fprintf(to, "# %s\n", comment);
    for (int i = 0; i < REQUESTS_COLUMNS; i++) {
        if (!(columns >> i & 1)) continue;
        fprintf(to, "%s%s", first ? "" : ",", requests_column_names[i]);
        first = false;
    }
    putc('\n', to);
}

void requests_write_row(FILE *to, unsigned columns, const struct request_row *row,
                        const struct symtab *names)
{
    const char *problem = request_row_problem(row);
    if (problem) BUG("requests_write_row: %s", problem);
    BUG_ON(!(columns & REQUESTS_COL(size)) != (row->size_nano == REQUEST_NONE));
    put_dec(to, row->arrival, 9);
    if (columns & REQUESTS_COL(size)) {
        putc(',', to);
        put_dec(to, row->size_nano, 9);
    } else {
        putc(',', to);
        put_dec(to, row->input_tokens, 0);
        putc(',', to);
        put_dec(to, row->output_tokens, 0);
    }
    if (columns & REQUESTS_COL(service)) {
        putc(',', to);
        put_name(to, names, row->service);
    }
    if (columns & REQUESTS_COL(session)) {
        putc(',', to);
        put_name(to, names, row->session);
    }
    putc('\n', to);
}
