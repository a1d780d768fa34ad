/* test_scenarios.c - the users' questions (USERS.md part A) with their answers, replayed end to
 * end: times to the tick, money to 1e-6.
 *
 * Mutants (tests/run_mutants.sh): easy-without-reservation (A11), memory-ignored-by-placement
 * (A03), energy-charged-to-each (energy), mig-share-is-slices-over-seven (7g), growth-before-ends
 * (a hand-over at one instant), gang-as-fast-as-its-first-card, stranded-slices-forgotten (A13),
 * mps-cap-ignored (A06), gang-node-rule-ignored (A10). */
#include "support/simulate.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCENARIO(fleet, policies, more)                                                            \
    "{'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [" fleet "],"                           \
    " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"                              \
    " 'policies': [" policies "]" more "}"
#define FLEET(gpu, nodes, per)                                                                     \
    "{'name': 'f', 'gpu': '" gpu "', 'nodes': " #nodes ", 'gpus_per_node': " #per "}"
#define POLICY(name, share) "{'name': '" name "', 'share': {" share "}}"
#define STRICT              ", 'schedule': {'backfill': 'none'}"
#define A100                FLEET("a100-sxm4-40gb", 1, 1)
/* Nothing but the quotas: neither hook nor switch nor start-up costs anything. */
#define FREE_HOOKS                                                                                 \
    "'kind': 'intercept', 'launch': '0 ns', 'startup': '0 s', 'startup_per_process': '0 s', "      \
    "'switch': '0 s'"

static const double tick = 1.5e-9;

static void at(const struct simulated *s, const char *policy, const char *id, double start_s,
               double end_s)
{
    const struct sim_job *j = sim_job_of(s, policy, id);
    if (strcmp(j->state, "completed") != 0) fail_msg("%s: %s is %s", policy, id, j->state);
    if (fabs(j->start_s - start_s) > tick || fabs(j->end_s - end_s) > tick * (1 + j->end_s))
        fail_msg("%s: %s runs from %.9f to %.9f, expected %.9f to %.9f", policy, id, j->start_s,
                 j->end_s, start_s, end_s);
}

/* ---- A03: four jobs that grow to 12 GiB on a card with 39.5 ---- */

static const char a03[] = SCENARIO(
    A100,
    POLICY("timeslice", "'kind': 'timeslice', 'slots': 4, 'memory': 'unchecked'") "," POLICY("reserve", "'kind': 'timeslice', 'slots': 4, 'memory': 'reserve'") "," POLICY(
        "mps",
        "'kind': 'mps', 'slots': 4") "," POLICY("hami",
                                                FREE_HOOKS) "," POLICY("mig",
                                                                       "'kind': 'mig', 'layout': 'static', 'slices': ['3g.20gb', '3g.20gb']") "," POLICY("whole",
                                                                                                                                                         "'kind': 'whole'"),
    STRICT ", 'profiles': {"
           " 'grows': {'host': 1, 'compute': 0, 'mem_grow': '60 s', 'footprint': '12 GiB'},"
           " 'slow':  {'host': 1, 'compute': 0, 'mem_grow': '200 s', 'footprint': '12 GiB'}}");

static void oom(const struct simulated *s, const char *policy, const char *id, double end_s)
{
    const struct sim_job *j = sim_job_of(s, policy, id);
    assert_string_equal(j->state, "failed");
    assert_close(j->end_s, end_s, 1e-12);
    assert_contains(j->reason, "out of memory");
}

static void a03_memory(void **state)
{
    (void)state;
    struct simulated s;
    simulate(&s, a03,
             "job_id,submit_s,duration_s,gpus,profile\n"
             "a,0,660,0.25,grows\nb,10,660,0.25,grows\nc,20,660,0.25,grows\n"
             "d,30,660,0.25,grows\n");
    at(&s, "timeslice", "a", 0, 660);
    at(&s, "timeslice", "b", 10, 670);
    at(&s, "timeslice", "c", 20, 680);
    oom(&s, "timeslice", "d", 90);
    assert_int_equal(sim_policy(&s, "timeslice")->jobs.failed_oom, 1);
    for (const char *id = "a\0b\0c\0d\0"; *id; id += 2) oom(&s, "mps", id, 60 + (*id - 'a') * 10);
    at(&s, "hami", "c", 20, 680);
    at(&s, "hami", "d", 660, 1320); /* waits for a release */
    at(&s, "reserve", "d", 660, 1320);
    at(&s, "mig", "a", 0, 660);
    at(&s, "mig", "b", 10, 670);
    at(&s, "mig", "c", 660, 1320);
    at(&s, "mig", "d", 670, 1330);
    at(&s, "whole", "d", 1980, 2640);
    assert_int_equal(sim_policy(&s, "whole")->jobs.completed, 4);
    simulated_fini(&s);
}

/* The victim allocates last, it need not have started last. */
static void a03_victim(void **state)
{
    (void)state;
    struct simulated s;
    simulate(&s, a03,
             "job_id,submit_s,duration_s,gpus,profile\n"
             "a,0,660,0.25,slow\nb,10,660,0.25,grows\nc,20,660,0.25,grows\n"
             "d,30,660,0.25,grows\n");
    oom(&s, "timeslice", "a", 200);
    at(&s, "timeslice", "d", 30, 690);
    simulated_fini(&s);
}

/* ---- cards counted twice, and X04: memory that goes to the host between turns ---- */

/* Three jobs that each believe the card is theirs: turns of the driver, and the one whose bytes no
 * longer fit fails; of two that state nothing, the second does. */
static void overcommitted_cards(void **state)
{
    (void)state;
    struct simulated s;
    const double kept = 1000.0 / 1050; /* quantum 1 ms, switch 50 us */
    simulate(
        &s,
        SCENARIO(A100,
                 POLICY("alone", "'kind': 'whole'") "," POLICY(
                     "thrice", "'kind': 'whole', 'overcommit': 3, 'quantum': '1 ms', 'switch': "
                               "'50 us'"),
                 STRICT ", 'profiles': {'busy': {'compute': 1, 'sm_width': 1},"
                        " 'tenth': {'host': 0.9, 'compute': 0.1, 'sm_width': 1}}"),
        "job_id,submit_s,duration_s,gpus,gpu_mem_bytes,profile\n"
        "a,0,100,1,10000000000,busy\nb,0,100,0.5,10000000000,busy\n"
        "big,0,100,1,30000000000,busy\n"
        "c,1000,100,1,,busy\nd,1000,100,1,,busy\n"
        "e,2000,100,1,1000000000,tenth\n");
    at(&s, "alone", "a", 0, 100);
    at(&s, "alone", "b", 100, 200);
    at(&s, "alone", "big", 200, 300);
    at(&s, "thrice", "a", 0, 200 / kept);
    at(&s, "thrice", "b", 0, 200 / kept); /* half a card is no half under whole cards */
    oom(&s, "thrice", "big", 0);
    at(&s, "thrice", "c", 1000, 1100);
    oom(&s, "thrice", "d", 1000); /* c states nothing and took all */
    at(&s, "thrice", "e", 2000, 2100);
    /* quantum and switch count among the assumed only where they are used */
    assert_int_equal(sim_policy(&s, "alone")->provenance[PROV_ASSUMED], 1);
    assert_int_equal(sim_policy(&s, "thrice")->provenance[PROV_ASSUMED], 3);
    simulated_fini(&s);
}

