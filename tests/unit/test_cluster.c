/* Random takes and gives on every kind of fleet against a second, naive fleet in this file that
 * looks at every card and node: each pick must be exactly what engine/cluster.h promises, and after
 * the last give the fleet is as it was. */
#include "tests/support/simulate.h"

#include "base/err.h"
#include "engine/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the naive fleet (one group) ---- */

enum { MAX_CARDS = 64, MAX_NODES = 8, MAX_HELD = 400 };

struct naive_card {
    int32_t units, tenants;
    uint64_t bytes;
    bool mig, on, fixed;
    mig_mask busy;
    int n;
    struct mig_slice slice[MIG_MAX_UNITS];
    bool taken[MIG_MAX_UNITS], planned[MIG_MAX_UNITS], making[MIG_MAX_UNITS];
};

struct naive {
    const struct plan *plan;
    const struct plan_group *g;
    const struct mig_geometry *geometry;
    struct naive_card card[MAX_CARDS];
    int64_t cpus[MAX_NODES];
    uint64_t host[MAX_NODES];
    int32_t gang_units;
};

static int64_t node_of(const struct naive *f, int64_t card)
{
    return card / f->g->per_node;
}

static void naive_init(struct naive *f, const struct plan *plan)
{
    *f = (struct naive){ .plan = plan,
                         .g = &plan->group[0],
                         .geometry = plan->group[0].type.gpu->mig };
    const struct request whole = { .gpus_milli = 1000, .slots = 1, .bytes = JOB_NO_BYTES };
    struct demand d = { 0 };
    f->gang_units =
        plan->share->demand(f->g->params, &f->g->type, &whole, &d) ? f->g->capacity : d.units;
    assert_true(f->g->cards <= MAX_CARDS && f->g->nodes <= MAX_NODES);
    for (int64_t i = 0; i < f->g->cards; i++) {
        struct naive_card *c = &f->card[i];
        *c = (struct naive_card){ .units = f->g->capacity,
                                  .bytes = f->g->type.gpu->usable_bytes,
                                  .mig = plan->share->instances };
        if (!c->mig) continue;
        struct instance_rules r;
        plan->share->instance_rules(f->g->params, i, &r);
        c->fixed = !r.on_demand;
        c->on = !r.off;
        if (r.off || !r.layout) continue;
        c->n = r.layout->n;
        memcpy(c->slice, r.layout->slice, sizeof c->slice);
    }
    for (int64_t i = 0; i < f->g->nodes; i++) {
        f->cpus[i] = f->g->node_cpus_milli;
        f->host[i] = f->g->node_host_bytes;
    }
}

/* Parts of a whole spread over cards, rounded up. */
static uint64_t part_of(uint64_t whole, int64_t on_node, int64_t cards)
{
    __extension__ const unsigned __int128 all = (unsigned __int128)whole * (uint64_t)on_node;
    return (uint64_t)((all + (uint64_t)cards - 1) / (uint64_t)cards);
}

static bool naive_node_holds(const struct naive *f, const struct place_request *r, int64_t node,
                             int64_t on_node)
{
    const int64_t cards = r->demand->cards ? r->demand->cards : 1;
    if (r->cpus_milli != JOB_NO_INT &&
        (int64_t)part_of((uint64_t)r->cpus_milli, on_node, cards) > f->cpus[node])
        return false;
    return r->host_bytes == JOB_NO_BYTES || part_of(r->host_bytes, on_node, cards) <= f->host[node];
}

static bool naive_eligible(const struct naive *f, const struct naive_card *c)
{
    if (!c->mig) return c->units >= f->gang_units;
    for (int k = 0; k < c->n; k++)
        if (c->making[k]) return false;
    return c->tenants == 0 && c->units == f->g->capacity && !(c->fixed && c->on);
}

