/* bench_sweep.c - `gpusim sweep` over a trace of 10,000 jobs: points a second with one and with two
 * threads, what the second thread is worth, and what a trace in memory saves against parsing it in
 * each run. Usage: bench_sweep [POINTS [JOBS]] (default 200 and 10,000; the target of the design is
 * 1,000 points of 10,000 jobs in 60 s on two cores). Wall-clock time beside processor time: on a
 * machine that others use only the second says something, and parallel efficiency is then given by
 * processor time too: work that two threads do beyond what one does (waiting for each other costs
 * no processor time; it shows in the first). */
#include "bench.h"

#include "base/mem.h"
#include "base/thread.h"
#include "model/trace.h"
#include "model/trace_rows.h"
#include "whatif/sweep.h"

#include <gsl/gsl_errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static double wall_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Jobs of 1/4 to 8 cards on 64 cards, at a load near 0.8. */
static void write_trace(const char *path, long jobs)
{
    FILE *f = fopen(path, "w");
    static const char *const gpus[] = { "0.25", "0.5", "1", "1", "1", "2", "4", "8" };
    uint64_t state = 1;
    double at = 0;
    if (!f) BUG("cannot write %s", path);
    fputs("job_id,submit_s,duration_s,gpus,user,class\n", f);
    for (long i = 0; i < jobs; i++) {
        at -= 52 * log(bench_uniform(&state));
        fprintf(f, "j%ld,%.3f,%.3f,%s,u%d,training\n", i, at, 1 - 1200 * log(bench_uniform(&state)),
                gpus[bench_random(&state) >> 61], (int)(bench_random(&state) % 40));
    }
    fclose(f);
}

static void write_scenario(const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f) BUG("cannot write %s", path);
    fputs("{ \"format\": \"gpusim-scenario/1\", \"name\": \"bench\","
          " \"fleet\": [ { \"name\": \"pool\", \"gpu\": \"a100-sxm4-40gb\", \"nodes\": 8,"
          " \"gpus_per_node\": 8 } ],"
          " \"work\": [ { \"name\": \"w\", \"kind\": \"jobs\", \"trace\": \"trace.csv\" } ],"
          " \"policies\": [ { \"name\": \"whole\", \"share\": { \"kind\": \"whole\" } } ],"
          " \"output\": { \"jobs\": false } }\n",
          f);
    fclose(f);
}

struct took {
    double wall, cpu;
};

static struct took time_sweep(const char *scenario, const char *dir, long points, unsigned threads)
{
    char vary[100];
    const char *axis = vary;
    struct sweep s;
    struct err e = { 0 };
    snprintf(vary, sizeof vary, "work.w.load=0.8..1.1:log%ld", points);
    const struct sweep_options o = { .scenario = scenario,
                                     .vary = &axis,
                                     .n_vary = 1,
                                     .replications = 1,
                                     .threads = threads,
                                     .dir = dir,
                                     .shard = { 1, 1 } };
    const double wall = wall_s(), cpu = bench_now_s();
    if (sweep_plan(&s, &o, &e) != 0 || sweep_run(&s, &e) != 0 || s.n_failed > 0) BUG("%s", e.msg);
    const struct took t = { wall_s() - wall, bench_now_s() - cpu };
    sweep_fini(&s);
    return t;
}

int main(int argc, char **argv)
{
    const long points = argc > 1 ? atol(argv[1]) : 200, jobs = argc > 2 ? atol(argv[2]) : 10000;
    char dir[] = "/tmp/bench_sweep-XXXXXX", path[200], trace[200], out[200], remove[300];
    if (points < 2 || jobs < 1 || !mkdtemp(dir)) return 2;
    gsl_set_error_handler_off();
    snprintf(trace, sizeof trace, "%s/trace.csv", dir);
    snprintf(path, sizeof path, "%s/s.json", dir);
    write_trace(trace, jobs);
    write_scenario(path);
    struct took t[2];
    for (unsigned k = 1; k <= 2; k++) {
        snprintf(out, sizeof out, "%s/%u", dir, k);
        t[k - 1] = time_sweep(path, out, points, k);
        printf("%ld points of %ld jobs, %u thread%s:\n", points, jobs, k, k == 1 ? "" : "s");
        bench_print("  points a second", (double)points / t[k - 1].wall, "points/s", 0);
        bench_print("  points a core-second", (double)points / t[k - 1].cpu, "points/s", 0);
    }
    bench_print("speed-up by the second thread", t[0].wall / t[1].wall, "x of 2", 0);
    bench_print("work that the second thread adds", t[1].cpu / t[0].cpu - 1, "of one's", 0);
    bench_print("1,000 points on two cores, by processor time",
                t[1].cpu * 1000 / (double)points / 2, "s", 0);
    double from = bench_now_s();
    struct trace_rows *rows = trace_rows_load(trace, SIZE_MAX);
    if (!rows) BUG("cannot read %s", trace);
    const double parse = bench_now_s() - from;
    struct symtab *names = symtab_create();
    struct trace_cursor *c = trace_cursor_open(rows, names);
    struct job_row row;
    from = bench_now_s();
    while (trace_cursor_next(c, &row)) bench_keep((uint64_t)row.submit);
    const double again = bench_now_s() - from;
    bench_print("parsing the trace", 1000 * parse, "ms", 0);
    bench_print("reading it from memory", 1000 * again, "ms", 1000 * parse);
    bench_print("saved of a run", (parse - again) / (t[0].cpu / (double)points + parse - again),
                "share", 0);
    bench_print("memory of the trace", (double)trace_rows_bytes(rows) / 1e6, "MB", 0);
    trace_cursor_close(c);
    symtab_destroy(names);
    trace_rows_free(rows);
    snprintf(remove, sizeof remove, "rm -rf '%s'", dir);
    return system(remove) == 0 ? 0 : 1;
}