/* X04: working sets of 32 GB, a link of 32 GB/s, turns of 30 s: 2 s of each hand-over are lost,
 * 30/32 is kept. Sets that fit together swap nothing; one that never fits is rejected. */
static void x04_swapping(void **state)
{
    (void)state;
    struct simulated s;
    simulate(
        &s,
        SCENARIO(FLEET("h100-pcie-80gb", 1, 1),
                 POLICY("swap", "'kind': 'timeslice', 'slots': 2, 'memory': 'swap', 'quantum': "
                                "'30 s', 'switch': '0 s'"),
                 STRICT ", 'profiles': {'busy': {'compute': 1, 'sm_width': 1}}"),
        "job_id,submit_s,duration_s,gpus,gpu_mem_bytes,profile\n"
        "a,0,100,1,70000000000,busy\nb,0,100,1,70000000000,busy\n"
        "c,1000,100,1,30000000000,busy\nd,1000,100,1,30000000000,busy\n"
        "e,2000,100,1,90000000000,busy\n");
    const struct card_type *type = &s.run.plan[0].group[0].type;
    const double link = type->gpu->pcie_Bps, usable = (double)type->gpu->usable_bytes;
    const double all = 2 * (70e9 + (double)type->context_bytes);
    const double lost_s = 2 * (all - usable) / link; /* less than a working set, in and out */
    assert_true(lost_s > 1 && lost_s < 4);
    at(&s, "swap", "a", 0, 200 * (30 + lost_s) / 30);
    at(&s, "swap", "b", 0, 200 * (30 + lost_s) / 30);
    at(&s, "swap", "c", 1000, 1200);
    assert_string_equal(sim_job_of(&s, "swap", "e")->state, "rejected");
    assert_contains(sim_job_of(&s, "swap", "e")->reason, "more memory than the card has");
    assert_true(sim_policy(&s, "swap")->gpu.memory <= 1);
    simulated_fini(&s);
}

/* ---- measured pairs of jobs ---- */

#define PAIRED(share, pairs)                                                                       \
    SCENARIO(A100,                                                                                 \
             POLICY("plain", share) ",{'name': 'paired', 'share': {" share "}, 'pairs': '" pairs   \
                                    "'}",                                                          \
             STRICT ", 'profiles': {'r/64': {'compute': 1, 'sm_width': 1, 'footprint': '1 GiB'},"  \
                    " 'r/128': {'compute': 1, 'sm_width': 1, 'footprint': '1 GiB'},"               \
                    " 'q': {'compute': 1, 'sm_width': 1, 'footprint': '1 GiB'},"                   \
                    " 'z': {'compute': 1, 'sm_width': 1, 'footprint': '1 GiB'}}")
#define PAIRS_HEAD "gpu,job_a,batch_a,job_b,batch_b,norm_a,norm_b,flags\n"

/* Busy by their signatures, they would share the card; measured together they do better, unevenly.
 * A pair of the same job takes turns, and so do three of it. A job without pairs is left to the
 * policy. */
static void measured_pairs(void **state)
{
    (void)state;
    struct simulated s;
    const struct sim_file files[] = {
        { "pairs.csv", PAIRS_HEAD "A100-SXM4-40GB,r,64,q,,0.8,0.9,\n"
                                  "A100-SXM4-40GB,q,,q,,0.5,0.5,\n"
                                  "A100-SXM4-40GB,r,64,r,64,0.6,0.6,\n"
                                  "t4,r,64,q,,0.1,0.1,\n"
                                  "A100-SXM4-40GB,z,,q,,0,0,did_not_run\n" },
        { NULL, NULL },
    };
    simulate_with(&s, PAIRED("'kind': 'timeslice', 'switch': '0 s'", "pairs.csv"),
                  "job_id,submit_s,duration_s,gpus,profile\n"
                  "r,0,80,1,r/64\nq,0,90,1,q\n"
                  "q1,1000,100,1,q\nq2,1000,100,1,q\nq3,1000,100,1,q\n"
                  "kin,2000,80,1,r/128\nq4,2000,90,1,q\n"
                  "z,3000,50,1,z\nq5,3000,50,1,q\n",
                  files, 1);
    at(&s, "plain", "r", 0, 160);
    at(&s, "plain", "q", 0, 170);
    const struct {
        const char *id;
        double run_s, within; /* relative: noise is allowed for */
    } want[] = {
        { "r", 100, 0.01 },   /* 80 / 0.8 */
        { "q", 100, 0.01 },   /* 90 / 0.9 */
        { "q1", 300, 0.01 },  /* 1/2 for two, 1/3 for three */
        { "kin", 100, 0.05 }, /* as another batch size of it: near, not equal */
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct sim_job *j = sim_job_of(&s, "paired", want[i].id);
        assert_close(j->end_s - j->start_s, want[i].run_s, want[i].within);
    }
    at(&s, "paired", "z", 3000, 3100);
    at(&s, "paired", "q5", 3000, 3100);
    const struct policy_result *p = sim_policy(&s, "paired");
    assert_true(p->gpu.sm_active <= 1 && p->gpu.duty <= 1);
    assert_int_equal(p->provenance[PROV_MEASURED], 1);
    assert_int_equal(sim_policy(&s, "plain")->provenance[PROV_MEASURED], 0);
    simulated_fini(&s);
}

static void pairs_refused(void **state)
{
    (void)state;
    static const struct {
        const char *share, *text, *says;
    } wrong[] = {
        { "'kind': 'mig'", PAIRS_HEAD "a100-sxm4-40gb,a,,b,,1,1,\n", "pairs go with sharing" },
        { "'kind': 'mps'", PAIRS_HEAD "t4,a,,b,,1,1,\n", "measured on a card of the fleet" },
        { "'kind': 'mps'", "job_a,job_b,norm_a\na,b,1\n", "expected a column \"norm_b\"" },
        { "'kind': 'mps'", PAIRS_HEAD ",a,,b,,1,1.6,\n", "norm_b: expected above 0 to 1.5" },
        { "'kind': 'mps'", PAIRS_HEAD ",a,,b,,0,1,\n", "norm_a: expected above 0 to 1.5" },
        { "'kind': 'mps'", PAIRS_HEAD ",a,,b,,nan,1,\n", "norm_a: expected above 0" },
        { "'kind': 'mps'", PAIRS_HEAD ",a,x,b,,1,1,\n", "batch_a: expected a batch size" },
        { "'kind': 'mps'", PAIRS_HEAD ",,,b,,1,1,\n", "job_a: expected a name" },
        { "'kind': 'mps'", PAIRS_HEAD ",a,b\n", "expected 8 fields" },
        { "'kind': 'mps'", "", "expected a header row" },
    };
    char said[600];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct sim_file files[] = { { "pairs.csv", wrong[i].text }, { NULL, NULL } };
        char *text = xasprintf(PAIRED("%s", "pairs.csv"), wrong[i].share, wrong[i].share);
        assert_true(sim_problems(text, "job_id,submit_s,duration_s,gpus\na,0,1,1\n", files, said,
                                 sizeof said) > 0);
        assert_contains(said, wrong[i].says);
        free(text);
    }
    assert_true(sim_problems(PAIRED("'kind': 'mps'", "none.csv"),
                             "job_id,submit_s,duration_s,gpus\na,0,1,1\n", NULL, said,
                             sizeof said) > 0);
    assert_contains(said, "No such file");
}