static bool naive_fits(const struct naive *f, int64_t card, const struct demand *d)
{
    const struct naive_card *c = &f->card[card];
    if (c->mig) return naive_eligible(f, c);
    return c->units >= d->units && c->bytes >= d->reserve_bytes;
}

static bool naive_card_pick(const struct naive *f, const struct place_request *r, struct pick *out)
{
    int64_t best = -1;
    for (int64_t i = 0; i < f->g->cards; i++) {
        if (!naive_fits(f, i, r->demand) || !naive_node_holds(f, r, node_of(f, i), 1)) continue;
        if (best >= 0 &&
            (f->card[i].units > f->card[best].units ||
             (f->card[i].units == f->card[best].units && f->card[i].bytes >= f->card[best].bytes)))
            continue;
        best = i;
    }
    if (best < 0) return false;
    vec_push(&out->card, (uint32_t)best);
    return true;
}

static int64_t naive_count(const struct naive *f, int64_t node, const struct demand *d)
{
    int64_t n = 0;
    for (int64_t i = node * f->g->per_node; i < (node + 1) * f->g->per_node; i++)
        n += naive_eligible(f, &f->card[i]) && (!d || naive_fits(f, i, d));
    return n;
}

static void naive_take_of_node(const struct naive *f, int64_t node, const struct demand *d,
                               int64_t want, struct pick *out)
{
    for (int64_t i = node * f->g->per_node; want > 0; i++)
        if (naive_eligible(f, &f->card[i]) && naive_fits(f, i, d)) {
            vec_push(&out->card, (uint32_t)i);
            want--;
        }
}

/* The node with the fewest eligible cards that holds `want`; `used` nodes are out. */
static bool naive_one_node(const struct naive *f, const struct place_request *r, int64_t want,
                           const bool used[MAX_NODES], struct pick *out)
{
    int64_t best = -1;
    for (int64_t n = 0; n < f->g->nodes; n++) {
        if (used[n] || naive_count(f, n, r->demand) < want || !naive_node_holds(f, r, n, want))
            continue;
        if (best < 0 || naive_count(f, n, NULL) < naive_count(f, best, NULL)) best = n;
    }
    if (best >= 0) naive_take_of_node(f, best, r->demand, want, out);
    return best >= 0;
}

static int by_number(const void *a, const void *b)
{
    return (int)*(const uint32_t *)a - (int)*(const uint32_t *)b;
}

static bool naive_gang(const struct naive *f, const struct place_request *r, struct pick *out)
{
    const int64_t want = r->demand->cards, per = f->g->per_node;
    bool used[MAX_NODES] = { false };
    if (f->plan->share->instances && want == 1)
        for (int64_t i = 0; i < f->g->cards; i++)
            if (!f->card[i].on && naive_eligible(f, &f->card[i]) &&
                naive_node_holds(f, r, node_of(f, i), 1)) {
                vec_push(&out->card, (uint32_t)i);
                return true;
            }
    if (want <= per && naive_one_node(f, r, want, used, out)) return true;
    if (r->any_node) {
        int64_t on_node = 0, node = -1;
        for (int64_t i = 0; i < f->g->cards && (int64_t)out->card.n < want; i++) {
            if (node_of(f, i) != node) on_node = 0;
            node = node_of(f, i);
            if (!naive_eligible(f, &f->card[i]) || !naive_fits(f, i, r->demand) ||
                !naive_node_holds(f, r, node, on_node + 1))
                continue;
            vec_push(&out->card, (uint32_t)i);
            on_node++;
        }
        return (int64_t)out->card.n == want;
    }
    if (want <= per) return false;
    int64_t whole = want / per;
    for (int64_t n = 0; n < f->g->nodes && whole > 0; n++)
        if (naive_count(f, n, r->demand) == per && naive_node_holds(f, r, n, per)) {
            naive_take_of_node(f, n, r->demand, per, out);
            used[n] = true;
            whole--;
        }
    if (whole > 0) return false;
    if (want % per && !naive_one_node(f, r, want % per, used, out)) return false;
    qsort(out->card.v, out->card.n, sizeof *out->card.v, by_number);
    return true;
}

