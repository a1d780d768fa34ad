/* sniff.c - what a file is by its first bytes: one of the formats, or one of the things that people
 * hand in by mistake. Nothing is said on the ground of a file's name. */
#include "base/dec.h"
#include "base/instream.h"
#include "base/mem.h"
#include "base/str.h"
#include "traces/format.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 1 << 16 };

static int read_head(const char *path, char *head, size_t *len, struct err *e)
{
    struct instream *in;
    ssize_t n;
    *len = 0;
    int rc = instream_open(&in, path, e);
    if (rc < 0) return rc;
    while (*len < HEAD_BYTES && (n = instream_read(in, head + *len, HEAD_BYTES - *len, e)) != 0) {
        if (n < 0) {
            instream_close(in);
            return (int)n;
        }
        *len += (size_t)n;
    }
    instream_close(in);
    return 0;
}

/* ---- what is no trace ----------------------------------------------------------------------- */

/* Told by bytes at a place. */
static const struct {
    size_t at, len;
    const char *bytes, *what;
} magics[] = {
    { 0, 4, "%PDF", "a PDF document" },
    { 0, 4, "PK\x03\x04", "a zip archive (or an office document): unpack it" },
    { 0, 3, "BZh", "bzip2-compressed data: unpack it (gzip, xz and zstd are read as they are)" },
    { 0, 4, "\x04\x22\x4d\x18",
      "lz4-compressed data: unpack it (gzip, xz and zstd are read as they are)" },
    { 0, 4, "7z\xbc\xaf", "a 7z archive: unpack it" },
    { 257, 5, "ustar", "a tar archive: unpack it" },
    { 0, 4, "PAR1", "a Parquet table: export it as CSV" },
    { 0, 6, "SQLite", "an SQLite database: export the table as CSV" },
    { 0, 8, "\x89HDF\r\n\x1a\n", "an HDF5 file: export it as CSV" },
};

/* Told by the first line: how it starts, and a word in it. */
static const struct {
    const char *prefix, *within, *what;
} first_lines[] = {
    { "", "<!DOCTYPE html", "an HTML page" },
    { "", "<!doctype html", "an HTML page" },
    { "", "<html", "an HTML page" },
    { "<", NULL, "XML or HTML" },
    { "{", NULL, "JSON" },
    { "[", NULL, "JSON" },
    { "# HELP", NULL, "Prometheus metrics" },
    { "apiVersion:", NULL, "a Kubernetes object in YAML" },
    { "", "JobID|", "Slurm accounting (sacct)" },
    { "", "JobIDRaw|", "Slurm accounting (sacct)" },
    { "", "resource_time_0", "a Muri trace" },
    { "sn,cpu_milli,memory_mib,gpu", NULL,
      "a list of nodes (openb): it goes with --nodes FILE beside the pods" },
    /* what lies beside the traces */
    { "job_name,inst_id,user", NULL, "PAI's job table: it goes with --job FILE beside the tasks" },
    { "job_name,task_name,inst_name", NULL,
      "PAI's instance table: it goes with --instance FILE beside the tasks" },
    { "job_name,task_name,worker_name", NULL, "PAI's sensor table: no jobs, but measurements" },
    { "HashOwner,HashApp,HashFunction,Average,", NULL,
      "Azure Functions' durations: they go with --durations FILE beside the invocations" },
    { "HashOwner,HashApp,", "AverageAllocatedMb", "Azure Functions' memory table" },
    { "date,", ",total",
      "cards by day and virtual cluster (Helios): they go with --vc-gpus FILE beside the log" },
    { "machineId,number of GPUs", NULL,
      "Philly's list of machines (which does not agree with its job log)" },
    { "time,machineId,gpu0_util", NULL, "Philly's GPU utilisation" },
    { "num_switch,num_node_p_switch", NULL,
      "a cluster of the Tiresias simulator: nodes and cards, no jobs" },
    { "ip,DSW,PSW,ASW", NULL, "a network topology (Alibaba Lingjun)" },
    { "name,time,application,num_replicas", NULL,
      "a Pollux or Sia workload: it holds no durations, which their goodput model would give" },
    { "", "schedule_delay_sec",
      "Alibaba ASI's summary of executions: it has no submit times, so no arrivals to replay" },
    { "", "timestamp_anon", "Alibaba GenTD26: measurements of containers, no jobs" },
};

enum { CELLS = 9 };

/* The cells of a line, blanks around them taken off; how many there are, CELLS at most. */
static size_t split(const char *line, size_t len, char delimiter, struct csv_field *f)
{
    size_t n = 0;
    for (size_t at = 0; n < CELLS; n++) {
        const char *d = memchr(line + at, delimiter, len - at);
        const size_t stop = d ? (size_t)(d - line) : len;
        f[n] = (struct csv_field){ .s = line + at, .len = stop - at };
        while (f[n].len > 0 && strchr(" \r", f[n].s[0])) f[n].s++, f[n].len--;
        while (f[n].len > 0 && strchr(" \r", f[n].s[f[n].len - 1])) f[n].len--;
        if (!d) return n + 1;
        at = stop + 1;
    }
    return n;
}

