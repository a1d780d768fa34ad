/* test_sweep.c - sweeps of a small scenario with generated work: tables, resuming, shards, merging,
 * and everything that is refused. */
#include "support/simulate.h"

#include "base/mem.h"
#include "whatif/sweep_table.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCENARIO(head, work)                                                                       \
    "{'format': 'gpusim-scenario/1', 'name': 'small', 'horizon': '200 s'," head                    \
    " 'fleet': [{'name': 'pool', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 1}],"              \
    " 'work': [" work "],"                                                                         \
    " 'policies': [{'name': 'fifo', 'share': {'kind': 'whole'}},"                                  \
    " {'name': 'two', 'share': {'kind': 'timeslice', 'slots': 2}}]}"
#define GENERATED SCENARIO("", "{'name': 'w', 'kind': 'generate', 'spec': 'spec.json'}")
#define TRACE     SCENARIO("", "{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}")

static const struct sim_file files[] = {
    { "spec.json",
      "{'format': 'gpusim-generate/1', 'name': 's', 'horizon': '1 d', 'classes': [{'name': 'c',"
      " 'arrivals': {'kind': 'poisson', 'gap': '2 s'},"
      " 'duration': {'kind': 'exponential', 'mean': '3 s'}, 'gpus': 1}]}" },
    { NULL, NULL },
};
static const char trace[] = "job_id,submit_s,duration_s,gpus\na,0,10,1\nb,1,10,1\n";
static const char *const nodes[] = { "fleet.pool.nodes=2..4" };

static struct arena *arena;
static struct err err;

static const char *new_scenario(const char *text)
{
    return arena_strdup(arena, sim_write(text, trace, files)); /* sim_write() reuses its buffer */
}

static const char *new_dir(void)
{
    return arena_strdup(arena, temp_dir());
}

static struct sweep_options options(const char *scenario, const char *dir)
{
    return (struct sweep_options){ .scenario = scenario,
                                   .vary = nodes,
                                   .n_vary = 1,
                                   .replications = 3,
                                   .threads = 1,
                                   .dir = dir,
                                   .shard = { 1, 1 } };
}

/* Plan and run; how many runs there were to do. */
static size_t sweep(const struct sweep_options *o, struct sweep_table *t)
{
    struct sweep s;
    err = (struct err){ 0 };
    if (sweep_plan(&s, o, &err) != 0) fail_msg("%s: %s", err.where, err.msg);
    const size_t todo = s.n_todo;
    if (sweep_run(&s, &err) != 0) fail_msg("%s", err.msg);
    if (sweep_table_load(t, s.manifest, &s.dir, 1, arena, &err) != 0) fail_msg("%s", err.msg);
    assert_int_equal(sweep_table_write(t, s.dir, arena, &err), 0);
    sweep_fini(&s);
    return todo;
}

static int refuse(const struct sweep_options *o)
{
    struct sweep s;
    err = (struct err){ 0 };
    const int rc = sweep_plan(&s, o, &err);
    sweep_fini(&s);
    return rc;
}

static void same_files(const char *a, const char *b)
{
    static const char *const names[] = { "sweep.csv", "sweep.json" };
    for (size_t i = 0; i < 2; i++) {
        char *x = read_file(arena_printf(arena, "%s/%s", a, names[i]));
        char *y = read_file(arena_printf(arena, "%s/%s", b, names[i]));
        assert_string_equal(x, y);
        free(x);
        free(y);
    }
}

static size_t metric(const char *name)
{
    size_t m = 0;
    while (strcmp(sweep_metrics[m], name) != 0) m++;
    return m;
}

