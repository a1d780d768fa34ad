#include "metrics/collect.h"

#include "metrics/dist.h"
#include "metrics/service_stats.h"
#include "metrics/stability.h"
#include "metrics/steady.h"
#include "model/price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One line of statistics: all jobs, a class, a user. */
struct tally {
    struct job_counts count;
    struct dist wait, turnaround, slowdown;
    uint64_t wait_censored, end_censored;
    double card_s, useful_s;
};

struct collect {
    const struct plan *plan;
    struct dist_pool pool;
    struct tally all, by_class[CLASS_COUNT];
    struct steady steady; /* waits, for output analysis */
    struct tally *by_user;
    size_t n_users;
    struct service_stats *services;
    /* by fleet group: card-seconds that billing steps add to what is held */
    double (*step_s)[USAGE_STEPS];
    size_t n_teams;
    uint64_t *by_team; /* jobs, by group symbol */
    bool keep;         /* percentiles of an unstable run */
    /* Commonest reason of rejection: reasons are constant texts or the shape's, told apart by
     * text. */
    VEC(struct reason {
        char text[120];
        uint64_t n;
    })
    reason;
};

static void tally_init(struct tally *t, struct dist_pool *pool)
{
    *t = (struct tally){ .wait.pool = pool, .turnaround.pool = pool, .slowdown.pool = pool };
}

static void tally_fini(struct tally *t)
{
    dist_fini(&t->wait);
    dist_fini(&t->turnaround);
    dist_fini(&t->slowdown);
}

struct collect *collect_create(const struct plan *plan)
{
    struct collect *c = xcalloc(1, sizeof *c);
    c->plan = plan;
    c->pool.budget = DIST_POOL_BYTES;
    c->services = service_stats_create(plan);
    c->step_s = xcalloc(plan->n_groups, sizeof *c->step_s);
    tally_init(&c->all, NULL);
    for (int k = 0; k < CLASS_COUNT; k++) tally_init(&c->by_class[k], &c->pool);
    return c;
}

void collect_keep_percentiles(struct collect *c)
{
    c->keep = true;
    service_stats_keep_percentiles(c->services);
}

void collect_destroy(struct collect *c)
{
    if (!c) return;
    service_stats_destroy(c->services);
    tally_fini(&c->all);
    for (int k = 0; k < CLASS_COUNT; k++) tally_fini(&c->by_class[k]);
    for (size_t i = 0; i < c->n_users; i++) tally_fini(&c->by_user[i]);
    free(c->by_user);
    free(c->step_s);
    free(c->by_team);
    vec_fini(&c->reason);
    free(c);
}

static struct tally *user_tally(struct collect *c, sym user)
{
    if (user >= c->n_users) {
        const size_t n = user + 1 > 2 * c->n_users ? user + 1 : 2 * c->n_users;
        c->by_user = xreallocarray(c->by_user, n, sizeof *c->by_user);
        for (size_t i = c->n_users; i < n; i++) tally_init(&c->by_user[i], &c->pool);
        c->n_users = n;
    }
    return &c->by_user[user];
}

static void count_state(struct job_counts *n, const struct job *j)
{
    n->submitted++;
    n->preemptions += (uint64_t)j->preemptions;
    n->resizes += (uint64_t)j->resizes;
    if (j->row.deadline != JOB_NO_TIME && j->state >= JOB_COMPLETED) {
        const bool met = j->state == JOB_COMPLETED && j->end <= j->row.deadline;
        met ? n->deadlines_met++ : n->deadlines_missed++;
    }
    switch (j->state) {
    case JOB_QUEUED: n->queued++; break;
    case JOB_STARTING:
    case JOB_RUNNING: n->running++; break;
    case JOB_COMPLETED: n->completed++; break;
    case JOB_FAILED:
        n->failed++;
        n->failed_oom += j->oom;
        break;
    case JOB_KILLED: n->killed++; break;
    case JOB_REJECTED: n->rejected++; break;
    }
}

/* Card time inside the window, so that the lines add up to the card time of all. */
static double window_card_s(const struct job *j, simtime warmup)
{
    return j->end != JOB_NO_TIME && j->end <= warmup ? 0 : j->card_s - j->card_s_before;
}

