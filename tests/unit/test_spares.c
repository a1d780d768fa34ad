/* test_spares.c - spare cards (reference cases E and F). */
#include "support/support.h"

#include "cost/spares.h"

#include <math.h>

/* 9 % a year, 14 days of repair. */
static void enough_up(void **state)
{
    (void)state;
    static const struct {
        int n, k;
        double up;
    } rows[] = { { 13, 0, 0.956041 },    { 13, 1, 0.998945 },   { 13, 2, 0.999982 },
                 { 40, 0, 0.870819 },    { 40, 1, 0.991064 },   { 40, 2, 0.999573 },
                 { 136, 0, 0.624820 },   { 136, 1, 0.918160 },  { 136, 3, 0.998540 },
                 { 136, 4, 0.999861 },   { 1024, 0, 0.028984 }, { 1024, 5, 0.850981 },
                 { 1024, 10, 0.998839 }, { 1024, 11, 0.999664 } };
    const double q = spares_unavailability(0.09, 14);
    assert_true(fabs(q - 0.003452) < 5e-7);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(fabs(spares_up(rows[i].n, rows[i].k, q) - rows[i].up) < 1e-6);
}

static void spares_to_buy(void **state)
{
    (void)state;
    static const int rows[][2] = { { 13, 2 }, { 40, 2 }, { 136, 4 }, { 1024, 11 } };
    const double q = spares_unavailability(0.09, 14);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(spares_needed(rows[i][0], q, 0.999), rows[i][1]);
    for (int n = 1; n <= 64; n++) { /* it is the smallest */
        const int64_t k = spares_needed(n, 0.07, 0.995);
        assert_true(spares_up(n, k, 0.07) >= 0.995);
        assert_true(k == 0 || spares_up(n, k - 1, 0.07) < 0.995);
    }
    assert_int_equal(spares_needed(13, 0, 0.999), 0);
    assert_int_equal(spares_needed(13, q, 0.5), 0);
    assert_int_equal(spares_needed(13, 1, 0.999), -1); /* never up */
    assert_close(spares_unavailability(40, 14), 1, 0);
}

static void whole_nodes(void **state)
{
    (void)state;
    assert_int_equal(spares_whole_nodes(13 + 2, 8), 16);
    assert_int_equal(spares_whole_nodes(16, 8), 16);
    assert_int_equal(spares_whole_nodes(17, 8), 24);
    assert_int_equal(spares_whole_nodes(17, 1), 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enough_up),
        cmocka_unit_test(spares_to_buy),
        cmocka_unit_test(whole_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
