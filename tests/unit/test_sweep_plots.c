/* test_sweep_plots.c - pictures of sweeps written by hand: which are made, what is in their data,
 * who is on the front, and that gnuplot draws them. */
#include "support/stored_plots.h"

#include "base/str.h"
#include "plots/sweep_plots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct err err;

static const char *sweep(const char *text)
{
    return stored("sweep.json", text);
}

static size_t build(const char *dir)
{
    size_t n;
    err = (struct err){ 0 };
    if (sweep_plots_build(dir, NULL, LANG_EN, &n, &err) != 0)
        fail_msg("%s: %s", err.where, err.msg);
    return n;
}

#define FIG(name, x) "'" name "': {'mean': " x ", 'low': " x ", 'high': " x "}"
#define POLICY(name, wait, cost, failed)                                                           \
    "{'name': '" name                                                                              \
    "', 'kind': 'whole', 'n': 2, 'stable': 1, 'metrics': {" FIG("jobs.wait_s.p95", wait) ", " FIG( \
        "tco.total_usd",                                                                           \
        cost) ", " FIG("jobs.submitted",                                                           \
                       "100") ", " FIG("jobs.failed",                                              \
                                       failed) ", " FIG("jobs.killed",                             \
                                                        "0") ", " FIG("jobs.rejected", "0") "}}"
#define HEAD(vary) "{'format': 'gpusim-sweep/1', 'vary': [" vary "], 'replications': 2, 'points': ["

/* Costs and waits by hand. a: (100, 50), (10, 60), (none, 70); b: (200, 55) beaten, (5, 40) but a
 * fifth of its jobs fail, (10, 80) beaten by (10, 60). Front: (100, 50), (10, 60). */
static const char one_axis[] =
    HEAD("{'path': 'fleet.pool.nodes', 'values': ['10', '2', '4']}") "{'point': 0, 'set': {'fleet.pool.nodes': '10'}, 'policies': [" POLICY(
        "a", "100", "50",
        "0") "," POLICY("b", "200", "55",
                        "0") "]},"
                             "{'point': 1, 'set': {'fleet.pool.nodes': '2'}, 'policies': [" POLICY(
                                 "a", "10", "60",
                                 "0") "," POLICY("b", "5", "40",
                                                 "20") "]},"
                                                       "{'point': 2, 'set': {'fleet.pool.nodes': '4'}, 'policies': [" POLICY(
                                                           "a", "null", "70",
                                                           "0") "," POLICY("b", "10", "80",
                                                                           "0") "]}]}";

static void curves_and_front(void **state)
{
    (void)state;
    if (!have_gnuplot()) skip_without("gnuplot");
    const char *dir = sweep(one_axis);
    assert_int_equal(build(dir), 3);
    char *t = plot_file(dir, "sweep_curve_jobs_wait_s_p95.tsv");
    assert_string_equal(
        t,
        "axis\tfigure\tscale\tcolours\taxis in words\tfigure in words\ttop\n"
        "fleet.pool.nodes\tjobs.wait_s.p95\t1\t4 1\tnodes of pool\twait, p95 (s)\t0\n"
        "\n\na\tvalue\tmean\tlow\thigh\ttext\n2\t2\t10\t10\t10\ta, 2: 10 s\n4\t4\tNaN\tNaN\tNaN\ta, 4: n/a\n"
        "10\t10\t100\t100\t100\ta, 10: 100 s\n"
        "\n\nb\tvalue\tmean\tlow\thigh\ttext\n2\t2\t5\t5\t5\tb, 2: 5 s\n4\t4\t10\t10\t10\tb, 4: 10 s\n"
        "10\t10\t200\t200\t200\tb, 10: 200 s\n");
    free(t);
    t = plot_file(dir, "sweep_curve_jobs_wait_s_p95.svg"); /* units on the axes */
    assert_contains(t, "wait, p95 (s)");
    free(t);
    t = plot_file(dir, "sweep_pareto.svg");
    assert_contains(t, "cost of the run (USD)");
    free(t);
    t = plot_file(dir, "sweep_pareto.tsv");
    assert_string_equal(
        t, "level\tcost\tedge\tcolours\tlevel in words\tcost in words\n"
           "jobs.wait_s.p95\ttco.total_usd\t0.5\t4 1\twait, p95\tcost of the run (USD)\n"
           "\n\na\tcost\tfront\tunserved\ttext\n"
           "100\t50\t1\t0\ta, nodes of pool = 10: 100 s, 50.00 USD\n"
           "10\t60\t1\t0\ta, nodes of pool = 2: 10 s, 60.00 USD\n"
           "\n\nb\tcost\tfront\tunserved\ttext\n"
           "200\t55\t0\t0\tb, nodes of pool = 10: 200 s, 55.00 USD\n"
           "5\t40\t0\t1\tb, nodes of pool = 2: 5 s, 40.00 USD\n"
           "10\t80\t0\t0\tb, nodes of pool = 4: 10 s, 80.00 USD\n");
    free(t);
    t = plot_file(dir, "sweep_pareto.svg");
    assert_contains(t, "<svg role=\"img\"");
    assert_contains(t, "<title id=\"sweep_pareto-t\">cost of the run against wait, p95</title>");
    assert_contains(t, "<desc id=\"sweep_pareto-d\">Down and left is better.");
    assert_contains(t, "; b, nodes of pool = 2: 5 s, 40.00 USD; "); /* read aloud */
    assert_contains(t, "a, nodes of pool = 2: 10 s, 60.00 USD");    /* under the pointer */
    char *again = NULL;
    assert_int_equal(build(dir), 3);
    again = plot_file(dir, "sweep_pareto.svg");
    assert_string_equal(t, again);
    free(again);
    free(t);
    assert_true(plot_exists(dir, "sweep_curve_tco_total_usd.svg"));
    assert_false(plot_exists(dir, "sweep_curve_gpu_allocated.tsv")); /* no point has it */
}

