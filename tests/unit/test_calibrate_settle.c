/* Work in bins of time: rate, deviation over windows, settling time, against values worked out by
 * hand. */
#include "calibrate/settle.h"
#include "tests/support/support.h"

#include <math.h>

/* Forty bins of 0.1 s: ten kernels each, another number in the first `burst`. */
static struct bins step(size_t burst, unsigned first)
{
    struct bins b = { .n = 40, .width_s = 0.1 };
    for (size_t i = 0; i < b.n; i++) b.count[i] = i < burst ? first : 10;
    return b;
}

static void rates(void **state)
{
    (void)state;
    struct bins b = step(4, 35);
    assert_close(bins_rate(&b, 0), (4 * 35 + 36 * 10) / 4.0, 1e-12);
    assert_close(bins_rate(&b, 4), 100, 1e-12);
    assert_true(isnan(bins_rate(&b, 40)));
}

/* Windows of a second: 90, 110, 100 kernels deviate by 10 around 100; what does not fill a
 * window at the front is left out. */
static void deviation(void **state)
{
    (void)state;
    struct bins b = step(0, 0);
    b.count[15] = 0;
    b.count[25] = 20;
    assert_close(bins_deviation(&b, 10, 10), 0.1, 1e-12);
    b.count[9] = 99; /* before the windows */
    assert_close(bins_deviation(&b, 5, 10), 0.1, 1e-12);
    /* four windows: 110, 90, 110, 100; mean 102.5, squares 56.25 156.25 56.25 6.25 */
    b.count[9] = 20;
    assert_close(bins_deviation(&b, 0, 10), sqrt(275.0 / 3) / 102.5, 1e-12);
    assert_true(isnan(bins_deviation(&b, 25, 10))); /* one window */
    b = step(40, 0);
    assert_true(isnan(bins_deviation(&b, 0, 10))); /* no work */
}

/* A burst of 0.6 s at twice the rate: a window that starts at 0.5 s holds one bin of it, 110
 * kernels for 100. */
static void settling(void **state)
{
    (void)state;
    struct bins b = step(6, 20);
    assert_close(bins_settled_s(&b, 10, 0.05), 0.6, 1e-12);
    assert_close(bins_settled_s(&b, 10, 0.1), 0.5, 1e-12);
    assert_close(bins_settled_s(&b, 10, 0.55), 0.1, 1e-12);
    b = step(0, 0);
    assert_close(bins_settled_s(&b, 10, 0.05), 0, 0);
    b = step(20, 20);
    assert_close(bins_settled_s(&b, 10, 0.05), 2, 1e-12);
    b = step(24, 20); /* into the second half */
    assert_true(isnan(bins_settled_s(&b, 10, 0.05)));
    b = step(0, 0);
    b.count[39] = 30; /* never quiet */
    assert_true(isnan(bins_settled_s(&b, 10, 0.05)));
    b = step(40, 0); /* no work at all */
    assert_true(isnan(bins_settled_s(&b, 10, 0.05)));
    b.n = 15;
    assert_true(isnan(bins_settled_s(&b, 10, 0.05)));
}

/* Ten kernels a bin later on; six bins of 20 are 60 too many, which take 0.6 s at that rate. */
static void burst(void **state)
{
    (void)state;
    struct bins b = step(6, 20);
    assert_close(bins_burst_s(&b), 0.6, 1e-12);
    b = step(3, 0); /* a late start is a debt */
    assert_close(bins_burst_s(&b), -0.3, 1e-12);
    b.n = 39; /* 19 and 20 bins */
    assert_close(bins_burst_s(&b), -0.3, 1e-12);
    b = step(40, 0);
    assert_true(isnan(bins_burst_s(&b)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates),
        cmocka_unit_test(deviation),
        cmocka_unit_test(settling),
        cmocka_unit_test(burst),
    };
    return cmocka_run_group_tests_name("settling", tests, NULL, NULL);
}
