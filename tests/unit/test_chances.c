/* test_chances.c - how often each policy is the cheapest, with closed forms for uniform prices. */
#include "support/simulate.h"

#include "whatif/chances.h"

#include <math.h>
#include <string.h>

#define SCENARIO                                                                                      \
    "{ 'format': 'gpusim-scenario/1', 'name': 'k', 'fleet': [ { 'name': 'p', 'gpu': 'generic', "      \
    "'nodes': 1, 'gpus_per_node': 2 } ], 'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': "          \
    "'trace.csv' } ], 'policies': [ { 'name': 'a', 'share': { 'kind': 'whole' }, 'prices': 'a.json' " \
    "}, { 'name': 'b', 'share': { 'kind': 'whole' }, 'prices': 'b.json' } ] }"

/* 1 and 3 card-hours of two classes on two cards in three hours: two of six hours are idle. */
static const char trace[] = "job_id,submit_s,duration_s,gpus,class\nx,0,3600,1,dev\n"
                            "y,0,10800,1,training\n";

static void run(struct simulated *s, const char *a, const char *b)
{
    static char text[2][600];
    const char *amount[] = { a, b };
    for (int i = 0; i < 2; i++)
        snprintf(
            text[i], sizeof text[i],
            "{ 'format': 'gpusim-prices/1', 'name': 'n', 'currency': 'USD', 'as_of': '2026-01', "
            "'rate': 0, 'term': '1 y', 'items': [ { 'name': 'rack %c', 'driver': 'gpu_hour', "
            "'amount': %s, 'source': 's', 'date': '2026-01', 'confidence': 'read' } ] }",
            "ab"[i], amount[i]);
    const struct sim_file files[] = { { "a.json", text[0] },
                                      { "b.json", text[1] },
                                      { NULL, NULL } };
    simulate_with(s, SCENARIO, trace, files, 2);
}

static const struct advice_flip *price_flip(const struct decision *d, const char *input)
{
    for (size_t i = 0; i < d->n_flips; i++)
        if (strcmp(d->flip[i].input, input) == 0) return &d->flip[i];
    return NULL;
}

/* b costs 0.9, a uniformly 0.8 to 1.2: cheaper in a quarter of the draws; six card-hours, four
 * useful. */
static void known_share(void **state)
{
    struct simulated s;
    (void)state;
    run(&s, "{ 'shape': 'uniform', 'low': 0.8, 'high': 1.2 }", "0.9");
    const struct result *r = &s.run.result;
    assert_int_equal(r->advice_draws, CHANCES_DRAWS);
    assert_int_equal(r->advice_replications, 1);
    assert_int_equal(r->n_decisions, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct decision *d = &r->decision[i];
        const struct decision_option *a = &d->option[0], *b = &d->option[1];
        assert_string_equal(d->policy, "b");
        assert_string_equal(d->cost_unit, "USD per useful GPU-hour");
        assert_int_equal(d->n_options, 2);
        /* each class pays its part of the idle hours, so all cost the same per useful hour */
        assert_close(a->cost, 1.5, 1e-9);
        assert_close(b->cost, 1.35, 1e-9);
        assert_close(b->cost_p10, 1.35, 1e-9);
        assert_close(b->cost_p90, 1.35, 1e-9);
        assert_close(a->cost_p10, 1.5 * 0.84, 0.01);
        assert_close(a->cost_p90, 1.5 * 1.16, 0.01);
        assert_close(a->p_cheapest, 0.25, 0.05);
        assert_close(a->p_cheapest + b->p_cheapest, 1, 1e-12);
        assert_close(a->difference_p5, 1.5 * 0.82 - 1.35, 0.1);
        assert_close(a->difference_p95, 1.5 * 1.18 - 1.35, 0.05);
        assert_true(a->no_difference_shown);
        assert_false(b->no_difference_shown);
        assert_true(isnan(b->difference_p5));
        assert_close(price_flip(d, "price: rack a")->at, 0.9, 1e-6);
        assert_string_equal(price_flip(d, "price: rack a")->to, "a");
        assert_string_equal(d->reason[d->n_reasons - 1].metric, "p_cheapest");
        assert_close(d->reason[d->n_reasons - 1].value, b->p_cheapest, 0);
    }
    simulated_fini(&s);
}

