/* test_compare.c - two result folders written down here, with differences known by hand. */
#include "support/support.h"

#include "base/mem.h"
#include "base/str.h"
#include "whatif/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct arena *arena;
static struct err err;

#define HEADER                                                                                     \
    "policy,job_id,state,submit_s,start_s,end_s,wait_s,run_s,turnaround_s,slowdown,gpus,cards,"    \
    "attempts,cost_usd,energy_kwh,reason\n"

static void write_file(const char *dir, const char *name, const char *text)
{
    char *path = xasprintf("%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    free(path);
}

/* A result folder; `head` are the members of result.json before the policies. */
static const char *folder(const char *head, const char *policies, const char *rows)
{
    const char *dir = temp_dir();
    char *json =
        xasprintf("{\"format\": \"gpusim-result/1\", %s, \"policies\": [%s]}", head, policies);
    write_file(dir, "result.json", json);
    free(json);
    if (rows) {
        char *csv = xasprintf(HEADER "%s", rows);
        write_file(dir, "jobs.csv", csv);
        free(csv);
    }
    return dir;
}

#define SAME                                                                                       \
    "\"seed\": 1, \"trace_sha256\": [\"a\"], \"scenario\": {\"warmup\": \"10 s\", \"work\": []}"
#define P "{\"name\": \"p\", \"gpu\": {\"allocated\": 0.5}}"

/* One job of policy p: submitted after the warm-up, waited so long, ran 1 s. */
static void job(struct strbuf *b, const char *id, double submit, double wait)
{
    strbuf_addf(b, "p,%s,completed,%.9g,%.9g,%.9g,%.9g,1,%.9g,%.9g,1,c,1,0.5,,\n", id, submit,
                submit + wait, submit + wait + 1, wait, wait + 1, wait + 1);
}

static int compare(struct comparison *c, const char *a, const char *b, bool unpaired, size_t join)
{
    err = (struct err){ 0 };
    return compare_folders(c, a, b, unpaired, join, arena, &err);
}

static const struct compare_row *row(const struct comparison *c, const char *metric)
{
    for (size_t i = 0; i < c->n_rows; i++)
        if (strcmp(c->row[i].metric, metric) == 0) return &c->row[i];
    fail_msg("no row %s", metric);
    return NULL;
}

/* Differences 1, 2, 3: mean 2, standard error 1 / sqrt 3, t(0.975, 2) = 4.302653, p = 0.0742. */
static void three_jobs(void **state)
{
    struct strbuf a = { 0 }, b = { 0 };
    struct comparison c;
    (void)state;
    job(&a, "x", 10, 1);
    job(&a, "y", 11, 2);
    job(&a, "z", 12, 3);
    job(&b, "z", 12, 6); /* another order of ends */
    job(&b, "x", 10, 2);
    job(&b, "y", 11, 4);
    const char *first = folder(SAME, P, a.s), *second = folder(SAME, P, b.s);
    assert_int_equal(compare(&c, first, second, false, 0), 0);
    const struct compare_row *w = row(&c, "wait_s");
    assert_int_equal(w->n, 3);
    assert_close(w->first, 2, 1e-15);
    assert_close(w->second, 4, 1e-15);
    assert_close(w->difference.mean, 2, 1e-15);
    assert_close(w->difference.half, 4.3026527297 / sqrt(3), 1e-9);
    assert_close(w->p, 0.0741799, 1e-5);
    assert_false(w->by_windows);
    assert_close(w->effective_n, 3, 1e-12); /* taken for independent */
    assert_close(w->times_longer, 4.3026527297 * 4.3026527297 / 3 / 4, 1e-9);
    assert_true(isnan(row(&c, "cost_usd")->effective_n)); /* nothing differs */
    assert_true(isnan(row(&c, "cost_usd")->times_longer));
    assert_false(c.significant);
    assert_close(row(&c, "turnaround_s")->difference.mean, 2, 1e-15);
    assert_close(row(&c, "cost_usd")->difference.mean, 0, 0);
    assert_int_equal(c.unmatched, 0);
    assert_close(c.total[0].first, 0.5, 0); /* gpu.allocated */
    for (size_t i = 0; i < c.n_rows; i++) assert_string_not_equal(c.row[i].metric, "energy_kwh");
    /* against itself */
    assert_int_equal(compare(&c, first, first, false, 0), 0);
    assert_false(c.significant);
    assert_int_equal(c.n_tests, 0);
    strbuf_fini(&a);
    strbuf_fini(&b);
}

/* Many jobs: windows; the number of passes changes nothing; the sign is second - first. */
static void many_jobs(void **state)
{
    struct strbuf a = { 0 }, b = { 0 };
    struct comparison c, passes;
    char id[24];
    uint64_t random = test_seed();
    (void)state;
    for (int i = 0; i < 4000; i++) {
        const double noise = (double)(test_random(&random) % 1000) / 1000;
        snprintf(id, sizeof id, "j%d", i);
        job(&a, id, 10 + i, 5 + noise);
        snprintf(id, sizeof id, "j%d", 3999 - i);
        job(&b, id, 10 + 3999 - i, 4);
    }
    const char *first = folder(SAME, P, a.s), *second = folder(SAME, P, b.s);
    assert_int_equal(compare(&c, first, second, false, 0), 0);
    assert_int_equal(row(&c, "wait_s")->n, 4000);
    assert_true(row(&c, "wait_s")->by_windows);
    assert_int_equal(row(&c, "wait_s")->difference.n, COMPARE_WINDOWS);
    assert_close(row(&c, "wait_s")->difference.mean, -1.5, 0.02);
    assert_true(row(&c, "wait_s")->significant);
    assert_true(isnan(row(&c, "wait_s")->times_longer));
    assert_true(c.significant);
    assert_false(row(&c, "completed")->significant);
    assert_int_equal(compare(&passes, first, second, false, 100), 0);
    assert_int_equal(row(&passes, "wait_s")->n, 4000);
    assert_close(row(&passes, "wait_s")->difference.mean, row(&c, "wait_s")->difference.mean,
                 1e-12);
    assert_close(row(&passes, "wait_s")->difference.half, row(&c, "wait_s")->difference.half, 1e-9);
    assert_int_equal(compare(&c, first, second, true, 0), 0);
    assert_close(row(&c, "wait_s")->difference.mean, -1.5, 0.02);
    assert_true(c.significant);
    strbuf_fini(&a);
    strbuf_fini(&b);
}

/* Jobs of a window are all alike, windows alternate between 0 and 1: variance 1/4, variance of the
 * mean 1/4 x 32/31 / 32, so 3,200 jobs say as much as 31. */
static void dependent_jobs(void **state)
{
    struct strbuf a = { 0 }, b = { 0 };
    struct comparison c;
    char id[24];
    (void)state;
    for (int i = 0; i < 3200; i++) {
        snprintf(id, sizeof id, "j%d", i);
        job(&a, id, 10 + i, 5);
        job(&b, id, 10 + i, 5 + (i / 100) % 2);
    }
    assert_int_equal(compare(&c, folder(SAME, P, a.s), folder(SAME, P, b.s), false, 0), 0);
    assert_close(row(&c, "wait_s")->difference.mean, 0.5, 1e-12);
    assert_close(row(&c, "wait_s")->effective_n, 31, 0.05);
    strbuf_fini(&a);
    strbuf_fini(&b);
}

/* The warm-up does not count; jobs of one side alone are counted; the same id twice is two jobs. */
static void odd_jobs(void **state)
{
    struct strbuf a = { 0 }, b = { 0 };
    struct comparison c;
    (void)state;
    job(&a, "warm", 9.9, 100);
    job(&b, "warm", 9.9, 0);
    job(&a, "twin", 20, 1);
    job(&a, "twin", 20, 1);
    job(&b, "twin", 20, 2);
    job(&b, "twin", 20, 2);
    job(&a, "\"with,comma\"", 21, 1);
    job(&b, "\"with,comma\"", 21, 2);
    job(&a, "gone", 22, 1);
    job(&b, "new", 23, 1);
    strbuf_addz(&b, "q,other,completed,30,30,31,0,1,1,1,1,c,1,,,\n");
    strbuf_addz(&a, "p,never,rejected,25,,,,,,,1,,0,,,no such card\n");
    strbuf_addz(&b, "p,never,completed,25,25,26,0,1,1,1,1,c,1,,,\n");
    assert_int_equal(
        compare(&c, folder(SAME, P, a.s), folder(SAME, P ", {\"name\": \"q\"}", b.s), false, 0), 0);
    assert_int_equal(row(&c, "wait_s")->n, 3);
    assert_close(row(&c, "wait_s")->difference.mean, 1, 1e-15);
    assert_int_equal(row(&c, "completed")->n, 4);
    assert_close(row(&c, "completed")->difference.mean, 0.25, 1e-15);
    assert_int_equal(c.unmatched, 2);
    assert_int_equal(c.n_only_second, 1);
    assert_string_equal(c.only_second[0], "q");
    strbuf_fini(&a);
    strbuf_fini(&b);
}

static void refused(void **state)
{
    static const char row1[] = "p,a,completed,20,20,21,0,1,1,1,1,c,1,,,\n";
    struct comparison c;
    (void)state;
    const char *good = folder(SAME, P, row1);
    static const struct {
        const char *head, *why;
    } other[] = {
        { "\"seed\": 2, \"trace_sha256\": [\"a\"], \"scenario\": {\"warmup\": \"10 s\", \"work\": []}",
          "different seeds" },
        { "\"seed\": 1, \"trace_sha256\": [\"b\"], \"scenario\": {\"warmup\": \"10 s\", \"work\": []}",
          "different traces" },
        { "\"seed\": 1, \"trace_sha256\": [\"a\"], \"scenario\": {\"warmup\": \"0 s\", \"work\": []}",
          "different warm-ups" },
        { "\"seed\": 1, \"trace_sha256\": [\"a\"], \"scenario\": {\"warmup\": \"10 s\", \"horizon\": "
          "\"1 d\", \"work\": []}",
          "different horizons" },
        { "\"seed\": 1, \"trace_sha256\": [\"a\"], \"scenario\": {\"warmup\": \"10 s\", \"work\": "
          "[{\"load\": 2}]}",
          "different work" },
    };
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        const char *dir = folder(other[i].head, P, row1);
        assert_int_equal(compare(&c, good, dir, false, 0), ERR_INPUT);
        assert_contains(err.msg, other[i].why);
        assert_contains(err.hint, "--unpaired");
        assert_int_equal(compare(&c, good, dir, true, 0), 0);
    }
    assert_int_equal(compare(&c, good, folder(SAME, "{\"name\": \"z\"}", row1), false, 0),
                     ERR_INPUT);
    assert_contains(err.msg, "no policy of the same name");
    assert_int_equal(compare(&c, good, folder(SAME, P, NULL), false, 0), ERR_IO);
    assert_contains(err.hint, "\"jobs\": true");
    assert_int_equal(compare(&c, good, "/nonexistent", false, 0), ERR_IO);
    assert_int_equal(compare(&c, good, folder(SAME, P, "p,a,completed,x,,,,,,,,,,,,\n"), false, 0),
                     ERR_INPUT);
    assert_contains(err.msg, "expected a time in seconds");
    assert_int_equal(
        compare(&c, good, folder(SAME, P, "p,a,completed,20,,,z,,,,,,,,,\n"), false, 0), ERR_INPUT);
    assert_contains(err.msg, "expected a number");
    assert_int_equal(compare(&c, good, folder(SAME, P, "p,a,completed,20\n"), false, 0), ERR_INPUT);
    assert_contains(err.msg, "fields");
    const char *no_column = folder(SAME, P, row1);
    write_file(no_column, "jobs.csv", "policy,job_id\np,a\n");
    assert_int_equal(compare(&c, good, no_column, false, 0), ERR_INPUT);
    assert_contains(err.msg, "missing column \"state\"");
    write_file(no_column, "jobs.csv", "");
    assert_int_equal(compare(&c, good, no_column, false, 0), ERR_INPUT);
    write_file(no_column, "result.json", "{\"format\": \"other\"}");
    assert_int_equal(compare(&c, good, no_column, false, 0), ERR_INPUT);
    assert_contains(err.msg, "expected a result");
}

