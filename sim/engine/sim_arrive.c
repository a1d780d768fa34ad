/* Jobs arrive: a row becomes a job that waits, or is turned away. */
#include "engine/sim_inside.h"

#include "base/log.h"
#include "engine/elastic.h"

void sim_fetch(struct run *r)
{
    const int rc = source_next(r->source, &r->next, r->e);
    if (rc < 0) {
        sim_fail(r, rc);
        return;
    }
    /* Rows come sorted, so the first one beyond the horizon ends the arrivals. */
    r->more = rc > 0 && r->next.submit < sim_horizon(r);
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
        if (r->opt->mute) return;
        log_warn("policy %s: jobs like %.*s need %.1f GiB; %s", r->plan->spec->name,
                 (int)r->next.id_len, r->next.id, (double)d->alloc_bytes / 0x1p30,
                 over_limit ? "their limit is lower: they will run out of memory"
                            : "a card full of them holds less: some may run out of memory");
    }
}

void sim_arrive(struct run *r)
{
    struct unknown_name unknown;
    struct shape *shape = shape_of(r->shapes, &r->next, &unknown);
    if (!shape) {
        sim_fail(r, source_row_error(r->source, unknown.column, r->e, unknown.why));
        return;
    }
    char why[256];
    const char *unknown_account = sched_unknown(r->sched, &r->next, why, sizeof why);
    if (unknown_account) {
        sim_fail(r, source_row_error(r->source, "group", r->e, unknown_account));
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
        sim_end_job(r, j, JOB_REJECTED);
    } else {
        if (shape->submitted == 1) warn_of_memory(r, shape);
        sched_submit(r->sched, j);
        if (r->outages && !outages_serve(r->outages, j))
            sim_gone(r, j);
        else if (r->carver)
            carver_arrived(r->carver, j);
    }
    sim_fetch(r);
}

void sim_warn_of_quotas(const struct run *r)
{
    char why[400];
    const char *unmet = sched_unmet(r->sched, why, sizeof why);
    if (unmet && !r->opt->mute && !r->out->interrupted)
        log_warn("policy %s: %s", r->plan->spec->name, unmet);
}
