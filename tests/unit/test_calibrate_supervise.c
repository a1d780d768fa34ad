/* calibrate where something never ends: kernels, calls of the driver, processes; where it
 * crashes; where it is told to stop. What was measured is kept, the rest is not measured for a
 * stated reason, and nobody is left behind. In real time, since the stand-in's clock would leap
 * to the end of what never ends. */
#include "tests/support/standin.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

static const char *folder;

static int set_up_folder(void **state)
{
    folder = temp_dir();
    setenv("GPUSIM_TEST_FOLDER", folder, 1); /* what is started here inherits it */
    return set_up(state);
}

/* Processes that this test's calibrate has started and not ended. Zombies have no environment. */
static int left_behind(void)
{
    char *needle = xasprintf("GPUSIM_TEST_FOLDER=%s", folder);
    int n = 0;
    DIR *d = opendir("/proc");
    for (struct dirent *f; d && (f = readdir(d));) {
        char path[300], text[20000];
        snprintf(path, sizeof path, "/proc/%.200s/environ", f->d_name);
        FILE *env = strspn(f->d_name, "0123456789") ? fopen(path, "r") : NULL;
        if (!env) continue;
        if (atoi(f->d_name) == (int)getpid()) {
            fclose(env);
            continue;
        }
        const size_t size = fread(text, 1, sizeof text, env);
        if (memmem(text, size, needle, strlen(needle))) n++;
        fclose(env);
    }
    if (d) closedir(d);
    free(needle);
    return n;
}

static void expect_nobody(void)
{
    int n = 1;
    for (int i = 0; i < 50 && (n = left_behind()) > 0; i++) usleep(20000);
    assert_int_equal(n, 0);
}

/* Runs it on a fresh card; status, and what it said in *said. */
static int run_fresh(const char *plan, const char *args, char **said)
{
    char *all = xasprintf("%s -o '%s/p.json' 2>'%s/said'", args, folder, folder);
    char *path = xasprintf("%s/said", folder);
    char *profile = xasprintf("%s/p.json", folder);
    unlink(profile);
    real_time = true;
    const int status = run(plan, all);
    real_time = false;
    *said = read_file(path);
    free(all);
    free(path);
    free(profile);
    return status;
}

static void load(struct json_doc *doc, const char *name)
{
    struct err e = { 0 };
    char *path = xasprintf("%s/%s", folder, name);
    *doc = (struct json_doc){ 0 };
    if (json_doc_load(doc, path, &e) < 0) fail_msg("%s: %s", path, e.msg);
    free(path);
}

/* Status 5, what is left is written: the profile has `has`, the samples say why `lacks` (NULL:
 * nothing) is not there. */
static void expect_cut(const char *plan, const char *args, const char *has, const char *lacks,
                       const char *why)
{
    char *said, group[32] = "";
    struct json_doc p, samples;
    const int status = run_fresh(plan, args, &said);
    if (status != 5) fail_msg("status %d\n%s", status, said);
    expect_nobody();
    load(&p, "p.json");
    load(&samples, "p.samples.json");
    const char *dot = strchr(has, '.');
    memcpy(group, has, (size_t)(dot - has));
    const json_t *v = json_object_get(json_object_get(p.root, group), dot + 1);
    if (!json_is_number(json_object_get(v, "value"))) fail_msg("no %s\n%s", has, said);
    if (lacks) {
        v = json_object_get(json_object_get(samples.root, "parameters"), lacks);
        const char *reason = json_string_value(json_object_get(v, "reason"));
        if (!reason || !strstr(reason, why)) fail_msg("%s: %s\n%s", lacks, reason, said);
    }
    const char *cut =
        json_string_value(json_object_get(json_object_get(p.root, "device"), "cut_short"));
    if (!cut || !strstr(cut, why)) fail_msg("%s\n%s", cut, said);
    assert_contains(said, "not all that was asked for was measured: ");
    json_doc_fini(&p);
    json_doc_fini(&samples);
    free(said);
}

