#include "engine/sim_inside.h"

#include "base/err.h"

#include <stdlib.h>

enum { SERIES_ROWS = 100000 }; /* the series' interval doubles whenever this many were written */

/* ---- planned layouts ---- */

static void carve(struct run *r, uint32_t card, const struct mig_layout *layout)
{
    if (cluster_is_carved(r->cluster, card, layout)) return;
    const simtime delay = sched_carve(r->sched, r->now, card, layout);
    if (delay > 0) evq_at(r->q, sim_later(r->now, delay), EV_POLICY, KIND_CARVED, card);
    residents_look(r->residents, card, r->now);
}

static void plan_layouts(struct run *r)
{
    const struct mig_layout *layout = carver_plan(r->carver, r->q, r->cluster, r->sched, r->pool);
    for (int64_t i = 0; layout && i < r->plan->cards; i++) carve(r, (uint32_t)i, &layout[i]);
    if (layout) sched_wake(r->sched);
    const simtime next = carver_next(r->carver, r->more ? r->next.submit : SIM_NEVER);
    r->planning = evq_at(r->q, next, EV_POLICY, KIND_PLAN, 0);
}

/* Nothing was asked for last, but now somebody waits until the next instant. */
static void plan_soon(struct run *r)
{
    if (!r->carver || sched_waiting(r->sched) == 0 || evq_peek(r->q) == r->now) return;
    const simtime soon = carver_soon(r->carver, r->now);
    if (soon < evq_when(r->q, r->planning)) evq_move(r->q, r->planning, soon);
}

static void carved(struct run *r, uint32_t card)
{
    sched_carved(r->sched, card);
    residents_look(r->residents, card, r->now);
    sched_wake(r->sched);
}

/* ---- the loop ---- */

static void card_finished(struct run *r, uint32_t card)
{
    r->done.n = 0;
    residents_done(r->residents, card, r->now, &r->done);
    for (size_t i = 0; i < r->done.n; i++) {
        struct job *j = r->done.v[i];
        if (j->replica)
            services_done(r->services, j, r->now);
        else
            sim_finish(r, j);
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
    case KIND_JOB_FINISH: sim_finish(r, job_at(r->pool, ev->arg)); break;
    case KIND_ARRIVAL: sim_arrive(r); break;
    case KIND_READY: sim_begin(r, job_at(r->pool, ev->arg)); break;
    case KIND_GROW:
        if (!residents_grow(r->residents, job_at(r->pool, ev->arg), r->now))
            sim_out_of_memory(r, job_at(r->pool, ev->arg));
        break;
    case KIND_LIMIT: sim_killed(r, job_at(r->pool, ev->arg)); break;
    case KIND_LOOK: sched_wake(r->sched); break;
    case KIND_UNIT:
        outages_unit(r->outages, ev->arg, r->now);
        sim_after_fault(r);
        break;
    case KIND_CHANGE: outages_change(r->outages, ev->arg, r->now); break;
    case KIND_CRASH:
        outages_crash(r->outages, job_at(r->pool, ev->arg), r->now);
        sim_after_fault(r);
        break;
    case KIND_PLAN: plan_layouts(r); break;
    case KIND_CARVED: carved(r, ev->arg); break;
    case KIND_WARM: sim_warm(r); break;
    case KIND_MARK: sim_mark(r); break;
    case KIND_SAMPLE:
        sim_sample(r);
        if (++r->samples % SERIES_ROWS == 0) r->interval *= 2;
        if (r->now < SIM_NEVER - 1)
            evq_at(r->q, sim_later(r->now, r->interval), EV_SAMPLE, KIND_SAMPLE, 0);
        break;
    case KIND_STOP: r->stopped = true; break;
    case KIND_SERVICE: break;
    }
}

/* Wake the scheduler when the order changes by itself. */
static void look_ahead(struct run *r)
{
    const simtime at = sched_look(r->sched);
    if (evq_is_pending(r->q, r->look) && evq_when(r->q, r->look) == at) return;
    evq_cancel(r->q, r->look);
    if (at == SIM_NEVER) return;
    r->look = evq_at(r->q, at > r->now ? at : r->now, EV_POLICY, KIND_LOOK, 0);
}

static void advance_clock(struct run *r, simtime when)
{
    const wide elapsed = when - r->now;
    if (elapsed == 0) {
        r->out->ties++;
        return;
    }
    sim_tell_ended(r);
    r->present_ns += (wide)r->present * elapsed;
    r->waiting_ns += (wide)sched_waiting(r->sched) * elapsed;
    r->now = when;
}