/* What a job adds to each line it is in. */
struct figures {
    bool covered; /* by the statistics: it was submitted after the warm-up and not rejected */
    bool started, completed;
    double wait_s, turnaround_s, slowdown, useful_s, card_s;
};

static struct figures figures_of(const struct job *j, simtime warmup)
{
    struct figures f = { .card_s = window_card_s(j, warmup),
                         .covered = j->row.submit >= warmup && j->state != JOB_REJECTED,
                         .started = j->start != JOB_NO_TIME,
                         .completed = j->state == JOB_COMPLETED };
    if (f.started) f.wait_s = (double)(j->start - j->row.submit) / 1e9;
    if (!f.completed) return f;
    const simtime turnaround = j->end - j->row.submit;
    /* Design section 7: slowdown = turnaround / max(duration, 1 s). */
    const simtime d = j->row.duration > SIM_SECOND ? j->row.duration : SIM_SECOND;
    f.turnaround_s = (double)turnaround / 1e9;
    f.slowdown = (double)turnaround / (double)d;
    f.useful_s = simtime_s(j->row.duration) * j->row.gpus_milli / 1000.0;
    return f;
}

static void tally_job(struct tally *t, const struct job *j, const struct figures *f)
{
    count_state(&t->count, j);
    t->card_s += f->card_s;
    if (!f->covered) return;
    if (f->started)
        dist_add(&t->wait, f->wait_s);
    else
        t->wait_censored++;
    if (!f->completed) {
        t->end_censored++;
        return;
    }
    dist_add(&t->turnaround, f->turnaround_s);
    dist_add(&t->slowdown, f->slowdown);
    t->useful_s += f->useful_s;
}

static void note_rejection(struct collect *c, const char *why)
{
    for (size_t i = 0; i < c->reason.n; i++)
        if (strncmp(c->reason.v[i].text, why, sizeof c->reason.v[i].text - 1) == 0) {
            c->reason.v[i].n++;
            return;
        }
    struct reason r = { .n = 1 };
    snprintf(r.text, sizeof r.text, "%s", why);
    vec_push(&c->reason, r);
}

/* What it held inside the window, each step begun counted as a whole one. */
static void round_up_to_steps(struct collect *c, const struct job *j, double held_s)
{
    if (j->group < 0 || !(held_s > 0) || j->allocated == JOB_NO_TIME || j->end == JOB_NO_TIME)
        return;
    const double ran_s = simtime_s(j->held + (j->end - j->allocated));
    for (int k = 0; ran_s > 0 && k < USAGE_STEPS; k++) {
        const double step = price_step_s[k], billed_s = ceil(ran_s / step - 1e-12) * step;
        c->step_s[j->group][k] += held_s * (billed_s / ran_s - 1);
    }
}

static void count_team(struct collect *c, sym team)
{
    if (team >= c->n_teams) {
        const size_t n = team + 1 > 2 * c->n_teams ? team + 1 : 2 * c->n_teams;
        c->by_team = xreallocarray(c->by_team, n, sizeof *c->by_team);
        memset(c->by_team + c->n_teams, 0, (n - c->n_teams) * sizeof *c->by_team);
        c->n_teams = n;
    }
    c->by_team[team]++;
}

static int on_job(void *self, const struct plan *plan, const struct symtab *names,
                  const struct job *j, struct err *e)
{
    struct collect *c = self;
    const struct figures f = figures_of(j, plan->scenario->warmup);
    (void)names, (void)e;
    tally_job(&c->all, j, &f);
    if (f.started) steady_add(&c->steady, j->row.submit, f.wait_s);
    tally_job(&c->by_class[j->row.klass], j, &f);
    tally_job(user_tally(c, j->row.user), j, &f);
    round_up_to_steps(c, j, f.card_s);
    count_team(c, j->row.group);
    if (j->state == JOB_REJECTED && j->reason) note_rejection(c, j->reason);
    return 0;
}

static void on_request(void *self, const struct plan *plan, size_t k, const struct request_end *q)
{
    const struct collect *c = self;
    (void)plan;
    service_stats_add(c->services, k, q);
}

