/* base/extsort: against qsort, with and without a file; its file cannot be made; base/hashes:
 * against a sorted array, while it grows. */
#include "base/extsort.h"
#include "base/hashes.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

static int by_3(const void *pa, const void *pb)
{
    const int64_t *a = pa, *b = pb;
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

static void sorts(size_t n, size_t bytes, int range)
{
    struct extsort *s = extsort_create(3, bytes);
    struct err e = { 0 };
    int64_t *want = calloc(n + 1, sizeof(int64_t[3])), got[3];
    for (size_t i = 0; i < n; i++) {
        int64_t *r = want + 3 * i;
        r[0] = rand() % range - range / 2;
        r[1] = i % 2 ? INT64_MIN + rand() % 3 : INT64_MAX - rand() % 3;
        r[2] = (int64_t)i;
        extsort_add(s, r);
    }
    assert_int_equal(extsort_count(s), n);
    if (n) qsort(want, n, sizeof(int64_t[3]), by_3);
    assert_int_equal(extsort_sort(s, &e), 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(extsort_next(s, got, &e), 1);
        assert_memory_equal(got, want + 3 * i, sizeof got);
    }
    assert_int_equal(extsort_next(s, got, &e), 0);
    assert_int_equal(extsort_next(s, got, &e), 0);
    extsort_destroy(s);
    free(want);
}

static void sorts_as_qsort_does(void **state)
{
    static const size_t sizes[] = { 0, 1, 2, 3, 99, 100, 101, 200, 5000 };
    (void)state;
    srand(5);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        sorts(sizes[i], 1 << 20, 1000); /* in memory */
        sorts(sizes[i], 2400, 50);      /* runs of 100 */
        sorts(sizes[i], 0, 2);          /* runs of 2: every second one is refilled */
    }
    sorts(100000, 24 * 20000, 1000000); /* buffers smaller than their runs */
    extsort_destroy(NULL);
}

static void one_word_in_order(void **state)
{
    struct extsort *s = extsort_create(1, 80);
    struct err e = { 0 };
    int64_t x;
    (void)state;
    for (int64_t i = 0; i < 1000; i++) extsort_add(s, &i);
    assert_int_equal(extsort_sort(s, &e), 0);
    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(extsort_next(s, &x, &e), 1);
        assert_int_equal(x, i);
    }
    assert_int_equal(extsort_next(s, &x, &e), 0);
    extsort_destroy(s);
}

static void says_that_it_has_no_file(void **state)
{
    struct extsort *s = extsort_create(1, 16);
    struct err e = { 0 };
    char *old = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    (void)state;
    setenv("TMPDIR", "/nonexistent", 1);
    for (int64_t i = 0; i < 10; i++) extsort_add(s, &i);
    assert_int_equal(extsort_count(s), 10);
    assert_int_equal(extsort_sort(s, &e), ERR_IO);
    assert_non_null(strstr(e.msg, "temporary"));
    assert_non_null(strstr(e.where, "/nonexistent"));
    extsort_destroy(s);
    if (old)
        setenv("TMPDIR", old, 1);
    else
        unsetenv("TMPDIR");
    free(old);
}

static void a_map_of_hashes(void **state)
{
    enum { N = 200000 };
    struct hashes s = { 0 };
    (void)state;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < N; i++) {
            uint32_t value = round ? 0 : 7 * i;
            assert_int_equal(hashes_add(&s, hash_mix(i + 1), &value), round == 0);
            assert_int_equal(value, 7 * i);
        }
    assert_int_equal(s.n, N);
    assert_true(s.size * sizeof *s.v <= 16 * (size_t)N + 16 * 1024);
    hashes_fini(&s);
    assert_null(s.v);
}

/* Neighbours at both ends of the range, which no mixed hashes are: all belong to one place. */
static void crowded_places(void **state)
{
    struct hashes s = { 0 };
    (void)state;
    for (uint64_t i = 1; i <= 500; i++) {
        const uint64_t low = i * 7919 % 503, high = UINT64_MAX - low;
        assert_true(hashes_add(&s, low, &(uint32_t){ (uint32_t)i }));
        assert_true(hashes_add(&s, high, &(uint32_t){ (uint32_t)i }));
    }
    for (uint64_t i = 1; i <= 500; i++) {
        uint32_t a = 0, b = 0;
        assert_false(hashes_add(&s, i * 7919 % 503, &a));
        assert_false(hashes_add(&s, UINT64_MAX - i * 7919 % 503, &b));
        assert_int_equal(a, i);
        assert_int_equal(b, i);
    }
    assert_int_equal(s.n, 1000);
    hashes_fini(&s);
    hashes_add(&s, 0, &(uint32_t){ 3 }); /* 0 counts as 1 */
    uint32_t value;
    assert_false(hashes_add(&s, 1, &value));
    assert_int_equal(value, 3);
    hashes_fini(&s);
}

static void known_hashes(void **state)
{
    (void)state;
    assert_true(hash_bytes("", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(hash_bytes("a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(hash_bytes("foobar", 6) == UINT64_C(0x85944171f73967e8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_as_qsort_does),      cmocka_unit_test(one_word_in_order),
        cmocka_unit_test(says_that_it_has_no_file), cmocka_unit_test(a_map_of_hashes),
        cmocka_unit_test(crowded_places),           cmocka_unit_test(known_hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
