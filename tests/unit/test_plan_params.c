/* Which parameters a run names, with which provenance, when groups of cards have profiles of their
 * own. */
#include "tests/support/simulate.h"

#include "engine/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TRACE "job_id,submit_s,duration_s,gpus\na,0,1,1\n"

static const char frame[] = "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ %s ],"
                            "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
                            "  'policies': [ { 'name': 'p', 'share': { %s } } ] }";

#define PARAM(value, unit, how)                                                                    \
    "{ 'value': " value ", 'unit': '" unit "', 'method': 'm', 'provenance': '" how "' }"

static const struct sim_file files[] = {
    { "measured.json",
      "{ 'format': 'gpusim-profile/1', 'gpu': 'a100-sxm4-40gb',"
      "  'device': { 'self_checks': [ { 'check': 'drift', 'status': 'failed', 'detail': '4 %' } ] },"
      "  'base': { 'h2d_Bps': " PARAM(
          "21e9", "B/s",
          "measured") " },"
                      "  'power': { 'idle_W': " PARAM(
                          "61", "W",
                          "measured") " },"
                                      "  'intercept': { 'core_gain': " PARAM(
                                          "0.9", "exponent",
                                          "measured") " },"
                                                      "  'timeslice': { 'quantum_us': " PARAM(
                                                          "2000", "us",
                                                          "measured") ","
                                                                      "                 'switch_us': " PARAM(
                                                                          "77", "us",
                                                                          "published") " } }" },
    { "assumed.json", "{ 'format': 'gpusim-profile/1', 'gpu': 'a100-sxm4-40gb',"
                      "  'timeslice': { 'quantum_us': " PARAM("1500", "us", "assumed") " } }" },
    { "generic.json", "{ 'format': 'gpusim-profile/1', 'gpu': 'generic',"
                      "  'timeslice': { 'switch_us': " PARAM("9", "us", "assumed") " } }" },
    { 0 }
};

#define GROUP(name, profile)                                                                       \
    "{ 'name': '" name "', 'gpu': 'a100-sxm4-40gb', 'profile': '" profile "' }"

static void load(struct runner *r, const char *fleet, const char *share)
{
    char text[2000];
    snprintf(text, sizeof text, frame, fleet, share);
    sim_load(r, sim_write(text, TRACE, files));
}

/* NULL: the run does not name it. */
static const struct param_result *find(const struct runner *r, const char *fleet, const char *name)
{
    const struct plan *p = &r->plan[0];
    for (size_t i = 0; i < p->n_params; i++)
        if (strcmp(p->param[i].fleet, fleet) == 0 && strcmp(p->param[i].name, name) == 0)
            return &p->param[i];
    return NULL;
}

static void expect(const struct runner *r, const char *fleet, const char *name, double value,
                   const char *provenance)
{
    const struct param_result *x = find(r, fleet, name);
    if (!x) fail_msg("%s of %s is not named", name, fleet);
    if (x->value != value || strcmp(x->provenance, provenance) != 0)
        fail_msg("%s of %s: %g, %s", name, fleet, x->value, x->provenance);
}

/* Each group by its own file, and by the defaults for what that lacks. A figure of a measurement
 * that contradicts itself says so; one that was published besides does not. */
