/* test_migrate.c - running jobs that are moved so that the head of the queue fits: cards, pauses
 * and ends by hand; then random work, where everybody gets what is due to it and pays no more than
 * its pauses. Mutants: a move costs nothing, the moved job begins again, others start before the
 * head. */
#include "support/simulate.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char frame[] =
    "{ 'format': 'gpusim-scenario/1', 'name': 's',"
    "  'fleet': [ { 'name': 'a', %s } ],"
    "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
    "  'schedule': { %s }, 'policies': [ { 'name': 'p', 'share': { %s } } ] }";

#define HEAD  "job_id,submit_s,duration_s,gpus,gpu_mem_bytes,walltime_s\n"
#define WHOLE "'kind': 'whole'"
#define MIG   "'kind': 'mig', 'repartition': '0 s', 'mode_change': '0 s'"
#define NONE  "'place': 'spread', 'backfill': 'none'"
#define MOVES ", 'migrate': 'defrag', 'migrate_pause': '10 s'"

static void replay(struct simulated *s, const char *fleet, const char *schedule, const char *share,
                   const char *rows)
{
    char text[2000], trace[2000];
    snprintf(text, sizeof text, frame, fleet, schedule, share);
    snprintf(trace, sizeof trace, "%s%s", HEAD, rows);
    simulate(s, text, trace);
}

static void ran(const struct simulated *s, const char *id, const char *cards, double start_s,
                double end_s)
{
    const struct sim_job *j = sim_job_of(s, "p", id);
    if ((cards && strcmp(j->cards, cards) != 0) || !(fabs(j->start_s - start_s) < 1e-6) ||
        !(fabs(j->end_s - end_s) < 1e-6) || j->attempts != 1)
        fail_msg("%s on %s from %.9g to %.9g, not on %s from %g to %g", id, j->cards, j->start_s,
                 j->end_s, cards ? cards : "any", start_s, end_s);
}

static void moved(const struct simulated *s, unsigned moves, double paused_s)
{
    const struct migration_result *m = &sim_policy(s, "p")->migrations;
    if (m->moves != moves || !(fabs(m->paused_gpu_hours * 3600 - paused_s) < 1e-6))
        fail_msg("%llu moves, %g s, not %u and %g", (unsigned long long)m->moves,
                 m->paused_gpu_hours * 3600, moves, paused_s);
}

#define TWO_NODES "'gpu': 'generic', 'nodes': 2, 'gpus_per_node': 2"

/* a and b are spread over two nodes; c needs one for itself. */
static void room_for_a_gang(void **state)
{
    static const char rows[] = "a,0,100,1,,\nb,0,100,1,,\nc,20,50,2,,\n";
    struct simulated s;
    (void)state;
    replay(&s, TWO_NODES, NONE, WHOLE, rows);
    ran(&s, "c", NULL, 100, 150);
    assert_false(sim_policy(&s, "p")->migrations.any);
    simulated_fini(&s);
    replay(&s, TWO_NODES, NONE MOVES, WHOLE, rows);
    ran(&s, "a", "a.1.1", 0, 110);
    ran(&s, "b", "a.1.0", 0, 100);
    ran(&s, "c", "a.0.0 a.0.1", 20, 70);
    moved(&s, 1, 10);
    simulated_fini(&s);
    /* its memory takes the time: 1 TiB of the card at 128 GiB/s is 8 s */
    replay(&s, TWO_NODES, NONE ", 'migrate': 'defrag', 'migrate_rate': '128 GiB/s'", WHOLE, rows);
    ran(&s, "a", "a.1.1", 0, 108);
    moved(&s, 1, 8);
    simulated_fini(&s);
    replay(&s, TWO_NODES, NONE MOVES ", 'migrate_rate': '128 GiB/s'", WHOLE, rows);
    ran(&s, "a", "a.1.1", 0, 118);
    simulated_fini(&s);
    /* a limit that kills does not count the pause */
    replay(&s, TWO_NODES, NONE MOVES ", 'walltime': 'kill'", WHOLE,
           "a,0,100,1,,100\nb,0,100,1,,\nc,20,50,2,,\n");
    ran(&s, "a", "a.1.1", 0, 110);
    assert_string_equal(sim_job_of(&s, "p", "a")->state, "completed");
    simulated_fini(&s);
    /* with three cards taken nobody can go anywhere; once d has ended, one of the others can */
    replay(&s, TWO_NODES, NONE MOVES, WHOLE, "a,0,100,1,,\nb,0,90,1,,\nd,0,80,1,,\nc,20,50,2,,\n");
    ran(&s, "c", NULL, 80, 130);
    moved(&s, 1, 10);
    simulated_fini(&s);
    /* under EASY the head is helped likewise */
    replay(&s, TWO_NODES, "'place': 'spread'" MOVES, WHOLE,
           "a,0,100,1,,200\nb,0,100,1,,200\nc,20,50,2,,60\n");
    ran(&s, "c", "a.0.0 a.0.1", 20, 70);
    simulated_fini(&s);
}

