/* fmt_dlrm.c - Alibaba GPU-disaggregated serving of recommendation models (DLRM), 2025: instances
 * of CPU-node parts (role CN, no GPU) and GPU-node parts (HN).
 *
 * Seconds from the trace's start, with noise digits. An empty creation (and scheduling) time means
 * that the instance existed before the trace, an empty deletion that it outlived it: both are
 * clamped to the trace window [0, end], which is what the trace knows of them. The end is the last
 * time in the file (a pass of its own), or --window-end. submit = creation, duration = deletion -
 * scheduling. The app is the group; CN and HN parts of an app carry no link, so they are jobs of
 * their own. RDMA, disk and the spread limit have no place in the native trace. */
#include "traces/format.h"

#include "base/dec.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    COL_sn,
    COL_role,
    COL_app,
    COL_cpu,
    COL_gpu,
    COL_mem,
    COL_created,
    COL_scheduled,
    COL_deleted,
    REQUIRED,
    COL_spread = REQUIRED,
    COLUMNS
};
static const char *const columns[COLUMNS] = {
    "instance_sn",    "role",          "app_name",       "cpu_request",   "gpu_request",
    "memory_request", "creation_time", "scheduled_time", "deletion_time", "max_instance_per_node"
};

static const struct import_reason existed = {
    "existed-before", "no creation time: it existed before the trace, so it is there from 0", true
};
static const struct import_reason outlived = {
    "outlived", "no deletion time: it outlived the trace, so it ends with the trace", true
};
static const struct import_reason never_scheduled = {
    "never-scheduled", "created but never scheduled, so it has no run time", false
};
static const struct import_reason no_creation = {
    "no-creation", "scheduled without a creation time: submitted when it was scheduled", false
};
static const struct import_reason ends_first = { "ends-before-start",
                                                 "deletion_time is before scheduled_time", false };
static const struct import_reason odd_share = {
    "odd-share", "gpu_request is neither a fraction of one card nor whole cards", false
};
static const struct import_reason start_before_creation = {
    "start-before-creation", "scheduled_time is before creation_time: the start was dropped", true
};
static const struct import_reason after_window = { "after-window", "a time lies after --window-end",
                                                   false };

struct options {
    double window_end;
};

static const struct opt opts[] = {
    { "window-end", 0, OPT_REAL, offsetof(struct options, window_end), "SECONDS",
      "dlrm: end of the trace (default: the last time in the file)", NULL },
    { 0 },
};

struct dlrm {
    struct table t;
    struct symtab *names;
    simtime end;
    int64_t cn, hn, limited;
};

static void dlrm_close(void *state)
{
    struct dlrm *s = state;
    if (!s) return;
    table_close(&s->t);
    free(s);
}

/* The last time in the file; rows that cannot be read are left to the import itself. */
static int find_end(const char *path, simtime *end, struct err *e)
{
    struct table t = { 0 };
    struct import_row row = { 0 };
    int rc = table_open(&t, path, ',', "dlrm", columns, REQUIRED, COLUMNS, e);
    *end = 0;
    while (rc == 0 && (rc = table_next(&t, &row, e)) > 0) {
        for (int i = COL_created; i <= COL_deleted && !row.quarantined; i++) {
            const struct csv_field f = table_cell(&t, i);
            simtime v;
            if (dec_fixed(f.s, f.len, 9, &v) == DEC_OK && v > *end) *end = v;
        }
        row.quarantined = NULL; /* of this row only */
        rc = 0;
    }
    table_close(&t);
    return rc;
}

static int dlrm_open(void **state, const char *path, const void *options, struct symtab *names,
                     struct import_info *info, struct err *e)
{
    const struct options *o = options;
    struct dlrm *s = xcalloc(1, sizeof *s);
    char end[32];
    int rc = 0;
    s->names = names;
    if (!(o->window_end >= 0 && o->window_end <= SIM_MAX_S))
        rc = err_set(e, ERR_USAGE, NULL, "--window-end: expected 0 to 9.2e9 seconds");
    else if (o->window_end > 0)
        s->end = (simtime)(o->window_end * 1e9 + 0.5);
    else
        rc = find_end(path, &s->end, e);
    if (rc == 0) rc = table_open(&s->t, path, ',', "dlrm", columns, REQUIRED, COLUMNS, e);
    if (rc < 0) {
        dlrm_close(s);
        return rc;
    }
    dec_print(end, sizeof end, s->end, 9);
    snprintf(info->origin, sizeof info->origin, "time_zero=trace_start window_end_s=%s", end);
    snprintf(info->note, sizeof info->note,
             "instances that existed before or outlived the trace are clamped to 0 .. %s s", end);
    *state = s;
    return 0;
}

