/* engine/service_inside.h - the state of services, shared by its parts: service.c (arrivals,
 * events, figures), service_work.c (queues, routing, replicas at work), service_replica.c
 * (replicas come, go, and are scaled). For these files only. */
#ifndef GPUSIM_ENGINE_SERVICE_INSIDE_H
#define GPUSIM_ENGINE_SERVICE_INSIDE_H

#include "base/bits.h"
#include "base/maxtree.h"
#include "engine/request_source.h"
#include "engine/scale.h"
#include "engine/service.h"

/* Events, counted from services' first kind. */
enum {
    SERVICE_ARRIVE, /* arg: service; the next request of its source */
    SERVICE_ASK,    /* arg: user */
    SERVICE_LOOK,   /* arg: queue; a batch has waited long enough */
    SERVICE_EXPIRE, /* arg: queue; its head may have waited too long */
    SERVICE_SCALE,  /* arg: service; how many replicas does it want? */
};

enum { NOBODY = -1 };

struct query {
    struct serve_call call; /* first: the way of serving knows it by this */
    struct query *next;     /* in its queue, or the free list */
    double size_ns;   /* work alone on a whole card of the reference kind; tokens in and out */
    int64_t user;     /* who waits for the answer; NOBODY */
    uint64_t session; /* number from 1; 0: none */
};

/* First come, first served. */
struct queue {
    struct query *head, *tail;
    struct query *inserted; /* the last that queue_insert() put between others; NULL: has left */
    uint64_t n;
    double size_ns;
    uint32_t number; /* among all queues of the run: argument of its timers */
    ev_id look, expire;
};

enum replica_phase { REPLICA_STARTING, REPLICA_UP, REPLICA_DRAINING, REPLICA_GONE };

struct replica {
    struct service *service;
    struct job *job;
    enum replica_phase phase;
    uint32_t number; /* in its service: slot of the indices */
    bool busy;
    double alone;       /* its speed without neighbours, as what it is now */
    struct queue queue; /* routed to it; empty under a shared queue */
    struct queue batch; /* what it works on */
    /* Language models: */
    void *state; /* of the way of serving, while it is up */
    const struct shape *look[SERVICE_LOOKS];
    double alone_as[SERVICE_LOOKS]; /* its speed without neighbours with each */
    double length;                  /* of the stretch under way, ns alone */
};

struct service {
    const struct plan_service *plan;
    const struct service_spec *spec;
    size_t index;
    struct request_source *source;
    struct request_row row; /* the next arrival */
    bool more;
    bool closed;        /* its replicas have gone for good */
    gsl_rng *rng;       /* of the router */
    struct queue queue; /* of all replicas, or of requests that came while none was up */
    struct replica **replica;
    size_t n_replicas;
    struct replica **up; /* by number */
    size_t n_up, n_starting, n_draining;
    struct bits idle;     /* numbers of replicas that are up and do nothing */
    struct maxtree score; /* by number: minus what the router says; INT64_MIN: not up */
    uint64_t routed;
    int64_t first_user; /* of a closed loop, among all users */
    simtime asked;      /* at the last request of a user; and how many at that instant */
    uint64_t asked_at_once;
    sym tenant;
    /* counts and integrals */
    uint64_t requests, fate[REQUEST_FATES], waiting, in_service, busy, up_most;
    uint64_t lost, came_up; /* replicas: gone without having been retired; that came up */
    uint64_t lost_in_row;   /* since one came up */
    struct scaler *scaler;  /* NULL: their number stays */
    wide scale_up_ns, scale_busy_ns, scale_present_ns; /* at the last look */
    simtime scaled;
    simtime settled;
    wide waiting_ns, present_ns, up_ns, busy_ns;
    wide stay_ns, arrivals_ns; /* of those that left; sum of arrival times of those present */
    uint64_t last_requests, last_completed, last_dropped; /* at the last sample */
    wide last_up_ns, last_busy_ns;
    double queue_batch[QUEUE_MARKS - 1], queue_before;
    wide mark_ns;
    bool has_batches;
};

/* Whose queue it is, by its number. */
struct queue_owner {
    struct service *service;
    struct replica *replica; /* NULL: the shared queue */
};

