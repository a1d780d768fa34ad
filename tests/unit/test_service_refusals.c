/* Services that cannot be: in the scenario, in a request trace, and in the run. */
#include "support/simulate.h"

#include <stdlib.h>
#include <string.h>

#define WHOLE "'kind': 'whole'"

/* ---- what is refused ---- */

static void refusals(void **state)
{
#define HEAD                                                                                                  \
    "{ 'format': 'gpusim-scenario/1', 'name': 's', 'horizon': '9 s', 'fleet': [ { 'name': 'a', 'gpu': '%s', " \
    "'gpus_per_node': 1 } ], 'work': [ { 'name': 'w', 'kind': 'service', %s } ],"                             \
    " 'policies': [ { 'name': 'p', 'share': { %s } } ] }"
#define POISSON "'arrivals': { 'kind': 'poisson', 'gap': '1 s' }, 'size': '1 s'"
#define TOKENS                                                                                     \
    "'arrivals': { 'kind': 'poisson', 'gap': '1 s' }, 'input_tokens': 5, 'output_tokens': 5"
#define LLAMA TOKENS ", 'model': 'llama.json', 'serve': { 'kind': 'continuous' }"
    char *model = read_file("scenarios/workloads/llm/llama-3.1-8b.json");
    const struct sim_file files[] = { { "llama.json", model }, { NULL, NULL } };
    static const struct {
        const char *gpu, *service, *share, *expected;
    } bad[] = {
        { "generic", "'load': 1", WHOLE, "found none" },
        { "generic", POISSON ", 'users': 3, 'think': '1 s'", WHOLE, "found several" },
        { "generic", "'users': 3, 'size': '1 s'", WHOLE, "\"think\"" },
        { "generic", "'users': 3, 'think': '1 s'", WHOLE, "\"size\", or" },
        { "generic", POISSON ", 'input_tokens': 3, 'output_tokens': 3", WHOLE, "\"size\", or" },
        { "generic", "'requests': 'x.csv', 'size': '1 s'", WHOLE,
          "does not go with requests from a trace" },
        { "generic", POISSON ", 'only': 'x'", WHOLE, "does not go with" },
        { "generic", POISSON ", 'need': { 'gpu': 1.5 }", WHOLE, "thousandths" },
        { "generic", POISSON ", 'need': { 'gpu': 3 }", WHOLE, "more cards than the fleet has" },
        { "a100-sxm4-80gb", POISSON ", 'need': { 'memory': '90 GiB' }", WHOLE,
          "more memory than the card has (90.00 GiB and 0.40 GiB of context; a100-sxm4-80gb has 78.50 GiB)" },
        { "t4", POISSON ", 'need': { 'gpu': 0.5, 'memory': '15.2 GiB' }",
          "'kind': 'timeslice', 'slots': 2",
          "it needs 15.60 GiB with its context, and t4 has 15.44 GiB" },
        { "generic", POISSON ", 'replicas': { 'min': 2, 'per_card': 1 }", WHOLE,
          "stands instead of" },
        { "generic", POISSON ", 'speed_on': { 'genric': 2 }", WHOLE, "no such card" },
        { "generic", POISSON ", 'speed_on': { 'generic': 0 }", WHOLE, "expected a factor" },
        { "generic", POISSON ", 'replicas': { 'min': 2, 'max': 1 }", WHOLE, "smaller than" },
        { "generic", POISSON ", 'replicas': { 'scale_on': 'schedule' }", WHOLE, "go together" },
        { "generic", POISSON ", 'slo': { 'latency': '1 s' }", WHOLE, "no such target" },
        { "generic", POISSON ", 'slo': { 'latency_p98': '1 s' }", WHOLE, "no such target" },
        { "generic", POISSON ", 'route': 'sharde'", WHOLE, "expected a way of routing" },
        { "generic", POISSON ", 'serve': { 'kind': 'one' }", WHOLE, "expected a way of serving" },
        { "generic", POISSON ", 'serve': { 'kind': 'dynamic', 'max': 2, 'preferred': 3 }", WHOLE,
          "larger than" },
        { "generic", POISSON ", 'profile': 'nobody'", WHOLE, "no such work profile" },
        { "generic", POISSON ", 'need': { 'gpu': 0.25 }", "'kind': 'mps', 'slots': 4",
          "how service w scales" },
        { "a100-sxm4-80gb", POISSON ", 'need': { 'gpu': 0.25 }", "'kind': 'mig'",
          "how service w scales" },
        { "generic", TOKENS ", 'serve': { 'kind': 'continuous' }", WHOLE, "needs a \"model\"" },
        { "generic", POISSON ", 'model': 'm.json'", WHOLE, "serves no language model" },
        { "h100-sxm5-80gb", POISSON ", 'model': 'llama.json', 'serve': { 'kind': 'continuous' }",
          WHOLE, "\"size\" does not go with a language model" },
        { "generic", TOKENS, WHOLE, "\"input_tokens\" go with a language model" },
        { "generic", POISSON ", 'slo': { 'tpot_p99': '1 s' }", WHOLE,
          "only a language model has a tpot" },
        { "generic", POISSON ", 'slo': { 'ttft_mean': '1 s' }", WHOLE,
          "only a language model has a ttft" },
        { "h100-sxm5-80gb", LLAMA ", 'route': 'shared'", WHOLE, "does not go with it" },
        { "h100-sxm5-80gb", LLAMA ", 'profile': 'nobody'", WHOLE, "no such work profile" },
        { "a100-sxm4-80gb", LLAMA ", 'need': { 'gpu': 0.125 }", "'kind': 'mig'",
          "takes 13.98 GiB of weights, and 9" },
        { "a100-sxm4-80gb", LLAMA ", 'need': { 'gpu': 0.125 }", "'kind': 'mig'", "on 1g.10gb" },
        { "t4", LLAMA, WHOLE, "no published rate in bf16" },
        { "a100-sxm4-80gb", LLAMA ", 'need': { 'gpu': 0.25, 'memory': '30 GiB' }",
          "'kind': 'mps', 'slots': 4",
          "it needs 30.00 GiB, and a tenant of a100-sxm4-80gb may have 19" },
        { "generic", "'arrivals': { 'kind': 'replay', 'trace': 'trace.csv' }, 'size': '1 s'", WHOLE,
          "arrivals that requests can have" },
    };
    char text[1000], said[600];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, HEAD, bad[i].gpu, bad[i].service, bad[i].share);
        if (sim_problems(text, "job_id,submit_s,duration_s,gpus\nj,1,10,1\n", files, said,
                         sizeof said) == 0)
            fail_msg("passed: %s", bad[i].service);
        if (!strstr(said, bad[i].expected))
            fail_msg("%s: no '%s' in: %s", bad[i].service, bad[i].expected, said);
    }
    free(model);
}

