#include "traces/account.h"

#include "base/extsort.h"
#include "base/hashes.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OUTLIER = 100 }; /* times the arrival span: a length that is told */

struct account_store {
    struct extsort *changes; /* of the GPUs held: time, thousandths; ends first at one time */
    struct extsort *ids;     /* hashes: duplicates are counted, not named */
    struct extsort *submits, *durations;
    simtime first_submit, last_submit, last_change;
    uint64_t starts;
};

enum { SORT_BYTES = 4 << 20 };
_Static_assert(4 * SORT_BYTES + 2 * SORT_BYTES + 2 * SORT_BYTES <= ACCOUNT_BYTES,
               "all sorters, one of two words, and the room that sorting takes");

void account_init(struct account *a)
{
    memset(a, 0, sizeof *a);
    a->store = xcalloc(1, sizeof *a->store);
    a->store->changes = extsort_create(2, 2 * (size_t)SORT_BYTES);
    a->store->ids = extsort_create(1, SORT_BYTES);
    a->store->submits = extsort_create(1, SORT_BYTES);
    a->store->durations = extsort_create(1, SORT_BYTES);
}

void account_fini(struct account *a)
{
    if (!a->store) return;
    for (size_t i = 0; i < a->facts.warnings; i++) free(a->facts.warning[i]);
    extsort_destroy(a->store->changes);
    extsort_destroy(a->store->ids);
    extsort_destroy(a->store->submits);
    extsort_destroy(a->store->durations);
    request_facts_fini(&a->requests);
    json_decref(a->extras);
    free(a->store);
    a->store = NULL;
}

/* ---- counting ------------------------------------------------------------------------------ */

static void count_reason(struct account *a, const struct import_reason *why, bool quarantined,
                         int file, int line)
{
    size_t i = 0;
    while (i < a->reasons && a->reason[i].why != why) i++;
    if (i == ACCOUNT_REASONS) BUG("a format with more than %d reasons", ACCOUNT_REASONS);
    struct account_reason *r = &a->reason[i];
    if (i == a->reasons) {
        *r = (struct account_reason){ .why = why, .quarantined = quarantined };
        a->reasons++;
    }
    if (r->rows < ACCOUNT_LINES) {
        r->first[r->rows].file = file;
        r->first[r->rows].line = line;
    }
    r->rows++;
}

static void count_gpus(struct account_gpus *g, int32_t milli, uint64_t times)
{
    int32_t cards = milli / 1000;
    if (milli == 0)
        g->cpu_only += times;
    else if (milli < 1000)
        g->fraction += times;
    else
        g->whole[cards < ACCOUNT_CARDS ? cards : ACCOUNT_CARDS] += times;
    g->total_milli += (account_sum)(unsigned)milli * times;
}

static simtime add_time(simtime a, simtime b) /* both >= 0 */
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static void count_present(struct account *a, const struct job_row *j)
{
    const bool has[TRACE_COLUMNS] = {
        [TRACE_job_id] = true,
        [TRACE_submit_s] = true,
        [TRACE_duration_s] = true,
        [TRACE_gpus] = true,
        [TRACE_gpu_mem_bytes] = j->gpu_mem_bytes != JOB_NO_BYTES,
        [TRACE_gpu_model] = j->gpu_model != 0,
        [TRACE_gpu_allowed] = j->gpu_allowed != 0,
        [TRACE_cpus] = j->cpus_milli != JOB_NO_INT,
        [TRACE_mem_bytes] = j->mem_bytes != JOB_NO_BYTES,
        [TRACE_user] = j->user != 0,
        [TRACE_group] = j->group != 0,
        [TRACE_class] = j->klass != CLASS_none,
        [TRACE_profile] = j->profile != 0,
        [TRACE_priority] = j->priority != JOB_NO_INT,
        [TRACE_walltime_s] = j->walltime != JOB_NO_TIME,
        [TRACE_status] = j->status != STATUS_none,
        [TRACE_deadline_s] = j->deadline != JOB_NO_TIME,
        [TRACE_min_gpus] = j->min_gpus_milli != JOB_NO_INT,
        [TRACE_max_gpus] = j->max_gpus_milli != JOB_NO_INT,
        [TRACE_slots] = j->slots != JOB_NO_INT,
    };
    for (int i = 0; i < TRACE_COLUMNS; i++) a->present[i] += has[i];
}

