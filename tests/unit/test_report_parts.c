/* test_report_parts.c - sections of the page one by one, from results made up for each. */
#include "support/support.h"

#include "base/outfile.h"
#include "plots/beside.h"
#include "plots/page.h"
#include "plots/report.h"
#include "plots/report_data.h"
#include "support/fake_result.h"
#include "support/report_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void who_pays_by_class_and_group(void **state)
{
    static const struct cost_line lines[] = { { "training", 1234.5, 2.25, 3.125 },
                                              { "chat", 77.75, NAN, NAN } };
    static const struct charge teams[] = { { "physics", 900.25, 10, 1 }, { "", 300, 5, 1 } };
    struct arena *a = arena_create();
    struct result r;
    (void)state;
    fake_result(&r, a);
    char *text = page_of(&r, LANG_EN, NULL);
    assert_null(strstr(text, "id=\"class-cost\"")); /* nothing is known, nothing is shown */
    assert_null(strstr(text, "id=\"chargeback-groups\""));
    free(text);
    struct policy_result *p = policies_of(&r, a);
    for (size_t i = 0; i < r.n_policies; i++) {
        p[i].tco.klass = lines;
        p[i].tco.n_classes = i == 0 ? 2 : 1; /* a later one may lack a line */
        p[i].tco.team = teams;
        p[i].tco.n_teams = 2;
    }
    text = page_of(&r, LANG_EN, NULL);
    const char *table = strstr(text, "id=\"class-cost\"");
    assert_non_null(table);
    assert_contains(table, ">training</th>");
    assert_contains(table,
                    "<td data-v=\"2.25\">2.250</td><td data-v=\"3.125\" title=\"3.125\">3.12</td>");
    assert_contains(table, "<td data-v=\"77.75\" title=\"77.75\">80</td><td data-v=\"\">n/a</td>");
    table = strstr(text, "id=\"chargeback-groups\"");
    assert_non_null(table);
    assert_contains(
        table, "<th scope=\"row\">physics</th><td data-v=\"900.25\" title=\"900.25\">900</td>");
    assert_contains(table, "(no group)");
    free(text);
    fake_result_fini(&r);
    arena_destroy(a);
}

static void faults_where_there_are_any(void **state)
{
    struct arena *a = arena_create();
    struct result r;
    (void)state;
    fake_result(&r, a);
    char *text = page_of(&r, LANG_EN, NULL);
    assert_null(strstr(text, "id=\"failures\""));
    free(text);
    policies_of(&r, a)[1].failures = (struct failure_result){
        .any = true, .card_faults = 14, .jobs_struck = 28, .lost_gpu_hours = 565.25
    };
    text = page_of(&r, LANG_EN, NULL);
    assert_contains(text, "id=\"failures\"");
    assert_contains(text, "<td data-v=\"14\">14</td>");
    assert_contains(text, "<td data-v=\"565.25\" title=\"565.25\">565.2</td>");
    free(text);
    fake_result_fini(&r);
    arena_destroy(a);
}

