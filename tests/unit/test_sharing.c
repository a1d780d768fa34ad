/* What each way of sharing a card promises, asked of the policies themselves: schedulers of vGPUs,
 * limits of MPS servers, what a hook costs, how far a fault reaches. */
#include "tests/support/simulate.h"

#include <math.h>
#include <string.h>

static struct gpu_catalogue *cards;
static struct arena *arena;
static struct gpu_profile shipped;

static int set_up(void **state)
{
    struct err e = { 0 };
    (void)state;
    arena = arena_create();
    profile_defaults(&shipped);
    return gpu_catalogue_load(&cards, NULL, &e);
}

static int tear_down(void **state)
{
    (void)state;
    gpu_catalogue_destroy(cards);
    arena_destroy(arena);
    return 0;
}

static const struct share_ops *policy(const char *kind)
{
    for (size_t i = 0; share_all[i]; i++)
        if (strcmp(share_all[i]->name, kind) == 0) return share_all[i];
    fail_msg("no policy %s", kind);
    return NULL;
}

/* Parameters of `kind` from `text`, bound to the card; lives until the end. */
static void *params(const char *kind, const char *text, const struct card_type *type)
{
    const struct share_ops *s = policy(kind);
    struct json_doc doc = { 0 };
    struct err e = { 0 };
    struct diag d;
    void *p = arena_alloc(arena, s->params_size);
    memset(p, 0, s->params_size);
    diag_init(&d);
    assert_int_equal(json_doc_parse(&doc, "share", text, strlen(text), &e), 0);
    cfg_read(s->fields, s->fields_n, p, arena, &doc, doc.root, "", NULL, 0, &d);
    if (d.count) fail_msg("%s: %s %s", kind, d.problem[0].where, d.problem[0].msg);
    diag_fini(&d);
    json_doc_fini(&doc);
    assert_null(s->bind(p, arena, type));
    return p;
}

static struct card_type card(const char *name)
{
    const struct gpu_spec *gpu = gpu_find(cards, name, NULL);
    assert_non_null(gpu);
    return (struct card_type){ .gpu = gpu, .profile = &shipped };
}

/* Speeds of residents that asked for a quarter of a card each; -1 where the policy refuses one. */
static void ask(const char *kind, const char *text, const struct card_type *type,
                const struct signature *sig, size_t n, double *speed)
{
    const struct share_ops *s = policy(kind);
    const void *p = params(kind, text, type);
    struct demand demand[16] = { { 0 } };
    struct resident_view view[16];
    for (size_t i = 0; i < n; i++) {
        const struct request r = { 250, 1, JOB_NO_BYTES, &sig[i] };
        assert_null(s->demand(p, type, &r, &demand[i]));
        view[i] = (struct resident_view){ .sig = &sig[i], .demand = &demand[i] };
    }
    s->speeds(p, &(struct share_view){ type, view, n }, speed);
}

static struct signature work(double host)
{
    struct signature s = signature_default();
    s.host = host;
    s.compute = 1 - host;
    s.sm_width = s.bw_width = 1;
    return s;
}

static const char *refusal(const char *kind, const char *text, const char *card_name)
{
    const struct card_type type = card(card_name);
    const struct share_ops *s = policy(kind);
    struct json_doc doc = { 0 };
    struct err e = { 0 };
    struct diag d;
    void *p = arena_alloc(arena, s->params_size);
    memset(p, 0, s->params_size);
    diag_init(&d);
    assert_int_equal(json_doc_parse(&doc, "share", text, strlen(text), &e), 0);
    cfg_read(s->fields, s->fields_n, p, arena, &doc, doc.root, "", NULL, 0, &d);
    assert_int_equal(d.count, 0);
    diag_fini(&d);
    json_doc_fini(&doc);
    return s->bind(p, arena, &type);
}

