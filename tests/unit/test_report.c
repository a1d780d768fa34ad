/* test_report.c - the page and its pictures from stored files: complete, safe, repeatable, and
 * still there when gnuplot is not. */
#include "support/support.h"

#include "base/csv.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "plots/compare_page.h"
#include "plots/gnuplot.h"
#include "plots/html.h"
#include "plots/page.h"
#include "plots/report.h"
#include "plots/report_data.h"
#include "plots/summary.h"
#include "support/fake_result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *path_in(const char *dir, const char *name)
{
    static char buf[4][4096];
    static int next;
    next = (next + 1) % 4;
    snprintf(buf[next], sizeof buf[next], "%s/%s", dir, name);
    return buf[next];
}

static bool there(const char *dir, const char *name)
{
    return access(path_in(dir, name), R_OK) == 0;
}

static void write_result(const struct result *r, const char *dir)
{
    struct strbuf b = { 0 };
    struct err e = { 0 };
    json_t *v = result_to_json(r);
    json_write(v, &b);
    json_decref(v);
    assert_int_equal(outfile_write(path_in(dir, "result.json"), b.s, b.len, &e), 0);
    strbuf_fini(&b);
}

static void put_csv_name(FILE *f, const char *name)
{
    csv_put(f, name, strlen(name));
    fputc(',', f);
}

/* A week of jobs and samples under each policy, drawn from a fixed sequence. */
static void write_csvs(const struct result *r, const char *dir)
{
    FILE *jobs = fopen(path_in(dir, "jobs.csv"), "w"),
         *series = fopen(path_in(dir, "series.csv"), "w");
    assert_non_null(jobs);
    assert_non_null(series);
    fputs("policy,job_id,state,submit_s,start_s,end_s,wait_s,run_s,turnaround_s\n", jobs);
    fputs("policy,t_s,allocated,duty,sm_active,memory,stranded,free,down,queued,running,power_W\n",
          series);
    for (size_t p = 0; p < r->n_policies; p++) {
        uint64_t seed = 5;
        for (int i = 0; i < (int)r->policy[p].jobs.submitted; i++) {
            double u = (double)(test_random(&seed) >> 11) / 9007199254740992.0;
            double wait = u < 0.3 ? 0 : (double)(p + 1) * 20 * pow(u / (1.001 - u), 1.6);
            put_csv_name(jobs, r->policy[p].name);
            if (i % 100 == 99)
                fprintf(jobs, "j%d,rejected,%d,,,,,\n", i, i * 700);
            else
                fprintf(jobs, "j%d,completed,%d,%.3f,%.3f,%.3f,100,%.3f\n", i, i * 700,
                        i * 700 + wait, i * 700 + wait + 100, wait, wait + 100);
        }
        for (int t = 1; t <= 2016; t++) {
            double day = sin(t * 2 * 3.14159265 / 288 - 1.5), held = r->policy[p].gpu.allocated;
            put_csv_name(series, r->policy[p].name);
            fprintf(series, "%d,%.4f,,0.3,0.3,0,0.2,0,%d,20,4000\n", t * 300,
                    fmin(1, fmax(0, held * (1 + 0.35 * day))),
                    (int)(p + 1) * (int)fmax(0, 30 * day));
        }
    }
    fclose(jobs);
    fclose(series);
}

static const char *make_dir(struct result *r, struct arena *a)
{
    const char *dir = getenv("REPORT_DIR"); /* keep the page to look at it */
    if (!dir) dir = temp_dir();
    fake_result(r, a);
    write_result(r, dir);
    write_csvs(r, dir);
    return dir;
}

static bool have_gnuplot(void)
{
    return system("command -v gnuplot >/dev/null 2>&1") == 0;
}

static void page_has_everything(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "Choose &quot;mps&quot;",
        "allocation",
        "duty cycle",
        "SM activity",
        "memory",
        "p99",
        "rejected",
        "useful GPU-hour",
        "kWh",
        "Epoch AI chip table",
        "2025-03-04",
        "(idle)",
        "(stranded)",
        "measured",
        "assumed",
        "What is not modelled",
        "scenario SHA-256",
        "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        "<code>42</code>",
        "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;",
        "mps &amp; &lt;b&gt;more&lt;/b&gt;",
        "2 of 857",
        "largest pool has 8",
        "at most ",
        "TOPS"
    };
    static const char *const never[] = {
        "<script>alert", "<b>more",  "http://fonts", "src=",
        "@import",       "url(http", "GNUPLOT",      "utilization"
    };
    struct arena *a = arena_create();
    struct result r;
    struct err e = { 0 };
    if (!have_gnuplot()) skip_without("gnuplot");
    const char *dir = make_dir(&r, a);
    if (report_build(dir, LANG_EN, &e) != 0) fail_msg("%s %s", e.where, e.msg);
    char *page = read_file(path_in(dir, "report.html"));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) assert_contains(page, parts[i]);
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(page, never[i])) fail_msg("the page holds %s", never[i]);
    size_t pictures = 0;
    for (const char *p = page; (p = strstr(p, "<svg role=\"img\"")); p++) pictures++;
    assert_int_equal(pictures, 14);
    assert_null(strstr(page, dir));
    free(page);

    static const char *const names[] = { "card_time", "card_time_series",
                                         "use",       "pareto",
                                         "wait_cdf",  "turnaround_cdf",
                                         "load",      "cost",
                                         "payers",    "power",
                                         "precision", "latency",
                                         "breakeven", "months" };
    static const char *const ends[] = { ".svg", ".gp", ".tsv" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < 3; k++) {
            char name[64];
            snprintf(name, sizeof name, "plots/%s%s", names[i], ends[k]);
            if (!there(dir, name)) fail_msg("no %s", name);
        }
    assert_true(there(dir, "plots/style.gp"));
    assert_false(there(dir, "plots/cost.svg.tmp"));
    fake_result_fini(&r);
    arena_destroy(a);
}

