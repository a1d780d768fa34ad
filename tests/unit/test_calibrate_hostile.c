/* calibrate where the world is against it: no room for its files, closed standard files,
 * libraries that are not there, old drivers, several devices. What cannot be measured says so;
 * what cannot be written ends with 4. */
#include "tests/support/standin.h"

#include <sys/stat.h>
#include <unistd.h>

static const char *folder;

static int set_up_folder(void **state)
{
    folder = temp_dir();
    return set_up(state);
}

static void expect_said(const char *plan, const char *args, int status, const char *part)
{
    char *all = xasprintf("%s 2>'%s/said'", args, folder), *path = xasprintf("%s/said", folder);
    const int st = run(plan, all);
    char *said = read_file(path);
    if (st != status) fail_msg("%s: status %d\n%s", args, st, said);
    assert_contains(said, part);
    free(said);
    free(path);
    free(all);
}

/* The stand-in's folder with some of its files as others, for as long as `dir` is it. */
struct links {
    const char *was;
};

static void link_all(struct links *l)
{
    static const char *const name[] = { "libcuda.so.1", "libcublasLt.so.13", "libnvidia-ml.so.1",
                                        "libclock.so" };
    const char *own = temp_dir();
    *l = (struct links){ dir };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char *from = xasprintf("%s/%s", own, name[i]), *to = xasprintf("%s/%s", dir, name[i]);
        assert_int_equal(symlink(to, from), 0);
        free(from);
        free(to);
    }
    dir = own;
}

/* to NULL: a file that no loader takes, so that none of the machine's is found either. */
static void replace(const struct links *l, const char *name, const char *to)
{
    char *from = xasprintf("%s/%s", dir, name), *target = xasprintf("%s/%s", l->was, to ? to : "");
    unlink(from);
    if (to)
        assert_int_equal(symlink(target, from), 0);
    else
        fclose(fopen(from, "w"));
    free(from);
    free(target);
}

static void unlink_all(const struct links *l)
{
    dir = l->was;
}

/* The profile has taken minutes: where it cannot be written it goes to standard output. */
static void no_room(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    expect_said("context_ms=1", "--quick --only graph >/dev/full", 4, "No space left on device");
    /* the samples' name is that of a full device */
    char *link = xasprintf("%s/p.samples.json", folder), *path = xasprintf("%s/p.json", folder);
    char *args = xasprintf("--quick --only graph -o '%s' >'%s/out'", path, folder);
    char *out = xasprintf("%s/out", folder);
    assert_int_equal(symlink("/dev/full", link), 0);
    expect_said("context_ms=1", args, 4, "the profile is on standard output instead");
    assert_int_not_equal(access(path, F_OK), 0);
    char *text = read_file(out);
    assert_contains(text, "\"graph_node_us\"");
    unlink(link);
    free(text);
    free(out);
    free(args);
    free(path);
    free(link);
    expect_said("context_ms=1", "--quick --only graph -o /proc/p.json", 4, "cannot create");
    expect_said("context_ms=1", "--quick --only graph -o ''", 2, "expected a file name");
}

/* Told before anything is measured; what is opened later does not take the place of what is
 * closed. */
static void closed_files(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    expect_said("context_ms=1", "--quick --only graph >&-", 4, "standard output is closed");
    expect_said("context_ms=1", "--device-info >&-", 4, "standard output is closed");
    expect_said("context_ms=1", "--list >&-", 4, "standard output is closed");
    expect_said("context_ms=1", "--device-info >/dev/full", 4, "cannot write standard output");
    char *path = xasprintf("%s/closed.json", folder);
    char *args = xasprintf("--quick --only context,graph,remote -o '%s' <&- >&- 2>&-", path);
    real_time = true;
    assert_int_equal(run("context_ms=1", args), 0);
    real_time = false;
    char *text = read_file(path);
    assert_contains(text, "\"context_ms\"");
    assert_contains(text, "\"graph_node_us\"");
    free(text);
    free(args);
    free(path);
}

static void libraries_missing(void **state)
{
    static const char *const blas[] = { "libcublasLt.so.13", "libcublasLt.so.12",
                                        "libcublasLt.so.11", "libcublasLt.so" };
    struct links l;
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    link_all(&l);
    replace(&l, "libnvidia-ml.so.1", NULL);
    for (size_t i = 0; i < 4; i++) replace(&l, blas[i], NULL);
    struct measured m = measure("context_ms=1", "--only power,graph,gemm,mig");
    assert_contains(m.said, "not measured: cuBLASLt does not load: ");
    assert_contains(m.said,
                    "idle_W                 not measured: the power sensor does not answer");
    assert_contains(m.said, "not measured: MIG mode is unknown without NVML");
    const json_t *device = json_object_get(m.profile.root, "device");
    assert_true(json_is_null(json_object_get(device, "power_cap_W")));
    assert_true(json_is_null(json_object_get(device, "mig_mode")));
    done(&m);
    unlink_all(&l);
}

static void old_drivers(void **state)
{
    struct links l;
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    link_all(&l);
    replace(&l, "libcuda.so.1", "old/libcuda.so.1");
    struct measured m = measure("context_ms=1", "--only launch,graph,intercept");
    assert_contains(m.said,
                    "graph_node_us          not measured: the driver is too old for graphs");
    assert_contains(m.said,
                    "the driver lacks this way, or the library does not tell (so is seen_ex)");
    assert_contains(
        m.said, "look_up_ns             not measured: the driver is too old for cuGetProcAddress");
    assert_true(measured_value(&m, "base.launch_us") > 2);
    done(&m);
    replace(&l, "libcuda.so.1", "ancient/libcuda.so.1");
    expect_said("context_ms=1", "--device-info", 4,
                "the NVIDIA driver is too old: it lacks cuStreamCreate\n");
    unlink_all(&l);
}

/* The third of three, workers included: by its identity. */
static void several_devices(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    struct measured m = measure("context_ms=1;devices=3", "--device 2 --only context,timeslice");
    const json_t *device = json_object_get(m.profile.root, "device");
    assert_string_equal(json_string_value(json_object_get(device, "uuid")),
                        "GPU-09090909-0909-0909-0909-090909090909");
    assert_true(measured_value(&m, "timeslice.quantum_us") > 0);
    done(&m);
    expect_said("devices=3", "--device 3", 4, "no device 3: the driver sees 3, counted from 0\n");
    expect_said("devices=3", "--device -1", 2, "expected a number from 0 to 1023");
    expect_said("devices=3", "--device 9999999999", 2, "expected a number from 0 to 1023");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_room),           cmocka_unit_test(closed_files),
        cmocka_unit_test(libraries_missing), cmocka_unit_test(old_drivers),
        cmocka_unit_test(several_devices),
    };
    return cmocka_run_group_tests_name("calibrate in a hostile world", tests, set_up_folder, NULL);
}
