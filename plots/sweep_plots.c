#include "plots/sweep_plots.h"

#include "base/arena.h"
#include "base/dec.h"
#include "base/figure.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "plots/figure_words.h"
#include "plots/palette.h"
#include "plots/pictures.h"
#include "plots/report_data.h"
#include "plots/sweep_doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WAIT  "jobs.wait_s.p95"
#define COST  "tco.total_usd"
#define CARDS "gpu.count"

#define MOST_BYTES  ((size_t)1 << 30) /* of sweep.json: 100,000 rows */
#define MOST_BESIDE ((size_t)1 << 26) /* of one that a report shows: it must not wait for it */

struct axis {
    const char *path;
    const char **value;
    double *number; /* NULL: not all are numbers */
    size_t n;
    struct sweep_values values; /* the same, to be found */
};

struct drawing {
    struct arena *arena;
    json_t *points; /* borrowed */
    struct axis axis[2];
    size_t n_axes; /* may be more than axis[] holds */
    const char *policy[SWEEP_PLOT_POLICIES];
    size_t colour[SWEEP_PLOT_POLICIES], n_policies;
    struct pictures pictures;
    const char *level, *cost; /* figures of the Pareto front */
    struct figure_time time;  /* of a picture of times that are long; no unit: seconds */
};

/* ---- reading ---- */

static void read_axes(struct drawing *d, json_t *vary)
{
    d->n_axes = json_array_size(vary);
    for (size_t i = 0; i < d->n_axes && i < 2; i++) {
        struct axis *x = &d->axis[i];
        json_t *values = json_object_get(json_array_get(vary, i), "values");
        x->path = json_string_value(json_object_get(json_array_get(vary, i), "path"));
        x->n = json_array_size(values);
        sweep_values_of(&x->values, d->arena, values);
        x->value = arena_array(d->arena, x->n + 1, sizeof *x->value);
        x->number = arena_array(d->arena, x->n + 1, sizeof *x->number);
        double *number = x->number;
        for (size_t k = 0; k < x->n; k++) {
            x->value[k] = json_string_value(json_array_get(values, k));
            if (dec_double(x->value[k], strlen(x->value[k]), &number[k]) != DEC_OK)
                x->number = NULL;
        }
    }
}

static void read_policies(struct drawing *d, const json_t *order)
{
    size_t i, k;
    json_t *point, *policy;
    struct palette all = { 0 };
    palette_add_all(&all, order);
    json_array_foreach(d->points, i, point)
    {
        json_array_foreach(json_object_get(point, "policies"), k, policy)
        {
            const char *name = json_string_value(json_object_get(policy, "name"));
            size_t p = 0;
            while (p < d->n_policies && strcmp(d->policy[p], name) != 0) p++;
            if (p < d->n_policies || p == SWEEP_PLOT_POLICIES) continue;
            d->policy[d->n_policies++] = name;
            palette_add(&all, name);
        }
    }
    for (k = 0; k < d->n_policies; k++) d->colour[k] = palette_place(&all, d->policy[k]);
}

static json_t *policy_of(const json_t *point, const char *name)
{
    size_t i;
    json_t *p;
    json_array_foreach(json_object_get(point, "policies"), i, p)
    {
        if (strcmp(json_string_value(json_object_get(p, "name")), name) == 0) return p;
    }
    return NULL;
}

