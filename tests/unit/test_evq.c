/* test_evq.c - engine/evq: order, handles, clock, wrap-arounds and bugs of the caller; then random
 * operations against a list that is searched from end to end. */
#include "engine/evq.h"

#include "tests/support/support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static uint32_t pop_arg(struct evq *q)
{
    struct event ev;
    assert_true(evq_pop(q, &ev));
    return ev.arg;
}

static void assert_empty(struct evq *q)
{
    struct event ev = { .arg = 385 };
    simtime now = evq_now(q);
    assert_false(evq_pop(q, &ev));
    assert_int_equal(ev.arg, 385);
    assert_int_equal(evq_now(q), now);
    assert_int_equal(evq_peek(q), SIM_NEVER);
}

/* ---- scripts: one operation a line; events are named by letters, which are their arg ---- */

struct op {
    enum { AT, MOVE, CANCEL, POP, EMPTY } what;
    char name;
    simtime when; /* POP: what the clock shows afterwards */
    enum ev_class cls;
    bool stale; /* MOVE, CANCEL: must be refused */
};

static void run_script(const struct op *op, size_t n)
{
    struct evq *q = evq_create(0);
    ev_id id[128] = { { 0, 0 } };
    for (size_t i = 0; i < n; i++, op++) {
        size_t name = (size_t)op->name;
        switch (op->what) {
        case AT:
            id[name] = evq_at(q, op->when, op->cls, (uint16_t)(name + 1000), (uint32_t)name);
            break;
        case MOVE: assert_int_equal(evq_move(q, id[name], op->when), !op->stale); break;
        case CANCEL: assert_int_equal(evq_cancel(q, id[name]), !op->stale); break;
        case EMPTY: assert_empty(q); break;
        case POP: {
            struct event ev;
            uint16_t kind;
            uint32_t arg;
            assert_int_equal(evq_peek(q), op->when);
            assert_true(evq_next(q, &kind, &arg));
            assert_true(evq_pop(q, &ev));
            assert_int_equal(kind, ev.kind);
            assert_int_equal(arg, ev.arg);
            assert_int_equal(ev.arg, op->name);
            assert_int_equal(ev.kind, op->name + 1000);
            assert_int_equal(ev.when, op->when);
            assert_int_equal(evq_now(q), op->when);
            assert_false(evq_is_pending(q, id[name]));
        }
        }
    }
    evq_destroy(q);
}

#define SCRIPT(...)                                                                                \
    static const struct op script[] = { __VA_ARGS__ };                                             \
    (void)state;                                                                                   \
    run_script(script, sizeof script / sizeof *script)

static void equal_times_run_by_class(void **state)
{
    SCRIPT({ AT, 's', 2385, EV_STOP, 0 }, { AT, 'm', 2385, EV_SAMPLE, 0 },
           { AT, 'p', 2385, EV_POLICY, 0 }, { AT, 'a', 2385, EV_ARRIVE, 0 },
           { AT, 'x', 2385, EV_FAULT, 0 }, { AT, 'f', 2385, EV_FINISH, 0 },
           { AT, 'e', 2384, EV_STOP, 0 }, { POP, 'e', 2384, 0, 0 }, { POP, 'f', 2385, 0, 0 },
           { POP, 'x', 2385, 0, 0 }, { POP, 'a', 2385, 0, 0 }, { POP, 'p', 2385, 0, 0 },
           { POP, 'm', 2385, 0, 0 }, { POP, 's', 2385, 0, 0 }, { EMPTY, 0, 0, 0, 0 });
}

static void equal_times_and_classes_run_as_scheduled(void **state)
{
    SCRIPT({ AT, 'a', 7, EV_ARRIVE, 0 }, { AT, 'b', 7, EV_ARRIVE, 0 }, { AT, 'c', 7, EV_ARRIVE, 0 },
           { AT, 'd', 7, EV_ARRIVE, 0 }, { AT, 'e', 7, EV_ARRIVE, 0 }, { AT, 'f', 7, EV_ARRIVE, 0 },
           { POP, 'a', 7, 0, 0 }, { AT, 'g', 7, EV_ARRIVE, 0 }, { POP, 'b', 7, 0, 0 },
           { POP, 'c', 7, 0, 0 }, { POP, 'd', 7, 0, 0 }, { POP, 'e', 7, 0, 0 },
           { POP, 'f', 7, 0, 0 }, { POP, 'g', 7, 0, 0 });
}

