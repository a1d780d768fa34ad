/* test_accounts.c - quotas, weights and whose turn it is, by hand: hard quotas, cohorts that lend,
 * dominant shares (the example of Ghodsi et al., NSDI 2011), fair shares with weights, priorities
 * of classes; and every contradiction that quotas can hold. Mutants: a cohort lends what its
 * members use, an account of the wrong name, quotas counted by jobs. */
#include "support/simulate.h"

#include "engine/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char frame[] =
    "{ 'format': 'gpusim-scenario/1', 'name': 's',"
    "  'fleet': [ { 'name': 'a', 'gpu': 'generic', 'nodes': 1, %s } ],"
    "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
    "  'schedule': { %s }, 'policies': [ { 'name': 'p', 'share': { 'kind': '%s' } } ] }";

#define HEAD "job_id,submit_s,duration_s,gpus,cpus,user,group,class,priority,walltime_s\n"
#define FOUR "'gpus_per_node': 4"

struct want {
    const char *id;
    double start_s; /* NAN: rejected */
};

static void starts(const char *fleet, const char *share, const char *schedule, const char *rows,
                   const struct want *w, size_t n)
{
    char text[1500], trace[3000];
    struct simulated s;
    snprintf(text, sizeof text, frame, fleet, schedule, share);
    snprintf(trace, sizeof trace, "%s%s", HEAD, rows);
    simulate(&s, text, trace);
    for (size_t i = 0; i < n; i++) {
        const struct sim_job *j = sim_job_of(&s, "p", w[i].id);
        if (isnan(w[i].start_s) ? strcmp(j->state, "rejected") != 0
                                : !(fabs(j->start_s - w[i].start_s) < 1e-9))
            fail_msg("{%s}: %s (%s) started at %g s, not %g s", schedule, w[i].id, j->state,
                     j->start_s, w[i].start_s);
    }
    simulated_fini(&s);
}

#define STARTS(fleet, share, schedule, rows, ...)                                                  \
    do {                                                                                           \
        static const struct want want_[] = { __VA_ARGS__ };                                        \
        starts((fleet), (share), (schedule), (rows), want_, sizeof want_ / sizeof *want_);         \
    } while (0)

/* x may have 2 of 4 cards: its third job waits for its first, z comes by; w could never run. */
static void a_hard_quota(void **state)
{
    static const char rows[] = "x1,0,10,1,,,x,,,\nx2,0,20,1,,,x,,,\nx3,1,5,1,,,x,,,\n"
                               "x4,1,5,1,,,x,,,\nz,2,5,1,,,z,,,\nw,3,5,3,,,x,,,\n";
    (void)state;
    STARTS(FOUR, "whole", "'backfill': 'none', 'quotas': {'x': {'gpus': 2}, '*': {'gpus': 4}}",
           rows, { "x1", 0 }, { "x2", 0 }, { "x3", 10 }, { "x4", 15 }, { "z", 2 }, { "w", NAN });
    STARTS(FOUR, "whole", "'backfill': 'greedy', 'quotas': {'x': {'gpus': 2}, '*': {'gpus': 4}}",
           rows, { "x3", 10 }, { "x4", 15 }, { "z", 2 }, { "w", NAN });
    STARTS(FOUR, "whole",
           "'backfill': 'conservative', 'quotas': {'x': {'gpus': 2}, '*': {'gpus': 4}}", rows,
           { "x3", 10 }, { "x4", 15 }, { "z", 2 }, { "w", NAN });
}

/* The quota of x holds up b, and so c behind it, until two cards leave the fleet at 50 s: b is
 * given up then, and c has room. */
static void who_is_given_up_holds_up_nobody(void **state)
{
    (void)state;
    STARTS(FOUR ", 'capacity': [ {'at': '50 s', 'do': 'remove', 'cards': '2..3'} ]", "whole",
           "'backfill': 'none', 'quotas': {'x': {'gpus': 3}}",
           "a,0,200,1,,,x,,,\nb,1,10,3,,,x,,,\nc,2,10,1,,,x,,,\n", { "a", 0 }, { "b", NAN },
           { "c", 50 });
}

