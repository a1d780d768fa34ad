#include "traces/slurm_gpus.h"

#include "base/dec.h"
#include "base/hashes.h"
#include "base/mem.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

const char *const slurm_cpu_jobs_names[] = { "auto", "keep", "drop", NULL };

const struct import_reason slurm_step = {
    "step", "a step repeats the resources of its job; only allocations count", true
};
static const struct import_reason never_started = {
    "never-started", "waiting, held or requeued when the records were taken: no run yet", true
};
static const struct import_reason cancelled_first = {
    "cancelled-before-start", "cancelled while it waited: it never held anything", true
};
static const struct import_reason duplicate = {
    "duplicate", "the same record again, as overlapping exports have it", true
};
static const struct import_reason conflict = {
    "conflicting-record", "a job with the same start ended before in another way, which counts",
    false
};
static const struct import_reason no_submit = { "no-submit", "no submit time", false };
static const struct import_reason no_run_time = { "no-run-time",
                                                  "neither an elapsed time nor a start and an end",
                                                  false };
static const struct import_reason ends_first = { "ends-before-start", "the end is before the start",
                                                 false };
/* repairs */
static const struct import_reason still_running = {
    "still-running", "right-censored: the run time is what had passed when the records were taken",
    true
};
static const struct import_reason assumed_limit = {
    "runs-to-limit",
    "right-censored: still running; taken to end at its time limit (--as-of cuts it there)", true
};
static const struct import_reason cancelled_at_once = {
    "zero-length-cancelled", "cancelled with start = end: kept, with a length of 0", true
};
static const struct import_reason attempt = {
    "attempt", "another run of the same id after a requeue: its submit is the requeue's", true
};
static const struct import_reason repeated_hour = {
    "repeated-hour",
    "a time in the hour that the end of daylight saving repeats: the first is taken", true
};
static const struct import_reason past_limit = {
    "past-limit", "it ran longer than its limit, which was raised to the run time", true
};

/* ---- the file --------------------------------------------------------------------------------- */

struct edge { /* how many times are the earliest or latest of all */
    simtime at;
    uint64_t n;
};

struct seen {           /* in all files of an import */
    struct hashes jobs; /* with the start of their first run */
    struct hashes runs; /* the others */
    uint64_t rows, with_gpu;
};

struct slurm_file {
    const struct slurm_options *o;
    struct symtab *names;
    struct zone zone;
    struct slurm_gpus gpus;
    simtime partition_limit, as_of; /* JOB_NO_TIME: not said */
    const struct import_shared *shared;
    struct seen *seen; /* owned by `shared` */
    uint64_t states[SLURM_STATES], unlike_elapsed, by_an_hour;
    uint64_t limit_none, limit_unknown, running;
    simtime elapsed_sum;
    struct edge first_start, last_end;
    bool text_clocks;
};

static int read_options(struct slurm_file *f, const struct slurm_options *o, struct err *e)
{
    enum slurm_limit kind;
    int rc = 0;
    f->partition_limit = f->as_of = JOB_NO_TIME;
    if (o->zone) rc = zone_parse(&f->zone, o->zone, "--zone", e);
    if (rc == 0) rc = slurm_gpus_open(&f->gpus, o, f->names, e);
    if (rc == 0 && o->partition_limit &&
        (!slurm_time_limit(o->partition_limit, strlen(o->partition_limit), &kind,
                           &f->partition_limit) ||
         kind != LIMIT_SET))
        rc = err_set(e, ERR_USAGE, NULL,
                     "--partition-limit: expected a time such as 1-00:00:00, found \"%s\"",
                     o->partition_limit);
    if (rc == 0 && o->as_of) {
        enum clock_status st = clock_parse(o->as_of, strlen(o->as_of), &f->zone, &f->as_of, NULL);
        if (st != CLOCK_OK)
            rc = err_set(e, ERR_USAGE, NULL, "--as-of: %s: \"%s\"", clock_why(st), o->as_of);
    }
    return rc;
}

static void seen_destroy(void *data)
{
    struct seen *s = data;
    hashes_fini(&s->jobs);
    hashes_fini(&s->runs);
    free(s);
}

static struct seen *seen_of(struct import_shared *shared)
{
    if (shared->data) return shared->data;
    struct seen *s = xcalloc(1, sizeof *s);
    shared->data = s;
    shared->destroy = seen_destroy;
    return s;
}

