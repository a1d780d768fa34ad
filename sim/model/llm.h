/* model/llm.h - language models as they are served ("format": "gpusim-llm/1", one file per model in
 * scenarios/workloads/llm/) and the constants of a step by card ("gpusim-llm-steps/1",
 * scenarios/workloads/llm-steps.json). The formula they feed: model/llm_step.h.
 * Ownership: the arena. Threads: read-only after reading. */
#ifndef GPUSIM_MODEL_LLM_H
#define GPUSIM_MODEL_LLM_H

#include "base/arena.h"
#include "base/cfg.h"
#include "model/llm_step.h"
#include "model/precision.h"

struct llm_model {
    const char *name; /* of the file */
    int64_t layers, hidden, heads, kv_heads, head_dim;
    double params;    /* active per token */
    int precision;    /* of the weights, enum precision */
    int kv_precision; /* of the cache */
    int64_t context;  /* longest prompt + answer, tokens */
    const char *source;
};

/* Read and check one model: every dimension at least 1, params above 0, a floating-point or integer
 * format of at most 4 bytes for weights and cache, kv_heads no more than heads. Problems go to
 * `d`. */
void llm_model_read(struct llm_model *out, struct arena *a, const struct json_doc *doc,
                    struct diag *d);
struct llm_shape llm_shape_of(const struct llm_model *m);
/* Bytes a number takes: 8 (fp64) ... 1 (fp8, int8), 0.5 (fp4, int4). */
double llm_bytes_of(enum precision p);

struct llm_card_steps {
    const char *gpu; /* catalogue name */
    struct llm_constants constants;
};
struct llm_steps {
    const struct llm_card_steps *card;
    size_t n;
};
/* Efficiencies within (0, 1.2], times not below 0, mixed_kv within [1, 10]. What an entry leaves
 * out is llm_constants_default()'s. */
void llm_steps_read(struct llm_steps *out, struct arena *a, const struct json_doc *doc,
                    struct diag *d);
/* Constants of a card by catalogue name; NULL: not measured, use llm_constants_default(). O(n). */
const struct llm_card_steps *llm_steps_find(const struct llm_steps *s, const char *gpu);

#endif
