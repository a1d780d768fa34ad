/* Services in small: requests of a written trace, times worked out by hand.
 *
 * Mutants: service-idle-neighbour-felt, service-timeout-not-kept, service-routes-to-the-fullest,
 * service-start-up-forgotten, service-struck-lose-their-turn. */
#include "support/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

/* One request as it left, in the order of leaving. */
struct seen {
    size_t n;
    struct request_end end[64];
};

static void on_request(void *self, const struct plan *plan, size_t k, const struct request_end *q)
{
    struct seen *s = self;
    (void)plan, (void)k;
    assert_true(s->n < 64);
    s->end[s->n++] = *q;
}

struct tiny {
    struct runner r;
    struct seen seen;
    struct policy_result p;
};

/* `service`: its keys beside name, kind and requests. `share`, `fleet`: sections. */
static void run_on(struct tiny *t, const char *gpu, const char *fleet, const char *share,
                   const char *service, const char *more_work, const char *requests)
{
    char text[2000];
    const struct sim_file files[] = { { "requests.csv", requests }, { NULL, NULL } };
    snprintf(
        text, sizeof text,
        "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ { 'name': 'a', 'gpu': '%s', %s } ],"
        "  'profiles': { 'all': { 'compute': 1, 'sm_width': 1, 'bw_width': 1 } },"
        "  'work': [ { 'name': 'w', 'kind': 'service', 'requests': 'requests.csv', 'profile': 'all', %s } %s ],"
        "  'policies': [ { 'name': 'p', 'share': { %s } } ] }",
        gpu, fleet, service, more_work, share);
    memset(t, 0, sizeof *t);
    sim_load(&t->r,
             sim_write(text, "job_id,submit_s,duration_s,gpus,profile\nj,1,10,0.5,all\n", files));
    const struct sink sink = { .self = &t->seen, .request = on_request };
    sim_policy_run(&t->r, 0, &sink, &t->p);
}

static void run(struct tiny *t, const char *fleet, const char *share, const char *service,
                const char *more_work, const char *requests)
{
    run_on(t, "generic", fleet, share, service, more_work, requests);
}

static void fini(struct tiny *t)
{
    runner_fini(&t->r);
}

static void left(const struct tiny *t, size_t i, double arrival_s, double began_s, double end_s)
{
    const struct request_end *q = &t->seen.end[i];
    assert_true(i < t->seen.n);
    assert_close((double)q->arrival / 1e9, arrival_s, 1e-12);
    const double began = q->began == JOB_NO_TIME ? -1 : (double)q->began / 1e9;
    if (fabs(began - began_s) > 2e-9)
        fail_msg("request %zu began at %.9f, expected %.9f", i, began, began_s);
    if (fabs((double)q->end / 1e9 - end_s) > 2e-9)
        fail_msg("request %zu left at %.9f, expected %.9f", i, (double)q->end / 1e9, end_s);
}

#define ONE   "'nodes': 1, 'gpus_per_node': 1"
#define TWO   "'nodes': 1, 'gpus_per_node': 2"
#define WHOLE "'kind': 'whole'"
#define FOUR  "arrival_s,size\n0,2\n0.5,1\n0.5,3\n4,1\n"

