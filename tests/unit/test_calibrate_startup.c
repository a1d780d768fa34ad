/* The start of processes with a preloaded library, on the stand-in: a lock that is planted in
 * our library comes back for 1, 8 and 64 at once. A program apart from
 * test_calibrate_intercept.c, since so many processes take their time. */
#include "tests/support/standin.h"

/* A library that starts one process at a time, 700 us each: a start alone, the mean wait of n at
 * once ((n + 1) / 2 turns), the longest (n turns). */
static void planted_start(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    char *lock = xasprintf("%s/lock", temp_dir());
    setenv("GPUSIM_INTERCEPT_START_LOCK", lock, 1);
    setenv("GPUSIM_INTERCEPT_START_NS", "700000", 1);
    effort = "";
    struct measured m = measure("context_ms=1;context_MiB=50;memory_GiB=64", "--only intercept");
    struct measured small = measure("context_ms=1;memory_GiB=16", "--only intercept");
    assert_contains(small.said, "startup_64_ms          not measured: 64 contexts take 29.8 of");
    done(&small);
    effort = "--quick";
    unsetenv("GPUSIM_INTERCEPT_START_LOCK");
    unsetenv("GPUSIM_INTERCEPT_START_NS");
    expect(&m, "intercept.startup_ms", 0.7, 0.02, 0);
    expect(&m, "intercept.startup_8_ms", 0.7 * 4.5, 0.05, 0);
    expect(&m, "intercept.startup_64_ms", 0.7 * 32.5, 0.05, 0);
    expect(&m, "intercept.startup_longest_ms", 0.7 * 64, 0.05, 0);
    expect(&m, "intercept.startup_per_process_ms", 0.7 * 31.5 / 63, 0.05, 0);
    done(&m);
    m = measure("context_ms=1", "--only intercept");
    assert_contains(m.said, "startup_64_ms          not measured: not with --quick");
    done(&m);
    free(lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_start),
    };
    return cmocka_run_group_tests_name("starts under a preloaded library", tests, set_up, NULL);
}
