/* bench_trace.c - how fast readers turn text into struct job_row: the native one (ratio: to a
 * plain count of newlines over the same bytes in the same run, the least that any reader must
 * do; goal 150 MB/s), SWF and sacct without the account (ratio: to the goal of 50 MB/s). Usage:
 * bench_trace [ROWS]. */
#include "base/mem.h"
#include "model/trace.h"
#include "tests/bench/bench.h"
#include "traces/format.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_trace(FILE *to, long rows, unsigned columns)
{
    struct symtab *names = symtab_create();
    struct job_row r;
    char id[32], user[16];
    uint64_t x = 1;
    trace_write_header(to, columns, "gpusim-trace/1 origin=bench");
    job_row_init(&r);
    for (long i = 0; i < rows; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        r.id = id;
        r.id_len = (size_t)snprintf(id, sizeof id, "job-%07ld", i);
        r.submit += (simtime)(x >> 40);
        r.duration = (simtime)(x >> 20);
        r.gpus_milli = x >> 63 ? 250 : 1000 * (int)((x >> 60) + 1);
        r.cpus_milli = 1000 * (int)(x >> 58 & 63);
        r.mem_bytes = (x >> 58) << 30;
        snprintf(user, sizeof user, "user%u", (unsigned)(x >> 56));
        r.user = symtab_addz(names, user);
        r.group = symtab_addz(names, "group");
        r.klass = CLASS_training;
        r.status = STATUS_completed;
        r.walltime = 86400 * SIM_SECOND;
        trace_write_row(to, columns, &r, names);
    }
    symtab_destroy(names);
}

static double time_reader(const char *path, long rows)
{
    struct symtab *names = symtab_create();
    struct trace_reader *t;
    struct job_row r;
    struct err e = { 0 };
    long n = 0;
    uint64_t sum = 0;
    double start = bench_now_s();
    if (trace_open(&t, path, names, &e) < 0) BUG("%s", e.msg);
    int rc;
    while ((rc = trace_next(t, &r, &e)) > 0) n++, sum += (uint64_t)r.duration;
    double took = bench_now_s() - start;
    if (rc < 0 || n != rows || sum == 0) BUG("read %ld of %ld rows: %s", n, rows, e.msg);
    trace_close(t);
    symtab_destroy(names);
    return took;
}

static double time_memchr(const char *path, long lines)
{
    enum { CHUNK = 1 << 18 };
    char *buf = xmalloc(CHUNK);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    long n = 0;
    ssize_t got;
    double start = bench_now_s();
    while ((got = read(fd, buf, CHUNK)) > 0)
        for (const char *p = buf, *end = buf + got; (p = memchr(p, '\n', (size_t)(end - p))); p++)
            n++;
    double took = bench_now_s() - start;
    if (n != lines) BUG("counted %ld of %ld lines", n, lines);
    close(fd);
    free(buf);
    return took;
}

/* A file in memory; its path, good while it is open. */
struct memory_file {
    FILE *to;
    char path[64];
};

static struct memory_file memory_file(void)
{
    struct memory_file m;
    const int fd = memfd_create("bench_trace", 0);
    if (fd < 0) BUG("memfd_create");
    snprintf(m.path, sizeof m.path, "/proc/self/fd/%d", fd);
    m.to = fdopen(fd, "w");
    if (!m.to) BUG("fdopen %s", m.path);
    return m;
}

static double megabytes(const struct memory_file *m)
{
    struct stat st;
    if (fflush(m->to) || fstat(fileno(m->to), &st)) BUG("cannot write the trace");
    return (double)st.st_size / 1e6;
}

static void say(const char *what, const char *unit, double value, double reference)
{
    char name[64];
    snprintf(name, sizeof name, "read %s", what);
    bench_print(name, value, unit, reference);
}

static void bench(const char *what, long rows, unsigned columns)
{
    struct memory_file m = memory_file();
    write_trace(m.to, rows, columns);
    const double mb = megabytes(&m);
    double read_s = 1e9, count_s = 1e9;
    for (int i = 0; i < 3; i++) {
        double a = time_reader(m.path, rows), b = time_memchr(m.path, rows + 2);
        if (a < read_s) read_s = a;
        if (b < count_s) count_s = b;
    }
    say(what, "M rows/s", (double)rows / read_s / 1e6, 0);
    say(what, "MB/s", mb / read_s, mb / count_s);
    fclose(m.to);
}

static void write_swf(FILE *to, long rows)
{
    fputs("; MaxProcs: 1024\n", to);
    for (long i = 0; i < rows; i++)
        fprintf(to, "%7ld %9ld %6ld %6ld %4ld %9.2f -1 %4ld %6d -1 1 %3ld %3ld -1 -1 1 -1 -1\n",
                i + 1, 17 * i, i % 977, i % 86400, i % 128 + 1, (double)(i % 8641) / 7, i % 128 + 1,
                86400, i % 250, i % 16);
}

/* With the columns that the error messages ask for. */
static void write_sacct(FILE *to, long rows)
{
    fputs(
        "JobID|JobName|State|Submit|Start|End|Elapsed|AllocTRES|ReqTRES|NNodes|AllocCPUS|Timelimit|"
        "User|Account\n",
        to);
    for (long i = 0; i < rows; i++) {
        const int s = (int)(i % 60), m = (int)(i / 60 % 60), h = (int)(i / 3600 % 12);
        fprintf(
            to,
            "%ld|train-%ld|COMPLETED|2024-03-01T%02d:%02d:%02d|2024-03-01T%02d:%02d:%02d|"
            "2024-03-01T%02d:%02d:%02d|01:00:00|billing=16,cpu=16,gres/gpu:a100=%ld,gres/gpu=%ld,"
            "mem=128G,node=1|billing=16,cpu=16,gres/gpu=%ld,mem=128G,node=1|1|16|1-00:00:00|"
            "user%ld|group%ld\n",
            i + 1, i % 97, h, m, s, h + 1, m, s, h + 2, m, s, i % 8 + 1, i % 8 + 1, i % 8 + 1,
            i % 250, i % 16);
    }
}

/* An importer: rows to struct job_row, without the account. */
static void bench_import(const char *format, long rows, void write(FILE *, long))
{
    struct memory_file m = memory_file();
    write(m.to, rows);
    const double mb = megabytes(&m);
    const struct trace_format *f = format_find(format);
    void *options = xcalloc(1, f->options_size + 1);
    struct symtab *names = symtab_create();
    struct import_stream *s;
    struct import_info info;
    struct import_row row;
    struct err e = { 0 };
    long n = 0;
    const double start = bench_now_s();
    if (import_open(&s, f, m.path, options, names, &info, &e) < 0) BUG("%s", e.msg);
    while (import_next(s, &row, &e) > 0) n += !row.quarantined;
    const double took = bench_now_s() - start;
    if (n != rows) BUG("read %ld of %ld rows: %s", n, rows, e.msg);
    say(format, "M rows/s", (double)rows / took / 1e6, 0);
    say(format, "MB/s", mb / took, 50);
    import_close(s);
    symtab_destroy(names);
    free(options);
    fclose(m.to);
}

int main(int argc, char **argv)
{
    long rows = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    if (rows < 1) return 2;
    bench("native, narrow", rows, TRACE_REQUIRED);
    bench("native, wide", rows,
          TRACE_COL(cpus) | TRACE_COL(mem_bytes) | TRACE_COL(user) | TRACE_COL(group) |
              TRACE_COL(class) | TRACE_COL(status) | TRACE_COL(walltime_s));
    bench_import("swf", rows, write_swf);
    bench_import("sacct", rows, write_sacct);
    return 0;
}
