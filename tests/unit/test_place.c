/* Placements that weigh nodes, by hand: A10 and B43 of the users' list, and against a plain scan of
 * every card of every node (support/place_scan.h) on random work with departures.
 *
 * Mutants (tests/run_mutants.sh): pack-and-spread-swapped, change-of-a-node-unnoticed,
 * fragments-without-cpus. */
#include "support/simulate.h"

#include "engine/cluster.h"
#include "support/place_scan.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENARIO(fleet, places)                                                                    \
    "{'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [" fleet "],"                           \
    " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"                              \
    " 'policies': [" places "]}"
#define PLACE(name, share)                                                                         \
    "{'name': '" name "', 'share': {" share "}, 'schedule': {'backfill': 'none', 'place': '" name  \
    "'}}"
#define FLEET(nodes, per)                                                                          \
    "{'name': 'f', 'gpu': 'a100-sxm4-80gb', 'nodes': " #nodes ", 'gpus_per_node': " #per "}"
#define HALVES "'kind': 'intercept'"
#define SLOTS  "'kind': 'timeslice', 'slots': 4"

/* ---- A10: eight cards are free, why does my job of eight wait? ---- */

static void a10_eight_free(void **state)
{
    (void)state;
    struct simulated s;
    char trace[2000] = "job_id,submit_s,duration_s,gpus\n";
    for (int i = 0; i < 24; i++) snprintf(trace + strlen(trace), 60, "one%d,0,36000,1\n", i);
    strcat(trace, "eight,3600,3600,8\n");
    simulate(&s,
             SCENARIO(FLEET(4, 8),
                      PLACE("pack", "'kind': 'whole'") "," PLACE("spread", "'kind': 'whole'")),
             trace);
    assert_close(sim_job_of(&s, "spread", "eight")->wait_s, 9 * 3600, 1e-12);
    assert_close(sim_job_of(&s, "pack", "eight")->wait_s, 0, 1e-12);
    /* spread goes around; pack fills the first node */
    assert_string_equal(sim_job_of(&s, "spread", "one0")->cards, "f.0.0");
    assert_string_equal(sim_job_of(&s, "spread", "one5")->cards, "f.1.1");
    assert_string_equal(sim_job_of(&s, "pack", "one5")->cards, "f.0.5");
    assert_string_equal(sim_job_of(&s, "pack", "one23")->cards, "f.2.7");
    simulated_fini(&s);
    /* A gang that may lie anywhere need not wait. */
    simulate(
        &s,
        SCENARIO(FLEET(4, 8),
                 "{'name': 'spread', 'share': {'kind': 'whole'}, 'schedule': {'backfill': 'none',"
                 " 'place': 'spread', 'gang': 'any'}}"),
        trace);
    assert_close(sim_job_of(&s, "spread", "eight")->wait_s, 0, 1e-12);
    simulated_fini(&s);
}

/* ---- B43: two cards, two pods ---- */

static void b43_two_cards_two_pods(void **state)
{
    (void)state;
    struct simulated s;
    const char *two = "job_id,submit_s,duration_s,gpus\na,0,100,0.385\nb,1,100,0.385\n";
    /* two cards of one node, then one card on each of two nodes */
    simulate(&s, SCENARIO(FLEET(1, 2), PLACE("pack", HALVES) "," PLACE("spread", HALVES)), two);
    assert_string_equal(sim_job_of(&s, "pack", "a")->cards, sim_job_of(&s, "pack", "b")->cards);
    assert_string_equal(sim_job_of(&s, "spread", "a")->cards, "f.0.0");
    assert_string_equal(sim_job_of(&s, "spread", "b")->cards, "f.0.1");
    simulated_fini(&s);
    simulate(&s, SCENARIO(FLEET(2, 1), PLACE("pack", HALVES) "," PLACE("spread", HALVES)), two);
    assert_string_equal(sim_job_of(&s, "pack", "b")->cards, "f.0.0");
    assert_string_equal(sim_job_of(&s, "spread", "b")->cards, "f.1.0");
    simulated_fini(&s);
}

/* ---- a gang of slots goes where its node's cards are emptiest, when its placement keeps
 * neighbours apart ---- */

