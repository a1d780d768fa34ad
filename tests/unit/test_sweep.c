/* test_sweep.c - sweeps of a small scenario with generated work: tables, resuming, shards, merging,
 * and everything that is refused. */
#include "support/sweeping.h"

#include "base/mem.h"
#include "whatif/sweep_table.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The rows are those of the runs themselves, done one by one; any number of threads. */
static void rows_are_means_of_runs(void **state)
{
    (void)state;
    const char *scenario = new_scenario(GENERATED), *one = new_dir(), *two = new_dir();
    struct sweep_options o = options(scenario, one);
    struct rows t;
    assert_int_equal(sweep(&o, &t), 9);
    assert_int_equal(t.n, 6);
    const struct sweep_row *r = &t.row[2]; /* 3 nodes, fifo */
    assert_string_equal(grid_value(&t.table.grid, r->point, 0), "3");
    assert_string_equal(r->policy, "fifo");
    assert_int_equal(r->n, 3);
    double wait[3];
    for (size_t k = 0; k < 3; k++) {
        const char *set = "fleet.pool.nodes=3";
        const struct runner_options ro = {
            .set = &set, .n_set = 1, .replication = k, .silent = true
        };
        struct runner run;
        struct diag d;
        diag_init(&d);
        assert_int_equal(runner_load_with(&run, scenario, &ro, &d, &err), 0);
        assert_int_equal(d.count, 0);
        assert_int_equal(runner_run(&run, NULL, 1, &err), 0);
        wait[k] = run.result.policy[0].stats.wait_s.mean;
        diag_fini(&d);
        runner_fini(&run);
    }
    assert_true(wait[0] != wait[1] && wait[1] != wait[2]); /* independent */
    const struct interval want = interval_student(wait, 3);
    assert_close(r->metric[metric(&t, "jobs.wait_s.mean")].mean, want.mean, 1e-12);
    assert_close(r->metric[metric(&t, "jobs.wait_s.mean")].half, want.half, 1e-9);
    assert_close(r->metric[metric(&t, "gpu.count")].mean, 3, 0);
    /* the second policy against the first, paired by replication: narrower than two samples */
    const struct sweep_row *two_slots = &t.row[3];
    const size_t mean = metric(&t, "jobs.wait_s.mean");
    assert_close(two_slots->versus[mean].mean, two_slots->metric[mean].mean - r->metric[mean].mean,
                 1e-9);
    assert_close(r->versus[mean].half, 0, 0);
    assert_true(two_slots->versus[mean].half > 0);
    /* common random numbers: every point meets the same jobs */
    const size_t submitted = metric(&t, "jobs.submitted");
    for (size_t i = 1; i < t.n; i++)
        assert_close(t.row[i].metric[submitted].mean, t.row[0].metric[submitted].mean, 0);
    sweep_table_fini(&t.table);
    o.dir = two;
    o.threads = 4;
    sweep(&o, &t);
    sweep_table_fini(&t.table);
    same_files(one, two);
}

static struct stat stat_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st;
}

/* What is there stays as it is; more values and replications only add runs. */
static void resumes(void **state)
{
    static const char *const more[] = { "fleet.pool.nodes=2..5" };
    (void)state;
    const char *dir = new_dir(), *whole = new_dir();
    struct sweep_options o = options(new_scenario(GENERATED), dir);
    struct rows t;
    o.replications = 2;
    sweep(&o, &t);
    const char *sha =
        json_string_value(json_array_get(json_object_get(t.table.manifest, "points"), 1));
    const char *path = sweep_run_path(arena, dir, sha, 1);
    const struct stat before = stat_of(path);
    sweep_table_fini(&t.table);
    assert_int_equal(sweep(&o, &t), 0);
    sweep_table_fini(&t.table);
    o.vary = more;
    o.replications = 3;
    assert_int_equal(sweep(&o, &t), 12 - 6);
    sweep_table_fini(&t.table);
    const struct stat after = stat_of(path);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    o.dir = whole;
    sweep(&o, &t);
    sweep_table_fini(&t.table);
    same_files(dir, whole);
    /* one file lost: one run */
    unlink(path);
    o.dir = dir;
    assert_int_equal(sweep(&o, &t), 1);
    sweep_table_fini(&t.table);
    same_files(dir, whole);
}

