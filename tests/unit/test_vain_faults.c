/* Runs without a horizon end, though faults keep their work from its end: given up are jobs that
 * outlive their cards, gangs whose cards are never all there, services struck before they
 * answer; what comes through, comes through.
 *
 * Nor do they go on where a scaler starts replicas for ever that have no place or die.
 *
 * Mutants: vain-faults-go-uncounted, vain-faults-forget-checkpoints, vain-looks-go-uncounted. */
#include "support/simulate.h"

#include <stdlib.h>
#include <string.h>

static void frame(char *text, size_t size, int cards, const char *faults, const char *work,
                  const char *schedule)
{
    snprintf(
        text, size,
        "{ 'format': 'gpusim-scenario/1', 'name': 's',"
        "  'fleet': [ { 'name': 'a', 'gpu': 'generic', 'gpus_per_node': %d } ], 'work': [ %s ],"
        "  'faults': { %s }, 'schedule': { %s }, 'output': { 'sample': '100000 d' },"
        "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }",
        cards, work, faults, schedule);
}

#define JOBS "{ 'name': 'j', 'kind': 'jobs', 'trace': 'trace.csv' }"
#define HEAD "job_id,submit_s,duration_s,gpus\n"

static void jobs(void **state)
{
    static const struct {
        int cards;
        const char *faults, *schedule, *rows, *state, *reason;
    } c[] = {
        /* 100 times its cards' life, and max_restarts does not end it */
        { 2, "'card_mtbf': '1 h', 'card_repair': '10 min', 'max_restarts': 1000000000", "",
          "a,0,360000,1\nb,5,100,1\n", "failed", "faults undid every attempt" },
        { 1, "'job_mtbf': '1 h', 'max_restarts': 1000000000", "", "a,0,360000,1\nb,5,100,1\n",
          "failed", "faults undid every attempt" },
        /* in service 1 hour of 241 */
        { 8, "'card_mtbf': '1 h', 'card_repair': '10 d'", "", "b,5,100,1\na,3000000,3600,8\n",
          "rejected", "never in service together" },
        /* struck some 100,000 times, and saves what it has done */
        { 1, "'card_mtbf': '1 h', 'card_repair': '1 min', 'max_restarts': 1000000000",
          "'checkpoint': '10 min'", "a,0,360000000,1\nb,5,100,1\n", "completed", "" },
        /* on 400 cards: longer than one lasts by 5 times */
        { 400, "'card_mtbf': '1 h', 'card_repair': '1 h', 'max_restarts': 1000000000", "",
          "a,0,18000,1\nb,5,100,1\n", "completed", "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct simulated s;
        char text[1000], rows[300];
        frame(text, sizeof text, c[i].cards, c[i].faults, JOBS, c[i].schedule);
        snprintf(rows, sizeof rows, HEAD "%s", c[i].rows);
        simulate(&s, text, rows);
        const struct sim_job *a = sim_job_of(&s, "p", "a"), *b = sim_job_of(&s, "p", "b");
        if (strcmp(a->state, c[i].state) != 0 || !strstr(a->reason, c[i].reason))
            fail_msg("case %zu: %s (%s) after %g attempts", i, a->state, a->reason, a->attempts);
        assert_string_equal(b->state, "completed");
        simulated_fini(&s);
    }
}

/* A hundred years with a plan a minute, had each been made: nobody waits, so none is. */
static void planned_layouts(void **state)
{
    struct simulated s;
    (void)state;
    simulate(&s,
             "{ 'format': 'gpusim-scenario/1', 'name': 's', 'work': [ " JOBS " ],"
             "  'fleet': [ { 'name': 'a', 'gpu': 'a100-sxm4-40gb', 'gpus_per_node': 8 } ],"
             "  'faults': { 'card_mtbf': '5 d', 'card_repair': '1 d',"
             "              'max_restarts': 1000000000 },"
             "  'output': { 'sample': '100000 d' },"
             "  'policies': [ { 'name': 'p', 'share': { 'kind': 'mig', 'layout': 'planned',"
             "                  'period': '1 min' } } ] }",
             HEAD "a,0,50000000,0.1\nb,5,100,0.1\n");
    const struct sim_job *a = sim_job_of(&s, "p", "a");
    assert_string_equal(a->reason, "faults undid every attempt, and the run has no horizon");
    assert_true(a->end_s > 100 * 365.25 * 86400);
    assert_string_equal(sim_job_of(&s, "p", "b")->state, "completed");
    simulated_fini(&s);
}

static void services(void **state)
{
    static const struct {
        const char *work;
        unsigned long long requests, completed;
    } c[] = {
        { "'requests': 'requests.csv'", 3, 1 }, /* the second takes 400 s, cards last 10 s */
        { "'requests': 'requests.csv', 'replicas': { 'min': 1, 'max': 2 }", 3, 2 },
        { "'users': 3, 'count': 20, 'think': '10 s', 'size': '400 s'", 3, 0 },
        { "'users': 3, 'count': 20, 'think': '10 s', 'size': '1 s', 'start_up': '1 h'", 3, 0 },
        { "'users': 3, 'count': 20, 'think': '10 s', 'size': '1 s'", 20, 20 },
    };
    const struct sim_file files[] = { { "requests.csv", "arrival_s,size\n0,0.1\n1,400\n2,1\n" },
                                      { NULL, NULL } };
    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct runner r = { 0 };
        struct policy_result p;
        char text[1000], work[400];
        snprintf(work, sizeof work, "{ 'name': 's', 'kind': 'service', %s }, " JOBS, c[i].work);
        frame(text, sizeof text, 2, "'card_mtbf': '10 s', 'card_repair': '1 s'", work, "");
        sim_load(&r, sim_write(text, HEAD "j,3,2,1\n", files));
        sim_policy_run(&r, 0, NULL, &p);
        const struct service_result *v = &p.service[0];
        if (v->requests != c[i].requests || v->completed != c[i].completed ||
            v->stable != (v->requests == v->completed))
            fail_msg("case %zu: %llu of %llu answered, stable: %d", i,
                     (unsigned long long)v->completed, (unsigned long long)v->requests, v->stable);
        assert_int_equal(p.jobs.completed, 1);
        runner_fini(&r);
    }
}

