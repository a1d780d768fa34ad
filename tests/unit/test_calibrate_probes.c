/* Every probe on the virtual card: planted figures come back; a card that lies, throttles, returns
 * wrong data or refuses gives a reason and no number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calibrate/probe.h"
#include "model/profile.h"
#include "tests/support/close.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct bench {
    struct fake_config c;
    struct device *dev;
    struct profile_out *out;
};

static struct bench quiet_card(void)
{
    struct bench b = { .dev = NULL };
    fake_config_default(&b.c);
    b.c.noise = 0;
    return b;
}

static void run_rule(struct bench *b, const char *probe, struct stop_rule rule)
{
    b->dev = device_fake_open(&b->c);
    b->out = profile_out_create("fake-2gb");
    const struct probe_ctx ctx = { b->dev, b->out, rule, true, NULL };
    for (size_t i = 0; probe_all[i]; i++)
        if (!probe || strcmp(probe, probe_all[i]->name) == 0) probe_run(probe_all[i], &ctx);
}

static void run(struct bench *b, const char *probe)
{
    run_rule(b, probe, probe_rule(true));
}

static void done(struct bench *b)
{
    uint64_t free_bytes, total;
    b->dev->ops->mem_info(b->dev, &free_bytes, &total, NULL);
    assert_int_equal(free_bytes, total); /* a probe frees what it took, also when it fails */
    b->dev->ops->close(b->dev);
    profile_out_destroy(b->out);
}

/* The parameter is absent with a reason that holds `word`, in the object and in the profile. */
static void assert_absent(const struct bench *b, const char *group, const char *key,
                          const char *word)
{
    char name[64];
    json_t *device = json_object(), *root = profile_out_json(b->out, device);
    const char *why = profile_out_reason(b->out, group, key);
    assert_true(isnan(profile_out_value(b->out, group, key)));
    if (!why || !strstr(why, word)) fail_msg("%s.%s: %s", group, key, why ? why : "no reason");
    assert_null(json_object_get(json_object_get(root, group), key));
    snprintf(name, sizeof name, "%s.%s", group, key);
    assert_non_null(json_object_get(json_object_get(root, "not_measured"), name));
    json_decref(root);
    json_decref(device);
}

static const struct {
    const char *group, *key;
    double value;
} planted[] = {
    { "base", "launch_us", 2.385 },
    { "base", "launch_sync_us", 2.385 + 1.13 + 1.9 },
    { "base", "alloc_us", 3.7 + 2 * 0.47 },
    { "base", "free_us", 5.3 },
    { "base", "alloc_4KiB_us", 3.7 + 0.47 / 256 },
    { "base", "alloc_64MiB_us", 3.7 + 64 * 0.47 },
    { "base", "context_ms", 87.3 },
    { "base", "context_first_launch_ms", 5.9 },
    { "base", "context_total_ms", 131 + 87.3 + 5.9 },
    { "base", "context_bytes", 433e6 },
    { "base", "mem_Bps", 137.7e9 },
    { "base", "h2d_Bps", 23.9e9 },
    /* 12.66 MiB at the rate; launch and wait are in the host's time */
    { "base", "launch_rate", 5000 / (5000 * 2.385e-6 + 1.13e-6 + 1.9e-6) },
    { "base", "l2_Bps", 611e9 },
    { "base", "graph_node_us", 0.83 },
    { "base", "gemm_fp64_flops", 0.31e12 },
    { "base", "gemm_fp32_flops", 0.62e12 },
    { "base", "gemm_tf32_flops", 4.1e12 },
    { "base", "gemm_fp16_flops", 8.7e12 },
    { "base", "gemm_bf16_flops", 8.6e12 },
    { "base", "gemm_int8_ops", 17.3e12 },
    { "base", "gemm_1024_int8_ops", 17.3e12 },
    { "base", "d2h_Bps", 26.1e9 },
    { "power", "idle_W", 43.7 },
    { "power", "context_W", 71.3 },
    { "power", "busy_W", 287.9 },
};

