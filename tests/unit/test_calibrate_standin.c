/* calibrate, whole, on cards that are not there (tests/standin): the planted figures come back
 * within the intervals that the profile states. On the stand-in's virtual clock only planted
 * times pass, and 25 ns for each reading of the clock, which is in the interval of what is
 * measured by the host's clock. */
#include "model/profile.h"
#include "tests/support/standin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* The profile holds them too, as measured, and gpusim's reader has nothing to say. */
static void expect_profile(const struct measured *m, const char *gpu)
{
    struct arena *a = arena_create();
    struct gpu_profile p;
    struct diag d;
    diag_init(&d);
    profile_read(&p, a, &m->profile, &d);
    if (d.count) fail_msg("%s: %s", d.problem[0].where, d.problem[0].msg);
    assert_string_equal(p.gpu, gpu);
    assert_int_equal(p.param[PROFILE_base_launch_us].provenance, PROV_MEASURED);
    diag_fini(&d);
    arena_destroy(a);
}

static const char base[] = "--only context,launch,graph,alloc,triad,l2,copy,gemm,width";

static void first_card(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    struct measured m = measure("name=NVIDIA L4;sms=58;primary_more_ms=11", base);
    expect(&m, "base.context_primary_ms", 71, 0, 0);
    expect(&m, "base.context_primary_bytes", 300 << 20, 0, 0);
    expect(&m, "base.launch_us", 2.5, 0, 0);
    /* sync counts from the end of the work, which begins with the call of the launch */
    expect(&m, "base.launch_sync_us", 1.5 + 4, 0, 0);
    expect(&m, "base.launch_rate", 1 / 2.5e-6, 0, 0);
    expect(&m, "base.graph_node_us", 1.1, 0.01, 0.01);
    expect(&m, "base.alloc_us", 40, 0, 0);
    expect(&m, "base.context_ms", 60, 0, 0);
    expect(&m, "base.context_bytes", 300 << 20, 0, 0);
    expect(&m, "base.mem_Bps", 250e9, 0.001, 0);
    expect(&m, "base.l2_Bps", 1000e9, 0.001, 0);
    expect(&m, "base.h2d_Bps", 2e9, 0.002, 0);
    expect(&m, "base.d2h_Bps", 2.5e9, 0.002, 0);
    expect(&m, "base.h2d_pageable_Bps", 0.8e9, 0.002, 0);
    expect(&m, "base.d2h_pageable_Bps", 0.8e9, 0.002, 0);
    expect(&m, "base.gemm_fp64_flops", 0.25e12, 0.002, 0);
    expect(&m, "base.gemm_fp16_flops", 56e12, 0.002, 0);
    expect(&m, "base.gemm_int8_ops", 110e12, 0.002, 0);
    expect(&m, "base.gemm_1024_bf16_flops", 55e12, 0.005, 0);
    expect_profile(&m, "l4");
    assert_contains(m.said, "gemm_1024_fp8_flops    not measured: cuBLASLt has no such product");
    assert_contains(m.said, "bounds      passed");
    done(&m);
}

/* Faster in some things, slower in others; its int8 is above what the sheet of a T4 allows. */
static void second_card(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    struct measured m = measure("name=Tesla T4;sms=40;launch_us=6;graph_node_us=0.7;alloc_us=95;"
                                "context_ms=35;context_MiB=98;mem_GBps=301;l2_GBps=1270;h2d_GBps=1;"
                                "gemm_fp16_T=41;gemm_bf16_T=0;gemm_int8_T=140;noise=0.02",
                                base);
    expect(&m, "base.launch_us", 6, 0, 0);
    expect(&m, "base.graph_node_us", 0.7, 0.02, 0.01);
    expect(&m, "base.alloc_us", 95, 0, 0);
    expect(&m, "base.context_bytes", 98 << 20, 0, 0);
    expect(&m, "base.mem_Bps", 301e9, 0.004, 0);
    expect(&m, "base.l2_Bps", 1270e9, 0.004, 0);
    expect(&m, "base.h2d_Bps", 1e9, 0.002, 0);
    expect(&m, "base.gemm_fp16_flops", 41e12, 0.005, 0);
    expect_profile(&m, "t4");
    assert_contains(m.said, "above the catalogue's peak");
    assert_contains(m.said, "bounds      failed");
    done(&m);
}

