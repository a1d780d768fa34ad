/* Device profiles: the table of parameters, files over it, every refusal. */
#include "base/mem.h"
#include "model/profile.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char file[] =
    "{\n"
    "  \"format\": \"gpusim-profile/1\",\n"
    "  \"gpu\": \"h200-sxm5-141gb\",\n"
    "  \"device\": { \"uuid\": \"GPU-1\", \"anything\": [1] },\n"
    "  \"not_measured\": { \"mps.overhead\": \"no daemon\" },\n"
    "  \"base\": {\n"
    "    \"mem_Bps\": { \"value\": 4.1e12, \"unit\": \"B/s\", \"low\": 4.0e12, \"high\": 4.2e12, \"n\": 31,\n"
    "                 \"method\": \"triad\", \"provenance\": \"measured\" },\n"
    "    \"l2_Bps\": { \"value\": null, \"method\": \"the card was throttled\" },\n"
    "    \"width_curve\": [[0.5, 0.6], [1, 1]]\n"
    "  },\n"
    "  \"timeslice\": {\n"
    "    \"quantum_us\": { \"value\": 2050.5, \"unit\": \"us\", \"low\": 1990, \"high\": 2110,\n"
    "                    \"method\": \"two pollers\", \"provenance\": \"measured\" },\n"
    "    \"switch_us\": { \"value\": 37, \"unit\": \"us\", \"source\": \"a paper\", \"provenance\": \"published\" }\n"
    "  }\n"
    "}\n";

struct loaded {
    struct arena *a;
    struct json_doc doc;
    struct gpu_profile p;
    struct diag d;
};

static void load(struct loaded *l, const char *text)
{
    struct err e = { 0 };
    *l = (struct loaded){ .a = arena_create() };
    diag_init(&l->d);
    if (json_doc_parse(&l->doc, "p.json", text, strlen(text), &e) < 0) fail_msg("%s", e.msg);
    profile_read(&l->p, l->a, &l->doc, &l->d);
}

static void unload(struct loaded *l)
{
    diag_fini(&l->d);
    json_doc_fini(&l->doc);
    arena_destroy(l->a);
}

/* Every default is inside its own range and bounds, says what it is, and where it comes from. */
static void the_table(void **state)
{
    (void)state;
    for (int p = 0; p < PROFILE_COUNT; p++) {
        const struct profile_field *f = &profile_fields[p];
        const struct param *v = &f->dflt;
        if (!*f->group || !*f->key || !*f->unit || !*f->help)
            fail_msg("%s.%s is not described", f->group, f->key);
        assert_true(f->min < f->max);
        assert_int_equal(profile_param_find(f->group, f->key), p);
        assert_true(v->provenance != PROV_MEASURED); /* nothing was measured on any card */
        if (isnan(v->value)) {
            assert_true(isnan(v->low) && isnan(v->high));
            continue;
        }
        if (!(f->min <= v->low && v->low <= v->value && v->value <= v->high && v->high <= f->max))
            fail_msg("%s.%s: %g, %g to %g within %g to %g", f->group, f->key, v->value, v->low,
                     v->high, f->min, f->max);
        assert_true(*v->source != '\0');
    }
    assert_int_equal(profile_param_find("timeslice", "quantum"), -1);
}

static void defaults(void **state)
{
    struct gpu_profile p;
    (void)state;
    profile_defaults(&p);
    assert_string_equal(p.name, "defaults");
    assert_close(p.param[PROFILE_timeslice_quantum_us].value, 1024, 0);
    assert_int_equal(p.param[PROFILE_timeslice_quantum_us].provenance, PROV_PUBLISHED);
    /* what keeps 0.902 of the throughput: eta = q / (q + c) */
    const double c = p.param[PROFILE_timeslice_switch_us].value;
    assert_close(1024 / (1024 + c), 0.902, 1e-3);
    assert_int_equal(p.param[PROFILE_timeslice_switch_us].provenance, PROV_ASSUMED);
    assert_close(p.param[PROFILE_base_context_bytes].value, 0.4 * 1073741824, 1e-9);
    assert_close(p.param[PROFILE_mig_repartition_s].value, 12, 0);
    assert_true(isnan(p.param[PROFILE_power_idle_W].value)); /* then the catalogue says */
}