/* One card: 0-2, 2-3, 3-6, 6-7. Two cards: 0-2, 0.5-1.5, 1.5-4.5, 4-5. */
static void first_come(void **state)
{
    struct tiny t;
    (void)state;
    run(&t, ONE, WHOLE, "'replicas': { 'per_card': 1 }", "", FOUR);
    left(&t, 0, 0, 0, 2);
    left(&t, 1, 0.5, 2, 3);
    left(&t, 2, 0.5, 3, 6);
    left(&t, 3, 4, 6, 7);
    const struct service_result *v = &t.p.service[0];
    assert_int_equal(t.p.n_services, 1);
    assert_int_equal(v->requests, 4);
    assert_int_equal(v->completed, 4);
    assert_close(v->wait_ms.mean, (0 + 1500 + 2500 + 2000) / 4.0, 1e-9);
    assert_close(v->latency_ms.max, 5500, 1e-9);
    assert_close(v->replicas_mean, 1, 1e-9);
    assert_close(v->busy, 1, 1e-9);
    assert_close(v->gpu_hours, 7 / 3600.0, 1e-9);
    assert_int_equal(t.p.jobs.submitted, 0); /* replicas are no jobs of anybody */
    fini(&t);
    run(&t, TWO, WHOLE, "'replicas': { 'per_card': 1 }", "", FOUR);
    left(&t, 0, 0.5, 0.5, 1.5);
    left(&t, 1, 0, 0, 2);
    left(&t, 2, 0.5, 1.5, 4.5);
    left(&t, 3, 4, 4, 5);
    assert_close(t.p.service[0].busy, 7.0 / 10, 1e-9);
    fini(&t);
}

/* Routed in turn: 0-2 and 4.. on the first (third request waits there: 2-5), second 0.5-1.5,
 * 4-5. */
static void routes(void **state)
{
    struct tiny t;
    (void)state;
    run(&t, TWO, WHOLE, "'replicas': { 'min': 2 }, 'route': 'round_robin'", "", FOUR);
    left(&t, 0, 0.5, 0.5, 1.5);
    left(&t, 1, 0, 0, 2);
    left(&t, 2, 0.5, 2, 5); /* behind the first, although the second card is free from 1.5 */
    left(&t, 3, 4, 4, 5);
    fini(&t);
    /* The third request meets one on each: it joins the first. By work it would join the second. */
    run(&t, TWO, WHOLE, "'replicas': { 'min': 2 }, 'route': 'least_outstanding'", "", FOUR);
    left(&t, 2, 0.5, 2, 5);
    fini(&t);
    run(&t, TWO, WHOLE, "'replicas': { 'min': 2 }, 'route': 'shortest_queue'", "", FOUR);
    left(&t, 2, 0.5, 2, 5);
    fini(&t);
    run(&t, TWO, WHOLE, "'replicas': { 'min': 2 }, 'route': 'least_work'", "", FOUR);
    left(&t, 2, 0.5, 1.5, 4.5);
    fini(&t);
    /* Sessions x and y belong to different replicas; x stays with its own and waits. */
    run(&t, TWO, WHOLE, "'replicas': { 'min': 2 }, 'route': 'affinity'", "",
        "arrival_s,size,session\n0.1,2,x\n0.5,1,y\n1,1,x\n1.6,1,x\n");
    left(&t, 0, 0.5, 0.5, 1.5);
    left(&t, 2, 1, 2.1, 3.1);
    left(&t, 3, 1.6, 3.1, 4.1);
    fini(&t);
}

static void full_queues(void **state)
{
    struct tiny t;
    (void)state;
    run(&t, ONE, WHOLE, "'queue': 1", "", FOUR);
    assert_int_equal(t.p.service[0].refused, 1);
    assert_int_equal(t.p.service[0].dropped, 1);
    left(&t, 0, 0.5, -1, 0.5); /* the second of 0.5 s */
    left(&t, 1, 0, 0, 2);
    left(&t, 2, 0.5, 2, 3);
    left(&t, 3, 4, 4, 5);
    fini(&t);
    run(&t, ONE, WHOLE, "'queue': 0", "", FOUR);
    assert_int_equal(t.p.service[0].refused, 2);
    fini(&t);
    /* A wait of 1.5 s is allowed for, one of 2.5 s is not. */
    run(&t, ONE, WHOLE, "'timeout': '1.6 s', 'slo': { 'latency_p99': '3 s', 'wait_mean': '1 s' }",
        "", FOUR);
    const struct service_result *v = &t.p.service[0];
    assert_int_equal(v->timed_out, 1);
    left(&t, 1, 0.5, -1, 2.1);
    left(&t, 2, 0.5, 2, 3);
    left(&t, 3, 4, 4, 5);
    /* within 3 s: three of four; within a wait of 1 s: two; both: two */
    assert_string_equal(v->target[0].name, "latency_p99");
    assert_close(v->target[0].attainment, 0.75, 1e-12);
    assert_close(v->target[0].value_ms, 2500, 1e-9);
    assert_true(v->target[0].met);
    assert_close(v->target[1].attainment, 0.5, 1e-12);
    assert_close(v->target[1].value_ms, 500, 1e-9);
    assert_close(v->attainment, 0.5, 1e-12);
    assert_close(v->goodput_per_s, 2 / 5.0, 1e-12);
    assert_close(v->throughput_per_s, 3 / 5.0, 1e-12);
    fini(&t);
}

