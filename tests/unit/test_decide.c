/* test_decide.c - recommendations from made-up figures: what is fit, what is fast enough, what is
 * cheapest, and at which value the answer flips. */
#include "support/support.h"

#include "metrics/decide.h"

#include <math.h>
#include <string.h>

struct figures {
    const char *name, *kind;
    double lost, slowdown, usd; /* of 1,000 jobs; 95 %; for 100 useful card-hours */
    bool stable;
};

static const struct usage_group cards = { .name = "a", .nodes = 1, .cards = 10 };

static struct policy_result policy(const struct figures *f)
{
    struct policy_result p = {
        .name = f->name, .kind = f->kind, .stable = f->stable, .useful_gpu_hours = 100
    };
    p.jobs = (struct job_counts){ .submitted = 1000,
                                  .rejected = (uint64_t)f->lost,
                                  .completed = 1000 - (uint64_t)f->lost };
    p.stats.slowdown = (struct summary){ .n = 1000, .p95 = f->slowdown };
    p.stats.wait_s = (struct summary){ .n = 1000, .p95 = f->slowdown * 60 };
    p.tco = (struct tco_result){ .priced = !isnan(f->usd),
                                 .total_usd = f->usd,
                                 .usd_per_useful_gpu_hour = f->usd / 100 };
    p.usage = (struct usage){ .hours = 876, .group = &cards, .n_groups = 1 };
    return p;
}

static const struct decision *decide(struct result *r, struct policy_result *p,
                                     const struct figures *f, size_t n, struct arena *a)
{
    for (size_t i = 0; i < n; i++) p[i] = policy(&f[i]);
    *r = (struct result){ .policy = p, .n_policies = n };
    decide_policies(r, a);
    return &r->decision[0];
}

static const struct advice_flip *flip_on(const struct decision *d, const char *input)
{
    for (size_t i = 0; i < d->n_flips; i++)
        if (strcmp(d->flip[i].input, input) == 0) return &d->flip[i];
    fail_msg("no flip on %s", input);
    return NULL;
}

static void the_cheapest_that_is_fit_and_fast(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct policy_result p[5];
    struct result r;
    const struct figures f[] = { { "lossy", "mps", 11, 1, 100, true },
                                 { "slow", "remote", 0, 5.0, 150, true },
                                 { "good", "mig", 10, 4.5, 200, true },
                                 { "dear", "whole", 0, 1.2, 260, true },
                                 { "unstable", "timeslice", 0, 1, 90, false } };
    const struct decision *d = decide(&r, p, f, 5, a);
    assert_string_equal(d->policy, "good");
    assert_string_equal(d->kind, "mig");
    assert_int_equal(d->fleet[0].cards, 10);
    assert_int_equal(d->n_ties, 0);
    assert_int_equal(d->n_reasons, 4);
    assert_close(flip_on(d, "slowdown_p95")->at, 5.0, 0);
    assert_string_equal(flip_on(d, "slowdown_p95")->to, "slow");
    assert_close(flip_on(d, "cost_share")->at, 200 / 260.0 - 1, 1e-12);
    /* 60 USD more for the window of a tenth of a year on ten cards: 60 a card-year */
    assert_close(flip_on(d, "usd_per_card_year")->at, 60, 1e-9);
    /* a faster best moves the guard, and with it the answer */
    const struct figures g[] = { f[1], f[2], { "dear", "whole", 0, 0.9, 260, true } };
    assert_string_equal(decide(&r, p, g, 3, a)->policy, "dear");
    arena_destroy(a);
}

static void equal_costs_and_ties(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct policy_result p[3];
    struct result r;
    const struct figures f[] = { { "a", "whole", 0, 1.5, 200, true },
                                 { "b", "mig", 0, 1.2, 203, true },
                                 { "c", "mps", 0, 1.21, 202, true } };
    const struct decision *d = decide(&r, p, f, 3, a);
    assert_string_equal(d->policy, "b");
    assert_int_equal(d->n_ties, 1);
    assert_string_equal(d->tie[0], "c");
    /* no prices: slowdown alone */
    const struct figures g[] = { { "a", "whole", 0, 1.5, NAN, true },
                                 { "b", "mig", 0, 1.6, NAN, true } };
    assert_string_equal(decide(&r, p, g, 2, a)->policy, "a");
    assert_int_equal(r.decision[0].n_flips, 0);
    const struct figures h[] = { { "a", "whole", 500, 1, 1, true },
                                 { "b", "mig", 0, 1, 1, false } };
    d = decide(&r, p, h, 2, a);
    assert_null(d->policy);
    assert_non_null(strstr(d->flip[0].text, "no policy serves"));
    arena_destroy(a);
}

/* Big gangs prefer whole cards where slices slow them or cannot hold them; a class of its own says
 * so. */
