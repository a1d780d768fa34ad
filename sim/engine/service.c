#include "engine/service.h"

#include "base/bits.h"
#include "base/err.h"
#include "base/maxtree.h"
#include "base/rng.h"
#include "engine/request_source.h"
#include "engine/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Events, counted from services' first kind. */
enum {
    SERVICE_ARRIVE, /* arg: service; the next request of its source */
    SERVICE_ASK,    /* arg: user */
    SERVICE_LOOK,   /* arg: queue; a batch has waited long enough */
    SERVICE_EXPIRE, /* arg: queue; its head may have waited too long */
    SERVICE_SCALE,  /* arg: service; how many replicas does it want? */
};

enum { CHUNK = 1024, NOBODY = -1 };

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
    double alone_as[2]; /* decoding (or a batch), filling prompts in */
    struct queue queue; /* routed to it; empty under a shared queue */
    struct queue batch; /* what it works on */
    /* Language models: */
    void *state;              /* of the way of serving, while it is up */
    const struct shape *fill; /* what it looks like while prompts are filled in */
    double carry;  /* ns by which the stretch under way began before its whole ns; <= 0 */
    double length; /* of the stretch, from there */
    int64_t work;  /* the same in the job's work */
};

struct service {
    const struct plan_service *plan;
    const struct service_spec *spec;
    size_t index;
    struct request_source *source;
    struct request_row row; /* the next arrival */
    bool more;
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
    sym tenant;
    /* counts and integrals */
    uint64_t requests, fate[REQUEST_FATES], waiting, in_service, busy, up_most;
    uint64_t lost, launched, came_up; /* replicas: gone without having been retired; and in all */
    struct scaler *scaler;            /* NULL: their number stays */
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
};

/* ---- requests and queues ---- */

static struct query *request_new(struct services *s)
{
    if (!s->spare) {
        struct query *chunk = xcalloc(CHUNK, sizeof *chunk);
        vec_push(&s->chunk, chunk);
        for (size_t i = CHUNK; i-- > 0;) {
            chunk[i].next = s->spare;
            s->spare = &chunk[i];
        }
    }
    struct query *q = s->spare;
    s->spare = q->next;
    return q;
}

static void queue_push(struct queue *to, struct query *q)
{
    q->next = NULL;
    if (to->n++ == 0)
        to->head = q;
    else
        to->tail->next = q;
    to->tail = q;
    to->size_ns += q->size_ns;
}

static struct query *queue_pop(struct queue *from)
{
    struct query *q = from->head;
    from->head = q->next;
    /* An empty queue has no rounding left from those that went. */
    from->size_ns = --from->n ? from->size_ns - q->size_ns : 0;
    return q;
}

/* ---- counting ---- */

static void settle(struct service *v, simtime now)
{
    const wide elapsed = now - v->settled;
    if (elapsed == 0) return;
    v->settled = now;
    v->waiting_ns += (wide)v->waiting * elapsed;
    v->present_ns += (wide)(v->waiting + v->in_service) * elapsed;
    v->up_ns += (wide)(v->n_up + v->n_draining) * elapsed;
    v->busy_ns += (wide)v->busy * elapsed;
}

static void schedule_ask(struct services *s, struct service *v, int64_t user, simtime now)
{
    const simtime think = request_source_think(v->source);
    if (think >= SIM_NEVER - now) return;
    evq_at(s->q, now + think, EV_ARRIVE, (uint16_t)(s->first_kind + SERVICE_ASK), (uint32_t)user);
}

/* It has left: tell who listens, and let its user think. */
static void leave(struct services *s, struct service *v, struct query *q, enum request_fate fate,
                  simtime now)
{
    const struct request_end end = { .fate = fate,
                                     .arrival = q->call.arrival,
                                     .end = now,
                                     .began = q->call.began,
                                     .first = q->call.first,
                                     .input_tokens = q->call.input,
                                     .output_tokens = q->call.output,
                                     .size_ns = q->size_ns };
    v->fate[fate]++;
    v->stay_ns += now - q->call.arrival;
    v->arrivals_ns -= q->call.arrival;
    for (size_t i = 0; i < s->opt->n_sinks; i++) {
        const struct sink *k = &s->opt->sinks[i];
        if (k->request) k->request(k->self, s->plan, v->index, &end);
    }
    if (q->user != NOBODY && !s->stopping) schedule_ask(s, v, q->user, now);
    q->next = s->spare;
    s->spare = q;
}

/* ---- replicas at work ---- */

