/* Conservative backfill of the second engine: every promise is a claim, and what is free is counted
 * from all claims at every time at which one begins. */
#include "support/second_inside.h"

#include "support/support.h"

#include <stdlib.h>

struct claim {
    int job;
    bool runs; /* what it has of cards that are out is nobody's loss */
    struct place at;
    simtime from, until;
};

struct book {
    const struct engine *e;
    struct claim claim[2 * SECOND_JOBS];
    int n;
    bool shared;   /* cards are; else those of a node are as good as each other */
    bool by_units; /* of a group and time: instances, pools */
};

static simtime end_of(simtime from, simtime length)
{
    return length == JOB_NO_TIME || length >= SIM_NEVER - from ? SIM_NEVER : from + length;
}

static const struct plan_group *group_of_node(const struct engine *e, int node)
{
    const struct plan_group *g = e->plan->group;
    while (node >= g->first_node + g->nodes) g++;
    return g;
}

static int node_of(const struct engine *e, int card)
{
    const struct plan_group *g = second_group_of_card(e, card);
    return (int)(g->first_node + (card - g->first_card) / g->per_node);
}

/* What is out serves from then on. What is overdue comes at any moment, but not now. */
static simtime out_until(const struct book *b, simtime back)
{
    return back >= 0 && back <= b->e->clock ? b->e->clock + 1 : back;
}

static bool card_serves(const struct book *b, int card, simtime t)
{
    return out_until(b, second_card_back(b->e, card)) <= t;
}

static bool node_serves(const struct book *b, int node, simtime t)
{
    return out_until(b, second_node_back(b->e, node)) <= t;
}

static int cards_of(const struct book *b, const struct claim *c, int node)
{
    int here = 0;
    for (int i = 0; i < c->at.n; i++) here += node_of(b->e, c->at.card[i]) == node;
    return here;
}

static int64_t cores_of(const struct book *b, int job, int cards, int here)
{
    const int32_t all = b->e->life[job].job->cpus_milli;
    if (all == JOB_NO_INT) return 0;
    return cards == 0 ? all : ((int64_t)all * here + cards - 1) / cards;
}

struct left {
    int64_t cards, cores, units, bytes;
};

