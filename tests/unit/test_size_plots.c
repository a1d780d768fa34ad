/* test_size_plots.c - pictures of a sizing written by hand: which are made, what is in their
 * data, and that gnuplot draws them, the target and the gaps included. */
#include "support/stored_plots.h"

#include "base/str.h"
#include "plots/size_plots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct err err;

static const char *sizing(const char *text)
{
    return stored("size.json", text);
}

#define TARGET(value, low, high, verdict)                                                          \
    "{'value': " value ", 'low': " low ", 'high': " high ", 'verdict': '" verdict "'}"
#define FLEET(nodes, cards, met, one, two)                                                         \
    "{'nodes': " nodes ", 'cards': " cards ", 'met': " met ", 'targets': [" one ", " two "]}"
#define NONE TARGET("null", "null", "null", "missed")

static const char two_policies[] =
    "{'format': 'gpusim-size/1', 'slo': ['jobs.wait_s.p95<=600', 'services.0.attainment >= 0.99'], "
    "'policies': ["
    "{'name': 'whole', 'over': {'fleet.a.gpu': 'l4'}, 'tried': [" FLEET("1", "4", "false", NONE, NONE) ", " FLEET(
        "2", "8", "false", TARGET("900", "700", "1100", "missed"),
        NONE) ", " FLEET("3", "12", "true", TARGET("30", "null", "null", "met"),
                         NONE) "]}, "
                               "{'name': 'mig', 'over': {'fleet.a.gpu': 'l4'}, 'problem': 'no slices', 'tried': []}, "
                               "{'name': 'whole', 'over': {'fleet.a.gpu': 'a100'}, 'tried': [" FLEET(
                                   "2", "8", "true", TARGET("60", "50", "70", "met"),
                                   NONE) "]}, "
                                         "{'name': 'mig', 'over': {'fleet.a.gpu': 'a100'}, 'tried': [" FLEET(
                                             "2", "8", "true", TARGET("5", "4", "6", "met"),
                                             NONE) "]}]}";

static void a_target_over_cards(void **state)
{
    size_t n;
    (void)state;
    if (!have_gnuplot()) skip_without("gnuplot");
    const char *dir = sizing(two_policies);
    err = (struct err){ 0 };
    if (size_plots_build(dir, NULL, LANG_EN, &n, &err) != 0) fail_msg("%s: %s", err.where, err.msg);
    assert_int_equal(n, 1); /* nobody has the second figure */
    char *t = plot_file(dir, "size_curve_1_jobs_wait_s_p95.tsv");
    assert_string_equal(
        t,
        "axis\tfigure\ttarget\tlimit\tcolours\tdashes\taxis in words\tfigure in words\n"
        "cards\tjobs.wait_s.p95\ttarget: \xe2\x89\xa4 600 s\t600\t 1 1 2\t 1 2 2\tnumber of cards\twait, p95 (s)\n"
        "\n\nwhole, card of a = l4\tmean\tlow\thigh\tmet\ttext\n"
        "4\tNaN\tNaN\tNaN\t0\twhole, card of a = l4, 4 cards, 1 nodes: n/a, missed\n"
        "8\t900\t700\t1100\t0\twhole, card of a = l4, 8 cards, 2 nodes: 900 s, missed\n"
        "12\t30\t30\t30\t1\twhole, card of a = l4, 12 cards, 3 nodes: 30 s, met\n"
        "\n\nwhole, card of a = a100\tmean\tlow\thigh\tmet\ttext\n"
        "8\t60\t50\t70\t1\twhole, card of a = a100, 8 cards, 2 nodes: 60 s, met\n"
        "\n\nmig, card of a = a100\tmean\tlow\thigh\tmet\ttext\n"
        "8\t5\t4\t6\t1\tmig, card of a = a100, 8 cards, 2 nodes: 5.0 s, met\n");
    free(t);
    t = plot_file(dir, "size_curve_1_jobs_wait_s_p95.svg");
    assert_contains(t, ">target: \xe2\x89\xa4 600 s<"); /* in the key */
    assert_contains(t, ">whole, card of a = a100<");
    assert_contains(t, "12 cards, 3 nodes: 30 s, met"); /* under the pointer */
    assert_contains(t,
                    "<title id=\"size_curve_1_jobs_wait_s_p95-t\">wait, p95 over number of cards<");
    assert_contains(t,
                    "<desc id=\"size_curve_1_jobs_wait_s_p95-d\">A line a policy over the fleets");
    free(t);
    assert_false(plot_exists(dir, "size_curve_2_services_0_attainment.tsv"));
}

/* A share and its target are in %. */
static void shares(void **state)
{
    size_t n;
    (void)state;
    if (!have_gnuplot()) skip_without("gnuplot");
    const char *dir = sizing(
        "{'format': 'gpusim-size/1', 'slo': ['gpu.allocated<=0.85'], 'policies': [{'name': 'mig', "
        "'tried': [{'nodes': 1, 'cards': 4, 'met': true, 'targets': [" TARGET("0.5", "0.45", "0.55",
                                                                              "met") "]}]}]}");
    err = (struct err){ 0 };
    if (size_plots_build(dir, NULL, LANG_EN, &n, &err) != 0) fail_msg("%s: %s", err.where, err.msg);
    char *t = plot_file(dir, "size_curve_1_gpu_allocated.tsv");
    assert_contains(t, "target: \xe2\x89\xa4 85 %\t85\t");
    assert_contains(t, "\n4\t50\t45\t55\t1\tmig, 4 cards, 1 nodes: 50.0 %, met\n");
    free(t);
}