/* A move makes nothing safe. a, moved at 20 s, is struck at 50 s and starts from nothing at 60
 * s; struck at 25 s, it had left in the pause of its checkpoint, 19 s to 23 s, which was not
 * made: 100 s and five pauses of 4 s. b's was. */
static void a_move_is_no_checkpoint(void **state)
{
    static const char rows[] = "a,0,100,1,,\nb,0,100,1,,\nc,20,50,2,,\n";
    struct simulated s;
    (void)state;
    replay(
        &s,
        "'gpu': 'generic', 'nodes': 2, 'gpus_per_node': 2, 'capacity': [ {'at': '50 s', 'do': 'fail', 'nodes': '1'},"
        " {'at': '60 s', 'do': 'add', 'nodes': '1'} ]",
        NONE MOVES, WHOLE, rows);
    assert_close(sim_job_of(&s, "p", "a")->end_s, 160, 1e-9);
    assert_close(sim_job_of(&s, "p", "b")->end_s, 160, 1e-9);
    simulated_fini(&s);
    replay(
        &s,
        "'gpu': 'generic', 'nodes': 2, 'gpus_per_node': 2, 'capacity': [ {'at': '25 s', 'do': 'fail', 'nodes': '1'},"
        " {'at': '60 s', 'do': 'add', 'nodes': '1'} ]",
        NONE MOVES ", 'checkpoint': '19 s', 'checkpoint_cost': '4 s'", WHOLE, rows);
    assert_close(sim_job_of(&s, "p", "a")->end_s, 180, 1e-9);
    assert_close(sim_job_of(&s, "p", "b")->end_s, 157, 1e-9);
    simulated_fini(&s);
}

/* x is a gang within a fast domain: it would be slower elsewhere, so it stays; b goes. */
static void nobody_is_moved_to_a_slower_place(void **state)
{
    struct simulated s;
    (void)state;
    replay(
        &s,
        "'gpu': 'generic', 'nodes': 2, 'gpus_per_node': 4, 'nvlink_domain': 2, 'cross_domain_speed': 0.5",
        "'place': 'first_fit', 'backfill': 'none'" MOVES, WHOLE,
        "x,0,100,2,,\ny,0,10,2,,\nz,0,100,1,,\nu,0,5,1,,\nb,0,100,1,,\nw,20,50,4,,\n");
    /* at 20 s: x on 0.0-1, z on 1.0, b on 1.2; free 0.2-3, 1.1, 1.3. z and b go to node 0. */
    ran(&s, "x", "a.0.0 a.0.1", 0, 100);
    ran(&s, "z", "a.0.2", 0, 110);
    ran(&s, "b", "a.0.3", 0, 110);
    ran(&s, "w", NULL, 20, 120); /* it crosses its node's two domains */
    moved(&s, 2, 20);
    simulated_fini(&s);
    replay(
        &s,
        "'gpu': 'generic', 'nodes': 2, 'gpus_per_node': 4, 'nvlink_domain': 2, 'cross_domain_speed': 0.5",
        "'place': 'first_fit', 'backfill': 'none'" MOVES, WHOLE,
        "x,0,100,2,,\ny,0,10,2,,\nv,0,100,2,,\nq,0,10,2,,\nb,11,100,1,,\nc,12,100,1,,\nd,13,1,1,,\nw,20,50,4,,\n");
    const struct sim_job *x = sim_job_of(&s, "p", "x"), *v = sim_job_of(&s, "p", "v");
    assert_true(x->end_s <= 110 && v->end_s <= 110); /* never at half the speed */
    simulated_fini(&s);
}

/* One card of each gang is being drained, of g's its second: who is on such a card ends there,
 * though g's going to node 1 would make room for h. */
