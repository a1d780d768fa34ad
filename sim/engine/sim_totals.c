/* The end of a run: who is left, whether every law of conservation held, and what it adds up to. */
#include "engine/sim_inside.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sim_tell_unfinished(struct run *r)
{
    VEC(struct job *) rest = { 0 };
    for (uint32_t i = 0; i < job_pool_high_water(r->pool); i++) {
        struct job *j = job_at(r->pool, i);
        if (j->state < JOB_COMPLETED) vec_push(&rest, j); /* freed ones have ended */
    }
    if (rest.n > 1) qsort(rest.v, rest.n, sizeof *rest.v, sim_by_order);
    for (size_t i = 0; i < rest.n; i++) {
        r->stay_ns += r->now - rest.v[i]->row.submit;
        if (rest.v[i]->state != JOB_QUEUED) sim_tell_stay(r, rest.v[i]);
        sim_tell_job(r, rest.v[i]);
    }
    if (rest.n != r->present && r->rc == 0)
        sim_fail(r, err_set(r->e, ERR_CHECK, NULL, "%llu jobs are present, %zu were found",
                            (unsigned long long)r->present, rest.n));
    vec_fini(&rest);
}

static bool differs(double a, double b)
{
    return fabs(a - b) > 1e-6 * fmax(1.0, fmax(fabs(a), fabs(b)));
}

/* P01, P02, P04, P07, P12 of USERS.md and exact Little. */
void sim_check_conservation(struct run *r)
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
    if (!residents_within_memory(r->residents)) law = "memory in use <= usable memory";
    if (!law && r->services) law = services_check(r->services, r->now);
    if (law && r->rc == 0)
        sim_fail(r, err_set(r->e, ERR_CHECK, NULL, "policy %s: conservation broken: %s",
                            r->plan->spec->name, law));
}

void sim_total_up(struct run *r)
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

void sim_totals_fini(struct sim_totals *t)
{
    symtab_destroy(t->names);
    for (size_t g = 0; t->group && g < t->n_groups; g++) free(t->group[g].level_ns);
    free(t->group);
    for (int by = 0; by < CHARGE_BYS; by++) free(t->tenant[by]);
    free(t->service);
    *t = (struct sim_totals){ 0 };
}
