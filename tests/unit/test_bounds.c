/* test_bounds.c - what a pass of promises has learnt, by hand and against a list of all that was
 * said. Mutants: a shorter request takes a longer one's bound; a bound outlives the pass. */
#include "support/support.h"

#include "engine/bounds.h"

#include <string.h>

static void longer_requests_begin_where_shorter_ones_found_none(void **state)
{
    struct bounds b = { .n_groups = 2 };
    struct shape s = { 0 };
    (void)state;
    bounds_forget(&b);
    assert_int_equal(bounds_from(&b, &s, 0, 100, 7), 7);
    bounds_learn(&b, &s, 0, 100, 50);
    assert_int_equal(bounds_from(&b, &s, 0, 99, 7), 7);
    assert_int_equal(bounds_from(&b, &s, 0, 100, 7), 50);
    assert_int_equal(bounds_from(&b, &s, 0, 500, 60), 60); /* the later of the two */
    assert_int_equal(bounds_from(&b, &s, 1, 100, 7), 7);   /* another group */
    bounds_learn(&b, &s, 0, 300, 40);                      /* says no more than the first */
    assert_int_equal(bounds_from(&b, &s, 0, 300, 7), 50);
    bounds_learn(&b, &s, 0, 20, 90); /* says more than both */
    assert_int_equal(bounds_from(&b, &s, 0, 20, 7), 90);
    assert_int_equal(bounds_from(&b, &s, 0, 300, 7), 90);
    bounds_forget(&b);
    assert_int_equal(bounds_from(&b, &s, 0, 300, 7), 7);
    bounds_fini(&b);
}

static void agrees_with_all_that_was_said(void **state)
{
    enum { N = 200, SHAPES = 3 };
    uint64_t seed = test_seed();
    struct bounds b = { .n_groups = 1 };
    struct shape shape[SHAPES];
    (void)state;
    memset(shape, 0, sizeof shape);
    for (int pass = 0; pass < 5; pass++) {
        struct bound said[N];
        int of[N];
        bounds_forget(&b);
        for (int i = 0; i < N; i++) {
            of[i] = (int)(test_random(&seed) % SHAPES);
            said[i].length = (simtime)(test_random(&seed) % 50);
            said[i].at = (simtime)(test_random(&seed) % 50);
            bounds_learn(&b, &shape[of[i]], 0, said[i].length, said[i].at);
            const simtime length = (simtime)(test_random(&seed) % 50);
            const int ask = (int)(test_random(&seed) % SHAPES);
            simtime most = 3;
            for (int k = 0; k <= i; k++)
                if (of[k] == ask && said[k].length <= length && said[k].at > most)
                    most = said[k].at;
            assert_int_equal(bounds_from(&b, &shape[ask], 0, length, 3), most);
        }
    }
    bounds_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longer_requests_begin_where_shorter_ones_found_none),
        cmocka_unit_test(agrees_with_all_that_was_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
