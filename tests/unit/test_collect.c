/* From a run to the numbers of a policy, by hand: waits, slowdowns, classes and users, what the
 * warm-up leaves out, and sentences of advice. */
#include "tests/support/simulate.h"

#include "metrics/collect.h"

#include <math.h>
#include <string.h>

static const char scenario[] =
    "{ 'format': 'gpusim-scenario/1', 'name': 's', %s"
    "  'fleet': [ { 'name': 'a', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 2 } ],"
    "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
    "  'schedule': { 'backfill': 'none' }, 'policies': ["
    "    { 'name': 'p', 'share': { 'kind': 'whole' } },"
    "    { 'name': 'q', 'share': { 'kind': 'timeslice', 'slots': 4, 'switch': '0 us' } } ] }";

static const char trace[] = "job_id,submit_s,duration_s,gpus,class,user,gpu_mem_bytes\n"
                            "a,0,10,2,training,ann,\n" /* 0-10 */
                            "b,2,4,1,dev,bob,\n"       /* waits 8, ends 14 */
                            "c,3,0.5,1,dev,bob,\n"     /* waits 7, ends 10.5; slowdown 7.5 / 1 s */
                            "d,4,1,3,dev,,\n"          /* rejected: three cards */
                            "e,5,2,0.5,,ann,\n";       /* waits 5.5, ends 12.5 */

static void by_hand(void **state)
{
    struct simulated s;
    char text[1200];
    (void)state;
    snprintf(text, sizeof text, scenario, "");
    simulate(&s, text, trace);
    const struct policy_result *p = sim_policy(&s, "p");
    assert_int_equal(p->jobs.submitted, 5);
    assert_int_equal(p->jobs.completed, 4);
    assert_int_equal(p->jobs.rejected, 1);
    assert_contains(p->rejected_reason, "more cards");
    assert_int_equal(p->stats.wait_s.n, 4); /* zeros count, rejected ones do not */
    assert_close(p->stats.wait_s.mean, (0 + 8 + 7 + 5.5) / 4, 1e-12);
    assert_close(p->stats.wait_s.p50, 5.5, 1e-12);
    assert_close(p->stats.wait_s.max, 8, 1e-12);
    assert_close(p->stats.turnaround_s.mean, (10 + 12 + 7.5 + 7.5) / 4, 1e-12);
    assert_close(p->stats.slowdown.max, 7.5, 1e-12); /* 7.5 s over max(0.5 s, 1 s) */
    assert_close(p->useful_gpu_hours, (20 + 4 + 0.5 + 1) / 3600, 1e-12);
    assert_close(p->gpu_hours, (20 + 4 + 0.5 + 2) / 3600, 1e-9); /* a half takes a card */
    assert_close(p->gpu.allocated, 26.5 / 28, 1e-9);
    assert_int_equal(p->n_classes, 3);
    assert_string_equal(p->by_class[0].name, "(none)");
    assert_string_equal(p->by_class[1].name, "training");
    assert_string_equal(p->by_class[2].name, "dev");
    assert_int_equal(p->by_class[2].count.submitted, 3);
    assert_int_equal(p->n_users, 3);
    assert_string_equal(p->by_user[0].name, "(none)"); /* sorted by name */
    assert_string_equal(p->by_user[1].name, "ann");
    assert_close(p->by_user[2].stats.wait_s.mean, 7.5, 1e-12);
    assert_true(p->stable && p->window_s == 14 && p->trace_rows == 5);
    assert_true(isnan(p->tco.total_usd) || !p->tco.priced);
    simulated_fini(&s);
}

static void the_warm_up_leaves_out(void **state)
{
    struct simulated s;
    char text[1200];
    (void)state;
    snprintf(text, sizeof text, scenario, "'warmup': '3 s',");
    simulate(&s, text, trace);
    const struct policy_result *p = sim_policy(&s, "p");
    assert_int_equal(p->stats.wait_s.n, 2); /* c and e; a and b came before */
    assert_close(p->stats.wait_s.mean, 6.25, 1e-12);
    assert_close(p->gpu.allocated, (26.5 - 6) / 22, 1e-9);
    assert_close(p->useful_gpu_hours, 1.5 / 3600, 1e-12);
    simulated_fini(&s);
}

