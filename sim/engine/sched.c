#include "engine/sched_inside.h"

#include "base/err.h"
#include "engine/elastic.h"

#include <stdlib.h>

/* What all nodes of the fleet have together; 0 where some have no stated limit. */
static void total_up(struct order_view *v, const struct plan *plan)
{
    bool cpus = true, bytes = true;
    v->gpus = (double)plan->cards;
    for (size_t g = 0; g < plan->n_groups; g++) {
        const struct plan_group *pg = &plan->group[g];
        cpus &= pg->node_cpus_milli != INT64_MAX;
        bytes &= pg->node_host_bytes != UINT64_MAX;
        v->cpus += (double)pg->node_cpus_milli / 1000 * (double)pg->nodes;
        v->host_bytes += (double)pg->node_host_bytes * (double)pg->nodes;
    }
    if (!cpus) v->cpus = 0;
    if (!bytes) v->host_bytes = 0;
}

struct sched *sched_create(const struct plan *plan, struct cluster *cluster,
                           const struct symtab *names, const struct sched_calls *calls, void *ctx)
{
    struct sched *s = xcalloc(1, sizeof *s);
    *s = (struct sched){ .plan = plan,
                         .cluster = cluster,
                         .call = *calls,
                         .ctx = ctx,
                         .look = SIM_NEVER,
                         .view.params = plan->order_params };
    total_up(&s->view, plan);
    waitlist_init(&s->queue);
    if (plan->accounts.n_quotas || plan->order->account_rank)
        s->accounts = accounts_create(&plan->accounts, names);
    RB_INIT(&s->running);
    s->request = xcalloc(plan->n_groups, sizeof *s->request);
    s->allowed = xcalloc(plan->n_groups, sizeof *s->allowed);
    if (plan->backfill == BACKFILL_EASY || plan->preempts || plan->migrates || plan->reclaims ||
        plan->elastic.how == ELASTIC_RESIZE)
        s->then = cluster_create(plan);
    return s;
}

void sched_destroy(struct sched *s)
{
    if (!s) return;
    cluster_destroy(s->then);
    accounts_destroy(s->accounts);
    waitlist_fini(&s->queue);
    sched_reserve_fini(s);
    for (size_t i = 0; i < s->placed.n; i++) vec_fini(&s->placed.v[i].pick.card);
    vec_fini(&s->placed);
    vec_fini(&s->list);
    vec_fini(&s->elastic);
    vec_fini(&s->pick.card);
    free(s->request);
    free(s->allowed);
    vec_fini(&s->then_pick.card);
    vec_fini(&s->then_place.card);
    vec_fini(&s->released);
    vec_fini(&s->brief);
    vec_fini(&s->making);
    vec_fini(&s->tried);
    vec_fini(&s->repair);
    vec_fini(&s->comeback);
    free(s);
}

struct place_request sched_request(const struct plan *plan, const struct job *j, int group)
{
    return (struct place_request){
        .group = group,
        .demand = &j->shape->fit[group].demand,
        .any_node = plan->gang == GANG_ANY || plan->share->pooled,
        .cpus_milli = j->shape->cpus_milli,
        .host_bytes = j->shape->host_bytes,
    };
}

void sched_pick_of(const struct job *j, struct pick *out)
{
    out->card.n = 0;
    for (int32_t i = 0; i < j->n_holdings; i++) vec_push(&out->card, j->holding[i].card);
    out->node = j->node;
    out->slice = j->n_holdings ? j->holding[0].slice : (struct mig_slice){ .profile = -1 };
    out->prepare = 0;
}

bool sched_is_in_service(const struct sched *s, const struct job *j)
{
    for (int32_t i = 0; i < j->n_holdings; i++)
        if (cluster_card(s->cluster, j->holding[i].card)->out) return false;
    return true;
}

