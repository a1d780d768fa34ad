/* The probes that need more than one process and more than a card: MPS with a daemon of the tests,
 * MIG with instances that the tests' management library names, forwarding over loopback. On the
 * stand-in clients and instances take turns, so what two get together is q / (q + c): the way
 * through the probe is what is tested, not what MPS or MIG do. */
#include "tests/support/standin.h"

#include <sys/stat.h>
#include <unistd.h>

/* A daemon's control program in a folder of its own, before everything else on PATH. */
static void install_daemon(const char *script)
{
    const char *folder = temp_dir();
    char *path = xasprintf("%s/nvidia-cuda-mps-control", folder);
    char *all = xasprintf("%s:%s", folder, getenv("PATH"));
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\n%s\n", script);
    fclose(f);
    assert_int_equal(chmod(path, 0755), 0);
    setenv("PATH", all, 1);
    free(path);
    free(all);
}

static void mps(void **state)
{
    char *path = strdup(getenv("PATH"));
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    struct measured m = measure("context_ms=5", "--only launch,mps");
    if (!strstr(m.said, "not on PATH")) fail_msg("%s", m.said);
    done(&m);

    install_daemon("exit 3");
    m = measure("context_ms=5", "--only launch,mps");
    assert_contains(m.said, "the MPS daemon does not start (status 3)");
    done(&m);

    install_daemon("exit 0"); /* starts, and nobody is attached: the silent fall-back */
    m = measure("context_ms=5", "--only launch,mps");
    assert_contains(m.said, "not measured: a process is not attached to the daemon");
    done(&m);

    install_daemon("[ \"$1\" = -d ] && touch \"$CUDA_MPS_PIPE_DIRECTORY/attached\" || true");
    m = measure("context_ms=5;quantum_us=1200;switch_us=150;sms=40", "--only launch,mps");
    expect(&m, "mps.aggregate_compute_2", 1200.0 / 1350, 0.02, 0);
    expect(&m, "mps.aggregate_memory_2", 1200.0 / 1350, 0.02, 0);
    expect(&m, "mps.aggregate_small_2", 1200.0 / 1350, 0.02, 0);
    expect(&m, "mps.least_memory_2", 0.5 * 1200 / 1350, 0.03, 0);
    /* 1.07 ms of the card and 0.3 ms of the host: at most 1.37 / 1.07 less the switch of each */
    assert_true(measured_value(&m, "mps.aggregate_gap_300us_2") > 1.05);
    assert_true(measured_value(&m, "mps.aggregate_gap_300us_2") < 1.37 / 1.07);
    assert_contains(m.said, "aggregate_compute_4    not measured: not with --quick");
    expect(&m, "mps.cap_25", 0.25, 0.02,
           0); /* 320 blocks on 10, 20, 30 of 40 SMs: 32, 16, 11 rounds */
    expect(&m, "mps.cap_25_sms", 10, 0, 0);
    assert_contains(m.said, "launch_ns              not measured: within the noise");
    expect(&m, "mps.cap_50", 0.5, 0.02, 0);
    expect(&m, "mps.cap_75", 8.0 / 11, 0.02, 0);
    done(&m);

    effort = "";
    m = measure("context_ms=5;quantum_us=1200;switch_us=150;sms=40", "--only launch,mps");
    effort = "--quick";
    for (int n = 2; n <= 8; n *= 2) {
        char *all = xasprintf("mps.aggregate_small_%d", n),
             *one = xasprintf("mps.least_small_%d", n);
        expect(&m, all, 1200.0 / 1350, 0.02, 0);
        expect(&m, one, 1200.0 / 1350 / n, 0.03, 0);
        free(all);
        free(one);
    }
    expect(&m, "mps.aggregate_compute_8", 1200.0 / 1350, 0.02, 0);
    done(&m);

    /* every kind beside every kind gets its turns; what is planted meets one cell alone */
    m = measure("context_ms=5;quantum_us=1200;switch_us=150;sms=40;beside_compute=1.6",
                "--only launch,mps");
    for (size_t a = 0; a < 5; a++)
        for (size_t b = 0; b < 5; b++) {
            static const char *const kind[] = { "compute", "memory", "cache", "small", "copy" };
            const double turns = 0.5 * 1200 / 1350;
            char *key = xasprintf("mps.%s_beside_%s", kind[a], kind[b]);
            const bool hurt = a == 1 && (b == 0 || b == 3); /* small is of compute's kernels */
            expect(&m, key, hurt ? turns / 1.6 : turns, 0.03, 0);
            free(key);
        }
    done(&m);
    setenv("PATH", path, 1);
    free(path);
}

