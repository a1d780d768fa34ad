/* fmt_pai_flat.c - the flattened job lists that the simulator of Alibaba's PAI trace reads
 * (cluster-trace-gpu-v2020/simulator; Weng et al., NSDI 2022): job_id, num_gpu, submit_time and
 * duration by header name; num_gpu and num_cpu are cards and cores of one instance. As in that
 * simulator a missing num_inst is 1, a missing submit_time is 1 and a duration of 0 is 1 s. */
#include "traces/instances.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    COL_id,
    COL_gpus,
    COL_duration,
    REQUIRED,
    COL_submit = REQUIRED,
    COL_inst,
    COL_cpus,
    COL_user,
    COL_status,
    COLUMNS
};
static const char *const columns[COLUMNS] = { "job_id",   "num_gpu", "duration", "submit_time",
                                              "num_inst", "num_cpu", "user",     "status" };

static const struct import_reason submit_one = { "submit-1", "no submit_time: taken as 1", true };
static const struct import_reason one_second = { "one-second",
                                                 "a duration of 0 is 1 s in this format", true };

struct pai_flat {
    struct table t;
    struct symtab *names;
    struct instances inst;
};

static void pai_flat_close(void *state)
{
    struct pai_flat *s = state;
    if (!s) return;
    table_close(&s->t);
    instances_fini(&s->inst);
    free(s);
}

static int pai_flat_open(void **state, const char *path, const void *options, struct symtab *names,
                         struct import_info *info, struct err *e)
{
    struct pai_flat *s = xcalloc(1, sizeof *s);
    (void)options;
    (void)info;
    s->names = names;
    int rc = table_open(&s->t, path, ',', "pai-flat", columns, REQUIRED, COLUMNS, e);
    if (rc < 0) {
        pai_flat_close(s);
        return rc;
    }
    *state = s;
    return 0;
}

static bool has(const struct pai_flat *s, int column)
{
    const struct csv_field f = table_cell(&s->t, column);
    return !cell_missing(&f);
}

static void read_times(struct pai_flat *s, struct import_row *row)
{
    struct job_row *j = &row->job;
    if (has(s, COL_submit)) {
        table_number(&s->t, COL_submit, "submit_time", 9, &j->submit, row);
    } else {
        j->submit = SIM_SECOND;
        import_repair(row, &submit_one);
    }
    if (!table_number(&s->t, COL_duration, "duration", 9, &j->duration, row)) return;
    if (j->duration != 0) return;
    j->duration = SIM_SECOND;
    import_repair(row, &one_second);
}

static void read_status(struct pai_flat *s, struct job_row *j)
{
    const struct csv_field f = table_cell(&s->t, COL_status);
    if (csv_is(&f, "Terminated")) j->status = STATUS_completed;
    if (csv_is(&f, "Failed")) j->status = STATUS_failed;
    if (csv_is(&f, "Running")) j->status = STATUS_running;
}

static int pai_flat_next(void *state, struct import_row *row, struct err *e)
{
    struct pai_flat *s = state;
    int64_t gpus = 0, n = 1, cpus;
    if (instances_next(&s->inst, row)) return 1;
    int rc = table_next(&s->t, row, e);
    if (rc <= 0 || row->quarantined) return rc;
    const struct csv_field id = table_cell(&s->t, COL_id), user = table_cell(&s->t, COL_user);
    row->job.id = id.s;
    row->job.id_len = id.len;
    row->job.user = cell_missing(&user) ? 0 : symtab_add(s->names, user.s, user.len);
    read_times(s, row);
    read_status(s, &row->job);
    if (has(s, COL_cpus) && table_number(&s->t, COL_cpus, "num_cpu", 3, &cpus, row) && cpus >= 0 &&
        cpus <= INT32_MAX)
        row->job.cpus_milli = (int32_t)cpus;
    if (has(s, COL_gpus) && !table_number(&s->t, COL_gpus, "num_gpu", 3, &gpus, row)) return 1;
    if (has(s, COL_inst) && !table_number(&s->t, COL_inst, "num_inst", 0, &n, row)) return 1;
    instances_start(&s->inst, row, gpus, n);
    return 1;
}

static int pai_flat_sniff(const char *head, size_t len)
{
    static const char *const names[] = { "job_id", "num_gpu", "duration", "num_inst" };
    return header_has(head, len, ',', names, 4) ? 80 : 0;
}

const struct trace_format fmt_pai_flat = {
    .name = "pai-flat",
    .help = "Alibaba PAI 2020, the flattened list of its simulator",
    .sniff = pai_flat_sniff,
    .open = pai_flat_open,
    .next = pai_flat_next,
    .close = pai_flat_close,
};
