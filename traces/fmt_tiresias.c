/* fmt_tiresias.c - job lists of the Tiresias simulator (SymbioticLab/Tiresias, NSDI 2019) and of the
 * projects that took its columns over (Muri, Chronus): job_id, num_gpu, submit_time, duration by
 * header name, in any order, other columns ignored (traces/joblist.h). Seconds; Muri writes
 * milliseconds and has a format of its own. */
#include "traces/joblist.h"

#include "base/mem.h"

#include <stdlib.h>

enum { COL_resource = JOBLIST_COLUMNS, COLUMNS };
static const char *const columns[COLUMNS] = { JOBLIST_NAMES, "resource_time_0" };

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

static void tiresias_close(void *state)
{
    if (state) joblist_close(state);
    free(state);
}

static int tiresias_open(void **state, const char *path, const void *options, struct symtab *names,
                         struct import_info *info, struct err *e)
{
    const struct options *o = options;
    struct joblist *l = xcalloc(1, sizeof *l);
    int rc = joblist_open(l, path, "tiresias", columns, COLUMNS,
                          o->unit == UNIT_MS ? SIM_SECOND / 1000 : SIM_SECOND, names, e);
    if (rc == 0 && l->t.column_of[COL_resource] >= 0 && o->unit == UNIT_UNSAID) {
        rc = csv_error(l->t.csv, &l->t.row, NULL, e,
                       "this looks like a Muri trace, whose times are milliseconds");
        err_hint(e, "`gpusim import muri`; or add --unit s if they are seconds after all");
    }
    if (rc < 0) {
        tiresias_close(l);
        return rc;
    }
    l->model_profile = o->model_profile;
    snprintf(info->origin, sizeof info->origin, "unit=%s", o->unit == UNIT_MS ? "ms" : "s");
    *state = l;
    return 0;
}

static int tiresias_next(void *state, struct import_row *row, struct err *e)
{
    return joblist_next(state, row, e);
}

static int tiresias_sniff(const char *head, size_t len)
{
    return header_has(head, len, ',', columns, JOBLIST_REQUIRED) ? 60 : 0;
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
