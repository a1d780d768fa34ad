/* test_services.c - services against queueing theory, through the whole engine: generated arrivals,
 * routing, replicas as residents of cards, statistics. (test_queueing.c does the same with jobs.)
 *
 * 24 independent replications of every model, master seed 3 as in test_queueing.c, not tried out
 * against others. Every interval (95 %, Student) must hold the truth and the mean be within 3 % of
 * it.
 *
 * Theory: model/queues.h, whose own test has the figures of the textbooks; USERS.md A08, A09, A15.
 *
 * Mutants: service-frees-a-slot-early, service-random-is-one-queue. */
#include "support/simulate.h"

#include "model/queues.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPLICATIONS = 24 };

/* A sanitizer costs tenfold: a tenth of the requests there, and only gross errors are looked
 * for. */
static bool thorough(void)
{
    const char *variant = getenv("GPUSIM_VARIANT");
    return !variant || strcmp(variant, "release") == 0 || strcmp(variant, "clang") == 0;
}

struct measured {
    double wait_ms[REPLICATIONS], p99_ms[REPLICATIONS], latency_ms[REPLICATIONS],
        rate[REPLICATIONS];
    bool stable;
};

struct model {
    double horizon_s;
    const char *fleet, *share, *service;
    const char *signature; /* NULL: all compute */
};

static void measure(const struct model *m, struct measured *out)
{
    char text[1600], horizon[40];
    snprintf(text, sizeof text,
             "{ 'format': 'gpusim-scenario/1', 'name': 's', 'seed': 3, 'warmup': '100 s',"
             "  'fleet': [ { 'name': 'a', %s } ], 'profiles': { 'all': { %s } },"
             "  'work': [ { 'name': 'w', 'kind': 'service', 'profile': 'all', %s } ],"
             "  'policies': [ { 'name': 'p', 'share': { %s } } ], 'output': { 'sample': '1 d' } }",
             m->fleet, m->signature ? m->signature : "'compute': 1, 'sm_width': 1, 'bw_width': 1",
             m->service, m->share);
    snprintf(horizon, sizeof horizon, "horizon=%.0f s",
             thorough() ? m->horizon_s : 100 + m->horizon_s / 10);
    const char *path = sim_write(text, "job_id,submit_s,duration_s,gpus\nj,1,10,1\n", NULL);
    const char *const set[] = { horizon };
    memset(out, 0, sizeof *out);
    out->stable = true;
    for (size_t k = 0; k < REPLICATIONS; k++) {
        struct runner r = { 0 };
        struct diag d;
        struct err e = { 0 };
        const struct runner_options o = {
            .set = set, .n_set = 1, .replication = k, .silent = true
        };
        diag_init(&d);
        if (runner_load_with(&r, path, &o, &d, &e) != 0 || diag_result(&d, &e) != 0 ||
            runner_run(&r, NULL, 1, &e) != 0)
            fail_msg("%s: %s", e.where, e.msg);
        const struct service_result *v = &r.result.policy[0].service[0];
        out->wait_ms[k] = v->wait_ms.mean;
        out->p99_ms[k] = v->wait_ms.p99;
        out->latency_ms[k] = v->latency_ms.mean;
        out->rate[k] = v->throughput_per_s;
        out->stable &= v->stable;
        if (!v->stable)
            assert_true(isnan(v->latency_ms.p99) && isnan(v->wait_ms.p50) &&
                        isnan(v->latency_ms.mean) && isnan(v->wait_ms.mean));
        diag_fini(&d);
        runner_fini(&r);
    }
}

static void agrees(const char *what, const double x[REPLICATIONS], double truth)
{
    const struct sim_interval i = sim_interval_95(x, REPLICATIONS);
    if (thorough())
        sim_assert_agrees(what, i, truth, 0.03);
    else if (fabs(i.mean - truth) > 3 * i.half)
        fail_msg("%s: %g +- %g, theory %g", what, i.mean, i.half, truth);
}

#define POOL(c) "'gpu': 'generic', 'nodes': " #c ", 'gpus_per_node': 1"
#define A08                                                                                        \
    "'arrivals': { 'kind': 'poisson', 'gap': '0.125 s' }, 'size': { 'kind': 'exponential', 'mean': '0.4 s' }"
