/* Cards: reading one file, every refusal, power, look-up, the built-in card. */
#include "base/mem.h"
#include "model/gpu.h"
#include "model/mig.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A made-up card with awkward numbers whose peaks follow from its clock. */
static const char card[] =
    "{\n"
    "  \"format\": \"gpusim-gpu/1\",\n"
    "  \"model\": \"Test T-1\",\n"
    "  \"vendor\": \"Test\",\n"
    "  \"arch\": \"A\",\n"
    "  \"form\": \"PCIe\",\n"
    "  \"aliases\": [\"Tee One\"],\n"
    "  \"peak_check\": \"ok\",\n"
    "  \"chip\": {\n"
    "    \"sms\": { \"value\": 14, \"source\": \"s\" },\n"
    "    \"boost_clock\": { \"value\": \"1250 MHz\", \"source\": \"s\" },\n"
    "    \"matrix_clock\": { \"value\": \"1 GHz\", \"source\": \"s\" },\n"
    "    \"fp32_ops_per_clock_sm\": { \"value\": 128, \"source\": \"s\" },\n"
    "    \"fp16_ops_per_clock_sm\": { \"value\": 1024, \"source\": \"s\" }\n"
    "  },\n"
    "  \"memory\": {\n"
    "    \"nominal\": { \"value\": \"8 GiB\", \"source\": \"s\" },\n"
    "    \"usable\": { \"value\": \"7680 MiB\", \"provenance\": \"assumed\", \"source\": \"s\" },\n"
    "    \"bandwidth\": { \"value\": \"238.5 GB/s\", \"source\": \"s\" },\n"
    "    \"type\": \"HBM\"\n"
    "  },\n"
    "  \"peak\": {\n"
    "    \"fp32\": { \"dense\": \"2.24 TFLOPS\", \"sparse\": null, \"source\": \"s\" },\n"
    "    \"fp16\": { \"dense\": \"14.336 TFLOPS\", \"sparse\": \"28.672 TFLOPS\", \"source\": \"s\" },\n"
    "    \"fp8\": { \"dense\": null, \"sparse\": null, \"source\": \"s\" },\n"
    "    \"int8\": { \"dense\": \"28.672 TOPS\", \"source\": \"s\" }\n"
    "  },\n"
    "  \"power\": {\n"
    "    \"tdp\": { \"value\": \"90 W\", \"source\": \"s\" },\n"
    "    \"idle\": { \"value\": \"11.5 W\", \"source\": \"s\" },\n"
    "    \"idle_context\": { \"value\": \"21 W\", \"source\": \"s\" },\n"
    "    \"busy\": { \"value\": \"81 W\", \"provenance\": \"assumed\", \"source\": \"s\" }\n"
    "  },\n"
    "  \"link\": {\n"
    "    \"pcie\": { \"value\": \"16 GB/s\", \"kind\": \"3.0x16\", \"source\": \"s\" }\n"
    "  },\n"
    "  \"mig\": {\n"
    "    \"board\": \"T\",\n"
    "    \"placement_status\": \"verified\",\n"
    "    \"compute_slices\": 2,\n"
    "    \"memory_units\": 2,\n"
    "    \"full_sms\": 14,\n"
    "    \"profiles\": [\n"
    "      { \"name\": \"1g.4gb\", \"slices\": 1, \"units\": 1, \"starts\": [0, 1], \"max\": 2, \"sms\": 7, \"memory\": \"3712 MiB\" },\n"
    "      { \"name\": \"1g.4gb+me\", \"slices\": 1, \"units\": 1, \"starts\": [0, 1], \"max\": 1, \"sms\": 7, \"memory\": \"3712 MiB\" },\n"
    "      { \"name\": \"2g.8gb\", \"slices\": 2, \"units\": 2, \"starts\": [0], \"max\": 1, \"sms\": 14, \"memory\": \"7680 MiB\" },\n"
    "      { \"name\": \"2g.9gb\", \"slices\": 2, \"max\": 1, \"unverified\": \"starts\" }\n"
    "    ]\n"
    "  }\n"
    "}\n";

struct loaded {
    struct arena *a;
    struct json_doc doc;
    struct gpu_spec g;
    struct diag d;
};

static void load(struct loaded *l, const char *text, const char *name)
{
    struct err e = { 0 };
    *l = (struct loaded){ .a = arena_create() };
    diag_init(&l->d);
    if (json_doc_parse(&l->doc, "card.json", text, strlen(text), &e) < 0) fail_msg("%s", e.msg);
    gpu_read(&l->g, l->a, &l->doc, name, &l->d);
}

