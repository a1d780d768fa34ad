#include "engine/sim.h"

#include "base/err.h"
#include "base/log.h"
#include "engine/carve.h"
#include "engine/elastic.h"
#include "engine/residents.h"
#include "engine/sched.h"
#include "engine/service.h"
#include "engine/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    KIND_CARD_FINISH, /* arg: card */
    KIND_JOB_FINISH,  /* arg: job without cards */
    KIND_ARRIVAL,
    KIND_READY,  /* arg: job; its instances exist, its library is up */
    KIND_GROW,   /* arg: job; allocates its footprint */
    KIND_LIMIT,  /* arg: job; its limit kills it */
    KIND_LOOK,   /* the order changes by itself */
    KIND_PLAN,   /* layouts of the next period */
    KIND_CARVED, /* arg: card; its planned instances exist */
    KIND_WARM,   /* statistics start here */
    KIND_SAMPLE,
    KIND_MARK,    /* end of a batch of the last quarter */
    KIND_UNIT,    /* arg: card or node that fails or comes back */
    KIND_CHANGE,  /* arg: change of the fleet */
    KIND_CRASH,   /* arg: job; its program fails */
    KIND_STOP,    /* the horizon */
    KIND_SERVICE, /* and those above: events of services */
};

enum {
    FRAG_SHAPES = 32,        /* most frequent request shapes looked at */
    FRAG_CARDS = 4096,       /* cards looked at; larger fleets are sampled evenly */
    FRAG_EVALUATIONS = 1024, /* thinned by half whenever this many were made */
    SERIES_ROWS = 100000     /* the series' interval doubles whenever this many were written */
};

struct run {
    const struct plan *plan;
    const struct sim_options *opt;
    struct sim_totals *out;
    struct symtab *names;
    struct source *source;
    struct job_row next; /* the next arrival; lent by the source */
    bool more;           /* there is one */
    struct job_pool *pool;
    struct shape_table *shapes;
    struct cluster *cluster;
    struct residents *residents;
    struct sched *sched;
    struct outages *outages; /* NULL: nothing goes out */
    struct services *services;
    struct carver *carver; /* planned layouts; NULL: none */
    struct evq *q;
    ev_id look;
    struct pick pick;            /* scratch */
    VEC(struct job *) ended;     /* at this instant, for the sinks */
    VEC(struct job *) preempted; /* at this instant, where cards can leave for good */
    struct job **done;           /* scratch: jobs a card has finished */
    bool stopped, warm, warned;
    simtime now;
    uint64_t order;
    /* conservation */
    uint64_t submitted, left, present;
    wide present_ns, stay_ns, waiting_ns;
    /* sampling */
    simtime sampled, interval;
    uint64_t samples;
    wide (*before)[METERS]; /* integrals at the last sample, per group */
    int mark;
    wide mark_ns;
    uint64_t frag_seen, frag_stride, frag_made;
    double frag_sum; /* after the warm-up, of frag_summed samples */
    uint64_t frag_summed;
    int rc;
    struct err *e;
};

static simtime horizon(const struct run *r)
{
    return r->plan->scenario->horizon == CFG_NO_TIME ? SIM_NEVER : r->plan->scenario->horizon;
}

/* The clock stops short of SIM_NEVER, 292 years after time zero. */
static simtime later(simtime now, simtime delay)
{
    return delay < SIM_NEVER - now ? now + delay : SIM_NEVER - 1;
}

static void fail(struct run *r, int rc)
{
    if (r->rc == 0) r->rc = rc;
    r->stopped = true;
}

/* ---- jobs come to their end ---- */

static void end_job(struct run *r, struct job *j, enum job_state state)
{
    j->state = state;
    j->end = r->now;
    r->stay_ns += j->end - j->row.submit;
    r->present--;
    r->left++;
    vec_push(&r->ended, j);
}

static void count_useful(struct run *r, const struct job *j)
{
    const struct fit *fit = &j->shape->fit[j->group];
    const struct gpu_spec *gpu = r->plan->group[j->group].type.gpu;
    const int prec = fit->sig.precision;
    double rate = fit->flops_per_s;
    if (j->n_holdings == 0 || j->row.submit < r->plan->scenario->warmup) return;
    if (isnan(rate)) {
        r->out->unknown_flops++;
        rate = gpu->peak[prec].dense_ops * fit->sig.compute * fit->sig.sm_width;
    }
    const double isolated_s = simtime_s(j->row.duration) * fit->transfer;
    const int32_t cards = j->n_sizes ? j->row.gpus_milli / 1000 : j->n_holdings;
    if (!isnan(rate)) r->out->useful_ops[prec] += rate * isolated_s * cards;
}

/* Give everything back. */
/* It leaves the cards it holds, or the run stops while it is on them. */
static void tell_stay(struct run *r, const struct job *j)
{
    if (j->n_holdings == 0) return;
    for (size_t i = 0; i < r->opt->n_sinks && r->rc == 0; i++) {
        const struct sink *s = &r->opt->sinks[i];
        const int rc = s->stay ? s->stay(s->self, r->plan, r->names, j, r->now, r->e) : 0;
        if (rc < 0) fail(r, rc);
    }
}

static void release(struct run *r, struct job *j)
{
    const struct place_request request = sched_request(r->plan, j, j->group);
    sched_pick_of(j, &r->pick);
    cluster_give(r->cluster, &request, &r->pick);
    if (j->n_holdings) residents_leave(r->residents, j, r->now);
    tell_stay(r, j);
    evq_cancel(r->q, j->event);
    evq_cancel(r->q, j->limit);
    evq_cancel(r->q, j->crash);
    if (j->start > r->now) j->start = JOB_NO_TIME; /* its instances were still being made */
    sched_ended(r->sched, j, r->now);
    sched_wake(r->sched);
}

