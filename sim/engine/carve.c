#include "engine/carve.h"

#include "base/mem.h"
#include "engine/source.h"
#include "model/mig_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The same work, read ahead on its own: names and shapes of the run are not touched. */
struct ahead {
    struct symtab *names;
    struct shape_table *shapes;
    struct source *source;
    struct job_row row; /* the next one, if there is one */
    bool more;
};

/* Time and isolated work asked for, by kind of demand. */
struct tally {
    double time_s[MIG_KINDS], work_s[MIG_KINDS];
};

struct carver {
    const struct plan *plan;
    struct instance_rules rules; /* the same for every group but for the layout */
    struct ahead *ahead;         /* oracle */
    struct tally *arrived;       /* by group: in the period under way */
    struct tally *asked;         /* by group */
    struct mig_demand *demand;   /* by group: the same, for the planner */
    struct mig_state *state;     /* by card */
    struct mig_layout *layout;   /* by card */
    VEC(bool) met;               /* by account: scratch */
    simtime planned;             /* last */
    bool open;                   /* then nothing was asked for, and nothing is planned */
};

/* ---- what one job asks for ---- */

static double alone_on_slice(const struct plan_group *g, const struct share_ops *share,
                             const struct fit *fit)
{
    const int profile = fit->demand.mig_profile;
    const struct resident_view view = {
        .sig = &fit->sig,
        .demand = &fit->demand,
        .slice = profile < 0 ? NULL : &g->type.gpu->mig->profile[profile],
    };
    const struct share_view v = { .type = &g->type, .resident = &view, .n = 1 };
    double speed = 1;
    share->speeds(g->params, &v, &speed);
    return speed;
}

static int kind_of(const struct plan_group *g, const struct fit *fit)
{
    return fit->demand.mig_profile < 0 ? g->type.gpu->mig->n_profiles : fit->demand.mig_profile;
}

/* `work`: isolated, as recorded. The shortest job needs an instance as well: it counts a second. */
static void ask(const struct carver *c, struct tally *tally, const struct shape *s, simtime work)
{
    const double work_s = fmax(simtime_s(work), 1.0);
    const struct plan *p = c->plan;
    const double period_s = simtime_s(c->rules.period);
    double cards = 0;
    for (size_t g = 0; g < p->n_groups; g++)
        if (s->fit[g].feasible) cards += (double)p->group[g].cards;
    for (size_t g = 0; g < p->n_groups; g++) {
        const struct fit *fit = &s->fit[g];
        if (!fit->feasible || fit->demand.cards == 0) continue;
        const int kind = kind_of(&p->group[g], fit);
        const double share = (double)p->group[g].cards / cards;
        const double speed = alone_on_slice(&p->group[g], p->share, fit);
        const double all_s = work_s * fit->transfer / speed;
        const double time_s = fmin(all_s, period_s);
        tally[g].time_s[kind] += share * time_s * fit->demand.cards;
        tally[g].work_s[kind] += share * work_s * (time_s / all_s) * s->request.gpus_milli / 1000.0;
    }
}

/* An elastic job counts as what it asks for. */
static const struct shape *shape_asked(const struct job *j)
{
    return j->n_sizes ? j->asked : j->shape;
}

/* ---- reading ahead ---- */

/* What cannot be read is the run's to report, when it comes to that row. */
static void read_on(const struct carver *c, struct ahead *a)
{
    const simtime end = c->plan->scenario->horizon;
    a->more =
        source_next(a->source, &a->row, NULL) > 0 && (end == CFG_NO_TIME || a->row.submit < end);
}

static void ahead_destroy(struct ahead *a)
{
    if (!a) return;
    shape_table_destroy(a->shapes);
    source_close(a->source);
    symtab_destroy(a->names);
    free(a);
}

static struct ahead *ahead_create(const struct carver *c, uint64_t replication, int *rc,
                                  struct err *e)
{
    struct ahead *a = xcalloc(1, sizeof *a);
    a->names = symtab_create();
    *rc = source_open(&a->source, c->plan->scenario, replication, a->names, e);
    if (*rc != 0) {
        ahead_destroy(a);
        return NULL;
    }
    a->shapes = shape_table_create(c->plan, a->names);
    read_on(c, a);
    return a;
}

