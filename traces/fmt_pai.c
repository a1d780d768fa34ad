/* fmt_pai.c - the tables of Alibaba's PAI trace (cluster-trace-gpu-v2020; Weng et al., "MLaaS in
 * the Wild", NSDI 2022). FILE is the task table, with or without its header, or a folder that holds
 * pai_task_table.csv and perhaps pai_job_table.csv and pai_instance_table.csv.
 *
 * A task is a job of inst_num instances of plan_gpu percent of a card each. Submit: the job's
 * start_time (--job), else the task's, which is its launch. Run: of instances with a fraction of
 * a card their own times (--instance); of whole cards, which start all or nothing, from the
 * first start to the last end, while the account's GPU-seconds are the sum of their own; else
 * the task's. 0 and empty mean unknown. Seconds minus a secret constant: hour and weekday are
 * right in UTC+8, the date is not, so none is printed. Memory: 40 bytes for each job of the job
 * table, 24 for each task of the instance table. */
#include "traces/instances.h"
#include "traces/pai_instances.h"

#include "base/dec.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    T_job,
    T_task,
    T_inst_num,
    T_status,
    T_start,
    T_end,
    T_cpu,
    T_mem,
    T_gpu,
    T_gpu_type,
    TASK_FIELDS
};
enum { J_job, J_id, J_user, J_status, J_start, J_end, JOB_FIELDS };
enum { I_job, I_task, I_inst, I_worker, I_id, I_status, I_start, I_end, I_machine, INST_FIELDS };

static const struct import_reason waiting = { "waiting", "the task had not started", true };
static const struct import_reason no_start = {
    "no-start", "the start is unknown (empty or 0), as the trace's authors drop them", true
};
static const struct import_reason no_end = {
    "no-end", "the end is unknown (empty or 0): still running or lost", true
};
static const struct import_reason ends_first = { "ends-before-start", "the end is before the start",
                                                 false };
static const struct import_reason repeated_header = { "header", "the names of the columns", true };
static const struct import_reason no_job = {
    "no-job", "its job is not in the job table: submitted when the task was launched", false
};
static const struct import_reason instances_differ = {
    "instances-differ",
    "instances ran for different times: the job lasts from the first start to the last end, the "
    "account's GPU-seconds are their own",
    true
};

struct options {
    const char *job, *instance;
    bool gpu_types;
};

static const struct opt opts[] = {
    { "job", 0, OPT_TEXT, offsetof(struct options, job), "FILE",
      "pai: job table, for the submit times and the users", NULL },
    { "instance", 0, OPT_TEXT, offsetof(struct options, instance), "FILE",
      "pai: instance table, for the run times", NULL },
    { "gpu-types", 0, OPT_FLAG, offsetof(struct options, gpu_types), NULL,
      "pai: hand gpu_type on as the cards the job may use", NULL },
    { 0 },
};

/* ---- joined tables ---------------------------------------------------------------------------- */

struct entry {
    uint64_t key; /* hash of the names; 0: free */
    simtime first, last;
    sym user;
};

struct join {
    struct entry *v;
    size_t n, cap;
};

static uint64_t key_of(const struct csv_field *a, const struct csv_field *b)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < a->len; i++) h = (h ^ (unsigned char)a->s[i]) * UINT64_C(0x100000001b3);
    h = (h ^ 0x100) * UINT64_C(0x100000001b3);
    for (size_t i = 0; b && i < b->len; i++)
        h = (h ^ (unsigned char)b->s[i]) * UINT64_C(0x100000001b3);
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 33;
    return h ? h : 1;
}

static struct entry *slot(struct entry *v, size_t cap, uint64_t key)
{
    size_t i = (size_t)key & (cap - 1);
    while (v[i].key && v[i].key != key) i = (i + 1) & (cap - 1);
    return &v[i];
}

static const struct entry *join_find(const struct join *j, uint64_t key)
{
    if (j->cap == 0) return NULL;
    const struct entry *found = slot(j->v, j->cap, key);
    return found->key ? found : NULL;
}

static struct entry *join_put(struct join *j, uint64_t key)
{
    if (2 * (j->n + 1) > j->cap) {
        const size_t cap = j->cap ? 2 * j->cap : 1024;
        struct entry *v = xcalloc(cap, sizeof *v);
        for (size_t i = 0; i < j->cap; i++)
            if (j->v[i].key) *slot(v, cap, j->v[i].key) = j->v[i];
        free(j->v);
        j->v = v;
        j->cap = cap;
    }
    struct entry *at = slot(j->v, j->cap, key);
    if (!at->key) {
        *at = (struct entry){ .key = key, .first = JOB_NO_TIME, .last = JOB_NO_TIME };
        j->n++;
    }
    return at;
}

