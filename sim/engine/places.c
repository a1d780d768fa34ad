#include "engine/places.h"

#include "base/err.h"
#include "engine/steps.h"

#include <stdlib.h>

/* From `at` on, until the next step: of a node whole cards, CPU cores in thousandths and bytes
 * of the host; of a card units and bytes, and minus the number of its tenants and the sum of
 * their owners. */
enum { CARDS = 0, CPUS = 1, HOST = 2, UNITS = 0, BYTES = 1, TENANTS = 2, OWNERS = 3, KINDS = 4 };
struct step {
    simtime at;
    int64_t free[KINDS];
};
struct line {
    VEC(struct step) step;
};

struct places {
    const struct plan *plan;
    const struct cluster *cluster;
    struct line *node;
    struct line *card; /* NULL: cards are not shared */
    simtime now;
    VEC(simtime) soonest; /* scratch */
};

struct places *places_create(const struct plan *plan, const struct cluster *cluster)
{
    bool shared = false, limits = false;
    int64_t most_nodes = 0;
    for (size_t g = 0; g < plan->n_groups; g++) {
        const struct plan_group *pg = &plan->group[g];
        shared |= pg->capacity > 1;
        limits |= pg->node_cpus_milli != INT64_MAX || pg->node_host_bytes != UINT64_MAX;
        if (pg->nodes > most_nodes) most_nodes = pg->nodes;
    }
    if (plan->share->instances || plan->share->pooled || plan->gang != GANG_NODE) return NULL;
    if (!shared && !limits && most_nodes <= 1) return NULL;
    struct places *p = xcalloc(1, sizeof *p);
    *p = (struct places){ .plan = plan, .cluster = cluster };
    p->node = xcalloc((size_t)plan->nodes + 1, sizeof *p->node);
    if (shared) p->card = xcalloc((size_t)plan->cards + 1, sizeof *p->card);
    return p;
}

void places_destroy(struct places *p)
{
    if (!p) return;
    for (int64_t i = 0; i < p->plan->nodes; i++) vec_fini(&p->node[i].step);
    for (int64_t i = 0; p->card && i < p->plan->cards; i++) vec_fini(&p->card[i].step);
    vec_fini(&p->soonest);
    free(p->node);
    free(p->card);
    free(p);
}

/* ---- steps ---- */

static void begin(struct line *l, simtime at, int64_t a, int64_t b, int64_t c)
{
    l->step.n = 0;
    vec_push(&l->step, ((struct step){ at, { a, b, c, 0 } }));
}

static size_t split(struct line *l, simtime at)
{
    size_t i = l->step.n;
    while (i > 0 && l->step.v[i - 1].at > at) i--;
    if (i > 0 && l->step.v[i - 1].at == at) return i - 1;
    BUG_ON(i == 0);
    struct step copy = l->step.v[i - 1];
    copy.at = at;
    vec_push(&l->step, copy);
    for (size_t k = l->step.n - 1; k > i; k--) l->step.v[k] = l->step.v[k - 1];
    l->step.v[i] = copy;
    return i;
}

static void hold(struct line *l, simtime from, simtime until, const int64_t take[KINDS])
{
    size_t i = split(l, from);
    const size_t end = until == SIM_NEVER ? l->step.n : split(l, until);
    for (; i < end; i++)
        for (int k = 0; k < KINDS; k++) l->step.v[i].free[k] -= take[k];
}

/* The step in which `at` lies; the first one for a time before all. */
static size_t step_at(const struct line *l, simtime at)
{
    return steps_find(l->step.v, sizeof *l->step.v, l->step.n, at);
}

/* Is `need` (owners apart) free from `from` until `until`? Then the least that is free goes to
 * *min. */
static bool has(const struct line *l, simtime from, simtime until, const int64_t need[KINDS],
                struct step *min)
{
    *min = (struct step){ 0, { INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX } };
    for (size_t i = step_at(l, from); i < l->step.n && l->step.v[i].at < until; i++)
        for (int k = 0; k < OWNERS; k++) {
            const int64_t n = l->step.v[i].free[k];
            if (n < need[k]) return false;
            if (n < min->free[k]) min->free[k] = n;
        }
    return true;
}

static simtime after(simtime t, simtime length)
{
    return length >= SIM_NEVER - t ? SIM_NEVER : t + length;
}

