/* Gangs and the wires between cards: NVLink domains, which are parts of a node or span several, and
 * racks.
 *
 * Domains are indexed by how many of their cards a gang could use. Racks are counted when a gang of
 * several nodes is placed and the plan says how: O(nodes that are wholly free). */
#include "engine/cluster_inside.h"

#include "base/err.h"

#include <stdlib.h>

void cluster_zones_init(struct zones *z, const struct plan *p, const struct plan_group *pg)
{
    *z = (struct zones){ .size = pg->domain };
    if (p->gang != GANG_DOMAIN || p->share->pooled || pg->domain == pg->per_node || pg->cards == 0)
        return;
    z->n = (size_t)((pg->cards + z->size - 1) / z->size);
    z->eligible = xcalloc(z->n, sizeof *z->eligible);
    z->with = xcalloc((size_t)z->size + 1, sizeof *z->with);
    for (int64_t k = 0; k <= z->size; k++) bits_init(&z->with[k], z->n);
    for (size_t i = 0; i < z->n; i++) bits_set(&z->with[0], i);
}

void cluster_zones_fini(struct zones *z)
{
    for (int64_t k = 0; z->with && k <= z->size; k++) bits_fini(&z->with[k]);
    free(z->with);
    free(z->eligible);
}

void cluster_zones_move(struct zones *z, size_t card, int delta)
{
    if (!z->n) return;
    const size_t i = card / (size_t)z->size;
    bits_clear(&z->with[z->eligible[i]], i);
    z->eligible[i] += delta;
    bits_set(&z->with[z->eligible[i]], i);
}

bool cluster_in_domain(const struct cluster *c, const struct place_request *r)
{
    const struct plan_group *pg = &c->plan->group[r->group];
    const int64_t want = r->demand ? r->demand->cards : 0;
    return c->group[r->group].zones.n && plan_in_domain(c->plan, pg, want);
}

/* The domain after (count, i) in the order of the preference, with at least `want` cards; false:
 * none. */
static bool next_zone(const struct zones *z, enum prefer prefer, int64_t want, int64_t *count,
                      size_t *i)
{
    const size_t from = *i + 1; /* SIZE_MAX: 0 */
    if (prefer == PREFER_FIRST) {
        size_t first = BITS_NONE;
        for (int64_t k = want; k <= z->size; k++) {
            const size_t at = bits_next(&z->with[k], from);
            if (at < first) first = at;
        }
        *i = first;
        return first != BITS_NONE;
    }
    const int step = prefer == PREFER_TIGHTEST ? 1 : -1;
    if (*count < 0) *count = step > 0 ? want : z->size;
    for (size_t after = from; *count >= want && *count <= z->size; *count += step, after = 0) {
        *i = bits_next(&z->with[*count], after);
        if (*i != BITS_NONE) return true;
    }
    return false;
}

/* Cards of a part of a node. */
static bool part_of_node(const struct cluster *c, size_t zone, const struct place_request *r,
                         struct pick *out)
{
    const struct plan_group *pg = &c->plan->group[r->group];
    const struct group *g = &c->group[r->group];
    const int64_t want = r->demand->cards;
    const size_t from = zone * (size_t)pg->domain, to = from + (size_t)pg->domain;
    const int32_t node = c->card[pg->first_card + (int64_t)from].node;
    out->card.n = 0;
    if (!cluster_node_holds(c, node, r, want)) return false;
    for (size_t at = bits_next(&g->eligible, from); (int64_t)out->card.n < want && at < to;
         at = bits_next(&g->eligible, at + 1)) {
        const uint32_t card = (uint32_t)(pg->first_card + (int64_t)at);
        if (cluster_card_fits(c, card, r->demand) && cluster_beside_holds(r, card, want))
            vec_push(&out->card, card);
    }
    return (int64_t)out->card.n == want;
}

/* Whole free nodes of a domain of several, then the rest on the tightest other one. */
static bool nodes_of_domain(const struct cluster *c, size_t zone, const struct place_request *r,
                            struct pick *out)
{
    const struct plan_group *pg = &c->plan->group[r->group];
    const int64_t per = pg->domain / pg->per_node;
    const int64_t from = pg->first_node + (int64_t)zone * per;
    const int64_t end = pg->first_node + pg->nodes, to = from + per < end ? from + per : end;
    int64_t whole = r->demand->cards / pg->per_node;
    const int64_t rest = r->demand->cards % pg->per_node;
    out->card.n = 0;
    for (int64_t n = from; n < to && whole > 0; n++)
        if (c->node[n].eligible == pg->per_node &&
            cluster_cards_of_node(c, &c->node[n], r, pg->per_node, out))
            whole--;
    if (whole > 0) return false;
    if (rest == 0) return true;
    for (int64_t k = rest; k <= pg->per_node; k++)
        for (int64_t n = from; n < to; n++) {
            const uint32_t card = (uint32_t)(pg->first_card + (n - pg->first_node) * pg->per_node);
            bool used = false;
            for (size_t i = 0; i < out->card.n && !used; i++) used = out->card.v[i] == card;
            if (!used && c->node[n].eligible == k &&
                cluster_cards_of_node(c, &c->node[n], r, rest, out))
                return true;
        }
    return false;
}

