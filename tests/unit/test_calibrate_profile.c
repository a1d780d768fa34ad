/* The writer of profiles: no number beyond its bounds, no parameter that is both a number and
 * missing; what one process tells another arrives whole. */
#include "calibrate/profile_write.h"
#include "tests/support/support.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seven samples: the interval is from the least to the largest. What lies beyond the bound is in
 * the samples, not in the profile. */
static void no_interval_above_the_bound(void **state)
{
    static const double v[] = { 95, 97, 99, 100, 101, 103, 104 };
    const struct param_def def = { "base", "mem_Bps", "B/s", "", 96, 1000, false };
    const struct bound b = { .min = NAN, .max = 102.5, .why_max = "the sheet's 102.5" };
    const struct stop_rule rule = { 0.01, 6, 100, 1 };
    struct profile_out *o = profile_out_create("x");
    struct sampler s;
    (void)state;
    sampler_init(&s, &rule, 0);
    for (size_t i = 0; i < 7; i++) sampler_add(&s, v[i]);
    assert_int_equal(profile_out_put(o, &def, &s, &b, "planted"), PARAM_MEASURED);
    json_t *device = json_object(), *profile = profile_out_json(o, device);
    const json_t *p = json_object_get(json_object_get(profile, "base"), "mem_Bps");
    assert_close(json_number_value(json_object_get(p, "value")), 100, 1e-12);
    assert_close(json_number_value(json_object_get(p, "low")), 96, 1e-12);
    assert_close(json_number_value(json_object_get(p, "high")), 102.5, 1e-12);
    assert_contains(json_string_value(json_object_get(p, "method")),
                    "; interval cut off at the sheet's 102.5");
    json_decref(profile);
    json_decref(device);
    sampler_fini(&s);
    profile_out_destroy(o);
}

/* To be told twice, as a number and as missing, ends the program. */
static void no_parameter_has_two_fates(void **state)
{
    const struct param_def def = { "base", "launch_us", "us", "", 0, 1000, false };
    int status = 0;
    (void)state;
    const pid_t pid = fork();
    if (pid == 0) {
        struct profile_out *o = profile_out_create("x");
        const struct rlimit none = { 0, 0 };
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL); /* the test's own handler would report it */
        if (!freopen("/dev/null", "w", stderr)) _exit(1);
        profile_out_missing(o, &def, "no card");
        profile_out_missing(o, &def, "no card");
        _exit(0);
    }
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* A measurement, a missing one and a curve, told by one profile and taken by another: the same
 * documents. */
static struct profile_out *taker;

static void take(void *told, const struct param_def *def, const void *bytes, size_t n)
{
    ++*(int *)told;
    profile_out_take(taker, def, bytes, n);
}

static char *documents(const struct profile_out *o)
{
    struct strbuf b = { 0 };
    json_t *device = json_object(), *profile = profile_out_json(o, device);
    json_t *samples = profile_out_samples_json(o);
    json_write(profile, &b);
    json_write(samples, &b);
    json_decref(profile);
    json_decref(samples);
    json_decref(device);
    return b.s;
}

static void what_is_told_arrives(void **state)
{
    static const double share[] = { 0.125, 1 }, speed[] = { 1.0 / 7, 1 };
    const struct param_def number = { "base", "launch_us", "us", "", 0, 1000, false },
                           gone = { "base", "alloc_us", "us", "", 0, 1000, true },
                           curve = { "base", "width_curve", "", "", 0, 1, false };
    const struct stop_rule rule = { 0.01, 6, 100, 1 };
    struct profile_out *o = profile_out_create("x");
    struct sampler s;
    int told = 0;
    (void)state;
    taker = profile_out_create("x");
    profile_out_tell(o, take, &told);
    sampler_init(&s, &rule, 0);
    for (int i = 0; i < 9; i++) sampler_add(&s, 2 + i / 3.0);
    sampler_discard(&s);
    profile_out_put(o, &number, &s, NULL, "planted");
    profile_out_missing(o, &gone, "no %s", "card");
    profile_out_curve(o, &curve, share, speed, 2, "planted");
    assert_int_equal(told, 3);
    char *here = documents(o), *there = documents(taker);
    assert_string_equal(here, there);
    assert_contains(there, "\"max\": 4.66666666666667");
    assert_contains(there, "no card");
    assert_contains(there, "0.142857142857143");
    free(here);
    free(there);
    sampler_fini(&s);
    profile_out_destroy(o);
    profile_out_destroy(taker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_interval_above_the_bound),
        cmocka_unit_test(no_parameter_has_two_fates),
        cmocka_unit_test(what_is_told_arrives),
    };
    return cmocka_run_group_tests_name("calibrate's profile", tests, NULL, NULL);
}