/* The rows are those of the runs themselves, done one by one; any number of threads. */
static void rows_are_means_of_runs(void **state)
{
    (void)state;
    const char *scenario = new_scenario(GENERATED), *one = new_dir(), *two = new_dir();
    struct sweep_options o = options(scenario, one);
    struct sweep_table t;
    assert_int_equal(sweep(&o, &t), 9);
    assert_int_equal(t.n_rows, 6);
    const struct sweep_row *r = &t.row[2]; /* 3 nodes, fifo */
    assert_string_equal(grid_value(&t.grid, r->point, 0), "3");
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
    assert_close(r->metric[metric("jobs.wait_s.mean")].mean, want.mean, 1e-12);
    assert_close(r->metric[metric("jobs.wait_s.mean")].half, want.half, 1e-9);
    assert_close(r->metric[metric("gpu.count")].mean, 3, 0);
    /* the second policy against the first, paired by replication: narrower than two samples */
    const struct sweep_row *two_slots = &t.row[3];
    const size_t mean = metric("jobs.wait_s.mean");
    assert_close(two_slots->versus[mean].mean, two_slots->metric[mean].mean - r->metric[mean].mean,
                 1e-9);
    assert_close(r->versus[mean].half, 0, 0);
    assert_true(two_slots->versus[mean].half > 0);
    /* common random numbers: every point meets the same jobs */
    const size_t submitted = metric("jobs.submitted");
    for (size_t i = 1; i < t.n_rows; i++)
        assert_close(t.row[i].metric[submitted].mean, t.row[0].metric[submitted].mean, 0);
    sweep_table_fini(&t);
    o.dir = two;
    o.threads = 4;
    sweep(&o, &t);
    sweep_table_fini(&t);
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
    struct sweep_table t;
    o.replications = 2;
    sweep(&o, &t);
    const char *sha = json_string_value(json_array_get(json_object_get(t.manifest, "points"), 1));
    const char *path = sweep_run_path(arena, dir, sha, 1);
    const struct stat before = stat_of(path);
    sweep_table_fini(&t);
    assert_int_equal(sweep(&o, &t), 0);
    sweep_table_fini(&t);
    o.vary = more;
    o.replications = 3;
    assert_int_equal(sweep(&o, &t), 12 - 6);
    sweep_table_fini(&t);
    const struct stat after = stat_of(path);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    o.dir = whole;
    sweep(&o, &t);
    sweep_table_fini(&t);
    same_files(dir, whole);
    /* one file lost: one run */
    unlink(path);
    o.dir = dir;
    assert_int_equal(sweep(&o, &t), 1);
    sweep_table_fini(&t);
    same_files(dir, whole);
}

static void shards_join(void **state)
{
    (void)state;
    const char *dirs[4], *whole = new_dir(), *joined = new_dir(), *shared = new_dir();
    struct sweep_options o = options(new_scenario(GENERATED), whole);
    struct sweep_table t;
    sweep(&o, &t);
    sweep_table_fini(&t);
    size_t runs = 0;
    for (size_t i = 0; i < 4; i++) {
        dirs[i] = o.dir = new_dir();
        o.shard = (struct shard){ i + 1, 4 };
        runs += sweep(&o, &t);
        sweep_table_fini(&t);
    }
    assert_int_equal(runs, 9);
    assert_int_equal(sweep_merge(&t, dirs, 4, joined, false, arena, &err), 0);
    sweep_table_fini(&t);
    same_files(whole, joined);

    err = (struct err){ 0 };
    assert_int_equal(sweep_merge(&t, dirs, 3, new_dir(), false, arena, &err), ERR_INPUT);
    assert_contains(err.msg, "2 of 9 runs are missing");
    assert_contains(err.hint, "--partial");
    sweep_table_fini(&t);
    err = (struct err){ 0 };
    assert_int_equal(sweep_merge(&t, dirs, 3, new_dir(), true, arena, &err), 0);
    assert_int_equal(t.n_missing, 2);
    sweep_table_fini(&t);
    const char *const twice[] = { dirs[0], dirs[1], dirs[0] };
    assert_int_equal(sweep_merge(&t, twice, 3, new_dir(), true, arena, &err), ERR_INPUT);
    assert_contains(err.msg, "hold the same run");
    sweep_table_fini(&t);

    /* shards may share a folder; it becomes whole with the last one */
    for (size_t i = 0; i < 4; i++) {
        o.dir = shared;
        o.shard = (struct shard){ i + 1, 4 };
        sweep(&o, &t);
        sweep_table_fini(&t);
    }
    same_files(whole, shared);

    /* other sweeps */
    const char *other = new_dir();
    o = options(new_scenario(SCENARIO("'seed': 2,",
                                      "{'name': 'w', 'kind': 'generate', 'spec': 'spec.json'}")),
                other);
    sweep(&o, &t);
    sweep_table_fini(&t);
    const char *const mixed[] = { dirs[0], other };
    err = (struct err){ 0 };
    assert_int_equal(sweep_merge(&t, mixed, 2, new_dir(), true, arena, &err), ERR_INPUT);
    assert_contains(err.msg, "different scenarios");
    sweep_table_fini(&t);
    const char *const nothing[] = { new_dir() };
    err = (struct err){ 0 };
    assert_int_equal(sweep_merge(&t, nothing, 1, new_dir(), true, arena, &err), ERR_IO);
    sweep_table_fini(&t);
}

