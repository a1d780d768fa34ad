/* The intercept probe, whole, on the stand-in: a cost that is planted in our library's launches comes back, and
 * the quotas are what the library makes of them. Without a library nothing is a number. */
#include "tests/support/standin.h"

static void planted_cost_and_quotas(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    setenv("GPUSIM_INTERCEPT_DELAY_NS", "900", 1);
    struct measured m = measure("context_ms=5;context_MiB=300", "--only intercept");
    unsetenv("GPUSIM_INTERCEPT_DELAY_NS");
    /* the delay is polled for, 25 ns a reading of the clock */
    expect(&m, "intercept.launch_ns", 925, 0, 30);
    expect(&m, "intercept.quota_reached", 1, 0.002, 0);
    /* the context is what our quota does not count: 300 of 4096 + 300 MiB */
    expect(&m, "intercept.quota_bytes_error", 300.0 / 4396, 0.05, 0);
    expect(&m, "intercept.core_25", 0.25, 0.05, 0);
    expect(&m, "intercept.core_50", 0.5, 0.05, 0);
    expect(&m, "intercept.core_75", 0.75, 0.05, 0);
    done(&m);
}

static void not_there(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    struct measured m = measure("context_ms=5", "--only launch,intercept --shim /nowhere/lib.so");
    assert_contains(m.said,
                    "launch_ns              not measured: no library to preload: /nowhere/lib.so");
    done(&m);
    /* a file that the loader passes over */
    m = measure("context_ms=5", "--only launch,intercept --shim /etc/passwd");
    assert_contains(m.said, "not measured: the library was not loaded");
    done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_cost_and_quotas),
        cmocka_unit_test(not_there),
    };
    return cmocka_run_group_tests_name("intercept probe on a stand-in card", tests, set_up, NULL);
}