static void unload(struct loaded *l)
{
    diag_fini(&l->d);
    json_doc_fini(&l->doc);
    arena_destroy(l->a);
}

static void one_card(void **state)
{
    struct loaded l;
    (void)state;
    load(&l, card, "t-1");
    if (l.d.count) fail_msg("%s: %s", l.d.problem[0].where, l.d.problem[0].msg);
    const struct gpu_spec *g = &l.g;
    assert_string_equal(g->name, "t-1");
    assert_string_equal(g->model, "Test T-1");
    assert_int_equal(g->n_aliases, 1);
    assert_int_equal(g->devices, 1);
    assert_int_equal(g->sms, 14);
    assert_close(g->boost_Hz, 1.25e9, 0);
    assert_close(g->matrix_Hz, 1e9, 0);
    assert_true(g->memory_bytes == UINT64_C(8) << 30);
    assert_true(g->usable_bytes == UINT64_C(7680) << 20);
    assert_int_equal(g->usable_from, PROV_ASSUMED);
    assert_close(g->mem_Bps, 238.5e9, 0);
    assert_close(g->peak[PREC_fp32].dense_ops, 2.24e12, 1e-15);
    assert_true(isnan(g->peak[PREC_fp32].sparse_ops));
    assert_close(g->peak[PREC_fp16].sparse_ops, 28.672e12, 1e-15);
    assert_close(g->peak[PREC_int8].dense_ops, 28.672e12, 1e-15);
    assert_true(isnan(g->peak[PREC_fp8].dense_ops) && g->peak[PREC_fp8].none);
    assert_true(isnan(g->peak[PREC_bf16].dense_ops) && !g->peak[PREC_bf16].none);
    assert_close(g->check_fp32.calc_ops, 14 * 1.25e9 * 128, 1e-15);
    assert_close(g->check_fp16.calc_ops, 14 * 1e9 * 1024, 1e-15); /* at the matrix clock */
    assert_close(g->tdp_W, 90, 0);
    assert_int_equal(g->busy_from, PROV_ASSUMED);
    assert_int_equal(g->idle_from, PROV_PUBLISHED);
    assert_true(isnan(g->link_Bps) && g->link == NULL);
    assert_string_equal(g->pcie, "3.0x16");
    assert_int_equal(g->mig->n_profiles, 3); /* one without starts is left out */
    assert_false(g->mig->profile[1].plain);
    assert_true(g->mig->profile[0].usable_bytes == UINT64_C(3712) << 20);
    assert_int_equal(g->mig->profile[1].n_starts, 2);
    unload(&l);
}

static void power(void **state)
{
    struct loaded l;
    (void)state;
    load(&l, card, "t-1");
    assert_close(gpu_power_W(&l.g, false, 0), 11.5, 0);
    assert_close(gpu_power_W(&l.g, true, 0), 21, 0);
    assert_close(gpu_power_W(&l.g, true, 1), 81, 0);
    assert_close(gpu_power_W(&l.g, true, 0.37), 21 + 0.37 * 60, 1e-15);
    unload(&l);
}