static void a_gang_of_slots_by_load(void **state)
{
    (void)state;
    struct simulated s;
    const char *trace = "job_id,submit_s,duration_s,gpus\na,0,1000,1\nb,0,1000,1\n"
                        "two,10,100,2\nthree,20,100,3\n";
    simulate(&s,
             SCENARIO(FLEET(1, 4), PLACE("spread", SLOTS) "," PLACE("worst_fit", SLOTS) "," PLACE(
                                       "best_fit", SLOTS)),
             trace);
    for (const char *const *p = (const char *const[]){ "spread", "worst_fit", NULL }; *p; p++) {
        assert_string_equal(sim_job_of(&s, *p, "b")->cards, "f.0.1");
        assert_string_equal(sim_job_of(&s, *p, "two")->cards, "f.0.2 f.0.3");
        assert_string_equal(sim_job_of(&s, *p, "three")->cards, "f.0.0 f.0.1 f.0.2");
    }
    assert_string_equal(sim_job_of(&s, "best_fit", "two")->cards, "f.0.0 f.0.1");
    simulated_fini(&s);
}

/* The same for one that EASY puts before the head. Of sixteen singles four stay on card 0, three
 * on 1, one each on 2 and 3; four, the head, waits for card 0, and the short gang is done by
 * then. */
static void a_short_gang_of_slots_by_load(void **state)
{
    static const int seconds[] = { 100, 10,   1000, 1000, 100, 1000, 10, 10,
                                   100, 1000, 10,   10,   100, 1000, 10, 10 };
    struct simulated s;
    char trace[2000] = "job_id,submit_s,duration_s,gpus,walltime_s\n";
    (void)state;
    for (int i = 0; i < 16; i++)
        snprintf(trace + strlen(trace), 60, "s%d,0,%d,1,%d\n", i, seconds[i], 5 * seconds[i]);
    strcat(trace, "four,100,50,4,1000\ntwo,110,10,2,100\n");
    simulate(&s,
             SCENARIO(FLEET(1, 4), "{'name': 'spread', 'share': {" SLOTS
                                   "}, 'schedule': {'backfill': 'easy', 'place': 'spread'}},"
                                   "{'name': 'worst_fit', 'share': {" SLOTS
                                   "}, 'schedule': {'backfill': 'easy', 'place': 'worst_fit'}}"),
             trace);
    for (const char *const *p = (const char *const[]){ "spread", "worst_fit", NULL }; *p; p++) {
        assert_string_equal(sim_job_of(&s, *p, "s13")->cards, "f.0.1");
        assert_true(sim_job_of(&s, *p, "four")->wait_s > 100);
        assert_close(sim_job_of(&s, *p, "two")->wait_s, 0, 1e-12);
        assert_string_equal(sim_job_of(&s, *p, "two")->cards, "f.0.2 f.0.3");
    }
    simulated_fini(&s);
}

static void unknown_place_is_an_error(void **state)
{
    (void)state;
    char said[600];
    const size_t n =
        sim_problems(SCENARIO(FLEET(1, 2), PLACE("binpack", HALVES)),
                     "job_id,submit_s,duration_s,gpus\na,0,1,1\n", NULL, said, sizeof said);
    assert_int_equal(n, 1);
    assert_contains(said, "expected a placement, found \"binpack\"");
}

/* The node counts before the card: best_fit takes the fullest card anywhere. */
static void node_before_card(void **state)
{
    (void)state;
    struct simulated s;
    /* node 0: 0.5 on one card; node 1: a whole card and nothing on the other */
    const char *trace = "job_id,submit_s,duration_s,gpus\n"
                        "w,0,1000,2\nx,0,1000,0.5\ny,0,10,1\nz,20,1000,1\nprobe,30,100,0.25\n";
    simulate(&s, SCENARIO(FLEET(3, 2), PLACE("pack", HALVES) "," PLACE("best_fit", HALVES)), trace);
    /* w fills node 0; x, y share node 1 until 10; z then fits beside x, so node 1 is the fullest */
    assert_string_equal(sim_job_of(&s, "pack", "probe")->cards, "f.1.0");
    simulated_fini(&s);
    trace = "job_id,submit_s,duration_s,gpus\n"
            "x,0,1000,0.5\nw,0,1000,2\nz,0,10,2\ny,0,1000,2\nu,20,1000,1\nprobe,30,100,0.5\n";
    simulate(&s, SCENARIO(FLEET(4, 2), PLACE("spread", HALVES)), trace);
    /* x on node 0, w on 1, z on 2, y on 3; z leaves, u takes half of node 2: node 0 is emptier, and
     * its emptiest card is the other one */
    assert_string_equal(sim_job_of(&s, "spread", "u")->cards, "f.2.0");
    assert_string_equal(sim_job_of(&s, "spread", "probe")->cards, "f.0.1");
    simulated_fini(&s);
}

