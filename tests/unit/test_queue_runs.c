/* Does a queue grow, by several runs together. */
#include "tests/support/support.h"

#include "metrics/stability.h"
#include "whatif/queue_runs.h"

enum { BATCHES = 32 };

/* A queue of `level`, from there growing by `rise` over the last quarter. */
static struct queue_trend queue(double before, double level, double rise, double waiting)
{
    double batch[BATCHES];
    for (int i = 0; i < BATCHES; i++) batch[i] = level + rise * i / (BATCHES - 1);
    return stability_trend(batch, BATCHES, before, waiting);
}

static void queues_together(void **state)
{
    struct queue_trend q[4], none = { 0 };
    (void)state;
    assert_int_equal(queue_of_runs(&none, 1), QUEUE_STAYS); /* no horizon */
    q[0] = queue(10, 20, 10, 0.02);
    assert_int_equal(queue_of_runs(q, 1), QUEUE_GROWS); /* one alone is believed */
    /* growth 10, -9, 8, -8: by chance. Mean 0.25 < 1 */
    q[1] = queue(10, 20, -9, 0.02);
    q[2] = queue(10, 20, 8, 0.02);
    q[3] = queue(10, 20, -8, 0.02);
    assert_int_equal(queue_of_runs(q, 4), QUEUE_STAYS);
    /* all grow by about 10 */
    q[1] = queue(10, 20, 11, 0.02);
    q[2] = queue(10, 20, 9, 0.02);
    q[3] = queue(10, 20, 10, 0.02);
    assert_int_equal(queue_of_runs(q, 4), QUEUE_GROWS);
    for (int k = 0; k < 4; k++) q[k].waiting = 0.004; /* hardly anybody is left at the end */
    assert_int_equal(queue_of_runs(q, 4), QUEUE_STAYS);
    for (int k = 0; k < 4; k++) q[k].waiting = 0.02, q[k].before = 30; /* as long as ever */
    assert_int_equal(queue_of_runs(q, 4), QUEUE_STAYS);
    /* 10, 2, 0, 0: mean 3, standard error 2.4, half an interval 7.5 */
    q[0] = queue(10, 20, 10, 0.02);
    q[1] = queue(10, 20, 2, 0.02);
    q[2] = queue(10, 20, 0, 0.02);
    q[3] = queue(10, 20, 0, 0.02);
    assert_int_equal(queue_of_runs(q, 4), QUEUE_UNDECIDED);
    /* a backlog that stands */
    for (int k = 0; k < 4; k++) q[k] = queue(10, 20, 0, 0.2);
    assert_int_equal(queue_of_runs(q, 4), QUEUE_GROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues_together),
    };
    return cmocka_run_group_tests_name("queue runs", tests, NULL, NULL);
}