/* ---- A04: slots and fractions ---- */

static void a04_slots_give_no_share(void **state)
{
    (void)state;
    struct simulated s;
    simulate(
        &s,
        SCENARIO(FLEET("generic", 1, 1), POLICY("ts", "'kind': 'timeslice', 'slots': 4"), STRICT),
        "job_id,submit_s,duration_s,gpus,slots\np,0,100,0.5,3\nq,0,100,0.5,1\nr,0,100,0.5,2\n");
    at(&s, "ts", "p", 0, 200); /* 2 W each, three slots or one */
    at(&s, "ts", "q", 0, 200);
    at(&s, "ts", "r", 200, 300); /* admission is what slots change */
    simulated_fini(&s);
}

static void a04_fractions(void **state)
{
    (void)state;
    struct simulated s;
    const char *scenario = SCENARIO(
        A100,
        POLICY("soft", FREE_HOOKS ", 'enforce': 'soft'") "," POLICY("hard", FREE_HOOKS
                                                                    ", 'enforce': 'hard'"),
        STRICT ", 'profiles': {'busy': {'compute': 1, 'sm_width': 1, 'footprint': '1 GiB'}}");
    simulate(&s, scenario,
             "job_id,submit_s,duration_s,gpus,profile\nx,0,700,0.3,busy\ny,0,700,0.7,busy\n");
    at(&s, "soft", "x", 0, 1400); /* half of the time each */
    at(&s, "soft", "y", 0, 1400);
    at(&s, "hard", "y", 0, 1000); /* 700 / 0.7 */
    at(&s, "hard", "x", 0, 7000.0 / 3);
    simulated_fini(&s);
    simulate(&s, scenario, "job_id,submit_s,duration_s,gpus,profile\nx,0,700,0.5,busy\n");
    at(&s, "soft", "x", 0, 700);
    simulated_fini(&s);
}

/* ---- A05: quotas of an interception library ---- */

static void a05_core_quota(void **state)
{
    (void)state;
    struct simulated s;
    simulate(&s,
             SCENARIO(A100,
                      POLICY("soft", FREE_HOOKS) "," POLICY(
                          "hard",
                          FREE_HOOKS ", 'enforce': 'hard'") "," POLICY("all", FREE_HOOKS
                                                                       ", 'unset_memory': 'card'"),
                      STRICT ", 'profiles': {'busy': {'compute': 1, 'sm_width': 1},"
                             " 'idle': {'host': 0.7, 'compute': 0.3, 'sm_width': 1}}"),
             "job_id,submit_s,duration_s,gpus,profile\n"
             "i,0,100,0.5,busy\niv,1000,100,0.5,idle\nv,2000,100,0.4,busy\nw,2000,100,0.4,busy\n");
    at(&s, "soft", "i", 0, 100);      /* (i) no limit with a single tenant */
    at(&s, "hard", "i", 0, 200);      /* (ii) half in the long run */
    at(&s, "hard", "iv", 1000, 1100); /* (iv) the cap never bites */
    at(&s, "soft", "w", 2000, 2200);
    at(&s, "all", "v", 2000, 2100); /* (v) memory not stated: all of it */
    at(&s, "all", "w", 2100, 2200);
    simulated_fini(&s);
}

/* ---- A06: MPS with a quarter of the threads per client ---- */

static void a06_capped_clients(void **state)
{
    (void)state;
    struct simulated s;
    simulate(
        &s,
        SCENARIO(FLEET("generic", 1, 1),
                 POLICY("mps", "'kind': 'mps', 'slots': 4") "," POLICY(
                     "ts", "'kind': 'timeslice', 'slots': 4"),
                 STRICT ", 'profiles': {'wide': {'compute': 1, 'sm_width': 1},"
                        " 'narrow': {'compute': 1, 'sm_width': 0.2}}"),
        "job_id,submit_s,duration_s,gpus,profile\n"
        "i,0,100,0.25,wide\niv,1000,100,0.25,narrow\n"
        "a,2000,100,0.25,wide\nb,2000,100,0.25,wide\nc,2000,100,0.25,wide\nd,2000,100,0.25,wide\n");
    at(&s, "mps", "i", 0, 400); /* exactly four times slower on an idle card */
    at(&s, "ts", "i", 0, 100);
    at(&s, "mps", "iv", 1000, 1100);
    for (const char *id = "a\0b\0c\0d\0"; *id; id += 2) at(&s, "mps", id, 2000, 2400);
    assert_true(sim_policy(&s, "mps")->gpu.sm_active <= 1);
    simulated_fini(&s);
}

/* ---- A07: four numbers, none of them "utilization" ---- */

static void a07_four_numbers(void **state)
{
    (void)state;
    struct simulated s;
    const char *scenario = SCENARIO(
        FLEET("h100-sxm5-80gb", 1, 1),
        POLICY("whole", "'kind': 'whole'") "," POLICY(
            "mig",
            "'kind': 'mig', 'layout': 'dynamic', 'repartition': '0 s', 'mode_change': '0 s'"),
        ", 'profiles': {'one': {'compute': 1, 'sm_width': 0.00757575757575758, 'footprint': '1 GiB'},"
        " 'tenth': {'host': 0.9, 'compute': 0.1, 'sm_width': 1, 'footprint': '1 GiB'}}");
    simulate(&s, scenario, "job_id,submit_s,duration_s,gpus,profile\nj,0,3600,0.9,one\n");
    const struct policy_result *p = sim_policy(&s, "whole");
    assert_close(p->gpu.allocated, 1, 1e-8);
    assert_close(p->gpu.duty, 1, 1e-8);
    assert_close(p->gpu.sm_active, 1.0 / 132, 1e-6);
    assert_true(isnan(sim_policy(&s, "mig")->gpu.duty)); /* the hardware cannot tell: n/a, not 0 */
    simulated_fini(&s);
    simulate(&s, scenario, "job_id,submit_s,duration_s,gpus,profile\nj,0,3600,1,tenth\n");
    p = sim_policy(&s, "whole");
    assert_close(p->gpu.allocated, 1, 1e-8);
    assert_close(p->gpu.duty, 0.1, 1e-8);
    assert_close(p->gpu.sm_active, 0.1, 1e-8);
    assert_close(p->gpu.memory, 1.4 * 1024 / 81152, 1e-6);
    simulated_fini(&s);
}

/* ---- A10: eight cards free, but on four nodes ---- */

