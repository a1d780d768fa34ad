/* engine/service.h - inference services request by request: arrivals, queues, routing, replicas.
 *
 * A replica is a job without an end, placed by the scheduler like any other; it is active on its
 * cards while it works, so co-resident jobs feel its bursts and it feels them: both are answers of
 * the same policy to the same residents (engine/residents.h). Where tenants take turns the card is
 * shared out as a fluid all the same: right for requests that last a few turns, up to half a round
 * too fast for shorter ones (policy/timeshare.h). What it works on is a batch; how batches are made
 * is engine/serve.h, who gets a request is engine/route.h.
 *
 * What neighbours feel of a language model follows its batch in steps of four (plan_look()): by how
 * many sequences decode, by how many tokens of prompts ride along. Their lengths are not followed;
 * how far that is off: tests/unit/test_service_looks.c.
 *
 * Equal times: ends of work, then arrivals, then timers (batch delays, timeouts): a request that
 * has waited exactly as long as it may is taken by who becomes free then, and at a timeout of 0 by
 * who is free when it comes. Memory: the requests in the system and the replicas. Complexity:
 * O(log) per request. Threads: one run, one thread. */
#ifndef GPUSIM_ENGINE_SERVICE_H
#define GPUSIM_ENGINE_SERVICE_H

#include "engine/residents.h"
#include "engine/sim.h"

struct services;

/* The run, as services see it. */
struct service_calls {
    /* Make the job of a replica of service `k`; then hand it to the scheduler. */
    struct job *(*launch)(void *ctx, size_t k, uint64_t number);
    void (*submit)(void *ctx, struct job *j);
    /* What such a job of a language model looks like at some batch (engine/plan.h). */
    const struct shape *(*look)(void *ctx, size_t k, size_t look);
    /* It leaves its cards, or the queue, for good. */
    void (*retire)(void *ctx, struct job *j);
    void (*fail)(void *ctx, int rc);
};

/* Kinds of events from `first_kind` on belong to services. NULL on an error in *e (ERR_INPUT,
 * ERR_IO). */
struct services *services_create(const struct plan *plan, const struct sim_options *opt,
                                 struct evq *q, struct residents *residents, uint16_t first_kind,
                                 const struct service_calls *calls, void *ctx, struct err *e);
void services_destroy(struct services *s); /* accepts NULL */
/* At time 0: launch the replicas, wait for the first arrivals. */
void services_start(struct services *s);
void services_event(struct services *s, uint16_t kind, uint32_t arg, simtime now);
/* Between getting its cards and serving. */
simtime services_start_up(const struct job *j);
/* The job of a replica has begun: its memory is there, it can serve. */
void services_ready(struct services *s, struct job *j, simtime now);
/* What it was given to work on is done. */
void services_done(struct services *s, struct job *j, simtime now);
/* The job of a replica is thrown off its cards, or found no place; what it worked on waits again,
 * at the head of its queue. `for_good`: it will not be placed again. False: it is gone for good,
 * also because it was about to leave anyway. The job's cards are the caller's business. */
bool services_down(struct services *s, struct job *j, bool for_good, simtime now);
/* Nothing waits and nothing more will come. */
bool services_idle(const struct services *s);
/* Of some service, whose replicas have not left. */
bool services_may_leave(const struct services *s);
/* All replicas of those services leave for good. */
void services_leave(struct services *s, simtime now);
/* The replicas of this one's service leave for good: what waits is never answered. */
void services_give_up(struct services *s, const struct job *j, simtime now);
const char *services_name(const struct job *j);
/* Can requests still be answered by replicas that are up, or by some on their way, in a service
 * that has not lost `most` in a row? */
bool services_hope(const struct services *s, uint64_t most);
/* Has a replica gone for good, of a service that will start another? Told once. */
bool services_lost(struct services *s);
/* The next service without hope gives up: its name; NULL: there is none. */
const char *services_give_up_next(struct services *s, simtime now);
/* Requests that have come and that have left: it grows while anything is done. */
uint64_t services_progress(const struct services *s);
/* Are requests still to come by themselves? */
bool services_expect(const struct services *s);
/* Jobs of replicas that are in the system. */
uint64_t services_standing(const struct services *s);
uint64_t services_placed(const struct services *s); /* of them, on cards */
/* The work is over: all replicas leave. */
void services_stop(struct services *s, simtime now);

void services_sample(struct services *s, simtime now, simtime length);
void services_warm(struct services *s, simtime now);
void services_mark(struct services *s, int mark, simtime length, simtime now);
/* Conservation. NULL, or the law that is broken. */
const char *services_check(struct services *s, simtime now);
/* Totals of each service, from malloc; the caller frees. */
struct service_totals *services_totals(struct services *s, simtime now);

#endif