/* As it is stored; NAN: no such figure. part: "mean", "low", "high". */
static double figure(const json_t *policy, const char *name, const char *part)
{
    const json_t *v =
        json_object_get(json_object_get(json_object_get(policy, "metrics"), name), part);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* A figure as pictures show it: shares in %. */
struct shown {
    double mean, low, high;
    const char *unit, *text; /* the mean, to what the replications support */
    bool share;
};

static struct shown shown(const struct drawing *d, const json_t *policy, const char *name)
{
    struct shown s;
    figure_words(d->pictures.lang, d->arena, name, &s.unit, &s.share);
    if (s.share) s.unit = word(d->pictures.lang, W_PERCENT); /* of what, its axis says */
    const bool long_times = d->time.unit && strcmp(s.unit, word(d->pictures.lang, W_S)) == 0;
    if (long_times) s.unit = d->time.unit;
    const double times = s.share ? 100 : long_times ? 1 / d->time.seconds : 1;
    s.mean = times * figure(policy, name, "mean");
    s.low = times * figure(policy, name, "low");
    s.high = times * figure(policy, name, "high");
    s.text = figure_value(d->pictures.lang, d->arena, s.mean, s.low, s.high, &s.unit);
    if (isfinite(s.mean) && *s.unit) s.text = arena_printf(d->arena, "%s %s", s.text, s.unit);
    return s;
}

static bool any_has(const struct drawing *d, const char *name)
{
    size_t i;
    json_t *point;
    json_array_foreach(d->points, i, point)
    {
        for (size_t p = 0; p < d->n_policies; p++)
            if (isfinite(figure(policy_of(point, d->policy[p]), name, "mean"))) return true;
    }
    return false;
}

/* Times have one unit in a picture: hours or days from 2 h up. Returns the figure's name and
 * unit. */
static const char *set_time(struct drawing *d, const char *name)
{
    const enum lang lang = d->pictures.lang;
    const char *unit, *words = figure_words(lang, d->arena, name, &unit, NULL);
    double most = 0;
    size_t i;
    json_t *point;
    d->time = (struct figure_time){ NULL, 1 };
    json_array_foreach(d->points, i, point)
    {
        for (size_t p = 0; p < d->n_policies; p++)
            most = fmax(most, figure(policy_of(point, d->policy[p]), name, "mean"));
    }
    if (strcmp(unit, word(lang, W_S)) != 0 || most < 2 * 3600)
        return figure_label(lang, d->arena, name);
    d->time = figure_time(most);
    return arena_printf(d->arena, word(lang, W_WITH_UNIT), words, d->time.unit);
}

enum { MOST_LATENCIES = 16 };

/* Tails of latency of the services, in the order of the figures: at most MOST_LATENCIES. */
static size_t find_latencies(const struct drawing *d, const char *name[MOST_LATENCIES])
{
    static const char begin[] = "services.", tail[] = ".latency_ms.p99";
    size_t n = 0, p;
    json_t *policies = json_object_get(json_array_get(d->points, 0), "policies"), *policy, *each;
    const char *key;
    for (size_t i = 1; json_array_size(policies) == 0 && i < json_array_size(d->points); i++)
        policies = json_object_get(json_array_get(d->points, i), "policies");
    json_array_foreach(policies, p, policy)
    {
        if (p > 0) break; /* all have the same figures */
        json_object_foreach(json_object_get(policy, "metrics"), key, each)
        {
            const size_t len = strlen(key);
            if (len > sizeof tail && strncmp(key, begin, sizeof begin - 1) == 0 &&
                strcmp(key + len - (sizeof tail - 1), tail) == 0 && any_has(d, key) &&
                n < MOST_LATENCIES)
                name[n++] = key;
        }
    }
    return n;
}

static size_t index_of(const struct axis *x, const json_t *point)
{
    const json_t *is = json_object_get(json_object_get(point, "set"), x->path);
    return sweep_values_find(&x->values, json_string_value(is));
}

/* ---- writing ---- */

static void cell(struct strbuf *out, const char *text)
{
    strbuf_addc(out, '\t');
    data_name(out, text);
}

/* As a cell: "1 2 3". */
static void colours(struct strbuf *out, const struct drawing *d)
{
    for (size_t p = 0; p < d->n_policies; p++)
        strbuf_addf(out, "%c%zu", p ? ' ' : '\t', d->colour[p]);
}

/* ---- one axis ---- */

static const char *short_of(struct arena *a, const char *name)
{
    char *s = arena_strdup(a, name);
    for (char *p = s; *p; p++)
        if (*p == '.') *p = '_';
    return s;
}

/* 0: by number of the value; 1: linear; 2: logarithmic, over more than a factor of 30. */
static int scale_of(const struct axis *x)
{
    double low = INFINITY, high = -INFINITY;
    if (!x->number || x->n < 2) return 0;
    for (size_t k = 0; k < x->n; k++) {
        low = fmin(low, x->number[k]);
        high = fmax(high, x->number[k]);
    }
    return low > 0 && high > 30 * low ? 2 : 1;
}

struct at {
    double x;
    size_t k;
    const json_t *point;
};

static int by_x(const void *a, const void *b)
{
    const struct at *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->k > q->k) - (p->k < q->k);
}

