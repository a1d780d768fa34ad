#include "engine/service_inside.h"

#include "base/err.h"

#include <math.h>

void service_schedule_ask(struct services *s, struct service *v, int64_t user, simtime now)
{
    const simtime think = request_source_think(v->source);
    if (think >= SIM_NEVER - now) return;
    evq_at(s->q, now + think, EV_ARRIVE, (uint16_t)(s->first_kind + SERVICE_ASK), (uint32_t)user);
}

/* It has left: tell who listens, and let its user think. */
void service_leave(struct services *s, struct service *v, struct query *q, enum request_fate fate,
                   simtime now)
{
    const struct request_end end = { .fate = fate,
                                     .arrival = q->call.arrival,
                                     .end = now,
                                     .began = q->call.began,
                                     .first = q->call.first,
                                     .input_tokens = q->call.input,
                                     .output_tokens = q->call.output,
                                     .hit_tokens = q->call.hit,
                                     .size_ns = q->size_ns };
    v->fate[fate]++;
    v->stay_ns += now - q->call.arrival;
    v->arrivals_ns -= q->call.arrival;
    for (size_t i = 0; i < s->opt->n_sinks; i++) {
        const struct sink *k = &s->opt->sinks[i];
        if (k->request) k->request(k->self, s->plan, v->index, &end);
    }
    if (q->user != NOBODY && !s->stopping) service_schedule_ask(s, v, q->user, now);
    q->next = s->spare;
    s->spare = q;
}

/* ---- replicas at work ---- */

static struct route_replica seen_of(const struct service *v, const struct replica *x)
{
    struct route_replica seen = { .waiting = x->queue.n,
                                  .in_service = x->batch.n,
                                  .waiting_size = x->queue.size_ns / 1e9,
                                  .in_service_size = x->batch.size_ns / 1e9 };
    if (x->state)
        v->plan->serve->load(x->state, &seen.waiting, &seen.in_service, &seen.waiting_size);
    return seen;
}

void service_rescore(struct service *v, const struct replica *x)
{
    if (!v->plan->route->score || v->plan->route->by_prompt || x->phase != REPLICA_UP) return;
    const struct route_replica seen = seen_of(v, x);
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

/* Requests at the head that should have begun before `until` go. The timer follows the head
 * lazily: it rings for a head that has gone, and is set anew. */
static void expire_until(struct services *s, struct service *v, struct queue *from, simtime until,
                         simtime now)
{
    if (v->spec->timeout == CFG_NO_TIME) return;
    while (from->n && expiry(v, from->head) < until) {
        struct query *q = queue_pop(from);
        v->waiting--;
        service_leave(s, v, q, REQUEST_TIMED_OUT, now);
    }
    if (from->n) ring(s, &from->expire, expiry(v, from->head), SERVICE_EXPIRE, from->number);
}

void service_expire(struct services *s, struct service *v, struct queue *from, simtime now)
{
    expire_until(s, v, from, now, now);
}

void service_expire_due(struct services *s, struct service *v, struct queue *from, simtime now)
{
    if (evq_when(s->q, from->look) == now) /* a batch that was held back so long begins first */
        ring(s, &from->expire, now, SERVICE_EXPIRE, from->number);
    else
        expire_until(s, v, from, now + 1, now);
}

struct queue *service_queue_of(struct replica *x)
{
    return x->service->plan->route->shared ? &x->service->queue : &x->queue;
}

void service_set_busy(struct replica *x, bool busy)
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
    /* A slice stretches the requests, not what is the same on every slice (a floor of launches): so
     * what the replica does is counted in its own time alone there, times its speed alone there. */
    const double measured = v->plan->slower[x->job->group];
    const double scale = (isnan(measured) ? fit->transfer : measured) / x->alone;
    const double work = v->plan->serve->work_ns(v->plan->serve_params, n, x->batch.size_ns * scale,
                                                largest * scale, v->plan->reading[x->job->group]) *
                        x->alone;
    service_set_busy(x, true);
    residents_work(s->residents, x->job, x->job->shape, round(work), now);
}