static void finish(struct run *r, struct job *j)
{
    release(r, j);
    j->work_left = 0;
    count_useful(r, j);
    end_job(r, j, JOB_COMPLETED);
}

static void out_of_memory(struct run *r, struct job *j)
{
    release(r, j);
    j->oom = true;
    j->reason = "out of memory";
    if (j->replica) services_down(r->services, j, true, r->now);
    end_job(r, j, JOB_FAILED);
}

static void killed(struct run *r, struct job *j)
{
    release(r, j);
    j->reason = "reached its limit";
    end_job(r, j, JOB_KILLED);
}

static simtime least(simtime a, simtime b)
{
    return a < b ? a : b;
}

/* sched_calls.stop: preempted. It keeps its work up to the last checkpoint. */
static void stop(void *ctx, struct job *j)
{
    struct run *r = ctx;
    const simtime left = job_remaining(j, r->now), held = job_held(j, r->now);
    const simtime safe = r->plan->checkpoint.every > 0
                             ? job_saved(j, r->now, r->plan->checkpoint.every)
                             : j->row.duration - left;
    release(r, j);
    j->preemptions++;
    j->remaining = least(j->remaining, j->row.duration - safe);
    j->held = held;
    job_unplace(j);
    if (r->outages) vec_push(&r->preempted, j);
}

/* sched_calls.resize: it goes on elsewhere, with the work it has done. */
static void resize(void *ctx, struct job *j)
{
    struct run *r = ctx;
    const simtime left = job_remaining(j, r->now), held = job_held(j, r->now);
    release(r, j);
    j->remaining = least(j->remaining, left);
    j->held = held;
    job_unplace(j);
}

/* outage_env.give_up: it waits for cards that never come back. */
static void give_up(void *ctx, struct job *j)
{
    struct run *r = ctx;
    struct outage_totals *t = outages_totals(r->outages);
    sched_withdraw(r->sched, j);
    if (j->replica) services_down(r->services, j, true, r->now);
    if (j->struck > 0 && !j->replica) {
        t->gave_up++;
        t->lost_s += simtime_s(j->row.duration - j->remaining) * j->row.gpus_milli / 1000.0;
    }
    j->reason = "the cards it needs have left the fleet for good";
    end_job(r, j, j->attempts > 0 ? JOB_FAILED : JOB_REJECTED);
}

/* Who was preempted from cards that are leaving the fleet may have run on the last ones it could use. */
static void settle_preempted(struct run *r)
{
    for (size_t i = 0; i < r->preempted.n; i++) {
        struct job *j = r->preempted.v[i];
        if (j->state != JOB_QUEUED || outages_serve(r->outages, j)) continue;
        give_up(r, j);
        sched_wake(r->sched); /* it may have stood before others */
    }
    r->preempted.n = 0;
}

/* A replica is struck: it has no work of its own to lose, and is started again however often. */
static void strike_replica(struct run *r, struct job *j)
{
    struct outage_totals *t = outages_totals(r->outages);
    const bool again = services_down(r->services, j, false, r->now);
    release(r, j);
    t->struck++;
    if (!again) {
        end_job(r, j, JOB_COMPLETED);
        return;
    }
    job_unplace(j);
    sched_requeue(r->sched, j, r->now);
    if (outages_serve(r->outages, j)) return;
    t->gave_up++;
    give_up(r, j);
}

/* outage_env.strike: back to its last checkpoint, and to the queue. */
static void strike(void *ctx, struct job *j)
{
    struct run *r = ctx;
    if (j->replica) {
        strike_replica(r, j);
        return;
    }
    struct outage_totals *t = outages_totals(r->outages);
    const struct fleet_group *g = r->plan->group[j->group].spec;
    const int64_t most = g->fails ? g->rates.max_restarts : INT64_MAX;
    const simtime left = job_remaining(j, r->now), every = r->plan->checkpoint.every;
    const simtime safe = every > 0 ? job_saved(j, r->now, every) : 0;
    const simtime held = job_held(j, r->now);
    const double gpus = j->row.gpus_milli / 1000.0;
    release(r, j);
    j->remaining = least(j->remaining, j->row.duration - safe);
    j->held = j->forgiven = held;
    t->struck++;
    t->lost_s += simtime_s(j->remaining - left) * gpus;
    if (++j->struck > most) {
        t->gave_up++;
        t->lost_s += simtime_s(j->row.duration - j->remaining) * gpus;
        j->reason = "struck by faults more often than max_restarts";
        end_job(r, j, JOB_FAILED);
        return;
    }
    job_unplace(j);
    sched_requeue(r->sched, j, r->now);
    if (!outages_serve(r->outages, j)) give_up(r, j);
}

static int by_order(const void *a, const void *b)
{
    const struct job *x = *(struct job *const *)a, *y = *(struct job *const *)b;
    return (x->order > y->order) - (x->order < y->order);
}

static void tell_job(struct run *r, const struct job *j)
{
    if (j->replica) return; /* of a service, which has figures of its own */
    for (size_t i = 0; i < r->opt->n_sinks && r->rc == 0; i++) {
        const struct sink *s = &r->opt->sinks[i];
        const int rc = s->job ? s->job(s->self, r->plan, r->names, j, r->e) : 0;
        if (rc < 0) fail(r, rc);
    }
}