static void planted_figures_come_back(void **state)
{
    struct bench b = quiet_card();
    (void)state;
    run(&b, NULL);
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        const double got = profile_out_value(b.out, planted[i].group, planted[i].key);
        if (!(fabs(got / planted[i].value - 1) < 1e-7))
            fail_msg("%s: %.12g, planted %.12g", planted[i].key, got, planted[i].value);
    }
    /* 2 GiB less a small block: 1 GiB is more than half of what is free */
    assert_non_null(strstr(profile_out_reason(b.out, "base", "alloc_1GiB_us"), "half the free"));
    assert_absent(&b, "base", "gemm_fp8_flops", "no such product");
    assert_absent(&b, "timeslice", "quantum_us", "one process only");
    done(&b);
}

/* 11 SMs: widths 1, 3, 4, 6, 7, 8, 10, 11. The same work on w SMs takes 11 / w times as long. */
static void width_curve(void **state)
{
    static const int widths[] = { 1, 3, 4, 6, 7, 8, 10, 11 };
    struct bench b = quiet_card();
    (void)state;
    run(&b, "width");
    json_t *device = json_object(), *root = profile_out_json(b.out, device);
    json_t *points =
        json_object_get(json_object_get(json_object_get(root, "base"), "width_curve"), "points");
    assert_int_equal(json_array_size(points), 8);
    for (size_t i = 0; i < 8; i++) {
        json_t *p = json_array_get(points, i);
        assert_close(json_number_value(json_array_get(p, 0)), widths[i] / 11.0, 1e-9);
        assert_close(json_number_value(json_array_get(p, 1)), widths[i] / 11.0, 1e-5);
    }
    json_decref(root);
    json_decref(device);
    done(&b);
    b.c.info.sms = 1;
    run(&b, "width");
    assert_absent(&b, "base", "width_curve", "one SM");
    done(&b);
}

/* A T4 does 65.1 TFLOPS in fp16 and 8.14 in fp32; 1.5 % are allowed for rounded clocks. */
static void no_product_above_the_catalogue(void **state)
{
    struct bench b = quiet_card();
    (void)state;
    b.c.gemm_ops[GEMM_FP16] = 66.5e12;
    b.c.gemm_ops[GEMM_FP32] = 8.2e12;
    b.dev = device_fake_open(&b.c);
    b.out = profile_out_create("t4");
    const struct probe_ctx ctx = { b.dev, b.out, probe_rule(true), true, NULL };
    probe_run(probe_find("gemm"), &ctx);
    assert_absent(&b, "base", "gemm_fp16_flops", "the catalogue's peak, 6.51e+13");
    assert_close(profile_out_value(b.out, "base", "gemm_fp32_flops"), 8.2e12, 1e-7);
    done(&b);
}

/* A T4's memory moves 320 GB/s by its sheet, which bounds it where the driver does not tell the
 * memory's clock. */
static void no_memory_above_the_catalogue(void **state)
{
    struct bench b = quiet_card();
    (void)state;
    b.c.info.mem_max_Hz = NAN;
    b.c.mem_Bps = 1.02 * 320e9;
    b.dev = device_fake_open(&b.c);
    b.out = profile_out_create("t4");
    const struct probe_ctx ctx = { b.dev, b.out, probe_rule(true), true, NULL };
    probe_run(probe_find("triad"), &ctx);
    assert_absent(&b, "base", "mem_Bps", "the catalogue's peak");
    done(&b);
}

static void slow_cache_is_implausible(void **state)
{
    struct bench b = quiet_card();
    (void)state;
    b.c.l2_Bps = 100e9; /* the memory behind it: 137.7 */
    run(&b, NULL);
    assert_absent(&b, "base", "l2_Bps", "memory behind it");
    done(&b);
    b.c.info.l2_bytes = 0;
    run(&b, "l2");
    assert_absent(&b, "base", "l2_Bps", "not known");
    done(&b);
}

