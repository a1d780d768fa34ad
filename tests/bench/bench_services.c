/* bench_services.c - services through the whole engine, from drawn arrivals to collected
 * statistics, in seconds of one core's time (so other work on the machine does not matter).
 *
 * Goals (DESIGN section 9, issue 7): 2 million generic requests per second, 1 million requests of
 * language models, load-aware routing at half of that or better. The last column is the ratio to
 * the line above it that says "reference". Usage: bench_services [REQUESTS], default 2,000,000. */
#include "tests/bench/bench.h"

#include "base/err.h"
#include "engine/sim.h"
#include "metrics/collect.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static struct world world;

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct example {
    const char *name, *service, *share, *fleet;
    double share_of; /* of the requests asked for */
    int reference;   /* 1: of the lines that follow */
};

static double run(const struct example *c, long requests)
{
    char path[] = "/tmp/bench_services.XXXXXX";
    const int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    struct scenario scenario;
    struct plan plan;
    struct diag d;
    struct err e = { 0 };
    struct sim_totals totals;
    double best = 0;
    if (!f) BUG("cannot write %s", path);
    fprintf(
        f,
        "{\"format\": \"gpusim-scenario/1\", \"name\": \"b\", \"fleet\": [{\"name\": \"a\", %s}],"
        " \"profiles\": {\"all\": {\"compute\": 1, \"sm_width\": 1, \"bw_width\": 1}},"
        " \"work\": [{\"name\": \"w\", \"kind\": \"service\", \"count\": %ld, %s}],"
        " \"policies\": [{\"name\": \"p\", \"share\": {%s}}]}",
        c->fleet, requests, c->service, c->share);
    fclose(f);
    diag_init(&d);
    if (scenario_load(&scenario, path, NULL, 0, &d, &e) != 0 || diag_result(&d, &e) != 0)
        BUG("%s %s", e.where, e.msg);
    plan_build(&plan, &world, &scenario, 0, &d);
    if (diag_result(&d, &e) != 0) BUG("%s %s", e.where, e.msg);
    for (int i = 0; i < 3; i++) {
        struct collect *collect = collect_create(&plan);
        struct sink sink = collect_sink(collect);
        const struct sim_options opt = { .sinks = &sink, .n_sinks = 1 };
        const double begin = cpu_s();
        if (sim_run(&plan, &opt, &totals, &e) != 0) BUG("%s", e.msg);
        best = fmax(best, (double)totals.service[0].requests / (cpu_s() - begin));
        sim_totals_fini(&totals);
        collect_destroy(collect);
    }
    plan_fini(&plan);
    scenario_fini(&scenario);
    diag_fini(&d);
    unlink(path);
    return best;
}

#define WHOLE   "\"kind\": \"whole\""
#define POOL(n) "\"gpu\": \"generic\", \"nodes\": " #n ", \"gpus_per_node\": 1"
#define POISSON(gap, size)                                                                         \
    "\"arrivals\": {\"kind\": \"poisson\", \"gap\": \"" gap "\"}, \"profile\": \"all\", "          \
    "\"size\": {\"kind\": \"exponential\", \"mean\": \"" size                                      \
    "\"}, \"replicas\": {\"per_card\": 1}"
#define LLAMA(gap)                                                                                 \
    "\"arrivals\": {\"kind\": \"poisson\", \"gap\": \"" gap                                        \
    "\"}, \"serve\": {\"kind\": \"continuous\"},"                                                  \
    "\"input_tokens\": {\"kind\": \"exponential\", \"mean\": 600}, "                               \
    "\"output_tokens\": {\"kind\": \"exponential\", \"mean\": 200}, \"model\": \"%s\", \"replicas\": {\"per_card\": 1}"
#define H100(n) "\"gpu\": \"h100-sxm5-80gb\", \"nodes\": " #n ", \"gpus_per_node\": 1"

int main(int argc, char **argv)
{
    static const struct example generic[] = {
        { "reference: 8 cards, one queue, load 0.8", POISSON("62.5 ms", "400 ms"), WHOLE, POOL(8),
          1, 1 },
        { "8 cards, fewest outstanding",
          POISSON("62.5 ms", "400 ms") ", \"route\": \"least_outstanding\"", WHOLE, POOL(8), 1, 0 },
        { "1,000 cards, one queue", POISSON("0.5 ms", "400 ms"), WHOLE, POOL(1000), 1, 0 },
        { "1,000 cards, fewest outstanding",
          POISSON("0.5 ms", "400 ms") ", \"route\": \"least_outstanding\"", WHOLE, POOL(1000), 1,
          0 },
        { "one card in 8 time slices, load 0.8",
          "\"arrivals\": {\"kind\": \"poisson\", \"gap\": \"0.5 s\"}, \"profile\": \"all\", \"size\": {\"kind\": \"exponential\","
          " \"mean\": \"400 ms\"}, \"replicas\": {\"per_card\": 8}, \"need\": {\"gpu\": 0.125}",
          "\"kind\": \"timeslice\", \"slots\": 8", POOL(1), 0.5, 0 },
        { "8 cards, dynamic batches of 8",
          POISSON(
              "20 ms",
              "100 ms") ", \"serve\": {\"kind\": \"dynamic\", \"delay\": \"10 ms\", \"floor\": \"80 ms\"}",
          WHOLE, POOL(8), 1, 0 },
    };
    static const struct example llm[] = {
        { "reference: llama 8b, one H100, round robin",
          LLAMA("100 ms") ", \"route\": \"round_robin\"", WHOLE, H100(1), 0.25, 1 },
        { "llama 8b, 8 H100, round robin", LLAMA("12.5 ms") ", \"route\": \"round_robin\"", WHOLE,
          H100(8), 0.25, 0 },
        { "llama 8b, 8 H100, fewest outstanding", LLAMA("12.5 ms"), WHOLE, H100(8), 0.25, 0 },
        { "llama 8b, one H100, heavy load", LLAMA("35 ms"), WHOLE, H100(1), 0.25, 0 },
    };
    const long requests = argc > 1 ? atol(argv[1]) : 2000000;
    struct err e = { 0 };
    double reference = 0;
    char model[4096], service[6000];
    struct rusage u;
    if (world_load(&world, &e) != 0) BUG("%s", e.msg);
    for (size_t i = 0; i < sizeof generic / sizeof *generic; i++) {
        const double rate = run(&generic[i], (long)((double)requests * generic[i].share_of));
        bench_print(generic[i].name, rate / 1e6, "M requests/s", reference);
        if (generic[i].reference) reference = rate / 1e6;
    }
    if (!realpath("scenarios/workloads/llm/llama-3.1-8b.json", model))
        BUG("run it in the project's folder");
    reference = 0;
    for (size_t i = 0; i < sizeof llm / sizeof *llm; i++) {
        struct example c = llm[i];
        const char *at = strstr(c.service, "%s");
        snprintf(service, sizeof service, "%.*s%s%s", (int)(at - c.service), c.service, model,
                 at + 2);
        c.service = service;
        const double rate = run(&c, (long)((double)requests * c.share_of));
        bench_print(c.name, rate / 1e6, "M requests/s", reference);
        if (c.reference) reference = rate / 1e6;
    }
    getrusage(RUSAGE_SELF, &u);
    bench_print("peak memory", (double)u.ru_maxrss / 1024, "MiB", 0);
    world_fini(&world);
    return 0;
}
