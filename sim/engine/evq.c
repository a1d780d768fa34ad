/* engine/evq.c - an implicit 4-ary heap of 16-byte keys beside a table of slots.
 *
 * A key is one 128-bit number, so the total order is one comparison:
 *
 *     127        64 63  61 60       29 28      0
 *     |    time    | class | sequence |   slot  |
 *
 * The slot never decides, because no two keys share a sequence number. The four children of a node
 * share a cache line, and unused keys are all ones, so choosing the least child needs no bounds.
 *
 * Handles without a position table: a slot knows the sequence number of its current key, and any
 * other key that names the slot is dead. Moving an event writes a new key and leaves the old one;
 * dead keys are dropped when they surface, or all at once when they outnumber the live ones. Sifting
 * then touches nothing but keys, which on the hold model beats a position table by a third or more.
 *
 * A popped root stays open (`hole`) until the next operation: the commonest one is an insertion,
 * which goes straight into the hole and saves the pass that would move the last key up. */
#include "engine/evq.h"

#include "base/err.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 evkey;

enum { ARITY = 4, LINE_BYTES = 64, SLOT_BITS = 29, SEQ_BITS = 32 };

#define KEY_UNUSED (~(evkey)0)
#define SLOT_MASK ((UINT32_C(1) << SLOT_BITS) - 1)
#define SLOT_NONE UINT32_MAX
#define SEQ_NONE UINT32_C(0)      /* of a slot without event: matches no key */
#define GEN_RETIRED UINT32_MAX    /* of a slot that has used up its generations: matches no id */
#define DEAD_SLACK 64             /* so that small queues are not swept all the time */

struct slot {
    uint32_t seq; /* of the current key, or SEQ_NONE */
    uint32_t gen;
    uint32_t arg; /* while free: the next free slot */
    uint16_t kind;
    uint8_t cls;
};

struct evq {
    evkey *heap;  /* heap[1] starts a cache line; heap[n .. cap) are KEY_UNUSED */
    size_t n;     /* keys, dead ones and the hole included */
    size_t cap;   /* 4 k + 1: whole groups of children */
    bool hole;    /* heap[0] was popped and not yet replaced */
    uint32_t seq; /* given out last */
    uint32_t first_gen;
    uint32_t free;
    uint32_t slots_n, slots_cap;
    struct slot *slots;
    simtime now;
    size_t live; /* pending events; n - hole - live keys are dead */
    void *heap_raw;
};

static evkey key_make(simtime when, unsigned cls, uint32_t seq, uint32_t slot)
{
    uint64_t tie = (uint64_t)cls << (SEQ_BITS + SLOT_BITS) | (uint64_t)seq << SLOT_BITS | slot;
    return (evkey)(uint64_t)when << 64 | tie;
}

static simtime key_when(evkey k)
{
    return (simtime)(uint64_t)(k >> 64);
}

static uint32_t key_seq(evkey k)
{
    return (uint32_t)((uint64_t)k >> SLOT_BITS);
}

static uint32_t key_slot(evkey k)
{
    return (uint32_t)k & SLOT_MASK;
}

static bool key_alive(const struct evq *q, evkey k)
{
    return q->slots[key_slot(k)].seq == key_seq(k);
}

/* ---- heap ---- */

/* Keep the compiler from knowing x: it would turn the selections below into jumps, and which child
 * wins is a coin toss that no predictor learns. */
static inline size_t opaque(size_t x)
{
    __asm__("" : "+r"(x));
    return x;
}

/* Index of the least of the four children at c. */
static inline size_t least_of_four(const evkey *c)
{
    size_t a = opaque(c[1] < c[0]);
    size_t b = opaque(2 + (size_t)(c[3] < c[2]));
    size_t b_wins = opaque(c[b] < c[a]);
    return a ^ ((a ^ b) & (0 - b_wins));
}

/* Ask for the sixteen grandchildren: four lines in a row, of which the next step needs one. */
static inline void prefetch_grandchildren(const evkey *heap, size_t n, size_t child)
{
    size_t first = ARITY * child + 1;
    if (first + ARITY * ARITY > n) return;
    for (size_t i = 0; i < ARITY; i++) __builtin_prefetch(&heap[first + ARITY * i]);
}

/* Put k where it belongs at or below the open node i. */
static void sift_down(evkey *heap, size_t n, size_t i, evkey k)
{
    for (size_t c = ARITY * i + 1; c < n; c = ARITY * i + 1) {
        prefetch_grandchildren(heap, n, c);
        if (c + 1 < n) c += least_of_four(&heap[c]);
        if (k < heap[c]) break;
        heap[i] = heap[c];
        i = c;
    }
    heap[i] = k;
}