/* Units that instances made on demand leave alone. */
static mig_mask naive_kept(const struct naive *f, const struct naive_card *c)
{
    mig_mask kept = c->busy;
    for (int k = 0; k < c->n; k++)
        if (c->planned[k]) kept |= mig_slice_mask(f->geometry, c->slice[k]);
    return kept;
}

static bool naive_instance(const struct naive *f, const struct place_request *r, struct pick *out)
{
    const int profile = r->demand->mig_profile;
    struct instance_rules rules;
    for (int64_t i = 0; i < f->g->cards; i++) {
        const struct naive_card *c = &f->card[i];
        for (int k = 0; k < c->n; k++) {
            if (c->taken[k] || c->making[k] || c->slice[k].profile != profile) continue;
            if (!naive_node_holds(f, r, node_of(f, i), 1)) break;
            vec_push(&out->card, (uint32_t)i);
            out->slice = c->slice[k];
            return true;
        }
    }
    f->plan->share->instance_rules(f->g->params, 0, &rules);
    if (!rules.on_demand) return false;
    int64_t best = -1;
    for (int64_t i = 0; i < f->g->cards; i++) {
        const struct naive_card *c = &f->card[i];
        const mig_mask kept = naive_kept(f, c);
        if (!c->on || mig_place(f->geometry, kept, profile, rules.start) < 0 ||
            !naive_node_holds(f, r, node_of(f, i), 1))
            continue;
        const mig_mask most = best < 0 ? 0 : naive_kept(f, &f->card[best]);
        const int more = __builtin_popcount(kept) - __builtin_popcount(most);
        if (best < 0 || more > 0 || (more == 0 && kept < most)) best = i;
    }
    out->prepare = rules.repartition;
    for (int64_t i = 0; i < f->g->cards && best < 0; i++)
        if (!f->card[i].on && naive_eligible(f, &f->card[i]) &&
            naive_node_holds(f, r, node_of(f, i), 1)) {
            best = i;
            out->prepare = rules.repartition + rules.mode_change;
        }
    if (best < 0) return false;
    vec_push(&out->card, (uint32_t)best);
    const mig_mask kept = naive_kept(f, &f->card[best]);
    out->slice = (struct mig_slice){ profile, mig_place(f->geometry, kept, profile, rules.start) };
    return true;
}

static bool naive_pick(const struct naive *f, const struct place_request *r, struct pick *out)
{
    out->card.n = 0;
    out->node = -1;
    out->slice = (struct mig_slice){ .profile = -1 };
    out->prepare = 0;
    if (r->demand->cards == 0) {
        for (int64_t n = 0; n < f->g->nodes; n++)
            if (naive_node_holds(f, r, n, 1)) {
                out->node = (int32_t)n;
                return true;
            }
        return false;
    }
    if (r->demand->mig_profile >= 0) return naive_instance(f, r, out);
    if (r->demand->cards == 1 && r->demand->units < f->g->capacity)
        return naive_card_pick(f, r, out);
    if (!naive_gang(f, r, out)) return false;
    for (size_t i = 0; i < out->card.n; i++) {
        struct instance_rules rules;
        if (!f->card[out->card.v[i]].on) continue;
        f->plan->share->instance_rules(f->g->params, out->card.v[i], &rules);
        if (rules.mode_change > out->prepare) out->prepare = rules.mode_change;
    }
    return true;
}

