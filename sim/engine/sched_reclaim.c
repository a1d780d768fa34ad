/* Lent quota is taken back ("reclaim": "always"): when the first waiting job of an account would
 * be within the account's own quota, but others of its cohort have borrowed too much, running
 * jobs of those borrowers are stopped - the one that came onto its cards last goes first - until
 * the job may start and has a place. Of these, those that need not go stay. If it could not
 * start even without all of them, nobody is stopped. (Kueue's reclaimWithinCohort: Any.) Asked
 * anew whenever a job came, one gave back or one started (then another is the first of its
 * account). Those who are stopped wait again, as after preemption, and accounts whose next job
 * would borrow wait behind all others, so that they do not take the room back at once.
 *
 * Complexity: a look at each account at an instant at which somebody waits; where quota is to be
 * taken back, a sort of the running jobs and as many placement queries as there are jobs of
 * borrowers. */
#include "engine/sched_inside.h"

#include <stdlib.h>

static int last_first(const void *a, const void *b)
{
    const struct job *x = *(struct job *const *)a, *y = *(struct job *const *)b;
    if (x->allocated != y->allocated) return x->allocated > y->allocated ? -1 : 1;
    return (x->order < y->order) - (x->order > y->order);
}

static bool fits(struct sched *s, const struct job *j, int *group)
{
    return sched_may(s, j) && sched_place(s, s->then, j, NULL, group, &s->then_place);
}

/* Who runs on what its account has borrowed of the cohort. */
static void borrowers(struct sched *s, const struct job *head)
{
    const int cohort = s->accounts->of.v[head->account].quota->cohort;
    struct job *j;
    s->list.n = 0;
    RB_FOREACH(j, releases, &s->running)
    {
        const struct quota *q = s->accounts->of.v[j->account].quota;
        if (q && q->cohort == cohort && j->account != head->account && !j->replica && j->expected &&
            j->gpus_milli > 0)
            vec_push(&s->list, j);
    }
    if (s->list.n > 1) qsort(s->list.v, s->list.n, sizeof *s->list.v, last_first);
}

static bool take_back(struct sched *s, struct job *head, int *group)
{
    bool done = false;
    s->released.n = 0;
    borrowers(s, head);
    for (size_t i = 0; i < s->list.n && !done; i++) {
        struct job *j = s->list.v[i];
        if (!accounts_borrows(s->accounts, j->account)) continue;
        sched_suppose(s, j, false);
        vec_push(&s->released, j);
        done = fits(s, head, group);
    }
    for (size_t k = s->released.n; k-- > 0;) {
        struct job *j = s->released.v[k];
        sched_suppose(s, j, true);
        if (done && !fits(s, head, group)) sched_suppose(s, j, false);
    }
    return done && fits(s, head, group); /* the last question may have been a failed one */
}

static void carry_out(struct sched *s, struct job *head, int group)
{
    for (size_t i = 0; i < s->released.n; i++) {
        struct job *j = s->released.v[i];
        if (j->expected) continue;
        sched_count(s, j, 1); /* it goes in earnest */
        s->call.stop(s->ctx, j);
        j->rank = sched_rank(s, j);
        sched_enqueue(s, j);
    }
    const struct pick scratch = s->pick;
    s->pick = s->then_place;
    s->then_place = scratch;
    s->pick.prepare = cluster_prepare(s->cluster, group, &s->pick);
    sched_start_at(s, head, group);
}

void sched_reclaim(struct sched *s)
{
    int group;
    for (uint32_t i = 0; i < s->accounts->of.n; i++) {
        struct job *j;
        while ((j = waitlist_lane(&s->queue, i)->first) && !sched_may(s, j) &&
               accounts_owns(s->accounts, i, j->gpus_milli) && take_back(s, j, &group))
            carry_out(s, j, group);
    }
    s->released.n = 0;
}
