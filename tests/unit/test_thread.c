/* parallel_for: each task once, the lowest failure wins whatever the number of threads. */
#include "base/thread.h"
#include "tests/support/support.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 1000 };

struct work {
    atomic_int runs[N];
    atomic_int started;
    size_t fail_a, fail_b; /* indices that fail */
};

static int task(void *ctx, size_t i)
{
    struct work *w = ctx;

    atomic_fetch_add(&w->runs[i], 1);
    atomic_fetch_add(&w->started, 1);
    if (i == w->fail_a) { /* late, so that the higher failure is seen first */
        nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL);
        return 100;
    }
    return i == w->fail_b ? 200 : 0;
}

static void each_task_runs_once(void **state)
{
    (void)state;
    for (unsigned threads = 0; threads <= 8; threads++) {
        struct work w = { .fail_a = N, .fail_b = N };
        assert_int_equal(parallel_for(N, threads, task, &w), 0);
        for (size_t i = 0; i < N; i++) assert_int_equal(w.runs[i], 1);
    }
}

static void lowest_failure_wins(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads++) {
        struct work w = { .fail_a = 40, .fail_b = 41 };
        assert_int_equal(parallel_for(N, threads, task, &w), 100);
        for (size_t i = 0; i <= 40; i++) assert_int_equal(w.runs[i], 1);
        if (threads == 1) assert_int_equal(w.started, 41);
    }
}

static void nothing_new_starts_after_a_failure(void **state)
{
    struct work w = { .fail_a = N, .fail_b = 3 };

    (void)state;
    assert_int_equal(parallel_for(N, 2, task, &w), 200);
    assert_true(w.started < N);
}

static void no_tasks_and_few_tasks(void **state)
{
    struct work w = { .fail_a = N, .fail_b = N };

    (void)state;
    assert_int_equal(parallel_for(0, 8, task, &w), 0);
    assert_int_equal(w.started, 0);
    assert_int_equal(parallel_for(2, 8, task, &w), 0);
    assert_int_equal(w.started, 2);
}

static void there_is_a_core(void **state)
{
    (void)state;
    assert_true(thread_cores() >= 1);
}

int main(void)
{
    const struct CMUnitTest t[] = {
        cmocka_unit_test(each_task_runs_once),
        cmocka_unit_test(lowest_failure_wins),
        cmocka_unit_test(nothing_new_starts_after_a_failure),
        cmocka_unit_test(no_tasks_and_few_tasks),
        cmocka_unit_test(there_is_a_core),
    };

    return cmocka_run_group_tests_name("thread", t, NULL, NULL);
}