struct services {
    const struct plan *plan;
    const struct sim_options *opt;
    struct evq *q;
    struct residents *residents;
    uint16_t first_kind;
    struct service_calls call;
    void *ctx;
    struct err *e;
    struct service *service;
    size_t n;
    int64_t n_users;
    uint64_t standing;
    VEC(struct queue_owner) owner; /* by queue number */
    VEC(struct query *) chunk;
    struct query *spare;
    bool stopping;
    bool lost; /* a replica that its scaler will start again; told once */
};

static inline void queue_push(struct queue *to, struct query *q)
{
    q->next = NULL;
    if (to->n++ == 0)
        to->head = q;
    else
        to->tail->next = q;
    to->tail = q;
    to->size_ns += q->size_ns;
}

/* By arrival: who comes from a replica that was struck is older than others. Those of one replica
 * come in that order, so the search goes on where the last one ended: all of them cost one walk. */
static inline void queue_insert(struct queue *to, struct query *q)
{
    if (to->n == 0 || to->tail->call.arrival <= q->call.arrival) {
        queue_push(to, q);
        return;
    }
    const bool on = to->inserted && to->inserted->call.arrival <= q->call.arrival;
    struct query **at = on ? &to->inserted->next : &to->head;
    while ((*at)->call.arrival <= q->call.arrival) at = &(*at)->next;
    q->next = *at;
    *at = to->inserted = q;
    to->n++;
    to->size_ns += q->size_ns;
}

static inline struct query *queue_pop(struct queue *from)
{
    struct query *q = from->head;
    from->head = q->next;
    if (from->inserted == q) from->inserted = NULL;
    /* An empty queue has no rounding left from those that went. */
    from->size_ns = --from->n ? from->size_ns - q->size_ns : 0;
    return q;
}

/* ---- counting ---- */

static inline void service_settle(struct service *v, simtime now)
{
    const wide elapsed = now - v->settled;
    if (elapsed == 0) return;
    v->settled = now;
    v->waiting_ns += (wide)v->waiting * elapsed;
    v->present_ns += (wide)(v->waiting + v->in_service) * elapsed;
    v->up_ns += (wide)(v->n_up + v->n_draining) * elapsed;
    v->busy_ns += (wide)v->busy * elapsed;
}

/* ---- service_work.c ---- */

/* A user thinks, then asks. */
void service_schedule_ask(struct services *s, struct service *v, int64_t user, simtime now);
/* A replica's load has changed: the router's index follows. */
void service_rescore(struct service *v, const struct replica *x);
/* Requests at the head of a queue go that have waited longer than they may. Who has waited exactly
 * so long may still be taken in this instant; service_expire_due() lets those go as well, once a
 * batch that was held back until now has begun. service_expire_waiting(): in the list of a language
 * model. */
void service_expire(struct services *s, struct service *v, struct queue *from, simtime now);
void service_expire_due(struct services *s, struct service *v, struct queue *from, simtime now);
void service_expire_waiting(struct services *s, struct replica *x, simtime now);
/* The queue that a free replica takes from. */
struct queue *service_queue_of(struct replica *x);
void service_set_busy(struct replica *x, bool busy);
/* Will anybody come beside those who are here? */
bool service_may_come(const struct service *v);
/* A batcher that does nothing looks at its queue. */
void service_look(struct services *s, struct replica *x, simtime now);
/* Everybody who is free and has something in front looks at it. */
void service_look_at_all(struct services *s, struct service *v, simtime now);
/* A request joins the list of a language model's replica. */
void service_join(struct services *s, struct replica *x, struct query *q, simtime now);
/* The replica that a request goes to; NULL: none is up, or any that is free. */
struct replica *service_route(struct service *v, const struct query *q, simtime now);
/* It stands in a queue; somebody who is free may take it at once. */
void service_enqueue(struct services *s, struct service *v, struct query *q, simtime now);
/* It has left: tell who listens, and let its user think. */
void service_leave(struct services *s, struct service *v, struct query *q, enum request_fate fate,
                   simtime now);

/* ---- service_replica.c ---- */

void service_queue_init(struct services *s, struct queue *q, struct service *v, struct replica *x);
void service_launch(struct services *s, struct service *v, uint32_t number);
/* It leaves its cards; its slot may be used again. */
void service_retire(struct services *s, struct replica *x, simtime now);
/* All leave, and no more will come. */
void service_close(struct services *s, struct service *v, simtime now);
/* As many replicas as the scaler wants; and the next look. */
void service_scale(struct services *s, struct service *v, simtime now);

#endif
