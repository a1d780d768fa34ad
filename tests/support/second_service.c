#include "support/second_serving.h"

#include "base/rng.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_replica(const struct scene *s, int life)
{
    return life >= s->s->n_jobs;
}

/* Seen by its neighbours: a job that has begun, a replica while it works. */
static bool at_work(const struct scene *s, int life)
{
    return s->e.life[life].working && (!is_replica(s, life) || s->replica[life].busy);
}

/* ---- cards ---- */

static void stood(struct scene *s, int life)
{
    const struct life *l = &s->e.life[life];
    if (s->s->n_stands == SECOND_STANDS || l->at.n > SECOND_WIDE)
        fail_msg("more stays than the second engine takes");
    if (l->at.n == 0) return;
    struct second_stand *x = &s->s->stand[s->s->n_stands++];
    *x = (struct second_stand){ .who = is_replica(s, life) ? -1 - s->replica[life].service : life,
                                .from = l->allocated,
                                .until = s->e.clock,
                                .n = l->at.n,
                                .slice = l->at.slice };
    memcpy(x->card, l->at.card, (size_t)l->at.n * sizeof *x->card);
}

static void off(struct scene *s, int life)
{
    struct life *l = &s->e.life[life];
    if (l->on) stood(s, life);
    second_drop(&s->e.now, life);
    l->on = l->working = l->waiting = false;
    l->bytes = 0;
    s->e.news = true;
}

static void end_job(struct scene *s, int life, enum job_state state)
{
    struct second_job *j = s->e.life[life].job;
    off(s, life);
    j->state = state;
    j->end = s->e.clock;
    if (j->start > s->e.clock) j->start = JOB_NO_TIME;
}

void second_retire(struct scene *s, int life)
{
    s->replica[life].phase = GONE;
    s->replica[life].busy = false;
    off(s, life);
}

void second_launch(struct scene *s, int life)
{
    s->replica[life].phase = STARTING;
    s->e.life[life].waiting = true;
    s->came[life] = ++s->orders;
    s->e.news = true;
}

/* All of its cards have the memory it needs? */
static bool has_memory(const struct scene *s, int life)
{
    const struct life *l = &s->e.life[life];
    const struct demand *d = &l->wish[l->at.group].demand;
    const struct plan_group *g = &s->e.plan->group[l->at.group];
    const uint64_t context = g->type.context_bytes;
    const struct share_ops *share = s->e.plan->share;
    if (d->alloc_bytes > context && d->alloc_bytes - context > d->limit_bytes) return false;
    if (share->swaps && share->swaps(g->params)) return true;
    for (int i = 0; i < l->at.n; i++) {
        uint64_t used = 0;
        for (int k = 0; k < s->e.now.n; k++)
            if (second_holds_card(&s->e.now.at[k], l->at.card[i]))
                used += s->e.life[s->e.now.job[k]].bytes;
        if (d->alloc_bytes > g->type.gpu->usable_bytes - used) return false;
    }
    return true;
}

static void begin(struct scene *s, int life)
{
    struct life *l = &s->e.life[life];
    const bool good = l->at.n == 0 || has_memory(s, life);
    if (good) {
        l->working = true;
        if (l->at.n > 0) l->bytes = l->wish[l->at.group].demand.alloc_bytes;
        if (is_replica(s, life)) second_up(s, life);
    } else if (is_replica(s, life)) {
        second_retire(s, life);
        s->lost |= s->service[s->replica[life].service].scales;
    } else {
        l->job->oom = true;
        end_job(s, life, JOB_FAILED);
    }
}

static void start(struct scene *s, int life, const struct place *at)
{
    struct engine *e = &s->e;
    struct life *l = &e->life[life];
    const struct plan_group *g = &e->plan->group[at->group];
    const struct share_ops *share = e->plan->share;
    l->waiting = false;
    l->on = true;
    l->at = *at;
    l->wires = second_wires(e, at);
    l->allocated = e->clock;
    l->ready = e->clock + second_prepare(e, at);
    l->sequence = ++e->starts;
    l->job->start = l->ready;
    l->job->state = JOB_RUNNING;
    if (share->startup && at->n > 0)
        l->ready += share->startup(g->params, &g->type,
                                   (size_t)second_room_on(e, &e->now, at->card[0]).tenants);
    second_carve(e, at);
    second_put(&e->now, life, at);
    if (is_replica(s, life))
        l->ready += s->service[s->replica[life].service].plan->spec->start_up;
    else
        l->left = roundl((long double)((double)l->job->duration * l->wish[at->group].transfer));
    if (l->ready == e->clock) begin(s, life);
}

