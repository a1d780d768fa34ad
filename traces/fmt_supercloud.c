/* fmt_supercloud.c - slurm-log.csv of the MIT Supercloud dataset (Samsi et al., HPEC 2021): rows of
 * Slurm's database with epoch seconds, numeric states and numeric TRES lists, in which 1001 and
 * 1002 are GPUs (one number for each kind; --gpu-tres names others). 0 in a time means not set;
 * timelimit, where it is exported, is in minutes. The time series beside it are not read. */
#include "traces/slurm_job.h"

#include "base/dec.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    COL_id,
    COL_submit,
    COL_start,
    COL_end,
    COL_state,
    COL_alloc,
    REQUIRED,
    COL_req = REQUIRED,
    COL_nodes,
    COL_cpus,
    COL_user,
    COL_limit,
    COLUMNS
};
static const char *const columns[COLUMNS] = { "id_job",   "time_submit", "time_start",
                                              "time_end", "state",       "tres_alloc",
                                              "tres_req", "nodes_alloc", "cpus_req",
                                              "id_user",  "timelimit" };

/* enum job_states of slurm.h. */
static const char *const state_words[] = { "PENDING",   "RUNNING",   "SUSPENDED", "COMPLETED",
                                           "CANCELLED", "FAILED",    "TIMEOUT",   "NODE_FAIL",
                                           "PREEMPTED", "BOOT_FAIL", "DEADLINE",  "OUT_OF_MEMORY" };

static const struct opt opts[] = { SLURM_OPTS("supercloud"), { 0 } };

struct supercloud {
    struct table t;
    struct slurm_options options; /* with the dataset's GPU numbers */
    struct slurm_file *slurm;
};

static void supercloud_close(void *state)
{
    struct supercloud *s = state;
    if (!s) return;
    table_close(&s->t);
    slurm_file_close(s->slurm);
    free(s);
}

static int supercloud_open(void **state, const char *path, const void *options,
                           struct symtab *names, struct import_info *info, struct err *e)
{
    struct supercloud *s = xcalloc(1, sizeof *s);
    s->options = *(const struct slurm_options *)options;
    if (!s->options.gpu_tres) s->options.gpu_tres = "1001,1002";
    int rc = slurm_file_open(&s->slurm, &s->options, names, info, e);
    if (rc == 0) rc = table_open(&s->t, path, ',', "supercloud", columns, REQUIRED, COLUMNS, e);
    if (rc < 0) {
        supercloud_close(s);
        return rc;
    }
    info->from_zero = true;
    *state = s;
    return 0;
}

/* A count that may carry ".0"; -1 when missing. */
static int64_t number(const struct supercloud *s, int column, struct import_row *row)
{
    int64_t v = -1;
    const struct csv_field f = table_cell(&s->t, column);
    if (cell_missing(&f)) return -1;
    enum dec_status st = dec_fixed_exact(f.s, f.len, 0, &v);
    if (st == DEC_OK && v >= 0) return v;
    import_quarantine(row, &import_bad_value, "%s: %s", columns[column],
                      st == DEC_OK ? "negative" : dec_why(st));
    return -1;
}

static simtime epoch(const struct supercloud *s, int column, struct import_row *row)
{
    const int64_t v = number(s, column, row);
    return v <= 0 || v > (int64_t)SIM_MAX_S ? JOB_NO_TIME : v * SIM_SECOND;
}

static void limit(const struct supercloud *s, struct slurm_record *r, struct import_row *row)
{
    const int64_t minutes = number(s, COL_limit, row), infinite = INT64_C(4294967295);
    r->limit_kind = LIMIT_UNKNOWN;
    if (minutes == infinite) r->limit_kind = LIMIT_NONE;
    if (minutes <= 0 || minutes >= infinite - 1 || minutes > 150000000) return;
    r->limit_kind = LIMIT_SET;
    r->limit = minutes * 60 * SIM_SECOND;
}

static int supercloud_next(void *state, struct import_row *row, struct err *e)
{
    struct supercloud *s = state;
    struct slurm_record r = { .elapsed = JOB_NO_TIME, .mem_bytes = -1, .priority = -1 };
    int rc = table_next(&s->t, row, e);
    if (rc == 0) return slurm_file_end(s->slurm, csv_file(s->t.csv), e);
    if (rc < 0 || row->quarantined) return rc;
    const struct csv_field id = table_cell(&s->t, COL_id), user = table_cell(&s->t, COL_user),
                           alloc = table_cell(&s->t, COL_alloc), req = table_cell(&s->t, COL_req);
    const int64_t code = number(s, COL_state, row);
    if (code >= 0 && code < (int64_t)(sizeof state_words / sizeof *state_words)) {
        r.state = state_words[code];
        r.state_len = strlen(r.state);
    } else {
        import_quarantine(row, &import_bad_value, "state: no number of a state: %lld",
                          (long long)code);
    }
    r.id = id.s, r.id_len = id.len;
    r.user = user.s, r.user_len = user.len;
    r.alloc_tres = alloc.s, r.alloc_tres_len = alloc.len;
    r.req_tres = s->t.column_of[COL_req] >= 0 ? req.s : NULL, r.req_tres_len = req.len;
    r.submit = epoch(s, COL_submit, row);
    r.start = epoch(s, COL_start, row);
    r.end = epoch(s, COL_end, row);
    r.nodes = number(s, COL_nodes, row);
    r.cpus = number(s, COL_cpus, row);
    limit(s, &r, row);
    slurm_convert(s->slurm, &r, row);
    return 1;
}

static void supercloud_settle(void *state, struct import_row *row)
{
    slurm_settle(((struct supercloud *)state)->slurm, row);
}

static void supercloud_facts(const void *state, json_t *into)
{
    slurm_file_facts(((const struct supercloud *)state)->slurm, into);
}

static int supercloud_sniff(const char *head, size_t len)
{
    return header_has(head, len, ',', columns, REQUIRED) ? 90 : 0;
}

const struct trace_format fmt_supercloud = {
    .name = "supercloud",
    .help = "slurm-log.csv of the MIT Supercloud dataset",
    .opts = opts,
    .options_size = sizeof(struct slurm_options),
    .sniff = supercloud_sniff,
    .open = supercloud_open,
    .next = supercloud_next,
    .close = supercloud_close,
    .settle = supercloud_settle,
    .facts = supercloud_facts,
};
