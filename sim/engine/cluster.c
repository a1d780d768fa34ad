#include "engine/cluster_inside.h"

#include "base/err.h"

#include <stdlib.h>

TREE_GENERATE(room, card, by_room, room_compare)

const struct plan *cluster_plan(const struct cluster *c)
{
    return c->plan;
}

const struct card *cluster_card(const struct cluster *c, uint32_t card)
{
    return &c->card[card];
}

const struct node *cluster_node(const struct cluster *c, int32_t node)
{
    return &c->node[node];
}

void *cluster_place_state(const struct cluster *c)
{
    return c->place_state;
}

/* ---- index upkeep: a card is taken out, changed, and put back ---- */

/* Cards a gang may use: a slot free (slots), or the whole card. */
static bool is_eligible(const struct cluster *c, const struct card *card)
{
    const struct group *g = &c->group[card->group];
    if (card->out) return false;
    if (!card->mig) return card->free_units >= g->gang_units;
    return cluster_is_empty(card, &c->plan->group[card->group]) &&
           !(card->mig->fixed && card->mig->on) && !cluster_mig_making(card);
}

static void node_eligible(struct cluster *c, const struct card *card, int delta)
{
    struct node *node = &c->node[card->node];
    struct group *g = &c->group[card->group];
    const size_t at = (size_t)(node->index - c->plan->group[card->group].first_node);
    cluster_nodes_move(&g->nodes, at, node->eligible, node->eligible + delta);
    node->eligible += delta;
    if (c->plan->place->by_number) maxtree_set(&g->eligible_on, at, node->eligible);
}

void cluster_unlist(struct cluster *c, struct card *card)
{
    struct group *g = &c->group[card->group];
    if (card->out) return;
    if (card->mig)
        cluster_mig_list(c, card, false);
    else if (card->listed)
        RB_REMOVE(room, &g->room, card);
    card->listed = false;
}

void cluster_list(struct cluster *c, struct card *card)
{
    struct group *g = &c->group[card->group];
    const size_t at = cluster_in_group(c, card);
    const bool was = bits_has(&g->eligible, at), is = is_eligible(c, card);
    if (card->mig && !card->out) {
        cluster_mig_list(c, card, true);
    } else if (g->shared && card->free_units > 0 && !card->out) {
        RB_INSERT(room, &g->room, card);
        card->listed = true;
    }
    if (c->plan->place->by_number) maxtree_set(&g->units_of, at, card->out ? 0 : card->free_units);
    if (was == is) return;
    is ? bits_set(&g->eligible, at) : bits_clear(&g->eligible, at);
    node_eligible(c, card, is ? 1 : -1);
    cluster_zones_move(&g->zones, at, is ? 1 : -1);
}

/* ---- creation ---- */

static void group_init(struct cluster *c, size_t index)
{
    const struct plan *p = c->plan;
    const struct plan_group *pg = &p->group[index];
    struct group *g = &c->group[index];
    const size_t cards = (size_t)pg->cards;
    RB_INIT(&g->room);
    cluster_nodes_init(&g->nodes, pg);
    g->shared = pg->capacity > 1;
    g->free_units = pg->cards * pg->capacity;
    bits_init(&g->eligible, cards);
    if (p->place->by_number) {
        maxtree_init(&g->units_of, cards);
        maxtree_init(&g->eligible_on, (size_t)pg->nodes);
    }
    /* In slot policies a gang takes one slot of each card, elsewhere the whole card. */
    const struct request whole = { .gpus_milli = 1000, .slots = 1, .bytes = JOB_NO_BYTES };
    struct demand d = { 0 };
    g->gang_units = p->share->demand(pg->params, &pg->type, &whole, &d) ? pg->capacity : d.units;
    if (p->share->instances) cluster_mig_init(g, pg);
    cluster_zones_init(&g->zones, p, pg);
    for (int64_t n = 0; n < pg->nodes; n++) {
        struct node *node = &c->node[pg->first_node + n];
        *node = (struct node){ .index = (int32_t)(pg->first_node + n),
                               .group = (int16_t)index,
                               .free_cpus_milli = pg->node_cpus_milli,
                               .free_host_bytes = pg->node_host_bytes };
    }
    for (int64_t k = 0; k < pg->cards; k++) {
        struct card *card = &c->card[pg->first_card + k];
        *card = (struct card){ .index = (uint32_t)(pg->first_card + k),
                               .node = (int32_t)(pg->first_node + k / pg->per_node),
                               .group = (int16_t)index,
                               .free_units = pg->capacity,
                               .free_bytes = pg->type.gpu->usable_bytes };
        if (g->mig) cluster_mig_card_init(card, p, pg);
        cluster_list(c, card);
    }
}

