/* test_queueing.c - the whole engine against queueing theory: reader, scheduler, residents, policy,
 * statistics. (test_mm1_queue.c does the bare event queue.)
 *
 * 24 independent replications of every model, master seed 3, which is the seed of test_mm1_queue.c
 * and was not tried out against others: of the 20 intervals below a true model misses one on
 * average, and a miss here has to be looked at, not reseeded. What did miss with seed 3 is said
 * where it is. Every interval (95 %, Student) must hold the truth and the mean be within 3 % of it.
 *
 * Theory: Gross and Harris, Fundamentals of Queueing Theory, chapters 2 and 3 (Erlang C); processor
 * sharing: Kleinrock, Queueing Systems 2, section 4.4: mean response S / (1 - rho) whatever the
 * distribution of sizes. USERS.md A08 (table) and A09.
 *
 * Mutants: last-come-first-served, percentile-off-by-one, stability-never-doubted,
 * mva-forgets-the-queue. */
#include "support/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPLICATIONS = 24, SEED = 3 };

/* A sanitizer costs tenfold: fewer customers there, and only gross errors are looked for. */
static bool thorough(void)
{
    const char *variant = getenv("GPUSIM_VARIANT");
    return !variant || strcmp(variant, "release") == 0 || strcmp(variant, "clang") == 0;
}

struct model {
    const char *scenario;
    struct sim_arrivals arrivals;
    double warmup_s;
};

struct measured {
    double wait_s[REPLICATIONS], waited[REPLICATIONS], p99_s[REPLICATIONS],
        response_s[REPLICATIONS];
};

struct waiters {
    uint64_t covered, waited;
};

static int on_job(void *self, const struct plan *plan, const struct symtab *names,
                  const struct job *j, struct err *e)
{
    struct waiters *w = self;
    (void)names, (void)e;
    if (j->row.submit < plan->scenario->warmup) return 0;
    w->covered++;
    w->waited += j->start > j->row.submit;
    return 0;
}

struct work {
    struct runner runner[REPLICATIONS];
    struct measured *m;
};

static int replicate(void *ctx, size_t i)
{
    struct work *w = ctx;
    struct policy_result p;
    struct waiters waiters = { 0 };
    const struct sink sink = { .self = &waiters, .job = on_job };
    sim_policy_run(&w->runner[i], 0, &sink, &p);
    w->m->wait_s[i] = p.stats.wait_s.mean;
    w->m->p99_s[i] = p.stats.wait_s.p99;
    w->m->response_s[i] = p.stats.turnaround_s.mean;
    w->m->waited[i] = (double)waiters.waited / (double)waiters.covered;
    return 0;
}

static void measure(const struct model *model, struct measured *m)
{
    struct work *w = calloc(1, sizeof *w);
    struct sim_arrivals a = model->arrivals;
    if (!thorough()) a.n /= 10;
    assert_non_null(w);
    w->m = m;
    for (size_t i = 0; i < REPLICATIONS; i++) {
        char *trace = sim_queue_trace(&a, SEED, i);
        sim_load(&w->runner[i], sim_write(model->scenario, trace, NULL));
        free(trace);
        if (i % 4 != 3) continue;
        /* a few at a time, so that the folder for temporary files stays small */
        for (size_t k = i - 3; k <= i; k++) {
            replicate(w, k);
            unlink(w->runner[k].scenario.work[0].trace);
            runner_fini(&w->runner[k]);
        }
    }
    free(w);
}

static void agrees(const char *what, const double x[REPLICATIONS], double truth)
{
    const struct sim_interval i = sim_interval_95(x, REPLICATIONS);
    if (thorough())
        sim_assert_agrees(what, i, truth, 0.03);
    else if (fabs(i.mean - truth) > 3 * i.half)
        fail_msg("%s: %g +- %g, theory %g", what, i.mean, i.half, truth);
}

/* ---- A08: Poisson 8/s, exponential 0.4 s, c cards ---- */

#define POOL(c)                                                                                    \
    "{'format': 'gpusim-scenario/1', 'name': 'q', 'warmup': '400 s',"                              \
    " 'fleet': [{'name': 'pool', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': " #c "}],"         \
    " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"                              \
    " 'policies': [{'name': 'whole', 'share': {'kind': 'whole'}}],"                                \
    " 'schedule': {'backfill': 'none'}, 'output': {'sample': '1 h'}}"

