/* Placements that weigh nodes, of the second engine: every node is scored for every request from
 * those who run. */
#include "support/second_inside.h"

#include "base/rng.h"
#include "policy/nodescore.h"
#include "support/support.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

static const char *const weighs[] = { "pack",       "spread",      "best_fit_node", "packing",
                                      "clustering", "dot_product", "fgd",           "random" };

static bool is(const struct engine *e, const char *name)
{
    return strcmp(e->plan->place->name, name) == 0;
}

void second_place_begin(struct engine *e)
{
    const size_t n = (size_t)e->plan->nodes;
    uint32_t order[SECOND_CARDS * 2];
    if (n > SECOND_CARDS * 2) fail_msg("too many nodes for the second engine");
    e->like = is(e, "first_fit")                      ? SECOND_FIRST
              : is(e, "worst_fit") || is(e, "spread") ? SECOND_LOOSEST
                                                      : SECOND_TIGHTEST;
    for (size_t i = 0; i < sizeof weighs / sizeof *weighs; i++) e->by_node |= is(e, weighs[i]);
    e->fgd = is(e, "fgd");
    if (e->plan->share->instances || e->plan->share->pooled)
        e->by_node = false; /* group by group */
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    if (!is(e, "pack") && !is(e, "spread")) {
        gsl_rng *rng = rng_create((uint64_t)e->plan->scenario->seed, 0, "place.order");
        gsl_ran_shuffle(rng, order, n, sizeof *order);
        gsl_rng_free(rng);
    }
    for (size_t i = 0; i < n; i++) e->tie[order[i]] = (int)i;
}

/* ---- one node ---- */

struct seen {
    const struct plan_group *g;
    int first, fit;
    struct room room[SECOND_CARDS];
    bool holds[SECOND_CARDS];
    double left; /* units of all its cards */
};

static void look(const struct engine *e, const struct view *v, int job, int group, int node,
                 struct seen *s)
{
    const struct plan_group *g = &e->plan->group[group];
    *s = (struct seen){ .g = g,
                        .first = (int)(g->first_card + (node - g->first_node) * g->per_node) };
    for (int i = 0; i < g->per_node; i++) {
        s->room[i] = second_room_on(e, v, s->first + i);
        if (second_card_out(e, v, s->first + i)) s->room[i].units = 0;
        s->holds[i] = second_card_holds(e, v, job, group, s->first + i);
        s->fit += s->holds[i];
        s->left += s->room[i].units;
    }
}

/* Of the cards that hold the request, and are not taken, that with the least left, or the most. */
static int choose(const struct seen *s, bool most, const struct place *taken)
{
    int best = -1;
    for (int i = 0; i < s->g->per_node; i++) {
        if (!s->holds[i] || second_holds_card(taken, s->first + i)) continue;
        const struct room *a = &s->room[i], *b = &s->room[best < 0 ? i : best];
        const bool less = a->units != b->units ? a->units < b->units : a->bytes < b->bytes;
        const bool more = a->units != b->units ? a->units > b->units : a->bytes > b->bytes;
        if (best < 0 || (most ? more : less)) best = i;
    }
    return best;
}

static double largest(const struct engine *e, bool cpus)
{
    double most = 0;
    for (size_t g = 0; g < e->plan->n_groups; g++) {
        const struct plan_group *group = &e->plan->group[g];
        if (!cpus)
            most = fmax(most, 1000.0 * (double)group->per_node);
        else if (group->node_cpus_milli != INT64_MAX)
            most = fmax(most, (double)group->node_cpus_milli);
    }
    return most;
}

double second_free_cores(const struct engine *e, const struct view *v, int node, int64_t all)
{
    for (int k = 0; k < v->n; k++) {
        const struct place *at = &v->at[k];
        const int32_t job = e->life[v->job[k]].job->cpus_milli;
        int here = 0;
        for (int i = 0; i < at->n; i++) here += second_node_of(e, at->card[i]) == node;
        if (job == JOB_NO_INT) continue;
        if (here > 0) all -= ((int64_t)job * here + at->n - 1) / at->n;
        if (at->n == 0 && at->node == node) all -= job;
    }
    return (double)all;
}

/* A job that asks for as many cards and as much of each is there. */
static bool alike(const struct engine *e, const struct view *v, const struct demand *d, int node)
{
    for (int k = 0; k < v->n; k++) {
        const struct demand *other = second_demand_of(e, v->job[k], v->at[k].group);
        if (other->cards != d->cards || other->units != d->units) continue;
        for (int i = 0; i < v->at[k].n; i++)
            if (second_node_of(e, v->at[k].card[i]) == node) return true;
    }
    return false;
}

