/* model/result.h - the answer of a run ("format": "gpusim-result/1"): one struct, one writer, one
 * reader, so the two ends cannot drift. The fields are those of design section 7.
 *
 * Numbers are plain, the unit is in the key. NAN is written as null. Nothing here holds a path, a
 * date, a host name or a thread count: same inputs and seed, same bytes.
 * Ownership: memory from the arena. Threads: plain data. */
#ifndef GPUSIM_MODEL_RESULT_H
#define GPUSIM_MODEL_RESULT_H

#include "base/arena.h"
#include "base/filesum.h"
#include "base/json.h"
#include "base/simtime.h"
#include "model/job.h"
#include "model/precision.h"
#include "model/profile.h"
#include "model/usage.h"

#include <stdbool.h>
#include <stdint.h>

/* A distribution in numbers. Percentile p: the smallest sample with at least p of the samples at or
 * below it. `censored`: jobs that would belong here but had not started / ended. */
struct summary {
    uint64_t n, censored;
    double mean, p50, p90, p95, p99, max; /* NAN when n == 0, or suppressed because unstable */
    double p999; /* not in files; NAN unless asked for (collect_keep_percentiles) */
};

/* How many waited in a run with a horizon: on average in its last quarter and before it, by how
 * much that grew in that quarter with its standard error (metrics/stability.h), and the share of
 * all that waited at the end. In memory only; without a horizon nothing is known. */
struct queue_trend {
    bool known;
    double last, before, growth, error, waiting;
};

struct job_stats {
    struct summary wait_s, turnaround_s, slowdown;
};

struct job_counts {
    uint64_t submitted, completed, failed, killed, rejected, running, queued; /* sum holds: P01 */
    uint64_t failed_oom;                                                      /* part of failed */
    uint64_t preemptions; /* times a running job was stopped for another */
    uint64_t resizes;     /* times an elastic job went on with another number of cards */
    /* Jobs with a deadline that completed in time; all others with one that ended, rejected or
     * not. */
    uint64_t deadlines_met, deadlines_missed;
};

/* The same figures for one class or one user. */
struct job_group_result {
    const char *name;
    struct job_counts count;
    struct job_stats stats;
    double gpu_hours, useful_gpu_hours;
};

struct cost_item_result {
    const char *name, *driver, *source, *date, *confidence;
    double quantity, usd;
};

struct charge {
    const char *name; /* user, or "(idle)", "(stranded)", "(down)" */
    double usd, card_hours, energy_kwh;
};

/* What a class of jobs or a service cost, its part of idle and stranded cards not included. */
struct cost_line {
    const char *name;
    double usd, usd_per_job, usd_per_useful_gpu_hour; /* of jobs completed; NAN: none */
};

/* Buying against renting, by the month: cash paid, a resale not counted (cost/months.h). */
struct payback {
    const char *rent; /* a rented policy, or the name of a price book */
    double month;     /* at whose end buying has paid, and stays so; NAN: never within the term */
    double month_discounted;         /* the same with money discounted at the rate of the book */
    double usd_per_year;             /* of renting */
    const double *paid_by_month_usd; /* of renting, as long as the owned one */
};

struct tco_result {
    bool priced;  /* false: no price book, "tco": null */
    double hours; /* what the amounts are for */
    double total_usd, usd_per_year, npv_usd, eac_usd;
    double usd_per_gpu_hour, energy_usd;
    /* The whole bill, or beside services the part that jobs bring about (cost/charge.h), over
     * what they did. */
    double usd_per_useful_gpu_hour, usd_per_job;
    const struct cost_item_result *item;
    size_t n_items;
    double rate, term_y; /* of the book */
    /* capital bought at the beginning; worth at the end of the term */
    double upfront_usd, resale_usd;
    const double
        *paid_by_month_usd; /* by the end of month 0, 1, ... of the term, resale not counted */
    size_t n_months;        /* entries, month 0 included; 0: not known */
    const struct payback *payback; /* against each rented policy; none where nothing is bought */
    size_t n_paybacks;
    double base_cards; /* to own or commit to, the rest rented; NAN: the book has no base */
    /* NAN: not stated */
    double carbon_operation_kg, carbon_embodied_kg, carbon_kg_per_useful_gpu_hour;
    const struct charge *charge; /* adds up to total_usd: P03 */
    size_t n_charges;
    const struct charge *team; /* the same by group of the trace; none without groups */
    size_t n_teams;
    const struct cost_line *klass;
    size_t n_classes;
};