/* Replicas go before jobs, in the order in which they came; jobs by rank, then so. */
static bool before(const struct scene *s, int a, int b)
{
    const int64_t x = s->e.life[a].rank, y = s->e.life[b].rank;
    if (is_replica(s, a) != is_replica(s, b)) return is_replica(s, a);
    return !is_replica(s, a) && x != y ? x < y : s->came[a] < s->came[b];
}

static int next_waiting(const struct scene *s, int past)
{
    int best = -1;
    for (int i = 0; i < s->e.n; i++)
        if (s->e.life[i].waiting && (past < 0 || before(s, past, i)) &&
            (best < 0 || before(s, i, best)))
            best = i;
    return best;
}

/* Whom its quota does not let start holds back the jobs of its user behind it, and nobody else. */
static void schedule(struct scene *s)
{
    bool held[SECOND_USERS] = { false };
    struct place at;
    for (int i = next_waiting(s, -1); i >= 0; i = next_waiting(s, i)) {
        const int user = s->e.life[i].job->user;
        if (!is_replica(s, i) && (held[user] || !second_may(&s->e, &s->e.now, i)))
            held[user] = true;
        else if (second_find(&s->e, &s->e.now, NULL, i, s->e.like, &at))
            start(s, i, &at);
        else if (s->e.plan->backfill != BACKFILL_GREEDY)
            break;
    }
}

/* Where there is no horizon, who is through makes way for who waits or has died, while no job is on
 * cards. */
static bool make_way(struct scene *s, simtime stop)
{
    const bool lost = s->lost;
    bool left = false;
    if (stop != SIM_NEVER) return false;
    s->lost = false;
    if (next_waiting(s, -1) < 0 && !lost) return false;
    for (int i = 0; i < s->s->n_jobs; i++)
        if (s->e.life[i].on) return false;
    for (int k = 0; k < s->s->n_services; k++) {
        if (s->service[k].closed || !second_through(s, k)) continue;
        second_close(s, k);
        left = true;
    }
    return left;
}

/* ---- speeds ---- */

static double asked(const struct scene *s, const int *who, int n, double *speed)
{
    struct resident_view r[SECOND_JOBS];
    const struct life *first = &s->e.life[who[0]];
    const struct plan_group *g = &s->e.plan->group[first->at.group];
    for (int i = 0; i < n; i++) {
        const struct wish *w = &s->e.life[who[i]].wish[first->at.group];
        const int profile = w->demand.mig_profile;
        r[i] = (struct resident_view){ &w->sig, &w->demand,
                                       profile < 0 ? NULL : &g->type.gpu->mig->profile[profile] };
    }
    const struct share_view v = { &g->type, r, (size_t)n };
    s->e.plan->share->speeds(g->params, &v, speed);
    return speed[0];
}

double second_alone(const struct scene *s, int life)
{
    double speed;
    return asked(s, &life, 1, &speed);
}

/* The card after the last of those whose tenants have a say in each other's speeds. */
static int reach(const struct scene *s, int card)
{
    const struct plan_group *g = second_group_of_card(&s->e, card);
    if (!s->e.plan->share->node_link || !s->e.plan->share->node_link(g->params)) return card + 1;
    const int64_t at = card - g->first_card, end = (at / g->real_per_node + 1) * g->real_per_node;
    return (int)(g->first_card + (end < g->cards ? end : g->cards));
}