static void tell_ended(struct run *r)
{
    if (r->ended.n > 1) qsort(r->ended.v, r->ended.n, sizeof *r->ended.v, by_order);
    for (size_t i = 0; i < r->ended.n; i++) {
        tell_job(r, r->ended.v[i]);
        elastic_drop(r->shapes, r->ended.v[i]);
        job_free(r->pool, r->ended.v[i]);
    }
    r->ended.n = 0;
}

/* ---- jobs begin ---- */

static void begin(struct run *r, struct job *j)
{
    j->state = JOB_RUNNING;
    if (j->n_holdings == 0) {
        j->finish = later(r->now, j->work_left);
        j->event = evq_at(r->q, j->finish, EV_FINISH, KIND_JOB_FINISH, j->index);
        return;
    }
    if (!residents_begin(r->residents, j, r->now)) {
        out_of_memory(r, j);
        return;
    }
    if (j->replica) {
        services_ready(r->services, j, r->now);
        return;
    }
    if (j->shape->sig.mem_grow > 0)
        j->event =
            evq_at(r->q, later(r->now, j->shape->sig.mem_grow), EV_POLICY, KIND_GROW, j->index);
}

static simtime startup(const struct run *r, const struct job *j)
{
    const struct plan_group *g = &r->plan->group[j->group];
    if (!r->plan->share->startup || j->n_holdings == 0) return 0;
    const int32_t there = cluster_card(r->cluster, j->holding[0].card)->tenants - 1;
    return r->plan->share->startup(g->params, &g->type, (size_t)there);
}

/* sched_calls.start: the job has been placed. */
static void start(void *ctx, struct job *j, const struct pick *p)
{
    struct run *r = ctx;
    const struct fit *fit = &j->shape->fit[j->group];
    const int32_t n = (int32_t)p->card.n;
    simtime ready = later(r->now, p->prepare);
    j->node = p->node;
    j->wires = cluster_gang_speed(r->plan, j->group, p);
    j->n_holdings = n;
    j->holding = n > 1 ? xcalloc((size_t)n, sizeof *j->holding) : &j->one;
    for (int32_t i = 0; i < n; i++)
        j->holding[i] = (struct holding){ .card = p->card.v[i], .slice = p->slice };
    j->state = JOB_STARTING;
    j->allocated = j->here = r->now;
    j->attempts++;
    if (j->start == JOB_NO_TIME) j->start = ready;
    j->saves = n > 0 && !j->replica && r->plan->checkpoint.every > 0 && r->plan->checkpoint.cost > 0
                   ? &r->plan->checkpoint
                   : NULL;
    j->work_left = job_line(j);
    j->scale = fit->transfer * j->stretch;
    if (j->scale != 1.0) {
        const double scaled = (double)j->work_left * j->scale;
        j->work_left = scaled < 9.2e18 ? llround(scaled) : SIM_NEVER - 1;
    }
    sched_started(r->sched, j);
    ready = later(ready, startup(r, j));
    if (j->replica) ready = later(ready, services_start_up(j));
    if (j->attempts > 1 && !j->replica) ready = later(ready, r->plan->restart);
    if (r->plan->limits_kill && j->row.walltime != JOB_NO_TIME) {
        const simtime used = j->held - j->forgiven;
        const simtime rest = j->n_sizes               ? job_limit(j)
                             : j->row.walltime > used ? j->row.walltime - used
                                                      : 0;
        j->limit = evq_at(r->q, later(r->now, rest), EV_POLICY, KIND_LIMIT, j->index);
    }
    if (r->outages) {
        const simtime crash = outages_crash_after(r->outages, j);
        if (crash != SIM_NEVER)
            j->crash = evq_at(r->q, later(r->now, crash), EV_FAULT, KIND_CRASH, j->index);
    }
    if (n) residents_hold(r->residents, j, r->now, ready > r->now);
    if (ready == r->now)
        begin(r, j);
    else
        j->event = evq_at(r->q, ready, EV_POLICY, KIND_READY, j->index);
}

/* sched_calls.lift and .set_down: it moves. What it has done goes with it. */
static void lift(void *ctx, struct job *j)
{
    struct run *r = ctx;
    const struct place_request request = sched_request(r->plan, j, j->group);
    j->remaining = job_remaining(j, r->now);
    sched_pick_of(j, &r->pick);
    cluster_give(r->cluster, &request, &r->pick);
    residents_leave(r->residents, j, r->now);
    tell_stay(r, j);
}

static void set_down(void *ctx, struct job *j, const struct pick *p)
{
    struct run *r = ctx;
    const struct place_request request = sched_request(r->plan, j, j->group);
    const double bytes = (double)j->shape->fit[j->group].demand.alloc_bytes;
    const double copy_ns = isnan(r->plan->migrate_Bps) ? 0 : 1e9 * bytes / r->plan->migrate_Bps;
    const simtime ready = later(later(r->now, later(r->plan->migrate_pause, p->prepare)),
                                copy_ns < 9.2e18 ? llround(copy_ns) : SIM_NEVER - 1);
    cluster_take(r->cluster, &request, p);
    for (int32_t i = 0; i < j->n_holdings; i++)
        j->holding[i] = (struct holding){ .card = p->card.v[i], .slice = p->slice };
    j->wires = cluster_gang_speed(r->plan, j->group, p);
    j->state = JOB_STARTING;
    j->here = r->now;
    j->moves++;
    r->out->moves++;
    r->out->moved_s += simtime_s(ready - r->now) * j->n_holdings;
    if (evq_is_pending(r->q, j->limit)) /* the pause is not its own */
        evq_move(r->q, j->limit, later(evq_when(r->q, j->limit), ready - r->now));
    residents_hold(r->residents, j, r->now, ready > r->now);
    if (ready == r->now)
        begin(r, j);
    else
        j->event = evq_at(r->q, ready, EV_POLICY, KIND_READY, j->index);
}