static void rescore(struct service *v, const struct replica *x)
{
    if (!v->plan->route->score || x->phase != REPLICA_UP) return;
    struct route_replica seen = { .waiting = x->queue.n,
                                  .in_service = x->batch.n,
                                  .waiting_size = x->queue.size_ns / 1e9,
                                  .in_service_size = x->batch.size_ns / 1e9 };
    if (x->state)
        v->plan->serve->load(x->state, &seen.waiting, &seen.in_service, &seen.waiting_size);
    maxtree_set(&v->score, x->number, -llround(v->plan->route->score(&seen) * 1e6));
}

/* A timer of a queue: at `when`, unless it rings before. */
static void ring(struct services *s, ev_id *timer, simtime when, int kind, uint32_t queue)
{
    if (evq_is_pending(s->q, *timer) && evq_when(s->q, *timer) <= when) return;
    if (!evq_move(s->q, *timer, when))
        *timer = evq_at(s->q, when, EV_POLICY, (uint16_t)(s->first_kind + kind), queue);
}

static simtime expiry(const struct service *v, const struct query *q)
{
    return v->spec->timeout < SIM_NEVER - 1 - q->call.arrival ? q->call.arrival + v->spec->timeout
                                                              : SIM_NEVER - 1;
}

/* Requests at the head that have waited too long go. The timer follows the head lazily: it rings for a
 * head that has gone, and is set anew. */
static void expire(struct services *s, struct service *v, struct queue *from, simtime now)
{
    if (v->spec->timeout == CFG_NO_TIME) return;
    while (from->n && expiry(v, from->head) <= now) {
        struct query *q = queue_pop(from);
        v->waiting--;
        leave(s, v, q, REQUEST_TIMED_OUT, now);
    }
    if (from->n) ring(s, &from->expire, expiry(v, from->head), SERVICE_EXPIRE, from->number);
}

static struct queue *queue_of(struct replica *x)
{
    return x->service->plan->route->shared ? &x->service->queue : &x->queue;
}

static void set_busy(struct replica *x, bool busy)
{
    struct service *v = x->service;
    if (x->busy == busy) return;
    x->busy = busy;
    v->busy += busy ? 1 : (uint64_t)-1;
    if (x->phase != REPLICA_UP) return;
    busy ? bits_clear(&v->idle, x->number) : bits_set(&v->idle, x->number);
}

static void begin_batch(struct services *s, struct replica *x, struct queue *from, uint64_t n,
                        simtime now)
{
    struct service *v = x->service;
    const struct fit *fit = &x->job->shape->fit[x->job->group];
    double largest = 0;
    for (uint64_t i = 0; i < n; i++) {
        struct query *q = queue_pop(from);
        q->call.began = now;
        if (q->size_ns > largest) largest = q->size_ns;
        queue_push(&x->batch, q);
    }
    v->waiting -= n;
    v->in_service += n;
    /* A slice stretches the requests, not what is the same on every slice (a floor of launches): so what
     * the replica does is counted in its own time alone there, times its speed alone there. */
    const double measured = v->plan->slower[x->job->group];
    const double scale = (isnan(measured) ? fit->transfer : measured) / x->alone;
    const double work = v->plan->serve->work_ns(v->plan->serve_params, n, x->batch.size_ns * scale,
                                                largest * scale) *
                        x->alone;
    set_busy(x, true);
    residents_work(s->residents, x->job, x->job->shape,
                   work < 9.2e18 ? llround(work) : SIM_NEVER - 1, now);
}

/* Will anybody come beside those who are here? */
static bool may_come(const struct service *v)
{
    if (v->spec->users == CFG_NO_INT) return v->more;
    return v->waiting + v->in_service < (uint64_t)v->spec->users &&
           (v->spec->count == CFG_NO_INT || v->requests < (uint64_t)v->spec->count);
}

/* It leaves its cards; its slot may be used again. */
static void retire(struct services *s, struct replica *x, simtime now)
{
    struct service *v = x->service;
    settle(v, now);
    set_busy(x, false);
    if (x->phase == REPLICA_DRAINING) v->n_draining--;
    if (x->phase == REPLICA_STARTING) v->n_starting--;
    if (x->state) v->plan->serve->destroy(x->state);
    x->state = NULL;
    x->phase = REPLICA_GONE;
    s->call.retire(s->ctx, x->job);
    x->job = NULL;
    s->standing--;
}

/* ---- language models ---- */

