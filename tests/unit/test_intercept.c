/* The interception library on the stand-in driver: every way to a launch reaches it, names are
 * exact, quotas hold, threads and forks do no harm. */
#include "base/mem.h"
#include "tests/support/support.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *dir, *shim;

static int set_up(void **state)
{
    (void)state;
    dir = getenv("GPUSIM_STANDIN_DIR");
    shim = getenv("GPUSIM_SHIM");
    return 0;
}

/* What the client prints, under the library or without, on the clock that does not wait where it
 * has one thread. The planted calls take no time. */
static char *client(const char *env, bool preload, const char *args)
{
    const bool alone = strncmp(args, "rate", 4) == 0;
    char *command = xasprintf(
        "GPUSIM_STANDIN_STATE='%s/state' LD_LIBRARY_PATH='%s' %s "
        "GPUSIM_STANDIN='alloc_us=0;free_us=0;launch_us=0;context_ms=1;graph_node_us=50;%s' "
        "LD_PRELOAD='%s%s%s%s' '%s/client' %s",
        temp_dir(), dir, env, "noise=0", preload ? shim : "", preload && alone ? ":" : "",
        alone ? dir : "", alone ? "/libclock.so" : "", dir, args);
    char *text = xcalloc(1, 4096);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    const size_t n = fread(text, 1, 4095, f);
    const int st = pclose(f);
    if (!WIFEXITED(st) || WEXITSTATUS(st) != 0 || n == 0) fail_msg("%s\n%s", command, text);
    free(command);
    return text;
}

static void expect(const char *env, const char *args, const char *part)
{
    char *text = client(env, true, args);
    assert_contains(text, part);
    free(text);
}

#define NEED_STANDIN                                                                               \
    if (!dir || !shim) skip_without("calibrate (nvcc)")

/* 3 linked + 5 by dlsym + 7 and 11 by the two forms of cuGetProcAddress + 1 into a capture. */
static void every_path(void **state)
{
    (void)state;
    NEED_STANDIN;
    expect("", "coverage", "kernel 27 ex 2 cooperative 4 graph 6 seen 33\n");
    expect("", "coverage", "followed 0 cudnnCreate 0 cuNoSuchCall 0 prefix 0\n");
    char *text = client("", false, "coverage"); /* without: nothing is counted, all the same runs */
    assert_contains(text, "kernel 0 ex 0 cooperative 0 graph 0 seen 33\n");
    free(text);
}

/* 64 MiB are 32 units of 2 MiB. */
static void memory_quota(void **state)
{
    (void)state;
    NEED_STANDIN;
    expect("GPUSIM_MEMORY_LIMIT=64m", "quota", "units 32 free 0 total 67108864 device 67108864\n");
    expect("GPUSIM_MEMORY_LIMIT=67108864", "quota", "full managed 2 async 2 pitch 2\n");
    expect("GPUSIM_MEMORY_LIMIT=64m", "quota", "again 0 0 0 2\n");
    expect("GPUSIM_MEMORY_LIMIT=67108863", "quota", "units 31 ");
    char *text = client("GPUSIM_MEMORY_LIMIT=64m", false, "quota"); /* the card: 16 GiB */
    assert_contains(text, "units 4096 ");
    free(text);
    expect("", "quota", "units 4096 "); /* and under the library without a quota */
}

/* With per-thread default streams: 1 + 2 + 3 + 4 kernels, and one of each other kind by each of
 * four ways. */
/* What is no quota is told and is none; arguments that are not there are the driver's to refuse. */
static void odd_settings_and_arguments(void **state)
{
    static const char *const odd[] = { "4.5g", "-1", "lots", "64q", "64mb", "99999999999g" };
    (void)state;
    NEED_STANDIN;
    expect("GPUSIM_MEMORY_LIMIT=64M", "quota", "units 32 ");
    expect("GPUSIM_MEMORY_LIMIT=65536K", "quota", "units 32 ");
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char *env = xasprintf("2>&1 GPUSIM_MEMORY_LIMIT=%s", odd[i]);
        expect(env, "nothing", "GPUSIM_MEMORY_LIMIT: expected bytes, or with k, m, g, found \"");
        free(env);
    }
    expect("2>&1 GPUSIM_CORE_LIMIT=half", "nothing", "GPUSIM_CORE_LIMIT: expected a percentage");
    expect("GPUSIM_MEMORY_LIMIT=64m GPUSIM_CORE_LIMIT=50", "nothing", "refused 1 1 1 1 1 1\n");
}

static void per_thread_streams(void **state)
{
    (void)state;
    NEED_STANDIN;
    expect("", "per-thread", "per thread: kernel 10 ex 4 cooperative 4 graph 4; plain 0 seen 18\n");
}

/* 64 MiB are 32 units of 2 MiB by every call that takes memory, however the program came by the
 * call; full is full, and what is given back can be taken again. */
static void every_allocation(void **state)
{
    static const char *const routes[] = { "linked", "dlsym", "address", "address2" };
    (void)state;
    NEED_STANDIN;
    for (size_t i = 0; i < 4; i++) {
        char args[32];
        snprintf(args, sizeof args, "paths %s", routes[i]);
        char *text = client("GPUSIM_MEMORY_LIMIT=64m", true, args);
        int held = 0;
        for (const char *p = text; (p = strstr(p, ": 32 (2) 32 (2)\n")); p++) held++;
        if (held != 12) fail_msg("%s\n%s", args, text);
        free(text);
    }
    char *text = client("GPUSIM_STANDIN_X= ", false, "paths linked"); /* without: the card's */
    assert_contains(text, "cuMemCreate cuMemRelease: 4096 (0) 4096 (0)\n");
    free(text);
}

