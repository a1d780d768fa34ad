/* plots/data_digest.c - the CSVs of a run, read once. */
#include "plots/report_data.h"

#include "base/csv.h"
#include "base/dec.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "model/gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 12, ABSENT = -1 };

/* A CSV with the columns that are wanted, found by name. */
struct rows {
    struct csv *csv;
    struct csv_row row;
    int col[COLUMNS];
    size_t n;     /* columns asked for */
    size_t width; /* fields of the header */
    size_t last;  /* policy of the row before: rows of one policy come together */
};

/* The first `need` of the `n` names must be there. */
static int rows_open(struct rows *t, const char *path, const char *const *names, size_t need,
                     size_t n, struct err *e)
{
    const struct csv_format fmt = { .delimiter = ',', .quotes = true };
    *t = (struct rows){ .n = n };
    int rc = csv_open(&t->csv, path, &fmt, e);
    if (rc == 0) rc = csv_next(t->csv, &t->row, e);
    if (rc == 0) rc = err_set(e, ERR_INPUT, &(struct loc){ .file = path }, "the file is empty");
    for (size_t i = 0; i < n && rc > 0; i++) {
        t->col[i] = ABSENT;
        for (size_t k = 0; k < t->row.n; k++)
            if (csv_is(&t->row.f[k], names[i])) t->col[i] = (int)k;
        if (t->col[i] == ABSENT && i < need)
            rc = csv_error(t->csv, &t->row, NULL, e, "expected a column \"%s\"", names[i]);
    }
    t->width = t->row.n;
    if (rc > 0) return 0;
    csv_close(t->csv);
    t->csv = NULL;
    return rc;
}

/* Next row: 1, 0 at the end, or an error. A row that was cut short is refused even where what is
 * wanted stands before the cut: rows are missing behind it. */
static int rows_next(struct rows *t, struct err *e)
{
    int rc = csv_next(t->csv, &t->row, e);
    if (rc > 0 && t->row.n != t->width)
        rc = csv_error(t->csv, &t->row, NULL, e, "expected %zu fields as in the header, found %zu",
                       t->width, t->row.n);
    return rc;
}

static const struct csv_field *field(const struct rows *t, size_t i)
{
    return t->col[i] == ABSENT ? NULL : &t->row.f[t->col[i]];
}

/* The policy a row belongs to; n_policies for one that the result does not know. */
static size_t policy_of(struct rows *t, const struct result *r)
{
    const struct csv_field *f = field(t, 0);
    for (size_t k = 0; k < r->n_policies; k++) {
        size_t i = (t->last + k) % r->n_policies;
        if (csv_is(f, r->policy[i].name)) return t->last = i;
    }
    return r->n_policies;
}

/* A number, NAN for an empty field or a column that is not there. */
static int number(const struct rows *t, size_t i, double *x, struct err *e)
{
    const struct csv_field *f = field(t, i);
    *x = NAN;
    if (!f || f->len == 0) return 0;
    enum dec_status st = dec_double(f->s, f->len, x);
    if (st == DEC_OK) return 0;
    return csv_error(t->csv, &t->row, f, e, "expected a number: %s", dec_why(st));
}

static int numbers(const struct rows *t, size_t from, size_t n, double *x, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) rc = number(t, from + i, &x[i], e);
    return rc;
}

/* ---- jobs.csv ---- */

static void spread_add(struct spread *w, double x)
{
    w->n++;
    int b = x > 0 ? (int)floor((log10(x) - LOW_DECADE) * PER_DECADE) : -1;
    if (b < 0)
        w->zero++;
    else
        w->bin[b < BINS ? b : BINS - 1]++;
}

double digest_warmup_s(const struct result *r)
{
    simtime t;
    const char *s = json_string_value(json_object_get(r->scenario, "warmup"));
    return s && unit_parse_time(s, &t, NULL) == 0 ? simtime_s(t) : 0;
}