static void no_end(void **state)
{
    char text[1000], said[600];
    (void)state;
    snprintf(
        text, sizeof text,
        "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ { 'name': 'a', 'gpu': 'generic' } ],"
        "  'work': [ { 'name': 'w', 'kind': 'service', " POISSON " } ],"
        "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }");
    assert_true(sim_problems(text, "job_id,submit_s,duration_s,gpus\nj,1,10,1\n", NULL, said,
                             sizeof said) > 0);
    assert_non_null(strstr(said, "requests without an end"));
}

/* Users who ask again at once, and whose requests take no time, would hold the clock for ever. */
static void no_time_passes(void **state)
{
    static const char *const work[] = {
        "'users': 3, 'think': '0 s', 'size': '0 s'",
        "'users': 3, 'think': '0 s', 'size': '1 s', 'queue': 0",
        "'users': 3, 'think': '0 s', 'size': '1 s', 'timeout': '0 s'",
    };
    char text[600];
    (void)state;
    for (size_t i = 0; i < sizeof work / sizeof *work; i++) {
        struct runner r = { 0 };
        struct err e = { 0 };
        snprintf(
            text, sizeof text,
            "{ 'format': 'gpusim-scenario/1', 'name': 's', 'horizon': '9 s', 'fleet': [ { 'name': 'a', 'gpu': 'generic' } ],"
            "  'work': [ { 'name': 'w', 'kind': 'service', %s } ],"
            "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }",
            work[i]);
        sim_load(&r, sim_write(text, "job_id,submit_s,duration_s,gpus\nj,1,10,1\n", NULL));
        assert_int_equal(runner_run(&r, NULL, 1, &e), ERR_INPUT);
        if (!strstr(e.msg, "service w: no time passes")) fail_msg("%s", e.msg);
        runner_fini(&r);
    }
}