/* Who waits longer than the timeout goes, not who waits just so long: at its end somebody becomes
 * free, or a batch that was held back begins. A timeout of 0 is for requests that do not wait at
 * all. */
static void no_longer_than_the_timeout(void **state)
{
    struct tiny t;
    (void)state;
    run(&t, ONE, WHOLE, "'timeout': '0 s'", "", "arrival_s,size\n0.25,0.75\n1,1\n1.5,1\n3,2\n");
    left(&t, 0, 0.25, 0.25, 1);
    left(&t, 1, 1.5, -1, 1.5);
    left(&t, 2, 1, 1, 2);
    left(&t, 3, 3, 3, 5);
    fini(&t);
    run(&t, ONE, WHOLE, "'timeout': '1 s', 'route': 'round_robin'", "",
        "arrival_s,size\n0,2\n0.9,1\n1,1\n");
    left(&t, 0, 0.9, -1, 1.9);
    left(&t, 1, 0, 0, 2);
    left(&t, 2, 1, 2, 3);
    fini(&t);
    run(&t, ONE, WHOLE,
        "'timeout': '1 s', 'serve': { 'kind': 'dynamic', 'max': 8, 'delay': '1 s' }", "",
        "arrival_s,size\n0,1\n0.5,1\n9,1\n");
    left(&t, 0, 0, 1, 3);
    left(&t, 1, 0.5, 1, 3);
    left(&t, 2, 9, 9, 10);
    fini(&t);
}

/* The first card fails at 5 s. Whose answer it was working on, and who waited there, wait on by
 * their time of arrival: nobody waits longer than the timeout behind somebody who came later. */
static void struck_time_out(void **state)
{
    static const char *const route[] = { "shared", "round_robin" };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct tiny t;
        char service[200];
        snprintf(service, sizeof service,
                 "'replicas': { 'min': 2 }, 'timeout': '10 s', 'route': '%s'", route[i]);
        run(&t, TWO ", 'capacity': [ { 'at': '5 s', 'do': 'fail', 'cards': '0' } ]", WHOLE, service,
            "", "arrival_s,size\n0,100\n1,100\n2,100\n3,100\n");
        left(&t, 0, 0, -1, 10);
        left(&t, 1, 2, -1, 12);
        left(&t, 2, 3, -1, 13);
        left(&t, 3, 1, 1, 101);
        fini(&t);
    }
}

/* Twice as fast as the sizes say, where that was measured. */
static void measured_speed(void **state)
{
    struct tiny t;
    (void)state;
    run(&t, ONE, WHOLE, "'speed_on': { 'generic': 2, 'l4': 5 }", "", FOUR);
    left(&t, 0, 0, 0, 1);
    left(&t, 2, 0.5, 1.5, 3);
    fini(&t);
}