static void same_files_same_bytes(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct result r, again;
    struct err e = { 0 };
    if (!have_gnuplot()) skip_without("gnuplot");
    const char *one = make_dir(&r, a);
    char *kept = xstrdup(one);
    assert_int_equal(report_build(kept, LANG_EN, &e), 0);
    const char *two = make_dir(&again, a);
    assert_int_equal(report_build(two, LANG_EN, &e), 0);
    char *x = read_file(path_in(kept, "report.html")), *y = read_file(path_in(two, "report.html"));
    assert_string_equal(x, y);
    free(x);
    free(y);
    free(kept);
    fake_result_fini(&r);
    fake_result_fini(&again);
    arena_destroy(a);
}

/* Nothing of another run or an earlier version may look like a part of this report; what somebody
 * drew by hand stays. */
static void what_is_stale_goes(void **state)
{
    (void)state;
    static const char old[] = "# old.gp - of an earlier version\n", mine[] = "plot sin(x)\n";
    struct arena *a = arena_create();
    struct result r;
    struct err e = { 0 };
    if (!have_gnuplot()) skip_without("gnuplot");
    const char *dir = make_dir(&r, a);
    assert_int_equal(outfile_mkdirs(path_in(dir, "plots"), &e), 0);
    outfile_write(path_in(dir, "plots/old.gp"), old, strlen(old), &e);
    outfile_write(path_in(dir, "plots/old.svg"), "<svg/>", 6, &e);
    outfile_write(path_in(dir, "plots/old.tsv"), "1\n", 2, &e);
    outfile_write(path_in(dir, "plots/mine.gp"), mine, strlen(mine), &e);
    outfile_write(path_in(dir, "plots/mine.svg"), "<svg/>", 6, &e);
    assert_int_equal(report_build(dir, LANG_EN, &e), 0);
    assert_false(there(dir, "plots/old.gp") || there(dir, "plots/old.svg") ||
                 there(dir, "plots/old.tsv"));
    assert_true(there(dir, "plots/mine.gp") && there(dir, "plots/mine.svg"));
    assert_true(there(dir, "plots/load.svg") && there(dir, "report.html"));
    outfile_write(path_in(dir, "jobs.csv"), "", 0, &e);
    unlink(path_in(dir, "series.csv"));
    assert_int_equal(report_build(dir, LANG_EN, &e), ERR_INPUT);
    assert_false(there(dir, "report.html")); /* the page of the files before */
    unlink(path_in(dir, "jobs.csv"));
    e = (struct err){ 0 };
    assert_int_equal(report_build(dir, LANG_EN, &e), 0);
    assert_false(there(dir, "plots/load.svg") || there(dir, "plots/wait_cdf.tsv"));
    fake_result_fini(&r);
    arena_destroy(a);
}

/* The words that a stranger needs beside the figures. */
static void notes_stand_beside_the_figures(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "whole 1 running, 1 queued",
        "did not serve 90 of 857 jobs (88 failed, 2 of them out of memory, 0 killed, 2 rejected)",
        "Useful can exceed held",
        "(no user)",
        "(no class)",
        "failed, killed or rejected",
        "<b>read</b>",
        "retention in the price book",
        "Measured: by calibrate",
        "&minus;7.43&nbsp;min",
        "612,000"
    };
    static const char *const never[] = { "failed_killed", "(none)", "<b>suspect</b>",
                                         "612,345.50" };
    static const struct comparison_row rows[] = {
        { "mig", "failed_killed_rejected", "jobs", 5, 90, 85, NAN, NAN },
        { "mig", "wait_s.p95", "s", 1087.5, 641.625, -445.875, NAN, NAN },
    };
    struct arena *a = arena_create();
    struct result r;
    struct strbuf page = { 0 };
    fake_result(&r, a);
    struct policy_result *p = arena_array(a, 2, sizeof *p);
    p[0] = r.policy[0];
    p[1] = r.policy[1];
    p[1].jobs.failed = 88;
    p[1].useful_gpu_hours = 2 * p[1].gpu_hours;
    struct charge *c = arena_array(a, p[0].tco.n_charges, sizeof *c);
    memcpy(c, p[0].tco.charge, p[0].tco.n_charges * sizeof *c);
    c[0].name = "";
    c[1].name = "(none)";
    p[0].tco.charge = c;
    struct job_group_result *g = arena_array(a, 1, sizeof *g);
    *g = p[0].by_class[0];
    g->name = "(none)";
    p[0].by_class = g;
    p[0].n_classes = 1;
    r.policy = p;
    r.n_policies = 2;
    r.comparison = rows;
    r.n_comparisons = 2;
    const struct report_look look = { .lang = LANG_EN };
    const struct report_picture waits = { .name = "wait_cdf",
                                          .heading = W_H_WAIT,
                                          .absent = W_A_NO_JOBS };
    report_page(&r, &waits, 1, &look, &page);
    char *text = read_file(temp_file(".html", page.s));
    for (char *q; (q = strstr(text, "</span>"));) memmove(q, q + 7, strlen(q + 7) + 1);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i])) fail_msg("the page lacks %s", parts[i]);
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(text, never[i])) fail_msg("the page holds %s", never[i]);
    free(text);
    strbuf_fini(&page);
    fake_result_fini(&r);
    arena_destroy(a);
}

