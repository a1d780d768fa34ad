#include "tests/support/place_scan.h"

#include "base/mem.h"
#include "base/rng.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GROUPS = 32, MAX_CARDS = 64, MAX_SEEN = 1000 };

struct seen {
    int32_t cpus, cards[MAX_GROUPS], units[MAX_GROUPS]; /* units 0: not there */
    int64_t jobs;
    int first;
};

struct place_scan {
    const struct cluster *c;
    const struct plan *p;
    enum place_scan_rule rule;
    uint32_t *order; /* nodes as ties go */
    struct seen seen[MAX_SEEN], mix[MAX_SEEN];
    int n_seen, n_mix;
    int64_t jobs, weight, most_cpus, most_gpus;
};

struct place_scan *place_scan_create(const struct cluster *c, enum place_scan_rule rule)
{
    struct place_scan *s = xcalloc(1, sizeof *s);
    s->c = c;
    s->p = cluster_plan(c);
    s->rule = rule;
    s->order = xcalloc((size_t)s->p->nodes, sizeof *s->order);
    for (int64_t i = 0; i < s->p->nodes; i++) s->order[i] = (uint32_t)i;
    if (rule == SCAN_FGD || rule == SCAN_BEST_FIT_NODE) {
        gsl_rng *rng = rng_create((uint64_t)s->p->scenario->seed, 0, "place.order");
        gsl_ran_shuffle(rng, s->order, (size_t)s->p->nodes, sizeof *s->order);
        gsl_rng_free(rng);
    }
    for (size_t g = 0; g < s->p->n_groups; g++) {
        const struct plan_group *pg = &s->p->group[g];
        if (pg->node_cpus_milli != INT64_MAX && pg->node_cpus_milli > s->most_cpus)
            s->most_cpus = pg->node_cpus_milli;
        if (pg->per_node * 1000 > s->most_gpus) s->most_gpus = pg->per_node * 1000;
    }
    return s;
}

void place_scan_destroy(struct place_scan *s)
{
    if (!s) return;
    free(s->order);
    free(s);
}

/* ---- the mix ---- */

static int by_jobs(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    if (x->jobs != y->jobs) return x->jobs > y->jobs ? -1 : 1;
    return x->first - y->first;
}

void place_scan_submitted(struct place_scan *s, const struct place_request *r)
{
    struct seen one = { .cpus = r[0].cpus_milli == JOB_NO_INT ? 0 : r[0].cpus_milli,
                        .first = s->n_seen };
    int i = 0;
    for (size_t g = 0; g < s->p->n_groups; g++) {
        if (!r[g].demand || r[g].demand->cards == 0) continue;
        one.cards[g] = r[g].demand->cards;
        one.units[g] = r[g].demand->units;
    }
    while (i < s->n_seen && (s->seen[i].cpus != one.cpus ||
                             memcmp(s->seen[i].cards, one.cards, sizeof one.cards) != 0 ||
                             memcmp(s->seen[i].units, one.units, sizeof one.units) != 0))
        i++;
    if (i == s->n_seen) s->seen[s->n_seen++] = one;
    s->seen[i].jobs++;
    s->jobs++;
    if ((s->jobs & (s->jobs - 1)) == 0) place_scan_learn(s);
}

void place_scan_learn(struct place_scan *s)
{
    memcpy(s->mix, s->seen, sizeof s->seen);
    qsort(s->mix, (size_t)s->n_seen, sizeof *s->mix, by_jobs);
    s->weight = 0;
    for (s->n_mix = 0; s->weight * 100 < s->jobs * 95; s->n_mix++)
        s->weight += s->mix[s->n_mix].jobs;
}

/* ---- one node ---- */

struct view {
    const struct node *node;
    const struct plan_group *g;
    int32_t left[MAX_CARDS];
    bool holds[MAX_CARDS];
    int64_t cpus, n, fit;
    uint32_t first;
};

static void look(const struct place_scan *s, int32_t index, const struct demand *d, struct view *v)
{
    v->node = cluster_node(s->c, index);
    v->g = &s->p->group[v->node->group];
    v->n = v->g->per_node;
    v->cpus = v->node->free_cpus_milli;
    v->first = (uint32_t)(v->g->first_card + (index - v->g->first_node) * v->n);
    v->fit = 0;
    for (int64_t i = 0; i < v->n; i++) {
        const uint32_t card = v->first + (uint32_t)i;
        v->left[i] = cluster_card(s->c, card)->free_units;
        v->holds[i] = d && cluster_card_fits(s->c, card, d);
        v->fit += v->holds[i];
    }
}

static int64_t idle(const struct view *v)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < v->n; i++) sum += v->left[i];
    return sum;
}

/* Units x jobs of the mix that would be of no use on this node. */
static int64_t fragments(const struct place_scan *s, const struct view *v)
{
    int64_t sum = 0;
    for (int k = 0; k < s->n_mix; k++) {
        const int32_t need = s->mix[k].units[v->node->group],
                      cards = s->mix[k].cards[v->node->group];
        int64_t fit = 0, small = 0;
        for (int64_t i = 0; i < v->n; i++)
            if (v->left[i] >= need)
                fit++;
            else
                small += v->left[i];
        const bool serves = need > 0 && fit >= cards && s->mix[k].cpus <= v->cpus;
        sum += s->mix[k].jobs * (serves ? small : idle(v));
    }
    return sum;
}

