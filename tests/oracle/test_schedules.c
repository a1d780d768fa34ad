/* test_schedules.c - orders and backfill on the 60-job trace of Tiresias, against results computed
 * by others: mean turnaround, mean of turnaround less duration, last end, exactly. And on random
 * work against the rule written down again in forty lines: all who are in the system, by rank, each
 * gets its units or not.
 *
 * Two rows of the published table need a word. "Fewest GPUs first" comes out only with
 * preemption. Two-queue LAS with gangs on nodes is published with the figures of the flat pool,
 * 190.6833: the simulator it comes from places all jobs anew in order at every event, as if
 * moving cost nothing. That is "migrate": "replace" with a pause of 0 s. Left where they are,
 * jobs give 219.1833 like greedy fifo's, since under this threshold nobody is ever stopped.
 * Mutants: an order that preempts by the rank of the submission, ties of srsf by row; who is
 * placed anew goes last, a running job is not placed anew. */
#include "support/simulate.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct expected {
    const char *fleet, *schedule;
    double turnaround, beyond_duration, last_end;
};

#define FLAT   "'nodes': 1, 'gpus_per_node': 16"
#define NODES  "'nodes': 4, 'gpus_per_node': 4"
#define BY_LAS "'order': 'las', 'backfill': 'greedy',"
static const struct expected table[] = {
    { NODES, "'order': 'fifo', 'backfill': 'none', 'place': 'first_fit'", 219.1833, 40.7667, 3341 },
    { FLAT, "'order': 'fifo', 'backfill': 'greedy', 'gang': 'any'", 190.6833, 12.2667, 3271 },
    { NODES, "'order': 'fifo', 'backfill': 'greedy', 'place': 'first_fit'", 219.1833, 40.7667,
      3271 },
    { FLAT, "'order': 'fewest', 'backfill': 'greedy', 'gang': 'any'", 198.2, 19.7833, 3271 },
    { FLAT, "'order': 'srtf', 'backfill': 'greedy', 'gang': 'any'", 192.1167, 13.7, 3271 },
    { FLAT, "'order': 'srsf', 'backfill': 'greedy', 'gang': 'any'", 195.9, 17.4833, 3315 },
    { FLAT, "'order': 'las', 'backfill': 'greedy', 'gang': 'any'", 190.6833, 12.2667, 3271 },
    { NODES, BY_LAS " 'place': 'first_fit', 'migrate': 'replace', 'migrate_pause': '0 s'", 190.6833,
      12.2667, 3271 },
    { NODES, BY_LAS " 'place': 'best_fit', 'migrate': 'replace', 'migrate_pause': '0 s'", 190.6833,
      12.2667, 3271 },
    { NODES, BY_LAS " 'place': 'first_fit'", 219.1833, 40.7667, 3271 }, /* not in the table */
};

static char *imported(void)
{
    const char *bin = getenv("GPUSIM_BIN"), *shared = shared_path("traces/tiresias/60_job.csv");
    if (!bin || !shared) skip_without_shared("traces/tiresias/60_job.csv");
    char *out = xasprintf("%s/trace.csv", temp_dir());
    char *command = xasprintf("'%s' import tiresias '%s' -o '%s' 2>/dev/null", bin, shared, out);
    if (system(command) != 0) fail_msg("%s failed", command);
    char *text = read_file(out);
    free(command);
    free(out);
    return text;
}

static char *scenario_of(const char *fleet, const char *schedule)
{
    return xasprintf("{'format': 'gpusim-scenario/1', 'name': 'schedules',"
                     " 'fleet': [{'name': 'pool', 'gpu': 'generic', %s}],"
                     " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
                     " 'policies': [{'name': 'p', 'share': {'kind': 'whole'}}],"
                     " 'schedule': {%s}, 'output': {'sample': '1 d'}}",
                     fleet, schedule);
}

static void reference(void **state)
{
    const struct expected *x = *state;
    struct simulated s;
    char *trace = imported(), *scenario = scenario_of(x->fleet, x->schedule);
    simulate(&s, scenario, trace);
    const struct policy_result *p = sim_policy(&s, "p");
    const double duration = p->useful_gpu_hours; /* kept as it was: no work is lost or repeated */
    double turnaround = 0, last = 0;
    for (size_t i = 0; i < s.n_jobs; i++) {
        assert_string_equal(s.job[i].state, "completed");
        turnaround += s.job[i].turnaround_s / 60;
        last = fmax(last, s.job[i].end_s);
    }
    assert_int_equal(s.n_jobs, 60);
    assert_true(fabs(turnaround - x->turnaround) < 0.5e-4 + 1e-9);
    assert_true(fabs(turnaround - 178.416666667 - x->beyond_duration) < 0.5e-4 + 1e-9);
    assert_close(last, x->last_end, 1e-12);
    assert_close(duration, 26624.0 / 3600, 1e-12);
    assert_close(p->gpu_hours, duration, 1e-9);
    simulated_fini(&s);
    free(trace);
    free(scenario);
}