static char *validation_of(const struct result *r)
{
    struct strbuf page = { 0 };
    struct page p = { .out = &page, .r = r, .a = arena_create() };
    report_validation(&p);
    arena_destroy(p.a);
    char *text = read_file(temp_file(".html", page.s));
    strbuf_fini(&page);
    return text;
}

/* The lines of the shipped table whose policies the run has, escaped; kinds without any are
 * named. */
static void errors_of_the_models(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct result r;
    struct policy_result p[3];
    char dir[] = "/tmp/gpusim-errors-XXXXXX";
    const char *before = getenv("GPUSIM_DATA");
    fake_result(&r, a);
    memcpy(p, r.policy, sizeof *p);
    p[1] = p[2] = p[0];
    p[0].kind = "mig";
    p[1].kind = "whole";
    p[2].kind = "whole";
    r.policy = p;
    r.n_policies = 3;
    char *text = validation_of(&r);
    assert_contains(text, "training speed on MIG slices, from counters of the whole card</th>");
    assert_contains(
        text,
        "<td class=\"text short\" data-l=\"policies\">mig</td><td data-v=\"82\" data-l=\"rows\">82</td>");
    assert_contains(text, ">7.1</td>");
    assert_contains(text, "mobilenet batch 128 on 1g.5gb: 0.4564 (0.7074)</td>");
    assert_contains(text, "Held to no published measurement: whole.</p>");
    assert_null(strstr(text, "interception"));
    free(text);

    assert_non_null(mkdtemp(dir));
    assert_int_equal(mkdir(path_in(dir, "measured"), 0700), 0);
    assert_int_equal(setenv("GPUSIM_DATA", dir, 1), 0);
    text = validation_of(&r);
    assert_contains(text, "is not there");
    free(text);
    struct err e = { 0 };
    const char mine[] =
        "set,group,policies,rows,mape,worst,worst_row,worst_measured,worst_predicted,"
        "baseline_mape,baseline,what\n"
        "x,<g>,remote mig,3,0.125,0.5,<r>,4,2,,none,<w>\n"
        "x,total,amig migs,3,0.1,0.5,,,,1,none,other\n";
    assert_int_equal(outfile_write(path_in(dir, "measured/errors.csv"), mine, sizeof mine - 1, &e),
                     0);
    text = validation_of(&r);
    assert_contains(
        text,
        "&lt;w&gt;: &lt;g&gt;</th><td class=\"text short\" data-l=\"policies\">remote mig</td><td "
        "data-v=\"3\" data-l=\"rows\">3</td><td data-v=\"12.5\" data-l=\"mean error\">12.5</td><td "
        "data-v=\"50\" data-l=\"worst\">50.0</td><td data-v=\"\" data-l=\"naive rule\">n/a</td>");
    assert_contains(text, "&lt;r&gt;: 2 (4)</td>");
    assert_null(strstr(text, "other"));
    free(text);
    before ? setenv("GPUSIM_DATA", before, 1) : unsetenv("GPUSIM_DATA");
    unlink(path_in(dir, "measured/errors.csv"));
    rmdir(path_in(dir, "measured"));
    rmdir(dir);
    fake_result_fini(&r);
    arena_destroy(a);
}

/* A template is a plain gnuplot script beside its data. */
static void pictures_are_drawn_by_hand_too(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct result r;
    struct err e = { 0 };
    char command[8192];
    if (!have_gnuplot()) skip_without("gnuplot");
    const char *dir = make_dir(&r, a);
    assert_int_equal(report_build(dir, LANG_EN, &e), 0);
    snprintf(command, sizeof command,
             "cd '%s/plots' && gnuplot -e \"data='wait_cdf.tsv'; out='mine.svg'\" wait_cdf.gp",
             dir);
    assert_int_equal(system(command), 0);
    assert_true(there(dir, "plots/mine.svg"));
    fake_result_fini(&r);
    arena_destroy(a);
}

static void without_gnuplot_the_page_stays(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct result r;
    struct err e = { 0 };
    char *path = xstrdup(getenv("PATH"));
    const char *dir = make_dir(&r, a);
    outfile_mkdirs(path_in(dir, "plots"), &e);
    outfile_write(path_in(dir, "plots/cost.svg"), "<svg>old</svg>", 14, &e); /* of another run */
    setenv("PATH", "/nonexistent", 1);
    int rc = report_build(dir, LANG_EN, &e);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(rc, ERR_IO);
    assert_int_equal(err_status(e.code), 4);
    assert_contains(e.msg, "gnuplot");
    assert_contains(e.hint, "plots/");
    assert_false(there(dir, "plots/cost.svg"));
    assert_true(there(dir, "plots/cost.tsv") && there(dir, "plots/cost.gp"));
    char *page = read_file(path_in(dir, "report.html"));
    assert_contains(page, "This picture was not drawn");
    assert_contains(page, "Who pays");
    free(page);
    fake_result_fini(&r);
    arena_destroy(a);
}

