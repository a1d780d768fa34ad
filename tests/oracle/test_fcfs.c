/* test_fcfs.c - strict first come, first served on flat pools, against results computed by others
 * for public traces: last end, sum of waits, longest wait, jobs that waited, mean turnaround,
 * exactly. The traces are imported by the program itself (GPUSIM_BIN) from the folder
 * GPUSIM_SHARED.
 *
 * And a queue that needs no file: the same discipline written down again in twenty lines here.
 * Mutants: last-come-first-served, queue-overtaken-when-the-head-waits. */
#include "support/simulate.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct expected {
    const char *format, *file, *options;
    int units;
    int jobs, rejected;
    double last_end, waits, max_wait;
    int waited;
    double mean_turnaround;
};

static const struct expected table[] = {
    { "tiresias", "traces/tiresias/60_job.csv", "", 4, 50, 10, 5793, 62424, 3892, 47, 1431.88 },
    { "tiresias", "traces/tiresias/60_job.csv", "", 8, 60, 0, 5747, 82684, 3875, 59,
      1556.483333333 },
    { "tiresias", "traces/tiresias/60_job.csv", "", 16, 60, 0, 3335, 1344, 152, 28, 200.816666667 },
    { "tiresias", "traces/tiresias/60_job.csv", "", 32, 60, 0, 3271, 0, 0, 0, 178.416666667 },
    { "tiresias", "traces/tiresias/60_job.csv", "", 64, 60, 0, 3271, 0, 0, 0, 178.416666667 },
    { "swf", "traces/swf/hpc2n.swf", "", 240, 3145, 0, 5309576, 17699692, 78517, 1496,
      15756.136407 },
    { "swf", "traces/swf/kth_header_test.swf", "", 100, 9, 0, 19000, 36000, 6000, 8,
      6888.888888889 },
    { "swf", "traces/swf/accasim_headerless.swf", "", 36, 25, 0, 4038333, 2580816, 132366, 23,
      113359.08 },
};

static char *imported(const char *format, const char *file, const char *options)
{
    const char *bin = getenv("GPUSIM_BIN"), *shared = shared_path(file);
    if (!bin || !shared) skip_without_shared(file);
    char *out = xasprintf("%s/trace.csv", temp_dir());
    char *command =
        xasprintf("'%s' import %s '%s' %s -o '%s' 2>/dev/null", bin, format, shared, options, out);
    if (system(command) != 0) fail_msg("%s failed", command);
    char *text = read_file(out);
    free(command);
    free(out);
    return text;
}

static char *pool(int units)
{
    return xasprintf(
        "{'format': 'gpusim-scenario/1', 'name': 'fcfs',"
        " 'fleet': [{'name': 'pool', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': %d}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
        " 'policies': [{'name': 'fcfs', 'share': {'kind': 'whole'}}],"
        " 'schedule': {'order': 'fifo', 'backfill': 'none'}, 'output': {'sample': '1 d'}}",
        units);
}

static void reference(void **state)
{
    const struct expected *x = *state;
    struct simulated s;
    char *trace = imported(x->format, x->file, x->options), *scenario = pool(x->units);
    simulate(&s, scenario, trace);
    const struct policy_result *p = sim_policy(&s, "fcfs");
    double waits = 0, last = 0, longest = 0;
    int waited = 0;
    for (size_t i = 0; i < s.n_jobs; i++) {
        if (strcmp(s.job[i].state, "completed") != 0) continue;
        waits += s.job[i].wait_s;
        waited += s.job[i].wait_s > 0;
        last = fmax(last, s.job[i].end_s);
        longest = fmax(longest, s.job[i].wait_s);
    }
    assert_int_equal(p->jobs.completed, x->jobs);
    assert_int_equal(p->jobs.rejected, x->rejected);
    assert_close(last, x->last_end, 1e-12);
    assert_close(waits, x->waits, 1e-12);
    assert_close(longest, x->max_wait, 1e-12);
    assert_int_equal(waited, x->waited);
    assert_close(p->stats.turnaround_s.mean, x->mean_turnaround, 1e-10);
    assert_close(p->stats.wait_s.mean * x->jobs, x->waits, 1e-12);
    assert_close(p->stats.wait_s.max, x->max_wait, 1e-12);
    simulated_fini(&s);
    free(trace);
    free(scenario);
}

/* Four nodes of four: on one node if it fits, else whole nodes ("yarn"). The published figures take
 * the first node that fits; those of the fullest one come from a small program of its own that
 * gives the published ones under first fit. */
