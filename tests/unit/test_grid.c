/* test_grid.c - axes, ranges and shards; and the intervals that tables of a sweep carry. */
#include "support/support.h"

#include "base/str.h"
#include "whatif/grid.h"
#include "whatif/interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct arena *arena;
static struct grid grid;
static struct err err;
static const char *design; /* NULL: cross */

static int parse(const char *a, const char *b)
{
    const char *const vary[] = { a, b };
    err = (struct err){ 0 };
    return grid_parse(&grid, arena, "--vary", vary, b ? 2 : 1, design, &err);
}

/* The values of one axis, joined. */
static const char *values(const char *text)
{
    static char joined[400];
    if (parse(text, NULL) != 0) return err.msg;
    return str_list(joined, sizeof joined, grid.axis[0].value, grid.axis[0].n);
}

static void lists(void **state)
{
    (void)state;
    assert_string_equal(values("a.b=4"), "4");
    assert_string_equal(values("a.b=4,8,dynamic"), "4, 8, dynamic");
    assert_string_equal(values("x=[\"3g.20gb\",\"4g.20gb\"],dynamic,{\"a\":[1,2]}"),
                        "[\"3g.20gb\",\"4g.20gb\"], dynamic, {\"a\":[1,2]}");
    assert_string_equal(values("x=\"a,b\",c"), "\"a,b\", c");
    assert_string_equal(values("x=../a.csv,b/../c.csv"), "../a.csv, b/../c.csv");
    assert_string_equal(grid.axis[0].path, "x");
}

static void ranges(void **state)
{
    (void)state;
    assert_string_equal(values("x=3..6"), "3, 4, 5, 6");
    assert_string_equal(values("x=3..8:2"), "3, 5, 7");
    assert_string_equal(values("x=0.1..0.3:0.1"), "0.1, 0.2, 0.3");
    assert_string_equal(values("x=-1..1:0.5"), "-1, -0.5, 0, 0.5, 1");
    assert_string_equal(values("x=1 ms..4 ms:1.5 ms"), "1 ms, 2.5 ms, 4 ms");
    assert_string_equal(values("x=1..20:x2"), "1, 2, 4, 8, 16");
    assert_string_equal(values("x=1..1000:x10"), "1, 10, 100, 1000");
    assert_string_equal(values("x=1..16:log5"), "1, 2, 4, 8, 16");
    assert_string_equal(values("x=0.1 s..10 s:log3"), "0.1 s, 1 s, 10 s");
    assert_string_equal(values("x=2,5..6,16..32:x2"), "2, 5, 6, 16, 32");
    assert_string_equal(values("x=7..7"), "7");
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } bad[] = {
        { "x", "expected PATH=V1" },
        { "=3", "expected PATH=V1" },
        { "x=", "an empty value" },
        { "x=1,,2", "an empty value" },
        { "x=8..3", "the range is empty" },
        { "x=1..3:0", "a step above 0" },
        { "x=1..3:-1", "a step above 0" },
        { "x=a..b", "expected numbers at both ends" },
        { "x=1 ms..3 s", "the same unit" },
        { "x=1..3:1 s", "expected a step" },
        { "x=0..8:x2", "starts above 0" },
        { "x=1..8:x1", "a factor F above 1" },
        { "x=1..8:log1", "a whole number N" },
        { "x=8..8:log3", "the range is empty" },
        { "x=2,2", "twice" },
        { "x=1..3,2", "twice" },
        { "x=0..1e9", "more than" },
        { "x=0..2:1e-8", "more than" },
        { "x=1e-10..2", "at most 9 decimals" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse(bad[i].text, NULL), ERR_USAGE);
        assert_contains(err.msg, bad[i].why);
    }
    assert_int_equal(parse("x=1", "x=2"), ERR_USAGE);
    assert_contains(err.msg, "varied twice");
    assert_int_equal(parse("x=1..2000", "y=1..2000"), ERR_USAGE);
    assert_contains(err.msg, "more than 1000000 points");
}

static void cross_product(void **state)
{
    (void)state;
    assert_int_equal(parse("x=1,2", "y=a,b,c"), 0);
    assert_int_equal(grid.n_points, 6);
    static const char *const want[] = { "x=1 y=a", "x=1 y=b", "x=1 y=c",
                                        "x=2 y=a", "x=2 y=b", "x=2 y=c" };
    for (size_t p = 0; p < 6; p++) {
        const char **set = grid_set(&grid, p, arena);
        char got[40];
        snprintf(got, sizeof got, "%s %s", set[0], set[1]);
        assert_string_equal(got, want[p]);
    }
    assert_int_equal(grid_parse(&grid, arena, "--vary", NULL, 0, NULL, &err), 0);
    assert_int_equal(grid_parse(&grid, arena, "--over", NULL, 0, "lhs:3", &err), ERR_USAGE);
    assert_contains(err.msg, "nothing is varied: --over");
    err = (struct err){ 0 };
    assert_int_equal(grid.n_points, 1);
}

