/* test_preempt.c - orders that stop running jobs, what it costs, limits that kill, backfill without
 * and with reservations for all: small queues with starts and ends worked out by hand. Mutants: a
 * preempted job starts again from nothing, the worst-ranked job goes although it is not in the way,
 * the first start is forgotten. */
#include "support/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char frame[] = "{ 'format': 'gpusim-scenario/1', 'name': 's',"
                            "  'fleet': [ { 'name': 'a', 'gpu': 'generic', %s } ],"
                            "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
                            "  'schedule': { 'place': 'first_fit', %s },"
                            "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }";

#define HEAD       "job_id,submit_s,duration_s,gpus,walltime_s,user\n"
#define ONE        "'nodes': 1, 'gpus_per_node': 1"
#define FOUR       "'nodes': 1, 'gpus_per_node': 4"
#define TWO_BY_TWO "'nodes': 2, 'gpus_per_node': 2"

struct want {
    const char *id;
    double start_s, end_s;
    int attempts;
};

static void run(const char *fleet, const char *schedule, const char *rows, const struct want *w,
                size_t n)
{
    char text[1500], trace[1500];
    struct simulated s;
    snprintf(text, sizeof text, frame, fleet, schedule);
    snprintf(trace, sizeof trace, "%s%s", HEAD, rows);
    simulate(&s, text, trace);
    uint64_t stopped = 0;
    for (size_t i = 0; i < s.n_jobs; i++) stopped += (uint64_t)s.job[i].attempts - 1;
    assert_int_equal(sim_policy(&s, "p")->jobs.preemptions, stopped);
    for (size_t i = 0; i < n; i++) {
        const struct sim_job *j = sim_job_of(&s, "p", w[i].id);
        if (!(fabs(j->start_s - w[i].start_s) < 1e-9) || !(fabs(j->end_s - w[i].end_s) < 1e-9) ||
            (int)j->attempts != w[i].attempts)
            fail_msg("{%s}: %s from %.9g to %.9g s in %g attempts, not from %g to %g in %d",
                     schedule, w[i].id, j->start_s, j->end_s, j->attempts, w[i].start_s, w[i].end_s,
                     w[i].attempts);
        if (!(fabs(j->wait_s - (j->start_s - j->submit_s)) < 1e-9))
            fail_msg("%s: a wait of %g s does not end with the first start", w[i].id, j->wait_s);
    }
    simulated_fini(&s);
}

#define RUN(fleet, schedule, rows, ...)                                                            \
    do {                                                                                           \
        static const struct want want_[] = { __VA_ARGS__ };                                        \
        run((fleet), (schedule), (rows), want_, sizeof want_ / sizeof *want_);                     \
    } while (0)

/* b needs all cards and is shorter than what is left of a. */
static const char two[] = "a,0,100,4,,\nb,10,20,4,,\n";

static void the_shorter_goes_first(void **state)
{
    (void)state;
    RUN(FOUR, "'order': 'srtf', 'backfill': 'none'", two, { "a", 0, 120, 2 }, { "b", 10, 30, 1 });
    RUN(FOUR, "'order': 'srtf', 'backfill': 'none', 'preempt': 'never'", two, { "a", 0, 100, 1 },
        { "b", 100, 120, 1 });
    /* 5 s are left of a when b comes: it stays */
    RUN(FOUR, "'order': 'srtf', 'backfill': 'none'", "a,0,15,4,,\nb,10,20,4,,\n", { "a", 0, 15, 1 },
        { "b", 15, 35, 1 });
    /* the same time left: who came first */
    RUN(FOUR, "'order': 'srtf', 'backfill': 'none'", "a,0,30,4,,\nb,10,20,4,,\n", { "a", 0, 30, 1 },
        { "b", 30, 50, 1 });
}

/* a has done 10 s: its last checkpoint is at 7. It holds its cards for 5 s before it works
 * again. */
static void checkpoints_and_restarts_cost(void **state)
{
    (void)state;
    RUN(FOUR, "'order': 'srtf', 'backfill': 'none', 'checkpoint': '7 s'", two, { "a", 0, 123, 2 },
        { "b", 10, 30, 1 });
    RUN(FOUR, "'order': 'srtf', 'backfill': 'none', 'checkpoint': '7 s', 'restart': '5 s'", two,
        { "a", 0, 128, 2 }, { "b", 10, 30, 1 });
    /* c comes while a is starting again: nothing more is lost, the restart is paid again */
    RUN(FOUR, "'order': 'srtf', 'backfill': 'none', 'restart': '5 s'",
        "a,0,100,4,,\nb,10,20,4,,\nc,33,10,4,,\n", { "a", 0, 138, 3 }, { "c", 33, 43, 1 });
}

