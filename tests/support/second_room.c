#include "support/second_inside.h"

#include "support/support.h"

#include <stdlib.h>
#include <string.h>

/* ---- counting what is free ---- */

const struct plan_group *second_group_of_card(const struct engine *e, int card)
{
    const struct plan_group *g = e->plan->group;
    while (card >= g->first_card + g->cards) g++;
    return g;
}

int second_node_of(const struct engine *e, int card)
{
    const struct plan_group *g = second_group_of_card(e, card);
    return (int)(g->first_node + (card - g->first_card) / g->per_node);
}

bool second_holds_card(const struct place *at, int card)
{
    for (int i = 0; i < at->n; i++)
        if (at->card[i] == card) return true;
    return false;
}

const struct demand *second_demand_of(const struct engine *e, int job, int group)
{
    return &e->life[job].wish[group].demand;
}

static bool sliced(const struct engine *e, int card, struct instance_rules *rules)
{
    const struct plan_group *g = second_group_of_card(e, card);
    e->plan->share->instance_rules(g->params, card - g->first_card, rules);
    return !rules->on_demand && !rules->off;
}

/* The start of a free instance of the profile on the card, the first of the layout; -1. */
static int free_instance(const struct engine *e, const struct view *v, int card, int profile)
{
    struct instance_rules rules;
    if (!sliced(e, card, &rules)) return -1;
    for (int i = 0; i < rules.layout->n; i++) {
        const struct mig_slice s = rules.layout->slice[i];
        bool taken = s.profile != profile;
        for (int k = 0; k < v->n; k++)
            taken |= second_holds_card(&v->at[k], card) && v->at[k].slice.start == s.start &&
                     v->at[k].slice.profile == s.profile;
        if (!taken) return s.start;
    }
    return -1;
}

struct room second_room_on(const struct engine *e, const struct view *v, int card)
{
    const struct plan_group *g = second_group_of_card(e, card);
    struct room r = { .units = g->capacity, .bytes = g->type.gpu->usable_bytes };
    for (int k = 0; k < v->n; k++) {
        if (!second_holds_card(&v->at[k], card)) continue;
        const struct demand *d = second_demand_of(e, v->job[k], v->at[k].group);
        r.units -= d->units;
        r.bytes -= d->reserve_bytes;
        r.owner = d->owner;
        r.tenants++;
    }
    return r;
}

/* A card that a gang may use: one slot of it is free, or all of it where there are no slots. */
static bool eligible(const struct engine *e, const struct view *v, int card)
{
    const struct plan_group *g = second_group_of_card(e, card);
    const char *kind = e->plan->share->name; /* whole: where it overcommits */
    const bool slots =
        strcmp(kind, "timeslice") == 0 || strcmp(kind, "mps") == 0 || strcmp(kind, "whole") == 0;
    struct instance_rules rules;
    if (second_card_out(e, v, card)) return false;
    if (e->plan->share->instances && (sliced(e, card, &rules) || second_making(e, v, card)))
        return false;
    return second_room_on(e, v, card).units >= (slots ? 1 : g->capacity);
}

static bool card_fits(const struct engine *e, const struct view *v, int card,
                      const struct demand *d)
{
    const struct room r = second_room_on(e, v, card);
    if (second_card_out(e, v, card)) return false;
    if (r.tenants > 0 && d->owner != 0 && r.owner != d->owner) return false;
    if (d->mig_profile >= 0 && e->on_demand) return second_could_make(e, v, card, d->mig_profile);
    if (d->mig_profile >= 0) return free_instance(e, v, card, d->mig_profile) >= 0;
    if (e->plan->share->instances && !eligible(e, v, card)) return false;
    return r.units >= d->units && r.bytes >= d->reserve_bytes;
}

/* CPU cores of a job for `on_node` of its cards, rounded up. */
static int64_t cores(const struct engine *e, int job, int cards, int on_node)
{
    const int32_t all = e->life[job].job->cpus_milli;
    if (all == JOB_NO_INT) return 0;
    if (cards == 0) return all;
    return ((int64_t)all * on_node + cards - 1) / cards;
}

static bool node_fits(const struct engine *e, const struct view *v, int node, int job, int group,
                      int on_node)
{
    int64_t free = e->plan->group[group].node_cpus_milli;
    if (second_node_out(e, v, node)) return false;
    if (free == INT64_MAX) return true;
    for (int k = 0; k < v->n; k++) {
        const struct place *at = &v->at[k];
        int here = 0;
        for (int i = 0; i < at->n; i++) here += second_node_of(e, at->card[i]) == node;
        if (here > 0 || (at->n == 0 && at->node == node)) free -= cores(e, v->job[k], at->n, here);
    }
    return free >= cores(e, job, second_demand_of(e, job, group)->cards, on_node);
}