/* Shares of a card count as what they are: 0.6 + 0.6 > 1 (USERS.md B46). A user without a group is
 * an account of its own, also when a group has its name. */
static void fractions_and_users(void **state)
{
    (void)state;
    STARTS(FOUR, "intercept", "'quotas': {'*': {'gpus': 1}}",
           "x1,0,10,0.6,,u,,,,\nx2,0,10,0.6,,u,,,,\ny1,0,10,0.6,,v,u,,,\n", { "x1", 0 },
           { "x2", 10 }, { "y1", 0 });
}

/* x has 1 of its own and borrows at most 1 of y's 3, also at 10 s, when y waits for its own: y2
 * gets it when x's jobs end. y3 borrows what x has; x4 could never. */
static void a_cohort_lends(void **state)
{
    (void)state;
    STARTS(
        FOUR, "whole",
        "'backfill': 'none', 'quotas': {'x': {'gpus': 1, 'borrow': 1, 'cohort': 'c'},"
        " 'y': {'gpus': 3, 'cohort': 'c'}}",
        "x1,0,10,1,,,x,,,\nx2,0,20,1,,,x,,,\nx3,0,10,1,,,x,,,\ny1,1,30,2,,,y,,,\ny2,1,30,1,,,y,,,\n"
        "y3,2,5,4,,,y,,,\nx4,2,5,3,,,x,,,\n",
        { "x1", 0 }, { "x2", 0 }, { "y1", 1 }, { "x3", 10 }, { "y2", 20 }, { "y3", 50 },
        { "x4", NAN });
}

struct ran {
    const char *id;
    double start_s, end_s, attempts;
};

static void all_ran(const char *schedule, const char *rows, const struct ran *want, size_t n)
{
    char text[1500], trace[3000];
    struct simulated s;
    snprintf(text, sizeof text, frame, FOUR, schedule, "whole");
    snprintf(trace, sizeof trace, "%s%s", HEAD, rows);
    simulate(&s, text, trace);
    for (size_t k = 0; k < n; k++) {
        const struct sim_job *j = sim_job_of(&s, "p", want[k].id);
        if (!(fabs(j->start_s - want[k].start_s) < 1e-9) ||
            !(fabs(j->end_s - want[k].end_s) < 1e-9) || j->attempts != want[k].attempts)
            fail_msg("%s: %s from %g to %g in %g", schedule, j->id, j->start_s, j->end_s,
                     j->attempts);
    }
    simulated_fini(&s);
}

#define XY "'quotas': {'x': {'gpus': 1, 'cohort': 'c'}, 'y': {'gpus': 3, 'cohort': 'c'}}"

/* x has 1 of its own and borrows 2. y1 takes one back at 10, from x3, which came last, and y2
 * another at 11, from x2. y3 is beyond y's own: it waits until y2 has ended, and goes before x2,
 * which would borrow. x1 is within x's own and stays. */
static void lent_quota_is_taken_back(void **state)
{
    static const char rows[] = "x1,0,100,1,,,x,,,100\nx2,0,100,1,,,x,,,100\nx3,5,100,1,,,x,,,100\n"
                               "y1,10,20,2,,,y,,,20\ny2,11,10,1,,,y,,,10\ny3,12,10,1,,,y,,,10\n";
    static const char *const backfill[] = { "none", "easy", "greedy", "conservative" };
    (void)state;
    STARTS(FOUR, "whole", "'backfill': 'none', " XY, rows, { "y1", 100 });
    for (size_t i = 0; i < 4; i++) {
        static const struct ran want[] = { { "x1", 0, 100, 1 }, { "x2", 0, 119, 2 },
                                           { "x3", 5, 125, 2 }, { "y1", 10, 30, 1 },
                                           { "y2", 11, 21, 1 }, { "y3", 21, 31, 1 } };
        char schedule[300];
        snprintf(schedule, sizeof schedule, "'reclaim': 'always', 'backfill': '%s', " XY,
                 backfill[i]);
        all_ran(schedule, rows, want, sizeof want / sizeof *want);
    }
}

