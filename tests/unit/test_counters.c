/* test_counters.c - work signatures from counters of a whole card, and from batches. */
#include "support/support.h"

#include "model/batchwork.h"
#include "model/counters.h"

#include <math.h>

static const struct gpu_spec board = { .name = "b", .idle_W = 50, .tdp_W = 250 };
static const struct counters_fit fit = { .power_gain = 0.8, .memory_share = 0.5 };

static double sum(const struct signature *s)
{
    return s->host + s->compute + s->memory;
}

static void counters_by_hand(void **state)
{
    (void)state;
    /* active = 0.8 x (150 - 50) / 200 = 0.4; memory 0.2; compute 0.6; width (0.4 - 0.2) / 0.6 */
    const struct counters c = { 0.8, 0.4, 150 };
    const struct signature s = signature_from_counters(&c, &board, &fit);
    assert_close(s.host, 0.2, 1e-12);
    assert_close(s.memory, 0.2, 1e-12);
    assert_close(s.compute, 0.6, 1e-12);
    assert_close(s.sm_width, 1.0 / 3, 1e-12);
    assert_close(s.bw_width, 1, 0);
}

static void counters_at_their_ends(void **state)
{
    (void)state;
    static const struct counters ends[] = { { 0, 0, 50 },  { 0, 1, 250 },   { 1, 0, 250 },
                                            { 1, 1, 250 }, { 1, 1, 0 },     { 0.01, 1, 900 },
                                            { 1, 0, 50 },  { 0.5, 0.9, 60 } };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const struct signature s = signature_from_counters(&ends[i], &board, NULL);
        assert_close(sum(&s), 1, 1e-12);
        assert_true(s.host >= 0 && s.compute >= 0 && s.memory >= 0);
        assert_true(s.sm_width > 0 && s.sm_width <= 1 && s.bw_width > 0 && s.bw_width <= 1);
    }
}

static void more_power_is_wider_work(void **state)
{
    (void)state;
    double before = 0;
    for (double watts = 60; watts <= 250; watts += 10) {
        const struct counters c = { 0.9, 0.2, watts };
        const double width = signature_from_counters(&c, &board, NULL).sm_width;
        assert_true(width >= before);
        before = width;
    }
    assert_true(before > 0.8);
}

static void without_power_kernels_count_as_wide(void **state)
{
    (void)state;
    const struct counters c = { 0.7, 0.3, NAN };
    assert_close(signature_from_counters(&c, &board, NULL).sm_width, 1, 0);
    const struct gpu_spec unknown = { .idle_W = NAN, .tdp_W = 250 };
    const struct counters d = { 0.7, 0.3, 120 };
    assert_close(signature_from_counters(&d, &unknown, NULL).sm_width, 1, 0);
}

/* A floor of 3 ms and 4 ms of work: 5 ms, and four fifths of the card. */
static void batches_by_hand(void **state)
{
    (void)state;
    const struct batch_work w = { 3e-3, 1e-3, 0, 0.2e-3, 0.1e-3, 0 };
    assert_close(batch_time_s(&w, 10), 5e-3, 1e-12);
    const struct signature s = batch_signature(&w, 10);
    assert_close(sum(&s), 1, 1e-12);
    assert_close(s.compute, 2.0 / 3, 1e-12);
    assert_close(s.sm_width, 0.8, 1e-12);
    assert_close(s.bw_width, 0.8, 1e-12);
}

static void large_batches_fill_the_card(void **state)
{
    (void)state;
    const struct batch_work w = { 3e-3, 1e-3, 0, 0.2e-3, 0.1e-3, 0 };
    assert_close(batch_signature(&w, 1e6).sm_width, 1, 1e-6);
    assert_close(batch_time_s(&w, 1e6), 300.001, 1e-6);
    assert_close(batch_time_s(&w, 0), sqrt(10) * 1e-3, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_by_hand),
        cmocka_unit_test(counters_at_their_ends),
        cmocka_unit_test(more_power_is_wider_work),
        cmocka_unit_test(without_power_kernels_count_as_wide),
        cmocka_unit_test(batches_by_hand),
        cmocka_unit_test(large_batches_fill_the_card),
    };
    return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
