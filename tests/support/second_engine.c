#include "support/second_inside.h"

#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- jobs begin and end ---- */

/* It gives back all that it has. */
static void give_back(struct engine *e, int job)
{
    struct life *l = &e->life[job];
    second_drop(&e->now, job);
    second_held(e, job);
    l->on = l->working = false;
    l->bytes = 0;
    if (l->job->start > e->clock) l->job->start = JOB_NO_TIME; /* what it needs was not there yet */
}

static void leave(struct engine *e, int job, enum job_state state)
{
    struct life *l = &e->life[job];
    give_back(e, job);
    e->news = true;
    l->job->state = state;
    l->job->end = e->clock;
}

void second_take_off(struct engine *e, int job)
{
    e->life[job].held += e->clock - e->life[job].allocated;
    give_back(e, job);
}

void second_off(struct engine *e, int job)
{
    struct life *l = &e->life[job];
    simtime left, safe;
    second_progress(e, job, &left, &safe);
    if (left < l->remaining) l->remaining = left;
    second_take_off(e, job);
}

void second_stop(struct engine *e, int job)
{
    struct life *l = &e->life[job];
    simtime left, safe;
    second_progress(e, job, &left, &safe);
    if (l->job->duration - safe < l->remaining) l->remaining = l->job->duration - safe;
    second_take_off(e, job);
    l->job->state = JOB_QUEUED;
    second_enqueue(e, job);
}

/* Bytes of a card that nobody has; those beyond the card lie on the host. */
static uint64_t free_bytes(const struct engine *e, int card)
{
    uint64_t used = 0;
    const uint64_t usable = second_group_of_card(e, card)->type.gpu->usable_bytes;
    for (int k = 0; k < e->now.n; k++)
        if (second_holds_card(&e->now.at[k], card)) used += e->life[e->now.job[k]].bytes;
    return used < usable ? usable - used : 0;
}

/* Its memory: all of its cards or the job fails, unless what does not fit is swapped. */
static void begin(struct engine *e, int job)
{
    struct life *l = &e->life[job];
    const struct demand *d = second_demand_of(e, job, l->at.group);
    const struct plan_group *g = &e->plan->group[l->at.group];
    const uint64_t context = g->type.context_bytes;
    const uint64_t stated = d->alloc_bytes > context ? d->alloc_bytes - context : 0;
    bool fits = stated <= d->limit_bytes;
    const struct share_ops *share = e->plan->share;
    const bool swaps = share->swaps && share->swaps(g->params);
    for (int i = 0; i < l->at.n && !swaps; i++)
        fits &= d->alloc_bytes <= free_bytes(e, l->at.card[i]);
    l->working = true;
    if (l->at.n == 0) return;
    if (fits) {
        l->bytes = d->alloc_bytes;
        return;
    }
    l->job->oom = e->failed = true;
    leave(e, job, JOB_FAILED);
}

/* Its cards as in jobs.csv. */
static void name_cards(const struct engine *e, int job)
{
    const struct life *l = &e->life[job];
    l->job->where[0] = '\0';
    for (int i = 0; i < l->at.n; i++) {
        char name[256];
        const size_t len = strlen(l->job->where);
        plan_card_name(e->plan, (uint32_t)l->at.card[i], name, sizeof name);
        snprintf(l->job->where + len, sizeof l->job->where - len, "%s%s", i ? " " : "", name);
    }
    if (l->at.slice.profile >= 0) {
        const size_t len = strlen(l->job->where);
        snprintf(l->job->where + len, sizeof l->job->where - len, ":%s@%d",
                 e->plan->group[l->at.group].type.gpu->mig->profile[l->at.slice.profile].name,
                 l->at.slice.start);
    }
}

/* The slowest of the wires that it crosses. */
double second_wires(const struct engine *e, const struct place *at)
{
    const struct plan_group *g = &e->plan->group[at->group];
    double slowest = 1;
    for (int i = 1; i < at->n; i++) {
        const int64_t a = at->card[0] - g->first_card, b = at->card[i] - g->first_card;
        const int64_t rack = g->spec->nodes_per_rack; /* of real nodes */
        if (a / g->domain != b / g->domain) slowest = fmin(slowest, g->spec->cross_domain_speed);
        if (rack != CFG_NO_INT && a / g->real_per_node / rack != b / g->real_per_node / rack)
            slowest = fmin(slowest, g->spec->cross_rack_speed);
    }
    return slowest;
}

