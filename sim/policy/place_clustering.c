/* policy/place_clustering.c - like to like (the affinity of Gandiva, Xiao et al., OSDI 2018, as
 * Weng et al., "Beware of Fragmentation", ATC 2023, compare with it): nodes where jobs of the same
 * demand for cards run come first. Among equals the node with the least left, then the card with
 * the least left. Jobs without cards take any node that holds them. Ties: a permutation of the
 * nodes drawn from the scenario's seed. */
#include "policy/nodescore.h"

#include <stdlib.h>

/* Jobs of one demand on a node. */
struct kind {
    int32_t cards, units, jobs;
};

struct clustering {
    VEC(struct kind) * on; /* by node */
    int64_t nodes;
};

static struct kind *find(const struct clustering *k, int32_t node, const struct demand *d)
{
    for (size_t i = 0; i < k->on[node].n; i++) {
        struct kind *x = &k->on[node].v[i];
        if (x->cards == d->cards && x->units == d->units) return x;
    }
    return NULL;
}

static void changed(void *self, const struct node_view *v, const struct place_request *r, bool take)
{
    struct clustering *k = self;
    const struct demand *d = r->demand;
    const int32_t node = v->node->index;
    struct kind *x = find(k, node, d);
    if (d->cards == 0) return;
    if (!x) {
        const struct kind fresh = { d->cards, d->units, 0 };
        vec_push(&k->on[node], fresh);
        x = &k->on[node].v[k->on[node].n - 1];
    }
    x->jobs += take ? 1 : -1;
    if (x->jobs == 0) *x = k->on[node].v[--k->on[node].n];
}

static int64_t score(void *self, const struct node_view *v, const struct place_request *r,
                     int64_t *card)
{
    const struct clustering *k = self;
    const int32_t node = v->node->index;
    if (r->demand->cards == 0) return 0;
    if (r->demand->cards == 1) *card = slot_tightest(v, r->demand);
    const int64_t like = find(k, node, r->demand) ? 1 : 0;
    return (like << 40) - slot_free_units(v);
}

static void destroy(void *self)
{
    struct clustering *k = self;
    for (int64_t i = 0; i < k->nodes; i++) vec_fini(&k->on[i]);
    free(k->on);
    free(k);
}

static const struct node_rule rule = { .shuffled = true,
                                       .prefer = PREFER_TIGHTEST,
                                       .score = score,
                                       .changed = changed,
                                       .destroy = destroy };

static void *create(const struct cluster *c)
{
    struct clustering *k = xcalloc(1, sizeof *k);
    k->nodes = cluster_plan(c)->nodes;
    k->on = xcalloc((size_t)k->nodes, sizeof *k->on);
    return node_scores_create(c, &rule, k);
}

const struct place_ops place_clustering = {
    .name = "clustering",
    .help = "a node where jobs of the same demand run, else the fullest",
    .create = create,
    NODE_SCORES_OPS,
};