/* Three schedulers of a hypervisor: who may use what others leave. */
static void vgpu_schedulers(void **state)
{
    const struct card_type type = card("a40");
    const struct signature s[] = { work(0), work(0.9), work(0.9) };
    double speed[3];
    (void)state;
#define VGPU(kind) "{\"slots\": 4, \"switch\": \"0 s\", \"vgpu\": \"" kind "\"}"
    ask("timeslice", VGPU("best_effort"), &type, s, 1, speed);
    assert_close(speed[0], 1, 1e-12);
    ask("timeslice", VGPU("best_effort"), &type, s, 3, speed);
    assert_true(speed[0] > 0.8); /* what the others leave */
    ask("timeslice", VGPU("equal_share"), &type, s, 1, speed);
    assert_close(speed[0], 1, 1e-12);
    ask("timeslice", VGPU("equal_share"), &type, s, 3, speed);
    assert_close(speed[0], 1.0 / 3, 1e-12); /* a third of the time, whatever they leave */
    assert_close(speed[1], 1 / (0.9 + 3 * 0.1), 1e-12);
    ask("timeslice", VGPU("fixed_share"), &type, s, 1, speed);
    assert_close(speed[0], 0.25, 1e-12); /* a quarter of an idle card */
    ask("timeslice", VGPU("fixed_share"), &type, s, 3, speed);
    assert_close(speed[0], 0.25, 1e-12);
    ask("timeslice",
        "{\"slots\": 4, \"switch\": \"1 ms\", \"quantum\": \"4 ms\", \"vgpu\": \"fixed_share\", "
        "\"overhead\": 0.1}",
        &type, s, 2, speed);
    assert_close(speed[0], 0.9 * 0.25 / 1.25, 1e-12);
}

/* A vGPU's frame buffer is its own: no more, and no less when the neighbours are greedy. */
static void vgpu_frame_buffers(void **state)
{
    const struct share_ops *s = policy("timeslice");
    struct card_type type = card("a40");
    struct demand d = { 0 };
    struct request r = { 250, 1, JOB_NO_BYTES, NULL };
    (void)state;
    type.context_bytes = 1 << 20;
    const void *p = params("timeslice", VGPU("best_effort"), &type);
    const uint64_t part = type.gpu->usable_bytes / 4;
    assert_null(s->demand(p, &type, &r, &d));
    assert_true(d.alloc_bytes == part && d.limit_bytes == part - type.context_bytes);
    assert_true(d.reserve_bytes == 0);
    r.bytes = part;
    assert_null(s->demand(p, &type, &r, &d)); /* starts, and fails when it allocates */
    assert_true(r.bytes > d.limit_bytes);
    r.slots = 2; /* a larger profile */
    assert_null(s->demand(p, &type, &r, &d));
    assert_true(r.bytes <= d.limit_bytes);
    assert_contains(
        refusal("timeslice", "{\"vgpu\": \"equal_share\", \"memory\": \"reserve\"}", "a40"),
        "vgpu");
#undef VGPU
}

/* What an MPS server takes depends on the card's generation and on CUDA. */
static void mps_clients(void **state)
{
    (void)state;
    assert_null(refusal("mps", "{\"slots\": 48}", "a30"));
    assert_contains(refusal("mps", "{\"slots\": 49}", "a30"), "60 from CUDA 13.1");
    assert_null(refusal("mps", "{\"slots\": 60, \"clients\": 60}", "a30"));
    assert_null(refusal("mps", "{\"slots\": 16}", "k80"));
    assert_contains(refusal("mps", "{\"slots\": 17}", "p100-pcie-16gb"), "fewer clients");
    assert_contains(refusal("mps", "{\"slots\": 4, \"clients\": 20}", "k80"), "at most 16");
    assert_contains(refusal("mps", "{\"slots\": 4, \"clients\": 3}", "a30"), "fewer clients");
}

/* A hook is hidden behind long kernels and shows with short ones, and where the host is the
 * limit. */
