#include "support/second_engine.h"

#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS 4

/* Where a job is: cards ascending. */
struct place {
    int group, n, node; /* node: of a job without cards */
    int card[SECOND_CARDS];
    struct mig_slice slice; /* profile -1: none */
};

/* What a job is to a group of cards. */
struct wish {
    bool possible; /* on an empty group */
    struct demand demand;
    struct signature sig;
    double transfer;
};

struct life {
    struct second_job *job;
    struct wish wish[GROUPS];
    int64_t rank;
    bool waiting, on, working; /* on: holds its cards; working: past its start-up, memory allocated */
    struct place at;
    simtime allocated, ready, promised, finish;
    long double left; /* isolated ns */
    double speed;
    uint64_t bytes;   /* allocated on each of its cards */
};

/* Who holds what: of the fleet now, or as it is expected to be. */
struct view {
    int n, job[SECOND_JOBS];
    struct place at[SECOND_JOBS];
};

struct engine {
    const struct plan *plan;
    bool first; /* first_fit, else best_fit */
    struct life life[SECOND_JOBS];
    int n;
    struct view now; /* in the order in which they came onto their cards */
    simtime clock;
    bool failed; /* somebody ran out of memory as it started */
    bool news;   /* somebody came or gave back: a limit that passes is no reason to look at the queue */
};

/* ---- counting what is free ---- */

static const struct plan_group *group_of_card(const struct engine *e, int card)
{
    const struct plan_group *g = e->plan->group;
    while (card >= g->first_card + g->cards) g++;
    return g;
}

static int node_of_card(const struct engine *e, int card)
{
    const struct plan_group *g = group_of_card(e, card);
    return (int)(g->first_node + (card - g->first_card) / g->per_node);
}

static bool holds_card(const struct place *at, int card)
{
    for (int i = 0; i < at->n; i++)
        if (at->card[i] == card) return true;
    return false;
}

static const struct demand *demand_of(const struct engine *e, int job, int group)
{
    return &e->life[job].wish[group].demand;
}

static bool sliced(const struct engine *e, int card, struct instance_rules *rules)
{
    const struct plan_group *g = group_of_card(e, card);
    e->plan->share->instance_rules(g->params, card - g->first_card, rules);
    if (rules->on_demand) fail_msg("the second engine knows fixed layouts only");
    return !rules->off;
}

/* The start of a free instance of the profile on the card, the first of the layout; -1. */
static int free_instance(const struct engine *e, const struct view *v, int card, int profile)
{
    struct instance_rules rules;
    if (!sliced(e, card, &rules)) return -1;
    for (int i = 0; i < rules.layout->n; i++) {
        const struct mig_slice s = rules.layout->slice[i];
        bool taken = s.profile != profile;
        for (int k = 0; k < v->n; k++)
            taken |= holds_card(&v->at[k], card) && v->at[k].slice.start == s.start &&
                     v->at[k].slice.profile == s.profile;
        if (!taken) return s.start;
    }
    return -1;
}

struct room {
    int units, tenants;
    uint64_t bytes;
    uint32_t owner;
};

static struct room room_on(const struct engine *e, const struct view *v, int card)
{
    const struct plan_group *g = group_of_card(e, card);
    struct room r = { .units = g->capacity, .bytes = g->type.gpu->usable_bytes };
    for (int k = 0; k < v->n; k++) {
        if (!holds_card(&v->at[k], card)) continue;
        const struct demand *d = demand_of(e, v->job[k], v->at[k].group);
        r.units -= d->units;
        r.bytes -= d->reserve_bytes;
        r.owner = d->owner;
        r.tenants++;
    }
    return r;
}

/* A card that a gang may use: one slot of it is free, or all of it where there are no slots. */
static bool eligible(const struct engine *e, const struct view *v, int card)
{
    const struct plan_group *g = group_of_card(e, card);
    const bool slots = strcmp(e->plan->share->name, "timeslice") == 0 ||
                       strcmp(e->plan->share->name, "mps") == 0;
    struct instance_rules rules;
    if (e->plan->share->instances && sliced(e, card, &rules)) return false;
    return room_on(e, v, card).units >= (slots ? 1 : g->capacity);
}

static bool card_fits(const struct engine *e, const struct view *v, int card, const struct demand *d)
{
    const struct room r = room_on(e, v, card);
    if (r.tenants > 0 && d->owner != 0 && r.owner != d->owner) return false;
    if (d->mig_profile >= 0) return free_instance(e, v, card, d->mig_profile) >= 0;
    if (e->plan->share->instances && !eligible(e, v, card)) return false;
    return r.units >= d->units && r.bytes >= d->reserve_bytes;
}