static void count_wait(struct account *a, const struct import_row *row)
{
    if (row->start == JOB_NO_TIME) return;
    a->store->starts++;
    if (row->start < row->job.submit) {
        a->negative_waits++;
        return;
    }
    simtime wait = row->start - row->job.submit;
    a->waits++;
    a->wait_ns += (uint64_t)wait;
    if (wait > a->max_wait) a->max_wait = wait;
}

static void count_submit(struct account_store *s, simtime at)
{
    const bool first = extsort_count(s->submits) == 0;
    if (first || at < s->first_submit) s->first_submit = at;
    if (first || at > s->last_submit) s->last_submit = at;
    extsort_add(s->submits, &at);
}

static void count_change(struct account_store *s, simtime at, int64_t milli)
{
    if (extsort_count(s->changes) == 0 || at > s->last_change) s->last_change = at;
    extsort_add(s->changes, (int64_t[]){ at, milli });
}

static void count_job(struct account *a, const struct import_row *row, int file_no)
{
    const struct job_row *j = &row->job;
    struct account_store *s = a->store;
    const simtime start = row->start != JOB_NO_TIME ? row->start : j->submit;
    count_gpus(&a->jobs, j->gpus_milli, 1);
    count_present(a, j);
    count_wait(a, row);
    a->by_class[j->klass]++;
    a->by_status[j->status]++;
    a->gpu_milli_ns += row->gpu_milli_ns
                           ? row->gpu_milli_ns
                           : (account_sum)(unsigned)j->gpus_milli * (uint64_t)j->duration;
    a->zero_durations += j->duration == 0;
    if (j->duration > a->longest) {
        a->longest = j->duration;
        a->longest_file = file_no;
        a->longest_line = row->line;
    }
    count_submit(s, j->submit);
    count_change(s, start, j->gpus_milli);
    count_change(s, add_time(start, j->duration), -(int64_t)j->gpus_milli);
    const int64_t id = (int64_t)hash_bytes(j->id, j->id_len);
    extsort_add(s->ids, &id);
    if (a->percentiles) extsort_add(s->durations, &j->duration);
}

void account_add(struct account *a, const struct import_row *row, int file_no)
{
    a->kind = row->kind;
    if (row->asked && row->kind == IMPORT_JOBS)
        count_gpus(&a->asked, row->job.gpus_milli,
                   row->quarantined && row->instances > 1 ? (uint64_t)row->instances : 1);
    if (row->further) { /* its row was counted; set aside, it is only asked for */
        if (row->quarantined) return;
        a->further++;
        count_job(a, row, file_no);
        return;
    }
    a->read++;
    if (row->quarantined) {
        a->quarantined++;
        a->not_benign += !row->quarantined->benign;
        count_reason(a, row->quarantined, true, file_no, row->line);
        return;
    }
    for (size_t i = 0; i < row->repairs; i++)
        count_reason(a, row->repaired[i], false, file_no, row->line);
    if (row->repairs)
        a->repaired++;
    else
        a->kept++;
    if (row->kind == IMPORT_REQUESTS) {
        request_facts_add(&a->requests, &row->request);
        count_submit(a->store, row->request.arrival);
    } else {
        count_job(a, row, file_no);
    }
}

void account_add_facts(struct account *a, const char *file, json_t *facts)
{
    if (!facts) return;
    if (!a->extras) a->extras = json_array();
    json_t *o = json_pack("{s:s}", "file", file);
    if (!o) o = json_object(); /* a name that is no UTF-8 */
    json_object_update(o, facts);
    json_array_append_new(a->extras, o);
    json_decref(facts);
}

unsigned account_columns(const struct account *a)
{
    unsigned columns = TRACE_REQUIRED;
    for (int i = 0; i < TRACE_COLUMNS; i++)
        if (a->present[i]) columns |= 1u << i;
    return columns;
}

/* ---- facts --------------------------------------------------------------------------------- */

static int find_peak(struct account *a, struct err *e)
{
    struct account_store *s = a->store;
    int64_t held = 0, change[2];
    int rc = extsort_sort(s->changes, e);
    while (rc == 0 && (rc = extsort_next(s->changes, change, e)) > 0) {
        rc = 0;
        held += change[1];
        if (held <= a->facts.peak_milli) continue;
        a->facts.peak_milli = held;
        a->facts.peak_at = change[0];
    }
    if (extsort_count(s->changes)) a->facts.last_end = s->last_change;
    return rc;
}