/* ---- the rule written down again ---- */

enum { JOBS = 250, UNITS = 13, THRESHOLD = 120 };
enum rule { GREEDY, FEWEST, SRTF, SRSF, LAS, RULES };
static const char *const schedule[RULES] = {
    "'order': 'fifo'",
    "'order': 'fewest'",
    "'order': 'srtf'",
    "'order': 'srsf'",
    "'order': 'las', 'threshold': '120 s'",
};

struct work {
    int64_t submit, length, done, start, end;
    int units, attempts, on[4];
    bool runs;
};

static int64_t rank_of(enum rule rule, const struct work *w)
{
    const int64_t left = w->length - w->done, never = INT64_C(1) << 40;
    switch (rule) {
    case GREEDY: return w->runs ? -1 : w->submit;
    case FEWEST: return w->units;
    case SRTF: return left;
    case SRSF: return left * w->units * 100 + w->units;
    case LAS:
        return (w->done * w->units >= THRESHOLD ? 2 * never : 0) + (w->attempts ? w->start : never);
    case RULES: break;
    }
    return 0;
}

enum fleet { POOL, NODES_FIRST, NODES_BEST, FLEETS };
static const char *const fleet[FLEETS] = { "'nodes': 1, 'gpus_per_node': 13", NODES, NODES };
static const char *const moves[FLEETS] = {
    "'gang': 'any'",
    "'place': 'first_fit', 'migrate': 'replace', 'migrate_pause': '0 s'",
    "'place': 'best_fit', 'migrate': 'replace', 'migrate_pause': '0 s'",
};

/* Units of a pool; or on one node if it fits, else whole nodes and the rest on one more. */
static bool take(enum fleet f, int *left, int units, int *on)
{
    int node = -1;
    memset(on, 0, 4 * sizeof *on);
    if (f == POOL) {
        if (units > left[0]) return false;
        left[0] -= units;
        return true;
    }
    for (int n = 0; n < 4 && units > 4; n++)
        if (left[n] == 4) on[n] = 4, units -= 4;
    if (units > 4) return false;
    for (int n = 0; n < 4; n++)
        if (!on[n] && left[n] >= units && (node < 0 || (f == NODES_BEST && left[n] < left[node])))
            node = n;
    if (node < 0) return false;
    on[node] = units;
    for (int n = 0; n < 4; n++) left[n] -= on[n];
    return true;
}

static int next_by_rank(enum rule rule, const struct work *w, int64_t now, const bool *seen)
{
    int best = -1;
    for (int i = 0; i < JOBS; i++)
        if (!seen[i] && w[i].submit <= now && w[i].end < 0 &&
            (best < 0 || rank_of(rule, &w[i]) < rank_of(rule, &w[best])))
            best = i;
    return best;
}

/* All who are there - or only those who wait, beside the others - by rank: each gets its units or
 * not. False: somebody waits. */
static bool entitle(enum rule rule, enum fleet f, struct work *w, int64_t now, bool anew)
{
    bool seen[JOBS] = { false }, all = true;
    int left[4] = { f == POOL ? UNITS : 4, 4, 4, 4 }, i;
    for (i = 0; i < JOBS && !anew; i++) {
        seen[i] = w[i].runs;
        for (int n = 0; n < 4 && w[i].runs; n++) left[n] -= w[i].on[n];
    }
    while ((i = next_by_rank(rule, w, now, seen)) >= 0) {
        const bool runs = take(f, left, w[i].units, w[i].on);
        seen[i] = true;
        all &= runs;
        if (runs && !w[i].runs && w[i].attempts++ == 0) w[i].start = now;
        w[i].runs = runs;
    }
    return all;
}

/* Where nobody need move, nobody does. */
static void schedule_all(enum rule rule, enum fleet f, struct work *w, int64_t now)
{
    static struct work before[JOBS];
    memcpy(before, w, sizeof before);
    if (f != POOL && entitle(rule, f, w, now, false)) return;
    memcpy(w, before, sizeof before);
    entitle(rule, f, w, now, true);
}