/* p has most left and one card of the first node, q the other; r has the second node. w needs two
 * cards of one node: r must go, and p need not, although it ranks last. */
static void only_who_is_in_the_way(void **state)
{
    (void)state;
    RUN(TWO_BY_TWO, "'order': 'srtf', 'backfill': 'none'",
        "p,0,500,1,,\nq,0,400,1,,\nr,0,450,2,,\nw,10,20,2,,\n", { "p", 0, 500, 1 },
        { "q", 0, 400, 1 }, { "r", 0, 470, 2 }, { "w", 10, 30, 1 });
    /* s and q rank last, but their cards are on two nodes: two cards, not a place. So r goes as
     * well, and at once takes the place of q, which has more left. */
    RUN(TWO_BY_TWO, "'order': 'srtf', 'backfill': 'none'",
        "p,0,30,1,,\nq,1,500,1,,\nr,2,40,1,,\ns,3,600,1,,\nw,10,25,2,,\n", { "p", 0, 30, 1 },
        { "q", 1, 521, 2 }, { "r", 2, 42, 2 }, { "s", 3, 628, 2 }, { "w", 10, 35, 1 });
}

/* a leaves two cards free; b wants four and is the shortest that waits. */
static void overtaking(void **state)
{
    static const char rows[] = "a,0,10,2,,\nb,1,20,4,,\nc,2,30,2,,\n";
    (void)state;
    RUN(FOUR, "'order': 'srtf', 'backfill': 'none'", rows, { "b", 10, 30, 1 }, { "c", 30, 60, 1 });
    RUN(FOUR, "'order': 'srtf', 'backfill': 'greedy'", rows, { "b", 10, 30, 1 }, { "c", 2, 52, 2 });
}

/* Four cards for 10 s are more service than one for 30. */
static void service(void **state)
{
    static const char rows[] = "a,0,100,4,,\nb,1,10,4,,\nc,1,30,1,,\n";
    (void)state;
    RUN(FOUR, "'order': 'srtf', 'backfill': 'none'", rows, { "b", 1, 11, 1 }, { "c", 11, 41, 1 },
        { "a", 0, 140, 2 });
    RUN(FOUR, "'order': 'srsf', 'backfill': 'none'", rows, { "c", 1, 31, 1 }, { "b", 31, 41, 1 },
        { "a", 0, 140, 2 });
    RUN(FOUR, "'order': 'fewest', 'backfill': 'none'", rows, { "c", 1, 31, 1 }, { "a", 0, 130, 2 },
        { "b", 130, 140, 1 });
}

/* a falls at 20 s. b takes its card at 50 and falls itself at 70: then both are in the second
 * queue, where a started first. */
static void attained_service(void **state)
{
    (void)state;
    RUN(ONE, "'order': 'las', 'backfill': 'none', 'threshold': '20 s'",
        "a,0,100,1,,\nb,50,10,1,,\n", { "a", 0, 110, 2 }, { "b", 50, 60, 1 });
    RUN(ONE, "'order': 'las', 'backfill': 'none', 'threshold': '20 s'",
        "a,0,100,1,,\nb,50,30,1,,\n", { "a", 0, 120, 2 }, { "b", 50, 130, 2 });
    /* the change comes by itself: b waits when a falls */
    RUN(ONE, "'order': 'las', 'backfill': 'none', 'threshold': '20 s'", "a,0,100,1,,\nb,5,10,1,,\n",
        { "a", 0, 110, 2 }, { "b", 20, 30, 1 });
    /* four cards attain it in a quarter of the time */
    RUN(FOUR, "'order': 'las', 'backfill': 'none', 'threshold': '20 s'", "a,0,100,4,,\nb,1,4,1,,\n",
        { "a", 0, 104, 2 }, { "b", 5, 9, 1 });
    RUN(ONE, "'order': 'las', 'backfill': 'none'", "a,0,100,1,,\nb,5,10,1,,\n", { "a", 0, 100, 1 },
        { "b", 100, 110, 1 });
}