static void classes_and_services(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    const struct figures f[] = { { "whole", "whole", 0, 1, 200, true },
                                 { "mig", "mig", 0, 1, 200, true } };
    struct policy_result p[] = { policy(&f[0]), policy(&f[1]) };
    struct job_group_result klass[2][2];
    struct cost_line line[2][2];
    struct service_result chat[2];
    for (int i = 0; i < 2; i++) {
        klass[i][0] = (struct job_group_result){ .name = "dev",
                                                 .useful_gpu_hours = 10,
                                                 .count = { .submitted = 100, .completed = 100 } };
        klass[i][0].stats.slowdown.p95 = 1.1;
        klass[i][1] = (struct job_group_result){ .name = "training",
                                                 .useful_gpu_hours = 90,
                                                 .count = { .submitted = 50, .completed = 50 } };
        klass[i][1].stats.slowdown.p95 = i ? 2.2 : 1.05; /* slices are slow for them */
        line[i][0] = (struct cost_line){ "dev", i ? 10 : 60, 0, 0 };
        line[i][1] = (struct cost_line){ "training", 90, 0, 0 };
        chat[i] = (struct service_result){ .name = "chat",
                                           .requests = 9,
                                           .stable = true,
                                           .attainment = i ? 0.96 : 0.999,
                                           .usd_per_million_requests = i ? 10 : 50 };
        p[i].by_class = klass[i];
        p[i].n_classes = 2;
        p[i].tco.klass = line[i];
        p[i].tco.n_classes = 2;
        p[i].service = &chat[i];
        p[i].n_services = 1;
    }
    struct result r = { .policy = p, .n_policies = 2 };
    decide_policies(&r, a);
    assert_int_equal(r.n_decisions, 4);
    assert_string_equal(r.decision[1].about, "dev");
    assert_string_equal(r.decision[1].policy, "mig"); /* 10 of 100 charged instead of 60 of 150 */
    assert_string_equal(r.decision[2].about, "training");
    assert_string_equal(r.decision[2].policy, "whole");
    assert_string_equal(r.decision[3].about, "chat");
    assert_string_equal(r.decision[3].policy, "whole"); /* the cheap one misses targets */
    assert_non_null(strstr(r.decision[3].reason[0].text, "96 %"));
    chat[1].attainment = 0.98;
    r = (struct result){ .policy = p, .n_policies = 2 };
    decide_policies(&r, a);
    assert_string_equal(r.decision[3].policy, "mig");
    /* a service alone is all of the work: no job is missing */
    for (int i = 0; i < 2; i++) {
        p[i].jobs = (struct job_counts){ 0 };
        p[i].stats = (struct job_stats){ 0 };
        p[i].stats.slowdown.p95 = p[i].stats.wait_s.p95 = NAN;
        p[i].tco.usd_per_year = i ? 10 : 50;
        p[i].n_classes = 0;
    }
    r = (struct result){ .policy = p, .n_policies = 2 };
    decide_policies(&r, a);
    assert_string_equal(r.decision[0].about, "(all)");
    assert_non_null(r.decision[0].policy);
    assert_string_equal(r.decision[0].policy, "mig");
    chat[1].stable = false; /* but a queue that grows is */
    r = (struct result){ .policy = p, .n_policies = 2 };
    decide_policies(&r, a);
    assert_string_equal(r.decision[0].policy, "whole");
    arena_destroy(a);
}

/* A target that is missed by a hair is missed: where another policy meets all of them, the
 * cheaper one that does not is no choice. Where none does, those near the best are; the answer
 * says so. */
static void missed_by_a_hair(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    const struct figures f[] = { { "turns", "timeslice", 0, 1, 300, true },
                                 { "slices", "mig", 0, 1, 200, true } };
    struct policy_result p[] = { policy(&f[0]), policy(&f[1]) };
    struct target_result target[] = { { "ttft_p99", 1000, 835, 0.994, true },
                                      { "ttft_p99", 1000, 1108, 0.987, false } };
    struct service_result chat[2];
    for (int i = 0; i < 2; i++) {
        chat[i] = (struct service_result){ .name = "chat",
                                           .requests = 9,
                                           .stable = true,
                                           .target = &target[i],
                                           .n_targets = 1,
                                           .attainment = target[i].attainment,
                                           .usd_per_million_requests = i ? 10 : 50 };
        p[i].service = &chat[i];
        p[i].n_services = 1;
        p[i].tco.usd_per_year = i ? 1000 : 5000;
    }
    struct result r = { .policy = p, .n_policies = 2 };
    decide_policies(&r, a);
    for (size_t i = 0; i < r.n_decisions; i++) {
        const struct decision *d = &r.decision[i];
        assert_string_equal(d->policy, "turns");
        assert_false(d->option[1].eligible);
        assert_string_equal(d->reason[0].text,
                            "meets all targets; slices misses 1 of 1 (98.7 % within all)");
        assert_string_equal(flip_on(d, "attainment")->to, "slices");
    }
    target[0].met = false;
    r = (struct result){ .policy = p, .n_policies = 2 };
    decide_policies(&r, a);
    for (size_t i = 0; i < r.n_decisions; i++) {
        assert_string_equal(r.decision[i].policy, "slices");
        assert_string_equal(r.decision[i].reason[0].text,
                            "misses 1 of 1 targets; no policy that is otherwise fit meets all");
    }
    arena_destroy(a);
}

