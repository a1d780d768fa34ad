/* test_service_users.c - users who ask and wait, at replicas with queues of their own that hold
 * batches back: they wait for nobody once all users are here, whichever replica the last one came
 * to. Times by hand. Mutant: service-waits-for-who-is-here. */
#include "support/simulate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct seen {
    struct request_end end[64];
    size_t n;
};

static void on_request(void *self, const struct plan *plan, size_t k, const struct request_end *q)
{
    struct seen *s = self;
    (void)plan, (void)k;
    assert_true(s->n < 64);
    s->end[s->n++] = *q;
}

/* Users who think for 1 s and ask for 1 s, `count` requests in all, in turn to two replicas. */
static void run(struct seen *seen, int users, int count, const char *serve)
{
    struct runner r;
    struct policy_result p;
    char text[1000];
    snprintf(text, sizeof text,
             "{ 'format': 'gpusim-scenario/1', 'name': 's',"
             "  'fleet': [ { 'name': 'a', 'gpu': 'generic', 'gpus_per_node': 2 } ],"
             "  'work': [ { 'name': 'w', 'kind': 'service', 'users': %d, 'think': '1 s',"
             "    'size': '1 s', 'count': %d, 'replicas': { 'per_card': 1 },"
             "    'route': 'round_robin', 'serve': { %s } } ],"
             "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }",
             users, count, serve);
    *seen = (struct seen){ .n = 0 };
    sim_load(&r, sim_write(text, "job_id,submit_s,duration_s,gpus\nj,1,10,1\n", NULL));
    const struct sink sink = { .self = seen, .request = on_request };
    sim_policy_run(&r, 0, &sink, &p);
    assert_int_equal(seen->n, count);
    runner_fini(&r);
}

static void left(const struct seen *s, size_t i, double arrival_s, double began_s, double end_s)
{
    const struct request_end *q = &s->end[i];
    assert_true(i < s->n);
    assert_close((double)q->arrival / 1e9, arrival_s, 1e-9);
    assert_close((double)q->began / 1e9, began_s, 1e-9);
    assert_close((double)q->end / 1e9, end_s, 1e-9);
}

/* Three at 1 s: the first goes to the first replica and the second to the other, which hold them
 * back; with the third, at the first replica, all are here, and both begin: 2 s of work and 1 s. The
 * one alone comes again at 3 s, to the second replica, is held back and begins with the two of 3 s,
 * who come at 4 s, one to each: at once the first has one and the second two. (What the second held
 * back waited for its delay or, in batches of a fixed size, for somebody who happened to come.) */
static void all_are_here(void **state)
{
    static const char *const serve[] = { "'kind': 'dynamic', 'max': 4, 'delay': '100 s'",
                                         "'kind': 'fixed', 'size': 4" };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct seen s;
        run(&s, 3, 30, serve[i]);
        left(&s, 0, 1, 1, 2);
        left(&s, 1, 1, 1, 3);
        left(&s, 2, 1, 1, 3);
        left(&s, 3, 4, 4, 5);
        left(&s, 4, 3, 4, 6);
        left(&s, 5, 4, 4, 6);
    }
}

/* The same with a short delay: at 3 s the others are still to come, so the one waits its 0.25 s. At
 * 4 s all are here: the first replica begins at once, the second when it is free. */
static void some_are_missing(void **state)
{
    struct seen s;
    (void)state;
    run(&s, 3, 30, "'kind': 'dynamic', 'max': 4, 'delay': '0.25 s'");
    left(&s, 3, 3, 3.25, 4.25);
    left(&s, 4, 4, 4, 5);
    left(&s, 5, 4, 4.25, 5.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_here),
        cmocka_unit_test(some_are_missing),
    };
    return cmocka_run_group_tests_name("service users", tests, NULL, NULL);
}