static void missing_parts_are_said(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct result r;
    struct err e = { 0 };
    if (!have_gnuplot()) skip_without("gnuplot");
    const char *dir = temp_dir();
    fake_result(&r, a);
    struct policy_result p = r.policy[1];
    p.tco = (struct tco_result){ .priced = false };
    p.stable = false;
    p.unstable_reason = "the queue of the last quarter grows";
    r.policy = &p;
    r.n_policies = 1;
    r.n_advice = 0;
    r.n_comparisons = 0;
    write_result(&r, dir);
    assert_int_equal(report_build(dir, LANG_EN, &e), 0);
    char *page = read_file(path_in(dir, "report.html"));
    assert_contains(page, "One policy ran, so there is nothing to choose");
    assert_contains(page, "There is no jobs.csv");
    assert_contains(page, "There is no series.csv");
    assert_contains(page, "names no price book");
    assert_contains(page, "the queue of the last quarter grows");
    assert_contains(page, "n/a"); /* duty under mig */
    assert_false(there(dir, "plots/cost.tsv"));
    free(page);
    fake_result_fini(&r);
    arena_destroy(a);
}

/* Every job rejected: no time passes, and shares of no time are no numbers. That is no failure to
 * draw. */
static void where_nothing_ran_there_is_a_page(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct result r;
    struct err e = { 0 };
    if (!have_gnuplot()) skip_without("gnuplot");
    const char *dir = temp_dir();
    fake_result(&r, a);
    struct policy_result p = r.policy[1];
    p.gpu.allocated = p.gpu.duty = p.gpu.memory = p.gpu.sm_active = p.gpu.stranded =
        p.gpu.free_share = p.gpu.down = NAN;
    r.policy = &p;
    r.n_policies = 1;
    r.n_advice = 0;
    r.n_comparisons = 0;
    write_result(&r, dir);
    assert_int_equal(report_build(dir, LANG_EN, &e), 0);
    char *page = read_file(path_in(dir, "report.html"));
    assert_contains(page, "No card time was measured");
    assert_false(there(dir, "plots/card_time.tsv"));
    free(page);
    fake_result_fini(&r);
    arena_destroy(a);
}

static void bad_folders_are_refused(void **state)
{
    (void)state;
    struct err e = { 0 };
    const char *dir = temp_dir();
    assert_int_equal(report_build(dir, LANG_EN, &e), ERR_IO);
    assert_contains(e.hint, "gpusim run");
    e = (struct err){ 0 };
    outfile_write(path_in(dir, "result.json"), "{\"format\": 1}", 13, &e);
    assert_int_equal(report_build(dir, LANG_EN, &e), ERR_INPUT);

    struct arena *a = arena_create();
    struct result r;
    dir = make_dir(&r, a);
    e = (struct err){ 0 };
    outfile_write(path_in(dir, "jobs.csv"), "policy,wait_s\nwhole,1\n", 22, &e);
    assert_int_equal(report_build(dir, LANG_EN, &e), ERR_INPUT);
    assert_contains(e.msg, "submit_s");
    e = (struct err){ 0 };
    outfile_write(path_in(dir, "jobs.csv"), "policy,submit_s,wait_s\nwhole,1,x\n", 33, &e);
    assert_int_equal(report_build(dir, LANG_EN, &e), ERR_INPUT);
    e = (struct err){ 0 };
    outfile_write(path_in(dir, "jobs.csv"), "", 0, &e);
    assert_int_equal(report_build(dir, LANG_EN, &e), ERR_INPUT);
    e = (struct err){ 0 }; /* cut behind what the report wants */
    outfile_write(path_in(dir, "jobs.csv"), "policy,submit_s,wait_s,end_s\nwhole,1,2,3\nwhole,1,2",
                  50, &e);
    assert_int_equal(report_build(dir, LANG_EN, &e), ERR_INPUT);
    assert_contains(e.msg, "expected 4 fields");
    assert_contains(e.where, "jobs.csv:3");
    e = (struct err){ 0 }; /* cut between two rows */
    outfile_write(path_in(dir, "jobs.csv"), "policy,submit_s,wait_s\nwhole,1,2\n", 33, &e);
    assert_int_equal(report_build(dir, LANG_EN, &e), ERR_INPUT);
    assert_contains(e.msg, "jobs of policy whole as in result.json, found 1");
    assert_contains(e.hint, "cut");
    fake_result_fini(&r);
    arena_destroy(a);
}