static double score(const struct engine *e, const struct view *v, int job, int node,
                    const struct seen *s, int card)
{
    const struct plan_group *g = s->g;
    const struct demand *d = second_demand_of(e, job, (int)(g - e->plan->group));
    const double all = (double)g->capacity * (double)g->per_node;
    const double cores = largest(e, true), milli = largest(e, false);
    const int32_t asked = e->life[job].job->cpus_milli;
    const bool limited = cores > 0 && g->node_cpus_milli != INT64_MAX;
    if (is(e, "pack")) return floor(1e12 * (1 - s->left / all));
    if (is(e, "spread")) return floor(1e12 * (s->left / all));
    if (is(e, "best_fit_node")) {
        const double gpu = 1000.0 * (s->left - d->cards * d->units) / g->capacity / milli;
        if (!limited) return trunc(100 * (1 - gpu));
        const double left =
            second_free_cores(e, v, node, g->node_cpus_milli) - (asked == JOB_NO_INT ? 0 : asked);
        return trunc(100 * (1 - 0.5 * (left / cores) - 0.5 * gpu));
    }
    if (is(e, "dot_product")) {
        const double most = milli / 1000 * g->capacity;
        double product = s->left / most * ((double)d->cards * d->units / most);
        if (limited && asked != JOB_NO_INT)
            product += second_free_cores(e, v, node, g->node_cpus_milli) / cores * (asked / cores);
        return trunc(100 * (1 - 0.5 * product));
    }
    if (d->cards == 0) return 0;
    if (is(e, "clustering")) return (alike(e, v, d, node) ? 1e9 : 0) - s->left;
    /* packing */
    if (card >= 0 && s->room[card].units < g->capacity) return 2e9 - s->room[card].units;
    return (s->left < all ? 1e9 : 0) - s->left;
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void take(const struct engine *e, int job, int group, int node, const struct seen *s,
                 int card, struct place *out)
{
    const int cards = second_demand_of(e, job, group)->cards;
    const bool most = is(e, "spread");
    *out = (struct place){ .group = group, .node = cards == 0 ? node : -1, .slice.profile = -1 };
    for (int i = 0; cards > 1 && !most && out->n < cards; i++)
        if (s->holds[i]) out->card[out->n++] = s->first + i;
    if (cards == 1) out->card[out->n++] = s->first + card;
    while (out->n < cards) out->card[out->n++] = s->first + choose(s, most, out);
    qsort(out->card, (size_t)out->n, sizeof *out->card, ascending);
}

static bool one_holds(const struct engine *e, const struct view *v, int job, const bool *allowed,
                      int node, struct seen *s)
{
    int g = 0;
    while (node >= e->plan->group[g].first_node + e->plan->group[g].nodes) g++;
    const int cards = second_demand_of(e, job, g)->cards;
    if (!e->life[job].wish[g].possible || cards > e->plan->group[g].per_node ||
        (allowed && !allowed[g]) || !second_node_holds(e, v, job, g, node, cards ? cards : 1))
        return false;
    look(e, v, job, g, node, s);
    return s->fit >= cards;
}

static uint64_t chance(const struct engine *e, const struct view *v, uint64_t salt)
{
    uint64_t stays = 0;
    for (int k = 0; k < v->n; k++) {
        const struct place *at = &v->at[k];
        stays += at->n == 0;
        for (int i = 0; i < at->n; i++)
            stays += i == 0 || second_node_of(e, at->card[i]) != second_node_of(e, at->card[i - 1]);
    }
    return node_chance(e->plan, (uint64_t)e->begun, stays, salt);
}

/* Placement random. */
static bool by_chance(const struct engine *e, const struct view *v, int job, const bool *allowed,
                      struct place *out)
{
    const uint64_t nodes = (uint64_t)e->plan->nodes;
    struct seen s;
    int fit[SECOND_CARDS * 2], n = 0, node = -1, card = 0;
    for (int i = 0; i < (int)nodes; i++)
        if (one_holds(e, v, job, allowed, i, &s)) fit[n++] = i;
    if (n == 0) return false;
    for (uint64_t salt = 1; salt <= NODE_DRAWS && node < 0; salt++) {
        const int drawn = (int)(chance(e, v, salt) % nodes);
        if (one_holds(e, v, job, allowed, drawn, &s)) node = drawn;
    }
    if (node < 0) node = fit[chance(e, v, NODE_DRAWS + 1) % (uint64_t)n];
    one_holds(e, v, job, allowed, node, &s);
    const int group = (int)(s.g - e->plan->group);
    if (second_demand_of(e, job, group)->cards == 1)
        for (uint64_t skip = chance(e, v, 0) % (uint64_t)s.fit; !s.holds[card] || skip-- > 0;)
            card++;
    take(e, job, group, node, &s, card, out);
    return true;
}

bool second_by_node(const struct engine *e, const struct view *v, int job, const bool *allowed,
                    struct place *out)
{
    const struct place none = { 0 };
    double best = -INFINITY;
    int tie = INT32_MAX;
    if (is(e, "random")) return by_chance(e, v, job, allowed, out);
    for (size_t g = 0; g < e->plan->n_groups; g++) {
        const struct plan_group *group = &e->plan->group[g];
        const struct demand *d = second_demand_of(e, job, (int)g);
        if (!e->life[job].wish[g].possible || d->cards > group->per_node ||
            (allowed && !allowed[g]))
            continue;
        for (int node = (int)group->first_node; node < group->first_node + group->nodes; node++) {
            struct seen s;
            if (!second_node_holds(e, v, job, (int)g, node, d->cards ? d->cards : 1)) continue;
            look(e, v, job, (int)g, node, &s);
            if (s.fit < d->cards) continue;
            int card = d->cards == 1 ? choose(&s, is(e, "spread"), &none) : -1;
            const double x = e->fgd ? second_fgd(e, v, job, (int)g, node, &card)
                                    : score(e, v, job, node, &s, card);
            if (x < best || (x == best && e->tie[node] > tie)) continue;
            best = x;
            tie = e->tie[node];
            take(e, job, (int)g, node, &s, card, out);
        }
    }
    return tie != INT32_MAX;
}