static void who_is_on_a_drained_card_stays(void **state)
{
    struct simulated s;
    (void)state;
    replay(&s,
           "'gpu': 'generic', 'nodes': 2, 'gpus_per_node': 4, 'capacity': [ "
           "{ 'at': '10 s', 'do': 'drain', 'nodes': '0', 'cards': '1' }, { 'at': '10 s', 'do': 'drain', 'nodes': '1', 'cards': '0' } ]",
           NONE MOVES, WHOLE, "g,0,100,2,,\ny,0,100,2,,\nh,20,50,3,,\n");
    ran(&s, "g", "a.0.0 a.0.1", 0, 100);
    ran(&s, "y", "a.1.0 a.1.1", 0, 100);
    ran(&s, "h", NULL, 100, 150);
    assert_false(sim_policy(&s, "p")->migrations.any && sim_policy(&s, "p")->migrations.moves);
    simulated_fini(&s);
}

/* a and b start again where their cards have come back, one on each node, and cannot be moved until
 * 120 s. p and q end before, so h could have had a node at 50 s; it gets one when z comes. */
static void who_starts_up_is_moved_later(void **state)
{
    static const char fleet[] =
        TWO_NODES ", 'capacity': [ { 'at': '10 s', 'do': 'fail', 'cards': '1' },"
                  "  { 'at': '20 s', 'do': 'add', 'cards': '1' } ]";
    static const char rows[] = "p,0,40,1,,\na,0,1000,1,,\nq,0,50,1,,\nb,0,1000,1,,\n"
                               "h,25,70,2,,\nz,130,5,1,,\n";
    struct simulated s;
    (void)state;
    replay(&s, fleet, "'place': 'first_fit', 'backfill': 'none', 'restart': '100 s'" MOVES, WHOLE,
           rows);
    ran(&s, "h", NULL, 130, 200);
    moved(&s, 1, 10);
    simulated_fini(&s);
}

/* Three of seven slices are left on the card, at 1, 3 and 5: a 2g needs 0, 2 or 4 and its neighbour
 * (A02). */
static void room_for_a_slice(void **state)
{
    static const char rows[] =
        "s0,0,1000,0.1,4e9,\ns1,0,10,0.1,4e9,\ns2,0,1000,0.1,4e9,\ns3,0,10,0.1,4e9,\n"
        "s4,0,1000,0.1,4e9,\ns5,0,10,0.1,4e9,\ns6,0,1000,0.1,4e9,\nbig,20,100,0.25,8e9,\n";
    struct simulated s;
    (void)state;
    replay(&s, "'gpu': 'a100-sxm4-40gb', 'nodes': 1, 'gpus_per_node': 1", "'backfill': 'none'", MIG,
           rows);
    assert_true(sim_job_of(&s, "p", "big")->start_s > 900);
    simulated_fini(&s);
    replay(&s, "'gpu': 'a100-sxm4-40gb', 'nodes': 1, 'gpus_per_node': 1",
           "'backfill': 'none'" MOVES, MIG, rows);
    assert_true(fabs(sim_job_of(&s, "p", "big")->start_s - 20) < 1e-6);
    assert_int_equal(sim_policy(&s, "p")->migrations.moves, 1);
    int paused = 0;
    for (int i = 0; i < 7; i += 2) {
        char id[16];
        snprintf(id, sizeof id, "s%d", i);
        const double extra = sim_job_of(&s, "p", id)->end_s - sim_job_of(&s, "p", "s0")->end_s;
        paused += fabs(fabs(extra) - 10) < 1e-6;
    }
    assert_true(paused == 1 || paused == 3); /* one of the four, maybe s0 itself, ends 10 s later */
    simulated_fini(&s);
}

/* A planned layout is being made (12 s) when the head, who asks for half a card, wants others
 * moved: what is not there yet is no place for anybody, on the scheduler's copy of the fleet as on
 * the fleet. */
static void planned_instances_that_are_being_made(void **state)
{
    static const char rows[] = "p,415.824,772.961,0.25,,\nq,669.817,4110.952,1,,\n"
                               "r,669.817,6797,1,,\nh,796.325,8476.431,0.5,,\n";
    struct simulated s;
    (void)state;
    replay(
        &s, "'gpu': 'h100-sxm5-80gb', 'nodes': 3, 'gpus_per_node': 1",
        "'migrate': 'defrag', 'migrate_pause': '30 s'",
        "'kind': 'mig', 'layout': 'planned', 'period': '10 min', 'repartition': '12 s', 'mode_change': '18 s'",
        rows);
    for (const char *id = "pqrh"; *id; id++) {
        const char name[2] = { *id, '\0' };
        assert_string_equal(sim_job_of(&s, "p", name)->state, "completed");
    }
    simulated_fini(&s);
}

/* ---- random work ---- */

