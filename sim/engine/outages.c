#include "engine/outages.h"

#include "engine/fault_times.h"
#include "engine/residents.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct group_units {
    uint64_t stream;    /* engine/fault_times.h */
    int64_t first_node; /* physical nodes, counted through the fleet */
    int64_t first_rack, racks;
};

struct change {
    const struct capacity_event *event;
    size_t group;
};

struct outages {
    struct outage_env env;
    struct group_units *group;
    /* by unit, cards first, then nodes, then racks: how often it went down or came back */
    uint32_t *flips;
    int64_t nodes; /* physical, of the fleet */
    uint64_t jobs; /* stream of the programs */
    VEC(struct change) change;
    size_t changes_left;
    struct cluster
        *final; /* the fleet without what never comes back; NULL: it will change, or is whole */
    struct pick pick;
    struct job_list list; /* scratch */
    struct outage_totals totals;
};

/* ---- random times ---- */

static size_t group_of_card(const struct plan *p, uint32_t card)
{
    size_t g = 0;
    while (g + 1 < p->n_groups && card >= p->group[g + 1].first_card) g++;
    return g;
}

static size_t group_of_node(const struct outages *o, int64_t node)
{
    size_t g = 0;
    while (g + 1 < o->env.plan->n_groups && node >= o->group[g + 1].first_node) g++;
    return g;
}

/* Where a unit stands: its group, and its physical nodes there. */
struct place {
    size_t group;
    struct fault_unit unit;
    int64_t n_nodes;
};

static struct place place_of(const struct outages *o, uint32_t unit)
{
    const struct plan *p = o->env.plan;
    struct place w = { .unit = { .card = -1, .rack = -1 }, .n_nodes = 1 };
    if (unit < (uint64_t)p->cards) {
        w.group = group_of_card(p, unit);
        const struct plan_group *g = &p->group[w.group];
        w.unit.node = (unit - g->first_card) / g->real_per_node;
        w.unit.card = (unit - g->first_card) % g->real_per_node;
    } else if (unit - p->cards >= o->nodes) {
        const int64_t rack = unit - p->cards - o->nodes;
        while (w.group + 1 < p->n_groups && rack >= o->group[w.group + 1].first_rack) w.group++;
        const struct fleet_group *g = p->group[w.group].spec;
        w.unit.rack = rack - o->group[w.group].first_rack;
        w.unit.node = w.unit.rack * g->nodes_per_rack;
        w.n_nodes =
            g->nodes - w.unit.node < g->nodes_per_rack ? g->nodes - w.unit.node : g->nodes_per_rack;
    } else {
        w.group = group_of_node(o, (int64_t)unit - p->cards);
        w.unit.node = (int64_t)unit - p->cards - o->group[w.group].first_node;
    }
    return w;
}

static simtime later(simtime now, simtime delay)
{
    return delay < SIM_NEVER - now ? now + delay : SIM_NEVER - 1;
}

/* The unit's next change of state, from its state of now. */
static void schedule_flip(struct outages *o, uint32_t unit, simtime now)
{
    const struct place w = place_of(o, unit);
    const simtime stays = fault_unit_stays(&o->env.plan->group[w.group].spec->rates,
                                           o->group[w.group].stream, &w.unit, o->flips[unit]);
    evq_at(o->env.q, later(now, stays), EV_FAULT, o->env.unit_kind, unit);
}

simtime outages_crash_after(const struct outages *o, const struct job *j)
{
    const struct fleet_group *g = o->env.plan->group[j->group].spec;
    return g->fails ? fault_program_lasts(&g->rates, o->jobs, j->order, j->attempts) : SIM_NEVER;
}

/* ---- cards and nodes in and out ---- */

static bool on_cards(const struct job *j)
{
    return j->state == JOB_STARTING || j->state == JOB_RUNNING;
}

static void strike(struct outages *o, struct job **list, size_t n)
{
    for (size_t i = 0; i < n; i++) /* a gang may be there several times */
        if (on_cards(list[i])) o->env.strike(o->env.ctx, list[i]);
}

static void strike_card(struct outages *o, uint32_t card)
{
    o->list.n = 0;
    residents_of(o->env.residents, card, &o->list);
    strike(o, o->list.v, o->list.n);
}

