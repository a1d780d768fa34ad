/* Cards, nodes and racks out of service, of the second engine: from scenarios/fleets.md and the
 * heads of engine/outages.h and engine/sched_repair.c. How long each of them stays up or down is
 * what engine/fault_times.h says; whether a card serves is asked of all that could keep it out,
 * each time. */
#include "support/second_inside.h"

#include "engine/fault_times.h"
#include "support/support.h"

#include <stdlib.h>

/* A card, a node or a rack, which goes down and comes back by itself. */
struct unit {
    const struct plan_group *group;
    struct fault_unit what;
    uint32_t changes; /* odd: it is down */
    simtime next;     /* it changes */
    simtime back;     /* while it is down: when it is expected to be repaired */
};

/* What the scenario states of a card; it serves at first. */
enum stated { SERVES, DRAINED, FAILED, NOT_OURS };

struct second_faults {
    uint64_t stream[GROUPS], programs;
    struct unit unit[SECOND_CARDS * 3];
    int n;
    enum stated card[SECOND_CARDS], node[SECOND_CARDS]; /* node: real ones of all groups */
    int first_node[GROUPS + 1], changed[GROUPS];        /* changes that are behind us */
    simtime crash[SECOND_JOBS];                         /* of the program */
    int struck[SECOND_JOBS];
};

/* ---- what is out ---- */

static int real_node_of(const struct engine *e, int card)
{
    const struct plan_group *g = second_group_of_card(e, card);
    return (int)((card - g->first_card) / g->real_per_node);
}

/* Is the card, or a node of the group if that is -1, part of the unit? */
static bool covers(const struct unit *u, const struct plan_group *g, int node, int card)
{
    if (u->group != g) return false;
    if (u->what.rack >= 0) return node / g->spec->nodes_per_rack == u->what.rack;
    return node == u->what.node && (u->what.card < 0 || u->what.card == card);
}

static simtime back(const struct second_faults *f, const struct plan_group *g, enum stated stated,
                    int node, int card)
{
    simtime at = stated == SERVES ? -1 : SIM_NEVER;
    for (int i = 0; i < f->n; i++)
        if (f->unit[i].changes % 2 && covers(&f->unit[i], g, node, card) && f->unit[i].back > at)
            at = f->unit[i].back;
    return at;
}

simtime second_card_back(const struct engine *e, int card)
{
    const struct plan_group *g = second_group_of_card(e, card);
    const int on_node = (int)((card - g->first_card) % g->real_per_node);
    if (!e->faults) return -1;
    return back(e->faults, g, e->faults->card[card], real_node_of(e, card), on_node);
}

simtime second_node_back(const struct engine *e, int node)
{
    const struct plan_group *g = e->plan->group;
    while (node >= g->first_node + g->nodes) g++;
    if (!e->faults || e->plan->share->pooled) return -1; /* the one node of a pool is no host */
    const int at = node - (int)g->first_node, real = e->faults->first_node[g - e->plan->group] + at;
    return back(e->faults, g, e->faults->node[real], at, -1);
}

bool second_card_out(const struct engine *e, const struct view *v, int card)
{
    return second_card_back(e, card) > v->by;
}

bool second_node_out(const struct engine *e, const struct view *v, int node)
{
    return second_node_back(e, node) > v->by;
}

bool second_is_short(const struct engine *e)
{
    for (int card = 0; card < e->plan->cards; card++)
        if (second_card_back(e, card) >= 0) return true;
    return false;
}

simtime second_next_back(const struct engine *e, simtime after)
{
    simtime next = SIM_NEVER;
    for (int i = 0; e->faults && i < e->faults->n; i++) {
        const struct unit *u = &e->faults->unit[i];
        if (u->changes % 2 && u->back > after && u->back < next) next = u->back;
    }
    return next;
}

/* ---- who is struck ---- */

static double gpus_of(const struct life *l)
{
    return l->asked_milli / 1000.0; /* its work is told for these */
}

