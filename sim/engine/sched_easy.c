/* EASY backfill (Lifka 1995): the head of the queue has a reservation, at the earliest promised
 * end, or expected end of a repair (engine/sched_repair.c), that makes room for it, or when the
 * planned instances that it waits for are made; and a job behind it may start unless that would
 * delay the head.
 *
 * The reservation is for a time, and a place only in so far as there must be one then: a job
 * that would outlast it, on a place that the head was to have, may start all the same if the
 * head has another place by then. It is tried where the policy puts it; when the head has no
 * other place, on the tightest card (or node, for whole cards) that leaves the head's alone.
 * With single cards and shares of cards this finds a place whenever one exists
 * (tests/property/test_easy.c). Instances that will exist by then are not known, so under MIG
 * only those who end before the reservation start. */
#include "engine/elastic.h"
#include "engine/sched_inside.h"

#include "base/err.h"

struct reservation {
    simtime when;
    int group;
    struct pick pick;
};

static simtime promised(const struct job *j, simtime now)
{
    if (!j) return SIM_NEVER;
    return j->limit_end > now ? j->limit_end
                              : now; /* who overran is expected to end at any moment */
}

/* Place the head on the copy of the fleet, as that is then. */
static bool place_head(struct sched *s, const struct job *head, struct reservation *out)
{
    if (!sched_place(s, s->then, head, NULL, &out->group, &out->pick)) return false;
    const struct place_request r = sched_request(s->plan, head, out->group);
    cluster_prefer_taken(s->then, s->cluster, &r, &out->pick);
    sched_try(s, &r, &out->pick);
    return true;
}

/* On the copy of the fleet planned instances that are being made are there, or as on the fleet. */
static void suppose_made(struct sched *s, simtime now, bool there)
{
    if (s->made <= now) return;
    for (size_t i = 0; i < s->making.n; i++)
        if (there)
            cluster_carved(s->then, s->making.v[i]);
        else
            cluster_copy_instances(s->then, s->cluster, s->making.v[i]);
}

/* Play the promised ends, and what is expected back from repair, on the copy of the fleet until
 * the head fits, and place it. What is being made is there from the start: it may be all that the
 * head waits for. False: nothing is promised that makes room. `back`: so many of s->comeback are
 * there. */
static bool reserve(struct sched *s, const struct job *head, simtime now, struct reservation *out,
                    size_t *back)
{
    struct job *j = RB_MIN(releases, &s->running);
    *back = 0;
    out->when = s->made;
    if (s->made > now && place_head(s, head, out)) return true;
    sched_comebacks(s, now);
    for (;;) {
        out->when = promised(j, now);
        if (*back < s->comeback.n && s->comeback.v[*back].at < out->when)
            out->when = s->comeback.v[*back].at;
        if (out->when == SIM_NEVER) return false;
        for (; promised(j, now) == out->when; j = RB_NEXT(releases, &s->running, j)) {
            sched_expect(s, j, false);
            vec_push(&s->released, j);
        }
        for (; *back < s->comeback.n && s->comeback.v[*back].at == out->when; ++*back)
            sched_come_back(s, &s->comeback.v[*back], true);
        if (place_head(s, head, out)) return true;
    }
}

/* The job would be where the head is to be: has the head another place by then, beside it? */
static bool move_head(struct sched *s, const struct job *head, struct reservation *r,
                      const struct place_request *job)
{
    const struct place_request mine = sched_request(s->plan, head, r->group);
    struct pick moved = { 0 };
    int group;
    cluster_give(s->then, &mine, &r->pick);
    bool fits = cluster_holds(s->then, job, &s->pick);
    if (fits) {
        cluster_take(s->then, job, &s->pick);
        fits = sched_place(s, s->then, head, NULL, &group, &moved);
        cluster_give(s->then, job, &s->pick);
    }
    if (fits) {
        const struct pick old = r->pick;
        r->pick = moved;
        r->group = group;
        moved = old;
    }
    const struct place_request now = sched_request(s->plan, head, r->group);
    cluster_take(s->then, &now, &r->pick);
    vec_fini(&moved.card);
    return fits;
}

/* A place that is free now and still free beside the head when it starts: where the policy put it
 * (s->pick), else the tightest such place. Instances made by then are not known, so slices have
 * none. */
