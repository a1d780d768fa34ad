/* Time per output token of whole engines (vLLM, SGLang, TensorRT-LLM) under a fixed number of
 * users, dense models: the closed form of model/llm_step.h with six constants for each model, card,
 * engine and precision. Every prediction is made with constants fitted to the other half of the
 * group's rows. */
#include "whatif/fit.h"
#include "whatif/llm_rows.h"

#include <math.h>
#include <string.h>

enum { N_CONSTANTS = 6 };

struct row {
    const char *model, *gpu, *engine, *precision;
    double tp, input, output, users, tpot_ms;
};
static const struct measured_column columns[] = {
    MEASURED_TEXT(struct row, model, "model"),
    MEASURED_TEXT(struct row, gpu, "gpu"),
    MEASURED_TEXT(struct row, engine, "engine"),
    MEASURED_TEXT(struct row, precision, "precision"),
    MEASURED_NUMBER(struct row, tp, "tp", 1, 1024),
    MEASURED_NUMBER(struct row, input, "isl", 1, 1e7),
    MEASURED_NUMBER(struct row, output, "osl", 1, 1e7),
    MEASURED_NUMBER(struct row, users, "batch_per_replica", 0.1, 1e6),
    MEASURED_NUMBER(struct row, tpot_ms, "tpot_ms", 1e-6, 1e7),
};

struct point {
    struct row row;
    const char *group;
    struct llm_shape shape;
    struct llm_card card;
    struct llm_constants kernels; /* of the card, with a millisecond of host time */
};
struct data {
    VEC(struct point) points;
    const char *group; /* what a fit may see: rows of this group ... */
    int half;          /* ... that are odd or even in it */
};

/* Where the source does not say, vLLM serves bf16 and the others behave like fp8 (reference
 * data). */
static enum precision precision_of(const struct row *r)
{
    const int p = precision_find(r->precision);
    if (p >= 0) return (enum precision)p;
    return strcmp(r->engine, "vllm") == 0 ? PREC_bf16 : PREC_fp8;
}

static int describe(struct point *p, const struct llm_steps *steps, const struct world *w,
                    const char *model, struct arena *a, struct err *e)
{
    const struct row *r = &p->row;
    const char *card = llm_rows_card(r->gpu);
    const enum precision precision = precision_of(r);
    int rc = llm_rows_shape(&p->shape, model, a, e);
    if (rc == 0) rc = llm_rows_sheet(&p->card, w, card, precision, a, e);
    p->shape.bytes_per_param = llm_bytes_of(precision);
    p->kernels = llm_rows_constants(steps, card);
    p->kernels.host_ms = 1;
    p->group = arena_printf(a, "%s %.4s %s %s", model, r->gpu, r->engine,
                            *r->precision ? r->precision : "-");
    return rc;
}

/* Rows of models that do not ship, mixtures of experts above all, are left out. */
static int read_points(struct data *d, const struct world *w, const char *path, struct arena *a,
                       struct err *e)
{
    struct measured *m = NULL;
    struct llm_steps steps;
    struct row row;
    int rc = llm_rows_steps(&steps, a, e);
    if (rc == 0) rc = measured_open(&m, path, columns, sizeof columns / sizeof *columns, a, e);
    while (rc == 0 && (rc = measured_next(m, &row, e)) > 0) {
        const char *model = llm_rows_model(row.model);
        struct point p = { .row = row };
        rc = model ? describe(&p, &steps, w, model, a, e) : 0;
        if (rc == 0 && model) vec_push(&d->points, p);
    }
    measured_close(m);
    return rc;
}

static double tpot_ms(const struct point *p, const struct llm_constants *c)
{
    const struct llm_cost cost = llm_cost_of(&p->shape, &p->card, c, (int)p->row.tp);
    return llm_tpot_closed_ms(&cost, p->row.users, p->row.input, p->row.output);
}

static struct llm_constants constants_from(const double x[], const struct llm_constants *kernels)
{
    struct llm_constants c = *kernels;
    c.e_w = fabs(x[0]);
    c.e_f = fabs(x[1]);
    c.e_kv = fabs(x[2]);
    c.host_ms = fabs(x[3]);
    c.layer_us = fabs(x[4]);
    c.allreduce_ns_k = fabs(x[5]);
    return c;
}

/* Rows of a group by turns: 0, 1, 0, 1 ... in order of the file. */
static int half_of(const struct data *d, size_t i)
{
    int half = 0;
    for (size_t j = 0; j < i; j++) half ^= strcmp(d->points.v[j].group, d->points.v[i].group) == 0;
    return half;
}

struct seen {
    const struct data *d;
    size_t row[4096], n;
};