static void speeds(struct scene *s)
{
    for (int i = 0; i < s->e.n; i++) s->e.life[i].speed = at_work(s, i) ? 1.0 : 0.0;
    for (int from = 0, to; from < s->e.plan->cards; from = to) {
        double speed[SECOND_JOBS];
        int who[SECOND_JOBS], n = 0;
        to = reach(s, from);
        for (int card = from; card < to; card++)
            for (int k = 0; k < s->e.now.n; k++)
                if (at_work(s, s->e.now.job[k]) && second_holds_card(&s->e.now.at[k], card))
                    who[n++] = s->e.now.job[k];
        if (n > 0) asked(s, who, n, speed);
        for (int i = 0; i < n; i++)
            s->e.life[who[i]].speed = fmin(s->e.life[who[i]].speed, speed[i]);
    }
    for (int i = 0; i < s->e.n; i++) {
        struct life *l = &s->e.life[i];
        l->finish = SIM_NEVER;
        if (!at_work(s, i)) continue;
        l->speed *= l->wires;
        const long double ns = ceill(l->left / (long double)l->speed - 1e-3L);
        l->finish = s->e.clock + (ns > 0 ? (simtime)ns : 0);
    }
}

static void pass(struct scene *s, simtime to)
{
    const simtime elapsed = to - s->e.clock;
    for (int i = 0; i < s->e.n; i++) {
        struct life *l = &s->e.life[i];
        if (at_work(s, i)) l->left -= (long double)elapsed * (long double)l->speed;
        if (!is_replica(s, i)) continue;
        struct second_service *own = s->service[s->replica[i].service].own;
        const enum phase p = s->replica[i].phase;
        own->up_ns += p == UP || p == DRAINING ? elapsed : 0;
        own->busy_ns += s->replica[i].busy ? elapsed : 0;
    }
    for (int k = 0; k < s->s->n_services && elapsed > 0; k++) {
        struct serving *v = &s->service[k];
        int up = 0;
        v->present_ns += (wide)(second_waiting(s, k) + second_in_service(s, k)) * elapsed;
        for (int i = 0; i < v->most; i++) {
            const enum phase p = s->replica[v->first + i].phase;
            up += p == UP || p == DRAINING;
        }
        if (up > v->own->up_most) v->own->up_most = up;
    }
    s->e.clock = to;
}

/* ---- what comes next ---- */

/* In the order in which those of an instant happen. */
enum what { ENDS, SUBMITTED, COMES, ASKS, READY, HELD, EXPIRES, LOOKS };

struct next {
    simtime when;
    enum what what;
    int who, user;
    int64_t order; /* among equals */
};

static void offer(struct next *best, simtime when, enum what what, int who, int64_t order)
{
    if (when > best->when || when == SIM_NEVER) return;
    if (when == best->when && (what > best->what || (what == best->what && order >= best->order)))
        return;
    *best = (struct next){ when, what, who, 0, order };
}

static void next_of_service(const struct scene *s, int k, struct next *best)
{
    const struct serving *v = &s->service[k];
    if (v->scales && !v->closed) offer(best, v->looks, LOOKS, k, k);
    for (int u = 1; u <= SECOND_USERS_MOST && v->plan->spec->users != CFG_NO_INT; u++) {
        if (u > v->plan->spec->users) break;
        offer(best, v->asks[u], ASKS, k, v->turn[u]);
        if (best->what == ASKS && best->who == k && best->order == v->turn[u]) best->user = u;
    }
    for (int i = v->first; i < v->first + v->most; i++) {
        const simtime held = second_holds_until(s, i);
        offer(best, held < s->e.clock ? s->e.clock : held, HELD, i, i);
    }
}

static struct next next_of(const struct scene *s, int submitted)
{
    struct next best = { .when = SIM_NEVER };
    if (submitted < s->s->n_jobs)
        offer(&best, s->s->job[submitted].submit, SUBMITTED, submitted, submitted);
    for (int i = 0; i < s->e.n; i++) {
        const struct life *l = &s->e.life[i];
        if (at_work(s, i)) offer(&best, l->finish, ENDS, i, l->at.n > 0 ? l->at.card[0] : -1);
        if (l->on && !l->working) offer(&best, l->ready, READY, i, l->sequence);
    }
    for (int i = 0; i < s->s->n_requests; i++) {
        const struct second_request *q = &s->s->request[i];
        if (q->state == SECOND_COMES) offer(&best, q->arrival, COMES, i, i);
        offer(&best, second_expires(s, i), EXPIRES, i, i);
    }
    for (int k = 0; k < s->s->n_services; k++) next_of_service(s, k, &best);
    return best;
}

