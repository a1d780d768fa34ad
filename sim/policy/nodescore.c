#include "policy/nodescore.h"

#include "base/err.h"
#include "base/maxtree.h"
#include "base/rng.h"
#include "policy/fits.h"

#include <gsl/gsl_randist.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = 1024,
    MAX_MEMOS = 1024,
    MIN_MEMOS = 16,
};
static const size_t MEMORY = (size_t)64 << 20;

/* A request that was seen, with the score of every node for it. */
struct memo {
    struct place_request *r; /* by group; demands are in `demand` */
    struct demand *demand;
    uint64_t hash;
    struct maxtree score; /* by rank */
    uint64_t seen;        /* position in the log of changes up to which scores are right */
    uint64_t epoch, used;
    int next; /* in its bucket; -1 */
};

struct node_scores {
    const struct cluster *c;
    const struct plan *plan;
    const struct node_rule *rule;
    void *self;
    struct slot *slot;      /* by card */
    uint32_t *rank, *order; /* of a node among equals, and back */
    bool cpus, host;        /* some node has such a limit */
    /* changes: a ring of node numbers */
    int32_t *log;
    size_t log_size; /* power of two, at least the nodes */
    uint64_t changes, epoch, query;
    uint64_t *stamp; /* by node: the query that scored it last */
    struct memo *memo;
    size_t n_memos, max_memos;
    int bucket[BUCKETS];
    struct place_request *one; /* scratch: pick() in one group */
    uint64_t begun, stays;     /* how often jobs got cards; of jobs on nodes now */
};

/* ---- creation ---- */

static struct node_view view_of(const struct node_scores *s, int32_t index)
{
    const struct node *node = cluster_node(s->c, index);
    const struct plan_group *g = &s->plan->group[node->group];
    const int64_t first = g->first_card + (node->index - g->first_node) * g->per_node;
    return (struct node_view){ s->c, node, g, &s->slot[first] };
}

static void read_slots(struct node_scores *s, int32_t index)
{
    const struct node_view v = view_of(s, index);
    const int64_t first = v.slot - s->slot;
    for (int64_t i = 0; i < v.group->per_node; i++) {
        const struct card *card = cluster_card(s->c, (uint32_t)(first + i));
        struct slot slot = { 0 };
        if (!card->out)
            slot = (struct slot){ .units = card->free_units,
                                  .owner = card->tenants ? card->owner : 0,
                                  .bytes = card->free_bytes };
        s->slot[first + i] = slot;
    }
}

static void order_nodes(struct node_scores *s)
{
    const size_t n = (size_t)s->plan->nodes;
    for (size_t i = 0; i < n; i++) s->order[i] = (uint32_t)i;
    if (s->rule->shuffled) {
        gsl_rng *rng = rng_create((uint64_t)s->plan->scenario->seed, 0, "place.order");
        gsl_ran_shuffle(rng, s->order, n, sizeof *s->order);
        gsl_rng_free(rng);
    }
    for (size_t i = 0; i < n; i++) s->rank[s->order[i]] = (uint32_t)i;
}

struct node_scores *node_scores_create(const struct cluster *c, const struct node_rule *rule,
                                       void *self)
{
    struct node_scores *s = xcalloc(1, sizeof *s);
    const struct plan *p = cluster_plan(c);
    const size_t n = (size_t)p->nodes;
    *s = (struct node_scores){ .c = c, .plan = p, .rule = rule, .self = self };
    s->slot = xcalloc((size_t)p->cards, sizeof *s->slot);
    s->rank = xcalloc(n, sizeof *s->rank);
    s->order = xcalloc(n, sizeof *s->order);
    s->stamp = xcalloc(n, sizeof *s->stamp);
    for (s->log_size = 64; s->log_size < n;) s->log_size *= 2;
    s->log = xcalloc(s->log_size, sizeof *s->log);
    s->one = xcalloc(p->n_groups, sizeof *s->one);
    s->max_memos = MEMORY / (n * 32 + 1);
    if (s->max_memos > MAX_MEMOS) s->max_memos = MAX_MEMOS;
    if (s->max_memos < MIN_MEMOS) s->max_memos = MIN_MEMOS;
    s->memo = xcalloc(s->max_memos, sizeof *s->memo);
    for (size_t i = 0; i < BUCKETS; i++) s->bucket[i] = -1;
    for (size_t g = 0; g < p->n_groups; g++) {
        s->cpus |= p->group[g].node_cpus_milli != INT64_MAX;
        s->host |= p->group[g].node_host_bytes != UINT64_MAX;
    }
    order_nodes(s);
    for (size_t i = 0; i < n; i++) read_slots(s, (int32_t)i);
    return s;
}

