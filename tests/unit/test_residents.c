/* Residents by hand: speeds as neighbours come and go, gangs at the pace of their slowest card,
 * memory that runs out, what each is charged, and clocks at the end of their range. */
#include "tests/support/simulate.h"

#include <stdio.h>
#include <string.h>

static const char frame[] =
    "{ 'format': 'gpusim-scenario/1', 'name': 's', %s"
    "  'fleet': [ { 'name': 'a', 'gpu': '%s', 'nodes': 1, 'gpus_per_node': %d } ],"
    "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
    "  'profiles': { 'busy': { 'host': 0, 'compute': 1, 'memory': 0, 'sm_width': 1, 'bw_width': 1 },"
    "    'grow': { 'host': 0, 'compute': 1, 'memory': 0, 'footprint': '700 GiB', 'mem_grow': '5 s' } },"
    "  'schedule': { 'backfill': 'none' }, 'policies': [ { 'name': 'p', 'share': { %s } } ] }";

#define HEAD "job_id,submit_s,duration_s,gpus,profile,gpu_mem_bytes\n"

static void run(struct simulated *s, const char *more, const char *gpu, int cards,
                const char *share, const char *trace)
{
    char text[1500];
    snprintf(text, sizeof text, frame, more, gpu, cards, share);
    simulate(s, text, trace);
}

static double end_of(const struct simulated *s, const char *id)
{
    return sim_job_of(s, "p", id)->end_s;
}

/* a alone 0-10 s (10 done), both at half speed from 10 s on: a has 20 left and b 8, so b ends at 26
 * s and a, then with 12 left, at 38 s. */
static void speeds_change_with_the_company(void **state)
{
    struct simulated s;
    (void)state;
    run(&s, "", "generic", 1, "'kind': 'timeslice', 'slots': 2, 'switch': '0 us'",
        HEAD "a,0,30,1,busy,1\nb,10,8,1,busy,1\n");
    assert_close(end_of(&s, "b"), 26, 1e-12);
    assert_close(end_of(&s, "a"), 38, 1e-12);
    const struct policy_result *p = sim_policy(&s, "p");
    assert_close(p->gpu.allocated, (38 + 16) / 2.0 / 38, 1e-9); /* slots over slots */
    assert_close(p->gpu.sm_active, 1, 1e-9);
    simulated_fini(&s);
}

/* A gang on cards 0 and 1 with a neighbour on one of them runs at half speed on both. */
static void a_gang_waits_for_its_slowest(void **state)
{
    struct simulated s;
    (void)state;
    run(&s, "", "generic", 2, "'kind': 'timeslice', 'slots': 2, 'switch': '0 us'",
        HEAD "g,0,10,2,busy,1\nn,0,3,1,busy,1\n");
    assert_close(end_of(&s, "n"), 6, 1e-12);
    assert_close(end_of(&s, "g"), 13, 1e-12); /* 3 done by 6 s, 7 left */
    simulated_fini(&s);
}

/* 1 TiB: two of 600 GiB do not fit; the one that allocates last fails, at once, and is not
 * retried. */
static void the_last_to_allocate_fails(void **state)
{
    struct simulated s;
    (void)state;
    run(&s, "", "generic", 1, "'kind': 'timeslice', 'slots': 2, 'switch': '0 us'",
        HEAD "a,0,30,1,busy,644245094400\nb,10,8,1,busy,644245094400\nc,50,1,1,busy,1\n");
    assert_string_equal(sim_job_of(&s, "p", "b")->state, "failed");
    assert_contains(sim_job_of(&s, "p", "b")->reason, "out of memory");
    assert_close(end_of(&s, "b"), 10, 1e-12);
    assert_close(end_of(&s, "a"), 30, 1e-12);
    const struct policy_result *p = sim_policy(&s, "p");
    assert_int_equal(p->jobs.failed_oom, 1);
    assert_int_equal(p->jobs.completed, 2);
    simulated_fini(&s);
}

/* Two of 700 GiB that grow after 5 s: the second to grow fails then, having slowed the first. */
static void memory_that_grows(void **state)
{
    struct simulated s;
    (void)state;
    run(&s, "", "generic", 1, "'kind': 'timeslice', 'slots': 2, 'switch': '0 us'",
        "job_id,submit_s,duration_s,gpus,profile\na,0,30,1,grow\nb,2,30,1,grow\n");
    assert_string_equal(sim_job_of(&s, "p", "b")->state, "failed");
    assert_close(end_of(&s, "b"), 7, 1e-12);
    assert_close(end_of(&s, "a"), 32.5, 1e-12); /* 5 s at half speed cost 2.5 s */
    simulated_fini(&s);
}