int slurm_file_open(struct slurm_file **out, const struct slurm_options *o, struct symtab *names,
                    const struct import_info *info, struct err *e)
{
    struct slurm_file *f = xcalloc(1, sizeof *f);
    f->shared = info->shared;
    f->seen = seen_of(info->shared);
    f->o = o;
    f->names = names;
    int rc = read_options(f, o, e);
    if (rc < 0) {
        slurm_file_close(f);
        f = NULL;
    }
    *out = f;
    return rc;
}

void slurm_file_close(struct slurm_file *f)
{
    if (!f) return;
    slurm_gpus_fini(&f->gpus);
    free(f);
}

void slurm_file_set_as_of(struct slurm_file *f, simtime when)
{
    if (f->as_of == JOB_NO_TIME) f->as_of = when;
}

void slurm_clock(struct slurm_file *f, const char *s, size_t len, const char *what, simtime *out,
                 struct import_row *row)
{
    unsigned flags;
    *out = JOB_NO_TIME;
    if (slurm_missing(s, len)) return;
    f->text_clocks = true;
    enum clock_status st = clock_parse(s, len, &f->zone, out, &flags);
    if (st != CLOCK_OK)
        import_quarantine(row, &import_bad_value, "%s: %s", what, clock_why(st));
    else if (flags & CLOCK_AMBIGUOUS)
        import_repair(row, &repeated_hour);
}

/* ---- times ------------------------------------------------------------------------------------ */

static enum job_status status_of(enum slurm_state st)
{
    switch (st) {
    case SLURM_COMPLETED: return STATUS_completed;
    case SLURM_CANCELLED:
    case SLURM_PREEMPTED:
    case SLURM_REQUEUED:
    case SLURM_REVOKED: return STATUS_cancelled;
    case SLURM_FAILED:
    case SLURM_TIMEOUT:
    case SLURM_NODE_FAIL:
    case SLURM_OUT_OF_MEMORY:
    case SLURM_BOOT_FAIL:
    case SLURM_DEADLINE:
    case SLURM_SPECIAL_EXIT:
    case SLURM_LAUNCH_FAILED:
    case SLURM_RECONFIG_FAIL: return STATUS_failed;
    case SLURM_RUNNING:
    case SLURM_SUSPENDED:
    case SLURM_COMPLETING:
    case SLURM_STOPPED:
    case SLURM_RESIZING:
    case SLURM_SIGNALING:
    case SLURM_STAGE_OUT: return STATUS_running;
    default: return STATUS_none;
    }
}

static bool waits(enum slurm_state st)
{
    return st == SLURM_PENDING || st == SLURM_CONFIGURING || st == SLURM_REQUEUE_HOLD ||
           st == SLURM_REQUEUE_FED || st == SLURM_RESV_DEL_HOLD || st == SLURM_POWER_UP_NODE;
}

static void note_edge(struct edge *edge, simtime at, bool earliest)
{
    if (edge->n == 0 || (earliest ? at < edge->at : at > edge->at)) *edge = (struct edge){ at, 0 };
    edge->n += at == edge->at;
}

/* Elapsed against end - start: suspended jobs and changes of the clock. */
static void compare_clocks(struct slurm_file *f, const struct slurm_record *r)
{
    if (r->elapsed == JOB_NO_TIME || r->start == JOB_NO_TIME || r->end == JOB_NO_TIME) return;
    simtime diff;
    if (__builtin_sub_overflow(r->end - r->start, r->elapsed, &diff)) return;
    f->unlike_elapsed += diff != 0;
    f->by_an_hour += diff == SIM_HOUR || diff == -SIM_HOUR;
}

/* A job across the end of daylight saving can end before it starts, by clocks without a zone. */
static bool in_repeated_hour(const struct slurm_record *r)
{
    return r->elapsed != JOB_NO_TIME && r->end >= r->start - SIM_HOUR &&
           r->end - r->start + SIM_HOUR == r->elapsed;
}

