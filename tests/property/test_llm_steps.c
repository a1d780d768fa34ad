/* Continuous batching: walking through every iteration gives every request the same times as
 * taking the iterations between two changes of the batch in one stretch, to a microsecond
 * (reference data llm, section 4): with room, with a cache so small that sequences are evicted
 * all the time, with few sequences, long prompts, timeouts, prompts whose blocks are found
 * again, several replicas and routers, on a MIG slice, and beside jobs that come and go on the
 * same card.
 *
 * Mutants: llm-cut-at-the-arrival, llm-blocks-by-the-round, llm-match-of-the-stretch. */
#include "support/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct log {
    size_t n, cap;
    struct request_end *end;
};

static void on_request(void *self, const struct plan *plan, size_t k, const struct request_end *q)
{
    struct log *l = self;
    (void)plan, (void)k;
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 1024;
        l->end = realloc(l->end, l->cap * sizeof *l->end);
        assert_non_null(l->end);
    }
    l->end[l->n++] = *q;
}

static int by_arrival(const void *a, const void *b)
{
    const struct request_end *x = a, *y = b;
    if (x->arrival != y->arrival) return x->arrival < y->arrival ? -1 : 1;
    if (x->input_tokens != y->input_tokens) return x->input_tokens < y->input_tokens ? -1 : 1;
    return (x->output_tokens > y->output_tokens) - (x->output_tokens < y->output_tokens);
}

struct example {
    const char *name, *serve, *service, *share, *fleet, *jobs;
    double gap_ms, input, output;
    size_t n;
    int block_tokens; /* of the numbers of its prompts' blocks; 0: none */
};

static char *requests(const struct example *c)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    char *text = malloc(c->n * 600 + 100), *at = text;
    double t = 0;
    assert_non_null(text);
    at += sprintf(
        at, "# gpusim-trace/1 block_tokens=%d\narrival_s,input_tokens,output_tokens,session%s\n",
        c->block_tokens ? c->block_tokens : 512, c->block_tokens ? ",hash_ids" : "");
    for (size_t i = 0; i < c->n; i++) {
        t += sim_exponential(rng, c->gap_ms / 1e3);
        const double input = ceil(sim_exponential(rng, c->input));
        at += sprintf(at, "%.6f,%.0f,%.0f,s%d", t, input, ceil(sim_exponential(rng, c->output)),
                      (int)(i % 7));
        for (int k = 0; c->block_tokens && k * c->block_tokens < input; k++)
            at += sprintf(at, "%c%d", k ? '|' : ',', (int)gsl_rng_uniform_int(rng, k < 6 ? 2 : 9));
        at += sprintf(at, "\n");
    }
    gsl_rng_free(rng);
    return text;
}

static struct log run(const struct example *c, const char *rows, const char *aggregate,
                      uint64_t *events)
{
    struct runner r = { 0 };
    struct log log = { 0 };
    char text[2000];
    const struct sim_file files[] = { { "requests.csv", rows }, { NULL, NULL } };
    struct policy_result p;
    snprintf(
        text, sizeof text,
        "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ { 'name': 'a', %s } ],"
        "  'work': [ { 'name': 'w', 'kind': 'service', 'requests': 'requests.csv', 'model': '%s', %s,"
        "              'serve': { 'kind': 'continuous', 'aggregate': %s %s } } %s ],"
        "  'policies': [ { 'name': 'p', 'share': { %s } } ] }",
        c->fleet ? c->fleet : "'gpu': 'h100-sxm5-80gb', 'gpus_per_node': 2", "@MODEL@", c->service,
        aggregate, c->serve, c->jobs ? c->jobs : "", c->share ? c->share : "'kind': 'whole'");
    char *at = strstr(text, "@MODEL@"), real[4096], full[6200];
    assert_non_null(realpath("scenarios/workloads/llm/llama-3.1-8b.json", real));
    snprintf(full, sizeof full, "%.*s%s%s", (int)(at - text), text, real, at + strlen("@MODEL@"));
    sim_load(
        &r,
        sim_write(
            full,
            "job_id,submit_s,duration_s,gpus\na,0.5,3,0.5\nb,2,1,0.5\nc,2.2,40,0.25\nd,7,3,0.5\n",
            files));
    const struct sink sink = { .self = &log, .request = on_request };
    sim_policy_run(&r, 0, &sink, &p);
    *events = p.events;
    assert_int_equal(p.service[0].requests, c->n);
    runner_fini(&r);
    qsort(log.end, log.n, sizeof *log.end, by_arrival);
    return log;
}