/* Cameras run all week: none ends within the window under one policy, all do under the other,
 * and what they cost is compared by the year. 24 of 100 USD of 876 hours, and 60 of 300. */
static void endless_work(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    const struct figures f[] = { { "whole", "whole", 0, 1, 300, true },
                                 { "share", "timeslice", 0, 1, 100, true } };
    struct policy_result p[] = { policy(&f[0]), policy(&f[1]) };
    struct job_group_result klass[2][2];
    struct cost_line line[2][2];
    for (int i = 0; i < 2; i++) {
        klass[i][0] = (struct job_group_result){
            .name = "cameras",
            .useful_gpu_hours = i ? 0 : 50,
            .count = { .submitted = 9, .completed = i ? 0 : 9, .running = i ? 9 : 0 }
        };
        klass[i][0].stats.slowdown.p95 = i ? NAN : 1;
        klass[i][0].stats.wait_s.p95 = 0;
        klass[i][1] = (struct job_group_result){ .name = "rest",
                                                 .useful_gpu_hours = 50,
                                                 .count = { .submitted = 1, .completed = 1 } };
        klass[i][1].stats.slowdown.p95 = 1;
        line[i][0] = (struct cost_line){ "cameras", i ? 12 : 40, 0, 0 };
        line[i][1] = (struct cost_line){ "rest", i ? 38 : 160, 0, 0 };
        p[i].by_class = klass[i];
        p[i].n_classes = 2;
        p[i].tco.klass = line[i];
        p[i].tco.n_classes = 2;
        p[i].tco.usd_per_year = p[i].tco.total_usd * 10;
    }
    struct result r = { .policy = p, .n_policies = 2 };
    decide_policies(&r, a);
    const struct decision *d = &r.decision[1];
    assert_string_equal(d->about, "cameras");
    assert_string_equal(d->policy, "share");
    assert_string_equal(d->cost_unit, "USD a year");
    assert_close(d->option[0].cost, 600, 1e-9);
    assert_close(d->option[1].cost, 240, 1e-9);
    /* 360 USD a year dearer, of which the cameras would pay 24 % of a licence on ten cards */
    assert_close(flip_on(d, "usd_per_card_year")->at, 360 / 0.24 / 10, 1e-9);
    assert_string_equal(r.decision[2].cost_unit, "USD per useful GPU-hour");
    arena_destroy(a);
}

/* What is cheaper but loses jobs is named with the share that would have to be accepted. */
static void what_losing_jobs_would_save(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct policy_result p[3];
    struct result r;
    const struct figures f[] = { { "lossy", "mps", 45, 1, 100, true },
                                 { "good", "mig", 10, 1, 200, true },
                                 { "dear and lossy", "whole", 500, 1, 260, true } };
    const struct decision *d = decide(&r, p, f, 3, a);
    assert_string_equal(d->policy, "good");
    assert_int_equal(d->n_flips, 1);
    assert_close(flip_on(d, "lost")->at, 0.045, 1e-12);
    assert_string_equal(flip_on(d, "lost")->to, "lossy");
    assert_false(d->option[0].eligible);
    assert_true(d->option[1].eligible);
    assert_close(d->option[0].cost, 1, 1e-12);
    arena_destroy(a);
}

/* Every sharing kind has the same aspects, each with a source. */
static void qualities(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "whole", "mig", "timeslice", "mps", "intercept", "remote"
    };
    size_t n, most;
    const struct quality *whole = qualities_of("whole", &most);
    assert_int_equal(most, 9);
    for (int k = 0; k < 6; k++) {
        const struct quality *q = qualities_of(kinds[k], &n);
        assert_int_equal(n, most);
        for (size_t i = 0; i < n; i++) {
            assert_string_equal(q[i].aspect, whole[i].aspect);
            assert_true(strlen(q[i].text) > 3 && strlen(q[i].source) > 3);
        }
    }
    qualities_of("telepathy", &n);
    assert_int_equal(n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cheapest_that_is_fit_and_fast),
        cmocka_unit_test(equal_costs_and_ties),
        cmocka_unit_test(classes_and_services),
        cmocka_unit_test(missed_by_a_hair),
        cmocka_unit_test(endless_work),
        cmocka_unit_test(what_losing_jobs_would_save),
        cmocka_unit_test(qualities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
