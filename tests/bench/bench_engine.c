/* bench_engine.c - the whole engine, from the rows of a trace in memory to the collected result.
 *
 * Goals (DESIGN section 9), one core: M/M/1 2 million customers/s; FIFO on 1,000 cards 1 million
 * jobs/s; the cost of a job flat within a factor of 3 from 100 to 100,000 cards and from 10 to
 * 100,000 waiting jobs; EASY with 100,000 waiting 200,000 jobs/s. The last column is the ratio to
 * the reference that the line above names.
 * Each figure is of processor time, reading the trace included. A plain scan has no rows to read.
 * Mutants: a scan of the fleet in place_best_fit shows in the cards, a list as queue in the waits.
 * Usage: bench_engine [ROWS], default 1,000,000. */
#include "tests/bench/bench.h"

#include "base/err.h"
#include "engine/sim.h"
#include "engine/source.h"
#include "metrics/collect.h"
#include "tests/support/queue_scan.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATH = 64 };

static struct world world;

/* A file in memory; its path stays good until the process ends. */
static FILE *memory_file(char path[PATH])
{
    const int fd = memfd_create("bench_engine", 0);
    if (fd < 0) BUG("memfd_create");
    snprintf(path, PATH, "/proc/self/fd/%d", fd);
    FILE *f = fopen(path, "w");
    if (!f) BUG("%s: cannot write", path);
    return f;
}

struct load {
    double gap_s, duration_s; /* means of exponential times */
    const char *gpus;
    bool limits;          /* with walltime_s, which backfill needs */
    double gap_variation; /* 0: the gaps are equal */
};

static void write_trace(char path[PATH], long rows, const struct load *l)
{
    FILE *f = memory_file(path);
    uint64_t x = 88172645463325252u;
    double at = 0;
    fprintf(f, "job_id,submit_s,duration_s,gpus%s\n", l->limits ? ",walltime_s" : "");
    for (long i = 0; i < rows; i++) {
        const double d = -l->duration_s * log(bench_uniform(&x));
        fprintf(f, "%ld,%.6f,%.6f,%s", i, at, d, l->gpus);
        if (l->limits) fprintf(f, ",%.6f", 1.25 * d);
        fputc('\n', f);
        at += l->gap_variation > 0 ? -l->gap_s * log(bench_uniform(&x)) : l->gap_s;
    }
    if (fclose(f)) BUG("the trace does not fit into memory");
}

static void write_scenario(char path[PATH], const char *trace, long cards, const char *share,
                           const char *backfill)
{
    FILE *f = memory_file(path);
    const long per_node = cards < 8 ? cards : 8;
    fprintf(f,
            "{\"format\": \"gpusim-scenario/1\", \"name\": \"bench\","
            "\"fleet\": [{\"name\": \"pool\", \"gpu\": \"a100-sxm4-80gb\", \"nodes\": %ld,"
            " \"gpus_per_node\": %ld}],"
            "\"work\": [{\"name\": \"w\", \"kind\": \"jobs\", \"trace\": \"%s\"}],"
            "\"policies\": [{\"name\": \"p\", \"share\": {%s}}],"
            "\"schedule\": {\"backfill\": \"%s\"}}",
            cards / per_node, per_node, trace, share, backfill);
    if (fclose(f)) BUG("the scenario does not fit into memory");
}

struct setup {
    struct scenario scenario;
    struct plan plan;
};

static void set_up(struct setup *s, const char *path)
{
    struct diag d;
    struct err e = { 0 };
    diag_init(&d);
    if (scenario_load(&s->scenario, path, NULL, 0, &d, &e) != 0 || diag_result(&d, &e) != 0)
        BUG("%s %s", e.where, e.msg);
    plan_build(&s->plan, &world, &s->scenario, 0, &d);
    if (diag_result(&d, &e) != 0) BUG("%s %s", e.where, e.msg);
    diag_fini(&d);
}

static void tear_down(struct setup *s)
{
    plan_fini(&s->plan);
    scenario_fini(&s->scenario);
}

/* Seconds of one run, with the collector that every `gpusim run` has. */
static double run_s(const struct plan *plan, uint64_t *rows)
{
    struct collect *c = collect_create(plan);
    struct sink sink = collect_sink(c);
    const struct sim_options opt = { .sinks = &sink, .n_sinks = 1 };
    struct sim_totals totals;
    struct err e = { 0 };
    const double begin = bench_now_s();
    if (sim_run(plan, &opt, &totals, &e) != 0) BUG("%s", e.msg);
    const double s = bench_now_s() - begin;
    *rows = totals.rows;
    sim_totals_fini(&totals);
    collect_destroy(c);
    return s;
}

