/* All policies side by side: the same bytes at any number of threads, choice of policies, and every
 * way a run can fail without leaving anything behind. */
#include "tests/support/simulate.h"

#include "whatif/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char scenario[] =
    "{ 'format': 'gpusim-scenario/1', 'name': 's',"
    "  'fleet': [ { 'name': 'a', 'gpu': 'a100-sxm4-80gb', 'nodes': 2, 'gpus_per_node': 2 } ],"
    "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
    "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } },"
    "    { 'name': 'q', 'share': { 'kind': 'mig' } },"
    "    { 'name': 'r', 'share': { 'kind': 'mps' } },"
    "    { 'name': 's', 'share': { 'kind': 'intercept', 'enforce': 'hard' } },"
    "    { 'name': 't', 'share': { 'kind': 'timeslice' } },"
    "    { 'name': 'u', 'share': { 'kind': 'remote' } } ] }";

static char *random_trace(int rows, const char *tail)
{
    static const char *const gpus[] = { "0.1", "0.25", "0.5", "1", "2", "3", "0" };
    char *text = malloc((size_t)rows * 80 + 200);
    uint64_t seed = test_seed();
    size_t at = (size_t)sprintf(text, "job_id,submit_s,duration_s,gpus,user,walltime_s\n");
    for (int i = 0; i < rows; i++)
        at += (size_t)sprintf(text + at, "j%d,%d,%d.%d,%s,u%d,%d\n", i, 3 * i,
                              (int)(test_random(&seed) % 40), (int)(test_random(&seed) % 10),
                              gpus[test_random(&seed) % 7], (int)(test_random(&seed) % 5),
                              20 + (int)(test_random(&seed) % 100));
    strcpy(text + at, tail);
    return text;
}

static void the_same_bytes_at_any_number_of_threads(void **state)
{
    struct simulated one, eight;
    char *trace = random_trace(1500, "");
    (void)state;
    simulate_with(&one, scenario, trace, NULL, 1);
    simulate_with(&eight, scenario, trace, NULL, 8);
    assert_int_equal(one.n_jobs, 6 * 1500);
    assert_string_equal(one.jobs_csv, eight.jobs_csv);
    assert_string_equal(one.series_csv, eight.series_csv);
    assert_string_equal(one.result_json, eight.result_json);
    simulated_fini(&one);
    simulated_fini(&eight);
    free(trace);
}

static int load(struct runner *r, const char *path, const char *const *set, size_t n_set,
                const char *const *only, size_t n_only, struct err *e)
{
    struct diag d;
    diag_init(&d);
    *e = (struct err){ 0 };
    int rc = runner_load(r, path, set, n_set, only, n_only, &d, e);
    if (rc == 0) rc = diag_result(&d, e);
    diag_fini(&d);
    return rc;
}

static void some_policies(void **state)
{
    static const char *const two[] = { "t", "q" }, *const none[] = { "t", "x" };
    struct runner r;
    struct err e;
    char *trace = random_trace(20, "");
    const char *path = sim_write(scenario, trace, NULL);
    (void)state;
    assert_int_equal(load(&r, path, NULL, 0, two, 2, &e), 0);
    assert_int_equal(r.n, 2);
    assert_string_equal(r.plan[0].spec->name, "q"); /* in scenario order */
    assert_string_equal(r.plan[1].spec->name, "t");
    assert_int_equal(json_array_size(json_object_get(r.resolved, "policies")), 6);
    assert_int_equal(runner_run(&r, NULL, 2, &e), 0);
    assert_int_equal(r.result.n_policies, 2);
    assert_int_equal(r.result.policy[1].jobs.submitted, 20);
    runner_fini(&r);
    assert_int_equal(load(&r, path, NULL, 0, none, 2, &e), ERR_USAGE);
    assert_contains(e.msg, "'x'");
    assert_contains(e.hint, "p, q, r");
    runner_fini(&r);
    free(trace);
}

/* What is wrong with a policy that is not chosen does not matter, and the resolved scenario has that
 * policy as it stands; chosen, or without a choice, it is told. Keys that no policy has are. */
static void mistakes_of_others(void **state)
{
    static const char *const wrong[] = {
        "'share': { 'kind': 'mps', 'slots': 'many' }",
        "'share': { 'kind': 'mpss' }",
        "'share': { 'kind': 'whole' }, 'schedule': { 'order': 'fifoo' }",
        "'share': { 'kind': 'whole' }, 'prices': 'nowhere.json'",
    };
    static const char *const good[] = { "p" }, *const bad[] = { "q" };
    char *trace = random_trace(20, "");
    (void)state;
    for (size_t i = 0; i <= sizeof wrong / sizeof *wrong; i++) {
        struct runner r;
        struct err e;
        char text[1000];
        const bool key = i == sizeof wrong / sizeof *wrong;
        snprintf(
            text, sizeof text,
            "{ 'format': 'gpusim-scenario/1', 'name': 's',"
            "  'fleet': [ { 'name': 'a', 'gpu': 'a100-sxm4-80gb', 'gpus_per_node': 2 } ],"
            "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
            "  'policies': [ { 'name': 'q', %s }, { 'name': 'p', 'share': { 'kind': 'whole' } } ] }",
            key ? "'share': { 'kind': 'whole' }, 'shedule': {}" : wrong[i]);
        const char *path = sim_write(text, trace, NULL);
        assert_true(load(&r, path, NULL, 0, NULL, 0, &e) < 0);
        runner_fini(&r);
        assert_true(load(&r, path, NULL, 0, bad, 1, &e) < 0);
        runner_fini(&r);
        assert_int_equal(load(&r, path, NULL, 0, good, 1, &e), key ? ERR_INPUT : 0);
        if (!key) {
            json_t *q = json_array_get(json_object_get(r.resolved, "policies"), 0);
            assert_int_equal(r.n, 1);
            assert_int_equal(runner_run(&r, NULL, 1, &e), 0);
            if (i == 0)
                assert_string_equal(
                    json_string_value(json_object_get(json_object_get(q, "share"), "slots")),
                    "many");
        }
        runner_fini(&r);
    }
    free(trace);
}

static void failures(void **state)
{
    struct runner r;
    struct err e;
    char *bad = random_trace(900, "late,9999,not a number,1,u,9\n"), *good = random_trace(9, "");
    static const char *const set[] = { "nowhere.at.all=1" };
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads *= 8) {
        assert_int_equal(load(&r, sim_write(scenario, bad, NULL), NULL, 0, NULL, 0, &e), 0);
        assert_int_equal(runner_run(&r, temp_dir(), threads, &e), ERR_INPUT);
        assert_contains(e.where, "trace.csv:902:11");
        assert_contains(e.msg, "not a number");
        runner_fini(&r);
    }
    assert_int_equal(load(&r, sim_write(scenario, NULL, NULL), NULL, 0, NULL, 0, &e), ERR_IO);
    assert_contains(e.where, "trace.csv");
    runner_fini(&r);
    assert_int_equal(load(&r, sim_write(scenario, good, NULL), set, 1, NULL, 0, &e), ERR_USAGE);
    runner_fini(&r);
    assert_int_equal(load(&r, sim_write(scenario, good, NULL), NULL, 0, NULL, 0, &e), 0);
    assert_int_equal(runner_run(&r, "/nowhere/at/all", 2, &e), ERR_IO);
    assert_contains(e.msg, "scratch file");
    runner_fini(&r);
    runner_fini(&(struct runner){ 0 });
    free(bad);
    free(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes_at_any_number_of_threads),
        cmocka_unit_test(some_policies),
        cmocka_unit_test(mistakes_of_others),
        cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