static void a_moved_event_goes_behind_its_equals(void **state)
{
    SCRIPT({ AT, 'a', 7, EV_ARRIVE, 0 }, { AT, 'b', 7, EV_ARRIVE, 0 }, { AT, 'c', 7, EV_POLICY, 0 },
           { AT, 'd', 9, EV_ARRIVE, 0 }, { MOVE, 'a', 7, 0, 0 }, /* to where it was */
           { MOVE, 'd', 7, 0, 0 }, { POP, 'b', 7, 0, 0 }, { POP, 'a', 7, 0, 0 },
           { POP, 'd', 7, 0, 0 }, { POP, 'c', 7, 0, 0 }, { EMPTY, 0, 0, 0, 0 });
}

static void moves_and_cancels_right_after_a_pop(void **state)
{
    SCRIPT({ AT, 'a', 1, EV_FINISH, 0 }, { AT, 'b', 5, EV_FINISH, 0 }, { AT, 'c', 6, EV_FINISH, 0 },
           { AT, 'd', 8, EV_FINISH, 0 }, { POP, 'a', 1, 0, 0 }, { MOVE, 'd', 2, 0, 0 },
           { POP, 'd', 2, 0, 0 }, { CANCEL, 'b', 0, 0, 0 }, { POP, 'c', 6, 0, 0 },
           { EMPTY, 0, 0, 0, 0 }, { AT, 'z', 6, EV_FINISH, 0 }, { POP, 'z', 6, 0, 0 },
           { CANCEL, 'z', 0, 0, true });
}

static void what_is_moved_to_now_still_comes_after_what_ran(void **state)
{
    SCRIPT({ AT, 'a', 7, EV_STOP, 0 }, { AT, 'b', 9, EV_FINISH, 0 }, { POP, 'a', 7, 0, 0 },
           { MOVE, 'b', 7, 0, 0 }, /* its key is less than that of the event that ran */
           { AT, 'c', 7, EV_FINISH, 0 }, { POP, 'b', 7, 0, 0 }, { POP, 'c', 7, 0, 0 },
           { EMPTY, 0, 0, 0, 0 });
}

static void stale_ids_are_refused(void **state)
{
    SCRIPT({ CANCEL, 'q', 0, 0, true }, { MOVE, 'q', 5, 0, true }, /* never scheduled: {0, 0} */
           { AT, 'a', 1, EV_FINISH, 0 }, { AT, 'b', 2, EV_FINISH, 0 }, { POP, 'a', 1, 0, 0 },
           { MOVE, 'a', 5, 0, true }, { CANCEL, 'a', 0, 0, true }, { CANCEL, 'b', 0, 0, 0 },
           { CANCEL, 'b', 0, 0, true }, { AT, 'c', 3, EV_FINISH, 0 }, { AT, 'd', 4, EV_FINISH, 0 },
           { MOVE, 'a', 5, 0, true }, { MOVE, 'b', 5, 0, true }, /* their slots have new tenants */
           { POP, 'c', 3, 0, 0 }, { POP, 'd', 4, 0, 0 }, { EMPTY, 0, 0, 0, 0 });
}

static void parked_events_wait_to_be_moved(void **state)
{
    SCRIPT({ AT, 'a', SIM_NEVER, EV_FINISH, 0 }, { EMPTY, 0, 0, 0, 0 }, { AT, 'b', 3, EV_STOP, 0 },
           { AT, 'c', SIM_NEVER - 1, EV_STOP, 0 }, { MOVE, 'a', 3, 0, 0 }, { POP, 'a', 3, 0, 0 },
           { MOVE, 'b', SIM_NEVER, 0, 0 }, { POP, 'c', SIM_NEVER - 1, 0, 0 }, { EMPTY, 0, 0, 0, 0 },
           { CANCEL, 'b', 0, 0, 0 }, { EMPTY, 0, 0, 0, 0 });
}

/* ---- single facts ---- */

