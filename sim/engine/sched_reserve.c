/* Conservative backfill: every waiting job, in queue order and up to the plan's depth, gets the
 * earliest time at which the cards it asks for are free for as long as its limit says, given the
 * running jobs' limits and the reservations before it. Who gets "now" starts.
 *
 * The reservations are made anew at every instant, so that with exact limits, order fifo and one
 * flat group everybody starts at the time it was promised when it came
 * (tests/property/test_conservative.c); when jobs end early, one ahead may move into what one
 * behind was promised. A promise is for a time and a place (engine/places.h), the tightest there
 * is then; who starts now goes where the policy puts it, if that is promised to nobody for as
 * long as it lasts, else to the tightest such place. Instances, pools, gangs on any cards and in
 * NVLink domains are promised by units, of a group and time: exact on a flat pool of whole
 * cards; elsewhere a promised job may find no place at its time, and is promised the next one. A
 * job without a limit holds its cards for ever; once a job can be promised nothing, nobody
 * behind it may overtake.
 *
 * Admission by deadline asks the same profile: would everybody with a deadline, in the order of
 * the queue, still be done in time with the newcomer among them, if jobs take as long as their
 * limits say (without one: as long as they do)? It is a plan of cards: quotas do not count in
 * it, and who waits for one has its turn by its deadline like anybody. Who is late all the same
 * has its turn too: it will take its cards. With one group of cards, gangs anywhere, whole
 * cards, no faults and no start-up times, and backfill none, whoever is admitted meets its
 * deadline (tests/property/test_deadline.c).
 *
 * Complexity: one pass costs depth x (running jobs + depth), with places depth x (nodes, or
 * cards where they are shared) x their steps; a search begins where one alike, as long or
 * shorter, has found nothing before (engine/bounds.h). Nothing when no card has room. */
#include "engine/bounds.h"
#include "engine/places.h"
#include "engine/sched_inside.h"
#include "engine/steps.h"

#include "base/err.h"

#include <stdlib.h>

/* From `at` on, until the next step, so much is free. */
struct step {
    simtime at;
    int64_t free;
};
struct line {
    VEC(struct step) step;
};
struct profile {
    struct line *group;
    size_t n_groups;
    struct places *known;    /* NULL: units say it all, or all there is to say */
    struct places *places;   /* `known` while promises are made; admission counts units */
    struct pick place, spot; /* of the best promise; scratch */
    struct bounds bounds;    /* since somebody started */
};

static int64_t units_of(const struct job *j, int group)
{
    const struct demand *d = &j->shape->fit[group].demand;
    return (int64_t)d->cards * d->units;
}

/* Of what a running job holds, what will be of use to others: cards out of service are not. */
static int64_t units_back(const struct sched *s, const struct job *j)
{
    const int32_t units = j->shape->fit[j->group].demand.units;
    int64_t n = 0;
    if (cluster_cards_out(s->cluster, (size_t)j->group) == 0) return units_of(j, j->group);
    for (int32_t i = 0; i < j->n_holdings; i++)
        if (!cluster_card(s->cluster, j->holding[i].card)->out) n += units;
    return n;
}

static simtime after(simtime t, simtime length)
{
    return length == JOB_NO_TIME || length >= SIM_NEVER - t ? SIM_NEVER : t + length;
}

/* What the running jobs leave, and give back. They come in the order of their ends. */
static void draw(struct sched *s, struct profile *p)
{
    const simtime now = s->view.now;
    struct job *j;
    for (size_t g = 0; g < p->n_groups; g++) {
        const struct plan_group *pg = &s->plan->group[g];
        p->group[g].step.n = 0;
        vec_push(
            &p->group[g].step,
            ((struct step){ now, (pg->cards - cluster_cards_out(s->cluster, g)) * pg->capacity }));
    }
    RB_FOREACH(j, releases, &s->running) p->group[j->group].step.v[0].free -= units_back(s, j);
    RB_FOREACH(j, releases, &s->running)
    {
        struct line *l = &p->group[j->group];
        /* Who overran its limit ends at any moment, but not now. */
        const simtime end = j->limit_end > now ? j->limit_end : now + 1;
        if (j->limit_end == SIM_NEVER) break;
        const struct step last = l->step.v[l->step.n - 1];
        if (last.at == end)
            l->step.v[l->step.n - 1].free += units_back(s, j);
        else
            vec_push(&l->step, ((struct step){ end, last.free + units_back(s, j) }));
    }
}