/* All groups are compared, not the first that has room. */
static void across_groups(void **state)
{
    (void)state;
    struct simulated s;
    const char *trace = "job_id,submit_s,duration_s,gpus\nbig,0,1000,3\nsmall,1,1000,1\n";
    simulate(&s,
             SCENARIO("{'name': 'a', 'gpu': 'a100-sxm4-80gb', 'nodes': 1, 'gpus_per_node': 2},"
                      "{'name': 'b', 'gpu': 'a100-sxm4-80gb', 'nodes': 1, 'gpus_per_node': 4}",
                      PLACE("pack", "'kind': 'whole'") "," PLACE(
                          "best_fit", "'kind': 'whole'") "," PLACE("spread", "'kind': 'whole'")),
             trace);
    assert_string_equal(sim_job_of(&s, "pack", "small")->cards, "b.0.3");
    assert_string_equal(sim_job_of(&s, "best_fit", "small")->cards, "a.0.0");
    assert_string_equal(sim_job_of(&s, "spread", "small")->cards, "a.0.0");
    simulated_fini(&s);
}

/* Cards with 0.5 and 0.8 free, halves are frequent: 0.3 on the first card would leave 0.2, of no
 * use to halves; on the second it leaves a half on each. best_fit sees the fullest card only. */
static void fgd_by_hand(void **state)
{
    (void)state;
    struct simulated s;
    simulate(&s,
             SCENARIO("{'name': 'f', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 2}",
                      PLACE("fgd", HALVES) "," PLACE("best_fit", HALVES)),
             "job_id,submit_s,duration_s,gpus\n"
             "a,0,1000,0.5\nb,1,5,0.5\nc,2,1000,0.2\nd,20,1000,0.3\n");
    assert_string_equal(sim_job_of(&s, "fgd", "b")->cards, "f.0.0");
    assert_string_equal(sim_job_of(&s, "fgd", "c")->cards, "f.0.1");
    assert_string_equal(sim_job_of(&s, "fgd", "d")->cards, "f.0.1");
    assert_string_equal(sim_job_of(&s, "best_fit", "d")->cards, "f.0.0");
    simulated_fini(&s);
}

/* Instances, pooled cards and gangs beyond a node go the way of best_fit. */
static void what_no_node_holds(void **state)
{
    (void)state;
    struct simulated s;
    static const char *const names[] = { "clustering", "dot_product", "fgd",          "pack",
                                         "packing",    "random",      "best_fit_node" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[2000];
        snprintf(
            text, sizeof text,
            "{'format': 'gpusim-scenario/1', 'name': 's',"
            " 'fleet': [{'name': 'f', 'gpu': 'a100-sxm4-80gb', 'nodes': 3, 'gpus_per_node': 2}],"
            " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
            " 'policies': [{'name': 'whole', 'share': {'kind': 'whole'}},"
            " {'name': 'remote', 'share': {'kind': 'remote'}}, {'name': 'mig', 'share': {'kind': 'mig'}}],"
            " 'schedule': {'backfill': 'easy', 'place': '%s'}}",
            names[i]);
        simulate(&s, text,
                 "job_id,submit_s,duration_s,gpus\na,0,10,4\nb,0,10,0.25\nc,0,10,0\nd,1,10,6\n");
        assert_string_equal(sim_job_of(&s, "whole", "a")->cards, "f.0.0 f.0.1 f.1.0 f.1.1");
        for (size_t k = 0; k < s.n_jobs; k++) assert_string_equal(s.job[k].state, "completed");
        simulated_fini(&s);
    }
}

/* ---- against the scan ---- */

enum { MAX_GROUPS = 4, MAX_HELD = 600, SHAPES = 40 };

struct ask {
    struct demand demand[MAX_GROUPS];
    struct place_request r[MAX_GROUPS];
};

struct held {
    int ask, group;
    struct pick pick;
};

