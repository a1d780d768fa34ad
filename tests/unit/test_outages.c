/* test_outages.c - cards that are drained, removed, added and fail at stated times, nodes and programs that
 * fail: small fleets with starts, ends and card time worked out by hand.
 * Mutants: a fault strikes nobody, a struck job keeps its work, a drained card takes new jobs, removed
 * cards cost money, a fault of one program stays with it under MPS, policies draw different faults. */
#include "support/simulate.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char frame[] = "{ 'format': 'gpusim-scenario/1', 'name': 's'%s,"
                            "  'fleet': [ { 'name': 'a', 'gpu': 'generic', %s } ],"
                            "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
                            "  'schedule': { 'place': 'first_fit', %s },"
                            "  'policies': [ { 'name': 'p', 'share': { %s } } ] }";

#define HEAD  "job_id,submit_s,duration_s,gpus,walltime_s\n"
#define NONE  "'backfill': 'none'"
#define WHOLE "'kind': 'whole'"
#define TWO   "'nodes': 1, 'gpus_per_node': 2, 'capacity': "
#define NODES "'nodes': 2, 'gpus_per_node': 2, 'capacity': "

struct want {
    const char *id, *state;
    double start_s, end_s;
    int attempts;
};

static void check(const struct simulated *s, const struct want *w, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct sim_job *j = sim_job_of(s, "p", w[i].id);
        const bool start =
            isnan(w[i].start_s) ? isnan(j->start_s) : fabs(j->start_s - w[i].start_s) < 1e-9;
        if (!start || !(fabs(j->end_s - w[i].end_s) < 1e-9) || strcmp(j->state, w[i].state) != 0 ||
            (int)j->attempts != w[i].attempts)
            fail_msg("%s: %s from %.9g to %.9g s in %g attempts (%s), not %s from %g to %g in %d",
                     w[i].id, j->state, j->start_s, j->end_s, j->attempts, j->reason, w[i].state,
                     w[i].start_s, w[i].end_s, w[i].attempts);
    }
}

static void replay(struct simulated *s, const char *top, const char *fleet, const char *schedule,
                   const char *share, const char *rows)
{
    char text[2000], trace[1000];
    snprintf(text, sizeof text, frame, top, fleet, schedule, share);
    snprintf(trace, sizeof trace, "%s%s", HEAD, rows);
    simulate(s, text, trace);
}

#define RUN(s, top, fleet, schedule, share, rows, ...)                                             \
    do {                                                                                           \
        static const struct want want_[] = { __VA_ARGS__ };                                        \
        replay((s), (top), (fleet), (schedule), (share), (rows));                                  \
        check((s), want_, sizeof want_ / sizeof *want_);                                           \
    } while (0)

static void near(const char *what, double got, double want)
{
    if (!(fabs(got - want) < 1e-9)) fail_msg("%s: %.12g, not %.12g", what, got, want);
}

/* A job without cards that was recorded on a t4 and reads memory alone runs 1555 / 320 times as
 * fast on the node of an a100, so 10 s there are 48.6 s of it, of which 40 s are safe. */
static void work_on_another_node_is_told_as_recorded(void **state)
{
    static const char scenario[] =
        "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ { 'name': 'a',"
        "  'gpu': 'a100-sxm4-40gb', 'nodes': 2, 'gpus_per_node': 1, 'cpu_cores': 4,"
        "  'capacity': [ { 'at': '10 s', 'do': 'fail', 'nodes': '0' } ] } ],"
        "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
        "  'profiles': { 'reader': { 'compute': 0, 'memory': 1 } },"
        "  'schedule': { 'checkpoint': '10 s', 'restart': '0 s' },"
        "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }";
    struct simulated s;
    (void)state;
    simulate(&s, scenario,
             "job_id,submit_s,duration_s,gpus,cpus,profile,gpu_model\na,0,100,0,2,reader,t4\n");
    const struct want want = { "a", "completed", 0, 10 + 60 * 320.0 / 1555, 2 };
    check(&s, &want, 1);
    simulated_fini(&s);
}

#define FAIL_0                                                                                     \
    TWO "[ {'at': '30 s', 'do': 'fail', 'cards': '0'}, {'at': '50 s', 'do': 'add', 'cards': '0'} ]"