struct cluster *cluster_create(const struct plan *plan)
{
    struct cluster *c = xcalloc(1, sizeof *c);
    c->plan = plan;
    c->card = xcalloc_lines((size_t)plan->cards, sizeof *c->card);
    c->node = xcalloc((size_t)plan->nodes, sizeof *c->node);
    c->group = xcalloc(plan->n_groups, sizeof *c->group);
    for (size_t g = 0; g < plan->n_groups; g++) group_init(c, g);
    if (plan->place->create) c->place_state = plan->place->create(c);
    return c;
}

void cluster_destroy(struct cluster *c)
{
    if (!c) return;
    if (c->plan->place->destroy) c->plan->place->destroy(c->place_state);
    for (size_t i = 0; i < c->plan->n_groups; i++) {
        struct group *g = &c->group[i];
        bits_fini(&g->eligible);
        cluster_nodes_fini(&g->nodes, &c->plan->group[i]);
        maxtree_fini(&g->units_of);
        maxtree_fini(&g->eligible_on);
        cluster_zones_fini(&g->zones);
        if (g->mig) cluster_mig_fini(g);
    }
    for (int64_t i = 0; i < c->plan->cards; i++) free(c->card[i].mig);
    free(c->card);
    free(c->node);
    free(c->group);
    free(c);
}

/* ---- queries ---- */

int64_t cluster_cpus_for(const struct place_request *r, int64_t on_node, int64_t cards)
{
    if (r->cpus_milli == JOB_NO_INT) return 0;
    return ((int64_t)r->cpus_milli * on_node + cards - 1) / cards;
}

uint64_t cluster_host_bytes_for(const struct place_request *r, int64_t on_node, int64_t cards)
{
    if (r->host_bytes == JOB_NO_BYTES) return 0;
    const uint64_t per_card = r->host_bytes / (uint64_t)cards,
                   rest = r->host_bytes % (uint64_t)cards;
    return per_card * (uint64_t)on_node +
           (rest * (uint64_t)on_node + (uint64_t)cards - 1) / (uint64_t)cards;
}

static bool node_holds(const struct node *n, const struct place_request *r, int64_t on_node)
{
    const int64_t cards = r->demand->cards ? r->demand->cards : 1;
    return !n->out && n->free_cpus_milli >= cluster_cpus_for(r, on_node, cards) &&
           n->free_host_bytes >= cluster_host_bytes_for(r, on_node, cards);
}

bool cluster_node_holds(const struct cluster *c, int32_t node, const struct place_request *r,
                        int64_t on_node)
{
    return node_holds(&c->node[node], r, on_node);
}

static bool owner_fits(const struct card *card, const struct demand *d)
{
    return card->tenants == 0 || d->owner == 0 || card->owner == d->owner;
}

bool cluster_card_fits(const struct cluster *c, uint32_t index, const struct demand *d)
{
    const struct card *card = &c->card[index];
    if (card->out || !owner_fits(card, d)) return false;
    if (!card->mig) return card->free_units >= d->units && card->free_bytes >= d->reserve_bytes;
    const bool whole = is_eligible(c, card);
    return d->mig_profile < 0 ? whole : cluster_mig_fits(c, card, d->mig_profile, whole);
}

/* Has the second state of the request room for this card, `on_node` of the job's cards on its
 * node? */
bool cluster_beside_holds(const struct place_request *r, uint32_t card, int64_t on_node)
{
    if (!r->beside) return true;
    return cluster_card_fits(r->beside, card, r->demand) &&
           node_holds(&r->beside->node[r->beside->card[card].node], r, on_node);
}

