/* A whole server of a language model, request by request: the log of a real engine on arrivals
 * that come whatever it does, against the serving loop that a run uses
 * (policy/serve_continuous.c) with the step constants of the card. Two ways:
 *
 * - as a run has it, 1.3 ms of host time in each step (from other servers): nothing of the log was seen. On one
 *   card this is what is scored; all-reduces over PCIe are not known from elsewhere;
 * - host time (and on several cards time per token of all-reduces) fitted to every other request, and scored
 *   on the rest.
 *
 * Baseline: every request alone on the card. */
#include "engine/serve.h"
#include "model/job.h"
#include "whatif/fit.h"
#include "whatif/llm_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const char *run, *gpu, *model;
    double tp, max_seqs, max_tokens, kv_blocks, prefix_hit;
    double arrival_s, input, output, first_s, last_s;
};
static const struct measured_column columns[] = {
    MEASURED_TEXT(struct row, run, "run"),
    MEASURED_TEXT(struct row, gpu, "gpu"),
    MEASURED_TEXT(struct row, model, "model"),
    MEASURED_NUMBER(struct row, tp, "tp", 1, 1024),
    MEASURED_NUMBER(struct row, max_seqs, "max_seqs", 1, 65536),
    MEASURED_NUMBER(struct row, max_tokens, "max_tokens", 1, 1e7),
    MEASURED_NUMBER(struct row, kv_blocks, "kv_blocks", 1, 1e9),
    MEASURED_NUMBER(struct row, prefix_hit, "prefix_hit", 0, 1),
    MEASURED_NUMBER(struct row, arrival_s, "arrival_s", 0, 1e7),
    MEASURED_NUMBER(struct row, input, "input_tokens", 1, 1e7),
    MEASURED_NUMBER(struct row, output, "output_tokens", 1, 1e7),
    MEASURED_NUMBER(struct row, first_s, "first_token_s", 0, 1e7),
    MEASURED_NUMBER(struct row, last_s, "last_token_s", 0, 1e7),
};

typedef VEC(struct row) rows;

/* The engine of a run. */
static int params_of(void **out, const struct row *r, struct arena *a, struct err *e)
{
    char text[300];
    snprintf(
        text, sizeof text,
        "{\"max_seqs\": %.0f, \"max_tokens\": %.0f, \"kv_blocks\": %.0f, \"prefix_hit\": %.6g}",
        r->max_seqs, r->max_tokens, r->kv_blocks, r->prefix_hit);
    return valid_serve_params(out, valid_serve("continuous"), text, a, e);
}

/* One replica, at full speed: first[i], last[i] in seconds. */
static void serve(const void *params, const struct serve_part *part, const struct row *r, size_t n,
                  double first_s[], double last_s[])
{
    const struct serve_ops *ops = valid_serve("continuous");
    struct serve_call *call = xcalloc(n, sizeof *call);
    void *state = ops->create(params, part, NULL, CFG_NO_TIME);
    double begin = 0, end = INFINITY, exact = 0;
    struct llm_step step;
    for (size_t next = 0, left = 0; left < n;) {
        struct serve_news news = { 0 };
        const double arrival = next < n ? r[next].arrival_s * 1e9 : INFINITY;
        double now = end;
        if (arrival < end) {
            now = arrival;
            call[next] = (struct serve_call){ .arrival = (simtime)arrival,
                                              .began = JOB_NO_TIME,
                                              .first = JOB_NO_TIME,
                                              .input = (int64_t)r[next].input,
                                              .output = (int64_t)r[next].output };
            ops->join(state, &call[next++]);
            if (isfinite(end)) {
                end = begin + ops->cut(state, now - begin);
                continue;
            }
        } else {
            ops->done(state, (simtime)ceil(end), &news);
        }
        for (struct serve_call *c = news.left; c; c = c->next, left++) last_s[c - call] = end / 1e9;
        begin = now;
        exact = ops->next(state, (simtime)ceil(now), &step, &news);
        end = exact > 0 ? begin + exact : INFINITY;
    }
    for (size_t i = 0; i < n; i++) first_s[i] = (double)call[i].first / 1e9;
    ops->destroy(state);
    free(call);
}

enum { TTFT, TPOT, E2E, KINDS };
static const char *const kind_names[] = { "time to first token", "time per token", "end to end" };

struct times {
    double *ms[KINDS];
    size_t n[KINDS];
};