/* The kernel of the cache probe never ends: what comes before and after it is measured. */
static void kernel_without_end(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    expect_cut("context_ms=1;hang=7", "--quick --limit 4 --only graph,l2,width",
               "base.graph_node_us", "base.l2_Bps",
               "ended by the time limit: no end within 4 s (--limit)");
    struct json_doc p;
    load(&p, "p.json");
    const json_t *curve = json_object_get(json_object_get(p.root, "base"), "width_curve");
    assert_true(json_array_size(json_object_get(curve, "points")) > 1);
    json_doc_fini(&p);
}

/* No kernel ends any more: the probes after it are not tried, and say why. */
static void wedged_card(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    expect_cut("context_ms=1;hang=7;wedge=1", "--quick --limit 3 --only graph,l2,gemm",
               "base.graph_node_us", "base.l2_Bps", "ended by the time limit");
    struct json_doc p;
    load(&p, "p.json");
    const json_t *missing = json_object_get(p.root, "not_measured");
    assert_contains(json_string_value(json_object_get(missing, "base.gemm_fp16_flops")),
                    "not reached: the card does not answer any more: ended by the time limit");
    json_doc_fini(&p);
}

static void crash(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    expect_cut("context_ms=1;crash=7", "--quick --only graph,l2,width", "base.graph_node_us",
               "base.l2_Bps", "the process that measured died of signal 6");
}

/* Workers: a kernel, the start and the end of one; the child of the context probe. What was
 * measured of a probe before it was ended is kept. */
static void processes_without_end(void **state)
{
    const char *why = "ended by the time limit";
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    expect_cut("context_ms=1;hang=6;hang_call=4", "--quick --limit 4 --only timeslice",
               "timeslice.quantum_us", "timeslice.kept_compute_2", why);
    expect_cut("context_ms=1;hang_call=2", "--quick --limit 2 --only graph,remote",
               "base.graph_node_us", "remote.Bps", why);
    expect_cut("context_ms=1;hang_call=3", "--quick --limit 6 --only remote", "remote.Bps", NULL,
               why);
    expect_cut("context_ms=1;hang_call=5", "--quick --limit 2 --only context,graph",
               "base.graph_node_us", "base.context_ms", why);
}

/* Where the device itself does not open there is nothing to write: status 4. */
static void no_device_within_the_limit(void **state)
{
    static const char *const plan[] = { "hang_call=1", "hang_call=6", "context_ms=1;hang_call=6" };
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    for (size_t i = 0; i < sizeof plan / sizeof *plan; i++) {
        char *said;
        assert_int_equal(
            run_fresh(plan[i], i == 1 ? "--device-info --limit 1" : "--limit 1", &said), 4);
        assert_string_equal(said,
                            "calibrate: the device does not open: ended by the time limit: no "
                            "end within 1 s (--limit)\n");
        expect_nobody();
        char *path = xasprintf("%s/p.json", folder);
        assert_int_not_equal(access(path, F_OK), 0);
        free(path);
        free(said);
    }
}

/* Starts it, waits until it says that `step` is at work (NULL: 0.3 s), sends the signal; what
 * waitpid() says. */
static int run_and_signal(const char *plan, const char *args, const char *step, int signal)
{
    char *command = xasprintf("exec '%s' %s -o '%s/p.json' >/dev/null 2>'%s/said'",
                              getenv("GPUSIM_CALIBRATE"), args, folder, folder);
    char *card = xasprintf("%s/state", temp_dir()), *path = xasprintf("%s/said", folder);
    int status = 0;
    bool there = false;
    unlink(path);
    const pid_t pid = fork();
    if (pid == 0) {
        setenv("GPUSIM_STANDIN_STATE", card, 1);
        setenv("GPUSIM_STANDIN", plan, 1);
        setenv("LD_LIBRARY_PATH", dir, 1);
        execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(127);
    }
    for (int i = 0; step && !there && i < 500; i++) {
        usleep(20000);
        char *said = access(path, F_OK) == 0 ? read_file(path) : NULL;
        there = said && strstr(said, step);
        free(said);
    }
    if (step && !there) fail_msg("it never came to \"%s\"", step);
    usleep(300000);
    kill(pid, signal);
    waitpid(pid, &status, 0);
    expect_nobody();
    free(command);
    free(card);
    free(path);
    return status;
}

