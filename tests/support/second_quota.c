/* Quotas of accounts, of the second engine: from the heads of engine/accounts.h, engine/sched.h and
 * engine/sched_reclaim.c. What an account has is added up from who is where whenever somebody
 * asks. */
#include "support/second_inside.h"

#include <stdio.h>

static const struct quota *quota_of_user(const struct engine *e, int user)
{
    char name[16];
    snprintf(name, sizeof name, "u%d", user);
    return quota_of(&e->plan->accounts, name);
}

static int64_t has(const struct engine *e, const struct view *v, int user)
{
    int64_t sum = 0;
    for (int k = 0; k < v->n; k++)
        if (e->life[v->job[k]].job->user == user) sum += e->life[v->job[k]].job->gpus_milli;
    return sum;
}

/* All that its cohort owns; a quota's own where it has none. */
static int64_t owned(const struct engine *e, const struct quota *q)
{
    int64_t sum = 0;
    for (int user = 0; user < SECOND_USERS && q->cohort >= 0; user++) {
        const struct quota *other = quota_of_user(e, user);
        if (other && other->cohort == q->cohort) sum += other->own_milli;
    }
    return q->cohort >= 0 ? sum : q->own_milli;
}

static int64_t most(const struct engine *e, const struct quota *q)
{
    const int64_t lent = owned(e, q) - q->own_milli;
    return q->own_milli + (q->borrow_milli < lent ? q->borrow_milli : lent);
}

bool second_refuses(const struct engine *e, int job)
{
    const struct second_job *j = e->life[job].job;
    const struct quota *q = quota_of_user(e, j->user);
    return q && j->gpus_milli > most(e, q);
}

bool second_may(const struct engine *e, const struct view *v, int job)
{
    const struct second_job *j = e->life[job].job;
    const struct quota *q = quota_of_user(e, j->user);
    int64_t used = 0;
    if (!q || j->gpus_milli == 0) return true;
    if (has(e, v, j->user) + j->gpus_milli > most(e, q)) return false;
    for (int user = 0; user < SECOND_USERS && q->cohort >= 0; user++) {
        const struct quota *other = quota_of_user(e, user);
        if (other && other->cohort == q->cohort) used += has(e, v, user);
    }
    return q->cohort < 0 || used + j->gpus_milli <= owned(e, q);
}

bool second_borrows(const struct engine *e, const struct view *v, int user, int64_t milli)
{
    const struct quota *q = quota_of_user(e, user);
    return q && q->cohort >= 0 && has(e, v, user) + milli > q->own_milli;
}

static bool fits(const struct engine *e, const struct view *v, int job, struct place *at)
{
    return second_may(e, v, job) && second_find(e, v, NULL, job, e->like, at);
}

/* Of the borrowers in its cohort who came onto its cards last, before those who are off; -1. */
static int last_borrower(const struct engine *e, const struct view *v, int job, const bool *asked)
{
    const int user = e->life[job].job->user;
    int last = -1;
    for (int k = 0; k < v->n; k++) {
        const struct life *l = &e->life[v->job[k]];
        const struct quota *q = quota_of_user(e, l->job->user);
        if (asked[v->job[k]] || l->job->user == user || l->job->gpus_milli == 0 || !q ||
            q->cohort != quota_of_user(e, user)->cohort)
            continue;
        if (last < 0 || l->allocated > e->life[last].allocated ||
            (l->allocated == e->life[last].allocated && v->job[k] > last))
            last = v->job[k];
    }
    return last;
}

/* The job starts, and those go whose quota it was. */
static bool take_back(struct engine *e, int job)
{
    struct view then = e->now;
    bool asked[SECOND_JOBS] = { false }, done = false;
    int off[SECOND_JOBS], n = 0, j;
    struct place at;
    while (!done && (j = last_borrower(e, &then, job, asked)) >= 0) {
        asked[j] = true;
        if (!second_borrows(e, &then, e->life[j].job->user, 0)) continue;
        second_drop(&then, j);
        off[n++] = j;
        done = fits(e, &then, job, &at);
    }
    if (!done) return false;
    for (int k = n; k-- > 0;) {
        second_put(&then, off[k], &e->life[off[k]].at);
        if (fits(e, &then, job, &at))
            off[k] = -1;
        else
            second_drop(&then, off[k]);
    }
    fits(e, &then, job, &at);
    for (int k = 0; k < n; k++)
        if (off[k] >= 0) second_stop(e, off[k]);
    second_start(e, job, &at);
    return true;
}

/* The first that waits of the user; -1. */
static int first_of(struct engine *e, int user)
{
    for (int j = second_next(e, -1); j >= 0; j = second_next(e, j))
        if (e->life[j].job->user == user) return j;
    return -1;
}

void second_reclaim(struct engine *e)
{
    for (int i = 0; i < e->n_accounts; i++) {
        const int user = e->account[i];
        int job;
        while ((job = first_of(e, user)) >= 0 && !second_may(e, &e->now, job) &&
               quota_of_user(e, user)->cohort >= 0 &&
               !second_borrows(e, &e->now, user, e->life[job].job->gpus_milli) &&
               take_back(e, job)) {}
    }
}