/* The model is loaded from 0 to 3 s: requests wait for it. */
static void start_up(void **state)
{
    struct tiny t;
    (void)state;
    run(&t, ONE, WHOLE, "'start_up': '3 s'", "", FOUR);
    left(&t, 0, 0, 3, 5);
    left(&t, 3, 4, 9, 10);
    assert_close(t.p.service[0].gpu_hours, 10 / 3600.0, 1e-9);
    assert_close(t.p.service[0].replicas_mean, 0.7, 1e-9);
    fini(&t);
    /* It is loaded from the start, not from the first request on. */
    run(&t, ONE, WHOLE, "'start_up': '3 s'", "", "arrival_s,size\n2,1\n");
    left(&t, 0, 2, 3, 4);
    fini(&t);
    /* Routed ones are handed out when the first replica is there. */
    run(&t, ONE, WHOLE, "'start_up': '3 s', 'route': 'least_outstanding'", "", FOUR);
    left(&t, 0, 0, 3, 5);
    left(&t, 3, 4, 9, 10);
    fini(&t);
}

/* A service and a job take turns on one card: each runs at half speed while both are there, and the
 * job at full speed while the service is idle. The job (10 s from t = 1) meets a request of 2 s at
 * 0 and one of 4 s at 20: 0-1 alone, then 1 s left at half speed: ends at 3; the job did 1 s by
 * then, runs alone to 12 s. */
static void shares_with_a_job(void **state)
{
    struct tiny t;
    (void)state;
    run(&t, ONE, "'kind': 'timeslice', 'slots': 2", "'need': { 'gpu': 0.5 }",
        ", { 'name': 'j', 'kind': 'jobs', 'trace': 'trace.csv' }", "arrival_s,size\n0,2\n20,4\n");
    left(&t, 0, 0, 0, 3);
    left(&t, 1, 20, 20, 24);
    assert_int_equal(t.p.jobs.completed, 1);
    assert_close(t.p.stats.turnaround_s.mean, 11, 1e-9);
    fini(&t);
    /* Bursts at 2 and 6 s of 1 s each: either takes 2 s, and takes 1 s from the job: it ends at
     * 13. */
    run(&t, ONE, "'kind': 'timeslice', 'slots': 2", "'need': { 'gpu': 0.5 }",
        ", { 'name': 'j', 'kind': 'jobs', 'trace': 'trace.csv' }", "arrival_s,size\n2,1\n6,1\n");
    left(&t, 0, 2, 2, 4);
    left(&t, 1, 6, 6, 8);
    assert_close(t.p.stats.turnaround_s.mean, 12, 1e-9);
    fini(&t);
}

/* Two users, no thinking: on one card they alternate. Four requests in all. */
static void closed_loop(void **state)
{
    struct tiny t;
    static const char text[] =
        "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ { 'name': 'a', 'gpu': 'generic', 'gpus_per_node': 1 } ],"
        "  'work': [ { 'name': 'w', 'kind': 'service', 'users': 2, 'think': '1 s', 'size': '2 s', 'count': 4 } ],"
        "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }";
    (void)state;
    memset(&t, 0, sizeof t);
    sim_load(&t.r, sim_write(text, "job_id,submit_s,duration_s,gpus\nj,1,10,1\n", NULL));
    const struct sink sink = { .self = &t.seen, .request = on_request };
    sim_policy_run(&t.r, 0, &sink, &t.p);
    assert_int_equal(t.p.service[0].requests, 4);
    left(&t, 0, 1, 1, 3);
    left(&t, 1, 1, 3, 5);
    left(&t, 2, 4, 5, 7);
    left(&t, 3, 6, 7, 9);
    fini(&t);
}

/* Same files, same bytes: services.csv and result.json at one thread and at two, and the totals in
 * them. */
static void repeats(void **state)
{
    static const char text[] =
        "{ 'format': 'gpusim-scenario/1', 'name': 's', 'horizon': '200 s',"
        "  'fleet': [ { 'name': 'a', 'gpu': 'generic', 'gpus_per_node': 2 } ],"
        "  'work': [ { 'name': 'w', 'kind': 'service', 'arrivals': { 'kind': 'poisson', 'gap': '0.1 s' },"
        "              'size': { 'kind': 'exponential', 'mean': '0.1 s' }, 'replicas': { 'per_card': 1 }, 'route': 'random' } ],"
        "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } }, { 'name': 'q', 'share': { 'kind': 'whole' } } ],"
        "  'output': { 'sample': '50 s' } }";
    struct simulated a, b;
    (void)state;
    simulate_with(&a, text, "job_id,submit_s,duration_s,gpus\nj,1,10,1\n", NULL, 1);
    simulate_with(&b, text, "job_id,submit_s,duration_s,gpus\nj,1,10,1\n", NULL, 2);
    assert_string_equal(a.result_json, b.result_json);
    assert_true(a.run.result.policy[0].service[0].requests > 1500);
    assert_int_equal(a.run.result.policy[0].service[0].requests,
                     a.run.result.policy[1].service[0].requests);
    simulated_fini(&a);
    simulated_fini(&b);
}