static void sift_up(evkey *heap, size_t i, evkey k)
{
    while (i > 0) {
        size_t parent = (i - 1) / ARITY;
        if (heap[parent] < k) break;
        heap[i] = heap[parent];
        i = parent;
    }
    heap[i] = k;
}

static void heap_resize(struct evq *q, size_t cap)
{
    cap = (cap + ARITY - 2) / ARITY * ARITY + 1;
    /* One line of head room: heap[0] is the last key of its line, so that heap[1] starts one. */
    char *raw = xmalloc((cap + ARITY - 1) * sizeof *q->heap + LINE_BYTES);
    size_t skew = (LINE_BYTES - (uintptr_t)raw % LINE_BYTES) % LINE_BYTES;
    evkey *heap = (evkey *)(void *)(raw + skew) + (ARITY - 1);
    if (q->n > 0) memcpy(heap, q->heap, q->n * sizeof *heap);
    for (size_t i = q->n; i < cap; i++) heap[i] = KEY_UNUSED;
    free(q->heap_raw);
    q->heap_raw = raw;
    q->heap = heap;
    q->cap = cap;
}

static inline void heap_add(struct evq *q, evkey k)
{
    if (q->hole) {
        q->hole = false;
        sift_down(q->heap, q->n, 0, k);
        return;
    }
    if (q->n == q->cap) heap_resize(q, 2 * q->cap);
    sift_up(q->heap, q->n++, k);
}

/* Close an open root with the last key. */
static void heap_close(struct evq *q)
{
    if (!q->hole) return;
    q->hole = false;
    evkey last = q->heap[--q->n];
    q->heap[q->n] = KEY_UNUSED;
    if (q->n > 0) sift_down(q->heap, q->n, 0, last);
}

/* Close the root and pop dead keys until a live one is there. False when there is none. */
static bool heap_dig(struct evq *q)
{
    heap_close(q);
    while (q->n > 0 && !key_alive(q, q->heap[0])) {
        q->hole = true;
        heap_close(q);
    }
    return q->n > 0;
}

/* Bring a live key to the root. False when there is none. */
static inline bool heap_expose(struct evq *q)
{
    return (!q->hole && q->n > 0 && key_alive(q, q->heap[0])) || heap_dig(q);
}

/* Drop all dead keys and restore the heap (Floyd 1964). O(n). */
static void heap_sweep(struct evq *q)
{
    size_t n = 0;
    heap_close(q);
    for (size_t i = 0; i < q->n; i++)
        if (key_alive(q, q->heap[i])) q->heap[n++] = q->heap[i];
    for (size_t i = n; i < q->n; i++) q->heap[i] = KEY_UNUSED;
    q->n = n;
    for (size_t i = n / ARITY + 1; i-- > 0;)
        if (i < n) sift_down(q->heap, n, i, q->heap[i]);
}

