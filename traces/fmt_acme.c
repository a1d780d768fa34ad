/* fmt_acme.c - trace_seren.csv and trace_kalos.csv of Shanghai AI Lab's Acme (InternLM/AcmeTrace;
 * Hu et al., NSDI 2024). Clocks carry their offset (+08:00 in Seren, +00:00 in Kalos). Kalos'
 * duration is end - submit, so run times come from the clocks in both; how many durations differ is
 * a fact of the account. The type of a job becomes its group and its class. */
#include "traces/slurm_csv.h"

#include <string.h>

static enum job_class class_of(const char *s, size_t len)
{
    static const struct {
        const char *type;
        enum job_class klass;
    } types[] = { { "Pretrain", CLASS_training },
                  { "SFT", CLASS_training },
                  { "MLLM", CLASS_training },
                  { "Eval", CLASS_inference },
                  { "Debug", CLASS_dev } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].type) == len && memcmp(types[i].type, s, len) == 0)
            return types[i].klass;
    return CLASS_none; /* Other */
}

static const struct slurm_csv_format acme = {
    .name = "acme",
    .columns = { [PART_id] = "job_id",
                 [PART_submit] = "submit_time",
                 [PART_start] = "start_time",
                 [PART_end] = "end_time",
                 [PART_gpus] = "gpu_num",
                 [PART_state] = "state",
                 [PART_run] = "duration",
                 [PART_user] = "user",
                 [PART_cpus] = "cpu_num",
                 [PART_nodes] = "node_num",
                 [PART_mem_node] = "mem_per_pod_GB",
                 [PART_kind] = "type" },
    .zone = "UTC",
    .run_from_clocks = true,
    .class_of = class_of,
};

static const struct opt opts[] = { SLURM_CSV_OPTS("acme"), { 0 } };

static int acme_open(void **state, const char *path, const void *options, struct symtab *names,
                     struct import_info *info, struct err *e)
{
    return slurm_csv_open(state, &acme, path, options, names, info, e);
}

static int acme_sniff(const char *head, size_t len)
{
    static const char *const names[] = { "job_id", "gpu_num",     "type",
                                         "state",  "submit_time", "gpu_time" };
    return header_has(head, len, ',', names, 6) ? 90 : 0;
}

const struct trace_format fmt_acme = {
    .name = "acme",
    .help = "job traces of Shanghai AI Lab's Acme (Seren, Kalos)",
    .opts = opts,
    .sniff = acme_sniff,
    .open = acme_open,
    SLURM_CSV_FUNCTIONS,
};
