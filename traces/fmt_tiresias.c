/* fmt_tiresias.c - job lists of the Tiresias simulator (SymbioticLab/Tiresias, NSDI 2019) and of the
 * projects that took its columns over (Muri, Chronus): job_id, num_gpu, submit_time, duration by
 * header name, in any order, other columns ignored. Seconds; Muri writes milliseconds (--unit ms). */
#include "traces/format.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    COL_id,
    COL_gpus,
    COL_submit,
    COL_duration,
    REQUIRED,
    COL_user = REQUIRED,
    COL_model,
    COL_resource,
    COLUMNS
};
static const char *const columns[COLUMNS] = { "job_id", "num_gpu",    "submit_time",    "duration",
                                              "user",   "model_name", "resource_time_0" };

enum unit { UNIT_UNSAID, UNIT_S, UNIT_MS };
static const char *const unit_names[] = { "auto", "s", "ms", NULL };

struct options {
    int unit; /* enum unit */
    bool model_profile;
};

static const struct opt opts[] = {
    { "unit", 0, OPT_CHOICE, offsetof(struct options, unit), "UNIT",
      "tiresias: unit of submit_time and duration: s (default), ms (Muri)", unit_names },
    { "model-profile", 0, OPT_FLAG, offsetof(struct options, model_profile), NULL,
      "tiresias: hand model_name on as the job's profile (the scenario must define it)", NULL },
    { 0 },
};

struct tiresias {
    struct table t;
    struct symtab *names;
    int digits; /* to ns */
    bool model_profile;
};

static void tiresias_close(void *state)
{
    struct tiresias *s = state;
    if (!s) return;
    table_close(&s->t);
    free(s);
}

static int tiresias_open(void **state, const char *path, const void *options, struct symtab *names,
                         struct import_info *info, struct err *e)
{
    const struct options *o = options;
    struct tiresias *s = xcalloc(1, sizeof *s);
    s->names = names;
    s->digits = o->unit == UNIT_MS ? 6 : 9;
    s->model_profile = o->model_profile;
    int rc = table_open(&s->t, path, ',', "tiresias", columns, REQUIRED, COLUMNS, e);
    if (rc == 0 && s->t.column_of[COL_resource] >= 0 && o->unit == UNIT_UNSAID) {
        rc = csv_error(s->t.csv, &s->t.row, NULL, e,
                       "this looks like a Muri trace, whose times are milliseconds");
        err_hint(e, "add --unit ms, or --unit s if they are seconds after all");
    }
    if (rc < 0) {
        tiresias_close(s);
        return rc;
    }
    snprintf(info->origin, sizeof info->origin, "unit=%s", o->unit == UNIT_MS ? "ms" : "s");
    *state = s;
    return 0;
}

static sym name_of(struct tiresias *s, int column)
{
    const struct csv_field f = table_cell(&s->t, column);
    return cell_missing(&f) ? 0 : symtab_add(s->names, f.s, f.len);
}

static int tiresias_next(void *state, struct import_row *row, struct err *e)
{
    struct tiresias *s = state;
    int64_t gpus;
    int rc = table_next(&s->t, row, e);
    if (rc <= 0 || row->quarantined) return rc;
    const struct csv_field id = table_cell(&s->t, COL_id);
    row->job.id = id.s;
    row->job.id_len = id.len;
    if (table_number(&s->t, COL_gpus, "num_gpu", 3, &gpus, row)) {
        row->asked = gpus >= 0 && gpus <= INT32_MAX && job_gpus_ok((int32_t)gpus);
        if (row->asked)
            row->job.gpus_milli = (int32_t)gpus;
        else
            import_quarantine(row, &import_bad_value,
                              "num_gpu: expected 0, a fraction of one card, or whole cards");
    }
    table_number(&s->t, COL_submit, "submit_time", s->digits, &row->job.submit, row);
    table_number(&s->t, COL_duration, "duration", s->digits, &row->job.duration, row);
    row->job.user = name_of(s, COL_user);
    if (s->model_profile) row->job.profile = name_of(s, COL_model);
    return 1;
}

static int tiresias_sniff(const char *head, size_t len)
{
    return header_has(head, len, ',', columns, REQUIRED) ? 60 : 0;
}

const struct trace_format fmt_tiresias = {
    .name = "tiresias",
    .help = "Tiresias job list and its kin: job_id, num_gpu, submit_time, duration",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = tiresias_sniff,
    .open = tiresias_open,
    .next = tiresias_next,
    .close = tiresias_close,
};