/* Far apart: certain, and shown. A range that is not even about its mode: its median decides, and
 * the stated price stands beside it. */
static void certain_and_lopsided(void **state)
{
    struct simulated s;
    (void)state;
    run(&s, "{ 'low': 2, 'mode': 3, 'high': 4 }", "{ 'low': 0.9, 'mode': 1, 'high': 1.1 }");
    const struct decision *d = &s.run.result.decision[0];
    assert_close(d->option[1].p_cheapest, 1, 0);
    assert_close(d->option[0].p_cheapest, 0, 0);
    assert_false(d->option[0].no_difference_shown);
    assert_null(strstr(d->reason[d->n_reasons - 1].text, "median"));
    simulated_fini(&s);
    run(&s, "1.1", "{ 'low': 1, 'mode': 1, 'high': 3 }");
    const struct result *r = &s.run.result;
    for (size_t i = 0; i < r->n_decisions; i++) {
        d = &r->decision[i];
        assert_string_equal(d->policy, "a");
        assert_true(d->by_median);
        assert_close(d->option[1].cost, 1.5, 1e-9);
        assert_close(d->option[1].cost_p50, 1.5 * (3 - sqrt(2)), 0.07);
        assert_close(d->option[0].p_cheapest, 0.9025, 0.03); /* (3 - 1.1)^2 / 4 */
        assert_close(d->option[1].difference_p95, 1.5 * (3 - 2 * sqrt(0.05) - 1.1), 0.05);
        assert_true(isnan(d->option[0].difference_p5));
        /* what is said of the cost is said of medians; b wins below 1.1, all else at its median */
        assert_close(d->reason[0].other, d->option[1].cost_p50, 0);
        assert_close(price_flip(d, "price: rack b")->at, 1.1, 1e-6);
        assert_non_null(strstr(price_flip(d, "price: rack b")->text, "1.1 instead of 1.586"));
    }
    simulated_fini(&s);
}

/* Within 2 % at the medians the quicker one is taken, however seldom it is the cheaper; the
 * reader is told. */
static void cheaper_by_less_than_the_tie(void **state)
{
    struct simulated s;
    (void)state;
    run(&s, "{ 'low': 1.009, 'mode': 1.01, 'high': 1.011 }", "1");
    const struct decision *d = &s.run.result.decision[0];
    assert_string_equal(d->policy, "a");
    assert_close(d->option[1].p_cheapest, 1, 0);
    assert_non_null(strstr(d->reason[d->n_reasons - 1].text, "less than 2 %"));
    simulated_fini(&s);
}

/* One that turns work away is drawn too, beside the others: what accepting it would save is said of
 * the same figure. It has no part in who is the cheapest. */
static void not_eligible(void **state)
{
    static const char text[] =
        "{ 'format': 'gpusim-scenario/1', 'name': 'k', 'fleet': [ { 'name': 'p', 'gpu': 'l4', 'nodes': "
        "1, 'gpus_per_node': 2 } ], 'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ], "
        "'prices': 'p.json', 'policies': [ { 'name': 'a', 'share': { 'kind': 'whole' } }, { 'name': "
        "'b', 'share': { 'kind': 'timeslice' }, 'fleet': [ { 'name': 'p', 'gpu': 'l4', 'nodes': 1, "
        "'gpus_per_node': 1 } ] } ] }";
    static const struct sim_file files[] = {
        { "p.json",
          "{ 'format': 'gpusim-prices/1', 'name': 'n', 'currency': 'USD', 'as_of': '2026-01', 'rate': "
          "0, 'term': '1 y', 'items': [ { 'name': 'rack', 'driver': 'gpu_hour', 'amount': { 'low': 1, "
          "'mode': 1, 'high': 3 } } ] }" },
        { NULL, NULL }
    };
    struct simulated s;
    (void)state;
    simulate_with(&s, text, "job_id,submit_s,duration_s,gpus\nx,0,3600,1\ny,0,3600,2\n", files, 2);
    const struct decision *d = &s.run.result.decision[0];
    const struct decision_option *b = &d->option[1];
    assert_string_equal(d->policy, "a");
    assert_false(b->eligible);
    assert_close(b->cost_p50, 3 - sqrt(2), 0.05); /* an hour of one card, all of it useful */
    assert_true(isnan(b->p_cheapest) && isnan(b->difference_p5));
    assert_close(d->option[0].p_cheapest, 1, 0);
    simulated_fini(&s);
}