/* a is struck at 30 s and waits for its card until 50 s; b has the other one throughout. */
static void back_to_the_last_checkpoint(void **state)
{
    static const char rows[] = "a,0,100,1,\nb,0,1000,1,\n";
    struct simulated s;
    (void)state;
    RUN(&s, "", FAIL_0, NONE, WHOLE, rows, { "a", "completed", 0, 150, 2 },
        { "b", "completed", 0, 1000, 1 });
    const struct policy_result *p = sim_policy(&s, "p");
    assert_int_equal(p->failures.jobs_struck, 1);
    assert_int_equal(p->failures.card_faults, 0); /* it was stated, not random */
    near("lost", p->failures.lost_gpu_hours * 3600, 30);
    near("down", p->failures.down_gpu_hours * 3600, 20);
    near("down share", p->gpu.down, 20.0 / 2000);
    near("allocated", p->gpu.allocated, (30.0 + 100 + 1000) / 2000);
    near("free", p->gpu.free_share, 1 - (1130.0 + 20) / 2000);
    near("useful", p->useful_gpu_hours * 3600, 1100);
    simulated_fini(&s);
    /* checkpoints that cost nothing: 20 s are safe, 10 s are lost */
    RUN(&s, "", FAIL_0, NONE ", 'checkpoint': '20 s'", WHOLE, rows,
        { "a", "completed", 0, 130, 2 });
    near("lost", sim_policy(&s, "p")->failures.lost_gpu_hours * 3600, 10);
    simulated_fini(&s);
    /* the first is safe at 22 s, so 8 s are lost; 80 s of work and pauses at 40, 60, 80 s of work are left */
    RUN(&s, "", FAIL_0, NONE ", 'checkpoint': '20 s', 'checkpoint_cost': '2 s'", WHOLE, rows,
        { "a", "completed", 0, 136, 2 }, { "b", "completed", 0, 1098, 1 });
    near("lost", sim_policy(&s, "p")->failures.lost_gpu_hours * 3600, 8);
    simulated_fini(&s);
    RUN(&s, "", FAIL_0, NONE ", 'checkpoint': '20 s', 'restart': '5 s'", WHOLE, rows,
        { "a", "completed", 0, 135, 2 });
    simulated_fini(&s);
    /* under a limit that kills, the attempt that was struck does not count */
    RUN(&s, "", FAIL_0, NONE ", 'walltime': 'kill'", WHOLE, "a,0,100,1,110\nb,0,1000,1,\n",
        { "a", "completed", 0, 150, 2 });
    simulated_fini(&s);
    RUN(&s, "", FAIL_0, NONE ", 'walltime': 'kill'", WHOLE, "a,0,100,1,90\nb,0,1000,1,\n",
        { "a", "killed", 0, 140, 2 });
    simulated_fini(&s);
}

/* a gang of two loses a card: both are given back, c takes the good one meanwhile. */
static void gangs_fall_together(void **state)
{
    struct simulated s;
    (void)state;
    RUN(&s, "", FAIL_0, NONE ", 'checkpoint': '1 s'", WHOLE, "a,0,100,2,\nc,5,10,1,\n",
        { "a", "completed", 0, 120, 2 }, { "c", "completed", 120, 130, 1 });
    simulated_fini(&s);
    RUN(&s, "", FAIL_0, "'checkpoint': '1 s', 'backfill': 'easy'", WHOLE,
        "a,0,100,2,200\nc,5,10,1,10\n", { "a", "completed", 0, 120, 2 },
        { "c", "completed", 30, 40, 1 });
    near("lost", sim_policy(&s, "p")->failures.lost_gpu_hours, 0);
    simulated_fini(&s);
}