#define WHOLE "'kind': 'whole'"

/* A08: 8 requests/s of 0.4 s on c cards. All pools meet the same requests, so they miss
 * together: the first 10,000 s of these 24 streams are light by a percent (four runs of a
 * million seconds at 5 cards: 64.0 to 64.2 ms, theory 64.1), hence 24,000 s. */
static void erlang_c(void **state)
{
    static const struct {
        int c;
        const char *fleet;
    } pool[] = { { 4, POOL(4) }, { 5, POOL(5) }, { 6, POOL(6) }, { 7, POOL(7) } };
    (void)state;
    for (size_t i = 0; i < sizeof pool / sizeof *pool; i++) {
        struct measured m;
        char what[80];
        measure(&(struct model){ 24000, pool[i].fleet, WHOLE, A08 ", 'replicas': { 'per_card': 1 }",
                                 NULL },
                &m);
        assert_true(m.stable);
        snprintf(what, sizeof what, "%d cards: mean wait, ms", pool[i].c);
        agrees(what, m.wait_ms, 1e3 * mmc_wait_s(8, 0.4, pool[i].c));
        snprintf(what, sizeof what, "%d cards: p99 wait, ms", pool[i].c);
        agrees(what, m.p99_ms, 1e3 * mmc_wait_quantile_s(8, 0.4, pool[i].c, 0.99));
    }
}

/* Three servers are too few: said so, and no percentile is given. A pool with half the cards of a
 * loaded one is not as good: a public planner that frees a slot after S/n and also has n slots says
 * the same p99 of 24 cards and of 2. */
static void fewer_cards_hurt(void **state)
{
    struct measured m, half;
    (void)state;
    measure(&(struct model){ 3000, POOL(3), WHOLE, A08 ", 'replicas': { 'per_card': 1 }", NULL },
            &m);
    assert_false(m.stable);
    measure(&(struct model){ 3000, POOL(12), WHOLE,
                             A08 ", 'load': 1.5, 'replicas': { 'per_card': 1 }", NULL },
            &m);
    measure(&(struct model){ 12000, POOL(6), WHOLE,
                             A08 ", 'load': 1.5, 'replicas': { 'per_card': 1 }", NULL },
            &half);
    assert_true(m.stable && half.stable);
    agrees("6 cards at 12/s: p99 wait, ms", half.p99_ms,
           1e3 * mmc_wait_quantile_s(12, 0.4, 6, 0.99));
    for (int k = 0; k < REPLICATIONS; k++) assert_true(m.p99_ms[k] < 20 && half.p99_ms[k] > 800);
}

/* A09. 49 requests/s. Requests that fill a card: 70/s on it, 10/s on a seventh of it (clients of
 * MPS capped to a seventh of the SMs each, the flat unit without overhead). */
static void whole_or_sevenths(void **state)
{
    static const char mps[] = "'kind': 'mps', 'slots': 7",
                      one[] = "'gpu': 'generic', 'gpus_per_node': 1";
#define WIDE                                                                                       \
    "'arrivals': { 'kind': 'poisson', 'gap': '20.408163265 ms' },"                                 \
    " 'size': { 'kind': 'exponential', 'mean': '14.2857142857 ms' }"
#define SEVENTH ", 'need': { 'gpu': 0.142 }, 'replicas': { 'per_card': 7 }"
    struct measured m;
    (void)state;
    measure(&(struct model){ 1200, one, WHOLE, WIDE, NULL }, &m);
    agrees("wide on a whole card: mean, ms", m.latency_ms, 1e3 / 21);
    measure(&(struct model){ 1200, one, mps, WIDE SEVENTH ", 'route': 'random'", NULL }, &m);
    agrees("wide on sevenths, split at random: mean, ms", m.latency_ms, 7e3 / 21);
    measure(&(struct model){ 1200, one, mps, WIDE SEVENTH, NULL }, &m);
    agrees("wide on sevenths, one queue: mean, ms", m.latency_ms,
           1e3 * (0.1 + mmc_wait_s(49, 0.1, 7)));
    /* Requests that fill a seventh at most take 100 ms wherever they run: the ranking turns
     * round. */
#define NARROW                                                                                     \
    "'arrivals': { 'kind': 'poisson', 'gap': '20.408163265 ms' },"                                 \
    " 'size': { 'kind': 'exponential', 'mean': '100 ms' }"
    static const char narrow[] = "'compute': 1, 'sm_width': 0.142";
    measure(&(struct model){ 1200, one, WHOLE, NARROW, narrow }, &m);
    assert_false(m.stable);
    measure(&(struct model){ 1200, one, mps, NARROW SEVENTH, narrow }, &m);
    agrees("narrow on sevenths, one queue: mean, ms", m.latency_ms,
           1e3 * (0.1 + mmc_wait_s(49, 0.1, 7)));
}