static void note(struct times *t, const struct row *r, double first_s, double last_s)
{
    t->ms[TTFT][t->n[TTFT]++] = 1e3 * (first_s - r->arrival_s);
    t->ms[E2E][t->n[E2E]++] = 1e3 * (last_s - r->arrival_s);
    if (r->output > 1) t->ms[TPOT][t->n[TPOT]++] = 1e3 * (last_s - first_s) / (r->output - 1);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum / (double)n;
}

static double p99(double *x, size_t n)
{
    qsort(x, n, sizeof *x, ascending);
    return x[(size_t)fmax(0, ceil(0.99 * (double)n) - 1)];
}

static struct times times_create(struct arena *a, size_t n)
{
    struct times t = { .n = { 0 } };
    for (int k = 0; k < KINDS; k++) t.ms[k] = arena_array(a, n, sizeof(double));
    return t;
}

/* Nobody else there: its prompt in as few steps as the budget allows, then step after step. */
static void alone(struct times *t, const struct llm_cost *c, const struct row *r)
{
    double ms = 0, done = 0;
    while (done < r->input) {
        const double chunk = fmin(r->max_tokens, r->input - done);
        const struct llm_step s = { .tokens = chunk,
                                    .pairs = chunk * (done + chunk / 2),
                                    .history = done };
        ms += llm_step_ms(c, &s);
        done += chunk;
    }
    const double first_s = r->arrival_s + ms / 1e3;
    note(t, r, first_s, first_s + llm_decode_ms(c, 1, r->input, r->output - 1) / 1e3);
}

/* One log, and what its server is known to be. */
struct server {
    const struct row *row;
    size_t n;
    void *params;
    struct llm_shape shape;
    struct llm_card card;
    struct llm_constants constants;
    double *first_s, *last_s; /* predicted */
    struct times measured, predicted, naive;
};

enum { ALL = -1 };

/* With these constants; the figures of requests that are odd, even or all in the log. */
static void run(struct server *v, const struct llm_constants *c, int half)
{
    const struct serve_part part = { .cost = llm_cost_of(&v->shape, &v->card, c, (int)v->row->tp),
                                     .kv_tokens = v->row->kv_blocks * 16,
                                     .context = INT32_MAX };
    serve(v->params, &part, v->row, v->n, v->first_s, v->last_s);
    for (int k = 0; k < KINDS; k++) v->measured.n[k] = v->predicted.n[k] = v->naive.n[k] = 0;
    for (size_t i = 0; i < v->n; i++) {
        const struct row *r = &v->row[i];
        if (half != ALL && (int)(i % 2) != half) continue;
        note(&v->measured, r, r->first_s, r->last_s);
        note(&v->predicted, r, v->first_s[i], v->last_s[i]);
        alone(&v->naive, &part.cost, r);
    }
}

static struct llm_constants constants_from(const double x[], const struct server *v)
{
    struct llm_constants c = v->constants;
    c.host_ms = fabs(x[0]);
    if (v->row->tp > 1) c.allreduce_ns_k = fabs(x[1]);
    return c;
}

static double fit_error(const double x[], void *ctx)
{
    struct server *v = ctx;
    const struct llm_constants c = constants_from(x, v);
    double sum = 0;
    run(v, &c, 1);
    for (int k = 0; k < KINDS; k++) {
        const size_t n = v->measured.n[k];
        sum += fabs(mean(v->predicted.ms[k], n) / mean(v->measured.ms[k], n) - 1);
        sum += fabs(p99(v->predicted.ms[k], n) / p99(v->measured.ms[k], n) - 1);
    }
    return sum;
}

static double figure(double *x, size_t n, bool tail)
{
    return tail ? p99(x, n) : mean(x, n);
}

static void add(struct server *v, const char *group, bool aside, struct arena *a, valid_rows *out)
{
    for (int k = 0; k < KINDS; k++)
        for (int tail = 0; tail < 2; tail++) {
            const size_t n = v->measured.n[k];
            const struct valid_row row = {
                .group = group,
                .label = arena_printf(a, "%s, %s", kind_names[k], tail ? "p99" : "mean"),
                .measured = figure(v->measured.ms[k], n, tail),
                .predicted = figure(v->predicted.ms[k], n, tail),
                .naive = figure(v->naive.ms[k], n, tail),
                .aside = aside,
            };
            vec_push(out, row);
        }
}