/* A batch takes 10 ms and 1 ms for each request. The first three (0, 1, 2 ms) are held until 5 ms
 * and take 13 ms; at 18 ms four of five go at once: to 32; the last has waited its 5 ms long ago:
 * to 43 ms. */
static void batches(void **state)
{
    static const char rows[] =
        "arrival_s,size\n0,0.001\n0.001,0.001\n0.002,0.001\n0.006,0.001\n0.007,0.001\n"
        "0.008,0.001\n0.009,0.001\n0.010,0.001\n";
    struct tiny t;
    (void)state;
    run(&t, ONE, WHOLE,
        "'serve': { 'kind': 'dynamic', 'max': 4, 'delay': '5 ms', 'floor': '10 ms' }", "", rows);
    for (size_t i = 0; i < 3; i++) left(&t, i, 0.001 * (double)i, 0.005, 0.018);
    for (size_t i = 3; i < 7; i++) left(&t, i, 0.003 + 0.001 * (double)i, 0.018, 0.032);
    left(&t, 7, 0.010, 0.032, 0.043);
    fini(&t);
    /* Two are worth beginning at once: at 1 ms, 12 ms long; then 2, 6 .. 8 ms at 13 ms. */
    run(&t, ONE, WHOLE,
        "'serve': { 'kind': 'dynamic', 'max': 4, 'preferred': 2, 'delay': '5 ms', 'floor': '10 ms' }",
        "", rows);
    left(&t, 1, 0.001, 0.001, 0.013);
    left(&t, 2, 0.002, 0.013, 0.027);
    left(&t, 7, 0.010, 0.027, 0.039);
    fini(&t);
    /* Threes: 2 ms, then at 15 ms; the last two go when nobody else will come. bend 2 of 10 ms and
     * 3 ms. */
    run(&t, ONE, WHOLE, "'serve': { 'kind': 'fixed', 'size': 3, 'floor': '10 ms', 'bend': 2 }", "",
        rows);
    const double three = sqrt(0.010 * 0.010 + 0.003 * 0.003),
                 two = sqrt(0.010 * 0.010 + 0.002 * 0.002);
    left(&t, 0, 0, 0.002, 0.002 + three);
    left(&t, 3, 0.006, 0.002 + three, 0.002 + 2 * three);
    left(&t, 7, 0.010, 0.002 + 2 * three, 0.002 + 2 * three + two);
    fini(&t);
    /* What a batch reads whatever its size adds to its requests; on half the bandwidth it takes
     * twice as long. */
    run(&t, ONE, WHOLE,
        "'serve': { 'kind': 'fixed', 'size': 3, 'floor': '10 ms', 'weights': '5 ms' }", "", rows);
    left(&t, 0, 0, 0.002, 0.002 + 0.018);
    fini(&t);
    run(&t, ONE, WHOLE,
        "'gpu_model': 'a100-sxm4-40gb', 'speed_on': { 'generic': 1 }, "
        "'serve': { 'kind': 'fixed', 'size': 3, 'floor': '10 ms', 'weights': '5 ms' }",
        "", rows);
    left(&t, 0, 0, 0.002, 0.002 + 0.013 + 0.005 * 1.555);
    fini(&t);
    /* A slice of 14 of 108 SMs and of an eighth of the bandwidth; it takes 12 s to make. */
    run_on(&t, "a100-sxm4-40gb", ONE, "'kind': 'mig'",
           "'need': { 'gpu': 0.125 }, "
           "'serve': { 'kind': 'fixed', 'size': 3, 'floor': '10 ms', 'weights': '5 ms' }",
           "", rows);
    assert_close((double)t.seen.end[0].end / 1e9, 12 + 0.010 + 0.003 * 108 / 14 + 0.005 * 8, 1e-8);
    fini(&t);
    /* A seventh of the card stretches requests sevenfold, not the floor; padding counts the largest
     * twice. */
    run(&t, ONE, "'kind': 'mps', 'slots': 7",
        "'need': { 'gpu': 0.1 }, 'serve': { 'kind': 'fixed', 'size': 2, 'floor': '10 ms', 'pad': true }",
        "", "arrival_s,size\n0,0.001\n0,0.003\n");
    assert_close((double)t.seen.end[0].end / 1e9, 0.010 + 7 * 0.006, 1e-6);
    fini(&t);
}