/* The same price is no difference, and halves the chance. */
static void equal(void **state)
{
    struct simulated s;
    (void)state;
    run(&s, "1", "{ 'low': 0.99999, 'mode': 1, 'high': 1.00001 }");
    const struct decision *d = &s.run.result.decision[0];
    assert_close(d->option[0].p_cheapest, 0.5, 1e-12);
    assert_true(d->option[0].no_difference_shown || d->option[1].no_difference_shown);
    simulated_fini(&s);
}

static const struct comparison_row *comparison(const struct result *r, const char *metric)
{
    for (size_t i = 0; i < r->n_comparisons; i++)
        if (strcmp(r->comparison[i].metric, metric) == 0) return &r->comparison[i];
    fail_msg("no row of %s", metric);
    return NULL;
}

/* The same scenario on other random numbers, one run after the other: with fixed prices a draw
 * costs what one of five runs costs, the dearest and the cheapest of which are the outer fifths. */
static void replications(void **state)
{
    static const char text[] =
        "{ 'format': 'gpusim-scenario/1', 'name': 'g', 'seed': 5, 'fleet': [ { 'name': 'p', 'gpu': "
        "'generic', 'nodes': 2, 'gpus_per_node': 2 } ], 'work': [ { 'name': 'w', 'kind': 'generate', "
        "'spec': 'spec.json' } ], 'prices': 'prices.json', 'policies': [ { 'name': 'p', 'share': { "
        "'kind': 'whole' } }, { 'name': 'q', 'share': { 'kind': 'timeslice' } } ] }";
    static const struct sim_file files[] = {
        { "spec.json",
          "{ 'format': 'gpusim-generate/1', 'name': 's', 'horizon': '2 h', 'classes': [ { 'name': 'c', "
          "'arrivals': { 'kind': 'poisson', 'gap': '90 s' }, 'duration': { 'kind': 'exponential', "
          "'mean': '200 s' }, 'gpus': 1 } ] }" },
        { "prices.json",
          "{ 'format': 'gpusim-prices/1', 'name': 'n', 'currency': 'USD', 'as_of': '2026-01', 'items': [ "
          "{ 'name': 'rent', 'driver': 'gpu_hour', 'amount': 1 } ] }" },
        { NULL, NULL }
    };
    enum { N = 5 };
    const char *path = sim_write(text, NULL, files);
    double low = INFINITY, high = 0, sum = 0, square = 0, first = 0;
    struct err e = { 0 };
    (void)state;
    for (uint64_t k = 0; k < N; k++) {
        struct runner one;
        sim_load(&one, path);
        one.replication = k;
        assert_int_equal(runner_run(&one, NULL, 1, &e), 0);
        const double usd = one.result.policy[0].tco.usd_per_useful_gpu_hour;
        const double difference = one.result.policy[1].tco.usd_per_useful_gpu_hour - usd;
        assert_true(isnan(comparison(&one.result, "usd_per_useful_gpu_hour")->low));
        first += usd / N;
        sum += difference;
        square += difference * difference;
        low = fmin(low, usd);
        high = fmax(high, usd);
        runner_fini(&one);
    }
    assert_true(high > 1.05 * low);
    const double mean = sum / N, half = 2.7764451 * sqrt((square - sum * mean) / (N - 1) / N);
    json_t *before = NULL;
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct runner all;
        sim_load(&all, path);
        all.replications = N;
        assert_true(runner_is_random(&all));
        assert_int_equal(runner_run(&all, NULL, threads, &e), 0);
        const struct decision_option *o = &all.result.decision[0].option[0];
        assert_int_equal(all.result.advice_replications, N);
        assert_close(o->cost_p10, low, 1e-9);
        assert_close(o->cost_p90, high, 1e-9);
        /* Student's t of four degrees of freedom, 97.5 %: 2.776445 */
        const struct comparison_row *c = comparison(&all.result, "usd_per_useful_gpu_hour");
        assert_close(c->first, first, 1e-12);
        assert_close(c->difference, mean, 1e-9);
        assert_close(c->high - c->difference, half, 1e-6);
        assert_close(c->difference - c->low, half, 1e-6);
        assert_true(half > 0);
        assert_non_null(strstr(all.result.advice[2], "first of 5 replications"));
        json_t *now = result_to_json(&all.result);
        if (before) assert_true(json_equal(before, now)); /* at any number of threads */
        json_decref(before);
        before = now;
        runner_fini(&all);
    }
    json_decref(before);
}