/* Noise is uniform in [0, 4 %], so the median is 2 % above the planted time. */
static void planted_figures_come_back_through_noise(void **state)
{
    struct bench b = quiet_card();
    (void)state;
    b.c.noise = 0.04;
    run(&b, NULL);
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        const double got = profile_out_value(b.out, planted[i].group, planted[i].key);
        if (!(fabs(got / planted[i].value - 1) < 0.035))
            fail_msg("%s: %.12g, planted %.12g", planted[i].key, got, planted[i].value);
    }
    done(&b);
}

static void other_card(void **state)
{
    struct bench b = quiet_card();
    (void)state;
    b.c.launch_us = 4.31;
    b.c.mem_Bps = 91.3e9;
    b.c.context.bytes = 98e6;
    run(&b, NULL);
    assert_close(profile_out_value(b.out, "base", "launch_us"), 4.31, 1e-9);
    assert_close(profile_out_value(b.out, "base", "mem_Bps"), 91.3e9, 1e-7);
    assert_close(profile_out_value(b.out, "base", "context_bytes"), 98e6, 1e-9);
    done(&b);
}

static void faster_than_physics_is_implausible(void **state)
{
    struct bench b = quiet_card();
    (void)state;
    b.c.mem_Bps = 158e9; /* 2 x 1.215 GHz x 64 B = 155.52 GB/s, and 1 % for rounding */
    b.c.h2d_Bps = 33e9;  /* the slot: 31.5 GB/s */
    run(&b, NULL);
    assert_absent(&b, "base", "mem_Bps", "theoretical");
    assert_absent(&b, "base", "h2d_Bps", "PCIe");
    assert_true(!isnan(profile_out_value(b.out, "base", "d2h_Bps")));
    done(&b);

    b.c.info.coherent_link = true; /* not behind PCIe */
    b.c.info.mem_max_Hz = NAN;     /* no bound known */
    run(&b, NULL);
    assert_close(profile_out_value(b.out, "base", "h2d_Bps"), 33e9, 1e-7);
    assert_close(profile_out_value(b.out, "base", "mem_Bps"), 158e9, 1e-7);
    done(&b);
}

static void nonsense_is_implausible(void **state)
{
    struct bench b = quiet_card();
    (void)state;
    b.c.launch_us = 5; /* a wait shorter than its launch */
    b.c.empty_us = 0;
    b.c.sync_us = -1;
    b.c.context.bytes = -3e6; /* memory appeared */
    b.c.context_W = 320;      /* the cap is 310 W */
    run(&b, NULL);
    assert_absent(&b, "base", "launch_sync_us", "launch alone");
    assert_absent(&b, "base", "context_bytes", "outside");
    assert_absent(&b, "power", "context_W", "power cap");
    done(&b);

    b = quiet_card();
    b.c.launch_us = 7000;
    b.c.context.bytes = 3e9; /* more than the card has */
    run(&b, NULL);
    assert_absent(&b, "base", "launch_us", "outside");
    assert_absent(&b, "base", "context_bytes", "the card's memory");
    done(&b);
}

static void wrong_results_are_no_measurement(void **state)
{
    struct bench b = quiet_card();
    (void)state;
    b.c.corrupt_triad = true;
    b.c.corrupt_copy = true;
    run(&b, NULL);
    assert_absent(&b, "base", "mem_Bps", "wrong in 3 of");
    assert_absent(&b, "base", "h2d_Bps", "not what was sent");
    assert_absent(&b, "base", "d2h_Bps", "not what was sent");
    done(&b);
}