/* Lists of machines, which have no header: PAI's (name, card, cores, GiB, GPUs) and those beside
 * SWF logs (number, name, nodes, cores, ...). */
static const char *machines(const char *line, size_t len)
{
    struct csv_field f[CELLS];
    int64_t v;
    bool number[CELLS];
    size_t n = split(line, len, ',', f);
    for (size_t i = 0; i < n; i++) number[i] = dec_fixed(f[i].s, f[i].len, 0, &v) == DEC_OK;
    if (n == 5 && f[0].len >= 16 && !number[1] && f[1].len >= 2 && f[1].s[0] >= 'A' &&
        f[1].s[0] <= 'Z' && number[2] && number[3] && number[4])
        return "a list of machines (PAI's machine_spec)";
    n = split(line, len, '\t', f);
    for (size_t i = 0; i < n; i++) number[i] = dec_fixed(f[i].s, f[i].len, 0, &v) == DEC_OK;
    if (n >= 5 && n <= 8 && number[0] && !number[1] && number[2] && number[3] && number[4])
        return "a list of machines (as beside SWF logs)";
    return NULL;
}

/* NULL: nothing that is known. */
static const char *other_kind(const char *head, size_t len)
{
    if (len == 0) return "an empty file";
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (len >= magics[i].at + magics[i].len &&
            memcmp(head + magics[i].at, magics[i].bytes, magics[i].len) == 0)
            return magics[i].what;
    if (memchr(head, '\0', len)) return "binary data";
    while (len > 0 && (*head == '\n' || *head == '\r' || *head == ' ')) head++, len--;
    const char *nl = memchr(head, '\n', len);
    const size_t line = nl ? (size_t)(nl - head) : len;
    for (size_t i = 0; i < sizeof first_lines / sizeof *first_lines; i++) {
        const char *prefix = first_lines[i].prefix, *within = first_lines[i].within;
        if (len < strlen(prefix) || memcmp(head, prefix, strlen(prefix)) != 0) continue;
        if (!within || memmem(head, line, within, strlen(within))) return first_lines[i].what;
    }
    return machines(head, line);
}

/* ---- the formats ---------------------------------------------------------------------------- */

static const struct trace_format *surest(const char *head, size_t len)
{
    const struct trace_format *best = NULL;
    int most = 0;
    const size_t skip = len >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (const struct trace_format *const *f = fmt_all; *f; f++) {
        const int sure = (*f)->sniff ? (*f)->sniff(head + skip, len - skip) : 0;
        if (sure > most) most = sure, best = *f;
    }
    return best;
}

static int no_format(const char *path, const char *head, size_t len, struct err *e)
{
    const struct loc at = { .file = path };
    struct strbuf list = { 0 };
    const char *what = other_kind(head, len);
    for (const struct trace_format *const *f = fmt_all; *f; f++)
        strbuf_addf(&list, "%s%s", f == fmt_all ? "" : ", ", (*f)->name);
    int rc = err_set(e, ERR_INPUT, &at, "expected a trace of jobs or requests, found %s",
                     what ? what : "a file of no known format");
    err_hint(e, "name the format (`gpusim import --format list`): %s", list.s ? list.s : "none");
    strbuf_fini(&list);
    return rc;
}

int format_sniff(const struct trace_format **out, const char *path, struct err *e)
{
    *out = NULL;
    char *head = xmalloc(HEAD_BYTES);
    size_t len;
    int rc = read_head(path, head, &len, e);
    if (rc == 0) {
        *out = surest(head, len);
        if (!*out) rc = no_format(path, head, len, e);
    }
    free(head);
    return rc;
}

void format_explain(const struct trace_format *f, const char *path, struct err *e)
{
    static const char said[] = "; the file looks like ";
    size_t len, at = e ? strlen(e->msg) : 0;
    if (!e || e->code != ERR_INPUT || strstr(e->msg, said)) return;
    char *head = xmalloc(HEAD_BYTES);
    if (read_head(path, head, &len, NULL) == 0) {
        const struct trace_format *is = surest(head, len);
        const char *what = is || len == 0 ? NULL : other_kind(head, len);
        if (is && is != f) {
            snprintf(e->msg + at, sizeof e->msg - at, "%sthe format %s", said, is->name);
            if (!e->hint[0] || strstr(e->hint, "tells formats apart"))
                err_hint(e, "`gpusim import %s %s` reads it: %s", is->name, path, is->help);
        } else if (what) {
            snprintf(e->msg + at, sizeof e->msg - at, "%s%s", said, what);
        }
    }
    free(head);
}
