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
 * A handle names a slot; pos[] says where its key is. Leaving old keys behind instead (lazy
 * deletion) saves the writes to pos[], but was measured to be no faster on the hold model and half
 * as fast where cards reschedule their next finish ("shared GPUs" in bench_evq).
 *
 * A popped root stays open (`hole`) until the next pop: what comes before it is mostly an
 * insertion, which goes straight into the hole and saves the pass that would move the last key up.
 * Until then a key that is less than all others stands in, so that moves and cancels may go on
 * below it. */
#include "engine/evq.h"

#include "base/err.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 evkey;

enum { ARITY = 4, SLOT_BITS = 29, SEQ_BITS = 32, PREFETCH_MIN = 4096 };

#define KEY_UNUSED  (~(evkey)0) /* sorts after every event */
#define KEY_OPEN    ((evkey)0)  /* before: sequence numbers start at 1 */
#define SLOT_MASK   ((UINT32_C(1) << SLOT_BITS) - 1)
#define SLOT_NONE   UINT32_MAX
#define GEN_RETIRED UINT32_MAX /* of a slot that has used up its generations: matches no id */

struct slot {
    uint32_t gen;
    uint32_t arg; /* while free: the next free slot */
    uint16_t kind;
};

struct evq {
    evkey *heap;  /* heap[1] starts a cache line; heap[n .. cap) are KEY_UNUSED */
    size_t n;     /* keys, the hole included */
    size_t cap;   /* 4 k + 1: whole groups of children */
    bool hole;    /* heap[0] was popped and not yet replaced: KEY_OPEN */
    uint32_t seq; /* given out last */
    uint32_t first_gen;
    uint32_t free;
    uint32_t slots_n, slots_cap;
    struct slot *slots;
    uint32_t *pos; /* by slot: index of its key in heap; undefined while free */
    simtime now;
    evkey *heap_raw;
};

static inline evkey key_make(simtime when, unsigned cls, uint32_t seq, uint32_t slot)
{
    uint64_t tie = (uint64_t)cls << (SEQ_BITS + SLOT_BITS) | (uint64_t)seq << SLOT_BITS | slot;
    return (evkey)(uint64_t)when << 64 | tie;
}

static inline simtime key_when(evkey k)
{
    return (simtime)(uint64_t)(k >> 64);
}

static inline unsigned key_class(evkey k)
{
    return (unsigned)((uint64_t)k >> (SEQ_BITS + SLOT_BITS));
}

static inline uint32_t key_slot(evkey k)
{
    return (uint32_t)k & SLOT_MASK;
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

/* Prefetching pays once the keys leave the first-level cache (PREFETCH_MIN of them).
 * gcc takes a function that only prefetches for one without effect and drops the calls, unless it
 * was inlined before. */
#define PREFETCHER static inline __attribute__((always_inline))

/* Ask for the sixteen grandchildren: four lines in a row, of which the next step needs one. */
PREFETCHER void prefetch_grandchildren(const evkey *heap, size_t n, size_t child)
{
    enum { GRANDCHILDREN = ARITY * ARITY };
    size_t first = ARITY * child + 1;
    if (n < PREFETCH_MIN || first + GRANDCHILDREN > n) return;
    for (size_t i = 0; i < ARITY; i++) __builtin_prefetch(&heap[first + ARITY * i]);
}

static inline void put(evkey *heap, uint32_t *pos, size_t i, evkey k)
{
    heap[i] = k;
    pos[key_slot(k)] = (uint32_t)i;
}

/* Put k where it belongs at or below the open node i. */
static void sift_down(struct evq *q, size_t i, evkey k)
{
    evkey *heap = q->heap;
    uint32_t *pos = q->pos;
    size_t n = q->n;
    for (size_t c = ARITY * i + 1; c < n; c = ARITY * i + 1) {
        prefetch_grandchildren(heap, n, c);
        if (c + 1 < n) c += least_of_four(&heap[c]);
        if (k < heap[c]) break;
        put(heap, pos, i, heap[c]);
        i = c;
    }
    put(heap, pos, i, k);
}

/* Put k where it belongs at or above the open node i. */
static void sift_up(struct evq *q, size_t i, evkey k)
{
    evkey *heap = q->heap;
    uint32_t *pos = q->pos;
    while (i > 0) {
        size_t parent = (i - 1) / ARITY;
        if (heap[parent] < k) break;
        put(heap, pos, i, heap[parent]);
        i = parent;
    }
    put(heap, pos, i, k);
}

/* Put k where it belongs from the open node i, up or down. */
static void sift(struct evq *q, size_t i, evkey k)
{
    if (i > 0 && k < q->heap[(i - 1) / ARITY])
        sift_up(q, i, k);
    else
        sift_down(q, i, k);
}

static void heap_resize(struct evq *q, size_t cap)
{
    cap = (cap + ARITY - 2) / ARITY * ARITY + 1;
    /* heap[0] is the last key of its line, so that heap[1] starts one. */
    evkey *raw = xcalloc_lines(cap + ARITY - 1, sizeof *raw);
    evkey *heap = raw + (ARITY - 1);
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
        sift_down(q, 0, k);
        return;
    }
    if (q->n == q->cap) heap_resize(q, 2 * q->cap);
    sift_up(q, q->n++, k);
}

/* Fill the open node i with the last key. */
static void heap_fill(struct evq *q, size_t i)
{
    evkey last = q->heap[--q->n];
    q->heap[q->n] = KEY_UNUSED;
    if (i < q->n) sift(q, i, last);
}