/* The text with the first `from` replaced. */
static char *with(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (!at) fail_msg("the card does not hold %s", from);
    return xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void every_mistake(void **state)
{
    static const struct {
        const char *from, *to, *says;
    } bad[] = {
        { "gpusim-gpu/1", "gpusim-gpu/2", "expected \"format\": \"gpusim-gpu/1\"" },
        { "\"vendor\": \"Test\",", "", "\"vendor\" to be text, found nothing" },
        { "\"vendor\"", "\"vendro\"", "vendro" },
        { "\"aliases\": [\"Tee One\"]", "\"aliases\": \"Tee\"", "a list of names" },
        { "[\"Tee One\"]", "[7]", "expected names" },
        { "\"peak_check\": \"ok\"", "\"peak_check\": \"fine\"", "found \"fine\"" },
        { "{ \"value\": 14, \"source\": \"s\" }", "14",
          "expected {\"value\": .., \"source\": ..}" },
        { "{ \"value\": 14, \"source\": \"s\" }", "{ \"value\": 14 }", "\"source\" to be text" },
        { "{ \"value\": 14,", "{ \"value\": 14.5,", "a whole number, found 14.5" },
        { "{ \"value\": 14,", "{ \"value\": 0,", "outside 1 to 2048" },
        { "{ \"value\": 14,", "{ \"value\": \"14\",", "a number as \"value\"" },
        { "\"1250 MHz\"", "1250", "a frequency" },
        { "\"1250 MHz\"", "\"1250 mhz\"", "found \"1250 mhz\"" },
        { "\"8 GiB\"", "\"8 GiBs\"", "a size" },
        { "\"8 GiB\"", "\"7 GiB\"", "more usable than nominal" },
        { "\"usable\"", "\"usble\"", "usble" },
        { "\"type\": \"HBM\"", "\"type\": 3", "\"type\" to be text" },
        { "\"provenance\": \"assumed\"", "\"provenance\": \"guessed\"",
          "measured, published or assumed" },
        { "\"2.24 TFLOPS\"", "\"2.24 TOPS\"", "a floating-point format is counted in TFLOPS" },
        { "\"28.672 TOPS\"", "\"28.672 TFLOPS\"", "an integer format is counted in TOPS" },
        { "\"2.24 TFLOPS\"", "\"2.30 TFLOPS\"",
          "2.7 % off units x clock x operations = 2.24 TFLOPS" },
        { "\"14.336 TFLOPS\"", "\"14.0 TFLOPS\"", "-2.3 % off" },
        { "\"28.672 TFLOPS\"", "\"13 TFLOPS\"", "sparse peak is below the dense" },
        { "\"dense\": null, \"sparse\": null", "\"dense\": null, \"sparse\": \"1 TFLOPS\"",
          "without a dense" },
        { "\"dense\": null", "\"dense\": \"0 TFLOPS\"", "null says" },
        { "\"fp8\"", "\"fp7\"", "fp7" },
        { "\"idle\": { \"value\": \"11.5 W\"", "\"idle\": { \"value\": \"22 W\"",
          "idle <= idle_context" },
        { "\"81 W\"", "\"91 W\"", "busy <= tdp" },
        { "\"90 W\"", "\"90 V\"", "a power" },
        { "\"kind\": \"3.0x16\", ", "", "\"kind\" to be text" },
        { "\"compute_slices\": 2", "\"compute_slices\": 17", "from 1 to 16" },
        { "\"compute_slices\": 2", "\"compute_slices\": 3",
          "no layout takes exactly 3 compute slices" },
        { "\"starts\": [0, 1], \"max\": 2", "\"starts\": [1, 0], \"max\": 2",
          "starts must ascend" },
        { "\"starts\": [0, 1], \"max\": 2", "\"starts\": [0, 2], \"max\": 2", "within 2 units" },
        { "\"starts\": [0, 1], \"max\": 2", "\"starts\": 0, \"max\": 2", "\"starts\" to list" },
        { "\"max\": 2", "\"max\": 1", "at most 2 by its starts, but max says 1" },
        { "\"sms\": 7,", "\"sms\": 8,", "2 x 8 SMs on a card of 14" },
        { "\"3712 MiB\"", "\"3900 MiB\"", "more memory than the card's usable bytes" },
        { "\"1g.4gb+me\"", "\"1g.4gb\"", "\"1g.4gb\" is listed twice" },
        { "\"profiles\": [", "\"profiles\": [], \"note\": [", "1 to 32 profiles" },
        { "\"unverified\"", "\"unverfied\"", "unverfied" },
        { "  \"mig\": {", "  \"mig\": 3, \"nig\": {", "a card without MIG" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct loaded l;
        char *text = with(card, bad[i].from, bad[i].to);
        load(&l, text, "t-1");
        bool said = false;
        for (size_t k = 0; k < l.d.count && k < DIAG_KEPT; k++) {
            said |= strstr(l.d.problem[k].msg, bad[i].says) != NULL ||
                    strstr(l.d.problem[k].where, bad[i].says) != NULL;
            assert_int_equal(l.d.problem[k].code, ERR_INPUT);
            assert_contains(l.d.problem[k].where, "card.json");
        }
        if (!said)
            fail_msg("%s for %s: expected \"%s\", got \"%s\"", bad[i].to, bad[i].from, bad[i].says,
                     l.d.count ? l.d.problem[0].msg : "no problem");
        unload(&l);
        free(text);
    }
}

static void other_shapes(void **state)
{
    struct loaded l;
    (void)state;
    load(&l, "[]", "t-1");
    assert_contains(l.d.problem[0].msg, "expected a card");
    unload(&l);
    load(&l, "{}", "t-1");
    assert_true(l.d.count >= 8); /* every section that is missing, not only the first */
    unload(&l);
    load(&l, card, "T 1");
    assert_contains(l.d.problem[0].msg, "the file name is the card's key");
    unload(&l);
    /* a claim other than "ok" makes the deviation a note */
    char *off = with(card, "\"2.24 TFLOPS\"", "\"2.4 TFLOPS\""),
         *warn = with(off, "\"ok\"", "\"warn\"");
    load(&l, warn, "t-1");
    assert_int_equal(l.d.count, 0);
    assert_int_equal(l.g.claim, PEAK_warn);
    assert_close(l.g.check_fp32.off, 2.4 / 2.24 - 1, 1e-12);
    unload(&l);
    free(off);
    free(warn);
}

static void put(const char *dir, const char *name, const char *text)
{
    char *path = xasprintf("%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    free(path);
}

static void folder(void **state)
{
    struct gpu_catalogue *c;
    struct err e = { 0 };
    const char *dir = temp_dir(), *nearest;
    (void)state;
    char *second = with(card, "Tee One", "Tee Two");
    put(dir, "t-1.json", card);
    put(dir, "a-2.json", second);
    put(dir, "README.md", "not a card");
    put(dir, ".hidden.json", "{");
    assert_int_equal(gpu_catalogue_load(&c, dir, &e), 0);
    assert_int_equal(gpu_catalogue_count(c), 3);
    assert_string_equal(gpu_catalogue_at(c, 0)->name, "a-2");
    assert_string_equal(gpu_catalogue_at(c, 1)->name, "generic");
    assert_string_equal(gpu_catalogue_at(c, 2)->name, "t-1");
    assert_ptr_equal(gpu_find(c, "T-1", NULL), gpu_catalogue_at(c, 2));
    assert_ptr_equal(gpu_find(c, "tee two", &nearest), gpu_catalogue_at(c, 0));
    assert_null(nearest);
    assert_null(gpu_find(c, "genric", &nearest));
    assert_string_equal(nearest, "generic");
    assert_null(gpu_find(c, "T-", &nearest));
    assert_string_equal(nearest, "t-1");
    assert_null(gpu_find(c, "zzzzzz", &nearest));
    assert_null(nearest);
    gpu_catalogue_destroy(c);

    put(dir, "a-2.json", card); /* both answer to "Tee One" */
    assert_int_equal(gpu_catalogue_load(&c, dir, &e), ERR_INPUT);
    assert_contains(e.msg, "names two cards");
    e = (struct err){ 0 };
    put(dir, "a-2.json", "{ \"format\": }");
    assert_int_equal(gpu_catalogue_load(&c, dir, &e), ERR_INPUT);
    assert_contains(e.where, "a-2.json:1");
    e = (struct err){ 0 };
    assert_int_equal(gpu_catalogue_load(&c, "/nonexistent/folder", &e), ERR_IO);
    gpu_catalogue_destroy(NULL);
    free(second);
}

static void generic(void **state)
{
    const struct gpu_spec g = gpu_generic();
    (void)state;
    assert_int_equal(g.sms, 1);
    for (int p = 0; p < PREC_COUNT; p++) assert_close(g.peak[p].dense_ops, 1e12, 0);
    assert_true(g.usable_bytes == UINT64_C(1) << 40);
    assert_close(g.mem_Bps, 1e12, 0);
    assert_close(gpu_power_W(&g, true, 1), 0, 0);
    assert_null(g.mig);
}

static void precisions(void **state)
{
    (void)state;
    assert_int_equal(precision_find("BF16"), PREC_bf16);
    assert_int_equal(precision_find("fp64_tensor"), PREC_fp64_tensor);
    assert_int_equal(precision_find("fp"), -1);
    assert_true(precision_is_integer(PREC_int8) && precision_is_integer(PREC_int4));
    assert_false(precision_is_integer(PREC_fp4));
    assert_null(precision_names[PREC_COUNT]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_card),     cmocka_unit_test(power),  cmocka_unit_test(every_mistake),
        cmocka_unit_test(other_shapes), cmocka_unit_test(folder), cmocka_unit_test(generic),
        cmocka_unit_test(precisions),
    };
    return cmocka_run_group_tests_name("gpu", tests, NULL, NULL);
}
