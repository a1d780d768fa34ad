/* policy/place_fgd.c - fragmentation gradient descent (Weng et al., "Beware of Fragmentation:
 * Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent", USENIX ATC 2023): the card
 * on which the expected fragmentation grows least, for a job drawn from the mix of those submitted
 * so far.
 *
 * Mix: the most frequent classes (CPU cores, number of cards, units on each) that cover 95 % of the
 * jobs, learned anew whenever the number of jobs has doubled. An elastic job counts as what it asks
 * for. A node's fragment for a class is all its idle capacity when the class needs no cards or does
 * not fit on the node (cards or CPU cores), else what is idle on cards with less left than the
 * class needs; F = the mean over the mix. Score of a card: trunc(100 sigmoid((F before - F after) /
 * one card)); the best card first, then the best node. Ties: the first card, and a permutation of
 * the nodes drawn from the scenario's seed - in the order of the fleet, ties would fill one kind of
 * node after the other, which the paper's cluster does not.
 *
 * Everything is counted in integers, so the order of events does not blur the scores. Classes that
 * differ in CPU cores only share one pass: the number of jobs that fit under a CPU limit is looked
 * up. Cost of a score: O(kinds of card demand in the mix) for each different level of free
 * units. */
#include "policy/nodescore.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COVERED_PERCENT = 95, MAX_KINDS = 64, MAX_LEVELS = 64 };

/* Jobs that look alike to this policy. */
struct seen_class {
    struct place_request *r; /* by group; demand NULL: not there */
    struct demand *demand;
    uint64_t jobs;
    size_t first_seen;
};

/* Classes of the mix that need the same cards. */
struct kind {
    int32_t *cards, *units; /* by group; units 0: it cannot be served there */
    int64_t jobs;
    int64_t *below; /* [i]: those that need at most the i-th smallest CPU demand */
};

struct fgd {
    size_t groups;
    VEC(struct seen_class) seen;
    uint64_t jobs, learn_at;
    /* the mix */
    struct kind kind[MAX_KINDS];
    size_t n_kinds;
    int64_t mix_jobs;
    VEC(int32_t) cpus; /* different CPU demands in the mix, ascending */
};

/* ---- the mix ---- */

static bool same_cards(const struct demand *a, const struct demand *b)
{
    return !a == !b && (!a || (a->cards == b->cards && (a->cards == 0 || a->units == b->units)));
}

static int32_t cpus_of(const struct place_request *r)
{
    return r->cpus_milli == JOB_NO_INT ? 0 : r->cpus_milli;
}

static bool same_class(const struct fgd *f, const struct seen_class *k,
                       const struct place_request *r)
{
    if (cpus_of(&k->r[0]) != cpus_of(&r[0])) return false;
    for (size_t g = 0; g < f->groups; g++)
        if (!same_cards(k->r[g].demand, r[g].demand)) return false;
    return true;
}

/* Frequent classes stand near the front: a hit moves up past those that are rarer now. */
static void count(struct fgd *f, const struct place_request *r)
{
    size_t i = 0;
    while (i < f->seen.n && !same_class(f, &f->seen.v[i], r)) i++;
    if (i == f->seen.n) {
        struct seen_class k = { .first_seen = i };
        k.r = xcalloc(f->groups, sizeof *k.r);
        k.demand = xcalloc(f->groups, sizeof *k.demand);
        for (size_t g = 0; g < f->groups; g++) {
            k.r[g] = r[g];
            if (!r[g].demand) continue;
            k.demand[g] = *r[g].demand;
            k.r[g].demand = &k.demand[g];
        }
        vec_push(&f->seen, k);
    }
    f->seen.v[i].jobs++;
    for (; i > 0 && f->seen.v[i].jobs > f->seen.v[i - 1].jobs; i--) {
        const struct seen_class k = f->seen.v[i];
        f->seen.v[i] = f->seen.v[i - 1];
        f->seen.v[i - 1] = k;
    }
}