static int below(uint64_t *seed, int n)
{
    return (int)(test_random(seed) % (uint64_t)n);
}

static void random_ask(struct ask *out, const struct plan *p, uint64_t *seed)
{
    static const int32_t gpus[] = { 0,   50,   125,  250,  333,  470,  500,
                                    810, 1000, 1000, 2000, 3000, 4000, 8000 };
    const struct request want = {
        .gpus_milli = gpus[below(seed, sizeof gpus / sizeof *gpus)],
        .slots = 1,
        .bytes = below(seed, 3) ? JOB_NO_BYTES : (uint64_t)(1 + below(seed, 70)) << 30,
    };
    const int32_t cpus = below(seed, 4) ? 500 * below(seed, 30) : JOB_NO_INT;
    const uint64_t host = below(seed, 4) ? (uint64_t)below(seed, 40) << 30 : JOB_NO_BYTES;
    for (size_t g = 0; g < p->n_groups; g++) {
        const struct plan_group *pg = &p->group[g];
        const bool no = p->share->demand(pg->params, &pg->type, &want, &out->demand[g]) ||
                        out->demand[g].cards > pg->per_node || below(seed, 12) == 0;
        out->r[g] = (struct place_request){ .group = (int)g,
                                            .demand = no ? NULL : &out->demand[g],
                                            .cpus_milli = cpus,
                                            .host_bytes = host };
    }
}

struct scan_case {
    const char *place;
    enum place_scan_rule rule;
    const char *share, *limits;
};

static const struct scan_case cases[] = {
    { "pack", SCAN_PACK, "'kind': 'intercept'", "" },
    { "pack", SCAN_PACK, "'kind': 'whole'", ", 'cpu_cores': 30, 'host_memory': '100 GiB'" },
    { "spread", SCAN_SPREAD, "'kind': 'intercept'", ", 'cpu_cores': 30" },
    { "spread", SCAN_SPREAD, "'kind': 'timeslice', 'slots': 4, 'memory': 'reserve'", "" },
    { "fgd", SCAN_FGD, "'kind': 'intercept'", ", 'cpu_cores': 40" },
    { "fgd", SCAN_FGD, "'kind': 'intercept'", "" },
    { "fgd", SCAN_FGD, "'kind': 'mps', 'slots': 5", ", 'cpu_cores': 24, 'host_memory': '64 GiB'" },
    { "best_fit_node", SCAN_BEST_FIT_NODE, "'kind': 'intercept'", ", 'cpu_cores': 40" },
    { "best_fit_node", SCAN_BEST_FIT_NODE, "'kind': 'whole'", "" },
};

static void same_as_scan(const struct scan_case *k, int step, int got, const struct pick *a,
                         int want, const struct pick *b)
{
    bool same = got == want && (got < 0 || (a->card.n == b->card.n && a->node == b->node));
    for (size_t i = 0; same && got >= 0 && i < a->card.n; i++) same = a->card.v[i] == b->card.v[i];
    if (!same)
        fail_msg("%s, %s: step %d: group %d, card %d, node %d; wanted group %d, card %d, node %d",
                 k->place, k->share, step, got, a->card.n ? (int)a->card.v[0] : -1, a->node, want,
                 b->card.n ? (int)b->card.v[0] : -1, b->node);
}

