/* What neighbours of a language model feel follows its batch (engine/plan.h): the work
 * signatures of its looks, which step has which, and a job beside it in a time slice, which is
 * slowed the more the more users the model serves. How far lengths, which are not followed, are
 * off is bounded here.
 *
 * Mutant: look-of-any-batch. */
#include "engine/plan.h"
#include "support/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *scenario(const char *share, const char *service)
{
    char real[4096], *text;
    assert_non_null(realpath("scenarios/workloads/llm/llama-3.1-8b.json", real));
    assert_true(
        asprintf(
            &text,
            "{ 'format': 'gpusim-scenario/1', 'name': 's', 'horizon': '2000 s',"
            "  'fleet': [ { 'name': 'a', 'gpu': 'h100-sxm5-80gb', 'gpus_per_node': 1 } ],"
            "  'work': [ { 'name': 'w', 'kind': 'service', 'model': '%s', 'need': { 'gpu': 0.5 },"
            "              'serve': { 'kind': 'continuous', 'memory_share': 0.9 }, %s },"
            "            { 'name': 'j', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
            "  'policies': [ { 'name': 'p', 'share': { %s } } ] }",
            real, service, share) > 0);
    return text;
}

#define SLICES "'kind': 'timeslice', 'slots': 2, 'memory': 'unchecked', 'switch': '0 us'"
#define JOB    "job_id,submit_s,duration_s,gpus,gpu_mem_bytes\nj,0,300,0.5,1e9\n"

static double turnaround(const char *share, int users, int output)
{
    char service[300];
    snprintf(
        service, sizeof service,
        "'replicas': { 'min': 1 }, 'users': %d, 'think': '1 ms', 'input_tokens': 64, 'output_tokens': %d",
        users, output);
    struct runner r = { 0 };
    struct policy_result p;
    char *text = scenario(share, service);
    sim_load(&r, sim_write(text, JOB, NULL));
    sim_policy_run(&r, 0, NULL, &p);
    assert_int_equal(p.jobs.completed, 1);
    const double t = p.stats.turnaround_s.mean;
    runner_fini(&r);
    free(text);
    return t;
}

/* Always at work in turns without a cost: beside a neighbour whose host's part is h a job takes
 * 2 - h times as long. Decoding 1, 16, 64 and 256 sequences the host's part is 0.317, 0.292,
 * 0.236 and 0.135 (see below). */
static void more_users_slow_more(void **state)
{
    static const struct {
        int users;
        double host;
    } at[] = { { 1, 0.317 }, { 16, 0.292 }, { 60, 0.236 }, { 200, 0.135 } };
    (void)state;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        const double t = turnaround(SLICES, at[i].users, 400);
        print_message("%d users: a job of 300 s takes %.1f s\n", at[i].users, t);
        assert_close(t, 300 * (2 - at[i].host), 0.005);
    }
}

static void nearest(void **state)
{
    static const struct {
        double tokens, seqs, pairs;
        size_t look;
    } at[] = { { 1, 1, 0, 0 },       { 2, 2, 0, 0 },    { 3, 3, 0, 1 },      { 8, 8, 0, 1 },
               { 9, 9, 0, 2 },       { 32, 32, 0, 2 },  { 33, 33, 0, 3 },    { 129, 129, 0, 4 },
               { 5000, 5000, 0, 4 }, { 20, 19, 1, 5 },  { 164, 100, 9, 5 },  { 165, 100, 9, 6 },
               { 357, 100, 9, 7 },   { 2048, 0, 9, 8 }, { 1125, 100, 9, 8 }, { 1e6, 1, 9, 8 } };
    (void)state;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        const struct llm_step s = { .tokens = at[i].tokens,
                                    .seqs = at[i].seqs,
                                    .pairs = at[i].pairs };
        assert_int_equal(plan_look(&s), at[i].look);
    }
}

