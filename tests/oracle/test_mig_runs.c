/* MIG cards over time, end to end, with answers worked out by hand: planned layouts against those
 * made on demand, what a mode change waits for (X02), several slices for one process (X01).
 *
 * On an A100-40GB a request for 1/8 takes a 1g.5gb (starts 0 to 6), one for 1/2 a 3g.20gb (0 and
 * 4). With the start rule "lowest" a 3g that comes first sits at 0 and leaves room for three 1g; a
 * plan that knows what comes puts it at 4, beside four. */
#include "support/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCHEDULED(cards, policies, schedule)                                                       \
    "{'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [{'name': 'f', 'gpu': "                 \
    "'a100-sxm4-40gb', 'nodes': 1, 'gpus_per_node': " #cards "}],"                                 \
    " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"                              \
    " 'profiles': {'host': {'host': 1, 'compute': 0}},"                                            \
    " 'schedule': {" schedule "},"                                                                 \
    " 'policies': [{'name': 'dynamic', 'share': {'kind': 'mig', 'repartition': '10 s',"            \
    " 'mode_change': '20 s'}}" policies "]}"
#define SCENARIO(cards, policies, more) SCHEDULED(cards, policies, "'backfill': 'greedy'" more)
#define PLANNED(name, more)                                                                        \
    ", {'name': '" name "', 'share': {'kind': 'mig', 'layout': 'planned', 'repartition': '10 s',"  \
    " 'mode_change': '20 s'" more "}}"
#define HEAD "job_id,submit_s,duration_s,gpus,profile\n"

static const double tick = 1.5e-9;

/* Host work runs at full speed on any slice, so times are plain sums. */
static void at(const struct simulated *s, const char *policy, const char *id, double start_s,
               double end_s, const char *cards)
{
    const struct sim_job *j = sim_job_of(s, policy, id);
    if (strcmp(j->state, "completed") != 0) fail_msg("%s: %s is %s", policy, id, j->state);
    if (fabs(j->start_s - start_s) > tick || fabs(j->end_s - end_s) > tick)
        fail_msg("%s: %s runs from %.9f to %.9f, expected %.9f to %.9f", policy, id, j->start_s,
                 j->end_s, start_s, end_s);
    if (cards && strcmp(j->cards, cards) != 0)
        fail_msg("%s: %s is on %s, expected %s", policy, id, j->cards, cards);
}

static void a_plan_knows_where(void **state)
{
    (void)state;
    struct simulated s;
    simulate(&s, SCENARIO(1, PLANNED("oracle", ", 'period': '2 h', 'forecast': 'oracle'"), ""),
             HEAD "half,100,7000,0.5,host\n"
                  "a,200,7000,0.125,host\n"
                  "b,200,7000,0.125,host\n"
                  "c,200,7000,0.125,host\n"
                  "d,200,7000,0.125,host\n");
    /* on demand: each waits for its instance, the fourth 1g for the first one's end */
    at(&s, "dynamic", "half", 110, 7110, "f.0.0:3g.20gb@0");
    at(&s, "dynamic", "a", 210, 7210, "f.0.0:1g.5gb@4");
    at(&s, "dynamic", "c", 210, 7210, "f.0.0:1g.5gb@6");
    at(&s, "dynamic", "d", 7110 + 10, 7120 + 7000, "f.0.0:1g.5gb@0");
    /* planned at 0, made by 10 */
    at(&s, "oracle", "half", 100, 7100, "f.0.0:3g.20gb@4");
    at(&s, "oracle", "a", 200, 7200, "f.0.0:1g.5gb@0");
    at(&s, "oracle", "d", 200, 7200, "f.0.0:1g.5gb@3");
    simulated_fini(&s);
}

/* What comes while instances are being made waits for them; two hours later the past repeats
 * itself. */
