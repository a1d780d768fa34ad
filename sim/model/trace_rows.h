/* model/trace_rows.h - a whole native trace in memory, parsed once and read by many runs.
 *
 * A cursor gives the rows of the file in order, exactly as trace_next() would, and fills its
 * caller's symbol table in the same order, so a run that reads from memory is the run that reads
 * the file, bit for bit.
 *
 * Ownership: trace_rows_free(). Threads: read-only once loaded, shared freely; a cursor belongs to
 * one thread. Memory: about 150 bytes a row and its id. */
#ifndef GPUSIM_MODEL_TRACE_ROWS_H
#define GPUSIM_MODEL_TRACE_ROWS_H

#include "base/err.h"
#include "model/job.h"

#include <stdbool.h>

struct trace_rows;

/* The trace, or NULL: it cannot be read, has a bad row, or needs more than `max_bytes`. Whoever
 * needs the reason reads the file. */
struct trace_rows *trace_rows_load(const char *path, size_t max_bytes);
void trace_rows_free(struct trace_rows *t); /* accepts NULL */
size_t trace_rows_count(const struct trace_rows *t);
size_t trace_rows_bytes(const struct trace_rows *t);
unsigned trace_rows_columns(const struct trace_rows *t); /* as trace_columns() */

/* Who has traces in memory: rows() gives that of `path`, to be read until the run ends, or NULL:
 * read the file. */
struct trace_lender {
    const struct trace_rows *(*rows)(void *ctx, const char *path);
    void *ctx;
};

struct trace_cursor;
struct trace_cursor *trace_cursor_open(const struct trace_rows *t, struct symtab *names);
void trace_cursor_close(struct trace_cursor *c); /* accepts NULL */
/* false: the end. row->id lives as long as the trace. O(1). */
bool trace_cursor_next(struct trace_cursor *c, struct job_row *row);
/* Error at the row last returned, as trace_row_error(): reads the file again up to there. */
int trace_cursor_error(const struct trace_cursor *c, const char *column, struct err *e,
                       const char *why);

#endif
