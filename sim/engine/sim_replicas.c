/* What services ask of the run: replicas come, wait and go as jobs do. */
#include "engine/sim_inside.h"

#include "base/err.h"
#include "base/log.h"

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

/* service_calls.look */
static const struct shape *look_of(void *ctx, size_t service, size_t look)
{
    struct run *r = ctx;
    struct unknown_name unknown;
    struct job_row row;
    plan_look_row(r->plan, service, look, r->names, &row);
    const struct shape *shape = shape_of(r->shapes, &row, &unknown);
    if (!shape || shape->rejected) BUG("a service that the plan let through cannot run");
    return shape;
}

/* service_calls.submit */
static void submit(void *ctx, struct job *j)
{
    struct run *r = ctx;
    sched_submit(r->sched, j);
    if (r->outages && !outages_serve(r->outages, j)) sim_gone(r, j);
}

/* service_calls.retire */
static void retire(void *ctx, struct job *j)
{
    struct run *r = ctx;
    if (j->state == JOB_QUEUED) {
        sched_withdraw(r->sched, j);
        sched_wake(r->sched);
    } else {
        sim_release(r, j);
    }
    sim_end_job(r, j, JOB_COMPLETED);
}

static void service_failed(void *ctx, int rc)
{
    sim_fail(ctx, rc);
}

/* Groups of the fleet that would take a replica which then dies. */
static void say_where(const struct run *r)
{
    for (size_t k = 0; k < r->plan->n_services && !r->opt->mute; k++) {
        const struct plan_service *x = &r->plan->service[k];
        if (x->allowed)
            log_warn("policy %s: replicas of service %s go to %s alone: elsewhere %s",
                     r->plan->spec->name, x->spec->name, x->allowed, x->elsewhere);
    }
}

void sim_set_up_services(struct run *r)
{
    const struct service_calls calls = { .launch = launch,
                                         .submit = submit,
                                         .look = look_of,
                                         .retire = retire,
                                         .fail = service_failed };
    if (r->plan->n_services == 0) return;
    r->services =
        services_create(r->plan, r->opt, r->q, r->residents, KIND_SERVICE, &calls, r, r->e);
    if (!r->services) {
        sim_fail(r, (int)r->e->code);
        return;
    }
    say_where(r);
    services_start(r->services);
    evq_at(r->q, 0, EV_POLICY, KIND_LOOK, 0); /* replicas do not wait for the first event */
}

/* A run without a horizon: when jobs, or replicas of other services, wait or die for want of
 * memory while no job runs, nothing but services can be in their way, and those whose requests
 * are through go. True: some went. */
bool sim_services_make_way(struct run *r)
{
    if (!r->services || sim_horizon(r) != SIM_NEVER) return false;
    const bool lost = services_lost(r->services);
    const uint64_t waiting = sched_waiting(r->sched);
    if (waiting == 0 && !lost) return false;
    if (!services_may_leave(r->services)) return sim_after_look(r);
    if (r->present - waiting > services_placed(r->services)) return false;
    services_leave(r->services, r->now);
    sched_wake(r->sched);
    return true;
}