static bool tightest_card(const struct cluster *c, const struct place_request *r, struct pick *out)
{
    struct group *g = &c->group[r->group];
    struct card wanted = { .free_units = r->demand->units, .free_bytes = r->demand->reserve_bytes };
    struct card *card = RB_NFIND(room, &g->room, &wanted);
    while (card) {
        if (card->free_bytes < r->demand->reserve_bytes) {
            /* The next level begins with too few bytes: skip to where they suffice. */
            wanted.free_units = card->free_units;
            card = RB_NFIND(room, &g->room, &wanted);
            continue;
        }
        if (owner_fits(card, r->demand) && node_holds(&c->node[card->node], r, 1) &&
            cluster_beside_holds(r, card->index, 1)) {
            vec_push(&out->card, card->index);
            return true;
        }
        card = RB_NEXT(room, &g->room, card);
    }
    return false;
}

static bool loosest_card(const struct cluster *c, const struct place_request *r, struct pick *out)
{
    struct group *g = &c->group[r->group];
    struct card *last = RB_MAX(room, &g->room);
    while (last && last->free_units >= r->demand->units) {
        /* Equal cards stand together; begin with the lowest number among them. */
        struct card wanted = { .free_units = last->free_units, .free_bytes = last->free_bytes };
        struct card *first = RB_NFIND(room, &g->room, &wanted);
        for (struct card *card = first; last->free_bytes >= r->demand->reserve_bytes;
             card = RB_NEXT(room, &g->room, card)) {
            if (owner_fits(card, r->demand) && node_holds(&c->node[card->node], r, 1) &&
                cluster_beside_holds(r, card->index, 1)) {
                vec_push(&out->card, card->index);
                return true;
            }
            if (card == last) break;
        }
        last = RB_PREV(room, &g->room, first);
    }
    return false;
}

static bool first_card(const struct cluster *c, const struct place_request *r, struct pick *out)
{
    const struct group *g = &c->group[r->group];
    const int64_t first = c->plan->group[r->group].first_card;
    for (size_t at = maxtree_next(&g->units_of, 0, r->demand->units); at != MAXTREE_NONE;
         at = maxtree_next(&g->units_of, at + 1, r->demand->units)) {
        const struct card *card = &c->card[first + (int64_t)at];
        if (card->free_bytes < r->demand->reserve_bytes || !owner_fits(card, r->demand) ||
            !node_holds(&c->node[card->node], r, 1) || !cluster_beside_holds(r, card->index, 1))
            continue;
        vec_push(&out->card, card->index);
        return true;
    }
    return false;
}

bool cluster_one_card(const struct cluster *c, enum prefer prefer, const struct place_request *r,
                      struct pick *out)
{
    cluster_pick_reset(out);
    switch (prefer) {
    case PREFER_TIGHTEST: return tightest_card(c, r, out);
    case PREFER_LOOSEST: return loosest_card(c, r, out);
    case PREFER_FIRST: return first_card(c, r, out);
    }
    BUG("no such preference");
}

/* The first `want` cards of a node that fit, appended to the pick; false: there are fewer. */
bool cluster_cards_of_node(const struct cluster *c, const struct node *node,
                           const struct place_request *r, int64_t want, struct pick *out)
{
    const struct plan_group *pg = &c->plan->group[node->group];
    const struct group *g = &c->group[node->group];
    const size_t from = (size_t)((node->index - pg->first_node) * pg->per_node);
    const size_t to = from + (size_t)pg->per_node;
    const size_t before = out->card.n;
    const int64_t on_node = want;
    if (want > node->eligible || !node_holds(node, r, want)) return false;
    for (size_t at = bits_next(&g->eligible, from); want > 0 && at < to;
         at = bits_next(&g->eligible, at + 1)) {
        const uint32_t card = (uint32_t)(pg->first_card + (int64_t)at);
        if (!cluster_card_fits(c, card, r->demand) || !cluster_beside_holds(r, card, on_node))
            continue;
        vec_push(&out->card, card);
        want--;
    }
    if (want == 0) return true;
    out->card.n = before;
    return false;
}