/* Those who have been taken up, and those who leave. */
static void account(struct services *s, struct service *v, struct serve_news *news, simtime now)
{
    v->waiting -= news->begun;
    v->in_service += news->begun;
    for (struct serve_call *c = news->left, *following; c; c = following) {
        struct query *q = (struct query *)c;
        following = c->next;
        if (c->timed_out)
            v->waiting--;
        else
            v->in_service--;
        leave(s, v, q, c->timed_out ? REQUEST_TIMED_OUT : REQUEST_COMPLETED, now);
    }
}

static int64_t work_of(const struct replica *x)
{
    const double work = ceil((x->carry + x->length) * x->alone);
    return work < 9.2e18 ? (int64_t)fmax(work, 0) : SIM_NEVER - 1;
}

/* The next stretch. */
static void iterate(struct services *s, struct replica *x, simtime now)
{
    struct service *v = x->service;
    struct serve_news news = { 0 };
    bool filling = false;
    x->length = v->plan->serve->next(x->state, now, &filling, &news);
    account(s, v, &news, now);
    if (x->length > 0) {
        set_busy(x, true);
        x->alone = x->alone_as[filling];
        x->work = work_of(x);
        residents_work(s->residents, x->job, filling ? x->fill : x->job->shape, x->work, now);
    } else {
        x->carry = 0;
        if (x->busy) residents_work(s->residents, x->job, NULL, 0, now);
        set_busy(x, false);
    }
    rescore(v, x);
}

static void stretch_done(struct services *s, struct replica *x, simtime now)
{
    struct serve_news news = { 0 };
    settle(x->service, now);
    const double did = (double)x->work - residents_left(x->job, now);
    x->carry = fmin(0, x->carry + x->length - did / x->alone);
    x->service->plan->serve->done(x->state, now, &news);
    account(s, x->service, &news, now);
    iterate(s, x, now);
    if (x->phase == REPLICA_DRAINING && !x->busy) retire(s, x, now);
}

/* The waiting list of a busy replica has changed: perhaps its stretch ends sooner. */
static void cut(struct services *s, struct replica *x, simtime now)
{
    const struct service *v = x->service;
    const double done = (double)x->work - residents_left(x->job, now);
    const double length = v->plan->serve->cut(x->state, done / x->alone - x->carry);
    if (length != x->length) {
        x->length = length;
        x->work = work_of(x);
        residents_work(s->residents, x->job, x->job->as,
                       (int64_t)fmax(0, ceil((double)x->work - done)), now);
    }
}

static void expire_waiting(struct services *s, struct replica *x, simtime now)
{
    struct service *v = x->service;
    struct serve_news news = { 0 };
    const simtime due = v->plan->serve->expire(x->state, now, &news);
    account(s, v, &news, now);
    if (news.left && x->busy) cut(s, x, now);
    if (due != SIM_NEVER) ring(s, &x->queue.expire, due, SERVICE_EXPIRE, x->queue.number);
    rescore(v, x);
}

static void join(struct services *s, struct replica *x, struct query *q, simtime now)
{
    struct service *v = x->service;
    v->plan->serve->join(x->state, &q->call);
    if (!x->busy) {
        iterate(s, x, now);
        return;
    }
    cut(s, x, now);
    if (v->spec->timeout != CFG_NO_TIME) expire_waiting(s, x, now);
    rescore(v, x);
}

/* ---- batchers ---- */

/* A replica that does nothing looks at its queue. */
static void look(struct services *s, struct replica *x, simtime now)
{
    struct service *v = x->service;
    struct queue *from = queue_of(x);
    simtime again = SIM_NEVER;
    settle(v, now);
    expire(s, v, from, now);
    if (from->n > 0) {
        const struct serve_queue seen = { .n = from->n,
                                          .oldest = from->head->call.arrival,
                                          .now = now,
                                          .more = may_come(v) && x->phase == REPLICA_UP };
        const uint64_t n = v->plan->serve->batch(v->plan->serve_params, &seen, &again);
        if (n > 0) {
            begin_batch(s, x, from, n < from->n ? n : from->n, now);
            rescore(v, x);
            return;
        }
        if (again != SIM_NEVER)
            ring(s, &from->look, again > now ? again : now, SERVICE_LOOK, from->number);
    }
    if (x->busy) {
        set_busy(x, false);
        residents_work(s->residents, x->job, NULL, 0, now);
    }
    rescore(v, x);
}

