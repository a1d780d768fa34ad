/* Card time as integers: hand-known integrals, and limits of long runs on large fleets. */
#include "tests/support/support.h"

#include "engine/meters.h"

#include <math.h>
#include <string.h>

static void shares_are_exact(void **state)
{
    (void)state;
    assert_true(meter_share(1.0) == METER_CARD);
    assert_true(meter_share(0) == 0);
    assert_true(meter_share(0.25) == METER_CARD / 4);
    assert_true(meter_share(1.0 / 3) * 3 - METER_CARD <= 1);
}

static void integrals_by_hand(void **state)
{
    struct meter_group g = { 0 };
    const int32_t none[METERS] = { 0 };
    int32_t a[METERS] = { 0 }, b[METERS] = { 0 };
    (void)state;
    a[METER_ALLOCATED] = METER_CARD;
    a[METER_SM] = METER_CARD / 2;
    b[METER_ALLOCATED] = METER_CARD / 4;
    meters_move(&g, none, a, 10 * SIM_SECOND); /* one card at 10 s */
    meters_move(&g, none, b, 14 * SIM_SECOND); /* another at 14 s */
    meters_move(&g, a, none, 20 * SIM_SECOND); /* the first leaves at 20 s */
    meters_settle(&g, 24 * SIM_SECOND);
    meters_settle(&g, 24 * SIM_SECOND); /* twice is once */
    assert_close(meter_card_s(g.integral[METER_ALLOCATED]), 10 + 0.25 * 10, 1e-15);
    assert_close(meter_card_s(g.integral[METER_SM]), 5, 1e-15);
    assert_true(g.integral[METER_DOWN] == 0);
    meters_reset(&g, 26 * SIM_SECOND);
    assert_true(g.integral[METER_ALLOCATED] == 0);
    assert_true(g.now[METER_ALLOCATED] == METER_CARD / 4); /* what is held stays held */
    meters_settle(&g, 30 * SIM_SECOND);
    assert_close(meter_card_s(g.integral[METER_ALLOCATED]), 1, 1e-15);
    meters_move(&g, b, none, 30 * SIM_SECOND);
    for (int m = 0; m < METERS; m++) assert_true(g.now[m] == 0); /* exactly nothing is left */
}

/* 10 million cards for 292 years: nothing overflows. */
static void the_largest_run(void **state)
{
    struct meter_group g = { 0 };
    (void)state;
    for (int m = 0; m < METERS; m++) g.now[m] = 10000000 * METER_CARD;
    meters_settle(&g, SIM_NEVER - 1);
    assert_close(meter_card_s(g.integral[METER_DUTY]), 1e7 * 9.223372036854775807e9, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_exact),
        cmocka_unit_test(integrals_by_hand),
        cmocka_unit_test(the_largest_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