static void against_the_scan(void **state)
{
    const struct scan_case *k = *state;
    char text[1600];
    struct runner run;
    static struct held held[MAX_HELD];
    static struct ask ask[SHAPES];
    struct pick want = { 0 }, got = { 0 };
    uint64_t seed = test_seed();
    size_t n = 0;
    int placed = 0, refused = 0;
    snprintf(text, sizeof text,
             "{'format': 'gpusim-scenario/1', 'name': 'c', 'seed': 7, 'fleet': ["
             "{'name': 'p', 'gpu': 'a100-sxm4-80gb', 'nodes': 5, 'gpus_per_node': 4%s},"
             "{'name': 'q', 'gpu': 'a100-sxm4-40gb', 'nodes': 3, 'gpus_per_node': 8%s},"
             "{'name': 'r', 'gpu': 'a100-sxm4-40gb', 'nodes': 4, 'gpus_per_node': 1}],"
             " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
             " 'schedule': {'place': '%s'}, 'policies': [{'name': 'x', 'share': {%s}}]}",
             k->limits, k->limits, k->place, k->share);
    sim_load(&run, sim_write(text, "job_id,submit_s,duration_s,gpus\na,0,1,1\n", NULL));
    const struct plan *p = &run.plan[0];
    const struct place_ops *place = p->place;
    struct cluster *c = cluster_create(p);
    struct place_scan *scan = place_scan_create(c, k->rule);
    for (int i = 0; i < SHAPES; i++) random_ask(&ask[i], p, &seed);
    for (int step = 0; step < 8000; step++) {
        /* fill and drain by turns */
        if (n == MAX_HELD || (n > 0 && below(&seed, 100) < (step / 400 % 2 ? 60 : 30))) {
            const size_t at = (size_t)below(&seed, (int)n);
            cluster_give(c, &ask[held[at].ask].r[held[at].group], &held[at].pick);
            vec_fini(&held[at].pick.card);
            held[at] = held[--n];
            continue;
        }
        /* some are frequent */
        const int i = below(&seed, 4) ? below(&seed, 8) : below(&seed, SHAPES);
        place->submitted(cluster_place_state(c), ask[i].r);
        place_scan_submitted(scan, ask[i].r);
        const int group = place->pick_any(c, ask[i].r, &got);
        same_as_scan(k, step, group, &got, place_scan_pick(scan, ask[i].r, &want), &want);
        refused += group < 0;
        if (group < 0) continue;
        assert_true(cluster_holds(c, &ask[i].r[group], &got));
        cluster_take(c, &ask[i].r[group], &got);
        held[n++] = (struct held){ i, group, got };
        got = (struct pick){ 0 };
        placed++;
    }
    assert_true(placed > 500 && refused > 100);
    while (n-- > 0) {
        cluster_give(c, &ask[held[n].ask].r[held[n].group], &held[n].pick);
        vec_fini(&held[n].pick.card);
    }
    assert_true(cluster_is_whole(c));
    vec_fini(&want.card);
    vec_fini(&got.card);
    place_scan_destroy(scan);
    cluster_destroy(c);
    runner_fini(&run);
}

/* Of two fleets with the same history one is asked much more often: what is remembered of the
 * answers must not show. Every registered placement. */
static void asking_changes_nothing(void **state)
{
    const struct place_ops *place = *state;
    char text[1600];
    struct runner run;
    static struct held held[MAX_HELD];
    static struct ask ask[SHAPES];
    struct pick a = { 0 }, b = { 0 };
    uint64_t seed = test_seed();
    size_t n = 0;
    int placed = 0;
    if (!place->pick_any) return; /* it remembers nothing */
    snprintf(
        text, sizeof text,
        "{'format': 'gpusim-scenario/1', 'name': 'c', 'seed': 11, 'fleet': ["
        "{'name': 'p', 'gpu': 'a100-sxm4-80gb', 'nodes': 9, 'gpus_per_node': 4, 'cpu_cores': 40},"
        "{'name': 'q', 'gpu': 'a100-sxm4-40gb', 'nodes': 90, 'gpus_per_node': 2}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
        " 'schedule': {'place': '%s'}, 'policies': [{'name': 'x', 'share': {'kind': 'intercept'}}]}",
        place->name);
    sim_load(&run, sim_write(text, "job_id,submit_s,duration_s,gpus\na,0,1,1\n", NULL));
    const struct plan *p = &run.plan[0];
    struct cluster *one = cluster_create(p), *two = cluster_create(p);
    for (int i = 0; i < SHAPES; i++) random_ask(&ask[i], p, &seed);
    for (int step = 0; step < 4000; step++) {
        if (n == MAX_HELD || (n > 0 && below(&seed, 100) < (step / 600 % 2 ? 60 : 20))) {
            const size_t at = (size_t)below(&seed, (int)n);
            const struct place_request *r = &ask[held[at].ask].r[held[at].group];
            cluster_give(one, r, &held[at].pick);
            cluster_give(two, r, &held[at].pick);
            vec_fini(&held[at].pick.card);
            held[at] = held[--n];
            continue;
        }
        const int i = below(&seed, SHAPES);
        for (int k = 0; k < 3; k++) place->pick_any(two, ask[below(&seed, SHAPES)].r, &b);
        place->submitted(cluster_place_state(one), ask[i].r);
        place->submitted(cluster_place_state(two), ask[i].r);
        const int group = place->pick_any(one, ask[i].r, &a);
        assert_int_equal(place->pick_any(two, ask[i].r, &b), group);
        if (group < 0) continue;
        assert_true(cluster_holds(one, &ask[i].r[group], &a));
        assert_int_equal(a.card.n, b.card.n);
        assert_int_equal(a.node, b.node);
        for (size_t k = 0; k < a.card.n; k++) assert_int_equal(a.card.v[k], b.card.v[k]);
        cluster_take(one, &ask[i].r[group], &a);
        cluster_take(two, &ask[i].r[group], &a);
        held[n++] = (struct held){ i, group, a };
        a = (struct pick){ 0 };
        placed++;
    }
    assert_true(placed > 500);
    while (n-- > 0) {
        cluster_give(one, &ask[held[n].ask].r[held[n].group], &held[n].pick);
        vec_fini(&held[n].pick.card);
    }
    assert_true(cluster_is_whole(one));
    vec_fini(&a.card);
    vec_fini(&b.card);
    cluster_destroy(one);
    cluster_destroy(two);
    runner_fini(&run);
}