struct gpu_result {
    uint64_t count;
    /* fractions of card time; duty NAN under mig */
    double allocated, duty, sm_active, memory, stranded, down;
    double free_share; /* 1 - allocated - stranded - down */
    double energy_kwh, fragmentation;
    /* useful operations per second over the window; NAN: unused */
    double effective_ops[PREC_COUNT];
    double peak_ops[PREC_COUNT];   /* of the fleet, dense */
    bool effective_is_upper_bound; /* some job had no flops_per_s */
};

/* A target of a service and what became of it. */
struct target_result {
    const char *name;           /* "latency_p99" */
    double target_ms, value_ms; /* value NAN: not measured, or withheld because unstable */
    double attainment;          /* share of requests within it; dropped ones are not */
    bool met;
};

/* One service. Counts are of the whole run; everything else covers requests that came after the
 * warm-up. Dropped = refused (the queue was full) + timed out. */
struct service_result {
    const char *name;
    uint64_t requests, completed, dropped, refused, timed_out, unservable;
    uint64_t waiting, in_service; /* at the end; requests = all of these but refused, timed_out */
    /* the last two: language models, else n = 0 */
    struct summary wait_ms, latency_ms, ttft_ms, tpot_ms;
    const struct target_result *target;
    size_t n_targets;
    double attainment; /* share of requests within all targets; NAN: no target */
    double throughput_per_s, goodput_per_s;    /* requests; within all targets */
    double tokens_per_s, goodput_tokens_per_s; /* output tokens; NAN: no language model */
    /* share of the input tokens served that a cache held; NAN: no language model */
    double prefix_hit;
    double replicas_mean, busy; /* replicas up; share of their time at work */
    uint64_t replicas_max, replicas_started, replicas_never_up;
    double gpu_hours; /* card time that its replicas held */
    /* within all targets; NAN: not priced */
    double usd_per_million_requests, usd_per_million_tokens;
    bool stable;
    const char *unstable_reason; /* NULL when stable */
    struct queue_trend queue;
};

/* A device parameter that a policy used, and how it is known. */
struct param_result {
    const char *fleet, *name, *unit; /* group of the fleet; "timeslice.quantum_us" */
    const char *provenance,
        *source; /* provenance_names[]; "set in the scenario" has no value here */
    double value, low, high;
};

/* What went out of service, and what that cost the jobs; since the end of the warm-up. */
struct failure_result {
    bool any; /* something could: else the result has no "failures" */
    uint64_t card_faults, node_faults, rack_faults, job_faults;
    uint64_t jobs_struck;   /* each time a job was thrown off its cards */
    uint64_t jobs_given_up; /* of these: not started again */
    double lost_gpu_hours;  /* work done in vain */
    double down_gpu_hours, absent_gpu_hours;
};

/* Output analysis of the waits of all jobs, warm-up included (metrics/steady.h). */
struct steady_result {
    uint64_t n;                  /* values in the mean; 0: too few to say anything */
    bool warmup_found;           /* false: it never settled, or only in its second half */
    double warmup_s;             /* proposed; what the scenario left out is "warmup" */
    double mean, low, high;      /* wait, and its 95 % interval from this run alone */
    double effective_n;          /* independent values that would say as much */
    double length_for_5_percent; /* times this run's length, for an interval of +-5 % */
};

/* Running jobs that were moved; since the end of the warm-up. */
struct migration_result {
    bool any; /* the policy moves jobs: else the result has no "migrations" */
    uint64_t moves;
    double paused_gpu_hours;
};

struct policy_result {
    const char *name, *kind;
    struct gpu_result gpu;
    struct job_counts jobs;
    struct job_stats stats;
    double gpu_hours, useful_gpu_hours;
    struct failure_result failures;
    struct migration_result migrations;
    struct steady_result steady;
    const struct job_group_result *by_class;
    size_t n_classes;
    const struct job_group_result *by_user;
    size_t n_users;
    const struct service_result *service;
    size_t n_services;
    struct tco_result tco;
    struct usage usage;
    bool stable;
    const char *unstable_reason; /* NULL when stable */
    bool interrupted;            /* ended by the user at end_s: counts as not stable */
    struct queue_trend queue;
    uint64_t events, trace_rows;
    const struct param_result *param;
    size_t n_params;
    uint64_t provenance[PROV_COUNT]; /* parameters the policy used, by how they are known */
    double window_s, end_s;          /* measured window; end of the run */
    const char *rejected_reason;     /* commonest reason; NULL: nothing rejected */
};

/* `policy` against the first policy of the scenario, per metric. With replications all five are
 * of the means over them, low and high the ends of the 95 % interval of the paired difference;
 * without, these two are NAN. */