static void a10_packing(void **state)
{
    (void)state;
    struct simulated s;
    char *trace = xasprintf("job_id,submit_s,duration_s,gpus\n");
    for (int i = 0; i < 24; i++) {
        char *more = xasprintf("%ss%d,0,36000,1\n", trace, i);
        free(trace);
        trace = more;
    }
    char *all = xasprintf("%sbig,3600,3600,8\n", trace);
    simulate(&s, SCENARIO(FLEET("generic", 4, 8), POLICY("packed", "'kind': 'whole'"), STRICT),
             all);
    at(&s, "packed", "big", 3600, 7200);
    simulated_fini(&s);
    free(trace);
    free(all);
    /* Two free on each of four nodes: on one node it waits for the ends, over nodes it does not. */
    const char *cut = "job_id,submit_s,duration_s,gpus\n"
                      "a,0,36000,6\nb,0,36000,6\nc,0,36000,6\nd,0,36000,6\nbig,3600,3600,8\n";
    simulate(&s,
             SCENARIO(FLEET("generic", 4, 8),
                      POLICY("node",
                             "'kind': 'whole'") ","
                                                "{'name': 'any', 'share': {'kind': 'whole'},"
                                                " 'schedule': {'backfill': 'none', 'gang': 'any'}}",
                      STRICT),
             cut);
    at(&s, "node", "big", 36000, 39600);
    at(&s, "any", "big", 3600, 7200);
    assert_close(sim_job_of(&s, "node", "big")->wait_s, 32400, 1e-12); /* 9 h */
    simulated_fini(&s);
}

/* ---- A11: EASY backfill ---- */

static void a11_backfill(void **state)
{
    (void)state;
    struct simulated s;
    const char *scenario =
        SCENARIO(FLEET("generic", 1, 8),
                 "{'name': 'easy', 'share': {'kind': 'whole'}, 'schedule': {'backfill': 'easy'}},"
                 "{'name': 'strict', 'share': {'kind': 'whole'}, 'schedule': {'backfill': 'none'}}",
                 "");
    simulate(&s, scenario,
             "job_id,submit_s,duration_s,gpus,walltime_s\n"
             "j1,0,36000,6,36000\nj2,3600,18000,8,18000\n"
             "j3,7200,32400,2,32400\nj4,7200,28800,2,28800\n");
    at(&s, "easy", "j1", 0, 36000);
    at(&s, "easy", "j4", 7200, 36000);
    at(&s, "easy", "j2", 36000, 54000);
    at(&s, "easy", "j3", 54000, 86400);
    assert_close(sim_policy(&s, "easy")->stats.wait_s.mean, 5.5 * 3600, 1e-12);
    at(&s, "strict", "j2", 36000, 54000);
    at(&s, "strict", "j3", 54000, 86400);
    at(&s, "strict", "j4", 54000, 82800);
    assert_close(sim_policy(&s, "strict")->stats.wait_s.mean, 8.75 * 3600, 1e-12);
    simulated_fini(&s);
    simulate(&s, scenario,
             "job_id,submit_s,duration_s,gpus,walltime_s\n"
             "j1,0,36000,6,36000\nj2,3600,18000,8,18000\n"
             "j3,7200,32400,2,32400\nj4,7200,28800,2,86400\n");
    at(&s, "easy", "j4", 54000, 82800); /* a limit of 24 h proves nothing */
    simulated_fini(&s);
}

/* ---- A13: who pays for a shared card; 3 USD/h for 1 h ---- */

static void bill_by(const char *rule, const char *policy, const char *trace,
                    const char *const *name, const double *usd)
{
    struct simulated s;
    char *book = xasprintf("{'format': 'gpusim-prices/1', 'charge': '%s', 'items':"
                           " [{'name': 'card', 'driver': 'gpu_hour', 'amount': '3 USD/h'}]}",
                           rule);
    const struct sim_file prices[] = { { "prices.json", book }, { NULL, NULL } };
    char *scenario = xasprintf(
        SCENARIO(A100, "%s",
                 STRICT
                 ", 'horizon': '1 h', 'prices': 'prices.json',"
                 " 'profiles': {'p': {'compute': 1, 'sm_width': 0.1, 'footprint': '1 GiB'}}"),
        policy);
    simulate_with(&s, scenario, trace, prices, 1);
    const struct policy_result *p = sim_policy(&s, "p");
    double sum = 0;
    for (size_t i = 0; name[i]; i++) assert_close(sim_charge_usd(p, name[i]), usd[i], 1e-6);
    for (size_t i = 0; i < p->tco.n_charges; i++) {
        assert_true(p->tco.charge[i].usd >= 0 && p->tco.charge[i].usd <= 3 + 1e-6);
        sum += p->tco.charge[i].usd;
    }
    assert_close(sum, 3, 1e-6);
    assert_close(p->tco.total_usd, 3, 1e-6);
    simulated_fini(&s);
    free(scenario);
    free(book);
}

static void bill(const char *policy, const char *trace, const char *const *name, const double *usd)
{
    bill_by("allocated", policy, trace, name, usd);
}

static void a13_charges(void **state)
{
    (void)state;
    static const char *const names[] = { "a", "b", "c", "d", "(idle)", "(stranded)", NULL };
#define HEAD "job_id,submit_s,duration_s,gpus,user,profile,slots\n"
    bill(POLICY("p", FREE_HOOKS),
         HEAD
         "1,0,9999,0.25,a,p,1\n2,0,9999,0.25,b,p,1\n3,0,9999,0.25,c,p,1\n4,0,9999,0.25,d,p,1\n",
         names, (const double[]){ 0.75, 0.75, 0.75, 0.75, 0, 0 });
    bill(POLICY("p", FREE_HOOKS), HEAD "1,0,9999,0.25,a,p,1\n2,0,9999,0.25,b,p,1\n", names,
         (const double[]){ 0.75, 0.75, 0, 0, 1.5, 0 });
    bill(POLICY("p", "'kind': 'timeslice', 'slots': 4"), HEAD "1,0,9999,0.5,a,p,2\n", names,
         (const double[]){ 1.5, 0, 0, 0, 1.5, 0 });
    bill(POLICY("p",
                "'kind': 'mig', 'layout': 'static', 'slices': ['3g.20gb', '2g.10gb', '2g.10gb']"),
         HEAD "1,0,9999,0.5,a,p,1\n2,0,9999,0.25,b,p,1\n3,0,9999,0.25,c,p,1\n", names,
         (const double[]){ 9.0 / 7, 6.0 / 7, 6.0 / 7, 0, 0, 0 });
    bill(
        POLICY("p", "'kind': 'mig', 'layout': 'static', 'slices': ['3g.20gb', '3g.20gb']"),
        HEAD "1,0,9999,0.5,a,p,1\n2,0,9999,0.5,b,p,1\n", names,
        (const double[]){ 9.0 / 7, 9.0 / 7, 0, 0, 0, 3.0 / 7 }); /* the seventh slice is stranded */
    /* by the larger of the shares: two 3g slices keep all memory from others and pay the whole
     * card; beside two 2g slices a 3g one pays 1/2 of 1/2 + 2/7 + 2/7 */
    bill_by("max",
            POLICY("p", "'kind': 'mig', 'layout': 'static', 'slices': ['3g.20gb', '3g.20gb']"),
            HEAD "1,0,9999,0.5,a,p,1\n2,0,9999,0.5,b,p,1\n", names,
            (const double[]){ 1.5, 1.5, 0, 0, 0, 0 });
    bill_by(
        "max",
        POLICY("p",
               "'kind': 'mig', 'layout': 'static', 'slices': ['3g.20gb', '2g.10gb', '2g.10gb']"),
        HEAD "1,0,9999,0.5,a,p,1\n2,0,9999,0.25,b,p,1\n3,0,9999,0.25,c,p,1\n", names,
        (const double[]){ 1.4, 0.8, 0.8, 0, 0, 0 });
    bill_by("max", POLICY("p", FREE_HOOKS), HEAD "1,0,9999,0.25,a,p,1\n2,0,9999,0.25,b,p,1\n",
            names, (const double[]){ 0.75, 0.75, 0, 0, 1.5, 0 });
    bill_by("max", POLICY("p", "'kind': 'timeslice', 'slots': 4"), HEAD "1,0,9999,0.5,a,p,2\n",
            names, (const double[]){ 1.5, 0, 0, 0, 1.5, 0 });
    bill_by("max", POLICY("p", "'kind': 'mps', 'slots': 4"), HEAD "1,0,9999,0.25,a,p,1\n", names,
            (const double[]){ 0.75, 0, 0, 0, 2.25, 0 });
    bill_by("max", POLICY("p", "'kind': 'whole'"), HEAD "1,0,9999,0.25,a,p,1\n", names,
            (const double[]){ 3, 0, 0, 0, 0, 0 });
    bill_by("max", POLICY("p", "'kind': 'remote', 'network': '100 Gbit/s', 'rtt': '0 s'"),
            HEAD "1,0,9999,0.25,a,p,1\n", names, (const double[]){ 3, 0, 0, 0, 0, 0 });
#undef HEAD
}

