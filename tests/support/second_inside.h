/* tests/support/second_inside.h - the second engine's own state, shared by its files:
 * second_room.c (what is free, where a job would go), second_place.c and second_fgd.c
 * (placements that weigh nodes), second_order.c (who is next), second_promises.c (conservative
 * backfill), second_preempt.c and second_engine.c (who starts, progress, time). */
#ifndef GPUSIM_TESTS_SECOND_INSIDE_H
#define GPUSIM_TESTS_SECOND_INSIDE_H

#include "support/second_engine.h"

#define GROUPS 4

/* Which card, or for whole cards which node. */
enum second_like { SECOND_TIGHTEST, SECOND_FIRST, SECOND_LOOSEST };

/* Where a job is: cards ascending. */
struct place {
    int group, n, node; /* node: of a job without cards */
    int card[SECOND_CARDS];
    struct mig_slice slice; /* profile -1: none */
};

/* What a job is to a group of cards. */
struct wish {
    bool possible; /* on an empty group */
    struct demand demand;
    struct signature sig;
    double transfer;
};

enum { SECOND_SIZES = 20, SECOND_STAYS = 4096 };

/* A number of cards on which an elastic job can work. */
struct size {
    int32_t gpus_milli, cpus_milli;
    double stretch; /* its time there / on those it asks for */
    struct wish wish[GROUPS];
};

struct life {
    struct second_job *job;
    struct wish wish[GROUPS];
    struct size size[SECOND_SIZES];
    /* 0: rigid; job and wish are as at_size says; on its cards held_size */
    int n_sizes, at_size, held_size;
    int32_t asked_milli, asked_cpus;
    struct wish asked[GROUPS]; /* as what it asks for */
    double scale;              /* line of its work there / recorded */
    int64_t rank;
    bool came; /* and there were cards to wait for */
    /* on: holds its cards; working: past its start-up, memory allocated */
    bool waiting, on, working;
    struct place at;
    simtime allocated, ready, promised, finish;
    simtime from;        /* recorded work that it had to do as it came onto its cards */
    simtime excused;     /* pauses of its moves */
    simtime remaining;   /* recorded work that is not safe: when it last began to wait */
    simtime line;        /* that, and its pauses for checkpoints: when it came onto its cards */
    simtime held;        /* time on its cards in earlier attempts */
    int sequence;        /* of its start among all */
    bool evicted;        /* it is to go, unless its place stays free */
    long double left;    /* of the line, isolated ns */
    double speed, wires; /* wires: factor of it, a gang across domains or racks */
    uint64_t bytes;      /* allocated on each of its cards */
};

/* Jobs of one class of fgd's mix: one of them, and how many. */
struct alike {
    int job, jobs;
};

/* A stretch of time in which a user had GPUs. */
struct stretch {
    int32_t user, gpus_milli;
    simtime from, until;
};

/* Who holds what: of the fleet now, or as it is expected to be. */
struct view {
    bool bare, later; /* MIG: no card has an instance yet; what is being made is there */
    int n, job[SECOND_JOBS];
    struct place at[SECOND_JOBS];
    simtime by; /* what is expected back by then serves; 0: what serves now; SIM_NEVER: all */
};

struct room {
    int units, tenants;
    uint64_t bytes;
    uint32_t owner;
};

/* What must have room: the fleet, and perhaps a second state of it as well. */
struct ask {
    const struct view *v, *beside; /* beside may be NULL */
    int job, group;
    enum second_like like;
};

/* Instances of a card. */
struct carved {
    bool off; /* MIG mode is */
    int n;
    struct {
        struct mig_slice slice;
        bool planned; /* nothing else is made of its units */
        simtime from; /* anybody may have it */
    } made[MIG_MAX_UNITS];
};