static void replay(enum rule rule, enum fleet f, struct work *w)
{
    for (int64_t now = 0;;) {
        int64_t next = INT64_MAX;
        for (int i = 0; i < JOBS; i++) {
            int64_t at = INT64_MAX;
            if (w[i].submit > now) at = w[i].submit;
            if (w[i].runs) {
                at = now + w[i].length - w[i].done;
                const int64_t fall = THRESHOLD / w[i].units - w[i].done;
                if (rule == LAS && fall > 0 && now + fall < at) at = now + fall;
            }
            if (at < next) next = at;
        }
        if (next == INT64_MAX) return;
        for (int i = 0; i < JOBS; i++) {
            if (!w[i].runs) continue;
            w[i].done += next - now;
            if (w[i].done < w[i].length) continue;
            w[i].runs = false;
            w[i].end = next;
        }
        now = next;
        schedule_all(rule, f, w, now);
    }
}

static void against_forty_lines(void **state)
{
    static const int widths[] = { 1, 2, 3, 4, 5, 6, 8, 10, 12 }; /* they divide the threshold */
    uint64_t random = test_seed();
    int stopped[RULES] = { 0 };
    (void)state;
    for (int round = 0; round < 4 * RULES * FLEETS; round++) {
        const enum rule rule = (enum rule)(round % RULES);
        const enum fleet f = (enum fleet)(round / RULES % FLEETS);
        if (rule == GREEDY && f != POOL) continue; /* it does not preempt */
        struct work w[JOBS];
        struct strbuf trace = { 0 };
        struct simulated s;
        int64_t at = 1;
        strbuf_addz(&trace, "job_id,submit_s,duration_s,gpus\n");
        for (int i = 0; i < JOBS; i++) {
            at += 1 + (int64_t)(test_random(&random) % 30);
            w[i] = (struct work){ .submit = at,
                                  .length = 1 + (int64_t)(test_random(&random) % 90),
                                  .units = widths[test_random(&random) % (round % 2 ? 4 : 9)],
                                  .end = -1 };
            strbuf_addf(&trace, "%d,%lld,%lld,%d\n", i, (long long)at, (long long)w[i].length,
                        w[i].units);
        }
        replay(rule, f, w);
        char *keys = xasprintf("%s, 'backfill': 'greedy', %s", schedule[rule], moves[f]);
        char *scenario = scenario_of(fleet[f], keys);
        simulate(&s, scenario, trace.s);
        assert_int_equal(s.n_jobs, JOBS);
        for (size_t i = 0; i < s.n_jobs; i++) {
            const int id = atoi(s.job[i].id);
            stopped[rule] += w[id].attempts > 1;
            if (s.job[i].start_s != (double)w[id].start || s.job[i].end_s != (double)w[id].end ||
                (int)s.job[i].attempts != w[id].attempts)
                fail_msg("%s, fleet %d, job %d: %.9f to %.9f in %g, expected %lld to %lld in %d",
                         schedule[rule], (int)f, id, s.job[i].start_s, s.job[i].end_s,
                         s.job[i].attempts, (long long)w[id].start, (long long)w[id].end,
                         w[id].attempts);
        }
        simulated_fini(&s);
        free(scenario);
        free(keys);
        strbuf_fini(&trace);
    }
    for (int rule = GREEDY; rule < RULES; rule++)
        assert_true(rule == GREEDY ? stopped[rule] == 0 : stopped[rule] > 0);
}

/* ---- small cases by hand ---- */

/* Under las the rank of j0 changes at 60 s, when it has held a GPU for the threshold; where
 * nobody is stopped that is no reason to look at the queue. j2 ends in time for j1, which waits
 * for both cards. */
static void las_that_never_preempts_ends(void **state)
{
    static const int start[] = { 0, 100, 2 };
    char *scenario =
        scenario_of("'nodes': 1, 'gpus_per_node': 2",
                    "'order': 'las', 'threshold': '60 s', 'preempt': 'never', 'backfill': 'easy'");
    (void)state;
    alarm(30); /* a look at the queue that calls for itself would never end */
    sim_expect_starts(scenario,
                      "job_id,submit_s,duration_s,gpus,walltime_s\n"
                      "j0,0,100,1,100\n"
                      "j1,1,10,2,10\n"
                      "j2,2,50,1,50\n",
                      start, 3, 0);
    alarm(0);
    free(scenario);
}

