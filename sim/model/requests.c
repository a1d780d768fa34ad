#include "model/requests.h"

#include "base/dec.h"
#include "base/mem.h"
#include "base/vec.h"
#include "model/native.h"

#include <stdlib.h>
#include <string.h>

const char *const requests_column_names[REQUESTS_COLUMNS + 1] = {
#define X(name) #name,
    REQUESTS_COLUMN_MAP(X)
#undef X
        NULL,
};

#define MAX_NANO ((int64_t)(SIM_MAX_S * 1e9)) /* 9.2e18 is exact in double */

enum { MAX_BLOCK_TOKENS = 1000000 };

struct requests_reader {
    struct native_file f;
    int64_t block_tokens;
};

void request_row_init(struct request_row *row)
{
    *row = (struct request_row){ .input_tokens = REQUEST_NONE,
                                 .output_tokens = REQUEST_NONE,
                                 .size_nano = REQUEST_NONE };
}

/* ---- header -------------------------------------------------------------------------------- */

static const struct native_stranger strangers[] = {
    { "TIMESTAMP", "azure-llm", "an Azure LLM inference trace" },
    { "Request tokens", "burstgpt", "a BurstGPT trace" },
    { "end_timestamp", "azure-functions", "an Azure Functions trace" },
    { "HashFunction", "azure-functions", "an Azure Functions trace" },
    { 0 },
};

static unsigned required(unsigned columns)
{
    return columns & REQUESTS_COL(size) ? REQUESTS_SIZED : REQUESTS_LLM;
}

static int refuse_jobs(const struct csv *csv, const struct csv_row *header, struct err *e)
{
    if (native_has(header, "job_id"))
        return csv_error(csv, header, NULL, e,
                         "expected a request trace, found a job trace (job_id)");
    if (native_has(header, "size") &&
        (native_has(header, "input_tokens") || native_has(header, "output_tokens")))
        return csv_error(csv, header, NULL, e,
                         "expected either tokens or \"size\" in the header, found both");
    return 0;
}

static const struct native_kind requests = {
    .trace = "native request trace",
    .file = "a request trace",
    .one = "request",
    .out = "requests.csv",
    .format = "requests",
    .first_columns = "arrival_s,input_tokens,output_tokens",
    .needs = "arrival_s and either input_tokens, output_tokens or size",
    .columns = requests_column_names,
    .time = REQUESTS_arrival_s,
    .strangers = strangers,
    .required = required,
    .refuse = refuse_jobs,
};

/* "block_tokens=N" among the words of the first line. */
static int read_block_tokens(struct requests_reader *t, struct err *e)
{
    static const char key[] = "block_tokens=";
    const char *at = t->f.comment;
    uint64_t n = BLOCKS_TOKENS;
    while (at && (at = strstr(at, key)) && at != t->f.comment && at[-1] != ' ') at++;
    if (at) {
        at += strlen(key);
        const size_t len = strcspn(at, " ");
        if (dec_u64(at, len, &n) != DEC_OK || n < 1 || n > MAX_BLOCK_TOKENS) {
            const struct loc where = { .file = csv_file(t->f.csv), .line = 1 };
            return err_set(e, ERR_INPUT, &where,
                           "block_tokens: expected a whole number from 1 to %d, found \"%.*s\"",
                           MAX_BLOCK_TOKENS, (int)(len < 40 ? len : 40), at);
        }
    }
    t->block_tokens = (int64_t)n;
    return 0;
}

int requests_open(struct requests_reader **out, const char *path, struct symtab *names,
                  struct err *e)
{
    struct requests_reader *t = xcalloc(1, sizeof *t);
    *out = NULL;
    int rc = native_open(&t->f, &requests, path, names, e);
    if (rc == 0) rc = read_block_tokens(t, e);
    if (rc < 0) {
        requests_close(t);
        return rc;
    }
    *out = t;
    return 0;
}

