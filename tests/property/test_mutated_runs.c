/* test_mutated_runs.c - scenarios, and the models, price books and generators they name, with
 * members taken away, doubled, exchanged or set to awkward values: each is refused with a place,
 * or runs to its end with every conservation law kept. Nothing crashes, nothing hangs (the harness
 * has a time limit), and no run ends with status 6.
 *
 * GPUSIM_SOAK=N replays N mutants instead of 400; a mutant has a seed of its own, which is
 * printed when it fails. */
#include "support/mutate.h"
#include "support/simulate.h"

#include "base/mem.h"
#include "base/str.h"

#include <gsl/gsl_errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* The scenario and the files beside it, each of them mutated. */
struct base {
    const char *scenario;
    struct sim_file beside[3]; /* until the first without a name */
};
static const struct base bases[] = {
    { "{'format': 'gpusim-scenario/1', 'name': 'm', 'seed': 3, 'horizon': '300 s', 'warmup': '10 s', 'fleet': ["
    "{'name': 'a', 'gpu': 'a100-sxm4-40gb', 'nodes': 2, 'gpus_per_node': 2, 'cpu_cores': 16, 'host_memory': '64 GiB'},"
    "{'name': 'b', 'gpu': 'a30', 'nodes': 1, 'gpus_per_node': 4, 'nvlink_domain': 2, 'cross_domain_speed': 0.5}],"
    "'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv', 'load': 2}], 'profiles': {'p': {'host': 0.2, "
    "'compute': 0.5, 'memory': 0.3, 'sm_width': 0.7, 'bw_width': 0.5, 'launches_per_s': 2000, 'kernel_us': 30, "
    "'footprint': '4 GiB', 'mem_grow': '5 s', 'precision': 'bf16', 'pcie': '1 GB/s'}}, 'policies': ["
    "{'name': 'whole', 'share': {'kind': 'whole', 'overcommit': 2}},"
    "{'name': 'mig', 'share': {'kind': 'mig', 'layout': 'dynamic', 'repartition': '3 s'}},"
    "{'name': 'slices', 'share': {'kind': 'timeslice', 'slots': 3, 'memory': 'swap', 'switch': '100 us'}},"
    "{'name': 'mps', 'share': {'kind': 'mps', 'slots': 4, 'cap': 0.4}},"
    "{'name': 'quota', 'share': {'kind': 'intercept', 'enforce': 'bucket', 'startup': '1 s'}}],"
    "'schedule': {'order': 'sjf', 'backfill': 'easy', 'place': 'best_fit', 'gang': 'node', 'walltime': 'kill'}, "
    "'output': {'sample': '20 s'}}",
      { { NULL, NULL } } },
    { "{'format': 'gpusim-scenario/1', 'name': 'm', 'horizon': '200 s', 'fleet': [{'name': 'a', 'gpu': 'generic', "
    "'nodes': 3, 'gpus_per_node': 2, 'faults': {'card_mtbf': '100 s', 'card_repair': '20 s'}}], 'work': [{'name': 'w', "
    "'kind': 'jobs', 'trace': 'trace.csv'}], 'profiles': {'p': {'compute': 1}}, 'policies': [{'name': 'las', 'share': {'kind': 'whole'}}, {'name': 'pool', "
    "'share': {'kind': 'remote', 'network': '100 Gbit/s', 'rtt': '10 us'}, 'schedule': {'order': 'fair', 'backfill': "
    "'conservative', 'backfill_depth': 5}}], 'schedule': {'order': 'las', 'backfill': 'greedy', 'place': 'pack', "
    "'checkpoint': '10 s', 'checkpoint_cost': '1 s', 'restart': '2 s'}}",
      { { NULL, NULL } } },
    { "{'format': 'gpusim-scenario/1', 'name': 'm', 'horizon': '100 s', 'fleet': [{'name': 'a', 'gpu': 'a100-sxm4-40gb', "
    "'nodes': 1, 'gpus_per_node': 2}], 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}, {'name': 'api', "
    "'kind': 'service', 'arrivals': {'kind': 'poisson', 'gap': '500 ms'}, 'size': {'kind': 'exponential', 'mean': "
    "'400 ms'}, 'profile': 'p', 'need': {'gpu': 0.25, 'memory': '4 GiB'}, 'replicas': {'min': 1, 'max': 3, "
    "'scale_on': 'utilization', 'target': 0.6}, 'queue': 20, 'timeout': '5 s', 'slo': {'wait_p99': '500 ms'}}], "
    "'profiles': {'p': {'host': 0.4, 'compute': 0.4, 'memory': 0.2, 'sm_width': 0.3}}, 'policies': [{'name': 'slices', 'share': {'kind': 'timeslice', 'slots': 4}}, {'name': 'mig', 'share': {'kind': "
    "'mig', 'layout': 'planned', 'period': '30 s', 'repartition': '2 s', 'mode_change': '1 s'}}]}",
      { { NULL, NULL } } },
    /* a language model beside generated work, bought and rented */
    { "{'format': 'gpusim-scenario/1', 'name': 'm', 'horizon': '100 s', 'fleet': [{'name': 'a', 'gpu': 'a100-sxm4-80gb', "
      "'nodes': 1, 'gpus_per_node': 3}], 'work': [{'name': 'chat', 'kind': 'service', 'model': 'model.json', 'users': 6, "
      "'think': {'kind': 'exponential', 'mean': '2 s'}, 'input_tokens': {'kind': 'lognormal', 'median': 300, 'p90': 900, "
      "'max': 4000}, 'output_tokens': {'kind': 'constant', 'value': 40}, 'serve': {'kind': 'continuous', "
      "'max_seqs': 4, 'max_tokens': 256}, 'need': {'gpu': 0.5, 'memory': '35 GiB'}, 'replicas': {'min': 1, 'max': 2, 'scale_on': "
      "'queue', 'target': 2}, 'start_up': '1 s', 'slo': {'ttft_p99': '1 s', 'tpot_p99': '80 ms'}}, {'name': 'dev', 'kind': "
      "'generate', 'spec': 'work.json', 'load': 1}], 'policies': [{'name': 'whole', 'share': {'kind': 'whole'}}, {'name': "
      "'mps', 'share': {'kind': 'mps', 'slots': 2}}, {'name': 'mig', 'share': {'kind': 'mig', 'repartition': '1 s'}}, "
      "{'name': 'remote', 'share': {'kind': 'remote', 'network': '100 Gbit/s', 'rtt': '10 us'}}], 'prices': "
      "'prices.json', 'output': {'sample': '10 s'}}",
      { { "model.json", "{'format': 'gpusim-llm/1', 'layers': 32, 'hidden': 4096, 'heads': 32, 'kv_heads': 8, "
                        "'head_dim': 128, 'params': 7505000000, 'precision': 'bf16', 'kv_precision': 'fp16', 'context': 8192}" },
        { "work.json", "{'format': 'gpusim-generate/1', 'name': 'w', 'horizon': '100 s', 'classes': [{'name': 'dev', 'class': "
                       "'dev', 'arrivals': {'kind': 'gamma', 'gap': '5 s', 'cv': 2}, 'duration': {'kind': 'quantiles', "
                       "'points': [[0, '1 s'], [0.5, '9 s'], [1, '60 s']]}, 'gpus': "
                       "0.25, 'memory': '6 GiB', 'users': 3, 'zipf': 1}]}" },
        { "prices.json", "{'format': 'gpusim-prices/1', 'pue': 1.4, 'rate': 0.08, 'term': '4 y', 'items': [{'name': 'card', "
                         "'driver': 'card', 'period': 'once', 'amount': {'low': 9000, 'mode': 15000, 'high': 20000}, 'life': "
                         "'4 y', 'retention': 0.7}, {'name': 'power', 'driver': 'kwh', 'amount': '0.12 USD/kWh'}, {'name': "
                         "'lic', 'driver': 'licence', 'share': 'mig', 'amount': '1125 USD/y'}, {'name': 'staff', 'driver': "
                         "'fte', 'per': 34, 'amount': 45000}, {'name': 'care', 'driver': 'capital', 'amount': 0.05}]}" } } },
};
static const char trace[] =
    "job_id,submit_s,duration_s,gpus,gpu_mem_bytes,user,group,class,profile,walltime_s,priority\n"
    "a,0,30,1,,u,g,training,p,40,1\nb,0,0,0.3,9000000000,v,g,dev,,5,\nc,3,50,2,,u,h,hpc,p,,2\n"
    "d,3.5,20,0.5,20000000000,w,,inference,,30,\ne,10,1,4,,u,g,,p,2,-3\nf,20,60,0.125,,v,h,,p,9,\n"
    "g,150,5,0,,w,,,,,\nh,199.999999999,100,3,,u,g,,,100,7\n";

