/* test_gangs.c - gangs and the wires between their cards: NVLink domains that are parts of a node
 * or span nodes, racks to be packed or spread over, and what crossing costs. Cards by hand.
 * Mutants: the domain index forgets cards that come back, a gang in one domain is slowed, pack
 * spreads. */
#include "support/simulate.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char frame[] = "{ 'format': 'gpusim-scenario/1', 'name': 's',"
                            "  'fleet': [ { 'name': 'a', 'gpu': 'generic', %s } ],"
                            "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
                            "  'schedule': { 'place': '%s', %s },"
                            "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }";

#define HEAD "job_id,submit_s,duration_s,gpus,walltime_s\n"

/* Where and until when job `id` ran: "a.0.1 a.0.2". */
static void runs(const char *fleet, const char *place, const char *schedule, const char *rows,
                 const char *id, const char *cards, double start_s, double end_s)
{
    char text[1500], trace[1500];
    struct simulated s;
    snprintf(text, sizeof text, frame, fleet, place, schedule);
    snprintf(trace, sizeof trace, "%s%s", HEAD, rows);
    simulate(&s, text, trace);
    const struct sim_job *j = sim_job_of(&s, "p", id);
    if ((cards && strcmp(j->cards, cards) != 0) || !(fabs(j->start_s - start_s) < 1e-9) ||
        !(fabs(j->end_s - end_s) < 1e-6))
        fail_msg("%s {%s} {%s}: %s on %s from %.9g to %.9g, not on %s from %g to %g", place, fleet,
                 schedule, id, j->cards, j->start_s, j->end_s, cards ? cards : "any", start_s,
                 end_s);
    simulated_fini(&s);
}

#define PAIRS  "'nodes': 1, 'gpus_per_node': 8, 'nvlink_domain': 4, 'cross_domain_speed': 0.5"
#define NODE   "'gang': 'node'"
#define DOMAIN "'gang': 'domain'"

static const char *const places[] = { "best_fit", "best_fit_node", "clustering", "dot_product",
                                      "fgd",      "first_fit",     "pack",       "packing",
                                      "random",   "spread",        "worst_fit" };
enum { PLACES = sizeof places / sizeof *places };

/* x has three cards of the first half; only one is left beside it. */
static void domains_within_a_node(void **state)
{
    static const char rows[] = "x,0,1000,3,\ny,1,100,2,\n";
    (void)state;
    runs(PAIRS, "first_fit", NODE, rows, "y", "a.0.3 a.0.4", 1, 201);
    runs(PAIRS, "first_fit", DOMAIN, rows, "y", "a.0.4 a.0.5", 1, 101);
    for (size_t i = 0; i < PLACES; i++) /* nobody goes by half the speed who need not */
        runs(PAIRS, places[i], DOMAIN, rows, "y", NULL, 1, 101);
    /* five do not fit into a domain: they go by the node */
    runs(PAIRS, "first_fit", DOMAIN, "x,0,1000,3,\ny,1,100,5,\n", "y", NULL, 1, 201);
    /* two and two are free, but not in one domain: three wait for x */
    runs(PAIRS, "first_fit", DOMAIN ", 'backfill': 'none'", "x,0,50,2,\nz,0,400,2,\ny,1,100,3,\n",
         "y", "a.0.4 a.0.5 a.0.6", 1, 101);
    runs(PAIRS, "first_fit", DOMAIN ", 'backfill': 'none'",
         "x,0,50,2,\nv,0,60,2,\nz,0,400,2,\ny,1,100,3,\n", "y", "a.0.0 a.0.1 a.0.2", 60, 160);
    /* the tightest domain, the loosest, the first */
    static const char uneven[] = "u,0,1000,2,\nv,0,1000,1,\ny,1,100,2,\n";
    runs("'nodes': 2, 'gpus_per_node': 4, 'nvlink_domain': 2", "best_fit", DOMAIN, uneven, "y",
         "a.1.0 a.1.1", 1, 101);
    /* single cards and fractions do not care */
    runs(PAIRS, "first_fit", DOMAIN, "x,0,10,3,\ny,1,100,1,\n", "y", "a.0.3", 1, 101);
}

#define NVL "'nodes': 4, 'gpus_per_node': 4, 'nvlink_domain': 8, 'cross_domain_speed': 0.25"