static int64_t fgd_score(const struct place_scan *s, struct view *v, const struct demand *d,
                         int64_t cpus, int64_t card)
{
    const int64_t before = fragments(s, v);
    struct view after = *v;
    if (v->g->node_cpus_milli != INT64_MAX) after.cpus -= cpus;
    for (int64_t i = 0, n = 0; i < v->n && n < d->cards; i++) {
        if (!v->holds[i] || (d->cards == 1 && i != card)) continue;
        after.left[i] -= d->units;
        n++;
    }
    const double cards =
        (double)(before - fragments(s, &after)) / (double)s->weight / v->g->capacity;
    return (int64_t)(100 / (1 + exp(-cards)));
}

static bool fuller(const struct place_scan *s, const struct view *v, int64_t a, int64_t b)
{
    const uint64_t x = cluster_card(s->c, v->first + (uint32_t)a)->free_bytes,
                   y = cluster_card(s->c, v->first + (uint32_t)b)->free_bytes;
    return v->left[a] != v->left[b] ? v->left[a] < v->left[b] : x < y;
}

/* The best card for a request for one, and its score. */
static double score(const struct place_scan *s, struct view *v, const struct place_request *r,
                    int64_t *card)
{
    const struct demand *d = r->demand;
    const int64_t cpus = r->cpus_milli == JOB_NO_INT ? 0 : r->cpus_milli;
    const double all = (double)v->g->capacity * (double)v->n;
    double best = -INFINITY;
    *card = -1;
    if (s->rule == SCAN_FGD && d->cards == 1 && s->weight > 0) {
        for (int64_t i = 0; i < v->n; i++) {
            if (!v->holds[i]) continue;
            const double x = (double)fgd_score(s, v, d, cpus, i);
            if (x > best) best = x, *card = i;
        }
        return best;
    }
    for (int64_t i = 0; i < v->n; i++) {
        if (!v->holds[i]) continue;
        if (*card < 0 || (s->rule == SCAN_SPREAD ? fuller(s, v, *card, i) : fuller(s, v, i, *card)))
            *card = i;
    }
    switch (s->rule) {
    case SCAN_PACK: return all > 0 ? floor(1e12 * (1 - (double)idle(v) / all)) : 0;
    case SCAN_SPREAD: return all > 0 ? floor(1e12 * ((double)idle(v) / all)) : 0;
    case SCAN_FGD: return s->weight ? (double)fgd_score(s, v, d, cpus, 0) : 0;
    case SCAN_BEST_FIT_NODE: break;
    }
    const double gpu = 1000.0 * (double)(idle(v) - (int64_t)d->cards * d->units) / v->g->capacity /
                       (double)s->most_gpus;
    if (s->most_cpus == 0 || v->g->node_cpus_milli == INT64_MAX) return trunc(100 * (1 - gpu));
    return trunc(100 * (1 - 0.5 * ((double)(v->cpus - cpus) / (double)s->most_cpus) - 0.5 * gpu));
}

/* How many cards that hold the request have more left than card i, or as much and a lower
 * number. */
static int32_t emptier(const struct place_scan *s, const struct view *v, int64_t i)
{
    int32_t n = 0;
    for (int64_t k = 0; k < v->n; k++) {
        const uint64_t mine = cluster_card(s->c, v->first + (uint32_t)i)->free_bytes;
        const uint64_t other = cluster_card(s->c, v->first + (uint32_t)k)->free_bytes;
        n += v->holds[k] &&
             (v->left[k] > v->left[i] ||
              (v->left[k] == v->left[i] && (other > mine || (other == mine && k < i))));
    }
    return n;
}

int place_scan_pick(const struct place_scan *s, const struct place_request *r, struct pick *out)
{
    double best = -INFINITY;
    int64_t best_card = -1;
    struct view v, chosen = { 0 };
    for (int64_t k = 0; k < s->p->nodes; k++) {
        const int32_t index = (int32_t)s->order[k];
        const struct place_request *here = &r[cluster_node(s->c, index)->group];
        const struct demand *d = here->demand;
        int64_t card;
        if (!d || !cluster_node_holds(s->c, index, here, d->cards ? d->cards : 1)) continue;
        look(s, index, d, &v);
        if (v.fit < d->cards) continue;
        const double x = score(s, &v, here, &card);
        if (x <= best) continue;
        best = x;
        best_card = card;
        chosen = v;
    }
    out->card.n = 0;
    out->node = -1;
    if (!chosen.node) return -1;
    const int32_t cards = r[chosen.node->group].demand->cards;
    if (cards == 0) out->node = chosen.node->index;
    if (cards == 1) vec_push(&out->card, chosen.first + (uint32_t)best_card);
    for (int64_t i = 0; cards > 1 && out->card.n < (size_t)cards; i++)
        if (chosen.holds[i] && (s->rule != SCAN_SPREAD || emptier(s, &chosen, i) < cards))
            vec_push(&out->card, chosen.first + (uint32_t)i);
    return chosen.node->group;
}

double place_scan_fragments(const struct place_scan *s)
{
    double sum = 0;
    struct view v;
    for (int64_t i = 0; i < s->p->nodes; i++) {
        look(s, (int32_t)i, NULL, &v);
        sum += (double)fragments(s, &v) / v.g->capacity;
    }
    return s->weight ? sum / (double)s->weight : 0;
}
