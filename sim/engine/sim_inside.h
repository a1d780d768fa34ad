/* engine/sim_inside.h - a run's own state, shared by its parts: sim.c (the loop), sim_arrive.c,
 * sim_start.c, sim_finish.c, sim_vain.c (what faults keep from its end), sim_replicas.c (of
 * services), sim_sample.c, sim_totals.c (the end). For these files only.
 *
 * Errors: sim_fail() keeps the first and ends the loop; nothing here returns one.
 * Threads: one run, one thread. */
#ifndef GPUSIM_ENGINE_SIM_INSIDE_H
#define GPUSIM_ENGINE_SIM_INSIDE_H

#include "engine/carve.h"
#include "engine/residents.h"
#include "engine/sched.h"
#include "engine/service.h"
#include "engine/sim.h"
#include "engine/source.h"

enum kind {
    KIND_CARD_FINISH, /* arg: card */
    KIND_JOB_FINISH,  /* arg: job without cards */
    KIND_ARRIVAL,
    KIND_READY,  /* arg: job; its instances exist, its library is up */
    KIND_GROW,   /* arg: job; allocates its footprint */
    KIND_LIMIT,  /* arg: job; its limit kills it */
    KIND_LOOK,   /* the order changes by itself */
    KIND_PLAN,   /* layouts of the next period */
    KIND_CARVED, /* arg: card; its planned instances exist */
    KIND_WARM,   /* statistics start here */
    KIND_SAMPLE,
    KIND_MARK,    /* end of a batch of the last quarter */
    KIND_UNIT,    /* arg: card or node that fails or comes back */
    KIND_CHANGE,  /* arg: change of the fleet */
    KIND_CRASH,   /* arg: job; its program fails */
    KIND_STOP,    /* the horizon */
    KIND_SERVICE, /* and those above: events of services */
};

struct run {
    const struct plan *plan;
    const struct sim_options *opt;
    struct sim_totals *out;
    struct symtab *names;
    struct source *source;
    struct job_row next; /* the next arrival; lent by the source */
    bool more;           /* there is one */
    struct job_pool *pool;
    struct shape_table *shapes;
    struct cluster *cluster;
    struct residents *residents;
    struct sched *sched;
    struct outages *outages; /* NULL: nothing goes out */
    struct services *services;
    struct carver *carver; /* planned layouts; NULL: none */
    ev_id planning;        /* the next plan */
    struct evq *q;
    ev_id look;
    struct pick pick;            /* scratch */
    VEC(struct job *) ended;     /* at this instant, for the sinks */
    VEC(struct job *) preempted; /* at this instant, where cards can leave for good */
    struct job_list done;        /* scratch: jobs a card has finished */
    bool stopped, warm, warned;
    simtime now;
    uint64_t order;
    /* conservation */
    uint64_t submitted, left, present;
    wide present_ns, stay_ns, waiting_ns;
    /* sampling */
    simtime sampled, interval;
    uint64_t samples;
    wide (*before)[METERS]; /* integrals at the last sample, per group */
    int mark;
    wide mark_ns;
    uint64_t frag_seen, frag_stride, frag_made;
    double frag_sum; /* after the warm-up, of frag_summed samples */
    uint64_t frag_summed;
    /* faults in a row that brought nobody further, and what was known after the last
     * (sim_vain.c) */
    uint64_t in_vain, progress, struck;
    uint64_t looks; /* in a row, at a run that stands still */
    bool vain_told;
    int rc;
    struct err *e;
};

static inline simtime sim_horizon(const struct run *r)
{
    return r->plan->scenario->horizon == CFG_NO_TIME ? SIM_NEVER : r->plan->scenario->horizon;
}

/* The clock stops short of SIM_NEVER, 292 years after time zero. */
static inline simtime sim_later(simtime now, simtime delay)
{
    return delay < SIM_NEVER - now ? now + delay : SIM_NEVER - 1;
}

static inline void sim_fail(struct run *r, int rc)
{
    if (r->rc == 0) r->rc = rc;
    r->stopped = true;
}

/* ---- sim_arrive.c ---- */

void sim_fetch(struct run *r); /* the next row, and an event for it */
void sim_arrive(struct run *r);
void sim_warn_of_quotas(const struct run *r); /* after the last arrival */

/* ---- sim_start.c ---- */

void sim_begin(struct run *r, struct job *j); /* its first work, or what is left of it */
/* sched_calls */
void sim_start(void *ctx, struct job *j, const struct pick *p);
void sim_lift(void *ctx, struct job *j);
void sim_set_down(void *ctx, struct job *j, const struct pick *p);

/* ---- sim_finish.c ---- */

void sim_finish(struct run *r, struct job *j);
void sim_out_of_memory(struct run *r, struct job *j);
void sim_killed(struct run *r, struct job *j);
/* it leaves its cards and the events that are about it */
void sim_release(struct run *r, struct job *j);
void sim_end_job(struct run *r, struct job *j, enum job_state state);
/* sched_calls */
void sim_stop(void *ctx, struct job *j);
void sim_resize(void *ctx, struct job *j);
void sim_drop(void *ctx, struct job *j);
/* outage_env */
void sim_strike(void *ctx, struct job *j);
void sim_gone(void *ctx, struct job *j);
/* It waits, and need not any longer. */
void sim_give_up(struct run *r, struct job *j, const char *why);
/* Who was preempted in this instant from cards that leave for good. */
void sim_settle_preempted(struct run *r);
/* The sinks. */
int sim_by_order(const void *a, const void *b); /* of struct job *, as they arrived */
void sim_tell_stay(struct run *r, const struct job *j);
void sim_tell_job(struct run *r, const struct job *j);
void sim_tell_ended(struct run *r); /* who ended in this instant; they are gone */

/* ---- sim_vain.c ---- */

void sim_after_fault(struct run *r);
/* Nothing has come of more faults in a row than any work is left to meet. */
bool sim_in_vain(const struct run *r);
/* Somebody waits, or has died and is started again. True: who can never run was given up. */
bool sim_after_look(struct run *r);
/* Told once in a run. The job's reason; the service's replicas leave for good. */
const char *sim_vain_job(struct run *r, const struct job *j);
void sim_vain_service(struct run *r, const struct job *j);

/* ---- sim_replicas.c ---- */

void sim_set_up_services(struct run *r);
/* A run without a horizon whose jobs wait for nothing but idle services. True: those went. */
bool sim_services_make_way(struct run *r);

/* ---- sim_sample.c ---- */

void sim_sample(struct run *r);
void sim_warm(struct run *r);
simtime sim_mark_time(const struct run *r, int i);
void sim_mark(struct run *r);

/* ---- sim_totals.c ---- */

void sim_tell_unfinished(struct run *r);
void sim_check_conservation(struct run *r);
void sim_total_up(struct run *r);

#endif