/* y could have x2's quota back, but no second card with it: nobody is stopped in vain. */
static void nothing_is_taken_back_in_vain(void **state)
{
    static const struct ran want[] = { { "x1", 0, 50, 1 },
                                       { "x2", 0, 50, 1 },
                                       { "y", 10 + 40, 70, 1 } };
    (void)state;
    all_ran("'reclaim': 'always', 'backfill': 'greedy', 'quotas': {'x': {'gpus': 1, 'cohort': 'c'},"
            " 'y': {'gpus': 2, 'cohort': 'c'}, 'u': {'gpus': 4}}",
            "u,0,100,2,,,u,,,\nx1,0,50,1,,,x,,,\nx2,0,50,1,,,x,,,\ny,10,20,2,,,y,,,\n", want,
            sizeof want / sizeof *want);
}

/* The head of x waits for cards until 10; its own x3 must leave it the quota, u may go beside
 * it. */
static void easy_keeps_the_heads_quota(void **state)
{
    static const char rows[] = "u1,0,10,3,,,u,,,10\nx1,1,10,2,,,x,,,10\nx2,2,30,1,,,x,,,30\n"
                               "u2,3,30,1,,,u,,,30\n";
    (void)state;
    STARTS(FOUR, "whole", "'quotas': {'x': {'gpus': 2}, 'u': {'gpus': 4}}", rows, { "x1", 10 },
           { "x2", 20 }, { "u2", 3 });
    STARTS(FOUR, "whole", "'quotas': {'x': {'gpus': 3}, 'u': {'gpus': 4}}", rows, { "x1", 10 },
           { "x2", 2 }, { "u2", 10 });
}

/* 9 CPU cores and 18 GPUs; tasks of A take 1 and 4, of B 3 and 1: A gets three, B two. */
static void dominant_shares(void **state)
{
    struct strbuf_like {
        char s[3000];
        size_t n;
    } b = { .n = 0 };
    char text[1500];
    struct simulated s;
    int a = 0, bb = 0;
    (void)state;
    b.n += (size_t)snprintf(b.s, sizeof b.s, "%s", HEAD);
    for (int i = 0; i < 6; i++) /* all of B's come first: order of submission must not matter */
        b.n += (size_t)snprintf(b.s + b.n, sizeof b.s - b.n, "B%d,0,100,1,3,,B,,,\n", i);
    for (int i = 0; i < 6; i++)
        b.n += (size_t)snprintf(b.s + b.n, sizeof b.s - b.n, "A%d,0,100,4,1,,A,,,\n", i);
    snprintf(text, sizeof text, frame, "'gpus_per_node': 18, 'cpu_cores': 9",
             "'order': 'drf', 'backfill': 'none'", "whole");
    simulate(&s, text, b.s);
    for (size_t i = 0; i < s.n_jobs; i++) {
        a += s.job[i].id[0] == 'A' && s.job[i].start_s == 0;
        bb += s.job[i].id[0] == 'B' && s.job[i].start_s == 0;
    }
    assert_int_equal(a, 3);
    assert_int_equal(bb, 2);
    simulated_fini(&s);
}

/* Four cards, all busy until 10. Then with equal weights one each in turn, with 3 : 1 three and
 * one. */
static void weights_of_shares(void **state)
{
    static const char rows[] =
        "u,0,10,4,,,u,,,\nx1,1,50,1,,,x,,,\nx2,1,50,1,,,x,,,\nx3,1,50,1,,,x,,,\n"
        "x4,1,50,1,,,x,,,\ny1,2,50,1,,,y,,,\ny2,2,50,1,,,y,,,\ny3,2,50,1,,,y,,,\n";
    (void)state;
    STARTS(FOUR, "whole", "'order': 'drf', 'backfill': 'none'", rows, { "x1", 10 }, { "x2", 10 },
           { "y1", 10 }, { "y2", 10 }, { "x3", 60 });
    STARTS(FOUR, "whole", "'order': 'drf', 'backfill': 'none', 'weights': {'x': 3}", rows,
           { "x1", 10 }, { "x2", 10 }, { "x3", 10 }, { "y1", 10 }, { "x4", 60 }, { "y2", 60 });
}

