#include "traces/joblist.h"

#include "base/dec.h"
#include "base/mem.h"

#include <stdlib.h>

int joblist_open(struct joblist *l, const char *path, const char *format, const char *const *names,
                 int n, simtime unit, struct symtab *symbols, struct err *e)
{
    *l = (struct joblist){ .names = symbols, .unit = unit };
    l->digits = unit == SIM_SECOND ? 9 : 6; /* whole ns when a unit is 1 ms */
    return table_open(&l->t, path, ',', format, names, JOBLIST_REQUIRED, n, e);
}

void joblist_close(struct joblist *l)
{
    table_close(&l->t);
}

bool joblist_time(const struct joblist *l, const char *s, size_t len, const char *what,
                  simtime *out, struct import_row *row)
{
    __extension__ typedef __int128 wide;
    const wide one = l->digits == 9 ? 1000000000 : 1000000;
    int64_t value;
    enum dec_status st = dec_fixed(s, len, l->digits, &value);
    if (st == DEC_OK) {
        const wide ns = (wide)value * l->unit;
        const wide rounded = (ns + (ns < 0 ? -one / 2 : one / 2)) / one;
        if (rounded >= INT64_MIN && rounded <= INT64_MAX) {
            *out = (simtime)rounded;
            return true;
        }
        st = DEC_RANGE;
    }
    import_quarantine(row, &import_bad_value, "%s: %s", what, dec_why(st));
    return false;
}

static void read_gpus(struct joblist *l, struct import_row *row)
{
    int64_t milli;
    const struct csv_field f = table_cell(&l->t, JOBLIST_gpus);
    const enum dec_status st = dec_fixed_exact(f.s, f.len, 3, &milli);
    if (st != DEC_OK) {
        import_quarantine(row, &import_bad_value, "num_gpu: %s",
                          st == DEC_INEXACT ? "finer than a thousandth of a card" : dec_why(st));
        return;
    }
    row->asked = milli >= 0 && milli <= INT32_MAX && job_gpus_ok((int32_t)milli);
    if (row->asked)
        row->job.gpus_milli = (int32_t)milli;
    else
        import_quarantine(row, &import_bad_value,
                          "num_gpu: expected 0, a fraction of one card, or whole cards");
}

static sym name_of(struct joblist *l, int column)
{
    const struct csv_field f = table_cell(&l->t, column);
    return cell_missing(&f) ? 0 : symtab_add(l->names, f.s, f.len);
}

int joblist_next(struct joblist *l, struct import_row *row, struct err *e)
{
    int rc = table_next(&l->t, row, e);
    if (rc <= 0 || row->quarantined) return rc;
    const struct csv_field id = table_cell(&l->t, JOBLIST_id),
                           submit = table_cell(&l->t, JOBLIST_submit),
                           duration = table_cell(&l->t, JOBLIST_duration);
    row->job.id = id.s;
    row->job.id_len = id.len;
    read_gpus(l, row);
    joblist_time(l, submit.s, submit.len, "submit_time", &row->job.submit, row);
    joblist_time(l, duration.s, duration.len, "duration", &row->job.duration, row);
    row->job.user = name_of(l, JOBLIST_user);
    if (l->model_profile) row->job.profile = name_of(l, JOBLIST_model);
    return 1;
}

/* ---- Tiresias and Muri -------------------------------------------------------------------------- */

enum { COL_resource = JOBLIST_COLUMNS, COLUMNS };
static const char *const columns[COLUMNS] = { JOBLIST_NAMES, "resource_time_0" };

const char *const joblist_units[] = { "auto", "s", "ms", NULL };

int joblist_start(void **state, const struct joblist_dialect *d, const char *path,
                  const void *options, struct symtab *names, struct import_info *info,
                  struct err *e)
{
    const struct joblist_options *o = options;
    const bool ms = o->unit == JOBLIST_UNIT_auto ? d->ms : o->unit == JOBLIST_UNIT_ms;
    struct joblist *l = xcalloc(1, sizeof *l);
    int rc = joblist_open(l, path, d->name, columns, COLUMNS, ms ? SIM_SECOND / 1000 : SIM_SECOND,
                          names, e);
    if (rc == 0 && o->unit == JOBLIST_UNIT_auto && (l->t.column_of[COL_resource] >= 0) != d->ms) {
        rc = csv_error(l->t.csv, &l->t.row, NULL, e, "%s", d->doubt);
        err_hint(e, "%s", d->hint);
    }
    if (rc < 0) {
        joblist_end(l);
        return rc;
    }
    l->model_profile = o->model_profile;
    snprintf(info->origin, sizeof info->origin, "unit=%s", ms ? "ms" : "s");
    *state = l;
    return 0;
}

int joblist_row(void *state, struct import_row *row, struct err *e)
{
    return joblist_next(state, row, e);
}

void joblist_end(void *state)
{
    if (state) joblist_close(state);
    free(state);
}

bool joblist_header(const char *head, size_t len, bool muri)
{
    return header_has(head, len, ',', columns, JOBLIST_REQUIRED) &&
           (!muri || header_has(head, len, ',', columns + COL_resource, 1));
}