/* The step in which `at` lies; the first one for a time before all. */
static size_t step_at(const struct line *l, simtime at)
{
    return steps_find(l->step.v, sizeof *l->step.v, l->step.n, at);
}

/* The earliest time from `from` on with `units` free for `length`; SIM_NEVER: none. */
static simtime earliest(const struct line *l, int64_t units, simtime length, simtime from)
{
    simtime candidate = from;
    for (size_t i = step_at(l, from); i < l->step.n; i++) {
        const simtime begins = l->step.v[i].at;
        const simtime ends = i + 1 < l->step.n ? l->step.v[i + 1].at : SIM_NEVER;
        if (begins >= after(candidate, length)) return candidate;
        if (l->step.v[i].free < units) candidate = ends;
    }
    return candidate;
}

static size_t split(struct line *l, simtime at)
{
    size_t i = l->step.n;
    while (i > 0 && l->step.v[i - 1].at > at) i--;
    if (l->step.v[i - 1].at == at) return i - 1;
    vec_push(&l->step, l->step.v[i - 1]);
    for (size_t k = l->step.n - 1; k > i; k--) l->step.v[k] = l->step.v[k - 1];
    l->step.v[i] = (struct step){ at, l->step.v[i - 1].free };
    return i;
}

static void hold(struct line *l, int64_t units, simtime from, simtime until)
{
    size_t i = split(l, from);
    const size_t end = until == SIM_NEVER ? l->step.n : split(l, until);
    for (; i < end; i++) l->step.v[i].free -= units;
}

/* The next time after `at` at which something changes. */
static simtime next_step(const struct line *l, simtime at)
{
    const size_t i = l->step.v[0].at > at ? 0 : step_at(l, at) + 1;
    return i < l->step.n ? l->step.v[i].at : SIM_NEVER;
}

/* As earliest(), with a place: into p->spot where places are known. */
static simtime earliest_place(struct sched *s, struct profile *p, const struct job *j, size_t group,
                              simtime length, simtime from)
{
    const struct line *l = &p->group[group];
    const struct place_request r = sched_request(s->plan, j, (int)group);
    const int64_t units = units_of(j, (int)group);
    for (simtime at = from; at != SIM_NEVER; at = next_step(l, at)) {
        at = earliest(l, units, length, at);
        if (at == SIM_NEVER || !p->places) return at;
        const simtime soonest = places_not_before(p->places, &r, at, length);
        if (soonest > at) {
            at = soonest - 1;
            continue;
        }
        if (places_find(p->places, &r, at, after(at, length), &p->spot)) return at;
    }
    return SIM_NEVER;
}

/* The best promise for the job from `from` on, for so long; the groups that can keep it are
 * s->allowed. */
static simtime promise_for(struct sched *s, struct profile *p, const struct job *j, simtime length,
                           simtime from, int *group)
{
    simtime best = SIM_NEVER;
    if (length == JOB_NO_TIME) length = SIM_NEVER;
    for (size_t g = 0; g < p->n_groups; g++) {
        s->allowed[g] = false;
        if (!j->shape->fit[g].feasible) continue;
        const simtime bound = bounds_from(&p->bounds, j->shape, g, length, from);
        const simtime at = bound == SIM_NEVER ? bound : earliest_place(s, p, j, g, length, bound);
        if (from == s->view.now) bounds_learn(&p->bounds, j->shape, g, length, at);
        s->allowed[g] = at == from;
        if (at >= best) continue;
        best = at;
        *group = (int)g;
        const struct pick scratch = p->place;
        p->place = p->spot;
        p->spot = scratch;
    }
    return best;
}

static simtime promise(struct sched *s, struct profile *p, const struct job *j, simtime from,
                       int *group)
{
    return promise_for(s, p, j, j->row.walltime, from, group);
}

/* When the next running job ends by its limit: after `now`, also for one that overran it. */
static simtime first_end(struct sched *s)
{
    const struct job *j = RB_MIN(releases, &s->running);
    if (!j) return SIM_NEVER;
    return j->limit_end > s->view.now ? j->limit_end : s->view.now + 1;
}

static bool is_short(const struct sched *s)
{
    int64_t out = 0;
    for (size_t g = 0; g < s->plan->n_groups; g++) out += cluster_cards_out(s->cluster, g);
    return out > 0;
}

/* Known without a look at who runs, while no card is out. */
static bool no_room(const struct sched *s)
{
    if (s->waiting_without_cards > 0) return false;
    for (size_t g = 0; g < s->plan->n_groups; g++)
        if (cluster_cards_out(s->cluster, g) > 0 || cluster_units_free(s->cluster, g) > 0)
            return false;
    return true;
}