/* Of a node, and of a card of it (-1: none), at one time. */
static struct left left_at(const struct book *b, int node, int card, simtime t)
{
    const struct plan_group *g = group_of_node(b->e, node);
    const int first = (int)(g->first_card + (node - g->first_node) * g->per_node);
    struct left l = { .cores = node_serves(b, node, t) ? g->node_cpus_milli : -1 };
    for (int c = first; c < first + g->per_node; c++) l.cards += card_serves(b, c, t);
    if (card >= 0 && card_serves(b, card, t)) {
        l.units = g->capacity;
        l.bytes = (int64_t)g->type.gpu->usable_bytes;
    }
    for (int i = 0; i < b->n; i++) {
        const struct claim *c = &b->claim[i];
        if (c->from > t || c->until <= t) continue;
        const int here = cards_of(b, c, node);
        l.cards -= here;
        for (int k = 0; k < c->at.n && c->runs; k++)
            l.cards += node_of(b->e, c->at.card[k]) == node && !card_serves(b, c->at.card[k], t);
        if (g->node_cpus_milli != INT64_MAX && (here > 0 || (c->at.n == 0 && c->at.node == node)))
            l.cores -= cores_of(b, c->job, c->at.n, here);
        if (card < 0 || !second_holds_card(&c->at, card)) continue;
        l.units -= second_demand_of(b->e, c->job, c->at.group)->units;
        l.bytes -= (int64_t)second_demand_of(b->e, c->job, c->at.group)->reserve_bytes;
    }
    return l;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static struct left least(const struct book *b, int node, int card, simtime from, simtime until)
{
    struct left l = left_at(b, node, card, from);
    for (int i = 0; i < b->n; i++) {
        if (b->claim[i].from <= from || b->claim[i].from >= until) continue;
        const struct left then = left_at(b, node, card, b->claim[i].from);
        l = (struct left){ lesser(l.cards, then.cards), lesser(l.cores, then.cores),
                           lesser(l.units, then.units), lesser(l.bytes, then.bytes) };
    }
    return l;
}

static bool node_does(const struct book *b, int node, int job, int cards, int here, simtime from,
                      simtime until)
{
    if (!node_serves(b, node, from)) return false;
    if (group_of_node(b->e, node)->node_cpus_milli == INT64_MAX) return true;
    return least(b, node, -1, from, until).cores >= cores_of(b, job, cards, here);
}

/* The card, units aside of its node, serves the job all that time; if that begins now, now too. */
static bool card_does(const struct book *b, int card, int job, int group, simtime from,
                      simtime until)
{
    const struct demand *d = second_demand_of(b->e, job, group);
    const struct place alone = { .group = group, .n = 1, .card = { card } };
    if (from == b->e->clock && !second_holds(b->e, &b->e->now, job, &alone)) return false;
    if (!b->shared) return true;
    const struct left l = least(b, node_of(b->e, card), card, from, until);
    for (int i = 0; i < b->n; i++) {
        const struct claim *c = &b->claim[i];
        if (c->from < until && c->until > from && second_holds_card(&c->at, card) && d->owner &&
            second_demand_of(b->e, c->job, c->at.group)->owner != d->owner)
            return false;
    }
    return l.units >= d->units && l.bytes >= (int64_t)d->reserve_bytes;
}

/* Cards of a node for the job; the first `want` of them go to `out`. */
static int cards_on(const struct book *b, int node, int job, int group, simtime from, simtime until,
                    int want, struct place *out)
{
    const struct plan_group *g = &b->e->plan->group[group];
    const int first = (int)(g->first_card + (node - g->first_node) * g->per_node);
    int n = 0, there = 0;
    for (int c = first; c < first + g->per_node; c++) {
        if (!card_does(b, c, job, group, from, until)) continue;
        if (out && there < want) out->card[out->n++] = c;
        there++;
    }
    n = there;
    if (!b->shared) n = (int)least(b, node, -1, from, until).cards;
    return n;
}

static bool on_node(const struct book *b, int job, int group, int want, bool first, simtime from,
                    simtime until, struct place *out)
{
    const struct plan_group *g = &b->e->plan->group[group];
    const int cards = second_demand_of(b->e, job, group)->cards;
    int best = -1, fewest = INT32_MAX;
    for (int node = (int)g->first_node; node < g->first_node + g->nodes; node++) {
        bool used = false;
        for (int i = 0; i < out->n; i++) used |= node_of(b->e, out->card[i]) == node;
        const int n = cards_on(b, node, job, group, from, until, 0, NULL);
        if (used || n < want || n >= fewest || (first && best >= 0) ||
            !node_does(b, node, job, cards, want, from, until))
            continue;
        best = node;
        fewest = n;
    }
    if (best < 0) return false;
    cards_on(b, best, job, group, from, until, want, out);
    return true;
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int64_t units_at(const struct book *b, int group, simtime t)
{
    const struct plan_group *g = &b->e->plan->group[group];
    int64_t left = 0;
    for (int64_t c = g->first_card; c < g->first_card + g->cards; c++)
        if (card_serves(b, (int)c, t)) left += g->capacity;
    for (int i = 0; i < b->n; i++) {
        const struct claim *c = &b->claim[i];
        const struct demand *d = second_demand_of(b->e, c->job, group);
        if (c->at.group != group || c->from > t || c->until <= t) continue;
        left -= (int64_t)d->cards * d->units;
        for (int k = 0; k < c->at.n && c->runs; k++)
            if (!card_serves(b, c->at.card[k], t)) left += d->units;
    }
    return left;
}

static bool find_units(const struct book *b, int job, int group, simtime from, simtime until)
{
    const struct demand *d = second_demand_of(b->e, job, group);
    const int64_t want = (int64_t)d->cards * d->units;
    bool room = units_at(b, group, from) >= want;
    for (int i = 0; i < b->n; i++)
        if (b->claim[i].from > from && b->claim[i].from < until)
            room &= units_at(b, group, b->claim[i].from) >= want;
    return room;
}

static bool find(const struct book *b, int job, int group, simtime from, simtime until,
                 struct place *out)
{
    const struct plan_group *g = &b->e->plan->group[group];
    const struct demand *d = second_demand_of(b->e, job, group);
    *out = (struct place){ .group = group, .node = -1, .slice.profile = -1 };
    if (b->by_units) return find_units(b, job, group, from, until);
    if (d->cards == 0) {
        for (int n = (int)g->first_node; n < g->first_node + g->nodes; n++) {
            if (!node_does(b, n, job, 0, 1, from, until)) continue;
            out->node = n;
            return true;
        }
        return false;
    }
    if (d->cards == 1 && b->shared) {
        struct left tightest = { 0 };
        for (int c = (int)g->first_card; c < g->first_card + g->cards; c++) {
            const struct left l = least(b, node_of(b->e, c), c, from, until);
            if (!card_does(b, c, job, group, from, until) ||
                !node_does(b, node_of(b->e, c), job, 1, 1, from, until) ||
                (out->n > 0 && (l.units > tightest.units ||
                                (l.units == tightest.units && l.bytes >= tightest.bytes))))
                continue;
            tightest = l;
            out->n = 1;
            out->card[0] = c;
        }
        return out->n > 0;
    }
    int left = d->cards;
    for (; left >= g->per_node; left -= (int)g->per_node)
        if (!on_node(b, job, group, (int)g->per_node, true, from, until, out)) return false;
    if (left > 0 && !on_node(b, job, group, left, false, from, until, out)) return false;
    qsort(out->card, (size_t)out->n, sizeof *out->card, ascending);
    return true;
}

/* Is this place nobody else's all that time? */
static bool keeps(const struct book *b, int job, const struct place *at, simtime from,
                  simtime until)
{
    if (at->n == 0) return node_does(b, at->node, job, 0, 1, from, until);
    for (int i = 0; i < at->n; i++) {
        const struct claim me = { .at = *at };
        const int node = node_of(b->e, at->card[i]), here = cards_of(b, &me, node);
        if (!node_does(b, node, job, at->n, here, from, until) ||
            (b->shared ? !card_does(b, at->card[i], job, at->group, from, until)
                       : least(b, node, -1, from, until).cards < here))
            return false;
    }
    return true;
}

static simtime next_change(const struct book *b, simtime after)
{
    simtime next = second_next_back(b->e, after);
    if (after == b->e->clock && second_next_back(b->e, 0) <= after) next = after + 1; /* overdue */
    for (int i = 0; i < b->n; i++) {
        if (b->claim[i].from > after && b->claim[i].from < next) next = b->claim[i].from;
        if (b->claim[i].until > after && b->claim[i].until < next) next = b->claim[i].until;
    }
    return next;
}

static simtime promise(const struct book *b, int job, simtime from, bool *now, struct place *out)
{
    const simtime length = b->e->life[job].job->limit;
    simtime best = SIM_NEVER;
    for (int g = 0; g < (int)b->e->plan->n_groups; g++) {
        struct place at;
        simtime t = from;
        now[g] = false;
        if (!b->e->life[job].wish[g].possible) continue;
        while (t != SIM_NEVER && !find(b, job, g, t, end_of(t, length), &at)) t = next_change(b, t);
        now[g] = t == from;
        if (t >= best) continue;
        best = t;
        *out = at;
    }
    return best;
}

static void claim(struct book *b, int job, const struct place *at, simtime from, simtime until)
{
    b->claim[b->n++] = (struct claim){ job, b->e->life[job].on, *at, from, until };
}

/* Where a job that may start now does: where the policy has it if nobody is promised that, else at
 * `at`. */
static bool place_now(const struct book *b, int job, const bool *now, struct place *at)
{
    const struct engine *e = b->e;
    struct place own;
    if (b->by_units) return second_find_among(e, &e->now, NULL, job, now, e->like, at);
    if (second_find_among(e, &e->now, NULL, job, now, e->like, &own) &&
        keeps(b, job, &own, e->clock, end_of(e->clock, e->life[job].job->limit)))
        *at = own;
    return second_holds(e, &e->now, job, at);
}

/* Who overran its limit ends at any moment, but not now. */
static simtime held_until(const struct engine *e, int job)
{
    return e->life[job].promised > e->clock ? e->life[job].promised : e->clock + 1;
}

void second_conservative(struct engine *e)
{
    struct book *b = calloc(1, sizeof *b);
    struct place out;
    bool now[GROUPS];
    if (!b) fail_msg("no memory");
    b->e = e;
    b->by_units = e->plan->share->instances || e->plan->share->pooled || e->plan->gang != GANG_NODE;
    for (size_t g = 0; g < e->plan->n_groups; g++) b->shared |= e->plan->group[g].capacity > 1;
    for (int k = 0; k < e->now.n; k++)
        claim(b, e->now.job[k], &e->now.at[k], e->clock, held_until(e, e->now.job[k]));
    second_walk(e);
    for (int job = second_step(e); job >= 0; job = second_step(e)) {
        if (!second_may(e, &e->now, job)) {
            second_leave(e, job);
            continue;
        }
        const simtime length = e->life[job].job->limit;
        simtime at = promise(b, job, e->clock, now, &out);
        if (at == e->clock && place_now(b, job, now, &out)) {
            claim(b, job, &out, at, second_end(e, job, &out));
            second_start(e, job, &out);
            continue;
        }
        if (at == e->clock) { /* no place after all: from the first end on */
            simtime first = SIM_NEVER;
            for (int k = 0; k < e->now.n; k++)
                if (held_until(e, e->now.job[k]) < first) first = held_until(e, e->now.job[k]);
            at = first < SIM_NEVER ? promise(b, job, first, now, &out) : SIM_NEVER;
        }
        if (at == SIM_NEVER && second_is_short(e)) continue;
        if (at == SIM_NEVER) break;
        claim(b, job, &out, at, end_of(at, length));
    }
    free(b);
}
