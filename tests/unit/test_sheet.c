/* A profile against the data sheet of its card: what no such card can do is refused with the
 * bound. */
#include "tests/support/support.h"

#include "model/sheet.h"

#include <math.h>
#include <string.h>

static struct gpu_catalogue *cards;

static int set_up(void **state)
{
    struct err e = { 0 };
    (void)state;
    return gpu_catalogue_load(&cards, NULL, &e);
}

static int tear_down(void **state)
{
    (void)state;
    gpu_catalogue_destroy(cards);
    return 0;
}

#define NO_BASE         "\"base\": {}"
#define DEVICE(members) PROFILE(NO_BASE ", \"device\": {" members "}")
#define PARAM(value, unit)                                                                         \
    "{\"value\": " #value ", \"unit\": \"" unit                                                    \
    "\", \"provenance\": \"measured\", \"method\": \"m\"}"
#define PROFILE(groups) "{\"format\": \"gpusim-profile/1\", \"gpu\": \"t4\", " groups "}"

/* How many problems a T4's profile has; the first is in `said`. */
static size_t problems_of(const struct gpu_spec *card, const char *text, char *said, size_t size)
{
    struct arena *a = arena_create();
    struct json_doc doc = { 0 };
    struct gpu_profile p;
    struct err e = { 0 };
    struct diag d;
    diag_init(&d);
    assert_int_equal(json_doc_parse(&doc, "p.json", text, strlen(text), &e), 0);
    profile_read(&p, a, &doc, &d);
    assert_int_equal(d.count, 0);
    sheet_check(card, &p, &doc, &d);
    const size_t n = d.count;
    snprintf(said, size, "%s %s", n ? d.problem[0].where : "", n ? d.problem[0].msg : "");
    diag_fini(&d);
    json_doc_fini(&doc);
    arena_destroy(a);
    return n;
}

static size_t problems(const char *text, char *said, size_t size)
{
    return problems_of(gpu_find(cards, "t4", NULL), text, said, size);
}

static void within_the_sheet(void **state)
{
    char said[1000];
    (void)state;
    assert_int_equal(
        problems(PROFILE("\"base\": {\"mem_Bps\": " PARAM(3.2e11, "B/s") "}"), said, sizeof said),
        0); /* 320 GB/s, exactly the sheet's */
    assert_int_equal(
        problems(
            PROFILE("\"base\": {\"mem_Bps\": " PARAM(
                2.4e11, "B/s") ", "
                               "\"gemm_fp16_flops\": " PARAM(
                                   5e13, "FLOPS") "}, "
                                                  "\"power\": {\"idle_W\": " PARAM(
                                                      10, "W") ", \"busy_W\": " PARAM(70, "W") "}"),
            said, sizeof said),
        0);
}

static void beyond_the_sheet(void **state)
{
    static const struct {
        const char *text, *where, *bound;
    } cases[] = {
        { PROFILE("\"base\": {\"mem_Bps\": " PARAM(1e12, "B/s") "}"), "/base/mem_Bps",
          "3.2e+11 B/s" },
        { PROFILE("\"base\": {\"mem_Bps\": {\"value\": 3e11, \"low\": 2.9e11, \"high\": 3.3e11, "
                  "\"unit\": \"B/s\", \"provenance\": \"measured\", \"method\": \"m\"}}"),
          "/base/mem_Bps", "3.2e+11 B/s, found \"high\" 3.3e+11" },
        { PROFILE("\"base\": {\"gemm_fp16_flops\": " PARAM(9e13, "FLOPS") "}"),
          "/base/gemm_fp16_flops", "data sheet of t4" },
        { PROFILE("\"base\": {\"gemm_fp32_flops\": " PARAM(9e12, "FLOPS") "}"),
          "/base/gemm_fp32_flops", "data sheet of t4" },
        { PROFILE("\"base\": {\"h2d_Bps\": " PARAM(5e10, "B/s") "}"), "/base/h2d_Bps", "B/s" },
        { PROFILE("\"power\": {\"busy_W\": " PARAM(100, "W") "}"), "/power/busy_W", "70 W" },
        { PROFILE("\"power\": {\"idle_W\": " PARAM(40, "W") ", \"busy_W\": " PARAM(30, "W") "}"),
          "/power/idle_W", "at most busy_W, 30 W" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char said[1000];
        if (problems(cases[i].text, said, sizeof said) != 1)
            fail_msg("%zu: %s: not one problem: %s", i, cases[i].text, said);
        assert_contains(said, cases[i].where);
        assert_contains(said, cases[i].bound);
    }
    assert_true(isnan(sheet_bound(gpu_find(cards, "t4", NULL), PROFILE_timeslice_quantum_us)));
}

/* What calibrate wrote about the device decides whether it is the card: a T4 has 40 SMs and 16
 * GiB, of which 14.56 are seen with ECC. */
static void a_part_is_not_the_card(void **state)
{
    static const struct {
        const char *text, *where, *why;
    } parts[] = {
        { DEVICE("\"mig_instance\": true"), "/device/mig_instance", "inside a MIG instance" },
        { DEVICE("\"mig_instance\": true, \"sms\": 14"), "/device/mig_instance", "MIG mode off" },
        { DEVICE("\"sms\": 20"), "/device/sms", "the 40 SMs of a whole t4, found 20" },
        { DEVICE("\"sms\": 132"), "/device/sms", "found 132" },
        { DEVICE("\"sms\": 40, \"memory_bytes\": 8589934592"), "/device/memory_bytes",
          "the 16 GiB of a whole t4, found 8 GiB" },
    };
    const struct gpu_spec *t4 = gpu_find(cards, "t4", NULL),
                          *a100 = gpu_find(cards, "a100-sxm4-40gb", NULL);
    struct gpu_spec slice = *a100;
    char said[1000];
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (problems_of(t4, parts[i].text, said, sizeof said) != 1) fail_msg("%zu: %s", i, said);
        assert_contains(said, parts[i].where);
        assert_contains(said, parts[i].why);
    }
    assert_int_equal(
        problems_of(t4,
                    DEVICE("\"mig_instance\": false, \"sms\": 40, \"memory_bytes\": 15640000000"),
                    said, sizeof said),
        0);

    /* the catalogue's card is the whole one although the numbers agree; the slice as a card of
     * its own may have it */
    const char *in_slice =
        DEVICE("\"mig_instance\": true, \"sms\": 42, \"memory_bytes\": 20937965568");
    slice.sms = 42;
    slice.memory_bytes = UINT64_C(20) << 30;
    assert_int_equal(problems_of(a100, in_slice, said, sizeof said), 1);
    assert_int_equal(problems_of(&slice, in_slice, said, sizeof said), 1);
    slice.mig = NULL;
    assert_int_equal(problems_of(&slice, in_slice, said, sizeof said), 0);

    /* an A16 is four devices of 10 SMs and 16 GiB */
    assert_int_equal(problems_of(gpu_find(cards, "a16", NULL),
                                 DEVICE("\"sms\": 10, \"memory_bytes\": 15640000000"), said,
                                 sizeof said),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_the_sheet),
        cmocka_unit_test(beyond_the_sheet),
        cmocka_unit_test(a_part_is_not_the_card),
    };
    return cmocka_run_group_tests_name("sheet", tests, set_up, tear_down);
}
