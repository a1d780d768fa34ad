/* engine/evq.h - the event queue and the clock: a total order, stable handles, plain events.
 *
 * Order:     by (time, class, sequence). The sequence number counts schedulings, so equal times
 *            and classes run first come, first served, and nothing depends on the heap's layout.
 *            evq_move() schedules anew: the event goes behind all equals, also when its time stays
 *            the same.
 * Clock:     starts at 0 and is the time of the event popped last; it never goes back.
 *            An event at SIM_NEVER is parked: it stays pending and can be moved or cancelled, but
 *            is not delivered, so a card that has nothing to finish keeps its handle.
 * Handles:   an ev_id stays good from evq_at() until its event is popped or cancelled, through any
 *            number of moves. A stale id is recognised for ever: slots carry a generation, and one
 *            whose generations are used up is retired. The id {0, 0} is always stale.
 * Complexity: pop, at, move and cancel O(log n); at and move O(1) on average when times are random;
 *            everything else O(1). A pop and the at() that follows cost one pass, not two.
 *            Growth is amortised O(1). Once in 2^32 schedulings the pending events are
 *            numbered anew, in the same order: O(n log n).
 * Memory:    32 bytes per pending event (at their highest count), up to twice that after growth
 *            by doubling; nothing is given back before evq_destroy(). Out of memory ends the
 *            program (base/mem.h).
 * Failure:   no call fails for a reason outside the program. A time before evq_now(), an unknown
 *            class and more than EVQ_MAX_PENDING events are bugs of the caller: BUG().
 * Threads:   one queue, one thread; queues share nothing. */
#ifndef GPUSIM_ENGINE_EVQ_H
#define GPUSIM_ENGINE_EVQ_H

#include "base/simtime.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order in which events of one instant run. */
enum ev_class { EV_FINISH, EV_FAULT, EV_ARRIVE, EV_POLICY, EV_SAMPLE, EV_STOP, EV_CLASSES };

#define EVQ_MAX_PENDING (UINT32_C(1) << 29)

struct evq;

typedef struct {
    uint32_t slot, gen;
} ev_id;

/* What the caller gets back: `kind` and `arg` are its own, the queue does not look at them. */
struct event {
    simtime when;
    uint32_t arg;
    uint16_t kind;
    uint8_t cls; /* enum ev_class */
};

/* Memory for `capacity_hint` pending events is set aside; more may come. */
struct evq *evq_create(size_t capacity_hint);
void evq_destroy(struct evq *q); /* accepts NULL */

/* Schedule an event. Requires when >= evq_now(q). */
ev_id evq_at(struct evq *q, simtime when, enum ev_class cls, uint16_t kind, uint32_t arg);
/* Reschedule. Requires when >= evq_now(q). False, and no effect: it already ran or was
 * cancelled. */
bool evq_move(struct evq *q, ev_id id, simtime when);
/* False, and no effect: it already ran or was cancelled. */
bool evq_cancel(struct evq *q, ev_id id);

/* Take out the earliest event and advance the clock to it; its id is stale on return. False when
 * nothing is left but parked events: *out and the clock stay as they are. */
bool evq_pop(struct evq *q, struct event *out);

bool evq_is_pending(const struct evq *q, ev_id id);
simtime evq_when(const struct evq *q, ev_id id); /* its time; SIM_NEVER when parked or stale */
simtime evq_now(const struct evq *q);
simtime evq_peek(const struct evq *q); /* time of the next event; SIM_NEVER: none */
/* What the next event is, parked or not. False: there is none. */
bool evq_next(const struct evq *q, uint16_t *kind, uint32_t *arg);
size_t evq_count(const struct evq *q);           /* pending events, parked ones included */
size_t evq_footprint_bytes(const struct evq *q); /* memory held now */

/* For tests: go on as if the sequence counter stood at `seq` (not below its value) and every slot
 * that is free or not yet made at generation `gen` (1 .. UINT32_MAX - 1). */
void evq_age(struct evq *q, uint32_t seq, uint32_t gen);

#endif
