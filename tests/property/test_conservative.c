/* test_conservative.c - conservative backfill on a flat pool against the rule written down
 * again, second by second: at every second at which something comes or ends, all who wait get,
 * in order, the earliest time at which their cards are free for as long as their limits say,
 * beside the running jobs' limits and the promises before them; whoever gets "now" starts. Where
 * limits are exact, every job starts at the second it was promised when it came; where jobs end
 * early, one ahead may move into what one behind was promised. Mutants: promises hold one card
 * less, only the first promise is kept free. */
#include "support/simulate.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

enum { JOBS = 50, CARDS = 8, RUNS = 20, HORIZON = 1 << 15 };

struct row {
    int submit, run, limit, cards;
    int start; /* -1: not yet */
    int promised;
};

/* Cards free at `at + k` seconds for all k < length? */
static bool is_free(const int *used, int at, int length, int cards)
{
    for (int k = at; k < at + length; k++)
        if (used[k] + cards > CARDS) return false;
    return true;
}

static void plan(struct row *j, int now, int *left)
{
    static int used[HORIZON];
    memset(used, 0, sizeof used);
    for (int i = 0; i < JOBS; i++)
        for (int k = now;
             j[i].start >= 0 && j[i].start + j[i].run > now && k < j[i].start + j[i].limit; k++)
            used[k] += j[i].cards;
    for (int i = 0; i < JOBS; i++) {
        if (j[i].submit > now || j[i].start >= 0) continue;
        int at = now;
        while (!is_free(used, at, j[i].limit, j[i].cards)) at++;
        for (int k = at; k < at + j[i].limit; k++) used[k] += j[i].cards;
        if (j[i].promised < 0) j[i].promised = at;
        if (at > now) continue;
        j[i].start = now;
        (*left)--;
    }
}

static void textbook(struct row *j)
{
    for (int now = 0, left = JOBS; left > 0; now++) {
        bool due = false;
        assert_true(now < HORIZON / 2);
        for (int i = 0; i < JOBS; i++)
            due |= j[i].submit == now || (j[i].start >= 0 && j[i].start + j[i].run == now);
        if (due) plan(j, now, &left);
    }
}

static void starts_as_the_textbook_says(void **state)
{
    static const int sizes[] = { 1, 1, 2, 2, 3, 4, 6, 8 }, slack[] = { 0, 0, 30, 100 };
    const char *scenario =
        "{'format': 'gpusim-scenario/1', 'name': 'conservative',"
        " 'fleet': [{'name': 'pool', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 8}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
        " 'policies': [{'name': 'p', 'share': {'kind': 'whole'}}],"
        " 'schedule': {'backfill': 'conservative', 'backfill_depth': 0}, 'output': {'sample': '1 d'}}";
    uint64_t seed = test_seed();
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        struct row j[JOBS];
        struct strbuf trace = { 0 };
        int t = 0, start[JOBS];
        strbuf_addz(&trace, "job_id,submit_s,duration_s,gpus,walltime_s\n");
        for (int i = 0; i < JOBS; i++) {
            t += (int)(test_random(&seed) % 25);
            j[i] = (struct row){ .submit = t,
                                 .run = 10 + (int)(test_random(&seed) % 91),
                                 .cards = sizes[test_random(&seed) % 8],
                                 .start = -1,
                                 .promised = -1 };
            j[i].limit = j[i].run + (run % 2 ? slack[test_random(&seed) % 4] : 0);
            strbuf_addf(&trace, "j%d,%d,%d,%d,%d\n", i, j[i].submit, j[i].run, j[i].cards,
                        j[i].limit);
        }
        textbook(j);
        for (int k = 0; k < JOBS; k++) {
            start[k] = j[k].start;
            if (run % 2 == 0) assert_int_equal(j[k].start, j[k].promised);
        }
        sim_expect_starts(scenario, trace.s, start, JOBS, run);
        strbuf_fini(&trace);
    }
}

/* When the first of two nodes of four cards fails, on which jobs a and b are. */
static int first_fault(const char *scenario)
{
    struct simulated s;
    simulate(&s, scenario, "job_id,submit_s,duration_s,gpus\na,0,1e6,4\nb,0,1e6,4\n");
    const double a = sim_job_of(&s, "p", "a")->end_s, b = sim_job_of(&s, "p", "b")->end_s;
    simulated_fini(&s);
    return (int)(a < b ? a : b);
}

/* Nobody has a limit. One node is under repair, r has two cards of the other one. h is promised
 * three cards of the node that comes back, where the one that is left is too few for i. So nothing
 * can be promised to i, and k gets the two cards that are free. */
static void promises_on_what_comes_back_are_kept_free(void **state)
{
    static const char scenario[] =
        "{ 'format': 'gpusim-scenario/1', 'name': 's', 'faults': { 'card_mtbf': '0 s',"
        "  'node_mtbf': '2 d', 'node_repair': '1000 s', 'repair': 'fixed', 'max_restarts': 0 },"
        "  'fleet': [ { 'name': 'a', 'gpu': 'generic', 'nodes': 2, 'gpus_per_node': 4 } ],"
        "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
        "  'schedule': { 'backfill': 'conservative' },"
        "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }";
    const int at = first_fault(scenario) + 1;
    struct simulated s;
    char rows[300];
    (void)state;
    snprintf(rows, sizeof rows,
             "job_id,submit_s,duration_s,gpus\nr,%d,100,2\nh,%d,10,3\ni,%d,10,3\nk,%d,10,2\n", at,
             at + 1, at + 2, at + 3);
    simulate(&s, scenario, rows);
    assert_float_equal(sim_job_of(&s, "p", "r")->start_s, at, 1e-9);
    assert_float_equal(sim_job_of(&s, "p", "k")->start_s, at + 3, 1e-9);
    simulated_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_as_the_textbook_says),
        cmocka_unit_test(promises_on_what_comes_back_are_kept_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
