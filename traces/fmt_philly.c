/* fmt_philly.c - cluster_job_log of Microsoft's Philly (msr-fiddle/philly-traces; Jeon et al., ATC
 * 2019): one JSON array of jobs with their attempts. Streaming: memory holds one job, not the
 * document.
 *
 * GPUs are counted in the first attempt's detail. A job with several attempts (retries after
 * failures) lasts the sum of their run times, without the gaps between them; where they held
 * different numbers of GPUs the account's GPU-seconds are the sum over the attempts. --attempts
 * each makes every attempt a job of its own, submitted when the one before it ended. Clocks are
 * local time of the Pacific coast without a zone; in the hour that repeats on 2017-11-05 the first
 * is taken, or the second where an end would come before its start. */
#include "traces/json_items.h"

#include "base/hashes.h"
#include "base/mem.h"
#include "base/str.h"
#include "traces/format.h"
#include "traces/parse_time.h"

#include <stdlib.h>
#include <string.h>

static const struct import_reason no_attempts = {
    "no-attempts", "no attempt with a start: it never ran, and its GPUs are unknown", true
};
static const struct import_reason no_gpus = { "no-gpus", "no attempt names its GPUs", true };
static const struct import_reason no_end = {
    "no-end", "still running when the log was taken (--as-of gives it a run time)", true
};
static const struct import_reason no_submit = { "no-submit", "no submitted_time", false };
static const struct import_reason bad_json = { "bad-json", "the member is no JSON object", false };
static const struct import_reason ends_first = { "ends-before-start",
                                                 "an attempt ends before it starts", false };
/* repairs */
static const struct import_reason still_running = { "still-running",
                                                    "right-censored: the last attempt has no end",
                                                    true };
static const struct import_reason retried = {
    "retried", "several attempts: their run times are summed, the gaps left out", true
};
static const struct import_reason attempts_differ = {
    "attempts-differ",
    "attempts held different numbers of GPUs: the row has the first's, the account's GPU-seconds are "
    "summed over the attempts (--attempts each keeps them apart)",
    true
};
static const struct import_reason skipped_attempt = {
    "skipped-attempt", "an attempt without a start (or without an end, not the last) was left out",
    true
};
static const struct import_reason repeated_hour = {
    "repeated-hour", "a time in the hour that the end of daylight saving repeats", true
};

enum attempts { ATTEMPTS_sum, ATTEMPTS_each };
static const char *const attempts_names[] = { "sum", "each", NULL };

struct options {
    const char *zone, *as_of;
    int attempts; /* enum attempts */
};

static const struct opt opts[] = {
    { "zone", 0, OPT_TEXT, offsetof(struct options, zone), "ZONE",
      "zone of clocks that name none (UTC, +08:00, America/Los_Angeles; default: the format's, or UTC)",
      NULL },
    { "attempts", 0, OPT_CHOICE, offsetof(struct options, attempts), "HOW",
      "philly: sum: one job with the run times of its attempts added; each: a job for each attempt",
      attempts_names },
    { "as-of", 0, OPT_TEXT, offsetof(struct options, as_of), "CLOCK",
      "philly: when the log was taken: running jobs have run until then", NULL },
    { 0 },
};

struct philly {
    struct json_items *items;
    struct symtab *names;
    struct zone zone;
    simtime as_of; /* JOB_NO_TIME: not said */
    int attempts;
    json_t *job;
    struct json_item item;
    size_t next;      /* attempt to return (each) */
    simtime prev_end; /* of the attempt before it */
    struct strbuf id;
    uint64_t jobs, without_attempts, retries, running;
};

static void philly_close(void *state)
{
    struct philly *s = state;
    if (!s) return;
    json_items_close(s->items);
    json_decref(s->job);
    strbuf_fini(&s->id);
    free(s);
}

static int philly_open(void **state, const char *path, const void *options, struct symtab *names,
                       struct import_info *info, struct err *e)
{
    const struct options *o = options;
    const char *zone = o->zone ? o->zone : "America/Los_Angeles";
    struct philly *s = xcalloc(1, sizeof *s);
    s->names = names;
    s->attempts = o->attempts;
    s->as_of = JOB_NO_TIME;
    int rc = zone_parse(&s->zone, zone, "--zone", e);
    if (rc == 0 && o->as_of) {
        enum clock_status st = clock_parse(o->as_of, strlen(o->as_of), &s->zone, &s->as_of, NULL);
        if (st != CLOCK_OK)
            rc = err_set(e, ERR_USAGE, NULL, "--as-of: %s: \"%s\"", clock_why(st), o->as_of);
    }
    if (rc == 0) rc = json_items_open(&s->items, path, NULL, e);
    if (rc < 0) {
        philly_close(s);
        return rc;
    }
    info->from_zero = true;
    snprintf(info->origin, sizeof info->origin, "zone=%.100s", zone);
    *state = s;
    return 0;
}