/* A changed input is another point: nothing old is taken for it. */
static void inputs_name_the_point(void **state)
{
    (void)state;
    const char *dir = new_dir(), *scenario = new_scenario(GENERATED);
    struct sweep_options o = options(scenario, dir);
    struct sweep_table t;
    sweep(&o, &t);
    sweep_table_fini(&t);
    char *spec = xstrdup(scenario);
    memcpy(strrchr(spec, '/'), "/spec.json", sizeof "/spec.json");
    FILE *f = fopen(spec, "a");
    assert_non_null(f);
    fputs("\n", f);
    fclose(f);
    free(spec);
    assert_int_equal(sweep(&o, &t), 9);
    sweep_table_fini(&t);
}

/* A point that cannot be run is a row with its reason; the others are there. */
static void a_point_fails(void **state)
{
    static const char *const bad[] = { "fleet.pool.nodes=0,2" };
    (void)state;
    struct sweep_options o = options(new_scenario(GENERATED), new_dir());
    struct sweep_table t;
    o.vary = bad;
    sweep(&o, &t);
    assert_int_equal(t.n_rows, 3);
    assert_int_equal(t.n_failed, 3);
    assert_contains(t.row[0].error, "expected a value from 1");
    assert_int_equal(t.row[0].n, 0);
    assert_int_equal(t.row[1].n, 3);
    assert_null(t.row[1].error);
    sweep_table_fini(&t);
    assert_int_equal(sweep(&o, &t), 3); /* what failed is tried again */
    sweep_table_fini(&t);
}