/* In turn to two replicas: the first has its two with the third request, 4 s; the second begins
 * then with the one it has, for nobody else will come (it waited for ever). */
static void last_batches(void **state)
{
    struct tiny t;
    (void)state;
    run(&t, TWO, WHOLE,
        "'replicas': { 'per_card': 1 }, 'route': 'round_robin', 'serve': { 'kind': 'fixed', 'size': 2 }",
        "", "arrival_s,size\n0,2\n0.5,1\n4,1\n");
    left(&t, 0, 0.5, 4, 5);
    left(&t, 1, 0, 4, 7);
    left(&t, 2, 4, 4, 7);
    fini(&t);
}

/* One replica from the second hour on. A batch that the one which goes holds back begins then, for
 * nobody else is sent there (it waited for ever, and without a horizon the run did). */
static void last_batch_of_who_goes(void **state)
{
    struct tiny t;
    (void)state;
    run(&t, TWO, WHOLE,
        "'replicas': { 'scale_on': 'schedule', 'interval': '3600 s',"
        " 'hours': [2,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] },"
        " 'route': 'round_robin', 'serve': { 'kind': 'fixed', 'size': 2 }",
        "", "arrival_s,size\n1,1\n2,1\n4000,1\n");
    left(&t, 0, 2, 3600, 3601);
    left(&t, 1, 1, 4000, 4002);
    left(&t, 2, 4000, 4000, 4002);
    fini(&t);
}

/* Requests in the system per replica: 2. Twelve requests of 10 s at 0 are 12 in the system at
 * the first look (4 s): six wanted, five at most, on four cards. They start at 4, load until 6
 * and take one each; the second look (8 s) wants no more. At 20 s two are left ... and one goes
 * after another once too few were wanted for 8 s. */