#define BOOK(item)                                                                                               \
    "{ 'format': 'gpusim-prices/1', 'name': 'the cloud', 'currency': 'USD', 'rate': 0, 'term': '2 y', 'as_of': " \
    "'2026-01', 'items': [ { 'name': 'x', " item " } ] }"

/* A card of 876 USD that is held all the time against 0.5 USD an hour, 365 a month: paid in
 * month 2.4. A book of rent without that card is refused. */
static void held_against_a_book_of_rent(void **state)
{
    static const char text[] =
        "{ 'format': 'gpusim-scenario/1', 'name': 'k', 'fleet': [ { 'name': 'p', 'gpu': 'l4', "
        "'nodes': 1, 'gpus_per_node': 1 } ], 'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': "
        "'trace.csv' } ], 'policies': [ { 'name': 'a', 'share': { 'kind': 'whole' } } ], 'prices': "
        "'own.json', 'rent': 'rent.json' }";
    struct sim_file files[] = {
        { "own.json", BOOK("'driver': 'card', 'gpu': 'l4', 'amount': 876") },
        { "rent.json", BOOK("'driver': 'allocated_gpu_hour', 'gpu': 'l4', 'amount': 0.5") },
        { NULL, NULL }
    };
    struct simulated s;
    char said[600];
    (void)state;
    simulate_with(&s, text, "job_id,submit_s,duration_s,gpus\nx,0,3600,1\n", files, 1);
    const struct tco_result *t = &s.run.result.policy[0].tco;
    assert_int_equal(t->n_paybacks, 1);
    assert_string_equal(t->payback[0].rent, "the cloud");
    assert_close(t->payback[0].month, 3, 0);
    assert_close(t->payback[0].paid_by_month_usd[24], 2 * 4380, 1e-9);
    simulated_fini(&s);
    files[1].text = BOOK("'driver': 'allocated_gpu_hour', 'gpu': 't4', 'amount': 0.5");
    assert_int_equal(sim_problems(text, "job_id,submit_s,duration_s,gpus\nx,0,3600,1\n", files,
                                  said, sizeof said),
                     1);
    assert_contains(said, "l4");
}

static void nothing_to_draw(void **state)
{
    struct simulated s;
    (void)state;
    run(&s, "1", "2");
    const struct result *r = &s.run.result;
    assert_int_equal(r->advice_draws, 0);
    assert_close(r->decision[0].option[0].cost, 1.5, 1e-9);
    assert_true(r->decision[0].option[0].eligible);
    assert_true(isnan(r->decision[0].option[0].p_cheapest));
    simulated_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_share),
        cmocka_unit_test(certain_and_lopsided),
        cmocka_unit_test(cheaper_by_less_than_the_tie),
        cmocka_unit_test(not_eligible),
        cmocka_unit_test(equal),
        cmocka_unit_test(replications),
        cmocka_unit_test(held_against_a_book_of_rent),
        cmocka_unit_test(nothing_to_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