static void gangs_on_nodes(void **state)
{
    (void)state;
    struct simulated s;
    char *trace = imported("tiresias", "traces/tiresias/60_job.csv", "");
    simulate(&s,
             "{'format': 'gpusim-scenario/1', 'name': 'fcfs',"
             " 'fleet': [{'name': 'pool', 'gpu': 'generic', 'nodes': 4, 'gpus_per_node': 4}],"
             " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
             " 'policies': [{'name': 'first', 'share': {'kind': 'whole'},"
             "   'schedule': {'backfill': 'none', 'place': 'first_fit'}},"
             "  {'name': 'best', 'share': {'kind': 'whole'},"
             "   'schedule': {'backfill': 'none', 'place': 'best_fit'}}]}",
             trace);
    const struct policy_result *first = sim_policy(&s, "first"), *best = sim_policy(&s, "best");
    assert_close(best->stats.turnaround_s.mean, 217.516666667, 1e-10);
    assert_close(best->stats.wait_s.mean, 39.1, 1e-10);
    assert_close(best->end_s, 3341, 1e-12);
    assert_close(first->stats.turnaround_s.mean, 219.1833, 1e-6);
    assert_close(first->stats.wait_s.mean, 40.7667, 1e-6);
    assert_close(first->end_s, 3341, 1e-12);
    simulated_fini(&s);
    free(trace);
}

/* ---- the discipline written down again ---- */

enum { JOBS = 400, UNITS = 13 };

/* Starts at the earliest time not before its submit and the previous start with enough units
 * free. */
static void fcfs(const int64_t submit[], const int64_t length[], const int units[], int64_t start[])
{
    int64_t end[JOBS], now = 0;
    for (int i = 0; i < JOBS; i++) {
        if (now < submit[i]) now = submit[i];
        for (;;) {
            int held = 0;
            int64_t next = INT64_MAX;
            for (int k = 0; k < i; k++) {
                if (end[k] <= now) continue;
                held += units[k];
                if (end[k] < next) next = end[k];
            }
            if (held + units[i] <= UNITS) break;
            now = next;
        }
        start[i] = now;
        end[i] = now + length[i];
    }
}

static void against_twenty_lines(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int round = 0; round < 20; round++) {
        int64_t submit[JOBS], length[JOBS], start[JOBS], at = 0;
        int units[JOBS];
        struct strbuf trace = { 0 };
        struct simulated s;
        strbuf_addz(&trace, "job_id,submit_s,duration_s,gpus\n");
        for (int i = 0; i < JOBS; i++) {
            at += (int64_t)(test_random(&random) % 30);
            submit[i] = at;
            length[i] = (int64_t)(test_random(&random) % 90);
            units[i] = 1 + (int)(test_random(&random) % (round % 2 ? 5 : UNITS));
            strbuf_addf(&trace, "%d,%lld,%lld,%d\n", i, (long long)submit[i], (long long)length[i],
                        units[i]);
        }
        fcfs(submit, length, units, start);
        char *scenario = pool(UNITS);
        simulate(&s, scenario, trace.s);
        assert_int_equal(s.n_jobs, JOBS);
        for (size_t i = 0; i < s.n_jobs; i++) {
            const int id = atoi(s.job[i].id);
            if (s.job[i].start_s != (double)start[id] ||
                s.job[i].end_s != (double)(start[id] + length[id]))
                fail_msg("round %d, job %d: %.9f to %.9f, expected %lld to %lld", round, id,
                         s.job[i].start_s, s.job[i].end_s, (long long)start[id],
                         (long long)(start[id] + length[id]));
        }
        simulated_fini(&s);
        free(scenario);
        strbuf_fini(&trace);
    }
}

int main(void)
{
    enum { N = sizeof table / sizeof *table };
    struct CMUnitTest tests[N + 2];
    static char name[N][80];
    for (size_t i = 0; i < N; i++) {
        snprintf(name[i], sizeof name[i], "%s on %d", strrchr(table[i].file, '/') + 1,
                 table[i].units);
        tests[i] =
            (struct CMUnitTest){ name[i], reference, NULL, NULL, (void *)(uintptr_t)&table[i] };
    }
    tests[N] = (struct CMUnitTest)cmocka_unit_test(gangs_on_nodes);
    tests[N + 1] = (struct CMUnitTest)cmocka_unit_test(against_twenty_lines);
    return _cmocka_run_group_tests("strict FCFS", tests, N + 2, NULL, NULL);
}
