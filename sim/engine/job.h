/* engine/job.h - a job while it is in the system. Plain data, owned by the pool.
 * Threads: one run, one thread. */
#ifndef GPUSIM_ENGINE_JOB_H
#define GPUSIM_ENGINE_JOB_H

#include "base/tree.h"
#include "engine/checkpoint.h"
#include "engine/evq.h"
#include "engine/shape.h"
#include "model/job.h"
#include "model/mig.h"

#include <stddef.h>

enum job_state {
    JOB_QUEUED,
    JOB_STARTING, /* holds its cards; instances are being made or a library starts up */
    JOB_RUNNING,
    JOB_COMPLETED,
    JOB_FAILED,
    JOB_KILLED,
    JOB_REJECTED,
};
extern const char *const job_state_names[];

enum { JOB_ID_INLINE = 40 };

/* What a job holds on one card. */
struct holding {
    uint32_t card;
    struct mig_slice slice; /* instances only; profile -1: none */
    double speed;           /* of this job on this card */
};

/* A number of cards that an elastic job can work on (engine/elastic.h). */
struct elastic_size {
    struct shape *shape;
    double stretch; /* its time on them / on those it asks for */
};

/* What one event of a job touches lies together: a big fleet's jobs are not in any cache, and a
 * line costs as much as all the arithmetic on it. Lines 0 to 4 are all that the end of an
 * ordinary job needs. */
struct job {
    /* line 0: its progress on its cards */
    struct holding *holding; /* demand->cards of them; holding[0].card is home */
    simtime finish;          /* SIM_NEVER while speed is 0 */
    int32_t n_holdings;
    int group;          /* of the fleet, once placed */
    simtime settled;    /* progress is credited up to here */
    int64_t work_left;  /* isolated ns on this card type */
    double work_credit; /* fraction of a ns already done beyond work_left */
    double speed;       /* now; 0 while starting */
    double wires;       /* factor of its speed: a gang across domains or racks is slower */

    /* line 1: what it is, and where */
    struct holding one; /* storage for single-card jobs */
    struct shape *shape;
    const struct shape
        *as; /* what it is to the cards now: `shape`; of a replica, what it works on; NULL: idle */
    struct replica *replica; /* NULL: a job; else of a service (engine/service.h) */
    uint32_t index;          /* in the pool */
    int32_t node;            /* CPU-only jobs: where; -1 */
    enum job_state state;
    int n_sizes; /* elastic: entries of `size` */

    /* line 2: its events, and what it is charged */
    ev_id event;             /* CPU-only finish, start-up, memory growth */
    ev_id limit;             /* its limit, when limits kill */
    ev_id crash;             /* its program fails */
    double card_s, energy_J; /* card-seconds and joules charged so far */
    double card_s_before;    /* part of card_s charged before the end of the warm-up */
    double bill_s;           /* card-seconds by the larger of its shares, charged so far */
    simtime start;           /* of the first attempt; JOB_NO_TIME until then, like the next two */

    /* line 3: what the sinks ask for */
    simtime allocated, end;
    simtime here; /* it has held these very cards since: later than `allocated` once moved */
    simtime held; /* time on its cards in earlier attempts */
    struct elastic_size *size; /* ascending; owned. NULL: rigid */
    char *id_heap;             /* NULL unless the id is long */
    int32_t preemptions;       /* times it was stopped for another */
    int32_t resizes;           /* times it went on with another number of cards */
    uint32_t account;          /* whom it counts for (engine/accounts.h) */
    bool oom;
    bool expected;  /* it is in the scheduler's copy of the fleet */
    bool evicted;   /* the scheduler is about to stop it, unless its place stays free */
    bool elsewhere; /* and to start it again at once on other cards */

    /* lines 4 and 5; id points to `id_inline` or `id_heap` */
    struct job_row row;

    uint64_t order;          /* row number over all work: the tie rule */
    int64_t rank;            /* in the queue, by the order policy */
    struct shape *queued_as; /* while it waits: what the scheduler counts it as */
    struct shape *asked;     /* elastic: of the cards it asks for */
    RB_ENTRY(job) waiting;
    RB_ENTRY(job) releasing;
    simtime limit_end;   /* end that its limit promises; SIM_NEVER: none */
    simtime next_change; /* order_ops.next_change(), while it runs */
    const char *reason;  /* why rejected or failed */
    int32_t gpus_milli;  /* it has, or would have */
    int at_size;
    int held_size;     /* on its cards: the size it has there, whatever the scheduler tries */
    int32_t attempts;  /* times it was given cards */
    int32_t moves;     /* times it was moved to other cards */
    int32_t struck;    /* times a fault took them away */
    double stretch;    /* of the size it has */
    simtime remaining; /* work, recorded, that is not safe yet: when it last began to wait */
    simtime forgiven;  /* part of `held` that its limit does not count: faults, moves */
    const struct checkpoint_rule
        *saves;   /* checkpoints are part of work_left; NULL: none, or free */
    double scale; /* isolated ns on these cards / recorded ns of work */
    uint8_t look; /* `as` is which of its looks, below 15 (engine/service.h); 0: `shape` */
    char id_inline[JOB_ID_INLINE];
} __attribute__((aligned(64)));

enum { JOB_LINES = 5 }; /* that the end of a job needs */
_Static_assert(offsetof(struct job, row) == (size_t)64 * (JOB_LINES - 1),
               "a field has moved a line down");

/* Ask for those lines: one wait for memory instead of five. */
static inline void job_fetch(const struct job *j)
{
    for (size_t line = 0; line < JOB_LINES; line++) __builtin_prefetch((const char *)j + 64 * line);
}

struct job_list { /* for base/vec.h */
    struct job **v;
    size_t n, cap;
};

struct job_pool;

struct job_pool *job_pool_create(void);
void job_pool_destroy(struct job_pool *p);                          /* accepts NULL */
struct job *job_new(struct job_pool *p, const struct job_row *row); /* copies the id */
void job_free(struct job_pool *p, struct job *j);
struct job *job_at(const struct job_pool *p, uint32_t index);
uint32_t job_pool_high_water(const struct job_pool *p); /* indices are below it */

/* Work it still has to do at `now`, as recorded: isolated ns on the recorded card. */
simtime job_remaining(const struct job *j, simtime now);
/* Work and pauses for checkpoints, as recorded, that lay before it when it last began to wait. */
simtime job_line(const struct job *j);
/* Work that its checkpoints have made safe at `now`, as recorded, with one after every `every`. */
simtime job_saved(const struct job *j, simtime now, simtime every);
/* Work it will have to do once it is stopped at `now` to wait again; every 0: all that it has
 * done is kept. */
simtime job_once_stopped(const struct job *j, simtime now, simtime every);
/* Its limit, for the cards it has; JOB_NO_TIME: none. */
simtime job_limit(const struct job *j);
/* Time it has been on its cards, all attempts together. */
simtime job_held(const struct job *j, simtime now);
/* Card time of that, in card-microseconds; saturates. */
int64_t job_card_us(const struct job *j, simtime time);
/* It leaves its cards and waits again: holdings are freed. */
void job_unplace(struct job *j);

#endif