/* Cards that take turns differently. The throughput kept is that of q / (q + c) within the few
 * turns by which a window of 0.2 s may begin or end off; quantum and switch are on the card's timer
 * and exact. */
static void turns(void **state)
{
    static const struct {
        const char *plan;
        double q, c;
    } card[] = { { "quantum_us=1024;switch_us=227", 1024, 227 },
                 { "quantum_us=2100;switch_us=95", 2100, 95 },
                 { "quantum_us=2345;switch_us=451", 2345, 451 } };
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    for (size_t i = 0; i < sizeof card / sizeof *card; i++) {
        struct measured m = measure(card[i].plan, "--only launch,timeslice");
        const double kept = card[i].q / (card[i].q + card[i].c);
        expect(&m, "timeslice.quantum_us", card[i].q, 0.001, 0);
        expect(&m, "timeslice.switch_us", card[i].c, 0.001, 0);
        expect(&m, "timeslice.kept_compute_2", kept, 0, 0);
        expect(&m, "timeslice.kept_memory_2", kept, 0, 0);
        expect(&m, "timeslice.kept_small_2", kept, 0, 0);
        expect(&m, "timeslice.split_long_kernels", 0.5, 0.02, 0);
        expect(&m, "timeslice.switch_full_us", card[i].c, 0.001, 0);
        assert_contains(m.said, "quantum_3_us           not measured: not with --quick");
        assert_contains(m.said, "check efficiency  passed");
        assert_contains(m.said, "check gaps        passed");
        assert_contains(m.said, "check sums        passed");
        assert_contains(m.said, "check rerun       passed");
        done(&m);
    }
}

/* A context whose threads are on every SM takes longer to put away: the efficiency that is
 * measured with such is the one that this switch implies, not the one of a single thread. */
static void large_contexts(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    struct measured m = measure("quantum_us=1024;switch_us=110;switch_full_us=240;context_ms=1",
                                "--only timeslice");
    expect(&m, "timeslice.switch_us", 110, 0.001, 0);
    expect(&m, "timeslice.switch_full_us", 240, 0.001, 0);
    expect(&m, "timeslice.kept_compute_2", 1024.0 / 1264, 0, 0);
    expect(&m, "timeslice.kept_small_2", 1024.0 / 1134, 0, 0);
    assert_contains(m.said, "check efficiency  passed: turns of 1024 us and switches of 240 us");
    done(&m);
}

/* Not --quick: more processes than two. The loss does not grow with them; host gaps are used by
 * the others until the card is busy all the time. */
static void many_processes(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    effort = "";
    struct measured m =
        measure("quantum_us=1024;switch_us=227;context_ms=5", "--only launch,timeslice");
    effort = "--quick";
    static const char *const busy[] = { "compute", "memory", "small" };
    for (size_t i = 0; i < 3; i++)
        for (int n = 2; n <= 8; n++) {
            char *key = xasprintf("timeslice.kept_%s_%d", busy[i], n);
            expect(&m, key, 1024.0 / 1251, 0, 0);
            free(key);
        }
    expect(&m, "timeslice.kept_compute_1", 1, 0, 0); /* the control */
    expect(&m, "timeslice.kept_gap_3ms_1", 1, 0, 0);
    for (int n = 3; n <= 4; n++) {
        char *key = xasprintf("timeslice.quantum_%d_us", n);
        expect(&m, key, 1024, 0.001, 0);
        free(key);
        key = xasprintf("timeslice.switch_%d_us", n);
        expect(&m, key, 227, 0.001, 0);
        free(key);
    }
    /* gaps of 3 ms between kernels of 1 ms: two and three fit beside each other, eight keep the
     * card busy */
    assert_true(measured_value(&m, "timeslice.kept_gap_3ms_2") > 1.8);
    assert_true(measured_value(&m, "timeslice.kept_gap_3ms_3") > 2.6);
    expect(&m, "timeslice.kept_gap_3ms_8", 4 * 1024.0 / 1251, 0.02, 0);
    for (int n = 2; n <= 8; n++) {
        char *key = xasprintf("timeslice.kept_gap_300us_%d", n);
        assert_true(measured_value(&m, key) > 0.9);
        free(key);
    }
    expect(&m, "timeslice.kept_gap_100us_1", 1, 0, 0);
    /* both at once: the card is the bottleneck, the gaps are used */
    assert_true(measured_value(&m, "timeslice.kept_gap_1ms_2") > 1.2);
    assert_contains(m.said, "check sums        passed");
    done(&m);
}