static void same_card_two_profiles(void **state)
{
    struct runner r;
    (void)state;
    load(&r, GROUP("a", "measured.json") ", " GROUP("b", "assumed.json"), "'kind': 'timeslice'");
    expect(&r, "a", "timeslice.quantum_us", 2000, "measured");
    expect(&r, "a", "timeslice.switch_us", 77, "published");
    expect(&r, "b", "timeslice.quantum_us", 1500, "assumed");
    expect(&r, "b", "timeslice.switch_us", 111, "assumed");
    assert_string_equal(find(&r, "a", "timeslice.quantum_us")->source,
                        "m; self-checks of this profile failed: drift");
    assert_string_equal(find(&r, "a", "timeslice.switch_us")->source, "m");
    assert_string_equal(find(&r, "b", "timeslice.quantum_us")->source, "m");
    /* measured power decides the energy: named where a profile states it */
    expect(&r, "a", "power.idle_W", 61, "measured");
    assert_null(find(&r, "b", "power.idle_W"));
    const uint64_t *n = r.plan[0].provenance;
    assert_int_equal(n[PROV_MEASURED], 2);
    assert_int_equal(n[PROV_PUBLISHED], 1);
    assert_int_equal(n[PROV_ASSUMED], 4); /* context_bytes twice, b's two */
    runner_fini(&r);
}

/* What a slice's copies get: the measured rate where there is one, else a share of the bus; never
 * both. */
static void the_bus_of_slices(void **state)
{
    struct runner r;
    (void)state;
    load(&r, GROUP("a", "measured.json") ", " GROUP("b", "assumed.json"), "'kind': 'mig'");
    expect(&r, "a", "base.h2d_Bps", 21e9, "measured");
    assert_null(find(&r, "a", "mig.pcie_efficiency"));
    assert_null(find(&r, "b", "base.h2d_Bps"));
    expect(&r, "b", "mig.pcie_efficiency", 0.81, "assumed");
    runner_fini(&r);
}

/* The exponent of a token bucket is named where there is a bucket, with the value that it has on
 * that board: 0.886 on one of 108 SMs, 0.19 on one of 188 (share_intercept.c), measured as
 * measured. */
static void the_gain_in_use(void **state)
{
    static const char fleet[] = GROUP("a", "measured.json") ", " GROUP(
        "b", "assumed.json") ", { 'name': 'c', 'gpu': 'h100-sxm5-80gb' }";
    struct runner r;
    (void)state;
    load(&r, fleet, "'kind': 'intercept', 'enforce': 'bucket'");
    expect(&r, "a", "intercept.core_gain", 0.9, "measured");
    expect(&r, "b", "intercept.core_gain", 0.886, "published");
    const struct param_result *x = find(&r, "c", "intercept.core_gain");
    assert_non_null(x);
    assert_close(x->value, 0.886 - (0.886 - 0.19) * (132 - 108) / 80.0, 1e-12);
    assert_null(find(&r, "a", "base.launch_us"));
    runner_fini(&r);
    load(&r, fleet, "'kind': 'intercept', 'enforce': 'soft', 'hides': true");
    assert_null(find(&r, "a", "intercept.core_gain"));
    assert_non_null(find(&r, "a", "base.launch_us"));
    runner_fini(&r);
}

static void set_by_the_scenario(void **state)
{
    struct runner r;
    (void)state;
    load(&r, GROUP("a", "measured.json"), "'kind': 'timeslice', 'quantum': '3 ms'");
    const struct param_result *x = find(&r, "a", "timeslice.quantum_us");
    assert_non_null(x);
    assert_string_equal(x->provenance, "assumed");
    assert_string_equal(x->source, "set in the scenario: \"3 ms\"");
    assert_true(isnan(x->value));
    runner_fini(&r);
}

/* The flat card stays free of what its profile does not state. */
static void generic_with_a_profile(void **state)
{
    struct runner r;
    (void)state;
    load(&r, "{ 'name': 'a', 'gpu': 'generic', 'profile': 'generic.json' }", "'kind': 'timeslice'");
    expect(&r, "a", "timeslice.switch_us", 9, "assumed");
    expect(&r, "a", "base.context_bytes", 0, "assumed");
    runner_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_card_two_profiles), cmocka_unit_test(the_bus_of_slices),
        cmocka_unit_test(the_gain_in_use),        cmocka_unit_test(set_by_the_scenario),
        cmocka_unit_test(generic_with_a_profile),
    };
    return cmocka_run_group_tests_name("parameters of a plan", tests, NULL, NULL);
}