bool second_card_holds(const struct engine *e, const struct view *v, int job, int group, int card)
{
    return card_fits(e, v, card, second_demand_of(e, job, group));
}

bool second_node_holds(const struct engine *e, const struct view *v, int job, int group, int node,
                       int on_node)
{
    return node_fits(e, v, node, job, group, on_node);
}

/* ---- where a job would go ---- */

static bool fits_here(const struct engine *e, const struct ask *a, int card, int on_node)
{
    const struct demand *d = second_demand_of(e, a->job, a->group);
    const int node = second_node_of(e, card);
    if (!card_fits(e, a->v, card, d) || !node_fits(e, a->v, node, a->job, a->group, on_node))
        return false;
    return !a->beside || (card_fits(e, a->beside, card, d) &&
                          node_fits(e, a->beside, node, a->job, a->group, on_node));
}

static bool better(enum second_like like, const struct room *a, const struct room *b)
{
    const bool less = a->units < b->units || (a->units == b->units && a->bytes < b->bytes);
    const bool same = a->units == b->units && a->bytes == b->bytes;
    return like == SECOND_LOOSEST ? !less && !same : less;
}

static bool one_card(const struct engine *e, const struct ask *a, struct place *out)
{
    const struct plan_group *g = &e->plan->group[a->group];
    struct room best = { 0 };
    int card = -1;
    for (int c = (int)g->first_card; c < g->first_card + g->cards; c++) {
        if (!fits_here(e, a, c, 1)) continue;
        const struct room r = second_room_on(e, a->v, c);
        if (card >= 0 && a->like == SECOND_FIRST) break;
        if (card >= 0 && !better(a->like, &r, &best)) continue;
        card = c;
        best = r;
    }
    if (card < 0) return false;
    out->card[out->n++] = card;
    return true;
}

