/* test_size.c - targets, their verdicts, and the search on responses that are known: rising once,
 * with holes, with islands, never, cheaper when larger. */
#include "support/support.h"

#include "whatif/size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct arena *arena;
static struct err err;

static int parse(struct slo *s, const char *text)
{
    err = (struct err){ 0 };
    return slo_parse(s, arena, text, &err);
}

static void expressions(void **state)
{
    struct slo s;
    (void)state;
    static const struct {
        const char *text, *path;
        enum slo_op op;
        double limit;
    } good[] = {
        { "jobs.wait_s.p95<=600", "jobs.wait_s.p95", SLO_LE, 600 },
        { "jobs.failed==0", "jobs.failed", SLO_EQ, 0 },
        { "gpu.allocated >= 0.85", "gpu.allocated", SLO_GE, 0.85 },
        { "a<-2.5e3", "a", SLO_LT, -2500 },
        { "a.b>1", "a.b", SLO_GT, 1 },
        { "a!=3", "a", SLO_NE, 3 },
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(parse(&s, good[i].text), 0);
        assert_string_equal(s.path, good[i].path);
        assert_int_equal(s.op, good[i].op);
        assert_close(s.limit, good[i].limit, 0);
    }
    static const char *const bad[] = { "",      "a",      "a=1",  "<=1",    "a<=",   "a<=x",
                                       "a<=1s", "a<=1 2", "a=<1", "a<=nan", "  <=1", "a!1" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse(&s, bad[i]), ERR_USAGE);
        assert_contains(err.msg, "expected PATH");
    }
}

static void contradictions(void **state)
{
    static const struct {
        const char *a, *b;
        bool agree;
    } t[] = {
        { "x<=600", "x>=900", false }, { "x<=600", "x<=60", true }, { "x<=600", "y>=900", true },
        { "x<=5", "x>=5", true },      { "x<5", "x>=5", false },    { "x<5", "x>4", true },
        { "x==5", "x>4", true },       { "x==5", "x>=5.5", false }, { "x==5", "x==6", false },
        { "x==5", "x!=5", false },     { "x!=5", "x!=6", true },    { "x<=5", "x!=5", true },
        { "x>5", "x>1e300", true },    { "x<0", "x<-1e300", true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct slo s[2];
        assert_int_equal(parse(&s[0], t[i].a), 0);
        assert_int_equal(parse(&s[1], t[i].b), 0);
        assert_int_equal(slo_check(s, 2, &err), t[i].agree ? 0 : ERR_USAGE);
        if (!t[i].agree) assert_contains(err.msg, t[i].b);
    }
}

static void comparisons(void **state)
{
    static const char *const text[] = { "a<=2", "a<2", "a>=2", "a>2", "a==2", "a!=2" };
    static const bool want[][3] = { { 1, 1, 0 }, { 1, 0, 0 }, { 0, 1, 1 },
                                    { 0, 0, 1 }, { 0, 1, 0 }, { 1, 0, 1 } };
    struct slo s;
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(parse(&s, text[i]), 0);
        for (int v = 1; v <= 3; v++) assert_int_equal(slo_holds(&s, v), want[i][v - 1]);
    }
}

/* x of 1..5: 3 +- 1.963. */
static void verdicts(void **state)
{
    const double x[] = { 1, 2, 3, 4, 5 }, hole[] = { 1, NAN }, same[] = { 0, 0, 0 },
                 one[] = { 0, 1 };
    struct slo s;
    struct interval i;
    (void)state;
    parse(&s, "a<=5");
    assert_int_equal(slo_judge(&s, x, 5, &i), SIZE_MET);
    assert_close(i.half, 2.7764451052 * sqrt(0.5), 1e-9);
    parse(&s, "a<=4.9");
    assert_int_equal(slo_judge(&s, x, 5, &i), SIZE_UNDECIDED);
    parse(&s, "a<=1");
    assert_int_equal(slo_judge(&s, x, 5, &i), SIZE_MISSED);
    parse(&s, "a>=1");
    assert_int_equal(slo_judge(&s, x, 5, &i), SIZE_MET);
    assert_int_equal(slo_judge(&s, hole, 2, &i), SIZE_MISSED);
    assert_int_equal(slo_judge(&s, x, 1, &i), SIZE_MET); /* one value stands for itself */
    parse(&s, "a==0");
    assert_int_equal(slo_judge(&s, same, 3, &i), SIZE_MET);
    assert_int_equal(slo_judge(&s, one, 2, &i), SIZE_MISSED); /* every run, not the mean */
}

/* ---- the search ---- */

struct response {
    const char *met; /* character n: '+' met, '-' missed, '?' undecided; the last one goes on */
    double usd_per_node, usd_fixed;
    size_t tried;
};

static int answer(void *ctx, int64_t nodes, struct size_trial *out, struct err *e)
{
    struct response *r = ctx;
    const size_t last = strlen(r->met) - 1;
    const char c = r->met[(size_t)nodes < last ? (size_t)nodes : last];
    (void)e;
    r->tried++;
    out->nodes = nodes;
    out->verdict = c == '+' ? SIZE_MET : c == '?' ? SIZE_UNDECIDED : SIZE_MISSED;
    out->cost_usd = r->usd_per_node != 0 ? r->usd_fixed + r->usd_per_node * (double)nodes : NAN;
    return 0;
}

static struct size_answer search(struct response *r, int64_t min, int64_t max, bool scan)
{
    struct size_answer a = { .policy = "p" };
    assert_int_equal(size_search(&a, min, max, scan, answer, r, &err), 0);
    return a;
}

