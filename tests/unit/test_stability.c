/* Does the queue still grow: straight lines by hand, and how often a queue that does not grow is
 * called unstable. */
#include "tests/support/support.h"

#include "metrics/stability.h"

#include <math.h>

enum { N = 32 };

static bool is_stable(const double *batch, size_t n, double before, double waiting)
{
    const struct queue_trend t = stability_trend(batch, n, before, waiting);
    return stability_is_stable(&t);
}

static void growth_of_lines(void **state)
{
    double batch[N], growth, error;
    (void)state;
    for (int i = 0; i < N; i++) batch[i] = 3 + 2.385 * i;
    stability_growth(batch, N, &growth, &error);
    assert_close(growth, 2.385 * (N - 1), 1e-9);
    assert_true(error < 1e-6);
    assert_false(is_stable(batch, N, 1, 0.02));
    for (int i = 0; i < N; i++) batch[i] = 100 - 2.385 * i;
    stability_growth(batch, N, &growth, &error);
    assert_close(growth, -2.385 * (N - 1), 1e-9);
    assert_true(is_stable(batch, N, 1, 0));
    for (int i = 0; i < N; i++) batch[i] = 7;
    assert_true(is_stable(batch, N, 7, 0));
    for (int i = 0; i < N; i++) batch[i] = 0;
    assert_true(is_stable(batch, N, 0, 0)); /* nobody ever waited */
}

/* Growth below one job, a queue no longer than before, or one that is nearly gone, is no growth. */
static void small_or_usual_growth(void **state)
{
    double batch[N];
    (void)state;
    for (int i = 0; i < N; i++) batch[i] = 0.9 * i / (N - 1);
    assert_true(is_stable(batch, N, 0, 0));
    for (int i = 0; i < N; i++) batch[i] = 50 + i;
    assert_true(is_stable(batch, N, 60, 0)); /* mean 65.5 < 1.3 x 60 */
    assert_false(is_stable(batch, N, 40, 0.02));
    assert_true(is_stable(batch, N, 40, 0.004)); /* a burst: hardly anybody is left at the end */
}

/* A backlog that has stopped growing but that nothing clears. */
static void standing_backlog(void **state)
{
    double batch[N];
    (void)state;
    for (int i = 0; i < N; i++) batch[i] = 660 + (i % 3) * 10;
    assert_false(is_stable(batch, N, 250, 0.58));
    assert_true(is_stable(batch, N, 250, 0.05));
    assert_true(is_stable(batch, N, 600, 0.58)); /* as long as ever */
}

static void too_few_batches(void **state)
{
    const double batch[] = { 1, 9 };
    double growth, error;
    (void)state;
    stability_growth(batch, 2, &growth, &error);
    assert_true(growth == 0 && error == 0);
    assert_true(is_stable(batch, 2, 0, 0));
}

/* Correlated noise around a level: at most one in ten is called unstable. */
static void noise_is_stable(void **state)
{
    uint64_t seed = test_seed();
    int unstable = 0;
    (void)state;
    for (int run = 0; run < 500; run++) {
        double batch[N], x = 10, before = 10;
        for (int i = 0; i < N; i++) {
            const double noise = (double)(test_random(&seed) >> 11) * 0x1p-53 - 0.5;
            x = 10 + 0.7 * (x - 10) + 6 * noise;
            batch[i] = fmax(x, 0);
        }
        unstable += !is_stable(batch, N, before, 0);
    }
    assert_true(unstable <= 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growth_of_lines),  cmocka_unit_test(small_or_usual_growth),
        cmocka_unit_test(standing_backlog), cmocka_unit_test(too_few_batches),
        cmocka_unit_test(noise_is_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