/* Domains of two nodes: {0, 1} and {2, 3}. */
static void domains_of_several_nodes(void **state)
{
    static const char rows[] = "x,0,1000,4,\ny,1,100,8,\n";
    (void)state;
    runs(NVL, "first_fit", NODE, rows, "y", "a.1.0 a.1.1 a.1.2 a.1.3 a.2.0 a.2.1 a.2.2 a.2.3", 1,
         401);
    for (size_t i = 0; i < PLACES; i++)
        if (strcmp(places[i], "random") != 0 && strcmp(places[i], "worst_fit") != 0 &&
            strcmp(places[i], "spread") != 0)
            runs(NVL, places[i], DOMAIN, rows, "y", NULL, 1, 101);
    /* a node and a half: whole nodes first, the rest beside in the same domain */
    runs(NVL, "first_fit", DOMAIN, "x,0,1000,4,\ny,1,100,6,\n", "y",
         "a.2.0 a.2.1 a.2.2 a.2.3 a.3.0 a.3.1", 1, 101);
    /* one node of each domain is taken: wait, or go slowly */
    static const char split[] = "x,0,1000,4,\nv,0,50,4,\nz,0,1000,4,\ny,1,100,8,\n";
    runs(NVL, "first_fit", DOMAIN, split, "y", NULL, 1000, 1100);
    runs("'nodes': 4, 'gpus_per_node': 4, 'nvlink_domain': 8", "first_fit", NODE, split, "y",
         "a.1.0 a.1.1 a.1.2 a.1.3 a.3.0 a.3.1 a.3.2 a.3.3", 50, 150);
    /* more than a domain: whole nodes anywhere */
    runs(NVL, "first_fit", DOMAIN, "x,0,1000,4,\ny,1,100,12,\n", "y", NULL, 1, 401);
}

#define RACKS "'nodes': 6, 'gpus_per_node': 2, 'nodes_per_rack': 3, 'cross_rack_speed': 0.5"

/* x is on node 0, so rack 0 has two whole nodes, rack 1 three. */
static void racks_packed_and_spread(void **state)
{
    (void)state;
    runs(RACKS, "first_fit", "'racks': 'any'", "x,0,1000,2,\ny,1,100,6,\n", "y",
         "a.1.0 a.1.1 a.2.0 a.2.1 a.3.0 a.3.1", 1, 201);
    runs(RACKS, "first_fit", "'racks': 'pack'", "x,0,1000,2,\ny,1,100,6,\n", "y",
         "a.3.0 a.3.1 a.4.0 a.4.1 a.5.0 a.5.1", 1, 101);
    runs(RACKS, "first_fit", "'racks': 'pack'", "x,0,1000,2,\ny,1,100,4,\n", "y",
         "a.1.0 a.1.1 a.2.0 a.2.1", 1, 101); /* the tightest rack that does */
    runs(RACKS, "first_fit", "'racks': 'spread'", "x,0,1000,2,\ny,1,100,4,\n", "y",
         "a.1.0 a.1.1 a.3.0 a.3.1", 1, 201);
    runs(RACKS, "first_fit", "'racks': 'spread'", "x,0,1000,2,\ny,1,100,6,\n", "y",
         "a.1.0 a.1.1 a.3.0 a.3.1 a.4.0 a.4.1", 1, 201); /* the third where most are free */
    runs(RACKS, "first_fit", "'racks': 'pack'", "x,0,1000,2,\ny,1,100,8,\n", "y",
         "a.1.0 a.1.1 a.3.0 a.3.1 a.4.0 a.4.1 a.5.0 a.5.1", 1, 201);
    /* a node and a half: the half goes where it fits */
    runs(RACKS, "first_fit", "'racks': 'pack'", "x,0,1000,2,\ny,1,100,3,\n", "y", NULL, 1, 101);
    /* too few whole nodes: it waits */
    runs(RACKS, "first_fit", "'racks': 'spread', 'backfill': 'none'", "x,0,30,2,\ny,1,100,12,\n",
         "y", NULL, 30, 230);
}

/* A slot is free on every card, the memory for it on all but that of job x: racks are asked for
 * nodes that do. */
static void racks_count_nodes_that_hold_the_gang(void **state)
{
    static const char *const rules[] = { "any", "pack", "spread" };
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct simulated s;
        char *text = xasprintf(
            "{'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [{'name': 'a', 'gpu': "
            "'a100-sxm4-40gb', 'nodes': 3, 'gpus_per_node': 1, 'nodes_per_rack': 1}], 'work': "
            "[{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}], 'schedule': {'place': "
            "'first_fit', 'racks': '%s'}, 'policies': [{'name': 'p', 'share': {'kind': "
            "'timeslice', 'slots': 2, 'memory': 'reserve'}}]}",
            rules[i]);
        simulate(&s, text,
                 "job_id,submit_s,duration_s,gpus,gpu_mem_bytes\n"
                 "x,0,1000,0.5,30000000000\n"
                 "y,1,100,2,20000000000\n");
        assert_string_equal(sim_job_of(&s, "p", "y")->cards, "a.1.0 a.2.0");
        assert_true(sim_job_of(&s, "p", "y")->start_s == 1);
        simulated_fini(&s);
        free(text);
    }
}