void second_start(struct engine *e, int job, const struct place *at)
{
    struct life *l = &e->life[job];
    const struct share_ops *share = e->plan->share;
    const struct plan_group *g = &e->plan->group[at->group];
    l->waiting = false;
    l->on = true;
    l->at = *at;
    l->wires = second_wires(e, at);

    l->job->state = JOB_RUNNING;
    l->allocated = e->clock;
    l->ready = e->clock + second_prepare(e, at);
    l->sequence = ++e->starts;
    e->begun++;
    l->job->attempts++;
    if (l->job->start == JOB_NO_TIME) l->job->start = l->ready;
    if (share->startup && at->n > 0)
        l->ready += share->startup(g->params, &g->type,
                                   (size_t)second_room_on(e, &e->now, at->card[0]).tenants);
    if (l->job->attempts > 1) l->ready += e->plan->restart;
    second_carve(e, at);
    second_put(&e->now, job, at);
    l->promised = l->job->limit == JOB_NO_TIME ? SIM_NEVER : e->clock + second_limit(e, job);
    l->from = l->remaining;
    l->line = second_line(e, job);
    l->left = (long double)l->line;
    l->held_size = l->at_size;
    l->scale = l->wish[at->group].transfer * second_stretch(l);
    if (l->scale != 1.0) l->left = roundl((long double)((double)l->line * l->scale));
    name_cards(e, job);
    second_fault_started(e, job);
    if (l->ready == e->clock) begin(e, job);
}

void second_lift(struct engine *e, int job)
{
    struct life *l = &e->life[job];
    l->working = false;
    l->bytes = 0;
    second_drop(&e->now, job);
}

void second_set_down(struct engine *e, int job, const struct place *at)
{
    struct life *l = &e->life[job];
    const struct plan *p = e->plan;
    const double bytes = (double)second_demand_of(e, job, at->group)->alloc_bytes;
    l->at = *at;
    l->wires = second_wires(e, at);
    l->job->moves++;
    l->sequence = ++e->starts;
    l->ready = e->clock + p->migrate_pause + second_prepare(e, at);
    if (!isnan(p->migrate_Bps)) l->ready += llround(1e9 * bytes / p->migrate_Bps);
    l->excused += l->ready - e->clock;
    second_carve(e, at);
    second_put(&e->now, job, at);
    name_cards(e, job);
    if (l->ready == e->clock) begin(e, job);
}

/* ---- who starts ---- */

struct reserved {
    simtime when;
    int head;
    struct place at;
    struct view then; /* who is there at that time, the head among them */
};

static bool place_head(const struct engine *e, struct reserved *r)
{
    if (!second_find(e, &r->then, NULL, r->head, e->like, &r->at)) return false;
    second_prefer(e, &r->then, &e->now, false, r->head, &r->at);
    second_put(&r->then, r->head, &r->at);
    return true;
}

/* Let what is being made be there, those who run end at their limits, and what is repaired come
 * back, until the head fits. */
static bool reserve(const struct engine *e, int head, struct reserved *out)
{
    out->head = head;
    out->then = e->now;
    out->then.later = true;
    out->when = second_made(e);
    if (out->when > e->clock && place_head(e, out)) return true;
    for (;;) {
        simtime next = second_next_back(e, out->then.by);
        for (int k = 0; k < out->then.n; k++) {
            const simtime end = e->life[out->then.job[k]].promised;
            if (end < next) next = end;
        }
        if (next == SIM_NEVER) break;
        out->when = next > e->clock ? next : e->clock; /* who overran ends at any moment */
        for (int j = 0; j < e->n; j++)
            if (e->life[j].on && e->life[j].promised <= out->when) second_drop(&out->then, j);
        out->then.by = out->when;
        if (place_head(e, out)) return true;
    }
    /* It waits for what nobody knows when it comes back: nobody delays it until then. */
    out->when = SIM_NEVER;
    return out->then.n == 0 && second_is_short(e);
}

/* A job would outlast the reservation: a place beside the head's, or another place for the head. */
static bool beside(const struct engine *e, struct reserved *r, int job, struct place *at)
{
    struct place moved;
    if (e->plan->share->instances) return false;
    if (second_holds(e, &r->then, job, at)) return true;
    second_drop(&r->then, r->head);
    if (second_holds(e, &r->then, job, at)) {
        second_put(&r->then, job, at);
        const bool fits = second_find(e, &r->then, NULL, r->head, e->like, &moved);
        second_drop(&r->then, job);
        if (fits) r->at = moved;
        second_put(&r->then, r->head, &r->at);
        if (fits) return true;
    } else {
        second_put(&r->then, r->head, &r->at);
    }
    return second_find(e, &e->now, &r->then, job, SECOND_TIGHTEST, at);
}