/* Every step from 1 to 200, without trying more than a few. */
static void rises_once(void **state)
{
    (void)state;
    for (int64_t step = 1; step <= 200; step++) {
        char met[256];
        memset(met, '-', sizeof met);
        memset(met + step, '+', 2);
        met[step + 2] = '\0';
        struct response r = { .met = met };
        struct size_answer a = search(&r, 1, 1000, false);
        assert_non_null(a.best);
        assert_int_equal(a.best->nodes, step);
        if (step > 1)
            assert_int_equal(a.next_smaller->nodes, step - 1);
        else
            assert_null(a.next_smaller);
        assert_int_equal(a.n_odd, 0);
        assert_true(r.tried <= 30);
        assert_int_equal(r.tried, a.n_trials); /* nothing twice */
        size_answer_fini(&a);
    }
}

static void never(void **state)
{
    struct response r = { .met = "-" }, u = { .met = "?" };
    (void)state;
    struct size_answer a = search(&r, 3, 50, false);
    assert_null(a.best);
    assert_int_equal(a.trial[a.n_trials - 1].nodes, 50); /* the largest was tried */
    size_answer_fini(&a);
    a = search(&u, 1, 8, false); /* not decided is not met */
    assert_null(a.best);
    size_answer_fini(&a);
}

/* Met at 6 and 7, missed at 8 and 9, met from 10 on: doubling meets 8 first and misses. */
static void with_a_hole(void **state)
{
    struct response r = { .met = "------++--+" };
    (void)state;
    struct size_answer a = search(&r, 1, 64, false);
    assert_int_equal(a.best->nodes, 6);
    assert_int_equal(a.n_odd, 2);
    assert_int_equal(a.odd[0].from, 6);
    assert_int_equal(a.odd[0].to, 7);
    assert_true(a.odd[0].met);
    assert_int_equal(a.odd[1].from, 8);
    assert_int_equal(a.odd[1].to, 9);
    assert_false(a.odd[1].met);
    size_answer_fini(&a);
}

/* A smaller fleet that meets is found by looking around; a scan finds what lies far away. */
static void with_an_island(void **state)
{
    struct response near = { .met = "----+-+" }, far = { .met = "---+----------------+" };
    (void)state;
    struct size_answer a = search(&near, 1, 64, false);
    assert_int_equal(a.best->nodes, 4);
    assert_int_equal(a.n_odd, 2);
    size_answer_fini(&a);
    a = search(&far, 1, 64, true);
    assert_int_equal(a.best->nodes, 3);
    assert_int_equal(a.n_trials, 64);
    assert_int_equal(a.n_odd, 2);
    size_answer_fini(&a);
}

/* Least cost, not fewest nodes; equal costs: fewest nodes. */
static void cost_decides(void **state)
{
    struct response cheaper = { .met = "---+", .usd_fixed = 100, .usd_per_node = -1 };
    struct response flat = { .met = "---+", .usd_fixed = 7, .usd_per_node = 1e-300 };
    (void)state;
    struct size_answer a = search(&cheaper, 1, 64, false);
    assert_int_equal(a.best->nodes, 5); /* of those tried: 3, and two above */
    size_answer_fini(&a);
    a = search(&flat, 1, 64, false);
    assert_int_equal(a.best->nodes, 3);
    size_answer_fini(&a);
}

static int fails(void *ctx, int64_t nodes, struct size_trial *out, struct err *e)
{
    (void)ctx, (void)nodes, (void)out;
    return err_set(e, ERR_USAGE, NULL, "no such thing");
}

static void an_error_ends_it(void **state)
{
    struct size_answer a = { 0 };
    (void)state;
    err = (struct err){ 0 };
    assert_int_equal(size_search(&a, 1, 9, false, fails, NULL, &err), ERR_USAGE);
    assert_int_equal(a.n_trials, 0);
    size_answer_fini(&a);
}

static void more_nines(void **state)
{
    struct slo s, out;
    (void)state;
    assert_int_equal(parse(&s, "services.chat.ttft_ms.p95 <= 500"), 0);
    assert_string_equal(slo_percentile(&s), "p95");
    assert_true(slo_nines(&s, 2, arena, &out));
    assert_string_equal(out.path, "services.chat.ttft_ms.p999");
    assert_string_equal(out.text, "services.chat.ttft_ms.p999<= 500");
    assert_close(out.limit, 500, 0);
    assert_false(slo_nines(&s, 3, arena, &out));
    assert_int_equal(parse(&s, "services.chat.attainment>=0.95"), 0);
    assert_null(slo_percentile(&s));
    assert_true(slo_nines(&s, 1, arena, &out));
    assert_close(out.limit, 0.99, 0);
    assert_string_equal(out.text, "services.chat.attainment>=0.99");
    assert_int_equal(parse(&s, "jobs.wait_s.p99>=3"), 0); /* more is better: no nines */
    assert_false(slo_nines(&s, 0, arena, &out));
    assert_int_equal(parse(&s, "jobs.failed==0"), 0);
    assert_false(slo_nines(&s, 0, arena, &out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions),  cmocka_unit_test(contradictions),
        cmocka_unit_test(comparisons),  cmocka_unit_test(verdicts),
        cmocka_unit_test(rises_once),   cmocka_unit_test(never),
        cmocka_unit_test(with_a_hole),  cmocka_unit_test(with_an_island),
        cmocka_unit_test(cost_decides), cmocka_unit_test(an_error_ends_it),
        cmocka_unit_test(more_nines),
    };
    arena = arena_create();
    const int rc = cmocka_run_group_tests_name("size", tests, NULL, NULL);
    arena_destroy(arena);
    return rc;
}
