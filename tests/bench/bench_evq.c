/* bench_evq.c - the event queue against plain heaps, in one run.
 *
 * hold N       N events pending; each step takes the earliest out and puts one back an exponential
 *              time later (Vaucher and Duval 1975). Steps per second; the ratio is to the heap named.
 *              The plain heaps hold 16-byte keys (time, sequence) by value, have no handles, no
 *              classes, no payload and no clock.
 * move N       a random one of N pending events is moved to an exponential time from now.
 * cancel N     a random one of N pending events is cancelled and one is scheduled.
 * shared GPUs  N cards keep one next finish each: take the earliest, reschedule it, and move the
 *              finishes of two random cards. Steps per second (three events touched in each).
 * M/M/1        customers per second on the bare queue at 75 % load: two events per customer, waiting
 *              customers in a ring, waits summed.
 *
 * Increments come from a table of 65,536 exponential variates made in advance by xorshift64* and
 * log(); M/M/1 calls both for each variate. Best of five rounds, contestants taking turns.
 *
 * Mutants that show, in the ratio to the 4-ary heap at 1,000 and 100,000 pending (1.6 and 1.5): a
 * pop that closes its root at once (1.3, 1.2); opaque() without its barrier (1.2, 1.0). */
#include "engine/evq.h"

#include "tests/bench/bench.h"

#include <stdbool.h>
#include <stdlib.h>

enum { TABLE = 1 << 16, ROUNDS = 5 };

struct draws {
    simtime gap[TABLE];
    size_t i;
};

static void draws_init(struct draws *d)
{
    uint64_t state = 20240607;
    for (size_t i = 0; i < TABLE; i++) d->gap[i] = 1 + (simtime)(-1e9 * log(bench_uniform(&state)));
    d->i = 0;
}

static simtime draw(struct draws *d)
{
    return d->gap[d->i++ % TABLE];
}

/* ---- plain heaps of any arity, keys by value ---- */

struct node {
    simtime when;
    uint64_t seq;
};

struct plain {
    struct node *v;
    size_t n;
    uint64_t seq;
};

static inline bool earlier(const struct node *a, const struct node *b)
{
    return a->when < b->when || (a->when == b->when && a->seq < b->seq);
}

static inline void plain_push(struct plain *h, size_t arity, simtime when)
{
    struct node x = { when, ++h->seq };
    size_t i = h->n++;
    while (i > 0) {
        size_t parent = (i - 1) / arity;
        if (!earlier(&x, &h->v[parent])) break;
        h->v[i] = h->v[parent];
        i = parent;
    }
    h->v[i] = x;
}

static inline struct node plain_pop(struct plain *h, size_t arity)
{
    struct node top = h->v[0], x = h->v[--h->n];
    size_t i = 0;
    for (;;) {
        size_t first = arity * i + 1, least = first;
        if (first >= h->n) break;
        size_t end = first + arity < h->n ? first + arity : h->n;
        for (size_t c = first + 1; c < end; c++)
            if (earlier(&h->v[c], &h->v[least])) least = c;
        if (!earlier(&h->v[least], &x)) break;
        h->v[i] = h->v[least];
        i = least;
    }
    h->v[i] = x;
    return top;
}

typedef void push_fn(struct plain *h, simtime when);
typedef struct node pop_fn(struct plain *h);

/* The contestants are modules: their users call them. */
__attribute__((noinline)) static void push_2(struct plain *h, simtime when)
{
    plain_push(h, 2, when);
}

__attribute__((noinline)) static struct node pop_2(struct plain *h)
{
    return plain_pop(h, 2);
}

__attribute__((noinline)) static void push_4(struct plain *h, simtime when)
{
    plain_push(h, 4, when);
}

__attribute__((noinline)) static struct node pop_4(struct plain *h)
{
    return plain_pop(h, 4);
}