/* sched_calls.drop: it came when there was no room, and may not wait. */
static void drop(void *ctx, struct job *j)
{
    struct run *r = ctx;
    if (j->replica) services_down(r->services, j, true, r->now);
    j->reason = j->attempts > 0 ? "no room to start again" : "no room when it came";
    end_job(ctx, j, j->attempts > 0 ? JOB_FAILED : JOB_REJECTED);
}

/* ---- arrivals ---- */

static void fetch(struct run *r)
{
    const int rc = source_next(r->source, &r->next, r->e);
    if (rc < 0) {
        fail(r, rc);
        return;
    }
    /* Rows come sorted, so the first one beyond the horizon ends the arrivals. */
    r->more = rc > 0 && r->next.submit < horizon(r);
    if (r->more) evq_at(r->q, r->next.submit, EV_ARRIVE, KIND_ARRIVAL, 0);
}

/* Where nobody counts memory, say at the first job of a kind that a full card cannot hold its like:
 * the mistake that operators make (USERS.md A03). */
static void warn_of_memory(struct run *r, const struct shape *shape)
{
    for (size_t g = 0; g < r->plan->n_groups && !r->warned; g++) {
        const struct plan_group *pg = &r->plan->group[g];
        const struct demand *d = &shape->fit[g].demand;
        const uint64_t usable = pg->type.gpu->usable_bytes;
        if (!shape->fit[g].feasible || d->cards == 0 || d->reserve_bytes > 0) continue;
        if (r->plan->share->swaps && r->plan->share->swaps(pg->params)) continue;
        const int32_t tenants = pg->capacity / d->units;
        const bool over_limit = d->alloc_bytes > d->limit_bytes &&
                                d->alloc_bytes - d->limit_bytes > pg->type.context_bytes;
        if (!over_limit && d->alloc_bytes <= usable / (uint64_t)tenants) continue;
        r->warned = true;
        log_warn("policy %s: jobs like %.*s need %.1f GiB; %s", r->plan->spec->name,
                 (int)r->next.id_len, r->next.id, (double)d->alloc_bytes / 0x1p30,
                 over_limit ? "their limit is lower: they will run out of memory"
                            : "a card full of them holds less: some may run out of memory");
    }
}

static void arrive(struct run *r)
{
    struct unknown_name unknown;
    struct shape *shape = shape_of(r->shapes, &r->next, &unknown);
    if (!shape) {
        fail(r, source_row_error(r->source, unknown.column, r->e, unknown.why));
        return;
    }
    char why[256];
    const char *unknown_account = sched_unknown(r->sched, &r->next, why, sizeof why);
    if (unknown_account) {
        fail(r, source_row_error(r->source, "group", r->e, unknown_account));
        return;
    }
    struct job *j = job_new(r->pool, &r->next);
    j->order = r->order++;
    j->shape = shape;
    r->submitted++;
    r->present++;
    r->out->rows++;
    elastic_sizes(&r->plan->elastic, r->shapes, j);
    j->reason = j->shape->rejected ? shape->reason : sched_refuses(r->sched, j);
    if (j->reason) {
        end_job(r, j, JOB_REJECTED);
    } else {
        if (shape->submitted == 1) warn_of_memory(r, shape);
        if (r->carver) carver_arrived(r->carver, j);
        sched_submit(r->sched, j);
        if (r->outages && !outages_serve(r->outages, j)) give_up(r, j);
    }
    fetch(r);
}

/* ---- services ---- */

/* service_calls.launch */
static struct job *launch(void *ctx, size_t service, uint64_t number)
{
    struct run *r = ctx;
    struct unknown_name unknown;
    struct job_row row;
    (void)number;
    plan_replica_row(r->plan, service, r->names, &row);
    row.submit = r->now;
    struct job *j = job_new(r->pool, &row);
    j->order = r->order++;
    j->shape = shape_of(r->shapes, &row, &unknown);
    if (!j->shape || j->shape->rejected) BUG("a service that the plan let through cannot run");
    r->submitted++;
    r->present++;
    return j;
}

/* service_calls.filling */
static const struct shape *filling(void *ctx, size_t service)
{
    struct run *r = ctx;
    struct unknown_name unknown;
    struct job_row row;
    plan_filling_row(r->plan, service, r->names, &row);
    const struct shape *shape = shape_of(r->shapes, &row, &unknown);
    if (!shape || shape->rejected) BUG("a service that the plan let through cannot run");
    return shape;
}

/* service_calls.submit */
static void submit(void *ctx, struct job *j)
{
    struct run *r = ctx;
    sched_submit(r->sched, j);
    if (r->outages && !outages_serve(r->outages, j)) give_up(r, j);
}

/* service_calls.retire */
static void retire(void *ctx, struct job *j)
{
    struct run *r = ctx;
    if (j->state == JOB_QUEUED) {
        sched_withdraw(r->sched, j);
        sched_wake(r->sched);
    } else {
        release(r, j);
    }
    end_job(r, j, JOB_COMPLETED);
}