/* Time slices: up to 40 requests at work on one card, each on a replica of its own, are M/G/1 under
 * processor sharing, whose mean response depends on the mean size alone. */
static void processor_sharing(void **state)
{
    static const char share[] = "'kind': 'timeslice', 'slots': 40, 'memory': 'unchecked'";
#define PS(size)                                                                                   \
    "'arrivals': { 'kind': 'poisson', 'gap': '1 s' }, 'size': " size                               \
    ", 'need': { 'gpu': 0.025 }, 'replicas': { 'min': 40 }"
    struct measured m;
    (void)state;
    measure(&(struct model){ 20000, "'gpu': 'generic', 'gpus_per_node': 1", share, PS("'600 ms'"),
                             NULL },
            &m);
    agrees("equal sizes in turns: mean, ms", m.latency_ms, 1e3 * mg1_ps_response_s(1, 0.6));
    measure(&(struct model){ 40000, "'gpu': 'generic', 'gpus_per_node': 1", share,
                             PS("{ 'kind': 'gamma', 'mean': '600 ms', 'cv': 2 }"), NULL },
            &m);
    agrees("sizes with cv 2 in turns: mean, ms", m.latency_ms, 1e3 * mg1_ps_response_s(1, 0.6));
}

/* A15: four people on a card, each away nine times as long as their requests take alone. Exact mean
 * value analysis of one delay and one processor-sharing station: 1.3576 times as slow as alone. */
static void notebooks(void **state)
{
    struct measured m;
    (void)state;
    measure(
        &(struct model){
            60000, "'gpu': 'generic', 'gpus_per_node': 1", "'kind': 'timeslice', 'slots': 4",
            "'users': 4, 'think': { 'kind': 'exponential', 'mean': '9 s' },"
            " 'size': { 'kind': 'exponential', 'mean': '1 s' }, 'need': { 'gpu': 0.25 },"
            " 'replicas': { 'min': 4 }, 'route': 'affinity'",
            NULL },
        &m);
    double queue = 0, response = 0;
    for (int n = 1; n <= 4; n++) {
        response = 1 + queue;
        queue = n / (9 + response) * response;
    }
    assert_close(response, 1.3576, 1e-4);
    agrees("four notebooks: mean, ms", m.latency_ms, 1e3 * response);
    agrees("four notebooks: requests/s", m.rate, 4 / (9 + response));
    /* One each has a card alone: no slower than alone. */
    measure(
        &(struct model){
            6000, POOL(4), WHOLE,
            "'users': 4, 'think': { 'kind': 'exponential', 'mean': '9 s' }, 'size': '1 s',"
            " 'replicas': { 'per_card': 1 }, 'route': 'affinity'",
            NULL },
        &m);
    for (int k = 0; k < REPLICATIONS; k++) assert_close(m.latency_ms[k], 1000, 1e-12);
    /* One card, one at a time: the machine repairman. */
    measure(&(struct model){ 20000, "'gpu': 'generic', 'gpus_per_node': 1", WHOLE,
                             "'users': 4, 'think': { 'kind': 'exponential', 'mean': '3 s' },"
                             " 'size': { 'kind': 'exponential', 'mean': '1 s' }",
                             NULL },
            &m);
    agrees("repairman: requests/s", m.rate, repairman_rate(4, 3, 1, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(erlang_c),          cmocka_unit_test(fewer_cards_hurt),
        cmocka_unit_test(whole_or_sevenths), cmocka_unit_test(processor_sharing),
        cmocka_unit_test(notebooks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