static void submit(struct scene *s, int job)
{
    struct life *l = &s->e.life[job];
    bool possible = false;
    for (size_t g = 0; g < s->e.plan->n_groups; g++) possible |= l->wish[g].possible;
    if (!possible || second_refuses(&s->e, job) || !second_admits(&s->e, job)) {
        l->job->state = JOB_REJECTED;
        l->job->end = s->e.clock;
        return;
    }
    l->waiting = true;
    l->rank = second_rank(&s->e, job);
    s->came[job] = ++s->orders;
    s->e.news = true;
}

static void happen(struct scene *s, const struct next *x)
{
    switch (x->what) {
    case ENDS:
        is_replica(s, x->who) ? second_done(s, x->who) : end_job(s, x->who, JOB_COMPLETED);
        break;
    case SUBMITTED: submit(s, x->who); break;
    case COMES: second_come(s, x->who); break;
    case ASKS: second_ask(s, x->who, x->user); break;
    case READY: begin(s, x->who); break;
    case HELD: second_look_at(s, x->who); break;
    case EXPIRES: second_expire(s, x->who); break;
    case LOOKS: second_scale(s, x->who); break;
    }
}

/* ---- all of it ---- */

/* Cards on which it would die of its memory, were they empty, are no place for a replica. How many
 * cards are, where there are such; else all. */
static int64_t stay_alive(struct scene *s, int life)
{
    const struct plan *p = s->e.plan;
    const uint64_t bytes = s->e.life[life].job->bytes;
    int64_t cards = 0;
    bool dies = false;
    for (size_t i = 0; i < p->n_groups; i++) {
        struct wish *w = &s->e.life[life].wish[i];
        const struct plan_group *g = &p->group[i];
        const bool swaps = p->share->swaps && p->share->swaps(g->params);
        if (!w->possible) continue;
        w->possible = (bytes == JOB_NO_BYTES || bytes <= w->demand.limit_bytes) &&
                      (swaps || w->demand.alloc_bytes <= g->type.gpu->usable_bytes);
        dies |= !w->possible;
        cards += w->possible ? g->cards : 0;
    }
    return dies ? cards : p->cards;
}

/* Life `life` is replica `number` of service k. Returns on how many cards it might be. */
static int64_t make_replica(struct scene *s, int life, int k, int number)
{
    const struct plan_service *p = &s->e.plan->service[k];
    const uint64_t bytes = p->spec->bytes == CFG_NO_BYTES ? JOB_NO_BYTES : p->spec->bytes;
    s->replica[life] = (struct replica){ .service = k, .number = number };
    s->own[life] = (struct second_job){ .gpus_milli = p->spec->gpus_milli,
                                        .slots = 1,
                                        .limit = JOB_NO_TIME,
                                        .cpus_milli = JOB_NO_INT,
                                        .user = 1000 + k,
                                        .bytes = bytes,
                                        .profile = p->spec->profile,
                                        .model = p->spec->gpu_model };
    s->e.life[life].job = &s->own[life];
    second_wishes(&s->e, life);
    return stay_alive(s, life);
}