struct sink collect_sink(struct collect *c)
{
    return (struct sink){ .self = c, .job = on_job, .request = on_request };
}

/* ---- the result ---- */

/* What a run that never settles would say of the steady state is nothing. */
static void suppress_percentiles(struct summary *s)
{
    s->p50 = s->p90 = s->p95 = s->p99 = NAN;
}

static struct job_stats stats_of(const struct collect *c, struct tally *t, bool stable)
{
    struct job_stats s;
    dist_stat(&t->wait, t->wait_censored, &s.wait_s);
    dist_stat(&t->turnaround, t->end_censored, &s.turnaround_s);
    dist_stat(&t->slowdown, t->end_censored, &s.slowdown);
    if (!c->keep) s.wait_s.p999 = s.turnaround_s.p999 = s.slowdown.p999 = NAN;
    if (!stable && !c->keep) {
        suppress_percentiles(&s.wait_s);
        suppress_percentiles(&s.turnaround_s);
        suppress_percentiles(&s.slowdown);
    }
    return s;
}

static struct job_group_result line_of(const struct collect *c, struct tally *t, const char *name,
                                       bool stable)
{
    return (struct job_group_result){ .name = name,
                                      .count = t->count,
                                      .stats = stats_of(c, t, stable),
                                      .gpu_hours = t->card_s / 3600,
                                      .useful_gpu_hours = t->useful_s / 3600 };
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct job_group_result *)a)->name,
                  ((const struct job_group_result *)b)->name);
}

static void lines(struct collect *c, const struct sim_totals *t, struct arena *a,
                  struct policy_result *out)
{
    struct job_group_result *klass = arena_array(a, CLASS_COUNT, sizeof *klass);
    struct job_group_result *user = arena_array(a, c->n_users + 1, sizeof *user);
    for (int k = 0; k < CLASS_COUNT; k++)
        if (c->by_class[k].count.submitted)
            klass[out->n_classes++] =
                line_of(c, &c->by_class[k], k ? job_class_names[k] : "(none)", out->stable);
    for (size_t i = 0; i < c->n_users; i++)
        if (c->by_user[i].count.submitted)
            user[out->n_users++] =
                line_of(c, &c->by_user[i],
                        i ? arena_strdup(a, symtab_name(t->names, (sym)i)) : "(none)", out->stable);
    qsort(user, out->n_users, sizeof *user, by_name);
    out->by_class = klass;
    out->by_user = user;
}

static int tenant_by_name(const void *a, const void *b)
{
    return strcmp(((const struct usage_tenant *)a)->name, ((const struct usage_tenant *)b)->name);
}

/* Levels of demand, at most about 200 of them: beyond that some are put together, at the
 * highest. */
static const struct demand_level *demand_of(const int64_t *level_ns, int64_t cards, struct arena *a,
                                            size_t *n)
{
    enum { LEVELS = 200 };
    const int64_t width = cards / LEVELS + 1;
    struct demand_level *d = arena_array(a, (size_t)(cards / width) + 2, sizeof *d);
    *n = 0;
    for (int64_t from = 0; from <= cards; from += width) {
        double ns = 0;
        int64_t top = 0;
        for (int64_t k = from; k <= cards && k < from + width; k++) {
            if (level_ns[k] == 0) continue;
            ns += (double)level_ns[k];
            top = k;
        }
        if (ns > 0) d[(*n)++] = (struct demand_level){ (double)top, ns / 3.6e12 };
    }
    return d;
}