/* A job that outlasts the reservation leaves the head its quota as well. */
static bool may_beside(const struct engine *e, int head, int job)
{
    struct view with = e->now;
    const struct place nowhere = { 0 };
    second_put(&with, head, &nowhere);
    return second_may(e, &with, job);
}

static void easy(struct engine *e, int head)
{
    struct reserved r;
    struct place at;
    if (!reserve(e, head, &r)) return;
    second_walk(e);
    for (int j = second_step(e); j >= 0; j = second_step(e)) {
        struct life *l = &e->life[j];
        if (j == head) continue;
        if (!second_may(e, &e->now, j)) {
            second_leave(e, j);
            continue;
        }
        if (l->job->limit == JOB_NO_TIME || !second_find_size(e, &e->now, j, true, &at)) continue;
        const bool brief = second_end(e, j, &at) <= r.when;
        if (brief)
            second_prefer(e, &e->now, &r.then, false, j, &at);
        else if (!may_beside(e, head, j) || !beside(e, &r, j, &at)) {
            second_be(e, j, 0);
            continue;
        }
        if (!brief) second_put(&r.then, j, &at);
        second_start(e, j, &at);
        if (!brief && !l->on) second_drop(&r.then, j); /* out of memory at once */
    }
}

static void schedule(struct engine *e)
{
    struct place at;
    int head = -1;
    second_look(e);
    if (e->plan->preempts) {
        e->plan->replaces ? second_replace(e) : second_preempt(e);
        if (second_resize(e)) e->failed = e->news = true;
        return;
    }
    if (e->plan->reclaims) second_reclaim(e);
    while (e->plan->backfill != BACKFILL_GREEDY && (head = second_head(e)) >= 0)
        if (second_find_size(e, &e->now, head, true, &at))
            second_start(e, head, &at);
        else if (!(e->plan->migrates && second_defrag(e, head)) && !second_resize(e))
            break;
    if (e->plan->backfill != BACKFILL_GREEDY && head < 0) second_resize(e);
    if (head >= 0 && e->plan->backfill == BACKFILL_EASY) easy(e, head);
    if (head >= 0 && e->plan->backfill == BACKFILL_CONSERVATIVE) second_conservative(e);
    if (e->plan->backfill != BACKFILL_GREEDY) return;
    second_walk(e);
    for (int j = second_step(e); j >= 0; j = second_step(e))
        if (!second_may(e, &e->now, j))
            second_leave(e, j);
        else if (second_find_size(e, &e->now, j, true, &at))
            second_start(e, j, &at);
    if (second_resize(e)) e->failed = e->news = true;
}

/* ---- arrivals ---- */

static void transfer(struct wish *w, const struct gpu_spec *from, const struct gpu_spec *to)
{
    const int p = w->sig.precision;
    const double compute = w->sig.compute * from->peak[p].dense_ops / to->peak[p].dense_ops;
    const double memory = w->sig.memory * from->mem_Bps / to->mem_Bps;
    w->transfer = w->sig.host + compute + memory;
    w->sig.host /= w->transfer;
    w->sig.compute = compute / w->transfer;
    w->sig.memory = memory / w->transfer;
    w->sig.launches_per_s /= w->transfer;
    w->sig.allocs_per_s /= w->transfer;
    w->sig.syncs_per_s /= w->transfer;
    w->sig.pcie_Bps /= w->transfer;
}

void second_wishes(struct engine *e, int job)
{
    const struct plan *p = e->plan;
    struct life *l = &e->life[job];
    const struct second_job *j = l->job;
    const struct view empty = { .bare = true, .by = SIM_NEVER };
    const double width = j->gpus_milli == 0 || j->gpus_milli >= 1000 ? 1.0 : j->gpus_milli / 1000.0;
    struct signature sig = j->profile ? *plan_signature(p, j->profile) : signature_default();
    if (isnan(sig.sm_width)) sig.sm_width = width;
    if (isnan(sig.bw_width)) sig.bw_width = width;
    bool one_node = false;
    for (size_t g = 0; g < p->n_groups; g++) {
        struct wish *w = &l->wish[g];
        struct place at;
        *w = (struct wish){ .sig = sig, .transfer = 1.0 };
        const struct gpu_spec *here = p->group[g].type.gpu;
        const struct gpu_spec *recorded =
            j->model ? gpu_find(p->world->gpus, j->model, NULL) : here;
        if (recorded != here) transfer(w, recorded, here);
        const struct request request = { .gpus_milli = j->gpus_milli,
                                         .slots = j->slots,
                                         .sig = &w->sig,
                                         .bytes = j->bytes != JOB_NO_BYTES ? j->bytes
                                                                           : sig.footprint_bytes };
        w->possible =
            !p->share->demand(p->group[g].params, &p->group[g].type, &request, &w->demand);
        if (p->share->one_owner && p->share->one_owner(p->group[0].params))
            w->demand.owner = (uint32_t)j->user + 1;
        const struct ask a = { &empty, NULL, job, (int)g, SECOND_FIRST };
        w->possible = w->possible && second_find_in(e, &a, &at);
        one_node |= w->possible && w->demand.cards <= p->group[g].per_node;
    }
    /* A gang goes to one node if a node of any group can hold it. */
    for (size_t g = 0; g < p->n_groups && !e->any_node; g++)
        if (one_node && l->wish[g].demand.cards > p->group[g].per_node) l->wish[g].possible = false;
}

