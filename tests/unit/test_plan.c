/* Plans: names that do not exist, cards that cannot be shared this way and files that cannot be
 * read are told with their place; what can be resolved is what the scenario says. */
#include "tests/support/simulate.h"

#include "engine/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE "job_id,submit_s,duration_s,gpus\na,0,1,1\n"

static const char frame[] = "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ %s ],"
                            "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
                            "  'policies': [ { 'name': 'p', 'share': { %s } } ] %s }";

#define T4 "{ 'name': 'a', 'gpu': 't4' }"

#define A30    "{ 'name': 'a', 'gpu': 'a30' }"
#define STATIC "'kind': 'mig', 'layout': 'static', 'slices': "
#define SHARE  "/policies/0/share"

static void mistakes(void **state)
{
    static const struct {
        const char *fleet, *share, *more, *where, *says, *also;
    } bad[] = {
        { "{ 'name': 'a', 'gpu': 't44' }", "'kind': 'whole'", "", "/fleet/0/gpu", "no such card",
          "t44" },
        { T4, "'kind': 'wholes'", "", "/policies/0/share/kind", "sharing policy", "wholes" },
        { T4, "'kind': 'whole', 'slots': 3", "", "/policies/0/share/slots", "unknown key", NULL },
        { T4, "'kind': 'timeslice', 'slots': 0", "", "/policies/0/share/slots", "from 1 to 64",
          NULL },
        { T4, "'kind': 'timeslice', 'slots': 65", "", "/policies/0/share/slots", "from 1 to 64",
          NULL },
        { T4, "'kind': 'timeslice', 'quantum': 2", "", "/policies/0/share/quantum", "duration",
          NULL },
        { T4, "'kind': 'mig'", "", "/policies/0/share", "the card has no MIG", "t4" },
        { "{ 'name': 'a', 'gpu': 'generic' }", "'kind': 'mig'", "", "/policies/0/share", "no MIG",
          "generic" },
        { "{ 'name': 'a', 'gpu': 'a30' }", "'kind': 'mig', 'layout': 'static'", "",
          "/policies/0/share", "needs \"slices\"", NULL },
        { "{ 'name': 'a', 'gpu': 'a30' }", "'kind': 'mig', 'slices': ['1g.6gb']", "",
          "/policies/0/share", "goes with", NULL },
        { "{ 'name': 'a', 'gpu': 'a30' }",
          "'kind': 'mig', 'layout': 'static', 'slices': ['9g.9gb']", "", "/policies/0/share",
          "\"9g.9gb\" is no MIG profile of A30", "1g.6gb" },
        { "{ 'name': 'a', 'gpu': 'a30' }",
          "'kind': 'mig', 'layout': 'static', 'slices': ['4g.24gb', '1g.6gb']", "",
          "/policies/0/share", "a30 cannot be shared", "nearest that fits: 4g.24gb" },
        { A30, "'kind': 'mig', 'via': 'operater'", "", SHARE "/via", "operator", NULL },
        { A30, "'kind': 'mig', 'via': 'operator', 'repartition': '9 s'", "", SHARE,
          "both say how long", NULL },
        { A30, "'kind': 'mig', 'layout': 'dynamic', 'period': '1 h'", "", SHARE,
          "\"period\" goes with \"layout\": \"planned\"", NULL },
        { A30, "'kind': 'mig', 'layout': 'static', 'slices': 'off', 'forecast': 'last'", "", SHARE,
          "\"forecast\" goes with", NULL },
        { A30, "'kind': 'mig', 'layout': 'planned', 'slices': ['1g.6gb']", "", SHARE,
          "\"slices\" goes with", NULL },
        { A30, "'kind': 'mig', 'layout': 'planned', 'period': '100 s', 'via': 'operator'", "",
          SHARE, "\"period\" 100 s is not longer", "143 s" },
        { A30, STATIC "['1g.6bg']", "", SHARE, "did you mean \"1g.6gb\"?", NULL },
        { A30, STATIC "['2g.12gb', '2g.12gb', '2g.12gb']", "", SHARE, "at most 2 of \"2g.12gb\"",
          "nearest that fits: 1g.6gb, 1g.6gb, 2g.12gb" },
        { A30, STATIC "{'1g.6gb': 9}", "", SHARE, "at most 4 of \"1g.6gb\"", NULL },
        { A30, STATIC "{'1g.6gb': 0}", "", SHARE, "how many of \"1g.6gb\"", "found 0" },
        { A30, STATIC "{'1g.6gb': '4'}", "", SHARE, "how many of \"1g.6gb\"", NULL },
        { A30, STATIC "['off', '4g.24gb']", "", SHARE, "\"off\" stands for all slices of a card",
          NULL },
        { A30, STATIC "'of'", "", SHARE, "or \"off\", found \"of\"", NULL },
        { A30, STATIC "[{'cards': 1, 'slice': 'off'}]", "", SHARE, "slices[0]: unknown key",
          "did you mean \"slices\"?" },
        { A30, STATIC "[{'cards': 1, 'slices': 'off'}, {'cards': 1, 'slices': 'off', 'x': 1}]", "",
          SHARE, "slices[1]: unknown key \"x\"", "valid: cards, slices" },
        { A30, STATIC "[{'cards': 1.5, 'slices': 'off'}]", "", SHARE, "\"cards\" to be at least 1",
          "1.5" },
        { A30, STATIC "[{'cards': 1}]", "", SHARE, "\"slices\" is missing", NULL },
        { A30, STATIC "[{'cards': 1, 'slices': 'off'}, '1g.6gb']", "", SHARE, "slices[1]: expected",
          NULL },
        { T4, "'kind': 'whole'", ", 'schedule': { 'order': 'fifoo' }", "/schedule/order",
          "an order", "fifoo" },
        { T4, "'kind': 'whole'", ", 'schedule': { 'ordr': 'fifo' }", "/schedule/ordr",
          "unknown key", NULL },
        { T4, "'kind': 'whole'", ", 'schedule': { 'threshold': '1 h' }", "/schedule/threshold",
          "unknown key", NULL }, /* las has it, fifo has not */
        { T4, "'kind': 'whole'",
          ", 'schedule': { 'order': 'las', 'threshold': '1', 'backfill': 'none' }",
          "/schedule/threshold", "duration", NULL },
        { T4, "'kind': 'whole'", ", 'schedule': { 'order': 'srtf' }", "/schedule/backfill",
          "do not combine", "easy" },
        { T4, "'kind': 'whole'", ", 'schedule': { 'order': 'las', 'backfill': 'conservative' }",
          "/schedule/backfill", "do not combine", "conservative" },
        { T4, "'kind': 'whole'",
          ", 'schedule': { 'order': 'srtf', 'backfill': 'none', 'when_full': 'drop' }",
          "/schedule/when_full", "preempts needs a queue", NULL },
        { T4, "'kind': 'whole'", ", 'schedule': { 'preempt': 'nevr' }", "/schedule/preempt",
          "a rule", "nevr" },
        { T4, "'kind': 'whole'", ", 'schedule': { 'walltime': 'kil' }", "/schedule/walltime",
          "a rule", "kil" },
        { T4, "'kind': 'whole'", ", 'schedule': { 'place': 'nowhere' }", "/schedule/place",
          "a placement", "nowhere" },
        { T4, "'kind': 'whole'", ", 'schedule': { 'backfill': 'esay' }", "/schedule/backfill",
          "backfill rule", "esay" },
        { T4, "'kind': 'whole'", ", 'schedule': { 'gang': 'nodes' }", "/schedule/gang", "gang rule",
          "nodes" },
        { T4, "'kind': 'whole'", ", 'prices': 'none.json'", "none.json", "cannot open", NULL },
        { "{ 'name': 'a', 'gpu': 't4', 'profile': 'none.json' }", "'kind': 'whole'", "",
          "none.json", "cannot open", NULL },
        { "{ 'name': 'a', 'gpu': 't4', 'profile': 'prof.json' }", "'kind': 'whole'", "",
          "/fleet/0/profile", "a profile of t4", "l4" },
        { T4, "'kind': 'whole'", ", 'profiles': { 'x': { 'host': 0.5, 'compute': 0.6 } }",
          "/profiles/x", "1", NULL },
    };
    const struct sim_file files[] = {
        { "prof.json", "{ 'format': 'gpusim-profile/1', 'gpu': 'l4' }" }, { 0 }
    };
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[2000], said[900];
        snprintf(text, sizeof text, frame, bad[i].fleet, bad[i].share, bad[i].more);
        if (sim_problems(text, TRACE, files, said, sizeof said) == 0) said[0] = '\0';
        const char *parts[] = { bad[i].where, bad[i].says, bad[i].also };
        for (size_t k = 0; k < 3; k++)
            if (parts[k] && !strstr(said, parts[k])) {
                print_message("{%s} %s: no '%s' in '%s'\n", bad[i].share, bad[i].more, parts[k],
                              said);
                wrong++;
            }
    }
    assert_int_equal(wrong, 0);
}

