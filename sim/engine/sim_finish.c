/* Jobs come to their end, or go back to the queue: what they hold is given back, what they have
 * done counted, the sinks told. */
#include "engine/sim_inside.h"

#include "base/err.h"
#include "engine/elastic.h"

#include <math.h>
#include <stdlib.h>

void sim_end_job(struct run *r, struct job *j, enum job_state state)
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

/* It leaves the cards it holds, or the run stops while it is on them. */
void sim_tell_stay(struct run *r, const struct job *j)
{
    if (j->n_holdings == 0) return;
    for (size_t i = 0; i < r->opt->n_sinks && r->rc == 0; i++) {
        const struct sink *s = &r->opt->sinks[i];
        const int rc = s->stay ? s->stay(s->self, r->plan, r->names, j, r->now, r->e) : 0;
        if (rc < 0) sim_fail(r, rc);
    }
}

/* Give everything back. */
void sim_release(struct run *r, struct job *j)
{
    const struct place_request request = sched_request(r->plan, j, j->group);
    sched_pick_of(j, &r->pick);
    cluster_give(r->cluster, &request, &r->pick);
    if (j->n_holdings) residents_leave(r->residents, j, r->now);
    sim_tell_stay(r, j);
    evq_cancel(r->q, j->event);
    evq_cancel(r->q, j->limit);
    evq_cancel(r->q, j->crash);
    if (j->start > r->now) j->start = JOB_NO_TIME; /* its instances were still being made */
    sched_ended(r->sched, j, r->now);
    sched_wake(r->sched);
}

void sim_finish(struct run *r, struct job *j)
{
    sim_release(r, j);
    j->work_left = 0;
    count_useful(r, j);
    sim_end_job(r, j, JOB_COMPLETED);
}

void sim_out_of_memory(struct run *r, struct job *j)
{
    sim_release(r, j);
    j->oom = true;
    j->reason = "out of memory";
    if (j->replica) services_down(r->services, j, true, r->now);
    sim_end_job(r, j, JOB_FAILED);
}

void sim_killed(struct run *r, struct job *j)
{
    sim_release(r, j);
    j->reason = "reached its limit";
    sim_end_job(r, j, JOB_KILLED);
}

/* sched_calls.drop: it came when there was no room, and may not wait. */
void sim_drop(void *ctx, struct job *j)
{
    struct run *r = ctx;
    if (j->replica) services_down(r->services, j, true, r->now);
    j->reason = j->attempts > 0 ? "no room to start again" : "no room when it came";
    sim_end_job(ctx, j, j->attempts > 0 ? JOB_FAILED : JOB_REJECTED);
}

/* ---- back to the queue ---- */

static simtime least(simtime a, simtime b)
{
    return a < b ? a : b;
}

/* sched_calls.stop: preempted. It keeps its work up to the last checkpoint. */
void sim_stop(void *ctx, struct job *j)
{
    struct run *r = ctx;
    const simtime left = job_once_stopped(j, r->now, r->plan->checkpoint.every);
    const simtime held = job_held(j, r->now);
    sim_release(r, j);
    j->preemptions++;
    j->remaining = left;
    j->held = held;
    job_unplace(j);
    if (r->outages) vec_push(&r->preempted, j);
}

/* sched_calls.resize: it goes on elsewhere, with the work it has done. */
void sim_resize(void *ctx, struct job *j)
{
    struct run *r = ctx;
    const simtime left = job_remaining(j, r->now), held = job_held(j, r->now);
    sim_release(r, j);
    j->remaining = least(j->remaining, left);
    j->held = held;
    job_unplace(j);
}

/* ---- cards go out ---- */

void sim_give_up(struct run *r, struct job *j, const char *why)
{
    struct outage_totals *t = outages_totals(r->outages);
    sched_withdraw(r->sched, j);
    if (j->replica) services_down(r->services, j, true, r->now);
    if (j->struck > 0 && !j->replica) {
        t->gave_up++;
        t->lost_s += simtime_s(j->row.duration - j->remaining) * j->row.gpus_milli / 1000.0;
    }
    j->reason = why;
    sim_end_job(r, j, j->attempts > 0 ? JOB_FAILED : JOB_REJECTED);
}

/* outage_env.give_up: it waits for cards that never come back. */
void sim_gone(void *ctx, struct job *j)
{
    sim_give_up(ctx, j, "the cards it needs have left the fleet for good");
}

/* Who was preempted from cards that are leaving the fleet may have run on the last ones it could
 * use. */
void sim_settle_preempted(struct run *r)
{
    for (size_t i = 0; i < r->preempted.n; i++) {
        struct job *j = r->preempted.v[i];
        if (j->state != JOB_QUEUED || outages_serve(r->outages, j)) continue;
        sim_gone(r, j);
        sched_wake(r->sched); /* it may have stood before others */
    }
    r->preempted.n = 0;
}

/* A replica is struck: it has no work of its own to lose, and is started again however often. */
static void strike_replica(struct run *r, struct job *j)
{
    struct outage_totals *t = outages_totals(r->outages);
    if (sim_in_vain(r)) {
        t->struck++;
        sim_vain_service(r, j);
        return;
    }
    const bool again = services_down(r->services, j, false, r->now);
    sim_release(r, j);
    t->struck++;
    if (!again) {
        sim_end_job(r, j, JOB_COMPLETED);
        return;
    }
    job_unplace(j);
    sched_requeue(r->sched, j, r->now);
    if (outages_serve(r->outages, j)) return;
    t->gave_up++;
    sim_gone(r, j);
}

/* outage_env.strike: back to its last checkpoint, and to the queue. */
void sim_strike(void *ctx, struct job *j)
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
    sim_release(r, j);
    if (j->row.duration - safe < j->remaining) {
        j->remaining = j->row.duration - safe;
        r->in_vain = 0;
    }
    j->held = j->forgiven = held;
    t->struck++;
    t->lost_s += simtime_s(j->remaining - left) * gpus;
    const bool often = ++j->struck > most;
    if (often || sim_in_vain(r)) {
        t->gave_up++;
        t->lost_s += simtime_s(j->row.duration - j->remaining) * gpus;
        j->reason = often ? "struck by faults more often than max_restarts" : sim_vain_job(r, j);
        sim_end_job(r, j, JOB_FAILED);
        return;
    }
    job_unplace(j);
    sched_requeue(r->sched, j, r->now);
    if (!outages_serve(r->outages, j)) sim_gone(r, j);
}

/* ---- the sinks ---- */

int sim_by_order(const void *a, const void *b)
{
    const struct job *x = *(struct job *const *)a, *y = *(struct job *const *)b;
    return (x->order > y->order) - (x->order < y->order);
}

void sim_tell_job(struct run *r, const struct job *j)
{
    if (j->replica) return; /* of a service, which has figures of its own */
    for (size_t i = 0; i < r->opt->n_sinks && r->rc == 0; i++) {
        const struct sink *s = &r->opt->sinks[i];
        const int rc = s->job ? s->job(s->self, r->plan, r->names, j, r->e) : 0;
        if (rc < 0) sim_fail(r, rc);
    }
}

void sim_tell_ended(struct run *r)
{
    if (r->ended.n > 1) qsort(r->ended.v, r->ended.n, sizeof *r->ended.v, sim_by_order);
    for (size_t i = 0; i < r->ended.n; i++) {
        sim_tell_job(r, r->ended.v[i]);
        elastic_drop(r->shapes, r->ended.v[i]);
        job_free(r->pool, r->ended.v[i]);
    }
    r->ended.n = 0;
}
