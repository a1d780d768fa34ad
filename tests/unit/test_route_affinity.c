/* Session affinity is consistent: with n replicas up each has its share of the sessions, one that
 * goes moves its own sessions only, evenly to the others, and they come back with it; one that
 * comes takes one in n + 1 and nothing else moves. Requests without a session go in turn.
 *
 * Mutant: affinity-by-rank. */
#include "engine/route.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

extern const struct route_ops route_affinity;

enum { PLACES = 10, SESSIONS = 20000 };

struct fleet {
    bool up[PLACES];
};

static bool is_up(const struct route_view *v, size_t place)
{
    assert_in_range(place, 0, PLACES - 1);
    return ((const struct fleet *)v->ctx)->up[place];
}

static size_t by_rank(const struct route_view *v, size_t rank)
{
    size_t place = 0;
    for (;; place++)
        if (is_up(v, place) && rank-- == 0) return place;
}

static size_t place_of(const struct fleet *f, uint64_t session, uint64_t sequence)
{
    struct route_view v = { .session = session,
                            .sequence = sequence,
                            .places = PLACES,
                            .is_up = is_up,
                            .by_rank = by_rank,
                            .ctx = f };
    for (size_t i = 0; i < PLACES; i++) v.n += f->up[i];
    return route_affinity.pick(&v);
}

static void all(const struct fleet *f, size_t place[], size_t count[])
{
    memset(count, 0, PLACES * sizeof *count);
    for (size_t s = 0; s < SESSIONS; s++) {
        place[s] = place_of(f, s + 1, 3 * s);
        assert_true(f->up[place[s]]);
        count[place[s]]++;
    }
}

/* Five standard deviations of a binomial share. */
static void about(size_t n, double of, double share)
{
    const double expected = of * share, spread = 5 * sqrt(expected * (1 - share));
    if (fabs((double)n - expected) > spread)
        fail_msg("%zu sessions, expected %.0f within %.0f", n, expected, spread);
}

static size_t before[SESSIONS], after[SESSIONS];

static void one_goes(void **state)
{
    struct fleet f = { .up = { 1, 1, 1, 1, 1, 1, 1 } };
    size_t count[PLACES], then[PLACES];
    (void)state;
    all(&f, before, count);
    for (size_t i = 0; i < 7; i++) about(count[i], SESSIONS, 1.0 / 7);
    f.up[3] = false;
    all(&f, after, then);
    for (size_t s = 0; s < SESSIONS; s++)
        if (before[s] != 3) assert_int_equal(after[s], before[s]);
    for (size_t i = 0; i < 7; i++)
        if (i != 3) about(then[i] - count[i], (double)count[3], 1.0 / 6);
    f.up[3] = true;
    all(&f, after, then);
    assert_memory_equal(after, before, sizeof before);
}

static void one_comes(void **state)
{
    struct fleet f = { .up = { 1, 0, 1, 1, 1 } };
    size_t count[PLACES], moved = 0;
    (void)state;
    all(&f, before, count);
    f.up[1] = true;
    all(&f, after, count);
    for (size_t s = 0; s < SESSIONS; s++) {
        if (after[s] == before[s]) continue;
        assert_int_equal(after[s], 1);
        moved++;
    }
    about(moved, SESSIONS, 1.0 / 5);
}

/* Ten people and ten places: one each; where his is not up a user goes where a session would. */
static void users(void **state)
{
    const struct fleet f = { .up = { 1, 1, 1, 0, 1, 1, 1, 1, 1, 1 } };
    (void)state;
    for (uint64_t u = 1; u <= PLACES; u++) {
        struct route_view v = { .n = PLACES - 1,
                                .session = u,
                                .dense = true,
                                .places = PLACES,
                                .is_up = is_up,
                                .by_rank = by_rank,
                                .ctx = &f };
        assert_int_equal(route_affinity.pick(&v), u == 4 ? place_of(&f, 4, 0) : u - 1);
    }
}

static void without_a_session(void **state)
{
    const struct fleet f = { .up = { 0, 1, 0, 1 } }, last = { .up = { [PLACES - 1] = 1 } };
    (void)state;
    for (uint64_t i = 0; i < 6; i++) assert_int_equal(place_of(&f, 0, i), i % 2 ? 3 : 1);
    for (uint64_t s = 1; s < 100; s++) assert_int_equal(place_of(&last, s, 0), PLACES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(one_goes), cmocka_unit_test(one_comes),
                                        cmocka_unit_test(users),
                                        cmocka_unit_test(without_a_session) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