void requests_close(struct requests_reader *t)
{
    if (!t) return;
    native_close(&t->f);
    free(t);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static int read_nano(const struct requests_reader *t, int col, const struct csv_field *f,
                     const char *expected, int64_t *out, struct err *e)
{
    enum dec_status st = col == REQUESTS_size ? dec_fixed_exact(f->s, f->len, 9, out)
                                              : dec_fixed(f->s, f->len, 9, out);
    if (st == DEC_INEXACT)
        return native_bad_cell(&t->f, col, f, e, expected, "finer than a billionth");
    if (st == DEC_OK && *out < 0) return native_bad_cell(&t->f, col, f, e, expected, "negative");
    if (st == DEC_OK && *out > MAX_NANO) st = DEC_RANGE;
    if (st == DEC_RANGE) return native_bad_cell(&t->f, col, f, e, "at most 9.2e9", "out of range");
    return st == DEC_OK ? 0 : native_bad_cell(&t->f, col, f, e, expected, dec_why(st));
}

static int read_tokens(const struct requests_reader *t, int col, const struct csv_field *f,
                       int64_t *out, struct err *e)
{
    static const char expected[] = "a whole number of tokens >= 0";
    enum dec_status st = dec_fixed_exact(f->s, f->len, 0, out);
    if (st == DEC_OK && *out < 0) return native_bad_cell(&t->f, col, f, e, expected, "negative");
    if (st == DEC_OK && *out > REQUEST_MAX_TOKENS) st = DEC_RANGE;
    return st == DEC_OK ? 0 : native_bad_cell(&t->f, col, f, e, expected, dec_why(st));
}

/* Whole numbers with "|" between them. */
static int read_blocks(const struct requests_reader *t, int col, const struct csv_field *f,
                       sym *out, struct err *e)
{
    sym chain = 0;
    for (size_t at = 0; at <= f->len;) {
        const char *bar = memchr(f->s + at, '|', f->len - at);
        const size_t len = bar ? (size_t)(bar - f->s) - at : f->len - at;
        int64_t id;
        const enum dec_status st = dec_fixed_exact(f->s + at, len, 0, &id);
        if (st != DEC_OK)
            return native_bad_cell(&t->f, col, f, e, "whole numbers with | between them",
                                   dec_why(st));
        chain = blocks_add(t->f.names, chain, id);
        at += len + 1;
    }
    *out = chain;
    return 0;
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
    case REQUESTS_service: row->service = native_name(&t->f, col, f); break;
    case REQUESTS_session: row->session = native_name(&t->f, col, f); break;
    case REQUESTS_hash_ids: return read_blocks(t, col, f, &row->blocks, e);
    case REQUESTS_COLUMNS: break;
    }
    return 0;
}

int requests_next(struct requests_reader *t, struct request_row *row, struct err *e)
{
    int rc = native_next(&t->f, e);
    if (rc <= 0) return rc;
    request_row_init(row);
    for (size_t i = 0; i < t->f.n; i++) {
        const struct csv_field *f = &t->f.row.f[i];
        const int col = t->f.column_of[i];
        rc = f->len ? read_cell(t, col, f, row, e) : native_empty(&t->f, f, col, e);
        if (rc < 0) return rc;
    }
    rc = native_sorted(&t->f, row->arrival, e);
    return rc < 0 ? rc : 1;
}

void requests_allow_unsorted(struct requests_reader *t)
{
    t->f.unsorted_ok = true;
}

bool requests_failed(const struct requests_reader *t)
{
    return csv_failed(t->f.csv) || t->f.empty;
}

int requests_line(const struct requests_reader *t)
{
    return t->f.row.line;
}

const char *requests_text(const struct requests_reader *t, size_t *len)
{
    *len = t->f.row.len;
    return t->f.row.text;
}

unsigned requests_columns(const struct requests_reader *t)
{
    return t->f.columns;
}

int64_t requests_block_tokens(const struct requests_reader *t)
{
    return t->block_tokens;
}

const char *requests_comment(const struct requests_reader *t)
{
    return t->f.comment;
}

int requests_sniff(const char *head, size_t len)
{
    const unsigned found = native_sniff(&requests, head, len);
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

void requests_write_header(FILE *to, unsigned columns, const char *comment)
{
    native_put_header(to, requests_column_names, columns, comment);
}

/* From the first block to the last: a chain is known by its end. */
static void put_blocks(FILE *to, const struct symtab *names, sym chain)
{
    VEC(int64_t) ids = { 0 };
    for (int64_t id; chain;) {
        chain = blocks_parent(names, chain, &id);
        vec_push(&ids, id);
    }
    for (size_t i = ids.n; i-- > 0;) {
        native_put_dec(to, ids.v[i], 0);
        if (i) putc_unlocked('|', to);
    }
    vec_fini(&ids);
}

void requests_write_row(FILE *to, unsigned columns, const struct request_row *row,
                        const struct symtab *names)
{
    const char *problem = request_row_problem(row);
    if (problem) BUG("requests_write_row: %s", problem);
    BUG_ON(!(columns & REQUESTS_COL(size)) != (row->size_nano == REQUEST_NONE));
    native_put_dec(to, row->arrival, 9);
    if (columns & REQUESTS_COL(size)) {
        putc_unlocked(',', to);
        native_put_dec(to, row->size_nano, 9);
    } else {
        putc_unlocked(',', to);
        native_put_dec(to, row->input_tokens, 0);
        putc_unlocked(',', to);
        native_put_dec(to, row->output_tokens, 0);
    }
    if (columns & REQUESTS_COL(service)) {
        putc_unlocked(',', to);
        native_put_name(to, names, row->service);
    }
    if (columns & REQUESTS_COL(session)) {
        putc_unlocked(',', to);
        native_put_name(to, names, row->session);
    }
    if (columns & REQUESTS_COL(hash_ids)) {
        putc_unlocked(',', to);
        if (row->blocks) put_blocks(to, names, row->blocks);
    }
    putc_unlocked('\n', to);
}