/* Classes of the first policy with most jobs, in its order. */
static void choose_classes(struct digest *d)
{
    const struct policy_result *p = d->r->n_policies ? &d->r->policy[0] : NULL;
    for (size_t i = 0; p && i < p->n_classes && d->n_classes < SHOWN_CLASSES; i++) {
        size_t larger = 0;
        for (size_t k = 0; k < p->n_classes; k++)
            larger += p->by_class[k].count.submitted > p->by_class[i].count.submitted ||
                      (p->by_class[k].count.submitted == p->by_class[i].count.submitted && k < i);
        if (larger < SHOWN_CLASSES) d->klass[d->n_classes++] = p->by_class[i].name;
    }
    d->class_wait = xcalloc(d->n_classes * d->r->n_policies + 1, sizeof *d->class_wait);
    d->class_turnaround = xcalloc(d->n_classes * d->r->n_policies + 1, sizeof *d->class_turnaround);
}

static void add_to_class(struct digest *d, const struct csv_field *klass, size_t policy,
                         double wait, double turnaround)
{
    for (size_t c = 0; klass && c < d->n_classes; c++) {
        const char *name = d->klass[c];
        if (!csv_is(klass, name) && !(klass->len == 0 && strcmp(name, "(none)") == 0)) continue;
        size_t at = c * d->r->n_policies + policy;
        if (isfinite(wait)) spread_add(&d->class_wait[at], wait);
        if (isfinite(turnaround)) spread_add(&d->class_turnaround[at], turnaround);
        return;
    }
}

/* The card that the map's policy has; NULL: no MIG among its groups. */
static const struct gpu_spec *map_gpu(const struct digest *d, const struct gpu_catalogue *all)
{
    const struct usage *u = &d->r->policy[d->map_policy].usage;
    for (size_t g = 0; g < u->n_groups; g++) {
        const struct gpu_spec *gpu = gpu_find(all, u->group[g].gpu->name, NULL);
        if (gpu && gpu->mig) return gpu;
    }
    return NULL;
}

/* "group.0.card" -> which of the shown cards; a new one is added while there is room. -1: not
 * shown. */
static int map_card(struct digest *d, const char *s, size_t len)
{
    const char *dot = memchr(s, '.', len);
    if (!dot || (size_t)(dot - s) + 2 >= len || dot[1] != '0' || dot[2] != '.') return -1;
    for (int i = 0; i < d->n_cards; i++)
        if (strlen(d->map_card[i]) == len && memcmp(d->map_card[i], s, len) == 0) return i;
    if (d->n_cards == MAP_CARDS) return -1;
    d->map_card[d->n_cards] = arena_strndup(d->a, s, len);
    return d->n_cards++;
}

/* Boxes of slots.csv: those of the map's policy. */
static int read_slots(struct digest *d, const char *path, struct err *e)
{
    static const char *const names[] = { "policy", "start", "units", "slices",
                                         "from_s", "to_s",  "card",  "kind" };
    enum { START, UNITS, SLICES, FROM, TO, NUMBERS };
    struct gpu_catalogue *all = NULL;
    const struct gpu_spec *gpu = NULL;
    struct err unheard = { 0 };
    struct rows t;
    double x[NUMBERS];
    int rc = rows_open(&t, path, names, 8, 8, e);
    if (rc != 0) return rc;
    if (d->map_policy < d->r->n_policies && gpu_catalogue_load(&all, NULL, &unheard) == 0)
        gpu = map_gpu(d, all);
    if (gpu) d->map_units = gpu->mig->memory_units;
    while (gpu && (rc = rows_next(&t, e)) > 0) {
        if (policy_of(&t, d->r) != d->map_policy) continue;
        if ((rc = numbers(&t, 1, NUMBERS, x, e)) != 0) break;
        const struct csv_field *card = field(&t, 6);
        BUG_ON(!card); /* rows_open needs all eight columns */
        const int at = map_card(d, card->s, card->len);
        bool sound = at >= 0 && d->n_boxes < MAP_ROWS;
        for (int i = 0; i < NUMBERS; i++) sound = sound && isfinite(x[i]) && x[i] >= 0;
        if (!sound || x[START] + x[UNITS] > d->map_units) continue;
        d->box[d->n_boxes++] = (struct map_box){ .from_s = x[FROM],
                                                 .to_s = x[TO],
                                                 .card = at,
                                                 .start = (int)x[START],
                                                 .units = (int)x[UNITS],
                                                 .slices = (int)x[SLICES],
                                                 .replica = csv_is(field(&t, 7), "service") };
    }
    gpu_catalogue_destroy(all);
    csv_close(t.csv);
    return rc < 0 ? rc : 0;
}

