/* engine/sink.h - who listens to a run. Sinks are told what happened and can change nothing, so
 * metrics may be added or dropped without moving a result.
 *
 * Hooks may be NULL. Jobs that ended at one instant are told in order of submission; jobs are
 * lent for the call; jobs of a service's replicas are not told. A hook that fails (a full disk)
 * returns a negative err_code and stops the run. Threads: called by the run's thread. */
#ifndef GPUSIM_ENGINE_SINK_H
#define GPUSIM_ENGINE_SINK_H

#include "engine/job.h"
#include "engine/meters.h"
#include "engine/plan.h"

/* One interval of the series, ending at t. Fractions of card time in (t - length, t]. */
struct sample {
    simtime t, length;
    double allocated, duty, sm_active, memory, stranded, down, free_share;
    double power_W;           /* mean over the interval, at the boards */
    uint64_t queued, running; /* at t */
    double fragmentation; /* at t: expected share of the fleet that is free but of no use; NAN: not
                             measured, which in long runs most samples are */
};

/* How a request left. */
enum request_fate {
    REQUEST_COMPLETED,
    REQUEST_REFUSED,    /* the queue was full */
    REQUEST_TIMED_OUT,  /* it waited too long */
    REQUEST_UNSERVABLE, /* longer than the model's context or the cache */
    REQUEST_FATES
};

struct request_end {
    enum request_fate fate;
    simtime arrival, end;
    simtime began, first;                /* of service; of output. JOB_NO_TIME: it never did */
    int64_t input_tokens, output_tokens; /* 0: no language model */
    int64_t hit_tokens;                  /* of the input, found in a cache */
    double size_ns;
};

/* One interval of a service's load curve, ending at t. */
struct service_sample {
    simtime t, length;
    uint64_t arrivals, completed, dropped;      /* in the interval */
    uint64_t waiting, in_service, up, starting; /* at t: requests, replicas */
    double busy; /* share of the time that the replicas which were up worked; NAN: none was */
};

struct sink {
    void *self;
    /* A job came to its end, or had not when the run stopped (state queued, starting, running). */
    int (*job)(void *self, const struct plan *plan, const struct symtab *names, const struct job *j,
               struct err *e);
    /* A job or a replica leaves the cards of j->holding, which it has held since j->here, or still
     * holds them when the run stops; told at `now`, in the order of the run. */
    int (*stay)(void *self, const struct plan *plan, const struct symtab *names,
                const struct job *j, simtime now, struct err *e);
    int (*sample)(void *self, const struct plan *plan, const struct sample *s, struct err *e);
    /* A request of the plan's service `k` has left. */
    void (*request)(void *self, const struct plan *plan, size_t k, const struct request_end *q);
    int (*service_sample)(void *self, const struct plan *plan, size_t k,
                          const struct service_sample *s, struct err *e);
};

#endif