static void what_each_parameter_does(void **state)
{
    static const char study[] =
        "{'recommended': 'mps', 'base': ["
        "  {'policy': 'a', 'usd_per_useful_gpu_hour': 2, 'turnaround_mean_s': 100, 'attainment': 0.9},"
        "  {'policy': 'b', 'usd_per_useful_gpu_hour': 4, 'turnaround_mean_s': 200, 'attainment': null}],"
        " 'parameters': [{'fleet': 'f', 'name': 'timeslice.switch_us', 'low': 110, 'high': 230,"
        "  'low_end': {'recommended': 'mps', 'policies': ["
        "    {'policy': 'a', 'usd_per_useful_gpu_hour': 2, 'turnaround_mean_s': 99, 'attainment': 0.9},"
        "    {'policy': 'b', 'usd_per_useful_gpu_hour': 3.9, 'turnaround_mean_s': 200}]},"
        "  'high_end': {'recommended': 'whole', 'policies': ["
        "    {'policy': 'a', 'usd_per_useful_gpu_hour': 2.5, 'turnaround_mean_s': 98, 'attainment': 0.95},"
        "    {'policy': 'b', 'usd_per_useful_gpu_hour': 4.2, 'turnaround_mean_s': 210}]}}]}";
    static const struct param_result params[] = {
        { "f", "timeslice.switch_us", "us", "assumed", "a guess", 111, 110, 230 },
        { "f", "pairs", "measured pairs", "measured", "a file", 7, NAN, NAN },
        { "f", "timeslice.quantum_us", "us", "assumed", "set in the scenario: \"3 ms\"", NAN, NAN,
          NAN },
        { "f", "mps.overhead", "ratio", "measured", "m" PROFILE_DOUBT "drift", 0.01, 0, 0.02 }
    };
    struct arena *a = arena_create();
    struct result r;
    char json[sizeof study];
    (void)state;
    memcpy(json, study, sizeof study);
    for (char *c = json; *c; c++)
        if (*c == '\'') *c = '"';
    json_t *effects = json_loads(json, 0, NULL);
    assert_non_null(effects);
    fake_result(&r, a);
    struct policy_result *p = policies_of(&r, a);
    p[0].param = params;
    p[0].n_params = 3;
    char *text = page_of(&r, LANG_EN, effects);
    assert_contains(text, "set in the scenario: &quot;3 ms&quot;");
    assert_contains(text, ">3 ms</td>"); /* what was set, in the place of the value */
    if (strstr(text, "self-checks failed")) fail_msg("no profile is in doubt");
    /* of the policy that moves most, which is a: its cost by a quarter */
    assert_contains(text, "at high recommended: whole; a: mean turnaround % -1.0 / -2.0; "
                          "cost of useful hour % 0.0 / +25.0; targets met, points 0.0 / +5.0");
    assert_contains(text, "no range known");
    free(text);
    /* why an end cannot be run is said in English only */
    json_t *one = json_array_get(json_object_get(effects, "parameters"), 0);
    json_object_set_new(json_object_get(one, "low_end"), "problem", json_string("no such slice"));
    text = page_of(&r, LANG_EN, effects);
    assert_contains(text, "at low: no such slice; at high");
    free(text);
    text = page_of(&r, LANG_ZH, effects);
    assert_null(strstr(text, "no such slice"));
    assert_contains(text, "低端：此取值无法运行，原因见 sensitivity.json");
    free(text);
    text = page_of(&r, LANG_EN, NULL);
    assert_contains(text, "gpusim run SCENARIO --sensitivity");
    assert_contains(text, "not computed");
    free(text);
    p[0].n_params = 4;
    text = page_of(&r, LANG_EN, effects);
    assert_contains(text, "In doubt: self-checks failed when a profile was measured");
    assert_contains(text, "m; self-checks of this profile failed: drift");
    free(text);
    json_decref(effects);
    fake_result_fini(&r);
    arena_destroy(a);
}

static void when_buying_has_paid(void **state)
{
    static const double own[] = { 100, 110, 120 }, rent[] = { 0, 60, 120 };
    static const struct payback back = { "cloud", 2, NAN, 720, rent };
    struct policy_result p[2] = {
        { .name = "own",
          .tco = { .priced = true,
                   .paid_by_month_usd = own,
                   .n_months = 3,
                   .payback = &back,
                   .n_paybacks = 1 } },
        { .name = "cloud", .tco = { .priced = true, .paid_by_month_usd = rent, .n_months = 3 } }
    };
    const struct result r = { .policy = p, .n_policies = 2 };
    const struct source s = { .r = &r };
    struct err e = { 0 };
    char out[4096];
    (void)state;
    snprintf(out, sizeof out, "%s/months.tsv", temp_dir());
    assert_int_equal(data_months(&s, out, &e), 1);
    char *text = read_file(out);
    assert_string_equal(
        text,
        "own\tusd\tpaid_back\trent\tplace\n0\t100\tNaN\t0\t-2\n1\t110\tNaN\t60\t-2\n2\t120\t120\t120\t-2\n\n\n"
        "cloud\tusd\tpaid_back\trent\tplace\n0\t0\tNaN\tNaN\t0\n1\t60\tNaN\tNaN\t-2\n2\t120\tNaN\tNaN\t-2\n");
    free(text);
    p[0].tco.n_paybacks = 0; /* nothing to break even with */
    assert_int_equal(data_months(&s, out, &e), 0);
}