/* CPU cores of a job for `on_node` of its cards, rounded up. */
static int64_t cores(const struct engine *e, int job, int cards, int on_node)
{
    const int32_t all = e->life[job].job->cpus_milli;
    if (all == JOB_NO_INT) return 0;
    if (cards == 0) return all;
    return ((int64_t)all * on_node + cards - 1) / cards;
}

static bool node_fits(const struct engine *e, const struct view *v, int node, int job, int group,
                      int on_node)
{
    int64_t free = e->plan->group[group].node_cpus_milli;
    if (free == INT64_MAX) return true;
    for (int k = 0; k < v->n; k++) {
        const struct place *at = &v->at[k];
        int here = 0;
        for (int i = 0; i < at->n; i++) here += node_of_card(e, at->card[i]) == node;
        if (here > 0 || (at->n == 0 && at->node == node)) free -= cores(e, v->job[k], at->n, here);
    }
    return free >= cores(e, job, demand_of(e, job, group)->cards, on_node);
}

/* ---- where a job would go ---- */

/* What must have room: the fleet, and perhaps a second state of it as well. */
struct ask {
    const struct view *v, *beside; /* beside may be NULL */
    int job, group;
    bool first; /* first_fit, else best_fit */
};

static bool fits_here(const struct engine *e, const struct ask *a, int card, int on_node)
{
    const struct demand *d = demand_of(e, a->job, a->group);
    const int node = node_of_card(e, card);
    if (!card_fits(e, a->v, card, d) || !node_fits(e, a->v, node, a->job, a->group, on_node))
        return false;
    return !a->beside || (card_fits(e, a->beside, card, d) &&
                          node_fits(e, a->beside, node, a->job, a->group, on_node));
}

static bool one_card(const struct engine *e, const struct ask *a, struct place *out)
{
    const struct plan_group *g = &e->plan->group[a->group];
    struct room best = { 0 };
    int card = -1;
    for (int c = (int)g->first_card; c < g->first_card + g->cards; c++) {
        if (!fits_here(e, a, c, 1)) continue;
        const struct room r = room_on(e, a->v, c);
        if (card >= 0 && a->first) break;
        if (card >= 0 && (r.units > best.units || (r.units == best.units && r.bytes >= best.bytes)))
            continue;
        card = c;
        best = r;
    }
    if (card < 0) return false;
    out->card[out->n++] = card;
    return true;
}

static bool one_instance(const struct engine *e, const struct ask *a, struct place *out)
{
    const struct plan_group *g = &e->plan->group[a->group];
    const int profile = demand_of(e, a->job, a->group)->mig_profile;
    for (int c = (int)g->first_card; c < g->first_card + g->cards; c++) {
        if (!fits_here(e, a, c, 1)) continue;
        out->slice = (struct mig_slice){ profile, free_instance(e, a->v, c, profile) };
        out->card[out->n++] = c;
        return true;
    }
    return false;
}

/* The first `want` cards of the node that fit, appended; false: too few. */
static bool cards_of_node(const struct engine *e, const struct ask *a, int node, int want,
                          struct place *out)
{
    const struct plan_group *g = &e->plan->group[a->group];
    const int first = (int)(g->first_card + (node - g->first_node) * g->per_node);
    const int before = out->n;
    for (int c = first; c < first + g->per_node && out->n < before + want; c++)
        if (eligible(e, a->v, c) && fits_here(e, a, c, want)) out->card[out->n++] = c;
    if (out->n == before + want) return true;
    out->n = before;
    return false;
}

static int eligible_on(const struct engine *e, const struct ask *a, int node)
{
    const struct plan_group *g = &e->plan->group[a->group];
    const int first = (int)(g->first_card + (node - g->first_node) * g->per_node);
    int n = 0;
    for (int c = first; c < first + g->per_node; c++) n += eligible(e, a->v, c);
    return n;
}

