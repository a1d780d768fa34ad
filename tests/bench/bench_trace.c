/* bench_trace.c - how fast the native reader turns CSV into struct job_row, beside a plain count of
 * newlines over the same bytes in the same run (the least that any reader must do).
 * Usage: bench_trace [ROWS]. Prints rows/s, MB/s and the ratio for a narrow and a wide trace. */
#include "base/mem.h"
#include "model/trace.h"
#include "traces/format.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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
    double start = now_s();
    if (trace_open(&t, path, names, &e) < 0) BUG("%s", e.msg);
    int rc;
    while ((rc = trace_next(t, &r, &e)) > 0) n++, sum += (uint64_t)r.duration;
    double took = now_s() - start;
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
    double start = now_s();
    while ((got = read(fd, buf, CHUNK)) > 0)
        for (const char *p = buf, *end = buf + got; (p = memchr(p, '\n', (size_t)(end - p))); p++)
            n++;
    double took = now_s() - start;
    if (n != lines) BUG("counted %ld of %ld lines", n, lines);
    close(fd);
    free(buf);
    return took;
}

static void bench(const char *what, long rows, unsigned columns)
{
    char path[64];
    struct stat st;
    int fd = memfd_create("bench_trace", 0);
    if (fd < 0) BUG("memfd_create");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    FILE *to = fopen(path, "w");
    if (!to) BUG("fopen %s", path);
    write_trace(to, rows, columns);
    if (fclose(to) || fstat(fd, &st)) BUG("cannot write the trace");
    double read_s = 1e9, count_s = 1e9;
    for (int i = 0; i < 3; i++) {
        double a = time_reader(path, rows), b = time_memchr(path, rows + 2);
        if (a < read_s) read_s = a;
        if (b < count_s) count_s = b;
    }
    printf("%-7s %8ld rows %6.1f MB  %6.2f M rows/s  %6.0f MB/s  memchr count %6.0f MB/s  ratio "
           "%.3f\n",
           what, rows, (double)st.st_size / 1e6, (double)rows / read_s / 1e6,
           (double)st.st_size / read_s / 1e6, (double)st.st_size / count_s / 1e6, count_s / read_s);
    close(fd);
}

/* The SWF importer: rows to struct job_row, without the account. Target: 50 MB/s. */
static void bench_swf(long rows)
{
    char path[64];
    struct stat st;
    int fd = memfd_create("bench_swf", 0);
    if (fd < 0) BUG("memfd_create");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    FILE *to = fopen(path, "w");
    if (!to) BUG("fopen %s", path);
    fputs("; MaxProcs: 1024\n", to);
    for (long i = 0; i < rows; i++)
        fprintf(to, "%7ld %9ld %6ld %6ld %4ld %9.2f -1 %4ld %6d -1 1 %3ld %3ld -1 -1 1 -1 -1\n",
                i + 1, 17 * i, i % 977, i % 86400, i % 128 + 1, (double)(i % 8641) / 7, i % 128 + 1,
                86400, i % 250, i % 16);
    if (fclose(to) || fstat(fd, &st)) BUG("cannot write the trace");
    const struct trace_format *swf = format_find("swf");
    const struct {
        max_align_t align;
        unsigned char bytes[64];
    } options = { .bytes = { 0 } };
    struct symtab *names = symtab_create();
    struct import_stream *s;
    struct import_info info;
    struct import_row row;
    struct err e = { 0 };
    long n = 0;
    double start = now_s();
    if (import_open(&s, swf, path, &options, names, &info, &e) < 0) BUG("%s", e.msg);
    while (import_next(s, &row, &e) > 0) n += !row.quarantined;
    double took = now_s() - start;
    if (n != rows) BUG("read %ld of %ld rows: %s", n, rows, e.msg);
    printf("swf     %8ld rows %6.1f MB  %6.2f M rows/s  %6.0f MB/s\n", rows,
           (double)st.st_size / 1e6, (double)rows / took / 1e6, (double)st.st_size / took / 1e6);
    import_close(s);
    symtab_destroy(names);
    close(fd);
}

/* The sacct importer, likewise, with the columns that the error messages ask for. Target: 50 MB/s. */
static void bench_sacct(long rows)
{
    char path[64];
    struct stat st;
    int fd = memfd_create("bench_sacct", 0);
    if (fd < 0) BUG("memfd_create");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    FILE *to = fopen(path, "w");
    if (!to) BUG("fopen %s", path);
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
    if (fclose(to) || fstat(fd, &st)) BUG("cannot write the trace");
    const struct trace_format *sacct = format_find("sacct");
    const struct {
        max_align_t align;
        unsigned char bytes[256];
    } options = { .bytes = { 0 } };
    struct symtab *names = symtab_create();
    struct import_stream *s;
    struct import_info info;
    struct import_row row;
    struct err e = { 0 };
    long n = 0;
    double start = now_s();
    if (import_open(&s, sacct, path, &options, names, &info, &e) < 0) BUG("%s", e.msg);
    while (import_next(s, &row, &e) > 0) n += !row.quarantined;
    double took = now_s() - start;
    if (n != rows) BUG("read %ld of %ld rows: %s", n, rows, e.msg);
    printf("sacct   %8ld rows %6.1f MB  %6.2f M rows/s  %6.0f MB/s\n", rows,
           (double)st.st_size / 1e6, (double)rows / took / 1e6, (double)st.st_size / took / 1e6);
    import_close(s);
    symtab_destroy(names);
    close(fd);
}

int main(int argc, char **argv)
{
    long rows = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    if (rows < 1) return 2;
    bench("narrow", rows, TRACE_REQUIRED);
    bench("wide", rows,
          TRACE_COL(cpus) | TRACE_COL(mem_bytes) | TRACE_COL(user) | TRACE_COL(group) |
              TRACE_COL(class) | TRACE_COL(status) | TRACE_COL(walltime_s));
    bench_swf(rows);
    bench_sacct(rows);
    return 0;
}
