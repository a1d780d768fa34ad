/* fmt_chronus.c - job lists of Chronus (Gao et al., SoCC 2021; S-Lab-System-Group/ChronusArtifact),
 * made from Philly: the Tiresias columns and expect_time_list, expect_value_list, best_effort,
 * job_type.
 *
 * Times are scaled-down steps of no documented length: --step says how long one is (default 1 s).
 * Rows are not sorted. num_gpu 0 occurs and stays: a job without a card.
 * The lists are joined by '-'. The first expected time, counted from submission, is when the full
 * value of a strict or soft job is due: it becomes the deadline. A best-effort job has none (its
 * column repeats the submit time). */
#include "traces/joblist.h"

#include "base/mem.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

enum { COL_expect = JOBLIST_COLUMNS, COL_best_effort, COLUMNS };
static const char *const columns[COLUMNS] = { JOBLIST_NAMES, "expect_time_list", "best_effort" };

struct options {
    const char *step;
    bool model_profile;
};

static const struct opt opts[] = {
    { "step", 0, OPT_TEXT, offsetof(struct options, step), "TIME",
      "chronus: length of one unit of time, e.g. \"60 s\" (default \"1 s\")", NULL },
    { "model-profile", 0, OPT_FLAG, offsetof(struct options, model_profile), NULL,
      "chronus: hand model_name on as the job's profile (the scenario must define it)", NULL },
    { 0 },
};

static void chronus_close(void *state)
{
    if (state) joblist_close(state);
    free(state);
}

static int read_step(const char *text, simtime *step, struct err *e)
{
    *step = SIM_SECOND;
    if (!text || (unit_parse_time(text, step, NULL) == 0 && *step > 0)) return 0;
    return err_set(e, ERR_USAGE, NULL, "--step: expected %s above 0, found \"%s\"",
                   unit_expected(UNIT_TIME), text);
}

static int chronus_open(void **state, const char *path, const void *options, struct symtab *names,
                        struct import_info *info, struct err *e)
{
    const struct options *o = options;
    struct joblist *l = xcalloc(1, sizeof *l);
    char text[40];
    simtime step;
    int rc = read_step(o->step, &step, e);
    if (rc == 0) rc = joblist_open(l, path, "chronus", columns, COLUMNS, step, names, e);
    if (rc < 0) {
        chronus_close(l);
        return rc;
    }
    l->model_profile = o->model_profile;
    unit_format_time(text, sizeof text, step);
    snprintf(info->origin, sizeof info->origin, "step=%s", text);
    for (char *c = info->origin; *c; c++)
        if (*c == ' ') *c = '_';
    if (!o->step)
        snprintf(info->note, sizeof info->note,
                 "Chronus counts in steps of no documented length; each is read as 1 s (--step)");
    *state = l;
    return 0;
}

static void read_deadline(struct joblist *l, struct import_row *row)
{
    const struct csv_field list = table_cell(&l->t, COL_expect),
                           best = table_cell(&l->t, COL_best_effort);
    if (cell_missing(&list) || csv_is(&best, "1")) return;
    const char *dash = memchr(list.s, '-', list.len);
    const size_t len = dash ? (size_t)(dash - list.s) : list.len;
    simtime due;
    if (!joblist_time(l, list.s, len, "expect_time_list", &due, row)) return;
    if (due < 0 || __builtin_add_overflow(row->job.submit, due, &row->job.deadline))
        import_quarantine(row, &import_bad_value, "expect_time_list: out of range");
}

static int chronus_next(void *state, struct import_row *row, struct err *e)
{
    int rc = joblist_next(state, row, e);
    if (rc > 0 && !row->quarantined) read_deadline(state, row);
    return rc;
}

static int chronus_sniff(const char *head, size_t len)
{
    return header_has(head, len, ',', columns, JOBLIST_REQUIRED) &&
                   header_has(head, len, ',', columns + COL_expect, 1)
               ? 90
               : 0;
}

const struct trace_format fmt_chronus = {
    .name = "chronus",
    .help = "Chronus job list (SoCC 2021): the Tiresias columns with deadlines, time in steps",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = chronus_sniff,
    .open = chronus_open,
    .next = chronus_next,
    .close = chronus_close,
};