void services_done(struct services *s, struct job *j, simtime now)
{
    struct replica *x = j->replica;
    struct service *v = x->service;
    if (x->state) {
        stretch_done(s, x, now);
        return;
    }
    settle(v, now);
    v->in_service -= x->batch.n;
    while (x->batch.n) leave(s, v, queue_pop(&x->batch), REQUEST_COMPLETED, now);
    if (x->phase == REPLICA_DRAINING && (v->plan->route->shared || x->queue.n == 0)) {
        retire(s, x, now);
        return;
    }
    look(s, x, now);
}

/* ---- requests come ---- */

/* The replica that a request goes to; NULL: none is up, or any that is free. */
static struct replica *route(struct service *v, const struct query *q)
{
    const struct route_ops *ops = v->plan->route;
    if (v->n_up == 0 || ops->shared) return NULL;
    if (ops->score) {
        const int64_t best = maxtree_max(&v->score);
        return v->replica[maxtree_next(&v->score, 0, best)];
    }
    const struct route_view view = {
        .n = v->n_up, .session = q->session, .sequence = v->routed, .rng = v->rng
    };
    return v->up[ops->pick(&view)];
}

/* It stands in a queue; somebody who is free may take it at once. */
static void enqueue(struct services *s, struct service *v, struct query *q, simtime now)
{
    struct replica *x = route(v, q);
    struct queue *to = x ? &x->queue : &v->queue;
    if (!x && v->plan->route->shared && v->idle.count) x = v->replica[bits_next(&v->idle, 0)];
    if (v->spec->queue != CFG_NO_INT && v->waiting >= (uint64_t)v->spec->queue &&
        !(x && !x->busy)) {
        leave(s, v, q, REQUEST_REFUSED, now);
        return;
    }
    v->routed += x && !v->plan->route->shared;
    v->waiting++;
    if (x && x->state) {
        join(s, x, q, now);
        return;
    }
    queue_push(to, q);
    if (x && !x->busy) {
        look(s, x, now);
        return;
    }
    if (x) rescore(v, x);
    if (to->n == 1) expire(s, v, to, now); /* the timer of a new head */
}

static void arrived(struct services *s, struct service *v, const struct request_row *row,
                    int64_t user, simtime now)
{
    struct query *q = request_new(s);
    settle(v, now);
    *q = (struct query){ .call = { .arrival = now, .began = JOB_NO_TIME, .first = JOB_NO_TIME },
                         .size_ns = (double)row->size_nano,
                         .user = user,
                         .session = row->session };
    if (v->plan->model) {
        q->call.input = row->input_tokens;
        q->call.output = row->output_tokens > 0 ? row->output_tokens : 1;
        q->size_ns = (double)(q->call.input + q->call.output);
    }
    if (user != NOBODY) q->session = (uint64_t)(user - v->first_user) + 1;
    v->requests++;
    v->arrivals_ns += now;
    if (v->plan->model && q->call.input + q->call.output > v->plan->longest)
        leave(s, v, q, REQUEST_UNSERVABLE, now);
    else
        enqueue(s, v, q, now);
}

static void fetch(struct services *s, struct service *v)
{
    const int rc = request_source_next(v->source, &v->row, s->e);
    v->more = rc > 0;
    if (rc < 0) s->call.fail(s->ctx, rc);
    if (v->more)
        evq_at(s->q, v->row.arrival, EV_ARRIVE, (uint16_t)(s->first_kind + SERVICE_ARRIVE),
               (uint32_t)v->index);
}

static void next_arrival(struct services *s, struct service *v, simtime now)
{
    const struct request_row row = v->row;
    fetch(s, v);
    arrived(s, v, &row, NOBODY, now);
}

static void ask(struct services *s, int64_t user, simtime now)
{
    struct request_row row;
    size_t k = 0;
    while (k + 1 < s->n && s->service[k + 1].first_user <= user) k++;
    struct service *v = &s->service[k];
    if (v->spec->count != CFG_NO_INT && v->requests >= (uint64_t)v->spec->count) return;
    request_source_draw(v->source, &row);
    arrived(s, v, &row, user, now);
}

static void scale(struct services *s, struct service *v, simtime now);

void services_event(struct services *s, uint16_t kind, uint32_t arg, simtime now)
{
    switch (kind - s->first_kind) {
    case SERVICE_ARRIVE: next_arrival(s, &s->service[arg], now); break;
    case SERVICE_ASK: ask(s, arg, now); break;
    case SERVICE_LOOK: {
        const struct queue_owner o = s->owner.v[arg];
        struct replica *x = o.replica;
        if (!x && o.service->idle.count) x = o.service->replica[bits_next(&o.service->idle, 0)];
        if (x && !x->busy && x->job && x->phase != REPLICA_STARTING) look(s, x, now);
        break;
    }
    case SERVICE_EXPIRE: {
        const struct queue_owner o = s->owner.v[arg];
        settle(o.service, now);
        if (o.replica && o.replica->state) {
            expire_waiting(s, o.replica, now);
            break;
        }
        expire(s, o.service, o.replica ? &o.replica->queue : &o.service->queue, now);
        if (o.replica) rescore(o.service, o.replica);
        break;
    }
    case SERVICE_SCALE: scale(s, &s->service[arg], now); break;
    default: BUG("no such event of services: %d", kind - s->first_kind);
    }
}