static void curve_row(struct drawing *d, struct strbuf *out, const struct at *at, size_t p,
                      const char *name)
{
    const struct shown s = shown(d, policy_of(at->point, d->policy[p]), name);
    const char *value = d->axis[0].value[at->k];
    strbuf_addf(out, "%.9g", at->x);
    cell(out, value);
    data_number(out, s.mean);
    data_number(out, s.low);
    data_number(out, s.high);
    const enum lang lang = d->pictures.lang;
    cell(out, arena_printf(d->arena, "%s%s%s%s%s", d->policy[p], word(lang, W_COMMA), value,
                           word(lang, W_COLON), s.text));
    strbuf_addc(out, '\n');
}

static int curve(struct drawing *d, const char *name, struct err *e)
{
    const struct axis *x = &d->axis[0];
    struct strbuf out = { 0 };
    const size_t n = json_array_size(d->points);
    struct at *at = arena_array(d->arena, n + 1, sizeof *at);
    for (size_t i = 0; i < n; i++) {
        const json_t *point = json_array_get(d->points, i);
        const size_t k = index_of(x, point);
        at[i] = (struct at){ x->number ? x->number[k] : (double)k, k, point };
    }
    qsort(at, n, sizeof *at, by_x);
    const enum lang lang = d->pictures.lang;
    bool share;
    const char *const said[] = { figure_words(lang, d->arena, name, NULL, &share),
                                 axis_words(lang, d->arena, x->path) };
    strbuf_addz(&out, "axis\tfigure\tscale\tcolours\taxis in words\tfigure in words\ttop\n");
    data_name(&out, x->path);
    cell(&out, name);
    strbuf_addf(&out, "\t%d", scale_of(x));
    colours(&out, d);
    cell(&out, said[1]);
    cell(&out, set_time(d, name));
    strbuf_addf(&out, "\t%d\n", share ? 100 : 0);
    for (size_t p = 0; p < d->n_policies; p++) {
        strbuf_addz(&out, "\n\n");
        data_name(&out, d->policy[p]);
        strbuf_addz(&out, "\tvalue\tmean\tlow\thigh\ttext\n");
        for (size_t i = 0; i < n; i++) curve_row(d, &out, &at[i], p, name);
    }
    return pictures_make(&d->pictures,
                         arena_printf(d->arena, "sweep_curve_%s", short_of(d->arena, name)),
                         "sweep_curve", word_filled(lang, d->arena, W_OVER_AXIS, said, 2), &out, e);
}

/* ---- two axes ---- */

static int heat(struct drawing *d, const char *name, size_t p, struct err *e)
{
    const struct axis *x = &d->axis[0], *y = &d->axis[1];
    struct strbuf out = { 0 };
    size_t i;
    json_t *point;
    const enum lang lang = d->pictures.lang;
    const char *const said[] = { figure_words(lang, d->arena, name, NULL, NULL),
                                 axis_words(lang, d->arena, x->path),
                                 axis_words(lang, d->arena, y->path), d->policy[p] };
    strbuf_addz(
        &out,
        "axis x\taxis y\tfigure\tpolicy\tcolumns\trows\tx in words\ty in words\tfigure in words\n");
    data_name(&out, x->path);
    cell(&out, y->path);
    cell(&out, name);
    cell(&out, d->policy[p]);
    strbuf_addf(&out, "\t%zu\t%zu", x->n, y->n);
    cell(&out, said[1]);
    cell(&out, said[2]);
    cell(&out, set_time(d, name));
    strbuf_addz(&out, "\n\n\nx\ty\tvalue x\tvalue y\tmean\ttext\n");
    json_array_foreach(d->points, i, point)
    {
        const size_t kx = index_of(x, point), ky = index_of(y, point);
        strbuf_addf(&out, "%zu\t%zu", kx, ky);
        cell(&out, x->value[kx]);
        cell(&out, y->value[ky]);
        const struct shown s = shown(d, policy_of(point, d->policy[p]), name);
        data_number(&out, s.mean);
        cell(&out, figure_plain(d->arena, s.mean, s.low, s.high));
        strbuf_addc(&out, '\n');
    }
    return pictures_make(
        &d->pictures, arena_printf(d->arena, "sweep_heat_%s_%zu", short_of(d->arena, name), p + 1),
        "sweep_heat", word_filled(lang, d->arena, W_OVER_AXES, said, 4), &out, e);
}