static void shards_join(void **state)
{
    (void)state;
    const char *dirs[4], *whole = new_dir(), *joined = new_dir(), *shared = new_dir();
    struct sweep_options o = options(new_scenario(GENERATED), whole);
    struct rows t;
    sweep(&o, &t);
    sweep_table_fini(&t.table);
    size_t runs = 0;
    for (size_t i = 0; i < 4; i++) {
        dirs[i] = o.dir = new_dir();
        o.shard = (struct shard){ i + 1, 4 };
        runs += sweep(&o, &t);
        sweep_table_fini(&t.table);
    }
    assert_int_equal(runs, 9);
    assert_int_equal(sweep_merge(&t.table, dirs, 4, joined, false, NULL, arena, &err), 0);
    sweep_table_fini(&t.table);
    same_files(whole, joined);

    err = (struct err){ 0 };
    assert_int_equal(sweep_merge(&t.table, dirs, 3, new_dir(), false, NULL, arena, &err),
                     ERR_INPUT);
    assert_contains(err.msg, "2 of 9 runs are missing");
    assert_contains(err.hint, "--partial");
    sweep_table_fini(&t.table);
    err = (struct err){ 0 };
    assert_int_equal(sweep_merge(&t.table, dirs, 3, new_dir(), true, NULL, arena, &err), 0);
    assert_int_equal(t.table.n_missing, 2);
    sweep_table_fini(&t.table);
    const char *const twice[] = { dirs[0], dirs[1], dirs[0] };
    assert_int_equal(sweep_merge(&t.table, twice, 3, new_dir(), true, NULL, arena, &err),
                     ERR_INPUT);
    assert_contains(err.msg, "hold the same run");
    sweep_table_fini(&t.table);

    /* shards may share a folder; it becomes whole with the last one */
    for (size_t i = 0; i < 4; i++) {
        o.dir = shared;
        o.shard = (struct shard){ i + 1, 4 };
        sweep(&o, &t);
        sweep_table_fini(&t.table);
    }
    same_files(whole, shared);

    /* other sweeps */
    const char *other = new_dir();
    o = options(new_scenario(SCENARIO("'seed': 2,",
                                      "{'name': 'w', 'kind': 'generate', 'spec': 'spec.json'}")),
                other);
    sweep(&o, &t);
    sweep_table_fini(&t.table);
    const char *const mixed[] = { dirs[0], other };
    err = (struct err){ 0 };
    assert_int_equal(sweep_merge(&t.table, mixed, 2, new_dir(), true, NULL, arena, &err),
                     ERR_INPUT);
    assert_contains(err.msg, "different scenarios");
    sweep_table_fini(&t.table);
    /* nor does one overwrite another's folder */
    char *kept = read_file(arena_printf(arena, "%s/manifest.json", other));
    err = (struct err){ 0 };
    assert_int_equal(sweep_merge(&t.table, dirs, 4, other, false, NULL, arena, &err), ERR_INPUT);
    assert_contains(err.msg, "holds a sweep of another scenario");
    sweep_table_fini(&t.table);
    char *now = read_file(arena_printf(arena, "%s/manifest.json", other));
    assert_string_equal(kept, now);
    free(kept);
    free(now);
    const char *const nothing[] = { new_dir() };
    err = (struct err){ 0 };
    assert_int_equal(sweep_merge(&t.table, nothing, 1, new_dir(), true, NULL, arena, &err), ERR_IO);
    sweep_table_fini(&t.table);
}

/* Every service has its columns, by its name, in the order of the scenario; figures asked for come
 * last. */
static void services_by_name(void **state)
{
    static const struct sim_file requests[] = {
        { "one.csv", "arrival_s,size\n0,1\n1,2\n" },
        { "two.csv", "arrival_s,size\n0,5\n1,5\n2,5\n" },
        { NULL, NULL },
    };
    static const char *const more[] = { "services.b.latency_ms.max", "gpu.count" };
    static const char *const wrong[] = { "services.b.latency_ms.maximum" };
    (void)state;
    const char *scenario = arena_strdup(
        arena,
        sim_write(
            SCENARIO(
                "",
                "{'name': 'b', 'kind': 'service', 'requests': 'two.csv', 'replicas': {'min': 1, 'max': 1}},"
                " {'name': 'c', 'kind': 'service', 'requests': 'one.csv', 'replicas': {'min': 1, 'max': 1}}"),
            NULL, requests));
    struct sweep_options o = options(scenario, new_dir());
    struct rows t;
    o.replications = 1;
    o.metric = more;
    o.n_metric = 2;
    sweep(&o, &t);
    assert_int_equal(t.table.n_failed, 0);
    const struct sweep_row *r = &t.row[0];
    assert_close(r->metric[metric(&t, "services.b.completed")].mean, 3, 0);
    assert_close(r->metric[metric(&t, "services.c.completed")].mean, 2, 0);
    assert_true(metric(&t, "services.b.completed") < metric(&t, "services.c.completed"));
    /* 5 s each, a second apart, on a card of its own: the last ends at 15 s and came at 2 s */
    assert_close(r->metric[metric(&t, more[0])].mean, 13000, 1e-9);
    assert_int_equal(metric(&t, more[0]), t.table.n_metrics - 1); /* gpu.count is there anyway */
    sweep_table_fini(&t.table);
    struct sweep s;
    o.metric = wrong;
    o.n_metric = 1;
    err = (struct err){ 0 };
    assert_int_equal(sweep_plan(&s, &o, &err), 0);
    assert_int_equal(sweep_run(&s, &err), ERR_USAGE);
    assert_contains(err.msg, "a policy's result has no 'services.b.latency_ms.maximum'");
    sweep_fini(&s);
}

