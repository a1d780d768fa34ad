/* fmt_muri.c - job lists of Muri (Zhao et al., SIGCOMM 2022; Rivendile/Muri): the Tiresias columns
 * and resource_time_0..2, priority. Times are MILLISECONDS, although the columns are named as in
 * Tiresias.
 *
 * `interval` fits neither neighbour (jobs were taken out) and iterations x iteration_time is not
 * the duration: both are ignored. The authors' result files are in seconds and have other columns;
 * they are read as `tiresias`. */
#include "traces/joblist.h"

static const struct joblist_dialect muri = {
    .name = "muri",
    .ms = true,
    .doubt = "no \"resource_time_0\": a Muri trace is in milliseconds, this may not be",
    .hint = "say --unit ms or --unit s; `tiresias` reads the same columns in seconds",
};

static const struct opt opts[] = {
    JOBLIST_OPTS("muri", "unit of submit_time and duration: ms (default), s"), { 0 }
};

static int muri_open(void **state, const char *path, const void *options, struct symtab *names,
                     struct import_info *info, struct err *e)
{
    return joblist_start(state, &muri, path, options, names, info, e);
}

static int muri_sniff(const char *head, size_t len)
{
    return joblist_header(head, len, true) ? 90 : 0;
}

const struct trace_format fmt_muri = {
    .name = "muri",
    .help = "Muri job list (SIGCOMM 2022): the Tiresias columns in milliseconds",
    .opts = opts,
    .options_size = sizeof(struct joblist_options),
    .sniff = muri_sniff,
    .open = muri_open,
    .next = joblist_row,
    .close = joblist_end,
};