struct comparison_row {
    const char *policy, *metric, *unit;
    double first, value, difference, low, high;
};

/* A file besides scenario and traces that the figures rest on. */
struct result_input {
    const char *kind; /* what it is: "gpu", "prices", ...; see the schema of results */
    const char *name; /* of the file, without its folder */
    const char *sha256;
};

/* A file that was written beside the result. */
struct result_file {
    const char *name; /* in the folder of the result */
    struct filesum sum;
};

/* Why a policy is recommended: a figure of it, and that of another. */
struct advice_reason {
    const char *text, *metric, *against; /* against: a policy; NULL: none */
    double value, other;
};

/* What would have to be otherwise for another policy to be the better one. */
struct advice_flip {
    const char *text, *input, *to; /* to: a policy; NULL: none */
    double at;                     /* value of the input; NAN: no number */
};

struct decision_fleet {
    const char *name, *gpu;
    int64_t nodes, cards;
};

/* One policy in a decision. Costs are in the decision's unit; the chances are of draws from the
 * ranges of the prices (and the replications), the same for all policies. */
struct decision_option {
    const char *policy;
    bool eligible; /* fit, and fast enough: only those are compared by cost */
    double cost;   /* of the first replication at the books' stated prices; NAN: not known */
    double cost_p10, cost_p50, cost_p90; /* NAN: nothing to draw from */
    /* share of the draws in which it is, of those eligible; NAN, like those below: it is not */
    double p_cheapest;
    double difference_p5, difference_p95; /* paired, less the recommended one; NAN for that one */
    bool no_difference_shown;             /* 0 lies between them */
};

/* The recommendation for all work, for a class or for a service (metrics/decide.h states the
 * rule). */
struct decision {
    const char *about;         /* "(all)", a class, a service */
    const char *policy, *kind; /* NULL: none is fit */
    const struct decision_fleet *fleet;
    size_t n_fleet;
    const char *cost_unit; /* "USD per useful GPU-hour" */
    bool service;          /* about a service; not stored */
    bool by_median;        /* by the medians of the draws; else by the stated prices */
    const struct decision_option *option; /* all policies, in scenario order */
    size_t n_options;
    const char *const *tie; /* policies that are as good */
    size_t n_ties;
    const struct advice_reason *reason;
    size_t n_reasons;
    const struct advice_flip *flip;
    size_t n_flips;
};

/* What money and speed do not show about a way of sharing. */
struct quality {
    const char *kind, *aspect, *text, *source;
};

struct result {
    const char *version, *scenario_name, *scenario_sha256;
    json_t *scenario; /* resolved form, borrowed */
    uint64_t seed;
    const char *const *trace_sha256;
    size_t n_traces;
    const char *const
        *set; /* what was changed of the scenario, "path=value"; the hash is of its file */
    size_t n_set;
    const struct result_input *input;
    size_t n_inputs;
    const struct result_file *file; /* none in results of before this was kept, and of sweeps */
    size_t n_files;
    const struct policy_result *policy;
    size_t n_policies;
    const struct comparison_row *comparison;
    size_t n_comparisons;
    const char *const *advice; /* sentences; the first one is the answer */
    size_t n_advice;
    const struct decision *decision; /* the first one is about all work */
    size_t n_decisions;
    uint64_t advice_draws, advice_replications; /* behind the chances; 0 draws: none */
    const struct quality *quality;              /* of the sharing kinds compared */
    size_t n_qualities;
};

/* The JSON document; a new reference. */
json_t *result_to_json(const struct result *r);
/* Read a stored result. Unknown keys are ignored (additive changes only), missing ones are
 * problems. */
void result_read(struct result *out, struct arena *a, const struct json_doc *doc, struct diag *d);
/* The files alone; nothing where the result has none. */
void result_read_files(struct result *out, struct arena *a, const struct json_doc *doc,
                       struct diag *d);
/* Whether DIR/name is what the run wrote: ERR_INPUT when it was cut, changed or is another run's. 0
 * too where it is not there or the result has no sum of it. O(bytes). */
int result_check_file(const struct result *r, const char *dir, const char *name, struct err *e);
/* For whoever takes a result for the whole run: ERR_INPUT, naming the policy, when one was
 * interrupted. */
int result_check_whole(const struct json_doc *doc, struct err *e);

/* How far prices and replications spread the cost of a policy: half of the range from P10 to P90
 * of the draws as a share of the median, for all work. Of spreads that are within a tenth of
 * each other the least is that of all of them: what stands side by side has the same digits.
 * NAN: nothing was drawn. */
double result_cost_spread(const struct result *r, size_t policy);

#endif
