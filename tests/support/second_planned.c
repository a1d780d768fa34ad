/* Layouts that are planned, of the second engine: what a plan is to serve, when it is made and
 * what it changes on the cards, from the heads of engine/carve.h and engine/cluster.h
 * (cluster_carve()). Which layouts serve the most of it is asked of mig_plan(), a pure function
 * with tests of its own. */
#include "support/second_inside.h"

#include "model/mig_plan.h"

#include <math.h>
#include <string.h>

void second_planned_begin(struct engine *e)
{
    struct instance_rules r;
    second_rules(e, 0, &r);
    e->period = r.period;
    e->oracle = r.oracle;
    e->planned_at = -1;
    if (r.period > 0) e->plan_at = r.oracle ? 0 : r.period;
}

/* ---- what it is to serve ---- */

struct asked {
    double time_s[MIG_KINDS], work_s[MIG_KINDS];
};

static double speed_alone(const struct engine *e, const struct wish *w, int group)
{
    const struct plan_group *g = &e->plan->group[group];
    const int profile = w->demand.mig_profile;
    const struct resident_view r = { &w->sig, &w->demand,
                                     profile < 0 ? NULL : &g->type.gpu->mig->profile[profile] };
    const struct share_view v = { &g->type, &r, 1 };
    double speed;
    e->plan->share->speeds(g->params, &v, &speed);
    return speed;
}

/* So much of the job's work, as what it asks for: in each group that could serve it by its share of
 * their cards, at most a period. */
static void ask(const struct engine *e, struct asked *of_group, int job, simtime work)
{
    const struct life *l = &e->life[job];
    const double work_s = fmax(1, simtime_s(work)), period_s = simtime_s(e->period);
    double cards = 0;
    for (size_t g = 0; g < e->plan->n_groups; g++)
        if (l->asked[g].possible) cards += (double)e->plan->group[g].cards;
    for (size_t g = 0; g < e->plan->n_groups; g++) {
        const struct plan_group *group = &e->plan->group[g];
        const struct wish *w = &l->asked[g];
        const int profile = w->demand.mig_profile;
        if (!w->possible) continue;
        const int kind = profile < 0 ? group->type.gpu->mig->n_profiles : profile;
        const double share = (double)group->cards / cards;
        const double takes_s = work_s * w->transfer / speed_alone(e, w, (int)g);
        const double time_s = fmin(takes_s, period_s);
        of_group[g].time_s[kind] += share * time_s * w->demand.cards;
        of_group[g].work_s[kind] += share * work_s * time_s / takes_s * l->asked_milli / 1000;
    }
}

/* It has not come yet: what will it ask for? */
static void foresee(struct engine *e, int job)
{
    struct life *l = &e->life[job];
    second_wishes(e, job);
    memcpy(l->asked, l->wish, sizeof l->asked);
    l->asked_milli = l->job->gpus_milli;
}

/* Who came since the last plan, or will by the next; and who waits. */
static void ask_all(struct engine *e, struct asked *of_group)
{
    for (int j = 0; j < e->n; j++) {
        const struct life *l = &e->life[j];
        const simtime submit = l->job->submit;
        const bool to_come = submit > e->clock && submit - e->clock <= e->period;
        if (l->job->gpus_milli == 0) continue;
        if (e->oracle && to_come) foresee(e, j);
        if (e->oracle ? to_come : l->came && submit > e->planned_at && submit <= e->clock)
            ask(e, of_group, j, l->job->duration);
        if (l->waiting) ask(e, of_group, j, l->remaining);
    }
}

static void give_turn(const struct engine *e, int job, size_t group, struct mig_demand *d,
                      enum mig_turn turn)
{
    const struct wish *w = &e->life[job].wish[group];
    if (w->possible && w->demand.mig_profile >= 0) d->turn[w->demand.mig_profile] = turn;
}

/* The first of all who may start; then the first of each user, where each has a turn. */
static void give_turns(struct engine *e, size_t group, struct mig_demand *d)
{
    const bool each = e->plan->accounts.n_quotas > 0 || e->plan->order->account_rank;
    bool met[SECOND_USERS] = { false };
    for (int j = second_next(e, -1); j >= 0; j = second_next(e, j)) {
        const int user = each ? e->life[j].job->user : 0;
        if (!met[user]) give_turn(e, j, group, d, MIG_TURN);
        met[user] = true;
    }
    const int head = second_head(e);
    if (head >= 0) give_turn(e, head, group, d, MIG_FIRST_TURN);
}

/* ---- the cards as they are ---- */

static double holds_s(const struct engine *e, int job)
{
    const struct life *l = &e->life[job];
    if (l->working) return simtime_s(l->finish - e->clock);
    return simtime_s(l->ready - e->clock) +
           (double)l->left / 1e9 / speed_alone(e, &l->wish[l->at.group], l->at.group);
}

static struct mig_state state_of(const struct engine *e, int card)
{
    const struct carved *c = &e->carved[card];
    struct mig_state s = { .on = !c->off, .n = c->n };
    if (second_card_out(e, &e->now, card))
        return (struct mig_state){ .whole = true, .whole_s = INFINITY };
    for (int i = 0; i < c->n; i++) {
        s.slice[i] = c->made[i].slice;
        s.busy_s[i] = -1;
    }
    for (int k = 0; k < e->now.n; k++) {
        const struct place *at = &e->now.at[k];
        if (!second_holds_card(at, card)) continue;
        if (at->slice.profile < 0) {
            s.whole = true;
            s.whole_s = holds_s(e, e->now.job[k]);
        }
        for (int i = 0; i < s.n; i++)
            if (at->slice.profile == s.slice[i].profile && at->slice.start == s.slice[i].start)
                s.busy_s[i] = holds_s(e, e->now.job[k]);
    }
    return s;
}