/* A point that cannot be run is a row with its reason; the others are there. */
static void a_point_fails(void **state)
{
    static const char *const bad[] = { "fleet.pool.nodes=0,2" };
    (void)state;
    struct sweep_options o = options(new_scenario(GENERATED), new_dir());
    struct rows t;
    o.vary = bad;
    sweep(&o, &t);
    assert_int_equal(t.n, 3);
    assert_int_equal(t.table.n_failed, 3);
    assert_contains(t.row[0].error, "expected a value from 1");
    assert_int_equal(t.row[0].n, 0);
    assert_int_equal(t.row[1].n, 3);
    assert_null(t.row[1].error);
    sweep_table_fini(&t.table);
    assert_int_equal(sweep(&o, &t), 3); /* what failed is tried again */
    sweep_table_fini(&t.table);
}

/* Replications of a trace are all alike: no interval of width 0 pretends to know. */
static void a_trace_has_no_interval(void **state)
{
    (void)state;
    struct sweep_options o = options(new_scenario(TRACE), new_dir());
    struct rows t;
    sweep(&o, &t);
    assert_int_equal(t.row[0].n, 3);
    assert_close(t.row[0].metric[metric(&t, "jobs.completed")].mean, 2, 0);
    assert_true(isnan(t.row[0].metric[metric(&t, "jobs.completed")].half));
    sweep_table_fini(&t.table);
}

static size_t unstable_alone(const char *scenario, const char *const *set, size_t n_set, size_t n)
{
    size_t found = 0;
    for (size_t k = 0; k < n; k++) {
        const struct runner_options ro = {
            .set = set, .n_set = n_set, .replication = k, .silent = true
        };
        struct runner run;
        struct diag d;
        diag_init(&d);
        assert_int_equal(runner_load_with(&run, scenario, &ro, &d, &err), 0);
        assert_int_equal(runner_run(&run, NULL, 1, &err), 0);
        found += !run.result.policy[0].stable;
        diag_fini(&d);
        runner_fini(&run);
    }
    return found;
}

/* Runs of 100 s, of which some look unstable although nothing is: Erlang's queue with four cards
 * at load 0.8, five at 0.64. With two it grows without end, and has no percentile. */
static void stability_of_a_point(void **state)
{
    static const char *const axis[] = { "fleet.pool.nodes=2,4,5" };
    static const char *const set[] = { "horizon=100 s", "warmup=0 s", "fleet.pool.nodes=4" };
    static const char scenario[] = "scenarios/sizing-erlang.json";
    (void)state;
    struct sweep_options o = options(scenario, new_dir());
    struct rows t;
    o.vary = axis;
    o.set = set;
    o.n_set = 2;
    o.replications = 24;
    sweep(&o, &t);
    const size_t p95 = metric(&t, "jobs.wait_s.p95"), mean = metric(&t, "jobs.wait_s.mean");
    assert_true(unstable_alone(scenario, set, 3, 24) > 0);
    assert_int_equal(t.row[0].queue, QUEUE_GROWS);
    assert_true(isnan(t.row[0].metric[p95].mean));
    assert_true(t.row[0].metric[mean].mean > 5);
    assert_int_equal(t.row[1].queue, QUEUE_STAYS);
    assert_int_equal(t.row[2].queue, QUEUE_STAYS);
    assert_int_equal(t.row[2].metric[p95].n, 24);
    /* Erlang C: 0.390 s */
    assert_true(fabs(t.row[2].metric[p95].mean - 0.390) < 2 * t.row[2].metric[p95].half);
    sweep_table_fini(&t.table);
}

/* A file that was cut, emptied or put in another's place is no result: the sweep computes it
 * again. */