static bool any_room(const struct sched *s, const struct profile *p)
{
    if (s->waiting_without_cards > 0) return true;
    for (size_t g = 0; g < p->n_groups; g++)
        if (p->group[g].step.v[0].free > 0) return true;
    return false;
}

static struct profile *profile_of(struct sched *s)
{
    if (!s->profile) {
        s->profile = xcalloc(1, sizeof *s->profile);
        s->profile->n_groups = s->profile->bounds.n_groups = s->plan->n_groups;
        s->profile->group = xcalloc(s->plan->n_groups, sizeof *s->profile->group);
        if (s->plan->backfill == BACKFILL_CONSERVATIVE)
            s->profile->known = places_create(s->plan, s->cluster);
    }
    return s->profile;
}

/* The job has this place from `from` until `until`, in a group that has the units. */
static void book(struct sched *s, struct profile *p, const struct job *j, int group,
                 const struct pick *pick, simtime from, simtime until)
{
    const struct place_request r = sched_request(s->plan, j, group);
    hold(&p->group[group], units_of(j, group), from, until);
    if (p->places) places_hold(p->places, &r, pick, from, until);
}

/* Where the policy puts it, if that is nobody else's soon; else where the promise is. Into
 * s->pick. */
static bool place_now(struct sched *s, struct profile *p, const struct job *j, int *group)
{
    const simtime now = s->view.now, until = after(now, j->row.walltime);
    int where = *group;
    const bool placed = sched_place(s, s->cluster, j, s->allowed, &where, &s->pick);
    struct place_request r = sched_request(s->plan, j, where);
    if (placed && (!p->places || places_free(p->places, &r, &s->pick, now, until))) {
        *group = where;
        return true;
    }
    r = sched_request(s->plan, j, *group);
    if (!p->places || !cluster_holds(s->cluster, &r, &p->place)) return false;
    const struct pick scratch = s->pick;
    s->pick = p->place;
    p->place = scratch;
    return true;
}

/* What is under repair is free once it is expected back. */
static void draw_repairs(struct sched *s, struct profile *p)
{
    sched_comebacks(s, s->view.now);
    for (size_t i = 0; i < s->comeback.n; i++) {
        const struct comeback *c = &s->comeback.v[i];
        const simtime at = c->at > s->view.now ? c->at : s->view.now + 1;
        if (p->places) places_come_back(p->places, c->node, c->card, at);
        if (c->node >= 0) continue;
        const int group = cluster_card(s->cluster, c->card)->group;
        hold(&p->group[group], -(int64_t)s->plan->group[group].capacity, at, SIM_NEVER);
    }
}

/* Where the running jobs are, and until when. */
static void draw_places(struct sched *s, struct profile *p)
{
    struct job *j;
    p->places = p->known;
    if (!p->places) return;
    places_draw(p->places, s->view.now);
    RB_FOREACH(j, releases, &s->running)
    {
        const simtime end = j->limit_end > s->view.now ? j->limit_end : s->view.now + 1;
        const struct place_request r = sched_request(s->plan, j, j->group);
        sched_pick_of(j, &p->spot);
        places_hold(p->places, &r, &p->spot, s->view.now, end);
    }
}

void sched_reserve(struct sched *s)
{
    const simtime now = s->view.now;
    uint64_t looked = 0;
    struct job *j;
    if (no_room(s)) return;
    struct profile *p = profile_of(s);
    draw(s, p);
    if (!any_room(s, p)) return;
    draw_places(s, p);
    draw_repairs(s, p);
    bounds_forget(&p->bounds);
    waitlist_walk(&s->queue);
    for (; looked < s->plan->backfill_depth && (j = waitlist_step(&s->queue)); looked++) {
        int group = 0;
        if (!sched_may(s, j)) {
            waitlist_leave(&s->queue);
            continue;
        }
        simtime at = promise(s, p, j, now, &group);
        if (at == now && place_now(s, p, j, &group)) {
            const simtime length = j->row.walltime;
            book(s, p, j, group, &s->pick, now,
                 length == JOB_NO_TIME ? SIM_NEVER
                                       : after(after(now, sched_makes(s, &s->pick)), length));
            sched_start_at(s, j, group);
            bounds_forget(&p->bounds); /* it may have ended at once */
            continue;
        }
        if (at == now)
            at = first_end(s) < SIM_NEVER ? promise(s, p, j, first_end(s), &group) : SIM_NEVER;
        if (at == SIM_NEVER && is_short(s)) continue; /* it waits for cards to come back */
        if (at == SIM_NEVER) return;
        book(s, p, j, group, &p->place, at, after(at, j->row.walltime));
    }
}