bool service_may_come(const struct service *v)
{
    if (v->spec->users == CFG_NO_INT) return v->more;
    return v->waiting + v->in_service < (uint64_t)v->spec->users &&
           (v->spec->count == CFG_NO_INT || v->requests < (uint64_t)v->spec->count);
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
        service_leave(s, v, q, c->timed_out ? REQUEST_TIMED_OUT : REQUEST_COMPLETED, now);
    }
}

/* The next stretch. `late`: by so much time alone it should have begun before this whole ns, so
 * that whoever walks through every step and whoever takes them together round to a whole ns but
 * once. */
static void iterate(struct services *s, struct replica *x, double late, simtime now)
{
    struct service *v = x->service;
    struct serve_news news = { 0 };
    struct llm_step step = { 0 };
    x->length = v->plan->serve->next(x->state, now, &step, &news);
    account(s, v, &news, now);
    if (x->length > 0) {
        service_set_busy(x, true);
        const size_t look = plan_look(&step);
        x->alone = x->alone_as[look];
        x->job->look = (uint8_t)(look + 1);
        residents_work(s->residents, x->job, x->look[look], (x->length - late) * x->alone, now);
    } else {
        if (x->busy) residents_work(s->residents, x->job, NULL, 0, now);
        service_set_busy(x, false);
    }
    service_rescore(v, x);
}

static void stretch_done(struct services *s, struct replica *x, simtime now)
{
    struct serve_news news = { 0 };
    service_settle(x->service, now);
    const double late = -residents_left(x->job, now) / x->alone;
    x->service->plan->serve->done(x->state, now, &news);
    account(s, x->service, &news, now);
    iterate(s, x, late, now);
    if (x->phase == REPLICA_DRAINING && !x->busy) service_retire(s, x, now);
}

/* Time alone of the stretch under way that is done. What would end within a thousandth of a ns has
 * ended, as it has for residents. */
static double done_of(const struct replica *x, simtime now)
{
    return x->length - (residents_left(x->job, now) - 1e-3 * x->job->speed) / x->alone;
}

/* The waiting list of a busy replica has changed: perhaps its stretch ends sooner. */
static void cut(struct services *s, struct replica *x, simtime now)
{
    const struct service *v = x->service;
    const double left = residents_left(x->job, now);
    const double length = v->plan->serve->cut(x->state, done_of(x, now));
    if (length != x->length) {
        const double less = (x->length - length) * x->alone;
        x->length = length;
        residents_work(s->residents, x->job, x->job->as, left - less, now);
    }
}

void service_expire_waiting(struct services *s, struct replica *x, simtime now)
{
    struct service *v = x->service;
    struct serve_news news = { 0 };
    const simtime due = v->plan->serve->expire(x->state, now, &news);
    account(s, v, &news, now);
    if (news.left && x->busy) cut(s, x, now);
    if (due != SIM_NEVER) ring(s, &x->queue.expire, due, SERVICE_EXPIRE, x->queue.number);
    service_rescore(v, x);
}

void service_join(struct services *s, struct replica *x, struct query *q, simtime now)
{
    struct service *v = x->service;
    v->plan->serve->join(x->state, &q->call);
    if (!x->busy) {
        iterate(s, x, 0, now);
        return;
    }
    cut(s, x, now);
    if (v->spec->timeout != CFG_NO_TIME) service_expire_waiting(s, x, now);
    service_rescore(v, x);
}

/* ---- batchers ---- */