static void damaged_runs(void **state)
{
    (void)state;
    const char *dir = new_dir(), *whole = new_dir();
    struct sweep_options o = options(new_scenario(GENERATED), whole);
    struct rows t;
    sweep(&o, &t);
    sweep_table_fini(&t.table);
    o.dir = dir;
    sweep(&o, &t);
    const char *sha[2];
    for (size_t i = 0; i < 2; i++)
        sha[i] = arena_strdup(arena, json_string_value(json_array_get(
                                         json_object_get(t.table.manifest, "points"), i)));
    sweep_table_fini(&t.table);
    assert_int_equal(truncate(sweep_run_path(arena, dir, sha[0], 0), 300), 0);
    assert_int_equal(truncate(sweep_run_path(arena, dir, sha[0], 1), 0), 0);
    assert_int_equal(unlink(sweep_run_path(arena, dir, sha[1], 1)), 0);
    assert_int_equal(
        link(sweep_run_path(arena, dir, sha[1], 0), sweep_run_path(arena, dir, sha[1], 1)), 0);
    err = (struct err){ 0 };
    assert_int_equal(sweep_merge(&t.table, &dir, 1, new_dir(), true, NULL, arena, &err), ERR_INPUT);
    assert_contains(err.hint, "computes the run again");
    sweep_table_fini(&t.table);
    assert_int_equal(sweep(&o, &t), 3);
    sweep_table_fini(&t.table);
    same_files(dir, whole);
}

static void refused(void **state)
{
    static const struct {
        const char *vary, *why;
        int rc;
    } bad[] = {
        { "fleet.pool.nodez=1", "unknown key", ERR_INPUT },
        { "fleet.poul.nodes=1", "no \"poul\"", ERR_USAGE },
        { "fleet.pool.nodes=4..2", "the range is empty", ERR_USAGE },
        { "fleet.pool.nodes=1..2000000", "more than 1000000", ERR_USAGE },
        { "fleet.pool.nodes=1..500000", "more than 1000000 runs", ERR_USAGE },
    };
    (void)state;
    const char *dir = new_dir(), *scenario = new_scenario(GENERATED);
    struct sweep_options o = options(scenario, dir);
    struct rows t;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o.vary = &bad[i].vary;
        assert_int_equal(refuse(&o), bad[i].rc);
        assert_contains(err.msg, bad[i].why);
    }
    static const char *const any[] = { "fleet.pool.nodes=4..9:any" };
    o.vary = any;
    o.design = "lhs:3";
    assert_int_equal(refuse(&o), ERR_INPUT);
    assert_contains(err.msg, "expected a whole number");
    assert_contains(err.hint, "whole ones come from a..b alone");
    o = options(scenario, dir);
    sweep(&o, &t);
    sweep_table_fini(&t.table);
    o.scenario = new_scenario(TRACE);
    assert_int_equal(refuse(&o), ERR_INPUT);
    assert_contains(err.msg, "another scenario");
    o.scenario = "/nonexistent.json";
    assert_int_equal(refuse(&o), ERR_IO);
    o = options(scenario, new_dir());
    static const char *const only[] = { "nobody" };
    o.only = only;
    o.n_only = 1;
    assert_int_equal(refuse(&o), ERR_USAGE);
    assert_contains(err.msg, "no policy 'nobody'");
}

#define HASH "'0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'"
#define MANIFEST(vary, replications, points)                                                       \
    "{'format': 'gpusim-sweep-manifest/2', 'gpusim_version': '1', 'scenario_name': 's', "          \
    "'scenario_sha256': 'x', 'seed': 1, 'random': true, 'vary': [" vary                            \
    "], 'replications': " replications ", 'metrics': ['m'], 'points': [" points "]}"

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (; *text; text++) fputc(*text == '\'' ? '"' : *text, f);
    assert_int_equal(fclose(f), 0);
}