/* ---- replicas come and go ---- */

static void queue_init(struct services *s, struct queue *q, struct service *v, struct replica *x)
{
    const struct queue_owner o = { v, x };
    q->number = (uint32_t)s->owner.n;
    vec_push(&s->owner, o);
}

static void launch(struct services *s, struct service *v, uint32_t number)
{
    struct replica *x = v->replica[number];
    if (!x) {
        x = v->replica[number] = xcalloc(1, sizeof *x);
        *x = (struct replica){ .service = v, .number = number };
        queue_init(s, &x->queue, v, x);
    }
    x->phase = REPLICA_STARTING;
    v->launched++;
    v->n_starting++;
    s->standing++;
    x->job = s->call.launch(s->ctx, v->index, number);
    if (v->plan->model) x->fill = s->call.filling(s->ctx, v->index);
    x->job->replica = x;
    v->tenant = x->job->row.user;
    s->call.submit(s->ctx, x->job);
}

simtime services_start_up(const struct job *j)
{
    return j->replica->service->spec->start_up;
}

/* Whoever is free and has something in front looks at it. */
static void look_at_all(struct services *s, struct service *v, simtime now)
{
    for (size_t i = 0; i < v->n_up; i++)
        if (!v->up[i]->busy && !v->up[i]->state && queue_of(v->up[i])->n) look(s, v->up[i], now);
}

/* Requests that came while nobody was up go to the router now. */
static void hand_out(struct services *s, struct service *v, simtime now)
{
    for (uint64_t n = v->plan->route->shared ? 0 : v->queue.n; n > 0; n--) {
        struct query *q = queue_pop(&v->queue);
        struct replica *x = route(v, q);
        v->routed++;
        if (x->state) {
            join(s, x, q, now);
            continue;
        }
        queue_push(&x->queue, q);
        expire(s, v, &x->queue, now);
        rescore(v, x);
    }
    look_at_all(s, v, now);
}

void services_ready(struct services *s, struct job *j, simtime now)
{
    struct replica *x = j->replica;
    struct service *v = x->service;
    settle(v, now);
    x->phase = REPLICA_UP;
    v->came_up++;
    const struct plan_group *g = &s->plan->group[j->group];
    const struct demand *d = &j->shape->fit[j->group].demand;
    /* On a part of a card the reference is that part, alone; elsewhere what slows it down slows all of it. */
    const bool part = d->mig_profile >= 0 || d->core_cap < 1;
    x->alone_as[0] = part ? residents_alone(s->residents, j, j->shape) : 1.0;
    x->alone_as[1] = part && x->fill ? residents_alone(s->residents, j, x->fill) : 1.0;
    x->alone = x->alone_as[0];
    if (v->plan->model)
        x->state = v->plan->serve->create(v->plan->serve_params, &v->plan->part[g - s->plan->group],
                                          v->spec->timeout);
    v->n_starting--;
    size_t at = v->n_up++;
    for (; at > 0 && v->up[at - 1]->number > x->number; at--) v->up[at] = v->up[at - 1];
    v->up[at] = x;
    if (v->n_up > v->up_most) v->up_most = v->n_up;
    bits_set(&v->idle, x->number);
    rescore(v, x);
    hand_out(s, v, now);
}

/* Before all others: it has waited longest. */
static void queue_push_front(struct queue *to, struct query *q)
{
    q->next = to->head;
    if (to->n++ == 0) to->tail = q;
    to->head = q;
    to->size_ns += q->size_ns;
}

/* What it worked on begins anew, in the old order. */
static void take_back(struct service *v, struct replica *x, struct queue *to)
{
    struct query *list = NULL, *next;
    for (struct query *q = x->batch.head; x->batch.n; q = next) {
        next = q->next;
        queue_pop(&x->batch);
        q->call.began = JOB_NO_TIME;
        q->next = list;
        list = q;
        v->in_service--;
        v->waiting++;
    }
    for (; list; list = next) {
        next = list->next;
        queue_push_front(to, list);
    }
}