/* The node with the fewest eligible cards, or the first, that has the cards; not one already used. */
static bool one_node(const struct engine *e, const struct ask *a, int want, struct place *out)
{
    const struct plan_group *g = &e->plan->group[a->group];
    struct place best;
    int fewest = INT32_MAX;
    for (int node = (int)g->first_node; node < g->first_node + g->nodes; node++) {
        struct place here = *out;
        bool used = false;
        for (int i = 0; i < out->n; i++) used |= node_of_card(e, out->card[i]) == node;
        if (used || !cards_of_node(e, a, node, want, &here)) continue;
        const int key = a->first ? 0 : eligible_on(e, a, node);
        if (key >= fewest) continue;
        fewest = key;
        best = here;
    }
    if (fewest == INT32_MAX) return false;
    *out = best;
    return true;
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static bool whole_cards(const struct engine *e, const struct ask *a, struct place *out)
{
    const struct plan_group *g = &e->plan->group[a->group];
    const int want = demand_of(e, a->job, a->group)->cards, per = (int)g->per_node;
    if (e->plan->share->instances && want == 1) { /* the first with MIG off */
        for (int c = (int)g->first_card; c < g->first_card + g->cards && out->n == 0; c++)
            if (fits_here(e, a, c, 1)) out->card[out->n++] = c;
        return out->n == 1;
    }
    if (want <= per) return one_node(e, a, want, out);
    int whole = want / per;
    for (int node = (int)g->first_node; node < g->first_node + g->nodes && whole > 0; node++)
        if (eligible_on(e, a, node) == per && cards_of_node(e, a, node, per, out)) whole--;
    if (whole > 0 || (want % per > 0 && !one_node(e, a, want % per, out))) return false;
    qsort(out->card, (size_t)out->n, sizeof *out->card, ascending);
    return true;
}

static bool find_in(const struct engine *e, const struct ask *a, struct place *out)
{
    const struct demand *d = demand_of(e, a->job, a->group);
    const struct plan_group *g = &e->plan->group[a->group];
    *out = (struct place){ .group = a->group, .node = -1, .slice.profile = -1 };
    if (d->cards == 0) {
        for (int node = (int)g->first_node; node < g->first_node + g->nodes; node++) {
            if (!node_fits(e, a->v, node, a->job, a->group, 1) ||
                (a->beside && !node_fits(e, a->beside, node, a->job, a->group, 1)))
                continue;
            out->node = node;
            return true;
        }
        return false;
    }
    if (d->mig_profile >= 0) return one_instance(e, a, out);
    return d->cards > 1 || d->units == g->capacity ? whole_cards(e, a, out) : one_card(e, a, out);
}

/* The first group that has a place. */
static bool find(const struct engine *e, const struct view *v, const struct view *beside, int job,
                 bool first, struct place *out)
{
    for (size_t g = 0; g < e->plan->n_groups; g++) {
        const struct ask a = { v, beside, job, (int)g, first };
        if (e->life[job].wish[g].possible && find_in(e, &a, out)) return true;
    }
    return false;
}

static void put(struct view *v, int job, const struct place *at)
{
    v->job[v->n] = job;
    v->at[v->n++] = *at;
}

static void drop(struct view *v, int job)
{
    int kept = 0;
    for (int k = 0; k < v->n; k++) {
        if (v->job[k] == job) continue;
        v->job[kept] = v->job[k];
        v->at[kept++] = v->at[k];
    }
    v->n = kept;
}

/* Could exactly this place be taken? */
static bool holds(const struct engine *e, const struct view *v, int job, const struct place *at)
{
    if (at->n == 0) return node_fits(e, v, at->node, job, at->group, 1);
    for (int i = 0; i < at->n; i++) {
        int here = 0;
        for (int k = 0; k < at->n; k++) here += node_of_card(e, at->card[k]) == node_of_card(e, at->card[i]);
        const struct ask a = { v, NULL, job, at->group, e->first };
        if (!fits_here(e, &a, at->card[i], here)) return false;
    }
    return true;
}

/* Whole cards of a node are as good as each other: those without room in `other` first. */
static void prefer_taken(const struct engine *e, const struct view *v, const struct view *other, int job,
                         struct place *at)
{
    const struct demand *d = demand_of(e, job, at->group);
    const struct plan_group *g = &e->plan->group[at->group];
    struct place again = *at;
    if (e->plan->share->instances || at->n == 0 || (at->n == 1 && d->units < g->capacity)) return;
    again.n = 0;
    for (int node = (int)g->first_node; node < g->first_node + g->nodes; node++) {
        const int first = (int)(g->first_card + (node - g->first_node) * g->per_node);
        int want = again.n;
        for (int i = 0; i < at->n; i++) want += node_of_card(e, at->card[i]) == node;
        for (int room = 0; room <= 1; room++)
            for (int c = first; c < first + g->per_node && again.n < want; c++)
                if (eligible(e, v, c) && card_fits(e, v, c, d) && card_fits(e, other, c, d) == (room == 1))
                    again.card[again.n++] = c;
    }
    if (again.n != at->n) fail_msg("whole cards chosen anew are not as many as before");
    qsort(again.card, (size_t)again.n, sizeof *again.card, ascending);
    *at = again;
}

/* ---- jobs begin and end ---- */

static void leave(struct engine *e, int job, enum job_state state)
{
    struct life *l = &e->life[job];
    drop(&e->now, job);
    e->news = true;
    l->on = l->working = false;
    l->bytes = 0;
    l->job->state = state;
    l->job->end = e->clock;
}

/* Its memory: all of its cards or the job fails. */
static void begin(struct engine *e, int job)
{
    struct life *l = &e->life[job];
    const struct demand *d = demand_of(e, job, l->at.group);
    const struct plan_group *g = &e->plan->group[l->at.group];
    const uint64_t context = g->type.context_bytes;
    const uint64_t stated = d->alloc_bytes > context ? d->alloc_bytes - context : 0;
    bool fits = stated <= d->limit_bytes;
    for (int i = 0; i < l->at.n; i++) {
        uint64_t free = g->type.gpu->usable_bytes;
        for (int k = 0; k < e->now.n; k++)
            if (holds_card(&e->now.at[k], l->at.card[i])) free -= e->life[e->now.job[k]].bytes;
        fits &= d->alloc_bytes <= free;
    }
    l->working = true;
    if (l->at.n == 0) return;
    if (fits) {
        l->bytes = d->alloc_bytes;
        return;
    }
    l->job->oom = e->failed = true;
    leave(e, job, JOB_FAILED);
}

static void start(struct engine *e, int job, const struct place *at)
{
    struct life *l = &e->life[job];
    const struct share_ops *share = e->plan->share;
    const struct plan_group *g = &e->plan->group[at->group];
    l->waiting = false;
    l->on = true;
    l->at = *at;
    l->job->state = JOB_RUNNING;
    l->job->start = l->allocated = l->ready = e->clock;
    if (share->startup && at->n > 0)
        l->ready += share->startup(g->params, &g->type, (size_t)room_on(e, &e->now, at->card[0]).tenants);
    put(&e->now, job, at);
    l->promised = l->job->limit == JOB_NO_TIME ? SIM_NEVER : e->clock + l->job->limit;
    l->left = (long double)l->job->duration;
    if (l->wish[at->group].transfer != 1.0)
        l->left = roundl((long double)((double)l->job->duration * l->wish[at->group].transfer));
    for (int i = 0; i < at->n; i++) {
        char name[256];
        const size_t len = strlen(l->job->where);
        plan_card_name(e->plan, (uint32_t)at->card[i], name, sizeof name);
        snprintf(l->job->where + len, sizeof l->job->where - len, "%s%s", i ? " " : "", name);
    }
    if (at->slice.profile >= 0) {
        const size_t len = strlen(l->job->where);
        snprintf(l->job->where + len, sizeof l->job->where - len, ":%s@%d",
                 g->type.gpu->mig->profile[at->slice.profile].name, at->slice.start);
    }
    if (l->ready == e->clock) begin(e, job);
}

/* ---- who starts ---- */

static bool before(const struct engine *e, int a, int b)
{
    return e->life[a].rank != e->life[b].rank ? e->life[a].rank < e->life[b].rank : a < b;
}

/* The waiting job that comes next after `after` (-1: the first); -1: none. */
static int next_waiting(const struct engine *e, int after)
{
    int best = -1;
    for (int j = 0; j < e->n; j++)
        if (e->life[j].waiting && (after < 0 || before(e, after, j)) && (best < 0 || before(e, j, best)))
            best = j;
    return best;
}

struct reserved {
    simtime when;
    int head;
    struct place at;
    struct view then; /* who is there at that time, the head among them */
};

/* Let those who run end at their limits until the head fits. */
static bool reserve(const struct engine *e, int head, struct reserved *out)
{
    out->head = head;
    out->then = e->now;
    out->when = -1;
    for (;;) {
        simtime next = SIM_NEVER;
        for (int k = 0; k < out->then.n; k++) {
            const simtime end = e->life[out->then.job[k]].promised;
            if (end < next) next = end;
        }
        if (next == SIM_NEVER) return false;
        out->when = next > e->clock ? next : e->clock; /* who overran ends at any moment */
        for (int j = 0; j < e->n; j++)
            if (e->life[j].on && e->life[j].promised <= out->when) drop(&out->then, j);
        if (!find(e, &out->then, NULL, head, e->first, &out->at)) continue;
        prefer_taken(e, &out->then, &e->now, head, &out->at);
        put(&out->then, head, &out->at);
        return true;
    }
}

/* A job would outlast the reservation: a place beside the head's, or another place for the head. */
static bool beside(const struct engine *e, struct reserved *r, int job, struct place *at)
{
    struct place moved;
    if (e->plan->share->instances) return false;
    if (holds(e, &r->then, job, at)) return true;
    drop(&r->then, r->head);
    if (holds(e, &r->then, job, at)) {
        put(&r->then, job, at);
        const bool fits = find(e, &r->then, NULL, r->head, e->first, &moved);
        drop(&r->then, job);
        if (fits) r->at = moved;
        put(&r->then, r->head, &r->at);
        if (fits) return true;
    } else {
        put(&r->then, r->head, &r->at);
    }
    return find(e, &e->now, &r->then, job, false, at);
}

static void easy(struct engine *e, int head)
{
    struct reserved r;
    struct place at;
    if (!reserve(e, head, &r)) return;
    for (int j = next_waiting(e, head); j >= 0; j = next_waiting(e, j)) {
        struct life *l = &e->life[j];
        if (l->job->limit == JOB_NO_TIME || !find(e, &e->now, NULL, j, e->first, &at)) continue;
        const bool brief = e->clock + l->job->limit <= r.when;
        if (brief) prefer_taken(e, &e->now, &r.then, j, &at);
        else if (!beside(e, &r, j, &at)) continue;
        if (!brief) put(&r.then, j, &at);
        start(e, j, &at);
        if (!brief && !l->on) drop(&r.then, j); /* out of memory at once */
    }
}

static void schedule(struct engine *e)
{
    struct place at;
    int head;
    while ((head = next_waiting(e, -1)) >= 0 && find(e, &e->now, NULL, head, e->first, &at))
        start(e, head, &at);
    if (head >= 0 && e->plan->backfill == BACKFILL_EASY) easy(e, head);
    if (e->plan->backfill != BACKFILL_GREEDY) return;
    for (int j = head; j >= 0; j = next_waiting(e, j))
        if (find(e, &e->now, NULL, j, e->first, &at)) start(e, j, &at);
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
    w->sig.syncs_per_s /= w->transfer;
    w->sig.pcie_Bps /= w->transfer;
}

static void wishes(struct engine *e, int job)
{
    const struct plan *p = e->plan;
    struct life *l = &e->life[job];
    const struct second_job *j = l->job;
    const struct view empty = { .n = 0 };
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
        const struct gpu_spec *recorded = j->model ? gpu_find(p->world->gpus, j->model, NULL) : here;
        if (recorded != here) transfer(w, recorded, here);
        const struct request request = {
            .gpus_milli = j->gpus_milli, .slots = j->slots, .sig = &w->sig,
            .bytes = j->bytes != JOB_NO_BYTES ? j->bytes : sig.footprint_bytes };
        w->possible = !p->share->demand(p->group[g].params, &p->group[g].type, &request, &w->demand);
        if (p->share->one_owner && p->share->one_owner(p->group[0].params))
            w->demand.owner = (uint32_t)j->user + 1;
        const struct ask a = { &empty, NULL, job, (int)g, true };
        w->possible = w->possible && find_in(e, &a, &at);
        one_node |= w->possible && w->demand.cards <= p->group[g].per_node;
    }
    /* A gang goes to one node if a node of any group can hold it. */
    for (size_t g = 0; g < p->n_groups; g++)
        if (one_node && l->wish[g].demand.cards > p->group[g].per_node) l->wish[g].possible = false;
}

