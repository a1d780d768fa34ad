#include "engine/service_inside.h"

#include "base/err.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1024,
    AT_ONCE = 100000 /* requests of users at one instant; in time they are fewer than a few each */
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

static void arrived(struct services *s, struct service *v, const struct request_row *row,
                    int64_t user, simtime now)
{
    struct query *q = request_new(s);
    service_settle(v, now);
    *q = (struct query){ .call = { .arrival = now, .began = JOB_NO_TIME, .first = JOB_NO_TIME },
                         .size_ns = (double)row->size_nano,
                         .user = user,
                         .session = row->session };
    if (v->plan->model) {
        q->call.input = row->input_tokens;
        q->call.blocks = row->blocks;
        q->call.block_tokens = request_source_block_tokens(v->source);
        q->call.output = row->output_tokens > 0 ? row->output_tokens : 1;
        q->size_ns = (double)(q->call.input + q->call.output);
    }
    if (user != NOBODY) q->session = (uint64_t)(user - v->first_user) + 1;
    v->requests++;
    v->arrivals_ns += now;
    if (v->plan->model && q->call.input + q->call.output > v->plan->longest)
        service_leave(s, v, q, REQUEST_UNSERVABLE, now);
    else
        service_enqueue(s, v, q, now);
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
    if (!v->more) service_look_at_all(s, v, now); /* batches wait for nobody any longer */
}

/* Users whose think time is zero and whose requests take none ask for ever at one instant. */
static bool stands_still(struct services *s, struct service *v, simtime now)
{
    v->asked_at_once = v->asked == now ? v->asked_at_once + 1 : 1;
    v->asked = now;
    if (v->asked_at_once <= AT_ONCE + 10 * (uint64_t)v->spec->users) return false;
    s->call.fail(s->ctx, err_set(s->e, ERR_INPUT, NULL,
                                 "service %s: no time passes after %g s: its %lld users ask again "
                                 "at once (\"think\") what is answered, refused or dropped at once",
                                 v->spec->name, (double)now / 1e9, (long long)v->spec->users));
    return true;
}

static void ask(struct services *s, int64_t user, simtime now)
{
    struct request_row row;
    size_t k = 0;
    while (k + 1 < s->n && s->service[k + 1].first_user <= user) k++;
    struct service *v = &s->service[k];
    if (v->spec->count != CFG_NO_INT && v->requests >= (uint64_t)v->spec->count) return;
    if (stands_still(s, v, now)) return;
    request_source_draw(v->source, &row);
    arrived(s, v, &row, user, now);
    /* Batches wait for nobody any longer: who is idle while somebody waits holds one back. */
    if (v->waiting && v->idle.count && !service_may_come(v)) service_look_at_all(s, v, now);
}

void services_event(struct services *s, uint16_t kind, uint32_t arg, simtime now)
{
    switch (kind - s->first_kind) {
    case SERVICE_ARRIVE: next_arrival(s, &s->service[arg], now); break;
    case SERVICE_ASK: ask(s, arg, now); break;
    case SERVICE_LOOK: {
        const struct queue_owner o = s->owner.v[arg];
        struct replica *x = o.replica;
        if (!x && o.service->idle.count) x = o.service->replica[bits_next(&o.service->idle, 0)];
        if (x && !x->busy && x->job && x->phase != REPLICA_STARTING) service_look(s, x, now);
        break;
    }
    case SERVICE_EXPIRE: {
        const struct queue_owner o = s->owner.v[arg];
        service_settle(o.service, now);
        if (o.replica && o.replica->state) {
            service_expire_waiting(s, o.replica, now);
            break;
        }
        service_expire_due(s, o.service, o.replica ? &o.replica->queue : &o.service->queue, now);
        if (o.replica) service_rescore(o.service, o.replica);
        break;
    }
    case SERVICE_SCALE: service_scale(s, &s->service[arg], now); break;
    default: BUG("no such event of services: %d", kind - s->first_kind);
    }
}

/* ---- the run ---- */

/* The request trace of a service where it is in memory; NULL. */
static const struct request_rows *rows_of(const struct scenario *s, const struct service_spec *v)
{
    for (size_t i = 0; s->request_rows && i < s->n_work; i++)
        if (s->work[i].service == v) return s->request_rows[i];
    return NULL;
}

static int service_init(struct services *s, size_t k, struct err *e)
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
    service_queue_init(s, &v->queue, v, NULL);
    v->first_user = s->n_users;
    if (v->spec->users != CFG_NO_INT) s->n_users += v->spec->users;
    snprintf(purpose, sizeof purpose, "service/%.100s/route", v->spec->name);
    v->rng = rng_create((uint64_t)sc->seed, s->opt->replication, purpose);
    return request_source_open(&v->source, v->spec, rows_of(sc, v->spec), v->plan->serve->tokens,
                               (uint64_t)sc->seed, s->opt->replication, e);
}