static void memo_fini(struct memo *k)
{
    free(k->r);
    free(k->demand);
    maxtree_fini(&k->score);
}

void node_scores_destroy(void *state)
{
    struct node_scores *s = state;
    if (!s) return;
    if (s->rule->destroy) s->rule->destroy(s->self);
    for (size_t i = 0; i < s->n_memos; i++) memo_fini(&s->memo[i]);
    free(s->memo);
    free(s->slot);
    free(s->rank);
    free(s->order);
    free(s->stamp);
    free(s->log);
    free(s->one);
    free(s);
}

/* ---- what happens ---- */

void node_scores_serviced(void *state, int32_t node)
{
    struct node_scores *s = state;
    read_slots(s, node);
    s->log[s->changes++ & (s->log_size - 1)] = node;
}

void node_scores_changed(void *state, int32_t node, const struct place_request *r, bool take)
{
    struct node_scores *s = state;
    node_scores_serviced(state, node);
    s->stays += take ? 1 : UINT64_MAX; /* one more or one less */
    if (!s->rule->changed) return;
    const struct node_view v = view_of(s, node);
    s->rule->changed(s->self, &v, r, take);
}

void node_scores_submitted(void *state, const struct place_request *r)
{
    struct node_scores *s = state;
    if (s->rule->submitted && s->rule->submitted(s->self, r)) s->epoch++;
}

void node_scores_began(void *state)
{
    struct node_scores *s = state;
    s->begun++;
}

/* ---- requests that were seen ---- */

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15); /* 2^64 / golden ratio */
    return h ^ (h >> 29);
}

static uint64_t hash_of(const struct node_scores *s, const struct place_request *r)
{
    uint64_t h = 0;
    for (size_t g = 0; g < s->plan->n_groups; g++) {
        const struct demand *d = r[g].demand;
        if (!d) {
            h = mix(h, 1);
            continue;
        }
        h = mix(h, (uint64_t)d->cards << 32 | (uint32_t)d->units);
        h = mix(h, d->reserve_bytes);
        h = mix(h, d->owner);
        if (s->cpus) h = mix(h, (uint32_t)r[g].cpus_milli);
        if (s->host) h = mix(h, r[g].host_bytes);
    }
    return h;
}

static bool same_request(const struct node_scores *s, const struct memo *k,
                         const struct place_request *r)
{
    for (size_t g = 0; g < s->plan->n_groups; g++) {
        const struct demand *a = k->r[g].demand, *b = r[g].demand;
        if (!a != !b) return false;
        if (!a) continue;
        if (a->cards != b->cards || a->units != b->units || a->reserve_bytes != b->reserve_bytes ||
            a->owner != b->owner || (s->cpus && k->r[g].cpus_milli != r[g].cpus_milli) ||
            (s->host && k->r[g].host_bytes != r[g].host_bytes))
            return false;
    }
    return true;
}

/* Room for one more: the one not used for longest leaves. */
static struct memo *new_memo(struct node_scores *s)
{
    if (s->n_memos < s->max_memos) return &s->memo[s->n_memos++];
    struct memo *oldest = &s->memo[0];
    for (size_t i = 1; i < s->n_memos; i++)
        if (s->memo[i].used < oldest->used) oldest = &s->memo[i];
    int *at = &s->bucket[oldest->hash % BUCKETS];
    while (&s->memo[*at] != oldest) at = &s->memo[*at].next;
    *at = oldest->next;
    memo_fini(oldest);
    return oldest;
}

static struct memo *memo_of(struct node_scores *s, const struct place_request *r)
{
    const uint64_t hash = hash_of(s, r);
    for (int i = s->bucket[hash % BUCKETS]; i >= 0; i = s->memo[i].next)
        if (s->memo[i].hash == hash && same_request(s, &s->memo[i], r)) return &s->memo[i];
    const size_t groups = s->plan->n_groups;
    struct memo *k = new_memo(s);
    *k = (struct memo){ .hash = hash, .epoch = UINT64_MAX, .next = s->bucket[hash % BUCKETS] };
    k->r = xcalloc(groups, sizeof *k->r);
    k->demand = xcalloc(groups, sizeof *k->demand);
    for (size_t g = 0; g < groups; g++) {
        k->r[g] = r[g];
        if (!r[g].demand) continue;
        k->demand[g] = *r[g].demand;
        k->r[g].demand = &k->demand[g];
    }
    maxtree_init(&k->score, (size_t)s->plan->nodes);
    s->bucket[hash % BUCKETS] = (int)(k - s->memo);
    return k;
}

