/* The self-checks on planted figures: each passes, fails and is left out for its reason. */
#include "calibrate/checks.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

static void put(struct profile_out *o, const char *group, const char *key, bool detail,
                double value, double later)
{
    const struct param_def def = { group, key, "us", "", 0, 5000, detail };
    struct sampler s;
    sampler_init(&s, &(struct stop_rule){ 0.1, 6, 100, 1 }, 0);
    for (int i = 0; i < 16; i++) sampler_add(&s, i < 8 ? value : later);
    profile_out_put(o, &def, &s, NULL, "planted");
    sampler_fini(&s);
}

static const struct profile_out *second; /* the run again; NULL: nothing */

/* Status of one check, and whether its detail holds a word. */
static void expect(const struct profile_out *o, const char *check, const char *status,
                   const char *word)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    struct profile_out *none = profile_out_create("x");
    json_t *list = self_checks(o, second ? second : none, f), *v;
    profile_out_destroy(none);
    fclose(f);
    bool found = false;
    size_t i;
    json_array_foreach(list, i, v)
    {
        if (strcmp(json_string_value(json_object_get(v, "check")), check) != 0) continue;
        found = true;
        assert_string_equal(json_string_value(json_object_get(v, "status")), status);
        assert_contains(json_string_value(json_object_get(v, "detail")), word);
    }
    assert_true(found);
    assert_contains(text, status);
    json_decref(list);
    free(text);
}

static struct profile_out *card(double q, double c, double kept)
{
    struct profile_out *o = profile_out_create("x");
    put(o, "timeslice", "quantum_us", false, q, q);
    put(o, "timeslice", "switch_us", false, c, c);
    if (kept > 0) put(o, "timeslice", "kept_compute_2", true, kept, kept);
    return o;
}

static void efficiency(void **state)
{
    struct profile_out *o = card(1000, 111, 0.92); /* implied 0.9001 */
    (void)state;
    expect(o, "efficiency", "passed", "imply 0.9001");
    profile_out_destroy(o);
    o = card(1000, 111, 0.95);
    expect(o, "efficiency", "failed", "kept 0.9500");
    profile_out_destroy(o);
    o = card(1000, 20, 0.92); /* of one thread; of full SMs: 111 */
    put(o, "timeslice", "switch_full_us", true, 111, 111);
    expect(o, "efficiency", "passed", "imply 0.9001");
    profile_out_destroy(o);
    o = card(1000, 111, 0);
    expect(o, "efficiency", "not made", "not measured");
    profile_out_destroy(o);
}

/* 2 jobs of 0.3 ms host and 1 ms card with an overhead of 0.111: MVA by hand, R(2) = 1.111 (1 +
 * Q(1)), Q(1) = 1.111 / 1.411, X(2) = 2 / (R(2) + 0.3), kept 1.3 X(2) = 1.1375; without waiting
 * 1.3 / 1.111. */
static void gaps_and_sums(void **state)
{
    struct profile_out *o = card(1000, 111, 0.9);
    (void)state;
    expect(o, "gaps", "not made", "not measured");
    put(o, "timeslice", "kept_gap_300us_2", true, 1.18, 1.18);
    expect(o, "gaps", "passed", "mean value analysis: 1.1375, without waiting: 1.1701");
    expect(o, "sums", "passed", "at most 0.9000 of one alone (kept_compute_2)");
    put(o, "timeslice", "kept_memory_7", true, 1.03, 1.03);
    expect(o, "sums", "failed", "at most 1.0300 of one alone (kept_memory_7)");
    profile_out_destroy(o);
    o = card(1000, 111, 0);
    put(o, "timeslice", "kept_gap_300us_2", true, 1.3, 1.3);
    expect(o, "gaps", "failed", "kept 1.3000");
    /* 0.1 ms: at most 1.1 / 1.111; 1 ms: at most 1.8002; the worst is told */
    put(o, "timeslice", "kept_gap_100us_2", true, 1.0, 1.0);
    expect(o, "gaps", "failed", "kept 1.3000");
    put(o, "timeslice", "kept_gap_1ms_2", true, 0.2, 0.2);
    expect(o, "gaps", "failed", "(kept_gap_1ms_2, the farthest off)");
    expect(o, "sums", "not made", "not measured");
    profile_out_destroy(o);
    /* Turns longer than the kernels: a change for each kernel, 1.1 / 1.4 kept at the least. */
    o = card(2000, 400, 0);
    put(o, "timeslice", "kept_gap_100us_2", true, 0.79, 0.79);
    expect(o, "gaps", "passed", "kept 0.7900");
    put(o, "timeslice", "kept_gap_300us_2", true, 0.79, 0.79); /* 1.3 / 1.4 less 0.1 */
    expect(o, "gaps", "failed", "(kept_gap_300us_2, the farthest off)");
    profile_out_destroy(o);
}

static void rerun(void **state)
{
    struct profile_out *o = card(1000, 111, 0.9), *again = profile_out_create("x");
    (void)state;
    put(o, "base", "launch_us", false, 4, 4);
    put(o, "base", "mem_Bps", false, 1000, 1000);
    expect(o, "rerun", "not made", "neither");
    put(again, "base", "launch_us", false, 4.08, 4.08);
    second = again;
    expect(o, "rerun", "passed", "at most 2.00 % off after everything else (launch_us)");
    put(again, "base", "mem_Bps", false, 960, 960);
    expect(o, "rerun", "failed", "4.00 % off after everything else (mem_Bps)");
    second = NULL;
    profile_out_destroy(again);
    profile_out_destroy(o);
}

static void bounds_and_drift(void **state)
{
    struct profile_out *o = card(1000, 111, 0.9);
    (void)state;
    expect(o, "bounds", "passed", "nothing");
    expect(o, "drift", "passed", "at most 0.00 %");
    put(o, "base", "launch_us", false, 6000, 6000); /* bound: 5000 */
    put(o, "base", "alloc_us", false, 100, 104);
    expect(o, "bounds", "failed", "1 figures");
    expect(o, "drift", "failed", "4.00 % (alloc_us)");
    profile_out_destroy(o);
    o = profile_out_create("x");
    expect(o, "drift", "not made", "8 samples");
    profile_out_destroy(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(efficiency),
        cmocka_unit_test(gaps_and_sums),
        cmocka_unit_test(rerun),
        cmocka_unit_test(bounds_and_drift),
    };
    return cmocka_run_group_tests_name("calibrate checks", tests, NULL, NULL);
}
