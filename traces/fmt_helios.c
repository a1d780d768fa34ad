/* fmt_helios.c - cluster_log.csv of SenseTime's Helios (S-Lab-System-Group/HeliosData; Hu et al., SC
 * 2021): local clocks of a zone without daylight saving (China, UTC+8), duration in seconds. More
 * than half of the rows ask for no GPU (--cpu-jobs drop); each job belongs to a virtual cluster,
 * which is handed on as its group. */
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

static const struct opt opts[] = { SLURM_CSV_OPTS("helios"), { 0 } };

static int helios_open(void **state, const char *path, const void *options, struct symtab *names,
                       struct import_info *info, struct err *e)
{
    return slurm_csv_open(state, &helios, path, options, names, info, e);
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
