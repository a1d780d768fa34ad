/* Who starts when, by hand: strict order, EASY reservations, limits, instances, and no
 * starvation. */
#include "tests/support/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char frame[] =
    "{ 'format': 'gpusim-scenario/1', 'name': 's', %s"
    "  'fleet': [ { 'name': 'a', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 4 } ],"
    "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
    "  'schedule': { %s }, 'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }";

#define HEAD "job_id,submit_s,duration_s,gpus,walltime_s,priority,deadline_s\n"

static void starts(const char *schedule, const char *rows, const char *const *id,
                   const double *start_s, size_t n)
{
    char text[1500];
    char *trace = malloc(strlen(rows) + sizeof HEAD);
    struct simulated s;
    snprintf(text, sizeof text, frame, "", schedule);
    sprintf(trace, "%s%s", HEAD, rows);
    simulate(&s, text, trace);
    for (size_t i = 0; i < n; i++) {
        const double got = sim_job_of(&s, "p", id[i])->start_s;
        if (!(fabs(got - start_s[i]) < 1e-9))
            fail_msg("{%s}: %s started at %g s, not %g s", schedule, id[i], got, start_s[i]);
    }
    simulated_fini(&s);
    free(trace);
}

#define STARTS(schedule, rows, ...)                                                                \
    do {                                                                                           \
        static const struct {                                                                      \
            const char *id;                                                                        \
            double s;                                                                              \
        } want_[] = { __VA_ARGS__ };                                                               \
        const char *id_[16];                                                                       \
        double s_[16];                                                                             \
        const size_t n_ = sizeof want_ / sizeof *want_;                                            \
        for (size_t i_ = 0; i_ < n_; i_++) id_[i_] = want_[i_].id, s_[i_] = want_[i_].s;           \
        starts((schedule), (rows), id_, s_, n_);                                                   \
    } while (0)

/* b needs all four cards and waits for a; c would fit beside a. */
static const char blocked[] = "a,0,10,2,12,,\nb,1,10,4,12,,\nc,2,5,1,9,,\nd,3,5,1,20,,\n";

static void strict_order(void **state)
{
    (void)state;
    STARTS("'backfill': 'none'", blocked, { "a", 0 }, { "b", 10 }, { "c", 20 }, { "d", 20 });
}

/* The reservation is at 12 s, a's limit. c ends by 2 + 9 = 11 s and goes; d could last until 23
 * s. */
static void easy_backfills_by_limits(void **state)
{
    (void)state;
    STARTS("'backfill': 'easy'", blocked, { "a", 0 }, { "b", 10 }, { "c", 2 }, { "d", 20 });
}

/* The head takes three cards at 12 s; the fourth is free for whoever lasts longer - one of them. */
static void easy_beside_the_head(void **state)
{
    (void)state;
    STARTS("'backfill': 'easy'", "a,0,10,3,12,,\nb,1,10,3,12,,\nc,2,50,1,60,,\nd,3,50,1,60,,\n",
           { "a", 0 }, { "b", 10 }, { "c", 2 }, { "d", 20 });
}

static void without_a_limit_nobody_backfills(void **state)
{
    (void)state;
    STARTS("'backfill': 'easy'", "a,0,10,2,12,,\nb,1,10,4,12,,\nc,2,5,1,,,\n", { "b", 10 },
           { "c", 20 });
    STARTS("'backfill': 'easy'", "a,0,10,2,,,\nb,1,10,4,12,,\nc,2,5,1,9,,\n", { "b", 10 },
           { "c", 20 });
}

/* a promised 5 s and runs 10: the head's reservation moves on, nobody jumps over it for ever. */
static void a_job_that_overruns(void **state)
{
    (void)state;
    STARTS("'backfill': 'easy'", "a,0,10,3,5,,\nb,1,10,4,12,,\nc,6,3,1,3,,\n", { "b", 10 },
           { "c", 20 });
}

