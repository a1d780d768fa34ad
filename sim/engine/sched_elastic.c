/* Elastic jobs: who starts with fewer cards than it asks for, and, where the schedule resizes, who
 * goes on with more or fewer. A job that is resized keeps its work, leaves its cards and starts on
 * the new ones, which costs it `restart`.
 *
 * A waiting job is tried at the cards it asks for, then at each smaller size; at its largest
 * first when it waits alone and could grow anyway. Under EASY the largest that has room now is
 * asked beside the reservation, no smaller one. When somebody waits whom no size lets start, the
 * running elastic jobs, the last in the order first, give up cards one size at a time, in turns,
 * until the first waiting job fits; if it does not fit even then, they keep them. When nobody
 * waits they grow, the first in the order first, one size at a time, in turns, as long as there
 * are cards and the time they save is more than the restart costs. Quotas count what jobs have.
 * The order is that of the ranks with which they last began to wait; where the order preempts,
 * of their ranks of now.
 *
 * All of it is tried on the copy of the fleet and undone; then the jobs that change are stopped
 * together and started together. Complexity: elastic jobs x sizes placement queries at an instant
 * at which somebody waits or cards are free; nothing for runs without elastic jobs. */
#include "engine/elastic.h"
#include "engine/sched_inside.h"

#include "base/err.h"

#include <stdlib.h>

/* What a job that may change is to have. */
struct resize {
    struct job *job;
    int size;
    struct pick pick; /* on `size` */
    int group;
};

/* ---- starts ---- */

static bool fits_quota(const struct sched *s, const struct job *j)
{
    return !s->accounts || accounts_allow(s->accounts, j->account, j->gpus_milli);
}

bool sched_place_now(struct sched *s, struct job *j, int *group)
{
    if (!j->n_sizes) return sched_place(s, s->cluster, j, NULL, group, &s->pick);
    const bool alone = s->waiting == 1 && s->plan->elastic.how == ELASTIC_RESIZE;
    for (int i = j->n_sizes - 1; i >= 0; i--) {
        elastic_be(j, i);
        if (!alone && i > 0 && j->gpus_milli > j->row.gpus_milli) continue;
        if (fits_quota(s, j) && sched_place(s, s->cluster, j, NULL, group, &s->pick)) return true;
    }
    return false; /* it is its smallest again */
}

/* ---- who runs and could change ---- */

static int in_order(const void *a, const void *b)
{
    return waitlist_compare(((const struct resize *)a)->job, ((const struct resize *)b)->job);
}

/* Running elastic jobs, in the order of the queue. */
static size_t candidates(struct sched *s, struct resize **out)
{
    size_t n = 0;
    struct resize *list = xcalloc(s->elastic.n + 1, sizeof *list);
    for (size_t i = 0; i < s->elastic.n; i++) {
        struct job *j = s->elastic.v[i];
        if (j->state != JOB_RUNNING) continue; /* it is starting up: not in the middle of that */
        if (s->plan->preempts) j->rank = sched_rank(s, j);
        list[n] = (struct resize){ .job = j, .size = j->at_size, .group = j->group };
        sched_pick_of(j, &list[n].pick);
        n++;
    }
    qsort(list, n, sizeof *list, in_order);
    *out = list;
    return n;
}

static void forget(struct resize *list, size_t n)
{
    for (size_t i = 0; i < n; i++) vec_fini(&list[i].pick.card);
    free(list);
}

/* The request of a size of the job, on the group it would be on. */
static struct place_request request_of(const struct sched *s, struct resize *r, int size)
{
    elastic_be(r->job, size);
    return sched_request(s->plan, r->job, r->group);
}

static void quota_hold(struct sched *s, const struct job *j, int64_t milli)
{
    if (s->accounts) accounts_hold(s->accounts, j->account, milli);
}

static int32_t gpus_of(const struct resize *r, int size)
{
    return r->job->size[size].shape->request.gpus_milli;
}

/* Put the copy of the fleet, and the sizes of the jobs, back as they are. */
static void undo(struct sched *s, struct resize *list, size_t n, const int *was)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i].size != was[i]) {
            struct place_request r = request_of(s, &list[i], list[i].size);
            cluster_give(s->then, &r, &list[i].pick);
        }
    }
    for (size_t i = 0; i < n; i++) {
        struct job *j = list[i].job;
        elastic_be(j, was[i]);
        if (list[i].size == was[i]) continue;
        struct place_request r = sched_request(s->plan, j, j->group);
        sched_pick_of(j, &s->then_pick);
        cluster_take(s->then, &r, &s->then_pick);
        quota_hold(s, j, gpus_of(&list[i], was[i]) - gpus_of(&list[i], list[i].size));
    }
    sched_untry(s);
}