static void read_run(struct slurm_file *f, struct slurm_record *r, enum slurm_state state,
                     struct import_row *row)
{
    struct job_row *j = &row->job;
    const bool running = j->status == STATUS_running;
    f->running += running;
    if (running && r->elapsed == JOB_NO_TIME && f->as_of != JOB_NO_TIME && r->start != JOB_NO_TIME)
        r->end = f->as_of, r->end_is_planned = false;
    if (r->end != JOB_NO_TIME && r->start != JOB_NO_TIME && r->end < r->start &&
        !in_repeated_hour(r)) {
        import_quarantine(row, &ends_first, "%s", "");
        return;
    }
    if (r->elapsed == JOB_NO_TIME && (r->start == JOB_NO_TIME || r->end == JOB_NO_TIME)) {
        import_quarantine(row, &no_run_time, "state %s", slurm_state_names[state]);
        return;
    }
    if (!running) compare_clocks(f, r);
    j->duration = r->elapsed != JOB_NO_TIME ? r->elapsed : r->end - r->start;
    row->start = r->start;
    if (r->start != JOB_NO_TIME) note_edge(&f->first_start, r->start, true);
    if (r->end != JOB_NO_TIME && !running) note_edge(&f->last_end, r->end, false);
    if (running)
        import_repair(row, r->elapsed == JOB_NO_TIME && r->end_is_planned ? &assumed_limit
                                                                          : &still_running);
}

static void read_limit(struct slurm_file *f, const struct slurm_record *r, struct import_row *row)
{
    struct job_row *j = &row->job;
    simtime limit = r->limit;
    f->limit_none += r->limit_kind == LIMIT_NONE;
    if (r->limit_kind == LIMIT_UNKNOWN) {
        f->limit_unknown++;
        limit = f->partition_limit;
    }
    if (r->limit_kind == LIMIT_NONE || limit == JOB_NO_TIME || limit <= 0) return;
    if (j->duration > limit) import_repair(row, &past_limit);
    j->walltime = j->duration > limit ? j->duration : limit;
}

/* "123_[1-5,7,10-20:5%2]": 5 + 1 + 3; at least 1. */
static int64_t tasks_of(const char *id, size_t len)
{
    const char *p = memchr(id, '[', len), *end = id + len;
    int64_t tasks = 0;
    while (p && p + 1 < end && *p != ']' && *p != '%') {
        int64_t v[3] = { 0 }; /* from, to, step */
        int k = 0;
        for (p++; p < end && !memchr(",]%", *p, 3); p++) {
            if ((*p == '-' || *p == ':') && k < 2)
                k = *p == '-' ? 1 : 2;
            else if (*p >= '0' && *p <= '9' && v[k] < INT32_MAX)
                v[k] = v[k] * 10 + (*p - '0');
        }
        if (k == 0) v[1] = v[0];
        tasks += v[1] >= v[0] ? (v[1] - v[0]) / (v[2] > 0 ? v[2] : 1) + 1 : 1;
    }
    return tasks > 0 ? tasks : 1;
}

static void read_gpus(struct slurm_file *f, struct slurm_record *r, struct import_row *row)
{
    slurm_gpus_read(&f->gpus, r, row);
    f->seen->with_gpu += row->asked && row->job.gpus_milli > 0;
}

/* What a job that waits asks for; a list that cannot be read is no fault of a job that is none. */
static void note_request(struct slurm_file *f, const struct slurm_record *r, struct import_row *row)
{
    struct slurm_record record = *r;
    struct import_row asks = *row;
    const uint64_t with_gpu = f->seen->with_gpu, other_ids = f->gpus.other_ids;
    read_gpus(f, &record, &asks);
    f->seen->with_gpu = with_gpu;
    f->gpus.other_ids = other_ids;
    if (!asks.asked) return;
    const int64_t each = asks.instances > 1 ? asks.instances : 1;
    row->asked = true;
    row->job.gpus_milli = asks.job.gpus_milli;
    row->instances = tasks_of(r->id, r->id_len) * each;
}

/* A job that never ran; true when the row is settled by that. */
static bool never_ran(struct slurm_file *f, const struct slurm_record *r, enum slurm_state state,
                      struct import_row *row)
{
    if (waits(state) || slurm_is_task_range(r->id, r->id_len)) {
        note_request(f, r, row);
        import_quarantine(row, &never_started, "%s", slurm_state_names[state]);
        return true;
    }
    if (state != SLURM_CANCELLED && state != SLURM_REVOKED && state != SLURM_DEADLINE) return false;
    const bool no_time = r->elapsed == JOB_NO_TIME || r->elapsed == 0;
    const bool no_alloc = r->alloc_tres && slurm_missing(r->alloc_tres, r->alloc_tres_len);
    const bool same = r->start == r->end;
    if (no_time && (r->start == JOB_NO_TIME || (same && no_alloc))) {
        import_quarantine(row, &cancelled_first, "%s", "");
        return true;
    }
    if (no_time && same) import_repair(row, &cancelled_at_once);
    return false;
}