static void heat(void **state)
{
    (void)state;
    if (!have_gnuplot()) skip_without("gnuplot");
    const char *dir = sweep(
        HEAD("{'path': 'x', 'values': ['fifo', 'sjf']}, {'path': 'y', 'values': ['1 h', '2 h']}") "{'point': 0, 'set': {'x': 'fifo', 'y': '1 h'}, 'policies': [" POLICY(
            "a", "1", "5",
            "0") "]},"
                 "{'point': 1, 'set': {'x': 'fifo', 'y': '2 h'}, 'policies': [" POLICY(
                     "a", "2", "6",
                     "0") "]},"
                          "{'point': 2, 'set': {'x': 'sjf', 'y': '1 h'}, 'policies': []},"
                          "{'point': 3, 'set': {'x': 'sjf', 'y': '2 h'}, 'policies': [" POLICY(
                              "a", "4", "8", "0") "]}]}");
    assert_int_equal(build(dir), 3);
    char *t = plot_file(dir, "sweep_heat_jobs_wait_s_p95_1.tsv");
    assert_string_equal(
        t,
        "axis x\taxis y\tfigure\tpolicy\tcolumns\trows\tx in words\ty in words\tfigure in words\n"
        "x\ty\tjobs.wait_s.p95\ta\t2\t2\tx\ty\twait, p95 (s)\n"
        "\n\nx\ty\tvalue x\tvalue y\tmean\ttext\n0\t0\tfifo\t1 h\t1\t1\n0\t1\tfifo\t2 h\t2\t2\n"
        "1\t0\tsjf\t1 h\tNaN\tn/a\n1\t1\tsjf\t2 h\t4\t4\n");
    free(t);
    t = plot_file(dir, "sweep_heat_jobs_wait_s_p95_1.svg");
    assert_contains(t, ">sjf<");
    assert_contains(t, ">n/a<"); /* a point without the figure */
    assert_null(strstr(t, ">NaN<"));
    free(t);
    t = plot_file(dir, "sweep_heat_jobs_wait_s_p95_1.gp");
    assert_contains(t, "load \"sweep_heat.gp\"");
    free(t);
}

/* Shares are in % from 0 to 100, as in the report; their words are in the language that was asked
 * for. */
static void shares(void **state)
{
    (void)state;
    size_t n;
    if (!have_gnuplot()) skip_without("gnuplot");
    const char *dir = sweep(
        HEAD("{'path': 'x', 'values': ['1', '2']}") "{'point': 0, 'set': {'x': '1'}, 'policies': [{'name': 'a', 'metrics': {" FIG(
            "gpu.allocated",
            "0.25") "}}]},"
                    "{'point': 1, 'set': {'x': '2'}, 'policies': [{'name': 'a', 'metrics': {" FIG(
                        "gpu.allocated", "0.985") "}}]}]}");
    assert_int_equal(sweep_plots_build(dir, NULL, LANG_ZH, &n, &err), 0);
    assert_int_equal(n, 1);
    char *t = plot_file(dir, "sweep_curve_gpu_allocated.tsv");
    assert_contains(t,
                    "\t100\n\n\na\tvalue\tmean\tlow\thigh\ttext\n1\t1\t25\t25\t25\ta，1：25.0 %\n");
    assert_contains(t, "2\t2\t98.5\t98.5\t98.5\ta，2：98.5 %\n");
    free(t);
    t = plot_file(dir, "sweep_curve_gpu_allocated.svg");
    assert_contains(t, ">100<"); /* the upper end of the axis */
    assert_null(strstr(t, ">120<"));
    assert_contains(t, "\xe5\x8d\xa0\xe5\x8d\xa1\xe6\x97\xb6 %");
    assert_contains(t, "<desc id=\"sweep_curve_gpu_allocated-d\">\xe6\xaf\x8f");
    assert_null(strstr(t, "Down")); /* no English */
    free(t);
}