/* Three jobs: one before the warm-up, one without a wait, one that waits ten seconds. */
static void wait_curve_by_hand(void **state)
{
    (void)state;
    struct policy_result p = { .name = "#1 \"a\"\tb", .end_s = 100, .jobs.submitted = 3 };
    struct result r = { .policy = &p, .n_policies = 1 };
    struct err e = { 0 };
    struct digest d;
    const char *dir = temp_dir();
    const char csv[] = "policy,submit_s,wait_s\n\"#1 \"\"a\"\"\tb\",1,500\n"
                       "\"#1 \"\"a\"\"\tb\",70,0\n\"#1 \"\"a\"\"\tb\",80,9.9\nother,90,1\n";
    const char *out = path_in(temp_dir(), "w.tsv");
    outfile_write(path_in(dir, "jobs.csv"), csv, strlen(csv), &e);
    r.scenario = json_pack("{s:s}", "warmup", "1 min");
    assert_int_equal(digest_read(&d, &r, dir, &e), 0);
    const struct source src = { .r = &r, .d = &d };
    assert_int_equal(data_wait_cdf(&src, out, &e), 1);
    char *text = read_file(out);
    double x, share;
    assert_int_equal(strncmp(text,
                             "\xEF\xBC\x83"
                             "1 'a' b\tshare\n",
                             17),
                     0);
    assert_int_equal(sscanf(text + 17, "%lf\t%lf", &x, &share), 2);
    assert_close(share, 0.5, 1e-9); /* half did not wait */
    const char *last = strrchr(text, '\t');
    assert_close(strtod(last, NULL), 1, 1e-9);
    free(text);
    json_decref(r.scenario);
    assert_int_equal(data_turnaround_cdf(&src, out, &e), 0); /* no such column */
    assert_int_equal(data_load(&src, out, &e), 0);           /* no such file */
    digest_fini(&d);
}

static void many_cost_items_are_added_up(void **state)
{
    (void)state;
    struct cost_item_result items[14];
    struct policy_result p = { .name = "own" };
    struct result r = { .policy = &p, .n_policies = 1 };
    struct err e = { 0 };
    char names[14][16];
    for (int i = 0; i < 14; i++) {
        snprintf(names[i], sizeof names[i], "i%d", i);
        items[i] = (struct cost_item_result){ .name = names[i], .usd = i }; /* i0 is free */
    }
    p.tco = (struct tco_result){ .priced = true, .total_usd = 91, .item = items, .n_items = 14 };
    const char *out = path_in(temp_dir(), "c.tsv");
    assert_int_equal(data_cost(&(struct source){ .r = &r }, out, &e), 1);
    char *text = read_file(out);
    assert_string_equal(text, "policy\ti5\ti6\ti7\ti8\ti9\ti10\ti11\ti12\ti13\tother\tplace\n"
                              "own\t5\t6\t7\t8\t9\t10\t11\t12\t13\t10\t-2\n");
    free(text);
    p.tco.priced = false;
    p.tco.n_items = 0;
    assert_int_equal(data_cost(&(struct source){ .r = &r }, out, &e), 0);
}

static void svg_is_cleaned(void **state)
{
    (void)state;
    struct strbuf out = { 0 };
    const struct gnuplot_alt alt = { LANG_EN, "A <b> & c", "Up & down." };
    static const char head[] =
        "<?xml?>\n<svg \n width=\"1\">\n<title>Gnuplot</title>\n<desc>Produced by "
        "GNUPLOT 5.4 patchlevel 4 </desc>\n",
                      value[] = "<g onmousemove=\"gnuplot_svg.showHypertext(evt,'a: 1 < 2')\" "
                                "onmouseout=\"gnuplot_svg.hideHypertext()\"><title> </title></g>";
    struct strbuf svg = { 0 };
    strbuf_addf(&svg,
                "%s<g id=\"a\" color=\"black\" stroke=\"black\"><title>a_plot_1</title>"
                "<use xlink:href='#gp'/>x id='q' &lt;</g></svg>\n",
                head);
    gnuplot_clean_svg(svg.s, "p", &alt, &out);
    assert_string_equal(
        out.s,
        "<?xml?>\n<svg role=\"img\" aria-labelledby=\"p-t\" aria-describedby=\"p-d\" \n width=\"1\">\n"
        "<title id=\"p-t\">A &lt;b&gt; &amp; c</title>\n"
        "<desc id=\"p-d\">Up &amp; down. Its values stand in plots/p.tsv.</desc>\n"
        "<g id=\"p_a\" color=\"inherit\" stroke=\"currentColor\">"
        "<use xlink:href='#p_gp'/>x id='q' &lt;</g></svg>\n");
    strbuf_clear(&out);
    strbuf_clear(&svg);
    strbuf_addf(&svg, "%s%s%s</svg>", head, value, value);
    gnuplot_clean_svg(svg.s, "p", &alt, &out);
    assert_contains(out.s, "<desc id=\"p-d\">Up &amp; down. a: 1 &lt; 2; a: 1 &lt; 2</desc>");
    strbuf_fini(&svg);
    strbuf_fini(&out);
}

