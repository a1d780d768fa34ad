/* What formulas say beside simulated services: which one is used, its value for known queues, and
 * when the two are told to part. */
#include "support/simulate.h"

#include "whatif/crosscheck.h"

#include <math.h>
#include <string.h>

struct checked {
    struct runner r;
    const struct crosscheck *list;
    size_t n;
};

static void check(struct checked *c, const char *fleet, const char *share, const char *service,
                  double factor)
{
    char text[1500];
    struct err e = { 0 };
    snprintf(
        text, sizeof text,
        "{ 'format': 'gpusim-scenario/1', 'name': 's', 'seed': 5, 'horizon': '4000 s', 'warmup': '100 s',"
        "  'fleet': [ { 'name': 'a', 'gpu': 'generic', %s } ], 'profiles': { 'all': { 'compute': 1, 'sm_width': 1 } },"
        "  'work': [ { 'name': 'w', 'kind': 'service', 'profile': 'all', %s } ],"
        "  'policies': [ { 'name': 'p', 'share': { %s } } ], 'output': { 'sample': '1 d' } }",
        fleet, service, share);
    memset(c, 0, sizeof *c);
    sim_load(&c->r, sim_write(text, "job_id,submit_s,duration_s,gpus\nj,1,10,1\n", NULL));
    c->r.silent = true;
    if (runner_run(&c->r, NULL, 1, &e) != 0) fail_msg("%s: %s", e.where, e.msg);
    /* As if the simulation were off by a factor. */
    struct service_result *v = (struct service_result *)(uintptr_t)c->r.result.policy[0].service;
    v->wait_ms.mean *= factor;
    v->latency_ms.mean *= factor;
    v->throughput_per_s *= factor;
    c->n = crosscheck_services(&c->r.plan[0], &c->r.result.policy[0], c->r.arena, &c->list);
    assert_int_equal(c->n, 1);
    assert_string_equal(c->list[0].service, "w");
}

#define EIGHT                                                                                      \
    "'arrivals': { 'kind': 'poisson', 'gap': '0.125 s' }, 'size': { 'kind': 'exponential', 'mean': '0.4 s' }"
#define WHOLE "'kind': 'whole'"

static void says(const struct checked *c, const char *formula, double low, double high, bool parts)
{
    const struct crosscheck *x = &c->list[0];
    if (!strstr(x->formula, formula)) fail_msg("expected %s, found %s", formula, x->formula);
    assert_close(x->low, low, 2e-3);
    assert_close(x->high, high, 2e-3);
    if (x->parts != parts)
        fail_msg("%s: simulated %g, formula %g to %g: parts %d", x->formula, x->simulated, x->low,
                 x->high, x->parts);
}

static void formulas(void **state)
{
    struct checked c;
    (void)state;
    check(&c, "'nodes': 5, 'gpus_per_node': 1", WHOLE, EIGHT ", 'replicas': { 'per_card': 1 }", 1);
    says(&c, "Erlang C", 64.12, 64.12, false);
    runner_fini(&c.r);
    check(&c, "'nodes': 5, 'gpus_per_node': 1", WHOLE, EIGHT ", 'replicas': { 'per_card': 1 }",
          0.5);
    says(&c, "Erlang C", 64.12, 64.12, true);
    runner_fini(&c.r);
    check(&c, "'nodes': 5, 'gpus_per_node': 1", WHOLE,
          EIGHT ", 'replicas': { 'per_card': 1 }, 'route': 'random'", 1);
    says(&c, "separate M/G/1", 1e3 * 0.64 / 0.36 * 0.4, 1e3 * 0.64 / 0.36 * 0.4, false);
    runner_fini(&c.r);
    check(&c, "'nodes': 5, 'gpus_per_node': 1", WHOLE,
          EIGHT ", 'replicas': { 'per_card': 1 }, 'route': 'least_outstanding'", 1);
    says(&c, "between", 64.12, 1e3 * 0.64 / 0.36 * 0.4, false);
    runner_fini(&c.r);
    /* equal sizes: half the wait of exponential ones */
    check(&c, "'nodes': 1, 'gpus_per_node': 1", WHOLE,
          "'arrivals': { 'kind': 'poisson', 'gap': '1 s' }, 'size': '0.5 s'", 1);
    says(&c, "Kimura", 250, 250, false);
    runner_fini(&c.r);
    check(
        &c, "'nodes': 1, 'gpus_per_node': 1",
        "'kind': 'timeslice', 'slots': 32, 'memory': 'unchecked'",
        "'arrivals': { 'kind': 'poisson', 'gap': '1 s' }, 'size': '0.5 s', 'need': { 'gpu': 0.03 }, 'replicas': { 'min': 32 }",
        1);
    says(&c, "processor sharing", 1000, 1000, false);
    runner_fini(&c.r);
    check(&c, "'nodes': 1, 'gpus_per_node': 1", WHOLE, "'users': 4, 'think': '3 s', 'size': '1 s'",
          1);
    says(&c, "bounds", 4 / 7.0, 1, false);
    runner_fini(&c.r);
    check(&c, "'nodes': 1, 'gpus_per_node': 1", WHOLE, "'users': 4, 'think': '3 s', 'size': '1 s'",
          1.5);
    says(&c, "bounds", 4 / 7.0, 1, true);
    runner_fini(&c.r);
    /* three cards for 3.2: no steady state, and none simulated */
    check(&c, "'nodes': 3, 'gpus_per_node': 1", WHOLE, EIGHT ", 'replicas': { 'per_card': 1 }", 1);
    assert_true(isinf(c.list[0].low) && isnan(c.list[0].simulated));
    assert_false(c.list[0].parts);
    runner_fini(&c.r);
}

static void without(void **state)
{
    static const struct {
        const char *service, *why;
    } none[] = {
        { "'arrivals': { 'kind': 'gamma', 'gap': '1 s', 'cv': 2 }, 'size': '0.5 s'",
          "not Poisson" },
        { EIGHT ", 'queue': 5", "dropped" },
        { EIGHT ", 'replicas': { 'max': 4 }", "number of replicas changes" },
        { EIGHT ", 'serve': { 'kind': 'dynamic' }", "batches" },
        { EIGHT ", 'replicas': { 'min': 9 }", "found a place" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct checked c;
        check(&c, "'nodes': 4, 'gpus_per_node': 1", WHOLE, none[i].service, 1);
        if (!strstr(c.list[0].formula, none[i].why))
            fail_msg("expected %s, found %s", none[i].why, c.list[0].formula);
        assert_true(isnan(c.list[0].low));
        assert_false(c.list[0].parts);
        runner_fini(&c.r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(formulas), cmocka_unit_test(without) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
