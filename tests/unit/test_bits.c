/* base/bits: against a plain array, over sizes around the word and level boundaries. */
#include "base/bits.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

static void agrees_with_an_array(void **state)
{
    static const size_t sizes[] = { 1, 63, 64, 65, 4095, 4096, 4097, 300000 };
    (void)state;
    srand(7);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const size_t n = sizes[s];
        struct bits b;
        char *want = calloc(n, 1);
        bits_init(&b, n);
        assert_int_equal(bits_next(&b, 0), BITS_NONE);
        assert_int_equal(bits_prev(&b, n - 1), BITS_NONE);
        for (int step = 0; step < 4000; step++) {
            const size_t i = (size_t)rand() % n;
            if (rand() % 3) {
                bits_set(&b, i);
                want[i] = 1;
            } else {
                bits_clear(&b, i);
                want[i] = 0;
            }
            if (step % 16) continue;
            const size_t from = (size_t)rand() % (n + 1);
            const char *at = from < n ? memchr(want + from, 1, n - from) : NULL;
            assert_int_equal(bits_next(&b, from), at ? (size_t)(at - want) : BITS_NONE);
            size_t last = from < n ? from : n - 1;
            const size_t prev = bits_prev(&b, last);
            while (last > 0 && !want[last]) last--;
            assert_int_equal(prev, want[last] ? last : BITS_NONE);
        }
        size_t count = 0;
        for (size_t i = 0; i < n; i++) count += (size_t)want[i];
        assert_int_equal(b.count, count);
        bits_fini(&b);
        free(want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(agrees_with_an_array) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