/* Values that a member may be set to: each ends a run soon whatever it is given to. */
static const char *const odd[] = {
    "\"1 us\"",
    "0",
    "-1",
    "1",
    "0.5",
    "64",
    "1.5",
    "1e308",
    "9007199254740993",
    "null",
    "true",
    "false",
    "[]",
    "{}",
    "\"\"",
    "\"0 s\"",
    "\"1 s\"",
    "\"7 s\"",
    "\"99 s\"",
    "\"-3 s\"",
    "\"1 GiB\"",
    "\"900 GiB\"",
    "\"1 B\"",
    "\"mig\"",
    "\"mps\"",
    "\"whole\"",
    "\"timeslice\"",
    "\"remote\"",
    "\"none\"",
    "\"easy\"",
    "\"greedy\"",
    "\"any\"",
    "\"t4\"",
    "\"h100-sxm5-80gb\"",
    "\"generic\"",
    "\"srtf\"",
    "\"drf\"",
    "\"fgd\"",
    "\"first_fit\"",
    "\"hard\"",
    "\"reserve\"",
    "\"static\"",
    "\"always\"",
    "[\"3g.20gb\", \"1g.5gb\"]",
    "[\"p\"]",
    "\"jobs\"",
    "\"p\"",
    "\"\\u2028\"",
};

