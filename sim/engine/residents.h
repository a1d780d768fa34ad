/* engine/residents.h - what runs on each card, how fast, and what it is charged: the settle -
 * change - ask - move part of the loop.
 *
 * A job holds cards from its allocation on (charged), and is active on them from its first work on
 * (speeds, memory, power). The engine keeps one pending finish per card, that of the job of this
 * home card that ends first; a gang's home is its first card.
 * Complexity: a change of one card costs O(residents of that card) plus the policy's answer.
 * Threads: one run, one thread. */
#ifndef GPUSIM_ENGINE_RESIDENTS_H
#define GPUSIM_ENGINE_RESIDENTS_H

#include "engine/cluster.h"
#include "engine/job.h"
#include "engine/meters.h"
#include "engine/sim.h"

struct residents;

/* `finish_kind`: the event kind of a card's next finish (arg: the card). */
struct residents *residents_create(const struct plan *plan, const struct cluster *cluster,
                                   struct evq *q, uint16_t finish_kind);
void residents_destroy(struct residents *r); /* accepts NULL */

/* The job (holdings filled, cluster already taken) holds its cards; not active yet. `waits`: time
 * will pass before residents_begin(). */
void residents_hold(struct residents *r, struct job *j, simtime now, bool waits);
/* It begins to work: allocate its memory, or only its context when it grows later. False: out of
 * memory, nothing was allocated. */
bool residents_begin(struct residents *r, struct job *j, simtime now);
/* Allocate the rest. False: out of memory, it holds what it held before. */
bool residents_grow(struct residents *r, struct job *j, simtime now);
/* It leaves its cards; the cluster has already been given back. */
void residents_leave(struct residents *r, struct job *j, simtime now);
/* A replica of a service has `work_ns` isolated ns to do as `as`, one of its shapes; NULL: it is
 * idle, keeps its memory and context, and is not seen by the policy. Its next finish is that of
 * this work. The answers for each combination of idle and busy residents of a card are kept, so
 * going back and forth costs O(residents). */
void residents_work(struct residents *r, struct job *j, const struct shape *as, double work_ns,
                    simtime now);
/* Work of it that is left now, in isolated ns; below 0 at its end, which is rounded up to a whole
 * ns. */
double residents_left(const struct job *j, simtime now);
/* Speed of the job alone on a card of its kind as `as`. */
double residents_alone(struct residents *r, const struct job *j, const struct shape *as);
/* The card's instances have changed: what is stranded there may be another amount. */
void residents_look(struct residents *r, uint32_t card, simtime now);
/* It will soon be asked about this card: fetch it into the cache. Changes nothing. */
void residents_expect(const struct residents *r, uint32_t card);
/* Jobs whose home is `card` and whose work is done at `now`; appended. */
void residents_done(const struct residents *r, uint32_t card, simtime now, struct job_list *out);

/* The card went out of service or came back: what is free on it is stranded while jobs run on, and
 * down once it is empty. */
void residents_service(struct residents *r, uint32_t card, simtime now);
/* Everyone who holds a part of the card, appended. */
void residents_of(const struct residents *r, uint32_t card, struct job_list *out);

/* Credit everything up to now; drop integrals and charges (end of warm-up). */
void residents_settle_all(struct residents *r, simtime now);
void residents_reset(struct residents *r, simtime now);

/* Integrals up to now, summed over a group. */
const struct meter_group *residents_meters(struct residents *r, size_t group, simtime now);
/* Joules of a group by its meters: board power by state (reference TCO 3.3). */
double residents_energy_J(const struct plan *plan, size_t group, const struct meter_group *m,
                          simtime length);
/* Charges since the last reset by user, group of the trace or class; joules charged by group of the
 * fleet. Lent. */
const struct tenant_totals *residents_tenants(const struct residents *r, enum charge_by by,
                                              size_t *n);
double residents_charged_J(const struct residents *r, size_t group);
/* P07: no card has ever held more than its usable memory, but under policies that swap. */
bool residents_within_memory(const struct residents *r);
/* No card holds anything: the state of the beginning. */
bool residents_none(const struct residents *r);

#endif
