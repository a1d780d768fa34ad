/* test_sweep_inputs.c - the files of a sweep: each names its points, and each is parsed once and
 * lent. */
#include "support/sweeping.h"

#include <gsl/gsl_errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* A changed input is another point: nothing old is taken for it. */
static void inputs_name_the_point(void **state)
{
    (void)state;
    const char *dir = new_dir(), *scenario = new_scenario(GENERATED);
    struct sweep_options o = options(scenario, dir);
    struct rows t;
    sweep(&o, &t);
    sweep_table_fini(&t.table);
    char *spec = xstrdup(scenario);
    memcpy(strrchr(spec, '/'), "/spec.json", sizeof "/spec.json");
    FILE *f = fopen(spec, "a");
    assert_non_null(f);
    fputs("\n", f);
    fclose(f);
    free(spec);
    assert_int_equal(sweep(&o, &t), 9);
    sweep_table_fini(&t.table);
}

static void append(const char *beside, const char *name, const char *text)
{
    char *path = xstrdup(beside),
         *file = xasprintf("%.*s%s", (int)(strrchr(path, '/') - path + 1), path, name);
    FILE *f = fopen(file, "a");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    free(file);
    free(path);
}

/* So are files behind files: requests of a service, the recording that a specification draws
 * from. */
static void files_behind_files_name_the_point(void **state)
{
    static const char head[] = "job_id,submit_s,duration_s,gpus\na,0,10,1\nb,50,10,1\n";
    static const struct sim_file behind[] = {
        { "requests.csv", "arrival_s,size\n0,10\n1,10\n" },
        { "recorded.csv", head },
        { "spec.json",
          "{'format': 'gpusim-generate/1', 'name': 's', 'horizon': '1 d', 'classes': [{'name': 'c',"
          " 'arrivals': {'kind': 'bootstrap', 'trace': 'recorded.csv', 'block': '60 s'}}]}" },
        { NULL, NULL },
    };
    (void)state;
    const char *scenario = arena_strdup(
        arena,
        sim_write(SCENARIO("", "{'name': 'w', 'kind': 'generate', 'spec': 'spec.json'},"
                               " {'name': 'api', 'kind': 'service', 'requests': 'requests.csv'}"),
                  NULL, behind));
    const char *dir = new_dir();
    struct sweep_options o = options(scenario, dir);
    struct rows t;
    assert_int_equal(sweep(&o, &t), 9);
    assert_int_equal(t.table.n_failed, 0);
    sweep_table_fini(&t.table);
    assert_int_equal(sweep(&o, &t), 0);
    sweep_table_fini(&t.table);
    append(scenario, "requests.csv", "2,10\n");
    assert_int_equal(sweep(&o, &t), 9);
    sweep_table_fini(&t.table);
    append(scenario, "recorded.csv", "c,51,10,1\n");
    assert_int_equal(sweep(&o, &t), 9);
    sweep_table_fini(&t.table);
}

/* Requests from memory are requests from the file: a sweep's point is the run itself, and its
 * fault is told with the line. */
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
    struct rows t;
    o.vary = load;
    o.replications = 1;
    sweep(&o, &t);
    assert_int_equal(t.n, 3);
    /* 9e9 s at half the speed is beyond what a time can be */
    assert_int_equal(t.table.n_failed, 1);
    assert_contains(t.row[2].error, "requests.csv:6");
    const struct runner_options ro = { .silent = true };
    struct runner run;
    struct diag d;
    diag_init(&d);
    assert_int_equal(runner_load_with(&run, scenario, &ro, &d, &err), 0);
    assert_int_equal(d.count, 0);
    assert_int_equal(runner_run(&run, NULL, 1, &err), 0);
    assert_int_equal(run.result.policy[0].service[0].completed, 3);
    assert_close(t.row[0].metric[metric(&t, "services.w.completed")].mean, 3, 0);
    assert_close(t.row[0].metric[metric(&t, "services.w.latency_ms.mean")].mean,
                 run.result.policy[0].service[0].latency_ms.mean, 1e-9);
    diag_fini(&d);
    runner_fini(&run);
    sweep_table_fini(&t.table);
}

