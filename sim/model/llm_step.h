/* model/llm_step.h - how long one iteration ("step") of a continuous-batching LLM engine takes,
 * from the shape of the model, the sheet of the card and a handful of fitted efficiencies; and how
 * much KV cache fits.
 *
 * A step processes n tokens (one of every decoding sequence, and the chunks of prompts) for b
 * decoding sequences whose contexts add up to KV tokens; S = sum over the chunks of chunk x
 * (history + chunk/2) pairs of tokens that attend to each other:
 *
 *     t = ((w)^3 + (n f)^3)^(1/3) + KV k + S q + H c_h + c0 + c_b b + c_n n    milliseconds
 *
 *     w = weight bytes / (tp B e_w)        f = 2 params / (tp P e_f)
 *     k = KV bytes per token / (tp B e_kv) q = 4 heads head_dim layers / (tp P e_s)
 *     c0 = host + layers x layer + (tp > 1) 2 layers a0      c_b = layers x seq
 *     c_n = (tp > 1) 2 layers hidden s                       c_h = layers x history
 *
 * B and P: bandwidth and dense peak of the card at the precision of the weights; the cube root
 * of cubes is a smooth maximum of streaming the weights and doing the arithmetic. A matrix
 * product works in tiles and pays one that has begun in full: beyond one tile of 128 tokens, n
 * in the arithmetic is rounded up to a multiple of it (below, kernels with smaller tiles are at
 * hand). No constant of it is fitted. With the share of an unfilled tile that is paid left free,
 * the halves of the steps of two cards put it at 0.70 and 0.85 (RTX 4090) and 1.05 and 1.06 (RTX
 * PRO 6000); layers of an A100 (Vidur) agree with 1 (384 tokens take three quarters of 512's
 * time), those of an H100 pay for about 80 tokens of 128 more there. The closed forms know means
 * only and take half a tile. While a prompt's chunk rides in the step, reading KV costs
 * `mixed_kv` times as much. H: what stands before a chunk, tokens that its attention walks
 * through one after the other; there are too few heads to fill a card, so that takes a time per
 * token whatever the bandwidth, and chunks in one step walk side by side (the longest counts:
 * assumed, the measured steps have one chunk each). A slice with a share of the bandwidth and of
 * the SMs divides w, k and f, q; host, launches and that walk (c0, c_b, c_h) stay.
 *
 * Form and constants: measured steps of four laboratories (AIConfigurator, Vidur, LLMServingSim,
 * Splitwise) as compared in the reference data; the error of each: `gpusim validate --set
 * llm_step`. Threads: pure functions. */
#ifndef GPUSIM_MODEL_LLM_STEP_H
#define GPUSIM_MODEL_LLM_STEP_H

#include <stdbool.h>
#include <stdint.h>

/* What an iteration needs to know of a model. */
struct llm_shape {
    double layers, hidden, heads, kv_heads, head_dim;
    double params;          /* active per token */
    double bytes_per_param; /* of the weights as served: 2 for bf16, 1 for fp8 */
    /* all layers; 0: 2 x layers x kv_heads x head_dim x 2 (fp16 cache) */
    double kv_bytes_per_token;
};
double llm_kv_bytes(const struct llm_shape *m); /* per token, > 0 */
double llm_weight_bytes(const struct llm_shape *m);

/* The card, and the share of it that the engine has. */
struct llm_card {
    double bandwidth_Bps, peak_flops; /* of one whole card */
    double bw_share, sm_share;        /* (0, 1]: of a slice or under a cap; 1: whole */
};

/* Efficiencies (share of the sheet's figure that is reached, about 0.4 to 1.1) and times. */
struct llm_constants {
    double e_w, e_f, e_kv, e_s;
    double host_ms;        /* of the engine, per step */
    double layer_us;       /* launches, norms, activations: per layer and step */
    double seq_ns;         /* per layer and decoding sequence */
    double mixed_kv;       /* >= 1 */
    double history_ns;     /* per layer and token before a prompt's chunk */
    double allreduce_us;   /* a0: least time of one all-reduce (tp > 1) */
    double allreduce_ns_k; /* s: per 1,000 elements of one all-reduce (tp > 1) */
};
/* For cards nobody has measured: the mean of the measured ones. */
struct llm_constants llm_constants_default(void);

/* The formula with its coefficients worked out; all in milliseconds. */
struct llm_cost {
    double w, f, k, k_mixed, q, c0, c_b, c_n, c_h;
};
/* `tp` cards (tensor parallel) work as one engine. */
struct llm_cost llm_cost_of(const struct llm_shape *m, const struct llm_card *card,
                            const struct llm_constants *c, int tp);

struct llm_step {
    double tokens;  /* n: decode tokens and tokens of chunks */
    double seqs;    /* b */
    double kv;      /* KV */
    double pairs;   /* S; > 0 makes the step a mixed one */
    double history; /* H: tokens before the chunk that has most of them */
};
double llm_step_ms(const struct llm_cost *c, const struct llm_step *s);

/* `steps` iterations in a row in which `seqs` sequences decode and none comes or goes; their
 * contexts add up to `kv` tokens in the first. In closed form:
 *     T(m) = m A + k (m KV + b m (m - 1) / 2)     A = step of b tokens without KV */
double llm_decode_ms(const struct llm_cost *c, double seqs, double kv, double steps);
/* The least whole number of such iterations that lasts at least `ms`; 0 for ms <= 0. */
double llm_decode_steps(const struct llm_cost *c, double seqs, double kv, double ms);

/* Tokens of KV cache that fit in `bytes` of memory (of one of `tp` cards) after the weights and
 * `reserve` bytes (activations, graphs); `share` of the memory is the engine's (0.9 for vLLM).
 * Not below 0. */
double llm_kv_tokens(const struct llm_shape *m, double bytes, double share, double reserve, int tp);

/* ---- closed forms for an engine under load: to prune a search and to check a simulation ---- */

struct llm_load {
    double lambda;          /* requests per second and engine */
    double input, output;   /* mean tokens */
    double input2, output2; /* mean squares */
    double input_output;    /* mean of the product */
};
struct llm_expect {
    bool stable;
    double in_flight; /* mean number of decoding sequences */
    double tpot_ms, ttft_ms;
};
/* Poisson arrivals. TPOT +0.3 to +2.4 %, mean TTFT -3 to -8 % against a simulation of 7 to 105
 * sequences in flight (reference data); memory is taken to suffice. */
struct llm_expect llm_expect_open(const struct llm_cost *c, const struct llm_load *l);
/* `users` who always have one request under way: milliseconds per output token. */
double llm_tpot_closed_ms(const struct llm_cost *c, double users, double input, double output);

#endif
