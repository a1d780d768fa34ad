#include "model/llm.h"

#include <string.h>

enum { POINTER = 300 };

/* ---- models ---- */

static const struct cfg_field model_fields[] = {
    CFG_REQUIRED(struct llm_model, layers, CFG_INT, 1, 1e4, "transformer layers"),
    CFG_REQUIRED(struct llm_model, hidden, CFG_INT, 1, 1e6, "width of a token's state"),
    CFG_REQUIRED(struct llm_model, heads, CFG_INT, 1, 1e4, "query heads"),
    CFG_REQUIRED(struct llm_model, kv_heads, CFG_INT, 1, 1e4, "heads whose keys are cached"),
    CFG_REQUIRED(struct llm_model, head_dim, CFG_INT, 1, 1e4, "width of a head"),
    CFG_REQUIRED(struct llm_model, params, CFG_REAL, 1e3, 1e14, "weights that a token uses"),
    CFG_ONE_OF(struct llm_model, precision, precision_names, "bf16", "format of the weights"),
    CFG_ONE_OF(struct llm_model, kv_precision, precision_names, "fp16", "format of the KV cache"),
    CFG_FIELD(struct llm_model, context, CFG_INT, "131072", 1, 1e9,
              "longest prompt and answer together, tokens"),
    CFG_FIELD(struct llm_model, source, CFG_TEXT, NULL, 0, 0, "where the figures come from"),
};

double llm_bytes_of(enum precision p)
{
    switch (p) {
    case PREC_fp64:
    case PREC_fp64_tensor: return 8;
    case PREC_fp32:
    case PREC_tf32: return 4;
    case PREC_fp16:
    case PREC_bf16: return 2;
    case PREC_fp8:
    case PREC_int8: return 1;
    case PREC_fp4:
    case PREC_int4: return 0.5;
    case PREC_COUNT: break;
    }
    BUG("no such precision");
}

static const char *base_name(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = arena_strdup(a, slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot != name) *dot = '\0';
    return name;
}

void llm_model_read(struct llm_model *out, struct arena *a, const struct json_doc *doc,
                    struct diag *d)
{
    static const char *const more[] = { "format" };
    const size_t before = d->count;
    *out = (struct llm_model){ 0 };
    cfg_read(model_fields, sizeof model_fields / sizeof *model_fields, out, a, doc, doc->root, "",
             more, 1, d);
    out->name = base_name(a, doc->file);
    if (d->count != before) return;
    if (out->kv_heads > out->heads)
        json_problem(d, doc, "/kv_heads", "%lld heads are cached and only %lld ask",
                     (long long)out->kv_heads, (long long)out->heads);
    else if (out->heads % out->kv_heads != 0)
        json_problem(d, doc, "/kv_heads", "%lld heads cannot be divided among %lld that are cached",
                     (long long)out->heads, (long long)out->kv_heads);
    if (llm_bytes_of((enum precision)out->precision) > 4)
        json_problem(d, doc, "/precision", "no engine serves weights in fp64");
    if (llm_bytes_of((enum precision)out->kv_precision) > 4)
        json_problem(d, doc, "/kv_precision", "no engine caches in fp64");
}

struct llm_shape llm_shape_of(const struct llm_model *m)
{
    return (struct llm_shape){
        .layers = (double)m->layers,
        .hidden = (double)m->hidden,
        .heads = (double)m->heads,
        .kv_heads = (double)m->kv_heads,
        .head_dim = (double)m->head_dim,
        .params = m->params,
        .bytes_per_param = llm_bytes_of((enum precision)m->precision),
        .kv_bytes_per_token = 2.0 * (double)(m->layers * m->kv_heads * m->head_dim) *
                              llm_bytes_of((enum precision)m->kv_precision),
    };
}

/* ---- constants by card ---- */

#define KEY(member_, dflt_, min_, max_, help_)                                                     \
    {                                                                                              \
        .name = #member_, .type = CFG_REAL, .offset = offsetof(struct llm_constants, member_),     \
        .dflt = dflt_, .min = min_, .max = max_, .help = help_                                     \
    }

/* The defaults are those of llm_constants_default(). */
static const struct cfg_field steps_fields[] = {
    KEY(e_w, "0.815", 0.01, 1.2, "share of the bandwidth reached when streaming weights"),
    KEY(e_f, "0.825", 0.01, 1.2, "share of the peak reached in matrix products"),
    KEY(e_kv, "0.84", 0.01, 1.2, "share of the bandwidth reached when reading the KV cache"),
    KEY(e_s, "0.59", 0.01, 1.2, "share of the peak reached in attention of prompts"),
    KEY(host_ms, "1.3", 0, 1e3, "time of the engine per step, ms"),
    KEY(layer_us, "25", 0, 1e4, "per layer and step, us"),
    KEY(seq_ns, "125", 0, 1e6, "per layer and decoding sequence, ns"),
    KEY(mixed_kv, "2.4", 1, 10, "cost of reading KV in a step with a prompt, as a multiple"),
    KEY(history_ns, "26", 0, 1e6, "per layer and token that stands before a prompt's chunk, ns"),
    KEY(allreduce_us, "5", 0, 1e4, "least time of an all-reduce, us"),
    KEY(allreduce_ns_k, "10", 0, 1e6, "per 1,000 elements of an all-reduce, ns"),
};

void llm_steps_read(struct llm_steps *out, struct arena *a, const struct json_doc *doc,
                    struct diag *d)
{
    static const char *const keys[] = { "format", "note", "cards" }, *const source[] = { "source" };
    json_t *cards = json_object_get(doc->root, "cards"), *v;
    const char *key;
    char at[POINTER];
    *out = (struct llm_steps){ 0 };
    json_known_keys(d, doc, doc->root, "", keys, sizeof keys / sizeof *keys);
    if (!json_is_object(cards)) {
        json_problem(d, doc, "/cards", "expected an object of cards by catalogue name");
        return;
    }
    struct llm_card_steps *list = arena_array(a, json_object_size(cards) + 1, sizeof *list);
    json_object_foreach(cards, key, v)
    {
        struct llm_card_steps *c = &list[out->n++];
        json_pointer_key(at, sizeof at, "/cards", key);
        cfg_read(steps_fields, sizeof steps_fields / sizeof *steps_fields, &c->constants, a, doc, v,
                 at, source, 1, d);
        c->gpu = arena_strdup(a, key);
    }
    out->card = list;
}

const struct llm_card_steps *llm_steps_find(const struct llm_steps *s, const char *gpu)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->card[i].gpu, gpu) == 0) return &s->card[i];
    return NULL;
}