static void withdraw(struct service *v, struct replica *x)
{
    size_t at = 0;
    while (v->up[at] != x) at++;
    v->n_up--;
    for (; at < v->n_up; at++) v->up[at] = v->up[at + 1];
    bits_clear(&v->idle, x->number);
    if (v->plan->route->score) maxtree_set(&v->score, x->number, INT64_MIN);
    if (x->busy) v->busy--;
    x->busy = false;
}

/* All that a language model's replica had, in its old order, into its queue. */
static void drain(struct service *v, struct replica *x)
{
    struct serve_call *c = v->plan->serve->drain(x->state), *following;
    for (; c; c = following) {
        struct query *q = (struct query *)c;
        following = c->next;
        if (c->began != JOB_NO_TIME) {
            v->in_service--;
            v->waiting++;
        }
        c->began = JOB_NO_TIME;
        queue_push(&x->queue, q);
    }
    v->plan->serve->destroy(x->state);
    x->state = NULL;
}

bool services_down(struct services *s, struct job *j, bool for_good, simtime now)
{
    struct replica *x = j->replica;
    struct service *v = x->service;
    struct queue rest = { 0 };
    const bool leaves = for_good || x->phase == REPLICA_DRAINING;
    settle(v, now);
    if (x->phase == REPLICA_UP) {
        withdraw(v, x);
        v->n_starting++;
    } else if (x->phase == REPLICA_DRAINING) {
        set_busy(x, false);
        v->n_draining--;
        v->n_starting++;
    }
    x->phase = REPLICA_STARTING;
    if (x->state)
        drain(v, x);
    else
        take_back(v, x, v->plan->route->shared ? &v->queue : &x->queue);
    if (leaves) {
        x->phase = REPLICA_GONE;
        x->job = NULL;
        v->lost += for_good;
        v->n_starting--;
        s->standing--;
    }
    /* Whatever was sent to it is sent anew. */
    while (x->queue.n) queue_push(&rest, queue_pop(&x->queue));
    while (rest.n) {
        struct query *q = queue_pop(&rest);
        struct replica *to = route(v, q);
        if (to && to->state) {
            join(s, to, q, now);
            continue;
        }
        queue_push(to ? &to->queue : &v->queue, q);
        expire(s, v, to ? &to->queue : &v->queue, now);
        if (to) rescore(v, to);
    }
    look_at_all(s, v, now);
    return !leaves;
}

/* ---- scaling ---- */

/* The last one goes: at once when it is not up yet or does nothing, else when it is through with what it has. */
static void scale_down(struct services *s, struct service *v, simtime now)
{
    size_t i = v->n_replicas;
    while (i-- > 0) {
        struct replica *x = v->replica[i];
        if (!x || !x->job || (x->phase != REPLICA_STARTING && x->phase != REPLICA_UP)) continue;
        if (x->phase == REPLICA_UP) {
            const bool busy = x->busy;
            withdraw(v, x);
            x->phase = REPLICA_DRAINING;
            v->n_draining++;
            if (busy) {
                x->busy = true;
                v->busy++;
                return;
            }
            if (!v->plan->route->shared && x->queue.n) return; /* a batch that is held back */
        }
        retire(s, x, now);
        return;
    }
}

static void scale_up(struct services *s, struct service *v)
{
    for (size_t i = 0; i < v->n_replicas; i++) {
        const struct replica *x = v->replica[i];
        if (x && x->job) continue;
        launch(s, v, (uint32_t)i);
        return;
    }
}

static void scale(struct services *s, struct service *v, simtime now)
{
    const simtime interval = v->spec->replicas.interval;
    settle(v, now);
    const double up = (double)(v->up_ns - v->scale_up_ns), elapsed = (double)(now - v->scaled);
    const double busy = up > 0 ? (double)(v->busy_ns - v->scale_busy_ns) / up : NAN;
    const double present =
        elapsed > 0 ? (double)(v->present_ns - v->scale_present_ns) / elapsed : 0;
    int64_t current = (int64_t)(v->n_up + v->n_starting);
    const int64_t wanted = scaler_want(v->scaler, now, current > 0 ? current : 1, busy, present);
    v->scale_up_ns = v->up_ns;
    v->scale_busy_ns = v->busy_ns;
    v->scale_present_ns = v->present_ns;
    v->scaled = now;
    for (; current < wanted; current++) scale_up(s, v);
    for (; current > wanted; current--) scale_down(s, v, now);
    if (interval < SIM_NEVER - 1 - now)
        evq_at(s->q, now + interval, EV_POLICY, (uint16_t)(s->first_kind + SERVICE_SCALE),
               (uint32_t)v->index);
}

