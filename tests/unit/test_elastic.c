/* test_elastic.c - jobs that work on fewer or more cards, by hand: sizes, scaling curves, who
 * starts with what, who grows and who makes room; then random work, whose card time must be its
 * work exactly. Mutants: work done is forgotten at a resize, a limit is not stretched, all
 * shrink to the least at once. */
#include "support/simulate.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/elastic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char frame[] = "{ 'format': 'gpusim-scenario/1', 'name': 's',"
                            "  'fleet': [ { 'name': 'a', 'gpu': 'generic', %s } ],"
                            "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
                            "  'schedule': { 'backfill': 'none', %s },"
                            "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }";

#define HEAD "job_id,submit_s,duration_s,gpus,min_gpus,max_gpus,walltime_s,group,cpus\n"
#define FOUR "'nodes': 1, 'gpus_per_node': 4"

struct want {
    const char *id;
    double start_s, end_s;
    int attempts;
};

static void run(const char *fleet, const char *schedule, const char *rows, const struct want *w,
                size_t n)
{
    char text[1500], trace[2000];
    struct simulated s;
    uint64_t resizes = 0;
    snprintf(text, sizeof text, frame, fleet, schedule);
    snprintf(trace, sizeof trace, "%s%s", HEAD, rows);
    simulate(&s, text, trace);
    for (size_t i = 0; i < s.n_jobs; i++) resizes += (uint64_t)s.job[i].attempts - 1;
    assert_int_equal(sim_policy(&s, "p")->jobs.resizes + sim_policy(&s, "p")->jobs.preemptions,
                     resizes);
    for (size_t i = 0; i < n; i++) {
        const struct sim_job *j = sim_job_of(&s, "p", w[i].id);
        if (!(fabs(j->start_s - w[i].start_s) < 1e-6) || !(fabs(j->end_s - w[i].end_s) < 1e-6) ||
            (int)j->attempts != w[i].attempts)
            fail_msg("{%s}: %s (%s) from %.9g to %.9g s in %g attempts, not from %g to %g in %d",
                     schedule, w[i].id, j->state, j->start_s, j->end_s, j->attempts, w[i].start_s,
                     w[i].end_s, w[i].attempts);
    }
    simulated_fini(&s);
}

#define RUN(fleet, schedule, rows, ...)                                                            \
    do {                                                                                           \
        static const struct want want_[] = { __VA_ARGS__ };                                        \
        run((fleet), (schedule), (rows), want_, sizeof want_ / sizeof *want_);                     \
    } while (0)

/* b wants four cards, one is free until a ends: a quarter of the speed for 9 s, and then 7.75 s of
 * 10. */
static const char two[] = "a,0,10,3,,,,,\nb,1,10,4,1,,,,\n";

static void starts_with_fewer(void **state)
{
    (void)state;
    RUN(FOUR, "'elastic': 'none'", two, { "a", 0, 10, 1 }, { "b", 10, 20, 1 });
    RUN(FOUR, "'elastic': 'start'", two, { "a", 0, 10, 1 }, { "b", 1, 41, 1 });
    RUN(FOUR, "'elastic': 'resize'", two, { "a", 0, 10, 1 }, { "b", 1, 17.75, 2 });
    RUN(FOUR, "'elastic': 'start'", "a,0,10,3,,,,,\nb,1,10,4,2,,,,\n", { "b", 10, 20, 1 });
}

/* The restart is paid on the new cards; when what is left takes less than it saves, b stays as it
 * is. */
static void a_resize_costs_a_restart(void **state)
{
    (void)state;
    RUN(FOUR, "'elastic': 'resize', 'restart': '5 s'", two, { "b", 1, 22.75, 2 });
    RUN(FOUR, "'elastic': 'resize', 'restart': '30 s'", two, { "b", 1, 41, 1 });
}

/* Alone with room it begins at its most, twice as fast; x makes room for y, the later of two
 * first. */
