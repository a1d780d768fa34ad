/* test_report_answer.c - the head of the report and summary.md: how sure the answer is, what it
 * costs a year, whether renting would be cheaper, and that nothing is said twice. */
#include "support/fake_result.h"
#include "support/report_page.h"
#include "support/support.h"

#include "base/mem.h"
#include "plots/report.h"
#include "plots/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *answer_of(const struct result *r, enum lang lang)
{
    char *text = page_of(r, lang, NULL), *at = strstr(text, "<p class=\"answer\">");
    assert_non_null(at);
    at += strlen("<p class=\"answer\">");
    *strchr(at, '<') = '\0';
    char *copy = strdup(at);
    free(text);
    return copy;
}

/* Choice, cost to what the range supports, and how often it is the cheapest, in one sentence. */
static void how_sure_the_answer_is(void **state)
{
    struct arena *a = arena_create();
    struct result r;
    struct decision_option o[3];
    (void)state;
    fake_result(&r, a);
    struct decision d = r.decision[0];
    memcpy(o, d.option, sizeof o);
    d.option = o;
    r.decision = &d;
    r.n_decisions = 1;
    char *text = answer_of(&r, LANG_EN); /* with one that is as good: both chances */
    assert_contains(
        text, "at 0.420 USD per useful GPU-hour (the median, which decides; 0.410 at the price "
              "books&#39; stated values), 0.400 to 0.430 in 80 of 100 draws");
    assert_contains(text, "of the 2 policies that are fit and fast enough one of these is the "
                          "cheapest in 100 of 100 draws");
    free(text);
    d.n_ties = 0;
    text = answer_of(&r, LANG_EN);
    assert_contains(text, "it is the cheapest in 94 of 100 draws");
    assert_null(strstr(text, "which counts as equal"));
    free(text);
    /* recommended because it is faster: said, with the figures of the other */
    o[0].cost_p50 = 0.415;
    text = answer_of(&r, LANG_EN);
    assert_contains(
        text, "whole costs less (median 0.415, the cheapest in 6 of 100 draws), but by less than "
              "2 %, which counts as equal, and is slower.");
    free(text);
    o[0].cost_p50 = 0.46;
    text = answer_of(&r, LANG_ZH);
    assert_contains(text, "0.420 美元/有效 GPU 小时");
    assert_contains(text, "100 次抽样有 94 次成本最低");
    free(text);
    const struct advice_reason hair = { "x", "missed", NULL, 1, 2 };
    d.reason = &hair;
    d.n_reasons = 1;
    text = answer_of(&r, LANG_EN);
    assert_contains(
        text,
        "draws. It misses 1 of 2 targets of services, and no other fit policy meets all of them.");
    free(text);
    d.n_reasons = 0;
    o[0].eligible = false;
    text = answer_of(&r, LANG_EN);
    assert_contains(text, "the only one of 3 policies that is fit and fast enough");
    free(text);
    o[2].cost_p10 = NAN; /* nothing to draw from */
    text = answer_of(&r, LANG_EN);
    assert_contains(text, "Recommended for all work: ");
    assert_null(strstr(text, "draws"));
    free(text);
    fake_result_fini(&r);
    arena_destroy(a);
}

/* Renting costs less for good: the answer says so, but not where the resale makes up for it. */
static void rent_is_cheaper(void **state)
{
    static const double own[] = { 1000, 1010, 1020 }, rent[] = { 0, 60, 120 };
    static const struct payback back = { "<cloud>", NAN, NAN, 723.4, rent };
    struct arena *a = arena_create();
    struct result r;
    (void)state;
    fake_result(&r, a);
    r.n_decisions = 1;
    struct policy_result *p = policies_of(&r, a);
    for (size_t i = 0; i < r.n_policies; i++) {
        p[i].tco.paid_by_month_usd = own;
        p[i].tco.n_months = 3;
        p[i].tco.resale_usd = 850;
        p[i].tco.payback = &back;
        p[i].tco.n_paybacks = 1;
    }
    char *text = page_of(&r, LANG_EN, NULL);
    assert_contains(
        text,
        "costs more than \"<span lang=\"en\">&lt;cloud&gt;</span>\" would, their resale taken off: 723 USD a year");
    free(text);
    struct strbuf markdown = { 0 };
    summary_markdown(&r, NULL, LANG_EN, &markdown); /* the same below its first line */
    assert_contains(markdown.s, "\n- To the end of the term buying the cards of ");
    assert_contains(markdown.s,
                    " costs more than `<cloud>` would, their resale taken off: 723 USD a year");
    strbuf_clear(&markdown);
    for (size_t i = 0; i < r.n_policies; i++) p[i].tco.resale_usd = 950;
    summary_markdown(&r, NULL, LANG_EN, &markdown);
    assert_null(strstr(markdown.s, "To the end of the term"));
    strbuf_fini(&markdown);
    text = page_of(&r, LANG_EN, NULL);
    assert_null(strstr(text, "rent-is-cheaper"));
    free(text);
    fake_result_fini(&r);
    arena_destroy(a);
}

