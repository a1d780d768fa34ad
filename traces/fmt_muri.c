/* fmt_muri.c - job lists of Muri (Zhao et al., SIGCOMM 2022; Rivendile/Muri): the Tiresias columns and
 * resource_time_0..2, priority. Times are MILLISECONDS, although the columns are named as in Tiresias.
 *
 * `interval` fits neither neighbour (jobs were taken out) and iterations x iteration_time is not the
 * duration: both are ignored. The authors' result files are in seconds and have other columns; they
 * are read as `tiresias`. */
#include "traces/joblist.h"

#include "base/mem.h"

#include <stdlib.h>

enum { COL_resource = JOBLIST_COLUMNS, COLUMNS };
static const char *const columns[COLUMNS] = { JOBLIST_NAMES, "resource_time_0" };

enum unit { UNIT_DEFAULT, UNIT_S, UNIT_MS };
static const char *const unit_names[] = { "auto", "s", "ms", NULL };

struct options {
    int unit; /* enum unit */
    bool model_profile;
};

static const struct opt opts[] = {
    { "unit", 0, OPT_CHOICE, offsetof(struct options, unit), "UNIT",
      "muri: unit of submit_time and duration: ms (default), s", unit_names },
    { "model-profile", 0, OPT_FLAG, offsetof(struct options, model_profile), NULL,
      "muri: hand model_name on as the job's profile (the scenario must define it)", NULL },
    { 0 },
};

static void muri_close(void *state)
{
    if (state) joblist_close(state);
    free(state);
}

static int muri_open(void **state, const char *path, const void *options, struct symtab *names,
                     struct import_info *info, struct err *e)
{
    const struct options *o = options;
    struct joblist *l = xcalloc(1, sizeof *l);
    int rc = joblist_open(l, path, "muri", columns, COLUMNS,
                          o->unit == UNIT_S ? SIM_SECOND : SIM_SECOND / 1000, names, e);
    if (rc == 0 && l->t.column_of[COL_resource] < 0 && o->unit == UNIT_DEFAULT) {
        rc = csv_error(l->t.csv, &l->t.row, NULL, e,
                       "no \"resource_time_0\": a Muri trace is in milliseconds, this may not be");
        err_hint(e, "say --unit ms or --unit s; `tiresias` reads the same columns in seconds");
    }
    if (rc < 0) {
        muri_close(l);
        return rc;
    }
    l->model_profile = o->model_profile;
    snprintf(info->origin, sizeof info->origin, "unit=%s", o->unit == UNIT_S ? "s" : "ms");
    *state = l;
    return 0;
}

static int muri_next(void *state, struct import_row *row, struct err *e)
{
    return joblist_next(state, row, e);
}

static int muri_sniff(const char *head, size_t len)
{
    return header_has(head, len, ',', columns, JOBLIST_REQUIRED) &&
                   header_has(head, len, ',', columns + COL_resource, 1)
               ? 90
               : 0;
}

const struct trace_format fmt_muri = {
    .name = "muri",
    .help = "Muri job list (SIGCOMM 2022): the Tiresias columns in milliseconds",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = muri_sniff,
    .open = muri_open,
    .next = muri_next,
    .close = muri_close,
};