/* The arrivals after `now` up to `until`. */
static void look_ahead(const struct carver *c, simtime now, simtime until)
{
    struct ahead *a = c->ahead;
    for (; a->more && a->row.submit <= until; read_on(c, a)) {
        struct unknown_name unknown;
        if (a->row.submit <= now) continue; /* it is here by now */
        struct shape *s = shape_of(a->shapes, &a->row, &unknown);
        if (!s) continue;
        if (!s->rejected) ask(c, c->asked, s, a->row.duration);
        shape_drop(a->shapes, s);
    }
}

/* ---- life ---- */

struct carver *carver_create(const struct plan *plan, uint64_t replication, int *rc, struct err *e)
{
    struct instance_rules rules;
    *rc = 0;
    if (!plan->share->instances) return NULL;
    plan->share->instance_rules(plan->group[0].params, 0, &rules);
    if (rules.period == 0) return NULL;
    struct carver *c = xcalloc(1, sizeof *c);
    c->plan = plan;
    c->rules = rules;
    c->open = true;
    c->arrived = xcalloc(plan->n_groups, sizeof *c->arrived);
    c->asked = xcalloc(plan->n_groups, sizeof *c->asked);
    c->demand = xcalloc(plan->n_groups, sizeof *c->demand);
    c->state = xcalloc((size_t)plan->cards, sizeof *c->state);
    c->layout = xcalloc((size_t)plan->cards, sizeof *c->layout);
    if (rules.oracle) c->ahead = ahead_create(c, replication, rc, e);
    if (*rc == 0) return c;
    carver_destroy(c);
    return NULL;
}

void carver_destroy(struct carver *c)
{
    if (!c) return;
    ahead_destroy(c->ahead);
    free(c->arrived);
    free(c->asked);
    free(c->demand);
    free(c->state);
    free(c->layout);
    vec_fini(&c->met);
    free(c);
}

simtime carver_first(const struct carver *c)
{
    return c->ahead ? 0 : c->rules.period;
}

static bool nothing_asked(const struct carver *c)
{
    for (size_t g = 0; g < c->plan->n_groups; g++)
        for (int k = 0; k < MIG_KINDS; k++)
            if (c->asked[g].time_s[k] > 0) return false;
    return true;
}

static simtime periods_later(const struct carver *c, simtime n)
{
    const simtime period = c->rules.period;
    return n < (SIM_NEVER - 1 - c->planned) / period ? c->planned + n * period : SIM_NEVER;
}

simtime carver_next(const struct carver *c, simtime arrival)
{
    if (!c->open) return periods_later(c, 1);
    if (arrival == SIM_NEVER) return SIM_NEVER;
    /* Known ahead: the plan before it; else the one after it. */
    const simtime until = arrival - c->planned - (c->ahead != NULL);
    const simtime n = until / c->rules.period + (!c->ahead && until % c->rules.period > 0);
    return periods_later(c, n > 1 ? n : 1);
}

simtime carver_soon(const struct carver *c, simtime now)
{
    return c->open ? periods_later(c, (now - c->planned) / c->rules.period + 1) : SIM_NEVER;
}

void carver_arrived(struct carver *c, const struct job *j)
{
    if (!c->ahead) ask(c, c->arrived, shape_asked(j), j->row.duration);
}

/* ---- the plan ---- */

static void note_cards(struct carver *c, const struct cluster *cluster)
{
    for (int64_t i = 0; i < c->plan->cards; i++) {
        const struct card *card = cluster_card(cluster, (uint32_t)i);
        struct mig_state *s = &c->state[i];
        *s = (struct mig_state){ .on = card->mig->on,
                                 .whole = card->tenants > 0 && !card->mig->busy };
        if (card->out) *s = (struct mig_state){ .whole = true, .whole_s = INFINITY };
        if (card->out) continue;
        for (int k = 0; k < card->mig->n; k++) {
            s->slice[s->n] = card->mig->instance[k].slice;
            s->busy_s[s->n++] = card->mig->instance[k].busy ? 0 : -1;
        }
    }
}