static void service_card(struct outages *o, uint32_t card, unsigned set, unsigned clear, bool hits,
                         simtime now)
{
    sched_service_card(o->env.sched, card, set, clear);
    if (hits) strike_card(o, card);
    residents_service(o->env.residents, card, now);
}

/* Jobs without cards on this node. */
static void strike_node(struct outages *o, int32_t node)
{
    for (uint32_t i = 0; i < job_pool_high_water(o->env.pool); i++) {
        struct job *j = job_at(o->env.pool, i);
        if (on_cards(j) && j->n_holdings == 0 && j->node == node) o->env.strike(o->env.ctx, j);
    }
}

/* The node's cores and host memory; those of a pool belong to all its nodes. */
static void service_node(struct outages *o, size_t group, int64_t node, unsigned set,
                         unsigned clear, bool hits)
{
    const struct plan_group *g = &o->env.plan->group[group];
    const int32_t index = (int32_t)(g->first_node + node);
    if (o->env.plan->share->pooled) return;
    sched_service_node(o->env.sched, index, set, clear);
    if (hits) strike_node(o, index);
}

static bool in_fleet(const struct outages *o, uint32_t card)
{
    return !(cluster_card(o->env.cluster, card)->out & OUT_ABSENT);
}

static uint32_t card_at(const struct outages *o, size_t group, int64_t node, int64_t card)
{
    const struct plan_group *g = &o->env.plan->group[group];
    return (uint32_t)(g->first_card + node * g->real_per_node + card);
}

/* A node goes (`set`) or comes back (`clear`) with its cards. False: it is not in the fleet. */
static bool flip_node(struct outages *o, size_t group, int64_t node, unsigned set, unsigned clear,
                      simtime now)
{
    const int64_t cards = o->env.plan->group[group].real_per_node;
    bool there = cards == 0;
    for (int64_t k = 0; k < cards; k++) {
        const uint32_t card = card_at(o, group, node, k);
        there |= in_fleet(o, card);
        service_card(o, card, set, clear, set != 0, now);
    }
    service_node(o, group, node, set, clear, set != 0);
    return there;
}

/* The scheduler expects it back after the mean repair time. */
static void announce(struct outages *o, uint32_t unit, const struct place *w, simtime now)
{
    const struct plan *p = o->env.plan;
    const struct plan_group *g = &p->group[w->group];
    const bool one = w->unit.card >= 0;
    sched_repair_begin(o->env.sched,
                       &(struct repair){
                           .unit = unit,
                           .bit = one                 ? OUT_FAULT
                                  : w->unit.rack >= 0 ? OUT_RACK
                                                      : OUT_NODE,
                           .first_card = one ? unit : card_at(o, w->group, w->unit.node, 0),
                           .cards = one ? 1 : w->n_nodes * g->real_per_node,
                           .first_node = g->first_node + w->unit.node,
                           .nodes = one || p->share->pooled ? 0 : w->n_nodes,
                           .back = later(now, fault_unit_repair(&g->spec->rates, &w->unit)),
                       });
}

void outages_unit(struct outages *o, uint32_t unit, simtime now)
{
    const struct place w = place_of(o, unit);
    const bool goes = ++o->flips[unit] % 2;
    goes ? announce(o, unit, &w, now) : sched_repair_end(o->env.sched, unit);
    if (w.unit.card >= 0) {
        o->totals.card_faults += goes && in_fleet(o, unit);
        service_card(o, unit, goes ? OUT_FAULT : 0, goes ? 0 : OUT_FAULT, goes, now);
    } else {
        const unsigned bit = w.unit.rack >= 0 ? OUT_RACK : OUT_NODE;
        bool there = false;
        for (int64_t n = w.unit.node; n < w.unit.node + w.n_nodes; n++)
            there |= flip_node(o, w.group, n, goes ? bit : 0, goes ? 0 : bit, now);
        *(w.unit.rack >= 0 ? &o->totals.rack_faults : &o->totals.node_faults) += goes && there;
    }
    schedule_flip(o, unit, now);
}

/* ---- changes of the fleet ---- */

static const struct {
    unsigned set, clear;
} bits_of[] = {
    [CAPACITY_ADD] = { 0, OUT_DRAIN | OUT_FAILED | OUT_ABSENT },
    [CAPACITY_DRAIN] = { OUT_DRAIN, 0 },
    [CAPACITY_REMOVE] = { OUT_ABSENT, OUT_DRAIN | OUT_FAILED },
    [CAPACITY_FAIL] = { OUT_FAILED, 0 },
};
enum { OUT_FOR_GOOD = OUT_DRAIN | OUT_FAILED | OUT_ABSENT };