/* Figures of another version: below the picture and in its words. */
static void of_another_version(void **state)
{
    (void)state;
    if (!have_gnuplot()) skip_without("gnuplot");
    static const char note[] = "Figures of gpusim 0.0.7, drawn by gpusim " GPUSIM_VERSION ".";
    const char *dir =
        sweep("{'format': 'gpusim-sweep/1', 'gpusim_version': '0.0.7', 'vary': [{'path': 'x', "
              "'values': ['1']}], 'points': [{'point': 0, 'set': {'x': '1'}, 'policies': [" POLICY(
                  "a", "1", "5", "0") "]}]}");
    assert_int_equal(build(dir), 3);
    char *t = plot_file(dir, "sweep_curve_jobs_wait_s_p95.svg");
    const char *first = strstr(t, note), *second = first ? strstr(first + 1, note) : NULL;
    assert_non_null(second);
    free(t);
    dir = sweep(one_axis);
    assert_int_equal(build(dir), 3);
    t = plot_file(dir, "sweep_curve_jobs_wait_s_p95.svg");
    assert_null(strstr(t, "drawn by"));
    free(t);
}

/* Values that are no numbers stand in their order; with a hundredfold range the axis is
 * logarithmic. */
static void scales(void **state)
{
    (void)state;
    if (!have_gnuplot()) skip_without("gnuplot");
    static const struct {
        const char *first, *second, *row;
    } way[] = {
        { "fifo", "sjf",
          "0\t4\tx\twait, p95 (s)\t0\n\n\na\tvalue\tmean\tlow\thigh\ttext\n0\tfifo\t1" },
        { "1", "100", "2\t4\tx\twait, p95 (s)\t0\n\n\na\tvalue\tmean\tlow\thigh\ttext\n1\t1\t1" },
    };
    for (size_t i = 0; i < 2; i++) {
        char text[4000];
        snprintf(
            text, sizeof text,
            HEAD("{'path': 'x', 'values': ['%s', '%s']}") "{'point': 0, 'set': {'x': '%s'}, 'policies': [" POLICY(
                "a", "1", "5", "0") "]},"
                                    "{'point': 1, 'set': {'x': '%s'}, 'policies': [" POLICY(
                                        "a", "2", "6", "0") "]}]}",
            way[i].first, way[i].second, way[i].first, way[i].second);
        const char *dir = sweep(text);
        assert_int_equal(build(dir), 3);
        char *t = plot_file(dir, "sweep_curve_jobs_wait_s_p95.tsv");
        assert_contains(t, way[i].row);
        free(t);
        assert_true(plot_exists(dir, "sweep_curve_jobs_wait_s_p95.svg"));
    }
}

/* Two of three policies were asked for: they have the colours that they have beside the third.
 * The key has the one that no point has a wait of, too. */
static void colours_and_key(void **state)
{
    (void)state;
    if (!have_gnuplot()) skip_without("gnuplot");
    const char *dir =
        sweep("{'format': 'gpusim-sweep/1', 'policy_order': ['whole', 'mig', 'lost'], 'vary': "
              "[{'path': 'x', 'values': ['1']}], 'points': ["
              "{'point': 0, 'set': {'x': '1'}, 'policies': [" POLICY(
                  "mig", "1", "5", "0") "," POLICY("lost", "null", "5", "0") "]}]}");
    assert_int_equal(build(dir), 3);
    char *t = plot_file(dir, "sweep_curve_jobs_wait_s_p95.tsv");
    assert_contains(t, "x\tjobs.wait_s.p95\t0\t2 3\t");
    free(t);
    t = plot_file(dir, "sweep_pareto.tsv");
    assert_contains(t, "\t2 3\t");
    free(t);
    static const char *const drawn[] = { "sweep_curve_jobs_wait_s_p95.svg", "sweep_pareto.svg" };
    for (size_t i = 0; i < 2; i++) {
        t = plot_file(dir, drawn[i]);
        assert_contains(t, "rgb(181, 136,  25)"); /* the second of style.gp */
        assert_null(strstr(t, "rgb( 34, 148, 255)"));
        assert_contains(t, ">lost<");
        free(t);
    }
}