static void service_failed(void *ctx, int rc)
{
    fail(ctx, rc);
}

/* ---- planned layouts ---- */

static void carve(struct run *r, uint32_t card, const struct mig_layout *layout)
{
    const struct card_instances *m = cluster_card(r->cluster, card)->mig;
    if (!m->on && layout->n == 0) return; /* off it is, and off it stays */
    const simtime delay = sched_carve(r->sched, card, layout);
    if (delay > 0) evq_at(r->q, later(r->now, delay), EV_POLICY, KIND_CARVED, card);
    residents_look(r->residents, card, r->now);
}

static void plan_layouts(struct run *r)
{
    const struct mig_layout *layout = carver_plan(r->carver, r->now, r->cluster, r->sched, r->pool);
    for (int64_t i = 0; i < r->plan->cards; i++) carve(r, (uint32_t)i, &layout[i]);
    sched_wake(r->sched);
    const simtime next =
        carver_next(r->carver, r->now, r->present > 0, r->more ? r->next.submit : SIM_NEVER);
    if (next != SIM_NEVER) evq_at(r->q, next, EV_POLICY, KIND_PLAN, 0);
}

static void carved(struct run *r, uint32_t card)
{
    sched_carved(r->sched, card);
    residents_look(r->residents, card, r->now);
    sched_wake(r->sched);
}

/* ---- samples ---- */

/* Expected share of the fleet that is free but of no use to a job drawn from those submitted so far
 * (FGD's measure, Weng et al., ATC 2023, over whole cards' capacity). */
static double fragmentation(const struct run *r)
{
    const struct shape *shape[FRAG_SHAPES + 1];
    const size_t n = shape_frequent(r->shapes, shape, FRAG_SHAPES);
    const int64_t step = (r->plan->cards + FRAG_CARDS - 1) / FRAG_CARDS;
    double weight = 0, unusable = 0;
    for (size_t i = 0; i < n; i++) {
        double lost = 0;
        int64_t looked = 0;
        if (shape[i]->rejected || shape[i]->request.gpus_milli == 0) continue;
        for (int64_t c = 0; c < r->plan->cards; c += step, looked++) {
            const int group = cluster_card(r->cluster, (uint32_t)c)->group;
            if (cluster_card(r->cluster, (uint32_t)c)->out) continue;
            const struct fit *fit = &shape[i]->fit[group];
            if (fit->feasible && cluster_card_fits(r->cluster, (uint32_t)c, &fit->demand)) continue;
            const int32_t capacity = r->plan->group[group].capacity;
            lost += 1.0 - (double)cluster_used_units(r->cluster, (uint32_t)c) / capacity;
        }
        weight += (double)shape[i]->submitted;
        unusable += (double)shape[i]->submitted * lost / (double)looked;
    }
    return weight > 0 ? unusable / weight : 0;
}

static double sample_fragmentation(struct run *r)
{
    if (r->frag_seen++ % r->frag_stride != 0) return NAN;
    const double now = fragmentation(r);
    if (++r->frag_made % FRAG_EVALUATIONS == 0) r->frag_stride *= 2;
    if (!r->warm) return now;
    r->frag_sum += now;
    r->frag_summed++;
    return now;
}

static void sample(struct run *r)
{
    struct sample s = { .t = r->now,
                        .length = r->now - r->sampled,
                        .queued = sched_waiting(r->sched),
                        .running = r->present - sched_waiting(r->sched) };
    if (r->services) { /* replicas are no jobs of anybody */
        const uint64_t placed = services_placed(r->services);
        s.queued -= services_standing(r->services) - placed;
        s.running -= placed;
    }
    double total[METERS] = { 0 }, energy_J = 0;
    if (s.length == 0) return;
    for (size_t g = 0; g < r->plan->n_groups; g++) {
        const struct meter_group *m = residents_meters(r->residents, g, r->now);
        struct meter_group part = { 0 };
        for (int k = 0; k < METERS; k++) {
            part.integral[k] = m->integral[k] - r->before[g][k];
            r->before[g][k] = m->integral[k];
            total[k] += meter_card_s(part.integral[k]);
        }
        energy_J += residents_energy_J(r->plan, g, &part, s.length);
    }
    const double all = /* not 0 when the whole fleet is away */
        fmax((double)r->plan->cards * simtime_s(s.length) - total[METER_ABSENT], 1e-9);
    s.allocated = total[METER_ALLOCATED] / all;
    s.duty = r->plan->share->keeps_duty ? total[METER_DUTY] / all : NAN;
    s.sm_active = total[METER_SM] / all;
    s.memory = total[METER_MEMORY] / all;
    s.stranded = total[METER_STRANDED] / all;
    s.down = total[METER_DOWN] / all;
    s.free_share = fmax(0, 1.0 - s.allocated - s.stranded - s.down);
    s.power_W = energy_J / simtime_s(s.length);
    r->sampled = r->now;
    if (r->services) services_sample(r->services, r->now, s.length);
    s.fragmentation = sample_fragmentation(r);
    for (size_t i = 0; i < r->opt->n_sinks && r->rc == 0; i++) {
        const struct sink *k = &r->opt->sinks[i];
        const int rc = k->sample ? k->sample(k->self, r->plan, &s, r->e) : 0;
        if (rc < 0) fail(r, rc);
    }
    if (r->opt->progress && horizon(r) != SIM_NEVER)
        r->opt->progress(r->opt->progress_ctx, (double)r->now / (double)horizon(r));
}