static void grows_and_makes_room(void **state)
{
    (void)state;
    RUN(FOUR, "'elastic': 'resize'", "x,0,10,2,1,4,,,\n", { "x", 0, 5, 1 });
    RUN(FOUR, "'elastic': 'start'", "x,0,10,2,1,4,,,\n", { "x", 0, 10, 1 });
    /* 2 s at 4 cards: 4 of 10 s of work; then 2 cards until y ends at 5; 3 s left at 4 cards: 1.5
     * s */
    RUN(FOUR, "'elastic': 'resize'", "x,0,10,2,1,4,,,\ny,2,3,2,,,,,\n", { "x", 0, 6.5, 3 },
        { "y", 2, 5, 1 });
    /* x1 and x2 have two each; y needs one: x2 gives it */
    RUN(FOUR, "'elastic': 'resize'", "x1,0,10,2,1,,,,\nx2,0,10,2,1,,,,\ny,2,20,1,,,,,\n",
        { "x1", 0, 10, 1 }, { "y", 2, 22, 1 });
    /* nobody can be helped: nobody changes */
    RUN(FOUR, "'elastic': 'resize'", "x,0,10,4,2,,,,\ny,2,3,3,,,,,\n", { "x", 0, 10, 1 },
        { "y", 10, 13, 1 });
}

/* x gives y a card at 10 and starts again until 15, so z, who comes in between, waits. When w
 * comes, x can be asked: z stands before w, and starts. */
static void a_newcomer_makes_others_be_asked_again(void **state)
{
    (void)state;
    RUN(FOUR, "'elastic': 'resize', 'restart': '5 s'",
        "x,0,100,4,1,,,,\ny,10,100,1,,,,,\nz,12,100,1,,,,,\nw,16,100,1,,,,,\n", { "y", 10, 110, 1 },
        { "z", 16, 116, 1 });
}

/* f waits for its quota and holds up s, for whom x would give a card that s may not take. */
static void nobody_makes_room_for_who_is_held_up(void **state)
{
    (void)state;
    RUN("'nodes': 1, 'gpus_per_node': 3",
        "'elastic': 'resize', 'order': 'srtf', 'quotas': {'g': {'gpus': 3}, '*': {'gpus': 3}}",
        "x,0,10,2,1,,,g,\nr,0,20,1,,,,h,\nf,1,30,2,,,,g,\ns,1,40,1,,,,g,\n", { "x", 0, 10, 1 },
        { "f", 10, 40, 1 }, { "s", 20, 60, 1 });
}

/* f and e want three cards, of one node of a, which is taken; e can do with four, which no node
 * has: those of b. */
static void more_cards_fit_where_fewer_do_not(void **state)
{
    static const char text[] =
        "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': ["
        "{ 'name': 'a', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 3 },"
        "{ 'name': 'b', 'gpu': 'generic', 'nodes': 2, 'gpus_per_node': 2 } ],"
        "'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
        "'schedule': { 'backfill': 'greedy', 'elastic': 'start' },"
        "'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }";
    struct simulated s;
    (void)state;
    simulate(&s, text, HEAD "a,0,10,3,,,,,\nf,1,10,3,,,,,\ne,2,10,4,3,,,,\n");
    assert_close(sim_job_of(&s, "p", "f")->start_s, 10, 0);
    assert_close(sim_job_of(&s, "p", "e")->start_s, 2, 0);
    simulated_fini(&s);
}

/* Two cards do 1.5 times the work of one, four twice: at one card b needs twice its time. */
static void by_its_curve(void **state)
{
    (void)state;
    RUN(FOUR, "'elastic': 'start', 'scaling': {'1': 1, '2': 1.5, '4': 2}", two, { "b", 1, 21, 1 });
    struct elastic_rules r = { .how = ELASTIC_START };
    assert_close(elastic_rate(&r, 7), 7, 0);
    static const struct scaling_point p[] = { { 2, 3 }, { 4, 5 }, { 8, 5 } };
    r.point = p;
    r.n_points = 3;
    assert_close(elastic_rate(&r, 1), 1.5, 1e-15);
    assert_close(elastic_rate(&r, 3), 4, 1e-15);
    assert_close(elastic_rate(&r, 6), 5, 1e-15);
    assert_close(elastic_rate(&r, 99), 5, 1e-15);
}

/* Limits hold for the cards asked for; cores go with the cards: 16 of 20 for four, 4 for one. */
static void limits_cores_and_quotas(void **state)
{
    (void)state;
    RUN(FOUR, "'elastic': 'start', 'walltime': 'kill'", "a,0,10,3,,,,,\nb,1,10,4,1,,12,,\n",
        { "b", 1, 41, 1 });
    RUN(FOUR, "'elastic': 'start', 'walltime': 'kill'", "a,0,10,3,,,,,\nb,1,10,4,1,,5,,\n",
        { "b", 1, 21, 1 });
    RUN(FOUR ", 'cpu_cores': 20", "'elastic': 'start'", "a,0,10,0,,,,,13\nb,1,12,4,1,,,,16\n",
        { "b", 1, 49, 1 });
    RUN(FOUR, "'elastic': 'resize', 'quotas': {'g': {'gpus': 3}, '*': {'gpus': 4}}",
        "b,0,12,4,1,,,g,\n", { "b", 0, 16, 1 });
    RUN(FOUR, "'elastic': 'resize', 'quotas': {'g': {'gpus': 3}, '*': {'gpus': 4}}",
        "a,0,4,2,,,,h,\nb,0,12,4,1,,,g,\n", { "b", 0, 4 + (48 - 8) / 3.0, 2 });
}