static void hooks_hide_behind_kernels(void **state)
{
    const struct card_type type = card("a40");
    struct signature s = work(0);
    double speed;
    (void)state;
    s.launches_per_s = 10000;
#define HOOK "{\"hides\": true, \"launch\": \"2 us\", \"native_launch\": \"3 us\"}"
    ask("intercept", HOOK, &type, &s, 1, &speed); /* length unknown: all of it */
    assert_close(1 / speed, 1.02, 1e-12);
    s.kernel_us = 1e-3;
    ask("intercept", HOOK, &type, &s, 1, &speed);
    assert_close(1 / speed, 1.02, 1e-5);
    s.kernel_us = 5; /* 2 - 5 x (exp(-0.6) - exp(-1)) of 2 us */
    ask("intercept", HOOK, &type, &s, 1, &speed);
    assert_close(1 / speed, 1 + 0.01 * (2 - 5 * (exp(-0.6) - exp(-1))), 1e-12);
    s.kernel_us = 1000;
    ask("intercept", "{\"launch\": \"2 us\"}", &type, &s, 1,
        &speed); /* the default hides nothing */
    assert_close(1 / speed, 1.02, 1e-12);
    ask("intercept", HOOK, &type, &s, 1, &speed);
    assert_true(1 / speed < 1.0001 && speed < 1);
    s.host = 0.5;
    s.compute = 0.5;
    ask("intercept", HOOK, &type, &s, 1, &speed);
    assert_close(1 / speed, 1.01, 1e-3);
#undef HOOK
}

/* 100 allocations a second of 50 us more each: 0.5 %. */
static void allocations_cost(void **state)
{
    const struct card_type type = card("a40");
    struct signature s = work(0);
    double speed;
    (void)state;
    s.allocs_per_s = 100;
    ask("intercept", "{\"alloc\": \"50 us\"}", &type, &s, 1, &speed);
    assert_close(1 / speed, 1.005, 1e-12);
    ask("intercept", "{}", &type, &s, 1, &speed); /* the profile's 18.3 us */
    assert_close(1 / speed, 1.00183, 1e-12);
}

/* A job that its hook holds back leaves the card to others: they gain, and less than it loses. */
static void a_hook_makes_no_work(void **state)
{
    const struct card_type type = card("a40");
    struct signature s[2] = { work(0.2), work(0.4) };
    double before[2], after[2];
    (void)state;
    ask("intercept", "{\"switch\": \"0 s\"}", &type, s, 2, before);
    s[0].launches_per_s = 100000;
    for (int us = 1; us <= 50; us *= 7) {
        char text[80];
        snprintf(text, sizeof text, "{\"switch\": \"0 s\", \"launch\": \"%d us\"}", us);
        ask("intercept", text, &type, s, 2, after);
        const double lost = (before[0] - after[0]) * s[0].compute;
        const double gained = (after[1] - before[1]) * s[1].compute;
        assert_true(gained > 0 && gained < lost);
    }
}

static void how_far_a_fault_reaches(void **state)
{
    static const struct {
        const char *kind, *text, *card;
        enum blast want;
    } cases[] = {
        { "whole", "{}", "t4", BLAST_JOB },
        { "mig", "{}", "a30", BLAST_JOB }, /* an instance has one job */
        { "remote", "{}", "t4", BLAST_JOB },
        { "timeslice", "{}", "t4", BLAST_JOB }, /* sources disagree: a parameter */
        { "timeslice", "{\"fault\": \"card\"}", "t4", BLAST_CARD },
        { "intercept", "{}", "t4", BLAST_JOB },
        { "intercept", "{\"fault\": \"node\"}", "t4", BLAST_NODE },
        { "mps", "{}", "v100-sxm2-16gb", BLAST_CARD },
        { "mps", "{}", "h200-sxm5-141gb", BLAST_CARD },
        { "mps", "{}", "p100-pcie-16gb", BLAST_NODE },
        { "mps", "{}", "k80", BLAST_NODE },
        { "mps", "{\"fault\": \"job\"}", "k80", BLAST_JOB },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct card_type type = card(cases[i].card);
        const struct share_ops *s = policy(cases[i].kind);
        const void *p = params(cases[i].kind, cases[i].text, &type);
        const enum blast got = s->blast ? s->blast(p, &type) : BLAST_JOB;
        if (got != cases[i].want)
            fail_msg("%s %s on %s: %d, expected %d", cases[i].kind, cases[i].text, cases[i].card,
                     (int)got, (int)cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vgpu_schedulers),
        cmocka_unit_test(vgpu_frame_buffers),
        cmocka_unit_test(mps_clients),
        cmocka_unit_test(hooks_hide_behind_kernels),
        cmocka_unit_test(allocations_cost),
        cmocka_unit_test(a_hook_makes_no_work),
        cmocka_unit_test(how_far_a_fault_reaches),
    };
    return cmocka_run_group_tests_name("sharing", tests, set_up, tear_down);
}
