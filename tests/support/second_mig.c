/* MIG instances made on demand, of the second engine: from engine/cluster.h (cluster_instance())
 * and model/mig.h. What is kept of a card is which instances are there, in the order in which
 * they were made; who has them is counted anew. */
#include "support/second_inside.h"

#include "support/support.h"

#include <string.h>

void second_rules(const struct engine *e, int card, struct instance_rules *r)
{
    const struct plan_group *g = second_group_of_card(e, card);
    e->plan->share->instance_rules(g->params, card - g->first_card, r);
}

void second_mig_begin(struct engine *e)
{
    struct instance_rules r;
    e->plan_at = SIM_NEVER;
    if (!e->plan->share->instances) return;
    second_rules(e, 0, &r);
    e->on_demand = r.on_demand; /* all cards begin in MIG mode, without an instance */
    second_planned_begin(e);
}

static const struct carved *carved_of(const struct engine *e, const struct view *v, int card)
{
    static const struct carved bare;
    return v->bare ? &bare : &e->carved[card];
}

bool second_overlap(const struct mig_geometry *g, struct mig_slice a, struct mig_slice b)
{
    const int a_end = a.start + g->profile[a.profile].memory_units;
    const int b_end = b.start + g->profile[b.profile].memory_units;
    return a.start < b_end && b.start < a_end;
}

static bool same(struct mig_slice a, struct mig_slice b)
{
    return a.profile == b.profile && a.start == b.start;
}

/* Does nobody on the card have these units? A whole job has them all. */
static bool is_free(const struct engine *e, const struct view *v, int card, struct mig_slice s)
{
    const struct mig_geometry *g = second_group_of_card(e, card)->type.gpu->mig;
    for (int k = 0; k < v->n; k++)
        if (second_holds_card(&v->at[k], card) &&
            (v->at[k].slice.profile < 0 || second_overlap(g, v->at[k].slice, s)))
            return false;
    return true;
}

/* And does no plan keep them? */
static bool is_open(const struct engine *e, const struct view *v, int card, struct mig_slice s)
{
    const struct mig_geometry *g = second_group_of_card(e, card)->type.gpu->mig;
    const struct carved *c = carved_of(e, v, card);
    for (int i = 0; i < c->n; i++)
        if (c->made[i].planned && second_overlap(g, c->made[i].slice, s)) return false;
    return is_free(e, v, card, s);
}

static bool is_there(const struct engine *e, const struct view *v, const struct carved *c, int i)
{
    return v->later || c->made[i].from <= e->clock;
}

bool second_making(const struct engine *e, const struct view *v, int card)
{
    const struct carved *c = carved_of(e, v, card);
    for (int i = 0; i < c->n; i++)
        if (!is_there(e, v, c, i)) return true;
    return false;
}

/* A free instance of the profile, the one that was made first; NULL. */
static const struct mig_slice *idle(const struct engine *e, const struct view *v, int card,
                                    int profile)
{
    const struct carved *c = carved_of(e, v, card);
    for (int i = 0; i < c->n; i++)
        if (c->made[i].slice.profile == profile && is_there(e, v, c, i) &&
            is_free(e, v, card, c->made[i].slice))
            return &c->made[i].slice;
    return NULL;
}

/* How many instances of how many kinds could still be made beside `s`. */
static int chances(const struct engine *e, const struct view *v, int card, struct mig_slice s)
{
    const struct mig_geometry *g = second_group_of_card(e, card)->type.gpu->mig;
    int n = 0;
    for (int p = 0; p < g->n_profiles; p++)
        for (int i = 0; g->profile[p].plain && i < g->profile[p].n_starts; i++) {
            const struct mig_slice x = { p, g->profile[p].starts[i] };
            n += is_open(e, v, card, x) && !second_overlap(g, x, s);
        }
    return n;
}

/* Where on the card the driver would make it; -1: nowhere. */
static int start_of(const struct engine *e, const struct view *v, int card, int profile)
{
    const struct mig_profile *p = &second_group_of_card(e, card)->type.gpu->mig->profile[profile];
    struct instance_rules r;
    int best = -1, most = -1;
    second_rules(e, card, &r);
    for (int i = 0; i < p->n_starts; i++) {
        const struct mig_slice s = { profile, p->starts[i] };
        if (!is_open(e, v, card, s)) continue;
        const int worth = r.start == MIG_LOWEST    ? -s.start + MIG_MAX_UNITS
                          : r.start == MIG_HIGHEST ? s.start
                                                   : chances(e, v, card, s);
        if (worth <= most) continue;
        most = worth;
        best = s.start;
    }
    return best;
}