bool cluster_domain_cards(const struct cluster *c, enum prefer prefer,
                          const struct place_request *r, struct pick *out)
{
    const struct plan_group *pg = &c->plan->group[r->group];
    const struct zones *z = &c->group[r->group].zones;
    int64_t count = -1;
    size_t i = SIZE_MAX;
    while (next_zone(z, prefer, r->demand->cards, &count, &i))
        if (pg->domain < pg->per_node ? part_of_node(c, i, r, out) : nodes_of_domain(c, i, r, out))
            return true;
    return false;
}

/* ---- racks ---- */

/* How many nodes of each rack, of those `free`: as few racks as can be, the tightest that does
 * last. */
static void pack(const int64_t *free_nodes, int64_t *quota, size_t n, int64_t whole)
{
    while (whole > 0) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < n; i++) {
            if (quota[i] || free_nodes[i] == 0) continue;
            const bool does = free_nodes[i] >= whole;
            const bool best_does = best != SIZE_MAX && free_nodes[best] >= whole;
            if (best == SIZE_MAX || (does && !best_does) ||
                (does && free_nodes[i] < free_nodes[best]) ||
                (!does && !best_does && free_nodes[i] > free_nodes[best]))
                best = i;
        }
        quota[best] = free_nodes[best] < whole ? free_nodes[best] : whole;
        whole -= quota[best];
    }
}

/* One node more from every rack in turn: those with the most free nodes first where not all are
 * needed. */
static void spread(const int64_t *free_nodes, int64_t *quota, size_t n, int64_t whole)
{
    for (int64_t round = 0; whole > 0; round++) {
        size_t able = 0;
        for (size_t i = 0; i < n; i++) able += free_nodes[i] > round;
        for (size_t taken = 0; taken < able && whole > 0; taken++, whole--) {
            size_t best = SIZE_MAX;
            for (size_t i = 0; i < n; i++)
                if (free_nodes[i] > round && quota[i] == round &&
                    (best == SIZE_MAX || free_nodes[i] > free_nodes[best]))
                    best = i;
            quota[best]++;
        }
    }
}

static int64_t rack_of(const struct plan_group *pg, int32_t node)
{
    return (node - pg->first_node) / pg->spec->nodes_per_rack;
}

bool cluster_nodes_by_rack(const struct cluster *c, const struct place_request *r, int64_t whole,
                           struct node *const *node, size_t n, struct pick *out)
{
    const struct plan_group *pg = &c->plan->group[r->group];
    const size_t racks = (size_t)(rack_of(pg, (int32_t)(pg->first_node + pg->nodes - 1)) + 1);
    int64_t *free_nodes = xcalloc(2 * racks, sizeof *free_nodes), *quota = free_nodes + racks;
    for (size_t i = 0; i < n; i++) {
        const size_t before = out->card.n;
        free_nodes[rack_of(pg, node[i]->index)] +=
            cluster_cards_of_node(c, node[i], r, pg->per_node, out);
        out->card.n = before;
    }
    int64_t all = 0;
    for (size_t i = 0; i < racks; i++) all += free_nodes[i];
    if (all >= whole)
        (c->plan->racks == RACKS_PACK ? pack : spread)(free_nodes, quota, racks, whole);
    for (size_t i = 0; all >= whole && i < n && whole > 0; i++) {
        int64_t *left = &quota[rack_of(pg, node[i]->index)];
        if (*left > 0 && cluster_cards_of_node(c, node[i], r, pg->per_node, out)) {
            (*left)--;
            whole--;
        }
    }
    free(free_nodes);
    return whole == 0;
}

/* ---- what the wires cost ---- */

double cluster_gang_speed(const struct plan *p, int group, const struct pick *pick)
{
    const struct plan_group *pg = &p->group[group];
    const struct fleet_group *spec = pg->spec;
    double speed = 1;
    if (pick->card.n < 2) return 1;
    const int64_t a = pick->card.v[0] - pg->first_card,
                  b = pick->card.v[pick->card.n - 1] - pg->first_card;
    if (a / pg->domain != b / pg->domain) speed = spec->cross_domain_speed;
    const int64_t per_rack =
        spec->nodes_per_rack == CFG_NO_INT ? 0 : spec->nodes_per_rack * pg->real_per_node;
    if (per_rack && a / per_rack != b / per_rack && spec->cross_rack_speed < speed)
        speed = spec->cross_rack_speed;
    return speed;
}