static double best_run_s(const struct plan *plan, int times, uint64_t *rows)
{
    double best = INFINITY;
    for (int i = 0; i < times; i++) best = fmin(best, run_s(plan, rows));
    return best;
}

/* What reading alone takes: the part of every figure below that is not the engine. */
static double read_s(const struct plan *plan)
{
    struct symtab *names = symtab_create();
    struct source *s;
    struct job_row row;
    struct err e = { 0 };
    const double begin = bench_now_s();
    if (source_open(&s, plan->scenario, 0, names, &e) != 0) BUG("%s", e.msg);
    int rc;
    while ((rc = source_next(s, &row, &e)) > 0) bench_keep((uint64_t)row.duration);
    if (rc < 0) BUG("%s", e.msg);
    source_close(s);
    symtab_destroy(names);
    return bench_now_s() - begin;
}

/* Jobs per second of a whole run; prints it against `reference` (jobs per second). */
static double bench_load(const char *name, long rows, const struct load *l, long cards,
                         const char *share, const char *backfill, double reference)
{
    char trace[PATH], path[PATH];
    struct setup s;
    uint64_t done;
    write_trace(trace, rows, l);
    write_scenario(path, trace, cards, share, backfill);
    set_up(&s, path);
    const double rate = (double)rows / best_run_s(&s.plan, rows > 100000 ? 2 : 1, &done);
    if (done != (uint64_t)rows) BUG("%llu of %ld rows", (unsigned long long)done, rows);
    bench_print(name, rate, "jobs/s", reference);
    tear_down(&s);
    return rate;
}

static void bench_reading(long rows)
{
    char trace[PATH], path[PATH];
    struct setup s;
    const struct load l = { 1, 1, "1", false, 1 };
    write_trace(trace, rows, &l);
    write_scenario(path, trace, 1, "\"kind\": \"whole\"", "none");
    set_up(&s, path);
    bench_print("rows of the trace alone", (double)rows / read_s(&s.plan), "jobs/s", 0);
    tear_down(&s);
}

/* Load 0.9 of the fleet, whole cards; reference: 100 cards. */
static void bench_cards(long rows)
{
    static const long cards[] = { 104, 1000, 10000, 100000 };
    double first = 0;
    puts("-- FIFO, whole cards, load 0.9; ratio to 104 cards");
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        char name[64];
        const struct load l = { 1000.0 / 0.9 / (double)cards[i], 1000, "1", false, 1 };
        snprintf(name, sizeof name, "fifo, %ld cards", cards[i]);
        const double rate =
            bench_load(name, rows, &l, cards[i], "\"kind\": \"whole\"", "none", first);
        if (i == 0) first = rate;
    }
}

/* All jobs but the last tenth arrive at once: that many wait, then one leaves as one comes. */
static void bench_waiting(long rows, const char *name_of, const char *backfill)
{
    static const long waiting[] = { 10, 1000, 100000 };
    /* those that look at more than the head take fewer jobs at their goal */
    const bool fewer = strncmp(backfill, "none", 4) != 0;
    double first = 0;
    printf("-- %s with this many waiting, 1,000 cards; ratio to 10\n", name_of);
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++) {
        char trace[PATH], path[PATH], name[64];
        struct setup s;
        uint64_t done;
        uint64_t x = 2685821657736338717u;
        double at = 0;
        const long n = fewer ? rows / 100 : rows, more = n > 1000 ? n : 1000;
        FILE *f = memory_file(trace);
        fprintf(f, "job_id,submit_s,duration_s,gpus,walltime_s\n");
        for (long k = 0; k < waiting[i] + 1000 + more; k++) {
            const double d = -1000 * log(bench_uniform(&x));
            if (k >= waiting[i] + 1000) at += 1;
            fprintf(f, "%ld,%.6f,%.6f,1,%.6f\n", k, at, d, 1.25 * d);
        }
        if (fclose(f)) BUG("the trace does not fit into memory");
        write_scenario(path, trace, 1000, "\"kind\": \"whole\"", backfill);
        set_up(&s, path);
        const double took = run_s(&s.plan, &done);
        snprintf(name, sizeof name, "%s, %ld waiting", name_of, waiting[i]);
        bench_print(name, (double)done / took, "jobs/s", first);
        if (i == 0) first = (double)done / took;
        tear_down(&s);
    }
}