/* null, "None", "" and an absent key give JOB_NO_TIME. */
static void clock(struct philly *s, const json_t *o, const char *key, simtime *out, unsigned *flags,
                  struct import_row *row)
{
    const json_t *v = json_object_get(o, key);
    const char *text = json_string_value(v);
    *out = JOB_NO_TIME;
    *flags = 0;
    if (!text || !*text || strcmp(text, "None") == 0 || strcmp(text, "null") == 0) {
        if (v && !json_is_null(v) && !text)
            import_quarantine(row, &import_bad_value, "%s: expected a text", key);
        return;
    }
    enum clock_status st = clock_parse(text, json_string_length(v), &s->zone, out, flags);
    if (st != CLOCK_OK)
        import_quarantine(row, &import_bad_value, "%s: %s", key, clock_why(st));
    else if (*flags & CLOCK_AMBIGUOUS)
        import_repair(row, &repeated_hour);
}

static int64_t gpus_of(const json_t *attempt)
{
    size_t i;
    const json_t *machine;
    int64_t n = 0;
    json_array_foreach(json_object_get(attempt, "detail"), i, machine) n +=
        (int64_t)json_array_size(json_object_get(machine, "gpus"));
    return n;
}

struct attempt {
    simtime start, end; /* end JOB_NO_TIME: running */
    int64_t gpus;
};

static struct attempt read_attempt(struct philly *s, const json_t *v, struct import_row *row)
{
    struct attempt a = { .gpus = gpus_of(v) };
    unsigned at_start, at_end;
    const simtime hour = zone_changes(&s->zone) ? SIM_HOUR : 0;
    clock(s, v, "start_time", &a.start, &at_start, row);
    clock(s, v, "end_time", &a.end, &at_end, row);
    if (a.start == JOB_NO_TIME || a.end == JOB_NO_TIME || a.end >= a.start) return a;
    if (at_end & CLOCK_AMBIGUOUS) a.end += hour;
    if (a.end < a.start) import_quarantine(row, &ends_first, "%s", "");
    return a;
}

static void read_job(struct philly *s, struct import_row *row)
{
    unsigned flags;
    const json_t *o = s->job;
    const char *user = json_string_value(json_object_get(o, "user"));
    const char *vc = json_string_value(json_object_get(o, "vc"));
    const char *status = json_string_value(json_object_get(o, "status"));
    struct job_row *j = &row->job;
    if (user) j->user = symtab_addz(s->names, user);
    if (vc) j->group = symtab_addz(s->names, vc);
    j->klass = CLASS_training;
    if (status && strcmp(status, "Pass") == 0) j->status = STATUS_completed;
    if (status && strcmp(status, "Killed") == 0) j->status = STATUS_cancelled;
    if (status && strcmp(status, "Failed") == 0) j->status = STATUS_failed;
    clock(s, o, "submitted_time", &j->submit, &flags, row);
    if (j->submit != JOB_NO_TIME) return;
    import_quarantine(row, &no_submit, "%s", "");
    j->submit = 0;
}

static void set_gpus(int64_t gpus, struct import_row *row)
{
    if (gpus <= 0) {
        import_quarantine(row, &no_gpus, "%s", "");
        return;
    }
    if (gpus > INT32_MAX / 1000) {
        import_quarantine(row, &import_bad_value, "%lld GPUs", (long long)gpus);
        return;
    }
    row->job.gpus_milli = (int32_t)gpus * 1000;
    row->asked = true;
}

static void sum_attempts(struct philly *s, struct import_row *row)
{
    const json_t *list = json_object_get(s->job, "attempts"), *v;
    const size_t n = json_array_size(list);
    struct job_row *j = &row->job;
    size_t i, started = 0, ended = 0;
    bool open = false;
    int64_t gpus = 0;
    import_sum held = 0;
    simtime unsaid = 0; /* run time of attempts that name no GPU */
    json_array_foreach((json_t *)(uintptr_t)list, i, v)
    {
        struct attempt a = read_attempt(s, v, row);
        if (row->quarantined) return;
        if (a.start != JOB_NO_TIME && a.end == JOB_NO_TIME && i + 1 == n) {
            open = true;
            a.end = s->as_of != JOB_NO_TIME && s->as_of > a.start ? s->as_of : JOB_NO_TIME;
        }
        if (gpus == 0) gpus = a.gpus;
        if (a.gpus && a.gpus != gpus) import_repair(row, &attempts_differ);
        if (a.start == JOB_NO_TIME || (a.end == JOB_NO_TIME && !(open && i + 1 == n)))
            import_repair(row, &skipped_attempt);
        if (a.start == JOB_NO_TIME) continue;
        if (started++ == 0) row->start = a.start;
        if (a.end == JOB_NO_TIME) continue;
        ended++;
        if (__builtin_add_overflow(j->duration, a.end - a.start, &j->duration)) {
            import_quarantine(row, &import_bad_value, "the run times are too long");
            return;
        }
        held += (import_sum)(uint64_t)a.gpus * 1000 * (uint64_t)(a.end - a.start);
        if (a.gpus == 0) unsaid += a.end - a.start;
    }
    held += (import_sum)(uint64_t)gpus * 1000 * (uint64_t)unsaid;
    if (held != (import_sum)(uint64_t)gpus * 1000 * (uint64_t)j->duration) row->gpu_milli_ns = held;
    if (gpus) set_gpus(gpus, row);
    s->running += open;
    s->retries += started > 1;
    s->without_attempts += started == 0;
    if (started == 0)
        import_quarantine(row, &no_attempts, "%zu attempts", n);
    else if (ended == 0)
        import_quarantine(row, &no_end, "%s", "");
    else if (gpus == 0)
        set_gpus(0, row);
    if (open) {
        import_repair(row, &still_running);
        j->status = STATUS_running;
    }
    if (started > 1) import_repair(row, &retried);
}