static inline void heap_close(struct evq *q)
{
    if (!q->hole) return;
    q->hole = false;
    heap_fill(q, 0);
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
    heap_close(q);
    if (q->n > 0) qsort(q->heap, q->n, sizeof *q->heap, key_compare);
    q->seq = 0;
    for (size_t i = 0; i < q->n; i++) {
        evkey k = q->heap[i];
        put(q->heap, q->pos, i, key_make(key_when(k), key_class(k), ++q->seq, key_slot(k)));
    }
}

/* ---- slots ---- */

static void slots_resize(struct evq *q, size_t cap)
{
    if (cap > EVQ_MAX_PENDING) cap = EVQ_MAX_PENDING;
    q->slots = xreallocarray(q->slots, cap, sizeof *q->slots);
    q->pos = xreallocarray(q->pos, cap, sizeof *q->pos);
    q->slots_cap = (uint32_t)cap;
}

static uint32_t slot_make(struct evq *q)
{
    if (q->slots_n == EVQ_MAX_PENDING)
        BUG("more than %lu pending events", (unsigned long)EVQ_MAX_PENDING);
    if (q->slots_n == q->slots_cap) slots_resize(q, 2 * (size_t)q->slots_cap);
    q->slots[q->slots_n].gen = q->first_gen;
    return q->slots_n++;
}

static inline uint32_t slot_take(struct evq *q)
{
    uint32_t s = q->free;
    if (s == SLOT_NONE) return slot_make(q);
    q->free = q->slots[s].arg;
    return s;
}

static inline void slot_release(struct evq *q, uint32_t s)
{
    struct slot *slot = &q->slots[s];
    if (++slot->gen == GEN_RETIRED) return;
    slot->arg = q->free;
    q->free = s;
}

/* One of the root's children is next: ask for their slots while the caller handles this event. */
PREFETCHER void prefetch_next_slot(const struct evq *q)
{
    if (q->n < PREFETCH_MIN) return;
    for (size_t i = 1; i <= ARITY; i++) __builtin_prefetch(&q->slots[key_slot(q->heap[i])]);
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
    free(q->pos);
    free(q);
}

_Noreturn static void bug_past(const struct evq *q, simtime when)
{
    BUG("event scheduled at %lld ns, before now, %lld ns", (long long)when, (long long)q->now);
}

/* The key of an event scheduled now. May renumber the keys in the heap. */
static inline evkey new_key(struct evq *q, simtime when, unsigned cls, uint32_t s)
{
    if (when < q->now) bug_past(q, when);
    if (q->seq == UINT32_MAX) renumber(q);
    return key_make(when, cls, ++q->seq, s);
}

ev_id evq_at(struct evq *q, simtime when, enum ev_class cls, uint16_t kind, uint32_t arg)
{
    if ((unsigned)cls >= EV_CLASSES) BUG("unknown event class %d", (int)cls);
    uint32_t s = slot_take(q);
    struct slot *slot = &q->slots[s];
    slot->arg = arg;
    slot->kind = kind;
    ev_id id = { s, slot->gen };
    heap_add(q, new_key(q, when, cls, s));
    return id;
}

bool evq_is_pending(const struct evq *q, ev_id id)
{
    return id.slot < q->slots_n && q->slots[id.slot].gen == id.gen;
}

bool evq_move(struct evq *q, ev_id id, simtime when)
{
    if (!evq_is_pending(q, id)) return false;
    evkey k = new_key(q, when, key_class(q->heap[q->pos[id.slot]]), id.slot);
    sift(q, q->pos[id.slot], k);
    return true;
}

bool evq_cancel(struct evq *q, ev_id id)
{
    if (!evq_is_pending(q, id)) return false;
    heap_fill(q, q->pos[id.slot]);
    slot_release(q, id.slot);
    return true;
}

bool evq_pop(struct evq *q, struct event *out)
{
    heap_close(q);
    if (q->n == 0) return false;
    evkey k = q->heap[0];
    if (key_when(k) == SIM_NEVER) return false;
    uint32_t s = key_slot(k);
    const struct slot *slot = &q->slots[s];
    *out = (struct event){
        .when = key_when(k), .arg = slot->arg, .kind = slot->kind, .cls = (uint8_t)key_class(k)
    };
    prefetch_next_slot(q);
    q->now = out->when;
    q->heap[0] = KEY_OPEN;
    q->hole = true;
    slot_release(q, s);
    return true;
}

simtime evq_when(const struct evq *q, ev_id id)
{
    return evq_is_pending(q, id) ? key_when(q->heap[q->pos[id.slot]]) : SIM_NEVER;
}

simtime evq_now(const struct evq *q)
{
    return q->now;
}

/* Not of an empty queue. */
static inline evkey first_key(const struct evq *q)
{
    return q->hole ? q->heap[1 + least_of_four(&q->heap[1])] : q->heap[0];
}

simtime evq_peek(const struct evq *q)
{
    return evq_count(q) == 0 ? SIM_NEVER : key_when(first_key(q));
}

bool evq_next(const struct evq *q, uint16_t *kind, uint32_t *arg)
{
    if (evq_count(q) == 0) return false;
    const struct slot *slot = &q->slots[key_slot(first_key(q))];
    *kind = slot->kind;
    *arg = slot->arg;
    return true;
}

size_t evq_count(const struct evq *q)
{
    return q->n - q->hole;
}

size_t evq_footprint_bytes(const struct evq *q)
{
    size_t heap_bytes = (q->cap + ARITY - 1) * sizeof *q->heap;
    return sizeof *q + heap_bytes + q->slots_cap * (sizeof *q->slots + sizeof *q->pos);
}

void evq_age(struct evq *q, uint32_t seq, uint32_t gen)
{
    BUG_ON(seq < q->seq || gen == 0 || gen >= GEN_RETIRED);
    q->seq = seq;
    q->first_gen = gen;
    for (uint32_t s = q->free; s != SLOT_NONE; s = q->slots[s].arg) q->slots[s].gen = gen;
}