static bool one_instance(const struct engine *e, const struct ask *a, struct place *out)
{
    const struct plan_group *g = &e->plan->group[a->group];
    const int profile = second_demand_of(e, a->job, a->group)->mig_profile;
    if (e->on_demand) return second_instance(e, a->v, a->job, a->group, out);
    for (int c = (int)g->first_card; c < g->first_card + g->cards; c++) {
        if (!fits_here(e, a, c, 1)) continue;
        out->slice = (struct mig_slice){ profile, free_instance(e, a->v, c, profile) };
        out->card[out->n++] = c;
        return true;
    }
    return false;
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* The first `want` cards of the node that fit, appended; false: too few. */
static bool cards_of_node(const struct engine *e, const struct ask *a, int node, int want,
                          struct place *out)
{
    const struct plan_group *g = &e->plan->group[a->group];
    const int first = (int)(g->first_card + (node - g->first_node) * g->per_node);
    const int before = out->n;
    for (int c = first; c < first + g->per_node && out->n < before + want; c++)
        if (eligible(e, a->v, c) && fits_here(e, a, c, want)) out->card[out->n++] = c;
    if (out->n == before + want) return true;
    out->n = before;
    return false;
}

/* The same, slots where the most is left. */
static bool loosest_of_node(const struct engine *e, const struct ask *a, int node, int want,
                            struct place *out)
{
    const struct plan_group *g = &e->plan->group[a->group];
    const int first = (int)(g->first_card + (node - g->first_node) * g->per_node);
    const int before = out->n;
    while (out->n < before + want) {
        struct room best = { 0 };
        int card = -1;
        for (int c = first; c < first + g->per_node; c++) {
            if (second_holds_card(out, c) || !eligible(e, a->v, c) || !fits_here(e, a, c, want))
                continue;
            const struct room r = second_room_on(e, a->v, c);
            if (card >= 0 && !better(SECOND_LOOSEST, &r, &best)) continue;
            card = c;
            best = r;
        }
        if (card < 0) break;
        out->card[out->n++] = card;
    }
    qsort(out->card + before, (size_t)(out->n - before), sizeof *out->card, ascending);
    if (out->n == before + want) return true;
    out->n = before;
    return false;
}

static int eligible_on(const struct engine *e, const struct ask *a, int node)
{
    const struct plan_group *g = &e->plan->group[a->group];
    const int first = (int)(g->first_card + (node - g->first_node) * g->per_node);
    int n = 0;
    for (int c = first; c < first + g->per_node; c++) n += eligible(e, a->v, c);
    return n;
}

/* The node with the fewest eligible cards, or the most, or the first, that has the cards; not
 * one already used. */
static bool one_node(const struct engine *e, const struct ask *a, int want, struct place *out)
{
    const struct plan_group *g = &e->plan->group[a->group];
    const int units = second_demand_of(e, a->job, a->group)->units;
    struct place best;
    int fewest = INT32_MAX;
    for (int node = (int)g->first_node; node < g->first_node + g->nodes; node++) {
        struct place here = *out;
        bool used = false;
        for (int i = 0; i < out->n; i++) used |= second_node_of(e, out->card[i]) == node;
        const bool slots = a->like == SECOND_LOOSEST && units < g->capacity;
        if (used || !(slots ? loosest_of_node : cards_of_node)(e, a, node, want, &here)) continue;
        const int eligibles = eligible_on(e, a, node);
        const int key = a->like == SECOND_FIRST     ? 0
                        : a->like == SECOND_LOOSEST ? -eligibles
                                                    : eligibles;
        if (key >= fewest) continue;
        fewest = key;
        best = here;
    }
    if (fewest == INT32_MAX) return false;
    *out = best;
    return true;
}

/* ---- domains and racks ---- */

/* The gang keeps to one NVLink domain, and no node decides which. */
static bool in_domain(const struct engine *e, int group, int cards)
{
    const struct plan_group *g = &e->plan->group[group];
    if (e->plan->gang != GANG_DOMAIN || e->plan->share->pooled) return false;
    if (cards < 2 || cards > g->domain || g->domain == g->per_node) return false;
    return g->domain < g->per_node || cards > g->per_node;
}

/* Cards from `first` on before `end`: of a node, the first that do; of several, whole nodes,
 * then the node with the fewest eligible cards. */
static bool cards_of_domain(const struct engine *e, const struct ask *a, int first, int end,
                            struct place *out)
{
    const struct plan_group *g = &e->plan->group[a->group];
    const int want = second_demand_of(e, a->job, a->group)->cards, per = (int)g->per_node;
    const int from = second_node_of(e, first), to = second_node_of(e, end - 1);
    int whole = want / per, best = -1;
    out->n = 0;
    for (int c = first; g->domain < per && c < end && out->n < want; c++)
        if (eligible(e, a->v, c) && fits_here(e, a, c, want)) out->card[out->n++] = c;
    if (g->domain < per) return out->n == want;
    for (int node = from; node <= to && whole > 0; node++)
        if (eligible_on(e, a, node) == per && cards_of_node(e, a, node, per, out)) whole--;
    if (whole > 0) return false;
    for (int node = from; node <= to && want % per > 0; node++) {
        struct place more = *out;
        bool used = false;
        for (int i = 0; i < out->n; i++) used |= second_node_of(e, out->card[i]) == node;
        if (used || !cards_of_node(e, a, node, want % per, &more)) continue;
        if (best < 0 || eligible_on(e, a, node) < eligible_on(e, a, best)) best = node;
    }
    if (best >= 0) cards_of_node(e, a, best, want % per, out);
    return out->n == want;
}

/* The domain with the fewest eligible cards, or the most, or the first. */
static bool one_domain(const struct engine *e, const struct ask *a, struct place *out)
{
    const struct plan_group *g = &e->plan->group[a->group];
    const int end = (int)(g->first_card + g->cards), size = (int)g->domain;
    struct place best;
    int fewest = INT32_MAX;
    for (int first = (int)g->first_card; first < end; first += size) {
        const int last = first + size < end ? first + size : end;
        struct place here = *out;
        int eligibles = 0;
        for (int c = first; c < last; c++) eligibles += eligible(e, a->v, c);
        const int key = a->like == SECOND_FIRST     ? 0
                        : a->like == SECOND_LOOSEST ? -eligibles
                                                    : eligibles;
        if (key >= fewest || !cards_of_domain(e, a, first, last, &here)) continue;
        fewest = key;
        best = here;
    }
    if (fewest == INT32_MAX) return false;
    qsort(best.card, (size_t)best.n, sizeof *best.card, ascending);
    *out = best;
    return true;
}

/* From which rack the next of `whole` nodes comes. `free`: what each has left; `taken`: what it
 * has given. Pack: the one that is begun, else the tightest that has all, else that with the
 * most. Spread: of those that have given the least, that with the most at first. */
static int next_rack(const struct engine *e, const int *free, const int *taken, int n, int whole)
{
    int best = -1;
    for (int r = 0; r < n; r++) {
        const int b = best < 0 ? r : best, all = free[r] + taken[r];
        if (free[r] == 0) continue;
        if (e->plan->racks == RACKS_SPREAD) {
            if (best < 0 || taken[r] < taken[b] ||
                (taken[r] == taken[b] && all > free[b] + taken[b]))
                best = r;
        } else {
            if (taken[r] > 0) return r;
            const bool does = free[r] >= whole, other = free[b] >= whole;
            if (best < 0 || (does && !other) || (does && free[r] < free[b]) ||
                (!does && !other && free[r] > free[b]))
                best = r;
        }
    }
    return best;
}

/* Whole nodes of a larger gang as the plan wants racks; in each rack the first. */
static bool nodes_by_rack(const struct engine *e, const struct ask *a, int whole, struct place *out)
{
    const struct plan_group *g = &e->plan->group[a->group];
    int free[SECOND_CARDS] = { 0 }, taken[SECOND_CARDS] = { 0 }, racks = 0;
    for (int node = 0; node < g->nodes; node++) {
        struct place alone = { .n = 0 };
        racks = (int)(node / g->spec->nodes_per_rack) + 1;
        free[racks - 1] += cards_of_node(e, a, (int)g->first_node + node, (int)g->per_node, &alone);
    }
    for (int left = whole; left > 0; left--) {
        const int rack = next_rack(e, free, taken, racks, left);
        if (rack < 0) return false;
        free[rack]--;
        taken[rack]++;
    }
    for (int node = 0; node < g->nodes; node++) {
        const int rack = (int)(node / g->spec->nodes_per_rack);
        if (taken[rack] > 0)
            taken[rack] -= cards_of_node(e, a, (int)g->first_node + node, (int)g->per_node, out);
    }
    return true;
}

/* The first cards that do, whatever their nodes. */
static bool any_cards(const struct engine *e, const struct ask *a, int want, struct place *out)
{
    const struct plan_group *g = &e->plan->group[a->group];
    int on_node = 0;
    for (int c = (int)g->first_card; c < g->first_card + g->cards && out->n < want; c++) {
        if ((c - g->first_card) % g->per_node == 0) on_node = 0;
        if (!eligible(e, a->v, c) || !fits_here(e, a, c, on_node + 1)) continue;
        out->card[out->n++] = c;
        on_node++;
    }
    return out->n == want;
}

static bool whole_cards(const struct engine *e, const struct ask *a, struct place *out)
{
    const struct plan_group *g = &e->plan->group[a->group];
    const int want = second_demand_of(e, a->job, a->group)->cards, per = (int)g->per_node;
    if (e->plan->share->instances && want == 1) { /* the first with MIG off */
        for (int c = (int)g->first_card; c < g->first_card + g->cards && out->n == 0; c++)
            if ((!e->on_demand || e->carved[c].off) && fits_here(e, a, c, 1))
                out->card[out->n++] = c;
        if (out->n == 1 || !e->on_demand) return out->n == 1;
    }
    if (in_domain(e, a->group, want)) return one_domain(e, a, out);
    if (want <= per && one_node(e, a, want, out)) return true;
    if (e->any_node) return any_cards(e, a, want, out);
    if (want <= per) return false;
    int whole = want / per;
    if (e->plan->racks != RACKS_ANY && g->spec->nodes_per_rack != CFG_NO_INT) {
        if (!nodes_by_rack(e, a, whole, out)) return false;
        whole = 0;
    }
    for (int node = (int)g->first_node; node < g->first_node + g->nodes && whole > 0; node++)
        if (eligible_on(e, a, node) == per && cards_of_node(e, a, node, per, out)) whole--;
    if (whole > 0 || (want % per > 0 && !one_node(e, a, want % per, out))) return false;
    qsort(out->card, (size_t)out->n, sizeof *out->card, ascending);
    return true;
}

int second_eligible_on(const struct engine *e, const struct view *v, int node)
{
    int group = 0;
    while (node >= e->plan->group[group].first_node + e->plan->group[group].nodes) group++;
    const struct ask a = { .v = v, .group = group };
    return eligible_on(e, &a, node);
}

bool second_find_in(const struct engine *e, const struct ask *a, struct place *out)
{
    const struct demand *d = second_demand_of(e, a->job, a->group);
    const struct plan_group *g = &e->plan->group[a->group];
    *out = (struct place){ .group = a->group, .node = -1, .slice.profile = -1 };
    if (d->cards == 0) {
        for (int node = (int)g->first_node; node < g->first_node + g->nodes; node++) {
            if (!node_fits(e, a->v, node, a->job, a->group, 1) ||
                (a->beside && !node_fits(e, a->beside, node, a->job, a->group, 1)))
                continue;
            out->node = node;
            return true;
        }
        return false;
    }
    if (d->mig_profile >= 0) return one_instance(e, a, out);
    return d->cards > 1 || d->units == g->capacity ? whole_cards(e, a, out) : one_card(e, a, out);
}

/* The first group that has a place, of those allowed (NULL: all). */
bool second_find_among(const struct engine *e, const struct view *v, const struct view *beside,
                       int job, const bool *allowed, enum second_like like, struct place *out)
{
    bool by_node = e->by_node && !beside; /* beside a reservation cards are sought */
    for (size_t g = 0; g < e->plan->n_groups; g++)
        if (e->life[job].wish[g].possible && (!allowed || allowed[g]) &&
            in_domain(e, (int)g, e->life[job].wish[g].demand.cards))
            by_node = false; /* group by group */
    if (by_node && second_by_node(e, v, job, allowed, out)) return true;
    for (size_t g = 0; g < e->plan->n_groups; g++) {
        const struct ask a = { v, beside, job, (int)g, like };
        const int cards = e->life[job].wish[g].demand.cards;
        const bool larger = cards > e->plan->group[g].per_node || (e->any_node && cards > 1);
        if ((by_node && !larger) || (allowed && !allowed[g])) continue;
        if (e->life[job].wish[g].possible && second_find_in(e, &a, out)) return true;
    }
    return false;
}

bool second_find(const struct engine *e, const struct view *v, const struct view *beside, int job,
                 enum second_like like, struct place *out)
{
    return second_find_among(e, v, beside, job, NULL, like, out);
}

void second_put(struct view *v, int job, const struct place *at)
{
    v->job[v->n] = job;
    v->at[v->n++] = *at;
}

void second_drop(struct view *v, int job)
{
    int kept = 0;
    for (int k = 0; k < v->n; k++) {
        if (v->job[k] == job) continue;
        v->job[kept] = v->job[k];
        v->at[kept++] = v->at[k];
    }
    v->n = kept;
}

/* Could exactly this place be taken? */
bool second_holds(const struct engine *e, const struct view *v, int job, const struct place *at)
{
    if (at->n == 0) return node_fits(e, v, at->node, job, at->group, 1);
    for (int i = 0; i < at->n; i++) {
        int here = 0;
        for (int k = 0; k < at->n; k++)
            here += second_node_of(e, at->card[k]) == second_node_of(e, at->card[i]);
        const struct ask a = { v, NULL, job, at->group, e->like };
        if (!fits_here(e, &a, at->card[i], here)) return false;
    }
    return true;
}

/* Whole cards of a node are as good as each other: those first that have room in `other`, or
 * those that have not. */
void second_prefer(const struct engine *e, const struct view *v, const struct view *other,
                   bool room_first, int job, struct place *at)
{
    const struct demand *d = second_demand_of(e, job, at->group);
    const struct plan_group *g = &e->plan->group[at->group];
    struct place again = *at;
    if (e->plan->share->instances || at->n == 0 || d->units < g->capacity) return;
    if (in_domain(e, at->group, d->cards)) return;
    again.n = 0;
    /* with gangs of any cards all of the group are, as long as nodes set no limits */
    const bool all = e->any_node && g->node_cpus_milli == INT64_MAX;
    const int step = (int)(all ? g->cards : g->per_node);
    for (int first = (int)g->first_card; first < g->first_card + g->cards; first += step) {
        int want = again.n;
        for (int i = 0; i < at->n; i++) want += at->card[i] >= first && at->card[i] < first + step;
        for (int round = 0; round <= 1; round++)
            for (int c = first; c < first + step && again.n < want; c++)
                if (eligible(e, v, c) && card_fits(e, v, c, d) &&
                    card_fits(e, other, c, d) == (room_first == (round == 0)))
                    again.card[again.n++] = c;
    }
    if (again.n != at->n) fail_msg("whole cards chosen anew are not as many as before");
    qsort(again.card, (size_t)again.n, sizeof *again.card, ascending);
    *at = again;
}