/* u has used 10 s when a ends, v nothing: d before b. Then v's use is the fresher. */
static void fair_share(void **state)
{
    static const char rows[] = "a,0,10,1,,u\nb,1,10,1,,u\nc,1,10,1,,u\nd,2,10,1,,v\n";
    (void)state;
    RUN(ONE, "'order': 'fair', 'backfill': 'none', 'recalculate': '0 s', 'half_life': '60 s'", rows,
        { "d", 10, 20, 1 }, { "b", 20, 30, 1 }, { "c", 30, 40, 1 });
    /* nothing is made anew within 5 min: ranks are those at submission */
    RUN(ONE, "'order': 'fair', 'backfill': 'none'", rows, { "d", 10, 20, 1 }, { "b", 20, 30, 1 });
    RUN(ONE, "'order': 'fifo', 'backfill': 'none'", rows, { "b", 10, 20, 1 }, { "d", 30, 40, 1 });
}

static void limits(void **state)
{
    char text[1500];
    struct simulated s;
    (void)state;
    RUN(ONE, "'walltime': 'estimate'", "a,0,10,1,6,\n", { "a", 0, 10, 1 });
    snprintf(text, sizeof text, frame, ONE,
             "'walltime': 'kill', 'order': 'srtf', 'backfill': 'none'");
    /* a has had 10 s when b comes; c ends just in time */
    simulate(&s, text, HEAD "a,0,100,1,50,\nb,10,20,1,,\nc,200,5,1,5,\n");
    assert_string_equal(sim_job_of(&s, "p", "a")->state, "killed");
    assert_contains(sim_job_of(&s, "p", "a")->reason, "limit");
    assert_close(sim_job_of(&s, "p", "a")->end_s, 70, 1e-12);
    assert_string_equal(sim_job_of(&s, "p", "b")->state, "completed");
    assert_string_equal(sim_job_of(&s, "p", "c")->state, "completed");
    assert_int_equal(sim_policy(&s, "p")->jobs.killed, 1);
    simulated_fini(&s);
}

static void greedy(void **state)
{
    static const char rows[] = "a,0,10,2,,\nb,1,10,4,,\nc,2,5,1,,\nd,3,50,1,,\n";
    (void)state;
    RUN(FOUR, "'backfill': 'greedy'", rows, { "a", 0, 10, 1 }, { "b", 53, 63, 1 }, { "c", 2, 7, 1 },
        { "d", 3, 53, 1 });
}

/* b is promised 10 s, c 20 s. EASY lets d run beside b, and c pays for it. */
static void reservations_for_all(void **state)
{
    static const char rows[] = "a,0,10,3,10,\nb,1,10,2,10,\nc,2,5,4,5,\nd,3,30,1,30,\ne,4,6,1,6,\n";
    (void)state;
    RUN(FOUR, "'backfill': 'easy'", rows, { "b", 10, 20, 1 }, { "d", 3, 33, 1 }, { "c", 33, 38, 1 },
        { "e", 10, 16, 1 });
    RUN(FOUR, "'backfill': 'conservative'", rows, { "b", 10, 20, 1 }, { "c", 20, 25, 1 },
        { "d", 25, 55, 1 }, { "e", 4, 10, 1 });
    /* only b and c are looked at; when b runs, c and d; when c runs, d and e */
    RUN(FOUR, "'backfill': 'conservative', 'backfill_depth': 2", rows, { "b", 10, 20, 1 },
        { "c", 20, 25, 1 }, { "d", 25, 55, 1 }, { "e", 25, 31, 1 });
    /* a promised nothing: nobody can be promised anything behind b */
    RUN(FOUR, "'backfill': 'conservative'", "a,0,10,3,,\nb,1,10,2,10,\nc,2,5,1,5,\n",
        { "b", 10, 20, 1 }, { "c", 10, 15, 1 });
    /* a overruns: b is promised the next instant, again and again, and c does not fit before */
    RUN(FOUR, "'backfill': 'conservative'", "a,0,10,3,5,\nb,1,10,4,12,\nc,6,3,1,3,\n",
        { "b", 10, 20, 1 }, { "c", 20, 23, 1 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shorter_goes_first),
        cmocka_unit_test(checkpoints_and_restarts_cost),
        cmocka_unit_test(only_who_is_in_the_way),
        cmocka_unit_test(overtaking),
        cmocka_unit_test(service),
        cmocka_unit_test(attained_service),
        cmocka_unit_test(fair_share),
        cmocka_unit_test(limits),
        cmocka_unit_test(greedy),
        cmocka_unit_test(reservations_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
