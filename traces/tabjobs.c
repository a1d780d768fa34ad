#include "traces/tabjobs.h"

#include "base/dec.h"

#include <string.h>

static const struct import_reason slo_dropped = {
    "slo-not-carried", "the job has an SLO, whose unit is not documented: no deadline is set", true
};

struct layout {
    size_t fields;
    int steps, gpus, mode, priority, slo, duration, arrival; /* places from 0; -1: absent */
};
static const struct layout layouts[] = {
    { 7, 4, 6, -1, -1, -1, -1, 5 },
    { 10, 5, 6, -1, 7, 8, -1, 9 },
    { 12, 5, 6, 7, 8, 9, 10, 11 },
};

static const struct layout *layout_of(size_t fields)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].fields == fields) return &layouts[i];
    return NULL;
}

int tabjobs_open(struct tabjobs *t, const char *path, const char *format, size_t a, size_t b,
                 struct err *e)
{
    const struct csv_format fmt = { .delimiter = '\t' };
    *t = (struct tabjobs){ 0 };
    int rc = csv_open(&t->csv, path, &fmt, e);
    if (rc < 0) return rc;
    rc = csv_next(t->csv, &t->row, e);
    if (rc == 0) {
        const struct loc at = { .file = csv_file(t->csv) };
        rc = err_set(e, ERR_INPUT, &at, "expected a trace (%s), found an empty file", format);
    } else if (rc > 0 && t->row.n != a && t->row.n != b) {
        char or_b[40] = "";
        if (b) snprintf(or_b, sizeof or_b, " or %zu", b);
        rc = csv_error(t->csv, &t->row, NULL, e,
                       "expected %zu%s tab-separated fields (%s), found %zu", a, or_b, format,
                       t->row.n);
        if (layout_of(t->row.n))
            err_hint(e, "%zu fields are a %s trace", t->row.n,
                     t->row.n == 12 ? "shockwave" : "gavel");
    }
    if (rc < 0) {
        tabjobs_close(t);
        return rc;
    }
    t->have_first = true;
    t->fields = t->row.n;
    return 0;
}

void tabjobs_close(struct tabjobs *t)
{
    csv_close(t->csv);
    t->csv = NULL;
}

static void read_row(const struct tabjobs *t, const struct layout *l, struct tabjob *out,
                     struct import_row *row)
{
    const struct csv_field *f = t->row.f;
    int64_t priority;
    BUG_ON(!l); /* it was there for the first row */
    *out = (struct tabjob){ .type = f[0], .mode = { .s = "" }, .duration = JOB_NO_TIME };
    if (cell_exact(&f[l->gpus], "scale factor", 0, &out->gpus, row)) {
        if (out->gpus >= 1 && out->gpus <= INT32_MAX / 1000) {
            row->job.gpus_milli = (int32_t)(out->gpus * 1000);
            row->asked = true;
        } else {
            import_quarantine(row, &import_bad_value, "scale factor: expected 1 or more GPUs");
        }
    }
    if (cell_exact(&f[l->steps], "total steps", 0, &out->steps, row) && out->steps < 0)
        import_quarantine(row, &import_bad_value, "total steps: negative");
    cell_exact(&f[l->arrival], "arrival", 9, &row->job.submit, row);
    if (l->mode >= 0) out->mode = f[l->mode];
    if (l->duration >= 0) cell_exact(&f[l->duration], "duration", 9, &out->duration, row);
    /* the priority is a weight; only a whole one has a place in the native trace */
    if (l->priority >= 0 &&
        dec_fixed_exact(f[l->priority].s, f[l->priority].len, 0, &priority) == DEC_OK &&
        priority > INT32_MIN && priority <= INT32_MAX)
        row->job.priority = (int32_t)priority;
    double slo;
    if (l->slo >= 0 && dec_double(f[l->slo].s, f[l->slo].len, &slo) == DEC_OK && slo >= 0)
        import_repair(row, &slo_dropped);
}

int tabjobs_next(struct tabjobs *t, struct tabjob *out, struct import_row *row, struct err *e)
{
    if (!t->have_first) {
        int rc = csv_next(t->csv, &t->row, e);
        if (rc <= 0) return rc;
    }
    t->have_first = false;
    row->line = t->row.line;
    row->raw = t->row.text;
    row->raw_len = t->row.len;
    const int id = snprintf(t->id, sizeof t->id, "%llu", (unsigned long long)t->n++);
    row->job.id = t->id;
    row->job.id_len = (size_t)id;
    if (t->row.n != t->fields)
        import_quarantine(row, &import_field_count, "%zu fields, the first row has %zu", t->row.n,
                          t->fields);
    else
        read_row(t, layout_of(t->fields), out, row);
    return 1;
}

size_t tabjobs_layout(const char *head, size_t len)
{
    const char *nl = memchr(head, '\n', len), *f[13] = { head };
    size_t line = nl ? (size_t)(nl - head) : len, n = 1, size[13];
    if (line > 0 && head[line - 1] == '\r') line--;
    for (size_t i = 0; i < line; i++) {
        if (head[i] != '\t') continue;
        if (n == 13) return 0;
        size[n - 1] = (size_t)(head + i - f[n - 1]);
        f[n++] = head + i + 1;
    }
    size[n - 1] = (size_t)(head + line - f[n - 1]);
    const struct layout *l = layout_of(n);
    int64_t v;
    /* a list of machines beside an SWF log has as many fields, the first of them a number */
    if (!l || dec_fixed(f[0], size[0], 0, &v) == DEC_OK ||
        dec_fixed(f[l->steps], size[l->steps], 0, &v) != DEC_OK ||
        dec_fixed(f[l->gpus], size[l->gpus], 0, &v) != DEC_OK ||
        dec_fixed(f[l->arrival], size[l->arrival], 9, &v) != DEC_OK)
        return 0;
    return n;
}
