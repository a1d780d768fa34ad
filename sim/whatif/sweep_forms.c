/* The forms of a sweep's table, written point by point: no table is ever held. */
#include "base/figure.h"
#include "base/outfile.h"
#include "whatif/sweep_table.h"

#include <math.h>
#include <string.h>

#define TABLE_FORMAT "gpusim-sweep/1"

/* ---- sweep.csv ---- */

static void csv_number(struct strbuf *out, double v)
{
    strbuf_addc(out, ',');
    if (isfinite(v)) strbuf_addf(out, "%.12g", v);
}

static void csv_head(const struct sweep_table *t, struct strbuf *out)
{
    strbuf_addz(out, "point");
    for (size_t i = 0; i < t->grid.n_axes; i++) {
        strbuf_addc(out, ',');
        strbuf_addcsv(out, t->grid.axis[i].path);
    }
    strbuf_addz(out, ",policy,kind,n,failed_runs,stable,queue");
    for (size_t m = 0; m < t->n_metrics; m++) {
        static const char *const part[] = { "", ".low", ".high" };
        for (size_t i = 0; i < 3; i++) {
            strbuf_addc(out, ',');
            strbuf_addcsv(out, t->metric[m]);
            strbuf_addz(out, part[i]);
        }
    }
    strbuf_addz(out, ",error\n");
}

static void csv_row(const struct sweep_table *t, const struct sweep_row *x, struct strbuf *out)
{
    strbuf_addf(out, "%zu", x->point);
    for (size_t i = 0; i < t->grid.n_axes; i++) {
        strbuf_addc(out, ',');
        strbuf_addcsv(out, grid_value(&t->grid, x->point, i));
    }
    strbuf_addc(out, ',');
    strbuf_addcsv(out, x->policy);
    strbuf_addc(out, ',');
    strbuf_addcsv(out, x->kind);
    strbuf_addf(out, ",%zu,%zu", x->n, x->failed);
    if (x->n > 0)
        strbuf_addf(out, ",%s,%s", x->queue == QUEUE_STAYS ? "true" : "false",
                    queue_state_names[x->queue]);
    else
        strbuf_addz(out, ",,");
    for (size_t m = 0; m < t->n_metrics; m++) {
        csv_number(out, x->metric[m].mean);
        csv_number(out, x->metric[m].mean - x->metric[m].half);
        csv_number(out, x->metric[m].mean + x->metric[m].half);
    }
    strbuf_addc(out, ',');
    if (x->error) strbuf_addcsv(out, x->error);
    strbuf_addc(out, '\n');
}

/* ---- sweep.json ---- */

static void put_interval(json_t *o, const struct interval *i, const char *const keys[3])
{
    json_object_set_new(o, keys[0], json_num(i->mean));
    json_object_set_new(o, keys[1], json_num(i->mean - i->half));
    json_object_set_new(o, keys[2], json_num(i->mean + i->half));
}

static json_t *policy_json(const struct sweep_table *t, const struct sweep_row *x, bool is_first)
{
    static const char *const own[] = { "mean", "low", "high" }, *const against[] = {
        "difference", "difference_low", "difference_high"
    };
    json_t *metrics = json_object();
    for (size_t m = 0; m < t->n_metrics; m++) {
        json_t *one = json_object();
        put_interval(one, &x->metric[m], own);
        if (!is_first) put_interval(one, &x->versus[m], against);
        json_object_set_new(metrics, t->metric[m], one);
    }
    return json_pack("{s:s, s:s, s:I, s:b, s:s, s:o}", "name", x->policy, "kind", x->kind, "n",
                     (json_int_t)x->n, "stable", x->queue == QUEUE_STAYS, "queue",
                     queue_state_names[x->queue], "metrics", metrics);
}

/* All but the points, up to their bracket. */
static void json_head(const struct sweep_table *t, struct strbuf *out)
{
    static const char *const kept[] = { "gpusim_version", "scenario_name", "scenario_sha256",
                                        "seed",           "vary",          "replications",
                                        "policy_order" };
    json_t *o = json_object();
    json_object_set_new(o, "format", json_string(TABLE_FORMAT));
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        json_object_set(o, kept[i], json_object_get(t->manifest, kept[i]));
    json_write_part(o, 0, out);
    json_decref(o);
    out->len -= strlen("\n}");
    strbuf_addz(out, ",\n  \"points\": [");
}

