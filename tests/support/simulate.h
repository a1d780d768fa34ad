/* tests/support/simulate.h - replay a scenario that a test writes down, in this process: result,
 * rows of jobs.csv, and the bytes of every file that must repeat. Also arrivals of queueing models.
 *
 * Texts of scenarios, profiles and price books may use ' for ", so that they read well in C.
 * Everything that goes wrong on the way fails the test with the program's own message. */
#ifndef GPUSIM_TESTS_SIMULATE_H
#define GPUSIM_TESTS_SIMULATE_H

#include "engine/sink.h"
#include "support/support.h"
#include "whatif/runner.h"

#include <gsl/gsl_rng.h>

/* A row of jobs.csv; NAN where a cell is empty. */
struct sim_job {
    const char *policy, *id, *state, *cards, *reason, *klass;
    double submit_s, start_s, end_s, wait_s, run_s, turnaround_s, slowdown, gpus, attempts,
        cost_usd, energy_kwh;
};

struct simulated {
    struct runner run; /* run.result is the result */
    const char *dir;
    struct sim_job *job;
    size_t n_jobs;
    char *jobs_csv, *series_csv, *result_json; /* without header lines */
    char *cells;                               /* what `job` points into */
};

struct sim_file {
    const char *name, *text;
};

/* Write `scenario` as scenario.json, `trace` as trace.csv and `files` (NULL-terminated list of
 * names; may be NULL) into a new folder. Returns the path of the scenario. */
const char *sim_write(const char *scenario, const char *trace, const struct sim_file *files);
/* Load what sim_write() wrote; problems fail the test. */
void sim_load(struct runner *r, const char *path);
/* The number of problems the loader finds, the first one in `said`. */
size_t sim_problems(const char *scenario, const char *trace, const struct sim_file *files,
                    char *said, size_t size);

/* All of it: write, load, replay on `threads` threads, read the rows back. */
void simulate(struct simulated *s, const char *scenario, const char *trace);
void simulate_with(struct simulated *s, const char *scenario, const char *trace,
                   const struct sim_file *files, unsigned threads);
void simulated_fini(struct simulated *s);
/* Simulate one policy and hold job "jK" to start[K] seconds, for K below n: what a textbook says.
 * `run` names the round in a failure. */
void sim_expect_starts(const char *scenario, const char *trace, const int start[], size_t n,
                       int run);

/* By name; a name that is not there fails the test. */
const struct policy_result *sim_policy(const struct simulated *s, const char *policy);
const struct sim_job *sim_job_of(const struct simulated *s, const char *policy, const char *id);
/* Amount charged to a user, "(idle)" or "(stranded)"; 0 when there is no such line. */
double sim_charge_usd(const struct policy_result *p, const char *name);

/* Replay one policy without files; `more` (may be NULL) listens too. *out lives as long as `r`. */
void sim_policy_run(struct runner *r, size_t policy, const struct sink *more,
                    struct policy_result *out);

/* ---- queueing models ---- */

typedef double sim_size_fn(gsl_rng *rng, double mean);
double sim_exponential(gsl_rng *rng, double mean);
double sim_deterministic(gsl_rng *rng, double mean);
double sim_hyperexponential(gsl_rng *rng, double mean); /* two phases, balanced means, cv^2 = 4 */

/* A trace of `n` jobs: Poisson arrivals at `rate` per s, sizes of that mean; streams of (seed,
 * replication), one for arrivals and one for sizes. The columns end with `gpus` and `tail` (which
 * may name more columns in `head`). free() it. */
struct sim_arrivals {
    double rate, mean_s;
    sim_size_fn *size;
    size_t n;
    const char *head, *tail; /* "gpus", "1" */
};
char *sim_queue_trace(const struct sim_arrivals *a, uint64_t seed, uint64_t replication);

/* Mean of n samples and half of its 95 % interval (Student). */
struct sim_interval {
    double mean, half;
};
struct sim_interval sim_interval_95(const double *x, size_t n);
/* Print, then: the truth is inside the interval and the mean is within `rel` of it. */
void sim_assert_agrees(const char *what, struct sim_interval i, double truth, double rel);

#endif