/* A file that was cut between two rows, or is another run's, would draw other curves than the
 * tables say. */
static int check_jobs(const struct result *r, const uint64_t *rows, const char *path, struct err *e)
{
    for (size_t p = 0; p < r->n_policies; p++) {
        const uint64_t submitted = r->policy[p].jobs.submitted;
        if (rows[p] == submitted) continue;
        err_set(e, ERR_INPUT, &(struct loc){ .file = path },
                "expected %llu jobs of policy %s as in result.json, found %llu",
                (unsigned long long)submitted, r->policy[p].name, (unsigned long long)rows[p]);
        err_hint(e, "the file was cut or is another run's: run the scenario again, or remove the "
                    "file for a page without its pictures");
        return ERR_INPUT;
    }
    return 0;
}

static int read_jobs(struct digest *d, const char *path, struct err *e)
{
    static const char *const names[] = { "policy", "submit_s",     "wait_s", "start_s",
                                         "end_s",  "turnaround_s", "state",  "class" };
    enum { SUBMIT, WAIT, START, END, TURNAROUND, NUMBERS };
    struct rows t;
    double from = digest_warmup_s(d->r), x[NUMBERS];
    int rc = rows_open(&t, path, names, 3, 8, e);
    if (rc != 0) return rc;
    uint64_t *rows = arena_array(d->a, d->r->n_policies + 1, sizeof *rows);
    while ((rc = rows_next(&t, e)) > 0) {
        size_t p = policy_of(&t, d->r);
        if (p == d->r->n_policies) continue;
        rows[p]++;
        if ((rc = numbers(&t, 1, NUMBERS, x, e)) != 0) break;
        const struct csv_field *state = field(&t, 6);
        if (x[SUBMIT] < from) continue;
        if (state && !csv_is(state, "completed")) x[TURNAROUND] = NAN;
        if (isfinite(x[WAIT])) spread_add(&d->wait[p], x[WAIT]);
        if (isfinite(x[TURNAROUND])) spread_add(&d->turnaround[p], x[TURNAROUND]);
        add_to_class(d, field(&t, 7), p, x[WAIT], x[TURNAROUND]);
    }
    csv_close(t.csv);
    return rc ? rc : check_jobs(d->r, rows, path, e);
}

/* ---- series.csv and services.csv ---- */

/* The buckets that an interval touches: from *first to the one returned, and how long it is in
 * one of them. A row may be longer than many buckets (a long sample, a short run). */
static size_t buckets_of(const struct digest *d, double from, double to, size_t *first)
{
    const double wide = d->end_s / BUCKETS;
    const double a = floor(from / wide + 1e-9), b = ceil(to / wide - 1e-9) - 1;
    *first = a < 0 ? 0 : a < BUCKETS ? (size_t)a : BUCKETS - 1;
    const size_t last = b < 0 ? 0 : b < BUCKETS ? (size_t)b : BUCKETS - 1;
    return last < *first ? *first : last;
}

static double within(const struct digest *d, double from, double to, size_t k)
{
    const double wide = d->end_s / BUCKETS;
    const double s =
        fmin(to, k == BUCKETS - 1 ? to : (double)(k + 1) * wide) - fmax(from, (double)k * wide);
    return fmax(s, 0);
}

static double held(double x, double seconds)
{
    return isfinite(x) ? x * seconds : 0;
}