/* What a box says is no point of the list as well; in summary.md, which has no boxes, it is. */
static void findings_are_said_once(void **state)
{
    static const char *const advice[] = {
        ("Jobs still running or waiting at the end of the run cost, but do not count as useful: policies "
         "that run jobs slower look dearer than on a longer run."),
        "first is unstable: the queue grew; its percentiles are not shown.",
        "second did not serve 90 of 857 jobs: 90 failed (12 out of memory), 0 rejected.",
        "first did not serve 1 of 857 jobs: 1 failed (0 out of memory), 0 rejected.",
        "One replay of this work: there is no interval on these figures yet.",
    };
    struct arena *a = arena_create();
    struct result r;
    struct strbuf markdown = { 0 };
    (void)state;
    fake_result(&r, a);
    struct policy_result *p = policies_of(&r, a);
    r.advice = advice;
    r.n_advice = 5;
    p[0].name = "first";
    p[0].stable = false;
    p[0].unstable_reason = "the queue grew";
    p[0].jobs =
        (struct job_counts){ .submitted = 857, .failed = 1, .running = 3, .completed = 853 };
    p[1].name = "second";
    p[1].jobs = (struct job_counts){ .submitted = 857, .failed = 90, .failed_oom = 12 };
    char *text = page_of(&r, LANG_EN, NULL);
    for (size_t i = 0; i < 5; i++) {
        char *point = xasprintf("<li>%s</li>", advice[i]);
        assert_true((strstr(text, point) != NULL) == (i >= 3));
        free(point);
    }
    assert_contains(text, "At the end of the run jobs were still running or queued:");
    assert_contains(text, "(90 failed, 12 of them out of memory, 0 killed, 0 rejected)");
    assert_contains(text, "first is not stable");
    free(text);
    summary_markdown(&r, NULL, LANG_EN, &markdown);
    for (size_t i = 0; i < 5; i++) assert_contains(markdown.s, advice[i]);
    strbuf_fini(&markdown);
    fake_result_fini(&r);
    arena_destroy(a);
}

/* One cost a year decides; the other has its name and how the two hang together. */
static void two_costs_a_year(void **state)
{
    struct arena *a = arena_create();
    struct result r;
    struct strbuf out = { 0 };
    (void)state;
    fake_result(&r, a);
    struct policy_result *p = policies_of(&r, a);
    for (size_t i = 0; i < r.n_policies; i++) {
        p[i].tco.priced = true;
        p[i].tco.usd_per_year = 443912.5;
        p[i].tco.rate = 0.0725;
        p[i].tco.term_y = 3.5;
    }
    json_t *risk =
        json_pack("{s:[{s:s, s:f, s:f, s:f}]}", "options", "policy", r.decision[0].policy,
                  "eac_usd", 474321.5, "p10_usd", 472111.0, "p90_usd", 605222.0);
    const struct report_look look = { .lang = LANG_EN, .risk = risk };
    report_page(&r, NULL, 0, &look, &out);
    static const char *const said[] = {
        "by which costs are compared here: 444,000 USD a year at the price books",
        "with interest of 7.25 % a year, and less what the cards fetch after 3.5 years, is the equivalent annual "
        "cost: 474,000 USD; with the prices drawn from their ranges, between 472,000 and 605,000 USD in 80 of 100 draws."
    };
    for (size_t i = 0; i < 2; i++) assert_contains(out.s, said[i]);
    strbuf_clear(&out);
    summary_markdown(&r, risk, LANG_EN, &out);
    for (size_t i = 0; i < 2; i++) assert_contains(out.s, said[i]);
    json_decref(risk);
    strbuf_fini(&out);
    fake_result_fini(&r);
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_sure_the_answer_is),
        cmocka_unit_test(rent_is_cheaper),
        cmocka_unit_test(findings_are_said_once),
        cmocka_unit_test(two_costs_a_year),
    };
    return cmocka_run_group_tests_name("report_answer", tests, NULL, NULL);
}