static void the_last_period_is_the_forecast(void **state)
{
    (void)state;
    struct simulated s;
    simulate(&s, SCENARIO(1, PLANNED("last", ", 'period': '2 h'"), ""),
             HEAD "half,100,7000,0.5,host\n"
                  "a,200,6900,0.125,host\n"
                  "half2,7205,6000,0.5,host\n"
                  "a2,7300,6000,0.125,host\n"
                  "b2,7300,6000,0.125,host\n"
                  "c2,7300,6000,0.125,host\n"
                  "d2,7300,6000,0.125,host\n");
    at(&s, "last", "half", 110, 7110, "f.0.0:3g.20gb@0"); /* no past yet: on demand */
    at(&s, "last", "a", 210, 7110, "f.0.0:1g.5gb@4");
    at(&s, "last", "half2", 7210, 13210, "f.0.0:3g.20gb@4"); /* planned at 7200, there at 7210 */
    at(&s, "last", "a2", 7300, 13300, "f.0.0:1g.5gb@0");     /* the forecast had one of these */
    at(&s, "last", "d2", 7310, 13310, "f.0.0:1g.5gb@3");     /* on demand, in what was left open */
    at(&s, "dynamic", "d2", 13205 + 10, 19215, NULL);
    simulated_fini(&s);
}

/* A plan waits for nobody and moves nobody: what runs stays, and the rest is planned around it. The
 * head of a strict queue is not held up by a forecast of more valuable work for longer than a
 * period. */
static void running_jobs_stay_and_the_head_is_served(void **state)
{
    (void)state;
    struct simulated s;
    simulate(&s,
             SCENARIO(1, PLANNED("oracle", ", 'period': '1 h', 'forecast': 'oracle'"),
                      ", 'order': 'fifo'"),
             HEAD "long,0,10000,0.125,host\n"
                  "all,10,1000,0.9,host\n" /* 7g: only when `long` is gone */
                  "x1,20,3000,0.125,host\n"
                  "x2,20,3000,0.125,host\n"
                  "y1,3700,3000,0.125,host\n"
                  "y2,7300,3000,0.125,host\n"
                  "y3,10900,300,0.125,host\n");
    const struct sim_job *l = sim_job_of(&s, "oracle", "long");
    assert_close(l->end_s - l->start_s, 10000, 1e-12);
    assert_int_equal(l->attempts, 1);
    for (size_t i = 0; i < s.n_jobs; i++) assert_string_equal(s.job[i].state, "completed");
    simulated_fini(&s);
    simulate(
        &s,
        "{'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [{'name': 'f', 'gpu': 'a30', 'gpus_per_node': 1}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
        " 'schedule': {'backfill': 'none'}, 'profiles': {'host': {'host': 1, 'compute': 0}},"
        " 'policies': [{'name': 'p', 'share': {'kind': 'mig', 'layout': 'planned',"
        " 'period': '10 min', 'forecast': 'oracle', 'repartition': '10 s',"
        " 'mode_change': '20 s'}}]}",
        HEAD "all,300,5,0.9,host\n" /* worth nothing beside what the plan of 0 expects */
             "a,400,500,0.25,host\nb,401,500,0.25,host\nc,402,500,0.25,host\n"
             "d,403,500,0.25,host\ne,404,500,0.25,host\nf,405,500,0.25,host\n");
    at(&s, "p", "all", 610, 615, "f.0.0:4g.24gb@0");
    for (size_t i = 0; i < s.n_jobs; i++) assert_string_equal(s.job[i].state, "completed");
    simulated_fini(&s);
}

/* The head of a strict queue gets its instance however short its job is and whatever waits behind
 * it; and where each user has a turn, the first of all before the first of another. Both runs did
 * not end: instances that were planned for others were kept, and those waited behind the head. */
static void a_plan_never_shuts_out_the_head(void **state)
{
    struct simulated s;
    (void)state;
    simulate(&s, SCHEDULED(1, PLANNED("p", ", 'period': '1 h'"), "'backfill': 'none'"),
             HEAD "a,0,4000,0.125,host\nall,10,1,0.9,host\n"
                  "b,20,9000,0.125,host\nc,20,9000,0.125,host\nd,20,9000,0.125,host\n"
                  "e,20,9000,0.125,host\nf,20,9000,0.125,host\ng,20,9000,0.125,host\n");
    /* `a` was still there as layouts were planned at 3600 */
    at(&s, "p", "all", 7200 + 10, 7211, "f.0.0:7g.40gb@0");
    simulated_fini(&s);
    simulate(&s,
             SCHEDULED(1, PLANNED("p", ", 'period': '100 s'"),
                       "'order': 'fair', 'half_life': '1 h', 'backfill': 'none'"),
             "job_id,submit_s,duration_s,gpus,profile,user\n"
             "a,0,150,0.5,host,u\nb,10,500,0.9,host,v\nc,20,500,0.25,host,u\n");
    for (size_t i = 0; i < s.n_jobs; i++) assert_string_equal(s.job[i].state, "completed");
    simulated_fini(&s);
}

