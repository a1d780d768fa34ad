/* Kernel time of one step of a language model (GEMM and attention kernels added up over the layers,
 * no host, no all-reduce) on four cards: model/llm_step.h with the constants that ship. Beside it
 * constants fitted to the other models of the card, one model left out at a time. */
#include "whatif/fit.h"
#include "whatif/llm_rows.h"

#include <math.h>
#include <string.h>

enum { N_CONSTANTS = 6, LEAST_ROWS = 30 };

struct row {
    const char *gpu, *model, *phase;
    double tp, tokens, seqs, kv, pairs, ms;
};
static const struct measured_column columns[] = {
    MEASURED_TEXT(struct row, gpu, "gpu"),
    MEASURED_TEXT(struct row, model, "model"),
    MEASURED_TEXT(struct row, phase, "phase"),
    MEASURED_NUMBER(struct row, tp, "tp", 1, 1024),
    MEASURED_NUMBER(struct row, tokens, "tokens", 1, 1e7),
    MEASURED_NUMBER(struct row, seqs, "seqs", 0, 1e6),
    MEASURED_NUMBER(struct row, kv, "kv_tokens_read", 0, 1e10),
    MEASURED_NUMBER(struct row, pairs, "attn_pairs", 0, 1e15),
    MEASURED_NUMBER(struct row, ms, "step_ms", 1e-6, 1e7),
};

struct point {
    struct row row;
    struct llm_shape shape;
    struct llm_card card;
    struct llm_constants shipped;
};
struct data {
    VEC(struct point) points;
    const char *gpu, *left_out; /* what a fit may see */
};

/* Steps of kernels only: what the host and the links cost is not in the rows. */
static struct llm_constants kernels_only(struct llm_constants c)
{
    c.host_ms = c.allreduce_us = c.allreduce_ns_k = 0;
    return c;
}

static int read_points(struct data *d, const struct world *w, const char *path, struct arena *a,
                       struct err *e)
{
    struct measured *m = NULL;
    struct llm_steps steps;
    struct point p = { 0 };
    struct row row;
    const char *model = "", *gpu = "";
    int rc = llm_rows_steps(&steps, a, e);
    if (rc == 0) rc = measured_open(&m, path, columns, sizeof columns / sizeof *columns, a, e);
    while (rc == 0 && (rc = measured_next(m, &row, e)) > 0) {
        rc = 0;
        if (strcmp(row.gpu, gpu) != 0) {
            const char *card = llm_rows_card(row.gpu);
            rc = llm_rows_sheet(&p.card, w, card, PREC_bf16, a, e);
            p.shipped = kernels_only(llm_rows_constants(&steps, card));
        }
        if (rc == 0 && strcmp(row.model, model) != 0)
            rc = llm_rows_shape(&p.shape, row.model, a, e);
        gpu = row.gpu;
        model = row.model;
        p.row = row;
        if (rc == 0) vec_push(&d->points, p);
    }
    measured_close(m);
    return rc;
}

static double step_ms(const struct point *p, const struct llm_constants *c)
{
    const struct llm_cost cost = llm_cost_of(&p->shape, &p->card, c, (int)p->row.tp);
    const struct llm_step step = { p->row.tokens, p->row.seqs, p->row.kv, p->row.pairs, 0 };
    return llm_step_ms(&cost, &step);
}

static void add(struct arena *a, valid_rows *out, const struct point *p, const char *group,
                bool aside, const struct llm_constants *c)
{
    static const struct llm_constants sheet = { 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0 };
    const struct row *r = &p->row;
    const struct valid_row row = {
        .group = group,
        .label = arena_printf(a, "%s %s tp %g %s, %g tokens of %g sequences, KV %g", r->gpu,
                              r->model, r->tp, r->phase, r->tokens, r->seqs, r->kv),
        .measured = r->ms,
        .predicted = step_ms(p, c),
        .naive = step_ms(p, &sheet),
        .aside = aside,
    };
    vec_push(out, row);
}

/* ---- constants from the other models ---- */