/* The earliest time from `from` on with `need` free for `length`; tenants, if any, of this owner
 * (0: of any). */
static simtime earliest(const struct line *l, simtime from, simtime length, uint32_t owner,
                        const int64_t need[KINDS])
{
    simtime at = from;
    for (size_t i = step_at(l, from); i < l->step.n && l->step.v[i].at < after(at, length); i++) {
        const int64_t *n = l->step.v[i].free;
        bool ok = owner == 0 || n[OWNERS] == n[TENANTS] * (int64_t)owner;
        for (int k = 0; k < OWNERS; k++) ok &= n[k] >= need[k];
        if (!ok) at = i + 1 < l->step.n ? l->step.v[i + 1].at : SIM_NEVER;
    }
    return at;
}

/* Of a node in service; what has no limit is more than all jobs can have. */
static int64_t cores_of(const struct plan_group *pg)
{
    return pg->node_cpus_milli == INT64_MAX ? INT64_MAX / 4 : pg->node_cpus_milli;
}

static int64_t bytes_of(const struct plan_group *pg)
{
    return pg->node_host_bytes < INT64_MAX / 4 ? (int64_t)pg->node_host_bytes : INT64_MAX / 4;
}

void places_draw(struct places *p, simtime now)
{
    p->now = now;
    for (size_t g = 0; g < p->plan->n_groups; g++) {
        const struct plan_group *pg = &p->plan->group[g];
        for (int64_t n = 0; n < pg->nodes; n++) {
            int64_t cards = 0;
            const int64_t index = pg->first_node + n;
            const bool out = cluster_node(p->cluster, (int32_t)index)->out;
            for (int64_t i = 0; i < pg->per_node; i++) {
                const int64_t card = pg->first_card + n * pg->per_node + i;
                const bool serves = !cluster_card(p->cluster, (uint32_t)card)->out;
                cards += serves;
                if (p->card)
                    begin(&p->card[card], now, serves ? pg->capacity : 0,
                          serves ? (int64_t)pg->type.gpu->usable_bytes : 0, 0);
            }
            begin(&p->node[index], now, cards, out ? -1 : cores_of(pg), out ? -1 : bytes_of(pg));
        }
    }
}

void places_come_back(struct places *p, int32_t node, uint32_t card, simtime at)
{
    const int32_t home = node >= 0 ? node : cluster_card(p->cluster, card)->node;
    const struct plan_group *pg = &p->plan->group[cluster_node(p->cluster, home)->group];
    int64_t gives[KINDS] = { 0 };
    if (node >= 0) { /* it has no cores and no memory until then */
        gives[CPUS] = -cores_of(pg) - 1;
        gives[HOST] = -bytes_of(pg) - 1;
    } else if (p->card) {
        gives[UNITS] = -(int64_t)pg->capacity;
        gives[BYTES] = -(int64_t)pg->type.gpu->usable_bytes;
        hold(&p->card[card], at, SIM_NEVER, gives);
        return;
    } else {
        gives[CARDS] = -1;
    }
    hold(&p->node[home], at, SIM_NEVER, gives);
}

/* ---- jobs ---- */

static int64_t per_node(const struct places *p, const struct place_request *r)
{
    return p->plan->group[r->group].per_node;
}

static int64_t node_of(const struct places *p, const struct place_request *r, uint32_t card)
{
    const struct plan_group *pg = &p->plan->group[r->group];
    return pg->first_node + ((int64_t)card - pg->first_card) / pg->per_node;
}

/* Of a node, for so many cards of the job (1 for a job without). */
static void node_share(const struct places *p, const struct place_request *r, int64_t on_node,
                       int64_t out[KINDS])
{
    const struct plan_group *pg = &p->plan->group[r->group];
    const int64_t cards = r->demand->cards ? r->demand->cards : 1;
    out[CARDS] = p->card || r->demand->cards == 0 ? 0 : on_node;
    out[CPUS] = pg->node_cpus_milli == INT64_MAX ? 0 : cluster_cpus_for(r, on_node, cards);
    out[OWNERS] = 0;
    out[HOST] =
        pg->node_host_bytes == UINT64_MAX ? 0 : (int64_t)cluster_host_bytes_for(r, on_node, cards);
}

static bool node_has(const struct places *p, int64_t node, const struct place_request *r,
                     int64_t on_node, simtime from, simtime until, struct step *min)
{
    int64_t need[KINDS];
    node_share(p, r, on_node, need);
    return has(&p->node[node], from, until, need, min);
}