/* One request for each group, for placements that look at all of them. */
static const struct place_request *requests_of(const struct sched *s, const struct job *j,
                                               const bool *allowed)
{
    for (size_t g = 0; g < s->plan->n_groups; g++) {
        s->request[g] = sched_request(s->plan, j, (int)g);
        if (!j->shape->fit[g].feasible || (allowed && !allowed[g])) s->request[g].demand = NULL;
    }
    return s->request;
}

bool sched_place(const struct sched *s, const struct cluster *c, const struct job *j,
                 const bool *allowed, int *group, struct pick *out)
{
    if (s->plan->place->pick_any) {
        *group = s->plan->place->pick_any(c, requests_of(s, j, allowed), out);
        return *group >= 0;
    }
    for (size_t g = 0; g < s->plan->n_groups; g++) {
        if (!j->shape->fit[g].feasible || (allowed && !allowed[g])) continue;
        const struct place_request r = sched_request(s->plan, j, (int)g);
        if (!s->plan->place->pick(c, &r, out)) continue;
        *group = (int)g;
        return true;
    }
    return false;
}

static bool place(const struct sched *s, const struct cluster *c, const struct job *j, int *group,
                  struct pick *out)
{
    return sched_place(s, c, j, NULL, group, out);
}

/* May it start before others that wait? Under EASY only who can prove that it ends in time. */
static bool may_overtake(const struct sched *s, const struct job *j)
{
    return s->plan->backfill != BACKFILL_EASY || j->row.walltime != JOB_NO_TIME;
}

/* ---- accounts ---- */

/* An order that preempts asks everybody anew, in one lane. */
static struct lane *lane_of(struct sched *s, const struct job *j)
{
    return waitlist_lane(&s->queue, s->accounts && !s->plan->preempts ? j->account : 0);
}

static void rank_account(struct sched *s, uint32_t number)
{
    const struct order_ops *order = s->plan->order;
    struct lane *l = waitlist_lane(&s->queue, number);
    const struct quota *q = s->accounts->of.v[number].quota;
    if (order->account_rank)
        waitlist_rank(&s->queue, l, order->account_rank(&s->view, &s->accounts->of.v[number]));
    else if (s->plan->reclaims && l->first) /* who would borrow lets the others go first */
        waitlist_rank(&s->queue, l,
                      q && q->cohort >= 0 &&
                          !accounts_owns(s->accounts, number, l->first->gpus_milli));
}

/* A job comes onto its cards, or has left them: what its account has changes, and whose turn it
 * is. */
static void account_move(struct sched *s, struct job *j, simtime now, bool starts)
{
    const struct order_ops *order = s->plan->order;
    if (!s->accounts) return;
    struct account *a = &s->accounts->of.v[j->account];
    s->view.now = now;
    if (order->moved) order->moved(&s->view, a, j, starts);
    accounts_move(s->accounts, j, starts ? 1 : -1);
    if (!order->period) rank_account(s, j->account);
    if (starts || !a->quota || s->plan->preempts) return;
    if (a->quota->cohort < 0) {
        waitlist_release(&s->queue, waitlist_lane(&s->queue, j->account));
        return;
    }
    for (size_t i = 0; i < s->accounts->member[a->quota->cohort].n; i++)
        waitlist_release(&s->queue,
                         waitlist_lane(&s->queue, s->accounts->member[a->quota->cohort].v[i]));
}

bool sched_may(const struct sched *s, const struct job *j)
{
    return !s->accounts || accounts_allow(s->accounts, j->account, j->gpus_milli);
}

struct job *sched_head(struct sched *s)
{
    struct job *j;
    if (s->plan->preempts) { /* one lane for all accounts */
        s->walk++;
        waitlist_walk(&s->queue);
        while ((j = waitlist_step(&s->queue)) && (sched_is_held(s, j) || !sched_may(s, j)))
            sched_hold_account(s, j);
        return j;
    }
    while ((j = waitlist_first(&s->queue)) && !sched_may(s, j))
        waitlist_hold(&s->queue, lane_of(s, j));
    return j;
}

const char *sched_unknown(const struct sched *s, const struct job_row *row, char *buf, size_t size)
{
    return s->accounts ? accounts_unknown(s->accounts, row, buf, size) : NULL;
}