static void arrive(struct engine *e, int job)
{
    struct life *l = &e->life[job];
    const char *order = e->plan->order->name;
    struct second_job *j = l->job;
    bool possible = false;
    wishes(e, job);
    for (size_t g = 0; g < e->plan->n_groups; g++) possible |= l->wish[g].possible;
    if (!possible) {
        j->state = JOB_REJECTED;
        j->end = e->clock;
        return;
    }
    if (strcmp(order, "sjf") == 0) l->rank = j->limit == JOB_NO_TIME ? INT64_MAX : j->limit;
    else if (strcmp(order, "priority") == 0) l->rank = -(int64_t)j->priority;
    else l->rank = j->submit;
    l->waiting = e->news = true;
}

/* ---- progress ---- */

static void speeds(struct engine *e)
{
    const struct plan *p = e->plan;
    for (int j = 0; j < e->n; j++) e->life[j].speed = e->life[j].working ? 1.0 : 0.0;
    for (int card = 0; card < p->cards; card++) {
        const struct plan_group *g = group_of_card(e, card);
        struct resident_view r[SECOND_JOBS];
        double speed[SECOND_JOBS];
        int who[SECOND_JOBS], n = 0;
        for (int k = 0; k < e->now.n; k++) {
            struct life *l = &e->life[e->now.job[k]];
            if (!l->working || !holds_card(&l->at, card)) continue;
            const struct wish *w = &l->wish[l->at.group];
            const int profile = w->demand.mig_profile;
            r[n] = (struct resident_view){ &w->sig, &w->demand,
                                           profile < 0 ? NULL : &g->type.gpu->mig->profile[profile] };
            who[n++] = e->now.job[k];
        }
        if (n == 0) continue;
        const struct share_view v = { &g->type, r, (size_t)n };
        p->share->speeds(g->params, &v, speed);
        for (int i = 0; i < n; i++)
            e->life[who[i]].speed = fmin(e->life[who[i]].speed, speed[i]);
    }
    for (int j = 0; j < e->n; j++) {
        struct life *l = &e->life[j];
        l->finish = SIM_NEVER;
        if (!l->working) continue;
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
        const int capacity = group_of_card(e, card)->capacity;
        out->allocated_card_s +=
            simtime_s(to - e->clock) * (capacity - room_on(e, &e->now, card).units) / capacity;
    }
    e->clock = to;
}

