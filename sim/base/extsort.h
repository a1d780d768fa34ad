/* base/extsort.h - sort more records than memory should hold: runs sorted in memory, kept in one
 * unnamed temporary file ($TMPDIR, else /tmp), merged while they are read back (Knuth, TAOCP vol.
 * 3, 5.4). Up to one run, no file is made.
 *
 * A record is 1 to EXTSORT_WORDS whole numbers, ordered by the first, then the second, and so on.
 *
 *     struct extsort *s = extsort_create(2, 8 << 20);
 *     extsort_add(s, (int64_t[]){ when, what });          // as often as needed
 *     rc = extsort_sort(s, e);
 *     while (rc == 0 && (rc = extsort_next(s, record, e)) > 0) ...
 *
 * Memory: `bytes` for the records of a run, as much again while it is sorted, and 4 KiB for each
 * run while they are merged; file: the records. O(n log n). Threads: one sorter, one thread. */
#ifndef GPUSIM_BASE_EXTSORT_H
#define GPUSIM_BASE_EXTSORT_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { EXTSORT_WORDS = 3 };

struct extsort;
struct extsort *extsort_create(int words, size_t bytes);
void extsort_destroy(struct extsort *s); /* accepts NULL */
/* A failure to write is told by extsort_sort(). Not after that. */
void extsort_add(struct extsort *s, const int64_t *record);
uint64_t extsort_count(const struct extsort *s); /* records added */
/* After the last record: 0, or ERR_IO. */
int extsort_sort(struct extsort *s, struct err *e);
/* 1: the next record in order; 0: there is none left; ERR_IO. */
int extsort_next(struct extsort *s, int64_t *record, struct err *e);

#endif
