/* test_turns.c - requests beside tenants that never leave a time-sliced card: the engine shares the
 * card out as a fluid (every tenant present gets its part all the time); here the same requests are
 * served turn by turn, by a few lines that share nothing with it.
 *
 * Requests of three turns or more: the same mean, median and 99th percentile within 2 %. Requests
 * much shorter than a turn wait for their turn, half a round in the mean, which a fluid does not
 * know; `check --explain` does. */
#include "policy/timeshare.h"
#include "support/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 200000 };

struct setting {
    double work_ms, gap_ms; /* means; both exponential */
    int others;
};

struct latency {
    double mean_ms, p50_ms, p99_ms;
};

static const double quantum_ms = 1.024, switch_ms = 0.111;

static double exponential(uint64_t *random, double mean)
{
    return -mean * log((double)((test_random(random) >> 11) + 1) / 9007199254740993.0);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One service that takes its requests in order, and `others` that always have work, in a ring. A
 * turn ends with the quantum or when its tenant has nothing left; a switch is paid when another
 * tenant is next. */
static struct latency turn_by_turn(const struct setting *s)
{
    static double arrival[REQUESTS], work[REQUESTS], took[REQUESTS];
    uint64_t random = test_seed();
    double now = 0;
    int place = 0; /* `others` is the service */
    for (size_t i = 0; i < REQUESTS; i++) {
        arrival[i] = (i ? arrival[i - 1] : 0) + exponential(&random, s->gap_ms);
        work[i] = exponential(&random, s->work_ms);
    }
    for (size_t head = 0; head < REQUESTS;) {
        const int had = place;
        if (place == s->others) {
            double left = quantum_ms;
            while (left > 0 && head < REQUESTS && arrival[head] <= now) {
                const double run = fmin(left, work[head]);
                now += run;
                left -= run;
                work[head] -= run;
                if (work[head] > 0) break;
                took[head] = now - arrival[head];
                head++;
            }
        } else {
            now += quantum_ms;
        }
        place = (place + 1) % (s->others + 1);
        if (place == s->others && (head == REQUESTS || arrival[head] > now)) place = 0;
        if (place != had) now += switch_ms;
    }
    struct latency l = { 0 };
    for (size_t i = 0; i < REQUESTS; i++) l.mean_ms += took[i] / REQUESTS;
    qsort(took, REQUESTS, sizeof *took, ascending);
    l.p50_ms = took[REQUESTS / 2];
    l.p99_ms = took[REQUESTS / 100 * 99];
    return l;
}

static struct latency as_a_fluid(const struct setting *s)
{
    static char scenario[2000], trace[400];
    struct simulated run;
    int at = snprintf(trace, sizeof trace, "job_id,submit_s,duration_s,gpus,profile\n");
    for (int i = 0; i < s->others; i++)
        at += snprintf(trace + at, sizeof trace - (size_t)at, "j%d,0,1000000,0.2,p\n", i);
    snprintf(scenario, sizeof scenario,
             "{'format': 'gpusim-scenario/1', 'name': 's', 'horizon': '%.0f ms', 'warmup': '10 s',"
             " 'fleet': [{'name': 'f', 'gpu': 'a100-sxm4-80gb', 'nodes': 1, 'gpus_per_node': 1}],"
             " 'profiles': {'p': {'compute': 1, 'sm_width': 1, 'bw_width': 1}},"
             " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'},"
             "  {'name': 'api', 'kind': 'service', 'profile': 'p', 'replicas': {'max': 1},"
             "   'arrivals': {'kind': 'poisson', 'gap': '%g ms'},"
             "   'size': {'kind': 'exponential', 'mean': '%g ms'}}],"
             " 'policies': [{'name': 'p', 'share': {'kind': 'timeslice', 'slots': 5,"
             "   'quantum': '%g ms', 'switch': '%g ms'}}],"
             " 'output': {'sample': '1 d'}}",
             10000 + s->gap_ms * REQUESTS, s->gap_ms, s->work_ms, quantum_ms, switch_ms);
    simulate(&run, scenario, trace);
    const struct service_result *v = &sim_policy(&run, "p")->service[0];
    const struct latency l = { v->latency_ms.mean, v->latency_ms.p50, v->latency_ms.p99 };
    simulated_fini(&run);
    return l;
}

static void compare(const struct setting *s, struct latency *turns, struct latency *fluid)
{
    *turns = turn_by_turn(s);
    *fluid = as_a_fluid(s);
    print_message(
        "%5.2f ms each %5.1f ms beside %d: mean %7.3f in turns, %7.3f as a fluid (%+.1f %%);"
        " p50 %+.1f %%, p99 %+.1f %%\n",
        s->work_ms, s->gap_ms, s->others, turns->mean_ms, fluid->mean_ms,
        100 * (fluid->mean_ms / turns->mean_ms - 1), 100 * (fluid->p50_ms / turns->p50_ms - 1),
        100 * (fluid->p99_ms / turns->p99_ms - 1));
}

static void longer_than_a_turn(void **state)
{
    static const struct setting settings[] = {
        { 3, 15, 1 }, { 5, 25, 1 }, { 5, 50, 3 }, { 20, 100, 1 }, { 20, 200, 3 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct latency turns, fluid;
        compare(&settings[i], &turns, &fluid);
        assert_close(fluid.mean_ms, turns.mean_ms, 0.03);
        assert_close(fluid.p50_ms, turns.p50_ms, 0.04);
        assert_close(fluid.p99_ms, turns.p99_ms, 0.04);
    }
}

/* What `check --explain` says, averaged over exponential sizes. */
static double explained_ms(const struct setting *s)
{
    enum { PARTS = 1000 };
    double sum = 0;
    for (int i = 0; i < PARTS; i++)
        sum += timeshare_burst_s(-s->work_ms * log((i + 0.5) / PARTS), s->others,
                                 quantum_ms + switch_ms);
    return sum / PARTS;
}

static void shorter_than_a_turn(void **state)
{
    static const struct setting settings[] = { { 0.1, 100, 1 }, { 0.3, 100, 1 }, { 0.3, 200, 3 } };
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct latency turns, fluid;
        compare(&settings[i], &turns, &fluid);
        print_message("                              %7.3f explained\n",
                      explained_ms(&settings[i]));
        assert_true(fluid.mean_ms < 0.75 * turns.mean_ms); /* a known limit of the model */
        assert_close(explained_ms(&settings[i]), turns.mean_ms, 0.1);
        assert_true(turns.mean_ms - fluid.mean_ms <
                    (settings[i].others + 0.2) * (quantum_ms + switch_ms) / 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longer_than_a_turn),
        cmocka_unit_test(shorter_than_a_turn),
    };
    return cmocka_run_group_tests_name("turns", tests, NULL, NULL);
}