static void set_up_service(struct scene *s, int k)
{
    struct serving *v = &s->service[k];
    const struct plan_service *p = &s->e.plan->service[k];
    char stream[200];
    *v = (struct serving){ .plan = p, .own = &s->s->service[k], .first = s->e.n, .looks = 0 };
    const struct service_replicas *r = &p->spec->replicas;
    const bool by_card = r->per_card != CFG_NO_INT, hours = r->scale_on == SCALE_SCHEDULE;
    const int64_t now = by_card ? r->per_card * make_replica(s, s->e.n, k, 0)
                        : hours ? r->hour[0]
                                : r->min;
    v->most = (int)(by_card ? now : r->max);
    v->scales = hours || r->max > r->min;
    v->own->up_ns = v->own->busy_ns = 0;
    v->own->up_most = v->own->came_up = 0;
    snprintf(stream, sizeof stream, "service/%s/route", p->spec->name);
    v->rng = rng_create((uint64_t)s->e.plan->scenario->seed, 0, stream);
    for (int u = 1; u <= SECOND_USERS_MOST; u++) {
        v->asks[u] = v->own->think;
        v->turn[u] = ++s->turns;
    }
    if (s->e.n + v->most > SECOND_JOBS ||
        (p->spec->users != CFG_NO_INT && p->spec->users > SECOND_USERS_MOST))
        fail_msg("a service is too large for the second engine");
    for (int i = 0; i < v->most; i++, s->e.n++) {
        make_replica(s, s->e.n, k, i);
        if (i < now) second_launch(s, s->e.n);
    }
    if (v->scales) second_scale(s, k);
}

static void set_up(struct scene *s)
{
    const struct second_scene *given = s->s;
    s->e.plan = given->plan;
    s->e.any_node = s->e.plan->gang == GANG_ANY || s->e.plan->share->pooled;
    if (given->n_jobs > SECOND_JOBS || s->e.plan->cards > SECOND_CARDS ||
        s->e.plan->n_groups > GROUPS || s->e.plan->n_services > SECOND_SERVICES)
        fail_msg("too large for the second engine");
    second_place_begin(&s->e);
    second_mig_begin(&s->e);
    for (s->e.n = 0; s->e.n < given->n_jobs; s->e.n++) {
        struct second_job *j = &given->job[s->e.n];
        s->e.life[s->e.n].job = j;
        s->e.life[s->e.n].remaining = j->duration;
        s->e.life[s->e.n].asked_milli = j->gpus_milli;
        j->state = JOB_QUEUED;
        j->start = j->end = JOB_NO_TIME;
        second_wishes(&s->e, s->e.n);
    }
    for (int i = 0; i < given->n_requests; i++) {
        struct second_request *q = &s->s->request[i];
        q->state = SECOND_COMES;
        q->began = q->end = JOB_NO_TIME;
    }
    for (int k = 0; k < given->n_services; k++) set_up_service(s, k);
}

/* Work is left, or a horizon is ahead. */
static bool goes_on(const struct scene *s, int submitted, simtime stop)
{
    bool work = stop != SIM_NEVER || submitted < s->s->n_jobs;
    for (int i = 0; i < s->s->n_jobs; i++) work |= s->e.life[i].waiting || s->e.life[i].on;
    for (int k = 0; k < s->s->n_services; k++) work |= !second_through(s, k);
    return work;
}

/* Whoever may start does so once the instant's events are through. */
static void settle(struct scene *s, int submitted, simtime stop)
{
    speeds(s);
    while (s->e.clock < stop && next_of(s, submitted).when > s->e.clock) {
        if (s->e.news) {
            s->e.news = false;
            schedule(s);
        } else if (!make_way(s, stop)) {
            break;
        }
        speeds(s);
    }
}

void second_serve(struct second_scene *given)
{
    struct scene *s = calloc(1, sizeof *s);
    const simtime horizon = given->plan->scenario->horizon,
                  stop = horizon == CFG_NO_TIME ? SIM_NEVER : horizon;
    int submitted = 0;
    assert_non_null(s);
    s->s = given;
    given->n_stands = 0;
    set_up(s);
    settle(s, 0, stop);
    while (goes_on(s, submitted, stop)) {
        const struct next x = next_of(s, submitted);
        if (x.when > stop || x.when == SIM_NEVER) break;
        pass(s, x.when);
        happen(s, &x);
        submitted += x.what == SUBMITTED;
        settle(s, submitted, stop);
    }
    if (stop != SIM_NEVER) pass(s, stop);
    given->end = s->e.clock;
    for (int i = 0; i < s->e.n; i++)
        if (s->e.life[i].on) stood(s, i);
    for (int k = 0; k < given->n_services; k++) gsl_rng_free(s->service[k].rng);
    free(s);
}