const char *sched_unmet(const struct sched *s, char *buf, size_t size)
{
    return s->accounts ? accounts_unmet(s->accounts, buf, size) : NULL;
}

const char *sched_refuses(struct sched *s, struct job *j)
{
    if (s->accounts) {
        j->account = accounts_number(s->accounts, &j->row);
        const struct quota *q = s->accounts->of.v[j->account].quota;
        if (q && j->gpus_milli > quota_most(&s->plan->accounts, q))
            return "it asks for more GPUs than the quota of its group";
    }
    return s->plan->order->admission ? sched_admit(s, j, j->row.submit) : NULL;
}

struct job *sched_next(struct sched *s, struct job *j)
{
    size_t i = 0;
    if (j) {
        struct job *next = waitlist_next(j);
        if (next) return next;
        i = lane_of(s, j)->index + 1;
    }
    for (; i < s->queue.lane.n; i++)
        if (s->queue.lane.v[i]->first) return s->queue.lane.v[i]->first;
    return NULL;
}

/* ---- the queue ---- */

void sched_enqueue(struct sched *s, struct job *j)
{
    struct lane *l = lane_of(s, j);
    elastic_be(j, 0); /* it waits as its smallest size */
    j->queued_as = j->shape;
    const bool new_lane = s->accounts && !l->first;
    waitlist_add(&s->queue, l, j);
    if (new_lane || s->plan->reclaims) rank_account(s, j->account);
    if (l->held && l->first == j) waitlist_release(&s->queue, l);
    s->waiting++;
    s->waiting_without_cards += j->row.gpus_milli == 0;
    if (!may_overtake(s, j)) return;
    s->candidates++;
    if (elastic_leaps(s->plan, j) || j->shape->candidates++ == 0) s->shapes++;
}

void sched_leave(struct sched *s, struct job *j)
{
    waitlist_remove(&s->queue, lane_of(s, j), j);
    if (s->plan->reclaims) rank_account(s, j->account);
    s->waiting--;
    s->waiting_without_cards -= j->row.gpus_milli == 0;
    if (!may_overtake(s, j)) return;
    s->candidates--;
    if (elastic_leaps(s->plan, j) || --j->queued_as->candidates == 0) s->shapes--;
}

void sched_start_at(struct sched *s, struct job *j, int group)
{
    const struct place_request r = sched_request(s->plan, j, group);
    sched_leave(s, j);
    cluster_take(s->cluster, &r, &s->pick);
    j->group = group;
    s->call.start(s->ctx, j, &s->pick);
    if (s->plan->reclaims)
        s->needs_run = true; /* the next of its account may take back what was lent */
}

/* The ranks of accounts are to be made anew? */
static bool turns_are_due(const struct sched *s, simtime now)
{
    const struct order_ops *order = s->plan->order;
    return order->period && now - s->reordered >= order->period(s->plan->order_params);
}

void sched_submit(struct sched *s, struct job *j)
{
    s->view.now = j->row.submit;
    if (s->accounts) j->account = accounts_number(s->accounts, &j->row);
    j->rank = sched_rank(s, j);
    if (s->plan->place->submitted) {
        if (j->n_sizes) j->shape = j->asked; /* the mix is of what was asked for */
        const struct place_request *r = requests_of(s, j, NULL);
        s->plan->place->submitted(cluster_place_state(s->cluster), r);
        if (s->then) s->plan->place->submitted(cluster_place_state(s->then), r);
    }
    sched_enqueue(s, j);
    /* Strict order: a newcomer can start only at the head. But where all are placed anew, others
     * may have a place that had none while jobs were on their way; where one lane has all
     * accounts, those before it may wait for a quota only; the first of its account may take
     * back what was lent; and jobs may make room - elastic ones, or those that move - that were
     * starting up when they were asked last. Backfill may take it out of turn - where anybody
     * may, unless its like has found no room since something was given back. */
    const bool anywhere = s->plan->replaces || s->plan->reclaims ||
                          (s->plan->preempts && s->accounts) || s->elastic.n > 0 || s->starting;
    const bool hopeless = s->plan->backfill == BACKFILL_GREEDY && !s->plan->preempts &&
                          j->shape->no_room == s->walk && s->walk > 0 && !elastic_leaps(s->plan, j);
    if (waitlist_first(&s->queue) == j || turns_are_due(s, s->view.now) || anywhere ||
        (s->plan->backfill != BACKFILL_NONE && !hopeless))
        s->needs_run = true;
}

