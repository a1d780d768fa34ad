#include "traces/account.h"

#include "base/dec.h"
#include "base/extsort.h"
#include "base/hashes.h"
#include "base/json.h"
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
    extsort_add(s->ids, &(int64_t){ (int64_t)hash_bytes(j->id, j->id_len) });
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

/* ---- output -------------------------------------------------------------------------------- */

const char *account_decimal(char *buf, account_sum value, int digits, int least)
{
    char tmp[64];
    size_t at = sizeof tmp;
    tmp[--at] = '\0';
    while (digits > least && value % 10 == 0) value /= 10, digits--;
    for (; digits > 0; digits--) {
        tmp[--at] = (char)('0' + (int)(value % 10));
        value /= 10;
        if (digits == 1) tmp[--at] = '.';
    }
    do tmp[--at] = (char)('0' + (int)(value % 10));
    while (value /= 10);
    strcpy(buf, tmp + at);
    return buf;
}

static json_t *seconds(simtime t)
{
    return t == JOB_NO_TIME ? json_null() : json_num(simtime_s(t));
}

static json_t *count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *quantiles_json(const struct account_quantiles *q)
{
    json_t *o = json_object();
    json_object_set_new(o, "p50", seconds(q->p50));
    json_object_set_new(o, "p90", seconds(q->p90));
    json_object_set_new(o, "p99", seconds(q->p99));
    json_object_set_new(o, "max", seconds(q->max));
    return o;
}

static json_t *gpus_json(const struct account_gpus *g)
{
    json_t *o = json_object(), *h = json_object();
    char key[32], total[60];
    json_object_set_new(h, "0", count(g->cpu_only));
    json_object_set_new(h, "fraction", count(g->fraction));
    for (int i = 1; i <= ACCOUNT_CARDS; i++) {
        if (!g->whole[i]) continue;
        snprintf(key, sizeof key, "%d%s", i, i == ACCOUNT_CARDS ? "+" : "");
        json_object_set_new(h, key, count(g->whole[i]));
    }
    json_object_set_new(o, "histogram", h);
    json_object_set_new(o, "gpus", json_num((double)g->total_milli / 1e3));
    json_object_set_new(o, "gpus_exact", json_string(account_decimal(total, g->total_milli, 3, 3)));
    return o;
}

