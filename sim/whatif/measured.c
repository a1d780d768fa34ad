#include "whatif/measured.h"

#include "base/csv.h"
#include "base/dec.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct measured {
    struct csv *csv;
    struct csv_row row;
    struct arena *arena;
    const struct measured_column *column;
    size_t n, width; /* width: fields of the header */
    size_t at[MEASURED_MAX_COLUMNS];
};
static const size_t ABSENT = (size_t)-1;

static int read_header(struct measured *m, struct err *e)
{
    const int rc = csv_next(m->csv, &m->row, e);
    if (rc < 0) return rc;
    if (rc == 0) {
        const struct loc at = { .file = csv_file(m->csv) };
        return err_set(e, ERR_INPUT, &at, "expected a header row, found an empty file");
    }
    m->width = m->row.n;
    for (size_t k = 0; k < m->n; k++) {
        m->at[k] = ABSENT;
        for (size_t i = 0; i < m->row.n; i++)
            if (csv_is(&m->row.f[i], m->column[k].name)) m->at[k] = i;
        if (m->at[k] == ABSENT && !m->column[k].optional)
            return csv_error(m->csv, &m->row, NULL, e, "expected a column \"%s\", found none",
                             m->column[k].name);
    }
    return 0;
}

int measured_open(struct measured **out, const char *path, const struct measured_column *columns,
                  size_t n, struct arena *a, struct err *e)
{
    const struct csv_format format = {
        .delimiter = ',', .quotes = true, .comment = '#', .comment_head_only = true
    };
    struct measured *m = xcalloc(1, sizeof *m);
    BUG_ON(n > MEASURED_MAX_COLUMNS);
    m->arena = a;
    m->column = columns;
    m->n = n;
    int rc = csv_open(&m->csv, path, &format, e);
    if (rc == 0) rc = read_header(m, e);
    if (rc < 0) {
        measured_close(m);
        m = NULL;
    }
    *out = m;
    return rc;
}

void measured_close(struct measured *m)
{
    if (!m) return;
    csv_close(m->csv);
    free(m);
}

static int read_number(struct measured *m, const struct measured_column *c,
                       const struct csv_field *f, double *out, struct err *e)
{
    double x;
    if (c->optional && (!f || f->len == 0)) {
        *out = NAN;
        return 0;
    }
    BUG_ON(!f); /* measured_open missed it */
    const enum dec_status status = dec_double(f->s, f->len, &x);
    if (status != DEC_OK)
        return csv_error(m->csv, &m->row, f, e, "%s: expected a number, found \"%.*s\"", c->name,
                         (int)(f->len > 40 ? 40 : f->len), f->s);
    if (x < c->min || x > c->max)
        return csv_error(m->csv, &m->row, f, e, "%s: expected %g to %g, found %g", c->name, c->min,
                         c->max, x);
    *out = x;
    return 0;
}

int measured_next(struct measured *m, void *row, struct err *e)
{
    int rc = csv_next(m->csv, &m->row, e);
    if (rc <= 0) return rc;
    if (m->row.n != m->width)
        return csv_error(m->csv, &m->row, NULL, e,
                         "expected %zu fields as in the header, found %zu", m->width, m->row.n);
    for (size_t k = 0; k < m->n; k++) {
        const struct measured_column *c = &m->column[k];
        const struct csv_field *f = m->at[k] == ABSENT ? NULL : &m->row.f[m->at[k]];
        void *to = (char *)row + c->offset;
        if (c->text)
            *(const char **)to = f ? arena_strndup(m->arena, f->s, f->len) : "";
        else if ((rc = read_number(m, c, f, to, e)) < 0)
            return rc;
    }
    return 1;
}

int measured_lacks(const char *path, const struct measured_column *columns, size_t n,
                   const char **first, struct err *e)
{
    struct measured *m = NULL;
    int lacks = 0;
    const int rc = measured_open(&m, path, NULL, 0, NULL, e);
    for (size_t k = 0; rc == 0 && k < n; k++) {
        bool there = columns[k].optional && !columns[k].text;
        for (size_t i = 0; i < m->row.n; i++) there |= csv_is(&m->row.f[i], columns[k].name);
        if (!there && lacks++ == 0 && first) *first = columns[k].name;
    }
    measured_close(m);
    return rc < 0 ? rc : lacks;
}

int measured_error(struct measured *m, struct err *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int rc = csv_verror(m->csv, &m->row, NULL, e, fmt, ap);
    va_end(ap);
    return rc;
}