static json_t *point_json(const struct sweep_table *t, const struct sweep_row *row, size_t n)
{
    json_t *set = json_object(), *policies = json_array();
    const size_t p = row->point;
    for (size_t i = 0; i < t->grid.n_axes; i++)
        json_object_set_new(set, t->grid.axis[i].path, json_string(grid_value(&t->grid, p, i)));
    for (size_t r = 0; r < n && *row[r].policy; r++)
        json_array_append_new(policies, policy_json(t, &row[r], r == 0));
    return json_pack("{s:I, s:o, s:s, s:I, s:s?, s:o}", "point", (json_int_t)p, "set", set,
                     "sha256", sweep_table_sha256(t, p), "failed_runs", (json_int_t)row->failed,
                     "error", row->error, "policies", policies);
}

/* ---- for the terminal ---- */

enum { CELL = 40, MAX_COLUMNS = GRID_MAX_AXES + 10 };

static const struct column {
    const char *head, *metric;
    enum { COUNTED, WAITED, SHARED, PAID } kind;
} shown[] = {
    { "done", "jobs.completed", COUNTED },       { "failed", "jobs.failed", COUNTED },
    { "wait mean", "jobs.wait_s.mean", WAITED }, { "wait p95", "jobs.wait_s.p95", WAITED },
    { "alloc %", "gpu.allocated", SHARED },      { "cost USD", "tco.total_usd", PAID },
};
enum { N_SHOWN = sizeof shown / sizeof *shown };

static const char *const is_stable[] = { "no", "undecided", "yes" }; /* by queue_state */

static size_t metric_index(const struct sweep_table *t, const char *name)
{
    size_t m = 0;
    while (m < t->n_metrics && strcmp(t->metric[m], name) != 0) m++;
    return m;
}

/* "4.81 +-0.25 h", "68.3": a mean over replications to what they support. */
static void number_cell(char cell[CELL], const struct interval *i, const struct column *c)
{
    struct strbuf b = { 0 };
    const bool known = figure_place(i->half) != FIGURE_NO_PLACE;
    if (c->kind == WAITED && known && isfinite(i->mean)) {
        const struct figure_time t = figure_time(fmax(fabs(i->mean), i->half));
        const int place = figure_place(i->half / t.seconds);
        figure_add(&b, i->mean / t.seconds, place);
        strbuf_addz(&b, " +-");
        figure_add(&b, i->half / t.seconds, place);
        strbuf_addf(&b, " %s", t.unit);
    } else if (c->kind == WAITED) {
        figure_add_duration(&b, i->mean);
    } else if (c->kind == SHARED) {
        figure_add(&b, 100 * i->mean, known ? figure_place(100 * i->half) : FIGURE_TENTHS);
    } else if (c->kind == PAID) {
        /* however alike the replications are, the prices are not known better */
        const int money = figure_place_money(i->mean), place = figure_place(i->half);
        figure_add(&b, i->mean, known && place > money ? place : money);
    } else {
        figure_add(&b, i->mean, figure_place(i->half));
    }
    snprintf(cell, CELL, "%s", b.s);
    strbuf_fini(&b);
}

struct text {
    struct strbuf cells; /* row by row, a 0 behind each */
    size_t width[MAX_COLUMNS], column[N_SHOWN], n_rows;
};

static void add_cell(struct text *x, size_t column, const char *text)
{
    const size_t len = strlen(text) < CELL ? strlen(text) : CELL - 1;
    strbuf_add(&x->cells, text, len);
    strbuf_addc(&x->cells, '\0');
    if (len > x->width[column]) x->width[column] = len;
}