static void looking_changes_nothing(void **state)
{
    (void)state;
    struct evq *q = evq_create(3);
    assert_int_equal(evq_now(q), 0);
    assert_int_equal(evq_count(q), 0);
    assert_int_equal(evq_peek(q), SIM_NEVER);
    ev_id a = evq_at(q, 2385, EV_FINISH, 0, 1);
    ev_id b = evq_at(q, SIM_NEVER, EV_FINISH, 0, 2);
    ev_id c = evq_at(q, 2390, EV_ARRIVE, 0, 3);
    assert_int_equal(evq_count(q), 3);
    assert_int_equal(evq_when(q, a), 2385);
    assert_int_equal(evq_when(q, b), SIM_NEVER);
    assert_int_equal(pop_arg(q), 1);
    assert_int_equal(evq_count(q), 2);
    assert_int_equal(evq_peek(q), 2390);
    assert_int_equal(evq_when(q, a), SIM_NEVER);
    assert_int_equal(evq_when(q, c), 2390);
    assert_true(evq_is_pending(q, b));
    assert_false(evq_is_pending(q, (ev_id){ 77, 1 }));
    assert_false(evq_is_pending(q, (ev_id){ 0, 0 }));
    evq_destroy(q);
    evq_destroy(NULL);
}

static void payload_comes_back_whole(void **state)
{
    (void)state;
    struct evq *q = evq_create(0);
    struct event ev;
    evq_at(q, 0, EV_STOP, UINT16_MAX, UINT32_MAX);
    assert_true(evq_pop(q, &ev));
    assert_int_equal(ev.when, 0);
    assert_int_equal(ev.cls, EV_STOP);
    assert_int_equal(ev.kind, UINT16_MAX);
    assert_int_equal(ev.arg, UINT32_MAX);
    evq_destroy(q);
}

static void it_grows_and_reuses_what_it_has(void **state)
{
    enum { N = 100003 };
    (void)state;
    struct evq *q = evq_create(0);
    uint64_t random = test_seed();
    for (uint32_t i = 0; i < N; i++) evq_at(q, (simtime)(test_random(&random) % 5000), i % 3, 0, i);
    size_t held_bytes = evq_footprint_bytes(q);
    assert_true(held_bytes <= 2 * 32 * (size_t)N + 1024);
    struct event before = { 0 }, ev;
    for (uint32_t i = 0; i < N; i++, before = ev) {
        assert_true(evq_pop(q, &ev));
        assert_true(before.when <= ev.when);
        if (before.when == ev.when) assert_true(before.cls <= ev.cls);
        if (before.when == ev.when && before.cls == ev.cls && i > 0)
            assert_true(before.arg < ev.arg);
    }
    assert_empty(q);
    for (uint32_t i = 0; i < 5 * N; i++) { /* moves and cancels leave nothing behind */
        ev_id id = evq_at(q, evq_now(q) + 3 + i % 7, EV_FAULT, 0, i);
        assert_true(evq_move(q, id, evq_now(q) + 2385));
        if (i % 10 > 0) assert_true(evq_cancel(q, id));
        if (evq_count(q) == 1000) pop_arg(q);
    }
    assert_int_equal(evq_footprint_bytes(q), held_bytes);
    evq_destroy(q);
}

static void used_up_slots_are_retired(void **state)
{
    (void)state;
    struct evq *q = evq_create(0);
    evq_age(q, 0, UINT32_MAX - 2);
    ev_id a = evq_at(q, 1, EV_FINISH, 0, 1);
    assert_true(evq_cancel(q, a));
    ev_id b = evq_at(q, 1, EV_FINISH, 0, 2); /* the last generation of the same slot */
    assert_int_equal(b.slot, a.slot);
    assert_int_equal(b.gen, UINT32_MAX - 1);
    assert_true(evq_cancel(q, b));
    ev_id c = evq_at(q, 1, EV_FINISH, 0, 3);
    assert_int_not_equal(c.slot, a.slot);
    assert_false(evq_cancel(q, a));
    assert_false(evq_cancel(q, b));
    assert_false(evq_cancel(q, (ev_id){ a.slot, 0 }));
    assert_int_equal(pop_arg(q), 3);
    evq_destroy(q);
}

static void order_outlives_the_sequence_counter(void **state)
{
    (void)state;
    struct evq *q = evq_create(0);
    evq_age(q, UINT32_MAX - 5, 1);
    ev_id first = evq_at(q, 3, EV_ARRIVE, 0, 100);
    for (uint32_t i = 0; i < 20; i++) evq_at(q, 3, EV_ARRIVE, 0, i);
    assert_true(evq_move(q, first, 3));
    for (uint32_t i = 0; i < 20; i++) assert_int_equal(pop_arg(q), i);
    assert_int_equal(pop_arg(q), 100);
    evq_age(q, UINT32_MAX, 1); /* with nothing pending, and with one to be moved */
    first = evq_at(q, 4, EV_ARRIVE, 0, 5);
    evq_age(q, UINT32_MAX, 1);
    assert_true(evq_move(q, first, 5));
    assert_int_equal(pop_arg(q), 5);
    evq_destroy(q);
}