/* As in a sizing of two of four policies; no fleet of the last has the figure. */
static void colours_and_key(void **state)
{
    size_t n;
    (void)state;
    if (!have_gnuplot()) skip_without("gnuplot");
    const char *dir = sizing(
        "{'format': 'gpusim-size/1', 'slo': ['jobs.wait_s.p95<=600', 'gpu.count<=9'], 'policy_order': ['whole', "
        "'mig', 'mps', 'lost'], 'policies': [{'name': 'mig', 'tried': [" FLEET(
            "1", "4", "true", TARGET("30", "30", "30", "met"),
            NONE) "]}, {'name': 'lost', 'tried': [" FLEET("1", "4", "false", NONE, NONE) "]}]}");
    err = (struct err){ 0 };
    if (size_plots_build(dir, NULL, LANG_EN, &n, &err) != 0) fail_msg("%s: %s", err.where, err.msg);
    char *t = plot_file(dir, "size_curve_1_jobs_wait_s_p95.tsv");
    assert_contains(t, "\t600\t 2 3\t 1 1\tnumber of cards\t");
    free(t);
    t = plot_file(dir, "size_curve_1_jobs_wait_s_p95.svg");
    assert_contains(t, "rgb(181, 136,  25)"); /* the second of style.gp */
    assert_null(strstr(t, "rgb( 34, 148, 255)"));
    assert_contains(t, ">lost<");
    free(t);
}

#define ONE_TRIAL(slo, trial)                                                                       \
    "{'format': 'gpusim-size/1', 'slo': [" slo "], 'policies': [{'name': 'a', 'tried': [" trial "]}]}"

/* What is missing or of another type is told with its place, and nothing is drawn. */
static void mistakes(void **state)
{
    static const struct {
        const char *text, *where, *msg;
    } bad[] = {
        { "[", "size.json:1:1", "" },
        { "{'format': 'gpusim-sweep/1', 'slo': [], 'policies': []}", "/format",
          "expected \"format\": \"gpusim-size/1\", found \"gpusim-sweep/1\"" },
        { "{'format': 'gpusim-size/1', 'slo': []}", "size.json:1:1", "missing \"policies\"" },
        { "{'format': 'gpusim-size/1', 'policies': []}", "size.json:1:1", "missing \"slo\"" },
        { "{'format': 'gpusim-size/1', 'slo': [1], 'policies': []}", "/slo/0",
          "expected a string, found 1" },
        { "{'format': 'gpusim-size/1', 'slo': ['<='], 'policies': []}", "/slo/0",
          "expected a figure, a comparison and a number, found \"<=\"" },
        { "{'format': 'gpusim-size/1', 'slo': ['x 3'], 'policies': []}", "/slo/0",
          "expected a figure, a comparison and a number" },
        { "{'format': 'gpusim-size/1', 'slo': ['<=3'], 'policies': []}", "/slo/0",
          "expected a figure, a comparison and a number" },
        { "{'format': 'gpusim-size/1', 'slo': [], 'policies': [1]}", "/policies/0",
          "expected an object, found 1" },
        { "{'format': 'gpusim-size/1', 'slo': [], 'policies': [{'name': 2, 'tried': []}]}",
          "/policies/0/name", "expected a string, found 2" },
        { "{'format': 'gpusim-size/1', 'slo': [], 'policies': [{'name': 'a', 'over': [1], 'tried': []}]}",
          "/policies/0/over", "expected an object, found an array" },
        { "{'format': 'gpusim-size/1', 'slo': [], 'policies': [{'name': 'a', 'tried': {}}]}",
          "/policies/0/tried", "expected an array, found an object" },
        { ONE_TRIAL("'x<=1'", "{}"), "/policies/0/tried/0", "missing \"nodes\"" },
        { ONE_TRIAL("'x<=1'", "{'nodes': -1, 'cards': 1, 'met': true, 'targets': []}"),
          "/policies/0/tried/0/nodes", "expected a count, found -1" },
        { ONE_TRIAL("'x<=1'", "{'nodes': 1, 'cards': 1, 'met': 1, 'targets': []}"),
          "/policies/0/tried/0/met", "expected true or false, found 1" },
        { ONE_TRIAL("'x<=1'", "{'nodes': 1, 'cards': 1, 'met': true, 'targets': []}"),
          "/policies/0/tried/0/targets", "expected 1, as many as /slo has, found 0" },
        { ONE_TRIAL("'x<=1'", "{'nodes': 1, 'cards': 1, 'met': true, 'targets': [" TARGET(
                                  "'a'", "1", "1", "met") "]}"),
          "/policies/0/tried/0/targets/0/value", "expected a number or null, found \"a\"" },
    };
    size_t n;
    (void)state;
    err = (struct err){ 0 };
    assert_int_equal(size_plots_build(temp_dir(), NULL, LANG_EN, &n, &err), ERR_IO);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *dir = sizing(bad[i].text);
        err = (struct err){ 0 };
        assert_int_equal(size_plots_build(dir, NULL, LANG_EN, &n, &err), ERR_INPUT);
        assert_contains(err.where, bad[i].where);
        assert_contains(err.msg, bad[i].msg);
        assert_int_equal(n, 0);
        assert_false(plot_exists(dir, ""));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_over_cards), cmocka_unit_test(shares),
        cmocka_unit_test(colours_and_key),     cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests_name("size_plots", tests, NULL, NULL);
}
