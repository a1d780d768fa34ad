/* model/scenario.h - a question: one fleet, one set of work, several ways to hand cards out
 * ("format": "gpusim-scenario/1", design section 3).
 *
 * Reading checks everything that can be checked in the file itself; what needs other files
 * (catalogue, profiles, traces, policy parameters) is checked by engine/plan.h.
 *
 * Units: simtime ns, bytes, cores. Ownership: scenario_fini() frees everything; all text lives in
 * the arena. Threads: read-only after loading. */
#ifndef GPUSIM_MODEL_SCENARIO_H
#define GPUSIM_MODEL_SCENARIO_H

#include "base/arena.h"
#include "base/cfg.h"
#include "base/json.h"
#include "model/outage.h"
#include "model/service.h"

struct fleet_group {
    const char *name, *gpu, *profile; /* profile: path or NULL */
    int64_t nodes, gpus_per_node;
    double cpu_cores;                            /* per node; NAN: no such limit */
    uint64_t host_memory;                        /* per node; CFG_NO_BYTES: no such limit */
    int64_t nvlink_domain;                       /* cards, by number; CFG_NO_INT: those of a node */
    int64_t nodes_per_rack;                      /* by number; CFG_NO_INT: no racks */
    double cross_domain_speed, cross_rack_speed; /* of a gang */
    json_t *faults, *capacity;                   /* as written, borrowed; NULL */
    bool fails;                                  /* cards, nodes or programs fail at random */
    struct fault_rates rates;
    const struct capacity_event *change; /* in order of time */
    size_t n_changes;
    const char *pointer; /* JSON pointer of the group, for messages */
};

enum work_kind { WORK_JOBS, WORK_GENERATE, WORK_SERVICE };

struct trace_lender;
struct trace_rows;
struct request_rows;
struct work_item {
    const char *name;
    int kind;                           /* enum work_kind */
    const char *trace;                  /* WORK_JOBS: path, relative ones resolved */
    const char *spec;                   /* WORK_GENERATE: path */
    double load;                        /* submit times are divided by it */
    const struct service_spec *service; /* WORK_SERVICE; else NULL */
    const char *pointer;
};

struct schedule {
    const char *order, *backfill, *place, *gang, *racks, *when_full, *preempt, *walltime;
    int64_t backfill_depth; /* 0: the whole queue */
    simtime checkpoint, checkpoint_cost, restart;
    int elastic;     /* enum elastic of engine/elastic.h */
    int reclaim;     /* enum reclaim of engine/accounts.h */
    json_t *scaling; /* NULL: linear */
    const char *migrate;
    simtime migrate_pause;    /* CFG_NO_TIME: not said */
    double migrate_rate;      /* bytes a second; NAN: not said */
    json_t *quotas, *weights; /* by account; NULL: none. Read by engine/accounts.h */
    json_t *json;             /* as written, NULL: nothing; borrowed. Keys of the order are in it */
    const char *pointer;
};

struct policy_spec {
    const char *name, *kind; /* kind: the share's, e.g. "mig" */
    json_t *share;           /* its parameters, "kind" included; borrowed */
    const char *share_pointer;
    struct schedule schedule; /* the scenario's, unless overridden */
    const struct fleet_group *fleet;
    size_t n_fleet;
    const char *prices; /* path or NULL */
    const char *pairs;  /* measured pairs of jobs: path or NULL */
    const char *pointer;
};

struct named_signature {
    const char *name;
    json_t *json; /* borrowed; read by model/signature.h */
    const char *pointer;
};

struct scenario {
    struct arena *arena;
    struct json_doc doc;
    const char *name;
    int64_t seed;
    simtime horizon; /* CFG_NO_TIME: until the last job ends */
    simtime warmup;
    bool fails;                      /* it has "faults" */
    struct fault_rates rates;        /* of groups that say nothing else */
    const struct fleet_group *fleet; /* of policies that do not override it */
    size_t n_fleet;
    struct schedule schedule;
    bool schedule_unused; /* there is one, and every policy overrides it */
    const struct work_item *work;
    size_t n_work;
    size_t n_services; /* of them */
    const struct trace_rows *const
        *rows; /* lent, by work item: read these, not the file; NULL: none */
    const struct request_rows *const *request_rows; /* the same for services */
    const struct trace_lender *lender; /* of recordings behind generators; NULL: read the files */
    const struct policy_spec *policy;
    size_t n_policies;
    const struct named_signature *signature;
    size_t n_signatures;
    simtime sample; /* series interval */
    bool write_jobs;
    struct timeline { /* timeline.json */
        bool on;
        simtime from, to; /* of the run; to SIM_NEVER: its end */
        int64_t events;   /* at most, of each policy */
    } timeline;
    const char *rent; /* price book that what is bought is held against; path or NULL */
    char sha256[65];  /* of the file's bytes */
};

/* Load, apply `set` ("path=value" texts), check. 0; ERR_IO when it cannot be read, ERR_INPUT when
 * it is no JSON, ERR_USAGE for a bad --set: these in *e. Other problems are added to `d`, and then
 * *out must only be passed to scenario_fini(). */
int scenario_load(struct scenario *out, const char *path, const char *const *set, size_t n_set,
                  struct diag *d, struct err *e);
void scenario_fini(struct scenario *s); /* harmless on {0} */

/* The sections of a scenario and their keys, for the manual; what a policy's "share" and an order
 * add is with them. Ends with a NULL title. */
struct scenario_section {
    const char *title, *where; /* "FLEET", "each member of \"fleet\"" */
    const struct cfg_field *fields;
    size_t n;
};
extern const struct scenario_section scenario_sections[];

/* The fields of a schedule that every order has; what else is in it belongs to the order. */
extern const struct cfg_field schedule_fields[];
extern const size_t schedule_fields_n;

/* Paths inside a scenario are relative to its file; one that came through a pipe has no folder, and
 * the current one counts. */
const char *scenario_path(struct arena *a, const char *scenario_file, const char *path);

/* The file with every default filled in, except what only the policies know: share[i] stands for
 * the share of policy i, order[i] (NULL: none) holds the keys that its order adds to the schedule.
 * Both are borrowed. A new reference. */
json_t *scenario_resolved(const struct scenario *s, json_t *const *share, json_t *const *order);

#endif