static json_t *parsed(const char *text)
{
    char *json = xasprintf("%s", text);
    for (char *c = json; *c; c++)
        if (*c == '\'') *c = '"';
    json_t *doc = json_loads(json, 0, NULL);
    assert_non_null(doc);
    free(json);
    return doc;
}

/* A base written down with so many mutations, each in the scenario or in a file beside it; the
 * values of the latter are without the microsecond, at which a generator makes 100 million jobs.
 * Returns the path of the scenario, *text what is in it. */
static const char *write_mutant(const struct base *base, int mutations, uint64_t *seed, char **text)
{
    json_t *doc[4] = { parsed(base->scenario) };
    struct sim_file file[4] = { { NULL, NULL } };
    size_t n = 1, odds = sizeof odd / sizeof *odd;
    for (; n < 4 && base->beside[n - 1].name; n++) doc[n] = parsed(base->beside[n - 1].text);
    for (int i = 0; i < mutations; i++) {
        const size_t k = n == 1 ? 0 : test_random(seed) % (2 * n - 2);
        if (k > 0 && k < n)
            mutate(doc[k], odd + 1, odds - 1, seed);
        else
            mutate(doc[0], odd, odds, seed);
    }
    for (size_t k = 1; k < n; k++)
        file[k - 1] = (struct sim_file){ base->beside[k - 1].name, json_dumps(doc[k], 0) };
    *text = json_dumps(doc[0], JSON_INDENT(1));
    const char *path = sim_write(*text, trace, file);
    for (size_t k = 0; k < n; k++) json_decref(doc[k]);
    for (size_t k = 0; file[k].name; k++) free((void *)(uintptr_t)file[k].text);
    return path;
}

/* A base scenario with so many mutations. True: it ran. */
static bool replay(size_t which, int mutations, uint64_t seed)
{
    const uint64_t name = seed;
    char *text;
    const char *path = write_mutant(&bases[which], mutations, &seed, &text);
    struct runner r = { 0 };
    struct diag d;
    struct err e = { 0 };
    diag_init(&d);
    int rc = runner_load(&r, path, NULL, 0, NULL, 0, &d, &e);
    const bool runs = rc == 0 && d.count == 0;
    if (rc == 0 && d.count > 0 && !*d.problem[0].msg)
        fail_msg("seed %llu: a problem without words", (unsigned long long)name);
    if (runs) rc = runner_run(&r, NULL, 1, &e);
    if (rc < 0 && (e.code == ERR_CHECK || e.code == ERR_OK || !*e.msg)) {
        fprintf(stderr, "%s\n", text);
        fail_msg("seed %llu: status %d: %s", (unsigned long long)name, -rc, e.msg);
    }
    runner_fini(&r);
    diag_fini(&d);
    free(text);
    return runs;
}

static void mutants(void **state)
{
    const char *soak = getenv("GPUSIM_SOAK");
    const int most = soak ? atoi(soak) : 400;
    const uint64_t seed = test_seed();
    int ran = 0;
    (void)state;
    for (size_t k = 0; k < sizeof bases / sizeof *bases; k++)
        if (!replay(k, 0, seed)) fail_msg("base %zu is not good as it stands", k);
    for (int i = 0; i < most; i++) {
        uint64_t draw = seed + (uint64_t)i;
        const uint64_t x = test_random(&draw);
        ran += replay(x % (sizeof bases / sizeof *bases), 1 + (int)((x >> 32) % 3),
                      seed + (uint64_t)i);
    }
    print_message("%d of %d mutated scenarios ran, the others were refused\n", ran, most);
    if (most >= 100) assert_true(ran > most / 20 && ran < most);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(mutants) };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