static void fill_group(const struct collect *c, const struct sim_totals *t, size_t g, double hours,
                       struct arena *a, struct usage_group *x)
{
    const struct plan *p = c->plan;
    const double *s = t->group[g].card_s;
    const double all = (double)p->group[g].cards * hours - s[METER_ABSENT] / 3600;
    *x = (struct usage_group){
        .name = arena_strdup(a, p->group[g].spec->name),
        .gpu = p->group[g].type.gpu,
        .nodes = p->group[g].spec->nodes,
        .cards = p->group[g].cards,
        .allocated_h = s[METER_ALLOCATED] / 3600,
        .stranded_h = s[METER_STRANDED] / 3600,
        .down_h = s[METER_DOWN] / 3600,
        .absent_h = s[METER_ABSENT] / 3600,
        .context_h = s[METER_CONTEXT] / 3600,
        .sm_active_h = s[METER_SM] / 3600,
        .duty_h = p->share->keeps_duty ? s[METER_DUTY] / 3600 : NAN,
        .memory_h = s[METER_MEMORY] / 3600,
        .energy_kwh = t->group[g].energy_J / 3.6e6,
        .idle_energy_kwh = (t->group[g].energy_J - t->group[g].charged_J) / 3.6e6,
        .occupied_h = s[METER_OCCUPIED] / 3600,
    };
    x->free_h = fmax(0, all - x->allocated_h - x->stranded_h - x->down_h);
    x->no_context_h = fmax(0, all - x->down_h - x->context_h);
    x->idle_energy_kwh = fmax(0, x->idle_energy_kwh); /* rounding of the last bit */
    x->demand = demand_of(t->group[g].level_ns, p->group[g].cards, a, &x->n_demand);
    for (int k = 0; k < USAGE_STEPS; k++) x->step_h[k] = x->allocated_h + c->step_s[g][k] / 3600;
}

/* Lines of one kind, sorted by name. */
static const struct usage_tenant *tenants_by(const struct collect *c, const struct sim_totals *t,
                                             enum charge_by by, struct arena *a, size_t *n)
{
    struct usage_tenant *tenant = arena_array(a, t->n_tenants[by] + 1, sizeof *tenant);
    *n = 0;
    for (size_t i = 0; i < t->n_tenants[by]; i++) {
        const struct tenant_totals *x = &t->tenant[by][i];
        if (x->card_s == 0 && x->energy_J == 0) continue;
        const struct tally *of = by == BY_CLASS                    ? &c->by_class[i]
                                 : by == BY_USER && i < c->n_users ? &c->by_user[i]
                                                                   : NULL;
        tenant[(*n)++] = (struct usage_tenant){
            .name = by == BY_CLASS ? (i ? job_class_names[i] : "(none)")
                                   : arena_strdup(a, symtab_name(t->names, (sym)i)),
            .jobs = by == BY_CLASS                    ? of->turnaround.n
                    : of                              ? of->count.submitted
                    : by == BY_TEAM && i < c->n_teams ? c->by_team[i]
                                                      : 0,
            .allocated_h = x->card_s / 3600,
            .billed_h = x->bill_s / 3600,
            .useful_h = of ? of->useful_s / 3600 : 0,
            .energy_kwh = x->energy_J / 3.6e6,
        };
    }
    qsort(tenant, *n, sizeof *tenant, tenant_by_name);
    return tenant;
}

static void fill_usage(const struct collect *c, const struct sim_totals *t, struct arena *a,
                       struct policy_result *out)
{
    const struct plan *p = c->plan;
    struct usage *u = &out->usage;
    struct usage_group *group = arena_array(a, p->n_groups, sizeof *group);
    u->hours = out->window_s / 3600;
    for (size_t g = 0; g < p->n_groups; g++) fill_group(c, t, g, u->hours, a, &group[g]);
    u->group = group;
    u->n_groups = p->n_groups;
    u->tenant = tenants_by(c, t, BY_USER, a, &u->n_tenants);
    u->team = tenants_by(c, t, BY_TEAM, a, &u->n_teams);
    if (u->n_teams == 1 && u->team[0].name[0] == '\0') u->n_teams = 0; /* no job names a group */
    u->klass = tenants_by(c, t, BY_CLASS, a, &u->n_classes);
    u->jobs_completed = c->all.turnaround.n;
    u->useful_gpu_hours = out->useful_gpu_hours;
    for (size_t g = 0; g < p->n_groups; g++) u->gpu_hours += group[g].allocated_h;
    out->gpu_hours = u->gpu_hours;
}

