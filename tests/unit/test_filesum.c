/* test_filesum.c - sums of files against the published check value of CRC-32. */
#include "support/support.h"

#include "base/filesum.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static struct filesum sum_of(const char *text, size_t len)
{
    struct filesum s = { 99, 99 };
    struct err e = { 0 };
    assert_int_equal(filesum_of(temp_file_bytes(".bin", text, len), &s, &e), 0);
    return s;
}

static void known_values(void **state)
{
    (void)state;
    const struct filesum check =
        sum_of("123456789", 9); /* "check" of CRC-32 in Williams' catalogue */
    assert_int_equal(check.bytes, 9);
    assert_int_equal(check.crc32, 0xCBF43926);
    const struct filesum none = sum_of("", 0);
    assert_int_equal(none.bytes, 0);
    assert_int_equal(none.crc32, 0);
}

/* Longer than one read: a byte beyond the first block counts. */
static void all_of_a_long_file(void **state)
{
    (void)state;
    const size_t len = 3 * 65536 + 77;
    char *text = xcalloc(len, 1);
    const struct filesum a = sum_of(text, len);
    text[len - 1] = 1;
    const struct filesum b = sum_of(text, len), cut = sum_of(text, len - 1);
    assert_int_equal(a.bytes, len);
    assert_int_not_equal(a.crc32, b.crc32);
    assert_int_equal(cut.bytes, len - 1);
    free(text);
}

static void what_cannot_be_read(void **state)
{
    (void)state;
    struct filesum s = { 7, 8 };
    struct err e = { 0 };
    assert_int_equal(filesum_of("/nowhere/at/all", &s, &e), ERR_IO);
    assert_non_null(strstr(e.msg, "cannot read"));
    e = (struct err){ 0 };
    assert_int_equal(filesum_of("/", &s, &e), ERR_IO); /* a folder opens and does not read */
    assert_int_equal(s.bytes, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(all_of_a_long_file),
        cmocka_unit_test(what_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
