/* Whole cards of a node are as good as each other: which of them serves a job that must leave
 * room for another. Shares of cards are not: the placement chose by what else runs there. */
#include "engine/cluster_inside.h"

#include "base/err.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* `want` eligible cards of [from, to) that fit: those first that have room in `other`, or that have
 * not. */
static void take_from(const struct cluster *c, const struct cluster *other,
                      const struct place_request *r, bool room, size_t from, size_t to, size_t want,
                      uint32_t *card)
{
    const struct group *g = &c->group[r->group];
    const int64_t first = c->plan->group[r->group].first_card;
    size_t n = 0;
    for (int round = 0; round < 2 && n < want; round++, room = !room)
        for (size_t at = bits_next(&g->eligible, from); at < to && n < want;
             at = bits_next(&g->eligible, at + 1)) {
            const uint32_t index = (uint32_t)(first + (int64_t)at);
            if (cluster_card_fits(other, index, r->demand) == room &&
                cluster_card_fits(c, index, r->demand))
                card[n++] = index;
        }
    BUG_ON(n != want);
}

static void prefer(const struct cluster *c, const struct cluster *other,
                   const struct place_request *r, bool room, struct pick *p)
{
    const struct plan_group *pg = &c->plan->group[r->group];
    const struct group *g = &c->group[r->group];
    const size_t n = p->card.n;
    if (cluster_in_domain(c, r)) return; /* other cards may be of other domains */
    if (g->mig || n == 0 || r->demand->units < pg->capacity) return;
    if (r->any_node && pg->node_cpus_milli == INT64_MAX && pg->node_host_bytes == UINT64_MAX) {
        take_from(c, other, r, room, 0, (size_t)pg->cards, n, p->card.v);
    } else {
        for (size_t i = 0, k; i < n; i = k) {
            const int32_t node = c->card[p->card.v[i]].node;
            const size_t from = (size_t)((node - pg->first_node) * pg->per_node);
            for (k = i; k < n && c->card[p->card.v[k]].node == node;) k++;
            take_from(c, other, r, room, from, from + (size_t)pg->per_node, k - i, p->card.v + i);
        }
    }
    qsort(p->card.v, n, sizeof *p->card.v, ascending);
}

void cluster_prefer_taken(const struct cluster *c, const struct cluster *other,
                          const struct place_request *r, struct pick *p)
{
    prefer(c, other, r, false, p);
}

void cluster_prefer_free(const struct cluster *c, const struct cluster *other,
                         const struct place_request *r, struct pick *p)
{
    prefer(c, other, r, true, p);
}