/* At 3 s b (4 GPU-seconds, from j1) is behind a (1 GPU-second when its rank was made), whose j2
 * waits for all cards. When j4 comes at 12 s the ranks of 10 s ago are made anew: a has used 12
 * GPU-seconds, so j3 and j4 go. */
static void fair_ranks_are_made_anew_when_a_job_comes(void **state)
{
    static const int start[] = { 0, 0, 100, 12, 12 };
    char *scenario = scenario_of(
        "'nodes': 1, 'gpus_per_node': 3",
        "'order': 'fair', 'half_life': '1000 d', 'recalculate': '10 s', 'backfill': 'none'");
    (void)state;
    sim_expect_starts(scenario,
                      "job_id,submit_s,duration_s,gpus,user\n"
                      "j0,0,100,1,a\n"
                      "j1,0,2,2,b\n"
                      "j2,1,10,3,a\n"
                      "j3,3,5,1,b\n"
                      "j4,12,5,1,b\n",
                      start, 5, 0);
    free(scenario);
}

/* At 5 s j2 takes j0's place. j0 has 15 s left, but falls back to its beginning: with 20 s it
 * waits behind j1, which needs one card and has it at once. */
static void who_is_stopped_waits_with_the_work_it_has_lost(void **state)
{
    static const int start[] = { 0, 5, 5 };
    char *scenario = scenario_of("'nodes': 1, 'gpus_per_node': 2",
                                 "'order': 'srtf', 'backfill': 'none', 'checkpoint': '10 s'");
    (void)state;
    sim_expect_starts(scenario,
                      "job_id,submit_s,duration_s,gpus\n"
                      "j0,0,20,2\n"
                      "j1,2,19,1\n"
                      "j2,5,3,1\n",
                      start, 3, 0);
    free(scenario);
}

/* One card: job 0 has the slice of units 4 to 7 until its limit at 100 s, job 1 waits for the
 * whole card. Job 2 is killed at 100 s at the latest, though its slice takes 10 s to make first:
 * it does not delay job 1. Where limits are estimates it might, and it waits for job 1, which
 * ends at 70 s. */
static void limits_that_kill_hold_the_making_of_slices(void **state)
{
    static const char trace[] = "job_id,submit_s,duration_s,gpus,walltime_s\n"
                                "0,0,50,0.3,100\n"
                                "1,1,10,1,50\n"
                                "2,2,80,0.3,98\n";
    static const struct {
        const char *walltime, *backfill;
        double start_s;
    } want[] = { { "kill", "easy", 12 },
                 { "estimate", "easy", 80 },
                 { "kill", "conservative", 12 } };
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct simulated s;
        char *scenario = xasprintf(
            "{'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [{'name': 'g', 'gpu': "
            "'a100-sxm4-40gb', 'nodes': 1, 'gpus_per_node': 1}], 'work': [{'name': 'w', 'kind': "
            "'jobs', 'trace': 'trace.csv'}], 'policies': [{'name': 'p', 'share': {'kind': 'mig', "
            "'repartition': '10 s', 'mode_change': '0 s'}}], 'output': {'sample': '1 d'}, "
            "'schedule': {'order': 'fifo', 'backfill': '%s', 'walltime': '%s'}}",
            want[i].backfill, want[i].walltime);
        simulate(&s, scenario, trace);
        if (sim_job_of(&s, "p", "2")->start_s != want[i].start_s)
            fail_msg("%s, %s: job 2 starts at %g s, not %g", want[i].backfill, want[i].walltime,
                     sim_job_of(&s, "p", "2")->start_s, want[i].start_s);
        simulated_fini(&s);
        free(scenario);
    }
}

/* At 20 s j2 moves beside j0 so that j3 has a node, and stands still until 25 s; only then can
 * it give way to j4, which came at 22 s for all cards: it does at 26 s, when j5 comes. The pause
 * is not its own: of its limit of 60 s it has used 21, and goes on at 36 s. */
static void who_moves_can_move_again_and_is_excused(void **state)
{
    struct simulated s;
    char *scenario = scenario_of("'nodes': 2, 'gpus_per_node': 2",
                                 "'order': 'priority', 'preempt': 'always', 'backfill': 'none', "
                                 "'place': 'first_fit', 'walltime': 'kill', "
                                 "'migrate': 'replace', 'migrate_pause': '5 s'");
    (void)state;
    simulate(&s, scenario,
             "job_id,submit_s,duration_s,gpus,priority,walltime_s\n"
             "j0,0,100,1,0,\n"
             "j1,0,10,1,0,\n"
             "j2,0,100,1,0,60\n"
             "j3,20,100,2,0,\n"
             "j4,22,10,4,1,\n"
             "j5,26,10,1,-1,\n");
    assert_close(sim_job_of(&s, "p", "j4")->start_s, 26, 1e-12);
    assert_close(sim_job_of(&s, "p", "j2")->end_s, 75, 1e-12);
    assert_string_equal(sim_job_of(&s, "p", "j2")->state, "killed");
    simulated_fini(&s);
    free(scenario);
}