/* x used 100 GPU-s until 100, y 30 from 100 to 130: y is first; at a tenth of the weight it is
 * last. */
static void weights_of_use(void **state)
{
    static const char rows[] =
        "x1,0,100,1,,,x,,,\ny1,0,30,1,,,y,,,\nx2,1,10,1,,,x,,,\ny2,2,10,1,,,y,,,\n";
    (void)state;
    STARTS("'gpus_per_node': 1", "whole",
           "'order': 'fair', 'recalculate': '0 s', 'backfill': 'none'", rows, { "x1", 0 },
           { "y1", 100 }, { "y2", 130 }, { "x2", 140 });
    STARTS("'gpus_per_node': 1", "whole",
           "'order': 'fair', 'recalculate': '0 s', 'backfill': 'none', 'weights': {'y': 0.1}", rows,
           { "y1", 100 }, { "x2", 130 }, { "y2", 140 });
}

/* A number beats the class, a class beats none. */
static void classes(void **state)
{
    static const char rows[] = "a,0,10,4,,,,,,\nb,1,10,4,,,,,,\nc,1,10,4,,,,training,,\n"
                               "d,1,10,4,,,,inference,,\ne,1,10,4,,,,training,70,\n";
    (void)state;
    STARTS(FOUR, "whole",
           "'order': 'priority', 'backfill': 'none', 'classes': {'inference': 100, 'training': -5}",
           rows, { "d", 10 }, { "e", 20 }, { "b", 30 }, { "c", 40 });
    STARTS(FOUR, "whole",
           "'order': 'priority', 'backfill': 'none', 'preempt': 'always',"
           " 'classes': {'inference': 100, 'training': -5}",
           rows, { "a", 0 }, { "d", 1 }, { "e", 11 }, { "b", 30 }, { "c", 40 });
}

static void contradictions(void **state)
{
    static const struct {
        const char *schedule, *says;
    } bad[] = {
        { "'quotas': {'x': {'gpus': 5}}", "at most the 4 cards" },
        { "'quotas': {'x': {'gpus': 1, 'borrow': 1}}", "needs a \"cohort\"" },
        { "'quotas': {'x': {'gpus': 1, 'cohort': 'c'}}", "no other member" },
        { "'quotas': {'*': {'gpus': 1, 'cohort': 'c'}}", "stands for many" },
        { "'quotas': {'x': {'gpus': 3, 'cohort': 'c'}, 'y': {'gpus': 2, 'cohort': 'c'}}",
          "together" },
        { "'quotas': {'x': {'gpus': 3, 'cohort': 'c', 'borrow': 2}, 'y': {'gpus': 1, 'cohort': 'c'}}",
          "at most the 1 GPUs of the others" },
        { "'quotas': {'x': {'gpu': 1}}", "gpus" },
        { "'quotas': 3", "expected an object" },
        { "'reclaim': 'always'", "lends anything" },
        { "'reclaim': 'always', 'quotas': {'x': {'gpus': 1}}", "lends anything" },
        { "'reclaim': 'always', 'order': 'las', 'backfill': 'greedy', " XY, "the order preempts" },
        { "'reclaim': 'always', 'order': 'drf', 'backfill': 'greedy', " XY, "ranks groups" },
        { "'reclaim': 'always', 'backfill': 'none', 'when_full': 'drop', " XY, "need a queue" },
        { "'reclaim': 'often', " XY, "reclaim" },
        { "'order': 'drf', 'backfill': 'none', 'preempt': 'always'", "stops nobody" },
        { "'weights': {'x': 2}", "fair or drf" },
        { "'order': 'fair', 'weights': {'x': -1}", "above 0" },
        { "'order': 'priority', 'classes': {'infrence': 1}", "no class" },
        { "'order': 'priority', 'classes': {'dev': 'high'}", "whole number" },
        { "'order': 'priority', 'classes': []", "an object" },
    };
    char text[1500], said[900];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, frame, FOUR, bad[i].schedule, "whole");
        if (sim_problems(text, HEAD "a,0,1,1,,,,,,\n", NULL, said, sizeof said) == 0)
            fail_msg("{%s} is taken", bad[i].schedule);
        if (!strstr(said, bad[i].says))
            fail_msg("{%s}: no '%s' in '%s'", bad[i].schedule, bad[i].says, said);
    }
}