/* Nobody of another owner is there all that time? */
static bool owners_agree(const struct line *l, uint32_t owner, simtime from, simtime until)
{
    if (owner == 0) return true;
    for (size_t i = step_at(l, from); i < l->step.n && l->step.v[i].at < until; i++)
        if (l->step.v[i].free[OWNERS] != l->step.v[i].free[TENANTS] * (int64_t)owner) return false;
    return true;
}

static bool card_has(const struct places *p, int64_t card, const struct demand *d, simtime from,
                     simtime until, struct step *min)
{
    const int64_t need[KINDS] = { d->units, (int64_t)d->reserve_bytes, INT64_MIN, INT64_MIN };
    return has(&p->card[card], from, until, need, min) &&
           owners_agree(&p->card[card], d->owner, from, until) &&
           (from > p->now || cluster_card_fits(p->cluster, (uint32_t)card, d));
}

void places_hold(struct places *p, const struct place_request *r, const struct pick *pick,
                 simtime from, simtime until)
{
    int64_t take[KINDS];
    const int64_t card[KINDS] = { r->demand->units, (int64_t)r->demand->reserve_bytes, 1,
                                  r->demand->owner };
    if (r->demand->cards == 0) {
        node_share(p, r, 1, take);
        hold(&p->node[pick->node], from, until, take);
    }
    for (size_t i = 0, k; i < pick->card.n; i = k) {
        const int64_t node = node_of(p, r, pick->card.v[i]);
        int64_t out = 0;
        for (k = i; k < pick->card.n && node_of(p, r, pick->card.v[k]) == node; k++) {
            const uint32_t c = pick->card.v[k];
            if (from <= p->now && cluster_card(p->cluster, c)->out)
                out++; /* who runs there: it is not among the free ones either */
            else if (p->card)
                hold(&p->card[c], from, until, card);
        }
        node_share(p, r, (int64_t)(k - i), take);
        if (!p->card) take[CARDS] -= out;
        hold(&p->node[node], from, until, take);
    }
}

bool places_free(struct places *p, const struct place_request *r, const struct pick *pick,
                 simtime from, simtime until)
{
    struct step min;
    if (r->demand->cards == 0) return node_has(p, pick->node, r, 1, from, until, &min);
    for (size_t i = 0, k; i < pick->card.n; i = k) {
        const int64_t node = node_of(p, r, pick->card.v[i]);
        for (k = i; k < pick->card.n && node_of(p, r, pick->card.v[k]) == node; k++)
            if (p->card && !card_has(p, pick->card.v[k], r->demand, from, until, &min))
                return false;
        if (!node_has(p, node, r, (int64_t)(k - i), from, until, &min)) return false;
    }
    return true;
}

/* ---- where ---- */

/* Cards of the node that could be among the job's, at most `most` of them into `out` (may be
 * NULL). */
static int64_t cards_on(const struct places *p, int64_t node, const struct place_request *r,
                        simtime from, simtime until, int64_t most, struct pick *out)
{
    const struct plan_group *pg = &p->plan->group[r->group];
    const int64_t first = pg->first_card + (node - pg->first_node) * pg->per_node;
    int64_t n = 0;
    struct step min;
    for (int64_t c = first; c < first + pg->per_node && n < most; c++) {
        if (p->card ? !card_has(p, c, r->demand, from, until, &min)
                    : from == p->now && !cluster_card_fits(p->cluster, (uint32_t)c, r->demand))
            continue;
        if (out) vec_push(&out->card, (uint32_t)c);
        n++;
    }
    return n;
}

static bool is_used(const struct places *p, const struct place_request *r, const struct pick *pick,
                    int64_t node)
{
    for (size_t i = 0; i < pick->card.n; i++)
        if (node_of(p, r, pick->card.v[i]) == node) return true;
    return false;
}

/* `want` cards of one node that the pick does not use yet; `first`: the first such node, else
 * the tightest. */