/* EASY tries the head on a copy of the fleet, where `whole` destroys the instances of card 0. Later
 * `two` has no room before `whole` ends, by 1420: what is free of card 0 is kept by the plan. So
 * `brief`, done by 1310, may go before it. */
static void what_a_reservation_destroys_is_still_there(void **state)
{
    struct simulated s;
    (void)state;
    simulate(&s, SCHEDULED(2, PLANNED("p", ", 'period': '1000 s'"), "'backfill': 'easy'"),
             "job_id,submit_s,duration_s,gpus,profile,walltime_s\n"
             "past1,0,900,0.5,host,900\npast2,0,900,0.5,host,900\n"
             "a,1050,900,0.5,host,900\nx,1050,100,1,host,950\n"
             "cpu,1100,200,0,host,200\n"
             "whole,1110,200,1,host,250\nlate,1111,5,0.5,host,2000\n"
             "two,1200,50,0.25,host,50\nbrief,1250,60,0.5,host,60\n");
    at(&s, "p", "a", 1050, 1950, "f.0.0:3g.20gb@0");
    at(&s, "p", "whole", 1170, 1370, "f.0.1");
    at(&s, "p", "brief", 1250, 1310, "f.0.0:3g.20gb@4");
    at(&s, "p", "two", 1370 + 30, 1450, "f.0.1:1g.10gb@0");
    simulated_fini(&s);
}

/* `both` waits for nothing but the instance that is made on card 0 until 1030, and nobody may delay
 * it until an end that is promised later. */
static void what_is_being_made_will_be_there(void **state)
{
    struct simulated s;
    (void)state;
    static const char rows[] = "job_id,submit_s,duration_s,gpus,profile,walltime_s,group\n"
                               "past,100,100,0.5,host,900,x\n"
                               "turns_mig_off,300,100,2,host,900,x\n"
                               "cpu,900,1000,0,host,1000,x\n"
                               "both,1002,100,2,host,900,x\nslice,1003,500,0.25,host,500,y\n";
    static const char *const scenarios[] = {
        SCHEDULED(2, PLANNED("p", ", 'period': '1000 s'"), "'backfill': 'easy'"),
        /* where lent quota would be taken back; nobody borrows */
        "{'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [{'name': 'f', 'gpu': "
        "'a100-sxm4-40gb', 'nodes': 1, 'gpus_per_node': 3,"
        " 'capacity': [{'at': '1 s', 'do': 'remove', 'nodes': '0', 'cards': '2'}]}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
        " 'profiles': {'host': {'host': 1, 'compute': 0}},"
        " 'schedule': {'backfill': 'easy', 'reclaim': 'always', 'quotas': {"
        "'x': {'gpus': 2, 'cohort': 'c'}, 'y': {'gpus': 1, 'cohort': 'c'}}},"
        " 'policies': [{'name': 'p', 'share': {'kind': 'mig', 'layout': 'planned',"
        " 'period': '1000 s', 'repartition': '10 s', 'mode_change': '20 s'}}]}",
    };
    for (size_t i = 0; i < 2; i++) {
        simulate(&s, scenarios[i], rows);
        at(&s, "p", "both", 1030 + 20, 1150, "f.0.0 f.0.1");
        at(&s, "p", "slice", 1150 + 30, 1680, NULL);
        simulated_fini(&s);
    }
}

/* An elastic job that grows pays for MIG going off on card 0, though its next size was tried there
 * before the one it gets. */