/* A manifest that somebody edited is refused, not believed. */
static void damaged_manifests(void **state)
{
    static const struct {
        const char *text, *where, *msg;
    } bad[] = {
        { "[]", "manifest.json:1:1", "found an array" },
        { "{", "manifest.json:1:1", "" },
        { "{'format': 'gpusim-sweep/1'}", "/format", "found \"gpusim-sweep/1\"" },
        { "{'format': 'gpusim-sweep-manifest/2'}", "manifest.json:1:1",
          "missing \"gpusim_version\"" },
        { MANIFEST("", "0", HASH), "/replications", "expected 1 or more" },
        { MANIFEST("", "1.5", HASH), "/replications", "expected a count, found 1.5" },
        { MANIFEST("", "1000000000000", HASH), "/replications", "at most 1000000 runs" },
        { MANIFEST("", "1", ""), "/points", "expected 1, as the axes make, found 0" },
        { MANIFEST("", "1", HASH ", " HASH), "/points", "expected 1, as the axes make, found 2" },
        { MANIFEST("", "1", "'../x'"), "/points/0", "expected 64 digits of hexadecimal" },
        { MANIFEST("", "1", "7"), "/points/0", "expected a string, found 7" },
        { MANIFEST("{'path': 'a', 'values': []}", "1", ""), "/vary/0/values", "expected 1 value" },
        { MANIFEST("{'path': 'a', 'values': [1]}", "1", HASH), "/vary/0/values/0",
          "expected a string, found 1" },
        { MANIFEST("{'values': ['1']}", "1", HASH), "/vary/0", "missing \"path\"" },
        { "{'format': 'gpusim-sweep-manifest/1', 'vary': [], 'replications': 1, 'points': []}",
          "/format", "found \"gpusim-sweep-manifest/1\"" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *const dir[] = { new_dir() };
        struct rows t;
        write_text(arena_printf(arena, "%s/manifest.json", dir[0]), bad[i].text);
        err = (struct err){ 0 };
        assert_int_equal(sweep_merge(&t.table, dir, 1, dir[0], true, NULL, arena, &err), ERR_INPUT);
        assert_contains(err.where, bad[i].where);
        assert_contains(err.msg, bad[i].msg);
        sweep_table_fini(&t.table);
    }
    assert_contains(err.hint, "sweep again");
}

#define RUN(replication, error, policies)                                                          \
    "{'format': 'gpusim-sweep-run/3', 'point': " HASH ", 'replication': " replication              \
    ", 'error': " error ", 'policies': [" policies "]}"
#define POLICY(queue, figure)                                                                      \
    "{'name': 'a', 'kind': 'whole', 'queues': {'jobs': [" queue "]}, 'metrics': {'m': " figure "}}"

/* Nor is a run. */
static void edited_runs(void **state)
{
    static const struct {
        const char *text, *where, *msg; /* "": it is good */
    } t[] = {
        { RUN("0", "null", POLICY("", "1")), "", "" },
        { RUN("0", "null", POLICY("1, 2, null, 4, 5", "null")), "", "" },
        { RUN("0", "'no such file'", ""), "", "" },
        { "{'format': 'gpusim-sweep-run/2'}", "/format", "found \"gpusim-sweep-run/2\"" },
        { RUN("1", "null", POLICY("", "1")), "", "found another run's" },
        { RUN("0", "null", ""), "/policies", "expected a policy, or an error" },
        { RUN("0", "7", ""), "/error", "expected a string or null, found 7" },
        { RUN("0", "null", "'a'"), "/policies/0", "expected an object, found \"a\"" },
        { RUN("0", "null", POLICY("", "'1'")), "/policies/0/metrics/m",
          "expected a number or null, found \"1\"" },
        { RUN("0", "null", POLICY("1, 2", "1")), "/policies/0/queues",
          "expected 5 figures of 'jobs' or none, found 2" },
        { RUN("0", "null", POLICY("1, 2, 3, 4, '5'", "1")), "/policies/0/queues/jobs/4",
          "expected a number or null, found \"5\"" },
        { RUN("0", "null", POLICY("", "1") ", " POLICY("", "1")), "/policies/1/name",
          "the policy was there before" },
    };
    (void)state;
    const char *path = arena_printf(arena, "%s/run.json", new_dir());
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct json_doc doc = { 0 };
        write_text(path, t[i].text);
        err = (struct err){ 0 };
        const int rc = sweep_run_load(
            &doc, path, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 0, &err);
        assert_int_equal(rc, *t[i].msg ? ERR_INPUT : 0);
        assert_contains(err.where, t[i].where);
        assert_contains(err.msg, t[i].msg);
        if (rc == 0) json_doc_fini(&doc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_means_of_runs),
        cmocka_unit_test(resumes),
        cmocka_unit_test(shards_join),
        cmocka_unit_test(services_by_name),
        cmocka_unit_test(a_point_fails),
        cmocka_unit_test(a_trace_has_no_interval),
        cmocka_unit_test(stability_of_a_point),
        cmocka_unit_test(damaged_runs),
        cmocka_unit_test(refused),
        cmocka_unit_test(damaged_manifests),
        cmocka_unit_test(edited_runs),
    };
    gsl_set_error_handler_off();
    arena = arena_create();
    const int rc = cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
    arena_destroy(arena);
    return rc;
}