/* One of four slots but half of the memory: half of the card is kept from others. */
static void memory_counts(void **state)
{
    (void)state;
    static const char *const names[] = { "a", "b", "(idle)", "(stranded)", NULL };
#define HEAD "job_id,submit_s,duration_s,gpus,gpu_mem_bytes,user,profile\n"
    const char *trace = HEAD "1,0,9999,0.25,21223178240,a,p\n2,0,9999,0.25,1073741824,b,p\n";
    char *policy = xasprintf(POLICY("p", "'kind': 'timeslice', 'slots': 4, 'memory': 'reserve'"));
    struct simulated s;
    bill_by("allocated", policy, trace, names, (const double[]){ 0.75, 0.75, 1.5, 0 });
    char *scenario =
        xasprintf(SCENARIO(A100, "%s",
                           STRICT ", 'horizon': '1 h', 'prices': 'prices.json',"
                                  " 'profiles': {'p': {'compute': 1, 'sm_width': 0.1}}"),
                  policy);
    simulate_with(&s, scenario, trace,
                  (const struct sim_file[]){
                      { "prices.json", "{'format': 'gpusim-prices/1', 'charge': 'max', 'items':"
                                       " [{'name': 'card', 'driver': 'gpu_hour', 'amount': 3}]}" },
                      { NULL, NULL } },
                  1);
    const struct policy_result *p = sim_policy(&s, "p");
    const double a = sim_charge_usd(p, "a");
    assert_true(a > 1.5 && a < 1.65); /* 19.8 GiB and a context of 39.5 usable */
    assert_close(sim_charge_usd(p, "b"), 0.75, 1e-6);
    assert_close(a + 0.75 + sim_charge_usd(p, "(idle)"), 3, 1e-6);
    assert_close(sim_job_of(&s, "p", "1")->cost_usd, a, 1e-5); /* the job's line says the same */
    simulated_fini(&s);
    free(scenario);
    free(policy);
#undef HEAD
}

/* Rent on the simulated demand: two cards, jobs of 90 and 30 minutes one after the other on a card
 * and one of 60 on the other. As used 3 h; in steps of an hour 2 + 1 + 1. Occupied: none, one or
 * two cards. */
static void rent_of_a_run(void **state)
{
    (void)state;
    struct simulated s;
    simulate_with(
        &s,
        SCENARIO(FLEET("generic", 1, 2),
                 "{'name': 'used', 'share': {'kind': 'whole'}, 'prices': 'used.json'},"
                 "{'name': 'hourly', 'share': {'kind': 'whole'}, 'prices': 'hourly.json'},"
                 "{'name': 'base', 'share': {'kind': 'whole'}, 'prices': 'base.json'}",
                 STRICT ", 'horizon': '4 h'"),
        "job_id,submit_s,duration_s,gpus,user\na,0,5400,1,u\nb,0,3600,1,v\nc,5400,1800,1,u\n",
        (const struct sim_file[]){
            { "used.json", "{'format': 'gpusim-prices/1', 'items': [{'name': 'r', 'driver': "
                           "'allocated_gpu_hour', 'amount': 2}]}" },
            { "hourly.json", "{'format': 'gpusim-prices/1', 'items': [{'name': 'r', 'driver': "
                             "'allocated_gpu_hour', 'amount': 2, 'step': '1 h'}]}" },
            { "base.json", "{'format': 'gpusim-prices/1', 'items': [{'name': 'c', 'driver': "
                           "'committed_gpu_hour', 'amount': 0.7}, {'name': 'o', 'driver': "
                           "'overflow_gpu_hour', 'amount': 2}]}" },
            { NULL, NULL } },
        1);
    assert_close(sim_policy(&s, "used")->tco.total_usd, 2 * 3, 1e-9);
    assert_close(sim_policy(&s, "hourly")->tco.total_usd, 2 * 4, 1e-9);
    assert_close(sim_charge_usd(sim_policy(&s, "hourly"), "(idle)"), 0, 1e-12);
    /* demand: 2 h of 4 nobody, 1 h one card, 1 h two; P(demand > 1) = 1/4 <= 0.35 < P(demand >
     * 0) */
    const struct tco_result *t = &sim_policy(&s, "base")->tco;
    assert_close(t->base_cards, 1, 0);
    assert_close(t->total_usd, 0.7 * 4 + 2 * 1, 1e-9);
    const struct usage_group *g = &sim_policy(&s, "base")->usage.group[0];
    assert_int_equal(g->n_demand, 3);
    assert_close(g->demand[0].hours, 2, 1e-12);
    assert_close(g->demand[2].hours, 1, 1e-12);
    assert_close(g->occupied_h, 3, 1e-12);
    /* the commitment over all 8 card-hours, what overflows over the 3 that were used: 1.5 of them
     * are a's */
    assert_close(sim_job_of(&s, "base", "a")->cost_usd, 1.5 * (0.7 * 4 / 8 + 2.0 * 1 / 3), 1e-6);
    simulated_fini(&s);
}

/* Rented slices of a T4: a quarter at 0.49 USD/h, a half at twice that, nothing for what is not
 * held. 0.3 takes a half, 0.2 with 6 of 15 GiB too, 0.6 the whole card, 0.25 a quarter; a small
 * slice is slow for work that fills a card. */