/* ---- admission ---- */

static simtime estimate(const struct job *j)
{
    return j->row.walltime != JOB_NO_TIME ? j->row.walltime : j->row.duration;
}

/* Of its estimate, after so long on its cards: somebody who overran it ends at any moment, not
 * now. */
static simtime estimate_left(const struct job *j, simtime held)
{
    const simtime all = estimate(j);
    return all > held ? all - held : 1;
}

/* Running jobs end as estimated: not sorted, so step by step. */
static void draw_estimates(struct sched *s, struct profile *p)
{
    const simtime now = s->view.now;
    struct job *j;
    for (size_t g = 0; g < p->n_groups; g++) {
        const int64_t cards = s->plan->group[g].cards - cluster_cards_out(s->cluster, g);
        p->group[g].step.n = 0;
        vec_push(&p->group[g].step, ((struct step){ now, cards * s->plan->group[g].capacity }));
    }
    RB_FOREACH(j, releases, &s->running)
    {
        const simtime left = estimate_left(j, job_held(j, now));
        hold(&p->group[j->group], units_back(s, j), now, after(now, left));
    }
}

/* The next job of the plan gets its cards, late or not; false: it would miss its deadline. */
static bool in_time(struct sched *s, struct profile *p, const struct job *j, simtime *from)
{
    int group = 0;
    const simtime length = estimate_left(j, j->held);
    const simtime at = promise_for(s, p, j, length, *from, &group);
    if (at == SIM_NEVER) return false;
    hold(&p->group[group], units_of(j, group), at, after(at, length));
    if (s->plan->backfill == BACKFILL_NONE) *from = at; /* nobody starts before those ahead of it */
    return after(at, length) <= j->row.deadline;
}

static int by_turn(const void *a, const void *b)
{
    return waitlist_compare(*(struct job *const *)a, *(struct job *const *)b);
}

/* All who wait with a deadline, into s->list; the lanes of accounts, held or not, are merged. */
static void list_deadlines(struct sched *s)
{
    s->list.n = 0;
    for (struct job *j = sched_next(s, NULL); j; j = sched_next(s, j))
        if (j->row.deadline != JOB_NO_TIME) vec_push(&s->list, j);
    if (s->accounts && s->list.n > 1) qsort(s->list.v, s->list.n, sizeof *s->list.v, by_turn);
}

const char *sched_admit(struct sched *s, struct job *newcomer, simtime now)
{
    const enum admission rule = s->plan->order->admission(s->plan->order_params);
    if (rule == ADMIT_ALL || newcomer->row.deadline == JOB_NO_TIME) return NULL;
    if (after(now, estimate(newcomer)) > newcomer->row.deadline)
        return "it cannot meet its deadline even if it starts at once";
    if (rule == ADMIT_ALONE) return NULL;
    struct profile *p = profile_of(s);
    simtime from = now;
    bool placed = false;
    s->view.now = now;
    newcomer->rank = s->plan->order->rank(&s->view, newcomer);
    draw_estimates(s, p);
    p->places = NULL;
    bounds_forget(&p->bounds);
    list_deadlines(s);
    for (size_t i = 0; i < s->list.n; i++) {
        const struct job *j = s->list.v[i];
        if (!placed && waitlist_compare(newcomer, j) < 0) {
            placed = true;
            if (!in_time(s, p, newcomer, &from))
                return "those admitted before it leave no room by its deadline";
        }
        /* Who is late whatever comes - an overrun, a fault - is nobody's reason to be turned
         * away. */
        const bool hopeless = after(now, estimate_left(j, j->held)) > j->row.deadline;
        if (!in_time(s, p, j, &from) && placed && !hopeless)
            return "those admitted before it would miss their deadlines";
    }
    if (!placed && !in_time(s, p, newcomer, &from))
        return "those admitted before it leave no room by its deadline";
    return NULL;
}

void sched_reserve_fini(struct sched *s)
{
    if (!s->profile) return;
    places_destroy(s->profile->known);
    bounds_fini(&s->profile->bounds);
    vec_fini(&s->profile->place.card);
    vec_fini(&s->profile->spot.card);
    for (size_t g = 0; g < s->profile->n_groups; g++) vec_fini(&s->profile->group[g].step);
    free(s->profile->group);
    free(s->profile);
}