static void scaling(void **state)
{
    struct tiny t;
    (void)state;
    run(&t, "'nodes': 4, 'gpus_per_node': 1", WHOLE,
        "'start_up': '2 s', 'replicas': { 'min': 1, 'max': 5, 'scale_on': 'queue', 'interval': '4 s', 'down_after': '8 s' }",
        "",
        "arrival_s,size\n0,10\n0,10\n0,10\n0,10\n0,10\n0,10\n0,10\n0,10\n0,10\n0,10\n0,10\n0,10\n60,1\n");
    const struct service_result *v = &t.p.service[0];
    /* the first at 2, the others at 6; 12, 16; 22, 26; and 60 on the one that stayed */
    left(&t, 0, 0, 2, 12);
    left(&t, 1, 0, 6, 16);
    left(&t, 2, 0, 6, 16);
    left(&t, 3, 0, 6, 16);
    left(&t, 4, 0, 12, 22);
    left(&t, 11, 0, 26, 36);
    left(&t, 12, 60, 60, 61);
    assert_int_equal(v->replicas_max, 4);
    assert_int_equal(v->replicas_started, 4);
    assert_true(v->replicas_mean < 3.2 && v->replicas_mean > 2.2);
    fini(&t);
    /* Busy shares: 100 % of one replica at a target of 0.5 wants two; then nothing, one again. The
     * second is loaded from 4 to 6 s and goes when it is through with its request. */
    run(&t, "'nodes': 4, 'gpus_per_node': 1", WHOLE,
        "'start_up': '2 s', 'replicas': { 'min': 1, 'max': 2, 'target': 0.5, 'interval': '4 s', 'down_after': '0 s' }",
        "", "arrival_s,size\n0,10\n0,10\n30,1\n");
    left(&t, 0, 0, 2, 12);
    left(&t, 1, 0, 6, 16);
    left(&t, 2, 30, 30, 31);
    assert_int_equal(t.p.service[0].replicas_max, 2);
    fini(&t);
    /* Two in the first hour, one afterwards. */
    run(&t, TWO, WHOLE,
        "'replicas': { 'scale_on': 'schedule', 'interval': '1 h', 'hours': [2,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] }",
        "", "arrival_s,size\n0,1\n0,1\n4000,1\n4000,1\n");
    left(&t, 1, 0, 0, 1);
    left(&t, 2, 4000, 4000, 4001);
    left(&t, 3, 4000, 4001, 4002);
    assert_close(t.p.service[0].gpu_hours, (3600 + 4002) / 3600.0, 1e-9);
    fini(&t);
}

/* A language model on a made-up card: one layer of 1 x 1, a step of 10 ms of host time and
 * nothing else to speak of. Two sequences at a time, 8 tokens a step, 4 blocks of 4 tokens.
 *
 * a (0 ms, 6 in, 3 out) is filled in from 0 to 10 and gives tokens at 10, 20, 30. b (1 ms, 4 in,
 * 2 out) is admitted at 10: tokens at 20 and 30. c (2 ms, 5 in, 1 out) waits for a place: 30 to
 * 40. d is too long: 13 + 4 tokens in 16. e (45 ms, 12 in): 8 tokens in the first step, 4 in the
 * second: its first token at 65. */
static void language_model(void **state)
{
    static const char model
        [] = "{'format': 'gpusim-llm/1', 'layers': 1, 'hidden': 1, 'heads': 1, 'kv_heads': 1,"
             " 'head_dim': 1, 'params': 1000, 'context': 1000}",
   rows[] =
        "arrival_s,input_tokens,output_tokens\n0,6,3\n0.001,4,2\n0.002,5,1\n0.003,13,4\n0.045,12,1\n";
    char *json = strdup(model);
    for (char *c = json; *c; c++)
        if (*c == '\'') *c = '"';
    const struct sim_file files[] = { { "requests.csv", rows },
                                      { "model.json", json },
                                      { NULL, NULL } };
    struct tiny t = { 0 };
    (void)state;
    sim_load(
        &t.r,
        sim_write(
            "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ { 'name': 'a', 'gpu': 'generic', 'gpus_per_node': 1 } ],"
            "  'work': [ { 'name': 'w', 'kind': 'service', 'requests': 'requests.csv', 'model': 'model.json',"
            "    'slo': { 'ttft_p99': '35 ms', 'tpot_mean': '10.1 ms' },"
            "    'serve': { 'kind': 'continuous', 'host': '10 ms', 'max_seqs': 2, 'max_tokens': 8, 'block': 4, 'kv_blocks': 4 } } ],"
            "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }",
            "job_id,submit_s,duration_s,gpus\nj,1,10,1\n", files));
    const struct sink sink = { .self = &t.seen, .request = on_request };
    sim_policy_run(&t.r, 0, &sink, &t.p);
    static const struct {
        double first_ms, end_ms;
        int64_t out;
    } want[] = { { -1, 3, 4 }, { 10, 30, 3 }, { 20, 30, 2 }, { 40, 40, 1 }, { 65, 65, 1 } };
    assert_int_equal(t.seen.n, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct request_end *q = &t.seen.end[i];
        /* 25 us for the layer, 0.1 us a sequence: three parts in a thousand */
        assert_int_equal(q->output_tokens, want[i].out);
        assert_close((double)q->end / 1e6, want[i].end_ms, 0.004);
        if (want[i].first_ms > 0)
            assert_close((double)q->first / 1e6, want[i].first_ms, 0.004);
        else
            assert_int_equal(q->fate, REQUEST_UNSERVABLE);
    }
    const struct service_result *v = &t.p.service[0];
    assert_int_equal(v->unservable, 1);
    assert_int_equal(v->completed, 4);
    assert_int_equal(v->ttft_ms.n, 4);
    assert_int_equal(v->tpot_ms.n, 2);
    assert_close(v->tpot_ms.mean, 10, 0.004);
    assert_close(v->attainment, 3 / 5.0, 1e-9); /* c is late, d never came */
    assert_close(v->tokens_per_s, 7 / 0.0652, 0.01);
    free(json);
    fini(&t);
}