static void draining_lets_jobs_end(void **state)
{
    struct simulated s;
    (void)state;
    RUN(&s, "",
        TWO "[ {'at': '10 s', 'do': 'drain'}, {'at': '200 s', 'do': 'add', 'cards': '1'},"
            " {'at': '400 s', 'do': 'add', 'cards': '0'} ]",
        NONE, WHOLE, "a,0,100,1,\nb,10,50,1,\nc,20,600,1,\n", { "a", "completed", 0, 100, 1 },
        { "b", "completed", 200, 250, 1 }, { "c", "completed", 250, 850, 1 });
    const struct policy_result *p = sim_policy(&s, "p");
    assert_int_equal(p->failures.jobs_struck, 0);
    /* card 0 is empty and out from 100 to 400 s, card 1 from 10 to 200 s */
    near("down", p->failures.down_gpu_hours * 3600, 300 + 190);
    near("P02", p->gpu.allocated + p->gpu.free_share + p->gpu.stranded + p->gpu.down, 1);
    simulated_fini(&s);
    /* a quarter of a shared card runs on; the rest can be given to nobody */
    RUN(&s, ", 'horizon': '100 s'",
        "'nodes': 1, 'gpus_per_node': 1, 'capacity': [ {'at': '10 s', 'do': 'drain'} ]", NONE,
        "'kind': 'timeslice', 'slots': 4", "a,0,60,0.25,\n", { "a", "completed", 0, 60, 1 });
    p = sim_policy(&s, "p");
    near("stranded", p->gpu.stranded, 0.75 * 50 / 100);
    near("down", p->gpu.down, 0.40);
    near("allocated", p->gpu.allocated, 0.25 * 60 / 100);
    simulated_fini(&s);
}

/* Two nodes; the second comes at 100 s and leaves at 300 s, when a is still on it until 350 s. */
static void cost_counts_the_cards_that_are_there(void **state)
{
    static const struct sim_file prices[] = {
        { "prices.json",
          "{ 'format': 'gpusim-prices/1', 'name': 'p', 'currency': 'USD', 'items': ["
          "  { 'name': 'rent', 'driver': 'gpu_hour', 'amount': 3600, 'source': 's', 'date': '2026-01-01',"
          "    'confidence': 'assumed' },"
          "  { 'name': 'licence', 'driver': 'licence', 'period': 'year', 'amount': 31536000, 'source': 's',"
          "    'date': '2026-01-01', 'confidence': 'assumed' } ] }" },
        { NULL, NULL }
    };
    struct simulated s;
    (void)state;
    simulate_with(
        &s,
        "{ 'format': 'gpusim-scenario/1', 'name': 's', 'horizon': '400 s', 'prices': 'prices.json',"
        "  'fleet': [ { 'name': 'a', 'gpu': 'generic', 'nodes': 2, 'gpus_per_node': 2, 'capacity': ["
        "    {'at': '300 s', 'do': 'remove', 'nodes': '1'}, {'at': '100 s', 'do': 'add', 'nodes': '1'}"
        "  ] } ], 'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
        "  'schedule': { 'place': 'first_fit' },"
        "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }",
        HEAD "x,0,400,2,\na,50,250,1,\nb,310,10,1,\n", prices, 1);
    const struct want want[] = { { "a", "completed", 100, 350, 1 } };
    check(&s, want, 1);
    assert_true(isnan(sim_job_of(&s, "p", "b")->start_s)); /* the node is leaving */
    const struct policy_result *p = sim_policy(&s, "p");
    /* node 0: 2 x 400; node 1: card 0 from 100 to 350, card 1 from 100 to 300 */
    const double there = 800 + 250 + 200;
    near("absent", p->failures.absent_gpu_hours * 3600, 1600 - there);
    near("down", p->failures.down_gpu_hours, 0);
    near("allocated", p->gpu.allocated, (800 + 250) / there);
    near("free", p->gpu.free_share, 200 / there);
    /* a dollar a card-second of rent, and another of licence */
    near("cost", p->tco.total_usd, 2 * there);
    near("per hour", p->tco.usd_per_gpu_hour, 7200);
    double charged = 0;
    for (size_t i = 0; i < p->tco.n_charges; i++) charged += p->tco.charge[i].usd;
    near("P03", charged, p->tco.total_usd);
    assert_contains(s.result_json, "\"absent_h\"");
    simulated_fini(&s);
}

/* a stands on the node that fails without a card; b waits for a node that is whole. */
static void nodes_fall_with_all_on_them(void **state)
{
    struct simulated s;
    (void)state;
    RUN(&s, "",
        NODES
        "[ {'at': '40 s', 'do': 'fail', 'nodes': '0'}, {'at': '60 s', 'do': 'add', 'nodes': '0'} ]",
        NONE, WHOLE, "a,0,100,0,\nb,0,100,4,\n", { "a", "completed", 0, 140, 2 },
        { "b", "completed", 0, 160, 2 });
    assert_int_equal(sim_policy(&s, "p")->failures.jobs_struck, 2);
    near("lost", sim_policy(&s, "p")->failures.lost_gpu_hours * 3600, 40 * 4);
    simulated_fini(&s);
}