static int read_series(struct digest *d, const char *path, struct err *e)
{
    static const char *const names[] = {
        "policy",   "t_s",  "allocated", "queued",  "sm_active",
        "stranded", "free", "down",      "power_W", "fragmentation"
    };
    enum { AT, ALLOCATED, QUEUED, SM, STRANDED, FREE, DOWN, POWER, FRAGMENTATION, NUMBERS };
    struct rows t;
    double before = 0, x[NUMBERS];
    size_t policy = d->r->n_policies;
    int rc = rows_open(&t, path, names, 4, 10, e);
    if (rc != 0) return rc;
    while ((rc = rows_next(&t, e)) > 0) {
        size_t p = policy_of(&t, d->r);
        if (p == d->r->n_policies) continue;
        if (p != policy) before = 0; /* the first interval of a policy */
        policy = p;
        if ((rc = numbers(&t, 1, NUMBERS, x, e)) != 0) break;
        if (!isfinite(x[AT]) || x[AT] < before) continue;
        size_t k, last = buckets_of(d, before, x[AT], &k);
        for (; k <= last; k++) {
            const double s = within(d, before, x[AT], k);
            struct bucket *b = &d->time[p * BUCKETS + k];
            b->seconds += s;
            b->allocated += held(x[ALLOCATED], s);
            b->sm_active += held(x[SM], s);
            b->stranded += held(x[STRANDED], s);
            b->free += held(x[FREE], s);
            b->down += held(x[DOWN], s);
            b->power_W += held(x[POWER], s);
            if (isfinite(x[FRAGMENTATION]))
                b->fragmentation += x[FRAGMENTATION], b->fragmentation_n++;
            if (x[QUEUED] > b->queued) b->queued = x[QUEUED];
        }
        before = x[AT];
    }
    csv_close(t.csv);
    return rc;
}

static size_t service_of(const struct digest *d, const struct csv_field *f)
{
    const struct policy_result *p = &d->r->policy[0];
    for (size_t k = 0; k < d->n_services; k++)
        if (csv_is(f, p->service[k].name)) return k;
    return d->n_services;
}

static int read_services(struct digest *d, const char *path, struct err *e)
{
    static const char *const names[] = { "policy",   "service",  "t_s",
                                         "arrivals", "replicas", "latency_p99_ms" };
    enum { AT, ARRIVALS, REPLICAS, P99, NUMBERS };
    const size_t n = d->r->n_policies;
    struct rows t;
    double x[NUMBERS];
    double *before = xcalloc(n * d->n_services + 1, sizeof *before);
    int rc = rows_open(&t, path, names, 6, 6, e);
    while (rc >= 0 && t.csv && (rc = rows_next(&t, e)) > 0) {
        size_t p = policy_of(&t, d->r), k = service_of(d, field(&t, 1));
        if (p == n || k == d->n_services) continue;
        if ((rc = numbers(&t, 2, NUMBERS, x, e)) != 0) break;
        double *last = &before[k * n + p];
        if (!isfinite(x[AT]) || x[AT] < *last) continue;
        const double rate = x[AT] > *last ? x[ARRIVALS] / (x[AT] - *last) : NAN;
        size_t i, end = buckets_of(d, *last, x[AT], &i);
        for (; i <= end; i++) {
            const double part_s = within(d, *last, x[AT], i);
            struct service_bucket *b = &d->service[(k * n + p) * BUCKETS + i];
            b->seconds += part_s;
            b->arrivals += held(rate, part_s);
            b->replicas += held(x[REPLICAS], part_s);
            if (x[P99] > b->p99_ms) b->p99_ms = x[P99];
        }
        *last = x[AT];
    }
    free(before);
    csv_close(t.csv);
    return rc;
}

static int by_card_and_time(const void *a, const void *b)
{
    const struct map_box *x = a, *y = b;
    if (x->card != y->card) return x->card < y->card ? -1 : 1;
    if (x->from_s != y->from_s) return x->from_s < y->from_s ? -1 : 1;
    return x->start - y->start;
}