/* Is there anything left to happen? Replicas alone stand for ever. */
static bool goes_on(const struct run *r)
{
    if (sim_horizon(r) != SIM_NEVER || r->more) return true;
    if (!r->services) return r->present > 0;
    return r->present > services_standing(r->services) || !services_idle(r->services);
}

/* Asked once in so many events that it costs nothing, and soon enough for whoever waits. */
static bool told_to_stop(struct run *r)
{
    enum { EVENTS = 1024 };
    if (!r->opt->stop || r->out->events % EVENTS != 0 || !r->opt->stop()) return false;
    r->out->interrupted = true;
    return true;
}

/* In a big fleet each card is met cold: fetch the one whose turn is next while this event is
 * handled. */
static void fetch_next(const struct run *r)
{
    enum { CACHED_CARDS = 1000 }; /* with their jobs, about 1 MB */
    uint16_t kind;
    uint32_t card;
    if (r->plan->cards <= CACHED_CARDS) return;
    if (evq_next(r->q, &kind, &card) && kind == KIND_CARD_FINISH)
        residents_expect(r->residents, card);
}

static void loop(struct run *r)
{
    struct event ev;
    while (!r->stopped && goes_on(r) && !told_to_stop(r) && evq_pop(r->q, &ev)) {
        r->out->events++;
        fetch_next(r);
        advance_clock(r, ev.when);
        handle(r, &ev);
        /* Whoever may start does so once the instant's ends, faults and arrivals are through. */
        do
            while (!r->stopped && sched_needs_run(r->sched) && evq_peek(r->q) > r->now) {
                sched_run(r->sched, r->now);
                sim_settle_preempted(r);
                look_ahead(r);
            }
        while (r->services && !r->stopped && evq_peek(r->q) > r->now && sim_services_make_way(r));
        plan_soon(r);
    }
    if (r->services && r->rc == 0 && sim_horizon(r) == SIM_NEVER && !r->out->interrupted)
        services_stop(r->services, r->now);
    sim_tell_ended(r);
}

/* ---- the whole of it ---- */

static void set_up(struct run *r)
{
    const struct scenario *s = r->plan->scenario;
    r->pool = job_pool_create();
    r->shapes = shape_table_create(r->plan, r->names);
    r->cluster = cluster_create(r->plan);
    r->q = evq_create(1024);
    r->residents = residents_create(r->plan, r->cluster, r->q, KIND_CARD_FINISH);
    r->sched = sched_create(r->plan, r->cluster, r->names,
                            &(struct sched_calls){ .start = sim_start,
                                                   .drop = sim_drop,
                                                   .stop = sim_stop,
                                                   .resize = sim_resize,
                                                   .lift = sim_lift,
                                                   .set_down = sim_set_down },
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
                                                      .strike = sim_strike,
                                                      .give_up = sim_gone,
                                                      .ctx = r });
    r->before = xcalloc(r->plan->n_groups, sizeof *r->before);
    r->frag_stride = 1;
    r->interval = r->opt->sample;
    r->warm = s->warmup == 0;
    if (!r->warm) evq_at(r->q, s->warmup, EV_SAMPLE, KIND_WARM, 0);
    if (r->opt->sample) evq_at(r->q, r->opt->sample, EV_SAMPLE, KIND_SAMPLE, 0);
    if (r->carver) r->planning = evq_at(r->q, carver_first(r->carver), EV_POLICY, KIND_PLAN, 0);
    if (sim_horizon(r) == SIM_NEVER) return;
    evq_at(r->q, sim_horizon(r), EV_STOP, KIND_STOP, 0);
    evq_at(r->q, sim_mark_time(r, 0), EV_SAMPLE, KIND_MARK, 0);
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
    vec_fini(&r->done);
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
    sim_set_up_services(&r);
    if (r.rc == 0) sim_fetch(&r);
    loop(&r);
    if (r.rc == 0) {
        residents_settle_all(r.residents, r.now);
        if (!r.warm) sim_warm(&r); /* the work ended before the warm-up: nothing counts */
        if (r.opt->sample) sim_sample(&r);
        sim_tell_unfinished(&r);
        sim_check_conservation(&r);
        sim_total_up(&r);
        sim_warn_of_quotas(&r);
    }
    if (r.rc == 0 && r.present > 0 && sim_horizon(&r) == SIM_NEVER && !out->interrupted)
        r.rc = err_set(e, ERR_CHECK, NULL, "policy %s: %llu jobs wait for ever", plan->spec->name,
                       (unsigned long long)r.present);
    tear_down(&r);
    if (r.rc != 0) sim_totals_fini(out);
    return r.rc;
}
