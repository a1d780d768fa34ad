/* traces/rowstore.h - the rows of an import, put in order of (submit or arrival, order of arrival
 * here): a stable sort of more rows than memory should hold. Runs of packed rows are sorted in
 * memory and lie one after the other in an unnamed temporary file ($TMPDIR); they are merged while
 * they are read back, each from front to back (Knuth, TAOCP vol. 3, 5.4). Rows that came in order
 * are one run. Up to one run, no file is made.
 *
 *     struct rowstore *s = rowstore_create(8 << 20);
 *     rowstore_add(s, &row);                              // as often as needed
 *     rc = rowstore_sort(s, e);
 *     while (rc == 0 && (rc = rowstore_next(s, &row, e)) > 0) ...
 *
 * Memory: `bytes` for the rows of a run and for the reading of all; while a run is sorted as
 * much again and 32 bytes for each of its rows; and the longest row. File: 32 bytes and the id
 * for each job, and 4 or 8 for each optional value that it has; 72 for each request. O(n log n).
 * Threads: one store, one thread. */
#ifndef GPUSIM_TRACES_ROWSTORE_H
#define GPUSIM_TRACES_ROWSTORE_H

#include "traces/format.h"

struct rowstore;
struct rowstore *rowstore_create(size_t bytes);
void rowstore_destroy(struct rowstore *s); /* accepts NULL */
/* Keeps what row->kind says: `job` with a copy of its id, or `request`. All rows are of one kind. A
 * failure to write is told by rowstore_sort(). Not after that. */
void rowstore_add(struct rowstore *s, const struct import_row *row);
/* After the last row: 0, or ERR_IO. */
int rowstore_sort(struct rowstore *s, struct err *e);
/* 1: row->kind and row->job or row->request are filled, the id lent until the next call; the rest
 * of *row is not touched. 0: there is none left; ERR_IO. */
int rowstore_next(struct rowstore *s, struct import_row *row, struct err *e);

#endif
