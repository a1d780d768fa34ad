#include "model/trace_rows.h"

#include "base/mem.h"
#include "base/vec.h"
#include "model/trace.h"

#include <stdlib.h>
#include <string.h>

/* Ids stand one after the other in `text`; while that still grows, row.id is where in it (as a
 * number). */
struct trace_rows {
    char *path;
    struct job_row *row;
    size_t n, cap;
    unsigned columns;
    char *text;
    size_t text_len, text_cap;
    struct symtab *names;
};

struct trace_cursor {
    const struct trace_rows *rows;
    size_t at; /* rows given */
    struct symtab *names;
    VEC(sym) known; /* by symbol of the trace: the caller's */
};

static void keep(struct trace_rows *t, const struct job_row *row)
{
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 1024;
        t->row = xreallocarray(t->row, t->cap, sizeof *t->row);
    }
    while (t->text_cap - t->text_len < row->id_len) {
        t->text_cap = t->text_cap ? 2 * t->text_cap : 1 << 16;
        t->text = xreallocarray(t->text, t->text_cap, 1);
    }
    if (row->id_len) memcpy(t->text + t->text_len, row->id, row->id_len);
    t->text_len += row->id_len;
    t->row[t->n++] = *row;
}

size_t trace_rows_bytes(const struct trace_rows *t)
{
    return t->cap * sizeof *t->row + t->text_cap;
}

struct trace_rows *trace_rows_load(const char *path, size_t max_bytes)
{
    struct trace_rows *t = xcalloc(1, sizeof *t);
    struct trace_reader *reader = NULL;
    struct job_row row;
    struct err e = { 0 };
    t->path = xstrdup(path);
    t->names = symtab_create();
    int rc = trace_open(&reader, path, t->names, &e);
    if (rc != 0) reader = NULL;
    if (rc == 0) t->columns = trace_columns(reader);
    if (rc == 0)
        while ((rc = trace_next(reader, &row, &e)) > 0) {
            keep(t, &row);
            if (trace_rows_bytes(t) > max_bytes) rc = -1;
            if (rc < 0) break;
        }
    trace_close(reader);
    if (rc != 0) {
        trace_rows_free(t);
        return NULL;
    }
    const char *id = t->text;
    for (size_t i = 0; i < t->n; i++) {
        t->row[i].id = id;
        id += t->row[i].id_len;
    }
    return t;
}

void trace_rows_free(struct trace_rows *t)
{
    if (!t) return;
    free(t->path);
    free(t->row);
    free(t->text);
    symtab_destroy(t->names);
    free(t);
}

size_t trace_rows_count(const struct trace_rows *t)
{
    return t->n;
}

unsigned trace_rows_columns(const struct trace_rows *t)
{
    return t->columns;
}

struct trace_cursor *trace_cursor_open(const struct trace_rows *t, struct symtab *names)
{
    struct trace_cursor *c = xcalloc(1, sizeof *c);
    c->rows = t;
    c->names = names;
    vec_push(&c->known, 0);
    return c;
}

void trace_cursor_close(struct trace_cursor *c)
{
    if (!c) return;
    vec_fini(&c->known);
    free(c);
}

/* The caller's symbol. Names are added in the order in which the file brings them. */
static sym caller_sym(struct trace_cursor *c, sym s)
{
    while (c->known.n <= s) {
        const sym next = symtab_addz(c->names, symtab_name(c->rows->names, (sym)c->known.n));
        vec_push(&c->known, next);
    }
    return c->known.v[s];
}

static sym most(sym a, sym b)
{
    return a > b ? a : b;
}

bool trace_cursor_next(struct trace_cursor *c, struct job_row *row)
{
    if (c->at == c->rows->n) return false;
    *row = c->rows->row[c->at++];
    caller_sym(c, most(most(most(row->gpu_model, row->gpu_allowed), most(row->user, row->group)),
                       row->profile)); /* all that are new in this row, in order */
    row->gpu_model = caller_sym(c, row->gpu_model);
    row->gpu_allowed = caller_sym(c, row->gpu_allowed);
    row->user = caller_sym(c, row->user);
    row->group = caller_sym(c, row->group);
    row->profile = caller_sym(c, row->profile);
    return true;
}

int trace_cursor_error(const struct trace_cursor *c, const char *column, struct err *e,
                       const char *why)
{
    struct symtab *names = symtab_create();
    struct trace_reader *reader = NULL;
    struct job_row row;
    int rc = trace_open(&reader, c->rows->path, names, e);
    if (rc != 0) reader = NULL;
    for (size_t i = 0; i < c->at && rc >= 0; i++) rc = trace_next(reader, &row, e);
    if (rc >= 0) rc = trace_row_error(reader, column, e, "%s", why);
    trace_close(reader);
    symtab_destroy(names);
    return rc;
}