/* c needs two cards of the first node. Of its cards in use the one with a and b is cleared first, in
 * vain: the second node has no cores for them. Then w moves there, and a and b stay where they are,
 * on the instances that they have, not on those that would be made for them on a bare card. (x and
 * y come and go so that a is on the upper half and b, which came later, on the lower.) */
static void what_was_tried_in_vain_moves_nobody(void **state)
{
    struct simulated s;
    char text[2000];
    (void)state;
    snprintf(text, sizeof text, frame,
             "'gpu': 'a100-sxm4-40gb', 'nodes': 2, 'gpus_per_node': 3, 'cpu_cores': 8",
             "'place': 'first_fit', 'backfill': 'none'" MOVES, MIG);
    simulate(&s, text,
             "job_id,submit_s,duration_s,gpus,cpus\n"
             "p,0,20,1,\nw,1,900,0.9,\nx,2,3,0.4,\na,3,900,0.4,1\ny,6,2,0.05,\nb,9,900,0.4,1\n"
             "z,10,900,1,8\nq,11,900,1,\nc,30,50,2,\n");
    static const char *const where[][2] = { { "a", "a.0.2:3g.20gb@4" }, { "b", "a.0.2:3g.20gb@0" },
                                            { "w", "a.1.2:7g.40gb@0" }, { "z", "a.1.0" },
                                            { "q", "a.1.1" },           { "c", "a.0.0 a.0.1" } };
    for (size_t i = 0; i < sizeof where / sizeof *where; i++)
        assert_string_equal(sim_job_of(&s, "p", where[i][0])->cards, where[i][1]);
    assert_true(fabs(sim_job_of(&s, "p", "c")->start_s - 30) < 1e-6);
    assert_int_equal(sim_policy(&s, "p")->migrations.moves, 1);
    simulated_fini(&s);
}

/* Under whole cards a job holds its cards for its duration and its pauses, no more; all laws of the
 * run hold (it checks them itself), and those who wait for gangs wait less in all. */
static void random_work(void **state)
{
    static const char *const shares[] = { WHOLE, "'kind': 'mig'", "'kind': 'remote'" };
    double wait[2] = { 0 };
    uint64_t moves = 0;
    (void)state;
    for (int run = 0; run < 24; run++)
        for (int on = 0; on < 2; on++) {
            uint64_t random = (uint64_t)run + 1;
            struct strbuf b = { 0 };
            struct simulated s;
            const char *share = shares[run % 3];
            int64_t t = 0;
            for (int i = 0; i < 60; i++) {
                static const char *const gpus[] = { "1", "1", "1", "2", "4", "0.2", "0.4" };
                const int64_t length = 100 + (int64_t)(test_random(&random) % 900);
                t += (int64_t)(test_random(&random) % 60);
                strbuf_addf(&b, "j%d,%lld,%lld,%s,,%lld\n", i, (long long)t, (long long)length,
                            gpus[test_random(&random) % 7], (long long)(2 * length));
            }
            char *text = xasprintf(
                "{ 'format': 'gpusim-scenario/1', 'name': 's', 'seed': 3, %s"
                "  'fleet': [ { 'name': 'a', 'gpu': 'a100-sxm4-40gb', 'nodes': 3, 'gpus_per_node': 4 } ],"
                "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
                "  'schedule': { 'place': '%s', 'backfill': '%s' %s }, 'policies': [ { 'name': 'p', 'share': { %s } } ] }",
                run % 4 == 3
                    ? "'faults': { 'card_mtbf': '2 h', 'card_repair': '5 min', 'node_mtbf': '0 s' },"
                    : "",
                run % 2 ? "spread" : "fgd", run % 3 == 2 ? "easy" : "none",
                on ? ", 'migrate': 'defrag', 'migrate_pause': '7 s'" : "", share);
            char *trace = xasprintf("%s%s", HEAD, b.s);
            simulate(&s, text, trace);
            const struct policy_result *p = sim_policy(&s, "p");
            moves += p->migrations.moves;
            wait[on] += p->stats.wait_s.mean;
            assert_int_equal(p->jobs.completed + p->jobs.rejected + p->jobs.failed, 60);
            double longer = 0;
            for (size_t i = 0; i < s.n_jobs && run % 3 == 0 && run % 4 != 3; i++) {
                if (strcmp(s.job[i].state, "completed") != 0) continue;
                const double over = s.job[i].end_s - s.job[i].start_s -
                                    s.job[i].turnaround_s / s.job[i].slowdown; /* its duration */
                assert_true(over > -1e-4 && fabs(over - 7 * round(over / 7)) < 1e-4);
                longer += over * ceil(s.job[i].gpus);
            }
            if (run % 3 == 0 && run % 4 != 3)
                assert_true(fabs(longer - p->migrations.paused_gpu_hours * 3600) < 0.1);
            simulated_fini(&s);
            free(text);
            free(trace);
            strbuf_fini(&b);
        }
    print_message("%llu moves; mean wait %.1f s without, %.1f s with\n", (unsigned long long)moves,
                  wait[0] / 24, wait[1] / 24);
    assert_true(moves > 20);
    assert_true(wait[1] < wait[0]);
}