/* A group without a quota is a mistake of the trace or of the scenario: file, line and the near
 * name. */
static void unknown_group(void **state)
{
    static const struct {
        const char *row, *says;
    } bad[] = {
        { "b,0,1,1,,u,researhc,,,\n", "did you mean \"research\"?" },
        { "b,0,1,1,,zebra,,,,\n", "no quota for \"zebra\"" },
        { "b,0,1,1,,,,,,\n", "neither group nor user" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[1500], trace[500];
        struct runner r;
        struct sim_totals totals;
        struct err e = { 0 };
        snprintf(text, sizeof text, frame, FOUR, "'quotas': {'research': {'gpus': 1}}", "whole");
        snprintf(trace, sizeof trace, "%sa,0,1,1,,,research,,,\n%s", HEAD, bad[i].row);
        sim_load(&r, sim_write(text, trace, NULL));
        const struct sim_options opt = { 0 };
        assert_int_equal(sim_run(&r.plan[0], &opt, &totals, &e), ERR_INPUT);
        assert_contains(e.where, "trace.csv:3");
        assert_contains(e.msg, bad[i].says);
        runner_fini(&r);
    }
}

/* A quota that no job came for is perhaps a name written wrong; "*" is no name, a job without
 * room has come. */
static void quotas_that_nobody_came_for(void **state)
{
    char text[1500], said[400];
    struct runner r;
    (void)state;
    snprintf(text, sizeof text, frame, FOUR,
             "'quotas': {'research': {'gpus': 1}, 'visoin': {'gpus': 1}, 'u': {'gpus': 1},"
             " '*': {'gpus': 1}}",
             "whole");
    sim_load(&r, sim_write(text, HEAD "a,0,1,1,,,research,,,\n", NULL));
    struct symtab *names = symtab_create();
    struct accounts *a = accounts_create(&r.plan[0].accounts, names);
    const struct job_row row[] = { { .group = symtab_addz(names, "research") },
                                   { .group = symtab_addz(names, "vision") },
                                   { .user = symtab_addz(names, "u") } };
    for (size_t i = 0; i < 3; i++) {
        assert_contains(accounts_unmet(a, said, sizeof said), "visoin");
        assert_null(accounts_unknown(a, &row[i], said, sizeof said));
    }
    assert_contains(accounts_unmet(a, said, sizeof said), "quotas of visoin: ");
    const struct job_row last = { .group = symtab_addz(names, "visoin") };
    assert_null(accounts_unknown(a, &last, said, sizeof said));
    assert_null(accounts_unmet(a, said, sizeof said));
    accounts_destroy(a);
    symtab_destroy(names);
    runner_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hard_quota),
        cmocka_unit_test(who_is_given_up_holds_up_nobody),
        cmocka_unit_test(fractions_and_users),
        cmocka_unit_test(lent_quota_is_taken_back),
        cmocka_unit_test(nothing_is_taken_back_in_vain),
        cmocka_unit_test(a_cohort_lends),
        cmocka_unit_test(easy_keeps_the_heads_quota),
        cmocka_unit_test(dominant_shares),
        cmocka_unit_test(weights_of_shares),
        cmocka_unit_test(weights_of_use),
        cmocka_unit_test(classes),
        cmocka_unit_test(contradictions),
        cmocka_unit_test(unknown_group),
        cmocka_unit_test(quotas_that_nobody_came_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