/* What is kept of a run: twenty bits of its start (seconds; fractions are mixed in), so that the
 * starts of two runs within twelve days never meet, and twelve of how it ended. */
enum { END_BITS = 12 };

static uint32_t run_of(simtime start, const struct job_row *j)
{
    const simtime fraction = start % SIM_SECOND;
    const uint32_t mixed = fraction ? (uint32_t)hash_mix((uint64_t)fraction) : 0;
    const uint64_t end = hash_mix((uint64_t)j->duration * 31 + (uint64_t)j->gpus_milli) ^ j->status;
    return ((uint32_t)(start / SIM_SECOND) ^ mixed) << END_BITS |
           (uint32_t)(hash_mix(end) & ((1u << END_BITS) - 1));
}

enum run_kind { RUN_first, RUN_another, RUN_same, RUN_same_start };

static enum run_kind tell_run(struct seen *s, uint64_t id, simtime start, const struct job_row *j)
{
    const uint32_t this = run_of(start, j);
    uint32_t known = this;
    if (hashes_add(&s->jobs, id, &known)) return RUN_first;
    if (known >> END_BITS != this >> END_BITS) {
        known = this;
        if (hashes_add(&s->runs, hash_mix(id ^ (uint64_t)start), &known)) return RUN_another;
    }
    return known == this ? RUN_same : RUN_same_start;
}

static uint64_t id_hash(const struct job_row *j)
{
    return hash_mix(hash_bytes(j->id, j->id_len));
}

void slurm_settle(struct slurm_file *f, struct import_row *row)
{
    switch (tell_run(f->seen, id_hash(&row->job), row->start, &row->job)) {
    case RUN_first: break;
    case RUN_another: import_repair(row, &attempt); break;
    case RUN_same:
    case RUN_same_start: import_quarantine(row, &import_superseded, "%s", ""); break;
    }
}

/* A job that ended: the first record of a run counts, the others must say the same. */
static void tell_ended(struct slurm_file *f, struct import_row *row)
{
    switch (tell_run(f->seen, id_hash(&row->job), row->start, &row->job)) {
    case RUN_first: break;
    case RUN_another: import_repair(row, &attempt); break;
    case RUN_same: import_quarantine(row, &duplicate, "%s", ""); break;
    case RUN_same_start: import_quarantine(row, &conflict, "%s", ""); break;
    }
}

void slurm_convert(struct slurm_file *f, const struct slurm_record *record, struct import_row *row)
{
    struct slurm_record r = *record;
    struct job_row *j = &row->job;
    const enum slurm_state state = slurm_state(r.state, r.state_len);
    f->seen->rows++;
    f->states[state]++;
    if (r.elapsed >= 0 && f->elapsed_sum < INT64_MAX - r.elapsed) f->elapsed_sum += r.elapsed;
    j->id = r.id;
    j->id_len = r.id_len;
    j->status = status_of(state);
    if (r.state && state == SLURM_UNKNOWN_STATE && !slurm_missing(r.state, r.state_len))
        import_quarantine(row, &import_bad_value, "State: no state of Slurm: \"%.*s\"",
                          (int)(r.state_len < 40 ? r.state_len : 40), r.state);
    if (row->quarantined) return;
    if (never_ran(f, &r, state, row)) return;
    if (r.submit == JOB_NO_TIME) import_quarantine(row, &no_submit, "%s", "");
    j->submit = r.submit == JOB_NO_TIME ? 0 : r.submit;
    read_gpus(f, &r, row);
    read_run(f, &r, state, row);
    if (row->quarantined) return;
    read_limit(f, &r, row);
    j->user = slurm_missing(r.user, r.user_len) ? 0 : symtab_add(f->names, r.user, r.user_len);
    j->group = slurm_missing(r.account, r.account_len)
                   ? 0
                   : symtab_add(f->names, r.account, r.account_len);
    if (r.priority >= 0 && r.priority <= INT32_MAX) j->priority = (int32_t)r.priority;
    if (r.ids_repeat) return;
    if (j->status == STATUS_running)
        row->unfinished = hash_mix(id_hash(j) ^ (uint64_t)r.start) | 1;
    else
        tell_ended(f, row);
}

/* ---- the end ---------------------------------------------------------------------------------- */

