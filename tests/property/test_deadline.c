/* test_deadline.c - admission by deadline on random work, against a replay written down again: when
 * a job comes, all who were admitted are played to their end in the order of their deadlines, first
 * without regard to those who come later. It is admitted when nobody misses a deadline by that.
 * Whoever was admitted must then meet it, and with `none` and `alone` exactly the others are let
 * in. Mutants: the newcomer is planned last, those behind the newcomer are not looked at. */
#include "support/simulate.h"

#include "base/mem.h"
#include "base/str.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 80, CARDS = 8, RUNS = 30 };

struct work {
    int submit, run, gpus, due; /* due INT_MAX: no deadline */
    int start;                  /* -1: not yet; INT_MAX: rejected */
};

/* Strict order: earliest deadline, then row; each starts when it fits and not before the one ahead
 * of it. With `until`, decisions of instants before it stand. */
static void play(struct work *w, int n, int now, int until)
{
    for (int at = now; at < until; at++) {
        bool left = false;
        for (;;) {
            int best = -1, free = CARDS;
            for (int i = 0; i < n; i++) {
                if (w[i].start >= 0 && w[i].start <= at && w[i].start + w[i].run > at)
                    free -= w[i].gpus;
                if (w[i].start >= 0 || w[i].submit > at) continue;
                left = true;
                if (best < 0 || w[i].due < w[best].due) best = i;
            }
            if (best < 0 || w[best].gpus > free) break;
            w[best].start = at;
        }
        if (!left && until == INT_MAX) return;
    }
}

static bool all_in_time(const struct work *w, int n)
{
    for (int i = 0; i < n; i++)
        if (w[i].start != INT_MAX && w[i].due != INT_MAX && w[i].start + w[i].run > w[i].due)
            return false;
    return true;
}

static void replay(const char *rule, struct work *w)
{
    int now = 0;
    for (int i = 0; i < JOBS; i++) {
        struct work trial[JOBS];
        play(w, i, now, w[i].submit);
        now = w[i].submit;
        /* ends of this instant come first, and so do the starts of those who came in this very
         * instant only after all of them are in: nothing to do here */
        if (w[i].due == INT_MAX || strcmp(rule, "none") == 0) continue;
        memcpy(trial, w, sizeof trial);
        play(trial, i + 1, now, INT_MAX);
        if (now + w[i].run > w[i].due || (strcmp(rule, "plan") == 0 && !all_in_time(trial, i + 1)))
            w[i].start = INT_MAX;
    }
    play(w, JOBS, now, INT_MAX);
}

static void as_replayed(void **state)
{
    static const char *const rules[] = { "plan", "plan", "plan", "alone", "none" };
    static const int sizes[] = { 1, 1, 2, 2, 3, 4, 5, 8 };
    uint64_t seed = test_seed();
    int rejected = 0, admitted = 0;
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        const char *rule = rules[run % 5];
        struct work w[JOBS];
        struct strbuf trace = { 0 };
        struct simulated s;
        int at = 0;
        uint64_t met = 0, with = 0;
        strbuf_addz(&trace, "job_id,submit_s,duration_s,gpus,walltime_s,deadline_s\n");
        for (int i = 0; i < JOBS; i++) {
            at += (int)(test_random(&seed) % 40);
            w[i] = (struct work){ .submit = at,
                                  .run = 10 + (int)(test_random(&seed) % 100),
                                  .gpus = sizes[test_random(&seed) % 8],
                                  .due = INT_MAX,
                                  .start = -1 };
            strbuf_addf(&trace, "%d,%d,%d,%d,", i, at, w[i].run, w[i].gpus);
            if (run % 2)
                strbuf_addf(&trace, "%d", w[i].run); /* without a limit: as long as it takes */
            if (test_random(&seed) % 4) {
                w[i].due = at + (int)(test_random(&seed) % 500);
                strbuf_addf(&trace, ",%d\n", w[i].due);
            } else {
                strbuf_addz(&trace, ",\n");
            }
        }
        replay(rule, w);
        char *scenario = xasprintf(
            "{'format': 'gpusim-scenario/1', 'name': 'deadline', 'fleet': [{'name': 'pool',"
            " 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': %d}],"
            " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
            " 'policies': [{'name': 'p', 'share': {'kind': 'whole'}}], 'output': {'sample': '1 d'},"
            " 'schedule': {'order': 'deadline', 'backfill': 'none', 'admission': '%s'}}",
            CARDS, rule);
        simulate(&s, scenario, trace.s);
        for (size_t i = 0; i < s.n_jobs; i++) {
            const struct work *x = &w[atoi(s.job[i].id)];
            const bool turned_away = strcmp(s.job[i].state, "rejected") == 0;
            if (turned_away ? x->start != INT_MAX : s.job[i].start_s != x->start)
                fail_msg("run %d, %s: job %s is %s from %g s, the replay says %d", run, rule,
                         s.job[i].id, s.job[i].state, s.job[i].start_s, x->start);
            if (turned_away) assert_true(strstr(s.job[i].reason, "deadline") != NULL);
            if (strcmp(rule, "plan") == 0 && !turned_away)
                assert_true(x->due == INT_MAX || s.job[i].end_s <= x->due);
            rejected += turned_away;
            admitted += !turned_away && x->due != INT_MAX;
            with += x->due != INT_MAX;
            met += !turned_away && x->due != INT_MAX && s.job[i].end_s <= x->due;
        }
        const struct job_counts *c = &sim_policy(&s, "p")->jobs;
        assert_int_equal(c->deadlines_met, met);
        assert_int_equal(c->deadlines_missed, with - met);
        simulated_fini(&s);
        free(scenario);
        strbuf_fini(&trace);
    }
    assert_true(rejected > RUNS && admitted > RUNS);
}

/* Job 0 overruns its limit, so that job 1, admitted before that showed, is late at 60 s whatever
 * comes. It will have the card before job 2 all the same, which would end at 170 s and is turned
 * away. */
static void who_is_late_has_a_turn(void **state)
{
    static const char trace[] = "job_id,submit_s,duration_s,gpus,walltime_s,deadline_s\n"
                                "0,0,100,1,50,\n"
                                "1,1,40,1,,95\n"
                                "2,60,30,1,,96\n";
    struct simulated s;
    (void)state;
    simulate(
        &s,
        "{'format': 'gpusim-scenario/1', 'name': 'late', 'fleet': [{'name': 'pool',"
        " 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 1}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
        " 'policies': [{'name': 'p', 'share': {'kind': 'whole'}}], 'output': {'sample': '1 d'},"
        " 'schedule': {'order': 'deadline', 'backfill': 'none', 'admission': 'plan'}}",
        trace);
    assert_true(sim_job_of(&s, "p", "1")->end_s == 140);
    assert_string_equal(sim_job_of(&s, "p", "2")->state, "rejected");
    simulated_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(as_replayed),
                                        cmocka_unit_test(who_is_late_has_a_turn) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
