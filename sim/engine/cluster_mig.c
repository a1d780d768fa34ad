/* Cards that are divided into instances (MIG): where one is free, where one can be made, and what
 * making and freeing it changes. */
#include "engine/cluster_inside.h"

#include "base/err.h"

#include <stdlib.h>

/* ---- index ---- */

void cluster_mig_init(struct group *g, const struct plan_group *pg)
{
    const size_t cards = (size_t)pg->cards;
    g->mig = pg->type.gpu->mig;
    g->idle = xcalloc((size_t)g->mig->n_profiles, sizeof *g->idle);
    for (int i = 0; i < g->mig->n_profiles; i++) bits_init(&g->idle[i], cards);
    g->by_mask = xcalloc((size_t)1 << g->mig->memory_units, sizeof *g->by_mask);
    bits_init(&g->masks, (size_t)1 << g->mig->memory_units);
    bits_init(&g->off, cards);
}

void cluster_mig_fini(struct group *g)
{
    for (int k = 0; k < g->mig->n_profiles; k++) bits_fini(&g->idle[k]);
    for (size_t m = 0; m < (size_t)1 << g->mig->memory_units; m++) bits_fini(&g->by_mask[m]);
    bits_fini(&g->masks);
    bits_fini(&g->off);
    free(g->idle);
    free(g->by_mask);
}

void cluster_mig_card_init(struct card *card, const struct plan *p, const struct plan_group *g)
{
    struct instance_rules r;
    p->share->instance_rules(g->params, (int64_t)card->index - g->first_card, &r);
    card->mig = xcalloc(1, sizeof *card->mig);
    card->mig->fixed = !r.on_demand;
    card->mig->on = !r.off;
    if (!r.layout || r.off) return;
    card->mig->n = r.layout->n;
    for (int i = 0; i < r.layout->n; i++) card->mig->instance[i].slice = r.layout->slice[i];
}

static struct bits *mask_bits(struct cluster *c, int group, mig_mask mask)
{
    struct bits *b = &c->group[group].by_mask[mask];
    if (!b->n) bits_init(b, (size_t)c->plan->group[group].cards);
    return b;
}

void cluster_mig_list(struct cluster *c, const struct card *card, bool in)
{
    struct group *g = &c->group[card->group];
    const struct card_instances *m = card->mig;
    const size_t at = cluster_in_group(c, card);
    for (int i = 0; i < m->n; i++) {
        if (m->instance[i].busy || m->instance[i].making) continue;
        struct bits *idle = &g->idle[m->instance[i].slice.profile];
        in ? bits_set(idle, at) : bits_clear(idle, at);
    }
    if (!m->on && cluster_is_empty(card, &c->plan->group[card->group]))
        in ? bits_set(&g->off, at) : bits_clear(&g->off, at);
    if (m->on && !m->fixed) {
        struct bits *b = mask_bits(c, card->group, m->kept);
        in ? bits_set(b, at) : bits_clear(b, at);
        b->count ? bits_set(&g->masks, m->kept) : bits_clear(&g->masks, m->kept);
    }
}

/* ---- queries ---- */

/* A card of the set whose node has room for the job. */
static bool first_with_room(const struct cluster *c, const struct bits *set,
                            const struct place_request *r, struct pick *out)
{
    const int64_t first = c->plan->group[r->group].first_card;
    for (size_t at = bits_next(set, 0); at != BITS_NONE; at = bits_next(set, at + 1)) {
        const uint32_t card = (uint32_t)(first + (int64_t)at);
        if (!cluster_node_holds(c, c->card[card].node, r, 1)) continue;
        vec_push(&out->card, card);
        return true;
    }
    return false;
}

static bool is_free(const struct instance *x, int profile)
{
    return !x->busy && !x->making && x->slice.profile == profile;
}

bool cluster_mig_making(const struct card *card)
{
    for (int i = 0; i < card->mig->n; i++)
        if (card->mig->instance[i].making) return true;
    return false;
}

bool cluster_mig_fits(const struct cluster *c, const struct card *card, int profile, bool empty)
{
    for (int i = 0; i < card->mig->n; i++)
        if (is_free(&card->mig->instance[i], profile)) return true;
    if (card->mig->fixed) return false;
    if (!card->mig->on) return empty;
    return mig_place(c->group[card->group].mig, card->mig->kept, profile, MIG_LOWEST) >= 0;
}

bool cluster_mig_off_card(const struct cluster *c, const struct place_request *r, struct pick *out)
{
    return first_with_room(c, &c->group[r->group].off, r, out);
}