static bool is_whole_node(const struct outages *o, const struct change *c)
{
    return c->event->first_card == 0 &&
           c->event->last_card == o->env.plan->group[c->group].real_per_node - 1;
}

bool outages_serve(const struct outages *o, const struct job *j)
{
    int group;
    struct pick *scratch = (struct pick *)(uintptr_t)&o->pick;
    return !o->final || sched_could_place(o->env.sched, o->final, j, &group, scratch);
}

/* The last change: who waits for what never comes back need not wait. */
static void settle_fleet(struct outages *o)
{
    const struct plan *p = o->env.plan;
    struct cluster *final = cluster_create(p);
    int64_t out = 0;
    for (uint32_t card = 0; card < (uint64_t)p->cards; card++) {
        const unsigned why = cluster_card(o->env.cluster, card)->out & OUT_FOR_GOOD;
        if (why) cluster_card_service(final, card, why, 0);
        out += why != 0;
    }
    for (int32_t node = 0; node < p->nodes; node++) {
        const unsigned why = cluster_node(o->env.cluster, node)->out & OUT_FOR_GOOD;
        if (why) cluster_node_service(final, node, why, 0);
        out += why != 0;
    }
    if (out == 0) {
        cluster_destroy(final);
        return;
    }
    o->final = final;
    struct job *next;
    for (struct job *j = sched_next(o->env.sched, NULL); j; j = next) {
        next = sched_next(o->env.sched, j);
        if (!outages_serve(o, j)) o->env.give_up(o->env.ctx, j);
    }
}

bool outages_expect(const struct outages *o)
{
    return o->changes_left > 0;
}

void outages_change(struct outages *o, uint32_t index, simtime now)
{
    const struct change *c = &o->change.v[index];
    const struct capacity_event *e = c->event;
    const unsigned set = bits_of[e->change].set, clear = bits_of[e->change].clear;
    const bool hits = e->change == CAPACITY_FAIL, whole = is_whole_node(o, c);
    for (int64_t node = e->first_node; node <= e->last_node; node++) {
        for (int64_t k = e->first_card; k <= e->last_card; k++)
            service_card(o, card_at(o, c->group, node, k), set, clear, hits, now);
        /* a node with a card in service is in service */
        if (whole || e->change == CAPACITY_ADD) service_node(o, c->group, node, set, clear, hits);
    }
    if (--o->changes_left == 0) settle_fleet(o);
}

/* Cards whose first change is to be added are not there yet. */
static void take_out_new(struct outages *o, size_t group)
{
    const struct plan_group *g = &o->env.plan->group[group];
    unsigned char *seen = xcalloc((size_t)(g->cards + g->spec->nodes), 1),
                  *node_seen = seen + g->cards;
    for (size_t i = 0; i < g->spec->n_changes; i++) {
        const struct change c = { &g->spec->change[i], group };
        const struct capacity_event *e = c.event;
        const bool comes = e->change == CAPACITY_ADD;
        for (int64_t node = e->first_node; node <= e->last_node; node++) {
            for (int64_t k = e->first_card; k <= e->last_card; k++) {
                if (!seen[node * g->real_per_node + k] && comes)
                    service_card(o, card_at(o, group, node, k), OUT_ABSENT, 0, false, 0);
                seen[node * g->real_per_node + k] = 1;
            }
            if (!is_whole_node(o, &c)) continue;
            if (!node_seen[node] && comes) service_node(o, group, node, OUT_ABSENT, 0, false);
            node_seen[node] = 1;
        }
    }
    free(seen);
}

/* ---- programs ---- */

static void strike_physical_node(struct outages *o, uint32_t card)
{
    const struct place w = place_of(o, card);
    for (int64_t k = 0; k < o->env.plan->group[w.group].real_per_node; k++)
        strike_card(o, card_at(o, w.group, w.unit.node, k));
}

