/* fmt_eagle.c - jobs of NREL's Eagle (NREL/eagle-jobs, data/sample_eagle_data.csv and the full
 * release): Slurm accounting as CSV, local text clocks, seconds. Array tasks share their job_id.
 * mem_req has no documented unit and is left out. */
#include "traces/slurm_csv.h"

static const struct slurm_csv_format eagle = {
    .name = "eagle",
    .columns = { [PART_id] = "job_id",
                 [PART_submit] = "submit_time",
                 [PART_start] = "start_time",
                 [PART_end] = "end_time",
                 [PART_gpus] = "gpus_req",
                 [PART_state] = "state",
                 [PART_run] = "run_time",
                 [PART_user] = "user",
                 [PART_group] = "account",
                 [PART_cpus] = "processors_req",
                 [PART_nodes] = "nodes_req",
                 [PART_limit] = "wallclock_req" },
    .ids_repeat = true,
};

static const struct opt opts[] = { SLURM_CSV_OPTS("eagle"), { 0 } };

static int eagle_open(void **state, const char *path, const void *options, struct symtab *names,
                      struct import_info *info, struct err *e)
{
    return slurm_csv_open(state, &eagle, path, options, names, info, e);
}

static int eagle_sniff(const char *head, size_t len)
{
    static const char *const names[] = { "job_id", "gpus_req", "wallclock_req", "run_time" };
    return header_has(head, len, ',', names, 4) ? 90 : 0;
}

const struct trace_format fmt_eagle = {
    .name = "eagle",
    .help = "jobs of NREL's Eagle: Slurm accounting as CSV",
    .opts = opts,
    .sniff = eagle_sniff,
    .open = eagle_open,
    SLURM_CSV_FUNCTIONS,
};
