/* engine/waitlist.h - who waits, in order. One lane holds all jobs; or every account (a group of
 * the trace, else a user) has a lane of its own, where the order ranks accounts or quotas hold them
 * back.
 *
 * The order: lanes by their rank; the jobs of all lanes of one rank together, by (rank,
 * submission). A held lane is not in the order until it is released.
 *
 * A walk goes through the order while jobs are taken out: the job last stepped on may be removed,
 * lanes may be held, and the lane of the job last stepped on may change its rank. One walk at a
 * time.
 *
 * Complexity: O(log jobs + log lanes) for each call; the start of a walk O(lanes) where there are
 * several. Threads: one run, one thread. */
#ifndef GPUSIM_ENGINE_WAITLIST_H
#define GPUSIM_ENGINE_WAITLIST_H

#include "base/vec.h"
#include "engine/job.h"

int waitlist_compare(const struct job *a, const struct job *b);

RB_HEAD(waiting_jobs, job);

struct lane {
    struct waiting_jobs jobs;
    struct job *first;       /* of jobs; NULL: none */
    RB_ENTRY(lane) by_first; /* in the order, unless held or empty */
    RB_ENTRY(lane) in_walk;
    double rank;
    uint32_t index;
    bool held, listed;
    uint64_t walk;      /* the walk that may step on it; 0: none */
    struct job *cursor; /* where that walk goes on; NULL: at the end */
};
RB_HEAD(lanes_by_first, lane);
RB_HEAD(lanes_in_walk, lane);

struct waitlist {
    VEC(struct lane *) lane; /* [0] is always there; owned */
    struct lanes_by_first order;
    struct lanes_in_walk walking;
    struct lane *at; /* of the job last stepped on, out of `walking` for now */
    uint64_t walk;
};

void waitlist_init(struct waitlist *w);
void waitlist_fini(struct waitlist *w);
/* The lane with this number, made when it is new. */
struct lane *waitlist_lane(struct waitlist *w, uint32_t index);

void waitlist_add(struct waitlist *w, struct lane *l, struct job *j);
void waitlist_remove(struct waitlist *w, struct lane *l, struct job *j);
struct job *waitlist_next(struct job *j);             /* of its lane; NULL: the last */
struct job *waitlist_first(const struct waitlist *w); /* NULL: nobody */
void waitlist_hold(struct waitlist *w, struct lane *l);
void waitlist_release(struct waitlist *w, struct lane *l);
void waitlist_rank(struct waitlist *w, struct lane *l, double rank);

/* Begin at the first job, and step through the order; NULL at its end. */
void waitlist_walk(struct waitlist *w);
struct job *waitlist_step(struct waitlist *w);
/* The walk goes on behind `j`, a job of its lane that waits: for jobs added since. */
void waitlist_seek(struct waitlist *w, struct lane *l, struct job *j);
/* The walk leaves out the rest of the lane of the job last stepped on. */
void waitlist_leave(struct waitlist *w);

#endif
