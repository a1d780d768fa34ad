/* model/queues.h - waiting lines with known answers: what a simulated service is checked against.
 *
 * Symbols: lambda = arrivals per second, service_s = mean service time, servers = c, a = lambda x
 * service_s (offered load), rho = a / c, cv2 = squared coefficient of variation. Every function
 * gives INFINITY where the queue has no steady state (rho >= 1) and is exact unless it says
 * otherwise.
 *
 * Sources: Erlang (1917); Pollaczek-Khinchine; Kleinrock, Queueing Systems I, II; Kimura (1994),
 * Allen-Cunneen (1978) for M/G/c; Lazowska et al., Quantitative System Performance (1984), chapter
 * 5 for closed systems.
 * Threads: pure functions. */
#ifndef GPUSIM_MODEL_QUEUES_H
#define GPUSIM_MODEL_QUEUES_H

/* M/M/c, first come first served: chance that an arrival waits (Erlang C); 1 when rho >= 1.
 * O(servers). */
double mmc_wait_chance(double lambda, double service_s, int servers);
/* Mean wait before service, seconds. */
double mmc_wait_s(double lambda, double service_s, int servers);
/* The wait that a share p of arrivals does not exceed; 0 when at least p need not wait. */
double mmc_wait_quantile_s(double lambda, double service_s, int servers, double p);

/* M/G/1: mean wait (Pollaczek-Khinchine). */
double mg1_wait_s(double lambda, double service_s, double cv2);
/* M/G/1 under processor sharing: mean response, whatever the distribution of service. */
double mg1_ps_response_s(double lambda, double service_s);

/* M/G/c (Kimura, Allen-Cunneen): mean wait, an approximation, exact for c = 1 and for cv2 = 1. */
double mgc_wait_s(double lambda, double service_s, double cv2, int servers);

/* Closed system: `users` who each think for think_s and then ask `servers` for service_s. */
struct closed_bounds {
    double rate_most;           /* requests per second at most: min(N / (S + Z), c / S) */
    double rate_least;          /* at least: everyone always behind everyone, N / (N S / c + Z) */
    double response_least_s;    /* max(S, N S / c - Z) */
    double response_most_s;     /* N S / c, and not below S */
    double users_at_saturation; /* (S + Z) c / S: with more users they queue */
};
struct closed_bounds closed_bounds_of(double users, double think_s, double service_s, int servers);
/* Exact for exponential think and service times (machine repairman, M/M/c//N): requests per second.
 * O(users). */
double repairman_rate(int users, double think_s, double service_s, int servers);

#endif