/* Every node and card comes up about equally often. */
static void random_is_even(void **state)
{
    (void)state;
    enum { DRAWS = 6000, CARDS = 12 };
    struct runner run;
    struct pick pick = { 0 };
    struct ask ask;
    int seen[CARDS] = { 0 };
    sim_load(&run, sim_write(SCENARIO(FLEET(3, 4), PLACE("random", HALVES)),
                             "job_id,submit_s,duration_s,gpus\na,0,1,1\n", NULL));
    const struct plan *p = &run.plan[0];
    struct cluster *c = cluster_create(p);
    const struct request want = { .gpus_milli = 385, .slots = 1, .bytes = JOB_NO_BYTES };
    assert_null(p->share->demand(p->group[0].params, &p->group[0].type, &want, &ask.demand[0]));
    ask.r[0] = (struct place_request){ .demand = &ask.demand[0],
                                       .cpus_milli = JOB_NO_INT,
                                       .host_bytes = JOB_NO_BYTES };
    for (int i = 0; i < DRAWS; i++) {
        assert_true(p->place->pick(c, &ask.r[0], &pick));
        seen[pick.card.v[0]]++;
        p->place->began(cluster_place_state(c)); /* the next draw is another one */
    }
    double chi2 = 0;
    for (int i = 0; i < CARDS; i++)
        chi2 += pow(seen[i] - (double)DRAWS / CARDS, 2) / ((double)DRAWS / CARDS);
    assert_true(chi2 < 31.26); /* 0.999 of chi-squared with 11 degrees of freedom */
    vec_fini(&pick.card);
    cluster_destroy(c);
    runner_fini(&run);
}

int main(void)
{
    static const struct CMUnitTest by_hand[] = {
        cmocka_unit_test(a10_eight_free),
        cmocka_unit_test(b43_two_cards_two_pods),
        cmocka_unit_test(a_gang_of_slots_by_load),
        cmocka_unit_test(a_short_gang_of_slots_by_load),
        cmocka_unit_test(unknown_place_is_an_error),
        cmocka_unit_test(node_before_card),
        cmocka_unit_test(across_groups),
        cmocka_unit_test(fgd_by_hand),
        cmocka_unit_test(what_no_node_holds),
        cmocka_unit_test(random_is_even),
    };
    enum { HAND = sizeof by_hand / sizeof *by_hand, CASES = sizeof cases / sizeof *cases };
    struct CMUnitTest t[HAND + CASES + 64];
    size_t n = HAND + CASES;
    memcpy(t, by_hand, sizeof by_hand);
    for (size_t i = 0; i < CASES; i++)
        t[HAND + i] = (struct CMUnitTest){ cases[i].place, against_the_scan, NULL, NULL,
                                           (void *)(uintptr_t)&cases[i] };
    for (size_t i = 0; place_all[i] && i < 64; i++)
        t[n++] = (struct CMUnitTest){ place_all[i]->name, asking_changes_nothing, NULL, NULL,
                                      (void *)(uintptr_t)place_all[i] };
    return _cmocka_run_group_tests("place", t, n, NULL, NULL);
}