/* ---- and as they are to be ---- */

static bool same(struct mig_slice a, struct mig_slice b)
{
    return a.profile == b.profile && a.start == b.start;
}

/* What is of the plan stays, and what is not in its way. The rest of the plan is made. */
static void change(struct engine *e, int card, const struct mig_layout *l)
{
    struct carved *c = &e->carved[card];
    const struct carved old = *c;
    const struct mig_geometry *g = second_group_of_card(e, card)->type.gpu->mig;
    struct instance_rules r;
    second_rules(e, card, &r);
    const simtime takes = r.repartition + (old.off ? r.mode_change : 0);
    bool there[MIG_MAX_UNITS] = { false };
    c->n = 0;
    for (int i = 0; i < old.n; i++) {
        bool wanted = false, in_the_way = false;
        for (int k = 0; k < l->n; k++) {
            const bool is = same(old.made[i].slice, l->slice[k]);
            there[k] |= is;
            wanted |= is;
            in_the_way |= second_overlap(g, old.made[i].slice, l->slice[k]);
        }
        if (in_the_way && !wanted) continue;
        c->made[c->n] = old.made[i];
        c->made[c->n++].planned = wanted;
    }
    for (int k = 0; k < l->n; k++) {
        if (there[k]) continue;
        c->off = false;
        c->made[c->n].slice = l->slice[k];
        c->made[c->n].planned = true;
        c->made[c->n++].from = e->clock + takes;
    }
}

static void plan_group(struct engine *e, size_t group, const struct asked *asked)
{
    const struct plan_group *g = &e->plan->group[group];
    struct mig_demand d = { .turn = { MIG_NO_TURN } };
    struct mig_state state[SECOND_CARDS];
    struct mig_layout layout[SECOND_CARDS];
    struct instance_rules r;
    second_rules(e, (int)g->first_card, &r);
    const struct mig_terms terms = { simtime_s(r.period), simtime_s(r.repartition),
                                     simtime_s(r.mode_change) };
    for (int k = 0; k < MIG_KINDS; k++) {
        d.time_s[k] = asked->time_s[k];
        if (asked->time_s[k] > 0) d.worth[k] = asked->work_s[k] / asked->time_s[k];
    }
    give_turns(e, group, &d);
    for (int i = 0; i < g->cards; i++) state[i] = state_of(e, (int)g->first_card + i);
    mig_plan(g->type.gpu->mig, &terms, &d, state, (size_t)g->cards, layout);
    for (int i = 0; i < g->cards; i++) change(e, (int)g->first_card + i, &layout[i]);
}

/* ---- when ---- */

static bool somebody_waits(const struct engine *e)
{
    return second_next(e, -1) >= 0;
}

static bool anybody(const struct engine *e)
{
    return e->now.n > 0 || somebody_waits(e);
}

/* When nothing was asked for, plans are left out: until the last before the next one comes, or
 * where that is not known ahead until the first then or after. */
static void set_next(struct engine *e, int arrived)
{
    const simtime submit = arrived < e->n ? e->life[arrived].job->submit : SIM_NEVER;
    e->before_plan = e->starts;
    e->plan_at = e->clock + e->period;
    if (!e->idle_plan) return;
    if (submit == SIM_NEVER)
        e->plan_at = SIM_NEVER;
    else
        while (e->oracle ? e->plan_at + e->period < submit : e->plan_at < submit)
            e->plan_at += e->period;
}

void second_plan(struct engine *e, int arrived)
{
    struct asked asked[GROUPS] = { 0 };
    e->idle_plan = !somebody_waits(e);
    ask_all(e, asked);
    for (size_t g = 0; g < e->plan->n_groups; g++) {
        for (int k = 0; k < MIG_KINDS; k++) e->idle_plan &= asked[g].time_s[k] == 0;
        plan_group(e, g, &asked[g]);
    }
    e->planned_at = e->clock;
    e->news = true;
    set_next(e, arrived);
}

void second_plan_soon(struct engine *e)
{
    if (!e->idle_plan || !somebody_waits(e)) return;
    simtime soon = e->planned_at;
    while (soon <= e->clock) soon += e->period;
    if (soon >= e->plan_at) return;
    e->plan_at = soon;
    e->before_plan = e->starts;
}

simtime second_next_plan(const struct engine *e, int arrived)
{
    simtime next = arrived < e->n || anybody(e) ? e->plan_at : SIM_NEVER;
    for (int card = 0; card < e->plan->cards && anybody(e); card++)
        for (int i = 0; i < e->carved[card].n; i++) {
            const simtime from = e->carved[card].made[i].from;
            if (from > e->clock && from < next) next = from;
        }
    return next;
}

bool second_has_made(const struct engine *e)
{
    for (int card = 0; card < e->plan->cards; card++)
        for (int i = 0; i < e->carved[card].n; i++)
            if (e->carved[card].made[i].from == e->clock) return true;
    return false;
}

simtime second_made(const struct engine *e)
{
    simtime latest = -1;
    for (int card = 0; card < e->plan->cards; card++)
        for (int i = 0; i < e->carved[card].n; i++)
            if (e->carved[card].made[i].from > latest) latest = e->carved[card].made[i].from;
    return latest;
}