/* Windows in which the card was slowed are left out and counted. Turns are of the card's timer,
 * whatever its clock. */
static void throttled(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    struct measured m = measure("throttle_every=1;context_ms=1", "--only launch,timeslice");
    expect(&m, "timeslice.quantum_us", 1500, 0.001, 0);
    assert_contains(
        m.said, "kept_compute_1         not measured: all 6 samples were taken while the card was "
                "throttled (so is kept_compute_2)");
    assert_contains(m.said,
                    "kept_gap_100us_1       not measured: all 6 samples were taken while the "
                    "card was throttled (so are the next 6, to burst_p99_us)");
    done(&m);
    m = measure("throttle_every=3;context_ms=1", "--only launch,timeslice");
    expect(&m, "timeslice.kept_memory_2", 1500.0 / 1650, 0.015, 0);
    const json_t *p = json_object_get(json_object_get(m.samples.root, "parameters"),
                                      "timeslice.split_long_kernels");
    assert_int_equal(field(p, "n"), 4);
    assert_int_equal(field(p, "discarded"), 2);
    done(&m);
}

/* Three kernels on few and many SMs: what is planted is the part of their time that shrinks with
 * the number of SMs. */
static void widths(void **state)
{
    static const struct {
        const char *plan;
        double memory, cache;
    } card[] = { { "sms=58;read_memory_p=0.31;read_cache_p=0.83;context_ms=1", 0.31, 0.83 },
                 { "sms=13;read_memory_p=0;read_cache_p=1;noise=0.04;context_ms=1", 0, 1 } };
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    for (size_t i = 0; i < 2; i++) {
        struct measured m = measure(card[i].plan, "--only width");
        expect(&m, "base.width_p", 1, 0.002, 0);
        expect(&m, "base.width_memory_p", card[i].memory, 0.002, 0.001);
        expect(&m, "base.width_cache_p", card[i].cache, 0.002, 0);
        const json_t *memory = json_object_get(json_object_get(m.samples.root, "parameters"),
                                               "base.width_memory_curve");
        const json_t *first = json_array_get(json_object_get(memory, "points"), 0);
        const double share = json_number_value(json_array_get(first, 0)), p = card[i].memory;
        assert_true(fabs(json_number_value(json_array_get(first, 1)) - 1 / (1 - p + p / share)) <
                    0.01);
        done(&m);
    }
}

/* A timer that ticks every 50 us would make a turn of each tick. */
static void slow_timer(void **state)
{
    (void)state;
    if (!dir) skip_without("calibrate (nvcc)");
    struct measured m = measure("tick_us=50;context_ms=1", "--only launch,timeslice");
    assert_contains(m.said, "quantum_us             not measured: the card's timer steps by more");
    assert_contains(m.said, "check efficiency  not made");
    done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_card),     cmocka_unit_test(second_card),
        cmocka_unit_test(turns),          cmocka_unit_test(many_processes),
        cmocka_unit_test(large_contexts), cmocka_unit_test(throttled),
        cmocka_unit_test(slow_timer),     cmocka_unit_test(widths),
    };
    return cmocka_run_group_tests_name("calibrate on a stand-in card", tests, set_up, NULL);
}