static void growing_waits_for_mig_to_go_off(void **state)
{
    struct simulated s;
    (void)state;
    simulate(&s,
             "{'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [{'name': 'f', 'gpu': "
             "'a100-sxm4-40gb', 'nodes': 2, 'gpus_per_node': 2}],"
             " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
             " 'schedule': {'elastic': 'resize'}, 'profiles': {'host': {'host': 1, 'compute': 0}},"
             " 'policies': [{'name': 'p', 'share': {'kind': 'mig', 'repartition': '10 s',"
             " 'mode_change': '20 s'}}]}",
             "job_id,submit_s,duration_s,gpus,profile,min_gpus,max_gpus\n"
             "slice,0,90,0.9,host,,\nwhole,0,80,1,host,,\ngrows,0,1000,2,host,2,4\n");
    at(&s, "p", "slice", 10, 100, "f.0.0:7g.40gb@0");
    at(&s, "p", "whole", 20, 100, "f.0.1");
    /* on two cards until 100; the rest on four */
    at(&s, "p", "grows", 20, 100 + 20 + (1000 - 80) / 2.0, "f.0.0 f.0.1 f.1.0 f.1.1");
    simulated_fini(&s);
}

/* At 2000 `struck`, on 3g.20gb@0 of card 1, has 5 s of work left but starts up until 2890; so what
 * `big` needs for 300 s is 3g.20gb@4, free from 2005 on, and `small` does not get its units. */
static void start_ups_count_for_a_plan(void **state)
{
    struct simulated s;
    (void)state;
    simulate(
        &s,
        "{'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [{'name': 'f', 'gpu': "
        "'a100-sxm4-40gb', 'nodes': 1, 'gpus_per_node': 2,"
        " 'capacity': [{'at': '1990 s', 'do': 'fail', 'nodes': '0', 'cards': '0'}]}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
        " 'schedule': {'backfill': 'greedy', 'restart': '900 s', 'checkpoint': '10 s'},"
        " 'profiles': {'host': {'host': 1, 'compute': 0}},"
        " 'policies': [{'name': 'p', 'share': {'kind': 'mig', 'layout': 'planned',"
        " 'period': '1000 s', 'repartition': '10 s', 'mode_change': '20 s', 'start': 'highest'}}]}",
        HEAD "struck,0,1985,0.5,host\nbeside,0,100,0.5,host\nkept,50,1945,0.5,host\n"
             "small,1992,100,0.25,host\nbig,1995,300,0.5,host\n");
    at(&s, "p", "kept", 60, 2005, "f.0.1:3g.20gb@4");
    at(&s, "p", "struck", 10, 2890 + 5, "f.0.1:3g.20gb@0");
    at(&s, "p", "big", 2005, 2305, "f.0.1:3g.20gb@4");
    simulated_fini(&s);
}

/* On two cards the forecast for 1000 is 200 s of slices, worth half a card, and what `grows` asks
 * for: 1400 s of whole cards, which leave no card for an instance. (Its smallest size would.) */
static void elastic_jobs_count_as_what_they_ask_for(void **state)
{
    struct simulated s;
    (void)state;
    simulate(&s,
             SCHEDULED(2, PLANNED("p", ", 'period': '1000 s'"),
                       "'backfill': 'greedy', 'elastic': 'start'"),
             "job_id,submit_s,duration_s,gpus,profile,min_gpus,max_gpus\n"
             "past1,0,100,0.5,host,,\npast2,0,100,0.5,host,,\n"
             "grows,200,700,2,host,1,2\nslice,1100,100,0.5,host,,\n");
    at(&s, "p", "grows", 220, 920, "f.0.0 f.0.1");
    at(&s, "p", "slice", 1100 + 30, 1230, "f.0.0:3g.20gb@0");
    simulated_fini(&s);
}

/* Of two cards one has left. The forecast for 1000 is 300 s of slices, worth 150 s of a card, and
 * the 100 s of `whole`; not the 1800 s of `gone`, which nothing can serve any more. */