/* Probability of waiting for offered load a on c servers, by the Erlang B recursion. */
static double erlang_c(double a, int c)
{
    double b = 1;
    for (int k = 1; k <= c; k++) b = a * b / (k + a * b);
    return b / (1 - a / c * (1 - b));
}

static void erlang(const char *scenario, int c, double p_wait, double mean_s, double p99_s)
{
    const struct model model = {
        scenario,
        { .rate = 8,
          .mean_s = 0.4,
          .size = sim_exponential,
          .n = 60000,
          .head = "gpus",
          .tail = "1" },
        400,
    };
    struct measured m;
    const double exact = erlang_c(3.2, c), drain = c / 0.4 - 8;
    assert_close(exact, p_wait, 1e-3); /* the table is rounded */
    assert_close(exact / drain, mean_s, 3e-3);
    assert_close(log(100 * exact) / drain, p99_s, 3e-3);
    measure(&model, &m);
    agrees("P(wait)", m.waited, exact);
    agrees("mean wait [s]", m.wait_s, exact / drain);
    agrees("p99 wait [s]", m.p99_s, log(100 * exact) / drain);
}

static void four_cards(void **state)
{
    (void)state;
    erlang(POOL(4), 4, 0.5964, 0.2982, 2.044);
}

static void five_cards(void **state)
{
    (void)state;
    erlang(POOL(5), 5, 0.2886, 0.0641, 0.747);
}

static void six_cards(void **state)
{
    (void)state;
    erlang(POOL(6), 6, 0.1271, 0.0182, 0.363);
}

static void seven_cards(void **state)
{
    (void)state;
    erlang(POOL(7), 7, 0.0509, 0.00535, 0.171);
}

static void one_card(void **state)
{
    (void)state;
    const struct model model = {
        POOL(1),
        { .rate = 1.1,
          .mean_s = 1 / 1.5,
          .size = sim_exponential,
          .n = 50000,
          .head = "gpus",
          .tail = "1" },
        400,
    };
    struct measured m;
    measure(&model, &m);
    agrees("mean response [s]", m.response_s, 1 / (1.5 - 1.1));
    agrees("P(wait)", m.waited, 1.1 / 1.5);
    agrees("p99 wait [s]", m.p99_s, log(100 * 1.1 / 1.5) / (1.5 - 1.1));
}

/* Pollaczek and Khinchine: M/D/1 waits half as long as M/M/1. */
static void deterministic_service(void **state)
{
    (void)state;
    const struct model model = {
        POOL(1),
        { .rate = 1.1,
          .mean_s = 1 / 1.5,
          .size = sim_deterministic,
          .n = 50000,
          .head = "gpus",
          .tail = "1" },
        400,
    };
    struct measured m;
    measure(&model, &m);
    agrees("mean wait [s]", m.wait_s, 0.5 * (1.1 / 1.5) / (1.5 - 1.1));
}

static void three_cards_are_unstable(void **state)
{
    (void)state;
    static const char scenario[] =
        "{'format': 'gpusim-scenario/1', 'name': 'q', 'warmup': '60 s', 'horizon': '10000 s',"
        " 'fleet': [{'name': 'pool', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 3}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
        " 'policies': [{'name': 'three', 'share': {'kind': 'whole'}},"
        "   {'name': 'four', 'share': {'kind': 'whole'},"
        "    'fleet': [{'name': 'pool', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 4}]}],"
        " 'schedule': {'backfill': 'none'}, 'output': {'sample': '1 h'}}";
    const struct sim_arrivals a = {
        .rate = 8, .mean_s = 0.4, .size = sim_exponential, .n = 85000, .head = "gpus", .tail = "1"
    };
    int four_stable = 0;
    const uint64_t runs = thorough() ? 10 : 2;
    for (uint64_t i = 0; i < runs; i++) {
        struct simulated s;
        char *trace = sim_queue_trace(&a, SEED, i);
        simulate(&s, scenario, trace);
        const struct policy_result *p = sim_policy(&s, "three");
        assert_false(p->stable);
        assert_non_null(p->unstable_reason);
        assert_true(isnan(p->stats.wait_s.p50) && isnan(p->stats.wait_s.p99));
        assert_true(isnan(p->stats.turnaround_s.p95) && isnan(p->stats.slowdown.p90));
        assert_true(p->jobs.queued > 100); /* unfinished work is counted, not dropped */
        assert_true(p->stats.wait_s.censored > 100);
        assert_contains(s.result_json, "\"stable\": false");
        four_stable += sim_policy(&s, "four")->stable;
        simulated_fini(&s);
        free(trace);
    }
    print_message("c = 4 called stable in %d of %d runs\n", four_stable, (int)runs);
    assert_true(four_stable + 1 >= (int)runs);
}