static json_t *reasons_json(const struct account *a, bool quarantined, int n_files,
                            const char *const *files)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->reasons; i++) {
        const struct account_reason *r = &a->reason[i];
        if (r->quarantined != quarantined) continue;
        json_t *o = json_object(), *lines = json_array();
        json_object_set_new(o, "reason", json_string(r->why->key));
        json_object_set_new(o, "rows", count(r->rows));
        json_object_set_new(o, "benign", json_boolean(r->why->benign));
        json_object_set_new(o, "text", json_string(r->why->text));
        for (uint64_t k = 0; k < r->rows && k < ACCOUNT_LINES; k++)
            json_array_append_new(
                lines, n_files > 1
                           ? json_sprintf("%s:%d", files[r->first[k].file], r->first[k].line)
                           : json_integer(r->first[k].line));
        json_object_set_new(o, "lines", lines);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *rows_json(const struct account *a, int n_files, const char *const *files)
{
    json_t *o = json_object();
    json_object_set_new(o, "read", count(a->read));
    json_object_set_new(o, "kept", count(a->kept));
    json_object_set_new(o, "repaired", count(a->repaired));
    if (a->further) json_object_set_new(o, "further_jobs", count(a->further));
    json_object_set_new(o, "quarantined", count(a->quarantined));
    json_object_set_new(o, "repairs", reasons_json(a, false, n_files, files));
    json_object_set_new(o, "quarantine", reasons_json(a, true, n_files, files));
    return o;
}

static json_t *span_json(const struct account_facts *f)
{
    json_t *o = json_object();
    json_object_set_new(o, "first_submit_s", seconds(f->first_submit));
    json_object_set_new(o, "last_submit_s", seconds(f->last_submit));
    json_object_set_new(o, "last_end_s", seconds(f->last_end));
    json_object_set_new(o, "longest_gap_s", seconds(f->longest_gap));
    return o;
}

/* Requests for each second between the first and the last arrival: the inverse of the mean gap. */
static double rate_of(const struct account *a)
{
    const struct account_facts *f = &a->facts;
    const double span = simtime_s(f->last_submit - f->first_submit);
    return a->requests.n > 1 && span > 0 ? (double)(a->requests.n - 1) / span : NAN;
}

static json_t *requests_json(const struct account *a)
{
    const struct account_facts *f = &a->facts;
    const simtime span = a->requests.n ? f->last_submit - f->first_submit : 0;
    char text[32];
    json_t *o = json_object();
    request_facts_add_json(&a->requests, a->names, o);
    dec_print(text, sizeof text, span, 9);
    json_object_set_new(o, "first_arrival_s", seconds(f->first_submit));
    json_object_set_new(o, "last_arrival_s", seconds(f->last_submit));
    json_object_set_new(o, "span_s", json_num(simtime_s(span)));
    json_object_set_new(o, "span_exact", json_string(text));
    json_object_set_new(o, "rate_per_s", json_num(rate_of(a)));
    json_object_set_new(o, "gap_s", quantiles_json(&f->gap));
    json_object_set_new(o, "gap_cv", json_num(f->gap_cv));
    json_object_set_new(o, "longest_gap_s", seconds(f->longest_gap));
    json_object_set_new(o, "distinct_arrivals", count(f->instants));
    json_object_set_new(o, "most_at_one_instant", count(f->same_instant));
    return o;
}

static json_t *missing_json(const struct account *a)
{
    const double jobs = (double)(a->kept + a->repaired + a->further);
    json_t *o = json_object();
    for (int i = 0; i < TRACE_COLUMNS; i++)
        if (!(TRACE_REQUIRED >> i & 1) && jobs > 0)
            json_object_set_new(o, trace_column_names[i],
                                json_num(1 - (double)a->present[i] / jobs));
    json_object_set_new(o, "start", json_num(1 - a->facts.starts_known));
    return o;
}

static void add_jobs_json(const struct account *a, json_t *o)
{
    const struct account_facts *f = &a->facts;
    char text[60];
    json_t *peak = json_object(), *wait = json_object();
    json_object_set_new(o, "static_fill", json_boolean(a->static_fill));
    json_object_set_new(o, "span", span_json(f));
    json_object_set_new(o, "asked", gpus_json(&a->asked));
    json_object_set_new(o, "jobs", gpus_json(&a->jobs));
    json_object_set_new(o, "gpu_seconds", json_num((double)a->gpu_milli_ns / 1e12));
    json_object_set_new(o, "gpu_seconds_exact",
                        json_string(account_decimal(text, a->gpu_milli_ns, 12, 3)));
    json_object_set_new(peak, "gpus", json_num((double)f->peak_milli / 1e3));
    json_object_set_new(peak, "at_s", seconds(f->peak_at));
    json_object_set_new(peak, "starts_known", json_num(f->starts_known));
    json_object_set_new(o, "peak", peak);
    json_object_set_new(o, "capacity_gpus",
                        a->capacity_milli ? json_num((double)a->capacity_milli / 1e3)
                                          : json_null());
    json_object_set_new(o, "offered_load", json_num(f->load));
    json_object_set_new(wait, "n", count(a->waits));
    json_object_set_new(wait, "sum", json_num((double)a->wait_ns / 1e9));
    json_object_set_new(wait, "max", seconds(a->max_wait));
    json_object_set_new(wait, "negative", count(a->negative_waits));
    json_object_set_new(o, "wait_s", wait);
    json_object_set_new(o, "duplicate_ids", count(f->duplicate_ids));
    json_object_set_new(o, "missing", missing_json(a));
}

json_t *account_json(const struct account *a, const char *format, const char *const *files,
                     int n_files)
{
    const struct account_facts *f = &a->facts;
    char text[60];
    json_t *o = json_object(), *list = json_array(), *warnings = json_array();
    json_object_set_new(o, "format", json_string("gpusim-account/1"));
    json_object_set_new(o, "source_format", json_string(format));
    for (int i = 0; i < n_files; i++) json_array_append_new(list, json_string(files[i]));
    json_object_set_new(o, "files", list);
    json_object_set_new(o, "rows", rows_json(a, n_files, files));
    if (a->from_zero) {
        dec_print(text, sizeof text, f->time_zero, 9);
        json_object_set_new(o, "time_zero_s", json_string(text));
    }
    if (a->kind == IMPORT_REQUESTS)
        json_object_set_new(o, "requests", requests_json(a));
    else
        add_jobs_json(a, o);
    if (a->extras) json_object_set(o, "facts", a->extras);
    for (size_t i = 0; i < f->warnings; i++)
        json_array_append_new(warnings, json_string(f->warning[i]));
    json_object_set_new(o, "warnings", warnings);
    return o;
}

static void print_reasons(const struct account *a, const char *const *files, int n_files, FILE *to)
{
    for (size_t i = 0; i < a->reasons; i++) {
        const struct account_reason *r = &a->reason[i];
        fprintf(to, "  %-11s %8llu  %s: %s%s\n", r->quarantined ? "quarantined" : "repaired",
                (unsigned long long)r->rows, r->why->key, r->why->text,
                r->why->benign   ? ""
                : r->quarantined ? " (not benign)"
                                 : " (doubtful: look at these)");
        fprintf(to, "  %20s  line", "");
        for (uint64_t k = 0; k < r->rows && k < ACCOUNT_LINES; k++) {
            fprintf(to, "%s", k ? ", " : " ");
            if (n_files > 1) fprintf(to, "%s:", files[r->first[k].file]);
            fprintf(to, "%d", r->first[k].line);
        }
        fprintf(to, "%s\n", r->rows > ACCOUNT_LINES ? ", ..." : "");
    }
}

static void print_gpus(const char *label, const struct account_gpus *g, FILE *to)
{
    char total[60];
    fprintf(to, "%-13s %s GPUs; jobs by size: 0: %llu, fraction: %llu", label,
            account_decimal(total, g->total_milli, 3, 3), (unsigned long long)g->cpu_only,
            (unsigned long long)g->fraction);
    for (int i = 1; i <= ACCOUNT_CARDS; i++)
        if (g->whole[i])
            fprintf(to, ", %d%s: %llu", i, i == ACCOUNT_CARDS ? "+" : "",
                    (unsigned long long)g->whole[i]);
    putc('\n', to);
}

static const char *time_text(char *buf, simtime t)
{
    if (t == JOB_NO_TIME) return "-";
    dec_print(buf, 32, t, 9);
    return buf;
}

/* Columns that no job has, then those that some lack. */
static void print_missing(const struct account *a, FILE *to)
{
    const double jobs = (double)(a->kept + a->repaired + a->further);
    const char *none[TRACE_COLUMNS];
    char list[300];
    size_t n = 0;
    for (int i = 0; i < TRACE_COLUMNS; i++)
        if (a->present[i] == 0) none[n++] = trace_column_names[i];
    if (n) fprintf(to, "%-13s %s\n", "not recorded", str_list(list, sizeof list, none, n));
    for (int i = 0; i < TRACE_COLUMNS; i++)
        if (a->present[i] && (double)a->present[i] < jobs)
            fprintf(to, "%-13s %s in %.1f %% of the jobs\n", "missing", trace_column_names[i],
                    100 * (1 - (double)a->present[i] / jobs));
}

/* "states: 2324 COMPLETED, 243 CANCELLED" */
static void print_counts(const char *label, json_t *counts, FILE *to)
{
    const char *key, *gap = " ";
    json_t *v;
    fprintf(to, "  %s:", label);
    json_object_foreach(counts, key, v)
    {
        fprintf(to, "%s%.12g %s", gap, json_number_value(v), key);
        gap = ", ";
    }
    putc('\n', to);
}

static void print_facts_and_warnings(const struct account *a, FILE *to)
{
    size_t i;
    json_t *of_file, *v;
    const char *key;
    json_array_foreach(a->extras, i, of_file)
    {
        json_object_foreach(of_file, key, v)
        {
            if (json_array_size(a->extras) == 1 && strcmp(key, "file") == 0) continue;
            if (json_is_string(v))
                fprintf(to, "  %s: %s\n", key, json_string_value(v));
            else if (json_is_number(v))
                fprintf(to, "  %s: %.12g\n", key, json_number_value(v));
            else if (json_is_object(v))
                print_counts(key, v, to);
        }
    }
    for (size_t k = 0; k < a->facts.warnings; k++)
        fprintf(to, "warning: %s\n", a->facts.warning[k]);
}

static void print_requests(const struct account *a, FILE *to)
{
    const struct account_facts *f = &a->facts;
    char t1[32], t2[32], t3[32];
    const double rate = rate_of(a);
    if (a->requests.n)
        fprintf(to, "%-13s arrivals from %s s to %s s: %s s\n", "span",
                time_text(t1, f->first_submit), time_text(t2, f->last_submit),
                time_text(t3, f->last_submit - f->first_submit));
    fprintf(to, "%-13s %llu", "requests", (unsigned long long)a->requests.n);
    if (!isnan(rate)) fprintf(to, ", %.6g per second", rate);
    if (!isnan(f->gap_cv))
        fprintf(to, ", gaps' CV %.3f (standard deviation / mean; 1 for Poisson arrivals)",
                f->gap_cv);
    fprintf(to, ", %llu distinct arrival times\n", (unsigned long long)f->instants);
    request_facts_print(&a->requests, a->names, to);
    print_facts_and_warnings(a, to);
}

void account_print(const struct account *a, const char *const *files, int n_files, FILE *to)
{
    const struct account_facts *f = &a->facts;
    char t1[32], t2[32], t3[32], sum[60];
    fprintf(to, "%-13s %llu read = %llu kept + %llu repaired + %llu quarantined\n", "rows",
            (unsigned long long)a->read, (unsigned long long)a->kept,
            (unsigned long long)a->repaired, (unsigned long long)a->quarantined);
    if (a->further)
        fprintf(to, "%-13s %llu more than rows: a row of several instances is as many jobs\n",
                "jobs", (unsigned long long)a->further);
    print_reasons(a, files, n_files, to);
    if (a->from_zero)
        fprintf(to, "%-13s %s s on the file's own clock\n", "time zero",
                time_text(t1, f->time_zero));
    if (a->kind == IMPORT_REQUESTS) {
        print_requests(a, to);
        return;
    }
    fprintf(to, "%-13s submits from %s s to %s s, last end %s s\n", "span",
            time_text(t1, f->first_submit), time_text(t2, f->last_submit),
            time_text(t3, f->last_end));
    if (a->quarantined) print_gpus("asked", &a->asked, to);
    print_gpus("jobs ask", &a->jobs, to);
    if (!a->static_fill) {
        fprintf(to, "%-13s %s\n", "GPU-seconds", account_decimal(sum, a->gpu_milli_ns, 12, 3));
        fprintf(
            to, "%-13s %.3f GPUs at %s s (%.1f %% of the starts are recorded; else at submit)\n",
            "peak", (double)f->peak_milli / 1e3, time_text(t1, f->peak_at), 100 * f->starts_known);
    }
    if (!isnan(f->load))
        fprintf(to, "%-13s %.3f %% of %.3f GPUs from first submit to last end\n", "offered load",
                100 * f->load, (double)a->capacity_milli / 1e3);
    if (a->waits)
        fprintf(to, "%-13s sum %s s, longest %s s over %llu recorded\n", "waits",
                account_decimal(sum, a->wait_ns, 9, 0), time_text(t1, a->max_wait),
                (unsigned long long)a->waits);
    print_missing(a, to);
    print_facts_and_warnings(a, to);
}

void account_add_stat_json(const struct account *a, json_t *into)
{
    if (a->kind == IMPORT_REQUESTS) return; /* account_json() says it all */
    json_t *classes = json_object(), *status = json_object();
    for (int i = 0; i < CLASS_COUNT; i++)
        if (a->by_class[i])
            json_object_set_new(classes, i ? job_class_names[i] : "none", count(a->by_class[i]));
    for (int i = 0; i < STATUS_COUNT; i++)
        if (a->by_status[i])
            json_object_set_new(status, i ? job_status_names[i] : "none", count(a->by_status[i]));
    json_object_set_new(into, "class", classes);
    json_object_set_new(into, "status", status);
    json_object_set_new(into, "duration_s", quantiles_json(&a->facts.duration));
    json_object_set_new(into, "zero_durations", count(a->zero_durations));
    json_object_set_new(into, "gap_s", quantiles_json(&a->facts.gap));
    json_object_set_new(into, "gap_cv", json_num(a->facts.gap_cv));
}

static void print_quantiles(const char *label, const struct account_quantiles *q, FILE *to)
{
    char t[4][32];
    fprintf(to, "%-13s p50 %s s, p90 %s s, p99 %s s, max %s s\n", label, time_text(t[0], q->p50),
            time_text(t[1], q->p90), time_text(t[2], q->p99), time_text(t[3], q->max));
}

static void print_words(const char *label, const char *const *words, const uint64_t *counts, int n,
                        FILE *to)
{
    const char *gap = " ";
    fprintf(to, "%-13s", label);
    for (int i = 0; i < n; i++)
        if (counts[i])
            fprintf(to, "%s%s %llu", gap, i ? words[i] : "none", (unsigned long long)counts[i]),
                gap = ", ";
    putc('\n', to);
}

void account_print_stat(const struct account *a, FILE *to)
{
    if (a->kind == IMPORT_REQUESTS) return;
    print_quantiles("durations", &a->facts.duration, to);
    print_quantiles("gaps", &a->facts.gap, to);
    if (!isnan(a->facts.gap_cv))
        fprintf(to, "%-13s %.3f (standard deviation / mean; 1 for Poisson arrivals)\n", "gaps' CV",
                a->facts.gap_cv);
    print_words("class", job_class_names, a->by_class, CLASS_COUNT, to);
    print_words("status", job_status_names, a->by_status, STATUS_COUNT, to);
}