#define ONE_POINT(set, policies)                                                                    \
    HEAD("{'path': 'x', 'values': ['1', '2']}") "{'set': " set ", 'policies': [" policies "]}]}"
#define METRICS(of) "{'name': 'a', 'metrics': " of "}"

/* What is missing or of another type is told with its place, and nothing is drawn. */
static void mistakes(void **state)
{
    static const struct {
        const char *text, *where, *msg;
    } bad[] = {
        { "[", "sweep.json:1:1", "" },
        { "[]", "sweep.json:1:1", "expected \"format\": \"gpusim-sweep/1\", found an array" },
        { "{'format': 'gpusim-result/1'}", "/format", "found \"gpusim-result/1\"" },
        { "{'format': 'gpusim-sweep/1'}", "sweep.json:1:1", "missing \"vary\"" },
        { "{'format': 'gpusim-sweep/1', 'points': [], 'vary': [{}]}", "/vary/0", "missing \"path\"" },
        { "{'format': 'gpusim-sweep/1', 'points': {}, 'vary': []}", "/points",
          "expected an array, found an object" },
        { HEAD("{'path': 'x', 'values': ['1', 2]}") "]}", "/vary/0/values/1",
          "expected a string, found 2" },
        { ONE_POINT("{'x': 1}", ""), "/points/0/set/x", "expected a string, found 1" },
        { ONE_POINT("{}", ""), "/points/0/set",
          "expected for \"x\" one of the values of /vary/0, found nothing" },
        { ONE_POINT("{'x': '3'}", ""), "/points/0/set",
          "expected for \"x\" one of the values of /vary/0, found \"3\"" },
        { ONE_POINT("{'x': '1'}", "3"), "/points/0/policies/0", "expected an object, found 3" },
        { ONE_POINT("{'x': '1'}", METRICS("[]")), "/points/0/policies/0/metrics",
          "expected an object, found an array" },
        { ONE_POINT("{'x': '1'}", METRICS("{'w': 7}")), "/points/0/policies/0/metrics/w",
          "expected an object, found 7" },
        { ONE_POINT("{'x': '1'}", METRICS("{'w': {'low': 1, 'high': 1}}")),
          "/points/0/policies/0/metrics/w", "missing \"mean\"" },
        { ONE_POINT("{'x': '1'}", METRICS("{'a/b': {'mean': '1', 'low': 1, 'high': 1}}")),
          "/points/0/policies/0/metrics/a~1b/mean", "expected a number or null, found \"1\"" },
    };
    size_t n;
    (void)state;
    err = (struct err){ 0 };
    assert_int_equal(sweep_plots_build(temp_dir(), NULL, LANG_EN, &n, &err), ERR_IO);
    assert_contains(err.hint, "gpusim sweep");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *dir = sweep(bad[i].text);
        err = (struct err){ 0 };
        assert_int_equal(sweep_plots_build(dir, NULL, LANG_EN, &n, &err), ERR_INPUT);
        assert_contains(err.where, bad[i].where);
        assert_contains(err.msg, bad[i].msg);
        assert_int_equal(n, 0);
        assert_false(plot_exists(dir, ""));
    }
}

/* Without gnuplot data and scripts are there, and the command says so. */
static void without_gnuplot(void **state)
{
    (void)state;
    size_t n;
    const char *dir = sweep(one_axis);
    char *path = strdup(getenv("PATH") ? getenv("PATH") : "");
    setenv("PATH", "/nowhere", 1);
    err = (struct err){ 0 };
    assert_int_equal(sweep_plots_build(dir, NULL, LANG_EN, &n, &err), ERR_IO);
    setenv("PATH", path, 1);
    free(path);
    assert_contains(err.msg, "gnuplot is not installed");
    assert_int_equal(n, 3);
    assert_true(plot_exists(dir, "sweep_pareto.tsv") && plot_exists(dir, "sweep_pareto.gp"));
    assert_false(plot_exists(dir, "sweep_pareto.svg"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_and_front), cmocka_unit_test(heat),
        cmocka_unit_test(shares),           cmocka_unit_test(of_another_version),
        cmocka_unit_test(scales),           cmocka_unit_test(colours_and_key),
        cmocka_unit_test(mistakes),         cmocka_unit_test(without_gnuplot),
    };
    return cmocka_run_group_tests_name("sweep_plots", tests, NULL, NULL);
}
