/* whatif/measured.h - a file of measured rows (CSV with a header row) into a struct, by a table of
 * columns. Columns come in any order and others are ignored. Lines that start with '#' before the
 * header say where the rows come from.
 *
 *     struct row { const char *gpu; double share; } row;
 *     static const struct measured_column columns[] = {
 *         MEASURED_TEXT(struct row, gpu, "gpu"),
 *         MEASURED_NUMBER(struct row, share, "norm", 0, 1.5),
 *     };
 *     rc = measured_open(&m, path, columns, 2, arena, e);
 *     while (rc == 0 && (rc = measured_next(m, &row, e)) > 0) rc = use(&row);
 *     measured_close(m);
 *
 * Errors: ERR_IO, or ERR_INPUT with line and column: a missing column, a field too many or too few,
 * a number that is none or lies outside its bounds. Ownership: text lives in the arena.
 * Threads: one reader, one thread. */
#ifndef GPUSIM_WHATIF_MEASURED_H
#define GPUSIM_WHATIF_MEASURED_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct measured_column {
    const char *name;
    size_t offset;       /* of a const char * or a double */
    bool text, optional; /* optional: an empty field is NAN; the column may be missing */
    double min, max;
};
/* A text column that is missing altogether reads as "". */
#define MEASURED_TEXT(type, member, column)                                                        \
    {                                                                                              \
        column, offsetof(type, member), true, true, 0, 0                                           \
    }
#define MEASURED_NUMBER(type, member, column, min, max)                                            \
    {                                                                                              \
        column, offsetof(type, member), false, false, min, max                                     \
    }
#define MEASURED_OPTIONAL(type, member, column, min, max)                                          \
    {                                                                                              \
        column, offsetof(type, member), false, true, min, max                                      \
    }

enum { MEASURED_MAX_COLUMNS = 24 };

struct measured;

int measured_open(struct measured **out, const char *path, const struct measured_column *columns,
                  size_t n, struct arena *a, struct err *e);
void measured_close(struct measured *m); /* accepts NULL */
/* 1: *row is filled; 0: end; negative: error. */
int measured_next(struct measured *m, void *row, struct err *e);
/* How many of these columns the header lacks, optional numbers aside, and in *first (may be NULL)
 * the first of them; negative: error. */
int measured_lacks(const char *path, const struct measured_column *columns, size_t n,
                   const char **first, struct err *e);
/* An error about the row read last; returns ERR_INPUT. */
int measured_error(struct measured *m, struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