/* ---- bugs of the caller ---- */

typedef void misuse_fn(struct evq *q, ev_id pending);

static void at_in_the_past(struct evq *q, ev_id pending)
{
    (void)pending;
    evq_at(q, 2384, EV_FINISH, 0, 0);
}

static void move_to_the_past(struct evq *q, ev_id pending)
{
    evq_move(q, pending, 2384);
}

static void at_negative_time(struct evq *q, ev_id pending)
{
    (void)q;
    (void)pending;
    evq_at(evq_create(0), -1, EV_FINISH, 0, 0);
}

static void unknown_class(struct evq *q, ev_id pending)
{
    (void)pending;
    evq_at(q, 2385, EV_CLASSES, 0, 0);
}

static void age_backwards(struct evq *q, ev_id pending)
{
    (void)pending;
    evq_age(q, 0, 1);
}

static void nothing_wrong(struct evq *q, ev_id pending)
{
    evq_at(q, 2385, EV_STOP, 0, 0);
    evq_move(q, pending, 2385);
}

/* The signal that ends a process which does this at time 2385; 0: none. */
static int signal_of(misuse_fn *fn)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        int null = open("/dev/null", O_WRONLY);
        if (null >= 0) dup2(null, STDERR_FILENO);
        struct evq *q = evq_create(0);
        struct event ev;
        evq_at(q, 2385, EV_FINISH, 0, 0);
        ev_id pending = evq_at(q, 2390, EV_FINISH, 0, 0);
        evq_pop(q, &ev);
        fn(q, pending);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void misuse_is_a_bug(void **state)
{
    (void)state;
    assert_int_equal(signal_of(nothing_wrong), 0);
    assert_int_equal(signal_of(at_in_the_past), SIGABRT);
    assert_int_equal(signal_of(move_to_the_past), SIGABRT);
    assert_int_equal(signal_of(at_negative_time), SIGABRT);
    assert_int_equal(signal_of(unknown_class), SIGABRT);
    assert_int_equal(signal_of(age_backwards), SIGABRT);
}

/* ---- random operations against a list ---- */

enum { LIST_MAX = 400, STALE_MAX = 64, OPS = 4000, ROUNDS = 120 };

struct entry {
    simtime when;
    uint64_t seq;
    ev_id id;
    uint32_t arg;
    uint8_t cls;
};

struct list {
    struct entry v[LIST_MAX];
    size_t n;
    uint64_t seq;
    ev_id stale[STALE_MAX]; /* some of the ids that are no more */
    size_t stale_n;
};

static bool before(const struct entry *a, const struct entry *b)
{
    if (a->when != b->when) return a->when < b->when;
    if (a->cls != b->cls) return a->cls < b->cls;
    return a->seq < b->seq;
}

static struct entry *list_first(struct list *l)
{
    struct entry *first = NULL;
    for (size_t i = 0; i < l->n; i++)
        if (!first || before(&l->v[i], first)) first = &l->v[i];
    return first;
}

static void list_remove(struct list *l, struct entry *e)
{
    l->stale[l->stale_n++ % STALE_MAX] = e->id;
    *e = l->v[--l->n];
}

/* Few distinct times, so that ties are common; some events are parked. */
static simtime random_time(uint64_t *random, simtime now)
{
    uint64_t r = test_random(random);
    if (r % 50 == 0) return SIM_NEVER;
    return now + (simtime)((r >> 8) % ((r >> 40) % 4 == 0 ? 1000 : 6));
}

static void do_pop(struct evq *q, struct list *l)
{
    struct entry *want = list_first(l);
    struct event ev;
    if (!want || want->when == SIM_NEVER) {
        assert_empty(q);
        return;
    }
    uint16_t kind;
    uint32_t arg;
    assert_int_equal(evq_peek(q), want->when);
    assert_true(evq_next(q, &kind, &arg));
    assert_int_equal(arg, want->arg);
    assert_true(evq_pop(q, &ev));
    assert_int_equal(ev.when, want->when);
    assert_int_equal(ev.cls, want->cls);
    assert_int_equal(ev.arg, want->arg);
    assert_int_equal(ev.kind, (uint16_t)(want->arg * 7));
    list_remove(l, want);
}

