/* Turns on one card: closed forms, the exact solution against the steady state of its Markov chain,
 * ceilings, and as many residents as a card of thousandths admits. */
#include "tests/support/support.h"

#include "policy/timeshare.h"

#include <math.h>

static void alone(void **state)
{
    const struct turn_taker t[] = { { 0.3, 0.7, 0 }, { 0, 1, 0 }, { 1, 0, 0 }, { 0.5, 1.5, 0 } };
    const double want[] = { 1, 1, 1, 0.5 };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        double speed = (double)NAN;
        timeshare_speeds(&t[i], 1, 0.4, &speed); /* nobody to switch to */
        assert_close(speed, want[i], 1e-14);
    }
    timeshare_speeds(t, 0, 0, NULL);
}

/* Always busy: 1/n each, and with switches quantum / (quantum + switch) of it. */
static void always_busy(void **state)
{
    struct turn_taker t[20];
    double speed[20];
    (void)state;
    for (size_t n = 2; n <= 20; n++) {
        for (size_t i = 0; i < n; i++) t[i] = (struct turn_taker){ 0, 1, 0 };
        timeshare_speeds(t, n, 0, speed);
        for (size_t i = 0; i < n; i++) assert_close(speed[i], 1.0 / (double)n, 1e-12);
        timeshare_speeds(t, n, 0.25, speed);
        for (size_t i = 0; i < n; i++) assert_close(speed[i], 0.8 / (double)n, 1e-12);
    }
}

/* Registers of empty SMs need not be saved: 56 SMs of 256 KiB, there and back at 933 GB/s. */
static void narrow_jobs_switch_cheaper(void **state)
{
    const struct gpu_spec a30 = { .sms = 56, .mem_Bps = 933e9 }, unknown = { .mem_Bps = 933e9 };
    struct turn_taker t[] = { { .demand = 1 }, { .demand = 1 } };
    double speed[2];
    (void)state;
    assert_close(timeshare_spared(&a30, 1, 1e-3), 0, 0);
    assert_close(timeshare_spared(&a30, 0.25, 1e-3), 2 * 42 * 262144.0 / 933e9 / 1e-3, 1e-12);
    assert_close(timeshare_spared(&unknown, 0.25, 1e-3), 0, 0);
    t[0].spared = t[1].spared = 0.05;
    timeshare_speeds(t, 2, 0.25, speed);
    assert_close(speed[0], 0.5 / 1.20, 1e-12);
    timeshare_speeds(t, 2, 0.04, speed); /* never a gain */
    assert_close(speed[0], 0.5, 1e-12);
    t[1].spared = 0; /* two kinds: each pays for its own switches */
    timeshare_speeds(t, 2, 0.25, speed);
    assert_close(speed[0], 0.5 / 1.20, 1e-12);
    assert_close(speed[1], 0.5 / 1.25, 1e-12);
}

/* Two classes of one: the processor-sharing chain over who is at the card, solved by hand. With
 * exponential times at rates 1/z (off the card) and 1/d (on it, halved when both are there). */
static void two_different_by_chain(void **state)
{
    const double z[2] = { 0.35, 0.62 }, d[2] = { 0.65, 0.38 };
    /* states: nobody, first, second, both at the card; power iteration on the uniformised chain */
    double p[4] = { 0.25, 0.25, 0.25, 0.25 }, speed[2];
    const struct turn_taker t[2] = { { z[0], d[0], 0 }, { z[1], d[1], 0 } };
    (void)state;
    for (int round = 0; round < 20000; round++) {
        double q[4] = { 0 };
        for (int s = 0; s < 4; s++) {
            double stay = p[s];
            for (int i = 0; i < 2; i++) {
                const int here = s >> i & 1, both = s == 3;
                const double rate = here ? (both ? 0.5 : 1) / d[i] : 1 / z[i];
                const double move = p[s] * rate * 0.05;
                q[s ^ (1 << i)] += move;
                stay -= move;
            }
            q[s] += stay;
        }
        for (int s = 0; s < 4; s++) p[s] = q[s];
    }
    timeshare_speeds(t, 2, 0, speed);
    /* cycles per second: throughput of the delay */
    assert_close(speed[0], (p[0] + p[2]) / z[0], 1e-9);
    assert_close(speed[1], (p[0] + p[1]) / z[1], 1e-9);
}