static void naive_card_change(struct naive *f, struct naive_card *c, const struct demand *d,
                              struct mig_slice slice, bool take)
{
    c->units += take ? -d->units : d->units;
    c->bytes += take ? -d->reserve_bytes : d->reserve_bytes;
    c->tenants += take ? 1 : -1;
    if (!c->mig) return;
    if (slice.profile < 0) {
        if (take) c->on = false, c->n = 0;
        return;
    }
    const mig_mask mask = mig_slice_mask(f->geometry, slice);
    int kept = 0, at = -1;
    for (int i = 0; i < c->n; i++) {
        const bool same = c->slice[i].profile == slice.profile && c->slice[i].start == slice.start;
        if (take && !same && !c->fixed && (mig_slice_mask(f->geometry, c->slice[i]) & mask)) {
            assert_false(c->taken[i]);
            continue;
        }
        if (same) at = kept;
        c->slice[kept] = c->slice[i];
        c->planned[kept] = c->planned[i];
        c->making[kept] = c->making[i];
        c->taken[kept++] = c->taken[i];
    }
    c->n = kept;
    if (at < 0) {
        at = c->n++;
        c->slice[at] = slice;
        c->taken[at] = c->planned[at] = c->making[at] = false;
    }
    assert_false(c->making[at]);
    assert_int_equal(c->taken[at], take ? false : true);
    c->taken[at] = take;
    c->busy = take ? c->busy | mask : c->busy & ~mask;
    c->on = true;
}

/* ---- plans ---- */

/* Some of what runs, and whatever else the dice place beside all that runs. */
static struct mig_layout random_layout(const struct naive *f, const struct naive_card *c,
                                       uint64_t *seed)
{
    struct mig_layout l = { .n = 0 };
    mig_mask taken = c->busy;
    for (int k = 0; k < c->n; k++)
        if (c->taken[k] && test_random(seed) % 2) l.slice[l.n++] = c->slice[k];
    for (int tries = (int)(test_random(seed) % 8); tries > 0; tries--) {
        const int p = (int)(test_random(seed) % (uint64_t)f->geometry->n_profiles);
        const int start = mig_place(f->geometry, taken, p,
                                    (enum mig_start_rule)(test_random(seed) % MIG_START_RULES));
        if (!f->geometry->profile[p].plain || start < 0) continue;
        l.slice[l.n] = (struct mig_slice){ p, start };
        taken |= mig_slice_mask(f->geometry, l.slice[l.n++]);
    }
    return l;
}

/* How long it takes: 0, a repartition, or that and a mode change. */
static simtime naive_carve(struct naive *f, struct naive_card *c, const struct mig_layout *l)
{
    struct naive_card old = *c;
    struct instance_rules rules;
    f->plan->share->instance_rules(f->g->params, 0, &rules);
    bool make = false;
    c->n = 0;
    for (int k = 0; k < old.n; k++) {
        bool planned = false, hit = false;
        for (int i = 0; i < l->n; i++) {
            planned |= l->slice[i].profile == old.slice[k].profile &&
                       l->slice[i].start == old.slice[k].start;
            hit |= (mig_slice_mask(f->geometry, l->slice[i]) &
                    mig_slice_mask(f->geometry, old.slice[k])) != 0;
        }
        if (hit && !planned) continue;
        c->slice[c->n] = old.slice[k];
        c->taken[c->n] = old.taken[k];
        c->making[c->n] = false;
        c->planned[c->n++] = planned;
    }
    const int kept = c->n;
    for (int i = 0; i < l->n; i++) {
        bool there = false;
        for (int k = 0; k < kept; k++)
            there |= l->slice[i].profile == c->slice[k].profile &&
                     l->slice[i].start == c->slice[k].start;
        if (there) continue;
        c->slice[c->n] = l->slice[i];
        c->taken[c->n] = false;
        c->planned[c->n] = c->making[c->n] = make = true;
        c->n++;
    }
    if (!make) return 0;
    c->on = true;
    return rules.repartition + (old.on ? 0 : rules.mode_change);
}

