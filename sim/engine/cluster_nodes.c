/* The nodes of a group by how many of their cards could take part in a gang. */
#include "engine/cluster_inside.h"

#include "base/err.h"

#include <stdlib.h>

void cluster_nodes_init(struct nodes_by_free *x, const struct plan_group *pg)
{
    x->n = (size_t)pg->nodes;
    x->with = xcalloc((size_t)pg->per_node + 1, sizeof *x->with);
    bits_init(&x->numbers, (size_t)pg->per_node + 1);
    bits_init(&x->with[0], x->n);
    for (size_t i = 0; i < x->n; i++) bits_set(&x->with[0], i);
    if (x->n) bits_set(&x->numbers, 0);
}

void cluster_nodes_fini(struct nodes_by_free *x, const struct plan_group *pg)
{
    for (int64_t k = 0; x->with && k <= pg->per_node; k++) bits_fini(&x->with[k]);
    free(x->with);
    bits_fini(&x->numbers);
}

void cluster_nodes_move(struct nodes_by_free *x, size_t node, int32_t old, int32_t now)
{
    struct bits *from = &x->with[old], *to = &x->with[now];
    bits_clear(from, node);
    if (from->count == 0) bits_clear(&x->numbers, (size_t)old);
    if (!to->levels) bits_init(to, x->n);
    if (to->count == 0) bits_set(&x->numbers, (size_t)now);
    bits_set(to, node);
}

/* The first node of a number that some node has. */
static size_t first_with(const struct nodes_by_free *x, size_t number)
{
    return number == BITS_NONE ? BITS_NONE : bits_next(&x->with[number], 0);
}

struct node *cluster_next_node(const struct cluster *c, int group, enum prefer prefer, int64_t want,
                               const struct node *n)
{
    const struct group *g = &c->group[group];
    const struct nodes_by_free *x = &g->nodes;
    const size_t first = (size_t)c->plan->group[group].first_node;
    const size_t most = (size_t)c->plan->group[group].per_node;
    size_t at = BITS_NONE, number = n ? (size_t)n->eligible : 0;
    if (want > (int64_t)most) return NULL;
    if (n && prefer != PREFER_FIRST) at = bits_next(&x->with[number], (size_t)n->index - first + 1);
    switch (prefer) {
    case PREFER_TIGHTEST:
        if (at == BITS_NONE)
            at = first_with(x, bits_next(&x->numbers, n ? number + 1 : (size_t)want));
        break;
    case PREFER_LOOSEST:
        if (at != BITS_NONE) break;
        number = n && number == 0 ? BITS_NONE : bits_prev(&x->numbers, n ? number - 1 : most);
        if (number != BITS_NONE && (int64_t)number >= want) at = first_with(x, number);
        break;
    case PREFER_FIRST:
        at = maxtree_next(&g->eligible_on, n ? (size_t)n->index - first + 1 : 0, want);
        if (at == MAXTREE_NONE) at = BITS_NONE;
        break;
    }
    return at == BITS_NONE ? NULL : &c->node[first + at];
}