struct services *services_create(const struct plan *plan, const struct sim_options *opt,
                                 struct evq *q, struct residents *residents, uint16_t first_kind,
                                 const struct service_calls *calls, void *ctx, struct err *e)
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
    for (size_t k = 0; k < s->n && rc == 0; k++) rc = service_init(s, k, e);
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
        for (int64_t i = 0; i < v->plan->replicas; i++) service_launch(s, v, (uint32_t)i);
        if (v->scaler) service_scale(s, v, 0);
        if (v->spec->users == CFG_NO_INT) fetch(s, v);
        for (int64_t u = 0; v->spec->users != CFG_NO_INT && u < v->spec->users; u++)
            service_schedule_ask(s, v, v->first_user + u, 0);
    }
}

/* Nobody will ask any more, and nobody waits, unless there is nobody left to answer and nobody will
 * come. */
static bool is_through(const struct service *v)
{
    const uint64_t present = v->waiting + v->in_service;
    bool asks = v->spec->users != CFG_NO_INT &&
                (v->spec->count == CFG_NO_INT || v->requests < (uint64_t)v->spec->count);
    if (present > 0 && (!v->scaler || v->closed) && v->n_up + v->n_starting + v->n_draining == 0)
        return !v->more && (!asks || present == (uint64_t)v->spec->users);
    return !v->more && !asks && present == 0;
}

bool services_idle(const struct services *s)
{
    for (size_t k = 0; k < s->n; k++)
        if (!is_through(&s->service[k])) return false;
    return true;
}

bool services_may_leave(const struct services *s)
{
    for (size_t k = 0; k < s->n; k++)
        if (!s->service[k].closed && is_through(&s->service[k])) return true;
    return false;
}

void services_leave(struct services *s, simtime now)
{
    for (size_t k = 0; k < s->n; k++)
        if (!s->service[k].closed && is_through(&s->service[k]))
            service_close(s, &s->service[k], now);
}

void services_give_up(struct services *s, const struct job *j, simtime now)
{
    service_close(s, j->replica->service, now);
}

static bool has_hope(const struct service *v, uint64_t most)
{
    if (is_through(v)) return false;
    if (v->n_up + v->n_draining > 0) return true;
    for (size_t i = 0; i < v->n_replicas && v->n_starting > 0 && v->lost_in_row <= most; i++) {
        const struct replica *x = v->replica[i];
        if (x && x->job && x->job->state != JOB_QUEUED) return true;
    }
    return false;
}

bool services_hope(const struct services *s, uint64_t most)
{
    for (size_t k = 0; k < s->n; k++)
        if (has_hope(&s->service[k], most)) return true;
    return false;
}

bool services_lost(struct services *s)
{
    const bool lost = s->lost;
    s->lost = false;
    return lost;
}

const char *services_give_up_next(struct services *s, simtime now)
{
    for (size_t k = 0; k < s->n; k++) {
        struct service *v = &s->service[k];
        if (v->closed || is_through(v) || v->n_up + v->n_draining > 0) continue;
        service_close(s, v, now);
        return v->spec->name;
    }
    return NULL;
}

const char *services_name(const struct job *j)
{
    return j->replica->service->spec->name;
}

uint64_t services_progress(const struct services *s)
{
    uint64_t n = 0;
    for (size_t k = 0; k < s->n; k++) {
        n += s->service[k].requests;
        for (int f = 0; f < REQUEST_FATES; f++) n += s->service[k].fate[f];
    }
    return n;
}

bool services_expect(const struct services *s)
{
    for (size_t k = 0; k < s->n; k++)
        if (s->service[k].more && !s->service[k].closed) return true;
    return false;
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
        service_settle(v, now);
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
        service_settle(v, now);
        v->last_up_ns -= v->up_ns;
        v->last_busy_ns -= v->busy_ns;
        v->scale_up_ns -= v->up_ns;
        v->scale_busy_ns -= v->busy_ns;
        v->came_up = v->n_up;
        v->up_ns = v->busy_ns = 0;
        v->up_most = v->n_up + v->n_draining;
    }
}

void services_mark(struct services *s, int mark, simtime length, simtime now)
{
    for (size_t k = 0; k < s->n; k++) {
        struct service *v = &s->service[k];
        service_settle(v, now);
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
        service_settle(v, now);
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
        service_settle(v, now);
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