static void give_up(struct engine *e, int job, enum job_state state)
{
    struct life *l = &e->life[job];
    if (e->faults->struck[job] > 0) {
        e->out->given_up++;
        e->out->lost_gpu_s += simtime_s(l->job->duration - l->remaining) * gpus_of(l);
    }
    l->waiting = false;
    l->job->state = state;
    l->job->end = e->clock;
}

/* Once the fleet has changed for the last time: will no card that is left ever serve it? */
static bool is_gone(const struct engine *e, int job)
{
    const struct view left = { .bare = true, .by = SIM_NEVER - 1 }; /* all is repaired */
    struct place at;
    for (size_t g = 0; g < e->plan->n_groups; g++)
        if (e->faults->changed[g] < (int)e->plan->group[g].spec->n_changes) return false;
    return !second_find(e, &left, NULL, job, e->like, &at);
}

bool second_give_up(struct engine *e)
{
    bool any = false;
    for (int j = 0; e->faults && j < e->n; j++) {
        struct life *l = &e->life[j];
        if (!l->waiting || !is_gone(e, j)) continue;
        give_up(e, j, l->job->attempts > 0 ? JOB_FAILED : JOB_REJECTED);
        l->job->where[0] = '\0';
        e->news = any = true;
    }
    return any;
}

static void strike(struct engine *e, int job)
{
    struct life *l = &e->life[job];
    const struct fleet_group *g = e->plan->group[l->at.group].spec;
    simtime left, safe;
    if (!l->on) return;
    second_progress(e, job, &left, &safe);
    if (e->plan->checkpoint.every == 0) safe = 0;
    if (l->job->duration - safe < l->remaining) l->remaining = l->job->duration - safe;
    e->out->struck++;
    e->out->lost_gpu_s += simtime_s(l->remaining - left) * gpus_of(l);
    second_take_off(e, job);
    l->excused = l->held; /* its limit starts anew */
    if (++e->faults->struck[job] > g->rates.max_restarts && g->fails) {
        give_up(e, job, JOB_FAILED);
        return;
    }
    l->job->state = JOB_QUEUED;
    second_enqueue(e, job);
}

static void strike_card(struct engine *e, int card)
{
    for (int j = 0; j < e->n; j++)
        if (e->life[j].on && second_holds_card(&e->life[j].at, card)) strike(e, j);
}

/* Of a group all cards that belong to the unit, or the nodes' jobs without cards. */
static void strike_all(struct engine *e, const struct unit *u)
{
    const struct plan_group *g = u->group;
    for (int c = 0; c < g->cards; c++)
        if (covers(u, g, (int)(c / g->real_per_node), (int)(c % g->real_per_node)))
            strike_card(e, (int)g->first_card + c);
    for (int j = 0; j < e->n && !e->plan->share->pooled; j++) {
        const struct place *at = &e->life[j].at;
        if (e->life[j].on && at->n == 0 && &e->plan->group[at->group] == g &&
            covers(u, g, at->node - (int)g->first_node, -1))
            strike(e, j);
    }
}

/* The program of a job fails: whom that ends is the policy's to say. */
static void crash(struct engine *e, int job)
{
    const struct place at = e->life[job].at;
    const struct plan_group *g = &e->plan->group[at.group];
    const struct share_ops *share = e->plan->share;
    const enum blast blast = share->blast ? share->blast(g->params, &g->type) : BLAST_JOB;
    e->out->job_faults++;
    e->news = true;
    strike(e, job);
    for (int c = 0; c < e->plan->cards && blast != BLAST_JOB; c++) {
        bool reached = false;
        for (int i = 0; i < at.n; i++)
            reached |= blast == BLAST_CARD ? at.card[i] == c
                                           : second_group_of_card(e, c) == g &&
                                                 real_node_of(e, at.card[i]) == real_node_of(e, c);
        if (reached) strike_card(e, c);
    }
}