static inline double hold_plain(push_fn *push, pop_fn *pop, size_t pending, size_t steps,
                                struct draws *d)
{
    struct plain h = { .v = malloc((pending + 1) * sizeof *h.v) };
    if (!h.v) abort();
    for (size_t i = 0; i < pending; i++) push(&h, draw(d));
    double start = bench_now_s();
    for (size_t i = 0; i < steps; i++) {
        struct node top = pop(&h);
        push(&h, top.when + draw(d));
    }
    double rate = (double)steps / (bench_now_s() - start);
    bench_keep(h.v[0].seq);
    free(h.v);
    return rate;
}

static double hold_binary(size_t pending, size_t steps, struct draws *d)
{
    return hold_plain(push_2, pop_2, pending, steps, d);
}

static double hold_4ary(size_t pending, size_t steps, struct draws *d)
{
    return hold_plain(push_4, pop_4, pending, steps, d);
}

/* ---- the queue ---- */

static double hold_evq(size_t pending, size_t steps, struct draws *d)
{
    struct evq *q = evq_create(pending);
    struct event ev = { 0 };
    for (size_t i = 0; i < pending; i++) evq_at(q, draw(d), EV_FINISH, 0, (uint32_t)i);
    double start = bench_now_s();
    for (size_t i = 0; i < steps && evq_pop(q, &ev); i++)
        evq_at(q, ev.when + draw(d), EV_FINISH, 0, ev.arg);
    double rate = (double)steps / (bench_now_s() - start);
    bench_keep(ev.arg);
    evq_destroy(q);
    return rate;
}

struct handles {
    struct evq *q;
    ev_id *id;
};

static struct handles handles_create(size_t pending, struct draws *d)
{
    struct handles h = { evq_create(pending), malloc(pending * sizeof(ev_id)) };
    if (!h.id) abort();
    for (size_t i = 0; i < pending; i++) h.id[i] = evq_at(h.q, draw(d), EV_FINISH, 0, (uint32_t)i);
    return h;
}

static void handles_destroy(struct handles *h)
{
    evq_destroy(h->q);
    free(h->id);
}

static double move_evq(size_t pending, size_t steps, struct draws *d)
{
    struct handles h = handles_create(pending, d);
    uint64_t state = 77;
    double start = bench_now_s();
    for (size_t i = 0; i < steps; i++)
        evq_move(h.q, h.id[bench_random(&state) % pending], evq_now(h.q) + draw(d));
    double rate = (double)steps / (bench_now_s() - start);
    handles_destroy(&h);
    return rate;
}

static double cancel_evq(size_t pending, size_t steps, struct draws *d)
{
    struct handles h = handles_create(pending, d);
    uint64_t state = 78;
    double start = bench_now_s();
    for (size_t i = 0; i < steps; i++) {
        size_t which = bench_random(&state) % pending;
        evq_cancel(h.q, h.id[which]);
        h.id[which] = evq_at(h.q, draw(d), EV_FINISH, 0, 0);
    }
    double rate = (double)steps / (bench_now_s() - start);
    handles_destroy(&h);
    return rate;
}

static double gpus_evq(size_t pending, size_t steps, struct draws *d)
{
    struct handles h = handles_create(pending, d);
    uint64_t state = 79;
    struct event ev;
    double start = bench_now_s();
    for (size_t i = 0; i < steps && evq_pop(h.q, &ev); i++) {
        h.id[ev.arg] = evq_at(h.q, ev.when + draw(d), EV_FINISH, 0, ev.arg);
        for (int k = 0; k < 2; k++)
            evq_move(h.q, h.id[bench_random(&state) % pending], ev.when + draw(d));
    }
    double rate = (double)steps / (bench_now_s() - start);
    handles_destroy(&h);
    return rate;
}

static simtime exponential(uint64_t *state, double mean_ns)
{
    return (simtime)(-mean_ns * log(bench_uniform(state)));
}

