/* The autoscaler's rule, look by look. Mutant: scale-down-at-once. */
#include "support/support.h"

#include "engine/scale.h"

#include <math.h>

static simtime now;

static int64_t look(struct scaler *s, int64_t current, double busy, double present)
{
    now += 15 * SIM_SECOND;
    return scaler_want(s, now, current, busy, present);
}

/* Two requests a replica. More at once; fewer when fewer have been wanted for 45 s: four looks. */
static void by_queue(void **state)
{
    const struct service_replicas r = { .min = 1,
                                        .max = 10,
                                        .scale_on = SCALE_QUEUE,
                                        .target = 2,
                                        .interval = 15 * SIM_SECOND,
                                        .down_after = 45 * SIM_SECOND };
    struct scaler *s = scaler_create(&r);
    (void)state;
    assert_int_equal(look(s, 1, NAN, 8), 4);
    assert_int_equal(look(s, 4, 1, 8.5), 4); /* within a tenth */
    assert_int_equal(look(s, 4, 1, 8.9), 5); /* 4 x 1.11, rounded up */
    assert_int_equal(look(s, 5, 1, 2), 5);   /* 1 is wanted; 4, 4, 5 were */
    assert_int_equal(look(s, 5, 1, 2), 5);
    assert_int_equal(look(s, 5, 1, 2), 5);
    assert_int_equal(look(s, 5, 1, 5), 3); /* the 5 is gone: 3 now, 1 before */
    assert_int_equal(look(s, 3, 1, 0), 3);
    assert_int_equal(look(s, 3, 1, 1000), 10);
    scaler_destroy(s);
}

static void by_utilization(void **state)
{
    const struct service_replicas r = { .min = 2,
                                        .max = 8,
                                        .scale_on = SCALE_UTILIZATION,
                                        .target = 0.6,
                                        .interval = 15 * SIM_SECOND,
                                        .down_after = 0 };
    struct scaler *s = scaler_create(&r);
    (void)state;
    assert_int_equal(look(s, 4, 0.9, 0), 6);
    assert_int_equal(look(s, 4, 0.64, 0), 4);
    assert_int_equal(look(s, 4, NAN, 50), 4); /* nobody was up to be busy */
    assert_int_equal(look(s, 4, 0.3, 0), 2);
    assert_int_equal(look(s, 4, 0, 0), 2);
    assert_int_equal(look(s, 8, 1, 0), 8);
    scaler_destroy(s);
}

static void by_hour(void **state)
{
    struct service_replicas r = {
        .min = 1, .max = 24, .scale_on = SCALE_SCHEDULE, .interval = SIM_HOUR
    };
    (void)state;
    for (int h = 0; h < 24; h++) r.hour[h] = h + 1;
    struct scaler *s = scaler_create(&r);
    assert_int_equal(scaler_want(s, 0, 3, NAN, 0), 1);
    assert_int_equal(scaler_want(s, 30 * SIM_HOUR, 3, NAN, 0), 7);
    scaler_destroy(s);
    const struct service_replicas fixed = { .min = 3, .max = 3 };
    assert_null(scaler_create(&fixed));
    scaler_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(by_queue),
                                        cmocka_unit_test(by_utilization),
                                        cmocka_unit_test(by_hour) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