simtime cluster_mig_off_delay(const struct cluster *c, const struct pick *p)
{
    simtime delay = 0;
    for (size_t i = 0; i < p->card.n; i++) {
        const struct card *card = &c->card[p->card.v[i]];
        const struct plan_group *pg = &c->plan->group[card->group];
        struct instance_rules rules;
        if (!card->mig || !card->mig->on) continue;
        c->plan->share->instance_rules(pg->params, (int64_t)card->index - pg->first_card, &rules);
        if (rules.mode_change > delay) delay = rules.mode_change;
    }
    return delay;
}

static int free_unit_count(const struct mig_geometry *g, mig_mask mask)
{
    return g->memory_units - __builtin_popcount(mask);
}

/* The on-demand card with the fewest free units on which the profile can be made. */
static bool make_instance(const struct cluster *c, const struct place_request *r,
                          const struct instance_rules *rules, struct pick *out)
{
    const struct group *g = &c->group[r->group];
    const int profile = r->demand->mig_profile;
    for (int left = g->mig->profile[profile].memory_units; left <= g->mig->memory_units; left++)
        for (size_t m = bits_next(&g->masks, 0); m != BITS_NONE; m = bits_next(&g->masks, m + 1)) {
            const mig_mask kept = (mig_mask)m;
            if (free_unit_count(g->mig, kept) != left) continue;
            const int start = mig_place(g->mig, kept, profile, rules->start);
            if (start < 0 || !first_with_room(c, &g->by_mask[m], r, out)) continue;
            out->slice = (struct mig_slice){ .profile = profile, .start = start };
            out->prepare = rules->repartition;
            return true;
        }
    return false;
}

bool cluster_instance(const struct cluster *c, const struct place_request *r, struct pick *out)
{
    const struct group *g = &c->group[r->group];
    const struct plan_group *pg = &c->plan->group[r->group];
    const int profile = r->demand->mig_profile;
    struct instance_rules rules;
    cluster_pick_reset(out);
    if (first_with_room(c, &g->idle[profile], r, out)) {
        const struct card_instances *m = c->card[out->card.v[0]].mig;
        for (int i = 0; i < m->n; i++)
            if (is_free(&m->instance[i], profile)) {
                out->slice = m->instance[i].slice;
                return true;
            }
        BUG("index of free instances and card %u disagree", out->card.v[0]);
    }
    c->plan->share->instance_rules(pg->params, 0, &rules);
    if (!rules.on_demand) return false;
    if (make_instance(c, r, &rules, out)) return true;
    if (!first_with_room(c, &g->off, r, out)) return false;
    const int start = mig_place(g->mig, 0, profile, rules.start);
    out->slice = (struct mig_slice){ .profile = profile, .start = start };
    out->prepare = rules.mode_change + rules.repartition;
    return true;
}

/* ---- changes ---- */

static void count_units(struct card_instances *m, const struct mig_geometry *g)
{
    m->busy = m->kept = 0;
    for (int i = 0; i < m->n; i++) {
        const mig_mask mask = mig_slice_mask(g, m->instance[i].slice);
        if (m->instance[i].busy) m->busy |= mask;
        if (m->instance[i].busy || m->instance[i].planned) m->kept |= mask;
    }
}

/* Destroy the free instances in the way, make the one that was picked. */
static void instance_take(struct card_instances *m, const struct mig_geometry *g,
                          struct mig_slice slice)
{
    const mig_mask wanted = mig_slice_mask(g, slice);
    int kept = 0, found = -1;
    for (int i = 0; i < m->n; i++) {
        const struct mig_slice s = m->instance[i].slice;
        const bool same = s.profile == slice.profile && s.start == slice.start;
        if (!same && !m->fixed && (mig_slice_mask(g, s) & wanted)) continue;
        if (same) found = kept;
        m->instance[kept++] = m->instance[i];
    }
    m->n = kept;
    if (found < 0) {
        BUG_ON(m->n == MIG_MAX_UNITS);
        found = m->n++;
        m->instance[found] = (struct instance){ .slice = slice };
    }
    BUG_ON(m->instance[found].busy || m->instance[found].making);
    m->instance[found].busy = true;
    m->on = true;
    count_units(m, g);
}

static void instance_give(struct card_instances *m, const struct mig_geometry *g,
                          struct mig_slice slice)
{
    for (int i = 0; i < m->n; i++) {
        struct instance *x = &m->instance[i];
        if (x->slice.profile != slice.profile || x->slice.start != slice.start) continue;
        BUG_ON(!x->busy);
        x->busy = false;
        count_units(m, g);
        return;
    }
    BUG("an instance that is given back does not exist");
}