/* ---- scores ---- */

static bool node_fits(const struct node_view *v, const struct place_request *r)
{
    const struct demand *d = r->demand;
    if (!d || d->cards > v->group->per_node) return false;
    if (!cluster_node_holds(v->cluster, v->node->index, r, d->cards ? d->cards : 1)) return false;
    int64_t fit = 0;
    for (int64_t i = 0; fit < d->cards && i < v->group->per_node; i++)
        fit += slot_holds(&v->slot[i], d);
    return fit >= d->cards;
}

static int64_t score_of(const struct node_scores *s, const struct node_view *v,
                        const struct place_request *r, int64_t *card)
{
    *card = 0;
    return node_fits(v, r) ? s->rule->score(s->self, v, r, card) : NODE_NONE;
}

static void rescore(struct node_scores *s, struct memo *k, int32_t node)
{
    const struct node_view v = view_of(s, node);
    int64_t card;
    maxtree_set(&k->score, s->rank[node], score_of(s, &v, &k->r[v.node->group], &card));
}

static void refresh(struct node_scores *s, struct memo *k)
{
    s->query++;
    k->used = s->query;
    if (k->epoch != s->epoch || s->changes - k->seen > s->log_size) {
        for (int32_t i = 0; i < s->plan->nodes; i++) rescore(s, k, i);
    } else {
        for (uint64_t at = k->seen; at < s->changes; at++) {
            const int32_t node = s->log[at & (s->log_size - 1)];
            if (s->stamp[node] == s->query) continue;
            s->stamp[node] = s->query;
            rescore(s, k, node);
        }
    }
    k->epoch = s->epoch;
    k->seen = s->changes;
}

uint64_t node_chance(const struct plan *p, uint64_t begun, uint64_t stays, uint64_t salt)
{
    const uint64_t seed = rng_mix((uint64_t)p->scenario->seed, 0, "place");
    return mix(mix(mix(mix(seed, begun), stays), salt), 0);
}

uint64_t node_scores_chance(const struct cluster *c, uint64_t salt)
{
    const struct node_scores *s = cluster_place_state(c);
    return node_chance(s->plan, s->begun, s->stays, salt);
}

/* The rank of a node that fits, all equally likely; there is one. */
static size_t any_rank(struct node_scores *s, const struct memo *k)
{
    const size_t n = (size_t)s->plan->nodes;
    uint64_t salt = 1, fit = 0;
    for (; salt <= NODE_DRAWS; salt++) {
        const size_t rank = node_scores_chance(s->c, salt) % n;
        if (maxtree_get(&k->score, rank) != NODE_NONE) return rank;
    }
    size_t at;
    for (at = maxtree_next(&k->score, 0, NODE_NONE + 1); at != MAXTREE_NONE;
         at = maxtree_next(&k->score, at + 1, NODE_NONE + 1))
        fit++;
    fit = node_scores_chance(s->c, salt) % fit;
    for (at = maxtree_next(&k->score, 0, NODE_NONE + 1); fit-- > 0;)
        at = maxtree_next(&k->score, at + 1, NODE_NONE + 1);
    return at;
}

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* A gang on the cards of the node with the most left; as cluster_whole_cards() does it. */
static void take_loosest(const struct node_view *v, int64_t first, const struct demand *d,
                         struct pick *out)
{
    while (out->card.n < (size_t)d->cards) {
        int64_t best = -1;
        for (int64_t i = 0; i < v->group->per_node; i++) {
            const struct slot *a = &v->slot[i], *b = &v->slot[best < 0 ? 0 : best];
            bool taken = !slot_holds(a, d);
            for (size_t k = 0; k < out->card.n && !taken; k++)
                taken = out->card.v[k] == (uint32_t)(first + i);
            if (!taken &&
                (best < 0 || a->units > b->units || (a->units == b->units && a->bytes > b->bytes)))
                best = i;
        }
        vec_push(&out->card, (uint32_t)(first + best));
    }
    qsort(out->card.v, out->card.n, sizeof *out->card.v, ascending);
}