static void warm(struct run *r)
{
    /* The interval of the series that is under way keeps what it has seen. */
    for (size_t g = 0; g < r->plan->n_groups; g++) {
        const struct meter_group *m = residents_meters(r->residents, g, r->now);
        for (int k = 0; k < METERS; k++) r->before[g][k] -= m->integral[k];
    }
    residents_reset(r->residents, r->now);
    if (r->outages) *outages_totals(r->outages) = (struct outage_totals){ 0 };
    if (r->services) services_warm(r->services, r->now);
    r->out->moves = 0;
    r->out->moved_s = 0;
    r->warm = true;
}

static simtime mark_time(const struct run *r, int i)
{
    const simtime h = horizon(r), quarter = h / 4;
    return h - quarter + quarter / (QUEUE_MARKS - 1) * i;
}

static void mark(struct run *r)
{
    const simtime length = r->mark > 0 ? mark_time(r, r->mark) - mark_time(r, r->mark - 1) : 0;
    if (r->services) services_mark(r->services, r->mark, length, r->now);
    if (r->mark > 0) {
        r->out->queue_batch[r->mark - 1] =
            length > 0 ? (double)(r->waiting_ns - r->mark_ns) / (double)length : 0;
    } else if (r->now > 0) {
        r->out->queue_before = (double)r->waiting_ns / (double)r->now;
    }
    r->mark_ns = r->waiting_ns;
    r->out->has_queue_batches = ++r->mark == QUEUE_MARKS;
    if (r->mark < QUEUE_MARKS) evq_at(r->q, mark_time(r, r->mark), EV_SAMPLE, KIND_MARK, 0);
}

/* ---- the loop ---- */

static void card_finished(struct run *r, uint32_t card)
{
    size_t n = 0;
    residents_done(r->residents, card, r->now, &r->done, &n);
    for (size_t i = 0; i < n; i++) {
        if (r->done[i]->replica)
            services_done(r->services, r->done[i], r->now);
        else
            finish(r, r->done[i]);
    }
}

static void handle(struct run *r, const struct event *ev)
{
    if (ev->kind >= KIND_SERVICE) {
        services_event(r->services, ev->kind, ev->arg, r->now);
        return;
    }
    switch ((enum kind)ev->kind) {
    case KIND_CARD_FINISH: card_finished(r, ev->arg); break;
    case KIND_JOB_FINISH: finish(r, job_at(r->pool, ev->arg)); break;
    case KIND_ARRIVAL: arrive(r); break;
    case KIND_READY: begin(r, job_at(r->pool, ev->arg)); break;
    case KIND_GROW:
        if (!residents_grow(r->residents, job_at(r->pool, ev->arg), r->now))
            out_of_memory(r, job_at(r->pool, ev->arg));
        break;
    case KIND_LIMIT: killed(r, job_at(r->pool, ev->arg)); break;
    case KIND_LOOK: sched_wake(r->sched); break;
    case KIND_UNIT: outages_unit(r->outages, ev->arg, r->now); break;
    case KIND_CHANGE: outages_change(r->outages, ev->arg, r->now); break;
    case KIND_CRASH: outages_crash(r->outages, job_at(r->pool, ev->arg), r->now); break;
    case KIND_PLAN: plan_layouts(r); break;
    case KIND_CARVED: carved(r, ev->arg); break;
    case KIND_WARM: warm(r); break;
    case KIND_MARK: mark(r); break;
    case KIND_SAMPLE:
        sample(r);
        if (++r->samples % SERIES_ROWS == 0) r->interval *= 2;
        if (r->now < SIM_NEVER - 1)
            evq_at(r->q, later(r->now, r->interval), EV_SAMPLE, KIND_SAMPLE, 0);
        break;
    case KIND_STOP: r->stopped = true; break;
    case KIND_SERVICE: break;
    }
}

/* Wake the scheduler when the order changes by itself. */
static void look_ahead(struct run *r)
{
    const simtime at = sched_look(r->sched);
    if (at == SIM_NEVER || (evq_is_pending(r->q, r->look) && evq_when(r->q, r->look) == at)) return;
    evq_cancel(r->q, r->look);
    r->look = evq_at(r->q, at > r->now ? at : r->now, EV_POLICY, KIND_LOOK, 0);
}

static void advance_clock(struct run *r, simtime when)
{
    const wide elapsed = when - r->now;
    if (elapsed == 0) {
        r->out->ties++;
        return;
    }
    tell_ended(r);
    r->present_ns += (wide)r->present * elapsed;
    r->waiting_ns += (wide)sched_waiting(r->sched) * elapsed;
    r->now = when;
}

/* Is there anything left to happen? Replicas alone stand for ever. */
static bool goes_on(const struct run *r)
{
    if (horizon(r) != SIM_NEVER || r->more) return true;
    if (!r->services) return r->present > 0;
    return r->present > services_standing(r->services) || !services_idle(r->services);
}

/* A run without a horizon: when all requests are answered and jobs wait while no job runs, nothing but the
 * services can be in their way, and those are done. True: they went. */
static bool services_make_way(struct run *r)
{
    if (!r->services || horizon(r) != SIM_NEVER || r->more || !services_idle(r->services))
        return false;
    const uint64_t waiting = sched_waiting(r->sched), standing = services_standing(r->services);
    if (standing == 0 || r->present <= standing || r->present - waiting > standing) return false;
    services_stop(r->services, r->now);
    sched_wake(r->sched);
    return true;
}

