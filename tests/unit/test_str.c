/* Growing strings, nearest names, symbols. */
#include "base/str.h"
#include "base/symtab.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>

static void strbuf_grows(void **state)
{
    struct strbuf b = { 0 };

    (void)state;
    for (int i = 0; i < 1000; i++) strbuf_addf(&b, "%03d", i);
    assert_int_equal(b.len, 3000);
    assert_memory_equal(b.s + 2997, "999", 4);
    strbuf_clear(&b);
    assert_string_equal(b.s, "");
    strbuf_addc(&b, 'x');
    strbuf_addz(&b, "yz");
    strbuf_add(&b, "12345", 2);
    assert_string_equal(b.s, "xyz12");
    strbuf_fini(&b);
    strbuf_fini(&b);
    strbuf_clear(&b);
    assert_null(b.s);
}

static void formats_longer_than_the_first_room(void **state)
{
    struct strbuf b = { 0 };

    (void)state;
    strbuf_addf(&b, "%0500d", 7);
    assert_int_equal(b.len, 500);
    assert_int_equal(strlen(b.s), 500);
    strbuf_fini(&b);
}

static void distances_by_hand(void **state)
{
    (void)state;
    assert_int_equal(str_distance("", ""), 0);
    assert_int_equal(str_distance("", "abc"), 3);
    assert_int_equal(str_distance("kitten", "sitting"), 3);
    assert_int_equal(str_distance("qunatum", "quantum"), 1); /* one swap */
    assert_int_equal(str_distance("GPU", "gpu"), 0);
    assert_int_equal(str_distance("ca", "abc"), 3); /* optimal string alignment, not full Damerau */
}

static void nearest_is_a_slip_or_nothing(void **state)
{
    static const char *const names[] = { "quantum", "slots", "switch", "memory" };
    static const char *const sizes[] = { "kB", "MB", "GB", "GiB" };

    (void)state;
    assert_string_equal(str_nearest("qunatum", names, 4), "quantum");
    assert_string_equal(str_nearest("Slot", names, 4), "slots");
    assert_string_equal(str_nearest("swich", names, 4), "switch");
    assert_null(str_nearest("bananas", names, 4));
    assert_null(str_nearest("", names, 4));
    assert_null(str_nearest("x", sizes, 4)); /* nothing in common is not a slip */
    assert_string_equal(str_nearest("GW", sizes, 4), "GB");
    assert_string_equal(str_nearest("gib", sizes, 4), "GiB"); /* exact but for case beats near */
    assert_null(str_nearest("quantum", names, 0));
}

static void starts_and_ends(void **state)
{
    (void)state;
    assert_true(str_starts("abc", "ab"));
    assert_true(str_starts("abc", ""));
    assert_false(str_starts("a", "ab"));
    assert_true(str_ends("a.csv.gz", ".gz"));
    assert_false(str_ends("z", ".gz"));
}

static void lists_are_cut_with_dots(void **state)
{
    static const char *const names[] = { "alpha", "beta", "gamma" };
    char buf[64];

    (void)state;
    assert_string_equal(str_list(buf, sizeof buf, names, 3), "alpha, beta, gamma");
    assert_string_equal(str_list(buf, sizeof buf, names, 0), "");
    assert_string_equal(str_list(buf, 19, names, 3), "alpha, beta, gamma");
    for (size_t size = 4; size < 19; size++) {
        memset(buf, 'Z', sizeof buf);
        str_list(buf, size, names, 3);
        assert_true(strlen(buf) < size);
        assert_string_equal(buf + strlen(buf) - 3, "...");
        assert_int_equal(buf[size], 'Z');
    }
}

static void symbols(void **state)
{
    struct symtab *t = symtab_create();
    char name[32];

    (void)state;
    assert_int_equal(symtab_addz(t, ""), 0);
    assert_string_equal(symtab_name(t, 0), "");
    const sym a = symtab_addz(t, "alice"), b = symtab_add(t, "bobby", 3);
    assert_int_equal(a, 1);
    assert_int_equal(b, 2);
    assert_string_equal(symtab_name(t, b), "bob");
    assert_int_equal(symtab_addz(t, "alice"), a);
    assert_int_equal(symtab_find(t, "bob"), b);
    assert_int_equal(symtab_find(t, "bobby"), 0);
    const char *kept = symtab_name(t, a);
    for (int i = 0; i < 10000; i++) {
        snprintf(name, sizeof name, "user%d", i);
        assert_int_equal(symtab_addz(t, name), 3 + i);
    }
    assert_int_equal(symtab_count(t), 10003);
    assert_ptr_equal(symtab_name(t, a), kept); /* names stay where they are */
    for (int i = 0; i < 10000; i += 77) {
        snprintf(name, sizeof name, "user%d", i);
        assert_int_equal(symtab_find(t, name), 3 + i);
    }
    symtab_destroy(t);
    symtab_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest t[] = {
        cmocka_unit_test(strbuf_grows),      cmocka_unit_test(formats_longer_than_the_first_room),
        cmocka_unit_test(distances_by_hand), cmocka_unit_test(nearest_is_a_slip_or_nothing),
        cmocka_unit_test(starts_and_ends),   cmocka_unit_test(lists_are_cut_with_dots),
        cmocka_unit_test(symbols),
    };

    return cmocka_run_group_tests_name("str and symtab", t, NULL, NULL);
}
