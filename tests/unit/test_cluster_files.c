/* scenarios/cluster: the Kubernetes manifest against what the Job API asks of an indexed job, its
 * command against the program, all of its indices run as pods would; the image's steps against this
 * tree. */
#include "cli/command.h"
#include "tests/support/support.h"
#include "traces/k8s_objects.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

extern const struct command *const cmd_all[];

#define FOLDER "scenarios/cluster/"
enum { MOST_ARGS = 40 };

static json_t *job; /* the manifest's one object */

static int load(void **state)
{
    struct k8s_objects o;
    struct err e = { 0 };
    (void)state;
    if (k8s_objects_read(&o, FOLDER "kubernetes-job.yaml", &e) != 0) {
        err_print(&e, "test_cluster_files", stderr);
        return -1;
    }
    assert_int_equal(o.list.n, 1);
    job = k8s_object_get(&o, 0, &e);
    k8s_objects_fini(&o);
    return job ? 0 : -1;
}

static int unload(void **state)
{
    (void)state;
    json_decref(job);
    return 0;
}

/* The value at a path of keys and indices such as "spec/template/spec/containers/0". */
static const json_t *at(const char *path)
{
    const json_t *v = job;
    char key[64];
    while (v && *path) {
        const size_t n = strcspn(path, "/");
        snprintf(key, sizeof key, "%.*s", (int)n, path);
        v = json_is_array(v) ? json_array_get(v, strtoul(key, NULL, 10)) : json_object_get(v, key);
        path += n + (path[n] == '/');
    }
    if (!v) fail_msg("the manifest has no such field");
    return v;
}

static const char *text(const char *path)
{
    const char *s = json_string_value(at(path));
    if (!s) fail_msg("%s is no text", path);
    return s;
}

static unsigned long number(const char *path)
{
    char *end;
    const unsigned long n = strtoul(text(path), &end, 10);
    assert_int_equal(*end, '\0');
    return n;
}

/* What the API server would refuse, and what would make a sweep lose or repeat work. */
static void job_is_indexed(void **state)
{
    (void)state;
    assert_string_equal(text("apiVersion"), "batch/v1");
    assert_string_equal(text("kind"), "Job");
    assert_string_equal(text("spec/completionMode"), "Indexed");
    assert_true(number("spec/completions") >= 1); /* required when Indexed */
    assert_true(number("spec/parallelism") >= 1);
    assert_true(number("spec/parallelism") <= number("spec/completions"));
    assert_true(number("spec/backoffLimitPerIndex") >= 1);
    /* backoffLimitPerIndex and podFailurePolicy are refused with any other */
    assert_string_equal(text("spec/template/spec/restartPolicy"), "Never");
    assert_string_equal(text("spec/podFailurePolicy/rules/0/action"), "Ignore");
    assert_string_equal(text("spec/podFailurePolicy/rules/0/onPodConditions/0/type"),
                        "DisruptionTarget");
    assert_string_equal(text("spec/podFailurePolicy/rules/1/action"), "FailIndex");
    const json_t *codes = at("spec/podFailurePolicy/rules/1/onExitCodes/values"), *v;
    size_t i;
    json_array_foreach(codes, i, v)
    { /* in order, each once, never 0; and never 4 to 6, which another node may not have */
        assert_int_equal(strtol(json_string_value(v), NULL, 10), i + 1);
    }
    assert_int_equal(json_array_size(codes), 3);
}

static void pod_is_no_root(void **state)
{
    (void)state;
    assert_true(json_is_true(at("spec/template/spec/securityContext/runAsNonRoot")));
    char *docker = read_file(FOLDER "Dockerfile");
    const char *user = strstr(docker, "\nUSER ");
    assert_non_null(user);
    assert_null(strstr(user + 1, "\nUSER ")); /* the last word on it */
    assert_int_equal(strtoul(user + 6, NULL, 10),
                     number("spec/template/spec/securityContext/runAsUser"));
    free(docker);
}

static void every_mount_has_its_volume(void **state)
{
    const json_t *mounts = at("spec/template/spec/containers/0/volumeMounts"),
                 *volumes = at("spec/template/spec/volumes"), *m, *v;
    size_t i, k;
    (void)state;
    json_array_foreach(mounts, i, m)
    {
        bool found = false;
        json_array_foreach(volumes, k, v) found |=
            json_equal(json_object_get(m, "name"), json_object_get(v, "name"));
        assert_true(found);
    }
}

/* ---- the command ---- */

static bool is_command(const char *name, size_t n)
{
    for (size_t i = 0; cmd_all[i]; i++)
        if (strlen(cmd_all[i]->name) == n && strncmp(cmd_all[i]->name, name, n) == 0) return true;
    return false;
}

/* Every "gpusim WORD" in a file of the folder, comments too. */
static size_t commands_in(const char *path)
{
    char *s = read_file(path);
    size_t n = 0;
    for (const char *p = s; (p = strstr(p, "gpusim ")); p += 7) {
        if (p > s && (isalnum((unsigned char)p[-1]) || strchr("-_/", p[-1]))) continue;
        const char *word = p + 7;
        const size_t len = strspn(word, "abcdefghijklmnopqrstuvwxyz");
        if (len == 0 || word[len] == ',' || strncmp(word, "on ", 3) == 0) continue; /* prose */
        if (!is_command(word, len))
            fail_msg("%s: gpusim has no command '%.*s'", path, (int)len, word);
        n++;
    }
    free(s);
    return n;
}