/* Whoever is interrupted leaves no daemon: the guard ends it when the pipe to it closes. */
static void interrupted(void **state)
{
    char *path = strdup(getenv("PATH")), *ended = xasprintf("%s/ended", temp_dir());
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    char *script =
        xasprintf("if [ \"$1\" = -d ]; then touch \"$CUDA_MPS_PIPE_DIRECTORY/attached\";\n"
                  "else read line; echo \"$line\" >'%s'; fi",
                  ended);
    install_daemon(script);
    char *command =
        xasprintf("timeout -s INT 3 env GPUSIM_STANDIN_STATE='%s/state' LD_LIBRARY_PATH='%s' "
                  "GPUSIM_STANDIN=context_ms=5 '%s' --quick --only mps >/dev/null 2>&1",
                  temp_dir(), dir, getenv("GPUSIM_CALIBRATE"));
    const int st = system(command);
    assert_int_equal(WIFEXITED(st) ? WEXITSTATUS(st) : -1, 124);
    for (int i = 0; i < 100 && access(ended, F_OK) != 0; i++) usleep(50000);
    usleep(50000);
    char *text = read_file(ended);
    assert_string_equal(text, "quit\n");
    free(text);
    free(command);
    free(script);
    free(ended);
    setenv("PATH", path, 1);
    free(path);
}

static void mig(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    struct measured m = measure("context_ms=5", "--only launch,mig");
    assert_contains(m.said, "repartition_s          not measured: it would change the card");
    /* 5 of all together and 12 of each of 7: one line */
    assert_contains(m.said,
                    "power_loss             not measured: MIG mode is off (so are the next 88, to "
                    "instance_6_launch_us)\n");
    done(&m);
    m = measure("context_ms=5;mig=-1", "--only launch,mig");
    assert_contains(m.said, "MIG mode is off");
    done(&m);
    m = measure("context_ms=5;mig=1", "--only launch,mig");
    assert_contains(m.said, "1 instances are there, two are needed");
    done(&m);
    const double half = 0.5 * 1200 / 1350;
    m = measure("context_ms=5;mig=2;quantum_us=1200;switch_us=150;h2d_GBps=0.4",
                "--only launch,mig");
    expect(&m, "mig.kept_compute", half, 0.02, 0);
    expect(&m, "mig.kept_copy", half, 0.05, 0);
    /* 0.4 GB/s of a bus of 4, as one queue does it, less what the switches take */
    expect(&m, "mig.pcie_efficiency", 0.1 * 1200 / 1350, 0.05, 0);
    expect(&m, "mig.instance_0_sms", 40, 0, 0);
    expect(&m, "mig.instance_1_bytes", 16.0 * (1 << 30), 0, 0);
    expect(&m, "mig.instance_1_mem_Bps", 250e9, 0.01, 0);
    expect(&m, "mig.instance_0_l2_Bps", 1000e9, 0.01, 0);
    expect(&m, "mig.instance_1_gemm_fp16_flops", 56e12, 0.01, 0);
    expect(&m, "mig.instance_0_gemm_fp64_flops", 0.25e12, 0.01, 0);
    expect(&m, "mig.instance_1_gemm_fp32_flops", 7e12, 0.01, 0);
    expect(&m, "mig.instance_0_gemm_tf32_flops", 28e12, 0.01, 0);
    expect(&m, "mig.instance_1_gemm_bf16_flops", 55e12, 0.01, 0);
    expect(&m, "mig.instance_0_gemm_int8_ops", 110e12, 0.01, 0);
    assert_contains(
        m.said, "instance_1_gemm_fp8_flops not measured: inside it: not measured: cuBLASLt has no");
    expect(&m, "mig.instance_0_launch_us", 2.5, 0, 0.05);
    assert_contains(m.said, "instance_2_sms         not measured: there are 2 instances");
    expect(&m, "mig.power_loss", 1 - half, 0.02, 0);
    done(&m);
}

