/* bench_import.c - what `gpusim import` and `gpusim trace stat` need for a large file: seconds
 * of wall clock and of CPU, rows and MB per second of CPU, and the peak of the resident memory,
 * for native, SWF and sacct files, sorted and shuffled. Target: ten million rows below 256 MiB.
 * Usage: bench_import [ROWS [NAME]]. The files lie in $TMPDIR (10 million rows: up to 2 GB for
 * one file, 1 GB for the trace and as much for the temporary files) and go away. Needs
 * $GPUSIM_BIN. */
#include "base/err.h"
#include "base/mem.h"
#include "tests/bench/bench.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct shape {
    long rows;
    long step; /* row i has the time of the (i x step mod rows)-th; 1: sorted */
};

static long time_of(const struct shape *s, long i)
{
    return 3 * (long)((uint64_t)i * (uint64_t)s->step % (uint64_t)s->rows) + i % 3 * (s->step == 1);
}

static void write_native(FILE *to, const struct shape *s)
{
    fputs("# gpusim-trace/1 origin=bench\njob_id,submit_s,duration_s,gpus,user,status\n", to);
    for (long i = 0; i < s->rows; i++)
        fprintf(to, "job-%ld,%ld.%03ld,%ld.5,%ld,user%ld,completed\n", i, time_of(s, i), i % 1000,
                i * 7919 % 86413, i % 8 + 1, i % 250);
}

static void write_swf(FILE *to, const struct shape *s)
{
    fputs("; MaxProcs: 1024\n", to);
    for (long i = 0; i < s->rows; i++)
        fprintf(to, "%ld %ld %ld %ld %ld 1.5 -1 %ld 86400 -1 1 %ld %ld -1 -1 1 -1 -1\n", i + 1,
                time_of(s, i), i % 977, i * 7919 % 86413, i % 128 + 1, i % 128 + 1, i % 250,
                i % 16);
}

static void put_clock(FILE *to, time_t t)
{
    struct tm tm;
    char text[32];
    gmtime_r(&t, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S|", &tm);
    fputs(text, to);
}

static void write_sacct(FILE *to, const struct shape *s)
{
    fputs("JobID|State|Submit|Start|End|Elapsed|AllocTRES|NNodes|Timelimit|User|Account\n", to);
    for (long i = 0; i < s->rows; i++) {
        const time_t submit = 1700000000 + time_of(s, i), start = submit + i % 977;
        const long took = i * 7919 % 86399 + 1;
        fprintf(to, "%ld|COMPLETED|", i + 1);
        put_clock(to, submit);
        put_clock(to, start);
        put_clock(to, start + took);
        fprintf(to, "%02ld:%02ld:%02ld|", took / 3600, took / 60 % 60, took % 60);
        fprintf(to,
                "billing=16,cpu=16,gres/gpu=%ld,mem=128G,node=1|1|1-00:00:00|user%ld|group%ld\n",
                i % 8 + 1, i % 250, i % 16);
    }
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* Runs the program with its outputs thrown away; its peak memory in KiB. */
static long run(char *const *argv, double *took, double *cpu)
{
    struct rusage used;
    int status;
    const double start = now_s();
    const pid_t child = fork();
    if (child < 0) BUG("fork");
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (null < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0) _exit(126);
        execv(argv[0], argv);
        _exit(127);
    }
    if (wait4(child, &status, 0, &used) != child || status != 0)
        BUG("%s %s: status %d", argv[0], argv[1], status);
    *took = now_s() - start;
    *cpu = seconds(used.ru_utime) + seconds(used.ru_stime);
    return used.ru_maxrss;
}

static void report(const char *what, const char *name, const char *order, const char *file,
                   const struct shape *s, char *const *argv)
{
    struct stat st;
    double took, cpu;
    const long kib = run(argv, &took, &cpu);
    if (stat(file, &st)) BUG("stat %s", file);
    char title[64];
    snprintf(title, sizeof title, "%s %s, %s", what, name, order);
    bench_print(title, (double)s->rows / cpu / 1e6, "M rows/s", 0);
    bench_print(title, (double)st.st_size / cpu / 1e6, "MB/s", 50);
    bench_print(title, took, "s wall", 0);
    bench_print(title, (double)kib / 1024, "MiB at most", 256);
}

static void bench(char *program, const char *name, void write(FILE *, const struct shape *),
                  const struct shape *s)
{
    const char *dir = getenv("TMPDIR"), *order = s->step == 1 ? "sorted" : "shuffled";
    char *file = xasprintf("%s/gpusim-bench-XXXXXX", dir && *dir ? dir : "/tmp");
    char *out = NULL, *format = xstrdup(name);
    const int fd = mkstemp(file);
    FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
    if (!to) BUG("cannot create %s", file);
    write(to, s);
    if (fclose(to)) BUG("cannot write %s", file);
    out = xasprintf("%s.out", file);
    report("import", name, order, file, s,
           (char *[]){ program, "import", format, file, "-o", out, NULL });
    report("trace stat", name, order, file, s,
           (char *[]){ program, "trace", "stat", "--source", format, file, NULL });
    const char *const beside[] = { "", ".account.json", ".quarantine.csv" };
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        char *path = xasprintf("%s%s", out, beside[i]);
        unlink(path);
        free(path);
    }
    unlink(file);
    free(file);
    free(out);
    free(format);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*write)(FILE *, const struct shape *);
    } kinds[] = { { "native", write_native }, { "swf", write_swf }, { "sacct", write_sacct } };
    const long rows = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    const char *env = getenv("GPUSIM_BIN");
    if (rows < 1) return 2;
    if (!env) {
        puts("GPUSIM_BIN is not set: `make bench T=import` sets it");
        return 0;
    }
    char *program = xstrdup(env);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (argc > 2 && strcmp(argv[2], kinds[i].name) != 0) continue;
        const struct shape sorted = { rows, 1 }, shuffled = { rows, 7654321 };
        bench(program, kinds[i].name, kinds[i].write, &sorted);
        bench(program, kinds[i].name, kinds[i].write, &shuffled);
    }
    free(program);
    return 0;
}