#define TWO_JOBS(attained)                                                                         \
    "{\"name\": \"p\", \"jobs\": {\"submitted\": 2}, \"services\": [{\"name\": \"chat\","          \
    " \"attainment\": " attained "}]}"

/* A jobs.csv that was cut must not pass for "no difference". Jobs of the warm-up are rows too. */
static void cut_rows(void **state)
{
    static const char one[] = "p,a,completed,5,5,6,0,1,1,1,1,c,1,,,\n",
                      two[] = "p,a,completed,5,5,6,0,1,1,1,1,c,1,,,\n"
                              "p,b,completed,20,20,21,0,1,1,1,1,c,1,,,\n";
    struct comparison c;
    (void)state;
    const char *good = folder(SAME, TWO_JOBS("0.9"), two);
    assert_int_equal(compare(&c, good, folder(SAME, TWO_JOBS("0.9"), one), false, 0), ERR_INPUT);
    assert_contains(err.msg, "expected 2 jobs of policy p");
    assert_contains(err.msg, "found 1");
    assert_int_equal(compare(&c, good, folder(SAME, TWO_JOBS("0.9"), ""), true, 0), ERR_INPUT);
    assert_int_equal(compare(&c, good, good, false, 0), 0);
}

static void totals_of_services(void **state)
{
    static const char none[] = "";
    struct comparison c;
    (void)state;
    const char *a = folder(SAME,
                           "{\"name\": \"p\", \"services\": [{\"name\": \"chat\", "
                           "\"attainment\": 0.9, \"ttft_ms\": {\"p99\": 70}}]}",
                           none),
               *b = folder(SAME,
                           "{\"name\": \"p\", \"services\": [{\"name\": \"chat\", "
                           "\"attainment\": 0.75, \"ttft_ms\": {\"p99\": null}}]}",
                           none);
    assert_int_equal(compare(&c, a, b, false, 0), 0);
    size_t found = 0;
    for (size_t i = 0; i < c.n_totals; i++) {
        if (strcmp(c.total[i].metric, "services.chat.attainment") == 0) {
            assert_close(c.total[i].first, 0.9, 0);
            assert_close(c.total[i].second, 0.75, 0);
            found++;
        }
        if (strcmp(c.total[i].metric, "services.chat.ttft_ms.p99") == 0) {
            assert_close(c.total[i].first, 70, 0);
            assert_true(isnan(c.total[i].second));
            found++;
        }
    }
    assert_int_equal(found, 2);
    assert_int_equal(c.n_rows, 0); /* and no job: nothing was tested */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_jobs),
        cmocka_unit_test(many_jobs),
        cmocka_unit_test(dependent_jobs),
        cmocka_unit_test(odd_jobs),
        cmocka_unit_test(refused),
        cmocka_unit_test(cut_rows),
        cmocka_unit_test(totals_of_services),
    };
    arena = arena_create();
    const int rc = cmocka_run_group_tests_name("compare", tests, NULL, NULL);
    arena_destroy(arena);
    return rc;
}