static void random_plan(struct cluster *c, struct naive *f, uint64_t *seed)
{
    const uint32_t i = (uint32_t)(test_random(seed) % (uint64_t)f->g->cards);
    struct naive_card *card = &f->card[i];
    bool making = false;
    for (int k = 0; k < card->n; k++) making |= card->making[k];
    if (making) {
        cluster_carved(c, i);
        memset(card->making, 0, sizeof card->making);
        return;
    }
    if (card->tenants > 0 && !card->busy) return; /* a whole job */
    const struct mig_layout l = random_layout(f, card, seed);
    assert_true(cluster_carve(c, i, &l) == naive_carve(f, card, &l));
}

static void naive_change(struct naive *f, const struct place_request *r, const struct pick *p,
                         bool take)
{
    const int64_t cards = r->demand->cards ? r->demand->cards : 1;
    for (int64_t n = 0; n < f->g->nodes; n++) {
        int64_t here = p->node == n;
        for (size_t i = 0; i < p->card.n; i++) here += node_of(f, p->card.v[i]) == n;
        if (here == 0) continue;
        const int64_t cpus = r->cpus_milli == JOB_NO_INT
                                 ? 0
                                 : (int64_t)part_of((uint64_t)r->cpus_milli, here, cards);
        const uint64_t bytes =
            r->host_bytes == JOB_NO_BYTES ? 0 : part_of(r->host_bytes, here, cards);
        if (f->g->node_cpus_milli != INT64_MAX) f->cpus[n] += take ? -cpus : cpus;
        if (f->g->node_host_bytes != UINT64_MAX) f->host[n] += take ? -bytes : bytes;
    }
    for (size_t i = 0; i < p->card.n; i++)
        naive_card_change(f, &f->card[p->card.v[i]], r->demand, p->slice, take);
}

/* ---- random work ---- */

struct held {
    struct demand demand;
    struct place_request request;
    struct pick pick;
};

static int below(uint64_t *seed, int n)
{
    return (int)(test_random(seed) % (uint64_t)n);
}

static bool random_request(const struct plan *p, uint64_t *seed, struct held *h)
{
    static const int32_t gpus[] = { 0,    50,   125,  250,  333,  500,  900,   1000,
                                    1000, 2000, 3000, 5000, 8000, 9000, 12000, 16000 };
    static const uint64_t gib[] = { 1, 4, 9, 19, 30, 70 };
    const struct plan_group *g = &p->group[0];
    const struct request r = {
        .gpus_milli = gpus[below(seed, sizeof gpus / sizeof *gpus)],
        .slots = 1 + (below(seed, 4) == 0) * below(seed, 3),
        .bytes = below(seed, 2) ? JOB_NO_BYTES : gib[below(seed, 6)] << 30,
    };
    *h = (struct held){ 0 };
    if (p->share->demand(g->params, &g->type, &r, &h->demand)) return false;
    if (h->demand.cards > g->cards) return false;
    h->request = (struct place_request){
        .demand = &h->demand,
        .any_node = p->gang == GANG_ANY || p->share->pooled,
        .cpus_milli = below(seed, 3) ? 500 * below(seed, 40) : JOB_NO_INT,
        .host_bytes = below(seed, 3) ? ((uint64_t)below(seed, 70) << 30) + 7 : JOB_NO_BYTES,
    };
    return true;
}

static void same_pick(const struct pick *got, const struct pick *want, int step)
{
    bool same = got->card.n == want->card.n && got->node == want->node &&
                got->slice.profile == want->slice.profile && got->prepare == want->prepare &&
                (want->slice.profile < 0 || got->slice.start == want->slice.start);
    for (size_t i = 0; same && i < want->card.n; i++) same = got->card.v[i] == want->card.v[i];
    if (same) return;
    print_message("step %d: node %d profile %d start %d prepare %lld, cards", step, got->node,
                  got->slice.profile, got->slice.start, (long long)got->prepare);
    for (size_t i = 0; i < got->card.n; i++) print_message(" %u", got->card.v[i]);
    print_message("\nwanted: node %d profile %d start %d prepare %lld, cards", want->node,
                  want->slice.profile, want->slice.start, (long long)want->prepare);
    for (size_t i = 0; i < want->card.n; i++) print_message(" %u", want->card.v[i]);
    fail_msg("%s", "\nthe picks differ");
}