static void put(const char *dir, const char *name, const char *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static const char sweep_table[] =
    "{\"format\": \"gpusim-sweep/1\", \"vary\": [{\"path\": \"fleet.a.nodes\", \"values\": [\"1\", \"2\"]}], "
    "\"points\": [{\"set\": {\"fleet.a.nodes\": \"1\"}, \"policies\": [{\"name\": \"p\", \"metrics\": "
    "{\"jobs.wait_s.p95\": {\"mean\": 5.4321, \"low\": 5.2, \"high\": 5.6642}}}]}]}";
static const char sizing[] =
    "{\"format\": \"gpusim-size/1\", \"scenario_sha256\": \"abc\", \"seed\": 1, \"set\": [\"a=1\"], "
    "\"slo\": [\"services.chat.ttft_ms.p99<=9\"], \"policies\": [{\"name\": \"p\", \"tried\": [{\"cards\": 4, "
    "\"nodes\": 2, \"met\": true, \"targets\": [{\"value\": 8.25, \"low\": null, \"high\": null, \"verdict\": \"met\"}]}]}]}";

/* DIR-sweep counts when it is of this very scenario. */
static void nothing_beside(const char *run, const struct result *r)
{
    struct beside b;
    beside_read(&b, run, r, LANG_ZH);
    assert_null(b.name);
    beside_fini(&b);
}

static void a_sweep_beside_the_run(void **state)
{
    char run[4096], sweep[4096], plots[4200];
    struct beside b;
    struct arena *a = arena_create();
    struct result r;
    (void)state;
    if (system("command -v gnuplot >/dev/null 2>&1") != 0) skip_without("gnuplot");
    snprintf(run, sizeof run, "%s/run/", temp_dir());
    snprintf(sweep, sizeof sweep, "%.*s-sweep", (int)strlen(run) - 1, run);
    fake_result(&r, a);
    r.scenario_sha256 = "abc";
    r.seed = 1;
    nothing_beside(run, &r); /* there is none */
    assert_int_equal(mkdir(sweep, 0777), 0);
    put(sweep, "manifest.json", "{\"scenario_sha256\": \"abc\", \"seed\": 1, \"set\": [\"a=1\"]}");
    static const char *const one[] = { "seed=1", "output.timeline=true", "a=1" }, *const other[] = {
        "a=2"
    };
    r.set = other;
    r.n_set = 1;
    nothing_beside(run, &r); /* changed in another way */
    r.set = one;
    r.n_set = 3;
    r.seed = 2;
    nothing_beside(run, &r); /* another seed */
    r.seed = 1;
    r.scenario_sha256 = "abd";
    nothing_beside(run, &r); /* another file */
    r.scenario_sha256 = "abc";
    beside_read(&b, run, &r, LANG_ZH);
    assert_string_equal(b.name, "run-sweep");
    assert_int_equal(b.n, 0);
    const struct report_look look = { .lang = LANG_EN, .beside = &b };
    struct strbuf out = { 0 };
    report_page(&r, NULL, 0, &look, &out);
    assert_contains(out.s, "<code>gpusim plot</code>");
    assert_contains(
        out.s,
        "gpusim run SCENARIO --seed 1 --set &#39;output.timeline=true&#39; --set &#39;a=1&#39;");
    strbuf_fini(&out);
    beside_fini(&b);
    struct err e = { 0 };
    snprintf(plots, sizeof plots, "%splots", run);
    assert_int_equal(outfile_mkdirs(plots, &e), 0);
    assert_int_equal(data_style(&r, plots, LANG_EN, &e), 0);
    put(sweep, "sweep.json", sweep_table); /* drawn for the page, in its language and its folder */
    beside_read(&b, run, &r, LANG_ZH);
    assert_int_equal(b.n, 1);
    assert_string_equal(b.curve[0].figure, "jobs.wait_s.p95");
    assert_string_equal(b.curve[0].axis, "fleet.a.nodes");
    assert_contains(b.curve[0].svg.s, "a 的节点数");
    assert_contains(b.curve[0].svg.s, "等待，p95（s）");
    assert_contains(b.curve[0].svg.s, "p，1：5.43 s"); /* what the interval supports */
    const struct report_look chinese = { .lang = LANG_ZH, .beside = &b };
    out = (struct strbuf){ 0 };
    report_page(&r, NULL, 0, &chinese, &out);
    assert_contains(out.s, "等待，p95 随 a 的节点数 的变化");
    assert_null(strstr(out.s, "<?xml"));
    strbuf_fini(&out);
    beside_fini(&b);
    snprintf(plots, sizeof plots, "%splots/sweep_curve_jobs_wait_s_p95.svg", run);
    assert_int_equal(access(plots, F_OK), 0);
    /* a sizing of it comes first */
    snprintf(sweep, sizeof sweep, "%.*s-size", (int)strlen(run) - 1, run);
    assert_int_equal(mkdir(sweep, 0777), 0);
    put(sweep, "size.json", sizing);
    beside_read(&b, run, &r, LANG_ZH);
    assert_string_equal(b.name, "run-size, run-sweep");
    assert_int_equal(b.n, 2);
    assert_string_equal(b.curve[0].axis, "cards");
    assert_contains(b.curve[0].svg.s, "4 张卡，2 个节点：8.250 ms，达成");
    assert_string_equal(b.curve[1].axis, "fleet.a.nodes");
    beside_fini(&b);
    fake_result_fini(&r);
    arena_destroy(a);
}

/* Text is read at 4.5 to 1 on every ground, in both modes (WCAG 2.1, 1.4.3). */
static double luminance(const char *hex)
{
    double sum = 0;
    static const double weight[] = { 0.2126, 0.7152, 0.0722 };
    const size_t digits = strspn(hex + 1, "0123456789abcdefABCDEF");
    for (int i = 0; i < 3; i++) {
        char two[3] = { hex[digits == 3 ? 1 + i : 1 + 2 * i], hex[digits == 3 ? 1 + i : 2 + 2 * i],
                        0 };
        const double c = (double)strtol(two, NULL, 16) / 255;
        sum += weight[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double colour(const char *style, const char *name)
{
    const char *at = strstr(style, name);
    assert_non_null(at);
    return luminance(at + strlen(name));
}

static void text_can_be_read(void **state)
{
    static const char *const text[] = { "--fg:", "--soft:", "--link:" }, *const ground[] = {
        "--bg:", "--box:"
    };
    struct arena *a = arena_create();
    struct result r;
    (void)state;
    fake_result(&r, a);
    char *page = page_of(&r, LANG_EN, NULL);
    const char *modes[] = { strstr(page, ":root{"), strstr(page, "prefers-color-scheme:dark){") };
    assert_true(fabs(luminance("#fff") - 1) < 1e-9);
    for (size_t m = 0; m < 2; m++)
        for (size_t t = 0; t < 3; t++)
            for (size_t g = 0; g < 2; g++) {
                const double x = colour(modes[m], text[t]), y = colour(modes[m], ground[g]);
                const double contrast = (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
                if (!(contrast >= 4.5)) fail_msg("%s on %s: %.2f", text[t], ground[g], contrast);
            }
    free(page);
    fake_result_fini(&r);
    arena_destroy(a);
}

/* One sample longer than the run still fills the panels, from the beginning to the end. */
static void a_single_sample_is_drawn(void **state)
{
    struct policy_result x = { .name = "p", .kind = "whole", .end_s = 3000 };
    const struct result r = { .policy = &x, .n_policies = 1 };
    struct digest d;
    struct err e = { 0 };
    const char *dir = temp_dir();
    char out[4096];
    (void)state;
    put(dir, "series.csv",
        "policy,t_s,allocated,queued,sm_active,stranded,free,down,power_W,fragmentation\n"
        "p,3000,0.75,9,0.5,0,0.25,0,1500,\n");
    assert_int_equal(digest_read(&d, &r, dir, &e), 0);
    const struct source s = { .r = &r, .d = &d };
    snprintf(out, sizeof out, "%s/load.tsv", dir);
    assert_int_equal(data_load(&s, out, &e), 1);
    char *text = read_file(out);
    size_t rows = 0;
    for (const char *c = text; *c; c++) rows += *c == '\n';
    assert_int_equal(rows, 2 + BUCKETS); /* the names, the beginning, each end */
    assert_contains(text, "queued\n0\t0.75\t9\n0.00416666667\t0.75\t9\n");
    assert_contains(text, "\n0.833333333\t0.75\t9\n");
    free(text);
    digest_fini(&d);
}

/* Rows that do not fit the buckets keep their integral: 0 for 1,100 s, then 1 for 1,900 s of 3,000
 * s. */
static void samples_are_spread_over_buckets(void **state)
{
    struct policy_result x = { .name = "p", .kind = "whole", .end_s = 3000 };
    const struct result r = { .policy = &x, .n_policies = 1 };
    struct digest d;
    struct err e = { 0 };
    const char *dir = temp_dir();
    double held = 0, seconds = 0;
    (void)state;
    put(dir, "series.csv", "policy,t_s,allocated,queued\np,1100,0,0\np,3000,1,0\n");
    assert_int_equal(digest_read(&d, &r, dir, &e), 0);
    for (size_t k = 0; k < BUCKETS; k++) {
        held += d.time[k].allocated;
        seconds += d.time[k].seconds;
    }
    assert_close(held, 1900, 1e-12);
    assert_close(seconds, 3000, 1e-12);
    assert_close(d.time[73].allocated, 10, 1e-12); /* 1,095 to 1,110 s */
    digest_fini(&d);
}

static void decision_page(struct strbuf *out, struct result *r, struct arena *a)
{
    struct page p = { .out = out, .r = r, .a = a };
    page_decisions(&p);
}

/* Policies that lose by slowdown share one sentence; the others have a line each. */
static void why_is_said_once(void **state)
{
    static const struct advice_reason why[] = {
        { "a", "slowdown_p95", "whole", 4.004, 383.4 },
        { "mps loses 91 of 2017 jobs", "lost", "mps", 0, 91 },
        { "b", "slowdown_p95", "mig", 4.004, 2173.4 },
    };
    const struct decision d = {
        .about = "(all)", .policy = "timeslice", .reason = why, .n_reasons = 3
    };
    struct policy_result x[2] = { { .name = "whole" }, { .name = "timeslice" } };
    struct result r = { .policy = x, .n_policies = 2, .decision = &d, .n_decisions = 1 };
    struct strbuf out = { 0 };
    struct arena *a = arena_create();
    (void)state;
    decision_page(&out, &r, a);
    assert_contains(out.s,
                    "<ul><li>95 % of the jobs take at most 4 times their time alone; more under "
                    "others: whole 383, mig 2,170</li><li>mps loses 91 of 2017 jobs</li></ul>");
    strbuf_fini(&out);
    arena_destroy(a);
}

/* Counts are of the whole run, waits of what came after the warm-up: said where there is one. */
static void what_the_warmup_leaves_out(void **state)
{
    struct policy_result x = { .name = "whole", .stats.wait_s.p50 = 3 };
    struct result r = { .policy = &x, .n_policies = 1 };
    struct strbuf out = { 0 };
    struct arena *a = arena_create();
    struct page p = { .out = &out, .r = &r, .a = a };
    (void)state;
    r.scenario = json_pack("{s:s}", "warmup", "90 min");
    page_comparison(&p);
    assert_contains(out.s,
                    "Jobs are counted over the whole run; waits, turnaround and slowdown are of "
                    "the jobs submitted after the warm-up of 90&nbsp;min");
    assert_null(strstr(out.s, "per useful GPU-hour")); /* nobody is priced: no column of n/a */
    strbuf_clear(&out);
    x.tco.priced = true;
    json_object_set_new(r.scenario, "warmup", json_string("0 s"));
    page_comparison(&p);
    assert_null(strstr(out.s, "warm-up"));
    assert_contains(out.s, "per useful GPU-hour");
    json_decref(r.scenario);
    strbuf_fini(&out);
    arena_destroy(a);
}

/* Cards without power figures: no table of zeros; without prices: no columns of n/a. */
static void energy_that_is_known(void **state)
{
    struct policy_result x = { .name = "whole", .gpu.energy_kwh = 0, .window_s = 3600 };
    struct result r = { .policy = &x, .n_policies = 1 };
    struct strbuf out = { 0 };
    struct arena *a = arena_create();
    struct page p = { .out = &out, .r = &r, .a = a };
    (void)state;
    page_energy(&p);
    assert_contains(out.s, "no figures of power");
    assert_null(strstr(out.s, "<table"));
    strbuf_clear(&out);
    x.gpu.energy_kwh = 2.5;
    page_energy(&p);
    assert_contains(out.s, "<td data-v=\"2.5\">2.500</td>");
    assert_null(strstr(out.s, "carbon"));
    strbuf_fini(&out);
    arena_destroy(a);
}

/* The command holds all that the figures depend on. */
static void the_command_is_whole(void **state)
{
    static const char *const set[] = { "seed=7", "fleet.a.nodes=2" };
    struct policy_result x = { .name = "whole" };
    struct result r = { .version = "1",
                        .scenario_sha256 = "ab",
                        .seed = 7,
                        .set = set,
                        .n_set = 2,
                        .policy = &x,
                        .n_policies = 1,
                        .advice_replications = 8 };
    struct strbuf out = { 0 };
    struct arena *a = arena_create();
    struct page p = { .out = &out, .r = &r, .a = a, .effects = json_object() };
    (void)state;
    page_reproduce(&p);
    assert_contains(out.s, "gpusim run SCENARIO --seed 7 --set &#39;fleet.a.nodes=2&#39; --policy "
                           "&#39;whole&#39; --sensitivity --replications 8<");
    json_decref(p.effects);
    strbuf_fini(&out);
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_pays_by_class_and_group),
        cmocka_unit_test(faults_where_there_are_any),
        cmocka_unit_test(when_buying_has_paid),
        cmocka_unit_test(a_sweep_beside_the_run),
        cmocka_unit_test(text_can_be_read),
        cmocka_unit_test(what_each_parameter_does),
        cmocka_unit_test(a_single_sample_is_drawn),
        cmocka_unit_test(samples_are_spread_over_buckets),
        cmocka_unit_test(why_is_said_once),
        cmocka_unit_test(what_the_warmup_leaves_out),
        cmocka_unit_test(energy_that_is_known),
        cmocka_unit_test(the_command_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
