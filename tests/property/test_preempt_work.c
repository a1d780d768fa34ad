/* test_preempt_work.c - whatever is stopped and started again, work is conserved: on random work,
 * under every sharing policy and every order that preempts, all jobs complete, the useful work is
 * the same as without preemption, and on whole cards the card time is the useful work plus what
 * checkpoints lost and restarts cost. The engine's own laws (Little, charges, capacity) are checked
 * by every run. Limits that kill keep a job no longer than its limit, all attempts together. */
#include "support/simulate.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 150 };

static char *random_trace(uint64_t *random, double limit_factor)
{
    static const char *const gpus[] = { "0", "0.25", "0.5", "1", "1", "2", "4" };
    struct strbuf t = { 0 };
    double at = 0;
    strbuf_addz(&t, "job_id,submit_s,duration_s,gpus,walltime_s,group\n");
    for (int i = 0; i < JOBS; i++) {
        const double length = (double)(1 + test_random(random) % 9000) / 97;
        at += (double)(test_random(random) % 1500) / 100;
        strbuf_addf(&t, "%d,%.3f,%.6f,%s,%.6f,g%d\n", i, at, length, gpus[test_random(random) % 7],
                    length * limit_factor, (int)(test_random(random) % 3));
    }
    return t.s;
}

static char *scenario_of(const char *share, const char *order, const char *more)
{
    return xasprintf(
        "{'format': 'gpusim-scenario/1', 'name': 'preempt',"
        " 'fleet': [{'name': 'a', 'gpu': 'a30', 'nodes': 2, 'gpus_per_node': 4, 'cpu_cores': 8}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
        " 'policies': ["
        "  {'name': 'as', 'share': {'kind': '%s'},"
        "   'schedule': {'order': '%s', 'backfill': 'greedy'%s}},"
        "  {'name': 'strict', 'share': {'kind': '%s'},"
        "   'schedule': {'order': '%s', 'backfill': 'none'%s}},"
        "  {'name': 'never', 'share': {'kind': '%s'},"
        "   'schedule': {'order': '%s', 'backfill': 'greedy', 'preempt': 'never'}}]}",
        share, order, more, share, order, more, share, order);
}

static double attempts_of(const struct simulated *s, const char *policy)
{
    double n = 0;
    for (size_t i = 0; i < s->n_jobs; i++)
        if (strcmp(s->job[i].policy, policy) == 0) n += s->job[i].attempts;
    return n;
}

static void work_is_conserved(void **state)
{
    uint64_t random = test_seed();
    double stopped = 0;
    (void)state;
    for (size_t k = 0; share_all[k]; k++)
        for (size_t o = 0; order_all[o]; o++) {
            if (!order_all[o]->preempts) continue;
            struct simulated s;
            char *trace = random_trace(&random, 2);
            char *scenario = scenario_of(share_all[k]->name, order_all[o]->name, "");
            simulate(&s, scenario, trace);
            const struct policy_result *never = sim_policy(&s, "never");
            for (size_t p = 0; p < 3; p++) {
                const struct policy_result *r = &s.run.result.policy[p];
                assert_int_equal(r->jobs.completed + r->jobs.rejected, JOBS);
                assert_int_equal(r->jobs.rejected, never->jobs.rejected);
                assert_close(r->useful_gpu_hours, never->useful_gpu_hours, 1e-12);
                if (strcmp(share_all[k]->name, "whole") == 0)
                    assert_close(r->gpu_hours, never->gpu_hours, 1e-9);
            }
            assert_true(attempts_of(&s, "never") == (double)never->jobs.completed);
            stopped += attempts_of(&s, "as") - (double)never->jobs.completed;
            simulated_fini(&s);
            free(scenario);
            free(trace);
        }
    assert_true(stopped > 100);
}

/* A restart takes 2 s; a stopped job loses less than the 3 s between checkpoints. */
static void costs_are_bounded(void **state)
{
    uint64_t random = test_seed();
    (void)state;
    for (size_t o = 0; order_all[o]; o++) {
        if (!order_all[o]->preempts) continue;
        struct simulated s;
        char *trace = random_trace(&random, 2);
        char *scenario =
            scenario_of("whole", order_all[o]->name, ", 'checkpoint': '3 s', 'restart': '2 s'");
        simulate(&s, scenario, trace);
        const struct policy_result *as = sim_policy(&s, "as"), *never = sim_policy(&s, "never");
        double least_s = 0, most_s = 0;
        for (size_t i = 0; i < s.n_jobs; i++) {
            if (strcmp(s.job[i].policy, "as") != 0) continue;
            const double again = s.job[i].attempts - 1;
            most_s += ceil(s.job[i].gpus) * again * 5;
            least_s += s.job[i].attempts > 1 ? 1e-9 * ceil(s.job[i].gpus) : 0;
        }
        const double more_s = (as->gpu_hours - never->gpu_hours) * 3600;
        assert_true(more_s >= least_s && more_s <= most_s + 1e-6);
        simulated_fini(&s);
        free(scenario);
        free(trace);
    }
}

static void limits_hold(void **state)
{
    uint64_t random = test_seed();
    (void)state;
    for (size_t o = 0; order_all[o]; o++) {
        if (!order_all[o]->preempts) continue;
        struct simulated s;
        char *trace = random_trace(&random, 0.7);
        char *scenario = scenario_of("whole", order_all[o]->name, ", 'walltime': 'kill'");
        simulate(&s, scenario, trace);
        const struct policy_result *as = sim_policy(&s, "as"), *never = sim_policy(&s, "never");
        assert_int_equal(as->jobs.killed, JOBS);
        assert_int_equal(never->jobs.completed, JOBS);
        assert_close(as->gpu_hours, 0.7 * never->gpu_hours, 1e-6);
        simulated_fini(&s);
        free(scenario);
        free(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_conserved),
        cmocka_unit_test(costs_are_bounded),
        cmocka_unit_test(limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