struct engine {
    const struct plan *plan;
    struct second_totals *out;
    struct second_faults *faults; /* NULL: nothing ever goes out */
    bool any_node;                /* gangs take cards of any nodes */
    bool on_demand;               /* instances are made so */
    struct carved carved[SECOND_CARDS];
    simtime period;              /* layouts are planned so often; 0: never */
    simtime planned_at, plan_at; /* last, and next */
    bool oracle;                 /* for the jobs to come */
    bool idle_plan;              /* the last was asked for nothing */
    int before_plan;             /* so many starts were before its time was set */
    enum second_like like;
    bool by_node;              /* the placement weighs nodes: second_place.c */
    int tie[SECOND_CARDS * 2]; /* of nodes of equal score the smallest */
    struct life life[SECOND_JOBS];
    int n;
    struct stretch stretch[SECOND_STAYS]; /* that are over */
    int n_stretches;
    double turn[SECOND_USERS]; /* fair: the rank of each user, as it was made last */
    simtime ranked;
    bool fgd;                                         /* the placement: second_fgd.c */
    int submitted[SECOND_JOBS], n_submitted, learned; /* the mix of fgd is of so many */
    struct alike mix[SECOND_JOBS];
    int n_mix;
    struct view now; /* in the order in which they came onto their cards */
    simtime clock;
    int starts, begun; /* the first counts moves as well */
    bool left[SECOND_USERS];               /* out of this walk */
    int account[SECOND_USERS], n_accounts; /* in the order in which they came */
    bool seen[SECOND_JOBS];                /* stepped on in this walk */
    bool failed;                           /* somebody ran out of memory as it started */
    /* somebody came or gave back: a limit that passes is no reason to look at the queue */
    bool news;
};

const struct plan_group *second_group_of_card(const struct engine *e, int card);
bool second_holds_card(const struct place *at, int card);
const struct demand *second_demand_of(const struct engine *e, int job, int group);
struct room second_room_on(const struct engine *e, const struct view *v, int card);
bool second_find(const struct engine *e, const struct view *v, const struct view *beside, int job,
                 enum second_like like, struct place *out);
/* The same in some of the groups. */
bool second_find_among(const struct engine *e, const struct view *v, const struct view *beside,
                       int job, const bool *allowed, enum second_like like, struct place *out);
/* second_order.c: who is next. */
void second_enqueue(struct engine *e, int job); /* it begins to wait */
void second_look(struct engine *e);             /* the queue is looked at */
void second_held(struct engine *e, int job);    /* it has left its cards */
/* who waits next after it (-1: the first); -1: none */
int second_next(const struct engine *e, int job);
/* Through the queue while jobs are taken out, which may change whose turn it is: the first of those
 * not yet stepped on, as the order is now; -1: none. */
void second_walk(struct engine *e);
int second_step(struct engine *e);
void second_leave(struct engine *e, int job); /* its account has no more steps in this walk */
int second_head(struct engine *e);            /* the first that its quota lets start; -1 */
/* second_quota.c: in this view, would the quota of its account have room for the job? */
bool second_may(const struct engine *e, const struct view *v, int job);
bool second_refuses(const struct engine *e, int job); /* whatever others have */
/* Would its account have more than its own quota, in a cohort? */
bool second_borrows(const struct engine *e, const struct view *v, int user, int64_t milli);
/* Lent quota is taken back for first waiting jobs. */
void second_reclaim(struct engine *e);
/* second_admit.c: order deadline: may it wait? */
bool second_admits(struct engine *e, int job);
/* second_mig.c: instances made on demand: one that is there or can be made; how long it takes
 * until the place is as the job needs it; it is taken. */
void second_mig_begin(struct engine *e);
bool second_could_make(const struct engine *e, const struct view *v, int card, int profile);
bool second_instance(const struct engine *e, const struct view *v, int job, int group,
                     struct place *out);
simtime second_prepare(const struct engine *e, const struct place *at);
void second_carve(struct engine *e, const struct place *at);
bool second_overlap(const struct mig_geometry *g, struct mig_slice a, struct mig_slice b);
void second_rules(const struct engine *e, int card, struct instance_rules *r);
bool second_making(const struct engine *e, const struct view *v, int card);
/* second_planned.c: the layouts of all cards anew; when that, or the end of a repartition, is next;
 * one ends now. `arrived`: so many jobs have. */
void second_planned_begin(struct engine *e);
void second_plan(struct engine *e, int arrived);
void second_plan_soon(struct engine *e); /* somebody may wait until the next instant */
simtime second_next_plan(const struct engine *e, int arrived);
bool second_has_made(const struct engine *e);
simtime second_made(const struct engine *e); /* when all are there */
/* By when a job that starts there now is taken to end. */
simtime second_end(const struct engine *e, int job, const struct place *at);
/* second_fgd.c: the score of a node, and for one card which one (its place on the node). */
void second_fgd_submitted(struct engine *e, int job);
double second_fgd(const struct engine *e, const struct view *v, int job, int group, int node,
                  int *card);