static void text_head(struct text *x, const struct sweep_table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->grid.n_axes; i++) add_cell(x, n++, t->grid.axis[i].path);
    add_cell(x, n++, "policy");
    add_cell(x, n++, "n");
    for (size_t i = 0; i < N_SHOWN; i++) {
        x->column[i] = metric_index(t, shown[i].metric);
        add_cell(x, n++, shown[i].head);
    }
    add_cell(x, n, "stable");
    x->n_rows = 1;
}

static void text_row(struct text *x, const struct sweep_table *t, const struct sweep_row *row)
{
    char cell[CELL];
    size_t n = 0;
    for (size_t i = 0; i < t->grid.n_axes; i++)
        add_cell(x, n++, grid_value(&t->grid, row->point, i));
    add_cell(x, n++, *row->policy ? row->policy : "(failed)");
    snprintf(cell, sizeof cell, "%zu", row->n);
    add_cell(x, n++, cell);
    for (size_t i = 0; i < N_SHOWN; i++) {
        const struct interval none = { .mean = NAN };
        number_cell(cell, x->column[i] < t->n_metrics ? &row->metric[x->column[i]] : &none,
                    &shown[i]);
        add_cell(x, n++, cell);
    }
    add_cell(x, n, row->n > 0 ? is_stable[row->queue] : "n/a");
    x->n_rows++;
}

static void text_lines(const struct text *x, const struct sweep_table *t, struct strbuf *out)
{
    const size_t columns = t->grid.n_axes + N_SHOWN + 3;
    const char *cell = x->cells.s;
    for (size_t r = 0; r < x->n_rows; r++) {
        for (size_t i = 0; i < columns; i++, cell += strlen(cell) + 1) {
            if (i) strbuf_addz(out, "  ");
            strbuf_addf(out, i <= t->grid.n_axes ? "%-*s" : "%*s", (int)x->width[i], cell);
        }
        strbuf_addc(out, '\n');
    }
}

/* ---- all of them at once ---- */

struct writing {
    const struct sweep_table *t;
    struct outfile csv, json;
    struct text *text; /* NULL: not asked for */
    struct strbuf line;
    size_t n_points;
};

static void flush(struct strbuf *b, FILE *to)
{
    fwrite(b->s, 1, b->len, to); /* errors: outfile_commit() */
    strbuf_clear(b);
}

static int write_point(void *ctx, const struct sweep_row *row, size_t n, struct err *e)
{
    struct writing *w = ctx;
    (void)e;
    if (n == 0) return 0;
    for (size_t r = 0; r < n; r++) csv_row(w->t, &row[r], &w->line);
    flush(&w->line, w->csv.f);
    json_t *v = point_json(w->t, row, n);
    strbuf_addz(&w->line, w->n_points++ ? ",\n    " : "\n    ");
    json_write_part(v, 2, &w->line);
    json_decref(v);
    flush(&w->line, w->json.f);
    for (size_t r = 0; r < n && w->text; r++) text_row(w->text, w->t, &row[r]);
    return 0;
}

int sweep_table_write(struct sweep_table *t, const char *dir, const char *copy_to,
                      struct strbuf *text, struct err *e)
{
    struct text x = { 0 };
    struct writing w = { .t = t, .text = text ? &x : NULL };
    int rc = outfile_open(&w.csv, arena_printf(t->arena, "%s/sweep.csv", dir), e);
    if (rc == 0) rc = outfile_open(&w.json, arena_printf(t->arena, "%s/sweep.json", dir), e);
    if (rc == 0) {
        csv_head(t, &w.line);
        flush(&w.line, w.csv.f);
        json_head(t, &w.line);
        flush(&w.line, w.json.f);
        if (text) text_head(&x, t);
        rc = sweep_table_each(t, copy_to, write_point, &w, e);
    }
    if (rc == 0) {
        fputs(w.n_points ? "\n  ]\n}\n" : "]\n}\n", w.json.f);
        rc = outfile_commit(&w.csv, e);
    }
    if (rc == 0) rc = outfile_commit(&w.json, e);
    if (rc == 0 && text) text_lines(&x, t, text);
    outfile_abandon(&w.csv);
    outfile_abandon(&w.json);
    strbuf_fini(&w.line);
    strbuf_fini(&x.cells);
    return rc;
}
