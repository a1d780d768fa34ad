/* test_colours.c - a policy keeps its colour, in pictures and on pages, wherever it stands in a
 * scenario and whichever of the policies were run or compared. */
#include "support/fake_result.h"
#include "support/stored_plots.h"

#include "base/outfile.h"
#include "plots/compare_page.h"
#include "plots/palette.h"
#include "plots/report.h"
#include "plots/report_data.h"

#include <string.h>

/* As in style.gp, which test_palette.c holds to the page's. */
static const char *const hue[] = { "#2294FF", "#B58819", "#00957C", "#B4585A",
                                   "#4262D6", "#E764B0", "#65666F", "#716719" };

static bool on_page(const char *page, size_t place)
{
    char want[60];
    snprintf(want, sizeof want, "background-color:%s", hue[(place - 1) % 8]);
    return strstr(page, want) != NULL;
}

static bool in_picture(const char *svg, size_t place)
{
    unsigned r, g, b;
    char want[60];
    assert_int_equal(sscanf(hue[(place - 1) % 8], "#%2x%2x%2x", &r, &g, &b), 3);
    snprintf(want, sizeof want, "rgb(%3u, %3u, %3u)", r, g, b);
    return strstr(svg, want) != NULL;
}

/* By the name, in any order; kinds of sharing have the first places; no two the same while there
 * are enough. */
static void by_name(void **state)
{
    static const char *const kinds[] = { "whole", "mig", "timeslice", "mps", "intercept", "pool" };
    struct palette six = { 0 }, there = { 0 }, back = { 0 };
    char name[PALETTE_MOST][16];
    bool seen[PALETTE_MOST + 1] = { false };
    (void)state;
    for (size_t i = 0; i < 6; i++) palette_add(&six, kinds[5 - i]);
    for (size_t i = 0; i < 6; i++) assert_int_equal(palette_place(&six, kinds[i]), i + 1);
    for (size_t n = 0; n < PALETTE_MOST; n++) snprintf(name[n], sizeof name[n], "p-%zu", n * n);
    for (size_t n = 0; n < PALETTE_MOST; n++) palette_add(&there, name[n]);
    for (size_t n = PALETTE_MOST; n-- > 0;) palette_add(&back, name[n]);
    for (size_t n = 0; n < PALETTE_MOST; n++) {
        const size_t place = palette_place(&there, name[n]);
        assert_int_equal(palette_place(&back, name[n]), place);
        assert_in_range(place, 1, PALETTE_MOST);
        assert_false(seen[place]);
        seen[place] = true;
    }
    palette_add(&there, "one too many"); /* has a colour all the same */
    assert_in_range(palette_place(&there, "one too many"), 1, 8);
    palette_add(&six, NULL);
    palette_add_all(&six, NULL);
    assert_int_equal(six.n, 6);
    struct palette few = { 0 }; /* with eight or fewer, all the first colours */
    palette_add(&few, "mig");
    for (size_t n = 0; n < 7; n++) palette_add(&few, name[n]);
    for (size_t n = 0; n < 7; n++) assert_in_range(palette_place(&few, name[n]), 1, 8);
    assert_int_equal(palette_place(&few, "mig"), 2);
}

/* The two policies of `r` are the fourth and the second of a scenario of four. */
static void of_four(struct result *r, struct arena *a)
{
    struct policy_result *p = arena_array(a, 2, sizeof *p);
    memcpy(p, r->policy, 2 * sizeof *p);
    p[0].name = "own-whole";
    r->policy = p;
    r->n_policies = 2;
    json_object_set_new(r->scenario, "policies",
                        json_pack("[{s:s}, {s:s}, {s:s}, {s:s}]", "name", "other", "name",
                                  r->policy[1].name, "name", "third", "name", r->policy[0].name));
}

/* Those that were not run count, too: a run of some has the colours of a run of all. */
static void some_of_the_scenario(void **state)
{
    struct arena *a = arena_create();
    struct result r;
    (void)state;
    fake_result(&r, a);
    of_four(&r, a);
    struct palette all = { 0 };
    palette_add(&all, r.policy[0].name);
    palette_add(&all, r.policy[1].name);
    palette_add(&all, "other");
    palette_add(&all, "third");
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(data_place(&r, i), palette_place(&all, r.policy[i].name));
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
    of_four(&r, a);
    json_t *v = result_to_json(&r);
    json_write(v, &b);
    json_decref(v);
    snprintf(path, sizeof path, "%s/result.json", dir);
    assert_int_equal(outfile_write(path, b.s, b.len, &e), 0);
    if (report_build(dir, LANG_EN, &e) != 0) fail_msg("%s %s", e.where, e.msg);
    char *style = plot_file(dir, "style.gp"), *use = plot_file(dir, "use.svg");
    const size_t place[] = { data_place(&r, 0), data_place(&r, 1) };
    char places[60];
    snprintf(places, sizeof places, "{ places = \"%zu %zu\" }", place[0], place[1]);
    assert_contains(style, places);
    for (size_t k = 1; k <= 8; k++)
        assert_true(in_picture(use, k) == (k == place[0] || k == place[1]));
    snprintf(path, sizeof path, "%s/report.html", dir);
    char *page = read_file(path);
    for (size_t k = 1; k <= 8; k++)
        assert_true(on_page(page, k) == (k == place[0] || k == place[1]));
    free(page);
    free(use);
    free(style);
    strbuf_fini(&b);
    fake_result_fini(&r);
    arena_destroy(a);
}

/* Of two runs a policy has the colour that it has in both. */
static void of_two_runs(void **state)
{
    const char *dir = stored(
        "compare.json",
        "{'format': 'gpusim-compare/1', 'first': 'a', 'second': 'b', 'policies': ['x', 'mig', 'y', 'mps'], "
        "'paired': true, 'significant': true, 'unmatched_jobs': 0, 'only_first': [], 'only_second': [], 'runs': ["
        "{'gpusim_version': '0', 'seed': 1, 'scenario_sha256': 'a'}, "
        "{'gpusim_version': '0', 'seed': 2, 'scenario_sha256': 'a'}], 'rows': "
        "[{'policy': 'mig', 'metric': 'wait_s', 'n': 15, 'first': 100, 'second': 75, 'difference': -25, 'low': -40, "
        "'high': -10, 'p': 0.002, 'over': 'jobs', 'significant': true}], 'totals': [{'policy': 'mps', 'metric': "
        "'gpu.energy_kwh', 'first': 5, 'second': 4, 'difference': -1}]}");
    struct err e = { 0 };
    char path[500];
    (void)state;
    if (!have_gnuplot()) skip_without("gnuplot");
    if (compare_page_build(dir, LANG_EN, &e) != 0) fail_msg("%s %s", e.where, e.msg);
    char *style = plot_file(dir, "style.gp"), *svg = plot_file(dir, "two_runs.svg");
    assert_contains(style, "{ places = \"2 4\" }");
    assert_true(in_picture(svg, 2));
    snprintf(path, sizeof path, "%s/report.html", dir);
    char *page = read_file(path);
    assert_true(on_page(page, 2));
    assert_true(on_page(page, 4)); /* has a figure of the whole run alone */
    free(page);
    free(svg);
    free(style);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_name),
        cmocka_unit_test(some_of_the_scenario),
        cmocka_unit_test(on_the_page_and_in_pictures),
        cmocka_unit_test(of_two_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