static simtime kill_time(const struct engine *e, const struct life *l)
{
    return e->plan->limits_kill && l->job->limit != JOB_NO_TIME ? l->allocated + l->job->limit : SIM_NEVER;
}

static simtime next_time(const struct engine *e, int arrived)
{
    simtime next = arrived < e->n ? e->life[arrived].job->submit : SIM_NEVER;
    for (int j = 0; j < e->n; j++) {
        const struct life *l = &e->life[j];
        if (!l->on) continue;
        const simtime own = l->working ? l->finish : l->ready, kill = kill_time(e, l);
        if (own < next) next = own;
        if (kill < next) next = kill;
    }
    return next;
}

/* Ends, arrivals, then what the policy brings: start-ups that are over, limits. */
static void instant(struct engine *e, int *arrived)
{
    for (int j = 0; j < e->n; j++)
        if (e->life[j].working && e->life[j].finish <= e->clock) leave(e, j, JOB_COMPLETED);
    for (; *arrived < e->n && e->life[*arrived].job->submit <= e->clock; ++*arrived) arrive(e, *arrived);
    for (int j = 0; j < e->n; j++) {
        struct life *l = &e->life[j];
        if (l->on && !l->working && l->ready <= e->clock) begin(e, j);
        if (l->on && kill_time(e, l) <= e->clock) leave(e, j, JOB_KILLED);
    }
}

void second_run(const struct plan *p, struct second_job *j, int n, struct second_totals *out)
{
    struct engine *e = calloc(1, sizeof *e);
    int arrived = 0;
    if (!e || n > SECOND_JOBS || p->cards > SECOND_CARDS || p->n_groups > GROUPS)
        fail_msg("too large for the second engine");
    e->plan = p;
    e->n = n;
    e->first = strcmp(p->place->name, "first_fit") == 0;
    *out = (struct second_totals){ 0 };
    for (int i = 0; i < n; i++) {
        e->life[i].job = &j[i];
        j[i].state = JOB_QUEUED;
        j[i].start = j[i].end = JOB_NO_TIME;
        j[i].oom = false;
        j[i].where[0] = '\0';
    }
    for (simtime t = next_time(e, 0); t != SIM_NEVER; t = next_time(e, arrived)) {
        pass(e, t, out);
        instant(e, &arrived);
        do { /* who ran out of memory at once has made room again */
            const bool look = e->news;
            e->failed = e->news = false;
            if (look) schedule(e);
            speeds(e);
        } while (e->failed && next_time(e, arrived) > e->clock);
    }
    out->end = e->clock;
    free(e);
}