static mig_mask mask_of(const struct mig_geometry *g, struct mig_slice s)
{
    return (((mig_mask)1 << g->profile[s.profile].memory_units) - 1) << s.start;
}

/* Units of memory that somebody has, or a plan keeps. */
static mig_mask units_taken(const struct engine *e, const struct view *v, int card)
{
    const struct mig_geometry *g = second_group_of_card(e, card)->type.gpu->mig;
    const struct carved *c = carved_of(e, v, card);
    mig_mask taken = 0;
    for (int k = 0; k < v->n; k++)
        if (second_holds_card(&v->at[k], card)) taken |= mask_of(g, v->at[k].slice);
    for (int i = 0; i < c->n; i++)
        if (c->made[i].planned) taken |= mask_of(g, c->made[i].slice);
    return taken;
}

bool second_could_make(const struct engine *e, const struct view *v, int card, int profile)
{
    return idle(e, v, card, profile) || start_of(e, v, card, profile) >= 0;
}

bool second_instance(const struct engine *e, const struct view *v, int job, int group,
                     struct place *out)
{
    const struct plan_group *g = &e->plan->group[group];
    const int profile = second_demand_of(e, job, group)->mig_profile;
    int best = -1, off = -1, most = 0;
    mig_mask lowest = 0;
    for (int c = (int)g->first_card; c < g->first_card + g->cards; c++) {
        if (second_card_out(e, v, c) ||
            !second_node_holds(e, v, job, group, second_node_of(e, c), 1))
            continue;
        const struct mig_slice *there = idle(e, v, c, profile);
        if (there) {
            out->card[out->n++] = c;
            out->slice = *there;
            return true;
        }
        if (start_of(e, v, c, profile) < 0) continue;
        if (carved_of(e, v, c)->off) {
            if (off < 0) off = c;
            continue;
        }
        const mig_mask mask = units_taken(e, v, c);
        const int taken = __builtin_popcount(mask);
        if (best >= 0 && (taken < most || (taken == most && mask >= lowest))) continue;
        best = c;
        most = taken;
        lowest = mask;
    }
    if (best < 0) best = off;
    if (best < 0) return false;
    out->card[out->n++] = best;
    out->slice = (struct mig_slice){ profile, start_of(e, v, best, profile) };
    return true;
}

simtime second_prepare(const struct engine *e, const struct place *at)
{
    struct instance_rules r;
    if (!e->on_demand || at->n == 0) return 0;
    second_rules(e, at->card[0], &r);
    const struct carved *made = &e->carved[at->card[0]];
    for (int i = 0; at->slice.profile >= 0 && i < made->n; i++)
        if (same(made->made[i].slice, at->slice)) return 0;
    if (at->slice.profile >= 0) return r.repartition + (made->off ? r.mode_change : 0);
    for (int i = 0; i < at->n; i++) /* a whole job: MIG off on all */
        if (!e->carved[at->card[i]].off) return r.mode_change;
    return 0;
}

void second_carve(struct engine *e, const struct place *at)
{
    for (int i = 0; e->on_demand && i < at->n; i++) {
        struct carved *made = &e->carved[at->card[i]];
        const struct mig_geometry *g = second_group_of_card(e, at->card[i])->type.gpu->mig;
        int kept = 0;
        bool there = false;
        made->off = at->slice.profile < 0;
        for (int k = 0; k < made->n && !made->off; k++) {
            const struct mig_slice s = made->made[k].slice;
            there |= same(s, at->slice);
            if (same(s, at->slice) || !second_overlap(g, s, at->slice))
                made->made[kept++] = made->made[k];
        }
        made->n = kept;
        if (made->off || there) continue;
        made->made[made->n].planned = false;
        made->made[made->n].from = -1; /* who has it waits until it is there */
        made->made[made->n++].slice = at->slice;
    }
}

simtime second_end(const struct engine *e, int job, const struct place *at)
{
    const simtime limit = second_limit(e, job);
    if (limit == JOB_NO_TIME) return SIM_NEVER;
    return e->clock + limit + (e->plan->limits_kill ? 0 : second_prepare(e, at));
}