static void meet(struct engine *e, int user)
{
    for (int i = 0; i < e->n_accounts; i++)
        if (e->account[i] == user) return;
    e->account[e->n_accounts++] = user;
}

static void arrive(struct engine *e, int job)
{
    struct life *l = &e->life[job];
    struct second_job *j = l->job;
    bool possible = false;
    second_wishes(e, job);
    second_sizes(e, job);
    for (size_t g = 0; g < e->plan->n_groups; g++) possible |= l->wish[g].possible;
    if (possible) meet(e, j->user);
    if (!possible || second_refuses(e, job) || !second_admits(e, job)) {
        j->state = JOB_REJECTED;
        j->end = e->clock;
        return;
    }
    second_fgd_submitted(e, job);
    second_enqueue(e, job);
    e->news = true;
    second_give_up(e);
    l->came = l->waiting;
}

/* ---- progress ---- */

/* The card after the last of those whose tenants have a say in each other's speeds. */
static int reach(const struct engine *e, int card)
{
    const struct plan_group *g = second_group_of_card(e, card);
    if (!e->plan->share->node_link || !e->plan->share->node_link(g->params)) return card + 1;
    const int at = card - (int)g->first_card,
              end = at - at % (int)g->real_per_node + (int)g->real_per_node;
    return (int)g->first_card + (end < g->cards ? end : (int)g->cards);
}

/* Those at work on the cards, card by card. */
static void speeds_of(struct engine *e, int from, int to)
{
    const struct plan_group *g = second_group_of_card(e, from);
    struct resident_view r[SECOND_JOBS];
    double speed[SECOND_JOBS];
    int who[SECOND_JOBS], n = 0;
    for (int card = from; card < to; card++)
        for (int k = 0; k < e->now.n; k++) {
            struct life *l = &e->life[e->now.job[k]];
            if (!l->working || !second_holds_card(&l->at, card)) continue;
            const struct wish *w = &l->wish[l->at.group];
            const int profile = w->demand.mig_profile;
            r[n] =
                (struct resident_view){ &w->sig, &w->demand,
                                        profile < 0 ? NULL : &g->type.gpu->mig->profile[profile] };
            who[n++] = e->now.job[k];
        }
    if (n == 0) return;
    const struct share_view v = { &g->type, r, (size_t)n };
    e->plan->share->speeds(g->params, &v, speed);
    for (int i = 0; i < n; i++) e->life[who[i]].speed = fmin(e->life[who[i]].speed, speed[i]);
}

static void speeds(struct engine *e)
{
    for (int j = 0; j < e->n; j++) e->life[j].speed = e->life[j].working ? 1.0 : 0.0;
    for (int card = 0; card < e->plan->cards; card = reach(e, card))
        speeds_of(e, card, reach(e, card));
    for (int j = 0; j < e->n; j++) {
        struct life *l = &e->life[j];
        l->finish = SIM_NEVER;
        if (!l->working) continue;
        l->speed *= l->wires;
        const long double ns = ceill(l->left / (long double)l->speed - 1e-3L);
        l->finish = e->clock + (ns > 0 ? (simtime)ns : 0);
    }
}

static void pass(struct engine *e, simtime to, struct second_totals *out)
{
    for (int j = 0; j < e->n; j++) {
        struct life *l = &e->life[j];
        if (l->working) l->left -= (long double)(to - e->clock) * (long double)l->speed;
    }
    for (int card = 0; card < e->plan->cards; card++) {
        const int capacity = second_group_of_card(e, card)->capacity;
        out->allocated_card_s += simtime_s(to - e->clock) *
                                 (capacity - second_room_on(e, &e->now, card).units) / capacity;
    }
    second_fault_pass(e, to);
    e->clock = to;
}