/* EASY: the head's reservation is at 10; e would last until 17 with one card, not beside the
 * head. */
static void easy_knows_the_stretched_limit(void **state)
{
    (void)state;
    RUN(FOUR, "'elastic': 'start'", "a,0,10,3,,,10,,\n", { "a", 0, 10, 1 });
    char text[1500];
    struct simulated s;
    snprintf(text, sizeof text, frame, FOUR, "'elastic': 'start'");
    char *at = strstr(text, "'none'");
    memcpy(at, "'easy'", 6);
    simulate(&s, text, HEAD "a,0,10,3,,,10,,\nb,1,10,4,,,10,,\ne,1,4,4,1,,4,,\nf,1,2,4,1,,2,,\n");
    assert_close(sim_job_of(&s, "p", "b")->start_s, 10, 0);
    assert_close(sim_job_of(&s, "p", "e")->start_s, 20, 0); /* 16 s with one card */
    assert_close(sim_job_of(&s, "p", "f")->start_s, 1, 0);  /* 8 s */
    simulated_fini(&s);
}

/* h has less to do than e and takes its cards at 10 s; e goes on with the two that are left, at
 * half the speed; where it may grow, it does at 20 s. k, who waits behind it, gets one of the
 * two, as from any elastic job. */
static void preempted_and_smaller(void **state)
{
    (void)state;
    RUN(FOUR, "'elastic': 'start', 'order': 'srtf'", "e,0,100,4,1,4,,,\nh,10,10,2,,,,,\n",
        { "e", 0, 190, 2 }, { "h", 10, 20, 1 });
    RUN(FOUR, "'elastic': 'resize', 'order': 'srtf'", "e,0,100,4,1,4,,,\nh,10,10,2,,,,,\n",
        { "e", 0, 105, 3 }, { "h", 10, 20, 1 });
    RUN(FOUR, "'elastic': 'resize', 'order': 'srtf'",
        "e,0,100,4,1,4,,,\nh,10,10,2,,,,,\nk,10,200,1,,,,,\n", { "e", 0, 20 + 87.5 / 0.75, 4 },
        { "h", 10, 20, 1 });
}

/* fgd learns that half of the jobs want two cards of a node, for which y should leave the empty
 * node whole: that x would do with one card is not what it asks for. */
static void fgd_weighs_what_was_asked_for(void **state)
{
    char text[1500];
    struct simulated s;
    (void)state;
    snprintf(text, sizeof text, frame, "'nodes': 2, 'gpus_per_node': 2",
             "'elastic': 'start', 'place': 'fgd'");
    simulate(&s, text, HEAD "x,0,10,2,1,,,,\nlong,5,100,1,,,,,\ny,20,10,1,,,,,\n");
    const char *beside = sim_job_of(&s, "p", "long")->cards, *y = sim_job_of(&s, "p", "y")->cards;
    assert_memory_equal(y, beside, strlen("a.0."));
    simulated_fini(&s);
}

static void mistakes(void **state)
{
    static const struct {
        const char *schedule, *says;
    } bad[] = {
        { "'elastic': 'yes'", "resize" },
        { "'elastic': 'start', 'scaling': {}", "an object" },
        { "'elastic': 'start', 'scaling': {'1.5': 1}", "whole number" },
        { "'elastic': 'start', 'scaling': {'1': 0}", "above 0" },
        { "'elastic': 'start', 'scaling': {'2': 1, '1': 2}", "ascending" },
        { "'elastic': 'start', 'scaling': {'1': 2, '2': 1}", "do not fall" },
        { "'elastic': 'start', 'migrate': 'defrag', 'migrate_pause': '1 s'", "do not combine" },
        { "'elastic': 'start', 'order': 'srtf', 'migrate': 'replace', 'migrate_pause': '1 s'",
          "do not combine" },
        { "'elastic': 'start', 'order': 'deadline'", "do not combine" },
    };
    char text[1500], said[900];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, frame, FOUR, bad[i].schedule);
        if (sim_problems(text, HEAD "a,0,1,1,,,,,\n", NULL, said, sizeof said) == 0)
            fail_msg("{%s} is taken", bad[i].schedule);
        if (!strstr(said, bad[i].says))
            fail_msg("{%s}: no '%s' in '%s'", bad[i].schedule, bad[i].says, said);
    }
}

