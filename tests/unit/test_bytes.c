/* The memory side of a request: stated needs get the context on top, unstated ones hold it
 * inside. */
#include "tests/support/support.h"

#include "policy/bytes.h"

#include <string.h>

#define GIB (UINT64_C(1) << 30)

static const char *ask(uint64_t bytes, double share, bool reserve, struct demand *out)
{
    const struct gpu_spec gpu = { .usable_bytes = 39 * GIB };
    const struct card_type type = { .gpu = &gpu, .context_bytes = 300 };
    const struct request r = { .gpus_milli = 250, .slots = 1, .bytes = bytes };
    *out = (struct demand){ 0 };
    return bytes_demand(&type, &r, share, reserve, out);
}

static void stated(void **state)
{
    struct demand d;
    (void)state;
    assert_null(ask(7 * GIB, 0.25, true, &d));
    assert_true(d.alloc_bytes == 7 * GIB + 300 && d.reserve_bytes == d.alloc_bytes);
    assert_true(d.limit_bytes == UINT64_MAX);
    assert_null(ask(7 * GIB, 0.25, false, &d));
    assert_true(d.alloc_bytes == 7 * GIB + 300 && d.reserve_bytes == 0);
    assert_null(ask(0, 0.25, true, &d));
    assert_true(d.alloc_bytes == 300);
}

static void unstated(void **state)
{
    struct demand d;
    (void)state;
    assert_null(ask(JOB_NO_BYTES, 1.0 / 3, true, &d));
    assert_true(d.alloc_bytes == 13 * GIB); /* three of them fit */
    assert_null(ask(JOB_NO_BYTES, 1, true, &d));
    assert_true(d.alloc_bytes == 39 * GIB);
    assert_null(ask(JOB_NO_BYTES, 1.5, true, &d));
    assert_true(d.alloc_bytes == 39 * GIB);
    assert_null(ask(JOB_NO_BYTES, 0, true, &d));
    assert_true(d.alloc_bytes == 0);
}

static void too_much(void **state)
{
    struct demand d;
    (void)state;
    assert_null(ask(39 * GIB - 300, 1, true, &d)); /* the last byte */
    assert_string_equal(ask(39 * GIB - 299, 1, true, &d), "it needs more memory than the card has");
    assert_null(ask(39 * GIB - 299, 1, false, &d)); /* nobody counts: it will fail when it runs */
    assert_string_equal(ask(UINT64_MAX - 299, 1, false, &d),
                        "it needs more memory than any card has");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stated),
        cmocka_unit_test(unstated),
        cmocka_unit_test(too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