static void forget_mix(struct fgd *f)
{
    for (size_t i = 0; i < f->n_kinds; i++) {
        free(f->kind[i].cards);
        free(f->kind[i].units);
        free(f->kind[i].below);
    }
    f->n_kinds = 0;
    f->mix_jobs = 0;
    f->cpus.n = 0;
}

static int by_jobs(const void *a, const void *b)
{
    const struct seen_class *x = a, *y = b;
    if (x->jobs != y->jobs) return x->jobs > y->jobs ? -1 : 1;
    return (x->first_seen > y->first_seen) - (x->first_seen < y->first_seen);
}

static int by_value(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* How many of the mix's CPU demands are at most this many thousandths. */
static size_t demands_within(const struct fgd *f, int64_t cpus)
{
    size_t low = 0, high = f->cpus.n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (f->cpus.v[middle] <= cpus)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct kind *kind_of(struct fgd *f, const struct seen_class *k)
{
    for (size_t i = 0; i < f->n_kinds; i++) {
        size_t g = 0;
        for (; g < f->groups; g++) {
            const struct demand *d = k->r[g].demand;
            const int32_t cards = d ? d->cards : 0, units = d && cards ? d->units : 0;
            if (f->kind[i].cards[g] != cards || f->kind[i].units[g] != units) break;
        }
        if (g == f->groups) return &f->kind[i];
    }
    if (f->n_kinds == MAX_KINDS) return NULL;
    struct kind *kind = &f->kind[f->n_kinds++];
    *kind = (struct kind){ .cards = xcalloc(f->groups, sizeof *kind->cards),
                           .units = xcalloc(f->groups, sizeof *kind->units),
                           .below = xcalloc(f->cpus.n + 1, sizeof *kind->below) };
    for (size_t g = 0; g < f->groups; g++) {
        const struct demand *d = k->r[g].demand;
        if (!d || d->cards == 0) continue;
        kind->cards[g] = d->cards;
        kind->units[g] = d->units;
    }
    return kind;
}

static void learn(struct fgd *f)
{
    forget_mix(f);
    qsort(f->seen.v, f->seen.n, sizeof *f->seen.v, by_jobs);
    uint64_t covered = 0;
    size_t n = 0;
    while (n < f->seen.n && covered * 100 < f->jobs * COVERED_PERCENT) {
        covered += f->seen.v[n].jobs;
        vec_push(&f->cpus, cpus_of(&f->seen.v[n].r[0]));
        n++;
    }
    qsort(f->cpus.v, f->cpus.n, sizeof *f->cpus.v, by_value);
    size_t different = 0;
    for (size_t i = 0; i < f->cpus.n; i++)
        if (i == 0 || f->cpus.v[i] != f->cpus.v[different - 1])
            f->cpus.v[different++] = f->cpus.v[i];
    f->cpus.n = different;
    for (size_t i = 0; i < n; i++) {
        const struct seen_class *k = &f->seen.v[i];
        struct kind *kind = kind_of(f, k);
        if (!kind) continue; /* the rarest of very many */
        kind->jobs += (int64_t)k->jobs;
        f->mix_jobs += (int64_t)k->jobs;
        for (size_t c = demands_within(f, cpus_of(&k->r[0])); c <= f->cpus.n; c++)
            kind->below[c] += (int64_t)k->jobs;
    }
}

static bool submitted(void *self, const struct place_request *r)
{
    struct fgd *f = self;
    count(f, r);
    if (++f->jobs < f->learn_at) return false;
    f->learn_at = 2 * f->jobs;
    learn(f);
    return true;
}

/* ---- the score ---- */

/* Sum over the mix of a node's fragments, in units x jobs, when `n` of its cards with `level[]`
 * free units give `units` each and `cpus` are left. */
static int64_t fragments(const struct fgd *f, const struct node_view *v, int64_t free_units,
                         int64_t cpus, const int32_t *level, int64_t n, int32_t units)
{
    const int group = v->node->group;
    const size_t within = demands_within(f, cpus);
    const int64_t idle = free_units - n * units;
    int64_t sum = 0;
    for (size_t i = 0; i < f->n_kinds; i++) {
        const struct kind *k = &f->kind[i];
        const int32_t need = k->units[group];
        int64_t jobs = need > 0 ? k->below[within] : 0; /* that fit */
        int64_t fit = 0, small = 0; /* cards with enough left; idle units on the others */
        if (jobs > 0) {
            for (int64_t c = 0; c < v->group->per_node; c++) {
                const int32_t left = v->slot[c].units;
                fit += left >= need;
                small += left >= need ? 0 : left;
            }
            for (int64_t c = 0; c < n; c++) {
                const int32_t before = level[c], after = before - units;
                fit -= before >= need && after < need;
                small += (after < need ? after : 0) - (before < need ? before : 0);
            }
            if (fit < k->cards[group]) jobs = 0;
        }
        sum += jobs * small + (k->jobs - jobs) * idle;
    }
    return sum;
}

static int64_t quantised(const struct fgd *f, const struct node_view *v, int64_t less)
{
    const double cards = (double)less / (double)f->mix_jobs / v->group->capacity;
    return (int64_t)(100 / (1 + exp(-cards)));
}

static int64_t best_card(const struct fgd *f, const struct node_view *v, const struct demand *d,
                         int64_t free_units, int64_t cpus, int64_t before, int64_t *card)
{
    int32_t tried[MAX_LEVELS];
    int n = 0;
    int64_t best = NODE_NONE;
    for (int64_t i = 0; i < v->group->per_node; i++) {
        const int32_t level = v->slot[i].units;
        int k = 0;
        if (!slot_holds(&v->slot[i], d)) continue;
        while (k < n && tried[k] != level) k++;
        if (k < n) continue; /* equal to an earlier card */
        if (n < MAX_LEVELS) tried[n++] = level;
        const int64_t score =
            quantised(f, v, before - fragments(f, v, free_units, cpus, &level, 1, d->units));
        if (score <= best) continue;
        best = score;
        *card = i;
    }
    return best;
}

static int64_t score(void *self, const struct node_view *v, const struct place_request *r,
                     int64_t *card)
{
    const struct fgd *f = self;
    const struct demand *d = r->demand;
    const int64_t free_units = slot_free_units(v), cpus = v->node->free_cpus_milli;
    const int64_t cpus_left = v->group->node_cpus_milli == INT64_MAX ? cpus : cpus - cpus_of(r);
    if (f->mix_jobs == 0) { /* nothing is known yet */
        if (d->cards == 1) *card = slot_tightest(v, d);
        return 0;
    }
    const int64_t before = fragments(f, v, free_units, cpus, NULL, 0, 0);
    if (d->cards == 1) return best_card(f, v, d, free_units, cpus_left, before, card);
    int32_t level[MAX_LEVELS];
    int64_t n = 0;
    for (int64_t i = 0; n < d->cards && n < MAX_LEVELS; i++)
        if (slot_holds(&v->slot[i], d)) level[n++] = v->slot[i].units;
    return quantised(f, v, before - fragments(f, v, free_units, cpus_left, level, n, d->units));
}

static void destroy(void *self)
{
    struct fgd *f = self;
    forget_mix(f);
    for (size_t i = 0; i < f->seen.n; i++) {
        free(f->seen.v[i].r);
        free(f->seen.v[i].demand);
    }
    vec_fini(&f->seen);
    vec_fini(&f->cpus);
    free(f);
}

static const struct node_rule rule = { .shuffled = true,
                                       .prefer = PREFER_TIGHTEST,
                                       .score = score,
                                       .submitted = submitted,
                                       .destroy = destroy };

static void *create(const struct cluster *c)
{
    struct fgd *f = xcalloc(1, sizeof *f);
    f->groups = cluster_plan(c)->n_groups;
    f->learn_at = 1;
    return node_scores_create(c, &rule, f);
}

const struct place_ops place_fgd = {
    .name = "fgd",
    .help = "where the expected fragmentation over the mix of submitted jobs grows least",
    .create = create,
    NODE_SCORES_OPS,
};
