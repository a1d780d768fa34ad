/* Time of one step that may carry a prompt's chunk beside decoding sequences, Llama 3.1 8B on an
 * RTX 4090, and where its file lies beside it Qwen3 32B on two RTX PRO 6000: model/llm_step.h with
 * the card's constants that ship, and with constants fitted to every other row. */
#include "whatif/fit.h"
#include "whatif/llm_rows.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Their rows look alike: files are told by their names. */
static const struct server {
    const char *file, *card, *model, *groups;
    int tp;
} servers[] = {
    { "step_rtx4090_llama31_8b.csv", "rtx4090", "llama-3.1-8b", "", 1 },
    { "step_rtxpro6000_qwen3_32b_tp2.csv", "rtxpro6000bw-ws", "qwen3-32b", "two RTX PRO 6000, ",
      2 },
};

enum {
    N_CONSTANTS = 8,
    LEAST_ROWS = 30,
    GRID =
        16, /* tokens: the source measured layers at multiples of it and draws straight lines between
                  them (257 to 271 tokens lie on one from 256 to 272), so the prediction does so too */
};

struct row {
    double chunk, history, seqs, kv, pairs, ms;
};
static const struct measured_column columns[] = {
    MEASURED_NUMBER(struct row, chunk, "prefill_chunk", 0, 1e7),
    MEASURED_NUMBER(struct row, history, "prefill_history", 0, 1e7),
    MEASURED_NUMBER(struct row, seqs, "decode_seqs", 0, 1e6),
    MEASURED_NUMBER(struct row, kv, "decode_kv_tokens", 0, 1e10),
    MEASURED_NUMBER(struct row, pairs, "attn_pairs", 0, 1e15),
    MEASURED_NUMBER(struct row, ms, "step_ms", 1e-6, 1e7),
};

struct data {
    VEC(struct row) rows;
    struct llm_shape shape;
    struct llm_card card;
    struct llm_constants shipped;
    const struct server *server;
    size_t half; /* rows a fit may see: those with this remainder by 2 */
};

static double step_ms(const struct data *d, const struct row *r, const struct llm_constants *c)
{
    const struct llm_cost cost = llm_cost_of(&d->shape, &d->card, c, d->server->tp);
    const double tokens = r->chunk + r->seqs, below = GRID * floor(tokens / GRID);
    const double past = (tokens - below) / GRID;
    struct llm_step step = { tokens, r->seqs, r->kv, r->pairs, r->history };
    if (below < GRID || past == 0) return llm_step_ms(&cost, &step);
    step.tokens = below;
    const double low = llm_step_ms(&cost, &step);
    step.tokens = below + GRID;
    return low + past * (llm_step_ms(&cost, &step) - low);
}

static struct llm_constants constants_from(const double x[])
{
    return (struct llm_constants){ .e_w = fmin(1, fabs(x[0])),
                                   .e_f = fabs(x[1]),
                                   .e_kv = fmin(1, fabs(x[2])),
                                   .e_s = fabs(x[3]),
                                   .layer_us = fabs(x[4]),
                                   .seq_ns = fabs(x[5]),
                                   .mixed_kv = fmax(1, x[6]),
                                   .history_ns = fabs(x[7]) };
}

static double fit_error(const double x[], void *ctx)
{
    const struct data *d = ctx;
    const struct llm_constants c = constants_from(x);
    double sum[2] = { 0, 0 };
    size_t n[2] = { 0, 0 };
    for (size_t i = d->half; i < d->rows.n; i += 2) {
        const struct row *r = &d->rows.v[i];
        const bool mixed = r->chunk > 0;
        sum[mixed] += fabs(step_ms(d, r, &c) / r->ms - 1);
        n[mixed]++;
    }
    return sum[0] / fmax(1, (double)n[0]) + sum[1] / fmax(1, (double)n[1]);
}

static void add(const struct data *d, struct arena *a, valid_rows *out, const struct row *r,
                const char *group, bool aside, const struct llm_constants *c)
{
    static const struct llm_constants sheet = { 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0 };
    const struct valid_row row = {
        .group = arena_printf(a, "%s%s", d->server->groups, group),
        .label = arena_printf(a, "chunk %g after %g beside %g sequences, KV %g", r->chunk,
                              r->history, r->seqs, r->kv),
        .measured = r->ms,
        .predicted = step_ms(d, r, c),
        .naive = step_ms(d, r, &sheet),
        .aside = aside,
    };
    vec_push(out, row);
}

