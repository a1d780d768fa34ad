/* Moves out of the way of the head of the queue, of the second engine: from the head of
 * engine/sched_migrate.c. For a gang a node is cleared card by card on a list of who is where, for
 * an instance one or two jobs leave a card. */
#include "support/second_inside.h"

enum { NODES_TRIED = 8, MOST_MOVED = 64 };

struct cleared {
    struct view then; /* without those who are lifted */
    int n, job[SECOND_JOBS];
    struct place at[SECOND_JOBS], head;
};

static bool lifted(const struct cleared *c, int job)
{
    for (int i = 0; i < c->n; i++)
        if (c->job[i] == job) return true;
    return false;
}

static bool lift_one(const struct engine *e, struct cleared *c, int job, int card)
{
    const struct life *l = &e->life[job];
    if (!l->on || !second_holds_card(&l->at, card) || !l->working) return false;
    second_drop(&c->then, job);
    c->job[c->n++] = job;
    return true;
}

/* All jobs on the card go, or nobody of them. */
static bool lift_all(const struct engine *e, struct cleared *c, int card)
{
    struct cleared tried = *c;
    for (int j = 0; j < e->n; j++) {
        const struct life *l = &e->life[j];
        if (!l->on || !second_holds_card(&l->at, card) || lifted(&tried, j)) continue;
        if (!l->working || tried.n == MOST_MOVED) return false;
        second_drop(&tried.then, j);
        tried.job[tried.n++] = j;
    }
    *c = tried;
    return true;
}

/* The head has a place there, then each of those who were lifted, on no slower wires. */
static bool resettle(const struct engine *e, struct cleared *c, int head, int group)
{
    bool only[GROUPS] = { false };
    struct view v = c->then;
    only[group] = true;
    if (!second_find_among(e, &v, NULL, head, only, e->like, &c->head)) return false;
    second_put(&v, head, &c->head);
    for (int i = 0; i < c->n; i++) {
        if (!second_find_among(e, &v, NULL, c->job[i], only, e->like, &c->at[i]) ||
            second_wires(e, &c->at[i]) < e->life[c->job[i]].wires)
            return false;
        second_put(&v, c->job[i], &c->at[i]);
    }
    return true;
}

/* Of those on the node that are in use the card with the fewest units in use, then the first;
 * -1. */
static int next_card(const struct engine *e, const struct plan_group *g, int node, bool *done)
{
    const int first = (int)(g->first_card + (node - g->first_node) * g->per_node);
    int best = -1, fewest = 0;
    for (int c = first; c < first + g->per_node; c++) {
        const int used = g->capacity - second_room_on(e, &e->now, c).units;
        if (done[c] || used == 0 || (best >= 0 && used >= fewest)) continue;
        best = c;
        fewest = used;
    }
    if (best >= 0) done[best] = true;
    return best;
}

static bool clear_node(const struct engine *e, struct cleared *c, int head, int group, int node,
                       int missing)
{
    bool done[SECOND_CARDS] = { false };
    int card;
    c->then = e->now;
    c->n = 0;
    while ((card = next_card(e, &e->plan->group[group], node, done)) >= 0) {
        missing -= lift_all(e, c, card);
        if (missing <= 0 && resettle(e, c, head, group)) return true;
    }
    return false;
}

/* An instance where others are made on demand: one or two jobs leave the card. */
static bool clear_card(const struct engine *e, struct cleared *c, int head, int group, int card)
{
    for (int pair = 0; pair < 2; pair++)
        for (int a = 0; a < e->n; a++)
            for (int b = pair ? a + 1 : a; b < (pair ? e->n : a + 1); b++) {
                c->then = e->now;
                c->n = 0;
                if (lift_one(e, c, a, card) && (!pair || lift_one(e, c, b, card)) &&
                    resettle(e, c, head, group))
                    return true;
            }
    return false;
}

/* Of the cards that have instances in use and as many units free as the head asks for those with
 * most free, then the first. */
static bool for_instance(struct engine *e, struct cleared *c, int head, int group)
{
    const struct plan_group *g = &e->plan->group[group];
    const int wants = second_demand_of(e, head, group)->units;
    bool tried[SECOND_CARDS] = { false };
    for (int k = 0; k < NODES_TRIED; k++) {
        int best = -1, most = wants - 1;
        for (int card = (int)g->first_card; card < g->first_card + g->cards; card++) {
            const struct room r = second_room_on(e, &e->now, card);
            if (tried[card] || r.tenants == 0 || r.units <= most) continue;
            if (second_card_out(e, &e->now, card)) continue;
            best = card;
            most = r.units;
        }
        if (best < 0) return false;
        tried[best] = true;
        if (clear_card(e, c, head, group, best)) return true;
    }
    return false;
}

static bool same_cards(const struct place *x, const struct place *y)
{
    for (int i = 0; i < x->n; i++)
        if (x->card[i] != y->card[i]) return false;
    return x->slice.start == y->slice.start;
}

static void carry_out(struct engine *e, const struct cleared *c, int head)
{
    bool moves[SECOND_JOBS];
    for (int i = 0; i < c->n; i++) {
        moves[i] = !same_cards(&e->life[c->job[i]].at, &c->at[i]);
        if (moves[i]) second_lift(e, c->job[i]);
    }
    for (int i = 0; i < c->n; i++)
        if (moves[i]) second_set_down(e, c->job[i], &c->at[i]);
    second_start(e, head, &c->head);
}

bool second_defrag(struct engine *e, int head)
{
    for (int group = 0; group < (int)e->plan->n_groups; group++) {
        const struct plan_group *g = &e->plan->group[group];
        const struct demand *d = second_demand_of(e, head, group);
        bool tried[SECOND_CARDS] = { false };
        struct cleared c;
        int all = 0;
        if (e->on_demand && e->life[head].wish[group].possible && d->mig_profile >= 0 &&
            for_instance(e, &c, head, group)) {
            carry_out(e, &c, head);
            return true;
        }
        if (!e->life[head].wish[group].possible || d->cards == 0 || d->mig_profile >= 0 ||
            d->cards > g->per_node)
            continue;
        for (int node = 0; node < g->nodes; node++)
            all += second_eligible_on(e, &e->now, (int)g->first_node + node);
        for (int k = 0; k < NODES_TRIED && all >= d->cards; k++) {
            int best = -1, most = 0;
            for (int node = 0; node < g->nodes; node++) {
                const int free = second_eligible_on(e, &e->now, (int)g->first_node + node);
                if (tried[node] || free <= most) continue;
                best = node;
                most = free;
            }
            if (best < 0) break;
            tried[best] = true;
            if (!clear_node(e, &c, head, group, (int)g->first_node + best, d->cards - most))
                continue;
            carry_out(e, &c, head);
            return true;
        }
    }
    return false;
}