/* ---- cost against a service level ---- */

struct dot {
    size_t policy;
    double x, y;
    bool unserved, front; /* unserved: more than one job in a hundred */
    const json_t *point;
};

static double share_unserved(const json_t *policy)
{
    const double all = figure(policy, "jobs.submitted", "mean");
    const double not = figure(policy, "jobs.failed", "mean") +
                       figure(policy, "jobs.killed", "mean") +
                       figure(policy, "jobs.rejected", "mean");
    return all > 0 && isfinite(not ) ? not / all : 0;
}

static int by_cost(const void *a, const void *b)
{
    const struct dot *p = *(struct dot *const *)a, *q = *(struct dot *const *)b;
    if (p->y != q->y) return p->y < q->y ? -1 : 1;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p > q) - (p < q);
}

/* Cheapest first: on the front is who waits less than all that cost less. */
static void mark_front(struct dot *dot, size_t n, struct arena *a)
{
    struct dot **order = arena_array(a, n + 1, sizeof *order);
    double least = INFINITY;
    for (size_t i = 0; i < n; i++) order[i] = &dot[i];
    qsort(order, n, sizeof *order, by_cost);
    for (size_t i = 0; i < n; i++) {
        if (order[i]->unserved || order[i]->x >= least) continue;
        order[i]->front = true;
        least = order[i]->x;
    }
}

static void dot_row(struct drawing *d, const struct dot *x, double edge, struct strbuf *out)
{
    const char *key;
    json_t *value;
    strbuf_addf(out, "%.9g", fmax(x->x, edge));
    data_number(out, x->y);
    strbuf_addf(out, "\t%d\t%d\t", x->front, x->unserved);
    data_name(out, d->policy[x->policy]);
    json_object_foreach(json_object_get(x->point, "set"), key, value)
    {
        strbuf_addz(out, word(d->pictures.lang, W_COMMA));
        data_name(out, axis_words(d->pictures.lang, d->arena, key));
        strbuf_addz(out, " = ");
        data_name(out, json_string_value(value));
    }
    const json_t *policy = policy_of(x->point, d->policy[x->policy]);
    const enum lang lang = d->pictures.lang;
    strbuf_addf(out, "%s%s%s%s\n", word(lang, W_COLON), shown(d, policy, d->level).text,
                word(lang, W_COMMA), shown(d, policy, d->cost).text);
}