static void commands_exist(void **state)
{
    (void)state;
    assert_true(commands_in(FOLDER "kubernetes-job.yaml") >= 1);
    assert_true(commands_in(FOLDER "slurm.sbatch") >= 1);
    assert_true(commands_in(FOLDER "Dockerfile") >= 1);
    assert_string_equal(text("spec/template/spec/containers/0/command/0"), "gpusim");
    const char *sub = text("spec/template/spec/containers/0/command/1");
    assert_true(is_command(sub, strlen(sub)));
}

/* Run the program with the manifest's arguments; files under /data stand elsewhere. */
static int run(const char *bin, char *const *arg, const char *out_file, const char *index)
{
    const pid_t pid = fork();
    int status;
    assert_true(pid >= 0);
    if (pid == 0) {
        const int out = open(out_file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(out, 1);
        for (const char *const *v =
                 (const char *const[]){ "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX",
                                        "JOB_COMPLETION_COUNT", NULL };
             *v; v++)
            unsetenv(*v);
        if (index) {
            setenv("JOB_COMPLETION_INDEX", index, 1);
            setenv(text("spec/template/spec/containers/0/env/0/name"),
                   text("spec/template/spec/containers/0/env/0/value"), 1);
        }
        execv(bin, arg);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void arguments(char **arg, const char *out)
{
    const json_t *command = at("spec/template/spec/containers/0/command"), *v;
    size_t i, n = 0;
    json_array_foreach(command, i, v)
    {
        const char *s = json_string_value(v);
        if (strcmp(s, "/data/scenario.json") == 0) s = "scenarios/sizing-erlang.json";
        if (strcmp(s, "/data/out") == 0) s = out;
        arg[n++] = xstrdup(s);
    }
    assert_true(n < MOST_ARGS - 5);
    arg[n++] = xstrdup("--set");
    arg[n++] = xstrdup("horizon=30 s");
    arg[n++] = xstrdup("--set");
    arg[n++] = xstrdup("warmup=0 s");
    arg[n] = NULL;
}

static void same_file(const char *a, const char *b, const char *name)
{
    char *pa = xasprintf("%s/%s", a, name), *pb = xasprintf("%s/%s", b, name);
    char *x = read_file(pa), *y = read_file(pb);
    assert_string_equal(x, y);
    free(pa);
    free(pb);
    free(x);
    free(y);
}

/* Each index once, as its pod would, into one folder; merged, it is the sweep of one machine. */
static void all_indices_make_the_sweep(void **state)
{
    const char *bin = getenv("GPUSIM_BIN");
    char *arg[MOST_ARGS], *pods = xstrdup(temp_dir()), *local = xstrdup(temp_dir()),
                          *said = xasprintf("%s/said", temp_dir());
    (void)state;
    if (!bin || access(bin, X_OK) != 0) skip_without("gpusim in GPUSIM_BIN");
    assert_int_equal(number("spec/template/spec/containers/0/env/0/value"),
                     number("spec/completions"));
    arguments(arg, pods);
    for (unsigned long i = 0; i < number("spec/completions"); i++) {
        char index[24];
        snprintf(index, sizeof index, "%lu", i);
        assert_int_equal(run(bin, arg, said, index), 0);
    }
    for (char **a = arg; *a; a++) free(*a);
    char *merge[] = { xstrdup(bin), xstrdup("merge"), pods, xstrdup("--quiet"), NULL };
    assert_int_equal(run(bin, merge, said, NULL), 0); /* refuses when a run is missing */
    free(merge[0]);
    free(merge[1]);
    free(merge[3]);
    arguments(arg, local);
    assert_int_equal(run(bin, arg, said, NULL), 0);
    for (char **a = arg; *a; a++) free(*a);
    same_file(pods, local, "sweep.csv");
    same_file(pods, local, "sweep.json");
    free(pods);
    free(local);
    free(said);
}

/* ---- the image ---- */

static void image_is_debian_12_in_two_stages(void **state)
{
    char *docker = read_file(FOLDER "Dockerfile");
    size_t stages = 0;
    (void)state;
    for (const char *p = docker; (p = strstr(p, "\nFROM ")); p++) {
        assert_int_equal(strncmp(p, "\nFROM debian:12-slim", 20), 0);
        stages++;
    }
    assert_int_equal(stages, 2);
    assert_contains(docker, "\nCOPY --from=build ");
    assert_contains(docker, "\nENTRYPOINT [\"gpusim\"]\n");
    free(docker);
}

/* `RUN make X`: the Makefile has a target X. */
static void image_is_built_with_targets_that_exist(void **state)
{
    char *docker = read_file(FOLDER "Dockerfile"), *make = read_file("Makefile");
    size_t n = 0;
    (void)state;
    for (const char *p = docker; (p = strstr(p, "\nRUN make ")); p++, n++) {
        const char *word = p + 10;
        char *help = xasprintf("\n## %.*s ", (int)strcspn(word, " \n"), word);
        assert_contains(make, help);
        free(help);
    }
    assert_true(n > 0);
    free(docker);
    free(make);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(job_is_indexed),
        cmocka_unit_test(pod_is_no_root),
        cmocka_unit_test(every_mount_has_its_volume),
        cmocka_unit_test(commands_exist),
        cmocka_unit_test(all_indices_make_the_sweep),
        cmocka_unit_test(image_is_debian_12_in_two_stages),
        cmocka_unit_test(image_is_built_with_targets_that_exist),
    };
    return cmocka_run_group_tests_name("cluster files", tests, load, unload);
}
