/* fmt_tiresias.c - job lists of the Tiresias simulator (SymbioticLab/Tiresias, NSDI 2019) and of
 * the projects that took its columns over (Muri, Chronus): job_id, num_gpu, submit_time, duration
 * by header name, in any order, other columns ignored (traces/joblist.h). Seconds; Muri writes
 * milliseconds and has a format of its own. */
#include "traces/joblist.h"

static const struct joblist_dialect tiresias = {
    .name = "tiresias",
    .ms = false,
    .doubt = "this looks like a Muri trace, whose times are milliseconds",
    .hint = "`gpusim import muri`; or add --unit s if they are seconds after all",
};

static const struct opt opts[] = {
    JOBLIST_OPTS("tiresias", "unit of submit_time and duration: s (default), ms (Muri)"), { 0 }
};

static int tiresias_open(void **state, const char *path, const void *options, struct symtab *names,
                         struct import_info *info, struct err *e)
{
    return joblist_start(state, &tiresias, path, options, names, info, e);
}

static int tiresias_sniff(const char *head, size_t len)
{
    return joblist_header(head, len, false) ? 60 : 0;
}

const struct trace_format fmt_tiresias = {
    .name = "tiresias",
    .help = "Tiresias job list and its kin: job_id, num_gpu, submit_time, duration",
    .opts = opts,
    .options_size = sizeof(struct joblist_options),
    .sniff = tiresias_sniff,
    .open = tiresias_open,
    .next = joblist_row,
    .close = joblist_end,
};