static void same_state(const struct cluster *c, const struct naive *f)
{
    for (uint32_t i = 0; i < f->g->cards; i++) {
        const struct card *card = cluster_card(c, i);
        assert_int_equal(card->free_units, f->card[i].units);
        assert_true(card->free_bytes == f->card[i].bytes);
        assert_int_equal(cluster_used_units(c, i), f->g->capacity - f->card[i].units);
        if (!card->mig) continue;
        assert_int_equal(card->mig->busy, f->card[i].busy);
        assert_int_equal(card->mig->n, f->card[i].n);
        assert_int_equal(card->mig->on, f->card[i].on);
        assert_int_equal(card->mig->kept, naive_kept(f, &f->card[i]));
        const int stranded = cluster_stranded_units(c, i);
        assert_true(stranded >= 0 && stranded + cluster_used_units(c, i) <= f->g->capacity);
    }
}

struct fleet_case {
    const char *name, *fleet, *share, *schedule;
};

static const struct fleet_case cases[] = {
    { "whole", "'nodes': 4, 'gpus_per_node': 4", "'kind': 'whole'", "" },
    { "whole, node limits",
      "'nodes': 5, 'gpus_per_node': 4, 'cpu_cores': 30.5, 'host_memory': '128 GiB'",
      "'kind': 'whole'", "" },
    { "whole, any node", "'nodes': 4, 'gpus_per_node': 4, 'cpu_cores': 20", "'kind': 'whole'",
      "'gang': 'any'" },
    { "one big node", "'nodes': 1, 'gpus_per_node': 20", "'kind': 'whole'", "" },
    { "nodes of one", "'nodes': 8, 'gpus_per_node': 1, 'cpu_cores': 16", "'kind': 'whole'", "" },
    { "slots", "'nodes': 4, 'gpus_per_node': 4", "'kind': 'timeslice', 'slots': 4", "" },
    { "slots with reserved bytes", "'nodes': 3, 'gpus_per_node': 4, 'cpu_cores': 64",
      "'kind': 'timeslice', 'slots': 3, 'memory': 'reserve'", "" },
    { "mps", "'nodes': 2, 'gpus_per_node': 8, 'host_memory': '300 GiB'",
      "'kind': 'mps', 'slots': 5", "'gang': 'any'" },
    { "thousandths with bytes", "'nodes': 4, 'gpus_per_node': 4", "'kind': 'intercept'", "" },
    { "thousandths, node limits",
      "'nodes': 4, 'gpus_per_node': 4, 'cpu_cores': 24, 'host_memory': '100 GiB'",
      "'kind': 'intercept', 'unset_memory': 'card'", "'gang': 'any'" },
    { "pooled", "'nodes': 4, 'gpus_per_node': 4, 'cpu_cores': 16", "'kind': 'remote'", "" },
    { "mig dynamic", "'nodes': 3, 'gpus_per_node': 4", "'kind': 'mig'", "" },
    { "mig dynamic, node limits", "'nodes': 4, 'gpus_per_node': 2, 'cpu_cores': 20",
      "'kind': 'mig', 'start': 'best_remaining'", "'gang': 'any'" },
    { "mig planned", "'nodes': 3, 'gpus_per_node': 4", "'kind': 'mig', 'layout': 'planned'", "" },
    { "mig planned, node limits", "'nodes': 2, 'gpus_per_node': 6, 'cpu_cores': 30",
      "'kind': 'mig', 'layout': 'planned', 'start': 'highest'", "'gang': 'any'" },
    { "mig static", "'nodes': 3, 'gpus_per_node': 4",
      "'kind': 'mig', 'layout': 'static', 'slices': [{'cards': 4, 'slices': ['3g.40gb', '2g.20gb', "
      "'2g.20gb']}, {'cards': 3, 'slices': 'off'}, {'cards': 1, 'slices': {'1g.10gb': 7}}]",
      "" },
};