static void rented_slices(void **state)
{
    (void)state;
    struct simulated s;
    char said[400];
    const struct sim_file prices[] = {
        { "prices.json", "{'format': 'gpusim-prices/1', 'items': [{'name': 'slices', 'driver': "
                         "'allocated_gpu_hour', 'amount': '1.96 USD/h'}]}" },
        { NULL, NULL },
    };
#define SLICES(sizes)                                                                              \
    SCENARIO(FLEET("t4", 1, 8), POLICY("rent", FREE_HOOKS ", 'enforce': 'hard', 'sizes': " sizes), \
             STRICT ", 'prices': 'prices.json',"                                                   \
                    " 'profiles': {'p': {'host': 1, 'compute': 0},"                                \
                    "              'full': {'compute': 1, 'sm_width': 1}}")
    simulate_with(&s, SLICES("[0.25, 0.5]"),
                  "job_id,submit_s,duration_s,gpus,gpu_mem_bytes,user,profile\n"
                  "a,0,3600,0.3,,a,p\nb,0,3600,0.2,6442450944,b,p\nc,0,3600,0.6,,c,p\n"
                  "d,0,3600,0.25,,d,p\ne,0,3600,0.2,1073741824,e,full\nf,0,3600,2,,f,p\n",
                  prices, 1);
    const struct policy_result *p = sim_policy(&s, "rent");
    assert_close(sim_charge_usd(p, "a"), 0.98, 1e-9);
    assert_close(sim_charge_usd(p, "b"), 0.98, 1e-9);
    assert_close(sim_charge_usd(p, "c"), 1.96, 1e-9);
    assert_close(sim_charge_usd(p, "d"), 0.49, 1e-9);
    assert_close(sim_charge_usd(p, "e"), 4 * 0.49, 1e-9); /* a quarter takes four times as long */
    assert_close(sim_charge_usd(p, "f"), 2 * 1.96, 1e-9);
    assert_close(sim_charge_usd(p, "(idle)"), 0, 1e-12);
    assert_close(p->tco.total_usd, 0.98 * 2 + 1.96 + 0.49 + 4 * 0.49 + 3.92, 1e-9);
    at(&s, "rent", "e", 0, 4 * 3600);
    simulated_fini(&s);
    /* six of 0.1667 share a card, a seventh waits */
    simulate_with(&s,
                  SCENARIO(FLEET("a10", 1, 1),
                           POLICY("rent", FREE_HOOKS ", 'enforce': 'hard', 'sizes': [0.1667, 0.5]"),
                           STRICT ", 'profiles': {'p': {'host': 1, 'compute': 0}}"),
                  "job_id,submit_s,duration_s,gpus,profile\na,0,100,0.1,p\nb,0,100,0.1,p\n"
                  "c,0,100,0.1,p\nd,0,100,0.1,p\ne,0,100,0.1,p\nf,0,100,0.167,p\ng,0,100,0.1,p\n",
                  NULL, 1);
    assert_close(sim_job_of(&s, "rent", "f")->start_s, 0, 0);
    assert_true(sim_job_of(&s, "rent", "g")->start_s >= 100);
    simulated_fini(&s);
    static const char *const wrong[][2] = { { "[]", "expected a list of shares" },
                                            { "0.5", "expected a list of shares" },
                                            { "[0.25, '1/2']", "sizes[1]: expected a share" },
                                            { "[0.25, 1]", "sizes[1]: expected a share" },
                                            { "[0.5, 0.25]", "sizes[1]: expected more" } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *text = xasprintf(SLICES("%s"), wrong[i][0]);
        assert_true(sim_problems(text, "job_id,submit_s,duration_s,gpus\na,0,1,1\n", prices, said,
                                 sizeof said) > 0);
        assert_contains(said, wrong[i][1]);
        free(text);
    }
#undef SLICES
}

/* ---- MPS: one user for each server ---- */

static void mps_users_do_not_meet(void **state)
{
    (void)state;
    struct simulated s;
#define USERS(fleet, schedule)                                                                             \
    SCENARIO(                                                                                              \
        fleet,                                                                                             \
        POLICY("one", "'kind': 'mps', 'slots': 4, 'cap': 1, 'overhead': 0, 'interference': 0") "," POLICY( \
            "any", "'kind': 'mps', 'slots': 4, 'cap': 1, 'overhead': 0,"                                   \
                   " 'interference': 0, 'users': 'any'"),                                                  \
        ", 'schedule': {" schedule "}, 'profiles': {'p': {'compute': 1, 'sm_width': 0.25}}")
#define ROWS                                                                                       \
    "job_id,submit_s,duration_s,gpus,user,profile\n"                                               \
    "a,0,100,0.25,ann,p\nb,0,50,0.25,bob,p\nc,0,200,0.25,ann,p\nd,0,50,0.25,,p\n"
    simulate(&s, USERS(FLEET("generic", 1, 1), "'backfill': 'greedy'"), ROWS);
    at(&s, "any", "a", 0, 100);
    at(&s, "any", "b", 0, 50);
    at(&s, "any", "d", 0, 50);
    at(&s, "one", "a", 0, 100);
    at(&s, "one", "c", 0, 200);   /* the same user's comes in beside a, ahead of bob's */
    at(&s, "one", "b", 200, 250); /* when the last of ann's has left */
    at(&s, "one", "d", 250, 300); /* nobody's is not bob's */
    simulated_fini(&s);
    static const char *const places[] = { "best_fit", "worst_fit", "first_fit",
                                          "pack",     "spread",    "fgd",
                                          "random",   "packing",   "best_fit_node" };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *scenario = xasprintf(USERS(FLEET("generic", 3, 1), "'place': '%s'"), places[i]);
        simulate(&s, scenario, ROWS);
        for (const char *x = "a\0b\0c\0d\0"; *x;
             x += 2) /* same card, other user: one after the other */
            for (const char *y = x + 2; *y; y += 2) {
                const struct sim_job *jx = sim_job_of(&s, "one", x), *jy = sim_job_of(&s, "one", y);
                if (strcmp(jx->cards, jy->cards) != 0 || (*x == 'a' && *y == 'c')) continue;
                if (jx->start_s < jy->end_s && jy->start_s < jx->end_s)
                    fail_msg("%s: %s and %s meet", places[i], x, y);
            }
        assert_int_equal(sim_policy(&s, "one")->jobs.completed, 4);
        simulated_fini(&s);
        free(scenario);
    }
    /* A reservation knows whose cards they will be: bob's second does not push the whole back. */
    simulate(&s, USERS(FLEET("generic", 1, 2), "'backfill': 'easy'"),
             "job_id,submit_s,duration_s,gpus,user,profile,walltime_s\n"
             "a,0,100,0.25,ann,p,100\nb,0,300,0.25,bob,p,300\ngang,0,10,2,ann,p,10\n"
             "late,0,400,0.25,bob,p,400\nshort,0,200,0.25,bob,p,200\n");
    at(&s, "one", "gang", 300, 310);
    at(&s, "one", "short", 0, 200);
    at(&s, "one", "late", 310, 710);
    simulated_fini(&s);
#undef USERS
#undef ROWS
}

/* ---- pooled cards: jobs that share a node's link ---- */

/* A GB/s of link, jobs that move a GB each second: z = d = 1. Alone at 1/2; two on a node at 1/2.5
 * and three at 1/3.2 each (mean value analysis: 1.5 and 2.2 at the link). */
