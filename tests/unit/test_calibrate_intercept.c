/* The intercept probe, whole, on the stand-in: a cost that is planted in our library's launches
 * comes back, and the quotas are what the library makes of them. Without a library nothing is a
 * number. */
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
    expect(&m, "intercept.launch_ex_ns", 925, 0, 30);
    assert_contains(m.said, "copy_ns                not measured: within the noise"); /* no hook */
    expect(&m, "intercept.seen_symbol", 1, 0, 0);
    if (strstr(m.said, "n 1  target missed")) fail_msg("a count misses no target\n%s", m.said);
    expect(&m, "intercept.seen_address", 1, 0, 0);
    expect(&m, "intercept.seen_ex", 1, 0, 0);
    expect(&m, "intercept.seen_cooperative", 1, 0, 0);
    expect(&m, "intercept.seen_graph", 1, 0, 0);
    expect(&m, "intercept.quota_reached", 1, 0.002, 0);
    /* the context is what our quota does not count: 300 of 4096 + 300 MiB */
    expect(&m, "intercept.quota_bytes_error", 300.0 / 4396, 0.05, 0);
    expect(&m, "intercept.core_10", 0.10, 0.01, 0.008); /* a batch of 16 ms at the edge of 2 s */
    expect(&m, "intercept.core_25", 0.25, 0.05, 0);
    expect(&m, "intercept.core_50", 0.5, 0.05, 0);
    expect(&m, "intercept.core_75", 0.75, 0.05, 0);
    /* While the other one has its turns they are in the measured length of a batch: each is on
     * its feet for just its quota of the time, and while both are, each gets half of what turns
     * leave. So both lose the same, at most as if the small one were never alone; the exponent
     * is of the same two figures. */
    const double small = measured_value(&m, "intercept.core_30_of_pair"),
                 large = measured_value(&m, "intercept.core_70_of_pair");
    const double each = 0.5 * 1500 / 1650;
    assert_true(fabs((0.3 - small) - (0.7 - large)) < 0.015);
    assert_true(0.3 - small > 0.05 && 0.3 - small < 0.3 * (1 - each) + 0.01);
    assert_close(measured_value(&m, "intercept.core_gain"), log(small / large) / log(3.0 / 7),
                 0.03);
    /* a bucket of 0.1 s, give or take a batch of 16 ms at half the rate; windows in steps of 0.1
     * s */
    expect(&m, "intercept.core_burst_s", 0.1, 0, 0.035);
    assert_true(measured_value(&m, "intercept.core_settled_s") <= 0.1);
    assert_true(measured_value(&m, "intercept.core_50_deviation") < 0.04);
    assert_true(measured_value(&m, "intercept.core_75_deviation") < 0.03);
    done(&m);
}

/* A bucket that is full at the start: at a quota of 50 % work goes on at full speed until bucket
 * and refill are spent, after as long as the bucket holds. A second is within 5 % of its share
 * 50 ms before. */
static void planted_burst(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    setenv("GPUSIM_INTERCEPT_BURST_MS", "1000", 1);
    struct measured m = measure("context_ms=5", "--only intercept");
    expect(&m, "intercept.core_burst_s", 1, 0, 0.035);
    expect(&m, "intercept.core_settled_s", 0.95, 0, 0.1);
    done(&m);
    /* full speed for 3 of 3.5 s: seconds of 1, 1 and 0.75 after the first half second */
    setenv("GPUSIM_INTERCEPT_BURST_MS", "3000", 1);
    m = measure("context_ms=5", "--only intercept");
    unsetenv("GPUSIM_INTERCEPT_BURST_MS");
    expect(&m, "intercept.core_50", 2.75 / 3, 0.02, 0);
    /* give or take a batch and its debt in the last second */
    expect(&m, "intercept.core_50_deviation", 0.25 / sqrt(3) / (2.75 / 3), 0, 0.025);
    assert_contains(m.said, "core_burst_s           not measured: in 6 of 6 runs the quota had not "
                            "settled after half the time");
    done(&m);
}

static void not_there(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    char *args;
    struct measured m = measure("context_ms=5", "--only launch,intercept --shim /nowhere/lib.so");
    assert_contains(m.said,
                    "launch_ns              not measured: no library to preload: /nowhere/lib.so");
    done(&m);
    /* a file that the loader passes over */
    m = measure("context_ms=5", "--only launch,intercept --shim /etc/passwd");
    assert_contains(m.said, "not measured: the library was not loaded");
    done(&m);
    /* no file at all, though files in it are mapped: the card's state */
    args = xasprintf("--only launch,intercept --shim '%s'", temp_dir());
    m = measure("context_ms=5", args);
    assert_contains(m.said, "launch_ns              not measured: no library to preload");
    done(&m);
    free(args);
    /* one that the loader would take for two */
    const char *folder = temp_dir();
    char *copy = xasprintf("mkdir -p '%s/a b' && cp '%s/libcublasLt.so.13' '%s/a b/l.so'", folder,
                           dir, folder);
    assert_int_equal(system(copy), 0);
    args = xasprintf("--only launch,intercept --shim '%s/a b/l.so'", folder);
    m = measure("context_ms=5", args);
    assert_contains(m.said, "a path to preload may hold no space and no colon");
    done(&m);
    free(args);
    free(copy);
    /* a library that holds no quota has no error of its quota; two processes get the same */
    args = xasprintf("--only launch,intercept --shim '%s/libcublasLt.so.13'", dir);
    m = measure("context_ms=5", args);
    assert_contains(m.said, "quota_reached          not measured: no quota was in force: 3.9");
    assert_contains(m.said, "(so is quota_bytes_error)");
    assert_contains(m.said, "core_burst_s           not measured: no compute quota was in force");
    assert_contains(m.said, "bounds      passed");
    expect(&m, "intercept.core_10", 1, 0.01, 0);
    expect(&m, "intercept.core_gain", 0, 0, 0.02);
    done(&m);
    free(args);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_cost_and_quotas),
        cmocka_unit_test(planted_burst),
        cmocka_unit_test(not_there),
    };
    return cmocka_run_group_tests_name("intercept probe on a stand-in card", tests, set_up, NULL);
}