static void do_at(struct evq *q, struct list *l, uint64_t *random)
{
    if (l->n == LIST_MAX) return;
    struct entry e = { .when = random_time(random, evq_now(q)), .seq = ++l->seq };
    e.cls = (uint8_t)(test_random(random) % EV_CLASSES);
    e.arg = (uint32_t)test_random(random);
    e.id = evq_at(q, e.when, e.cls, (uint16_t)(e.arg * 7), e.arg);
    l->v[l->n++] = e;
}

static void do_move(struct evq *q, struct list *l, uint64_t *random)
{
    if (l->n == 0) return;
    struct entry *e = &l->v[test_random(random) % l->n];
    if (test_random(random) % 4 > 0)
        e->when = random_time(random, evq_now(q)); /* else: as it was */
    e->seq = ++l->seq;
    assert_true(evq_move(q, e->id, e->when));
}

static void do_cancel(struct evq *q, struct list *l, uint64_t *random)
{
    if (l->n == 0) return;
    struct entry *e = &l->v[test_random(random) % l->n];
    assert_true(evq_cancel(q, e->id));
    list_remove(l, e);
}

static void do_stale(struct evq *q, struct list *l, uint64_t *random)
{
    size_t n = l->stale_n < STALE_MAX ? l->stale_n : STALE_MAX;
    if (n == 0) return;
    ev_id id = l->stale[test_random(random) % n];
    assert_false(evq_is_pending(q, id));
    assert_false(evq_move(q, id, evq_now(q) + 1));
    assert_false(evq_cancel(q, id));
}

/* Operations by weight out of 16: at, pop, move, cancel; the rest tries stale ids. */
static void random_round(uint64_t *random, const unsigned weight[4])
{
    static struct list l;
    l.n = l.stale_n = 0;
    struct evq *q = evq_create(test_random(random) % 300);
    uint32_t gen = UINT32_MAX - 1 - (uint32_t)(test_random(random) % 100);
    evq_age(q, UINT32_MAX - (uint32_t)(test_random(random) % OPS), gen);
    for (int i = 0; i < OPS; i++) {
        unsigned r = (unsigned)(test_random(random) % 16);
        if (r < weight[0])
            do_at(q, &l, random);
        else if ((r -= weight[0]) < weight[1])
            do_pop(q, &l);
        else if ((r -= weight[1]) < weight[2])
            do_move(q, &l, random);
        else if ((r -= weight[2]) < weight[3])
            do_cancel(q, &l, random);
        else
            do_stale(q, &l, random);
        assert_int_equal(evq_count(q), l.n);
        if (l.n > 0) {
            const struct entry *e = &l.v[test_random(random) % l.n];
            assert_int_equal(evq_when(q, e->id), e->when);
        }
    }
    while (l.n > 0 && list_first(&l)->when < SIM_NEVER) do_pop(q, &l);
    do_pop(q, &l);
    evq_destroy(q);
}

static void random_operations_agree_with_a_list(void **state)
{
    static const unsigned weight[][4] = {
        { 6, 3, 3, 2 }, { 5, 7, 2, 1 }, { 5, 5, 4, 1 }, { 5, 2, 2, 6 }
    };
    (void)state;
    uint64_t random = test_seed();
    for (size_t round = 0; round < ROUNDS; round++) random_round(&random, weight[round % 4]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_times_run_by_class),
        cmocka_unit_test(equal_times_and_classes_run_as_scheduled),
        cmocka_unit_test(a_moved_event_goes_behind_its_equals),
        cmocka_unit_test(moves_and_cancels_right_after_a_pop),
        cmocka_unit_test(what_is_moved_to_now_still_comes_after_what_ran),
        cmocka_unit_test(stale_ids_are_refused),
        cmocka_unit_test(parked_events_wait_to_be_moved),
        cmocka_unit_test(looking_changes_nothing),
        cmocka_unit_test(payload_comes_back_whole),
        cmocka_unit_test(it_grows_and_reuses_what_it_has),
        cmocka_unit_test(used_up_slots_are_retired),
        cmocka_unit_test(order_outlives_the_sequence_counter),
        cmocka_unit_test(misuse_is_a_bug),
        cmocka_unit_test(random_operations_agree_with_a_list),
    };
    return cmocka_run_group_tests_name("engine/evq", tests, NULL, NULL);
}