void sched_wake(struct sched *s)
{
    s->needs_run = true;
    if (s->plan->backfill != BACKFILL_GREEDY) return;
    s->walk++;
    s->full = 0;
}

simtime sched_look(const struct sched *s)
{
    return s->look;
}

bool sched_needs_run(const struct sched *s)
{
    return s->needs_run && (s->waiting > 0 || s->elastic.n > 0);
}

uint64_t sched_waiting(const struct sched *s)
{
    return s->waiting;
}

void sched_expect(struct sched *s, struct job *j, bool there)
{
    const struct place_request r = sched_request(s->plan, j, j->group);
    sched_pick_of(j, &s->then_pick);
    there ? cluster_take(s->then, &r, &s->then_pick) : cluster_give(s->then, &r, &s->then_pick);
    j->expected = there;
}

void sched_suppose(struct sched *s, struct job *j, bool there)
{
    sched_expect(s, j, there);
    sched_count(s, j, there ? 1 : -1);
}

void sched_try(struct sched *s, const struct place_request *r, const struct pick *p)
{
    cluster_take(s->then, r, p);
    for (size_t i = 0; s->plan->share->instances && i < p->card.n; i++)
        vec_push(&s->tried, p->card.v[i]);
}

void sched_untry(struct sched *s)
{
    for (size_t i = 0; i < s->tried.n; i++)
        cluster_copy_instances(s->then, s->cluster, s->tried.v[i]);
    s->tried.n = 0;
}

simtime sched_carve(struct sched *s, simtime now, uint32_t card, const struct mig_layout *layout)
{
    const simtime delay = cluster_carve(s->cluster, card, layout);
    if (s->then) cluster_copy_instances(s->then, s->cluster, card);
    if (delay == 0 || delay >= SIM_NEVER - now) return delay;
    if (s->made <= now) s->making.n = 0;
    vec_push(&s->making, card);
    if (now + delay > s->made) s->made = now + delay;
    return delay;
}

void sched_carved(struct sched *s, uint32_t card)
{
    if (s->then) cluster_carved(s->then, card);
    cluster_carved(s->cluster, card);
}

/* Somebody looks at the running jobs: backfill with reservations, preemption. */
static bool keeps_running(const struct sched *s)
{
    return s->then || s->plan->backfill == BACKFILL_CONSERVATIVE || s->plan->order->admission;
}

void sched_started(struct sched *s, struct job *j)
{
    j->held_size = j->at_size;
    account_move(s, j, j->allocated, true);
    sched_elastic_note(s, j, true);
    if (s->plan->place->began) {
        s->plan->place->began(cluster_place_state(s->cluster));
        if (s->then) s->plan->place->began(cluster_place_state(s->then));
    }
    if (!keeps_running(s)) return;
    j->limit_end = SIM_NEVER;
    const simtime limit = job_limit(j);
    if (limit != JOB_NO_TIME && limit < SIM_NEVER - j->allocated)
        j->limit_end = j->allocated + limit;
    RB_INSERT(releases, &s->running, j);
    if (s->plan->preempts &&
        s->plan->order->next_change) { /* ranks of running jobs matter to nobody else */
        s->view.now = j->allocated;
        j->next_change = s->plan->order->next_change(&s->view, j);
        if (j->next_change < s->look) s->look = j->next_change;
    }
    if (s->then && !s->walking) sched_expect(s, j, true);
}