/* The same work through the engine and through a plain scan of all who wait and all who run, which
 * has the rows in memory already and writes down nothing but starts. */
static void bench_scan(long waiting, long more, enum scan_rule rule, const char *backfill)
{
    char trace[PATH], path[PATH], name[64];
    const long n = waiting + 1000 + more;
    struct scan_job *j = xcalloc((size_t)n, sizeof *j);
    struct setup s;
    uint64_t done, x = 2685821657736338717u;
    int64_t at_ns = 0;
    FILE *f = memory_file(trace);
    fprintf(f, "job_id,submit_s,duration_s,gpus,walltime_s\n");
    for (long k = 0; k < n; k++) {
        const int64_t run_ms = 1 + (int64_t)(-1e6 * log(bench_uniform(&x)));
        /* load 0.9 of 1,000 cards when nobody waits at first */
        if (k >= waiting + 1000 || waiting == 0) at_ns += waiting ? 1000000000 : 1111111111;
        j[k] = (struct scan_job){
            .submit = at_ns, .run = run_ms * 1000000, .cards = 1, .limit = run_ms * 1250000
        };
        fprintf(f, "%ld,%.9f,%.3f,1,%.6f\n", k, (double)at_ns / 1e9, (double)run_ms / 1e3,
                (double)run_ms * 1.25e-3);
    }
    if (fclose(f)) BUG("the trace does not fit into memory");
    const double begin = bench_now_s();
    queue_scan(j, (size_t)n, 1000, rule);
    const double plain = (double)n / (bench_now_s() - begin);
    snprintf(name, sizeof name, "%s, %ld waiting, plain scan", backfill, waiting);
    bench_print(name, plain, "jobs/s", 0);
    write_scenario(path, trace, 1000, "\"kind\": \"whole\"", backfill);
    set_up(&s, path);
    const double rate = (double)n / run_s(&s.plan, &done);
    snprintf(name, sizeof name, "%s, %ld waiting", backfill, waiting);
    bench_print(name, rate, "jobs/s", plain);
    tear_down(&s);
    free(j);
}

int main(int argc, char **argv)
{
    const long rows = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    struct err e = { 0 };
    if (rows < 1) return 2;
    if (world_load(&world, &e) != 0) BUG("%s %s", e.where, e.msg);
    bench_reading(rows);
    puts("-- goals: 2 million and 1 million; ratio to the goal");
    const struct load mm1 = { 1.0 / 0.7, 1, "1", false, 1 };
    bench_load("M/M/1, load 0.7", rows, &mm1, 1, "\"kind\": \"whole\"", "none", 2e6);
    const struct load pool = { 1.0, 900, "1", false, 1 };
    bench_load("fifo, 1,000 cards, load 0.9", rows, &pool, 1000, "\"kind\": \"whole\"", "none",
               1e6);
    bench_cards(rows);
    bench_waiting(rows / 2, "none", "none");
    bench_waiting(rows / 2, "sjf", "none\", \"order\": \"sjf");
    bench_waiting(rows / 2, "priority", "none\", \"order\": \"priority");
    bench_waiting(rows / 2, "easy", "easy");
    bench_waiting(rows / 2, "greedy", "greedy");
    bench_waiting(rows / 2, "conservative", "conservative");
    bench_waiting(rows / 2, "srtf", "greedy\", \"order\": \"srtf");
    bench_waiting(rows / 2, "las", "greedy\", \"order\": \"las");
    bench_waiting(rows / 2, "fair", "none\", \"order\": \"fair");
    bench_waiting(rows / 2, "drf", "none\", \"order\": \"drf");
    puts("-- against a plain scan of all who wait and run, 1,000 cards; ratio to it");
    bench_scan(0, rows / 20, SCAN_STRICT, "none");
    bench_scan(1000, rows / 100, SCAN_STRICT, "none");
    bench_scan(10000, rows / 100, SCAN_STRICT, "none");
    bench_scan(100000, rows / 200, SCAN_STRICT, "none");
    bench_scan(1000, rows / 500, SCAN_EASY, "easy");
    bench_scan(10000, rows / 500, SCAN_EASY, "easy");
    bench_scan(100000, rows / 1000, SCAN_EASY, "easy");
    world_fini(&world);
    return 0;
}
