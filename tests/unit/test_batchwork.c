/* test_batchwork.c - time and signature of a batch by hand: a triangle of 3, 4 and 5. */
#include "model/batchwork.h"
#include "support/support.h"

static void a_batch_by_hand(void **state)
{
    (void)state;
    const struct batch_work w = {
        .floor_s = 3, .fixed_s = 1, .compute_s = 2, .memory_s = 1, .copy_s = 0.5
    };
    const struct signature s = batch_signature(&w, 1);
    assert_close(batch_time_s(&w, 1), 5.5, 1e-12);
    assert_close(s.host, 0.5 / 5.5, 1e-12);
    assert_close(s.memory, 5 / 5.5 / 3, 1e-12);
    assert_close(s.host + s.compute + s.memory, 1, 1e-12);
    assert_close(s.sm_width, 0.8, 1e-12);
    assert_close(s.bw_width, 0.8, 1e-12);
    /* 4/3 samples keep it busy for 5: 5.83 and 2/3 */
    assert_close(batch_time_s(&w, 4.0 / 3), 6.4976185, 1e-7);
}

static void a_batch_of_one_has_kernels_of_its_own(void **state)
{
    (void)state;
    const struct batch_work w = {
        .floor_s = 3, .fixed_s = 1, .one_s = 1.6, .compute_s = 2, .memory_s = 1
    };
    assert_close(batch_time_s(&w, 1), 3.4, 1e-12);
    assert_close(batch_signature(&w, 1).sm_width, 1.6 / 3.4, 1e-12);
    assert_close(batch_time_s(&w, 2), 7.6157731, 1e-7); /* hypot 3, 7: the line again */
    assert_close(batch_signature(&w, 2).host, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_batch_by_hand),
                                        cmocka_unit_test(a_batch_of_one_has_kernels_of_its_own) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
