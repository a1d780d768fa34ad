/* Allocation, arenas, vectors. */
#include "base/arena.h"
#include "base/mem.h"
#include "base/vec.h"
#include "tests/support/support.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void sizes_of_zero_are_valid(void **state)
{
    (void)state;
    free(xmalloc(0));
    free(xcalloc(0, 8));
    free(xcalloc(8, 0));
    void *p = xreallocarray(NULL, 0, 8);
    free(xreallocarray(p, 3, 0));
}

static void strings_are_copied(void **state)
{
    (void)state;
    char *a = xstrdup("abc"), *b = xstrndup("abcdef", 2), *c = xasprintf("%d-%s", 7, "x");
    assert_string_equal(a, "abc");
    assert_string_equal(b, "ab");
    assert_string_equal(c, "7-x");
    free(a);
    free(b);
    free(c);
}

static void overflow_ends_with_status_5(void **state)
{
    int status = 0;
    const pid_t child = fork();

    (void)state;
    if (child == 0) {
        close(STDERR_FILENO);
        free(xreallocarray(NULL, SIZE_MAX / 2, 3));
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 5);
}

/* Small, and of more than a huge page; memory that was used before, too. */
static void lines_are_zeroed_and_aligned(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++)
        for (size_t n = 0; n < 1200000; n = 7 * n + 1) {
            unsigned char *p = xcalloc_lines(n, 3);
            assert_int_equal((uintptr_t)p % 64, 0);
            for (size_t i = 0; i < 3 * n; i++)
                if (p[i]) fail_msg("byte %zu of %zu", i, 3 * n);
            memset(p, 0xAA, 3 * n);
            free(p);
        }
}

static void arena_is_zeroed_and_aligned(void **state)
{
    struct arena *a = arena_create();

    (void)state;
    for (size_t bytes = 0; bytes < 5000; bytes += 37) {
        unsigned char *p = arena_alloc(a, bytes);
        assert_int_equal((uintptr_t)p % alignof(max_align_t), 0);
        for (size_t i = 0; i < bytes; i++) assert_int_equal(p[i], 0);
        memset(p, 0xAA, bytes); /* the next one must not see this */
    }
    assert_int_equal(*(char *)arena_alloc(a, 10u << 20), 0);
    arena_destroy(a);
    arena_destroy(NULL);
}

static void arena_blocks_do_not_overlap(void **state)
{
    struct arena *a = arena_create();
    uint32_t *block[500];

    (void)state;
    for (uint32_t i = 0; i < 500; i++) {
        block[i] = arena_array(a, i + 1, sizeof *block[i]);
        for (uint32_t k = 0; k <= i; k++) block[i][k] = i;
    }
    for (uint32_t i = 0; i < 500; i++)
        for (uint32_t k = 0; k <= i; k++) assert_int_equal(block[i][k], i);
    arena_destroy(a);
}

static void arena_strings(void **state)
{
    struct arena *a = arena_create();

    (void)state;
    assert_null(arena_strdup(a, NULL));
    assert_string_equal(arena_strdup(a, "x"), "x");
    assert_string_equal(arena_strndup(a, "xyz", 2), "xy");
    assert_string_equal(arena_strndup(a, "xyz", 0), "");
    assert_string_equal(arena_printf(a, "%s/%d", "d", 42), "d/42");
    arena_destroy(a);
}

static void vec_grows_and_keeps(void **state)
{
    VEC(int) v = { 0 };

    (void)state;
    for (int i = 0; i < 1000; i++) vec_push(&v, i * 3);
    assert_int_equal(v.n, 1000);
    for (int i = 0; i < 1000; i++) assert_int_equal(v.v[i], i * 3);
    vec_reserve(&v, 5000);
    assert_true(v.cap >= 5000);
    vec_fini(&v);
    assert_null(v.v);
    vec_fini(&v);
}

int main(void)
{
    const struct CMUnitTest t[] = {
        cmocka_unit_test(sizes_of_zero_are_valid),
        cmocka_unit_test(strings_are_copied),
        cmocka_unit_test(overflow_ends_with_status_5),
        cmocka_unit_test(lines_are_zeroed_and_aligned),
        cmocka_unit_test(arena_is_zeroed_and_aligned),
        cmocka_unit_test(arena_blocks_do_not_overlap),
        cmocka_unit_test(arena_strings),
        cmocka_unit_test(vec_grows_and_keeps),
    };

    return cmocka_run_group_tests_name("mem, arena, vec", t, NULL, NULL);
}
