/* fmt_azure_functions.c - Azure Functions traces as requests with a size: seconds of run time.
 *
 * 2021 (Zhang et al., SOSP 2021): app, func, end_timestamp, duration in seconds, one row for each
 * invocation; arrival = end - duration, exactly.
 * 2019 (Shahrad et al., USENIX ATC 2020): one row for each function and day, HashOwner, HashApp,
 * HashFunction, Trigger and 1,440 counts of invocations per minute. When they arrive within their
 * minute is not recorded: --arrival names the assumption. Run times come from the day's table of
 * durations (milliseconds), which lies beside under its published name or is named by --durations;
 * every invocation takes the function's average, or is drawn from the table's percentiles. A file
 * name with ".d07." is the seventh day.
 *
 * The service is app/function (64-digit hashes cut to 12 digits), since a function's id is unique
 * within its app only. A row of the 2019 form that cannot be used is one quarantined row, whatever
 * it counts; else the rows of the account are the invocations. */
#include "traces/format.h"

#include "base/dec.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MINUTES = 1440, MAX_PER_MINUTE = 1000000 };
#define MINUTE (60 * SIM_SECOND)
#define DAY    (86400 * SIM_SECOND)

enum { COL_app, COL_func, COL_end, COL_duration, COLUMNS_2021 };
static const char *const columns_2021[COLUMNS_2021] = { "app", "func", "end_timestamp",
                                                        "duration" };
enum { COL_owner, COL_happ, COL_hfunc, COL_trigger, COL_minute };
enum {
    DUR_app,
    DUR_func,
    DUR_average,
    DUR_REQUIRED,
    DUR_p0 = DUR_REQUIRED,
    DUR_COLUMNS = DUR_p0 + 7
};
static const char *const duration_columns[DUR_COLUMNS] = {
    "HashApp",
    "HashFunction",
    "Average",
    "percentile_Average_0",
    "percentile_Average_1",
    "percentile_Average_25",
    "percentile_Average_50",
    "percentile_Average_75",
    "percentile_Average_99",
    "percentile_Average_100",
};
static const double percent[] = { 0, 0.01, 0.25, 0.5, 0.75, 0.99, 1 };
enum { PERCENTS = sizeof percent / sizeof *percent };

static const struct import_reason before_trace = {
    "started-before", "end - duration is before the trace's start: the arrival became 0", true
};
static const struct import_reason no_duration = {
    "no-duration", "the day's table of durations lacks the function (known to occur every day)",
    true
};
static const struct import_reason never_invoked = { "never-invoked", "all counts are 0", true };
static const struct import_reason twice = {
    "duplicate-function",
    "the app and function have a row already (known to occur; --duplicates keep takes it too)", true
};

enum { ARRIVAL_RANDOM, ARRIVAL_EVEN, ARRIVAL_START };
static const char *const arrival_names[] = { "random", "even", "start", NULL };
static const char *const arrival_texts[] = {
    "at independent uniform times of their minute (Poisson, given the count)",
    "evenly spaced in their minute", "all at the start of their minute"
};
enum { SIZE_AVERAGE, SIZE_PERCENTILES };
static const char *const size_names[] = { "average", "percentiles", NULL };
static const char *const duplicate_names[] = { "quarantine", "keep", NULL };

struct options {
    const char *durations;
    int arrival, size, duplicates;
    uint64_t seed;
    int64_t max;
};

static const struct opt opts[] = {
    { "durations", 0, OPT_TEXT, offsetof(struct options, durations), "FILE",
      "azure-functions 2019: table of durations (default: the one beside the counts)", NULL },
    { "arrival", 0, OPT_CHOICE, offsetof(struct options, arrival), "HOW",
      "azure-functions 2019: arrivals within a minute: random (default), even or start",
      arrival_names },
    { "size", 0, OPT_CHOICE, offsetof(struct options, size), "HOW",
      "azure-functions 2019: run time: the function's average (default) or drawn from its percentiles",
      size_names },
    { "duplicates", 0, OPT_CHOICE, offsetof(struct options, duplicates), "WHAT",
      "azure-functions 2019: further rows of a function: quarantine (default) or keep",
      duplicate_names },
    { "seed", 0, OPT_SEED, offsetof(struct options, seed), "N", "seed of what is drawn (default 0)",
      NULL },
    { "max-requests", 0, OPT_COUNT, offsetof(struct options, max), "N",
      "give up beyond so many generated requests (default 0: no limit)", NULL },
    { 0 },
};

struct run_times { /* of one function, ns */
    sym key;
    int64_t average, at[PERCENTS];
    bool drawn; /* at[] holds a distribution */
};

