/* test_risk.c - risk.json: the ranges of a price book and what they make of each policy's yearly
 * cost. */
#include "support/simulate.h"

#include "cli/risk.h"

#include <math.h>
#include <string.h>

#define SCENARIO                                                                                    \
    "{ 'format': 'gpusim-scenario/1', 'name': 'k', 'fleet': [ { 'name': 'p', 'gpu': 'generic', "    \
    "'nodes': 1, 'gpus_per_node': 2 } ], 'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': "        \
    "'trace.csv' } ], 'policies': [ { 'name': 'a', 'share': { 'kind': 'whole' } }, { 'name': 'b', " \
    "'share': { 'kind': 'timeslice' } } ], 'prices': 'prices.json' }"

static const char trace[] = "job_id,submit_s,duration_s,gpus\nx,0,3600,1\n";

static json_t *risk(struct simulated *s, const char *amount)
{
    static char book[600];
    snprintf(
        book, sizeof book,
        "{ 'format': 'gpusim-prices/1', 'name': 'n', 'currency': 'USD', 'as_of': '2026-01', 'rate': 0, "
        "'term': '1 y', 'items': [ { 'name': 'rack', 'driver': 'card', 'period': 'year', 'amount': %s, "
        "'source': 's', 'date': '2026-01', 'confidence': 'read' } ] }",
        amount);
    const struct sim_file files[] = { { "prices.json", book }, { NULL, NULL } };
    simulate_with(s, SCENARIO, trace, files, 2);
    return risk_of_run(&s->run);
}

static double number(json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

/* Two cards at 80, 100 or 150 USD a year: 160, 200, 300 for either policy. */
static void known_ends(void **state)
{
    struct simulated s;
    (void)state;
    json_t *v = risk(&s, "{ 'low': 80, 'mode': 100, 'high': 150 }");
    assert_non_null(v);
    json_t *options = json_object_get(v, "options"),
           *in = json_array_get(json_object_get(v, "inputs"), 0);
    assert_int_equal(json_array_size(options), 2);
    assert_int_equal(json_array_size(json_object_get(v, "inputs")), 1);
    for (size_t i = 0; i < 2; i++) {
        json_t *o = json_array_get(options, i);
        assert_string_equal(json_string_value(json_object_get(o, "policy")), i ? "b" : "a");
        assert_close(number(o, "eac_usd"), 200, 1e-9);
        assert_close(json_number_value(json_array_get(json_object_get(in, "eac_low_usd"), i)), 160,
                     1e-9);
        assert_close(json_number_value(json_array_get(json_object_get(in, "eac_high_usd"), i)), 300,
                     1e-9);
        assert_close(number(o, "p_cheapest"), 0.5, 1e-9); /* equal costs share */
        assert_true(number(o, "p10_usd") > 160 && number(o, "p10_usd") < number(o, "p50_usd"));
        assert_true(number(o, "p50_usd") < number(o, "p90_usd") && number(o, "p90_usd") < 300);
    }
    assert_string_equal(json_string_value(json_object_get(in, "name")), "rack");
    json_decref(v);
    simulated_fini(&s);
}

static void nothing_to_say(void **state)
{
    struct simulated s;
    (void)state;
    assert_null(risk(&s, "100")); /* no range */
    simulated_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_ends),
        cmocka_unit_test(nothing_to_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