/* A scaler starts one replica after another, and each is gone at once. */
static void scaled(void **state)
{
#define SCALED "'requests': 'requests.csv', 'replicas': { 'min': 1, 'max': 2, 'interval': '1 s' }"
#define FIRST  "{ 'name': 'first', 'kind': 'service', 'requests': 'few.csv', 'need': { "
    static const struct {
        const char *capacity, *share, *schedule, *before, *need;
        unsigned long long completed;
    } c[] = {
        /* no card is left for the second and third */
        { ", 'capacity': [ { 'at': '10 s', 'do': 'fail' } ]", "'whole'", "", "", "'gpu': 1", 1 },
        /* turned away until the first service, which is through, has left */
        { "", "'whole'", "'when_full': 'drop'", FIRST "'gpu': 1 } }, ", "'gpu': 1", 3 },
        /* no memory until then */
        { "", "'timeslice', 'slots': 2", "", FIRST "'gpu': 0.5, 'memory': '60 GiB' } }, ",
          "'gpu': 0.5, 'memory': '60 GiB'", 3 },
    };
    const struct sim_file files[] = { { "requests.csv", "arrival_s,size\n0,0.1\n1,40\n2,1\n" },
                                      { "few.csv", "arrival_s,size\n0,9\n" },
                                      { NULL, NULL } };
    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct runner r = { 0 };
        struct policy_result p;
        char text[1500];
        snprintf(text, sizeof text,
                 "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ { 'name': 'a', 'gpu': "
                 "'a100-sxm4-80gb', 'gpus_per_node': 1%s } ], 'work': [ %s{ 'name': 's', 'kind': "
                 "'service', 'need': { %s }, " SCALED " } ], 'schedule': { %s },"
                 "  'policies': [ { 'name': 'p', 'share': { 'kind': %s } } ] }",
                 c[i].capacity, c[i].before, c[i].need, c[i].schedule, c[i].share);
        sim_load(&r, sim_write(text, HEAD, files));
        sim_policy_run(&r, 0, NULL, &p);
        const struct service_result *v = &p.service[*c[i].before ? 1 : 0];
        if (v->requests != 3 || v->completed != c[i].completed || v->stable != (v->completed == 3))
            fail_msg("case %zu: %llu of %llu answered, stable: %d", i,
                     (unsigned long long)v->completed, (unsigned long long)v->requests, v->stable);
        runner_fini(&r);
    }
}

/* A replica beyond its quota never starts: said before the run, which would wait for it. */
static void beyond_quota(void **state)
{
    char said[1000];
    (void)state;
    assert_int_not_equal(
        sim_problems(
            "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ { 'name': 'a', 'gpu': "
            "'generic' } ], 'work': [ { 'name': 's', 'kind': 'service', 'users': 1, 'count': 1,"
            "  'think': '1 s', 'size': '1 s', 'need': { 'gpu': 2 } } ],"
            "  'schedule': { 'quotas': { '*': { 'gpus': 1 } } },"
            "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }",
            HEAD, NULL, said, sizeof said),
        0);
    assert_non_null(strstr(said, "policy p can never run a replica of service s: it asks for more "
                                 "GPUs than the quota of its group"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs),   cmocka_unit_test(planned_layouts), cmocka_unit_test(services),
        cmocka_unit_test(scaled), cmocka_unit_test(beyond_quota),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