static void nobody_plans_for_what_no_card_will_serve(void **state)
{
    struct simulated s;
    (void)state;
    simulate(&s,
             "{'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [{'name': 'f', 'gpu': "
             "'a100-sxm4-40gb', 'nodes': 1, 'gpus_per_node': 2,"
             " 'capacity': [{'at': '5 s', 'do': 'remove', 'nodes': '0', 'cards': '1'}]}],"
             " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
             " 'schedule': {'backfill': 'greedy'}, 'profiles': {'host': {'host': 1, 'compute': 0}},"
             " 'policies': [{'name': 'p', 'share': {'kind': 'mig', 'layout': 'planned',"
             " 'period': '1000 s', 'repartition': '10 s', 'mode_change': '20 s'}}]}",
             HEAD "past1,10,150,0.5,host\npast2,10,150,0.5,host\nwhole,300,100,1,host\n"
                  "gone,500,900,2,host\nslice,1100,100,0.5,host\n");
    assert_string_equal(sim_job_of(&s, "p", "gone")->state, "rejected");
    at(&s, "p", "whole", 320, 420, "f.0.0");
    at(&s, "p", "slice", 1100, 1200, NULL); /* planned at 1000, made by 1030 */
    simulated_fini(&s);
}

/* From 400 on `head` is tried in vain on card 0, over the instances that free1 and free2 have left:
 * u1, u2 and u3, which need two units each, have no other place. At 1010 m1 and m2 make room on
 * card 1, and those instances are still there for them. */
static void what_moves_try_in_vain_is_still_there(void **state)
{
    struct simulated s;
    (void)state;
    simulate(&s,
             SCHEDULED(3, "", "'backfill': 'none', 'migrate': 'defrag', 'migrate_pause': '10 s'"),
             HEAD "u1,0,10000,0.25,host\nfree1,1,200,0.125,host\nu2,2,10000,0.25,host\n"
                  "u3,3,10000,0.25,host\nfree2,4,200,0.125,host\n"
                  "b1,5,10000,0.25,host\nb2,6,10000,0.25,host\nm1,7,10000,0.125,host\n"
                  "y,8,992,0.125,host\nm2,9,10000,0.125,host\n"
                  "free3,10,200,0.125,host\nc1,10,10000,0.125,host\nc2,10,10000,0.125,host\n"
                  "c3,10,10000,0.125,host\nc4,10,10000,0.125,host\nc5,10,10000,0.125,host\n"
                  "c6,10,10000,0.125,host\nhead,400,100,0.5,host\n");
    at(&s, "dynamic", "free1", 11, 211, "f.0.0:1g.5gb@2");
    at(&s, "dynamic", "free2", 14, 214, "f.0.0:1g.5gb@3");
    at(&s, "dynamic", "free3", 20, 220, "f.0.2:1g.5gb@0");
    at(&s, "dynamic", "y", 18, 1010, "f.0.1:1g.5gb@5");
    at(&s, "dynamic", "head", 1010 + 10, 1120, "f.0.1:3g.20gb@4");
    at(&s, "dynamic", "m1", 17, 10017 + 10, "f.0.0:1g.5gb@2");
    at(&s, "dynamic", "m2", 19, 10019 + 10, "f.0.0:1g.5gb@3");
    simulated_fini(&s);
}

/* X02: whole jobs need MIG off, and MIG goes off only on an empty card; slices are carved around
 * those that run. */
static void mode_change_needs_an_empty_card(void **state)
{
    (void)state;
    struct simulated s;
    simulate(&s, SCENARIO(1, PLANNED("planned", ", 'period': '1 h'"), ""),
             HEAD "slice,0,7200,0.125,host\n"
                  "whole,60,100,1,host\n"
                  "other,70,100,0.5,host\n"
                  "after,7400,50,0.125,host\n");
    static const char *const policies[] = { "dynamic", "planned" };
    for (size_t p = 0; p < 2; p++) {
        at(&s, policies[p], "slice", 10, 7210, "f.0.0:1g.5gb@0");
        at(&s, policies[p], "other", 80, 180, "f.0.0:3g.20gb@4");
        at(&s, policies[p], "whole", 7210 + 20, 7330, "f.0.0");
        at(&s, policies[p], "after", 7400 + 20 + 10, 7480, "f.0.0:1g.5gb@0");
    }
    simulated_fini(&s);
}