static void read_gpus(struct dlrm *s, struct import_row *row)
{
    const struct csv_field f = table_cell(&s->t, COL_gpu);
    int64_t gpus = 0;
    if (!cell_missing(&f) && !table_number(&s->t, COL_gpu, "gpu_request", 3, &gpus, row)) return;
    if (gpus < 0 || gpus > INT32_MAX || !job_gpus_ok((int32_t)gpus)) {
        import_quarantine(row, &odd_share, "%.*s", (int)(f.len % 60), f.s);
        return;
    }
    row->job.gpus_milli = (int32_t)gpus;
    row->asked = true;
}

static void read_host(struct dlrm *s, struct import_row *row)
{
    int64_t cpu, gib;
    const struct csv_field c = table_cell(&s->t, COL_cpu), m = table_cell(&s->t, COL_mem);
    if (!cell_missing(&c) && table_number(&s->t, COL_cpu, "cpu_request", 3, &cpu, row)) {
        if (cpu >= 0 && cpu <= INT32_MAX)
            row->job.cpus_milli = (int32_t)cpu;
        else
            import_quarantine(row, &import_bad_value, "cpu_request: out of range");
    }
    if (!cell_missing(&m) && table_number(&s->t, COL_mem, "memory_request", 3, &gib, row)) {
        if (gib >= 0 && gib < INT64_C(1000) << 20)
            row->job.mem_bytes = ((uint64_t)gib << 30) / 1000;
        else
            import_quarantine(row, &import_bad_value, "memory_request: out of range");
    }
}

/* Empty leaves *out as it is; false when the cell is quarantined. */
static bool read_time(struct dlrm *s, int column, simtime *out, struct import_row *row)
{
    const struct csv_field f = table_cell(&s->t, column);
    if (cell_missing(&f)) return true;
    if (!table_number(&s->t, column, columns[column], 9, out, row)) return false;
    if (*out < 0)
        import_quarantine(row, &import_bad_value, "%s: negative", columns[column]);
    else if (*out > s->end)
        import_quarantine(row, &after_window, "%s", columns[column]);
    return !row->quarantined;
}

static void read_times(struct dlrm *s, struct import_row *row)
{
    struct job_row *j = &row->job;
    bool before = false;
    simtime created = JOB_NO_TIME, scheduled = JOB_NO_TIME, deleted = JOB_NO_TIME;
    if (!read_time(s, COL_created, &created, row) ||
        !read_time(s, COL_scheduled, &scheduled, row) || !read_time(s, COL_deleted, &deleted, row))
        return;
    if (created != JOB_NO_TIME && scheduled == JOB_NO_TIME) {
        import_quarantine(row, &never_scheduled, "%s", "");
        return;
    }
    if (created == JOB_NO_TIME) {
        before = scheduled == JOB_NO_TIME;
        import_repair(row, before ? &existed : &no_creation);
        created = scheduled = before ? 0 : scheduled;
    }
    j->status = deleted == JOB_NO_TIME ? STATUS_running : STATUS_completed;
    if (deleted == JOB_NO_TIME) {
        deleted = s->end;
        import_repair(row, &outlived);
    }
    if (deleted < scheduled) {
        import_quarantine(row, &ends_first, "%s", "");
        return;
    }
    j->submit = created;
    j->duration = deleted - scheduled;
    row->start = before ? JOB_NO_TIME : scheduled; /* its wait lies before the trace */
    if (scheduled < created) {
        import_repair(row, &start_before_creation);
        row->start = JOB_NO_TIME;
    }
}

static int dlrm_next(void *state, struct import_row *row, struct err *e)
{
    struct dlrm *s = state;
    int rc = table_next(&s->t, row, e);
    if (rc <= 0 || row->quarantined) return rc;
    const struct csv_field id = table_cell(&s->t, COL_sn), role = table_cell(&s->t, COL_role),
                           app = table_cell(&s->t, COL_app), limit = table_cell(&s->t, COL_spread);
    row->job.id = id.s;
    row->job.id_len = id.len;
    row->job.klass = CLASS_inference;
    if (!cell_missing(&app)) row->job.group = symtab_add(s->names, app.s, app.len);
    read_gpus(s, row);
    read_host(s, row);
    read_times(s, row);
    if (row->quarantined) return 1;
    s->cn += csv_is(&role, "CN");
    s->hn += csv_is(&role, "HN");
    s->limited += !cell_missing(&limit) && !csv_is(&limit, "-1");
    return 1;
}

static void dlrm_facts(const void *state, json_t *into)
{
    const struct dlrm *s = state;
    json_object_set_new(into, "cpu_node_parts", json_integer(s->cn));
    json_object_set_new(into, "gpu_node_parts", json_integer(s->hn));
    json_object_set_new(into, "spread_limits_not_carried", json_integer(s->limited));
}

static int dlrm_sniff(const char *head, size_t len)
{
    return header_has(head, len, ',', columns, REQUIRED) ? 95 : 0;
}

const struct trace_format fmt_dlrm = {
    .name = "dlrm",
    .help = "Alibaba GPU-disaggregated DLRM serving, 2025: instances clamped to the trace",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = dlrm_sniff,
    .open = dlrm_open,
    .next = dlrm_next,
    .close = dlrm_close,
    .facts = dlrm_facts,
};