static void numbers_for_people(void **state)
{
    (void)state;
    struct strbuf b = { 0 };
    html_count(&b, 1234567);
    strbuf_addc(&b, ' ');
    html_number(&b, -1234.5, 1);
    strbuf_addc(&b, ' ');
    html_number(&b, -0.001, 1);
    strbuf_addc(&b, ' ');
    html_number(&b, NAN, 1);
    strbuf_addc(&b, ' ');
    html_percent(&b, 0.7512);
    strbuf_addc(&b, ' ');
    html_figure(&b, 0.012341);
    strbuf_addc(&b, ' ');
    html_figure(&b, 98765.4);
    strbuf_addc(&b, ' ');
    html_figure(&b, 12.345);
    assert_string_equal(b.s, "1,234,567 &minus;1,234.5 0.0 n/a 75.1 0.01234 98,770 12.35");
    strbuf_fini(&b);
    static const struct {
        double seconds;
        const char *text;
    } durations[] = { { 0, "0 s" },         { 0.0123, "12.3 ms" },    { 12, "12 s" },
                      { 119.4, "119 s" },   { 120, "2 min" },         { 5400, "90 min" },
                      { 17316, "4.81 h" },  { 9.999 * 3600, "10 h" }, { 2 * 86400, "2 d" },
                      { -5400, "-90 min" }, { 3.65e8, "4,220 d" },    { NAN, "n/a" } };
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        struct strbuf d = { 0 }, plain = { 0 };
        html_duration(&d, durations[i].seconds);
        for (const char *p = d.s; *p; p++) {
            if (str_starts(p, "&nbsp;")) {
                strbuf_addc(&plain, ' ');
                p += strlen("&nbsp;") - 1;
            } else if (str_starts(p, "&minus;")) {
                strbuf_addc(&plain, '-');
                p += strlen("&minus;") - 1;
            } else {
                strbuf_addc(&plain, *p);
            }
        }
        assert_string_equal(plain.s, durations[i].text);
        strbuf_fini(&d);
        strbuf_fini(&plain);
    }
    struct strbuf within = { 0 };
    page_within(&within, 0.004466, -1.147, 1.156, PRICE);
    strbuf_addc(&within, ' ');
    page_within(&within, -71.94, -153.3, 9.384, FIGURE);
    strbuf_addc(&within, ' ');
    page_within(&within, 12.345, NAN, NAN, FIGURE);
    assert_string_equal(within.s, "0.0 &minus;72 12.35");
    /* durations in the unit of the interval, as far as it goes in that unit: 57 min, not 3,400 s;
     * 2.3 h */
    strbuf_clear(&within);
    page_signed(&within, 942, -2500, 4400, SECONDS);
    page_interval(&(struct page){ .lang = LANG_EN }, &within, -2500, 4400, SECONDS);
    strbuf_addc(&within, ' ');
    page_within(&within, 5000, -2500, 4400, SECONDS);
    strbuf_addc(&within, ' ');
    page_signed(&within, 120, -7600, 9200, SECONDS);
    strbuf_addc(&within, ' ');
    page_signed(&within, 0, 0, 0, SECONDS);
    assert_string_equal(
        within.s, "+16&nbsp;min<br><span class=\"soft range\">&minus;42&nbsp;min to 73&nbsp;min</span> "
                  "83&nbsp;min 0.0&nbsp;h 0&nbsp;s");
    strbuf_fini(&within);
    struct strbuf money = { 0 };
    html_money(&money, 9999.991);
    strbuf_addc(&money, ' ');
    html_money(&money, 10000.4);
    strbuf_addc(&money, ' ');
    html_money(&money, 0);
    assert_string_equal(money.s, "10,000 10,000 0");
    strbuf_fini(&money);
}

/* The services' table: one row a policy, names escaped, targets in words. */
static void services(void **state)
{
    struct arena *a = arena_create();
    struct strbuf out = { 0 };
    struct result r = { 0 };
    struct page p = { .out = &out, .r = &r, .a = a };
    (void)state;
    fake_result(&r, a);
    page_services(&p);
    assert_contains(out.s, "<h3>chat &amp; &lt;co&gt;</h3>");
    assert_contains(out.s, "5,231");
    assert_contains(out.s, ">ttft_p99<br><span class=\"unit\">at most 500 ms</span>");
    assert_contains(out.s, ">tpot_mean<br><span class=\"unit\">at most 25 ms</span>");
    assert_contains(out.s, ">31.50 ms, missed</td>");
    assert_contains(out.s, "40.5");
    assert_contains(out.s, "per million tokens");
    strbuf_clear(&out);
    fake_result_fini(&r);
    struct policy_result plain = { .name = "p", .kind = "whole" };
    r.policy = &plain;
    r.n_policies = 1;
    page_services(&p);
    assert_int_equal(out.len, 0);
    strbuf_fini(&out);
    arena_destroy(a);
}

/* Markdown: one row a policy, names from outside cannot break the table. */
static void answer_for_pasting(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct result r;
    struct strbuf out = { 0 };
    fake_result(&r, a);
    summary_markdown(&r, NULL, LANG_EN, &out);
    assert_contains(out.s, "# mixed\n\n**Recommended for all work: mps \\& ");
    assert_contains(out.s, "\n- Under \"timeslice\" 2 jobs ran out of memory.\n");
    assert_contains(out.s, "\n| whole | 850 | 3 | 2 | 60 s | 18.1 min |");
    assert_contains(out.s, "\n| mps \\& \\<b\\>more\\</b\\> | 850 |");
    assert_contains(out.s, "seed 42, scenario SHA-256 `2c26b46b68ff`\n");
    for (const char *line = out.s; *line;) { /* every row of a table has the cells of its head */
        static int want;
        const char *end = strchr(line, '\n');
        int bars = 0;
        for (const char *p = line; p < end; p++) bars += *p == '|' && p[-1] != '\\';
        if (*line == '|' && line[-2] == '\n') want = bars;
        if (*line == '|') assert_int_equal(bars, want);
        line = end + 1;
    }
    assert_contains(out.s, "| per million requests (USD) | unservable |\n");
    for (size_t i = 0; i < r.n_policies; i++)
        for (size_t k = 0; k < r.policy[i].n_services; k++)
            ((struct service_result *)r.policy[i].service)[k].unservable = 0;
    ((struct policy_result *)r.policy)[0].name = "a|b ~~c~~ $d$";
    strbuf_clear(&out);
    summary_markdown(&r, NULL, LANG_EN, &out);
    assert_null(strstr(out.s, "unservable"));
    assert_contains(out.s, "\n| a\\|b \\~\\~c\\~\\~ \\$d\\$ | 850 |");
    strbuf_clear(&out);
    summary_markdown(&r, NULL, LANG_ZH, &out);
    assert_contains(out.s, "| 策略 | 完成 |");
    strbuf_fini(&out);
    fake_result_fini(&r);
    arena_destroy(a);
}