/* ---- processor sharing ---- */

static void sharing(sim_size_fn *size, const char *what, size_t n)
{
    const struct model model = {
        "{'format': 'gpusim-scenario/1', 'name': 'ps', 'warmup': '300 s',"
        " 'fleet': [{'name': 'pool', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 1}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
        " 'policies': [{'name': 'ts', 'share': {'kind': 'timeslice', 'slots': 64}}],"
        " 'schedule': {'backfill': 'none'}, 'output': {'sample': '1 h'}}",
        /* 0.65 of the card; a 65th at the same time has a chance of 1e-12 */
        { .rate = 1.3, .mean_s = 0.5, .size = size, .n = n, .head = "gpus", .tail = "1" },
        300,
    };
    struct measured m;
    measure(&model, &m);
    agrees(what, m.response_s, 0.5 / (1 - 0.65));
}

static void processor_sharing(void **state)
{
    (void)state;
    sharing(sim_exponential, "PS, exponential sizes: response [s]", 25000);
    sharing(sim_deterministic, "PS, equal sizes: response [s]", 25000);
    sharing(sim_hyperexponential, "PS, hyperexponential sizes [s]", 40000);
}

/* ---- A09: seven slices or one card; Poisson 49/s ---- */

/* 14 of the 108 SMs: a job that could fill 0.9074 of the card is seven times slower on 1g, one that
 * fills 14/108 is as fast there as anywhere. */
#define CARD(share, width, ms)                                                                     \
    "{'format': 'gpusim-scenario/1', 'name': 'a09', 'warmup': '40 s',"                             \
    " 'fleet': [{'name': 'a', 'gpu': 'a100-sxm4-40gb', 'nodes': 1, 'gpus_per_node': 1}],"          \
    " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"                              \
    " 'profiles': {'r': {'compute': 1, 'sm_width': " width ", 'footprint': '1 GiB'}},"             \
    " 'policies': [{'name': 'p', 'share': " share "}],"                                            \
    " 'schedule': {'backfill': 'none'}, 'output': {'sample': '1 h'}" ms "}"
#define SLICES "{'kind': 'mig', 'layout': 'static', 'slices': {'1g.5gb': 7}}"

static void slices_or_card(void **state)
{
    (void)state;
    struct measured m;
    struct model model = { CARD("{'kind': 'whole'}", "0.907407407407407", ""),
                           { .rate = 49,
                             .mean_s = 1.0 / 70,
                             .size = sim_exponential,
                             .n = 60000,
                             .head = "gpus,profile",
                             .tail = "0.1,r" },
                           40 };
    const double shared_queue = erlang_c(4.9, 7) / 21 + 0.1;
    assert_close(shared_queue, 0.1143, 1e-3);
    measure(&model, &m);
    agrees("A09 whole card [s]", m.response_s, 1.0 / 21);
    model.scenario = CARD(SLICES, "0.907407407407407", "");
    measure(&model, &m);
    agrees("A09 seven slices, one queue [s]", m.response_s, shared_queue);
    /* Requests that fill one slice at most: the same on slices, far too much for a whole card. */
    model.scenario = CARD(SLICES, "0.12962962962963", "");
    model.arrivals.mean_s = 0.1;
    measure(&model, &m);
    agrees("A09 narrow requests on slices [s]", m.response_s, shared_queue);
    struct simulated s;
    struct sim_arrivals a = model.arrivals;
    a.n = 6000;
    char *trace = sim_queue_trace(&a, SEED, 0);
    simulate(&s, CARD("{'kind': 'whole'}", "0.12962962962963", ", 'horizon': '100 s'"), trace);
    assert_false(sim_policy(&s, "p")->stable);
    simulated_fini(&s);
    free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_card),
        cmocka_unit_test(deterministic_service),
        cmocka_unit_test(four_cards),
        cmocka_unit_test(five_cards),
        cmocka_unit_test(six_cards),
        cmocka_unit_test(seven_cards),
        cmocka_unit_test(three_cards_are_unstable),
        cmocka_unit_test(processor_sharing),
        cmocka_unit_test(slices_or_card),
    };
    return cmocka_run_group_tests_name("queueing theory", tests, NULL, NULL);
}