static void ceilings_hold_and_lend(void **state)
{
    const struct turn_taker t[2] = { { 0, 1, 0 }, { 0, 1, 0 } };
    double speed[2], cap[2] = { 0.2, INFINITY };
    (void)state;
    timeshare_capped(t, cap, 2, 0, speed);
    assert_close(speed[0], 0.2, 1e-9);
    assert_true(speed[1] > 0.6 && speed[1] <= 0.8 + 1e-9); /* gets what the first leaves */
    cap[0] = 0.9;
    timeshare_capped(t, cap, 2, 0, speed);
    assert_close(speed[0], 0.5, 1e-12); /* a ceiling that does not bind */
    timeshare_capped(t, NULL, 2, 0, speed);
    assert_close(speed[1], 0.5, 1e-12);
    cap[0] = 0.3;
    timeshare_capped(t, cap, 1, 0, speed);
    assert_close(speed[0], 0.3, 1e-12);
}

/* Nearly equal residents are nearly like equal ones, however many. */
static void nearly_equal_is_nearly_the_same(void **state)
{
    (void)state;
    for (size_t n = 2; n <= 80; n += 13) { /* on both sides of 64 */
        struct turn_taker near[80], same[80];
        double of_near[80], of_same[80];
        for (size_t i = 0; i < n; i++) {
            same[i] = (struct turn_taker){ 0.5, 0.5, 0 };
            near[i] = (struct turn_taker){ 0.5 + 1e-9 * (double)i, 0.5 - 1e-9 * (double)i, 0 };
        }
        timeshare_speeds(near, n, 0.1, of_near);
        timeshare_speeds(same, n, 0.1, of_same);
        for (size_t i = 0; i < n; i++) assert_close(of_near[i], of_same[i], 1e-6);
    }
}

static void a_thousand_residents(void **state)
{
    static struct turn_taker t[TIMESHARE_MAX];
    static double speed[TIMESHARE_MAX], cap[TIMESHARE_MAX];
    double at_card = 0;
    (void)state;
    for (int i = 0; i < TIMESHARE_MAX; i++) {
        t[i] = i % 2 ? (struct turn_taker){ 0.9, 0.1, 0 } : (struct turn_taker){ 0.2, 0.8, 0 };
        cap[i] = 0.001;
    }
    timeshare_speeds(t, TIMESHARE_MAX, 0, speed);
    for (int i = 0; i < TIMESHARE_MAX; i++) at_card += speed[i] * t[i].demand;
    assert_true(at_card > 1 - 1e-4 && at_card <= 1 + 1e-6); /* saturated, and not more */
    timeshare_capped(t, cap, TIMESHARE_MAX, 0.1, speed);
    for (int i = 0; i < TIMESHARE_MAX; i++) assert_true(speed[i] > 0 && speed[i] <= 0.001 + 1e-9);
}

/* A burst beside tenants that never leave, turn by turn: it comes at any time of a round. */
static double walked(double work, size_t others, double turn)
{
    enum { STARTS = 1000 };
    double sum = 0;
    for (size_t k = 0; k < STARTS; k++) {
        /* the round begins with the others' turns; the burst comes in the middle of it somewhere */
        double left = work, now = ((double)k + 0.5) / STARTS * (double)others * turn;
        const double came = now;
        now = (double)others * turn;
        for (;;) {
            const double slice = fmin(left, turn);
            now += slice;
            left -= slice;
            if (left <= 1e-15) break;
            now += (double)others * turn;
        }
        sum += now - came;
    }
    return sum / STARTS;
}

static void short_bursts(void **state)
{
    (void)state;
    for (size_t others = 0; others <= 7; others++)
        for (double work = 0.1e-3; work < 20e-3; work *= 1.7)
            assert_close(timeshare_burst_s(work, (double)others, 2e-3), walked(work, others, 2e-3),
                         1e-9);
    /* alone nothing is in the way; a tiny one waits half a round; long ones share */
    assert_close(timeshare_burst_s(0.5, 0, 2e-3), 0.5, 0);
    assert_close(timeshare_burst_s(1e-9, 3, 2e-3), 3e-3, 1e-3);
    double mean = 0;
    for (int i = 0; i < 1000; i++) mean += timeshare_burst_s(0.1 + i * 2e-6, 3, 2e-3) / 1000;
    assert_close(mean, 4 * 0.101, 1e-3);
    assert_close(timeshare_burst_s(0, 3, 2e-3), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone),
        cmocka_unit_test(always_busy),
        cmocka_unit_test(short_bursts),
        cmocka_unit_test(narrow_jobs_switch_cheaper),
        cmocka_unit_test(two_different_by_chain),
        cmocka_unit_test(ceilings_hold_and_lend),
        cmocka_unit_test(nearly_equal_is_nearly_the_same),
        cmocka_unit_test(a_thousand_residents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