/* How long a job will still hold what it holds, as things are. */
static double holds_s(const struct carver *c, const struct job *j, const struct evq *q, simtime now)
{
    if (j->replica) return INFINITY;
    if (j->finish < SIM_NEVER - 1) return simtime_s(j->finish > now ? j->finish - now : 0);
    const struct fit *fit = &j->shape->fit[j->group];
    const double starts_s = j->state == JOB_STARTING ? simtime_s(evq_when(q, j->event) - now) : 0;
    return starts_s +
           simtime_s(j->work_left) / alone_on_slice(&c->plan->group[j->group], c->plan->share, fit);
}

static void note_jobs(struct carver *c, const struct evq *q, const struct job_pool *jobs)
{
    const simtime now = c->planned;
    for (uint32_t i = 0; i < job_pool_high_water(jobs); i++) {
        const struct job *j = job_at(jobs, i);
        /* A replica of a service stays. */
        if (j->state == JOB_QUEUED)
            ask(c, c->asked, shape_asked(j), j->replica ? c->rules.period : j->remaining);
        if (j->state != JOB_STARTING && j->state != JOB_RUNNING) continue;
        const double left_s = j->n_holdings ? holds_s(c, j, q, now) : 0;
        for (int32_t k = 0; k < j->n_holdings; k++) {
            const struct holding *h = &j->holding[k];
            struct mig_state *s = &c->state[h->card];
            if (h->slice.profile < 0) s->whole_s = fmax(s->whole_s, left_s);
            for (int x = 0; h->slice.profile >= 0 && x < s->n; x++)
                if (s->slice[x].start == h->slice.start && s->busy_s[x] >= 0) s->busy_s[x] = left_s;
        }
    }
}

static void note_turn(struct carver *c, const struct job *j, enum mig_turn turn)
{
    for (size_t g = 0; g < c->plan->n_groups; g++) {
        const struct fit *fit = &j->shape->fit[g];
        if (fit->feasible && fit->demand.mig_profile >= 0)
            c->demand[g].turn[fit->demand.mig_profile] = turn;
    }
}

/* Whom nobody may hold up: the first of each account, and before them the head of the queue. */
static void note_turns(struct carver *c, struct sched *sched)
{
    c->met.n = 0;
    for (struct job *j = sched_next(sched, NULL); j; j = sched_next(sched, j)) {
        while (c->met.n <= j->account) vec_push(&c->met, false);
        if (!c->met.v[j->account]) note_turn(c, j, MIG_TURN);
        c->met.v[j->account] = true;
    }
    const struct job *head = sched_head(sched);
    if (head) note_turn(c, head, MIG_FIRST_TURN);
}

static void plan_group(struct carver *c, size_t g)
{
    const struct plan_group *pg = &c->plan->group[g];
    const struct mig_terms terms = { .period_s = simtime_s(c->rules.period),
                                     .repartition_s = simtime_s(c->rules.repartition),
                                     .mode_change_s = simtime_s(c->rules.mode_change) };
    const struct tally *t = &c->asked[g];
    struct mig_demand *d = &c->demand[g];
    for (int k = 0; k <= pg->type.gpu->mig->n_profiles; k++) {
        d->time_s[k] = t->time_s[k];
        d->worth[k] = t->time_s[k] > 0 ? t->work_s[k] / t->time_s[k] : 0;
    }
    mig_plan(pg->type.gpu->mig, &terms, d, c->state + pg->first_card, (size_t)pg->cards,
             c->layout + pg->first_card);
}

const struct mig_layout *carver_plan(struct carver *c, const struct evq *q,
                                     const struct cluster *cluster, struct sched *sched,
                                     const struct job_pool *jobs)
{
    const simtime now = evq_now(q);
    const simtime period = c->rules.period;
    memcpy(c->asked, c->arrived, c->plan->n_groups * sizeof *c->asked);
    memset(c->arrived, 0, c->plan->n_groups * sizeof *c->arrived);
    if (c->ahead) look_ahead(c, now, now < SIM_NEVER - period ? now + period : SIM_NEVER);
    const bool was_open = c->open;
    c->planned = now;
    c->open = sched_waiting(sched) == 0 && nothing_asked(c);
    if (c->open && was_open) return NULL;
    note_cards(c, cluster);
    note_jobs(c, q, jobs);
    memset(c->demand, 0, c->plan->n_groups * sizeof *c->demand);
    note_turns(c, sched);
    for (size_t g = 0; g < c->plan->n_groups; g++) plan_group(c, g);
    return c->layout;
}