struct functions {
    /* 2021 */
    struct table t;
    bool is_2019;
    /* 2019 */
    struct csv *csv;
    struct csv_row row;
    struct symtab *names, *keys; /* services; app and function in full */
    struct run_times *times;     /* by key; times[k].key 0: none */
    size_t times_n;
    VEC(unsigned char) seen; /* by key */
    struct options o;
    gsl_rng *rng;
    simtime day;
    int64_t made, functions;
    /* the function at hand: its counts, and where the generator stands */
    int64_t *counts;
    const struct run_times *of;
    sym service;
    int minute;
    int64_t left;    /* of the minute */
    int64_t *points; /* arrivals in the minute, sorted; cap MAX_PER_MINUTE */
    size_t points_cap;
};

static void functions_close(void *state)
{
    struct functions *s = state;
    if (!s) return;
    table_close(&s->t);
    csv_close(s->csv);
    symtab_destroy(s->keys);
    free(s->times);
    vec_fini(&s->seen);
    free(s->counts);
    free(s->points);
    if (s->rng) gsl_rng_free(s->rng);
    free(s);
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_hash(const struct csv_field *f)
{
    for (size_t i = 0; i < f->len; i++)
        if (!strchr("0123456789abcdef", f->s[i])) return false;
    return f->len == 64;
}

static sym service_of(struct symtab *names, const struct csv_field *app,
                      const struct csv_field *func)
{
    const size_t a = is_hash(app) ? 12 : app->len, f = is_hash(func) ? 12 : func->len;
    char *text = xmalloc(a + f + 1);
    memcpy(text, app->s, a);
    text[a] = '/';
    memcpy(text + a + 1, func->s, f);
    sym id = symtab_add(names, text, a + f + 1);
    free(text);
    return id;
}

static sym key_of(struct functions *s, const struct csv_field *app, const struct csv_field *func)
{
    char *text = xmalloc(app->len + func->len + 1);
    memcpy(text, app->s, app->len);
    text[app->len] = '\n';
    memcpy(text + app->len + 1, func->s, func->len);
    sym id = symtab_add(s->keys, text, app->len + func->len + 1);
    free(text);
    return id;
}

/* ---- 2021 ----------------------------------------------------------------------------------- */

static int next_2021(struct functions *s, struct import_row *row, struct err *e)
{
    struct request_row *r = &row->request;
    simtime end;
    int rc = table_next(&s->t, row, e);
    if (rc <= 0 || row->quarantined) return rc;
    const struct csv_field app = table_cell(&s->t, COL_app), func = table_cell(&s->t, COL_func);
    r->service = service_of(s->names, &app, &func);
    if (!table_number(&s->t, COL_end, "end_timestamp", 9, &end, row) ||
        !table_number(&s->t, COL_duration, "duration", 9, &r->size_nano, row))
        return 1;
    if (r->size_nano < 0)
        import_quarantine(row, &import_bad_value, "duration: negative");
    else if (end < 0)
        import_quarantine(row, &import_bad_value, "end_timestamp: negative");
    else
        r->arrival = end - r->size_nano;
    if (!row->quarantined && r->arrival < 0) {
        r->arrival = 0;
        import_repair(row, &before_trace);
    }
    return 1;
}

/* ---- 2019: the table of durations ------------------------------------------------------------- */

/* The path with `from` in its last part replaced, or NULL. */
static char *replaced(const char *path, const char *from, const char *to)
{
    const char *slash = strrchr(path, '/'), *at = strstr(slash ? slash : path, from);
    return at ? xasprintf("%.*s%s%s", (int)(at - path), path, to, at + strlen(from)) : NULL;
}

static char *durations_path(const struct options *o, const char *path)
{
    if (o->durations) return xstrdup(o->durations);
    char *beside = replaced(path, "invocations_per_function_md", "function_durations_percentiles");
    if (!beside) beside = replaced(path, "invocations", "durations");
    if (beside && access(beside, R_OK) == 0) return beside;
    free(beside);
    return NULL;
}

static void put_times(struct functions *s, const struct run_times *t)
{
    if (s->times_n <= t->key) {
        size_t n = 2 * (size_t)t->key + 64;
        s->times = xreallocarray(s->times, n, sizeof *s->times);
        memset(s->times + s->times_n, 0, (n - s->times_n) * sizeof *s->times);
        s->times_n = n;
    }
    if (!s->times[t->key].key) s->times[t->key] = *t; /* the first of duplicates */
}

static int read_durations(struct functions *s, const char *path, struct err *e)
{
    struct table t = { 0 };
    struct import_row row = { 0 };
    int rc = table_open(&t, path, ',', "table of durations", duration_columns, DUR_REQUIRED,
                        DUR_COLUMNS, e);
    while (rc == 0 && (rc = table_next(&t, &row, e)) > 0) {
        const struct csv_field app = table_cell(&t, DUR_app), func = table_cell(&t, DUR_func);
        struct run_times r = { .key = key_of(s, &app, &func), .drawn = true };
        bool good =
            !row.quarantined && table_number(&t, DUR_average, "Average", 6, &r.average, &row);
        for (int i = 0; good && i < PERCENTS; i++) {
            if (t.column_of[DUR_p0 + i] < 0)
                r.drawn = false;
            else
                good =
                    table_number(&t, DUR_p0 + i, duration_columns[DUR_p0 + i], 6, &r.at[i], &row);
            if (r.drawn && (r.at[i] < 0 || (i && r.at[i] < r.at[i - 1]))) r.drawn = false;
        }
        if (good && r.average < 0) import_quarantine(&row, &import_bad_value, "Average: negative");
        if (row.quarantined) {
            rc = csv_error(t.csv, &t.row, NULL, e, "%s: %s", row.quarantined->text, row.detail);
            break;
        }
        put_times(s, &r);
        rc = 0;
    }
    table_close(&t);
    return rc;
}

/* ---- 2019: the counts ------------------------------------------------------------------------- */

static int open_2019(struct functions *s, const char *path, struct import_info *info, struct err *e)
{
    char *durations = durations_path(&s->o, path);
    int rc = 0;
    if (!durations) {
        const struct loc at = { .file = path };
        rc = err_set(e, ERR_INPUT, &at,
                     "the counts of 2019 need the day's table of durations, and none lies beside");
        err_hint(e, "--durations FILE names it");
        return rc;
    }
    s->keys = symtab_create();
    rc = read_durations(s, durations, e);
    free(durations);
    s->counts = xcalloc(MINUTES, sizeof *s->counts);
    s->minute = MINUTES; /* no function at hand */

    const char *slash = strrchr(path, '/'), *d = strstr(slash ? slash : path, ".d");
    if (d && d[2] >= '0' && d[2] <= '9' && d[3] >= '0' && d[3] <= '9' && d[4] == '.') {
        int day = (d[2] - '0') * 10 + d[3] - '0';
        s->day = (day ? day - 1 : 0) * DAY;
    }
    s->rng = rng_create(s->o.seed, (uint64_t)(s->day / DAY), "azure-functions");
    snprintf(info->origin, sizeof info->origin, "form=2019 arrival=%s size=%s seed=%llu",
             arrival_names[s->o.arrival], size_names[s->o.size], (unsigned long long)s->o.seed);
    snprintf(info->note, sizeof info->note, "assumption: invocations arrive %s (--arrival)",
             arrival_texts[s->o.arrival]);
    return rc;
}

static int functions_open(void **state, const char *path, const void *options, struct symtab *names,
                          struct import_info *info, struct err *e)
{
    const struct csv_format fmt = { .delimiter = ',', .quotes = true };
    struct functions *s = xcalloc(1, sizeof *s);
    const char *head = NULL;
    size_t len = 0;
    s->o = *(const struct options *)options;
    s->names = names;
    info->kind = IMPORT_REQUESTS;
    int rc = csv_open(&s->csv, path, &fmt, e);
    if (rc == 0) rc = csv_peek(s->csv, &head, &len, e);
    if (rc == 0) rc = csv_next(s->csv, &s->row, e);
    if (rc == 0) {
        const struct loc at = { .file = csv_file(s->csv) };
        rc = err_set(e, ERR_INPUT, &at, "expected an Azure Functions trace, found an empty file");
    }
    if (rc > 0) {
        s->is_2019 = s->row.n > COL_minute && csv_is(&s->row.f[COL_hfunc], "HashFunction") &&
                     csv_is(&s->row.f[COL_minute], "1");
        if (s->is_2019)
            rc = open_2019(s, path, info, e);
        else
            rc = table_adopt(&s->t, s->csv, &s->row, ',', "azure-functions", columns_2021,
                             COLUMNS_2021, COLUMNS_2021, e);
        if (!s->is_2019) s->csv = NULL; /* the table's now */
    }
    if (rc < 0) {
        functions_close(s);
        return rc;
    }
    *state = s;
    return 0;
}

static bool read_counts(struct functions *s, struct import_row *row)
{
    int64_t all = 0;
    for (int i = 0; i < MINUTES; i++) {
        const struct csv_field *f = &s->row.f[COL_minute + i];
        enum dec_status st = dec_fixed_exact(f->s, f->len, 0, &s->counts[i]);
        if (st == DEC_OK && (s->counts[i] < 0 || s->counts[i] > MAX_PER_MINUTE)) st = DEC_RANGE;
        if (st != DEC_OK) {
            import_quarantine(row, &import_bad_value, "minute %d: %s", i + 1, dec_why(st));
            return false;
        }
        all += s->counts[i];
    }
    if (all == 0) import_quarantine(row, &never_invoked, "%s", "");
    return all > 0;
}

/* Takes the function of s->row up; false: *row says why not. */
static bool start_function(struct functions *s, struct import_row *row)
{
    row->line = s->row.line;
    row->raw = s->row.text;
    row->raw_len = s->row.len;
    s->functions++;
    if (s->row.n != COL_minute + MINUTES) {
        import_quarantine(row, &import_field_count, "%zu fields, not %d", s->row.n,
                          COL_minute + MINUTES);
        return false;
    }
    const struct csv_field *app = &s->row.f[COL_happ], *func = &s->row.f[COL_hfunc];
    const sym key = key_of(s, app, func);
    while (s->seen.n <= key) vec_push(&s->seen, 0);
    const bool again = s->seen.v[key];
    s->seen.v[key] = 1;
    if (again && !s->o.duplicates) {
        import_quarantine(row, &twice, "%s", "");
        return false;
    }
    if (!read_counts(s, row)) return false;
    if (key >= s->times_n || !s->times[key].key) {
        import_quarantine(row, &no_duration, "%s", "");
        return false;
    }
    s->of = &s->times[key];
    s->service = service_of(s->names, app, func);
    s->minute = -1;
    s->left = 0;
    return true;
}

static int by_i64(const void *pa, const void *pb)
{
    const int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return (a > b) - (a < b);
}

/* The arrivals of one minute, from its start. */
static void draw_minute(struct functions *s, int64_t n)
{
    if (s->points_cap < (size_t)n) {
        s->points_cap = (size_t)n * 2;
        s->points = xreallocarray(s->points, s->points_cap, sizeof *s->points);
    }
    for (int64_t i = 0; i < n; i++)
        s->points[i] = s->o.arrival == ARRIVAL_RANDOM
                           ? (int64_t)(gsl_rng_uniform(s->rng) * (double)MINUTE)
                       : s->o.arrival == ARRIVAL_EVEN ? MINUTE * i / n
                                                      : 0;
    if (s->o.arrival == ARRIVAL_RANDOM) qsort(s->points, (size_t)n, sizeof *s->points, by_i64);
}

/* Inverse of the piecewise linear distribution through the percentiles. */
static int64_t draw_size(struct functions *s)
{
    if (s->o.size == SIZE_AVERAGE || !s->of->drawn) return s->of->average;
    const double u = gsl_rng_uniform(s->rng);
    int i = 1;
    while (i < PERCENTS - 1 && u >= percent[i]) i++;
    const double part = (u - percent[i - 1]) / (percent[i] - percent[i - 1]);
    return s->of->at[i - 1] + (int64_t)(part * (double)(s->of->at[i] - s->of->at[i - 1]));
}

static int next_2019(struct functions *s, struct import_row *row, struct err *e)
{
    while (s->left == 0) {
        if (s->minute < MINUTES) {
            if (++s->minute < MINUTES && (s->left = s->counts[s->minute]) > 0)
                draw_minute(s, s->left);
            continue;
        }
        int rc = csv_next(s->csv, &s->row, e);
        if (rc <= 0) return rc;
        if (!start_function(s, row)) return 1;
    }
    if (s->o.max && s->made++ == s->o.max) {
        const struct loc at = { .file = csv_file(s->csv), .line = s->row.line };
        return err_set(e, ERR_INPUT, &at, "more than %lld requests (--max-requests)",
                       (long long)s->o.max);
    }
    row->line = s->row.line;
    row->raw = s->row.text;
    row->raw_len = s->row.len;
    row->request.service = s->service;
    row->request.arrival =
        s->day + s->minute * MINUTE + s->points[s->counts[s->minute] - s->left--];
    row->request.size_nano = draw_size(s);
    return 1;
}

static int functions_next(void *state, struct import_row *row, struct err *e)
{
    struct functions *s = state;
    return s->is_2019 ? next_2019(s, row, e) : next_2021(s, row, e);
}

static void functions_facts(const void *state, json_t *into)
{
    const struct functions *s = state;
    if (s->is_2019) json_object_set_new(into, "functions", json_integer(s->functions));
    json_object_set_new(into, "form",
                        json_string(s->is_2019 ? "2019: counts per minute" : "2021: invocations"));
}

static int functions_sniff(const char *head, size_t len)
{
    static const char *const counts[] = { "HashOwner", "HashApp", "HashFunction", "Trigger", "1" };
    if (header_has(head, len, ',', columns_2021, COLUMNS_2021)) return 95;
    return header_has(head, len, ',', counts, 5) ? 95 : 0;
}

const struct trace_format fmt_azure_functions = {
    .name = "azure-functions",
    .help = "Azure Functions: counts per minute (2019) or invocations (2021)",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = functions_sniff,
    .open = functions_open,
    .next = functions_next,
    .close = functions_close,
    .facts = functions_facts,
};