static bool place_beside(struct sched *s, const struct job *head, struct reservation *reserved,
                         struct job *j, int *group)
{
    struct place_request r = sched_request(s->plan, j, *group);
    if (s->plan->share->instances) return false;
    if (cluster_holds(s->then, &r, &s->pick)) return true;
    if (j->shape->no_room_beside == s->walk) return false;
    if (reserved && move_head(s, head, reserved, &r)) return true;
    for (size_t g = 0; g < s->plan->n_groups; g++) {
        if (!j->shape->fit[g].feasible) continue;
        r = sched_request(s->plan, j, (int)g);
        r.beside = s->then;
        const bool whole = r.demand->cards > 1 || r.demand->units == s->plan->group[g].capacity;
        if (r.demand->cards == 0 ? cluster_cpu_node(s->cluster, &r, &s->pick)
            : whole              ? cluster_whole_cards(s->cluster, PREFER_TIGHTEST, &r, &s->pick)
                                 : cluster_one_card(s->cluster, PREFER_TIGHTEST, &r, &s->pick)) {
            *group = (int)g;
            return true;
        }
    }
    j->shape->no_room_beside = s->walk;
    return false;
}

/* A job that outlasts the reservation must leave the head its quota as well. */
static bool may_beside(struct sched *s, struct job *head, const struct job *j)
{
    if (!s->accounts) return true;
    accounts_move(s->accounts, head, 1);
    const bool may = sched_may(s, j);
    accounts_move(s->accounts, head, -1);
    return may;
}

/* Start whoever does not delay the head. What has no room is tried once for each request shape,
 * until something is given back. */
static void walk_queue(struct sched *s, struct job *head, simtime now, simtime when,
                       struct reservation *reserved)
{
    struct job *j;
    size_t full = head->row.walltime != JOB_NO_TIME; /* shapes without room; the head's is one */
    head->shape->no_room = ++s->walk;
    waitlist_walk(&s->queue);
    while (full < s->shapes && (j = waitlist_step(&s->queue))) {
        int group;
        if (j == head) continue;
        if (!sched_may(s, j)) {
            waitlist_leave(&s->queue);
            continue;
        }
        const bool leaps = elastic_leaps(s->plan, j);
        if (j->row.walltime == JOB_NO_TIME || (j->shape->no_room == s->walk && !leaps)) continue;
        if (!sched_place_now(s, j, &group)) {
            if (leaps) continue;
            j->shape->no_room = s->walk;
            full++;
            continue;
        }
        if (sched_makes(s, &s->pick) + job_limit(j) > when - now) {
            if (!may_beside(s, head, j) || !place_beside(s, head, reserved, j, &group)) {
                elastic_be(j, 0);
                continue;
            }
            const struct place_request request = sched_request(s->plan, j, group);
            cluster_take(s->then, &request, &s->pick);
            j->expected = true;
        } else {
            const struct place_request request = sched_request(s->plan, j, group);
            cluster_prefer_taken(s->cluster, s->then, &request, &s->pick);
            vec_push(&s->brief, j);
        }
        sched_start_at(s, j, group);
        if (!s->needs_run) continue;
        s->walk++; /* it ended at once: there may be room again */
        full = 0;
    }
}

/* Cards are out of service, and every running job has been played to its end? */
static bool is_short(struct sched *s)
{
    const struct job *last = RB_MAX(releases, &s->running);
    int64_t out = 0;
    for (size_t g = 0; g < s->plan->n_groups; g++) out += cluster_cards_out(s->cluster, g);
    return out > 0 && (!last || last->limit_end != SIM_NEVER);
}

void sched_easy(struct sched *s, simtime now)
{
    struct job *head = sched_head(s);
    struct reservation r = { 0 };
    if (!head) return;
    if (s->candidates == (head->row.walltime != JOB_NO_TIME))
        return; /* nobody behind could prove it */
    size_t back = 0;
    s->walking = true;
    suppose_made(s, now, true);
    if (reserve(s, head, now, &r, &back)) {
        walk_queue(s, head, now, r.when, &r);
        const struct place_request request = sched_request(s->plan, head, r.group);
        cluster_give(s->then, &request, &r.pick);
    } else if (is_short(s)) {
        /* When the cards that are out come back is not known; until then nobody delays the head. */
        walk_queue(s, head, now, SIM_NEVER, NULL);
    }
    while (back > 0) sched_come_back(s, &s->comeback.v[--back], false);
    for (size_t i = 0; i < s->released.n; i++) sched_expect(s, s->released.v[i], true);
    for (size_t i = 0; i < s->brief.n; i++)
        if (s->brief.v[i]->state < JOB_COMPLETED) sched_expect(s, s->brief.v[i], true);
    s->released.n = s->brief.n = 0;
    s->walking = false;
    sched_untry(s);
    suppose_made(s, now, false);
    vec_fini(&r.pick.card);
}