static void take_cards(const struct node_view *v, const struct node_scores *s,
                       const struct demand *d, int64_t card, struct pick *out)
{
    const int64_t first = v->slot - s->slot;
    if (d->cards == 0) {
        out->node = v->node->index;
    } else if (d->cards == 1) {
        vec_push(&out->card, (uint32_t)(first + card));
    } else if (s->rule->prefer == PREFER_LOOSEST) {
        take_loosest(v, first, d, out);
    } else {
        for (int64_t i = 0; out->card.n < (size_t)d->cards; i++)
            if (slot_holds(&v->slot[i], d)) vec_push(&out->card, (uint32_t)(first + i));
    }
}

static int on_one_node(struct node_scores *s, const struct place_request *r, struct pick *out)
{
    struct memo *k = memo_of(s, r);
    refresh(s, k);
    const int64_t best = maxtree_max(&k->score);
    if (best == NODE_NONE) return -1;
    const size_t rank = s->rule->by_chance ? any_rank(s, k) : maxtree_next(&k->score, 0, best);
    const struct node_view v = view_of(s, (int32_t)s->order[rank]);
    const int group = v.node->group;
    int64_t card;
    if (score_of(s, &v, &r[group], &card) == NODE_NONE)
        BUG("node %d: its score and its cards disagree", v.node->index);
    out->card.n = 0;
    out->node = -1;
    out->slice = (struct mig_slice){ .profile = -1 };
    out->prepare = 0;
    take_cards(&v, s, r[group].demand, card, out);
    return group;
}

int node_scores_pick_any(const struct cluster *c, const struct place_request *r, struct pick *out)
{
    struct node_scores *s = cluster_place_state(c);
    bool apart = s->plan->share->instances || s->plan->share->pooled;
    for (size_t g = 0; g < s->plan->n_groups; g++) apart |= cluster_in_domain(c, &r[g]);
    const int group = apart ? -1 : on_one_node(s, r, out);
    if (group >= 0) return group;
    for (size_t g = 0; g < s->plan->n_groups; g++) {
        if (!r[g].demand) continue;
        const bool larger = r[g].demand->cards > s->plan->group[g].per_node;
        const bool spread = r[g].demand->cards > 1 && (larger || r[g].any_node);
        if ((apart || spread) && place_by(c, s->rule->prefer, &r[g], out)) return (int)g;
    }
    return -1;
}

bool node_scores_pick(const struct cluster *c, const struct place_request *r, struct pick *out)
{
    struct node_scores *s = cluster_place_state(c);
    s->one[r->group] = *r;
    const int group = node_scores_pick_any(c, s->one, out);
    s->one[r->group] = (struct place_request){ 0 };
    return group >= 0;
}

/* ---- for rules ---- */

int64_t slot_tightest(const struct node_view *v, const struct demand *d)
{
    int64_t best = -1;
    for (int64_t i = 0; i < v->group->per_node; i++) {
        const struct slot *a = &v->slot[i], *b = &v->slot[best < 0 ? 0 : best];
        if (!slot_holds(a, d)) continue;
        if (best < 0 || a->units < b->units || (a->units == b->units && a->bytes < b->bytes))
            best = i;
    }
    return best;
}

int64_t slot_loosest(const struct node_view *v, const struct demand *d)
{
    int64_t best = -1;
    for (int64_t i = 0; i < v->group->per_node; i++) {
        const struct slot *a = &v->slot[i], *b = &v->slot[best < 0 ? 0 : best];
        if (!slot_holds(a, d)) continue;
        if (best < 0 || a->units > b->units || (a->units == b->units && a->bytes > b->bytes))
            best = i;
    }
    return best;
}

int64_t slot_free_units(const struct node_view *v)
{
    int64_t free_units = 0;
    for (int64_t i = 0; i < v->group->per_node; i++) free_units += v->slot[i].units;
    return free_units;
}

struct node_size largest_node(const struct plan *p)
{
    struct node_size most = { 0 };
    for (size_t g = 0; g < p->n_groups; g++) {
        const double gpus = 1000.0 * (double)p->group[g].per_node;
        if (gpus > most.gpus_milli) most.gpus_milli = gpus;
        if (p->group[g].node_cpus_milli != INT64_MAX &&
            (double)p->group[g].node_cpus_milli > most.cpus_milli)
            most.cpus_milli = (double)p->group[g].node_cpus_milli;
    }
    return most;
}
