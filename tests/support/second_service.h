/* tests/support/second_service.h - inference services on the fleet once more, beside jobs that
 * share its cards, by a program that shares no engine code with the product: at every instant all
 * that could happen next is searched from end to end; a queue is whoever of all requests waits
 * there, the load of a replica is counted whenever somebody asks.
 *
 * What it takes from the product: the plan (what a service asks for, parameters and cards as read),
 * of a sharing policy the pure functions that second_engine.h names, the stream of random numbers
 * of route random, and the geometry of instances. Where replicas and jobs find room, and how
 * instances are made, is the second engine's (second_room.c and others). Queues, routers, batches,
 * their time on a part of a card, timeouts, limits, scaling, cold starts, draining, the queue for
 * cards, progress and time are written down here from DESIGN.md, scenarios/README.md and the heads
 * of engine/service.h, route.h, scale.h, serve_X.c and route_X.c.
 *
 * It knows: serve single, fixed and dynamic, every router for them, limits of the queue, timeouts,
 * recorded requests and users who think for a fixed time, replicas by number, by card, by
 * utilization, queue and hour, cards on which they would die, start-up, several services, gpu_model
 * and speed_on; every kind of sharing; jobs of a fixed number of cards, orders whose ranks stay
 * while a job waits (fifo, sjf, fewest, srtf, srsf, priority, deadline without a plan), quotas,
 * backfill none and greedy, every placement but random; horizons, and how replicas make way for
 * others where there is none.
 *
 * Not: language models, faults, preemption, orders by account (fair, drf), las, reservations,
 * admission by plan, quotas that are taken back, drawn requests, planned instances. Where several
 * timers of a service fall on one instant, their order is not said (who starts, a batch that was
 * held back, timeouts, the look of the scaler: so here); the test keeps them apart. */
#ifndef GPUSIM_TESTS_SECOND_SERVICE_H
#define GPUSIM_TESTS_SECOND_SERVICE_H

#include "engine/sink.h"
#include "support/second_engine.h"

enum { SECOND_REQUESTS = 1600, SECOND_SERVICES = 3, SECOND_STANDS = 2000, SECOND_WIDE = 8 };

enum second_serve { SECOND_SINGLE, SECOND_FIXED, SECOND_DYNAMIC };

/* A service, beside what the plan says of it. Its number is that in the plan. */
struct second_service {
    enum second_serve serve;
    int64_t max, preferred; /* requests of a batch */
    simtime delay;
    simtime floor, weights; /* the curve of a batch */
    double bend;
    bool pad;
    simtime think, size; /* users */

    /* what became of it */
    wide up_ns, busy_ns;
    int up_most, came_up;
};

/* A request, and what became of it. */
struct second_request {
    int service;
    simtime arrival, size;
    int session; /* from 1, as they come in the file; 0: none */

    int user, at; /* from 1, 0: recorded; at: the replica it waits for or is served by, -1: any */
    enum { SECOND_COMES, SECOND_WAITS, SECOND_SERVED, SECOND_LEFT } state;
    enum request_fate fate;
    simtime began, end;
};

/* Somebody was on cards. */
struct second_stand {
    int who; /* a job; replicas of service k: -1 - k */
    simtime from, until;
    int n, card[SECOND_WIDE];
    struct mig_slice slice;
};

struct second_scene {
    const struct plan *plan;
    struct second_job *job; /* sorted by submit */
    int n_jobs;
    struct second_service service[SECOND_SERVICES];
    int n_services;
    struct second_request request[SECOND_REQUESTS]; /* of each service sorted by arrival */
    int n_requests;
    struct second_stand stand[SECOND_STANDS];
    int n_stands;
    simtime end;
    /* Users of one queue, or who stay with their replicas, were answered by two in one instant:
     * which of them goes on first, and whose user asks first again, is not said. */
    bool tied;
};

/* Replay it. Users' requests are added. Fails the test when the scene is beyond it. */
void second_serve(struct second_scene *s);

#endif