void services_stop(struct services *s, simtime now)
{
    s->stopping = true;
    for (size_t k = 0; k < s->n; k++) {
        struct service *v = &s->service[k];
        settle(v, now);
        for (size_t i = 0; i < v->n_replicas; i++) {
            struct replica *x = v->replica[i];
            if (!x || !x->job) continue;
            s->call.retire(s->ctx, x->job);
            x->job = NULL;
            s->standing--;
        }
    }
}

/* ---- the run ---- */

static int service_init(struct services *s, size_t k, struct symtab *names, struct err *e)
{
    struct service *v = &s->service[k];
    const struct scenario *sc = s->plan->scenario;
    char purpose[160];
    v->plan = &s->plan->service[k];
    v->spec = v->plan->spec;
    v->index = k;
    v->n_replicas = (size_t)v->plan->most;
    v->scaler = scaler_create(&v->spec->replicas);
    v->replica = xcalloc(v->n_replicas, sizeof(struct replica *));
    v->up = xcalloc(v->n_replicas, sizeof(struct replica *));
    bits_init(&v->idle, v->n_replicas);
    maxtree_init(&v->score, v->n_replicas);
    queue_init(s, &v->queue, v, NULL);
    v->first_user = s->n_users;
    if (v->spec->users != CFG_NO_INT) s->n_users += v->spec->users;
    snprintf(purpose, sizeof purpose, "service/%.100s/route", v->spec->name);
    v->rng = rng_create((uint64_t)sc->seed, s->opt->replication, purpose);
    return request_source_open(&v->source, v->spec, v->plan->serve->tokens, (uint64_t)sc->seed,
                               s->opt->replication, names, e);
}

struct services *services_create(const struct plan *plan, const struct sim_options *opt,
                                 struct evq *q, struct residents *residents, struct symtab *names,
                                 uint16_t first_kind, const struct service_calls *calls, void *ctx,
                                 struct err *e)
{
    struct services *s = xcalloc(1, sizeof *s);
    int rc = 0;
    *s = (struct services){ .plan = plan,
                            .opt = opt,
                            .q = q,
                            .residents = residents,
                            .first_kind = first_kind,
                            .call = *calls,
                            .ctx = ctx,
                            .e = e,
                            .n = plan->n_services };
    s->service = xcalloc(s->n + 1, sizeof *s->service);
    for (size_t k = 0; k < s->n && rc == 0; k++) rc = service_init(s, k, names, e);
    if (rc == 0) return s;
    services_destroy(s);
    return NULL;
}

void services_destroy(struct services *s)
{
    if (!s) return;
    for (size_t k = 0; k < s->n; k++) {
        struct service *v = &s->service[k];
        for (size_t i = 0; i < v->n_replicas; i++) {
            if (v->replica[i] && v->replica[i]->state)
                v->plan->serve->destroy(v->replica[i]->state);
            free(v->replica[i]);
        }
        free(v->replica);
        free(v->up);
        bits_fini(&v->idle);
        maxtree_fini(&v->score);
        scaler_destroy(v->scaler);
        gsl_rng_free(v->rng);
        request_source_close(v->source);
    }
    free(s->service);
    for (size_t i = 0; i < s->chunk.n; i++) free(s->chunk.v[i]);
    vec_fini(&s->chunk);
    vec_fini(&s->owner);
    free(s);
}

void services_start(struct services *s)
{
    for (size_t k = 0; k < s->n; k++) {
        struct service *v = &s->service[k];
        for (int64_t i = 0; i < v->plan->replicas; i++) launch(s, v, (uint32_t)i);
        if (v->scaler) scale(s, v, 0);
        if (v->spec->users == CFG_NO_INT) fetch(s, v);
        for (int64_t u = 0; v->spec->users != CFG_NO_INT && u < v->spec->users; u++)
            schedule_ask(s, v, v->first_user + u, 0);
    }
}

bool services_idle(const struct services *s)
{
    for (size_t k = 0; k < s->n; k++) {
        const struct service *v = &s->service[k];
        const bool asks = v->spec->users != CFG_NO_INT &&
                          (v->spec->count == CFG_NO_INT || v->requests < (uint64_t)v->spec->count);
        if (v->more || asks || v->waiting + v->in_service > 0) return false;
    }
    return true;
}

uint64_t services_standing(const struct services *s)
{
    return s->standing;
}

