/* Jobs come onto cards: from the queue, or from other cards. */
#include "engine/sim_inside.h"

#include <math.h>

void sim_begin(struct run *r, struct job *j)
{
    j->state = JOB_RUNNING;
    if (j->n_holdings == 0) {
        j->finish = sim_later(r->now, j->work_left);
        j->event = evq_at(r->q, j->finish, EV_FINISH, KIND_JOB_FINISH, j->index);
        return;
    }
    if (!residents_begin(r->residents, j, r->now)) {
        sim_out_of_memory(r, j);
        return;
    }
    if (j->replica) {
        services_ready(r->services, j, r->now);
        return;
    }
    if (j->shape->sig.mem_grow > 0)
        j->event =
            evq_at(r->q, sim_later(r->now, j->shape->sig.mem_grow), EV_POLICY, KIND_GROW, j->index);
}

static simtime startup(const struct run *r, const struct job *j)
{
    const struct plan_group *g = &r->plan->group[j->group];
    if (!r->plan->share->startup || j->n_holdings == 0) return 0;
    const int32_t there = cluster_card(r->cluster, j->holding[0].card)->tenants - 1;
    return r->plan->share->startup(g->params, &g->type, (size_t)there);
}

/* sched_calls.start: the job has been placed. */
void sim_start(void *ctx, struct job *j, const struct pick *p)
{
    struct run *r = ctx;
    const struct fit *fit = &j->shape->fit[j->group];
    const int32_t n = (int32_t)p->card.n;
    simtime ready = sim_later(r->now, p->prepare);
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
    ready = sim_later(ready, startup(r, j));
    if (j->replica) ready = sim_later(ready, services_start_up(j));
    if (j->attempts > 1 && !j->replica) ready = sim_later(ready, r->plan->restart);
    if (r->plan->limits_kill && j->row.walltime != JOB_NO_TIME) {
        const simtime used = j->held - j->forgiven;
        const simtime rest = j->n_sizes               ? job_limit(j)
                             : j->row.walltime > used ? j->row.walltime - used
                                                      : 0;
        j->limit = evq_at(r->q, sim_later(r->now, rest), EV_POLICY, KIND_LIMIT, j->index);
    }
    if (r->outages) {
        const simtime crash = outages_crash_after(r->outages, j);
        if (crash != SIM_NEVER)
            j->crash = evq_at(r->q, sim_later(r->now, crash), EV_FAULT, KIND_CRASH, j->index);
    }
    if (n) residents_hold(r->residents, j, r->now, ready > r->now);
    if (ready == r->now)
        sim_begin(r, j);
    else
        j->event = evq_at(r->q, ready, EV_POLICY, KIND_READY, j->index);
}

/* sched_calls.lift and .set_down: it moves. What it has done goes with it, but is no safer than
 * before: a checkpoint is. */
void sim_lift(void *ctx, struct job *j)
{
    struct run *r = ctx;
    const struct place_request request = sched_request(r->plan, j, j->group);
    sched_pick_of(j, &r->pick);
    cluster_give(r->cluster, &request, &r->pick);
    residents_leave(r->residents, j, r->now);
    sim_tell_stay(r, j);
}

void sim_set_down(void *ctx, struct job *j, const struct pick *p)
{
    struct run *r = ctx;
    const struct place_request request = sched_request(r->plan, j, j->group);
    const double bytes = (double)j->shape->fit[j->group].demand.alloc_bytes;
    const double copy_ns = isnan(r->plan->migrate_Bps) ? 0 : 1e9 * bytes / r->plan->migrate_Bps;
    const simtime ready =
        sim_later(sim_later(r->now, sim_later(r->plan->migrate_pause, p->prepare)),
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
    j->forgiven += ready - r->now; /* the pause is not its own */
    if (evq_is_pending(r->q, j->limit))
        evq_move(r->q, j->limit, sim_later(evq_when(r->q, j->limit), ready - r->now));
    residents_hold(r->residents, j, r->now, ready > r->now);
    if (ready == r->now)
        sim_begin(r, j);
    else
        j->event = evq_at(r->q, ready, EV_POLICY, KIND_READY, j->index);
}