/* Seconds; empty, 0 and words for missing are unknown. False: not a number, or negative. */
static bool seconds(const struct csv_field *f, simtime *out)
{
    *out = JOB_NO_TIME;
    if (cell_missing(f)) return true;
    simtime t;
    if (dec_fixed(f->s, f->len, 9, &t) != DEC_OK || t < 0) return false;
    if (t > 0) *out = t;
    return true;
}

struct pai {
    struct csv *csv;
    struct csv_row row;
    struct symtab *names;
    struct join jobs;
    struct pai_instances *instances; /* NULL: no such table */
    const struct pai_span *spans;    /* of the task at hand */
    size_t n_spans;
    bool has_jobs, gpu_types;
    struct instances inst;
    struct strbuf id;
    uint64_t jobs_missing, tasks_missing;
};

static bool is_header(const struct csv_row *r)
{
    return r->n > 0 && csv_is(&r->f[0], "job_name");
}

static void add_job(struct pai *s, const struct csv_row *r)
{
    simtime start;
    if (!seconds(&r->f[J_start], &start)) return;
    struct entry *at = join_put(&s->jobs, key_of(&r->f[J_job], NULL));
    if (at->first == JOB_NO_TIME) at->first = start;
    at->user = symtab_add(s->names, r->f[J_user].s, r->f[J_user].len);
}

static enum pai_rank rank_of(const struct csv_field *f)
{
    if (csv_is(f, "Terminated")) return PAI_TERMINATED;
    if (csv_is(f, "Failed")) return PAI_FAILED;
    return csv_is(f, "Running") ? PAI_RUNS : PAI_WAITS;
}

static void add_instance(struct pai *s, const struct csv_row *r)
{
    const struct csv_field *f = r->f;
    struct pai_span span;
    if (!seconds(&f[I_start], &span.start) || !seconds(&f[I_end], &span.end)) return;
    pai_instances_add(s->instances, key_of(&f[I_job], &f[I_task]),
                      f[I_worker].len ? key_of(&f[I_worker], NULL) : 0, rank_of(&f[I_status]),
                      span);
}

static int load(struct pai *s, const char *path, size_t fields,
                void (*add)(struct pai *, const struct csv_row *), struct err *e)
{
    const struct csv_format fmt = { .delimiter = ',', .quotes = true };
    struct csv *csv;
    struct csv_row r;
    int rc = csv_open(&csv, path, &fmt, e);
    if (rc < 0) return rc;
    while ((rc = csv_next(csv, &r, e)) > 0) {
        if (is_header(&r)) continue;
        if (r.n != fields) {
            rc = csv_error(csv, &r, NULL, e, "expected %zu fields, found %zu", fields, r.n);
            break;
        }
        add(s, &r);
    }
    csv_close(csv);
    return rc;
}

/* ---- the task table --------------------------------------------------------------------------- */

static void pai_close(void *state)
{
    struct pai *s = state;
    if (!s) return;
    csv_close(s->csv);
    free(s->jobs.v);
    pai_instances_destroy(s->instances);
    instances_fini(&s->inst);
    strbuf_fini(&s->id);
    free(s);
}

static char *in_folder(const char *folder, const char *name)
{
    char *path = xasprintf("%s/%s", folder, name);
    if (access(path, R_OK) == 0) return path;
    free(path);
    return NULL;
}

static int open_tables(struct pai *s, const char *path, const struct options *o, struct err *e)
{
    const struct csv_format fmt = { .delimiter = ',', .quotes = true };
    struct stat st;
    char *job = NULL, *instance = NULL, *task = NULL;
    const struct loc at = { .file = path };
    int rc = 0;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        task = in_folder(path, "pai_task_table.csv");
        job = in_folder(path, "pai_job_table.csv");
        instance = in_folder(path, "pai_instance_table.csv");
        if (!task)
            rc = err_set(e, ERR_IO, &at, "expected pai_task_table.csv in this folder, found none");
    }
    if (o->job) free(job), job = xstrdup(o->job);
    if (o->instance) free(instance), instance = xstrdup(o->instance);
    if (rc == 0 && job) rc = load(s, job, JOB_FIELDS, add_job, e);
    if (rc == 0 && instance && !(s->instances = pai_instances_create(e))) rc = ERR_IO;
    if (rc == 0 && instance) rc = load(s, instance, INST_FIELDS, add_instance, e);
    if (rc == 0 && instance) rc = pai_instances_sort(s->instances, e);
    s->has_jobs = job != NULL;
    if (rc == 0) rc = csv_open(&s->csv, task ? task : path, &fmt, e);
    free(job);
    free(instance);
    free(task);
    return rc;
}

