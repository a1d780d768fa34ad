#include "traces/sacct_columns.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    int col;
} column_names[] = {
    { "jobid", COL_id },
    { "jobidraw", COL_id_raw },
    { "state", COL_state },
    { "submit", COL_submit },
    { "start", COL_start },
    { "end", COL_end },
    { "elapsed", COL_elapsed },
    { "elapsedraw", COL_elapsed_raw },
    { "alloctres", COL_alloc_tres },
    { "reqtres", COL_req_tres },
    { "allocgres", COL_alloc_gres },
    { "reqgres", COL_req_gres },
    { "nnodes", COL_nodes },
    { "allocnodes", COL_nodes },
    { "ncpus", COL_cpus },
    { "alloccpus", COL_cpus },
    { "reqcpus", COL_req_cpus },
    { "reqmem", COL_mem },
    { "timelimit", COL_limit },
    { "timelimitraw", COL_limit_raw },
    { "user", COL_user },
    { "account", COL_account },
    { "priority", COL_priority },
    { "jobname", COL_text },
    { "name", COL_text },
    { "comment", COL_text },
    { "admincomment", COL_text },
    { "systemcomment", COL_text },
    { "submitline", COL_text },
    { "workdir", COL_text },
    { "container", COL_text },
    { "extra", COL_text },
    { "stdin", COL_text },
    { "stdout", COL_text },
    { "stderr", COL_text },
    { "failednode", COL_text },
};

/* The other fields of `sacct --helpformat`, so that a misspelt one in --columns is told. */
static const char *const other_names[] = {
    /* clang-format off */
    "-", "associd", "avecpu", "avecpufreq", "avediskread", "avediskwrite", "avepages", "averss",
    "avevmsize", "blockid", "cluster", "constraints", "consumedenergy", "consumedenergyraw",
    "cputime", "cputimeraw", "dbindex", "derivedexitcode", "eligible", "exitcode", "flags", "gid",
    "group", "layout", "licenses", "maxdiskread", "maxdiskreadnode", "maxdiskreadtask",
    "maxdiskwrite", "maxdiskwritenode", "maxdiskwritetask", "maxpages", "maxpagesnode",
    "maxpagestask", "maxrss", "maxrssnode", "maxrsstask", "maxvmsize", "maxvmsizenode",
    "maxvmsizetask", "mcslabel", "mincpu", "mincpunode", "mincputask", "nodelist", "ntasks",
    "partition", "planned", "plannedcpu", "plannedcpuraw", "qos", "qosraw", "qosreq", "reason",
    "reqcpufreq", "reqcpufreqgov", "reqcpufreqmax", "reqcpufreqmin", "reqnodes", "reservation",
    "reservationid", "reserved", "resvcpu", "resvcpuraw", "restarts", "segmentsize", "sluid",
    "suspended", "systemcpu", "totalcpu", "tresusageinave", "tresusageinmax",
    "tresusageinmaxnode", "tresusageinmaxtask", "tresusageinmin", "tresusageinminnode",
    "tresusageinmintask", "tresusageintot", "tresusageoutave", "tresusageoutmax",
    "tresusageoutmaxnode", "tresusageoutmaxtask", "tresusageoutmin", "tresusageoutminnode",
    "tresusageoutmintask", "tresusageouttot", "uid", "usercpu", "wckey", "wckeyid",
    /* clang-format on */
};

size_t sacct_name_len(const char *s, size_t len)
{
    const char *percent = memchr(s, '%', len); /* "JobName%30" */
    return percent ? (size_t)(percent - s) : len;
}

int sacct_column(const char *s, size_t len)
{
    len = sacct_name_len(s, len);
    for (size_t i = 0; i < sizeof column_names / sizeof *column_names; i++)
        if (strlen(column_names[i].name) == len && strncasecmp(column_names[i].name, s, len) == 0)
            return column_names[i].col;
    return COL_other;
}

int sacct_known_name(const char *name, size_t len, struct err *e)
{
    enum {
        KNOWN = sizeof column_names / sizeof *column_names,
        OTHERS = sizeof other_names / sizeof *other_names
    };
    const char *all[KNOWN + OTHERS];
    char text[80];
    if (sacct_column(name, len) != COL_other) return 0;
    len = sacct_name_len(name, len);
    for (size_t i = 0; i < OTHERS; i++)
        if (strlen(other_names[i]) == len && strncasecmp(other_names[i], name, len) == 0) return 0;
    for (size_t i = 0; i < KNOWN; i++) all[i] = column_names[i].name;
    memcpy(all + KNOWN, other_names, sizeof other_names);
    snprintf(text, sizeof text, "%.*s", (int)(len < 79 ? len : 79), name);
    int rc = err_set(e, ERR_USAGE, NULL, "--columns: sacct has no column \"%s\"", text);
    const char *near = str_nearest(text, all, KNOWN + OTHERS);
    err_hint(e, near ? "did you mean \"%s\"?" : "\"-\" stands for a column that does not matter",
             near);
    return rc;
}
