/* How calibrate ends where nothing can be measured: status 4 and one line that says what to do.
 * On drivers that do not start, that see no device, that are older than the toolkit; and with
 * none at all. */
#include "tests/support/standin.h"

#include <dlfcn.h>

/* The only line on standard error. */
static void expect_line(const char *plan, const char *args, const char *part)
{
    char *said = xasprintf("%s/said", temp_dir());
    char *all = xasprintf("%s 2>'%s'", args, said);
    const int status = run(plan, all);
    char *text = read_file(said);
    if (status != 4) fail_msg("status %d\n%s", status, text);
    assert_contains(text, part);
    const char *end = strchr(text, '\n');
    if (!end || end[1]) fail_msg("not one line:\n%s", text);
    free(text);
    free(all);
    free(said);
}

static void no_start(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    unsetenv("CUDA_VISIBLE_DEVICES");
    expect_line("init_error=100", "", "MIG mode is on and has no instance (cuInit: ");
    expect_line("init_error=803", "--device-info", "of different versions (cuInit: ");
    expect_line("init_error=804", "--device 0", "compatibility package");
    expect_line("init_error=802", "", "fabricmanager");
    expect_line("init_error=34", "", "stub");
    expect_line("init_error=999", "", "is nvidia-uvm loaded");
    expect_line("init_error=304", "",
                "the system refused a call: may this user open /dev/nvidia*?");
    expect_line("init_error=805", "", "the MPS daemon of CUDA_MPS_PIPE_DIRECTORY does not answer");
    expect_line("init_error=807", "", "the MPS daemon of CUDA_MPS_PIPE_DIRECTORY does not answer");
    expect_line("init_error=808", "--only mps", "all the clients that it takes");
    expect_line("init_error=3", "", "the NVIDIA driver does not start: cuInit: ");
    expect_line("devices=0", "", "the NVIDIA driver sees no device: no card in this machine");
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    expect_line("init_error=100", "", "CUDA_VISIBLE_DEVICES hides every device (cuInit: ");
    expect_line("devices=0", "--device-info", "CUDA_VISIBLE_DEVICES hides every device");
    setenv("CUDA_VISIBLE_DEVICES", "2,3", 1);
    expect_line("devices=2", "--device 7",
                "no device 7: the driver sees 2, counted from 0, of CUDA_VISIBLE_DEVICES=2,3");
    unsetenv("CUDA_VISIBLE_DEVICES");
    expect_line("", "--device 7", "no device 7: the driver sees 1, counted from 0\n");
}

/* A driver older than the toolkit starts, and says so at the first kernel: each parameter has the
 * reason. */
static void old_driver(void **state)
{
    static const int error[] = { 200, 209, 218, 222 };
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    for (size_t i = 0; i < sizeof error / sizeof *error; i++) {
        char *plan = xasprintf("context_ms=1;module_error=%d", error[i]);
        char *said = xasprintf("%s/said", temp_dir());
        char *args = xasprintf("--only launch >/dev/null 2>'%s'", said);
        assert_int_equal(run(plan, args), 5);
        char *text = read_file(said);
        assert_contains(text, "the kernels do not load");
        assert_contains(text, "and the card has compute capability 8.9");
        free(text);
        free(args);
        free(said);
        free(plan);
    }
}

/* Also where only the samples cannot be written: before the first measurement, not after the
 * last. */
static void no_output(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    const char *folder = temp_dir();
    char *command = xasprintf("mkdir -p '%s/y.samples.json'", folder);
    char *args = xasprintf("--only launch -o '%s/y.json'", folder);
    assert_int_equal(system(command), 0);
    expect_line("context_ms=1", args, "y.samples.json: cannot create");
    expect_line("context_ms=1", "--only launch -o /nowhere/y.json",
                "/nowhere/y.json: cannot create");
    free(args);
    free(command);
}

static void no_driver(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    if (dlopen("libcuda.so.1", RTLD_NOW)) skip_without("machine without an NVIDIA driver");
    const char *stand_in = dir;
    real_time = true;
    dir = "/nowhere";
    expect_line("", "", "no NVIDIA driver: libcuda.so.1");
    expect_line("", "--device-info", "no NVIDIA driver: libcuda.so.1");
    assert_int_equal(run("", "--list >/dev/null"), 0);
    assert_int_equal(run("", "--help >/dev/null"), 0);
    assert_int_equal(run("", "--devcie 0 2>/dev/null"), 2);
    dir = stand_in;
    real_time = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_start),
        cmocka_unit_test(old_driver),
        cmocka_unit_test(no_output),
        cmocka_unit_test(no_driver),
    };
    return cmocka_run_group_tests_name("calibrate where it cannot measure", tests, set_up, NULL);
}
