/* model/requests.h - the native request trace (design section 4): reader and writer, so the two
 * ends cannot drift. CSV with a header row, columns in any order, optionally compressed; an
 * optional first line `# gpusim-trace/1 ...`. The rules are those of the job trace (model/trace.h).
 *
 * A file is of one of two kinds, told by its header: language models (arrival_s, input_tokens,
 * output_tokens) or anything else (arrival_s, size); `service` and `session` are optional, and for
 * language models `hash_ids`: numbers of the blocks that the prompt begins with, "|" between them
 * (model/blocks.h), of 512 tokens each or what the first line says as `block_tokens=N`. `size` is
 * work in the unit of the service's model (seconds of run time for imported function traces), a
 * decimal with at most nine digits behind the point.
 *
 * Numbers are exact: arrival_s becomes integer ns (digits beyond the ninth round half away from
 * zero), size integer billionths (finer is an error), tokens are whole. 0 tokens is a value.
 *
 * Streaming: memory does not grow with the file, except for distinct services, sessions and blocks,
 * which go to the caller's symbol table. Errors: ERR_INPUT with file, line, column, what was
 * expected and found; never a dropped row. Threads: one reader, one thread; readers with their own
 * symtab are independent. */
#ifndef GPUSIM_MODEL_REQUESTS_H
#define GPUSIM_MODEL_REQUESTS_H

#include "base/csv.h"
#include "base/simtime.h"
#include "model/blocks.h"

#include <stdint.h>

#define REQUEST_NONE       INT64_MIN /* this kind of trace has no such value */
#define REQUEST_MAX_TOKENS INT64_C(2147483647)

struct request_row {
    simtime arrival;
    int64_t input_tokens, output_tokens; /* both or neither REQUEST_NONE */
    int64_t size_nano;                   /* size x 10^9; REQUEST_NONE when there are tokens */
    sym service, session;                /* 0: not given */
    sym blocks;                          /* of the prompt, a chain (model/blocks.h); 0: not given */
};

struct requests_reader;

/* Opens and reads the header. Refuses job traces (job_id ...) with a clear word, unknown or
 * duplicate columns with the nearest valid name, an empty or header-less file, and headers of both
 * kinds. */
int requests_open(struct requests_reader **out, const char *path, struct symtab *names,
                  struct err *e);
void requests_close(struct requests_reader *t); /* accepts NULL */

/* 1: *row is filled; 0: end; negative: error. Rows must be sorted by arrival_s (ERR_INPUT names the
 * row and `gpusim import requests`), unless requests_allow_unsorted() was called. A file without a
 * data row is an error at the first call. After a bad row (negative, but !requests_failed()) the
 * next call goes on with the following row. */
int requests_next(struct requests_reader *t, struct request_row *row, struct err *e);
void requests_allow_unsorted(struct requests_reader *t);
bool requests_failed(const struct requests_reader *t); /* the file cannot be read further */
int requests_line(const struct requests_reader *t);    /* of the row last returned or refused */
/* Text of the row last returned or refused, as it stands in the file; lent until the next call. */
const char *requests_text(const struct requests_reader *t, size_t *len);
unsigned requests_columns(const struct requests_reader *t);     /* REQUESTS_COL_ bits */
int64_t requests_block_tokens(const struct requests_reader *t); /* of a block of "hash_ids" */
const char *
requests_comment(const struct requests_reader *t); /* after "# gpusim-trace/1", or NULL */

/* How sure the header (the file's first bytes) is a native request trace: 0 or 100. */
int requests_sniff(const char *head, size_t len);

#define REQUESTS_COLUMN_MAP(X)                                                                     \
    X(arrival_s) X(input_tokens) X(output_tokens) X(size) X(service) X(session) X(hash_ids)
enum requests_column {
#define X(name) REQUESTS_##name,
    REQUESTS_COLUMN_MAP(X)
#undef X
        REQUESTS_COLUMNS
};
extern const char *const requests_column_names[REQUESTS_COLUMNS + 1];
#define REQUESTS_COL(name) (1u << REQUESTS_##name)
#define REQUESTS_LLM                                                                               \
    (REQUESTS_COL(arrival_s) | REQUESTS_COL(input_tokens) | REQUESTS_COL(output_tokens))
#define REQUESTS_SIZED (REQUESTS_COL(arrival_s) | REQUESTS_COL(size))

/* Arrival 0, everything else absent. */
void request_row_init(struct request_row *row);
/* NULL when the reader would take the row, else what is wrong with it. */
const char *request_row_problem(const struct request_row *row);

/* Writer. `columns` is REQUESTS_LLM or REQUESTS_SIZED, with service, session and hash_ids if
 * wanted. */
void requests_write_header(FILE *to, unsigned columns,
                           const char *comment /* without "# "; may be NULL */);
/* Requires request_row_problem(row) == NULL and a row of the kind that `columns` says. */
void requests_write_row(FILE *to, unsigned columns, const struct request_row *row,
                        const struct symtab *names);

#endif