static double mm1_evq(size_t unused, size_t customers, struct draws *d)
{
    enum { RING = 1 << 16 }; /* 0.75^65536: never full */
    (void)unused;
    (void)d;
    struct evq *q = evq_create(0);
    simtime *came = calloc(RING, sizeof *came);
    if (!came) abort();
    uint64_t state = 80;
    size_t head = 0, tail = 0;
    double wait_s = 0;
    struct event ev;
    double start = bench_now_s();
    evq_at(q, exponential(&state, 1e9), EV_ARRIVE, 0, 0);
    while (head < customers && evq_pop(q, &ev)) {
        if (ev.cls == EV_ARRIVE) {
            evq_at(q, ev.when + exponential(&state, 1e9), EV_ARRIVE, 0, 0);
            came[tail++ % RING] = ev.when;
        } else {
            head++;
        }
        bool starts = ev.cls == EV_ARRIVE ? tail - head == 1 : tail > head;
        if (!starts) continue;
        wait_s += simtime_s(ev.when - came[head % RING]);
        evq_at(q, ev.when + exponential(&state, 0.75e9), EV_FINISH, 0, 0);
    }
    double rate = (double)customers / (bench_now_s() - start);
    bench_keep((uint64_t)wait_s);
    evq_destroy(q);
    free(came);
    return rate;
}

/* ---- rounds ---- */

typedef double contest_fn(size_t pending, size_t steps, struct draws *d);

/* Best rates of n contestants. They take turns, so that a slow spell of the machine hits all. */
static void contest(contest_fn *const *fn, double *best, size_t n, size_t pending, size_t steps,
                    struct draws *d)
{
    for (size_t k = 0; k < n; k++) best[k] = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t k = 0; k < n; k++) best[k] = fmax(best[k], fn[k](pending, steps, d));
}

static void bench_hold(size_t pending, struct draws *d)
{
    static contest_fn *const fn[] = { hold_4ary, hold_binary, hold_evq };
    double best[3];
    char name[64];
    contest(fn, best, 3, pending, pending > 100000 ? 2000000 : 4000000, d);
    snprintf(name, sizeof name, "hold %zu: plain 4-ary heap", pending);
    bench_print(name, best[0] / 1e6, "M events/s", 0);
    snprintf(name, sizeof name, "hold %zu: plain binary heap", pending);
    bench_print(name, best[1] / 1e6, "M events/s", 0);
    snprintf(name, sizeof name, "hold %zu: evq (ratio to 4-ary)", pending);
    bench_print(name, best[2] / 1e6, "M events/s", best[0] / 1e6);
    snprintf(name, sizeof name, "hold %zu: evq (ratio to binary)", pending);
    bench_print(name, best[2] / 1e6, "M events/s", best[1] / 1e6);
}

static void bench_one(const char *what, contest_fn *fn, size_t pending, const char *unit,
                      struct draws *d)
{
    double best;
    char name[64];
    contest(&fn, &best, 1, pending, 2000000, d);
    if (pending > 0)
        snprintf(name, sizeof name, "%s %zu: evq", what, pending);
    else
        snprintf(name, sizeof name, "%s: evq", what);
    bench_print(name, best / 1e6, unit, 0);
}

int main(void)
{
    static const size_t pending[] = { 2, 1000, 100000, 1000000 };
    static struct draws d;
    draws_init(&d);
    for (size_t i = 0; i < 4; i++) bench_hold(pending[i], &d);
    for (size_t i = 1; i < 4; i++) bench_one("move", move_evq, pending[i], "M moves/s", &d);
    for (size_t i = 1; i < 4; i++)
        bench_one("cancel + schedule", cancel_evq, pending[i], "M pairs/s", &d);
    for (size_t i = 1; i < 4; i++) bench_one("shared GPUs", gpus_evq, pending[i], "M steps/s", &d);
    bench_one("M/M/1", mm1_evq, 0, "M customers/s", &d);
    return 0;
}
