#include "engine/service_inside.h"

#include <math.h>
#include <stdlib.h>

/* It leaves its cards; its slot may be used again. */
void service_retire(struct services *s, struct replica *x, simtime now)
{
    struct service *v = x->service;
    service_settle(v, now);
    service_set_busy(x, false);
    if (x->phase == REPLICA_DRAINING) v->n_draining--;
    if (x->phase == REPLICA_STARTING) v->n_starting--;
    if (x->state) v->plan->serve->destroy(x->state);
    x->state = NULL;
    x->phase = REPLICA_GONE;
    s->call.retire(s->ctx, x->job);
    x->job = NULL;
    s->standing--;
}

void service_queue_init(struct services *s, struct queue *q, struct service *v, struct replica *x)
{
    const struct queue_owner o = { v, x };
    q->number = (uint32_t)s->owner.n;
    vec_push(&s->owner, o);
}

void service_launch(struct services *s, struct service *v, uint32_t number)
{
    struct replica *x = v->replica[number];
    if (!x) {
        x = v->replica[number] = xcalloc(1, sizeof *x);
        *x = (struct replica){ .service = v, .number = number };
        service_queue_init(s, &x->queue, v, x);
    }
    x->phase = REPLICA_STARTING;
    v->n_starting++;
    s->standing++;
    x->job = s->call.launch(s->ctx, v->index, number);
    for (size_t i = 0; v->plan->model && i < SERVICE_LOOKS; i++)
        x->look[i] = s->call.look(s->ctx, v->index, i);
    x->job->replica = x;
    v->tenant = x->job->row.user;
    s->call.submit(s->ctx, x->job);
}

simtime services_start_up(const struct job *j)
{
    return j->replica->service->spec->start_up;
}

void service_look_at_all(struct services *s, struct service *v, simtime now)
{
    for (size_t i = 0; i < v->n_up; i++)
        if (!v->up[i]->busy && !v->up[i]->state && service_queue_of(v->up[i])->n)
            service_look(s, v->up[i], now);
}

/* Requests that came while nobody was up go to the router now. */
static void hand_out(struct services *s, struct service *v, simtime now)
{
    for (uint64_t n = v->plan->route->shared ? 0 : v->queue.n; n > 0; n--) {
        struct query *q = queue_pop(&v->queue);
        struct replica *x = service_route(v, q, now);
        v->routed++;
        if (x->state) {
            service_join(s, x, q, now);
            continue;
        }
        queue_insert(&x->queue, q);
        service_expire(s, v, &x->queue, now);
        service_rescore(v, x);
    }
    service_look_at_all(s, v, now);
}

void services_ready(struct services *s, struct job *j, simtime now)
{
    struct replica *x = j->replica;
    struct service *v = x->service;
    service_settle(v, now);
    x->phase = REPLICA_UP;
    v->came_up++;
    v->lost_in_row = 0;
    const struct plan_group *g = &s->plan->group[j->group];
    const struct demand *d = &j->shape->fit[j->group].demand;
    /* On a part of a card the reference is that part, alone; elsewhere what slows it down slows all
     * of it. */
    const bool part = d->mig_profile >= 0 || d->core_cap < 1;
    x->alone = part ? residents_alone(s->residents, j, j->shape) : 1.0;
    for (size_t i = 0; v->plan->model && i < SERVICE_LOOKS; i++)
        x->alone_as[i] = part ? residents_alone(s->residents, j, x->look[i]) : 1.0;
    if (v->plan->model)
        x->state = v->plan->serve->create(v->plan->serve_params, &v->plan->part[g - s->plan->group],
                                          request_source_names(v->source), v->spec->timeout);
    v->n_starting--;
    size_t at = v->n_up++;
    for (; at > 0 && v->up[at - 1]->number > x->number; at--) v->up[at] = v->up[at - 1];
    v->up[at] = x;
    if (v->n_up + v->n_draining > v->up_most) v->up_most = v->n_up + v->n_draining;
    bits_set(&v->idle, x->number);
    service_rescore(v, x);
    hand_out(s, v, now);
}

/* What it worked on begins anew. */
static void take_back(struct service *v, struct replica *x, struct queue *to)
{
    while (x->batch.n) {
        struct query *q = queue_pop(&x->batch);
        q->call.began = JOB_NO_TIME;
        v->in_service--;
        v->waiting++;
        queue_insert(to, q);
    }
}

static void withdraw(struct service *v, struct replica *x)
{
    size_t at = 0;
    while (v->up[at] != x) at++;
    v->n_up--;
    for (; at < v->n_up; at++) v->up[at] = v->up[at + 1];
    bits_clear(&v->idle, x->number);
    if (v->plan->route->score && !v->plan->route->by_prompt)
        maxtree_set(&v->score, x->number, INT64_MIN);
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
    service_settle(v, now);
    if (x->phase == REPLICA_UP) {
        withdraw(v, x);
        v->n_starting++;
    } else if (x->phase == REPLICA_DRAINING) {
        service_set_busy(x, false);
        v->n_draining--;
        v->n_starting++;
    }
    x->phase = REPLICA_STARTING;
    if (x->state)
        drain(v, x);
    else
        take_back(v, x, v->plan->route->shared ? &v->queue : &x->queue);
    service_expire(s, v, &v->queue, now);
    if (leaves) {
        x->phase = REPLICA_GONE;
        x->job = NULL;
        v->lost += for_good;
        v->lost_in_row += for_good;
        if (for_good && v->scaler) s->lost = true;
        v->n_starting--;
        s->standing--;
    }
    /* Whatever was sent to it is sent anew. */
    while (x->queue.n) queue_push(&rest, queue_pop(&x->queue));
    while (rest.n) {
        struct query *q = queue_pop(&rest);
        struct replica *to = service_route(v, q, now);
        if (to && to->state) {
            service_join(s, to, q, now);
            continue;
        }
        queue_insert(to ? &to->queue : &v->queue, q);
        service_expire(s, v, to ? &to->queue : &v->queue, now);
        if (to) service_rescore(v, to);
    }
    service_look_at_all(s, v, now);
    return !leaves;
}

/* ---- scaling ---- */

/* The last one goes: at once when it is not up yet or does nothing, else when it is through with
 * what it has. */
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
            if (!v->plan->route->shared && x->queue.n)
                service_look(s, x, now); /* a batch that was held back waits for nobody now */
            if (x->busy) return;
        }
        service_retire(s, x, now);
        return;
    }
}

static void scale_up(struct services *s, struct service *v)
{
    for (size_t i = 0; i < v->n_replicas; i++) {
        const struct replica *x = v->replica[i];
        if (x && x->job) continue;
        service_launch(s, v, (uint32_t)i);
        return;
    }
}

void service_scale(struct services *s, struct service *v, simtime now)
{
    const simtime interval = v->spec->replicas.interval;
    if (s->stopping || v->closed) return;
    service_settle(v, now);
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

void service_close(struct services *s, struct service *v, simtime now)
{
    service_settle(v, now);
    v->closed = true;
    for (size_t i = 0; i < v->n_replicas; i++) {
        struct replica *x = v->replica[i];
        if (!x || !x->job) continue;
        if (x->phase == REPLICA_STARTING) v->lost++;
        if (x->phase == REPLICA_UP) withdraw(v, x);
        service_retire(s, x, now);
    }
}

void services_stop(struct services *s, simtime now)
{
    s->stopping = true;
    for (size_t k = 0; k < s->n; k++) service_close(s, &s->service[k], now);
}