static void what_stands_in_comparison_and_advice(void **state)
{
    struct simulated s;
    char text[1200], all[4000] = "";
    bool compared = false;
    (void)state;
    snprintf(text, sizeof text, scenario, "");
    simulate(&s, text, trace);
    const struct result *r = &s.run.result;
    assert_int_equal(r->n_policies, 2);
    for (size_t i = 0; i < r->n_comparisons; i++) {
        const struct comparison_row *c = &r->comparison[i];
        assert_string_equal(c->policy, "q"); /* against the first */
        if (!isnan(c->difference)) assert_close(c->difference, c->value - c->first, 1e-12);
        if (strcmp(c->metric, "wait_s.mean") != 0) continue;
        assert_close(c->first, 5.125, 1e-12);
        compared = true;
    }
    assert_true(compared);
    for (size_t i = 0; i < r->n_advice; i++)
        strncat(all, r->advice[i], sizeof all - strlen(all) - 1);
    assert_contains(all, "did not serve 1 of 5 jobs");
    simulated_fini(&s);
    collect_destroy(NULL);
}

/* A load of 2 with a horizon is unstable: steady-state percentiles are not given. */
static void an_overload_has_no_percentiles(void **state)
{
    static char rows[200000] = "job_id,submit_s,duration_s,gpus\n";
    struct simulated s;
    char text[1200];
    (void)state;
    size_t at = strlen(rows);
    for (int i = 0; i < 4000; i++) at += (size_t)sprintf(rows + at, "j%d,%d,4,1\n", i, i);
    snprintf(text, sizeof text, scenario, "'horizon': '4000 s',");
    simulate(&s, text, rows);
    const struct policy_result *p = sim_policy(&s, "p");
    assert_false(p->stable);
    assert_contains(p->unstable_reason, "queue");
    assert_true(isnan(p->stats.wait_s.p95) && !isnan(p->stats.wait_s.mean));
    assert_true(p->stats.wait_s.censored > 1000);
    simulated_fini(&s);
}

/* A service with twice the work it can do beside jobs that nobody keeps waiting: the policy is
 * unstable, percentiles are withheld of the service, not of the jobs. */
static void a_service_that_grows_beside_jobs_that_do_not(void **state)
{
    static const char text[] =
        "{ 'format': 'gpusim-scenario/1', 'name': 's', 'horizon': '2000 s', 'fleet': [ { 'name': 'a', 'gpu': "
        "'generic', 'gpus_per_node': 2 } ], 'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' }, "
        "{ 'name': 'api', 'kind': 'service', 'arrivals': { 'kind': 'poisson', 'gap': '1 s' }, 'size': '2 s' } ], "
        "'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }";
    static char rows[20000] = "job_id,submit_s,duration_s,gpus\n";
    struct simulated s;
    (void)state;
    size_t at = strlen(rows);
    for (int i = 0; i < 200; i++) at += (size_t)sprintf(rows + at, "j%d,%d,4,1\n", i, 10 * i);
    simulate(&s, text, rows);
    const struct policy_result *p = sim_policy(&s, "p");
    assert_false(p->stable || p->service[0].stable);
    assert_string_equal(p->unstable_reason, "service api: its queue grew to the end of the run");
    assert_true(isnan(p->service[0].wait_ms.p95) && isnan(p->service[0].latency_ms.mean));
    assert_close(p->stats.turnaround_s.p95, 4, 1e-9);
    assert_contains(s.run.result.advice[s.run.result.n_advice - 1], "where a queue grows");
    simulated_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(the_warm_up_leaves_out),
        cmocka_unit_test(what_stands_in_comparison_and_advice),
        cmocka_unit_test(an_overload_has_no_percentiles),
        cmocka_unit_test(a_service_that_grows_beside_jobs_that_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