/* X01: two slices do not make one device. One process sees one of them, so a request for several is
 * refused, whatever the layout, and memory is never added up. */
static void several_slices_for_one_process(void **state)
{
    (void)state;
    struct simulated s;
    simulate(&s,
             SCENARIO(2,
                      PLANNED("planned", "") ", {'name': 'static', 'share': {'kind': 'mig', "
                                             "'layout': 'static', 'slices': ['3g.20gb', "
                                             "'3g.20gb']}}",
                      ""),
             "job_id,submit_s,duration_s,gpus,slots,gpu_mem_bytes\n"
             "two,0,100,0.5,2,10000000000\n"
             "large,0,100,0.5,1,30000000000\n" /* in both slices together, in none alone */
             "one,0,100,0.5,1,10000000000\n");
    static const char *const policies[] = { "dynamic", "planned", "static" };
    for (size_t p = 0; p < 3; p++) {
        const struct sim_job *j = sim_job_of(&s, policies[p], "two");
        assert_string_equal(j->state, "rejected");
        assert_contains(j->reason, "never make one device");
        assert_string_equal(sim_job_of(&s, policies[p], "one")->state, "completed");
        j = sim_job_of(&s, policies[p], "large");
        if (p == 2) {
            assert_string_equal(j->state, "rejected");
            assert_contains(j->reason, "no slice that is large enough");
        } else {
            assert_contains(j->cards, "7g.40gb@0");
        }
    }
    simulated_fini(&s);
}

/* Both published ways, by name: a direct call 12 s, the GPU operator 113 s; and each as it is
 * known. */
static void who_repartitions(void **state)
{
    (void)state;
    struct simulated s;
    simulate(&s,
             SCENARIO(1,
                      ", {'name': 'unset', 'share': {'kind': 'mig'}}, {'name': 'direct', 'share': "
                      "{'kind': 'mig', 'via': 'direct'}}, {'name': 'operator', 'share': {'kind': "
                      "'mig', 'via': 'operator'}}",
                      ""),
             HEAD "a,0,100,0.125,host\n");
    at(&s, "dynamic", "a", 10, 110, NULL);
    at(&s, "unset", "a", 12, 112, NULL);
    at(&s, "direct", "a", 12, 112, NULL);
    at(&s, "operator", "a", 113, 213, NULL);
    static const char *const used[] = { "mig.repartition_s", "mig.repartition_s",
                                        "mig.repartition_s", "mig.operator_s" };
    for (size_t i = 0; i < s.run.result.n_policies; i++) {
        const struct plan *p = &s.run.plan[i];
        int found = 0;
        for (size_t k = 0; k < p->n_params; k++) {
            if (strcmp(p->param[k].name, "mig.repartition_s") != 0 &&
                strcmp(p->param[k].name, "mig.operator_s") != 0)
                continue;
            assert_string_equal(p->param[k].name, used[i]);
            assert_string_equal(p->param[k].provenance, i == 0 ? "assumed" : "published");
            found++;
        }
        assert_int_equal(found, 1);
    }
    simulated_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_knows_where),
        cmocka_unit_test(the_last_period_is_the_forecast),
        cmocka_unit_test(running_jobs_stay_and_the_head_is_served),
        cmocka_unit_test(a_plan_never_shuts_out_the_head),
        cmocka_unit_test(what_a_reservation_destroys_is_still_there),
        cmocka_unit_test(what_is_being_made_will_be_there),
        cmocka_unit_test(growing_waits_for_mig_to_go_off),
        cmocka_unit_test(start_ups_count_for_a_plan),
        cmocka_unit_test(elastic_jobs_count_as_what_they_ask_for),
        cmocka_unit_test(nobody_plans_for_what_no_card_will_serve),
        cmocka_unit_test(what_moves_try_in_vain_is_still_there),
        cmocka_unit_test(mode_change_needs_an_empty_card),
        cmocka_unit_test(several_slices_for_one_process),
        cmocka_unit_test(who_repartitions),
    };
    return cmocka_run_group_tests_name("MIG over time", tests, NULL, NULL);
}