static int count_duplicates(struct account *a, struct err *e)
{
    struct extsort *ids = a->store->ids;
    int64_t id, last = 0;
    bool any = false;
    int rc = extsort_sort(ids, e);
    while (rc == 0 && (rc = extsort_next(ids, &id, e)) > 0) {
        rc = 0;
        a->facts.duplicate_ids += any && id == last;
        last = id;
        any = true;
    }
    return rc;
}

static int quantiles(struct account_quantiles *q, struct extsort *s, struct err *e)
{
    const uint64_t n = extsort_count(s);
    simtime x = 0;
    int rc = extsort_sort(s, e);
    for (uint64_t i = 1; rc == 0 && (rc = extsort_next(s, &x, e)) > 0; i++) {
        rc = 0;
        /* nearest rank: the ceil(p n)-th smallest */
        if (i == (n * 50 + 99) / 100) q->p50 = x;
        if (i == (n * 90 + 99) / 100) q->p90 = x;
        if (i == (n * 99 + 99) / 100) q->p99 = x;
        q->max = x;
    }
    return rc;
}

/* Gaps go into `gaps`, which may be NULL. */
static int study_submits(struct account *a, struct extsort *gaps, struct err *e)
{
    struct account_facts *f = &a->facts;
    const uint64_t n = extsort_count(a->store->submits);
    simtime at, last = 0;
    uint64_t same = 0, i = 0;
    f->first_submit = a->store->first_submit;
    f->last_submit = a->store->last_submit;
    double mean = n > 1 ? (double)(f->last_submit - f->first_submit) / (double)(n - 1) : 0;
    double squares = 0;
    int rc = extsort_sort(a->store->submits, e);
    for (; rc == 0 && (rc = extsort_next(a->store->submits, &at, e)) > 0; last = at, i++) {
        rc = 0;
        const simtime gap = i ? at - last : 0;
        same = gap == 0 ? same + 1 : 1;
        f->instants += i == 0 || gap != 0;
        if (same > f->same_instant) f->same_instant = same;
        if (i == 0) continue;
        if (gap > f->longest_gap) f->longest_gap = gap, f->longest_gap_at = last;
        squares += ((double)gap - mean) * ((double)gap - mean);
        if (gaps) extsort_add(gaps, &gap);
    }
    if (n > 2 && mean > 0) f->gap_cv = sqrt(squares / (double)(n - 2)) / mean;
    return rc;
}

static int study_arrivals(struct account *a, struct err *e)
{
    const bool wanted = a->percentiles || a->kind == IMPORT_REQUESTS;
    struct extsort *gaps = wanted ? extsort_create(1, SORT_BYTES) : NULL;
    int rc = extsort_count(a->store->submits) ? study_submits(a, gaps, e) : 0;
    if (rc == 0 && gaps) rc = quantiles(&a->facts.gap, gaps, e);
    extsort_destroy(gaps);
    return rc;
}

/* The sorters give their memory back as soon as they have been read. */
static int study_order(struct account *a, struct err *e)
{
    struct account_store *s = a->store;
    int rc = find_peak(a, e);
    extsort_destroy(s->changes);
    s->changes = NULL;
    if (rc == 0) rc = count_duplicates(a, e);
    extsort_destroy(s->ids);
    s->ids = NULL;
    if (rc == 0) rc = study_arrivals(a, e);
    extsort_destroy(s->submits);
    s->submits = NULL;
    if (rc == 0) rc = quantiles(&a->facts.duration, s->durations, e);
    extsort_destroy(s->durations);
    s->durations = NULL;
    return rc;
}