void second_fault_started(struct engine *e, int job)
{
    const struct life *l = &e->life[job];
    if (!e->faults) return;
    const struct fleet_group *g = e->plan->group[l->at.group].spec;
    const simtime lasts = g->fails ? fault_program_lasts(&g->rates, e->faults->programs,
                                                         (uint64_t)job, l->job->attempts)
                                   : SIM_NEVER;
    e->faults->crash[job] = lasts < SIM_NEVER - e->clock ? e->clock + lasts : SIM_NEVER;
}

/* ---- time ---- */

static const struct capacity_event *next_change(const struct engine *e, size_t group)
{
    const struct fleet_group *g = e->plan->group[group].spec;
    const int i = e->faults->changed[group];
    return i < (int)g->n_changes ? &g->change[i] : NULL;
}

static bool is_over(const struct engine *e, bool more)
{
    for (int j = 0; j < e->n; j++) more |= e->life[j].waiting || e->life[j].on;
    return !more && e->plan->scenario->horizon == CFG_NO_TIME;
}

simtime second_fault_next(const struct engine *e, bool more)
{
    simtime next = SIM_NEVER;
    if (!e->faults || is_over(e, more)) return SIM_NEVER;
    for (int i = 0; i < e->faults->n; i++)
        if (e->faults->unit[i].next < next) next = e->faults->unit[i].next;
    for (size_t g = 0; g < e->plan->n_groups; g++)
        if (next_change(e, g) && next_change(e, g)->at < next) next = next_change(e, g)->at;
    for (int j = 0; j < e->n; j++)
        if (e->life[j].on && e->faults->crash[j] < next) next = e->faults->crash[j];
    return next;
}

static void set_next(struct engine *e, struct unit *u)
{
    const struct fault_rates *r = &u->group->spec->rates;
    const simtime stays =
        fault_unit_stays(r, e->faults->stream[u->group - e->plan->group], &u->what, u->changes);
    u->next = stays < SIM_NEVER - e->clock ? e->clock + stays : SIM_NEVER - 1;
    if (u->changes % 2) u->back = e->clock + fault_unit_repair(r, &u->what);
}

/* Some of the unit's cards are in the fleet, or it has none. */
static bool is_ours(const struct engine *e, const struct unit *u)
{
    const struct plan_group *g = u->group;
    bool ours = g->cards == 0;
    for (int c = 0; c < g->cards; c++)
        if (covers(u, g, (int)(c / g->real_per_node), (int)(c % g->real_per_node)))
            ours |= e->faults->card[g->first_card + c] != NOT_OURS;
    return ours;
}

static void flip(struct engine *e, struct unit *u)
{
    u->changes++;
    e->news = true;
    set_next(e, u);
    if (u->changes % 2 == 0) return;
    const bool ours = is_ours(e, u);
    *(u->what.rack >= 0   ? &e->out->rack_faults
      : u->what.card >= 0 ? &e->out->card_faults
                          : &e->out->node_faults) += ours;
    strike_all(e, u);
}

static bool is_whole(const struct plan_group *g, const struct capacity_event *c)
{
    return c->first_card == 0 && c->last_card == g->real_per_node - 1;
}

static void change(struct engine *e, size_t group, const struct capacity_event *c)
{
    static const enum stated to[] = { [CAPACITY_ADD] = SERVES,
                                      [CAPACITY_DRAIN] = DRAINED,
                                      [CAPACITY_REMOVE] = NOT_OURS,
                                      [CAPACITY_FAIL] = FAILED };
    struct second_faults *f = e->faults;
    const struct plan_group *g = &e->plan->group[group];
    e->news = true;
    f->changed[group]++;
    for (int node = (int)c->first_node; node <= c->last_node; node++) {
        for (int k = (int)c->first_card; k <= c->last_card; k++)
            f->card[g->first_card + node * g->real_per_node + k] = to[c->change];
        if (is_whole(g, c) || c->change == CAPACITY_ADD)
            f->node[f->first_node[group] + node] = to[c->change];
        struct unit hit = { .group = g, .what = { node, -1, -1 } };
        if (c->change == CAPACITY_FAIL && is_whole(g, c)) strike_all(e, &hit);
        for (int k = (int)c->first_card; k <= c->last_card && c->change == CAPACITY_FAIL; k++)
            strike_card(e, (int)(g->first_card + node * g->real_per_node) + k);
    }
}