/* With linear speed and free resizes card time is work, whatever the sizes were; nobody waits for
 * ever. */
static void no_work_is_lost(void **state)
{
    static const char *const rules[] = { "none", "easy", "greedy" };
    static const char *const preempts[] = { "none', 'order': 'srtf", "greedy', 'order': 'srtf",
                                            "greedy', 'order': 'fewest",
                                            "greedy', 'order': 'las', 'threshold': '100 s",
                                            "greedy', 'order': 'priority', 'preempt': 'always" };
    uint64_t seed = test_seed(), resizes = 0, stops = 0;
    (void)state;
    for (int round = 0; round < 54; round++) {
        struct strbuf trace = { 0 };
        struct simulated s;
        double work = 0, at = 0;
        strbuf_addz(&trace, "job_id,submit_s,duration_s,gpus,min_gpus,max_gpus,walltime_s,group\n");
        for (int i = 0; i < 120; i++) {
            const int gpus = 1 + (int)(test_random(&seed) % 8),
                      run = 1 + (int)(test_random(&seed) % 90);
            const int min = 1 + (int)(test_random(&seed) % (uint64_t)gpus);
            const int max = gpus + (int)(test_random(&seed) % 9);
            at += (double)(test_random(&seed) % 40);
            strbuf_addf(&trace, "%d,%g,%d,%d,", i, at, run, gpus);
            if (test_random(&seed) % 3)
                strbuf_addf(&trace, "%d,%d,", min, max);
            else
                strbuf_addz(&trace, ",,");
            strbuf_addf(&trace, "%d,g%d\n", run + 10, (int)(test_random(&seed) % 3));
            work += (double)gpus * run;
        }
        char *scenario = xasprintf(
            "{'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [{'name': 'a', 'gpu': 'generic',"
            " 'nodes': 3, 'gpus_per_node': 8}], 'work': [{'name': 'w', 'kind': 'jobs',"
            " 'trace': 'trace.csv'}], 'schedule': {'elastic': '%s', 'backfill': '%s', 'gang': '%s'%s},"
            " 'policies': [{'name': 'p', 'share': {'kind': 'whole'}}], 'output': {'sample': '1 d'}}",
            round % 4 ? "resize" : "start", round < 24 ? rules[round % 3] : preempts[round % 5],
            round % 5 ? "node" : "any",
            round % 2 == 0 ? ""
            : round < 12   ? ", 'reclaim': 'always', 'quotas': {'g0': {'gpus': 8, 'cohort': 'c'},"
                             " 'g1': {'gpus': 8, 'cohort': 'c'}, 'g2': {'gpus': 8, 'cohort': 'c'}}"
                           : ", 'quotas': {'*': {'gpus': 20}}");
        simulate(&s, scenario, trace.s); /* a breach of conservation fails here */
        const struct policy_result *p = sim_policy(&s, "p");
        assert_int_equal(p->jobs.completed, 120);
        assert_close(p->gpu_hours, work / 3600, 1e-9);
        assert_close(p->useful_gpu_hours, work / 3600, 1e-9);
        resizes += p->jobs.resizes;
        stops += p->jobs.preemptions;
        simulated_fini(&s);
        free(scenario);
        strbuf_fini(&trace);
    }
    assert_true(resizes > 100 && stops > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_with_fewer),
        cmocka_unit_test(a_resize_costs_a_restart),
        cmocka_unit_test(a_newcomer_makes_others_be_asked_again),
        cmocka_unit_test(nobody_makes_room_for_who_is_held_up),
        cmocka_unit_test(more_cards_fit_where_fewer_do_not),
        cmocka_unit_test(grows_and_makes_room),
        cmocka_unit_test(by_its_curve),
        cmocka_unit_test(limits_cores_and_quotas),
        cmocka_unit_test(easy_knows_the_stretched_limit),
        cmocka_unit_test(preempted_and_smaller),
        cmocka_unit_test(fgd_weighs_what_was_asked_for),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(no_work_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