/* Asked once in so many events that it costs nothing, and soon enough for whoever waits. */
static bool told_to_stop(struct run *r)
{
    enum { EVENTS = 1024 };
    if (!r->opt->stop || r->out->events % EVENTS != 0 || !r->opt->stop()) return false;
    r->out->interrupted = true;
    return true;
}

static void loop(struct run *r)
{
    struct event ev;
    while (!r->stopped && goes_on(r) && !told_to_stop(r) && evq_pop(r->q, &ev)) {
        r->out->events++;
        advance_clock(r, ev.when);
        handle(r, &ev);
        /* Whoever may start does so once the instant's ends, faults and arrivals are through. */
        do
            while (!r->stopped && sched_needs_run(r->sched) && evq_peek(r->q) > r->now) {
                sched_run(r->sched, r->now);
                settle_preempted(r);
                look_ahead(r);
            }
        while (!r->stopped && evq_peek(r->q) > r->now && services_make_way(r));
    }
    if (r->services && r->rc == 0 && horizon(r) == SIM_NEVER && !r->out->interrupted)
        services_stop(r->services, r->now);
    tell_ended(r);
}

/* ---- the end ---- */

static void tell_unfinished(struct run *r)
{
    VEC(struct job *) rest = { 0 };
    for (uint32_t i = 0; i < job_pool_high_water(r->pool); i++) {
        struct job *j = job_at(r->pool, i);
        if (j->state < JOB_COMPLETED) vec_push(&rest, j); /* freed ones have ended */
    }
    if (rest.n > 1) qsort(rest.v, rest.n, sizeof *rest.v, by_order);
    for (size_t i = 0; i < rest.n; i++) {
        r->stay_ns += r->now - rest.v[i]->row.submit;
        r->out->never_started += !rest.v[i]->replica && rest.v[i]->state == JOB_QUEUED &&
                                 rest.v[i]->start == JOB_NO_TIME;
        if (rest.v[i]->state != JOB_QUEUED) tell_stay(r, rest.v[i]);
        tell_job(r, rest.v[i]);
    }
    if (rest.n != r->present && r->rc == 0)
        fail(r, err_set(r->e, ERR_CHECK, NULL, "%llu jobs are present, %zu were found",
                        (unsigned long long)r->present, rest.n));
    vec_fini(&rest);
}

static bool differs(double a, double b)
{
    return fabs(a - b) > 1e-6 * fmax(1.0, fmax(fabs(a), fabs(b)));
}

/* P01, P02, P04, P12 of USERS.md and exact Little. */
static void check_conservation(struct run *r)
{
    const char *law = NULL;
    size_t n_tenants;
    const struct tenant_totals *tenant = residents_tenants(r->residents, BY_USER, &n_tenants);
    double charged_s = 0, allocated_s = 0;
    if (r->submitted != r->left + r->present) law = "jobs submitted = ended + present";
    if (r->present_ns != r->stay_ns) law = "Little: integral of jobs present = sum of stays";
    if (r->present == 0 && (!cluster_is_whole(r->cluster) || !residents_none(r->residents)))
        law = "capacity is back after the last job";
    for (size_t i = 0; i < n_tenants; i++) charged_s += tenant[i].card_s;
    for (size_t g = 0; g < r->plan->n_groups; g++) {
        const struct meter_group *m = residents_meters(r->residents, g, r->now);
        const struct gpu_spec *gpu = r->plan->group[g].type.gpu;
        const double load =
            gpu->idle_context_W * meter_card_s(m->integral[METER_CONTEXT]) +
            (gpu->busy_W - gpu->idle_context_W) * meter_card_s(m->integral[METER_SM]);
        allocated_s += meter_card_s(m->integral[METER_ALLOCATED]);
        if (differs(load, residents_charged_J(r->residents, g)))
            law = "energy of the jobs = energy of the busy cards";
        if (m->integral[METER_ALLOCATED] + m->integral[METER_STRANDED] + m->integral[METER_DOWN] +
                m->integral[METER_ABSENT] >
            (wide)r->plan->group[g].cards * METER_CARD * (r->now + 1))
            law = "allocated + stranded + down + absent <= cards x time";
    }
    if (differs(charged_s, allocated_s)) law = "card time of the users = card time allocated";
    if (!law && r->services) law = services_check(r->services, r->now);
    if (law && r->rc == 0)
        fail(r, err_set(r->e, ERR_CHECK, NULL, "policy %s: conservation broken: %s",
                        r->plan->spec->name, law));
}

static void total_up(struct run *r)
{
    struct sim_totals *out = r->out;
    const simtime warmup = r->plan->scenario->warmup;
    const simtime from = warmup < r->now ? warmup : r->now;
    out->end = r->now;
    if (r->outages) out->outages = *outages_totals(r->outages);
    out->fragmentation = r->frag_summed ? r->frag_sum / (double)r->frag_summed : NAN;
    out->group = xcalloc(r->plan->n_groups, sizeof *out->group);
    out->n_groups = r->plan->n_groups;
    for (size_t g = 0; g < r->plan->n_groups; g++) {
        const struct meter_group *m = residents_meters(r->residents, g, r->now);
        for (int k = 0; k < METERS; k++) out->group[g].card_s[k] = meter_card_s(m->integral[k]);
        out->group[g].energy_J = residents_energy_J(r->plan, g, m, r->now - from);
        out->group[g].charged_J = residents_charged_J(r->residents, g);
        const size_t levels = (size_t)r->plan->group[g].cards + 1;
        out->group[g].level_ns = xcalloc(levels, sizeof *out->group[g].level_ns);
        memcpy(out->group[g].level_ns, m->level_ns, levels * sizeof *m->level_ns);
    }
    if (r->services) out->service = services_totals(r->services, r->now);
    for (int by = 0; by < CHARGE_BYS; by++) {
        size_t *n = &out->n_tenants[by];
        const struct tenant_totals *t = residents_tenants(r->residents, (enum charge_by)by, n);
        out->tenant[by] = xcalloc(*n + 1, sizeof *t);
        if (*n) memcpy(out->tenant[by], t, *n * sizeof *t);
    }
}