/* Everything that is in the folder; a temporary file would be too much. */
static size_t files_in_folder(void)
{
    size_t n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *f; (f = readdir(d));) n += f->d_name[0] != '.' || strlen(f->d_name) > 2;
    closedir(d);
    return n;
}

/* What is there is kept; the program ends of the signal. */
static void interrupted(void **state)
{
    static const int signals[] = { SIGINT, SIGTERM };
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    for (size_t i = 0; i < 2; i++) {
        struct json_doc p;
        const int status =
            run_and_signal("context_ms=1;hang=7", "--quick --only graph,l2,gemm", "l2", signals[i]);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
        load(&p, "p.json");
        assert_non_null(json_object_get(json_object_get(p.root, "base"), "graph_node_us"));
        const json_t *missing = json_object_get(p.root, "not_measured");
        assert_contains(json_string_value(json_object_get(missing, "base.l2_Bps")),
                        i ? "not measured: interrupted (SIGTERM)"
                          : "not measured: interrupted (SIGINT)");
        assert_contains(json_string_value(json_object_get(missing, "base.gemm_fp64_flops")),
                        "not measured: not reached: interrupted (SIG");
        json_doc_fini(&p);
    }
    assert_int_equal(files_in_folder(), 3); /* profile, samples, what it said */
}

/* Workers at work, a worker that does not start, a probe's child: nobody is left, whoever is
 * killed and how. */
static void nobody_is_left(void **state)
{
    static const struct {
        const char *plan, *only, *step;
    } at[] = {
        { "context_ms=1;hang=6;hang_call=4", "--quick --only timeslice", "timeslice" },
        { "context_ms=1;hang_call=2", "--quick --only remote", "remote" },
        { "context_ms=1;hang_call=5", "--quick --only context", "context" },
        { "hang_call=1", "--quick --only context", NULL },
    };
    static const int signals[] = { SIGINT, SIGKILL };
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        for (size_t k = 0; k < 2; k++) {
            const int status = run_and_signal(at[i].plan, at[i].only, at[i].step, signals[k]);
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signals[k]);
        }
}

/* Everything is measured and told, and the process does not come out of the driver: nobody waits
 * for it against a signal, and what it told is written. */
static void no_end(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    struct json_doc p;
    const int status =
        run_and_signal("context_ms=1;hang_call=7", "--quick --only graph", "graph", SIGINT);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    load(&p, "p.json");
    assert_non_null(json_object_get(json_object_get(p.root, "base"), "graph_node_us"));
    json_doc_fini(&p);
}

/* Nothing was measured yet: an older profile stays as it is. */
static void older_profile_stays(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    char *path = xasprintf("%s/p.json", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("older", f);
    fclose(f);
    run_and_signal("context_ms=1;hang=7", "--quick --only l2,gemm", "l2", SIGTERM);
    char *text = read_file(path);
    assert_string_equal(text, "older");
    free(text);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_without_end),
        cmocka_unit_test(wedged_card),
        cmocka_unit_test(crash),
        cmocka_unit_test(processes_without_end),
        cmocka_unit_test(no_device_within_the_limit),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(nobody_is_left),
        cmocka_unit_test(no_end),
        cmocka_unit_test(older_profile_stays),
    };
    return cmocka_run_group_tests_name("calibrate where something never ends", tests, set_up_folder,
                                       NULL);
}
