/* model/synth.h - synthetic workloads: a specification ("format": "gpusim-generate/1") turned into
 * a stream of jobs sorted by submit time. Used by `gpusim generate` and by work of kind "generate".
 * A specification has either classes of jobs or services with requests (model/synth_request.h).
 *
 * Each class of the specification is a stream of its own with one random stream per purpose, named
 * "synth/<class>/<purpose>": changing, adding or removing one class or one distribution never
 * shifts what another draws. Jobs are merged by submit time; ties keep the order of the classes.
 * Drawn times are whole milliseconds, durations at least 1 ms, so a written trace reads back
 * exactly. Replayed rows (model/synth_replay.h) keep their exact times and all their columns,
 * except the id; what their class says beside "arrivals" stands in place of the column.
 *
 * GPUs and duration of a class are independent unless it has a `correlation` r: then both come from
 * normal deviates with that correlation (a Gaussian copula; rank correlation 6/pi asin(r/2) before
 * ties), larger jobs being the longer ones for r > 0. Both laws stay as they are.
 *
 * Memory: O(classes + users + members) and what a bootstrap holds; not the number of jobs.
 * O(classes) per job.
 * Errors: file, JSON pointer, what was expected and found, in struct diag; synth_open gives the
 * first. Threads: one stream, one thread. Streams share nothing but the symbol table given to them.
 */
#ifndef GPUSIM_MODEL_SYNTH_H
#define GPUSIM_MODEL_SYNTH_H

#include "base/cfg.h"
#include "model/job.h"
#include "model/synth_arrival.h"
#include "model/synth_dist.h"
#include "model/synth_request.h"
#include "model/trace.h"
#include "model/trace_rows.h"

/* "targets": what a published workload looks like, to compare a generated one with. */
struct synth_target {
    const char *quantity; /* one of synth_quantity_list, or gpus.share:<gpus> */
    const char *klass;    /* name of the class it is about; NULL: all jobs */
    double value;         /* seconds, bytes, or plain */
    double tolerance;     /* relative */
    const char *source;
};

struct synth_class;

struct synth_spec {
    const char *name;
    uint64_t seed;   /* what the specification says; 1 when silent */
    simtime horizon; /* CFG_NO_TIME: none */
    int64_t jobs;    /* CFG_NO_INT: unlimited */
    simtime origin;  /* time zero after Monday 00:00 */
    struct synth_class *cls;
    size_t n_cls; /* 0: requests */
    struct synth_service *svc;
    size_t n_svc; /* 0: jobs */
    struct synth_target *target;
    size_t n_targets;
    char sha256[65];                   /* of the specification's text */
    const struct trace_lender *lender; /* of recordings; NULL: their files are read */
};

/* Read and check a parsed document; all problems go to `d`. Memory from `a`; nothing is borrowed
 * from `doc`. */
void synth_read(struct synth_spec *out, struct arena *a, const struct json_doc *doc,
                struct diag *d);
/* Up to 64 letters, digits, dots, - and _. */
bool synth_name_ok(const char *name);
const char *synth_class_name(const struct synth_spec *s, size_t i);
/* The trace whose jobs class i replays or draws; NULL: none. */
const char *synth_class_recording(const struct synth_spec *s, size_t i);
/* Expected jobs per second of class i in the long run. */
double synth_class_rate(const struct synth_spec *s, size_t i);

/* Names of target quantities, NULL-terminated: "jobs_per_day", "duration.p50", ... */
extern const char *const synth_quantities[];
extern const char *const synth_request_quantities[];

struct synth;

/* Open the specification at `spec_path` as a stream. User, group, profile and card names go to
 * `names`; recordings come from `lender` (NULL: their files). 0, ERR_INPUT (also for one of
 * requests) or ERR_IO. */
int synth_open(struct synth **out, const char *spec_path, uint64_t seed, uint64_t replication,
               struct symtab *names, const struct trace_lender *lender, struct err *e);
/* The same from a specification of jobs already read, which must outlive the stream. Fails only
 * where a recording cannot be replayed. */
int synth_create(struct synth **out, const struct synth_spec *spec, uint64_t seed,
                 uint64_t replication, struct symtab *names, struct err *e);
void synth_close(struct synth *s); /* accepts NULL */

/* 1: *row is filled (row->id lent until the next call); 0: end; negative: a bad row of a replayed
 * trace. */
int synth_next(struct synth *s, struct job_row *row, struct err *e);
/* Rows of recordings that no block holds and that are never drawn (model/synth_replay.h). */
size_t synth_left_out(const struct synth *s);
const struct synth_spec *synth_spec(const struct synth *s);
/* TRACE_COL() bits of the optional columns that some class or replayed trace fills. */
unsigned synth_columns(const struct synth *s);
/* Index of the class the row last returned belongs to. */
size_t synth_row_class(const struct synth *s);

#endif