static void set_up(struct run *r)
{
    const struct scenario *s = r->plan->scenario;
    r->pool = job_pool_create();
    r->shapes = shape_table_create(r->plan, r->names);
    r->cluster = cluster_create(r->plan);
    r->q = evq_create(1024);
    r->residents = residents_create(r->plan, r->cluster, r->q, KIND_CARD_FINISH);
    r->sched = sched_create(r->plan, r->cluster, r->names,
                            &(struct sched_calls){ .start = start,
                                                   .drop = drop,
                                                   .stop = stop,
                                                   .resize = resize,
                                                   .lift = lift,
                                                   .set_down = set_down },
                            r);
    r->outages = outages_create(&(struct outage_env){ .plan = r->plan,
                                                      .replication = r->opt->replication,
                                                      .q = r->q,
                                                      .cluster = r->cluster,
                                                      .residents = r->residents,
                                                      .sched = r->sched,
                                                      .pool = r->pool,
                                                      .unit_kind = KIND_UNIT,
                                                      .change_kind = KIND_CHANGE,
                                                      .crash_kind = KIND_CRASH,
                                                      .strike = strike,
                                                      .give_up = give_up,
                                                      .ctx = r });
    r->before = xcalloc(r->plan->n_groups, sizeof *r->before);
    r->frag_stride = 1;
    r->interval = r->opt->sample;
    r->warm = s->warmup == 0;
    if (!r->warm) evq_at(r->q, s->warmup, EV_SAMPLE, KIND_WARM, 0);
    if (r->opt->sample) evq_at(r->q, r->opt->sample, EV_SAMPLE, KIND_SAMPLE, 0);
    if (r->carver) evq_at(r->q, carver_first(r->carver), EV_POLICY, KIND_PLAN, 0);
    if (horizon(r) == SIM_NEVER) return;
    evq_at(r->q, horizon(r), EV_STOP, KIND_STOP, 0);
    evq_at(r->q, mark_time(r, 0), EV_SAMPLE, KIND_MARK, 0);
}

static void set_up_services(struct run *r)
{
    const struct service_calls calls = { .launch = launch,
                                         .submit = submit,
                                         .filling = filling,
                                         .retire = retire,
                                         .fail = service_failed };
    if (r->plan->n_services == 0) return;
    r->services = services_create(r->plan, r->opt, r->q, r->residents, r->names, KIND_SERVICE,
                                  &calls, r, r->e);
    if (!r->services) {
        fail(r, (int)r->e->code);
        return;
    }
    services_start(r->services);
    evq_at(r->q, 0, EV_POLICY, KIND_LOOK, 0); /* replicas do not wait for the first event */
}

static void tear_down(struct run *r)
{
    outages_destroy(r->outages);
    services_destroy(r->services);
    sched_destroy(r->sched);
    carver_destroy(r->carver);
    residents_destroy(r->residents);
    evq_destroy(r->q);
    cluster_destroy(r->cluster);
    shape_table_destroy(r->shapes);
    job_pool_destroy(r->pool);
    source_close(r->source);
    vec_fini(&r->ended);
    vec_fini(&r->preempted);
    vec_fini(&r->pick.card);
    free(r->done);
    free(r->before);
}

int sim_run(const struct plan *plan, const struct sim_options *opt, struct sim_totals *out,
            struct err *e)
{
    struct run r = { .plan = plan, .opt = opt, .out = out, .names = symtab_create(), .e = e };
    *out = (struct sim_totals){ .names = r.names };
    int rc = source_open(&r.source, plan->scenario, opt->replication, r.names, e);
    if (rc == 0) r.carver = carver_create(plan, opt->replication, &rc, e);
    if (rc != 0) {
        source_close(r.source);
        symtab_destroy(r.names);
        *out = (struct sim_totals){ 0 };
        return rc;
    }
    set_up(&r);
    set_up_services(&r);
    if (r.rc == 0) fetch(&r);
    loop(&r);
    if (r.rc == 0) {
        residents_settle_all(r.residents, r.now);
        if (!r.warm) warm(&r); /* the work ended before the warm-up: nothing counts */
        if (r.opt->sample) sample(&r);
        tell_unfinished(&r);
        check_conservation(&r);
        total_up(&r);
    }
    if (r.rc == 0 && r.present > 0 && horizon(&r) == SIM_NEVER && !out->interrupted)
        r.rc = err_set(e, ERR_CHECK, NULL, "policy %s: %llu jobs wait for ever", plan->spec->name,
                       (unsigned long long)r.present);
    tear_down(&r);
    if (r.rc != 0) sim_totals_fini(out);
    return r.rc;
}

void sim_totals_fini(struct sim_totals *t)
{
    symtab_destroy(t->names);
    for (size_t g = 0; t->group && g < t->n_groups; g++) free(t->group[g].level_ns);
    free(t->group);
    for (int by = 0; by < CHARGE_BYS; by++) free(t->tenant[by]);
    free(t->service);
    *t = (struct sim_totals){ 0 };
}
