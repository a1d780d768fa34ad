/* model/native.h - what the two native traces, of jobs (model/trace.h) and of requests
 * (model/requests.h), have in common: a CSV file with an optional first line `# gpusim-trace/1
 * ...`, a header that names the columns in any order, rows sorted by their time, and messages that
 * say where, what was expected and what was found. For these two modules only. Threads: one file,
 * one thread. */
#ifndef GPUSIM_MODEL_NATIVE_H
#define GPUSIM_MODEL_NATIVE_H

#include "base/csv.h"
#include "base/simtime.h"
#include "base/symtab.h"

enum { NATIVE_COLUMNS = 24 }; /* at most; a set of columns is a bit for each */

/* A column that gives another kind of file away. */
struct native_stranger {
    const char *column, *format, *what;
};

/* Constant data: the words in which jobs and requests differ. */
struct native_kind {
    const char *trace;                       /* "native trace" */
    const char *file;                        /* "a trace" */
    const char *one;                         /* "job" */
    const char *out;                         /* "trace.csv", in hints */
    const char *format;                      /* of `gpusim import`, which sorts: "native" */
    const char *first_columns;               /* of a header, as an example */
    const char *needs;                       /* what a header must have, for a hint */
    const char *const *columns;              /* names, NULL-terminated */
    int time;                                /* the column by which rows are sorted */
    const struct native_stranger *strangers; /* ends with {0} */
    unsigned (*required)(unsigned columns);  /* which of them must be there and have values */
    /* Of the other kind, or two kinds at once? 0, or ERR_INPUT. Before columns are looked up. */
    int (*refuse)(const struct csv *csv, const struct csv_row *header, struct err *e);
};

struct native_file {
    const struct native_kind *kind;
    struct csv *csv;
    struct symtab *names;
    struct csv_row row;
    unsigned char column_of[NATIVE_COLUMNS]; /* of the i-th field */
    size_t n;                                /* fields */
    unsigned columns, required;
    bool unsorted_ok, any, empty;
    char *comment;    /* text after "# gpusim-trace/1", or NULL; owned */
    char version[24]; /* of the first line when it is not 1: such a file is refused; "" */
    simtime last;
    int last_line;
    struct { /* the last name seen in a column: names repeat from row to row */
        const char *s;
        size_t len;
        sym id;
    } name[NATIVE_COLUMNS];
};

/* Opens, reads the header and refuses what is no such trace. `f` stays where it is; it must be
 * closed after a failure too. */
int native_open(struct native_file *f, const struct native_kind *kind, const char *path,
                struct symtab *names, struct err *e);
void native_close(struct native_file *f); /* accepts {0} */

/* 1: f->row is a row as wide as the header; 0: end; negative: error. Without any row: ERR_INPUT. */
int native_next(struct native_file *f, struct err *e);
/* An empty cell: 0 unless the column must have values. */
int native_empty(const struct native_file *f, const struct csv_field *at, int col, struct err *e);
/* The row's time, after its cells: must not be before the last one's unless f->unsorted_ok. */
int native_sorted(struct native_file *f, simtime t, struct err *e);
const struct csv_field *native_field(const struct native_file *f, int col); /* NULL: not there */
bool native_has(const struct csv_row *row, const char *name);
/* "COLUMN: expected EXPECTED, found "..." (WHY)"; `why` may be NULL. Returns ERR_INPUT. */
int native_bad_cell(const struct native_file *f, int col, const struct csv_field *at, struct err *e,
                    const char *expected, const char *why);
/* The text of a field for a message: cut short, bytes that a terminal would obey replaced. */
const char *native_shown(char *buf, size_t size, const struct csv_field *f);
sym native_name(struct native_file *f, int col, const struct csv_field *at);

/* Columns of `kind` in the first line that is neither empty nor a comment, among the file's first
 * bytes. */
unsigned native_sniff(const struct native_kind *kind, const char *head, size_t len);

/* Writing. */
void native_put_header(FILE *to, const char *const *names, unsigned columns, const char *comment);
void native_put_dec(FILE *to, int64_t v, int digits);
void native_put_name(FILE *to, const struct symtab *names, sym s);

#endif