/* A schedule that every policy overrides is looked at all the same. */
static void unused_schedule(void **state)
{
    static const char text[] =
        "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ " T4 " ],"
        "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
        "  'schedule': { 'order': 'las', 'half_life': '1 d' },"
        "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' }, 'schedule': {} } ] }";
    char said[900];
    (void)state;
    assert_int_equal(sim_problems(text, TRACE, NULL, said, sizeof said), 2);
    assert_contains(said, "/schedule/half_life"); /* and las does not go with easy */
}

/* The keys of the order stand in the resolved form with their defaults. */
static void order_keys_are_resolved(void **state)
{
    char text[2000];
    struct runner r;
    (void)state;
    snprintf(text, sizeof text, frame, T4, "'kind': 'whole'",
             ", 'schedule': { 'order': 'fair', 'half_life': '3 d' }");
    sim_load(&r, sim_write(text, TRACE, NULL));
    const json_t *schedule = json_path_get(r.resolved, "policies.0.schedule");
    assert_string_equal(json_string_value(json_object_get(schedule, "half_life")), "3 d");
    assert_string_equal(json_string_value(json_object_get(schedule, "recalculate")), "300 s");
    runner_fini(&r);
}

static void numbering_and_names(void **state)
{
    char text[2000], name[64];
    struct runner r;
    (void)state;
    snprintf(text, sizeof text, frame,
             "{ 'name': 'x', 'gpu': 't4', 'nodes': 2, 'gpus_per_node': 3, 'cpu_cores': 2.5 },"
             "{ 'name': 'y', 'gpu': 'l4', 'nodes': 4, 'gpus_per_node': 2, 'host_memory': '3 GiB' }",
             "'kind': 'whole'", "");
    sim_load(&r, sim_write(text, TRACE, NULL));
    const struct plan *p = &r.plan[0];
    assert_int_equal(p->cards, 14);
    assert_int_equal(p->nodes, 6);
    assert_int_equal(p->group[1].first_card, 6);
    assert_int_equal(p->group[1].first_node, 2);
    assert_int_equal(p->group[0].node_cpus_milli, 2500);
    assert_true(p->group[0].node_host_bytes == UINT64_MAX);
    assert_true(p->group[1].node_cpus_milli == INT64_MAX);
    assert_true(p->group[1].node_host_bytes == UINT64_C(3) << 30);
    assert_string_equal(plan_card_name(p, 0, name, sizeof name), "x.0.0");
    assert_string_equal(plan_card_name(p, 5, name, sizeof name), "x.1.2");
    assert_string_equal(plan_card_name(p, 6, name, sizeof name), "y.0.0");
    assert_string_equal(plan_card_name(p, 13, name, sizeof name), "y.3.1");
    assert_string_equal(p->order->name, "fifo");
    assert_int_equal(p->backfill, BACKFILL_EASY);
    assert_false(p->priced);
    runner_fini(&r);
}