static void warn(struct account *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void warn(struct account *a, const char *fmt, ...)
{
    char text[400];
    va_list ap;
    if (a->facts.warnings == ACCOUNT_WARNINGS) return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    a->facts.warning[a->facts.warnings++] = xstrdup(text);
}

static void warn_requests(struct account *a, uint64_t n)
{
    const struct account_facts *f = &a->facts;
    const simtime span = f->last_submit - f->first_submit;
    if (n > 1 && 2 * f->same_instant > n)
        warn(a, "%llu of %llu requests arrive at one instant", (unsigned long long)f->same_instant,
             (unsigned long long)n);
    else if (n >= 10 && 2 * f->instants < n)
        warn(a,
             "%llu requests arrive at only %llu distinct times, %.3g s apart on average: waits "
             "shorter than that are an artefact unless arrivals are spread (--spread, where the "
             "format has it)",
             (unsigned long long)n, (unsigned long long)f->instants,
             simtime_s(span) / (double)(f->instants - 1));
    if (n >= 10 && f->longest_gap > span / 10)
        warn(a, "no request arrives for %.0f s after %.0f s: %.0f %% of the arrival span",
             simtime_s(f->longest_gap), simtime_s(f->longest_gap_at),
             100 * simtime_s(f->longest_gap) / simtime_s(span));
}

/* What the formats have to warn of once they have seen all rows. */
static void warn_facts(struct account *a)
{
    size_t i, k;
    json_t *of_file, *text;
    json_array_foreach(a->extras, i, of_file)
    {
        json_array_foreach(json_object_get(of_file, "warnings"), k, text)
            warn(a, "%s", json_string_value(text));
        json_object_del(of_file, "warnings");
    }
}

static void warn_all(struct account *a, const char *note)
{
    const struct account_facts *f = &a->facts;
    const uint64_t jobs = a->kept + a->repaired + a->further;
    if (note[0]) warn(a, "%s", note);
    warn_facts(a);
    if (jobs == 0) {
        warn(a, "no %s is left", a->kind == IMPORT_REQUESTS ? "request" : "job");
        return;
    }
    if (a->kind == IMPORT_REQUESTS) {
        warn_requests(a, jobs);
        return;
    }
    if (a->static_fill)
        warn(a,
             "static fill: times mean nothing here; replay it for placement only, without a drain");
    if (!a->static_fill && jobs > 1 && 2 * f->same_instant > jobs)
        warn(a, "%llu of %llu jobs are submitted at one instant",
             (unsigned long long)f->same_instant, (unsigned long long)jobs);
    const simtime span = f->last_submit - f->first_submit;
    if (jobs >= 10 && f->longest_gap > span / 10)
        warn(a, "no job is submitted for %.0f s after %.0f s: %.0f %% of the arrival span",
             simtime_s(f->longest_gap), simtime_s(f->longest_gap_at),
             100 * simtime_s(f->longest_gap) / simtime_s(span));
    if (!a->static_fill && jobs >= 10 && span > 0 && a->longest / OUTLIER > span)
        warn(
            a,
            "the job of line %d%s lasts %.0f s, %.0f times as long as jobs arrive: is that a time?",
            a->longest_line, a->longest_file ? " (not of the first file)" : "",
            simtime_s(a->longest), simtime_s(a->longest) / simtime_s(span));
    if (f->load > 1) warn(a, "the offered load is %.1f %% of the capacity", 100 * f->load);
    if (a->capacity_milli && !a->static_fill && f->peak_milli > a->capacity_milli)
        warn(a, "the peak of %.3f GPUs exceeds the capacity of %.3f", (double)f->peak_milli / 1e3,
             (double)a->capacity_milli / 1e3);
    if (a->jobs.cpu_only == jobs) warn(a, "no job asks for a GPU");
    if (f->duplicate_ids) warn(a, "%llu job ids occur again", (unsigned long long)f->duplicate_ids);
    if (a->negative_waits)
        warn(a, "%llu jobs start before they are submitted", (unsigned long long)a->negative_waits);
}

/* The native trace starts at 0, so the account does. */
static void count_from_zero(struct account_facts *f)
{
    const simtime zero = f->time_zero = f->first_submit;
    f->first_submit = 0;
    f->last_submit -= zero;
    if (f->last_end != JOB_NO_TIME) f->last_end -= zero;
    if (f->peak_milli > 0) f->peak_at -= zero;
    if (f->longest_gap > 0) f->longest_gap_at -= zero;
}

int account_finish(struct account *a, int64_t capacity_milli, const char *note, struct err *e)
{
    struct account_facts *f = &a->facts;
    const uint64_t jobs = extsort_count(a->store->submits);
    if (a->kind == IMPORT_REQUESTS) capacity_milli = 0; /* requests ask for no card */
    a->capacity_milli = capacity_milli;
    f->first_submit = f->last_submit = f->last_end = JOB_NO_TIME;
    f->load = f->gap_cv = NAN;
    f->starts_known = jobs ? (double)a->store->starts / (double)jobs : 0;
    int rc = study_order(a, e);
    if (rc < 0) return rc;
    if (capacity_milli > 0 && jobs && f->last_end > f->first_submit && !a->static_fill)
        f->load = (double)a->gpu_milli_ns /
                  ((double)capacity_milli * (double)(f->last_end - f->first_submit));
    if ((rc = request_facts_finish(&a->requests, e)) < 0) return rc;
    if (a->from_zero && jobs) count_from_zero(f);
    warn_all(a, note);
    return 0;
}
