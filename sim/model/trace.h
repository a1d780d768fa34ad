/* model/trace.h - the native job trace (design section 4): reader and writer, so the two ends
 * cannot drift. CSV with a header row, columns in any order, optionally compressed; an optional
 * first line `# gpusim-trace/1 ...`.
 *
 * Numbers are exact: seconds become integer ns (digits beyond the ninth round half away from zero),
 * gpus integer thousandths (finer is an error), cpus integer thousandths (finer rounds).
 * Empty optional cells are absent. An id may occur twice: a stream cannot know.
 *
 * Streaming: memory does not grow with the file, except for distinct users, groups, profiles and
 * card names, which go to the caller's symbol table.
 * Errors: ERR_INPUT with file, line, column, what was expected and found; never a dropped row.
 * Threads: one reader, one thread; readers with their own symtab are independent.
 * Speed target: 2 million rows per second on one core. */
#ifndef GPUSIM_MODEL_TRACE_H
#define GPUSIM_MODEL_TRACE_H

#include "base/csv.h"
#include "model/job.h"

struct trace_reader;

/* Opens and reads the header. Refuses request traces (arrival_s ...) with a clear word, unknown or
 * duplicate columns with the nearest valid name, an empty or header-less file, and files that look
 * like something else (JSON, binary, another known trace format). */
int trace_open(struct trace_reader **out, const char *path, struct symtab *names, struct err *e);
void trace_close(struct trace_reader *t); /* accepts NULL */

/* 1: *row is filled (row->id lent until the next call); 0: end; negative: error.
 * Rows must be sorted by submit_s (ERR_INPUT names the row and `gpusim import native`), unless
 * trace_allow_unsorted() was called. A file without a data row is an error at the first call.
 * After a bad row (negative, but !trace_failed()) the next call goes on with the following row, so
 * a checker can list them all. */
int trace_next(struct trace_reader *t, struct job_row *row, struct err *e);
void trace_allow_unsorted(struct trace_reader *t);
bool trace_failed(const struct trace_reader *t); /* the file cannot be read further */
int trace_line(const struct trace_reader *t);    /* of the row last returned or refused */
/* Text of the row last returned or refused, as it stands in the file; lent until the next call. */
const char *trace_text(const struct trace_reader *t, size_t *len);
unsigned trace_columns(const struct trace_reader *t); /* TRACE_COL_ bits of the header */
const char *
trace_comment(const struct trace_reader *t); /* text after "# gpusim-trace/1", or NULL */
/* Error at the row last returned, in column `name` (NULL: the row). Returns ERR_INPUT. */
int trace_row_error(const struct trace_reader *t, const char *name, struct err *e, const char *fmt,
                    ...) __attribute__((format(printf, 4, 5)));

/* How sure the header (the file's first bytes) is a native job trace: 0 or 100. */
int trace_sniff(const char *head, size_t len);

/* Writer. Columns are those that `columns` names (TRACE_COL_ bits); required ones always. */
#define TRACE_COLUMN_MAP(X)                                                                        \
    X(job_id)                                                                                      \
    X(submit_s)                                                                                    \
    X(duration_s)                                                                                  \
    X(gpus)                                                                                        \
    X(gpu_mem_bytes) X(gpu_model) X(gpu_allowed) X(cpus) X(mem_bytes) X(user) X(group) X(class)    \
        X(profile) X(priority) X(walltime_s) X(status) X(deadline_s) X(min_gpus) X(max_gpus)       \
            X(slots)
enum trace_column {
#define X(name) TRACE_##name,
    TRACE_COLUMN_MAP(X)
#undef X
        TRACE_COLUMNS
};
extern const char *const trace_column_names[TRACE_COLUMNS + 1];
#define TRACE_COL(name) (1u << TRACE_##name)
#define TRACE_REQUIRED                                                                             \
    (TRACE_COL(job_id) | TRACE_COL(submit_s) | TRACE_COL(duration_s) | TRACE_COL(gpus))

/* All optional members absent, id empty, times and gpus 0. */
void job_row_init(struct job_row *row);
/* NULL when the reader would take the row, else what is wrong with it. */
const char *job_row_problem(const struct job_row *row);
/* Is this a value of gpu_allowed: cards with one | between them? */
bool job_cards_good(const char *s, size_t len);

void trace_write_header(FILE *to, unsigned columns,
                        const char *comment /* without "# "; may be NULL */);
/* Requires job_row_problem(row) == NULL. */
void trace_write_row(FILE *to, unsigned columns, const struct job_row *row,
                     const struct symtab *names);

#endif