static void throttled_samples_are_left_out(void **state)
{
    struct bench b = quiet_card();
    (void)state;
    b.c.throttle_every = 1;
    run(&b, "triad");
    assert_absent(&b, "base", "mem_Bps", "throttled");
    done(&b);

    static const char *const others[][2] = { { "l2", "l2_Bps" },
                                             { "gemm", "gemm_fp16_flops" },
                                             { "width", "width_curve" } };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        run(&b, others[i][0]);
        assert_absent(&b, "base", others[i][1], "throttled");
        done(&b);
    }

    b.c.throttle_every = 3;
    run(&b, "triad");
    assert_close(profile_out_value(b.out, "base", "mem_Bps"), 137.7e9, 1e-7);
    json_t *s = profile_out_samples_json(b.out);
    json_t *p = json_object_get(json_object_get(s, "parameters"), "base.mem_Bps");
    assert_int_equal(json_integer_value(json_object_get(p, "discarded")), 4); /* 10 kept of 14 */
    assert_int_equal(json_array_size(json_object_get(p, "samples")), 10);
    assert_non_null(strstr(json_string_value(json_object_get(p, "method")), "4 throttled"));
    json_decref(s);
    done(&b);
}

static void missed_target_is_said(void **state)
{
    const struct stop_rule few = { .relative = 0.001, .min_n = 6, .max_n = 9, .seconds = 100 };
    struct bench b = quiet_card();
    (void)state;
    b.c.noise = 0.7;
    run_rule(&b, "launch", few);
    json_t *device = json_object(), *root = profile_out_json(b.out, device);
    json_t *p = json_object_get(json_object_get(root, "base"), "launch_us");
    assert_int_equal(json_integer_value(json_object_get(p, "n")), 9);
    assert_non_null(strstr(json_string_value(json_object_get(p, "method")), "missed"));
    json_decref(root);
    json_decref(device);
    done(&b);
}

static void power_needs_the_board_to_itself(void **state)
{
    struct bench b = quiet_card();
    (void)state;
    b.c.info.other_processes = 2;
    run(&b, "power");
    assert_absent(&b, "power", "idle_W", "other processes");
    done(&b);
    b.c.info.other_processes = -1;
    run(&b, "power");
    assert_absent(&b, "power", "idle_W", "not known");
    done(&b);
    b.c.info.mig_instance = true;
    run(&b, "power");
    assert_absent(&b, "power", "context_W", "MIG");
    done(&b);
    b = quiet_card();
    b.c.info.virt = VIRT_VGPU;
    run(&b, "power");
    assert_absent(&b, "power", "context_W", "virtual card");
    done(&b);
    b = quiet_card();
    b.c.idle_W = NAN;
    run(&b, "power");
    assert_absent(&b, "power", "idle_W", "sensor");
    done(&b);
}

static void a_card_that_refuses(void **state)
{
    struct bench b = quiet_card();
    (void)state;
    b.c.fail_context = true;
    run(&b, NULL);
    for (size_t i = 0; probe_all[i]; i++)
        for (size_t k = 0; k < probe_all[i]->keys_n; k++) {
            const struct param_def *d = &probe_all[i]->keys[k];
            if (strcmp(d->key, "idle_W") == 0) continue;
            const char *why = profile_out_reason(b.out, d->group, d->key);
            assert_non_null(why);
            if (!strstr(why, "exclusive process") && !strstr(why, "no setting of it is ever"))
                fail_msg("%s: %s", d->key, why);
        }
    assert_int_equal(profile_out_measured(b.out), 1); /* idle_W needs no context */
    done(&b);

    b = quiet_card();
    b.c.fail_alloc_above_MiB = 40;
    run(&b, NULL);
    assert_absent(&b, "base", "mem_Bps", "out of memory");
    assert_non_null(strstr(profile_out_reason(b.out, "base", "alloc_64MiB_us"), "out of memory"));
    assert_close(profile_out_value(b.out, "base", "alloc_us"), 3.7 + 2 * 0.47, 1e-7);
    done(&b);

    b = quiet_card();
    b.c.info.l2_bytes = 200u << 20; /* three arrays of 800 MiB on 2 GiB */
    run(&b, "triad");
    assert_absent(&b, "base", "mem_Bps", "do not fit");
    done(&b);
}