uint64_t services_placed(const struct services *s)
{
    uint64_t n = 0;
    for (size_t k = 0; k < s->n; k++)
        for (size_t i = 0; i < s->service[k].n_replicas; i++) {
            const struct replica *x = s->service[k].replica[i];
            n += x && x->job && x->job->state != JOB_QUEUED;
        }
    return n;
}

/* ---- what was measured ---- */

void services_sample(struct services *s, simtime now, simtime length)
{
    for (size_t k = 0; k < s->n; k++) {
        struct service *v = &s->service[k];
        settle(v, now);
        const uint64_t done = v->fate[REQUEST_COMPLETED];
        uint64_t dropped = 0;
        for (int f = 0; f < REQUEST_FATES; f++) dropped += f == REQUEST_COMPLETED ? 0 : v->fate[f];
        const wide up = v->up_ns - v->last_up_ns;
        const struct service_sample x = {
            .t = now,
            .length = length,
            .arrivals = v->requests - v->last_requests,
            .completed = done - v->last_completed,
            .dropped = dropped - v->last_dropped,
            .waiting = v->waiting,
            .in_service = v->in_service,
            .up = v->n_up,
            .starting = v->n_starting,
            .busy = up > 0 ? (double)(v->busy_ns - v->last_busy_ns) / (double)up : NAN,
        };
        v->last_requests = v->requests;
        v->last_completed = done;
        v->last_dropped = dropped;
        v->last_up_ns = v->up_ns;
        v->last_busy_ns = v->busy_ns;
        for (size_t i = 0; i < s->opt->n_sinks; i++) {
            const struct sink *to = &s->opt->sinks[i];
            const int rc =
                to->service_sample ? to->service_sample(to->self, s->plan, k, &x, s->e) : 0;
            if (rc < 0) s->call.fail(s->ctx, rc);
        }
    }
}

void services_warm(struct services *s, simtime now)
{
    for (size_t k = 0; k < s->n; k++) {
        struct service *v = &s->service[k];
        settle(v, now);
        v->last_up_ns -= v->up_ns;
        v->last_busy_ns -= v->busy_ns;
        v->scale_up_ns -= v->up_ns;
        v->scale_busy_ns -= v->busy_ns;
        v->came_up = v->n_up;
        v->up_ns = v->busy_ns = 0;
        v->up_most = v->n_up;
    }
}

void services_mark(struct services *s, int mark, simtime length, simtime now)
{
    for (size_t k = 0; k < s->n; k++) {
        struct service *v = &s->service[k];
        settle(v, now);
        if (mark > 0)
            v->queue_batch[mark - 1] =
                length > 0 ? (double)(v->waiting_ns - v->mark_ns) / (double)length : 0;
        else if (now > 0)
            v->queue_before = (double)v->waiting_ns / (double)now;
        v->mark_ns = v->waiting_ns;
        v->has_batches = mark == QUEUE_MARKS - 1;
    }
}

const char *services_check(struct services *s, simtime now)
{
    for (size_t k = 0; k < s->n; k++) {
        struct service *v = &s->service[k];
        const uint64_t present = v->waiting + v->in_service;
        uint64_t left = 0;
        settle(v, now);
        for (int f = 0; f < REQUEST_FATES; f++) left += v->fate[f];
        if (v->requests != left + present) return "requests = those that left + those present";
        if (v->present_ns != v->stay_ns + (wide)present * now - v->arrivals_ns)
            return "Little: integral of requests present = sum of their stays";
        if (v->busy_ns > v->up_ns) return "replicas busy <= replicas up";
    }
    return NULL;
}

struct service_totals *services_totals(struct services *s, simtime now)
{
    struct service_totals *list = xcalloc(s->n + 1, sizeof *list);
    for (size_t k = 0; k < s->n; k++) {
        struct service *v = &s->service[k];
        struct service_totals *t = &list[k];
        settle(v, now);
        *t = (struct service_totals){ .requests = v->requests,
                                      .waiting = v->waiting,
                                      .in_service = v->in_service,
                                      .up_s = (double)v->up_ns / 1e9,
                                      .busy_s = (double)v->busy_ns / 1e9,
                                      .up_most = v->up_most,
                                      .came_up = v->came_up,
                                      .never_up = v->n_starting + v->lost,
                                      .tenant = v->tenant,
                                      .queue_before = v->queue_before,
                                      .has_queue_batches = v->has_batches };
        memcpy(t->fate, v->fate, sizeof t->fate);
        memcpy(t->queue_batch, v->queue_batch, sizeof t->queue_batch);
    }
    return list;
}