/* j0, which would fall at 20 s, is gone at 10 s; j1 has no GPU and never falls. So nothing
 * happens at 20 s: two jobs come and end, and the one sample is a day off. */
static void nobody_is_looked_for_who_is_gone(void **state)
{
    struct simulated s;
    char *scenario = scenario_of("'nodes': 1, 'gpus_per_node': 1, 'cpu_cores': 4",
                                 "'order': 'las', 'threshold': '20 s', 'backfill': 'none'");
    (void)state;
    simulate(&s, scenario,
             "job_id,submit_s,duration_s,gpus,cpus\n"
             "j0,0,10,1,4\n"
             "j1,1,100,0,4\n");
    assert_close(sim_job_of(&s, "p", "j1")->end_s, 110, 1e-12);
    assert_int_equal(sim_policy(&s, "p")->events, 4);
    simulated_fini(&s);
    free(scenario);
}

/* j1 waits for the quota of a, which j0 has; that holds up nobody of b, so j2 starts when it
 * comes. */
static void a_quota_holds_up_nobody_else_where_ranks_preempt(void **state)
{
    static const int start[] = { 0, 100, 2 };
    char *scenario =
        scenario_of("'nodes': 1, 'gpus_per_node': 2",
                    "'order': 'fifo', 'preempt': 'always', 'backfill': 'none', 'quotas': {'*': "
                    "{'gpus': 1}}");
    (void)state;
    sim_expect_starts(scenario,
                      "job_id,submit_s,duration_s,gpus,user\n"
                      "j0,0,100,1,a\n"
                      "j1,1,10,1,a\n"
                      "j2,2,10,1,b\n",
                      start, 3, 0);
    free(scenario);
}

/* b has borrowed one of a's two GPUs when j2 and j3 come: j2 starts on the card that is free,
 * and j3, now the first of a, takes the other back at once. */
static void the_next_of_an_account_takes_back_at_once(void **state)
{
    static const int start[] = { 0, 0, 1, 1 };
    char *scenario = scenario_of(
        "'nodes': 1, 'gpus_per_node': 3",
        "'order': 'fifo', 'backfill': 'none', 'reclaim': 'always', 'quotas': {'a': {'gpus': "
        "2, 'cohort': 'c'}, 'b': {'gpus': 1, 'cohort': 'c'}}");
    (void)state;
    sim_expect_starts(scenario,
                      "job_id,submit_s,duration_s,gpus,user\n"
                      "j0,0,100,1,b\n"
                      "j1,0,100,1,b\n"
                      "j2,1,50,1,a\n"
                      "j3,1,50,1,a\n",
                      start, 4, 0);
    free(scenario);
}

static const struct CMUnitTest by_hand[] = {
    cmocka_unit_test(against_forty_lines),
    cmocka_unit_test(las_that_never_preempts_ends),
    cmocka_unit_test(fair_ranks_are_made_anew_when_a_job_comes),
    cmocka_unit_test(who_is_stopped_waits_with_the_work_it_has_lost),
    cmocka_unit_test(limits_that_kill_hold_the_making_of_slices),
    cmocka_unit_test(who_moves_can_move_again_and_is_excused),
    cmocka_unit_test(nobody_is_looked_for_who_is_gone),
    cmocka_unit_test(the_next_of_an_account_takes_back_at_once),
    cmocka_unit_test(a_quota_holds_up_nobody_else_where_ranks_preempt),
};

int main(void)
{
    enum { N = sizeof table / sizeof *table, HAND = sizeof by_hand / sizeof *by_hand };
    struct CMUnitTest tests[N + HAND];
    for (size_t i = 0; i < N; i++)
        tests[i] = (struct CMUnitTest){ table[i].schedule, reference, NULL, NULL,
                                        (void *)(uintptr_t)&table[i] };
    memcpy(tests + N, by_hand, sizeof by_hand);
    return _cmocka_run_group_tests("schedules", tests, N + HAND, NULL, NULL);
}
