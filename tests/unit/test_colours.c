/* test_colours.c - a policy keeps its colour, in pictures and on pages, whichever of the scenario's policies were run or
 * compared. */
#include "support/fake_result.h"
#include "support/stored_plots.h"

#include "base/outfile.h"
#include "plots/compare_page.h"
#include "plots/report.h"
#include "plots/report_data.h"

#include <string.h>

#define FIRST  "#2294FF"
#define SECOND "#B58819"
#define FOURTH "#B4585A"

/* The two policies of `r` are the fourth and the second of a scenario of four. */
static void of_four(struct result *r)
{
    r->n_policies = 2;
    json_object_set_new(r->scenario, "policies",
                        json_pack("[{s:s}, {s:s}, {s:s}, {s:s}]", "name", "other", "name",
                                  r->policy[1].name, "name", "third", "name", r->policy[0].name));
}

static void places_in_the_scenario(void **state)
{
    struct arena *a = arena_create();
    struct result r;
    (void)state;
    fake_result(&r, a);
    for (size_t i = 0; i < 3; i++) assert_int_equal(data_place(&r, i), i + 1); /* none are known */
    of_four(&r);
    assert_int_equal(data_place(&r, 0), 4);
    assert_int_equal(data_place(&r, 1), 2);
    fake_result_fini(&r);
    arena_destroy(a);
}

static void on_the_page_and_in_pictures(void **state)
{
    const char *dir = temp_dir();
    struct arena *a = arena_create();
    struct strbuf b = { 0 };
    struct result r;
    struct err e = { 0 };
    char path[500];
    (void)state;
    if (!have_gnuplot()) skip_without("gnuplot");
    fake_result(&r, a);
    of_four(&r);
    json_t *v = result_to_json(&r);
    json_write(v, &b);
    json_decref(v);
    snprintf(path, sizeof path, "%s/result.json", dir);
    assert_int_equal(outfile_write(path, b.s, b.len, &e), 0);
    if (report_build(dir, LANG_EN, &e) != 0) fail_msg("%s %s", e.where, e.msg);
    char *style = plot_file(dir, "style.gp"), *use = plot_file(dir, "use.svg");
    assert_contains(style, "{ places = \"4 2\" }");
    assert_contains(use, "rgb(180,  88,  90)"); /* FOURTH */
    assert_contains(use, "rgb(181, 136,  25)"); /* SECOND */
    assert_null(strstr(use, "rgb( 34, 148, 255)"));
    snprintf(path, sizeof path, "%s/report.html", dir);
    char *page = read_file(path);
    assert_contains(page, "background-color:" FOURTH);
    assert_contains(page, "background-color:" SECOND);
    assert_null(strstr(page, "background-color:" FIRST));
    free(page);
    free(use);
    free(style);
    strbuf_fini(&b);
    fake_result_fini(&r);
    arena_destroy(a);
}

/* Of two runs the page has the places in the first scenario, and those of the second alone behind them. */
static void of_two_runs(void **state)
{
    const char *dir = stored(
        "compare.json",
        "{'format': 'gpusim-compare/1', 'first': 'a', 'second': 'b', 'policies': ['x', 'p', 'y', 'z'], 'rows': "
        "[{'policy': 'p', 'metric': 'wait_s', 'n': 15, 'first': 100, 'second': 75, 'difference': -25, 'low': -40, "
        "'high': -10, 'p': 0.002, 'significant': true}], 'totals': [{'policy': 'z', 'metric': "
        "'gpu.energy_kwh', 'first': 5, 'second': 4, 'difference': -1}]}");
    struct err e = { 0 };
    char path[500];
    (void)state;
    if (!have_gnuplot()) skip_without("gnuplot");
    if (compare_page_build(dir, LANG_EN, &e) != 0) fail_msg("%s %s", e.where, e.msg);
    char *style = plot_file(dir, "style.gp"), *svg = plot_file(dir, "two_runs.svg");
    assert_contains(style, "{ places = \"2 4\" }");
    assert_contains(svg, "rgb(181, 136,  25)"); /* SECOND */
    snprintf(path, sizeof path, "%s/report.html", dir);
    char *page = read_file(path);
    assert_contains(page, "background-color:" SECOND);
    assert_contains(page, "background-color:" FOURTH); /* has a figure of the whole run alone */
    free(page);
    free(svg);
    free(style);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_in_the_scenario),
        cmocka_unit_test(on_the_page_and_in_pictures),
        cmocka_unit_test(of_two_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
