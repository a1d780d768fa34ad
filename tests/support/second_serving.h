/* tests/support/second_serving.h - the state of the second engine's services, shared by
 * second_service.c (who is on which card, how fast, what comes next) and second_replica.c
 * (requests, queues, batches, scaling). */
#ifndef GPUSIM_TESTS_SECOND_SERVING_H
#define GPUSIM_TESTS_SECOND_SERVING_H

#include "support/second_inside.h"
#include "support/second_service.h"

#include <gsl/gsl_rng.h>

enum { SECOND_USERS_MOST = 16, SECOND_LOOKS = 4096 };

enum phase { GONE, STARTING, UP, DRAINING };

/* What serves, by its number among all lives: after the jobs come the replicas of each service. */
struct replica {
    int service, number;
    enum phase phase;
    bool busy;
};

/* A service while it runs. */
struct serving {
    const struct plan_service *plan;
    struct second_service *own;
    int first, most; /* lives of its replicas */
    bool closed, scales;
    gsl_rng *rng;
    uint64_t routed;
    simtime asks[SECOND_USERS_MOST + 1]; /* when a user asks next, from 1; SIM_NEVER */
    int turn[SECOND_USERS_MOST + 1];     /* who was let think first asks first */
    wide present_ns;
    wide was_up, was_busy, was_present; /* at the last look */
    simtime looked, looks;              /* that; the next */
    struct {
        simtime at;
        int64_t wanted;
    } look[SECOND_LOOKS];
    int n_looks;
};

struct scene {
    struct engine e;
    struct second_scene *s;
    struct replica replica[SECOND_JOBS];
    struct second_job own[SECOND_JOBS]; /* of replicas */
    struct serving service[SECOND_SERVICES];
    int64_t orders, came[SECOND_JOBS]; /* given to who waits for cards */
    int turns;
    bool lost; /* a replica died that will be started again */
};

/* ---- second_replica.c ---- */

int second_waiting(const struct scene *s, int service);
int second_in_service(const struct scene *s, int service);
bool second_through(const struct scene *s, int k);
bool second_expects(const struct scene *s, int k);
void second_come(struct scene *s, int request);
void second_ask(struct scene *s, int service, int user);
void second_look_at(struct scene *s, int life);
void second_up(struct scene *s, int life);
void second_done(struct scene *s, int life);
/* When a batch that is held back begins; when who waits has waited too long: and that it does. */
simtime second_holds_until(const struct scene *s, int life);
simtime second_expires(const struct scene *s, int request);
void second_expire(struct scene *s, int request);
void second_scale(struct scene *s, int service);
void second_close(struct scene *s, int service);

/* ---- second_service.c ---- */

void second_launch(struct scene *s, int life); /* it waits for cards */
void second_retire(struct scene *s, int life); /* it leaves them, or the queue, for good */
double second_alone(const struct scene *s, int life);

#endif