static bool on_one_node(const struct places *p, const struct place_request *r, int64_t want,
                        bool first, simtime from, simtime until, struct pick *out)
{
    const struct plan_group *pg = &p->plan->group[r->group];
    int64_t best = -1, fewest = INT64_MAX;
    for (int64_t node = pg->first_node; node < pg->first_node + pg->nodes; node++) {
        struct step min;
        if (is_used(p, r, out, node) || !node_has(p, node, r, want, from, until, &min)) continue;
        const int64_t n =
            p->card ? cards_on(p, node, r, from, until, pg->per_node, NULL) : min.free[CARDS];
        if (n < want || n >= fewest) continue;
        fewest = n;
        best = node;
        if (first) break;
    }
    return best >= 0 && cards_on(p, best, r, from, until, want, out) == want;
}

static bool on_one_card(const struct places *p, const struct place_request *r, simtime from,
                        simtime until, struct pick *out)
{
    const struct plan_group *pg = &p->plan->group[r->group];
    struct step min, of_node, best = { 0, { 0 } };
    int64_t at = -1;
    for (int64_t c = pg->first_card; c < pg->first_card + pg->cards; c++) {
        if (!card_has(p, c, r->demand, from, until, &min) ||
            (at >= 0 &&
             (min.free[UNITS] > best.free[UNITS] ||
              (min.free[UNITS] == best.free[UNITS] && min.free[BYTES] >= best.free[BYTES]))) ||
            !node_has(p, node_of(p, r, (uint32_t)c), r, 1, from, until, &of_node))
            continue;
        best = min;
        at = c;
    }
    if (at >= 0) vec_push(&out->card, (uint32_t)at);
    return at >= 0;
}

/* The time from which on `want` cards of the node, each by itself, are free for so long. */
static simtime cards_from(struct places *p, int64_t node, const struct place_request *r,
                          int64_t want, simtime from, simtime length)
{
    const struct demand *d = r->demand;
    const struct plan_group *pg = &p->plan->group[r->group];
    const int64_t need[KINDS] = { d->units, (int64_t)d->reserve_bytes, INT64_MIN, INT64_MIN };
    const int64_t first = pg->first_card + (node - pg->first_node) * pg->per_node;
    p->soonest.n = 0;
    for (int64_t c = first; c < first + pg->per_node; c++) {
        const simtime at = earliest(&p->card[c], from, length, d->owner, need);
        if ((int64_t)p->soonest.n < want)
            vec_push(&p->soonest, at);
        else if (at >= p->soonest.v[p->soonest.n - 1])
            continue;
        size_t i = p->soonest.n - 1;
        for (; i > 0 && p->soonest.v[i - 1] > at; i--) p->soonest.v[i] = p->soonest.v[i - 1];
        p->soonest.v[i] = at;
    }
    return p->soonest.v[want - 1];
}

simtime places_not_before(struct places *p, const struct place_request *r, simtime from,
                          simtime length)
{
    const struct plan_group *pg = &p->plan->group[r->group];
    const int64_t cards = r->demand->cards, want = cards < pg->per_node ? cards : pg->per_node;
    simtime best = SIM_NEVER;
    int64_t need[KINDS];
    node_share(p, r, want > 0 ? want : 1, need);
    for (int64_t node = pg->first_node; node < pg->first_node + pg->nodes && best > from; node++)
        for (simtime at = from, then; at < best; at = then) {
            then = earliest(&p->node[node], at, length, 0, need);
            if (then < best && want > 0 && p->card)
                then = cards_from(p, node, r, want, then, length);
            if (then == at) best = at; /* all of them at once */
        }
    return best;
}

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

bool places_find(struct places *p, const struct place_request *r, simtime from, simtime until,
                 struct pick *out)
{
    const struct plan_group *pg = &p->plan->group[r->group];
    struct step min;
    int64_t left = r->demand->cards;
    out->card.n = 0;
    out->slice = (struct mig_slice){ .profile = -1 };
    out->prepare = 0;
    out->node = -1;
    if (left == 0) {
        int64_t node = pg->first_node;
        while (node < pg->first_node + pg->nodes && !node_has(p, node, r, 1, from, until, &min))
            node++;
        out->node = (int32_t)node;
        return node < pg->first_node + pg->nodes;
    }
    if (left == 1 && p->card) return on_one_card(p, r, from, until, out);
    for (; left >= per_node(p, r); left -= per_node(p, r))
        if (!on_one_node(p, r, per_node(p, r), true, from, until, out)) return false;
    if (left > 0 && !on_one_node(p, r, left, false, from, until, out)) return false;
    if (out->card.n > 1) qsort(out->card.v, out->card.n, sizeof *out->card.v, ascending);
    return true;
}