static int pai_open(void **state, const char *path, const void *options, struct symtab *names,
                    struct import_info *info, struct err *e)
{
    const struct options *o = options;
    struct pai *s = xcalloc(1, sizeof *s);
    const char *head;
    size_t len;
    s->names = names;
    s->gpu_types = o->gpu_types;
    int rc = open_tables(s, path, o, e);
    if (rc == 0) rc = csv_peek(s->csv, &head, &len, e);
    if (rc == 0 && !head) {
        const struct loc at = { .file = path };
        rc = err_set(e, ERR_INPUT, &at, "expected a PAI task table, found an empty file");
    }
    if (rc < 0) {
        pai_close(s);
        return rc;
    }
    if (!s->has_jobs)
        snprintf(info->note, sizeof info->note,
                 "without --job a task counts as submitted when it was launched: no waits");
    info->from_zero = true;
    snprintf(info->origin, sizeof info->origin, "zone=+08:00 dates=shifted");
    *state = s;
    return 0;
}

static bool cell(const struct csv_field *f, const char *what, int digits, int64_t *out,
                 struct import_row *row)
{
    if (cell_missing(f)) return true;
    enum dec_status st = dec_fixed(f->s, f->len, digits, out);
    if (st == DEC_OK && *out >= 0) return true;
    import_quarantine(row, &import_bad_value, "%s: %s", what,
                      st == DEC_OK ? "negative" : dec_why(st));
    return false;
}

static void read_status(const struct csv_field *f, struct import_row *row)
{
    if (csv_is(f, "Terminated")) row->job.status = STATUS_completed;
    if (csv_is(f, "Failed")) row->job.status = STATUS_failed;
    if (csv_is(f, "Running")) row->job.status = STATUS_running;
    if (csv_is(f, "Waiting")) import_quarantine(row, &waiting, "%s", "");
}

/* From the first start to the last end. */
static struct pai_span envelope(const struct pai *s)
{
    struct pai_span all = { JOB_NO_TIME, JOB_NO_TIME };
    for (size_t i = 0; i < s->n_spans; i++) {
        const struct pai_span *v = &s->spans[i];
        if (v->start != JOB_NO_TIME && (all.start == JOB_NO_TIME || v->start < all.start))
            all.start = v->start;
        if (v->end != JOB_NO_TIME && (all.end == JOB_NO_TIME || v->end > all.end)) all.end = v->end;
    }
    return all;
}

static bool known(const struct pai_span *v)
{
    return v->start != JOB_NO_TIME && v->end != JOB_NO_TIME && v->end >= v->start;
}

/* The k-th of the jobs that a task became, from 1: its own times, where they are known. */
static void own_times(const struct pai *s, int64_t k, struct import_row *row)
{
    if (row->quarantined || k < 1 || (uint64_t)k > s->n_spans || !known(&s->spans[k - 1])) return;
    row->start = s->spans[k - 1].start;
    row->job.duration = s->spans[k - 1].end - row->start;
}

/* A gang of whole cards: what its n instances held by their own times, when all of them are
 * known. */
static void sum_times(const struct pai *s, int64_t per_milli, int64_t n, struct import_row *row)
{
    import_sum ns = 0;
    if (row->quarantined || n < 1 || (uint64_t)n != s->n_spans || per_milli < 1000) return;
    for (size_t i = 0; i < s->n_spans; i++) {
        if (!known(&s->spans[i])) return;
        ns += (import_sum)(uint64_t)(s->spans[i].end - s->spans[i].start);
    }
    if (ns == (import_sum)(uint64_t)row->job.duration * (uint64_t)n) return;
    row->gpu_milli_ns = ns * (uint64_t)per_milli;
    import_repair(row, &instances_differ);
}

static void read_times(struct pai *s, struct import_row *row)
{
    const struct csv_field *f = s->row.f;
    const struct entry *job = join_find(&s->jobs, key_of(&f[T_job], NULL));
    simtime start, end, launched;
    if (!seconds(&f[T_start], &start) || !seconds(&f[T_end], &end)) {
        import_quarantine(row, &import_bad_value, "start_time, end_time: expected seconds");
        return;
    }
    launched = start;
    if (s->n_spans) start = envelope(s).start, end = envelope(s).end;
    s->tasks_missing += s->instances && !s->n_spans;
    if (start == JOB_NO_TIME)
        import_quarantine(row, &no_start, "%s", "");
    else if (end == JOB_NO_TIME)
        import_quarantine(row, &no_end, "%s", "");
    else if (end < start)
        import_quarantine(row, &ends_first, "%s", "");
    else
        row->job.duration = end - start;
    if (row->quarantined) return;
    row->start = s->has_jobs || s->instances ? start : JOB_NO_TIME;
    row->job.submit = launched != JOB_NO_TIME ? launched : start;
    if (job && job->first != JOB_NO_TIME) row->job.submit = job->first;
    if (job) row->job.user = job->user;
    if (!s->has_jobs || job) return;
    s->jobs_missing++;
    import_repair(row, &no_job);
}