void outages_crash(struct outages *o, struct job *j, simtime now)
{
    const struct plan *p = o->env.plan;
    const struct plan_group *g = &p->group[j->group];
    const enum blast blast = p->share->blast ? p->share->blast(g->params, &g->type) : BLAST_JOB;
    VEC(uint32_t) card = { 0 };
    (void)now;
    o->totals.job_faults++;
    for (int32_t i = 0; i < j->n_holdings; i++) vec_push(&card, j->holding[i].card);
    o->env.strike(o->env.ctx, j);
    for (size_t i = 0; i < card.n && blast != BLAST_JOB; i++)
        blast == BLAST_CARD ? strike_card(o, card.v[i]) : strike_physical_node(o, card.v[i]);
    vec_fini(&card);
}

static double rate(simtime mtbf)
{
    return mtbf > 0 ? 1 / simtime_s(mtbf) : 0;
}

double outages_job_mtbf_s(const struct plan *p, size_t group, int64_t cards)
{
    const struct plan_group *g = &p->group[group];
    const struct fault_rates *r = &g->spec->rates;
    const int64_t per = g->real_per_node > 0 ? g->real_per_node : 1;
    const int64_t whole = cards > 0 ? (cards + per - 1) / per : 1;
    const double nodes = (double)whole;
    const double racks =
        g->spec->nodes_per_rack != CFG_NO_INT ? ceil(nodes / (double)g->spec->nodes_per_rack) : 1;
    if (!g->spec->fails) return INFINITY;
    return 1 / ((double)cards * rate(r->card_mtbf) + nodes * rate(r->node_mtbf) +
                racks * rate(r->rack_mtbf) + rate(r->job_mtbf));
}

struct outage_totals *outages_totals(struct outages *o)
{
    return &o->totals;
}

/* ---- creation ---- */

static void schedule_changes(struct outages *o, size_t group)
{
    const struct fleet_group *g = o->env.plan->group[group].spec;
    take_out_new(o, group);
    for (size_t i = 0; i < g->n_changes; i++) {
        vec_push(&o->change, ((struct change){ &g->change[i], group }));
        evq_at(o->env.q, g->change[i].at, EV_FAULT, o->env.change_kind,
               (uint32_t)(o->change.n - 1));
    }
}

struct outages *outages_create(const struct outage_env *env)
{
    const struct plan *p = env->plan;
    const uint64_t seed = (uint64_t)p->scenario->seed;
    int64_t nodes = 0, racks = 0;
    bool any = false;
    for (size_t g = 0; g < p->n_groups; g++) {
        any |= p->group[g].spec->fails || p->group[g].spec->n_changes;
        nodes += p->group[g].spec->nodes;
    }
    if (!any) return NULL;
    struct outages *o = xcalloc(1, sizeof *o);
    o->env = *env;
    o->group = xcalloc(p->n_groups, sizeof *o->group);
    o->nodes = nodes;
    o->jobs = fault_stream(seed, env->replication, NULL);
    nodes = 0;
    for (size_t g = 0; g < p->n_groups; g++) {
        const struct fleet_group *spec = p->group[g].spec;
        const int64_t per = spec->nodes_per_rack;
        const int64_t n = per == CFG_NO_INT ? 0 : (spec->nodes + per - 1) / per;
        o->group[g] = (struct group_units){ fault_stream(seed, env->replication, spec->name), nodes,
                                            racks, n };
        nodes += spec->nodes;
        racks += n;
    }
    o->flips = xcalloc((size_t)(p->cards + nodes + racks), sizeof *o->flips);
    for (size_t g = 0; g < p->n_groups; g++) {
        const struct plan_group *pg = &p->group[g];
        const struct fleet_group *spec = pg->spec;
        for (int64_t k = 0; spec->fails && spec->rates.card_mtbf > 0 && k < pg->cards; k++)
            schedule_flip(o, (uint32_t)(pg->first_card + k), 0);
        for (int64_t k = 0; spec->fails && spec->rates.node_mtbf > 0 && k < spec->nodes; k++)
            schedule_flip(o, (uint32_t)(p->cards + o->group[g].first_node + k), 0);
        for (int64_t k = 0; spec->fails && spec->rates.rack_mtbf > 0 && k < o->group[g].racks; k++)
            schedule_flip(o, (uint32_t)(p->cards + o->nodes + o->group[g].first_rack + k), 0);
        schedule_changes(o, g);
    }
    o->changes_left = o->change.n;
    return o;
}

void outages_destroy(struct outages *o)
{
    if (!o) return;
    cluster_destroy(o->final);
    vec_fini(&o->pick.card);
    vec_fini(&o->change);
    vec_fini(&o->list);
    free(o->group);
    free(o->flips);
    free(o);
}