static void two_ways(struct server *v, struct arena *a, valid_rows *out)
{
    const char *name = v->row->run;
    const bool several = v->row->tp > 1;
    double x[2] = { 1, v->constants.allreduce_ns_k };
    struct llm_constants c = v->constants;
    run(v, &c, ALL);
    add(v, arena_printf(a, "%s, nothing fitted", name), several, a, out);
    for (int again = 0; again < 3; again++) fit_least(x, several ? 2 : 1, 0.5, 100, fit_error, v);
    c = constants_from(x, v);
    run(v, &c, 0);
    add(v, arena_printf(a, "%s, fitted to every other request", name), !several, a, out);
}

static int predict_run(const struct world *w, const struct row *r, size_t n, struct arena *a,
                       valid_rows *out, struct err *e)
{
    struct server v = { .row = r,
                        .n = n,
                        .first_s = arena_array(a, n, sizeof(double)),
                        .last_s = arena_array(a, n, sizeof(double)),
                        .measured = times_create(a, n),
                        .predicted = times_create(a, n),
                        .naive = times_create(a, n) };
    struct llm_steps steps;
    int rc = llm_rows_steps(&steps, a, e);
    if (rc == 0) rc = llm_rows_shape(&v.shape, r->model, a, e);
    if (rc == 0) rc = llm_rows_sheet(&v.card, w, r->gpu, PREC_bf16, a, e);
    if (rc == 0) rc = params_of(&v.params, r, a, e);
    if (rc != 0) return rc;
    v.constants = llm_rows_constants(&steps, r->gpu);
    two_ways(&v, a, out);
    return 0;
}

/* Requests that the engine could never hold, or that come before the one above them, are
 * mistakes of the file. */
static int sensible(struct measured *m, const rows *all, const struct row *r, struct err *e)
{
    const struct row *before = all->n ? &all->v[all->n - 1] : NULL;
    if (r->max_seqs > r->max_tokens)
        return measured_error(m, e, "max_seqs is larger than max_tokens");
    if (r->input + r->output > 16 * r->kv_blocks)
        return measured_error(m, e, "%g tokens do not fit in %g blocks of 16", r->input + r->output,
                              r->kv_blocks);
    if (before && strcmp(before->run, r->run) == 0 && before->arrival_s > r->arrival_s)
        return measured_error(m, e, "arrival_s %g is before the row above", r->arrival_s);
    if (r->first_s < r->arrival_s || r->last_s < r->first_s)
        return measured_error(m, e,
                              "expected arrival_s, first_token_s, last_token_s in this order");
    return 0;
}

static int predict(const struct world *w, const char *path, struct arena *a, valid_rows *out,
                   struct err *e)
{
    struct measured *m = NULL;
    struct row row;
    rows all = { 0 };
    int rc = measured_open(&m, path, columns, sizeof columns / sizeof *columns, a, e);
    while (rc == 0 && (rc = measured_next(m, &row, e)) > 0) {
        rc = sensible(m, &all, &row, e);
        if (rc == 0) vec_push(&all, row);
    }
    measured_close(m);
    for (size_t i = 0, n; rc == 0 && i < all.n; i += n) {
        for (n = 1; i + n < all.n && strcmp(all.v[i + n].run, all.v[i].run) == 0;) n++;
        rc = predict_run(w, &all.v[i], n, a, out, e);
    }
    vec_fini(&all);
    return rc;
}

static const struct valid_bar bars[] = {
    { "rtx4090 llama-3.1-8b, nothing fitted", VALID_WORST, 0.03 },
    { "rtx4090 llama-3.1-8b, fitted to every other request", VALID_WORST, 0.03 },
    { "rtxpro6000 qwen3-32b tp 2, fitted to every other request", VALID_WORST, 0.02 },
};

const struct valid_set valid_llm_server = {
    .name = "llm_server",
    .help =
        "a whole server of a language model by its log: first token, time per token, end to end",
    .file = "llm_server.csv",
    .naive = "every request alone on the card",
    .unit = "ms",
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    .bars = bars,
    .n_bars = sizeof bars / sizeof *bars,
    .note =
        "RTX 4090: step constants from its table of steps (llm_mixed), host time from other servers, "
        "nothing from this log. RTX PRO 6000: all-reduces over PCIe are not known from elsewhere, so what "
        "ships is far off; two constants are fitted to every other request and scored on the rest",
    .predict = predict,
};