/* second_place.c: of all nodes that hold the job the one of the highest score. */
void second_place_begin(struct engine *e);
double second_free_cores(const struct engine *e, const struct view *v, int node, int64_t all);
int second_node_of(const struct engine *e, int card);
bool second_card_holds(const struct engine *e, const struct view *v, int job, int group, int card);
bool second_node_holds(const struct engine *e, const struct view *v, int job, int group, int node,
                       int on_node);
bool second_by_node(const struct engine *e, const struct view *v, int job, const bool *allowed,
                    struct place *out);
void second_put(struct view *v, int job, const struct place *at);
void second_drop(struct view *v, int job);
bool second_holds(const struct engine *e, const struct view *v, int job, const struct place *at);
void second_prefer(const struct engine *e, const struct view *v, const struct view *other,
                   bool room_first, int job, struct place *at);
bool second_find_in(const struct engine *e, const struct ask *a, struct place *out);

/* second_engine.c */
double second_wires(const struct engine *e, const struct place *at); /* factor of a gang's speed */
void second_start(struct engine *e, int job, const struct place *at);
void second_stop(struct engine *e, int job); /* it leaves its cards and waits again */
void second_take_off(struct engine *e, int job);
void second_lift(struct engine *e, int job); /* it moves, with what it has done */
void second_set_down(struct engine *e, int job, const struct place *at);
/* second_defrag.c: the head starts where others make room for it by moving. */
bool second_defrag(struct engine *e, int head);
/* cards for gangs */
int second_eligible_on(const struct engine *e, const struct view *v, int node);
/* second_replace.c: the instant, where all jobs are placed anew. */
void second_replace(struct engine *e);
void second_off(struct engine *e, int job); /* it leaves its cards with all that it has done */
void second_wishes(struct engine *e, int job);
/* second_elastic.c: the sizes of a job that comes, as the smallest of which it waits; it is as
 * one of them says; its limit for the cards it has; a place for the best size that has one; jobs
 * give up cards, or get more. */
void second_sizes(struct engine *e, int job);
void second_be(struct engine *e, int job, int size);
double second_stretch(const struct life *l);
simtime second_limit(const struct engine *e, int job);
bool second_find_size(struct engine *e, const struct view *v, int job, bool more, struct place *at);
bool second_resize(struct engine *e); /* true: the first that waits fits now */
/* second_preempt.c: the instant, where a waiting job may take the place of running ones of larger
 * rank. */
void second_preempt(struct engine *e);
/* Work and pauses that lie before a job that begins to work. */
simtime second_line(const struct engine *e, int job);
/* Work that a job has to do, and what of it would not be lost, as recorded. */
void second_progress(const struct engine *e, int job, simtime *left, simtime *safe);
/* second_order.c: the rank it has now; and when, on its cards, it grows by itself (SIM_NEVER). */
int64_t second_rank(const struct engine *e, int job);
simtime second_falls(const struct engine *e, int job);

/* second_faults.c: what is out of service, and who is struck. Of a card, and of a node with its
 * cores: is it out in that view; when it is expected back: -1: it serves; SIM_NEVER: not known. */
bool second_card_out(const struct engine *e, const struct view *v, int card);
bool second_node_out(const struct engine *e, const struct view *v, int node);
simtime second_card_back(const struct engine *e, int card);
simtime second_node_back(const struct engine *e, int node);
simtime second_next_back(const struct engine *e, simtime after); /* something; SIM_NEVER */
bool second_is_short(const struct engine *e);                    /* cards are out */
void second_fault_begin(struct engine *e);
simtime second_fault_next(const struct engine *e, bool more); /* more: jobs are to come */
void second_fault_instant(struct engine *e);
void second_fault_pass(struct engine *e, simtime to);
void second_fault_started(struct engine *e, int job); /* it has come onto its cards */
bool second_give_up(struct engine *e); /* who waits for what has gone for good; true: some did */

/* Conservative backfill: promises to all who wait, in their order; who is promised "now" starts. */
void second_conservative(struct engine *e);

#endif