/* Decoding: the larger the batch the smaller the host's part. Prompts: the longer the chunk the
 * more it computes. And a context of 256 or 4,096 tokens instead of the 1,024 of a look moves no
 * part by more than 0.2, which is what is not followed. */
static void signatures(void **state)
{
    struct runner r = { 0 };
    char *text = scenario(
        SLICES,
        "'replicas': { 'min': 1 }, 'users': 1, 'think': '1 s', 'input_tokens': 64, 'output_tokens': 9");
    struct plan plan;
    struct diag d;
    (void)state;
    sim_load(&r, sim_write(text, JOB, NULL));
    diag_init(&d);
    plan_build(&plan, &r.world, &r.scenario, 0, &d);
    assert_int_equal(d.count, 0);
    const struct plan_service *x = &plan.service[0];
    const struct llm_cost *c = &x->part[0].cost;
    double worst = 0;
    for (size_t i = 0; i < SERVICE_LOOKS; i++) {
        const struct signature *s = plan_signature(&plan, x->look[i]);
        assert_non_null(s);
        assert_close(s->host + s->compute + s->memory, 1, 1e-12);
        print_message("%-24s host %.3f compute %.3f memory %.3f\n", x->look[i], s->host, s->compute,
                      s->memory);
        const struct signature *before = i ? plan_signature(&plan, x->look[i - 1]) : NULL;
        if (i > 0 && i < SERVICE_DECODES) assert_true(s->host < before->host);
        if (i > SERVICE_DECODES) assert_true(s->compute > before->compute);
        for (double context = 256; i < SERVICE_DECODES && context < 5000; context *= 16) {
            const double n = (double[]){ 1, 4, 16, 64, 256 }[i];
            const struct llm_step step = { .tokens = n, .seqs = n, .kv = context * n };
            const double host = (c->c0 + c->c_b * n) / llm_step_ms(c, &step);
            worst = fmax(worst, fabs(host - s->host));
        }
    }
    print_message("contexts of 256 to 4,096 tokens: the host's part is off by %.3f at most\n",
                  worst);
    assert_true(worst < 0.2);
    plan_fini(&plan);
    diag_fini(&d);
    runner_fini(&r);
    free(text);
}

/* Two cards as one engine: a look is a step there, all-reduces included. */
static void two_cards(void **state)
{
    struct runner r = { 0 };
    struct plan plan;
    struct diag d;
    char *
        text = scenario(
           "'kind': 'whole'",
           "'replicas': { 'min': 1 }, 'users': 1, 'think': '1 s', 'input_tokens': 64, 'output_tokens': 9"),
       *at;
    (void)state;
    assert_non_null(at = strstr(text, "'gpu': 0.5"));
    memcpy(at, "'gpu': 2  ", 10);
    assert_non_null(at = strstr(text, "'gpus_per_node': 1"));
    memcpy(at, "'gpus_per_node': 2", 18);
    sim_load(&r, sim_write(text, JOB, NULL));
    diag_init(&d);
    plan_build(&plan, &r.world, &r.scenario, 0, &d);
    assert_int_equal(d.count, 0);
    const struct plan_service *x = &plan.service[0];
    const struct llm_cost *c = &x->part[0].cost;
    assert_true(c->c_n > 0);
    for (size_t i = 0; i < SERVICE_DECODES; i++) {
        const double n = (double[]){ 1, 4, 16, 64, 256 }[i];
        const struct llm_step step = { .tokens = n, .seqs = n, .kv = 1024 * n };
        assert_close(plan_signature(&plan, x->look[i])->host,
                     (c->c0 + (c->c_b + c->c_n) * n) / llm_step_ms(c, &step), 1e-12);
    }
    plan_fini(&plan);
    diag_fini(&d);
    runner_fini(&r);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(more_users_slow_more),
                                        cmocka_unit_test(nearest), cmocka_unit_test(signatures),
                                        cmocka_unit_test(two_cards) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