static void orders(void **state)
{
    /* one card at a time matters: all ask for four */
    static const char rows[] =
        "a,0,10,4,10,0,\nb,1,10,4,40,5,99\nc,2,10,4,20,9,50\nd,3,10,4,,1,60\n";
    (void)state;
    STARTS("'backfill': 'none', 'order': 'fifo'", rows, { "b", 10 }, { "c", 20 }, { "d", 30 });
    STARTS("'backfill': 'none', 'order': 'sjf'", rows, { "c", 10 }, { "b", 20 }, { "d", 30 });
    STARTS("'backfill': 'none', 'order': 'priority'", rows, { "c", 10 }, { "b", 20 }, { "d", 30 });
    STARTS("'backfill': 'none', 'order': 'deadline'", rows, { "c", 10 }, { "d", 20 }, { "b", 30 });
}

/* a promised 10 s, is struck after 20 and has none of them left: it waits for three of three cards,
 * until c ends at 100 s, and b behind it. */
static void who_overran_still_needs_room_in_the_plan(void **state)
{
    struct simulated s;
    (void)state;
    simulate(&s,
             "{ 'format': 'gpusim-scenario/1', 'name': 's', 'horizon': '200 s',"
             "  'fleet': [ { 'name': 'a', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 4,"
             "    'capacity': [ { 'at': '20 s', 'do': 'fail', 'cards': '0' } ] } ],"
             "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
             "  'schedule': { 'order': 'deadline', 'backfill': 'none', 'place': 'first_fit' },"
             "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }",
             HEAD "a,0,50,3,10,,40\nc,0,100,1,100,,\nb,30,5,1,5,,60\n");
    assert_string_equal(sim_job_of(&s, "p", "b")->state, "rejected");
    assert_close(sim_job_of(&s, "p", "a")->end_s, 150, 1e-9);
    simulated_fini(&s);
}

/* Ends come before arrivals of the same instant, and equal arrivals start in the order of the
 * file. */
static void equal_times(void **state)
{
    (void)state;
    STARTS("'backfill': 'none'", "a,0,10,4,,,\nb,10,1,4,,,\nc,10,1,4,,,\nd,10,0,4,,,\n",
           { "b", 10 }, { "c", 11 }, { "d", 12 });
}

/* What never fits is rejected at once and does not hold up the queue. */
static void rejected_jobs_block_nobody(void **state)
{
    char text[1500];
    struct simulated s;
    (void)state;
    snprintf(text, sizeof text, frame, "", "'backfill': 'none'");
    simulate(&s, text, HEAD "a,0,10,5,,,\nb,0,10,1,,,\n");
    assert_string_equal(sim_job_of(&s, "p", "a")->state, "rejected");
    assert_contains(sim_job_of(&s, "p", "a")->reason, "more cards");
    assert_close(sim_job_of(&s, "p", "b")->start_s, 0, 0);
    simulated_fini(&s);
}

/* With a horizon the rest is queued or running at the end, and later arrivals do not exist. */
static void the_horizon(void **state)
{
    char text[1500];
    struct simulated s;
    (void)state;
    snprintf(text, sizeof text, frame, "'horizon': '20 s',", "'backfill': 'none'");
    simulate(&s, text, HEAD "a,0,15,4,,,\nb,1,10,4,,,\nc,2,10,4,,,\nd,20,1,1,,,\n");
    const struct policy_result *p = sim_policy(&s, "p");
    assert_int_equal(p->jobs.submitted, 3);
    assert_int_equal(p->jobs.completed, 1);
    assert_int_equal(p->jobs.running, 1);
    assert_int_equal(p->jobs.queued, 1);
    assert_string_equal(sim_job_of(&s, "p", "b")->state, "running");
    assert_string_equal(sim_job_of(&s, "p", "c")->state, "queued");
    assert_close(p->gpu.allocated, 1, 1e-12);
    simulated_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strict_order),
        cmocka_unit_test(easy_backfills_by_limits),
        cmocka_unit_test(easy_beside_the_head),
        cmocka_unit_test(without_a_limit_nobody_backfills),
        cmocka_unit_test(a_job_that_overruns),
        cmocka_unit_test(orders),
        cmocka_unit_test(who_overran_still_needs_room_in_the_plan),
        cmocka_unit_test(equal_times),
        cmocka_unit_test(rejected_jobs_block_nobody),
        cmocka_unit_test(the_horizon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