/* No node of two cards will be there again: who asks for one need not wait. */
static void nobody_waits_for_ever(void **state)
{
    struct simulated s;
    (void)state;
    RUN(&s, "", TWO "[ {'at': '30 s', 'do': 'remove', 'cards': '1'} ]", NONE, WHOLE,
        "a,0,50,2,\nb,10,50,2,\nc,20,50,1,\nd,40,50,2,\n", { "a", "completed", 0, 50, 1 },
        { "b", "rejected", NAN, 30, 0 }, { "c", "completed", 50, 100, 1 },
        { "d", "rejected", NAN, 40, 0 });
    assert_contains(sim_job_of(&s, "p", "b")->reason, "left the fleet");
    simulated_fini(&s);
    RUN(&s, "", TWO "[ {'at': '30 s', 'do': 'fail', 'cards': '1'} ]", NONE, WHOLE, "a,0,50,2,\n",
        { "a", "failed", 0, 30, 1 });
    assert_int_equal(sim_policy(&s, "p")->failures.jobs_given_up, 1);
    near("lost", sim_policy(&s, "p")->failures.lost_gpu_hours * 3600, 60);
    simulated_fini(&s);
    /* it comes back, so they wait */
    RUN(&s, "",
        TWO
        "[ {'at': '30 s', 'do': 'remove', 'cards': '1'}, {'at': '90 s', 'do': 'add', 'cards': '1'} ]",
        NONE, WHOLE, "a,0,50,2,\nb,10,50,2,\n", { "b", "completed", 90, 140, 1 });
    simulated_fini(&s);
    /* preempted by b from cards some of which are leaving, a could never start again; d behind it starts */
    RUN(&s, "", NODES "[ {'at': '10 s', 'do': 'drain', 'nodes': '1'} ]", "'order': 'srtf', " NONE,
        WHOLE, "a,0,100,4,\nb,20,5,1,\nd,20,500,1,\n", { "a", "failed", 0, 20, 1 },
        { "b", "completed", 20, 25, 1 }, { "d", "completed", 20, 520, 1 });
    assert_contains(sim_job_of(&s, "p", "a")->reason, "left the fleet");
    simulated_fini(&s);
}

/* b is struck and asks for more than is in service: c passes it at 30 s. At 50 s the card is back, so b is
 * promised both cards for 60 s, and d may not pass. */
static void backfill_while_cards_are_out(void **state)
{
    static const char rows[] = "a,0,10,1,10\nb,20,50,2,50\nc,21,30,1,30\nd,22,90,1,90\n";
    struct simulated s;
    (void)state;
    RUN(&s, "", FAIL_0, "'backfill': 'easy'", WHOLE, rows, { "b", "completed", 20, 110, 2 },
        { "c", "completed", 30, 60, 1 }, { "d", "completed", 110, 200, 1 });
    simulated_fini(&s);
    RUN(&s, "", FAIL_0, "'backfill': 'conservative'", WHOLE, rows, { "c", "completed", 30, 60, 1 });
    simulated_fini(&s);
    RUN(&s, "", FAIL_0, NONE, WHOLE, rows, { "b", "completed", 20, 100, 2 },
        { "c", "completed", 100, 130, 1 });
    simulated_fini(&s);
}

/* Struck while its instance is being made: it has not started yet, and starts when it is given
 * cards again. */
static void struck_before_the_start(void **state)
{
    struct simulated s;
    (void)state;
    simulate(
        &s,
        "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ { 'name': 'a', 'gpu': 'a100-sxm4-40gb',"
        "    'nodes': 1, 'gpus_per_node': 1, 'capacity': [ {'at': '5 s', 'do': 'fail'}, {'at': '20 s', 'do': 'add'} ] } ],"
        "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
        "  'policies': [ { 'name': 'p', 'share': { 'kind': 'mig', 'repartition': '12 s', 'mode_change': '0 s' } } ] }",
        HEAD "a,0,100,0.1,\n");
    const struct sim_job *j = sim_job_of(&s, "p", "a");
    near("start", j->start_s, 20); /* the instance was made after all */
    near("wait", j->wait_s, 20);
    assert_int_equal((int)j->attempts, 2);
    assert_true(j->run_s >= 100);
    simulated_fini(&s);
}