int slurm_file_end(const struct slurm_file *f, const char *path, struct err *e)
{
    const struct loc at = { .file = path };
    const struct seen *s = f->seen;
    char files[32] = "";
    if (!f->shared->last) return 0;
    if (s->rows == 0 || s->with_gpu > 0 || f->o->cpu_jobs == CPU_JOBS_keep) return 0;
    if (f->shared->files > 1) snprintf(files, sizeof files, " in %d files", f->shared->files);
    int rc = err_set(e, ERR_INPUT, files[0] ? NULL : &at,
                     "none of %llu jobs%s has a GPU: does this cluster track gres/gpu "
                     "(AccountingStorageTRES), and are AllocTRES and ReqTRES exported?",
                     (unsigned long long)s->rows, files);
    err_hint(e, "%s",
             f->gpus.other_ids ? "its lists have numbers above 1000: --gpu-tres says which are GPUs"
                               : "--gpus-per-node N or --cpus-per-gpu N maps what it has to GPUs; "
                                 "--cpu-jobs keep takes the jobs as they are");
    return rc;
}

static void add_warning(json_t *list, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_warning(json_t *list, const char *fmt, ...)
{
    char text[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    json_array_append_new(list, json_string(text));
}

static bool at_midnight(const struct slurm_file *f, simtime at)
{
    const simtime day = 24 * SIM_HOUR;
    /* local midnight under either clock of the zone */
    return (at + f->zone.offset_s * SIM_SECOND) % day == 0 ||
           (at + f->zone.daylight_s * SIM_SECOND) % day == 0;
}

static void edge_warnings(const struct slurm_file *f, json_t *list)
{
    enum { MANY = 3 };
    if (f->first_start.n >= MANY && at_midnight(f, f->first_start.at))
        add_warning(list,
                    "%llu jobs start at the first instant of the records, a midnight: the export's "
                    "window cuts them (left-censored)",
                    (unsigned long long)f->first_start.n);
    if (f->last_end.n >= MANY && at_midnight(f, f->last_end.at))
        add_warning(list,
                    "%llu jobs end at the last instant of the records, a midnight: the export's "
                    "window cuts them (right-censored)",
                    (unsigned long long)f->last_end.n);
    if (f->running)
        add_warning(list,
                    "%llu records show a job still running: right-censored unless a later one "
                    "ends it",
                    (unsigned long long)f->running);
}

void slurm_file_facts(const struct slurm_file *f, json_t *into)
{
    json_t *states = json_object(), *warnings = json_array();
    char text[32];
    for (int i = 0; i < SLURM_STATES; i++)
        if (f->states[i])
            json_object_set_new(states, slurm_state_names[i],
                                json_integer((json_int_t)f->states[i]));
    json_object_set_new(into, "states", states);
    dec_print(text, sizeof text, f->elapsed_sum, 9);
    json_object_set_new(into, "elapsed_s", json_string(text));
    json_object_set_new(into, "unlimited", json_integer((json_int_t)f->limit_none));
    json_object_set_new(into, "limit_unknown", json_integer((json_int_t)f->limit_unknown));
    edge_warnings(f, warnings);
    if (f->text_clocks && !f->o->zone)
        add_warning(warnings,
                    "the clocks name no zone and are read as UTC: an export of local time "
                    "repeats or skips an hour when daylight saving changes (--zone)");
    if (f->by_an_hour)
        add_warning(
            warnings,
            "%llu jobs have an Elapsed one hour off their end - start: the clocks are local "
            "time across a change (--zone)",
            (unsigned long long)f->by_an_hour);
    if (f->unlike_elapsed > f->by_an_hour)
        add_warning(
            warnings,
            "%llu jobs have an Elapsed unlike their end - start (suspended?): Elapsed counts",
            (unsigned long long)(f->unlike_elapsed - f->by_an_hour));
    if (f->limit_unknown && f->partition_limit == JOB_NO_TIME)
        add_warning(warnings,
                    "%llu jobs have a limit that is not recorded (Partition_Limit and the like): "
                    "no limit is assumed (--partition-limit)",
                    (unsigned long long)f->limit_unknown);
    if (f->gpus.other_ids)
        add_warning(warnings,
                    "%llu lists have resources with numbers above 1000: --gpu-tres says "
                    "which are GPUs",
                    (unsigned long long)f->gpus.other_ids);
    if (json_array_size(warnings)) json_object_set(into, "warnings", warnings);
    json_decref(warnings);
}