static void fill_gpu(const struct collect *c, const struct sim_totals *t, struct policy_result *out)
{
    const struct plan *p = c->plan;
    struct gpu_result *g = &out->gpu;
    double sum[METERS] = { 0 }, energy_J = 0;
    double all = (double)p->cards * out->window_s;
    g->count = (uint64_t)p->cards;
    for (int k = 0; k < PREC_COUNT; k++) {
        g->effective_ops[k] = t->useful_ops[k] > 0 ? t->useful_ops[k] / out->window_s : NAN;
        g->peak_ops[k] = 0;
    }
    for (size_t i = 0; i < p->n_groups; i++) {
        for (int m = 0; m < METERS; m++) sum[m] += t->group[i].card_s[m];
        energy_J += t->group[i].energy_J;
        for (int k = 0; k < PREC_COUNT; k++)
            g->peak_ops[k] += p->group[i].type.gpu->peak[k].dense_ops * (double)p->group[i].cards;
    }
    all -= sum[METER_ABSENT];
    g->allocated = sum[METER_ALLOCATED] / all;
    g->duty = p->share->keeps_duty ? sum[METER_DUTY] / all : NAN;
    g->sm_active = sum[METER_SM] / all;
    g->memory = sum[METER_MEMORY] / all;
    g->stranded = sum[METER_STRANDED] / all;
    g->down = sum[METER_DOWN] / all;
    g->free_share = fmax(0, 1 - g->allocated - g->stranded - g->down);
    g->energy_kwh = energy_J / 3.6e6;
    g->fragmentation = t->fragmentation;
    g->effective_is_upper_bound = t->unknown_flops > 0;
}

static void fill_failures(const struct plan *p, const struct sim_totals *t,
                          struct policy_result *out)
{
    struct failure_result *f = &out->failures;
    for (size_t g = 0; g < p->n_groups; g++) {
        f->any |= p->group[g].spec->fails || p->group[g].spec->n_changes > 0;
        f->down_gpu_hours += t->group[g].card_s[METER_DOWN] / 3600;
        f->absent_gpu_hours += t->group[g].card_s[METER_ABSENT] / 3600;
    }
    f->card_faults = t->outages.card_faults;
    f->node_faults = t->outages.node_faults;
    f->rack_faults = t->outages.rack_faults;
    f->job_faults = t->outages.job_faults;
    f->jobs_struck = t->outages.struck;
    f->jobs_given_up = t->outages.gave_up;
    f->lost_gpu_hours = t->outages.lost_s / 3600;
}

void collect_result(struct collect *c, const struct sim_totals *t, struct arena *a,
                    struct policy_result *out)
{
    const struct plan *p = c->plan;
    const simtime warmup = p->scenario->warmup;
    *out = (struct policy_result){ .name = p->spec->name, .kind = p->share->name };
    out->window_s = simtime_s(t->end > warmup ? t->end - warmup : 0);
    out->end_s = simtime_s(t->end);
    out->events = t->events;
    out->trace_rows = t->rows;
    memcpy(out->provenance, p->provenance, sizeof out->provenance);
    out->param = p->param;
    out->n_params = p->n_params;
    const double waiting = t->rows ? (double)c->all.count.queued / (double)t->rows : 0;
    out->interrupted = t->interrupted;
    if (t->has_queue_batches)
        out->queue = stability_trend(t->queue_batch, QUEUE_MARKS - 1, t->queue_before, waiting);
    out->stable = !t->interrupted && stability_is_stable(&out->queue);
    if (t->interrupted)
        out->unstable_reason =
            arena_printf(a, "it was interrupted after %.3f h of simulated time", out->end_s / 3600);
    else if (!out->stable)
        out->unstable_reason = "the queue grew to the end of the run";
    steady_result(&c->steady, &out->steady);
    out->jobs = c->all.count;
    out->stats = stats_of(c, &c->all, out->stable);
    out->useful_gpu_hours = c->all.useful_s / 3600;
    fill_failures(p, t, out);
    out->migrations = (struct migration_result){ p->migrates, t->moves, t->moved_s / 3600 };
    lines(c, t, a, out);
    fill_usage(c, t, a, out);
    fill_gpu(c, t, out);
    service_stats_result(c->services, t, a, out);
    uint64_t most = 0;
    for (size_t i = 0; i < c->reason.n; i++)
        if (c->reason.v[i].n > most) {
            most = c->reason.v[i].n;
            out->rejected_reason = arena_strdup(a, c->reason.v[i].text);
        }
}