void second_fault_instant(struct engine *e)
{
    if (!e->faults) return;
    for (int i = 0; i < e->faults->n; i++)
        if (e->faults->unit[i].next == e->clock) flip(e, &e->faults->unit[i]);
    for (size_t g = 0; g < e->plan->n_groups; g++)
        for (const struct capacity_event *c; (c = next_change(e, g)) != NULL && c->at == e->clock;)
            change(e, g, c);
    for (int j = 0; j < e->n; j++)
        if (e->life[j].on && e->faults->crash[j] == e->clock) crash(e, j);
    second_give_up(e);
}

void second_fault_pass(struct engine *e, simtime to)
{
    for (int card = 0; e->faults && card < e->plan->cards; card++) {
        if (second_room_on(e, &e->now, card).tenants > 0) continue;
        if (e->faults->card[card] == NOT_OURS)
            e->out->absent_card_s += simtime_s(to - e->clock);
        else if (second_card_back(e, card) >= 0)
            e->out->down_card_s += simtime_s(to - e->clock);
    }
}

/* ---- at first ---- */

static void add_unit(struct engine *e, const struct plan_group *g, struct fault_unit what)
{
    if (!g->spec->fails || fault_unit_mtbf(&g->spec->rates, &what) == 0) return;
    struct unit *u = &e->faults->unit[e->faults->n++];
    *u = (struct unit){ .group = g, .what = what };
    set_next(e, u);
}

/* What is first added was not there before. */
static void take_out_new(struct engine *e, size_t group)
{
    struct second_faults *f = e->faults;
    const struct plan_group *g = &e->plan->group[group];
    for (int i = (int)g->spec->n_changes; i-- > 0;) { /* the first has the last word */
        const struct capacity_event *c = &g->spec->change[i];
        const enum stated at_first = c->change == CAPACITY_ADD ? NOT_OURS : SERVES;
        for (int node = (int)c->first_node; node <= c->last_node; node++) {
            for (int k = (int)c->first_card; k <= c->last_card; k++)
                f->card[g->first_card + node * g->real_per_node + k] = at_first;
            if (is_whole(g, c)) f->node[f->first_node[group] + node] = at_first;
        }
    }
}

void second_fault_begin(struct engine *e)
{
    const struct plan *p = e->plan;
    const uint64_t seed = (uint64_t)p->scenario->seed;
    bool any = false;
    for (size_t g = 0; g < p->n_groups; g++)
        any |= p->group[g].spec->fails || p->group[g].spec->n_changes > 0;
    if (!any) return;
    struct second_faults *f = e->faults = calloc(1, sizeof *f);
    if (!f) fail_msg("no memory");
    f->programs = fault_stream(seed, 0, NULL);
    for (size_t i = 0; i < p->n_groups; i++) {
        const struct plan_group *g = &p->group[i];
        const int64_t nodes = g->spec->nodes, per_rack = g->spec->nodes_per_rack;
        f->stream[i] = fault_stream(seed, 0, g->spec->name);
        f->first_node[i + 1] = f->first_node[i] + (int)nodes;
        if (f->first_node[i + 1] > SECOND_CARDS) fail_msg("too many nodes for the second engine");
        for (int64_t node = 0; node < nodes; node++) {
            for (int64_t card = 0; card < g->real_per_node; card++)
                add_unit(e, g, (struct fault_unit){ node, card, -1 });
            add_unit(e, g, (struct fault_unit){ node, -1, -1 });
            if (per_rack != CFG_NO_INT && node % per_rack == 0)
                add_unit(e, g, (struct fault_unit){ node, -1, node / per_rack });
        }
        take_out_new(e, i);
    }
}