static void handles_arrays_contexts(void **state)
{
    (void)state;
    NEED_STANDIN;
    const char *env = "GPUSIM_MEMORY_LIMIT=1g";
    /* three units that outlive their handle, and their mapping; two mappings of one; the host's */
    expect(env, "handles", "created 3 released 3 retained 3 gone 0\nhalf 2 none 0 host 0\n");
    /* 100 x 30 x 4; x 7 of 2 halves; 1000 floats; half a byte and one a texel; 12 bits; 4
     * shorts; sparse; floats of 8 x 4 x 2, 4 x 2 x 1, 2 x 1 x 1, 1 x 1 x 1; six faces of 8 x 4
     * and 4 x 2 */
    expect(env, "arrays", "bytes 12000 84000 4000 2048 4096 6144 32768 0 300 960 left 0\n");
    expect(env, "contexts", "four 4 after 2 held 3 released 2 reset 2\n");
}

static void threads(void **state)
{
    (void)state;
    NEED_STANDIN;
    expect("GPUSIM_MEMORY_LIMIT=24m", "threads", "units 12 launches 24000 of 24000\n");
    expect("GPUSIM_MEMORY_LIMIT=24m GPUSIM_CORE_LIMIT=90", "threads",
           "units 12 launches 24000 of 24000\n");
    expect("GPUSIM_MEMORY_LIMIT=24m", "memory-threads", "units 12\n");
}

/* The hooks inside the client, all under TSan: a race ends it. */
static void races(void **state)
{
    (void)state;
    char *path = xasprintf("%s/client_tsan", dir ? dir : "");
    if (!dir || access(path, X_OK) != 0) {
        free(path);
        skip_without("client under TSan (make tsan builds it)");
    }
    static const char *const what[] = { "threads", "memory-threads", "paths linked", "contexts" };
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        char *command = xasprintf(
            "GPUSIM_STANDIN_STATE='%s/state' LD_LIBRARY_PATH='%s' GPUSIM_MEMORY_LIMIT=24m "
            "GPUSIM_CORE_LIMIT=90 GPUSIM_STANDIN='alloc_us=0;free_us=0;launch_us=0;context_ms=1' "
            "'%s' %s >'%s/said' 2>&1",
            temp_dir(), dir, path, what[i], temp_dir());
        const int st = system(command);
        if (st != 0) fail_msg("status %d: %s", st, command);
        free(command);
    }
    free(path);
}

static void forks(void **state)
{
    (void)state;
    NEED_STANDIN;
    char *text = client("GPUSIM_MEMORY_LIMIT=64m", true, "fork");
    int children = 0;
    for (const char *p = text; (p = strstr(p, "child units 32 seen 0\n")); p++) children++;
    assert_int_equal(children, 5);
    assert_contains(text, "parent units 32\n");
    free(text);
}

/* The share of wall time for which kernels ran: the limit, whatever the kernels' length. The bucket
 * starts full, 0.1 s of wall time in 1.5 s, so limit x 1.07 and a batch are right. */
static void compute_quota(void **state)
{
    static const struct {
        int limit;
        double us;
    } c[] = { { 25, 1000 }, { 50, 1000 }, { 75, 1000 }, { 25, 200 }, { 25, 8000 }, { 30, -500 } };
    (void)state;
    NEED_STANDIN;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        char env[64], args[64];
        double rate = 0;
        snprintf(env, sizeof env, "GPUSIM_CORE_LIMIT=%d", c[i].limit);
        snprintf(args, sizeof args, "rate %g", c[i].us);
        char *text = client(env, true, args);
        assert_int_equal(sscanf(text, "rate %lf", &rate), 1);
        if (!(rate > 0.01 * c[i].limit * 0.98 && rate < 0.01 * c[i].limit * 1.15))
            fail_msg("limit %d, kernels of %g us: rate %g", c[i].limit, c[i].us, rate);
        free(text);
    }
    char *text = client("GPUSIM_CORE_LIMIT=100", true, "rate 1000"); /* off */
    double rate = 0;
    assert_int_equal(sscanf(text, "rate %lf", &rate), 1);
    assert_true(rate > 0.9);
    free(text);
}

/* A tenth of the time on the card, the rest the host's: a quota of 30 % costs it nothing, one of
 * 5 % makes it wait twice as long. The waits between launches are not kernel time. */
static void gaps_are_free(void **state)
{
    static const struct {
        const char *env;
        double each_s;
    } c[] = { { "GPUSIM_CORE_LIMIT=30", 0.020 }, { "GPUSIM_CORE_LIMIT=5", 0.040 } };
    (void)state;
    NEED_STANDIN;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        double each = 0;
        char *text = client(c[i].env, true, "rate-gapped");
        assert_int_equal(sscanf(text, "rate %lf", &each), 1);
        /* in 100 of them: 0.1 s from the bucket less, and what the last ones owe */
        if (!(each > c[i].each_s - 0.002 && each < c[i].each_s + 0.0005))
            fail_msg("%s: %g s each, expected %g", c[i].env, each, c[i].each_s);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_path),
        cmocka_unit_test(per_thread_streams),
        cmocka_unit_test(odd_settings_and_arguments),
        cmocka_unit_test(memory_quota),
        cmocka_unit_test(every_allocation),
        cmocka_unit_test(handles_arrays_contexts),
        cmocka_unit_test(threads),
        cmocka_unit_test(races),
        cmocka_unit_test(forks),
        cmocka_unit_test(compute_quota),
        cmocka_unit_test(gaps_are_free),
    };
    return cmocka_run_group_tests_name("interception library", tests, set_up, NULL);
}