/* ---- random faults ---- */

static const char every_policy[] =
    "{ 'format': 'gpusim-scenario/1', 'name': 's', 'seed': %d, 'horizon': '400 h', 'warmup': '50 h',"
    "  'faults': { 'card_mtbf': '60 h', 'card_repair': '4 h', 'node_mtbf': '90 h', 'node_repair': '8 h',"
    "              'job_mtbf': '30 h' },"
    "  'fleet': [ { 'name': 'a', 'gpu': 'a100-sxm4-80gb', 'nodes': 2, 'gpus_per_node': 4 } ],"
    "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
    "  'policies': ["
    "    { 'name': 'whole', 'share': { 'kind': 'whole' } },"
    "    { 'name': 'mig', 'share': { 'kind': 'mig' } },"
    "    { 'name': 'planned', 'share': { 'kind': 'mig', 'layout': 'planned', 'period': '3 h' } },"
    "    { 'name': 'planned-srtf', 'share': { 'kind': 'mig', 'layout': 'planned', 'forecast': 'oracle' },"
    "      'schedule': { 'order': 'srtf', 'backfill': 'greedy' } },"
    "    { 'name': 'timeslice', 'share': { 'kind': 'timeslice' } },"
    "    { 'name': 'mps', 'share': { 'kind': 'mps' } },"
    "    { 'name': 'intercept', 'share': { 'kind': 'intercept', 'fault': 'node' } },"
    "    { 'name': 'pool', 'share': { 'kind': 'remote' } },"
    "    { 'name': 'checkpoints', 'share': { 'kind': 'whole' },"
    "      'schedule': { 'checkpoint': '1 h', 'checkpoint_cost': '3 min', 'restart': '2 min' } },"
    "    { 'name': 'conservative', 'share': { 'kind': 'whole' }, 'schedule': { 'backfill': 'conservative' } },"
    "    { 'name': 'fgd', 'share': { 'kind': 'timeslice' }, 'schedule': { 'place': 'fgd' } },"
    "    { 'name': 'srtf', 'share': { 'kind': 'whole' },"
    "      'schedule': { 'order': 'srtf', 'backfill': 'greedy', 'checkpoint': '1 h' } } ] }";

static char *mixed_trace(uint64_t seed, int n)
{
    static const char *const gpus[] = { "0.25", "0.5", "1", "1", "2", "4", "8", "0" };
    struct strbuf b = { 0 };
    int64_t t = 0;
    strbuf_addf(&b, "job_id,submit_s,duration_s,gpus,walltime_s\n");
    for (int i = 0; i < n; i++) {
        const int64_t length = 600 + (int64_t)(test_random(&seed) % 40000);
        t += (int64_t)(test_random(&seed) % 9000);
        strbuf_addf(&b, "j%d,%lld,%lld,%s,%lld\n", i, (long long)t, (long long)length,
                    gpus[test_random(&seed) % 8], (long long)(2 * length));
    }
    return b.s;
}

/* The same faults of cards and nodes whatever runs on them; conservation is checked by the run. */
static void every_policy_meets_the_same_faults(void **state)
{
    char text[4000];
    (void)state;
    for (int seed = 1; seed <= 3; seed++) {
        struct simulated s, again;
        char *trace = mixed_trace((uint64_t)seed, 250);
        snprintf(text, sizeof text, every_policy, seed);
        simulate(&s, text, trace);
        simulate_with(&again, text, trace, NULL, 3);
        assert_string_equal(s.result_json, again.result_json);
        assert_string_equal(s.jobs_csv, again.jobs_csv);
        const struct policy_result *first = &s.run.result.policy[0];
        assert_true(first->failures.card_faults > 10 && first->failures.node_faults > 1);
        for (size_t i = 0; i < s.run.result.n_policies; i++) {
            const struct policy_result *p = &s.run.result.policy[i];
            const struct gpu_result *g = &p->gpu;
            assert_int_equal(p->failures.card_faults, first->failures.card_faults);
            assert_int_equal(p->failures.node_faults, first->failures.node_faults);
            near(p->name, p->failures.down_gpu_hours, first->failures.down_gpu_hours);
            near(p->name, g->allocated + g->free_share + g->stranded + g->down, 1);
            assert_true(p->failures.jobs_struck > 0 && p->failures.job_faults > 0);
            assert_int_equal(p->jobs.submitted, p->jobs.completed + p->jobs.failed +
                                                    p->jobs.killed + p->jobs.rejected +
                                                    p->jobs.running + p->jobs.queued);
        }
        simulated_fini(&s);
        simulated_fini(&again);
        free(trace);
    }
}