static int pareto(struct drawing *d, struct err *e)
{
    d->time = (struct figure_time){ NULL, 1 }; /* its axis is logarithmic, and says units itself */
    struct strbuf out = { 0 };
    const size_t points = json_array_size(d->points);
    struct dot *dot = arena_array(d->arena, points * d->n_policies + 1, sizeof *dot);
    size_t n = 0;
    double least = INFINITY;
    for (size_t i = 0; i < points; i++)
        for (size_t p = 0; p < d->n_policies; p++) {
            const json_t *point = json_array_get(d->points, i),
                         *policy = policy_of(point, d->policy[p]);
            const double x = figure(policy, d->level, "mean"), y = figure(policy, d->cost, "mean");
            if (!isfinite(x) || !isfinite(y)) continue;
            dot[n++] = (struct dot){ p, x, y, share_unserved(policy) > 0.01, false, point };
            if (x > 0) least = fmin(least, x);
        }
    if (n == 0) {
        pictures_unlink(&d->pictures, "sweep_pareto");
        return 0;
    }
    mark_front(dot, n, d->arena);
    /* nobody waits: at the edge of a log scale */
    const double edge = isfinite(least) ? least / 10 : 1e-3;
    const enum lang lang = d->pictures.lang;
    const char *const said[] = { figure_words(lang, d->arena, d->cost, NULL, NULL),
                                 figure_words(lang, d->arena, d->level, NULL, NULL) };
    strbuf_addz(&out, "level\tcost\tedge\tcolours\tlevel in words\tcost in words\n");
    data_name(&out, d->level);
    cell(&out, d->cost);
    strbuf_addf(&out, "\t%.9g", edge);
    colours(&out, d);
    const char *unit, *level = figure_words(lang, d->arena, d->level, &unit, NULL);
    const bool timed = strcmp(unit, word(lang, W_S)) == 0; /* each tic has its unit */
    cell(&out, timed ? level : figure_label(lang, d->arena, d->level));
    cell(&out, figure_label(lang, d->arena, d->cost));
    strbuf_addc(&out, '\n');
    for (size_t p = 0; p < d->n_policies; p++) {
        strbuf_addz(&out, "\n\n");
        data_name(&out, d->policy[p]);
        strbuf_addz(&out, "\tcost\tfront\tunserved\ttext\n");
        size_t of_policy = 0;
        for (size_t i = 0; i < n; i++)
            if (dot[i].policy == p) of_policy++, dot_row(d, &dot[i], edge, &out);
        if (of_policy == 0) strbuf_addz(&out, "NaN\tNaN\t0\t0\t\n");
    }
    return pictures_make(&d->pictures, "sweep_pareto", "sweep_pareto",
                         word_filled(lang, d->arena, W_AGAINST, said, 2), &out, e);
}

/* ---- all of them ---- */

static int draw(struct drawing *d, bool curves_only, struct err *e)
{
    const char *figures[MOST_LATENCIES + 4];
    size_t n = find_latencies(d, figures);
    if (n == 0) figures[n++] = d->level;
    figures[n++] = "jobs.wait_s.mean";
    figures[n++] = "gpu.allocated";
    figures[n++] = d->cost;
    const bool crossed =
        d->n_axes == 2 && json_array_size(d->points) == d->axis[0].n * d->axis[1].n;
    int rc = curves_only ? 0 : pareto(d, e);
    for (size_t f = 0; f < n && rc == 0; f++) {
        if (!any_has(d, figures[f])) continue;
        if (d->n_axes == 1) rc = curve(d, figures[f], e);
        for (size_t p = 0; p < d->n_policies && crossed && !curves_only && rc == 0; p++)
            rc = heat(d, figures[f], p, e);
    }
    return rc;
}

int sweep_plots_build(const char *dir, const char *to, enum lang lang, size_t *n, struct err *e)
{
    struct json_doc doc = { 0 };
    struct drawing d = { .arena = arena_create() };
    const char *path = arena_printf(d.arena, "%s/sweep.json", dir);
    *n = 0;
    int rc = json_doc_load_up_to(&doc, path, to ? MOST_BESIDE : MOST_BYTES, e);
    if (rc != 0) {
        err_hint(e,
                 "DIR is a folder that `gpusim sweep`, `gpusim merge` or `gpusim size -o` wrote");
        goto out;
    }
    if ((rc = sweep_doc_check(&doc, e)) != 0) goto out;
    d.points = json_object_get(doc.root, "points");
    read_axes(&d, json_object_get(doc.root, "vary"));
    read_policies(&d, json_object_get(doc.root, "policy_order"));
    const char *latency[MOST_LATENCIES];
    d.level = find_latencies(&d, latency) > 0 ? latency[0] : WAIT;
    d.cost = any_has(&d, COST) ? COST : CARDS;
    d.pictures = (struct pictures){ .a = d.arena, .lang = lang };
    rc = pictures_begin(&d.pictures, dir, to, doc.root, path, e);
    if (rc == 0) rc = draw(&d, to != NULL, e);
    *n = d.pictures.n;
    if (rc == 0) rc = pictures_end(&d.pictures, e);
out:
    json_doc_fini(&doc);
    arena_destroy(d.arena);
    return rc;
}