static void remote(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    real_time = true; /* what sockets take is the figure */
    struct measured m = measure("context_ms=5", "--only launch,remote");
    real_time = false;
    const double sync = measured_value(&m, "remote.sync_us"),
                 async = measured_value(&m, "remote.async_us");
    assert_true(sync > 1 && sync < 5000);                  /* two messages through the kernel */
    assert_true(!(async >= sync));                         /* half of one, or lost in the noise */
    assert_true(measured_value(&m, "remote.Bps") < 2.1e9); /* the planted bus: 2 GB/s */
    assert_true(measured_value(&m, "remote.Bps") > 1e7);
    done(&m);
}

/* Requests that take their time on the way, cards of slow and quick calls, and the bus: on the
 * clock that does not wait sockets take none, so exactly that comes back, whatever the same
 * calls take natively. */
static void planted_network(void **state)
{
    static const struct {
        const char *delay_us, *plan;
        double us, Bps;
    } c[] = { { "400", "context_ms=5;h2d_GBps=0.2", 400, 0.2e9 },
              { "7", "context_ms=5;h2d_GBps=12;launch_us=9;sync_us=30;empty_us=3", 7, 12e9 } };
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    char *library = xasprintf("%s/libnetwork.so:", dir);
    preload_first = library;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        setenv("GPUSIM_NETWORK_DELAY_US", c[i].delay_us, 1);
        struct measured m = measure(c[i].plan, "--only launch,remote");
        expect(&m, "remote.sync_us", c[i].us, 0.001, 0.1);
        expect(&m, "remote.async_us", c[i].us, 0.001, 0.1);
        expect(&m, "remote.Bps", c[i].Bps, 0.015, 0);
        done(&m);
    }
    preload_first = "";
    unsetenv("GPUSIM_NETWORK_DELAY_US");
    free(library);
}

static void power(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    struct measured m = measure("context_ms=5;power_W=83", "--only power");
    expect(&m, "power.idle_W", 83, 0, 0.01);
    expect(&m, "power.context_W", 83, 0, 0.01);
    expect(&m, "power.busy_W", 83, 0, 0.01);
    done(&m);
    m = measure("context_ms=5;power_W=83;busy_W=277;memory_W=215", "--only power");
    expect(&m, "power.idle_W", 83, 0, 0.01);
    expect(&m, "power.context_W", 83, 0, 0.01);
    expect(&m, "power.busy_W", 277, 0, 0.01);
    done(&m);
    m = measure("context_ms=5;power_W=83;busy_W=277;memory_W=291;mem_GBps=4000;gemm_fp16_T=0",
                "--only power");
    expect(&m, "power.busy_W", 291, 0, 0.01);
    done(&m);
    m = measure("context_ms=5;busy_W=331", "--only power"); /* the cap is 300 W */
    assert_contains(m.said, "busy_W                 implausible: 331 W is above the power cap and");
    done(&m);
    m = measure("context_ms=5;gemm_fp16_T=0;gemm_fp32_T=0", "--only power");
    assert_contains(m.said, "busy_W                 not measured: cuBLASLt has no such product");
    done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mps),    cmocka_unit_test(interrupted),     cmocka_unit_test(mig),
        cmocka_unit_test(remote), cmocka_unit_test(planted_network), cmocka_unit_test(power),
    };
    return cmocka_run_group_tests_name("calibrate with further processes", tests, set_up, NULL);
}
