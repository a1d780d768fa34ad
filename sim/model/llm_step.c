#include "model/llm_step.h"

#include <math.h>

double llm_kv_bytes(const struct llm_shape *m)
{
    const double fp16 = 2;
    if (m->kv_bytes_per_token > 0) return m->kv_bytes_per_token;
    return 2 * m->layers * m->kv_heads * m->head_dim * fp16;
}

double llm_weight_bytes(const struct llm_shape *m)
{
    return m->params * m->bytes_per_param;
}

/* Means over A100, H100, H200 and L40S of the constants fitted to kernel times (reference data,
 * constants_gpu_oplevel.csv), an engine's host time as fitted on 45 server stages, the all-reduce
 * of H100 inside a graph, and mixed steps as on RTX 4090 and RTX PRO 6000 (1.8 to 3.5; 31 and 21
 * ns). */
struct llm_constants llm_constants_default(void)
{
    return (struct llm_constants){ .e_w = 0.815,
                                   .e_f = 0.825,
                                   .e_kv = 0.84,
                                   .e_s = 0.59,
                                   .host_ms = 1.3,
                                   .layer_us = 25,
                                   .seq_ns = 125,
                                   .mixed_kv = 2.4,
                                   .history_ns = 26,
                                   .allreduce_us = 5,
                                   .allreduce_ns_k = 10 };
}

struct llm_cost llm_cost_of(const struct llm_shape *m, const struct llm_card *card,
                            const struct llm_constants *c, int tp)
{
    const double stream = card->bandwidth_Bps * card->bw_share * tp / 1e3, /* per millisecond */
        compute = card->peak_flops * card->sm_share * tp / 1e3,
                 together = tp > 1 ? 2 * m->layers : 0;
    const double k = llm_kv_bytes(m) / (stream * c->e_kv);
    return (struct llm_cost){
        .w = llm_weight_bytes(m) / (stream * c->e_w),
        .f = 2 * m->params / (compute * c->e_f),
        .k = k,
        .k_mixed = k * c->mixed_kv,
        .q = 4 * m->heads * m->head_dim * m->layers / (compute * c->e_s),
        .c0 = c->host_ms + m->layers * c->layer_us / 1e3 + together * c->allreduce_us / 1e3,
        .c_b = m->layers * c->seq_ns / 1e6,
        .c_h = m->layers * c->history_ns / 1e6,
        .c_n = together * m->hidden * c->allreduce_ns_k / 1e9,
    };
}

enum { TILE = 128 };

/* Tokens of arithmetic: tiles that have begun are paid in full. */
static double begun_tiles(double tokens)
{
    return tokens > TILE ? TILE * ceil(tokens / TILE) : tokens;
}

/* The same where only the mean number of tokens is known: half a tile more. */
static double mean_tiles(double tokens)
{
    return tokens + fmin(TILE / 2.0, fmax(0, tokens - TILE));
}

/* Streaming the weights or computing with them, whichever is longer, smoothly. */
static double smooth_max(const struct llm_cost *c, double tokens)
{
    const double compute = tokens * c->f;
    return cbrt(c->w * c->w * c->w + compute * compute * compute);
}

static double weights_ms(const struct llm_cost *c, double tokens)
{
    return smooth_max(c, begun_tiles(tokens));
}

static double mean_weights_ms(const struct llm_cost *c, double tokens)
{
    return smooth_max(c, mean_tiles(tokens));
}

double llm_step_ms(const struct llm_cost *c, const struct llm_step *s)
{
    return weights_ms(c, s->tokens) + s->kv * (s->pairs > 0 ? c->k_mixed : c->k) + s->pairs * c->q +
           s->history * c->c_h + c->c0 + c->c_b * s->seqs + c->c_n * s->tokens;
}

static double decode_base_ms(const struct llm_cost *c, double seqs)
{
    return weights_ms(c, seqs) + c->c0 + (c->c_b + c->c_n) * seqs;
}

double llm_decode_ms(const struct llm_cost *c, double seqs, double kv, double steps)
{
    return steps * decode_base_ms(c, seqs) + c->k * (steps * kv + seqs * steps * (steps - 1) / 2);
}

/* T(m) is a quadratic in m; its root is right to rounding, and the last step settled by asking. */
double llm_decode_steps(const struct llm_cost *c, double seqs, double kv, double ms)
{
    if (ms <= 0) return 0;
    const double a = c->k * seqs / 2, b = decode_base_ms(c, seqs) + c->k * kv - a;
    const double root = 2 * ms / (b + sqrt(b * b + 4 * a * ms));
    double m = fmax(1, ceil(root));
    while (m > 1 && llm_decode_ms(c, seqs, kv, m - 1) >= ms) m--;
    while (llm_decode_ms(c, seqs, kv, m) < ms) m++;
    return m;
}

double llm_kv_tokens(const struct llm_shape *m, double bytes, double share, double reserve, int tp)
{
    const double left = share * bytes - llm_weight_bytes(m) / tp - reserve;
    return left > 0 ? floor(left * tp / llm_kv_bytes(m)) : 0;
}

/* What one prompt adds to the step that carries it. */
static double prompt_ms(const struct llm_cost *c, double seqs, double context, double input,
                        double input2)
{
    return mean_weights_ms(c, seqs + input) - mean_weights_ms(c, seqs) + c->c_n * input +
           c->q * input2 / 2 + (c->k_mixed - c->k) * seqs * context;
}

struct llm_expect llm_expect_open(const struct llm_cost *c, const struct llm_load *l)
{
    enum { ROUNDS = 500 };
    const double context = (l->input_output + l->output2 / 2) / l->output;
    double n = 1, tpot = 0, decode = 0, prompt = 0;
    for (int i = 0; i < ROUNDS; i++) {
        decode = decode_base_ms(c, n) + c->k * n * context;
        prompt = prompt_ms(c, n, context, l->input, l->input2);
        const double busy = l->lambda * prompt / 1e3; /* share of time that prompts take */
        if (busy >= 1 || n > 1e7) return (struct llm_expect){ .stable = false };
        tpot = decode / (1 - busy);
        const double next = l->lambda * l->output * tpot / 1e3;
        if (fabs(next - n) <= 1e-10 * next) break;
        n = (n + next) / 2;
    }
    return (struct llm_expect){ true, n, tpot, 1.5 * decode + prompt };
}

double llm_tpot_closed_ms(const struct llm_cost *c, double users, double input, double output)
{
    const double context = input + output / 2;
    return decode_base_ms(c, users) + c->k * users * context +
           users / output * prompt_ms(c, users, context, input, input * input);
}