/* Stop those that change, then start them as planned. */
static void carry_out(struct sched *s, struct resize *list, size_t n, const int *was)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].size != was[i]) s->call.resize(s->ctx, list[i].job);
    s->needs_run = false; /* what they gave back is already spoken for */
    for (size_t i = 0; i < n; i++) {
        struct job *j = list[i].job;
        if (list[i].size == was[i]) continue;
        elastic_be(j, list[i].size);
        j->resizes++;
        j->group = list[i].group;
        const struct place_request r = sched_request(s->plan, j, j->group);
        list[i].pick.prepare = cluster_prepare(s->cluster, j->group, &list[i].pick);
        cluster_take(s->cluster, &r, &list[i].pick);
        s->call.start(s->ctx, j, &list[i].pick);
    }
}

/* ---- fewer ---- */

/* One size less, on the first of its cards. */
static void shrink(struct sched *s, struct resize *r)
{
    struct place_request request = request_of(s, r, r->size);
    cluster_give(s->then, &request, &r->pick);
    quota_hold(s, r->job, gpus_of(r, r->size - 1) - gpus_of(r, r->size));
    r->size--;
    request = request_of(s, r, r->size);
    r->pick.card.n = (size_t)request.demand->cards;
    sched_try(s, &request, &r->pick);
}

/* Make room for `j`, which has none. True: some jobs gave up cards, and it fits. */
static bool make_room(struct sched *s, struct job *j)
{
    struct resize *list;
    struct pick place = { 0 };
    const size_t n = candidates(s, &list);
    int *was = xcalloc(n + 1, sizeof *was), group;
    bool fits = false, shrank = true;
    for (size_t i = 0; i < n; i++) was[i] = list[i].size;
    while (!fits && shrank) {
        shrank = false;
        for (size_t i = n; i-- > 0 && !fits;) {
            /* Its group on the fleet must have fit the smaller size as well. */
            if (list[i].size == 0 ||
                !list[i].job->size[list[i].size - 1].shape->fit[list[i].group].feasible)
                continue;
            shrink(s, &list[i]);
            shrank = true;
            fits = fits_quota(s, j) && sched_place(s, s->then, j, NULL, &group, &place);
        }
    }
    undo(s, list, n, was);
    if (fits) carry_out(s, list, n, was);
    forget(list, n);
    free(was);
    vec_fini(&place.card);
    return fits;
}

/* ---- more ---- */

/* Is it done sooner with the next size, all told? The first step costs the restart of all. */
static bool pays(const struct sched *s, const struct resize *r, int was)
{
    const double left = (double)job_remaining(r->job, s->view.now);
    const struct elastic_size *size = r->job->size;
    return left * (size[r->size].stretch - size[r->size + 1].stretch) >
           (r->size == was ? (double)s->plan->restart : 0);
}

static bool grow(struct sched *s, struct resize *r)
{
    struct pick place = { 0 };
    struct place_request request = request_of(s, r, r->size);
    int group = -1;
    const int32_t more = gpus_of(r, r->size + 1) - gpus_of(r, r->size);
    if (s->accounts && !accounts_allow(s->accounts, r->job->account, more)) return false;
    cluster_give(s->then, &request, &r->pick);
    elastic_be(r->job, r->size + 1);
    const bool fits = sched_place(s, s->then, r->job, NULL, &group, &place);
    if (fits) {
        quota_hold(s, r->job, more);
        vec_fini(&r->pick.card);
        r->size++;
        r->pick = place;
        r->group = group;
    } else {
        vec_fini(&place.card);
    }
    request = request_of(s, r, r->size);
    sched_try(s, &request, &r->pick);
    return fits;
}

static void grow_all(struct sched *s)
{
    struct resize *list;
    const size_t n = candidates(s, &list);
    int *was = xcalloc(n + 1, sizeof *was);
    bool grew = true, any = false;
    for (size_t i = 0; i < n; i++) was[i] = list[i].size;
    while (grew) {
        grew = false;
        for (size_t i = 0; i < n; i++)
            if (list[i].size + 1 < list[i].job->n_sizes && pays(s, &list[i], was[i]) &&
                grow(s, &list[i]))
                grew = any = true;
    }
    undo(s, list, n, was);
    if (any) carry_out(s, list, n, was);
    forget(list, n);
    free(was);
}

/* ---- the instant ---- */

bool sched_resize(struct sched *s)
{
    struct job *head;
    if (s->plan->elastic.how != ELASTIC_RESIZE || s->elastic.n == 0) return false;
    if (s->waiting == 0) {
        grow_all(s);
        return false;
    }
    return (head = sched_head(s)) && make_room(s, head);
}

void sched_elastic_note(struct sched *s, struct job *j, bool starts)
{
    if (!j->n_sizes || s->plan->elastic.how != ELASTIC_RESIZE) return;
    if (starts) {
        vec_push(&s->elastic, j);
        return;
    }
    size_t i = 0;
    while (i < s->elastic.n && s->elastic.v[i] != j) i++;
    BUG_ON(i == s->elastic.n);
    s->elastic.v[i] = s->elastic.v[--s->elastic.n];
}