/* Without a horizon everything drains, and the fleet is whole again (checked by the run). */
static void all_jobs_end(void **state)
{
    char text[4000], *cut;
    struct simulated s;
    (void)state;
    snprintf(text, sizeof text, every_policy, 7);
    cut = strstr(text, "'horizon': '400 h', 'warmup': '50 h',");
    memset(cut, ' ', strlen("'horizon': '400 h', 'warmup': '50 h',"));
    char *trace = mixed_trace(7, 120);
    simulate(&s, text, trace);
    for (size_t i = 0; i < s.run.result.n_policies; i++) {
        const struct policy_result *p = &s.run.result.policy[i];
        assert_int_equal(p->jobs.submitted, 120);
        assert_int_equal(p->jobs.queued + p->jobs.running, 0);
    }
    simulated_fini(&s);
    free(trace);
}

/* Four long jobs on one card, programs that fail: how many fall each time. */
static void a_fault_reaches_as_far_as_the_policy_lets_it(void **state)
{
    static const struct {
        const char *share;
        unsigned fall;
    } cases[] = {
        { "'kind': 'timeslice', 'slots': 4", 1 },
        { "'kind': 'timeslice', 'slots': 4, 'fault': 'card'", 4 },
        { "'kind': 'mps', 'slots': 4", 4 },
        { "'kind': 'mps', 'slots': 4, 'fault': 'job'", 1 },
    };
    static const char top[] =
        ", 'horizon': '1000 h', 'faults': { 'card_mtbf': '0 s', 'node_mtbf': '0 s',"
        " 'job_mtbf': '20 h', 'max_restarts': 100000 }";
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct simulated s;
        replay(&s, top, "'nodes': 1, 'gpus_per_node': 1", NONE, cases[i].share,
               "a,0,9e6,0.25,\nb,0,9e6,0.25,\nc,0,9e6,0.25,\nd,0,9e6,0.25,\n");
        const struct failure_result *f = &sim_policy(&s, "p")->failures;
        assert_true(f->job_faults > 100); /* about 200 */
        assert_int_equal(f->jobs_struck, f->job_faults * cases[i].fall);
        simulated_fini(&s);
    }
    /* on two nodes, a job of a node each: "node" takes the neighbour, not the other node */
    struct simulated s;
    replay(&s, top, "'nodes': 2, 'gpus_per_node': 2", NONE,
           "'kind': 'timeslice', 'slots': 1, 'fault': 'node'",
           "a,0,9e6,1,\nb,0,9e6,1,\nc,0,9e6,1,\nd,0,9e6,1,\n");
    const struct failure_result *f = &sim_policy(&s, "p")->failures;
    assert_int_equal(f->jobs_struck, f->job_faults * 2);
    simulated_fini(&s);
}

/* What is left open comes from the reference data, and the result says so; it reads back as it was. */
static void where_the_rates_come_from(void **state)
{
    struct simulated s;
    struct json_doc doc = { 0 };
    struct result back;
    struct err e = { 0 };
    struct diag d;
    size_t n = 0;
    (void)state;
    replay(&s, ", 'faults': { 'node_repair': '2 h' }",
           "'nodes': 2, 'faults': { 'card_mtbf': '1 y' }", NONE, WHOLE, "a,0,100,1,\n");
    const struct policy_result *p = sim_policy(&s, "p");
    for (size_t i = 0; i < p->n_params; i++) {
        const struct param_result *x = &p->param[i];
        if (strncmp(x->name, "faults.", 7) != 0) continue;
        n++;
        const bool set = strstr(x->name, "card_mtbf") || strstr(x->name, "node_repair");
        assert_string_equal(x->provenance, set ? "assumed" : "published");
        if (strcmp(x->name, "faults.node_mtbf_s") == 0) {
            near("nodes", x->value, 639 * 86400.0);
            assert_true(x->low < x->value && x->value < x->high);
        }
        if (set) assert_string_equal(x->source, "set in the scenario");
    }
    assert_int_equal(n, 4);
    assert_int_equal(json_doc_parse(&doc, "result", s.result_json, strlen(s.result_json), &e), 0);
    struct arena *a = arena_create();
    diag_init(&d);
    result_read(&back, a, &doc, &d);
    assert_int_equal(d.count, 0);
    assert_true(back.policy[0].failures.any);
    near("down", back.policy[0].failures.down_gpu_hours, p->failures.down_gpu_hours);
    diag_fini(&d);
    arena_destroy(a);
    json_doc_fini(&doc);
    simulated_fini(&s);
}