static void one_file(void **state)
{
    struct loaded l;
    (void)state;
    load(&l, file);
    if (l.d.count) fail_msg("%s: %s", l.d.problem[0].where, l.d.problem[0].msg);
    assert_string_equal(l.p.gpu, "h200-sxm5-141gb");
    assert_string_equal(l.p.name, "p.json");
    const struct param *q = &l.p.param[PROFILE_timeslice_quantum_us];
    assert_close(q->value, 2050.5, 0);
    assert_close(q->low, 1990, 0);
    assert_close(q->high, 2110, 0);
    assert_int_equal(q->provenance, PROV_MEASURED);
    assert_string_equal(q->source, "two pollers");
    assert_true(l.p.from_file[PROFILE_timeslice_quantum_us]);
    assert_string_equal(l.p.param[PROFILE_timeslice_switch_us].source, "a paper");
    assert_true(isnan(l.p.param[PROFILE_timeslice_switch_us].low));
    assert_true(isnan(l.p.param[PROFILE_base_l2_Bps].value)); /* null: not measured */
    assert_false(l.p.from_file[PROFILE_base_l2_Bps]);
    assert_close(l.p.param[PROFILE_mig_repartition_s].value, 12, 0); /* the rest: defaults */
    assert_int_equal(l.p.width.n, 2);
    assert_close(l.p.width.share[0], 0.5, 0);
    assert_close(l.p.width.speed[0], 0.6, 0);
    assert_int_equal(l.p.width.provenance, PROV_ASSUMED); /* a bare list says nothing of itself */
    unload(&l);
}

