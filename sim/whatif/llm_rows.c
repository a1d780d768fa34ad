#include "whatif/llm_rows.h"

#include "base/datadir.h"

#include <string.h>

static const char *look_up(const char *const names[][2], size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i][0]) == 0) return names[i][1];
    return NULL;
}

const char *llm_rows_card(const char *gpu)
{
    static const char *const names[][2] = { { "a100_sxm", "a100-sxm4-80gb" },
                                            { "h100_sxm", "h100-sxm5-80gb" },
                                            { "h200_sxm", "h200-sxm5-141gb" },
                                            { "b200_sxm", "b200" },
                                            { "b300_sxm", "b300" } };
    const char *ours = look_up(names, sizeof names / sizeof *names, gpu);
    return ours ? ours : gpu;
}

const char *llm_rows_model(const char *model)
{
    static const char *const names[][2] = {
        { "Qwen/Qwen3-32B", "qwen3-32b" },
        { "meta-llama/Llama-3.1-70B", "llama-3.1-70b" },
        { "meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b" },
        { "nvidia/Llama-3.1-8B-Instruct-FP8", "llama-3.1-8b" },
    };
    return look_up(names, sizeof names / sizeof *names, model);
}

static int load(struct json_doc *doc, const char *name, struct err *e)
{
    char path[4096];
    return json_doc_load(doc, datadir_path(path, sizeof path, name), e);
}

int llm_rows_steps(struct llm_steps *steps, struct arena *a, struct err *e)
{
    struct json_doc doc = { 0 };
    struct diag d;
    int rc = load(&doc, "workloads/llm-steps.json", e);
    if (rc != 0) return rc;
    diag_init(&d);
    llm_steps_read(steps, a, &doc, &d);
    rc = diag_result(&d, e);
    diag_fini(&d);
    json_doc_fini(&doc);
    return rc;
}

int llm_rows_shape(struct llm_shape *shape, const char *model, struct arena *a, struct err *e)
{
    struct json_doc doc = { 0 };
    struct llm_model m;
    struct diag d;
    int rc = load(&doc, arena_printf(a, "workloads/llm/%s.json", model), e);
    if (rc != 0) return rc;
    diag_init(&d);
    llm_model_read(&m, a, &doc, &d);
    rc = diag_result(&d, e);
    if (rc == 0) *shape = llm_shape_of(&m);
    diag_fini(&d);
    json_doc_fini(&doc);
    return rc;
}

int llm_rows_sheet(struct llm_card *card, const struct world *w, const char *name,
                   enum precision precision, struct arena *a, struct err *e)
{
    struct valid_share whole;
    int rc = valid_share_bind(&whole, w, a, "whole", name, NULL, e);
    if (rc != 0) return rc;
    const struct gpu_spec *gpu = whole.type.gpu;
    *card = (struct llm_card){ gpu->mem_Bps, gpu->peak[precision].dense_ops, 1, 1 };
    return 0;
}

struct llm_constants llm_rows_constants(const struct llm_steps *steps, const char *gpu)
{
    const struct llm_card_steps *s = llm_steps_find(steps, gpu);
    return s ? s->constants : llm_constants_default();
}