/* The s->next-th attempt as a job. */
static void one_attempt(struct philly *s, struct import_row *row)
{
    const json_t *list = json_object_get(s->job, "attempts");
    const size_t n = json_array_size(list), k = s->next++;
    struct job_row *j = &row->job;
    if (n == 0) {
        s->without_attempts++;
        import_quarantine(row, &no_attempts, "0 attempts");
        return;
    }
    struct attempt a = read_attempt(s, json_array_get(list, k), row);
    if (k > 0) {
        strbuf_addf(&s->id, "/%zu", k + 1);
        s->retries++;
        if (s->prev_end != JOB_NO_TIME) j->submit = s->prev_end;
    }
    if (k + 1 < n) j->status = STATUS_failed; /* it was tried again */
    const bool open = a.end == JOB_NO_TIME && a.start != JOB_NO_TIME && k + 1 == n;
    if (open && s->as_of != JOB_NO_TIME && s->as_of > a.start) {
        a.end = s->as_of;
        import_repair(row, &still_running);
    }
    if (open) {
        j->status = STATUS_running;
        s->running++;
    }
    row->start = a.start;
    if (a.start == JOB_NO_TIME)
        import_quarantine(row, &no_attempts, "attempt %zu has no start", k + 1);
    else if (a.end == JOB_NO_TIME)
        import_quarantine(row, &no_end, "attempt %zu", k + 1);
    else
        j->duration = a.end - a.start;
    set_gpus(a.gpus, row);
    if (a.end != JOB_NO_TIME) s->prev_end = a.end;
}

static int next_job(struct philly *s, struct err *e)
{
    json_error_t je;
    int rc = json_items_next(s->items, &s->item, e);
    if (rc <= 0) return rc;
    json_decref(s->job);
    s->job = json_loadb(s->item.text, s->item.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &je);
    s->next = 0;
    s->prev_end = JOB_NO_TIME;
    s->jobs++;
    return 1;
}

static int philly_next(void *state, struct import_row *row, struct err *e)
{
    struct philly *s = state;
    const bool more = s->attempts == ATTEMPTS_each && s->next > 0 &&
                      s->next < json_array_size(json_object_get(s->job, "attempts"));
    if (!more) {
        int rc = next_job(s, e);
        if (rc <= 0) return rc;
    }
    row->line = s->item.line;
    row->raw = s->item.text;
    row->raw_len = s->item.len;
    if (!json_is_object(s->job)) {
        import_quarantine(row, &bad_json, "%s", "");
        return 1;
    }
    const char *id = json_string_value(json_object_get(s->job, "jobid"));
    strbuf_clear(&s->id);
    strbuf_addz(&s->id, id ? id : "");
    read_job(s, row);
    if (s->attempts == ATTEMPTS_each)
        one_attempt(s, row);
    else
        sum_attempts(s, row);
    row->job.id = s->id.s ? s->id.s : "";
    row->job.id_len = s->id.len;
    row->unfinished = hash_mix(hash_bytes(row->job.id, row->job.id_len)) | 1; /* logs may overlap */
    return 1;
}

static void philly_facts(const void *state, json_t *into)
{
    const struct philly *s = state;
    json_object_set_new(into, "jobs", json_integer((json_int_t)s->jobs));
    json_object_set_new(into, "without_attempts", json_integer((json_int_t)s->without_attempts));
    json_object_set_new(into, "retries", json_integer((json_int_t)s->retries));
    json_object_set_new(into, "running_at_the_end", json_integer((json_int_t)s->running));
}

static int philly_sniff(const char *head, size_t len)
{
    if (!json_items_sniff(head, len, NULL)) return 0;
    return memmem(head, len, "\"jobid\"", 7) && memmem(head, len, "\"attempts\"", 10) ? 90 : 0;
}

const struct trace_format fmt_philly = {
    .name = "philly",
    .help = "cluster_job_log of Microsoft Philly",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = philly_sniff,
    .open = philly_open,
    .next = philly_next,
    .close = philly_close,
    .facts = philly_facts,
};