void sched_ended(struct sched *s, struct job *j, simtime now)
{
    account_move(s, j, now, false);
    sched_elastic_note(s, j, false);
    if (!keeps_running(s)) return;
    RB_REMOVE(releases, &s->running, j);
    if (s->look != SIM_NEVER && j->next_change == s->look) s->look_over = true;
    if (j->expected) sched_expect(s, j, false);
}

/* ---- cards that go out of service and come back ---- */

void sched_service_card(struct sched *s, uint32_t card, unsigned set, unsigned clear)
{
    cluster_card_service(s->cluster, card, set, clear);
    if (s->then) cluster_card_service(s->then, card, set, clear);
    sched_wake(s);
}

void sched_service_node(struct sched *s, int32_t node, unsigned set, unsigned clear)
{
    cluster_node_service(s->cluster, node, set, clear);
    if (s->then) cluster_node_service(s->then, node, set, clear);
    sched_wake(s);
}

void sched_requeue(struct sched *s, struct job *j, simtime now)
{
    s->view.now = now;
    j->rank = sched_rank(s, j);
    sched_enqueue(s, j);
    sched_wake(s);
}

void sched_withdraw(struct sched *s, struct job *j)
{
    struct lane *l = lane_of(s, j);
    const bool first = l->first == j;
    sched_leave(s, j);
    if (l->held && first) waitlist_release(&s->queue, l); /* the next may ask for less */
}

bool sched_could_place(const struct sched *s, const struct cluster *c, const struct job *j,
                       int *group, struct pick *out)
{
    return place(s, c, j, group, out);
}

/* ---- greedy backfill ---- */

/* Start whoever fits. What has no room is tried once for each request shape, until something is
 * given back: sched_wake() begins a new walk. */
static void backfill_greedy(struct sched *s)
{
    struct job *j;
    int group;
    if (s->walk == 0) s->walk = 1;
    waitlist_walk(&s->queue);
    while (s->full < s->shapes && (j = waitlist_step(&s->queue))) {
        if (!sched_may(s, j)) {
            waitlist_leave(&s->queue);
            continue;
        }
        const bool leaps = elastic_leaps(s->plan, j);
        if (j->shape->no_room == s->walk && !leaps) continue;
        if (sched_place_now(s, j, &group)) {
            sched_start_at(s, j, group);
        } else if (!leaps) {
            j->shape->no_room = s->walk;
            s->full++;
        }
    }
}

/* ---- the instant ---- */

/* Orders with a period: the ranks of all accounts with waiting jobs. */
static void rank_accounts(struct sched *s)
{
    s->reordered = s->view.now;
    for (uint32_t i = 0; i < s->accounts->of.n; i++)
        if (waitlist_lane(&s->queue, i)->first) rank_account(s, i);
}

void sched_run(struct sched *s, simtime now)
{
    int group;
    s->needs_run = false;
    s->view.now = now;
    if (s->waiting > 0 && turns_are_due(s, now)) rank_accounts(s);
    if (s->plan->reclaims) sched_reclaim(s);
    if (s->plan->preempts) {
        s->plan->replaces ? sched_replace(s) : sched_preempt(s);
        if (sched_resize(s)) sched_wake(s);
        return;
    }
    if (s->plan->backfill == BACKFILL_GREEDY && !s->plan->drop) {
        backfill_greedy(s);
        if (sched_resize(s)) sched_wake(s); /* it starts in another run of this instant */
        return;
    }
    for (struct job *head = sched_head(s); head; head = sched_head(s)) {
        if (sched_place_now(s, head, &group)) {
            sched_start_at(s, head, group);
        } else if (s->plan->migrates && sched_migrate(s, head)) {
            continue;
        } else if (s->plan->drop) {
            sched_leave(s, head);
            s->call.drop(s->ctx, head);
        } else if (!sched_resize(s)) {
            break;
        }
    }
    if (s->waiting == 0) sched_resize(s);
    if (s->plan->backfill == BACKFILL_EASY && s->waiting > 1) sched_easy(s, now);
    if (s->plan->backfill == BACKFILL_CONSERVATIVE && s->waiting > 1) sched_reserve(s);
}
