#include "model/request_rows.h"

#include "base/mem.h"

#include <stdlib.h>

size_t request_rows_bytes(const struct request_rows *t)
{
    return t->cap * sizeof *t->row;
}

struct request_rows *request_rows_load(const char *path, size_t max_bytes)
{
    struct request_rows *t = xcalloc(1, sizeof *t);
    struct requests_reader *reader = NULL;
    struct request_row row;
    struct err e = { 0 };
    t->path = xstrdup(path);
    t->names = symtab_create();
    int rc = requests_open(&reader, path, t->names, &e);
    if (rc != 0) reader = NULL;
    if (rc == 0) {
        t->columns = requests_columns(reader);
        t->block_tokens = requests_block_tokens(reader);
    }
    while (rc == 0 && (rc = requests_next(reader, &row, &e)) > 0) {
        rc = 0;
        if (t->n == t->cap) {
            t->cap = t->cap ? 2 * t->cap : 1024;
            if (request_rows_bytes(t) > max_bytes) rc = -1;
            if (rc == 0) t->row = xreallocarray(t->row, t->cap, sizeof *t->row);
        }
        if (rc == 0) t->row[t->n++] = row;
    }
    requests_close(reader);
    if (rc == 0) return t;
    request_rows_free(t);
    return NULL;
}

void request_rows_free(struct request_rows *t)
{
    if (!t) return;
    free(t->path);
    free(t->row);
    symtab_destroy(t->names);
    free(t);
}

int request_rows_line(const struct request_rows *t, size_t at)
{
    struct symtab *names = symtab_create();
    struct requests_reader *reader = NULL;
    struct request_row row;
    struct err e = { 0 };
    int rc = requests_open(&reader, t->path, names, &e), line = 0;
    if (rc != 0) reader = NULL;
    for (size_t i = 0; i <= at && rc >= 0; i++) rc = requests_next(reader, &row, &e);
    if (rc > 0) line = requests_line(reader);
    requests_close(reader);
    symtab_destroy(names);
    return line;
}
