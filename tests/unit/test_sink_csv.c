/* jobs.csv and series.csv to the letter, and a disk that is full. */
#include "tests/support/simulate.h"

#include "engine/sim.h"
#include "metrics/sink_csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char scenario[] =
    "{ 'format': 'gpusim-scenario/1', 'name': 's',"
    "  'fleet': [ { 'name': 'a', 'gpu': '%s', 'nodes': 1, 'gpus_per_node': 2 } ],"
    "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
    "  'output': { 'sample': '4 s' }, 'schedule': { 'backfill': 'none' },"
    "  'policies': [ { 'name': 'p', 'share': { 'kind': '%s' } } ] }";

static const char trace[] = "job_id,submit_s,duration_s,gpus\n"
                            "a,0.5,3,2\n"
                            "\"b,\"\"x\"\"\",1.000000001,0.25,1\n"
                            "c,2,1,3\n";

static void to_the_letter(void **state)
{
    struct simulated s;
    char text[900];
    (void)state;
    snprintf(text, sizeof text, scenario, "generic", "whole");
    simulate(&s, text, trace);
    assert_string_equal(s.jobs_csv,
                        "p,c,rejected,2,,2,,,,,3,,0,,,it asks for more cards than the fleet has,\n"
                        "p,a,completed,0.5,0.5,3.5,0,3,3,1,2,a.0.0 a.0.1,1,,0.000000,,\n"
                        "p,\"b,\"\"x\"\"\",completed,1.000000001,3.5,3.75,2.499999999,0.25,"
                        "2.749999999,2.75,1,a.0.0,1,,0.000000,,\n");
    assert_contains(s.series_csv, "p,3.75,"); /* the last interval ends with the run */
    simulated_fini(&s);
}

/* Cards paid for while any job is on them: known at the end only. Two cards for an hour and one for
 * half of one, 2.5 card-hours at 3 USD; the rejected job costs nothing. Costs add up to what users
 * are charged. */
static void prices_of_the_whole_run(void **state)
{
    static const char rows[] = "job_id,submit_s,duration_s,gpus\n"
                               "a,0,3600,2\nc,2,1,3\nb,3600,1800,1\n",
                      book[] =
                          "{ 'format': 'gpusim-prices/1', 'name': 'n', 'currency': 'USD', 'as_of': "
                          "'2026-01', 'items': [ { 'name': 'rent', 'driver': 'occupied_gpu_hour', "
                          "'amount': 3 } ] }";
    const struct sim_file files[] = { { "prices.json", book }, { NULL, NULL } };
    struct simulated s;
    char text[900], *end;
    (void)state;
    snprintf(text, sizeof text, scenario, "generic", "whole");
    end = strrchr(text, '}');
    snprintf(end, sizeof text - (size_t)(end - text), ", 'prices': 'prices.json' }");
    simulate_with(&s, text, rows, files, 1);
    assert_string_equal(s.jobs_csv,
                        "p,c,rejected,2,,2,,,,,3,,0,,,it asks for more cards than the fleet has,\n"
                        "p,a,completed,0,0,3600,0,3600,3600,1,2,a.0.0 a.0.1,1,6.000000,0.000000,,\n"
                        "p,b,completed,3600,3600,5400,0,1800,1800,1,1,a.0.0,1,1.500000,"
                        "0.000000,,\n");
    simulated_fini(&s);
}

static void instances_are_named(void **state)
{
    struct simulated s;
    char text[900];
    (void)state;
    snprintf(text, sizeof text, scenario, "a100-sxm4-40gb", "mig");
    simulate(&s, text, "job_id,submit_s,duration_s,gpus\na,0,5,0.25\n");
    assert_string_equal(sim_job_of(&s, "p", "a")->cards, "a.0.0:1g.10gb@0");
    assert_contains(s.series_csv, ",,"); /* no duty cycle under MIG */
    simulated_fini(&s);
}

static void a_full_disk(void **state)
{
    struct runner r;
    char text[900];
    FILE *full = fopen("/dev/full", "w");
    struct jobs_csv jobs = { .to = full, .usd_per_card_hour = NAN, .usd_per_kwh = NAN };
    struct err e = { 0 };
    struct sim_totals totals = { 0 };
    (void)state;
    if (!full) {
        print_message("skipped: no /dev/full\n");
        skip();
    }
    setvbuf(full, NULL, _IONBF, 0);
    snprintf(text, sizeof text, scenario, "generic", "whole");
    sim_load(&r, sim_write(text, trace, NULL));
    struct sink sink = jobs_csv_sink(&jobs);
    struct sim_options opt = { .sinks = &sink, .n_sinks = 1 };
    assert_int_equal(sim_run(&r.plan[0], &opt, &totals, &e), ERR_IO);
    assert_contains(e.msg, "jobs.csv");
    assert_contains(e.msg, "No space left");
    sink = series_csv_sink(full);
    opt.sample = SIM_SECOND;
    e = (struct err){ 0 };
    assert_int_equal(sim_run(&r.plan[0], &opt, &totals, &e), ERR_IO);
    assert_contains(e.msg, "series.csv");
    jobs_csv_fini(&jobs);
    fclose(full);
    runner_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(to_the_letter),
        cmocka_unit_test(prices_of_the_whole_run),
        cmocka_unit_test(instances_are_named),
        cmocka_unit_test(a_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