#define REPLACES                                                                                   \
    "'order': 'srtf', 'backfill': 'greedy', 'migrate': 'replace', 'migrate_pause': "               \
    "'10 s'"

/* An order that preempts places all anew: a makes room for c and pays for it, b stays where it
 * is. */
static void all_placed_anew(void **state)
{
    struct simulated s;
    (void)state;
    replay(&s, TWO_NODES, REPLACES, WHOLE, "a,0,100,1,,\ny,0,10,1,,\nb,0,100,1,,\nc,20,50,2,,\n");
    ran(&s, "a", "a.1.1", 0, 110);
    ran(&s, "b", "a.1.0", 0, 100);
    ran(&s, "c", "a.0.0 a.0.1", 20, 70);
    moved(&s, 1, 10);
    simulated_fini(&s);
    /* a is on its way when d comes, and stays there; c goes before d, b after it and has no
     * place. */
    replay(&s, TWO_NODES, REPLACES ", 'restart': '1 s'", WHOLE,
           "a,0,100,1,,\ny,0,10,1,,\nb,0,100,1,,\nc,20,50,2,,\nd,25,46,1,,\n");
    ran(&s, "a", "a.1.1", 0, 110);
    ran(&s, "c", "a.0.0 a.0.1", 20, 70);
    ran(&s, "d", "a.1.0", 25, 71);
    const struct sim_job *b = sim_job_of(&s, "p", "b");
    assert_close(b->end_s, 70 + 1 + 75, 1e-9); /* 25 s of its work were done */
    assert_int_equal((int)b->attempts, 2);
    simulated_fini(&s);
}

static void refusals(void **state)
{
    static const struct {
        const char *schedule, *share, *said;
    } cases[] = {
        { "'migrate': 'defrag'", WHOLE, "a move costs something" },
        { "'migrate': 'always'", WHOLE, "migrate" },
        { "'migrate': 'defrag', 'migrate_pause': '1 s', 'backfill': 'greedy'", WHOLE,
          "nobody jumps" },
        { "'migrate': 'defrag', 'migrate_pause': '1 s', 'order': 'srtf', 'backfill': 'none'", WHOLE,
          "nobody jumps" },
        { "'migrate': 'defrag', 'migrate_pause': '1 s'", "'kind': 'timeslice'", "slow each other" },
        { "'migrate': 'replace', 'order': 'las', 'backfill': 'greedy'", WHOLE,
          "a move costs something" },
        { "'migrate': 'replace', 'migrate_pause': '0 s'", WHOLE, "where the order preempts" },
        { "'migrate': 'replace', 'migrate_pause': '0 s', 'order': 'las', 'backfill': 'greedy'", MIG,
          "instances are not placed anew" },
        { "'migrate': 'defrag', 'migrate_rate': '0 B/s'", WHOLE, "migrate_rate" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2000], said[600] = "";
        snprintf(text, sizeof text, frame,
                 strstr(cases[i].share, "mig")
                     ? "'gpu': 'a100-sxm4-40gb', 'nodes': 1, 'gpus_per_node': 1"
                     : TWO_NODES,
                 cases[i].schedule, cases[i].share);
        if (sim_problems(text, HEAD "a,0,1,1,,\n", NULL, said, sizeof said) == 0 ||
            !strstr(said, cases[i].said))
            fail_msg("%s %s: %s", cases[i].schedule, cases[i].share, said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_for_a_gang),
        cmocka_unit_test(nobody_is_moved_to_a_slower_place),
        cmocka_unit_test(who_starts_up_is_moved_later),
        cmocka_unit_test(who_is_on_a_drained_card_stays),
        cmocka_unit_test(room_for_a_slice),
        cmocka_unit_test(planned_instances_that_are_being_made),
        cmocka_unit_test(what_was_tried_in_vain_moves_nobody),
        cmocka_unit_test(random_work),
        cmocka_unit_test(all_placed_anew),
        cmocka_unit_test(a_move_is_no_checkpoint),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("migrate", tests, NULL, NULL);
}