static void links_are_shared(void **state)
{
    (void)state;
    struct simulated s;
#define POOL(fleet, more)                                                                                 \
    SCENARIO(                                                                                             \
        fleet,                                                                                            \
        POLICY("node", "'kind': 'remote', 'network': '1 GB/s', 'rtt': '0 s', 'async': '0 s'") "," POLICY( \
            "card", "'kind': 'remote', 'network': '1 GB/s', 'rtt': '0 s',"                                \
                    " 'async': '0 s', 'link': 'card'"),                                                   \
        STRICT more ", 'profiles': {'moves': {'compute': 1, 'pcie': '1 GB/s'},"                           \
                    " 'stays': {'compute': 1}}")
#define ROWS "job_id,submit_s,duration_s,gpus,profile\n"
    simulate(&s, POOL(FLEET("generic", 1, 4), ""),
             ROWS "a,0,100,1,moves\nstill,0,100,1,stays\nb,100,100,1,moves\n");
    at(&s, "node", "a", 0, 225);     /* 50 alone, then 50 at 0.4 */
    at(&s, "node", "b", 100, 325);   /* 50 at 0.4, then 50 alone */
    at(&s, "node", "still", 0, 100); /* does not use the link */
    at(&s, "card", "a", 0, 200);
    at(&s, "card", "b", 100, 300);
    simulated_fini(&s);
    /* Another node, another link. */
    simulate(&s, POOL(FLEET("generic", 2, 1), ""), ROWS "a,0,100,1,moves\nb,100,100,1,moves\n");
    at(&s, "node", "a", 0, 200);
    at(&s, "node", "b", 100, 300);
    simulated_fini(&s);
    /* A gang meets itself: both cards at 0.4, and a neighbour slows it at once: three at 1/3.2. */
    simulate(&s, POOL(FLEET("generic", 1, 4), ", 'output': {'sample': '10 s'}"),
             ROWS "gang,0,100,2,moves\nlate,100,15,1,moves\n");
    at(&s, "node", "late", 100, 148);
    at(&s, "node", "gang", 0, 148 + (100 - 40 - 15) / 0.4);
    simulated_fini(&s);
    /* Gathered from two nodes: as slow as where it is slowest. */
    simulate(&s, POOL(FLEET("generic", 2, 2), ""), ROWS "one,0,1000,1,moves\ngang,1,100,2,moves\n");
    at(&s, "node", "gang", 1, 251);
    simulated_fini(&s);
#undef POOL
#undef ROWS
}

/* ---- energy of a small fleet by hand ---- */

/* A100-40GB: 56 W idle, 92 W with a context, 360 W with all SMs at work. */
static void energy_by_hand(void **state)
{
    (void)state;
    struct simulated s;
    simulate(
        &s,
        SCENARIO(FLEET("a100-sxm4-40gb", 1, 2),
                 POLICY("whole", "'kind': 'whole'") "," POLICY(
                     "ts", "'kind': 'timeslice', 'slots': 2, 'switch': '0 s'"),
                 STRICT ", 'horizon': '2 h', 'profiles': {"
                        " 'half': {'compute': 1, 'sm_width': 0.5, 'footprint': '1 GiB'},"
                        " 'lazy': {'host': 0.25, 'compute': 0.5, 'memory': 0.25, 'sm_width': 0.8,"
                        "          'footprint': '1 GiB'}}"),
        "job_id,submit_s,duration_s,gpus,profile,user\na,0,3600,0.5,half,u\nb,0,1800,0.5,lazy,v\n");
    /* whole: card 0 an hour at 92 + 0.5 x 268, card 1 half an hour at 92 + 0.75 x 0.8 x 268 */
    const double a = 92 + 0.5 * 268, b = (92 + 0.6 * 268) / 2, idle = 56 * (1 + 1.5);
    assert_close(sim_job_of(&s, "whole", "a")->energy_kwh, a / 1000, 1e-6);
    assert_close(sim_job_of(&s, "whole", "b")->energy_kwh, b / 1000, 5e-6);
    assert_close(sim_policy(&s, "whole")->gpu.energy_kwh, (a + b + idle) / 1000, 1e-8);
    /* Shared: while both are there each pays half of the context and its own SMs, not all of it. */
    const struct policy_result *ts = sim_policy(&s, "ts");
    const struct sim_job *ja = sim_job_of(&s, "ts", "a"), *jb = sim_job_of(&s, "ts", "b");
    const double together = jb->run_s / 3600, alone = (ja->end_s - jb->end_s) / 3600;
    const double work = 268 * (0.5 + 0.5 * 0.6); /* SM-hours do not depend on how they are shared */
    assert_close(ja->energy_kwh, (92 * (together / 2 + alone) + 268 * 0.5) / 1000, 1e-5);
    assert_close(jb->energy_kwh, (92 * together / 2 + 268 * 0.3) / 1000, 1e-5);
    assert_close(ts->gpu.energy_kwh,
                 (92 * (together + alone) + work + 56 * (4 - together - alone)) / 1000, 1e-8);
    simulated_fini(&s);
}

/* ---- corners of the loop ---- */

/* Ends free before arrivals look: a job that comes as another ends takes its card at once. */
static void a_hand_over_at_one_instant(void **state)
{
    (void)state;
    struct simulated s;
    simulate(&s,
             SCENARIO(FLEET("generic", 1, 1), POLICY("whole", "'kind': 'whole'"),
                      STRICT ", 'output': {'sample': '1 s'}"),
             "job_id,submit_s,duration_s,gpus\na,0,10,1\nb,10,10,1\nc,20,0,1\nd,20,5,1\n");
    at(&s, "whole", "b", 10, 20);
    at(&s, "whole", "c", 20, 20); /* nothing to do: starts and ends at once */
    at(&s, "whole", "d", 20, 25);
    simulated_fini(&s);
    /* Two come as one goes: the end is first, so nobody is ever out of memory. */
    simulate(
        &s,
        SCENARIO(A100, POLICY("ts", "'kind': 'timeslice', 'slots': 3"),
                 STRICT ", 'profiles': {'big': {'host': 1, 'compute': 0, 'footprint': '18 GiB'}}"),
        "job_id,submit_s,duration_s,gpus,profile\na,0,10,0.5,big\nb,0,20,0.5,big\nc,10,10,0.5,big\n");
    at(&s, "ts", "c", 10, 20);
    simulated_fini(&s);
    /* One ends at the instant at which another grows: the bytes are free by then. */
    simulate(
        &s,
        SCENARIO(A100, POLICY("ts", "'kind': 'timeslice', 'slots': 3"),
                 STRICT
                 ", 'profiles': {'big': {'host': 1, 'compute': 0, 'footprint': '18 GiB'},"
                 " 'grows': {'host': 1, 'compute': 0, 'footprint': '18 GiB', 'mem_grow': '10 s'}}"),
        "job_id,submit_s,duration_s,gpus,profile\na,0,10,0.5,big\nb,0,20,0.5,big\nc,0,20,0.5,grows\n");
    at(&s, "ts", "c", 0, 20);
    simulated_fini(&s);
}

