/* bench_requests.c - how fast the native reader turns CSV into struct request_row, and two
 * importers read their formats. Usage: bench_requests [ROWS]. Prints rows/s and MB/s. */
#include "model/requests.h"
#include "tests/bench/bench.h"
#include "traces/format.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct sample {
    const char *format, *head;
    void (*row)(FILE *to, long i, unsigned long x);
};

static void native_row(FILE *to, long i, unsigned long x)
{
    fprintf(to, "%ld.%03ld,%lu,%lu\n", i / 5, i % 5 * 200, x >> 52, x >> 55);
}

static void azure_row(FILE *to, long i, unsigned long x)
{
    const long s = i / 5;
    fprintf(to, "2024-05-%02ld %02ld:%02ld:%02ld.%07lu,%lu,%lu\r\n", 1 + s / 86400 % 30,
            s / 3600 % 24, s / 60 % 60, s % 60, x % 10000000, x >> 52, x >> 55);
}

static void mooncake_row(FILE *to, long i, unsigned long x)
{
    fprintf(to,
            "{\"timestamp\": %ld, \"input_length\": 1500, \"output_length\": %lu, "
            "\"hash_ids\": [0, %ld, %ld]}\n",
            i * 200, x >> 55, i, i + 1);
}

static const struct sample samples[] = {
    { "requests", "arrival_s,input_tokens,output_tokens\n", native_row },
    { "azure-llm", "TIMESTAMP,ContextTokens,GeneratedTokens\r\n", azure_row },
    { "mooncake", "", mooncake_row },
};

static void measure(const struct sample *s, long rows)
{
    char path[40];
    const int fd = memfd_create("bench", 0);
    FILE *to = fdopen(fd, "w");
    unsigned long x = 1;
    fputs(s->head, to);
    for (long i = 0; i < rows; i++) {
        x = x * 6364136223846793005UL + 1442695040888963407UL;
        s->row(to, i, x);
    }
    fflush(to);
    const double mb = (double)ftell(to) / 1e6;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);

    const struct trace_format *f = format_find(s->format);
    void *options = calloc(1, f->options_size + 1);
    struct symtab *names = symtab_create();
    struct import_stream *in;
    struct import_info info;
    struct import_row row;
    struct err e = { 0 };
    long n = 0;
    const double start = now_s();
    if (import_open(&in, f, path, options, names, &info, &e) == 0) {
        while (import_next(in, &row, &e) > 0) n += !row.quarantined;
        import_close(in);
    }
    const double took = now_s() - start;
    bench_print(s->format, (double)n / took / 1e6, "M rows/s", 0);
    bench_print(s->format, mb / took, "MB/s", 50);
    if (n != rows) BUG("%s: %s", s->format, e.msg);
    symtab_destroy(names);
    free(options);
    fclose(to);
}

int main(int argc, char **argv)
{
    const long rows = argc > 1 ? atol(argv[1]) : 1000000;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) measure(&samples[i], rows);
    return 0;
}