static void clear_environment(void)
{
    static const char *const names[] = { "SLURM_ARRAY_TASK_ID",  "SLURM_ARRAY_TASK_COUNT",
                                         "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP",
                                         "JOB_COMPLETION_INDEX", "JOB_COMPLETION_COUNT" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
}

static const char *shard(const char *text)
{
    static char got[600];
    struct shard s;
    err = (struct err){ 0 };
    if (shard_parse(&s, text, NULL, &err) != 0) return err.msg;
    snprintf(got, sizeof got, "%zu/%zu", s.index, s.count);
    return got;
}

static void shards(void **state)
{
    (void)state;
    clear_environment();
    assert_string_equal(shard(NULL), "1/1");
    assert_string_equal(shard("3/8"), "3/8");
    assert_string_equal(shard("0/8"), "8/8");
    assert_contains(shard("9/8"), "expected I/N");
    assert_contains(shard("1/0"), "expected I/N");
    assert_contains(shard("3"), "such as 1/8");
    assert_contains(shard("a/8"), "such as 1/8");
    setenv("SLURM_ARRAY_TASK_ID", "12", 1);
    assert_string_equal(shard(NULL), "1/1"); /* without a count it says nothing */
    setenv("SLURM_ARRAY_TASK_COUNT", "4", 1);
    setenv("SLURM_ARRAY_TASK_MIN", "10", 1);
    assert_string_equal(shard(NULL), "3/4");
    assert_string_equal(shard("1/2"), "1/2");
    setenv("SLURM_ARRAY_TASK_STEP", "2", 1);
    assert_string_equal(shard(NULL), "2/4");
    setenv("SLURM_ARRAY_TASK_MIN", "13", 1);
    assert_contains(shard(NULL), "below SLURM_ARRAY_TASK_MIN");
    setenv("SLURM_ARRAY_TASK_ID", "x", 1);
    assert_contains(shard(NULL), "expected a whole number");
    clear_environment();
    setenv("JOB_COMPLETION_INDEX", "0", 1);
    assert_contains(shard(NULL), "not the number of shards");
    setenv("JOB_COMPLETION_COUNT", "8", 1);
    assert_string_equal(shard(NULL), "1/8");
    clear_environment();
    size_t of[4] = { 0 };
    for (size_t i = 0; i < 10; i++)
        for (size_t k = 1; k <= 4; k++) of[k - 1] += (size_t)shard_has(&(struct shard){ k, 4 }, i);
    assert_int_equal(of[0], 3);
    assert_int_equal(of[1], 3);
    assert_int_equal(of[2], 2);
    assert_int_equal(of[3], 2);
}

/* t(0.975, 4) = 2.776445 (any table); deviations of 1..5 have s^2 = 2.5. */
static void students_interval(void **state)
{
    (void)state;
    const double x[] = { 1, 2, 3, 4, 5 }, hole[] = { 1, NAN };
    struct interval i = interval_student(x, 5);
    assert_close(i.mean, 3, 1e-15);
    assert_close(i.half, 2.7764451052 * sqrt(0.5), 1e-9);
    i = interval_student(x, 1);
    assert_close(i.mean, 1, 0);
    assert_true(isnan(i.half));
    assert_true(isnan(interval_student(hole, 2).mean));
    assert_true(isnan(interval_student(x, 0).mean));
    assert_close(interval_student((const double[]){ 2.385, 2.385 }, 2).half, 0, 0);
    /* replications that do the same differ by the rounding of sums alone */
    const double same[] = { 58774.2947740364, 58774.2947740364, 58774.294774036407 };
    assert_close(interval_student(same, 3).half, 0, 0);
}

/* Batches of one value each: the jackknife of a mean is Student's interval exactly. */
static void jackknife(void **state)
{
    (void)state;
    const double x[] = { 1, 2, 3, 4, 5 };
    const struct batch one[] = { { 1, 1 }, { 2, 1 }, { 0, 0 }, { 3, 1 }, { 4, 1 }, { 5, 1 } };
    struct interval s = interval_student(x, 5), j = interval_jackknife(one, 6);
    assert_int_equal(j.n, 5);
    assert_close(j.mean, s.mean, 1e-14);
    assert_close(j.half, s.half, 1e-12);
    /* unequal batches: the mean is that of all values, not of the batch means */
    const struct batch uneven[] = { { 10, 1 }, { 6, 3 } };
    assert_close(interval_jackknife(uneven, 2).mean, 4, 1e-15);
    assert_true(isnan(interval_jackknife(uneven, 1).half));
    assert_true(isnan(interval_jackknife(NULL, 0).mean));
}

static void differences(void **state)
{
    (void)state;
    const double x[] = { 1, 2, 3, 4, 5 }, y[] = { 3, 4, 5, 6, 7 };
    const struct interval a = interval_student(x, 5), b = interval_student(y, 5);
    const struct interval d = interval_difference(&a, &b);
    assert_close(d.mean, 2, 1e-15);
    assert_close(d.error, 1, 1e-12);
    assert_close(d.freedom, 8, 1e-12);
    assert_close(interval_p_value(&d), 0.0805163, 1e-5); /* t = 2, 8 degrees of freedom */
    assert_close(interval_p_value(&(struct interval){ 5, 0, 0, 0, 4 }), 1, 0);
    assert_close(interval_p_value(&(struct interval){ 5, 0.1, 0, 0, 4 }), 0, 0);
    assert_true(isnan(interval_p_value(&(struct interval){ 1, 3, NAN, NAN, NAN })));
}

static void zipped(void **state)
{
    (void)state;
    design = "zip";
    assert_int_equal(parse("a=1..3", "b=x,y,z"), 0);
    assert_int_equal(grid.n_points, 3);
    assert_string_equal(grid_value(&grid, 1, 0), "2");
    assert_string_equal(grid_value(&grid, 1, 1), "y");
    assert_string_equal(grid_set(&grid, 2, arena)[1], "b=z");
    assert_int_equal(parse("a=1..3", "b=x,y"), ERR_USAGE);
    assert_contains(err.msg, "'a' has 3 values and 'b' has 2");
    assert_int_equal(parse("a=1..3:any", NULL), ERR_USAGE);
    assert_contains(err.msg, "--design lhs:N");
    design = NULL;
}

/* Each tenth of each axis is met once, and each of five values twice. */
static void latin(void **state)
{
    (void)state;
    design = "lhs:10";
    assert_int_equal(parse("a=2 ms..12 ms:any", "b=1..5"), 0);
    assert_int_equal(grid.n_points, 10);
    bool tenth[10] = { false };
    int times[6] = { 0 };
    for (size_t p = 0; p < 10; p++) {
        const char *a = grid_value(&grid, p, 0);
        assert_contains(a, " ms");
        tenth[(int)(atof(a) - 2)] = true;
        times[atoi(grid_value(&grid, p, 1))]++;
    }
    for (int i = 0; i < 10; i++) assert_true(tenth[i]);
    for (int i = 1; i <= 5; i++) assert_int_equal(times[i], 2);
    const char *first = grid_value(&grid, 0, 0);
    design = "lhs:10:2";
    assert_int_equal(parse("a=2 ms..12 ms:any", "b=1..5"), 0);
    assert_string_not_equal(grid_value(&grid, 0, 0), first);
    design = NULL;
}

/* The first points of Sobol's sequence in two dimensions: 1/2 1/2, 3/4 1/4, 1/4 3/4. */
static void sobol_points(void **state)
{
    (void)state;
    design = "sobol:3";
    assert_int_equal(parse("a=0..8:any", "b=1..16:anylog"), 0);
    assert_string_equal(grid_value(&grid, 0, 0), "4");
    assert_string_equal(grid_value(&grid, 0, 1), "4");
    assert_string_equal(grid_value(&grid, 1, 0), "6");
    assert_string_equal(grid_value(&grid, 1, 1), "2");
    assert_string_equal(grid_value(&grid, 2, 0), "2");
    assert_string_equal(grid_value(&grid, 2, 1), "8");
    design = NULL;
}

static void refused_designs(void **state)
{
    static const char *const bad[] = { "latin",     "lhs",   "lhs:",    "lhs:0",        "lhs:3:x",
                                       "sobol:2:1", "zip:3", "crossed", "sobol:1000001" };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        design = bad[i];
        assert_int_equal(parse("a=1..3", NULL), ERR_USAGE);
        assert_contains(err.msg, "--design: expected cross, zip");
    }
    design = "sobol:2";
    assert_int_equal(parse("a=0..8:anylog", NULL), ERR_USAGE);
    assert_int_equal(parse("a=1..8:any,9", NULL), ERR_USAGE);
    assert_int_equal(parse("a=9,1..8:any", NULL), ERR_USAGE);
    assert_int_equal(parse("a=8..8:any", NULL), ERR_USAGE);
    assert_int_equal(parse("a=1..8:anyhow", NULL), ERR_USAGE);
    design = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zipped),       cmocka_unit_test(latin),
        cmocka_unit_test(sobol_points), cmocka_unit_test(refused_designs),
        cmocka_unit_test(lists),        cmocka_unit_test(ranges),
        cmocka_unit_test(refused),      cmocka_unit_test(cross_product),
        cmocka_unit_test(shards),       cmocka_unit_test(students_interval),
        cmocka_unit_test(jackknife),    cmocka_unit_test(differences),
    };
    arena = arena_create();
    const int rc = cmocka_run_group_tests_name("grid", tests, NULL, NULL);
    arena_destroy(arena);
    return rc;
}