static void read_task(struct pai *s, struct import_row *row)
{
    const struct csv_field *f = s->row.f;
    int64_t n = 1, gpu = 0, cpu = -1, mem = -1;
    strbuf_clear(&s->id);
    strbuf_add(&s->id, f[T_job].s, f[T_job].len);
    if (f[T_job].len > 0 && f[T_task].len > 0) {
        strbuf_addc(&s->id, '/');
        strbuf_add(&s->id, f[T_task].s, f[T_task].len);
    }
    row->job.id = s->id.s ? s->id.s : "";
    row->job.id_len = s->id.len;
    read_status(&f[T_status], row);
    read_times(s, row);
    /* percent of a core and of a card, so x 10 are thousandths; GB of memory */
    if (!cell(&f[T_inst_num], "inst_num", 0, &n, row) ||
        !cell(&f[T_gpu], "plan_gpu", 1, &gpu, row) || !cell(&f[T_cpu], "plan_cpu", 1, &cpu, row) ||
        !cell(&f[T_mem], "plan_mem", 9, &mem, row))
        return;
    if (cpu >= 0 && cpu <= INT32_MAX) row->job.cpus_milli = (int32_t)cpu;
    if (mem >= 0) row->job.mem_bytes = (uint64_t)mem;
    if (s->gpu_types && gpu > 0 && !cell_missing(&f[T_gpu_type]) && !csv_is(&f[T_gpu_type], "CPU"))
        row->job.gpu_allowed = symtab_add(s->names, f[T_gpu_type].s, f[T_gpu_type].len);
    instances_start(&s->inst, row, gpu, n);
    if (s->inst.n > 1)
        own_times(s, 1, row);
    else
        sum_times(s, gpu, n, row);
}

static int pai_next(void *state, struct import_row *row, struct err *e)
{
    struct pai *s = state;
    if (instances_next(&s->inst, row)) {
        own_times(s, s->inst.k, row);
        return 1;
    }
    int rc = csv_next(s->csv, &s->row, e);
    if (rc <= 0) return rc;
    s->n_spans = 0;
    row->line = s->row.line;
    row->raw = s->row.text;
    row->raw_len = s->row.len;
    if (is_header(&s->row))
        import_quarantine(row, &repeated_header, "%s", "");
    else if (s->row.n != TASK_FIELDS)
        import_quarantine(row, &import_field_count, "%zu fields, a task has %d", s->row.n,
                          TASK_FIELDS);
    else if (s->instances &&
             (rc = pai_instances_of(s->instances, key_of(&s->row.f[T_job], &s->row.f[T_task]),
                                    &s->spans, &s->n_spans, e)) < 0)
        return rc;
    else
        read_task(s, row);
    return 1;
}

static void pai_facts(const void *state, json_t *into)
{
    const struct pai *s = state;
    if (s->has_jobs)
        json_object_set_new(into, "tasks_without_job", json_integer((json_int_t)s->jobs_missing));
    if (!s->instances) return;
    json_object_set_new(into, "tasks_without_instances",
                        json_integer((json_int_t)s->tasks_missing));
    json_object_set_new(into, "instances_without_task",
                        json_integer((json_int_t)pai_instances_orphans(s->instances)));
    json_object_set_new(into, "duplicate_instances",
                        json_integer((json_int_t)pai_instances_duplicates(s->instances)));
}

/* A header, or ten fields whose fourth is a status. */
static int pai_sniff(const char *head, size_t len)
{
    static const char *const status[] = { "Terminated", "Failed", "Running", "Waiting" };
    static const char *const names[] = { "job_name", "task_name", "inst_num", "plan_gpu" };
    const char *at = head, *nl = memchr(head, '\n', len);
    const char *end = nl ? nl : head + len;
    size_t n = 1, of_status = 0;
    if (header_has(head, len, ',', names, 4)) return 90;
    for (const char *p = head; p < end; p++) {
        if (*p != ',') continue;
        if (n == T_status) at = p + 1;
        if (n == T_start) of_status = (size_t)(p - at);
        n++;
    }
    if (n != TASK_FIELDS) return 0;
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (strlen(status[i]) == of_status && memcmp(status[i], at, of_status) == 0) return 80;
    return 0;
}

const struct trace_format fmt_pai = {
    .name = "pai",
    .help =
        "Alibaba PAI 2020: its task table, joined with --job and --instance (40 bytes of memory "
        "for each of their jobs, 24 for each task), or a folder",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = pai_sniff,
    .open = pai_open,
    .next = pai_next,
    .close = pai_close,
    .facts = pai_facts,
};