static void giving_up(void **state)
{
    struct simulated s;
    (void)state;
    replay(&s,
           ", 'faults': { 'card_mtbf': '10 s', 'card_repair': '1 s', 'node_mtbf': '0 s',"
           " 'max_restarts': 3 }",
           "'nodes': 1, 'gpus_per_node': 1", NONE, WHOLE, "a,0,9e4,1,\n");
    const struct sim_job *j = sim_job_of(&s, "p", "a");
    assert_string_equal(j->state, "failed");
    assert_contains(j->reason, "max_restarts");
    assert_int_equal((int)j->attempts, 4);
    assert_int_equal(sim_policy(&s, "p")->failures.jobs_struck, 4);
    assert_int_equal(sim_policy(&s, "p")->failures.jobs_given_up, 1);
    simulated_fini(&s);
}

/* ---- what the loader refuses ---- */

/* Racks of two nodes: a and b fall and rise together, c and d too. */
static void racks_fall_with_all_in_them(void **state)
{
    struct simulated s;
    (void)state;
    replay(&s,
           ", 'faults': { 'card_mtbf': '0 s', 'node_mtbf': '0 s', 'rack_mtbf': '20000 s', "
           "'rack_repair': '10 s', 'repair': 'fixed' }",
           "'nodes': 4, 'gpus_per_node': 1, 'nodes_per_rack': 2", NONE ", 'checkpoint': '100 s'",
           WHOLE, "a,0,50000,1,\nb,0,50000,1,\nc,0,50000,1,\nd,0,50000,1,\n");
    const struct sim_job *a = sim_job_of(&s, "p", "a"), *b = sim_job_of(&s, "p", "b"),
                         *c = sim_job_of(&s, "p", "c"), *d = sim_job_of(&s, "p", "d");
    const struct failure_result *f = &sim_policy(&s, "p")->failures;
    near("b ends with a", b->end_s, a->end_s);
    near("d ends with c", d->end_s, c->end_s);
    assert_true(a->end_s != c->end_s && a->attempts == b->attempts && c->attempts == d->attempts);
    assert_true(a->attempts + c->attempts > 3);
    assert_int_equal(f->jobs_struck, 2 * (unsigned)(a->attempts - 1 + c->attempts - 1));
    assert_true(f->rack_faults >= f->jobs_struck / 2 && f->card_faults + f->node_faults == 0);
    simulated_fini(&s);
}

#define REPAIRED                                                                                   \
    ", 'faults': { 'card_mtbf': '2 d', 'card_repair': '1000 s', 'node_mtbf': '0 s', 'repair': "    \
    "'fixed', 'max_restarts': 0 }"

/* One of two cards fails. h needs both: it gets them when the repair is expected to be over. m
 * is done before, k would not be, so it waits: a scheduler that knows nothing of repairs would
 * start it after m. */
static void reservations_know_when_repairs_end(void **state)
{
    static const char *const backfill[] = { "'backfill': 'easy'", "'backfill': 'conservative'" };
    static const char *const fleet[] = { "'nodes': 1, 'gpus_per_node': 2",
                                         "'nodes': 1, 'gpus_per_node': 2, 'cpu_cores': 8" };
    struct simulated s;
    (void)state;
    replay(&s, REPAIRED, fleet[0], NONE, WHOLE, "a,0,1e6,1,\nb,0,1e6,1,\n");
    const double at = floor(fmin(sim_job_of(&s, "p", "a")->end_s, sim_job_of(&s, "p", "b")->end_s));
    const double back =
        fmin(sim_job_of(&s, "p", "a")->end_s, sim_job_of(&s, "p", "b")->end_s) + 1000;
    assert_true(at > 100 && at < 1e6);
    simulated_fini(&s);
    for (size_t i = 0; i < 4; i++) {
        char rows[300];
        snprintf(rows, sizeof rows, "h,%.0f,50,2,50\nm,%.0f,500,1,500\nk,%.0f,5000,1,5000\n",
                 at + 1, at + 2, at + 2);
        replay(&s, REPAIRED, fleet[i / 2], backfill[i % 2], WHOLE, rows);
        near("m", sim_job_of(&s, "p", "m")->start_s, at + 2);
        near("h", sim_job_of(&s, "p", "h")->start_s, back);
        near("k", sim_job_of(&s, "p", "k")->start_s, back + 50);
        simulated_fini(&s);
    }
}

