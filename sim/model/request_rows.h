/* model/request_rows.h - a whole request trace in memory, parsed once and read by many runs: the
 * rows of the file in order with the symbol table that reading it fills.
 *
 * Ownership: request_rows_free(). Threads: read-only once loaded, shared freely. Memory: 48
 * bytes a row, doubled while it grows, and the names of services, sessions and blocks. */
#ifndef GPUSIM_MODEL_REQUEST_ROWS_H
#define GPUSIM_MODEL_REQUEST_ROWS_H

#include "model/requests.h"

struct request_rows {
    char *path;
    struct request_row *row;
    size_t n, cap;
    unsigned columns;     /* REQUESTS_COL_ bits */
    int64_t block_tokens; /* as requests_block_tokens() */
    struct symtab *names;
};

/* The trace, or NULL: it cannot be read, has a bad row or none, or needs more than `max_bytes`.
 * Whoever needs the reason reads the file. */
struct request_rows *request_rows_load(const char *path, size_t max_bytes);
void request_rows_free(struct request_rows *t); /* accepts NULL */
size_t request_rows_bytes(const struct request_rows *t);
/* Line in the file of a row: reads it again up to there. 0: it is no longer the same. */
int request_rows_line(const struct request_rows *t, size_t row);

#endif
