/* engine/sched_inside.h - the scheduler's own state, shared by its parts: sched.c (queue,
 * starts, greedy), sched_easy.c, sched_reserve.c (conservative backfill), sched_repair.c,
 * sched_preempt.c, sched_replace.c, sched_reclaim.c, sched_migrate.c, sched_elastic.c. For these
 * files only. */
#ifndef GPUSIM_ENGINE_SCHED_INSIDE_H
#define GPUSIM_ENGINE_SCHED_INSIDE_H

#include "engine/sched.h"
#include "engine/waitlist.h"

static inline int releases_compare(const struct job *a, const struct job *b)
{
    if (a->limit_end != b->limit_end) return a->limit_end < b->limit_end ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}
RB_HEAD(releases, job);
TREE_GENERATE(releases, job, releasing, releases_compare)

/* A place that was found for a job. */
struct placed {
    struct job *job;
    int group, size; /* size: of an elastic job */
    struct pick pick;
};

/* A card, or a node, that is expected back in service. */
struct comeback {
    simtime at;
    int32_t node; /* -1: a card */
    uint32_t card;
};

struct profile;

struct sched {
    const struct plan *plan;
    struct cluster *cluster;
    struct sched_calls call;
    void *ctx;
    struct order_view view;
    struct waitlist queue;
    struct accounts *accounts; /* NULL: neither quotas nor an order that ranks accounts */
    struct releases running;   /* by the end that limits promise; kept only for who looks at it */
    uint64_t waiting;
    uint64_t waiting_without_cards;
    uint64_t candidates; /* those of them that may overtake */
    bool needs_run;
    simtime reordered; /* orders with a period: when accounts were ranked */
    struct pick pick;
    struct place_request *request; /* scratch, by group */
    bool *allowed;                 /* scratch, by group */
    VEC(struct job *) list;        /* scratch */
    /* A copy of the fleet on which promised ends, or preemptions, are tried out and taken back. */
    struct cluster *then;
    struct pick then_pick, then_place; /* scratch */
    VEC(struct job *) released;        /* running, but taken off the copy for now */
    VEC(struct job *) brief; /* started, not on the copy yet: they end before the reservation */
    VEC(uint32_t) making;    /* cards whose planned instances are there by `made` */
    simtime made;
    VEC(uint32_t) tried; /* cards of the copy on which somebody was tried */
    bool walking;
    bool starting; /* as moves were tried last, somebody in the way was still starting up */
    uint64_t walk; /* number of the walk through the queue */
    size_t full;   /* greedy: shapes that met a lack of room in this walk */
    size_t shapes; /* request shapes of the candidates */
    VEC(struct placed) placed; /* preemption: who starts; entries beyond n_placed keep memory */
    size_t n_placed;
    const struct job *worst; /* the running job of largest rank */
    size_t heap; /* `list`: so many are a heap, largest rank first; behind it they are sorted */
    bool heaped;
    bool look_over;            /* the job of `look` is gone */
    simtime look;              /* when a running job's rank changes by itself; SIM_NEVER */
    VEC(struct job *) elastic; /* running jobs that may be resized */
    struct profile *profile;   /* conservative */
    VEC(struct repair) repair;
    VEC(struct comeback) comeback; /* scratch: by time */
};

/* Smaller goes first. A service stands: its replicas go before all jobs, and no job takes their
 * place. */
static inline int64_t sched_rank(const struct sched *s, const struct job *j)
{
    return j->replica ? INT64_MIN : s->plan->order->rank(&s->view, j);
}

/* What making instances adds to the time that a job is taken to hold its cards: nothing where
 * jobs are killed at their limits, which count from when they come onto their cards. */
static inline simtime sched_makes(const struct sched *s, const struct pick *p)
{
    return s->plan->limits_kill ? 0 : p->prepare;
}

/* Find a place: in the first group that has one now, or where the placement likes it best.
 * `allowed`, by group, may be NULL: all. */
bool sched_place(const struct sched *s, const struct cluster *c, const struct job *j,
                 const bool *allowed, int *group, struct pick *out);
/* The waiting job starts where s->pick says. */
void sched_start_at(struct sched *s, struct job *j, int group);
void sched_enqueue(struct sched *s, struct job *j);
void sched_leave(struct sched *s, struct job *j);
/* Does its quota let it start now? */
bool sched_may(const struct sched *s, const struct job *j);
/* Are all its cards in service? Who is on one that is out stays there until it ends. */
bool sched_is_in_service(const struct sched *s, const struct job *j);
/* The job comes onto the copy of the fleet, or leaves it. */
void sched_expect(struct sched *s, struct job *j, bool there);

/* The same, and for the quotas. */
void sched_suppose(struct sched *s, struct job *j, bool there);
/* Somebody is tried on the copy. Once all have been given back and everybody is where he is, or
 * all are there on the fleet too, it gets the fleet's free instances again, of which the tried
 * may have taken the place. */
void sched_try(struct sched *s, const struct place_request *r, const struct pick *p);
void sched_untry(struct sched *s);
/* For the quotas alone: its GPUs are in use (1), or not any more (-1). */
static inline void sched_count(struct sched *s, const struct job *j, int sign)
{
    if (s->accounts) accounts_hold(s->accounts, j->account, sign * (int64_t)j->gpus_milli);
}
/* Preemption: nobody else of the job's account is looked at in this walk; is this one of them? */
static inline void sched_hold_account(struct sched *s, const struct job *j)
{
    s->accounts->of.v[j->account].held = s->walk;
}
static inline bool sched_is_held(const struct sched *s, const struct job *j)
{
    return s->accounts && s->accounts->of.v[j->account].held == s->walk;
}

/* As sched_place() on the fleet as it is, into s->pick; an elastic job takes the best size that
 * fits. */
bool sched_place_now(struct sched *s, struct job *j, int *group);
/* Elastic jobs grow when nobody waits, or make room. True: now the head of the queue fits. */
bool sched_resize(struct sched *s);
void sched_elastic_note(struct sched *s, struct job *j, bool starts);

/* What is expected back, into s->comeback, and on the copy of the fleet: it is there, or it is
 * out as it is. */
void sched_comebacks(struct sched *s, simtime now);
void sched_come_back(struct sched *s, const struct comeback *c, bool there);
void sched_easy(struct sched *s, simtime now);
/* Make room for the head of the queue by moving running jobs, and start it. False: nothing
 * changed. */
bool sched_migrate(struct sched *s, struct job *head);
/* Accounts take back what they have lent, for their first waiting jobs. */
void sched_reclaim(struct sched *s);
void sched_preempt(struct sched *s);
void sched_replace(struct sched *s);
/* Preemption: s->look, when the rank of a running job next grows by itself. */
void sched_look_ahead(struct sched *s);
void sched_reserve(struct sched *s);
/* NULL, or why the job that comes now is turned away by its deadline. */
const char *sched_admit(struct sched *s, struct job *newcomer, simtime now);
void sched_reserve_fini(struct sched *s);

#endif