static void refusals(void **state)
{
    static const struct {
        const char *fleet, *top, *said;
    } cases[] = {
        { TWO "[ {'at': '1 s', 'do': 'drain', 'nodes': '3'} ]", "",
          "node 3 does not exist: the group has 1" },
        { TWO "[ {'at': '1 s', 'do': 'drain', 'cards': '1..2'} ]", "", "card 2 does not exist" },
        { TWO "[ {'at': '1 s', 'do': 'drain', 'nodes': '-1'} ]", "", "expected node numbers" },
        { TWO "[ {'at': '1 s', 'do': 'drain', 'nodes': '1..0'} ]", "", "expected node numbers" },
        { TWO "[ {'at': '1 s', 'do': 'drain', 'nodes': '0..'} ]", "", "expected node numbers" },
        { TWO "[ {'at': '1 s', 'do': 'drained'} ]", "", "drain" },
        { TWO "[ {'do': 'drain'} ]", "", "at" },
        { TWO "{}", "", "a list of changes" },
        { TWO "[ {'at': '1 s', 'do': 'remove'}, {'at': '2 s', 'do': 'remove', 'cards': '1'} ]", "",
          "cannot remove: node 0, card 1 is already removed" },
        { TWO "[ {'at': '1 s', 'do': 'remove'}, {'at': '2 s', 'do': 'drain'} ]", "",
          "already removed" },
        { TWO
          "[ {'at': '1 s', 'do': 'fail'}, {'at': '2 s', 'do': 'add'}, {'at': '3 s', 'do': 'add'} ]",
          "", "already in service" },
        { "'gpus_per_node': 0", "", "the fleet has no cards" },
        { "'nodes': 1, 'faults': { 'card_mtbf': '1 ms' }", "", "at least a second" },
        { "'nodes': 1, 'faults': { 'mtbf': '1 h' }", "", "mtbf" },
        { "'nodes': 1", ", 'faults': { 'repair': 'never' }", "repair" },
        { "'nodes': 1", ", 'faults': { 'max_restarts': -1 }", "max_restarts" },
        { "'nodes': 1", ", 'faults': [ 1 ]", "faults" },
        { "'nodes': -1, 'capacity': [ {'at': '1 s', 'do': 'drain'} ]", "", "nodes" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2000], said[600] = "";
        snprintf(text, sizeof text, frame, cases[i].top, cases[i].fleet, NONE, WHOLE);
        const size_t n = sim_problems(text, HEAD "a,0,1,1,\n", NULL, said, sizeof said);
        if (n == 0 || !strstr(said, cases[i].said))
            fail_msg("%s%s: %zu problems, the first: %s", cases[i].fleet, cases[i].top, n, said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(back_to_the_last_checkpoint),
        cmocka_unit_test(work_on_another_node_is_told_as_recorded),
        cmocka_unit_test(gangs_fall_together),
        cmocka_unit_test(draining_lets_jobs_end),
        cmocka_unit_test(cost_counts_the_cards_that_are_there),
        cmocka_unit_test(nodes_fall_with_all_on_them),
        cmocka_unit_test(nobody_waits_for_ever),
        cmocka_unit_test(backfill_while_cards_are_out),
        cmocka_unit_test(struck_before_the_start),
        cmocka_unit_test(every_policy_meets_the_same_faults),
        cmocka_unit_test(all_jobs_end),
        cmocka_unit_test(a_fault_reaches_as_far_as_the_policy_lets_it),
        cmocka_unit_test(where_the_rates_come_from),
        cmocka_unit_test(giving_up),
        cmocka_unit_test(reservations_know_when_repairs_end),
        cmocka_unit_test(racks_fall_with_all_in_them),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("outages", tests, NULL, NULL);
}