/* Where all fit as they are nobody has to stay anywhere, and jobs go where the policy puts them. */
static void replacing_leaves_the_place_to_the_policy(void **state)
{
    (void)state;
    runs(
        "'nodes': 2, 'gpus_per_node': 2", "worst_fit",
        "'gang': 'any', 'order': 'sjf', 'preempt': 'always', 'migrate': 'replace', 'migrate_pause': '1 s', 'backfill': "
        "'none'",
        "x,0,1000,1,\ny,1,100,1,\n", "y", "a.1.0", 1, 101);
}

/* Cards that go out of service and come back are in the index of domains again. */
static void domains_and_outages(void **state)
{
    (void)state;
    runs(
        PAIRS
        ", 'capacity': [ {'at': '5 s', 'do': 'drain', 'cards': '0..5'},"
        " {'at': '50 s', 'do': 'add', 'cards': '2..3'}, {'at': '70 s', 'do': 'add', 'cards': '0..1'} ]",
        "first_fit", DOMAIN, "y,10,100,3,\n", "y", "a.0.0 a.0.1 a.0.2", 70, 170);
}

/* Cards with MIG off: 0 and, of three nodes of three, 4 to 8. No domain of two nodes has four of
 * them, though six are there: 4 can never run, 3 can. (It waited for ever, which is exit 6.) */
static void domains_of_a_layout(void **state)
{
    static const char text[] =
        "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ { 'name': 'a', 'gpu': 'a100-sxm4-40gb', 'nodes': 3,"
        " 'gpus_per_node': 3, 'nvlink_domain': 6 } ], 'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
        " 'schedule': { 'gang': 'domain' }, 'policies': [ { 'name': 'p', 'share': { 'kind': 'mig', 'layout': 'static',"
        " 'slices': [ { 'cards': 1, 'slices': 'off' }, { 'cards': 3, 'slices': [ '7g.40gb' ] },"
        " { 'cards': 9, 'slices': 'off' } ] } } ] }";
    struct simulated s;
    (void)state;
    simulate(&s, text, HEAD "four,0,100,4,\nthree,0,100,3,\n");
    assert_string_equal(sim_job_of(&s, "p", "four")->state, "rejected");
    assert_contains(sim_job_of(&s, "p", "four")->reason, "too few cards with MIG off");
    assert_string_equal(sim_job_of(&s, "p", "three")->state, "completed");
    simulated_fini(&s);
}

static void refusals(void **state)
{
    static const struct {
        const char *fleet, *schedule, *said;
    } cases[] = {
        { "'gpus_per_node': 8, 'nvlink_domain': 3", NODE, "a part or a multiple" },
        { "'gpus_per_node': 8, 'nvlink_domain': 12", NODE, "a part or a multiple" },
        { "'gpus_per_node': 8, 'nvlink_domain': 0", NODE, "nvlink_domain" },
        { "'gpus_per_node': 8, 'cross_domain_speed': 0", NODE, "cross_domain_speed" },
        { "'gpus_per_node': 8", "'gang': 'nvlink'", "gang" },
        { "'gpus_per_node': 8", "'racks': 'one'", "racks" },
        { "'gpus_per_node': 8", "'racks': 'pack', 'gang': 'any'", "racks" },
        { "'gpus_per_node': 8", "'racks': 'pack'", "no group of the fleet has \"nodes_per_rack\"" },
        { "'gpus_per_node': 8", "'racks': 'spread'",
          "no group of the fleet has \"nodes_per_rack\", found \"spread\"" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1500], said[600] = "";
        snprintf(text, sizeof text, frame, cases[i].fleet, "first_fit", cases[i].schedule);
        if (sim_problems(text, HEAD "a,0,1,1,\n", NULL, said, sizeof said) == 0 ||
            !strstr(said, cases[i].said))
            fail_msg("%s %s: %s", cases[i].fleet, cases[i].schedule, said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(domains_within_a_node),
        cmocka_unit_test(domains_of_several_nodes),
        cmocka_unit_test(racks_packed_and_spread),
        cmocka_unit_test(racks_count_nodes_that_hold_the_gang),
        cmocka_unit_test(replacing_leaves_the_place_to_the_policy),
        cmocka_unit_test(domains_and_outages),
        cmocka_unit_test(domains_of_a_layout),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("gangs", tests, NULL, NULL);
}
