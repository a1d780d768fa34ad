/* Work signatures: keys, defaults, every refusal. */
#include "model/signature.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

struct loaded {
    struct arena *a;
    struct json_doc doc;
    struct signature s;
    struct diag d;
};

static void load(struct loaded *l, const char *text)
{
    struct err e = { 0 };
    *l = (struct loaded){ .a = arena_create() };
    diag_init(&l->d);
    if (json_doc_parse(&l->doc, "s.json", text, strlen(text), &e) < 0) fail_msg("%s", e.msg);
    signature_read(&l->s, l->a, &l->doc, json_object_get(l->doc.root, "x"), "/x", &l->d);
}

static void unload(struct loaded *l)
{
    diag_fini(&l->d);
    json_doc_fini(&l->doc);
    arena_destroy(l->a);
}

static void all_keys(void **state)
{
    struct loaded l;
    (void)state;
    load(
        &l,
        "{\"x\": {\"host\": 0.1, \"compute\": 0.65, \"memory\": 0.25, \"sm_width\": 0.9, \"bw_width\": 0.8,"
        " \"launches_per_s\": 3000, \"allocs_per_s\": 40, \"graphs\": 0.75, \"syncs_per_s\": 12.5, \"kernel_us\": 231.5, \"pcie\": \"1.5 GB/s\","
        " \"flops_per_s\": 1.1e14, \"footprint\": \"14 GiB\", \"mem_grow\": \"60 s\","
        " \"precision\": \"bf16\", \"source\": \"a paper\"}}");
    if (l.d.count) fail_msg("%s: %s", l.d.problem[0].where, l.d.problem[0].msg);
    assert_close(l.s.host, 0.1, 0);
    assert_close(l.s.compute, 0.65, 0);
    assert_close(l.s.memory, 0.25, 0);
    assert_close(l.s.sm_width, 0.9, 0);
    assert_close(l.s.bw_width, 0.8, 0);
    assert_close(l.s.launches_per_s, 3000, 0);
    assert_close(l.s.syncs_per_s, 12.5, 0);
    assert_close(l.s.allocs_per_s, 40, 0);
    assert_close(l.s.graphs, 0.75, 0);
    assert_close(l.s.kernel_us, 231.5, 0);
    assert_close(l.s.pcie_Bps, 1.5e9, 0);
    assert_close(l.s.flops_per_s, 1.1e14, 0);
    assert_true(l.s.footprint_bytes == UINT64_C(14) << 30);
    assert_true(l.s.mem_grow == 60 * SIM_SECOND);
    assert_int_equal(l.s.precision, PREC_bf16);
    assert_string_equal(l.s.source, "a paper");
    unload(&l);
}

static void is_default(const struct signature *s)
{
    const struct signature d = signature_default();
    assert_close(s->host, d.host, 0);
    assert_close(s->compute, d.compute, 0);
    assert_close(s->memory, d.memory, 0);
    assert_true(isnan(s->sm_width) && isnan(d.sm_width));
    assert_true(isnan(s->bw_width) && isnan(d.bw_width));
    assert_close(s->launches_per_s, 0, 0);
    assert_close(s->syncs_per_s, 0, 0);
    assert_true(isnan(s->kernel_us) && isnan(s->flops_per_s));
    assert_true(s->footprint_bytes == CFG_NO_BYTES && d.footprint_bytes == CFG_NO_BYTES);
    assert_true(s->mem_grow == 0);
    assert_int_equal(s->precision, d.precision);
    assert_null(s->source);
}

static void nothing_said(void **state)
{
    struct loaded l;
    (void)state;
    load(&l, "{\"x\": {}}");
    assert_int_equal(l.d.count, 0);
    is_default(&l.s);
    unload(&l);
    load(&l, "{}");
    assert_int_equal(l.d.count, 0);
    is_default(&l.s);
    unload(&l);
}

static void every_mistake(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "{\"x\": {\"host\": 0.1, \"compute\": 0.65, \"memory\": 0.26}}",
          "must be 1, found 0.1 + 0.65 + 0.26 = 1.01" },
        { "{\"x\": {\"host\": 0.3}}", "must be 1, found 0.3 + 1 + 0 = 1.3" },
        { "{\"x\": {\"host\": 0.5, \"compute\": 0.499998}}", "must be 1" },
        { "{\"x\": {\"host\": -0.1, \"compute\": 1.1}}", "/x/host" },
        { "{\"x\": {\"sm_width\": 0}}", "above 0 and at most 1, found 0" },
        { "{\"x\": {\"sm_width\": 1.01}}", "/x/sm_width" },
        { "{\"x\": {\"bw_width\": 0}}", "above 0 and at most 1" },
        { "{\"x\": {\"kernel_us\": 0}}", "kernel_us is above 0" },
        { "{\"x\": {\"kernel_us\": 1301, \"launches_per_s\": 100000}}",
          "130.1 kernels at once; a card runs at most 128" },
        { "{\"x\": {\"flops_per_s\": 0}}", "leave it out" },
        { "{\"x\": {\"launches_per_s\": -1}}", "/x/launches_per_s" },
        { "{\"x\": {\"pcie\": 5}}", "/x/pcie" },
        { "{\"x\": {\"pcie\": \"5 GB\"}}", "/x/pcie" },
        { "{\"x\": {\"footprint\": \"14\"}}", "/x/footprint" },
        { "{\"x\": {\"precision\": \"fp17\"}}", "/x/precision" },
        { "{\"x\": {\"smwidth\": 1}}", "/x/smwidth" },
        { "{\"x\": []}", "/x" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct loaded l;
        bool said = false;
        load(&l, bad[i].text);
        for (size_t k = 0; k < l.d.count && k < DIAG_KEPT; k++)
            said |= strstr(l.d.problem[k].msg, bad[i].says) ||
                    strstr(l.d.problem[k].where, bad[i].says);
        if (!said)
            fail_msg("%s: expected \"%s\", got \"%s\"", bad[i].text, bad[i].says,
                     l.d.count ? l.d.problem[0].msg : "no problem");
        unload(&l);
    }
}

/* Thirds written with a few digits are near enough. */
static void rounding(void **state)
{
    struct loaded l;
    (void)state;
    load(&l, "{\"x\": {\"host\": 0.333333, \"compute\": 0.333333, \"memory\": 0.333334}}");
    assert_int_equal(l.d.count, 0);
    unload(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_keys),
        cmocka_unit_test(nothing_said),
        cmocka_unit_test(every_mistake),
        cmocka_unit_test(rounding),
    };
    return cmocka_run_group_tests_name("signature", tests, NULL, NULL);
}