static int place_of(const struct digest *d, int card)
{
    int before = 0;
    for (int i = 0; i < d->n_cards; i++) {
        const size_t a = strlen(d->map_card[i]), b = strlen(d->map_card[card]);
        before += a < b || (a == b && strcmp(d->map_card[i], d->map_card[card]) < 0);
    }
    return before;
}

/* As many cards in order of their names as fit whole into the picture; of one that does not, its
 * beginning. */
static void map_choose(struct digest *d)
{
    const char *name[MAP_CARDS];
    size_t n = 0, cards = 0;
    d->map_end_s = d->end_s;
    d->map_cut = d->n_boxes == MAP_ROWS;
    if (d->n_boxes == 0) return;
    for (size_t i = 0; i < d->n_boxes; i++) d->box[i].card = place_of(d, d->box[i].card);
    for (int i = 0; i < d->n_cards; i++) name[place_of(d, i)] = d->map_card[i];
    memcpy(d->map_card, name, (size_t)d->n_cards * sizeof *name);
    qsort(d->box, d->n_boxes, sizeof *d->box, by_card_and_time);
    while (n < d->n_boxes) {
        size_t next = n;
        while (next < d->n_boxes && d->box[next].card == d->box[n].card) next++;
        if (next > MAP_BOXES && cards > 0) break;
        if (next > MAP_BOXES) { /* one card is too much: up to a time */
            next = MAP_BOXES;
            d->map_end_s = d->box[next].from_s;
            d->map_cut = true;
        }
        cards = (size_t)d->box[n].card + 1;
        n = next;
        if (n == MAP_BOXES) break;
    }
    d->n_boxes = n;
    d->n_cards = (int)cards;
}

static int read_one(struct digest *d, const char *dir, const char *name, bool *there,
                    int (*read)(struct digest *, const char *, struct err *), struct err *e)
{
    char *path = xasprintf("%s/%s", dir, name);
    int rc = 0;
    *there = access(path, R_OK) == 0;
    if (*there) rc = read(d, path, e);
    free(path);
    return rc;
}

int digest_read(struct digest *d, const struct result *r, const char *dir, struct err *e)
{
    const size_t n = r->n_policies;
    *d = (struct digest){ .r = r, .a = arena_create(), .map_policy = n };
    d->wait = xcalloc(n + 1, sizeof *d->wait);
    d->turnaround = xcalloc(n + 1, sizeof *d->turnaround);
    d->time = xcalloc(n * BUCKETS + 1, sizeof *d->time);
    d->box = xcalloc(MAP_ROWS, sizeof *d->box);
    d->n_services = n ? r->policy[0].n_services : 0;
    d->service = xcalloc(d->n_services * n * BUCKETS + 1, sizeof *d->service);
    choose_classes(d);
    for (size_t i = 0; i < n; i++) {
        if (r->policy[i].end_s > d->end_s) d->end_s = r->policy[i].end_s;
        if (d->map_policy == n && strcmp(r->policy[i].kind ? r->policy[i].kind : "", "mig") == 0)
            d->map_policy = i;
    }
    if (n == 0) return 0;
    int rc = read_one(d, dir, "jobs.csv", &d->jobs, read_jobs, e);
    if (rc == 0 && d->end_s > 0) rc = read_one(d, dir, "series.csv", &d->series, read_series, e);
    if (rc == 0) rc = read_one(d, dir, "slots.csv", &d->slots, read_slots, e);
    if (rc == 0) map_choose(d);
    if (rc == 0 && d->end_s > 0 && d->n_services)
        rc = read_one(d, dir, "services.csv", &d->services, read_services, e);
    return rc;
}

void digest_fini(struct digest *d)
{
    free(d->wait);
    free(d->turnaround);
    free(d->class_wait);
    free(d->class_turnaround);
    free(d->time);
    free(d->service);
    free(d->box);
    arena_destroy(d->a);
    *d = (struct digest){ 0 };
}