/* Pooled cards are one big node, with the cores and memory of all; cards keep their real names. */
static void a_pool_is_one_node(void **state)
{
    char text[2000], name[64];
    struct runner r;
    (void)state;
    snprintf(text, sizeof text, frame,
             "{ 'name': 'x', 'gpu': 't4', 'nodes': 50, 'gpus_per_node': 2, 'cpu_cores': 8,"
             "  'host_memory': '900000 TB' }",
             "'kind': 'remote'", "");
    sim_load(&r, sim_write(text, TRACE, NULL));
    const struct plan_group *g = &r.plan[0].group[0];
    assert_int_equal(g->nodes, 1);
    assert_int_equal(g->per_node, 100);
    assert_int_equal(g->node_cpus_milli, 400000);
    assert_true(g->node_host_bytes == UINT64_MAX); /* 45 EB do not fit into 64 bits: no limit */
    assert_string_equal(plan_card_name(&r.plan[0], 99, name, sizeof name), "x.49.1");
    runner_fini(&r);
}

/* A parameter that the scenario sets counts as assumed; the rest as the profile says. */
static void provenance(void **state)
{
    char text[2000];
    struct runner all, set;
    uint64_t n_all = 0, n_set = 0;
    (void)state;
    snprintf(text, sizeof text, frame, T4, "'kind': 'timeslice'", "");
    sim_load(&all, sim_write(text, TRACE, NULL));
    snprintf(text, sizeof text, frame, T4,
             "'kind': 'timeslice', 'quantum': '2 ms', 'switch': '0 us'", "");
    sim_load(&set, sim_write(text, TRACE, NULL));
    for (int i = 0; i < PROV_COUNT; i++) {
        n_all += all.plan[0].provenance[i];
        n_set += set.plan[0].provenance[i];
    }
    assert_int_equal(n_all, 3);
    assert_int_equal(n_set, 3);
    assert_true(set.plan[0].provenance[PROV_ASSUMED] >= 2);
    assert_true(set.plan[0].provenance[PROV_ASSUMED] >= all.plan[0].provenance[PROV_ASSUMED]);
    runner_fini(&all);
    runner_fini(&set);
}

static void signatures(void **state)
{
    char text[2000];
    struct runner r;
    (void)state;
    snprintf(text, sizeof text, frame, T4, "'kind': 'whole'",
             ", 'profiles': { 'mine': { 'host': 0.25, 'compute': 0.75, 'memory': 0 } }");
    sim_load(&r, sim_write(text, TRACE, NULL));
    const struct plan *p = &r.plan[0];
    assert_close(plan_signature(p, "mine")->compute, 0.75, 0);
    assert_null(plan_signature(p, "min"));
    assert_string_equal(plan_signature_nearest(p, "mime"), "mine");
    runner_fini(&r);
    plan_fini(&(struct plan){ 0 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes),
        cmocka_unit_test(unused_schedule),
        cmocka_unit_test(order_keys_are_resolved),
        cmocka_unit_test(numbering_and_names),
        cmocka_unit_test(a_pool_is_one_node),
        cmocka_unit_test(provenance),
        cmocka_unit_test(signatures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
