/* Quantum and switch from two logs with planted turns; mean value analysis against known values. */
#include "calibrate/timeslice.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { TURNS = 40 };

/* Two processes take turns of q ns with c ns between them, from t0; `a` has the first turn. Each
 * log holds the gaps of its process, and ends in the middle of a run of its own. */
static void plant(struct slice_log *a, struct slice_log *b, uint64_t q, uint64_t c)
{
    static struct span gap_a[TURNS], gap_b[TURNS];
    const uint64_t t0 = 1000000, period = 2 * (q + c);
    for (uint64_t i = 0; i < TURNS; i++) {
        gap_a[i] = (struct span){ t0 + i * period + q, t0 + (i + 1) * period };
        gap_b[i] = (struct span){ t0 + i * period + 2 * q + c, t0 + (i + 1) * period + q + c };
    }
    *a = (struct slice_log){ t0, t0 + TURNS * period + q / 2, gap_a, TURNS };
    *b = (struct slice_log){ t0 + q + c, t0 + TURNS * period + q + c + q / 2, gap_b, TURNS };
}

static void planted_turns(void **state)
{
    static const struct {
        uint64_t q, c;
    } planted[] = { { 1024000, 111000 }, { 2000000, 0 }, { 500000, 750000 } };
    const struct stop_rule rule = { 0.01, 6, 1000, 1 };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct slice_log a, b;
        struct sampler q, c;
        sampler_init(&q, &rule, 0);
        sampler_init(&c, &rule, 0);
        plant(&a, &b, planted[i].q, planted[i].c);
        slice_quanta(&a, &b, &q);
        slice_quanta(&b, &a, &q);
        const struct slice_log both[2] = { a, b };
        for (size_t k = 0; k < 2; k++) slice_switches(both, 2, k, &c);
        assert_true(q.n > TURNS && c.n > TURNS); /* both logs contribute */
        for (size_t k = 0; k < q.n; k++) assert_close(q.v[k], 1e-3 * (double)planted[i].q, 1e-9);
        for (size_t k = 0; k < c.n; k++) assert_close(c.v[k], 1e-3 * (double)planted[i].c, 1e-9);
        sampler_fini(&q);
        sampler_fini(&c);
    }
}

/* Time in which the other was not there yet, or no more, says nothing. */
static void only_what_both_saw(void **state)
{
    const struct stop_rule rule = { 0.01, 6, 1000, 1 };
    struct slice_log a, b, none = { 0, 10, NULL, 0 };
    struct sampler q, c;
    (void)state;
    plant(&a, &b, 1000, 100);
    b.first = a.gap[TURNS / 2].from; /* b joins half-way */
    sampler_init(&q, &rule, 0);
    sampler_init(&c, &rule, 0);
    slice_quanta(&a, &b, &q);
    assert_int_equal(q.n, TURNS / 2 - 1);
    const struct slice_log one[2] = { a, none };
    for (size_t k = 0; k < 2; k++) slice_switches(one, 2, k, &c);
    slice_quanta(&none, &a, &c);
    assert_int_equal(c.n, 0);
    sampler_fini(&q);
    sampler_fini(&c);

    /* a gap with two runs of the other in it (a third process, or a lost turn) is no switch */
    struct span gap_a[] = { { 100, 500 } }, gap_b[] = { { 0, 150 }, { 200, 300 }, { 350, 900 } };
    const struct slice_log more[2] = { { 0, 1000, gap_a, 1 }, { 0, 1000, gap_b, 3 } };
    sampler_init(&c, &rule, 0);
    slice_switches(more, 2, 0, &c);
    assert_int_equal(c.n, 0);
    sampler_fini(&c);
}

/* Three take turns of 700, 900 and 1300 ns with 40 ns between them: a gap is two runs and three
 * switches. Where one of them misses its turn the gap says nothing. */
static void three_processes(void **state)
{
    enum { N = 12 };
    const uint64_t q[3] = { 700, 900, 1300 }, c = 40, period = 700 + 900 + 1300 + 3 * 40;
    const struct stop_rule rule = { 0.01, 6, 1000, 1 };
    struct span gap[3][N];
    struct slice_log log[3];
    struct sampler s;
    uint64_t begin = 5000;
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        for (uint64_t i = 0; i < N; i++)
            gap[k][i] = (struct span){ begin + i * period + q[k], begin + (i + 1) * period };
        log[k] = (struct slice_log){ begin, begin + N * period + q[k] / 2, gap[k], N };
        begin += q[k] + c;
    }
    sampler_init(&s, &rule, 0);
    for (size_t k = 0; k < 3; k++) slice_switches(log, 3, k, &s);
    assert_true(s.n >= 3 * (N - 2));
    for (size_t i = 0; i < s.n; i++) assert_close(s.v[i], 0.04, 1e-12);
    const size_t all = s.n;
    sampler_fini(&s);

    gap[1][4].to = gap[1][5].to; /* the second one misses a turn */
    memmove(&gap[1][5], &gap[1][6], (N - 6) * sizeof gap[1][0]);
    log[1].n--;
    sampler_init(&s, &rule, 0);
    slice_switches(log, 3, 0, &s);
    slice_switches(log, 3, 2, &s);
    for (size_t i = 0; i < s.n; i++) assert_close(s.v[i], 0.04, 1e-12);
    assert_true(s.n < all * 2 / 3 && s.n > 6);
    sampler_fini(&s);
}

static void mean_value_analysis(void **state)
{
    (void)state;
    assert_close(slice_mva(1, 0.42, 0.58, 0.1), 1, 1e-12); /* alone: no switch */
    assert_close(slice_mva(7, 0, 1, 0.1), 1 / 1.1, 1e-12); /* always busy: the efficiency, any n */
    /* the H200 replicas of the reference: u = 0.58 gives 1.27 and 1.51 .. 1.71 with 2 and 4 */
    assert_close(slice_mva(2, 0.42, 0.58, 0), 2 / (0.58 * 1.58 + 0.42), 1e-12);
    assert_true(slice_mva(4, 0.42, 0.58, 0) > 1.6 && slice_mva(4, 0.42, 0.58, 0) < 1 / 0.58);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_turns),
        cmocka_unit_test(only_what_both_saw),
        cmocka_unit_test(three_processes),
        cmocka_unit_test(mean_value_analysis),
    };
    return cmocka_run_group_tests_name("calibrate timeslice", tests, NULL, NULL);
}