static simtime kill_time(const struct engine *e, const struct life *l)
{
    if (!e->plan->limits_kill || l->job->limit == JOB_NO_TIME) return SIM_NEVER;
    return l->n_sizes ? l->promised : l->allocated + l->job->limit - l->held + l->excused;
}

static simtime next_time(const struct engine *e, int arrived)
{
    simtime next = second_fault_next(e, arrived < e->n);
    if (arrived < e->n && e->life[arrived].job->submit < next) next = e->life[arrived].job->submit;
    for (int j = 0; j < e->n; j++) {
        const struct life *l = &e->life[j];
        if (!l->on) continue;
        const simtime own = l->working ? l->finish : l->ready, kill = kill_time(e, l);
        if (own < next) next = own;
        if (kill < next) next = kill;
        const simtime falls = second_falls(e, j);
        if (falls > e->clock && falls < next) next = falls;
    }
    const simtime carved = second_next_plan(e, arrived);
    return carved < next ? carved : next;
}

/* Of those on cards the one that came there next after the `past`-th start; -1. */
static int next_started(const struct engine *e, int past)
{
    int best = -1;
    for (int j = 0; j < e->n; j++)
        if (e->life[j].on && e->life[j].sequence > past &&
            (best < 0 || e->life[j].sequence < e->life[best].sequence))
            best = j;
    return best;
}

/* Ends, faults, arrivals, then what the policy brings: start-ups that are over, limits. */
static void instant(struct engine *e, int *arrived)
{
    for (int j = 0; j < e->n; j++)
        if (e->life[j].working && e->life[j].finish <= e->clock) leave(e, j, JOB_COMPLETED);
    second_fault_instant(e);
    for (; *arrived < e->n && e->life[*arrived].job->submit <= e->clock; ++*arrived)
        arrive(e, *arrived);
    if (second_has_made(e)) e->news = true;
    for (int past = 0;;) {
        const int j = next_started(e, past);
        const struct life *l = &e->life[j < 0 ? 0 : j];
        if (e->plan_at <= e->clock && (j < 0 || l->sequence > e->before_plan))
            second_plan(e, *arrived);
        if (j < 0) break;
        past = l->sequence;
        if (second_falls(e, j) == e->clock) e->news = true;
        if (kill_time(e, l) <= e->clock)
            leave(e, j, JOB_KILLED);
        else if (!l->working && l->ready <= e->clock)
            begin(e, j);
    }
}

void second_run(const struct plan *p, struct second_job *j, int n, struct second_totals *out)
{
    struct engine *e = calloc(1, sizeof *e);
    int arrived = 0;
    if (!e || n > SECOND_JOBS || p->cards > SECOND_CARDS || p->n_groups > GROUPS)
        fail_msg("too large for the second engine");
    const simtime stop = p->scenario->horizon == CFG_NO_TIME ? SIM_NEVER : p->scenario->horizon;
    e->plan = p;
    e->n = n;
    e->any_node = p->gang == GANG_ANY || p->share->pooled;
    second_place_begin(e);
    second_mig_begin(e);
    second_fault_begin(e);
    e->out = out;
    *out = (struct second_totals){ 0 };
    for (int i = 0; i < n; i++) {
        e->life[i].job = &j[i];
        j[i].state = JOB_QUEUED;
        j[i].start = j[i].end = JOB_NO_TIME;
        j[i].oom = false;
        j[i].attempts = j[i].moves = 0;
        e->life[i].remaining = j[i].duration;
        j[i].where[0] = '\0';
    }
    for (simtime t = next_time(e, 0); t < stop; t = next_time(e, arrived)) {
        pass(e, t, out);
        instant(e, &arrived);
        speeds(e);
        if (next_time(e, arrived) <= e->clock) continue; /* who had nothing to do ends first */
        do { /* who ran out of memory at once has made room again */
            const bool look = e->news;
            e->failed = e->news = false;
            const int starts = e->starts;
            if (look) schedule(e);
            if (look && second_give_up(e)) e->failed = true;
            if (e->plan->reclaims && e->starts > starts) /* others are first of their accounts */
                e->failed = e->news = true;
            speeds(e);
        } while (e->failed && next_time(e, arrived) > e->clock);
        if (next_time(e, arrived) > e->clock) second_plan_soon(e);
    }
    if (stop != SIM_NEVER) { /* what is due then happens, but nobody starts */
        pass(e, stop, out);
        instant(e, &arrived);
        for (int i = 0; i < n; i++)
            if (e->life[i].waiting) j[i].where[0] = '\0';
    }
    out->end = e->clock;
    free(e->faults);
    free(e);
}