static int read_rows(struct data *d, const struct world *w, const char *path, struct arena *a,
                     struct err *e)
{
    struct measured *m = NULL;
    struct llm_steps steps;
    struct row row;
    int rc = llm_rows_steps(&steps, a, e);
    if (rc == 0) rc = llm_rows_shape(&d->shape, d->server->model, a, e);
    if (rc == 0) rc = llm_rows_sheet(&d->card, w, d->server->card, PREC_bf16, a, e);
    if (rc == 0) rc = measured_open(&m, path, columns, sizeof columns / sizeof *columns, a, e);
    while (rc == 0 && (rc = measured_next(m, &row, e)) > 0) {
        rc = 0;
        vec_push(&d->rows, row);
    }
    measured_close(m);
    if (rc == 0) d->shipped = llm_rows_constants(&steps, d->server->card);
    /* The rows are GPU time of layers. */
    d->shipped.host_ms = d->shipped.allreduce_us = d->shipped.allreduce_ns_k = 0;
    return rc;
}

static int predict_one(const struct server *server, const struct world *w, const char *path,
                       struct arena *a, valid_rows *out, struct err *e)
{
    struct data d = { .server = server };
    const int rc = read_rows(&d, w, path, a, e);
    for (size_t i = 0; rc == 0 && i < d.rows.n; i++)
        add(&d, a, out, &d.rows.v[i], d.rows.v[i].chunk > 0 ? "with a prompt" : "decode only",
            false, &d.shipped);
    for (d.half = 0; rc == 0 && d.half < 2 && d.rows.n >= LEAST_ROWS; d.half++) {
        double x[N_CONSTANTS] = { 0.9, 0.9, 0.8, 0.6, 25, 500, 2, 25 };
        for (int again = 0; again < 3; again++) fit_least(x, N_CONSTANTS, 0.3, 400, fit_error, &d);
        const struct llm_constants c = constants_from(x);
        for (size_t i = 1 - d.half; i < d.rows.n; i += 2)
            add(&d, a, out, &d.rows.v[i], "fitted to every other row", true, &c);
    }
    vec_fini(&d.rows);
    return rc;
}

static int predict(const struct world *w, const char *path, struct arena *a, valid_rows *out,
                   struct err *e)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const bool second = strcmp(name, servers[1].file) == 0;
    const char *beside = arena_printf(a, "%.*s%s", (int)(name - path), path, servers[1].file);
    int rc = predict_one(&servers[second], w, path, a, out, e);
    if (rc == 0 && strcmp(name, servers[0].file) == 0 && access(beside, R_OK) == 0)
        rc = predict_one(&servers[1], w, beside, a, out, e);
    return rc;
}

static const struct valid_bar bars[] = {
    { NULL, VALID_MAPE, 0.08 },
    { "decode only", VALID_MAPE, 0.06 },
    { "fitted to every other row", VALID_MAPE, 0.08 },
    { "two RTX PRO 6000, decode only", VALID_MAPE, 0.06 },
    { "two RTX PRO 6000, with a prompt", VALID_MAPE, 0.08 },
    { "two RTX PRO 6000, fitted to every other row", VALID_MAPE, 0.08 },
};

const struct valid_set valid_llm_mixed = {
    .name = "llm_mixed",
    .help =
        "steps of a language model that carry a prompt beside decoding, RTX 4090 and RTX PRO 6000",
    .reference = "llm/step_rtx4090_llama31_8b.csv",
    .naive = "the sheet: bandwidth and peak reached in full, nothing else costs time",
    .unit = "ms",
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    .bars = bars,
    .n_bars = sizeof bars / sizeof *bars,
    .note =
        "eight constants a card; decode alone and mixed steps weigh the same in the fit, for a server "
        "spends most of its time on the former. What ships is fitted to steps whose KV cache the cards can "
        "hold (61,000 and 450,000 tokens); the rows far off are beyond. Steps of just 256 tokens come out 9 to 10 % "
        "low, those of 129 to 255 on the RTX 4090 5 % high and of 577 to 640 11 % low: which kernels, of smaller or "
        "larger tiles, a library takes there is not modelled",
    .predict = predict,
};