/* A gang takes a slot of two cards; one of them has two further tenants, so it runs at a third. */
static void a_gang_at_the_speed_of_its_slowest_card(void **state)
{
    (void)state;
    struct simulated s;
    simulate(
        &s,
        SCENARIO(FLEET("generic", 1, 2), POLICY("ts", "'kind': 'timeslice', 'slots': 3"), STRICT),
        "job_id,submit_s,duration_s,gpus,slots\n"
        "x,0,30,0.5,1\ny,0,1000,0.5,1\ngang,0,100,2,1\n");
    const struct sim_job *x = sim_job_of(&s, "ts", "x"), *gang = sim_job_of(&s, "ts", "gang");
    assert_contains(gang->cards, "f.0.0 f.0.1");
    assert_string_equal(x->cards, "f.0.0");
    assert_string_equal(sim_job_of(&s, "ts", "y")->cards, "f.0.0");
    at(&s, "ts", "x", 0, 90);     /* a third of a card */
    at(&s, "ts", "gang", 0, 230); /* 30 done by 90, then half */
    at(&s, "ts", "y", 0, 1130);
    simulated_fini(&s);
    /* The slow card is not the first one. */
    simulate(
        &s,
        SCENARIO(
            "{'name': 'f', 'gpu': 'a100-sxm4-40gb', 'gpus_per_node': 2}",
            POLICY("ts", "'kind': 'timeslice', 'slots': 3, 'switch': '0 s', 'memory': 'reserve'"),
            STRICT ", 'profiles': {'p': {'compute': 1, 'footprint': '20 GiB'},"
                   " 'q': {'compute': 1, 'footprint': '1 GiB'}}"),
        "job_id,submit_s,duration_s,gpus,profile\n"
        "x,0,10,0.5,p\ny,0,1000,0.5,p\ngang,10,100,2,q\n");
    assert_string_equal(sim_job_of(&s, "ts", "x")->cards, "f.0.0");
    assert_string_equal(sim_job_of(&s, "ts", "y")->cards, "f.0.1");
    at(&s, "ts", "gang", 10, 210);
    simulated_fini(&s);
}

/* DESIGN 5: 7g.40gb has 98 of the 108 SMs, the whole card all of them. */
static void seven_g_is_less_than_the_card(void **state)
{
    (void)state;
    struct simulated s;
    simulate(
        &s,
        SCENARIO(
            A100,
            POLICY("whole", "'kind': 'whole'") "," POLICY(
                "mig",
                "'kind': 'mig', 'layout': 'static', 'slices': ['7g.40gb']") "," POLICY("one",
                                                                                       "'kind': 'mig', 'layout': 'static', 'slices': {'1g.5gb': 7}"),
            STRICT ", 'profiles': {'p': {'compute': 1, 'sm_width': 1, 'footprint': '1 GiB'}}"),
        "job_id,submit_s,duration_s,gpus,profile\nall,0,98,0.9,p\nsmall,500,98,0.1,p\n");
    at(&s, "whole", "all", 0, 98);
    at(&s, "mig", "all", 0, 108);
    at(&s, "one", "small", 500, 500 + 98 * 108.0 / 14); /* not times seven */
    simulated_fini(&s);
}

/* A job on a card other than the one it was recorded on. */
static void transfer_between_cards(void **state)
{
    (void)state;
    struct simulated s;
    simulate(&s,
             SCENARIO(FLEET("h100-sxm5-80gb", 1, 1), POLICY("whole", "'kind': 'whole'"),
                      STRICT ", 'profiles': {'p': {'host': 0.2, 'compute': 0.5, 'memory': 0.3,"
                             " 'precision': 'fp64', 'footprint': '1 GiB'}}"),
             "job_id,submit_s,duration_s,gpus,gpu_model,profile\nj,0,1000,1,a100-sxm4-40gb,p\n");
    const struct gpu_spec *to = s.run.plan[0].group[0].type.gpu;
    const struct gpu_spec *from = gpu_find(s.run.world.gpus, "a100-sxm4-40gb", NULL);
    const double compute = from->peak[PREC_fp64].dense_ops / to->peak[PREC_fp64].dense_ops;
    assert_true(compute < 0.5 && from->mem_Bps / to->mem_Bps < 0.5);
    at(&s, "whole", "j", 0, 1000 * (0.2 + 0.5 * compute + 0.3 * from->mem_Bps / to->mem_Bps));
    simulated_fini(&s);
}

/* A fleet of three kinds of card, by the figures of their sheets: 312, 989.4 and 121 TFLOPS in
 * bf16, 2039, 3352 and 300 GB/s. "card" is what the trace recorded them on; a job that may run
 * anywhere takes time where it lands, and one that names its card takes what was recorded. */
static void a_fleet_of_several_kinds(void **state)
{
    (void)state;
    struct simulated s;
    simulate(
        &s,
        SCENARIO(
            "{'name': 'h', 'gpu': 'h100-sxm5-80gb'}, {'name': 'l', 'gpu': 'l4'}, {'name': 'a', "
            "'gpu': 'a100-sxm4-80gb'}",
            POLICY("whole", "'kind': 'whole'"),
            STRICT ", 'profiles': {'p': {'host': 0.2, 'compute': 0.5, 'memory': 0.3,"
                   " 'precision': 'bf16', 'footprint': '1 GiB'}}"),
        "job_id,submit_s,duration_s,gpus,gpu_model,gpu_allowed,profile\n"
        "h,0,1000,1,a100-sxm4-80gb,h100-sxm5-80gb,p\n"
        "l,0,1000,1,a100-sxm4-80gb,l4,p\n"
        "a,0,1000,1,a100-sxm4-80gb,a100-sxm4-80gb,p\n"
        "back,20000,1000,1,l4,h100-sxm5-80gb,p\n"
        "unknown,30000,1000,1,,l4,p\n");
    at(&s, "whole", "h", 0, 1000 * (0.2 + 0.5 * 312 / 989.4 + 0.3 * 2039 / 3352));
    at(&s, "whole", "l", 0, 1000 * (0.2 + 0.5 * 312 / 121 + 0.3 * 2039 / 300));
    at(&s, "whole", "a", 0, 1000);
    at(&s, "whole", "back", 20000, 20000 + 1000 * (0.2 + 0.5 * 121 / 989.4 + 0.3 * 300 / 3352));
    at(&s, "whole", "unknown", 30000, 31000); /* where it was recorded is not known: as it stands */
    simulated_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a03_memory),
        cmocka_unit_test(a03_victim),
        cmocka_unit_test(overcommitted_cards),
        cmocka_unit_test(x04_swapping),
        cmocka_unit_test(measured_pairs),
        cmocka_unit_test(pairs_refused),
        cmocka_unit_test(a04_slots_give_no_share),
        cmocka_unit_test(a04_fractions),
        cmocka_unit_test(a05_core_quota),
        cmocka_unit_test(a06_capped_clients),
        cmocka_unit_test(a07_four_numbers),
        cmocka_unit_test(a10_packing),
        cmocka_unit_test(a11_backfill),
        cmocka_unit_test(a13_charges),
        cmocka_unit_test(memory_counts),
        cmocka_unit_test(rent_of_a_run),
        cmocka_unit_test(rented_slices),
        cmocka_unit_test(mps_users_do_not_meet),
        cmocka_unit_test(links_are_shared),
        cmocka_unit_test(energy_by_hand),
        cmocka_unit_test(a_hand_over_at_one_instant),
        cmocka_unit_test(a_gang_at_the_speed_of_its_slowest_card),
        cmocka_unit_test(seven_g_is_less_than_the_card),
        cmocka_unit_test(transfer_between_cards),
        cmocka_unit_test(a_fleet_of_several_kinds),
    };
    return cmocka_run_group_tests_name("questions of users", tests, NULL, NULL);
}