static double fit_error(const double x[], void *ctx)
{
    const struct seen *s = ctx;
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct point *p = &s->d->points.v[s->row[i]];
        const struct llm_constants c = constants_from(x, &p->kernels);
        sum += fabs(log(tpot_ms(p, &c) / p->row.tpot_ms));
    }
    return sum / (double)s->n;
}

static void gather(struct seen *s, const struct data *d, const char *group, int half)
{
    *s = (struct seen){ .d = d };
    for (size_t i = 0; i < d->points.n && s->n < sizeof s->row / sizeof *s->row; i++)
        if (strcmp(d->points.v[i].group, group) == 0 && half_of(d, i) == half) s->row[s->n++] = i;
}

static void add(struct arena *a, valid_rows *out, const struct point *p, double predicted)
{
    const struct row *r = &p->row;
    const struct valid_row row = {
        .group = p->group,
        .label = arena_printf(a, "%s tp %g, %g users, %g in, %g out", p->group, r->tp, r->users,
                              r->input, r->output),
        .measured = r->tpot_ms,
        .predicted = predicted,
        .naive = tpot_ms(p, &p->kernels),
    };
    vec_push(out, row);
}

/* Fit to one half of the group and predict the other. */
static void cross(const struct data *d, struct arena *a, valid_rows *out, const char *group,
                  int half)
{
    double x[N_CONSTANTS] = { 0.8, 0.6, 0.6, 2, 25, 12 };
    struct seen fit, test;
    gather(&fit, d, group, half);
    gather(&test, d, group, !half);
    if (fit.n + test.n <= (size_t)2 * N_CONSTANTS)
        return; /* a half would do no more than go through its rows */
    for (int again = 0; again < 3; again++) fit_least(x, N_CONSTANTS, 0.5, 400, fit_error, &fit);
    for (size_t i = 0; i < test.n; i++) {
        const struct point *p = &d->points.v[test.row[i]];
        const struct llm_constants c = constants_from(x, &p->kernels);
        add(a, out, p, tpot_ms(p, &c));
    }
}

static int predict(const struct world *w, const char *path, struct arena *a, valid_rows *out,
                   struct err *e)
{
    struct data d = { 0 };
    int rc = read_points(&d, w, path, a, e);
    for (size_t i = 0; rc == 0 && i < d.points.n; i++) {
        bool met = false;
        for (size_t j = 0; j < i && !met; j++)
            met = strcmp(d.points.v[j].group, d.points.v[i].group) == 0;
        for (int half = 0; half < 2 && !met; half++) cross(&d, a, out, d.points.v[i].group, half);
    }
    vec_fini(&d.points);
    return rc;
}

static const struct valid_bar bars[] = {
    { NULL, VALID_MAPE, 0.10 },
    { "qwen3-32b h100 sglang -", VALID_MAPE, 0.10 },
    { "qwen3-32b h100 trtllm fp8", VALID_MAPE, 0.10 },
    { "qwen3-32b h100 vllm -", VALID_MAPE, 0.10 },
    { "llama-3.1-8b h100 trtllm -", VALID_MAPE, 0.10 },
    { "llama-3.1-8b h200 sglang fp8", VALID_MAPE, 0.10 },
    { "llama-3.1-8b h200 vllm fp8", VALID_MAPE, 0.10 },
    { "llama-3.1-70b h100 vllm fp8", VALID_MAPE, 0.10 },
    { "llama-3.1-70b h200 trtllm fp8", VALID_MAPE, 0.10 },
    { "llama-3.1-70b h200 vllm fp8", VALID_MAPE, 0.10 },
    { "llama-3.1-70b b200 trtllm fp4", VALID_MAPE, 0.10 },
    { "llama-3.1-70b b200 trtllm fp8", VALID_MAPE, 0.10 },
    { "llama-3.1-70b b200 vllm fp4", VALID_MAPE, 0.10 },
    { "llama-3.1-70b b200 vllm fp8", VALID_MAPE, 0.10 },
};

const struct valid_set valid_llm_engine = {
    .name = "llm_engine",
    .help = "time per output token of serving engines, dense models, by number of users",
    .reference = "llm/engine_silicon.csv",
    .naive = "the card's kernel constants and a millisecond of host time per step, nothing fitted",
    .unit = "ms",
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    .bars = bars,
    .n_bars = sizeof bars / sizeof *bars,
    .note =
        "six constants for each group, fitted to one half of its rows and scored on the other, both ways. Groups of at "
        "most twelve rows (qwen3-32b on GB200: 12 of fp16, 5 of fp4; with vLLM in fp8: 2) are left out, and so are "
        "mixtures of experts",
    .predict = predict,
};
