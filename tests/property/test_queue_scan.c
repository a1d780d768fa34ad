/* test_queue_scan.c - the scheduler's indices against a plain scan of everything
 * (support/queue_scan.h): the same start of every job, on random work of few and of many shapes,
 * short queues and long ones. Mutants: a shape that found no room is not tried again after an
 * end, ties by the last row. */
#include "support/queue_scan.h"
#include "support/simulate.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>

enum { JOBS = 400, RUNS = 36 };

static void same_starts(void **state)
{
    static const char *const order[] = { "fifo", "sjf", "priority" };
    static const char *const backfill[] = { "none", "easy", "greedy" };
    uint64_t seed = test_seed();
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        const int cards = 1 + (int)(test_random(&seed) % 40), by = run / 3 % 3, rule = run % 3;
        const uint64_t gap = run % 4 ? 20 : 2; /* 2: nearly all wait */
        struct scan_job j[JOBS];
        struct strbuf trace = { 0 };
        int64_t at = 0;
        strbuf_addz(&trace, "job_id,submit_s,duration_s,gpus,walltime_s,priority\n");
        for (int i = 0; i < JOBS; i++) {
            const int priority = (int)(test_random(&seed) % 5);
            at += (int64_t)(test_random(&seed) % gap);
            j[i] = (struct scan_job){ .submit = at,
                                      .run = 1 + (int64_t)(test_random(&seed) % 200),
                                      .limit = -1,
                                      .cards = 1 + (int)(test_random(&seed) % (uint64_t)cards) };
            if (run % 2) j[i].cards = 1 + j[i].cards / 5 % cards;
            if (test_random(&seed) % 8)
                j[i].limit = j[i].run + (int64_t)(test_random(&seed) % 3) * 40;
            j[i].rank = by == 1   ? (j[i].limit < 0 ? INT64_MAX : j[i].limit)
                        : by == 2 ? -priority
                                  : 0;
            strbuf_addf(&trace, "%d,%lld,%lld,%d,", i, (long long)at, (long long)j[i].run,
                        j[i].cards);
            if (j[i].limit >= 0) strbuf_addf(&trace, "%lld", (long long)j[i].limit);
            strbuf_addf(&trace, ",%d\n", priority);
        }
        queue_scan(j, JOBS, cards, (enum scan_rule)rule);
        char *scenario = xasprintf(
            "{'format': 'gpusim-scenario/1', 'name': 'scan', 'fleet': [{'name': 'pool',"
            " 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': %d}],"
            " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
            " 'policies': [{'name': 'p', 'share': {'kind': 'whole'}}],"
            " 'schedule': {'order': '%s', 'backfill': '%s'}, 'output': {'sample': '1 d'}}",
            cards, order[by], backfill[rule]);
        struct simulated s;
        simulate(&s, scenario, trace.s);
        assert_int_equal(s.n_jobs, JOBS);
        for (size_t i = 0; i < s.n_jobs; i++) {
            const int k = atoi(s.job[i].id);
            if (s.job[i].start_s != (double)j[k].start)
                fail_msg("run %d, %s: job %d starts at %g s, expected %lld", run, scenario, k,
                         s.job[i].start_s, (long long)j[k].start);
        }
        simulated_fini(&s);
        free(scenario);
        strbuf_fini(&trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_starts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