/* Bad rows come out with their place. */
static void bad_requests(void **state)
{
    static const struct {
        const char *rows, *where, *expected;
    } bad[] = {
        { "arrival_s,size,service\n0,1,api\n1,1,apo\n", "requests.csv",
          "no request of service \"aip\"" },
        { "arrival_s,size\n0,1\nnan,1\n", ":3:1", "arrival_s" },
        { "arrival_s,size\n0,-1\n", ":2:3", "size" },
        { "arrival_s,size\n5,1\n4,1\n", ":3:1", "sorted" },
        { "arrival_s,input_tokens,output_tokens\n0,1,1\n", "requests.csv",
          "expected requests with a size" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct runner r = { 0 };
        struct err e = { 0 };
        const struct sim_file files[] = { { "requests.csv", bad[i].rows }, { NULL, NULL } };
        char text[400];
        snprintf(
            text, sizeof text,
            "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ { 'name': 'a', 'gpu': 'generic' } ],"
            "  'work': [ { 'name': 'w', 'kind': 'service', 'requests': 'requests.csv' %s } ],"
            "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }",
            strstr(bad[i].rows, "apo") ? ", 'only': 'aip'" : "");
        sim_load(&r, sim_write(text, "job_id,submit_s,duration_s,gpus\nj,1,10,1\n", files));
        assert_int_equal(runner_run(&r, NULL, 1, &e), ERR_INPUT);
        if (!strstr(e.where, bad[i].where)) fail_msg("at %s: %s", e.where, e.msg);
        if (!strstr(e.msg, bad[i].expected) && !strstr(e.hint, bad[i].expected))
            fail_msg("%s", e.msg);
        runner_fini(&r);
    }
}

/* ---- fleets of several cards: replicas go where they do not die ---- */

static int on_big(void *self, const struct plan *plan, const struct symtab *names,
                  const struct job *j, simtime now, struct err *e)
{
    (void)names, (void)now, (void)e;
    if (strcmp(plan->group[j->group].spec->name, "big") != 0) ++*(int *)self;
    return 0;
}

static void mixed_fleet(void **state)
{
#define GENERIC                                                                                    \
    "'arrivals': { 'kind': 'poisson', 'gap': '100 ms' }, 'size': '20 ms', 'profile': 'g'"
#define NEEDS ", 'need': { 'gpu': 0.5, 'memory': '35 GiB' }"
    static const struct {
        const char *work, *share;
        unsigned long long started;
    } c[] = {
        { GENERIC NEEDS, "'kind': 'whole', 'overcommit': 2", 2 },
        { GENERIC NEEDS, "'kind': 'timeslice', 'slots': 2", 2 },
        { GENERIC NEEDS, "'kind': 'timeslice', 'slots': 2, 'memory': 'swap'", 2 },
        { GENERIC NEEDS, "'kind': 'timeslice', 'slots': 2, 'vgpu': 'fixed_share'", 2 },
        { GENERIC NEEDS, "'kind': 'mps', 'slots': 2", 2 },
        { GENERIC NEEDS, "'kind': 'mps', 'slots': 2, 'cap': 1", 2 },
        /* 3 big cards of 5 */
        { GENERIC NEEDS ", 'replicas': { 'per_card': 2 }", "'kind': 'mps', 'slots': 2", 6 },
        { LLAMA ", 'need': { 'gpu': 0.5 }", "'kind': 'timeslice', 'slots': 2", 2 },
    };
    char *model = read_file("scenarios/workloads/llm/llama-3.1-8b.json"), text[1200];
    const struct sim_file files[] = { { "llama.json", model }, { NULL, NULL } };
    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct runner r = { 0 };
        struct policy_result p;
        int astray = 0;
        const struct sink sink = { .self = &astray, .stay = on_big };
        snprintf(
            text, sizeof text,
            "{ 'format': 'gpusim-scenario/1', 'name': 's', 'horizon': '60 s', 'fleet': ["
            "  { 'name': 'small', 'gpu': 'l4', 'gpus_per_node': 2 },"
            "  { 'name': 'big', 'gpu': 'a100-sxm4-80gb', 'gpus_per_node': 3 } ],"
            "  'profiles': { 'g': { 'compute': 0.8, 'memory': 0.2, 'sm_width': 0.4, 'bw_width': 0.3 } },"
            "  'work': [ { 'name': 'w', 'kind': 'service', %s%s } ],"
            "  'policies': [ { 'name': 'p', 'share': { %s } } ] }",
            c[i].work, strstr(c[i].work, "replicas") ? "" : ", 'replicas': { 'min': 2 }",
            c[i].share);
        sim_load(&r, sim_write(text, "job_id,submit_s,duration_s,gpus\nj,1,10,1\n", files));
        sim_policy_run(&r, 0, &sink, &p);
        if (astray || p.service[0].replicas_started != c[i].started ||
            p.service[0].replicas_never_up || p.service[0].completed + 5 < p.service[0].requests)
            fail_msg("%s: %d replicas astray, %llu up, %llu never", c[i].share, astray,
                     (unsigned long long)p.service[0].replicas_started,
                     (unsigned long long)p.service[0].replicas_never_up);
        runner_fini(&r);
    }
    free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals),     cmocka_unit_test(mixed_fleet),    cmocka_unit_test(no_end),
        cmocka_unit_test(bad_requests), cmocka_unit_test(no_time_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