static struct llm_constants constants_from(const double x[])
{
    return (struct llm_constants){ .e_w = fabs(x[0]),
                                   .e_f = fabs(x[1]),
                                   .e_kv = fabs(x[2]),
                                   .e_s = fabs(x[3]),
                                   .layer_us = fabs(x[4]),
                                   .seq_ns = fabs(x[5]),
                                   .mixed_kv = 1 };
}

static bool seen(const struct data *d, const struct point *p)
{
    return strcmp(p->row.gpu, d->gpu) == 0 && strcmp(p->row.model, d->left_out) != 0;
}

static double fit_error(const double x[], void *ctx)
{
    const struct data *d = ctx;
    const struct llm_constants c = constants_from(x);
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < d->points.n; i++) {
        const struct point *p = &d->points.v[i];
        if (!seen(d, p)) continue;
        sum += fabs(step_ms(p, &c) / p->row.ms - 1);
        n++;
    }
    return n >= LEAST_ROWS ? sum / (double)n : 0;
}

static void leave_model_out(struct data *d, struct arena *a, valid_rows *out)
{
    double x[N_CONSTANTS] = { 0.8, 0.8, 0.8, 0.6, 25, 125 };
    if (fit_error(x, d) <= 0) return;
    fit_least(x, N_CONSTANTS, 0.3, 300, fit_error, d);
    const struct llm_constants c = constants_from(x);
    for (size_t i = 0; i < d->points.n; i++) {
        const struct point *p = &d->points.v[i];
        if (strcmp(p->row.gpu, d->gpu) != 0 || seen(d, p)) continue;
        add(a, out, p, arena_printf(a, "model left out, %s", p->row.phase), true, &c);
    }
}

/* Each card and model once, in order of appearance: rows of one lie together. */
static void leave_each_out(struct data *d, struct arena *a, valid_rows *out)
{
    for (size_t i = 0; i < d->points.n; i++) {
        const struct row *r = &d->points.v[i].row;
        bool met = false;
        for (size_t j = 0; j < i && !met; j++)
            met = strcmp(d->points.v[j].row.gpu, r->gpu) == 0 &&
                  strcmp(d->points.v[j].row.model, r->model) == 0;
        if (met) continue;
        d->gpu = r->gpu;
        d->left_out = r->model;
        leave_model_out(d, a, out);
    }
}

static int predict(const struct world *w, const char *path, struct arena *a, valid_rows *out,
                   struct err *e)
{
    struct data d = { 0 };
    int rc = read_points(&d, w, path, a, e);
    for (size_t i = 0; rc == 0 && i < d.points.n; i++) {
        const struct point *p = &d.points.v[i];
        add(a, out, p, arena_printf(a, "%s %s", p->row.gpu, p->row.phase), false, &p->shipped);
    }
    if (rc == 0) leave_each_out(&d, a, out);
    vec_fini(&d.points);
    return rc;
}

static const struct valid_bar bars[] = {
    { "a100_sxm decode", VALID_MAPE, 0.06 },
    { "a100_sxm prefill", VALID_MAPE, 0.08 },
    { "h100_sxm decode", VALID_MAPE, 0.06 },
    { "h100_sxm prefill", VALID_MAPE, 0.08 },
    { "h200_sxm decode", VALID_MAPE, 0.06 },
    { "h200_sxm prefill", VALID_MAPE, 0.08 },
    { "l40s decode", VALID_MAPE, 0.06 },
    { "l40s prefill", VALID_MAPE, 0.08 },
    { "model left out, decode", VALID_MAPE, 0.08 },
    { "model left out, prefill", VALID_MAPE, 0.10 },
};

const struct valid_set valid_llm_step = {
    .name = "llm_step",
    .help = "kernel time of one step of a language model, prefill and decode, four cards",
    .reference = "llm/step_oplevel.csv",
    .naive = "the sheet: bandwidth and peak reached in full, nothing else costs time",
    .unit = "ms",
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    .bars = bars,
    .n_bars = sizeof bars / sizeof *bars,
    .note =
        "six constants a card. The groups with * are fitted to the card's other models only. One "
        "shape of the source is off: 70B on H100 at tp 4 and 2,048 to 4,096 tokens takes 1.5 "
        "times as long as its neighbours",
    .predict = predict,
};