static int key_compare(const void *a, const void *b)
{
    const evkey *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The sequence counter is at its end: number the pending events 1, 2, ... in their order. A sorted
 * array is a heap. */
static void renumber(struct evq *q)
{
    heap_sweep(q);
    if (q->n > 0) qsort(q->heap, q->n, sizeof *q->heap, key_compare);
    q->seq = SEQ_NONE;
    for (size_t i = 0; i < q->n; i++) {
        evkey k = q->heap[i];
        struct slot *slot = &q->slots[key_slot(k)];
        slot->seq = ++q->seq;
        q->heap[i] = key_make(key_when(k), slot->cls, q->seq, key_slot(k));
    }
}

/* ---- slots ---- */

static void slots_resize(struct evq *q, size_t cap)
{
    if (cap > EVQ_MAX_PENDING) cap = EVQ_MAX_PENDING;
    q->slots = xreallocarray(q->slots, cap, sizeof *q->slots);
    q->slots_cap = (uint32_t)cap;
}

static uint32_t slot_take(struct evq *q)
{
    uint32_t s = q->free;
    if (s != SLOT_NONE) {
        q->free = q->slots[s].arg;
        return s;
    }
    if (q->slots_n == EVQ_MAX_PENDING) BUG("more than %u pending events", (unsigned)EVQ_MAX_PENDING);
    if (q->slots_n == q->slots_cap) slots_resize(q, 2 * (size_t)q->slots_cap);
    s = q->slots_n++;
    q->slots[s].gen = q->first_gen;
    return s;
}

static void slot_release(struct evq *q, uint32_t s)
{
    struct slot *slot = &q->slots[s];
    slot->seq = SEQ_NONE;
    if (++slot->gen == GEN_RETIRED) return;
    slot->arg = q->free;
    q->free = s;
}

/* ---- interface ---- */

struct evq *evq_create(size_t capacity_hint)
{
    struct evq *q = xcalloc(1, sizeof *q);
    if (capacity_hint < 16) capacity_hint = 16;
    q->free = SLOT_NONE;
    q->first_gen = 1;
    heap_resize(q, capacity_hint);
    slots_resize(q, capacity_hint);
    return q;
}

void evq_destroy(struct evq *q)
{
    if (!q) return;
    free(q->heap_raw);
    free(q->slots);
    free(q);
}

_Noreturn static void bug_past(const struct evq *q, simtime when)
{
    BUG("event scheduled at %lld ns, before now, %lld ns", (long long)when, (long long)q->now);
}

/* Write a fresh key for the event in slot s. */
static inline void schedule(struct evq *q, simtime when, uint32_t s)
{
    if (when < q->now)
        bug_past(q, when);
    if (q->seq == UINT32_MAX) renumber(q);
    struct slot *slot = &q->slots[s];
    slot->seq = ++q->seq;
    heap_add(q, key_make(when, slot->cls, slot->seq, s));
}

static inline void sweep_if_crowded(struct evq *q)
{
    if (q->n > 2 * q->live + DEAD_SLACK) heap_sweep(q);
}

ev_id evq_at(struct evq *q, simtime when, enum ev_class cls, uint16_t kind, uint32_t arg)
{
    if ((unsigned)cls >= EV_CLASSES) BUG("unknown event class %d", (int)cls);
    sweep_if_crowded(q);
    uint32_t s = slot_take(q);
    struct slot *slot = &q->slots[s];
    slot->arg = arg;
    slot->kind = kind;
    slot->cls = (uint8_t)cls;
    q->live++;
    schedule(q, when, s);
    return (ev_id){s, slot->gen};
}

bool evq_is_pending(const struct evq *q, ev_id id)
{
    return id.slot < q->slots_n && q->slots[id.slot].gen == id.gen;
}

bool evq_move(struct evq *q, ev_id id, simtime when)
{
    if (!evq_is_pending(q, id)) return false;
    schedule(q, when, id.slot);
    sweep_if_crowded(q);
    return true;
}

bool evq_cancel(struct evq *q, ev_id id)
{
    if (!evq_is_pending(q, id)) return false;
    slot_release(q, id.slot);
    q->live--;
    sweep_if_crowded(q);
    return true;
}

/* One of the root's children is next: ask for their slots while the caller handles this event. */
static inline void prefetch_next_slot(const struct evq *q)
{
    if (q->n <= ARITY) return;
    for (size_t i = 1; i <= ARITY; i++) __builtin_prefetch(&q->slots[key_slot(q->heap[i])]);
}

bool evq_pop(struct evq *q, struct event *out)
{
    if (!heap_expose(q)) return false;
    evkey k = q->heap[0];
    if (key_when(k) == SIM_NEVER) return false;
    uint32_t s = key_slot(k);
    const struct slot *slot = &q->slots[s];
    *out = (struct event){
        .when = key_when(k), .arg = slot->arg, .kind = slot->kind, .cls = slot->cls};
    prefetch_next_slot(q);
    q->now = out->when;
    q->hole = true;
    q->live--;
    slot_release(q, s);
    return true;
}

simtime evq_now(const struct evq *q)
{
    return q->now;
}

simtime evq_peek(struct evq *q)
{
    return heap_expose(q) ? key_when(q->heap[0]) : SIM_NEVER;
}

size_t evq_count(const struct evq *q)
{
    return q->live;
}

size_t evq_footprint_bytes(const struct evq *q)
{
    return sizeof *q + (q->cap + ARITY) * sizeof *q->heap + q->slots_cap * sizeof *q->slots;
}

void evq_age(struct evq *q, uint32_t seq, uint32_t gen)
{
    BUG_ON(seq < q->seq || gen == 0 || gen >= GEN_RETIRED);
    q->seq = seq;
    q->first_gen = gen;
    for (uint32_t s = q->free; s != SLOT_NONE; s = q->slots[s].arg) q->slots[s].gen = gen;
}