/* A gang needs its memory on every card: one full card is enough to fail, and nothing is left
 * behind. */
static void a_gang_allocates_all_or_nothing(void **state)
{
    struct simulated s;
    (void)state;
    run(&s, "", "generic", 2, "'kind': 'timeslice', 'slots': 2, 'switch': '0 us'",
        HEAD "a,0,30,1,busy,644245094400\ng,1,8,2,busy,644245094400\nb,2,5,2,busy,1073741824\n");
    assert_string_equal(sim_job_of(&s, "p", "g")->state, "failed");
    assert_string_equal(sim_job_of(&s, "p", "b")->state, "completed");
    simulated_fini(&s);
}

/* 100 tenants of a hundredth each on one card under interception. */
static void a_hundred_residents(void **state)
{
    char trace[8000] = HEAD;
    struct simulated s;
    (void)state;
    for (int i = 0; i < 100; i++)
        snprintf(trace + strlen(trace), sizeof trace - strlen(trace), "j%d,0,10,0.01,busy,1\n", i);
    run(&s, "", "generic", 1, "'kind': 'intercept'", trace);
    for (size_t i = 0; i < s.n_jobs; i++) assert_close(s.job[i].end_s, 1000, 1e-9);
    simulated_fini(&s);
}

/* Work that would end after the clock does: it ends with the clock, nothing wraps, all laws
 * hold. */
static void the_end_of_the_clock(void **state)
{
    static const char *const shares[] = { "'kind': 'whole'", "'kind': 'intercept'", "'kind': 'mps'",
                                          "'kind': 'remote'", "'kind': 'timeslice'" };
    (void)state;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        struct simulated s;
        run(&s, "'output': { 'sample': '290 y' },", "t4", 1, shares[i],
            "job_id,submit_s,duration_s,gpus\na,9200000000,9200000000,1\nb,9200000000,9200000000,1\n"
            "c,9200000000,9200000000,0\n");
        assert_int_equal(sim_policy(&s, "p")->jobs.completed, 3);
        assert_close(end_of(&s, "a"), 9223372036.854775806, 1e-15);
        simulated_fini(&s);
    }
}

/* The warm-up cuts: card time and energy count from there on, the series does not lose an interval,
 * and work that ends before it leaves an empty window. */
static void the_warm_up(void **state)
{
    struct simulated s;
    (void)state;
    run(&s, "'warmup': '20 s', 'output': { 'sample': '10 s' },", "generic", 1, "'kind': 'whole'",
        "job_id,submit_s,duration_s,gpus\na,0,30,1\nb,40,10,1\n");
    assert_close(sim_policy(&s, "p")->gpu.allocated, 20.0 / 30, 1e-9);
    assert_contains(s.series_csv, "p,10,1,");
    assert_contains(s.series_csv, "p,20,1,");
    assert_contains(s.series_csv, "p,30,1,");
    assert_contains(s.series_csv, "p,40,0,");
    simulated_fini(&s);
    run(&s, "'warmup': '15 s', 'output': { 'sample': '10 s' },", "generic", 1, "'kind': 'whole'",
        "job_id,submit_s,duration_s,gpus\na,0,30,1\n");
    assert_contains(s.series_csv, "p,20,1,"); /* an interval that the warm-up cuts in two */
    simulated_fini(&s);
    run(&s, "'warmup': '1 h',", "t4", 1, "'kind': 'whole'",
        "job_id,submit_s,duration_s,gpus\na,0,30,1\n");
    const struct policy_result *p = sim_policy(&s, "p");
    assert_int_equal(p->jobs.completed, 1);
    assert_close(p->window_s, 0, 0);
    assert_close(p->gpu.energy_kwh, 0, 0);
    simulated_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speeds_change_with_the_company),
        cmocka_unit_test(a_gang_waits_for_its_slowest),
        cmocka_unit_test(the_last_to_allocate_fails),
        cmocka_unit_test(memory_that_grows),
        cmocka_unit_test(a_gang_allocates_all_or_nothing),
        cmocka_unit_test(a_hundred_residents),
        cmocka_unit_test(the_end_of_the_clock),
        cmocka_unit_test(the_warm_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
