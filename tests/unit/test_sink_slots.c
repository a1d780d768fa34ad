/* test_sink_slots.c - slots.csv: who held which slot of the first cards, from a run whose
 * schedule is known; and the picture's data from it. */
#include "tests/support/simulate.h"

#include "metrics/sink_slots.h"
#include "plots/report_data.h"
#include "support/fake_result.h"
#include "whatif/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char scenario[] =
    "{ 'format': 'gpusim-scenario/1', 'name': 's', 'horizon': '100 s',"
    "  'fleet': [ { 'name': 'a', 'gpu': 'a100-sxm4-40gb', 'nodes': 2, 'gpus_per_node': 10 } ],"
    "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
    "  'schedule': { 'place': 'first_fit' },"
    "  'policies': [ { 'name': 'whole', 'share': { 'kind': 'whole' } },"
    "    { 'name': 'm', 'share': { 'kind': 'mig', 'repartition': '0 s', 'mode_change': '0 s' } } ] }";
static const char trace[] = "job_id,submit_s,duration_s,gpus,gpu_mem_bytes\n"
                            "big,0,50,9,\n"
                            "half,1,10,0.5,\n"
                            "long,2,500,0.25,4000000000\n";

static void every_stay_on_the_first_cards(void **state)
{
    struct runner r;
    struct diag d;
    struct err e = { 0 };
    char text[4096];
    (void)state;
    const char *path = sim_write(scenario, trace, NULL);
    diag_init(&d);
    assert_int_equal(runner_load(&r, path, NULL, 0, NULL, 0, &d, &e), 0);
    assert_int_equal(runner_run(&r, temp_dir(), 1, &e), 0);
    rewind(r.slots[0]);
    assert_int_equal(fread(text, 1, sizeof text, r.slots[0]), 0); /* whole cards have no slots */
    rewind(r.slots[1]);
    text[fread(text, 1, sizeof text - 1, r.slots[1])] = '\0';
    /* eight of the nine cards of the gang; the slices are on the tenth card, which is not shown */
    for (int card = 0; card < 8; card++) {
        char want[80];
        snprintf(want, sizeof want, "m,job,big,a.0.%d,0,0,0,0.000000000,50.000000000\n", card);
        assert_contains(text, want);
    }
    assert_null(strstr(text, "a.0.8"));
    assert_null(strstr(text, "half"));
    runner_fini(&r);
    diag_fini(&d);
}

static void slices_and_what_has_not_ended(void **state)
{
    struct runner r;
    struct diag d;
    struct err e = { 0 };
    char text[4096];
    static const char *const set[] = { "fleet.a.gpus_per_node=1" }, *const only[] = { "m" };
    (void)state;
    const char *path = sim_write(scenario, trace, NULL);
    diag_init(&d);
    assert_int_equal(runner_load(&r, path, set, 1, only, 1, &d, &e), 0);
    assert_int_equal(runner_run(&r, temp_dir(), 1, &e), 0);
    rewind(r.slots[0]);
    text[fread(text, 1, sizeof text - 1, r.slots[0])] = '\0';
    assert_contains(text, "m,job,half,a.0.0,"); /* a half is 3g.20gb: 4 of 8 memory slices */
    assert_contains(text, ",4,3,1.000000000,");
    assert_contains(text, "m,job,long,a.0.0,");
    assert_contains(text, ",2.000000000,100.000000000\n"); /* still there at the horizon */
    runner_fini(&r);
    diag_fini(&d);
}

static void put(const char *dir, const char *name, const char *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void the_map_shows_replicas_apart(void **state)
{
    struct arena *a = arena_create();
    struct result r;
    struct digest d;
    struct err e = { 0 };
    char out[4096];
    (void)state;
    const char *dir = temp_dir();
    fake_result(&r, a);
    put(dir, "slots.csv",
        "policy,kind,id,card,start,units,slices,from_s,to_s\n"
        "mig,service,chat.0,a100.0.10,0,4,3,0,7200\n"
        "mig,job,j1,a100.0.2,4,2,2,1800,3600\n"
        "whole,job,other,a100.0.2,0,0,0,0,3600\n" /* another policy */
        "mig,job,j2,a100.0.2,7,4,3,0,3600\n"      /* beyond the card */
        "mig,job,j3,a100.1.2,0,1,1,0,3600\n"      /* another node */
        "mig,job,j4,a100.0.2,0,0,0,3600,5400\n"); /* whole, MIG off */
    assert_int_equal(digest_read(&d, &r, dir, &e), 0);
    const struct source s = { .r = &r, .d = &d };
    snprintf(out, sizeof out, "%s/map.tsv", dir);
    assert_int_equal(data_mig_map(&s, out, &e), 1);
    char *text = read_file(out);
    const char *boxes = strstr(text, "\n\n\n");
    assert_non_null(boxes);
    assert_true(strstr(text, "a100.0.2\t8\t") < strstr(text, "a100.0.10\t8\t")); /* by number */
    assert_string_equal(boxes, "\n\n\nfrom\tto\tlow\thigh\tslices\n"
                               "0.5\t1\t4\t6\t2\n"
                               "1\t1.5\t0\t8\t0\n"
                               "\n\nfrom\tto\tlow\thigh\tslices\n"
                               "0\t2\t9\t13\t3\n");
    free(text);
    digest_fini(&d);
    fake_result_fini(&r);
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stay_on_the_first_cards),
        cmocka_unit_test(slices_and_what_has_not_ended),
        cmocka_unit_test(the_map_shows_replicas_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