/* Replications of a trace are all alike: no interval of width 0 pretends to know. */
static void a_trace_has_no_interval(void **state)
{
    (void)state;
    struct sweep_options o = options(new_scenario(TRACE), new_dir());
    struct sweep_table t;
    sweep(&o, &t);
    assert_int_equal(t.row[0].n, 3);
    assert_close(t.row[0].metric[metric("jobs.completed")].mean, 2, 0);
    assert_true(isnan(t.row[0].metric[metric("jobs.completed")].half));
    sweep_table_fini(&t);
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

/* Runs of 100 s, of which some look unstable although nothing is: Erlang's queue with five cards at load 0.64.
 * With two it grows without end, and has no percentile. */
static void stability_of_a_point(void **state)
{
    static const char *const axis[] = { "fleet.pool.nodes=2,5" };
    static const char *const set[] = { "horizon=100 s", "warmup=0 s", "fleet.pool.nodes=5" };
    static const char scenario[] = "scenarios/sizing-erlang.json";
    (void)state;
    struct sweep_options o = options(scenario, new_dir());
    struct sweep_table t;
    o.vary = axis;
    o.set = set;
    o.n_set = 2;
    o.replications = 24;
    const size_t p95 = metric("jobs.wait_s.p95"), mean = metric("jobs.wait_s.mean");
    sweep(&o, &t);
    assert_true(unstable_alone(scenario, set, 3, 24) > 0);
    assert_int_equal(t.row[0].queue, QUEUE_GROWS);
    assert_true(isnan(t.row[0].metric[p95].mean));
    assert_true(t.row[0].metric[mean].mean > 5);
    assert_int_equal(t.row[1].queue, QUEUE_STAYS);
    assert_int_equal(t.row[1].metric[p95].n, 24);
    /* Erlang C: 0.390 s */
    assert_true(fabs(t.row[1].metric[p95].mean - 0.390) < 2 * t.row[1].metric[p95].half);
    sweep_table_fini(&t);
}

/* A file that was cut, emptied or put in another's place is no result: the sweep computes it again. */
static void damaged_runs(void **state)
{
    (void)state;
    const char *dir = new_dir(), *whole = new_dir();
    struct sweep_options o = options(new_scenario(GENERATED), whole);
    struct sweep_table t;
    sweep(&o, &t);
    sweep_table_fini(&t);
    o.dir = dir;
    sweep(&o, &t);
    const char *sha[2];
    for (size_t i = 0; i < 2; i++)
        sha[i] = arena_strdup(
            arena, json_string_value(json_array_get(json_object_get(t.manifest, "points"), i)));
    sweep_table_fini(&t);
    assert_int_equal(truncate(sweep_run_path(arena, dir, sha[0], 0), 300), 0);
    assert_int_equal(truncate(sweep_run_path(arena, dir, sha[0], 1), 0), 0);
    assert_int_equal(unlink(sweep_run_path(arena, dir, sha[1], 1)), 0);
    assert_int_equal(
        link(sweep_run_path(arena, dir, sha[1], 0), sweep_run_path(arena, dir, sha[1], 1)), 0);
    err = (struct err){ 0 };
    assert_int_equal(sweep_merge(&t, &dir, 1, new_dir(), true, arena, &err), ERR_INPUT);
    assert_contains(err.hint, "computes the run again");
    sweep_table_fini(&t);
    assert_int_equal(sweep(&o, &t), 3);
    sweep_table_fini(&t);
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
    struct sweep_table t;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o.vary = &bad[i].vary;
        assert_int_equal(refuse(&o), bad[i].rc);
        assert_contains(err.msg, bad[i].why);
    }
    o = options(scenario, dir);
    sweep(&o, &t);
    sweep_table_fini(&t);
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

/* Requests from memory are requests from the file: a sweep's point is the run itself, and its fault is told with
 * the line. */
static void requests_are_lent(void **state)
{
    static const struct sim_file requests[] = {
        { "requests.csv",
          "arrival_s,size,service\n0,10,mine\n1,10,mine\n1,99,other\n2,30,mine\n9000000000,5,mine\n" },
        { NULL, NULL }
    };
    static const char *const load[] = { "work.w.load=1,2,0.5" };
    (void)state;
    const char *scenario = arena_strdup(
        arena,
        sim_write(
            "{'format': 'gpusim-scenario/1', 'name': 'served', 'horizon': '200 s',"
            " 'fleet': [{'name': 'pool', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 1}],"
            " 'work': [{'name': 'w', 'kind': 'service', 'requests': 'requests.csv', 'only': 'mine', 'load': 1}],"
            " 'policies': [{'name': 'fifo', 'share': {'kind': 'whole'}}]}",
            NULL, requests));
    struct sweep_options o = options(scenario, new_dir());
    struct sweep_table t;
    o.vary = load;
    o.replications = 1;
    sweep(&o, &t);
    assert_int_equal(t.n_rows, 3);
    assert_int_equal(t.n_failed, 1); /* 9e9 s at half the speed is beyond what a time can be */
    assert_contains(t.row[2].error, "requests.csv:6");
    const struct runner_options ro = { .silent = true };
    struct runner run;
    struct diag d;
    diag_init(&d);
    assert_int_equal(runner_load_with(&run, scenario, &ro, &d, &err), 0);
    assert_int_equal(d.count, 0);
    assert_int_equal(runner_run(&run, NULL, 1, &err), 0);
    assert_int_equal(run.result.policy[0].service[0].completed, 3);
    assert_close(t.row[0].metric[metric("services.0.completed")].mean, 3, 0);
    assert_close(t.row[0].metric[metric("services.0.latency_ms.mean")].mean,
                 run.result.policy[0].service[0].latency_ms.mean, 1e-9);
    diag_fini(&d);
    runner_fini(&run);
    sweep_table_fini(&t);
}

/* A manifest that somebody edited is refused, not believed. */
static void damaged_manifests(void **state)
{
    static const char *const bad[] = {
        "{'format': 'gpusim-sweep/1'}",
        "{'format': 'gpusim-sweep-manifest/1', 'vary': [], 'replications': 0, 'points': []}",
        "{'format': 'gpusim-sweep-manifest/1', 'vary': [], 'replications': 1, 'points': []}",
        "{'format': 'gpusim-sweep-manifest/1', 'vary': [], 'replications': 1, 'points': ['../x']}",
        "{'format': 'gpusim-sweep-manifest/1', 'vary': [{'path': 'a', 'values': []}],"
        " 'replications': 1, 'points': []}",
        "{'format': 'gpusim-sweep-manifest/1', 'vary': [], 'replications': 1000000000000, 'points':"
        " ['0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef']}",
        "[]",
        "{",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *const dir[] = { new_dir() };
        struct sweep_table t;
        char *text = xstrdup(bad[i]);
        for (char *c = text; *c; c++)
            if (*c == '\'') *c = '"';
        FILE *f = fopen(arena_printf(arena, "%s/manifest.json", dir[0]), "w");
        assert_non_null(f);
        fputs(text, f);
        fclose(f);
        free(text);
        err = (struct err){ 0 };
        assert_int_equal(sweep_merge(&t, dir, 1, dir[0], true, arena, &err), ERR_INPUT);
        sweep_table_fini(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_means_of_runs),
        cmocka_unit_test(resumes),
        cmocka_unit_test(shards_join),
        cmocka_unit_test(inputs_name_the_point),
        cmocka_unit_test(a_point_fails),
        cmocka_unit_test(a_trace_has_no_interval),
        cmocka_unit_test(stability_of_a_point),
        cmocka_unit_test(damaged_runs),
        cmocka_unit_test(requests_are_lent),
        cmocka_unit_test(refused),
        cmocka_unit_test(damaged_manifests),
    };
    gsl_set_error_handler_off();
    arena = arena_create();
    const int rc = cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
    arena_destroy(arena);
    return rc;
}
