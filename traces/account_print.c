/* account_print.c - an account as JSON and as text for people; what it counts: account.c. */
#include "traces/account.h"

#include "base/dec.h"
#include "base/json.h"
#include "base/str.h"

#include <math.h>
#include <string.h>

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