static const struct example examples[] = {
    { "with room", "", "'replicas': { 'per_card': 1 }", NULL, NULL, NULL, 40, 900, 200, 3000, 0 },
    { "small cache", ", 'kv_blocks': 400", "'replicas': { 'min': 1 }", NULL, NULL, NULL, 120, 300,
      250, 1500, 0 },
    { "tiny cache, evictions all the time", ", 'kv_blocks': 330, 'max_seqs': 64",
      "'replicas': { 'min': 1 }", NULL, NULL, NULL, 20, 40, 400, 1500, 0 },
    { "few sequences", ", 'max_seqs': 3",
      "'replicas': { 'per_card': 1 }, 'route': 'shortest_queue'", NULL, NULL, NULL, 300, 600, 150,
      1000, 0 },
    { "long prompts in small chunks", ", 'max_tokens': 256, 'max_seqs': 32, 'prefix_hit': 0.3",
      "'replicas': { 'min': 1 }", NULL, NULL, NULL, 300, 4000, 40, 800, 0 },
    { "blocks of 7, sessions, timeouts", ", 'block': 7, 'max_seqs': 4",
      "'replicas': { 'min': 2 }, 'route': 'affinity', 'timeout': '2 s'", NULL, NULL, NULL, 150, 500,
      120, 2000, 0 },
    { "one at a time, answers of one token", ", 'max_seqs': 1", "'replicas': { 'min': 1 }", NULL,
      NULL, NULL, 60, 300, 1, 1000, 0 },
    { "blocks found again", ", 'kv_blocks': 500", "'replicas': { 'min': 1 }", NULL, NULL, NULL, 90,
      900, 100, 2000, 128 },
    { "blocks of 50 found again, evictions",
      ", 'kv_blocks': 330, 'max_seqs': 64, 'max_tokens': 256", "'replicas': { 'min': 2 }", NULL,
      NULL, NULL, 20, 300, 400, 1500, 50 },
    { "the router sees caches shrink step by step", ", 'kv_blocks': 400",
      "'replicas': { 'min': 3 }, 'route': 'prefix'", NULL,
      "'gpu': 'h100-sxm5-80gb', 'gpus_per_node': 3", NULL, 60, 500, 400, 3000, 64 },
    { "on a slice", ", 'host': '2 ms'", "'replicas': { 'min': 2 }, 'need': { 'gpu': 0.5 }",
      "'kind': 'mig'", "'gpu': 'a100-sxm4-80gb', 'gpus_per_node': 1", NULL, 400, 500, 100, 800, 0 },
};

static void same_times(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *c = &examples[i];
        char *rows = requests(c);
        uint64_t few, many;
        struct log a = run(c, rows, "true", &few), b = run(c, rows, "false", &many);
        int64_t worst = 0;
        assert_int_equal(a.n, b.n);
        for (size_t k = 0; k < a.n; k++) {
            assert_int_equal(a.end[k].fate, b.end[k].fate);
            const int64_t end = llabs(a.end[k].end - b.end[k].end),
                          first = a.end[k].first == JOB_NO_TIME
                                      ? 0
                                      : llabs(a.end[k].first - b.end[k].first);
            if (end > worst) worst = end;
            if (first > worst) worst = first;
        }
        print_message("%-40s %8llu events for %8llu, furthest apart %lld ns\n", c->name,
                      (unsigned long long)few, (unsigned long long)many, (long long)worst);
        if (worst > 1000) fail_msg("%s: a request is %lld ns off", c->name, (long long)worst);
        free(a.end);
        free(b.end);
        free(rows);
    }
}

/* Beside jobs that take turns with it: stretches pass through changes of speed. */
static void beside_jobs(void **state)
{
    static const struct example c = { "beside jobs",
                                      "",
                                      "'replicas': { 'min': 1 }, 'need': { 'gpu': 0.25 }",
                                      "'kind': 'timeslice', 'slots': 4, 'memory': 'unchecked'",
                                      "'gpu': 'h100-sxm5-80gb', 'gpus_per_node': 1",
                                      ", { 'name': 'j', 'kind': 'jobs', 'trace': 'trace.csv' }",
                                      100,
                                      400,
                                      100,
                                      400,
                                      0 };
    char *rows = requests(&c);
    uint64_t few, many;
    (void)state;
    struct log a = run(&c, rows, "true", &few), b = run(&c, rows, "false", &many);
    assert_int_equal(a.n, b.n);
    assert_true(few < many);
    for (size_t k = 0; k < a.n; k++)
        if (llabs(a.end[k].end - b.end[k].end) > 1000)
            fail_msg("request %zu: %lld ns off", k, (long long)(a.end[k].end - b.end[k].end));
    free(a.end);
    free(b.end);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_times),
                                        cmocka_unit_test(beside_jobs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
