/* test_sensitivity.c - each parameter at both ends of its range: who is replayed, what changes
 * by how much, and that nothing else does. */
#include "tests/support/simulate.h"

#include "base/json.h"
#include "plots/effects.h"
#include "whatif/sensitivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two equal tenants of one card that never leave it: each goes at 1/2 of (1 + switch / quantum). */
static const char scenario[] =
    "{ 'format': 'gpusim-scenario/1', 'name': 's',"
    "  'fleet': [ { 'name': 'a', 'gpu': 'a100-sxm4-80gb', 'nodes': 1, 'gpus_per_node': 1 } ],"
    "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
    "  'profiles': { 'full': { 'compute': 1, 'host': 0, 'memory': 0, 'sm_width': 1 } },"
    "  'policies': [ { 'name': 'whole', 'share': { 'kind': 'whole' } },"
    "    { 'name': 'turns', 'share': { 'kind': 'timeslice', 'slots': 2 } },"
    "    { 'name': 'set', 'share': { 'kind': 'timeslice', 'slots': 2, 'switch': '0 us' } } ] }";
static const char trace[] = "job_id,submit_s,duration_s,gpus,gpu_mem_bytes,profile\n"
                            "a,0,1000,1,1000000000,full\n"
                            "b,0,1000,1,1000000000,full\n";

static json_t *study(unsigned threads)
{
    struct runner r;
    struct diag d;
    struct err e = { 0 };
    json_t *v = NULL;
    const char *path = sim_write(scenario, trace, NULL);
    diag_init(&d);
    assert_int_equal(runner_load(&r, path, NULL, 0, NULL, 0, &d, &e), 0);
    assert_int_equal(d.count, 0);
    assert_int_equal(runner_run(&r, NULL, threads, &e), 0);
    assert_int_equal(sensitivity_of_run(&v, &r, path, NULL, 0, threads, &e), 0);
    assert_non_null(v);
    runner_fini(&r);
    diag_fini(&d);
    return v;
}

static void assert_near(double x, double y)
{
    if (!(fabs(x - y) < 1e-5)) fail_msg("%.9g, not %.9g", x, y);
}

static double wanted(double quantum, double switched)
{
    return 1 + switched / quantum;
}

static void a_turn_costs_what_it_costs(void **state)
{
    struct effect x;
    json_t *v = study(1);
    const double now = wanted(1024, 111);
    (void)state;
    assert_true(effect_of(v, "a", "timeslice.switch_us", &x));
    assert_string_equal(x.policy, "turns"); /* "set" states its own */
    assert_near(x.turnaround[AT_LOW], 100 * (wanted(1024, 110) / now - 1));
    assert_near(x.turnaround[AT_HIGH], 100 * (wanted(1024, 230) / now - 1));
    assert_true(isnan(x.cost[AT_LOW])); /* no prices */
    assert_true(effect_of(v, "a", "timeslice.quantum_us", &x));
    assert_string_equal(x.policy, "turns"); /* without switches the quantum does nothing to "set" */
    assert_near(x.turnaround[AT_LOW], 100 * (wanted(1000, 111) / now - 1));
    assert_near(x.turnaround[AT_HIGH], 100 * (wanted(2300, 111) / now - 1));
    json_decref(v);
}

static json_t *param(json_t *v, const char *name)
{
    json_t *one;
    size_t i;
    json_array_foreach(json_object_get(v, "parameters"), i,
                       one) if (strcmp(json_string_value(json_object_get(one, "name")), name) ==
                                0) return one;
    return NULL;
}

static void only_who_uses_it_is_replayed(void **state)
{
    json_t *v = study(1), *p = param(v, "timeslice.switch_us");
    (void)state;
    json_t *high = json_object_get(json_object_get(p, "high_end"), "policies");
    assert_int_equal(json_array_size(high), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(high, 0), "policy")),
                        "turns");
    p = param(v, "base.context_bytes"); /* all do; the high end of its range is its value */
    assert_int_equal(json_array_size(json_object_get(json_object_get(p, "low_end"), "policies")),
                     3);
    assert_true(json_is_null(json_object_get(p, "high_end")));
    assert_null(param(v, "mps.overhead"));
    assert_int_equal(json_array_size(json_object_get(v, "base")), 3);
    json_decref(v);
}

static void threads_do_not_show(void **state)
{
    json_t *one = study(1), *four = study(4);
    (void)state;
    assert_true(json_equal(one, four));
    json_decref(one);
    json_decref(four);
}

static void what_is_not_there(void **state)
{
    struct effect x;
    (void)state;
    assert_false(effect_of(NULL, "a", "timeslice.switch_us", &x));
    json_t *v = json_pack("{s:s, s:[], s:[{s:s, s:s, s:n, s:{s:s}}]}", "recommended", "p", "base",
                          "parameters", "fleet", "f", "name", "n", "low_end", "high_end", "problem",
                          "no room");
    assert_false(effect_of(v, "f", "m", &x));
    assert_true(effect_of(v, "f", "n", &x));
    assert_null(x.policy);
    assert_string_equal(x.problem[AT_HIGH], "no room");
    assert_null(x.problem[AT_LOW]);
    json_decref(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_costs_what_it_costs),
        cmocka_unit_test(only_who_uses_it_is_replayed),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(what_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