static bool looser(const struct card *a, const struct card *b)
{
    return a->free_units > b->free_units ||
           (a->free_units == b->free_units && a->free_bytes > b->free_bytes);
}

/* The `want` cards just appended to the pick are of this node: instead of them those with the most
 * left. */
static void choose_loosest(const struct cluster *c, const struct node *node,
                           const struct place_request *r, int64_t want, struct pick *out)
{
    const struct plan_group *pg = &c->plan->group[node->group];
    const int64_t first = pg->first_card + (node->index - pg->first_node) * pg->per_node;
    const size_t before = out->card.n - (size_t)want;
    for (size_t k = before; k < out->card.n; k++) {
        const struct card *best = NULL;
        for (int64_t at = first; at < first + pg->per_node; at++) {
            const struct card *card = &c->card[at];
            bool taken = false;
            for (size_t i = before; i < k; i++) taken |= out->card.v[i] == card->index;
            if (!taken && (!best || looser(card, best)) &&
                bits_has(&c->group[node->group].eligible, cluster_in_group(c, card)) &&
                cluster_card_fits(c, card->index, r->demand) &&
                cluster_beside_holds(r, card->index, want))
                best = card;
        }
        BUG_ON(!best);
        out->card.v[k] = best->index;
    }
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* `taken` (NULL: none): whole nodes that are spoken for, cards ascending. */
static bool on_one_node(const struct cluster *c, enum prefer prefer, const struct place_request *r,
                        int64_t want, const struct pick *taken, struct pick *out)
{
    const struct plan_group *pg = &c->plan->group[r->group];
    for (struct node *n = cluster_next_node(c, r->group, prefer, want, NULL); n;
         n = cluster_next_node(c, r->group, prefer, want, n)) {
        const uint32_t first =
            (uint32_t)(pg->first_card + (n->index - pg->first_node) * pg->per_node);
        const bool used = taken && taken->card.n &&
                          bsearch(&first, taken->card.v, taken->card.n, sizeof first, by_number);
        if (used || !cluster_cards_of_node(c, n, r, want, out)) continue;
        if (prefer == PREFER_LOOSEST && r->demand->units < pg->capacity)
            choose_loosest(c, n, r, want, out);
        return true;
    }
    return false;
}

/* Whole free nodes first, in order of number, then the rest on one more node. */
static bool on_whole_nodes(const struct cluster *c, enum prefer prefer,
                           const struct place_request *r, struct pick *out)
{
    const int64_t per_node = c->plan->group[r->group].per_node;
    int64_t whole = r->demand->cards / per_node;
    const int64_t rest = r->demand->cards % per_node;
    if (c->plan->racks != RACKS_ANY &&
        c->plan->group[r->group].spec->nodes_per_rack != CFG_NO_INT) {
        VEC(struct node *) list = { 0 };
        for (struct node *n = cluster_next_node(c, r->group, PREFER_TIGHTEST, per_node, NULL); n;
             n = cluster_next_node(c, r->group, PREFER_TIGHTEST, per_node, n))
            vec_push(&list, n);
        if (cluster_nodes_by_rack(c, r, whole, list.v, list.n, out)) whole = 0;
        vec_fini(&list);
        if (whole > 0) return false;
    }
    for (struct node *n = cluster_next_node(c, r->group, PREFER_TIGHTEST, per_node, NULL);
         n && whole > 0; n = cluster_next_node(c, r->group, PREFER_TIGHTEST, per_node, n))
        if (cluster_cards_of_node(c, n, r, per_node, out)) whole--;
    if (whole > 0) return false;
    return rest == 0 || on_one_node(c, prefer, r, rest, out, out);
}

static bool anywhere(const struct cluster *c, const struct place_request *r, struct pick *out)
{
    const struct plan_group *pg = &c->plan->group[r->group];
    const struct group *g = &c->group[r->group];
    const size_t want = (size_t)r->demand->cards;
    if (g->eligible.count < want) return false;
    int32_t node = -1;
    int64_t on_node = 0;
    for (size_t at = bits_next(&g->eligible, 0); at != BITS_NONE && out->card.n < want;
         at = bits_next(&g->eligible, at + 1)) {
        const uint32_t card = (uint32_t)(pg->first_card + (int64_t)at);
        if (c->card[card].node != node) on_node = 0;
        node = c->card[card].node;
        if (!cluster_card_fits(c, card, r->demand) ||
            !cluster_node_holds(c, node, r, on_node + 1) ||
            !cluster_beside_holds(r, card, on_node + 1))
            continue;
        vec_push(&out->card, card);
        on_node++;
    }
    return out->card.n == want;
}

bool cluster_whole_cards(const struct cluster *c, enum prefer prefer, const struct place_request *r,
                         struct pick *out)
{
    const struct plan_group *pg = &c->plan->group[r->group];
    const struct group *g = &c->group[r->group];
    const int64_t want = r->demand->cards;
    cluster_pick_reset(out);
    if ((int64_t)g->eligible.count < want) return false;
    bool found = g->mig && want == 1 && cluster_mig_off_card(c, r, out);
    if (cluster_in_domain(c, r)) {
        if (!cluster_domain_cards(c, prefer, r, out)) return false;
        found = true;
    }
    if (!found && want <= pg->per_node) found = on_one_node(c, prefer, r, want, NULL, out);
    if (!found && r->any_node) found = anywhere(c, r, out);
    if (!found && !r->any_node && want > pg->per_node) found = on_whole_nodes(c, prefer, r, out);
    if (!found) return false;
    if (out->card.n > 1) qsort(out->card.v, out->card.n, sizeof *out->card.v, by_number);
    if (g->mig) out->prepare = cluster_mig_off_delay(c, out);
    return true;
}

bool cluster_cpu_node(const struct cluster *c, const struct place_request *r, struct pick *out)
{
    const struct plan_group *pg = &c->plan->group[r->group];
    cluster_pick_reset(out);
    for (int64_t n = 0; n < pg->nodes; n++) {
        if (!node_holds(&c->node[pg->first_node + n], r, 1) ||
            (r->beside && !node_holds(&r->beside->node[pg->first_node + n], r, 1)))
            continue;
        out->node = (int32_t)(pg->first_node + n);
        return true;
    }
    return false;
}

bool cluster_holds(const struct cluster *c, const struct place_request *r, const struct pick *p)
{
    if (r->demand->cards == 0) return node_holds(&c->node[p->node], r, 1);
    for (size_t i = 0; i < p->card.n;) {
        const struct node *node = &c->node[c->card[p->card.v[i]].node];
        int64_t on_node = 0;
        for (; i < p->card.n && c->card[p->card.v[i]].node == node->index; i++, on_node++)
            if (!cluster_card_fits(c, p->card.v[i], r->demand)) return false;
        if (!node_holds(node, r, on_node)) return false;
    }
    return true;
}

/* ---- changes ---- */

static void node_change(struct cluster *c, int32_t index, const struct place_request *r,
                        int64_t on_node, int sign)
{
    struct node *n = &c->node[index];
    const struct plan_group *pg = &c->plan->group[n->group];
    const int64_t cards = r->demand->cards ? r->demand->cards : 1;
    if (pg->node_cpus_milli != INT64_MAX)
        n->free_cpus_milli -= sign * cluster_cpus_for(r, on_node, cards);
    if (pg->node_host_bytes == UINT64_MAX) return;
    const uint64_t bytes = cluster_host_bytes_for(r, on_node, cards);
    n->free_host_bytes = sign > 0 ? n->free_host_bytes - bytes : n->free_host_bytes + bytes;
}

static void card_change(struct cluster *c, uint32_t index, const struct place_request *r,
                        struct mig_slice slice, bool take)
{
    struct card *card = &c->card[index];
    struct group *g = &c->group[card->group];
    const struct demand *d = r->demand;
    cluster_unlist(c, card);
    if (card->mig) cluster_mig_change(card, g->mig, slice, take);
    if (take) {
        BUG_ON(card->free_units < d->units || card->free_bytes < d->reserve_bytes);
        card->free_units -= d->units;
        g->free_units -= d->units;
        card->free_bytes -= d->reserve_bytes;
        BUG_ON(!owner_fits(card, d));
        if (card->tenants++ == 0) card->owner = d->owner;
    } else {
        card->free_units += d->units;
        g->free_units += d->units;
        card->free_bytes += d->reserve_bytes;
        card->tenants--;
    }
    cluster_list(c, card);
}

static void change(struct cluster *c, const struct place_request *r, const struct pick *p,
                   bool take)
{
    const int sign = take ? 1 : -1;
    const struct place_ops *place = c->plan->place;
    if (r->demand->cards == 0) {
        node_change(c, p->node, r, 1, sign);
        if (place->changed) place->changed(c->place_state, p->node, r, take);
        return;
    }
    for (size_t i = 0; i < p->card.n;) {
        const int32_t node = c->card[p->card.v[i]].node;
        int64_t on_node = 0;
        for (; i < p->card.n && c->card[p->card.v[i]].node == node; i++, on_node++)
            card_change(c, p->card.v[i], r, p->slice, take);
        node_change(c, node, r, on_node, sign);
        if (place->changed) place->changed(c->place_state, node, r, take);
    }
}

void cluster_take(struct cluster *c, const struct place_request *r, const struct pick *p)
{
    change(c, r, p, true);
}

void cluster_give(struct cluster *c, const struct place_request *r, const struct pick *p)
{
    change(c, r, p, false);
}

void cluster_card_service(struct cluster *c, uint32_t index, unsigned set, unsigned clear)
{
    struct card *card = &c->card[index];
    const bool was = card->out;
    cluster_unlist(c, card);
    card->out = (uint8_t)((card->out | set) & ~clear);
    cluster_list(c, card);
    c->group[card->group].out += (card->out != 0) - was;
    if (c->plan->place->serviced && was != (card->out != 0))
        c->plan->place->serviced(c->place_state, card->node);
}

void cluster_node_service(struct cluster *c, int32_t index, unsigned set, unsigned clear)
{
    struct node *n = &c->node[index];
    n->out = (uint8_t)((n->out | set) & ~clear);
    if (c->plan->place->serviced) c->plan->place->serviced(c->place_state, index);
}

int64_t cluster_eligible(const struct cluster *c, int group)
{
    return (int64_t)c->group[group].eligible.count;
}

simtime cluster_prepare(const struct cluster *c, int group, const struct pick *p)
{
    const struct plan_group *pg = &c->plan->group[group];
    struct instance_rules rules;
    if (p->slice.profile < 0) return cluster_mig_off_delay(c, p);
    const struct card *card = &c->card[p->card.v[0]];
    for (int i = 0; i < card->mig->n; i++)
        if (card->mig->instance[i].slice.profile == p->slice.profile &&
            card->mig->instance[i].slice.start == p->slice.start)
            return 0;
    c->plan->share->instance_rules(pg->params, (int64_t)card->index - pg->first_card, &rules);
    return rules.repartition + (card->mig->on ? 0 : rules.mode_change);
}

int64_t cluster_cards_out(const struct cluster *c, size_t group)
{
    return c->group[group].out;
}

int64_t cluster_units_free(const struct cluster *c, size_t group)
{
    return c->group[group].free_units;
}

/* ---- state ---- */

bool cluster_is_whole(const struct cluster *c)
{
    for (int64_t i = 0; i < c->plan->cards; i++) {
        const struct card *card = &c->card[i];
        if (!cluster_is_empty(card, &c->plan->group[card->group])) return false;
        if (card->free_bytes != c->plan->group[card->group].type.gpu->usable_bytes) return false;
        if (card->mig && card->mig->busy) return false;
    }
    for (int64_t i = 0; i < c->plan->nodes; i++) {
        const struct plan_group *pg = &c->plan->group[c->node[i].group];
        if (c->node[i].free_cpus_milli != pg->node_cpus_milli ||
            c->node[i].free_host_bytes != pg->node_host_bytes)
            return false;
    }
    return true;
}

int32_t cluster_used_units(const struct cluster *c, uint32_t index)
{
    const struct card *card = &c->card[index];
    return c->plan->group[card->group].capacity - card->free_units;
}