/* Recordings behind generators too: the runs of a sweep are the run that reads the file, to the
 * byte. They are parsed once: what is written into the file behind that is not seen. */
static void recordings_are_lent(void **state)
{
    static const char *const arrivals[] = { "'bootstrap', 'block': '60 s'",
                                            "'shuffle', 'gap': '3 s', 'gpus': 30", "'replay'" };
    (void)state;
    for (size_t i = 0; i < sizeof arrivals / sizeof *arrivals; i++) {
        const struct sim_file behind[] = {
            { "recorded.csv", "job_id,submit_s,duration_s,gpus,user\na,0,10,1,ann\nb,70,4,1,bo\n"
                              "c,120,9,1,ann\nd,130,6,1,cy\n" },
            { "spec.json", arena_printf(arena,
                                        "{'format': 'gpusim-generate/1', 'name': 's', 'horizon': "
                                        "'150 s', 'classes': [{'name': 'c', 'arrivals': {'kind': "
                                        "%s, 'trace': 'recorded.csv'}}]}",
                                        arrivals[i]) },
            { NULL, NULL },
        };
        const char *scenario = arena_strdup(arena, sim_write(GENERATED, NULL, behind));
        struct trace_shelf *shelf = trace_shelf_create(0);
        char *text[3];
        for (size_t n = 0; n < 3; n++) { /* from the file, parsed, and from the shelf */
            const struct runner_options o = { .silent = true,
                                              .no_hash = true,
                                              .shelf = n ? shelf : NULL };
            if (n == 2) append(scenario, "recorded.csv", "e,140,25,1,cy\n");
            struct runner run;
            struct diag d;
            diag_init(&d);
            assert_int_equal(runner_load_with(&run, scenario, &o, &d, &err), 0);
            assert_int_equal(d.count, 0);
            if (runner_run(&run, NULL, 1, &err) != 0) fail_msg("%s: %s", err.where, err.msg);
            assert_true(run.result.policy[0].trace_rows >= 2);
            json_t *v = result_to_json(&run.result);
            text[n] = json_dumps(v, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
            json_decref(v);
            diag_fini(&d);
            runner_fini(&run);
        }
        assert_string_equal(text[0], text[1]);
        assert_string_equal(text[0], text[2]);
        for (size_t n = 0; n < 3; n++) free(text[n]);
        trace_shelf_destroy(shelf);
    }
}

/* A pipe in place of a recording is told, not waited for. */
static void recorded_in_a_pipe(void **state)
{
    static const struct sim_file behind[] = {
        { "spec.json",
          "{'format': 'gpusim-generate/1', 'name': 's', 'horizon': '150 s', 'classes': [{'name': 'c',"
          " 'arrivals': {'kind': 'shuffle', 'gap': '1 s', 'trace': 'pipe.csv'}}]}" },
        { NULL, NULL },
    };
    (void)state;
    const char *scenario = arena_strdup(arena, sim_write(GENERATED, NULL, behind));
    const char *dir =
        arena_printf(arena, "%.*s", (int)(strrchr(scenario, '/') - scenario), scenario);
    assert_int_equal(mkfifo(arena_printf(arena, "%s/pipe.csv", dir), 0600), 0);
    struct sweep_options o = options(scenario, new_dir());
    struct rows t;
    o.replications = 1;
    alarm(20); /* one that waits ends here */
    sweep(&o, &t);
    alarm(0);
    assert_int_equal(t.table.n_failed, 3);
    assert_contains(t.row[0].error, "expected a file, found a pipe");
    sweep_table_fini(&t.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_name_the_point),
        cmocka_unit_test(files_behind_files_name_the_point),
        cmocka_unit_test(requests_are_lent),
        cmocka_unit_test(recordings_are_lent),
        cmocka_unit_test(recorded_in_a_pipe),
    };
    gsl_set_error_handler_off();
    arena = arena_create();
    const int rc = cmocka_run_group_tests_name("sweep_inputs", tests, NULL, NULL);
    arena_destroy(arena);
    return rc;
}