/* A replica that does nothing looks at its queue. */
void service_look(struct services *s, struct replica *x, simtime now)
{
    struct service *v = x->service;
    struct queue *from = service_queue_of(x);
    simtime again = SIM_NEVER;
    service_settle(v, now);
    service_expire(s, v, from, now);
    if (from->n > 0) {
        const struct serve_queue seen = { .n = from->n,
                                          .oldest = from->head->call.arrival,
                                          .now = now,
                                          .more = service_may_come(v) && x->phase == REPLICA_UP };
        const uint64_t n = v->plan->serve->batch(v->plan->serve_params, &seen, &again);
        if (n > 0) {
            begin_batch(s, x, from, n < from->n ? n : from->n, now);
            service_rescore(v, x);
            return;
        }
        if (again != SIM_NEVER)
            ring(s, &from->look, again > now ? again : now, SERVICE_LOOK, from->number);
    }
    if (x->busy) {
        service_set_busy(x, false);
        residents_work(s->residents, x->job, NULL, 0, now);
    }
    service_rescore(v, x);
}

void services_done(struct services *s, struct job *j, simtime now)
{
    struct replica *x = j->replica;
    struct service *v = x->service;
    if (x->state) {
        stretch_done(s, x, now);
        return;
    }
    service_settle(v, now);
    v->in_service -= x->batch.n;
    while (x->batch.n) service_leave(s, v, queue_pop(&x->batch), REQUEST_COMPLETED, now);
    if (x->phase == REPLICA_DRAINING && (v->plan->route->shared || x->queue.n == 0)) {
        service_retire(s, x, now);
        return;
    }
    service_look(s, x, now);
}

/* ---- where requests go ---- */

static bool is_up(const struct route_view *view, size_t place)
{
    const struct service *v = view->ctx;
    return v->replica[place] && v->replica[place]->phase == REPLICA_UP;
}

static size_t by_rank(const struct route_view *view, size_t rank)
{
    const struct service *v = view->ctx;
    return v->up[rank]->number;
}

/* The least score of all, for this request. */
static struct replica *route_by_prompt(struct service *v, const struct query *q, simtime now)
{
    struct replica *best = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < v->n_up; i++) {
        struct replica *x = v->up[i];
        struct route_replica seen = seen_of(v, x);
        if (x->state)
            seen.hit =
                (double)v->plan->serve->match(x->state, &q->call, x->busy ? done_of(x, now) : 0);
        const double score = v->plan->route->score(&seen);
        if (score < least) {
            least = score;
            best = x;
        }
    }
    return best;
}

/* The replica that a request goes to; NULL: none is up, or any that is free. */
struct replica *service_route(struct service *v, const struct query *q, simtime now)
{
    const struct route_ops *ops = v->plan->route;
    if (v->n_up == 0 || ops->shared) return NULL;
    if (ops->by_prompt) return route_by_prompt(v, q, now);
    if (ops->score) {
        const int64_t best = maxtree_max(&v->score);
        return v->replica[maxtree_next(&v->score, 0, best)];
    }
    const struct route_view view = { .n = v->n_up,
                                     .session = q->session,
                                     .dense = q->user != NOBODY,
                                     .sequence = v->routed,
                                     .rng = v->rng,
                                     .places = v->n_replicas,
                                     .is_up = is_up,
                                     .by_rank = by_rank,
                                     .ctx = v };
    return v->replica[ops->pick(&view)];
}

/* It stands in a queue; somebody who is free may take it at once. */
void service_enqueue(struct services *s, struct service *v, struct query *q, simtime now)
{
    struct replica *x = service_route(v, q, now);
    struct queue *to = x ? &x->queue : &v->queue;
    if (!x && v->plan->route->shared && v->idle.count) x = v->replica[bits_next(&v->idle, 0)];
    if (v->spec->queue != CFG_NO_INT && v->waiting >= (uint64_t)v->spec->queue &&
        !(x && !x->busy)) {
        service_leave(s, v, q, REQUEST_REFUSED, now);
        return;
    }
    v->routed += x && !v->plan->route->shared;
    v->waiting++;
    if (x && x->state) {
        service_join(s, x, q, now);
        return;
    }
    queue_push(to, q);
    if (x && !x->busy) {
        service_look(s, x, now);
        return;
    }
    if (x) service_rescore(v, x);
    if (to->n == 1) service_expire(s, v, to, now); /* the timer of a new head */
}