/* The account of an import beside the trace: counts, reasons, warnings; escaped. */
static void traces_have_their_account(void **state)
{
    (void)state;
    static const char text[] =
        "[{\"work\": \"<w>\", \"account\": {\"source_format\": \"swf\", \"rows\": {\"read\": 1234, \"kept\": 1200,"
        " \"repaired\": 7, \"quarantined\": 34, \"repairs\": [], \"quarantine\": [{\"rows\": 34, \"text\": "
        "\"no GPUs & so on\"}]}, \"asked\": {\"gpus\": 99.5}, \"warnings\": [\"late\"]}}]";
    struct arena *a = arena_create();
    struct strbuf out = { 0 };
    json_t *imports = json_loads(text, 0, NULL);
    struct page p = { .out = &out, .imports = imports, .a = a };
    assert_non_null(imports);
    page_data_quality(&p);
    assert_contains(
        out.s, "&lt;w&gt;</th><td class=\"text short\">swf</td><td data-v=\"1234\">1,234</td>");
    assert_contains(out.s, "34 no GPUs &amp; so on; late");
    strbuf_clear(&out);
    p.imports = NULL;
    page_data_quality(&p);
    assert_contains(out.s, "nothing is known here");
    strbuf_fini(&out);
    json_decref(imports);
    arena_destroy(a);
}

/* The bars of the recommended policy, the widest first; the rent at which owning costs the same. */
static void what_could_turn_the_choice(void **state)
{
    (void)state;
    static const char risk[] =
        "{\"options\": [{\"policy\": \"x\", \"eac_usd\": 1}, {\"policy\": \"p\", \"eac_usd\": 1000}], \"inputs\": ["
        "{\"name\": \"small\", \"low\": 1, \"high\": 2, \"eac_low_usd\": [0, 990], \"eac_high_usd\": [9, 1010]},"
        "{\"name\": \"none\", \"low\": 1, \"high\": 2, \"eac_low_usd\": [0, 1000], \"eac_high_usd\": [9, 1000]},"
        "{\"name\": \"large\", \"low\": 1, \"high\": 3, \"eac_low_usd\": [5, 900], \"eac_high_usd\": [5, 1300]}]}";
    struct usage_group g = {
        .allocated_h = 50, .free_h = 50, .energy_kwh = 30, .idle_energy_kwh = 5
    };
    struct policy_result p = {
        .name = "p",
        .gpu = { .count = 2, .allocated = 0.5 },
        .tco = { .priced = true, .hours = 8760, .eac_usd = 1000, .energy_usd = 60 },
        .usage = { .group = &g, .n_groups = 1 }
    };
    const struct decision d = { .about = "(all)", .policy = "p" };
    struct result r = { .policy = &p, .n_policies = 1, .decision = &d, .n_decisions = 1 };
    struct err e = { 0 };
    json_t *doc = json_loads(risk, 0, NULL);
    const struct source s = { .r = &r, .risk = doc };
    const char *out = path_in(temp_dir(), "t.tsv");
    assert_non_null(doc);
    assert_int_equal(data_tornado(&s, out, &e), 1);
    char *text = read_file(out);
    assert_contains(text, "\nlarge\t1000\t1\t3\t900\t1300\t0\nsmall\t1000\t1\t2\t990\t1010\t0\n");
    assert_null(strstr(text, "none"));
    free(text);
    json_decref(doc);

    /* idle: 5 kWh in 50 h, so 10 in 100 h; the other 20 kWh at 2 USD follow use: 960 + 40 u /
     * 0.5 */
    assert_int_equal(data_breakeven(&s, out, &e), 1);
    text = read_file(out);
    double u, usd;
    int here;
    const char *last = strstr(text, "\n0.5\t"), *full = strstr(text, "\n1\t");
    assert_non_null(last);
    assert_non_null(full);
    assert_int_equal(sscanf(last, "%lf %lf %d", &u, &usd, &here), 3);
    assert_close(usd, 1000 / (8760.0 * 2 * 0.5), 1e-8);
    assert_int_equal(sscanf(full, "%lf %lf", &u, &usd), 2);
    assert_close(usd, 1040 / (8760.0 * 2), 1e-8);
    assert_contains(text, "\t1\t-4\n");
    free(text);
    const struct cost_item_result rent = { .name = "rent", .driver = "gpu_hour", .usd = 900 };
    p.tco.item = &rent;
    p.tco.n_items = 1;
    p.tco.total_usd = 1000;
    assert_int_equal(data_breakeven(&s, out, &e), 1);
    text = read_file(out);
    assert_string_equal(text, "p\tusd_per_card_hour\there\tplace\n0.5\t0.114155251\t1\t-4\n");
    free(text);
}