/* The service holds the only card; when its requests are through and there is no horizon, it makes
 * way. It did not: the run ended as a bug, and with a scaler it did not end. */
static void makes_way(void **state)
{
    static const char *const replicas[] = { "'replicas': { 'min': 1 }",
                                            "'replicas': { 'min': 1, 'max': 2 }" };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct tiny t;
        run(&t, ONE, WHOLE, replicas[i],
            ", { 'name': 'jobs', 'kind': 'jobs', 'trace': 'trace.csv' }", FOUR);
        left(&t, 3, 4, 6, 7);
        assert_close(t.p.stats.wait_s.max, 6, 1e-9); /* it came at 1 s */
        assert_int_equal(t.p.jobs.queued, 0);
        assert_close(t.p.service[0].replicas_mean, 7.0 / 17, 1e-9); /* the job ends at 17 s */
        fini(&t);
    }
}

/* It does not wait for jobs that come later. */
static void makes_way_at_once(void **state)
{
    struct tiny t;
    (void)state;
    run(&t, ONE, WHOLE, "'replicas': { 'min': 1 }",
        ", { 'name': 'jobs', 'kind': 'jobs', 'trace': 'trace.csv' },"
        "  { 'name': 'later', 'kind': 'jobs', 'trace': 'trace.csv', 'load': 0.01 }",
        FOUR);
    assert_int_equal(t.p.jobs.completed, 2);
    assert_close(t.p.stats.wait_s.max, 6, 1e-9);
    fini(&t);
}

/* Likewise for another service, whose replica waits with the requests that came: the run ended as a
 * bug. */
static void makes_way_for_another(void **state)
{
    struct tiny t;
    (void)state;
    run(&t, ONE, WHOLE, "'replicas': { 'min': 1 }",
        ", { 'name': 'v', 'kind': 'service', 'requests': 'requests.csv', 'queue': 2 }", FOUR);
    assert_int_equal(t.p.service[0].completed, 4);
    assert_close(t.p.service[0].gpu_hours, 7.0 / 3600, 1e-9);
    assert_int_equal(t.p.service[1].completed, 2);
    assert_int_equal(t.p.service[1].refused, 2);
    fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_come),
        cmocka_unit_test(routes),
        cmocka_unit_test(full_queues),
        cmocka_unit_test(no_longer_than_the_timeout),
        cmocka_unit_test(struck_time_out),
        cmocka_unit_test(measured_speed),
        cmocka_unit_test(start_up),
        cmocka_unit_test(batches),
        cmocka_unit_test(scaling),
        cmocka_unit_test(language_model),
        cmocka_unit_test(shares_with_a_job),
        cmocka_unit_test(closed_loop),
        cmocka_unit_test(repeats),
        cmocka_unit_test(makes_way),
        cmocka_unit_test(makes_way_for_another),
        cmocka_unit_test(makes_way_at_once),
        cmocka_unit_test(last_batches),
        cmocka_unit_test(last_batch_of_who_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
