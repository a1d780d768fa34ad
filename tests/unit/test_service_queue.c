/* test_service_queue.c - queues of requests: whoever is put back in stands behind those that came
 * before it or with it, whatever was put in and taken out meanwhile. */
#include "engine/service_inside.h"
#include "support/support.h"

#include <string.h>

enum { ALL = 64, TURNS = 20000, TIMES = 20 };

/* What queue_insert() must do, on an array. */
struct line {
    struct query *q[ALL];
    size_t n;
};

static void insert(struct line *l, struct query *q)
{
    size_t at = 0;
    while (at < l->n && l->q[at]->call.arrival <= q->call.arrival) at++;
    memmove(&l->q[at + 1], &l->q[at], (l->n - at) * sizeof *l->q);
    l->q[at] = q;
    l->n++;
}

static void in_order_of_arrival(void **state)
{
    struct query all[ALL] = { 0 };
    struct queue queue = { 0 };
    struct line line = { 0 };
    uint64_t seed = test_seed();
    size_t spare[ALL], n_spare = ALL;
    (void)state;
    for (size_t i = 0; i < ALL; i++) spare[i] = i;
    for (int turn = 0; turn < TURNS; turn++) {
        if (n_spare > 0 && test_random(&seed) % 2) {
            struct query *q = &all[spare[--n_spare]];
            q->call.arrival = (simtime)(test_random(&seed) % TIMES);
            insert(&line, q);
            queue_insert(&queue, q);
        } else if (line.n > 0) {
            struct query *q = queue_pop(&queue);
            assert_ptr_equal(q, line.q[0]);
            memmove(line.q, line.q + 1, --line.n * sizeof *line.q);
            spare[n_spare++] = (size_t)(q - all);
        }
        size_t i = 0;
        for (const struct query *q = queue.head; i < line.n; q = q->next)
            assert_ptr_equal(q, line.q[i++]);
        assert_int_equal(queue.n, line.n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(in_order_of_arrival) };
    return cmocka_run_group_tests_name("service queue", tests, NULL, NULL);
}