/* The page of two runs, from the document that `compare -o` leaves. */
static void two_runs(void **state)
{
    (void)state;
    static const char text[] =
        "{\"format\": \"gpusim-compare/1\", \"paired\": true, \"significant\": true, \"unmatched_jobs\": 12, "
        "\"runs\": [{\"gpusim_version\": \"0.0.<9>\", \"seed\": 7, \"scenario_sha256\": \"abc\", \"set\": [\"x=1\"]}, "
        "{\"gpusim_version\": \"" GPUSIM_VERSION "\", \"seed\": 8, \"scenario_sha256\": \"abd\", "
        "\"unstable\": [\"p<1>\"]}], "
        "\"only_first\": [\"<old>\"], \"only_second\": [], \"first\": \"a&b\", \"second\": \"c\", \"rows\": ["
        "{\"policy\": \"p\", \"metric\": \"wait_s\", \"n\": 1500, \"first\": 100, \"second\": 75, \"difference\": -25, "
        "\"low\": -40, \"high\": -10, \"p\": 0.002, \"over\": \"windows\", \"significant\": true}], \"totals\": [{\"policy\": \"p\", "
        "\"metric\": \"gpu.energy_kwh\", \"first\": 5, \"second\": 4, \"difference\": -1}, {\"policy\": \"p\", "
        "\"metric\": \"services.chat.attainment\", \"first\": 0.9, \"second\": 0.951234, \"difference\": 0.051234}, "
        "{\"policy\": \"p\", \"metric\": \"tco.total_usd\", \"first\": 8213.31, \"second\": 8213.92, "
        "\"difference\": 0.61}]}";
    const char *dir = temp_dir();
    struct err e = { 0 };
    if (!have_gnuplot()) skip_without("gnuplot");
    assert_int_equal(compare_page_build(dir, LANG_EN, &e), ERR_IO); /* nothing there */
    e = (struct err){ 0 };
    outfile_write(path_in(dir, "compare.json"), text, strlen(text), &e);
    if (compare_page_build(dir, LANG_EN, &e) != 0) fail_msg("%s %s", e.where, e.msg);
    char *page = read_file(path_in(dir, "report.html")),
         *tsv = read_file(path_in(dir, "plots/two_runs.tsv"));
    assert_contains(page, "<h1>a&amp;b against c</h1>");
    assert_contains(page, "differ by more than chance");
    assert_contains(page, "12 jobs are in one of the two runs only");
    assert_contains(page, "Only in the first run: &lt;old&gt;.");
    assert_contains(page, "The figures of a&amp;b were written by gpusim 0.0.&lt;9&gt;; the page");
    assert_null(strstr(page, "The figures of c were"));
    assert_contains(page, "p&lt;1&gt; is not stable in c, so its waits");
    assert_null(strstr(page, "is not stable in a"));
    assert_contains(page, "<dd><code>gpusim run SCENARIO --seed 7 --set &#39;x=1&#39;</code></dd>");
    assert_contains(page, "<dd><code>abd</code></dd>");
    assert_contains(
        page,
        "&minus;25&nbsp;s<br><span class=\"soft range\">&minus;40&nbsp;s to &minus;10&nbsp;s</span>");
    assert_contains(page, "energy at the board</td><td class=\"text short\">kWh</td>");
    assert_contains(page, "chat: within all targets</td>");
    assert_contains(
        page, "%</td><td data-v=\"90\">90.0</td><td data-v=\"95.1234\" title=\"95.1234\">95.1</td>"
              "<td data-v=\"5.1234\" title=\"5.1234\">+5.1</td>");
    assert_contains(page, "<td data-v=\"0.61\" title=\"0.61\">+1</td>"); /* 8,213 and 8,214 */
    assert_contains(page, "<td data-v=\"0.002\">0.0020</td>");
    assert_contains(page, "<svg role=\"img\"");
    assert_contains(tsv, "0\twait, mean\t1\t-0.25\t-0.4\t-0.1\n");
    free(page);
    free(tsv);
    assert_int_equal(compare_page_build(dir, LANG_ZH, &e), 0);
    page = read_file(path_in(dir, "report.html"));
    assert_contains(page, "a&amp;b 与 c 的对比");
    free(page);
    outfile_write(path_in(dir, "compare.json"), "{\"format\": \"x\"}", 15, &e);
    assert_int_equal(compare_page_build(dir, LANG_EN, &e), ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(services),
        cmocka_unit_test(answer_for_pasting),
        cmocka_unit_test(two_runs),
        cmocka_unit_test(what_could_turn_the_choice),
        cmocka_unit_test(traces_have_their_account),
        cmocka_unit_test(page_has_everything),
        cmocka_unit_test(same_files_same_bytes),
        cmocka_unit_test(what_is_stale_goes),
        cmocka_unit_test(notes_stand_beside_the_figures),
        cmocka_unit_test(errors_of_the_models),
        cmocka_unit_test(pictures_are_drawn_by_hand_too),
        cmocka_unit_test(without_gnuplot_the_page_stays),
        cmocka_unit_test(missing_parts_are_said),
        cmocka_unit_test(where_nothing_ran_there_is_a_page),
        cmocka_unit_test(bad_folders_are_refused),
        cmocka_unit_test(wait_curve_by_hand),
        cmocka_unit_test(many_cost_items_are_added_up),
        cmocka_unit_test(svg_is_cleaned),
        cmocka_unit_test(numbers_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