static char *with(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (!at) fail_msg("the file does not hold %s", from);
    return xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void every_mistake(void **state)
{
    static const struct {
        const char *from, *to, *says;
    } bad[] = {
        { "gpusim-profile/1", "gpusim-profile/9", "expected \"format\": \"gpusim-profile/1\"" },
        { "\"gpu\": \"h200-sxm5-141gb\",", "", "the card the profile is about" },
        { "h200-sxm5-141gb", "", "the card the profile is about" },
        { "\"device\"", "\"divice\"", "divice" },
        { "\"timeslice\": {", "\"timeslices\": {", "timeslices" },
        { "\"timeslice\": {", "\"timeslice\": 3, \"note\": {", "a group of parameters" },
        { "\"quantum_us\": {", "\"quantum_ms\": {", "quantum_ms" },
        { "2050.5", "\"2050.5\"", "to be a number in us" },
        { "2050.5", "-1", "-1 us is below the least possible, 1" },
        { "2050.5", "2e6", "2e+06 us is above the greatest possible, 1e+06" },
        { "\"low\": 1990", "\"low\": 2060", "low <= value <= high" },
        { "\"high\": 2110", "\"high\": 2000", "low <= value <= high" },
        { "\"low\": 1990", "\"low\": 0", "low 0 us is below" },
        { "\"unit\": \"us\", \"low\"", "\"unit\": \"ms\", \"low\"",
          "expected \"unit\": \"us\", found \"ms\"" },
        { "\"unit\": \"us\", \"low\"", "\"low\"", "expected \"unit\": \"us\", found nothing" },
        { "\"measured\" },\n    \"switch", "\"guessed\" },\n    \"switch", "found \"guessed\"" },
        { "\"method\": \"two pollers\", ", "", "say where the value comes from" },
        { "\"value\": 37, ", "", "\"value\" is missing" },
        { "{ \"value\": 37, \"unit\": \"us\", \"source\": \"a paper\", \"provenance\": \"published\" }",
          "37", "expected {\"value\": .., \"unit\": .., \"provenance\": ..}, found 37" },
        { "\"n\": 31", "\"N\": 31", "/N" },
        { "\"low\": 1990, ", "", "both ends of the interval, found \"high\" alone" },
        { "\"high\": 2110,", "\"high\": null,", "both ends of the interval, found \"low\" alone" },
        { "\"n\": 31", "\"n\": -1", "\"n\" to be a number of samples, found -1" },
        { "\"n\": 31", "\"n\": \"many\"", "to be a number of samples, found \"many\"" },
        { "\"mps.overhead\"", "\"timeslice.quantum_us\"", "/not_measured/timeslice.quantum_us" },
        { "\"mps.overhead\"", "\"base.width_curve\"", "/not_measured/base.width_curve" },
        { "\"mps.overhead\"", "\"base.mem_Bps\"", "found one that the file has a value of" },
        { "{ \"mps.overhead\": \"no daemon\" }", "[\"mps.overhead\"]", "expected {\"group.key\"" },
        { "{ \"uuid\": \"GPU-1\", \"anything\": [1] }", "5", "an object about the card, found 5" },
        { "\"anything\": [1]", "\"self_checks\": {}", "expected [{\"check\"" },
        { "[[0.5, 0.6], [1, 1]]", "[]", "expected 1 to 64 points" },
        { "[[0.5, 0.6], [1, 1]]", "3", "expected 1 to 64 points" },
        { "[[0.5, 0.6], [1, 1]]", "[[0.5, 0.6], [0.4, 1]]", "shares ascending" },
        { "[[0.5, 0.6], [1, 1]]", "[[0.5, 1.6]]", "at most 1" },
        { "[[0.5, 0.6], [1, 1]]", "[[0.5]]", "share of full speed" },
        { "[[0.5, 0.6], [1, 1]]", "{\"points\": [[1, 1]], \"provenance\": \"measured\"}",
          "say where it comes from" },
        { "[[0.5, 0.6], [1, 1]]", "{\"points\": [[1, 1]], \"source\": \"x\"}", "\"provenance\"" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct loaded l;
        char *text = with(file, bad[i].from, bad[i].to);
        bool said = false;
        load(&l, text);
        for (size_t k = 0; k < l.d.count && k < DIAG_KEPT; k++)
            said |= strstr(l.d.problem[k].msg, bad[i].says) ||
                    strstr(l.d.problem[k].where, bad[i].says);
        if (!said)
            fail_msg("%s: expected \"%s\", got \"%s\"", bad[i].to, bad[i].says,
                     l.d.count ? l.d.problem[0].msg : "no problem");
        unload(&l);
        free(text);
    }
    struct loaded l;
    load(&l, "[]");
    assert_contains(l.d.problem[0].msg, "expected a profile");
    unload(&l);
}

/* Said with every measured figure, and with no other; what was not made or passed is not said. */
static void failed_checks(void **state)
{
    struct loaded l;
    (void)state;
    load(&l, file);
    assert_null(l.p.failed_checks);
    unload(&l);
    char *text =
        with(file, "\"anything\": [1]",
             "\"self_checks\": [{\"check\": \"drift\", \"status\": \"failed\", \"detail\": "
             "\"4 % (launch_us)\"}, {\"check\": \"sums\", \"status\": \"passed\", "
             "\"detail\": \"\"}, {\"check\": \"gaps\", \"status\": \"not made\"}, "
             "{\"check\": \"rerun\", \"status\": \"failed\"}]");
    load(&l, text);
    assert_int_equal(l.d.count, 0);
    assert_string_equal(l.p.failed_checks, "drift, rerun");
    assert_string_equal(l.p.failed_details, "drift: 4 % (launch_us)\nrerun: no detail");
    assert_string_equal(l.p.param[PROFILE_timeslice_quantum_us].source,
                        "two pollers; self-checks of this profile failed: drift, rerun");
    assert_string_equal(l.p.param[PROFILE_timeslice_switch_us].source, "a paper");
    assert_string_equal(l.p.param[PROFILE_mig_repartition_s].source,
                        profile_fields[PROFILE_mig_repartition_s].dflt.source);
    unload(&l);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table),     cmocka_unit_test(defaults),
        cmocka_unit_test(one_file),      cmocka_unit_test(every_mistake),
        cmocka_unit_test(failed_checks),
    };
    return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
