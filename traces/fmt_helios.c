/* fmt_helios.c - cluster_log.csv of SenseTime's Helios (S-Lab-System-Group/HeliosData; Hu et al.,
 * SC 2021): local clocks of a zone without daylight saving (China, UTC+8), duration in seconds.
 * More than half of the rows ask for no GPU (--cpu-jobs drop); each job belongs to a virtual
 * cluster, which is handed on as its group.
 *
 * The cards of the cluster change by day and by virtual cluster: --vc-gpus FILE
 * (cluster_gpu_number.csv: date, a column for each virtual cluster, total) gives the capacity, the
 * mean of its days' totals, and says between what it moves. */
#include "traces/slurm_csv.h"

static const struct slurm_csv_format helios = {
    .name = "helios",
    .columns = { [PART_id] = "job_id",
                 [PART_submit] = "submit_time",
                 [PART_start] = "start_time",
                 [PART_end] = "end_time",
                 [PART_gpus] = "gpu_num",
                 [PART_state] = "state",
                 [PART_run] = "duration",
                 [PART_user] = "user",
                 [PART_group] = "vc",
                 [PART_cpus] = "cpu_num",
                 [PART_nodes] = "node_num" },
    .zone = "Asia/Shanghai",
};

static const struct opt opts[] = {
    SLURM_CSV_OPTS("helios"),
    { "vc-gpus", 0, OPT_TEXT, offsetof(struct slurm_options, nodes), "FILE",
      "helios: cluster_gpu_number.csv, the cards by day: their mean is the capacity", NULL },
    { 0 },
};

enum { DAY_date, DAY_total, DAY_COLUMNS };
static const char *const day_columns[DAY_COLUMNS] = { "date", "total" };

/* The capacity of the days in the file, and a word on how it moves. */
static int read_days(const char *path, struct import_info *info, struct err *e)
{
    struct table t = { 0 };
    struct import_row row = { 0 };
    int64_t days = 0, sum = 0, least = INT64_MAX, most = 0, n;
    int rc = table_open(&t, path, ',', "helios capacity", day_columns, DAY_COLUMNS, DAY_COLUMNS, e);
    while (rc == 0 && (rc = table_next(&t, &row, e)) > 0) {
        if (row.quarantined || !table_whole(&t, DAY_total, "total", 100000000, &n, &row)) {
            rc = csv_error(t.csv, &t.row, NULL, e, "%s: %s", row.quarantined->text, row.detail);
            break;
        }
        days++;
        sum += n;
        if (n < least) least = n;
        if (n > most) most = n;
        rc = 0;
    }
    table_close(&t);
    if (rc < 0) return rc;
    const struct loc at = { .file = path };
    if (days == 0) return err_set(e, ERR_INPUT, &at, "expected a row for each day, found none");
    info->capacity_milli = (sum * 1000 + days / 2) / days;
    if (most > least)
        snprintf(info->note, sizeof info->note,
                 "the capacity is the mean of %lld days: it moves between %lld and %lld cards",
                 (long long)days, (long long)least, (long long)most);
    return 0;
}

static int helios_open(void **state, const char *path, const void *options, struct symtab *names,
                       struct import_info *info, struct err *e)
{
    const struct slurm_options *o = options;
    int rc = o->nodes ? read_days(o->nodes, info, e) : 0;
    return rc < 0 ? rc : slurm_csv_open(state, &helios, path, options, names, info, e);
}

static int helios_sniff(const char *head, size_t len)
{
    static const char *const names[] = {
        "job_id", "vc", "gpu_num", "state", "submit_time", "queue"
    };
    return header_has(head, len, ',', names, 6) ? 90 : 0;
}

const struct trace_format fmt_helios = {
    .name = "helios",
    .help = "cluster_log.csv of SenseTime Helios",
    .opts = opts,
    .sniff = helios_sniff,
    .open = helios_open,
    SLURM_CSV_FUNCTIONS,
};