static void against_the_naive_fleet(void **state)
{
    const struct fleet_case *k = *state;
    char text[2000];
    struct runner run;
    struct naive f;
    static struct held held[MAX_HELD];
    struct pick want = { 0 };
    size_t n = 0;
    uint64_t seed = test_seed();
    int placed = 0, gangs = 0, refused = 0;
    snprintf(
        text, sizeof text,
        "{'format': 'gpusim-scenario/1', 'name': 'c', 'fleet': [{'name': 'p', 'gpu': "
        "'a100-sxm4-80gb', %s}], 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}], "
        "'schedule': {%s}, 'policies': [{'name': 'x', 'share': {%s}}]}",
        k->fleet, k->schedule, k->share);
    sim_load(&run, sim_write(text, "job_id,submit_s,duration_s,gpus\na,0,1,1\n", NULL));
    const struct plan *p = &run.plan[0];
    struct cluster *c = cluster_create(p);
    naive_init(&f, p);
    assert_true(cluster_is_whole(c));
    for (int step = 0; step < 6000; step++) {
        if (strncmp(k->name, "mig planned", 11) == 0 && step % 7 == 0) random_plan(c, &f, &seed);
        /* fill and drain by turns, so that both ends are seen */
        const bool give =
            n == MAX_HELD || (n > 0 && below(&seed, 100) < (step / 300 % 2 ? 65 : 40));
        if (give) {
            const size_t at = (size_t)below(&seed, (int)n);
            held[at].request.demand = &held[at].demand;
            naive_change(&f, &held[at].request, &held[at].pick, false);
            cluster_give(c, &held[at].request, &held[at].pick);
            vec_fini(&held[at].pick.card);
            held[at] = held[--n];
        } else if (random_request(p, &seed, &held[n])) {
            struct held *h = &held[n];
            const bool got = p->place->pick(c, &h->request, &h->pick);
            const bool expected = naive_pick(&f, &h->request, &want);
            assert_int_equal(got, expected);
            refused += !got;
            if (got) {
                same_pick(&h->pick, &want, step);
                if (h->request.demand->mig_profile < 0 && !p->share->instances)
                    assert_true(cluster_holds(c, &h->request, &h->pick));
                cluster_take(c, &h->request, &h->pick);
                naive_change(&f, &h->request, &h->pick, true);
                placed++;
                gangs += h->pick.card.n > 1;
                n++;
            } else {
                vec_fini(&h->pick.card);
            }
        }
        if (step % 50 == 0) same_state(c, &f);
    }
    assert_true(placed > 300 && refused > 50);
    if (strcmp(k->name, "nodes of one") != 0) assert_true(gangs > 0);
    while (n-- > 0) {
        held[n].request.demand = &held[n].demand;
        assert_false(cluster_is_whole(c) && held[n].pick.card.n > 0);
        cluster_give(c, &held[n].request, &held[n].pick);
        vec_fini(&held[n].pick.card);
    }
    assert_true(cluster_is_whole(c));
    vec_fini(&want.card);
    cluster_destroy(c);
    runner_fini(&run);
}

static void nothing_to_destroy(void **state)
{
    (void)state;
    cluster_destroy(NULL);
}

int main(void)
{
    struct CMUnitTest t[sizeof cases / sizeof *cases + 1];
    size_t n = 0;
    for (; n < sizeof cases / sizeof *cases; n++)
        t[n] = (struct CMUnitTest){ cases[n].name, against_the_naive_fleet, NULL, NULL,
                                    (void *)(uintptr_t)&cases[n] };
    t[n++] = (struct CMUnitTest)cmocka_unit_test(nothing_to_destroy);
    return _cmocka_run_group_tests("cluster", t, n, NULL, NULL);
}