/* What calibrate writes, gpusim reads: same values, provenance measured, no complaint. */
static void profile_is_read_back(void **state)
{
    struct bench b = quiet_card();
    struct strbuf text = { 0 };
    struct json_doc doc;
    struct gpu_profile p;
    struct diag d;
    struct device_sensors s;
    struct arena *a = arena_create();
    (void)state;

    b.c.h2d_Bps = 33e9; /* so that something is under "not_measured" */
    run(&b, NULL);
    b.dev->ops->sensors(b.dev, &s);
    json_t *device = device_json(&b.dev->info, &s, &s), *root = profile_out_json(b.out, device);
    json_write(root, &text);
    assert_int_equal(json_doc_parse(&doc, "profile.json", text.s, text.len, NULL), 0);
    diag_init(&d);
    profile_read(&p, a, &doc, &d);
    if (d.count)
        fail_msg("%zu problems, first: %s: %s", d.count, d.problem[0].where, d.problem[0].msg);
    assert_string_equal(p.gpu, "fake-2gb");
    assert_close(p.param[PROFILE_base_launch_us].value, 2.385, 1e-9);
    assert_int_equal(p.param[PROFILE_base_launch_us].provenance, PROV_MEASURED);
    assert_close(p.param[PROFILE_base_mem_Bps].value, 137.7e9, 1e-7);
    assert_close(p.param[PROFILE_power_context_W].value, 71.3, 1e-9);
    assert_true(p.param[PROFILE_base_h2d_Bps].provenance != PROV_MEASURED);
    assert_true(p.param[PROFILE_timeslice_quantum_us].provenance != PROV_MEASURED);
    diag_fini(&d);
    json_doc_fini(&doc);
    json_decref(root);
    json_decref(device);
    strbuf_fini(&text);
    arena_destroy(a);
    done(&b);
}

static void every_key_is_a_parameter(void **state)
{
    (void)state;
    for (size_t i = 0; probe_all[i]; i++) {
        assert_ptr_equal(probe_find(probe_all[i]->name), probe_all[i]); /* names are unique */
        for (size_t k = 0; k < probe_all[i]->keys_n; k++) {
            const struct param_def *d = &probe_all[i]->keys[k];
            if (!d->detail && profile_param_find(d->group, d->key) < 0 &&
                strcmp(d->key, "width_curve") != 0)
                fail_msg("%s.%s", d->group, d->key);
        }
    }
    assert_null(probe_find("no such probe"));
}

static void catalogue_keys(void **state)
{
    static const struct {
        const char *name, *key;
        bool shipped;
    } known[] = {
        { "NVIDIA H200", "h200-sxm5-141gb", true },
        { "NVIDIA H100 80GB HBM3", "h100-sxm5-80gb", true },
        { "NVIDIA H100 PCIe", "h100-pcie-80gb", true },
        { "NVIDIA A100-SXM4-40GB", "a100-sxm4-40gb", true },
        { "NVIDIA A100 80GB PCIe", "a100-pcie-80gb", true },
        { "NVIDIA L40S", "l40s", true },
        { "NVIDIA L4", "l4", true },
        { "NVIDIA A30", "a30", true },
        { "Tesla T4", "t4", true },
        { "Tesla V100-SXM2-16GB", "v100-sxm2-16gb", true },
        { "NVIDIA GeForce RTX 4090", "rtx4090", true },
        /* a slice or a virtual card never goes by the name of a whole one */
        { "NVIDIA H200 MIG 1g.18gb", "h200-mig-1g.18gb", false },
        { "NVIDIA A100-SXM4-40GB MIG 3g.20gb", "a100-sxm4-40gb-mig-3g.20gb", false },
        { "GRID A100-10C", "grid-a100-10c", false },
        { "Odd  (name)!", "odd-name", false },
    };
    const char *data = getenv("GPUSIM_DATA");
    char key[64], path[300];
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_string_equal(device_gpu_key(key, sizeof key, known[i].name), known[i].key);
        if (!data || !known[i].shipped) continue;
        snprintf(path, sizeof path, "%s/gpus/%s.json", data, key);
        FILE *f = fopen(path, "r");
        if (!f)
            fail_msg("%s: not in the catalogue", path);
        else
            fclose(f);
    }
}