void cluster_mig_change(struct card *card, const struct mig_geometry *g, struct mig_slice slice,
                        bool take)
{
    if (slice.profile >= 0) {
        take ? instance_take(card->mig, g, slice) : instance_give(card->mig, g, slice);
    } else if (take) { /* a whole job turns MIG off, and with it all instances */
        card->mig->on = false;
        card->mig->n = 0;
        card->mig->kept = 0;
    }
}

/* ---- planned layouts ---- */

static bool same_slice(struct mig_slice a, struct mig_slice b)
{
    return a.profile == b.profile && a.start == b.start;
}

static mig_mask layout_mask(const struct mig_geometry *g, const struct mig_layout *l)
{
    mig_mask mask = 0;
    for (int i = 0; i < l->n; i++) mask |= mig_slice_mask(g, l->slice[i]);
    return mask;
}

static bool in_layout(const struct mig_layout *l, struct mig_slice s)
{
    for (int i = 0; i < l->n; i++)
        if (same_slice(l->slice[i], s)) return true;
    return false;
}

/* Keep what the plan has and what is not in its way; true: the rest has to be made. */
static bool set_instances(struct card_instances *m, const struct mig_geometry *g,
                          const struct mig_layout *l)
{
    const mig_mask wanted = layout_mask(g, l);
    int kept = 0;
    bool make = false;
    for (int i = 0; i < m->n; i++) {
        struct instance x = m->instance[i];
        x.planned = in_layout(l, x.slice);
        if (!x.planned && (mig_slice_mask(g, x.slice) & wanted)) {
            BUG_ON(x.busy);
            continue;
        }
        m->instance[kept++] = x;
    }
    m->n = kept;
    for (int i = 0; i < l->n; i++) {
        bool there = false;
        for (int k = 0; k < kept; k++) there |= same_slice(m->instance[k].slice, l->slice[i]);
        if (there) continue;
        BUG_ON(m->n == MIG_MAX_UNITS);
        m->instance[m->n++] =
            (struct instance){ .slice = l->slice[i], .planned = true, .making = true };
        make = true;
    }
    return make;
}

bool cluster_is_carved(const struct cluster *c, uint32_t index, const struct mig_layout *layout)
{
    const struct card_instances *m = c->card[index].mig;
    int planned = 0;
    for (int i = 0; i < m->n; i++) {
        const struct instance *x = &m->instance[i];
        if (x->planned != in_layout(layout, x->slice)) return false;
        planned += x->planned;
    }
    return planned == layout->n;
}

simtime cluster_carve(struct cluster *c, uint32_t index, const struct mig_layout *layout)
{
    struct card *card = &c->card[index];
    const struct plan_group *pg = &c->plan->group[card->group];
    struct card_instances *m = card->mig;
    struct instance_rules rules;
    simtime delay = 0;
    BUG_ON(m->fixed || cluster_mig_making(card));
    c->plan->share->instance_rules(pg->params, (int64_t)index - pg->first_card, &rules);
    cluster_unlist(c, card);
    if (set_instances(m, c->group[card->group].mig, layout)) {
        BUG_ON(!m->on && card->tenants > 0);
        delay = rules.repartition + (m->on ? 0 : rules.mode_change);
        m->on = true;
    }
    count_units(m, c->group[card->group].mig);
    cluster_list(c, card);
    if (delay == 0) cluster_carved(c, index);
    return delay;
}

void cluster_carved(struct cluster *c, uint32_t index)
{
    struct card *card = &c->card[index];
    cluster_unlist(c, card);
    for (int i = 0; i < card->mig->n; i++) card->mig->instance[i].making = false;
    cluster_list(c, card);
}

void cluster_copy_instances(struct cluster *to, const struct cluster *from, uint32_t index)
{
    struct card *card = &to->card[index];
    BUG_ON(card->mig->busy != from->card[index].mig->busy);
    cluster_unlist(to, card);
    *card->mig = *from->card[index].mig;
    cluster_list(to, card);
}

/* ---- state ---- */

int32_t cluster_stranded_units(const struct cluster *c, uint32_t index)
{
    const struct card *card = &c->card[index];
    if (!card->mig || !card->mig->on) return 0;
    const struct mig_geometry *g = c->group[card->group].mig;
    const int used = cluster_used_units(c, index);
    int reachable = 0; /* a fixed layout offers its free instances and nothing else */
    for (int i = 0; i < card->mig->n; i++)
        if (!card->mig->instance[i].busy && (card->mig->fixed || card->mig->instance[i].planned))
            reachable += g->profile[card->mig->instance[i].slice.profile].compute_slices;
    if (!card->mig->fixed) return mig_stranded_slices(g, card->mig->kept, used + reachable);
    return g->compute_slices - used - reachable;
}
