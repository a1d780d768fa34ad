/* base/maxtree: against a scan of a plain array, over sizes around powers of two. */
#include "base/maxtree.h"
#include "support/support.h"

#include <stdlib.h>

static void agrees_with_a_scan(void **state)
{
    static const size_t sizes[] = { 1, 2, 3, 7, 8, 9, 100, 1023, 1025 };
    (void)state;
    srand(11);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const size_t n = sizes[s];
        struct maxtree t;
        int64_t *want = malloc(n * sizeof *want);
        maxtree_init(&t, n);
        for (size_t i = 0; i < n; i++) want[i] = INT64_MIN;
        assert_int_equal(maxtree_next(&t, 0, 0), MAXTREE_NONE);
        for (int step = 0; step < 3000; step++) {
            const size_t at = (size_t)rand() % n, from = (size_t)rand() % (n + 1);
            const int64_t bound = rand() % 60;
            want[at] = rand() % 50;
            maxtree_set(&t, at, want[at]);
            size_t first = from;
            while (first < n && want[first] < bound) first++;
            assert_int_equal(maxtree_next(&t, from, bound), first < n ? first : MAXTREE_NONE);
            assert_int_equal(maxtree_get(&t, at), want[at]);
        }
        int64_t most = INT64_MIN;
        for (size_t i = 0; i < n; i++) most = want[i] > most ? want[i] : most;
        assert_int_equal(maxtree_max(&t), most);
        maxtree_fini(&t);
        free(want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(agrees_with_a_scan) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