static bool described(const struct device_info *i, const char *word)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    device_describe(i, f);
    fclose(f);
    const bool yes = strstr(text, word) != NULL;
    free(text);
    return yes;
}

static void logical_device_is_told_from_the_board(void **state)
{
    struct fake_config c;
    (void)state;
    fake_config_default(&c);
    assert_false(described(&c.info, "note:"));
    assert_true(described(&c.info, "9.0"));
    c.info.memory_bytes /= 2;
    assert_true(described(&c.info, "a memory quota is in force"));
    c.info.mig_instance = true;
    assert_true(described(&c.info, "this is a MIG instance: 11 SMs and 1.0 GiB"));
    assert_false(described(&c.info, "quota")); /* a slice is smaller by right */
    c.info.virt = VIRT_VGPU;
    c.info.mps = TRI_YES;
    c.info.other_processes = 3;
    c.info.nvml = false;
    snprintf(c.info.preload, sizeof c.info.preload, "/usr/lib/libmeter.so");
    assert_true(described(&c.info, "vGPU") && described(&c.info, "MPS server"));
    assert_true(described(&c.info, "3 other processes") && described(&c.info, "libmeter.so"));
    assert_true(described(&c.info, "NVML does not answer"));
}

/* The program itself. Device 1023 does not exist with or without a driver. */
static int program(const char *args, int *lines)
{
    char command[600], buf[300];
    const char *bin = getenv("GPUSIM_CALIBRATE");
    *lines = 0;
    snprintf(command, sizeof command, "'%s' %s 2>&1 >/dev/null", bin, args);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    while (fgets(buf, sizeof buf, f)) ++*lines;
    const int st = pclose(f);
    return WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}

static void program_explains_itself(void **state)
{
    static const struct {
        const char *args;
        int status, most_lines;
    } known[] = {
        { "--list", 0, 0 },
        { "--help", 0, 0 },
        { "--version", 0, 0 },
        { "--manual", 0, 0 },
        { "--device 1023", 4, 1 },
        { "--device 1023 --device-info", 4, 1 },
        { "--device 1023 --only triad,copy --quick -o /nonexistent/x.json", 4, 1 },
        { "--only triads", 2, 2 },
        { "--only ''", 2, 2 },
        { "--device -1", 2, 1 },
        { "--gpu ''", 2, 1 },
        { "--gpu ../t4", 2, 1 },
        { "--gpu T4", 2, 1 },
        { "--device 1x", 2, 1 },
        { "--quik", 2, 2 },
        { "-o", 2, 1 },
        { "operand", 2, 1 },
    };
    (void)state;
    if (!getenv("GPUSIM_CALIBRATE")) {
        print_message("skipped: calibrate was not built (no nvcc)\n");
        skip();
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int lines;
        const int st = program(known[i].args, &lines);
        if (st != known[i].status || lines > known[i].most_lines || (st != 0 && lines == 0))
            fail_msg("calibrate %s: status %d, %d lines", known[i].args, st, lines);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_figures_come_back),
        cmocka_unit_test(planted_figures_come_back_through_noise),
        cmocka_unit_test(other_card),
        cmocka_unit_test(width_curve),
        cmocka_unit_test(no_product_above_the_catalogue),
        cmocka_unit_test(no_memory_above_the_catalogue),
        cmocka_unit_test(slow_cache_is_implausible),
        cmocka_unit_test(faster_than_physics_is_implausible),
        cmocka_unit_test(nonsense_is_implausible),
        cmocka_unit_test(wrong_results_are_no_measurement),
        cmocka_unit_test(throttled_samples_are_left_out),
        cmocka_unit_test(missed_target_is_said),
        cmocka_unit_test(power_needs_the_board_to_itself),
        cmocka_unit_test(a_card_that_refuses),
        cmocka_unit_test(profile_is_read_back),
        cmocka_unit_test(every_key_is_a_parameter),
        cmocka_unit_test(catalogue_keys),
        cmocka_unit_test(logical_device_is_told_from_the_board),
        cmocka_unit_test(program_explains_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
